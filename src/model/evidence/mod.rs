//! The evidence of one certification run: everything a report shows and `verify` re-derives.
//!
//! Stored as canonical JSON (sorted keys, no absolute paths, no clock unless SOURCE_DATE_EPOCH is set) in a folder:
//! `campaign.json` (identification, requirements, tests, coupling), `kernel-<name>-<engine>.json` (structure, raw records,
//! coverage; `kernel-<name>@<configuration>-<engine>.json` where a kernel has several configurations), `mutation-<name>.json`
//! (its mutants, where they were asked for), `inputs.json` (what the run read), `manifest.json` (hash of every input and output; its own hash is the root).

mod agreement;
mod by_test;
mod campaign_text;
mod coupling;
mod identity;
mod kernel;
mod mutant_acceptance;
mod mutant_on_device;
mod mutant_pair;
mod mutation;
mod requirement;
mod set_aside;
mod test;
mod unreached_place;

pub use agreement::{
    Agreement, BoundedBuffer, BoundedElement, ElementValue, ErrorBounds, RunRounding,
};
pub use by_test::RowsByTest;
pub use campaign_text::write_campaign_text;
pub use coupling::{
    CheckStatus, CodePlace, CouplingCheck, CouplingCheckName, CouplingEdge, CouplingEdgeKind,
    CouplingEvidence, CouplingNode, CouplingNodeKind, lines_in_words,
};
pub use identity::{EngineIdentity, ProfileEvidence, ProjectIdentity, RefusedKernel};
pub use kernel::{
    Configuration, KernelEvidence, KernelFinding, LoweringDecision, ModuleHashes, ObjectEvidence,
    SpecializedConstant, TestRecords, kernel_label,
};
pub use mutant_acceptance::{MutantAcceptance, MutantSubject, SubjectChange};
pub use mutant_on_device::{DeviceModule, EngineAgreement, MutantOnDevice};
pub use mutant_pair::{MutantPair, MutationOrder, PairRelation, RelationPairs};
pub use mutation::{
    AgreementMutants, EquivalenceProof, JudgingEngines, JudgingTests, KernelMutants, KillCause,
    MutantCounts, MutantEdit, MutantEvidence, MutantRuns, MutantSample, MutantStatus,
    MutantVerdict, MutationEvidence, MutationExtent, MutationScore, MutationSummary, Notice,
    OperatorMutants, RequirementMutants, ScoreBasis, ScoreInterval, TestMutants, ThresholdStanding,
    mutant_id, mutants_with_kernels,
};
pub use requirement::{
    CodeTrace, JustificationEvidence, KernelText, RecordEvidence, RejectedReview,
    RequirementEvidence, RequirementStatus, TestReviewEvidence, UntestedKernel,
};
pub use set_aside::{SetAsideKernel, StoredDiagnostic};
pub use test::{
    ExpectedRun, Mismatch, OutputBytes, StoredContents, StoredExpectation, TestEvidence,
    TestResult, TouchedBuffer,
};
pub use unreached_place::UnreachedPlace;

use crate::coupling_summary::CouplingClassSummary;
use crate::coverage::CriterionSummary;
use crate::finding::{Finding, FindingKind};
use crate::id::{KernelName, TestId};
use crate::objective::ObjectiveAssessment;
use crate::open_item::{CampaignNote, OpenItem, RejectedAcceptance, UnsoughtKind};
use crate::reason::Ground;
use crate::verdict::{EngineName, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A whole run as reports see it: `campaign.json` and all kernel files together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// `campaign.json`.
    pub campaign: Campaign,
    /// By kernel (project order), then configuration, then engine.
    pub kernels: Vec<KernelEvidence>,
    /// By kernel, in project order; empty where mutants were not asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mutations: Vec<MutationEvidence>,
    /// The files that the run read; format 1 does not hold them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<StoredInputs>,
    /// `manifest.json`.
    pub manifest: Manifest,
}

/// `inputs.json`: what the run read, so that everything which follows from it can be derived again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoredInputs {
    /// Version of the evidence format.
    pub schema: u32,
    /// By path relative to the project, `/` as separator: the paths of the manifest.
    pub files: BTreeMap<String, StoredFile>,
}

/// The contents of a file that the run read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StoredFile {
    /// The text, where the file is valid UTF-8.
    Text(String),
    /// base64
    Bytes(String),
    /// Larger than `limits.output_bytes`: the manifest has its hash, and its contents are not stored.
    Omitted {
        /// Size of the file.
        bytes: u64,
    },
}

/// `reports.json`, beside the reports and outside of the evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReportList {
    /// Version of the format: 1.
    pub schema: u32,
    /// SHA-256 of `evidence/manifest.json`.
    pub root: String,
    /// SHA-256 of every report, by file name.
    pub reports: BTreeMap<String, String>,
}

/// Version of the evidence format that `certify` writes.
pub const EVIDENCE_SCHEMA: u32 = 2;

/// The format in which justifications are bound to displayed texts, and findings to sentences.
pub const FIRST_SCHEMA: u32 = 1;

/// Versions of the evidence format that `report` and `verify` read.
pub const READABLE_SCHEMAS: [u32; 2] = [FIRST_SCHEMA, EVIDENCE_SCHEMA];

