//! `certify --events`: what a run does, line by line.

use crate::support::{certify_sequentially, root, run, vkcert, write};
use serde_json::Value;
use std::path::Path;

fn events(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.ends_with('\n'), "the last line is whole");
    text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

fn names(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["event"].as_str().expect("a name")).collect()
}

#[test]
fn a_run_is_told_from_its_start_to_its_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("events.jsonl");
    let project = root().join("tests/projects/failing");
    let mut certify = certify_sequentially(&project, &folder.path().join("reports"));
    run(certify.arg("--events").arg(&file), 1);
    let events = events(&file);
    let tests = events[0]["tests"].as_u64().expect("a count") as usize;
    assert_eq!(names(&events[..2]), ["started", "prepared"]);
    assert_eq!(events[1]["runs"], tests);
    let of_name = |name: &str| -> Vec<&Value> {
        events.iter().filter(|event| event["event"] == name).collect()
    };
    let finished_tests = of_name("test-finished");
    assert_eq!((of_name("test-started").len(), finished_tests.len()), (tests, tests));
    assert!(finished_tests.iter().any(|event| event["verdict"] == "fail"), "{events:#?}");
    let last = finished_tests.last().unwrap();
    assert_eq!((&last["done"], &last["seconds_left"]), (&last["runs"], &serde_json::json!(0.0)));
    let kernels = of_name("kernel-finished");
    let last_kernel = kernels.last().unwrap();
    assert_eq!(last_kernel["done"], last_kernel["kernels"]);
    assert_eq!(last_kernel["seconds_left"], 0.0);
    assert_eq!(of_name("tests-ended")[0]["done"], tests);
    assert_eq!(names(&events[events.len() - 2..]), ["written", "finished"]);
    assert_eq!(events.last().unwrap()["exit_code"], 1);
    let seconds: Vec<f64> =
        events.iter().map(|event| event["seconds"].as_f64().expect("a time")).collect();
    assert!(seconds.is_sorted(), "{seconds:?}");
    let root = run(vkcert().arg("verify").arg(folder.path().join("reports/evidence")), 0);
    let told = String::from_utf8(root.stdout).unwrap();
    let written = of_name("written")[0]["root"].as_str().unwrap();
    assert!(told.contains(written), "{told}");
}

#[test]
fn a_run_without_a_result_is_told_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("events.jsonl");
    write(folder.path(), "project/vkcert.toml", "schema = 1\nname = \"Broken\"\nlevel = \"Q\"\n");
    let mut certify =
        certify_sequentially(&folder.path().join("project"), &folder.path().join("reports"));
    run(certify.arg("--events").arg(&file), 2);
    let events = events(&file);
    assert_eq!(names(&events), ["failed"]);
    assert_eq!(events[0]["exit_code"], 2);
    assert!(!events[0]["message"].as_str().unwrap().is_empty());
}

#[test]
fn a_file_that_cannot_be_made_stops_the_run_and_a_full_one_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let project = root().join("tests/projects/minimal");
    let reports = folder.path().join("reports");
    let mut certify = certify_sequentially(&project, &reports);
    run(certify.args(["--events", "no/such/folder/events"]), 3);
    assert!(!reports.exists());
    let mut certify = certify_sequentially(&project, &reports);
    let output = run(certify.args(["--events", "/dev/full"]), 0);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(told.matches("no more events are written").count(), 1, "{told}");
}

/// A log without a terminal: a line per test and per kernel, where they are asked for.
#[test]
fn kernels_are_told_line_by_line_where_lines_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let project = root().join("tests/projects/minimal");
    let mut certify = certify_sequentially(&project, &folder.path().join("reports"));
    let told = String::from_utf8(run(certify.arg("-v"), 0).stderr).unwrap();
    assert!(told.contains("kernel double: 1 of 1 runs passed (1 of 1 kernels)"), "{told}");
    let project = folder.path().join("project");
    crate::many_kernels::write_project(&project, 3);
    let mut certify = certify_sequentially(&project, &folder.path().join("reports"));
    let told = String::from_utf8(run(certify.arg("-v"), 0).stderr).unwrap();
    let lines: Vec<&str> = told.lines().filter(|line| line.starts_with("kernel ")).collect();
    assert_eq!(lines.len(), 3, "{told}");
    assert!(lines[..2].iter().all(|line| line.contains(" s left)")), "{lines:?}");
}
