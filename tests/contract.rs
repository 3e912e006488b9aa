//! The contract as an outside suite reads it: every command used from outside, on kernels and files
//! made here.

use crate::support;

use base64::Engine as _;
use serde_json::{Value, json};
use std::path::Path;
use support::*;

/// A kernel over `uint a[]` with local size 4; `body` stands on line 6.
fn kernel(declarations: &str, body: &str) -> String {
    format!(
        "#version 450\nlayout(local_size_x = 4) in;\nlayout(std430, set = 0, binding = 0) buffer A {{ uint a[]; }};\n\
         {declarations}\nvoid main() {{ uint i = gl_GlobalInvocationID.x; uint l = gl_LocalInvocationID.x;\n{body}\n}}\n"
    )
}

fn procedure(source: &str) -> Value {
    json!({
        "schema": 1,
        "kernels": {"k": {"source": {"text": source}}},
        "tests": [{
            "id": "T",
            "buffers": {"a": {"type": "uint", "data": [1, 2, 3, 4]}},
            "dispatches": [{
                "kernel": "k", "groups": [1, 1, 1], "bindings": [{"set": 0, "binding": 0, "buffer": "a"}]
            }],
        }]
    })
}

fn run_text(text: &str, arguments: &[&str], exit: i32) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "t.json", text);
    run_json(vkcert().arg("run").arg(file).args(arguments), exit)
}

fn sequential(procedure: &Value, exit: i32) -> Value {
    run_text(&procedure.to_string(), &["--engine", "sequential"], exit)
}

/// Kinds and lines of the findings of the first test.
fn findings(result: &Value) -> Vec<(String, i64)> {
    let rows = result["tests"][0]["findings"].as_array().unwrap();
    rows.iter()
        .map(|row| {
            (row["kind"].as_str().unwrap().to_owned(), row["place"]["line"].as_i64().unwrap())
        })
        .collect()
}

#[test]
fn findings_are_right_in_both_directions_and_carry_their_line() {
    let shared = "shared uint s[8];";
    // Declarations, body, findings by kind and line.
    type Case = (&'static str, &'static str, &'static [(&'static str, i64)]);
    let cases: &[Case] = &[
        (shared, "s[l] = i;\na[i] = s[(l + 1u) % 4u];", &[("data-race", 7)]),
        (shared, "s[l] = i; barrier();\na[i] = s[(l + 1u) % 4u];", &[]),
        ("", "a[0] = i;", &[("data-race", 6)]),
        ("", "atomicAdd(a[0], 1u);", &[]),
        ("", "if (i < 2u)\nbarrier();\na[i] = 1u;", &[("barrier-divergence", 7)]),
        ("", "for (int j = 0; j < 3; j++) barrier();\na[i] = 1u;", &[]),
        ("", "\na[i + 1u] = 5u;", &[("out-of-bounds", 7)]),
        ("", "a[i] = 5u;", &[]),
        ("", "uint x;\nif (i > 7u) x = 1u;\na[i] = x;", &[("uninitialized-read", 8)]),
        ("", "uint x;\nif (i < 7u) x = 1u;\na[i] = x;", &[]),
        (shared, "a[i] = s[l];", &[("uninitialized-read", 6)]),
        ("", "a[i] = 5u / (a[i] - 1u);", &[("undefined-value", 6)]),
        ("", "a[i] = 1u << (a[i] + 29u);", &[("undefined-value", 6)]),
        ("", "a[i] = uint(float(a[i]) * 4e9);", &[("undefined-value", 6)]),
        ("", "a[i] = floatBitsToUint(1.0 / float(a[i] - 1u));", &[]),
    ];
    for (declarations, body, expected) in cases {
        let exit = i32::from(!expected.is_empty());
        let result = sequential(&procedure(&kernel(declarations, body)), exit);
        let expected: Vec<_> =
            expected.iter().map(|(kind, line)| ((*kind).to_owned(), *line)).collect();
        assert_eq!(findings(&result), expected, "{body}");
    }
}

