//! What makes a result say less than its level asks for is on page 1 of every report and counts, unless the project accepts
//! it by name.

mod support;

use serde_json::Value;
use std::path::{Path, PathBuf};
use support::*;

struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    fn minimal() -> Self {
        let folder = tempfile::tempdir().unwrap();
        copy_tree(&root().join("tests/projects/minimal"), folder.path());
        Self { folder }
    }

    /// With more lines below the level in `vkcert.toml`.
    fn with(settings: &str) -> Self {
        let project = Self::minimal();
        project.change("vkcert.toml", "level = \"A\"\n", &format!("level = \"A\"\n{settings}\n"));
        project
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn reports(&self) -> PathBuf {
        self.path().join("reports")
    }

    fn change(&self, file: &str, from: &str, to: &str) {
        let path = self.path().join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file} has no `{from}`");
        std::fs::write(path, text.replace(from, to)).unwrap();
    }

    /// Certifies without a device; the evidence verifies.
    fn certify(&self, more: &[&str], exit: i32) -> Value {
        let campaign = run_json(without_driver(vkcert().arg("certify").arg(self.path())).args(more), exit);
        run(vkcert().arg("verify").arg(self.reports().join("evidence")), 0);
        campaign
    }

    /// The summary of stored evidence as a terminal of 100 columns shows it, white space collapsed.
    fn summary(&self) -> String {
        let evidence = self.reports().join("evidence");
        let output = run(vkcert().arg("report").arg(evidence).args(["--report-format", "terminal"]), 0);
        collapsed(&String::from_utf8(output.stdout).unwrap())
    }

    fn page(&self) -> String {
        std::fs::read_to_string(self.reports().join("report.html")).unwrap()
    }
}

fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn items(campaign: &Value) -> Vec<&str> {
    let items = campaign["open_items"].as_array().unwrap();
    items.iter().map(|item| item["name"].as_str().unwrap()).collect()
}

const ACCEPTED: &str = "\n[[accept]]\nitem = \"ITEM\"\nreason = \"The display has no decision of its own.\"\n\
    author = \"Ann Author\"\napprover = \"Bob Reviewer\"\n";

#[test]
fn the_projects_that_are_shown_have_no_open_item() {
    let folder = tempfile::tempdir().unwrap();
    let new = folder.path().join("new");
    run(vkcert().arg("init").arg(&new), 0);
    for project in [root(), root().join("tests/projects/minimal"), new] {
        let out = folder.path().join("reports");
        let campaign = run_json(without_driver(vkcert().arg("certify").arg(&project)).arg("--out").arg(&out), 0);
        assert_eq!(items(&campaign), [""; 0], "{}", project.display());
    }
}

#[test]
fn less_than_the_level_asks_for_is_told_everywhere_and_counts() {
    for (settings, item) in [
        ("criteria = [\"statement\", \"decision\", \"mcdc-masking\"]", "criterion-not-asked additional-code"),
        ("decision_policy = \"control-flow\"", "decision-policy"),
        ("validation = \"off\"", "validation-off"),
        ("contraction = \"allowed\"", "contraction-allowed"),
    ] {
        let project = Project::with(settings);
        let campaign = project.certify(&[], 1);
        assert_eq!(items(&campaign), [item]);
        let reasons = campaign["conclusion"]["reasons"].as_array().unwrap();
        assert!(reasons.len() == 1 && reasons[0].as_str().unwrap().contains(item), "{reasons:?}");
        let (summary, page) = (project.summary(), project.page());
        for text in [&summary, &page] {
            assert!(text.contains(item) && text.contains("The evidence is not complete"), "{text}");
        }
    }
}

