//! The criteria of structural coverage that reports show, and what they call them.

use vkcert_model::criterion::{CriterionName, StoredCriterion};
use vkcert_model::evidence::{Evidence, KernelSummary};
use vkcert_model::id::KernelName;
use vkcert_model::verdict::EngineName;

/// The criteria of structural coverage that tables have columns for, in report order, with their
/// titles.
pub(crate) const CRITERIA_COLUMNS: &[(CriterionName, &str)] = &[
    (CriterionName::Statement, "Statement"),
    (CriterionName::Branch, "Branch"),
    (CriterionName::Decision, "Decision"),
    (CriterionName::McdcMasking, "MC/DC masking"),
    (CriterionName::McdcUniqueCause, "MC/DC unique-cause"),
    (CriterionName::MultipleCondition, "Multiple-condition"),
    (CriterionName::ObjectBranch, "Object branch"),
    (CriterionName::AdditionalCode, "Additional code"),
    (CriterionName::Barrier, "Barrier"),
    (CriterionName::Function, "Function"),
    (CriterionName::Call, "Call"),
    (CriterionName::LoopBoundary, "Loop boundary"),
    (CriterionName::Boundary, "Boundary values"),
    (CriterionName::Coupling, "Coupling"),
];

/// Criteria that overviews show only where the project asks for them.
const ON_REQUEST: &[CriterionName] = &[
    CriterionName::MultipleCondition,
    CriterionName::ObjectBranch,
    CriterionName::AdditionalCode,
    CriterionName::Barrier,
    CriterionName::Function,
    CriterionName::Call,
    CriterionName::LoopBoundary,
    CriterionName::Boundary,
    CriterionName::Coupling,
];

/// Title of a criterion; one without a title is named as stored.
pub(crate) fn criterion_title(criterion: &StoredCriterion) -> &str {
    match criterion.named() {
        Some(named) => column_title(named),
        None => criterion.as_str(),
    }
}

/// Title of a criterion that this version has.
pub(crate) fn column_title(criterion: CriterionName) -> &'static str {
    CRITERIA_COLUMNS
        .iter()
        .find(|(column_criterion, _)| *column_criterion == criterion)
        .map_or_else(|| criterion.name(), |(_, title)| title)
}

/// The criteria that any kernel was measured by and overviews show: known ones first, others as
/// stored.
pub(crate) fn measured_criteria(evidence: &Evidence) -> Vec<StoredCriterion> {
    let all_summaries =
        || evidence.campaign.conclusion.summary.iter().flat_map(|row| &row.criteria);
    let mut criteria: Vec<StoredCriterion> = Vec::new();
    for (criterion, _) in CRITERIA_COLUMNS {
        if ON_REQUEST.contains(criterion) && !is_asked_for(evidence, &(*criterion).into()) {
            continue;
        }
        // Most kernels have no additional code at all.
        let is_empty = *criterion == CriterionName::AdditionalCode
            && all_summaries().all(|row| row.criterion != *criterion || row.total == 0);
        if !is_empty && all_summaries().any(|summary| summary.criterion == *criterion) {
            criteria.push((*criterion).into());
        }
    }
    for summary in all_summaries() {
        let is_on_request =
            summary.criterion.named().is_some_and(|named| ON_REQUEST.contains(&named));
        if !criteria.contains(&summary.criterion) && !is_on_request {
            criteria.push(summary.criterion.clone());
        }
    }
    criteria
}

/// Whether the project asks for a criterion; `mcdc` alone asks for masking MC/DC.
pub fn is_asked_for(evidence: &Evidence, criterion: &StoredCriterion) -> bool {
    let is_masking = *criterion == CriterionName::McdcMasking;
    let asked_criteria = &evidence.campaign.project.criteria;
    asked_criteria
        .iter()
        .any(|asked| asked == criterion || (*asked == StoredCriterion::Mcdc && is_masking))
}

/// Whether an engine cannot tell of a criterion and another engine, which measured the same kernel
/// under the same configuration, can: what is open on the former counts for nothing.
pub fn is_told_elsewhere(
    evidence: &Evidence,
    (kernel, configuration, engine): (&KernelName, &str, EngineName),
    criterion: &StoredCriterion,
) -> bool {
    let Some(criterion) = criterion.named() else { return false };
    let of_unit =
        |row: &&KernelSummary| row.kernel == *kernel && row.configuration == configuration;
    let mut rows_of_unit = evidence.campaign.conclusion.summary.iter().filter(of_unit);
    !criterion.is_told_by(engine) && rows_of_unit.any(|row| criterion.is_told_by(row.engine))
}
