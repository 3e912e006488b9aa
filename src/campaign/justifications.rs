//! Justifications against the kernels that they speak of, before anything runs.
//!
//! Does not cover: whether there is such a finding, which only a run shows
//! (`derivation::acceptance`).

use super::kernel::Kernel;
use super::kernel_coverage::obligation_texts;
use super::mutation::ids_of_text;
use crate::CampaignError;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::finding::FindingKind;
use vkcert_model::id::{FindingId, MutantId, ObligationId};
use vkcert_model::requirement::JustificationSubject;
use vkcert_requirement::Project;
use vkcert_requirement::nearest::did_you_mean;

/// A justification of an obligation that its kernel does not have is a wrong input, with its place;
/// one whose obligation has other content by now is stale, which the evidence says.
pub fn check_justifications(project: &Project, kernels: &[Kernel]) -> Result<(), CampaignError> {
    let mut diagnostics = Vec::new();
    let set_aside_before = project.set_aside_before();
    for kernel in kernels {
        let mut rows = project
            .justifications
            .iter()
            .filter(|justification| names_kernel(justification, kernel))
            .peekable();
        if rows.peek().is_none() {
            continue;
        }
        // Obligations are the same under every configuration; what a configuration rules out stays
        // one.
        let Some(first) = kernel.configurations.first() else { continue };
        let known_obligations = obligation_texts(kernel, first);
        // Found where a justification names one.
        let mut known_mutants: Option<BTreeSet<MutantId>> = None;
        for justification in rows {
            match &justification.value.subject {
                JustificationSubject::Obligation(id) => {
                    // Which pairs of accesses it has is not known then.
                    let is_known = known_obligations.contains_key(id)
                        || set_aside_before.contains_key(&justification.kernel);
                    if !is_known {
                        let known_ids = known_obligations.keys().map(|id| id.as_str()).collect();
                        diagnostics.push(unknown_obligation(justification, id, kernel, known_ids));
                    }
                }
                JustificationSubject::Finding(id) => diagnostics.extend(unnamed_finding(
                    justification,
                    id,
                    (kernel, &known_obligations),
                    project,
                )),
                // Which mutants of dispatches there are depends on the tests: such a justification goes stale.
                JustificationSubject::Mutant(id) if id.may_be_of_dispatches() => {}
                JustificationSubject::Mutant(id) => {
                    let known_ids = match &known_mutants {
                        Some(known_ids) => known_ids,
                        None => known_mutants.insert(ids_of_text(project, kernel)?),
                    };
                    if !known_ids.contains(id) {
                        diagnostics.push(unknown_mutant(justification, id, kernel, known_ids));
                    }
                }
            }
            diagnostics.extend(unknown_configuration(justification, kernel));
        }
    }
    if diagnostics.is_empty() { Ok(()) } else { Err(CampaignError::Input(diagnostics)) }
}

type Row = vkcert_requirement::Located<vkcert_model::requirement::Justification>;

/// What is wrong with the part of a finding's name behind its kind: statements and tests that do
/// not exist.
fn unnamed_finding(
    justification: &Row,
    id: &FindingId,
    (kernel, known_obligations): (&Kernel, &BTreeMap<ObligationId, String>),
    project: &Project,
) -> Option<Diagnostic> {
    let finding_suffix = id.name_suffix()?;
    let error = |message: String| justification.origin.at("finding").error("unknown-id", message);
    let all_tests = || project.tests.iter().chain(&project.left_out);
    let of_test = all_tests().any(|test| id.is_in(&test.id));
    let statement = |name_part: &str| {
        let statement_digits = name_part.strip_prefix('S').filter(|digits| !digits.is_empty());
        statement_digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    match id.kind()? {
        FindingKind::ScheduleDependentOutput | FindingKind::EngineDisagreement if !of_test => {
            let test_names: Vec<&str> = all_tests().map(|test| test.id.as_str()).collect();
            let expectation_name =
                finding_suffix.rsplit_once('.').map_or(finding_suffix, |(test, _)| test);
            let hint = did_you_mean(expectation_name, &test_names)
                .unwrap_or_else(|| "see `vkcert list tests`".to_owned());
            Some(error(format!("no test is named `{expectation_name}`")).hint(hint))
        }
        FindingKind::OutOfBounds if of_test => None,
        FindingKind::DataRace
        | FindingKind::OutOfBounds
        | FindingKind::UninitializedRead
        | FindingKind::UndefinedValue
        | FindingKind::UntracedBranch => {
            let is_missing = |name_part: &&str| {
                name_part.is_empty()
                    || statement(name_part)
                        && !known_obligations.contains_key(&ObligationId::from(*name_part))
            };
            let name_part = finding_suffix.split(',').find(is_missing)?;
            let hint = "`vkcert list findings` prints the names of findings";
            Some(
                error(format!("the kernel `{}` has no statement `{name_part}`", kernel.name))
                    .hint(hint),
            )
        }
        FindingKind::ScheduleDependentOutput
        | FindingKind::EngineDisagreement
        | FindingKind::Coupling
        | FindingKind::BarrierDivergence
        | FindingKind::NoTermination
        | FindingKind::Validation => None,
    }
}

fn unknown_configuration(justification: &Row, kernel: &Kernel) -> Option<Diagnostic> {
    let name = justification.value.configuration.as_ref()?;
    let known_names: Vec<&str> =
        kernel.configurations.iter().map(|known| known.configuration.name.as_str()).collect();
    if known_names.contains(&name.as_str()) {
        return None;
    }
    let message = format!("the kernel `{}` has no configuration `{name}`", kernel.name);
    let hint = did_you_mean(name, &known_names)
        .unwrap_or_else(|| format!("its configurations: {}", known_names.join(", ")));
    Some(justification.origin.at("configuration").error("unknown-id", message).hint(hint))
}

fn unknown_mutant(
    justification: &Row,
    id: &MutantId,
    kernel: &Kernel,
    known_ids: &BTreeSet<MutantId>,
) -> Diagnostic {
    let message = format!("the kernel `{}` has no mutant `{id}`", kernel.name);
    let known_names: Vec<&str> = known_ids.iter().map(|known_id| known_id.as_str()).collect();
    // `ROR.22`: another operator may make the mutant of this number by now.
    let number = id.as_str().rsplit('.').next().unwrap_or_default();
    let same_number = known_names.iter().find(|name| name.rsplit('.').next() == Some(number));
    let hint = match same_number {
        Some(name) => format!("mutant {number} is `{name}`"),
        None => did_you_mean(id.as_str(), &known_names)
            .unwrap_or_else(|| "`vkcert list mutants` prints the names of mutants".to_owned()),
    };
    justification.origin.at("mutant").error("unknown-id", message).hint(hint)
}

fn names_kernel(justification: &Row, kernel: &Kernel) -> bool {
    justification.value.kernel.as_str() == kernel.name
}

fn unknown_obligation(
    justification: &Row,
    id: &ObligationId,
    kernel: &Kernel,
    known_ids: Vec<&str>,
) -> Diagnostic {
    let message = format!("the kernel `{}` has no obligation `{id}`", kernel.name);
    let hint = did_you_mean(id.as_str(), &known_ids)
        .unwrap_or_else(|| "see `vkcert list obligations`".to_owned());
    justification.origin.at("obligation").error("unknown-id", message).hint(hint)
}
