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
use super::kernel::{Kernel, ModuleVariant};
use super::test_run::{PreparedTest, TestEngine, job_of, judge_run, object_job};
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
use vkcert_oracle::contents::ContentsDifference;
use vkcert_sequential::ScheduleDependence;

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
    pub fn of_verdicts(left: Verdict, right: Verdict) -> Self {
        if left == Verdict::Pass && right == Verdict::Pass { Self::MetByBoth } else { Self::NotMet }
    }
}

/// Which results are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparedResults {
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
    fn in_words(self) -> &'static str {
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
pub enum RecordedCode {
    /// Vectors of decisions and marks.
    Source,
    /// Outcomes of the production module's branches.
    Object,
}

/// How two results differ.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContentsComparison {
    /// The buffers that differ where they may, and why.
    pub open: BTreeSet<(usize, Opening)>,
    /// Whether anything differs that must not.
    pub closed: bool,
}

/// What a test leaves open.
pub struct LeftOpen<'a> {
    /// The test.
    pub prepared_test: &'a PreparedTest<'a>,
    /// Its job, with what is expected of it.
    pub job_plan: &'a Prepared,
    judged: Judged,
    /// Buffers in which repetitions of the production module differed.
    varied: RefCell<BTreeSet<usize>>,
    source: OnceCell<ScheduleDependence>,
    object: OnceCell<ScheduleDependence>,
}

impl<'a> LeftOpen<'a> {
    /// What this test leaves open; how its kernels depend on the schedule is analysed when it is
    /// asked for.
    pub fn of_test(prepared_test: &'a PreparedTest<'a>, job_plan: &'a Prepared) -> Self {
        let (source, object) = (OnceCell::new(), OnceCell::new());
        Self {
            prepared_test,
            job_plan,
            judged: Judged::of_test(job_plan),
            varied: RefCell::default(),
            source,
            object,
        }
    }

    /// What depends on the schedule; nothing where the sequential engine does not know the kernels.
    pub fn schedule_dependence(&self, recorded: RecordedCode) -> &ScheduleDependence {
        let dependence_of = |job: Option<Job>| {
            let job = job.as_ref().unwrap_or(&self.job_plan.job);
            self.prepared_test.analyser.schedule_dependence(job).unwrap_or_default()
        };
        match recorded {
            RecordedCode::Source => self
                .source
                .get_or_init(|| dependence_of(job_of(self.prepared_test, ModuleVariant::Marked))),
            RecordedCode::Object => self.object.get_or_init(|| {
                dependence_of(object_job(self.prepared_test, EngineName::Sequential))
            }),
        }
    }

    /// Index into the modules of the job of a kernel's module under a specialization.
    pub fn module_index(&self, kernel: &Kernel, specialization: &Specialization) -> Option<usize> {
        let is_of = |module_use: &ModuleUse| {
            module_use.kernel.as_str() == kernel.name
                && module_use.specialization == *specialization
        };
        self.job_plan.modules.iter().position(is_of)
    }

    /// The bits of a module's records that depend on the schedule; none where nothing is known of
    /// it.
    pub fn bits_by_schedule(
        &self,
        kernel: &Kernel,
        specialization: &Specialization,
    ) -> Option<&BTreeSet<u32>> {
        let key = &self.job_plan.job.modules[self.module_index(kernel, specialization)?].key;
        self.schedule_dependence(RecordedCode::Source).bits.get(key)
    }

    /// Whether the contents of a buffer depend on who comes first.
    fn depends_on_schedule(&self, buffer: usize) -> bool {
        self.varied.borrow().contains(&buffer)
            || self.schedule_dependence(RecordedCode::Source).buffers.contains(&buffer)
    }

