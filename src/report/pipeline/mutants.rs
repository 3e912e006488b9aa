//! The mutants in the schema of mutation-testing reports (npm package `mutation-testing-report-schema`,
//! schema version 2), which viewers and dashboards of several tools read.
//!
//! Promises: a status of that schema never says more than ours ([`status_of`]); what was not asked for
//! has no mutants, and `config` says what was asked.
//! Does not cover: which requirement a test verifies; the whole evidence (`report.json`).

use crate::mutant_diff::{ChangedPart, changed_part, stored_text};
use crate::{Format, Presentation, ReportError};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use vkcert_model::canonical::canonical_lines;
use vkcert_model::evidence::{
    Evidence, KillCause, MutantEdit, MutantEvidence, MutantStatus, MutationEvidence,
};
use vkcert_model::place::Position;

/// `mutants`
pub(crate) struct Mutants;

impl Format for Mutants {
    fn render(&self, evidence: &Evidence, _: &Presentation) -> Result<Vec<u8>, ReportError> {
        let Some(summary) = &evidence.campaign.mutation else {
            return Err(ReportError::NothingStored("mutants"));
        };
        let mut mutants_by_file: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        for kernel in &evidence.mutations {
            for mutant in &kernel.mutants {
                let Some(edit) = mutant.edits.first() else { continue };
                let row = mutant_row(evidence, kernel, mutant, edit);
                mutants_by_file.entry(&edit.file).or_default().push(row);
            }
        }
        let files = mutants_by_file.into_iter().map(|(file, mutants)| {
            let source = stored_text(evidence, file).unwrap_or_default();
            let language = if file.ends_with(".toml") { "toml" } else { "glsl" };
            (file.to_owned(), json!({ "language": language, "source": source, "mutants": mutants }))
        });
        let project = &evidence.campaign.project;
        let threshold = threshold(evidence);
        let document = json!({
            "schemaVersion": "2",
            "thresholds": { "high": threshold, "low": threshold },
            "framework": { "name": project.tool, "version": project.tool_version },
            "config": {
                "project": project.name,
                "asked": &summary.asked,
                "score": summary.score_in_words(),
            },
            "files": files.collect::<Map<String, Value>>(),
            "testFiles": test_files(evidence),
        });
        Ok(canonical_lines(&document)?.into_bytes())
    }
}

/// What the project demands; 100 where it demands nothing.
fn threshold(evidence: &Evidence) -> f64 {
    let settings = evidence.campaign.settings.as_ref();
    let demand = settings.and_then(|settings| settings.mutation);
    demand.map_or(100.0, |demand| demand.threshold)
}

fn test_files(evidence: &Evidence) -> Map<String, Value> {
    let mut tests_by_file: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for test in &evidence.campaign.tests {
        let name = test.title.clone().unwrap_or_else(|| test.id.to_string());
        let row = json!({ "id": test.id, "name": name });
        tests_by_file.entry(&test.file).or_default().push(row);
    }
    let rows = tests_by_file.into_iter();
    rows.map(|(file, tests)| (file.to_owned(), json!({ "tests": tests }))).collect()
}

/// The name of a mutant among those of all kernels.
fn row_id(kernel: &MutationEvidence, mutant: &MutantEvidence) -> String {
    format!("{}/{}", kernel.kernel, mutant.number)
}

fn mutant_row(
    evidence: &Evidence,
    kernel: &MutationEvidence,
    mutant: &MutantEvidence,
    first: &MutantEdit,
) -> Value {
    let own_edits: Vec<&MutantEdit> =
        mutant.edits.iter().filter(|edit| edit.file == first.file).collect();
    let text = stored_text(evidence, &first.file);
    let ChangedRange { start, end, replacement } = changed_range(first, &own_edits, text);
    let operator = mutant.operators.first();
    let (status, reason) = status_of(kernel, mutant);
    let reached = mutant.runs.verdicts().filter(|(_, verdict)| !verdict.is_not_reached());
    let judging: Vec<_> = reached.map(|(test, _)| test).collect();
    let mut row = json!({
        "id": row_id(kernel, mutant),
        "mutatorName": operator.map_or("", |operator| operator.code()),
        "description": operator.map_or("", |operator| operator.row().description),
        "location": {
            "start": { "line": start.line, "column": start.column },
            "end": { "line": end.line, "column": end.column },
        },
        "replacement": replacement,
        "status": status,
        "coveredBy": judging,
        "testsCompleted": judging.len(),
        "killedBy": mutant.runs.noticing_tests().collect::<Vec<_>>(),
    });
    if let Some(reason) = reason {
        row["statusReason"] = json!(reason);
    }
    row
}

/// The part of a file from the first change to the last one.
struct ChangedRange {
    start: Position,
    end: Position,
    replacement: String,
}

fn changed_range(first: &MutantEdit, edits: &[&MutantEdit], text: Option<&str>) -> ChangedRange {
    let start = Position { line: first.line, column: first.column };
    let ChangedPart { old, new } = changed_part(edits, text);
    let end = first.start as usize + old.len();
    match text.filter(|text| text.get(first.start as usize..end) == Some(&old)) {
        Some(text) => ChangedRange { start, end: Position::of(text, end), replacement: new },
        None => ChangedRange { start, end: start, replacement: first.new.clone() },
    }
}

/// The status in the words of the schema, with what it says too little of. `Ignored` are those that
/// are proved to do what the kernel does, duplicates, and those that a justification accepts; what is not known counts as survived.
fn status_of(kernel: &MutationEvidence, mutant: &MutantEvidence) -> (&'static str, Option<String>) {
    let reason = || mutant.runs.reason().unwrap_or_default().to_owned();
    match mutant.status {
        MutantStatus::Killed => match mutant.runs.kill_cause() {
            Some(KillCause::Time) => ("Timeout", None),
            Some(KillCause::Error) => ("RuntimeError", None),
            Some(cause @ (KillCause::Expectation | KillCause::Finding)) => {
                ("Killed", Some(format!("by {}", cause.word())))
            }
            None => ("Survived", Some("no test noticed it".to_owned())),
        },
        MutantStatus::Survived => ("Survived", mutant.runs.other_contents_in_words()),
        MutantStatus::Undecided => ("Survived", Some(format!("undecided: {}", reason()))),
        MutantStatus::NoTest => ("NoCoverage", Some("no test runs its kernel".to_owned())),
        MutantStatus::NoCoverage => {
            ("NoCoverage", Some("no test executes what it changes".to_owned()))
        }
        MutantStatus::NotCompiled => ("CompileError", Some(reason())),
        MutantStatus::Duplicate => {
            let first = kernel.first_of(mutant);
            let first = first.map(|first| row_id(kernel, first)).unwrap_or_default();
            ("Ignored", Some(format!("duplicate: compiled to the module of mutant {first}")))
        }
        MutantStatus::Equivalent => {
            let proof = mutant.proof.map_or("", |proof| proof.name());
            ("Ignored", Some(format!("equivalent, proof {proof}")))
        }
        MutantStatus::Accepted => {
            let accepting = mutant.acceptance.as_ref().and_then(|own| own.justification.as_deref());
            ("Ignored", Some(format!("accepted: {}", accepting.unwrap_or_default())))
        }
    }
}
