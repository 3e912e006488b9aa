//! Details of what depends on the order of workgroups or invocations.

use crate::id::{DecisionId, KernelName};
use crate::schedule::Schedule;
use crate::structure::MarkIndex;
use crate::vector::Values;
use crate::verdict::Verdict;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// Of the simplest schedule that shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScheduleDetails {
    /// The simplest one.
    pub schedule: Schedule,
    /// What it is compared with.
    pub baseline: Schedule,
    #[serde(flatten)]
    /// What it changes.
    pub effect: ScheduleEffect,
}

/// What a schedule changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ScheduleEffect {
    /// It leaves other contents of buffers.
    Contents(Box<ChangedContents>),
    /// It records other coverage.
    Coverage(ChangedCoverage),
    /// It does not complete, or leaves more than one result.
    Ended(IncompleteRun),
    /// It leaves what the expectations do not accept.
    Refused(RefusedOutputs),
}

/// Other contents of buffers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChangedContents {
    /// Whose order changes the result.
    pub kernels: Vec<KernelName>,
    /// All that leave other contents.
    pub schedules: Vec<Schedule>,
    /// All that any of these leaves otherwise.
    pub buffers: Vec<String>,
    /// All that the test's expectations say of their results.
    pub verdicts: Vec<Verdict>,
    /// Those that change the result when they alone are permuted; none: only together.
    pub dispatches: Vec<usize>,
    /// The first that differs.
    pub buffer: String,
    /// Of its first element that differs, in bytes.
    pub offset: usize,
    /// Of the element.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Production's value.
    pub expected: Value,
    /// The schedule's value.
    pub actual: Value,
    /// Bits of `expected`, hexadecimal.
    pub expected_bits: String,
    /// Bits of `actual`, hexadecimal.
    pub actual_bits: String,
    /// How many differ, over all buffers.
    pub bytes: usize,
    /// What the test's expectations say of the result.
    pub verdict: Verdict,
    /// Of finite floats: how far the two values lie apart.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub abs: Option<FloatDistance>,
    /// The same in units in the last place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ulps: Option<u64>,
    /// The most over all finite floats that differ.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub largest_abs: Option<FloatDistance>,
    /// The same in units in the last place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_ulps: Option<u64>,
}

/// How far two finite floats lie apart; none: further than the greatest double.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FloatDistance(Option<f64>);

impl From<f64> for FloatDistance {
    fn from(distance: f64) -> Self {
        Self(Some(distance).filter(|distance| distance.is_finite()))
    }
}

/// A distance that is there, be it null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<FloatDistance>, D::Error> {
    FloatDistance::deserialize(deserializer).map(Some)
}

/// Other coverage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChangedCoverage {
    /// Whose order changes what is covered.
    pub kernels: Vec<KernelName>,
    /// All that record other coverage.
    pub schedules: Vec<Schedule>,
    /// What one of the two schedules alone covers, in words.
    pub coverage: Vec<String>,
    /// What any of `schedules` covers otherwise.
    pub changed: Vec<String>,
    /// The first of what differs.
    #[serde(flatten)]
    pub first: Option<CoveredAlone>,
}

/// The first of what one schedule alone covers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CoveredAlone {
    /// The schedule that covers it.
    pub only_in: Schedule,
    /// What it covers.
    #[serde(flatten)]
    pub item: CoveredItem,
}

/// Something that one of two schedules alone covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CoveredItem {
    /// A vector of a decision.
    Vector {
        /// The decision.
        decision: DecisionId,
        /// Its source text.
        text: String,
        /// The values of its conditions.
        vector: Values,
    },
    /// The entry of a function, or a label.
    Mark {
        /// The mark that stands for it.
        mark: MarkIndex,
        /// What the mark stands for.
        text: String,
    },
    /// A barrier, or an outcome of a branch of the object code.
    Obligation {
        /// Its name in reports.
        obligation: String,
        /// The barrier's place, or the outcome in words.
        text: String,
    },
}

/// The job no longer completes, or leaves more than one result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IncompleteRun {
    /// Whose order was changed.
    pub kernels: Vec<KernelName>,
    /// The reason.
    pub ended: String,
}

/// Outputs that the expectations do not accept, of a directed schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedOutputs {
    /// What the expectations say of them.
    pub verdict: Verdict,
}

impl ScheduleDetails {
    /// Whose order changes something; none where that was not told apart.
    pub fn kernels(&self) -> Option<&[KernelName]> {
        match &self.effect {
            ScheduleEffect::Contents(contents) => Some(&contents.kernels),
            ScheduleEffect::Coverage(coverage) => Some(&coverage.kernels),
            ScheduleEffect::Ended(run) => Some(&run.kernels),
            ScheduleEffect::Refused(_) => None,
        }
    }
}
