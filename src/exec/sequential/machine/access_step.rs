//! What every access to common memory passes through, whichever instruction makes it.
//!
//! Knows: first its bounds (`bounds`), then, lane by lane, the observers of it: the access sets of
//! workgroups on several cores (`access_sets`), other variables and readers (`access_observers`), who
//! wrote what is read (`pair_tracking`), races (`races`); then the value moves. Races and clashes are reported once all lanes have accessed, clashes of
//! texels lane by lane, because a report needs the machine as a whole.
//! Promises: loads, stores, atomics, bytes and texels are watched by the same checks in the same
//! order.
//! Does not cover: memory of invocations, which nobody else sees; control-flow traces
//! (`control_trace`) and waiting (`spin_detection`), which follow values.

use super::addressing::AddressedLanes;
use super::monitor::Monitor;
use super::state::Machine;
use crate::ir::atomic::{AccessKind, AtomicOperation};
use crate::ir::memory_semantics::MemoryKinds;
use crate::ir::{Access, AccessRoot};
use crate::memory::access_sets::{AccessSet, CommutativeUpdate};
use crate::memory::pair_access::{PairAccess, PairPlace, PairTouch};
use crate::memory::race_shadow::CurrentAccess;
use crate::memory::store::{IntervalClock, Store};
use std::sync::Arc;
use vkcert_model::index_range::IndexRange;

/// When and where an instruction accesses memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct AccessMoment {
    pub(super) source_index: u32,
    pub(super) memory_kinds: MemoryKinds,
    /// Through which descriptor of the program.
    pub(super) descriptor: Option<u32>,
    /// The time of the first lane of the tile, whose local index this is.
    pub(super) current_time: CurrentAccess,
    pub(super) first_lane: u32,
}

/// What the lanes of a tile access: one element each.
#[derive(Debug, Clone)]
pub(super) struct LaneAccess {
    pub(super) lane: usize,
    /// Bytes of the store.
    pub(super) bytes: IndexRange,
    pub(super) touch: AccessKind,
    /// What they held before, and what was read or is left.
    pub(super) values: [u128; 2],
    pub(super) atomic: Option<AtomicAccess>,
}

/// What an access is that is one step for all others.
#[derive(Debug, Clone, Copy)]
pub(super) struct AtomicAccess {
    pub(super) op: AtomicOperation,
    /// The time behind it.
    pub(super) time_after: u32,
    /// How workers on several cores keep it.
    pub(super) atomic_order: AtomicOrder,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum AtomicOrder {
    /// As a read, a write or both: the order counts.
    InOrder,
    /// By what it does; with a way where its place among others does not matter.
    ByOperation(Option<[CommutativeUpdate; 2]>),
}

/// The bytes of words of a store.
#[inline]
pub(super) fn word_bytes(first_word: usize, word_count: usize) -> IndexRange {
    IndexRange { start: 4 * first_word, end: 4 * (first_word + word_count) }
}

impl AccessMoment {
    pub(super) fn for_memory(
        clock: &IntervalClock,
        (memory_kinds, descriptor): (MemoryKinds, Option<u32>),
        first_lane: u32,
        source_index: u32,
    ) -> Self {
        let current_time = if memory_kinds == MemoryKinds::WORKGROUP {
            clock.access_in_workgroup(first_lane, source_index)
        } else if memory_kinds == MemoryKinds::IMAGES {
            clock.access_in_images(first_lane, source_index)
        } else {
            clock.access_in_buffers(first_lane, source_index)
        };
        Self { source_index, memory_kinds, descriptor, current_time, first_lane }
    }

    pub(super) fn pair_place(&self) -> PairPlace {
        PairPlace {
            source_index: self.source_index,
            descriptor: self.descriptor,
            memory_kinds: self.memory_kinds,
            time: self.current_time.stamp.time(),
        }
    }
}

impl Monitor {
    /// Whether any check observes accesses.
    #[inline]
    pub(super) fn watches_accesses(&self) -> bool {
        self.track_races || self.marks_access_sets || self.notes_users() || self.pairs.is_some()
    }

    /// Whether any check observes accesses to this store: memory that is only read has no shadow.
    #[inline]
    pub(super) fn watches_store(&self, store: &Store) -> bool {
        self.watches_reads_from(store) || (self.pairs.is_some() && store.definitions.is_some())
    }

    /// Whether any check observes each read from this store: of contents that are all of the host
    /// one is as good as another.
    #[inline]
    fn watches_reads_from(&self, store: &Store) -> bool {
        self.notes_users()
            || store.access_set.is_some()
            || (self.track_races && store.shadow.is_some())
            || (self.pairs.is_some() && store.definitions.is_some() && !store.holds_host_contents())
    }

