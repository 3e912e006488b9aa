//! `vkcert archive`: a campaign in one file, verified from it by both programs and by none; damaged
//! and hostile archives.

use crate::support::{certify_sequentially, copy_tree, forge, root, run, run_json, vkcert, write};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A certified project with its archive.
struct ArchivedProject {
    folder: tempfile::TempDir,
}

impl ArchivedProject {
    /// Of the minimal project.
    fn minimal() -> Self {
        let archived = Self::certified(&root().join("tests/projects/minimal"));
        run(&mut archived.archive("a.tar.zst"), 0);
        archived
    }

    fn certified(project: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        copy_tree(project, &folder.path().join("project"));
        let archived = Self { folder };
        run(&mut certify_sequentially(&archived.path("project"), &archived.path("reports")), 0);
        archived
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn archive(&self, name: &str) -> Command {
        let mut command = vkcert();
        command.arg("archive").arg(self.path("reports/evidence")).arg("-o").arg(self.path(name));
        command
    }

    fn verified(&self, name: &str, exit: i32) -> Value {
        run_json(vkcert().arg("verify").arg(self.path(name)), exit)
    }

    /// Another archive, of what `change` makes of the unpacked one.
    fn changed(&self, change: impl FnOnce(&Path)) -> PathBuf {
        let unpacked = self.path("unpacked");
        self.shell("rm -rf unpacked && mkdir unpacked && tar --zstd -xf a.tar.zst -C unpacked");
        let top = std::fs::read_dir(&unpacked).unwrap().next().unwrap().unwrap().path();
        change(&top);
        self.shell("tar --format=gnu -C unpacked -cf b.tar $(ls unpacked) && zstd -q -f b.tar");
        self.path("b.tar.zst")
    }

    fn shell(&self, commands: &str) {
        shell_in(self.folder.path(), commands);
    }
}

fn shell_in(folder: &Path, commands: &str) {
    let status = Command::new("sh").args(["-ec", commands]).current_dir(folder).status();
    assert!(status.expect("a shell").success(), "{commands}");
}

fn problems(document: &Value) -> Vec<&str> {
    let problems = document["problems"].as_array().expect("a list").iter();
    problems.map(|problem| problem.as_str().expect("a sentence")).collect()
}

#[test]
fn an_archive_verifies_as_its_evidence_does() {
    let archived = ArchivedProject::minimal();
    let mut of_folder = archived.verified("reports/evidence", 0);
    let mut of_archive = archived.verified("a.tar.zst", 0);
    assert_eq!(of_archive["status"], "verified");
    let [fewer, more] = [&mut of_folder, &mut of_archive]
        .map(|document| document["checked"].take().as_u64().expect("a count"));
    assert!(fewer < more, "the files of an archive are checked beside");
    assert_eq!(of_folder, of_archive);
    let root = of_folder["root"].as_str().expect("a hash");
    run(vkcert().arg("verify").arg(archived.path("a.tar.zst")).args(["--root", root]), 0);
    run(vkcert().args(["verify", "--replay"]).arg(archived.path("a.tar.zst")), 0);
}

#[test]
fn two_archives_of_one_run_are_the_same_bytes() {
    let archived = ArchivedProject::minimal();
    let told = run_json(&mut archived.archive("again.tar.zst"), 0);
    let [first, second] =
        ["a.tar.zst", "again.tar.zst"].map(|name| std::fs::read(archived.path(name)).unwrap());
    assert_eq!(first, second);
    assert_eq!(told["bytes"], second.len());
    assert_eq!(told["lacks"], serde_json::json!([]));
}

/// What the README in the archive advises.
#[test]
fn an_archive_is_checked_without_this_program() {
    let archived = ArchivedProject::minimal();
    archived.shell("zstd -q -d a.tar.zst -o archive.tar && tar xf archive.tar");
    archived.shell("cd vkcert-* && sha256sum --quiet --strict --check SHA256SUMS");
    archived.shell("cmp -s reports/evidence/campaign.json vkcert-*/results/evidence/campaign.json");
    archived.shell("diff -r project vkcert-*/project");
    archived.shell("test -s vkcert-*/results/report.pdf && test -s vkcert-*/schemas/campaign.json");
    // What `vkcert build` writes is what is archived.
    run(vkcert().arg("build").arg(archived.path("project")), 0);
    archived.shell("diff -r project/spirv vkcert-*/modules");
    let readme = archived.path("readme");
    archived.shell("cat vkcert-*/README.md > readme");
    let readme = std::fs::read_to_string(readme).unwrap();
    let root = archived.verified("a.tar.zst", 0)["root"].as_str().unwrap().to_owned();
    assert!(readme.contains(&root) && readme.contains("the evidence verified."), "{readme}");
}

#[test]
fn a_file_that_the_list_does_not_vouch_for_is_told() {
    let archived = ArchivedProject::minimal();
    let changed = archived.changed(|top| {
        write(top, "project/notes.txt", "of somebody else");
        std::fs::remove_file(top.join("documents/mcdc.md")).unwrap();
        write(top, "modules/double.spv", "no module");
    });
    let document = run_json(vkcert().arg("verify").arg(changed), 1);
    let told = problems(&document).join("\n");
    for sentence in [
        "project/notes.txt is not listed in SHA256SUMS",
        "documents/mcdc.md is listed in SHA256SUMS, and not in the archive",
        "modules/double.spv has another SHA-256 than SHA256SUMS says",
    ] {
        assert!(told.contains(sentence), "{sentence}\n{told}");
    }
}

/// A list that agrees: then the manifest says what the inputs were, and derivation finds the rest.
#[test]
fn a_forged_archive_is_no_better_than_forged_evidence() {
    let archived = ArchivedProject::minimal();
    let with_new_list = |top: &Path| {
        let files = "find . -type f ! -name 'SHA256SUMS*' | sed 's,^[.]/,,' | sort";
        shell_in(top, &format!("{files} | xargs sha256sum > SHA256SUMS.new"));
        shell_in(top, "mv SHA256SUMS.new SHA256SUMS");
    };
    let inputs = archived.changed(|top| {
        let settings = std::fs::read_to_string(top.join("project/vkcert.toml")).unwrap();
        write(top, "project/vkcert.toml", settings + "\n");
        write(top, "project/more.txt", "");
        with_new_list(top);
    });
    let document = run_json(vkcert().arg("verify").arg(inputs), 1);
    let told = problems(&document);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("project/vkcert.toml is not the input"), "{told:?}");
    assert!(told[1].contains("project/more.txt is no input of the run"), "{told:?}");
    let verdict = archived.changed(|top| {
        forge(&top.join("results/evidence"), "campaign.json", |campaign| {
            campaign["tests"][0]["results"][0]["verdict"] = "fail".into();
        });
        with_new_list(top);
    });
    let document = run_json(vkcert().arg("verify").arg(verdict), 1);
    assert_eq!(document["status"], "not-verified");
}

