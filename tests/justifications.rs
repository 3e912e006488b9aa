//! Justifications of obligations: what they are bound to, what refutes them, what each class
//! closes, and that `verify` finds whatever is changed about them.
//!
//! Each way in which code can become other code under a justification has a small project of its
//! own: the justification is accepted before, and stale after.

use crate::support;

use serde_json::Value;
use std::path::{Path, PathBuf};
use support::*;

/// Four samples in, four results out.
const HEAD: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer Samples { int a[]; };
layout(std430, binding = 1) buffer Results { int r[]; };
";

const SETTINGS: &str =
    "schema = 1\nname = \"Justified\"\nlevel = \"A\"\n\n[[kernel]]\nname = \"k\"\n";
const GLSL: &str = "source = \"k.comp\"\n";

const REQUIREMENTS: &str = "schema = 1

[[requirement]]
uid = \"HLR-1\"
level = \"HLR\"
title = \"Results\"
statement = \"The kernel shall give a result for each sample.\"
verification = [\"test\"]
";

/// A test of the samples; `requirements` decide whether it counts, `results` whether it passes.
fn test(id: &str, requirements: &str, samples: &str, results: &str) -> String {
    format!(
        "
[[test]]
id = \"{id}\"
requirements = [{requirements}]
buffers.a = {{ type = \"int\", data = {samples} }}
buffers.r = {{ type = \"int\", fill = {{ constant = -1 }}, count = 4 }}
expect = [{{ buffer = \"r\", values = {results} }}]

[[test.dispatches]]
kernel = \"k\"
groups = [1, 1, 1]
bindings = [{{ binding = 0, buffer = \"a\" }}, {{ binding = 1, buffer = \"r\" }}]
"
    )
}

fn passing() -> String {
    test("T1", "\"HLR-1\"", "[3, 3, 3, 3]", "[1, 1, 1, 1]")
}

struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    fn new(body: &str, tests: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "vkcert.toml", format!("{SETTINGS}{GLSL}"));
        write(folder.path(), "k.comp", format!("{HEAD}{body}"));
        write(folder.path(), "requirements/k.toml", format!("{REQUIREMENTS}{tests}"));
        Self { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn evidence(&self) -> PathBuf {
        self.path().join("reports/evidence")
    }

    fn change(&self, file: &str, from: &str, to: &str) {
        let path = self.path().join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file} has no `{from}`");
        std::fs::write(path, text.replacen(from, to, 1)).unwrap();
    }

    /// Puts justifications into the project, with the hashes that their obligations have now.
    fn justify_all(&self, obligations: &[&str], stated: &str) {
        let rows = run_json(vkcert().args(["list", "obligations"]).arg(self.path()), 0);
        let justification = |obligation: &&str| {
            let row = rows.as_array().unwrap().iter().find(|row| row["id"] == *obligation);
            let hash =
                row.unwrap_or_else(|| panic!("no obligation {obligation}: {rows:#}"))["hash"]
                    .as_str()
                    .unwrap();
            format!(
                "[[justification]]\nkernel = \"k\"\nobligation = \"{obligation}\"\n{stated}\nreason = \"Reviewed.\"\n\
                 author = \"A. Author\"\napprover = \"B. Approver\"\nhash = \"{hash}\"\n\n"
            )
        };
        let all: String = obligations.iter().map(justification).collect();
        write(self.path(), "requirements/justified.toml", format!("schema = 1\n\n{all}"));
    }

    fn justify(&self, obligation: &str, stated: &str) {
        self.justify_all(&[obligation], stated);
    }

    /// The campaign, whatever it comes to; its evidence verifies.
    fn certify(&self) -> Value {
        let mut command = vkcert();
        command.arg("certify").arg(self.path()).args([
            "--engine",
            "sequential",
            "--quiet",
            "--format",
            "json",
        ]);
        let output = command.output().unwrap();
        let campaign: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        assert!(campaign["error"].is_null(), "{campaign:#}");
        run(vkcert().arg("verify").arg(self.evidence()), 0);
        campaign
    }

    /// Why each justification is rejected; nothing where it counts.
    fn rejections(&self) -> Vec<String> {
        let campaign = self.certify();
        let rows = campaign["justifications"].as_array().unwrap().iter();
        rows.map(|row| row["rejected"].as_str().unwrap_or_default().to_owned()).collect()
    }

    fn rejection(&self) -> String {
        self.rejections().remove(0)
    }

    fn kernel(&self) -> Value {
        let name = self.evidence().join("kernel-k-sequential.json");
        serde_json::from_slice(&std::fs::read(name).unwrap()).unwrap()
    }
}

const DEFENSIVE: &str = "class = \"defensive\"";

/// What a justification was written for, and what becomes of it.
struct Way {
    name: &'static str,
    obligation: &'static str,
    body: &'static str,
    from: &'static str,
    to: &'static str,
}

const LONG: &str = "a[0] + a[1] + a[2] + a[3] + a[0] + a[1] + a[2] + a[3] + a[0] + a[1] + a[2] + a[3] + a[0] + a[1] + \
                    a[2] + a[3] + a[0] + a[1] + a[2] + a[3] + a[0] + a[1] + a[2] + a[3] + a[0] + a[1] + a[2]";

const GUARDED: &str = "void main() {
    int g = int(gl_GlobalInvocationID.x);
    r[g] = 1;
    if (a[g] > 100) { r[g] = 0; }
}
";

#[test]
fn a_justification_goes_stale_with_the_code() {
    let ways = [
        Way {
            name: "object code",
            obligation: "B1.T",
            body: GUARDED,
            from: "a[g] > 100",
            to: "(a[g] ^ 12) * 7 > 99",
        },
        Way {
            name: "another constant",
            obligation: "S4",
            body: GUARDED,
            from: "r[g] = 1;",
            to: "r[g] = 2 - 1 + a[3] / 9;",
        },
        Way {
            name: "an equal decision before it",
            obligation: "D1.T",
            body: GUARDED,
            from: "    r[g] = 1;\n",
            to: "    switch (g) { case 5: if (a[g] > 100) r[g] = 5; }\n    r[g] = 1;\n",
        },
        Way {
            name: "a branch in a function that is called",
            obligation: "D1.C1.masking",
            body: "bool above(int x) { return x > 100 && x < 900; }
void main() { int g = int(gl_GlobalInvocationID.x); r[g] = 1; if (above(a[g])) { r[g] = 0; } }
",
            from: "x < 900",
            to: "x < 901",
        },
        Way {
            name: "a macro",
            obligation: "S4",
            body: "#define SET(x) r[g] = (x)
void main() { int g = int(gl_GlobalInvocationID.x); SET(1); if (a[g] > 100) { SET(7); } }
",
            from: "(x)\n",
            to: "(x) + a[1]\n",
        },
        Way {
            name: "the selector of a switch",
            obligation: "W1.L1",
            body: "void main() { int g = int(gl_GlobalInvocationID.x); r[g] = 1; switch (a[g]) { case 9: r[g] = 2; } }\n",
            from: "switch (a[g])",
            to: "switch (a[3 - g])",
        },
        Way {
            name: "a combination",
            obligation: "D1.V.TT",
            body: "void main() { int g = int(gl_GlobalInvocationID.x); r[g] = 1; if (a[g] > 1 && a[g] > 99) { r[g] = 0; } }\n",
            from: "a[g] > 99",
            to: "a[g] > 98",
        },
        Way {
            name: "an exit",
            obligation: "F1.X1",
            body: "void main() { int g = int(gl_GlobalInvocationID.x); r[g] = 1; if (a[g] > 99) { return; } }\n",
            from: "> 99",
            to: "> 98",
        },
        Way {
            name: "a barrier",
            obligation: "BAR1",
            body: "void main() { int g = int(gl_GlobalInvocationID.x); r[g] = 1; if (a[0] > 99) { barrier(); } }\n",
            from: "> 99",
            to: "> 98",
        },
    ];
    for Way { name, obligation, body, from, to } in ways {
        let project = Project::new(body, &passing());
        let criteria = "criteria = [\"statement\", \"branch\", \"decision\", \"mcdc-masking\", \"multiple-condition\", \
                        \"object-branch\", \"barrier\"]\n";
        project.change("vkcert.toml", "\n[[kernel]]", &format!("{criteria}\n[[kernel]]"));
        project.justify(obligation, DEFENSIVE);
        // What only moves stays justified.
        project.change("k.comp", "void main()", "// Moved.\n\nvoid   main(/* nothing */)");
        assert_eq!(project.rejection(), "", "{name}");
        project.change("k.comp", from, to);
        let rejection = project.rejection();
        let words = format!(
            "stale: {obligation} or the code or configuration of its kernel is not what was signed for"
        );
        assert!(rejection.starts_with(&words), "{name}: {rejection}");
    }
}

#[test]
fn text_behind_what_is_displayed_is_part_of_it() {
    let body = format!(
        "void main() {{ int g = int(gl_GlobalInvocationID.x); r[g] = 1; if (a[g] > 100) {{ r[g] = {LONG} + a[3]; }} }}\n"
    );
    let project = Project::new(&body, &passing());
    project.justify("S4", DEFENSIVE);
    assert_eq!(project.rejection(), "");
    project.change("k.comp", "a[2] + a[3]; }", "a[2] * 77777 + r[1234567]; }");
    assert!(project.rejection().starts_with("stale: "));
}

/// The compiler makes the same code of both, and the statement that the number names is another
/// one.
#[test]
fn an_equal_statement_that_makes_no_code_is_counted() {
    let body = "void main() {
    int g = int(gl_GlobalInvocationID.x);
    r[g] = 1;
    if (a[g] > 100) { int x = a[0]; r[g] = 0; }
}
";
    let project = Project::new(body, &passing());
    project.justify("S4", DEFENSIVE);
    assert_eq!(project.rejection(), "");
    let code = project.kernel()["modules"]["code"].clone();
    project.change("k.comp", "    r[g] = 1;\n", "    r[g] = 1;\n    { int x = a[0]; }\n");
    project.change(
        "k.comp",
        "    int g = int(gl_GlobalInvocationID.x);\n    r[g] = 1;",
        "    int g = int(gl_GlobalInvocationID.x); r[g] = 1;",
    );
    let rejection = project.rejection();
    if project.kernel()["modules"]["code"] == code {
        assert!(rejection.starts_with("stale: "), "{rejection}");
    }
    let rows = run_json(vkcert().args(["list", "obligations"]).arg(project.path()), 0);
    let equal: Vec<&Value> = rows
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["text"] == "int x = a[0];")
        .map(|row| &row["hash"])
        .collect();
    assert!(equal.len() == 2 && equal[0] != equal[1], "{rows:#}");
}

#[test]
fn what_a_configuration_fixes_is_part_of_it() {
    let body = "layout(constant_id = 0) const int MODE = 0;
void main() { int g = int(gl_GlobalInvocationID.x); r[g] = 1; if (a[g] > 100 + MODE) { r[g] = 0; } }
";
    let configured =
        "\n[[kernel.configuration]]\nname = \"plain\"\nspecialization = { 0 = { value = 0 } }\n";
    let project = Project::new(body, &passing());
    write(project.path(), "vkcert.toml", format!("{SETTINGS}{GLSL}{configured}"));
    project.justify("D1.T", DEFENSIVE);
    assert_eq!(project.rejection(), "");
    project.change("vkcert.toml", "value = 0", "value = 1");
    assert!(project.rejection().starts_with("stale: "));
    // So is a configuration that comes to the kernel.
    project.change("vkcert.toml", "value = 1", "value = 0");
    assert_eq!(project.rejection(), "");
    let more = configured.replace("plain", "more").replace("value = 0", "value = 3");
    write(project.path(), "vkcert.toml", format!("{SETTINGS}{GLSL}{configured}{more}"));
    assert!(project.rejection().starts_with("stale: "));
}

/// Where no configuration is declared, tests make them: without these tests nothing is stale, and
/// nothing is judged.
#[test]
fn what_a_left_out_test_configures_is_not_judged() {
    let body = "layout(constant_id = 0) const int MODE = 0;
void main() { int g = int(gl_GlobalInvocationID.x); r[g] = 1; if (a[g] > 100 + MODE) { r[g] = 0; } }
";
    let dispatch = "specialization = { 0 = { value = 1 } }\n";
    let other =
        passing().replace("\"T1\"", "\"T2\"").replace("groups", &format!("{dispatch}groups"));
    let project = Project::new(body, &format!("{}{other}", passing()));
    project.justify("D1.T", DEFENSIVE);
    assert_eq!(project.rejection(), "");
    let mut command = vkcert();
    command.arg("certify").arg(project.path()).args([
        "--engine",
        "sequential",
        "--quiet",
        "--without",
        "T2",
    ]);
    let campaign = run_json(&mut command, 1);
    let row = &campaign["justifications"][0];
    assert_eq!(row["rejected"], Value::Null);
    assert!(row["not_judged"].as_str().unwrap().starts_with("tests were left out"), "{row:#}");
    assert_eq!(project.kernel()["coverage"]["decisions"][0]["outcomes"][0]["status"], "uncovered");
    run(vkcert().arg("verify").arg(project.evidence()), 0);
    // What is stale for its code is so with all tests.
    project.change("k.comp", "> 100", "> 101");
    assert!(project.rejection().starts_with("stale: "));
}

#[test]
fn headers_and_defines_are_part_of_it() {
    let body = "#include \"limit.h\"
void main() { int g = int(gl_GlobalInvocationID.x); r[g] = 1; if (a[g] > LIMIT + MORE) { r[g] = 0; } }
";
    let project = Project::new(
        &format!("#extension GL_GOOGLE_include_directive : enable\n{body}"),
        &passing(),
    );
    write(project.path(), "limit.h", "#define LIMIT 100\n");
    write(project.path(), "vkcert.toml", format!("{SETTINGS}{GLSL}defines = {{ MORE = \"0\" }}\n"));
    project.justify("D1.T", DEFENSIVE);
    assert_eq!(project.rejection(), "");
    write(project.path(), "limit.h", "#define LIMIT 101\n");
    assert!(project.rejection().starts_with("stale: "));
    write(project.path(), "limit.h", "#define LIMIT 100\n");
    project.change("vkcert.toml", "MORE = \"0\"", "MORE = \"1\"");
    assert!(project.rejection().starts_with("stale: "));
}

const TWO_CONDITIONS: &str = "void main() {
    int g = int(gl_GlobalInvocationID.x);
    int x = 0;
    if (a[g] > 0 && a[g] < 5) x = 1;
    r[g] = x;
}
";

const NEVER: &str =
    "class = \"deactivated\"\ncategory = \"never\"\nmeans = \"The host has no such mode.\"";
const ELSEWHERE: &str =
    "class = \"deactivated\"\ncategory = \"other-configuration\"\nmeans = \"A jumper.\"";
const INFEASIBLE: &str = "class = \"infeasible\"\nargument = \"The samples are between 1 and 4.\"";
const DEAD: &str = "class = \"dead\"";

#[test]
fn what_records_contradict_is_rejected_with_the_test() {
    // The second test counts for nothing: it has no requirement, or it fails.
    let others = [
        test("T2", "", "[0, 3, 9, 1]", "[0, 1, 0, 1]"),
        test("T2", "\"HLR-1\"", "[0, 3, 9, 1]", "[1, 1, 1, 1]"),
        test("T2", "", "[0, 3, 9, 1]", "[1, 1, 1, 1]"),
    ];
    for other in others {
        let project = Project::new(TWO_CONDITIONS, &format!("{}{other}", passing()));
        let obligations = ["D1.F", "D1.C1.masking", "D1.V.TF", "B1.F"];
        for class in [DEAD, NEVER, ELSEWHERE, INFEASIBLE] {
            project.justify_all(&obligations, class);
            for (obligation, rejection) in obligations.iter().zip(project.rejections()) {
                let told = rejection.starts_with("contradicted: the records of ")
                    && rejection.contains("T2");
                assert!(
                    told && rejection.contains(&format!("show {obligation}")),
                    "{class}: {rejection}"
                );
            }
        }
        // These say nothing of what can happen.
        for class in [DEFENSIVE, "class = \"analysis\""] {
            project.justify("D1.F", class);
            assert_eq!(project.rejection(), "", "{class}");
        }
    }
    // Without the second test nothing contradicts it.
    let project = Project::new(TWO_CONDITIONS, &passing());
    project.justify("D1.F", INFEASIBLE);
    assert_eq!(project.rejection(), "");
}

#[test]
fn a_contradiction_is_told_before_a_stale_hash() {
    let project = Project::new(
        TWO_CONDITIONS,
        &format!("{}{}", passing(), test("T2", "", "[0, 3, 9, 1]", "[0, 1, 0, 1]")),
    );
    project.justify("D1.F", DEAD);
    project.change("requirements/justified.toml", "hash = \"sha256:", "hash = \"sha256:00000000");
    let text = std::fs::read_to_string(project.path().join("requirements/justified.toml")).unwrap();
    let at = text.rfind("sha256:").unwrap() + "sha256:".len();
    write(project.path(), "requirements/justified.toml", format!("{}\"\n", &text[..at + 64]));
    assert!(
        project.rejection().starts_with("contradicted: the records of T2 on sequential show D1.F")
    );
}

#[test]
fn gaps_close_nothing_where_coverage_is_asked_for() {
    let project = Project::new(GUARDED, &passing());
    for class in ["missing-test", "missing-requirement", "extraneous"] {
        project.justify("S4", &format!("class = \"{class}\""));
        let campaign = project.certify();
        let expected = format!(
            "justification of k S4: {class} names a gap that is still to be closed: at level A it closes nothing"
        );
        let reasons = campaign["conclusion"]["reasons"].as_array().unwrap();
        assert!(reasons.iter().any(|reason| *reason == expected), "{reasons:#?}");
        assert_eq!(project.kernel()["coverage"]["statements"][3]["status"], "uncovered");
        project.change("vkcert.toml", "level = \"A\"", "level = \"D\"");
        assert_eq!(project.rejection(), "", "{class}");
        assert_eq!(project.kernel()["coverage"]["statements"][3]["status"], "justified");
        project.change("vkcert.toml", "level = \"D\"", "level = \"A\"");
    }
}

#[test]
fn dead_is_what_the_module_does_not_hold() {
    let body = "void main() {
    int g = int(gl_GlobalInvocationID.x);
    r[g] = 1;
    if (a[g] > 100) { r[g] = 0; }
    return;
    r[g] = 7;
}
";
    let project = Project::new(body, &passing());
    project.justify_all(&["S4", "D1.T", "B1.T", "S6"], DEAD);
    let rejections = project.rejections();
    assert!(
        rejections[..3].iter().all(|rejection| rejection.contains("is to be removed")),
        "{rejections:#?}"
    );
    assert_eq!(rejections[3], "");
    assert_eq!(project.kernel()["coverage"]["statements"][5]["status"], "justified");
}

/// What counts as absent is what the module is the same without, at every optimisation.
#[test]
fn the_module_is_the_same_without_what_is_dead() {
    let start = "int g = int(gl_GlobalInvocationID.x); r[g] = 1;";
    let bodies = [
        format!("void main() {{ {start} return; r[g] = 7; }}\n"),
        format!(
            "void main() {{ {start} for (int i = 0; i < 2; i++) {{ r[g] = 1; break; r[g] = 7; }} }}\n"
        ),
        format!(
            "void main() {{ {start} for (int i = 0; i < 2; i++) {{ r[g] = 1; continue; r[g] = 7; }} }}\n"
        ),
        format!(
            "void main() {{ {start} if (a[g] > 9) {{ return; }} else {{ return; }} r[g] = 7; }}\n"
        ),
        format!("void main() {{ {start} switch (a[g]) {{ case 1: break; r[g] = 7; }} }}\n"),
        format!(
            "int f() {{ return 1; return 2; r[0] = 7; }}\nvoid main() {{ {start} r[g] = f(); }}\n"
        ),
    ];
    for optimization in ["zero", "performance"] {
        for body in &bodies {
            let project = Project::new(body, "");
            project.change(
                "vkcert.toml",
                GLSL,
                &format!("{GLSL}optimization = \"{optimization}\"\n"),
            );
            let proposed = run_json(
                vkcert().args(["list", "obligations", "--propose"]).arg(project.path()),
                0,
            );
            let dead = |row: &&Value| {
                row["proposal"]["class"] == "dead"
                    && row["text"].as_str().unwrap().ends_with("= 7;")
            };
            assert_eq!(
                proposed.as_array().unwrap().iter().filter(dead).count(),
                1,
                "{body}: {proposed:#}"
            );
            let module = || {
                run(vkcert().arg("build").arg(project.path()), 0);
                std::fs::read(project.path().join("spirv/k.spv")).unwrap()
            };
            let before = module();
            let text = std::fs::read_to_string(project.path().join("k.comp")).unwrap();
            let at = text.rfind("r[g] = 7;").or_else(|| text.rfind("r[0] = 7;")).unwrap();
            write(
                project.path(),
                "k.comp",
                format!("{}         {}", &text[..at], &text[at + "r[g] = 7;".len()..]),
            );
            assert_eq!(instructions(&module()), instructions(&before), "{optimization}: {body}");
        }
    }
}

/// Opcodes of the functions of a module. A constant that nobody uses any more may stay in front of
/// them.
fn instructions(module: &[u8]) -> Vec<u32> {
    const FUNCTION: u32 = 54;
    const LINE: u32 = 8;
    const NO_LINE: u32 = 317;
    let words: Vec<u32> =
        module.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    let (mut at, mut opcodes) = (5, Vec::new());
    while at < words.len() {
        let opcode = words[at] & 0xffff;
        if (opcode == FUNCTION || !opcodes.is_empty()) && opcode != LINE && opcode != NO_LINE {
            opcodes.push(opcode);
        }
        at += (words[at] >> 16) as usize;
    }
    opcodes
}

/// What is proposed is accepted once a person has signed it, and nothing is proposed that would not
/// be.
#[test]
fn proposals_are_accepted_once_they_are_signed() {
    let body = "layout(constant_id = 0) const int MODE = 0;
void main() {
    int g = int(gl_GlobalInvocationID.x);
    r[g] = 1;
    if (MODE == 3) { r[g] = 3; }
    if (false) { r[g] = 4; }
    if (a[g] > 0 || a[g] > 0) { r[g] = 1; }
    return;
    r[g] = 7;
}
";
    let project = Project::new(body, &passing());
    let proposed =
        run_json(vkcert().args(["list", "obligations", "--propose"]).arg(project.path()), 0);
    let classes: Vec<(&str, &str)> = proposed
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["id"].as_str().unwrap(), row["proposal"]["class"].as_str().unwrap()))
        .collect();
    for expected in
        [("S4", "deactivated"), ("D1.T", "deactivated"), ("D2.T", "infeasible"), ("S10", "dead")]
    {
        assert!(classes.contains(&expected), "{expected:?}: {classes:?}");
    }
    // The module holds what stands under `if (false)`: it is to be removed, and there is nothing to
    // propose.
    assert!(classes.iter().all(|(id, _)| *id != "S6"), "{classes:?}");
    let text =
        run(vkcert().args(["list", "obligations", "--propose"]).arg(project.path()), 0).stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(
        text.contains("category = \"never\"")
            && text.contains("means = ")
            && text.contains("argument = "),
        "{text}"
    );
    let signed = text
        .replace("author = \"\"", "author = \"A\"")
        .replace("approver = \"\"", "approver = \"B\"");
    write(project.path(), "requirements/justified.toml", format!("schema = 1\n\n{signed}"));
    let campaign = project.certify();
    for row in campaign["justifications"].as_array().unwrap() {
        assert_eq!(row["rejected"], Value::Null, "{row:#}");
    }
    let reason = &project.kernel()["coverage"]["statements"][5]["reason"];
    assert!(reason.as_str().unwrap().contains("is to be removed"), "{reason}");
}

#[test]
fn a_module_without_source_is_justified_as_any_other() {
    let project = Project::new(GUARDED, &passing());
    project.change(
        "vkcert.toml",
        "level = \"A\"\n",
        "level = \"A\"\ncriteria = [\"object-branch\"]\n",
    );
    run(vkcert().arg("build").arg(project.path()), 0);
    project.change("vkcert.toml", GLSL, "source = \"spirv/k.spv\"\nlanguage = \"spirv\"\n");
    let open = |campaign: &Value| {
        let reasons = campaign["conclusion"]["reasons"].as_array().unwrap();
        reasons.iter().any(|reason| {
            reason.as_str().unwrap().contains("object-branch obligations not covered")
        })
    };
    assert!(open(&project.certify()));
    project.justify("B1.T", "class = \"analysis\"");
    let campaign = project.certify();
    assert_eq!(campaign["justifications"][0]["rejected"], Value::Null);
    assert!(!open(&campaign), "{:#}", campaign["conclusion"]);
    let kernel = project.kernel();
    assert_eq!(kernel["coverage"]["objects"][0]["status"], "justified");
    assert_eq!(kernel["coverage"]["branches"][0]["status"], "justified");
    // Nothing of the source is claimed by it.
    let rows = kernel["coverage"]["summary"].as_array().unwrap();
    let row = |name: &str| rows.iter().find(|row| row["criterion"] == name).unwrap();
    assert_eq!(
        (&row("statement")["total"], &row("statement")["undetermined"]),
        (&1.into(), &1.into())
    );
    assert_eq!(
        (&row("object-branch")["justified"], &row("object-branch")["covered"]),
        (&1.into(), &1.into())
    );
    // It is bound to the module.
    project.change("vkcert.toml", "source = \"spirv/k.spv\"\nlanguage = \"spirv\"\n", GLSL);
    project.change("k.comp", "a[g] > 100", "a[g] > 101");
    run(vkcert().arg("build").arg(project.path()), 0);
    project.change("vkcert.toml", GLSL, "source = \"spirv/k.spv\"\nlanguage = \"spirv\"\n");
    assert!(project.rejection().starts_with("stale: "));
}

#[test]
fn a_text_that_is_a_document_is_refused() {
    let project = Project::new(GUARDED, &passing());
    project.justify("S4", DEFENSIVE);
    project.change("requirements/justified.toml", "Reviewed.", &"long ".repeat(32_000));
    let result = run_json(vkcert().arg("certify").arg(project.path()), 2);
    assert_eq!(
        (&result["error"]["kind"], &result["error"]["line"]),
        (&"limit".into(), &7.into()),
        "{result:#}"
    );
    let told = result["error"]["message"].as_str().unwrap();
    assert_eq!(told, "the text of `reason` has 160000 bytes; the limit is 65536");
}

/// One change of stored evidence, with hashes made right again.
struct Forgery {
    pointer: &'static str,
    value: Value,
}

#[test]
fn justifications_that_are_changed_by_hand_do_not_verify() {
    let project = Project::new(GUARDED, &passing());
    project.justify("S4", NEVER);
    assert_eq!(project.rejection(), "");
    let forged = |pointer: &'static str, value: Value| Forgery { pointer, value };
    let zeros = format!("sha256:{}", "0".repeat(64));
    let justification = "/justifications/0/justification";
    let forgeries = [
        forged("/justifications/0/rejected", "because".into()),
        forged("/justifications/0/justification/class", "dead".into()),
        forged("/justifications/0/justification/class", "missing-test".into()),
        forged("/justifications/0/justification/class", "defensive".into()),
        forged("/justifications/0/justification/category", "other-configuration".into()),
        forged("/justifications/0/justification/means", "Another one.".into()),
        forged("/justifications/0/justification/means", Value::Null),
        forged("/justifications/0/justification/reason", "Another one.".into()),
        forged("/justifications/0/justification/reason", "".into()),
        forged("/justifications/0/justification/author", "B. Approver".into()),
        forged("/justifications/0/justification/approver", "a. author".into()),
        forged("/justifications/0/justification/approver", "".into()),
        forged("/justifications/0/justification/obligation", "S3".into()),
        forged("/justifications/0/justification/configuration", "other".into()),
        forged("/justifications/0/justification/hash", zeros.into()),
        forged("/project/level", "D".into()),
    ];
    let intact = std::fs::read(project.evidence().join("campaign.json")).unwrap();
    for Forgery { pointer, value } in forgeries {
        let level = pointer == "/project/level";
        write(&project.evidence(), "campaign.json", &intact);
        forge(&project.evidence(), "campaign.json", |campaign| {
            match pointer.strip_prefix(justification).and_then(|rest| rest.strip_prefix('/')) {
                Some(key) => campaign["justifications"][0]["justification"][key] = value.clone(),
                None => *campaign.pointer_mut(pointer).unwrap() = value.clone(),
            }
        });
        let output = vkcert().arg("verify").arg(project.evidence()).output().unwrap();
        // The level alone decides nothing here; what is stored of the project file has it.
        assert!(output.status.code() != Some(0) || level, "{pointer} = {value}");
    }
    write(&project.evidence(), "campaign.json", &intact);
    forge(&project.evidence(), "campaign.json", |_| {});
    run(vkcert().arg("verify").arg(project.evidence()), 0);
    // A rejected one is not accepted by hand.
    project.justify("S4", "class = \"missing-test\"");
    assert!(!project.rejection().is_empty());
    forge(&project.evidence(), "campaign.json", |campaign| {
        campaign["justifications"][0]["rejected"] = Value::Null
    });
    run(vkcert().arg("verify").arg(project.evidence()), 1);
    // What it is bound to is part of the kernel's evidence.
    project.justify("S4", NEVER);
    assert_eq!(project.rejection(), "");
    forge(&project.evidence(), "kernel-k-sequential.json", |kernel| {
        kernel["modules"]["code"] = "0".repeat(64).into();
    });
    run(vkcert().arg("verify").arg(project.evidence()), 1);
}

/// Evidence that an earlier version wrote: an accepted race, and a justification of a class that
/// closes nothing by now.
#[test]
fn evidence_of_format_1_is_judged_by_what_that_format_knew() {
    let folder = tempfile::tempdir().unwrap();
    copy_tree(&root().join("tests/stored/format_1/evidence"), folder.path());
    let output = run(vkcert().arg("verify").arg(folder.path()), 0);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.contains("format 1") && told.contains("not re-derivable"), "{told}");
    assert!(told.lines().last().is_some_and(|line| line.starts_with("verified in part")), "{told}");
    run(vkcert().arg("verify").arg(folder.path()).arg("--strict"), 1);
    for (format, times) in [("terminal", 2), ("html", 1)] {
        let report =
            run(vkcert().arg("report").arg(folder.path()).args(["--report-format", format]), 0);
        let report = String::from_utf8_lossy(&report.stdout).into_owned();
        assert_eq!(report.matches("VERIFIED IN PART").count(), times, "{format}");
    }
    let report =
        run(vkcert().arg("report").arg(folder.path()).args(["--report-format", "json"]), 0);
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!(report["verified"], false);
    let intact = std::fs::read(folder.path().join("campaign.json")).unwrap();
    let changes: [fn(&mut Value); 4] = [
        |campaign| {
            campaign["justifications"][0]["justification"]["hash"] =
                format!("sha256:{}", "1".repeat(64)).into()
        },
        |campaign| campaign["justifications"][1]["justification"]["approver"] = "A. Author".into(),
        |campaign| {
            campaign["tests"][0]["results"][0]["findings"][0]["acceptance"]["content"] =
                "nothing".into()
        },
        |campaign| campaign["schema"] = 2.into(),
    ];
    for change in changes {
        write(folder.path(), "campaign.json", &intact);
        forge(folder.path(), "campaign.json", change);
        run(vkcert().arg("verify").arg(folder.path()), 1);
    }
}
