//! Forged evidence, for tests and the fuzz target: changes of any place, and everything that reads
//! evidence.

use super::compiled::{rebuild_project, verify_contents};
use crate::campaign::verification::RebuiltProject;
use crate::cli::args::{Command, CommandLine};
use crate::cli::certify;
use crate::cli::events::EventLog;
use crate::derivation::files::{self as written, MANIFEST};
use crate::model::canonical::sha256_digits;
use crate::model::evidence::{
    Campaign, Evidence, KernelEvidence, Manifest, MutationEvidence, StoredInputs,
};
use crate::report::{self, FormatName, Presentation};
use crate::verify::folder::{self, EvidenceFolder};
use crate::verify::{
    RebuildOutcome, Verification, VerificationOptions, form, project_derivation, verify_files,
};
use clap::Parser;
use serde::Deserialize;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::OnceLock;

pub(super) const PROJECT: &str = "tests/projects/evidence";

/// What `PROJECT` is read from.
pub(super) const PROJECT_FILES: [&str; 5] = [
    "vkcert.toml",
    "requirements/scale.toml",
    "glsl/scale.comp",
    "inc/scaled.glsl",
    "data/expected.bin",
];

pub(super) fn repository_root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Evidence and reports of the project on the sequential engine, in a folder of its own.
pub(super) fn certified_folder() -> (tempfile::TempDir, EvidenceFolder) {
    certified_folder_with(PROJECT, &["--engine", "sequential"])
}

/// The same of another project, with options that name the engines.
pub(super) fn certified_folder_with(
    project: &str,
    options: &[&str],
) -> (tempfile::TempDir, EvidenceFolder) {
    let folder = tempfile::tempdir().unwrap();
    let report_folder = folder.path().join("reports");
    let project = repository_root().join(project);
    let arguments =
        ["vkcert", "certify", project.to_str().unwrap(), "--out", report_folder.to_str().unwrap()];
    let arguments = arguments.into_iter().chain(["--quiet"]).chain(options.iter().copied());
    let command_line = CommandLine::try_parse_from(arguments).unwrap();
    let Command::Certify(certify) = &command_line.command else { panic!("another command") };
    let events = EventLog::open(None).unwrap();
    certify::run_campaign(&command_line.common, certify, &events).unwrap();
    let evidence_folder = EvidenceFolder::read(&report_folder.join("evidence")).unwrap();
    (folder, evidence_folder)
}

/// Every leaf and every list of a document, by path.
pub(super) fn places_in(value: &Value, path: &str, all_places: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            all_places.push(path.to_owned());
            members.iter().for_each(|(key, member)| {
                places_in(member, &format!("{path}/{}", key.replace('/', "~1")), all_places)
            });
        }
        Value::Array(items) => {
            all_places.push(path.to_owned());
            items
                .iter()
                .enumerate()
                .for_each(|(index, item)| places_in(item, &format!("{path}/{index}"), all_places));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            all_places.push(path.to_owned())
        }
    }
}

/// Words that stand for a choice in evidence: each is tried in the place of another.
const CHOICES: &[&[&str]] = &[
    &["pass", "fail", "undetermined", "error", "not-run"],
    &["covered", "uncovered", "justified", "undetermined"],
    &["T", "F"],
    &["holds", "refuted", "undetermined"],
    &["verified", "failed", "untested", "verified-by-children"],
    &["runtime", "constant", "specialization"],
    &["sequential", "vulkan"],
    &["all-schedules", "executed-schedule"],
    &["A", "B", "C", "D"],
    &["normal", "robustness"],
    &["if", "while"],
    &["exact", "lines-only"],
    &["simple", "empty", "break"],
    &["source", "object"],
    &["equal", "different", "undetermined", "nothing-to-permute", "not-run"],
    &[
        "identical",
        "within-tolerance",
        "within-error-bounds",
        "left-open",
        "schedule-dependent",
        "undefined-value",
        "not compared",
        "different",
    ],
    &["reversed+waiters-first", "in-order+waiters-first", "reversed", "in-order"],
];