    /// A lane is about to access bytes of a store.
    #[inline]
    pub(super) fn observe_access(
        &mut self,
        store: &mut Store,
        access_moment: &AccessMoment,
        lane_access: &LaneAccess,
    ) {
        if let Some(marks) = &mut store.access_set {
            mark_access_set(marks, lane_access);
        }
        if self.notes_users() {
            self.noted_users.push((lane_access.lane, lane_access.bytes, lane_access.touch));
        }
        if let Some(pairs) = &mut self.pairs {
            pairs.observe(store, &lane_access.pair_access(access_moment));
        }
        if self.track_races {
            self.check_races(store, access_moment, lane_access);
        }
    }
}

impl LaneAccess {
    #[inline]
    fn pair_access(&self, access_moment: &AccessMoment) -> PairAccess {
        let touch = match (self.touch, self.atomic) {
            (AccessKind::Read, _) => PairTouch::Read,
            (AccessKind::Write, _) => PairTouch::Write,
            (AccessKind::AtomicRead, _) => PairTouch::AtomicRead,
            (AccessKind::AtomicWrite, Some(atomic)) if !atomic.op.reads_memory() => {
                PairTouch::AtomicWrite
            }
            (AccessKind::AtomicWrite, _) => PairTouch::AtomicReadWrite,
        };
        PairAccess {
            place: access_moment.pair_place(),
            touch,
            bytes: self.bytes,
            invocation: access_moment.first_lane + self.lane as u32,
        }
    }
}

/// Marks what workgroups touch that run on several cores.
fn mark_access_set(access_set: &mut AccessSet, lane_access: &LaneAccess) {
    let (first_byte, byte_count) = (lane_access.bytes.start, lane_access.bytes.len());
    match lane_access.atomic {
        Some(AtomicAccess {
            op,
            atomic_order: AtomicOrder::ByOperation(combined_operations),
            ..
        }) => access_set.mark_atomic(
            op,
            first_byte / 4..(first_byte + byte_count) / 4,
            combined_operations,
        ),
        Some(AtomicAccess { atomic_order: AtomicOrder::InOrder, .. }) | None => {
            access_set.mark_bytes(lane_access.touch, first_byte, byte_count)
        }
    }
}

impl Machine<'_> {
    pub(super) fn access_moment(&self, access_root: AccessRoot, source_index: u32) -> AccessMoment {
        let memory_kinds =
            if access_root.is_buffer() { MemoryKinds::BUFFERS } else { MemoryKinds::WORKGROUP };
        let descriptor = match access_root {
            AccessRoot::Descriptor(descriptor) => Some(descriptor),
            AccessRoot::Workgroup
            | AccessRoot::Invocation
            | AccessRoot::PushConstant
            | AccessRoot::Descriptors { .. }
            | AccessRoot::Address(_)
            | AccessRoot::Pointer { .. }
            | AccessRoot::Buffer(_) => None,
        };
        AccessMoment::for_memory(
            &self.monitor.clock,
            (memory_kinds, descriptor),
            self.registers.first_lane,
            source_index,
        )
    }

    /// The lanes have read one word each.
    pub(super) fn observe_reads(
        &mut self,
        access: &Access,
        addressed: &AddressedLanes,
        component: u32,
        source_index: u32,
    ) {
        if self.monitor.pairs.is_some() {
            self.note_given_contents(access, addressed, component, source_index);
        }
        let monitor = &self.monitor;
        let watches_store = |store: &mut Store| monitor.watches_reads_from(store);
        if !monitor.watches_accesses()
            || !self.memory.store_of_mut(access.root).is_some_and(watches_store)
        {
            return;
        }
        let access_moment = self.access_moment(access.root, source_index);
        let addresses = std::mem::take(&mut self.memory.addresses);
        if let Some(store) = self.memory.store_of_mut(access.root) {
            for lane in addressed.lanes.lanes() {
                let word_index = addresses[lane].wrapping_add(component);
                if word_index >= addressed.root_limit {
                    continue;
                }
                let store_index = addressed.first_word + word_index as usize;
                let lane_access = LaneAccess {
                    lane,
                    bytes: word_bytes(store_index, 1),
                    touch: AccessKind::Read,
                    values: [u128::from(store.words[store_index]); 2],
                    atomic: None,
                };
                self.monitor.observe_access(store, &access_moment, &lane_access);
            }
        }
        self.memory.addresses = addresses;
        self.report_access((access.root, &access.name), source_index);
    }

    /// Reports what the checks found in the accesses of all lanes to a variable.
    pub(super) fn report_access(
        &mut self,
        (root, name): (AccessRoot, &Arc<str>),
        source_index: u32,
    ) {
        if !self.monitor.noted_users.is_empty() {
            self.note_users(root, source_index);
        }
        self.report_races((root, name), source_index);
    }
}
