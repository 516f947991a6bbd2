//! The sandbox that a configuration asks for.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use callgate_wasm::{Compiler, CompilerCommand, EngineError, Sandbox, SandboxConfig};

use crate::config::{CacheLocation, Config, SandboxSettings};

/// The command of this program that compiles one component for another process of it.
pub const COMPILE: &str = "compile-component";

/// The folder of ours among the user's caches.
const FOLDER: &str = "callgate";

/// The sandbox. Components are compiled by processes of this very program, which are ended when they take too long.
///
/// # Errors
/// When the machine does not let the engine start.
pub fn sandbox(config: &Config) -> Result<Sandbox, EngineError> {
    let settings = &config.sandbox;
    Sandbox::new(SandboxConfig {
        cache: cache(&settings.cache, |name| std::env::var_os(name)),
        largest_file: settings.largest_file,
        compile_deadline: settings.compile_deadline,
        compiler: compiler(settings),
        ..SandboxConfig::default()
    })
}

fn compiler(settings: &SandboxSettings) -> Compiler {
    match this_program() {
        Ok(program) => Compiler::Child(CompilerCommand {
            program,
            arguments: vec![COMPILE.into()],
            memory: settings.compile_memory,
        }),
        Err(error) => {
            tracing::warn!(%error, "the path of this program is not known, so a component that compiles is not limited");
            Compiler::InProcess
        }
    }
}

/// Where the program is that runs. Linux has a name for it that stays right when a newer one is put in its place.
fn this_program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() }
}

fn cache(location: &CacheLocation, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    match location {
        CacheLocation::Off => None,
        CacheLocation::Folder(folder) => Some(folder.clone()),
        CacheLocation::User => {
            // As the XDG specification has it, a path that is not absolute counts as none.
            let absolute = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
            let caches = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(Path::new(".cache"))));
            caches.map(|caches| caches.join(FOLDER))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_cache_folder_is_found() {
        type Case<'c> = (&'c [(&'c str, &'c str)], Option<&'c str>);
        let cases: [Case<'_>; 4] = [
            (&[("XDG_CACHE_HOME", "/c"), ("HOME", "/h")], Some("/c/callgate")),
            (&[("XDG_CACHE_HOME", "c"), ("HOME", "/h")], Some("/h/.cache/callgate")),
            (&[("HOME", "/h")], Some("/h/.cache/callgate")),
            (&[("HOME", "")], None),
        ];
        for (variables, expected) in cases {
            let variable =
                |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).into());
            assert_eq!(cache(&CacheLocation::User, variable), expected.map(PathBuf::from), "{variables:?}");
        }
        assert_eq!(cache(&CacheLocation::Off, |_| Some("/c".into())), None);
        assert_eq!(cache(&CacheLocation::Folder("x".into()), |_| Some("/c".into())), Some("x".into()));
    }
}
