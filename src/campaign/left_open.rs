//! What may differ between two results of a test that are both right: what its expectations leave
//! open, and what depends on who comes first.
//!
//! Knows: the expectations of a test and, found when it is first asked for, what of its job depends
//! on the schedule (`sequential::ScheduleDependence`).
//! Promises: contents may differ where no expectation looks, between repetitions always, else only
//! in buffers that depend on the schedule; and, if both results meet the expectations, where these
//! leave the order open. Judged in their places they may differ only within a tolerance, and in
//! another schedule not even so. Records may differ in the vectors of decisions that depend on the
//! schedule, and nowhere else. A test without expectations leaves nothing open. Whatever differs so
//! is told, as a note.
//! Does not cover: error bounds of floating-point operations (`agreement`).

use super::configuration::Specialization;
use super::kernel::{Kernel, Variant};
use super::test_run::{PreparedTest, TestEngine, job_of, judge, object_job};
use crate::CampaignError;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use vkcert_exec::comparison::{differing_bits, differing_contents};
use vkcert_exec::judge::Judgement;
use vkcert_exec::judged_bytes::{Judged, Judging};
use vkcert_exec::prepare::{ModuleUse, Prepared};
use vkcert_exec::repeat;
use vkcert_exec::{BufferContents, Completion, Job, Run, RunOutcome};
use vkcert_model::id::ModuleKey;
use vkcert_model::records::Records;
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_sequential::{ScheduleDependence, SequentialExecutor};

/// Whether two results meet the expectations of their test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expectations {
    /// Both pass.
    MetByBoth,
    /// At least one does not pass.
    NotMet,
}

impl Expectations {
    /// Whether both verdicts are passes.
    pub fn of(left: Verdict, right: Verdict) -> Self {
        if left == Verdict::Pass && right == Verdict::Pass { Self::MetByBoth } else { Self::NotMet }
    }
}

/// Which results are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Between {
    /// Of one module on one engine.
    Repetitions,
    /// Production's, and those of modules that record, in the ordinary schedule or a directed one.
    Modules,
    /// Of the two engines.
    Engines,
    /// Of different schedules on one engine.
    Schedules,
}

/// Why contents may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Opening {
    /// No expectation looks there.
    NotJudged,
    /// Expectations judge it in any order.
    AnyOrder,
    /// It depends on the schedule, and expectations are met all the same.
    Schedule,
}

impl Opening {
    fn words(self) -> &'static str {
        match self {
            Opening::NotJudged => "where no expectation looks",
            Opening::AnyOrder => "in an order that the expectations leave open",
            Opening::Schedule => {
                "where its contents depend on who comes first, and each result meets the expectations"
            }
        }
    }
}

/// Which modules record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// Vectors of decisions and marks.
    Source,
    /// Outcomes of the production module's branches.
    Object,
}

/// How two results differ.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Differences {
    /// The buffers that differ where they may, and why.
    pub open: BTreeSet<(usize, Opening)>,
    /// Whether anything differs that must not.
    pub closed: bool,
}

/// What a test leaves open.
pub struct LeftOpen<'a> {
    /// The test.
    pub prepared: &'a PreparedTest<'a>,
    /// Its job, with what is expected of it.
    pub plan: &'a Prepared,
    judged: Judged,
    /// Buffers in which repetitions of the production module differed.
    varied: RefCell<BTreeSet<usize>>,
    source: OnceCell<ScheduleDependence>,
    object: OnceCell<ScheduleDependence>,
}

impl<'a> LeftOpen<'a> {
    /// What this test leaves open; how its kernels depend on the schedule is analysed when it is
    /// asked for.
    pub fn of(prepared: &'a PreparedTest<'a>, plan: &'a Prepared) -> Self {
        let (source, object) = (OnceCell::new(), OnceCell::new());
        Self {
            prepared,
            plan,
            judged: Judged::of(plan),
            varied: RefCell::default(),
            source,
            object,
        }
    }

    /// What depends on the schedule; nothing where the sequential engine does not know the kernels.
    pub fn dependence(&self, recorded: Recorded) -> &ScheduleDependence {
        let analysed = |job: Option<Job>| {
            let job = job.unwrap_or_else(|| self.plan.job.clone());
            SequentialExecutor::default().schedule_dependence(&job).unwrap_or_default()
        };
        match recorded {
            Recorded::Source => {
                self.source.get_or_init(|| analysed(job_of(self.prepared, Variant::Marked)))
            }
            Recorded::Object => self
                .object
                .get_or_init(|| analysed(object_job(self.prepared, EngineName::Sequential))),
        }
    }

