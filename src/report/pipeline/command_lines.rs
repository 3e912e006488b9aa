//! The lines of `vkcert run` and `vkcert couple`, which leave no evidence.
//!
//! Promises: as with campaigns there is a line that counts wherever the exit code is not 0, and
//! none where it is; findings that several tests and engines show are one line; no place is made
//! up. A kernel whose text stands inside of a procedure has the procedure as its file.
//! Does not cover: what accepts findings (both commands know no justifications).

use super::lines::{DiagnosticLine, LineForm, LineLevel};
use super::notices::{mismatch_in_words, shown_by_in_words};
use super::rules::Rule;
use crate::facts::{MergedFinding, merged_outcome_findings};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use vkcert_model::evidence::{CheckStatus, CouplingEvidence, KernelFinding};
use vkcert_model::finding::Finding;
use vkcert_model::id::{KernelName, TestId};
use vkcert_model::path::display_path;
use vkcert_model::place::{Place, Position};
use vkcert_model::reason::{Reason, ReasonKind};
use vkcert_model::result::{RunResult, TestOutcome};

/// Where the parts of a test procedure stand.
#[derive(Debug, Clone)]
pub struct ProcedurePlaces {
    /// The procedure's file, as the user named it.
    pub file: String,
    /// What paths in the procedure are relative to.
    pub folder: PathBuf,
    /// Where each test has its id.
    pub tests: BTreeMap<TestId, Position>,
    /// The names that sources inside of the procedure have in places.
    pub inner_sources: BTreeSet<String>,
}

/// Where the parts of a project stand that has host interfaces.
#[derive(Debug, Clone)]
pub struct InterfacePlaces {
    /// The project's folder, as the user named it.
    pub folder: PathBuf,
    /// By kernel: the file that states its interface, as the user would name it, and where.
    pub interfaces: BTreeMap<KernelName, (String, Option<Position>)>,
}

/// What tests of a procedure have come to: verdicts that are no pass, findings and, for GitHub,
/// remarks.
pub fn outcome_lines(result: &RunResult, places: &ProcedurePlaces, form: LineForm) -> String {
    let verdicts = result.tests.iter().filter_map(|outcome| verdict_line(outcome, places, form));
    let findings = merged_outcome_findings(result);
    let findings = findings.iter().map(|finding| outcome_finding_line(finding, places, form));
    let mut lines: String = verdicts.chain(findings).collect();
    if form == LineForm::Github {
        lines.extend(result.tests.iter().flat_map(|outcome| remark_lines(outcome, places, form)));
    }
    lines
}

fn verdict_line(outcome: &TestOutcome, places: &ProcedurePlaces, form: LineForm) -> Option<String> {
    let kind = ReasonKind::of_verdict(outcome.verdict)?;
    let mut message = verdict_in_words(outcome, kind);
    if let Some(mismatch) = outcome.mismatches.first() {
        message.push_str(&format!("; {}", mismatch_in_words(mismatch)));
    }
    let rule = Rule::of_reason(kind);
    Some(test_line(outcome, places, LineLevel::Error, &rule.id, &message).in_form(form))
}

fn verdict_in_words(outcome: &TestOutcome, kind: ReasonKind) -> String {
    let TestOutcome { id: test, engine, verdict, reason, .. } = outcome;
    let (engines, reason) = (vec![*engine], reason.clone());
    Reason::Test { kind, test: *test, engines, verdict: *verdict, reason }.to_string()
}

/// What does not count: a run that was not asked for, and remarks.
fn remark_lines(outcome: &TestOutcome, places: &ProcedurePlaces, form: LineForm) -> Vec<String> {
    let not_run = (ReasonKind::of_verdict(outcome.verdict).is_none())
        .then_some(outcome.reason.as_ref())
        .flatten()
        .map(|reason| format!("{}: {reason}", outcome.verdict));
    let remarks = not_run.into_iter().chain(outcome.notes.iter().cloned());
    remarks
        .map(|remark| {
            let message = format!("test {} on {}: {remark}", outcome.id, outcome.engine);
            test_line(outcome, places, LineLevel::Notice, "note", &message).in_form(form)
        })
        .collect()
}

