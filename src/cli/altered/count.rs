//! How much of what its kernels store a test judges, as exactly as it can be known.
//!
//! Promises: where the code of the kernels leaves it open, the test runs once more on the sequential engine, which tells what was read
//! when; where that is not to be had, so much counts as is judged in any case. Without an engine, what evidence says holds within its bounds.
//! Does not cover: which bytes are judged (`reach`).

use super::parts::{PassedTest, View};
use super::reach::Reading;
use super::tool;
use crate::cli::failure::Failure;
use crate::cli::kernel::Variant;
use crate::cli::test_run::job_of;
use crate::exec::sequential::{DispatchReads, MOST_ROWS, SequentialExecutor, WatchedReads};
use crate::model::judged::JudgedMember;
use crate::spirv::flow::flows_or_switched_off;
use std::collections::{BTreeSet, HashMap};

/// What a test judges of the members of what its kernels store, at least and at most; the same members in the same order.
pub struct Bounds {
    least: Vec<JudgedMember>,
    most: Vec<JudgedMember>,
}

impl Bounds {
    pub fn of(passed: &PassedTest<'_>, views: &[View]) -> Self {
        let [least, most] = [Reading::Least, Reading::Most].map(|reading| passed.members(views, reading));
        Self { least, most }
    }

    /// What it judges, where the code alone tells it.
    pub fn exact(&self) -> Option<&[JudgedMember]> {
        (self.least == self.most).then_some(&self.least)
    }

    /// What is told, as far as it is possible.
    fn holding(&self, told: &[JudgedMember]) -> Vec<JudgedMember> {
        let bounded = |(least, most): (&JudgedMember, &JudgedMember)| {
            let same = told.iter().find(|row| row.place() == least.place());
            let judged = same.map_or(least.judged, |row| row.judged).clamp(least.judged, most.judged.max(least.judged));
            // Of a member that the test leaves as it was the judged elements alone count.
            let stored = if least.stored == most.stored { least.stored } else { judged };
            JudgedMember { stored, judged, ..least.clone() }
        };
        self.least.iter().zip(&self.most).map(bounded).collect()
    }
}

/// What a test judges of each member, by a run where that is needed.
pub fn counted(
    passed: &PassedTest<'_>,
    views: &[View],
    engine: &SequentialExecutor,
) -> Result<Vec<JudgedMember>, Failure> {
    let bounds = Bounds::of(passed, views);
    if let Some(exact) = bounds.exact() {
        return Ok(exact.to_vec());
    }
    Ok(match seen_reads(passed, engine)? {
        Some(seen) => bounds.holding(&passed.members(views, Reading::Seen(&seen))),
        None => bounds.least,
    })
}

/// The same without an engine: as it is stored, within its bounds.
pub fn derived(passed: &PassedTest<'_>, views: &[View], stored: &[JudgedMember]) -> Vec<JudgedMember> {
    Bounds::of(passed, views).holding(stored)
}

/// What each dispatch reads; none where no run tells it.
fn seen_reads(passed: &PassedTest<'_>, engine: &SequentialExecutor) -> Result<Option<Vec<DispatchReads>>, Failure> {
    let Some(job) = job_of(passed.test, Variant::Production) else { return Ok(None) };
    let Some(rows) = rows_by_module(passed) else { return Ok(None) };
    let stored = || passed.flows.iter().flat_map(|flow| &flow.stores).flat_map(|store| &store.to);
    let numbered = job.buffers.iter().enumerate();
    let is_stored = |name: &str| stored().any(|range| range.buffer == name);
    let buffers: BTreeSet<usize> =
        numbered.filter(|(_, buffer)| is_stored(&buffer.name)).map(|(number, _)| number).collect();
    let watched = |module: usize| WatchedReads { rows: rows[module].clone(), buffers: buffers.clone() };
    let watched: Vec<WatchedReads> = job.dispatches.iter().map(|dispatch| watched(dispatch.module)).collect();
    engine.reads_of_each(&job, &watched).map_err(tool)
}

/// By module of the job: which rows of its flow what an instruction reads can come to; none where there are too many.
fn rows_by_module(passed: &PassedTest<'_>) -> Option<Vec<HashMap<u32, u32>>> {
    let of_module = |(kernel, of): (&&crate::cli::kernel::Kernel, &crate::exec::prepare::ModuleUse)| {
        let flows = flows_or_switched_off(&kernel.module, &kernel.entry, &of.specialization).ok()?;
        if flows.len() > MOST_ROWS {
            return None;
        }
        let mut rows: HashMap<u32, u32> = HashMap::new();
        for (row, flow) in flows.iter().enumerate() {
            flow.reads.iter().for_each(|index| *rows.entry(*index as u32).or_default() |= 1 << row);
        }
        Some(rows)
    };
    passed.test.kernels.iter().zip(&passed.plan.modules).map(of_module).collect()
}
