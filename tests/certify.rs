//! Evidence of the demonstration project: it verifies, is reproducible, and tampering shows.

mod support;

use serde_json::Value;
use std::path::Path;
use support::*;

fn certify(project: &Path, out: &Path, arguments: &[&str], exit: i32) -> Value {
    run_json(vkcert().arg("certify").arg(project).arg("--out").arg(out).args(arguments), exit)
}

#[test]
fn the_evidence_of_the_demonstration_verifies_and_its_reports_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("reports");
    certify(&root(), &out, &[], 0);
    run(vkcert().arg("verify").arg(out.join("evidence")), 0);
    let size = |name: &str| std::fs::metadata(out.join(name)).unwrap().len();
    assert!(size("report.pdf") > 20_000 && size("report.html") > 20_000);
}

#[test]
fn two_runs_give_byte_identical_evidence() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    certify(&root(), &one, &[], 0);
    certify(&root(), &two, &["--jobs", "1"], 0);
    let mut compared = 0;
    for entry in std::fs::read_dir(one.join("evidence")).unwrap() {
        let path = entry.unwrap().path();
        let other = two.join("evidence").join(path.file_name().unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(other).unwrap(), "{}", path.display());
        compared += 1;
    }
    assert!(compared >= 6);
    assert_eq!(std::fs::read(one.join("report.pdf")).unwrap(), std::fs::read(two.join("report.pdf")).unwrap());
}

#[test]
fn tampered_evidence_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("reports");
    certify(&root(), &out, &["--engine", "sequential"], 0);
    let evidence = out.join("evidence");
    let extra = evidence.join("stray.json");
    std::fs::write(&extra, "{}").unwrap();
    run(vkcert().arg("verify").arg(&evidence), 1);
    std::fs::remove_file(&extra).unwrap();
    let file = evidence.join("kernel-matmul_naive-sequential.json");
    let text = std::fs::read_to_string(&file).unwrap();
    // A record that claims more than was seen, with the manifest adjusted to it: hashes alone would not show it.
    let mut kernel: Value = serde_json::from_str(&text).unwrap();
    let statement = &mut kernel["coverage"]["summary"][0];
    statement["covered"] = Value::from(statement["covered"].as_u64().unwrap() + 1);
    let changed = format!("{:#}\n", kernel);
    std::fs::write(&file, &changed).unwrap();
    let manifest_file = evidence.join("manifest.json");
    let mut manifest: Value = serde_json::from_slice(&std::fs::read(&manifest_file).unwrap()).unwrap();
    let hash = sha256(changed.as_bytes());
    manifest["outputs"]["kernel-matmul_naive-sequential.json"] = hash.into();
    std::fs::write(&manifest_file, format!("{manifest:#}\n")).unwrap();
    let output = run(vkcert().arg("verify").arg(&evidence), 1);
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("matmul_naive"), "{said}");
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_test_without_requirement_covers_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("minimal");
    copy_tree(&root().join("tests/projects/minimal"), &project);
    let file = project.join("requirements/double.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let link: Vec<&str> = text.lines().filter(|line| line.starts_with("requirements = ")).collect();
    assert!(!link.is_empty(), "{text}");
    let unlinked: Vec<&str> = text.lines().filter(|line| !link.contains(line)).collect();
    std::fs::write(&file, unlinked.join("\n")).unwrap();
    let campaign = certify(&project, &folder.path().join("reports"), &["--engine", "sequential"], 1);
    let rows = campaign["conclusion"]["summary"][0]["criteria"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["covered"] == 0), "{rows:#?}");
    run(vkcert().arg("verify").arg(folder.path().join("reports/evidence")), 0);
}
