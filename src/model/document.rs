//! The identity of the documents that a project's reports are: numbers, people, history, references.
//!
//! Knows: what the project file states under `[document]`, for all documents and for one of them.
//! Promises: reports print it as it stands; each document has a number, its own or one made of that
//! of all.
//! Does not cover: whether any of it is true; the tool derives none of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `[document]`: what the project says of the documents that its reports are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DocumentIdentity {
    /// Number of the document.
    pub number: String,
    /// Its revision.
    pub revision: String,
    /// Date of the revision, as `2026-01-31`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Number of the part whose software is verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// Name of the configuration item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration_item: Option<String>,
    /// The baseline of the project that is verified: a commit or a name in configuration management.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// Who wrote the document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<String>,
    /// Who reviewed it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reviewers: Vec<String>,
    /// Who is to sign it.
    #[serde(rename = "approval", default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<DocumentApproval>,
    /// What each revision changed, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<DocumentRevision>,
    /// Documents that are referred to.
    #[serde(rename = "reference", default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<DocumentReference>,
    /// Paper of the PDF reports; none: A4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper: Option<Paper>,
    /// Acronyms with what they stand for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub acronyms: BTreeMap<String, String>,
    /// The software verification cases and procedures, where they have an identity of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub svcp: Option<PartIdentity>,
    /// The software verification results, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub svr: Option<PartIdentity>,
    /// The structural coverage analysis, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<PartIdentity>,
    /// The trace data, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<PartIdentity>,
    /// The data and control coupling analysis, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coupling: Option<PartIdentity>,
    /// The tool identification and limits, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<PartIdentity>,
}

/// `[document.svcp]` and the like: what one of the documents is known by in place of what
/// `[document]` says. People, references and acronyms are those of all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartIdentity {
    /// Number of this document, which no other one has.
    pub number: String,
    /// Its revision.
    pub revision: String,
    /// Its title; none: that of its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Date of the revision, as `2026-01-31`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// What each revision changed, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<DocumentRevision>,
}

/// The documents that hold a part of what a report holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DocumentPart {
    /// Software verification cases and procedures.
    Svcp,
    /// Software verification results.
    Svr,
    /// Structural coverage analysis.
    Coverage,
    /// Trace data.
    Trace,
    /// Data and control coupling analysis.
    Coupling,
    /// Tool identification and limits.
    Tool,
}

impl DocumentPart {
    /// Each of them.
    pub const ALL: [DocumentPart; 6] = [
        DocumentPart::Svcp,
        DocumentPart::Svr,
        DocumentPart::Coverage,
        DocumentPart::Trace,
        DocumentPart::Coupling,
        DocumentPart::Tool,
    ];

    /// The name on command lines and in the project file.
    pub fn word(self) -> &'static str {
        match self {
            DocumentPart::Svcp => "svcp",
            DocumentPart::Svr => "svr",
            DocumentPart::Coverage => "coverage",
            DocumentPart::Trace => "trace",
            DocumentPart::Coupling => "coupling",
            DocumentPart::Tool => "tool",
        }
    }
}

impl DocumentIdentity {
    /// What the project states of one document; none: it is known by what is stated of all.
    pub fn own_identity(&self, part: DocumentPart) -> Option<&PartIdentity> {
        match part {
            DocumentPart::Svcp => self.svcp.as_ref(),
            DocumentPart::Svr => self.svr.as_ref(),
            DocumentPart::Coverage => self.coverage.as_ref(),
            DocumentPart::Trace => self.trace.as_ref(),
            DocumentPart::Coupling => self.coupling.as_ref(),
            DocumentPart::Tool => self.tool.as_ref(),
        }
    }

    /// The number of one document: its own, else that of all with the document's name behind it,
    /// `D-1-SVCP`.
    pub fn number_of(&self, part: DocumentPart) -> String {
        match self.own_identity(part) {
            Some(own) => own.number.clone(),
            None => format!("{}-{}", self.number, part.word().to_uppercase()),
        }
    }

    /// The revision of one document: its own, else that of all.
    pub fn revision_of(&self, part: DocumentPart) -> &str {
        self.own_identity(part).map_or(&self.revision, |own| &own.revision)
    }
}

/// Sizes of paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Paper {
    /// 210 mm × 297 mm (ISO 216).
    #[default]
    A4,
    /// 8.5 in × 11 in (ANSI/ASME Y14.1).
    Letter,
}

/// A line of the approval block; the signature itself is given outside of this tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DocumentApproval {
    /// In which role the person signs.
    pub role: String,
    /// Name of the person.
    pub name: String,
}

/// A revision of the document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DocumentRevision {
    /// The revision.
    pub revision: String,
    /// Its date, as `2026-01-31`.
    pub date: String,
    /// Who made it.
    pub author: String,
    /// What it changed.
    pub change: String,
}

/// A document that is referred to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DocumentReference {
    /// How it is called in texts, unique.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<String>,
    /// Its revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
}

/// Whether a text is a date of the Gregorian calendar, as `2026-01-31` (ISO 8601).
pub fn is_calendar_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let number_of = |digits: &str, length: usize| -> Option<u32> {
        let are_digits = digits.len() == length && digits.bytes().all(|byte| byte.is_ascii_digit());
        are_digits.then(|| digits.parse().ok())?
    };
    let (Some(year), Some(month), Some(day)) =
        (number_of(year, 4), number_of(month, 2), number_of(day, 2))
    else {
        return false;
    };
    let is_leap_year = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap_year => 29,
        2 => 28,
        _ => 0,
    };
    (1..=days).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::{DocumentIdentity, DocumentPart, is_calendar_date};
    use serde_json::json;
    use std::collections::BTreeSet;

    #[test]
    fn each_document_has_a_number_and_a_place_of_its_own() {
        let mut stated = json!({ "number": "D-1", "revision": "A" });
        let of_all: DocumentIdentity = serde_json::from_value(stated.clone()).unwrap();
        assert_eq!(serde_json::to_value(&of_all).unwrap(), stated);
        let numbers = DocumentPart::ALL.map(|part| of_all.number_of(part));
        assert_eq!(BTreeSet::from(numbers).len(), DocumentPart::ALL.len());
        assert_eq!(of_all.number_of(DocumentPart::Svcp), "D-1-SVCP");
        assert_eq!(of_all.revision_of(DocumentPart::Svcp), "A");
        for part in DocumentPart::ALL {
            let word = part.word();
            stated[word] = json!({ "number": format!("D-{word}"), "revision": "B" });
            let identity: DocumentIdentity = serde_json::from_value(stated.clone()).unwrap();
            let known_by = (identity.number_of(part), identity.revision_of(part));
            assert_eq!(known_by, (format!("D-{word}"), "B"));
        }
        stated["report"] = json!({ "number": "D-9", "revision": "B" });
        let refused = serde_json::from_value::<DocumentIdentity>(stated).unwrap_err();
        assert!(refused.to_string().contains("unknown field `report`"), "{refused}");
    }

    #[test]
    fn a_date_is_one_of_the_calendar() {
        for date in ["2026-01-31", "2024-02-29", "2000-02-29", "0001-12-01"] {
            assert!(is_calendar_date(date), "{date}");
        }
        for text in [
            "",
            "2026-1-31",
            "2026-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-04-31",
            "2026-01-00",
            "31-01-2026",
            "2026-01-31 ",
            "2026-01",
            "2026-01-31-1",
            "+026-01-31",
        ] {
            assert!(!is_calendar_date(text), "{text}");
        }
    }
}
