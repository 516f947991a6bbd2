//! The session, step by step. Each step checks what it tells: a demonstration that went otherwise fails.

use std::io::Write;

use anyhow::{Context, Result, ensure};
use callgate_core::{Json, StateStore};
use callgate_mcp::Client;
use callgate_mcp::envelope::{Payload, Response};
use serde_json::{Value, json};

use super::cast::{Cast, Part};
use super::narrator::Narrator;
use super::stage::{BROKEN, Stage};
use crate::sqlite_state::SqliteState;
use crate::text::listed;

/// What no server offers.
const ABSENT: &str = "no_such_tool";
const KEY: &str = "festi/idempotencyKey";

pub(super) async fn play(stage: &Stage, cast: &Cast, tell: &mut Narrator<'_, impl Write>) -> Result<()> {
    tell.say("callgate stands between agents and an MCP server. This is its configuration:\n")?;
    for line in stage.configuration().lines() {
        tell.say(line)?;
    }
    let ada = stage.session("ada").await?;
    let bob = stage.session("bob").await?;
    listings(&ada, &bob, cast, tell).await?;
    hidden_is_absent(&bob, cast, tell).await?;
    stored_answer(&ada, cast, tell).await?;
    approval(stage, &ada, cast, tell).await?;
    ada.close().await;
    bob.close().await;
    broken_gate(stage, cast, tell).await?;
    records(stage, tell).await
}

async fn listings(ada: &Client, bob: &Client, cast: &Cast, tell: &mut Narrator<'_, impl Write>) -> Result<()> {
    tell.step("Two callers list the tools of the same server")?;
    tell.show("server", &format!("has {}", listed(cast.all.iter().map(String::as_str))))?;
    let seen_by_ada = names(ada).await?;
    let seen_by_bob = names(bob).await?;
    tell.show("ada", &format!("(operator) sees {}", listed(seen_by_ada.iter().map(String::as_str))))?;
    tell.show("bob", &format!("(reader) sees {}", listed(seen_by_bob.iter().map(String::as_str))))?;
    if let Some(generic) = &cast.generic {
        tell.say(&format!(
            "{generic} can reach anything, so it is hidden until a permission names it: '*' is not enough."
        ))?;
        ensure!(!seen_by_ada.contains(generic), "{generic} is shown");
    }
    ensure!(seen_by_ada.contains(&cast.guarded.tool), "ada does not see {}", cast.guarded.tool);
    ensure!(!seen_by_bob.contains(&cast.guarded.tool), "bob sees {}", cast.guarded.tool);
    Ok(())
}

async fn hidden_is_absent(bob: &Client, cast: &Cast, tell: &mut Narrator<'_, impl Write>) -> Result<()> {
    tell.step("bob calls a tool that is hidden from him, and one that does not exist")?;
    let hidden = call(bob, &cast.guarded, "bob", tell).await?;
    let absent = Part { tool: ABSENT.into(), arguments: cast.guarded.arguments.clone() };
    let absent = call(bob, &absent, "bob", tell).await?;
    let same = error(&hidden)?.as_str().replace(&cast.guarded.tool, ABSENT) == error(&absent)?.as_str();
    ensure!(same, "a hidden tool and an absent one are told apart");
    tell.say(
        "But for the name that bob sent himself, both errors are the same bytes: he can not find out what is hidden.",
    )
}

async fn stored_answer(ada: &Client, cast: &Cast, tell: &mut Narrator<'_, impl Write>) -> Result<()> {
    tell.step("ada calls a tool under an idempotency key, and repeats the call as if the answer had been lost")?;
    let meta = json!({ KEY: "order-17" });
    let first = call_with(ada, &cast.counted, &meta, "ada", tell).await?;
    let second = call_with(ada, &cast.counted, &meta, "ada", tell).await?;
    ensure!(result(&first)? == result(&second)?, "the repeat has another answer");
    tell.say("The second answer came from the idempotency ledger, byte for byte: the tool ran once.")?;
    if let Some(witness) = &cast.witness {
        let seen = call(ada, witness, "ada", tell).await?;
        ensure!(result(&seen)?.as_str().contains("ran 1 time(s)"), "the tool ran again");
    }
    Ok(())
}

async fn approval(stage: &Stage, ada: &Client, cast: &Cast, tell: &mut Narrator<'_, impl Write>) -> Result<()> {
    tell.step("ada calls a tool that needs an approval")?;
    let denied = call(ada, &cast.guarded, "ada", tell).await?;
    let ticket = ticket(result(&denied)?).context("the denial names no ticket")?;

    tell.step("An operator looks at what waits, and approves it")?;
    tell.show("operator", "$ callgate approve")?;
    show_lines(&stage.approve(&[]).await?, tell)?;
    tell.show("operator", &format!("$ callgate approve {ticket}"))?;
    show_lines(&stage.approve(&[&ticket]).await?, tell)?;

    tell.step("ada repeats the call, twice")?;
    let ran = call(ada, &cast.guarded, "ada", tell).await?;
    ensure!(self::ticket(result(&ran)?).is_none(), "the approved call was denied");
    let again = call(ada, &cast.guarded, "ada", tell).await?;
    ensure!(self::ticket(result(&again)?).is_some(), "the approval was good for more than one run");
    tell.say("The approval was good for one run of exactly that call.")
}

