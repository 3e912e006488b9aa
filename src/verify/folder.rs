//! The evidence folder, read: its files, their hashes and their form.

use super::VerifyError;
use super::provenance::{self, ProvenanceFile};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use vkcert_derivation::files::{
    CAMPAIGN, INPUTS, MANIFEST, REPORTS, canonical_bytes, evidence_files, stored_file_bytes,
};
use vkcert_model::canonical::sha256_digits;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::evidence::{
    Campaign, EVIDENCE_SCHEMA, Evidence, KernelEvidence, KernelSummary, Manifest, MutationEvidence,
    READABLE_SCHEMAS, ReportList, StoredFile,
};
use vkcert_model::path::display_path;
use vkcert_model::place::Position;
use vkcert_report::{FORMATS, REPORT_FOLDERS, ReportFolder};
use vkcert_requirement::{PROJECT_FILE, is_requirement_file};

/// The files of an evidence folder, and the reports beside it.
#[derive(Debug, Clone, Default)]
pub struct EvidenceFolder {
    /// As messages name it.
    pub folder_name: String,
    /// Contents by file name.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Entries that are no files.
    pub stray_entries: Vec<String>,
    /// `reports.json`, where it is there.
    pub report_list: Option<Vec<u8>>,
    /// The reports that it names and that are there.
    pub reports: BTreeMap<String, Vec<u8>>,
    /// Reports beside the evidence that it does not name, sorted.
    pub unlisted: Vec<String>,
    /// `provenance.json`, where something has that name.
    pub provenance: Option<ProvenanceFile>,
}

impl EvidenceFolder {
    /// Reads everything; a folder without manifest is an error.
    pub fn read(folder: &Path) -> Result<Self, VerifyError> {
        let mut evidence_folder = Self::read_alone(folder)?;
        evidence_folder.read_reports(folder)?;
        Ok(evidence_folder)
    }

    /// Reads the files of the folder and nothing beside it; one without manifest is an error.
    pub fn read_alone(folder: &Path) -> Result<Self, VerifyError> {
        let mut evidence_folder =
            Self { folder_name: folder.display().to_string(), ..Self::default() };
        let folder_name = &evidence_folder.folder_name;
        evidence_folder.files.insert(MANIFEST.to_owned(), read_file(folder, MANIFEST)?);
        let entries = fs::read_dir(folder)
            .map_err(|error| unreadable_file(folder_name, &error.to_string()))?;
        for entry in entries {
            let entry = entry.map_err(|error| unreadable_file(folder_name, &error.to_string()))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name == MANIFEST {
                continue;
            }
            if entry.path().is_file() && entry.file_name().to_str().is_some() {
                let bytes = read_file(folder, &name)?;
                evidence_folder.files.insert(name, bytes);
            } else {
                evidence_folder.stray_entries.push(name);
            }
        }
        evidence_folder.stray_entries.sort();
        Ok(evidence_folder)
    }

    fn read_reports(&mut self, folder: &Path) -> Result<(), VerifyError> {
        let Some(report_folder) = folder_above(folder) else { return Ok(()) };
        let files_beside = FORMATS
            .iter()
            .filter_map(|format| format.file)
            .filter(|name| report_folder.join(name).is_file());
        self.unlisted = files_beside.map(str::to_owned).collect();
        let further =
            REPORT_FOLDERS.iter().flat_map(|folder| further_files(&report_folder, folder));
        self.unlisted.extend(further);
        self.unlisted.sort();
        self.provenance = provenance::read(&report_folder);
        if !report_folder.join(REPORTS).is_file() {
            return Ok(());
        }
        let list_bytes = read_file(&report_folder, REPORTS)?;
        let listed_names: Vec<String> = report_list(&list_bytes)
            .map(|list| list.reports.into_keys().collect())
            .unwrap_or_default();
        for name in listed_names
            .into_iter()
            .filter(|name| is_report(name) && report_folder.join(name).is_file())
        {
            let bytes = read_file(&report_folder, &name)?;
            self.reports.insert(name, bytes);
        }
        self.unlisted.retain(|name| !self.reports.contains_key(name));
        self.report_list = Some(list_bytes);
        Ok(())
    }

    /// SHA-256 of the manifest: the root of the evidence.
    pub fn root(&self) -> String {
        sha256_digits(self.files.get(MANIFEST).map(Vec::as_slice).unwrap_or_default())
    }