#[test]
fn what_is_no_archive_is_refused_with_its_name() {
    let archived = ArchivedProject::minimal();
    let bytes = std::fs::read(archived.path("a.tar.zst")).unwrap();
    let cut = write(archived.folder.path(), "cut.tar.zst", &bytes[..bytes.len() / 2]);
    let text = write(archived.folder.path(), "text", "evidence");
    for (file, message) in [(cut, "it cannot be read"), (text, "it does not begin as zstd does")] {
        let document = run_json(vkcert().arg("verify").arg(&file), 2);
        assert_eq!(document["error"]["kind"], "bad-archive");
        let told = document["error"]["message"].as_str().unwrap();
        assert!(told.contains(message), "{told}");
        let name = document["error"]["file"].as_str().unwrap();
        assert!(file.display().to_string().ends_with(name), "{name}");
    }
    let empty = archived.changed(|top| {
        std::fs::remove_dir_all(top.join("results/evidence")).unwrap();
    });
    let document = run_json(vkcert().arg("verify").arg(empty), 2);
    assert_eq!(document["error"]["message"], "it has no evidence, results/evidence");
}

#[test]
fn evidence_that_does_not_verify_is_archived_on_request_alone() {
    let archived = ArchivedProject::certified(&root().join("tests/projects/minimal"));
    let evidence = archived.path("reports/latest/evidence");
    forge(&evidence, "campaign.json", |campaign| campaign["project"]["name"] = "Other".into());
    run(&mut archived.archive("a.tar.zst"), 1);
    assert!(!archived.path("a.tar.zst").exists());
    run(archived.archive("a.tar.zst").arg("--unverified"), 0);
    archived
        .shell("tar --zstd -xOf a.tar.zst --wildcards '*/README.md' | grep -q 'DID NOT VERIFY'");
    assert_eq!(archived.verified("a.tar.zst", 1)["status"], "not-verified");
}

/// An input above `limits.output_bytes` is in no evidence, and in every archive.
#[test]
fn an_archive_lacks_no_input() {
    let project = tempfile::tempdir().unwrap();
    copy_tree(&root().join("tests/projects/minimal"), project.path());
    let settings = std::fs::read_to_string(project.path().join("vkcert.toml")).unwrap();
    write(project.path(), "vkcert.toml", settings + "\n[limits]\noutput_bytes = 64\n");
    write(project.path(), "spirv/.keep", "");
    run(vkcert().arg("build").arg(project.path()), 0);
    std::fs::remove_file(project.path().join("spirv/.keep")).unwrap();
    let archived = ArchivedProject::certified(project.path());
    let refused = run_json(&mut archived.archive("a.tar.zst"), 2);
    assert_eq!(refused["error"]["kind"], "incomplete-archive");
    assert!(!archived.path("a.tar.zst").exists());
    run(archived.archive("a.tar.zst").arg("--project").arg(archived.path("project")), 0);
    assert_eq!(archived.verified("a.tar.zst", 0)["extent"], "whole");
}

#[test]
fn an_archive_that_cannot_be_written_leaves_nothing() {
    let archived = ArchivedProject::certified(&root().join("tests/projects/minimal"));
    let output = run(&mut archived.archive("no/such/folder.tar.zst"), 3);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("folder.tar.zst"), "{told}");
    write(archived.folder.path(), "old.tar.zst", "old");
    std::fs::remove_file(archived.path("reports/latest/evidence/manifest.json")).unwrap();
    run(&mut archived.archive("old.tar.zst"), 2);
    assert_eq!(std::fs::read_to_string(archived.path("old.tar.zst")).unwrap(), "old");
}
