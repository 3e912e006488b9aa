//! `vkcert mutate`: whether the tests of a project would notice small faults in its kernels.

mod tables;
mod unified_diff;

use super::args::{Common, EngineArgument, Mutate, OutputForm};
use super::failure::Failure;
use super::output;
use super::plan;
use crate::campaign::certification::{CampaignRequest, SetUp, set_up};
use crate::campaign::mutation::{
    KernelMutation, Kill, MutantCounts, MutantModules, MutantResult, MutationRequest,
    mutate_project,
};
use crate::campaign::plan::{EngineChoice, EngineRequest, RunPlan};
use crate::campaign::project;
use crate::glsl::mutation::SourceMutant;
use crate::model::diagnostic::Diagnostic;
use crate::model::exit::Exit;
use crate::model::id::KernelName;
use crate::model::mutation::{MUTATION_OPERATORS, MutationOperator};
use crate::model::place::Position;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;
use unified_diff::unified_diff;

/// What is to be known of mutants that one module selects.
const DOUBT_OF_ONE_MODULE: &str = "Mutants were selected in one module of each kernel (--one-module): some may have been \
                                   judged as something else than their diff shows.\n";

/// Mutates the kernels of a project and prints what no test noticed.
pub(super) fn mutate_kernels(common: &Common, arguments: &Mutate) -> Result<Exit, Failure> {
    let request = request_of(arguments)?;
    refuse_device(common)?;
    let engines = EngineRequest::Explicit(EngineChoice::Sequential);
    let plan = RunPlan { engines, ..plan::plan_of(common, "all")? };
    let loaded = project::load_project(&arguments.dir)?;
    let SetUp { campaign, engines } =
        set_up(loaded, &CampaignRequest { plan, ..CampaignRequest::default() })?;
    let prepared_tests = campaign.prepare()?;
    let mutations = mutate_project(
        &campaign.project,
        &campaign.kernels,
        &prepared_tests,
        &engines?.sequential(),
        &request,
    )?;
    match common.form() {
        OutputForm::Json => {
            let document = json_document(&mutations, request.modules);
            output::print_text(&format!("{document:#}\n"))?;
        }
        OutputForm::Text => {
            let doubt = match request.modules {
                MutantModules::Each => "",
                MutantModules::Together => DOUBT_OF_ONE_MODULE,
            };
            output::print_text(&format!("{}{doubt}", text(&mutations)))?;
        }
    }
    Ok(Exit::Success)
}

/// Mutants run on the sequential engine alone.
fn refuse_device(common: &Common) -> Result<(), Failure> {
    let asks_for_device = match common.engine {
        Some(EngineArgument::Vulkan | EngineArgument::Both) => true,
        Some(EngineArgument::Sequential) | None => common.device.is_some(),
    };
    if asks_for_device {
        let message =
            "vkcert mutate runs on the sequential engine alone, and a device was asked for";
        return Err(Diagnostic::new("usage", message).into());
    }
    Ok(())
}

fn request_of(arguments: &Mutate) -> Result<MutationRequest, Failure> {
    let operators = arguments.operator.iter().map(|word| word.parse::<MutationOperator>());
    let operators = operators.collect::<Result<BTreeSet<_>, _>>();
    let operators = operators.map_err(|unknown| Diagnostic::new("usage", unknown.to_string()))?;
    let kernels = arguments.kernel.iter().map(|name| KernelName::from(name.as_str())).collect();
    let modules = match arguments.one_module {
        true => MutantModules::Together,
        false => MutantModules::Each,
    };
    Ok(MutationRequest { operators, kernels, modules })
}

/// A mutant that was asked for, with what became of it.
struct JudgedMutant<'m> {
    number: usize,
    mutant: &'m SourceMutant,
    result: &'m MutantResult,
}

fn judged_mutants(mutation: &KernelMutation) -> impl Iterator<Item = JudgedMutant<'_>> {
    let rows = mutation.mutated.mutants.iter().zip(&mutation.results).zip(1..);
    rows.filter_map(|((mutant, result), number)| {
        Some(JudgedMutant { number, mutant, result: result.as_ref()? })
    })
}

/// A place in a file of the project.
struct MutantPlace<'m> {
    file: &'m str,
    position: Position,
}

impl JudgedMutant<'_> {
    fn codes(&self) -> Vec<&'static str> {
        self.mutant.operators.iter().map(|operator| operator.code()).collect()
    }

    /// Where the first change is.
    fn place<'m>(&self, mutation: &'m KernelMutation) -> MutantPlace<'m> {
        let edit = self.mutant.edits.first().expect("a mutant changes something");
        let file = &mutation.mutated.files[edit.span.file.0 as usize];
        let position = Position::of(&file.text, edit.span.start as usize);
        MutantPlace { file: &file.path, position }
    }

    fn diff(&self, mutation: &KernelMutation) -> String {
        let files = mutation.mutated.files.iter().enumerate();
        let diffs = files.filter_map(|(index, file)| {
            let mutated_text = mutation.mutated.mutated_text(self.mutant, index)?;
            Some(unified_diff(&file.path, &file.text, &mutated_text))
        });
        diffs.collect()
    }
}

