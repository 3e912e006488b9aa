//! The steps from a kernel's source to its modules and structure, in the order that `glsl`
//! describes.
//!
//! Promises: text whose macros grow without bound never reaches the compiler; a kernel never fails
//! for its markers.
//! Does not cover: the steps themselves, which are one file each.

use super::include::{IncludeResolver, ReadIncludes};
use super::isolate::{self, AcceptedMarking, CompilerRejection, Excluded};
use super::marking::{self, MarkedItem, MarkedText, MarkerForm, MarkerNames};
use super::outline::{self, UnitOutline};
use super::positions::{RelinedProduction, TokenPositions};
use super::preprocessor::{self, DEFINES_PATH, FailureCause, PreprocessError, TranslationUnit};
use super::{
    Compiled, KernelSource, Optimization, compile as compiler, deep_stack, digests, lines, narrow,
    parser, semantics,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::id::DecisionId;
use vkcert_model::place::LineStarts;
use vkcert_model::structure::{Accuracy, KernelStructure, MarkIndex, Recording, TextDigests};

/// Whether the positions of production's instructions will be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PositionsWanted {
    /// They will be: they are compiled ahead, beside the rest.
    Soon,
    /// They may be: they are compiled when they are asked for.
    Perhaps,
}

/// Compiles a kernel twice and describes its structure.
pub fn compile(kernel: &KernelSource) -> Result<Compiled, Vec<Diagnostic>> {
    compile_with(kernel, PositionsWanted::Perhaps)
}

/// As [`compile`]; where positions are wanted soon, what they need is compiled beside the rest.
pub fn compile_with(
    kernel: &KernelSource,
    positions_wanted: PositionsWanted,
) -> Result<Compiled, Vec<Diagnostic>> {
    deep_stack::run_deep(|| compile_here(kernel, positions_wanted))
        .map_err(|error| not_started(kernel, &error))?
}

fn not_started(kernel: &KernelSource, error: &std::io::Error) -> Vec<Diagnostic> {
    let message = format!("the front end cannot be started: {error}");
    vec![Diagnostic::new("compiler", message).in_file(&kernel.path)]
}

/// Runs `other` where a core of the pool has nothing else to do, or else behind `own`, which runs
/// on this thread. A thread outside of the pool runs both itself: threads of the pool may wait for it,
/// and would wait forever if it waited for them.
///
/// # Errors
///
/// If a thread with a deep stack is needed and none can be started for `other`.
fn run_beside<A: Send, B>(
    other: impl FnOnce() -> A + Send,
    own: impl FnOnce() -> B,
) -> (std::io::Result<A>, B) {
    if rayon::current_thread_index().is_none() {
        let own_result = own();
        return (deep_stack::run_deep(other), own_result);
    }
    let mut other_result = None;
    let own_result = rayon::in_place_scope(|scope| {
        scope.spawn(|_| other_result = Some(deep_stack::run_deep(other)));
        own()
    });
    (other_result.expect("a scope ends when all in it has run"), own_result)
}

/// Files that a text which does not compile includes.
#[derive(Debug, Clone, Default)]
pub struct RefusedIncludes {
    /// Texts by path as reports show it.
    pub found: BTreeMap<String, String>,
    /// Files that are there and cannot be included, by path as reports show it.
    pub unreadable: BTreeMap<String, PathBuf>,
}

/// The files that the compiler and the front end look into before they refuse a text: with these in
/// place they say the same again.
///
/// # Errors
/// If no thread can be started.
pub fn includes_of_refused(kernel: &KernelSource) -> std::io::Result<RefusedIncludes> {
    deep_stack::run_deep(|| look_into_includes(kernel))
}

fn look_into_includes(kernel: &KernelSource) -> RefusedIncludes {
    let includes = IncludeResolver::new(kernel);
    if compiler::check_admissible(kernel).is_err() {
        // The compiler must not be given this text: what can be told is told without it.
        let text = kernel.text.replace(['\u{feff}', '\0'], "");
        let _ = preprocessor::preprocess(
            &kernel.path,
            &text,
            &kernel.defines,
            &includes,
            &super::NoneDefined,
        );
        return refused_includes(&includes);
    }
    let macros = compiler::CompilerMacros { kernel };
    let own_unit =
        preprocessor::preprocess(&kernel.path, &kernel.text, &kernel.defines, &includes, &macros);
    let is_within_limits = own_unit.err().is_none_or(|error| error.cause != FailureCause::Limit);
    if is_within_limits {
        // What it comes to is known: which files it asks for is wanted.
        let _ = compiler::compile_production(kernel, &includes, kernel.optimization);
    }
    refused_includes(&includes)
}

