//! Directed schedules: a passed test measured again with who waits first, where the ordinary
//! schedule leaves something open that depends on the schedule.
//!
//! Knows: what of the test's records depends on the schedule (`left_open`), which of it is still
//! open.
//! Promises: what a directed schedule records counts only where it completes and leaves what the
//! test's expectations accept, and only in what depends on the schedule; it is kept with the name
//! of the schedule. Nothing runs where nothing is open.
//! Does not cover: devices, which follow no such schedule; production, which ran in the ordinary
//! one.

use super::super::kernel::{Kernel, ModuleVariant};
use super::super::left_open::{ComparedResults, Expectations, LeftOpen, RecordedCode};
use super::super::test_run::{ModuleRecords, TestEngine, TestRun, job_of, judge_run, object_job};
use crate::CampaignError;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_coverage::mcdc::Mcdc;
use vkcert_exec::comparison::differing_contents;
use vkcert_exec::{Completion, Job, Run};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::finding_details::{RefusedOutputs, ScheduleDetails, ScheduleEffect};
use vkcert_model::id::ModuleKey;
use vkcert_model::procedure::Limits;
use vkcert_model::records::{DecisionSlot, Records};
use vkcert_model::schedule::{DirectedResult, MeasuredCode, Order, Schedule};
use vkcert_model::verdict::{EngineName, Verdict};

/// In this order, until nothing is open.
const DIRECTED: [Schedule; 2] =
    [Schedule::waiters_first(Order::Reversed), Schedule::waiters_first(Order::InOrder)];

/// Instructions that one run may take, some seconds: who waits shows it early.
const MOST_STEPS: u64 = 100_000_000;

/// Runs what measures a passed test in directed schedules, where these can show more.
pub fn measure_directed(
    left_open: &LeftOpen<'_>,
    test_engine: &mut TestEngine<'_>,
    test_run: &mut TestRun,
) -> Result<(), CampaignError> {
    let may_direct = test_engine.name() == EngineName::Sequential
        && test_run.verdict == Verdict::Pass
        && left_open.prepared_test.replay.is_none();
    let uses_atomics =
        left_open.prepared_test.kernels.iter().any(|kernel| kernel.module.has_atomics());
    if !may_direct || !uses_atomics {
        return Ok(());
    }
    for recorded in [RecordedCode::Source, RecordedCode::Object] {
        let job = match recorded {
            RecordedCode::Source => job_of(left_open.prepared_test, ModuleVariant::Marked),
            RecordedCode::Object if test_run.objects.is_empty() => None,
            RecordedCode::Object => object_job(left_open.prepared_test, test_run.engine),
        };
        let Some(job) = job else { continue };
        let measure = DirectedMeasure { directed: DirectedJob::new(left_open, job), recorded };
        measure.run_directed(test_engine, test_run)?;
    }
    Ok(())
}

/// A job of a test that runs in directed schedules.
pub(super) struct DirectedJob<'a> {
    pub(super) left_open: &'a LeftOpen<'a>,
    pub(super) job: Job,
}

/// A measuring job of a test.
struct DirectedMeasure<'a> {
    directed: DirectedJob<'a>,
    recorded: RecordedCode,
}

/// Whether what a directed run recorded counts.
pub(super) enum Standing {
    /// With what differs where it may.
    Counts(Vec<String>),
    /// The reason, and a finding where the test's expectations are not met.
    CountsNot(String, Option<Box<Finding>>),
}

/// What a schedule does that its name does not say.
fn rule_of(schedule: Schedule) -> &'static str {
    if schedule.is_directed() { ", in which who waits goes first" } else { "" }
}

impl<'a> DirectedJob<'a> {
    pub(super) fn new(left_open: &'a LeftOpen<'a>, job: Job) -> Self {
        let limits = Limits { steps: job.limits.steps.min(MOST_STEPS), ..job.limits };
        Self { left_open, job: Job { limits, ..job } }
    }

