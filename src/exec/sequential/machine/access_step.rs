//! What every access to common memory passes through, whichever instruction makes it.
//!
//! Knows: first its bounds (`bounds`), then by lane who watches it: what workgroups on several
//! cores touch (`access_sets`), other variables and readers (`access_observers`), races (`races`);
//! then the value moves. What was noticed is told once all lanes have accessed.
//! Promises: loads, stores, atomics, bytes and texels are watched by the same checks in the same
//! order.
//! Does not cover: memory of invocations, which nobody else sees; control-flow traces
//! (`control_trace`) and waiting (`spin_detection`), which follow values.

use super::addressing::Addressed;
use super::monitor::Monitor;
use super::state::Machine;
use crate::ir::atomic::{AccessKind, AtomicOperation};
use crate::ir::memory_semantics::MemoryKinds;
use crate::ir::{Access, AccessRoot};
use crate::memory::access_sets::{AccessSet, CommutativeUpdate};
use crate::memory::race_shadow::CurrentAccess;
use crate::memory::store::{IntervalClock, Store};
use std::ops::Range;
use std::sync::Arc;

/// When and where an instruction accesses memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub(super) place: u32,
    pub(super) memory: MemoryKinds,
    /// The time of the first lane of the tile, whose local index this is.
    pub(super) now: CurrentAccess,
    pub(super) first_lane: u32,
}

/// What the lanes of a tile access: one element each.
#[derive(Debug, Clone)]
pub(super) struct LaneAccess {
    pub(super) lane: usize,
    /// Bytes of the store.
    pub(super) bytes: Range<usize>,
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
    pub(super) after: u32,
    /// How workers on several cores keep it.
    pub(super) mark: AtomicMark,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum AtomicMark {
    /// As a read, a write or both: the order counts.
    InOrder,
    /// By what it does; with a way where its place among others does not matter.
    ByOperation(Option<[CommutativeUpdate; 2]>),
}

impl Moment {
    pub(super) fn of(
        clock: &IntervalClock,
        memory: MemoryKinds,
        first_lane: u32,
        place: u32,
    ) -> Self {
        let now = if memory == MemoryKinds::WORKGROUP {
            clock.access_in_workgroup(first_lane, place)
        } else if memory == MemoryKinds::IMAGES {
            clock.access_in_images(first_lane, place)
        } else {
            clock.access_in_buffers(first_lane, place)
        };
        Self { place, memory, now, first_lane }
    }
}

impl Monitor {
    /// Whether anybody watches accesses.
    #[inline]
    pub(super) fn watches_accesses(&self) -> bool {
        self.track_races || self.marked || self.notes_users()
    }

    /// A lane is about to access bytes of a store.
    #[inline]
    pub(super) fn observe(&mut self, store: &mut Store, moment: &Moment, one: &LaneAccess) {
        if let Some(marks) = &mut store.access_set {
            mark(marks, one);
        }
        if self.notes_users() {
            self.users.push((one.lane, one.bytes.clone(), one.touch));
        }
        if self.track_races {
            self.race(store, moment, one);
        }
    }
}

/// Marks what workgroups touch that run on several cores.
fn mark(marks: &mut AccessSet, one: &LaneAccess) {
    let (first, length) = (one.bytes.start, one.bytes.len());
    match one.atomic {
        Some(AtomicAccess { op, mark: AtomicMark::ByOperation(way), .. }) => {
            marks.mark_atomic(op, first / 4..(first + length) / 4, way)
        }
        Some(AtomicAccess { mark: AtomicMark::InOrder, .. }) | None => {
            marks.mark_bytes(one.touch, first, length)
        }
    }
}

impl Machine<'_> {
    pub(super) fn moment(&self, root: AccessRoot, place: u32) -> Moment {
        let memory = if root.is_buffer() { MemoryKinds::BUFFERS } else { MemoryKinds::WORKGROUP };
        Moment::of(&self.monitor.clock, memory, self.registers.first_lane, place)
    }

    /// The lanes have read one word each.
    pub(super) fn observe_reads(
        &mut self,
        access: &Access,
        found: &Addressed,
        component: u32,
        place: u32,
    ) {
        if !self.monitor.watches_accesses() {
            return;
        }
        let moment = self.moment(access.root, place);
        let addresses = std::mem::take(&mut self.memory.addresses);
        if let Some(store) = self.memory.store_of_mut(access.root) {
            for lane in found.lanes.lanes() {
                let word = addresses[lane].wrapping_add(component);
                if word >= found.limit {
                    continue;
                }
                let at = found.first + word as usize;
                let one = LaneAccess {
                    lane,
                    bytes: 4 * at..4 * at + 4,
                    touch: AccessKind::Read,
                    values: [u128::from(store.words[at]); 2],
                    atomic: None,
                };
                self.monitor.observe(store, &moment, &one);
            }
        }
        self.memory.addresses = addresses;
        self.tell_access((access.root, &access.name), place);
    }

    /// Tells what was noticed of the accesses of all lanes to a variable.
    pub(super) fn tell_access(&mut self, (root, name): (AccessRoot, &Arc<str>), place: u32) {
        if !self.monitor.users.is_empty() {
            self.tell_users(root, place);
        }
        self.report_races((root, name), place);
    }
}
