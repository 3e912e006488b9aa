//! Real repositories, whole and broken, and what is said of the project in them.

use super::{Git, Written, project_commit};
use crate::model::provenance::{MOST_LISTED_CHANGES, ProjectCommit};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// git as a person uses it, with no configuration but its own.
fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    super::REPOSITORY_VARIABLES.iter().for_each(|name| {
        command.env_remove(name);
    });
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command.args(["-c", "user.name=A", "-c", "user.email=a@example.org"]);
    let output = command.args(arguments).current_dir(folder).output().expect("git is installed");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A repository with a project in its folder `kernels`, all committed.
struct Repository {
    folder: TempDir,
}

impl Repository {
    fn new() -> Self {
        let repository = Self { folder: tempfile::tempdir().unwrap() };
        git(repository.top(), &["init", "--quiet"]);
        write(&repository.project(), "vkcert.toml", "name = \"x\"\n");
        write(repository.top(), "README", "text\n");
        repository.commit();
        repository
    }

    fn top(&self) -> &Path {
        self.folder.path()
    }

    fn project(&self) -> PathBuf {
        self.top().join("kernels")
    }

    fn commit(&self) -> String {
        git(self.top(), &["add", "--all"]);
        git(self.top(), &["commit", "--quiet", "--message=x"]);
        git(self.top(), &["rev-parse", "HEAD"])
    }

    fn told(&self) -> ProjectCommit {
        self.told_with(&self.project().join("reports"))
    }

    fn told_with(&self, output_folder: &Path) -> ProjectCommit {
        project_commit(&self.project(), &Written { output_folder, outputs: None })
    }
}

/// A finished run's entries, as `PendingFolder` leaves them.
fn write_results(output_folder: &Path, text: &str) {
    write(output_folder, "latest/reports.json", text);
    let _ = std::os::unix::fs::symlink("latest/reports.json", output_folder.join("reports.json"));
    let name = output_folder.file_name().unwrap().to_str().unwrap();
    write(output_folder.parent().unwrap(), &format!(".{name}.lock"), "");
}

fn assert_changes(told: &ProjectCommit, changes: &[&str]) {
    assert_eq!(told.changes, changes);
    assert_eq!((told.dirty, told.change_count), (Some(!changes.is_empty()), changes.len() as u64));
    assert_eq!((told.commit.is_some(), &told.reason), (true, &None));
}

#[test]
fn changed_and_untracked_files_make_a_project_dirty() {
    let repository = Repository::new();
    let commit = git(repository.top(), &["rev-parse", "HEAD"]);
    assert_eq!(repository.told().commit, Some(commit));
    assert_changes(&repository.told(), &[]);
    write(repository.top(), "README", "other text\n");
    assert_changes(&repository.told(), &[" M README"]);
    write(&repository.project(), "glsl/new kernel.comp", "");
    assert_changes(&repository.told(), &[" M README", "?? kernels/glsl/"]);
    write(repository.top(), ".gitignore", "*.comp\n");
    assert_changes(&repository.told(), &[" M README", "?? .gitignore"]);
    repository.commit();
    assert_changes(&repository.told(), &[]);
    git(repository.top(), &["mv", "README", "READ"]);
    assert_changes(&repository.told(), &["A  READ", "D  README"]);
    git(repository.top(), &["config", "status.showUntrackedFiles", "no"]);
    write(repository.top(), "more", "");
    assert_changes(&repository.told(), &["A  READ", "D  README", "?? more"]);
}

#[test]
fn many_changes_are_counted_and_the_first_of_them_listed() {
    let repository = Repository::new();
    for number in 0..=MOST_LISTED_CHANGES {
        write(repository.top(), &format!("{number}"), "");
    }
    let told = repository.told();
    assert_eq!((told.changes.len(), told.change_count), (100, 101));
}

#[test]
fn what_runs_write_makes_no_project_dirty() {
    let repository = Repository::new();
    let output_folder = repository.project().join("reports");
    write_results(&output_folder, "first");
    assert_changes(&repository.told(), &[]);
    write(&output_folder, "mine.txt", "");
    assert_changes(&repository.told(), &[]);
    // Into another folder, what an earlier run wrote is a file like others.
    let elsewhere = repository.top().join("out [1]*/new");
    assert_changes(
        &repository.told_with(&elsewhere),
        &["?? kernels/.reports.lock", "?? kernels/reports/"],
    );
    write_results(&elsewhere, "first");
    fs::remove_dir_all(&output_folder).unwrap();
    fs::remove_file(repository.project().join(".reports.lock")).unwrap();
    assert_changes(&repository.told_with(&elsewhere), &[]);
    // The name of the folder is no pattern.
    write(repository.top(), "out 1/new/mine.txt", "");
    assert_changes(&repository.told_with(&elsewhere), &["?? out 1/"]);
    // Results that are committed and written again.
    repository.commit();
    write_results(&elsewhere, "second");
    assert_changes(&repository.told_with(&elsewhere), &[]);
    assert_changes(&repository.told(), &[" M out [1]*/new/latest/reports.json"]);
}

