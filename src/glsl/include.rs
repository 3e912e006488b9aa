//! Finds the files that `#include` names, for the compiler and for our own preprocessor alike.
//!
//! Promises: one rule for both: `"..."` is looked for beside the including file, then in the
//! include folders; `<...>` in the include folders alone. Names that leave this file are relative
//! to the project with `/` as separator (`../` leads out of it), never absolute; two files never
//! share a name, however the project's own folder was named.

use super::KernelSource;
use serde::{Deserialize, Serialize};
use std::cell::{Ref, RefCell};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use vkcert_model::canonical::sha256_digits;
use vkcert_model::path::lexically_clean;

/// Greatest nesting of `#include`.
pub(crate) const DEPTH_LIMIT: usize = 64;

/// Largest file that is included, as large as a kernel's own text may be.
pub(crate) const MOST_INCLUDED_BYTES: u64 = 32 << 20;

/// The two forms of the directive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum IncludeForm {
    /// `"..."`
    Quoted,
    /// `<...>`
    Angled,
}

/// A file found.
#[derive(Debug, Clone)]
pub(crate) struct IncludedFile {
    /// As reports show it.
    pub name: Rc<str>,
    pub text: Arc<str>,
}

/// An `#include` directive and the file that it led to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IncludeLookup {
    requested: String,
    form: IncludeForm,
    /// Name of the file that asked.
    requesting: String,
    /// Name of the file that was found.
    found: String,
    /// SHA-256 of its text.
    sha256: String,
}

impl IncludeLookup {
    fn new(
        (requested, form, requesting): (&str, IncludeForm, &str),
        IncludedFile { name, text }: &IncludedFile,
    ) -> Self {
        Self {
            requested: requested.to_owned(),
            form,
            requesting: requesting.to_owned(),
            found: name.to_string(),
            sha256: sha256_digits(text.as_bytes()),
        }
    }
}

/// Whether the directives of a kernel that was compiled before would find the same texts under the
/// same names today.
pub fn finds_the_same(kernel: &KernelSource, lookups: &[IncludeLookup]) -> bool {
    let resolver = IncludeResolver::new(kernel);
    lookups.iter().all(|lookup| {
        let asked = (lookup.requested.as_str(), lookup.form, lookup.requesting.as_str());
        let found = resolver.find_file(asked.0, asked.1, asked.2, 1);
        found.is_ok_and(|file| IncludeLookup::new(asked, &file) == *lookup)
    })
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
pub(crate) struct IncludeResolver<'k> {
    root: Option<PathBuf>,
    folders: &'k [PathBuf],
    /// Files by report name, the main file among them.
    files: RefCell<BTreeMap<Rc<str>, KnownFile>>,
    found: RefCell<FoundTexts>,
    /// The last request whose file was there but could not be read, with the reason.
    refused: RefCell<Option<(String, IncludeError)>>,
    asked: RefCell<AskedIncludes>,
    unreadable: RefCell<BTreeMap<String, PathBuf>>,
    /// What takes the place of a file's text, by report name.
    changed_texts: BTreeMap<String, String>,
}

/// What directives have led to.
#[derive(Debug, Default)]
pub(crate) struct ReadIncludes {
    /// Each directive; none where one led to no file.
    pub lookups: Option<Vec<IncludeLookup>>,
    /// Texts by the names of their files.
    pub found: BTreeMap<String, String>,
}

impl ReadIncludes {
    /// Adds what another reader of the same text was led to.
    pub(crate) fn join(&mut self, other: ReadIncludes) {
        let joined = self.lookups.take().zip(other.lookups).map(|(mut lookups, others)| {
            for lookup in others {
                if !lookups.contains(&lookup) {
                    lookups.push(lookup);
                }
            }
            lookups
        });
        self.lookups = joined;
        for (name, text) in other.found {
            self.found.entry(name).or_insert(text);
        }
    }
}

/// What was asked for, to be asked again.
#[derive(Debug, Default)]
struct AskedIncludes {
    lookups: Vec<IncludeLookup>,
    any_failed: bool,
}

/// Texts of files by report name.
pub(crate) type FoundTexts = BTreeMap<Rc<str>, Arc<str>>;

/// A file that has a report name.
#[derive(Debug, Clone)]
struct KnownFile {
    /// Its folder, as it was reached.
    folder: Rc<Path>,
    /// The file itself, links resolved.
    identity: PathBuf,
}

