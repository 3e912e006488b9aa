//! The result of `vkcert run --format json`.

use super::coverage::KernelCoverage;
use super::evidence::Mismatch;
use super::finding::{Finding, RaceScope};
use super::id::TestId;
use super::printed::Printed;
use super::schedule::{DirectedResult, Schedule, ScheduleResult};
use super::verdict::{EngineName, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The one document on stdout.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunResult {
    /// Version of the format.
    pub schema: u32,
    /// One entry per test and engine, in the order of the file, then sequential before vulkan.
    pub tests: Vec<TestOutcome>,
}

/// What one test came to on one engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestOutcome {
    /// Id of the test.
    pub id: TestId,
    /// The engine that ran it.
    pub engine: EngineName,
    /// What the run says of the expectations.
    pub verdict: Verdict,
    /// Why the verdict is no pass; none where nothing is to be said.
    pub reason: Option<String>,
    /// How often the production run was started.
    #[serde(default)]
    pub repetitions: u32,
    /// Elements that differ from what is expected, up to the limit.
    pub mismatches: Vec<Mismatch>,
    /// Findings that this run showed.
    pub findings: Vec<Finding>,
    /// Whether the data races found are those of every schedule; of engines that look for races.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub race_scope: Option<RaceScope>,
    /// Remarks that are no findings, such as an accepted memory-model idiom.
    pub notes: Vec<String>,
    /// What the kernels printed with debug printf; the sequential engine alone prints.
    #[serde(default, skip_serializing_if = "Printed::is_empty")]
    pub printed: Printed,
    /// The schedule that the test ran in, with `--replay`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
    /// What other schedules showed, with `--schedules`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedules: Option<ScheduleResult>,
    /// What was measured again with who waits first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directed: Vec<DirectedResult>,
    /// Final contents as base64, with `--dump-buffers`; else empty.
    pub buffers: BTreeMap<String, String>,
    /// By kernel: what this test on this engine exercised, whatever its verdict (a campaign counts passed tests alone).
    pub coverage: BTreeMap<String, KernelCoverage>,
}
