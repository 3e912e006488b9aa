//! The project of a campaign, from the inputs that its evidence stores.
//!
//! Promises: nothing is read but what is stored (and, where a project is named, files of it that
//! were too large to store and have the stored hash); stored paths lead nowhere else. Kernels are
//! compiled by the toolchain given, if it is the one that made the evidence.

use super::Toolchain;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};
use tempfile::TempDir;
use vkcert_derivation::files::bytes_of;
use vkcert_model::canonical::sha256_digits;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::evidence::{Evidence, StoredFile};
use vkcert_requirement::{self as requirement, Project};

/// A project in a folder that is removed with it: what follows from the project reads its files.
pub struct LaidOutProject {
    pub project: Project,
    /// Inputs that are not in the folder.
    pub absent: BTreeSet<String>,
    _folder: TempDir,
}

/// What could be made of the stored inputs.
pub enum Outcome<C> {
    Whole(Box<C>),
    /// The kernels cannot be compiled here, for the reason given.
    ProjectAlone(Box<LaidOutProject>, String),
    /// For the reason given.
    Nothing(String),
    /// The stored inputs contradict the evidence.
    Wrong(String),
}

/// Makes the project again; `sources` is a folder with files that are not stored.
pub fn rebuild<T: Toolchain>(
    stored: &Evidence,
    sources: Option<&Path>,
    toolchain: &T,
) -> Outcome<T::Compiled> {
    let LaidOutInputs { folder, absent } = match inputs(stored, sources) {
        Ok(inputs) => inputs,
        Err(Unusable::Absent(reason)) => return Outcome::Nothing(reason),
        Err(Unusable::Contradicting(problem)) => return Outcome::Wrong(problem),
    };
    let missing = absent.values().next().cloned();
    let mut project = match (requirement::load_project(folder.path()), &missing) {
        (Ok(project), _) => project,
        (Err(_), Some(reason)) => {
            return Outcome::Nothing(format!("what follows from the inputs: {reason}"));
        }
        (Err(diagnostics), None) => {
            return Outcome::Wrong(format!(
                "the stored inputs are no project: {}",
                first_message(&diagnostics)
            ));
        }
    };
    let absent = absent.into_keys().collect();
    let left_out = &stored.campaign.left_out;
    let all = std::mem::take(&mut project.tests);
    (project.left_out, project.tests) =
        all.into_iter().partition(|test| left_out.contains(&test.id));
    if let Some(reason) = missing.or_else(|| not_compiled(stored, &project, toolchain)) {
        let reason = format!("what follows from the modules: {reason}");
        return Outcome::ProjectAlone(
            Box::new(LaidOutProject { project, absent, _folder: folder }),
            reason,
        );
    }
    match toolchain.compile(LaidOutProject { project, absent, _folder: folder }) {
        Ok(compiled) => Outcome::Whole(Box::new(compiled)),
        Err(reason) => Outcome::Wrong(format!("the stored inputs cannot be compiled: {reason}")),
    }
}

/// A folder with the stored inputs, and why each that is not there is absent.
struct LaidOutInputs {
    folder: TempDir,
    absent: BTreeMap<String, String>,
}

/// Why nothing can be made of the stored inputs.
enum Unusable {
    Absent(String),
    Contradicting(String),
}

