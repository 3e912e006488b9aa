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
mod finding;
mod means;

use super::left_open::{Between, Expectations, LeftOpen, Recorded};
use super::test_run::{PreparedTest, TestEngine, TestRun, judge};
use crate::CampaignError;
pub use directed::direct;
use vkcert_exec::prepare::Prepared;
use vkcert_exec::schedule::Dispatches;
use vkcert_exec::{Completion, Job, Run, RunOutcome};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::schedule::{Schedule, ScheduleResult, ScheduleStatus};
use vkcert_model::verdict::Verdict;

use coverage::{CoverageDifference, Measures};
use element::{Difference, difference};
use means::{Means, NoMeans};
use std::collections::BTreeSet;

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

/// How a schedule ended.
enum Ending {
    Equal,
    Different(Difference),
    /// Its repetitions do not agree, other than those of production.
    Varying(String),
    /// Other than production, it did not complete.
    Broken(String),
    /// None of these can be told.
    Unknown(String),
}

/// How a schedule ended, where bytes may differ that `open` names.
fn ending(production: &Run, run: &Run, open: impl Fn(usize, u64) -> bool) -> Ending {
    match &run.completion {
        Completion::Completed => {
            difference(production, run, open).map_or(Ending::Equal, Ending::Different)
        }
        Completion::Varying { reason } => Ending::Varying(reason.clone()),
        Completion::Timeout { reason } => Ending::Broken(format!("timeout, {reason}")),
        Completion::NoTermination { reason } => Ending::Broken(format!("no termination, {reason}")),
        Completion::Error { reason } | Completion::DeviceLost { reason } => {
            Ending::Broken(format!("error, {reason}"))
        }
        Completion::Undetermined { reason } => Ending::Unknown(reason.clone()),
        Completion::Unsupported { what } => Ending::Unknown(format!("unsupported: {what}")),
    }
}

/// The schedules of one test on an engine.
struct Trial<'a, 'e> {
    open: &'a LeftOpen<'a>,
    prepared: &'a PreparedTest<'a>,
    plan: &'a Prepared,
    production: &'a Run,
    /// What the expectations say of what production left.
    verdict: Verdict,
    means: Means,
    /// Where coverage is compared.
    measures: Option<Measures<'a>>,
    engine: &'a mut TestEngine<'e>,
    found: Found,
    outputs: Changes<Shown>,
    coverage: Changes<Covered>,
    all: Everything,
}

/// What any of the schedules changed.
#[derive(Default)]
struct Everything {
    /// Names of buffers with other contents.
    buffers: BTreeSet<String>,
    /// What the test's expectations say of the results.
    verdicts: BTreeSet<String>,
    /// What is covered by some alone.
    covered: BTreeSet<String>,
}

/// The schedules that changed something, with what the simplest of them did.
struct Changes<T> {
    simplest: Option<T>,
    schedules: Vec<Schedule>,
}

/// Whether another schedule is run.
enum Next {
    GoOn,
    Stop,
}

/// A schedule that left other contents.
struct Shown {
    schedule: Schedule,
    difference: Difference,
    run: Run,
}

/// A schedule that recorded other coverage.
struct Covered {
    schedule: Schedule,
    differences: Vec<CoverageDifference>,
}

impl<'a, 'e> Trial<'a, 'e> {
    fn new(
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
        if run.completion != Completion::Completed || run.buffers == self.production.buffers {
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

    fn run(mut self) -> Result<Found, CampaignError> {
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
        let buffers =
            self.means.job().buffers.iter().zip(self.production.buffers.iter().zip(&run.buffers));
        let changed = buffers
            .filter(|(_, (ours, theirs))| ours != theirs)
            .map(|(buffer, _)| buffer.name.clone());
        self.all.buffers.extend(changed);
        self.all.verdicts.insert(judge(self.plan, run)?.verdict.to_string());
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
                        same_value(other) == Some(true) && same_value(finding) == Some(false);
                    other.kind == finding.kind && places(other) == places(finding) && !worse
                }
            };
            if !self.production.findings.iter().chain(&self.found.findings).any(known) {
                self.found.findings.push(finding.clone().detail("schedule", schedule.to_string()));
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

    /// The schedules that do part of what one does and have not run.
    fn untried(&self, schedule: Schedule) -> Vec<Schedule> {
        schedule
            .simpler_schedules()
            .into_iter()
            .filter(|simpler| !self.found.ran.contains(simpler))
            .collect()
    }

    /// The simplest schedule that does part of what this one does and still leaves other contents.
    fn made_smaller(&mut self, shown: Shown) -> Result<Shown, CampaignError> {
        for schedule in self.untried(shown.schedule) {
            let run = self.means.execute(self.engine, schedule, Dispatches::All)?.run;
            match self.ending(&run, schedule)? {
                Ending::Different(difference) => return Ok(Shown { schedule, difference, run }),
                Ending::Equal | Ending::Varying(_) | Ending::Broken(_) | Ending::Unknown(_) => {}
            }
        }
        Ok(shown)
    }

    /// The same of coverage.
    fn covered_smaller(&mut self, covered: Covered) -> Result<Covered, CampaignError> {
        for schedule in self.untried(covered.schedule) {
            match self.differences(schedule)? {
                Ok(differences) if !differences.is_empty() => {
                    return Ok(Covered { schedule, differences });
                }
                Ok(_) | Err(_) => {}
            }
        }
        Ok(covered)
    }

    /// The dispatches of which each, permuted alone, changes the contents.
    fn alone(&mut self, schedule: Schedule) -> Result<Vec<usize>, CampaignError> {
        let permuted = self.means.dispatches();
        if permuted.len() == 1 {
            return Ok(permuted);
        }
        let mut alone = Vec::new();
        for dispatch in permuted {
            let run = self.execute(schedule, Dispatches::One(dispatch))?;
            match self.ending(&run, schedule)? {
                Ending::Equal | Ending::Unknown(_) => {}
                Ending::Different(_) | Ending::Varying(_) | Ending::Broken(_) => {
                    alone.push(dispatch)
                }
            }
        }
        Ok(alone)
    }
}

/// Whether both invocations of a data race always write the same.
fn same_value(finding: &Finding) -> Option<bool> {
    finding.details.get("same_value")?.as_bool()
}

/// The places of a finding, whichever comes first.
fn places(finding: &Finding) -> BTreeSet<Option<&vkcert_model::place::Place>> {
    BTreeSet::from([finding.place.as_ref(), finding.other_place.as_ref()])
}

#[cfg(test)]
mod tests;
