//! What is missing between two accesses that are not ordered, and what makes two accesses a race at
//! all.

use crate::ir::access_facts::AccessFacts;
use crate::ir::atomic::AccessKind;
use crate::memory::vector_clocks::is_atomic;

/// Why two accesses are not ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Missing {
    /// Nothing happens between them.
    Order,
    /// Both are atomic, but not for each other: a scope is too narrow, or they are not equally
    /// wide.
    Scope,
    Width,
    /// An access is private to its invocation.
    Privacy,
    /// Written in another workgroup to a variable that is not coherent.
    Coherence,
    Availability,
    Visibility,
}

impl Missing {
    /// As findings have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Missing::Order => "order",
            Missing::Scope => "scope",
            Missing::Width => "width",
            Missing::Privacy => "non-private-access",
            Missing::Coherence => "coherence",
            Missing::Availability => "availability",
            Missing::Visibility => "visibility",
        }
    }

    pub(crate) fn sentence(self) -> &'static str {
        match self {
            Missing::Order => "with nothing to order them",
            Missing::Scope => "by atomics of which one's scope does not have the other",
            Missing::Width => "by atomics of different width",
            Missing::Privacy => "which nothing orders, since one of the accesses is private",
            Missing::Coherence => {
                "from different workgroups; it is neither coherent nor volatile, so what is written need not be seen"
            }
            Missing::Availability => "in order, but what is written is not made available",
            Missing::Visibility => "in order, but what is written is not made visible",
        }
    }
}

/// What two accesses to the same element are.
pub(super) enum Clash {
    Plain,
    /// Both atomic, so many bytes wide.
    Atomics([u32; 2]),
}

pub(super) fn clash(touches: [AccessKind; 2], facts: &[AccessFacts; 2]) -> Clash {
    let [one, two] = facts.each_ref().map(|facts| facts.atomic.map(|atomic| atomic.bytes));
    match (touches.map(is_atomic), one, two) {
        ([true, true], Some(one), Some(two)) => Clash::Atomics([one, two]),
        _ => Clash::Plain,
    }
}
