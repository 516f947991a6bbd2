//! Every limit has a guest that exceeds it, and the tables here are complete by construction: a field of [`SandboxLimits`]
//! without a row does not compile or fails a test, and so does a key of the configuration.

mod exceeding;

use std::collections::BTreeSet;
use std::path::Path;

use callgate::config::{Config, Problems, Source};
use callgate_tests::host::AMPLE;
use callgate_wasm::SandboxLimits;
use serde_json::Value;

use exceeding::{Exceeds, all, observe};

/// What no event can exceed: how many instances the host keeps ahead of events, and how long it tries to make one.
const OF_THE_HOST: [&str; 2] = ["ready", "preparation_deadline"];

/// The names of all fields. The pattern has no `..`: a new field does not compile until it is named here.
fn fields() -> BTreeSet<&'static str> {
    macro_rules! named {
        ($($field:ident),*) => {{
            let SandboxLimits { $($field: _),* } = SandboxLimits::default();
            BTreeSet::from([$(stringify!($field)),*])
        }};
    }
    named![
        decision_deadline,
        report_deadline,
        memory,
        table_elements,
        instances,
        handles,
        hostcall_fuel,
        payload,
        output,
        stderr,
        log,
        state,
        host_calls,
        concurrency,
        ready,
        preparation_deadline
    ]
}

/// The keys of `[listener.X.limits]` with the least and the greatest value that each may have.
fn keys() -> Vec<(String, u64, u64)> {
    let schema = Value::from(callgate::config::json_schema());
    let properties = schema["$defs"]["LimitsTable"]["properties"].as_object().unwrap();
    let bound = |property: &Value, name: &str| property[name].as_u64().unwrap();
    properties
        .iter()
        .map(|(key, property)| (key.clone(), bound(property, "minimum"), bound(property, "maximum")))
        .collect()
}

/// The limits of a listener with that line in its table.
fn configured(line: &str) -> Result<SandboxLimits, Problems> {
    let text = format!("listeners = [\"guest\"]\n[listener.guest]\ncomponent = \"guest.wasm\"\n{line}\n");
    let mut config = Config::parse(Source::new(Path::new("callgate.toml"), &text))?;
    Ok(config.listeners.remove(0).limits)
}

/// Time enough for what is not about time.
fn patient(limits: SandboxLimits) -> SandboxLimits {
    let decision_deadline = limits.decision_deadline.max(AMPLE);
    SandboxLimits { decision_deadline, report_deadline: limits.report_deadline.max(AMPLE), ..limits }
}

#[test]
fn every_limit_has_a_guest_that_exceeds_it() {
    let exceeded: BTreeSet<_> = all().iter().map(|row| row.field).chain(OF_THE_HOST).collect();
    assert_eq!(exceeded, fields());
}

#[test]
fn every_key_of_the_configuration_has_a_guest_that_exceeds_it() {
    let exceeded: BTreeSet<_> = all().iter().filter_map(|row| row.key).map(|(key, _)| key.to_owned()).collect();
    let keys: BTreeSet<_> = keys().into_iter().map(|(key, ..)| format!("limits.{key}")).collect();
    let others = BTreeSet::from(["deadline-ms".to_owned()]);
    assert_eq!(exceeded, keys.union(&others).cloned().collect());
}

#[tokio::test]
async fn f1_what_is_over_its_limit_fails_by_the_limits_name() {
    for row in all() {
        let Exceeds { field, tighten, over, within, .. } = row;
        let roomy = patient(SandboxLimits::default());
        assert_eq!(observe(&row, roomy.clone()).await, within, "{field} at its default");
        let mut tight = roomy;
        tighten(&mut tight);
        assert_eq!(observe(&row, tight).await, over, "{field}");
    }
}

#[tokio::test]
async fn f1_what_the_configuration_limits_is_limited() {
    for row in all() {
        let Some((key, value)) = row.key else { continue };
        let limits = configured(&format!("{key} = {value}")).unwrap();
        let limits = if key == "deadline-ms" { limits } else { patient(limits) };
        assert_eq!(observe(&row, limits).await, row.over, "{key} = {value}");
    }
}

#[test]
fn a_limit_out_of_its_bounds_is_refused_with_its_line() {
    let listed = keys().into_iter().map(|(key, least, most)| (format!("limits.{key}"), least, most));
    for (key, least, most) in listed.chain([("deadline-ms".to_owned(), 1, 60_000)]) {
        assert!(least > 0, "{key}: with nothing of it no event could run");
        for value in [least, most] {
            configured(&format!("{key} = {value}")).unwrap_or_else(|problems| panic!("{problems}"));
        }
        for value in [least - 1, most + 1] {
            let problems = configured(&format!("{key} = {value}")).unwrap_err().to_string();
            assert!(problems.starts_with("callgate.toml:4: "), "{key}: {problems}");
            assert!(problems.contains(&format!("{value} is not a number from {least} to {most}")), "{problems}");
        }
    }
}