fn refused_includes(includes: &IncludeResolver) -> RefusedIncludes {
    RefusedIncludes { found: includes.read_includes().found, unreadable: includes.unreadable() }
}

/// Identity of the pinned compiler, for evidence.
pub fn compiler_identity() -> String {
    compiler::compiler_versions()
}

fn compile_here(
    kernel: &KernelSource,
    positions_wanted: PositionsWanted,
) -> Result<Compiled, Vec<Diagnostic>> {
    compiler::check_admissible(kernel).map_err(|diagnostic| vec![*diagnostic])?;
    let includes = IncludeResolver::new(kernel);
    let macros = compiler::CompilerMacros { kernel };
    let own_unit =
        preprocessor::preprocess(&kernel.path, &kernel.text, &kernel.defines, &includes, &macros);
    if let Err(error) = &own_unit {
        refuse_limit(kernel, error)?;
    }
    let mut report_notes = Vec::new();
    let (compiled_twice, read_unit) = match &own_unit {
        // The compiler works on the production text while the same text is read here.
        Ok(unit) if !semantics::may_occur(&unit.tokens) => {
            let (compiled_twice, read_unit) = run_beside(
                || production_twice(kernel),
                || ReadText::from_unit(kernel, &includes, own_unit, &mut report_notes),
            );
            (compiled_twice.map_err(|error| not_started(kernel, &error))?, read_unit)
        }
        Ok(_) | Err(_) => {
            let read_unit = ReadText::from_unit(kernel, &includes, own_unit, &mut report_notes);
            semantics::refuse_varying(&read_unit.unit, &read_unit.outline)?;
            (production_twice(kernel), read_unit)
        }
    };
    let mut compiled_twice = compiled_twice?;
    // The compiler may read files that could not be followed here.
    let mut read_includes = includes.read_includes();
    read_includes.join(std::mem::take(&mut compiled_twice.includes));
    let ReadText { unit, accuracy, mut outline, texts } = read_unit;
    narrow::refuse_wrong(&unit, &outline)?;
    let production_words = compiled_twice.agreed_module()?;
    report_notes.extend(outline.notes.iter().cloned());
    let marker_names = MarkerNames::unused_in(&unit.tokens);
    let relined = RelinedProduction::from_module(kernel, &unit, &production_words);
    let compile_positions = || {
        if positions_wanted == PositionsWanted::Soon && relined.has_control_flow {
            relined.text.compile_ahead(kernel);
        }
    };
    // Where no thread starts, the module of the positions is compiled when it is asked for.
    let (_, marked_module) = run_beside(compile_positions, || {
        compile_marked_text(kernel, &unit, &outline, &marker_names, &mut report_notes)
    });
    let (marked_text, marked_words, excluded_markers) = marked_module
        .map_err(|message| vec![Diagnostic::new("compiler", message).in_file(&kernel.path)])?;
    let excluded_items = excluded_markers.keys().copied().collect();
    let markers = marking::marker_insertions(
        &outline.placements,
        &excluded_items,
        &marker_names,
        MarkerForm::Functions,
    );
    let token_ranges = std::mem::take(&mut outline.token_ranges);
    let token_positions = Arc::new(TokenPositions::from_ranges(
        kernel,
        relined,
        &unit,
        token_ranges,
        &markers,
        accuracy,
    ));
    let text_digits = digests::token_digest(&unit.tokens);
    let mut structure = kernel_structure(
        kernel,
        unit,
        outline,
        accuracy,
        MarkedKernel { marker_names, marked_text, excluded: &excluded_markers },
        &mut report_notes,
    );
    structure.texts = texts;
    Ok(Compiled {
        structure,
        production: production_words,
        marked: marked_words,
        positions: token_positions,
        text: text_digits,
        included: read_includes.found,
        lookups: read_includes.lookups,
        notes: report_notes,
    })
}

/// A text as the front end has read it.
struct ReadText {
    unit: TranslationUnit,
    accuracy: Accuracy,
    outline: UnitOutline,
    texts: TextDigests,
}

impl ReadText {
    fn from_unit(
        kernel: &KernelSource,
        includes: &IncludeResolver,
        own_unit: Result<TranslationUnit, PreprocessError>,
        notes: &mut Vec<String>,
    ) -> Self {
        let (unit, accuracy) = translation_unit(kernel, includes, own_unit, notes);
        let items = parser::parse_unit(&unit.tokens);
        let outline = outline::outline_unit(&unit, &items, kernel.policy, &kernel.requested);
        let texts = digests::text_digests(&unit, &items, &kernel.entry);
        Self { unit, accuracy, outline, texts }
    }
}

