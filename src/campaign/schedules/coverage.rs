//! Coverage in other schedules: what a schedule records that the ordinary run did not, and the
//! other way round.
//!
//! Knows: the measuring jobs of a test and what they recorded in the ordinary schedule.
//! Promises: every vector, mark, barrier and outcome of a branch is compared; where it comes first
//! in a module, it is told first.
//! Does not cover: witnesses and operands; a lowest invocation may change where the set of vectors
//! does not.

use super::super::kernel::{Kernel, ModuleVariant};
use super::super::left_open::{LeftOpen, RecordedCode};
use super::super::test_run::{
    ModuleRecords, PreparedTest, TestEngine, TestRun, job_of, object_job,
};
use crate::CampaignError;
use vkcert_derivation::agreement::difference::{OnlyIn, RecordedItem, differing_rows, mark_words};
use vkcert_exec::{Completion, Job};
use vkcert_model::finding_details::CoveredItem;
use vkcert_model::id::{KernelName, ModuleKey};
use vkcert_model::records::Records;
use vkcert_model::schedule::Schedule;
use vkcert_model::structure::KernelStructure;

/// A measuring job with what it recorded in the ordinary schedule.
struct MeasuringJob {
    job: Job,
    recorded: RecordedCode,
    /// By module of the job.
    ordinary: Vec<Records>,
}

/// The measuring jobs of a test, to be run in other schedules.
pub(super) struct MeasuringJobs<'a> {
    kernels: &'a [&'a Kernel],
    measures: Vec<MeasuringJob>,
    /// What is not compared, and why.
    pub missing: Option<String>,
}

/// Something that one of two schedules alone covers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CoverageDifference {
    pub kernel: KernelName,
    /// `vector TF of D3 `a && b``.
    pub what: String,
    pub item: CoveredItem,
    /// The ordinary schedule is the left of the two.
    pub only: OnlyIn,
    /// What recorded it, of which module and as which bit; none for barriers.
    recorded: Option<(RecordedCode, ModuleKey, u32)>,
}

impl CoverageDifference {
    /// Whether it comes of what depends on the schedule though nothing races, in a test that says
    /// what it expects.
    pub(super) fn depends_on_schedule(&self, left_open: &LeftOpen<'_>) -> bool {
        let Some((recorded, key, bit)) = &self.recorded else { return false };
        if left_open.job_plan.expected.is_empty() {
            return false;
        }
        left_open
            .schedule_dependence(*recorded)
            .bits
            .get(key)
            .is_some_and(|bits| bits.contains(bit))
    }
}

impl<'a> MeasuringJobs<'a> {
    /// Those that an engine runs which puts workgroups and tiles in order.
    pub(super) fn of_test(prepared_test: &'a PreparedTest, test_run: &TestRun) -> Self {
        let mut test_measures =
            Self { kernels: &prepared_test.kernels, measures: Vec::new(), missing: None };
        test_measures.add_measure(
            RecordedCode::Source,
            job_of(prepared_test, ModuleVariant::Marked),
            &test_run.records,
        );
        if !test_run.objects.is_empty() {
            test_measures.add_measure(
                RecordedCode::Object,
                object_job(prepared_test, test_run.engine),
                &test_run.objects,
            );
        }
        test_measures
    }

    fn add_measure(
        &mut self,
        recorded: RecordedCode,
        job: Option<Job>,
        module_rows: &[ModuleRecords],
    ) {
        let ordinary_records: Result<Vec<Records>, String> =
            module_rows.iter().map(|row| row.records.clone()).collect();
        let measured_part = match recorded {
            RecordedCode::Source => "coverage of the source",
            RecordedCode::Object => "coverage of object code",
        };
        match (job, ordinary_records) {
            (Some(job), Ok(ordinary_records)) => {
                self.measures.push(MeasuringJob { job, recorded, ordinary: ordinary_records })
            }
            (None, Ok(_)) => drop(
                self.missing
                    .get_or_insert_with(|| format!("{measured_part} is not compared: no module")),
            ),
            (_, Err(reason)) => drop(
                self.missing
                    .get_or_insert_with(|| format!("{measured_part} is not compared: {reason}")),
            ),
        }
    }

