//! Justifications of findings: by name and content, signed by two people, stale when the code or
//! the finding changes, and derived again by `verify`.

use crate::support;

use serde_json::Value;
use std::path::{Path, PathBuf};
use support::*;

const KERNEL: &str = "glsl/alarm.comp";

struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        copy_tree(&root().join("tests/projects/alarm"), folder.path());
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
        std::fs::write(path, text.replace(from, to)).unwrap();
    }

    /// Certifies on an engine, and checks that the evidence verifies.
    fn certify_on(&self, engine: &str, more: &[&str], exit: i32) -> Value {
        let campaign = run_json(
            vkcert().arg("certify").arg(self.path()).args(["--engine", engine]).args(more),
            exit,
        );
        run(vkcert().arg("verify").arg(self.evidence()), 0);
        campaign
    }

    fn certify(&self, exit: i32) -> Value {
        self.certify_on("sequential", &[], exit)
    }

    fn findings(&self) -> Vec<Value> {
        let listed = run_json(vkcert().args(["list", "findings"]).arg(self.path()), 0);
        listed.as_array().unwrap().clone()
    }

    /// Puts what `vkcert list findings --propose` prints into the project, signed.
    fn accept(&self, author: &str, approver: &str) {
        let proposed = run(vkcert().args(["list", "findings", "--propose"]).arg(self.path()), 0);
        let text = String::from_utf8(proposed.stdout).unwrap();
        let signed = text
            .replace("reason = \"\"", "reason = \"Whoever writes, writes 1.\"")
            .replace("author = \"\"", &format!("author = \"{author}\""))
            .replace("approver = \"\"", &format!("approver = \"{approver}\""));
        write(self.path(), "requirements/accepted.toml", format!("schema = 1\n\n{signed}"));
    }

    fn race_accepted() -> Self {
        let project = Self::new();
        project.certify(1);
        project.accept("A. Author", "B. Reviewer");
        project
    }
}

fn reasons(campaign: &Value) -> Vec<&str> {
    campaign["conclusion"]["reasons"]
        .as_array()
        .unwrap()
        .iter()
        .map(|reason| reason.as_str().unwrap())
        .collect()
}

fn race(campaign: &Value) -> &Value {
    &campaign["tests"][0]["results"][0]["findings"][0]
}

#[test]
fn a_race_of_equal_values_is_accepted_by_its_name() {
    let project = Project::new();
    let before = project.certify(1);
    assert_eq!(reasons(&before), ["1 data-race finding"]);
    assert_eq!(race(&before)["acceptance"]["id"], "data-race@S3,S3");
    assert_eq!(race(&before)["kernel"], "alarm");
    let subject = &race(&before)["acceptance"]["subject"];
    assert_eq!(
        (&subject["kind"], &subject["facts"]["memory"]),
        (&"data-race".into(), &"buffer".into()),
        "{subject:#}"
    );
    assert_eq!(subject["places"][0]["text"], "raised = 1u;", "{subject:#}");
    project.accept("A. Author", "B. Reviewer");
    let after = project.certify(0);
    assert_eq!(reasons(&after), Vec::<&str>::new());
    let told = "analysis: Whoever writes, writes 1. (author A. Author, approver B. Reviewer)";
    assert_eq!(race(&after)["acceptance"]["justification"], told);
    // It is told still, in every report.
    assert_eq!(project.findings()[0]["state"], told);
    let html = std::fs::read_to_string(project.path().join("reports/report.html")).unwrap();
    assert!(
        html.contains("J accepted") && html.contains("data-race@S3,S3"),
        "the page names what is accepted"
    );
    let terminal =
        run(vkcert().args(["report", "--report-format", "terminal"]).arg(project.evidence()), 0);
    assert!(String::from_utf8_lossy(&terminal.stdout).contains("1 accepted by justification"));
    let nothing = run(vkcert().args(["list", "findings", "--propose"]).arg(project.path()), 0);
    assert_eq!(
        String::from_utf8_lossy(&nothing.stdout),
        "# No finding stands; there is nothing to propose.\n"
    );
}

