//! Texts of a project's files that no reader could take in, or that show something else than they
//! hold.
//!
//! Promises: every key and every text of `vkcert.toml` and of the requirements files is looked at,
//! whatever it is for; a fault is told at its place.
//! Does not cover: contents of buffers and images (base64 under `bytes`), whether a text is a name
//! (`check_name`), files that evidence stores (reports show what they cannot print as such).

use super::document::{Document, Node, TableEntry, Value, first_line};
use std::sync::Arc;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::index_range::IndexRange;
use vkcert_model::project::ProjectLimits;
use vkcert_model::wording::is_deceptive;

/// Keys of what may be long: prose, which is read as paragraphs, and code with its paths. All other
/// texts stand in headings, cells and lines.
const LONG_KEYS: [&str; 17] = [
    "statement",
    "rationale",
    "safety_rationale",
    "reason",
    "means",
    "argument",
    "change",
    "defines",
    "value",
    "size",
    "groups",
    "domain",
    "source",
    "file",
    "include",
    "symbol",
    "entry",
];

/// Data, not text.
const CONTENTS_KEY: &str = "bytes";

/// Most faults of texts that are told of a file; whoever mends them sees the next.
const MOST_FAULTS: usize = 100;

/// Every fault of the texts of a file, up to [`MOST_FAULTS`].
pub(crate) fn check_texts_of_file(
    document: &Arc<Document>,
    limits: &ProjectLimits,
) -> Vec<Diagnostic> {
    let mut check = TextCheck { document, limits, problems: Vec::new() };
    check.check_node("", document.root());
    check.problems
}

struct TextCheck<'a> {
    document: &'a Arc<Document>,
    limits: &'a ProjectLimits,
    problems: Vec<Diagnostic>,
}

impl TextCheck<'_> {
    /// `key`: under which the node stands.
    fn check_node(&mut self, key: &str, node: &Node) {
        match &node.value {
            Value::Text(text) => {
                let limit = if LONG_KEYS.contains(&key) {
                    Limit { name: "text_bytes", bytes: self.limits.text_bytes }
                } else {
                    self.title_limit()
                };
                self.check_text(&format!("the text of `{key}`"), text, node.span, limit);
            }
            Value::Array(elements) => {
                elements.iter().for_each(|element| self.check_node(key, element));
            }
            Value::Table(entries) => entries.iter().for_each(|entry| self.check_entry(key, entry)),
            Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Float(_) => {}
        }
    }

    fn check_entry(&mut self, table_key: &str, entry: &TableEntry) {
        self.check_text("the key", &entry.key, entry.key_span, self.title_limit());
        if entry.key == CONTENTS_KEY {
            return;
        }
        // The macros of a kernel are named as their author likes.
        let key = if table_key == "defines" { table_key } else { entry.key.as_str() };
        self.check_node(key, &entry.node);
    }

    fn title_limit(&self) -> Limit {
        Limit { name: "title_bytes", bytes: self.limits.title_bytes }
    }

    fn check_text(&mut self, subject: &str, text: &str, span: IndexRange, limit: Limit) {
        if self.problems.len() >= MOST_FAULTS {
            return;
        }
        let Limit { name, bytes } = limit;
        if text.len() as u64 > u64::from(bytes) {
            let message = format!("{subject} has {} bytes; the limit is {bytes}", text.len());
            let problem = self.error("limit", message, span);
            self.problems.push(problem.hint(format!(
                "name a document that has the rest, or raise `limits.{name}` of the project"
            )));
        }
        let Some(character) = text.chars().find(|character| is_deceptive(*character)) else {
            return;
        };
        let message = format!(
            "{subject} holds the character U+{:04X}, with which it shows something else than it holds",
            u32::from(character)
        );
        let problem = self.error("bad-text", message, span);
        self.problems.push(problem.hint(
            "texts have letters, signs, tabs and line ends; no control characters, and none that turn the direction of \
             what stands around them (Unicode Standard Annex 9)",
        ));
    }

    fn error(&self, kind: &'static str, message: String, span: IndexRange) -> Diagnostic {
        self.document.error_at(kind, message, first_line(&self.document.text, span))
    }
}

/// A limit with its key in `[limits]`.
#[derive(Clone, Copy)]
struct Limit {
    name: &'static str,
    bytes: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::FileSyntax;

    /// Kinds and places of the faults of a file, with small limits.
    fn faults(text: &str) -> Vec<(&'static str, u32, u32)> {
        let document = Document::parse("r.toml", text, FileSyntax::Toml).unwrap();
        let limits = ProjectLimits { title_bytes: 16, text_bytes: 20, ..ProjectLimits::default() };
        let position = |problem: &Diagnostic| problem.location.as_ref().unwrap().position.unwrap();
        check_texts_of_file(&document, &limits)
            .iter()
            .map(|problem| (problem.kind, position(problem).line, position(problem).column))
            .collect()
    }

    #[test]
    fn texts_are_as_long_as_their_place_allows() {
        let [title, statement] = ["x".repeat(16), "x".repeat(20)];
        assert_eq!(faults(&format!("title = \"{title}\"\nstatement = \"{statement}\"")), []);
        assert_eq!(faults(&format!("a = 1\ntitle = \"{title}x\"")), [("limit", 2, 9)]);
        assert_eq!(faults(&format!("[[r]]\nreason = \"{statement}x\"")), [("limit", 2, 10)]);
        assert_eq!(faults(&format!("authors = [\"a\", \"{title}x\"]")), [("limit", 1, 17)]);
        assert_eq!(faults(&format!("x = {{ {title}x = 1 }}")), [("limit", 1, 7)]);
        assert_eq!(faults(&format!("defines = {{ A = \"{statement}\" }}")), []);
        assert_eq!(faults(&format!("b.bytes = \"{statement}x\"")), []);
    }

    #[test]
    fn no_text_shows_something_else_than_it_holds() {
        for character in ["\\u0000", "\\u001B", "\\u007F", "\\u0085", "\\u202E", "\\u2066"] {
            assert_eq!(
                faults(&format!("t = \"a{character}\"")),
                [("bad-text", 1, 5)],
                "{character}"
            );
            assert_eq!(
                faults(&format!("\"a{character}\" = 1")),
                [("bad-text", 1, 1)],
                "{character}"
            );
        }
        assert_eq!(faults("t = \"\\t\\r\\nä\\u05D0\\u200F\""), []);
    }

    #[test]
    fn faults_are_told_up_to_a_number() {
        let text: String = (0..1_000).map(|n| format!("k{n} = \"{}\"\n", "x".repeat(17))).collect();
        assert_eq!(faults(&text).len(), MOST_FAULTS);
    }
}