async fn broken_gate(stage: &Stage, cast: &Cast, tell: &mut Narrator<'_, impl Write>) -> Result<()> {
    tell.step("The same server behind a gate that traps whenever it is asked")?;
    let ada = stage.broken_session("ada").await?;
    let seen = names(&ada).await?;
    tell.show("ada", &format!("sees {}", listed(seen.iter().map(String::as_str))))?;
    tell.say("A listing goes on without the gate: it shows what roles and the other listeners leave, never more.")?;
    let refused = call(&ada, &cast.counted, "ada", tell).await?;
    let text = result(&refused)?.as_str().to_owned();
    ensure!(text.contains("Error: Tool access could not be verified."), "the call was not refused: {text}");
    tell.say("A call is refused: a gate that broke has not decided.")?;
    ada.close().await;
    Ok(())
}

async fn records(stage: &Stage, tell: &mut Narrator<'_, impl Write>) -> Result<()> {
    tell.step("The audit trail has one record of each call that was decided")?;
    let folder = stage.file();
    let store = SqliteState::open(&folder.with_file_name("state.sqlite"))?;
    let records = store.scan("audit-trail", "record/", 1_000).await?;
    let mut endings = Vec::new();
    for (key, text) in &records {
        let record: Value = serde_json::from_str(text)?;
        let of = |member: &str| record.get(member).and_then(Value::as_str).unwrap_or("-").to_owned();
        let (ending, by) = (of("ending"), of("by"));
        let by = match (by.as_str(), ending.as_str()) {
            ("-", _) => String::new(),
            (by, "failed") => format!(" at {by}"),
            (by, _) => format!(" by {by}"),
        };
        let number = key.trim_start_matches("record/").trim_start_matches('0');
        tell.show(
            number,
            &format!("{} called {}: {ending}{by}; tool reached: {}", of("subject"), of("tool"), of("dispatch")),
        )?;
        endings.push(ending);
    }
    for ending in ["executed", "answered", "denied", "failed"] {
        ensure!(endings.iter().any(|it| it == ending), "no call is recorded as {ending}");
    }
    tell.say(&format!(
        "bob's two calls are in no record: for him there was no such tool. The last one failed at {BROKEN}."
    ))
}

async fn names(client: &Client) -> Result<Vec<String>> {
    let name = |definition: &Json| -> Option<String> {
        let definition: Value = serde_json::from_str(definition.as_str()).ok()?;
        Some(definition.get("name")?.as_str()?.to_owned())
    };
    Ok(client.list_tools().await?.iter().filter_map(name).collect())
}

async fn call(client: &Client, part: &Part, who: &str, tell: &mut Narrator<'_, impl Write>) -> Result<Response> {
    call_with(client, part, &Value::Null, who, tell).await
}

async fn call_with(
    client: &Client,
    part: &Part,
    meta: &Value,
    who: &str,
    tell: &mut Narrator<'_, impl Write>,
) -> Result<Response> {
    let mut params = json!({ "name": part.tool, "arguments": part.arguments });
    let key = meta.get(KEY).map(|key| format!(" under key {key}")).unwrap_or_default();
    if let (Some(members), Value::Object(_)) = (params.as_object_mut(), meta) {
        members.insert("_meta".into(), meta.clone());
    }
    tell.show(who, &format!("calls {} {}{key}", part.tool, part.arguments))?;
    let response = client.request("tools/call", &params.to_string()).await?;
    let (Payload::Result(answer) | Payload::Error(answer)) = &response.payload;
    tell.show("callgate", answer.as_str())?;
    Ok(response)
}

fn result(response: &Response) -> Result<&Json> {
    match &response.payload {
        Payload::Result(result) => Ok(result),
        Payload::Error(error) => anyhow::bail!("the call has no result: {error}"),
    }
}

fn error(response: &Response) -> Result<&Json> {
    match &response.payload {
        Payload::Error(error) => Ok(error),
        Payload::Result(result) => anyhow::bail!("the call was not refused: {result}"),
    }
}

/// The ticket that a denial names.
fn ticket(result: &Json) -> Option<String> {
    let (_, after) = result.as_str().split_once("callgate approve ")?;
    Some(after.chars().take_while(char::is_ascii_alphanumeric).collect())
}

fn show_lines(text: &str, tell: &mut Narrator<'_, impl Write>) -> Result<()> {
    text.lines().try_for_each(|line| tell.show("", line))
}