    /// Whether what the run has recorded counts: it leaves what the expectations accept, as another
    /// module of the test does.
    pub(super) fn standing(
        &self,
        directed_run: &Run,
        schedule: Schedule,
        test_run: &TestRun,
    ) -> Result<Standing, CampaignError> {
        if let Some(reason) = self.reason_incomplete(&directed_run.completion) {
            return Ok(Standing::CountsNot(reason, None));
        }
        let verdict = judge_run(self.left_open.job_plan, directed_run)?.verdict;
        let job_buffers = &self.left_open.job_plan.job.buffers;
        let left_contents = test_run
            .contents_of(&self.left_open.job_plan.job)
            .expect("a run that completed left all");
        let expectations = Expectations::of_verdicts(test_run.verdict, verdict);
        let differences = self.left_open.compare_contents(
            &left_contents,
            &directed_run.buffers,
            ComparedResults::Modules,
            expectations,
        );
        let between = format!("schedule `{schedule}`");
        if !differences.closed {
            return Ok(Standing::Counts(
                self.left_open.notes_on_openings(&between, &differences.open),
            ));
        }
        let differing_buffers: Vec<String> =
            differing_contents(&left_contents, &directed_run.buffers)
                .map(|difference| format!("`{}`", job_buffers[difference.buffer].name))
                .collect();
        let reason = format!("it leaves other contents in {}", differing_buffers.join(", "));
        // Other schedules are judged where they are asked for; else the reason alone is told.
        let asked_for = test_run.schedules.is_some();
        let is_sought = asked_for
            && self.left_open.job_plan.job.checks.has(FindingKind::ScheduleDependentOutput);
        let has_failed = verdict != Verdict::Pass
            && is_sought
            && !test_run.directed.iter().any(|known_result| known_result.reason.is_some());
        let finding = has_failed.then(|| {
            let message =
                format!("with schedule `{schedule}`{}, the test is a {verdict}", rule_of(schedule));
            let details = ScheduleDetails {
                schedule,
                baseline: Schedule::IN_ORDER,
                effect: ScheduleEffect::Refused(RefusedOutputs { verdict }),
            };
            Box::new(Finding::schedule_dependent_output(message, details))
        });
        Ok(Standing::CountsNot(reason, finding))
    }

    /// Why a run that did not complete shows nothing; none: it completed.
    fn reason_incomplete(&self, completion: &Completion) -> Option<String> {
        if let Completion::NoTermination { .. } = completion {
            return Some(format!("it does not end within {} steps", self.job.limits.steps));
        }
        let reason = completion.reason()?;
        Some(format!("it does not complete: {reason}"))
    }
}

