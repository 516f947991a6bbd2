//! A hundred thousand calls and a thousand loads: the memory that they take for good, which is to be nearly none.
#![allow(
    clippy::print_stdout,
    reason = "a benchmark is no part of the product: it prints, and a panic is how it fails"
)]

use callgate_tests::soak::{Growth, Loads, call, many_endings};

/// What ten thousand calls, or a hundred loads, may take, in MiB.
const MOST: f64 = 1.0;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let (calls, loads) =
        runtime.map(|runtime| runtime.block_on(async { (calls().await, loads().await) })).unwrap_or_default();
    println!("\ngrowth for every 10,000 calls {calls:.3} MiB, for every 100 loads {loads:.3} MiB; at most {MOST} each");
    assert!(calls < MOST && loads < MOST, "memory grows");
}

async fn calls() -> f64 {
    let dispatcher = many_endings().await;
    // By then every place of the pool has been used.
    call(&dispatcher, 20_000).await;
    let mut growth = Growth::default();
    println!("{:>9} calls {:>9.1} MiB", 0, growth.step());
    for step in 1..=10 {
        let ran = call(&dispatcher, 10_000).await;
        println!("{:>9} calls {:>9.1} MiB, {ran} of the last 10,000 ran", step * 10_000, growth.step());
        assert!(ran > 6_000, "most calls are to come to their tool");
    }
    growth.per_step()
}

async fn loads() -> f64 {
    let loads = Loads::default();
    let mut growth = Growth::default();
    // The first hundred warm up.
    for number in 0..=1_100 {
        if number >= 100 && number % 100 == 0 {
            println!("{:>9} loads {:>9.1} MiB", number - 100, growth.step());
        }
        loads.cycle(number).await;
    }
    growth.per_step()
}
