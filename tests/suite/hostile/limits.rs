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

/// What no event can exceed, each field with its key: how many instances the host keeps ahead of events, and how long it tries
/// to make one.
const OF_THE_HOST: [(&str, &str); 2] = [("ready", "limits.ready"), ("preparation_deadline", "limits.preparation-ms")];

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

/// A key of a listener's table that sets a limit, with the least and the greatest value that it may have.
struct Key {
    name: String,
    least: i64,
    most: i64,
}

/// All of them, out of the schema.
fn keys() -> Vec<Key> {
    let schema = Value::from(callgate::config::json_schema());
    let key = |name: String, property: &Value| {
        let bound = |bound: &str| property[bound].as_i64().unwrap();
        Key { name, least: bound("minimum"), most: bound("maximum") }
    };
    let limits = schema["$defs"]["LimitsTable"]["properties"].as_object().unwrap();
    let deadline = &schema["$defs"]["ListenerTable"]["properties"]["deadline-ms"];
    let limits = limits.iter().map(|(name, property)| key(format!("limits.{name}"), property));
    limits.chain([key("deadline-ms".into(), deadline)]).collect()
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
    let exceeded: BTreeSet<_> = all().iter().map(|row| row.field).collect();
    let of_the_host = BTreeSet::from(OF_THE_HOST.map(|(field, _)| field));
    assert_eq!(exceeded.union(&of_the_host).copied().collect::<BTreeSet<_>>(), fields());
    assert!(exceeded.is_disjoint(&of_the_host));
}

#[test]
fn every_key_of_the_configuration_has_a_guest_that_exceeds_it() {
    let exceeded = all().into_iter().filter_map(|row| row.key).map(|(key, _)| key);
    let exceeded: BTreeSet<_> = exceeded.chain(OF_THE_HOST.map(|(_, key)| key)).map(str::to_owned).collect();
    assert_eq!(exceeded, keys().into_iter().map(|key| key.name).collect());
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
    for Key { name, least, most } in keys() {
        assert!(least > 0 || name == "limits.ready", "{name}: with nothing of it no event could run");
        for value in [least, most] {
            configured(&format!("{name} = {value}")).unwrap_or_else(|problems| panic!("{problems}"));
        }
        for value in [least - 1, most + 1] {
            let problems = configured(&format!("{name} = {value}")).unwrap_err().to_string();
            assert!(problems.starts_with("callgate.toml:4: "), "{name}: {problems}");
            assert!(problems.contains(&format!("{value} is not a number from {least} to {most}")), "{problems}");
        }
    }
}
