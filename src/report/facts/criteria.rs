//! The criteria of structural coverage that reports show, and what they call them.

use vkcert_model::evidence::Evidence;

/// The criteria of structural coverage that tables have columns for, in report order, with their
/// titles.
pub(crate) const CRITERIA_COLUMNS: &[(&str, &str)] = &[
    ("statement", "Statement"),
    ("branch", "Branch"),
    ("decision", "Decision"),
    ("mcdc-masking", "MC/DC masking"),
    ("mcdc-unique-cause", "MC/DC unique-cause"),
    ("multiple-condition", "Multiple-condition"),
    ("object-branch", "Object branch"),
    ("additional-code", "Additional code"),
    ("barrier", "Barrier"),
];

/// Criteria that overviews show only where the project asks for them.
const ON_REQUEST: &[&str] = &["multiple-condition", "object-branch", "additional-code", "barrier"];

/// Title of a criterion; one without a title is named as stored.
pub(crate) fn criterion_title(name: &str) -> &str {
    CRITERIA_COLUMNS
        .iter()
        .find(|(criterion, _)| *criterion == name)
        .map_or(name, |(_, title)| title)
}

/// The criteria that any kernel was measured by and overviews show: known ones first, others as
/// stored.
pub(crate) fn measured_criteria(evidence: &Evidence) -> Vec<String> {
    let all_summaries =
        || evidence.campaign.conclusion.summary.iter().flat_map(|row| &row.criteria);
    let mut criterion_names: Vec<String> = Vec::new();
    for (name, _) in CRITERIA_COLUMNS {
        if ON_REQUEST.contains(name) && !is_asked_for(evidence, name) {
            continue;
        }
        // Most kernels have no additional code at all.
        let is_empty = *name == "additional-code"
            && all_summaries().all(|row| row.criterion != *name || row.total == 0);
        if !is_empty && all_summaries().any(|summary| summary.criterion == *name) {
            criterion_names.push((*name).to_owned());
        }
    }
    for summary in all_summaries() {
        if !criterion_names.contains(&summary.criterion)
            && !ON_REQUEST.contains(&summary.criterion.as_str())
        {
            criterion_names.push(summary.criterion.clone());
        }
    }
    criterion_names
}

/// Whether the project asks for a criterion; `mcdc` alone asks for masking MC/DC.
pub fn is_asked_for(evidence: &Evidence, criterion: &str) -> bool {
    let asked_criteria = &evidence.campaign.project.criteria;
    asked_criteria
        .iter()
        .any(|name| name == criterion || (name == "mcdc" && criterion == "mcdc-masking"))
}
