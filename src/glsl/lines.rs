//! The compiler's preprocessed text as a translation unit, with lines for spans: what is left where
//! our own preprocessor and the compiler disagree.
//!
//! Promises: the tokens are the compiler's; each spans the whole line that the compiler's `#line`
//! directives give.

use super::lexer::Lexer;
use super::preprocessor::{Directive, TranslationUnit};
use super::token::{Frames, Token, TokenKind};
use std::collections::BTreeMap;
use vkcert_model::place::{FileIndex, SourceFile, Span};

/// Reads preprocessed text; `texts` holds the original files, `main` is the main file's path.
pub(crate) fn unit_of(
    preprocessed: &str,
    main: &str,
    texts: &BTreeMap<String, String>,
) -> TranslationUnit {
    let mut files = vec![SourceFile {
        path: main.to_owned(),
        text: texts.get(main).cloned().unwrap_or_default(),
    }];
    let (mut tokens, mut directives) = (Vec::new(), Vec::new());
    let mut spans = vec![line_spans(&files[0].text, FileIndex(0))];
    let mut file = FileIndex(0);
    // What is added to a line of the preprocessed text.
    let mut offset = 0i64;
    let mut lexer = Lexer::new(preprocessed.into(), FileIndex(0));
    let mut line: Vec<Token> = Vec::new();
    loop {
        let next = lexer.next();
        if let Some(token) = next.as_ref().filter(|token| token.kind != TokenKind::NewLine) {
            line.push(token.clone());
            continue;
        }
        let read = std::mem::take(&mut line);
        if let [hash, name, rest @ ..] = read.as_slice()
            && hash.is("#")
        {
            if name.is("line") {
                let number =
                    rest.first().and_then(|token| token.text.parse::<i64>().ok()).unwrap_or(1);
                offset = number - i64::from(hash.line) - 1;
                if let Some(named) = rest.get(1).filter(|token| token.kind == TokenKind::String) {
                    file = file_named(named.text.trim_matches('"'), &mut files, texts);
                    while spans.len() < files.len() {
                        let added = FileIndex(spans.len() as u32);
                        spans.push(line_spans(&files[spans.len()].text, added));
                    }
                }
            } else {
                let words: Vec<&str> = read[1..].iter().map(|token| &*token.text).collect();
                directives.push(Directive {
                    before: tokens.len(),
                    text: format!("#{}", words.join(" ")),
                    line: place(hash, offset),
                    line_file: file,
                    is_loud: false,
                });
            }
        } else {
            for mut token in read {
                token.line = place(&token, offset);
                token.line_file = file;
                token.span = span_of_line(&spans[file.0 as usize], file, token.line);
                tokens.push(token);
            }
        }
        if next.is_none() {
            break;
        }
    }
    TranslationUnit { files, tokens, directives, frames: Frames::default() }
}

fn place(token: &Token, offset: i64) -> u32 {
    u32::try_from(i64::from(token.line) + offset).unwrap_or(1).max(1)
}

fn file_named(
    name: &str,
    files: &mut Vec<SourceFile>,
    texts: &BTreeMap<String, String>,
) -> FileIndex {
    if let Some(known) = files.iter().position(|file| file.path == name) {
        return FileIndex(known as u32);
    }
    let Some(text) = texts.get(name) else { return FileIndex(0) };
    files.push(SourceFile { path: name.to_owned(), text: text.clone() });
    FileIndex(files.len() as u32 - 1)
}

/// Every line of a text without the white space around it.
fn line_spans(text: &str, file: FileIndex) -> Vec<Span> {
    let mut start = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        let content = line.lines().next().unwrap_or("");
        let indent = content.len() - content.trim_start().len();
        let end = start + content.trim_end().len().max(indent);
        let span = Span { file, start: (start + indent) as u32, end: end as u32 };
        start += line.len();
        span
    });
    lines.collect()
}

/// A line's span; an empty one at the end of the text where it has no such line.
fn span_of_line(spans: &[Span], file: FileIndex, line: u32) -> Span {
    let end = spans.last().map_or(0, |last| last.end);
    spans.get(line as usize - 1).copied().unwrap_or(Span { file, start: end, end })
}

/// Where a unit's tokens differ from those of the compiler's preprocessed text, in words; `None`
/// where they are equal.
pub(crate) fn first_difference(unit: &TranslationUnit, reference: &str) -> Option<String> {
    let mut lexer = Lexer::new(reference.into(), FileIndex(0));
    let mut first = true;
    for (at, own) in unit.tokens.iter().enumerate() {
        skip_directives(&mut lexer, first);
        first = false;
        if own.kind == TokenKind::String && lexer.accept_bytes(&resolved(&own.text)) {
            continue;
        }
        let other = lexer.next();
        if other.as_ref().is_none_or(|other| other.text != own.text) {
            let other = other.map_or("nothing".to_owned(), |other| format!("`{}`", other.text));
            let (text, line) = (&own.text, own.line);
            return Some(format!(
                "the preprocessor reads `{text}` where the compiler reads {other} (token {at}, near line {line})"
            ));
        }
    }
    skip_directives(&mut lexer, first);
    let rest = lexer.next()?;
    let at = unit.tokens.len();
    Some(format!(
        "the preprocessor reads nothing where the compiler reads `{}` (token {at})",
        rest.text
    ))
}

