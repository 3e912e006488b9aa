//! The project file `vkcert.toml`: what is certified, how, and within which limits.
//!
//! Knows: every setting with its default. Promises: unknown keys are refused; each limit has a default.
//! Does not cover: reading and checking (`requirement`).

use super::criterion::CriterionName;
use super::document::DocumentIdentity;
use super::generation::Generation;
use super::id::KernelName;
use super::metric::MetricName;
use super::open_item::ItemAcceptance;
use super::procedure::{Language, Limits, SpecializationValue, TargetEnvironment, default_entry};
use super::requirement::RequirementLevel;
use super::schedule::Schedules;
pub use super::standard::{SoftwareLevel, Standard};
use super::verdict::EngineName;
use super::vulkan_sc::{Profile, ScFeature};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// The most repetitions of a test that can be asked for.
pub const MOST_REPETITIONS: u32 = 1000;

/// `vkcert.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectFile {
    /// Version of the format: 1.
    pub schema: u32,
    /// The project's name, as reports print it.
    pub name: String,
    /// The standard in whose words results are told.
    #[serde(default, skip_serializing_if = "Standard::is_default")]
    pub standard: Standard,
    /// The level in that standard: DO-178C software level, ECSS criticality category or ASIL.
    pub level: SoftwareLevel,
    /// The API that the kernels are for.
    #[serde(default)]
    pub profile: Profile,
    /// Optional features that the Vulkan SC device has for which the kernels are; none: it has none of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sc_features: Option<Vec<ScFeature>>,
    /// Which Boolean expressions are decisions.
    #[serde(default)]
    pub decision_policy: DecisionPolicy,
    /// Criteria that must be met; none: those that the standard asks for at the level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criteria: Option<Vec<CriterionName>>,
    /// Metrics that are measured beside the criteria; no verdict depends on one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<MetricName>,
    /// What orders memory.
    #[serde(default)]
    pub memory_model: MemoryModel,
    /// Engines that must run; none: the sequential engine, and the Vulkan engine where a device is found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engines: Option<Vec<EngineName>>,
    /// How often each test runs on each engine, at most 1000; none: 3 times on the Vulkan engine, once on the sequential
    /// engine. Results that differ are undetermined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<NonZeroU32>,
    /// Other orders of its workgroups that each test runs in on a device; outputs that differ are findings.
    #[serde(default)]
    pub schedules: Schedules,
    /// Vulkan validation layers: their messages are findings.
    #[serde(default)]
    pub validation: ValidationLayers,
    /// What becomes of accesses outside of buffers and images on a device.
    #[serde(default)]
    pub robustness: Robustness,
    /// Whether a production module may differ from the traced one in floats, within a test's tolerance.
    #[serde(default)]
    pub contraction: Contraction,
    /// Limits of tests, kernels and evidence.
    #[serde(default)]
    pub limits: ProjectLimits,
    /// Which levels of requirements the project has.
    #[serde(default, skip_serializing_if = "RequirementLevels::are_both")]
    pub requirement_levels: RequirementLevels,
    /// The target computer: where executable object code is to be shown to meet its requirements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetComputer>,
    /// What the project says of the documents that its reports are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<DocumentIdentity>,
    /// What mutation testing must come to, where it is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutation: Option<MutationDemand>,
    /// Open items that the project accepts.
    #[serde(rename = "accept", default, skip_serializing_if = "Vec::is_empty")]
    pub acceptances: Vec<ItemAcceptance>,
    /// In the order of reports; at least one.
    #[serde(rename = "kernel")]
    pub kernels: Vec<ProjectKernel>,
}

/// What mutation testing must come to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MutationDemand {
    /// The least score, in percent of the mutants that count: from 0 to 100.
    pub threshold: f64,
}

