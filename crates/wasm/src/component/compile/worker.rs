//! The child's side: compiles one component, with limits on itself.

use std::io::{self, Read, Write};

use callgate_core::json::digest;

use crate::component::LoadError;
use crate::component::key::Key;
use crate::engine;

use super::frame::{Allowance, Reply};
use super::survived;

/// Reads a component from a parent that loads components with [`Compiler::Child`](super::Compiler::Child), compiles it and
/// writes the code. Run it on the main thread of a process that does nothing else, on standard input and output: it takes
/// away from its process whatever compiling does not need.
///
/// # Errors
/// When the parent is gone or is none, or when the system does not let the process be limited.
pub fn compile_for_parent(mut input: impl Read, mut output: impl Write) -> io::Result<()> {
    confine(Allowance::read(&mut input)?)?;
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    let engine = match engine::only_compiling() {
        Ok(engine) => engine,
        Err(error) => return Reply::refused(&mut output, &error.to_string()),
    };
    match survived(|| engine.precompile_component(&bytes)) {
        Ok(code) => Reply::code(&mut output, &Key::new(&engine, &digest(&bytes)), &code),
        Err(LoadError::Invalid(reason)) => Reply::refused(&mut output, &reason),
        Err(error) => Reply::refused(&mut output, &error.to_string()),
    }
}

#[cfg(unix)]
fn confine(allowance: Allowance) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, nice, setrlimit};

    let limit = |resource, most: u64| {
        // A limit that the process was born with can only be lowered.
        let most = getrlimit(resource).maximum.map_or(most, |maximum| most.min(maximum));
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
    };
    // What is written to counts as data. Address space that is only reserved, as allocators do for each thread, does not, so
    // the second limit is wider.
    limit(Resource::Data, allowance.memory)?;
    limit(Resource::As, allowance.memory.saturating_mul(4))?;
    limit(Resource::Cpu, allowance.processor.as_secs())?;
    limit(Resource::Core, 0)?;
    limit(Resource::Fsize, 0)?;
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    // Whoever serves goes first. A system that does not let it be so compiles all the same.
    let _ = nice(10);
    Ok(())
}

#[cfg(not(unix))]
fn confine(_: Allowance) -> io::Result<()> {
    Ok(())
}