impl DirectedMeasure<'_> {
    fn run_directed(
        &self,
        test_engine: &mut TestEngine<'_>,
        test_run: &mut TestRun,
    ) -> Result<(), CampaignError> {
        for schedule in DIRECTED {
            if !self.is_open(self.module_rows(test_run)) {
                return Ok(());
            }
            let directed_run = test_engine.execute(&self.directed.job, Some(schedule.into()))?.run;
            let standing = self.directed.standing(&directed_run, schedule, test_run)?;
            let of = match self.recorded {
                RecordedCode::Source => MeasuredCode::Source,
                RecordedCode::Object => MeasuredCode::Object,
            };
            let mut directed_result = DirectedResult { schedule, of, shown: 0, reason: None };
            match standing {
                Standing::Counts(left_open) => {
                    directed_result.shown =
                        self.add_records(&directed_run.records, schedule, test_run);
                    test_run.leave_open(if directed_result.shown > 0 {
                        left_open
                    } else {
                        Vec::new()
                    });
                }
                Standing::CountsNot(reason, finding) => {
                    directed_result.reason = Some(reason);
                    test_run.findings.extend(finding.map(|finding| *finding));
                }
            }
            test_run.directed.push(directed_result);
        }
        Ok(())
    }

    fn module_rows<'r>(&self, run: &'r TestRun) -> &'r [ModuleRecords] {
        match self.recorded {
            RecordedCode::Source => &run.records,
            RecordedCode::Object => &run.objects,
        }
    }

    /// The bits of a module that depend on the schedule.
    fn bits_by_schedule(&self, module: &ModuleKey) -> Option<&BTreeSet<u32>> {
        self.directed.left_open.schedule_dependence(self.recorded).bits.get(module)
    }

    /// Whether anything that depends on the schedule is not shown.
    fn is_open(&self, module_rows: &[ModuleRecords]) -> bool {
        let modules = self
            .directed
            .job
            .modules
            .iter()
            .zip(&self.directed.left_open.prepared_test.kernels)
            .zip(module_rows);
        modules.into_iter().any(|((module, kernel), row)| {
            match (self.bits_by_schedule(&module.key), &row.records) {
                (Some(bits), Ok(records)) if !bits.is_empty() => match self.recorded {
                    RecordedCode::Source => is_source_open(kernel, bits, records),
                    RecordedCode::Object => is_object_open(kernel, bits, records),
                },
                _ => false,
            }
        })
    }

    /// Adds what depends on the schedule and was not shown before; how much that is.
    fn add_records(
        &self,
        directed: &BTreeMap<ModuleKey, Records>,
        schedule: Schedule,
        test_run: &mut TestRun,
    ) -> u32 {
        let rows = match self.recorded {
            RecordedCode::Source => &mut test_run.records,
            RecordedCode::Object => &mut test_run.objects,
        };
        let mut shown_count = 0;
        for (module, row) in self.directed.job.modules.iter().zip(rows) {
            let (Some(bits), Some(new), Ok(records)) =
                (self.bits_by_schedule(&module.key), directed.get(&module.key), &mut row.records)
            else {
                continue;
            };
            shown_count += records.add_directed(new, bits, schedule);
        }
        shown_count
    }
}

/// Whether a mark or a vector that depends on the schedule and that the decision's MC/DC needs is
/// missing.
fn is_source_open(kernel: &Kernel, bits_by_schedule: &BTreeSet<u32>, records: &Records) -> bool {
    let Some(measured) = kernel.measured() else { return false };
    let layout = &measured.markers.layout;
    let marks = layout.marks.iter().any(|bit| bits_by_schedule.contains(bit) && !records.has(*bit));
    let depends_on_schedule = |slot: &&DecisionSlot| {
        (slot.base..slot.base + slot.size).any(|bit| bits_by_schedule.contains(&bit))
    };
    marks
        || layout
            .decisions
            .iter()
            .filter(depends_on_schedule)
            .any(|slot| is_decision_open(measured, slot, records))
}

fn is_decision_open(
    measured: &super::super::kernel::Measured,
    decision_slot: &DecisionSlot,
    records: &Records,
) -> bool {
    let (shown_vectors, missing_vectors): (Vec<_>, Vec<_>) =
        decision_slot.vectors.iter().partition(|row| records.has(decision_slot.base + row.sum));
    if missing_vectors.is_empty() {
        return false;
    }
    let decision = measured.structure.decision(decision_slot.decision);
    let coupling: Vec<u32> =
        decision.conditions.iter().map(|condition| condition.coupling).collect();
    let shown_values: Vec<_> =
        shown_vectors.into_iter().map(|row| row.vector.values.clone()).collect();
    let analysis = Mcdc::new(&decision.expression, &coupling)
        .ok()
        .and_then(|mcdc| mcdc.analyse_vectors(shown_values).ok());
    analysis.is_none_or(|analysis| {
        analysis.conditions.iter().any(|condition| condition.unique_cause.pair.is_none())
    })
}

fn is_object_open(kernel: &Kernel, bits_by_schedule: &BTreeSet<u32>, records: &Records) -> bool {
    let outcomes = kernel.object.structure.branches.iter().flat_map(|branch| &branch.outcomes);
    outcomes
        .map(|outcome| outcome.bit)
        .any(|bit| bits_by_schedule.contains(&bit) && !records.has(bit))
}
