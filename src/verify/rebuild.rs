//! The project of a campaign, from the inputs that its evidence stores.
//!
//! Promises: only stored files are read (and, where a project is named, those of its files that
//! were too large to store and have the stored hash), because paths that leave the folder are
//! refused. Kernels are compiled by the given toolchain, if it is the one that made the evidence.

use super::Toolchain;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};
use tempfile::TempDir;
use vkcert_derivation::files::stored_file_bytes;
use vkcert_model::canonical::sha256_digits;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::evidence::{Evidence, StoredFile};
use vkcert_requirement::{self as requirement, Project};

/// A project in a temporary folder, which is kept as long as the project because derivation reads
/// its files.
pub struct LaidOutProject {
    /// The project as it was read from the folder.
    pub project: Project,
    /// Inputs that are not in the folder.
    pub absent: BTreeSet<String>,
    _folder: TempDir,
}

/// What could be rebuilt from the stored inputs.
pub enum RebuildOutcome<C> {
    /// The project with its kernels.
    Whole(Box<C>),
    /// The kernels cannot be compiled here, for the reason given.
    ProjectAlone(Box<LaidOutProject>, String),
    /// For the reason given.
    WithoutInputs(String),
    /// The stored inputs contradict the evidence.
    Contradicting(String),
}

/// Rebuilds the project; `source_folder` may hold files that are not stored.
pub fn rebuild_project<T: Toolchain>(
    stored: &Evidence,
    source_folder: Option<&Path>,
    toolchain: &T,
) -> RebuildOutcome<T::Compiled> {
    let LaidOutInputs { folder, absent: absent_inputs } =
        match lay_out_inputs(stored, source_folder) {
            Ok(inputs) => inputs,
            Err(UnusableInputs::Absent(reason)) => return RebuildOutcome::WithoutInputs(reason),
            Err(UnusableInputs::Contradicting(problem)) => {
                return RebuildOutcome::Contradicting(problem);
            }
        };
    let missing_reason = absent_inputs.values().next().cloned();
    let mut project = match (requirement::load_project(folder.path()), &missing_reason) {
        (Ok(project), _) => project,
        (Err(_), Some(reason)) => {
            return RebuildOutcome::WithoutInputs(format!(
                "what follows from the inputs: {reason}"
            ));
        }
        (Err(diagnostics), None) => {
            return RebuildOutcome::Contradicting(format!(
                "the stored inputs are no project: {}",
                first_message(&diagnostics)
            ));
        }
    };
    let absent_inputs = absent_inputs.into_keys().collect();
    let left_out = &stored.campaign.left_out;
    let all_tests = std::mem::take(&mut project.tests);
    (project.left_out, project.tests) =
        all_tests.into_iter().partition(|test| left_out.contains(&test.id));
    if let Some(reason) = missing_reason.or_else(|| why_not_compiled(stored, &project, toolchain)) {
        let reason = format!("what follows from the modules: {reason}");
        return RebuildOutcome::ProjectAlone(
            Box::new(LaidOutProject { project, absent: absent_inputs, _folder: folder }),
            reason,
        );
    }
    match toolchain.compile(LaidOutProject { project, absent: absent_inputs, _folder: folder }) {
        Ok(compiled) => RebuildOutcome::Whole(Box::new(compiled)),
        Err(reason) => {
            RebuildOutcome::Contradicting(format!("the stored inputs cannot be compiled: {reason}"))
        }
    }
}

/// A folder with the stored inputs, and why each that is not there is absent.
struct LaidOutInputs {
    folder: TempDir,
    absent: BTreeMap<String, String>,
}

/// Why nothing can be rebuilt from the stored inputs.
enum UnusableInputs {
    Absent(String),
    Contradicting(String),
}

