//! Schedules on the machine: which workgroup and which tile comes next.
//!
//! Knows: a tile runs all of its invocations to the next barrier, so tiles of one invocation from last to first are the
//! invocations from last to first between barriers. The order of the tiles is the same in every workgroup and behind every
//! barrier. Times of the race shadow ascend as workgroups run, whatever their indices.
//! Promises: every workgroup and every tile runs as often as ever; a schedule whose tiles would part a subgroup is told.
//! Does not cover: tiles that take turns between barriers.

use super::Settings;
use super::program::SubgroupUse;
use super::programs::Programs;
use super::run::{Early, Session};
use crate::exec::schedule::{Following, workgroup_counts};
use crate::exec::{Completion, ExecError, Job, JobDispatch};
use crate::model::schedule::{Extent, MOST_WORKGROUPS, Order, Schedule};
use crate::model::verdict::EngineName;

/// The orders of a dispatch.
#[derive(Debug)]
pub(super) struct Lineup {
    /// By place in the order; none: each in its own place.
    workgroups: Option<Vec<u32>>,
    /// By place in the order.
    tiles: Vec<u32>,
}

impl Lineup {
    /// The number of workgroups is within the limit of schedules where their order is not the ordinary one.
    pub fn new(schedule: Schedule, groups: [u32; 3], tiles: usize) -> Self {
        let order = schedule.tiles.map_or(Order::InOrder, |tiles| tiles.order);
        let permuted = schedule.workgroups != Order::InOrder;
        let workgroups = permuted.then(|| schedule.workgroups.permutation(groups.iter().product()));
        Self { workgroups, tiles: order.permutation(tiles as u32) }
    }

    /// Linear index of the workgroup that is started as this one.
    pub fn workgroup(&self, started: u64) -> u64 {
        self.workgroups.as_ref().map_or(started, |order| u64::from(order[started as usize]))
    }

    /// Tiles of a workgroup.
    pub fn tiles(&self) -> usize {
        self.tiles.len()
    }

    /// The tile that is started as this one.
    pub fn tile(&self, started: usize) -> usize {
        self.tiles[started] as usize
    }
}

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
    pub(super) fn widened(&self, wanted: u32, kernel: &str) -> Option<String> {
        (self.following.schedule.tiles.is_some() && self.tile_width != wanted).then(|| {
            let width = self.tile_width;
            format!("the subgroups of kernel `{kernel}` stay whole: schedules with tiles of {wanted} run it in tiles of {width}")
        })
    }
}

/// How large the dispatches of a job are.
pub(super) fn extents(job: &Job, settings: Settings, programs: &Programs) -> Result<Vec<Extent>, ExecError> {
    let failed = |message: String| ExecError::Engine { engine: EngineName::Sequential, message };
    let counts = workgroup_counts(job).map_err(failed)?;
    let told = |early: Early| match early {
        Early::Completion(completion) => failed(format!("a job that was run cannot be run: {completion:?}")),
        Early::Failure(error) => error,
    };
    let session = Session::new(job, settings, programs).map_err(told)?;
    let one = |(dispatch, workgroups): (&JobDispatch, u32)| session.extent(dispatch, workgroups).map_err(told);
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
