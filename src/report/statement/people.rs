//! What page 1 says of the people and the documents that a result rests on.
//!
//! Knows: the names and documents that a project states. Promises: what this tool has not checked of
//! them is told wherever something rests on them.
//! Does not cover: whether a name may be that of another one (`coverage`).

use super::counted;
use vkcert_model::evidence::Campaign;

/// Notes of page 1.
pub(super) fn people_notes(campaign: &Campaign) -> impl Iterator<Item = String> {
    [document_note(campaign), review_note(campaign), names_note(campaign)].into_iter().flatten()
}

/// Records of analysis and review are bound to the requirement's content, and to no content of the
/// document that they name.
fn document_note(campaign: &Campaign) -> Option<String> {
    let accepted_count = campaign.records.iter().filter(|row| row.rejected.is_none()).count();
    let record_count = counted(accepted_count, "accepted record");
    (accepted_count > 0).then(|| {
        format!("{record_count} of analysis and review: no document is pinned by a hash, and none was read by this tool.")
    })
}

/// Of reviews of tests that count for any.
fn review_note(campaign: &Campaign) -> Option<String> {
    let rows = campaign.test_reviews.iter();
    let counting = rows.filter(|row| row.rejected.len() < row.review.tests.len());
    let reviews: Vec<_> = counting.map(|row| &row.review).collect();
    let unpinned = reviews.iter().filter(|review| review.document_hash.is_none()).count();
    let undated = reviews.iter().filter(|review| review.date.is_none()).count();
    let review_count = counted(reviews.len(), "accepted review");
    (!reviews.is_empty()).then(|| {
        format!(
            "{review_count} of tests: no document was read by this tool; {unpinned} pinned by no hash, {undated} without a date."
        )
    })
}

/// Said once wherever independence is claimed.
pub(crate) const NAMES_AS_STATED: &str = "Independence rests on names as the project states them; who these people are is not checked. Names that may be of the \
     same person count as one.";

/// At levels that demand independence, where somebody is named who reviewed or approved anything.
fn names_note(campaign: &Campaign) -> Option<String> {
    let kernels = campaign.settings.iter().flat_map(|settings| &settings.kernels);
    let names_people = kernels.into_iter().any(|kernel| kernel.reviewer.is_some())
        || campaign.tests.iter().any(|test| test.definition.reviewer.is_some())
        || campaign.requirements.iter().any(|row| row.requirement.no_robustness_test.is_some())
        || campaign.open_items.iter().any(|item| !item.stands())
        || !campaign.justifications.is_empty()
        || !campaign.records.is_empty()
        || !campaign.test_reviews.is_empty();
    (campaign.project.level.needs_other_approver() && names_people)
        .then(|| NAMES_AS_STATED.to_owned())
}
