//! Tokens of GLSL text with their origin: where they are spelled and through which macro expansions
//! they came.
//!
//! Promises: a token's `span` is always the place in the original file where its text was written;
//! the chain of frames behind `origin` leads from there to the place where the text takes effect.
//! [`ExpansionFrames::locate_tokens`] turns a run of tokens into one span and the expansions around
//! it.

use std::collections::BTreeMap;
use std::sync::Arc;
use vkcert_model::place::{FileIndex, Span};
use vkcert_model::structure::Expansion;

/// Lexical class of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Identifier,
    Number,
    /// With its quotes.
    String,
    Punctuator,
    NewLine,
    /// `##` in a macro's replacement list.
    Paste,
    /// A character that no GLSL token starts with.
    Stray,
}

/// Index into [`ExpansionFrames`]; `FrameId::FILE` is plain file text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FrameId(pub u32);

impl FrameId {
    pub(crate) const FILE: FrameId = FrameId(0);
}

/// One token.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub text: Arc<str>,
    /// Where the text is written.
    pub span: Span,
    /// 1-based physical line on which the compiler sees the token: for macro text, the line of the
    /// use.
    pub line: u32,
    /// File of `line`.
    pub line_file: FileIndex,
    /// White space or a comment stands before it.
    pub spaced: bool,
    pub origin: FrameId,
    /// A macro name met inside its own expansion: never expanded again.
    pub frozen: bool,
}

impl Token {
    pub(crate) fn is(&self, text: &str) -> bool {
        &*self.text == text
    }

    pub(crate) fn is_identifier(&self) -> bool {
        self.kind == TokenKind::Identifier
    }
}

/// What a frame stands for.
#[derive(Debug, Clone)]
pub(crate) enum FrameKind {
    File,
    /// The replacement list of a macro, used at `site`.
    Body {
        macro_name: Arc<str>,
        site: Span,
    },
    /// Text of a macro's use that replaces the parameter written at `parameter` in the replacement
    /// list.
    Argument {
        parameter: Span,
    },
}

#[derive(Debug, Clone)]
struct ExpansionFrame {
    parent: FrameId,
    depth: u32,
    kind: FrameKind,
}

/// All frames of a translation unit.
#[derive(Debug, Clone)]
pub(crate) struct ExpansionFrames(Vec<ExpansionFrame>);

impl Default for ExpansionFrames {
    fn default() -> Self {
        Self(vec![ExpansionFrame { parent: FrameId::FILE, depth: 0, kind: FrameKind::File }])
    }
}

/// Where text that a macro stands for is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MacroText {
    /// Where it is written.
    Definition,
    /// Where the macro is used, if all that it stands for is meant.
    Use,
}

/// A place in the original text and the macro expansions that lead to it, outermost first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LocatedTokens {
    pub span: Span,
    pub expansion: Vec<Expansion>,
}

impl ExpansionFrames {
    pub(crate) fn push(&mut self, parent: FrameId, kind: FrameKind) -> FrameId {
        let depth = self.0[parent.0 as usize].depth + 1;
        self.0.push(ExpansionFrame { parent, depth, kind });
        FrameId(self.0.len() as u32 - 1)
    }

    fn frame_row(&self, id: FrameId) -> &ExpansionFrame {
        &self.0[id.0 as usize]
    }

    /// The frame `from` moved from the context `old` into the context `new`.
    pub(crate) fn rebase_frame(
        &mut self,
        moved_frame: FrameId,
        old_context: FrameId,
        new_context: FrameId,
        moved: &mut BTreeMap<FrameId, FrameId>,
    ) -> FrameId {
        let mut old_frames = Vec::new();
        let mut frame = moved_frame;
        let mut new_parent = new_context;
        while frame != old_context && frame != FrameId::FILE {
            if let Some(known_frame) = moved.get(&frame) {
                new_parent = *known_frame;
                break;
            }
            old_frames.push(frame);
            frame = self.frame_row(frame).parent;
        }
        for old_frame in old_frames.into_iter().rev() {
            let kind = self.frame_row(old_frame).kind.clone();
            new_parent = self.push(new_parent, kind);
            moved.insert(old_frame, new_parent);
        }
        new_parent
    }

    fn common_frame(&self, mut left_frame: FrameId, mut right_frame: FrameId) -> FrameId {
        while left_frame != right_frame {
            if self.frame_row(left_frame).depth >= self.frame_row(right_frame).depth {
                left_frame = self.frame_row(left_frame).parent;
            } else {
                right_frame = self.frame_row(right_frame).parent;
            }
        }
        left_frame
    }

    /// Where `token` stands in the text that `frame` (an ancestor of its origin) was written in.
    pub(crate) fn project_span(&self, token: &Token, frame: FrameId) -> Span {
        let mut span = token.span;
        let mut current_frame = token.origin;
        while current_frame != frame {
            let frame_row = self.frame_row(current_frame);
            span = match &frame_row.kind {
                FrameKind::File => break,
                FrameKind::Body { site, .. } => *site,
                FrameKind::Argument { parameter } => *parameter,
            };
            current_frame = frame_row.parent;
        }
        span
    }

