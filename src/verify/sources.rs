//! `vkcert verify --project DIR`: the inputs of evidence against the files of a project, and its
//! kernels, compiled there.
//!
//! Promises: each input is compared; where all are the same, the toolchain compiles every kernel in
//! the project.
//! Does not cover: production modules on disk that already differed from their sources during the
//! run, because the evidence has a finding for them.

use super::{ComparedFiles, KernelCheck, Toolchain, Verification, VerifyError};
use std::path::Path;
use vkcert_model::canonical::sha256_digits;
use vkcert_model::evidence::Evidence;
use vkcert_requirement::requirement_files;

/// Notes as problems: inputs that are missing in `project` or have other contents there, files that
/// a run there would read and this one did not, and kernels that differ. Returns how many were
/// compared.
pub fn compare_sources(
    stored: &Evidence,
    project: &Path,
    toolchain: &impl Toolchain,
    verification: &mut Verification,
) -> Result<ComparedFiles, VerifyError> {
    let inputs = &stored.manifest.inputs;
    let mut compared_files = ComparedFiles {
        input_count: inputs.len(),
        folder_name: project.display().to_string(),
        ..ComparedFiles::default()
    };
    let folder_name = &compared_files.folder_name;
    for (path, hash) in inputs {
        verification.checked += 1;
        match std::fs::read(project.join(path)) {
            Ok(bytes) if sha256_digits(&bytes) == *hash => compared_files.same_files += 1,
            Ok(_) => verification
                .problems
                .push(format!("{path} in {folder_name} is not the input: it has another SHA-256")),
            Err(error) => verification
                .problems
                .push(format!("{path} is an input, and in {folder_name}: {error}")),
        }
    }
    for path in requirement_files(project)? {
        let was_read = inputs.contains_key(&path);
        compared_files.unread_files += usize::from(!was_read);
        verification
            .check(was_read, || format!("{path} is in {folder_name}, and the run did not read it"));
    }
    compared_files.kernels = if compared_files.same_files < compared_files.input_count
        || compared_files.unread_files > 0
    {
        KernelCheck::NotCompared { reason: "its files are not those of the evidence".to_owned() }
    } else {
        toolchain.compare_kernels(stored, project, verification)
    };
    Ok(compared_files)
}

#[cfg(test)]
mod tests {
    use super::compare_sources;
    use crate::honest::{KERNEL_PATH, PROJECT_FILES, honest, write_project};
    use crate::{ComparedFiles, KernelCheck, NoToolchain, Verification};
    use std::path::Path;

    fn compared(change: impl FnOnce(&Path)) -> (ComparedFiles, Verification, String) {
        let folder = tempfile::tempdir().unwrap();
        write_project(folder.path());
        change(folder.path());
        let mut verification = Verification { checked: 10, ..Verification::default() };
        let compared_files =
            compare_sources(&honest(), folder.path(), &NoToolchain, &mut verification).unwrap();
        let name = folder.path().display().to_string();
        assert_eq!(compared_files.folder_name, name);
        assert_eq!(compared_files.input_count, PROJECT_FILES.len());
        (compared_files, verification, name)
    }

    fn reason(compared_files: &ComparedFiles) -> &str {
        match &compared_files.kernels {
            KernelCheck::NotCompared { reason } => reason,
            KernelCheck::Compared(_) => panic!("there is no compiler"),
        }
    }

    #[test]
    fn the_files_of_the_project_are_the_inputs() {
        let (compared_files, verification, _) = compared(|_| {});
        assert_eq!((compared_files.same_files, compared_files.unread_files), (3, 0));
        assert_eq!(verification.problems, Vec::<String>::new());
        // Three inputs and one requirement file.
        assert_eq!(verification.checked, 14);
        assert!(reason(&compared_files).starts_with("they were made by vkcert "));
    }

    #[test]
    fn a_file_of_another_content_and_one_that_is_gone_are_told() {
        let (compared_files, verification, name) =
            compared(|folder| std::fs::write(folder.join(KERNEL_PATH), "void main() {}").unwrap());
        assert_eq!(compared_files.same_files, 2);
        let told = format!("glsl/guard.comp in {name} is not the input: it has another SHA-256");
        assert_eq!(verification.problems, [told]);
        assert_eq!(reason(&compared_files), "its files are not those of the evidence");
        let (compared_files, verification, name) =
            compared(|folder| std::fs::remove_file(folder.join(KERNEL_PATH)).unwrap());
        assert_eq!(compared_files.same_files, 2);
        let told = format!("glsl/guard.comp is an input, and in {name}: ");
        assert!(verification.problems[0].starts_with(&told), "{:?}", verification.problems);
        assert_eq!(verification.problems.len(), 1);
        assert_eq!(reason(&compared_files), "its files are not those of the evidence");
    }

    #[test]
    fn a_requirement_file_that_the_run_did_not_read_is_told() {
        let (compared_files, verification, name) = compared(|folder| {
            for file in ["requirements/a.toml", "requirements/b.toml"] {
                std::fs::write(folder.join(file), "schema = 1\n").unwrap();
            }
        });
        assert_eq!((compared_files.same_files, compared_files.unread_files), (3, 2));
        let told = ["a", "b"].map(|file| {
            format!("requirements/{file}.toml is in {name}, and the run did not read it")
        });
        assert_eq!(verification.problems, told);
        assert_eq!(reason(&compared_files), "its files are not those of the evidence");
    }
}
