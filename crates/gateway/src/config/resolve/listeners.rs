//! The listeners in their order.

mod grants;

use std::collections::BTreeMap;
use std::time::Duration;

use callgate_core::subscription::{BreakerLimits, Delivery};
use callgate_wasm::{Hook, Pin, SandboxLimits};
use toml::Spanned;

use super::{Findings, values};
use crate::config::ListenerConfig;
use crate::config::bounded::Bounded;
use crate::config::document::{BreakerTable, DeliveryName, LimitsTable, ListenerTable};

/// Each name in the order has its table and the other way round, so that no gate is dropped by forgetting one of the two.
pub(super) fn resolve(
    order: Vec<Spanned<String>>,
    mut tables: BTreeMap<Spanned<String>, ListenerTable>,
    found: &mut Findings<'_>,
) -> Vec<ListenerConfig> {
    let mut listeners: Vec<ListenerConfig> = Vec::new();
    for name in order {
        if listeners.iter().any(|listener| listener.name == *name.get_ref()) {
            found.at(&name, format!("listener '{}' is named twice", name.get_ref()));
            continue;
        }
        match tables.remove_entry(name.get_ref().as_str()) {
            Some((key, table)) => listeners.extend(resolve_listener(key, table, found)),
            None => {
                let reason = format!("listener '{0}' has no table [listener.{0}]", name.get_ref());
                found.at(&name, reason);
            }
        }
    }
    for name in tables.into_keys() {
        let reason = format!("[listener.{0}] is not used: '{0}' is missing in `listeners`", name.get_ref());
        found.at(&name, reason);
    }
    listeners
}

fn resolve_listener(name: Spanned<String>, table: ListenerTable, found: &mut Findings<'_>) -> Option<ListenerConfig> {
    found.check_name("a listener", &name);
    let values = match values::members(table.config) {
        Ok(values) => values,
        Err(reason) => {
            found.at(&name, format!("the values of [listener.{}]: {reason}", name.get_ref()));
            return None;
        }
    };
    let hooks: Option<Vec<_>> = table
        .hooks
        .map(|hooks| hooks.into_iter().map(|hook| (Hook::from(*hook.get_ref()), found.line(&hook))).collect());
    if let Some(hooks) = &hooks {
        check_hooks(&name, hooks, table.delivery.as_ref(), found);
    }
    Some(ListenerConfig {
        line: found.line(&name),
        component: found.source.resolve(table.component.get_ref()),
        component_line: found.line(&table.component),
        pin: table.sha256.and_then(|digest| pin(&digest, found)),
        hooks,
        capabilities: table.capabilities.into_iter().map(Into::into).collect(),
        http: table.http.map(|table| grants::http(table, found)),
        folders: table.folder.into_iter().map(|table| grants::folder(table, found)).collect(),
        delivery: table.delivery.map_or(Delivery::BeforeReply, |delivery| (*delivery.get_ref()).into()),
        limits: limits(table.deadline_ms.map(Bounded::get), &table.limits),
        breaker: table.breaker.map(|table| breaker(&table, found)).unwrap_or_default(),
        values,
        name: name.into_inner(),
    })
}

fn check_hooks(
    name: &Spanned<String>,
    hooks: &[(Hook, usize)],
    delivery: Option<&Spanned<DeliveryName>>,
    found: &mut Findings<'_>,
) {
    if hooks.is_empty() {
        found.at(name, format!("[listener.{}] uses no hook, so it would never be asked", name.get_ref()));
    }
    let told_after = hooks.iter().any(|(hook, _)| *hook == Hook::AfterCall);
    if let Some(delivery) = delivery.filter(|_| !told_after) {
        found.at(delivery, "`delivery` is for listeners that use after-call");
    }
}

fn pin(digest: &Spanned<String>, found: &mut Findings<'_>) -> Option<Pin> {
    let pin = Pin::parse(digest.get_ref());
    if let Err(error) = &pin {
        found.at(digest, error.to_string());
    }
    pin.ok()
}

/// The host's defaults, but for what the table says.
fn limits(deadline_ms: Option<u32>, table: &LimitsTable) -> SandboxLimits {
    let default = SandboxLimits::default();
    let millis = |ms: u32| Duration::from_millis(ms.into());
    let deadline = deadline_ms.map(millis);
    SandboxLimits {
        decision_deadline: deadline.unwrap_or(default.decision_deadline),
        report_deadline: deadline.unwrap_or(default.report_deadline),
        memory: table.memory_mib.map_or(default.memory, |mib| bytes(mib.get(), 20)),
        table_elements: table.table_elements.map_or(default.table_elements, |elements| bytes(elements.get(), 0)),
        instances: table.instances.map_or(default.instances, |instances| bytes(instances.get(), 0)),
        handles: table.handles.map_or(default.handles, |handles| bytes(handles.get(), 0)),
        hostcall_fuel: table.hostcall_fuel_mib.map_or(default.hostcall_fuel, |mib| bytes(mib.get(), 20)),
        host_calls: table.host_calls.map_or(default.host_calls, |calls| bytes(calls.get(), 0)),
        payload: table.payload_kib.map_or(default.payload, |kib| bytes(kib.get(), 10)),
        output: table.output_kib.map_or(default.output, |kib| bytes(kib.get(), 10)),
        stderr: table.stderr_kib.map_or(default.stderr, |kib| bytes(kib.get(), 10)),
        log: table.log_kib.map_or(default.log, |kib| bytes(kib.get(), 10)),
        state: table.state_kib.map_or(default.state, |kib| bytes(kib.get(), 10)),
        concurrency: table.concurrency.map_or(default.concurrency, |events| bytes(events.get(), 0)),
        ready: table.ready.map_or(default.ready, |instances| bytes(instances.get(), 0)),
        preparation_deadline: table.preparation_ms.map_or(default.preparation_deadline, |ms| millis(ms.get())),
    }
}

/// The host's defaults, but for what the table says.
fn breaker(table: &Spanned<BreakerTable>, found: &mut Findings<'_>) -> BreakerLimits {
    let BreakerTable { failures, pause_ms, longest_pause_ms } = *table.get_ref();
    let default = BreakerLimits::default();
    let limits = BreakerLimits {
        failures: failures.map_or(default.failures, Bounded::get),
        pause: pause_ms.map_or(default.pause, |ms| Duration::from_millis(ms.get().into())),
        longest_pause: longest_pause_ms.map_or(default.longest_pause, |ms| Duration::from_millis(ms.get().into())),
    };
    if limits.pause > limits.longest_pause {
        let (pause, longest) = (limits.pause.as_millis(), limits.longest_pause.as_millis());
        found.at(table, format!("a pause of {pause} ms is longer than the longest pause of {longest} ms"));
    }
    limits
}

/// A number of units of 2 to the power of `exponent`. Their bounds keep it far below what a 64-bit size can hold.
fn bytes(units: u32, exponent: u32) -> usize {
    usize::try_from(u64::from(units) << exponent).unwrap_or(usize::MAX)
}
