//! Generated from `wit/v0.1`.
#![allow(missing_docs, unreachable_pub, reason = "generated code")]

wasmtime::component::bindgen!({
    path: "../../wit/v0.1",
    world: "callgate:listener/prepared-listener",
    imports: { default: async | trappable },
    exports: { default: async },
});
