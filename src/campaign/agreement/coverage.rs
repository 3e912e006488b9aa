//! Vectors and marks of the two engines: they must be the same, but for those that depend on the
//! schedule, and those that follow an undefined value of which a finding tells.
//!
//! Promises: any other difference is a finding whatever it comes from. Where a run within the error
//! bounds of the specification records as the device did, the finding says so, with that run's
//! operands. A vector or mark follows an undefined value only if the sequential engine, with
//! nothing changed but undefined values, records it as the device did.
//! Does not cover: undefined behaviour whose effect is another than that of some value; which
//! invocations recorded what (`invocation`).

use super::invocation::{ByInvocation, ExcuseRefusal, Excuses};
use super::{ComparisonEngines, is_of_undefined, places_of_undefined, run_varied};
use crate::configuration::Specialization;
use crate::kernel::{Kernel, Measured, ModuleVariant};
use crate::left_open::LeftOpen;
use crate::test_run::{ModuleRecords, TestRun, job_of};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_derivation::agreement::difference::{
    RecordDifference, RecordedItem, mark_words, record_differences,
};
use vkcert_model::agreement::AgreementOutcome;
use vkcert_model::finding::Finding;
use vkcert_model::finding_details::{
    DisagreementDetails, EngineComparison, MarkDisagreement, VectorDisagreement,
};
use vkcert_model::place::Position;
use vkcert_model::records::{DecisionSlot, NumberedVector, Records};
use vkcert_model::verdict::EngineName;
use vkcert_sequential::{SequentialExecutor, Variation};

/// What the vectors of one kernel in a test come to.
#[derive(Default)]
pub(super) struct CoverageComparison {
    /// None where no records could be compared.
    pub outcome: Option<AgreementOutcome>,
    pub differences: Vec<String>,
    pub findings: Vec<Finding>,
    /// Vectors and marks that one engine alone has, and that depend on the schedule or follow an
    /// undefined value, in words.
    pub left_open: Vec<String>,
}

/// Vectors of every specialization that the test ran the kernel with.
pub(super) fn compare_coverage(
    open: &LeftOpen<'_>,
    comparison_engines: &mut ComparisonEngines,
    kernel: &Kernel,
    sequential_run: &TestRun,
    device_run: &TestRun,
) -> CoverageComparison {
    let of_kernel = |run: &&ModuleRecords| run.kernel == kernel.name;
    let engine = &comparison_engines.sequential.clone();
    let mut comparison = CoverageComparison::default();
    for ours in sequential_run.records.iter().filter(of_kernel) {
        let device_row = device_run
            .records
            .iter()
            .filter(of_kernel)
            .find(|row| row.specialization == ours.specialization);
        let (Ok(sequential_records), Some(Ok(device_records)), Some(measured)) =
            (&ours.records, device_row.map(|row| &row.records), kernel.measured())
        else {
            continue;
        };
        let compared_module = ComparedModule {
            left_open: open,
            sequential_engine: engine,
            kernel,
            measured,
            specialization: &ours.specialization,
            sequential_run,
            device_run,
        };
        let ModuleComparison { outcome, findings, left_open } = compared_module
            .compare_module([sequential_records, device_records], comparison_engines);
        comparison.outcome = comparison.outcome.max(Some(outcome));
        comparison.differences.extend(findings.iter().map(|finding| finding.message.clone()));
        comparison.findings.extend(findings);
        comparison.left_open.extend(left_open);
    }
    comparison
}

/// What the records of one module come to.
struct ModuleComparison {
    outcome: AgreementOutcome,
    findings: Vec<Finding>,
    left_open: Vec<String>,
}

/// A module whose records are compared.
struct ComparedModule<'a> {
    left_open: &'a LeftOpen<'a>,
    sequential_engine: &'a SequentialExecutor,
    kernel: &'a Kernel,
    measured: &'a Measured,
    specialization: &'a Specialization,
    sequential_run: &'a TestRun,
    device_run: &'a TestRun,
}

