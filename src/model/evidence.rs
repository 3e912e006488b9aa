//! The evidence of one certification run: everything a report shows and `verify` re-derives.
//!
//! Stored as canonical JSON (sorted keys, no absolute paths, no clock unless SOURCE_DATE_EPOCH is set) in a folder:
//! `campaign.json` (identification, requirements, tests, coupling), `kernel-<name>-<engine>.json` (structure, raw records,
//! coverage; `kernel-<name>@<configuration>-<engine>.json` where a kernel has several configurations), `inputs.json` (what the
//! run read), `manifest.json` (hash of every input and output; its own hash is the root).

use super::agreement::AgreementOutcome;
use super::altered::AlteredStores;
use super::coverage::{CriterionSummary, KernelBarrier, KernelCoverage};
use super::finding::{Finding, FindingKind, RaceScope};
use super::flow::{BufferRange, DispatchFlow};
use super::id::{KernelName, RequirementId, TestId};
use super::judged::JudgedMember;
use super::object::ObjectStructure;
use super::open_item::{CampaignNote, OpenItem, RejectedAcceptance, UnsoughtKind};
use super::reason::Ground;
use super::records::{Presence, RecordLayout, Recorded, Records};
use super::requirement::{
    CodeLink, Justification, Requirement, VerificationMethod, VerificationRecord,
};
use super::schedule::{DirectedResult, Schedule, ScheduleResult};
use super::structure::KernelStructure;
use super::verdict::{EngineName, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A whole run as reports see it: `campaign.json` and all kernel files together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    pub campaign: Campaign,
    /// By kernel (project order), then configuration, then engine.
    pub kernels: Vec<KernelEvidence>,
    /// The files that the run read; format 1 does not hold them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<StoredInputs>,
    pub manifest: Manifest,
}

/// `inputs.json`: what the run read, so that everything which follows from it can be derived again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoredInputs {
    pub schema: u32,
    /// By path relative to the project, `/` as separator: the paths of the manifest.
    pub files: BTreeMap<String, StoredFile>,
}

/// The contents of a file that the run read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StoredFile {
    Text(String),
    /// base64
    Bytes(String),
    /// Larger than `limits.output_bytes`: the manifest has its hash, and its contents are not stored.
    Omitted {
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
    pub schema: u32,
    pub project: ProjectIdentity,
    /// The project file as it was read; format 1 does not hold it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<super::project::ProjectFile>,
    pub engines: Vec<EngineIdentity>,
    pub requirements: Vec<RequirementEvidence>,
    pub tests: Vec<TestEvidence>,
    pub justifications: Vec<JustificationEvidence>,
    /// Records of verification by analysis and review; format 1 knew none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<RecordEvidence>,
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
    /// What the tool does not cover, as sentences.
    pub limits: Vec<String>,
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
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectIdentity {
    pub name: String,
    /// DO-178C level `A` to `D`.
    pub level: String,
    /// The API that the kernels are for, with what that means; older evidence has none, which is Vulkan.
    #[serde(default)]
    pub profile: ProfileEvidence,
    pub decision_policy: String,
    pub memory_model: String,
    pub criteria: Vec<String>,
    pub tool: String,
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
        let name = super::vulkan_sc::Profile::Vulkan.name().to_owned();
        Self { name, features: Vec::new(), meaning: Vec::new(), refused: Vec::new() }
    }
}

/// A kernel that is not for the target of the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefusedKernel {
    pub kernel: KernelName,
    /// What the target lacks of what the kernel needs, each with its place.
    pub reasons: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EngineIdentity {
    pub engine: EngineName,
    /// `ran` or `not-run`.
    pub ran: bool,
    /// Why it did not run.
    pub reason: Option<String>,
    /// Device name, driver, API version, device UUID, limits used; empty for the sequential engine but its settings.
    pub identity: BTreeMap<String, String>,
}

