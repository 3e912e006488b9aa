//! The compiler's preprocessed text as a translation unit, with lines for spans: what is left where our own
//! preprocessor and the compiler disagree.
//!
//! Promises: the tokens are the compiler's; each spans the whole line that the compiler's `#line` directives give.

use super::lexer::Lexer;
use super::preprocessor::{Directive, TranslationUnit};
use super::token::{Frames, Token, TokenKind};
use crate::model::place::{FileIndex, SourceFile, Span};
use std::collections::BTreeMap;

/// Reads preprocessed text; `texts` holds the original files, `main` is the main file's path.
pub fn unit_of(preprocessed: &str, main: &str, texts: &BTreeMap<String, String>) -> TranslationUnit {
    let mut files = vec![SourceFile { path: main.to_owned(), text: texts.get(main).cloned().unwrap_or_default() }];
    let (mut tokens, mut directives) = (Vec::new(), Vec::new());
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
                let number = rest.first().and_then(|token| token.text.parse::<i64>().ok()).unwrap_or(1);
                offset = number - i64::from(hash.line) - 1;
                if let Some(named) = rest.get(1).filter(|token| token.kind == TokenKind::String) {
                    file = file_named(named.text.trim_matches('"'), &mut files, texts);
                }
            } else {
                let words: Vec<&str> = read[1..].iter().map(|token| &*token.text).collect();
                directives.push(Directive {
                    before: tokens.len(),
                    text: format!("#{}", words.join(" ")),
                    line: place(hash, offset),
                    line_file: file,
                });
            }
        } else {
            for mut token in read {
                token.line = place(&token, offset);
                token.line_file = file;
                token.span = line_span(&files[file.0 as usize].text, file, token.line);
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

fn file_named(name: &str, files: &mut Vec<SourceFile>, texts: &BTreeMap<String, String>) -> FileIndex {
    if let Some(known) = files.iter().position(|file| file.path == name) {
        return FileIndex(known as u32);
    }
    let Some(text) = texts.get(name) else { return FileIndex(0) };
    files.push(SourceFile { path: name.to_owned(), text: text.clone() });
    FileIndex(files.len() as u32 - 1)
}

/// The line without the white space around it.
fn line_span(text: &str, file: FileIndex, line: u32) -> Span {
    let start: usize = text.split_inclusive('\n').take(line as usize - 1).map(str::len).sum();
    let content = text[start..].lines().next().unwrap_or("");
    let indent = content.len() - content.trim_start().len();
    let end = start + content.trim_end().len().max(indent);
    Span { file, start: (start + indent) as u32, end: end as u32 }
}
