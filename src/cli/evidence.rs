//! The evidence folder: canonical JSON files and a manifest of hashes; written by `certify`, read by `report` and `verify`.

use super::failure::Failure;
use crate::model::canonical::{canonical_lines, sha256_digits};
use crate::model::diagnostic::Diagnostic;
use crate::model::evidence::{Campaign, Evidence, KernelEvidence, KernelSummary, Manifest, kernel_label};
use crate::model::place::Position;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

pub const MANIFEST: &str = "manifest.json";
pub const CAMPAIGN: &str = "campaign.json";

/// A module as a file holds it.
pub fn module_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Names of the kernels' evidence files, in their order; the configuration is named where a kernel has several.
fn kernel_files(kernels: &[KernelEvidence]) -> Vec<String> {
    let safe = |text: &str| -> String {
        text.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.=".contains(c) { c } else { '_' }).collect()
    };
    let mut names: Vec<String> = Vec::new();
    for kernel in kernels {
        let several = kernel_label(kernels, kernel) != kernel.kernel.as_str();
        let configuration = if several { format!("@{}", safe(&kernel.configuration.name)) } else { String::new() };
        let stem = format!("kernel-{}{configuration}-{}", safe(kernel.kernel.as_str()), kernel.engine);
        // Names that differ in unsafe characters alone are told apart by number.
        let taken = |name: &String| names.contains(name);
        let numbered = (2..).map(|number| format!("{stem}~{number}.json"));
        let name = std::iter::once(format!("{stem}.json")).chain(numbered).find(|name| !taken(name));
        names.push(name.expect("there are more numbers than files"));
    }
    names
}

/// Every file of the evidence but the manifest, by name.
pub fn files(campaign: &Campaign, kernels: &[KernelEvidence]) -> Result<BTreeMap<String, Vec<u8>>, Failure> {
    let tool = |error: serde_json::Error| Failure::tool(error.to_string());
    let mut files = BTreeMap::from([(CAMPAIGN.to_owned(), canonical_lines(campaign).map_err(tool)?.into_bytes())]);
    for (name, kernel) in kernel_files(kernels).into_iter().zip(kernels) {
        files.insert(name, canonical_lines(kernel).map_err(tool)?.into_bytes());
    }
    Ok(files)
}

/// What is wrong with an evidence folder whose manifest can be read.
pub struct Tampering {
    pub problems: Vec<String>,
}

/// What an evidence folder holds.
pub enum Stored {
    Read(Box<Evidence>, Tampering),
    /// Files that the manifest lists are gone or unreadable, so that there is nothing to derive from.
    Broken(Tampering),
}

/// Reads a folder for reports: everything must be there, whatever its hashes.
pub fn load(folder: &Path) -> Result<(Evidence, Tampering), Failure> {
    let files = files_of(folder)?;
    let tampering = Tampering { problems: files.problems.clone() };
    Ok((files.evidence(folder)?, tampering))
}

/// Reads a folder back; problems with hashes, missing and unlisted files are collected, not fatal.
pub fn examine(folder: &Path) -> Result<Stored, Failure> {
    let files = files_of(folder)?;
    let mut problems = files.problems.clone();
    match files.evidence(folder) {
        Ok(evidence) => Ok(Stored::Read(Box::new(evidence), Tampering { problems })),
        // The manifest can be read, and what it lists is not what was written.
        Err(_) if !problems.is_empty() => Ok(Stored::Broken(Tampering { problems })),
        Err(Failure::Input(found)) => {
            problems.extend(found.iter().map(|diagnostic| diagnostic.to_string()));
            Ok(Stored::Broken(Tampering { problems }))
        }
        Err(failure) => Err(failure),
    }
}

/// The bytes of a folder.
struct Files {
    manifest: Manifest,
    /// Files that the manifest lists, by name.
    present: BTreeMap<String, Vec<u8>>,
    problems: Vec<String>,
}