    /// Whether `reports.json` is there and no list of reports.
    pub fn has_unreadable_list(&self) -> bool {
        self.report_list.as_deref().is_some_and(|bytes| report_list(bytes).is_none())
    }

    /// SHA-256 of `reports.json`.
    pub fn list_hash(&self) -> Option<String> {
        self.report_list.as_deref().map(sha256_digits)
    }
}

/// The folder that holds the evidence folder.
fn folder_above(folder: &Path) -> Option<PathBuf> {
    let canonical_path = folder.canonicalize().ok()?;
    canonical_path.parent().map(Path::to_owned)
}

/// Whether a name is one that a report can have: of a file beside the list, or in one of the folders
/// of further files.
fn is_report(name: &str) -> bool {
    match REPORT_FOLDERS.iter().find(|folder| folder.holds(name)) {
        Some(folder) => is_plain(&name[folder.name.len() + 1..]),
        None => is_plain(name),
    }
}

/// What stands in a folder of further files. One that cannot be read holds none that could be
/// compared; those that the list names are told as missing.
fn further_files(report_folder: &Path, folder: &ReportFolder) -> Vec<String> {
    let Ok(entries) = fs::read_dir(report_folder.join(folder.name)) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.map(|name| format!("{}/{name}", folder.name)).collect()
}

/// Whether a name is that of a file in the same folder.
fn is_plain(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == name)
}

fn report_list(bytes: &[u8]) -> Option<ReportList> {
    serde_json::from_slice(bytes).ok()
}

/// What an evidence folder holds.
pub struct ExaminedFolder {
    /// What is wrong with its files.
    pub problems: Vec<String>,
    /// None where files are gone or unreadable, so that there is nothing to derive from.
    pub evidence: Option<Box<Evidence>>,
}

/// Reads a folder for listings: all files must be there; wrong hashes are returned as problems.
pub fn load_evidence(path: &Path) -> Result<(Evidence, Vec<String>), VerifyError> {
    let folder = EvidenceFolder::read(path)?;
    let manifest = parse_manifest(&folder)?;
    let problems = find_tampering(&folder, &manifest);
    Ok((parse_evidence(&folder, manifest)?, problems))
}

/// Checks the files of a folder: hashes, missing and unlisted files, the form of each.
///
/// # Errors
/// If the manifest cannot be read.
pub fn examine_files(folder: &EvidenceFolder) -> Result<ExaminedFolder, VerifyError> {
    let manifest = parse_manifest(folder)?;
    let mut problems = find_tampering(folder, &manifest);
    match parse_evidence(folder, manifest) {
        Ok(evidence) => {
            problems.extend(check_form(folder, &evidence)?);
            Ok(ExaminedFolder { problems, evidence: Some(Box::new(evidence)) })
        }
        Err(VerifyError::Input(diagnostics)) => {
            problems.extend(diagnostics.iter().map(|diagnostic| diagnostic.to_string()));
            Ok(ExaminedFolder { problems, evidence: None })
        }
        Err(failure) => Err(failure),
    }
}

fn parse_manifest(folder: &EvidenceFolder) -> Result<Manifest, VerifyError> {
    let bytes = folder.files.get(MANIFEST).map(Vec::as_slice).unwrap_or_default();
    parse_file(&folder.folder_name, MANIFEST, bytes)
}

fn stray_sentence(name: &str) -> String {
    format!("{name} is in the folder but not in the manifest")
}

/// Files whose hashes are not those of the manifest or of the list of reports, missing files, files
/// that nothing lists, and a provenance that is not of this evidence.
pub fn find_tampering(folder: &EvidenceFolder, manifest: &Manifest) -> Vec<String> {
    let mut problems: Vec<String> =
        folder.stray_entries.iter().map(|name| stray_sentence(name)).collect();
    let unlisted = folder
        .files
        .keys()
        .filter(|name| *name != MANIFEST && !manifest.outputs.contains_key(*name));
    problems.extend(unlisted.map(|name| stray_sentence(name)));
    problems.sort();
    for (name, hash) in &manifest.outputs {
        match folder.files.get(name) {
            None => problems.push(format!("{name} is in the manifest but not in the folder")),
            Some(bytes) if sha256_digits(bytes) != *hash => {
                problems.push(format!("{name} has another SHA-256 than the manifest"))
            }
            Some(_) => {}
        }
    }
    problems.extend(
        folder
            .report_list
            .as_deref()
            .map(|list| check_report_list(folder, list))
            .unwrap_or_default(),
    );
    let provenance_file = folder.provenance.as_ref();
    problems.extend(provenance_file.and_then(|file| provenance::problem_of(file, &folder.root())));
    problems
}

