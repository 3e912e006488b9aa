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

    fn byte_at(&self, byte_index: usize) -> u8 {
        self.text.as_bytes().get(byte_index).copied().unwrap_or(0)
    }

    /// Length of a line ending at `at`: 0 where none stands there.
    fn line_ending(&self, byte_index: usize) -> usize {
        match (self.byte_at(byte_index), self.byte_at(byte_index + 1)) {
            (b'\r', b'\n') => 2,
            (b'\n' | b'\r', _) => 1,
            _ => 0,
        }
    }

    /// Steps over line continuations.
    fn continue_line(&mut self) {
        while self.byte_at(self.position) == b'\\' {
            let ending_length = self.line_ending(self.position + 1);
            if ending_length == 0 {
                // At the end of the text it continues nothing, and is no token either.
                self.position += usize::from(self.position + 1 == self.text.len());
                return;
            }
            self.position += 1 + ending_length;
            self.line += 1;
        }
    }

    fn peek(&mut self) -> u8 {
        self.continue_line();
        self.byte_at(self.position)
    }

    /// Steps over blanks, comments and line ends; says whether the next token is the first of its
    /// line.
    pub(crate) fn skip_to_token(&mut self, mut is_line_start: bool) -> bool {
        loop {
            let byte = self.peek();
            let ending_length = self.line_ending(self.position);
            if ending_length > 0 {
                self.position += ending_length;
                self.line += 1;
                is_line_start = true;
            } else if matches!(byte, b' ' | b'\t' | 0x0b | 0x0c) {
                self.position += 1;
            } else if !self.skip_comment() {
                return is_line_start;
            }
        }
    }

    /// Steps over `text` where it stands next, byte by byte.
    pub(crate) fn accept_bytes(&mut self, expected_bytes: &[u8]) -> bool {
        let stands_next =
            self.text.as_bytes()[self.position.min(self.text.len())..].starts_with(expected_bytes);
        if stands_next {
            self.position += expected_bytes.len();
            self.line += expected_bytes.iter().filter(|byte| **byte == b'\n').count() as u32;
        }
        stands_next
    }

    /// Steps to the end of the line.
    pub(crate) fn skip_line(&mut self) {
        while !self.at_end() && self.line_ending(self.position) == 0 {
            self.position += 1;
        }
    }

    /// The byte `ahead` characters behind the next one, line continuations left out.
    fn peek_ahead(&self, characters_ahead: usize) -> u8 {
        let mut probe_lexer = Self { text: Arc::clone(&self.text), ..*self };
        for _ in 0..characters_ahead {
            probe_lexer.continue_line();
            probe_lexer.position += 1;
        }
        probe_lexer.peek()
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
            if self.byte_at(self.position) == b'*' && self.peek_ahead(1) == b'/' {
                self.position += 1;
                self.continue_line();
                self.position += 1;
                return;
            }
            let ending_length = self.line_ending(self.position);
            if ending_length > 0 {
                self.line += 1;
            }
            self.position += ending_length.max(1);
        }
    }

    /// The next token; `None` at the end of the text. Line ends are tokens too.
    pub(crate) fn next(&mut self) -> Option<Token> {
        let mut is_spaced = false;
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
            is_spaced = true;
        }
        let (token_start, token_line) = (self.position, self.line);
        let (kind, token_text) = self.read_lexeme();
        let span = Span { file: self.file, start: token_start as u32, end: self.position as u32 };
        let token = Token {
            kind,
            text: token_text.into(),
            span,
            line: token_line,
            line_file: self.file,
            spaced: is_spaced,
            origin: FrameId::FILE,
            frozen: false,
        };
        Some(token)
    }

    fn read_lexeme(&mut self) -> (TokenKind, String) {
        let ending_length = self.line_ending(self.position);
        if ending_length > 0 {
            self.position += ending_length;
            self.line += 1;
            return (TokenKind::NewLine, "\n".to_owned());
        }
        let first_byte = self.peek();
        if first_byte.is_ascii_alphabetic() || first_byte == b'_' {
            return (
                TokenKind::Identifier,
                self.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
            );
        }
        if first_byte.is_ascii_digit()
            || (first_byte == b'.' && self.peek_ahead(1).is_ascii_digit())
        {
            return (TokenKind::Number, self.read_number());
        }
        if first_byte == b'"' {
            return (TokenKind::String, self.read_string());
        }
        self.read_punctuator()
    }

    fn take_while(&mut self, is_accepted: impl Fn(u8) -> bool) -> String {
        let mut taken_text = String::new();
        while is_accepted(self.peek()) && !self.at_end() {
            taken_text.push(self.byte_at(self.position) as char);
            self.position += 1;
        }
        taken_text
    }

    fn take_bytes(&mut self, taken_text: &mut String, byte_count: usize) {
        for _ in 0..byte_count {
            taken_text.push(self.peek() as char);
            self.position += 1;
        }
    }

    /// Integer and floating literals with their suffixes (GLSL 4.60, 4.1.3 and 4.1.4; 8, 16 and
    /// 64-bit extensions).
    fn read_number(&mut self) -> String {
        if self.peek() == b'0' && matches!(self.peek_ahead(1), b'x' | b'X') {
            let mut literal_text = String::new();
            self.take_bytes(&mut literal_text, 2);
            literal_text += &self.take_while(|byte| byte.is_ascii_hexdigit());
            self.integer_suffix(&mut literal_text);
            return literal_text;
        }
        let mut literal_text = self.take_while(|byte| byte.is_ascii_digit());
        let mut is_floating = false;
        if self.peek() == b'.' {
            is_floating = true;
            self.take_bytes(&mut literal_text, 1);
            literal_text += &self.take_while(|byte| byte.is_ascii_digit());
        }
        if matches!(self.peek(), b'e' | b'E') {
            let sign_length = usize::from(matches!(self.peek_ahead(1), b'+' | b'-'));
            if self.peek_ahead(1 + sign_length).is_ascii_digit() {
                is_floating = true;
                self.take_bytes(&mut literal_text, 1 + sign_length);
                literal_text += &self.take_while(|byte| byte.is_ascii_digit());
            }
        }
        match (self.peek(), self.peek_ahead(1)) {
            (b'f' | b'F', _) if is_floating || !literal_text.contains('.') => {
                self.take_bytes(&mut literal_text, 1)
            }
            (b'l', b'f') | (b'L', b'F') | (b'h', b'f') | (b'H', b'F') => {
                self.take_bytes(&mut literal_text, 2)
            }
            _ if !is_floating => self.integer_suffix(&mut literal_text),
            _ => {}
        }
        literal_text
    }

    fn integer_suffix(&mut self, literal_text: &mut String) {
        if matches!(self.peek(), b'u' | b'U') {
            self.take_bytes(literal_text, 1);
        }
        if matches!(self.peek(), b'l' | b'L' | b's' | b'S') {
            self.take_bytes(literal_text, 1);
        }
    }

    fn read_string(&mut self) -> String {
        let string_start = self.position;
        self.position += 1;
        while !self.at_end() && self.line_ending(self.position) == 0 {
            let byte = self.byte_at(self.position);
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
        self.text[string_start..self.position].to_owned()
    }

    fn read_punctuator(&mut self) -> (TokenKind, String) {
        let next_bytes = [self.peek(), self.peek_ahead(1), self.peek_ahead(2)];
        for long_punctuator in LONG_PUNCTUATORS {
            if next_bytes.starts_with(long_punctuator.as_bytes()) {
                let mut punctuator_text = String::new();
                self.take_bytes(&mut punctuator_text, long_punctuator.len());
                return (TokenKind::Punctuator, punctuator_text);
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
