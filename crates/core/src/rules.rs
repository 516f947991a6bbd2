//! Everything that decides, at one moment; and the place where one such moment follows another.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::permissions::Permissions;
use crate::registry::ToolRegistry;
use crate::subscription::Subscription;

/// One generation: registry, permissions and listeners. Immutable; a call's decisions come from one of them from start to
/// end.
#[derive(Debug)]
pub struct RuleSet {
    /// All tools.
    pub registry: Arc<ToolRegistry>,
    /// The base decision.
    pub permissions: Arc<Permissions>,
    /// Who is asked, in this order.
    pub listeners: Vec<Arc<Subscription>>,
    generation: u64,
}

impl RuleSet {
    /// A generation of these.
    pub fn new(registry: ToolRegistry, permissions: Permissions, listeners: Vec<Subscription>) -> Self {
        Self {
            registry: Arc::new(registry),
            permissions: Arc::new(permissions),
            listeners: listeners.into_iter().map(Arc::new).collect(),
            generation: 0,
        }
    }

    /// The generation's number: no two in one process share it.
    pub fn generation(&self) -> u64 {
        self.generation
    }
}

/// The generation in force, and the way to put another one there. Swapped whole: nobody sees half of one.
#[derive(Debug)]
pub struct Rules {
    current: RwLock<Arc<RuleSet>>,
    generations: AtomicU64,
    reads: AtomicU64,
}

impl Rules {
    /// Begins with that generation.
    pub fn new(rules: RuleSet) -> Self {
        let first = RuleSet { generation: 1, ..rules };
        Self { current: RwLock::new(Arc::new(first)), generations: AtomicU64::new(1), reads: AtomicU64::new(0) }
    }

    /// The generation in force.
    pub fn current(&self) -> Arc<RuleSet> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        // The lock guards one pointer, which no panic can leave half written.
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How often the generation in force was read.
    pub fn reads(&self) -> u64 {
        self.reads.load(Ordering::Relaxed)
    }

    /// Puts another generation in force. Calls that have begun end on the one that they began on.
    pub fn replace(&self, rules: RuleSet) {
        self.update(|_| rules);
    }

    /// Puts a generation in force that has another registry and is otherwise the same.
    pub fn replace_registry(&self, registry: ToolRegistry) {
        self.update(|current| RuleSet {
            registry: Arc::new(registry),
            permissions: current.permissions.clone(),
            listeners: current.listeners.clone(),
            generation: 0,
        });
    }

    fn update(&self, next: impl FnOnce(&RuleSet) -> RuleSet) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let generation = self.generations.fetch_add(1, Ordering::Relaxed) + 1;
        *current = Arc::new(RuleSet { generation, ..next(&current) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::tool;

    #[test]
    fn every_generation_has_a_number_of_its_own() {
        let empty = || RuleSet::new(ToolRegistry::default(), Permissions::default(), Vec::new());
        let rules = Rules::new(empty());
        let first = rules.current();
        rules.replace_registry(ToolRegistry::new([tool("read")]).unwrap());
        let second = rules.current();
        rules.replace(empty());
        let numbers = [first.generation(), second.generation(), rules.current().generation()];
        assert_eq!(numbers, [1, 2, 3]);
        assert!(first.registry.find("read").is_none() && second.registry.find("read").is_some());
        assert_eq!(rules.reads(), 3);
    }
}
