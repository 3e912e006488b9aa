//! Where in the source text each instruction of the production module comes from, to the token.
//!
//! Knows: the compiler writes debug lines, but no columns. So the same tokens are compiled once
//! more, each on a line of its own: the line of an instruction then names a token.
//! Promises: the text differs from the production text in white space alone. Whoever uses the
//! positions must show that the two modules are the same but for debug instructions
//! (`instrument::object` does).
//! Does not cover: instructions to which the compiler gives no line, and lines that it leaves
//! standing from the instruction before.

use super::marking::MarkerInsertions;
use super::outline::TokenRanges;
use super::preprocessor::{KeptDirective, TranslationUnit};
use super::token::{FrameId, Token};
use super::{KernelSource, Optimization, compile, marker_calls};
use rspirv::spirv::Op;
use serde::{Deserialize, Serialize};

use std::sync::{Mutex, MutexGuard, PoisonError};
use vkcert_model::place::{FileIndex, Position, Span};
use vkcert_model::structure::Accuracy;

/// Texts with one token on every line, compiled when their modules are asked for, or ahead of that.
#[derive(Debug)]
pub struct TokenPositions {
    kernel: KernelSource,
    production: RelinedText,
    /// Whether production has a branch, a select or a loop. Of a module without them only findings
    /// ask for positions.
    pub has_control_flow: bool,
    /// The marked text, re-lined alike; never optimised.
    marked: RelinedText,
    /// By line number - 1: index in `tokens`; none for lines of directives.
    pub lines: Vec<Option<u32>>,
    /// The tokens of the preprocessed text, in order.
    pub tokens: Vec<TokenPlace>,
    /// First and last token of each decision: `decisions[i]` is `DecisionId(i + 1)`.
    pub decisions: Vec<[u32; 2]>,
    /// First and last token of each switch's selector: `switches[i]` is `SwitchId(i + 1)`.
    pub switches: Vec<[u32; 2]>,
    /// First and last token of each loop statement, outer before inner; the first is the keyword.
    pub loops: Vec<[u32; 2]>,
}

/// [`TokenPositions`] as they can be written down and read again, without their kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredPositions {
    production: String,
    marked: String,
    has_control_flow: bool,
    lines: Vec<Option<u32>>,
    tokens: Vec<TokenPlace>,
    decisions: Vec<[u32; 2]>,
    switches: Vec<[u32; 2]>,
    loops: Vec<[u32; 2]>,
}

impl StoredPositions {
    /// Whether all that names a token names one that is there.
    fn is_whole(&self) -> bool {
        let is_there = |token: u32| (token as usize) < self.tokens.len();
        let ranges = self.decisions.iter().chain(&self.switches).chain(&self.loops);
        ranges.copied().all(|[first, last]| first <= last && is_there(last))
            && self.lines.iter().flatten().copied().all(is_there)
    }
}

/// A text with one token on every line.
#[derive(Debug)]
pub(super) struct RelinedText {
    text: String,
    optimization: Optimization,
    module: Mutex<RelinedModule>,
}

/// The module of a re-lined text: SPIR-V, or why there is none.
#[derive(Debug)]
enum RelinedModule {
    NotAsked,
    Ahead(Result<Vec<u32>, String>),
    /// Handed out; it is compiled again for whoever asks once more, and not kept for its size.
    Taken,
}

impl RelinedText {
    fn new(relined_text: String, optimization: Optimization) -> Self {
        Self { text: relined_text, optimization, module: Mutex::new(RelinedModule::NotAsked) }
    }

    /// Compiles the text now, unless somebody has asked for its module; who asks meanwhile waits.
    pub(super) fn compile_ahead(&self, kernel: &KernelSource) {
        let mut module = self.lock_module();
        if matches!(*module, RelinedModule::NotAsked) {
            *module = RelinedModule::Ahead(self.compile_text(kernel));
        }
    }

    fn module(&self, kernel: &KernelSource) -> Result<Vec<u32>, String> {
        match std::mem::replace(&mut *self.lock_module(), RelinedModule::Taken) {
            RelinedModule::Ahead(module) => module,
            RelinedModule::NotAsked | RelinedModule::Taken => self.compile_text(kernel),
        }
    }

    fn compile_text(&self, kernel: &KernelSource) -> Result<Vec<u32>, String> {
        compile::compile_rewritten(kernel, &self.text, self.optimization)
            .map_err(|error| error.reason)
    }

