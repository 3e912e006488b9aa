//! What a justification of a finding is signed for, field by field.
//!
//! Promises: no field is a sentence that the tool words, so that wording can change while acceptances hold. The hash of an
//! acceptance is over the canonical form of this.
//! Does not cover: which facts of a finding go in (`coverage::acceptance`).

use super::finding::FindingKind;
use super::id::{FindingId, KernelName, StatementId, TestId};
use super::verdict::EngineName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A finding without the values and witnesses of the run that showed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FindingSubject {
    /// Name of the finding in justifications.
    pub id: FindingId,
    /// What kind of defect it is.
    pub kind: FindingKind,
    /// The kernel that it is about.
    pub kernel: KernelName,
    /// SHA-256 of the production modules without debug information: of the kernel, and of all that its test dispatches.
    pub code: BTreeMap<KernelName, String>,
    /// What the configuration fixes that it was found under, by name of the part; empty where it is of none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub configuration: BTreeMap<String, serde_json::Value>,
    /// In the order of the source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<SubjectPlace>,
    /// Numbers of the instructions in the code, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instructions: Vec<u32>,
    /// Details of the finding that are about the code: `memory`, `object`, `reach`, `same_value`, `dimension` ...
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, serde_json::Value>,
    /// The test that showed it; none of findings that no test shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<SubjectTest>,
    /// The engine that showed it; none of findings that no run shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<SubjectEngine>,
    /// SHA-256 of the host's interface in its canonical form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
}

/// A statement or, without source, an instruction that a finding is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct SubjectPlace {
    /// The statement; none without source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement: Option<StatementId>,
    /// As the name of the finding has it: `S4`, `412`, or the function.
    pub name: String,
    /// Source text; without source the function and the instruction.
    pub text: String,
    /// From the part of the statement on that is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// `read`, `write` ... of a race.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<String>,
}

/// The test that showed a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubjectTest {
    /// Id of the test.
    pub id: TestId,
    /// `sha256:...` of its canonical content.
    pub hash: String,
}

/// What ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubjectEngine {
    /// Name of the engine.
    pub engine: EngineName,
    /// `device`, `driver`, `driver version`; empty for the sequential engine.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub identity: BTreeMap<String, String>,
}