impl ComparedModule<'_> {
    /// A finding for each vector and mark that one engine recorded and the other did not, unless it
    /// depends on the schedule or follows an undefined value.
    fn compare_module(
        &self,
        records: [&Records; 2],
        comparison_engines: &mut ComparisonEngines,
    ) -> ModuleComparison {
        let mut comparison = ModuleComparison {
            outcome: AgreementOutcome::Identical,
            findings: Vec::new(),
            left_open: Vec::new(),
        };
        let differing_rows = record_differences(&self.measured.markers.layout, records);
        if differing_rows.is_empty() {
            return comparison;
        }
        let scheduled = self.left_open.bits_by_schedule(self.kernel, self.specialization);
        let (scheduled, fixed_differences): (Vec<RecordDifference>, Vec<RecordDifference>) =
            differing_rows.into_iter().partition(|record_difference| {
                scheduled.is_some_and(|bits| bits.contains(&record_difference.bit()))
            });
        let Excuses { following, refused } =
            self.excuse_undefined(&fixed_differences, records, comparison_engines);
        let (undefined_differences, disagreeing_differences): (
            Vec<RecordDifference>,
            Vec<RecordDifference>,
        ) = fixed_differences
            .into_iter()
            .partition(|record_difference| following.contains(&record_difference.bit()));
        if !scheduled.is_empty() {
            comparison.outcome = AgreementOutcome::ScheduleDependent;
        }
        let schedule_note = |record_difference: &RecordDifference| {
            format!("{}: it depends on the schedule", self.difference_in_words(record_difference))
        };
        comparison.left_open.extend(scheduled.iter().map(schedule_note));
        if !undefined_differences.is_empty() {
            comparison.outcome = AgreementOutcome::UndefinedValue;
        }
        let undefined_places = places_of_undefined(&self.sequential_run.findings);
        let undefined_note = |record_difference: &RecordDifference| {
            format!(
                "{}: it follows {undefined_places}",
                self.difference_in_words(record_difference)
            )
        };
        comparison.left_open.extend(undefined_differences.iter().map(undefined_note));
        if !disagreeing_differences.is_empty() {
            comparison.outcome = AgreementOutcome::Different;
            comparison.findings =
                self.findings_of_rows(&disagreeing_differences, records, &refused);
        }
        comparison
    }

    /// The bits that follow an undefined value, in every invocation by which the engines differ.
    fn excuse_undefined(
        &self,
        record_differences: &[RecordDifference],
        records: [&Records; 2],
        comparison_engines: &mut ComparisonEngines,
    ) -> Excuses {
        let following = self.following_undefined(record_differences, records);
        match self.module_index() {
            Some(module) if !following.is_empty() => {
                let Self { left_open, kernel, device_run, .. } = *self;
                ByInvocation { left_open, kernel, module, records, device_run }
                    .excuse_bits(comparison_engines, &following)
            }
            Some(_) | None => Excuses::default(),
        }
    }

    /// Index into the modules of the job.
    fn module_index(&self) -> Option<usize> {
        self.left_open.module_index(self.kernel, self.specialization)
    }

    /// The bits that runs with other undefined values record as the device did; none where nothing
    /// tells of such a value.
    fn following_undefined(
        &self,
        record_differences: &[RecordDifference],
        [_, device_records]: [&Records; 2],
    ) -> BTreeSet<u32> {
        let mut following_bits = BTreeSet::new();
        if !self.sequential_run.findings.iter().any(is_of_undefined) {
            return following_bits;
        }
        for variation in Variation::OF_UNDEFINED {
            if record_differences.iter().all(|row| following_bits.contains(&row.bit())) {
                break;
            }
            let Some(records) = self.varied_records(*variation) else { continue };
            let agreeing_bits = record_differences
                .iter()
                .map(RecordDifference::bit)
                .filter(|bit| records.has(*bit) == device_records.has(*bit));
            following_bits.extend(agreeing_bits);
        }
        following_bits
    }

    /// The records of a run of the marked module that departs from the ordinary one; none where it
    /// does not complete.
    fn varied_records(&self, variation: Variation) -> Option<Records> {
        let prepared = self.left_open.prepared_test;
        let job = job_of(prepared, ModuleVariant::Marked)?;
        let module = self.module_index()?;
        run_varied(self.sequential_engine, prepared, &job, variation)?
            .run
            .records
            .remove(&job.modules[module].key)
    }

    /// Which vector or mark is on which engine alone.
    fn difference_in_words(&self, record_difference: &RecordDifference) -> String {
        record_difference.words(&self.measured.structure, &self.kernel.name)
    }

    fn findings_of_rows(
        &self,
        record_differences: &[RecordDifference],
        records: [&Records; 2],
        refusals_by_bit: &BTreeMap<u32, ExcuseRefusal>,
    ) -> Vec<Finding> {
        let has_vectors = record_differences
            .iter()
            .any(|record_difference| matches!(record_difference.row, RecordedItem::Vector(..)));
        let varied_records: Vec<Records> = if has_vectors {
            Variation::ALL.iter().filter_map(|variation| self.varied_records(*variation)).collect()
        } else {
            Vec::new()
        };
        let finding = |record_difference: &RecordDifference| {
            let refusal = refusals_by_bit.get(&record_difference.bit());
            match record_difference.row {
                RecordedItem::Vector(slot, row) => {
                    let (measured, only_on, varied_records) =
                        (self.measured, record_difference.only_on, &varied_records);
                    VectorDifference {
                        measured,
                        slot,
                        row,
                        only_on,
                        records,
                        varied: varied_records,
                        refusal,
                    }
                    .finding()
                }
                RecordedItem::Mark(index, bit) => {
                    let witness = records
                        .into_iter()
                        .find_map(|records| records.witnesses.get(&bit))
                        .copied();
                    let witness = refusal.and_then(ExcuseRefusal::invocation).or(witness);
                    let words = refusal.map(ExcuseRefusal::in_words).unwrap_or_default();
                    let details = DisagreementDetails::Mark(MarkDisagreement {
                        comparison: EngineComparison::SequentialWithVulkan,
                        mark: index,
                        text: mark_words(&self.measured.structure, index),
                        only_on: record_difference.only_on,
                        undefined_values: refusal.map(ExcuseRefusal::detail),
                    });
                    let message = format!("{}{words}", self.difference_in_words(record_difference));
                    Finding {
                        invocations: witness.into_iter().collect(),
                        ..Finding::engine_disagreement(message, details)
                    }
                }
            }
        };
        record_differences.iter().map(finding).collect()
    }
}