/// A kernel of the project.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectKernel {
    /// Unique name of the kernel.
    pub name: KernelName,
    /// Path relative to the project.
    pub source: String,
    /// What the source is; GLSL where it is left out.
    #[serde(default)]
    pub language: Language,
    /// Name of the entry point; `main` where it is left out.
    #[serde(default = "default_entry")]
    pub entry: String,
    /// What GLSL is compiled for.
    #[serde(default)]
    pub target_env: TargetEnvironment,
    /// Macros defined before the first line of the source, with their values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub defines: BTreeMap<String, String>,
    /// Folders searched by `#include`, relative to the project.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// Optimisation of the production module.
    #[serde(default)]
    pub optimization: Optimization,
    /// Who wrote the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Who reviewed the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviewer: Option<String>,
    /// Specializations that production uses; coverage belongs to each of these. None: each specialization that tests of the
    /// kernel use.
    #[serde(rename = "configuration", default, skip_serializing_if = "Vec::is_empty")]
    pub configurations: Vec<SpecializationConfiguration>,
}

/// A set of specialization values that production uses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpecializationConfiguration {
    /// Name of the configuration, unique in the kernel.
    pub name: String,
    /// By specialization id, written as a string.
    pub specialization: BTreeMap<String, SpecializationValue>,
}

/// Which levels of requirements a project has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RequirementLevels {
    /// High-level and low-level requirements.
    #[default]
    Both,
    /// One level: each requirement is high-level and low-level (DO-178C 5.0).
    Single,
}

impl RequirementLevels {
    /// Whether there are two levels.
    pub fn are_both(&self) -> bool {
        *self == RequirementLevels::Both
    }

    /// Whether a requirement declared of one level is of another one, too: with a single level,
    /// each is of both (DO-178C 5.0).
    pub fn is_of_level(self, declared: RequirementLevel, asked: RequirementLevel) -> bool {
        match self {
            RequirementLevels::Both => declared == asked,
            RequirementLevels::Single => true,
        }
    }
}

/// The target computer, in the words in which the identity of the device engine has them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TargetComputer {
    /// Name of the device.
    pub device: String,
    /// Name of the driver.
    pub driver: String,
    /// What the driver tells of itself, its version as a rule.
    pub driver_info: String,
}

/// Which Boolean expressions are decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DecisionPolicy {
    /// Every Boolean expression (CAST-10).
    #[default]
    Literal,
    /// Those that direct control flow.
    ControlFlow,
}

impl DecisionPolicy {
    /// The stored name.
    pub fn name(self) -> &'static str {
        match self {
            DecisionPolicy::Literal => "literal",
            DecisionPolicy::ControlFlow => "control-flow",
        }
    }
}

/// Optimisation level of the compiler for production modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Optimization {
    /// No optimisation.
    #[default]
    Zero,
    /// For speed.
    Performance,
    /// For size.
    Size,
}

/// What orders memory accesses of a workgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryModel {
    /// The Vulkan memory model, and one memory barrier directly before `barrier()` accepted with a note.
    #[default]
    Idiom,
    /// The Vulkan memory model to the letter.
    Spec,
}

impl MemoryModel {
    /// The stored name.
    pub fn name(self) -> &'static str {
        match self {
            MemoryModel::Idiom => "idiom",
            MemoryModel::Spec => "spec",
        }
    }
}

/// Whether the Vulkan validation layers are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ValidationLayers {
    /// Used where they are installed; a run without them says so.
    #[default]
    On,
    /// Not used; an open item.
    Off,
    /// Not installed is an error.
    Required,
}

/// Which robustness features of the device are on. A device that lacks one that was asked for makes tests unsupported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Robustness {
    /// None of them.
    Off,
    /// robustBufferAccess, which every device has, and robustImageAccess where the device has it.
    #[default]
    Basic,
    /// robustBufferAccess2 and robustImageAccess2 as well: reads outside give 0, writes outside are dropped.
    Strict,
    /// `strict` where the device has both features, otherwise `basic`.
    Best,
}

/// What becomes of floats that the production module and the traced module compute differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Contraction {
    /// Any difference of floats is a finding.
    #[default]
    Forbidden,
    /// A difference within the test's tolerance is none.
    Allowed,
}