impl<'k> IncludeResolver<'k> {
    pub(crate) fn new(kernel: &'k KernelSource) -> Self {
        let mut known_files = BTreeMap::new();
        if let Some(folder) = &kernel.folder {
            let source_path = folder.join(Path::new(&kernel.path).file_name().unwrap_or_default());
            known_files.insert(
                kernel.path.as_str().into(),
                KnownFile {
                    folder: folder.as_path().into(),
                    identity: file_identity(&source_path),
                },
            );
        }
        Self {
            root: project_root(kernel),
            folders: &kernel.include,
            files: RefCell::new(known_files),
            found: RefCell::default(),
            refused: RefCell::default(),
            asked: RefCell::default(),
            unreadable: RefCell::default(),
            changed_texts: BTreeMap::new(),
        }
    }

    /// The same, with other texts in the place of those of some files, by report name.
    pub(crate) fn with_texts(kernel: &'k KernelSource, texts: BTreeMap<String, String>) -> Self {
        Self { changed_texts: texts, ..Self::new(kernel) }
    }

    /// Each directive that was resolved, in the order of the first time; none where one led to no
    /// file.
    pub(crate) fn lookups(&self) -> Option<Vec<IncludeLookup>> {
        let asked = self.asked.borrow();
        (!asked.any_failed).then(|| asked.lookups.clone())
    }

    /// All that was read, for another thread.
    pub(crate) fn read_includes(&self) -> ReadIncludes {
        let found = self.found();
        let found = found.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect();
        ReadIncludes { lookups: self.lookups(), found }
    }

    /// Everything found so far, name to text.
    pub(crate) fn found(&self) -> Ref<'_, FoundTexts> {
        self.found.borrow()
    }

    /// Files that are there and cannot be included, by report name.
    pub(crate) fn unreadable(&self) -> BTreeMap<String, PathBuf> {
        self.unreadable.borrow().clone()
    }

    /// Resolves a directive in the file `requesting` (a name given out earlier, or the main file's
    /// path).
    pub(crate) fn resolve_include(
        &self,
        requested: &str,
        include_form: IncludeForm,
        requesting: &str,
        depth: usize,
    ) -> Result<IncludedFile, IncludeError> {
        let found = self.find_file(requested, include_form, requesting, depth);
        let mut asked = self.asked.borrow_mut();
        match &found {
            Ok(file) => {
                let lookup = IncludeLookup::new((requested, include_form, requesting), file);
                if !asked.lookups.contains(&lookup) {
                    asked.lookups.push(lookup);
                }
            }
            Err(_) => asked.any_failed = true,
        }
        found
    }

    fn find_file(
        &self,
        requested: &str,
        include_form: IncludeForm,
        requesting: &str,
        depth: usize,
    ) -> Result<IncludedFile, IncludeError> {
        if depth > DEPTH_LIMIT {
            return Err(IncludeError::TooDeep);
        }
        let including_folder = match include_form {
            IncludeForm::Quoted => {
                self.files.borrow().get(requesting).map(|file| Rc::clone(&file.folder))
            }
            IncludeForm::Angled => None,
        };
        let include_folders = self.folders.iter().map(PathBuf::as_path);
        for folder in including_folder.as_deref().into_iter().chain(include_folders) {
            let candidate_path = folder.join(requested);
            if candidate_path.is_file() {
                let read_result = self.read_file(&candidate_path, folder, requested);
                *self.refused.borrow_mut() =
                    read_result.as_ref().err().map(|error| (requested.to_owned(), error.clone()));
                return read_result;
            }
        }
        match (&*self.refused.borrow(), include_form) {
            // The compiler asks in the other form for a file that was there and could not be read.
            (Some((refused_name, error)), IncludeForm::Angled) if refused_name == requested => {
                Err(error.clone())
            }
            (_, IncludeForm::Quoted | IncludeForm::Angled) => Err(IncludeError::NotFound {
                requested: requested.to_owned(),
                requesting: requesting.to_owned(),
            }),
        }
    }

    fn read_file(
        &self,
        path: &Path,
        folder: &Path,
        requested: &str,
    ) -> Result<IncludedFile, IncludeError> {
        let file_identity = file_identity(path);
        let name = self.free_name(self.report_name(path, folder, requested), &file_identity);
        if let Some((name, text)) = self.found.borrow().get_key_value(name.as_str()) {
            return Ok(IncludedFile { name: Rc::clone(name), text: Arc::clone(text) });
        }
        let text = match self.changed_texts.get(&name) {
            Some(changed_text) => Ok(changed_text.clone()),
            None => read_text(path),
        };
        let text: Arc<str> = match text {
            Ok(text) => text.into(),
            Err(reason) => {
                self.unreadable.borrow_mut().insert(name.clone(), path.to_owned());
                return Err(IncludeError::Unreadable { name, reason });
            }
        };
        let name: Rc<str> = name.into();
        self.found.borrow_mut().insert(Rc::clone(&name), Arc::clone(&text));
        let file_folder = path.parent().unwrap_or(folder).into();
        self.files
            .borrow_mut()
            .insert(Rc::clone(&name), KnownFile { folder: file_folder, identity: file_identity });
        Ok(IncludedFile { name, text })
    }

    /// The name, or the name with a number behind it where another file has the name.
    fn free_name(&self, name: String, identity: &Path) -> String {
        let known_files = self.files.borrow();
        let is_free =
            |tried: &str| known_files.get(tried).is_none_or(|file| file.identity == identity);
        if is_free(&name) {
            return name;
        }
        let mut numbered_names = (2..).map(|number| format!("{name} ({number})"));
        numbered_names.find(|numbered_name| is_free(numbered_name)).expect("numbers do not end")
    }

    fn report_name(&self, path: &Path, folder: &Path, requested: &str) -> String {
        let clean_path = lexically_clean(path);
        if let Some(relative_path) =
            self.root.as_deref().and_then(|root| relative_to(root, &clean_path))
        {
            return slash_separated(&relative_path);
        }
        if clean_path.is_relative() {
            return slash_separated(&clean_path);
        }
        let folder_name =
            folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        slash_separated(&lexically_clean(
            &Path::new(&folder_name).join(requested.trim_start_matches('/')),
        ))
    }
}

