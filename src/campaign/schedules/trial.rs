//! The schedules of one test on an engine, one after the other.
//!
//! Knows: what production left and recorded, how orders are made, what may differ.
//! Promises: every schedule that changes something is kept, with the simplest that does; none runs
//! after one that does not complete.
//! Does not cover: making the shown schedule smaller (`smaller`), the findings' words (`finding`).

mod smaller;

use super::ScheduleFindings;
use super::coverage::{CoverageDifference, MeasuringJobs};
use super::element::ContentsChange;
use super::ending::{ScheduleEnding, ending_of};
use super::means::ScheduleMeans;
use crate::CampaignError;
use crate::left_open::{ComparedResults, Expectations, LeftOpen, RecordedCode};
use crate::test_run::{PreparedTest, TestEngine, judge_run};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_exec::comparison::differing_contents;
use vkcert_exec::prepare::Prepared;
use vkcert_exec::schedule::Dispatches;
use vkcert_exec::{Completion, Run, RunOutcome};
use vkcert_model::finding::Finding;
use vkcert_model::place::Place;
use vkcert_model::schedule::{Schedule, ScheduleStatus};
use vkcert_model::verdict::Verdict;

/// The schedules of one test on an engine.
pub(super) struct ScheduleTrial<'a, 'e> {
    left_open: &'a LeftOpen<'a>,
    pub(super) prepared_test: &'a PreparedTest<'a>,
    pub(super) job_plan: &'a Prepared,
    pub(super) production: &'a Run,
    /// What the expectations say of what production left.
    verdict: Verdict,
    pub(super) means: ScheduleMeans,
    /// Where coverage is compared.
    measures: Option<MeasuringJobs<'a>>,
    test_engine: &'a mut TestEngine<'e>,
    found: ScheduleFindings,
    pub(super) outputs: ChangingSchedules<ShownContents>,
    pub(super) coverage: ChangingSchedules<ShownCoverage>,
    pub(super) all: AllChanges,
}

/// What any of the schedules changed.
#[derive(Default)]
pub(super) struct AllChanges {
    /// Names of buffers with other contents.
    pub(super) buffers: BTreeSet<String>,
    /// What the test's expectations say of the results, by its name.
    pub(super) verdicts: BTreeMap<String, Verdict>,
    /// What is covered by some alone.
    pub(super) covered: BTreeSet<String>,
}

/// The schedules that changed something, with what the simplest of them did.
pub(super) struct ChangingSchedules<T> {
    simplest: Option<T>,
    pub(super) schedules: Vec<Schedule>,
}

/// Whether another schedule is run.
enum NextStep {
    GoOn,
    Stop,
}

/// A schedule that left other contents.
pub(super) struct ShownContents {
    pub(super) schedule: Schedule,
    pub(super) difference: ContentsChange,
    pub(super) run: Run,
}

/// A schedule that recorded other coverage.
pub(super) struct ShownCoverage {
    pub(super) schedule: Schedule,
    pub(super) differences: Vec<CoverageDifference>,
}

