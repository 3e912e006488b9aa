//! Schedules: the production modules of a test again, with its workgroups, and on the sequential
//! engine the invocations of a workgroup, in other orders.
//!
//! Knows: the job that production ran, what it left, and what the measuring jobs recorded.
//! Promises: on a device the rewritten form (`instrument::permute`) first runs in the first-to-last
//! order and must leave what production left; only then does a difference in another order count,
//! and it is one of the order: module and pipeline are the same. The sequential engine puts the
//! orders itself, and its coverage is compared, too. Every schedule runs as often as the test. What
//! cannot be permuted makes a passed test undetermined, by name.
//! Does not cover: orders that the device chooses: it may start workgroups in any, and several at
//! once.

mod coverage;
mod directed;
mod directed_pairs;
mod element;
mod ending;
mod finding;
mod means;
#[cfg(test)]
mod tests;
mod trial;

pub use directed::measure_directed;
pub use directed_pairs::{OpenPairs, show_open_pairs};

use super::left_open::LeftOpen;
use super::test_run::{TestEngine, TestRun, judge_run};
use crate::CampaignError;
use coverage::MeasuringJobs;
use means::{NoMeans, ScheduleMeans};
use std::collections::BTreeSet;
use trial::ScheduleTrial;
use vkcert_exec::{Completion, Job, Run};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::schedule::{Schedule, ScheduleResult, ScheduleStatus};

/// Runs the test's schedules on an engine, where any are asked for; `job` is what has left
/// `production`.
pub fn run_schedules(
    left_open: &LeftOpen<'_>,
    job: &Job,
    production: &Run,
    test_engine: &mut TestEngine<'_>,
    test_run: &mut TestRun,
) -> Result<(), CampaignError> {
    let (prepared, plan) = (left_open.prepared_test, left_open.job_plan);
    if prepared.schedules.count == 0 {
        return Ok(());
    }
    let found = match reason_not_run(job, production) {
        Some(reason) => ScheduleFindings::ended(ScheduleStatus::NotRun, reason),
        None => match ScheduleMeans::of_job(job, test_engine.executor) {
            Err(NoMeans::Failed(failure)) => return Err(failure),
            Err(NoMeans::Undetermined(reason)) => {
                ScheduleFindings::ended(ScheduleStatus::Undetermined, reason)
            }
            Err(NoMeans::NothingToPermute(reason)) => {
                ScheduleFindings::ended(ScheduleStatus::NothingToPermute, reason)
            }
            Ok(means) => {
                let measures = match &means {
                    ScheduleMeans::Rewritten(_) => None,
                    ScheduleMeans::ByEngine { .. } => {
                        Some(MeasuringJobs::of_test(prepared, test_run))
                    }
                };
                let verdict = judge_run(plan, production)?.verdict;
                ScheduleTrial::new(left_open, (production, verdict), means, measures, test_engine)
                    .run_all()?
            }
        },
    };
    if found.status == ScheduleStatus::Undetermined {
        test_run.doubt(format!("schedules: {}", found.reason.as_deref().unwrap_or_default()));
    }
    test_run.leave_open(found.left_open.into_iter().collect());
    test_run.findings.extend(found.findings);
    let new =
        found.notes.into_iter().filter(|note| !test_run.notes.contains(note)).collect::<Vec<_>>();
    test_run.notes.extend(new);
    test_run.schedules = Some(ScheduleResult {
        asked: prepared.schedules.count,
        seed: prepared.schedules.seed,
        status: found.status,
        ran: found.ran,
        different: found.different,
        reason: found.reason,
    });
    Ok(())
}

/// Why no schedule is run.
fn reason_not_run(job: &Job, production: &Run) -> Option<String> {
    let kind = FindingKind::ScheduleDependentOutput;
    if !job.checks.has(kind) {
        return Some(format!("--check leaves {kind} out"));
    }
    let completed = production.completion == Completion::Completed;
    (!completed).then(|| "the production run did not complete".to_owned())
}

/// What came of the schedules of a test.
struct ScheduleFindings {
    status: ScheduleStatus,
    reason: Option<String>,
    ran: Vec<Schedule>,
    different: Vec<Schedule>,
    findings: Vec<Finding>,
    notes: BTreeSet<String>,
    /// What differed where it may.
    left_open: BTreeSet<String>,
}

impl ScheduleFindings {
    /// Before anything has differed.
    fn started() -> Self {
        Self { reason: None, ..Self::ended(ScheduleStatus::Equal, String::new()) }
    }

    fn ended(status: ScheduleStatus, reason: String) -> Self {
        let (ran, different, findings, notes, left_open) = Default::default();
        Self { status, reason: Some(reason), ran, different, findings, notes, left_open }
    }
}
