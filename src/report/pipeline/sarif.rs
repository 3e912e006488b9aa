//! SARIF 2.1.0: what counts, what is accepted and what is to be known, each at its place.
//!
//! Promises: a result is an unsuppressed `error` where and only where it counts against the
//! campaign; what is justified or accepted is there and suppressed; the fingerprint of a result
//! stays when lines are inserted above it, and no two results have the same.

use super::notices::{Notice, NoticePlace, Weight, fingerprints, notices, rules};
use crate::{Format, Presentation, ReportError};
use serde_json::{Value, json};
use vkcert_model::canonical::canonical_lines;
use vkcert_model::evidence::Evidence;

/// `sarif`
pub(crate) struct Sarif;

/// What paths are relative to: the folder of the project.
const PROJECT_BASE: &str = "%SRCROOT%";

impl Format for Sarif {
    fn render(
        &self,
        evidence: &Evidence,
        presentation: &Presentation,
    ) -> Result<Vec<u8>, ReportError> {
        let project = &evidence.campaign.project;
        let notices = notices(evidence, presentation);
        let rules = rules(&notices);
        let rule_index = |notice: &Notice| {
            rules.binary_search_by(|rule| rule.id.cmp(&notice.rule.id)).unwrap_or_default()
        };
        let results: Vec<Value> = notices
            .iter()
            .zip(fingerprints(&notices))
            .map(|(notice, fingerprint)| result(notice, rule_index(notice), &fingerprint))
            .collect();
        let descriptors = rules
            .iter()
            .map(|rule| json!({ "id": rule.id, "shortDescription": { "text": rule.description } }));
        let base_words = "The folder of the project, which holds vkcert.toml.";
        let run = json!({
            "tool": { "driver": {
                "name": project.tool,
                "version": project.tool_version,
                "rules": descriptors.collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": { PROJECT_BASE: { "description": { "text": base_words } } },
            "invocations": [{
                "executionSuccessful": true,
                "exitCode": evidence.campaign.conclusion.exit_code,
            }],
            "properties": {
                "project": project.name,
                "level": project.level.to_string(),
                "evidence": evidence.root()?,
                "standing": presentation.standing.stamp(),
            },
            "results": results,
        });
        let document = json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [run],
        });
        Ok(canonical_lines(&document)?.into_bytes())
    }
}

fn result(notice: &Notice, rule_index: usize, fingerprint: &str) -> Value {
    let level = match notice.weight {
        Weight::Counts => "error",
        Weight::Doubts | Weight::Accepted(_) => "warning",
        Weight::Told => "note",
    };
    let mut result = json!({
        "ruleId": notice.rule.id,
        "ruleIndex": rule_index,
        "level": level,
        "message": { "text": notice.message },
        "locations": [location(&notice.place, notice.function.as_deref())],
        "partialFingerprints": { "vkcert/v1": fingerprint },
        "properties": { "about": notice.about },
    });
    if let Some(place) = &notice.other_place {
        let mut other = location(place, None);
        other["message"] = json!({ "text": "the other access" });
        result["relatedLocations"] = json!([other]);
    }
    if let Weight::Accepted(text) = &notice.weight {
        result["suppressions"] =
            json!([{ "kind": "external", "status": "accepted", "justification": text }]);
    }
    result
}

fn location(place: &NoticePlace, function: Option<&str>) -> Value {
    let mut physical = json!({
        "artifactLocation": { "uri": uri_path(&place.file), "uriBaseId": PROJECT_BASE },
    });
    if let Some(line) = place.line {
        physical["region"] = match place.column {
            Some(column) => json!({ "startLine": line, "startColumn": column }),
            None => json!({ "startLine": line }),
        };
    }
    match function {
        Some(name) => json!({
            "physicalLocation": physical,
            "logicalLocations": [{ "name": name, "kind": "function" }],
        }),
        None => json!({ "physicalLocation": physical }),
    }
}

/// A path as a relative reference of RFC 3986: all but unreserved characters and `/` by their bytes.
fn uri_path(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::uri_path;

    #[test]
    fn a_path_is_a_relative_reference() {
        assert_eq!(uri_path("glsl/a b%:ä.comp"), "glsl/a%20b%25%3A%C3%A4.comp");
    }
}
