//! A tile between two runs: its lanes are runnable, wait at barriers, have yielded or hold; and their
//! registers.

use super::held_lanes::TileHolds;
use super::spin_watch::YieldHistory;
use crate::ir::lane_mask::LaneMask;

/// Lanes that stand at the start of a block.
#[derive(Debug, Clone)]
pub(super) struct FrontierEntry {
    pub(super) block_index: u32,
    pub(super) mask: LaneMask,
}

/// Lanes that wait at a barrier.
#[derive(Debug, Clone)]
pub(super) struct BarrierWait {
    pub(super) barrier_index: u32,
    pub(super) next_block: u32,
    pub(super) mask: LaneMask,
}

/// The state of a tile between two runs.
#[derive(Debug, Clone)]
pub(super) struct Tile {
    /// Local index of the first lane.
    pub(super) first_lane: u32,
    pub(super) all_lanes: LaneMask,
    pub(super) words: Vec<Box<[u32]>>,
    pub(super) masks: Vec<u64>,
    pub(super) undefined_words: Vec<u64>,
    pub(super) undefined_masks: Vec<u64>,
    pub(super) private_words: Vec<u32>,
    pub(super) private_undefined: Vec<u64>,
    /// Descending by block, so that the lowest is last.
    pub(super) frontier: Vec<FrontierEntry>,
    pub(super) waiting: Vec<BarrierWait>,
    /// Lanes that spin and have yielded to others.
    pub(super) yielded: Vec<FrontierEntry>,
    /// Lanes that hold before a change so that others run first.
    pub(super) tile_holds: TileHolds,
    pub(super) yield_history: YieldHistory,
    /// By lane: the instruction at which it ended.
    pub(super) end_places: Vec<u32>,
}

impl Tile {
    /// Whether no lane has yielded or holds.
    pub(super) fn is_free(&self) -> bool {
        self.yielded.is_empty() && self.tile_holds.is_empty()
    }

    /// Makes the lanes that have yielded runnable again.
    pub(super) fn resume_yielded(&mut self) {
        for FrontierEntry { block_index: block, mask: yielded_lanes } in
            std::mem::take(&mut self.yielded)
        {
            insert_entry(&mut self.frontier, block, &yielded_lanes);
        }
    }
}

/// Adds lanes to the frontier, which is kept in descending order of blocks.
pub(super) fn insert_entry(
    frontier: &mut Vec<FrontierEntry>,
    block_index: u32,
    entry_lanes: &LaneMask,
) {
    let position = frontier.partition_point(|entry| entry.block_index > block_index);
    match frontier.get_mut(position) {
        Some(entry) if entry.block_index == block_index => entry.mask.merge(entry_lanes),
        _ => frontier.insert(position, FrontierEntry { block_index, mask: *entry_lanes }),
    }
}
