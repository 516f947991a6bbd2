//! Tools as governance sees them: rows, and the registry that holds all of them at one moment.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::answers::OutputSchema;
use crate::json::{Entry, Json};
use crate::tool::ToolProvider;

/// One tool as governance sees it. No schema is part of it: the grant decision is taken over rows alone (G1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The name that callers use. Compared byte for byte.
    pub identifier: String,
    /// The method behind it, which permissions name.
    pub rpc_method: String,
    /// The section under which permissions for the method are given.
    pub section: Option<String>,
    /// What the base decision says about the row where no permission entry names its method.
    pub exposure: Exposure,
    /// Whether the tool takes a bounded set of arguments or can reach what other rows hide (G9).
    pub reach: Reach,
    /// SHA-256 of the tool's definition in lower-case hex.
    pub definition_digest: String,
    /// What the host adds, for listeners.
    pub attributes: Vec<Entry>,
}

/// What the base decision says about a row that no permission entry names (G2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exposure {
    /// Every signed-in caller sees it.
    Shown,
    /// Nobody sees it.
    Withheld,
}

/// What a call of the tool can reach (G9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// What its own arguments describe.
    Bounded,
    /// Whatever the URL, query or command in its arguments names.
    Generic,
}

/// A row and what it takes to list and to run the tool.
#[derive(Clone, Debug)]
pub struct Tool {
    /// What decisions are taken over.
    pub row: Arc<Row>,
    /// The tool's definition as listings show it.
    pub definition: Json,
    /// Runs the tool.
    pub provider: Arc<dyn ToolProvider>,
    output_schema: OutputSchema,
}

impl Tool {
    /// A tool with that row and definition. The definition's `outputSchema`, if it has one, is what stored answers are
    /// checked against (B5); it is not looked at before the first answer.
    pub fn new(row: Row, definition: Json, provider: Arc<dyn ToolProvider>) -> Self {
        let output_schema = OutputSchema::of(&definition);
        Self { row: Arc::new(row), definition, provider, output_schema }
    }

    pub(crate) fn output_schema(&self) -> &OutputSchema {
        &self.output_schema
    }
}

/// All tools at one moment, ordered by identifier.
#[derive(Clone, Debug, Default)]
pub struct ToolRegistry {
    tools: BTreeMap<String, Arc<Tool>>,
    rows: Vec<Arc<Row>>,
}

/// Two tools have one name, so one of them would be governed as the other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("two tools are called '{0}'")]
pub struct NameCollision(pub String);

impl ToolRegistry {
    /// A registry of those tools.
    ///
    /// # Errors
    /// When two of them have the same identifier: neither wins.
    pub fn new(tools: impl IntoIterator<Item = Tool>) -> Result<Self, NameCollision> {
        let mut registry = BTreeMap::new();
        for tool in tools {
            let name = tool.row.identifier.clone();
            if registry.insert(name.clone(), Arc::new(tool)).is_some() {
                return Err(NameCollision(name));
            }
        }
        let rows = registry.values().map(|tool| tool.row.clone()).collect();
        Ok(Self { tools: registry, rows })
    }

    /// The tool of that name.
    pub fn find(&self, identifier: &str) -> Option<&Arc<Tool>> {
        self.tools.get(identifier)
    }

    /// All tools, ordered by identifier.
    pub fn tools(&self) -> impl Iterator<Item = &Arc<Tool>> {
        self.tools.values()
    }

    /// All rows, ordered by identifier.
    pub fn rows(&self) -> &[Arc<Row>] {
        &self.rows
    }
}

#[cfg(test)]
mod tests {
    use crate::testing;

    use super::*;

    #[test]
    fn two_tools_of_one_name_are_refused() {
        let error = ToolRegistry::new([testing::tool("read"), testing::tool("write"), testing::tool("read")]);
        assert_eq!(error.unwrap_err(), NameCollision("read".into()));
    }

    #[test]
    fn rows_are_ordered_by_identifier() {
        let registry = ToolRegistry::new([testing::tool("write"), testing::tool("read")]).unwrap();
        let names: Vec<_> = registry.rows().iter().map(|row| row.identifier.as_str()).collect();
        assert_eq!(names, ["read", "write"]);
        assert_eq!(registry.tools().count(), 2);
        assert_eq!(registry.find("write").unwrap().row.identifier, "write");
        assert!(registry.find("Write").is_none());
    }
}
