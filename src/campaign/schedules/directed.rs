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

use super::super::kernel::{Kernel, Variant};
use super::super::left_open::{Between, Expectations, LeftOpen, Recorded};
use super::super::test_run::{ModuleRecords, TestEngine, TestRun, job_of, judge, object_job};
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
pub fn direct(
    open: &LeftOpen<'_>,
    engine: &mut TestEngine<'_>,
    run: &mut TestRun,
) -> Result<(), CampaignError> {
    let may = engine.name() == EngineName::Sequential
        && run.verdict == Verdict::Pass
        && open.prepared.replay.is_none();
    let atomics = open.prepared.kernels.iter().any(|kernel| kernel.module.has_atomics());
    if !may || !atomics {
        return Ok(());
    }
    for recorded in [Recorded::Source, Recorded::Object] {
        let job = match recorded {
            Recorded::Source => job_of(open.prepared, Variant::Marked),
            Recorded::Object if run.objects.is_empty() => None,
            Recorded::Object => object_job(open.prepared, run.engine),
        };
        let Some(job) = job else { continue };
        let limits = Limits { steps: job.limits.steps.min(MOST_STEPS), ..job.limits };
        let measure = Measure { open, recorded, job: Job { limits, ..job } };
        measure.direct(engine, run)?;
    }
    Ok(())
}

/// A measuring job of a test.
struct Measure<'a> {
    open: &'a LeftOpen<'a>,
    recorded: Recorded,
    job: Job,
}

/// Whether what a directed run recorded counts.
enum Standing {
    /// With what differs where it may.
    Counts(Vec<String>),
    /// The reason, and a finding where the test's expectations are not met.
    CountsNot(String, Option<Box<Finding>>),
}

