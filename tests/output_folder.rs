//! The output folder of `certify`: old results or new ones, whole, whenever a run is stopped; files
//! of others stay.

use crate::many_kernels;
use crate::support;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use support::*;

fn certify(project: &Path, out: &Path) -> std::process::Command {
    let mut command = vkcert();
    command.arg("certify").arg(project).args(["--engine", "sequential", "--out"]).arg(out);
    command
}

fn minimal() -> PathBuf {
    root().join("tests/projects/minimal")
}

/// Every entry of a folder, hidden ones too.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_second_run_leaves_the_same_folder_and_files_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    run(&mut certify(&minimal(), &out), 0);
    let first = names(&out);
    assert!(first.iter().all(|name| !name.starts_with('.')), "{first:?}");
    let notes = write(&out, "notes.txt", "mine");
    let sample = write(&out, "sample/mine.json", "{}");
    run(&mut certify(&minimal(), &out), 0);
    assert_eq!(std::fs::read_to_string(notes).unwrap(), "mine");
    assert_eq!(std::fs::read_to_string(sample).unwrap(), "{}");
    let mut expected = [first, vec!["notes.txt".to_owned(), "sample".to_owned()]].concat();
    expected.sort();
    assert_eq!(names(&out), expected);
    run(vkcert().arg("verify").arg(out.join("evidence")), 0);
}

#[test]
fn pages_of_kernels_are_listed_and_a_run_without_them_leaves_none() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    run(certify(&minimal(), &out).args(["--html-split-above", "0"]), 0);
    let list: serde_json::Value =
        serde_json::from_slice(&std::fs::read(out.join("reports.json")).unwrap()).unwrap();
    let pages = names(&out.join("report-kernels"));
    assert!(!pages.is_empty());
    for page in &pages {
        assert!(list["reports"][format!("report-kernels/{page}")].is_string(), "{page}");
    }
    let evidence = out.join("evidence");
    run(vkcert().arg("verify").arg(&evidence), 0);
    let page = out.join("latest/report-kernels").join(&pages[0]);
    let text = std::fs::read_to_string(&page).unwrap();
    std::fs::write(&page, text.replace("100", "99")).unwrap();
    run(vkcert().arg("verify").arg(&evidence), 1);
    run(&mut certify(&minimal(), &out), 0);
    assert!(!out.join("report-kernels").is_symlink());
    assert!(!out.join("latest/report-kernels").exists());
    run(certify(&minimal(), &out).args(["--html-split-above", "0", "--report", "json"]), 2);
}

#[test]
fn volumes_are_listed_and_a_run_without_them_leaves_none() {
    let folder = tempfile::tempdir().unwrap();
    let (project, out) = (folder.path().join("project"), folder.path().join("out"));
    many_kernels::write_project(&project, 3);
    let certify = || {
        let mut command = vkcert();
        command.arg("certify").arg(&project).args(["--engine", "sequential", "--report", "pdf"]);
        command.arg("--out").arg(&out);
        command
    };
    run(certify().args(["--pdf-volume-pages", "1"]), 0);
    let text = std::fs::read_to_string(out.join("reports.json")).unwrap();
    let list: serde_json::Value = serde_json::from_str(&text).unwrap();
    let volumes = names(&out.join("report-volumes"));
    assert!(volumes.len() > 3 && volumes.contains(&"volume-2.pdf".to_owned()), "{volumes:?}");
    for volume in &volumes {
        assert!(list["reports"][format!("report-volumes/{volume}")].is_string(), "{volume}");
    }
    run(certify().args(["--pdf-volume-pages", "1"]), 0);
    assert_eq!(std::fs::read_to_string(out.join("reports.json")).unwrap(), text);
    let evidence = out.join("evidence");
    run(vkcert().arg("verify").arg(&evidence), 0);
    std::fs::write(out.join("latest/report-volumes/volume-3.pdf"), "%PDF-").unwrap();
    run(vkcert().arg("verify").arg(&evidence), 1);
    run(&mut certify(), 0);
    assert!(!out.join("report-volumes").is_symlink());
    assert!(!out.join("latest/report-volumes").exists());
    for refused in
        [&["--pdf-volume-pages", "0"][..], &["--pdf-volume-pages", "9", "--report", "json"]]
    {
        let mut command = vkcert();
        command.arg("certify").arg(&project).arg("--out").arg(&out).args(refused);
        run(&mut command, 2);
    }
}

#[test]
fn results_of_an_earlier_layout_give_way_to_links() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    write(&out, "evidence/manifest.json", "old");
    write(&out, "report.html", "old");
    run(&mut certify(&minimal(), &out), 0);
    run(vkcert().arg("verify").arg(out.join("evidence")), 0);
    assert!(std::fs::read_to_string(out.join("report.html")).unwrap().starts_with("<!"));
    assert!(names(&out).iter().all(|name| !name.starts_with('.')), "{:?}", names(&out));
}

#[test]
fn what_a_killed_run_left_behind_does_not_stop_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    run(&mut certify(&minimal(), &out), 0);
    write(&out, ".latest.unfinished/left.json", "{}");
    write(&out, ".latest.adopted/left.json", "{}");
    std::os::unix::fs::symlink("latest/evidence", out.join(".evidence.link")).unwrap();
    run(&mut certify(&minimal(), &out), 0);
    assert!(names(&out).iter().all(|name| !name.starts_with('.')), "{:?}", names(&out));
    run(vkcert().arg("verify").arg(out.join("evidence")), 0);
}

#[test]
fn a_run_that_is_killed_leaves_old_results_or_new_ones() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    run(&mut certify(&minimal(), &out), 0);
    let report = || std::fs::read(out.join("report.html")).unwrap();
    let old = report();
    // Another level makes another report.
    let changed = folder.path().join("changed");
    for file in ["vkcert.toml", "glsl/double.comp", "requirements/double.toml"] {
        let text = std::fs::read_to_string(minimal().join(file)).unwrap();
        write(&changed, file, text.replace("level = \"A\"", "level = \"B\""));
    }
    for delay in (0..40).map(|step| Duration::from_millis(step * 8)) {
        let mut command = certify(&changed, &out);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(delay);
        let _ = child.kill();
        child.wait().unwrap();
        run(vkcert().arg("verify").arg(out.join("evidence")), 0);
        let campaign = std::fs::read(out.join("evidence/campaign.json")).unwrap();
        let campaign: serde_json::Value = serde_json::from_slice(&campaign).unwrap();
        let level = campaign["project"]["level"].as_str().unwrap();
        assert_eq!(report() == old, level == "A", "killed after {delay:?}");
    }
}
