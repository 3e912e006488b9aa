//! What a test judges, in words: which buffer or image, how many values of which type, against
//! what, and how closely.
//!
//! Promises: every expectation of the test has an entry; a tolerance that is not stated is said to
//! be none.
//! Does not cover: whether the expectations could fail at all (open items and verdicts say that).

use base64::Engine as _;
use vkcert_model::element::ScalarType;
use vkcert_model::evidence::{ExpectedRun, StoredContents, StoredExpectation, TestEvidence};
use vkcert_model::expectation::ElementOrder;
use vkcert_model::procedure::{Expectation, Tolerance};

/// An entry per expectation, in the order of the test's file.
pub(crate) fn expectations_in_words(test: &TestEvidence) -> Vec<String> {
    // A test that cannot be prepared has no resolved expectations.
    let resolved_expectation = |entry_index: usize| {
        test.expected
            .get(entry_index)
            .filter(|_| test.expected.len() == test.definition.expect.len())
    };
    let stated_entries = test.definition.expect.iter().enumerate();
    stated_entries
        .map(|(entry_index, stated)| {
            expectation_in_words(stated, resolved_expectation(entry_index))
        })
        .collect()
}

fn expectation_in_words(
    stated: &Expectation,
    stored_expectation: Option<&StoredExpectation>,
) -> String {
    let subject_words = match (&stated.check, &stated.image) {
        (Some(_), _) => format!("verdict buffer `{}`", stated.judged()),
        (None, Some(image)) => {
            let index_words = |name: &str, index: Option<u32>| {
                index.map(|index| format!(", {name} {index}")).unwrap_or_default()
            };
            format!(
                "image `{image}`{}{}",
                index_words("level", stated.level),
                index_words("layer", stated.layer)
            )
        }
        (None, None) => format!("buffer `{}`", stated.judged()),
    };
    let Some(stored_expectation) = stored_expectation else {
        return format!("{subject_words}: not resolved, as the test cannot be prepared");
    };
    let contents_words = contents_in_words(stored_expectation);
    if stated.check.is_some() {
        return format!("{subject_words}: {contents_words}");
    }
    let order_words = match (stated.order.unwrap_or_default(), stored_expectation.record) {
        (ElementOrder::Fixed, None) => "each in its place".to_owned(),
        (ElementOrder::Any, None) => "in any order".to_owned(),
        (ElementOrder::Fixed | ElementOrder::Any, Some(bytes)) => {
            format!("records of {bytes} bytes in any order")
        }
    };
    format!(
        "{subject_words}: {contents_words}; {order_words}; tolerance: {}",
        tolerance_in_words(&stored_expectation.tolerance)
    )
}

fn contents_in_words(resolved: &StoredExpectation) -> String {
    let format_words = resolved
        .format
        .map(|format| format!(" decoded from {}, 4 bytes each", format.name()))
        .unwrap_or_default();
    let range_words = |offset: u64, length: Option<u64>| match length {
        Some(length) => format!("{length} bytes from byte {offset} on"),
        None => format!("all from byte {offset} on"),
    };
    match &resolved.contents {
        StoredContents::Values(runs) => values_in_words(runs, &format_words),
        StoredContents::EqualsBuffer { buffer, scalar, offset, length } => {
            let part_words =
                length.map_or("all of it".to_owned(), |length| format!("its first {length} bytes"));
            format!(
                "from byte {offset} on as `{buffer}` is at the end ({part_words}), compared as {scalar}{format_words}"
            )
        }
        StoredContents::Reference { kernel, scalar, offset, length } => {
            let scalar_name = if scalar.is_empty() { "its type" } else { scalar };
            let range_words = range_words(*offset, *length);
            format!(
                "{range_words}, compared as {scalar_name}{format_words} with what the reference kernel `{kernel}` makes of the same initial \
                 contents on the sequential engine"
            )
        }
        StoredContents::Check { kernel, reads } => {
            let mut buffer_names: Vec<&str> =
                reads.iter().map(|range| range.buffer.as_str()).collect();
            buffer_names.dedup();
            let buffer_names: Vec<String> =
                buffer_names.iter().map(|name| format!("`{name}`")).collect();
            let read_words = if buffer_names.is_empty() {
                "nothing that is known".to_owned()
            } else {
                buffer_names.join(", ")
            };
            format!(
                "the checker kernel `{kernel}` must write 1 to every uint of it; by its code that depends on {read_words}"
            )
        }
    }
}

