//! `certify --baseline`: what has changed since an earlier run, and a run that fails for that alone.

use crate::support::{certify_sequentially, copy_tree, forge, root, run, run_json, vkcert, write};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A project with one run.
struct Baseline {
    folder: tempfile::TempDir,
}

impl Baseline {
    fn of(project: &str, exit: i32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        copy_tree(&root().join("tests/projects").join(project), &folder.path().join("project"));
        let baseline = Self { folder };
        run(&mut baseline.certify("first"), exit);
        baseline
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn certify(&self, reports: &str) -> Command {
        certify_sequentially(&self.path("project"), &self.path(reports))
    }

    /// Another run beside the first one.
    fn beside(&self, reports: &str, options: &[&str]) -> Command {
        let mut command = self.certify(reports);
        command.arg("--baseline").arg(self.path("first/evidence")).args(options);
        command
    }
}

fn changes(document: &Value) -> Vec<String> {
    let changes = document["baseline"]["changes"].as_array().expect("a list").iter();
    let words = |change: &Value| {
        let [effect, area, subject] = ["effect", "area", "subject"]
            .map(|key| change[key].as_str().expect("a word").to_owned());
        format!("{effect} {area} {subject}")
    };
    changes.map(words).collect()
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn an_unchanged_project_has_no_change_and_the_same_evidence() {
    let baseline = Baseline::of("minimal", 0);
    let document = run_json(&mut baseline.beside("second", &["--fail-on", "regression"]), 0);
    assert_eq!(changes(&document), [""; 0]);
    assert_eq!(document["root"], document["baseline"]["baseline"]);
    let written = read(&baseline.path("second/baseline.json"));
    assert_eq!(written, document["baseline"]);
    let output = run(&mut baseline.beside("second", &[]), 0);
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("nothing has changed since the baseline"), "{told}");
    // It stands in the list of reports: whoever changes it is found.
    run(vkcert().arg("verify").arg(baseline.path("second/evidence")), 0);
    write(&baseline.path("second/latest"), "baseline.json", "{}");
    run(vkcert().arg("verify").arg(baseline.path("second/evidence")), 1);
    // A run without one leaves none.
    run(&mut baseline.certify("second"), 0);
    assert!(std::fs::symlink_metadata(baseline.path("second/baseline.json")).is_err());
}

#[test]
fn a_test_that_is_left_out_is_a_regression_with_all_that_rests_on_it() {
    let baseline = Baseline::of("minimal", 0);
    let tests = read(&baseline.path("first/evidence/campaign.json"))["tests"].clone();
    let test = tests[0]["id"].as_str().unwrap();
    let options = ["--without", test, "--fail-on", "regression"];
    let document = run_json(&mut baseline.beside("second", &options), 1);
    let told = changes(&document);
    for change in
        [format!("worse test {test} on sequential"), format!("worse settings test {test}")]
    {
        assert!(told.contains(&change), "{change}: {told:#?}");
    }
    for start in ["worse requirement ", "worse coverage statement "] {
        assert!(told.iter().any(|change| change.starts_with(start)), "{start}: {told:#?}");
    }
    let output = run(&mut baseline.beside("second", &options), 1);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("Exit code 1 (--fail-on regression)"), "{text}");
    // The way back is no regression.
    let mut back = baseline.certify("third");
    back.arg("--baseline").arg(baseline.path("second/evidence"));
    let document = run_json(&mut back, 0);
    assert!(changes(&document).iter().all(|change| change.starts_with("better ")));
}

/// A project that has failed before, and fails alike.
#[test]
fn what_failed_before_fails_no_run_that_is_to_fail_for_regressions_alone() {
    let baseline = Baseline::of("failing", 1);
    run(&mut baseline.beside("second", &[]), 1);
    let output = run(&mut baseline.beside("second", &["--fail-on", "regression"]), 0);
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("Exit code 0 (--fail-on regression): nothing has changed"), "{told}");
}

#[test]
fn a_changed_kernel_is_compared_by_what_is_open_in_it() {
    let baseline = Baseline::of("minimal", 0);
    let kernel = baseline.path("project/glsl/double.comp");
    let text = std::fs::read_to_string(&kernel).unwrap();
    // Lines move, and nothing is worse.
    std::fs::write(&kernel, text.replacen("\n", "\n\n// Moved.\n", 1)).unwrap();
    let document = run_json(&mut baseline.beside("second", &["--fail-on", "regression"]), 0);
    assert!(changes(&document).iter().all(|change| !change.starts_with("worse")), "{document:#}");
    // Nor where it is open on both sides.
    let without_test = ["--without", "TC-DBL-01"];
    run(baseline.certify("first").args(without_test), 1);
    std::fs::write(&kernel, &text).unwrap();
    let document = run_json(&mut baseline.beside("second", &without_test), 1);
    assert_eq!(changes(&document), [""; 0]);
    run(&mut baseline.certify("first"), 0);
    // A decision that no test takes both ways.
    let position = text.rfind('}').expect("a function");
    let longer = format!("{}if (gl_NumWorkGroups.y > 7u) {{ return; }}\n}}\n", &text[..position]);
    std::fs::write(&kernel, longer).unwrap();
    let document = run_json(&mut baseline.beside("second", &["--fail-on", "regression"]), 1);
    let told = changes(&document);
    assert!(told.iter().any(|change| change.starts_with("worse coverage decision")), "{told:#?}");
}

#[test]
fn an_archive_is_a_baseline() {
    let baseline = Baseline::of("minimal", 0);
    let archive = baseline.path("first.tar.zst");
    run(vkcert().arg("archive").arg(baseline.path("first/evidence")).arg("-o").arg(&archive), 0);
    let mut second = baseline.certify("second");
    let document = run_json(second.arg("--baseline").arg(archive), 0);
    assert_eq!(changes(&document), [""; 0]);
}

#[test]
fn what_is_no_baseline_stops_the_run_before_it_begins() {
    let baseline = Baseline::of("minimal", 0);
    let refused = |command: &mut Command, kind: &str, message: &str| {
        let document = run_json(command, 2);
        assert_eq!(document["error"]["kind"], kind, "{document:#}");
        let told = document["error"]["message"].as_str().unwrap();
        assert!(told.contains(message), "{told}");
        assert!(!baseline.path("second").exists());
    };
    let mut command = baseline.certify("second");
    refused(command.args(["--fail-on", "regression"]), "usage", "goes with --baseline");
    let mut command = baseline.certify("second");
    let other = Baseline::of("configurations", 1);
    command.arg("--baseline").arg(other.path("first/evidence"));
    refused(&mut command, "bad-baseline", "it is of the project `");
    let mut command = baseline.certify("second");
    let nowhere = baseline.path("nowhere");
    let document = run_json(command.arg("--baseline").arg(nowhere), 2);
    assert_eq!(document["error"]["kind"], "missing-file");
    forge(&baseline.path("first/latest/evidence"), "campaign.json", |campaign| {
        campaign["tests"][0]["results"][0]["verdict"] = "fail".into();
    });
    refused(&mut baseline.beside("second", &[]), "bad-baseline", "it does not verify: ");
}
