//! Release fences and the messages of release sequences, for invocations that acquire them.

use super::DomainTimes;
use super::chains::{LayeredClocks, Nearness};
use crate::ir::memory_semantics::{MemoryKinds, Scope};
use std::rc::Rc;

/// A release fence: the clocks of its invocation at that time, shared and not copied.
#[derive(Debug, Clone)]
pub(super) struct ReleaseFence {
    pub(super) scope: Scope,
    pub(super) kinds: MemoryKinds,
    pub(super) clocks: LayeredClocks,
    /// Own accesses up to these times happened before, and were available to each domain.
    pub(super) own_time: u32,
    pub(super) available: DomainTimes,
}

/// A release as an acquiring invocation gets it.
#[derive(Debug, Clone)]
pub(super) struct ReleaseMessage {
    pub(super) sender: Sender,
    pub(super) scope: Scope,
    pub(super) kinds: MemoryKinds,
    /// The memory of the atomic that carries it; none for a barrier.
    pub(super) carrier: MemoryKinds,
    /// Source index of the atomic that has read it; without meaning before that.
    pub(super) reading_atomic: u32,
    pub(super) clocks: Rc<LayeredClocks>,
}

/// The subgroup that released; any, where every scope is the whole device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sender {
    Any,
    One { workgroup: u64, subgroup: u32 },
}

/// The release sequence of an element: what its current value released.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReleaseSequence(pub(super) Vec<ReleaseMessage>);

/// Adds a message; messages of one sender, scope and kinds are joined into one.
pub(super) fn add_message(messages: &mut Vec<ReleaseMessage>, new_message: ReleaseMessage) {
    let is_same_kind = |old_message: &&mut ReleaseMessage| {
        (old_message.sender, old_message.scope, old_message.kinds, old_message.carrier)
            == (new_message.sender, new_message.scope, new_message.kinds, new_message.carrier)
    };
    match messages.iter_mut().find(is_same_kind) {
        Some(old_message) => Rc::make_mut(&mut old_message.clocks).join(
            &new_message.clocks,
            new_message.kinds,
            Nearness::Subgroup,
        ),
        None => messages.push(new_message),
    }
}
