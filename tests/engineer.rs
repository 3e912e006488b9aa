//! What an engineer does between two runs: runs some tests only, asks what is open, reads hints, watches.

mod support;

use support::*;

fn certify(arguments: &[&str]) -> std::process::Command {
    let mut command = vkcert();
    command.arg("certify").arg(root().join("tests/projects/failing")).args(["--engine", "sequential"]).args(arguments);
    command
}

#[test]
fn some_tests_alone_leave_the_others_out_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let project = root().join("tests/projects/configurations");
    let listed = run_json(vkcert().args(["list", "tests"]).arg(&project), 0);
    let ids: Vec<&str> = listed.as_array().unwrap().iter().map(|test| test["id"].as_str().unwrap()).collect();
    assert!(ids.len() > 1);
    let certify = |arguments: &[&str], exit| {
        let mut command = vkcert();
        command.arg("certify").arg(&project).args(["--engine", "sequential"]).args(arguments);
        run_json(command.arg("--out").arg(folder.path().join("out")), exit)
    };
    let campaign = certify(&["--only", ids[0]], 1);
    assert_eq!(campaign["tests"].as_array().unwrap().len(), 1);
    assert_eq!(campaign["left_out"], serde_json::json!(ids[1..]));
    let error = certify(&["--only", "NO-SUCH-TEST"], 2);
    assert!(error["error"]["message"].as_str().unwrap().contains("--only"), "{error:#}");
    certify(&["--only", ids[0], "--without", ids[1]], 2);
}

#[test]
fn open_obligations_are_listed_from_stored_evidence() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let campaign = run_json(certify(&["--out"]).arg(&out), 1);
    let list = |status: &str| {
        let mut command = vkcert();
        command.args(["list", "obligations", "--status", status, "--evidence"]).arg(out.join("evidence"));
        run_json(&mut command, 0).as_array().unwrap().clone()
    };
    let open = list("open");
    assert!(!open.is_empty());
    let is_open = |row: &serde_json::Value| row["status"] == "uncovered" || row["status"] == "undetermined";
    assert!(open.iter().all(is_open), "{open:#?}");
    let all = list("all");
    assert_eq!(all.iter().filter(|row| is_open(row)).count(), open.len());
    // The same number as the summary of a criterion.
    let rows = campaign["conclusion"]["summary"][0]["criteria"].as_array().unwrap();
    let statements = rows.iter().find(|row| row["criterion"] == "statement").unwrap();
    let is_statement = |row: &&serde_json::Value| row["id"].as_str().unwrap().starts_with('S');
    let kernel = &campaign["conclusion"]["summary"][0]["kernel"];
    let listed = all.iter().filter(is_statement).filter(|row| row["kernel"] == *kernel).count();
    assert_eq!(statements["total"], listed);
    run(vkcert().args(["list", "tests", "--status", "open"]).arg(root().join("tests/projects/failing")), 2);
}

#[test]
fn a_verbose_run_says_what_each_test_came_to() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(certify(&["-v", "--out"]).arg(folder.path().join("out")), 1);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains(" on sequential: fail in "), "{said}");
    let quiet = run(certify(&["--out"]).arg(folder.path().join("out")), 1);
    assert_eq!(String::from_utf8(quiet.stderr).unwrap(), "");
}

#[test]
fn a_type_of_another_language_leads_to_the_one_of_glsl() {
    let folder = tempfile::tempdir().unwrap();
    let text = "schema = 1\nkernels.k.source = \"k.comp\"\n[[tests]]\nid = \"T\"\n\
                buffers.a = { type = \"float4\", count = 1 }\ndispatches = []\n";
    let error = run_json(vkcert().arg("run").arg(write(folder.path(), "t.toml", text)), 2);
    assert_eq!(error["error"]["hint"], "did you mean `vec4`?", "{error:#}");
}

#[test]
fn a_failure_comes_with_its_values_and_its_gaps_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(certify(&["--out"]).arg(folder.path().join("out")), 1);
    let text = String::from_utf8(output.stdout).unwrap();
    for words in
        ["values, values[3] at byte 12: expected 8, actual 4, difference 4", "exercised by failed test TC-DBL-01 only"]
    {
        assert!(text.contains(words), "{text}");
    }
    // The failure stands before what follows from it.
    assert!(text.find("expected 8") < text.find("exercised by"), "{text}");
    run(vkcert().arg("verify").arg(folder.path().join("out/evidence")), 0);
}

