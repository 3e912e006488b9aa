//! Recording as the command line offers it: forced and refused modes, witnesses, evidence,
//! `bench-overhead`.
//!
//! What needs a device is left out, in words, where there is none and none is demanded.

use crate::support;

use serde_json::{Value, json};
use std::path::PathBuf;
use support::*;

const MODES: [&str; 5] = ["private", "workgroup", "subgroup", "direct", "slots"];

/// Whether this machine has a device.
fn device() -> bool {
    let output = vkcert().args(["list", "devices", "--format", "json"]).output().unwrap();
    let found = serde_json::from_slice::<Value>(&output.stdout)
        .is_ok_and(|list| list.as_array().is_some_and(|list| !list.is_empty()));
    assert!(found || std::env::var_os("VKCERT_REQUIRE_VULKAN").is_none(), "a device is demanded");
    if !found {
        eprintln!("not run: no device");
    }
    found
}

fn kernel(name: &str) -> PathBuf {
    root().join("tests/kernels").join(format!("{name}.toml"))
}

/// The coverage of every test of a procedure on the device, by options.
fn coverage(name: &str, options: &[&str]) -> Vec<Value> {
    let result = run_json(
        vkcert().arg("run").arg(kernel(name)).args(["--engine", "vulkan"]).args(options),
        0,
    );
    result["tests"].as_array().unwrap().iter().map(|test| test["coverage"].clone()).collect()
}

fn sequential_coverage(name: &str) -> Vec<Value> {
    let result =
        run_json(vkcert().arg("run").arg(kernel(name)).args(["--engine", "sequential"]), 0);
    result["tests"].as_array().unwrap().iter().map(|test| test["coverage"].clone()).collect()
}

#[test]
fn a_forced_mode_shows_the_same_coverage_and_witnesses_are_those_of_the_sequential_engine() {
    if !device() {
        return;
    }
    for name in ["bitonic_step", "sobel", "voter"] {
        let automatic = coverage(name, &[]);
        assert!(automatic[0].to_string().contains("\"vectors\":[{"), "{automatic:?}");
        let witnessed = sequential_coverage(name);
        for mode in MODES {
            assert_eq!(coverage(name, &["--record-mode", mode]), automatic, "{name} {mode}");
            assert_eq!(
                coverage(name, &["--record-mode", mode, "--witness"]),
                witnessed,
                "{name} {mode}"
            );
        }
    }
}

#[test]
fn a_mode_that_does_not_fit_is_refused_by_name() {
    if !device() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let text = "#version 450\nlayout(local_size_x = 1) in; void main() { if (gl_LocalInvocationIndex > 3u) return; }";
    let procedure = json!({
        "schema": 1,
        "kernels": {"old": {"source": {"text": text}, "language": "glsl", "target_env": "vulkan1.0"}},
        "tests": [{"id": "T", "dispatches": [{"kernel": "old", "groups": [1, 1, 1]}]}]
    });
    let file = write(folder.path(), "old.json", procedure.to_string());
    let run = |mode: &str, exit| {
        run_json(vkcert().arg("run").arg(&file).args(["--record-mode", mode]), exit)
    };
    let error = run("subgroup", 4);
    assert_eq!(error["error"]["kind"], "unavailable", "{error:#}");
    let message = error["error"]["message"].as_str().unwrap();
    assert!(message.contains("kernel `old`: record mode `subgroup` cannot be used: "), "{message}");
    assert!(message.contains("SPIR-V 1.0"), "{message}");
    run("slots", 0);
    // What is wrong with the file is told first.
    let wrong = write(
        folder.path(),
        "wrong.json",
        procedure.to_string().replace("\"kernel\":\"old\"", "\"kernel\":\"new\""),
    );
    run_json(vkcert().arg("run").arg(wrong).args(["--record-mode", "subgroup"]), 2);
}

#[test]
fn evidence_names_the_mode_of_each_kernel_on_the_device() {
    if !device() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let certify = |options: &[&str]| {
        let project = root().join("tests/projects/minimal");
        run(
            vkcert()
                .arg("certify")
                .arg(project)
                .args(["--engine", "both"])
                .arg("--out")
                .arg(&out)
                .args(options),
            0,
        );
        let mut recordings = Vec::new();
        for entry in std::fs::read_dir(out.join("evidence")).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let value: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            if name.starts_with("kernel-") {
                assert_eq!(value["recording"].is_null(), value["engine"] == "sequential", "{name}");
                recordings.extend(value.get("recording").cloned());
            }
        }
        let campaign = std::fs::read_to_string(out.join("evidence/campaign.json")).unwrap();
        run(vkcert().arg("verify").arg(out.join("evidence")), 0);
        (recordings, campaign)
    };
    let (recordings, campaign) = certify(&[]);
    assert_eq!(recordings[0]["mode"], "private");
    assert_eq!(recordings[0]["witnesses"], "omitted");
    assert!(campaign.contains("recorded on the device in mode `private`"), "{campaign}");
    let (recordings, campaign) = certify(&["--record-mode", "slots", "--witness"]);
    assert_eq!(recordings[0]["mode"], "slots");
    assert_eq!(recordings[0]["witnesses"], "recorded");
    assert!(
        campaign.contains("recorded on the device in mode `slots`, with the lowest invocation"),
        "{campaign}"
    );
}

