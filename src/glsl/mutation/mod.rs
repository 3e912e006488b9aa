//! The mutants of a kernel: its text with one small fault each, and one text with all of them.
//!
//! Knows: the preprocessed tokens with their places and the syntax tree. Promises: a mutant is a
//! change of the text of the files; the text with all mutants is compiled once, and a word in a
//! storage buffer of its own selects one of them, or none with 0. A mutant that this text cannot
//! have, because a constant is demanded in its place or the compiler refuses it there, is for a
//! module of its own.
//! Does not cover: running mutants and judging them (`campaign::mutation`); the types of what
//! operators are applied to: the compiler is asked.

mod declarations;
mod edits;
mod operators;
mod selection;
mod sites;
mod synchronisation;
mod together;

pub use edits::SourceEdit;
pub use together::compile_mutants;

use crate::compile as compiler;
use crate::include::IncludeResolver;
use crate::preprocessor::{DEFINES_PATH, TranslationUnit};
use crate::syntax::{FileLevelItem, TokenIndex};
use crate::{KernelSource, Optimization, deep_stack, kernel as front_end, parser};
use declarations::mutate_declaration;
use edits::{Alternative, Alternatives, FoundStatement, TokenEdit, source_edits};
use operators::{mutate_expression, mutate_statement};
use selection::compile_selection;
use sites::{DeclarationNode, Evaluation, ExpressionNode, SiteVisitor, StatementNode, visit_sites};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use together::{CopiedFunctions, SharedFunctions};
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::mutation::MutationOperator;
use vkcert_model::place::{SourceFile, Span};
use vkcert_model::structure::Accuracy;

/// A kernel with its mutants.
#[derive(Debug, Clone)]
pub struct MutatedKernel {
    /// The files that edits are of, the main one first.
    pub files: Vec<SourceFile>,
    /// In the order of the text; the first has the number 1.
    pub mutants: Vec<SourceMutant>,
    /// None where no mutant can be selected.
    pub selection: Option<SelectionModule>,
    /// What could not be mutated, and why.
    pub notes: Vec<String>,
    /// Functions whose mutants are compiled together; none where each is compiled by itself.
    functions: SharedFunctions,
}

/// A mutant of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceMutant {
    /// What makes it; the first operator names it.
    pub operators: Vec<MutationOperator>,
    /// What it changes, in the order of the text.
    pub edits: Vec<SourceEdit>,
    /// How it is run.
    pub form: MutantForm,
}

/// How a mutant is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MutantForm {
    /// By its number, in the module with all mutants.
    Selected,
    /// In a module of its own, where it compiles at all.
    Alone,
}

/// The module with all mutants of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectionModule {
    /// SPIR-V, not optimised.
    pub words: Vec<u32>,
    /// Set of the storage buffer whose first word is the number of the mutant.
    pub set: u32,
    /// Its binding.
    pub binding: u32,
}

impl MutatedKernel {
    /// Files without mutants, and why there are none.
    pub fn without_mutants(files: Vec<SourceFile>, note: String) -> Self {
        Self { files, mutants: Vec::new(), selection: None, notes: vec![note], functions: None }
    }

    /// The text of a file with a mutant's edits of it; none where it has none.
    pub fn mutated_text(&self, mutant: &SourceMutant, file: usize) -> Option<String> {
        let original = &self.files.get(file)?.text;
        let edits = mutant.edits.iter().filter(|edit| edit.span.file.0 as usize == file);
        let mut text = String::with_capacity(original.len() + 16);
        let mut written = 0;
        for edit in edits {
            let (start, end) = (edit.span.start as usize, edit.span.end as usize);
            text.push_str(original.get(written..start)?);
            text.push_str(&edit.text);
            written = end;
        }
        text.push_str(original.get(written..)?);
        (text != *original).then_some(text)
    }
}

/// Whether the text with all mutants is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SelectionWanted {
    /// It is.
    Compiled,
    /// It is not: the mutants are all that is asked.
    Left,
}