#[test]
fn a_loop_that_never_ends_has_a_line_also_where_its_header_has_none() {
    let body = "if (i == 0u) { while (atomicAdd(a[1], 0u) != 7u) {} } else if (i == 1u) { atomicExchange(a[1], 8u); }";
    let text = procedure(&kernel("", body)).to_string();
    let result = run_text(&text, &["--engine", "sequential", "--max-steps", "1000000"], 1);
    assert_eq!(findings(&result), [("no-termination".to_owned(), 6)]);
    assert_eq!(result["tests"][0]["verdict"], "timeout");
}

#[test]
fn check_chooses_every_finding_and_refuses_unknown_names() {
    let text = procedure(&kernel("", "a[i + 1u] = 5u;")).to_string();
    for (checks, exit) in
        [("none", 0), ("data-race", 0), ("out-of-bounds,data-race", 1), ("", 2), ("all,none", 2)]
    {
        run_text(&text, &["--engine", "sequential", "--check", checks], exit);
    }
}

#[test]
fn a_text_without_a_usable_version_is_one_document_on_stdout() {
    let whole = kernel("", "a[i] = 1u;");
    for version in [
        "",
        "#version 110",
        "#version 140",
        "#version 300 es",
        "#version 410",
        "#version abc",
        "#version",
    ] {
        let error = sequential(&procedure(&whole.replace("#version 450", version)), 2);
        assert_eq!(error["error"]["kind"], "glsl-syntax", "{version}: {error:#}");
        assert_eq!(error["error"]["line"], 1, "{version}");
        assert!(error["error"]["hint"].as_str().unwrap().contains("#version 450"));
    }
    for version in
        ["#version 430", "#version 460 core", "#version 310 es", "// first\n# version 450"]
    {
        sequential(&procedure(&whole.replace("#version 450", version)), 0);
    }
}

#[test]
fn what_one_engine_cannot_run_is_unsupported_and_no_disagreement() {
    let extension = "#extension GL_ARB_shader_clock : require\n#extension GL_EXT_shader_realtime_clock : require";
    for (body, name) in [
        ("a[i] = clock2x32ARB().x == 7u ? 1u : 1u;", "ShaderClockKHR"),
        ("a[i] = clockRealtime2x32EXT().x == 7u ? 1u : 1u;", "ShaderClockKHR"),
    ] {
        let source =
            kernel("", body).replace("#version 450", &format!("#version 450\n{extension}"));
        let result = run_text(&procedure(&source).to_string(), &[], 4);
        let row = &result["tests"][0];
        assert_eq!(row["verdict"], "unsupported", "{result:#}");
        assert!(row["reason"].as_str().unwrap().contains(name), "{row:#}");
        assert!(
            result["tests"].as_array().unwrap().iter().all(|row| row["findings"] == json!([])),
            "{result:#}"
        );
    }
}

/// The smallest valid OpenCL module: one empty entry point.
fn opencl_module() -> Vec<u8> {
    let name = u32::from_le_bytes(*b"main");
    let words = [
        &[0x0723_0203, 0x0001_0000, 0, 10, 0][..],
        &[2 << 16 | 17, 4],             // OpCapability Addresses
        &[2 << 16 | 17, 6],             // OpCapability Kernel
        &[3 << 16 | 14, 1, 2],          // OpMemoryModel Physical32 OpenCL
        &[5 << 16 | 15, 6, 3, name, 0], // OpEntryPoint Kernel %3 "main"
        &[2 << 16 | 19, 1],             // %1 = OpTypeVoid
        &[3 << 16 | 33, 2, 1],          // %2 = OpTypeFunction %1
        &[5 << 16 | 54, 1, 3, 0, 2],    // %3 = OpFunction %1 None %2
        &[2 << 16 | 248, 4, 1 << 16 | 253, 1 << 16 | 56],
    ];
    words.concat().iter().flat_map(|word: &u32| word.to_le_bytes()).collect()
}

