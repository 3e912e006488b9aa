//! The canonical form of content, and its hash: what stored files look like and what links are reviewed against.
//!
//! Promises: equal values give equal bytes. Object keys are in ascending byte order at every level, numbers and strings are
//! as serde_json writes them. A content hash is `sha256:` and 64 lower-case hexadecimal digits.
//! Does not cover: what goes into a hash (the callers say it).

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Canonical JSON without white space: what hashes are taken over.
pub fn canonical_json(value: &impl Serialize) -> Result<String, serde_json::Error> {
    serde_json::to_string(&sorted(value)?)
}

/// Canonical JSON as files hold it: two spaces of indentation, one newline at the end.
pub fn canonical_lines(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(&sorted(value)?)?;
    text.push('\n');
    Ok(text)
}

/// Not left to serde_json: whether its maps keep their keys sorted depends on a feature that any crate may set.
fn sorted(value: &impl Serialize) -> Result<Value, serde_json::Error> {
    let mut tree = serde_json::to_value(value)?;
    tree.sort_all_objects();
    Ok(tree)
}

/// SHA-256 as 64 hexadecimal digits, as manifests have it.
pub fn sha256_digits(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `sha256:` and the digits.
pub fn content_hash(bytes: &[u8]) -> String {
    format!("sha256:{}", sha256_digits(bytes))
}

/// Whether a text has the form of a content hash.
pub fn is_content_hash(text: &str) -> bool {
    let digits = text.strip_prefix("sha256:").unwrap_or("");
    digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_are_sorted_at_every_level() {
        #[derive(Serialize)]
        struct Pair {
            b: u32,
            a: std::collections::BTreeMap<&'static str, u32>,
        }
        let pair = Pair { b: 1, a: [("z", 1), ("y", 2)].into() };
        assert_eq!(
            canonical_lines(&pair).unwrap(),
            "{\n  \"a\": {\n    \"y\": 2,\n    \"z\": 1\n  },\n  \"b\": 1\n}\n"
        );
        let value = json!({"b": [{"z": 1, "a": "\n"}], "a": null});
        assert_eq!(canonical_json(&value).unwrap(), r#"{"a":null,"b":[{"a":"\n","z":1}]}"#);
    }

    #[test]
    fn the_digest_is_that_of_the_standard() {
        // FIPS 180-4, the example message "abc".
        let expected = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(content_hash(b"abc"), expected);
        assert!(is_content_hash(expected));
        assert!(!is_content_hash(&expected.to_uppercase()));
        assert!(!is_content_hash(&expected[..70]));
    }
}
