//! The small program as a process: what it prints where, and how it exits.

use serde_json::Value;
use std::fs::File;
use std::process::{Command, Output, Stdio};

const EVIDENCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/stored/format_2/evidence");

fn run(arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_vkcert-verify");
    Command::new(program).args(arguments).output().expect("the program starts")
}

fn exit_code(output: &Output) -> i32 {
    output.status.code().expect("no signal ends it")
}

/// The kind of the error that stdout holds as one JSON document.
fn error_kind(output: &Output) -> String {
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON and nothing else");
    document["error"]["kind"].as_str().expect("an error with a kind").to_owned()
}

#[test]
fn help_is_a_result_and_no_error() {
    for arguments in [["--help"].as_slice(), &["--format", "json", "--help"]] {
        let output = run(arguments);
        assert_eq!(exit_code(&output), 0);
        assert!(String::from_utf8_lossy(&output.stdout).contains("Usage: vkcert-verify"));
        assert!(output.stderr.is_empty());
    }
}

#[test]
fn stored_evidence_is_verified_in_both_forms() {
    let output = run(&["verify", EVIDENCE]);
    assert_eq!(exit_code(&output), 0);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.starts_with("result            verified in part, NOT as a whole"), "{text}");
    // Lines of a pipe are not wrapped.
    assert!(text.lines().any(|line| line.len() > 100), "{text}");
    let output = run(&["--format", "json", "verify", EVIDENCE]);
    assert_eq!(exit_code(&output), 0);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(document.get("error").is_none(), "{document}");
}

#[test]
fn a_wrong_command_line_is_told_as_json_where_that_is_asked_for() {
    for (arguments, is_json) in [
        (["verify", "--nope"].as_slice(), false),
        (&["--format", "text", "verify", "--nope"], false),
        (&["--color", "json", "verify", "--nope"], false),
        (&["--format", "json", "verify", "--nope"], true),
        (&["--format=json", "verify", "--nope"], true),
        (&["verify", "--nope", "--format", "json"], true),
    ] {
        let output = run(arguments);
        assert_eq!(exit_code(&output), 2, "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("Usage: "), "{arguments:?}");
        if is_json {
            assert_eq!(error_kind(&output), "usage", "{arguments:?}");
            // One line: the usage stands on stderr alone.
            let document: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(document["error"]["message"], "unexpected argument '--nope' found");
        } else {
            assert!(output.stdout.is_empty(), "{arguments:?}");
        }
    }
}

#[test]
fn evidence_that_is_not_there_is_told_on_both_channels() {
    let missing = "/nonexistent/evidence";
    let in_text = run(&["verify", missing]);
    assert!(exit_code(&in_text) > 1);
    assert!(in_text.stdout.is_empty());
    assert!(String::from_utf8_lossy(&in_text.stderr).contains(missing));
    let in_json = run(&["--format", "json", "verify", missing]);
    assert_eq!(exit_code(&in_json), exit_code(&in_text));
    assert!(!error_kind(&in_json).is_empty());
    assert!(String::from_utf8_lossy(&in_json.stderr).contains(missing));
}

#[test]
fn a_report_goes_to_stdout_or_to_a_file_and_json_says_which() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report");
    let file_name = file.to_str().unwrap();
    for (report_format, first_bytes) in [("html", "<!DOCTYPE html>"), ("json", "{")] {
        let report = ["report", EVIDENCE, "--report-format", report_format];
        let printed = run(&report);
        assert_eq!(exit_code(&printed), 0);
        assert!(printed.stdout.starts_with(first_bytes.as_bytes()), "{report_format}");

        let written = run(&[report.as_slice(), &["--output", file_name]].concat());
        assert_eq!(exit_code(&written), 0);
        assert!(written.stdout.is_empty(), "{report_format}");
        assert_eq!(std::fs::read(&file).unwrap(), printed.stdout, "{report_format}");

        let summary_of = |output: &Output| -> Value {
            serde_json::from_slice(&output.stdout).expect("one JSON document")
        };
        let written = run(&[["--format", "json"].as_slice(), &report, &["-o", file_name]].concat());
        assert_ne!(summary_of(&written), Value::Null);
        assert_ne!(written.stdout, printed.stdout);
        let summarised = run(&[["--format", "json"].as_slice(), &report].concat());
        match report_format {
            "json" => assert_eq!(summarised.stdout, printed.stdout),
            _ => assert!(summary_of(&summarised).is_object()),
        }
    }
}

#[test]
fn a_report_is_written_into_the_folder_that_the_program_runs_in() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_vkcert-verify"))
        .current_dir(folder.path())
        .args(["report", EVIDENCE, "--report-format", "json", "--output", "report.json"])
        .output()
        .expect("the program starts");
    assert_eq!(exit_code(&output), 0, "{}", String::from_utf8_lossy(&output.stderr));
    assert!(folder.path().join("report.json").is_file());
}

#[test]
fn a_reader_who_leaves_is_no_failure_and_a_full_disk_is_one() {
    let report = ["report", EVIDENCE, "--report-format", "json"];
    let mut child = Command::new(env!("CARGO_BIN_EXE_vkcert-verify"))
        .args(report)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(exit_code(&output), 0);
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));

    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_vkcert-verify"))
        .args(report)
        .stdout(full)
        .output()
        .expect("the program starts");
    assert_eq!(exit_code(&output), 3);
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write to stdout"));
}
