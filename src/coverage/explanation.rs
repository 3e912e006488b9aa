//! What is missing of a decision's MC/DC, in words with the conditions' own texts.
//!
//! Promises: one sentence per condition that is not shown in both forms; the vectors it asks for
//! are the fewest that do, and where a vector at hand is one half of the pair, the sentence names
//! it and its first test.

use super::mcdc::{Addition, Attainability, ConditionAnalysis, FormAnalysis};
use vkcert_model::vector::{ConditionValue, Values};

/// Why a condition cannot be shown.
pub(super) const UNATTAINABLE: &str =
    "no two vectors that can occur show it, as conditions with the same text always agree";

/// A condition with what is known of it.
pub(super) struct Told<'a> {
    /// As reports print it: `D1.C2`, `C2`.
    pub id: String,
    pub text: &'a str,
    pub found: &'a ConditionAnalysis,
    /// Why unique cause cannot be shown, and why masking cannot.
    pub reasons: [Option<String>; 2],
}

/// One sentence per condition that is not shown: what is missing, and which vectors would show it.
/// `test` names the first test that showed a vector.
pub(super) fn explanation(
    conditions: &[Told],
    test: &dyn Fn(&Values) -> Option<String>,
) -> Vec<String> {
    let texts: Vec<&str> = conditions.iter().map(|condition| condition.text).collect();
    let sentence = |condition: &Told| {
        let Told { id, text, found, reasons: [unique_cause, masking] } = condition;
        match (&found.masking.pair, &found.unique_cause.pair) {
            (Some(_), Some(_)) => None,
            (Some(_), None) => {
                let advice = advice(&texts, unique_cause, &found.unique_cause, test);
                Some(format!(
                    "{id}: `{text}` is shown by masking only; no two vectors differ in it alone; {advice}."
                ))
            }
            (None, _) => Some(match (masking, found.masking.attainability) {
                (Some(reason), Attainability::Unattainable) => {
                    format!(
                        "{id}: no test can show that `{text}` alone turns the outcome: {reason}."
                    )
                }
                (
                    _,
                    Attainability::Attainable
                    | Attainability::Unattainable
                    | Attainability::Unknown,
                ) => {
                    let advice = advice(&texts, masking, &found.masking, test);
                    format!("{id}: no test shows that `{text}` alone turns the outcome; {advice}.")
                }
            }),
        }
    };
    conditions.iter().filter_map(sentence).collect()
}

/// What to do about one form: the vectors to add, or why there are none.
fn advice(
    texts: &[&str],
    reason: &Option<String>,
    found: &FormAnalysis,
    test: &dyn Fn(&Values) -> Option<String>,
) -> String {
    match (reason, &found.addition) {
        (Some(reason), _) => reason.clone(),
        (None, Some(addition)) => add(texts, addition, test),
        (None, None) => "no vector to add is known".to_owned(),
    }
}

fn add(texts: &[&str], addition: &Addition, test: &dyn Fn(&Values) -> Option<String>) -> String {
    let vectors =
        addition.vectors.iter().map(|values| format!("{} ({values})", described(texts, values)));
    let vectors = vectors.collect::<Vec<_>>().join(" and ");
    let Some(partner) = &addition.partner else { return format!("add {vectors}") };
    let shown = test(partner).map(|test| format!(" (shown by {test})")).unwrap_or_default();
    format!("add {vectors}, which makes a pair with {partner}{shown}")
}

/// `x < k true, y < m false`; conditions that are not evaluated are left out.
pub(super) fn described(texts: &[&str], values: &Values) -> String {
    let word = |value: ConditionValue| match value {
        ConditionValue::True => Some("true"),
        ConditionValue::False => Some("false"),
        ConditionValue::NotEvaluated => None,
    };
    let parts = texts
        .iter()
        .zip(&values.0)
        .filter_map(|(text, value)| word(*value).map(|word| format!("{text} {word}")));
    parts.collect::<Vec<_>>().join(", ")
}
