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

/// Reads every input of a project again.
pub fn gather_inputs(
    project: &Project,
    kernels: &[impl AsRef<CompiledKernel>],
) -> Result<ProjectInputs, CampaignError> {
    let mut inputs = ProjectInputs::default();
    for (path, hash) in &project.inputs {
        inputs.read_unchanged(project, path, |bytes| content_hash(bytes) == *hash)?;
    }
    for (kernel, settings) in kernels.iter().map(AsRef::as_ref).zip(&project.settings.value.kernels)
    {
        inputs.read_unchanged(project, &settings.source, |bytes| {
            source_text(kernel).is_none_or(|text| text.as_bytes() == bytes)
        })?;
        for (path, text) in &kernel.included {
            inputs.add_input(path, text.as_bytes().to_vec(), Keeping::Always, 0);
        }
        inputs.read_where_there(project, &module_file(&kernel.name))?;
    }
    for path in project.tests.iter().flat_map(|test| data_files(test)) {
        inputs.read_up_to_limit(project, path)?;
    }
    for link in project.requirements.iter().flat_map(|requirement| &requirement.implements) {
        inputs.read_where_there(project, &link.file)?;
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

    fn read_up_to_limit(&mut self, project: &Project, path: &str) -> Result<(), CampaignError> {
        self.read_checked(project, path, Keeping::UpToLimit, |_| true)
    }

    fn read_checked(
        &mut self,
        project: &Project,
        path: &str,
        keeping: Keeping,
        is_unchanged: impl Fn(&[u8]) -> bool,
    ) -> Result<(), CampaignError> {
        let bytes = read_bytes(&project.root.join(path), path)?;
        if !is_unchanged(&bytes) {
            return Err(changed_file(path));
        }
        self.add_input(path, bytes, keeping, project.settings.value.limits.output_bytes);
        Ok(())
    }

    fn read_where_there(&mut self, project: &Project, path: &str) -> Result<(), CampaignError> {
        if project.root.join(path).is_file() {
            self.read_up_to_limit(project, path)?;
        }
        Ok(())
    }

    /// What is kept always stays kept where the same file is asked for otherwise.
    fn add_input(&mut self, path: &str, bytes: Vec<u8>, keeping: Keeping, limit: u64) {
        let is_stored = self
            .files
            .get(path)
            .is_some_and(|known_input| !matches!(known_input.contents, StoredFile::Omitted { .. }));
        if is_stored {
            return;
        }
        let sha256 = sha256_digits(&bytes);
        let size = bytes.len() as u64;
        let contents = match keeping {
            Keeping::UpToLimit if size > limit => StoredFile::Omitted { bytes: size },
            Keeping::Always | Keeping::UpToLimit => stored_file(bytes),
        };
        self.files.insert(path.to_owned(), InputFile { sha256, contents });
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

fn stored_file(bytes: Vec<u8>) -> StoredFile {
    match String::from_utf8(bytes) {
        Ok(text) => StoredFile::Text(text),
        Err(binary) => {
            StoredFile::Bytes(base64::engine::general_purpose::STANDARD.encode(binary.as_bytes()))
        }
    }
}
