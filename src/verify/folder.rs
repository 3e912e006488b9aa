//! The evidence folder, read: its files, their hashes and their form.

use super::VerifyError;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use vkcert_derivation::files::{CAMPAIGN, INPUTS, MANIFEST, REPORTS, bytes_of, canonical, files};
use vkcert_model::canonical::sha256_digits;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::evidence::{
    Campaign, EVIDENCE_SCHEMA, Evidence, KernelEvidence, KernelSummary, Manifest, READABLE_SCHEMAS,
    ReportList, StoredFile,
};
use vkcert_model::path::shown;
use vkcert_model::place::Position;
use vkcert_report::FORMATS;
use vkcert_requirement::{PROJECT_FILE, is_requirement_file};

/// The files of an evidence folder, and the reports beside it.
#[derive(Debug, Clone, Default)]
pub struct Folder {
    /// As messages name it.
    pub shown: String,
    pub files: BTreeMap<String, Vec<u8>>,
    /// Entries that are no files.
    pub strange: Vec<String>,
    /// `reports.json`, where it is there.
    pub list: Option<Vec<u8>>,
    /// The reports that it names and that are there.
    pub reports: BTreeMap<String, Vec<u8>>,
    /// Reports beside the evidence that it does not name, sorted.
    pub unlisted: Vec<String>,
}

impl Folder {
    /// Reads everything; a folder without manifest is an error.
    pub fn read(folder: &Path) -> Result<Self, VerifyError> {
        let shown = folder.display().to_string();
        let mut found = Self { shown: shown.clone(), ..Self::default() };
        found.files.insert(MANIFEST.to_owned(), read(folder, MANIFEST)?);
        let entries =
            fs::read_dir(folder).map_err(|error| unreadable(&shown, &error.to_string()))?;
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(&shown, &error.to_string()))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name == MANIFEST {
                continue;
            }
            if entry.path().is_file() && entry.file_name().to_str().is_some() {
                found.files.insert(name.clone(), read(folder, &name)?);
            } else {
                found.strange.push(name);
            }
        }
        found.strange.sort();
        found.read_reports(folder)?;
        Ok(found)
    }

    fn read_reports(&mut self, folder: &Path) -> Result<(), VerifyError> {
        let Some(beside) = beside(folder) else { return Ok(()) };
        let names = FORMATS
            .iter()
            .filter_map(|format| format.file)
            .filter(|name| beside.join(name).is_file());
        self.unlisted = names.map(str::to_owned).collect();
        self.unlisted.sort();
        if !beside.join(REPORTS).is_file() {
            return Ok(());
        }
        let bytes = read(&beside, REPORTS)?;
        let names: Vec<String> =
            report_list(&bytes).map(|list| list.reports.into_keys().collect()).unwrap_or_default();
        for name in names.into_iter().filter(|name| is_plain(name) && beside.join(name).is_file()) {
            self.reports.insert(name.clone(), read(&beside, &name)?);
        }
        self.unlisted.retain(|name| !self.reports.contains_key(name));
        self.list = Some(bytes);
        Ok(())
    }

    /// SHA-256 of the manifest: the root of the evidence.
    pub fn root(&self) -> String {
        sha256_digits(self.files.get(MANIFEST).map(Vec::as_slice).unwrap_or_default())
    }

    /// Whether `reports.json` is there and no list of reports.
    pub fn has_unreadable_list(&self) -> bool {
        self.list.as_deref().is_some_and(|bytes| report_list(bytes).is_none())
    }

    /// SHA-256 of `reports.json`.
    pub fn list_hash(&self) -> Option<String> {
        self.list.as_deref().map(sha256_digits)
    }
}

/// The folder that holds the evidence folder.
fn beside(folder: &Path) -> Option<PathBuf> {
    let whole = folder.canonicalize().ok()?;
    whole.parent().map(Path::to_owned)
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
pub struct Stored {
    /// What is wrong with its files, whatever they say.
    pub problems: Vec<String>,
    /// None where files are gone or unreadable, so that there is nothing to derive from.
    pub evidence: Option<Box<Evidence>>,
}

/// Reads a folder for listings: everything must be there, whatever its hashes.
pub fn load(path: &Path) -> Result<(Evidence, Vec<String>), VerifyError> {
    let folder = Folder::read(path)?;
    let manifest = manifest(&folder)?;
    let problems = tampering(&folder, &manifest);
    Ok((evidence(&folder, manifest)?, problems))
}

/// Looks at the files of a folder: hashes, missing and unlisted files, the form of each. Only a
/// manifest that cannot be read is an error.
pub fn examine(folder: &Folder) -> Result<Stored, VerifyError> {
    let manifest = manifest(folder)?;
    let mut problems = tampering(folder, &manifest);
    match evidence(folder, manifest) {
        Ok(evidence) => {
            problems.extend(form(folder, &evidence)?);
            Ok(Stored { problems, evidence: Some(Box::new(evidence)) })
        }
        Err(VerifyError::Input(found)) => {
            problems.extend(found.iter().map(|diagnostic| diagnostic.to_string()));
            Ok(Stored { problems, evidence: None })
        }
        Err(failure) => Err(failure),
    }
}

fn manifest(folder: &Folder) -> Result<Manifest, VerifyError> {
    let bytes = folder.files.get(MANIFEST).map(Vec::as_slice).unwrap_or_default();
    parse(&folder.shown, MANIFEST, bytes)
}

/// Files whose hashes are not those of the manifest or of the list of reports, missing files, and
/// files that nothing lists.
pub fn tampering(folder: &Folder, manifest: &Manifest) -> Vec<String> {
    let stray = |name: &String| format!("{name} is in the folder but not in the manifest");
    let mut problems: Vec<String> = folder.strange.iter().map(stray).collect();
    let unlisted = folder
        .files
        .keys()
        .filter(|name| *name != MANIFEST && !manifest.outputs.contains_key(*name));
    problems.extend(unlisted.map(stray));
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
    problems.extend(folder.list.as_deref().map(|list| reports(folder, list)).unwrap_or_default());
    problems
}

/// What is wrong with the list of reports.
fn reports(folder: &Folder, bytes: &[u8]) -> Vec<String> {
    let Some(list) = report_list(bytes) else {
        return vec![format!("{REPORTS} is not a list of reports")];
    };
    let mut problems = Vec::new();
    if canonical(&list).ok().as_deref() != Some(bytes) || list.schema != 1 {
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
            Some(bytes) if sha256_digits(bytes) != *hash => {
                problems.push(format!("{name} has another SHA-256 than {REPORTS}"));
            }
            Some(_) => {}
        }
    }
    problems
}

