//! A kernel under one configuration on one engine: modules, structure, raw records and coverage.

use crate::coverage::{KernelBarrier, KernelCoverage};
use crate::finding::Finding;
use crate::id::{KernelName, TestId};
use crate::object::ObjectStructure;
use crate::records::{Presence, RecordLayout, Recorded, Records};
use crate::structure::KernelStructure;
use crate::verdict::{EngineName, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelFinding {
    pub kernel: KernelName,
    pub engine: Option<EngineName>,
    pub test: Option<TestId>,
    pub finding: Finding,
}

/// One kernel under one configuration on one engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelEvidence {
    pub schema: u32,
    pub kernel: KernelName,
    pub engine: EngineName,
    /// Path of the main source file.
    pub source: String,
    pub configuration: Configuration,
    pub modules: ModuleHashes,
    /// How the device recorded; none for the sequential engine, which records by itself, and for what is not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<Recorded>,
    pub structure: KernelStructure,
    pub layout: RecordLayout,
    pub presence: Presence,
    /// Raw records of each test that ran this kernel, in order of execution, passed or not.
    pub records: Vec<TestRecords>,
    /// The branches of the production module, with their records.
    #[serde(default)]
    pub objects: ObjectEvidence,
    /// The barriers of its workgroups that the kernel reaches, in source order: `BAR1`, `BAR2` ...
    #[serde(default)]
    pub barriers: Vec<KernelBarrier>,
    pub coverage: KernelCoverage,
    /// The additional decisions of the sequential lowering (loops over workgroups, invocations), reported apart.
    #[serde(default)]
    pub lowering: Vec<LoweringDecision>,
}

/// Object code of one kernel: what its branches trace to and what tests recorded of them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ObjectEvidence {
    pub structure: ObjectStructure,
    /// SHA-256 of the module that was run to record them.
    pub instrumented: String,
    /// As [`KernelEvidence::records`].
    pub records: Vec<TestRecords>,
}

/// The kernel's name, with the configuration behind it where the kernel has several: `matmul [TILE=16]`.
pub fn kernel_label(all: &[KernelEvidence], one: &KernelEvidence) -> String {
    if all.iter().any(|other| {
        other.kernel == one.kernel && other.configuration.name != one.configuration.name
    }) {
        format!("{} [{}]", one.kernel, one.configuration.name)
    } else {
        one.kernel.to_string()
    }
}

/// A loop decision that only the sequential lowering has (the paper's tables IV, V, XI to XIV).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoweringDecision {
    /// `L1`, `L2` ...
    pub id: String,
    /// As the lowering prints it: `workgroup.x < groups.x`.
    pub text: String,
    pub true_count: u64,
    pub false_count: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestRecords {
    pub test: TestId,
    pub verdict: Verdict,
    /// Whether the records count: only those of passed tests do.
    pub counted: bool,
    pub records: Records,
}

/// A production configuration of a kernel.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Configuration {
    /// As `vkcert.toml` names it; else made of the constants that are not at their defaults (`TILE=16`), or `default`.
    pub name: String,
    pub entry: String,
    pub target_env: String,
    pub defines: BTreeMap<String, String>,
    pub include: Vec<String>,
    /// Every specialization constant of the module, by id ascending.
    pub specialization: Vec<SpecializedConstant>,
    pub local_size: [u32; 3],
}

/// A specialization constant with its value under a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpecializedConstant {
    pub id: u32,
    /// As the source names it.
    pub name: Option<String>,
    /// `bool`, `uint32`, `float32` ...
    #[serde(rename = "type")]
    pub type_name: String,
    /// As reports print it: `16`, `true`, `0.5`.
    pub value: String,
    /// Raw bits, `0x...`.
    pub bits: String,
    /// Whether it is the module's default.
    pub default: bool,
}

impl SpecializedConstant {
    /// The name, or `constant 3`.
    pub fn label(&self) -> String {
        self.name.clone().unwrap_or_else(|| format!("constant {}", self.id))
    }
}

/// SHA-256 of the three modules, and whether the production module on disk is what the compiler makes now.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ModuleHashes {
    pub production: String,
    /// Of the production module without debug information: it stays what it is when text moves or comments change.
    #[serde(default)]
    pub code: String,
    /// Of the preprocessed text, token by token; none without source. Format 1 does not hold it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    pub production_file: Option<String>,
    pub traced: String,
    pub instrumented: String,
}
