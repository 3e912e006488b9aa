//! Race shadow: the last accesses to each cell of memory, to decide whether a later one races.
//!
//! Knows: a cell is a word, or one byte or two where a kernel accesses numbers of that size; a race
//! is two accesses to the same cell by different invocations, at least one of them a write, not
//! both atomic, with nothing that orders them (Vulkan memory model, "Data Race"). Workgroups of one
//! dispatch are never ordered; invocations of one workgroup are ordered by a barrier that covers
//! the memory.
//! Promises: since workgroups run one after the other, a *time* counts the intervals between
//! ordering barriers of all workgroups in turn, as the epoch of a scalar clock; comparing times
//! decides every case. A write is checked against the last write and against up to two readers of
//! its own interval and one of another workgroup, which suffices to see whether any reader races.
//! Once a race was found on a cell, `racing_accesses` keeps its other accesses.
//! Does not cover: all readers of a cell that has had no race: of equal ones the first two are
//! reported.

mod recent_accesses;
#[cfg(test)]
mod tests;

use super::racing_accesses::{EarlierAccess, RacingCells, StillRacing};
use super::vector_clocks::cell::{AtomicEvent, CELL_BYTES, ExactCell, ExactCells};
use super::vector_clocks::{AccessQuery, HappensBefore, MissingOrder, is_atomic};
use crate::ir::atomic::AccessKind;
use crate::ir::memory_semantics::MemoryKinds;
use crate::ir::{OrderUse, Program};
use recent_accesses::{AtomicAccesses, PlainAccesses};
use std::cell::RefCell;
use std::rc::Rc;

/// Time, local invocation index and instruction of an access in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct AccessStamp(u64);

const LANE_BITS: u32 = 12;
const SOURCE_INDEX_BITS: u32 = 20;

/// Instructions behind this index count as one in findings, because a stamp has no more bits.
pub(crate) const MOST_SOURCE_INDICES: u32 = (1 << SOURCE_INDEX_BITS) - 1;

impl AccessStamp {
    pub(crate) fn new(time: u32, lane: u32, source_index: u32) -> Self {
        Self(
            u64::from(time) << 32
                | u64::from(lane) << SOURCE_INDEX_BITS
                | u64::from(source_index.min(MOST_SOURCE_INDICES)),
        )
    }

    pub(crate) fn time(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Whether it is the stamp of an access: times start at 1.
    fn is_recorded(self) -> bool {
        self.time() > 0
    }

    /// Local invocation index.
    pub(crate) fn lane(self) -> u32 {
        (self.0 >> SOURCE_INDEX_BITS) as u32 & ((1 << LANE_BITS) - 1)
    }

    /// Index into the module's instruction list.
    pub(crate) fn source_index(self) -> u32 {
        self.0 as u32 & MOST_SOURCE_INDICES
    }
}

/// The access that is made now, with the times that it is compared by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CurrentAccess {
    pub stamp: AccessStamp,
    /// First time of the workgroup.
    pub workgroup_start: u32,
    /// First time of what can race at all: the dispatch, or the workgroup for workgroup memory.
    pub first_racing_time: u32,
}

impl CurrentAccess {
    fn is_foreign(&self, earlier_stamp: AccessStamp) -> bool {
        earlier_stamp.time() >= self.first_racing_time
            && earlier_stamp.time() < self.workgroup_start
    }

    fn races(&self, earlier_stamp: AccessStamp) -> bool {
        if earlier_stamp.time() == self.stamp.time() {
            earlier_stamp.lane() != self.stamp.lane()
        } else {
            self.is_foreign(earlier_stamp)
        }
    }

    /// For [`RacingCells`]: what is missing between an earlier access and this one, and whether
    /// the earlier one can still race with anything.
    fn missing_order(
        &self,
        (earlier_stamp, earlier_kind): (AccessStamp, AccessKind),
        access_kind: AccessKind,
    ) -> (Option<MissingOrder>, StillRacing) {
        let can_still_race =
            earlier_stamp.time() == self.stamp.time() || self.is_foreign(earlier_stamp);
        let races =
            self.races(earlier_stamp) && !(is_atomic(earlier_kind) && is_atomic(access_kind));
        (
            races.then_some(MissingOrder::Order),
            if can_still_race { StillRacing::Yes } else { StillRacing::No },
        )
    }
}

