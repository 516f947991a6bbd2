//! WASI, because every toolchain drags it in: all of it is linked, over a context that has what the listener was granted.

use wasmtime::component::{HasSelf, Linker};
use wasmtime_wasi::p2::bindings::{clocks, filesystem, sockets};
use wasmtime_wasi::{WasiCtx, WasiCtxBuilder};

use crate::event::EventState;
use crate::limits::Tail;

use super::{Grants, http};

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

// INVARIANT: only async functions of WASI are linked. Sync ones block a thread of the runtime, and panic on it.
/// Links all of WASI, and over it those interfaces that say what was not granted.
pub(crate) fn link(linker: &mut Linker<EventState>) -> wasmtime::Result<()> {
    type Own = HasSelf<EventState>;
    wasmtime_wasi::p2::add_to_linker_async(linker)?;
    http::link(linker)?;
    linker.allow_shadowing(true);
    clocks::wall_clock::add_to_linker::<_, Own>(linker, |state| state)?;
    filesystem::preopens::add_to_linker::<_, Own>(linker, |state| state)?;
    sockets::tcp_create_socket::add_to_linker::<_, Own>(linker, |state| state)?;
    sockets::udp_create_socket::add_to_linker::<_, Own>(linker, |state| state)?;
    sockets::ip_name_lookup::add_to_linker::<_, Own>(linker, |state| state)?;
    linker.allow_shadowing(false);
    Ok(())
}

/// A context without environment, arguments, input and network, and with the folders that were granted. Random bytes and the
/// monotonic clock always work: without them language runtimes do not start.
pub(crate) fn context(output: &Tail, grants: &Grants) -> WasiCtx {
    let mut context = WasiCtxBuilder::new()
        .stdout(output.clone())
        .stderr(output.clone())
        .max_random_size(RANDOM)
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false)
        .build();
    grants.folders.open_in(&mut context);
    context
}
