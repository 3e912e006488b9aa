//! `provenance.json`: what `certify` says of itself beside the evidence, and what of it `verify`
//! looks at.

use crate::support;

use serde_json::{Value, json};
use sha2::Digest;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::*;

/// A copy of a small project.
fn project(folder: &Path) -> PathBuf {
    let project = folder.join("project");
    copy_tree(&root().join("tests/projects/minimal"), &project);
    project
}

/// Makes a repository of a folder and commits all of it; the commit.
fn commit(folder: &Path) -> String {
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            command.env_remove(name);
        }
        command.args(["-c", "user.name=A", "-c", "user.email=a@example.org"]);
        String::from_utf8(run(command.args(arguments).current_dir(folder), 0).stdout).unwrap()
    };
    git(&["init", "--quiet"]);
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "--message=x"]);
    git(&["rev-parse", "HEAD"]).trim_end().to_owned()
}

fn certify(project: &Path, out: &Path) -> Command {
    let mut command = certify_sequentially(project, out);
    command.args(["--quiet", "--report", "html"]);
    command
}

fn sha256(path: &Path) -> String {
    let digest = sha2::Sha256::digest(std::fs::read(path).unwrap());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn people_are_told_the_hash_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let shown = run(&mut certify(&project(folder.path()), &out), 0).stdout;
    let shown = String::from_utf8(shown).unwrap();
    let file = out.join("provenance.json");
    assert!(shown.contains(&sha256(&file)) && shown.contains(file.to_str().unwrap()), "{shown}");
}

#[test]
fn a_run_says_what_made_it_where_and_from_what() {
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path());
    let head = commit(&project);
    let out = project.join("reports");
    let printed = run_json(certify(&project, &out).env("VKCERT_TEST_SECRET", "hunter2"), 0);
    assert_eq!(printed["provenance"], Value::Null, "the same document in every run");
    let told = provenance(&out);
    assert_eq!(told["evidence_root"], printed["root"]);
    assert_eq!(told["evidence_root"], sha256(&out.join("evidence/manifest.json")));
    assert_eq!(told["tool"], json!({ "name": "vkcert", "version": env!("CARGO_PKG_VERSION") }));
    let program = env!("CARGO_BIN_EXE_vkcert");
    assert_eq!(told["binary_sha256"], sha256(Path::new(program)));
    assert_eq!(told["argv"][0], program);
    assert_eq!((&told["argv"][1], &told["argv"][2]), (&json!("certify"), &json!(project)));
    assert_eq!(told["host"]["architecture"], std::env::consts::ARCH);
    assert!(told["started"].as_str().unwrap() <= told["finished"].as_str().unwrap());
    assert!(told["started"].as_str().unwrap() > "2024");
    assert_eq!(told["source_date_epoch"], Value::Null);
    let clean = json!({
        "commit": head, "dirty": false, "change_count": 0, "changes": [], "reason": null,
    });
    assert_eq!(told["project"], clean);
    assert!(!std::fs::read_to_string(out.join("provenance.json")).unwrap().contains("hunter2"));
    // What the run has left makes the next one no dirtier, and a change does.
    run(&mut certify(&project, &out), 0);
    assert_eq!(provenance(&out)["project"], clean);
    write(&project, "notes.txt", "");
    run(&mut certify(&project, &out), 0);
    assert_eq!(provenance(&out)["project"]["changes"], json!(["?? notes.txt"]));
}

/// The program's own commit: as git tells it where these sources are a repository.
#[test]
fn the_program_names_the_commit_that_it_is_built_from() {
    let folder = tempfile::tempdir().unwrap();
    let (project, out) = (project(folder.path()), folder.path().join("out"));
    run(&mut certify(&project, &out), 0);
    let told = provenance(&out)["build_commit"].as_str().unwrap().to_owned();
    let mut git = Command::new("git");
    git.args(["rev-parse", "--verify", "HEAD"]).current_dir(root());
    match git.output().ok().filter(|output| output.status.success() && root().join(".git").exists())
    {
        Some(output) => {
            let commit = String::from_utf8(output.stdout).unwrap();
            assert_eq!(told.strip_suffix("-dirty").unwrap_or(&told), commit.trim_end());
        }
        None => assert_eq!(told, "unknown"),
    }
}