/// The modules of two compilations of the same text.
struct CompiledTwice {
    first: Vec<u32>,
    second: Vec<u32>,
    path: String,
    includes: ReadIncludes,
}

impl CompiledTwice {
    /// The module; refused where the compiler cannot be relied on.
    fn agreed_module(self) -> Result<Vec<u32>, Vec<Diagnostic>> {
        if self.first == self.second {
            return Ok(self.first);
        }
        let first_difference =
            self.first.iter().zip(&self.second).position(|(first, second)| first != second);
        let word_index = first_difference.unwrap_or(self.first.len().min(self.second.len()));
        let message = format!(
            "the compiler makes different modules of this text (from word {word_index} on): it reads memory \
             that it has not written"
        );
        let hint = "look for rare constructs, and write them otherwise; the module of such a text cannot be relied on";
        Err(vec![Diagnostic::new("compiler-defect", message).in_file(&self.path).hint(hint)])
    }
}

/// The production module, compiled twice on memory with different remains: a defect of the compiler
/// that depends on them shows as a difference.
fn production_twice(kernel: &KernelSource) -> Result<CompiledTwice, Vec<Diagnostic>> {
    // The upper half of a `double` of these bytes is a number that survives conversion to narrower
    // floats.
    const REMAINS: [u8; 2] = [0x3F, 0x40];
    let (second, first) =
        run_beside(|| production_on(kernel, REMAINS[1]), || production_on(kernel, REMAINS[0]));
    let second = second.map_err(|error| not_started(kernel, &error))?;
    let ((first, mut includes), (second, other_includes)) = (first?, second?);
    includes.join(other_includes);
    Ok(CompiledTwice { first, second, path: kernel.path.clone(), includes })
}

/// The production module, and the files that it includes.
fn production_on(
    kernel: &KernelSource,
    freed_byte: u8,
) -> Result<(Vec<u32>, ReadIncludes), Vec<Diagnostic>> {
    let includes = IncludeResolver::new(kernel);
    let module = compiler::compile_production_on(kernel, &includes, freed_byte)?;
    Ok((module, includes.read_includes()))
}

/// The preprocessed text of a kernel and how far it can be trusted; why there is none where macros
/// grow without bound.
pub(crate) fn read_text(
    kernel: &KernelSource,
) -> Result<(TranslationUnit, Accuracy), PreprocessError> {
    let includes = IncludeResolver::new(kernel);
    let macros = compiler::CompilerMacros { kernel };
    let own_unit =
        preprocessor::preprocess(&kernel.path, &kernel.text, &kernel.defines, &includes, &macros);
    match own_unit {
        Err(error) if error.cause == FailureCause::Limit => Err(error),
        own_unit => Ok(translation_unit(kernel, &includes, own_unit, &mut Vec::new())),
    }
}

/// Text whose macros or includes grow without bound never reaches the compiler, which has no limit
/// of its own.
fn refuse_limit(kernel: &KernelSource, error: &PreprocessError) -> Result<(), Vec<Diagnostic>> {
    match error.cause {
        FailureCause::Text => Ok(()),
        FailureCause::Limit => {
            let diagnostic = Diagnostic::new("glsl-limit", error.message.clone());
            let hint = "look for macros or files that name each other several times";
            let diagnostic = match error.span.filter(|span| span.file.0 == 0) {
                Some(span) => diagnostic.at_span(
                    &kernel.path,
                    kernel.text.as_str(),
                    span.start as usize..span.end as usize,
                ),
                None => diagnostic.in_file(&kernel.path),
            };
            Err(vec![diagnostic.hint(hint)])
        }
    }
}

