//! Tests with what each engine left of them: verdict, findings, outputs.

use crate::altered::AlteredStores;
use crate::block_layout::BlockLayout;
use crate::finding::{Finding, RaceScope};
use crate::flow::{BufferRange, DispatchFlow};
use crate::id::{KernelName, RequirementId, TestId};
use crate::judged::JudgedMember;
use crate::procedure::TestKind;
use crate::schedule::{DirectedResult, Schedule, ScheduleResult};
use crate::verdict::{EngineName, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A test case with its results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestEvidence {
    /// Unique id of the test.
    pub id: TestId,
    /// Title for people; none where the file gives none.
    pub title: Option<String>,
    /// `normal` or `robustness`.
    #[schemars(with = "String")]
    pub kind: TestKind,
    /// Requirements that the test verifies.
    pub requirements: Vec<RequirementId>,
    /// Kernels that it dispatches.
    pub kernels: Vec<KernelName>,
    /// Path of the file that defines it, relative to the project.
    pub file: String,
    /// `sha256:...` of the test's canonical content.
    pub hash: String,
    /// What is dispatched, in words: `matmul_naive 2x1x1 groups, m=3 n=2 k=4`.
    pub procedure: Vec<String>,
    /// The test as its file defines it, so that verdicts can be derived again from the stored outputs.
    pub definition: crate::procedure::Test,
    /// What it expects, with every value resolved.
    pub expected: Vec<StoredExpectation>,
    /// What each dispatch can store, from which it follows which of them the test judges; empty where nothing can run it. Format
    /// 1 does not hold it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<DispatchFlow>,
    /// By buffer, how kernels lay it out: of buffers whose contents are more than a list of numbers, and whose members have names. Several
    /// layouts: kernels differ. Older evidence holds none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub layouts: BTreeMap<String, Vec<BlockLayout>>,
    /// One result per engine that was asked.
    pub results: Vec<TestResult>,
}

/// An expectation with its values resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoredExpectation {
    /// The buffer or image judged.
    pub buffer: String,
    /// For an image whose texels are not plain scalars: offsets count the decoded components, 4 bytes each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<crate::image::ImageFormat>,
    /// How far an element may lie from what is expected.
    pub tolerance: crate::procedure::Tolerance,
    /// Bytes of the records that may stand in any order; none: every element stands in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<u64>,
    /// What the buffer or image is compared with.
    pub contents: StoredContents,
}

/// What an expectation compares with, every value resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StoredContents {
    /// Runs of values.
    Values(Vec<ExpectedRun>),
    /// Every scalar from byte `offset` on equals that of another buffer's start.
    EqualsBuffer {
        /// The other buffer or image.
        buffer: String,
        /// Name of the scalar type: `float`, `uint` ...
        scalar: String,
        /// Bytes from the start of the judged buffer.
        offset: u64,
        /// Bytes compared; none: all of the other buffer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        length: Option<u64>,
    },
    /// What a reference kernel computes from byte `offset` on; its values are not stored.
    Reference {
        /// Name of the reference kernel.
        kernel: String,
        /// Format 1 holds none.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        scalar: String,
        /// Bytes from the start of the judged buffer.
        #[serde(default)]
        offset: u64,
        /// Bytes compared; none: all that follow.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        length: Option<u64>,
    },
    /// A checker kernel writes the verdict, which is not stored.
    Check {
        /// Name of the checker kernel.
        kernel: String,
        /// What the verdict can depend on, by the code of the kernel.
        reads: Vec<BufferRange>,
    },
}

/// Neighbouring expected scalars of one type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExpectedRun {
    /// Bytes from the start of the buffer.
    pub offset: u64,
    /// Name of the scalar type: `float`, `uint` ...
    pub scalar: String,
    /// base64, little-endian.
    pub bytes: String,
}

/// What one test came to on one engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestResult {
    /// The engine that ran it.
    pub engine: EngineName,
    /// What the run says of the expectations.
    pub verdict: Verdict,
    /// Why the verdict is no pass; none where nothing is to be said.
    pub reason: Option<String>,
    /// Elements that differ from what is expected, up to the project's limit.
    pub mismatches: Vec<Mismatch>,
    /// Findings that this run showed.
    pub findings: Vec<Finding>,
    /// Whether the data races are those of every schedule; absent where none were looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub race_scope: Option<RaceScope>,
    /// How often the production run was started: fewer times than asked for where a repetition did not complete, 0 where
    /// nothing ran.
    #[serde(default)]
    pub repetitions: u32,
    /// The repetition that gave the verdict, counted from 1, where others pass; absent where all came to the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deciding_repetition: Option<u32>,
    /// The schedule that the test ran in, where that is not the ordinary one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
    /// What other schedules showed; none where none were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedules: Option<ScheduleResult>,
    /// What was measured again with who waits first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directed: Vec<DirectedResult>,
    /// Of the sequential engine, where the test passed: what altered contents of its kernels' stores did to the verdict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub altered: Vec<AlteredStores>,
    /// Of the same: how much of each member that its kernels store it judges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judged: Vec<JudgedMember>,
    /// Of the same, of a test with several expectations: those that none of the alterations tried on what its kernels stored makes
    /// fail, counted from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub idle: Vec<u32>,
    /// Of the sequential engine, where the test passed: whether it does not, or does not complete, with other undefined values.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rests_on_undefined: bool,
    /// What differed between repetitions, modules and schedules where the test leaves it open, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_open: Vec<String>,
    /// Remarks of the engine that are no findings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Lines that debug printf wrote; their text is not stored.
    #[serde(default, skip_serializing_if = "no_lines")]
    pub printed_lines: u64,
    /// Of the sequential engine, per dispatch: what it accessed of each bound buffer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touched: Vec<Vec<TouchedBuffer>>,
    /// Actual final contents by buffer name.
    #[serde(default)]
    pub outputs: BTreeMap<String, OutputBytes>,
}

fn no_lines(lines: &u64) -> bool {
    *lines == 0
}

/// How far a dispatch reached into a bound buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TouchedBuffer {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Bytes of the bound range up to the last one that was accessed.
    pub bytes: u64,
}

/// Actual output of a buffer; above the limit only its hash is kept, and `verify` says `not re-derivable`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OutputBytes {
    /// base64
    Bytes(String),
    /// Digest and size alone.
    Hash {
        /// `sha256:...`
        sha256: String,
        /// Size of the contents.
        bytes: u64,
    },
}

/// One element of an expectation that did not hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mismatch {
    /// Name of the buffer or image in the test.
    pub buffer: String,
    /// Bytes.
    pub offset: u64,
    /// The expected value; text where JSON has no such number.
    pub expected: serde_json::Value,
    /// What the run left; text where JSON has no such number.
    pub actual: serde_json::Value,
    /// Raw bits of the actual value, `0x...`.
    pub bits: String,
    /// Of an image: where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texel: Option<crate::image::TexelPlace>,
    /// Of a buffer: what the kernel calls it, `particles[3].velocity.y`, where the module has names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
}

impl Mismatch {
    /// Where it is: a texel and its component, a member and its byte, or a byte.
    pub fn place(&self) -> String {
        match (&self.texel, &self.member) {
            (Some(texel), _) => texel.to_string(),
            (None, Some(member)) => format!("{member} at byte {}", self.offset),
            (None, None) => format!("byte {}", self.offset),
        }
    }
}
