//! Contents that a test states by a rule, in words.
//!
//! Promises: bounds that the test leaves to the element type are told as that type has them.
//! Does not cover: contents stated by value (`contents`, `members`).

use vkcert_model::element::{Datum, ElementType, ScalarClass};
use vkcert_model::procedure::Fill;

fn bound_words(value: &Option<Datum>, absent_words: &str) -> String {
    value.as_ref().map_or(absent_words.to_owned(), ToString::to_string)
}

/// `from 0 on in steps of 1`; of an element type that is not known, what holds for each class.
pub(super) fn rule_in_words(fill: &Fill, element: Option<ElementType>) -> String {
    let is_vector = element.is_some_and(|element| element.components > 1);
    match fill {
        Fill::Constant(value) => format!("every element {value}"),
        Fill::Iota(iota) => {
            let counted_words = if is_vector { "component by component " } else { "" };
            format!(
                "{counted_words}from {} on in steps of {}",
                bound_words(&iota.start, "0"),
                bound_words(&iota.step, "1")
            )
        }
        Fill::Random(random) => {
            let [least_words, greatest_words] = default_bounds(element);
            let drawn_words = if is_vector { ", one draw per component" } else { "" };
            format!(
                "random (SplitMix64), seed {}{drawn_words}, from {} to {}",
                random.seed,
                bound_words(&random.min, least_words),
                bound_words(&random.max, greatest_words)
            )
        }
    }
}

/// Between what the rule `random` draws where the test states no bounds.
fn default_bounds(element: Option<ElementType>) -> [&'static str; 2] {
    match element.map(|element| element.scalar.class()) {
        Some(ScalarClass::Float) => ["0", "1"],
        Some(ScalarClass::Bool | ScalarClass::Signed | ScalarClass::Unsigned) => {
            ["the type's least", "the type's greatest"]
        }
        None => ["0 (floats) or the type's least", "1 (floats) or the type's greatest"],
    }
}
