//! What several test programs share: starting the built program, temporary folders, JSON results.

#![allow(dead_code)]

pub(crate) mod captured_host;
pub(crate) mod random_kernel;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The program under test.
pub(crate) fn vkcert() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vkcert"));
    command.env_remove("NO_COLOR").env_remove("SOURCE_DATE_EPOCH").stdin(Stdio::null());
    // What one test leaves behind decides nothing in another.
    command.env("VKCERT_CACHE", "off");
    command
}

/// The command that certifies a project on the sequential engine, so that nothing depends on whether
/// the machine has a device.
pub(crate) fn certify_sequentially(project: &Path, reports: &Path) -> Command {
    let mut command = vkcert();
    command.arg("certify").arg(project).arg("--out").arg(reports);
    command.args(["--engine", "sequential"]);
    command
}

/// Without any Vulkan driver, whatever the machine has.
pub(crate) fn without_driver(command: &mut Command) -> &mut Command {
    command
        .env("VK_DRIVER_FILES", "/nonexistent/icd.json")
        .env("VK_ICD_FILENAMES", "/nonexistent/icd.json")
}

/// Repository root.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Runs to the end and asserts the exit code, showing everything where it is another.
pub(crate) fn run(command: &mut Command, exit: i32) -> Output {
    let output = command.output().expect("the program starts");
    assert_eq!(
        output.status.code(),
        Some(exit),
        "{command:?}\n--- stdout\n{}\n--- stderr\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// Runs with `--format json` and parses the one document on stdout.
pub(crate) fn run_json(command: &mut Command, exit: i32) -> serde_json::Value {
    let output = run(command.args(["--format", "json"]), exit);
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stdout)))
}

/// Puts other words in place of the first that are so in a file.
pub(crate) fn replace_in(path: &Path, words: &str, others: &str) {
    let before = std::fs::read_to_string(path).unwrap();
    assert!(before.contains(words), "{}: {words}", path.display());
    std::fs::write(path, before.replacen(words, others, 1)).unwrap();
}

/// Writes a file into a folder, making folders on the way.
pub(crate) fn write(folder: &Path, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, contents).unwrap();
    path
}

/// Copies a folder tree.
pub(crate) fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_tree(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}

/// Changes a file of an evidence folder and makes its hash in the manifest right again, as whoever
/// forges evidence would.
pub(crate) fn forge(evidence: &Path, name: &str, change: impl FnOnce(&mut serde_json::Value)) {
    use sha2::Digest;
    let read = |name: &str| -> serde_json::Value {
        serde_json::from_slice(&std::fs::read(evidence.join(name)).unwrap()).unwrap()
    };
    let mut value = read(name);
    change(&mut value);
    let text = format!("{value:#}\n");
    write(evidence, name, &text);
    let mut manifest = read("manifest.json");
    let hash: String =
        sha2::Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    manifest["outputs"][name] = hash.into();
    write(evidence, "manifest.json", format!("{manifest:#}\n"));
}

/// What a run wrote, by path in its section, but for what tells where it was made.
pub(crate) fn result_files(reports: &Path) -> BTreeMap<String, Vec<u8>> {
    let latest = reports.join("latest");
    walkdir::WalkDir::new(&latest)
        .into_iter()
        .map(Result::unwrap)
        .filter(|entry| entry.file_type().is_file() && entry.file_name() != "provenance.json")
        .map(|entry| {
            let name = entry.path().strip_prefix(&latest).unwrap().display().to_string();
            (name, std::fs::read(entry.path()).unwrap())
        })
        .collect()
}

/// Two runs wrote the same.
pub(crate) fn assert_same_results(left: &Path, right: &Path) {
    let (left, right) = (result_files(left), result_files(right));
    assert!(left.keys().eq(right.keys()), "{:?} {:?}", left.keys(), right.keys());
    for (name, bytes) in &left {
        assert!(bytes == &right[name], "{name} differs");
    }
}

/// What `provenance.json` of a run or merge tells.
pub(crate) fn provenance(reports: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(reports.join("provenance.json")).unwrap()).unwrap()
}

/// How many are counted as taken from a cache: of results, `provenance(..)["reuse"]`; of kernels, its
/// member `kernels`.
pub(crate) fn reused_count(told: &serde_json::Value) -> u64 {
    told["reused"].as_array().unwrap().iter().map(|row| row["count"].as_u64().unwrap()).sum()
}