/// Steps to the next token that is no part of a directive.
fn skip_directives(lexer: &mut Lexer, mut first: bool) {
    loop {
        first = lexer.skip_to_token(first);
        if !first || !lexer.accept_bytes(b"#") {
            return;
        }
        lexer.skip_line();
    }
}

/// The main file's text such that the compiler's preprocessed text of it can be read: the compiler
/// repeats operators and strings in pragmas as stray bytes, so that such pragmas, which make no
/// tokens, are blanked.
pub(crate) fn showable(unit: &TranslationUnit) -> Result<String, String> {
    let mut strings = unit.tokens.iter().filter(|token| token.kind == TokenKind::String);
    if let Some(string) = strings.find(|token| std::str::from_utf8(&resolved(&token.text)).is_err())
    {
        return Err(format!("the string {} holds bytes that are no text", string.text));
    }
    let mut text = unit.files.first().map_or(String::new(), |file| file.text.clone());
    for directive in unit.directives.iter().filter(|directive| directive.is_loud) {
        if directive.line_file != FileIndex(0) {
            return Err("a pragma of an included file holds operators or strings".to_owned());
        }
        let start: usize =
            text.split_inclusive('\n').take(directive.line as usize - 1).map(str::len).sum();
        let length = text[start..].lines().next().map_or(0, str::len);
        blank_pragma(&mut text, start, length)?;
    }
    Ok(line_ended(text))
}

/// A text whose last line has an end: the compiler, asked for its preprocessed text alone, refuses
/// an `#include` there.
pub(crate) fn line_ended(mut text: String) -> String {
    if !text.ends_with(['\n', '\r']) {
        text.push('\n');
    }
    text
}

/// The same for text that our own preprocessor could not read: every pragma is blanked.
pub(crate) fn showable_unread(
    text: &str,
    included: &BTreeMap<String, String>,
) -> Result<String, String> {
    let quiet =
        |line: &str| line.chars().all(|c| c.is_ascii_alphanumeric() || "_ \t#(),".contains(c));
    let loud = |line: &str| line.contains("pragma") && !quiet(line);
    if included.values().any(|text| text.lines().any(loud)) {
        return Err("a pragma of an included file holds operators or strings".to_owned());
    }
    let mut made = text.to_owned();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if loud(line) {
            blank_pragma(&mut made, start, line.trim_end_matches(['\r', '\n']).len())?;
        }
        start += line.len();
    }
    Ok(line_ended(made))
}

fn blank_pragma(text: &mut String, start: usize, length: usize) -> Result<(), String> {
    let line = &text[start..start + length];
    if !line.trim_start().starts_with('#') || line.ends_with('\\') || line.contains("/*") {
        return Err(
            "a pragma with operators or strings does not stand alone on its line".to_owned()
        );
    }
    text.replace_range(start..start + length, &" ".repeat(length));
    Ok(())
}

/// A string literal as the compiler's preprocessed text shows it: with its escape sequences
/// resolved (GL_EXT_debug_printf takes those of C), up to the first NUL.
fn resolved(literal: &str) -> Vec<u8> {
    let bytes = literal.as_bytes();
    let mut made = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at).copied() {
        at += 1;
        let value =
            if byte == b'\\' && at + 1 < bytes.len() { escape(bytes, &mut at) } else { Some(byte) };
        match value {
            Some(0) => {
                made.push(b'"');
                return made;
            }
            Some(value) => made.push(value),
            None => {}
        }
    }
    made
}

/// The value of the escape sequence behind a backslash at `at`, and steps over it.
fn escape(bytes: &[u8], at: &mut usize) -> Option<u8> {
    let digits = |from: usize, radix: u32, most: usize| {
        let count = bytes[from..]
            .iter()
            .take(most)
            .take_while(|byte| char::from(**byte).is_digit(radix))
            .count();
        let value = bytes[from..from + count].iter().fold(0u32, |value, byte| {
            value.wrapping_mul(radix).wrapping_add(char::from(*byte).to_digit(radix).unwrap_or(0))
        });
        (count, value as u8)
    };
    let named = bytes[*at];
    if named == b'x' {
        let (count, value) = digits(*at + 1, 16, usize::MAX);
        *at += 1 + count;
        return Some(value);
    }
    if named.is_ascii_digit() && named < b'8' {
        let (count, value) = digits(*at, 8, 3);
        *at += count;
        return Some(value);
    }
    *at += 1;
    Some(match named {
        b'a' => 0x07,
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0b,
        b'\'' | b'"' | b'?' | b'\\' => named,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_strings_are_resolved() {
        assert_eq!(resolved(r#""a\n\"\x41\101\\b""#), b"\"a\n\"AA\\b\"");
        assert_eq!(resolved(r#""a\0b""#), b"\"a\"");
    }
}
