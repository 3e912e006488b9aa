//! `vkcert verify --project DIR`: the inputs of evidence against the files of a project, and its
//! kernels, compiled there.
//!
//! Promises: each input is compared; where all are the same, the toolchain compiles every kernel in
//! the project.
//! Does not cover: production modules on disk that already differed from their sources during the
//! run, because the evidence has a finding for them.

use super::{ComparedFiles, KernelCheck, Toolchain, Verification, VerifyError};
use std::path::Path;
use vkcert_model::canonical::sha256_digits;
use vkcert_model::evidence::Evidence;
use vkcert_requirement::requirement_files;

/// Notes as problems: inputs that are missing in `project` or have other contents there, files that
/// a run there would read and this one did not, and kernels that differ. Returns how many were
/// compared.
pub fn compare_sources(
    stored: &Evidence,
    project: &Path,
    toolchain: &impl Toolchain,
    verification: &mut Verification,
) -> Result<ComparedFiles, VerifyError> {
    let inputs = &stored.manifest.inputs;
    let mut compared_files = ComparedFiles {
        input_count: inputs.len(),
        folder_name: project.display().to_string(),
        ..ComparedFiles::default()
    };
    let folder_name = &compared_files.folder_name;
    for (path, hash) in inputs {
        verification.checked += 1;
        match std::fs::read(project.join(path)) {
            Ok(bytes) if sha256_digits(&bytes) == *hash => compared_files.same_files += 1,
            Ok(_) => verification
                .problems
                .push(format!("{path} in {folder_name} is not the input: it has another SHA-256")),
            Err(error) => verification
                .problems
                .push(format!("{path} is an input, and in {folder_name}: {error}")),
        }
    }
    for path in requirement_files(project)? {
        let was_read = inputs.contains_key(&path);
        compared_files.unread_files += usize::from(!was_read);
        verification
            .check(was_read, || format!("{path} is in {folder_name}, and the run did not read it"));
    }
    compared_files.kernels = if compared_files.same_files < compared_files.input_count
        || compared_files.unread_files > 0
    {
        KernelCheck::NotCompared { reason: "its files are not those of the evidence".to_owned() }
    } else {
        toolchain.compare_kernels(stored, project, verification)
    };
    Ok(compared_files)
}
