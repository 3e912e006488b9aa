//! An access as the tracking of pairs is told of it.
//!
//! Knows: when, through what and how an invocation accesses bytes of a store.
//! Does not cover: values.

use super::definitions::Atomicity;
use crate::ir::memory_semantics::MemoryKinds;
use vkcert_model::index_range::IndexRange;

/// When and through what an instruction accesses memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PairPlace {
    pub source_index: u32,
    /// Index into [`Program::descriptors`].
    pub descriptor: Option<u32>,
    /// One kind.
    pub memory_kinds: MemoryKinds,
    /// Of the interval, in the dispatch.
    pub time: u32,
}

/// What an access does to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PairTouch {
    Read,
    Write,
    AtomicRead,
    AtomicWrite,
    AtomicReadWrite,
}

impl PairTouch {
    pub(super) fn reads(self) -> bool {
        match self {
            PairTouch::Read | PairTouch::AtomicRead | PairTouch::AtomicReadWrite => true,
            PairTouch::Write | PairTouch::AtomicWrite => false,
        }
    }

    pub(super) fn writes(self) -> bool {
        match self {
            PairTouch::Write | PairTouch::AtomicWrite | PairTouch::AtomicReadWrite => true,
            PairTouch::Read | PairTouch::AtomicRead => false,
        }
    }

    pub(super) fn atomicity(self) -> Atomicity {
        match self {
            PairTouch::Read | PairTouch::Write => Atomicity::Plain,
            PairTouch::AtomicRead | PairTouch::AtomicWrite | PairTouch::AtomicReadWrite => {
                Atomicity::Atomic
            }
        }
    }
}

/// An access of one invocation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairAccess {
    pub place: PairPlace,
    pub touch: PairTouch,
    pub bytes: IndexRange,
    /// Local index of the invocation.
    pub invocation: u32,
}