    /// Why a byte may differ; none: it must not.
    pub fn opening_at(
        &self,
        buffer: usize,
        byte: u64,
        between: ComparedResults,
        expectations: Expectations,
    ) -> Option<Opening> {
        if self.job_plan.expected.is_empty() {
            return None;
        }
        match (self.judged.judging_at(buffer, byte), between, expectations) {
            (Judging::Outside, ComparedResults::Repetitions, _) => Some(Opening::NotJudged),
            (
                Judging::Outside,
                ComparedResults::Modules | ComparedResults::Engines | ComparedResults::Schedules,
                _,
            ) => self.depends_on_schedule(buffer).then_some(Opening::NotJudged),
            (Judging::InAnyOrder | Judging::InPlace, _, Expectations::NotMet) => None,
            (Judging::InAnyOrder, _, Expectations::MetByBoth) => Some(Opening::AnyOrder),
            (Judging::InPlace, ComparedResults::Schedules, Expectations::MetByBoth) => None,
            (Judging::InPlace, _, Expectations::MetByBoth) => {
                self.depends_on_schedule(buffer).then_some(Opening::Schedule)
            }
        }
    }

    /// Whether two results that meet the expectations differ in a buffer otherwise than in an order that is left open, or
    /// that depends on the schedule.
    pub fn is_closed_difference(&self, difference: &ContentsDifference<'_>) -> bool {
        let mut comparison = ContentsComparison::default();
        let results = (ComparedResults::Engines, Expectations::MetByBoth);
        self.add_difference(difference, results, &mut comparison);
        comparison.closed
    }

    /// How final contents differ.
    pub fn compare_contents(
        &self,
        left_contents: &[BufferContents],
        right: &[BufferContents],
        between: ComparedResults,
        expectations: Expectations,
    ) -> ContentsComparison {
        let mut comparison = ContentsComparison::default();
        for difference in differing_contents(left_contents, right) {
            self.add_difference(&difference, (between, expectations), &mut comparison);
        }
        comparison
    }

    fn add_difference(
        &self,
        difference: &ContentsDifference<'_>,
        (between, expectations): (ComparedResults, Expectations),
        comparison: &mut ContentsComparison,
    ) {
        comparison.closed |= difference.lengths_differ();
        for offset in difference.offsets() {
            match self.opening_at(difference.buffer, offset as u64, between, expectations) {
                Some(opening) => {
                    comparison.open.insert((difference.buffer, opening));
                }
                None => comparison.closed = true,
            }
        }
    }

    /// A sentence for each buffer that differs where it may. `between` says between which results.
    pub fn notes_on_openings(
        &self,
        between: &str,
        openings: &BTreeSet<(usize, Opening)>,
    ) -> Vec<String> {
        let buffer_name = |buffer: usize| {
            self.job_plan.job.buffers.get(buffer).map_or("?", |buffer| buffer.name.as_str())
        };
        let opening_note = |(buffer, opening): &(usize, Opening)| {
            format!("{between}: `{}` differs {}", buffer_name(*buffer), opening.in_words())
        };
        openings.iter().map(opening_note).collect()
    }

    /// Bits in which two records differ; none where anything differs that does not depend on the
    /// schedule.
    pub fn scheduled_bits(
        &self,
        recorded: RecordedCode,
        module: &ModuleKey,
        [left, right]: [&Records; 2],
    ) -> Option<BTreeSet<u32>> {
        let differing = differing_bits(left, right);
        if differing.is_empty() {
            return Some(differing);
        }
        let bits_by_schedule = self.schedule_dependence(recorded).bits.get(module)?;
        differing.is_subset(bits_by_schedule).then_some(differing)
    }

