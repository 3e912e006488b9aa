//! Evidence held against the files of a project: inputs, includes and modules on disk.

use super::{headline, honest, of_another_compiler};
use crate::campaign::project::module_bytes;
use crate::campaign::verification::Compiling;
use crate::cli::verify::compiled::verify_folder;
use crate::cli::verify::forgery::{PROJECT, PROJECT_FILES, certified_folder, repository_root};
use crate::model::evidence::Evidence;
use crate::verify::{
    ProjectCheck, RebuildOutcome, Verification, VerificationOptions, folder, sources, telling,
};
use serde_json::Value;

#[test]
fn files_of_another_project_are_not_blamed_on_the_records() {
    let (kept, _) = certified_folder();
    let elsewhere = tempfile::tempdir().unwrap();
    for path in PROJECT_FILES {
        let copy = elsewhere.path().join(path);
        std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
        std::fs::copy(repository_root().join(PROJECT).join(path), copy).unwrap();
    }
    std::fs::write(elsewhere.path().join("data/expected.bin"), "another").unwrap();
    let options = VerificationOptions {
        project: Some(elsewhere.path().to_owned()),
        ..VerificationOptions::default()
    };
    let found = verify_folder(&kept.path().join("reports/evidence"), &options).unwrap().0;
    let of_project = |problem: &String| problem.contains(&*elsewhere.path().to_string_lossy());
    assert!(
        !found.problems.is_empty() && found.problems.iter().all(of_project),
        "{:?}",
        found.problems
    );
    let line = headline(&found);
    assert!(
        line.starts_with("NOT verified: ") && line.ends_with("statements do not hold"),
        "{line}"
    );
}

/// What verifies says what it was held against, and how much of that was compared.
#[test]
fn a_verification_says_what_it_was_held_against() {
    let (kept, read) = certified_folder();
    let path = kept.path().join("reports/evidence");
    let count = folder::examine_files(&read).unwrap().evidence.unwrap().manifest.inputs.len();
    let project = repository_root().join(PROJECT);
    let told = |options: &VerificationOptions| {
        let found = verify_folder(&path, options).unwrap().0;
        (telling::in_words(&found), telling::json_document(&found))
    };
    let line = |text: &str, label: &str| {
        let found = text.lines().find(|line| line.starts_with(&format!("{label:<18}")));
        found.map(|line| line[18..].to_owned()).unwrap_or_default()
    };
    let (bare, document) = told(&VerificationOptions::default());
    assert_eq!((line(&bare, "project"), line(&bare, "root given")), (String::new(), String::new()));
    assert_eq!(document["project"], Value::Null);
    let (same, document) = told(&VerificationOptions {
        project: Some(project.clone()),
        ..VerificationOptions::default()
    });
    let due = format!(
        "all {count} input files of the evidence have the same SHA-256 in `{}`",
        project.display()
    );
    assert!(line(&same, "project").starts_with(&due), "{same}");
    let due = "; it has no requirement file that the run did not read; \
               1 of its 1 kernel includes the same files, 1 of 1 compile to the same production module";
    assert!(line(&same, "project").ends_with(due), "{same}");
    let numbers = serde_json::json!({
        "folder": project.display().to_string(), "inputs": count, "same": count, "unread_requirement_files": 0,
        "kernels": { "compiled": 1, "same_files": 1, "same_modules": 1 },
    });
    assert_eq!(document["project"], numbers);
    let (of_evidence, _) =
        told(&VerificationOptions { root: Some(read.root()), ..VerificationOptions::default() });
    let given = line(&of_evidence, "root given");
    assert!(
        given.contains(&read.root()) && given.contains("is that of the manifest"),
        "{of_evidence}"
    );
    let (of_both, _) =
        told(&VerificationOptions { root: read.list_hash(), ..VerificationOptions::default() });
    assert!(
        line(&of_both, "root given").contains("is that of the report list, which holds the root"),
        "{of_both}"
    );
    let (of_none, _) =
        told(&VerificationOptions { root: Some("0".repeat(64)), ..VerificationOptions::default() });
    assert!(line(&of_none, "root given").contains("is neither"), "{of_none}");
    // Files that differ are counted as such.
    let other = tempfile::tempdir().unwrap();
    std::fs::create_dir(other.path().join("requirements")).unwrap();
    std::fs::write(other.path().join("requirements/more.toml"), "schema = 1\n").unwrap();
    let (different, document) = told(&VerificationOptions {
        project: Some(other.path().to_owned()),
        ..VerificationOptions::default()
    });
    let due = format!(
        "0 of {count} input files of the evidence have the same SHA-256 in `{}`",
        other.path().display()
    );
    assert!(line(&different, "project").starts_with(&due), "{different}");
    let due = "; 1 requirement file there was not read by the run; \
               its kernels were not compared: its files are not those of the evidence";
    assert!(line(&different, "project").ends_with(due), "{different}");
    assert_eq!(document["project"]["kernels"], Value::Null);
    assert_eq!(
        (&document["project"]["same"], &document["project"]["unread_requirement_files"]),
        (&0.into(), &1.into())
    );
}