/// A vector that one engine alone recorded.
struct VectorDifference<'a> {
    measured: &'a Measured,
    slot: &'a DecisionSlot,
    row: &'a NumberedVector,
    only_on: EngineName,
    /// The sequential engine's and the device's.
    records: [&'a Records; 2],
    varied: &'a [Records],
    /// Why it does not follow an undefined value, where that was asked.
    refusal: Option<&'a ExcuseRefusal>,
}

impl VectorDifference<'_> {
    fn finding(&self) -> Finding {
        let [sequential_records, device_records] = self.records;
        let bit = self.slot.base + self.row.sum;
        let decision = self.measured.structure.decision(self.slot.decision);
        let file = &self.measured.structure.files[decision.span.file.0 as usize];
        let line = Position::of(&file.text, decision.span.start as usize).line;
        let agreeing_records =
            self.varied.iter().find(|records| records.has(bit) == device_records.has(bit));
        let witness = [sequential_records, device_records]
            .into_iter()
            .chain(agreeing_records)
            .find_map(|records| records.witnesses.get(&bit));
        let witness = self.refusal.and_then(ExcuseRefusal::invocation).or(witness.copied());
        let operands = self.operands_in_words(agreeing_records);
        let mut message = format!(
            "{} `{}` ({}:{line}): vector {} on {} alone",
            self.slot.decision, decision.text, file.path, self.row.vector.values, self.only_on
        );
        if let Some([x, y, z]) = witness {
            message.push_str(&format!(", invocation ({x}, {y}, {z})"));
        }
        operands.iter().for_each(|text| message.push_str(&format!("; {text}")));
        message.push_str(&self.refusal.map(ExcuseRefusal::in_words).unwrap_or_default());
        message.push_str(match agreeing_records {
            Some(_) => "; a run within the error bounds of the specification agrees with vulkan: the vector depends on rounding",
            None => "; no run within the error bounds of the specification agrees with vulkan",
        });
        let details = DisagreementDetails::Vector(VectorDisagreement {
            comparison: EngineComparison::SequentialWithVulkan,
            decision: self.slot.decision,
            text: decision.text.clone(),
            file: file.path.clone(),
            line,
            vector: self.row.vector.values.clone(),
            only_on: self.only_on,
            operands,
            within_error_bounds: agreeing_records.is_some(),
            undefined_values: self.refusal.map(ExcuseRefusal::detail),
        });
        Finding {
            invocations: witness.into_iter().collect(),
            ..Finding::engine_disagreement(message, details)
        }
    }

    /// What was compared: where the vector was recorded, else in the vectors that the sequential
    /// engine recorded instead.
    fn operands_in_words(&self, agreeing_records: Option<&Records>) -> Vec<String> {
        let bit = self.slot.base + self.row.sum;
        let [sequential_records, _] = self.records;
        let recorded_operands = match self.only_on {
            EngineName::Sequential => operands_of_bit(sequential_records, bit),
            EngineName::Vulkan => None,
        };
        let mut texts: Vec<String> = recorded_operands.into_iter().collect();
        if self.only_on == EngineName::Vulkan {
            let other_vectors = self.slot.vectors.iter().filter_map(|row| {
                let text = operands_of_bit(sequential_records, self.slot.base + row.sum)?;
                Some(format!("sequential has {} with {text}", row.vector.values))
            });
            texts.extend(other_vectors);
            let varied = agreeing_records.and_then(|records| operands_of_bit(records, bit));
            texts.extend(varied.map(|text| format!("within the error bounds {text}")));
        }
        texts
    }
}

/// What was compared where a vector was recorded, by the vector's bit.
fn operands_of_bit(records: &Records, bit: u32) -> Option<String> {
    records.operands.get(&bit).map(|operand_texts| operand_texts.join(", "))
}