    /// What differs with a schedule; an error says why that is not known.
    pub(super) fn compare_coverage(
        &self,
        test_engine: &mut TestEngine<'_>,
        schedule: Schedule,
    ) -> Result<Result<Vec<CoverageDifference>, String>, CampaignError> {
        let mut differences_found = Vec::new();
        for measure in &self.measures {
            let run = test_engine.execute(&measure.job, Some(schedule.into()))?.run;
            if run.completion != Completion::Completed {
                return Ok(Err(format!("the measured run did not complete: {}", run.completion)));
            }
            for ((module, kernel), ordinary) in
                measure.job.modules.iter().zip(self.kernels).zip(&measure.ordinary)
            {
                let Some(other_records) = run.records.get(&module.key) else {
                    return Ok(Err("the engine gave no records back".to_owned()));
                };
                let differences = match measure.recorded {
                    RecordedCode::Source => source_differences(kernel, ordinary, other_records),
                    RecordedCode::Object => object_differences(kernel, ordinary, other_records),
                };
                differences_found.extend(differences.into_iter().map(|(bit, difference)| {
                    let recorded = bit.map(|bit| (measure.recorded, module.key, bit));
                    CoverageDifference { recorded, ..difference }
                }));
            }
        }
        Ok(Ok(differences_found))
    }
}

/// With the bit that recorded it.
type BitDifference = (Option<u32>, CoverageDifference);

fn source_differences(
    kernel: &Kernel,
    ordinary_records: &Records,
    other_records: &Records,
) -> Vec<BitDifference> {
    let Some(measured) = kernel.measured() else { return Vec::new() };
    let rows = differing_rows(&measured.markers.layout, [ordinary_records, other_records]).map(
        |(row, only)| {
            let (what, item) = row_in_words(row, &measured.structure);
            let kernel = KernelName::from(&kernel.name);
            (Some(row.bit()), CoverageDifference { kernel, what, item, only, recorded: None })
        },
    );
    rows.chain(barrier_differences(kernel, ordinary_records, other_records)).collect()
}

/// A vector or mark in words, and as a finding has it.
fn row_in_words(row: RecordedItem<'_>, structure: &KernelStructure) -> (String, CoveredItem) {
    match row {
        RecordedItem::Vector(slot, vector_row) => {
            let decision = slot.decision;
            let vector = vector_row.vector.values.clone();
            let text = structure.decision(decision).text.clone();
            let what = format!("vector {vector} of {decision} `{text}`");
            (what, CoveredItem::Vector { decision, text, vector })
        }
        RecordedItem::Mark(index, _) => {
            let what = mark_words(structure, index);
            let item = CoveredItem::Mark { mark: index, text: what.clone() };
            (what, item)
        }
    }
}

/// Barriers that all invocations of a workgroup executed in one of the two alone.
fn barrier_differences(
    kernel: &Kernel,
    ordinary_records: &Records,
    other_records: &Records,
) -> Vec<BitDifference> {
    let differing = kernel.barriers().into_iter().enumerate().filter_map(|(index, barrier)| {
        let is_executed = |records: &Records| records.barriers.contains_key(&barrier.number);
        let only = OnlyIn::of(is_executed(ordinary_records), is_executed(other_records))?;
        let (obligation, place) =
            (format!("BAR{}", index + 1), format!("{}:{}", barrier.file, barrier.line));
        let what = format!("{obligation} (barrier at {place})");
        let item = CoveredItem::Obligation { obligation, text: place };
        let kernel = KernelName::from(&kernel.name);
        Some((None, CoverageDifference { kernel, what, item, only, recorded: None }))
    });
    differing.collect()
}

fn object_differences(
    kernel: &Kernel,
    ordinary_records: &Records,
    other_records: &Records,
) -> Vec<BitDifference> {
    let branches = kernel.object.structure.branches.iter();
    let outcomes =
        branches.flat_map(|branch| branch.outcomes.iter().map(move |outcome| (branch, outcome)));
    let differing = outcomes.filter_map(|(branch, outcome)| {
        let only = OnlyIn::of(ordinary_records.has(outcome.bit), other_records.has(outcome.bit))?;
        let obligation = format!("{}.{}", branch.id, outcome.label);
        let what = format!("{obligation} ({} {})", branch.kind, outcome.text);
        let item = CoveredItem::Obligation { obligation, text: outcome.text.clone() };
        let kernel = KernelName::from(&kernel.name);
        Some((Some(outcome.bit), CoverageDifference { kernel, what, item, only, recorded: None }))
    });
    differing.collect()
}
