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
mod element;
mod ending;
mod finding;
mod means;
#[cfg(test)]
mod tests;
mod trial;

pub use directed::direct;

use super::left_open::LeftOpen;
use super::test_run::{TestEngine, TestRun, judge};
use crate::CampaignError;
use coverage::Measures;
use means::{Means, NoMeans};
use std::collections::BTreeSet;
use trial::Trial;
use vkcert_exec::{Completion, Job, Run};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::schedule::{Schedule, ScheduleResult, ScheduleStatus};

/// Runs the test's schedules on `engine`, where any are asked for; `job` is what has left
/// `production`.
pub fn amplify(
    open: &LeftOpen<'_>,
    job: &Job,
    production: &Run,
    engine: &mut TestEngine<'_>,
    run: &mut TestRun,
) -> Result<(), CampaignError> {
    let (prepared, plan) = (open.prepared, open.plan);
    if prepared.schedules.count == 0 {
        return Ok(());
    }
    let found = match hindrance(job, production) {
        Some(reason) => Found::ended(ScheduleStatus::NotRun, reason),
        None => match Means::of(job, engine.executor) {
            Err(NoMeans::Failed(failure)) => return Err(failure),
            Err(NoMeans::Undetermined(reason)) => {
                Found::ended(ScheduleStatus::Undetermined, reason)
            }
            Err(NoMeans::NothingToPermute(reason)) => {
                Found::ended(ScheduleStatus::NothingToPermute, reason)
            }
            Ok(means) => {
                let measures = match &means {
                    Means::Rewritten(_) => None,
                    Means::ByEngine { .. } => Some(Measures::of(prepared, run)),
                };
                let verdict = judge(plan, production)?.verdict;
                Trial::new(open, (production, verdict), means, measures, engine).run()?
            }
        },
    };
    if found.status == ScheduleStatus::Undetermined {
        run.doubt(format!("schedules: {}", found.reason.as_deref().unwrap_or_default()));
    }
    run.leave_open(found.left_open.into_iter().collect());
    run.findings.extend(found.findings);
    let new = found.notes.into_iter().filter(|note| !run.notes.contains(note)).collect::<Vec<_>>();
    run.notes.extend(new);
    run.schedules = Some(ScheduleResult {
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
fn hindrance(job: &Job, production: &Run) -> Option<String> {
    let kind = FindingKind::ScheduleDependentOutput;
    if !job.checks.has(kind) {
        return Some(format!("--check leaves {kind} out"));
    }
    let completed = production.completion == Completion::Completed;
    (!completed).then(|| "the production run did not complete".to_owned())
}

/// What came of the schedules of a test.
struct Found {
    status: ScheduleStatus,
    reason: Option<String>,
    ran: Vec<Schedule>,
    different: Vec<Schedule>,
    findings: Vec<Finding>,
    notes: BTreeSet<String>,
    /// What differed where it may.
    left_open: BTreeSet<String>,
}

impl Found {
    /// Before anything has differed.
    fn started() -> Self {
        Self { reason: None, ..Self::ended(ScheduleStatus::Equal, String::new()) }
    }

    fn ended(status: ScheduleStatus, reason: String) -> Self {
        let (ran, different, findings, notes, left_open) = Default::default();
        Self { status, reason: Some(reason), ran, different, findings, notes, left_open }
    }
}
