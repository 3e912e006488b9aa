//! How much of what its kernels store a test judges, as exactly as it can be known.
//!
//! Promises: where the code of the kernels leaves it open, the test runs once more on the
//! sequential engine, which tells what was read when; where that is not to be had, so much counts
//! as is judged in any case. Without an engine, what evidence says holds within its bounds.
//! Does not cover: which bytes are judged (`reach`).

use super::parts::{PassedTest, View};
use super::reach::{Reading, SeenDispatch};
use super::tool;
use crate::CampaignError;
use crate::kernel::{Kernel, Variant};
use crate::test_run::job_of;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_exec::{JobBuffer, JobDispatch};
use vkcert_model::judged::JudgedMember;
use vkcert_sequential::{DispatchReads, MOST_GROUPS, SequentialExecutor, WatchedReads};
use vkcert_spirv::flow::{StoringGroup, storing_groups};

/// What a test judges of the members of what its kernels store, at least and at most; the same
/// members in the same order.
pub(super) struct Bounds {
    least: Vec<JudgedMember>,
    most: Vec<JudgedMember>,
}

impl Bounds {
    pub(super) fn of(passed: &PassedTest<'_>, views: &[View]) -> Self {
        let [least, most] =
            [Reading::Least, Reading::Most].map(|reading| passed.members(views, reading));
        Self { least, most }
    }

    /// What it judges, where the code alone tells it.
    pub(super) fn exact(&self) -> Option<&[JudgedMember]> {
        (self.least == self.most).then_some(&self.least)
    }

    /// What is told, as far as it is possible.
    fn holding(&self, told: &[JudgedMember]) -> Vec<JudgedMember> {
        let bounded = |(least, most): (&JudgedMember, &JudgedMember)| {
            let same = told.iter().find(|row| row.place() == least.place());
            let judged = same
                .map_or(least.judged, |row| row.judged)
                .clamp(least.judged, most.judged.max(least.judged));
            // Of a member that the test leaves as it was the judged elements alone count.
            let stored = if least.stored == most.stored { least.stored } else { judged };
            JudgedMember { stored, judged, ..least.clone() }
        };
        self.least.iter().zip(&self.most).map(bounded).collect()
    }
}

/// What a test judges of each member, by a run where that is needed.
pub(super) fn counted(
    passed: &PassedTest<'_>,
    views: &[View],
    engine: &SequentialExecutor,
) -> Result<Vec<JudgedMember>, CampaignError> {
    let bounds = Bounds::of(passed, views);
    if let Some(exact) = bounds.exact() {
        return Ok(exact.to_vec());
    }
    Ok(match seen(passed, engine)? {
        Some(seen) => bounds.holding(&passed.members(views, Reading::Seen(&seen))),
        None => bounds.least,
    })
}

/// The same without an engine: as it is stored, within its bounds.
pub(super) fn derived(
    passed: &PassedTest<'_>,
    views: &[View],
    stored: &[JudgedMember],
) -> Vec<JudgedMember> {
    Bounds::of(passed, views).holding(stored)
}

/// What each dispatch did; none where no run tells it.
fn seen(
    passed: &PassedTest<'_>,
    engine: &SequentialExecutor,
) -> Result<Option<Vec<SeenDispatch>>, CampaignError> {
    let Some(job) = job_of(passed.test, Variant::Production) else { return Ok(None) };
    let stored = || passed.flows.iter().flat_map(|flow| &flow.stores).flat_map(|store| &store.to);
    let is_stored = |buffer: &JobBuffer| stored().any(|range| range.buffer == buffer.name);
    let numbered = job.buffers.iter().enumerate();
    let buffers: BTreeSet<usize> =
        numbered.filter(|(_, buffer)| is_stored(buffer)).map(|(number, _)| number).collect();
    let modules = passed.test.kernels.iter().zip(&passed.plan.modules);
    let storing: Option<Vec<Vec<StoringGroup>>> =
        modules.map(|(kernel, of)| groups(kernel, &of.specialization)).collect();
    let Some(storing) = storing else { return Ok(None) };
    let watched = |storing: &Vec<StoringGroup>| watched(storing, &buffers);
    let by_module: Vec<WatchedReads> = storing.iter().map(watched).collect();
    let watched: Vec<&WatchedReads> =
        job.dispatches.iter().map(|dispatch| &by_module[dispatch.module]).collect();
    let reads = engine.reads_of_each(&job, &watched).map_err(tool)?;
    let of_dispatch = |(reads, dispatch): (DispatchReads, &JobDispatch)| {
        let rows = storing[dispatch.module].iter().map(|storing| storing.rows.clone()).collect();
        SeenDispatch { reads, rows }
    };
    Ok(reads.map(|reads| reads.into_iter().zip(&job.dispatches).map(of_dispatch).collect()))
}

/// The storing instructions of a kernel; none where they are too many to be told apart.
fn groups(kernel: &Kernel, specialization: &BTreeMap<u32, u64>) -> Option<Vec<StoringGroup>> {
    let groups = storing_groups(&kernel.module, &kernel.entry, specialization, MOST_GROUPS).ok()?;
    (groups.len() <= MOST_GROUPS).then_some(groups)
}

/// What is asked of a dispatch of a kernel with these instructions.
fn watched(storing: &[StoringGroup], buffers: &BTreeSet<usize>) -> WatchedReads {
    let mut watched = WatchedReads { buffers: buffers.clone(), ..WatchedReads::default() };
    for (group, storing) in storing.iter().enumerate() {
        watched
            .storers
            .extend(storing.instructions.iter().map(|index| (*index as u32, group as u8)));
        for index in &storing.reads {
            *watched.readers.entry(*index as u32).or_default() |= 1 << group;
        }
    }
    watched
}
