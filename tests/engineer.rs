//! What an engineer does between two runs: runs some tests only, asks what is open, reads hints,
//! watches.

use crate::support;

use support::*;

fn certify(arguments: &[&str]) -> std::process::Command {
    let mut command = vkcert();
    command
        .arg("certify")
        .arg(root().join("tests/projects/failing"))
        .args(["--engine", "sequential"])
        .args(arguments);
    command
}

#[test]
fn some_tests_alone_leave_the_others_out_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let project = root().join("tests/projects/configurations");
    let listed = run_json(vkcert().args(["list", "tests"]).arg(&project), 0);
    let ids: Vec<&str> =
        listed.as_array().unwrap().iter().map(|test| test["id"].as_str().unwrap()).collect();
    assert!(ids.len() > 1);
    let certify = |arguments: &[&str], exit| {
        let mut command = vkcert();
        command.arg("certify").arg(&project).args(["--engine", "sequential"]).args(arguments);
        run_json(command.arg("--out").arg(folder.path().join("out")), exit)
    };
    let campaign = certify(&["--only", ids[0]], 1);
    assert_eq!(campaign["tests"].as_array().unwrap().len(), 1);
    assert_eq!(campaign["left_out"], serde_json::json!(ids[1..]));
    let mut list = vkcert();
    list.args(["list", "obligations", "--status", "open", "--evidence"])
        .arg(folder.path().join("out/evidence"));
    let told = String::from_utf8(list.arg(&project).output().unwrap().stderr).unwrap();
    let (count, sentence) = (ids.len() - 1, "left out of this campaign (");
    assert!(
        told.starts_with(&format!("warning: {count} test")) && told.contains(sentence),
        "{told}"
    );
    assert!(told.contains(ids[1]), "{told}");
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
        command
            .args(["list", "obligations", "--status", status, "--evidence"])
            .arg(out.join("evidence"));
        run_json(&mut command, 0).as_array().unwrap().clone()
    };
    let open = list("open");
    assert!(!open.is_empty());
    let is_open =
        |row: &serde_json::Value| row["status"] == "uncovered" || row["status"] == "undetermined";
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
    run(
        vkcert()
            .args(["list", "tests", "--status", "open"])
            .arg(root().join("tests/projects/failing")),
        2,
    );
    // What a justification that is written by hand is bound to is what the project's own listing
    // says.
    let of_project = run_json(
        vkcert().args(["list", "obligations"]).arg(root().join("tests/projects/failing")),
        0,
    );
    for row in &open {
        let same = |other: &&serde_json::Value| {
            other["id"] == row["id"] && other["kernel"] == row["kernel"]
        };
        assert_eq!(
            of_project.as_array().unwrap().iter().find(same).unwrap()["hash"],
            row["hash"],
            "{row:#}"
        );
    }
    let text = |arguments: &[&str]| {
        let mut command = vkcert();
        command
            .args(["list", "obligations", "--evidence"])
            .arg(out.join("evidence"))
            .args(arguments);
        String::from_utf8(run(&mut command, 0).stdout).unwrap()
    };
    let (bare, hashed) = (text(&["--status", "open"]), text(&["--status", "open", "--hash"]));
    assert!(!bare.contains("sha256:") && hashed.contains("sha256:"), "{hashed}");
    // No configuration rules any of them out.
    assert!(
        !bare.contains("--propose") && bare.contains("--status open --hash --evidence"),
        "{bare}"
    );
    assert!(hashed.contains("justified by hand") && hashed.contains("the hash above"), "{hashed}");
    assert!(!text(&["--status", "covered"]).contains("Next:"));
    run(
        vkcert().args(["list", "obligations", "--hash"]).arg(root().join("tests/projects/failing")),
        2,
    );
}

/// The summary ends with what to do about each kind of what is left, and with nothing where nothing
/// is left.
#[test]
fn the_summary_names_what_comes_next() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("new");
    run(vkcert().arg("init").arg(&project), 0);
    let summary = |exit| {
        let mut command = vkcert();
        let output = run(command.args(["certify", "--engine", "sequential"]).arg(&project), exit);
        String::from_utf8(output.stdout).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let clean = summary(0);
    assert!(
        !clean.contains(" Next ") && !clean.contains("not pinned") && !clean.contains("robustness"),
        "{clean}"
    );
    // A test that is left out may be a robustness test, and is to be run in the end.
    let output = run(
        vkcert().args(["certify", "--engine", "sequential", "--only", "TC-SCALE-01"]).arg(&project),
        1,
    );
    let part =
        String::from_utf8(output.stdout).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    let whole = format!("tests left out: `vkcert certify {}` runs all of them", project.display());
    assert!(
        part.contains(&whole) && part.contains("No test of this run is a robustness test"),
        "{part}"
    );
    let file = project.join("requirements/scale.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let (pin, _) = text.split_once(", hash = \"").unwrap();
    let hash = &text[pin.len()..pin.len() + ", hash = \"sha256:\"".len() + 64];
    std::fs::write(
        &file,
        text.replace(hash, "")
            .replace("-2, 1, 4, 7, 3", "1, 1, 4, 4, 3")
            .replace("0, 2, 8, 10, 6", "2, 2, 8, 8, 6")
            .replace("-1e30, 1e30, 0, 5", "1, 1, 0, 5")
            .replace("0, 10, 0, 10, -1", "2, 2, 0, 10, -1"),
    )
    .unwrap();
    let settings = std::fs::read_to_string(project.join("vkcert.toml")).unwrap();
    std::fs::write(
        project.join("vkcert.toml"),
        settings.replace("level = \"A\"", "level = \"A\"\nvalidation = \"off\""),
    )
    .unwrap();
    let left = summary(1);
    let shown = project.display();
    for step in [
        format!("Next uncovered: `vkcert list obligations {shown} --status open` lists all"),
        "`[[accept]]` with `item = \"validation-off\"`, reason, author, approver".to_owned(),
        format!("links not pinned: review them, then `vkcert requirements {shown} --pin`"),
    ] {
        assert!(left.contains(&step), "{step}: {left}");
    }
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
    for words in [
        "values, values[3] at byte 12: expected 8, actual 4, difference 4",
        "exercised by failed test TC-DBL-01 only",
    ] {
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
    let names: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
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
    assert!(
        none.contains("push constants that the test does not give: `count`, `scale`"),
        "{none}"
    );
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
    // Offsets by the rules of std430: the matrix at 8 (three rows, 8 bytes apart), the grid at 32,
    // particles at 64.
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
    assert_eq!(
        due.map(|(offset, _)| (offset, member(offset))),
        due.map(|(offset, name)| (offset, name.to_owned()))
    );
    let text = String::from_utf8(run(&mut run_of_it(), 1).stdout).unwrap();
    assert!(text.contains("b, grid[0][2] at byte 40: expected 8, found 7"), "{text}");
}

/// Every command that a text advises: `vkcert ...` between backticks.
fn advised(text: &str) -> Vec<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.split('`')
        .skip(1)
        .step_by(2)
        .filter(|words| words.starts_with("vkcert "))
        .map(str::to_owned)
        .collect()
}

