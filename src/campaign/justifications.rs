//! Justifications against the kernels that they speak of, before anything runs.
//!
//! Does not cover: whether there is such a finding, which only a run shows
//! (`derivation::acceptance`).

use super::kernel::Kernel;
use super::kernel_coverage::obligations;
use crate::CampaignError;
use std::collections::BTreeMap;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::finding::FindingKind;
use vkcert_model::id::{FindingId, ObligationId};
use vkcert_model::requirement::JustificationSubject;
use vkcert_requirement::Project;
use vkcert_requirement::nearest::did_you_mean;

/// A justification of an obligation that its kernel does not have is a wrong input, with its place;
/// one whose obligation has other content by now is stale, which the evidence says.
pub fn check(project: &Project, kernels: &[Kernel]) -> Result<(), CampaignError> {
    let mut diagnostics = Vec::new();
    for kernel in kernels {
        let mut rows = project.justifications.iter().filter(|row| names(row, kernel)).peekable();
        if rows.peek().is_none() {
            continue;
        }
        // Obligations are the same under every configuration; what a configuration rules out stays
        // one.
        let Some(first) = kernel.configurations.first() else { continue };
        let known = obligations(kernel, first);
        for row in rows {
            if let JustificationSubject::Obligation(id) = &row.value.subject
                && !known.contains_key(id)
            {
                diagnostics.push(unknown(
                    row,
                    id,
                    kernel,
                    known.keys().map(|id| id.as_str()).collect(),
                ));
            }
            if let JustificationSubject::Finding(id) = &row.value.subject {
                diagnostics.extend(unnamed(row, id, (kernel, &known), project));
            }
            diagnostics.extend(unknown_configuration(row, kernel));
        }
    }
    if diagnostics.is_empty() { Ok(()) } else { Err(CampaignError::Input(diagnostics)) }
}

type Row = vkcert_requirement::Located<vkcert_model::requirement::Justification>;

/// What is wrong with the part of a finding's name behind its kind: statements and tests that do
/// not exist.
fn unnamed(
    row: &Row,
    id: &FindingId,
    (kernel, known): (&Kernel, &BTreeMap<ObligationId, String>),
    project: &Project,
) -> Option<Diagnostic> {
    let what = id.name_suffix()?;
    let error = |message: String| row.origin.at("finding").error("unknown-id", message);
    let of_test = project.tests.iter().any(|test| id.is_in(&test.id));
    let statement = |part: &str| {
        let number = part.strip_prefix('S').filter(|number| !number.is_empty());
        number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    match id.kind()? {
        FindingKind::ScheduleDependentOutput | FindingKind::EngineDisagreement if !of_test => {
            let tests: Vec<&str> = project.tests.iter().map(|test| test.id.as_str()).collect();
            let named = what.rsplit_once('.').map_or(what, |(test, _)| test);
            let hint =
                did_you_mean(named, &tests).unwrap_or_else(|| "see `vkcert list tests`".to_owned());
            Some(error(format!("no test is named `{named}`")).hint(hint))
        }
        FindingKind::OutOfBounds if of_test => None,
        FindingKind::DataRace
        | FindingKind::OutOfBounds
        | FindingKind::UninitializedRead
        | FindingKind::UndefinedValue
        | FindingKind::UntracedBranch => {
            let missing = |part: &&str| {
                part.is_empty()
                    || statement(part) && !known.contains_key(&ObligationId::from(*part))
            };
            let part = what.split(',').find(missing)?;
            let hint = "`vkcert list findings` prints the names of findings";
            Some(
                error(format!("the kernel `{}` has no statement `{part}`", kernel.name)).hint(hint),
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

fn unknown_configuration(row: &Row, kernel: &Kernel) -> Option<Diagnostic> {
    let name = row.value.configuration.as_ref()?;
    let known: Vec<&str> =
        kernel.configurations.iter().map(|known| known.configuration.name.as_str()).collect();
    if known.contains(&name.as_str()) {
        return None;
    }
    let message = format!("the kernel `{}` has no configuration `{name}`", kernel.name);
    let hint = did_you_mean(name, &known)
        .unwrap_or_else(|| format!("its configurations: {}", known.join(", ")));
    Some(row.origin.at("configuration").error("unknown-id", message).hint(hint))
}

fn names(row: &Row, kernel: &Kernel) -> bool {
    row.value.kernel.as_str() == kernel.name
}

fn unknown(row: &Row, id: &ObligationId, kernel: &Kernel, known: Vec<&str>) -> Diagnostic {
    let message = format!("the kernel `{}` has no obligation `{id}`", kernel.name);
    let hint = did_you_mean(id.as_str(), &known)
        .unwrap_or_else(|| "see `vkcert list obligations`".to_owned());
    row.origin.at("obligation").error("unknown-id", message).hint(hint)
}
