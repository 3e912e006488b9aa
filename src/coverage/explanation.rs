//! What is missing of a decision's MC/DC, in words with the conditions' own texts.
//!
//! Promises: one sentence per condition that is not shown in both forms; the vectors it asks for
//! are the fewest that do, and where a vector at hand is one half of the pair, the sentence names
//! it and its first test.

use super::mcdc::{Attainability, ConditionAnalysis, FormAnalysis, VectorAddition};
use std::borrow::Cow;
use vkcert_model::vector::{ConditionValue, Values};

/// Why a condition cannot be shown.
pub(super) const UNATTAINABLE: &str =
    "no two vectors that can occur show it, as conditions with the same text always agree";

/// A condition with what is known of it.
pub(super) struct ConditionGap<'a> {
    /// As reports print it: `D1.C2`, `C2`.
    pub id: String,
    pub text: &'a str,
    pub condition_analysis: &'a ConditionAnalysis,
    /// Why unique cause cannot be shown, and why masking cannot.
    pub reasons: [Option<Cow<'a, str>>; 2],
}

/// One sentence per condition that is not shown: what is missing, and which vectors would show it.
/// `test` names the first test that showed a vector.
pub(super) fn gap_sentences(
    condition_gaps: &[ConditionGap],
    first_test: &dyn Fn(&Values) -> Option<String>,
) -> Vec<String> {
    let texts: Vec<&str> = condition_gaps.iter().map(|condition| condition.text).collect();
    condition_gaps
        .iter()
        .filter_map(|condition| gap_sentence(&texts, condition, first_test))
        .collect()
}

/// None where the condition is shown in both forms.
fn gap_sentence(
    texts: &[&str],
    condition: &ConditionGap,
    first_test: &dyn Fn(&Values) -> Option<String>,
) -> Option<String> {
    let ConditionGap { id, text, condition_analysis: found, reasons: [unique_cause, masking] } =
        condition;
    match (&found.masking.pair, &found.unique_cause.pair) {
        (Some(_), Some(_)) => None,
        (Some(_), None) => {
            let advice =
                gap_advice(texts, unique_cause.as_deref(), &found.unique_cause, first_test);
            Some(format!(
                "{id}: `{text}` is shown by masking only; no two vectors differ in it alone; {advice}."
            ))
        }
        (None, _) => Some(match (masking, found.masking.attainability) {
            (Some(reason), Attainability::Unattainable) => {
                format!("{id}: no test can show that `{text}` alone turns the outcome: {reason}.")
            }
            (
                _,
                Attainability::Attainable | Attainability::Unattainable | Attainability::Unknown,
            ) => {
                let advice = gap_advice(texts, masking.as_deref(), &found.masking, first_test);
                format!("{id}: no test shows that `{text}` alone turns the outcome; {advice}.")
            }
        }),
    }
}

/// What to do about one form: the vectors to add, or why there are none.
fn gap_advice<'r>(
    texts: &[&str],
    reason: Option<&'r str>,
    form_analysis: &FormAnalysis,
    first_test: &dyn Fn(&Values) -> Option<String>,
) -> Cow<'r, str> {
    match (reason, &form_analysis.addition) {
        (Some(reason), _) => reason.into(),
        (None, Some(addition)) => addition_advice(texts, addition, first_test).into(),
        (None, None) => "no vector to add is known".into(),
    }
}

fn addition_advice(
    texts: &[&str],
    addition: &VectorAddition,
    first_test: &dyn Fn(&Values) -> Option<String>,
) -> String {
    let vector_words = addition
        .vectors
        .iter()
        .map(|values| format!("{} ({values})", values_in_words(texts, values)));
    let vector_words = vector_words.collect::<Vec<_>>().join(" and ");
    let Some(partner) = &addition.partner else { return format!("add {vector_words}") };
    let shown_words = first_test(partner)
        .map(|first_test| format!(" (shown by {first_test})"))
        .unwrap_or_default();
    format!("add {vector_words}, which makes a pair with {partner}{shown_words}")
}

/// `x < k true, y < m false`; conditions that are not evaluated are left out.
pub(super) fn values_in_words(texts: &[&str], values: &Values) -> String {
    let value_words = texts.iter().zip(&values.0).filter_map(|(text, value)| {
        value_word(*value).map(|value_word| format!("{text} {value_word}"))
    });
    value_words.collect::<Vec<_>>().join(", ")
}

fn value_word(value: ConditionValue) -> Option<&'static str> {
    match value {
        ConditionValue::True => Some("true"),
        ConditionValue::False => Some("false"),
        ConditionValue::NotEvaluated => None,
    }
}
