//! The command line as outside users and test suites see it: exit codes, JSON documents, nothing
//! half-written.

use crate::support;

use serde_json::{Value, json};
use std::io::Read;
use support::*;

const ADD: &str = r#"#version 450
layout(local_size_x = 4) in;
layout(std430, set = 0, binding = 0) buffer A { float a[]; };
layout(push_constant) uniform P { uint n; float d; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n && d != 0.0) {
        a[i] += d;
    }
}
"#;

fn procedure(source: &str, groups: u32, expected: &[f64]) -> Value {
    json!({
        "schema": 1,
        "kernels": {"add": {"source": {"text": source}, "language": "glsl"}},
        "tests": [{
            "id": "TC-1",
            "buffers": {"a": {"type": "float", "data": [1, 2, 3, 4, 5, 6, 7, 8]}},
            "dispatches": [{
                "kernel": "add", "groups": [groups, 1, 1],
                "bindings": [{"set": 0, "binding": 0, "buffer": "a"}],
                "push_constants": {"n": 5, "d": 1.5}
            }],
            "expect": [{"buffer": "a", "type": "float", "values": expected}]
        }]
    })
}

const RIGHT: &[f64] = &[2.5, 3.5, 4.5, 5.5, 6.5, 6.0, 7.0, 8.0];

fn run_procedure(procedure: &Value, arguments: &[&str], exit: i32) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "test.json", procedure.to_string());
    run_json(vkcert().arg("run").arg(file).args(arguments), exit)
}

#[test]
fn a_right_procedure_passes_and_shows_its_vectors() {
    let result = run_procedure(&procedure(ADD, 2, RIGHT), &["--engine", "sequential"], 0);
    let test = &result["tests"][0];
    assert_eq!(test["verdict"], "pass", "{test:#}");
    assert_eq!(test["engine"], "sequential");
    let decision = &test["coverage"]["add"]["decisions"][0];
    assert_eq!(decision["text"], "i < n && d != 0.0");
    assert_eq!((&decision["line"], &decision["column"]), (&json!(7), &json!(9)));
    let vectors: Vec<_> =
        decision["vectors"].as_array().unwrap().iter().map(|v| v["values"].clone()).collect();
    assert_eq!(vectors, ["TT", "F-"]);
    assert_eq!(decision["vectors"][0]["witness"], json!([0, 0, 0]));
    assert_eq!(decision["vectors"][1]["witness"], json!([5, 0, 0]));
    assert_eq!(decision["mcdc"][0]["unique_cause"]["status"], "covered");
    assert_eq!(decision["mcdc"][1]["masking"]["status"], "uncovered");
}

#[test]
fn a_wrong_value_fails_with_its_place_and_bits() {
    let mut expected = RIGHT.to_vec();
    expected[2] = 9.0;
    let result = run_procedure(&procedure(ADD, 2, &expected), &["--engine", "sequential"], 1);
    let test = &result["tests"][0];
    assert_eq!(test["verdict"], "fail");
    assert_eq!(test["mismatches"][0]["offset"], 8);
    assert_eq!(test["mismatches"][0]["actual"], 4.5);
    assert_eq!(test["mismatches"][0]["bits"], "0x40900000");
}

#[test]
fn a_syntax_error_is_one_diagnostic_with_its_line() {
    let broken = ADD.replace("a[i] += d;", "a[i] += ;");
    let result = run_procedure(&procedure(&broken, 2, RIGHT), &[], 2);
    assert_eq!(result["error"]["line"], 8, "{result:#}");
    assert!(!result["error"]["message"].as_str().unwrap().is_empty());
}

#[test]
fn an_out_of_bounds_access_is_a_finding_and_not_a_verdict() {
    let result = run_procedure(
        &procedure(&ADD.replace("i < n", "i < n + 10u"), 3, &[2.5]),
        &["--engine", "sequential"],
        1,
    );
    let test = &result["tests"][0];
    assert_eq!(test["verdict"], "pass", "{test:#}");
    assert!(
        test["findings"]
            .as_array()
            .unwrap()
            .iter()
            .any(|f| f["kind"] == "out-of-bounds" && f["place"]["line"] == 8)
    );
    let silent = run_procedure(
        &procedure(&ADD.replace("i < n", "i < n + 10u"), 3, &[2.5]),
        &["--engine", "sequential", "--check", "none"],
        0,
    );
    assert_eq!(silent["tests"][0]["findings"], json!([]));
}

#[test]
fn an_endless_kernel_ends_as_timeout_and_the_next_test_still_runs() {
    let mut two =
        procedure(&ADD.replace("a[i] += d;", "while (d != 0.0) { a[i] += d * 0.0; }"), 1, &[]);
    two["tests"][0]["expect"] = json!([]);
    two["kernels"]["good"] = json!({"source": {"text": ADD}, "language": "glsl"});
    let mut good = procedure(ADD, 2, RIGHT)["tests"][0].clone();
    good["id"] = json!("TC-2");
    good["dispatches"][0]["kernel"] = json!("good");
    two["tests"].as_array_mut().unwrap().push(good);
    let result = run_procedure(&two, &["--engine", "sequential", "--max-steps", "100000"], 1);
    assert_eq!(result["tests"][0]["verdict"], "timeout");
    assert_eq!(result["tests"][0]["findings"][0]["kind"], "no-termination");
    assert_eq!(result["tests"][1]["verdict"], "pass");
}

