//! Why a campaign's result is not complete: what each reason is of, what it is about, and its sentence.
//!
//! Knows: the kinds of reasons and the data of each. Promises: the sentence comes of the data, and who groups reasons goes by the kind
//! that is stored beside it, so that a sentence can be worded anew.
//! Does not cover: what gives a reason (`derivation::conclusion`).

use super::criterion::StoredCriterion;
use super::evidence::CouplingCheckName;
use super::finding::FindingKind;
use super::id::{KernelName, RequirementId, TestId};
use super::requirement::VerificationMethod;
use super::verdict::{EngineName, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What can count against a result.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum ReasonKind {
    /// The project's profile lacks what a kernel needs.
    ProfileRefusal,
    /// The project has no test.
    NoTest,
    /// A test failed.
    TestFailed,
    /// A test ended in an error.
    TestError,
    /// A test reached its limit of time or steps.
    TestTimeout,
    /// A test could not be judged.
    TestUndetermined,
    /// A test needs what an engine cannot do.
    TestUnsupported,
    /// The project has no requirement.
    NoRequirement,
    /// A record of analysis or review is not accepted.
    RecordRejected,
    /// Nothing of a requirement's verification by test is there.
    RequirementUntested,
    /// Tests or children of a requirement do not pass.
    RequirementFailed,
    /// A requirement's verification is not complete.
    RequirementOpen,
    /// A parent has changed since a link was reviewed.
    LinkSuspect,
    /// A requirement names code that does not exist.
    CodeMissing,
    /// Obligations of a criterion are not covered.
    ObligationsOpen,
    /// A finding that no justification accepts.
    FindingStands,
    /// A coupling check could not be decided.
    CouplingUndetermined,
    /// A justification does not count.
    JustificationRejected,
    /// An open item that the project does not accept.
    OpenItemStands,
    /// An acceptance of the project file accepts nothing.
    AcceptanceRejected,
    /// The mutation score is below the threshold of the project.
    MutationScore,
}

impl ReasonKind {
    /// What a verdict counts as; none where it does not count against the result.
    pub fn of_verdict(verdict: Verdict) -> Option<Self> {
        match verdict {
            Verdict::Pass | Verdict::NotRun => None,
            Verdict::Unsupported => Some(ReasonKind::TestUnsupported),
            Verdict::Fail => Some(ReasonKind::TestFailed),
            Verdict::Error => Some(ReasonKind::TestError),
            Verdict::Timeout => Some(ReasonKind::TestTimeout),
            Verdict::Undetermined => Some(ReasonKind::TestUndetermined),
        }
    }

    /// The verdict that it is of; none of other kinds.
    pub fn verdict(self) -> Option<Verdict> {
        let test_verdicts = [
            Verdict::Unsupported,
            Verdict::Fail,
            Verdict::Error,
            Verdict::Timeout,
            Verdict::Undetermined,
        ];
        test_verdicts.into_iter().find(|verdict| Self::of_verdict(*verdict) == Some(self))
    }
}

/// What evidence stores beside the sentence of a reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ground {
    /// What kind of reason it is.
    pub kind: ReasonKind,
    /// Name of the test, requirement, kernel, obligation or item that it is about; empty where it is about the project.
    pub about: String,
}

