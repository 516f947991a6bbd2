//! Fuzz targets. Each is a function that takes any bytes and panics where something does not hold that must hold for all
//! of them: not only that nothing panics, but what the answer has to be, said a second time in another way.
//!
//! `cargo xtask fuzz` runs them under libFuzzer; the seeds of each are tried in the tests of this crate too.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "this is a part of tests, where a panic is how a failure is told"
)]

mod component;
mod envelope;
mod meta;
mod binding;
mod answers;
mod json;
mod pattern;

pub mod mutation;
mod governed;
mod reading;

/// The longest input that is offered to a target, in bytes: beyond every bound that a target looks at.
pub const LONGEST_INPUT: usize = 8_192;

/// Something that must hold for every input.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, which is also that of its folder of seeds.
    pub name: &'static str,
    /// Panics where it does not hold.
    pub check: fn(&[u8]),
    /// What inputs are made of.
    pub inputs: Inputs,
}

/// What the inputs of a target are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inputs {
    /// Bytes.
    Bytes,
    /// JSON texts, so that half of all changes are made to a text's values and not to its bytes.
    Json,
}

/// All targets.
pub const TARGETS: [Target; 7] = [
    Target { name: "component", check: component::check, inputs: Inputs::Bytes },
    Target { name: "envelope", check: envelope::check, inputs: Inputs::Json },
    Target { name: "meta", check: meta::check, inputs: Inputs::Json },
    Target { name: "binding", check: binding::check, inputs: Inputs::Json },
    Target { name: "answers", check: answers::check, inputs: Inputs::Json },
    Target { name: "json", check: json::check, inputs: Inputs::Json },
    Target { name: "pattern", check: pattern::check, inputs: Inputs::Bytes },
];

impl Target {
    /// The target of that name.
    pub fn named(name: &str) -> Option<Self> {
        TARGETS.into_iter().find(|target| target.name == name)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_seed_of_every_target_holds() {
        let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
        for target in TARGETS {
            let files: Vec<_> =
                fs::read_dir(seeds.join(target.name)).unwrap().map(|file| file.unwrap().path()).collect();
            assert!(files.len() >= 4, "{}", target.name);
            for file in files {
                let input = fs::read(&file).unwrap();
                assert!(input.len() <= LONGEST_INPUT, "{}", file.display());
                // The name of the seed is told by what the test prints before it fails.
                println!("{}", file.display());
                (target.check)(&input);
            }
        }
    }

    #[test]
    fn every_folder_of_seeds_belongs_to_a_target() {
        for folder in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds")).unwrap() {
            let name = folder.unwrap().file_name();
            assert!(Target::named(&name.to_string_lossy()).is_some(), "{name:?}");
        }
    }
}