#[test]
fn manual_pages_are_made_of_every_command() {
    let folder = tempfile::tempdir().unwrap();
    run(vkcert().arg("manual").arg("--out").arg(folder.path()), 0);
    let page = std::fs::read_to_string(folder.path().join("vkcert-certify.1")).unwrap();
    assert!(page.contains("save") && page.contains("outputs"), "{page}");
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| !name.to_string_lossy().contains("__")), "{names:?}");
}

#[test]
fn push_constants_that_a_test_forgets_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let text = "schema = 1\nkernels.k.source.text = '''\n#version 450\n\
                layout(push_constant) uniform P { uint count; float scale; uint unread; } pc;\n\
                layout(std430, binding = 0) buffer A { float a[]; };\n\
                void main() { if (pc.count > 0u) a[0] = pc.scale; }\n'''\n\
                [[tests]]\nid = \"T\"\nbuffers.a = { type = \"float\", data = [1] }\n\
                [[tests.dispatches]]\nkernel = \"k\"\ngroups = [1, 1, 1]\nbindings = [{ binding = 0, buffer = \"a\" }]\n";
    let notes = |name: &str, more: &str, exit| {
        let file = write(folder.path(), name, format!("{text}{more}"));
        let result = run_json(vkcert().arg("run").arg(file).args(["--engine", "sequential"]), exit);
        result["tests"][0]["notes"].to_string()
    };
    let none = notes("none.toml", "", 1);
    assert!(none.contains("push constants that the test does not give: `count`, `scale`"), "{none}");
    let one = notes("one.toml", "push_constants = { count = 1 }\n", 1);
    assert!(one.contains("does not give: `scale`"), "{one}");
    let both = notes("both.toml", "push_constants = { count = 1, scale = 2 }\n", 0);
    assert!(!both.contains("does not give"), "{both}");
}

#[test]
fn a_mismatch_names_the_member_of_the_kernels_block() {
    let folder = tempfile::tempdir().unwrap();
    let source = "#version 450
        struct Particle { vec3 position; float mass; };
        layout(std430, set = 0, binding = 0) buffer Block {
            uint count; layout(row_major) mat2x3 turn; uint grid[2][3]; Particle particles[];
        };
        void main() { count = 1u; }";
    // Offsets by the rules of std430: the matrix at 8 (three rows, 8 bytes apart), the grid at 32, particles at 64.
    let text = serde_json::json!({
        "schema": 1,
        "kernels": { "k": { "source": { "text": source } } },
        "tests": [{
            "id": "T",
            "buffers": { "b": { "type": "uint", "data": vec![7; 24] } },
            "dispatches": [{ "kernel": "k", "groups": [1, 1, 1],
                "bindings": [{ "set": 0, "binding": 0, "buffer": "b" }] }],
            "expect": [
                { "buffer": "b", "type": "uint", "values": vec![8; 15] },
                { "buffer": "b", "type": "uint", "offset": 60, "values": vec![8; 9] }
            ]
        }]
    });
    let procedure = write(folder.path(), "t.json", text.to_string());
    let run_of_it = || {
        let mut command = vkcert();
        command.arg("run").arg(&procedure).args(["--engine", "sequential"]);
        command
    };
    let result = run_json(&mut run_of_it(), 1);
    let mismatches = result["tests"][0]["mismatches"].as_array().unwrap();
    let member = |offset: u64| {
        let at = |mismatch: &&serde_json::Value| mismatch["offset"] == offset;
        mismatches.iter().find(at).unwrap()["member"].as_str().unwrap_or("none").to_owned()
    };
    let due = [
        (0, "count"),
        (4, "none"),
        (8, "turn[0].x"),
        (12, "turn[1].x"),
        (16, "turn[0].y"),
        (28, "turn[1].z"),
        (32, "grid[0][0]"),
        (40, "grid[0][2]"),
        (52, "grid[1][2]"),
        (56, "none"),
        (60, "none"),
        (64, "particles[0].position.x"),
        (76, "particles[0].mass"),
        (88, "particles[1].position.z"),
    ];
    assert_eq!(due.map(|(offset, _)| (offset, member(offset))), due.map(|(offset, name)| (offset, name.to_owned())));
    let text = String::from_utf8(run(&mut run_of_it(), 1).stdout).unwrap();
    assert!(text.contains("b, grid[0][2] at byte 40: expected 8, found 7"), "{text}");
}
