//! Cells on which a race was found: who else may race with what comes later.
//!
//! Knows: a shadow remembers what it needs to find whether an access races, not with whom all: a
//! writer that another one has overwritten is gone. Once a cell has a race, its accesses are kept
//! here, of each instruction and value those of two invocations, since nobody races with itself.
//! Promises: behind the first race on a cell no pair of instructions is missed, and none is said to
//! write the same that does not.
//! Does not cover: cells without a race, and those behind the first [`MOST_CELLS`] with one; more
//! than [`MOST`] accesses of a cell, of which the oldest are forgotten.

use super::race_shadow::Stamp;
use super::vector_clocks::{Missing, writes};
use crate::ir::atomic::AccessKind;
use std::collections::HashMap;

/// Cells that are kept, so that a kernel that races everywhere does not take all memory; its pairs
/// of instructions are seen on these.
const MOST_CELLS: usize = 1 << 16;

/// Accesses that are kept of a cell.
const MOST: usize = 64;

/// Invocations that are kept of one instruction and value, in all that may still race.
const ALIKE: usize = 4;

/// An earlier access with which one races.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Earlier {
    pub stamp: Stamp,
    pub touch: AccessKind,
    pub missing: Missing,
    /// What a write left there, where that is known.
    pub left: Option<u128>,
}

/// An access that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Racer {
    stamp: Stamp,
    touch: AccessKind,
    left: Option<u128>,
}

impl Racer {
    fn is_like(&self, other: &Racer) -> bool {
        (self.stamp.place(), self.touch, self.left)
            == (other.stamp.place(), other.touch, other.left)
    }
}

/// By cell.
#[derive(Debug, Clone, Default)]
pub(crate) struct Racers(HashMap<usize, Vec<Racer>>);

impl Racers {
    #[inline]
    pub(crate) fn have(&self, cell: usize) -> bool {
        !self.0.is_empty() && self.0.contains_key(&cell)
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// An access that leaves a value, with the races that the shadow has found. `missing` says what
    /// is missing between an earlier access and this one if one of them writes, and whether the
    /// earlier one can still race with anything.
    pub(crate) fn meet(
        &mut self,
        cell: usize,
        (stamp, touch, left): (Stamp, AccessKind, u128),
        found: &[Earlier],
        missing: impl Fn(Stamp, AccessKind) -> (Option<Missing>, Lasting),
        mut race: impl FnMut(Earlier),
    ) {
        if self.0.len() >= MOST_CELLS && !self.0.contains_key(&cell) {
            return found.iter().copied().for_each(race);
        }
        let kept = self.0.entry(cell).or_default();
        kept.retain(|racer| missing(racer.stamp, racer.touch).1 == Lasting::Yes);
        let clashes = |kind: AccessKind| writes(kind) || writes(touch);
        let older = kept.iter().filter(|racer| clashes(racer.touch)).filter_map(|racer| {
            let missing = missing(racer.stamp, racer.touch).0?;
            Some(Earlier { stamp: racer.stamp, touch: racer.touch, missing, left: racer.left })
        });
        // One of each instruction: if any has left something else, that one.
        let mut told: Vec<Earlier> = Vec::new();
        for one in found.iter().copied().chain(older) {
            let same = |other: &&mut Earlier| {
                (other.stamp.place(), other.touch, other.missing)
                    == (one.stamp.place(), one.touch, one.missing)
            };
            match told.iter_mut().find(same) {
                Some(other) if other.left == Some(left) && one.left != Some(left) => *other = one,
                Some(_) => {}
                None => told.push(one),
            }
        }
        told.into_iter().for_each(&mut race);
        for one in found {
            keep(kept, Racer { stamp: one.stamp, touch: one.touch, left: one.left });
        }
        let left = (touch == AccessKind::Write).then_some(left);
        keep(kept, Racer { stamp, touch, left });
    }
}

/// Whether an access can still race with a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lasting {
    Yes,
    No,
}

fn keep(kept: &mut Vec<Racer>, new: Racer) {
    let now = |old: &&Racer| old.is_like(&new) && old.stamp.time() == new.stamp.time();
    let lanes = kept.iter().filter(now).filter(|old| old.stamp.lane() != new.stamp.lane()).count();
    let again = kept.iter().filter(now).any(|old| old.stamp.lane() == new.stamp.lane());
    if again || lanes >= 2 {
        return;
    }
    if kept.iter().filter(|old| old.is_like(&new)).count() >= ALIKE
        && let Some(oldest) = kept.iter().position(|old| old.is_like(&new))
    {
        kept.remove(oldest);
    }
    if kept.len() >= MOST {
        kept.remove(0);
    }
    kept.push(new);
}