#[test]
fn what_moves_stays_accepted_and_what_changes_goes_stale() {
    let project = Project::race_accepted();
    project.change(KERNEL, "void main", "// Moved.\n\nvoid main");
    project.change(KERNEL, "        raised = 1u;", "            raised   =   1u;");
    project.certify(0);
    project.change(KERNEL, "1u;", "2u;");
    project.change("requirements/alarm.toml", "values = [1]", "values = [2]");
    let changed = project.certify(1);
    let reasons = reasons(&changed);
    assert_eq!(reasons[0], "1 data-race finding");
    assert!(
        reasons[1].starts_with("justification of alarm data-race@S3,S3: stale: "),
        "{reasons:?}"
    );
    assert!(reasons[1].contains("`raised = 2u;`"), "{reasons:?}");
}

#[test]
fn a_justification_for_a_configuration_goes_stale_and_none_counts_twice() {
    let project = Project::race_accepted();
    let signed =
        std::fs::read_to_string(project.path().join("requirements/accepted.toml")).unwrap();
    let configured = signed.replace("finding =", "configuration = \"default\"\nfinding =");
    let accepting = |text: &str, exit: i32| {
        write(project.path(), "requirements/accepted.toml", text);
        let campaign = project.certify(exit);
        reasons(&campaign).iter().map(|reason| (*reason).to_owned()).collect::<Vec<_>>()
    };
    accepting(&configured, 0);
    // For all configurations and for one.
    let table = configured.replace("schema = 1\n\n", "");
    let twice = accepting(&format!("{signed}\n{table}"), 1);
    assert_eq!(
        twice,
        ["justification of alarm data-race@S3,S3: data-race@S3,S3 is justified twice"]
    );
    let hash = signed.split("hash = \"sha256:").nth(1).unwrap().split('"').next().unwrap();
    let stale = accepting(&configured.replace(hash, &"0".repeat(64)), 1);
    assert_eq!(stale[0], "1 data-race finding", "{stale:?}");
    assert!(stale[1].starts_with("justification of alarm data-race@S3,S3: stale: "), "{stale:?}");
}

#[test]
fn a_justification_of_equal_values_does_not_accept_different_ones() {
    let project = Project::race_accepted();
    // The same statement, which one test executes with equal values and another one with different
    // ones.
    project.change(KERNEL, "raised = 1u;", "raised = samples[i];");
    project.change("requirements/alarm.toml", "values = [1]", "values = [9]");
    project.change("requirements/alarm.toml", "data = [3, 9, 8, 9]", "data = [3, 9, 9, 0]");
    project.change("requirements/alarm.toml", "data = [3, 7, 7, 9]", "data = [3, 7, 7, 0]");
    project.certify(1);
    assert!(project.findings()[0]["text"].as_str().unwrap().contains("same_value true"));
    project.accept("A. Author", "B. Reviewer");
    project.certify(0);
    project.change("requirements/alarm.toml", "data = [3, 9, 9, 0]", "data = [3, 9, 8, 0]");
    project.change("requirements/alarm.toml", "values = [9]", "values = [8]");
    let different = project.certify(1);
    let reasons = reasons(&different);
    assert_eq!(reasons[0], "1 data-race finding");
    assert!(reasons[1].contains("stale") && reasons[1].contains("same_value false"), "{reasons:?}");
}

#[test]
fn it_is_signed_by_two_people_where_the_level_demands_it() {
    let project = Project::race_accepted();
    project.accept("A. Author", " a. author ");
    let same = project.certify(1);
    assert!(
        reasons(&same).iter().any(|reason| reason.contains("this level demands independence")),
        "{same}"
    );
    assert_eq!(reasons(&same)[0], "1 data-race finding");
    project.change("vkcert.toml", "level = \"A\"", "level = \"C\"");
    project.certify(0);
}

#[test]
fn what_accepts_nothing_is_rejected_and_what_did_not_run_is_not_judged() {
    let project = Project::race_accepted();
    // An atomic does not race.
    project.change(KERNEL, "raised = 1u;", "atomicMax(raised, 1u);");
    let mended = project.certify(1);
    assert_eq!(
        reasons(&mended),
        [
            "justification of alarm data-race@S3,S3: not needed: alarm has no finding data-race@S3,S3"
        ]
    );
    for (name, why) in [
        ("engine-disagreement@TC-ALM-01.alarm", "no device ran"),
        ("schedule-dependent-output@TC-ALM-01.contents", "no other schedule ran"),
        ("out-of-bounds@TC-ALM-01.alarm", "no device ran"),
        ("coupling@device-limits", "no device ran"),
    ] {
        project.change("requirements/accepted.toml", "data-race@S3,S3", name);
        let row = project.certify(0)["justifications"][0].clone();
        assert_eq!(
            (&row["rejected"], row["not_judged"].as_str()),
            (&Value::Null, Some(why)),
            "{name}"
        );
        project.change("requirements/accepted.toml", name, "data-race@S3,S3");
    }
}

