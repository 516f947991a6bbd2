//! `callgate explain`: what a call would come to and why, by the code that decides a live call.

use std::io::Write;
use std::sync::Arc;

use anyhow::{Context, Result};
use callgate_core::caller::Identity;
use callgate_core::dispatcher::{Explanation, Foreseen};
use callgate_core::grant::RowDecision;
use callgate_core::listener::Listener;
use callgate_core::permissions::BaseDecision;
use callgate_core::report::Step;
use callgate_core::request::{CallRequest, Round};
use callgate_core::{Caller, Json, Refusal};
use clap::Args;
use serde_json::json;
use serde_json::value::RawValue;

use super::ConfigFile;
use crate::assemble::{self, ReadyListener};
use crate::config::Config;
use crate::text::{listed, printable};

/// Options of `callgate explain`.
#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(flatten)]
    file: ConfigFile,
    /// The caller, by the name of its table; with --role any name will do.
    #[arg(long = "as", value_name = "SUBJECT")]
    caller: String,
    /// The tool's name as callers use it.
    #[arg(long, value_name = "NAME")]
    tool: String,
    /// The call's arguments: a JSON object.
    #[arg(long, value_name = "JSON", default_value = "{}")]
    arguments: String,
    /// The call's _meta: a JSON object.
    #[arg(long, value_name = "JSON", default_value = "{}")]
    meta: String,
    /// A role of the caller, in place of those that its table gives; may be repeated.
    #[arg(long = "role", value_name = "ROLE")]
    roles: Vec<String>,
}

pub(super) async fn run(options: Options, out: &mut impl Write) -> Result<()> {
    let config = options.file.load()?;
    let caller = caller(&config, &options)?;
    let params = params(&options)?;
    let state = assemble::scratch_store(&config)?;
    let sandbox = assemble::sandbox(&config)?;
    let listeners = assemble::listeners(&config, &sandbox, &state).await?;
    let survey = assemble::survey(&config).await?;
    let dispatcher = assemble::dispatcher(&config, &listeners, survey.registry.clone());
    let request = CallRequest { caller: Some(caller.clone()), params, round: Round::First, wire: None };
    let explanation = dispatcher.explain(request).await;
    let tools = survey.registry.rows().len();
    survey.close().await;

    let roles = caller.identity().roles.iter().map(String::as_str);
    writeln!(
        out,
        "Caller '{}' with roles {} calls '{}'.",
        printable(caller.subject()),
        listed(roles),
        printable(&options.tool)
    )?;
    write_row(&explanation, tools, out)?;
    write_steps(&explanation, &listeners, out)?;
    writeln!(out, "Outcome: {}", outcome(&explanation.foreseen))?;
    writeln!(out, "Nothing was recorded: a ticket, for example, exists only after a real call.")?;
    Ok(())
}

fn caller(config: &Config, options: &Options) -> Result<Arc<Caller>> {
    let configured = config.callers.get(&options.caller);
    if options.roles.is_empty() {
        let missing = || {
            let file = config.source.path().display();
            format!("{file}: there is no [caller.{}]: give its roles with --role", printable(&options.caller))
        };
        return configured.cloned().with_context(missing);
    }
    let known = configured.map(|caller| caller.identity().clone());
    let identity = known.unwrap_or_else(|| Identity {
        subject: options.caller.clone(),
        auth_method: "config".into(),
        ..Identity::default()
    });
    Ok(Arc::new(Caller::new(Identity { roles: options.roles.clone(), ..identity })?))
}