impl Measure<'_> {
    fn direct(&self, engine: &mut TestEngine<'_>, run: &mut TestRun) -> Result<(), CampaignError> {
        for schedule in DIRECTED {
            if !self.is_open(self.rows(run)) {
                return Ok(());
            }
            let directed = engine.execute(&self.job, Some(schedule.into()))?.run;
            let standing = self.standing(&directed, schedule, run)?;
            let of = match self.recorded {
                Recorded::Source => MeasuredCode::Source,
                Recorded::Object => MeasuredCode::Object,
            };
            let mut result = DirectedResult { schedule, of, shown: 0, reason: None };
            match standing {
                Standing::Counts(left_open) => {
                    result.shown = self.add(&directed.records, schedule, run);
                    run.leave_open(if result.shown > 0 { left_open } else { Vec::new() });
                }
                Standing::CountsNot(reason, finding) => {
                    result.reason = Some(reason);
                    run.findings.extend(finding.map(|finding| *finding));
                }
            }
            run.directed.push(result);
        }
        Ok(())
    }

    fn rows<'r>(&self, run: &'r TestRun) -> &'r [ModuleRecords] {
        match self.recorded {
            Recorded::Source => &run.records,
            Recorded::Object => &run.objects,
        }
    }

    /// The bits of a module that depend on the schedule.
    fn dependent(&self, module: &ModuleKey) -> Option<&BTreeSet<u32>> {
        self.open.dependence(self.recorded).bits.get(module)
    }

    /// Whether anything that depends on the schedule is not shown.
    fn is_open(&self, rows: &[ModuleRecords]) -> bool {
        let modules = self.job.modules.iter().zip(&self.open.prepared.kernels).zip(rows);
        modules.into_iter().any(|((module, kernel), row)| {
            match (self.dependent(&module.key), &row.records) {
                (Some(bits), Ok(records)) if !bits.is_empty() => match self.recorded {
                    Recorded::Source => is_source_open(kernel, bits, records),
                    Recorded::Object => is_object_open(kernel, bits, records),
                },
                _ => false,
            }
        })
    }

    /// Whether what the run has recorded counts: it leaves what the expectations accept, as another
    /// module of the test does.
    fn standing(
        &self,
        directed: &Run,
        schedule: Schedule,
        run: &TestRun,
    ) -> Result<Standing, CampaignError> {
        if let Some(reason) = self.broken(&directed.completion) {
            return Ok(Standing::CountsNot(reason, None));
        }
        let verdict = judge(self.open.plan, directed)?.verdict;
        let names = &self.open.plan.job.buffers;
        let left = run.contents_of(&self.open.plan.job).expect("a run that completed left all");
        let expectations = Expectations::of(run.verdict, verdict);
        let differences =
            self.open.contents(&left, &directed.buffers, Between::Modules, expectations);
        let between = format!("schedule `{schedule}`");
        if !differences.closed {
            return Ok(Standing::Counts(self.open.notes(&between, &differences.open)));
        }
        let differing: Vec<String> = differing_contents(&left, &directed.buffers)
            .map(|difference| format!("`{}`", names[difference.buffer].name))
            .collect();
        let reason = format!("it leaves other contents in {}", differing.join(", "));
        // Other schedules are judged where they are asked for; else the reason alone is told.
        let asked_for = run.schedules.is_some();
        let sought =
            asked_for && self.open.plan.job.checks.has(FindingKind::ScheduleDependentOutput);
        let failed = verdict != Verdict::Pass
            && sought
            && !run.directed.iter().any(|known| known.reason.is_some());
        let finding = failed.then(|| {
            let message = format!(
                "with schedule `{schedule}`, in which who waits goes first, the test is a {verdict}"
            );
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
    fn broken(&self, completion: &Completion) -> Option<String> {
        if let Completion::NoTermination { .. } = completion {
            return Some(format!("it does not end within {} steps", self.job.limits.steps));
        }
        let reason = completion.reason()?;
        Some(format!("it does not complete: {reason}"))
    }

    /// Adds what depends on the schedule and was not shown before; how much that is.
    fn add(
        &self,
        directed: &BTreeMap<ModuleKey, Records>,
        schedule: Schedule,
        run: &mut TestRun,
    ) -> u32 {
        let rows = match self.recorded {
            Recorded::Source => &mut run.records,
            Recorded::Object => &mut run.objects,
        };
        let mut shown = 0;
        for (module, row) in self.job.modules.iter().zip(rows) {
            let (Some(bits), Some(new), Ok(records)) =
                (self.dependent(&module.key), directed.get(&module.key), &mut row.records)
            else {
                continue;
            };
            shown += records.add_directed(new, bits, schedule);
        }
        shown
    }
}

/// Whether a mark or a vector that depends on the schedule and that the decision's MC/DC needs is
/// missing.
fn is_source_open(kernel: &Kernel, dependent: &BTreeSet<u32>, records: &Records) -> bool {
    let Some(measured) = kernel.measured() else { return false };
    let layout = &measured.markers.layout;
    let marks = layout.marks.iter().any(|bit| dependent.contains(bit) && !records.has(*bit));
    let depends = |slot: &&DecisionSlot| {
        (slot.base..slot.base + slot.size).any(|bit| dependent.contains(&bit))
    };
    marks
        || layout
            .decisions
            .iter()
            .filter(depends)
            .any(|slot| is_decision_open(measured, slot, records))
}

fn is_decision_open(
    measured: &super::super::kernel::Measured,
    slot: &DecisionSlot,
    records: &Records,
) -> bool {
    let (shown, missing): (Vec<_>, Vec<_>) =
        slot.vectors.iter().partition(|row| records.has(slot.base + row.sum));
    if missing.is_empty() {
        return false;
    }
    let decision = measured.structure.decision(slot.decision);
    let coupling: Vec<u32> =
        decision.conditions.iter().map(|condition| condition.coupling).collect();
    let values: Vec<_> = shown.into_iter().map(|row| row.vector.values.clone()).collect();
    let analysis = Mcdc::new(&decision.expression, &coupling)
        .ok()
        .and_then(|mcdc| mcdc.analyse_vectors(values).ok());
    analysis.is_none_or(|analysis| {
        analysis.conditions.iter().any(|condition| condition.unique_cause.pair.is_none())
    })
}

fn is_object_open(kernel: &Kernel, dependent: &BTreeSet<u32>, records: &Records) -> bool {
    let outcomes = kernel.object.structure.branches.iter().flat_map(|branch| &branch.outcomes);
    outcomes.map(|outcome| outcome.bit).any(|bit| dependent.contains(&bit) && !records.has(bit))
}
