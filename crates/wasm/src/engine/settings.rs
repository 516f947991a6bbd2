//! What the engine is told about compiling and running guests.

use std::num::NonZeroUsize;

use wasmtime::{
    Config, Enabled, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig, Strategy, WasmBacktraceDetails,
};

use super::SandboxConfig;

/// The stack of one guest, in bytes.
const WASM_STACK: usize = 512 << 10;
/// The stack of one guest and of the host calls that it makes.
const EVENT_STACK: usize = 2 << 20;
/// Reserving all that 32 bits can address lets compiled code leave the bounds checks to the hardware. It costs address
/// space only.
const RESERVATION: u64 = 4 << 30;

/// The bytes of one memory that stay with its place in the pool after an event: what a guest in Python touches. All that a
/// guest can leave behind in the host is this, once for each place.
const KEPT: usize = 8 << 20;

/// The most elements in all tables of one instance of a component, and the most core instances in it: the pool is laid out for
/// so many.
pub(crate) const MOST_TABLE_ELEMENTS: usize = 20_000;
pub(crate) const MOST_CORE_INSTANCES: u32 = 64;

/// The most memories and tables of one component. There are so many for each of its instances: if the pool counted on smaller
/// ones, a few listeners with large ones would leave their neighbours without.
const MOST_MEMORIES: u32 = 4;
const MOST_TABLES: u32 = 8;

/// Where instances come from.
pub(super) enum Allocation<'a> {
    /// From a pool that is laid out at the start.
    Pooled(&'a SandboxConfig),
    /// From the system, one by one.
    OnDemand,
}

pub(super) fn config(allocation: &Allocation<'_>) -> Config {
    let mut config = Config::new();
    // The other compiler had sandbox escapes, so it never sees a guest.
    config.strategy(Strategy::Cranelift).cranelift_opt_level(OptLevel::Speed);
    // A verdict is the same on every machine.
    config.cranelift_nan_canonicalization(true).relaxed_simd_deterministic(true);
    config.epoch_interruption(true).consume_fuel(false);
    // INVARIANT: without concurrency support nothing stops a host function from calling back into the guest that called
    // it. Host functions get the state of the event, never an instance.
    config.concurrency_support(false);
    config.max_wasm_stack(WASM_STACK).async_stack_size(EVENT_STACK).async_stack_zeroing(true);
    config.wasm_backtrace_max_frames(NonZeroUsize::new(20)).wasm_backtrace_details(WasmBacktraceDetails::Disable);
    config.shared_memory(false).wasm_memory64(false).wasm_relaxed_simd(false);
    // Where two parts of a component have a memory each, as JavaScript's do, the engine's own adapter between them is a module
    // that imports both. A module with two memories of its own is still refused, by the pool.
    config.wasm_multi_memory(true);
    config.memory_init_cow(true).memory_reservation(RESERVATION).memory_guard_size(32 << 20).memory_may_move(false);
    config.allocation_strategy(match allocation {
        Allocation::Pooled(sandbox) => InstanceAllocationStrategy::Pooling(pool(sandbox)),
        Allocation::OnDemand => InstanceAllocationStrategy::OnDemand,
    });
    config
}

/// Room for scripting languages: a Python guest has 14 to 38 core instances, 2 tables and one memory, a JavaScript guest a
/// table of 7,688 elements.
fn pool(sandbox: &SandboxConfig) -> PoolingAllocationConfig {
    let slots = sandbox.slots.saturating_add(sandbox.slow_slots()).saturating_add(sandbox.ready);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(slots)
        .total_stacks(slots)
        .total_gc_heaps(slots)
        .total_memories(slots.saturating_mul(MOST_MEMORIES))
        .total_tables(slots.saturating_mul(MOST_TABLES))
        .total_core_instances(slots.saturating_mul(MOST_CORE_INSTANCES))
        .max_memories_per_component(MOST_MEMORIES)
        .max_tables_per_component(MOST_TABLES)
        .max_core_instances_per_component(MOST_CORE_INSTANCES)
        .max_memories_per_module(1)
        .max_tables_per_module(4)
        .max_component_instance_size(1 << 20)
        .max_core_instance_size(1 << 20)
        .max_memory_size(sandbox.memory_ceiling)
        .table_elements(MOST_TABLE_ELEMENTS)
        // What a guest touched stays in place and is overwritten behind its event, so the next one meets no page faults.
        .linear_memory_keep_resident(KEPT)
        .table_keep_resident(256 << 10)
        .async_stack_keep_resident(32 << 10)
        .pagemap_scan(Enabled::Auto)
        // A place that was used is used again before one that never was, or memory grows until all of them have been.
        .max_unused_warm_slots(0);
    pool
}