fn test_line<'t>(
    outcome: &TestOutcome,
    places: &'t ProcedurePlaces,
    level: LineLevel,
    kind: &'t str,
    message: &'t str,
) -> DiagnosticLine<'t> {
    let position = places.tests.get(&outcome.id);
    DiagnosticLine {
        level,
        file: Some(&places.file),
        line: position.map(|position| position.line),
        column: position.map(|position| position.column),
        kind,
        message,
    }
}

fn outcome_finding_line(
    merged: &MergedFinding,
    places: &ProcedurePlaces,
    form: LineForm,
) -> String {
    let message = shown_by_in_words(merged);
    let place = merged.finding.place.as_ref();
    let source = place.and_then(|place| place.file.as_ref());
    match source {
        Some(source) if !places.inner_sources.contains(source) => {
            finding_line(merged.finding, &places.folder, source, &message, form)
        }
        // The line of a text inside of the procedure is no line of the procedure.
        Some(_) | None => {
            let told_place = place.map(|place| format!("{place}: ")).unwrap_or_default();
            let message = format!("{told_place}{message}");
            error_line(&places.file, None, merged.finding.kind.name(), &message, form)
        }
    }
}

/// Checks of host and kernel that are refuted or undetermined: in the kernel where they are about a
/// line of it, else where the project states the interface.
pub fn coupling_lines(
    rows: &[CouplingEvidence],
    findings: &[KernelFinding],
    places: &InterfacePlaces,
    form: LineForm,
) -> String {
    let mut lines: String =
        findings.iter().map(|row| coupling_finding_line(row, places, form)).collect();
    let rule = Rule::of_reason(ReasonKind::CouplingUndetermined);
    for row in rows {
        let undetermined =
            row.checks.iter().filter(|check| check.status == CheckStatus::Undetermined);
        lines.extend(undetermined.map(|check| {
            let message = Reason::CouplingUndetermined {
                kernel: row.kernel,
                check: check.check.clone(),
                message: check.message.clone(),
            };
            interface_line(&row.kernel, &rule.id, &message.to_string(), places, form)
        }));
    }
    lines
}

fn coupling_finding_line(row: &KernelFinding, places: &InterfacePlaces, form: LineForm) -> String {
    let KernelFinding { kernel, finding, .. } = row;
    let place = finding.place.as_ref();
    let message = format!("{} (kernel {kernel})", finding.message);
    match place.map(|place| (place.file.as_deref(), place.line)) {
        Some((Some(source), Some(_))) => {
            finding_line(finding, &places.folder, source, &message, form)
        }
        // What the project calls the host's source need be no file.
        Some((Some(host), None)) => {
            let message = format!("{host}: {message}");
            interface_line(kernel, finding.kind.name(), &message, places, form)
        }
        Some((None, _)) | None => {
            interface_line(kernel, finding.kind.name(), &message, places, form)
        }
    }
}

fn interface_line(
    kernel: &KernelName,
    kind: &str,
    message: &str,
    places: &InterfacePlaces,
    form: LineForm,
) -> String {
    let interface = places.interfaces.get(kernel);
    let position = interface.and_then(|(_, position)| *position);
    DiagnosticLine {
        level: LineLevel::Error,
        file: interface.map(|(file, _)| file.as_str()),
        line: position.map(|position| position.line),
        column: position.map(|position| position.column),
        kind,
        message,
    }
    .in_form(form)
}

/// A finding in `source`, which is relative to `folder`.
fn finding_line(
    finding: &Finding,
    folder: &Path,
    source: &str,
    message: &str,
    form: LineForm,
) -> String {
    let file = display_path(&folder.join(source));
    error_line(&file, finding.place.as_ref(), finding.kind.name(), message, form)
}

fn error_line(
    file: &str,
    place: Option<&Place>,
    kind: &str,
    message: &str,
    form: LineForm,
) -> String {
    let line = place.and_then(|place| place.line).filter(|line| *line > 0);
    let column = place.and_then(|place| place.column).filter(|column| *column > 0);
    DiagnosticLine { level: LineLevel::Error, file: Some(file), line, column, kind, message }
        .in_form(form)
}