#[test]
fn a_file_that_names_no_finding_is_wrong_input() {
    let project = Project::race_accepted();
    let wrong = |from: &str, to: &str, kind: &str, hint: &str| {
        project.change("requirements/accepted.toml", from, to);
        let output = run(vkcert().arg("certify").arg(project.path()).args(["--format", "json"]), 2);
        let error: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(error["error"]["kind"], kind, "{error}");
        assert_eq!(
            error["error"]["file"],
            project.path().join("requirements/accepted.toml").to_str().unwrap()
        );
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(hint), "{hint}: {told}");
        project.change("requirements/accepted.toml", to, from);
    };
    let named = "finding = \"data-race@S3,S3\"";
    wrong(named, "finding = \"data-rase@S3,S3\"", "unknown-id", "did you mean `data-race`?");
    wrong(named, "finding = \"data-race\"", "bad-value", "does not say which finding");
    wrong(named, "finding = \"barrier-divergence@S3\"", "bad-value", "no justification can accept");
    wrong(named, "finding = \"data-race@S3,S3\"\nobligation = \"S3\"", "bad-value", "only one");
    wrong(named, "# nothing", "bad-value", "names an `obligation`, a");
    wrong("class = \"analysis\"", "class = \"dead\"", "bad-value", "accepted by analysis");
    wrong("approver = \"B. Reviewer\"", "approver = \" \"", "bad-value", "approver");
    wrong("kernel = \"alarm\"", "kernel = \"alarn\"", "unknown-kernel", "did you mean `alarm`?");
}

#[test]
fn evidence_in_which_a_finding_is_accepted_by_hand_does_not_verify() {
    let project = Project::race_accepted();
    project.certify(0);
    let intact = std::fs::read(project.evidence().join("campaign.json")).unwrap();
    let place = "differs           campaign.json/tests/0/results/0/findings/0/acceptance/";
    let forged = |field: &str, change: &dyn Fn(&mut Value)| {
        write(&project.evidence(), "campaign.json", &intact);
        forge(&project.evidence(), "campaign.json", |campaign| {
            change(&mut campaign["tests"][0]["results"][0]["findings"][0]["acceptance"]);
        });
        let output = run(vkcert().arg("verify").arg(project.evidence()), 1);
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(told.contains(&format!("{place}{field}")), "{field}: {told}");
    };
    forged("id: ", &|acceptance| acceptance["id"] = "data-race@S2,S2".into());
    forged("content: ", &|acceptance| acceptance["content"] = "nothing at all".into());
    forged("hash: ", &|acceptance| {
        acceptance["hash"] = format!("sha256:{}", "0".repeat(64)).into()
    });
    forged("subject: not stored", &|acceptance| acceptance["subject"] = Value::Null);
    forged("subject/facts/same_value: ", &|acceptance| {
        acceptance["subject"]["facts"]["same_value"] = false.into()
    });
    forged("subject/places/0/text: ", &|acceptance| {
        acceptance["subject"]["places"][0]["text"] = "raised = 2u;".into()
    });
    forged("subject/code/alarm: ", &|acceptance| {
        acceptance["subject"]["code"]["alarm"] = "0".repeat(64).into()
    });
    forged("subject/instructions/0: ", &|acceptance| {
        acceptance["subject"]["instructions"][0] = 1.into()
    });
    forged("justification: ", &|acceptance| acceptance["justification"] = "analysis: none".into());
    forged("justification: ", &|acceptance| acceptance["justification"] = Value::Null);
}