/// What is wrong with the list of reports.
fn check_report_list(folder: &EvidenceFolder, bytes: &[u8]) -> Vec<String> {
    let Some(list) = report_list(bytes) else {
        return vec![format!("{REPORTS} is not a list of reports")];
    };
    let mut problems = Vec::new();
    if canonical_bytes(&list).ok().as_deref() != Some(bytes) || list.schema != 1 {
        problems.push(format!("{REPORTS} is not in the form that this program writes"));
    }
    if list.root != folder.root() {
        problems.push(format!(
            "{REPORTS} is of other evidence: its root is not the SHA-256 of the manifest"
        ));
    }
    for (name, hash) in &list.reports {
        match folder.reports.get(name) {
            None => problems.push(format!("{name} is in {REPORTS} but not beside it")),
            Some(report_bytes) if sha256_digits(report_bytes) != *hash => {
                problems.push(format!("{name} has another SHA-256 than {REPORTS}"));
            }
            Some(_) => {}
        }
    }
    problems
}

/// Files whose bytes are not those that this program would write for them, or whose name is wrong.
/// The bytes of older evidence are not compared, because it lacks fields that would be written now.
fn check_form(folder: &EvidenceFolder, evidence: &Evidence) -> Result<Vec<String>, VerifyError> {
    let file_schemas =
        evidence.kernels.iter().map(|kernel| kernel.schema).chain([evidence.campaign.schema]);
    let file_schemas =
        file_schemas.chain(evidence.mutations.iter().map(|mutation| mutation.schema));
    let file_schemas = file_schemas.chain(evidence.inputs.iter().map(|inputs| inputs.schema));
    let schema = evidence.manifest.schema;
    if !READABLE_SCHEMAS.contains(&schema)
        || file_schemas.into_iter().any(|other_schema| other_schema != schema)
    {
        return Ok(vec!["version of the evidence format".to_owned()]);
    }
    let mut problems = check_inputs(evidence);
    let mut written_files = evidence_files(evidence)?;
    written_files.insert(MANIFEST.to_owned(), canonical_bytes(&evidence.manifest)?);
    for name in folder.files.keys().filter(|name| !written_files.contains_key(*name)) {
        problems.push(format!("{name} is none of the files of this evidence"));
    }
    for (name, bytes) in &written_files {
        match folder.files.get(name) {
            None => {
                problems.push(format!("{name} is missing: the evidence has it under another name"))
            }
            Some(stored_bytes) if stored_bytes != bytes && schema == EVIDENCE_SCHEMA => {
                problems.push(format!("{name} is not in the form that this program writes"));
            }
            Some(_) => {}
        }
    }
    Ok(problems)
}

/// Stored inputs that are not those of the manifest.
fn check_inputs(evidence: &Evidence) -> Vec<String> {
    let Some(stored) = &evidence.inputs else { return Vec::new() };
    let mut problems = Vec::new();
    for (path, hash) in &evidence.manifest.inputs {
        match stored.files.get(path) {
            None => problems.push(format!("the input {path} of the manifest is not stored")),
            Some(StoredFile::Omitted { bytes }) if may_be_omitted(evidence, path, *bytes) => {}
            Some(StoredFile::Omitted { .. }) => {
                problems.push(format!("the input {path} is always stored, and is not"))
            }
            Some(file)
                if stored_file_bytes(file).is_some_and(|bytes| sha256_digits(&bytes) == *hash) => {}
            Some(_) => problems
                .push(format!("the stored input {path} has another SHA-256 than the manifest")),
        }
    }
    let unlisted = stored.files.keys().filter(|path| !evidence.manifest.inputs.contains_key(*path));
    problems.extend(unlisted.map(|path| format!("the stored input {path} is not in the manifest")));
    problems
}

