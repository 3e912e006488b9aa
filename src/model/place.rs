//! Source files, spans and the places that findings name.
//!
//! Spans are byte ranges in the *original* file as read from disk; lines and columns are 1-based, and a column counts
//! Unicode scalar values, not bytes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Index into [`crate::model::structure::KernelStructure::files`].
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct FileIndex(pub u32);

/// A source file of a kernel: the main file or an included one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceFile {
    /// Path as reports show it: relative to the project, `/` as separator.
    pub path: String,
    /// The whole text of the file.
    pub text: String,
}

/// A byte range `start..end` in one original file.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct Span {
    /// Which of the structure's files.
    pub file: FileIndex,
    /// First byte.
    pub start: u32,
    /// Byte behind the last.
    pub end: u32,
}

/// A 1-based line and column in a source file.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct Position {
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1.
    pub column: u32,
}

impl Position {
    /// The position of byte `offset` in `text`; an offset past the end gives the position just behind the last character.
    pub fn of(text: &str, offset: usize) -> Self {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let text_before = &text[..offset];
        let line_start = text_before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line: text_before.bytes().filter(|byte| *byte == b'\n').count() as u32 + 1,
            column: text_before[line_start..].chars().count() as u32 + 1,
        }
    }
}

/// Where the lines of a text begin, for many positions in one text.
#[derive(Debug, Clone)]
pub struct LineStarts(Vec<usize>);

impl LineStarts {
    /// The first byte of each line of a text; lines end with `\n`.
    pub fn of(text: &str) -> Self {
        let newline_bytes = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(std::iter::once(0).chain(newline_bytes.map(|(offset, _)| offset + 1)).collect())
    }

    /// 1-based line of byte `offset`; an offset past the end is on the last line.
    pub fn line(&self, offset: usize) -> u32 {
        self.0.partition_point(|start| *start <= offset).max(1) as u32
    }

    /// The bytes of a 1-based line in the text that the lines were found in, without its line feed; none behind the last.
    pub fn range(&self, text: &str, line: u32) -> Option<(usize, usize)> {
        let line_index = (line as usize).checked_sub(1)?;
        let start = *self.0.get(line_index)?;
        Some((start, self.0.get(line_index + 1).map_or(text.len(), |next_start| next_start - 1)))
    }

    /// As [`Position::of`]; `text` is the one that the lines were found in.
    pub fn position(&self, text: &str, offset: usize) -> Position {
        let line_index =
            self.0.partition_point(|line_start| *line_start <= offset.min(text.len())).max(1) - 1;
        let line_start = self.0[line_index];
        let column_position =
            Position::of(&text[line_start..], offset.min(text.len()) - line_start);
        Position { line: line_index as u32 + 1, column: column_position.column }
    }
}

/// Where in a kernel something happened, as results and evidence store it.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema,
)]
pub struct Place {
    /// Null without debug information.
    pub file: Option<String>,
    /// 1-based; null without debug information.
    pub line: Option<u32>,
    /// 1-based; null where the debug information gives none.
    pub column: Option<u32>,
    /// The SPIR-V function's name, or its id as `%12` where it has none.
    pub function: Option<String>,
    /// Word offset of the instruction in the module (0 is the magic number).
    pub instruction: Option<u32>,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.file, self.line, self.column) {
            (Some(file), Some(line), Some(column)) => write!(f, "{file}:{line}:{column}"),
            (Some(file), Some(line), None) => write!(f, "{file}:{line}"),
            (Some(file), None, _) => write!(f, "{file}"),
            (None, _, _) => match (&self.function, self.instruction) {
                (Some(function), Some(word)) => write!(f, "{function}+word {word}"),
                (Some(function), None) => write!(f, "{function}"),
                (None, Some(word)) => write!(f, "word {word}"),
                (None, None) => write!(f, "-"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_by_line_starts_are_those_of_the_text() {
        let text = "a\n\nä = b;\r\n\tc\n";
        let lines = LineStarts::of(text);
        for offset in 0..text.len() + 3 {
            assert_eq!(lines.position(text, offset), Position::of(text, offset), "{offset}");
        }
    }

    #[test]
    fn the_range_of_a_line_ends_before_its_line_feed() {
        let text = "a\n\nlast";
        let lines = LineStarts::of(text);
        let line = |line| lines.range(text, line).map(|(start, end)| &text[start..end]);
        assert_eq!(
            [line(0), line(1), line(2), line(3), line(4)],
            [None, Some("a"), Some(""), Some("last"), None]
        );
    }

    #[test]
    fn column_counts_characters_not_bytes() {
        assert_eq!(Position::of("a\nä = b", "a\nä = ".len()), Position { line: 2, column: 5 });
    }
}