fn with_module(bytes: &[u8]) -> Value {
    let mut file = procedure("");
    let text = base64::engine::general_purpose::STANDARD.encode(bytes);
    file["kernels"]["k"] = json!({"source": {"bytes": text}, "language": "spirv"});
    file
}

/// Words of the module of a kernel that has nothing but an end.
fn empty_kernel(capability: u32) -> Vec<u32> {
    let text = "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n\
                OpExecutionMode %main LocalSize 1 1 1\n%void = OpTypeVoid\n%f = OpTypeFunction %void\n\
                %main = OpFunction %void None %f\n%l = OpLabel\nOpReturn\nOpFunctionEnd";
    let compiler = shaderc::Compiler::new().unwrap();
    let mut words = compiler.assemble(text, None).unwrap().as_binary().to_vec();
    words.splice(7..7, [2 << 16 | 17, capability]);
    words
}

#[test]
fn a_capability_that_nobody_knows_is_unsupported_by_its_number() {
    // 5425 is that of long vectors.
    for (number, name) in [(6912, "6912"), (5425, "LongVectorEXT")] {
        let bytes: Vec<u8> =
            empty_kernel(number).iter().flat_map(|word| word.to_le_bytes()).collect();
        let text = base64::engine::general_purpose::STANDARD.encode(bytes);
        let file = json!({
            "schema": 1,
            "kernels": {"k": {"source": {"bytes": text}, "language": "spirv"}},
            "tests": [{"id": "T", "dispatches": [{"kernel": "k", "groups": [1, 1, 1]}]}]
        });
        let result = sequential(&file, 4);
        let row = &result["tests"][0];
        assert_eq!(row["verdict"], "unsupported", "{result:#}");
        assert!(
            row["reason"].as_str().unwrap().contains(&format!("capability {name}")),
            "{result:#}"
        );
    }
}

#[test]
fn long_vectors_are_unsupported_by_name() {
    let text = "#version 450\n#extension GL_EXT_long_vector : require\nlayout(local_size_x = 1) in;\n\
                layout(set = 0, binding = 0) buffer A { uint a[]; };\n\
                void main() { vector<uint, 8> v = vector<uint, 8>(1u); a[0] = v[3]; }\n";
    for text in [text.to_owned(), text.replace("#extension GL_EXT_long_vector : require\n", "")] {
        let result = sequential(&procedure(&text), 4);
        let message = result["error"]["message"].as_str().unwrap();
        assert!(
            message.contains("long vectors") && message.contains("GL_EXT_long_vector"),
            "{result:#}"
        );
    }
}

#[test]
fn an_opencl_module_is_unsupported_and_garbage_is_wrong_input() {
    let mut file = with_module(&opencl_module());
    file["tests"][0]["buffers"] = json!({});
    file["tests"][0]["dispatches"][0]["bindings"] = json!([]);
    let result = sequential(&file, 4);
    assert_eq!(result["tests"][0]["verdict"], "unsupported", "{result:#}");
    assert!(result["tests"][0]["reason"].as_str().unwrap().contains("Kernel"));
    file["kernels"]["k"]["defines"] = json!({"A": "1"});
    assert_eq!(sequential(&file, 2)["error"]["kind"], "contradiction");
    for garbage in [&b""[..], b"abc", &b"garbage!".repeat(10), &opencl_module()[..40]] {
        assert_eq!(sequential(&with_module(garbage), 2)["error"]["kind"], "bad-spirv");
    }
}

#[test]
fn a_module_without_source_runs_and_leaves_its_coverage_undetermined() {
    let module = std::fs::read(root().join("spirv/histogram.spv"));
    let Ok(module) = module else { return };
    let mut file = with_module(&module);
    file["tests"][0]["dispatches"][0]["bindings"] = json!([]);
    // What the module needs is told by set and binding: it has been read and reflected.
    assert_eq!(sequential(&file, 2)["error"]["kind"], "missing-binding");
}