    /// The production run that counts, with its judgement and what to tell. Repetitions that left
    /// different results are judged each by itself: all of them must pass, and the first that does
    /// not is the one that counts.
    pub fn settle_repetitions(
        &self,
        repeated_run: Run,
        variants: Vec<repeat::Variant>,
        engine_name: EngineName,
    ) -> Result<SettledRun, CampaignError> {
        if variants.is_empty() || self.job_plan.expected.is_empty() {
            let judgement = judge_run(self.job_plan, &repeated_run)?;
            return Ok(SettledRun {
                run: repeated_run,
                judgement,
                deciding_repetition: None,
                notes: Vec::new(),
            });
        }
        let mut judged_variants = Vec::new();
        for variant in variants {
            judged_variants.push((judge_run(self.job_plan, &variant.run)?, variant));
        }
        let mut openings = BTreeSet::new();
        for (_, other) in &judged_variants[1..] {
            let first_contents = &judged_variants[0].1.run.buffers;
            let differing = differing_contents(first_contents, &other.run.buffers);
            self.varied.borrow_mut().extend(differing.map(|difference| difference.buffer));
            openings.extend(
                self.compare_contents(
                    first_contents,
                    &other.run.buffers,
                    ComparedResults::Repetitions,
                    Expectations::MetByBoth,
                )
                .open,
            );
        }
        let worst_index =
            judged_variants.iter().position(|(judgement, _)| judgement.verdict != Verdict::Pass);
        let all_alike = judged_variants
            .iter()
            .all(|(judgement, _)| judgement.verdict == judged_variants[0].0.verdict);
        let (mut judgement, variant) = judged_variants.swap_remove(worst_index.unwrap_or(0));
        let mut deciding_repetition = None;
        if let (Some(_), false) = (worst_index, all_alike) {
            deciding_repetition = Some(variant.repetition as u32);
            judgement.reason =
                Some(reason_of_repetition(variant.repetition as u32, judgement.reason.as_deref()));
        }
        // Where some fail, it is the verdict that tells of the variation.
        let notes = match worst_index {
            None => self.notes_on_openings(&format!("repetitions on {engine_name}"), &openings),
            Some(_) => vec![format!("what the repetitions on {engine_name} leave varies")],
        };
        let run = Run { completion: Completion::Completed, ..variant.run };
        let run = Run {
            findings: repeated_run.findings,
            notes: repeated_run.notes,
            race_scope: repeated_run.race_scope,
            ..run
        };
        Ok(SettledRun { run, judgement, deciding_repetition, notes })
    }

    /// One run for results of repetitions that differ only where they may: records together,
    /// contents of the first.
    pub fn unite_repetitions(
        &self,
        variants: Vec<repeat::Variant>,
        recorded: RecordedCode,
        between: &str,
    ) -> Result<Option<(Run, Vec<String>)>, CampaignError> {
        let mut variants = variants.into_iter();
        let Some(repeat::Variant { run: mut first_run, .. }) = variants.next() else {
            return Ok(None);
        };
        let verdict = judge_run(self.job_plan, &first_run)?.verdict;
        let (mut openings, mut notes) = (BTreeSet::new(), Vec::new());
        for other in variants {
            let expectations =
                Expectations::of_verdicts(verdict, judge_run(self.job_plan, &other.run)?.verdict);
            let differences = self.compare_contents(
                &first_run.buffers,
                &other.run.buffers,
                ComparedResults::Repetitions,
                expectations,
            );
            if differences.closed || !first_run.records.keys().eq(other.run.records.keys()) {
                return Ok(None);
            }
            openings.extend(differences.open);
            for (module, records) in &mut first_run.records {
                let other_records = &other.run.records[module];
                let Some(bits_that_differ) =
                    self.scheduled_bits(recorded, module, [records, other_records])
                else {
                    return Ok(None);
                };
                if bits_that_differ.iter().any(|bit| records.has(*bit) != other_records.has(*bit)) {
                    notes.push(format!(
                        "{between}: coverage of `{module}` that depends on the schedule varies"
                    ));
                }
                let lower =
                    |bit: &u32| other_records.witnesses.get(bit) < records.witnesses.get(bit);
                let lower: Vec<u32> =
                    other_records.witnesses.keys().copied().filter(lower).collect();
                records.merge(other_records);
                records
                    .witnesses
                    .extend(lower.into_iter().map(|bit| (bit, other_records.witnesses[&bit])));
            }
        }
        notes.extend(self.notes_on_openings(between, &openings));
        notes.dedup();
        Ok(Some((first_run, notes)))
    }

    /// Runs a job; results of repetitions that differ only where they may count as one.
    pub fn execute_united(
        &self,
        test_engine: &mut TestEngine<'_>,
        job: &Job,
        recorded: RecordedCode,
        between: &str,
    ) -> Result<(Run, Vec<String>), CampaignError> {
        let RunOutcome { run, variants, .. } = test_engine.execute(job, None)?;
        let united_run = self.unite_repetitions(variants, recorded, between)?;
        Ok(united_run.unwrap_or((run, Vec::new())))
    }
}

/// A production run that was judged.
pub struct SettledRun {
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
