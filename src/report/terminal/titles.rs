//! What criteria are called where columns are narrow.

use crate::facts;

/// Short titles, so that five criteria fit beside kernel and engine.
pub(super) fn short_title(criterion: &str) -> &str {
    match criterion {
        "mcdc-masking" => "MC/DC mask.",
        "mcdc-unique-cause" => "MC/DC uniq.",
        "multiple-condition" => "Mult.-cond.",
        "object-branch" => "Object br.",
        "additional-code" => "Add. code",
        other => facts::criterion_title(other),
    }
}
