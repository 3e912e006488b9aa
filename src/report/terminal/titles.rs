//! What criteria are called where columns are narrow.

use crate::facts;
use vkcert_model::criterion::{CriterionName, StoredCriterion};

/// Short titles, so that five criteria fit beside kernel and engine.
pub(super) fn short_title(criterion: &StoredCriterion) -> &str {
    match criterion.named() {
        Some(CriterionName::McdcMasking) => "MC/DC mask.",
        Some(CriterionName::McdcUniqueCause) => "MC/DC uniq.",
        Some(CriterionName::MultipleCondition) => "Mult.-cond.",
        Some(CriterionName::ObjectBranch) => "Object br.",
        Some(CriterionName::AdditionalCode) => "Add. code",
        Some(CriterionName::LoopBoundary) => "Loop bound.",
        Some(CriterionName::Boundary) => "Boundary v.",
        Some(
            CriterionName::Statement
            | CriterionName::Branch
            | CriterionName::Decision
            | CriterionName::Barrier
            | CriterionName::Function
            | CriterionName::Call
            | CriterionName::Coupling,
        )
        | None => facts::criterion_title(criterion),
    }
}
