//! A kernel under one configuration on one engine: modules, structure, raw records and coverage.

use crate::boundary::BoundaryValue;
use crate::coverage::{KernelBarrier, KernelCoverage};
use crate::finding::Finding;
use crate::id::{KernelName, TestId};
use crate::object::ObjectStructure;
use crate::pair_obligation::KernelPairs;
use crate::records::{Presence, RecordLayout, Recorded, Records};
use crate::structure::KernelStructure;
use crate::verdict::{EngineName, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A finding that belongs to no single result of a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelFinding {
    /// The kernel that it is about.
    pub kernel: KernelName,
    /// The engine that showed it; none where no run did.
    pub engine: Option<EngineName>,
    /// The test that showed it; none where no test did.
    pub test: Option<TestId>,
    /// The finding itself.
    pub finding: Finding,
}

/// One kernel under one configuration on one engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelEvidence {
    /// Version of the evidence format.
    pub schema: u32,
    /// Name of the kernel as in the project file.
    pub kernel: KernelName,
    /// The engine that recorded.
    pub engine: EngineName,
    /// Path of the main source file.
    pub source: String,
    /// Defines, specialization and local size that the records belong to.
    pub configuration: Configuration,
    /// Digests of the three modules.
    pub modules: ModuleHashes,
    /// How the device recorded; none for the sequential engine, which records by itself, and for what is not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<Recorded>,
    /// What the front end read from the source text.
    pub structure: KernelStructure,
    /// Which bit of the records stands for what.
    pub layout: RecordLayout,
    /// Which markers the compiled module holds.
    pub presence: Presence,
    /// Raw records of each test that ran this kernel, in order of execution, passed or not.
    pub records: Vec<TestRecords>,
    /// The branches of the production module, with their records.
    #[serde(default)]
    pub objects: ObjectEvidence,
    /// The barriers of its workgroups that the kernel reaches, in source order: `BAR1`, `BAR2` ...
    #[serde(default)]
    pub barriers: Vec<KernelBarrier>,
    /// The boundary values of its inputs, with the tests that give them; absent where the project does not ask for
    /// boundary value coverage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boundaries: Option<Vec<BoundaryValue>>,
    /// What tests have to show of its coupling; absent where the project does not ask for coupling coverage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<KernelPairs>,
    /// What follows from structure, layout, presence and records.
    pub coverage: KernelCoverage,
    /// The additional decisions of the sequential lowering (loops over workgroups, invocations), reported apart.
    #[serde(default)]
    pub lowering: Vec<LoweringDecision>,
}

/// Object code of one kernel: what its branches trace to and what tests recorded of them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ObjectEvidence {
    /// Branches and loops of the production module, with what they trace to.
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
    /// How often it was true, in all tests.
    pub true_count: u64,
    /// How often it was false, in all tests.
    pub false_count: u64,
}

/// What one test recorded of a kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestRecords {
    /// The test that ran.
    pub test: TestId,
    /// Verdict of the test on this engine.
    pub verdict: Verdict,
    /// Whether the records count: only those of passed tests do.
    pub counted: bool,
    /// The raw records.
    pub records: Records,
}

/// A production configuration of a kernel.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Configuration {
    /// As `vkcert.toml` names it; else made of the constants that are not at their defaults (`TILE=16`), or `default`.
    pub name: String,
    /// Name of the entry point.
    pub entry: String,
    /// What GLSL is compiled for: `vulkan1.1` ...
    pub target_env: String,
    /// Macros with their values, by name.
    pub defines: BTreeMap<String, String>,
    /// Folders that `#include` searches, relative to the project.
    pub include: Vec<String>,
    /// Every specialization constant of the module, by id ascending.
    pub specialization: Vec<SpecializedConstant>,
    /// Invocations of a workgroup in x, y and z.
    pub local_size: [u32; 3],
}

/// A specialization constant with its value under a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpecializedConstant {
    /// The constant's `SpecId`.
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
    /// Of the module compiled from the untouched source.
    pub production: String,
    /// Of the production module without debug information: it stays what it is when text moves or comments change.
    #[serde(default)]
    pub code: String,
    /// Of the preprocessed text, token by token; none without source. Format 1 does not hold it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Path of the module on disk that is the same; none where there is none.
    pub production_file: Option<String>,
    /// Of the marked module with its markers erased.
    pub traced: String,
    /// Of the traced module with its coverage records.
    pub instrumented: String,
}