    /// Index into the modules of the job of a kernel's module under a specialization.
    pub fn module(&self, kernel: &Kernel, specialization: &Specialization) -> Option<usize> {
        let is_of = |of: &ModuleUse| {
            of.kernel.as_str() == kernel.name && of.specialization == *specialization
        };
        self.plan.modules.iter().position(is_of)
    }

    /// The bits of a module's records that depend on the schedule; none where nothing is known of
    /// it.
    pub fn scheduled(
        &self,
        kernel: &Kernel,
        specialization: &Specialization,
    ) -> Option<&BTreeSet<u32>> {
        let key = &self.plan.job.modules[self.module(kernel, specialization)?].key;
        self.dependence(Recorded::Source).bits.get(key)
    }

    /// Whether the contents of a buffer depend on who comes first.
    fn depends(&self, buffer: usize) -> bool {
        self.varied.borrow().contains(&buffer)
            || self.dependence(Recorded::Source).buffers.contains(&buffer)
    }

    /// Why a byte may differ; none: it must not.
    pub fn opening(
        &self,
        buffer: usize,
        byte: u64,
        between: Between,
        expectations: Expectations,
    ) -> Option<Opening> {
        if self.plan.expected.is_empty() {
            return None;
        }
        match (self.judged.at(buffer, byte), between, expectations) {
            (Judging::Outside, Between::Repetitions, _) => Some(Opening::NotJudged),
            (Judging::Outside, Between::Modules | Between::Engines | Between::Schedules, _) => {
                self.depends(buffer).then_some(Opening::NotJudged)
            }
            (Judging::InAnyOrder | Judging::InPlace, _, Expectations::NotMet) => None,
            (Judging::InAnyOrder, _, Expectations::MetByBoth) => Some(Opening::AnyOrder),
            (Judging::InPlace, Between::Schedules, Expectations::MetByBoth) => None,
            (Judging::InPlace, _, Expectations::MetByBoth) => {
                self.depends(buffer).then_some(Opening::Schedule)
            }
        }
    }

    /// How final contents differ.
    pub fn contents(
        &self,
        left: &[BufferContents],
        right: &[BufferContents],
        between: Between,
        expectations: Expectations,
    ) -> Differences {
        let mut found = Differences::default();
        for difference in differing_contents(left, right) {
            found.closed |= difference.lengths_differ();
            for offset in difference.offsets() {
                match self.opening(difference.buffer, offset as u64, between, expectations) {
                    Some(opening) => drop(found.open.insert((difference.buffer, opening))),
                    None => found.closed = true,
                }
            }
        }
        found
    }

    /// A sentence for each buffer that differs where it may. `between` says between which results.
    pub fn notes(&self, between: &str, open: &BTreeSet<(usize, Opening)>) -> Vec<String> {
        let name = |buffer: usize| {
            self.plan.job.buffers.get(buffer).map_or("?", |buffer| buffer.name.as_str())
        };
        let note = |(buffer, opening): &(usize, Opening)| {
            format!("{between}: `{}` differs {}", name(*buffer), opening.words())
        };
        open.iter().map(note).collect()
    }

    /// Bits in which two records differ; none where anything differs that does not depend on the
    /// schedule.
    pub fn scheduled_bits(
        &self,
        recorded: Recorded,
        module: &ModuleKey,
        [left, right]: [&Records; 2],
    ) -> Option<BTreeSet<u32>> {
        let differing = differing_bits(left, right);
        if differing.is_empty() {
            return Some(differing);
        }
        let known = self.dependence(recorded).bits.get(module)?;
        differing.is_subset(known).then_some(differing)
    }

