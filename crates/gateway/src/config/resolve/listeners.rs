//! The listeners in their order.

use std::collections::BTreeMap;
use std::time::Duration;

use toml::Spanned;

use super::{Findings, values};
use crate::config::document::{Delivery, Hook, ListenerTable};
use crate::config::ListenerConfig;

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

fn resolve_listener(
    name: Spanned<String>,
    table: ListenerTable,
    found: &mut Findings<'_>,
) -> Option<ListenerConfig> {
    found.check_name("a listener", &name);
    let values = match values::members(table.config) {
        Ok(values) => values,
        Err(reason) => {
            found.at(&name, format!("the values of [listener.{}]: {reason}", name.get_ref()));
            return None;
        }
    };
    if let Some(hooks) = &table.hooks {
        check_hooks(&name, hooks, table.delivery.as_ref(), found);
    }
    Some(ListenerConfig {
        line: found.line(&name),
        component: found.source.resolve(table.component.get_ref()),
        component_line: found.line(&table.component),
        sha256: table.sha256.and_then(|digest| check_digest(digest, found)),
        hooks: table.hooks.map(|hooks| hooks.iter().map(|hook| (*hook.get_ref(), found.line(hook))).collect()),
        capabilities: table.capabilities,
        deadline: table.deadline_ms.map(|ms| Duration::from_millis(ms.get().into())),
        delivery: table.delivery.map(Spanned::into_inner).unwrap_or_default(),
        limits: table.limits,
        values,
        name: name.into_inner(),
    })
}

fn check_hooks(
    name: &Spanned<String>,
    hooks: &[Spanned<Hook>],
    delivery: Option<&Spanned<Delivery>>,
    found: &mut Findings<'_>,
) {
    if hooks.is_empty() {
        found.at(name, format!("[listener.{}] uses no hook, so it would never be asked", name.get_ref()));
    }
    let told_after = hooks.iter().any(|hook| *hook.get_ref() == Hook::AfterCall);
    if let Some(delivery) = delivery.filter(|_| !told_after) {
        found.at(delivery, "`delivery` is for listeners that use after-call");
    }
}

fn check_digest(digest: Spanned<String>, found: &mut Findings<'_>) -> Option<String> {
    let hex = digest.get_ref().to_ascii_lowercase();
    if hex.len() == 64 && hex.chars().all(|char| char.is_ascii_hexdigit()) {
        return Some(hex);
    }
    found.at(&digest, "sha256 has 64 hex digits");
    None
}
