//! Projects of other standards than DO-178C: the same data in the words of their standard, in every
//! report, and held to them by `verify`.

use crate::support::{certify_sequentially, run, run_json, vkcert, write};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The new project of `vkcert init` at a level of another standard.
fn project(folder: &Path, level_lines: &str) -> PathBuf {
    let project = folder.join("project");
    run(vkcert().arg("init").arg(&project), 0);
    let settings = std::fs::read_to_string(project.join("vkcert.toml")).unwrap();
    let settings = settings.replace("level = \"A\"", level_lines);
    assert!(settings.contains(level_lines));
    write(&project, "vkcert.toml", settings);
    project
}

fn campaign(out: &Path) -> Value {
    let text = std::fs::read_to_string(out.join("evidence/campaign.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn reports_speak_of_their_standard_and_of_no_other() {
    for (level_lines, words, chapter, brief) in [
        (
            "standard = \"ISO 26262-6\"\nlevel = \"ASIL D\"",
            "ISO 26262-6 ASIL D",
            "Structural coverage by ISO 26262-6:2018",
            "of 6 points of ISO 26262-6:2018, tables 9 and 12",
        ),
        (
            "standard = \"ECSS-E-ST-40C\"\nlevel = \"category A\"",
            "ECSS-E-ST-40C criticality category A",
            "Verification of code by ECSS-E-ST-40C",
            "of 8 requirements of ECSS-E-ST-40C, clause 5.8.3.5",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (project, out) = (project(folder.path(), level_lines), folder.path().join("out"));
        let printed = run(&mut certify_sequentially(&project, &out), 0).stdout;
        let terminal = String::from_utf8(printed).unwrap();
        assert!(terminal.contains(words), "{terminal}");
        let html = std::fs::read_to_string(out.join("report.html")).unwrap();
        for part in [words, chapter, brief] {
            assert!(html.contains(part), "{part}");
        }
        let evidence = out.join("evidence");
        for document in ["svcp", "svr", "coverage", "trace", "coupling", "tool"] {
            let mut command = vkcert();
            command.arg("report").arg(&evidence).args(["--report-format", "html"]);
            let bytes = run(command.args(["--document", document]), 0).stdout;
            let text = String::from_utf8(bytes).unwrap();
            assert!(text.contains(words) && !text.contains("DO-178C"), "{document}");
        }
        assert!(!html.contains("DO-178C") && !terminal.contains("DO-178C"));
    }
}

#[test]
fn evidence_of_another_standard_is_derived_again() {
    let folder = tempfile::tempdir().unwrap();
    let level_lines = "standard = \"ISO 26262-6\"\nlevel = \"ASIL D\"";
    let (project, out) = (project(folder.path(), level_lines), folder.path().join("out"));
    run(&mut certify_sequentially(&project, &out), 0);
    let evidence = out.join("evidence");
    run(vkcert().arg("verify").arg(&evidence), 0);
    let stored = campaign(&out);
    assert_eq!(stored["project"]["level"], "ASIL D");
    assert_eq!(
        stored["project"]["criteria"],
        json!(["statement", "branch", "mcdc-masking", "function", "call"])
    );
    let numbers: Vec<&Value> =
        stored["objectives"].as_array().unwrap().iter().map(|row| &row["objective"]).collect();
    assert_eq!(numbers, ["9.4.4", "9-1a", "9-1b", "9-1c", "12-1a", "12-1b"]);

    let mut forged = stored;
    forged["objectives"][5]["status"] = json!("met");
    forged["objectives"][5].as_object_mut().unwrap().remove("applicant");
    std::fs::write(evidence.join("campaign.json"), format!("{forged}")).unwrap();
    let told = run_json(vkcert().arg("verify").arg(&evidence), 1);
    let problem = "campaign.json/objectives/5/status: stored \"met\", derived \"applicant\"";
    assert!(told["problems"].as_array().unwrap().contains(&json!(problem)), "{told}");
}

#[test]
fn a_strict_level_is_not_weakened_by_the_letter() {
    let folder = tempfile::tempdir().unwrap();
    let settings = "standard = \"ISO 26262-6\"\nlevel = \"A\"";
    let project = project(folder.path(), settings);
    let refused = run_json(vkcert().args(["list", "kernels"]).arg(&project), 2);
    assert_eq!(refused["error"]["kind"], "contradiction");
    assert!(refused["error"]["hint"].as_str().unwrap().contains("ASIL D"), "{refused}");
    assert_eq!(refused["error"]["line"], 6);
}

#[test]
fn what_the_standard_asks_for_and_the_project_does_not_is_an_open_item() {
    let folder = tempfile::tempdir().unwrap();
    let level_lines =
        "standard = \"ISO 26262-6\"\nlevel = \"ASIL D\"\ncriteria = [\"statement\", \"branch\"]";
    let (project, out) = (project(folder.path(), level_lines), folder.path().join("out"));
    let told = run_json(&mut certify_sequentially(&project, &out), 1);
    let items = told["open_items"].as_array().unwrap();
    let sentences: Vec<&str> =
        items.iter().map(|item| item["sentence"].as_str().unwrap()).collect();
    let asked = |words: &str| sentences.iter().any(|sentence| sentence.starts_with(words));
    assert!(asked(
        "ISO 26262-6:2018 table 9 highly recommends (++) mcdc-masking coverage at ASIL D"
    ));
    assert!(asked("ISO 26262-6:2018 table 12 highly recommends (++) function coverage at ASIL D"));
    assert!(asked("ISO 26262-6:2018 table 12 highly recommends (++) call coverage at ASIL D"));
    assert_eq!(items.len(), 3, "{sentences:?}");
}