/// Finds the mutants of a kernel.
///
/// # Errors
/// A text that the front end refuses.
pub fn mutate(
    kernel: &KernelSource,
    wanted: SelectionWanted,
) -> Result<MutatedKernel, Vec<Diagnostic>> {
    let unstarted = |error: std::io::Error| {
        let message = format!("the front end cannot be started: {error}");
        vec![Diagnostic::new("compiler", message).in_file(&kernel.path)]
    };
    deep_stack::run_deep(|| mutate_here(kernel, wanted)).map_err(unstarted)?
}

fn mutate_here(
    kernel: &KernelSource,
    wanted: SelectionWanted,
) -> Result<MutatedKernel, Vec<Diagnostic>> {
    compiler::check_admissible(kernel).map_err(|diagnostic| vec![*diagnostic])?;
    let refused =
        |message: String| vec![Diagnostic::new("glsl-limit", message).in_file(&kernel.path)];
    let (unit, accuracy) =
        front_end::read_text(kernel).map_err(|error| refused(error.to_string()))?;
    if accuracy == Accuracy::LinesOnly {
        let note =
            "its text can be followed line by line only: there are no mutants of it".to_owned();
        return Ok(MutatedKernel::without_mutants(unit.files, note));
    }
    let items = parser::parse_unit(&unit.tokens);
    let mut collection = Collection::default();
    visit_sites(&unit, &items, &mut collection);
    let mut notes = unread_parts(&unit, &items);
    let (mut mutants, sites) = collection.numbered(&unit, &mut notes);
    let selection = match wanted {
        SelectionWanted::Compiled => compile_selection(kernel, &unit, &sites, &mut mutants),
        SelectionWanted::Left => None,
    };
    let functions = CopiedFunctions::of_unit(&unit, &items).map(Arc::new);
    Ok(MutatedKernel { files: unit.files, mutants, selection, notes, functions })
}

/// Why there is no module of a mutant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotCompiled {
    /// The compiler refuses the text: its first message.
    #[error("{0}")]
    Refused(String),
    /// What the compiler makes of it cannot be read.
    #[error("its module cannot be read: {0}")]
    Unreadable(String),
    /// The fault is neither in a file nor in the value of a definition of the project: only these are
    /// compiled with a change.
    #[error(
        "it is neither in a file nor in the value of a definition, and only these are compiled with a change"
    )]
    Elsewhere,
}

/// Compiles the text of one mutant by itself.
///
/// # Errors
/// As [`NotCompiled`] has them.
pub fn compile_alone(
    kernel: &KernelSource,
    mutated: &MutatedKernel,
    mutant: &SourceMutant,
) -> Result<Vec<u32>, NotCompiled> {
    mutant_source(kernel, mutated, mutant)?.compile(kernel.optimization)
}

/// The module of a kernel, or of a mutant of it, with an optimisation that may be another than its own.
///
/// # Errors
/// As [`compile_alone`].
pub fn compile_with_optimization(
    kernel: &KernelSource,
    mutated: &MutatedKernel,
    mutant: Option<&SourceMutant>,
    optimization: Optimization,
) -> Result<Vec<u32>, NotCompiled> {
    match mutant {
        Some(mutant) => mutant_source(kernel, mutated, mutant)?.compile(optimization),
        None => {
            let (kernel, texts) = (kernel.clone(), BTreeMap::new());
            MutantSource { kernel, texts }.compile(optimization)
        }
    }
}

/// A kernel with the text of a mutant.
struct MutantSource {
    kernel: KernelSource,
    /// Of the files that are changed, by path.
    texts: BTreeMap<String, String>,
}