#[test]
fn without_a_driver_vulkan_is_not_run_and_the_rest_counts() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "test.json", procedure(ADD, 2, RIGHT).to_string());
    let result = run_json(without_driver(&mut vkcert()).arg("run").arg(&file), 0);
    let tests = result["tests"].as_array().unwrap();
    assert!(tests.iter().any(|t| t["engine"] == "sequential" && t["verdict"] == "pass"));
    assert!(tests.iter().any(|t| t["engine"] == "vulkan" && t["verdict"] == "not-run"));
    let error = run_json(
        without_driver(&mut vkcert()).arg("run").arg(&file).args(["--engine", "vulkan"]),
        4,
    );
    assert_eq!(error["error"]["kind"], "unavailable", "{error:#}");
}

#[test]
fn mcdc_of_an_expression_follows_the_contract() {
    let result = run_json(vkcert().args(["mcdc", "a && b", "--vectors", "TT,F-"]), 0);
    assert_eq!(result["conditions"][0]["id"], "C1");
    assert_eq!(result["conditions"][0]["unique_cause"]["covered"], true);
    assert_eq!(result["conditions"][1]["masking"]["covered"], false);
    assert_eq!(result["missing"], json!(["TF"]));
    assert_eq!(result["closing_set"], json!(["TF"]));
    for (expression, vectors) in
        [("a && a", "TF"), ("a && b", "FT"), ("a &&", "T"), ("a && b", "TX"), ("a && b", "TTT")]
    {
        let error = run_json(vkcert().args(["mcdc", expression, "--vectors", vectors]), 2);
        assert!(error["error"]["message"].is_string(), "{expression} {vectors}: {error}");
    }
}

#[test]
fn a_wrong_command_line_is_exit_2_and_one_json_document() {
    let output = run(vkcert().args(["--format", "json", "certify", "--frobnicate"]), 2);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["error"]["kind"], "usage");
    let missing = run_json(vkcert().args(["run", "/nonexistent/test.toml"]), 2);
    assert_eq!(missing["error"]["file"], "/nonexistent/test.toml");
}

#[test]
fn a_reader_that_goes_away_ends_the_program_quietly() {
    let mut child = vkcert()
        .args(["completions", "bash"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(child.wait().unwrap().success() || said.is_empty(), "{said}");
    assert!(!said.contains("panic"), "{said}");
}

#[test]
fn errors_that_nobody_reads_leave_the_exit_code() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = vkcert().args(["run", "no-such-file.toml"]).stderr(writer).status().unwrap();
    assert_eq!(status.code(), Some(2));
}

#[test]
fn every_schema_and_shell_is_printed() {
    let names = run(vkcert().arg("schema"), 0);
    let names = String::from_utf8(names.stdout).unwrap();
    assert!(names.lines().count() >= 4);
    for name in names.lines().map(|line| line.split_whitespace().next().unwrap()) {
        let schema: Value =
            serde_json::from_slice(&run(vkcert().args(["schema", name]), 0).stdout).unwrap();
        assert!(schema.is_object(), "{name}");
    }
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(run(vkcert().args(["completions", shell]), 0).stdout.len() > 1000);
    }
}

#[test]
fn a_new_project_is_named_after_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    for (dir, name) in [
        ("payload-filters_2.1", "payload-filters_2.1"),
        ("Größe der Bilder", "Größe der Bilder"),
        ("a \"quoted\" \\ 'name'", "a quoted name"),
        ("{{project}}", "project"),
        ("---", "new project"),
        ("trailing/", "trailing"),
    ] {
        let project = folder.path().join(dir);
        let made = run_json(vkcert().arg("init").arg(&project), 0);
        assert_eq!(made["name"], name, "{dir}");
        let settings = std::fs::read_to_string(project.join("vkcert.toml")).unwrap();
        assert!(
            settings.contains(&format!("\nname = \"{name}\"\nlevel = \"A\"")),
            "{dir}: {settings}"
        );
        run(vkcert().args(["list", "kernels"]).arg(&project), 0);
    }
    let here = folder.path().join("here");
    std::fs::create_dir(&here).unwrap();
    let made = run_json(vkcert().args(["init", "."]).current_dir(&here), 0);
    assert_eq!(made["name"], "here");
}

/// As whoever stands in the project's folder names them, and each once.
#[test]
fn paths_are_told_as_the_user_would_name_them() {
    let folder = tempfile::tempdir().unwrap();
    run(vkcert().args(["init", "."]).current_dir(folder.path()), 0);
    let list = ["list", "obligations", "--status", "open"];
    let error = run_json(vkcert().args(list).current_dir(folder.path()), 2);
    assert_eq!(error["error"]["file"], "reports/evidence/manifest.json");
    assert!(!error["error"]["message"].as_str().unwrap().contains("manifest.json"), "{error:#}");
    let output =
        run(vkcert().args(["certify", "--engine", "sequential"]).current_dir(folder.path()), 0);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains(" reports/evidence  reports/report.json") && !text.contains("./"),
        "{text}"
    );
}

#[test]
fn a_new_project_certifies_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("new");
    run(vkcert().arg("init").arg(&project), 0);
    run(vkcert().arg("init").arg(&project), 2);
    run(vkcert().arg("certify").arg(&project).args(["--engine", "sequential"]), 0);
    for file in ["evidence/manifest.json", "evidence/campaign.json", "report.pdf", "report.html"] {
        assert!(project.join("reports").join(file).exists(), "{file}");
    }
    run(vkcert().arg("verify").arg(project.join("reports/evidence")), 0);
}
