//! The places where two JSON documents differ.
//!
//! Promises: every place that differs is named by its path; long values are shortened in messages.

use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// Longest text of a value in a message, in characters.
const MOST_VALUE_CHARACTERS: usize = 120;

/// Counts the values compared and names those that differ.
#[derive(Debug, Default)]
pub struct Differences {
    /// How many values were compared.
    pub compared: u64,
    /// One sentence for each value that differs.
    pub messages: Vec<String>,
}

impl Differences {
    /// Compares the value stored under `path` with the derived one.
    pub fn compare(&mut self, path: &str, stored: &Value, derived: &Value) {
        match (stored, derived) {
            (Value::Object(stored_members), Value::Object(derived_members)) => {
                let keys: BTreeSet<&String> =
                    stored_members.keys().chain(derived_members.keys()).collect();
                for key in keys {
                    self.compare_member(
                        &format!("{path}/{key}"),
                        stored_members.get(key),
                        derived_members.get(key),
                    );
                }
            }
            (Value::Array(stored_members), Value::Array(derived_members)) => {
                for index in 0..stored_members.len().max(derived_members.len()) {
                    self.compare_member(
                        &format!("{path}/{index}"),
                        stored_members.get(index),
                        derived_members.get(index),
                    );
                }
            }
            (_, _) => {
                self.compared += 1;
                if stored != derived {
                    self.messages.push(format!(
                        "{path}: stored {}, derived {}",
                        shortened_value(stored),
                        shortened_value(derived)
                    ));
                }
            }
        }
    }

    /// Compares the rows of an array, of which at most one on each side is a JSON value at a time.
    ///
    /// Errors: a row that has no JSON form.
    pub fn compare_rows<R: Serialize>(
        &mut self,
        path: &str,
        stored: &[R],
        derived: &[R],
    ) -> serde_json::Result<()> {
        for index in 0..stored.len().max(derived.len()) {
            let stored_row = stored.get(index).map(serde_json::to_value).transpose()?;
            let derived_row = derived.get(index).map(serde_json::to_value).transpose()?;
            self.compare_member(
                &format!("{path}/{index}"),
                stored_row.as_ref(),
                derived_row.as_ref(),
            );
        }
        Ok(())
    }

    fn compare_member(&mut self, path: &str, stored: Option<&Value>, derived: Option<&Value>) {
        match (stored, derived) {
            (Some(stored), Some(derived)) => self.compare(path, stored, derived),
            (Some(stored), None) => self.add_one_sided(format!(
                "{path}: stored {}, and nothing is derived",
                shortened_value(stored)
            )),
            (None, Some(derived)) => self
                .add_one_sided(format!("{path}: not stored, derived {}", shortened_value(derived))),
            (None, None) => {}
        }
    }

    fn add_one_sided(&mut self, message: String) {
        self.compared += 1;
        self.messages.push(message);
    }
}

fn shortened_value(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(MOST_VALUE_CHARACTERS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_place_that_differs_is_named() {
        let mut differences = Differences::default();
        let stored = json!({"a": [1, {"b": null}], "c": 2, "d": []});
        let derived = json!({"a": [1, {"b": false}, 3], "d": {}, "e": ""});
        differences.compare("f", &stored, &derived);
        let expected = [
            "f/a/1/b: stored null, derived false",
            "f/a/2: not stored, derived 3",
            "f/c: stored 2, and nothing is derived",
            "f/d: stored [], derived {}",
            "f/e: not stored, derived \"\"",
        ];
        assert_eq!(differences.messages, expected);
        assert_eq!(differences.compared, 6);
    }

    #[test]
    fn rows_differ_as_the_array_of_them_does() {
        let [stored, derived] = [json!([1, {"b": null}, 4]), json!([1, {"b": false}])];
        let [mut of_array, mut of_rows] = [Differences::default(), Differences::default()];
        of_array.compare("f", &stored, &derived);
        let rows = [&stored, &derived].map(|rows| rows.as_array().unwrap());
        of_rows.compare_rows("f", rows[0], rows[1]).unwrap();
        assert_eq!(of_rows.messages, of_array.messages);
        assert_eq!((of_rows.compared, of_rows.messages.len()), (of_array.compared, 2));
    }

    #[test]
    fn long_values_are_shortened() {
        let mut differences = Differences::default();
        let texts = [118, 119].map(|length| "é".repeat(length));
        differences.compare("f", &json!(texts[0]), &json!(texts[1]));
        let [whole, shortened] = [texts[0].as_str(), texts[1].as_str()];
        assert_eq!(
            differences.messages,
            [format!("f: stored \"{whole}\", derived \"{shortened}...")]
        );
    }
}
