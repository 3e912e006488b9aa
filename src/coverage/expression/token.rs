//! Tokens of an expression, and which brackets belong together.

use std::ops::Range;
use vkcert_model::diagnostic::Diagnostic;

/// The name that diagnostics give to the command-line argument.
pub const ARGUMENT: &str = "EXPR";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// Identifier, keyword or number.
    Word,
    Open,
    Close,
    And,
    Or,
    Xor,
    Not,
    /// `++` and `--`: stand before or after an operand.
    Step,
    /// `+`, `-`, `~`: may stand before an operand.
    Sign,
    Dot,
    /// Any other operator between two operands.
    Binary,
    /// `=`, `+=` and the like.
    Assign,
    Comma,
    /// `?` and `:`.
    Choice,
}

#[derive(Debug, Clone)]
pub(super) struct Token {
    pub kind: TokenKind,
    pub span: Range<usize>,
}

impl Token {
    /// Its part of the expression's text.
    pub(super) fn text_in<'t>(&self, text: &'t str) -> &'t str {
        &text[self.span.start..self.span.end]
    }
}

/// Operators, longest first, so that the first match is the right one.
const OPERATORS: &[(&str, TokenKind)] = &[
    ("<<=", TokenKind::Assign),
    (">>=", TokenKind::Assign),
    ("&&", TokenKind::And),
    ("||", TokenKind::Or),
    ("^^", TokenKind::Xor),
    ("==", TokenKind::Binary),
    ("!=", TokenKind::Binary),
    ("<=", TokenKind::Binary),
    (">=", TokenKind::Binary),
    ("<<", TokenKind::Binary),
    (">>", TokenKind::Binary),
    ("++", TokenKind::Step),
    ("--", TokenKind::Step),
    ("+=", TokenKind::Assign),
    ("-=", TokenKind::Assign),
    ("*=", TokenKind::Assign),
    ("/=", TokenKind::Assign),
    ("%=", TokenKind::Assign),
    ("&=", TokenKind::Assign),
    ("|=", TokenKind::Assign),
    ("^=", TokenKind::Assign),
    ("=", TokenKind::Assign),
    ("!", TokenKind::Not),
    ("+", TokenKind::Sign),
    ("-", TokenKind::Sign),
    ("~", TokenKind::Sign),
    ("<", TokenKind::Binary),
    (">", TokenKind::Binary),
    ("*", TokenKind::Binary),
    ("/", TokenKind::Binary),
    ("%", TokenKind::Binary),
    ("&", TokenKind::Binary),
    ("|", TokenKind::Binary),
    ("^", TokenKind::Binary),
    (".", TokenKind::Dot),
    (",", TokenKind::Comma),
    ("?", TokenKind::Choice),
    (":", TokenKind::Choice),
    ("(", TokenKind::Open),
    ("[", TokenKind::Open),
    (")", TokenKind::Close),
    ("]", TokenKind::Close),
];

pub(super) fn expression_tokens(text: &str) -> Result<Vec<Token>, Diagnostic> {
    let mut tokens = Vec::new();
    let mut offset = 0;
    while let Some(character) = text[offset..].chars().next() {
        if character.is_whitespace() {
            offset += character.len_utf8();
            continue;
        }
        let (kind, length) = token_at(&text[offset..]).ok_or_else(|| {
            let character_end = offset + character.len_utf8();
            syntax_error(
                text,
                offset..character_end,
                format!("`{character}` has no meaning in an expression"),
            )
        })?;
        tokens.push(Token { kind, span: offset..offset + length });
        offset += length;
    }
    Ok(tokens)
}

/// Kind and length in bytes of the token that `rest` starts with.
fn token_at(remaining_text: &str) -> Option<(TokenKind, usize)> {
    let text_bytes = remaining_text.as_bytes();
    let is_number = text_bytes[0].is_ascii_digit()
        || (text_bytes[0] == b'.' && text_bytes.get(1).is_some_and(u8::is_ascii_digit));
    if is_number {
        return Some((TokenKind::Word, number_length(text_bytes)));
    }
    if is_word_byte(&text_bytes[0]) {
        return Some((
            TokenKind::Word,
            text_bytes.iter().take_while(|byte| is_word_byte(byte)).count(),
        ));
    }
    OPERATORS
        .iter()
        .find(|(operator, _)| remaining_text.starts_with(operator))
        .map(|(operator, kind)| (*kind, operator.len()))
}

fn is_word_byte(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_'
}

/// A number goes on over letters, digits and points, and over a sign behind the `e` of a decimal
/// exponent.
fn number_length(bytes: &[u8]) -> usize {
    let is_hexadecimal =
        bytes.len() > 1 && bytes[0] == b'0' && bytes[1].eq_ignore_ascii_case(&b'x');
    let mut length = 1;
    while let Some(byte) = bytes.get(length) {
        let behind_exponent = !is_hexadecimal && bytes[length - 1].eq_ignore_ascii_case(&b'e');
        let is_exponent_sign = behind_exponent && matches!(byte, b'+' | b'-');
        if !(byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_') || is_exponent_sign) {
            break;
        }
        length += 1;
    }
    length
}

/// For every opening bracket the index of its closing one (for other tokens: their own index).
pub(super) fn matching_brackets(text: &str, tokens: &[Token]) -> Result<Vec<usize>, Diagnostic> {
    let mut closing_brackets: Vec<usize> = (0..tokens.len()).collect();
    let mut open_brackets: Vec<usize> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Open => open_brackets.push(index),
            TokenKind::Close => {
                let bracket_text = token.text_in(text);
                let opening_index = open_brackets.pop().filter(|&start| {
                    let opening_text = tokens[start].text_in(text);
                    (opening_text == "(") == (bracket_text == ")")
                });
                let start = opening_index.ok_or_else(|| {
                    error_at_token(
                        text,
                        token,
                        format!("`{bracket_text}` closes nothing that is open here"),
                    )
                })?;
                closing_brackets[start] = index;
            }
            TokenKind::Word
            | TokenKind::And
            | TokenKind::Or
            | TokenKind::Xor
            | TokenKind::Not
            | TokenKind::Step
            | TokenKind::Sign
            | TokenKind::Dot
            | TokenKind::Binary
            | TokenKind::Assign
            | TokenKind::Comma
            | TokenKind::Choice => {}
        }
    }
    match open_brackets.pop() {
        None => Ok(closing_brackets),
        Some(start) => {
            let opening = &tokens[start];
            let message = format!("`{}` is never closed", opening.text_in(text));
            Err(error_at_token(text, opening, message))
        }
    }
}

pub(super) fn syntax_error(text: &str, span: Range<usize>, message: String) -> Diagnostic {
    Diagnostic::new("expression-syntax", message).at_span(ARGUMENT, text, span)
}

/// A syntax error of one token.
pub(super) fn error_at_token(text: &str, token: &Token, message: String) -> Diagnostic {
    syntax_error(text, token.span.start..token.span.end, message)
}
