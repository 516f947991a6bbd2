//! What the guests of tests call, as core imports. Functions without a result in memory take an address for it last.

/// `$stderr` gives a stream, `$write` takes it, a text, and an address for its result.
pub const STDERR: &str = r#"
  (import "wasi:cli/stderr@0.2.0" "get-stderr" (func $stderr (result i32)))
  (import "wasi:io/streams@0.2.0" "[method]output-stream.blocking-write-and-flush"
    (func $write (param i32 i32 i32 i32)))
"#;

/// `$exit` takes a status: 0, or 1 for an error.
pub const EXIT: &str = r#"(import "wasi:cli/exit@0.2.0" "exit" (func $exit (param i32)))"#;

/// `$after` makes a wait of that many nanoseconds, `$block` waits.
pub const SLEEP: &str = r#"
  (import "wasi:clocks/monotonic-clock@0.2.0" "subscribe-duration" (func $after (param i64) (result i32)))
  (import "wasi:io/poll@0.2.0" "[method]pollable.block" (func $block (param i32)))
"#;

/// `$random` gives a number.
pub const RANDOM: &str = r#"(import "wasi:random/random@0.2.0" "get-random-u64" (func $random (result i64)))"#;

/// `$network` gives what there is of a network, `$resolve` takes it and the name of a host.
pub const NETWORK: &str = r#"
  (import "wasi:sockets/instance-network@0.2.0" "instance-network" (func $network (result i32)))
  (import "wasi:sockets/ip-name-lookup@0.2.0" "resolve-addresses" (func $resolve (param i32 i32 i32 i32)))
"#;

/// `$log` takes a level and a text.
pub const LOG: &str = r#"(import "callgate:host/log@0.1.0" "write" (func $log (param i32 i32 i32)))"#;

/// `$count` gives the number of rows.
pub const REGISTRY: &str = r#"(import "callgate:listener/registry@0.1.0" "count" (func $count (result i32)))"#;

/// `$get` and `$remove` take a key, `$set` a key, a value and an expiry, `$increment` a key, a number and an expiry. The
/// result begins with its discriminant, and 4 bytes further on with what it holds.
pub const STATE: &str = r#"
  (import "callgate:host/state@0.1.0" "get" (func $get (param i32 i32 i32)))
  (import "callgate:host/state@0.1.0" "set" (func $set (param i32 i32 i32 i32 i32 i32 i32)))
  (import "callgate:host/state@0.1.0" "remove" (func $remove (param i32 i32 i32)))
  (import "callgate:host/state@0.1.0" "increment" (func $increment (param i32 i32 i32 i32 i32 i32)))
"#;

/// `$new` makes a handle for a thing of the guest's own.
pub const THING: &str =
    r#"(import "[export]test:kit/things" "[resource-new]thing" (func $new (param i32) (result i32)))"#;
