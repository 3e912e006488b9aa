//! The order in which a schedule runs workgroups and tiles.
//!
//! Knows: a tile runs all of its invocations to the next barrier, so tiles of one invocation from
//! last to first are the invocations from last to first between barriers. The order of the tiles is
//! the same in every workgroup and behind every barrier. Times of the race shadow ascend as
//! workgroups run, whatever their indices.
//! Promises: every workgroup and every tile runs as often as ever; a schedule whose tiles would
//! part a subgroup is told.
//! Does not cover: tiles that take turns between barriers.

use vkcert_model::schedule::{Order, Schedule};

/// The orders of a dispatch.
#[derive(Debug)]
pub(super) struct WorkgroupOrder {
    /// By place in the order; none: each in its own place.
    workgroups: Option<Vec<u32>>,
    /// By place in the order.
    tiles: Vec<u32>,
}

impl WorkgroupOrder {
    /// The number of workgroups is within the limit of schedules where their order is not the
    /// ordinary one.
    pub(super) fn new(schedule: Schedule, workgroup_counts: [u32; 3], tile_count: usize) -> Self {
        let tile_order = schedule.tiles.map_or(Order::InOrder, |tile_schedule| tile_schedule.order);
        let is_permuted = schedule.workgroups != Order::InOrder;
        let workgroups =
            is_permuted.then(|| schedule.workgroups.permutation(workgroup_counts.iter().product()));
        Self { workgroups, tiles: tile_order.permutation(tile_count as u32) }
    }

    /// Linear index of the workgroup that is started as this one.
    pub(super) fn workgroup_at(&self, order_index: u64) -> u64 {
        self.workgroups.as_ref().map_or(order_index, |workgroup_indices| {
            u64::from(workgroup_indices[order_index as usize])
        })
    }

    /// Tiles of a workgroup.
    pub(super) fn tiles(&self) -> usize {
        self.tiles.len()
    }

    /// The tile that is started as this one.
    pub(super) fn tile_at(&self, order_index: usize) -> usize {
        self.tiles[order_index] as usize
    }
}
