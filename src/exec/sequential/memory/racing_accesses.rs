//! Cells on which a race was found: the accesses that a later one may race with too.
//!
//! Knows: a shadow remembers what it needs to find whether an access races, not with whom all: a
//! writer that another one has overwritten is gone. Once a cell has a race, its accesses are kept
//! here, of each instruction and value those of two invocations, because no invocation races with
//! itself.
//! Promises: behind the first race on a cell no pair of instructions is missed, and none is said to
//! write the same that does not.
//! Does not cover: cells without a race, and those behind the first [`MOST_CELLS`] with one; more
//! than [`MOST_ACCESSES`] accesses of a cell, of which the oldest are forgotten.

use super::race_shadow::AccessStamp;
use super::vector_clocks::{MissingOrder, is_write};
use crate::ir::atomic::AccessKind;
use std::collections::HashMap;

/// Most cells that are kept, so that a kernel that races everywhere does not exhaust memory; its
/// pairs of instructions are found on these.
const MOST_CELLS: usize = 1 << 16;

/// Most accesses that are kept of a cell.
const MOST_ACCESSES: usize = 64;

/// Most accesses of one instruction and value that are kept of a cell.
const MOST_ALIKE: usize = 4;

/// An earlier access that races with the current one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EarlierAccess {
    pub stamp: AccessStamp,
    pub access_kind: AccessKind,
    pub missing_order: MissingOrder,
    /// The value that it wrote, where that is known.
    pub written_value: Option<u128>,
}

/// An access that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RecordedAccess {
    stamp: AccessStamp,
    access_kind: AccessKind,
    written_value: Option<u128>,
}

impl RecordedAccess {
    fn is_like(&self, other_access: &RecordedAccess) -> bool {
        (self.stamp.source_index(), self.access_kind, self.written_value)
            == (
                other_access.stamp.source_index(),
                other_access.access_kind,
                other_access.written_value,
            )
    }
}

/// By cell.
#[derive(Debug, Clone, Default)]
pub(crate) struct RacingCells(HashMap<usize, Vec<RecordedAccess>>);

impl RacingCells {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    pub(crate) fn has_cell(&self, cell_index: usize) -> bool {
        !self.0.is_empty() && self.0.contains_key(&cell_index)
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Records an access that leaves a value and reports its races: `shadow_races` and those with
    /// recorded accesses. `missing_with` gives what is missing between an earlier access and this
    /// one if one of them writes, and whether the earlier one can still race with anything.
    pub(crate) fn record_access(
        &mut self,
        cell_index: usize,
        (stamp, access_kind, written_value): (AccessStamp, AccessKind, u128),
        shadow_races: &[EarlierAccess],
        missing_with: impl Fn(AccessStamp, AccessKind) -> (Option<MissingOrder>, StillRacing),
        mut report_race: impl FnMut(EarlierAccess),
    ) {
        if self.0.len() >= MOST_CELLS && !self.0.contains_key(&cell_index) {
            return shadow_races.iter().copied().for_each(report_race);
        }
        let recorded = self.0.entry(cell_index).or_default();
        recorded.retain(|racer| missing_with(racer.stamp, racer.access_kind).1 == StillRacing::Yes);
        let conflicts = |earlier_kind: AccessKind| is_write(earlier_kind) || is_write(access_kind);
        let other_races =
            recorded.iter().filter(|racer| conflicts(racer.access_kind)).filter_map(|racer| {
                let missing_with = missing_with(racer.stamp, racer.access_kind).0?;
                Some(EarlierAccess {
                    stamp: racer.stamp,
                    access_kind: racer.access_kind,
                    missing_order: missing_with,
                    written_value: racer.written_value,
                })
            });
        // One race per instruction; one that wrote another value is preferred.
        let mut reported: Vec<EarlierAccess> = Vec::new();
        for racing_access in shadow_races.iter().copied().chain(other_races) {
            let is_same_instruction = |reported_access: &&mut EarlierAccess| {
                (
                    reported_access.stamp.source_index(),
                    reported_access.access_kind,
                    reported_access.missing_order,
                ) == (
                    racing_access.stamp.source_index(),
                    racing_access.access_kind,
                    racing_access.missing_order,
                )
            };
            match reported.iter_mut().find(is_same_instruction) {
                Some(reported_access)
                    if reported_access.written_value == Some(written_value)
                        && racing_access.written_value != Some(written_value) =>
                {
                    *reported_access = racing_access
                }
                Some(_) => {}
                None => reported.push(racing_access),
            }
        }
        reported.into_iter().for_each(&mut report_race);
        for racing_access in shadow_races {
            keep_access(
                recorded,
                RecordedAccess {
                    stamp: racing_access.stamp,
                    access_kind: racing_access.access_kind,
                    written_value: racing_access.written_value,
                },
            );
        }
        let written_value = (access_kind == AccessKind::Write).then_some(written_value);
        keep_access(recorded, RecordedAccess { stamp, access_kind, written_value });
    }
}

/// Whether an access can still race with a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StillRacing {
    Yes,
    No,
}

fn keep_access(recorded: &mut Vec<RecordedAccess>, new_access: RecordedAccess) {
    let is_simultaneous = |old_access: &&RecordedAccess| {
        old_access.is_like(&new_access) && old_access.stamp.time() == new_access.stamp.time()
    };
    let other_lanes = recorded
        .iter()
        .filter(is_simultaneous)
        .filter(|old_access| old_access.stamp.lane() != new_access.stamp.lane())
        .count();
    let is_repeated = recorded
        .iter()
        .filter(is_simultaneous)
        .any(|old_access| old_access.stamp.lane() == new_access.stamp.lane());
    if is_repeated || other_lanes >= 2 {
        return;
    }
    if recorded.iter().filter(|old_access| old_access.is_like(&new_access)).count() >= MOST_ALIKE
        && let Some(oldest) = recorded.iter().position(|old_access| old_access.is_like(&new_access))
    {
        recorded.remove(oldest);
    }
    if recorded.len() >= MOST_ACCESSES {
        recorded.remove(0);
    }
    recorded.push(new_access);
}
