//! What a mutant changes, in tokens and in the text of the files.
//!
//! Promises: the two say the same: tokens of one edit are written behind each other in one file.
//! Does not cover: which edits make sense (`operators`).

use super::SiteForm;
use crate::preprocessor::TranslationUnit;
use crate::syntax::TokenIndex;
use crate::token::{FrameId, MacroText};
use vkcert_model::mutation::MutationOperator;
use vkcert_model::place::Span;

/// A change of a run of tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TokenEdit {
    /// Another text in their place.
    Replace { first: TokenIndex, last: TokenIndex, text: String },
    /// Text before and behind them.
    Wrap { first: TokenIndex, last: TokenIndex, before: String, behind: String },
}

impl TokenEdit {
    pub(super) fn first_token(&self) -> TokenIndex {
        match self {
            Self::Replace { first, .. } | Self::Wrap { first, .. } => *first,
        }
    }

    /// Another text in the place of one token.
    pub(super) fn token(token: TokenIndex, text: impl Into<String>) -> Self {
        Self::replace((token, token), text)
    }

    pub(super) fn replace(
        (first, last): (TokenIndex, TokenIndex),
        text: impl Into<String>,
    ) -> Self {
        Self::Replace { first, last, text: text.into() }
    }

    pub(super) fn wrap(
        (first, last): (TokenIndex, TokenIndex),
        before: impl Into<String>,
        behind: impl Into<String>,
    ) -> Self {
        Self::Wrap { first, last, before: before.into(), behind: behind.into() }
    }
}

/// A mutant of a part of the text.
#[derive(Debug, Clone)]
pub(super) struct Alternative {
    pub operator: MutationOperator,
    pub edits: Vec<TokenEdit>,
}

/// The mutants of one place.
#[derive(Default)]
pub(super) struct Alternatives(pub Vec<Alternative>);

impl Alternatives {
    pub(super) fn add(&mut self, operator: MutationOperator, edits: Vec<TokenEdit>) {
        self.0.push(Alternative { operator, edits });
    }

    pub(super) fn replace(&mut self, operator: MutationOperator, token: TokenIndex, text: &str) {
        self.add(operator, vec![TokenEdit::token(token, text)]);
    }

    pub(super) fn wrap(
        &mut self,
        operator: MutationOperator,
        range: (TokenIndex, TokenIndex),
        before: &str,
        behind: &str,
    ) {
        self.add(operator, vec![TokenEdit::wrap(range, before, behind)]);
    }
}

/// A mutant of a statement, or of it and the one behind it.
pub(super) struct FoundStatement {
    pub form: SiteForm,
    pub range: (TokenIndex, TokenIndex),
    pub alternative: Alternative,
}

/// The text of the tokens `first..=last` with edits.
pub(super) fn edited_text(
    unit: &TranslationUnit,
    (first, last): (TokenIndex, TokenIndex),
    edits: &[TokenEdit],
) -> String {
    let mut text = String::new();
    let mut token = first;
    while token <= last {
        let mut behind_replaced = None;
        for edit in edits {
            match edit {
                TokenEdit::Wrap { first, before, .. } if *first == token => text.push_str(before),
                TokenEdit::Replace { first, last, text: new } if *first == token => {
                    behind_replaced = Some((*last, new));
                }
                TokenEdit::Wrap { .. } | TokenEdit::Replace { .. } => {}
            }
        }
        let end = match behind_replaced {
            Some((end, new)) => {
                text.push(' ');
                text.push_str(new);
                end
            }
            None => {
                text.push(' ');
                text.push_str(&unit.tokens[token].text);
                token
            }
        };
        for edit in edits {
            if let TokenEdit::Wrap { last, behind, .. } = edit
                && *last == end
            {
                text.push_str(behind);
            }
        }
        token = end + 1;
    }
    text
}

/// The text of tokens: as it is written, or with single spaces between them where a macro stands for
/// some.
pub(super) fn tokens_text(
    unit: &TranslationUnit,
    (first, last): (TokenIndex, TokenIndex),
) -> String {
    let is_written = unit.tokens[first..=last].iter().all(|token| token.origin == FrameId::FILE);
    let span = unit.frames.locate_tokens(&unit.tokens[first..=last]).map(|located| located.span);
    if let Some(span) = span.filter(|_| is_written) {
        let text = unit.files.get(span.file.0 as usize).map(|file| file.text.as_str());
        let written = text.and_then(|text| text.get(span.start as usize..span.end as usize));
        if let Some(written) = written.filter(|written| !written.contains(['\n', '#'])) {
            return written.to_owned();
        }
    }
    edited_text(unit, (first, last), &[]).trim_start().to_owned()
}

/// Another text in the place of a run of bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceEdit {
    /// The bytes; empty: the text is inserted.
    pub span: Span,
    /// What stands in their place.
    pub text: String,
}

/// The same edits in the files: what is put around all that a macro stands for is put around its use,
/// and what replaces a part of it is replaced for all uses. None where the tokens of one of them are not written behind each
/// other: some are in a macro and others are not.
pub(super) fn source_edits(unit: &TranslationUnit, edits: &[TokenEdit]) -> Option<Vec<SourceEdit>> {
    let replaces_in_macro = edits.iter().any(|edit| match edit {
        TokenEdit::Replace { first, .. } => unit.tokens[*first].origin != FrameId::FILE,
        TokenEdit::Wrap { .. } => false,
    });
    let wrapped_in = if replaces_in_macro { MacroText::Definition } else { MacroText::Use };
    let mut source_edits = Vec::new();
    for edit in edits {
        match edit {
            TokenEdit::Replace { first, last, text } => {
                let range = (*first, *last);
                let definition = MacroText::Definition;
                let span = unit.frames.span_of_whole_uses(&unit.tokens, range, definition)?;
                source_edits.push(SourceEdit { span, text: text.clone() });
            }
            TokenEdit::Wrap { first, last, before, behind } => {
                let range = (*first, *last);
                let span = unit.frames.span_of_whole_uses(&unit.tokens, range, wrapped_in)?;
                let (start, end) =
                    (Span { end: span.start, ..span }, Span { start: span.end, ..span });
                let inserted = [(start, before), (end, behind)];
                let inserted = inserted.into_iter().filter(|(_, text)| !text.is_empty());
                source_edits
                    .extend(inserted.map(|(span, text)| SourceEdit { span, text: text.clone() }));
            }
        }
    }
    source_edits.sort();
    // A name in a macro stands for itself in all uses of the macro.
    source_edits.dedup_by(|left, right| left == right && left.span.start < left.span.end);
    Some(source_edits)
}