/// Follows what is advised, and what that advises, where the first command was given. Returns the
/// commands.
fn followed(folder: &std::path::Path, first: std::process::Command, exit: i32) -> Vec<String> {
    let (mut first, mut done) = (first, Vec::new());
    let bin =
        std::path::Path::new(env!("CARGO_BIN_EXE_vkcert")).parent().unwrap().display().to_string();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap());
    let mut open =
        advised(&String::from_utf8(run(first.current_dir(folder), exit).stdout).unwrap());
    while let Some(command) = open.pop() {
        if done.contains(&command) {
            continue;
        }
        let mut shell = std::process::Command::new("sh");
        shell
            .args(["-c", &command])
            .env("PATH", &path)
            .env("VKCERT_CACHE", "off")
            .current_dir(folder)
            .stdin(std::process::Stdio::null());
        let output = shell.output().unwrap();
        let (said, told) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!(output.status.code(), Some(0), "{command}: {said}{told}");
        for idle in ["nothing to list", "nothing to propose", "No finding stands"] {
            assert!(!said.contains(idle), "{command}: {said}");
        }
        open.extend(advised(&said));
        done.push(command);
    }
    done.sort();
    done
}

/// From a folder that is not the project's, with evidence elsewhere, too: what is advised does what
/// it says.
#[test]
fn whoever_follows_what_is_advised_gets_what_was_promised() {
    let folder = tempfile::tempdir().unwrap();
    let certify = |project: &str, arguments: &[&str]| {
        let mut command = vkcert();
        command.args(["certify", project, "--engine", "sequential"]).args(arguments);
        command
    };
    let copy = |name: &str, to: &str| {
        copy_tree(&root().join("tests/projects").join(name), &folder.path().join(to))
    };
    copy("failing", "failing project");
    let commands = followed(folder.path(), certify("failing project", &["--out", "else where"]), 1);
    let list = "vkcert list obligations --status open";
    assert!(commands.contains(&format!("{list} --evidence 'else where/evidence'")), "{commands:?}");
    assert!(
        commands.contains(&format!("{list} --hash --evidence 'else where/evidence'")),
        "{commands:?}"
    );
    copy("configurations", "configurations");
    let file = folder.path().join("configurations/requirements");
    let gone = std::fs::read_dir(&file).unwrap().map(|entry| entry.unwrap().path());
    for path in gone {
        // Without its justifications.
        let text = std::fs::read_to_string(&path).unwrap();
        let kept: Vec<&str> =
            text.split("\n\n").filter(|block| !block.contains("[[justification]]")).collect();
        std::fs::write(&path, kept.join("\n\n")).unwrap();
    }
    let commands = followed(folder.path(), certify("configurations", &[]), 1);
    assert!(
        commands.contains(&"vkcert list obligations configurations --propose".to_owned()),
        "{commands:?}"
    );
    copy("paper_defects", "defects");
    let commands = followed(folder.path(), certify("defects", &[]), 1);
    for command in
        ["list findings defects", "list findings defects --propose", "requirements defects --pin"]
    {
        assert!(commands.contains(&format!("vkcert {command}")), "{command}: {commands:?}");
    }
    // The same of a report that is made later, from evidence alone.
    let mut report = vkcert();
    report.args(["report", "defects/reports/evidence", "--report-format", "terminal"]);
    assert!(!followed(folder.path(), report, 0).is_empty());
    // A parent has changed since.
    let file = folder.path().join("defects/requirements");
    let path = std::fs::read_dir(&file).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("statement = \"", "statement = \"Now ", 1)).unwrap();
    let mut links = vkcert();
    links.args(["requirements", "defects"]);
    assert_eq!(followed(folder.path(), links, 1), ["vkcert requirements defects --pin --suspect"]);
    // Who starts with nothing.
    let mut init = vkcert();
    init.args(["init", "my project"]);
    assert_eq!(followed(folder.path(), init, 0), ["vkcert certify 'my project'"]);
}
