//! The files that a run reads: their hashes for the manifest, their contents for `inputs.json`.
//!
//! Promises: every file that decides anything in the evidence is there: project file, requirements,
//! sources and what they include, headers and captures that interfaces name, production modules on disk, data of tests, files that
//! requirements name. A file that changes while the run reads is an error.
//! Does not cover: the device and its driver, which are no files of the project.

use super::coupling::HostReadings;
use super::kernel::CompiledKernel;
use super::project::module_file;
use super::set_aside::{BrokenKernel, IncludedInput};
use crate::CampaignError;
use base64::Engine as _;
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeMap;
use vkcert_model::canonical::{content_hash, sha256_digits};
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::evidence::{EVIDENCE_SCHEMA, StoredFile, StoredInputs};
use vkcert_requirement::Project;
use vkcert_requirement::document::read_bytes;
use vkcert_requirement::hash::data_files;

/// What the run read, by path relative to the project.
#[derive(Debug, Clone, Default)]
pub struct ProjectInputs {
    files: BTreeMap<String, InputFile>,
}

#[derive(Debug, Clone)]
struct InputFile {
    /// 64 hexadecimal digits.
    sha256: String,
    contents: StoredFile,
}

/// Whether contents are stored whatever their size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keeping {
    Always,
    /// Up to `limits.output_bytes`.
    UpToLimit,
}

/// A file that a run has read, to be read again.
struct WantedInput<'a> {
    path: Cow<'a, str>,
    keeping: Keeping,
    presence: Presence,
    /// What it held when it was read first, as far as that is known.
    known: Vec<KnownContent<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    Required,
    Optional,
}

#[derive(Debug, Clone, Copy)]
enum KnownContent<'a> {
    Hash(&'a str),
    Text(&'a str),
}

/// Files that are read again, each once, in the order in which they are asked for first.
#[derive(Default)]
struct WantedInputs<'a> {
    inputs: Vec<WantedInput<'a>>,
    places: BTreeMap<Cow<'a, str>, usize>,
}

impl<'a> WantedInputs<'a> {
    fn add(
        &mut self,
        path: impl Into<Cow<'a, str>>,
        (keeping, presence): (Keeping, Presence),
        known: Option<KnownContent<'a>>,
    ) {
        let path = path.into();
        let place = *self.places.entry(path.clone()).or_insert(self.inputs.len());
        if place == self.inputs.len() {
            self.inputs.push(WantedInput { path, keeping, presence, known: Vec::new() });
        }
        let input = &mut self.inputs[place];
        input.known.extend(known);
        if keeping == Keeping::Always {
            input.keeping = keeping;
        }
        if presence == Presence::Required {
            input.presence = presence;
        }
    }
}

impl WantedInput<'_> {
    /// None where there is none and there need not be one.
    fn read(&self, project: &Project) -> Result<Option<InputFile>, CampaignError> {
        if self.presence == Presence::Optional && !project.root.join(&*self.path).is_file() {
            return Ok(None);
        }
        let is_unchanged = |bytes: &[u8]| {
            self.known.iter().all(|known| match known {
                KnownContent::Hash(hash) => content_hash(bytes) == *hash,
                KnownContent::Text(text) => text.as_bytes() == bytes,
            })
        };
        InputFile::read(project, &self.path, self.keeping, is_unchanged).map(Some)
    }

    /// Whether it is too large to be stored: several of these at once could be more than memory holds.
    fn is_large(&self, project: &Project) -> bool {
        let limit = project.settings.value.limits.output_bytes;
        let metadata = std::fs::metadata(project.root.join(&*self.path));
        metadata.is_ok_and(|metadata| metadata.len() > limit)
    }
}

/// Reads every input of a project again, on all cores.
pub fn gather_inputs(
    project: &Project,
    kernels: &[impl AsRef<CompiledKernel>],
) -> Result<ProjectInputs, CampaignError> {
    const UNCHANGED: (Keeping, Presence) = (Keeping::Always, Presence::Required);
    let mut wanted = WantedInputs::default();
    for (path, hash) in &project.inputs {
        wanted.add(path, UNCHANGED, Some(KnownContent::Hash(hash)));
    }
    let kernels = kernels.iter().map(AsRef::as_ref);
    for (kernel, settings) in kernels.clone().zip(&project.settings.value.kernels) {
        wanted.add(&settings.source, UNCHANGED, source_text(kernel).map(KnownContent::Text));
        let module = module_file(&kernel.name);
        wanted.add(module, (Keeping::UpToLimit, Presence::Optional), None);
    }
    for path in project.tests.iter().flat_map(|test| data_files(test)) {
        wanted.add(path, (Keeping::UpToLimit, Presence::Required), None);
    }
    for link in project.requirements.iter().flat_map(|requirement| &requirement.implements) {
        wanted.add(&link.file, (Keeping::UpToLimit, Presence::Optional), None);
    }
    let mut inputs = ProjectInputs::default();
    // What was compiled counts, whatever stands in the file by now.
    for (path, text) in kernels.flat_map(|kernel| &kernel.included) {
        inputs.add_input(path, text.as_bytes().to_vec(), Keeping::Always, 0);
    }
    let wanted = wanted.inputs;
    let small: Vec<_> = wanted
        .par_iter()
        .map(|input| (!input.is_large(project)).then(|| input.read(project)))
        .collect();
    for (input, file) in wanted.iter().zip(small) {
        if let Some(file) = file.unwrap_or_else(|| input.read(project))? {
            inputs.add_file(&input.path, file);
        }
    }
    Ok(inputs)
}

