//! The demonstration's own MCP server: a few tools over rewards that live as long as the process.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Result;
use callgate_core::binding::{ArgumentType, BoundArguments, Parameter};
use callgate_core::caller::Identity;
use callgate_core::permissions::Permissions;
use callgate_core::registry::Tool;
use callgate_core::{Caller, Dispatcher, NativeTool, RuleSet, Rules, ToolRegistry};
use callgate_mcp::Server;
use serde_json::{Value, json};

/// The server, without any governance of its own: whoever connects may use every tool.
pub(crate) fn server() -> Result<Server> {
    let identity = Identity { subject: "anybody".into(), auth_method: "demo".into(), ..Identity::default() };
    let rules = RuleSet::new(ToolRegistry::default(), Permissions::default(), Vec::new());
    Ok(Server {
        dispatcher: Dispatcher::new(Arc::new(Rules::new(rules)), Duration::from_secs(60)),
        caller: Some(Arc::new(Caller::new(identity)?)),
        upstreams: Vec::new(),
        native: tools(),
        name: "callgate-demo".into(),
        version: env!("CARGO_PKG_VERSION").into(),
    })
}

/// Rewards by number, and how many were ever added.
#[derive(Debug, Default)]
struct Rewards {
    titles: BTreeMap<u32, String>,
    added: u32,
}

type Shared = Arc<Mutex<Rewards>>;

fn tools() -> Vec<Tool> {
    let rewards = Shared::default();
    vec![list(rewards.clone()).into(), add(rewards.clone()).into(), delete(rewards).into(), fetch().into()]
}

fn list(rewards: Shared) -> NativeTool {
    NativeTool::new("list_rewards", [], move |_| {
        let listed = told(&locked(&rewards));
        async move { Ok(listed) }
    })
    .description("Lists the rewards.")
}

fn add(rewards: Shared) -> NativeTool {
    NativeTool::new("add_reward", [Parameter::new("title", ArgumentType::String)], move |arguments: BoundArguments| {
        let rewards = rewards.clone();
        async move {
            let title: String = arguments.get("title")?;
            let mut rewards = locked(&rewards);
            rewards.added += 1;
            let number = rewards.added;
            rewards.titles.insert(number, title.clone());
            Ok(json!(format!("Added reward {number}: {title}.")))
        }
    })
    .description("Adds a reward.")
    .required("title", ArgumentType::String)
}

fn delete(rewards: Shared) -> NativeTool {
    NativeTool::new(
        "delete_reward",
        [Parameter::new("idReward", ArgumentType::Int)],
        move |arguments: BoundArguments| {
            let rewards = rewards.clone();
            async move {
                let number: u32 = arguments.get("idReward")?;
                Ok(match locked(&rewards).titles.remove(&number) {
                    Some(title) => json!(format!("Deleted reward {number}: {title}.")),
                    None => json!({
                        "content": [{ "type": "text", "text": format!("There is no reward {number}.") }],
                        "isError": true,
                    }),
                })
            }
        },
    )
    .description("Deletes a reward for good.")
    .required("idReward", ArgumentType::Int)
}

/// A tool that takes a URL reaches whatever the URL names. This one only says what it would do.
fn fetch() -> NativeTool {
    NativeTool::new(
        "fetch_url",
        [Parameter::new("url", ArgumentType::String)],
        |arguments: BoundArguments| async move {
            let url: String = arguments.get("url")?;
            Ok(json!(format!("This demonstration would fetch {url} now.")))
        },
    )
    .description("Fetches any URL.")
    .required("url", ArgumentType::String)
}

fn told(rewards: &Rewards) -> Value {
    let titles: Vec<_> = rewards.titles.iter().map(|(number, title)| format!("{number}: {title}")).collect();
    json!(format!("Rewards: {}. add_reward ran {} time(s).", titles.join(", "), rewards.added))
}

fn locked(rewards: &Shared) -> MutexGuard<'_, Rewards> {
    // Every change is one step, so a panic elsewhere does not spoil them.
    rewards.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use callgate_core::Json;

    use super::*;

    #[tokio::test]
    async fn rewards_are_added_listed_and_deleted() {
        let rewards = Shared::default();
        let call = async |tool: NativeTool, arguments: Value| {
            tool.run(&Json::from(arguments)).await.unwrap().as_str().to_owned()
        };
        assert!(call(add(rewards.clone()), json!({"title": "Cinema"})).await.contains("Added reward 1: Cinema."));
        assert!(call(list(rewards.clone()), json!({})).await.contains("1: Cinema. add_reward ran 1 time(s)."));
        assert!(call(delete(rewards.clone()), json!({"idReward": 1})).await.contains("Deleted reward 1: Cinema."));
        assert!(call(delete(rewards), json!({"idReward": 1})).await.contains("\"isError\":true"));
    }
}