/// Whether an input is data, a module or a file that a requirement names, and larger than what is
/// stored of these.
fn may_be_omitted(evidence: &Evidence, path: &str, bytes: u64) -> bool {
    let settings = evidence.campaign.settings.as_ref();
    let mut kernel_sources = settings
        .into_iter()
        .flat_map(|settings| &settings.kernels)
        .map(|kernel| kernel.source.as_str());
    let mut structure_files = evidence.kernels.iter().flat_map(|kernel| &kernel.structure.files);
    let mut set_aside_sources = evidence.campaign.set_aside.iter().map(|row| row.source.as_str());
    let is_kept = path == PROJECT_FILE
        || set_aside_sources.any(|source| source == path)
        || is_requirement_file(path)
        || kernel_sources.any(|source| source == path)
        || structure_files.any(|file| file.path == path);
    !is_kept && settings.is_some_and(|settings| bytes > settings.limits.output_bytes)
}

fn parse_evidence(folder: &EvidenceFolder, manifest: Manifest) -> Result<Evidence, VerifyError> {
    let listed_file =
        |name: &str| folder.files.get(name).filter(|_| manifest.outputs.contains_key(name));
    let campaign_bytes = listed_file(CAMPAIGN)
        .ok_or_else(|| unreadable_file(&folder.folder_name, "it holds no campaign.json"))?;
    let campaign: Campaign = parse_file(&folder.folder_name, CAMPAIGN, campaign_bytes)?;
    let mut kernels = Vec::new();
    for name in folder.files.keys().filter(|name| name.starts_with("kernel-")) {
        let Some(kernel_bytes) = listed_file(name) else { continue };
        kernels.push(parse_file::<KernelEvidence>(&folder.folder_name, name, kernel_bytes)?);
    }
    let mut mutations = Vec::new();
    for name in folder.files.keys().filter(|name| name.starts_with("mutation-")) {
        let Some(bytes) = listed_file(name) else { continue };
        mutations.push(parse_file::<MutationEvidence>(&folder.folder_name, name, bytes)?);
    }
    let inputs = listed_file(INPUTS)
        .map(|input_bytes| parse_file(&folder.folder_name, INPUTS, input_bytes))
        .transpose()?;
    // The order of the project is that of the conclusion, since file names are sorted.
    let summary_position = |kernel: &KernelEvidence| {
        let rows = &campaign.conclusion.summary;
        let is_summary_of = |row: &&KernelSummary| {
            row.kernel == kernel.kernel
                && row.configuration == kernel.configuration.name
                && row.engine == kernel.engine
        };
        rows.iter().position(|row| is_summary_of(&row)).unwrap_or(usize::MAX)
    };
    kernels.sort_by_key(summary_position);
    let counted_kernels =
        || campaign.mutation.iter().flat_map(|summary| &summary.by_kernel).map(|row| row.kernel);
    mutations.sort_by_key(|mutation: &MutationEvidence| {
        counted_kernels().position(|kernel| kernel == mutation.kernel).unwrap_or(usize::MAX)
    });
    Ok(Evidence { campaign, kernels, mutations, inputs, manifest })
}

fn read_file(folder: &Path, name: &str) -> Result<Vec<u8>, VerifyError> {
    let path = folder.join(name);
    fs::read(&path).map_err(|error| unreadable_file(&display_path(&path), &error.to_string()))
}

fn unreadable_file(file: &str, reason: &str) -> VerifyError {
    Diagnostic::new("missing-file", format!("the evidence cannot be read: {reason}"))
        .hint("run `vkcert certify` first, or name the `evidence` folder that it has written")
        .in_file(file)
        .into()
}

/// Reads a file of evidence, or the part of it that `T` has.
///
/// # Errors
/// If it is not of that form, with the place.
pub(super) fn parse_file<T: serde::de::DeserializeOwned>(
    folder: &str,
    name: &str,
    bytes: &[u8],
) -> Result<T, VerifyError> {
    let deserialize_file = || {
        check_depth(bytes)?;
        let mut deserializer = serde_json::Deserializer::from_slice(bytes);
        deserializer.disable_recursion_limit();
        let value = T::deserialize(&mut deserializer)?;
        deserializer.end()?;
        Ok(value)
    };
    deserialize_file().map_err(|error: serde_json::Error| {
        let position = Position { line: error.line() as u32, column: error.column() as u32 };
        Diagnostic::new("bad-evidence", format!("not an evidence file of this version: {error}"))
            .at_position(Path::new(folder).join(name).display().to_string(), position)
            .into()
    })
}

/// Deepest nesting of brackets in evidence: far more than any kernel that the front end reads
/// needs, and far less than the stack holds.
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

#[cfg(test)]
mod tests;
