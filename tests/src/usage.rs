//! What this process uses, as Linux tells.

use std::fs;
use std::time::Duration;

/// The processor time of this process so far, of all its threads, in steps of 10 ms.
pub fn processor_time() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux tells about processes");
    // The name in front may hold anything, so counting begins behind it.
    let (_, fields) = stat.rsplit_once(')').expect("the name is in parentheses");
    let ticks: u64 = fields.split_whitespace().skip(11).take(2).map(|it| it.parse::<u64>().expect("a number")).sum();
    Duration::from_millis(ticks * 10)
}

/// The memory of this process that is resident, in bytes.
pub fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux tells about processes");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("the status has its size");
    let kibibytes: u64 = line.trim().trim_end_matches("kB").trim().parse().expect("a number");
    kibibytes << 10
}
