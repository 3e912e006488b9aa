//! Finds functions in a source text, for links from requirements to code.
//!
//! Knows: the outward form of a definition (`name ( ... ) {`), outside comments. Does not cover:
//! functions whose name a macro makes; there any occurrence of the name counts as found.

use super::load::Project;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The source texts in which requirements name symbols, by path relative to the project: each file is
/// read once and searched once for each symbol, however many requirements name it.
pub(crate) struct SourceTexts<'a> {
    texts: BTreeMap<&'a str, SourceText<'a>>,
}

struct SourceText<'a> {
    /// None where it cannot be read as text.
    text: Option<String>,
    symbol_lines: BTreeMap<&'a str, Option<u32>>,
}

impl<'a> SourceTexts<'a> {
    /// Reads the files of a project, on all cores.
    pub(crate) fn of_project(project: &'a Project) -> Self {
        let mut symbols_by_file: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for link in project.requirements.iter().flat_map(|requirement| &requirement.implements) {
            if let Some(symbol) = &link.symbol {
                symbols_by_file.entry(&link.file).or_default().insert(symbol);
            }
        }
        let texts = symbols_by_file
            .into_par_iter()
            .map(|(file, symbols)| (file, SourceText::of_file(&project.root.join(file), symbols)));
        Self { texts: texts.collect() }
    }

    /// The text of a file in which a requirement names a symbol; none of one that cannot be read as
    /// text.
    pub(crate) fn text(&self, file: &str) -> Option<&str> {
        self.texts.get(file)?.text.as_deref()
    }

    /// As [`find_symbol`] in the text of a file.
    pub(crate) fn symbol_line(&self, file: &str, symbol: &str) -> Option<u32> {
        *self.texts.get(file)?.symbol_lines.get(symbol)?
    }
}

impl<'a> SourceText<'a> {
    fn of_file(path: &Path, symbols: BTreeSet<&'a str>) -> Self {
        // Reading what is no regular file may never end.
        let text = path.is_file().then(|| std::fs::read_to_string(path).ok()).flatten();
        let line_of = |symbol| text.as_deref().and_then(|text| find_symbol(text, symbol));
        let symbol_lines = symbols.into_iter().map(|symbol| (symbol, line_of(symbol))).collect();
        Self { text, symbol_lines }
    }
}

/// 1-based line of the definition of `symbol`, or of its first occurrence where no definition has
/// the plain form.
pub(crate) fn find_symbol(source_text: &str, symbol: &str) -> Option<u32> {
    let located_words = located_words(source_text);
    function_definitions(&located_words)
        .find(|(name, _)| *name == symbol)
        .map(|(_, line)| line)
        .or_else(|| located_words.iter().find(|(word, _)| *word == symbol).map(|(_, line)| *line))
}

/// Names and 1-based lines of all definitions, in text order.
pub(crate) fn function_lines(source_text: &str) -> Vec<(String, u32)> {
    function_definitions(&located_words(source_text))
        .map(|(name, line_number)| (name.to_owned(), line_number))
        .collect()
}

const NOT_FUNCTIONS: [&str; 4] = ["if", "for", "while", "switch"];

fn function_definitions<'a>(
    located_words: &'a [(&'a str, u32)],
) -> impl Iterator<Item = (&'a str, u32)> {
    located_words.iter().enumerate().filter_map(|(index, (word, line_number))| {
        let is_name = word.starts_with(|first_character: char| {
            first_character.is_ascii_alphabetic() || first_character == '_'
        });
        if !is_name || NOT_FUNCTIONS.contains(word) || located_words.get(index + 1)?.0 != "(" {
            return None;
        }
        let mut depth = 0;
        let close_offset = located_words[index + 1..].iter().position(|(later_word, _)| {
            depth += match *later_word {
                "(" => 1,
                ")" => -1,
                _ => 0,
            };
            depth == 0
        })?;
        (located_words.get(index + 2 + close_offset)?.0 == "{").then_some((*word, *line_number))
    })
}

