//! The compiler's preprocessed text as a translation unit, with lines for spans: what is left where
//! our own preprocessor and the compiler disagree.
//!
//! Promises: the tokens are the compiler's; each spans the whole line that the compiler's `#line`
//! directives give.

use super::include::FoundTexts;
use super::lexer::Lexer;
use super::preprocessor::{KeptDirective, TranslationUnit};
use super::token::{ExpansionFrames, Token, TokenKind};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::place::{FileIndex, SourceFile, Span};

/// The texts of a kernel's files: the main one and those that it includes.
pub(crate) fn texts_by_path<'t>(
    main_path: &'t str,
    main_text: &'t str,
    found: &'t FoundTexts,
) -> BTreeMap<&'t str, &'t str> {
    let included_texts = found.iter().map(|(path, text)| (&**path, &**text));
    included_texts.chain([(main_path, main_text)]).collect()
}

/// Reads preprocessed text; `texts` holds the original files, `main` is the main file's path.
pub(crate) fn unit_of_preprocessed(
    preprocessed: &str,
    main_path: &str,
    texts_by_path: &BTreeMap<&str, &str>,
) -> TranslationUnit {
    let main_text = texts_by_path.get(main_path).copied().unwrap_or_default();
    let mut files = vec![SourceFile { path: main_path.to_owned(), text: main_text.to_owned() }];
    let (mut tokens, mut directives) = (Vec::new(), Vec::new());
    let mut spans = vec![line_spans(&files[0].text, FileIndex(0))];
    let mut current_file = FileIndex(0);
    // What is added to a line of the preprocessed text.
    let mut line_offset = 0i64;
    let mut lexer = Lexer::new(preprocessed.into(), FileIndex(0));
    let mut line_tokens: Vec<Token> = Vec::new();
    loop {
        let is_text_end = match lexer.next() {
            Some(token) if token.kind != TokenKind::NewLine => {
                line_tokens.push(token);
                continue;
            }
            Some(_) => false,
            None => true,
        };
        let read_line = std::mem::take(&mut line_tokens);
        if let [hash, directive_name, directive_tokens @ ..] = read_line.as_slice()
            && hash.is("#")
        {
            if directive_name.is("line") {
                let presumed_number = directive_tokens
                    .first()
                    .and_then(|token| token.text.parse::<i64>().ok())
                    .unwrap_or(1);
                line_offset = presumed_number - i64::from(hash.line) - 1;
                if let Some(named_file) =
                    directive_tokens.get(1).filter(|token| token.kind == TokenKind::String)
                {
                    current_file =
                        file_named(named_file.text.trim_matches('"'), &mut files, texts_by_path);
                    while spans.len() < files.len() {
                        let added_file = FileIndex(spans.len() as u32);
                        spans.push(line_spans(&files[spans.len()].text, added_file));
                    }
                }
            } else {
                let directive_words: Vec<&str> =
                    read_line[1..].iter().map(|token| &*token.text).collect();
                directives.push(KeptDirective {
                    before: tokens.len(),
                    text: format!("#{}", directive_words.join(" ")),
                    line: presumed_line(hash, line_offset),
                    line_file: current_file,
                    is_loud: false,
                });
            }
        } else {
            for mut token in read_line {
                token.line = presumed_line(&token, line_offset);
                token.line_file = current_file;
                token.span =
                    span_of_line(&spans[current_file.0 as usize], current_file, token.line);
                tokens.push(token);
            }
        }
        if is_text_end {
            break;
        }
    }
    let macro_names = BTreeSet::new();
    TranslationUnit { files, tokens, directives, frames: ExpansionFrames::default(), macro_names }
}

fn presumed_line(token: &Token, line_offset: i64) -> u32 {
    u32::try_from(i64::from(token.line) + line_offset).unwrap_or(1).max(1)
}