/// A requirement with what it traces to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequirementEvidence {
    pub requirement: Requirement,
    /// `sha256:...` over the canonical content.
    pub hash: String,
    pub file: String,
    /// Parents whose content has changed since the link was made.
    pub suspect_parents: Vec<RequirementId>,
    pub children: Vec<RequirementId>,
    pub tests: Vec<TestId>,
    /// Tests of it that the command line left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out_tests: Vec<TestId>,
    /// Functions that implement it, `file:symbol`, found in the source or not.
    pub code: Vec<CodeTrace>,
    pub status: RequirementStatus,
    /// Methods of verification that nothing satisfies yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<VerificationMethod>,
    /// Code that it names as implementing it and that no test of it judges, where it is to be tested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untested_code: Vec<CodeLink>,
    /// Kernels that such code is part of, too, and in which no test of it judges it; evidence of version 0.1.0 does not hold it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untested_kernels: Vec<UntestedKernel>,
}

/// A kernel in which no test of a requirement judges code that it names, while one does so in another kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UntestedKernel {
    pub file: String,
    #[serde(default)]
    pub symbol: Option<String>,
    pub kernel: KernelName,
    pub text: KernelText,
    /// What keeps the texts from being compared, with its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
}

/// The text that a kernel has of some code, beside that of kernels in which it is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KernelText {
    /// Token by token the same, with all that it uses.
    Same,
    /// Other text, as by definitions: what is shown there says nothing of it.
    Other,
    /// Not known: one of the texts could not be taken apart. What is shown there says nothing of it.
    Unread,
}

impl UntestedKernel {
    /// `k.comp:main in blur`
    pub fn in_words(&self) -> String {
        match &self.symbol {
            Some(symbol) => format!("{}:{symbol} in {}", self.file, self.kernel),
            None => format!("{} in {}", self.file, self.kernel),
        }
    }

    /// Why nothing that is shown elsewhere says anything of it; none where the text is the same.
    pub fn why_open(&self) -> Option<String> {
        match self.text {
            KernelText::Same => None,
            KernelText::Other => Some("whose text is another than where it is tested".to_owned()),
            KernelText::Unread => {
                let what = self.unread.as_deref().unwrap_or("some text");
                Some(format!(
                    "and whether its text is that which is tested is not known: {what} could not be read"
                ))
            }
        }
    }
}

/// A record of verification by analysis or review.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordEvidence {
    /// `analysis` or `review`.
    pub method: VerificationMethod,
    pub record: VerificationRecord,
    pub file: String,
    /// Why it is not accepted; none: accepted.
    pub rejected: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CodeTrace {
    pub file: String,
    pub symbol: Option<String>,
    pub line: Option<u32>,
    /// Whether file and symbol exist.
    pub found: bool,
    /// The kernels that the link is about; empty: all that the code is part of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<KernelName>,
}

impl CodeTrace {
    pub fn link(&self) -> CodeLink {
        CodeLink {
            file: self.file.clone(),
            symbol: self.symbol.clone(),
            kernels: self.kernels.clone(),
        }
    }

    /// Whether it names a function of a file, as a kernel has it: by name, or with the whole file.
    pub fn names(&self, file: &str, function: &str, kernel: &KernelName) -> bool {
        self.found
            && self.file == file
            && self.symbol.as_ref().is_none_or(|symbol| symbol == function)
            && (self.kernels.is_empty() || self.kernels.contains(kernel))
    }
}

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum RequirementStatus {
    /// Every test of it passed on every engine that ran, and every other method that it names has an accepted record.
    Verified,
    /// A test of it failed, or one of its children did.
    Failed,
    /// Its verification is by test, and neither it nor its children have any.
    Untested,
    /// Something that its verification asks for was left out or is not there, and nothing else stands against it.
    Open,
    /// Its verification is by analysis or review alone, and each has an accepted record.
    ByOtherMeans,
    /// No test names it, and its children are verified; whatever other method it names has an accepted record.
    VerifiedByChildren,
}

impl std::fmt::Display for RequirementStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            RequirementStatus::Verified => "verified",
            RequirementStatus::Failed => "failed",
            RequirementStatus::Untested => "untested",
            RequirementStatus::Open => "open",
            RequirementStatus::ByOtherMeans => "by other means",
            RequirementStatus::VerifiedByChildren => "verified by children",
        })
    }
}

