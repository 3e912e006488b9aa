//! What results for other programs are named by: one rule per kind of finding, of gap and of
//! reason.
//!
//! Promises: the name of a rule is that under which evidence stores the kind, so that it stays what
//! it is when sentences are worded anew.

use crate::facts::column_title;
use vkcert_model::coverage::Status;
use vkcert_model::criterion::CriterionName;
use vkcert_model::finding::FindingKind;
use vkcert_model::open_item::{NoteKind, OpenItemKind};
use vkcert_model::reason::ReasonKind;

/// Name and meaning of a kind of results.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rule {
    /// `data-race`, `uncovered-statement` ...
    pub id: String,
    /// One sentence.
    pub description: String,
}

impl Rule {
    fn new(id: impl Into<String>, description: impl Into<String>) -> Self {
        Self { id: id.into(), description: description.into() }
    }

    pub(super) fn of_finding(kind: FindingKind) -> Self {
        Self::new(kind.name(), finding_sentence(kind))
    }

    /// Of an obligation, which is named after what is missing, justified or not.
    pub(super) fn of_obligation(criterion: CriterionName, status: Status) -> Self {
        let title = column_title(criterion);
        match status {
            Status::Undetermined => Self::new(
                format!("undetermined-{criterion}"),
                format!("{title} coverage: an obligation could not be measured."),
            ),
            Status::Uncovered | Status::Justified | Status::Covered => Self::new(
                format!("uncovered-{criterion}"),
                format!("{title} coverage: no test that counts covers an obligation."),
            ),
        }
    }

    pub(super) fn of_open_item(kind: OpenItemKind) -> Self {
        Self::new(kind.name(), "Open item: the result says less than the level asks for.")
    }

    pub(super) fn of_reason(kind: ReasonKind) -> Self {
        let (id, description) = reason_words(kind);
        Self::new(id, description)
    }

    /// Whether it is of the verdict of a test.
    pub(super) fn is_of_test(&self) -> bool {
        let kinds = [
            ReasonKind::TestFailed,
            ReasonKind::TestError,
            ReasonKind::TestTimeout,
            ReasonKind::TestUndetermined,
            ReasonKind::TestUnsupported,
        ];
        kinds.iter().any(|kind| reason_words(*kind).0 == self.id)
    }

    pub(super) fn of_note(kind: NoteKind) -> Self {
        let stored_name = serde_json::to_value(kind).ok();
        let name = stored_name.as_ref().and_then(serde_json::Value::as_str).unwrap_or("note");
        Self::new(name, "A note that a reader of the result must know, which does not count.")
    }

    pub(super) fn not_sought() -> Self {
        Self::new("not-looked-for", "Findings of a kind were not looked for, or not everywhere.")
    }

    pub(super) fn not_verified() -> Self {
        Self::new("evidence-not-verified", "The evidence behind this file does not verify.")
    }

    pub(super) fn verified_in_part() -> Self {
        Self::new(
            "evidence-verified-in-part",
            "Much of the evidence behind this file could not be derived again.",
        )
    }

    /// Of what counts and is told in no other way.
    pub(super) fn counts() -> Self {
        Self::new("counts-against-result", "A reason for an exit code other than 0.")
    }
}

fn finding_sentence(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::DataRace => "Two invocations access the same memory and nothing orders them.",
        FindingKind::BarrierDivergence => {
            "Not every invocation of a workgroup waits at the same barrier."
        }
        FindingKind::OutOfBounds => "An access outside of an array, buffer, image or variable.",
        FindingKind::UninitializedRead => "A value that nobody wrote is used.",
        FindingKind::UndefinedValue => {
            "A result or behaviour that a specification leaves undefined."
        }
        FindingKind::NoTermination => "A test reached its limit of steps.",
        FindingKind::UntracedBranch => {
            "A branch of the compiled module that belongs to no decision of the source."
        }
        FindingKind::ScheduleDependentOutput => {
            "Another order of workgroups or invocations leaves other contents or coverage."
        }
        FindingKind::EngineDisagreement => "The engines differ beyond tolerance and error bounds.",
        FindingKind::Validation => {
            "A message of the validation layer or validator, or a stale production module."
        }
        FindingKind::Coupling => "The host's interface does not fit the kernel.",
    }
}

/// The stored name of a kind of reasons, and a sentence.
fn reason_words(kind: ReasonKind) -> (&'static str, &'static str) {
    match kind {
        ReasonKind::ProfileRefusal => {
            ("profile-refusal", "The project's profile lacks what a kernel needs.")
        }
        ReasonKind::NoTest => ("no-test", "The project has no test."),
        ReasonKind::TestFailed => ("test-failed", "An expectation of a test does not hold."),
        ReasonKind::TestError => ("test-error", "A test ended in an error."),
        ReasonKind::TestTimeout => ("test-timeout", "A test reached its limit of time or steps."),
        ReasonKind::TestUndetermined => ("test-undetermined", "A test could not be judged."),
        ReasonKind::TestUnsupported => {
            ("test-unsupported", "A test needs what an engine cannot do.")
        }
        ReasonKind::NoRequirement => ("no-requirement", "The project has no requirement."),
        ReasonKind::RecordRejected => {
            ("record-rejected", "A record of analysis or review is not accepted.")
        }
        ReasonKind::RequirementUntested => {
            ("requirement-untested", "A requirement to be verified by test has no test.")
        }
        ReasonKind::RequirementFailed => {
            ("requirement-failed", "Tests or children of a requirement do not pass.")
        }
        ReasonKind::RequirementOpen => {
            ("requirement-open", "The verification of a requirement is not complete.")
        }
        ReasonKind::LinkSuspect => {
            ("link-suspect", "A parent requirement has changed since the link was reviewed.")
        }
        ReasonKind::CodeMissing => {
            ("code-missing", "A requirement names code that does not exist.")
        }
        ReasonKind::ObligationsOpen => {
            ("obligations-open", "Obligations of a criterion are not covered.")
        }
        ReasonKind::FindingStands => ("finding-stands", "A finding that nothing accepts."),
        ReasonKind::CouplingUndetermined => {
            ("coupling-undetermined", "A coupling check could not be decided.")
        }
        ReasonKind::JustificationRejected => {
            ("justification-rejected", "A justification does not count.")
        }
        ReasonKind::OpenItemStands => {
            ("open-item-stands", "An open item that the project does not accept.")
        }
        ReasonKind::AcceptanceRejected => {
            ("acceptance-rejected", "An acceptance of the project file accepts nothing.")
        }
        ReasonKind::MutationScore => {
            ("mutation-score", "The mutation score is below the threshold of the project.")
        }
    }
}
