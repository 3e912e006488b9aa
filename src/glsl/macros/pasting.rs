//! The operator `##` (GLSL 4.60, 3.3), which joins tokens before anything is expanded.

use super::{InputSource, ScannedItem};
use crate::lexer::tokens_of;
use crate::preprocessor::{PreprocessError, Preprocessor};
use crate::token::{Token, TokenKind};

impl Preprocessor<'_> {
    fn paste_ahead(&self) -> bool {
        match self.inputs.last() {
            Some(InputSource::Macro(input)) => input.before_paste,
            Some(InputSource::Argument(input)) => {
                let next_token = input.tokens.get(input.position);
                next_token.is_some_and(|token| token.kind == TokenKind::Paste)
                    || (input.last_pastes && next_token.is_none())
            }
            Some(InputSource::File(_) | InputSource::Marker | InputSource::Again(_)) | None => {
                false
            }
        }
    }

    /// The lexer cuts `3A` into `3` and `A`; behind `##` they belong together.
    fn paste_continues(&self, result_kind: TokenKind) -> bool {
        let next_token = match self.inputs.last() {
            Some(InputSource::Macro(input)) => input.definition.body.get(input.position),
            Some(InputSource::Argument(input)) => input.tokens.get(input.position),
            Some(InputSource::File(_) | InputSource::Marker | InputSource::Again(_)) | None => None,
        };
        result_kind == TokenKind::Identifier
            && next_token.is_some_and(|token| !token.spaced && is_word(token))
    }

    /// Joins `token` with what follows behind `##`.
    pub(crate) fn paste_operands(&mut self, token: Token) -> Result<Token, PreprocessError> {
        let mut pasted_token = token;
        if pasted_token.kind == TokenKind::Paste {
            return Err(PreprocessError::at_span(
                "`##` stands where nothing can be joined",
                pasted_token.span,
            ));
        }
        while self.paste_ahead() {
            match self.scan_token() {
                ScannedItem::Token(operator) if operator.kind == TokenKind::Paste => {}
                ScannedItem::Token(_) | ScannedItem::Marker | ScannedItem::End => {
                    return Err(PreprocessError::at_span(
                        "`##` is expected here",
                        pasted_token.span,
                    ));
                }
            }
            loop {
                let ScannedItem::Token(right_operand) = self.scan_token() else {
                    return Err(PreprocessError::at_span(
                        "`##` has no right operand",
                        pasted_token.span,
                    ));
                };
                let joined_text = format!("{}{}", pasted_token.text, right_operand.text);
                let joined_tokens = tokens_of(&joined_text);
                let is_word = pasted_token.kind == TokenKind::Identifier;
                if !is_word && joined_tokens.len() != 1 {
                    return Err(PreprocessError::at_span(
                        "`##` makes no token here",
                        pasted_token.span,
                    ));
                }
                pasted_token.text = joined_text.into();
                pasted_token.frozen = false;
                if !self.paste_continues(pasted_token.kind) {
                    break;
                }
            }
        }
        Ok(pasted_token)
    }
}

fn is_word(token: &Token) -> bool {
    matches!(token.kind, TokenKind::Identifier | TokenKind::Number)
}