/// Shadow of one block of memory. Times start at 1, so that fresh cells race with nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct RaceShadow {
    plain: Vec<PlainAccesses>,
    /// Empty until an access is atomic.
    atomics: Vec<AtomicAccesses>,
    /// Cells of a word, as a power of two.
    cell_shift: u32,
    /// The cells by vector clocks, where more than barriers of workgroups order accesses; `plain`
    /// and `atomics` are empty then.
    exact_order: Option<(Rc<RefCell<HappensBefore>>, ExactCells)>,
    racing_cells: RacingCells,
}

/// Which kinds of accesses a cell has had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CellHistory {
    pub read: bool,
    pub written: bool,
    pub atomically_read: bool,
    pub atomically_written: bool,
}

impl CellHistory {
    pub(crate) fn has_any(self) -> bool {
        self.read || self.written || self.atomically_read || self.atomically_written
    }
}

/// Whether a memory has atomic accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtomicUse {
    PlainOnly,
    WithAtomics,
}

impl RaceShadow {
    /// For cells of `granule` bytes: 1, 2 or 4.
    pub(crate) fn new(word_count: usize, granule: u32) -> Self {
        let finer = 2 - granule.trailing_zeros().min(2);
        let cell_count = word_count << finer;
        Self {
            plain: vec![PlainAccesses::default(); cell_count],
            cell_shift: finer,
            ..Self::default()
        }
    }

    /// Decides races by vector clocks from now on, for memory of these kinds.
    pub(crate) fn order_exactly(
        &mut self,
        order: &Rc<RefCell<HappensBefore>>,
        memory_kinds: MemoryKinds,
    ) {
        let cells = vec![ExactCell::default(); std::mem::take(&mut self.plain).len()];
        self.atomics = Vec::new();
        self.exact_order = Some((
            Rc::clone(order),
            ExactCells { cells, kinds: memory_kinds, ..ExactCells::default() },
        ));
    }

    /// Forgets all accesses.
    pub(crate) fn reset(&mut self) {
        if let Some((_, cells)) = &mut self.exact_order {
            self.racing_cells.clear();
            cells.cells.iter_mut().for_each(ExactCell::clear);
            cells.published.clear();
        }
    }

    /// Whether two atomics on a cell may fail to be mutually atomic, because a scope is too narrow
    /// or their widths differ.
    pub(crate) fn has_incompatible_atomics(&self) -> bool {
        self.exact_order
            .as_ref()
            .is_some_and(|(order, _)| order.borrow().has_incompatible_atomics())
    }

    /// Reads from and adds to the release sequence of a word, where atomics order anything.
    pub(crate) fn record_atomic(&mut self, word_index: usize, atomic_event: &AtomicEvent) {
        if let Some((order, cells)) = &mut self.exact_order {
            cells.record_atomic(word_index, atomic_event, &mut order.borrow_mut());
        }
    }

    /// Bytes of a program's shadow; lists of accesses are taken to hold two each.
    pub(crate) fn shadow_bytes(
        word_count: usize,
        atomicity: AtomicUse,
        program: &Program,
        granule: u32,
    ) -> u64 {
        let word_count = word_count * (4 / granule.clamp(1, 4) as usize);
        if let OrderUse::Exact(_) = program.order {
            return word_count as u64 * (CELL_BYTES + 6 * size_of::<AccessStamp>() as u64);
        }
        let atomics = match atomicity {
            AtomicUse::PlainOnly => 0,
            AtomicUse::WithAtomics => size_of::<AtomicAccesses>(),
        };
        word_count as u64 * (size_of::<PlainAccesses>() + atomics) as u64
    }

    /// The kinds of accesses that a cell has had so far.
    pub(crate) fn cell_history(&self, cell_index: usize) -> CellHistory {
        if let Some((_, cells)) = &self.exact_order {
            return cells.cells[cell_index].history();
        }
        let (plain, atomics) =
            (&self.plain[cell_index], self.atomics.get(cell_index).copied().unwrap_or_default());
        CellHistory {
            read: plain.reads.near.is_recorded(),
            written: plain.write.is_recorded(),
            atomically_read: atomics.reads.near.is_recorded(),
            atomically_written: atomics.writes.near.is_recorded(),
        }
    }

