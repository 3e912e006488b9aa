//! Three measurements side by side: what the engines recorded of a decision, and what clang counted
//! of the same text.
//!
//! Promises: a row agrees only if verdict and vectors are the same in every measurement that there
//! is; what clang could not measure, or the engines could not, is named and agrees with nothing.

use super::coverage::{FOLDED, Measured, Shown};
use serde::Serialize;
use std::collections::BTreeSet;
use vkcert_model::coverage::{DecisionCoverage, Status};

/// The result of a comparison.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    pub schema: u32,
    /// What the compiler says of itself.
    pub compiler: String,
    pub options: Vec<String>,
    /// Name and driver; null where no device ran.
    pub device: Option<String>,
    pub kernels: Vec<KernelRow>,
    pub outputs: Vec<OutputRow>,
    pub conditions: Vec<ConditionRow>,
    pub summary: Summary,
}

/// A kernel under one specialization.
#[derive(Debug, Clone, Serialize)]
pub struct KernelRow {
    pub kernel: String,
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
    pub test: String,
    pub kernels: Vec<String>,
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
    Identical,
    /// Floats differ, by no more than the specification permits; where.
    WithinBounds(String),
    Different(String),
    /// The device differs from the sequential engine too, which `certify` judges.
    DifferentOnTheDevice(String),
    /// The program stopped by itself: something undefined, or an access beyond a buffer.
    Stopped(String),
    Unsupported(String),
    NotRun(String),
}

/// One condition of a decision.
#[derive(Debug, Clone, Serialize)]
pub struct ConditionRow {
    pub kernel: String,
    pub configuration: String,
    pub decision: String,
    pub condition: String,
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub text: String,
    /// Unique-cause MC/DC; of a single condition: whether it was true and false.
    pub sequential: String,
    pub device: Option<String>,
    pub clang: String,
    /// Executed vectors of the decision.
    pub vectors: Vectors,
    pub agreement: Agreement,
    /// Why it was not compared, or what differs.
    pub reason: Option<String>,
}

/// Executed vectors by who measured them; null where nobody did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Vectors {
    pub sequential: BTreeSet<String>,
    pub device: Option<BTreeSet<String>>,
    pub clang: Option<BTreeSet<String>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    Agrees,
    Disagrees,
    NotMeasured,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Summary {
    pub conditions: usize,
    pub agree: usize,
    pub disagree: usize,
    pub not_measured: usize,
    /// Vectors of decisions that were compared, counted once per decision.
    pub vectors: usize,
    pub tests: usize,
    pub identical_outputs: usize,
    /// Tests whose outputs differ by no more than the specification permits.
    pub outputs_within_bounds: usize,
    pub different_outputs: usize,
    /// Tests in which a program stopped by itself, so that it left no outputs.
    pub stopped: usize,
    pub unsupported: usize,
}

/// A decision as the engines saw it.
pub struct Seen<'a> {
    pub kernel: &'a str,
    pub configuration: &'a str,
    pub sequential: &'a DecisionCoverage,
    pub device: Option<&'a DecisionCoverage>,
    /// Why the measurements cannot be compared; none: they can.
    pub incomparable: Option<&'a str>,
}

/// The rows of a decision, one per condition.
pub fn rows(seen: &Seen<'_>, clang: &Measured) -> Vec<ConditionRow> {
    let ours = |decision: &DecisionCoverage| -> BTreeSet<String> {
        decision.vectors.iter().map(|vector| vector.values.to_string()).collect()
    };
    let vectors = Vectors {
        sequential: ours(seen.sequential),
        device: seen.device.map(ours),
        clang: match clang {
            Measured::Vectors { vectors, .. } => Some(vectors.clone()),
            Measured::Branch { true_count, false_count } => {
                let shown = [("T", true_count), ("F", false_count)]
                    .into_iter()
                    .filter(|(_, count)| **count > 0);
                Some(shown.map(|(value, _)| value.to_owned()).collect())
            }
            Measured::Not { .. } => None,
        },
    };
    (0..seen.sequential.conditions.len()).map(|index| row(seen, clang, &vectors, index)).collect()
}

