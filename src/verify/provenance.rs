//! `provenance.json` beside the evidence: its form, and of which evidence it says it is.
//!
//! Promises: a file that is there is either in the form that this program writes and names the root
//! of the evidence, or a problem; one that is not there is none.
//! Does not cover: whether what it says is true. Nothing derives it and nothing signs it.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use vkcert_derivation::files::{PROVENANCE, canonical_bytes};
use vkcert_model::canonical::sha256_digits;
use vkcert_model::provenance::{PROVENANCE_SCHEMA, Provenance};

/// What is read of the file at most; command lines are shorter on every system.
const MOST_BYTES: u64 = 16 << 20;

/// The file, or why there is none where its name stands.
pub type ProvenanceFile = Result<Vec<u8>, String>;

/// What the file beside the evidence is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ProvenanceCheck {
    /// There is none.
    #[default]
    Absent,
    /// It has its form and names the root of the evidence.
    Fitting {
        /// SHA-256 of the file.
        sha256: String,
    },
    /// Something is wrong with it, which is among the problems.
    Faulty,
}

impl ProvenanceCheck {
    /// Compares form and root.
    pub fn of(file: Option<&ProvenanceFile>, root: &str) -> Self {
        match file {
            None => ProvenanceCheck::Absent,
            Some(Ok(bytes)) if problem(bytes, root).is_none() => {
                ProvenanceCheck::Fitting { sha256: sha256_digits(bytes) }
            }
            Some(Ok(_) | Err(_)) => ProvenanceCheck::Faulty,
        }
    }
}

/// Reads the file in the folder that holds the evidence; none where nothing has its name. A link to
/// a file is read as the file.
pub(crate) fn read(report_folder: &Path) -> Option<ProvenanceFile> {
    let path = report_folder.join(PROVENANCE);
    path.symlink_metadata().ok()?;
    // Opening a pipe would wait for a writer.
    if !path.is_file() {
        return Some(Err(format!("{PROVENANCE} is no file")));
    }
    Some(read_bounded(&path).map_err(|error| format!("{PROVENANCE} cannot be read: {error}")))
}

fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(io::Error::other(format!("it has more than {MOST_BYTES} bytes")));
    }
    Ok(bytes)
}

/// What is wrong with the file.
pub(crate) fn problem_of(file: &ProvenanceFile, root: &str) -> Option<String> {
    file.as_ref().map_or_else(|reason| Some(reason.clone()), |bytes| problem(bytes, root))
}

fn problem(bytes: &[u8], root: &str) -> Option<String> {
    let provenance: Provenance = match serde_json::from_slice(bytes) {
        Ok(provenance) => provenance,
        Err(error) => return Some(format!("{PROVENANCE} does not follow its schema: {error}")),
    };
    if provenance.schema != PROVENANCE_SCHEMA {
        return Some(format!("{PROVENANCE} is of version {} of its format", provenance.schema));
    }
    if let Some(fault) = provenance.fault() {
        return Some(format!("{PROVENANCE} does not follow its schema: {fault}"));
    }
    if canonical_bytes(&provenance).ok().as_deref() != Some(bytes) {
        return Some(format!("{PROVENANCE} is not in the form that this program writes"));
    }
    (provenance.evidence_root != root).then(|| {
        format!("{PROVENANCE} is of other evidence: its root is not the SHA-256 of the manifest")
    })
}

#[cfg(test)]
mod tests;
