//! Finds functions in a source text, for links from requirements to code.
//!
//! Knows: the outward form of a definition (`name ( ... ) {`), outside comments. Does not cover:
//! functions whose name a macro makes; there any occurrence of the name counts as found.

/// 1-based line of the definition of `symbol`, or of its first occurrence where no definition has
/// the plain form.
pub fn find(text: &str, symbol: &str) -> Option<u32> {
    let words = words(text);
    definitions(&words)
        .find(|(name, _)| *name == symbol)
        .map(|(_, line)| line)
        .or_else(|| words.iter().find(|(word, _)| *word == symbol).map(|(_, line)| *line))
}

/// Names and 1-based lines of all definitions, in text order.
pub fn functions(text: &str) -> Vec<(String, u32)> {
    definitions(&words(text)).map(|(name, line)| (name.to_owned(), line)).collect()
}

const NOT_FUNCTIONS: [&str; 4] = ["if", "for", "while", "switch"];

fn definitions<'a>(words: &'a [(&'a str, u32)]) -> impl Iterator<Item = (&'a str, u32)> {
    words.iter().enumerate().filter_map(|(index, (word, line))| {
        let name = word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        if !name || NOT_FUNCTIONS.contains(word) || words.get(index + 1)?.0 != "(" {
            return None;
        }
        let mut depth = 0;
        let close = words[index + 1..].iter().position(|(word, _)| {
            depth += match *word {
                "(" => 1,
                ")" => -1,
                _ => 0,
            };
            depth == 0
        })?;
        (words.get(index + 2 + close)?.0 == "{").then_some((*word, *line))
    })
}

/// Identifiers, numbers and single punctuation characters with their lines, without comments and
/// white space.
fn words(text: &str) -> Vec<(&str, u32)> {
    let mut words = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let word = |character: char| character.is_ascii_alphanumeric() || character == '_';
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map_or(rest.len(), |end| end + 4)
        } else if word(first) {
            rest.find(|character| !word(character)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (taken, behind) = rest.split_at(length);
        if !taken.starts_with("//") && !taken.starts_with("/*") && !first.is_whitespace() {
            words.push((taken, line));
        }
        line += taken.matches('\n').count() as u32;
        rest = behind;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_is_found_and_a_call_or_comment_is_not_one() {
        let text = "// main() {\nfloat f(float x);\nint g(int a, int b)\n{ if (f(1.0) > 2.0) { return 1; } }\n/* h() { */ void main() { g(1, 2); }\n";
        assert_eq!(functions(text), [("g".to_owned(), 3), ("main".to_owned(), 5)]);
        assert_eq!(find(text, "main"), Some(5));
        assert_eq!(find(text, "f"), Some(2));
        assert_eq!(find(text, "h"), None);
    }
}