    /// What is behind the lock is whole at any time.
    fn lock_module(&self) -> MutexGuard<'_, RelinedModule> {
        self.module.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The production text with one token on every line, and the token of each line (none: a
/// directive).
pub(super) struct RelinedProduction {
    pub text: RelinedText,
    lines: Vec<Option<u32>>,
    pub has_control_flow: bool,
}

impl RelinedProduction {
    /// `production` is the module of the text as it stands.
    pub(crate) fn from_module(
        kernel: &KernelSource,
        unit: &TranslationUnit,
        production: &[u32],
    ) -> Self {
        let (text, lines) = reline_text(unit, &MarkerInsertions::default());
        let has_control_flow = has_control_flow(production);
        Self { text: RelinedText::new(text, kernel.optimization), lines, has_control_flow }
    }
}

fn has_control_flow(module: &[u32]) -> bool {
    const OPCODES: [Op; 4] = [Op::BranchConditional, Op::Switch, Op::Select, Op::LoopMerge];
    marker_calls::instructions(module)
        .any(|row| OPCODES.iter().any(|op| marker_calls::opcode(row) == *op as u32))
}

/// A token of the preprocessed text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenPlace {
    /// The token as it stands after preprocessing.
    pub text: Box<str>,
    /// Index in the structure's file list; for macro text, where the macro is used.
    pub file: FileIndex,
    /// 1-based line in that file.
    pub line: u32,
    /// None where lines alone are known.
    pub column: Option<u32>,
}

impl TokenPositions {
    /// Re-lines a kernel's marked text beside its production text.
    pub(super) fn from_ranges(
        kernel: &KernelSource,
        production: RelinedProduction,
        unit: &TranslationUnit,
        token_ranges: TokenRanges,
        markers: &MarkerInsertions,
        accuracy: Accuracy,
    ) -> Self {
        Self {
            kernel: kernel.clone(),
            production: production.text,
            has_control_flow: production.has_control_flow,
            marked: RelinedText::new(reline_text(unit, markers).0, Optimization::Zero),
            lines: production.lines,
            tokens: token_places(unit, accuracy),
            decisions: token_ranges.decisions,
            switches: token_ranges.selectors,
            loops: token_ranges.loops,
        }
    }

    /// All of it but the kernel.
    pub fn stored(&self) -> StoredPositions {
        let Self {
            kernel: _,
            production,
            has_control_flow,
            marked,
            lines,
            tokens,
            decisions,
            switches,
            loops,
        } = self;
        StoredPositions {
            production: production.text.clone(),
            marked: marked.text.clone(),
            has_control_flow: *has_control_flow,
            lines: lines.clone(),
            tokens: tokens.clone(),
            decisions: decisions.clone(),
            switches: switches.clone(),
            loops: loops.clone(),
        }
    }

    /// Those of a kernel that were written down before; none where they contradict themselves.
    pub fn from_stored(kernel: &KernelSource, stored: StoredPositions) -> Option<Self> {
        if !stored.is_whole() {
            return None;
        }
        let StoredPositions {
            production,
            marked,
            has_control_flow,
            lines,
            tokens,
            decisions,
            switches,
            loops,
        } = stored;
        Some(Self {
            kernel: kernel.clone(),
            production: RelinedText::new(production, kernel.optimization),
            has_control_flow,
            marked: RelinedText::new(marked, Optimization::Zero),
            lines,
            tokens,
            decisions,
            switches,
            loops,
        })
    }

    /// SPIR-V of the re-lined text, compiled with the options of the production module.
    pub fn relined_module(&self) -> Result<Vec<u32>, String> {
        self.production.module(&self.kernel)
    }

    /// SPIR-V of the re-lined marked text; never optimised.
    pub fn marked_module(&self) -> Result<Vec<u32>, String> {
        self.marked.module(&self.kernel)
    }

    /// Compiles the re-lined marked text before it is asked for, on the thread of the caller.
    pub fn compile_marked_ahead(&self) {
        self.marked.compile_ahead(&self.kernel);
    }

