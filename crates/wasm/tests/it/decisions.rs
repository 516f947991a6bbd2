//! Good guests: their decisions arrive, and what they are told is what the host knows.

use std::sync::Arc;
use std::time::Duration;

use callgate_core::grant::GrantAnswer;
use callgate_core::listener::{GrantQuery, Hooks, Listener};
use callgate_core::report::{CallReport, Completion, Dispatch, Ending};
use callgate_core::testing::{caller, granted_call, row, tool};
use callgate_core::{Json, ToolRegistry, Verdict};
use callgate_wasm::{ListenerOptions, OptionsError, WasmListener};

use crate::kit;
use crate::sandbox::{before_call, listener, listener_with, options, sandbox};

#[tokio::test]
async fn b2_a_guest_lets_proceed_denies_and_answers() {
    assert_eq!(before_call(&listener(kit::proceeding()).await).await, Ok(Verdict::Proceed));
    let denied = before_call(&listener(kit::denying("ask first")).await).await;
    let Ok(Verdict::Deny(denial)) = denied else { panic!("{denied:?}") };
    assert_eq!((denial.reason(), denial.private_reason()), ("ask first", None));
    let answer = r#"{"content":[], "n":1.0}"#;
    let guest = kit::before_with(
        &format!("(data (i32.const 1024) {answer:?})"),
        &format!(
            "(i32.store8 (i32.const 4) (i32.const 2)) (i32.store (i32.const 8) (i32.const 1024))
             (i32.store (i32.const 12) (i32.const {})) (i32.const 0)",
            answer.len()
        ),
    );
    assert_eq!(before_call(&listener(guest).await).await, Ok(Verdict::Answer(Json::parse(answer).unwrap())));
}

/// Denies with the arguments as its reason: the text that the guest was given.
fn echoing_arguments() -> Vec<u8> {
    kit::before(
        "(i32.store8 (i32.const 4) (i32.const 1))
         (i32.store (i32.const 8) (i32.load offset=84 (local.get $call)))
         (i32.store (i32.const 12) (i32.load offset=88 (local.get $call)))
         (i32.const 0)",
    )
}

#[tokio::test]
async fn w2_arguments_reach_a_guest_as_they_were_spelled() {
    let guest = listener(echoing_arguments()).await;
    for arguments in [r#"{"n": 1.0, "m":1e400}"#, "{}", r#"{"é":"\u00e9😀"}"#] {
        let verdict = guest.before_call(&granted_call("read", arguments)).await;
        let Ok(Verdict::Deny(denial)) = verdict else { panic!("{verdict:?}") };
        assert_eq!(denial.reason(), arguments);
    }
}

#[tokio::test]
async fn g3_a_guest_abstains_or_narrows() {
    let query = GrantQuery {
        caller: caller("ada", &["writer"]),
        registry: Arc::new(ToolRegistry::new([tool("read"), tool("write")]).unwrap()),
    };
    let abstaining = format!("{} {} (i32.const 0))", kit::MEMORY, kit::GRANT_DECIDE);
    let guest = listener(kit::component("grant", &abstaining)).await;
    assert_eq!(guest.grant(&query).await, Ok(GrantAnswer::Abstain));
    // Narrows to the name at 1024; the list of one name is at 64.
    let narrowing = format!(
        r#"{} (data (i32.const 1024) "read") {}
           (i32.store (i32.const 64) (i32.const 1024)) (i32.store (i32.const 68) (i32.const 4))
           (i32.store8 (i32.const 4) (i32.const 1))
           (i32.store (i32.const 8) (i32.const 64)) (i32.store (i32.const 12) (i32.const 1))
           (i32.const 0))"#,
        kit::MEMORY,
        kit::GRANT_DECIDE
    );
    let guest = listener(kit::component("grant", &narrowing)).await;
    let Ok(GrantAnswer::Narrow(narrowing)) = guest.grant(&query).await else { panic!("it did not narrow") };
    assert!(narrowing.keeps(&row("read")) && !narrowing.keeps(&row("write")));
}

#[tokio::test]
async fn g10_rows_are_read_through_functions_at_most_1000_at_once() {
    // Traps unless `count` is 1,500, `rows(0, 1500)` gives 1,000 and `rows(1400, 1500)` gives 100.
    let core = format!(
        r#"(import "callgate:listener/registry@0.1.0" "count" (func $count (result i32)))
           (import "callgate:listener/registry@0.1.0" "rows" (func $rows (param i32 i32 i32)))
           {}
           (func $expect (param i32 i32) (if (i32.ne (local.get 0) (local.get 1)) (then unreachable)))
           {}
           (call $expect (call $count) (i32.const 1500))
           (call $rows (i32.const 0) (i32.const 1500) (i32.const 32))
           (call $expect (i32.load (i32.const 36)) (i32.const 1000))
           (call $rows (i32.const 1400) (i32.const 1500) (i32.const 32))
           (call $expect (i32.load (i32.const 36)) (i32.const 100))
           (call $rows (i32.const 1500) (i32.const 1) (i32.const 32))
           (call $expect (i32.load (i32.const 36)) (i32.const 0))
           (i32.const 0))"#,
        kit::MEMORY,
        kit::GRANT_DECIDE
    );
    let registry = ToolRegistry::new((0..1_500).map(|number| tool(&format!("tool{number:04}")))).unwrap();
    let query = GrantQuery { caller: caller("ada", &[]), registry: Arc::new(registry) };
    let guest = listener(kit::component("grant", &core)).await;
    assert_eq!(guest.grant(&query).await, Ok(GrantAnswer::Abstain));
}

fn report() -> CallReport {
    CallReport {
        call: granted_call("read", "{}").context().clone(),
        ending: Ending::Executed(Completion::Complete),
        dispatch: Dispatch::Done,
        reply: Some(Json::parse(r#"{"content":[]}"#).unwrap()),
        duration: Duration::from_millis(3),
        steps: Vec::new(),
    }
}

#[tokio::test]
async fn a2_a_guest_is_told_how_a_call_ended() {
    let core = format!("{} {} (i32.const 0))", kit::MEMORY, kit::AFTER_NOTIFY);
    let guest = listener(kit::component("after", &core)).await;
    assert_eq!(guest.hooks(), Hooks { after_call: true, ..Hooks::default() });
    assert_eq!(guest.after_call(&report()).await, Ok(()));
}

#[tokio::test]
async fn hooks_are_found_by_what_a_component_exports() {
    let core = format!("{} {} (i32.const 0)) {} (i32.const 0))", kit::MEMORY, kit::BEFORE_DECIDE, kit::AFTER_NOTIFY);
    let bytes = kit::component("both", &core);
    let both = Hooks { before_call: true, after_call: true, ..Hooks::default() };
    let after = Hooks { after_call: true, ..Hooks::default() };
    assert_eq!(listener(bytes.clone()).await.hooks(), both);
    let chosen = ListenerOptions { hooks: Some(after), ..options() };
    assert_eq!(listener_with(bytes.clone(), chosen).await.hooks(), after);
    let component = sandbox().load_bytes(bytes, None).await.unwrap();
    for (hooks, part) in [(Hooks::ALL, "no grant hook"), (Hooks::default(), "no hook would ever be asked")] {
        let refused = ListenerOptions { hooks: Some(hooks), ..options() };
        let error = WasmListener::new(component.clone(), refused).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
        assert!(matches!(error, OptionsError::HookNotExported(_) | OptionsError::NoHooks));
    }
}
