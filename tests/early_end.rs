//! Runs that end before all their tests have begun: nothing is said of what did not begin, the rest is written, and a later run
//! goes on from there.

use crate::support::{
    assert_same_results, provenance, result_files, reused_count, run, run_json, vkcert, write,
};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

const KERNEL: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, set = 0, binding = 0) buffer Values { uint values[]; };
layout(push_constant) uniform Parameters { uint rounds; };
void main() {
    uint value = values[gl_GlobalInvocationID.x];
    for (uint round = 0u; round < rounds; round++) {
        value = value * 1664525u + 1013904223u;
    }
    values[gl_GlobalInvocationID.x] = value;
}
";

/// What a kernel leaves of a value.
fn stirred(value: u32, rounds: u32) -> u32 {
    (0..rounds).fold(value, |value, _| value.wrapping_mul(1_664_525).wrapping_add(1_013_904_223))
}

/// A test of a project: how long it takes, and whether it passes.
struct StirringTest {
    rounds: u32,
    passes: bool,
}

/// A project whose tests have the ids `TC-0`, `TC-1` ..., each of a requirement of its own.
fn write_project(folder: &Path, tests: &[StirringTest]) -> PathBuf {
    let project = folder.join("project");
    write(&project, "glsl/stir.comp", KERNEL);
    let settings = "schema = 1\nname = \"Stirring\"\nlevel = \"D\"\ncriteria = [\"statement\"]\n\
                    [[kernel]]\nname = \"stir\"\nsource = \"glsl/stir.comp\"\n";
    write(&project, "vkcert.toml", settings);
    let mut text = "schema = 1\n".to_owned();
    for (number, StirringTest { rounds, passes }) in tests.iter().enumerate() {
        let mut values: Vec<u32> = (1..=4).map(|value| stirred(value, *rounds)).collect();
        values[3] = if *passes { values[3] } else { !values[3] };
        text.push_str(&format!(
            "[[requirement]]\nuid = \"LLR-{number}\"\nlevel = \"LLR\"\ntitle = \"Stirring\"\n\
             statement = \"The kernel shall stir values {rounds} times.\"\nverification = [\"test\"]\n\
             derived = true\nsafety_rationale = \"None.\"\n\
             [[test]]\nid = \"TC-{number}\"\nrequirements = [\"LLR-{number}\"]\n\
             [test.buffers]\nvalues = {{ type = \"uint\", data = [1, 2, 3, 4] }}\n\
             [[test.dispatches]]\nkernel = \"stir\"\ngroups = [1, 1, 1]\n\
             bindings = [{{ set = 0, binding = 0, buffer = \"values\" }}]\n\
             push_constants = {{ rounds = {rounds} }}\n\
             [[test.expect]]\nbuffer = \"values\"\nvalues = {values:?}\n"
        ));
    }
    write(&project, "requirements/tests.toml", text);
    project
}

fn tests_of(passing: &[bool]) -> Vec<StirringTest> {
    passing.iter().map(|passes| StirringTest { rounds: 3, passes: *passes }).collect()
}

/// One test at a time, so that it is sure which one comes after which.
fn certify(project: &Path, out: &Path, options: &[&str]) -> Command {
    let mut command = vkcert();
    command.arg("certify").arg(project).arg("--out").arg(out).args(["--jobs", "1"]).args(options);
    command
}

/// Verdicts of an engine, and the reasons of tests that are `not-run`.
fn verdicts(campaign: &Value, engine: &str) -> (Vec<String>, Vec<String>) {
    let results = campaign["tests"].as_array().unwrap().iter().map(|test| {
        let results = test["results"].as_array().unwrap();
        results.iter().find(|result| result["engine"] == engine).expect("each engine has a row")
    });
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let verdicts = results.clone().map(|result| text(&result["verdict"])).collect();
    let reasons = results
        .filter(|result| result["verdict"] == "not-run")
        .map(|result| text(&result["reason"]))
        .collect();
    (verdicts, reasons)
}

fn reasons(campaign: &Value) -> String {
    campaign["conclusion"]["reasons"].to_string()
}