fn lay_out_inputs(
    stored: &Evidence,
    source_folder: Option<&Path>,
) -> Result<LaidOutInputs, UnusableInputs> {
    let Some(inputs) = &stored.inputs else {
        let reason =
            "what follows from the inputs: evidence of this format does not store them".to_owned();
        return Err(UnusableInputs::Absent(reason));
    };
    let describe_error = |error: std::io::Error| {
        UnusableInputs::Absent(format!("the inputs cannot be laid out: {error}"))
    };
    let folder = tempfile::tempdir().map_err(describe_error)?;
    let mut absent_inputs = BTreeMap::new();
    for (path, file) in &inputs.files {
        if !is_inside(path) {
            absent_inputs.insert(
                path.clone(),
                format!("the input `{path}` is no file inside of the project"),
            );
            continue;
        }
        let expected_hash = stored.manifest.inputs.get(path);
        let file_bytes = match file {
            StoredFile::Omitted { bytes: file_bytes } => {
                match read_omitted_input(path, *file_bytes, expected_hash, source_folder) {
                    Ok(file_bytes) => Cow::Owned(file_bytes),
                    Err(reason) => {
                        absent_inputs.insert(path.clone(), reason);
                        continue;
                    }
                }
            }
            StoredFile::Text(_) | StoredFile::Bytes(_) => {
                stored_file_bytes(file).ok_or_else(|| {
                    UnusableInputs::Contradicting(format!("the stored input {path} is not base64"))
                })?
            }
        };
        if expected_hash != Some(&sha256_digits(&file_bytes)) {
            return Err(UnusableInputs::Contradicting(format!(
                "the stored input {path} has another SHA-256 than the manifest"
            )));
        }
        let target_path = folder.path().join(path);
        let parent_folder = target_path.parent().unwrap_or(folder.path());
        let write_result = std::fs::create_dir_all(parent_folder)
            .and_then(|()| std::fs::write(&target_path, file_bytes));
        write_result.map_err(|error| {
            UnusableInputs::Contradicting(format!(
                "the stored input {path} cannot be laid out: {error}"
            ))
        })?;
    }
    if let Some(path) = stored.manifest.inputs.keys().find(|path| !inputs.files.contains_key(*path))
    {
        return Err(UnusableInputs::Contradicting(format!(
            "the input {path} of the manifest is not stored"
        )));
    }
    Ok(LaidOutInputs { folder, absent: absent_inputs })
}

/// The bytes of an input that is not stored, from the project that the user names.
///
/// # Errors
/// If no file of that size and hash is there.
fn read_omitted_input(
    path: &str,
    size: u64,
    expected_hash: Option<&String>,
    source_folder: Option<&Path>,
) -> Result<Vec<u8>, String> {
    let read_bytes =
        source_folder.and_then(|source_folder| std::fs::read(source_folder.join(path)).ok());
    let matching_bytes = read_bytes
        .filter(|bytes| bytes.len() as u64 == size && expected_hash == Some(&sha256_digits(bytes)));
    matching_bytes.ok_or_else(|| {
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
fn why_not_compiled(
    stored: &Evidence,
    project: &Project,
    toolchain: &impl Toolchain,
) -> Option<String> {
    if let Some(other_maker) = toolchain.other_maker(stored) {
        return Some(format!("they were made by {other_maker}"));
    }
    let include_folders = project.settings.value.kernels.iter().flat_map(|kernel| &kernel.include);
    let outside_folder = include_folders.into_iter().find(|folder| leaves_folder(folder))?;
    Some(format!("the include folder `{outside_folder}` is outside of the project"))
}

/// Whether a relative path leads out of its folder.
fn leaves_folder(path: &str) -> bool {
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
fn first_message(diagnostics: &[Diagnostic]) -> &str {
    diagnostics.first().map_or("", |diagnostic| &diagnostic.message)
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
            assert!(!leaves_folder(within), "{within}");
        }
        for outside in ["..", "a/../..", "a/../../a", "/a"] {
            assert!(leaves_folder(outside), "{outside}");
        }
    }

    #[test]
    fn a_file_that_is_not_stored_counts_only_with_its_size_and_hash() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("f"), b"1234").unwrap();
        let hash = sha256_digits(b"1234");
        let of = |size: u64, hash: Option<&String>| {
            read_omitted_input("f", size, hash, Some(folder.path())).is_ok()
        };
        assert!(of(4, Some(&hash)));
        assert!(!of(5, Some(&hash)) && !of(4, Some(&sha256_digits(b"1235"))) && !of(4, None));
        assert!(read_omitted_input("f", 4, Some(&hash), None).is_err());
    }
}
