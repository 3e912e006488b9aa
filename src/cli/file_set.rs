//! Several files that change together: all of them, or none.
//!
//! Promises: every new text stands whole beside the place of its file before the first file is
//! replaced; where a replacement fails, the files before it get back what they held, and folders
//! that were made for new files are taken away; a signal waits for the end. A link in the file
//! system keeps pointing to its file, and a file keeps its permissions.
//! Does not cover: a program that is killed, or a loss of power, between two replacements: then each
//! file is whole, but some are new and some as they were.

use super::failure::Failure;
use super::output;
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Replaces or makes the files below `root` that `texts` names by their paths.
pub(super) fn write_all_or_none(
    root: &Path,
    texts: &BTreeMap<String, String>,
) -> Result<(), Failure> {
    let _no_end_by_signal = output::hold_signals();
    PreparedFiles::prepare(root, texts)?.put_in_place()
}

/// A new text beside the place that it goes to.
struct PreparedFile {
    path: PathBuf,
    new: NamedTempFile,
    /// What the file holds, with its permissions; none where it is not there yet.
    present: Option<(Vec<u8>, Permissions)>,
}

/// New texts of which none is in its place yet; without [`PreparedFiles::put_in_place`] nothing of
/// them stays.
struct PreparedFiles {
    files: Vec<PreparedFile>,
    created_folders: CreatedFolders,
}

/// Folders that were made, the outer ones first.
#[derive(Default)]
struct CreatedFolders(Vec<PathBuf>);

impl CreatedFolders {
    fn create(&mut self, folder: &Path) -> Result<(), Failure> {
        let absent: Vec<&Path> =
            folder.ancestors().take_while(|ancestor| !ancestor.exists()).collect();
        for absent_folder in absent.into_iter().rev() {
            fs::create_dir(absent_folder)
                .map_err(|error| Failure::unwritable(absent_folder, &error))?;
            self.0.push(absent_folder.to_owned());
        }
        Ok(())
    }
}

impl Drop for CreatedFolders {
    fn drop(&mut self) {
        // Succeeds only for an empty folder.
        self.0.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
    }
}

impl PreparedFile {
    fn prepare(path: PathBuf, text: &str) -> std::io::Result<Self> {
        let present = match fs::metadata(&path) {
            Ok(present_file) => Some((fs::read(&path)?, present_file.permissions())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let readable_by_all = Permissions::from_mode(0o666);
        let permissions =
            present.as_ref().map_or(readable_by_all, |(_, permissions)| permissions.clone());
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut new = tempfile::Builder::new().permissions(permissions).tempfile_in(folder)?;
        new.write_all(text.as_bytes())?;
        if let Some((_, permissions)) = &present {
            // The mask of the process took some from them when the file was made.
            new.as_file().set_permissions(permissions.clone())?;
        }
        Ok(Self { path, new, present })
    }
}

impl PreparedFiles {
    fn prepare(root: &Path, texts: &BTreeMap<String, String>) -> Result<Self, Failure> {
        let mut prepared = Self { files: Vec::new(), created_folders: CreatedFolders::default() };
        for (file, text) in texts {
            let path = root.join(file);
            let path = path.canonicalize().unwrap_or(path);
            if let Some(folder) = path.parent() {
                prepared.created_folders.create(folder)?;
            }
            let file = PreparedFile::prepare(path.clone(), text)
                .map_err(|error| Failure::unwritable(&path, &error))?;
            prepared.files.push(file);
        }
        Ok(prepared)
    }

    fn put_in_place(mut self) -> Result<(), Failure> {
        let mut replaced: Vec<ReplacedFile> = Vec::new();
        for PreparedFile { path, new, present } in self.files {
            match new.persist(&path) {
                Ok(_) => replaced.push(ReplacedFile { path, present }),
                Err(failed) => {
                    let failure = Failure::unwritable(&path, &failed.error);
                    // The new text goes before the folder that was made for it.
                    drop(failed);
                    return Err(restore(replaced, failure));
                }
            }
        }
        self.created_folders.0.clear();
        Ok(())
    }
}

/// A file that has its new text, with what stood there before; none where there was no file.
struct ReplacedFile {
    path: PathBuf,
    present: Option<(Vec<u8>, Permissions)>,
}

/// Puts back what files held. What cannot be put back is told with the failure.
fn restore(replaced: Vec<ReplacedFile>, failure: Failure) -> Failure {
    let mut not_restored = Vec::new();
    for ReplacedFile { path, present } in replaced {
        let restored = match present {
            Some((contents, _)) => output::write_file(&path, &contents).is_ok(),
            None => fs::remove_file(&path).is_ok(),
        };
        if !restored {
            not_restored.push(path.display().to_string());
        }
    }
    match failure {
        Failure::Tool { message, path } if !not_restored.is_empty() => {
            let full_message = format!(
                "{message}; already replaced, and not put back: {}",
                not_restored.join(", ")
            );
            Failure::Tool { message: full_message, path }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    }

    /// Every file below a folder with its text, and every folder.
    fn tree(folder: &Path) -> BTreeMap<String, Option<String>> {
        let mut entries = BTreeMap::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                let below = tree(&path).into_iter();
                entries.extend(below.map(|(inner, text)| (format!("{name}/{inner}"), text)));
                entries.insert(name, None);
            } else {
                entries.insert(name, Some(fs::read_to_string(path).unwrap()));
            }
        }
        entries
    }

    #[test]
    fn all_files_are_replaced_and_nothing_else_stays() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("target"), "old").unwrap();
        fs::set_permissions(folder.path().join("target"), Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::symlink("target", folder.path().join("link")).unwrap();
        write_all_or_none(folder.path(), &texts(&[("link", "new"), ("a/b/c", "made")])).unwrap();
        let mode = fs::metadata(folder.path().join("target")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(folder.path().join("link").is_symlink());
        let text = |text: &str| Some(text.to_owned());
        let left = [("a", None), ("a/b", None), ("a/b/c", text("made"))];
        let left = left.into_iter().chain([("link", text("new")), ("target", text("new"))]);
        assert_eq!(tree(folder.path()), left.map(|(name, text)| (name.to_owned(), text)).collect());
    }

    #[test]
    fn a_file_that_cannot_be_prepared_leaves_all_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), "old").unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let before = tree(folder.path());
        let new = texts(&[("a", "new"), ("b/c/d", "new"), ("file/e", "new")]);
        assert!(write_all_or_none(folder.path(), &new).is_err());
        assert_eq!(tree(folder.path()), before);
    }

    #[test]
    fn a_replacement_that_fails_brings_back_what_was() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), "old").unwrap();
        let new = texts(&[("a", "new"), ("b/new", "new"), ("c", "new"), ("d", "new")]);
        let prepared = PreparedFiles::prepare(folder.path(), &new).unwrap();
        // Meanwhile somebody makes a folder in the place of a file.
        fs::create_dir(folder.path().join("c")).unwrap();
        let failure = prepared.put_in_place().unwrap_err();
        assert!(matches!(&failure, Failure::Tool { path: Some(path), .. } if path.ends_with("c")));
        let left = [("a", Some("old".to_owned())), ("c", None)];
        assert_eq!(tree(folder.path()), left.map(|(name, text)| (name.to_owned(), text)).into());
    }
}
