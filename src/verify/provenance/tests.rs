//! Files that are no provenance of the evidence, and what is said of them.

use super::{MOST_BYTES, PROVENANCE, ProvenanceCheck};
use crate::folder::examine_files;
use crate::honest::{folder_of, honest};
use crate::telling::{in_words, json_document};
use crate::{EvidenceFolder, VerificationOptions, verify_files};
use serde_json::{Value, json};
use std::path::Path;
use vkcert_derivation::files::canonical_bytes;
use vkcert_model::provenance::{
    Argument, ArgumentBytes, Host, ProjectCommit, Provenance, ProvenanceTool, utc_date_time,
};

fn provenance(root: &str) -> Provenance {
    Provenance {
        schema: 1,
        evidence_root: root.to_owned(),
        tool: ProvenanceTool { name: "vkcert".to_owned(), version: "1".to_owned() },
        build_commit: "unknown".to_owned(),
        binary_sha256: None,
        host: Host { logical_cores: Some(2), ..Host::default() },
        argv: vec![
            Argument::Text("vkcert".to_owned()),
            Argument::Bytes(ArgumentBytes { bytes: "/w==".to_owned() }),
        ],
        started: utc_date_time(0),
        finished: utc_date_time(1),
        source_date_epoch: Some("0".to_owned()),
        project: ProjectCommit::unknown("no git".to_owned()),
        reuse: None,
    }
}

/// Honest evidence on disk; its folder is `evidence`.
fn written() -> (tempfile::TempDir, String) {
    let above = tempfile::tempdir().unwrap();
    let folder = folder_of(&honest());
    std::fs::create_dir(above.path().join("evidence")).unwrap();
    for (name, bytes) in &folder.files {
        std::fs::write(above.path().join("evidence").join(name), bytes).unwrap();
    }
    let root = folder.root();
    (above, root)
}

fn read(above: &Path) -> EvidenceFolder {
    EvidenceFolder::read(&above.join("evidence")).unwrap()
}

fn problems(above: &Path) -> Vec<String> {
    examine_files(&read(above)).unwrap().problems
}

#[test]
fn a_provenance_that_names_the_root_is_told_and_not_believed() {
    let (above, root) = written();
    let told = || {
        let options = VerificationOptions::default();
        verify_files(&read(above.path()), &options).unwrap().0
    };
    let without = told();
    assert_eq!(without.provenance, ProvenanceCheck::Absent);
    assert_eq!(json_document(&without)["provenance"], Value::Null);
    assert!(!in_words(&without).contains("provenance"));
    let bytes = canonical_bytes(&provenance(&root)).unwrap();
    std::fs::write(above.path().join(PROVENANCE), &bytes).unwrap();
    let with = told();
    assert_eq!((&with.problems, with.checked), (&Vec::new(), without.checked));
    let sha256 = vkcert_model::canonical::sha256_digits(&bytes);
    assert_eq!(json_document(&with)["provenance"], json!({ "names_root": true, "sha256": sha256 }));
    let line = format!(
        "\nprovenance        {sha256} names this root; what else it says was not checked, \
         and nothing signs it\n"
    );
    assert!(in_words(&with).contains(&line), "{}", in_words(&with));
    std::fs::write(above.path().join(PROVENANCE), "{}").unwrap();
    let faulty = told();
    assert_eq!(
        json_document(&faulty)["provenance"],
        json!({ "names_root": false, "sha256": null })
    );
    assert!(in_words(&faulty).contains("\nprovenance        provenance.json is not that of this"));
}

#[test]
fn what_is_no_provenance_of_this_evidence_is_a_problem() {
    let (above, root) = written();
    let path = above.path().join(PROVENANCE);
    let value = |change: fn(&mut Value)| {
        let mut value = serde_json::to_value(provenance(&root)).unwrap();
        change(&mut value);
        canonical_bytes(&value).unwrap()
    };
    let oversized = vec![b' '; MOST_BYTES as usize + 1];
    let compact = serde_json::to_vec(&provenance(&root)).unwrap();
    for (bytes, problem) in [
        (b"".to_vec(), "provenance.json does not follow its schema: EOF"),
        (b"{\"schema\": 1".to_vec(), "provenance.json does not follow its schema: EOF"),
        (b"[[[[".repeat(1000), "provenance.json does not follow its schema: "),
        (vec![0xff; 8], "provenance.json does not follow its schema: "),
        (oversized, "provenance.json cannot be read: it has more than 16777216 bytes"),
        (compact, "provenance.json is not in the form that this program writes"),
        (
            value(|value| value["schema"] = 2.into()),
            "provenance.json is of version 2 of its format",
        ),
        (
            value(|value| value["signed_by"] = "me".into()),
            "provenance.json does not follow its schema: unknown field `signed_by`",
        ),
        (
            value(|value| value["started"] = "now".into()),
            "provenance.json does not follow its schema: a time is not",
        ),
        (
            value(|value| value["evidence_root"] = "0".repeat(64).into()),
            "provenance.json is of other evidence: its root is not the SHA-256 of the manifest",
        ),
    ] {
        std::fs::write(&path, bytes).unwrap();
        let told = problems(above.path());
        assert!(told.len() == 1 && told[0].starts_with(problem), "{problem}: {told:?}");
    }
}

#[test]
fn a_folder_is_no_provenance_and_a_link_is_what_it_leads_to() {
    let (above, root) = written();
    let path = above.path().join(PROVENANCE);
    let link_to = |target: &Path| {
        let _ = std::fs::remove_file(&path);
        std::os::unix::fs::symlink(target, &path).unwrap();
    };
    let elsewhere = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(elsewhere.path(), canonical_bytes(&provenance(&root)).unwrap()).unwrap();
    link_to(elsewhere.path());
    assert_eq!(problems(above.path()), Vec::<String>::new());
    for target in ["/nonexistent/file", "/dev/zero", ".", PROVENANCE] {
        link_to(Path::new(target));
        assert_eq!(problems(above.path()), ["provenance.json is no file"], "{target}");
    }
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert_eq!(problems(above.path()), ["provenance.json is no file"]);
}
