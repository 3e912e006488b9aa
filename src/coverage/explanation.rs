//! What is missing of a decision's MC/DC, in words with the conditions' own texts.
//!
//! Promises: one sentence per condition that is not shown in both forms; the vectors it asks for are the fewest that do,
//! and where a vector at hand is one half of the pair, the sentence names it and its first test.

use super::mcdc::{Addition, Attainability, ConditionAnalysis, FormAnalysis};
use crate::model::coverage::{ConditionPlace, DecisionCoverage, Independence, Status};
use crate::model::vector::{ConditionValue, Values};

/// One sentence per condition that is not shown: what is missing, and which vectors would show it.
pub(super) fn explanation(coverage: &DecisionCoverage, analysis: &[ConditionAnalysis]) -> Vec<String> {
    let rows = coverage.conditions.iter().zip(&coverage.mcdc).zip(analysis);
    let sentence = |((place, mcdc), found): ((&ConditionPlace, &crate::model::coverage::ConditionMcdc), _)| {
        let found: &ConditionAnalysis = found;
        let text = &place.text;
        match (mcdc.masking.status, mcdc.unique_cause.status) {
            (Status::Covered, Status::Covered) => None,
            (Status::Covered, _) => {
                let advice = advice(coverage, &mcdc.unique_cause, &found.unique_cause);
                Some(format!(
                    "{}: `{text}` is shown by masking only; no two vectors differ in it alone; {advice}.",
                    place.id
                ))
            }
            (_, _) => {
                let advice = advice(coverage, &mcdc.masking, &found.masking);
                Some(format!("{}: no test shows that `{text}` alone turns the outcome; {advice}.", place.id))
            }
        }
    };
    rows.filter_map(sentence).collect()
}

/// What to do about one form: the vectors to add, or why there are none.
fn advice(coverage: &DecisionCoverage, form: &Independence, found: &FormAnalysis) -> String {
    match (&form.reason, &found.addition, found.attainability) {
        (Some(reason), _, _) => reason.clone(),
        (None, Some(addition), _) => add(coverage, addition),
        (None, None, Attainability::Attainable | Attainability::Unattainable | Attainability::Unknown) => {
            "no vector to add is known".to_owned()
        }
    }
}

fn add(coverage: &DecisionCoverage, addition: &Addition) -> String {
    let vectors = addition.vectors.iter().map(|values| described(&coverage.conditions, values));
    let vectors = vectors.collect::<Vec<_>>().join("; and ");
    let half = addition.partner.as_ref().map(|partner| {
        let shown = coverage.vectors.iter().find(|vector| vector.values == *partner);
        let test = shown.and_then(|vector| vector.tests.first()).map(|test| format!(" of {test}")).unwrap_or_default();
        format!(" - the other half of the pair, {partner}, is there{test}")
    });
    format!("add {vectors}{}", half.unwrap_or_default())
}

/// `x < k true, y < m false`; conditions that are not evaluated are left out.
pub(super) fn described(conditions: &[ConditionPlace], values: &Values) -> String {
    let word = |value: ConditionValue| match value {
        ConditionValue::True => Some("true"),
        ConditionValue::False => Some("false"),
        ConditionValue::NotEvaluated => None,
    };
    let pairs = conditions.iter().zip(&values.0);
    let parts = pairs.filter_map(|(place, value)| word(*value).map(|word| format!("{} {word}", place.text)));
    parts.collect::<Vec<_>>().join(", ")
}