/// Files that hold something else than what was read from them, or that have another name than they
/// should. Older evidence lacks fields that would be written now.
fn form(folder: &Folder, evidence: &Evidence) -> Result<Vec<String>, VerifyError> {
    let schemas =
        evidence.kernels.iter().map(|kernel| kernel.schema).chain([evidence.campaign.schema]);
    let schemas = schemas.chain(evidence.inputs.iter().map(|inputs| inputs.schema));
    let schema = evidence.manifest.schema;
    if !READABLE_SCHEMAS.contains(&schema) || schemas.into_iter().any(|other| other != schema) {
        return Ok(vec!["version of the evidence format".to_owned()]);
    }
    let mut problems = inputs(evidence);
    let mut written = files(evidence)?;
    written.insert(MANIFEST.to_owned(), canonical(&evidence.manifest)?);
    for name in folder.files.keys().filter(|name| !written.contains_key(*name)) {
        problems.push(format!("{name} is none of the files of this evidence"));
    }
    for (name, bytes) in &written {
        match folder.files.get(name) {
            None => {
                problems.push(format!("{name} is missing: the evidence has it under another name"))
            }
            Some(found) if found != bytes && schema == EVIDENCE_SCHEMA => {
                problems.push(format!("{name} is not in the form that this program writes"));
            }
            Some(_) => {}
        }
    }
    Ok(problems)
}

/// Stored inputs that are not those of the manifest.
fn inputs(evidence: &Evidence) -> Vec<String> {
    let Some(stored) = &evidence.inputs else { return Vec::new() };
    let mut problems = Vec::new();
    for (path, hash) in &evidence.manifest.inputs {
        match stored.files.get(path) {
            None => problems.push(format!("the input {path} of the manifest is not stored")),
            Some(StoredFile::Omitted { bytes }) if may_be_omitted(evidence, path, *bytes) => {}
            Some(StoredFile::Omitted { .. }) => {
                problems.push(format!("the input {path} is always stored, and is not"))
            }
            Some(file) if bytes_of(file).is_some_and(|bytes| sha256_digits(&bytes) == *hash) => {}
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
    let mut sources = settings
        .into_iter()
        .flat_map(|settings| &settings.kernels)
        .map(|kernel| kernel.source.as_str());
    let mut texts = evidence.kernels.iter().flat_map(|kernel| &kernel.structure.files);
    let is_kept = path == PROJECT_FILE
        || is_requirement_file(path)
        || sources.any(|source| source == path)
        || texts.any(|file| file.path == path);
    !is_kept && settings.is_some_and(|settings| bytes > settings.limits.output_bytes)
}

fn evidence(folder: &Folder, manifest: Manifest) -> Result<Evidence, VerifyError> {
    let listed =
        |name: &str| folder.files.get(name).filter(|_| manifest.outputs.contains_key(name));
    let bytes =
        listed(CAMPAIGN).ok_or_else(|| unreadable(&folder.shown, "it holds no campaign.json"))?;
    let campaign: Campaign = parse(&folder.shown, CAMPAIGN, bytes)?;
    let mut kernels = Vec::new();
    for name in folder.files.keys().filter(|name| name.starts_with("kernel-")) {
        let Some(bytes) = listed(name) else { continue };
        kernels.push(parse::<KernelEvidence>(&folder.shown, name, bytes)?);
    }
    let inputs = listed(INPUTS).map(|bytes| parse(&folder.shown, INPUTS, bytes)).transpose()?;
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
    Ok(Evidence { campaign, kernels, inputs, manifest })
}

fn read(folder: &Path, name: &str) -> Result<Vec<u8>, VerifyError> {
    let path = folder.join(name);
    fs::read(&path).map_err(|error| unreadable(&shown(&path), &error.to_string()))
}

fn unreadable(file: &str, reason: &str) -> VerifyError {
    Diagnostic::new("missing-file", format!("the evidence cannot be read: {reason}"))
        .hint("run `vkcert certify` first, or name the `evidence` folder that it has written")
        .in_file(file)
        .into()
}

fn parse<T: serde::de::DeserializeOwned>(
    folder: &str,
    name: &str,
    bytes: &[u8],
) -> Result<T, VerifyError> {
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
            .at_position(Path::new(folder).join(name).display().to_string(), position)
            .into()
    })
}

/// Brackets that evidence may nest: far more than any kernel that the front end reads, and far less
/// than the stack holds.
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
