//! `merge --campaigns`: campaigns of one project side by side, without a union of what they show; others are refused.

use crate::support::{copy_tree, forge, root, run, run_json, vkcert, write};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A project with the campaigns made of it.
struct Campaigns {
    folder: tempfile::TempDir,
}

impl Campaigns {
    fn of(project: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        copy_tree(&root().join("tests/projects").join(project), &folder.path().join("project"));
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, name: &str, options: &[&str], exit: i32) -> PathBuf {
        let mut command = vkcert();
        command.arg("certify").arg(self.path("project")).arg("--out").arg(self.path(name));
        run(command.args(["--report", "json", "--no-cache"]).args(options), exit);
        self.path(name)
    }
}

fn merge(campaigns: &[&Path]) -> Command {
    let mut command = vkcert();
    command.args(["merge", "--campaigns"]).args(campaigns);
    command
}

fn differences(table: &Value) -> Vec<String> {
    let changes = table["differences"].as_array().unwrap().iter();
    let changes = changes.flat_map(|difference| difference["changes"].as_array().unwrap());
    changes.map(|change| format!("{} {}", change["area"], change["subject"])).collect()
}

#[test]
fn each_number_is_of_one_engine_of_one_campaign() {
    let campaigns = Campaigns::of("minimal");
    let alone = campaigns.run("alone", &["--engine", "sequential"], 0);
    let both = campaigns.run("both", &["--engine", "both"], 0);
    let out = campaigns.path("out");
    let table = run_json(merge(&[&alone, &both]).arg("--out").arg(&out), 0);
    let columns = json!([
        { "campaign": 1, "engine": "sequential" },
        { "campaign": 2, "engine": "sequential" },
        { "campaign": 2, "engine": "vulkan" },
    ]);
    assert_eq!(table["columns"], columns);
    assert_eq!(table["tests"], json!([{ "test": "TC-DBL-01", "cells": ["pass", "pass", "pass"] }]));
    let coverage = table["coverage"].as_array().unwrap();
    let of_criterion = |name: &str| {
        let row = coverage.iter().find(|row| row["criterion"] == name).expect("it is asked for");
        row["cells"].as_array().unwrap().clone()
    };
    // As the campaigns have it, engine by engine.
    let evidence = std::fs::read(both.join("evidence/campaign.json")).unwrap();
    let campaign: Value = serde_json::from_slice(&evidence).unwrap();
    let summary = campaign["conclusion"]["summary"].as_array().unwrap();
    for (column, engine) in [(1, "sequential"), (2, "vulkan")] {
        let row = summary.iter().find(|row| row["engine"] == engine).unwrap();
        let criteria = row["criteria"].as_array().unwrap().iter();
        let statement = criteria.clone().find(|row| row["criterion"] == "statement").unwrap();
        let cell = &of_criterion("statement")[column];
        for count in ["total", "covered", "justified", "uncovered", "undetermined"] {
            assert_eq!(cell[count], statement[count]);
        }
    }
    let named = differences(&table);
    assert!(named.iter().any(|text| text.contains("engine vulkan")), "{named:?}");
    assert!(!named.iter().any(|text| text.contains("TC-DBL-01")), "{named:?}");
    let written = std::fs::read(out.join("campaigns.json")).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&written).unwrap(), table);
    let page = std::fs::read_to_string(out.join("campaigns.html")).unwrap();
    for words in ["Campaigns side by side", "2 vulkan", "nothing of it is united", "TC-DBL-01"] {
        assert!(page.contains(words), "{words}");
    }
    let told = String::from_utf8(run(&mut merge(&[&alone, &both]), 0).stdout).unwrap();
    for words in ["What they show is not united", "Tests: 0 of 1 row with differences", "2 vulkan"]
    {
        assert!(told.contains(words), "{words}: {told}");
    }
}

#[test]
fn what_differs_between_settings_of_a_device_is_named() {
    let campaigns = Campaigns::of("minimal");
    let usual = campaigns.run("usual", &["--engine", "both"], 0);
    let fewer = campaigns.run("fewer", &["--engine", "both", "--repeat", "1"], 1);
    let table = run_json(&mut merge(&[&usual, &fewer]), 1);
    let named = differences(&table);
    assert!(named.iter().any(|text| text.contains("repetitions-left-out vulkan")), "{named:?}");
    assert_eq!(table["campaigns"][1]["exit_code"], 1);
    let same = run_json(&mut merge(&[&usual, &usual.join("evidence")]), 0);
    assert_eq!(differences(&same), Vec::<String>::new());
}

#[test]
fn verdicts_that_differ_are_counted() {
    let campaigns = Campaigns::of("failing");
    let whole = campaigns.run("whole", &["--engine", "both"], 1);
    let early = campaigns.run("early", &["--engine", "both", "--fail-fast"], 1);
    let table = run_json(&mut merge(&[&whole, &early]), 1);
    assert_eq!(table["tests"][0]["cells"], json!(["fail", "fail", "fail", "not-run"]));
    let told = String::from_utf8(run(&mut merge(&[&whole, &early]), 1).stdout).unwrap();
    assert!(told.contains("Tests: 1 of 1 row with differences"), "{told}");
    assert!(
        told.contains("test TC-DBL-01 on vulkan: fail in campaign 1, not-run in campaign 2"),
        "{told}"
    );
}

#[test]
fn campaigns_of_something_else_are_refused_by_name() {
    let campaigns = Campaigns::of("minimal");
    let first = campaigns.run("first", &["--engine", "sequential"], 0);
    let refusal = |other: &Path| {
        let out = campaigns.path("out");
        let told = run_json(merge(&[&first, other]).arg("--out").arg(&out), 2).to_string();
        assert!(told.contains("bad-campaign") && !out.exists(), "{told}");
        told
    };
    let without = campaigns.run("without", &["--engine", "sequential", "--check", "none"], 1);
    assert!(refusal(&without).contains("--check"));
    let failing = Campaigns::of("failing");
    let other = failing.run("other", &["--engine", "sequential"], 1);
    assert!(refusal(&other).contains("the project `Minimal`, the other of `Failing`"));
    let source = campaigns.path("project/glsl/double.comp");
    let text = std::fs::read_to_string(&source).unwrap();
    write(&campaigns.path("project"), "glsl/double.comp", format!("{text}// changed\n"));
    let changed = campaigns.run("changed", &["--engine", "sequential"], 0);
    assert!(refusal(&changed).contains("the file glsl/double.comp differs"));
    write(&campaigns.path("project"), "glsl/double.comp", text);
    let left_out = ["--engine", "sequential", "--without", "TC-DBL-01"];
    let fewer = campaigns.run("fewer", &left_out, 1);
    assert!(refusal(&fewer).contains("only one has the test TC-DBL-01"));
    let forged = campaigns.run("forged", &["--engine", "sequential"], 0);
    forge(&forged.join("evidence"), "campaign.json", |campaign| {
        campaign["tests"][0]["results"][0]["verdict"] = json!("fail");
    });
    assert!(refusal(&forged).contains("does not verify"));
    let told = run_json(&mut merge(&[&first]), 2).to_string();
    assert!(told.contains("stands beside no other"), "{told}");
}

/// Shards are put together into a folder; without one there is nothing to be done with them.
#[test]
fn shards_need_a_folder_and_campaigns_do_not() {
    run(vkcert().args(["merge", "part"]), 2);
    run(vkcert().args(["merge", "--campaigns", "a", "b", "--report", "json"]), 2);
}
