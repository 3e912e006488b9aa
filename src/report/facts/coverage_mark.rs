//! What is known of a line or a condition, as one symbol.

use crate::document::Tone;
use vkcert_model::coverage::Status;

/// What is known of a line or a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CoverageMark {
    Covered,
    /// Something on it is covered and something is not.
    Partial,
    Uncovered,
    Undetermined,
    Justified,
}

impl CoverageMark {
    /// In the order of legends.
    pub(crate) const ALL: [CoverageMark; 5] = [
        CoverageMark::Covered,
        CoverageMark::Partial,
        CoverageMark::Uncovered,
        CoverageMark::Undetermined,
        CoverageMark::Justified,
    ];

    pub(crate) fn symbol(self) -> &'static str {
        match self {
            CoverageMark::Covered => "✓",
            CoverageMark::Partial => "◐",
            CoverageMark::Uncovered => "✗",
            CoverageMark::Undetermined => "?",
            CoverageMark::Justified => "J",
        }
    }

    pub(crate) fn mark_word(self) -> &'static str {
        match self {
            CoverageMark::Covered => "covered",
            CoverageMark::Partial => "partly covered",
            CoverageMark::Uncovered => "uncovered",
            CoverageMark::Undetermined => "undetermined",
            CoverageMark::Justified => "justified",
        }
    }

    pub(crate) fn tone(self) -> Tone {
        match self {
            CoverageMark::Covered => Tone::Good,
            CoverageMark::Partial | CoverageMark::Justified => Tone::Caution,
            CoverageMark::Uncovered | CoverageMark::Undetermined => Tone::Bad,
        }
    }

    /// The mark of several statuses; none where there is nothing to mark.
    pub(crate) fn of_statuses(statuses: impl Iterator<Item = Status> + Clone) -> Option<Self> {
        let has_status = |wanted| statuses.clone().any(|status| status == wanted);
        let all_have = |wanted| statuses.clone().all(|status| status == wanted);
        statuses.clone().next()?;
        Some(if all_have(Status::Covered) {
            CoverageMark::Covered
        } else if has_status(Status::Covered) {
            CoverageMark::Partial
        } else if has_status(Status::Uncovered) {
            CoverageMark::Uncovered
        } else if has_status(Status::Undetermined) {
            CoverageMark::Undetermined
        } else {
            CoverageMark::Justified
        })
    }
}
