//! From what the file says to what it means, or to everything that contradicts itself in it.

mod upstreams;
mod listeners;
mod sandbox;
mod values;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use callgate_core::Caller;
use callgate_core::caller::Identity;
use callgate_core::permissions::Permissions;
use toml::Spanned;

use super::document::{CallerTable, Document, StateTable};
use super::{Config, PermissionLine, Problem, Problems, Source, StateLocation};

const DEFAULT_STATE: &str = "callgate-state.sqlite";

impl Document {
    pub(super) fn resolve(self, source: Source) -> Result<Config, Problems> {
        let mut found = Findings { source: &source, problems: Vec::new() };
        let callers = resolve_callers(self.caller, &mut found);
        let stdio_caller = self.stdio.caller.and_then(|name| {
            let caller = callers.get(name.get_ref()).cloned();
            if caller.is_none() {
                found.at(&name, format!("there is no [caller.{}] to run the stdio session as", name.get_ref()));
            }
            caller
        });
        let state = resolve_state(self.state, &mut found);
        let sandbox = sandbox::resolve(self.sandbox, &source);
        let upstreams = upstreams::resolve(self.upstream, &mut found);
        let names: Vec<_> = upstreams.iter().map(|upstream| upstream.name.as_str()).collect();
        let (permissions, permission_lines) = resolve_permissions(self.permissions, &names, &mut found);
        let listeners = listeners::resolve(self.listeners, self.listener, &mut found);
        let problems = found.problems;
        if problems.is_empty() {
            Ok(Config {
                source,
                callers,
                stdio_caller,
                state,
                sandbox,
                upstreams,
                permissions,
                permission_lines,
                listeners,
            })
        } else {
            Err(Problems(problems))
        }
    }
}

/// What is wrong so far, so that one run names everything.
struct Findings<'a> {
    source: &'a Source,
    problems: Vec<Problem>,
}

impl Findings<'_> {
    fn at<T>(&mut self, place: &Spanned<T>, reason: impl Into<String>) {
        self.problems.push(self.source.problem(self.line(place), reason));
    }

    fn line<T>(&self, place: &Spanned<T>) -> usize {
        self.source.line(&place.span())
    }

    /// Names end up in keys of the state store, in records and in messages, so they are plain.
    fn check_name(&mut self, what: &str, name: &Spanned<String>) {
        let plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_');
        if !(1..=64).contains(&name.get_ref().len()) || !name.get_ref().chars().all(plain) {
            let reason =
                format!("the name of {what} has 1 to 64 letters, digits, '-' or '_', not '{}'", name.get_ref());
            self.at(name, reason);
        }
    }
}

fn resolve_callers(
    tables: BTreeMap<Spanned<String>, CallerTable>,
    found: &mut Findings<'_>,
) -> BTreeMap<String, Arc<Caller>> {
    let mut callers = BTreeMap::new();
    for (name, table) in tables {
        let claims = match values::entries(table.claims) {
            Ok(claims) => claims,
            Err(reason) => {
                found.at(&name, format!("the claims of [caller.{}]: {reason}", name.get_ref()));
                continue;
            }
        };
        let identity = Identity {
            subject: name.get_ref().clone(),
            auth_method: "config".into(),
            roles: table.roles,
            tenant: table.tenant,
            claims,
            ..Identity::default()
        };
        match Caller::new(identity) {
            Ok(caller) => {
                callers.insert(name.into_inner(), Arc::new(caller));
            }
            Err(error) => found.at(&name, format!("[caller.{}]: {error}", name.get_ref())),
        }
    }
    callers
}

fn resolve_state(table: Option<Spanned<StateTable>>, found: &mut Findings<'_>) -> StateLocation {
    let default = || StateLocation::File(found.source.resolve(Path::new(DEFAULT_STATE)));
    let Some(table) = table else { return default() };
    match table.get_ref() {
        StateTable { path: Some(path), memory: false } => StateLocation::File(found.source.resolve(path)),
        StateTable { path: None, memory: true } => StateLocation::Memory,
        StateTable { path: None, memory: false } => default(),
        StateTable { path: Some(_), memory: true } => {
            found.at(&table, "[state] says both path and memory");
            StateLocation::Memory
        }
    }
}

fn resolve_permissions(
    sections: BTreeMap<String, BTreeMap<Spanned<String>, Vec<String>>>,
    upstreams: &[&str],
    found: &mut Findings<'_>,
) -> (Permissions, Vec<PermissionLine>) {
    let mut permissions = Permissions::default();
    let mut lines = Vec::new();
    for (section, methods) in sections {
        for (method, roles) in methods {
            let upstream = method.get_ref().split_once('/').map(|(upstream, _)| upstream);
            match upstream {
                None => found.at(&method, format!("'{}' is not a method: UPSTREAM/TOOL", method.get_ref())),
                Some(upstream) if !upstreams.contains(&upstream) => {
                    found.at(&method, format!("'{}': there is no [upstream.{upstream}]", method.get_ref()));
                }
                Some(_) => {}
            }
            let line = found.line(&method);
            permissions.permit(section.as_str(), method.get_ref().as_str(), roles.iter().cloned());
            lines.push(PermissionLine { line, section: section.clone(), method: method.into_inner(), roles });
        }
    }
    (permissions, lines)
}