fn inputs(stored: &Evidence, sources: Option<&Path>) -> Result<LaidOutInputs, Unusable> {
    let Some(inputs) = &stored.inputs else {
        let reason =
            "what follows from the inputs: evidence of this format does not store them".to_owned();
        return Err(Unusable::Absent(reason));
    };
    let unusable =
        |error: std::io::Error| Unusable::Absent(format!("the inputs cannot be laid out: {error}"));
    let folder = tempfile::tempdir().map_err(unusable)?;
    let mut absent = BTreeMap::new();
    for (path, file) in &inputs.files {
        if !is_inside(path) {
            absent.insert(
                path.clone(),
                format!("the input `{path}` is no file inside of the project"),
            );
            continue;
        }
        let hash = stored.manifest.inputs.get(path);
        let bytes = match file {
            StoredFile::Omitted { bytes } => match given(path, *bytes, hash, sources) {
                Ok(bytes) => bytes,
                Err(reason) => {
                    absent.insert(path.clone(), reason);
                    continue;
                }
            },
            StoredFile::Text(_) | StoredFile::Bytes(_) => bytes_of(file).ok_or_else(|| {
                Unusable::Contradicting(format!("the stored input {path} is not base64"))
            })?,
        };
        if hash != Some(&sha256_digits(&bytes)) {
            return Err(Unusable::Contradicting(format!(
                "the stored input {path} has another SHA-256 than the manifest"
            )));
        }
        let target = folder.path().join(path);
        let parent = target.parent().unwrap_or(folder.path());
        let written = std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&target, bytes));
        written.map_err(|error| {
            Unusable::Contradicting(format!("the stored input {path} cannot be laid out: {error}"))
        })?;
    }
    if let Some(path) = stored.manifest.inputs.keys().find(|path| !inputs.files.contains_key(*path))
    {
        return Err(Unusable::Contradicting(format!(
            "the input {path} of the manifest is not stored"
        )));
    }
    Ok(LaidOutInputs { folder, absent })
}

/// The bytes of an input that is not stored, from the project named.
fn given(
    path: &str,
    size: u64,
    hash: Option<&String>,
    sources: Option<&Path>,
) -> Result<Vec<u8>, String> {
    let read = sources.and_then(|sources| std::fs::read(sources.join(path)).ok());
    let right =
        read.filter(|bytes| bytes.len() as u64 == size && hash == Some(&sha256_digits(bytes)));
    right.ok_or_else(|| {
        format!("the input {path} ({size} bytes) is not stored; `--project` gives it")
    })
}

/// Whether a path leads to a file below the folder that it is relative to.
fn is_inside(path: &str) -> bool {
    let mut parts = Path::new(path).components().peekable();
    !path.is_empty()
        && !path.contains('\0')
        && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// Why the kernels cannot be compiled as they were.
fn not_compiled(
    stored: &Evidence,
    project: &Project,
    toolchain: &impl Toolchain,
) -> Option<String> {
    if let Some(other) = toolchain.other_maker(stored) {
        return Some(format!("they were made by {other}"));
    }
    let folders = project.settings.value.kernels.iter().flat_map(|kernel| &kernel.include);
    let outside = folders.into_iter().find(|folder| leaves(folder))?;
    Some(format!("the include folder `{outside}` is outside of the project"))
}

/// Whether a relative path leads out of its folder.
fn leaves(path: &str) -> bool {
    let mut depth = 0_i32;
    for part in Path::new(path).components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir => depth -= 1,
            Component::RootDir | Component::Prefix(_) => return true,
        }
        if depth < 0 {
            return true;
        }
    }
    false
}

/// The first of several faults.
fn first_message(diagnostics: &[Diagnostic]) -> String {
    diagnostics.first().map(|diagnostic| diagnostic.message.clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_paths_lead_nowhere_but_below_their_folder() {
        for inside in ["a", "a/b.comp", "a b"] {
            assert!(is_inside(inside), "{inside}");
        }
        for outside in ["", "/a", "..", "../a", "a/../b", "./a", "a\0b"] {
            assert!(!is_inside(outside), "{outside:?}");
        }
    }

    #[test]
    fn an_include_folder_leaves_the_project_wherever_it_steps_out() {
        for within in ["", "a", "./a", "a/..", "a/../b", "a/b/../.."] {
            assert!(!leaves(within), "{within}");
        }
        for outside in ["..", "a/../..", "a/../../a", "/a"] {
            assert!(leaves(outside), "{outside}");
        }
    }

    #[test]
    fn a_file_that_is_not_stored_counts_only_with_its_size_and_hash() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("f"), b"1234").unwrap();
        let hash = sha256_digits(b"1234");
        let of =
            |size: u64, hash: Option<&String>| given("f", size, hash, Some(folder.path())).is_ok();
        assert!(of(4, Some(&hash)));
        assert!(!of(5, Some(&hash)) && !of(4, Some(&sha256_digits(b"1235"))) && !of(4, None));
        assert!(given("f", 4, Some(&hash), None).is_err());
    }
}
