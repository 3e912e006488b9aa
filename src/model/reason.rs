//! Why a campaign's result is not complete: what each reason is of, what it is about, and its sentence.
//!
//! Knows: the kinds of reasons and the data of each. Promises: the sentence comes of the data, and who groups reasons goes by the kind
//! that is stored beside it, so that a sentence can be worded anew.
//! Does not cover: what gives a reason (`derivation::conclusion`).

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
    ProfileRefusal,
    NoTest,
    TestFailed,
    TestError,
    TestTimeout,
    TestUndetermined,
    TestUnsupported,
    NoRequirement,
    RecordRejected,
    RequirementUntested,
    RequirementFailed,
    RequirementOpen,
    LinkSuspect,
    CodeMissing,
    ObligationsOpen,
    FindingStands,
    CouplingUndetermined,
    JustificationRejected,
    OpenItemStands,
    AcceptanceRejected,
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
    pub kind: ReasonKind,
    /// Name of the test, requirement, kernel, obligation or item that it is about; empty where it is about the project.
    pub about: String,
}

/// One reason for an exit code other than 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    ProfileRefusal {
        kernel: KernelName,
        profile: String,
        reasons: Vec<String>,
    },
    NoTest,
    /// Of a verdict that counts.
    Test {
        kind: ReasonKind,
        test: TestId,
        /// All on which it came to this, in one sentence.
        engines: Vec<EngineName>,
        verdict: Verdict,
        reason: Option<String>,
    },
    NoRequirement,
    RecordRejected {
        method: VerificationMethod,
        requirement: RequirementId,
        document: String,
        reason: String,
    },
    RequirementUntested {
        requirement: RequirementId,
    },
    /// Not met by its own tests, or by the children named.
    RequirementFailed {
        requirement: RequirementId,
        children: Vec<RequirementId>,
    },
    RequirementOpen {
        requirement: RequirementId,
        why: Vec<String>,
    },
    LinkSuspect {
        requirement: RequirementId,
        parent: RequirementId,
    },
    CodeMissing {
        requirement: RequirementId,
        code: String,
    },
    /// Of a criterion under one configuration on one engine.
    ObligationsOpen {
        kernel: String,
        engine: EngineName,
        criterion: String,
        open: u32,
        total: u32,
        undetermined: u32,
    },
    FindingStands {
        kind: FindingKind,
        count: u32,
    },
    CouplingUndetermined {
        kernel: KernelName,
        check: String,
        message: String,
    },
    JustificationRejected {
        kernel: KernelName,
        subject: String,
        reason: String,
    },
    OpenItemStands {
        item: String,
        sentence: String,
    },
    AcceptanceRejected {
        item: String,
        reason: String,
    },
}

impl Reason {
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
        }
    }

    /// What evidence stores beside the sentence.
    pub fn ground(&self) -> Ground {
        let subject_text = match self {
            Reason::NoTest | Reason::NoRequirement => String::new(),
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
        }
    }
}
