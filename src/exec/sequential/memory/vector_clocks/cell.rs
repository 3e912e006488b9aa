//! The accesses to one cell of memory that a later one may race with.
//!
//! Promises: an access is told as a race exactly if an earlier one that conflicts with it is not
//! ordered before it (`super`). Of the earlier ones those are dropped that are ordered before
//! another one of their kind: who is not ordered behind the first is not behind the second.
//! Does not cover: more than the first such access of each kind.

use super::message::ReleaseSequence;
use crate::ir::atomic::{AccessKind, AtomicOperation};
use crate::ir::memory_semantics::MemoryKinds;
use crate::memory::race_shadow::{AccessStamp, CellHistory};
use crate::memory::vector_clocks::{
    AccessQuery, HappensBefore, MissingOrder, ReadsFirst, is_atomic, is_write,
};

/// Shortest list in which subsumed accesses are looked for.
const SHORT_LIST: u32 = 32;

/// Accesses of one kind.
#[derive(Debug, Clone, Default)]
struct AccessList {
    stamps: Vec<AccessStamp>,
    /// Their least and greatest times.
    times: (u32, u32),
    /// Length at which accesses are dropped that a later one subsumes.
    bound: u32,
}

/// Times between which all accesses of the workgroup are ordered before its current ones.
type OrderedInterval = Option<(u32, u32)>;

impl AccessList {
    /// Whether all of them are ordered before the current access.
    fn are_ordered(&self, interval: OrderedInterval) -> bool {
        interval.is_some_and(|(first_time, last_time)| {
            first_time <= self.times.0 && self.times.1 <= last_time
        })
    }

    fn record(
        &mut self,
        new_stamp: AccessStamp,
        order: &HappensBefore,
        query: &AccessQuery,
        (memory_kinds, interval): (MemoryKinds, OrderedInterval),
    ) {
        if self.stamps.last() == Some(&new_stamp) {
            return;
        }
        let all_ordered = self.are_ordered(interval);
        if all_ordered || self.stamps.len() as u32 >= self.bound.max(SHORT_LIST) {
            let has_equal_facts = |old_stamp: &AccessStamp| {
                order.access_facts.have_equal_facts(old_stamp.source_index(), query.source_index)
            };
            let is_subsumed = |old_stamp: &AccessStamp| {
                has_equal_facts(old_stamp)
                    && (all_ordered || order.subsumes(*old_stamp, query, memory_kinds))
            };
            self.stamps.retain(|old_stamp| !is_subsumed(old_stamp));
            self.bound = (2 * self.stamps.len() as u32).max(SHORT_LIST);
            let times = self.stamps.iter().map(|stamp| stamp.time());
            self.times = times.fold((u32::MAX, 0), |(first_time, last_time), time| {
                (first_time.min(time), last_time.max(time))
            });
        } else if self.stamps.is_empty() {
            self.times = (u32::MAX, 0);
        }
        let (first_time, last_time) = self.times;
        self.times = (first_time.min(new_stamp.time()), last_time.max(new_stamp.time()));
        self.stamps.push(new_stamp);
    }
}

/// Accesses to one cell, by kind.
#[derive(Debug, Clone, Default)]
pub(crate) struct ExactCell {
    reads: AccessList,
    writes: AccessList,
    /// Reads and writes; few cells have any.
    atomics: Option<Box<[AccessList; 2]>>,
}

/// Bytes of a cell, without what its lists hold.
pub(crate) const CELL_BYTES: u64 = size_of::<ExactCell>() as u64;

const ACCESS_KINDS: [AccessKind; 4] =
    [AccessKind::Read, AccessKind::Write, AccessKind::AtomicRead, AccessKind::AtomicWrite];

impl ExactCell {
    pub(crate) fn history(&self) -> CellHistory {
        let has_kind = |access_kind: AccessKind| {
            self.accesses(access_kind).is_some_and(|accesses| !accesses.stamps.is_empty())
        };
        CellHistory {
            read: has_kind(AccessKind::Read),
            written: has_kind(AccessKind::Write),
            atomically_read: has_kind(AccessKind::AtomicRead),
            atomically_written: has_kind(AccessKind::AtomicWrite),
        }
    }

