//! Three measurements of a decision side by side: those of the two engines, and clang's.
//!
//! Promises: a row agrees only if verdict and vectors are the same in every measurement that was
//! made; what clang or the engines could not measure is named, and never counts as agreement.

use super::coverage::{FOLDED, MeasuredCondition, MeasuredDecision};
use serde::Serialize;
use std::collections::BTreeSet;
use vkcert_model::coverage::{DecisionCoverage, Status};

/// The result of a comparison.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// Version of the format.
    pub schema: u32,
    /// What the compiler says of itself.
    pub compiler: String,
    /// Options that programs are compiled with.
    pub options: Vec<String>,
    /// Name and driver; null where no device ran.
    pub device: Option<String>,
    /// Kernels under each specialization that tests use.
    pub kernels: Vec<KernelRow>,
    /// Outputs by test.
    pub outputs: Vec<OutputRow>,
    /// Conditions of all decisions.
    pub conditions: Vec<ConditionRow>,
    /// Counts of the lists.
    pub summary: Summary,
}

/// A kernel under one specialization.
#[derive(Debug, Clone, Serialize)]
pub struct KernelRow {
    /// Name of the kernel.
    pub kernel: String,
    /// Name of the configuration.
    pub configuration: String,
    /// Why there is no program of it, or none that was compared.
    pub unsupported: Option<String>,
    /// What the compiler warned of, apart from what MC/DC does not cover.
    pub warnings: Vec<String>,
    /// Tests whose runs count for its coverage.
    pub tests: Vec<String>,
}

/// The final contents of a test's buffers.
#[derive(Debug, Clone, Serialize)]
pub struct OutputRow {
    /// Id of the test.
    pub test: String,
    /// Names of the kernels that it dispatches.
    pub kernels: Vec<String>,
    /// Bytes compared, over all buffers.
    pub bytes: usize,
    /// Against the sequential engine.
    pub sequential: Compared,
    /// Against the device.
    pub device: Compared,
}

/// How two outputs compare.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "is", content = "why")]
pub enum Compared {
    /// The same bytes.
    Identical,
    /// Floats differ, by no more than the specification permits; where.
    WithinBounds(String),
    /// They differ; where.
    Different(String),
    /// The device differs from the sequential engine too, which `certify` judges.
    DifferentOnTheDevice(String),
    /// The program stopped by itself: something undefined, or an access beyond a buffer.
    Stopped(String),
    /// There is no program, or it cannot run this, for this reason.
    Unsupported(String),
    /// The program could not be run, or what it is compared with left nothing, for this reason.
    NotRun(String),
}

/// One condition of a decision.
#[derive(Debug, Clone, Serialize)]
pub struct ConditionRow {
    /// Name of the kernel.
    pub kernel: String,
    /// Name of the configuration.
    pub configuration: String,
    /// Id of the decision: `D3`.
    pub decision: String,
    /// Id of the condition: `D3.C1`.
    pub condition: String,
    /// Path of the source file.
    pub file: String,
    /// 1-based line of the condition.
    pub line: u32,
    /// 1-based column of the condition.
    pub column: u32,
    /// The condition's source text.
    pub text: String,
    /// Unique-cause MC/DC; of a single condition: whether it was true and false.
    pub sequential: String,
    /// The same on the device; null where none ran.
    pub device: Option<String>,
    /// The same by clang, or `not measured`.
    pub clang: String,
    /// Executed vectors of the decision.
    pub vectors: Vectors,
    /// Whether clang and the engines agree.
    pub agreement: Agreement,
    /// Why it was not compared, or what differs.
    pub reason: Option<String>,
}

/// Executed vectors by who measured them; null where nobody did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Vectors {
    /// By the sequential engine.
    pub sequential: BTreeSet<String>,
    /// By the device.
    pub device: Option<BTreeSet<String>>,
    /// By clang.
    pub clang: Option<BTreeSet<String>>,
}

/// Whether the measurements of a condition agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// The measurements are the same.
    Agrees,
    /// They are not.
    Disagrees,
    /// Clang or an engine did not measure it, or they cannot be compared.
    NotMeasured,
}

