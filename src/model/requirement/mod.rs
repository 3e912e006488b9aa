//! Requirements, justifications and interfaces as `requirements/**/*.toml` holds them.

mod host;
mod host_capture;
mod host_earlier;
mod host_header;
mod host_layout;
mod host_pipeline;
mod host_struct;
mod justification;
mod review;

pub use host::{
    HostBuffer, HostImage, HostLocal, HostParameter, HostSpecialization, HostType, Interface,
};
pub use host_capture::{
    BoundBytes, BoundImage, CaptureReading, CapturedCheck, CapturedDispatch, CapturedFlow,
    CapturedKernel, CapturedModules, CapturedOperation, CapturedOperationKind, CapturedOrder,
    GivenFacts, HostCapture,
};
pub use host_earlier::{BindingPlace, EarlierDispatch, SharedBinding};
pub use host_header::{HeaderReading, HeaderUse, HostHeader};
pub use host_layout::{HostContents, PlacedMember, PlacedStruct};
pub use host_pipeline::{
    HostPipeline, OfflinePipeline, PipelineBinding, PipelineConstant, PipelinePart, PipelineRange,
    PipelineShader, ShaderContents, StageAccess, StructureFault,
};
pub use host_struct::{ElementCount, HostMember, HostStruct, MemberType, NamedStruct};
pub use justification::{
    DeactivationCategory, Justification, JustificationClass, JustificationSubject, StatementFault,
};

pub use review::{ReviewedTest, ReviewedThing, TestReview};

use crate::id::{KernelName, RequirementId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Level of a requirement (DO-178C): high-level or low-level.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum RequirementLevel {
    /// High-level.
    Hlr,
    /// Low-level.
    Llr,
}

impl std::fmt::Display for RequirementLevel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            RequirementLevel::Hlr => "HLR",
            RequirementLevel::Llr => "LLR",
        })
    }
}

/// How a requirement is verified.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum VerificationMethod {
    /// By test cases.
    Test,
    /// By analysis; a record says where it is written down.
    Analysis,
    /// By review; a record says where it is written down.
    Review,
}

impl std::fmt::Display for VerificationMethod {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            VerificationMethod::Test => "test",
            VerificationMethod::Analysis => "analysis",
            VerificationMethod::Review => "review",
        })
    }
}

/// One requirement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// Unique id of the requirement.
    pub uid: RequirementId,
    /// High-level or low-level.
    pub level: RequirementLevel,
    /// Title for people.
    pub title: String,
    /// What is required.
    pub statement: String,
    /// Why it is required.
    #[serde(default)]
    pub rationale: Option<String>,
    /// Parents with the content that was reviewed; a low-level requirement has one unless it is
    /// derived.
    #[serde(default)]
    pub parents: Vec<ParentLink>,
    /// Whether it comes from the design alone.
    #[serde(default)]
    pub derived: bool,
    /// Mandatory where `derived` is true.
    #[serde(default)]
    pub safety_rationale: Option<String>,
    /// One or more methods; it is verified only by all of them.
    pub verification: Vec<VerificationMethod>,
    /// Code that implements it.
    #[serde(default)]
    pub implements: Vec<CodeLink>,
    /// Why no robustness test of it is needed; not part of its content hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_robustness_test: Option<SignedReason>,
}

/// A reason that somebody gives and another approves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignedReason {
    /// The reason.
    pub reason: String,
    /// Who gives it.
    pub author: String,
    /// Who approves it; at levels A and B another person than the author.
    pub approver: String,
}

/// A link to a parent requirement, with the hash of the parent's content when the link was reviewed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParentLink {
    /// Id of the parent requirement.
    pub uid: RequirementId,
    /// `sha256:` and 64 hexadecimal digits over the parent's canonical content; a different one makes the link suspect.
    #[serde(default)]
    pub hash: Option<String>,
}

/// Where the verification of a requirement by analysis or review is written down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerificationRecord {
    /// The requirement that it verifies.
    pub requirement: RequirementId,
    /// The document that holds the analysis or the review.
    pub document: String,
    /// Where in the document.
    pub section: String,
    /// Who made the analysis or the review.
    pub author: String,
    /// At levels A and B another person than the author.
    pub reviewer: String,
    /// `sha256:` hash of the requirement's content; another content makes the record stale.
    pub hash: String,
}

/// Code that implements a requirement: a file and a function in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CodeLink {
    /// Path of the source file, relative to the project.
    pub file: String,
    /// Name of the function; none: the whole file.
    #[serde(default)]
    pub symbol: Option<String>,
    /// The kernels that it is about, where those that the code is part of have other texts of it; empty: all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<KernelName>,
}

impl std::fmt::Display for CodeLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.symbol {
            Some(symbol) => write!(f, "{}:{symbol}", self.file)?,
            None => f.write_str(&self.file)?,
        }
        match self.kernels.as_slice() {
            [] => Ok(()),
            kernels => {
                let names: Vec<&str> = kernels.iter().map(KernelName::as_str).collect();
                write!(f, " of {}", names.join(", "))
            }
        }
    }
}

/// A `[[review]]`, for the schema of its file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ReviewRecord {
    /// The review of tests.
    Tests(TestReview),
    /// The verification of a requirement by review.
    Requirement(VerificationRecord),
}

/// A file `requirements/**/*.toml` as a whole, for its schema; readers take each table by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequirementsFile {
    /// Version of the format: 1.
    pub schema: u32,
    /// `[[requirement]]`.
    #[serde(default)]
    pub requirement: Vec<Requirement>,
    /// `[[test]]`.
    #[serde(default)]
    pub test: Vec<crate::procedure::Test>,
    /// Records of verification by analysis.
    #[serde(default)]
    pub analysis: Vec<VerificationRecord>,
    /// Records of verification by review, and, with the key `of`, reviews of tests.
    #[serde(default)]
    pub review: Vec<ReviewRecord>,
    /// `[[justification]]`.
    #[serde(default)]
    pub justification: Vec<Justification>,
    /// `[[interface]]`.
    #[serde(default)]
    pub interface: Vec<Interface>,
}