fn file_named(
    name: &str,
    files: &mut Vec<SourceFile>,
    texts_by_path: &BTreeMap<&str, &str>,
) -> FileIndex {
    if let Some(known_file) = files.iter().position(|file| file.path == name) {
        return FileIndex(known_file as u32);
    }
    let Some(text) = texts_by_path.get(name) else { return FileIndex(0) };
    files.push(SourceFile { path: name.to_owned(), text: (*text).to_owned() });
    FileIndex(files.len() as u32 - 1)
}

/// Every line of a text without the white space around it.
fn line_spans(text: &str, file: FileIndex) -> Vec<Span> {
    let mut line_start = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        let line_content = line.lines().next().unwrap_or("");
        let indent = line_content.len() - line_content.trim_start().len();
        let end = line_start + line_content.trim_end().len().max(indent);
        let span = Span { file, start: (line_start + indent) as u32, end: end as u32 };
        line_start += line.len();
        span
    });
    lines.collect()
}

/// A line's span; an empty one at the end of the text where it has no such line.
fn span_of_line(spans: &[Span], file: FileIndex, line: u32) -> Span {
    let text_end = spans.last().map_or(0, |last| last.end);
    spans.get(line as usize - 1).copied().unwrap_or(Span { file, start: text_end, end: text_end })
}

/// Where a unit's tokens differ from those of the compiler's preprocessed text, in words; `None`
/// where they are equal.
pub(crate) fn first_difference(unit: &TranslationUnit, reference: &str) -> Option<String> {
    let mut lexer = Lexer::new(reference.into(), FileIndex(0));
    let mut is_first = true;
    for (token_index, own_token) in unit.tokens.iter().enumerate() {
        skip_directives(&mut lexer, is_first);
        is_first = false;
        if own_token.kind == TokenKind::String
            && lexer.accept_bytes(&resolve_escapes(&own_token.text))
        {
            continue;
        }
        let compiler_token = lexer.next();
        if compiler_token
            .as_ref()
            .is_none_or(|compiler_token| compiler_token.text != own_token.text)
        {
            let compiler_token =
                compiler_token.map_or("nothing".to_owned(), |token| format!("`{}`", token.text));
            let (own_text, line) = (&own_token.text, own_token.line);
            return Some(format!(
                "the preprocessor reads `{own_text}` where the compiler reads {compiler_token} (token {token_index}, near line {line})"
            ));
        }
    }
    skip_directives(&mut lexer, is_first);
    let surplus_token = lexer.next()?;
    let token_index = unit.tokens.len();
    Some(format!(
        "the preprocessor reads nothing where the compiler reads `{}` (token {token_index})",
        surplus_token.text
    ))
}

/// Steps to the next token that is no part of a directive.
fn skip_directives(lexer: &mut Lexer, mut is_line_start: bool) {
    loop {
        is_line_start = lexer.skip_to_token(is_line_start);
        if !is_line_start || !lexer.accept_bytes(b"#") {
            return;
        }
        lexer.skip_line();
    }
}

/// The main file's text such that the compiler's preprocessed text of it can be read: the compiler
/// repeats operators and strings in pragmas as stray bytes, so that such pragmas, which make no
/// tokens, are blanked.
pub(crate) fn showable_text(unit: &TranslationUnit) -> Result<String, String> {
    let mut string_tokens = unit.tokens.iter().filter(|token| token.kind == TokenKind::String);
    if let Some(string) =
        string_tokens.find(|token| std::str::from_utf8(&resolve_escapes(&token.text)).is_err())
    {
        return Err(format!("the string {} holds bytes that are no text", string.text));
    }
    let mut shown_text = unit.files.first().map_or(String::new(), |file| file.text.clone());
    for directive in unit.directives.iter().filter(|directive| directive.is_loud) {
        if directive.line_file != FileIndex(0) {
            return Err("a pragma of an included file holds operators or strings".to_owned());
        }
        let pragma_start: usize =
            shown_text.split_inclusive('\n').take(directive.line as usize - 1).map(str::len).sum();
        let pragma_length = shown_text[pragma_start..].lines().next().map_or(0, str::len);
        blank_pragma(&mut shown_text, pragma_start, pragma_length)?;
    }
    Ok(line_ended(shown_text))
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
pub(crate) fn showable_unread(text: &str, included: &FoundTexts) -> Result<String, String> {
    if included.values().any(|included_text| included_text.lines().any(is_loud_pragma)) {
        return Err("a pragma of an included file holds operators or strings".to_owned());
    }
    let mut shown_text = text.to_owned();
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        if is_loud_pragma(line) {
            blank_pragma(&mut shown_text, line_start, line.trim_end_matches(['\r', '\n']).len())?;
        }
        line_start += line.len();
    }
    Ok(line_ended(shown_text))
}