#[test]
fn a_fill_may_be_named_alone() {
    for (fill, expected) in [
        (json!("iota"), json!([0, 1, 2, 3])),
        (json!({"iota": {"start": 5, "step": 2}}), json!([5, 7, 9, 11])),
        (json!({"constant": 7}), json!([7, 7, 7, 7])),
        (json!({"random": {"seed": 1, "min": 3, "max": 3}}), json!([3, 3, 3, 3])),
    ] {
        let mut file = procedure(&kernel("", "a[i] = a[i];"));
        file["tests"][0]["buffers"]["a"] = json!({"type": "uint", "count": 4, "fill": fill});
        file["tests"][0]["expect"] = json!([{"buffer": "a", "type": "uint", "values": expected}]);
        sequential(&file, 0);
    }
    let mut file = procedure(&kernel("", "a[i] = a[i];"));
    file["tests"][0]["buffers"]["a"] = json!({"type": "uint", "count": 4, "fill": "random"});
    let error = sequential(&file, 2);
    assert!(error["error"]["message"].as_str().unwrap().contains("seed"), "{error:#}");
}

#[test]
fn wrong_input_is_exit_2_with_its_place() {
    let good = procedure(&kernel("", "a[i] = 1u;"));
    sequential(&good, 0);
    let cases: &[(&str, Value)] = &[
        ("/tests/0/dispatches/0/groups", json!([1, 1, 1, 1])),
        ("/tests/0/dispatches/0/groups", json!([1, 1])),
        ("/tests/0/dispatches/0/groups", json!([0, 1, 1])),
        ("/tests/0/dispatches/0/groups", json!([65536, 1, 1])),
        ("/tests/0/dispatches/0/bindings/0/offset", json!(2)),
        ("/tests/0/dispatches/0/bindings/0/buffer", json!("b")),
        ("/tests/0/dispatches/0/kernel", json!("z")),
        ("/tests/0/dispatches", json!([])),
        ("/tests/0/buffers/a/count", json!(3)),
        ("/tests/0/buffers/a/type", json!("quux")),
        ("/tests/0/buffers/a/data", json!([-1])),
        ("/tests/0/specialization", json!({})),
        ("/schema", json!(2)),
    ];
    for (pointer, value) in cases {
        let mut file = good.clone();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        file.pointer_mut(parent).unwrap()[key] = value.clone();
        let error = sequential(&file, 2);
        let error = &error["error"];
        assert!(error["line"].is_u64() && error["column"].is_u64(), "{pointer} {value}: {error:#}");
        assert!(error["file"].as_str().unwrap().ends_with("t.json"));
    }
    for text in ["", "{", "[]", "null", r#"{"schema":1,"schema":1}"#, &"[".repeat(100_000)] {
        run_text(text, &[], 2);
    }
}

#[test]
fn specialization_is_typed_and_unknown_ids_are_refused() {
    let source = kernel(
        "layout(constant_id = 0) const uint N = 3u; layout(constant_id = 1) const bool B = false;",
        "a[i] = B ? N : 0u;",
    );
    for (values, expected, exit) in [
        (json!({}), 0, 0),
        (json!({"0": {"type": "uint", "value": 10}, "1": {"type": "bool", "value": true}}), 10, 0),
        (json!({"0": {"bits": "0x0000000a"}, "1": {"bits": 1}}), 10, 0),
        (json!({"9": {"type": "uint", "value": 1}}), 0, 2),
        (json!({"0": {"type": "float", "value": 1}}), 0, 2),
        (json!({"0": {"type": "uint", "value": 1, "bits": "0x1"}}), 0, 2),
    ] {
        let mut file = procedure(&source);
        file["tests"][0]["dispatches"][0]["specialization"] = values;
        file["tests"][0]["expect"] =
            json!([{"buffer": "a", "type": "uint", "values": [expected, expected]}]);
        sequential(&file, exit);
    }
}

