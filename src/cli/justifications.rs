//! Justifications against the kernels that they speak of, before anything runs.
//!
//! Does not cover: whether there is such a finding, which only a run shows (`acceptance`).

use super::derive;
use super::failure::Failure;
use super::kernel::Kernel;
use crate::model::diagnostic::Diagnostic;
use crate::model::id::ObligationId;
use crate::model::requirement::JustificationSubject;
use crate::requirement::Project;
use crate::requirement::nearest::did_you_mean;

/// A justification of an obligation that its kernel does not have is a wrong input, with its place; one whose obligation
/// has other content by now is stale, which the evidence says.
pub fn check(project: &Project, kernels: &[Kernel]) -> Result<(), Failure> {
    let mut diagnostics = Vec::new();
    for kernel in kernels {
        let mut rows = project.justifications.iter().filter(|row| names(row, kernel)).peekable();
        if rows.peek().is_none() {
            continue;
        }
        // Obligations are the same under every configuration; what a configuration rules out stays one.
        let Some(first) = kernel.configurations.first() else { continue };
        let known = derive::obligations(kernel, first);
        for row in rows {
            if let JustificationSubject::Obligation(id) = &row.value.subject
                && !known.contains_key(id)
            {
                diagnostics.push(unknown(row, id, kernel, known.keys().map(|id| id.as_str()).collect()));
            }
            diagnostics.extend(unknown_configuration(row, kernel));
        }
    }
    if diagnostics.is_empty() { Ok(()) } else { Err(Failure::Input(diagnostics)) }
}

type Row = crate::requirement::Located<crate::model::requirement::Justification>;

fn unknown_configuration(row: &Row, kernel: &Kernel) -> Option<Diagnostic> {
    let name = row.value.configuration.as_ref()?;
    let known: Vec<&str> = kernel.configurations.iter().map(|known| known.configuration.name.as_str()).collect();
    if known.contains(&name.as_str()) {
        return None;
    }
    let message = format!("the kernel `{}` has no configuration `{name}`", kernel.name);
    let hint = did_you_mean(name, &known).unwrap_or_else(|| format!("its configurations: {}", known.join(", ")));
    Some(row.origin.at("configuration").error("unknown-id", message).hint(hint))
}

fn names(row: &Row, kernel: &Kernel) -> bool {
    row.value.kernel.as_str() == kernel.name
}

fn unknown(row: &Row, id: &ObligationId, kernel: &Kernel, known: Vec<&str>) -> Diagnostic {
    let message = format!("the kernel `{}` has no obligation `{id}`", kernel.name);
    let hint = did_you_mean(id.as_str(), &known).unwrap_or_else(|| "see `vkcert list obligations`".to_owned());
    row.origin.at("obligation").error("unknown-id", message).hint(hint)
}