#[test]
fn an_output_that_depends_on_the_schedule_is_accepted_as_it_is_named() {
    let project = Project::new();
    // The order of the samples decides which one is left, and any one will do.
    project.change(KERNEL, "raised = 1u;", "atomicExchange(raised, samples[i]);");
    project.change(
        "requirements/alarm.toml",
        "values = [1]",
        "values = [8]\ntolerance = { abs = 1 }",
    );
    let schedules = ["--schedules", "8", "--seed", "1"];
    let before = project.certify_on("sequential", &schedules, 1);
    assert_eq!(reasons(&before), ["1 schedule-dependent-output finding"]);
    assert_eq!(project.findings()[0]["id"], "schedule-dependent-output@TC-ALM-01.contents");
    project.accept("A. Author", "B. Reviewer");
    project.certify_on("sequential", &schedules, 0);
    // Other schedules show the same.
    project.certify_on("sequential", &["--schedules", "5", "--seed", "77"], 0);
    // Without schedules there is nothing to judge it by.
    let unseen = project.certify(0);
    assert_eq!(unseen["justifications"][0]["not_judged"], "no other schedule ran");
    project.change("requirements/alarm.toml", "tolerance = { abs = 1 }", "tolerance = { abs = 0 }");
    // Where another order fails the test there is nothing to accept.
    let failing = project.certify_on("sequential", &schedules, 1);
    assert_eq!(reasons(&failing)[0], "1 schedule-dependent-output finding");
    assert!(reasons(&failing)[1].contains("that no justification can accept"), "{failing}");
    assert_eq!(project.findings()[0]["id"], Value::Null);
}

/// Accepts what stands, changes the kernel, and expects the justification to be stale.
fn goes_stale(project: &Project, change: impl FnOnce(&Project)) {
    project.certify(1);
    project.accept("A. Author", "B. Reviewer");
    project.certify(0);
    change(project);
    let changed = project.certify(1);
    assert!(
        reasons(&changed).iter().any(|reason| reason.contains("stale: ")),
        "{:?}",
        reasons(&changed)
    );
}

#[test]
fn what_a_macro_or_a_constant_stands_for_is_part_of_what_is_accepted() {
    for (before, after) in [
        ("#define RAISE raised = 1u;", "#define RAISE raised = 2u;"),
        (
            "const uint ON = 1u;\n#define RAISE raised = ON;",
            "const uint ON = 3u;\n#define RAISE raised = ON;",
        ),
    ] {
        let project = Project::new();
        project.change(KERNEL, "layout(local_size_x", &format!("{before}\nlayout(local_size_x"));
        project.change(KERNEL, "        raised = 1u;", "        RAISE");
        goes_stale(&project, |project| {
            project.change(KERNEL, before, after);
            let value = if after.contains('2') { "values = [2]" } else { "values = [3]" };
            project.change("requirements/alarm.toml", "values = [1]", value);
        });
        assert_eq!(
            project.findings()[0]["id"],
            "data-race@S3,S3",
            "a statement out of a macro is numbered like any other"
        );
    }
}

#[test]
fn a_read_out_of_bounds_that_becomes_a_write_is_another_finding() {
    let project = Project::new();
    project.change(
        KERNEL,
        "raised = 1u;",
        "atomicMax(raised, 1u);\n        touch(samples[i + 6u]);",
    );
    project.change(KERNEL, "readonly buffer", "buffer");
    project.change(KERNEL, "void main", "void touch(in uint x) { x += 1u; }\nvoid main");
    project.change("requirements/alarm.toml", ", symbol = \"main\"", "");
    let accepted = |item: &str| {
        format!(
            "[[accept]]\nitem = \"{item}\"\nreason = \"Not what is tested here.\"\nauthor = \"A. Author\"\n\
             approver = \"B. Reviewer\"\n\n"
        )
    };
    let items = ["index-bounds-not-shown alarm:1", "criterion-not-asked coupling"].map(accepted);
    project.change("vkcert.toml", "[[kernel]]", &format!("{}[[kernel]]", items.concat()));
    let criteria = "[\"statement\", \"decision\", \"mcdc-masking\", \"additional-code\"]";
    let level = "level = \"A\"";
    project.change("vkcert.toml", level, &format!("{level}\ncriteria = {criteria}"));
    goes_stale(&project, |project| project.change(KERNEL, "in uint x", "inout uint x"));
}

#[test]
fn a_host_that_does_something_else_is_another_finding() {
    let project = Project::new();
    project.change(KERNEL, "raised = 1u;", "atomicMax(raised, 1u);");
    project.change("requirements/alarm.toml", "(count + 3) / 4", "count / 4");
    project.certify(1);
    let ids: Vec<_> =
        project.findings().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect();
    assert!(ids.contains(&"coupling@dispatch-covers-domain".to_owned()), "{ids:?}");
    goes_stale(&project, |project| {
        project.change("requirements/alarm.toml", "count / 4", "count / 5")
    });
}

