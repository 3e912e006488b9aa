//! Device addresses, arrays of descriptors, workgroup memory with a layout: the sequential engine
//! against a device, and the findings that only it makes.

use crate::support;

use serde_json::{Value, json};
use support::{run, vkcert, write};

/// Runs a procedure file on an engine; exit code as given.
fn results(procedure: &Value, engine: &str, code: i32) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "run.json", procedure.to_string());
    let mut program = vkcert();
    program.arg("run").arg(file).args(["--engine", engine, "--format", "json", "--dump-buffers"]);
    let output = run(&mut program, code);
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    result["tests"].as_array().unwrap().clone()
}

fn has_device() -> bool {
    let found = vkcert().args(["list", "devices"]).output().unwrap().status.success();
    assert!(found || std::env::var("VKCERT_REQUIRE_VULKAN").as_deref() != Ok("1"));
    found
}

/// The test passes on the sequential engine, and leaves the same on the device if there is one.
fn agree(procedure: &Value) {
    let ours = results(procedure, "sequential", 0);
    assert!(
        ours.iter().all(|test| test["verdict"] == "pass" && test["findings"] == json!([])),
        "{ours:#?}"
    );
    if !has_device() {
        eprintln!("NOT RUN on a device");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "run.json", procedure.to_string());
    let arguments = ["--engine", "vulkan", "--format", "json", "--dump-buffers"];
    let output = vkcert().arg("run").arg(file).args(arguments).output().unwrap();
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    for (ours, theirs) in ours.iter().zip(result["tests"].as_array().unwrap()) {
        if theirs["verdict"] == "unsupported" {
            eprintln!("NOT RUN on the device: {}", theirs["reason"]);
            continue;
        }
        assert_eq!(
            (&ours["verdict"], &ours["buffers"]),
            (&theirs["verdict"], &theirs["buffers"]),
            "{}",
            ours["id"]
        );
    }
}

fn kinds(tests: &[Value]) -> Vec<(String, String)> {
    let findings = tests.iter().flat_map(|test| test["findings"].as_array().unwrap());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    findings.map(|finding| (text(&finding["kind"]), text(&finding["message"]))).collect()
}

const REFERENCE: &str = "#version 460
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 4) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint word[]; };
layout(buffer_reference) buffer Node;
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Node { Node next; uint value; uint8_t small[4]; };
layout(push_constant) uniform P { Words data; Words out_; Node list; uint shift; };
";

fn reference(body: &str, shift: u32) -> Value {
    json!({
        "schema": 1,
        "kernels": {"k": {"source": {"text": format!("{REFERENCE}void main() {{ uint i = gl_LocalInvocationIndex; {body} }}")}, "target_env": "vulkan1.2"}},
        "tests": [{
            "id": "T",
            "buffers": {
                "data": {"type": "uint", "data": [10, 20, 30, 40, 50, 60, 70, 80]},
                "out": {"type": "uint", "data": [0, 0, 0, 0, 0, 0, 0, 0]},
                "one": {"type": "uint", "data": [0, 0, 7, 0x0403_0201], "address_of": [{"at": 0, "buffer": "two"}]},
                "two": {"type": "uint", "data": [0, 0, 9, 0x0807_0605], "address_of": [{"at": 0, "buffer": "one"}]},
            },
            "dispatches": [{"kernel": "k", "groups": [1, 1, 1], "push_constants": {
                "data": {"address_of": "data"}, "out_": {"address_of": "out"}, "list": {"address_of": "one"}, "shift": shift,
            }}],
        }],
    })
}

#[test]
fn addresses_are_walked_stored_and_computed_with() {
    for body in [
        "out_.word[i] = data.word[i + shift];",
        "Node n = list; for (uint k = 0; k < i; k++) { n = n.next; } out_.word[i] = n.value + uint(n.small[i]);",
        "Words w = i < 2u ? data : out_; if (i >= 2u) { out_.word[i] = 5u; } out_.word[i + 4u] = w.word[i];",
        "uvec2 bits = uvec2(data); out_.word[i] = Words(bits).word[i + 1u];",
        "uint64_t bits = uint64_t(data); out_.word[i] = Words(bits + uint64_t(4u * i)).word[3];",
        "atomicAdd(out_.word[i & 1u], data.word[i]); ",
        "if (i == 0u) { list.next.small[1] = uint8_t(77); list.value = uint(list.next.small[1]) + 1u; }",
    ] {
        agree(&reference(body, 2));
    }
}

#[test]
fn what_an_address_leads_to_is_checked() {
    let outside =
        kinds(&results(&reference("out_.word[i] = data.word[i + shift];", 6), "sequential", 1));
    assert_eq!(outside.len(), 1, "{outside:?}");
    assert_eq!(outside[0].0, "out-of-bounds");
    assert!(outside[0].1.contains("ends behind the 32 bytes"), "{outside:?}");
    let nowhere = kinds(&results(
        &reference("out_.word[i] = Words(uvec2(i + 12u, 0u)).word[i];", 0),
        "sequential",
        1,
    ));
    assert!(
        nowhere
            .iter()
            .any(|(kind, text)| kind == "out-of-bounds" && text.contains("is in no buffer")),
        "{nowhere:?}"
    );
    let race = kinds(&results(&reference("out_.word[0] = data.word[i];", 0), "sequential", 1));
    assert_eq!(race.first().map(|(kind, _)| kind.as_str()), Some("data-race"), "{race:?}");
    let free = kinds(&results(&reference("list.small[i] = uint8_t(i);", 0), "sequential", 0));
    assert_eq!(free, []);
}

