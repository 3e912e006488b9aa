//! Content hashes: what a link was reviewed against.
//!
//! A content hash is `sha256:` and 64 lower-case hexadecimal digits: SHA-256 over canonical JSON, that is UTF-8 without
//! white space, keys in ascending byte order, numbers and strings as serde_json writes them. What is hashed:
//!
//! - a requirement: an object with `uid`, `level`, `title`, `statement`, `rationale`, `derived`, `safety_rationale` and
//!   `verification`, null where absent; neither its own links (`parents`, `implements`) nor its file;
//! - a test: all of its fields as the file has them, defaults of `kind`, `offset`, `set` and the like filled in, absent
//!   optional fields left out; the contents of files that it names are hashed in the manifest, not here.

use crate::model::procedure::Test;
use crate::model::requirement::{ParentLink, Requirement};
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// `sha256:...` of bytes.
pub fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digits}")
}

/// Whether a text has the form of a content hash.
pub fn is_hash(text: &str) -> bool {
    let digits = text.strip_prefix("sha256:").unwrap_or("");
    digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit))
}

/// Canonical JSON of a value.
pub fn canonical_json<T: Serialize>(value: &T) -> String {
    let value = serde_json::to_value(value).expect("the types of the model are representable as JSON");
    let mut text = String::new();
    write_canonical(&value, &mut text);
    text
}

fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => {
            let mut keys: Vec<&String> = members.keys().collect();
            keys.sort();
            text.push('{');
            for (index, key) in keys.into_iter().enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write_canonical(&members[key], text);
            }
            text.push('}');
        }
        Value::Array(values) => {
            text.push('[');
            for (index, value) in values.iter().enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                write_canonical(value, text);
            }
            text.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => text.push_str(&value.to_string()),
    }
}

/// Content hash of a requirement.
pub fn requirement_hash(requirement: &Requirement) -> String {
    let content = json!({
        "uid": requirement.uid,
        "level": requirement.level,
        "title": requirement.title,
        "statement": requirement.statement,
        "rationale": requirement.rationale,
        "derived": requirement.derived,
        "safety_rationale": requirement.safety_rationale,
        "verification": requirement.verification,
    });
    sha256(canonical_json(&content).as_bytes())
}

/// Content hash of a test.
pub fn test_hash(test: &Test) -> String {
    sha256(canonical_json(test).as_bytes())
}

/// Whether a parent has changed since the link to it was reviewed. A link without a hash was never reviewed against a
/// content and cannot go stale; reports show it as not pinned.
pub fn is_suspect(link: &ParentLink, parent: &Requirement) -> bool {
    link.hash.as_ref().is_some_and(|hash| *hash != requirement_hash(parent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_json_sorts_keys_at_every_depth() {
        let value = json!({"b": [{"z": 1, "a": "\n"}], "a": null});
        assert_eq!(canonical_json(&value), r#"{"a":null,"b":[{"a":"\n","z":1}]}"#);
    }

    #[test]
    fn the_digest_is_that_of_the_standard() {
        // FIPS 180-4, the example message "abc".
        let expected = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc"), expected);
        assert!(is_hash(expected));
        assert!(!is_hash(&expected.to_uppercase()));
        assert!(!is_hash(&expected[..70]));
    }
}
