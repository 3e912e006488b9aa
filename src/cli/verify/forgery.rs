//! Forged evidence, for tests and the fuzz target: changes of any place, and everything that reads
//! evidence.

use super::compiled::{contents, rebuild};
use crate::campaign::verification::Rebuilt;
use crate::cli::args::{Command, CommandLine};
use crate::cli::certify;
use crate::derivation::files::{self as written, MANIFEST};
use crate::model::canonical::sha256_digits;
use crate::model::evidence::Evidence;
use crate::report::{self, FormatName, Presentation};
use crate::verify::folder::{self, Folder};
use crate::verify::{Options, Outcome, Verification, files, form, project_derivation};
use clap::Parser;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::OnceLock;

pub(super) const PROJECT: &str = "tests/projects/evidence";

pub(super) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Evidence and reports of the project on the sequential engine, in a folder of its own.
pub(super) fn certified() -> (tempfile::TempDir, Folder) {
    certified_with(PROJECT, &["--engine", "sequential"])
}

/// The same of another project, with options that name the engines.
pub(super) fn certified_with(project: &str, options: &[&str]) -> (tempfile::TempDir, Folder) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("reports");
    let project = root().join(project);
    let arguments =
        ["vkcert", "certify", project.to_str().unwrap(), "--out", out.to_str().unwrap()];
    let arguments = arguments.into_iter().chain(["--quiet"]).chain(options.iter().copied());
    let line = CommandLine::try_parse_from(arguments).unwrap();
    let Command::Certify(certify) = &line.command else { panic!("another command") };
    certify::run(&line.common, certify).unwrap();
    let read = Folder::read(&out.join("evidence")).unwrap();
    (folder, read)
}

