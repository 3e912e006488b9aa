//! Tokens of an expression, and which brackets belong together.

use std::ops::Range;
use vkcert_model::diagnostic::Diagnostic;

/// The name that diagnostics give to the command-line argument.
pub const ARGUMENT: &str = "EXPR";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
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
    pub kind: Kind,
    pub span: Range<usize>,
}

/// Operators, longest first, so that the first match is the right one.
const OPERATORS: &[(&str, Kind)] = &[
    ("<<=", Kind::Assign),
    (">>=", Kind::Assign),
    ("&&", Kind::And),
    ("||", Kind::Or),
    ("^^", Kind::Xor),
    ("==", Kind::Binary),
    ("!=", Kind::Binary),
    ("<=", Kind::Binary),
    (">=", Kind::Binary),
    ("<<", Kind::Binary),
    (">>", Kind::Binary),
    ("++", Kind::Step),
    ("--", Kind::Step),
    ("+=", Kind::Assign),
    ("-=", Kind::Assign),
    ("*=", Kind::Assign),
    ("/=", Kind::Assign),
    ("%=", Kind::Assign),
    ("&=", Kind::Assign),
    ("|=", Kind::Assign),
    ("^=", Kind::Assign),
    ("=", Kind::Assign),
    ("!", Kind::Not),
    ("+", Kind::Sign),
    ("-", Kind::Sign),
    ("~", Kind::Sign),
    ("<", Kind::Binary),
    (">", Kind::Binary),
    ("*", Kind::Binary),
    ("/", Kind::Binary),
    ("%", Kind::Binary),
    ("&", Kind::Binary),
    ("|", Kind::Binary),
    ("^", Kind::Binary),
    (".", Kind::Dot),
    (",", Kind::Comma),
    ("?", Kind::Choice),
    (":", Kind::Choice),
    ("(", Kind::Open),
    ("[", Kind::Open),
    (")", Kind::Close),
    ("]", Kind::Close),
];

pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Diagnostic> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(character) = text[at..].chars().next() {
        if character.is_whitespace() {
            at += character.len_utf8();
            continue;
        }
        let (kind, length) = token_at(&text[at..]).ok_or_else(|| {
            let end = at + character.len_utf8();
            syntax(text, at..end, format!("`{character}` has no meaning in an expression"))
        })?;
        tokens.push(Token { kind, span: at..at + length });
        at += length;
    }
    Ok(tokens)
}

/// Kind and length in bytes of the token that `rest` starts with.
fn token_at(rest: &str) -> Option<(Kind, usize)> {
    let bytes = rest.as_bytes();
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let number = bytes[0].is_ascii_digit()
        || (bytes[0] == b'.' && bytes.get(1).is_some_and(u8::is_ascii_digit));
    if number {
        return Some((Kind::Word, number_length(bytes)));
    }
    if word(&bytes[0]) {
        return Some((Kind::Word, bytes.iter().take_while(|byte| word(byte)).count()));
    }
    OPERATORS
        .iter()
        .find(|(operator, _)| rest.starts_with(operator))
        .map(|(operator, kind)| (*kind, operator.len()))
}

/// A number goes on over letters, digits and points, and over a sign behind the `e` of a decimal
/// exponent.
fn number_length(bytes: &[u8]) -> usize {
    let hexadecimal = bytes.len() > 1 && bytes[0] == b'0' && bytes[1].eq_ignore_ascii_case(&b'x');
    let mut length = 1;
    while let Some(byte) = bytes.get(length) {
        let exponent = !hexadecimal && bytes[length - 1].eq_ignore_ascii_case(&b'e');
        let sign = exponent && matches!(byte, b'+' | b'-');
        if !(byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_') || sign) {
            break;
        }
        length += 1;
    }
    length
}

/// For every opening bracket the index of its closing one (for other tokens: their own index).
pub(super) fn matching(text: &str, tokens: &[Token]) -> Result<Vec<usize>, Diagnostic> {
    let mut closing: Vec<usize> = (0..tokens.len()).collect();
    let mut open: Vec<usize> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Open => open.push(index),
            Kind::Close => {
                let here = &text[token.span.clone()];
                let partner = open.pop().filter(|&start| {
                    let opened = &text[tokens[start].span.clone()];
                    (opened == "(") == (here == ")")
                });
                let start = partner.ok_or_else(|| {
                    syntax(
                        text,
                        token.span.clone(),
                        format!("`{here}` closes nothing that is open here"),
                    )
                })?;
                closing[start] = index;
            }
            Kind::Word
            | Kind::And
            | Kind::Or
            | Kind::Xor
            | Kind::Not
            | Kind::Step
            | Kind::Sign
            | Kind::Dot
            | Kind::Binary
            | Kind::Assign
            | Kind::Comma
            | Kind::Choice => {}
        }
    }
    match open.pop() {
        None => Ok(closing),
        Some(start) => {
            let span = tokens[start].span.clone();
            let message = format!("`{}` is never closed", &text[span.clone()]);
            Err(syntax(text, span, message))
        }
    }
}

pub(super) fn syntax(text: &str, span: Range<usize>, message: String) -> Diagnostic {
    Diagnostic::new("expression-syntax", message).at_span(ARGUMENT, text, span)
}