#[test]
fn every_command_answers_json_with_one_document() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("new");
    let made = run_json(vkcert().arg("init").arg(&project), 0);
    assert!(made["files"].as_array().unwrap().contains(&json!("vkcert.toml")));
    assert!(
        run_json(vkcert().arg("schema"), 0)
            .as_array()
            .unwrap()
            .iter()
            .any(|row| row["name"] == "result")
    );
    assert!(run_json(vkcert().args(["schema", "result"]), 0)["properties"]["tests"].is_object());
    assert!(run_json(vkcert().args(["completions", "bash"]), 0)["script"].is_string());
    for what in
        ["kernels", "requirements", "tests", "obligations", "criteria", "formats", "documents"]
    {
        assert!(run_json(vkcert().arg("list").arg(what).arg(&project), 0).is_array(), "{what}");
    }
    run_json(vkcert().arg("build").arg(&project), 0);
    run_json(vkcert().arg("couple").arg(root().join("tests/projects/minimal")), 0);
    let kernels = run_json(vkcert().args(["list", "kernels"]).arg(&project), 0);
    run_json(
        vkcert()
            .arg("lower")
            .arg(kernels[0]["name"].as_str().unwrap())
            .arg("--project")
            .arg(&project),
        0,
    );
    run_json(vkcert().arg("certify").arg(&project).args(["--engine", "sequential"]), 0);
    let evidence = project.join("reports/evidence");
    assert_eq!(run_json(vkcert().arg("verify").arg(&evidence), 0)["verified"], true);
    for format in ["terminal", "json", "html", "pdf"] {
        run_json(vkcert().arg("report").arg(&evidence).args(["--report-format", format]), 0);
    }
    let page = folder.path().join("page.html");
    let written = run_json(
        vkcert()
            .arg("report")
            .arg(&evidence)
            .args(["--report-format", "html", "--output"])
            .arg(&page),
        0,
    );
    assert!(page.exists() && written["output"].is_string(), "{written:#}");
}

#[test]
fn every_wrong_command_line_is_one_document_and_exit_2() {
    for arguments in [
        &["run"][..],
        &["frobnicate"],
        &["run", "/nonexistent.json"],
        &["run", "x.json", "--engine", "cuda"],
        &["run", "x.json", "--max-steps", "0"],
        &["run", "x.json", "--timeout", "0"],
        &["run", "x.json", "--device", ""],
        &["certify", "/nonexistent"],
        &["build", "/nonexistent"],
        &["couple", "/nonexistent"],
        &["lower", "nosuch"],
        &["list", "nosuch"],
        &["schema", "nosuch"],
        &["completions", "nosuch"],
        &["verify", "/nonexistent"],
        &["report", "/nonexistent", "--report-format", "json"],
        &["mcdc", "a && b", "--vectors", "T-"],
    ] {
        let folder = tempfile::tempdir().unwrap();
        let error = run_json(vkcert().current_dir(folder.path()).args(arguments), 2);
        assert!(
            error["error"]["message"].as_str().is_some_and(|said| said.len() > 8),
            "{arguments:?}: {error:#}"
        );
    }
    // What is missing is part of the message, not of a second line that is left out.
    let error = run_json(vkcert().arg("run"), 2);
    assert!(error["error"]["message"].as_str().unwrap().contains("<FILE>"), "{error:#}");
}

#[test]
fn an_unknown_device_is_unavailable_and_the_hint_fits() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "t.json", procedure(&kernel("", "a[i] = 1u;")).to_string());
    let error = run_json(vkcert().arg("run").arg(&file).args(["--device", "no such device"]), 4);
    assert_eq!(error["error"]["kind"], "unavailable");
    if vkcert().args(["list", "devices"]).output().unwrap().status.success() {
        assert!(error["error"]["hint"].as_str().unwrap().contains("list devices"), "{error:#}");
    }
}