/// Every leaf and every list of a document, by path.
pub(super) fn places(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            found.push(path.to_owned());
            members.iter().for_each(|(key, member)| {
                places(member, &format!("{path}/{}", key.replace('/', "~1")), found)
            });
        }
        Value::Array(items) => {
            found.push(path.to_owned());
            items
                .iter()
                .enumerate()
                .for_each(|(index, item)| places(item, &format!("{path}/{index}"), found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            found.push(path.to_owned())
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
pub(super) fn forgeries(value: &Value) -> Vec<Value> {
    match value {
        Value::Null => vec![Value::from("forged"), Value::from(1)],
        Value::Bool(value) => vec![Value::from(!value)],
        Value::Number(number) => {
            let mut forged = vec![Value::from(number.as_f64().unwrap_or(0.0) + 0.5)];
            if let Some(whole) = number.as_i64() {
                forged = vec![
                    Value::from(whole.saturating_add(1)),
                    Value::from(whole.saturating_sub(1)),
                ];
            }
            forged
        }
        Value::String(text) => {
            let mut forged = vec![Value::from(format!("{text}x"))];
            let choices = CHOICES.iter().filter(|words| words.contains(&text.as_str()));
            forged.extend(
                choices
                    .flat_map(|words| words.iter())
                    .filter(|word| *word != text)
                    .map(|word| Value::from(*word)),
            );
            // Hexadecimal and base64 texts keep their form.
            if let Some(last) = text.chars().last().filter(char::is_ascii_alphanumeric) {
                let other = if last == '0' { '1' } else { '0' };
                forged.push(Value::from(format!("{}{other}", &text[..text.len() - 1])));
            }
            if text.len() >= 4 && text.len().is_multiple_of(4) {
                let first = if text.starts_with('A') { "B" } else { "A" };
                forged.extend(text.get(1..).map(|rest| Value::from(format!("{first}{rest}"))));
            }
            forged
        }
        Value::Array(items) => {
            let mut forged = Vec::new();
            if let Some(last) = items.last() {
                forged.push(Value::from(items[..items.len() - 1].to_vec()));
                forged.push(Value::from([items.as_slice(), std::slice::from_ref(last)].concat()));
            }
            if items.len() > 1 {
                forged.push(Value::from(items.iter().rev().cloned().collect::<Vec<_>>()));
            }
            forged
        }
        Value::Object(members) => {
            let without = |key: &String| {
                let mut members = members.clone();
                members.remove(key);
                Value::from(members)
            };
            members.keys().map(without).collect()
        }
    }
}

/// A document in the place of a file of the evidence, as a program that reads it has it; none where
/// it is refused.
pub(super) fn with_document(evidence: &Evidence, name: &str, document: &Value) -> Option<Evidence> {
    let mut evidence = evidence.clone();
    match name {
        "campaign.json" => evidence.campaign = serde_json::from_value(document.clone()).ok()?,
        "inputs.json" => evidence.inputs = Some(serde_json::from_value(document.clone()).ok()?),
        "manifest.json" => evidence.manifest = serde_json::from_value(document.clone()).ok()?,
        _ => {
            let names = written::kernel_files(&evidence.kernels);
            let index = names.iter().position(|known| known == name).unwrap();
            evidence.kernels[index] = serde_json::from_value(document.clone()).ok()?;
        }
    }
    Some(evidence)
}

/// The evidence in a folder, with every hash made right, as whoever forges evidence would.
fn consistent(evidence: &Evidence) -> Folder {
    let mut files = written::files(evidence).unwrap();
    let mut manifest = evidence.manifest.clone();
    manifest.outputs =
        files.iter().map(|(name, bytes)| (name.clone(), sha256_digits(bytes))).collect();
    files.insert(MANIFEST.to_owned(), written::canonical(&manifest).unwrap());
    Folder { files, ..Folder::default() }
}

/// What `verify` says of forged evidence. The project is made of the stored inputs once; those that
/// are forged make another.
pub(super) fn verified(evidence: &Evidence, honest: &Honest) -> Verification {
    let (mut found, read) = files(&consistent(evidence), &Options::default()).unwrap();
    let Some(read) = read else { return found };
    if let Some(problem) = form::malformed(&read) {
        found.problems.push(problem);
        return found;
    }
    let same = read.inputs == honest.0.inputs
        && read.manifest.inputs == honest.0.manifest.inputs
        && read.campaign.left_out == honest.0.campaign.left_out
        && read.campaign.project.compiler == honest.0.campaign.project.compiler
        && read.campaign.project.tool == honest.0.campaign.project.tool
        && read.campaign.project.tool_version == honest.0.campaign.project.tool_version;
    let other = (!same).then(|| rebuild(&read, None));
    contents(&read, other.as_ref().unwrap_or(&honest.1), &Options::default(), &mut found).unwrap();
    found
}

/// The documents of the evidence, by file name.
pub(super) fn documents(evidence: &Evidence) -> Vec<(String, Value)> {
    let files = written::files(evidence).unwrap();
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
pub(super) fn mutate(document: &mut Value, pick: &mut dyn FnMut(usize) -> usize) {
    let mut all = Vec::new();
    places(document, "", &mut all);
    let other = document.pointer(&all[pick(all.len())]).cloned().unwrap_or_default();
    let place = all[pick(all.len())].clone();
    let extremes = [
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
        other,
    ];
    let forged = match pick(3) {
        0 => extremes[pick(extremes.len())].clone(),
        1 => {
            let options = document.pointer(&place).map(forgeries).unwrap_or_default();
            options.get(pick(options.len())).cloned().unwrap_or_default()
        }
        _ => extremes[13].clone(),
    };
    if let Some(slot) = document.pointer_mut(&place) {
        *slot = forged;
    }
}

/// Everything that reads evidence, on evidence that may be anything.
pub(super) fn survive(forged: &Evidence, honest: &Honest) {
    drop(verified(forged, honest));
    if form::malformed(forged).is_some() {
        return;
    }
    // As without stored inputs.
    let mut found = Verification::default();
    contents(forged, &Outcome::Nothing(String::new()), &Options::default(), &mut found).unwrap();
    if let Outcome::Whole(rebuilt) = &honest.1 {
        project_derivation::compare(forged, &rebuilt.laid_out, &mut found).unwrap();
    }
    for format in [FormatName::Terminal, FormatName::Json, FormatName::Html] {
        let standing = report::Standing::Unverified(found.problems.clone());
        let rendered =
            report::render(forged, format, &Presentation { standing, ..Presentation::default() });
        rendered.unwrap();
    }
}

/// Evidence as it was made, with what its inputs come to.
pub(super) type Honest = (Evidence, Outcome<Rebuilt>);

/// Evidence of the small project, made once.
fn honest() -> &'static Honest {
    static HONEST: OnceLock<Honest> = OnceLock::new();
    HONEST.get_or_init(|| {
        let (_kept, folder) = certified();
        let read = folder::examine(&folder).ok().and_then(|read| read.evidence);
        let evidence = *read.expect("evidence that was just made can be read");
        let rebuilt = rebuild(&evidence, None);
        (evidence, rebuilt)
    })
}

/// Forges evidence as the bytes say, four for each change, and lets everything read it.
///
/// # Panics
/// If what reads evidence does.
pub(super) fn survive_changes(bytes: &[u8]) {
    let honest = honest();
    let mut forged = honest.0.clone();
    for step in bytes.chunks_exact(4).take(8) {
        let documents = documents(&forged);
        let (name, document) = &documents[usize::from(step[0]) % documents.len()];
        let mut document = document.clone();
        if name == MANIFEST {
            document["outputs"] = Value::from(serde_json::Map::new());
        }
        let place = usize::from(u16::from_le_bytes([step[1], step[2]]));
        mutate(&mut document, &mut |count| (place * 251 + usize::from(step[3])) % count.max(1));
        if let Some(changed) = with_document(&forged, name, &document) {
            forged = changed;
        }
    }
    survive(&forged, honest);
}