/// One reason for an exit code other than 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The project's profile lacks what a kernel needs.
    ProfileRefusal {
        /// The kernel that is refused.
        kernel: KernelName,
        /// Name of the profile.
        profile: String,
        /// What the profile lacks of what the kernel needs, each with its place.
        reasons: Vec<String>,
    },
    /// The project has no test.
    NoTest,
    /// Of a verdict that counts.
    Test {
        /// The kind that belongs to the verdict.
        kind: ReasonKind,
        /// The test.
        test: TestId,
        /// All on which it came to this, in one sentence.
        engines: Vec<EngineName>,
        /// What the test came to.
        verdict: Verdict,
        /// Why, in words; none where the engine gives nothing.
        reason: Option<String>,
    },
    /// The project has no requirement.
    NoRequirement,
    /// A record of analysis or review is not accepted.
    RecordRejected {
        /// Analysis or review.
        method: VerificationMethod,
        /// The requirement that the record is of.
        requirement: RequirementId,
        /// The document that the record names.
        document: String,
        /// Why it is not accepted.
        reason: String,
    },
    /// A requirement is to be verified by test, and neither it nor its children have any.
    RequirementUntested {
        /// The requirement.
        requirement: RequirementId,
    },
    /// Not met by its own tests, or by the children named.
    RequirementFailed {
        /// The requirement.
        requirement: RequirementId,
        /// Children that are not met, where it is failed because of them; else empty.
        children: Vec<RequirementId>,
    },
    /// A requirement's verification is not complete.
    RequirementOpen {
        /// The requirement.
        requirement: RequirementId,
        /// What is missing, in words.
        why: Vec<String>,
    },
    /// A parent has changed since the link was reviewed.
    LinkSuspect {
        /// The requirement that holds the link.
        requirement: RequirementId,
        /// The parent that has changed.
        parent: RequirementId,
    },
    /// A requirement names code that does not exist.
    CodeMissing {
        /// The requirement.
        requirement: RequirementId,
        /// The code as reports print it: `file:symbol`.
        code: String,
    },
    /// Of a criterion under one configuration on one engine.
    ObligationsOpen {
        /// The kernel, with its configuration where it has several.
        kernel: String,
        /// The engine that recorded.
        engine: EngineName,
        /// Name of the criterion.
        criterion: StoredCriterion,
        /// Obligations that are neither covered nor justified, the undetermined ones included.
        open: u32,
        /// Obligations of the criterion.
        total: u32,
        /// Of the open ones those that could not be measured.
        undetermined: u32,
    },
    /// Findings of one kind that no justification accepts.
    FindingStands {
        /// The kind.
        kind: FindingKind,
        /// How many findings, at least 1.
        count: u32,
    },
    /// A coupling check could not be decided.
    CouplingUndetermined {
        /// The kernel that the interface is of.
        kernel: KernelName,
        /// Name of the check.
        check: CouplingCheckName,
        /// What keeps it from being decided.
        message: String,
    },
    /// A justification does not count.
    JustificationRejected {
        /// The kernel that it is of.
        kernel: KernelName,
        /// The obligation or finding that it is of.
        subject: String,
        /// Why it does not count.
        reason: String,
    },
    /// An open item that the project does not accept.
    OpenItemStands {
        /// Name of the item: kind and subject.
        item: String,
        /// What is missing, in one sentence.
        sentence: String,
    },
    /// An acceptance of the project file accepts nothing.
    AcceptanceRejected {
        /// The item that it names.
        item: String,
        /// Why it accepts nothing.
        reason: String,
    },
    /// The mutation score is below the threshold of the project.
    MutationScore {
        /// The score, in words.
        score: String,
        /// In percent.
        threshold: String,
    },
}

impl Reason {
    /// What kind of reason it is.
    pub fn kind(&self) -> ReasonKind {
        match self {
            Reason::ProfileRefusal { .. } => ReasonKind::ProfileRefusal,
            Reason::NoTest => ReasonKind::NoTest,
            Reason::Test { kind, .. } => *kind,
            Reason::NoRequirement => ReasonKind::NoRequirement,
            Reason::RecordRejected { .. } => ReasonKind::RecordRejected,
            Reason::RequirementUntested { .. } => ReasonKind::RequirementUntested,
            Reason::RequirementFailed { .. } => ReasonKind::RequirementFailed,
            Reason::RequirementOpen { .. } => ReasonKind::RequirementOpen,
            Reason::LinkSuspect { .. } => ReasonKind::LinkSuspect,
            Reason::CodeMissing { .. } => ReasonKind::CodeMissing,
            Reason::ObligationsOpen { .. } => ReasonKind::ObligationsOpen,
            Reason::FindingStands { .. } => ReasonKind::FindingStands,
            Reason::CouplingUndetermined { .. } => ReasonKind::CouplingUndetermined,
            Reason::JustificationRejected { .. } => ReasonKind::JustificationRejected,
            Reason::OpenItemStands { .. } => ReasonKind::OpenItemStands,
            Reason::AcceptanceRejected { .. } => ReasonKind::AcceptanceRejected,
            Reason::MutationScore { .. } => ReasonKind::MutationScore,
        }
    }