    /// Where the tokens `first..=last` are written, or the uses of macros that they come from; none
    /// where they are a part of a use alone.
    pub(crate) fn span_of_whole_uses(
        &self,
        tokens: &[Token],
        (first, last): (usize, usize),
        macro_text: MacroText,
    ) -> Option<Span> {
        let run = &tokens[first..=last];
        let common_frame = run
            .iter()
            .map(|token| token.origin)
            .reduce(|left, right| self.common_frame(left, right))?;
        let before = first.checked_sub(1).and_then(|index| tokens.get(index));
        let behind = tokens.get(last + 1);
        let span_in = |frame: FrameId| {
            let written = |token: &Token| self.project_span(token, frame);
            let is_torn = |neighbour: Option<&Token>, end: &Token| {
                end.origin != frame
                    && neighbour.is_some_and(|neighbour| written(neighbour) == written(end))
            };
            let (first_token, last_token) = (run.first()?, run.last()?);
            if is_torn(before, first_token) || is_torn(behind, last_token) {
                return None;
            }
            let (start, end) = (written(first_token), written(last_token));
            let is_in_order = start.file == end.file && start.start <= end.end;
            is_in_order.then_some(Span { end: end.end, ..start })
        };
        match macro_text {
            MacroText::Definition => span_in(common_frame),
            MacroText::Use => {
                let mut frames = vec![common_frame];
                while let Some(frame) = frames.last().filter(|frame| **frame != FrameId::FILE) {
                    frames.push(self.frame_row(*frame).parent);
                }
                frames.into_iter().rev().find_map(span_in)
            }
        }
    }

    /// The expansions that a frame lies in, outermost first.
    pub(crate) fn expansions_around(&self, frame: FrameId) -> Vec<Expansion> {
        let mut outer_expansions = Vec::new();
        let mut current_frame = frame;
        while current_frame != FrameId::FILE {
            let frame_row = self.frame_row(current_frame);
            if let FrameKind::Body { macro_name, site } = &frame_row.kind {
                outer_expansions
                    .push(Expansion { macro_name: macro_name.to_string(), site: *site });
            }
            current_frame = frame_row.parent;
        }
        outer_expansions.reverse();
        outer_expansions
    }

    /// The smallest span, in the text that all `tokens` have in common, that covers them. `None`
    /// without tokens. Where the tokens come from several files, the span covers those in the file
    /// of the first.
    pub(crate) fn locate_tokens(&self, tokens: &[Token]) -> Option<LocatedTokens> {
        let first_token = tokens.first()?;
        let mut common_frame = first_token.origin;
        for token in tokens {
            if token.origin != common_frame {
                common_frame = self.common_frame(common_frame, token.origin);
            }
        }
        let mut span = self.project_span(first_token, common_frame);
        for token in tokens {
            let token_span = if token.origin == common_frame {
                token.span
            } else {
                self.project_span(token, common_frame)
            };
            if token_span.file == span.file {
                span.start = span.start.min(token_span.start);
                span.end = span.end.max(token_span.end);
            }
        }
        Some(LocatedTokens { span, expansion: self.expansions_around(common_frame) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(frames_origin: FrameId, start: u32, end: u32) -> Token {
        Token {
            kind: TokenKind::Identifier,
            text: "x".into(),
            span: Span { file: FileIndex(0), start, end },
            line: 1,
            line_file: FileIndex(0),
            spaced: false,
            origin: frames_origin,
            frozen: false,
        }
    }

    fn span(start: u32, end: u32) -> Span {
        Span { file: FileIndex(0), start, end }
    }

    #[test]
    fn tokens_of_one_argument_are_located_where_the_argument_is_written() {
        let mut frames = ExpansionFrames::default();
        let body = frames
            .push(FrameId::FILE, FrameKind::Body { macro_name: "M".into(), site: span(50, 60) });
        let argument = frames.push(body, FrameKind::Argument { parameter: span(10, 11) });
        let within = frames
            .locate_tokens(&[token(argument, 52, 53), token(argument, 55, 57)])
            .expect("tokens");
        assert_eq!((within.span, within.expansion.len()), (span(52, 57), 1));
        let mixed =
            frames.locate_tokens(&[token(body, 8, 9), token(argument, 52, 53)]).expect("tokens");
        assert_eq!(mixed.span, span(8, 11), "body and parameter, in the replacement list");
        let outside = frames
            .locate_tokens(&[token(FrameId::FILE, 40, 41), token(argument, 52, 53)])
            .expect("tokens");
        assert_eq!(
            (outside.span, outside.expansion.len()),
            (span(40, 60), 0),
            "the whole use, in the file"
        );
    }

    #[test]
    fn rebased_frames_keep_their_inner_expansions() {
        let mut frames = ExpansionFrames::default();
        let inner = frames
            .push(FrameId::FILE, FrameKind::Body { macro_name: "IN".into(), site: span(52, 54) });
        let body = frames
            .push(FrameId::FILE, FrameKind::Body { macro_name: "OUT".into(), site: span(50, 60) });
        let argument = frames.push(body, FrameKind::Argument { parameter: span(1, 2) });
        let moved = frames.rebase_frame(inner, FrameId::FILE, argument, &mut BTreeMap::new());
        let names: Vec<_> = frames
            .expansions_around(moved)
            .into_iter()
            .map(|expansion| expansion.macro_name)
            .collect();
        assert_eq!(names, ["OUT", "IN"]);
    }
}
