//! How the orders of a test are made: by rewritten modules on a device, by the engine itself where
//! it can.
//!
//! Knows: the job that production ran, which of its dispatches have more than one order on an
//! engine.
//! Does not cover: comparing what the orders leave.

use super::super::test_run::TestEngine;
use crate::CampaignError;
use vkcert_exec::schedule::{Dispatches, Following, PermutableJob, workgroup_counts};
use vkcert_exec::{ExecError, Executor, Job, RunOutcome};
use vkcert_model::schedule::{Extent, Schedule, Schedules};

/// A job that can be run in other orders.
pub(super) enum ScheduleMeans {
    /// Its modules ask a buffer for their workgroup.
    Rewritten(PermutableJob),
    /// The engine puts workgroups and tiles in order.
    ByEngine { job: Job, extents: Vec<Extent> },
}

/// Why there are none.
pub(super) enum NoMeans {
    NothingToPermute(String),
    Undetermined(String),
    Failed(CampaignError),
}

impl ScheduleMeans {
    pub(super) fn of_job(job: &Job, executor: &mut dyn Executor) -> Result<Self, NoMeans> {
        let group_counts = workgroup_counts(job).map_err(NoMeans::Undetermined)?;
        let failed = |error: ExecError| NoMeans::Failed(CampaignError::tool(error.to_string()));
        if let Some(extents) = executor.extents(job).map_err(failed)? {
            debug_assert_eq!(group_counts.len(), extents.len());
            let means = ScheduleMeans::ByEngine { job: job.clone(), extents };
            let reason = "no dispatch has more than one workgroup or tile to put in another order";
            return match means.schedules_to_run(Schedules { count: 1, seed: 0 }).is_empty() {
                true => Err(NoMeans::NothingToPermute(reason.to_owned())),
                false => Ok(means),
            };
        }
        match PermutableJob::of_production(job).map_err(NoMeans::Undetermined)? {
            Some(permutable) => Ok(ScheduleMeans::Rewritten(permutable)),
            None => {
                let reason = "every dispatch has one workgroup, or no kernel asks which it is";
                Err(NoMeans::NothingToPermute(reason.to_owned()))
            }
        }
    }

    pub(super) fn job(&self) -> &Job {
        match self {
            ScheduleMeans::Rewritten(permutable) => permutable.job(),
            ScheduleMeans::ByEngine { job, extents: _ } => job,
        }
    }

    /// The dispatches that have more than one order.
    pub(super) fn permuted_dispatches(&self) -> Vec<usize> {
        match self {
            ScheduleMeans::Rewritten(permutable) => {
                let several = permutable.orders().iter().filter(|order| order.workgroups > 1);
                several.map(|order| order.dispatch).collect()
            }
            ScheduleMeans::ByEngine { job: _, extents } => {
                let several = |extent: &Extent| extent.workgroups > 1 || extent.invocations > 1;
                extents
                    .iter()
                    .enumerate()
                    .filter(|(_, extent)| several(extent))
                    .map(|(index, _)| index)
                    .collect()
            }
        }
    }

    pub(super) fn schedules_to_run(&self, schedules_asked: Schedules) -> Vec<Schedule> {
        match self {
            ScheduleMeans::Rewritten(permutable) => {
                let workgroups: Vec<u32> =
                    permutable.orders().iter().map(|order| order.workgroups).collect();
                schedules_asked
                    .workgroup_orders(&workgroups)
                    .into_iter()
                    .map(Schedule::from)
                    .collect()
            }
            ScheduleMeans::ByEngine { job: _, extents } => schedules_asked.list_with_tiles(extents),
        }
    }

    /// Runs the job with some dispatches in a schedule, the others in the ordinary one.
    pub(super) fn execute_schedule(
        &self,
        test_engine: &mut TestEngine<'_>,
        schedule: Schedule,
        which: Dispatches,
    ) -> Result<RunOutcome, CampaignError> {
        match self {
            ScheduleMeans::Rewritten(permutable) => {
                test_engine.execute(&permutable.in_order(schedule.workgroups, which), None)
            }
            ScheduleMeans::ByEngine { job, extents: _ } => {
                test_engine.execute(job, Some(Following { schedule, dispatches: which }))
            }
        }
    }
}