    /// What evidence stores beside the sentence.
    pub fn ground(&self) -> Ground {
        let subject_text = match self {
            Reason::NoTest | Reason::NoRequirement | Reason::MutationScore { .. } => String::new(),
            Reason::ProfileRefusal { kernel, .. } => kernel.to_string(),
            Reason::Test { test, .. } => test.to_string(),
            Reason::RecordRejected { requirement, .. }
            | Reason::RequirementUntested { requirement }
            | Reason::RequirementFailed { requirement, .. }
            | Reason::RequirementOpen { requirement, .. }
            | Reason::LinkSuspect { requirement, .. }
            | Reason::CodeMissing { requirement, .. } => requirement.to_string(),
            Reason::ObligationsOpen { kernel, engine, .. } => format!("{kernel} on {engine}"),
            Reason::FindingStands { kind, count } => format!("{count} {kind}"),
            Reason::CouplingUndetermined { kernel, .. } => kernel.to_string(),
            Reason::JustificationRejected { kernel, subject, .. } => format!("{kernel} {subject}"),
            Reason::OpenItemStands { item, .. } | Reason::AcceptanceRejected { item, .. } => {
                item.clone()
            }
        };
        Ground { kind: self.kind(), about: subject_text }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::ProfileRefusal { kernel, profile, reasons } => {
                write!(
                    f,
                    "kernel {kernel} is refused by the profile {profile}: {}",
                    reasons.join("; ")
                )
            }
            Reason::NoTest => f.write_str("the project has no test"),
            Reason::Test { kind: _, test, engines: engine_names, verdict, reason } => {
                let engine_names: Vec<String> =
                    engine_names.iter().map(EngineName::to_string).collect();
                write!(f, "test {test} on {}: {verdict}", engine_names.join(" and "))?;
                reason.iter().try_for_each(|reason| write!(f, ": {reason}"))
            }
            Reason::NoRequirement => f.write_str("the project has no requirement"),
            Reason::RecordRejected { method, requirement, document, reason } => {
                write!(f, "{method} of {requirement} in {document}: {reason}")
            }
            Reason::RequirementUntested { requirement } => {
                write!(f, "requirement {requirement} is untested")
            }
            Reason::RequirementFailed { requirement, children: child_names } => {
                match child_names.as_slice() {
                    [] => write!(f, "requirement {requirement} is not met by its tests"),
                    [child] => write!(
                        f,
                        "requirement {requirement} is not met, since its child {child} is not"
                    ),
                    child_names => {
                        let child_names: Vec<&str> =
                            child_names.iter().map(RequirementId::as_str).collect();
                        let child_names = child_names.join(", ");
                        write!(
                            f,
                            "requirement {requirement} is not met, since its children {child_names} are not"
                        )
                    }
                }
            }
            Reason::RequirementOpen { requirement, why: open_reason } => {
                let open_reason = if open_reason.is_empty() {
                    String::new()
                } else {
                    format!(": {}", open_reason.join("; "))
                };
                write!(f, "requirement {requirement} is open{open_reason}")
            }
            Reason::LinkSuspect { requirement, parent } => {
                write!(f, "link {requirement} -> {parent} is suspect: {parent} has changed")
            }
            Reason::CodeMissing { requirement, code } => {
                write!(f, "requirement {requirement} names {code}, which does not exist")
            }
            Reason::ObligationsOpen { kernel, engine, criterion, open, total, undetermined } => {
                write!(
                    f,
                    "{kernel} on {engine}: {open} of {total} {criterion} obligations not covered"
                )?;
                if *undetermined > 0 {
                    write!(f, ", {undetermined} of them undetermined")
                } else {
                    Ok(())
                }
            }
            Reason::FindingStands { kind, count } => {
                write!(f, "{count} {kind} {}", if *count == 1 { "finding" } else { "findings" })
            }
            Reason::CouplingUndetermined { kernel, check, message } => {
                write!(f, "coupling of {kernel}: {check} is undetermined: {message}")
            }
            Reason::JustificationRejected { kernel, subject, reason } => {
                write!(f, "justification of {kernel} {subject}: {reason}")
            }
            Reason::OpenItemStands { item, sentence } => write!(f, "open item {item}: {sentence}"),
            Reason::AcceptanceRejected { item, reason } => {
                write!(f, "acceptance of {item}: {reason}")
            }
            Reason::MutationScore { score, threshold } => {
                write!(f, "mutation score {score} is below the threshold of {threshold} %")
            }
        }
    }
}