fn files_of(folder: &Path) -> Result<Files, Failure> {
    let shown = folder.display().to_string();
    let mut problems = Vec::new();
    let manifest: Manifest = parse(folder, MANIFEST, &read(folder, MANIFEST)?)?;
    let mut present = BTreeMap::new();
    let entries = fs::read_dir(folder).map_err(|error| unreadable(&shown, &error.to_string()))?;
    for entry in entries {
        let entry = entry.map_err(|error| unreadable(&shown, &error.to_string()))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name != MANIFEST {
            if entry.path().is_file() && manifest.outputs.contains_key(&name) {
                present.insert(name.clone(), read(folder, &name)?);
            } else {
                problems.push(format!("{name} is in the folder but not in the manifest"));
            }
        }
    }
    problems.sort();
    for (name, hash) in &manifest.outputs {
        match present.get(name) {
            None => problems.push(format!("{name} is in the manifest but not in the folder")),
            Some(bytes) if sha256_digits(bytes) != *hash => {
                problems.push(format!("{name} has another SHA-256 than the manifest"))
            }
            Some(_) => {}
        }
    }
    Ok(Files { manifest, present, problems })
}

impl Files {
    fn evidence(self, folder: &Path) -> Result<Evidence, Failure> {
        let shown = folder.display().to_string();
        let bytes = self.present.get(CAMPAIGN).ok_or_else(|| unreadable(&shown, "it holds no campaign.json"))?;
        let campaign: Campaign = parse(folder, CAMPAIGN, bytes)?;
        let mut kernels = Vec::new();
        for (name, bytes) in self.present.iter().filter(|(name, _)| name.starts_with("kernel-")) {
            kernels.push(parse::<KernelEvidence>(folder, name, bytes)?);
        }
        // File names do not keep the project's order; the conclusion does.
        let order = |kernel: &KernelEvidence| {
            let rows = &campaign.conclusion.summary;
            let same = |row: &&KernelSummary| {
                row.kernel == kernel.kernel
                    && row.configuration == kernel.configuration.name
                    && row.engine == kernel.engine
            };
            rows.iter().position(|row| same(&row)).unwrap_or(usize::MAX)
        };
        kernels.sort_by_key(order);
        Ok(Evidence { campaign, kernels, manifest: self.manifest })
    }
}

fn read(folder: &Path, name: &str) -> Result<Vec<u8>, Failure> {
    let path = folder.join(name);
    fs::read(&path).map_err(|error| unreadable(&path.display().to_string(), &error.to_string()))
}

fn unreadable(file: &str, reason: &str) -> Failure {
    Diagnostic::new("missing-file", format!("{file} cannot be read: {reason}"))
        .hint("name the `evidence` folder that `vkcert certify` has written")
        .in_file(file)
        .into()
}

fn parse<T: serde::de::DeserializeOwned>(folder: &Path, name: &str, bytes: &[u8]) -> Result<T, Failure> {
    let read = || {
        check_depth(bytes)?;
        let mut deserializer = serde_json::Deserializer::from_slice(bytes);
        deserializer.disable_recursion_limit();
        let value = T::deserialize(&mut deserializer)?;
        deserializer.end()?;
        Ok(value)
    };
    read().map_err(|error: serde_json::Error| {
        let position = Position { line: error.line() as u32, column: error.column() as u32 };
        Diagnostic::new("bad-evidence", format!("not an evidence file of this version: {error}"))
            .at_position(folder.join(name).display().to_string(), position)
            .into()
    })
}

/// Brackets that evidence may nest: far more than any kernel that the front end reads, and far less than the stack holds.
const MAX_DEPTH: usize = 20_000;

fn check_depth(bytes: &[u8]) -> Result<(), serde_json::Error> {
    let (mut depth, mut text, mut escaped) = (0_usize, false, false);
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if text => escaped = true,
            b'"' => text = !text,
            b'{' | b'[' if !text => depth += 1,
            b'}' | b']' if !text => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Err(serde::de::Error::custom(format!("nested more than {MAX_DEPTH} deep")));
        }
    }
    Ok(())
}
