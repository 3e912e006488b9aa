//! Vectors and marks of the two engines: they must be the same, but for those that depend on the
//! schedule, and those that follow an undefined value of which a finding tells.
//!
//! Promises: any other difference is a finding whatever it comes from. Where a run within the error
//! bounds of the specification records as the device did, the finding says so, with that run's
//! operands. A vector or mark follows an undefined value only if the sequential engine, with
//! nothing changed but undefined values, records it as the device did.
//! Does not cover: undefined behaviour whose effect is another than that of some value; which
//! invocations recorded what (`invocation`).

use super::invocation::{ByInvocation, Excuses, Refusal};
use super::{Means, is_of_undefined, places_of_undefined, run_varied};
use crate::configuration::Specialization;
use crate::kernel::{Kernel, Measured, Variant};
use crate::left_open::LeftOpen;
use crate::test_run::{ModuleRecords, TestRun, job_of};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_derivation::agreement::difference::{RecordDifference, Row, differing, marked};
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
pub(super) fn compare(
    open: &LeftOpen<'_>,
    means: &mut Means,
    kernel: &Kernel,
    sequential: &TestRun,
    vulkan: &TestRun,
) -> CoverageComparison {
    let of_kernel = |run: &&ModuleRecords| run.kernel == kernel.name;
    let engine = &means.sequential.clone();
    let (differences, findings, left_open) = Default::default();
    let mut comparison = CoverageComparison { outcome: None, differences, findings, left_open };
    for ours in sequential.records.iter().filter(of_kernel) {
        let theirs = vulkan
            .records
            .iter()
            .filter(of_kernel)
            .find(|row| row.specialization == ours.specialization);
        let (Ok(left), Some(Ok(right)), Some(measured)) =
            (&ours.records, theirs.map(|row| &row.records), kernel.measured())
        else {
            continue;
        };
        let compared = Compared {
            open,
            engine,
            kernel,
            measured,
            specialization: &ours.specialization,
            sequential,
            vulkan,
        };
        let ModuleComparison { outcome, findings, left_open } =
            compared.of_module([left, right], means);
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
struct Compared<'a> {
    open: &'a LeftOpen<'a>,
    engine: &'a SequentialExecutor,
    kernel: &'a Kernel,
    measured: &'a Measured,
    specialization: &'a Specialization,
    sequential: &'a TestRun,
    vulkan: &'a TestRun,
}

impl Compared<'_> {
    /// A finding for each vector and mark that one engine recorded and the other did not, unless it
    /// depends on the schedule or follows an undefined value.
    fn of_module(&self, records: [&Records; 2], means: &mut Means) -> ModuleComparison {
        let mut comparison = ModuleComparison {
            outcome: AgreementOutcome::Identical,
            findings: Vec::new(),
            left_open: Vec::new(),
        };
        let differing = differing(&self.measured.markers.layout, records);
        if differing.is_empty() {
            return comparison;
        }
        let scheduled = self.open.scheduled(self.kernel, self.specialization);
        let (scheduled, fixed): (Vec<RecordDifference>, Vec<RecordDifference>) = differing
            .into_iter()
            .partition(|row| scheduled.is_some_and(|bits| bits.contains(&row.bit())));
        let Excuses { following, refused } = self.excuses(&fixed, records, means);
        let (undefined, disagreeing): (Vec<RecordDifference>, Vec<RecordDifference>) =
            fixed.into_iter().partition(|row| following.contains(&row.bit()));
        if !scheduled.is_empty() {
            comparison.outcome = AgreementOutcome::ScheduleDependent;
        }
        let depends =
            |row: &RecordDifference| format!("{}: it depends on the schedule", self.words(row));
        comparison.left_open.extend(scheduled.iter().map(depends));
        if !undefined.is_empty() {
            comparison.outcome = AgreementOutcome::UndefinedValue;
        }
        let places = places_of_undefined(&self.sequential.findings);
        let follows = |row: &RecordDifference| format!("{}: it follows {places}", self.words(row));
        comparison.left_open.extend(undefined.iter().map(follows));
        if !disagreeing.is_empty() {
            comparison.outcome = AgreementOutcome::Different;
            comparison.findings = self.findings(&disagreeing, records, &refused);
        }
        comparison
    }

    /// The bits that follow an undefined value, in every invocation by which the engines differ.
    fn excuses(
        &self,
        rows: &[RecordDifference],
        records: [&Records; 2],
        means: &mut Means,
    ) -> Excuses {
        let following = self.following_undefined(rows, records);
        match self.module() {
            Some(module) if !following.is_empty() => {
                let Self { open, kernel, vulkan, .. } = *self;
                ByInvocation { open, kernel, module, records, vulkan }.excuse(means, &following)
            }
            Some(_) | None => Excuses::default(),
        }
    }

    /// Index into the modules of the job.
    fn module(&self) -> Option<usize> {
        self.open.module(self.kernel, self.specialization)
    }

    /// The bits that runs with other undefined values record as the device did; none where nothing
    /// tells of such a value.
    fn following_undefined(
        &self,
        rows: &[RecordDifference],
        [_, theirs]: [&Records; 2],
    ) -> BTreeSet<u32> {
        let mut following = BTreeSet::new();
        if !self.sequential.findings.iter().any(is_of_undefined) {
            return following;
        }
        for variation in Variation::OF_UNDEFINED {
            if rows.iter().all(|row| following.contains(&row.bit())) {
                break;
            }
            let Some(records) = self.varied(*variation) else { continue };
            let agreeing = rows
                .iter()
                .map(RecordDifference::bit)
                .filter(|bit| records.has(*bit) == theirs.has(*bit));
            following.extend(agreeing);
        }
        following
    }

    /// The records of a run of the marked module that departs from the ordinary one; none where it
    /// does not complete.
    fn varied(&self, variation: Variation) -> Option<Records> {
        let prepared = self.open.prepared;
        let job = job_of(prepared, Variant::Marked)?;
        let module = self.module()?;
        run_varied(self.engine, prepared, &job, variation)?
            .run
            .records
            .remove(&job.modules[module].key)
    }

    /// Which vector or mark is on which engine alone.
    fn words(&self, difference: &RecordDifference) -> String {
        difference.words(&self.measured.structure, &self.kernel.name)
    }

    fn findings(
        &self,
        rows: &[RecordDifference],
        records: [&Records; 2],
        refused: &BTreeMap<u32, Refusal>,
    ) -> Vec<Finding> {
        let vectors = rows.iter().any(|difference| matches!(difference.row, Row::Vector(..)));
        let varied: Vec<Records> = if vectors {
            Variation::ALL.iter().filter_map(|one| self.varied(*one)).collect()
        } else {
            Vec::new()
        };
        let finding = |difference: &RecordDifference| {
            let refusal = refused.get(&difference.bit());
            match difference.row {
                Row::Vector(slot, row) => {
                    let (measured, only_on, varied) = (self.measured, difference.only_on, &varied);
                    VectorDifference { measured, slot, row, only_on, records, varied, refusal }
                        .finding()
                }
                Row::Mark(index, bit) => {
                    let witness = records
                        .into_iter()
                        .find_map(|records| records.witnesses.get(&bit))
                        .copied();
                    let witness = refusal.and_then(Refusal::invocation).or(witness);
                    let words = refusal.map(Refusal::words).unwrap_or_default();
                    let details = DisagreementDetails::Mark(MarkDisagreement {
                        comparison: EngineComparison::SequentialWithVulkan,
                        mark: index,
                        text: marked(&self.measured.structure, index),
                        only_on: difference.only_on,
                        undefined_values: refusal.map(Refusal::detail),
                    });
                    let message = format!("{}{words}", self.words(difference));
                    Finding {
                        invocations: witness.into_iter().collect(),
                        ..Finding::engine_disagreement(message, details)
                    }
                }
            }
        };
        rows.iter().map(finding).collect()
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
    refusal: Option<&'a Refusal>,
}

impl VectorDifference<'_> {
    fn finding(&self) -> Finding {
        let [ours, theirs] = self.records;
        let bit = self.slot.base + self.row.sum;
        let decision = self.measured.structure.decision(self.slot.decision);
        let file = &self.measured.structure.files[decision.span.file.0 as usize];
        let line = Position::of(&file.text, decision.span.start as usize).line;
        let agreeing = self.varied.iter().find(|records| records.has(bit) == theirs.has(bit));
        let witness = [ours, theirs]
            .into_iter()
            .chain(agreeing)
            .find_map(|records| records.witnesses.get(&bit));
        let witness = self.refusal.and_then(Refusal::invocation).or(witness.copied());
        let operands = self.operands(agreeing);
        let mut message = format!(
            "{} `{}` ({}:{line}): vector {} on {} alone",
            self.slot.decision, decision.text, file.path, self.row.vector.values, self.only_on
        );
        if let Some([x, y, z]) = witness {
            message.push_str(&format!(", invocation ({x}, {y}, {z})"));
        }
        operands.iter().for_each(|text| message.push_str(&format!("; {text}")));
        message.push_str(&self.refusal.map(Refusal::words).unwrap_or_default());
        message.push_str(match agreeing {
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
            within_error_bounds: agreeing.is_some(),
            undefined_values: self.refusal.map(Refusal::detail),
        });
        Finding {
            invocations: witness.into_iter().collect(),
            ..Finding::engine_disagreement(message, details)
        }
    }

    /// What was compared: where the vector was recorded, else in the vectors that the sequential
    /// engine recorded instead.
    fn operands(&self, agreeing: Option<&Records>) -> Vec<String> {
        let bit = self.slot.base + self.row.sum;
        let [ours, _] = self.records;
        let of =
            |records: &Records, bit: u32| records.operands.get(&bit).map(|texts| texts.join(", "));
        let here = match self.only_on {
            EngineName::Sequential => of(ours, bit),
            EngineName::Vulkan => None,
        };
        let mut texts: Vec<String> = here.into_iter().collect();
        if self.only_on == EngineName::Vulkan {
            let others = self.slot.vectors.iter().filter_map(|row| {
                let text = of(ours, self.slot.base + row.sum)?;
                Some(format!("sequential has {} with {text}", row.vector.values))
            });
            texts.extend(others);
            let varied = agreeing.and_then(|records| of(records, bit));
            texts.extend(varied.map(|text| format!("within the error bounds {text}")));
        }
        texts
    }
}
