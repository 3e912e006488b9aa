//! The evidence as one JSON document, and the canonical form of JSON that all stored files have.

use super::{Format, Presentation, ReportError};
use crate::model::evidence::Evidence;
use serde::Serialize;

pub(super) struct Json;

impl Format for Json {
    fn render(&self, evidence: &Evidence, _: &Presentation) -> Result<Vec<u8>, ReportError> {
        Ok(canonical_json(evidence)?.into_bytes())
    }
}

/// Canonical JSON: object keys sorted by code point at every level, two spaces of indentation, one newline at the end.
/// Equal values give equal bytes.
pub fn canonical_json(value: &impl Serialize) -> Result<String, ReportError> {
    let mut tree = serde_json::to_value(value)?;
    // Not left to serde_json: whether its maps keep their keys sorted depends on a feature that any crate may set.
    tree.sort_all_objects();
    let mut text = serde_json::to_string_pretty(&tree)?;
    text.push('\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_sorted_at_every_level() {
        #[derive(Serialize)]
        struct Pair {
            b: u32,
            a: std::collections::BTreeMap<&'static str, u32>,
        }
        let text = canonical_json(&Pair { b: 1, a: [("z", 1), ("y", 2)].into() }).unwrap();
        assert_eq!(text, "{\n  \"a\": {\n    \"y\": 2,\n    \"z\": 1\n  },\n  \"b\": 1\n}\n");
    }
}