    /// Records an access to a word that held `values[0]` before it and holds `values[1]` after it.
    /// Calls `report_race` with each earlier access that it races with, at most one per
    /// instruction.
    #[inline]
    pub(crate) fn record_access(
        &mut self,
        word_index: usize,
        access_kind: AccessKind,
        current_access: &CurrentAccess,
        values: [u128; 2],
        report_race: impl FnMut(EarlierAccess),
    ) {
        if self.record_raceless(word_index, access_kind, current_access) {
            return;
        }
        if self.cell_shift == 0 {
            self.record_in_cell(word_index, access_kind, current_access, values, report_race);
        } else {
            self.record_bytes(4 * word_index, 4, access_kind, current_access, values, report_race);
        }
    }

    /// Records a plain access to a word if barriers alone order its memory and it races with
    /// nothing; otherwise leaves all to [`Self::record_in_cell`], which knows every case.
    #[inline]
    fn record_raceless(
        &mut self,
        word_index: usize,
        access_kind: AccessKind,
        current_access: &CurrentAccess,
    ) -> bool {
        let by_words_and_barriers = self.cell_shift == 0
            && self.exact_order.is_none()
            && self.atomics.is_empty()
            && self.racing_cells.is_empty();
        if !by_words_and_barriers {
            return false;
        }
        let cell = &mut self.plain[word_index];
        if current_access.races(cell.write) {
            return false;
        }
        match access_kind {
            AccessKind::Read => cell.reads.record(current_access),
            AccessKind::Write => {
                if cell.reads.racing_stamp(current_access).is_some() {
                    return false;
                }
                cell.write = current_access.stamp;
            }
            AccessKind::AtomicRead | AccessKind::AtomicWrite => return false,
        }
        true
    }

    /// Records an access to some bytes. If it races with an instruction on several cells, only the
    /// first of them is reported.
    pub(crate) fn record_bytes(
        &mut self,
        first_byte: usize,
        byte_count: usize,
        access_kind: AccessKind,
        current_access: &CurrentAccess,
        values: [u128; 2],
        mut report_race: impl FnMut(EarlierAccess),
    ) {
        let shift = 2 - self.cell_shift;
        let mut reported: Vec<(u32, AccessKind)> = Vec::new();
        for cell in first_byte >> shift..(first_byte + byte_count).div_ceil(1 << shift) {
            self.record_in_cell(cell, access_kind, current_access, values, |earlier| {
                let key = (earlier.stamp.source_index(), earlier.access_kind);
                if !reported.contains(&key) {
                    reported.push(key);
                    report_race(earlier);
                }
            });
        }
    }

    fn record_in_cell(
        &mut self,
        cell_index: usize,
        access_kind: AccessKind,
        current_access: &CurrentAccess,
        values: [u128; 2],
        report_race: impl FnMut(EarlierAccess),
    ) {
        let mut earlier_accesses: Vec<EarlierAccess> = Vec::new();
        let mut add_earlier =
            |stamp: AccessStamp, access_kind: AccessKind, missing_order: MissingOrder| {
                let written_value = (access_kind == AccessKind::Write).then_some(values[0]);
                earlier_accesses.push(EarlierAccess {
                    stamp,
                    access_kind,
                    missing_order,
                    written_value,
                });
            };
        match &mut self.exact_order {
            Some((order, cells)) => {
                let query = AccessQuery {
                    access_kind,
                    invocation: current_access.stamp.lane(),
                    source_index: current_access.stamp.source_index(),
                };
                cells.cells[cell_index].record_access(
                    &query,
                    &order.borrow(),
                    cells.kinds,
                    &mut add_earlier,
                );
            }
            None => self.check_interval(
                cell_index,
                access_kind,
                current_access,
                |stamp, access_kind| add_earlier(stamp, access_kind, MissingOrder::Order),
            ),
        }
        if earlier_accesses.is_empty() && !self.racing_cells.has_cell(cell_index) {
            return;
        }
        self.report_races(
            cell_index,
            access_kind,
            current_access,
            (&earlier_accesses, values[1]),
            report_race,
        );
    }

