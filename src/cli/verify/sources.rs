//! `vkcert verify --project DIR`: the inputs of evidence against the files of a project.

use super::Verification;
use crate::cli::failure::Failure;
use crate::model::canonical::sha256_digits;
use crate::model::evidence::Evidence;
use crate::requirement::requirement_files;
use std::path::Path;

/// Every input that is missing in `project` or has other contents there, and requirement files that the run did not read.
pub fn compare(stored: &Evidence, project: &Path, found: &mut Verification) -> Result<(), Failure> {
    let shown = project.display();
    for (path, hash) in &stored.manifest.inputs {
        found.checked += 1;
        match std::fs::read(project.join(path)) {
            Ok(bytes) if sha256_digits(&bytes) == *hash => {}
            Ok(_) => found.problems.push(format!("{path} in {shown} is not the input: it has another SHA-256")),
            Err(error) => found.problems.push(format!("{path} is an input, and in {shown}: {error}")),
        }
    }
    for path in requirement_files(project)? {
        found.check(stored.manifest.inputs.contains_key(&path), || {
            format!("{path} is in {shown}, and the run did not read it")
        });
    }
    Ok(())
}