#[test]
fn evidence_and_reports_are_the_same_whatever_the_provenance_is() {
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path());
    let outs = ["one", "two"].map(|name| folder.path().join(name));
    run(&mut certify(&project, &outs[0]), 0);
    commit(&project);
    run(&mut certify(&project, &outs[1]), 0);
    let files = |out: &PathBuf| -> BTreeSet<(PathBuf, Vec<u8>)> {
        let section = out.join("latest");
        let entries = walkdir::WalkDir::new(&section).into_iter().map(Result::unwrap);
        let files = entries.filter(|entry| entry.file_type().is_file());
        let read = |entry: walkdir::DirEntry| {
            let name = entry.path().strip_prefix(&section).unwrap().to_owned();
            (name, std::fs::read(entry.path()).unwrap())
        };
        files.map(read).collect()
    };
    let [one, two] = outs.each_ref().map(files);
    let other: BTreeSet<&Path> =
        one.symmetric_difference(&two).map(|(name, _)| name.as_path()).collect();
    assert_eq!(other, BTreeSet::from([Path::new("provenance.json")]));
    let list = std::fs::read_to_string(outs[0].join("reports.json")).unwrap();
    assert!(!list.contains("provenance"), "{list}");
}

#[test]
fn times_are_those_of_the_clock_beside_the_date_of_the_sources() {
    let folder = tempfile::tempdir().unwrap();
    let (project, out) = (project(folder.path()), folder.path().join("out"));
    run(certify(&project, &out).env("SOURCE_DATE_EPOCH", "86400"), 0);
    let told = provenance(&out);
    assert_eq!(told["source_date_epoch"], "86400");
    assert!(told["started"].as_str().unwrap() > "2024", "{told:#}");
}

#[test]
fn a_machine_without_git_certifies_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (project, out) = (project(folder.path()), folder.path().join("out"));
    commit(&project);
    run(certify(&project, &out).env("PATH", folder.path()), 0);
    let told = provenance(&out);
    assert_eq!(
        (&told["project"]["commit"], &told["project"]["dirty"]),
        (&Value::Null, &Value::Null)
    );
    assert!(told["project"]["reason"].as_str().unwrap().starts_with("git cannot be run: "));
    run(vkcert().arg("verify").arg(out.join("evidence")), 0);
}

#[test]
fn words_of_the_command_line_that_are_no_text_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path());
    let out = folder.path().join(OsStr::from_bytes(b"o\xff"));
    run(&mut certify(&project, &out), 0);
    let told = provenance(&out);
    let words: Vec<&Value> =
        told["argv"].as_array().unwrap().iter().filter(|word| word.is_object()).collect();
    use base64::Engine as _;
    let encoded = base64::engine::general_purpose::STANDARD.encode(out.as_os_str().as_bytes());
    assert_eq!(words, [&json!({ "bytes": encoded })]);
    run(vkcert().arg("verify").arg(out.join("evidence")), 0);
}

#[test]
fn what_stands_in_the_place_of_the_file_gives_way_and_what_a_link_leads_to_stays() {
    let folder = tempfile::tempdir().unwrap();
    let (project, out) = (project(folder.path()), folder.path().join("out"));
    let victim = write(folder.path(), "victim", "mine");
    let place = out.join("provenance.json");
    std::fs::create_dir(&out).unwrap();
    std::os::unix::fs::symlink(&victim, &place).unwrap();
    run(&mut certify(&project, &out), 0);
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "mine");
    assert_eq!(std::fs::read_link(&place).unwrap(), Path::new("latest/provenance.json"));
    std::fs::remove_file(&place).unwrap();
    std::fs::create_dir(&place).unwrap();
    run(&mut certify(&project, &out), 0);
    assert_eq!(std::fs::read_link(&place).unwrap(), Path::new("latest/provenance.json"));
    assert_eq!(provenance(&out)["schema"], 1);
}