    /// Reports the races of an access to a cell on which a race was found, now or before.
    #[cold]
    fn report_races(
        &mut self,
        cell_index: usize,
        access_kind: AccessKind,
        current_access: &CurrentAccess,
        (earlier_accesses, new_value): (&[EarlierAccess], u128),
        report_race: impl FnMut(EarlierAccess),
    ) {
        match &self.exact_order {
            None => {
                let missing_order = |earlier_stamp: AccessStamp, earlier_kind: AccessKind| {
                    current_access.missing_order((earlier_stamp, earlier_kind), access_kind)
                };
                self.racing_cells.record_access(
                    cell_index,
                    (current_access.stamp, access_kind, new_value),
                    earlier_accesses,
                    missing_order,
                    report_race,
                );
            }
            Some((order, cells)) => {
                let order = order.borrow();
                let query = AccessQuery {
                    access_kind,
                    invocation: current_access.stamp.lane(),
                    source_index: current_access.stamp.source_index(),
                };
                let stamp = order.access_stamp(query.invocation, query.source_index);
                let missing_order = |earlier_stamp: AccessStamp, earlier_kind: AccessKind| {
                    (
                        order.missing_order((earlier_stamp, earlier_kind), &query, cells.kinds),
                        StillRacing::Yes,
                    )
                };
                self.racing_cells.record_access(
                    cell_index,
                    (stamp, access_kind, new_value),
                    earlier_accesses,
                    missing_order,
                    report_race,
                );
            }
        }
    }

    #[inline]
    fn check_interval(
        &mut self,
        cell_index: usize,
        access_kind: AccessKind,
        current_access: &CurrentAccess,
        mut report_race: impl FnMut(AccessStamp, AccessKind),
    ) {
        match access_kind {
            AccessKind::Read => {
                let cell = &mut self.plain[cell_index];
                if current_access.races(cell.write) {
                    report_race(cell.write, AccessKind::Write);
                }
                cell.reads.record(current_access);
                if let Some(atomics) = self.atomics.get(cell_index)
                    && let Some(racing_stamp) = atomics.writes.racing_stamp(current_access)
                {
                    report_race(racing_stamp, AccessKind::AtomicWrite);
                }
            }
            AccessKind::Write => {
                let cell = &mut self.plain[cell_index];
                if current_access.races(cell.write) {
                    report_race(cell.write, AccessKind::Write);
                }
                if let Some(racing_stamp) = cell.reads.racing_stamp(current_access) {
                    report_race(racing_stamp, AccessKind::Read);
                }
                cell.write = current_access.stamp;
                if let Some(atomics) = self.atomics.get(cell_index) {
                    if let Some(racing_stamp) = atomics.writes.racing_stamp(current_access) {
                        report_race(racing_stamp, AccessKind::AtomicWrite);
                    }
                    if let Some(racing_stamp) = atomics.reads.racing_stamp(current_access) {
                        report_race(racing_stamp, AccessKind::AtomicRead);
                    }
                }
            }
            AccessKind::AtomicRead | AccessKind::AtomicWrite => {
                self.check_atomic(cell_index, access_kind, current_access, report_race)
            }
        }
    }

    fn check_atomic(
        &mut self,
        cell_index: usize,
        access_kind: AccessKind,
        current_access: &CurrentAccess,
        mut report_race: impl FnMut(AccessStamp, AccessKind),
    ) {
        let cell = &self.plain[cell_index];
        if current_access.races(cell.write) {
            report_race(cell.write, AccessKind::Write);
        }
        if access_kind == AccessKind::AtomicWrite
            && let Some(racing_stamp) = cell.reads.racing_stamp(current_access)
        {
            report_race(racing_stamp, AccessKind::Read);
        }
        if self.atomics.is_empty() {
            self.atomics = vec![AtomicAccesses::default(); self.plain.len()];
        }
        let atomics = &mut self.atomics[cell_index];
        match access_kind {
            AccessKind::AtomicRead => atomics.reads.record(current_access),
            AccessKind::AtomicWrite | AccessKind::Read | AccessKind::Write => {
                atomics.writes.record(current_access)
            }
        }
    }
}
