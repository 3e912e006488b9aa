//! Where two JSON documents differ.
//!
//! Promises: every place that differs is named by its path; texts in messages are cut.

use serde_json::Value;
use std::collections::BTreeSet;

/// Longest text of a value in a message, in characters.
const SHOWN: usize = 120;

/// Counts the values compared and names those that differ.
#[derive(Debug, Default)]
pub struct Differences {
    pub compared: u64,
    pub found: Vec<String>,
}

impl Differences {
    /// Compares what is stored under `path` with what was derived.
    pub fn compare(&mut self, path: &str, stored: &Value, derived: &Value) {
        match (stored, derived) {
            (Value::Object(ours), Value::Object(theirs)) => {
                let keys: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
                for key in keys {
                    self.member(&format!("{path}/{key}"), ours.get(key), theirs.get(key));
                }
            }
            (Value::Array(ours), Value::Array(theirs)) => {
                for index in 0..ours.len().max(theirs.len()) {
                    self.member(&format!("{path}/{index}"), ours.get(index), theirs.get(index));
                }
            }
            (_, _) => {
                self.compared += 1;
                if stored != derived {
                    self.found.push(format!(
                        "{path}: stored {}, derived {}",
                        shown(stored),
                        shown(derived)
                    ));
                }
            }
        }
    }

    fn member(&mut self, path: &str, stored: Option<&Value>, derived: Option<&Value>) {
        match (stored, derived) {
            (Some(stored), Some(derived)) => self.compare(path, stored, derived),
            (Some(stored), None) => {
                self.one_sided(format!("{path}: stored {}, and nothing is derived", shown(stored)))
            }
            (None, Some(derived)) => {
                self.one_sided(format!("{path}: not stored, derived {}", shown(derived)))
            }
            (None, None) => {}
        }
    }

    fn one_sided(&mut self, message: String) {
        self.compared += 1;
        self.found.push(message);
    }
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
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
        assert_eq!(differences.found, expected);
        assert_eq!(differences.compared, 6);
    }
}