/// Identifiers, numbers and single punctuation characters with their lines, without comments and
/// white space.
fn located_words(source_text: &str) -> Vec<(&str, u32)> {
    let mut located_words = Vec::new();
    let (mut remaining_text, mut line_number) = (source_text, 1);
    while let Some(first) = remaining_text.chars().next() {
        let length = if remaining_text.starts_with("//") {
            remaining_text.find('\n').unwrap_or(remaining_text.len())
        } else if let Some(comment) = remaining_text.strip_prefix("/*") {
            comment.find("*/").map_or(remaining_text.len(), |end| end + 4)
        } else if is_word_character(first) {
            remaining_text
                .find(|character| !is_word_character(character))
                .unwrap_or(remaining_text.len())
        } else {
            first.len_utf8()
        };
        let (taken_text, text_behind) = remaining_text.split_at(length);
        if !taken_text.starts_with("//") && !taken_text.starts_with("/*") && !first.is_whitespace()
        {
            located_words.push((taken_text, line_number));
        }
        line_number += taken_text.matches('\n').count() as u32;
        remaining_text = text_behind;
    }
    located_words
}

fn is_word_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_is_found_and_a_call_or_comment_is_not_one() {
        let source_text = "// main() {\nfloat f(float x);\nint g(int a, int b)\n{ if (f(1.0) > 2.0) { return 1; } }\n/* h() { */ void main() { g(1, 2); }\n";
        assert_eq!(function_lines(source_text), [("g".to_owned(), 3), ("main".to_owned(), 5)]);
        assert_eq!(find_symbol(source_text, "main"), Some(5));
        assert_eq!(find_symbol(source_text, "f"), Some(2));
        assert_eq!(find_symbol(source_text, "h"), None);
    }

    #[test]
    fn words_stand_on_their_lines_without_comments() {
        let text = "a1_ = b// c\n/* d\n e */f/**/g /=h;\n\té";
        let words = [
            ("a1_", 1),
            ("=", 1),
            ("b", 1),
            ("f", 3),
            ("g", 3),
            ("/", 3),
            ("=", 3),
            ("h", 3),
            (";", 3),
            ("é", 4),
        ];
        assert_eq!(located_words(text), words);
        assert_eq!(located_words("a /* never closed\n b"), [("a", 1)]);
        assert_eq!(located_words("a // last"), [("a", 1)]);
        assert_eq!(located_words(""), []);
        assert_eq!(located_words("_x /*/ y */ z"), [("_x", 1), ("z", 1)]);
    }

    #[test]
    fn a_definition_has_a_name_parameters_and_a_body() {
        for (text, names) in [
            ("void f() {}", &["f"][..]),
            ("void f(int a[(2)], vec2 (b)) {}", &["f"]),
            ("void f();", &[]),
            ("void f() const {}", &[]),
            ("x = f(g(1));", &[]),
            ("if (a) {} for (;;) {} while (b) {} switch (c) {}", &[]),
            ("2 (a) {}", &[]),
            ("_f() {} f2() {}", &["_f", "f2"]),
            ("struct S { int a; };", &[]),
            ("f", &[]),
            ("f(", &[]),
            ("f()", &[]),
            ("f)({", &[]),
            ("g(a {", &[]),
        ] {
            let found: Vec<String> = function_lines(text).into_iter().map(|row| row.0).collect();
            assert_eq!(found, names, "{text}");
        }
        let lines = function_lines("\nvoid\nf(\n)\n{}\n\nvoid g() {}");
        assert_eq!(lines, [("f".to_owned(), 3), ("g".to_owned(), 7)]);
    }

    #[test]
    fn a_symbol_is_found_at_its_definition_before_any_use() {
        let text = "int n;\nvoid g();\n#define MAKE(x) void x\nvoid g() { n; }\n";
        for (symbol, line) in [("n", Some(1)), ("g", Some(4)), ("MAKE", Some(3)), ("h", None)] {
            assert_eq!(find_symbol(text, symbol), line, "{symbol}");
        }
    }
}
