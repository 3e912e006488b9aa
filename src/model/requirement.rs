//! Requirements, justifications and interfaces as `requirements/**/*.toml` holds them.

use super::id::{FindingId, KernelName, ObligationId, RequirementId};
use super::image::{ImageDim, ImageFormat};
use super::procedure::DescriptorClass;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Level of a requirement (DO-178C): high-level or low-level.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
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

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum VerificationMethod {
    Test,
    Analysis,
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

/// Where the verification of a requirement by analysis or review is written down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerificationRecord {
    pub requirement: RequirementId,
    /// The document that holds the analysis or the review.
    pub document: String,
    /// Where in the document.
    pub section: String,
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
    pub file: String,
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

/// Why an obligation stays uncovered (DO-178C, 6.4.4.3).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum JustificationClass {
    /// A gap: a test is to be written. Closes nothing at levels A to C.
    MissingTest,
    /// A gap: a requirement is to be written. Closes nothing at levels A to C.
    MissingRequirement,
    /// A gap: code without a requirement is to be removed. Closes nothing at levels A to C.
    Extraneous,
    /// Source text of which the production module holds nothing.
    Dead,
    /// Code that a stated means keeps from being executed.
    Deactivated,
    Defensive,
    /// An outcome or effect that no input can show, in code that is executed.
    Infeasible,
    Analysis,
}

impl JustificationClass {
    /// Whether it names something that is still to be done.
    pub fn is_gap(self) -> bool {
        match self {
            JustificationClass::MissingTest
            | JustificationClass::MissingRequirement
            | JustificationClass::Extraneous => true,
            JustificationClass::Dead
            | JustificationClass::Deactivated
            | JustificationClass::Defensive
            | JustificationClass::Infeasible
            | JustificationClass::Analysis => false,
        }
    }

    /// Whether it says that the obligation cannot be met, so that a single record of it refutes it.
    pub fn claims_impossibility(self) -> bool {
        match self {
            JustificationClass::Dead
            | JustificationClass::Deactivated
            | JustificationClass::Infeasible => true,
            JustificationClass::MissingTest
            | JustificationClass::MissingRequirement
            | JustificationClass::Extraneous
            | JustificationClass::Defensive
            | JustificationClass::Analysis => false,
        }
    }
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
            JustificationClass::Infeasible => "infeasible",
            JustificationClass::Analysis => "analysis",
        })
    }
}

/// When deactivated code is meant to run (DO-178C, 6.4.4.3.d).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum DeactivationCategory {
    /// In no configuration of the product.
    Never,
    /// In other configurations than that at hand.
    OtherConfiguration,
}

impl std::fmt::Display for DeactivationCategory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            DeactivationCategory::Never => "never",
            DeactivationCategory::OtherConfiguration => "other-configuration",
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
    /// Of deactivated code alone, and given there; evidence of format 1 has none.
    pub category: Option<DeactivationCategory>,
    /// Of deactivated code alone, and given there: what keeps it from being executed.
    pub means: Option<String>,
    /// Of what is infeasible alone, and given there: why no input can show it, or where that is proved.
    pub argument: Option<String>,
    pub author: String,
    pub approver: String,
    /// `sha256:` hash of the subject's content; another content makes the justification stale.
    pub hash: String,
}

/// A fault of what a justification states beside its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementFault {
    /// The key at fault.
    pub key: &'static str,
    pub message: String,
}

