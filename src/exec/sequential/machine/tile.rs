//! A tile between two runs: where its lanes stand, wait, rest or hold, and their registers.

use super::held_lanes::Holding;
use super::spin_watch::Before;
use crate::ir::lane_mask::LaneMask;

/// Lanes that stand at the start of a block.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) block: u32,
    pub(super) mask: LaneMask,
}

/// Lanes that wait at a barrier.
#[derive(Debug, Clone)]
pub(super) struct Waiting {
    pub(super) barrier: u32,
    pub(super) to: u32,
    pub(super) mask: LaneMask,
}

/// The state of a tile between two runs.
#[derive(Debug, Clone)]
pub(super) struct Tile {
    /// Local index of the first lane.
    pub(super) first: u32,
    pub(super) all: LaneMask,
    pub(super) words: Vec<Box<[u32]>>,
    pub(super) masks: Vec<u64>,
    pub(super) undefined_words: Vec<u64>,
    pub(super) undefined_masks: Vec<u64>,
    pub(super) memory: Vec<u32>,
    pub(super) memory_undefined: Vec<u64>,
    /// Descending by block, so that the lowest is last.
    pub(super) frontier: Vec<Entry>,
    pub(super) waiting: Vec<Waiting>,
    /// Lanes that read until others have written, and let these go on first.
    pub(super) resting: Vec<Entry>,
    /// Lanes that let others go on first, before a change.
    pub(super) holding: Holding,
    pub(super) before: Before,
    /// By lane: the instruction at which it ended.
    pub(super) ended: Vec<u32>,
}

impl Tile {
    /// Whether no lane rests or holds.
    pub(super) fn is_free(&self) -> bool {
        self.resting.is_empty() && self.holding.is_empty()
    }

    /// Lets the lanes that rest go on.
    pub(super) fn wake(&mut self) {
        for Entry { block, mask } in std::mem::take(&mut self.resting) {
            insert(&mut self.frontier, block, &mask);
        }
    }
}

/// Adds lanes to the frontier, which is kept in descending order of blocks.
pub(super) fn insert(frontier: &mut Vec<Entry>, block: u32, mask: &LaneMask) {
    let position = frontier.partition_point(|entry| entry.block > block);
    match frontier.get_mut(position) {
        Some(entry) if entry.block == block => entry.mask.merge(mask),
        _ => frontier.insert(position, Entry { block, mask: *mask }),
    }
}
