//! Test procedures as files hold them (TOML or JSON alike), and what their fields mean.
//!
//! Knows: the contract's format of `vkcert run FILE` and of `[[test]]` in `requirements/**/*.toml`.
//! Promises: a key that is not listed here is refused; a field left out has the default written beside it; absent
//! optional fields are not written back, so that a field added later leaves the hash of older tests as it is.
//! Does not cover: reading files (`requirement::document`), laying data out (`exec::prepare`), verdicts (`exec::judge`).

mod buffer;
mod call;
mod dispatch;
mod kernel;

pub use buffer::{AddressOf, Buffer, Fill, Iota, Random};
pub use call::KernelCall;
pub use dispatch::{Binding, DescriptorClass, Dispatch, SpecializationValue};
pub use kernel::{Kernel, KernelContents, KernelText, Language, TargetEnvironment, default_entry};

use crate::element::{DataType, Datum};
use crate::expectation::{CheckerKernel, ElementOrder};
use crate::id::{KernelName, RequirementId, TestId};
use crate::image::{Image, Sampler};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The only version of the file formats so far.
pub const SCHEMA: u32 = 1;

/// A test-procedure file: kernels and the tests that dispatch them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Procedure {
    /// Version of the format: 1.
    pub schema: u32,
    /// Title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Kernels by name.
    pub kernels: BTreeMap<KernelName, Kernel>,
    /// Tests with different ids, at least one.
    pub tests: Vec<Test>,
}

/// One test case with its procedure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Test {
    /// Unique id of the test.
    pub id: TestId,
    /// Title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Requirements that the test verifies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<RequirementId>,
    /// Normal range or robustness (DO-178C 6.4.2).
    #[serde(default)]
    pub kind: TestKind,
    /// Who wrote the test; not part of its content hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Who reviewed the test; not part of its content hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviewer: Option<String>,
    /// Limits of this test; what it leaves out is of the project or command line.
    #[serde(default, skip_serializing_if = "TestLimits::is_empty")]
    pub limits: TestLimits,
    /// Buffers by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub buffers: BTreeMap<String, Buffer>,
    /// Images by name; none has the name of a buffer.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub images: BTreeMap<String, Image>,
    /// Samplers by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub samplers: BTreeMap<String, Sampler>,
    /// Run in order with a full memory barrier between them; at least one.
    pub dispatches: Vec<Dispatch>,
    /// None: completing is a pass; in a project such a test verifies nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<Expectation>,
}

/// DO-178C 6.4.2: normal range or robustness test case.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum TestKind {
    /// Normal range test case (DO-178C 6.4.2.1).
    #[default]
    Normal,
    /// Robustness test case (DO-178C 6.4.2.2).
    Robustness,
}

impl std::fmt::Display for TestKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            TestKind::Normal => "normal",
            TestKind::Robustness => "robustness",
        })
    }
}

/// Limits that a test sets for itself; what it leaves out comes from the project or the command line.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestLimits {
    /// Wall-clock seconds on a device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Instructions on the sequential engine, summed over all invocations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Bytes of all buffers together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}

impl TestLimits {
    /// Whether the test sets no limit of its own.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// These limits where they are set, `defaults` where not.
    pub fn over(self, defaults: Limits) -> Limits {
        Limits {
            seconds: self.seconds.unwrap_or(defaults.seconds),
            steps: self.steps.unwrap_or(defaults.steps),
            memory_bytes: self.memory_bytes.unwrap_or(defaults.memory_bytes),
        }
    }
}

/// What a buffer or an image must hold at the end: exactly one of `values`, `file`, `equals_buffer` (`equals_image`),
/// `reference` and `check`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// Either a buffer or an image; neither beside `check`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<String>,
    /// Name of the image that is judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// None: the buffer's own type. Images have that of their format.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub data_type: Option<DataType>,
    /// Bytes from the start of the buffer, or of the image's level and layer.
    #[serde(default)]
    pub offset: u64,
    /// Images: 0 where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<u32>,
    /// Images: 0 where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<u32>,
    /// Elements (texels) that are judged from `offset` on; none: as many as `values` or `file` have, else all that follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// None: `fixed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<ElementOrder>,
    /// With `order = "any"`: elements that stay together; with `reflect` bytes. None: 1, and a vector or texel is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<u64>,
    /// Elements from `offset` on, flat or one array per vector (per texel).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Datum>,
    /// A `.npy` or raw file with the elements from `offset` on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Another buffer whose final contents the rest of this buffer (with `count`: so many elements) must equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equals_buffer: Option<String>,
    /// Another image of the same format and size whose final contents this image must equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equals_image: Option<String>,
    /// Another kernel that computes the expected contents from the same initial buffers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
    /// A kernel that reads the final contents and writes a verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<CheckerKernel>,
    /// None: every element must be equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<Tolerance>,
}

impl Expectation {
    /// The buffer or image judged, the verdict of a checker; empty where the file names none, which is an error.
    pub fn judged(&self) -> &str {
        let verdict = self.check.as_ref().map(|check| check.verdict.as_str());
        self.buffer.as_deref().or(self.image.as_deref()).or(verdict).unwrap_or_default()
    }
}

/// A kernel run on the sequential engine, on the test's initial buffers, to compute what is expected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// The reference kernel, by its name among the kernels.
    pub kernel: KernelName,
    /// Workgroup counts in x, y and z, each at least 1.
    pub groups: [u32; 3],
    /// What is bound to the kernel's descriptors, of the test's buffers and images.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<Binding>,
    /// As of a dispatch: an object by member name, an array by member index, or raw bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push_constants: Option<Datum>,
    /// By specialization id, written as a string.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub specialization: BTreeMap<String, SpecializationValue>,
}

/// How far an element may be from the expected one: it agrees where any one of the bounds given holds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    /// `|actual - expected| <= abs`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abs: Option<f64>,
    /// `|actual - expected| <= rel * |expected|`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rel: Option<f64>,
    /// Number of representable values between the two, in the element's own type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ulp: Option<u64>,
    /// Bits must be the same: tells -0 from 0 and one NaN from another. Excludes the other three.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bits: bool,
}

/// Limits of one test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// Wall-clock seconds on a device (the sequential engine counts steps instead).
    pub seconds: f64,
    /// Instructions executed on the sequential engine, summed over all invocations.
    pub steps: u64,
    /// Bytes of all buffers and images of one test.
    pub memory_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { seconds: 10.0, steps: 2_000_000_000, memory_bytes: 1 << 30 }
    }
}
