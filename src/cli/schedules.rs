//! Schedules: the production modules of a test again, with its workgroups in other orders.
//!
//! Knows: the job that production ran, what it left, the rewritten form of its modules (`instrument::permute`).
//! Promises: the rewritten form first runs in the first-to-last order and must leave what production left; only then does a
//! difference in another order count, and it is one of the order: module and pipeline are the same. Every schedule runs as
//! often as the test. What cannot be permuted makes a passed test undetermined, by name.
//! Does not cover: orders that the device chooses: it may start workgroups in any, and several at once.

use super::failure::Failure;
use super::test_run::{PreparedTest, TestRun, execute, judge};
use crate::exec::compare::{shown, shown_bits};
use crate::exec::prepare::scalar::read;
use crate::exec::prepare::{ExpectedContents, Prepared};
use crate::exec::schedule::PermutableJob;
use crate::exec::{Completion, Executor, Job, Run};
use crate::model::element::{DataType, ScalarType};
use crate::model::finding::{Finding, FindingKind};
use crate::model::schedule::{Schedule, ScheduleResult, ScheduleStatus};
use crate::model::verdict::EngineName;
use std::collections::BTreeSet;

/// Runs the test's schedules on `engine`, where any are asked for; `job` is what has left `production`.
pub fn amplify(
    prepared: &PreparedTest,
    plan: &Prepared,
    job: &Job,
    production: &Run,
    engine: &mut dyn Executor,
    run: &mut TestRun,
) -> Result<(), Failure> {
    if prepared.schedules.count == 0 {
        return Ok(());
    }
    let found = match hindrance(engine.name(), job, production) {
        Some(reason) => Found::ended(ScheduleStatus::NotRun, reason),
        None => match PermutableJob::of(job) {
            Err(reason) => Found::ended(ScheduleStatus::Undetermined, reason),
            Ok(None) => {
                let reason = "every dispatch has one workgroup, or no kernel asks which it is";
                Found::ended(ScheduleStatus::NothingToPermute, reason.to_owned())
            }
            Ok(Some(permutable)) => {
                let found = Found::started();
                Trial { prepared, plan, production, permutable, engine, found, simplest: None, changing: Vec::new() }
                    .run()?
            }
        },
    };
    if found.status == ScheduleStatus::Undetermined {
        run.doubt(format!("schedules: {}", found.reason.as_deref().unwrap_or_default()));
    }
    run.findings.extend(found.findings);
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
fn hindrance(engine: EngineName, job: &Job, production: &Run) -> Option<String> {
    let kind = FindingKind::ScheduleDependentOutput;
    match engine {
        EngineName::Sequential => Some("the sequential engine has no schedules yet".to_owned()),
        EngineName::Vulkan if !job.checks.has(kind) => Some(format!("--check leaves {kind} out")),
        EngineName::Vulkan if production.completion != Completion::Completed => {
            Some("the production run did not complete".to_owned())
        }
        EngineName::Vulkan => None,
    }
}

/// What came of the schedules of a test.
struct Found {
    status: ScheduleStatus,
    reason: Option<String>,
    ran: Vec<Schedule>,
    different: Vec<Schedule>,
    findings: Vec<Finding>,
}

impl Found {
    /// Before anything has differed.
    fn started() -> Self {
        Self { reason: None, ..Self::ended(ScheduleStatus::Equal, String::new()) }
    }

    fn ended(status: ScheduleStatus, reason: String) -> Self {
        Self { status, reason: Some(reason), ran: Vec::new(), different: Vec::new(), findings: Vec::new() }
    }
}

/// Where a run in some order left other contents than production did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Difference {
    buffer: usize,
    /// The first byte that differs.
    offset: usize,
    /// Over all buffers.
    bytes: usize,
}

