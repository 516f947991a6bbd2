//! What this process takes of the machine, as the kernel tells it.

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
