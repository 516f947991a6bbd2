//! `wasi:http`, which some toolchains import whether a guest uses it or not. It is never granted: its functions exist, and
//! a call to one ends the event.

use wasmtime::Engine;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, Linker, LinkerInstance, ResourceType};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, DynPollable, IoError};

use crate::event::EventState;

/// A guest called a function that it was not granted.
#[derive(Debug, thiserror::Error)]
#[error("called {0}, which no listener is granted")]
pub(crate) struct NotGranted(String);

/// Whether an import of that name, without its version, is one of these.
pub(crate) fn is_http(interface: &str) -> bool {
    interface.starts_with("wasi:http/")
}

/// Defines every function of `wasi:http` that the component imports.
pub(crate) fn deny(linker: &mut Linker<EventState>, engine: &Engine, component: &Component) -> wasmtime::Result<()> {
    for (name, import) in component.component_type().imports(engine) {
        if let ComponentItem::ComponentInstance(interface) = import.ty
            && is_http(name)
        {
            let mut instance = linker.instance(name)?;
            for (item, definition) in interface.exports(engine) {
                deny_item(&mut instance, name, item, &definition.ty)?;
            }
        }
    }
    Ok(())
}

fn deny_item(
    instance: &mut LinkerInstance<'_, EventState>,
    interface: &str,
    item: &str,
    definition: &ComponentItem,
) -> wasmtime::Result<()> {
    match definition {
        ComponentItem::ComponentFunc(_) => {
            let function = format!("{interface}#{item}");
            instance.func_new(item, move |_, _, _, _| Err(NotGranted(function.clone()).into()))
        }
        ComponentItem::Resource(_) => instance.resource(item, resource(item), |_, _| Ok(())),
        _ => Ok(()),
    }
}

/// The interfaces re-export resources of `wasi:io`, which must stay the types that those functions take.
fn resource(name: &str) -> ResourceType {
    match name {
        "pollable" => ResourceType::host::<DynPollable>(),
        "input-stream" => ResourceType::host::<DynInputStream>(),
        "output-stream" => ResourceType::host::<DynOutputStream>(),
        "error" | "io-error" => ResourceType::host::<IoError>(),
        _ => ResourceType::host::<NotGranted>(),
    }
}