fn difference(production: &Run, run: &Run) -> Option<Difference> {
    let mut first: Option<Difference> = None;
    for (buffer, (ours, theirs)) in production.buffers.iter().zip(&run.buffers).enumerate() {
        let differing = ours.iter().zip(theirs).enumerate().filter(|(_, (ours, theirs))| ours != theirs);
        for (offset, _) in differing {
            first.get_or_insert(Difference { buffer, offset, bytes: 0 }).bytes += 1;
        }
    }
    first
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

fn ending(production: &Run, run: &Run) -> Ending {
    match &run.completion {
        Completion::Completed => difference(production, run).map_or(Ending::Equal, Ending::Different),
        Completion::Varying { reason } => Ending::Varying(reason.clone()),
        Completion::Timeout { reason } => Ending::Broken(format!("timeout, {reason}")),
        Completion::NoTermination { reason } => Ending::Broken(format!("no termination, {reason}")),
        Completion::Error { reason } => Ending::Broken(format!("error, {reason}")),
        Completion::Undetermined { reason } => Ending::Unknown(reason.clone()),
        Completion::Unsupported { what } => Ending::Unknown(format!("unsupported: {what}")),
    }
}

fn finding(message: String, schedule: Schedule, kernels: Vec<String>) -> Finding {
    Finding::new(FindingKind::ScheduleDependentOutput, message)
        .detail("schedule", schedule.to_string())
        .detail("baseline", Schedule::InOrder.to_string())
        .detail("kernels", kernels)
}

/// The schedules of one test on a device.
struct Trial<'a> {
    prepared: &'a PreparedTest<'a>,
    plan: &'a Prepared,
    production: &'a Run,
    permutable: PermutableJob,
    engine: &'a mut dyn Executor,
    found: Found,
    simplest: Option<Shown>,
    /// Schedules that left other contents.
    changing: Vec<Schedule>,
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

impl Trial<'_> {
    fn run(mut self) -> Result<Found, Failure> {
        let first = self.execute(Schedule::InOrder, |_| true)?;
        if let Some(reason) = self.unlike_production(&first) {
            let findings = self.found.findings;
            return Ok(Found { findings, ..Found::ended(ScheduleStatus::Undetermined, reason) });
        }
        let workgroups: Vec<u32> = self.permutable.orders().iter().map(|order| order.workgroups).collect();
        for schedule in self.prepared.schedules.list(&workgroups) {
            match self.follow(schedule)? {
                Next::GoOn => {}
                Next::Stop => break,
            }
        }
        if let Some(simplest) = self.simplest.take() {
            let alone = self.alone(simplest.schedule)?;
            let finding = self.different(&simplest, &alone)?;
            self.found.findings.push(finding);
        }
        if self.found.status == ScheduleStatus::Equal && !self.found.different.is_empty() {
            self.found.status = ScheduleStatus::Different;
        }
        Ok(self.found)
    }

    /// Runs one schedule and keeps what it shows.
    fn follow(&mut self, schedule: Schedule) -> Result<Next, Failure> {
        let run = self.execute(schedule, |_| true)?;
        self.found.ran.push(schedule);
        match ending(self.production, &run) {
            Ending::Equal => return Ok(Next::GoOn),
            Ending::Unknown(reason) => {
                self.found.status = ScheduleStatus::Undetermined;
                self.found.reason = Some(format!("`{schedule}`: {reason}"));
                return Ok(Next::Stop);
            }
            Ending::Different(difference) => {
                self.changing.push(schedule);
                if self.simplest.as_ref().is_none_or(|known| schedule < known.schedule) {
                    self.simplest = Some(Shown { schedule, difference, run });
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
                self.found.reason = Some(format!("none is run after `{schedule}`, which does not complete"));
                return Ok(Next::Stop);
            }
        }
        self.found.different.push(schedule);
        Ok(Next::GoOn)
    }

    /// Runs the job in an order; findings that production did not make are kept.
    fn execute(&mut self, schedule: Schedule, dispatches: impl Fn(usize) -> bool) -> Result<Run, Failure> {
        let run = execute(self.engine, &self.permutable.in_order(schedule, dispatches))?;
        for finding in &run.findings {
            let same = |other: &Finding| other.kind == finding.kind && other.message == finding.message;
            if !self.production.findings.iter().chain(&self.found.findings).any(same) {
                self.found.findings.push(finding.clone().detail("schedule", schedule.to_string()));
            }
        }
        Ok(run)
    }

    /// Why the rewritten modules cannot stand for production.
    fn unlike_production(&self, first: &Run) -> Option<String> {
        let told = |what: String| Some(format!("the modules that can be permuted, run from first to last, {what}"));
        match ending(self.production, first) {
            Ending::Equal => None,
            Ending::Different(difference) => told(format!(
                "leave other contents than production, first in buffer `{}` at offset {}",
                self.permutable.job().buffers[difference.buffer].name,
                difference.offset
            )),
            Ending::Varying(reason) | Ending::Broken(reason) | Ending::Unknown(reason) => {
                told(format!("do not leave one result: {reason}"))
            }
        }
    }

    /// The dispatches of which each, permuted alone, changes the contents.
    fn alone(&mut self, schedule: Schedule) -> Result<Vec<usize>, Failure> {
        let permuted = self.permutable.orders().iter().filter(|order| order.workgroups > 1);
        let permuted: Vec<usize> = permuted.map(|order| order.dispatch).collect();
        if permuted.len() == 1 {
            return Ok(permuted);
        }
        let mut alone = Vec::new();
        for dispatch in permuted {
            let run = self.execute(schedule, |other| other == dispatch)?;
            match ending(self.production, &run) {
                Ending::Equal | Ending::Unknown(_) => {}
                Ending::Different(_) | Ending::Varying(_) | Ending::Broken(_) => alone.push(dispatch),
            }
        }
        Ok(alone)
    }

    /// The kernels of these dispatches, each once.
    fn kernels(&self, dispatches: impl Iterator<Item = usize>) -> Vec<String> {
        let job = &self.permutable.job();
        let names: BTreeSet<_> =
            dispatches.map(|index| self.plan.modules[job.dispatches[index].module].kernel.to_string()).collect();
        names.into_iter().collect()
    }

    fn different(&self, simplest: &Shown, alone: &[usize]) -> Result<Finding, Failure> {
        let Shown { schedule, difference: Difference { buffer, offset, bytes }, run } = simplest;
        let name = &self.permutable.job().buffers[*buffer].name;
        let (scalar, start) = self.element(*buffer, *offset);
        let bits = |run: &Run| read(&run.buffers[*buffer], scalar, start).unwrap_or_default();
        let (ours, theirs) = (bits(self.production), bits(run));
        let kernels = match alone {
            // No dispatch alone changes anything: all of them together do.
            [] => self.permuted_kernels(),
            _ => self.kernels(alone.iter().copied()),
        };
        let verdict = judge(self.plan, run)?.verdict;
        let differ = if *bytes == 1 { "1 byte differs".to_owned() } else { format!("{bytes} bytes differ") };
        let message = format!(
            "the order of the workgroups of {} changes the result: with schedule `{schedule}` {differ}, the first in buffer \
             `{name}` at offset {start}: {} in place of {} ({scalar}); judged as it stands, this result is a {verdict}",
            kernels.join(", "),
            shown(scalar, theirs),
            shown(scalar, ours)
        );
        let texts: Vec<String> = self.changing.iter().map(ToString::to_string).collect();
        let finding = finding(message, *schedule, kernels)
            .detail("schedules", texts)
            .detail("dispatches", alone.to_vec())
            .detail("buffer", name.clone())
            .detail("offset", start)
            .detail("type", scalar.to_string())
            .detail("expected", shown(scalar, ours))
            .detail("actual", shown(scalar, theirs))
            .detail("expected_bits", shown_bits(scalar, ours))
            .detail("actual_bits", shown_bits(scalar, theirs))
            .detail("bytes", *bytes)
            .detail("verdict", verdict.to_string());
        Ok(Finding { count: self.changing.len() as u64, ..finding })
    }

    /// A schedule with which the job no longer does what it does from first to last.
    fn uncertain(&self, schedule: Schedule, what: &str, reason: &str) -> Finding {
        let kernels = self.permuted_kernels();
        let message = format!(
            "whether {} {what} depends on the order of the workgroups: from first to last it does, with schedule \
             `{schedule}` it does not: {reason}",
            kernels.join(", ")
        );
        finding(message, schedule, kernels).detail("ended", reason)
    }

    fn permuted_kernels(&self) -> Vec<String> {
        let permuted = self.permutable.orders().iter().filter(|order| order.workgroups > 1);
        self.kernels(permuted.map(|order| order.dispatch))
    }

    /// The scalar that holds a byte of a buffer, as the test types it, and where it starts: else a word, else the byte.
    fn element(&self, buffer: usize, offset: usize) -> (ScalarType, usize) {
        let job_buffer = &self.permutable.job().buffers[buffer];
        let typed = match self.prepared.test.buffers.get(&job_buffer.name).and_then(|buffer| buffer.data_type) {
            Some(DataType::Element(element)) => Some(element.scalar),
            Some(DataType::Reflect) | None => None,
        };
        let aligned = |scalar: ScalarType| (scalar, offset - offset % scalar.size());
        let fits = |(scalar, start): &(ScalarType, usize)| start + scalar.size() <= job_buffer.bytes.len();
        let expected = || {
            let expected = self.plan.expected.iter().filter(|one| one.buffer == buffer && one.format.is_none());
            let mut leaves = expected.flat_map(|one| match &one.contents {
                ExpectedContents::Values(leaves) => leaves.as_slice(),
                ExpectedContents::Buffer { .. } | ExpectedContents::Reference { .. } => &[],
            });
            let leaf =
                leaves.find(|leaf| (leaf.offset..leaf.offset + leaf.scalar.size() as u64).contains(&(offset as u64)));
            leaf.map(|leaf| (leaf.scalar, leaf.offset as usize))
        };
        let known = typed.map(aligned).or_else(expected).unwrap_or_else(|| aligned(ScalarType::Uint32));
        Some(known).filter(fits).unwrap_or((ScalarType::Uint8, offset))
    }
}

#[cfg(test)]
#[path = "schedules_tests.rs"]
mod tests;
