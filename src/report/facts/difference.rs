//! How far what an engine left lies from the values that a test expects.
//!
//! Promises: computed from the stored bytes alone, for every expectation whose values stand in their
//! places; where it is not computed, the reason is told.
//! Does not cover: whether a difference is within its tolerance (the verdict says that).

use crate::scalars::{ScalarValue, float_in_words, scalars_in_words};
use base64::Engine as _;
use vkcert_model::element::ScalarType;
use vkcert_model::evidence::{
    ExpectedRun, OutputBytes, StoredContents, StoredExpectation, TestEvidence,
};

/// Differences of one expectation; engines that say the same are one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToldDifference {
    /// Index of the expectation in its test.
    pub expectation: usize,
    pub engines: Vec<String>,
    pub words: String,
}

/// An entry per expectation and distinct output, in the order of the test's file.
pub(crate) fn differences_in_words(test: &TestEvidence) -> Vec<ToldDifference> {
    let mut told: Vec<ToldDifference> = Vec::new();
    for (index, expectation) in test.expected.iter().enumerate() {
        for result in &test.results {
            let Some(output) = result.outputs.get(&expectation.buffer) else { continue };
            let Some(words) = difference_in_words(expectation, output) else { continue };
            let engine = result.engine.to_string();
            let same =
                told.iter_mut().find(|known| known.expectation == index && known.words == words);
            match same {
                Some(known) => known.engines.push(engine),
                None => {
                    told.push(ToldDifference { expectation: index, engines: vec![engine], words })
                }
            }
        }
    }
    told
}

/// None of an expectation that has no values of its own.
fn difference_in_words(expectation: &StoredExpectation, output: &OutputBytes) -> Option<String> {
    let StoredContents::Values(runs) = &expectation.contents else { return None };
    let not_computed = |reason: &str| Some(format!("not computed: {reason}"));
    if expectation.record.is_some() {
        return not_computed("records may stand in any order");
    }
    if expectation.format.is_some() {
        return not_computed("texels are decoded before they are compared");
    }
    let OutputBytes::Bytes(base64) = output else {
        return not_computed("the output is above the limit and stored as its hash");
    };
    match ContentsDifference::of_runs(runs, base64) {
        Some(difference) => Some(difference.in_words()),
        None => not_computed("stored bytes cannot be decoded"),
    }
}

/// Differences of values in their places.
#[derive(Debug, Clone, Default, PartialEq)]
struct ContentsDifference {
    compared: u64,
    same_bits: u64,
    /// Values that the output ends before.
    absent: u64,
    /// Other bits, and no finite distance.
    without_distance: u64,
    largest: Option<ValueDifference>,
}

#[derive(Debug, Clone, PartialEq)]
struct ValueDifference {
    distance: ScalarValue,
    /// From the start of the buffer.
    byte: u64,
    expected: String,
    actual: String,
}

impl ContentsDifference {
    fn of_runs(runs: &[ExpectedRun], output: &str) -> Option<Self> {
        let decode = |text: &str| base64::engine::general_purpose::STANDARD.decode(text).ok();
        let output = decode(output)?;
        let mut difference = Self::default();
        for run in runs {
            let scalar = ScalarType::of_name(&run.scalar)?;
            let expected = decode(&run.bytes)?;
            for (index, expected) in expected.chunks_exact(scalar.size()).enumerate() {
                let byte = run.offset + (index * scalar.size()) as u64;
                let actual = usize::try_from(byte).ok().and_then(|start| output.get(start..));
                let actual = actual.and_then(|rest| rest.get(..scalar.size()));
                difference.add_value(scalar, byte, expected, actual);
            }
        }
        Some(difference)
    }

    fn add_value(&mut self, scalar: ScalarType, byte: u64, expected: &[u8], actual: Option<&[u8]>) {
        self.compared += 1;
        let Some(actual) = actual else {
            self.absent += 1;
            return;
        };
        if actual == expected {
            self.same_bits += 1;
            return;
        }
        let distance = ScalarValue::distance([expected, actual], scalar);
        let Some(distance) = distance else {
            self.without_distance += 1;
            return;
        };
        if self.largest.as_ref().is_none_or(|known| known.distance.as_f64() < distance.as_f64()) {
            let in_words = |bytes: &[u8]| scalars_in_words(bytes, scalar).concat();
            let (expected, actual) = (in_words(expected), in_words(actual));
            self.largest = Some(ValueDifference { distance, byte, expected, actual });
        }
    }