fn row(seen: &Seen<'_>, clang: &Measured, vectors: &Vectors, index: usize) -> ConditionRow {
    let place = &seen.sequential.conditions[index];
    let status = |decision: &DecisionCoverage| decision.mcdc[index].unique_cause.status;
    let (verdict, unmeasured) = verdict(clang, index);
    let statuses: Vec<Status> =
        [Some(seen.sequential), seen.device].into_iter().flatten().map(status).collect();
    let unmeasured = seen.incomparable.map(str::to_owned).or(unmeasured).or_else(|| {
        let undetermined = statuses.contains(&Status::Undetermined);
        undetermined.then(|| "undetermined on an engine".to_owned())
    });
    let (agreement, reason) = match (unmeasured, difference(&statuses, verdict, vectors, clang)) {
        (Some(reason), _) => (Agreement::NotMeasured, Some(reason)),
        (None, Some(reason)) => (Agreement::Disagrees, Some(reason)),
        (None, None) => (Agreement::Agrees, None),
    };
    let word = |covered| if covered { "covered" } else { "uncovered" };
    ConditionRow {
        kernel: seen.kernel.to_owned(),
        configuration: seen.configuration.to_owned(),
        decision: seen.sequential.id.to_string(),
        condition: place.id.to_string(),
        file: seen.sequential.file.clone(),
        line: place.line,
        column: place.column,
        text: place.text.clone(),
        sequential: status(seen.sequential).to_string(),
        device: seen.device.map(|decision| status(decision).to_string()),
        clang: verdict.map_or("not measured", word).to_owned(),
        vectors: vectors.clone(),
        agreement,
        reason,
    }
}

/// Clang's verdict on a condition, or why there is none.
fn verdict(clang: &Measured, condition: usize) -> (Option<bool>, Option<String>) {
    match clang {
        Measured::Vectors { conditions, .. } => match conditions[condition] {
            Shown::Covered => (Some(true), None),
            Shown::Uncovered => (Some(false), None),
            Shown::Folded => (None, Some(FOLDED.to_owned())),
        },
        Measured::Branch { true_count, false_count } => {
            (Some(*true_count > 0 && *false_count > 0), None)
        }
        Measured::Not { reason } => (None, Some(reason.clone())),
    }
}

/// Who differs, in verdict or vectors.
fn difference(
    statuses: &[Status],
    verdict: Option<bool>,
    vectors: &Vectors,
    clang: &Measured,
) -> Option<String> {
    // Where clang folds a condition its vectors do not tell its value.
    let folded: Vec<usize> = match clang {
        Measured::Vectors { conditions, .. } => {
            (0..conditions.len()).filter(|at| conditions[*at] == Shown::Folded).collect()
        }
        Measured::Branch { .. } | Measured::Not { .. } => Vec::new(),
    };
    let blinded = |values: &BTreeSet<String>| -> BTreeSet<String> {
        let hide = |vector: &String| {
            let letters = vector.chars().enumerate();
            letters
                .map(|(at, letter)| if folded.contains(&at) { 'C' } else { letter })
                .collect::<String>()
        };
        values.iter().map(hide).collect()
    };
    let covered = |at: usize| statuses.get(at).map(|status| *status == Status::Covered);
    let clang = (verdict?, blinded(vectors.clang.as_ref()?));
    let sequential = (covered(0)?, blinded(&vectors.sequential));
    let device = covered(1).zip(vectors.device.as_ref().map(blinded));
    let who = match (sequential == clang, device) {
        (true, None) => return None,
        (true, Some(device)) if device == clang => return None,
        (true, Some(_)) => "the device alone differs",
        (false, None) => "clang and the sequential engine differ",
        (false, Some(device)) if device == sequential => "clang alone differs",
        (false, Some(device)) if device == clang => "the sequential engine alone differs",
        (false, Some(_)) => "all three differ",
    };
    Some(who.to_owned())
}

impl Comparison {
    /// Counts the rows.
    pub fn summarise(&mut self) {
        let with = |agreement: Agreement| {
            self.conditions.iter().filter(|row| row.agreement == agreement).count()
        };
        let compared = self.conditions.iter().filter(|row| row.agreement == Agreement::Agrees);
        let decisions: BTreeSet<_> = compared
            .map(|row| {
                ((&row.kernel, &row.configuration, &row.decision), row.vectors.sequential.len())
            })
            .collect();
        let outputs = |wanted: fn(&Compared) -> bool| {
            let counted = |row: &&OutputRow| wanted(&row.sequential) || wanted(&row.device);
            self.outputs.iter().filter(counted).count()
        };
        self.summary = Summary {
            conditions: self.conditions.len(),
            agree: with(Agreement::Agrees),
            disagree: with(Agreement::Disagrees),
            not_measured: with(Agreement::NotMeasured),
            vectors: decisions.iter().map(|(_, vectors)| vectors).sum(),
            tests: self.outputs.len(),
            identical_outputs: self
                .outputs
                .iter()
                .filter(|row| row.sequential == Compared::Identical)
                .count(),
            outputs_within_bounds: outputs(|compared| {
                matches!(compared, Compared::WithinBounds(_))
            }),
            different_outputs: outputs(|compared| matches!(compared, Compared::Different(_))),
            stopped: outputs(|compared| matches!(compared, Compared::Stopped(_))),
            unsupported: self.kernels.iter().filter(|row| row.unsupported.is_some()).count()
                + outputs(|compared| matches!(compared, Compared::Unsupported(_))),
        };
    }
}
