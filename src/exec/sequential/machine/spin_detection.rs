//! Spin detection: invocations that wait for each other outside barriers, in a loop that reads until
//! another invocation has written.
//!
//! Knows: an invocation makes no progress while what it reads from common memory, and from where,
//! is the same each time round and it changes nothing there; or while it reads on and on, whatever
//! it changes. It then yields to the other invocations of its workgroup, and when none of these
//! makes progress either, its workgroup yields to others.
//! Promises: a run in which an invocation waits for a write that another one can still make does not
//! end by waiting. An invocation that never waits runs as it does without this. Order and result
//! depend on the program alone, and
//! where atomics or coherent memory are read on what is read alone: a module that also records
//! waits as long as one that does not.
//! Does not cover: workgroups that wait for each other by plain reads, neither atomic nor coherent:
//! they use up the step budget.

use super::spin_watch::TurnEnd;
use super::state::{Machine, working_bytes};
use super::step_budget::EarlyStop;
use super::tile::Tile;
use crate::ir::lane_mask::LaneMask;
use crate::ir::{AccessRoot, SpinWaits};
use crate::memory::store::Store;
use std::collections::VecDeque;
use vkcert_model::random::mix_bits;

/// Workgroups that may be yielded at the same time in any case, while others have not begun.
const SOME_YIELDED: usize = 256;

/// More of them may be, as long as what they keep takes no more than so many bytes.
const YIELDED_BYTES: u64 = 256 << 20;

/// A workgroup that has yielded to others.
pub(super) struct YieldedWorkgroup {
    workgroup_index: u64,
    tiles: Vec<Tile>,
    workgroup_memory: Store,
    lane_traces: Vec<u64>,
}

impl Machine<'_> {
    /// Whether reads and changes are watched.
    #[inline]
    fn watches_reads_of(&self, access_root: AccessRoot) -> bool {
        let is_watched = match self.program.spin_waits {
            SpinWaits::Never => false,
            SpinWaits::Plainly => self.scheduler.spin_watch.watches_reads,
            SpinWaits::Possibly => true,
        };
        is_watched && (access_root.is_buffer() || access_root == AccessRoot::Workgroup)
    }

    /// An instruction has read these words in these lanes, at the machine's addresses.
    pub(super) fn watch_read(
        &mut self,
        access_root: AccessRoot,
        lanes: &LaneMask,
        lane_words: &[u32],
        source_index: u32,
        component: u32,
    ) {
        if !self.watches_reads_of(access_root) {
            return;
        }
        let values_hash = lanes.lanes().fold(0, |values_hash, lane| {
            mix_bits(
                values_hash
                    ^ u64::from(self.memory.addresses[lane]) << 32
                    ^ u64::from(lane_words[lane])
                    ^ (lane as u64) << 48,
            )
        });
        self.scheduler.spin_watch.note_read(source_index << 5 | component & 31, values_hash);
    }

    /// The same for texels, given by lane.
    pub(super) fn watch_texels(
        &mut self,
        descriptor: u32,
        lane_texels: &[[u64; 4]],
        source_index: u32,
    ) {
        if !self.watches_reads_of(AccessRoot::Descriptor(descriptor)) {
            return;
        }
        let texel_hash = |lane: usize| {
            lane_texels[lane]
                .iter()
                .fold(lane as u64, |values_hash, word| mix_bits(values_hash ^ word))
        };
        let values_hash = self
            .registers
            .active_lanes
            .lanes()
            .fold(0, |values_hash, lane| mix_bits(values_hash ^ texel_hash(lane)));
        self.scheduler.spin_watch.note_read(source_index << 5, values_hash);
    }

    /// What common memory holds has changed.
    #[inline]
    pub(super) fn watch_change(&mut self, access_root: AccessRoot, memory_changed: bool) {
        if memory_changed && self.watches_reads_of(access_root) {
            self.scheduler.spin_watch.note_change();
        }
    }

    /// How many workgroups may wait at the same time.
    pub(super) fn most_yielded(&self) -> usize {
        let workgroup_bytes = working_bytes(self.program, self.registers.width as u32).max(1);
        (YIELDED_BYTES / workgroup_bytes).max(SOME_YIELDED as u64) as usize
    }

    /// Whether other workgroups can run while this one waits.
    pub(super) fn may_yield(&self) -> bool {
        let orders_exactly = self.monitor.order.is_some() || !self.monitor.track_races;
        let may_wait =
            self.program.spin_waits == SpinWaits::Possibly || self.scheduler.lets_waiters_first();
        self.scheduler.workgroup_count() > 1 && orders_exactly && may_wait
    }

    /// Lets the workgroup that runs yield; another one can begin with the tiles that are left.
    pub(super) fn yield_workgroup(&mut self, workgroup_tiles: &mut Vec<Tile>) -> YieldedWorkgroup {
        if let Some(order) = &self.monitor.order {
            order.borrow_mut().suspend_workgroup();
        }
        if let Some(pairs) = &mut self.monitor.pairs {
            pairs.yield_workgroup(self.monitor.clock.latest());
        }
        let fresh_memory = self.fresh_workgroup_memory();
        YieldedWorkgroup {
            workgroup_index: self.scheduler.workgroup_index,
            tiles: std::mem::replace(workgroup_tiles, self.new_tiles()),
            workgroup_memory: std::mem::replace(&mut self.memory.workgroup, fresh_memory),
            lane_traces: self.monitor.lane_traces.clone(),
        }
    }

    fn resume_workgroup(
        &mut self,
        yielded_workgroup: YieldedWorkgroup,
        workgroup_tiles: &mut Vec<Tile>,
    ) {
        self.select_workgroup(yielded_workgroup.workgroup_index);
        let start_time = self.begin_workgroup();
        if let Some(order) = &self.monitor.order {
            order.borrow_mut().resume_workgroup(yielded_workgroup.workgroup_index, start_time);
        }
        (self.memory.workgroup, self.monitor.lane_traces, *workgroup_tiles) = (
            yielded_workgroup.workgroup_memory,
            yielded_workgroup.lane_traces,
            yielded_workgroup.tiles,
        );
    }

    /// Gives each yielded workgroup a turn, until no more than `left_waiting` are left. If none of
    /// them can make progress, the step budget ends the run.
    pub(super) fn run_yielded(
        &mut self,
        yielded_workgroups: &mut VecDeque<YieldedWorkgroup>,
        workgroup_tiles: &mut Vec<Tile>,
        left_waiting: usize,
        on_completed: &mut impl FnMut([u32; 3]),
    ) -> Result<(), EarlyStop> {
        while yielded_workgroups.len() > left_waiting {
            let Some(yielded_workgroup) = yielded_workgroups.pop_front() else { break };
            let progress_before = self.scheduler.progress();
            self.resume_workgroup(yielded_workgroup, workgroup_tiles);
            match self.run_to_barriers(workgroup_tiles)? {
                TurnEnd::Ended => on_completed(self.scheduler.workgroup_id),
                TurnEnd::Yielded => {
                    yielded_workgroups.push_back(self.yield_workgroup(workgroup_tiles))
                }
            }
            self.scheduler.end_turn(progress_before, yielded_workgroups.len());
        }
        Ok(())
    }
}
