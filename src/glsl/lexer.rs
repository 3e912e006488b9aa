//! Cuts GLSL text into tokens (GLSL 4.60, chapter 3).
//!
//! Promises: every byte of the text is in exactly one token, in white space, in a comment or in a
//! line continuation; spans are byte ranges of the original text. Line continuations (section 3.1)
//! are removed inside tokens and comments.
//! Does not cover: directives and macros (`preprocessor`).

use super::token::{FrameId, Token, TokenKind};
use std::sync::Arc;
use vkcert_model::place::{FileIndex, Span};

/// Punctuators of more than one character, longest first.
const LONG_PUNCTUATORS: [&str; 22] = [
    "<<=", ">>=", "<<", ">>", "++", "--", "<=", ">=", "==", "!=", "&&", "||", "^^", "+=", "-=",
    "*=", "/=", "%=", "&=", "^=", "|=", "::",
];

/// Reads tokens from one text.
#[derive(Debug, Clone)]
pub(crate) struct Lexer {
    text: Arc<str>,
    file: FileIndex,
    position: usize,
    line: u32,
}

impl Lexer {
    pub(crate) fn new(text: Arc<str>, file: FileIndex) -> Self {
        let position = if text.starts_with('\u{feff}') { 3 } else { 0 };
        Self { text, file, position, line: 1 }
    }

    pub(crate) fn file(&self) -> FileIndex {
        self.file
    }