#[test]
fn what_was_left_out_is_not_judged() {
    let project = Project::race_accepted();
    let row = |more: &[&str]| {
        let campaign = project.certify_on("sequential", more, 1);
        campaign["justifications"][0].clone()
    };
    assert_eq!(row(&["--without", "TC-ALM-01"])["not_judged"], "tests were left out");
    let unlooked = project.certify_on("sequential", &["--check", "out-of-bounds"], 1);
    assert_eq!(
        reasons(&unlooked).len(),
        1,
        "nothing but what was left out counts: {:?}",
        reasons(&unlooked)
    );
    assert_eq!(
        unlooked["justifications"][0]["not_judged"],
        "findings of this kind were not looked for"
    );
}

#[test]
fn findings_of_one_test_are_those_of_their_kernels() {
    let project = Project::new();
    let settings = std::fs::read_to_string(project.path().join("vkcert.toml")).unwrap();
    let second = "\n[[kernel]]\nname = \"second\"\nsource = \"glsl/alarm.comp\"\n";
    write(project.path(), "vkcert.toml", settings + second);
    let dispatch = "[[test.dispatches]]\nkernel = \"alarm\"\ngroups = [1, 1, 1]\n\
        bindings = [{ set = 0, binding = 0, buffer = \"samples\" }, { set = 0, binding = 1, buffer = \"alarm\" }]\n\
        push_constants = { count = 3, limit = 7 }\n";
    // With an alarm of its own: what another kernel stores again is not judged of the first.
    let again = dispatch
        .replace("\"alarm\"\ngroups", "\"second\"\ngroups")
        .replace("buffer = \"alarm\"", "buffer = \"other\"");
    project.change("requirements/alarm.toml", dispatch, &format!("{dispatch}\n{again}"));
    let flag = "alarm = { type = \"uint\", data = [0] }";
    project.change(
        "requirements/alarm.toml",
        flag,
        &format!("{flag}\n{}", flag.replace("alarm", "other")),
    );
    for value in ["1", "0"] {
        let expected = format!("[[test.expect]]\nbuffer = \"alarm\"\nvalues = [{value}]\n");
        let both = format!("{expected}\n{}", expected.replace("alarm", "other"));
        project.change("requirements/alarm.toml", &expected, &both);
    }
    let text = std::fs::read_to_string(project.path().join("requirements/alarm.toml")).unwrap();
    let host = text
        .split_once("[[interface]]")
        .unwrap()
        .1
        .replace("kernel = \"alarm\"", "kernel = \"second\"");
    write(project.path(), "requirements/second.toml", format!("schema = 1\n[[interface]]{host}"));
    project.certify(1);
    project.accept("A. Author", "B. Reviewer");
    project.certify(0);
    let findings = project.findings();
    let named: Vec<_> = findings
        .iter()
        .map(|row| (row["kernel"].as_str().unwrap(), row["id"].as_str().unwrap()))
        .collect();
    assert_eq!(named, [("alarm", "data-race@S3,S3"), ("second", "data-race@S3,S3")]);
    // One kernel's justification is not another's.
    let accepted =
        std::fs::read_to_string(project.path().join("requirements/accepted.toml")).unwrap();
    let (first, _) = accepted.rsplit_once("[[justification]]").unwrap();
    write(project.path(), "requirements/accepted.toml", first);
    let one = project.certify(1);
    assert_eq!(reasons(&one), ["1 data-race finding"]);
}

#[test]
fn what_has_no_source_is_named_by_the_words_of_its_module() {
    let project = Project::new();
    run(vkcert().arg("build").arg(project.path()), 0);
    project.change(
        "vkcert.toml",
        "source = \"glsl/alarm.comp\"",
        "source = \"spirv/alarm.spv\"\nlanguage = \"spirv\"",
    );
    project.change(
        "requirements/alarm.toml",
        "implements = [{ file = \"glsl/alarm.comp\", symbol = \"main\" }]\n",
        "",
    );
    project.certify(1);
    let finding = &project.findings()[0];
    let id = finding["id"].as_str().unwrap();
    let (word, same) = id.strip_prefix("data-race@").unwrap().split_once(',').unwrap();
    assert_eq!((word.parse::<u32>().is_ok(), word), (true, same), "{id}");
    project.accept("A. Author", "B. Reviewer");
    // Coverage of a module without source is open; the race is not what stands against it.
    let after = project.certify(1);
    assert!(
        !reasons(&after).iter().any(|reason| reason.contains("data-race")),
        "{:?}",
        reasons(&after)
    );
}

