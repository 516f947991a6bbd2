//! What is looked at before and after a component is compiled.

use wasmtime::Engine;
use wasmtime::component::Component;

use crate::abi::Hook;
use crate::capabilities::{Capability, HTTP_INTERFACES, WASI_INTERFACES};
use crate::text::printable;

use super::sections::{cut_off, too_deep};
use super::{Import, LoadError, Standing};

const MAGIC: &[u8] = b"\0asm";
const CORE_MODULE: &[u8] = &[1, 0, 0, 0];
const COMPONENT: &[u8] = &[0x0d, 0, 1, 0];

/// The line of WASI that is linked.
const WASI: &str = "WASI 0.2";

/// The most characters of a name that a component chose.
const NAME: usize = 200;

/// Looks whether these are the bytes of a component, as far as that shows without compiling them.
pub(super) fn check_bytes(bytes: &[u8]) -> Result<(), LoadError> {
    if bytes.is_empty() {
        return Err(LoadError::Empty);
    }
    if Engine::detect_precompiled(bytes).is_some() {
        return Err(LoadError::Precompiled);
    }
    let Some(rest) = bytes.strip_prefix(MAGIC) else { return Err(not_wasm(bytes)) };
    let Some((format, _)) = rest.split_at_checked(4) else { return Err(LoadError::Truncated { section: "header" }) };
    match format {
        CORE_MODULE => Err(LoadError::CoreModule),
        COMPONENT => match cut_off(bytes) {
            Some(section) => Err(LoadError::Truncated { section }),
            None if too_deep(bytes) => Err(LoadError::TooDeep),
            None => Ok(()),
        },
        _ => Err(LoadError::UnknownFormat),
    }
}

fn not_wasm(bytes: &[u8]) -> LoadError {
    if MAGIC.starts_with(bytes) {
        return LoadError::Truncated { section: "header" };
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if text.trim_start().starts_with('<') => LoadError::Html,
        Ok(_) => LoadError::Text,
        Err(_) => LoadError::NotWasm,
    }
}

/// What a component exports and imports, looked at by name.
pub(super) struct Surface {
    pub(super) hooks: Vec<Hook>,
    pub(super) imports: Vec<Import>,
}

/// Finds the hooks that a component exports and says what there is behind its imports.
pub(super) fn check_surface(engine: &Engine, component: &Component) -> Result<Surface, LoadError> {
    let ty = component.component_type();
    let exports: Vec<_> = ty.exports(engine).map(|(name, _)| name.to_owned()).collect();
    let imported: Vec<_> = ty.imports(engine).map(|(name, _)| name.to_owned()).collect();
    for name in exports.iter().chain(&imported) {
        check_version(name)?;
    }
    let exported = |hook: &Hook| exports.iter().any(|name| interface(name) == interface(hook.interface()));
    let hooks: Vec<_> = Hook::ALL.into_iter().filter(exported).collect();
    if hooks.is_empty() {
        return Err(LoadError::NoHook { exports: printed(exports) });
    }
    let mut imports = Vec::new();
    let mut unknown = Vec::new();
    for name in imported {
        match standing(&name) {
            Some(standing) => imports.push(Import { name, standing }),
            None if of_another_wasi(&name) => {
                return Err(LoadError::WrongVersion { wanted: printable(&name, NAME), available: WASI });
            }
            None => unknown.push(name),
        }
    }
    if unknown.is_empty() {
        Ok(Surface { hooks, imports })
    } else {
        Err(LoadError::UnknownImport { imports: printed(unknown) })
    }
}

/// Interfaces of another line have the same names, so their version is looked at first.
fn check_version(name: &str) -> Result<(), LoadError> {
    let available = match () {
        () if name.starts_with("callgate:listener/") => "callgate:listener@0.1",
        () if name.starts_with("callgate:host/") => "callgate:host@0.1",
        () => return Ok(()),
    };
    if version(name).starts_with("0.1.") {
        return Ok(());
    }
    Err(LoadError::WrongVersion { wanted: printable(name, NAME), available })
}

/// Whether a later or earlier line of what is linked here has it: an interface may have been new or gone by then.
fn of_another_wasi(name: &str) -> bool {
    let package = |interface: &str| interface.split_once('/').map(|(package, _)| package.to_owned());
    let ours = WASI_INTERFACES.iter().any(|linked| package(linked) == package(interface(name)));
    (ours || name.starts_with("wasi:http/")) && !version(name).starts_with("0.2.")
}