#[test]
fn overhead_is_measured_as_one_document() {
    if !device() {
        return;
    }
    let bench = |options: &[&str]| {
        run_json(vkcert().args(["bench-overhead", "--repetitions", "20"]).args(options), 0)
    };
    let document = bench(&["guard"]);
    assert!(document["device"].as_str().is_some_and(|name| !name.is_empty()), "{document:#}");
    let kernels = document["kernels"].as_array().unwrap();
    assert_eq!(kernels.len(), 1);
    let row = &kernels[0];
    assert_eq!(
        (&row["id"], &row["mode"], &row["vectors"]),
        (&json!("guard"), &json!("private"), &json!(11))
    );
    let number = |name: &str| row[name].as_f64().unwrap_or_else(|| panic!("{name}: {row:#}"));
    assert!(number("traced_ms") > 0.0 && number("instrumented_ms") > 0.0);
    assert!((number("ratio") - number("instrumented_ms") / number("traced_ms")).abs() < 1e-9);
    assert!(number("shown") >= 9.0 && number("shown") <= 11.0, "{row:#}");
    assert_eq!(document["median_ratio"], row["ratio"]);
    let forced = bench(&["reduction", "--record-mode", "workgroup"]);
    assert_eq!(forced["kernels"][0]["mode"], "workgroup");
}

#[test]
fn overhead_without_a_device_or_with_a_wrong_command_line_says_so() {
    let error = run_json(without_driver(&mut vkcert()).arg("bench-overhead"), 4);
    assert_eq!(error["error"]["kind"], "unavailable", "{error:#}");
    assert!(
        error["error"]["message"].as_str().unwrap().contains("the vulkan engine was asked for: "),
        "{error:#}"
    );
    for wrong in [
        ["no-such-kernel", "--repetitions", "20"],
        ["copy", "--repetitions", "19"],
        ["copy", "--engine", "sequential"],
        ["copy", "--record-mode", "fast"],
        ["copy", "--size-factor", "0"],
    ] {
        let error = run_json(vkcert().arg("bench-overhead").args(wrong), 2);
        assert!(error["error"]["message"].is_string(), "{wrong:?}: {error:#}");
    }
}

/// A kernel of which every Boolean operand and arm is evaluated, but not every one is ever true or
/// ever false.
const OPERANDS: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) readonly buffer In { int v[]; };
layout(std430, binding = 1) writeonly buffer Out { int o[]; };
void main() {
    int x = v[gl_GlobalInvocationID.x];
    bool arm = x > 0 ? x > 2 : x > 100;
    bool same = (x > 2) == (x > -1);
    if (x > 50 && (x > 60 ? x > 70 : arm)) x = 3;
    o[gl_GlobalInvocationID.x] = int(arm) + int(x == 7 ? same : arm) + int(same == (x > -3 || arm));
}";

/// Text, vectors and whether MC/DC is shown, of every decision of [`OPERANDS`].
fn operands_on(engine: &str) -> Vec<(String, String, bool)> {
    let procedure = json!({
        "schema": 1,
        "kernels": {"k": {"source": {"text": OPERANDS}, "language": "glsl"}},
        "tests": [{
            "id": "T",
            "buffers": {"v": {"type": "int", "data": [1, 3, -1, -2]}, "o": {"type": "int", "count": 4}},
            "dispatches": [{"kernel": "k", "groups": [1, 1, 1], "bindings": [
                {"set": 0, "binding": 0, "buffer": "v"}, {"set": 0, "binding": 1, "buffer": "o"}
            ]}],
        }]
    });
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "operands.json", procedure.to_string());
    let result = run_json(vkcert().arg("run").arg(file).args(["--engine", engine]), 0);
    assert_eq!(result["tests"][0]["findings"], json!([]), "{engine}");
    let decisions = result["tests"][0]["coverage"]["k"]["decisions"].as_array().unwrap().iter();
    let row = |decision: &Value| {
        let vectors = decision["vectors"].as_array().unwrap().iter();
        let vectors: Vec<&str> = vectors.map(|vector| vector["values"].as_str().unwrap()).collect();
        let mut forms = decision["mcdc"].as_array().unwrap().iter();
        let shown = forms.all(|condition| condition["masking"]["status"] == "covered");
        (decision["text"].as_str().unwrap().to_owned(), vectors.join(" "), shown)
    };
    decisions.map(row).collect()
}

#[test]
fn boolean_operands_and_arms_are_decisions_and_those_not_evaluated_have_no_vectors() {
    let expected = [
        ("x > 0 ? x > 2 : x > 100", "T F", true),
        ("x > 0", "T F", true),
        ("x > 2", "T F", true),
        ("x > 100", "F", false),
        ("(x > 2) == (x > -1)", "T F", true),
        ("x > 2", "T F", true),
        ("x > -1", "T F", true),
        ("x > 50 && (x > 60 ? x > 70 : arm)", "F-", false),
        ("x > 60", "", false),
        ("x > 70", "", false),
        ("arm", "", false),
        ("arm", "T F", true),
        ("x == 7 ? same : arm", "T F", true),
        ("x == 7", "F", false),
        ("same", "", false),
        ("arm", "T F", true),
        ("same == (x > -3 || arm)", "T F", true),
        ("same", "T F", true),
        ("x > -3 || arm", "T-", false),
    ];
    let expected =
        expected.map(|(text, vectors, shown)| (text.to_owned(), vectors.to_owned(), shown));
    assert_eq!(operands_on("sequential"), expected);
    if device() {
        assert_eq!(operands_on("vulkan"), expected);
    }
}