/// Our own preprocessed text where it equals the compiler's, token by token; else the compiler's.
fn translation_unit(
    kernel: &KernelSource,
    includes: &IncludeResolver,
    own_unit: Result<TranslationUnit, PreprocessError>,
    notes: &mut Vec<String>,
) -> (TranslationUnit, Accuracy) {
    let showable_text = match &own_unit {
        Ok(unit) => lines::showable_text(unit),
        Err(_) => lines::showable_unread(&kernel.text, &includes.found()),
    };
    let reference = showable_text.and_then(|showable_text| {
        compiler::preprocess_by_compiler(kernel, &showable_text, includes)
    });
    let mismatch_reason = match (&own_unit, &reference) {
        (Ok(unit), Ok(reference)) => lines::first_difference(unit, reference),
        (Ok(_), Err(error)) => {
            Some(format!("the compiler cannot show its preprocessed text ({})", error.trim()))
        }
        (Err(error), _) => Some(error.to_string()),
    };
    match (own_unit, reference, mismatch_reason) {
        (Ok(unit), _, None) => (unit, Accuracy::Exact),
        (_, Ok(reference), Some(mismatch_reason)) => {
            notes.push(format!(
                "lines only: the text is measured as the compiler preprocesses it, because {mismatch_reason}"
            ));
            let found_texts = includes.found();
            let texts = lines::texts_by_path(&kernel.path, &kernel.text, &found_texts);
            (lines::unit_of_preprocessed(&reference, &kernel.path, &texts), Accuracy::LinesOnly)
        }
        (Ok(unit), Err(_), Some(mismatch_reason)) => {
            notes.push(format!("the token streams could not be compared: {mismatch_reason}"));
            (unit, Accuracy::LinesOnly)
        }
        (Err(_), Err(_), _) | (Err(_), Ok(_), None) => {
            notes
                .push("the text could not be preprocessed: it is measured as it stands".to_owned());
            let texts = BTreeMap::from([(kernel.path.as_str(), kernel.text.as_str())]);
            (lines::unit_of_preprocessed(&kernel.text, &kernel.path, &texts), Accuracy::LinesOnly)
        }
    }
}

/// What is marked on each line, by file and 1-based line.
fn marked_lines<'u>(
    unit: &'u TranslationUnit,
    outline: &UnitOutline,
) -> BTreeMap<(&'u str, u32), BTreeSet<MarkedItem>> {
    let mut marked_by_line: BTreeMap<(&str, u32), BTreeSet<MarkedItem>> = BTreeMap::new();
    for placement in &outline.placements {
        for token in [&unit.tokens[placement.first], &unit.tokens[placement.last]] {
            let file = unit.files.get(token.line_file.0 as usize).map_or("", |file| &file.path);
            marked_by_line
                .entry((file, token.line))
                .or_default()
                .insert(placement.role.marked_item());
        }
    }
    marked_by_line
}

type MarkedModule = (MarkedText, Vec<u32>, Excluded<MarkedItem>);

fn compile_marked_text(
    kernel: &KernelSource,
    unit: &TranslationUnit,
    outline: &UnitOutline,
    marker_names: &MarkerNames,
    notes: &mut Vec<String>,
) -> Result<MarkedModule, String> {
    let all_marked: BTreeSet<MarkedItem> =
        outline.placements.iter().map(|placement| placement.role.marked_item()).collect();
    let all_marked: Vec<MarkedItem> = all_marked.into_iter().collect();
    let marked_by_line = marked_lines(unit, outline);
    let accepted_marking = isolate::bisect_rejected(&all_marked, |excluded| {
        let excluded = excluded.keys().copied().collect();
        let marked_text =
            marking::render_marked(unit, &outline.placements, &excluded, marker_names);
        let marked_words = compiler::compile_marked(kernel, &marked_text.text, marker_names)
            .map_err(|error| {
                let suspects = error
                    .places
                    .iter()
                    .filter_map(|(file, line)| marked_by_line.get(&(file.as_str(), *line)));
                CompilerRejection {
                    suspects: suspects.flatten().copied().collect(),
                    reason: error.reason.into(),
                }
            })?;
        Ok((marked_text, marked_words))
    });
    if let Some(AcceptedMarking { compiled: (marked_text, marked_words), excluded }) =
        accepted_marking
    {
        return Ok((marked_text, marked_words, excluded));
    }
    // Not even the rewritten text without markers compiles: measure nothing, but keep every
    // obligation.
    let reason = "the preprocessed text does not compile by itself";
    notes.push(format!("nothing is marked: {reason}"));
    let includes = IncludeResolver::new(kernel);
    let marked_words = compiler::compile_production(kernel, &includes, Optimization::Zero)
        .map_err(|_| reason.to_owned())?;
    let marked_text = MarkedText { text: String::new(), roles: Vec::new() };
    let reason: Rc<str> = reason.into();
    let excluded = all_marked.into_iter().map(|marked| (marked, Rc::clone(&reason))).collect();
    Ok((marked_text, marked_words, excluded))
}