/// Counts of a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Summary {
    /// Conditions in all.
    pub conditions: usize,
    /// Conditions in which the measurements agree.
    pub agree: usize,
    /// Conditions in which they do not.
    pub disagree: usize,
    /// Conditions that were not compared.
    pub not_measured: usize,
    /// Vectors of decisions that were compared, counted once per decision.
    pub vectors: usize,
    /// Tests in all.
    pub tests: usize,
    /// Tests whose outputs are the same bytes as the sequential engine's.
    pub identical_outputs: usize,
    /// Tests whose outputs differ by no more than the specification permits.
    pub outputs_within_bounds: usize,
    /// Tests whose outputs differ beyond what the specification permits.
    pub different_outputs: usize,
    /// Tests in which a program stopped by itself, so that it left no outputs.
    pub stopped: usize,
    /// Kernels without a program, and tests whose outputs could not be compared for that.
    pub unsupported: usize,
}

/// A decision as the engines saw it.
pub struct ComparedDecision<'a> {
    /// Name of the kernel.
    pub kernel: &'a str,
    /// Name of the configuration.
    pub configuration: &'a str,
    /// Coverage of the decision by the sequential engine.
    pub sequential: &'a DecisionCoverage,
    /// Coverage of the decision by the device; none where none ran.
    pub device: Option<&'a DecisionCoverage>,
    /// Why the measurements cannot be compared; none: they can.
    pub incomparable: Option<&'a str>,
}

/// The texts of the vectors that an engine recorded.
fn observed_vectors(decision: &DecisionCoverage) -> BTreeSet<String> {
    decision.vectors.iter().map(|vector| vector.values.to_string()).collect()
}

fn coverage_word(is_covered: bool) -> &'static str {
    if is_covered { "covered" } else { "uncovered" }
}

/// The rows of a decision, one per condition.
pub fn condition_rows(
    compared_decision: &ComparedDecision<'_>,
    clang: &MeasuredDecision,
) -> Vec<ConditionRow> {
    let vectors = Vectors {
        sequential: observed_vectors(compared_decision.sequential),
        device: compared_decision.device.map(observed_vectors),
        clang: match clang {
            MeasuredDecision::Vectors { vectors, .. } => Some(vectors.clone()),
            MeasuredDecision::Branch { true_count, false_count } => {
                let executed_outcomes = [("T", true_count), ("F", false_count)]
                    .into_iter()
                    .filter(|(_, count)| **count > 0);
                Some(executed_outcomes.map(|(value, _)| value.to_owned()).collect())
            }
            MeasuredDecision::NotMeasured { .. } => None,
        },
    };
    (0..compared_decision.sequential.conditions.len())
        .map(|index| condition_row(compared_decision, clang, &vectors, index))
        .collect()
}

fn condition_row(
    compared_decision: &ComparedDecision<'_>,
    clang: &MeasuredDecision,
    vectors: &Vectors,
    condition_index: usize,
) -> ConditionRow {
    let condition_place = &compared_decision.sequential.conditions[condition_index];
    let unique_cause_status =
        |decision: &DecisionCoverage| decision.mcdc[condition_index].unique_cause.status;
    let (clang_verdict, unmeasured_reason) = clang_verdict(clang, condition_index);
    let engine_statuses: Vec<Status> =
        [Some(compared_decision.sequential), compared_decision.device]
            .into_iter()
            .flatten()
            .map(unique_cause_status)
            .collect();
    let is_undetermined = engine_statuses.contains(&Status::Undetermined);
    let unmeasured_reason = compared_decision
        .incomparable
        .or(unmeasured_reason)
        .or(is_undetermined.then_some("undetermined on an engine"));
    let (agreement, reason) = match (
        unmeasured_reason,
        differing_measurements(&engine_statuses, clang_verdict, vectors, clang),
    ) {
        (Some(reason), _) => (Agreement::NotMeasured, Some(reason.to_owned())),
        (None, Some(reason)) => (Agreement::Disagrees, Some(reason)),
        (None, None) => (Agreement::Agrees, None),
    };
    ConditionRow {
        kernel: compared_decision.kernel.to_owned(),
        configuration: compared_decision.configuration.to_owned(),
        decision: compared_decision.sequential.id.to_string(),
        condition: condition_place.id.to_string(),
        file: compared_decision.sequential.file.clone(),
        line: condition_place.line,
        column: condition_place.column,
        text: condition_place.text.clone(),
        sequential: unique_cause_status(compared_decision.sequential).to_string(),
        device: compared_decision.device.map(|decision| unique_cause_status(decision).to_string()),
        clang: clang_verdict.map_or("not measured", coverage_word).to_owned(),
        vectors: vectors.clone(),
        agreement,
        reason,
    }
}