/// Shifts in place of samples, one of them too far; the finding that tells of it is accepted.
fn undefined_accepted(condition: &str, samples: &str) -> Project {
    let project = Project::new();
    project.change(KERNEL, "samples[i] > limit", condition);
    project.change("requirements/alarm.toml", "data = [3, 9, 8, 9]", &format!("data = {samples}"));
    project.change("requirements/alarm.toml", "data = [3, 7, 7, 9]", "data = [1, 1, 2, 1]");
    project.certify(1);
    project.accept("A. Author", "B. Reviewer");
    project
}

/// Ids of open obligations with their reasons, from the listing.
fn open_obligations(project: &Project) -> Vec<(String, String)> {
    let rows =
        run_json(vkcert().args(["list", "obligations", "--status", "open"]).arg(project.path()), 0);
    let asked = rows.as_array().unwrap().iter().filter(|row| row["asked"] == true);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    asked
        .map(|row| {
            (text(&row["id"]), format!("{}: {}", text(&row["status"]), text(&row["reason"])))
        })
        .collect()
}

/// What page 1 says of tests that pass by an undefined value.
fn passes_by_undefined(campaign: &Value) -> String {
    let notes = campaign["notes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|note| note["kind"] == "undefined-values");
    let sentences = notes.map(|note| note["sentence"].as_str().unwrap());
    sentences.filter(|sentence| sentence.starts_with("Tests that pass by")).collect()
}

#[test]
fn what_an_accepted_undefined_value_alone_covers_is_not_covered() {
    let project = undefined_accepted("1u << samples[i] > limit", "[40, 1, 1, 1]");
    let campaign = project.certify(1);
    assert!(
        reasons(&campaign).iter().all(|reason| reason.contains("obligations not covered")),
        "{campaign:#}"
    );
    let through =
        "undetermined: covered only through what may follow an undefined value (TC-ALM-01)";
    let open = ["S3", "D1.T", "D1.C1.masking", "D1.C2.masking"]
        .map(|id| (id.to_owned(), through.to_owned()));
    assert_eq!(open_obligations(&project), open);
    let notes = campaign["notes"].as_array().unwrap();
    let note =
        notes.iter().find(|note| note["kind"] == "undefined-values").expect("a note on page 1");
    assert!(
        note["sentence"].as_str().unwrap().contains("obligations 4 (alarm on sequential: 4)"),
        "{note:#}"
    );
    let html = std::fs::read_to_string(project.path().join("reports/report.html")).unwrap();
    assert!(html.contains("may follow an undefined value"), "the row of the vector tells it");
    assert!(
        passes_by_undefined(&campaign).contains("do not complete: 1 (TC-ALM-01)"),
        "{notes:#?}"
    );
    assert!(html.contains("the test passes by an undefined value"), "the test tells it");
    // A test that shows the same by a defined value covers it, and is the only one to do so.
    project.change("requirements/alarm.toml", "data = [1, 1, 2, 1]", "data = [1, 1, 5, 1]");
    project.change("requirements/alarm.toml", "values = [0]", "values = [1]");
    project.certify(0);
    assert_eq!(open_obligations(&project), []);
    let kernel =
        std::fs::read_to_string(project.evidence().join("kernel-alarm-sequential.json")).unwrap();
    let kernel: Value = serde_json::from_str(&kernel).unwrap();
    assert_eq!(
        kernel["coverage"]["decisions"][0]["outcomes"][0]["tests"],
        serde_json::json!(["TC-ALM-02"])
    );
}

/// Booleans that nobody wrote, and undefined results that are Booleans, have other values, too.
#[test]
fn what_an_undefined_boolean_alone_covers_is_not_covered() {
    let uninitialized = "uint i = gl_GlobalInvocationID.x;\n    bool high;\n    if (i > 0u) { high = samples[i] > 7u; }";
    let (extension, index) = (
        "\n#extension GL_KHR_shader_subgroup_shuffle : require\nlayout(local",
        "uint i = gl_GlobalInvocationID.x;",
    );
    for (condition, header, start) in [
        ("!high", "\nlayout(local", uninitialized),
        ("!subgroupShuffle(samples[i] > 7u, 200u)", extension, index),
    ] {
        let project = Project::new();
        project.change(KERNEL, "samples[i] > limit", condition);
        project.change(KERNEL, index, start);
        project.change(KERNEL, "\nlayout(local", header);
        project.change("vkcert.toml", "source =", "target_env = \"vulkan1.1\"\nsource =");
        for data in ["data = [3, 9, 8, 9]", "data = [3, 7, 7, 9]"] {
            project.change("requirements/alarm.toml", data, "data = [9, 9, 9, 9]");
        }
        project.change("requirements/alarm.toml", "values = [0]", "values = [1]");
        project.certify(1);
        project.accept("A. Author", "B. Reviewer");
        project.certify(1);
        let through = "undetermined: covered only through what may follow an undefined value (TC-ALM-01, TC-ALM-02)";
        let open = open_obligations(&project);
        let told = open.iter().any(|(id, reason)| id.ends_with(".T") && reason == through);
        assert!(told, "{condition}: {open:#?}");
    }
}

/// The second one by either workgroup or by none; the third by one of them in every run, and by
/// none in all.
#[test]
fn a_barrier_that_undefined_values_lead_to_is_not_covered() {
    let project = Project::new();
    project.change("vkcert.toml", "level = \"A\"", "level = \"A\"\ncriteria = [\"barrier\"]");
    let begin = "void main() {\n    uint i = gl_GlobalInvocationID.x;";
    let barriers = "if (gl_LocalInvocationIndex == 0u) far = 1u << samples[i];\n    barrier();\n    \
                    if (far > limit) barrier();\n    if ((far > limit) != (gl_WorkGroupID.x == 1u)) barrier();";
    project.change(KERNEL, begin, &format!("shared uint far;\n{begin}\n    {barriers}"));
    project.change("requirements/alarm.toml", "[3, 9, 8, 9]", "[40, 9, 8, 9, 40, 1, 1, 1]");
    project.change("requirements/alarm.toml", "[3, 7, 7, 9]", "[1, 7, 7, 7]");
    let tests = std::fs::read_to_string(project.path().join("requirements/alarm.toml")).unwrap();
    let tests = tests.replacen("groups = [1, 1, 1]", "groups = [2, 1, 1]", 1).replacen(
        "count = 3",
        "count = 8",
        1,
    );
    write(project.path(), "requirements/alarm.toml", tests.replacen("count = 3", "count = 4", 1));
    project.certify(1);
    project.accept("A. Author", "B. Reviewer");
    let campaign = project.certify(1);
    assert_eq!(
        reasons(&campaign)[0],
        "alarm on sequential: 2 of 3 barrier obligations not covered, 2 of them undetermined"
    );
    let through =
        "undetermined: covered only through what may follow an undefined value (TC-ALM-01)";
    let open = ["BAR2", "BAR3"].map(|id| (id.to_owned(), through.to_owned()));
    assert_eq!(open_obligations(&project), open);
    let stored = "kernel-alarm-sequential.json";
    let kernel = std::fs::read_to_string(project.evidence().join(stored)).unwrap();
    let kernel: Value = serde_json::from_str(&kernel).unwrap();
    let records = &kernel["records"][0]["records"];
    let numbers: Vec<&String> = records["barriers"].as_object().unwrap().keys().collect();
    let held = records["undefined_barriers"].as_array().unwrap();
    assert_eq!((numbers.len(), held.len()), (3, 2), "{records:#}");
    forge(&project.evidence(), stored, |kernel| {
        kernel["records"][0]["records"].as_object_mut().unwrap().remove("undefined_barriers");
    });
    run(vkcert().args(["verify", "--replay"]).arg(project.evidence()), 1);
}

/// What a test's memory, push constants and variables hold that nobody wrote is another value in
/// every run, too.
#[test]
fn what_nobody_wrote_covers_nothing_wherever_it_lies() {
    let data = "samples = { type = \"uint\", data = [3, 9, 8, 9] }";
    for (from, to) in [(data, "samples = { type = \"uint\", count = 4 }"), (", limit = 7 }", " }")]
    {
        let project = Project::new();
        let tests =
            std::fs::read_to_string(project.path().join("requirements/alarm.toml")).unwrap();
        write(
            project.path(),
            "requirements/alarm.toml",
            tests.replacen(from, to, 1).replace("[3, 9, 8, 9]", "[3, 9, 8, 0]"),
        );
        project.change(KERNEL, "samples[i] > limit", "limit * samples[i] % 1000u > 100u");
        project.certify(1);
        project.accept("A. Author", "B. Reviewer");
        let campaign = project.certify(1);
        assert!(
            open_obligations(&project)
                .iter()
                .any(|(id, reason)| id == "D1.T" && reason.contains("undefined")),
            "{to}"
        );
        assert!(passes_by_undefined(&campaign).contains("1 (TC-ALM-01)"), "{to}");
    }
}

/// Nothing makes two of them the same.
#[test]
fn what_nobody_wrote_need_not_be_equal() {
    let declared = "uint a, b;\n    if (i < count && a == b) {";
    let shared = "if (i < count && values[i] == values[i + 1u]) {";
    for condition in [declared, shared] {
        let project = Project::new();
        project.change(KERNEL, "void main", "shared uint values[5];\nvoid main");
        project.change(KERNEL, "if (i < count && samples[i] > limit) {", condition);
        project.change("requirements/alarm.toml", "values = [0]", "values = [1]");
        project.certify(1);
        project.accept("A. Author", "B. Reviewer");
        let campaign = project.certify(1);
        assert!(
            open_obligations(&project)
                .iter()
                .any(|(id, reason)| id == "D1.T" && reason.contains("undefined")),
            "{condition}"
        );
        assert!(passes_by_undefined(&campaign).contains("2 (TC-ALM-01, TC-ALM-02)"), "{condition}");
    }
}

/// In every run some invocation shows the vector, and none in all of them.
#[test]
fn who_shows_a_vector_must_show_it_whatever_the_value_is() {
    let project = undefined_accepted("(1u << samples[i] > limit) != (i == 1u)", "[40, 40, 1, 1]");
    project.change("requirements/alarm.toml", "data = [1, 1, 2, 1]", "data = [1, 3, 2, 1]");
    let campaign = project.certify(1);
    // One of them raises the alarm in every run.
    assert_eq!(passes_by_undefined(&campaign), "");
    let open: Vec<String> = open_obligations(&project).into_iter().map(|(id, _)| id).collect();
    assert_eq!(open, ["S3", "D1.T", "D1.C1.masking", "D1.C2.masking"]);
}

#[test]
fn which_records_follow_an_undefined_value_is_derived_with_replay() {
    let project = undefined_accepted("1u << samples[i] > limit", "[40, 1, 1, 1]");
    project.certify(1);
    let verified = run(vkcert().arg("verify").arg(project.evidence()), 0);
    let told = "test TC-ALM-01: whether it passes with other undefined values";
    assert!(String::from_utf8_lossy(&verified.stdout).contains(told));
    let replayed = run(vkcert().args(["verify", "--replay"]).arg(project.evidence()), 0);
    assert!(!String::from_utf8_lossy(&replayed.stdout).contains(told));
    let set = |row: usize, bits: Value| {
        let stored = "kernel-alarm-sequential.json";
        forge(&project.evidence(), stored, |kernel| {
            kernel["records"][row]["records"]["undefined"] = bits
        });
    };
    set(0, serde_json::json!([]));
    run(vkcert().args(["verify", "--replay"]).arg(project.evidence()), 1);
    set(0, serde_json::json!([1]));
    run(vkcert().args(["verify", "--replay"]).arg(project.evidence()), 0);
    let pass = |rests: bool| {
        let change = |campaign: &mut Value| {
            campaign["tests"][0]["results"][0]["rests_on_undefined"] = rests.into()
        };
        forge(&project.evidence(), "campaign.json", change);
    };
    pass(false);
    run(vkcert().args(["verify", "--replay"]).arg(project.evidence()), 1);
    pass(true);
    run(vkcert().args(["verify", "--replay"]).arg(project.evidence()), 0);
    set(1, serde_json::json!([0]));
    let invented =
        String::from_utf8(run(vkcert().arg("verify").arg(project.evidence()), 1).stdout).unwrap();
    assert!(
        invented.contains("what may follow an undefined value, of which the test does not tell"),
        "{invented}"
    );
}