/// Other values for one place.
pub(super) fn forged_values(value: &Value) -> Vec<Value> {
    match value {
        Value::Null => vec![Value::from("forged"), Value::from(1)],
        Value::Bool(value) => vec![Value::from(!value)],
        Value::Number(number) => {
            let mut forged_values = vec![Value::from(number.as_f64().unwrap_or(0.0) + 0.5)];
            if let Some(whole) = number.as_i64() {
                forged_values = vec![
                    Value::from(whole.saturating_add(1)),
                    Value::from(whole.saturating_sub(1)),
                ];
            }
            forged_values
        }
        Value::String(text) => {
            let mut forged_values = vec![Value::from(format!("{text}x"))];
            let choices_with = CHOICES.iter().filter(|words| words.contains(&text.as_str()));
            forged_values.extend(
                choices_with
                    .flat_map(|words| words.iter())
                    .filter(|word| *word != text)
                    .map(|word| Value::from(*word)),
            );
            // Hexadecimal and base64 texts keep their form.
            if let Some(last_character) = text.chars().last().filter(char::is_ascii_alphanumeric) {
                let other_character = if last_character == '0' { '1' } else { '0' };
                forged_values
                    .push(Value::from(format!("{}{other_character}", &text[..text.len() - 1])));
            }
            if text.len() >= 4 && text.len().is_multiple_of(4) {
                let first_letter = if text.starts_with('A') { "B" } else { "A" };
                forged_values
                    .extend(text.get(1..).map(|rest| Value::from(format!("{first_letter}{rest}"))));
            }
            forged_values
        }
        Value::Array(items) => {
            let mut forged_values = Vec::new();
            if let Some(last_character) = items.last() {
                forged_values.push(Value::from(items[..items.len() - 1].to_vec()));
                forged_values.push(Value::from(
                    [items.as_slice(), std::slice::from_ref(last_character)].concat(),
                ));
            }
            if items.len() > 1 {
                forged_values.push(Value::from(items.iter().rev().cloned().collect::<Vec<_>>()));
            }
            forged_values
        }
        Value::Object(members) => {
            let without_member = |key: &String| {
                let mut members = members.clone();
                members.remove(key);
                Value::from(members)
            };
            members.keys().map(without_member).collect()
        }
    }
}

/// A document in the place of a file of the evidence, as a program that reads it has it; none where
/// it is refused.
pub(super) fn with_forged_document(
    evidence: &Evidence,
    name: &str,
    document: &Value,
) -> Option<Evidence> {
    let mut evidence = evidence.clone();
    match name {
        "campaign.json" => evidence.campaign = Campaign::deserialize(document).ok()?,
        "inputs.json" => evidence.inputs = Some(StoredInputs::deserialize(document).ok()?),
        "manifest.json" => evidence.manifest = Manifest::deserialize(document).ok()?,
        _ if name.starts_with("mutation-") => {
            let names = written::mutation_files(&evidence.mutations);
            let index = names.iter().position(|known| known == name).unwrap();
            evidence.mutations[index] = MutationEvidence::deserialize(document).ok()?;
        }
        _ => {
            let names = written::kernel_files(&evidence.kernels);
            let index = names.iter().position(|known| known == name).unwrap();
            evidence.kernels[index] = KernelEvidence::deserialize(document).ok()?;
        }
    }
    Some(evidence)
}

/// The evidence in a folder, with every hash made right, as whoever forges evidence would.
fn consistent_folder(evidence: &Evidence) -> EvidenceFolder {
    let mut files = written::evidence_files(evidence).unwrap();
    let mut manifest = evidence.manifest.clone();
    manifest.outputs =
        files.iter().map(|(name, bytes)| (name.clone(), sha256_digits(bytes))).collect();
    files.insert(MANIFEST.to_owned(), written::canonical_bytes(&manifest).unwrap());
    EvidenceFolder { files, ..EvidenceFolder::default() }
}

/// What `verify` says of forged evidence. The project is made of the stored inputs once; those that
/// are forged make another.
pub(super) fn verify_forged(evidence: &Evidence, honest: &HonestEvidence) -> Verification {
    let (mut verification, read_evidence) =
        verify_files(&consistent_folder(evidence), &VerificationOptions::default()).unwrap();
    let Some(read_evidence) = read_evidence else { return verification };
    if let Some(problem) = form::malformed_reason(&read_evidence) {
        verification.problems.push(problem);
        return verification;
    }
    let same_inputs = read_evidence.inputs == honest.0.inputs
        && read_evidence.manifest.inputs == honest.0.manifest.inputs
        && read_evidence.campaign.left_out == honest.0.campaign.left_out
        && read_evidence.campaign.project.compiler == honest.0.campaign.project.compiler
        && read_evidence.campaign.project.tool == honest.0.campaign.project.tool
        && read_evidence.campaign.project.tool_version == honest.0.campaign.project.tool_version;
    let other_rebuild = (!same_inputs).then(|| rebuild_project(&read_evidence, None));
    verify_contents(
        &read_evidence,
        other_rebuild.as_ref().unwrap_or(&honest.1),
        &VerificationOptions::default(),
        &mut verification,
    )
    .unwrap();
    verification
}