/// The word of a result, for people and programs.
fn status_word(result: &MutantResult) -> &'static str {
    match result {
        MutantResult::Killed(_) => "killed",
        MutantResult::Survived => "survived",
        MutantResult::Equivalent(_) => "equivalent",
        MutantResult::NoTest => "no-test",
        MutantResult::NotCompiled(_) => "not-compiled",
        MutantResult::Undecided(_) => "undecided",
    }
}

fn text(mutations: &[KernelMutation]) -> String {
    let mut text = String::new();
    for mutation in mutations {
        for judged in judged_mutants(mutation) {
            let reason = match judged.result {
                MutantResult::Survived | MutantResult::NoTest => "",
                MutantResult::Undecided(reason) => reason,
                MutantResult::Killed(_)
                | MutantResult::Equivalent(_)
                | MutantResult::NotCompiled(_) => continue,
            };
            let MutantPlace { file, position } = judged.place(mutation);
            let _ = writeln!(
                text,
                "{} {file}:{}:{}: mutant {} of kernel {}, {}{}{reason}",
                status_word(judged.result),
                position.line,
                position.column,
                judged.number,
                mutation.kernel,
                judged.codes().join(", "),
                if reason.is_empty() { "" } else { ": " },
            );
            text.push_str(&judged.diff(mutation));
            text.push('\n');
        }
    }
    for mutation in mutations {
        for note in &mutation.notes {
            let _ = writeln!(text, "note: kernel {}: {note}", mutation.kernel);
        }
    }
    if !text.is_empty() {
        text.push('\n');
    }
    let _ = writeln!(text, "{}", tables::table_by_operator(mutations));
    let _ = writeln!(text, "{}", tables::table_by_kernel(mutations));
    let _ = writeln!(text, "{}", score_in_words(&tables::counts_of_all(mutations)));
    text
}

/// The score, with what it says too little of.
fn score_in_words(counts: &MutantCounts) -> String {
    let judged = counts.judged();
    if judged == 0 {
        return "no mutant was judged".to_owned();
    }
    // Rounded down: 100 % is all of them.
    let percent = |count: usize| (count * 1000 / judged) as f64 / 10.0;
    format!(
        "mutation score {} % ({} of {judged}); by expectations alone {} % ({} of {judged})\nOf the mutants that survived, \
         some may do what the kernel does, without a proof.",
        percent(counts.killed),
        counts.killed,
        percent(counts.by_expectation),
        counts.by_expectation,
    )
}

fn json_document(mutations: &[KernelMutation], modules: MutantModules) -> Value {
    let kernels = mutations.iter().map(|mutation| {
        let mutants = judged_mutants(mutation).map(|judged| mutant_json(mutation, &judged));
        json!({
            "kernel": mutation.kernel,
            "mutants": mutants.collect::<Vec<_>>(),
            "notes": mutation.notes,
        })
    });
    let operators: Vec<Value> = MUTATION_OPERATORS
        .iter()
        .map(|row| json!({ "code": row.code, "description": row.description }))
        .collect();
    let counts = tables::counts_of_all(mutations);
    let score = json!({
        "judged": counts.judged(),
        "killed": counts.killed,
        "by_expectation": counts.by_expectation,
    });
    let kernels = kernels.collect::<Vec<_>>();
    let modules = match modules {
        MutantModules::Each => "each",
        MutantModules::Together => "together",
    };
    json!({
        "schema": 1,
        "modules": modules,
        "operators": operators,
        "kernels": kernels,
        "score": score,
    })
}

fn mutant_json(mutation: &KernelMutation, judged: &JudgedMutant<'_>) -> Value {
    let MutantPlace { file, position } = judged.place(mutation);
    let mut value = json!({
        "number": judged.number,
        "operators": judged.codes(),
        "file": file,
        "line": position.line,
        "column": position.column,
        "diff": judged.diff(mutation),
        "status": status_word(judged.result),
    });
    match judged.result {
        MutantResult::Killed(Kill { test, by_expectation, by_finding, by_time, by_error }) => {
            value["test"] = json!(test);
            value["expectation_of"] = json!(by_expectation);
            value["by"] = json!({
                "expectation": by_expectation.is_some(),
                "finding": by_finding,
                "time": by_time,
                "error": by_error,
            });
        }
        MutantResult::NotCompiled(reason) | MutantResult::Undecided(reason) => {
            value["reason"] = json!(reason);
        }
        MutantResult::Equivalent(proof) => value["proof"] = json!(proof.name()),
        MutantResult::Survived | MutantResult::NoTest => {}
    }
    value
}
