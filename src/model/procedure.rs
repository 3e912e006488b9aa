//! Test procedures as files hold them (TOML or JSON alike), and what their fields mean.
//!
//! Knows: the contract's format of `vkcert run FILE` and of `[[test]]` in `requirements/**/*.toml`.
//! Promises: a key that is not listed here is refused; a field left out has the default written beside it; absent
//! optional fields are not written back, so that a field added later leaves the hash of older tests as it is.
//! Does not cover: reading files (`requirement::document`), laying data out (`exec::prepare`), verdicts (`exec::judge`).

use super::element::{DataType, Datum, ElementType};
use super::expectation::{CheckerKernel, ElementOrder};
use super::id::{KernelName, RequirementId, TestId};
use super::image::{Image, ImageFormat, Sampler};
use schemars::JsonSchema;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// The only version of the file formats so far.
pub const SCHEMA: u32 = 1;

/// A test-procedure file: kernels and the tests that dispatch them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Procedure {
    /// Version of the format: 1.
    pub schema: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    pub kernels: BTreeMap<KernelName, Kernel>,
    pub tests: Vec<Test>,
}

/// A kernel: its source and everything that decides what it compiles to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    pub source: KernelText,
    #[serde(default)]
    pub language: Language,
    /// Name of the entry point.
    #[serde(default = "default_entry")]
    pub entry: String,
    #[serde(default)]
    pub target_env: TargetEnvironment,
    /// Macros defined before the first line of the source.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub defines: BTreeMap<String, String>,
    /// Folders searched by `#include`, relative to the file's own folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
}

/// The entry point that a kernel has where nothing is said: `main`.
pub fn default_entry() -> String {
    "main".to_owned()
}

/// Where a kernel's text or module is: a path relative to the file's own folder, or the contents themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum KernelText {
    Path(String),
    Contents(KernelContents),
}

/// By hand, because an untagged enum would say only that no variant matches, and not where.
impl<'de> Deserialize<'de> for KernelText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = KernelText;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a path, {\"text\": GLSL} or {\"bytes\": base64}")
            }
            fn visit_str<E>(self, path: &str) -> Result<KernelText, E> {
                Ok(KernelText::Path(path.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<KernelText, A::Error> {
                KernelContents::deserialize(serde::de::value::MapAccessDeserializer::new(map))
                    .map(KernelText::Contents)
            }
        }
        deserializer.deserialize_any(TextVisitor)
    }
}

/// Contents of a kernel in the file itself: exactly one of the two.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KernelContents {
    /// GLSL text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// A SPIR-V module, base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
}

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
pub enum Language {
    /// GLSL text.
    #[default]
    Glsl,
    /// A binary SPIR-V module.
    Spirv,
}

/// The Vulkan version that GLSL is compiled for. The default is 1.1, the oldest version that the Vulkan engine accepts
/// (SPIR-V 1.3, subgroup operations), so that a kernel asks for no more than it needs.
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
pub enum TargetEnvironment {
    #[serde(rename = "vulkan1.0")]
    Vulkan10,
    #[default]
    #[serde(rename = "vulkan1.1")]
    Vulkan11,
    #[serde(rename = "vulkan1.2")]
    Vulkan12,
    #[serde(rename = "vulkan1.3")]
    Vulkan13,
    #[serde(rename = "vulkan1.4")]
    Vulkan14,
}

impl TargetEnvironment {
    /// The stored name, `vulkan1.0` ... `vulkan1.4`.
    pub fn name(self) -> &'static str {
        match self {
            TargetEnvironment::Vulkan10 => "vulkan1.0",
            TargetEnvironment::Vulkan11 => "vulkan1.1",
            TargetEnvironment::Vulkan12 => "vulkan1.2",
            TargetEnvironment::Vulkan13 => "vulkan1.3",
            TargetEnvironment::Vulkan14 => "vulkan1.4",
        }
    }
}

impl std::fmt::Display for TargetEnvironment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// One test case with its procedure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Test {
    pub id: TestId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Requirements that the test verifies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<RequirementId>,
    #[serde(default)]
    pub kind: TestKind,
    #[serde(default, skip_serializing_if = "TestLimits::is_empty")]
    pub limits: TestLimits,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub buffers: BTreeMap<String, Buffer>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub images: BTreeMap<String, Image>,
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
    #[default]
    Normal,
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

