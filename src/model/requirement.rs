//! Requirements, justifications and interfaces as `requirements/**/*.toml` holds them.

use super::id::{FindingId, KernelName, ObligationId, RequirementId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Level of a requirement (DO-178C): high-level or low-level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum RequirementLevel {
    Hlr,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum VerificationMethod {
    Test,
    Analysis,
    Review,
}

/// One requirement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    pub uid: RequirementId,
    pub level: RequirementLevel,
    pub title: String,
    pub statement: String,
    #[serde(default)]
    pub rationale: Option<String>,
    #[serde(default)]
    pub parents: Vec<ParentLink>,
    #[serde(default)]
    pub derived: bool,
    /// Mandatory where `derived` is true.
    #[serde(default)]
    pub safety_rationale: Option<String>,
    pub verification: Vec<VerificationMethod>,
    #[serde(default)]
    pub implements: Vec<CodeLink>,
}

/// A link to a parent requirement, with the hash of the parent's content when the link was reviewed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParentLink {
    pub uid: RequirementId,
    /// `sha256:` and 64 hexadecimal digits over the parent's canonical content; a different one makes the link suspect.
    #[serde(default)]
    pub hash: Option<String>,
}

/// Code that implements a requirement: a file and a function in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CodeLink {
    pub file: String,
    #[serde(default)]
    pub symbol: Option<String>,
}

/// Why an obligation stays uncovered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JustificationClass {
    MissingTest,
    MissingRequirement,
    Extraneous,
    Dead,
    Deactivated,
    Defensive,
    Analysis,
}

impl std::fmt::Display for JustificationClass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            JustificationClass::MissingTest => "missing-test",
            JustificationClass::MissingRequirement => "missing-requirement",
            JustificationClass::Extraneous => "extraneous",
            JustificationClass::Dead => "dead",
            JustificationClass::Deactivated => "deactivated",
            JustificationClass::Defensive => "defensive",
            JustificationClass::Analysis => "analysis",
        })
    }
}

/// An accepted reason for an obligation that no test covers, or for a finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "JustificationTable", into = "JustificationTable")]
pub struct Justification {
    pub kernel: KernelName,
    pub subject: JustificationSubject,
    /// The configuration that it is about; none: all configurations of the kernel.
    pub configuration: Option<String>,
    pub class: JustificationClass,
    pub reason: String,
    pub author: String,
    pub approver: String,
    /// `sha256:` hash of the subject's content; another content makes the justification stale.
    pub hash: String,
}

/// What a justification is of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum JustificationSubject {
    Obligation(ObligationId),
    Finding(FindingId),
}

impl JustificationSubject {
    /// The key that names it in files.
    pub fn key(&self) -> &'static str {
        match self {
            JustificationSubject::Obligation(_) => "obligation",
            JustificationSubject::Finding(_) => "finding",
        }
    }
}

impl std::fmt::Display for JustificationSubject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            JustificationSubject::Obligation(id) => id.fmt(f),
            JustificationSubject::Finding(id) => id.fmt(f),
        }
    }
}

/// A justification as files hold it: with an `obligation` or a `finding`.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct JustificationTable {
    kernel: KernelName,
    /// Not together with `finding`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    obligation: Option<ObligationId>,
    /// Not together with `obligation`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    finding: Option<FindingId>,
    /// The configuration that it is about; none: all configurations of the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    configuration: Option<String>,
    class: JustificationClass,
    reason: String,
    author: String,
    approver: String,
    /// `sha256:` hash of the content of the obligation or finding; another content makes the justification stale.
    hash: String,
}

impl TryFrom<JustificationTable> for Justification {
    type Error = &'static str;

    fn try_from(table: JustificationTable) -> Result<Self, Self::Error> {
        let JustificationTable { kernel, obligation, finding, configuration, class, reason, author, approver, hash } =
            table;
        let subject = match (obligation, finding) {
            (Some(id), None) => JustificationSubject::Obligation(id),
            (None, Some(id)) => JustificationSubject::Finding(id),
            (None, None) => return Err("a justification names an `obligation` or a `finding`"),
            (Some(_), Some(_)) => return Err("a justification names an `obligation` or a `finding`, not both"),
        };
        Ok(Self { kernel, subject, configuration, class, reason, author, approver, hash })
    }
}

impl From<Justification> for JustificationTable {
    fn from(justification: Justification) -> Self {
        let Justification { kernel, subject, configuration, class, reason, author, approver, hash } = justification;
        let (obligation, finding) = match subject {
            JustificationSubject::Obligation(id) => (Some(id), None),
            JustificationSubject::Finding(id) => (None, Some(id)),
        };
        Self { kernel, obligation, finding, configuration, class, reason, author, approver, hash }
    }
}

/// What the host program declares and does with a kernel, for the coupling analysis.
///
/// Expressions are C-like integer expressions over the parameters and locals (`(m + 15) / 16`), evaluated with the
/// host's own widths: an operation of two `uint32` operands wraps at 32 bits before it is widened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interface {
    pub kernel: KernelName,
    /// Where this host code stands, for reports: a file and line, or a document.
    #[serde(default)]
    pub source: Option<String>,
    #[serde(default)]
    pub parameters: Vec<HostParameter>,
    /// Intermediate host variables, evaluated in order.
    #[serde(default)]
    pub locals: Vec<HostLocal>,
    #[serde(default)]
    pub push_constants: Option<HostStruct>,
    #[serde(default)]
    pub buffers: Vec<HostBuffer>,
    /// Three expressions given to the dispatch command.
    pub groups: [String; 3],
    /// The local size that the host's arithmetic assumes.
    #[serde(default)]
    pub local_size: Option<[u32; 3]>,
    /// Three expressions: how many invocations the work needs in each dimension.
    #[serde(default)]
    pub domain: Option<[String; 3]>,
    #[serde(default)]
    pub specialization: Vec<HostSpecialization>,
}

/// A host parameter with the range of values that it can have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostParameter {
    pub name: String,
    #[serde(rename = "type")]
    pub width: HostType,
    pub min: i64,
    pub max: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostLocal {
    pub name: String,
    #[serde(rename = "type")]
    pub width: HostType,
    pub value: String,
}

/// Integer (and, for struct members, floating-point) types of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HostType {
    Int8,
    Uint8,
    Int16,
    Uint16,
    Int32,
    Uint32,
    Int64,
    Uint64,
    Float32,
    Float64,
}

/// A struct as the host lays it out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostStruct {
    /// Bytes; none: the end of the last member.
    #[serde(default)]
    pub size: Option<u32>,
    /// In declaration order.
    pub members: Vec<HostMember>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostMember {
    pub name: String,
    #[serde(rename = "type")]
    pub width: HostType,
    /// Bytes; none: placed after the previous member by C's alignment rules.
    #[serde(default)]
    pub offset: Option<u32>,
    /// What the host stores there; none: the parameter or local of the same name.
    #[serde(default)]
    pub value: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostBuffer {
    pub set: u32,
    pub binding: u32,
    #[serde(default)]
    pub name: Option<String>,
    /// Size in bytes, as an expression.
    pub size: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostSpecialization {
    pub id: u32,
    pub value: String,
}

/// A file `requirements/**/*.toml` as a whole, for its schema; readers take each table by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequirementsFile {
    /// Version of the format: 1.
    pub schema: u32,
    #[serde(default)]
    pub requirement: Vec<Requirement>,
    #[serde(default)]
    pub test: Vec<super::procedure::Test>,
    #[serde(default)]
    pub justification: Vec<Justification>,
    #[serde(default)]
    pub interface: Vec<Interface>,
}