fn mutant_source(
    kernel: &KernelSource,
    mutated: &MutatedKernel,
    mutant: &SourceMutant,
) -> Result<MutantSource, NotCompiled> {
    let mut source = MutantSource { kernel: kernel.clone(), texts: BTreeMap::new() };
    let mut is_changed = false;
    let edited: BTreeSet<u32> = mutant.edits.iter().map(|edit| edit.span.file.0).collect();
    for index in edited.into_iter().map(|file| file as usize) {
        let file = mutated.files.get(index).ok_or(NotCompiled::Elsewhere)?;
        let Some(text) = mutated.mutated_text(mutant, index) else { continue };
        is_changed = true;
        if file.path == DEFINES_PATH {
            source.kernel.defines = mutated_definitions(&kernel.defines, &mutant.edits, index)?;
            continue;
        }
        if index == 0 {
            source.kernel.text.clone_from(&text);
        }
        source.texts.insert(file.path.clone(), text);
    }
    match is_changed {
        true => Ok(source),
        false => Err(NotCompiled::Refused("it changes nothing".to_owned())),
    }
}

/// The definitions of a project with a mutant's edits of the text that stands for them.
fn mutated_definitions(
    definitions: &BTreeMap<String, String>,
    edits: &[SourceEdit],
    file: usize,
) -> Result<BTreeMap<String, String>, NotCompiled> {
    let mut mutated = definitions.clone();
    // The last edit first: those before it stay where they are.
    for edit in edits.iter().rev().filter(|edit| edit.span.file.0 as usize == file) {
        let (start, end) = (edit.span.start as usize, edit.span.end as usize);
        let mut line_start = 0;
        let changed = definitions.iter().find_map(|(name, value)| {
            // `#define NAME VALUE`
            let value_start = line_start + "#define ".len() + name.len() + " ".len();
            let value_end = value_start + value.len();
            line_start = value_end + "\n".len();
            let is_inside = value_start <= start && end <= value_end;
            is_inside.then(|| (name, start - value_start..end - value_start))
        });
        let (name, range) = changed.ok_or(NotCompiled::Elsewhere)?;
        let value = mutated.get_mut(name).ok_or(NotCompiled::Elsewhere)?;
        value.replace_range(range, &edit.text);
    }
    Ok(mutated)
}

impl MutantSource {
    fn compile(self, optimization: Optimization) -> Result<Vec<u32>, NotCompiled> {
        let Self { kernel, texts } = self;
        let compile = || {
            let includes = IncludeResolver::with_texts(&kernel, texts);
            compiler::compile_production(&kernel, &includes, optimization)
        };
        let compiled = deep_stack::run_deep(compile);
        let compiled = compiled.map_err(|error| NotCompiled::Refused(error.to_string()))?;
        compiled.map_err(|diagnostics| {
            let message = diagnostics.first().map(|first| first.message.clone());
            NotCompiled::Refused(message.unwrap_or_default())
        })
    }
}

/// Functions and pieces that have no mutants because they could not be read.
fn unread_parts(unit: &TranslationUnit, items: &[FileLevelItem]) -> Vec<String> {
    let mut notes = Vec::new();
    for item in items {
        match item {
            FileLevelItem::Function(function) => {
                if let Err(error) = &function.body {
                    let name = &unit.tokens[function.name].text;
                    notes.push(format!(
                        "function `{name}` could not be read ({error}): it has no mutants"
                    ));
                }
            }
            FileLevelItem::Unread { error, .. } => {
                notes.push(format!(
                    "text at file level could not be read ({error}): it has no mutants"
                ));
            }
            FileLevelItem::Declaration(_) | FileLevelItem::Prototype { .. } => {}
        }
    }
    notes
}

/// What stands at a place of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SiteForm {
    Expression,
    Statements,
    /// An expression that must be constant, or a declaration: nothing can be selected there.
    Alone,
}

/// Tokens of which there are mutants.
#[derive(Debug, Clone)]
struct FoundSite {
    form: SiteForm,
    first: TokenIndex,
    last: TokenIndex,
    alternatives: Vec<Alternative>,
}

/// A place with the mutants that are selected there.
#[derive(Debug, Clone)]
struct Site {
    pub form: SiteForm,
    pub first: TokenIndex,
    pub last: TokenIndex,
    pub choices: Vec<Choice>,
}

/// A mutant at one place: one of a macro has several.
#[derive(Debug, Clone)]
struct Choice {
    /// From 1 on.
    pub mutant: u32,
    pub edits: Vec<TokenEdit>,
}

