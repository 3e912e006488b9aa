//! `vkcert verify --project DIR`: the inputs of evidence against the files of a project.

use super::{ComparedFiles, Verification};
use crate::cli::failure::Failure;
use crate::model::canonical::sha256_digits;
use crate::model::evidence::Evidence;
use crate::requirement::requirement_files;
use std::path::Path;

/// Every input that is missing in `project` or has other contents there, and requirement files that the run did not read, as
/// problems; and how many were compared.
pub fn compare(stored: &Evidence, project: &Path, found: &mut Verification) -> Result<ComparedFiles, Failure> {
    let folder = project.display().to_string();
    let inputs = &stored.manifest.inputs;
    let mut compared = ComparedFiles { inputs: inputs.len(), folder: folder.clone(), ..ComparedFiles::default() };
    for (path, hash) in inputs {
        found.checked += 1;
        match std::fs::read(project.join(path)) {
            Ok(bytes) if sha256_digits(&bytes) == *hash => compared.same += 1,
            Ok(_) => found.problems.push(format!("{path} in {folder} is not the input: it has another SHA-256")),
            Err(error) => found.problems.push(format!("{path} is an input, and in {folder}: {error}")),
        }
    }
    for path in requirement_files(project)? {
        let was_read = inputs.contains_key(&path);
        compared.unread += usize::from(!was_read);
        found.check(was_read, || format!("{path} is in {folder}, and the run did not read it"));
    }
    Ok(compared)
}