#[test]
fn an_accepted_item_stays_on_page_1_with_who_accepts_it() {
    let settings = "decision_policy = \"control-flow\"";
    let accepted = ACCEPTED.replace("ITEM", "decision-policy");
    let project = Project::with(&format!("{settings}\n{accepted}"));
    let campaign = project.certify(&[], 0);
    assert_eq!(campaign["open_items"][0]["acceptance"]["approver"], "Bob Reviewer");
    for text in [project.summary(), project.page()] {
        for word in
            ["decision-policy", "accepted", "The display has no decision of its own.", "Ann Author", "Bob Reviewer"]
        {
            assert!(text.contains(word), "{word}: {text}");
        }
        assert!(text.contains("but for 1 accepted open item"), "{text}");
    }
    project.change("vkcert.toml", "Bob Reviewer", "ann author");
    let campaign = project.certify(&[], 1);
    assert!(campaign["rejected_acceptances"][0]["reason"].as_str().unwrap().contains("independence"));
    // Nothing to accept: the acceptance is left over.
    project.change("vkcert.toml", "ann author", "Bob Reviewer");
    project.change("vkcert.toml", settings, "");
    let campaign = project.certify(&[], 1);
    let reason = campaign["conclusion"]["reasons"][0].as_str().unwrap();
    assert!(reason.starts_with("acceptance of decision-policy: not needed"), "{reason}");
}

#[test]
fn the_host_and_the_requirement_of_a_kernel_are_asked_for_down_to_level_c() {
    for (level, due) in [("A", 1), ("B", 1), ("C", 1), ("D", 0)] {
        let project = Project::minimal();
        project.change("vkcert.toml", "level = \"A\"", &format!("level = \"{level}\""));
        let text = std::fs::read_to_string(project.path().join("requirements/double.toml")).unwrap();
        let (kept, _) = text.split_once("[[interface]]").unwrap();
        let kept = kept.replace("implements = [{ file = \"glsl/double.comp\", symbol = \"main\" }]\n", "");
        write(project.path(), "requirements/double.toml", kept);
        let campaign = project.certify(&[], due);
        let all = ["kernel-without-interface double", "function-without-requirement glsl/double.comp:main"];
        assert_eq!(items(&campaign), all[..2 * due as usize], "{level}");
    }
}

/// A function that is called needs a requirement, one that nobody calls does not.
#[test]
fn functions_count_as_far_as_the_entry_point_reaches_them() {
    let project = Project::minimal();
    let called = "uint twice(uint x) { return 2u * x; }\nuint thrice(uint x) { return 3u * x; }\nvoid main";
    project.change("glsl/double.comp", "void main", called);
    project.change("glsl/double.comp", "2u * values[i]", "twice(values[i])");
    assert_eq!(items(&project.certify(&[], 1)), ["function-without-requirement glsl/double.comp:twice"]);
}

#[test]
fn what_the_command_line_leaves_out_cannot_be_accepted() {
    for (options, item) in [
        (&["--check", "none"][..], "checks-left-out"),
        (&["--without", "TC-DBL-01"], "test-left-out TC-DBL-01"),
        (&["--replay", "reversed"], "schedule-replayed"),
    ] {
        let project = Project::minimal();
        let settings = std::fs::read_to_string(project.path().join("vkcert.toml")).unwrap();
        write(project.path(), "vkcert.toml", settings + &ACCEPTED.replace("ITEM", item));
        let campaign = project.certify(options, 1);
        assert_eq!(items(&campaign), [item]);
        let rejected = campaign["rejected_acceptances"][0]["reason"].as_str().unwrap();
        assert!(rejected.contains("cannot be accepted"), "{rejected}");
        assert!(project.summary().contains(item) && project.page().contains(item));
    }
}

#[test]
fn fewer_repetitions_or_schedules_than_the_project_asks_for_are_open() {
    let project = Project::with("repeat = 2\nschedules = { count = 2 }");
    assert_eq!(items(&project.certify(&[], 0)), [""; 0]);
    let campaign = project.certify(&["--repeat", "1", "--schedules", "1"], 1);
    assert_eq!(items(&campaign), ["schedules-left-out", "repetitions-left-out sequential"]);
    assert_eq!(items(&project.certify(&["--repeat", "3", "--schedules", "3"], 0)), [""; 0]);
}