/// A test case with its results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestEvidence {
    pub id: TestId,
    pub title: Option<String>,
    /// `normal` or `robustness`.
    pub kind: String,
    pub requirements: Vec<RequirementId>,
    pub kernels: Vec<KernelName>,
    pub file: String,
    /// `sha256:...` of the test's canonical content.
    pub hash: String,
    /// What is dispatched, in words: `matmul_naive 2x1x1 groups, m=3 n=2 k=4`.
    pub procedure: Vec<String>,
    /// The test as its file defines it, so that verdicts can be derived again from the stored outputs.
    pub definition: super::procedure::Test,
    /// What it expects, with every value resolved.
    pub expected: Vec<StoredExpectation>,
    /// What each dispatch can store, from which it follows which of them the test judges; empty where nothing can run it. Format
    /// 1 does not hold it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<DispatchFlow>,
    pub results: Vec<TestResult>,
}

/// An expectation with its values resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoredExpectation {
    /// The buffer or image judged.
    pub buffer: String,
    /// For an image whose texels are not plain scalars: offsets count the decoded components, 4 bytes each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<super::image::ImageFormat>,
    pub tolerance: super::procedure::Tolerance,
    /// Bytes of the records that may stand in any order; none: every element stands in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<u64>,
    pub contents: StoredContents,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StoredContents {
    Values(Vec<ExpectedRun>),
    /// Every scalar from byte `offset` on equals that of another buffer's start.
    EqualsBuffer {
        buffer: String,
        scalar: String,
        offset: u64,
        /// Bytes compared; none: all of the other buffer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        length: Option<u64>,
    },
    /// What a reference kernel computes from byte `offset` on; its values are not stored.
    Reference {
        kernel: String,
        /// Format 1 holds none.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        scalar: String,
        #[serde(default)]
        offset: u64,
        /// Bytes compared; none: all that follow.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        length: Option<u64>,
    },
    /// A checker kernel writes the verdict, which is not stored.
    Check {
        kernel: String,
        /// What the verdict can depend on, by the code of the kernel.
        reads: Vec<BufferRange>,
    },
}

/// Neighbouring expected scalars of one type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExpectedRun {
    /// Bytes from the start of the buffer.
    pub offset: u64,
    pub scalar: String,
    /// base64, little-endian.
    pub bytes: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestResult {
    pub engine: EngineName,
    pub verdict: Verdict,
    pub reason: Option<String>,
    pub mismatches: Vec<Mismatch>,
    pub findings: Vec<Finding>,
    /// Whether the data races are those of every schedule; absent where none were looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub race_scope: Option<RaceScope>,
    /// How often the production run was started: fewer times than asked for where a repetition did not complete, 0 where
    /// nothing ran.
    #[serde(default)]
    pub repetitions: u32,
    /// The repetition that gave the verdict, counted from 1, where others pass; absent where all came to the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deciding_repetition: Option<u32>,
    /// The schedule that the test ran in, where that is not the ordinary one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
    /// What other schedules showed; none where none were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedules: Option<ScheduleResult>,
    /// What was measured again with who waits first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directed: Vec<DirectedResult>,
    /// Of the sequential engine, where the test passed: what altered contents of its kernels' stores did to the verdict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub altered: Vec<AlteredStores>,
    /// Of the same: how much of each member that its kernels store it judges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judged: Vec<JudgedMember>,
    /// Of the same, of a test with several expectations: those that none of the alterations tried on what its kernels stored makes
    /// fail, counted from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub idle: Vec<u32>,
    /// Of the sequential engine, where the test passed: whether it does not, or does not complete, with other undefined values.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rests_on_undefined: bool,
    /// What differed between repetitions, modules and schedules where the test leaves it open, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_open: Vec<String>,
    /// Remarks of the engine that are no findings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Lines that debug printf wrote; their text is not stored.
    #[serde(default, skip_serializing_if = "no_lines")]
    pub printed_lines: u64,
    /// Of the sequential engine, per dispatch: what it accessed of each bound buffer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touched: Vec<Vec<TouchedBuffer>>,
    /// Actual final contents by buffer name.
    #[serde(default)]
    pub outputs: BTreeMap<String, OutputBytes>,
}

fn no_lines(lines: &u64) -> bool {
    *lines == 0
}

/// How far a dispatch reached into a bound buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TouchedBuffer {
    pub set: u32,
    pub binding: u32,
    /// Bytes of the bound range up to the last one that was accessed.
    pub bytes: u64,
}

