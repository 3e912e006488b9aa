//! What was certified, and with what: project, profile and engines.

use crate::criterion::StoredCriterion;
use crate::id::KernelName;
use crate::metric::MetricName;
use crate::project::{DecisionPolicy, MemoryModel, SoftwareLevel};
use crate::verdict::EngineName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Which project was certified, under which settings, with which tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectIdentity {
    /// Name of the project as in the project file.
    pub name: String,
    /// The level in its standard: DO-178C `A` to `D`, ECSS `category A` to `category D`, `ASIL A` to `ASIL D`.
    #[schemars(with = "String")]
    pub level: SoftwareLevel,
    /// The API that the kernels are for, with what that means; older evidence has none, which is Vulkan.
    #[serde(default)]
    pub profile: ProfileEvidence,
    /// Which Boolean expressions are decisions: `literal` or `control-flow`.
    #[schemars(with = "String")]
    pub decision_policy: DecisionPolicy,
    /// What orders memory: `idiom` or `spec`.
    #[schemars(with = "String")]
    pub memory_model: MemoryModel,
    /// Names of the coverage criteria that must be met.
    pub criteria: Vec<StoredCriterion>,
    /// Metrics that are measured beside them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<MetricName>,
    /// Name of the tool.
    pub tool: String,
    /// Version of the tool.
    pub tool_version: String,
    /// Identity of the compiler: shaderc and SPIRV-Tools versions, SPIR-V revision.
    pub compiler: String,
    /// Options that production modules are compiled with.
    pub compiler_options: String,
    /// From SOURCE_DATE_EPOCH, RFC 3339; else null.
    pub date: Option<String>,
}

/// The profile of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProfileEvidence {
    /// `vulkan` or `vulkan-sc`.
    pub name: String,
    /// Optional features that the target device declares, sorted; empty under `vulkan`.
    pub features: Vec<String>,
    /// What was checked because of it, as sentences; empty under `vulkan`.
    pub meaning: Vec<String>,
    /// Kernels that the profile refuses, in project order.
    pub refused: Vec<RefusedKernel>,
}

impl Default for ProfileEvidence {
    fn default() -> Self {
        let name = crate::vulkan_sc::Profile::Vulkan.name().to_owned();
        Self { name, features: Vec::new(), meaning: Vec::new(), refused: Vec::new() }
    }
}

/// A kernel that is not for the target of the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefusedKernel {
    /// Name of the kernel as in the project file.
    pub kernel: KernelName,
    /// What the target lacks of what the kernel needs, each with its place.
    pub reasons: Vec<String>,
}

/// An engine of the run, whether it ran, and on what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EngineIdentity {
    /// Which engine.
    pub engine: EngineName,
    /// `ran` or `not-run`.
    pub ran: bool,
    /// Why it did not run.
    pub reason: Option<String>,
    /// Device name, driver, API version, device UUID, limits used; empty for the sequential engine but its settings.
    pub identity: BTreeMap<String, String>,
}