/// `16 values of float, bytes 0 to 63`
fn values_in_words(runs: &[ExpectedRun], format: &str) -> String {
    let mut counts_by_scalar: Vec<(&str, u64)> = Vec::new();
    let (mut first_byte, mut last_byte) = (u64::MAX, 0);
    for run in runs {
        let Ok(bytes) = base64::engine::general_purpose::STANDARD.decode(&run.bytes) else {
            return "values of which some cannot be decoded".to_owned();
        };
        let bytes = bytes.len() as u64;
        first_byte = first_byte.min(run.offset);
        last_byte = last_byte.max((run.offset + bytes).saturating_sub(1));
        let scalar = ScalarType::of_name(&run.scalar);
        let value_count = scalar.map_or(bytes, |scalar| bytes / scalar.size() as u64);
        match counts_by_scalar.iter_mut().find(|(known_scalar, _)| *known_scalar == run.scalar) {
            Some((_, known)) => *known += value_count,
            None => counts_by_scalar.push((&run.scalar, value_count)),
        }
    }
    let scalar_words: Vec<String> = counts_by_scalar
        .iter()
        .map(|(scalar, value_count)| {
            if *value_count == 1 {
                format!("1 value of {scalar}")
            } else {
                format!("{value_count} values of {scalar}")
            }
        })
        .collect();
    match scalar_words.as_slice() {
        [] => "no values".to_owned(),
        scalar_words => {
            let parts_words =
                if runs.len() > 1 { format!(" in {} parts", runs.len()) } else { String::new() };
            format!(
                "{}{format}{parts_words}, bytes {first_byte} to {last_byte}",
                scalar_words.join(" and ")
            )
        }
    }
}

/// `abs 0.1 or rel 0.01`: a value agrees where any one of the bounds holds.
pub(crate) fn tolerance_in_words(tolerance: &Tolerance) -> String {
    let Tolerance { abs, rel, ulp, bits } = tolerance;
    if *bits {
        return "none, the same bits".to_owned();
    }
    let bound_words = [
        abs.map(|bound_value| format!("abs {bound_value}")),
        rel.map(|bound_value| format!("rel {bound_value}")),
        ulp.map(|bound_value| format!("{bound_value} ULP")),
    ];
    let bound_words: Vec<String> = bound_words.into_iter().flatten().collect();
    if bound_words.is_empty() { "none".to_owned() } else { bound_words.join(" or ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(stated: serde_json::Value, resolved: serde_json::Value) -> String {
        let stated: Expectation = serde_json::from_value(stated).unwrap();
        let resolved: StoredExpectation = serde_json::from_value(resolved).unwrap();
        expectation_in_words(&stated, Some(&resolved))
    }

    #[test]
    fn each_form_of_expectation_says_what_is_judged_and_how_closely() {
        let run = |offset: u64| serde_json::json!({"offset": offset, "scalar": "float", "bytes": "AAAAAAAAAAA="});
        let cases = [
            (
                serde_json::json!({"buffer": "a", "values": [0, 0]}),
                serde_json::json!({"buffer": "a", "tolerance": {}, "contents": {"values": [run(8)]}}),
                "buffer `a`: 2 values of float, bytes 8 to 15; each in its place; tolerance: none",
            ),
            (
                serde_json::json!({"image": "i", "level": 1, "order": "any", "values": [0]}),
                serde_json::json!({
                    "buffer": "i", "tolerance": {"abs": 0.5, "rel": 0.1}, "record": 4, "format": "rgba8",
                    "contents": {"values": [run(0), run(16)]},
                }),
                "image `i`, level 1: 4 values of float decoded from rgba8, 4 bytes each in 2 parts, bytes 0 to 23; records of 4 \
                 bytes in any order; tolerance: abs 0.5 or rel 0.1",
            ),
            (
                serde_json::json!({"buffer": "a", "equals_buffer": "b"}),
                serde_json::json!({
                    "buffer": "a", "tolerance": {"bits": true},
                    "contents": {"equals-buffer": {"buffer": "b", "scalar": "uint", "offset": 0}},
                }),
                "buffer `a`: from byte 0 on as `b` is at the end (all of it), compared as uint; each in its place; tolerance: \
                 none, the same bits",
            ),
            (
                serde_json::json!({"check": {"kernel": "c", "groups": [1, 1, 1], "verdict": "v"}}),
                serde_json::json!({
                    "buffer": "v", "tolerance": {},
                    "contents": {"check": {"kernel": "c", "reads": [{"buffer": "a", "offset": 0, "bytes": 4}]}},
                }),
                "verdict buffer `v`: the checker kernel `c` must write 1 to every uint of it; by its code that depends on `a`",
            ),
        ];
        for (stated, resolved, expected) in cases {
            assert_eq!(words(stated, resolved), expected);
        }
    }
}