/// A buffer with its initial contents: one of `bytes`, `data`, `fill` and `file`, or `count` alone (uninitialised).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Buffer {
    /// Raw contents, base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub data_type: Option<DataType>,
    /// Elements, flat or one array per vector; for `reflect` an object by member name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Datum>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<Fill>,
    /// A `.npy` or raw file, relative to the file's own folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Number of elements; beside `data`, `file` or `bytes` it must agree with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Device addresses of other buffers written into this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub address_of: Vec<AddressOf>,
}

/// Contents made by rule for `count` elements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fill {
    /// Every element is this value (a vector: one value per component, or one for all).
    Constant(Datum),
    /// Component `i` of the buffer is `start + i * step`.
    Iota(Iota),
    /// Components drawn by SplitMix64, so that a seed gives the same contents everywhere.
    Random(Random),
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Iota {
    /// 0 where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Datum>,
    /// 1 where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<Datum>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Random {
    pub seed: u64,
    /// Integers: the type's smallest value where it is left out; floats: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Datum>,
    /// Integers: the type's largest value (inclusive) where it is left out; floats: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Datum>,
}

/// The device address of a buffer, stored as 8 bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddressOf {
    /// Byte offset where the address is stored.
    pub at: u64,
    pub buffer: String,
    /// Bytes added to the address.
    #[serde(default)]
    pub offset: u64,
}

/// One dispatch command with what is bound to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dispatch {
    pub kernel: KernelName,
    /// Workgroup counts in x, y and z, each at least 1.
    pub groups: [u32; 3],
    /// None: the engine's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subgroup_size: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<Binding>,
    /// An object by member name, an array by member index, or `{"bytes": base64}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push_constants: Option<Datum>,
    /// By specialization id, written as a string.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub specialization: BTreeMap<String, SpecializationValue>,
}

/// A buffer range, image or sampler bound to a descriptor: exactly one of `buffer`, `image` and `sampler`; `combined`
/// takes an image and a sampler.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    #[serde(default)]
    pub set: u32,
    pub binding: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampler: Option<String>,
    /// None: the class that the kernel declares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<DescriptorClass>,
    /// Index into an array of descriptors.
    #[serde(default)]
    pub array_index: u32,
    /// Bytes.
    #[serde(default)]
    pub offset: u64,
    /// Bytes; none: to the end of the buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<u64>,
    /// Bytes added to `offset`; only for the dynamic classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dynamic_offset: Option<u64>,
    /// Texel buffers: how the bytes are read; none: the format that the kernel declares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<ImageFormat>,
    /// Images: the level that a storage image writes, the first that a sampled one sees; 0 where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<u32>,
    /// Images: the layer that a kernel without arrays sees, the first of an array; 0 where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<u32>,
}

/// The value of a specialization constant: `value` or `bits`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpecializationValue {
    /// A scalar type, which must be the one that the kernel declares; none: that one.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub data_type: Option<ElementType>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Datum>,
    /// Raw bits: an integer, or a string `"0x..."`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bits: Option<Datum>,
}

/// What a buffer or an image must hold at the end: exactly one of `values`, `file`, `equals_buffer` (`equals_image`),
/// `reference` and `check`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// Either a buffer or an image; neither beside `check`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<String>,
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
    pub kernel: KernelName,
    pub groups: [u32; 3],
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<Binding>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push_constants: Option<Datum>,
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

/// Descriptor types of the contract.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum DescriptorClass {
    Storage,
    Uniform,
    StorageDynamic,
    UniformDynamic,
    StorageImage,
    SampledImage,
    Sampler,
    Combined,
    UniformTexel,
    StorageTexel,
}

impl DescriptorClass {
    /// The stored name.
    pub fn name(self) -> &'static str {
        match self {
            DescriptorClass::Storage => "storage",
            DescriptorClass::Uniform => "uniform",
            DescriptorClass::StorageDynamic => "storage_dynamic",
            DescriptorClass::UniformDynamic => "uniform_dynamic",
            DescriptorClass::StorageImage => "storage_image",
            DescriptorClass::SampledImage => "sampled_image",
            DescriptorClass::Sampler => "sampler",
            DescriptorClass::Combined => "combined",
            DescriptorClass::UniformTexel => "uniform_texel",
            DescriptorClass::StorageTexel => "storage_texel",
        }
    }
}

/// Limits of one test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// Wall-clock seconds on a device (the sequential engine counts steps instead).
    pub seconds: f64,
    /// Instructions executed on the sequential engine, summed over all invocations.
    pub steps: u64,
    pub memory_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { seconds: 10.0, steps: 2_000_000_000, memory_bytes: 1 << 30 }
    }
}
