//! What is said below the tables of a decision: what coupled conditions make impossible, how many
//! vectors MC/DC takes, and which vectors would close what is uncovered.

use crate::chapter::tones::status_tone;
use crate::document::{Block, Text};
use crate::facts;
use vkcert_model::coverage::{
    Coupling, DecisionCoverage, MinimumVectors, SimpleObligation, Status, VectorCount,
};
use vkcert_model::criterion::CriterionName;
use vkcert_model::evidence::Evidence;
use vkcert_model::id::ConditionId;
use vkcert_model::vector::Values;

/// What holds of a decision whatever the tests show: coupled conditions, and how many vectors MC/DC
/// takes.
pub(super) fn decision_remarks(
    evidence: &Evidence,
    decision: &DecisionCoverage,
) -> Option<Vec<Text>> {
    let mut remark_lines = Vec::new();
    remark_lines
        .extend(decision.coupling.as_ref().map(|coupling| Text::plain(coupling_remark(coupling))));
    if decision.conditions.len() > 1 {
        remark_lines
            .extend(decision.minimum.as_ref().map(|minimum| Text::plain(minimum_remark(minimum))));
    }
    if facts::is_asked_for(evidence, &CriterionName::MultipleCondition.into()) {
        remark_lines.push(Text::sentence(multiple_condition_remark(&decision.combinations)));
    }
    (!remark_lines.is_empty()).then_some(remark_lines)
}

/// How far multiple-condition coverage is, in words.
fn multiple_condition_remark(combinations: &[SimpleObligation]) -> String {
    let shown_count = combinations.iter().filter(|item| item.status == Status::Covered).count();
    match combinations {
        [joint_item] if joint_item.id.as_str().ends_with(".V") => {
            let reason = joint_item
                .reason
                .as_deref()
                .unwrap_or("all vectors that can occur are one obligation");
            format!("Multiple-condition coverage: {}; {reason}.", joint_item.status)
        }
        all_vectors => {
            format!(
                "Multiple-condition coverage: {shown_count} of {} vectors shown.",
                all_vectors.len()
            )
        }
    }
}

/// `C1, C2 and C4`
fn condition_names(condition_ids: &[ConditionId]) -> String {
    let condition_names: Vec<String> =
        condition_ids.iter().map(|id| format!("C{}", id.number)).collect();
    match condition_names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => condition_names.join(""),
    }
}

/// What coupled conditions make impossible, in words.
fn coupling_remark(coupling: &Coupling) -> String {
    let group_words =
        coupling.groups.iter().map(|group| condition_names(group)).collect::<Vec<_>>().join("; ");
    let mut text = format!("Coupled, as they are the same text and always agree: {group_words}.");
    let excluded_words =
        coupling.excluded.iter().map(Values::to_string).collect::<Vec<_>>().join(" ");
    match coupling.excluded_count {
        None => text.push_str(" Too many vectors can occur to list those that this excludes."),
        Some(0) => {}
        Some(count) if count as usize > coupling.excluded.len() => {
            text.push_str(&format!(
                " This excludes {count} vectors, the first of them {excluded_words}."
            ));
        }
        Some(1) => text.push_str(&format!(" This excludes the vector {excluded_words}.")),
        Some(count) => text.push_str(&format!(" This excludes {count} vectors: {excluded_words}.")),
    }
    for (condition_ids, form) in
        [(&coupling.without_unique_cause, "unique cause"), (&coupling.without_masking, "masking")]
    {
        if !condition_ids.is_empty() {
            text.push_str(&format!(
                " No two vectors can show {} by {form}.",
                condition_names(condition_ids)
            ));
        }
    }
    text
}

/// How many vectors MC/DC takes, in words.
fn minimum_remark(minimum: &MinimumVectors) -> String {
    let MinimumVectors { conditions_plus_one, unique_cause, masking } = minimum;
    let all_conditions = conditions_plus_one - 1;
    let count_words = |count: &VectorCount| match count.conditions {
        shown if shown == all_conditions => count.to_string(),
        shown => format!("{count} (showing {shown} of {all_conditions} conditions)"),
    };
    format!(
        "Fewest vectors for MC/DC: by unique cause {}, by masking {}; n + 1 is {conditions_plus_one}.",
        count_words(unique_cause),
        count_words(masking)
    )
}

/// What is uncovered, why, and which vectors would close it.
pub(super) fn add_gaps(decision: &DecisionCoverage, blocks: &mut Vec<Block>) {
    let mut gap_lines: Vec<Text> = Vec::new();
    for outcome in decision.outcomes.iter().filter(|outcome| outcome.status != Status::Covered) {
        let reason_words =
            outcome.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        let symbol = facts::status_symbol(outcome.status);
        gap_lines.push(
            Text::sentence(format!(
                "{symbol} Outcome {} is {}{reason_words}.",
                outcome.id, outcome.status
            ))
            .with_tone(status_tone(outcome.status)),
        );
    }
    gap_lines.extend(
        decision
            .explanation
            .iter()
            .map(|sentence| Text::sentence(facts::of_passed_tests(sentence))),
    );
    let vector_set = |values: &[Values]| {
        Text::code(values.iter().map(Values::to_string).collect::<Vec<_>>().join(" "))
    };
    if !decision.missing.is_empty() && !is_complete(decision) {
        gap_lines.push(
            Text::plain(format!(
                "Vectors that no passed test showed ({}): ",
                decision.missing.len()
            ))
            .followed_by(vector_set(&decision.missing)),
        );
    }
    let is_open = |status: Status| matches!(status, Status::Uncovered | Status::Undetermined);
    if !decision.closing_set.is_empty()
        && decision.mcdc.iter().any(|mcdc| is_open(mcdc.masking.status))
    {
        let justified_words = facts::justified_conditions(decision);
        let closing_vectors = vector_set(&decision.closing_set).then_plain(justified_words);
        gap_lines.push(
            Text::strong("A smallest set that completes masking MC/DC: ")
                .followed_by(closing_vectors),
        );
    }
    if !gap_lines.is_empty() {
        blocks.push(Block::List(gap_lines));
    }
}

fn is_complete(decision: &DecisionCoverage) -> bool {
    decision.mcdc.iter().all(|mcdc| mcdc.masking.status == Status::Covered)
        && decision.outcomes.iter().all(|outcome| outcome.status == Status::Covered)
}