fn evidence(out: &Path) -> Value {
    let text = std::fs::read(out.join("evidence/campaign.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

#[test]
fn no_test_begins_after_one_that_does_not_pass() {
    let folder = tempfile::tempdir().unwrap();
    let project = write_project(folder.path(), &tests_of(&[true, false, true, true]));
    let (out, events) = (folder.path().join("out"), folder.path().join("events"));
    let mut command = certify(&project, &out, &["--engine", "sequential", "--fail-fast"]);
    let campaign = run_json(command.arg("--events").arg(&events), 1);
    let (told, why) = verdicts(&campaign, "sequential");
    assert_eq!(told, ["pass", "fail", "not-run", "not-run"]);
    let reason = "test TC-1 on sequential had ended with fail (--fail-fast)";
    assert_eq!(why, [reason, reason]);
    let reasons = reasons(&campaign);
    let counted =
        format!("open item tests-not-begun: 2 of 4 runs of tests were not begun: {reason}");
    assert!(reasons.contains(&counted), "{reasons}");
    assert!(reasons.contains("requirement LLR-2 is open: test TC-2: not-run"), "{reasons}");
    assert!(!reasons.contains("LLR-0"), "{reasons}");
    let events = std::fs::read_to_string(events).unwrap();
    assert!(events.contains("\"event\":\"ended-early\"") && events.contains("\"not_begun\":2"));
    // What is written verifies, run again too; two such runs write the same.
    run(vkcert().arg("verify").arg(out.join("evidence")), 0);
    run(vkcert().args(["verify", "--replay"]).arg(out.join("evidence")), 0);
    let again = folder.path().join("again");
    run(&mut certify(&project, &again, &["--engine", "sequential", "--fail-fast"]), 1);
    assert_same_results(&out, &again);
    let told = run(
        vkcert().arg("report").arg(out.join("evidence")).args(["--report-format", "terminal"]),
        0,
    );
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.contains("2 of 4 runs of tests were not begun"), "{told}");
}

#[test]
fn where_all_tests_pass_nothing_ends_early() {
    let folder = tempfile::tempdir().unwrap();
    let project = write_project(folder.path(), &tests_of(&[true, true]));
    let (plain, limited) = (folder.path().join("plain"), folder.path().join("limited"));
    let exit =
        certify(&project, &plain, &["--engine", "sequential"]).output().unwrap().status.code();
    let limits = ["--fail-fast", "--time-limit", "100000", "--memory-limit", "1000000000000"];
    let options = [&["--engine", "sequential"], &limits[..]].concat();
    run(&mut certify(&project, &limited, &options), exit.unwrap());
    assert_same_results(&plain, &limited);
}

/// What no engine has begun is claimed for none: the requirement is open though its test passed on the other engine.
#[test]
fn an_engine_that_is_there_and_did_not_begin_leaves_requirements_open() {
    let folder = tempfile::tempdir().unwrap();
    let project = write_project(folder.path(), &tests_of(&[true, false]));
    let out = folder.path().join("out");
    let campaign = run_json(&mut certify(&project, &out, &["--engine", "both", "--fail-fast"]), 1);
    assert_eq!(verdicts(&campaign, "sequential").0, ["pass", "fail"]);
    assert_eq!(verdicts(&campaign, "vulkan").0, ["not-run", "not-run"]);
    let reasons = reasons(&campaign);
    assert!(reasons.contains("requirement LLR-0 is open: test TC-0: not-run"), "{reasons}");
    assert!(reasons.contains("2 of 4 runs of tests were not begun"), "{reasons}");
    run(vkcert().arg("verify").arg(out.join("evidence")), 0);
}

#[test]
fn a_run_without_time_or_memory_begins_nothing_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let project = write_project(folder.path(), &tests_of(&[true, true]));
    for (option, value, reason) in [
        ("--time-limit", "0.000001", "the run had taken its 0.000001 s (--time-limit)"),
        ("--memory-limit", "4096", "the run held its 4096 bytes of memory (--memory-limit)"),
    ] {
        let out = folder.path().join(option);
        let options = ["--engine", "sequential", "--replay", "reversed", option, value];
        let campaign = run_json(&mut certify(&project, &out, &options), 1);
        assert_eq!(verdicts(&campaign, "sequential").1, [reason, reason]);
        let reasons = reasons(&campaign);
        assert!(reasons.contains("2 of 2 runs of tests were not begun"), "{reasons}");
        let unsought = campaign["unsought"].to_string();
        assert!(unsought.contains("tests-not-begun"), "{unsought}");
        run(vkcert().arg("verify").arg(out.join("evidence")), 0);
    }
    for wrong in [["--time-limit", "0"], ["--time-limit", "soon"], ["--memory-limit", "0"]] {
        run(&mut certify(&project, folder.path(), &wrong), 2);
    }
}

#[test]
fn a_later_run_goes_on_where_the_time_ended() {
    let folder = tempfile::tempdir().unwrap();
    let tests: Vec<StirringTest> =
        (0..8).map(|number| StirringTest { rounds: SLOW_ROUNDS + number, passes: true }).collect();
    let project = write_project(folder.path(), &tests);
    let [cache, out, whole] = ["cache", "out", "whole"].map(|name| folder.path().join(name));
    let cached = |out: &Path, options: &[&str]| {
        let mut command = certify(&project, out, &["--engine", "sequential"]);
        command.arg("--cache").arg(&cache).args(options);
        command
    };
    let events = folder.path().join("events");
    run(certify(&project, &whole, &["--engine", "sequential"]).arg("--events").arg(&events), 0);
    let passed = passed_in_part_of_the_time(&events, |limit| {
        let _ = std::fs::remove_dir_all(&cache);
        let exit = cached(&out, &["--time-limit", limit]).output().unwrap().status.code();
        let (told, _) = verdicts(&evidence(&out), "sequential");
        let passed = told.iter().filter(|verdict| *verdict == "pass").count();
        assert_eq!(exit, Some(if passed == told.len() { 0 } else { 1 }), "{told:?}");
        passed
    });
    run(vkcert().arg("verify").arg(out.join("evidence")), 0);
    // An early end stands for nothing later, and costs nothing that was done.
    run(&mut cached(&out, &[]), 0);
    let reuse = provenance(&out)["reuse"].clone();
    let reused = reused_count(&reuse);
    assert!(reused >= passed as u64 && reuse["ran"].as_u64().unwrap() > 0, "{passed}: {reuse}");
    assert_eq!(result_files(&whole), result_files(&out));
}

/// How many of eight tests pass in a run that has time for some of them: between the first and the last moment of tests in a
/// run that had time for all. How fast the machine is differs from run to run.
fn passed_in_part_of_the_time(events: &Path, run_within: impl Fn(&str) -> usize) -> usize {
    let text = std::fs::read_to_string(events).unwrap();
    let moments = |name: &str| -> Vec<f64> {
        let events = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let named = events.filter(|event| event["event"] == name);
        named.map(|event| event["seconds"].as_f64().unwrap()).collect()
    };
    let mut limit = (moments("test-started")[0] + moments("test-finished")[7]) / 2.0;
    for _ in 0..20 {
        match run_within(&limit.to_string()) {
            0 => limit *= 1.2,
            8 => limit *= 0.8,
            passed => return passed,
        }
    }
    panic!("no time was enough for some tests and not for all");
}

#[test]
fn a_part_that_ended_early_is_not_merged() {
    let folder = tempfile::tempdir().unwrap();
    let project = write_project(folder.path(), &tests_of(&[false, true]));
    let [part, merged] = ["part", "merged"].map(|name| folder.path().join(name));
    let options = ["--engine", "sequential", "--shard", "1/1", "--fail-fast"];
    run(&mut certify(&project, &part, &options), 1);
    let told = run_json(vkcert().arg("merge").arg(&part).arg("--out").arg(&merged), 2).to_string();
    assert!(told.contains("ended before all its tests had begun: test TC-0 on"), "{told}");
    assert!(!merged.exists());
    run(&mut certify(&project, &part, &options[..4]), 1);
    run(vkcert().arg("merge").arg(&part).arg("--out").arg(&merged), 1);
}

/// Rounds that take some tenths of a second.
const SLOW_ROUNDS: u32 = 40_000;