impl<'a, 'e> ScheduleTrial<'a, 'e> {
    pub(super) fn new(
        left_open: &'a LeftOpen<'a>,
        (production, verdict): (&'a Run, Verdict),
        means: ScheduleMeans,
        mut measures: Option<MeasuringJobs<'a>>,
        test_engine: &'a mut TestEngine<'e>,
    ) -> Self {
        let mut found = ScheduleFindings::started();
        found.reason = measures.as_mut().and_then(|measures| measures.missing.take());
        let outputs = ChangingSchedules { simplest: None, schedules: Vec::new() };
        let coverage = ChangingSchedules { simplest: None, schedules: Vec::new() };
        let everything_changed = AllChanges::default();
        Self {
            left_open,
            prepared_test: left_open.prepared_test,
            job_plan: left_open.job_plan,
            production,
            verdict,
            means,
            measures,
            test_engine,
            found,
            outputs,
            coverage,
            all: everything_changed,
        }
    }

    /// How a schedule ended. What differs where it may is kept as a note.
    fn ending_of_schedule(
        &mut self,
        run: &Run,
        schedule: Schedule,
    ) -> Result<ScheduleEnding, CampaignError> {
        let mut differing = differing_contents(&self.production.buffers, &run.buffers);
        if run.completion != Completion::Completed || differing.next().is_none() {
            return Ok(ending_of(self.production, run, |_, _| false));
        }
        let expectations =
            Expectations::of_verdicts(self.verdict, judge_run(self.job_plan, run)?.verdict);
        let differences = self.left_open.compare_contents(
            &self.production.buffers,
            &run.buffers,
            ComparedResults::Schedules,
            expectations,
        );
        let between = format!("schedule `{schedule}`");
        self.found.left_open.extend(self.left_open.notes_on_openings(&between, &differences.open));
        Ok(ending_of(self.production, run, |buffer, byte| {
            self.left_open
                .opening_at(buffer, byte, ComparedResults::Schedules, expectations)
                .is_some()
        }))
    }

    pub(super) fn run_all(mut self) -> Result<ScheduleFindings, CampaignError> {
        if matches!(self.means, ScheduleMeans::Rewritten(_)) {
            let first = self.execute_order(Schedule::IN_ORDER, Dispatches::All)?;
            if let Some(reason) = self.unlike_production(&first)? {
                let findings = self.found.findings;
                return Ok(ScheduleFindings {
                    findings,
                    ..ScheduleFindings::ended(ScheduleStatus::Undetermined, reason)
                });
            }
        }
        for schedule in self.means.schedules_to_run(self.prepared_test.schedules) {
            match self.run_and_keep(schedule)? {
                NextStep::GoOn => {}
                NextStep::Stop => break,
            }
        }
        if let Some(simplest) = self.outputs.simplest.take() {
            let simplest = self.made_smaller(simplest)?;
            self.note_contents(&simplest.run)?;
            let alone = self.dispatches_alone(simplest.schedule)?;
            let finding = self.contents_finding(&simplest, &alone)?;
            self.found.findings.push(finding);
        }
        if let Some(covered) = self.coverage.simplest.take() {
            let covered = self.covered_smaller(covered)?;
            let finding = self.coverage_finding(&covered);
            self.found.findings.push(finding);
        }
        if self.found.status == ScheduleStatus::Equal && !self.found.different.is_empty() {
            self.found.status = ScheduleStatus::Different;
        }
        Ok(self.found)
    }

    /// Runs one schedule and keeps what it shows.
    fn run_and_keep(&mut self, schedule: Schedule) -> Result<NextStep, CampaignError> {
        let run = self.execute_order(schedule, Dispatches::All)?;
        self.found.ran.push(schedule);
        match self.keep_outputs(schedule, run)? {
            NextStep::GoOn => self.keep_coverage(schedule),
            NextStep::Stop => Ok(NextStep::Stop),
        }
    }

    /// Keeps what a schedule left.
    fn keep_outputs(&mut self, schedule: Schedule, run: Run) -> Result<NextStep, CampaignError> {
        match self.ending_of_schedule(&run, schedule)? {
            ScheduleEnding::Equal => return Ok(NextStep::GoOn),
            ScheduleEnding::Unknown(reason) => return Ok(self.give_up(schedule, &reason)),
            ScheduleEnding::Different(difference) => {
                self.note_contents(&run)?;
                self.outputs.schedules.push(schedule);
                if self
                    .outputs
                    .simplest
                    .as_ref()
                    .is_none_or(|known_change| schedule < known_change.schedule)
                {
                    self.outputs.simplest = Some(ShownContents { schedule, difference, run });
                }
            }
            ScheduleEnding::Varying(reason) => {
                let finding = self.ending_finding(schedule, "leaves one result", &reason);
                self.found.findings.push(finding);
            }
            ScheduleEnding::Broken(reason) => {
                let finding = self.ending_finding(schedule, "completes", &reason);
                self.found.findings.push(finding);
                self.found.different.push(schedule);
                // Others may take as long, or cost the device again.
                self.found.reason =
                    Some(format!("none is run after `{schedule}`, which does not complete"));
                return Ok(NextStep::Stop);
            }
        }
        self.found.different.push(schedule);
        Ok(NextStep::GoOn)
    }

    /// Notes which buffers a run left otherwise, and what the test says of that.
    fn note_contents(&mut self, run: &Run) -> Result<(), CampaignError> {
        let buffers = &self.means.job().buffers;
        let changed = differing_contents(&self.production.buffers, &run.buffers)
            .map(|difference| buffers[difference.buffer].name.clone());
        self.all.buffers.extend(changed);
        let verdict = judge_run(self.job_plan, run)?.verdict;
        self.all.verdicts.insert(verdict.to_string(), verdict);
        Ok(())
    }

    /// Keeps what a schedule recorded, where that is compared.
    fn keep_coverage(&mut self, schedule: Schedule) -> Result<NextStep, CampaignError> {
        match self.coverage_differences(schedule)? {
            Err(reason) => return Ok(self.give_up(schedule, &reason)),
            Ok(differences) if differences.is_empty() => {}
            Ok(differences) => {
                self.coverage.schedules.push(schedule);
                let coverage_texts = differences
                    .iter()
                    .map(|difference| format!("{}: {}", difference.kernel, difference.what));
                self.all.covered.extend(coverage_texts);
                if self
                    .coverage
                    .simplest
                    .as_ref()
                    .is_none_or(|known_change| schedule < known_change.schedule)
                {
                    self.coverage.simplest = Some(ShownCoverage { schedule, differences });
                }
                if self.found.different.last() != Some(&schedule) {
                    self.found.different.push(schedule);
                }
            }
        }
        Ok(NextStep::GoOn)
    }

    /// What a schedule shows is not known.
    fn give_up(&mut self, schedule: Schedule, reason: &str) -> NextStep {
        self.found.status = ScheduleStatus::Undetermined;
        self.found.reason = Some(format!("`{schedule}`: {reason}"));
        NextStep::Stop
    }

    /// How coverage differs, where that is compared.
    fn coverage_differences(
        &mut self,
        schedule: Schedule,
    ) -> Result<Result<Vec<CoverageDifference>, String>, CampaignError> {
        match &self.measures {
            Some(measures) => {
                let (by_schedule, differences): (Vec<_>, Vec<_>) = match measures
                    .compare_coverage(self.test_engine, schedule)?
                {
                    Ok(differences) => differences.into_iter().partition(|coverage_difference| {
                        coverage_difference.depends_on_schedule(self.left_open)
                    }),
                    Err(reason) => return Ok(Err(reason)),
                };
                let schedule_note = |coverage_difference: CoverageDifference| {
                    format!(
                        "schedule `{schedule}`: {}: {} depends on the schedule",
                        coverage_difference.kernel, coverage_difference.what
                    )
                };
                self.found.left_open.extend(by_schedule.into_iter().map(schedule_note));
                Ok(Ok(differences))
            }
            None => Ok(Ok(Vec::new())),
        }
    }

    /// Runs the job in an order; findings that production did not make are kept.
    fn execute_order(
        &mut self,
        schedule: Schedule,
        dispatches: Dispatches,
    ) -> Result<Run, CampaignError> {
        let RunOutcome { run, variants, .. } =
            self.means.execute_schedule(self.test_engine, schedule, dispatches)?;
        let between = format!("repetitions of schedule `{schedule}`");
        let united_run =
            self.left_open.unite_repetitions(variants, RecordedCode::Source, &between)?;
        let run = match united_run {
            Some((united_run, notes)) => {
                self.found.left_open.extend(notes);
                Run { findings: run.findings, notes: run.notes, ..united_run }
            }
            None => run,
        };
        for finding in &run.findings {
            let is_known = |other_finding: &Finding| match self.means {
                ScheduleMeans::Rewritten(_) => {
                    other_finding.kind == finding.kind && other_finding.message == finding.message
                }
                // Who comes first changes witnesses, counts and which place is told first.
                ScheduleMeans::ByEngine { .. } => {
                    let is_worse = other_finding.same_value() == Some(true)
                        && finding.same_value() == Some(false);
                    other_finding.kind == finding.kind
                        && unordered_places(other_finding) == unordered_places(finding)
                        && !is_worse
                }
            };
            if !self.production.findings.iter().chain(&self.found.findings).any(is_known) {
                self.found.findings.push(Finding { shown_in: Some(schedule), ..finding.clone() });
            }
        }
        self.found
            .notes
            .extend(run.notes.iter().filter(|note| !self.production.notes.contains(note)).cloned());
        Ok(run)
    }

    /// Why the rewritten modules cannot stand for production.
    fn unlike_production(&mut self, first_run: &Run) -> Result<Option<String>, CampaignError> {
        let with_reason = |what_differs: String| {
            Some(format!(
                "the modules that can be permuted, run from first to last, {what_differs}"
            ))
        };
        Ok(match self.ending_of_schedule(first_run, Schedule::IN_ORDER)? {
            ScheduleEnding::Equal => None,
            ScheduleEnding::Different(difference) => with_reason(format!(
                "leave other contents than production, first in buffer `{}` at offset {}",
                self.means.job().buffers[difference.buffer].name,
                difference.offset
            )),
            ScheduleEnding::Varying(reason)
            | ScheduleEnding::Broken(reason)
            | ScheduleEnding::Unknown(reason) => {
                with_reason(format!("do not leave one result: {reason}"))
            }
        })
    }
}

/// The places of a finding, whichever comes first.
fn unordered_places(finding: &Finding) -> BTreeSet<Option<&Place>> {
    BTreeSet::from([finding.place.as_ref(), finding.other_place.as_ref()])
}
