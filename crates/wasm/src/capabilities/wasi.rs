//! WASI, because every toolchain drags it in: all of it is linked, over a context that has nothing.

use wasmtime_wasi::{WasiCtx, WasiCtxBuilder};

use crate::limits::Tail;

/// The most random bytes that a guest gets at once.
const RANDOM: u64 = 64 << 10;

/// The interfaces that are linked, of any patch version of 0.2. Another one is refused at load, by name.
pub(crate) const INTERFACES: [&str; 27] = [
    "wasi:cli/environment",
    "wasi:cli/exit",
    "wasi:cli/stderr",
    "wasi:cli/stdin",
    "wasi:cli/stdout",
    "wasi:cli/terminal-input",
    "wasi:cli/terminal-output",
    "wasi:cli/terminal-stderr",
    "wasi:cli/terminal-stdin",
    "wasi:cli/terminal-stdout",
    "wasi:clocks/monotonic-clock",
    "wasi:clocks/wall-clock",
    "wasi:filesystem/preopens",
    "wasi:filesystem/types",
    "wasi:io/error",
    "wasi:io/poll",
    "wasi:io/streams",
    "wasi:random/insecure",
    "wasi:random/insecure-seed",
    "wasi:random/random",
    "wasi:sockets/instance-network",
    "wasi:sockets/ip-name-lookup",
    "wasi:sockets/network",
    "wasi:sockets/tcp",
    "wasi:sockets/tcp-create-socket",
    "wasi:sockets/udp",
    "wasi:sockets/udp-create-socket",
];

/// A context without environment, arguments, input, files and network. Clocks and random bytes work: without them language
/// runtimes do not start.
pub(crate) fn context(output: &Tail) -> WasiCtx {
    WasiCtxBuilder::new()
        .stdout(output.clone())
        .stderr(output.clone())
        .max_random_size(RANDOM)
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false)
        .build()
}
