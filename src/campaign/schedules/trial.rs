//! The schedules of one test on an engine, one after the other.
//!
//! Knows: what production left and recorded, how orders are made, what may differ.
//! Promises: every schedule that changes something is kept, with the simplest that does; none runs
//! after one that does not complete.
//! Does not cover: making the shown schedule smaller (`smaller`), the findings' words (`finding`).

mod smaller;

use super::Found;
use super::coverage::{CoverageDifference, Measures};
use super::element::Difference;
use super::ending::{Ending, ending};
use super::means::Means;
use crate::CampaignError;
use crate::left_open::{Between, Expectations, LeftOpen, Recorded};
use crate::test_run::{PreparedTest, TestEngine, judge};
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
pub(super) struct Trial<'a, 'e> {
    open: &'a LeftOpen<'a>,
    pub(super) prepared: &'a PreparedTest<'a>,
    pub(super) plan: &'a Prepared,
    pub(super) production: &'a Run,
    /// What the expectations say of what production left.
    verdict: Verdict,
    pub(super) means: Means,
    /// Where coverage is compared.
    measures: Option<Measures<'a>>,
    engine: &'a mut TestEngine<'e>,
    found: Found,
    pub(super) outputs: Changes<Shown>,
    pub(super) coverage: Changes<Covered>,
    pub(super) all: Everything,
}

/// What any of the schedules changed.
#[derive(Default)]
pub(super) struct Everything {
    /// Names of buffers with other contents.
    pub(super) buffers: BTreeSet<String>,
    /// What the test's expectations say of the results, by its name.
    pub(super) verdicts: BTreeMap<String, Verdict>,
    /// What is covered by some alone.
    pub(super) covered: BTreeSet<String>,
}

/// The schedules that changed something, with what the simplest of them did.
pub(super) struct Changes<T> {
    simplest: Option<T>,
    pub(super) schedules: Vec<Schedule>,
}

/// Whether another schedule is run.
enum Next {
    GoOn,
    Stop,
}

/// A schedule that left other contents.
pub(super) struct Shown {
    pub(super) schedule: Schedule,
    pub(super) difference: Difference,
    pub(super) run: Run,
}

/// A schedule that recorded other coverage.
pub(super) struct Covered {
    pub(super) schedule: Schedule,
    pub(super) differences: Vec<CoverageDifference>,
}