/// Actual output of a buffer; above the limit only its hash is kept, and `verify` says `not re-derivable`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OutputBytes {
    /// base64
    Bytes(String),
    Hash {
        /// `sha256:...`
        sha256: String,
        bytes: u64,
    },
}

/// One element of an expectation that did not hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mismatch {
    pub buffer: String,
    /// Bytes.
    pub offset: u64,
    pub expected: serde_json::Value,
    pub actual: serde_json::Value,
    /// Raw bits of the actual value, `0x...`.
    pub bits: String,
    /// Of an image: where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texel: Option<super::image::TexelPlace>,
    /// Of a buffer: what the kernel calls it, `particles[3].velocity.y`, where the module has names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
}

impl Mismatch {
    /// Where it is: a texel and its component, a member and its byte, or a byte.
    pub fn place(&self) -> String {
        match (&self.texel, &self.member) {
            (Some(texel), _) => texel.to_string(),
            (None, Some(member)) => format!("{member} at byte {}", self.offset),
            (None, None) => format!("byte {}", self.offset),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JustificationEvidence {
    pub justification: Justification,
    pub file: String,
    /// Why it is not accepted (stale hash, unknown obligation, author equals approver at level A or B); none: accepted.
    pub rejected: Option<String>,
    /// Why nothing can be said of it here: what it accepts, or what it is bound to, comes of something that did not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_judged: Option<String>,
}

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

/// Comparison of the two engines for one kernel in one test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Agreement {
    pub test: TestId,
    pub kernel: KernelName,
    /// `identical`, `within-tolerance`, `left-open`, `within-error-bounds`, `different` or `not compared`.
    pub outputs: AgreementOutcome,
    /// `identical`, `schedule-dependent`, `undefined-value`, `different` or `not compared`.
    pub coverage: AgreementOutcome,
    /// Elements, decisions and vectors that differ, with values and operands.
    pub differences: Vec<String>,
    /// Where outputs differ and no tolerance of the test covers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<ErrorBounds>,
    /// What differs where the test leaves it open, and vectors that depend on the schedule or follow an undefined value, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_open: Vec<String>,
}

/// How the outputs of two engines lie to what the Vulkan specification permits ("Precision and Operation of SPIR-V
/// Instructions").
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBounds {
    /// Runs of the sequential engine within the permitted errors that the permitted values come from.
    pub runs: u32,
    /// `nearest`: sums and products were rounded to the nearest in all of them; `any`: some were rounded up or down.
    pub rounding: String,
    /// Those that differ.
    pub buffers: Vec<BoundedBuffer>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl ErrorBounds {
    /// `17 elements differ within the error bounds of the specification, by 3 ULP at most (2 runs, rounding to the nearest)`,
    /// and first how many depend on undefined values.
    pub fn in_words(&self, buffer: &BoundedBuffer) -> String {
        let undefined = match buffer.undefined {
            0 => None,
            1 => Some(
                "1 element depends on an undefined value and was not compared (of an integer, the bits that do)"
                    .to_owned(),
            ),
            some => Some(format!(
                "{some} elements depend on undefined values and were not compared (of integers, the bits that do)"
            )),
        };
        let compared = (buffer.elements > buffer.undefined).then(|| self.compared_in_words(buffer));
        undefined.into_iter().chain(compared).collect::<Vec<_>>().join("; ")
    }

    /// The same of the elements that do not depend on undefined values.
    fn compared_in_words(&self, buffer: &BoundedBuffer) -> String {
        let count = buffer.elements - buffer.undefined;
        let elements = if count == 1 {
            "1 element differs".to_owned()
        } else {
            format!("{count} elements differ")
        };
        let where_to = match buffer.outside {
            0 => String::new(),
            outside => format!(", {outside} outside"),
        };
        let worst =
            buffer.worst_ulp.map_or_else(String::new, |ulp| format!(", by {ulp} ULP at most"));
        let rounding = match self.rounding.as_str() {
            "nearest" => "rounding to the nearest",
            _ => "rounding up and down",
        };
        let runs = if self.runs == 1 { "1 run".to_owned() } else { format!("{} runs", self.runs) };
        let within =
            if buffer.outside == 0 { " within the error bounds of the specification" } else { "" };
        format!("{elements}{within}{where_to}{worst} ({runs}, {rounding})")
    }
}

/// A buffer that the engines left differently.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BoundedBuffer {
    pub buffer: String,
    /// Elements that differ and that no tolerance covers.
    pub elements: u64,
    /// Of these, those whose value on the device is none of the permitted ones.
    pub outside: u64,
    /// Of these, those that differ in nothing but what depends on a value that the specification leaves undefined.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub undefined: u64,
    /// Largest distance of two finite values, in units in the last place; none where no float differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst_ulp: Option<u64>,
    /// The first elements: those outside, then those within.
    pub listed: Vec<BoundedElement>,
}

/// An element that the engines left differently.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BoundedElement {
    /// As the kernel names it, from the block on: `values[3].x`.
    pub element: String,
    /// Bytes from the start of the buffer.
    pub offset: u64,
    #[serde(rename = "type")]
    pub type_name: String,
    pub within: bool,
    pub sequential: ElementValue,
    pub vulkan: ElementValue,
    /// Of a float the least and the greatest result, for each way of deciding that led to it; of any other type every result.
    pub permitted: Vec<Vec<ElementValue>>,
    /// Whether NaN is permitted besides.
    #[serde(default)]
    pub nan_permitted: bool,
    /// Of an image: where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texel: Option<super::image::TexelPlace>,
    /// Whether it differs in nothing but what depends on a value that the specification leaves undefined: it is not compared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undefined: bool,
    /// Of an integer: which bits depend on such a value, as hexadecimal; the others are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undefined_bits: Option<String>,
}

/// A value with its raw bits, `0x...`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ElementValue {
    pub value: serde_json::Value,
    pub bits: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CouplingEvidence {
    pub kernel: KernelName,
    /// What the project says of the host; older evidence does not hold it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<super::requirement::Interface>,
    pub nodes: Vec<CouplingNode>,
    pub edges: Vec<CouplingEdge>,
    pub checks: Vec<CouplingCheck>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CouplingNode {
    /// Stable id: `parameter:m`, `push-constant:0`, `buffer:0.1`, `local-size`, `dispatch`, `workgroup:tileA`, `barrier:31`, `decision:D1`.
    pub id: String,
    pub kind: String,
    pub label: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CouplingEdge {
    pub from: String,
    pub to: String,
    /// `data` or `control`.
    pub kind: String,
    pub label: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CouplingCheck {
    /// `dispatch-covers-domain`, `dispatch-not-truncated`, `host-overflow`, `local-size-match`, `push-constant-layout`, `buffer-size`, `device-limits`, `uniform-barrier` ...
    pub check: String,
    /// `holds`, `refuted` or `undetermined`.
    pub status: String,
    pub message: String,
    /// Values of the parameters that refute the check.
    #[serde(default)]
    pub counterexample: Option<BTreeMap<String, i64>>,
}

/// What it all comes to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Conclusion {
    pub exit_code: u8,
    /// Reasons for an exit code other than 0, one sentence each.
    pub reasons: Vec<String>,
    /// What each of the reasons is of, in their order; evidence of version 0.1.0 does not hold it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grounds: Vec<Ground>,
    pub summary: Vec<KernelSummary>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelSummary {
    pub kernel: KernelName,
    #[serde(default)]
    pub configuration: String,
    pub engine: EngineName,
    pub criteria: Vec<CriterionSummary>,
}

impl Evidence {
    /// SHA-256 of the manifest as its file holds it: by it all of the evidence is known.
    ///
    /// # Errors
    /// If the manifest cannot be written as JSON, which the types rule out.
    pub fn root(&self) -> Result<String, serde_json::Error> {
        Ok(super::canonical::sha256_digits(
            super::canonical::canonical_lines(&self.manifest)?.as_bytes(),
        ))
    }
}

/// `manifest.json`: paths are relative, `/` as separator.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    pub schema: u32,
    pub tool: String,
    pub compiler: String,
    pub devices: Vec<String>,
    /// Project-relative path to SHA-256.
    pub inputs: BTreeMap<String, String>,
    /// Evidence-relative path to SHA-256.
    pub outputs: BTreeMap<String, String>,
}
