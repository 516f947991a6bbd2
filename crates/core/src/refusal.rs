//! What the caller is told when governance, not the tool, ends the call: table E, to the character.

use crate::binding::BindingError;

/// Why the caller gets no result of a tool. Displays as the exact text of the answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No usable tool name was sent (N1).
    #[error("Error: Tool name is required.")]
    ToolNameRequired,
    /// Hidden, absent, not permitted, withdrawn, or nobody is signed in: one answer for all (G4, G7, G8).
    #[error("Error: Unknown tool '{0}'.")]
    UnknownTool(String),
    /// The access gate failed, or had no capacity to decide (G5).
    #[error("Error: Tool access could not be verified.")]
    AccessNotVerified,
    /// The caller's arguments do not fit the tool (E1).
    #[error("Error: {0}")]
    Binding(#[from] BindingError),
    /// Anything else (B6, E3).
    #[error("Error: An internal error occurred while executing the tool.")]
    Internal,
}

/// How a refusal travels on the wire (W1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalForm {
    /// A JSON-RPC error with code -32602 and the text as its message.
    ProtocolError,
    /// A tool result with `isError: true` and the text as its only block.
    ToolResult,
}

impl Refusal {
    /// How it travels on the wire.
    pub fn form(&self) -> RefusalForm {
        match self {
            Self::ToolNameRequired | Self::UnknownTool(_) => RefusalForm::ProtocolError,
            Self::AccessNotVerified | Self::Binding(_) | Self::Internal => RefusalForm::ToolResult,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binding::ArgumentType;

    #[test]
    fn e3_the_texts_are_exact() {
        let cases = [
            (Refusal::ToolNameRequired, "Error: Tool name is required."),
            (Refusal::UnknownTool("a 'b'".into()), "Error: Unknown tool 'a 'b''."),
            (Refusal::AccessNotVerified, "Error: Tool access could not be verified."),
            (Refusal::Internal, "Error: An internal error occurred while executing the tool."),
            (BindingError::Missing("idReward".into()).into(), "Error: Missing required argument 'idReward'."),
            (
                BindingError::invalid("idReward", &ArgumentType::Int).into(),
                "Error: Invalid value for argument 'idReward': expected int.",
            ),
            (
                BindingError::invalid("idReward", &ArgumentType::Internal("Money".into())).into(),
                "Error: Invalid value for argument 'idReward'.",
            ),
            (BindingError::Unknown("rewardId".into()).into(), "Error: Unknown argument 'rewardId'."),
        ];
        for (refusal, text) in cases {
            assert_eq!(refusal.to_string(), text);
        }
    }

    #[test]
    fn w1_only_two_refusals_are_protocol_errors() {
        for refusal in [Refusal::ToolNameRequired, Refusal::UnknownTool("x".into())] {
            assert_eq!(refusal.form(), RefusalForm::ProtocolError);
        }
        for refusal in [Refusal::AccessNotVerified, Refusal::Internal, BindingError::Unknown("x".into()).into()] {
            assert_eq!(refusal.form(), RefusalForm::ToolResult);
        }
    }
}
