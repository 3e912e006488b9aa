//! Coverage belongs to production configurations: records of one count for no other, what a
//! configuration fixes is proposed as deactivated and stays open, and the evidence of it all
//! verifies.

use crate::support;

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use support::*;

fn project() -> PathBuf {
    root().join("tests/projects/configurations")
}

struct Certified {
    _folder: tempfile::TempDir,
    evidence: PathBuf,
    campaign: Value,
}

fn certify(project: &Path, exit: i32) -> Certified {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("reports");
    let campaign = run_json(
        vkcert().arg("certify").arg(project).arg("--out").arg(&out).args(["--engine", "both"]),
        exit,
    );
    run(vkcert().arg("verify").arg(out.join("evidence")), 0);
    Certified { evidence: out.join("evidence"), campaign, _folder: folder }
}

impl Certified {
    fn kernel(&self, name: &str) -> Value {
        let text = std::fs::read_to_string(self.evidence.join(name))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        serde_json::from_str(&text).unwrap()
    }
}

/// Every obligation with an id of its own, by id.
fn obligation(kernel: &Value, id: &str) -> Value {
    let coverage = &kernel["coverage"];
    let decisions = coverage["decisions"].as_array().unwrap();
    let lists =
        ["statements", "branches", "points"].map(|list| coverage[list].as_array().unwrap().clone());
    let inner = decisions
        .iter()
        .flat_map(|d| [&d["outcomes"], &d["combinations"]])
        .flat_map(|l| l.as_array().unwrap().clone());
    let found = lists.into_iter().flatten().chain(inner).find(|item| item["id"] == id);
    found.unwrap_or_else(|| panic!("no obligation {id}"))
}

fn by_text<'a>(list: &'a Value, text: &str) -> &'a Value {
    let found =
        list.as_array().unwrap().iter().find(|item| item["text"].as_str().unwrap().contains(text));
    found.unwrap_or_else(|| panic!("nothing with `{text}`"))
}

#[test]
fn records_count_for_the_configuration_that_the_dispatch_had() {
    let certified = certify(&project(), 1);
    let rows = certified.campaign["conclusion"]["summary"].as_array().unwrap();
    let rows: Vec<_> = rows
        .iter()
        .map(|row| (row["configuration"].as_str().unwrap(), row["engine"].as_str().unwrap()))
        .collect();
    assert_eq!(
        rows,
        [
            ("sum", "sequential"),
            ("sum", "vulkan"),
            ("weighted", "sequential"),
            ("weighted", "vulkan")
        ]
    );
    for engine in ["sequential", "vulkan"] {
        let tests = |configuration: &str| {
            let kernel = certified.kernel(&format!("kernel-blend@{configuration}-{engine}.json"));
            let records = kernel["records"].as_array().unwrap();
            (
                kernel.clone(),
                records
                    .iter()
                    .map(|row| row["test"].as_str().unwrap().to_owned())
                    .collect::<Vec<_>>(),
            )
        };
        let (sum, of_sum) = tests("sum");
        let (weighted, of_weighted) = tests("weighted");
        assert_eq!(
            (of_sum, of_weighted),
            (vec!["TC-BLD-01".into(), "TC-BLD-02".into()], vec!["TC-BLD-02".to_owned()])
        );
        // One test runs both; what each dispatch showed stays apart.
        let first =
            |kernel: &Value| by_text(&kernel["coverage"]["branches"], "case 0u")["status"].clone();
        assert_eq!(
            (first(&sum), first(&weighted)),
            (json!("covered"), json!("uncovered")),
            "{engine}"
        );
        let vectors = |kernel: &Value| {
            by_text(&kernel["coverage"]["decisions"], "MODE == 1u")["vectors"][0]["values"].clone()
        };
        assert_eq!((vectors(&sum), vectors(&weighted)), (json!("F"), json!("T")), "{engine}");
    }
    let limits = certified.campaign["limits"].as_array().unwrap();
    let note = limits
        .iter()
        .find(|limit| limit.as_str().unwrap().contains("TC-BLD-03"))
        .expect("a note names the stranger");
    assert!(note.as_str().unwrap().contains("MODE=2"), "{note}");
    assert_eq!(certified.campaign["tests"][2]["results"][0]["verdict"], "pass");
}

