//! One registry out of what several upstreams offer.

use std::collections::HashMap;

use std::sync::Arc;

use callgate_core::json::{members, scan};
use callgate_core::registry::{NameCollision, Row, Tool};
use callgate_core::{Json, ToolRegistry};

use crate::edit;
use crate::tasks;
use crate::upstream::{Behind, UpstreamTool};

/// How many bytes of UTF-8 the qualified name of a tool may have. Listeners are shown longer names cut, so that a longer
/// one could pass for another tool.
const MAX_NAME: usize = 1_024;

/// What one upstream offers.
#[derive(Debug)]
pub(crate) struct Offer<'a> {
    pub(crate) upstream: &'a Behind,
    /// The definitions of its tools, in its own order.
    pub(crate) tools: &'a [Json],
}

/// Two tools would have one name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{first}' and '{second}' both offer a tool called '{name}'; give one of them a prefix")]
pub struct Collision {
    /// The name.
    pub name: String,
    /// Who offers it.
    pub first: String,
    /// Who offers it too.
    pub second: String,
}

/// The name under which tools of the host project itself stand in a [`Collision`].
const NATIVE: &str = "native tools";

/// A registry of all tools, and where each of them stands in a listing.
pub(crate) fn assemble<'a>(
    offers: impl IntoIterator<Item = Offer<'a>>,
    native: &[Tool],
) -> Result<(ToolRegistry, HashMap<String, usize>), Collision> {
    let mut owners: HashMap<String, (&str, Option<&Json>)> = HashMap::new();
    let mut order = HashMap::new();
    let mut tools = Vec::new();
    for Offer { upstream, tools: definitions } in offers {
        let owner = upstream.connection.name();
        for definition in definitions {
            let Some(tool) = read(upstream, definition) else {
                tracing::warn!(upstream = owner, "a tool's definition can't be read; the tool is left out");
                continue;
            };
            let name = tool.row.identifier.clone();
            if name.len() > MAX_NAME {
                tracing::warn!(upstream = owner, "a tool's name has more than {MAX_NAME} bytes; the tool is left out");
                continue;
            }
            match owners.insert(name.clone(), (owner, Some(definition))) {
                // A page that was cut anew between two requests repeats a tool; that is still one tool.
                Some((first, Some(earlier))) if first == owner && earlier == definition => continue,
                Some((first, _)) => return Err(collision(name, first, owner)),
                None => {}
            }
            order.insert(name, order.len());
            tools.push(tool);
        }
    }
    for tool in native {
        let name = tool.row.identifier.clone();
        if let Some((first, _)) = owners.insert(name.clone(), (NATIVE, None)) {
            return Err(collision(name, first, NATIVE));
        }
        order.insert(name, order.len());
        tools.push(tool.clone());
    }
    let registry = ToolRegistry::new(tools).map_err(|NameCollision(name)| collision(name, NATIVE, NATIVE))?;
    Ok((registry, order))
}

fn collision(name: String, first: &str, second: &str) -> Collision {
    Collision { name, first: first.to_owned(), second: second.to_owned() }
}

/// The tool that a definition describes; none where that can't be read in one way.
fn read(upstream: &Behind, definition: &Json) -> Option<Tool> {
    scan(definition.as_str()).ok()?;
    let own_name: String = serde_json::from_str(members(definition.as_str())?.get("name")?.get()).ok()?;
    if own_name.is_empty() {
        return None;
    }
    let governance = (upstream.govern)(&own_name, definition);
    let mut shown = tasks::taken_out_of_definition(definition);
    let mut identifier = own_name.clone();
    if let Some(prefix) = &upstream.prefix {
        identifier = format!("{prefix}{own_name}");
        let name = Json::string(&identifier);
        shown = Json::parse(&edit::set(shown.as_str(), &["name"], name.as_str())).ok()?;
    }
    let row = Row {
        identifier,
        rpc_method: format!("{}/{own_name}", upstream.connection.name()),
        section: governance.section,
        exposure: governance.exposure,
        reach: governance.reach,
        definition_digest: definition.digest(),
        attributes: governance.attributes,
    };
    let provider = UpstreamTool::new(upstream.connection.clone(), own_name);
    Some(Tool::new(row, shown, Arc::new(provider)))
}
