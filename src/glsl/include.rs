//! Finds the files that `#include` names, for the compiler and for our own preprocessor alike.
//!
//! Promises: one rule for both: `"..."` is looked for beside the including file, then in the
//! include folders; `<...>` in the include folders alone. Names that leave this file are relative
//! to the project with `/` as separator (`../` leads out of it), never absolute; two files never
//! share a name, however the project's own folder was named.

use super::KernelSource;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use vkcert_model::path::lexically_clean;

/// Greatest nesting of `#include`.
pub(crate) const DEPTH_LIMIT: usize = 64;

/// Largest file that is included, as large as a kernel's own text may be.
pub(crate) const MOST_INCLUDED_BYTES: u64 = 32 << 20;

/// The two forms of the directive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IncludeForm {
    /// `"..."`
    Quoted,
    /// `<...>`
    Angled,
}

/// A file found.
#[derive(Debug, Clone)]
pub(crate) struct Included {
    /// As reports show it.
    pub name: String,
    pub text: Arc<str>,
}

/// Why a file could not be included.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum IncludeError {
    #[error("`{requested}` was found neither beside `{requesting}` nor in the include folders")]
    NotFound { requested: String, requesting: String },
    #[error("`{name}` cannot be read: {reason}")]
    Unreadable { name: String, reason: String },
    #[error("`#include` is nested more than {DEPTH_LIMIT} deep")]
    TooDeep,
}

/// Looks files up and remembers what it found.
#[derive(Debug)]
pub(crate) struct Includes {
    root: Option<PathBuf>,
    folders: Vec<PathBuf>,
    /// Files by report name, the main file among them.
    files: RefCell<BTreeMap<String, KnownFile>>,
    found: RefCell<BTreeMap<String, Arc<str>>>,
    /// What was asked for last, if a file was there that could not be read, and why.
    refused: RefCell<Option<(String, IncludeError)>>,
}

/// A file that has a report name.
#[derive(Debug, Clone)]
struct KnownFile {
    /// Its folder, as it was reached.
    home: PathBuf,
    /// The file itself, links resolved.
    identity: PathBuf,
}

impl Includes {
    pub(crate) fn new(kernel: &KernelSource) -> Self {
        let mut files = BTreeMap::new();
        if let Some(folder) = &kernel.folder {
            let own = folder.join(Path::new(&kernel.path).file_name().unwrap_or_default());
            files.insert(
                kernel.path.clone(),
                KnownFile { home: folder.clone(), identity: identity(&own) },
            );
        }
        Self {
            root: project_root(kernel),
            folders: kernel.include.clone(),
            files: RefCell::new(files),
            found: RefCell::default(),
            refused: RefCell::default(),
        }
    }

    /// Everything found so far, name to text.
    pub(crate) fn found(&self) -> BTreeMap<String, String> {
        self.found.borrow().iter().map(|(name, text)| (name.clone(), text.to_string())).collect()
    }

    /// Resolves a directive in the file `requesting` (a name given out earlier, or the main file's
    /// path).
    pub(crate) fn resolve(
        &self,
        requested: &str,
        form: IncludeForm,
        requesting: &str,
        depth: usize,
    ) -> Result<Included, IncludeError> {
        if depth > DEPTH_LIMIT {
            return Err(IncludeError::TooDeep);
        }
        let home = match form {
            IncludeForm::Quoted => {
                self.files.borrow().get(requesting).map(|file| file.home.clone())
            }
            IncludeForm::Angled => None,
        };
        for folder in home.iter().chain(&self.folders) {
            let path = folder.join(requested);
            if path.is_file() {
                let read = self.read(&path, folder, requested);
                *self.refused.borrow_mut() =
                    read.as_ref().err().map(|error| (requested.to_owned(), error.clone()));
                return read;
            }
        }
        match (&*self.refused.borrow(), form) {
            // The compiler asks in the other form for a file that was there and could not be read.
            (Some((refused, error)), IncludeForm::Angled) if refused == requested => {
                Err(error.clone())
            }
            (_, IncludeForm::Quoted | IncludeForm::Angled) => Err(IncludeError::NotFound {
                requested: requested.to_owned(),
                requesting: requesting.to_owned(),
            }),
        }
    }

