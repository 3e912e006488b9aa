//! The accesses to one cell of memory that a later one may race with.
//!
//! Promises: an access is told as a race exactly if an earlier one that conflicts with it is not
//! ordered before it (`super`). Of the earlier ones those are dropped that are ordered before
//! another one of their kind: who is not ordered behind the first is not behind the second.
//! Does not cover: more than the first such access of each kind.

use super::message::Published;
use crate::ir::atomic::{AccessKind, AtomicOperation};
use crate::ir::memory_semantics::MemoryKinds;
use crate::memory::race_shadow::{Seen, Stamp};
use crate::memory::vector_clocks::{Asked, Missing, Order, Reads, is_atomic, writes};

/// How long a list grows before it is looked through.
const SHORT: u32 = 32;

/// Accesses of one kind.
#[derive(Debug, Clone, Default)]
struct Accesses {
    stamps: Vec<Stamp>,
    /// Their least and greatest times.
    times: (u32, u32),
    /// At which length those are dropped that stand for nothing.
    bound: u32,
}

/// From when until when everything that the workgroup did is ordered before what it does now.
type Settled = Option<(u32, u32)>;

impl Accesses {
    /// Whether all of them are ordered before what is done now.
    fn are_settled(&self, settled: Settled) -> bool {
        settled.is_some_and(|(first, last)| first <= self.times.0 && self.times.1 <= last)
    }

    fn record(
        &mut self,
        new: Stamp,
        order: &Order,
        now: &Asked,
        (kinds, settled): (MemoryKinds, Settled),
    ) {
        if self.stamps.last() == Some(&new) {
            return;
        }
        let all = self.are_settled(settled);
        if all || self.stamps.len() as u32 >= self.bound.max(SHORT) {
            let alike = |old: &Stamp| order.places.have_equal_facts(old.place(), now.place);
            let replaced = |old: &Stamp| alike(old) && (all || order.stands_for(*old, now, kinds));
            self.stamps.retain(|old| !replaced(old));
            self.bound = (2 * self.stamps.len() as u32).max(SHORT);
            let times = self.stamps.iter().map(|stamp| stamp.time());
            self.times =
                times.fold((u32::MAX, 0), |(first, last), time| (first.min(time), last.max(time)));
        } else if self.stamps.is_empty() {
            self.times = (u32::MAX, 0);
        }
        let (first, last) = self.times;
        self.times = (first.min(new.time()), last.max(new.time()));
        self.stamps.push(new);
    }
}

/// Accesses to one cell, by kind.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    reads: Accesses,
    writes: Accesses,
    /// Reads and writes; few cells have any.
    atomics: Option<Box<[Accesses; 2]>>,
}

/// Bytes of a cell, without what its lists hold.
pub(crate) const CELL_BYTES: u64 = size_of::<Cell>() as u64;

const TOUCHES: [AccessKind; 4] =
    [AccessKind::Read, AccessKind::Write, AccessKind::AtomicRead, AccessKind::AtomicWrite];

impl Cell {
    pub(crate) fn seen(&self) -> Seen {
        let some =
            |touch: AccessKind| self.of(touch).is_some_and(|accesses| !accesses.stamps.is_empty());
        Seen {
            read: some(AccessKind::Read),
            written: some(AccessKind::Write),
            atomically_read: some(AccessKind::AtomicRead),
            atomically_written: some(AccessKind::AtomicWrite),
        }
    }

    /// Notes an access; calls `race` with the first earlier one of each kind that it races with.
    pub(crate) fn touch(
        &mut self,
        now: &Asked,
        order: &Order,
        kinds: MemoryKinds,
        mut race: impl FnMut(Stamp, AccessKind, Missing),
    ) {
        let settled = order.settled(kinds);
        for kind in TOUCHES {
            let alike = is_atomic(kind) && is_atomic(now.touch) && order.places.atomics_uniform;
            if alike || !(writes(kind) || writes(now.touch)) {
                continue;
            }
            let Some(accesses) = self.of(kind) else { continue };
            if accesses.stamps.is_empty() || accesses.are_settled(settled) {
                continue;
            }
            let found = accesses
                .stamps
                .iter()
                .find_map(|one| Some((*one, order.missing((*one, kind), now, kinds)?)));
            if let Some((other, missing)) = found {
                race(other, kind, missing);
            }
        }
        let stamp = order.stamp(now.invocation, now.place);
        self.of_mut(now.touch).record(stamp, order, now, (kinds, settled));
    }

    fn of(&self, kind: AccessKind) -> Option<&Accesses> {
        match kind {
            AccessKind::Read => Some(&self.reads),
            AccessKind::Write => Some(&self.writes),
            AccessKind::AtomicRead => self.atomics.as_ref().map(|atomics| &atomics[0]),
            AccessKind::AtomicWrite => self.atomics.as_ref().map(|atomics| &atomics[1]),
        }
    }

    fn of_mut(&mut self, kind: AccessKind) -> &mut Accesses {
        match kind {
            AccessKind::Read => &mut self.reads,
            AccessKind::Write => &mut self.writes,
            AccessKind::AtomicRead => &mut self.atomics.get_or_insert_default()[0],
            AccessKind::AtomicWrite => &mut self.atomics.get_or_insert_default()[1],
        }
    }

    /// Forgets all accesses, but not the room for them.
    pub(crate) fn reset(&mut self) {
        let atomics = self.atomics.iter_mut().flat_map(|atomics| atomics.iter_mut());
        [&mut self.reads, &mut self.writes]
            .into_iter()
            .chain(atomics)
            .for_each(|accesses| accesses.stamps.clear());
    }
}

/// The cells of a block of memory, with what atomics have published there.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cells {
    pub cells: Vec<Cell>,
    /// By word.
    pub published: std::collections::HashMap<usize, Published>,
    pub kinds: MemoryKinds,
}

/// An atomic that was made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told {
    /// Local index in the workgroup that runs.
    pub invocation: u32,
    pub place: u32,
    /// Its storage class.
    pub memory: MemoryKinds,
    pub op: AtomicOperation,
    /// What it did in fact: one that compares may not write.
    pub touch: AccessKind,
    /// A time behind all others.
    pub after: u32,
}

impl Cells {
    /// What invocations tell each other by an atomic on a word.
    pub(crate) fn tell(&mut self, word: usize, told: &Told, order: &mut Order) {
        let published = self.published.entry(word).or_default();
        let &Told { invocation, place, memory, op, touch, after } = told;
        if op.reads_memory() {
            order.atomic_read(invocation, place, memory, published);
        }
        if writes(touch) {
            let reads = if op.reads_memory() { Reads::Yes } else { Reads::No };
            order.atomic_write((invocation, place), memory, published, reads, after);
        }
    }
}
