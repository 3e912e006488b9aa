//! The project of a campaign, from the inputs that its evidence stores.
//!
//! Promises: nothing is read but what is stored (and, where a project is named, files of it that were too large to store and
//! have the stored hash); stored paths lead nowhere else. Kernels are compiled by the compiler that is built in, if it is the
//! one that made the evidence.

use crate::campaign::inputs::bytes_of;
use crate::campaign::kernel::Kernel;
use crate::campaign::{assemble, configuration, project};
use crate::cli::failure::Failure;
use crate::glsl;
use crate::model::canonical::sha256_digits;
use crate::model::evidence::{Evidence, StoredFile};
use crate::requirement::Project;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};
use tempfile::TempDir;

/// A project in a folder that is removed with it: what follows from the project reads its files.
pub struct LaidOutProject {
    pub project: Project,
    /// Inputs that are not in the folder.
    pub absent: BTreeSet<String>,
    _folder: TempDir,
}

/// A project with its kernels.
pub struct Rebuilt {
    pub laid_out: LaidOutProject,
    pub kernels: Vec<Kernel>,
}

impl Rebuilt {
    pub fn project(&self) -> &Project {
        &self.laid_out.project
    }
}

/// What could be made of the stored inputs.
pub enum Outcome {
    Whole(Box<Rebuilt>),
    /// The kernels cannot be compiled here, for the reason given.
    ProjectAlone(Box<LaidOutProject>, String),
    /// For the reason given.
    Nothing(String),
    /// The stored inputs contradict the evidence.
    Wrong(String),
}

/// Makes the project again; `sources` is a folder with files that are not stored.
pub fn rebuild(stored: &Evidence, sources: Option<&Path>) -> Outcome {
    let LaidOutInputs { folder, absent } = match inputs(stored, sources) {
        Ok(inputs) => inputs,
        Err(outcome) => return outcome,
    };
    let missing = absent.values().next().cloned();
    let mut project = match (project::load(folder.path()), &missing) {
        (Ok(project), _) => project,
        (Err(_), Some(reason)) => return Outcome::Nothing(format!("what follows from the inputs: {reason}")),
        (Err(failure), None) => {
            return Outcome::Wrong(format!("the stored inputs are no project: {}", told(&failure)));
        }
    };
    let absent = absent.into_keys().collect();
    let left_out = &stored.campaign.left_out;
    let all = std::mem::take(&mut project.tests);
    (project.left_out, project.tests) = all.into_iter().partition(|test| left_out.contains(&test.id));
    if let Some(reason) = missing.or_else(|| not_compiled(stored, &project)) {
        let reason = format!("what follows from the modules: {reason}");
        return Outcome::ProjectAlone(Box::new(LaidOutProject { project, absent, _folder: folder }), reason);
    }
    let compiled = project::compile(&project).and_then(|mut kernels| {
        configuration::configure(&project, &mut kernels)?;
        Ok(kernels)
    });
    match compiled {
        Ok(kernels) => {
            let laid_out = LaidOutProject { project, absent, _folder: folder };
            Outcome::Whole(Box::new(Rebuilt { laid_out, kernels }))
        }
        Err(failure) => Outcome::Wrong(format!("the stored inputs cannot be compiled: {}", told(&failure))),
    }
}

/// A folder with the stored inputs, and why each that is not there is absent.
struct LaidOutInputs {
    folder: TempDir,
    absent: BTreeMap<String, String>,
}

fn inputs(stored: &Evidence, sources: Option<&Path>) -> Result<LaidOutInputs, Outcome> {
    let Some(inputs) = &stored.inputs else {
        let reason = "what follows from the inputs: evidence of this format does not store them".to_owned();
        return Err(Outcome::Nothing(reason));
    };
    let unusable = |error: std::io::Error| Outcome::Nothing(format!("the inputs cannot be laid out: {error}"));
    let folder = tempfile::tempdir().map_err(unusable)?;
    let mut absent = BTreeMap::new();
    for (path, file) in &inputs.files {
        if !is_inside(path) {
            absent.insert(path.clone(), format!("the input `{path}` is no file inside of the project"));
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
            StoredFile::Text(_) | StoredFile::Bytes(_) => {
                bytes_of(file).ok_or_else(|| Outcome::Wrong(format!("the stored input {path} is not base64")))?
            }
        };
        if hash != Some(&sha256_digits(&bytes)) {
            return Err(Outcome::Wrong(format!("the stored input {path} has another SHA-256 than the manifest")));
        }
        let target = folder.path().join(path);
        let parent = target.parent().unwrap_or(folder.path());
        let written = std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&target, bytes));
        written.map_err(|error| Outcome::Wrong(format!("the stored input {path} cannot be laid out: {error}")))?;
    }
    if let Some(path) = stored.manifest.inputs.keys().find(|path| !inputs.files.contains_key(*path)) {
        return Err(Outcome::Wrong(format!("the input {path} of the manifest is not stored")));
    }
    Ok(LaidOutInputs { folder, absent })
}

/// The bytes of an input that is not stored, from the project named.
fn given(path: &str, size: u64, hash: Option<&String>, sources: Option<&Path>) -> Result<Vec<u8>, String> {
    let read = sources.and_then(|sources| std::fs::read(sources.join(path)).ok());
    let right = read.filter(|bytes| bytes.len() as u64 == size && hash == Some(&sha256_digits(bytes)));
    right.ok_or_else(|| format!("the input {path} ({size} bytes) is not stored; `--project` gives it"))
}

/// Whether a path leads to a file below the folder that it is relative to.
fn is_inside(path: &str) -> bool {
    let mut parts = Path::new(path).components().peekable();
    !path.is_empty() && !path.contains('\0') && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// Who made the modules, where it is not this program with its compiler.
pub fn other_compiler(stored: &Evidence) -> Option<String> {
    let made = &stored.campaign.project;
    let here = (assemble::TOOL, assemble::TOOL_VERSION, glsl::compiler_identity());
    let same = (made.tool.as_str(), made.tool_version.as_str(), made.compiler.clone()) == here;
    (!same).then(|| format!("{} {} with {}", made.tool, made.tool_version, made.compiler))
}

/// Why the kernels cannot be compiled as they were.
fn not_compiled(stored: &Evidence, project: &Project) -> Option<String> {
    if let Some(other) = other_compiler(stored) {
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

/// A failure as one sentence.
pub fn told(failure: &Failure) -> String {
    match failure {
        Failure::Input(found) => found.first().map(|diagnostic| diagnostic.message.clone()).unwrap_or_default(),
        Failure::Tool { message, .. } | Failure::Unavailable { message, .. } => message.clone(),
    }
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
        let of = |size: u64, hash: Option<&String>| given("f", size, hash, Some(folder.path())).is_ok();
        assert!(of(4, Some(&hash)));
        assert!(!of(5, Some(&hash)) && !of(4, Some(&sha256_digits(b"1235"))) && !of(4, None));
        assert!(given("f", 4, Some(&hash), None).is_err());
    }
}