#[test]
fn the_terminal_tells_the_hash_below_the_root() {
    let folder = tempfile::tempdir().unwrap();
    let (project, out) = (project(folder.path()), folder.path().join("out"));
    let printed = run(&mut certify(&project, &out), 0).stdout;
    let printed = String::from_utf8(printed).unwrap();
    let file = out.join("provenance.json");
    let below_root = printed.lines().skip_while(|line| !line.starts_with("  Root ")).nth(1);
    let line = format!("  Provenance       {}", sha256(&file));
    assert_eq!(below_root, Some(line.as_str()), "{printed}");
}

#[test]
fn verify_holds_the_file_to_the_root_and_believes_nothing_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let (project, out) = (project(folder.path()), folder.path().join("out"));
    run(&mut certify(&project, &out), 0);
    let file = out.join("latest/provenance.json");
    let evidence = out.join("evidence");
    let verify = |exit| run_json(vkcert().arg("verify").arg(&evidence), exit);
    let first = verify(0);
    assert_eq!(first["provenance"], json!({ "names_root": true, "sha256": sha256(&file) }));
    // Another machine and commit: nothing shows that it is wrong.
    let mut told = provenance(&out);
    told["host"]["cpu"] = "Another".into();
    told["project"] = json!({
        "commit": "0".repeat(40), "dirty": false, "change_count": 0, "changes": [], "reason": null,
    });
    write(&out, "latest/provenance.json", format!("{told:#}\n"));
    assert_eq!(verify(0)["provenance"]["names_root"], true);
    told["evidence_root"] = "0".repeat(64).into();
    write(&out, "latest/provenance.json", format!("{told:#}\n"));
    let of_other = verify(1);
    assert_eq!(of_other["status"], "not-verified");
    assert_eq!(
        of_other["problems"],
        json!([
            "provenance.json is of other evidence: its root is not the SHA-256 of the manifest"
        ])
    );
    std::fs::remove_file(file).unwrap();
    assert_eq!(verify(0)["provenance"], Value::Null);
}

/// The members of the file are those of its schema, at every level.
#[test]
fn the_schema_has_the_members_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let (project, out) = (project(folder.path()), folder.path().join("out"));
    for reports in [&folder.path().join("first"), &out] {
        run(certify(&project, reports).arg("--cache").arg(folder.path().join("cache")), 0);
    }
    let schema = run(vkcert().args(["schema", "provenance"]), 0).stdout;
    let schema: Value = serde_json::from_slice(&schema).unwrap();
    let told = provenance(&out);
    let members = |value: &Value| -> BTreeSet<String> {
        value.as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(members(&told), members(&schema["properties"]));
    for (member, definition) in
        [("tool", "ProvenanceTool"), ("host", "Host"), ("project", "ProjectCommit")]
    {
        let definition = &schema["$defs"][definition];
        assert_eq!(members(&told[member]), members(&definition["properties"]), "{member}");
        assert_eq!(definition["additionalProperties"], false, "{member}");
    }
    let reused = &told["reuse"]["reused"][0];
    for (value, definition) in
        [(&told["reuse"], "RunReuse"), (reused, "ReusedRuns"), (&reused["origin"], "RunOrigin")]
    {
        let definition = &schema["$defs"][definition];
        assert_eq!(members(value), members(&definition["properties"]), "{value}");
        assert_eq!(definition["additionalProperties"], false, "{value}");
    }
    assert_eq!(schema["properties"]["evidence_root"]["pattern"], "^[0-9a-f]{64}$");
}
