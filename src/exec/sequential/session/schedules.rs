//! Schedules of a job: the settings of each dispatch, and how large dispatches are.

use super::early::EarlyEnd;
use super::job_run::JobSession;
use super::program_cache::ProgramCache;
use crate::ir::SubgroupUse;
use crate::settings::Settings;
use vkcert_exec::schedule::{Following, workgroup_counts};
use vkcert_exec::{Completion, ExecError, Job, JobDispatch};
use vkcert_model::id::ModuleKey;
use vkcert_model::schedule::{Extent, MOST_WORKGROUPS, Order};
use vkcert_model::verdict::EngineName;

impl Settings {
    /// The settings of a dispatch, given with its index, in its schedule.
    pub(super) fn in_schedule(
        self,
        dispatch_index: usize,
        dispatch: &JobDispatch,
    ) -> Result<Self, EarlyEnd> {
        let schedule = self.following.schedule_of(dispatch_index);
        let workgroup_count = dispatch.groups.map(u64::from).iter().product::<u64>();
        if schedule.workgroups != Order::InOrder && workgroup_count > MOST_WORKGROUPS {
            let reason = format!(
                "schedule `{schedule}`: dispatch {dispatch_index} has {workgroup_count} workgroups; schedules are made for at most \
                 {MOST_WORKGROUPS}"
            );
            return Err(EarlyEnd::Completion(Completion::Undetermined { reason }));
        }
        let tile_width = schedule.tiles.map_or(self.tile_width, |tiles| tiles.width);
        Ok(Self { tile_width, following: Following::from(schedule), ..self })
    }

    /// A remark where the tiles of a schedule are wider than it `wanted`.
    pub(super) fn widening_note(
        &self,
        wanted_width: u32,
        module_key: &ModuleKey,
    ) -> Option<String> {
        (self.following.schedule.tiles.is_some() && self.tile_width != wanted_width).then(|| {
            let tile_width = self.tile_width;
            format!("the subgroups of kernel `{module_key}` stay whole: schedules with tiles of {wanted_width} run it in tiles of {tile_width}")
        })
    }
}

/// How large the dispatches of a job are.
pub(super) fn dispatch_extents(
    job: &Job,
    settings: Settings,
    programs: &ProgramCache,
) -> Result<Vec<Extent>, ExecError> {
    let engine_error =
        |message: String| ExecError::Engine { engine: EngineName::Sequential, message };
    let group_counts = workgroup_counts(job).map_err(engine_error)?;
    let early_error = |early_end: EarlyEnd| match early_end {
        EarlyEnd::Completion(completion) => {
            engine_error(format!("a job that was run cannot be run: {completion}"))
        }
        EarlyEnd::Failure(error) => error,
    };
    let session = JobSession::new(job, settings, programs).map_err(early_error)?;
    let extent_of = |(dispatch, workgroup_count): (&JobDispatch, u32)| {
        session.dispatch_extent(dispatch, workgroup_count).map_err(early_error)
    };
    job.dispatches.iter().zip(group_counts).map(extent_of).collect()
}

impl JobSession<'_> {
    fn dispatch_extent(
        &self,
        dispatch: &JobDispatch,
        workgroup_count: u32,
    ) -> Result<Extent, EarlyEnd> {
        let settings = self.settings_of(dispatch)?;
        let decoded_program = self.decoded_initially(dispatch)?;
        let lanes_together = match decoded_program.program.subgroups {
            SubgroupUse::None => 1,
            SubgroupUse::Operations | SubgroupUse::Barriers => settings.subgroup_size,
        };
        let invocation_count = decoded_program.program.local_size.iter().product();
        Ok(Extent {
            workgroups: workgroup_count,
            invocations: invocation_count,
            together: lanes_together,
            ordinary_width: settings.tile_width,
        })
    }
}