/// A copy of the project in a folder of its own.
fn copied_project() -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for entry in walkdir::WalkDir::new(repository_root().join(PROJECT)) {
        let entry = entry.unwrap();
        let target =
            copy.path().join(entry.path().strip_prefix(repository_root().join(PROJECT)).unwrap());
        match entry.file_type().is_dir() {
            true => std::fs::create_dir_all(target).unwrap(),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
    copy
}

/// Evidence that is held against a project to which files were added.
fn held_against(evidence: &Evidence, added: &[(&str, &[u8])]) -> Verification {
    let copy = copied_project();
    for (path, bytes) in added {
        std::fs::create_dir_all(copy.path().join(path).parent().unwrap()).unwrap();
        std::fs::write(copy.path().join(path), bytes).unwrap();
    }
    let mut found = Verification::default();
    let compared =
        sources::compare_sources(evidence, copy.path(), &Compiling::default(), &mut found).unwrap();
    assert_eq!(compared.same_files, compared.input_count);
    found.project = ProjectCheck::Compared(compared);
    found
}

/// Every input is as it was, and a kernel is another one all the same.
#[test]
fn a_file_that_comes_in_before_an_include_is_found() {
    let (evidence, _) = honest();
    assert_eq!(held_against(&evidence, &[]).problems, Vec::<String>::new());
    let header = std::fs::read(repository_root().join(PROJECT).join("inc/scaled.glsl")).unwrap();
    let other =
        String::from_utf8(header.clone()).unwrap().replace("return", "return 1u +").into_bytes();
    // The module names its files.
    for shadow in [header, other] {
        let found = held_against(&evidence, &[("glsl/scaled.glsl", &shadow)]);
        let told = |words: &str| found.problems.iter().any(|problem| problem.contains(words));
        assert!(
            told("its includes lead to glsl/scaled.glsl instead of inc/scaled.glsl"),
            "{:?}",
            found.problems
        );
        assert!(told("glsl/scaled.glsl is in "), "{:?}", found.problems);
        assert!(told("compiles to another production module"), "{:?}", found.problems);
        let none = serde_json::json!({ "compiled": 1, "same_files": 0, "same_modules": 0 });
        assert_eq!(telling::json_document(&found)["project"]["kernels"], none);
    }
}

#[test]
fn a_module_on_disk_may_come_in_if_it_is_what_is_compiled() {
    let (evidence, rebuilt) = honest();
    let RebuildOutcome::Whole(rebuilt) = rebuilt else {
        panic!("the kernels are compiled by this program")
    };
    let module = module_bytes(&rebuilt.kernels[0].production);
    assert_eq!(
        held_against(&evidence, &[("spirv/scale.spv", &module)]).problems,
        Vec::<String>::new()
    );
    let stale = held_against(&evidence, &[("spirv/scale.spv", &module[4..])]);
    assert_eq!(stale.problems.len(), 1, "{:?}", stale.problems);
    assert!(
        stale.problems[0].ends_with("and it is not what its kernel compiles to"),
        "{:?}",
        stale.problems
    );
}

#[test]
fn modules_of_another_compiler_are_not_compared_and_includes_are() {
    let (evidence, _) = honest();
    let mut other = of_another_compiler(&evidence);
    other.kernels.iter_mut().for_each(|row| row.modules.production = "0".to_owned());
    let found = held_against(&other, &[]);
    assert_eq!(found.problems, Vec::<String>::new());
    let words = telling::in_words(&found);
    assert!(
        words.contains("includes the same files; production modules were not compared: vkcert"),
        "{words}"
    );
    assert_eq!(telling::json_document(&found)["project"]["kernels"]["same_modules"], Value::Null);
    let shadowed =
        held_against(&other, &[("glsl/scaled.glsl", b"uint scaled(uint a, uint b) { return a; }")]);
    assert!(
        shadowed.problems.iter().any(|problem| problem.contains("its includes lead to")),
        "{shadowed:?}"
    );
}
