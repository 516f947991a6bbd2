//! Tools of the host project itself: rows with declared arguments and an async function.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use crate::binding::{Argument, ArgumentType, BoundArguments, Parameter, Presence, bind};
use crate::grant::GrantedCall;
use crate::json::Json;
use crate::registry::{Exposure, Reach, Row, Tool};
use crate::tool::{ToolFailure, ToolProvider, ToolReply};

/// What a tool's function raises. Any error will do: callers see none of it (E3).
pub type ToolError = Box<dyn Error + Send + Sync>;

type Running = Pin<Box<dyn Future<Output = Result<Value, ToolError>> + Send>>;
type Function = Arc<dyn Fn(BoundArguments) -> Running + Send + Sync>;

/// A tool of the host project: what its row declares, and the function that runs.
///
/// The row's arguments and the function's parameters are declared apart. Where they differ, the caller is told as table E
/// says, and the function does not run.
#[derive(Clone)]
pub struct NativeTool {
    name: String,
    description: String,
    rpc_method: String,
    section: Option<String>,
    exposure: Exposure,
    reach: Reach,
    arguments: Vec<Argument>,
    output_schema: Option<Value>,
    parameters: Vec<Parameter>,
    function: Function,
}

impl NativeTool {
    /// A tool of that name whose function takes those parameters. The function returns a tool result (an object with
    /// `content`), or any other value, which becomes the text of one.
    ///
    /// Unless said otherwise: the method is the name, there is no section, the row is shown to every signed-in caller, and
    /// no argument is declared.
    pub fn new<F, R>(name: impl Into<String>, parameters: impl Into<Vec<Parameter>>, function: F) -> Self
    where
        F: Fn(BoundArguments) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Value, ToolError>> + Send + 'static,
    {
        let name = name.into();
        Self {
            rpc_method: name.clone(),
            name,
            description: String::new(),
            section: None,
            exposure: Exposure::Shown,
            reach: Reach::Bounded,
            arguments: Vec::new(),
            output_schema: None,
            parameters: parameters.into(),
            function: Arc::new(move |arguments| Box::pin(function(arguments))),
        }
    }

    /// What the tool does, for whoever chooses among tools.
    #[must_use]
    pub fn description(self, description: impl Into<String>) -> Self {
        Self { description: description.into(), ..self }
    }

    /// The method that permissions name, and the section under which they are given.
    #[must_use]
    pub fn method(self, rpc_method: impl Into<String>, section: impl Into<String>) -> Self {
        Self { rpc_method: rpc_method.into(), section: Some(section.into()), ..self }
    }

    /// What the base decision says where no permission names the method.
    #[must_use]
    pub fn exposure(self, exposure: Exposure) -> Self {
        Self { exposure, ..self }
    }

    /// Marks the tool as one that reaches whatever its arguments name (G9).
    #[must_use]
    pub fn generic(self) -> Self {
        Self { reach: Reach::Generic, ..self }
    }

    /// Declares an argument that has to be sent.
    #[must_use]
    pub fn required(self, name: impl Into<String>, argument_type: ArgumentType) -> Self {
        self.argument(name, argument_type, Presence::Required)
    }

    /// Declares an argument that may be left out.
    #[must_use]
    pub fn optional(self, name: impl Into<String>, argument_type: ArgumentType) -> Self {
        self.argument(name, argument_type, Presence::Optional)
    }

    /// Declares an argument that may be left out, and what the function gets then.
    #[must_use]
    pub fn default(self, name: impl Into<String>, argument_type: ArgumentType, value: impl Into<Value>) -> Self {
        self.argument(name, argument_type, Presence::Default(value.into()))
    }

    /// What the result's `structuredContent` promises to be: a JSON Schema.
    #[must_use]
    pub fn output_schema(self, schema: Value) -> Self {
        Self { output_schema: Some(schema), ..self }
    }

    fn argument(mut self, name: impl Into<String>, argument_type: ArgumentType, presence: Presence) -> Self {
        self.arguments.push(Argument { name: name.into(), argument_type, presence });
        self
    }

    /// Binds the arguments and runs the function, as a call does. For a tool's own code that uses another tool: whatever
    /// fails in there is a failure inside the outer tool (E1).
    ///
    /// # Errors
    /// When the arguments do not fit the function or the function raises.
    pub async fn run(&self, arguments: &Json) -> Result<Json, ToolFailure> {
        let bound = bind(&self.arguments, &self.parameters, arguments)?;
        let value = (self.function)(bound).await.map_err(|error| ToolFailure::Raised(error.to_string()))?;
        Ok(tool_result(value))
    }