#[test]
fn what_a_configuration_rules_out_is_proposed_and_stays_open() {
    let certified = certify(&project(), 1);
    let sum = certified.kernel("kernel-blend@sum-sequential.json");
    let weighted = certified.kernel("kernel-blend@weighted-sequential.json");
    let decision =
        |kernel: &Value, text: &str| by_text(&kernel["coverage"]["decisions"], text).clone();

    let mode = decision(&sum, "MODE == 1u");
    assert_eq!(
        (&mode["constness"], &mode["constant_outcome"]),
        (&json!("specialization"), &json!("F"))
    );
    let proposal = json!({"class": "deactivated", "reason": "`MODE == 1u` (D3) is always false under configuration sum (MODE = 0)"});
    assert_eq!(
        (&mode["outcomes"][0]["status"], &mode["outcomes"][0]["proposal"]),
        (&json!("uncovered"), &proposal)
    );
    assert_eq!(mode["outcomes"][1].get("proposal"), None);
    assert_eq!((&mode["missing"], &mode["closing_set"]), (&json!([]), &json!([])));

    // Code that only the other outcome leads to, and a function that only such code calls.
    let statement = by_text(&sum["coverage"]["statements"], "value = weighted(");
    let reason =
        "never executed, as `MODE == 1u` (D3) is always false under configuration sum (MODE = 0)";
    assert_eq!(
        (&statement["status"], &statement["proposal"]["reason"]),
        (&json!("uncovered"), &json!(reason))
    );
    let entry = by_text(&sum["coverage"]["points"], "entry of weighted");
    assert_eq!(entry["proposal"]["class"], "deactivated", "{entry}");
    let inner = by_text(&sum["coverage"]["statements"], "return 0.75");
    assert!(
        inner["proposal"]["reason"].as_str().unwrap().contains("no call of `weighted`"),
        "{inner}"
    );
    let label = by_text(&sum["coverage"]["branches"], "case 1u");
    assert!(label["proposal"]["reason"].as_str().unwrap().contains("switch (MODE)"), "{label}");

    // A mixed decision: the constant operand never changes, the other one still can be shown.
    let mixed = decision(&sum, "MODE == 2u || a[i] > b[i]");
    assert_eq!(
        (&mixed["constant_outcome"], &mixed["conditions"][0]["value"]),
        (&Value::Null, &json!("F"))
    );
    assert_eq!(mixed["mcdc"][0]["masking"]["proposal"]["class"], "deactivated");
    assert_eq!(mixed["mcdc"][1]["masking"]["status"], "covered");
    let vector = obligation(&sum, "D4.V.T-");
    assert_eq!(
        (&vector["status"], &vector["proposal"]["class"]),
        (&json!("uncovered"), &json!("deactivated"))
    );
    assert_eq!(obligation(&sum, "D4.V.FT")["status"], "covered");

    // A comparison of floats is no specialization constant to the compiler, and has one value all
    // the same.
    let limit = decision(&sum, "CLAMP && LIMIT > 0.0");
    assert_eq!(limit["conditions"][1]["value"], "T", "{limit:#}");
    let clamp = decision(&weighted, "CLAMP && LIMIT > 0.0");
    assert_eq!(clamp["constant_outcome"], "F");
    assert_eq!(
        by_text(&weighted["coverage"]["statements"], "return LIMIT")["proposal"]["class"],
        "deactivated"
    );
    // Control does not come to this decision at all.
    let never = decision(&weighted, "MODE == 2u");
    assert!(
        never["outcomes"]
            .as_array()
            .unwrap()
            .iter()
            .all(|o| o["proposal"]["class"] == "deactivated"),
        "{never:#}"
    );
    // A covered obligation has no proposal.
    for kernel in [&sum, &weighted] {
        for item in kernel["coverage"]["statements"].as_array().unwrap() {
            assert!(item["status"] == "uncovered" || item.get("proposal").is_none(), "{item}");
        }
    }
}

#[test]
fn proposals_are_justifications_once_a_person_has_signed_them() {
    let folder = tempfile::tempdir().unwrap();
    copy_tree(&project(), folder.path());
    let output = run(vkcert().args(["list", "obligations", "--propose"]).arg(folder.path()), 0);
    let text = String::from_utf8(output.stdout).unwrap();
    let unsigned =
        write(folder.path(), "requirements/justified.toml", format!("schema = 1\n\n{text}"));
    // As printed they count for nothing: nobody has signed them.
    let open = |certified: &Certified, name: &str, list: &str, key: &str| {
        let kernel = certified.kernel(name);
        let items = kernel["coverage"][list].as_array().unwrap().clone();
        items.iter().filter(|item| item["status"] == key).count()
    };
    let result = vkcert()
        .arg("certify")
        .arg(folder.path())
        .arg("--out")
        .arg(folder.path().join("out"))
        .output()
        .unwrap();
    assert_ne!(result.status.code(), Some(0));
    let signed = text
        .replace("author = \"\"", "author = \"A\"")
        .replace("approver = \"\"", "approver = \"B\"");
    std::fs::write(unsigned, format!("schema = 1\n\n{signed}")).unwrap();
    let certified = certify(folder.path(), 1);
    let rejected: Vec<_> = certified.campaign["justifications"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| !row["rejected"].is_null())
        .collect();
    assert!(rejected.is_empty(), "{rejected:#?}");
    for name in ["kernel-blend@sum-sequential.json", "kernel-blend@weighted-vulkan.json"] {
        assert!(open(&certified, name, "statements", "justified") > 0, "{name}");
        let kernel = certified.kernel(name);
        for item in kernel["coverage"]["statements"].as_array().unwrap() {
            assert!(
                item["status"] != "uncovered" || item.get("proposal").is_none(),
                "{name}: {item}"
            );
        }
    }
}

