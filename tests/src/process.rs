//! What this process takes of the machine, as the kernel tells it, and how a test has a process of its own.

use std::process::Command;

/// Tells a process that it was started for one test.
const ALONE: &str = "CALLGATE_TEST_ALONE";

/// Runs the body of the test of that name in a process of its own: what other tests take would be counted too.
pub fn alone(test: &str, body: impl FnOnce()) {
    if std::env::var_os(ALONE).is_some() {
        return body();
    }
    let this = std::env::current_exe().expect("a test is a file");
    let mut run = Command::new(this);
    run.args(["--exact", test, "--test-threads=1", "--nocapture"]).env(ALONE, "1");
    let output = run.output().expect("a test can be started");
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("1 passed"), "{said}{complained}");
}

/// Its threads.
pub fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").expect("the kernel tells").count()
}

/// Its resident memory in KiB.
pub fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the kernel tells");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it is told");
    line.split_whitespace().next().expect("it is a number").parse().expect("it is a number")
}