/// The file's text, or why it cannot be included.
fn read_text(path: &Path) -> Result<String, String> {
    let file_bytes = read_at_most(path, MOST_INCLUDED_BYTES)?;
    let text = String::from_utf8(file_bytes).map_err(|_| "it is not UTF-8 text".to_owned())?;
    match text.contains('\0') {
        true => Err("it holds a NUL byte".to_owned()),
        false => Ok(text),
    }
}

/// The file's contents, or why they cannot be had. Never more than the limit is read, whatever
/// length the file tells.
fn read_at_most(path: &Path, byte_limit: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    file.take(byte_limit + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    match bytes.len() as u64 > byte_limit {
        true => Err(format!("it is larger than {byte_limit} bytes, the limit for such a file")),
        false => Ok(bytes),
    }
}

/// The file that a path leads to, links resolved; the path itself where they cannot be resolved.
fn file_identity(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| lexically_clean(path))
}

/// The way from a folder to a file, both without `.` and `..` inside; none where they have no
/// common beginning.
fn relative_to(root: &Path, path: &Path) -> Option<PathBuf> {
    if let Ok(inside) = path.strip_prefix(root) {
        return Some(inside.to_owned());
    }
    let (root, path) = (clean_absolute(root)?, clean_absolute(path)?);
    let shared_components =
        root.components().zip(path.components()).take_while(|(a, b)| a == b).count();
    let upward_steps = root.components().skip(shared_components).map(|_| Component::ParentDir);
    // Without a folder in common the way would be the absolute path.
    (shared_components > 1)
        .then(|| upward_steps.chain(path.components().skip(shared_components)).collect())
}

fn clean_absolute(path: &Path) -> Option<PathBuf> {
    let absolute_path = std::path::absolute(path).ok()?;
    Some(lexically_clean(&absolute_path))
}

/// The folder that report paths are relative to: the source's folder without the folders that its
/// path names.
fn project_root(kernel: &KernelSource) -> Option<PathBuf> {
    let folder = lexically_clean(kernel.folder.as_deref()?);
    let clean_path = lexically_clean(Path::new(&kernel.path));
    let mut parent_components: Vec<_> = clean_path.parent()?.components().collect();
    let mut root_folder = folder.clone();
    while let Some(last_component) = parent_components.pop() {
        if root_folder.file_name() != Some(last_component.as_os_str()) {
            return Some(folder);
        }
        root_folder.pop();
    }
    Some(root_folder)
}

fn slash_separated(path: &Path) -> String {
    let path_parts: Vec<_> =
        path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    // A quote would end the file name in the `#line` directives that name the file.
    path_parts.join("/").replace('"', "'")
}
