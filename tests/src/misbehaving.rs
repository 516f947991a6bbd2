//! Listeners that misbehave over one tool each, and have nothing against the others.

use std::sync::Arc;

use callgate_core::StateStore;
use callgate_core::Subscription;
use callgate_core::subscription::BreakerLimits;
use callgate_kit::{self as kit, AFTER_NOTIFY, BEFORE_DECIDE, MEMORY};
use callgate_wasm::{Hook, SandboxLimits};

use crate::host::{self, Component};

/// What a listener does over the tool that it is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vice {
    /// Runs for ever.
    Loops,
    /// Traps at once.
    Traps,
    /// Takes all memory that it can get, and touches every page of it.
    Grows,
    /// Writes to its log for ever.
    Floods,
}

impl Vice {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Loops, Self::Traps, Self::Grows, Self::Floods];

    /// The name of the listener, and of the tool that it misbehaves over.
    pub fn name(self) -> &'static str {
        match self {
            Self::Loops => "loops",
            Self::Traps => "traps",
            Self::Grows => "grows",
            Self::Floods => "floods",
        }
    }

    fn items(self) -> &'static str {
        match self {
            Self::Floods => {
                r#"(import "callgate:host/log@0.1.0" "write" (func $log (param i32 i32 i32)))
                   (data (i32.const 1024) "all is well")"#
            }
            _ => "",
        }
    }

    fn deed(self) -> &'static str {
        match self {
            Self::Loops => "(loop $again (br $again))",
            Self::Traps => "unreachable",
            Self::Grows => {
                "(loop $again
                   (if (i32.ne (memory.grow (i32.const 1)) (i32.const -1)) (then
                     (memory.fill (i32.mul (i32.sub (memory.size) (i32.const 1)) (i32.const 65536))
                       (i32.const 1) (i32.const 65536))
                     (br $again))))
                 unreachable"
            }
            Self::Floods => "(loop $again (call $log (i32.const 1) (i32.const 1024) (i32.const 11)) (br $again))",
        }
    }

    /// The component with that one hook: before-call or after-call, which are told of the tool.
    fn component(self, hook: Hook) -> Vec<u8> {
        let (world, head, event) = match hook {
            Hook::AfterCall => ("after", AFTER_NOTIFY, "$report"),
            _ => ("before", BEFORE_DECIDE, "$call"),
        };
        // A report begins with its call, and a call has its tool's name at 72: here it is known by its first letter.
        let letter = self.name().as_bytes().first().copied().unwrap_or_default();
        let (items, deed) = (self.items(), self.deed());
        let bound = format!("(i32.eq (i32.load8_u (i32.load offset=72 (local.get {event}))) (i32.const {letter}))");
        kit::component(world, &format!("{items} {MEMORY} {head} (if {bound} (then {deed})) (i32.const 0))"))
    }

    /// The listener, with that hook and limits.
    pub async fn listener(
        self,
        hook: Hook,
        limits: &SandboxLimits,
        breaker: BreakerLimits,
        state: &Arc<dyn StateStore>,
    ) -> Subscription {
        let component = host::load_bytes(self.component(hook)).await.expect("it is a component");
        let limits = limits.clone();
        Component::loaded(self.name(), &component).limited(|own| *own = limits).over(state).await.with_breaker(breaker)
    }
}

/// A listener with that one hook that has nothing against anything.
pub async fn content(name: &str, hook: Hook, limits: &SandboxLimits, state: &Arc<dyn StateStore>) -> Subscription {
    let (world, head) = match hook {
        Hook::Grant => ("grant", kit::GRANT_DECIDE),
        Hook::BeforeCall => ("before", BEFORE_DECIDE),
        Hook::AfterCall => ("after", AFTER_NOTIFY),
    };
    let component = kit::component(world, &format!("{MEMORY} {head} {})", kit::PROCEED));
    let component = host::load_bytes(component).await.expect("it is a component");
    let limits = limits.clone();
    Component::loaded(name, &component).limited(|own| *own = limits).over(state).await
}
