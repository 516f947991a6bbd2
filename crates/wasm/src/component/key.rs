//! What compiled code belongs to.

use std::hash::{Hash, Hasher};

use callgate_core::json::digest;
use wasmtime::Engine;

/// Counts the forms in which compiled code was kept or handed over.
const FORMAT: &[u8] = b"callgate compiled code 1";

/// One component compiled under the settings of one engine, in hex. Equal keys mean that the code may be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key(String);

impl Key {
    /// The bytes of every key.
    pub(super) const LENGTH: usize = 2 * 64 + 1;

    /// The key of the component with that digest.
    pub(super) fn new(engine: &Engine, component: &str) -> Self {
        Self(format!("{component}-{}", settings(engine)))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// A digest of everything that decides what code comes out of a component. The engine's own check at loading leaves some of
/// that out, for one whether a NaN is the same on every machine.
fn settings(engine: &Engine) -> String {
    let mut written = Written(FORMAT.to_vec());
    engine.precompile_compatibility_hash().hash(&mut written);
    digest(&written.0)
}

/// Keeps what is hashed, to put it through a hash that is good enough to name code by.
struct Written(Vec<u8>);

impl Hasher for Written {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use wasmtime::Config;

    use super::*;
    use crate::engine::{SandboxConfig, SandboxEngine, only_compiling};

    #[test]
    fn every_setting_of_the_compiler_makes_another_key() {
        let settings_of = |change: fn(&mut Config)| {
            let mut config = Config::new();
            change(&mut config);
            settings(&Engine::new(&config).unwrap())
        };
        let plain = settings_of(|_| {});
        assert_eq!(plain, settings_of(|_| {}));
        let changes: [fn(&mut Config); 3] = [
            |config| _ = config.cranelift_nan_canonicalization(true),
            |config| _ = config.epoch_interruption(true),
            |config| _ = config.wasm_multi_memory(false),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            assert_ne!(plain, settings_of(change), "{number}");
        }
    }

    #[test]
    fn the_compiling_process_compiles_what_a_sandbox_runs() {
        let sandbox = SandboxEngine::start(&SandboxConfig::default()).unwrap();
        let component = "0".repeat(64);
        let key = Key::new(&sandbox.engine, &component);
        assert_eq!(key, Key::new(&only_compiling().unwrap(), &component));
        assert_eq!(key.as_str().len(), Key::LENGTH);
    }
}
