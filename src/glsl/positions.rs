//! Where in the source text each instruction of the production module comes from, to the token.
//!
//! Knows: the compiler writes debug lines, but no columns. So the same tokens are compiled once more, each on a line of
//! its own: the line of an instruction then names a token.
//! Promises: the text differs from the production text in white space alone. Whoever uses the positions must show that
//! the two modules are the same but for debug instructions (`instrument::object` does).
//! Does not cover: instructions to which the compiler gives no line, and lines that it leaves standing from the
//! instruction before.

use super::marking::Insertions;
use super::outline::Outline;
use super::preprocessor::{Directive, TranslationUnit};
use super::token::FrameId;
use super::{KernelSource, Optimization, compile};
use crate::model::place::{FileIndex, Position, Span};
use crate::model::structure::Accuracy;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Texts with one token on every line, compiled when they are asked for.
#[derive(Debug, Clone)]
pub struct Positions {
    kernel: KernelSource,
    text: String,
    /// The marked text, re-lined alike.
    marked: String,
    /// By line number - 1: index in `tokens`; none for lines of directives.
    pub lines: Vec<Option<u32>>,
    pub tokens: Vec<TokenPlace>,
    /// First and last token of each decision: `decisions[i]` is `DecisionId(i + 1)`.
    pub decisions: Vec<[u32; 2]>,
    /// First and last token of each switch's selector: `switches[i]` is `SwitchId(i + 1)`.
    pub switches: Vec<[u32; 2]>,
    /// First and last token of each loop statement, outer before inner; the first is the keyword.
    pub loops: Vec<[u32; 2]>,
}

/// A token of the preprocessed text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenPlace {
    pub text: Arc<str>,
    /// Index in the structure's file list; for macro text, where the macro is used.
    pub file: FileIndex,
    pub line: u32,
    /// None where lines alone are known.
    pub column: Option<u32>,
}

impl Positions {
    /// Re-lines a kernel's texts.
    pub(super) fn of(
        kernel: &KernelSource,
        unit: &TranslationUnit,
        outline: &Outline,
        markers: &Insertions,
        accuracy: Accuracy,
    ) -> Self {
        let (text, lines) = relined(unit, &Insertions::default());
        Self {
            kernel: kernel.clone(),
            text,
            marked: relined(unit, markers).0,
            lines,
            tokens: token_places(unit, accuracy),
            decisions: outline.ranges.clone(),
            switches: outline.selectors.clone(),
            loops: outline.loops.clone(),
        }
    }

    /// SPIR-V of the re-lined text, compiled with the options of the production module.
    pub fn module(&self) -> Result<Vec<u32>, String> {
        compile::rewritten(&self.kernel, &self.text, self.kernel.optimization).map_err(|error| error.reason)
    }

    /// SPIR-V of the re-lined marked text; never optimised.
    pub fn marked_module(&self) -> Result<Vec<u32>, String> {
        compile::rewritten(&self.kernel, &self.marked, Optimization::Zero).map_err(|error| error.reason)
    }

    /// What production is compiled with.
    pub fn optimization(&self) -> Optimization {
        self.kernel.optimization
    }
}

/// Every token and directive on a line of its own, and the token of each line. What is inserted adds no line.
fn relined(unit: &TranslationUnit, inserted: &Insertions) -> (String, Vec<Option<u32>>) {
    let mut text = String::new();
    let mut lines = Vec::new();
    let is_version = |directive: &&Directive| directive.text.starts_with("#version");
    let mut write = |parts: &[&str], token: Option<u32>| {
        parts.iter().for_each(|part| text.push_str(part));
        text.push('\n');
        lines.push(token);
    };
    // `#version` must be the first thing of all (GLSL 4.60, 3.3).
    unit.directives.iter().filter(is_version).for_each(|version| write(&[&version.text], None));
    let mut directives = unit.directives.iter().filter(|directive| !is_version(directive)).peekable();
    for (index, token) in unit.tokens.iter().enumerate() {
        while let Some(directive) = directives.next_if(|directive| directive.before <= index) {
            write(&[&directive.text], None);
        }
        let around = |table: &BTreeMap<usize, String>| table.get(&index).cloned().unwrap_or_default();
        let (before, behind) = (around(&inserted.before), around(&inserted.behind));
        write(&[&before, " ", &token.text, &behind], Some(index as u32));
    }
    directives.for_each(|directive| write(&[&directive.text], None));
    (text, lines)
}

fn token_places(unit: &TranslationUnit, accuracy: Accuracy) -> Vec<TokenPlace> {
    let starts: Vec<Vec<u32>> = unit.files.iter().map(|file| line_starts(&file.text)).collect();
    let place = |token: &super::token::Token| {
        let span = unit.frames.project(token, FrameId::FILE);
        let column = match accuracy {
            Accuracy::Exact => column(unit, &starts, span, token.line),
            Accuracy::LinesOnly => None,
        };
        TokenPlace { text: Arc::clone(&token.text), file: token.line_file, line: token.line, column }
    };
    unit.tokens.iter().map(place).collect()
}

/// The column of a span's start; none where the compiler counts it on another line (`#line`, continued lines).
fn column(unit: &TranslationUnit, starts: &[Vec<u32>], span: Span, line: u32) -> Option<u32> {
    let start = *starts.get(span.file.0 as usize)?.get(line.checked_sub(1)? as usize)?;
    let text = unit.files.get(span.file.0 as usize)?.text.get(start as usize..span.start as usize)?;
    (!text.contains('\n')).then(|| Position::of(text, text.len()).column)
}

fn line_starts(text: &str) -> Vec<u32> {
    let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at as u32 + 1);
    std::iter::once(0).chain(ends).collect()
}
