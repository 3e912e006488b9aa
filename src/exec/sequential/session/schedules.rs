//! Schedules of a job: the settings of each dispatch, and how large dispatches are.

use super::early::Early;
use super::job_run::Session;
use super::program_cache::Programs;
use crate::ir::SubgroupUse;
use crate::settings::Settings;
use vkcert_exec::schedule::{Following, workgroup_counts};
use vkcert_exec::{Completion, ExecError, Job, JobDispatch};
use vkcert_model::id::ModuleKey;
use vkcert_model::schedule::{Extent, MOST_WORKGROUPS, Order};
use vkcert_model::verdict::EngineName;

impl Settings {
    /// The settings of a dispatch, given with its index, in its schedule.
    pub(super) fn in_schedule(self, index: usize, dispatch: &JobDispatch) -> Result<Self, Early> {
        let schedule = self.following.of(index);
        let workgroups = dispatch.groups.map(u64::from).iter().product::<u64>();
        if schedule.workgroups != Order::InOrder && workgroups > MOST_WORKGROUPS {
            let reason = format!(
                "schedule `{schedule}`: dispatch {index} has {workgroups} workgroups; schedules are made for at most \
                 {MOST_WORKGROUPS}"
            );
            return Err(Early::Completion(Completion::Undetermined { reason }));
        }
        let tile_width = schedule.tiles.map_or(self.tile_width, |tiles| tiles.width);
        Ok(Self { tile_width, following: Following::from(schedule), ..self })
    }

    /// A remark where the tiles of a schedule are wider than it `wanted`.
    pub(super) fn widened(&self, wanted: u32, module: &ModuleKey) -> Option<String> {
        (self.following.schedule.tiles.is_some() && self.tile_width != wanted).then(|| {
            let width = self.tile_width;
            format!("the subgroups of kernel `{module}` stay whole: schedules with tiles of {wanted} run it in tiles of {width}")
        })
    }
}

/// How large the dispatches of a job are.
pub(super) fn extents(
    job: &Job,
    settings: Settings,
    programs: &Programs,
) -> Result<Vec<Extent>, ExecError> {
    let failed = |message: String| ExecError::Engine { engine: EngineName::Sequential, message };
    let counts = workgroup_counts(job).map_err(failed)?;
    let told = |early: Early| match early {
        Early::Completion(completion) => {
            failed(format!("a job that was run cannot be run: {completion}"))
        }
        Early::Failure(error) => error,
    };
    let session = Session::new(job, settings, programs).map_err(told)?;
    let one = |(dispatch, workgroups): (&JobDispatch, u32)| {
        session.extent(dispatch, workgroups).map_err(told)
    };
    job.dispatches.iter().zip(counts).map(one).collect()
}

impl Session<'_> {
    fn extent(&self, dispatch: &JobDispatch, workgroups: u32) -> Result<Extent, Early> {
        let settings = self.settings_of(dispatch)?;
        let decoded = self.decoded_at_first(dispatch)?;
        let together = match decoded.program.subgroups {
            SubgroupUse::None => 1,
            SubgroupUse::Operations | SubgroupUse::Barriers => settings.subgroup_size,
        };
        let invocations = decoded.program.local_size.iter().product();
        Ok(Extent { workgroups, invocations, together, ordinary_width: settings.tile_width })
    }
}