fn descriptors(body: &str, declared: &str, bound: u32) -> Value {
    let text = format!(
        "#version 460
#extension GL_EXT_nonuniform_qualifier : require
layout(local_size_x = 8) in;
layout(std430, set = 0, binding = 0) buffer A {{ uint a[]; }} s[{declared}];
layout(std430, set = 0, binding = 1) buffer O {{ uint o[]; }};
void main() {{ uint i = gl_LocalInvocationIndex; {body} }}"
    );
    let mut buffers = serde_json::Map::new();
    let mut bindings = vec![json!({"set": 0, "binding": 1, "buffer": "o"})];
    for index in 0..bound {
        let data: Vec<u32> = (0..4 + index).map(|at| 100 * index + at).collect();
        buffers.insert(format!("a{index}"), json!({"type": "uint", "data": data}));
        bindings.push(
            json!({"set": 0, "binding": 0, "array_index": index, "buffer": format!("a{index}")}),
        );
    }
    buffers.insert("o".to_owned(), json!({"type": "uint", "data": [0, 0, 0, 0, 0, 0, 0, 0]}));
    json!({
        "schema": 1,
        "kernels": {"k": {"source": {"text": text}, "target_env": "vulkan1.2"}},
        "tests": [{"id": "T", "buffers": buffers, "dispatches": [{"kernel": "k", "groups": [1, 1, 1], "bindings": bindings}]}],
    })
}

#[test]
fn arrays_of_descriptors_take_any_index() {
    for (body, declared) in [
        ("o[i] = s[nonuniformEXT(i & 3u)].a[i >> 2];", "4"),
        (
            "s[nonuniformEXT(i & 3u)].a[i >> 2] += 7u; o[i] = uint(s[nonuniformEXT(i & 3u)].a.length());",
            "4",
        ),
        ("uint k = s[0].a[0]; o[i] = s[k + 2u].a[i & 3u];", "4"),
        ("atomicAdd(s[nonuniformEXT(i >> 2)].a[1], i);", "4"),
        ("if ((i & 1u) == 0u) { o[i] = s[nonuniformEXT(i >> 1)].a[3]; } else { o[i] = 1u; }", "4"),
    ] {
        agree(&descriptors(body, declared, 4));
    }
    let found =
        kinds(&results(&descriptors("o[i] = s[nonuniformEXT(i)].a[0];", "4", 4), "sequential", 1));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].1.contains("index 4 is outside the 4 descriptors"), "{found:?}");
}

#[test]
fn a_runtime_array_has_the_descriptors_that_are_bound() {
    let procedure = descriptors("o[i] = s[nonuniformEXT(i % 3u)].a[i & 1u];", "", 3);
    let tests = results(&procedure, "sequential", 0);
    assert_eq!((&tests[0]["verdict"], &tests[0]["findings"]), (&json!("pass"), &json!([])));
    let found =
        kinds(&results(&descriptors("o[i] = s[nonuniformEXT(i)].a[0];", "", 3), "sequential", 1));
    assert!(
        found.iter().any(|(_, text)| text.contains("index 3 is outside the 3 descriptors")),
        "{found:?}"
    );
}

#[test]
fn workgroup_memory_is_zero_where_it_is_said_and_laid_out_where_it_is_a_block() {
    let kernel = |extensions: &str, body: &str| {
        json!({
            "schema": 1,
            "kernels": {"k": {"source": {"text": format!(
                "#version 460\n{extensions}\nlayout(local_size_x = 4) in;\nlayout(std430, set = 0, binding = 0) buffer O {{ uint o[]; }};\n{body}"
            )}, "target_env": "vulkan1.2"}},
            "tests": [{"id": "T", "buffers": {"o": {"type": "uint", "data": [0, 0, 0, 0]}},
                "dispatches": [{"kernel": "k", "groups": [2, 1, 1], "bindings": [{"set": 0, "binding": 0, "buffer": "o"}]}]}],
        })
    };
    let zeroed = kernel(
        "#extension GL_EXT_null_initializer : require",
        "shared uint s[4] = {}; shared uint t[4];
         void main() { uint i = gl_LocalInvocationIndex; t[i] = 1u; s[i] += t[i]; if (gl_WorkGroupID.x == 1u) { o[i] = s[i]; } }",
    );
    let tests = results(&zeroed, "sequential", 0);
    assert_eq!(tests[0]["findings"], json!([]));
    let blocks = "#extension GL_EXT_shared_memory_block : require\n#extension GL_EXT_shader_explicit_arithmetic_types : require";
    let block = kernel(
        blocks,
        "shared A { uint8_t bytes[16]; }; shared B { uint words[4]; };
         void main() { uint i = gl_LocalInvocationIndex; bytes[i] = uint8_t(i + 1u); barrier(); if (gl_WorkGroupID.x == 0u) { o[i] = i == 0u ? words[0] : i; } }",
    );
    let tests = results(&block, "sequential", 0);
    assert_eq!(tests[0]["findings"], json!([]), "four bytes of a word are four elements");
    let bytes = base64::Engine::decode(
        &base64::engine::general_purpose::STANDARD,
        tests[0]["buffers"]["o"].as_str().unwrap(),
    );
    assert_eq!(bytes.unwrap()[..4], [1, 2, 3, 4], "both blocks are the same memory");
}
