//! The project of a campaign, from the inputs that its evidence stores.
//!
//! Promises: only stored files are read (and, where a project is named, those of its files that
//! were too large to store and have the stored hash), because paths that leave the folder are
//! refused. Kernels are compiled by the given toolchain, if it is the one that made the evidence.

mod passed_folders;

use super::Toolchain;
use passed_folders::make_passed_folders;
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
    let mut project = match (requirement::load_stored_project(folder.path()), &missing_reason) {
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
    let set_aside = stored.campaign.set_aside.iter().map(|row| row.kernel).collect();
    project.set_kernels_aside(&set_aside);
    if let Some(inputs) = &stored.inputs {
        make_passed_folders(folder.path(), &project, &inputs.files);
    }
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
    let set_aside = project.set_aside.iter().map(|row| &row.settings);
    let all_kernels = project.settings.value.kernels.iter().chain(set_aside);
    let include_folders = all_kernels.flat_map(|kernel| &kernel.include);
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
    use crate::honest::{
        KERNEL_PATH, PROJECT_FILES, REQUIREMENTS_PATH, honest, verified, verified_with,
        write_project,
    };
    use crate::{DerivationExtent, KernelCheck, NoToolchain, Replay, Verification, VerifyError};
    use crate::{VerificationOptions, VerificationStatus};

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

    /// A toolchain that made the evidence itself and compiles nothing.
    struct OwnToolchain {
        compiles: bool,
    }

    impl Toolchain for OwnToolchain {
        type Compiled = LaidOutProject;
        type Error = VerifyError;

        fn other_maker(&self, _stored: &Evidence) -> Option<String> {
            None
        }

        fn compile(&self, laid_out: LaidOutProject) -> Result<LaidOutProject, String> {
            if self.compiles { Ok(laid_out) } else { Err("it is no kernel".to_owned()) }
        }

        fn derive(
            &self,
            _stored: &Evidence,
            _compiled: &LaidOutProject,
            _replay: Replay,
            verification: &mut Verification,
        ) -> Result<(), VerifyError> {
            verification.problems.push("derived by the toolchain".to_owned());
            Ok(())
        }

        fn compare_kernels(
            &self,
            _stored: &Evidence,
            _folder: &Path,
            _verification: &mut Verification,
        ) -> KernelCheck {
            KernelCheck::default()
        }
    }

    /// What becomes of the stored inputs, in a word and the reason.
    fn outcome(evidence: &Evidence, source_folder: Option<&Path>) -> (&'static str, String) {
        match rebuild_project(evidence, source_folder, &OwnToolchain { compiles: true }) {
            RebuildOutcome::Whole(_) => ("whole", String::new()),
            RebuildOutcome::ProjectAlone(_, reason) => ("project alone", reason),
            RebuildOutcome::WithoutInputs(reason) => ("without inputs", reason),
            RebuildOutcome::Contradicting(problem) => ("contradicting", problem),
        }
    }

    fn inputs(evidence: &mut Evidence) -> &mut BTreeMap<String, StoredFile> {
        &mut evidence.inputs.as_mut().unwrap().files
    }

    /// Replaces an input, and its hash in the manifest.
    fn replace_input(evidence: &mut Evidence, path: &str, text: &str) {
        inputs(evidence).insert(path.to_owned(), StoredFile::Text(text.to_owned()));
        let hash = sha256_digits(text.as_bytes());
        evidence.manifest.inputs.insert(path.to_owned(), hash);
    }

    fn omit_input(evidence: &mut Evidence, path: &str, bytes: u64) {
        inputs(evidence).insert(path.to_owned(), StoredFile::Omitted { bytes });
    }

    #[test]
    fn stored_inputs_are_laid_out_or_refused() {
        type Forge = fn(&mut Evidence);
        let settings = PROJECT_FILES[0].1;
        assert!(settings.contains("glsl/guard.comp"));
        let cases: [(&str, Forge, (&str, &str)); 11] = [
            ("honest", |_| {}, ("whole", "")),
            (
                "no inputs",
                |forged| forged.inputs = None,
                (
                    "without inputs",
                    "what follows from the inputs: evidence of this format does not store them",
                ),
            ),
            (
                "the text of an input",
                |forged| {
                    let text = StoredFile::Text("x".to_owned());
                    inputs(forged).insert(KERNEL_PATH.to_owned(), text);
                },
                (
                    "contradicting",
                    "the stored input glsl/guard.comp has another SHA-256 than the manifest",
                ),
            ),
            (
                "bytes that are no base64",
                |forged| {
                    let bytes = StoredFile::Bytes("*".to_owned());
                    inputs(forged).insert(KERNEL_PATH.to_owned(), bytes);
                },
                ("contradicting", "the stored input glsl/guard.comp is not base64"),
            ),
            (
                "an input that the manifest does not name",
                |forged| drop(forged.manifest.inputs.remove(KERNEL_PATH)),
                (
                    "contradicting",
                    "the stored input glsl/guard.comp has another SHA-256 than the manifest",
                ),
            ),
            (
                "an input that is not stored",
                |forged| {
                    forged.manifest.inputs.insert("a.bin".to_owned(), sha256_digits(b""));
                },
                ("contradicting", "the input a.bin of the manifest is not stored"),
            ),
            (
                "a file and a folder of one name",
                |forged| replace_input(forged, "vkcert.toml/a", ""),
                ("contradicting", "the stored input vkcert.toml/a cannot be laid out: "),
            ),
            (
                "inputs that are no project",
                |forged| replace_input(forged, "vkcert.toml", "schema = 1\n"),
                ("contradicting", "the stored inputs are no project: the key `name` is missing"),
            ),
            (
                "an input outside of the project",
                |forged| replace_input(forged, "../a.bin", ""),
                (
                    "project alone",
                    "what follows from the modules: \
                     the input `../a.bin` is no file inside of the project",
                ),
            ),
            (
                "data that were too large",
                |forged| {
                    replace_input(forged, "a.bin", "1234");
                    omit_input(forged, "a.bin", 4);
                },
                (
                    "project alone",
                    "what follows from the modules: \
                     the input a.bin (4 bytes) is not stored; `--project` gives it",
                ),
            ),
            (
                "requirements that were too large",
                |forged| omit_input(forged, "vkcert.toml", 4),
                (
                    "without inputs",
                    "what follows from the inputs: \
                     the input vkcert.toml (4 bytes) is not stored; `--project` gives it",
                ),
            ),
        ];
        for (name, forge, (word, reason)) in cases {
            let mut forged = honest();
            forge(&mut forged);
            let (outcome_word, outcome_reason) = outcome(&forged, None);
            assert_eq!(outcome_word, word, "{name}: {outcome_reason}");
            assert!(outcome_reason.starts_with(reason), "{name}: {outcome_reason}");
            assert_eq!(outcome_reason.is_empty(), reason.is_empty(), "{name}: {outcome_reason}");
        }
    }

    #[test]
    fn a_project_gives_what_is_not_stored() {
        let folder = tempfile::tempdir().unwrap();
        write_project(folder.path());
        let mut evidence = honest();
        for (path, text) in PROJECT_FILES {
            omit_input(&mut evidence, path, text.len() as u64);
        }
        assert_eq!(outcome(&evidence, Some(folder.path())).0, "whole");
        std::fs::write(folder.path().join(REQUIREMENTS_PATH), "schema = 1\n").unwrap();
        assert_eq!(outcome(&evidence, Some(folder.path())).0, "without inputs");
    }

    #[test]
    fn tests_that_were_left_out_are_no_tests_of_the_run() {
        let mut evidence = honest();
        evidence.campaign.left_out.push("T1".into());
        let rebuilt = rebuild_project(&evidence, None, &OwnToolchain { compiles: true });
        let RebuildOutcome::Whole(laid_out) = rebuilt else { panic!("it is rebuilt") };
        let ids = |tests: &[requirement::Located<vkcert_model::procedure::Test>]| -> Vec<_> {
            tests.iter().map(|test| test.id.to_string()).collect()
        };
        let project = &laid_out.project;
        assert_eq!(
            (ids(&project.left_out), ids(&project.tests)),
            (vec!["T1".into()], vec!["T2".into()])
        );
    }

    #[test]
    fn kernels_are_compiled_by_the_toolchain_that_made_them() {
        let evidence = honest();
        let compile = |toolchain: &OwnToolchain| rebuild_project(&evidence, None, toolchain);
        assert!(matches!(compile(&OwnToolchain { compiles: true }), RebuildOutcome::Whole(_)));
        let RebuildOutcome::Contradicting(problem) = compile(&OwnToolchain { compiles: false })
        else {
            panic!("what cannot be compiled contradicts the evidence")
        };
        assert_eq!(problem, "the stored inputs cannot be compiled: it is no kernel");
        let RebuildOutcome::ProjectAlone(_, reason) =
            rebuild_project(&evidence, None, &NoToolchain)
        else {
            panic!("there is no compiler")
        };
        let tool_version = &evidence.campaign.project.tool_version;
        assert_eq!(
            reason,
            format!(
                "what follows from the modules: \
                 they were made by vkcert {tool_version} with a compiler of GLSL"
            )
        );
    }

    #[test]
    fn include_folders_outside_of_the_project_are_not_read() {
        // From `unread` and `../nowhere` no file was read, so that they are not among the inputs.
        for (folder, is_outside) in
            [("inc", false), ("unread", false), ("..", true), ("../nowhere", true)]
        {
            let mut evidence = honest();
            let settings = format!("{}include = [\"{folder}\"]\n", PROJECT_FILES[0].1);
            replace_input(&mut evidence, "vkcert.toml", &settings);
            replace_input(&mut evidence, "inc/a.glsl", "");
            let expected_outcome = if is_outside {
                let reason = format!("the include folder `{folder}` is outside of the project");
                ("project alone", format!("what follows from the modules: {reason}"))
            } else {
                ("whole", String::new())
            };
            assert_eq!(outcome(&evidence, None), expected_outcome, "{folder}");
        }
    }

    #[test]
    fn what_was_rebuilt_decides_what_is_derived() {
        let evidence = honest();
        let in_part = verified(&evidence);
        assert_eq!(in_part.extent, DerivationExtent::WithoutModules);
        assert_eq!(in_part.status(), VerificationStatus::InPart);
        assert!(in_part.not_derivable[0].starts_with("what follows from the modules: "));
        let replay =
            VerificationOptions { replay: Replay::Sequential, ..VerificationOptions::default() };
        let told = "the tests cannot be replayed (see above)";
        assert_eq!(verified_with(&evidence, &replay).problems, [told]);
        let mut older = honest();
        older.inputs = None;
        let without_inputs = verified_with(&older, &replay);
        assert_eq!(without_inputs.extent, DerivationExtent::WithoutInputs);
        assert!(without_inputs.problems.contains(&told.to_owned()));
        let mut contradicting = honest();
        inputs(&mut contradicting).remove(KERNEL_PATH);
        let told = "the input glsl/guard.comp of the manifest is not stored";
        assert_eq!(verified(&contradicting).problems, [told]);
        let mut derived = Verification::default();
        let toolchain = OwnToolchain { compiles: true };
        let rebuilt = rebuild_project(&evidence, None, &toolchain);
        let options = VerificationOptions::default();
        crate::verify_contents(&evidence, &rebuilt, &options, &toolchain, &mut derived).unwrap();
        assert_eq!(derived.problems, ["derived by the toolchain"]);
        assert_eq!(derived.extent, DerivationExtent::Whole);
    }
}
