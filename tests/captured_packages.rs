//! Programs of other people that are captured as their users get them: packages of the Python
//! package index, with a small script of ours that checks its own result.
//!
//! Needs Python with `venv` and `pip`, the package index and a Vulkan device. Without them a test
//! says by name that it did not run.

use crate::support;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use support::{root, run_json, vkcert};

/// A Python environment of its own in a folder that goes away.
struct Environment {
    folder: tempfile::TempDir,
    python: PathBuf,
    script: PathBuf,
}

/// What a command says on stderr where it fails, or why it does not start.
fn finished(command: &mut Command) -> Result<Output, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(output);
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}: {}\n{stderr}", output.status))
}

/// Installs a package; in words why it cannot be installed.
fn environment(package: &str, script: &str) -> Result<Environment, String> {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("environment");
    finished(Command::new("python3").args(["-m", "venv"]).arg(&place))?;
    let python = place.join("bin/python");
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", package]);
    finished(&mut install)?;
    let script = root().join("tests/capture").join(script);
    Ok(Environment { folder, python, script })
}

/// Captures a script that ends with 0 where its result is right, and holds its output against that
/// of the script alone. Gives the summary of the capture and its checks; nothing where the package
/// or a device is missing, which is told.
fn captured_package(package: &str, script: &str) -> Option<(Value, Value)> {
    let environment = match environment(package, script) {
        Ok(environment) => environment,
        Err(missing) => {
            eprintln!("NOT RUN: {package}: {missing}");
            return None;
        }
    };
    let folder = environment.folder.path();
    let in_folder = |mut command: Command| {
        command.current_dir(folder);
        command
    };
    let mut script_alone = in_folder(Command::new(&environment.python));
    let alone = script_alone.arg(&environment.script).output().unwrap();
    if alone.status.code() == Some(69) {
        assert!(std::env::var_os("VKCERT_REQUIRE_VULKAN").is_none(), "{package}: no device");
        eprintln!("NOT RUN: {package}: no Vulkan device");
        return None;
    }
    let stderr = String::from_utf8_lossy(&alone.stderr);
    assert!(alone.status.success(), "{package} alone: {}\n{stderr}", alone.status);

    let file = folder.join("package.capture");
    let mut command = in_folder(vkcert());
    command.args(["capture", "--output"]).arg(&file).arg("--");
    let captured = finished(command.arg(&environment.python).arg(&environment.script)).unwrap();
    assert_eq!(captured.stdout, alone.stdout, "{package}: its output is its own");
    let checked = shown_and_checked(&file);

    let file = folder.join("contents.capture");
    let mut command = in_folder(vkcert());
    command.args(["capture", "--contents", "--output"]).arg(&file).arg("--");
    let captured = finished(command.arg(&environment.python).arg(&environment.script)).unwrap();
    assert_eq!(captured.stdout, alone.stdout, "{package}: its output is its own with contents");
    run_with_known_contents(&file);
    Some(checked)
}

/// Each dispatch is a procedure of which everything is known, and runs as it was.
fn run_with_known_contents(file: &Path) {
    let (_, checked) = shown_and_checked(file);
    for number in 1..=checked["capture"]["dispatches"].as_u64().unwrap() {
        let mut command = vkcert();
        command.args(["capture", "--procedure"]).arg(file);
        let output = finished(command.args(["--dispatch", &number.to_string()])).unwrap();
        let remarks = String::from_utf8(output.stderr).unwrap();
        assert!(!remarks.contains("not in the capture"), "dispatch {number}: {remarks}");
        let mut command = vkcert();
        command.args(["run"]).arg(file).args(["--dispatch", &number.to_string()]);
        let result = run_json(&mut command, 0);
        assert_eq!(result["tests"][0]["verdict"], "pass", "dispatch {number}: {result:#}");
    }
}

/// The summary of a capture and its checks, of which none is refuted.
fn shown_and_checked(file: &Path) -> (Value, Value) {
    let mut command = vkcert();
    command.args(["--format", "json", "capture", "--check"]).arg(file);
    let checked: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
    let shown = run_json(vkcert().args(["capture", "--show"]).arg(file), 0);
    let rows = checked["checks"].as_array().unwrap();
    assert!(rows.len() > 10, "{checked:#}");
    for row in rows {
        assert_ne!(row["status"], "refuted", "{row:#}");
        let is_complete = row["check"] != "capture-complete" || row["status"] == "holds";
        assert!(is_complete, "{row:#}");
    }
    assert_eq!(checked["capture"]["incomplete"], Value::Null);
    (shown, checked)
}

/// The one row of a check.
fn status_of<'a>(checked: &'a Value, check: &str) -> &'a str {
    let rows = checked["checks"].as_array().unwrap().iter();
    let mut rows = rows.filter(|row| row["check"] == check);
    let status = rows.next().unwrap()["status"].as_str().unwrap();
    assert!(rows.next().is_none(), "{check} has one row");
    status
}

#[test]
#[ignore = "installs a package from the network"]
fn a_network_of_ncnn_runs_as_before_and_is_right() {
    let Some((shown, checked)) = captured_package("ncnn", "ncnn_network.py") else { return };
    let dispatches = checked["capture"]["dispatches"].as_u64().unwrap();
    eprintln!("ncnn: {dispatches} dispatches");
    // How the two layers are packed and merged is a matter of the version.
    assert!((1..=8).contains(&dispatches), "{shown:#}");
    assert_eq!(status_of(&checked, "device-dependency"), "holds");
    assert_eq!(status_of(&checked, "push-constants"), "holds");
}

#[test]
#[ignore = "installs a package from the network"]
fn a_compute_pass_of_wgpu_runs_as_before_and_is_right() {
    let Some((_, checked)) = captured_package("wgpu", "wgpu_pass.py") else { return };
    assert_eq!(checked["capture"]["dispatches"], 2);
    assert_eq!(status_of(&checked, "device-dependency"), "holds");
    assert_eq!(status_of(&checked, "binding-size"), "holds");
}
