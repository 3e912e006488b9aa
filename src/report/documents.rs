//! The documents that one set of evidence makes: all in one, or what each of a certification's
//! documents needs.
//!
//! Promises: what a chapter tells stands in at least one of the single documents; each of them opens
//! with the conclusion of the whole run, so that none looks better alone than all do together, but
//! for cases and procedures, which hold nothing that a run left and say so.
//! Does not cover: what the chapters say (`chapter`), how they are set (`html`, `pdf`).

use super::ReportError;
use super::chapter::Chapter;
use std::fmt;
use std::str::FromStr;
use vkcert_model::document::DocumentPart;
use vkcert_model::project::Standard;

/// Names of the documents, as `--document` takes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum DocumentName {
    /// Every chapter.
    #[default]
    All,
    /// Software verification cases and procedures.
    Svcp,
    /// Software verification results.
    Svr,
    /// Structural coverage analysis.
    Coverage,
    /// Trace matrices.
    Trace,
    /// Data and control coupling analysis.
    Coupling,
    /// Tool, settings, limits and manifest.
    Tool,
}

/// A row of [`DOCUMENTS`].
pub struct DocumentRow {
    /// The name.
    pub name: DocumentName,
    /// As typed on the command line.
    pub word: &'static str,
    /// On page 1 and at the head of every page.
    pub title: &'static str,
    /// The section of DO-178C that asks for what it holds; none where no section does.
    pub asked_for_by: Option<&'static str>,
    /// The same of ECSS-E-ST-40C, in its verification of code.
    pub asked_for_by_ecss: Option<&'static str>,
    /// The same of ISO 26262-6:2018, in its tables of structural coverage.
    pub asked_for_by_iso: Option<&'static str>,
    /// One line for help texts and documents.
    pub description: &'static str,
    /// What it holds, in order.
    pub(crate) chapters: &'static [Chapter],
}

/// Every document. Help texts, `vkcert list documents` and page 1 iterate this table.
pub const DOCUMENTS: &[DocumentRow] = &[
    DocumentRow {
        name: DocumentName::All,
        word: "all",
        title: "Software verification report",
        asked_for_by: None,
        asked_for_by_ecss: None,
        asked_for_by_iso: None,
        description: "every chapter in one document",
        chapters: &[
            Chapter::Control,
            Chapter::Identification,
            Chapter::Conclusion,
            Chapter::Objectives,
            Chapter::Summary,
            Chapter::Uncovered,
            Chapter::Findings,
            Chapter::Requirements,
            Chapter::Tests,
            Chapter::Kernels,
            Chapter::Justifications,
            Chapter::Coupling,
            Chapter::Mutation,
            Chapter::Agreement,
            Chapter::Limits,
            Chapter::Manifest,
            Chapter::Trend,
        ],
    },
    DocumentRow {
        name: DocumentName::Svcp,
        word: "svcp",
        title: "Software verification cases and procedures",
        asked_for_by: Some("11.13"),
        asked_for_by_ecss: None,
        asked_for_by_iso: None,
        description: "test cases and procedures: purpose, environment, steps and pass criteria, no results",
        chapters: &[Chapter::Control, Chapter::TestEnvironment, Chapter::TestCases],
    },
    DocumentRow {
        name: DocumentName::Svr,
        word: "svr",
        title: "Software verification results",
        asked_for_by: Some("11.14"),
        asked_for_by_ecss: None,
        asked_for_by_iso: None,
        description: "conclusion, objectives, findings and the results of every test",
        chapters: &[
            Chapter::Control,
            Chapter::Identification,
            Chapter::Conclusion,
            Chapter::Objectives,
            Chapter::Uncovered,
            Chapter::Findings,
            Chapter::TestResults,
            Chapter::Mutation,
            Chapter::Agreement,
            Chapter::Trend,
        ],
    },
    DocumentRow {
        name: DocumentName::Coverage,
        word: "coverage",
        title: "Structural coverage analysis",
        asked_for_by: Some("6.4.4.2"),
        asked_for_by_ecss: Some("5.8.3.5.b"),
        asked_for_by_iso: Some("tables 9 and 12"),
        description: "shares, marked source, decisions and justifications of every kernel",
        chapters: &[
            Chapter::Control,
            Chapter::Identification,
            Chapter::Summary,
            Chapter::Uncovered,
            Chapter::Kernels,
            Chapter::Justifications,
            Chapter::Trend,
        ],
    },
    DocumentRow {
        name: DocumentName::Trace,
        word: "trace",
        title: "Trace data",
        asked_for_by: Some("11.21"),
        asked_for_by_ecss: Some("5.8.3.5.a"),
        asked_for_by_iso: None,
        description: "trace matrices of requirements, tests and code",
        chapters: &[Chapter::Control, Chapter::Requirements],
    },
    DocumentRow {
        name: DocumentName::Coupling,
        word: "coupling",
        title: "Data and control coupling analysis",
        asked_for_by: Some("6.4.4.d"),
        asked_for_by_ecss: None,
        asked_for_by_iso: None,
        description: "coupling of host and kernels; which couplings tests exercise is not measured",
        chapters: &[Chapter::Control, Chapter::Coupling],
    },
    DocumentRow {
        name: DocumentName::Tool,
        word: "tool",
        title: "Tool identification and limits",
        asked_for_by: None,
        asked_for_by_ecss: None,
        asked_for_by_iso: None,
        description: "tool, compiler, devices, settings, limits and the manifest of all files",
        chapters: &[Chapter::Control, Chapter::Identification, Chapter::Limits, Chapter::Manifest],
    },
];

impl DocumentRow {
    /// Whether it has the chapter on stored runs, where there is a history.
    pub fn has_trend(&self) -> bool {
        self.chapters.contains(&Chapter::Trend)
    }

    /// The section of a standard that asks for what it holds; none where none that is known here
    /// does.
    pub fn section(&self, standard: Standard) -> Option<&'static str> {
        match standard {
            Standard::Do178c => self.asked_for_by,
            Standard::EcssE40 => self.asked_for_by_ecss,
            Standard::Iso26262 => self.asked_for_by_iso,
        }
    }
}

impl DocumentName {
    /// Which part of the whole report it is; none: the whole.
    pub(crate) fn part(self) -> Option<DocumentPart> {
        match self {
            DocumentName::All => None,
            DocumentName::Svcp => Some(DocumentPart::Svcp),
            DocumentName::Svr => Some(DocumentPart::Svr),
            DocumentName::Coverage => Some(DocumentPart::Coverage),
            DocumentName::Trace => Some(DocumentPart::Trace),
            DocumentName::Coupling => Some(DocumentPart::Coupling),
            DocumentName::Tool => Some(DocumentPart::Tool),
        }
    }

    /// The document's row in [`DOCUMENTS`].
    pub fn row(self) -> &'static DocumentRow {
        DOCUMENTS.iter().find(|row| row.name == self).expect("DOCUMENTS has a row for every name")
    }
}

impl fmt::Display for DocumentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.row().word)
    }
}

impl FromStr for DocumentName {
    type Err = ReportError;
    fn from_str(word: &str) -> Result<Self, ReportError> {
        let row = DOCUMENTS.iter().find(|row| row.word == word);
        row.map(|row| row.name).ok_or_else(|| ReportError::UnknownDocument {
            word: word.to_owned(),
            known: DOCUMENTS.iter().map(|document| document.word).collect::<Vec<_>>().join(", "),
        })
    }
}