/// Adds the files of kernels that do not compile, so that they can be compiled again.
pub fn add_set_aside(
    inputs: &mut ProjectInputs,
    project: &Project,
    broken_kernels: &[BrokenKernel],
) -> Result<(), CampaignError> {
    for kernel in broken_kernels {
        inputs.read_unchanged(project, &kernel.source, |bytes| bytes == kernel.source_bytes)?;
        for (path, file) in &kernel.included {
            let (bytes, keeping) = match file {
                IncludedInput::Text(text) => (text.as_bytes(), Keeping::Always),
                IncludedInput::Unreadable(bytes) => (bytes.as_slice(), Keeping::UpToLimit),
            };
            let limit = project.settings.value.limits.output_bytes;
            inputs.add_input(path, bytes.to_vec(), keeping, limit);
        }
    }
    Ok(())
}

/// Adds the files that were read of headers, and captures.
pub fn add_host_files(
    inputs: &mut ProjectInputs,
    project: &Project,
    host_readings: &HostReadings,
) -> Result<(), CampaignError> {
    let HostReadings { headers, captures } = host_readings;
    for (path, hash) in headers.values().flatten().flat_map(|reading| &reading.files) {
        inputs.read_unchanged(project, path, |bytes| content_hash(bytes) == *hash)?;
    }
    for (path, hash) in &captures.files {
        let is_unchanged = |bytes: &[u8]| content_hash(bytes) == *hash;
        inputs.read_checked(project, path, Keeping::UpToLimit, is_unchanged)?;
    }
    Ok(())
}

fn changed_file(path: &str) -> CampaignError {
    Diagnostic::new("changed-file", format!("`{path}` has changed while it was read"))
        .hint("run again when nothing writes into the project")
        .in_file(path)
        .into()
}

/// The text that a kernel was compiled from; none for a binary module.
fn source_text(kernel: &CompiledKernel) -> Option<&str> {
    kernel.structure()?.files.first().map(|file| file.text.as_str())
}

impl ProjectInputs {
    /// Reads what is stored whatever its size, if it is still what the run read.
    fn read_unchanged(
        &mut self,
        project: &Project,
        path: &str,
        is_unchanged: impl Fn(&[u8]) -> bool,
    ) -> Result<(), CampaignError> {
        self.read_checked(project, path, Keeping::Always, is_unchanged)
    }

    fn read_checked(
        &mut self,
        project: &Project,
        path: &str,
        keeping: Keeping,
        is_unchanged: impl Fn(&[u8]) -> bool,
    ) -> Result<(), CampaignError> {
        self.add_file(path, InputFile::read(project, path, keeping, is_unchanged)?);
        Ok(())
    }

    fn add_input(&mut self, path: &str, bytes: Vec<u8>, keeping: Keeping, limit: u64) {
        self.add_file(path, InputFile::of_bytes(bytes, keeping, limit));
    }

    /// What is kept always stays kept where the same file is asked for otherwise.
    fn add_file(&mut self, path: &str, file: InputFile) {
        let is_stored = self
            .files
            .get(path)
            .is_some_and(|known_input| !matches!(known_input.contents, StoredFile::Omitted { .. }));
        if !is_stored {
            self.files.insert(path.to_owned(), file);
        }
    }

    /// SHA-256 by path, as the manifest has it.
    pub fn hashes(&self) -> BTreeMap<String, String> {
        self.files.iter().map(|(path, input)| (path.clone(), input.sha256.clone())).collect()
    }

    /// The contents as evidence stores them, by path.
    pub fn stored_inputs(self) -> StoredInputs {
        let files = self.files.into_iter().map(|(path, input)| (path, input.contents));
        StoredInputs { schema: EVIDENCE_SCHEMA, files: files.collect() }
    }
}

impl InputFile {
    fn read(
        project: &Project,
        path: &str,
        keeping: Keeping,
        is_unchanged: impl Fn(&[u8]) -> bool,
    ) -> Result<Self, CampaignError> {
        let bytes = read_bytes(&project.root.join(path), path)?;
        if !is_unchanged(&bytes) {
            return Err(changed_file(path));
        }
        Ok(Self::of_bytes(bytes, keeping, project.settings.value.limits.output_bytes))
    }

    fn of_bytes(bytes: Vec<u8>, keeping: Keeping, limit: u64) -> Self {
        let sha256 = sha256_digits(&bytes);
        let size = bytes.len() as u64;
        let contents = match keeping {
            Keeping::UpToLimit if size > limit => StoredFile::Omitted { bytes: size },
            Keeping::Always | Keeping::UpToLimit => stored_file(bytes),
        };
        Self { sha256, contents }
    }
}

fn stored_file(bytes: Vec<u8>) -> StoredFile {
    match String::from_utf8(bytes) {
        Ok(text) => StoredFile::Text(text),
        Err(binary) => {
            StoredFile::Bytes(base64::engine::general_purpose::STANDARD.encode(binary.as_bytes()))
        }
    }
}