    fn in_words(&self) -> String {
        if self.same_bits == self.compared {
            return match self.compared {
                1 => "the value has the expected bits".to_owned(),
                count => format!("all {count} values have the expected bits"),
            };
        }
        let mut parts =
            vec![format!("{} of {} values have the expected bits", self.same_bits, self.compared)];
        if let Some(ValueDifference { distance, byte, expected, actual }) = &self.largest {
            let distance = match distance {
                ScalarValue::Integer(distance) => distance.to_string(),
                ScalarValue::Float(distance) => float_in_words(*distance),
            };
            parts.push(format!(
                "the largest difference is {distance}, at byte {byte} (expected {expected}, actual {actual})"
            ));
        }
        if self.without_distance > 0 {
            parts.push(format!(
                "{} with a distance that is no finite number",
                self.without_distance
            ));
        }
        if self.absent > 0 {
            parts.push(format!("{} beyond the end of the output", self.absent));
        }
        parts.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base64(bytes: &[u8]) -> String {
        base64::engine::general_purpose::STANDARD.encode(bytes)
    }

    fn told(scalar: &str, offset: u64, expected: &[u8], actual: &[u8]) -> String {
        let expectation = serde_json::json!({
            "buffer": "b", "tolerance": {},
            "contents": {"values": [{"offset": offset, "scalar": scalar, "bytes": base64(expected)}]},
        });
        let expectation: StoredExpectation = serde_json::from_value(expectation).unwrap();
        difference_in_words(&expectation, &OutputBytes::Bytes(base64(actual))).unwrap()
    }

    fn bytes_of(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn the_largest_difference_is_told_with_its_place() {
        let expected = bytes_of(&[1.0, 2.0, 3.0, f32::NAN]);
        assert_eq!(told("float", 0, &expected, &expected), "all 4 values have the expected bits");
        let actual = bytes_of(&[1.5, 2.0, 5.0, 0.0]);
        assert_eq!(
            told("float", 0, &expected, &actual),
            "1 of 4 values have the expected bits; the largest difference is 2, at byte 8 (expected 3, actual 5); \
             1 with a distance that is no finite number"
        );
        assert_eq!(
            told("float", 4, &expected[..8], &actual[..8]),
            "0 of 2 values have the expected bits; the largest difference is 1, at byte 4 (expected 1, actual 2); \
             1 beyond the end of the output"
        );
    }

    #[test]
    fn integers_differ_exactly() {
        let (low, high) = (i64::MIN.to_le_bytes(), i64::MAX.to_le_bytes());
        assert_eq!(
            told("int64", 0, &low, &high),
            "0 of 1 values have the expected bits; the largest difference is 18446744073709551615, at byte 0 \
             (expected -9223372036854775808, actual 9223372036854775807)"
        );
        assert!(told("uint", 0, &[0, 0, 0, 0], &[255; 4]).contains("difference is 4294967295,"));
    }

    #[test]
    fn what_is_not_computed_has_a_reason() {
        let expectation = |more: serde_json::Value| {
            let mut json = serde_json::json!({
                "buffer": "b", "tolerance": {},
                "contents": {"values": [{"offset": 0, "scalar": "uint", "bytes": "AAAAAA=="}]},
            });
            json.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            serde_json::from_value::<StoredExpectation>(json).unwrap()
        };
        let bytes = OutputBytes::Bytes("AAAAAA==".into());
        let hash = OutputBytes::Hash { sha256: "sha256:0".into(), bytes: 4 };
        let broken = OutputBytes::Bytes("?".into());
        let none = serde_json::json!({});
        for (more, output) in [
            (serde_json::json!({"record": 4}), &bytes),
            (serde_json::json!({"format": "rgba8"}), &bytes),
            (none.clone(), &hash),
            (none, &broken),
        ] {
            let words = difference_in_words(&expectation(more), output).unwrap();
            assert!(words.starts_with("not computed: "), "{words}");
        }
    }
}
