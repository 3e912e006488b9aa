//! A campaign in parts: together they say what one run says, byte for byte; parts that are not of
//! one run, or not all of it, are refused.

use crate::many_kernels::write_project;
use crate::support::{
    assert_same_results, provenance, reused_count, root, run, run_json, vkcert, write,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn certify(project: &Path, out: &Path) -> Command {
    let mut command = vkcert();
    command.arg("certify").arg(project).arg("--out").arg(out);
    command
}

/// Runs every part of a project; their folders.
fn shards(project: &Path, folder: &Path, of: u32, options: &[&str]) -> Vec<PathBuf> {
    let shard = |number: u32| {
        let out = folder.join(format!("shard-{number}"));
        run(certify(project, &out).args(["--shard", &format!("{number}/{of}")]).args(options), 0);
        out
    };
    (1..=of).map(shard).collect()
}

fn merge(shards: &[impl AsRef<Path>], out: &Path) -> Command {
    let mut command = vkcert();
    command.arg("merge").args(shards.iter().map(AsRef::as_ref)).arg("--out").arg(out);
    command
}

/// The tests of a part.
fn tests_of(shard: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(shard.join("evidence/campaign.json")).unwrap();
    let campaign: Value = serde_json::from_str(&text).unwrap();
    let tests = campaign["tests"].as_array().unwrap();
    tests.iter().map(|test| test["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_demonstration_in_parts_is_the_demonstration() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, merged) = (folder.path().join("whole"), folder.path().join("merged"));
    run(&mut certify(&root(), &whole), 0);
    let parts = shards(&root(), folder.path(), 3, &[]);
    // In any order.
    run(&mut merge(&[&parts[2], &parts[0], &parts[1]], &merged), 0);
    assert_same_results(&whole, &merged);
    run(vkcert().arg("verify").arg(merged.join("evidence")), 0);
}

#[test]
fn parts_with_options_are_the_run_with_these_options() {
    let folder = tempfile::tempdir().unwrap();
    let [project, whole, merged] =
        ["project", "whole", "merged"].map(|name| folder.path().join(name));
    write_project(&project, 4);
    let options =
        ["--engine", "sequential", "--schedules", "2", "--without", "TC-00002-1", "--check=all"];
    run(certify(&project, &whole).args(options), 1);
    let parts = shards(&project, folder.path(), 5, &options);
    let told: usize = parts.iter().map(|part| tests_of(part).len()).sum();
    assert_eq!(told, 15);
    run(&mut merge(&parts, &merged), 1);
    assert_same_results(&whole, &merged);
    // Where they were made.
    let provenance = provenance(&merged);
    let reused = provenance["reuse"]["reused"].as_array().unwrap();
    assert_eq!(reused.len(), 5, "{provenance}");
    assert!(reused.iter().all(|row| row["origin"]["argv"].is_array()), "{provenance}");
}

/// What `provenance.json` counts of kernels, and then of their coupling: what was made, what was taken
/// from a cache, what was made all the same and compared.
fn product_counts(out: &Path) -> [[u64; 3]; 2] {
    let reuse = &provenance(out)["reuse"];
    [("kernels", "compiled"), ("coupling", "analysed")].map(|(product, made)| {
        let count = |name: &str| reuse[product][name].as_u64().unwrap();
        [count(made), reused_count(&reuse[product]), count("compared")]
    })
}

#[test]
fn what_a_cache_holds_is_not_made_to_merge_parts() {
    let folder = tempfile::tempdir().unwrap();
    let [project, whole, cache] =
        ["project", "whole", "cache"].map(|name| folder.path().join(name));
    write_project(&project, 4);
    let cache = cache.to_str().unwrap();
    let options = ["--engine", "sequential", "--cache", cache];
    run(certify(&project, &whole).args(options), 0);
    let parts = shards(&project, folder.path(), 2, &options);
    let [taken, made, compared] =
        ["taken", "made", "compared"].map(|name| folder.path().join(name));
    run(merge(&parts, &taken).args(["--cache", cache]), 0);
    assert_same_results(&whole, &taken);
    assert_eq!(product_counts(&taken), [[0, 4, 0]; 2]);
    run(merge(&parts, &made).arg("--no-cache"), 0);
    assert_same_results(&whole, &made);
    assert_eq!(product_counts(&made), [[4, 0, 0]; 2]);
    // Which are compared is drawn by chance.
    run(merge(&parts, &compared).args(["--cache", cache, "--cache", "verify"]), 0);
    for [made_again, taken_again, of_these] in product_counts(&compared) {
        assert_eq!((made_again + taken_again, of_these), (4, made_again));
    }
    assert_same_results(&whole, &compared);
    run(merge(&parts, &compared).args(["--campaigns", "--cache", cache]), 2);
}

/// Two kernels that read what a third left, which each test specializes in another way.
const READER: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, set = 0, binding = 0) readonly buffer V { uint v[]; };
layout(std430, set = 0, binding = 1) writeonly buffer W { uint w[]; };
void main() { w[gl_GlobalInvocationID.x] = v[gl_GlobalInvocationID.x]; }
";

const WRITER: &str = "#version 450
layout(local_size_x = 4) in;
layout(constant_id = 0) const uint MODE = 0;
layout(std430, set = 0, binding = 0) buffer V { uint v[]; };
void main() { v[gl_GlobalInvocationID.x] = MODE == 1u ? 5u : 6u; }
";

fn test_of(reader: &str, mode: u32, value: u32) -> String {
    format!(
        "[[test]]\nid = \"TC-{reader}\"\nrequirements = []\n\
         [test.buffers]\nv = {{ type = \"uint\", data = [0, 0, 0, 0] }}\n\
         w = {{ type = \"uint\", data = [0, 0, 0, 0] }}\n\
         [[test.dispatches]]\nkernel = \"writer\"\ngroups = [1, 1, 1]\n\
         bindings = [{{ set = 0, binding = 0, buffer = \"v\" }}]\n\
         specialization = {{ 0 = {{ value = {mode} }} }}\n\
         [[test.dispatches]]\nkernel = \"{reader}\"\ngroups = [1, 1, 1]\n\
         bindings = [{{ set = 0, binding = 0, buffer = \"v\" }}, {{ set = 0, binding = 1, buffer = \"w\" }}]\n\
         [[test.expect]]\nbuffer = \"w\"\nvalues = [{value}, {value}, {value}, {value}]\n"
    )
}

#[test]
fn configurations_that_parts_count_otherwise_are_those_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    let mut settings = "schema = 1\nname = \"Parts\"\nlevel = \"C\"\n".to_owned();
    for (name, text) in [("writer", WRITER), ("aread", READER), ("bread", READER)] {
        write(&project, &format!("glsl/{name}.comp"), text);
        settings
            .push_str(&format!("[[kernel]]\nname = \"{name}\"\nsource = \"glsl/{name}.comp\"\n"));
    }
    write(&project, "vkcert.toml", settings);
    let tests = test_of("bread", 1, 5) + &test_of("aread", 2, 6);
    write(&project, "requirements/tests.toml", format!("schema = 1\n{tests}"));
    let (whole, merged) = (folder.path().join("whole"), folder.path().join("merged"));
    let options = ["--engine", "sequential"];
    let exit = certify(&project, &whole).args(options).output().unwrap().status.code().unwrap();
    let parts = shards(&project, folder.path(), 2, &options);
    assert!(parts.iter().all(|part| tests_of(part).len() == 1), "each part numbers one");
    run(&mut merge(&parts, &merged), exit);
    assert_same_results(&whole, &merged);
    // Nothing is written into a part.
    run(&mut merge(&parts, &parts[0]), 2);
    run(&mut merge(&parts, &merged), exit);
}

#[test]
fn a_new_kernel_moves_no_test() {
    let folder = tempfile::tempdir().unwrap();
    let projects = [6, 7].map(|kernels| {
        let project = folder.path().join(format!("of-{kernels}"));
        write_project(&project, kernels);
        project
    });
    let options = ["--engine", "sequential", "--report", "junit"];
    let [small, large] = projects.map(|project| {
        let parts = shards(&project, &project, 3, &options);
        parts.iter().map(|part| tests_of(part)).collect::<Vec<_>>()
    });
    for (before, after) in small.iter().zip(&large) {
        assert!(before.is_subset(after), "{before:?} {after:?}");
    }
    let all: BTreeSet<&String> = large.iter().flatten().collect();
    assert_eq!((all.len(), large.iter().map(BTreeSet::len).sum::<usize>()), (28, 28));
}

/// What `merge` says against parts.
fn refusal(shards: &[impl AsRef<Path>], out: &Path) -> String {
    let told = run_json(&mut merge(shards, out), 2);
    assert!(!out.exists(), "{told}");
    let told = told.get("errors").or(told.get("diagnostics")).unwrap_or(&told).to_string();
    assert!(told.contains("bad-shard") || told.contains("evidence"), "{told}");
    told
}

#[test]
fn parts_that_are_not_of_one_run_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (project, out) = (folder.path().join("project"), folder.path().join("out"));
    write_project(&project, 3);
    let options = ["--engine", "sequential", "--report", "junit"];
    let parts = shards(&project, folder.path(), 2, &options);
    let told = refusal(&parts[..1], &out);
    assert!(told.contains("missing: 2/2"), "{told}");
    let told = refusal(&[&parts[0], &parts[1], &parts[1]], &out);
    assert!(told.contains("2/2 is there twice"), "{told}");
    let another = |name: &str, options: &[&str]| {
        let other = folder.path().join(name);
        run(
            certify(&project, &other).args(["--shard", "2/2", "--report", "junit"]).args(options),
            0,
        );
        refusal(&[&parts[0], &other], &out)
    };
    let told = another("limited", &["--engine", "sequential", "--max-steps", "100000000"]);
    assert!(told.contains("--max-steps"), "{told}");
    let told = another("devices", &[]);
    assert!(told.contains("--engine"), "{told}");
    let sources = project.join("requirements");
    let text = std::fs::read_to_string(sources.join("scale_00005.toml"));
    assert!(text.is_err(), "three kernels");
    let file = walkdir::WalkDir::new(&sources)
        .into_iter()
        .map(Result::unwrap)
        .find(|entry| entry.path().extension().is_some_and(|extension| extension == "toml"));
    let file = file.unwrap().into_path();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{text}\n# changed\n")).unwrap();
    let told = another("changed", &["--engine", "sequential"]);
    assert!(told.contains("the file requirements/"), "{told}");
    // A whole run is no part, and neither is nothing.
    let whole = folder.path().join("whole");
    run(certify(&project, &whole).args(options), 0);
    assert!(refusal(&[&whole], &out).contains("this is no shard"));
    assert!(refusal(&[folder.path().join("nothing")], &out).contains("this is no shard"));
}

