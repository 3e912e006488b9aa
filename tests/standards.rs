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
        assert_eq!(foreign_words(&terminal), [] as [&str; 0], "{terminal}");
        for document in DOCUMENTS {
            let text = document_text(&out.join("evidence"), "html", document);
            assert!(text.contains(words), "{document}");
        }
    }
}

const DOCUMENTS: [&str; 7] = ["all", "svcp", "svr", "coverage", "trace", "coupling", "tool"];

/// Words of DO-178C and the papers around it, which neither of the other standards has.
const WORDS_OF_DO_178C: [&str; 10] = [
    "DO-178",
    "DO-330",
    "CAST-",
    "low-level requirement",
    "high-level requirement",
    "software level",
    "table A-",
    "objective A-",
    "6.4.4",
    "airborne",
];

fn foreign_words(text: &str) -> Vec<&'static str> {
    let text = text.to_lowercase();
    let is_there = |word: &&str| text.contains(&word.to_lowercase());
    WORDS_OF_DO_178C.into_iter().filter(is_there).collect()
}

/// The text of a document of evidence; of a PDF in one line, since a line may end anywhere.
fn document_text(evidence: &Path, format: &str, document: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report");
    let mut command = vkcert();
    command.arg("report").arg(evidence).args(["--report-format", format]);
    run(command.args(["--document", document, "--output"]).arg(&file), 0);
    if format == "html" {
        return std::fs::read_to_string(&file).unwrap();
    }
    let text = std::process::Command::new("pdftotext").arg(&file).arg("-").output();
    let text = text.expect("pdftotext (poppler-utils) is installed").stdout;
    String::from_utf8(text).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A project whose report has every sentence in which standards differ: no test of the high-level
/// requirement, code that none names, all criteria, one of the policies.
fn wanting_project(folder: &Path, level_lines: &str, policy: &str) -> PathBuf {
    let criteria =
        "criteria = [\"statement\", \"decision\", \"mcdc-masking\", \"additional-code\"]";
    let settings = format!("{level_lines}\n{criteria}\ndecision_policy = \"{policy}\"");
    let project = project(folder, &settings);
    let path = "requirements/scale.toml";
    let requirements = std::fs::read_to_string(project.join(path)).unwrap();
    let requirements = requirements
        .replace("requirements = [\"HLR-SCALE-001\", ", "requirements = [")
        .replace("implements = [{ file = \"glsl/scale.comp\", symbol = \"main\" }]\n", "");
    write(&project, path, requirements);
    project
}

#[test]
fn no_document_has_words_of_another_standard() {
    let iso = "standard = \"ISO 26262-6\"\nlevel = \"ASIL D\"";
    let ecss = "standard = \"ECSS-E-ST-40C\"\nlevel = \"category A\"";
    let (of_iso, of_ecss) = ("software safety requirement HLR", "software requirement HLR");
    for (level_lines, policy, noun) in [
        (iso, "literal", of_iso),
        (iso, "control-flow", of_iso),
        (ecss, "control-flow", of_ecss),
        ("level = \"A\"", "literal", "high-level requirement HLR"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let project = wanting_project(folder.path(), level_lines, policy);
        let out = folder.path().join("out");
        let printed = run(&mut certify_sequentially(&project, &out), 1).stdout;
        let terminal = String::from_utf8(printed).unwrap();
        let is_do_178c = !level_lines.contains("standard");
        assert_eq!(foreign_words(&terminal).is_empty(), !is_do_178c, "{terminal}");
        let mut all_foreign = std::collections::BTreeSet::new();
        for document in DOCUMENTS {
            // A PDF is set from the same blocks as HTML; title page and furniture are its own.
            let formats = if ["all", "svcp", "svr"].contains(&document) { 2 } else { 1 };
            for format in ["html", "pdf"].into_iter().take(formats) {
                let text = document_text(&out.join("evidence"), format, document);
                let foreign = foreign_words(&text);
                assert!(foreign.is_empty() || is_do_178c, "{document} {format}: {foreign:?}");
                all_foreign.extend(foreign);
                if document == "svcp" && level_lines == iso {
                    let label = "Automotive safety integrity level (ASIL)";
                    assert!(text.contains(label), "{format}");
                }
                if document == "svr" {
                    assert!(text.contains(noun), "{document} {format}: no {noun}");
                }
            }
        }
        // What is looked for stands in the documents of DO-178C, so that it is looked for
        // where it would stand.
        let looked_for = ["DO-178", "DO-330", "low-level requirement", "high-level requirement"];
        assert_eq!(looked_for.iter().all(|word| all_foreign.contains(word)), is_do_178c);
        assert_eq!(all_foreign.contains("CAST-"), is_do_178c);
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
