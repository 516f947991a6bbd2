//! How core's types cross into a guest and back: one adapter for each line of the interface.

pub(crate) mod v0_1;

use std::fmt;

/// A hook, by the interface that a component exports for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hook {
    /// Decides which tools exist for a caller.
    Grant,
    /// Is asked before a call.
    BeforeCall,
    /// Is told after a call.
    AfterCall,
}

impl Hook {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Grant, Self::BeforeCall, Self::AfterCall];

    /// The hook's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Grant => "grant",
            Self::BeforeCall => "before-call",
            Self::AfterCall => "after-call",
        }
    }

    /// The interface that a component exports to have the hook.
    pub fn interface(self) -> &'static str {
        match self {
            Self::Grant => "callgate:listener/grant@0.1.0",
            Self::BeforeCall => "callgate:listener/before-call@0.1.0",
            Self::AfterCall => "callgate:listener/after-call@0.1.0",
        }
    }
}

impl fmt::Display for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
