//! What is missing between two accesses that are not ordered, and what makes two accesses a race at
//! all.

use crate::ir::access_facts::AccessFacts;
use crate::ir::atomic::AccessKind;
use crate::memory::vector_clocks::is_atomic;
use vkcert_model::finding_details::MissingOrdering;

/// Why two accesses are not ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MissingOrder {
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

impl MissingOrder {
    /// As findings have it.
    pub(crate) fn ordering(self) -> MissingOrdering {
        match self {
            MissingOrder::Order => MissingOrdering::Order,
            MissingOrder::Scope => MissingOrdering::Scope,
            MissingOrder::Width => MissingOrdering::Width,
            MissingOrder::Privacy => MissingOrdering::NonPrivateAccess,
            MissingOrder::Coherence => MissingOrdering::Coherence,
            MissingOrder::Availability => MissingOrdering::Availability,
            MissingOrder::Visibility => MissingOrdering::Visibility,
        }
    }

    pub(crate) fn sentence(self) -> &'static str {
        match self {
            MissingOrder::Order => "with nothing to order them",
            MissingOrder::Scope => "by atomics of which one's scope does not have the other",
            MissingOrder::Width => "by atomics of different width",
            MissingOrder::Privacy => "which nothing orders, since one of the accesses is private",
            MissingOrder::Coherence => {
                "from different workgroups; it is neither coherent nor volatile, so what is written need not be seen"
            }
            MissingOrder::Availability => "in order, but what is written is not made available",
            MissingOrder::Visibility => "in order, but what is written is not made visible",
        }
    }
}

/// Whether two accesses to the same element conflict as plain ones or as atomics.
pub(super) enum ConflictKind {
    Plain,
    /// Both atomic, so many bytes wide.
    Atomics([u32; 2]),
}

pub(super) fn conflict_kind(
    access_kinds: [AccessKind; 2],
    facts: &[AccessFacts; 2],
) -> ConflictKind {
    let [first_bytes, second_bytes] =
        facts.each_ref().map(|facts| facts.atomic.map(|atomic| atomic.bytes));
    match (access_kinds.map(is_atomic), first_bytes, second_bytes) {
        ([true, true], Some(first_bytes), Some(second_bytes)) => {
            ConflictKind::Atomics([first_bytes, second_bytes])
        }
        _ => ConflictKind::Plain,
    }
}
