//! Requirements with what they trace to, records of verification and justifications.

use crate::id::{KernelName, RequirementId, TestId};
use crate::requirement::{
    CodeLink, Justification, JustificationSubject, Requirement, TestReview, VerificationMethod,
    VerificationRecord,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A requirement with what it traces to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequirementEvidence {
    /// The requirement as its file states it.
    pub requirement: Requirement,
    /// `sha256:...` over the canonical content.
    pub hash: String,
    /// Path of the file that states it, relative to the project.
    pub file: String,
    /// Parents whose content has changed since the link was made.
    pub suspect_parents: Vec<RequirementId>,
    /// Requirements that name it as a parent.
    pub children: Vec<RequirementId>,
    /// Tests that name it.
    pub tests: Vec<TestId>,
    /// Tests of it that the command line left out, or that name a kernel which was set aside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out_tests: Vec<TestId>,
    /// Functions that implement it, `file:symbol`, found in the source or not.
    pub code: Vec<CodeTrace>,
    /// What tests and records make of it.
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
    /// Path of the source file, relative to the project.
    pub file: String,
    /// Name of the function; none: the whole file.
    #[serde(default)]
    pub symbol: Option<String>,
    /// A kernel that the code is part of and in which no test of the requirement judges it.
    pub kernel: KernelName,
    /// Whether the kernel has the same text of the code as one in which it is judged.
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
    /// The record as its file states it.
    pub record: VerificationRecord,
    /// Path of the file that states it, relative to the project.
    pub file: String,
    /// Why it is not accepted; none: accepted.
    pub rejected: Option<String>,
}

/// A review of tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestReviewEvidence {
    /// The review as its file states it.
    pub review: TestReview,
    /// Path of the file that states it, relative to the project.
    pub file: String,
    /// Of which of its tests it does not count, each with the reason; empty: it counts of all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<RejectedReview>,
}

/// A test of which a review does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RejectedReview {
    /// The test.
    pub test: TestId,
    /// Why the review does not count of it.
    pub reason: String,
}

/// A link of a requirement to code, as found in the source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CodeTrace {
    /// Path of the source file, relative to the project.
    pub file: String,
    /// Name of the function; none: the whole file.
    pub symbol: Option<String>,
    /// 1-based line of the function; none where it was not found or no function is named.
    pub line: Option<u32>,
    /// Whether file and symbol exist.
    pub found: bool,
    /// The kernels that the link is about; empty: all that the code is part of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<KernelName>,
}

impl CodeTrace {
    /// The link as the requirement states it.
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

/// What tests, records and children make of a requirement.
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

/// A justification with whether it counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JustificationEvidence {
    /// The justification as its file states it.
    pub justification: Justification,
    /// Path of the file that states it, relative to the project.
    pub file: String,
    /// Why it is not accepted (stale hash, unknown obligation, author equals approver at level A or B); none: accepted.
    pub rejected: Option<String>,
    /// Why nothing can be said of it here: what it accepts, or what it is bound to, comes of something that did not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_judged: Option<String>,
}

impl JustificationEvidence {
    /// Whether it is of a mutant.
    pub fn is_of_mutant(&self) -> bool {
        matches!(self.justification.subject, JustificationSubject::Mutant(_))
    }
}
