//! How much of what its kernels store a test judges, as exactly as it can be known.
//!
//! Promises: where the code of the kernels leaves it open, the test runs once more on the
//! sequential engine, which tells what was read when; where that is not to be had, so much counts
//! as is judged in any case. Without an engine, what evidence says holds within its bounds.
//! Does not cover: which bytes are judged (`reach`).

use super::parts::{JudgingView, PassedTest};
use super::reach::{Reading, SeenDispatch};
use super::tool_failure;
use crate::CampaignError;
use crate::kernel::{Kernel, ModuleVariant};
use crate::test_run::job_of;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_exec::{JobBuffer, JobDispatch};
use vkcert_model::judged::JudgedMember;
use vkcert_sequential::{DispatchReads, MOST_GROUPS, SequentialExecutor, WatchedReads};
use vkcert_spirv::flow::{StoringGroup, storing_groups};

/// What a test judges of the members of what its kernels store, at least and at most; the same
/// members in the same order.
pub(super) struct MemberBounds {
    least: Vec<JudgedMember>,
    most: Vec<JudgedMember>,
}

impl MemberBounds {
    pub(super) fn of_test(passed_test: &PassedTest<'_>, judging_views: &[JudgingView]) -> Self {
        let [least, most] = [Reading::Least, Reading::Most]
            .map(|reading| passed_test.judged_members(judging_views, reading));
        Self { least, most }
    }

    /// What it judges, where the code alone tells it.
    pub(super) fn exact_members(&self) -> Option<&[JudgedMember]> {
        (self.least == self.most).then_some(&self.least)
    }

    /// What is told, as far as it is possible.
    fn held_to_bounds(self, stored_members: &[JudgedMember]) -> Vec<JudgedMember> {
        let bounded_member = |(least, most): (JudgedMember, JudgedMember)| {
            let stored_member = stored_members.iter().find(|row| row.place() == least.place());
            let judged = stored_member
                .map_or(least.judged, |row| row.judged)
                .clamp(least.judged, most.judged.max(least.judged));
            // Of a member that the test leaves as it was the judged elements alone count.
            let stored = if least.stored == most.stored { least.stored } else { judged };
            JudgedMember { stored, judged, ..least }
        };
        self.least.into_iter().zip(self.most).map(bounded_member).collect()
    }
}

/// What a test judges of each member, by a run where that is needed.
pub(super) fn count_members(
    passed_test: &PassedTest<'_>,
    judging_views: &[JudgingView],
    sequential_engine: &SequentialExecutor,
) -> Result<Vec<JudgedMember>, CampaignError> {
    let bounds = MemberBounds::of_test(passed_test, judging_views);
    if let Some(exact) = bounds.exact_members() {
        return Ok(exact.to_vec());
    }
    Ok(match seen_dispatches(passed_test, sequential_engine)? {
        Some(seen) => {
            bounds.held_to_bounds(&passed_test.judged_members(judging_views, Reading::Seen(&seen)))
        }
        None => bounds.least,
    })
}

/// The same without an engine: as it is stored, within its bounds.
pub(super) fn derived_members(
    passed_test: &PassedTest<'_>,
    judging_views: &[JudgingView],
    stored_members: &[JudgedMember],
) -> Vec<JudgedMember> {
    MemberBounds::of_test(passed_test, judging_views).held_to_bounds(stored_members)
}

/// What each dispatch did; none where no run tells it.
fn seen_dispatches(
    passed_test: &PassedTest<'_>,
    sequential_engine: &SequentialExecutor,
) -> Result<Option<Vec<SeenDispatch>>, CampaignError> {
    let Some(job) = job_of(passed_test.prepared_test, ModuleVariant::Production) else {
        return Ok(None);
    };
    let stored_buffers =
        || passed_test.flows.iter().flat_map(|flow| &flow.stores).flat_map(|store| &store.to);
    let is_stored = |buffer: &JobBuffer| stored_buffers().any(|range| range.buffer == buffer.name);
    let numbered_buffers = job.buffers.iter().enumerate();
    let buffers: BTreeSet<usize> = numbered_buffers
        .filter(|(_, buffer)| is_stored(buffer))
        .map(|(number, _)| number)
        .collect();
    let modules = passed_test.prepared_test.kernels.iter().zip(&passed_test.job_plan.modules);
    let groups_by_module: Option<Vec<Vec<StoringGroup>>> = modules
        .map(|(kernel, module_use)| storing_groups_of(kernel, &module_use.specialization))
        .collect();
    let Some(groups_by_module) = groups_by_module else { return Ok(None) };
    let watched_by_module: Vec<WatchedReads> =
        groups_by_module.iter().map(|groups| watched_reads(groups, &buffers)).collect();
    let watched_by_dispatch: Vec<&WatchedReads> =
        job.dispatches.iter().map(|dispatch| &watched_by_module[dispatch.module]).collect();
    let reads_by_dispatch =
        sequential_engine.reads_of_each(&job, &watched_by_dispatch).map_err(tool_failure)?;
    let seen_dispatch = |(reads, dispatch): (DispatchReads, &JobDispatch)| {
        let groups = &groups_by_module[dispatch.module];
        SeenDispatch { reads, rows: groups.iter().map(|group| group.rows.clone()).collect() }
    };
    Ok(reads_by_dispatch.map(|reads_by_dispatch| {
        reads_by_dispatch.into_iter().zip(&job.dispatches).map(seen_dispatch).collect()
    }))
}

/// The storing instructions of a kernel; none where they are too many to be told apart.
fn storing_groups_of(
    kernel: &Kernel,
    specialization: &BTreeMap<u32, u64>,
) -> Option<Vec<StoringGroup>> {
    let groups = storing_groups(&kernel.module, &kernel.entry, specialization, MOST_GROUPS).ok()?;
    (groups.len() <= MOST_GROUPS).then_some(groups)
}

/// What is asked of a dispatch of a kernel with these instructions.
fn watched_reads(groups: &[StoringGroup], buffers: &BTreeSet<usize>) -> WatchedReads {
    let mut watched = WatchedReads { buffers: buffers.clone(), ..WatchedReads::default() };
    for (number, group) in groups.iter().enumerate() {
        watched
            .storers
            .extend(group.instructions.iter().map(|index| (*index as u32, number as u8)));
        for index in &group.reads {
            *watched.readers.entry(*index as u32).or_default() |= 1 << number;
        }
    }
    watched
}
