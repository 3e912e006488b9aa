//! Coupling checks by files: each folder of `tests/filetests/coupling/` holds a kernel and
//! interfaces for it, and each interface says in `#!` lines which checks do not hold. The program
//! checks them as a user would.

use crate::support::{root, vkcert, write};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A row that does not hold: status, check, and what its message has in it.
#[derive(Debug, PartialEq, Eq)]
struct OpenRow {
    status: String,
    check: String,
    message: String,
}

fn folders() -> Vec<PathBuf> {
    let listed = std::fs::read_dir(root().join("tests/filetests/coupling")).expect("readable");
    let mut folders: Vec<PathBuf> = listed.map(|entry| entry.expect("readable").path()).collect();
    folders.sort();
    folders
}

fn files_of(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = walkdir::WalkDir::new(folder)
        .into_iter()
        .map(|entry| entry.expect("readable").into_path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    files
}

/// A project with the files of a folder and one of its interfaces. Where the host has pipelines, the
/// production module is built, which they are made of.
fn project_of(folder: &Path, interface: &Path) -> tempfile::TempDir {
    let project = tempfile::tempdir().expect("a temporary folder");
    let settings = "schema = 1\nname = \"Coupling\"\nlevel = \"A\"\n\n[[kernel]]\nname = \"k\"\n\
                    source = \"kernel.comp\"\n";
    write(project.path(), "vkcert.toml", settings);
    let text = std::fs::read_to_string(interface).expect("readable");
    write(project.path(), "requirements/interface.toml", format!("schema = 1\n{text}"));
    for file in files_of(folder).iter().filter(|file| file.extension() != Some("toml".as_ref())) {
        let name = file.strip_prefix(folder).expect("in the folder").to_str().expect("UTF-8");
        write(project.path(), name, std::fs::read(file).expect("readable"));
    }
    if text.contains("[[interface.pipeline]]") {
        let built = vkcert().arg("build").arg(project.path()).output().expect("the program starts");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    }
    project
}

fn stated_rows(interface: &Path) -> Vec<OpenRow> {
    let text = std::fs::read_to_string(interface).expect("readable");
    let stated = text.lines().filter_map(|line| line.strip_prefix("#! "));
    stated
        .map(|line| {
            let mut words = line.splitn(3, ' ').map(str::to_owned);
            let mut next = || words.next().expect("status, check and message");
            OpenRow { status: next(), check: next(), message: next() }
        })
        .collect()
}

/// All rows that do not hold; those of index bounds have tests of their own, and kernels here have
/// no guards.
fn open_rows(document: &Value) -> Vec<OpenRow> {
    let kernels = document["kernels"].as_array().expect("kernels");
    let checks = kernels.iter().flat_map(|kernel| kernel["checks"].as_array().expect("checks"));
    let text = |check: &Value, key: &str| check[key].as_str().expect("text").to_owned();
    checks
        .map(|check| OpenRow {
            status: text(check, "status"),
            check: text(check, "check"),
            message: text(check, "message"),
        })
        .filter(|row| row.status != "holds")
        .collect()
}

#[test]
fn each_interface_has_the_open_checks_that_it_states() {
    let mut faults = Vec::new();
    let mut interface_count = 0;
    for folder in folders() {
        let is_interface = |file: &&PathBuf| file.extension() == Some("toml".as_ref());
        let files = files_of(&folder);
        let interfaces: Vec<&PathBuf> = files.iter().filter(is_interface).collect();
        let stated: Vec<Vec<OpenRow>> = interfaces.iter().map(|file| stated_rows(file)).collect();
        assert!(stated.iter().any(Vec::is_empty), "{folder:?} has no interface that holds");
        assert!(!stated.iter().all(Vec::is_empty), "{folder:?} has no interface that fails");
        for (interface, stated) in interfaces.into_iter().zip(stated) {
            let project = project_of(&folder, interface);
            let options = ["--engine", "sequential", "--format", "json"];
            let output = vkcert().arg("couple").arg(project.path()).args(options).output();
            let output = output.expect("the program starts");
            let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
            let mut open = open_rows(&document);
            let exit = i32::from(!open.is_empty());
            assert_eq!(output.status.code(), Some(exit), "{}", interface.display());
            // Of these, what an interface states: most are about something else.
            let states_order = stated.iter().any(|row| row.check == "barrier-order");
            open.retain(|row| row.check != "index-bounds");
            open.retain(|row| row.check != "barrier-order" || states_order);
            let agrees = open.len() == stated.len()
                && open.iter().zip(&stated).all(|(open, stated)| {
                    (&open.status, &open.check) == (&stated.status, &stated.check)
                        && open.message.contains(&stated.message)
                });
            if !agrees {
                faults.push(format!("{}: {open:#?}", interface.display()));
            }
            interface_count += 1;
        }
    }
    assert!(interface_count > 20, "{interface_count}");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