#[test]
fn a_justification_for_one_configuration_holds_there_alone() {
    let folder = tempfile::tempdir().unwrap();
    copy_tree(&project(), folder.path());
    let rows = run_json(vkcert().args(["list", "obligations"]).arg(folder.path()), 0);
    let row = rows
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["text"].as_str().unwrap().starts_with("value = a[i]"))
        .unwrap();
    let (id, hash) = (row["id"].as_str().unwrap(), row["hash"].as_str().unwrap());
    let text = |configuration: &str| {
        format!(
            "schema = 1\n[[justification]]\nkernel = \"blend\"\nobligation = \"{id}\"\nconfiguration = \"{configuration}\"\n\
             class = \"deactivated\"\ncategory = \"other-configuration\"\n\
             means = \"MODE = 1\"\nreason = \"r\"\nauthor = \"A\"\napprover = \"B\"\nhash = \"{hash}\"\n"
        )
    };
    write(folder.path(), "requirements/justified.toml", text("weighted"));
    let certified = certify(folder.path(), 1);
    assert_eq!(certified.campaign["justifications"][0]["rejected"], Value::Null);
    let status = |name: &str| obligation(&certified.kernel(name), id)["status"].clone();
    assert_eq!(status("kernel-blend@weighted-sequential.json"), "justified");
    assert_eq!(status("kernel-blend@sum-sequential.json"), "covered");
    // There is no such configuration.
    write(folder.path(), "requirements/justified.toml", text("wieghted"));
    let out = folder.path().join("out");
    let result = run_json(vkcert().arg("certify").arg(folder.path()).arg("--out").arg(out), 2);
    assert_eq!(
        (&result["error"]["line"], &result["error"]["hint"]),
        (&json!(5), &json!("did you mean `weighted`?"))
    );
}

#[test]
fn without_declared_configurations_each_specialization_that_tests_use_is_one() {
    let folder = tempfile::tempdir().unwrap();
    copy_tree(&project(), folder.path());
    let file = folder.path().join("vkcert.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.split("[[kernel.configuration]]").next().unwrap()).unwrap();
    let certified = certify(folder.path(), 1);
    let rows = certified.campaign["conclusion"]["summary"].as_array().unwrap();
    let names: Vec<_> = rows
        .iter()
        .filter(|row| row["engine"] == "sequential")
        .map(|row| row["configuration"].clone())
        .collect();
    assert_eq!(names, ["default", "MODE=1,CLAMP=false", "MODE=2"]);
    let kernel = certified.kernel("kernel-blend@MODE=1_CLAMP=false-sequential.json");
    let constants = kernel["configuration"]["specialization"].as_array().unwrap();
    let values: Vec<_> = constants
        .iter()
        .map(|c| (c["name"].clone(), c["value"].clone(), c["default"].clone()))
        .collect();
    let row = |name: &str, value: &str, default: bool| (json!(name), json!(value), json!(default));
    assert_eq!(
        values,
        [row("MODE", "1", false), row("CLAMP", "false", false), row("LIMIT", "8.0", true)]
    );
}

#[test]
fn wrong_configurations_are_refused_at_their_place() {
    for (from, to, kind, line) in [
        ("specialization = {}", "specialization = { 9 = { value = 1 } }", "unknown-id", 11),
        ("specialization = {}", "specialization = { 0 = { value = -1 } }", "bad-value", 11),
        (
            "specialization = {}",
            "specialization = { 0 = { value = 1 }, 1 = { value = false } }",
            "contradiction",
            15,
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        copy_tree(&project(), folder.path());
        let file = folder.path().join("vkcert.toml");
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text.replace(from, to)).unwrap();
        let result = run_json(vkcert().arg("certify").arg(folder.path()), 2);
        assert_eq!(
            (&result["error"]["kind"], &result["error"]["line"]),
            (&json!(kind), &json!(line)),
            "{result:#}"
        );
    }
}

#[test]
fn a_run_of_one_file_keeps_specializations_apart() {
    let source = std::fs::read_to_string(project().join("glsl/blend.comp")).unwrap();
    let bindings = json!([
        {"set": 0, "binding": 0, "buffer": "a"}, {"set": 0, "binding": 1, "buffer": "b"}, {"set": 0, "binding": 2, "buffer": "r"}
    ]);
    let dispatch = |specialization: Value| {
        json!({"kernel": "blend", "groups": [1, 1, 1], "bindings": bindings, "specialization": specialization,
               "push_constants": {"count": 4, "first": 9}})
    };
    let list = |values: [f64; 4]| json!({"type": "float", "data": values});
    let procedure = json!({
        "schema": 1,
        "kernels": {"blend": {"source": {"text": source}, "language": "glsl"}},
        "tests": [{
            "id": "TC-1",
            "buffers": {"a": list([1.0, 2.0, 3.0, 4.0]), "b": list([4.0, 3.0, 2.0, 1.0]), "r": list([0.0; 4])},
            "dispatches": [dispatch(json!({})), dispatch(json!({"0": {"value": 1}}))]
        }]
    });
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "test.json", procedure.to_string());
    let result = run_json(vkcert().arg("run").arg(file).args(["--engine", "both"]), 0);
    for test in result["tests"].as_array().unwrap() {
        let coverage = test["coverage"].as_object().unwrap();
        assert_eq!(coverage.keys().collect::<Vec<_>>(), ["blend [MODE=1]", "blend [default]"]);
        for (label, outcome) in [("blend [MODE=1]", "T"), ("blend [default]", "F")] {
            let mode = by_text(&coverage[label]["decisions"], "MODE == 1u");
            assert_eq!(mode["constant_outcome"], outcome, "{label}");
            assert_eq!(mode["vectors"].as_array().unwrap().len(), 1, "{label}");
        }
        assert_eq!(coverage["blend [MODE=1]"]["configuration"], "MODE=1");
    }
}