    fn read(&self, path: &Path, folder: &Path, requested: &str) -> Result<Included, IncludeError> {
        let identity = identity(path);
        let name = self.free_name(self.report_name(path, folder, requested), &identity);
        if let Some(text) = self.found.borrow().get(&name) {
            return Ok(Included { name, text: text.clone() });
        }
        let bytes = read_at_most(path, MOST_INCLUDED_BYTES)
            .map_err(|reason| IncludeError::Unreadable { name: name.clone(), reason })?;
        let text = String::from_utf8(bytes).map_err(|_| IncludeError::Unreadable {
            name: name.clone(),
            reason: "it is not UTF-8 text".to_owned(),
        })?;
        if text.contains('\0') {
            return Err(IncludeError::Unreadable {
                name,
                reason: "it holds a NUL byte".to_owned(),
            });
        }
        let text: Arc<str> = text.into();
        self.found.borrow_mut().insert(name.clone(), text.clone());
        let home = path.parent().unwrap_or(folder).to_owned();
        self.files.borrow_mut().insert(name.clone(), KnownFile { home, identity });
        Ok(Included { name, text })
    }

    /// The name, or where another file has it, the name with a number behind it.
    fn free_name(&self, name: String, identity: &Path) -> String {
        let files = self.files.borrow();
        let is_free = |name: &String| files.get(name).is_none_or(|file| file.identity == identity);
        let numbered = (2..).map(|number| format!("{name} ({number})"));
        std::iter::once(name.clone()).chain(numbered).find(is_free).expect("numbers do not end")
    }

    fn report_name(&self, path: &Path, folder: &Path, requested: &str) -> String {
        let clean = lexically_clean(path);
        if let Some(relative) = self.root.as_deref().and_then(|root| relative_to(root, &clean)) {
            return slashes(&relative);
        }
        if clean.is_relative() {
            return slashes(&clean);
        }
        let folder =
            folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        slashes(&lexically_clean(&Path::new(&folder).join(requested.trim_start_matches('/'))))
    }
}

/// The file's contents, or why they cannot be had. Never more than the limit is read, whatever
/// length the file tells.
fn read_at_most(path: &Path, limit: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    match bytes.len() as u64 > limit {
        true => Err(format!("it is larger than {limit} bytes, the limit for such a file")),
        false => Ok(bytes),
    }
}

/// What a path leads to; the path itself where that cannot be told.
fn identity(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| lexically_clean(path))
}

/// The way from a folder to a file, both without `.` and `..` inside; none where they have no
/// common beginning.
fn relative_to(root: &Path, path: &Path) -> Option<PathBuf> {
    if let Ok(inside) = path.strip_prefix(root) {
        return Some(inside.to_owned());
    }
    let absolute = |path: &Path| std::path::absolute(path).ok().map(|path| lexically_clean(&path));
    let (root, path) = (absolute(root)?, absolute(path)?);
    let shared = root.components().zip(path.components()).take_while(|(a, b)| a == b).count();
    let up = root.components().skip(shared).map(|_| Component::ParentDir);
    // Without a folder in common the way would be the absolute path.
    (shared > 1).then(|| up.chain(path.components().skip(shared)).collect())
}

/// The folder that report paths are relative to: the source's folder without the folders that its
/// path names.
fn project_root(kernel: &KernelSource) -> Option<PathBuf> {
    let folder = lexically_clean(kernel.folder.as_deref()?);
    let mut parents: Vec<_> = Path::new(&kernel.path).parent()?.components().collect();
    let mut root = folder.clone();
    while let Some(last) = parents.pop() {
        if root.file_name() != Some(last.as_os_str()) {
            return Some(folder);
        }
        root.pop();
    }
    Some(root)
}

fn slashes(path: &Path) -> String {
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    // A quote would end the file name in the `#line` directives that name the file.
    parts.join("/").replace('"', "'")
}
