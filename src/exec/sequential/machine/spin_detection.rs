//! Invocations that wait for each other outside barriers: a loop that reads until somebody has
//! written.
//!
//! Knows: an invocation makes no progress while what it reads from common memory, and from where,
//! is the same each time round and it changes nothing there; or while it reads on and on, whatever
//! it changes. Then others go on: the other invocations of its workgroup, and when nobody of these
//! gets further either, other workgroups.
//! Promises: a run in which somebody waits for a write that somebody else can still make does not
//! end by waiting. Who never waits runs as ever. Order and result depend on the program alone, and
//! where atomics or coherent memory are read on what is read alone: a module that also records
//! waits as long as one that does not.
//! Does not cover: workgroups that wait for each other by plain reads, neither atomic nor coherent:
//! their steps run out.

use super::spin_watch::Pace;
use super::state::{Machine, working_bytes};
use super::step_budget::Stop;
use super::tile::Tile;
use crate::ir::lane_mask::LaneMask;
use crate::ir::{AccessRoot, SpinWaits};
use crate::memory::store::Store;
use std::collections::VecDeque;
use vkcert_model::random::mix_bits;

/// Workgroups that may wait at the same time in any case, while there are others that have not
/// begun.
const SOME_RESTING: usize = 256;

/// More of them may, as long as what they keep takes no more than so many bytes.
const RESTING_BYTES: u64 = 256 << 20;

/// A workgroup that waits.
pub(super) struct Resting {
    index: u64,
    tiles: Vec<Tile>,
    memory: Store,
    paths: Vec<u64>,
}

impl Machine<'_> {
    /// Whether reads and changes are watched.
    #[inline]
    fn watches(&self, root: AccessRoot) -> bool {
        let watched = match self.program.waits {
            SpinWaits::Never => false,
            SpinWaits::Plainly => self.scheduler.watch.awake,
            SpinWaits::Possibly => true,
        };
        watched && (root.is_buffer() || root == AccessRoot::Workgroup)
    }

    /// An instruction has read these words in these lanes, at the machine's addresses.
    pub(super) fn watch_read(
        &mut self,
        root: AccessRoot,
        lanes: &LaneMask,
        words: &[u32],
        place: u32,
        component: u32,
    ) {
        if !self.watches(root) {
            return;
        }
        let hash = lanes.lanes().fold(0, |hash, lane| {
            mix_bits(
                hash ^ u64::from(self.memory.addresses[lane]) << 32
                    ^ u64::from(words[lane])
                    ^ (lane as u64) << 48,
            )
        });
        self.scheduler.watch.read(place << 5 | component & 31, hash);
    }

    /// The same for texels, given by lane.
    pub(super) fn watch_texels(&mut self, descriptor: u32, texels: &[[u64; 4]], place: u32) {
        if !self.watches(AccessRoot::Descriptor(descriptor)) {
            return;
        }
        let words =
            |lane: usize| texels[lane].iter().fold(lane as u64, |hash, word| mix_bits(hash ^ word));
        let hash = self.registers.active.lanes().fold(0, |hash, lane| mix_bits(hash ^ words(lane)));
        self.scheduler.watch.read(place << 5, hash);
    }

    /// What common memory holds has changed.
    #[inline]
    pub(super) fn watch_change(&mut self, root: AccessRoot, changed: bool) {
        if changed && self.watches(root) {
            self.scheduler.watch.change();
        }
    }

    /// How many workgroups may wait at the same time.
    pub(super) fn most_resting(&self) -> usize {
        let each = working_bytes(self.program, self.registers.width as u32).max(1);
        (RESTING_BYTES / each).max(SOME_RESTING as u64) as usize
    }

    /// Whether other workgroups can run while this one waits.
    pub(super) fn may_rest(&self) -> bool {
        let exact = self.monitor.order.is_some() || !self.monitor.track_races;
        let waits =
            self.program.waits == SpinWaits::Possibly || self.scheduler.lets_waiters_first();
        self.scheduler.workgroups() > 1 && exact && waits
    }

    /// Puts the workgroup that runs aside; another one can begin with the tiles that are left.
    pub(super) fn lay_aside(&mut self, tiles: &mut Vec<Tile>) -> Resting {
        if let Some(order) = &self.monitor.order {
            order.borrow_mut().suspend_workgroup();
        }
        let memory = self.fresh_workgroup_memory();
        Resting {
            index: self.scheduler.workgroup_index,
            tiles: std::mem::replace(tiles, self.tiles()),
            memory: std::mem::replace(&mut self.memory.workgroup, memory),
            paths: self.monitor.paths.clone(),
        }
    }

    fn take_up(&mut self, resting: Resting, tiles: &mut Vec<Tile>) {
        self.choose(resting.index);
        let time = self.begins();
        if let Some(order) = &self.monitor.order {
            order.borrow_mut().resume_workgroup(resting.index, time);
        }
        (self.memory.workgroup, self.monitor.paths, *tiles) =
            (resting.memory, resting.paths, resting.tiles);
    }

    /// Gives workgroups that wait a turn each, until as few as `few` are left. Without an end, if
    /// none can go on: steps do end.
    pub(super) fn turns(
        &mut self,
        resting: &mut VecDeque<Resting>,
        tiles: &mut Vec<Tile>,
        few: usize,
        completed: &mut impl FnMut([u32; 3]),
    ) -> Result<(), Stop> {
        while resting.len() > few {
            let Some(one) = resting.pop_front() else { break };
            let before = self.scheduler.progress();
            self.take_up(one, tiles);
            match self.go_on(tiles)? {
                Pace::Ended => completed(self.scheduler.workgroup),
                Pace::Rests => resting.push_back(self.lay_aside(tiles)),
            }
            self.scheduler.turn_ends(before, resting.len());
        }
        Ok(())
    }
}