/// A requirement is not verified while a test of it is left out, nor are its parents by it.
#[test]
fn a_requirement_whose_test_is_left_out_is_open() {
    let project = Project::minimal();
    let text = std::fs::read_to_string(project.path().join("requirements/double.toml")).unwrap();
    let (_, test) = text.split_once("[[test]]").unwrap();
    let (test, _) = test.split_once("[[interface]]").unwrap();
    let again = test.replace("TC-DBL-01", "TC-DBL-02").replace("\"HLR-DBL-001\", ", "");
    write(project.path(), "requirements/again.toml", format!("schema = 1\n[[test]]{again}"));
    let campaign = project.certify(&["--without", "TC-DBL-02"], 1);
    let low_level = &campaign["requirements"][1];
    assert_eq!((&low_level["status"], &low_level["left_out_tests"][0]), (&"open".into(), &"TC-DBL-02".into()));
    let reasons = campaign["conclusion"]["reasons"].to_string();
    assert!(reasons.contains("requirement LLR-DBL-001 is open"), "{reasons}");
    assert!(project.page().contains("TC-DBL-02 (left out)"));
    assert!(!project.page().contains("they passed on every engine"));
}

/// Without a device the result stands, and page 1 says what nobody looked for.
#[test]
fn no_device_is_a_note_and_no_finding_is_told_of_the_kinds_looked_for() {
    let project = Project::minimal();
    project.certify(&[], 0);
    for text in [project.summary(), collapsed(&project.page())] {
        assert!(text.contains("Not run on the engine vulkan") && text.contains("engine-disagreement"), "{text}");
        assert!(!text.contains("No finding stands"), "{text}");
    }
    assert!(project.page().contains("No finding of the kinds looked for stands."));
    project.certify(&["--check", "none"], 1);
    assert!(project.summary().contains("Findings not looked for"));
}

#[test]
fn forged_open_items_do_not_verify() {
    let project = Project::with("validation = \"off\"");
    project.certify(&[], 1);
    let evidence = project.reports().join("evidence");
    let intact = std::fs::read(evidence.join("campaign.json")).unwrap();
    let forgeries: &[fn(&mut Value)] = &[
        |campaign| campaign["open_items"] = serde_json::json!([]),
        |campaign| campaign["open_items"][0]["sentence"] = "nothing".into(),
        |campaign| campaign["notes"] = serde_json::json!([]),
        |campaign| campaign["unsought"] = serde_json::json!([]),
        |campaign| {
            let approval = serde_json::json!({"reason": "r", "author": "a", "approver": "b"});
            campaign["open_items"][0]["acceptance"] = approval;
        },
        |campaign| drop(campaign.as_object_mut().unwrap().remove("settings")),
    ];
    for change in forgeries {
        write(&evidence, "campaign.json", &intact);
        forge(&evidence, "campaign.json", change);
        run(vkcert().arg("verify").arg(&evidence), 1);
    }
}

/// How many mismatches are listed is a matter of the report alone.
#[test]
fn a_failure_stays_one_where_no_mismatch_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    copy_tree(&root().join("tests/projects/failing"), folder.path());
    let settings = std::fs::read_to_string(folder.path().join("vkcert.toml")).unwrap();
    write(folder.path(), "vkcert.toml", settings + "\n[limits]\nmismatches = 0\n");
    let campaign = run_json(without_driver(vkcert().arg("certify").arg(folder.path())), 1);
    let result = &campaign["tests"][0]["results"][0];
    assert_eq!((&result["verdict"], &result["mismatches"]), (&"fail".into(), &serde_json::json!([])));
    assert!(campaign["conclusion"]["reasons"].to_string().contains("test TC-DBL-01 on sequential: fail"));
    run(vkcert().arg("verify").arg(folder.path().join("reports/evidence")), 0);
}

#[test]
fn a_file_has_one_name_however_its_path_is_written() {
    let project = Project::minimal();
    project.change("vkcert.toml", "source = \"glsl/double.comp\"", "source = \"./glsl//double.comp\"");
    project.change("requirements/double.toml", "file = \"glsl/double.comp\"", "file = \"glsl/./double.comp\"");
    let campaign = project.certify(&[], 0);
    assert_eq!(items(&campaign), [""; 0]);
    let kernel = &campaign["project"];
    assert!(!kernel.to_string().contains("./glsl"), "{kernel:#}");
}
