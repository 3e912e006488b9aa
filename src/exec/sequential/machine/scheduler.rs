//! Which workgroup runs, in which order, and how long.

use super::held_lanes::{PATIENT_ROUNDS, Stage, Yielding};
use super::spin_watch::Watch;
use super::step_budget::{Allowance, Deadline};
use super::workgroup_order::Lineup;

/// Where a dispatch stands.
pub(crate) struct Scheduler<'a> {
    pub groups: [u32; 3],
    pub(super) workgroup: [u32; 3],
    pub(super) workgroup_index: u64,
    pub(super) lineup: Lineup,
    pub steps_left: u64,
    /// Steps that several machines share; none for a machine that runs all workgroups.
    pub(super) allowance: Option<&'a Allowance>,
    pub(super) deadline: Deadline,
    pub(super) watch: Watch,
    /// Where who waits goes first.
    pub(crate) yielding: Option<Yielding>,
}

impl Scheduler<'_> {
    pub(super) fn workgroups(&self) -> u64 {
        self.groups.iter().fold(1, |product: u64, count| product.saturating_mul(u64::from(*count)))
    }

    pub(super) fn group_at(&self, index: u64) -> [u32; 3] {
        let [columns, rows, _] = self.groups.map(u64::from);
        [index % columns, index / columns % rows, index / (columns * rows)].map(|at| at as u32)
    }

    /// Whether lanes hold before changes.
    pub(super) fn lets_waiters_first(&self) -> bool {
        self.yielding.as_ref().is_some_and(|yielding| yielding.stage == Stage::Holding)
    }

    /// What has been done so far, as a number that only grows.
    pub(super) fn progress(&self) -> u64 {
        self.watch.changes + self.yielding.as_ref().map_or(0, |yielding| yielding.released)
    }

    /// A workgroup has had its turn, of so many that wait: when none of them does anything any
    /// more, a flag may change.
    pub(super) fn turn_ends(&mut self, before: u64, waiting: usize) {
        let progress = self.progress();
        let Some(yielding) = &mut self.yielding else { return };
        yielding.turns += 1;
        yielding.quiet_turns = if progress == before { yielding.quiet_turns + 1 } else { 0 };
        if yielding.quiet_turns > waiting || yielding.turns > PATIENT_ROUNDS * (waiting + 1) {
            (yielding.quiet_turns, yielding.turns) = (0, 0);
            yielding.flags_may_change = true;
        }
    }

    /// Asks for more steps; whether there are now as many as `cost`.
    #[cold]
    pub(super) fn takes_more(&mut self, cost: u64) -> bool {
        let Some(allowance) = self.allowance else { return false };
        self.steps_left += allowance.take(cost);
        self.steps_left >= cost
    }
}