    /// The tool's definition as listings show it.
    pub fn definition(&self) -> Json {
        let mut properties = Map::new();
        for argument in &self.arguments {
            properties.insert(argument.name.clone(), property(argument));
        }
        let required: Vec<_> =
            self.arguments.iter().filter(|it| it.presence == Presence::Required).map(|it| &it.name).collect();
        let mut definition = json!({
            "name": self.name,
            "description": self.description,
            "inputSchema": { "type": "object", "properties": properties, "required": required },
        });
        if let (Some(schema), Some(members)) = (&self.output_schema, definition.as_object_mut()) {
            members.insert("outputSchema".into(), schema.clone());
        }
        definition.into()
    }
}

/// What an argument looks like in the tool's input schema. The inside of an internal type is not described.
fn property(argument: &Argument) -> Value {
    let kind = match &argument.argument_type {
        ArgumentType::String => Some("string"),
        ArgumentType::Int => Some("integer"),
        ArgumentType::Float => Some("number"),
        ArgumentType::Bool => Some("boolean"),
        ArgumentType::Array => Some("array"),
        ArgumentType::Object => Some("object"),
        ArgumentType::Any | ArgumentType::Internal(_) => None,
    };
    let mut property = Map::new();
    if let Some(kind) = kind {
        property.insert("type".into(), kind.into());
    }
    if let Presence::Default(value) = &argument.presence {
        property.insert("default".into(), value.clone());
    }
    property.into()
}

/// A value that is a tool result stays what it is; any other one becomes its text.
fn tool_result(value: Value) -> Json {
    if value.get("content").is_some_and(Value::is_array) {
        return value.into();
    }
    let text = match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    Json::written(format!(r#"{{"content":[{}]}}"#, Json::text_block(&text)))
}

#[async_trait]
impl ToolProvider for NativeTool {
    async fn call(&self, call: &GrantedCall) -> Result<ToolReply, ToolFailure> {
        self.run(call.arguments()).await.map(ToolReply::result)
    }
}

impl From<NativeTool> for Tool {
    fn from(tool: NativeTool) -> Self {
        let definition = tool.definition();
        let row = Row {
            identifier: tool.name.clone(),
            rpc_method: tool.rpc_method.clone(),
            section: tool.section.clone(),
            exposure: tool.exposure,
            reach: tool.reach,
            definition_digest: definition.digest(),
            attributes: Vec::new(),
        };
        Self::new(row, definition, Arc::new(tool))
    }
}

impl fmt::Debug for NativeTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NativeTool").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binding::BindingError;

    fn double() -> NativeTool {
        let parameters = [Parameter::new("n", ArgumentType::Int), Parameter::new("note", ArgumentType::String)];
        NativeTool::new("double", parameters, |arguments| async move { Ok(json!(arguments.get::<i64>("n")? * 2)) })
            .description("Twice a number.")
            .method("math/double", "math")
            .required("n", ArgumentType::Int)
            .default("note", ArgumentType::String, "none")
    }

    #[tokio::test]
    async fn a_value_becomes_the_text_of_a_result_and_a_result_stays_one() {
        let doubled = double().run(&Json::parse(r#"{"n":21}"#).unwrap()).await.unwrap();
        assert_eq!(doubled.as_str(), r#"{"content":[{"type":"text","text":"42"}]}"#);
        let ready = json!({ "content": [], "isError": true });
        assert_eq!(tool_result(ready.clone()), Json::from(ready));
        assert_eq!(tool_result(json!("as it is")).as_str(), r#"{"content":[{"type":"text","text":"as it is"}]}"#);
    }

    #[tokio::test]
    async fn e1_a_binding_failure_inside_a_tool_is_a_failure_of_the_tool() {
        // The inner call fails over an argument of the same name as the outer tool's.
        let outer = NativeTool::new("outer", [Parameter::new("n", ArgumentType::Int)], |_| async {
            double().run(&Json::empty_object()).await?;
            Ok(Value::Null)
        })
        .required("n", ArgumentType::Int);
        let failure = outer.run(&Json::parse(r#"{"n":1}"#).unwrap()).await;
        assert!(matches!(failure, Err(ToolFailure::Raised(_))), "{failure:?}");
        let failure = outer.run(&Json::empty_object()).await;
        assert_eq!(failure, Err(ToolFailure::Binding(BindingError::Missing("n".into()))));
    }

    #[test]
    fn the_definition_describes_the_declared_arguments() {
        let definition: Value = serde_json::from_str(double().definition().as_str()).unwrap();
        assert_eq!(
            definition,
            json!({
                "name": "double",
                "description": "Twice a number.",
                "inputSchema": {
                    "type": "object",
                    "properties": { "n": { "type": "integer" }, "note": { "type": "string", "default": "none" } },
                    "required": ["n"],
                },
            })
        );
        let row = Tool::from(double().generic().exposure(Exposure::Withheld)).row;
        assert_eq!((row.rpc_method.as_str(), row.section.as_deref()), ("math/double", Some("math")));
        assert_eq!((row.exposure, row.reach), (Exposure::Withheld, Reach::Generic));
    }
}
