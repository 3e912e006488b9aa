//! Stored runs as folders: which are found, and where the run of the report stands.

use super::*;
use crate::honest::{honest, honest_at_level};
use vkcert_derivation::files::{MANIFEST, canonical_bytes, evidence_files};

/// Stores evidence as `folder/NAME/evidence`.
fn store(folder: &Path, name: &str, evidence: &Evidence) -> PathBuf {
    let path = folder.join(name).join("evidence");
    fs::create_dir_all(&path).unwrap();
    for (file, bytes) in evidence_files(evidence).unwrap() {
        fs::write(path.join(file), bytes).unwrap();
    }
    fs::write(path.join(MANIFEST), canonical_bytes(&evidence.manifest).unwrap()).unwrap();
    path
}

/// Another run of the same project.
fn another() -> Evidence {
    honest_at_level("level = \"D\"", |_| {})
}

fn found_below(folder: &Path) -> FoundRuns {
    find_runs(folder, &honest().campaign.project.name, None).unwrap()
}

fn folders_of(history: &History) -> Vec<(&str, RunStanding)> {
    let runs = history.runs.iter();
    runs.map(|run| (run.folder.as_deref().unwrap_or_default(), run.standing)).collect()
}

#[test]
fn runs_below_a_file_that_is_no_manifest_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path();
    let run = store(top, "site/run-1", &another());
    fs::write(top.join(MANIFEST), "{ \"name\": \"a site\" }").unwrap();
    fs::create_dir(top.join("site").join(MANIFEST)).unwrap();
    // Below a run there is none, even where the run does not hold.
    store(&run, "inner", &another());
    let damaged = store(top, "damaged", &another());
    fs::write(damaged.join("campaign.json"), "{}").unwrap();
    store(&damaged, "inner", &another());
    let found = found_below(top);
    let folders: Vec<&str> = found.runs.iter().map(|run| run.folder.as_str()).collect();
    assert_eq!(folders, ["site/run-1/evidence"]);
    let left_out: Vec<&str> = found.left_out.iter().map(|run| run.folder.as_str()).collect();
    assert_eq!(left_out, [".", "damaged/evidence", "site"]);
    assert!(found.left_out[0].reason.starts_with("manifest.json: "), "{:?}", found.left_out);
    assert_eq!(found.left_out[2].reason, "manifest.json is no file");
}

#[test]
fn of_copies_the_report_stands_at_the_one_that_is_named_or_the_last() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().join("runs");
    let present = honest();
    let first = store(&top, "run-2", &present);
    store(&top, "run-9", &another());
    store(&top, "run-10", &present);
    let elsewhere = store(folder.path(), "elsewhere", &present);
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&first, &link).unwrap();
    let other = ("run-9/evidence", RunStanding::Derived);
    let (at_first, at_last) =
        (("run-2/evidence", RunStanding::Present), ("run-10/evidence", RunStanding::Present));
    for (evidence_folder, due, left_out) in [
        (Some(&first), [at_first, other], "run-10/evidence"),
        (Some(&link), [at_first, other], "run-10/evidence"),
        (Some(&elsewhere), [other, at_last], "run-2/evidence"),
        (None, [other, at_last], "run-2/evidence"),
    ] {
        let evidence_folder = evidence_folder.map(PathBuf::as_path);
        let history = found_below(&top).read_beside(&present, evidence_folder).unwrap();
        assert_eq!(folders_of(&history), due, "{evidence_folder:?}: {:?}", history.left_out);
        let reason = "its manifest is that of this report".to_owned();
        assert_eq!(history.left_out, [LeftOutRun { folder: left_out.to_owned(), reason }]);
    }
}
