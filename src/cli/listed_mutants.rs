//! `vkcert list mutants`: mutants of stored evidence that no test noticed, and justifications to review for them.
//!
//! Promises: a proposal is only printed, never applied: reason, argument, author and approver are empty, which no
//! justification may be.
//! Does not cover: making evidence (`certify --mutation`); whether it is as it was written (`verify`).

use super::args::{Common, List, OutputForm};
use super::failure::Failure;
use super::findings::load_evidence;
use super::obligations::unsigned_justification;
use super::output;
use crate::model::diagnostic::Diagnostic;
use crate::model::evidence::{
    Evidence, MutantAcceptance, MutantEdit, MutantEvidence, MutantStatus, MutationEvidence,
    mutants_with_kernels,
};
use crate::model::exit::Exit;
use crate::model::requirement::{Justification, JustificationClass, JustificationSubject};
use crate::report::{ChangedPart, changes_on_one_line, mutant_diff, stored_text};
use serde_json::{Value, json};
use std::fmt::Write;

/// A mutant that a justification can accept, or has accepted.
struct ListedMutant<'e> {
    kernel: &'e MutationEvidence,
    mutant: &'e MutantEvidence,
    acceptance: &'e MutantAcceptance,
}

/// One row per mutant that a justification can accept, or has accepted.
pub(super) fn mutant_rows(list: &List) -> Result<Vec<Value>, Failure> {
    let evidence = evidence_with_mutants(list)?;
    let row = |listed: &ListedMutant| {
        let ListedMutant { kernel, mutant, acceptance } = listed;
        let place = mutant.edits.first().map(MutantEdit::place);
        let ChangedPart { old, new } =
            changes_on_one_line(&mutant.edits, |file| stored_text(&evidence, file));
        json!({
            "id": mutant.id(),
            "kernel": kernel.kernel,
            "operators": mutant.operators,
            "place": place,
            "state": mutant.status.word(),
            "text": format!("{old} → {new}"),
            "hash": acceptance.hash,
        })
    };
    Ok(listed_mutants(&evidence).iter().map(row).collect())
}

/// Nobody can say that no input shows a difference where a test does, or where none comes.
fn proposed_class(mutant: &MutantEvidence) -> JustificationClass {
    let is_other = mutant.runs.other_contents().next().is_some();
    match is_other || mutant.runs.status(mutant.proof) == MutantStatus::NoCoverage {
        true => JustificationClass::Analysis,
        false => JustificationClass::Infeasible,
    }
}

/// Justifications to review of the mutants that no test noticed, as TOML for `requirements/` (with `--format json` as an
/// array with the diff in it).
pub(super) fn propose_justifications(common: &Common, list: &List) -> Result<Exit, Failure> {
    let evidence = evidence_with_mutants(list)?;
    let mut text = String::new();
    let mut values = Vec::new();
    for listed in listed_mutants(&evidence) {
        let ListedMutant { kernel, mutant, acceptance } = listed;
        if acceptance.justification.is_some() {
            continue;
        }
        let class = proposed_class(mutant);
        let justification = unsigned_justification(&Justification {
            kernel: kernel.kernel,
            subject: JustificationSubject::Mutant(mutant.id()),
            configuration: None,
            class,
            reason: String::new(),
            category: None,
            means: None,
            argument: (class == JustificationClass::Infeasible).then(String::new),
            author: String::new(),
            approver: String::new(),
            date: None,
            hash: acceptance.hash.clone(),
        });
        let diff = mutant_diff(&mutant.edits, |file| stored_text(&evidence, file));
        for line in diff.lines() {
            let _ = writeln!(text, "# {line}");
        }
        let _ = writeln!(text, "{justification}");
        values.push(json!({
            "id": mutant.id(),
            "kernel": kernel.kernel,
            "diff": diff,
            "justification": justification,
        }));
    }
    match common.form() {
        OutputForm::Json => output::print_text(&format!("{:#}\n", Value::Array(values)))?,
        OutputForm::Text if values.is_empty() => {
            output::print_text("# No mutant is open that a justification could accept.\n")?
        }
        OutputForm::Text => {
            let heading = "# Review each of these. Where no test can notice it, say why, have it approved, and put it into a file of\n\
                           # requirements/, each of which begins with a line `schema = 1`.\n\n";
            output::print_text(&format!("{heading}{text}"))?;
        }
    }
    Ok(Exit::Success)
}

fn evidence_with_mutants(list: &List) -> Result<Evidence, Failure> {
    let evidence = load_evidence(list)?;
    match evidence.campaign.mutation {
        Some(_) => Ok(evidence),
        None => {
            let message = "the evidence has no mutants";
            let hint = "`vkcert certify --mutation` makes evidence with mutants";
            Err(Diagnostic::new("usage", message).hint(hint).into())
        }
    }
}

fn listed_mutants(evidence: &Evidence) -> Vec<ListedMutant<'_>> {
    let listed = mutants_with_kernels(&evidence.mutations).filter_map(|(kernel, mutant)| {
        let acceptance = mutant.acceptance.as_ref()?;
        Some(ListedMutant { kernel, mutant, acceptance })
    });
    listed.collect()
}
