//! Which workgroup runs, in which order, and how long.

use super::held_lanes::{DirectedYield, PATIENT_ROUNDS, YieldStage};
use super::spin_watch::SpinWatch;
use super::step_budget::{Deadline, StepBudget};
use super::workgroup_order::WorkgroupOrder;

/// Where a dispatch stands.
pub(crate) struct Scheduler<'a> {
    pub workgroup_counts: [u32; 3],
    pub(super) workgroup_id: [u32; 3],
    pub(super) workgroup_index: u64,
    pub(super) workgroup_order: WorkgroupOrder,
    pub steps_left: u64,
    /// Steps that several machines share; none for a machine that runs all workgroups.
    pub(super) step_budget: Option<&'a StepBudget>,
    pub(super) deadline: Deadline,
    pub(super) spin_watch: SpinWatch,
    /// Where lanes hold so that waiting ones run first.
    pub(crate) directed_yield: Option<DirectedYield>,
}

impl Scheduler<'_> {
    pub(super) fn workgroup_count(&self) -> u64 {
        self.workgroup_counts
            .iter()
            .fold(1, |group_product: u64, count| group_product.saturating_mul(u64::from(*count)))
    }

    pub(super) fn group_at(&self, workgroup_index: u64) -> [u32; 3] {
        let [columns, rows, _] = self.workgroup_counts.map(u64::from);
        [
            workgroup_index % columns,
            workgroup_index / columns % rows,
            workgroup_index / (columns * rows),
        ]
        .map(|group_coordinate| group_coordinate as u32)
    }

    /// Whether lanes hold before changes.
    pub(super) fn lets_waiters_first(&self) -> bool {
        self.directed_yield.as_ref().is_some_and(|yielding| yielding.stage == YieldStage::Holding)
    }

    /// Progress so far, as a number that only grows.
    pub(super) fn progress(&self) -> u64 {
        self.spin_watch.changes
            + self.directed_yield.as_ref().map_or(0, |yielding| yielding.released)
    }

    /// Ends the turn of a workgroup while so many others wait. When none of them makes progress any
    /// more, a flag may change.
    pub(super) fn end_turn(&mut self, progress_before: u64, waiting_count: usize) {
        let progress = self.progress();
        let Some(yielding) = &mut self.directed_yield else { return };
        yielding.turns += 1;
        yielding.quiet_turns =
            if progress == progress_before { yielding.quiet_turns + 1 } else { 0 };
        if yielding.quiet_turns > waiting_count
            || yielding.turns > PATIENT_ROUNDS * (waiting_count + 1)
        {
            (yielding.quiet_turns, yielding.turns) = (0, 0);
            yielding.flags_may_change = true;
        }
    }

    /// Leases steps from the shared budget; whether there are now at least `step_cost`.
    #[cold]
    pub(super) fn lease_steps(&mut self, step_cost: u64) -> bool {
        let Some(allowance) = self.step_budget else { return false };
        self.steps_left += allowance.lease_steps(step_cost);
        self.steps_left >= step_cost
    }
}