/// Clang's verdict on a condition, or why there is none.
fn clang_verdict(clang: &MeasuredDecision, condition_index: usize) -> (Option<bool>, Option<&str>) {
    match clang {
        MeasuredDecision::Vectors { conditions, .. } => match conditions[condition_index] {
            MeasuredCondition::Covered => (Some(true), None),
            MeasuredCondition::Uncovered => (Some(false), None),
            MeasuredCondition::Folded => (None, Some(FOLDED)),
        },
        MeasuredDecision::Branch { true_count, false_count } => {
            (Some(*true_count > 0 && *false_count > 0), None)
        }
        MeasuredDecision::NotMeasured { reason } => (None, Some(reason)),
    }
}

/// Which measurements differ in verdict or vectors; none where all agree.
fn differing_measurements(
    engine_statuses: &[Status],
    clang_verdict: Option<bool>,
    vectors: &Vectors,
    clang_measurement: &MeasuredDecision,
) -> Option<String> {
    // Clang's vectors do not show the value of a condition that it folds.
    let folded_conditions: Vec<usize> = match clang_measurement {
        MeasuredDecision::Vectors { conditions, .. } => (0..conditions.len())
            .filter(|condition_index| conditions[*condition_index] == MeasuredCondition::Folded)
            .collect(),
        MeasuredDecision::Branch { .. } | MeasuredDecision::NotMeasured { .. } => Vec::new(),
    };
    let without_folded_values = |values: &BTreeSet<String>| -> BTreeSet<String> {
        let hide_folded = |vector: &String| {
            let letters = vector.chars().enumerate();
            letters
                .map(
                    |(condition_index, letter)| {
                        if folded_conditions.contains(&condition_index) { 'C' } else { letter }
                    },
                )
                .collect::<String>()
        };
        values.iter().map(hide_folded).collect()
    };
    let covered = |condition_index: usize| {
        engine_statuses.get(condition_index).map(|status| *status == Status::Covered)
    };
    let clang_result = (clang_verdict?, without_folded_values(vectors.clang.as_ref()?));
    let sequential_result = (covered(0)?, without_folded_values(&vectors.sequential));
    let device_result = covered(1).zip(vectors.device.as_ref().map(without_folded_values));
    let differing_parties = match (sequential_result == clang_result, device_result) {
        (true, None) => return None,
        (true, Some(device_result)) if device_result == clang_result => return None,
        (true, Some(_)) => "the device alone differs",
        (false, None) => "clang and the sequential engine differ",
        (false, Some(device_result)) if device_result == sequential_result => "clang alone differs",
        (false, Some(device_result)) if device_result == clang_result => {
            "the sequential engine alone differs"
        }
        (false, Some(_)) => "all three differ",
    };
    Some(differing_parties.to_owned())
}

impl Comparison {
    /// Fills in the summary by counting the rows.
    pub fn summarise(&mut self) {
        let count_agreement = |agreement: Agreement| {
            self.conditions.iter().filter(|row| row.agreement == agreement).count()
        };
        let agreeing_rows = self.conditions.iter().filter(|row| row.agreement == Agreement::Agrees);
        let agreeing_decisions: BTreeSet<_> = agreeing_rows
            .map(|row| {
                ((&row.kernel, &row.configuration, &row.decision), row.vectors.sequential.len())
            })
            .collect();
        let count_outputs = |wanted: fn(&Compared) -> bool| {
            let is_counted = |row: &&OutputRow| wanted(&row.sequential) || wanted(&row.device);
            self.outputs.iter().filter(is_counted).count()
        };
        self.summary = Summary {
            conditions: self.conditions.len(),
            agree: count_agreement(Agreement::Agrees),
            disagree: count_agreement(Agreement::Disagrees),
            not_measured: count_agreement(Agreement::NotMeasured),
            vectors: agreeing_decisions.iter().map(|(_, vectors)| vectors).sum(),
            tests: self.outputs.len(),
            identical_outputs: self
                .outputs
                .iter()
                .filter(|row| row.sequential == Compared::Identical)
                .count(),
            outputs_within_bounds: count_outputs(|compared| {
                matches!(compared, Compared::WithinBounds(_))
            }),
            different_outputs: count_outputs(|compared| matches!(compared, Compared::Different(_))),
            stopped: count_outputs(|compared| matches!(compared, Compared::Stopped(_))),
            unsupported: self.kernels.iter().filter(|row| row.unsupported.is_some()).count()
                + count_outputs(|compared| matches!(compared, Compared::Unsupported(_))),
        };
    }
}