/// Limits of the project. A test or the command line may lower or raise the first three.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProjectLimits {
    /// Wall-clock seconds of one test on a device.
    pub seconds: f64,
    /// Instructions of one test on the sequential engine, summed over all invocations.
    pub steps: u64,
    /// Bytes of all buffers of one test.
    pub memory_bytes: u64,
    /// Workgroup counts of one dispatch; the default is what every Vulkan device accepts
    /// (`maxComputeWorkGroupCount`, Vulkan 1.3, table "Required Limits").
    pub groups: [u32; 3],
    /// Local size in x, y and z (`maxComputeWorkGroupSize`).
    pub local_size: [u32; 3],
    /// Invocations of one workgroup (`maxComputeWorkGroupInvocations`).
    pub invocations: u32,
    /// Bytes of workgroup memory (`maxComputeSharedMemorySize`).
    pub workgroup_bytes: u32,
    /// Bytes of push constants (`maxPushConstantsSize`).
    pub push_constant_bytes: u32,
    /// Depth of nested blocks and expressions in a source file.
    pub nesting: u32,
    /// Depth of nested calls.
    pub call_depth: u32,
    /// Mismatching elements listed per expectation; all are counted.
    pub mismatches: u32,
    /// Bytes of one buffer's output kept in the evidence; a larger one is kept by hash.
    pub output_bytes: u64,
    /// Bytes of a text that stands in a heading, a cell or a line of reports: titles, names of people.
    #[serde(skip_serializing_if = "is_default_title_limit")]
    pub title_bytes: u32,
    /// Bytes of any other text: statements, reasons, expressions, paths.
    #[serde(skip_serializing_if = "is_default_text_limit")]
    pub text_bytes: u32,
}

/// The default of [`ProjectLimits::title_bytes`].
const TITLE_BYTES: u32 = 1 << 10;

/// The default of [`ProjectLimits::text_bytes`].
const TEXT_BYTES: u32 = 1 << 16;

/// Evidence of projects that leave it out does not hold it, as before there was this limit.
fn is_default_title_limit(limit: &u32) -> bool {
    *limit == TITLE_BYTES
}

fn is_default_text_limit(limit: &u32) -> bool {
    *limit == TEXT_BYTES
}

impl Default for ProjectLimits {
    fn default() -> Self {
        let limits = Limits::default();
        Self {
            seconds: limits.seconds,
            steps: limits.steps,
            memory_bytes: limits.memory_bytes,
            groups: [65_535; 3],
            local_size: [1024, 1024, 64],
            invocations: 1024,
            workgroup_bytes: 65_536,
            push_constant_bytes: 256,
            nesting: 256,
            call_depth: 64,
            mismatches: 16,
            output_bytes: 1 << 20,
            title_bytes: TITLE_BYTES,
            text_bytes: TEXT_BYTES,
        }
    }
}

impl ProjectLimits {
    /// The limits that a test can set for itself.
    pub fn test(&self) -> Limits {
        Limits { seconds: self.seconds, steps: self.steps, memory_bytes: self.memory_bytes }
    }
}

impl ProjectFile {
    /// The kernel of this name; none where the project has none.
    pub fn kernel(&self, name: &KernelName) -> Option<&ProjectKernel> {
        self.kernels.iter().find(|kernel| kernel.name == *name)
    }

    /// Whether a criterion is in force.
    pub fn asks_for(&self, criterion: CriterionName) -> bool {
        self.required_criteria().contains(&criterion)
    }

    /// The criteria in force: those named, or those of the level.
    pub fn required_criteria(&self) -> Vec<CriterionName> {
        self.criteria_in_force(Generation::Current)
    }

    /// The criteria in force in evidence of a generation.
    pub fn criteria_in_force(&self, generation: Generation) -> Vec<CriterionName> {
        self.criteria.clone().unwrap_or_else(|| generation.criteria_of(self.level))
    }
}