#[test]
fn calls_of_unknown_functions_are_conditions_of_their_own_in_the_calculus() {
    run_json(vkcert().args(["mcdc", "f(x) && f(x)", "--vectors", "TF"]), 0);
    run_json(vkcert().args(["mcdc", "isnan(x) && isnan(x)", "--vectors", "TF"]), 2);
}

/// The smallest project, certified; its evidence folder.
fn evidence(folder: &Path) -> std::path::PathBuf {
    let out = folder.join("out");
    run(
        vkcert()
            .arg("certify")
            .arg(root().join("tests/projects/minimal"))
            .args(["--engine", "sequential", "--out"])
            .arg(&out),
        0,
    );
    out.join("evidence")
}

#[test]
fn tampered_evidence_fails_with_1_whatever_was_done_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let original = evidence(folder.path());
    let kernel = "kernel-double-sequential.json";
    let tampered = |what: &str, change: &dyn Fn(&Path)| {
        let copy = folder.path().join("copy");
        let _ = std::fs::remove_dir_all(&copy);
        copy_tree(&original, &copy);
        change(&copy);
        let result = run_json(vkcert().arg("verify").arg(&copy), 1);
        assert_eq!(result["verified"], false, "{what}");
        assert_ne!(result["problems"], json!([]), "{what}");
    };
    for file in ["campaign.json", kernel] {
        tampered("removed", &|copy| std::fs::remove_file(copy.join(file)).unwrap());
        tampered("garbage", &|copy| std::fs::write(copy.join(file), "{").unwrap());
    }
    tampered("added", &|copy| std::fs::write(copy.join("more.json"), "{}").unwrap());
    // Changed, with the manifest's hash made to fit.
    let edit = |file: &'static str, pointer: &'static str, value: Value| {
        tampered(pointer, &|copy| {
            let path = copy.join(file);
            let before = std::fs::read(&path).unwrap();
            let mut document: Value = serde_json::from_slice(&before).unwrap();
            let place = document.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}"));
            assert_ne!(*place, value, "{pointer}");
            *place = value.clone();
            let after = document.to_string();
            std::fs::write(&path, &after).unwrap();
            let manifest = std::fs::read_to_string(copy.join("manifest.json")).unwrap();
            let changed = manifest.replace(&sha256(&before), &sha256(after.as_bytes()));
            assert_ne!(changed, manifest);
            std::fs::write(copy.join("manifest.json"), changed).unwrap();
        });
    };
    edit("campaign.json", "/tests/0/results/0/verdict", json!("fail"));
    edit("campaign.json", "/conclusion/exit_code", json!(1));
    edit("campaign.json", "/conclusion/summary/0/criteria/0/covered", json!(2));
    edit(kernel, "/coverage/summary/0/covered", json!(2));
    edit(kernel, "/structure/files/0/text", json!("#version 450\n"));
    edit(kernel, "/schema", json!(99));
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn an_interrupted_run_leaves_nothing_and_says_so() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let folder = tempfile::tempdir().unwrap();
        copy_tree(&root().join("tests/projects/endless"), folder.path());
        let mut child = vkcert()
            .arg("certify")
            .arg(folder.path())
            .args(["--engine", "sequential", "--max-steps", "100000000000000"])
            .stderr(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1500));
        let sent = std::process::Command::new("kill")
            .args([&format!("-{signal}"), &child.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(code));
        assert!(!folder.path().join("reports").exists());
    }
}

#[test]
fn output_that_cannot_be_written_is_exit_3_with_the_path() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "file", "");
    let minimal = root().join("tests/projects/minimal");
    let error = run_json(
        vkcert()
            .arg("certify")
            .arg(minimal)
            .args(["--engine", "sequential", "--out"])
            .arg(file.join("sub")),
        3,
    );
    assert!(error["error"]["file"].as_str().unwrap().contains("file"), "{error:#}");
}
