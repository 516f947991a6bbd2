//! Why a component does not load.

use std::io;

use crate::abi::Hook;

use super::sections::MOST_LEVELS;
use super::shape::Difference;

/// Why a component does not load. Every message ends in what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// There is no such file.
    #[error("there is no such file; build the component or correct the path")]
    Missing,
    /// It is no file.
    #[error("it is no regular file; name the component's `.wasm` file itself")]
    NotAFile,
    /// It could not be read.
    #[error("it can not be read ({0}); check the permissions of the file and of the folders above it")]
    Unreadable(#[source] io::Error),
    /// It is empty.
    #[error("the file is empty; build the component again")]
    Empty,
    /// It is larger than allowed.
    #[error(
        "the file has {size} bytes and at most {most} are allowed; build it without debug information or raise the limit"
    )]
    TooLarge {
        /// Its size in bytes, or the part of it that was read.
        size: u64,
        /// The most bytes that a file may have.
        most: u64,
    },
    /// The digest is not the one that the configuration gives.
    #[error(
        "its sha256 is {actual} and the configuration pins {expected}; if the new file is the one you want, correct the pin"
    )]
    DigestMismatch {
        /// The pinned digest.
        expected: String,
        /// The file's digest.
        actual: String,
    },
    /// It is a web page.
    #[error(
        "it is an HTML page and no component; it was probably saved from a download that failed, so download it again"
    )]
    Html,
    /// It is text.
    #[error("it is a text and no component; build the component and name the `.wasm` file that the build wrote")]
    Text,
    /// It is something else.
    #[error("it does not begin like WebAssembly; name the `.wasm` file that the build wrote")]
    NotWasm,
    /// It ends too early.
    #[error("the file is truncated: it ends within its {section}; copy or download it again")]
    Truncated {
        /// Where it ends.
        section: &'static str,
    },
    /// It is a core module.
    #[error(
        "it is a core WebAssembly module and no component; build it for wasm32-wasip2, or turn it into one with `wasm-tools component new`"
    )]
    CoreModule,
    /// It is compiled code.
    #[error("it is precompiled code, which is never run from a file; name the component that it was made from")]
    Precompiled,
    /// It is a component of another binary format.
    #[error("it is WebAssembly in a binary format that this version can not read; build it with current tools")]
    UnknownFormat,
    /// Components lie in it one inside the other, too many.
    #[error("components lie in it more than {MOST_LEVELS} deep; build it so that they lie side by side")]
    TooDeep,
    /// It does not compile.
    #[error(
        "it does not compile ({0}); build it again, without features that are off here (64-bit memory, threads, several memories in one module, relaxed SIMD)"
    )]
    Invalid(String),
    /// It is still being compiled at the deadline.
    #[error(
        "it was not compiled within {seconds} s; build a smaller component, without debug information, or allow more time"
    )]
    CompileTooLong {
        /// How long it may take.
        seconds: f64,
    },
    /// Another component is still being compiled at the deadline.
    #[error(
        "another component was being compiled for {seconds} s and only one is at a time; try again, or look for the one that takes so long"
    )]
    CompilerBusy {
        /// How long it may wait.
        seconds: f64,
    },
    /// The process or thread that compiles does not start.
    #[error("the compiler does not start ({0}); see that the program is where it was when this process started")]
    CompilerMissing(#[source] io::Error),
    /// The process that compiles ended without a word.
    #[error(
        "the compiler ended without a result ({how}), having {} MiB of memory at the most; build a smaller component or allow more memory",
        .memory >> 20
    )]
    CompilerDied {
        /// How it ended.
        how: String,
        /// How much memory it was allowed, in bytes.
        memory: u64,
    },
    /// The process that compiles is another program, or another version of this one.
    #[error("the compiler is of another version than this process; start this process again")]
    CompilerDiffers,
    /// It exports no hook.
    #[error("it exports no hook of a listener but {}; export at least one of {}", listed(.exports), hooks())]
    NoHook {
        /// What it exports.
        exports: Vec<String>,
    },
    /// It was built against another version of the interfaces.
    #[error("it wants {wanted}, and there is {available}; build it against the interfaces of {available}")]
    WrongVersion {
        /// The interface that it wants, with its version.
        wanted: String,
        /// The line that there is.
        available: &'static str,
    },
    /// It imports what there is not.
    #[error("it imports {}, which no listener can have; build it without that", listed(.imports))]
    UnknownImport {
        /// The imports.
        imports: Vec<String>,
    },
    /// A hook or an import has another type than the interface of that name.
    #[error(
        "{interface} is another one than here: its `{item}` {difference}; build it against the WIT files of this version"
    )]
    WrongShape {
        /// The interface that differs.
        interface: String,
        /// The function or resource in it.
        item: String,
        /// How it differs.
        difference: Difference,
    },
    /// The task that loads it was ended.
    #[error("loading was interrupted; try again")]
    Interrupted,
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "nothing".into() } else { names.join(", ") }
}

fn hooks() -> String {
    Hook::ALL.map(Hook::interface).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_says_what_to_do() {
        let gone = || io::Error::from(io::ErrorKind::NotFound);
        let all = [
            LoadError::Missing,
            LoadError::NotAFile,
            LoadError::Unreadable(gone()),
            LoadError::Empty,
            LoadError::TooLarge { size: 2, most: 1 },
            LoadError::DigestMismatch { expected: "a".into(), actual: "b".into() },
            LoadError::Html,
            LoadError::Text,
            LoadError::NotWasm,
            LoadError::Truncated { section: "header" },
            LoadError::CoreModule,
            LoadError::Precompiled,
            LoadError::UnknownFormat,
            LoadError::TooDeep,
            LoadError::Invalid("bad".into()),
            LoadError::CompileTooLong { seconds: 0.5 },
            LoadError::CompilerBusy { seconds: 120.0 },
            LoadError::CompilerMissing(gone()),
            LoadError::CompilerDied { how: "signal: 9".into(), memory: 2 << 30 },
            LoadError::CompilerDiffers,
            LoadError::NoHook { exports: Vec::new() },
            LoadError::WrongVersion { wanted: "a".into(), available: "b" },
            LoadError::UnknownImport { imports: Vec::new() },
            LoadError::WrongShape { interface: "a".into(), item: "b".into(), difference: Difference::Missing },
            LoadError::Interrupted,
        ];
        for error in all {
            let message = error.to_string();
            let (_, advice) = message.split_once("; ").unwrap_or_else(|| panic!("{message}"));
            assert!(advice.len() > 8 && !message.ends_with('.'), "{message}");
        }
    }
}
