//! What verdicts and statuses say about the matter.

use crate::document::Tone;
use vkcert_model::coverage::Status;
use vkcert_model::evidence::RequirementStatus;
use vkcert_model::verdict::Verdict;

pub(crate) fn verdict_tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Pass => Tone::Good,
        Verdict::NotRun | Verdict::Unsupported => Tone::Caution,
        Verdict::Fail | Verdict::Error | Verdict::Timeout | Verdict::Undetermined => Tone::Bad,
    }
}

pub(crate) fn requirement_tone(status: RequirementStatus) -> Tone {
    match status {
        RequirementStatus::Verified | RequirementStatus::VerifiedByChildren => Tone::Good,
        RequirementStatus::Failed | RequirementStatus::Untested | RequirementStatus::Open => {
            Tone::Bad
        }
        RequirementStatus::ByOtherMeans => Tone::Quiet,
    }
}

pub(super) fn status_tone(status: Status) -> Tone {
    match status {
        Status::Covered => Tone::Good,
        Status::Justified => Tone::Caution,
        Status::Uncovered | Status::Undetermined => Tone::Bad,
    }
}
