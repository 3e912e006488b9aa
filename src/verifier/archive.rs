//! Evidence as a command is given it: a folder, or an archive that is unpacked for as long as the
//! command runs.
//!
//! Promises: an archive is held to the list of its hashes, and its project files to the hashes that
//! the manifest of the evidence has of them.
//! Does not cover: modules, schemas and documents of an archive beyond the list: nothing that is
//! verified rests on them.

use std::path::{Path, PathBuf};
use tempfile::TempDir;
use vkcert_archive::{ArchiveError, Limits, UnpackedArchive, is_archive, layout, unpack};
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::evidence::Evidence;
use vkcert_model::path::display_path;
use vkcert_verification::{EvidenceFolder, Verification, VerifyError};

/// Where the evidence of a command is.
pub enum EvidenceSource {
    /// The folder that was named.
    Folder(PathBuf),
    /// The archive that was named.
    Archive(OpenedArchive),
}

/// An archive in a temporary folder.
pub struct OpenedArchive {
    /// As the user names it.
    name: String,
    unpacked: UnpackedArchive,
    _folder: TempDir,
}

impl EvidenceSource {
    /// Unpacks what is an archive.
    ///
    /// # Errors
    /// It is a file, and no archive that can be unpacked.
    pub fn open(path: &Path) -> Result<Self, VerifyError> {
        if !path.is_file() {
            return Ok(EvidenceSource::Folder(path.to_owned()));
        }
        let name = display_path(path);
        let refused = |error: ArchiveError| {
            let diagnostic = Diagnostic::new("bad-archive", error.to_string()).in_file(&name);
            let hint = "evidence is a folder, or an archive as `vkcert archive` writes it";
            VerifyError::from(if is_archive(path) { diagnostic } else { diagnostic.hint(hint) })
        };
        let folder = tempfile::tempdir().map_err(|error| {
            VerifyError::tool(format!("cannot make a folder to unpack {name} in: {error}"))
        })?;
        let unpacked = unpack(path, folder.path(), &Limits::default()).map_err(refused)?;
        Ok(EvidenceSource::Archive(OpenedArchive { name, unpacked, _folder: folder }))
    }

    /// Reads the evidence and the reports beside it.
    ///
    /// # Errors
    /// There is no evidence.
    pub fn read(&self) -> Result<EvidenceFolder, VerifyError> {
        match self {
            EvidenceSource::Folder(path) => EvidenceFolder::read(path),
            EvidenceSource::Archive(archive) => {
                let mut folder = EvidenceFolder::read(&archive.unpacked.top.join(layout::EVIDENCE))
                    .map_err(|_| archive.without_evidence())?;
                folder.folder_name = format!("{}/{}", archive.name, layout::EVIDENCE);
                Ok(folder)
            }
        }
    }

    /// Where inputs lie that evidence does not store.
    pub fn input_folder(&self) -> Option<PathBuf> {
        match self {
            EvidenceSource::Folder(_) => None,
            EvidenceSource::Archive(archive) => Some(archive.unpacked.top.join(layout::PROJECT)),
        }
    }

    /// Notes as problems what in an archive is not as its list or the manifest says.
    pub fn compare_files(&self, stored: Option<&Evidence>, verification: &mut Verification) {
        let EvidenceSource::Archive(archive) = self else { return };
        verification.checked += archive.unpacked.sums.len() as u64;
        let differences = archive.unpacked.differences.iter();
        verification.problems.extend(differences.map(|sentence| archive.problem(sentence)));
        if let Some(stored) = stored {
            archive.compare_inputs(stored, verification);
        }
    }
}

impl OpenedArchive {
    fn problem(&self, sentence: &str) -> String {
        format!("{}: {sentence}", self.name)
    }

    fn without_evidence(&self) -> VerifyError {
        let message = format!("it has no evidence, {}", layout::EVIDENCE);
        Diagnostic::new("bad-archive", message).in_file(&self.name).into()
    }

    fn compare_inputs(&self, stored: &Evidence, verification: &mut Verification) {
        let listed = &self.unpacked.sums;
        let inputs = &stored.manifest.inputs;
        for (path, digits) in inputs {
            let entry = format!("{}/{path}", layout::PROJECT);
            let found = listed.get(&entry);
            verification.check(found == Some(digits), || {
                self.problem(&match found {
                    None => format!("the input {path} is not in it"),
                    Some(_) => format!("{entry} is not the input: it has another SHA-256"),
                })
            });
        }
        let prefix = format!("{}/", layout::PROJECT);
        let paths = listed.keys().filter_map(|entry| entry.strip_prefix(&prefix));
        for path in paths.filter(|path| !inputs.contains_key(*path)) {
            let sentence = format!("{prefix}{path} is no input of the run");
            verification.problems.push(self.problem(&sentence));
        }
    }
}
