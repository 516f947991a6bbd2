//! Gives each role its tools, by name and by pattern.
//!
//! A caller sees and calls the tools of all the roles that it holds, as far as the host's own permissions go. A role without
//! an entry brings nothing, and a caller whose roles all have none keeps no tool at all. A generic tool, one that takes a URL,
//! a query or a command and so reaches what others hide, is never taken in by a pattern: it stands under `generic`, by name.

use std::collections::BTreeMap;

use callgate_guest::{Caller, Decision, GrantHook, Narrowing, config};

/// Tool names or patterns by role.
type ByRole = BTreeMap<String, Vec<String>>;

struct AgentMode;

callgate_guest::export!(AgentMode: grant);

impl GrantHook for AgentMode {
    fn decide(caller: Caller) -> Result<Decision, String> {
        let tools: ByRole = config::get("roles")?.ok_or("no `roles` are configured")?;
        let generic: ByRole = config::get("generic")?.unwrap_or_default();
        Ok(narrowing(&caller.roles, &tools, &generic)?.into())
    }
}

fn narrowing(held: &[String], tools: &ByRole, generic: &ByRole) -> Result<Narrowing, String> {
    if let Some(pattern) = generic.values().flatten().find(|name| name.contains(['*', '?'])) {
        return Err(format!("`generic` names tools one by one, and `{pattern}` is a pattern"));
    }
    // A plain name is a pattern that only fits itself, and as a pattern it never takes in a generic tool.
    let patterns = held.iter().filter_map(|role| tools.get(role)).flatten().cloned();
    let named = held.iter().filter_map(|role| generic.get(role)).flatten().cloned();
    Ok(Narrowing::nothing().matching(patterns).named(named).reusable_for(REUSABLE))
}

/// Nothing but the caller and the configuration goes into the decision, so it is good for as long as the host allows.
const REUSABLE: std::time::Duration = std::time::Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use callgate_guest::testing::{TestHost, caller};

    use super::*;

    const ROLES: &str = r#"{ "reader": ["files__read_*", "clock"], "writer": ["files__*"] }"#;
    const GENERIC: &str = r#"{ "operator": ["http__fetch"] }"#;

    fn decide(roles: &[&str]) -> Result<Narrowing, String> {
        match AgentMode::decide(caller("ada", roles))? {
            Decision::Narrow(narrowing) => Ok(narrowing),
            Decision::Abstain => panic!("a mode never abstains"),
        }
    }

    #[test]
    fn a_caller_gets_the_tools_of_all_its_roles() {
        let _host = TestHost::new().configure("roles", ROLES).configure("generic", GENERIC);
        let reader = decide(&["reader"]).unwrap();
        assert_eq!(reader.patterns, ["files__read_*", "clock"]);
        assert_eq!(reader.identifiers, [""; 0]);
        let both = decide(&["reader", "writer"]).unwrap();
        assert_eq!(both.patterns, ["files__read_*", "clock", "files__*"]);
    }

    #[test]
    fn g3_a_role_that_nobody_configured_brings_nothing() {
        let _host = TestHost::new().configure("roles", ROLES);
        for roles in [&["stranger"][..], &[]] {
            let narrowing = decide(roles).unwrap();
            assert!(narrowing.patterns.is_empty() && narrowing.identifiers.is_empty(), "{narrowing:?}");
        }
    }

    #[test]
    fn g9_a_generic_tool_comes_by_name_and_never_by_pattern() {
        let _host = TestHost::new().configure("roles", ROLES).configure("generic", GENERIC);
        assert_eq!(decide(&["operator"]).unwrap().identifiers, ["http__fetch"]);

        let _host = TestHost::new().configure("roles", ROLES).configure("generic", r#"{ "operator": ["http__*"] }"#);
        assert!(decide(&["operator"]).unwrap_err().contains("`http__*` is a pattern"));
    }

    #[test]
    fn f1_without_a_configuration_there_is_no_decision() {
        let _host = TestHost::new();
        assert_eq!(decide(&["reader"]).unwrap_err(), "no `roles` are configured");
        let _host = TestHost::new().configure("roles", r#"["reader"]"#);
        assert!(decide(&["reader"]).unwrap_err().starts_with("the configured `roles` does not fit"));
    }
}