/// A kernel's markers as they were compiled.
struct MarkedKernel<'a> {
    marker_names: MarkerNames,
    marked_text: MarkedText,
    /// What had to stay unmarked, with the compiler's reason.
    excluded: &'a Excluded<MarkedItem>,
}

fn kernel_structure(
    kernel: &KernelSource,
    unit: TranslationUnit,
    mut outline: UnitOutline,
    accuracy: Accuracy,
    marked_kernel: MarkedKernel<'_>,
    notes: &mut Vec<String>,
) -> KernelStructure {
    let MarkedKernel { marker_names, marked_text, excluded } = marked_kernel;
    let line_starts: Vec<LineStarts> =
        unit.files.iter().map(|file| LineStarts::of(&file.text)).collect();
    for decision in &mut outline.decisions {
        if let Some(reason) = excluded.get(&MarkedItem::Decision(decision.id)) {
            let reason = format!("the compiler does not accept a marker here ({reason})");
            decision.recording = Recording::Unmarked { reason };
        }
        if let Recording::Unmarked { reason } = &decision.recording {
            let decision_file = unit.files.get(decision.span.file.0 as usize);
            let decision_line = line_starts.get(decision.span.file.0 as usize);
            let decision_line =
                decision_line.map_or(0, |lines| lines.line(decision.span.start as usize));
            let file_path = decision_file.map_or(DEFINES_PATH, |file| &file.path);
            notes.push(format!(
                "{} (`{}`, {file_path}:{decision_line}) is not marked: {reason}",
                decision.id, decision.text
            ));
        }
    }
    let exclusion_reason = |mark: MarkIndex| excluded.get(&MarkedItem::Mark(mark));
    for function in &outline.functions {
        if let Some(reason) = exclusion_reason(function.entry_mark) {
            notes.push(format!("the entry of `{}` is not marked: {reason}", function.name));
        }
    }
    for switch in &mut outline.switches {
        for label in &mut switch.labels {
            if let Some(reason) = label.mark.and_then(exclusion_reason) {
                notes.push(format!(
                    "label `{}` of {} is not marked: {reason}",
                    label.text, switch.id
                ));
                label.mark = None;
            }
        }
    }
    for call in outline.requested.calls.iter_mut().flatten() {
        if let Some(reason) = call.mark.and_then(exclusion_reason) {
            notes.push(format!("{} is not marked: {reason}", call.id));
            call.mark = None;
        }
    }
    for loop_statement in outline.requested.loops.iter_mut().flatten() {
        if let Some(reason) = excluded.get(&MarkedItem::Loop(loop_statement.id)) {
            notes.push(format!("{} is not marked: {reason}", loop_statement.id));
            loop_statement.marks.clear();
        }
    }
    debug_assert!(
        outline
            .decisions
            .iter()
            .enumerate()
            .all(|(at, found)| found.id == DecisionId(at as u32 + 1))
    );
    KernelStructure {
        files: unit.files,
        entry: kernel.entry.clone(),
        functions: outline.functions,
        decisions: outline.decisions,
        switches: outline.switches,
        accuracy,
        markers: marked_text.roles,
        value_marker: marker_names.value,
        mark_marker: marker_names.mark,
        texts: TextDigests::default(),
        requested: outline.requested,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;

    /// A constant of which the compiler reads more than it has written.
    const DEFECT: &str = "#version 450
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 1) in;
layout(binding = 0) buffer D { float16_t d[]; };
void main() { d[gl_GlobalInvocationID.x] = float16_t(5); }
";

    #[test]
    fn a_pool_whose_stacks_are_all_too_shallow_compiles() {
        let right = KernelSource::alone("k.comp", DEFECT.replace("(5)", "(5.0)"), "vulkan1.3");
        let compile_once = |_| compile(&right).expect("it compiles").production;
        let modules: Vec<Vec<u32>> = (0..64).into_par_iter().map(compile_once).collect();
        assert!(modules.iter().all(|module| *module == modules[0]));
    }

    #[test]
    fn modules_that_depend_on_what_memory_held_are_refused() {
        for _ in 0..20 {
            let twice = production_twice(&KernelSource::alone("k.comp", DEFECT, "vulkan1.3"));
            let refused = twice
                .expect("the compiler accepts it")
                .agreed_module()
                .expect_err("the modules differ");
            assert_eq!(refused[0].kind, "compiler-defect");
        }
        let right = DEFECT.replace("(5)", "(5.0)");
        let twice = production_twice(&KernelSource::alone("k.comp", right, "vulkan1.3"));
        twice.expect("the compiler accepts it").agreed_module().expect("one module");
    }
}