fn is_loud_pragma(line: &str) -> bool {
    line.contains("pragma") && !is_quiet(line)
}

fn is_quiet(line: &str) -> bool {
    line.chars().all(|c| c.is_ascii_alphanumeric() || "_ \t#(),".contains(c))
}

fn blank_pragma(text: &mut String, pragma_start: usize, length: usize) -> Result<(), String> {
    let pragma_line = &text[pragma_start..pragma_start + length];
    if !pragma_line.trim_start().starts_with('#')
        || pragma_line.ends_with('\\')
        || pragma_line.contains("/*")
    {
        return Err(
            "a pragma with operators or strings does not stand alone on its line".to_owned()
        );
    }
    text.replace_range(pragma_start..pragma_start + length, &" ".repeat(length));
    Ok(())
}

/// A string literal as the compiler's preprocessed text shows it: with its escape sequences
/// resolved (GL_EXT_debug_printf takes those of C), up to the first NUL.
fn resolve_escapes(literal: &str) -> Vec<u8> {
    let bytes = literal.as_bytes();
    let mut resolved_bytes = Vec::with_capacity(bytes.len());
    let mut byte_index = 0;
    while let Some(byte) = bytes.get(byte_index).copied() {
        byte_index += 1;
        let byte_value = if byte == b'\\' && byte_index + 1 < bytes.len() {
            read_escape(bytes, &mut byte_index)
        } else {
            Some(byte)
        };
        match byte_value {
            Some(0) => {
                resolved_bytes.push(b'"');
                return resolved_bytes;
            }
            Some(byte_value) => resolved_bytes.push(byte_value),
            None => {}
        }
    }
    resolved_bytes
}

/// Steps over digits and gives the low byte of their value.
fn read_digits(bytes: &[u8], byte_index: &mut usize, radix: u32, digit_limit: usize) -> u8 {
    let mut value = 0u32;
    for byte in bytes[*byte_index..].iter().take(digit_limit) {
        let Some(digit) = char::from(*byte).to_digit(radix) else { break };
        value = value.wrapping_mul(radix).wrapping_add(digit);
        *byte_index += 1;
    }
    value as u8
}

/// The value of the escape sequence behind a backslash at `byte_index`, and steps over it.
fn read_escape(bytes: &[u8], byte_index: &mut usize) -> Option<u8> {
    let escape_letter = bytes[*byte_index];
    if escape_letter == b'x' {
        *byte_index += 1;
        return Some(read_digits(bytes, byte_index, 16, usize::MAX));
    }
    if matches!(escape_letter, b'0'..=b'7') {
        return Some(read_digits(bytes, byte_index, 8, 3));
    }
    *byte_index += 1;
    Some(match escape_letter {
        b'a' => 0x07,
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0b,
        b'\'' | b'"' | b'?' | b'\\' => escape_letter,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_strings_are_resolved() {
        assert_eq!(resolve_escapes(r#""a\n\"\x41\101\\b""#), b"\"a\n\"AA\\b\"");
        assert_eq!(resolve_escapes(r#""a\0b""#), b"\"a\"");
    }
}
