//! The text with all mutants, and its module.
//!
//! Promises: with 0 selected the text does what the kernel's does; a mutant that the compiler
//! refuses is left out, found by the line of its own that each mutant stands on.
//! Does not cover: mutants of constant expressions, and whether a mutant that is left out compiles
//! by itself.

use super::edits::edited_text;
use super::{MutantForm, SelectionModule, Site, SiteForm, SourceMutant};
use crate::compile as compiler;
use crate::isolate::{self, CompilerRejection, Excluded};
use crate::marking::{MarkerInsertions, render_inserted, unused_name};
use crate::preprocessor::TranslationUnit;
use crate::syntax::TokenIndex;
use crate::{KernelSource, Optimization};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The file that mutants stand in, each on the line of its number.
const MUTANT_FILE: &str = "<mutants>";

/// Compiles the text with all mutants that can be selected; those that it cannot have are marked so.
pub(super) fn compile_selection(
    kernel: &KernelSource,
    unit: &TranslationUnit,
    sites: &[Site],
    mutants: &mut [SourceMutant],
) -> Option<SelectionModule> {
    let is_selected = |number: &u32| mutants[*number as usize - 1].form == MutantForm::Selected;
    let numbers: Vec<u32> = (1..=mutants.len() as u32).filter(is_selected).collect();
    if numbers.is_empty() {
        return None;
    }
    let selected: BTreeSet<u32> = numbers.iter().copied().collect();
    let writer = SelectionWriter::new(unit, sites);
    let accepted = isolate::bisect_rejected(&numbers, |excluded: &Excluded<u32>| {
        let is_in = |number: u32| selected.contains(&number) && !excluded.contains_key(&number);
        let text = writer.text_with(&is_in);
        compiler::compile_rewritten(kernel, &text, Optimization::Zero).map_err(|error| {
            let places = error.places.iter().filter(|(file, _)| file == MUTANT_FILE);
            let suspects = places.map(|(_, line)| *line).filter(|number| is_in(*number));
            CompilerRejection { suspects: suspects.collect(), reason: error.reason.into() }
        })
    })?;
    for number in accepted.excluded.keys() {
        mutants[*number as usize - 1].form = MutantForm::Alone;
    }
    let SelectionWriter { set, binding, .. } = writer;
    Some(SelectionModule { words: accepted.compiled, set, binding })
}

struct SelectionWriter<'u> {
    unit: &'u TranslationUnit,
    sites: &'u [Site],
    set: u32,
    binding: u32,
    /// The variable with the number of the mutant.
    variable: String,
    declarations: String,
}

impl<'u> SelectionWriter<'u> {
    fn new(unit: &'u TranslationUnit, sites: &'u [Site]) -> Self {
        let used_words: BTreeSet<&str> = unit.tokens.iter().map(|token| &*token.text).collect();
        let variable = unused_name("vkcert_mutant", &used_words);
        let (block, member) = (
            unused_name("vkcert_selection", &used_words),
            unused_name("vkcert_selected", &used_words),
        );
        let (set, binding) = (0, unused_binding(unit));
        let declarations = format!(
            "layout(set = {set}, binding = {binding}, std430) readonly buffer {block} {{ uint {member}; }}; \
             uint {variable} = {member};"
        );
        Self { unit, sites, set, binding, variable, declarations }
    }

    fn text_with(&self, is_in: &dyn Fn(u32) -> bool) -> String {
        let mut insertions = MarkerInsertions {
            before: BTreeMap::from([(0, self.declarations.clone())]),
            ..MarkerInsertions::default()
        };
        for site in self.sites {
            let choices: Vec<(u32, String)> = site
                .choices
                .iter()
                .filter(|choice| is_in(choice.mutant))
                .map(|choice| {
                    let range = (site.first, site.last);
                    (choice.mutant, edited_text(self.unit, range, &choice.edits))
                })
                .collect();
            if choices.is_empty() {
                continue;
            }
            let (before, behind) = match site.form {
                SiteForm::Expression => self.around_expression(&choices),
                SiteForm::Statements => self.around_statements(&choices),
                SiteForm::Alone => continue,
            };
            insertions.before.entry(site.first).or_default().push_str(&before);
            // What is inside ends first.
            insertions.behind.entry(site.last).or_default().insert_str(0, &behind);
        }
        render_inserted(self.unit, &insertions)
    }

    /// The mutants of a place in runs of neighbours, each with the test whether it is selected: while
    /// none is, one comparison for a run is all that is added.
    fn tested_runs<'c>(&self, choices: &'c [(u32, String)]) -> Vec<(String, &'c [(u32, String)])> {
        let runs = choices.chunk_by(|(left, _), (right, _)| left + 1 == *right);
        let tested = runs.map(|run| {
            let (first, others) = (run[0].0, run.len() - 1);
            let test = match others {
                0 => format!("{} == {first}u", self.variable),
                _ => format!("{} - {first}u <= {others}u", self.variable),
            };
            (test, run)
        });
        tested.collect()
    }

    /// `(run ? (mutant ? (text) : (text)) : original)`
    fn around_expression(&self, choices: &[(u32, String)]) -> (String, String) {
        let mut before = " (".to_owned();
        for (test, run) in self.tested_runs(choices) {
            let _ = write!(before, "{test} ? (");
            for (index, (number, text)) in run.iter().enumerate() {
                let _ = write!(before, "\n#line {number} \"{MUTANT_FILE}\"\n");
                let _ = match index + 1 == run.len() {
                    true => write!(before, "({text})"),
                    false => write!(before, "{} == {number}u ? ({text}) :", self.variable),
                };
            }
            before.push_str(") :");
        }
        (before, " )".to_owned())
    }

    /// `{ if (run) { if (mutant) { text } else { text } } else { original } }`
    fn around_statements(&self, choices: &[(u32, String)]) -> (String, String) {
        let mut before = " {".to_owned();
        for (test, run) in self.tested_runs(choices) {
            let _ = write!(before, " if ({test}) {{");
            for (index, (number, text)) in run.iter().enumerate() {
                let _ = write!(before, "\n#line {number} \"{MUTANT_FILE}\"\n");
                let _ = match index + 1 == run.len() {
                    true => write!(before, "{{ {text} }}"),
                    false => {
                        write!(before, "if ({} == {number}u) {{ {text} }} else", self.variable)
                    }
                };
            }
            before.push_str(" } else");
        }
        before.push_str(" {");
        (before, " } }".to_owned())
    }
}

/// A binding that the text does not name.
fn unused_binding(unit: &TranslationUnit) -> u32 {
    let tokens = &unit.tokens;
    let is_binding = |index: &TokenIndex| tokens[*index].is("binding");
    let named = (0..tokens.len()).filter(is_binding).filter_map(|index| {
        let number = tokens.get(index + 2).filter(|_| tokens[index + 1].is("="))?;
        number.text.trim_end_matches(['u', 'U']).parse::<u32>().ok()
    });
    named.max().map_or(0, |binding| binding + 1)
}