/// All places, outer before inner.
#[derive(Default)]
struct Collection {
    sites: Vec<FoundSite>,
    by_place: BTreeMap<(SiteForm, TokenIndex, TokenIndex), usize>,
}

impl Collection {
    fn site(&mut self, form: SiteForm, (first, last): (TokenIndex, TokenIndex)) -> &mut FoundSite {
        let next = self.sites.len();
        let index = *self.by_place.entry((form, first, last)).or_insert(next);
        if index == next {
            self.sites.push(FoundSite { form, first, last, alternatives: Vec::new() });
        }
        &mut self.sites[index]
    }

    /// The mutants, each once, and the places where they are selected.
    fn numbered(
        self,
        unit: &TranslationUnit,
        notes: &mut Vec<String>,
    ) -> (Vec<SourceMutant>, Vec<Site>) {
        let mut mutants: Vec<SourceMutant> = Vec::new();
        let mut number_of: BTreeMap<Vec<SourceEdit>, u32> = BTreeMap::new();
        let mut torn = 0;
        let mut sites = Vec::new();
        for found in self.sites {
            let mut choices: Vec<Choice> = Vec::new();
            for Alternative { operator, edits } in found.alternatives {
                let Some(written) = source_edits(unit, &edits) else {
                    torn += 1;
                    continue;
                };
                if written.iter().all(|edit| changes_nothing(unit, edit)) {
                    continue;
                }
                let mutant = *number_of.entry(written).or_insert_with_key(|written| {
                    let (operators, edits) = (Vec::new(), written.clone());
                    mutants.push(SourceMutant { operators, edits, form: MutantForm::Selected });
                    mutants.len() as u32
                });
                let row = &mut mutants[mutant as usize - 1];
                if !row.operators.contains(&operator) {
                    row.operators.push(operator);
                }
                match found.form {
                    SiteForm::Alone => row.form = MutantForm::Alone,
                    SiteForm::Expression | SiteForm::Statements => {
                        if choices.iter().all(|choice| choice.mutant != mutant) {
                            choices.push(Choice { mutant, edits });
                        }
                    }
                }
            }
            let FoundSite { form, first, last, .. } = found;
            sites.push(Site { form, first, last, choices });
        }
        if torn > 0 {
            notes.push(format!(
                "{torn} mutants left out: they would change a part of what a macro stands for"
            ));
        }
        mutants.iter_mut().for_each(|mutant| mutant.operators.sort_unstable());
        (mutants, sites)
    }
}

/// Whether what is written stands there already, as part of what a macro stands for.
fn changes_nothing(unit: &TranslationUnit, edit: &SourceEdit) -> bool {
    let Span { file, start, end } = edit.span;
    let text = unit.files.get(file.0 as usize).map(|file| file.text.as_str());
    text.and_then(|text| text.get(start as usize..end as usize)) == Some(edit.text.as_str())
}

impl<'e> SiteVisitor<'e> for Collection {
    fn expression(&mut self, node: ExpressionNode<'e>, evaluation: Evaluation) {
        let mut found = Alternatives::default();
        mutate_expression(&node, &mut found);
        let site = match evaluation {
            Evaluation::Runtime { first, last } => self.site(SiteForm::Expression, (first, last)),
            Evaluation::Constant => self.site(SiteForm::Alone, node.range()),
        };
        site.alternatives.extend(found.0);
    }

    fn statement(&mut self, node: StatementNode<'e>) {
        let mut found = Vec::new();
        mutate_statement(&node, &mut found);
        // Outer before inner.
        found.sort_by_key(|found| std::cmp::Reverse(found.range.1));
        for FoundStatement { form, range, alternative } in found {
            self.site(form, range).alternatives.push(alternative);
        }
    }

    fn declaration(&mut self, node: DeclarationNode<'e>) {
        let mut found = Alternatives::default();
        mutate_declaration(&node, &mut found);
        for alternative in found.0 {
            let place = alternative.edits.first().map_or(0, TokenEdit::first_token);
            self.site(SiteForm::Alone, (place, place)).alternatives.push(alternative);
        }
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod operator_tests;