/// The parameters of the call as a client would send them, with arguments and meta spelled as they were given.
fn params(options: &Options) -> Result<Json> {
    let object = |name: &str, text: &str| -> Result<Box<RawValue>> {
        let json = Json::parse(text).with_context(|| format!("--{name}"))?;
        anyhow::ensure!(json.is_object(), "--{name} is no JSON object");
        Ok(RawValue::from_string(json.as_str().to_owned())?)
    };
    let name = json!(options.tool);
    let arguments = object("arguments", &options.arguments)?;
    let meta = object("meta", &options.meta)?;
    Ok(Json::parse(&format!(r#"{{"name":{name},"arguments":{arguments},"_meta":{meta}}}"#))?)
}

fn write_row(explanation: &Explanation, tools: usize, out: &mut impl Write) -> Result<()> {
    let Some(row) = &explanation.row else {
        writeln!(out, "There is no such tool among {tools}.")?;
        return Ok(());
    };
    writeln!(
        out,
        "The tool is method '{}' in section '{}', definition {}.",
        printable(&row.rpc_method),
        printable(row.section.as_deref().unwrap_or("none")),
        row.definition_digest
    )?;
    if let Some(base) = explanation.base {
        writeln!(out, "Roles: {}.", reason(base))?;
    }
    match &explanation.gate {
        Some(RowDecision::Granted) => writeln!(out, "Access: granted.")?,
        Some(RowDecision::Withheld(_)) => writeln!(out, "Access: withheld, as its roles say.")?,
        Some(RowDecision::Narrowed(by)) => writeln!(out, "Access: withheld, left out by listener '{by}'.")?,
        None => writeln!(out, "Access: not decided, because a grant listener failed.")?,
    }
    Ok(())
}

fn reason(base: BaseDecision) -> &'static str {
    match base {
        BaseDecision::RolePermitted => "permitted, because the section permits the method to a role of the caller",
        BaseDecision::ShownToAll => "permitted, because no permission names the method and such tools are shown to all",
        BaseDecision::RoleMissing => "withheld, because the section permits the method to no role of the caller",
        BaseDecision::WithheldUnlessPermitted => {
            "withheld, because no permission names the method and such tools are hidden"
        }
        BaseDecision::GenericUnlessPermitted => {
            "withheld, because the tool is generic and no permission names its method"
        }
    }
}

fn write_steps(explanation: &Explanation, listeners: &[ReadyListener<'_>], out: &mut impl Write) -> Result<()> {
    let grants = listeners.iter().filter(|ready| ready.listener.hooks().grant).count();
    for (index, step) in explanation.steps.iter().enumerate() {
        let hook = if index < grants { "grant" } else { "before-call" };
        let private = step.private_reason.as_ref().map(|reason| format!(" ({})", printable(reason)));
        writeln!(
            out,
            "  {}. {} {hook}: {}{} in {} µs",
            index + 1,
            step.listener,
            said(step),
            private.unwrap_or_default(),
            step.duration.as_micros()
        )?;
    }
    // Nobody is told of a call to what does not exist for its caller (G4).
    let told = !matches!(explanation.foreseen, Foreseen::Refused(Refusal::UnknownTool(_) | Refusal::ToolNameRequired));
    for ready in listeners.iter().filter(|ready| told && ready.listener.hooks().after_call) {
        writeln!(out, "  {} would be told how the call ended.", ready.config.name)?;
    }
    Ok(())
}

fn said(step: &Step) -> &'static str {
    use callgate_core::report::Said;
    match step.said {
        Said::Abstain => "has no opinion",
        Said::Narrow => "narrows what the caller may use",
        Said::Proceed => "lets the call proceed",
        Said::Deny => "denies the call",
        Said::Answer => "answers the call itself",
        Said::Failed => "fails",
    }
}

fn outcome(foreseen: &Foreseen) -> String {
    match foreseen {
        Foreseen::Runs => "the tool runs.".into(),
        Foreseen::Answered { listener, answer } => {
            format!("'{listener}' answers, and the tool does not run: {}", printable(answer.as_str()))
        }
        Foreseen::Denied { listener, reason } => format!("'{listener}' denies: {}", printable(reason)),
        Foreseen::Refused(refusal) => printable(&refusal.to_string()),
    }
}
