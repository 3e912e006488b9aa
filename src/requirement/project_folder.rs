//! A project in a folder of its own, for tests: files that are written, read and removed again.

use super::load::{Project, load_project};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use vkcert_model::diagnostic::Diagnostic;

/// How many folders this process has made: each has a name of its own.
static FOLDER_COUNT: AtomicU32 = AtomicU32::new(0);

/// A folder that goes when the test ends.
pub(crate) struct ProjectFolder {
    pub(crate) path: PathBuf,
}

impl ProjectFolder {
    /// A folder with these files, by path relative to it.
    pub(crate) fn with_files(files: &[(&str, &str)]) -> Self {
        let number = FOLDER_COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("vkcert-requirement-{}-{number}", std::process::id());
        let folder = Self { path: std::env::temp_dir().join(name) };
        std::fs::create_dir_all(&folder.path).unwrap();
        for (file, text) in files {
            folder.write(file, text);
        }
        folder
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.path.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn load(&self) -> Result<Project, Vec<Diagnostic>> {
        load_project(&self.path)
    }
}

impl Drop for ProjectFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Kind and place of each diagnostic: the text that it points at, as far as its first line goes, or
/// else the name of its file.
pub(crate) fn kinds_and_places(diagnostics: &[Diagnostic]) -> Vec<String> {
    let described = diagnostics.iter().map(|diagnostic| {
        let location = diagnostic.location.as_ref().expect("a diagnostic of a file has a place");
        let place = match (&location.text, &location.span) {
            (Some(text), Some(span)) => text[span.clone()].lines().next().unwrap_or_default(),
            _ => Path::new(&location.file).file_name().unwrap().to_str().unwrap(),
        };
        format!("{} {place}", diagnostic.kind)
    });
    described.collect()
}

/// The text with one part replaced, which must be in it.
pub(crate) fn edited(text: &str, part: &str, replacement: &str) -> String {
    assert!(text.contains(part), "`{part}` is no part of the text");
    text.replacen(part, replacement, 1)
}