impl<'a, 'e> Trial<'a, 'e> {
    pub(super) fn new(
        open: &'a LeftOpen<'a>,
        (production, verdict): (&'a Run, Verdict),
        means: Means,
        measures: Option<Measures<'a>>,
        engine: &'a mut TestEngine<'e>,
    ) -> Self {
        let mut found = Found::started();
        found.reason = measures.as_ref().and_then(|measures| measures.missing.clone());
        let outputs = Changes { simplest: None, schedules: Vec::new() };
        let coverage = Changes { simplest: None, schedules: Vec::new() };
        let all = Everything::default();
        let (prepared, plan) = (open.prepared, open.plan);
        Self {
            open,
            prepared,
            plan,
            production,
            verdict,
            means,
            measures,
            engine,
            found,
            outputs,
            coverage,
            all,
        }
    }

    /// How a schedule ended. What differs where it may is kept as a note.
    fn ending(&mut self, run: &Run, schedule: Schedule) -> Result<Ending, CampaignError> {
        let mut differing = differing_contents(&self.production.buffers, &run.buffers);
        if run.completion != Completion::Completed || differing.next().is_none() {
            return Ok(ending(self.production, run, |_, _| false));
        }
        let expectations = Expectations::of(self.verdict, judge(self.plan, run)?.verdict);
        let differences = self.open.contents(
            &self.production.buffers,
            &run.buffers,
            Between::Schedules,
            expectations,
        );
        let between = format!("schedule `{schedule}`");
        self.found.left_open.extend(self.open.notes(&between, &differences.open));
        Ok(ending(self.production, run, |buffer, byte| {
            self.open.opening(buffer, byte, Between::Schedules, expectations).is_some()
        }))
    }

    pub(super) fn run(mut self) -> Result<Found, CampaignError> {
        if matches!(self.means, Means::Rewritten(_)) {
            let first = self.execute(Schedule::IN_ORDER, Dispatches::All)?;
            if let Some(reason) = self.unlike_production(&first)? {
                let findings = self.found.findings;
                return Ok(Found {
                    findings,
                    ..Found::ended(ScheduleStatus::Undetermined, reason)
                });
            }
        }
        for schedule in self.means.schedules(self.prepared.schedules) {
            match self.follow(schedule)? {
                Next::GoOn => {}
                Next::Stop => break,
            }
        }
        if let Some(simplest) = self.outputs.simplest.take() {
            let simplest = self.made_smaller(simplest)?;
            self.note_contents(&simplest.run)?;
            let alone = self.alone(simplest.schedule)?;
            let finding = self.different(&simplest, &alone)?;
            self.found.findings.push(finding);
        }
        if let Some(covered) = self.coverage.simplest.take() {
            let covered = self.covered_smaller(covered)?;
            let finding = self.covered(&covered);
            self.found.findings.push(finding);
        }
        if self.found.status == ScheduleStatus::Equal && !self.found.different.is_empty() {
            self.found.status = ScheduleStatus::Different;
        }
        Ok(self.found)
    }

    /// Runs one schedule and keeps what it shows.
    fn follow(&mut self, schedule: Schedule) -> Result<Next, CampaignError> {
        let run = self.execute(schedule, Dispatches::All)?;
        self.found.ran.push(schedule);
        match self.keep_outputs(schedule, run)? {
            Next::GoOn => self.keep_coverage(schedule),
            Next::Stop => Ok(Next::Stop),
        }
    }

    /// Keeps what a schedule left.
    fn keep_outputs(&mut self, schedule: Schedule, run: Run) -> Result<Next, CampaignError> {
        match self.ending(&run, schedule)? {
            Ending::Equal => return Ok(Next::GoOn),
            Ending::Unknown(reason) => return Ok(self.give_up(schedule, &reason)),
            Ending::Different(difference) => {
                self.note_contents(&run)?;
                self.outputs.schedules.push(schedule);
                if self.outputs.simplest.as_ref().is_none_or(|known| schedule < known.schedule) {
                    self.outputs.simplest = Some(Shown { schedule, difference, run });
                }
            }
            Ending::Varying(reason) => {
                let finding = self.uncertain(schedule, "leaves one result", &reason);
                self.found.findings.push(finding);
            }
            Ending::Broken(reason) => {
                let finding = self.uncertain(schedule, "completes", &reason);
                self.found.findings.push(finding);
                self.found.different.push(schedule);
                // Others may take as long, or cost the device again.
                self.found.reason =
                    Some(format!("none is run after `{schedule}`, which does not complete"));
                return Ok(Next::Stop);
            }
        }
        self.found.different.push(schedule);
        Ok(Next::GoOn)
    }

    /// Notes which buffers a run left otherwise, and what the test says of that.
    fn note_contents(&mut self, run: &Run) -> Result<(), CampaignError> {
        let buffers = &self.means.job().buffers;
        let changed = differing_contents(&self.production.buffers, &run.buffers)
            .map(|difference| buffers[difference.buffer].name.clone());
        self.all.buffers.extend(changed);
        let verdict = judge(self.plan, run)?.verdict;
        self.all.verdicts.insert(verdict.to_string(), verdict);
        Ok(())
    }

    /// Keeps what a schedule recorded, where that is compared.
    fn keep_coverage(&mut self, schedule: Schedule) -> Result<Next, CampaignError> {
        match self.differences(schedule)? {
            Err(reason) => return Ok(self.give_up(schedule, &reason)),
            Ok(differences) if differences.is_empty() => {}
            Ok(differences) => {
                self.coverage.schedules.push(schedule);
                let told = differences.iter().map(|one| format!("{}: {}", one.kernel, one.what));
                self.all.covered.extend(told);
                if self.coverage.simplest.as_ref().is_none_or(|known| schedule < known.schedule) {
                    self.coverage.simplest = Some(Covered { schedule, differences });
                }
                if self.found.different.last() != Some(&schedule) {
                    self.found.different.push(schedule);
                }
            }
        }
        Ok(Next::GoOn)
    }

    /// What a schedule shows is not known.
    fn give_up(&mut self, schedule: Schedule, reason: &str) -> Next {
        self.found.status = ScheduleStatus::Undetermined;
        self.found.reason = Some(format!("`{schedule}`: {reason}"));
        Next::Stop
    }

    /// How coverage differs, where that is compared.
    fn differences(
        &mut self,
        schedule: Schedule,
    ) -> Result<Result<Vec<CoverageDifference>, String>, CampaignError> {
        match &self.measures {
            Some(measures) => {
                let (depends, differences): (Vec<_>, Vec<_>) =
                    match measures.compare(self.engine, schedule)? {
                        Ok(differences) => differences
                            .into_iter()
                            .partition(|one| one.depends_on_schedule(self.open)),
                        Err(reason) => return Ok(Err(reason)),
                    };
                let note = |one: CoverageDifference| {
                    format!(
                        "schedule `{schedule}`: {}: {} depends on the schedule",
                        one.kernel, one.what
                    )
                };
                self.found.left_open.extend(depends.into_iter().map(note));
                Ok(Ok(differences))
            }
            None => Ok(Ok(Vec::new())),
        }
    }

    /// Runs the job in an order; findings that production did not make are kept.
    fn execute(
        &mut self,
        schedule: Schedule,
        dispatches: Dispatches,
    ) -> Result<Run, CampaignError> {
        let RunOutcome { run, variants, .. } =
            self.means.execute(self.engine, schedule, dispatches)?;
        let between = format!("repetitions of schedule `{schedule}`");
        let united = self.open.united(variants, Recorded::Source, &between)?;
        let run = match united {
            Some((united, notes)) => {
                self.found.left_open.extend(notes);
                Run { findings: run.findings, notes: run.notes, ..united }
            }
            None => run,
        };
        for finding in &run.findings {
            let known = |other: &Finding| match self.means {
                Means::Rewritten(_) => {
                    other.kind == finding.kind && other.message == finding.message
                }
                // Who comes first changes witnesses, counts and which place is told first.
                Means::ByEngine { .. } => {
                    let worse =
                        other.same_value() == Some(true) && finding.same_value() == Some(false);
                    other.kind == finding.kind && places(other) == places(finding) && !worse
                }
            };
            if !self.production.findings.iter().chain(&self.found.findings).any(known) {
                self.found.findings.push(Finding { shown_in: Some(schedule), ..finding.clone() });
            }
        }
        self.found
            .notes
            .extend(run.notes.iter().filter(|note| !self.production.notes.contains(note)).cloned());
        Ok(run)
    }

    /// Why the rewritten modules cannot stand for production.
    fn unlike_production(&mut self, first: &Run) -> Result<Option<String>, CampaignError> {
        let told = |what: String| {
            Some(format!("the modules that can be permuted, run from first to last, {what}"))
        };
        Ok(match self.ending(first, Schedule::IN_ORDER)? {
            Ending::Equal => None,
            Ending::Different(difference) => told(format!(
                "leave other contents than production, first in buffer `{}` at offset {}",
                self.means.job().buffers[difference.buffer].name,
                difference.offset
            )),
            Ending::Varying(reason) | Ending::Broken(reason) | Ending::Unknown(reason) => {
                told(format!("do not leave one result: {reason}"))
            }
        })
    }
}

/// The places of a finding, whichever comes first.
fn places(finding: &Finding) -> BTreeSet<Option<&Place>> {
    BTreeSet::from([finding.place.as_ref(), finding.other_place.as_ref()])
}