    /// Records an access; calls `report_race` with the first earlier one of each kind that it races
    /// with.
    pub(crate) fn record_access(
        &mut self,
        query: &AccessQuery,
        order: &HappensBefore,
        memory_kinds: MemoryKinds,
        mut report_race: impl FnMut(AccessStamp, AccessKind, MissingOrder),
    ) {
        let interval = order.ordered_interval(memory_kinds);
        for earlier_kind in ACCESS_KINDS {
            let mutually_atomic = is_atomic(earlier_kind)
                && is_atomic(query.access_kind)
                && order.access_facts.atomics_uniform;
            if mutually_atomic || !(is_write(earlier_kind) || is_write(query.access_kind)) {
                continue;
            }
            let Some(accesses) = self.accesses(earlier_kind) else { continue };
            if accesses.stamps.is_empty() || accesses.are_ordered(interval) {
                continue;
            }
            let first_race = accesses.stamps.iter().find_map(|candidate| {
                Some((
                    *candidate,
                    order.missing_order((*candidate, earlier_kind), query, memory_kinds)?,
                ))
            });
            if let Some((racing_stamp, missing_order)) = first_race {
                report_race(racing_stamp, earlier_kind, missing_order);
            }
        }
        let stamp = order.access_stamp(query.invocation, query.source_index);
        self.accesses_mut(query.access_kind).record(stamp, order, query, (memory_kinds, interval));
    }

    fn accesses(&self, access_kind: AccessKind) -> Option<&AccessList> {
        match access_kind {
            AccessKind::Read => Some(&self.reads),
            AccessKind::Write => Some(&self.writes),
            AccessKind::AtomicRead => self.atomics.as_ref().map(|atomics| &atomics[0]),
            AccessKind::AtomicWrite => self.atomics.as_ref().map(|atomics| &atomics[1]),
        }
    }

    fn accesses_mut(&mut self, access_kind: AccessKind) -> &mut AccessList {
        match access_kind {
            AccessKind::Read => &mut self.reads,
            AccessKind::Write => &mut self.writes,
            AccessKind::AtomicRead => &mut self.atomics.get_or_insert_default()[0],
            AccessKind::AtomicWrite => &mut self.atomics.get_or_insert_default()[1],
        }
    }

    /// Forgets all accesses, but not the room for them.
    pub(crate) fn clear(&mut self) {
        let atomics = self.atomics.iter_mut().flat_map(|atomics| atomics.iter_mut());
        [&mut self.reads, &mut self.writes]
            .into_iter()
            .chain(atomics)
            .for_each(|accesses| accesses.stamps.clear());
    }
}

/// The cells of a block of memory, with the release sequences of its words.
#[derive(Debug, Clone, Default)]
pub(crate) struct ExactCells {
    pub cells: Vec<ExactCell>,
    /// By word.
    pub published: std::collections::HashMap<usize, ReleaseSequence>,
    pub kinds: MemoryKinds,
}

/// An atomic access that was made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AtomicEvent {
    /// Local index in the workgroup that runs.
    pub invocation: u32,
    pub source_index: u32,
    /// Its storage class.
    pub carrier_kinds: MemoryKinds,
    pub operation: AtomicOperation,
    /// What it did in fact: a compare-exchange may not write.
    pub access_kind: AccessKind,
    /// A time after all others so far.
    pub next_time: u32,
}

impl ExactCells {
    /// An atomic on a word: reads from its release sequence, then begins or continues one.
    pub(crate) fn record_atomic(
        &mut self,
        word_index: usize,
        atomic_event: &AtomicEvent,
        order: &mut HappensBefore,
    ) {
        let published = self.published.entry(word_index).or_default();
        let &AtomicEvent {
            invocation,
            source_index,
            carrier_kinds,
            operation,
            access_kind,
            next_time,
        } = atomic_event;
        if operation.reads_memory() {
            order.atomic_read(invocation, source_index, carrier_kinds, published);
        }
        if is_write(access_kind) {
            let reads_first =
                if operation.reads_memory() { ReadsFirst::Yes } else { ReadsFirst::No };
            order.atomic_write(
                (invocation, source_index),
                carrier_kinds,
                published,
                reads_first,
                next_time,
            );
        }
    }
}
