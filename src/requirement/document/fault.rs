//! What is wrong with the text of a file.
//!
//! Knows: the kinds of faults that reading a TOML or JSON file finds, by the names that diagnostics
//! give them.

use std::sync::Arc;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::index_range::IndexRange;

/// Something wrong at a place of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentFault {
    /// Of which kind it is.
    pub kind: FaultKind,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What to do about it; none where nothing is known.
    pub hint: Option<String>,
    /// Bytes that it is about; none: the whole text.
    pub span: Option<IndexRange>,
}

/// What kind of fault a text has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultKind {
    /// The text is not TOML.
    TomlSyntax,
    /// The text is not JSON.
    JsonSyntax,
    /// A key is written twice.
    DuplicateKey,
    /// A key that has no meaning there.
    UnknownKey {
        /// The known key that was likely meant.
        likely_key: Option<String>,
    },
    /// A key that must be there is not.
    MissingKey {
        /// Which one.
        key: String,
    },
    /// A value of another type than the key takes.
    WrongType,
    /// A value of the right type that the key does not take.
    BadValue,
}

impl FaultKind {
    /// The stable kebab-case name that diagnostics have.
    pub fn name(&self) -> &'static str {
        match self {
            FaultKind::TomlSyntax => "toml-syntax",
            FaultKind::JsonSyntax => "json-syntax",
            FaultKind::DuplicateKey => "duplicate-key",
            FaultKind::UnknownKey { .. } => "unknown-key",
            FaultKind::MissingKey { .. } => "missing-key",
            FaultKind::WrongType => "wrong-type",
            FaultKind::BadValue => "bad-value",
        }
    }
}

impl DocumentFault {
    /// A fault of the whole text, without hint.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, span: None }
    }

    /// The same, about these bytes.
    pub fn at(mut self, span: impl Into<IndexRange>) -> Self {
        self.span = Some(span.into());
        self
    }

    /// The same with this hint, or without one.
    pub fn hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }

    /// Keeps the innermost place: the first that was set.
    pub(super) fn or_at_span(mut self, span: IndexRange) -> Self {
        self.span.get_or_insert(span);
        self
    }

    /// Whether this key is missing because it is misspelt: another fault says that it was likely
    /// meant.
    pub(super) fn is_misspelt_in(&self, other_faults: &[DocumentFault]) -> bool {
        let FaultKind::MissingKey { key } = &self.kind else { return false };
        other_faults.iter().any(|other_fault| match &other_fault.kind {
            FaultKind::UnknownKey { likely_key } => likely_key.as_ref() == Some(key),
            _ => false,
        })
    }

    /// The fault as a diagnostic of a file with this text.
    pub(crate) fn into_diagnostic(self, file: &str, document_text: &Arc<str>) -> Diagnostic {
        let mut diagnostic = Diagnostic::new(self.kind.name(), self.message);
        diagnostic.hint = self.hint;
        match self.span {
            Some(span) => {
                diagnostic.at_span(file, Arc::clone(document_text), first_line(document_text, span))
            }
            None => diagnostic.in_file(file),
        }
    }
}

/// A span over several lines shows its first line alone, so that a message about a long object
/// stays short.
pub(crate) fn first_line(text: &str, span: IndexRange) -> IndexRange {
    let line_start = span.start.min(text.len());
    let span_end = span.end.clamp(line_start, text.len());
    let shown_end = match text.get(line_start..span_end).and_then(|shown| shown.find('\n')) {
        Some(newline) if newline > 0 => {
            line_start + text[line_start..line_start + newline].trim_end().len().max(1)
        }
        Some(_) | None => span_end,
    };
    IndexRange { start: line_start, end: shown_end }
}