    /// What production is compiled with.
    pub fn optimization(&self) -> Optimization {
        self.kernel.optimization
    }
}

/// Every token and directive on a line of its own, and the token of each line. What is inserted
/// adds no line.
fn reline_text(
    unit: &TranslationUnit,
    marker_insertions: &MarkerInsertions,
) -> (String, Vec<Option<u32>>) {
    let mut relined = RelinedLines { text: String::new(), line_tokens: Vec::new() };
    // `#version` must be the first thing of all (GLSL 4.60, 3.3).
    let (versions, directives): (Vec<&KeptDirective>, Vec<&KeptDirective>) =
        unit.directives.iter().partition(|directive| directive.text.starts_with("#version"));
    for version in versions {
        relined.push_line(&[&version.text], None);
    }
    let mut directives = directives.into_iter().peekable();
    for (index, token) in unit.tokens.iter().enumerate() {
        while let Some(directive) = directives.next_if(|directive| directive.before <= index) {
            relined.push_line(&[&directive.text], None);
        }
        let text_before = marker_insertions.before.get(&index).map_or("", String::as_str);
        let text_behind = marker_insertions.behind.get(&index).map_or("", String::as_str);
        relined.push_line(&[text_before, " ", &token.text, text_behind], Some(index as u32));
    }
    for directive in directives {
        relined.push_line(&[&directive.text], None);
    }
    (relined.text, relined.line_tokens)
}

/// A text that grows line by line, with the token of each line.
struct RelinedLines {
    text: String,
    line_tokens: Vec<Option<u32>>,
}

impl RelinedLines {
    fn push_line(&mut self, parts: &[&str], token: Option<u32>) {
        parts.iter().for_each(|part| self.text.push_str(part));
        self.text.push('\n');
        self.line_tokens.push(token);
    }
}

fn token_places(unit: &TranslationUnit, accuracy: Accuracy) -> Vec<TokenPlace> {
    let starts: Vec<Vec<u32>> = unit.files.iter().map(|file| line_starts(&file.text)).collect();
    unit.tokens.iter().map(|token| token_place(unit, &starts, token, accuracy)).collect()
}

fn token_place(
    unit: &TranslationUnit,
    line_starts: &[Vec<u32>],
    token: &Token,
    accuracy: Accuracy,
) -> TokenPlace {
    let span = unit.frames.project_span(token, FrameId::FILE);
    let column = match accuracy {
        Accuracy::Exact => token_column(unit, line_starts, span, token.line),
        Accuracy::LinesOnly => None,
    };
    TokenPlace { text: (*token.text).into(), file: token.line_file, line: token.line, column }
}

/// The column of a span's start; none where the compiler counts it on another line (`#line`,
/// continued lines).
fn token_column(
    unit: &TranslationUnit,
    line_starts: &[Vec<u32>],
    span: Span,
    line: u32,
) -> Option<u32> {
    let line_start = *line_starts.get(span.file.0 as usize)?.get(line.checked_sub(1)? as usize)?;
    let text_before =
        unit.files.get(span.file.0 as usize)?.text.get(line_start as usize..span.start as usize)?;
    (!text_before.contains('\n')).then(|| Position::of(text_before, text_before.len()).column)
}

fn line_starts(text: &str) -> Vec<u32> {
    let line_ends = text
        .bytes()
        .enumerate()
        .filter(|(_, byte)| *byte == b'\n')
        .map(|(byte_index, _)| byte_index as u32 + 1);
    std::iter::once(0).chain(line_ends).collect()
}

#[cfg(test)]
mod tests {
    use crate::{KernelSource, PositionsWanted, compile_with};

    #[test]
    fn modules_compiled_ahead_are_those_compiled_on_demand() {
        let text = "#version 450\nlayout(local_size_x = 1) in;\nlayout(binding = 0) buffer D { uint d[]; };\n\
                    void main() { if (d[0] > 1u) { d[1] = 2u; } }\n";
        let kernel = KernelSource::alone("k.comp", text, "vulkan1.3");
        let ahead = compile_with(&kernel, PositionsWanted::Soon).unwrap().positions;
        ahead.compile_marked_ahead();
        let later = compile_with(&kernel, PositionsWanted::Perhaps).unwrap().positions;
        let modules = [ahead.relined_module(), ahead.marked_module()].map(Result::unwrap);
        assert_eq!(modules, [later.relined_module(), later.marked_module()].map(Result::unwrap));
        assert_ne!(modules[0], modules[1]);
        // Who asks once more gets the same again.
        assert_eq!(modules, [ahead.relined_module(), ahead.marked_module()].map(Result::unwrap));
    }

    #[test]
    fn control_flow_is_that_of_production() {
        let of = |statement: &str| {
            let text = format!(
                "#version 450\nlayout(local_size_x = 1) in;\nlayout(binding = 0) buffer D {{ uint d[]; }};\n\
                 void main() {{ {statement} }}\n"
            );
            let kernel = KernelSource::alone("k.comp", &text, "vulkan1.3");
            compile_with(&kernel, PositionsWanted::Soon).unwrap().positions
        };
        for statement in [
            "if (d[0] > 1u) d[1] = 2u;",
            "switch (d[0]) { case 1u: d[1] = 2u; }",
            "d[1] = uint(d[0] > 1u);",
            "while (true) { d[0]++; }",
            "d[1] = d[0] > 1u && d[2] > 3u ? 4u : 5u;",
        ] {
            assert!(of(statement).has_control_flow, "{statement}");
        }
        let straight = of("d[1] = d[0] + 2u;");
        let findings_alone_ask = !straight.has_control_flow && straight.relined_module().is_ok();
        assert!(findings_alone_ask);
    }
}