impl Justification {
    /// What its class asks for and it does not state, or the other way round.
    pub fn statement_faults(&self) -> Vec<StatementFault> {
        let deactivated = self.class == JustificationClass::Deactivated;
        let infeasible = self.class == JustificationClass::Infeasible;
        let has_text =
            |text: &Option<String>| text.as_ref().map(|text| text.contains(char::is_alphanumeric));
        let statements = [
            (
                "category",
                self.category.map(|_| true),
                deactivated,
                "whether it is run `never` or in an `other-configuration`",
            ),
            (
                "means",
                has_text(&self.means),
                deactivated,
                "what keeps the code from being executed",
            ),
            (
                "argument",
                has_text(&self.argument),
                infeasible,
                "why no input can show it, or where that is proved",
            ),
        ];
        let fault = |(key, given, wanted, meaning): (&'static str, Option<bool>, bool, &str)| match (
            given, wanted,
        ) {
            (Some(true), true) | (None, false) => None,
            (Some(false) | None, true) => Some(StatementFault {
                key,
                message: format!("class {} states `{key}`: {meaning}", self.class),
            }),
            (Some(_), false) => Some(StatementFault {
                key,
                message: format!("class {} has no `{key}`", self.class),
            }),
        };
        statements.into_iter().filter_map(fault).collect()
    }
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
    /// Of class `deactivated`, and required there: when the code is meant to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    category: Option<DeactivationCategory>,
    /// Of class `deactivated`, and required there: what keeps the code from being executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    means: Option<String>,
    /// Of class `infeasible`, and required there: why no input can show it, or where that is proved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    argument: Option<String>,
    author: String,
    approver: String,
    /// `sha256:` hash of the content of the obligation or finding; another content makes the justification stale.
    hash: String,
}

impl TryFrom<JustificationTable> for Justification {
    type Error = &'static str;

    fn try_from(table: JustificationTable) -> Result<Self, Self::Error> {
        let JustificationTable { obligation, finding, .. } = &table;
        let subject = match (obligation, finding) {
            (Some(id), None) => JustificationSubject::Obligation(id.clone()),
            (None, Some(id)) => JustificationSubject::Finding(id.clone()),
            (None, None) => return Err("a justification names an `obligation` or a `finding`"),
            (Some(_), Some(_)) => {
                return Err("a justification names an `obligation` or a `finding`, not both");
            }
        };
        let JustificationTable {
            kernel,
            configuration,
            class,
            reason,
            category,
            means,
            argument,
            ..
        } = table;
        let JustificationTable { author, approver, hash, .. } = table;
        Ok(Self {
            kernel,
            subject,
            configuration,
            class,
            reason,
            category,
            means,
            argument,
            author,
            approver,
            hash,
        })
    }
}

impl From<Justification> for JustificationTable {
    fn from(justification: Justification) -> Self {
        let Justification { kernel, subject, configuration, class, reason, category, .. } =
            justification;
        let Justification { means, argument, author, approver, hash, .. } = justification;
        let (obligation, finding) = match subject {
            JustificationSubject::Obligation(id) => (Some(id), None),
            JustificationSubject::Finding(id) => (None, Some(id)),
        };
        Self {
            kernel,
            obligation,
            finding,
            configuration,
            class,
            reason,
            category,
            means,
            argument,
            author,
            approver,
            hash,
        }
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
    /// Images and samplers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<HostImage>,
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
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
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

/// An image or a sampler as the host binds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostImage {
    pub set: u32,
    pub binding: u32,
    #[serde(default)]
    pub name: Option<String>,
    /// `storage_image`, `sampled_image`, `combined` or `sampler`.
    pub class: DescriptorClass,
    /// Format of the view; of all but samplers.
    #[serde(default)]
    pub format: Option<ImageFormat>,
    /// Dimension of the view; of all but samplers.
    #[serde(default)]
    pub dimension: Option<ImageDim>,
    /// Whether the view shows an array of layers.
    #[serde(default)]
    pub layered: bool,
    /// Whether texels have several samples.
    #[serde(default)]
    pub multisampled: bool,
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
    /// Records of verification by analysis.
    #[serde(default)]
    pub analysis: Vec<VerificationRecord>,
    /// Records of verification by review.
    #[serde(default)]
    pub review: Vec<VerificationRecord>,
    #[serde(default)]
    pub justification: Vec<Justification>,
    #[serde(default)]
    pub interface: Vec<Interface>,
}
