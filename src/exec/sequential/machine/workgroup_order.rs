//! Schedules on the machine: which workgroup and which tile comes next.
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
pub(super) struct Lineup {
    /// By place in the order; none: each in its own place.
    workgroups: Option<Vec<u32>>,
    /// By place in the order.
    tiles: Vec<u32>,
}

impl Lineup {
    /// The number of workgroups is within the limit of schedules where their order is not the
    /// ordinary one.
    pub(super) fn new(schedule: Schedule, groups: [u32; 3], tiles: usize) -> Self {
        let order = schedule.tiles.map_or(Order::InOrder, |tiles| tiles.order);
        let permuted = schedule.workgroups != Order::InOrder;
        let workgroups = permuted.then(|| schedule.workgroups.permutation(groups.iter().product()));
        Self { workgroups, tiles: order.permutation(tiles as u32) }
    }

    /// Linear index of the workgroup that is started as this one.
    pub(super) fn workgroup(&self, started: u64) -> u64 {
        self.workgroups.as_ref().map_or(started, |order| u64::from(order[started as usize]))
    }

    /// Tiles of a workgroup.
    pub(super) fn tiles(&self) -> usize {
        self.tiles.len()
    }

    /// The tile that is started as this one.
    pub(super) fn tile(&self, started: usize) -> usize {
        self.tiles[started] as usize
    }
}