    /// The production run that counts, with its judgement and what to tell. Repetitions that left
    /// different results are judged each by itself: all of them must pass, and the first that does
    /// not is the one that counts.
    pub fn settle(
        &self,
        varied: Run,
        variants: Vec<repeat::Variant>,
        engine: EngineName,
    ) -> Result<Settled, CampaignError> {
        if variants.is_empty() || self.plan.expected.is_empty() {
            let judgement = judge(self.plan, &varied)?;
            return Ok(Settled {
                run: varied,
                judgement,
                deciding_repetition: None,
                notes: Vec::new(),
            });
        }
        let mut judged = Vec::new();
        for variant in variants {
            judged.push((judge(self.plan, &variant.run)?, variant));
        }
        let mut open = BTreeSet::new();
        for (_, other) in &judged[1..] {
            let first = &judged[0].1.run.buffers;
            let varied = differing_contents(first, &other.run.buffers);
            self.varied.borrow_mut().extend(varied.map(|difference| difference.buffer));
            open.extend(
                self.contents(
                    first,
                    &other.run.buffers,
                    Between::Repetitions,
                    Expectations::MetByBoth,
                )
                .open,
            );
        }
        let worst = judged.iter().position(|(judgement, _)| judgement.verdict != Verdict::Pass);
        let all_alike =
            judged.iter().all(|(judgement, _)| judgement.verdict == judged[0].0.verdict);
        let (mut judgement, variant) = judged.swap_remove(worst.unwrap_or(0));
        let mut deciding_repetition = None;
        if let (Some(_), false) = (worst, all_alike) {
            deciding_repetition = Some(variant.repetition as u32);
            judgement.reason =
                Some(reason_of_repetition(variant.repetition as u32, judgement.reason.as_deref()));
        }
        // Where some fail, it is the verdict that tells of the variation.
        let notes = match worst {
            None => self.notes(&format!("repetitions on {engine}"), &open),
            Some(_) => vec![format!("what the repetitions on {engine} leave varies")],
        };
        let run = Run { completion: Completion::Completed, ..variant.run };
        let run = Run {
            findings: varied.findings,
            notes: varied.notes,
            race_scope: varied.race_scope,
            ..run
        };
        Ok(Settled { run, judgement, deciding_repetition, notes })
    }

    /// One run for results of repetitions that differ only where they may: records together,
    /// contents of the first.
    pub fn united(
        &self,
        variants: Vec<repeat::Variant>,
        recorded: Recorded,
        between: &str,
    ) -> Result<Option<(Run, Vec<String>)>, CampaignError> {
        let mut variants = variants.into_iter();
        let Some(repeat::Variant { run: mut first, .. }) = variants.next() else { return Ok(None) };
        let verdict = judge(self.plan, &first)?.verdict;
        let (mut open, mut notes) = (BTreeSet::new(), Vec::new());
        for other in variants {
            let expectations = Expectations::of(verdict, judge(self.plan, &other.run)?.verdict);
            let differences = self.contents(
                &first.buffers,
                &other.run.buffers,
                Between::Repetitions,
                expectations,
            );
            if differences.closed || !first.records.keys().eq(other.run.records.keys()) {
                return Ok(None);
            }
            open.extend(differences.open);
            for (module, records) in &mut first.records {
                let theirs = &other.run.records[module];
                let Some(bits) = self.scheduled_bits(recorded, module, [records, theirs]) else {
                    return Ok(None);
                };
                if bits.iter().any(|bit| records.has(*bit) != theirs.has(*bit)) {
                    notes.push(format!(
                        "{between}: coverage of `{module}` that depends on the schedule varies"
                    ));
                }
                let lower = |bit: &u32| theirs.witnesses.get(bit) < records.witnesses.get(bit);
                let lower: Vec<u32> = theirs.witnesses.keys().copied().filter(lower).collect();
                records.merge(theirs);
                records
                    .witnesses
                    .extend(lower.into_iter().map(|bit| (bit, theirs.witnesses[&bit])));
            }
        }
        notes.extend(self.notes(between, &open));
        notes.dedup();
        Ok(Some((first, notes)))
    }

    /// Runs a job; results of repetitions that differ only where they may count as one.
    pub fn execute(
        &self,
        engine: &mut TestEngine<'_>,
        job: &Job,
        recorded: Recorded,
        between: &str,
    ) -> Result<(Run, Vec<String>), CampaignError> {
        let RunOutcome { run, variants, .. } = engine.execute(job, None)?;
        let united = self.united(variants, recorded, between)?;
        Ok(united.unwrap_or((run, Vec::new())))
    }
}

/// A production run that was judged.
pub struct Settled {
    /// What the production module left and found.
    pub run: Run,
    /// What it comes to by the expectations.
    pub judgement: Judgement,
    /// Counted from 1: the one that was judged, where others pass.
    pub deciding_repetition: Option<u32>,
    /// Remarks on the run, for reports.
    pub notes: Vec<String>,
}

/// The reason for a verdict that one repetition gave.
pub fn reason_of_repetition(repetition: u32, reason: Option<&str>) -> String {
    format!("in repetition {repetition}, where others pass: {}", reason.unwrap_or_default())
}
