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
    Bytes(&'a [u8]),
}

/// What is stored whatever its size, and must be there.
const STORED: (Keeping, Presence) = (Keeping::Always, Presence::Required);

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

    /// Reads them on all cores, but those alone that are too large to be stored.
    fn read_into(self, inputs: &mut ProjectInputs, project: &Project) -> Result<(), CampaignError> {
        let small: Vec<_> = self
            .inputs
            .par_iter()
            .map(|input| (!input.is_large(project)).then(|| input.read(project)))
            .collect();
        for (input, file) in self.inputs.iter().zip(small) {
            if let Some(file) = file.unwrap_or_else(|| input.read(project))? {
                inputs.add_file(&input.path, file);
            }
        }
        Ok(())
    }
}

impl WantedInput<'_> {
    /// None where there is none and there need not be one.
    fn read(&self, project: &Project) -> Result<Option<InputFile>, CampaignError> {
        if self.presence == Presence::Optional && !project.root.join(&*self.path).is_file() {
            return Ok(None);
        }
        let bytes = read_bytes(&project.root.join(&*self.path), &self.path)?;
        let is_unchanged = self.known.iter().all(|known| match known {
            KnownContent::Hash(hash) => content_hash(&bytes) == *hash,
            KnownContent::Bytes(known) => *known == bytes,
        });
        if !is_unchanged {
            return Err(changed_file(&self.path));
        }
        let limit = project.settings.value.limits.output_bytes;
        Ok(Some(InputFile::of_bytes(bytes, self.keeping, limit)))
    }

    /// Whether it is too large to be stored: several of these at once could be more than memory holds.
    fn is_large(&self, project: &Project) -> bool {
        let limit = project.settings.value.limits.output_bytes;
        let metadata = std::fs::metadata(project.root.join(&*self.path));
        metadata.is_ok_and(|metadata| metadata.len() > limit)
    }
}

/// Reads every input of a project again.
pub fn gather_inputs(
    project: &Project,
    kernels: &[impl AsRef<CompiledKernel>],
) -> Result<ProjectInputs, CampaignError> {
    let mut wanted = WantedInputs::default();
    for (path, hash) in &project.inputs {
        wanted.add(path, STORED, Some(KnownContent::Hash(hash)));
    }
    let kernels = kernels.iter().map(AsRef::as_ref);
    for (kernel, settings) in kernels.clone().zip(&project.settings.value.kernels) {
        let known = source_text(kernel).map(|text| KnownContent::Bytes(text.as_bytes()));
        wanted.add(&settings.source, STORED, known);
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
    wanted.read_into(&mut inputs, project)?;
    Ok(inputs)
}

/// Adds the files of kernels that do not compile, so that they can be compiled again.
pub fn add_set_aside(
    inputs: &mut ProjectInputs,
    project: &Project,
    broken_kernels: &[BrokenKernel],
) -> Result<(), CampaignError> {
    let mut wanted = WantedInputs::default();
    for kernel in broken_kernels {
        wanted.add(&kernel.source, STORED, Some(KnownContent::Bytes(&kernel.source_bytes)));
        for (path, file) in &kernel.included {
            let (bytes, keeping) = match file {
                IncludedInput::Text(text) => (text.as_bytes(), Keeping::Always),
                IncludedInput::Unreadable(bytes) => (bytes.as_slice(), Keeping::UpToLimit),
            };
            let limit = project.settings.value.limits.output_bytes;
            inputs.add_input(path, bytes.to_vec(), keeping, limit);
        }
    }
    wanted.read_into(inputs, project)
}

/// Adds the files that were read of headers, and captures.
pub fn add_host_files(
    inputs: &mut ProjectInputs,
    project: &Project,
    host_readings: &HostReadings,
) -> Result<(), CampaignError> {
    let HostReadings { headers, captures } = host_readings;
    let mut wanted = WantedInputs::default();
    for (path, hash) in headers.values().flatten().flat_map(|reading| &reading.files) {
        wanted.add(path, STORED, Some(KnownContent::Hash(hash)));
    }
    for (path, hash) in &captures.files {
        let kept = (Keeping::UpToLimit, Presence::Required);
        wanted.add(path, kept, Some(KnownContent::Hash(hash)));
    }
    wanted.read_into(inputs, project)
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