/// `campaign.json`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Campaign {
    /// Version of the evidence format.
    pub schema: u32,
    /// What was certified, and with what.
    pub project: ProjectIdentity,
    /// The project file as it was read, without kernels that were set aside; format 1 does not hold it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<crate::project::ProjectFile>,
    /// The engines, each with whether it ran.
    pub engines: Vec<EngineIdentity>,
    /// Requirements in the order of their files.
    pub requirements: Vec<RequirementEvidence>,
    /// Tests, in the order of files, then of each file.
    pub tests: Vec<TestEvidence>,
    /// Justifications, accepted or rejected.
    pub justifications: Vec<JustificationEvidence>,
    /// Records of verification by analysis and review; format 1 knew none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<RecordEvidence>,
    /// Reviews of tests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub test_reviews: Vec<TestReviewEvidence>,
    /// Per kernel with an interface: the coupling graph and checks.
    pub coupling: Vec<CouplingEvidence>,
    /// Findings that belong to no test: validation, untraced branches, engine disagreement, coupling.
    pub findings: Vec<KernelFinding>,
    /// Comparison of the engines, one row per test and kernel, where two engines ran.
    pub agreement: Vec<Agreement>,
    /// Tests that the command line left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<TestId>,
    /// Kinds of findings that the command line left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_looked_for: Vec<FindingKind>,
    /// Kernels of the project that do not compile and that the run went on without, in project order; `settings` is without
    /// them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set_aside: Vec<SetAsideKernel>,
    /// What makes the result say less than the level asks for, accepted or not; format 1 does not hold it.
    #[serde(default)]
    pub open_items: Vec<OpenItem>,
    /// Acceptances of the project file that accept nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected_acceptances: Vec<RejectedAcceptance>,
    /// What a reader of page 1 must know and does not count.
    #[serde(default)]
    pub notes: Vec<CampaignNote>,
    /// Kinds of findings that were not looked for, or not everywhere, with the reason.
    #[serde(default)]
    pub unsought: Vec<UnsoughtKind>,
    /// Objectives of DO-178C tables, each with how far this campaign meets it; evidence without settings and
    /// of version 0.1.0 has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objectives: Vec<ObjectiveAssessment>,
    /// What the tests made of mutants; absent where that was not asked for. It changes no status of an objective.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutation: Option<MutationSummary>,
    /// What the tool does not cover, as sentences.
    pub limits: Vec<String>,
    /// Exit code, reasons and summary of coverage.
    pub conclusion: Conclusion,
}

impl Campaign {
    /// Every finding with its kernel and the test that showed it: those of the tests' results, then the others.
    pub fn all_findings(
        &self,
    ) -> impl Iterator<Item = (Option<&KernelName>, Option<&TestId>, &Finding)> {
        let of_tests = self.tests.iter().flat_map(|test| {
            let findings = test.results.iter().flat_map(|result| &result.findings);
            findings.map(|finding| (finding.kernel.as_ref(), Some(&test.id), finding))
        });
        let others =
            self.findings.iter().map(|row| (Some(&row.kernel), row.test.as_ref(), &row.finding));
        of_tests.chain(others)
    }

    /// Whether a test did not run on an engine that was there: the run ended before.
    pub fn has_not_begun(&self, result: &TestResult) -> bool {
        result.verdict == Verdict::NotRun
            && self.engines.iter().any(|row| row.engine == result.engine && row.ran)
    }
}

/// What it all comes to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Conclusion {
    /// Exit code of `certify`: 0 where nothing counts against the result.
    pub exit_code: u8,
    /// Reasons for an exit code other than 0, one sentence each.
    pub reasons: Vec<String>,
    /// What each of the reasons is of, in their order; evidence of version 0.1.0 does not hold it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grounds: Vec<Ground>,
    /// Coverage per kernel, configuration and engine.
    pub summary: Vec<KernelSummary>,
    /// Coverage of coupling by class, of all kernels on the engines that tell of it; absent where
    /// the project does not ask for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub coupling_classes: Vec<CouplingClassSummary>,
}

/// Coverage of one kernel under one configuration on one engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelSummary {
    /// Name of the kernel as in the project file.
    pub kernel: KernelName,
    /// Name of the configuration.
    #[serde(default)]
    pub configuration: String,
    /// The engine that recorded.
    pub engine: EngineName,
    /// Counts of each criterion.
    pub criteria: Vec<CriterionSummary>,
}

impl Evidence {
    /// SHA-256 of the manifest as its file holds it: by it all of the evidence is known.
    ///
    /// # Errors
    /// If the manifest cannot be written as JSON, which the types rule out.
    pub fn root(&self) -> Result<String, serde_json::Error> {
        Ok(crate::canonical::sha256_digits(
            crate::canonical::canonical_lines(&self.manifest)?.as_bytes(),
        ))
    }
}

/// `manifest.json`: paths are relative, `/` as separator.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    /// Version of the evidence format.
    pub schema: u32,
    /// Name and version of the tool.
    pub tool: String,
    /// Identity of the GLSL compiler that is built into the tool.
    pub compiler: String,
    /// Devices that ran, with driver; empty without one.
    pub devices: Vec<String>,
    /// Project-relative path to SHA-256.
    pub inputs: BTreeMap<String, String>,
    /// Evidence-relative path to SHA-256.
    pub outputs: BTreeMap<String, String>,
}