#[test]
fn parts_that_were_changed_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (project, out) = (folder.path().join("project"), folder.path().join("out"));
    write_project(&project, 2);
    let parts = shards(&project, folder.path(), 2, &["--engine", "sequential"]);
    let file = parts[1].join("latest/shard.json");
    let honest: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let changes = [
        ("schema", json!(2)),
        ("shard", json!({ "number": 3, "of": 2 })),
        ("shard", json!({ "number": 0, "of": 0 })),
        ("root", json!("0".repeat(64))),
        ("more", json!(1)),
        ("left_out", json!(["TC-00001-1"])),
        ("program", json!("0".repeat(64))),
    ];
    for (member, value) in changes {
        let mut changed = honest.clone();
        changed[member] = value;
        std::fs::write(&file, changed.to_string()).unwrap();
        refusal(&parts, &out);
    }
    write(&parts[1], "latest/shard.json", "{");
    refusal(&parts, &out);
    write(&parts[1], "latest/shard.json", honest.to_string());
    // A test that says it passed on what it did not leave.
    let campaign = parts[1].join("latest/evidence/campaign.json");
    let text = std::fs::read_to_string(&campaign).unwrap();
    std::fs::write(&campaign, text.replacen("\"pass\"", "\"fail\"", 1)).unwrap();
    let told = refusal(&parts, &out);
    assert!(told.contains("evidence"), "{told}");
    std::fs::write(&campaign, text).unwrap();
    run(&mut merge(&parts, &out), 0);
}

#[test]
fn what_is_no_part_is_no_argument() {
    for text in ["0/2", "3/2", "1", "1/0", "a/b"] {
        run(vkcert().args(["certify", "--shard", text]), 2);
    }
    run(vkcert().args(["certify", "--shard", "1/2", "--only", "TC-1"]), 2);
    run(vkcert().arg("merge"), 2);
}
