//! The captures that interfaces name, read and held against their kernels.
//!
//! Knows: a project's interfaces and its compiled kernels.
//! Promises: each file is read once, whatever interfaces name it; what is wrong with one ends in a
//! diagnostic. What was read follows from the file and the module alone, so that verification makes
//! it again from the stored inputs.
//! Does not cover: what the readings mean (`coupling`); how captures are recorded (`cli`).

use super::kernel::CompiledKernel;
use crate::CampaignError;
use std::collections::BTreeMap;
use vkcert_capture::program::Program;
use vkcert_capture_check::{CaptureSource, SoughtKernel, captured_kernel};
use vkcert_model::canonical::content_hash;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::id::KernelName;
use vkcert_model::requirement::{CapturedKernel, Interface};
use vkcert_requirement::document::read_bytes;
use vkcert_requirement::{Located, Project};

/// What was read of captures.
#[derive(Debug, Clone, Default)]
pub struct HostCaptures {
    /// In the order of each kernel's interface.
    pub by_kernel: BTreeMap<KernelName, Vec<CapturedKernel>>,
    /// `sha256:...` of each file, by path relative to the project.
    pub files: BTreeMap<String, String>,
}

/// Reads every capture of the project.
pub fn read_captures(
    project: &Project,
    kernels: &[impl AsRef<CompiledKernel>],
) -> Result<HostCaptures, CampaignError> {
    let mut captures = HostCaptures::default();
    let mut programs = BTreeMap::new();
    let mut diagnostics = Vec::new();
    let stated = project.interfaces.iter().flat_map(|interface| &interface.capture);
    for capture in stated {
        if captures.files.contains_key(&capture.file) {
            continue;
        }
        match read_program(project, &capture.file) {
            Ok((program, hash)) => {
                programs.insert(capture.file.as_str(), program);
                captures.files.insert(capture.file.clone(), hash);
            }
            Err(diagnostic) => diagnostics.push(diagnostic),
        }
    }
    if !diagnostics.is_empty() {
        return Err(CampaignError::Input(diagnostics));
    }
    for interface in project.interfaces.iter().filter(|interface| !interface.capture.is_empty()) {
        let kernel = kernels.iter().map(AsRef::as_ref);
        let mut kernel = kernel.filter(|kernel| kernel.name == interface.kernel.as_str());
        let Some(kernel) = kernel.next() else { continue };
        match read_of_kernel(interface, kernel, &programs, &captures.files) {
            Ok(read) => {
                captures.by_kernel.insert(interface.kernel, read);
            }
            Err(diagnostic) => diagnostics.push(diagnostic),
        }
    }
    if diagnostics.is_empty() { Ok(captures) } else { Err(CampaignError::Input(diagnostics)) }
}

fn read_program(project: &Project, file: &str) -> Result<(Program, String), Diagnostic> {
    let path = project.root.join(file);
    let hash = content_hash(&read_bytes(&path, file)?);
    let program = Program::read(&path).map_err(|diagnostic| diagnostic.in_file(file))?;
    Ok((program, hash))
}

fn read_of_kernel(
    interface: &Located<Interface>,
    kernel: &CompiledKernel,
    programs: &BTreeMap<&str, Program>,
    hashes: &BTreeMap<String, String>,
) -> Result<Vec<CapturedKernel>, Diagnostic> {
    let module: Vec<u8> = kernel.production.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut read = Vec::new();
    for (index, capture) in interface.capture.iter().enumerate() {
        let file = capture.file.as_str();
        let (Some(program), Some(sha256)) = (programs.get(file), hashes.get(file)) else {
            continue;
        };
        let source = CaptureSource { file, sha256 };
        let sought =
            SoughtKernel { module: &module, entry: &kernel.entry, stated_module: capture.module };
        read.push(captured_kernel(program, source, &sought).map_err(|message| {
            let place = interface.origin.at("capture").at(index).at("module");
            place.error("unknown-module", format!("`{file}`: {message}"))
        })?);
    }
    Ok(read)
}