#[test]
fn a_literal_condition_is_resolved_as_well() {
    let source = "#version 450\n#ifndef DEBUG\n#define DEBUG 0\n#endif\nlayout(local_size_x = 1) in;\n\
        layout(set = 0, binding = 0) buffer A { uint a[]; };\n\
        void main() {\n    if (false) { a[0] = 1u; }\n    if (DEBUG == 1) { a[0] = 2u; }\n    a[0] += 1u;\n}\n";
    let procedure = json!({
        "schema": 1,
        "kernels": {"k": {"source": {"text": source}, "language": "glsl", "defines": {"DEBUG": "0"}}},
        "tests": [{
            "id": "TC-1",
            "buffers": {"a": {"type": "uint", "data": [0]}},
            "dispatches": [{"kernel": "k", "groups": [1, 1, 1], "bindings": [{"set": 0, "binding": 0, "buffer": "a"}]}]
        }]
    });
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "test.json", procedure.to_string());
    let result = run_json(vkcert().arg("run").arg(file).args(["--engine", "sequential"]), 0);
    let coverage = &result["tests"][0]["coverage"]["k"];
    let class =
        |list: &str, text: &str| by_text(&coverage[list], text)["proposal"]["class"].clone();
    assert_eq!(class("branches", "false is true"), "infeasible", "{:#}", coverage["decisions"][0]);
    // The module holds it all the same: no justification makes up for that.
    assert_eq!(class("statements", "a[0] = 1u"), Value::Null);
    let dead = by_text(&coverage["statements"], "a[0] = 1u")["reason"].as_str().unwrap();
    assert!(
        dead.contains("`false` (D1) is always false; dead code that is in the module"),
        "{dead}"
    );
    assert_eq!(class("branches", "DEBUG == 1 is true"), "deactivated");
    assert_eq!(class("statements", "a[0] = 2u"), "deactivated");
    let reason = by_text(&coverage["branches"], "DEBUG == 1 is true")["proposal"]["reason"]
        .as_str()
        .unwrap();
    assert!(reason.contains("DEBUG = 0"), "{reason}");
}

#[test]
fn records_of_another_specialization_are_found_by_verify() {
    let certified = certify(&project(), 1);
    let file = certified.evidence.join("kernel-blend@weighted-sequential.json");
    let stranger = certified.kernel("kernel-blend@sum-sequential.json")["records"][0].clone();
    let mut kernel = certified.kernel("kernel-blend@weighted-sequential.json");
    kernel["records"].as_array_mut().unwrap().push(stranger);
    std::fs::write(file, format!("{kernel:#}\n")).unwrap();
    let output = run(vkcert().arg("verify").arg(&certified.evidence), 1);
    let said = String::from_utf8(output.stdout).unwrap();
    let place = "differs           kernel-blend@weighted-sequential.json/records/1: stored {";
    assert!(
        said.lines()
            .any(|line| line.starts_with(place) && line.ends_with("and nothing is derived")),
        "{said}"
    );
}
