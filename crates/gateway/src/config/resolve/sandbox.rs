//! How components are compiled.

use std::time::Duration;

use callgate_wasm::SandboxConfig;

use crate::config::document::{CacheValue, SandboxTable};
use crate::config::{CacheLocation, SandboxSettings, Source};

/// The memory that compiling one component may take, in MiB: room for one of 32 MiB, which is the largest by default.
const COMPILE_MEMORY_MIB: u32 = 2_048;

pub(super) fn resolve(table: SandboxTable, source: &Source) -> SandboxSettings {
    let default = SandboxConfig::default();
    let mib = |number: u32| u64::from(number) << 20;
    SandboxSettings {
        cache: match table.cache {
            CacheValue::Folder(folder) => CacheLocation::Folder(source.resolve(&folder)),
            CacheValue::Switch(true) => CacheLocation::User,
            CacheValue::Switch(false) => CacheLocation::Off,
        },
        largest_file: table.largest_component_mib.map_or(default.largest_file, |number| mib(number.get())),
        compile_deadline: table
            .compile_seconds
            .map_or(default.compile_deadline, |seconds| Duration::from_secs(seconds.get().into())),
        compile_memory: mib(table.compile_memory_mib.map_or(COMPILE_MEMORY_MIB, |number| number.get())),
    }
}