#[test]
fn an_output_folder_behind_a_link_is_where_the_link_leads() {
    let repository = Repository::new();
    let behind = repository.top().join("behind");
    write(&behind, "latest/reports.json", "x");
    let link = repository.project().join("reports");
    std::os::unix::fs::symlink(&behind, &link).unwrap();
    repository.commit();
    write(&behind, "latest/reports.json", "y");
    write(&repository.project(), ".reports.lock", "");
    assert_changes(&repository.told_with(&link), &[]);
}

#[test]
fn an_output_folder_that_holds_the_project_hides_nothing_but_results() {
    let repository = Repository::new();
    for output_folder in [repository.project(), repository.top().to_owned()] {
        write_results(&output_folder, "x");
        write(&repository.project(), "new.comp", "");
        let lock = repository.top().join(".kernels.lock");
        assert_changes(&repository.told_with(&output_folder), &["?? kernels/new.comp"]);
        let _ = fs::remove_file(lock);
        fs::remove_dir_all(output_folder.join("latest")).unwrap();
        fs::remove_file(output_folder.join("reports.json")).unwrap();
    }
}

#[test]
fn outputs_of_tests_count_as_little_as_reports() {
    let repository = Repository::new();
    write(repository.top(), "outputs/t/buffer.npy", "");
    let told = project_commit(
        &repository.project(),
        &Written {
            output_folder: &repository.project().join("reports"),
            outputs: Some(&repository.top().join("outputs")),
        },
    );
    assert_changes(&told, &[]);
    assert_changes(&repository.told(), &["?? outputs/"]);
}

/// Nothing is known, and the reason holds these words.
fn assert_unknown(told: &ProjectCommit, words: &str) {
    let reason = told.reason.clone().expect("a reason");
    assert!(reason.contains(words), "{reason}");
    assert_eq!(*told, ProjectCommit::unknown(reason));
}

#[test]
fn without_git_repository_or_commit_the_reason_is_told() {
    let repository = Repository::new();
    let output_folder = repository.project().join("reports");
    let written = Written { output_folder: &output_folder, outputs: None };
    let folder = repository.project();
    let no_git = Git { program: OsStr::new("no-such-git"), folder: &folder, filters: Vec::new() };
    assert_unknown(
        &no_git.project_commit(&written).unwrap_or_else(ProjectCommit::unknown),
        "git cannot be run: ",
    );
    let plain = tempfile::tempdir().unwrap();
    assert_unknown(&project_commit(plain.path(), &written), "not a git repository");
    git(plain.path(), &["init", "--quiet"]);
    assert_unknown(&project_commit(plain.path(), &written), "fatal: ");
    assert_unknown(&project_commit(&plain.path().join("gone"), &written), "git cannot be run: ");
}

#[test]
fn a_broken_repository_is_told_and_stops_nothing() {
    for head in ["ref: refs/heads/gone\n", "0000000000000000000000000000000000000001\n", "", "x\n"]
    {
        let repository = Repository::new();
        write(repository.top(), ".git/HEAD", head);
        assert_unknown(&repository.told(), "fatal: ");
    }
    let repository = Repository::new();
    write(repository.top(), ".git/index", "no index, though it is as long as one would have to be");
    let told = repository.told();
    assert!(told.reason.is_some() && told.dirty.is_none(), "{told:?}");
}

#[test]
fn a_project_that_its_repository_does_not_track_has_no_commit() {
    let repository = Repository::new();
    write(repository.top(), ".gitignore", "kernels/\n");
    git(repository.top(), &["rm", "--quiet", "--cached", "kernels/vkcert.toml"]);
    repository.commit();
    assert_unknown(&repository.told(), "git does not track vkcert.toml");
}

#[test]
fn git_only_reads_and_runs_nothing_of_the_repository() {
    let repository = Repository::new();
    write(repository.top(), ".gitattributes", "* filter=a=b\n");
    repository.commit();
    let mark = repository.top().join(".git/mark");
    let program = repository.top().join(".git/program");
    fs::write(&program, format!("#!/bin/sh\ntouch '{}'\ncat\n", mark.display())).unwrap();
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&program, permissions).unwrap();
    let shown = program.to_str().unwrap();
    for key in ["filter.a=b.clean", "filter.a=b.process", "core.fsmonitor"] {
        git(repository.top(), &["config", key, shown]);
    }
    git(repository.top(), &["config", "filter.a=b.required", "true"]);
    let hook = repository.top().join(".git/hooks/post-index-change");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::copy(&program, hook).unwrap();
    // Now the index tells nothing of this file, so that git reads it.
    write(repository.top(), "README", "text\n");
    let file = fs::File::options().append(true).open(repository.top().join("README")).unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
    let index = || fs::read(repository.top().join(".git/index")).unwrap();
    let before = index();
    assert_changes(&repository.told(), &[]);
    assert!(!mark.exists(), "something of the repository ran");
    assert!(index() == before, "the index was written");
}

#[test]
fn names_that_are_no_text_are_shown_as_far_as_they_are() {
    use std::os::unix::ffi::OsStrExt;
    let repository = Repository::new();
    let name = OsStr::from_bytes(b"a\xffb\n");
    fs::write(repository.top().join(name), "").unwrap();
    assert_changes(&repository.told(), &["?? a\u{fffd}b\n"]);
    // The same name for the output folder.
    let output_folder = repository.top().join(name);
    assert_changes(&repository.told_with(&output_folder), &[]);
}