    /// 1-based line of the next character.
    pub(crate) fn line(&self) -> u32 {
        self.line
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// Length of a line ending at `at`: 0 where none stands there.
    fn line_ending(&self, at: usize) -> usize {
        match (self.byte(at), self.byte(at + 1)) {
            (b'\r', b'\n') => 2,
            (b'\n' | b'\r', _) => 1,
            _ => 0,
        }
    }

    /// Steps over line continuations.
    fn continue_line(&mut self) {
        while self.byte(self.position) == b'\\' {
            let ending = self.line_ending(self.position + 1);
            if ending == 0 {
                // At the end of the text it continues nothing, and is no token either.
                self.position += usize::from(self.position + 1 == self.text.len());
                return;
            }
            self.position += 1 + ending;
            self.line += 1;
        }
    }

    fn peek(&mut self) -> u8 {
        self.continue_line();
        self.byte(self.position)
    }

    /// Steps over blanks, comments and line ends; says whether the next token is the first of its
    /// line.
    pub(crate) fn skip_to_token(&mut self, mut first: bool) -> bool {
        loop {
            let byte = self.peek();
            let ending = self.line_ending(self.position);
            if ending > 0 {
                self.position += ending;
                self.line += 1;
                first = true;
            } else if matches!(byte, b' ' | b'\t' | 0x0b | 0x0c) {
                self.position += 1;
            } else if !self.skip_comment() {
                return first;
            }
        }
    }

    /// Steps over `text` where it stands next, byte by byte.
    pub(crate) fn accept_bytes(&mut self, text: &[u8]) -> bool {
        let found = self.text.as_bytes()[self.position.min(self.text.len())..].starts_with(text);
        if found {
            self.position += text.len();
            self.line += text.iter().filter(|byte| **byte == b'\n').count() as u32;
        }
        found
    }

    /// Steps to the end of the line.
    pub(crate) fn skip_line(&mut self) {
        while !self.at_end() && self.line_ending(self.position) == 0 {
            self.position += 1;
        }
    }

    /// The byte `ahead` characters behind the next one, line continuations left out.
    fn peek_ahead(&self, ahead: usize) -> u8 {
        let mut probe = Self { text: self.text.clone(), ..*self };
        for _ in 0..ahead {
            probe.continue_line();
            probe.position += 1;
        }
        probe.peek()
    }

    fn at_end(&self) -> bool {
        self.position >= self.text.len()
    }

    fn skip_comment(&mut self) -> bool {
        if self.peek() != b'/' {
            return false;
        }
        match self.peek_ahead(1) {
            b'/' => {
                while !self.at_end() && self.line_ending(self.position) == 0 {
                    self.position += 1;
                    self.continue_line();
                }
                true
            }
            b'*' => {
                self.position += 1;
                self.continue_line();
                self.position += 1;
                self.skip_block_comment();
                true
            }
            _ => false,
        }
    }

    fn skip_block_comment(&mut self) {
        while !self.at_end() {
            if self.byte(self.position) == b'*' && self.peek_ahead(1) == b'/' {
                self.position += 1;
                self.continue_line();
                self.position += 1;
                return;
            }
            let ending = self.line_ending(self.position);
            if ending > 0 {
                self.line += 1;
            }
            self.position += ending.max(1);
        }
    }

    /// The next token; `None` at the end of the text. Line ends are tokens too.
    pub(crate) fn next(&mut self) -> Option<Token> {
        let mut spaced = false;
        loop {
            let byte = self.peek();
            if self.at_end() {
                return None;
            }
            if matches!(byte, b' ' | b'\t' | 0x0b | 0x0c) {
                self.position += 1;
            } else if !self.skip_comment() {
                break;
            }
            spaced = true;
        }
        let (start, line) = (self.position, self.line);
        let (kind, text) = self.lexeme();
        let span = Span { file: self.file, start: start as u32, end: self.position as u32 };
        let token = Token {
            kind,
            text: text.into(),
            span,
            line,
            line_file: self.file,
            spaced,
            origin: FrameId::FILE,
            frozen: false,
        };
        Some(token)
    }

    fn lexeme(&mut self) -> (TokenKind, String) {
        let ending = self.line_ending(self.position);
        if ending > 0 {
            self.position += ending;
            self.line += 1;
            return (TokenKind::NewLine, "\n".to_owned());
        }
        let byte = self.peek();
        if byte.is_ascii_alphabetic() || byte == b'_' {
            return (
                TokenKind::Identifier,
                self.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
            );
        }
        if byte.is_ascii_digit() || (byte == b'.' && self.peek_ahead(1).is_ascii_digit()) {
            return (TokenKind::Number, self.number());
        }
        if byte == b'"' {
            return (TokenKind::String, self.string());
        }
        self.punctuator()
    }

    fn take_while(&mut self, accept: impl Fn(u8) -> bool) -> String {
        let mut text = String::new();
        while accept(self.peek()) && !self.at_end() {
            text.push(self.byte(self.position) as char);
            self.position += 1;
        }
        text
    }

    fn take(&mut self, text: &mut String, count: usize) {
        for _ in 0..count {
            text.push(self.peek() as char);
            self.position += 1;
        }
    }

    /// Integer and floating literals with their suffixes (GLSL 4.60, 4.1.3 and 4.1.4; 8, 16 and
    /// 64-bit extensions).
    fn number(&mut self) -> String {
        if self.peek() == b'0' && matches!(self.peek_ahead(1), b'x' | b'X') {
            let mut text = String::new();
            self.take(&mut text, 2);
            text += &self.take_while(|byte| byte.is_ascii_hexdigit());
            self.integer_suffix(&mut text);
            return text;
        }
        let mut text = self.take_while(|byte| byte.is_ascii_digit());
        let mut floating = false;
        if self.peek() == b'.' {
            floating = true;
            self.take(&mut text, 1);
            text += &self.take_while(|byte| byte.is_ascii_digit());
        }
        if matches!(self.peek(), b'e' | b'E') {
            let sign = usize::from(matches!(self.peek_ahead(1), b'+' | b'-'));
            if self.peek_ahead(1 + sign).is_ascii_digit() {
                floating = true;
                self.take(&mut text, 1 + sign);
                text += &self.take_while(|byte| byte.is_ascii_digit());
            }
        }
        match (self.peek(), self.peek_ahead(1)) {
            (b'f' | b'F', _) if floating || !text.contains('.') => self.take(&mut text, 1),
            (b'l', b'f') | (b'L', b'F') | (b'h', b'f') | (b'H', b'F') => self.take(&mut text, 2),
            _ if !floating => self.integer_suffix(&mut text),
            _ => {}
        }
        text
    }

    fn integer_suffix(&mut self, text: &mut String) {
        if matches!(self.peek(), b'u' | b'U') {
            self.take(text, 1);
        }
        if matches!(self.peek(), b'l' | b'L' | b's' | b'S') {
            self.take(text, 1);
        }
    }

    fn string(&mut self) -> String {
        let start = self.position;
        self.position += 1;
        while !self.at_end() && self.line_ending(self.position) == 0 {
            let byte = self.byte(self.position);
            self.position += 1;
            match byte {
                b'"' => break,
                b'\\' if self.line_ending(self.position) == 0 && !self.at_end() => {
                    self.position += 1
                }
                _ => {}
            }
        }
        while !self.text.is_char_boundary(self.position) {
            self.position += 1;
        }
        self.text[start..self.position].to_owned()
    }

    fn punctuator(&mut self) -> (TokenKind, String) {
        let ahead = [self.peek(), self.peek_ahead(1), self.peek_ahead(2)];
        for long in LONG_PUNCTUATORS {
            if ahead.starts_with(long.as_bytes()) {
                let mut text = String::new();
                self.take(&mut text, long.len());
                return (TokenKind::Punctuator, text);
            }
        }
        let character = self.text[self.position..].chars().next().unwrap_or(' ');
        self.position += character.len_utf8();
        let kind = if "()[]{}<>.,;:?=!~+-*/%&|^#".contains(character) {
            TokenKind::Punctuator
        } else {
            TokenKind::Stray
        };
        (kind, character.to_string())
    }
}

/// All tokens of a text without its line ends, for comparing streams.
pub(crate) fn tokens_of(text: &str) -> Vec<Token> {
    let mut lexer = Lexer::new(text.into(), FileIndex(0));
    std::iter::from_fn(|| lexer.next()).filter(|token| token.kind != TokenKind::NewLine).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        tokens_of(source).iter().map(|token| token.text.to_string()).collect()
    }

    #[test]
    fn every_literal_suffix_stays_with_its_number() {
        let source = "1 1u 0x1Fu 07 1L 2ul 3s 4US 1.0 1. .5 1e5 1.e-3f 2.0lf 1.5HF 1f";
        assert_eq!(texts(source).join(" "), source);
    }

    #[test]
    fn continuations_and_comments_vanish_but_spans_stay() {
        let source = "a /* é\n */ b\\\nc // x \\\n still comment\n d";
        assert_eq!(texts(source), ["a", "bc", "d"]);
        let token = &tokens_of(source)[2];
        assert_eq!(&source[token.span.start as usize..token.span.end as usize], "d");
        assert_eq!(token.line, 5);
    }

    #[test]
    fn operators_are_cut_longest_first() {
        assert_eq!(
            texts("a<<=b^^c&&!d+++e"),
            ["a", "<<=", "b", "^^", "c", "&&", "!", "d", "++", "+", "e"]
        );
    }
}
