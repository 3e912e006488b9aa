//! What a release leaves for those who acquire.

use super::Times;
use super::chains::{Learnt, Nearness};
use crate::ir::memory_semantics::{MemoryKinds, Scope};
use std::rc::Rc;

/// A release fence: what its invocation knew then, without copying it.
#[derive(Debug, Clone)]
pub(super) struct Released {
    pub(super) scope: Scope,
    pub(super) kinds: MemoryKinds,
    pub(super) learnt: Learnt,
    /// Own accesses up to these times happened before, and were available to each domain.
    pub(super) before: u32,
    pub(super) available: Times,
}

/// What a release tells who acquires it.
#[derive(Debug, Clone)]
pub(super) struct Message {
    pub(super) from: Sender,
    pub(super) scope: Scope,
    pub(super) kinds: MemoryKinds,
    /// The memory of the atomic that carries it; none for a barrier.
    pub(super) carrier: MemoryKinds,
    /// The place of the atomic that has read it; of no meaning before.
    pub(super) by: u32,
    pub(super) learnt: Rc<Learnt>,
}

/// Who sent a message; where every scope is the whole device it does not matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sender {
    Any,
    One { workgroup: u64, subgroup: u32 },
}

/// What was released to an atomic's element: its release sequence.
#[derive(Debug, Clone, Default)]
pub(crate) struct Published(pub(super) Vec<Message>);

/// The messages of one kind are one.
pub(super) fn add(messages: &mut Vec<Message>, new: Message) {
    let same = |old: &&mut Message| {
        (old.from, old.scope, old.kinds, old.carrier)
            == (new.from, new.scope, new.kinds, new.carrier)
    };
    match messages.iter_mut().find(same) {
        Some(old) => Rc::make_mut(&mut old.learnt).join(&new.learnt, new.kinds, Nearness::Subgroup),
        None => messages.push(new),
    }
}
