//! One thing that is wrong with the command line or an input file: what, where, and what to do
//! about it.
//!
//! Every reader of files (GLSL, SPIR-V, TOML, JSON, evidence) reports through this type; `cli`
//! shows it with `miette` on a terminal and as `{"error": {...}}` with `--format json`. A
//! `Diagnostic` always means exit code 2.

use super::place::Position;
use std::ops::Range;
use std::sync::Arc;

/// A diagnostic about an input; its `Display` is the message alone.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct Diagnostic {
    /// A stable, kebab-case name: `glsl-syntax`, `toml-syntax`, `unknown-key`, `unknown-id`,
    /// `missing-file`, `size`, `bad-spirv`, `usage` ...
    pub kind: &'static str,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What to do about it; none where nothing is known.
    pub hint: Option<String>,
    /// Where in the input; none where it is about the whole of it.
    pub location: Option<Location>,
}

/// Where in which input a diagnostic applies.
#[derive(Debug, Clone)]
pub struct Location {
    /// Path as the user would name it.
    pub file: String,
    /// The text that `span` points into; absent for binary or unreadable files.
    pub text: Option<Arc<str>>,
    /// Byte range in `text`.
    pub span: Option<Range<usize>>,
    /// Line and column where no text is at hand (for example from the compiler's own message).
    pub position: Option<Position>,
    /// A few words shown under the span.
    pub label: Option<String>,
}

impl Diagnostic {
    /// A diagnostic without hint and location.
    pub fn new(kind: &'static str, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, location: None }
    }

    /// The same with a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Places the diagnostic in a file as a whole.
    pub fn in_file(mut self, file: impl Into<String>) -> Self {
        self.location = Some(Location {
            file: file.into(),
            text: None,
            span: None,
            position: None,
            label: None,
        });
        self
    }

    /// Places the diagnostic at a line (and column) of a file whose text is not at hand.
    pub fn at_position(mut self, file: impl Into<String>, position: Position) -> Self {
        self.location = Some(Location {
            file: file.into(),
            text: None,
            span: None,
            position: Some(position),
            label: None,
        });
        self
    }

    /// Places the diagnostic at a byte range of a text.
    pub fn at_span(
        self,
        file: impl Into<String>,
        source_text: impl Into<Arc<str>>,
        span: impl Into<Range<usize>>,
    ) -> Self {
        let (source_text, span) = (source_text.into(), span.into());
        let position = Position::of(&source_text, span.start);
        self.at_placed_span(file, source_text, span, position)
    }

    /// The same where line and column of the range's start are known: there may be many diagnostics of one long text.
    pub fn at_placed_span(
        mut self,
        file: impl Into<String>,
        source_text: Arc<str>,
        span: Range<usize>,
        position: Position,
    ) -> Self {
        let position = Some(position);
        self.location = Some(Location {
            file: file.into(),
            text: Some(source_text),
            span: Some(span),
            position,
            label: None,
        });
        self
    }

    /// The same with a label at its location; nothing changes without a location.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        if let Some(location) = &mut self.location {
            location.label = Some(label.into());
        }
        self
    }
}