/// The documents of the evidence, by file name.
pub(super) fn evidence_documents(evidence: &Evidence) -> Vec<(String, Value)> {
    let files = written::evidence_files(evidence).unwrap();
    let mut documents: Vec<(String, Value)> = files
        .iter()
        .map(|(name, bytes)| (name.clone(), serde_json::from_slice(bytes).unwrap()))
        .collect();
    let mut manifest = serde_json::to_value(&evidence.manifest).unwrap();
    // The hashes of the files are what a forger makes right.
    manifest.as_object_mut().unwrap().remove("outputs");
    documents.push((MANIFEST.to_owned(), manifest));
    documents
}

/// A change of a place; `pick` chooses below a number.
pub(super) fn mutate_place(document: &mut Value, pick: &mut dyn FnMut(usize) -> usize) {
    let mut all_places = Vec::new();
    places_in(document, "", &mut all_places);
    let other_value =
        document.pointer(&all_places[pick(all_places.len())]).cloned().unwrap_or_default();
    let changed_place = all_places[pick(all_places.len())].clone();
    let extreme_values = [
        Value::Null,
        Value::from(0),
        Value::from(-1),
        Value::from(u32::MAX),
        Value::from(u64::MAX),
        Value::from(i64::MIN),
        Value::from(1e308),
        Value::from("NaN"),
        Value::from(""),
        Value::from("\u{0}/../\u{202e}"),
        Value::from("D0"),
        Value::from("D4294967295"),
        Value::from(Vec::<Value>::new()),
        other_value,
    ];
    let forged_value = match pick(3) {
        0 => extreme_values[pick(extreme_values.len())].clone(),
        1 => {
            let options = document.pointer(&changed_place).map(forged_values).unwrap_or_default();
            options.get(pick(options.len())).cloned().unwrap_or_default()
        }
        _ => extreme_values[13].clone(),
    };
    if let Some(changed_slot) = document.pointer_mut(&changed_place) {
        *changed_slot = forged_value;
    }
}

/// Everything that reads evidence, on evidence that may be anything.
pub(super) fn survive_evidence(forged: &Evidence, honest: &HonestEvidence) {
    drop(verify_forged(forged, honest));
    if form::malformed_reason(forged).is_some() {
        return;
    }
    // As without stored inputs.
    let mut verification = Verification::default();
    verify_contents(
        forged,
        &RebuildOutcome::WithoutInputs(String::new()),
        &VerificationOptions::default(),
        &mut verification,
    )
    .unwrap();
    if let RebuildOutcome::Whole(rebuilt) = &honest.1 {
        project_derivation::compare_project(forged, &rebuilt.laid_out, &mut verification).unwrap();
    }
    for format in [FormatName::Terminal, FormatName::Json, FormatName::Html] {
        let standing = report::Standing::Unverified(verification.problems.clone());
        let rendered =
            report::render(forged, format, &Presentation { standing, ..Presentation::default() });
        rendered.unwrap();
    }
}

/// Evidence as it was made, with what its inputs come to.
pub(super) type HonestEvidence = (Evidence, RebuildOutcome<RebuiltProject>);

/// Evidence of the small project, made once.
fn honest_evidence() -> &'static HonestEvidence {
    static HONEST: OnceLock<HonestEvidence> = OnceLock::new();
    HONEST.get_or_init(|| {
        let (_kept, folder) = certified_folder();
        let read = folder::examine_files(&folder).ok().and_then(|read| read.evidence);
        let evidence = *read.expect("evidence that was just made can be read");
        let rebuilt = rebuild_project(&evidence, None);
        (evidence, rebuilt)
    })
}

/// Forges evidence as the bytes say, four for each change, and lets everything read it.
///
/// # Panics
/// If what reads evidence does.
pub(super) fn survive_changes(bytes: &[u8]) {
    let honest = honest_evidence();
    let mut forged = honest.0.clone();
    for step in bytes.chunks_exact(4).take(8) {
        let documents = evidence_documents(&forged);
        let (name, document) = &documents[usize::from(step[0]) % documents.len()];
        let mut document = document.clone();
        if name == MANIFEST {
            document["outputs"] = Value::from(serde_json::Map::new());
        }
        let place = usize::from(u16::from_le_bytes([step[1], step[2]]));
        mutate_place(&mut document, &mut |count| {
            (place * 251 + usize::from(step[3])) % count.max(1)
        });
        if let Some(changed) = with_forged_document(&forged, name, &document) {
            forged = changed;
        }
    }
    survive_evidence(&forged, honest);
}