fn standing(name: &str) -> Option<Standing> {
    let interface = interface(name);
    match interface {
        "callgate:host/config" => Some(Standing::Provided),
        "callgate:listener/types" | "callgate:listener/registry" => Some(Standing::Provided),
        "callgate:host/log" => Some(Standing::Granted(Capability::Log)),
        "callgate:host/state" => Some(Standing::Granted(Capability::State)),
        wasi if wasi.starts_with("wasi:") && !version(name).starts_with("0.2.") => None,
        http if HTTP_INTERFACES.contains(&http) => Some(Standing::Granted(Capability::Http)),
        "wasi:clocks/wall-clock" => Some(Standing::Granted(Capability::Clocks)),
        wasi if WASI_INTERFACES.contains(&wasi) => Some(match wasi.split_once('/') {
            Some(("wasi:clocks" | "wasi:random" | "wasi:io", _)) => Standing::Provided,
            Some(("wasi:filesystem", _)) => Standing::Granted(Capability::Folder),
            _ => Standing::Empty,
        }),
        _ => None,
    }
}

fn interface(name: &str) -> &str {
    name.split_once('@').map_or(name, |(interface, _)| interface)
}

fn version(name: &str) -> &str {
    name.split_once('@').map_or("", |(_, version)| version)
}

fn printed(names: Vec<String>) -> Vec<String> {
    // What is told is enough to find the rest.
    names.iter().take(16).map(|name| printable(name, NAME)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_file_has_a_sentence_of_its_own() {
        let cases: [(&[u8], &str); 11] = [
            (b"", "empty"),
            (b"\0a", "truncated"),
            (b"\0asm\x0d\0", "truncated"),
            (b"\0asm\x0d\0\x01\0\x07\x10abc", "truncated: it ends within its type section"),
            (b"\0asm\x01\0\0\0", "core WebAssembly module"),
            (b"\0asm\x0a\0\x01\0", "binary format"),
            (b" \n<!DOCTYPE html><p>404", "HTML"),
            (b"(component)", "text"),
            (b"not found", "text"),
            (b"\xff\xfe\0\x01", "does not begin like WebAssembly"),
            (b"\x7fELF\x02\x01\x01\xff", "does not begin like WebAssembly"),
        ];
        for (bytes, part) in cases {
            let error = check_bytes(bytes).unwrap_err().to_string();
            assert!(error.contains(part), "{bytes:?}: {error}");
        }
        check_bytes(b"\0asm\x0d\0\x01\0").unwrap();
    }

    #[test]
    fn interfaces_of_another_line_are_told_by_their_version() {
        check_version("callgate:listener/grant@0.1.0").unwrap();
        check_version("callgate:host/state@0.1.7").unwrap();
        check_version("wasi:cli/run@0.3.0").unwrap();
        for name in ["callgate:listener/grant@0.2.0", "callgate:host/log@1.0.0", "callgate:listener/grant"] {
            let error = check_version(name).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains("@0.1"), "{error}");
        }
    }

    #[test]
    fn another_line_of_wasi_is_told_from_what_is_unknown() {
        for other in ["wasi:cli/exit@0.3.0", "wasi:cli/types@0.3.0", "wasi:http/types@0.3.0", "wasi:io/streams@0.1.9"] {
            assert!(of_another_wasi(other), "{other}");
        }
        for unknown in ["wasi:cli/unheard-of@0.2.0", "wasi:nn/graph@0.3.0", "acme:evil/exec@1.0.0", "env"] {
            assert!(!of_another_wasi(unknown), "{unknown}");
        }
    }

    #[test]
    fn an_import_is_granted_by_its_name() {
        assert_eq!(standing("wasi:random/random@0.2.6"), Some(Standing::Provided));
        assert_eq!(standing("wasi:sockets/tcp@0.2.0"), Some(Standing::Empty));
        let granted = [
            ("wasi:filesystem/types@0.2.0", Capability::Folder),
            ("wasi:http/outgoing-handler@0.2.3", Capability::Http),
            ("wasi:clocks/wall-clock@0.2.0", Capability::Clocks),
            ("callgate:host/state@0.1.0", Capability::State),
            ("callgate:host/log@0.1.0", Capability::Log),
        ];
        for (name, capability) in granted {
            assert_eq!(standing(name), Some(Standing::Granted(capability)), "{name}");
        }
        for unknown in [
            "wasi:cli/run@0.3.0",
            "wasi:cli/unheard-of@0.2.0",
            "wasi:http/incoming-handler@0.2.0",
            "acme:evil/exec@1.0.0",
            "callgate:host/shell@0.1.0",
            "env",
        ] {
            assert_eq!(standing(unknown), None, "{unknown}");
        }
    }
}
