//! The arguments of a native tool: declared by its row, taken by its function, bound once (E1, E2).

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::json::{Json, members};

/// An argument that a row declares.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// Its type, as callers are told.
    pub argument_type: ArgumentType,
    /// Whether it has to be sent.
    pub presence: Presence,
}

/// Whether an argument has to be sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Presence {
    /// The call fails without it.
    Required,
    /// It may be left out, and the function does without.
    Optional,
    /// It may be left out, and the function gets this value.
    Default(Value),
}

/// The type of an argument or of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgumentType {
    /// `string`.
    String,
    /// `int`: a whole number of 64 bits; `1.0` counts as one.
    Int,
    /// `float`: any number.
    Float,
    /// `bool`.
    Bool,
    /// `array`.
    Array,
    /// `object`.
    Object,
    /// `mixed`: any JSON value.
    Any,
    /// A type of the host project's own, a value object. Callers are never told its name (E3).
    Internal(String),
}

/// A parameter of a tool's function. Declared apart from the row, because the two can come to differ.
#[derive(Clone)]
pub struct Parameter {
    name: String,
    accepts: Check,
}

type Check = std::sync::Arc<dyn Fn(&Value) -> bool + Send + Sync>;

/// What a tool's function is called with: a value for each parameter that has one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoundArguments(serde_json::Map<String, Value>);

/// Why the call to a tool's function does not take the caller's arguments. Displays as the end of the caller's answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BindingError {
    /// A required argument was not sent.
    #[error("Missing required argument '{0}'.")]
    Missing(String),
    /// A value that the tool cannot use.
    #[error("Invalid value for argument '{name}'{}.", .expected.map(|name| format!(": expected {name}")).unwrap_or_default())]
    Invalid {
        /// The argument.
        name: String,
        /// The declared type's name; none for an internal type.
        expected: Option<&'static str>,
    },
    /// The row declares an argument that the function does not have.
    #[error("Unknown argument '{0}'.")]
    Unknown(String),
}

/// An argument that a tool's own code asked for and did not get. A failure inside the tool, never the caller's (E1).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the tool's code can not read argument '{0}'")]
pub struct UnreadableArgument(String);

impl BindingError {
    /// An invalid value for an argument of that declared type.
    pub fn invalid(name: impl Into<String>, declared: &ArgumentType) -> Self {
        Self::Invalid { name: name.into(), expected: declared.public_name() }
    }
}

impl ArgumentType {
    /// The name that callers are told; none for an internal type.
    pub fn public_name(&self) -> Option<&'static str> {
        match self {
            Self::String => Some("string"),
            Self::Int => Some("int"),
            Self::Float => Some("float"),
            Self::Bool => Some("bool"),
            Self::Array => Some("array"),
            Self::Object => Some("object"),
            Self::Any => Some("mixed"),
            Self::Internal(_) => None,
        }
    }

    fn admits(&self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Int => whole(value).is_some(),
            Self::Float => value.is_number(),
            Self::Bool => value.is_boolean(),
            Self::Array => value.is_array(),
            Self::Object => value.is_object(),
            Self::Any | Self::Internal(_) => true,
        }
    }
}

/// The whole number that a JSON number stands for, however it is spelled.
fn whole(value: &Value) -> Option<i64> {
    // A whole float below this is what was sent. At this the next number up has been rounded to it, and would reach the tool
    // as a number that nobody sent.
    const ROUNDED: f64 = 9_007_199_254_740_992.0;
    value.as_i64().or_else(|| {
        let float = value.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < ROUNDED)?;
        #[expect(clippy::cast_possible_truncation, reason = "whole and exact, as filtered above")]
        let whole = float as i64;
        Some(whole)
    })
}

impl Parameter {
    /// A parameter of that type.
    pub fn new(name: impl Into<String>, parameter_type: ArgumentType) -> Self {
        Self { name: name.into(), accepts: std::sync::Arc::new(move |value| parameter_type.admits(value)) }
    }

    /// A parameter that is read into a type of the host project: whatever `T` cannot be read from is an invalid value.
    pub fn of<T: DeserializeOwned>(name: impl Into<String>) -> Self {
        Self { name: name.into(), accepts: std::sync::Arc::new(|value| T::deserialize(value).is_ok()) }
    }
}

impl std::fmt::Debug for Parameter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parameter").field("name", &self.name).finish_non_exhaustive()
    }
}

impl BoundArguments {
    /// The value of that argument, read as `T`.
    ///
    /// # Errors
    /// When there is no such value or it is no `T`. That is a failure inside the tool: what the caller sent was bound
    /// before the tool began.
    pub fn get<T: DeserializeOwned>(&self, name: &str) -> Result<T, UnreadableArgument> {
        self.0.get(name).and_then(|value| T::deserialize(value).ok()).ok_or_else(|| UnreadableArgument(name.to_owned()))
    }

    /// The value of that argument, if it was sent or has a default.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }
}

/// Binds what a caller sent to what a function takes. Of what was sent only declared arguments count (E2); the first fault
/// is told: an argument that the function does not have, then one that is missing, then one with a wrong value, each in the
/// order of the declaration.
///
/// # Errors
/// The first fault.
pub fn bind(declared: &[Argument], parameters: &[Parameter], sent: &Json) -> Result<BoundArguments, BindingError> {
    let sent = members(sent.as_str());
    let value =
        |argument: &Argument| match (sent.as_ref().and_then(|sent| sent.get(&argument.name)), &argument.presence) {
            (Some(raw), _) => Some(serde_json::from_str(raw.get()).ok()),
            (None, Presence::Default(value)) => Some(Some(value.clone())),
            (None, Presence::Required | Presence::Optional) => None,
        };
    let given: Vec<_> = declared.iter().filter_map(|argument| Some((argument, value(argument)?))).collect();
    let parameter = |name: &str| parameters.iter().find(|parameter| parameter.name == name);

    if let Some((unknown, _)) = given.iter().find(|(argument, _)| parameter(&argument.name).is_none()) {
        return Err(BindingError::Unknown(unknown.name.clone()));
    }
    let absent = |argument: &&Argument| !given.iter().any(|(given, _)| given.name == argument.name);
    if let Some(missing) = declared.iter().filter(|argument| argument.presence == Presence::Required).find(absent) {
        return Err(BindingError::Missing(missing.name.clone()));
    }
    let mut bound = serde_json::Map::new();
    for (argument, value) in given {
        let fits = |value: &Value| {
            argument.argument_type.admits(value)
                && parameter(&argument.name).is_some_and(|parameter| (parameter.accepts)(value))
        };
        // A number that no type of ours can hold is unreadable, and so an invalid value.
        let value = value.map(|value| normal_form(&argument.argument_type, value)).filter(fits);
        let value = value.ok_or_else(|| BindingError::invalid(&argument.name, &argument.argument_type))?;
        bound.insert(argument.name.clone(), value);
    }
    Ok(BoundArguments(bound))
}

/// `1.0` sent for an `int` reaches the function as `1`.
fn normal_form(declared: &ArgumentType, value: Value) -> Value {
    match (declared, whole(&value)) {
        (ArgumentType::Int, Some(whole)) => whole.into(),
        _ => value,
    }
}

#[cfg(test)]
mod tests;
