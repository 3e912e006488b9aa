//! The commit of the project, as git tells it.
//!
//! Promises: git only reads: it takes no lock, refreshes no index, starts no file-system monitor, no
//! hook and no filter that the repository itself configures. What a run writes makes no project
//! dirty.
//! Does not cover: files that git ignores or has been told to take as unchanged, and filters that
//! submodules configure. Where a filter of the repository would make a file what is committed, the
//! file may count as changed.

use crate::derivation::files::{PROVENANCE, REPORTS};
use crate::model::provenance::{MOST_LISTED_CHANGES, ProjectCommit, is_commit};
use crate::report::FORMATS;
use crate::requirement::PROJECT_FILE;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Variables that name a repository other than that of the folder, as hooks of git find them set.
const REPOSITORY_VARIABLES: [&str; 10] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// A variable that is set and empty, for filters that are taken away.
const NO_FILTER: &str = "VKCERT_NO_FILTER";

/// The folders that the run writes to, there or not.
pub(super) struct Written<'p> {
    pub(super) output_folder: &'p Path,
    /// Of `--save-outputs`.
    pub(super) outputs: Option<&'p Path>,
}

/// What git says of the folder of `vkcert.toml`.
pub(super) fn project_commit(folder: &Path, written: &Written) -> ProjectCommit {
    let git = Git { program: OsStr::new("git"), folder, filters: Vec::new() };
    git.project_commit(written).unwrap_or_else(ProjectCommit::unknown)
}

/// git in a folder.
struct Git<'p> {
    program: &'p OsStr,
    folder: &'p Path,
    /// Names of the filters that the repository configures.
    filters: Vec<OsString>,
}

impl Git<'_> {
    /// The commit, with the state where git tells it; the error is the reason for neither.
    fn project_commit(mut self, written: &Written) -> Result<ProjectCommit, String> {
        let top_level = self.output(&["rev-parse", "--show-toplevel"])?;
        let top_level = PathBuf::from(OsString::from_vec(without_newline(top_level)));
        let commit =
            self.output(&["rev-parse", "--verify", "--end-of-options", "HEAD^{commit}"])?;
        let commit = String::from_utf8_lossy(&without_newline(commit)).into_owned();
        if !is_commit(&commit) {
            return Err(format!("git names the commit `{commit}`"));
        }
        if self.output(&["ls-files", "-z", "--", PROJECT_FILE])?.is_empty() {
            return Err(format!("git does not track {PROJECT_FILE}"));
        }
        self.filters = self.own_filters();
        let state = self.changes(&Exclusions::of(written, self.folder, &top_level));
        Ok(match state {
            Ok(changes) => ProjectCommit {
                commit: Some(commit),
                dirty: Some(!changes.is_empty()),
                change_count: changes.len() as u64,
                changes: changes.into_iter().take(MOST_LISTED_CHANGES).collect(),
                reason: None,
            },
            Err(reason) => ProjectCommit { commit: Some(commit), ..ProjectCommit::unknown(reason) },
        })
    }

    /// Filters by the repository's own configuration; those of the user and the system stay.
    fn own_filters(&self) -> Vec<OsString> {
        let pattern = r"^filter\..*\.(clean|process)$";
        // Fails where there are none.
        let list = self
            .output(&["config", "--show-scope", "-z", "--name-only", "--get-regexp", pattern])
            .unwrap_or_default();
        let words: Vec<&[u8]> = list.split(|byte| *byte == 0).collect();
        let own = words.chunks_exact(2).filter(|pair| matches!(pair[0], b"local" | b"worktree"));
        let name_of = |pair: &[&[u8]]| {
            let name = pair[1].strip_prefix(b"filter.")?;
            let end = name.iter().rposition(|byte| *byte == b'.')?;
            Some(OsString::from_vec(name[..end].to_vec()))
        };
        own.filter_map(name_of).collect()
    }

    /// Changed and untracked files, sorted as git sorts them.
    fn changes(&self, exclusions: &Exclusions) -> Result<Vec<String>, String> {
        let tracked = self.status("--untracked-files=no", &exclusions.own_entries)?;
        let all_excluded = [&exclusions.own_entries[..], &exclusions.folders[..]].concat();
        let mut untracked = self.status("--untracked-files=normal", &all_excluded)?;
        untracked.retain(|line| line.starts_with("?? "));
        Ok([tracked, untracked].concat())
    }

    fn status(&self, untracked: &str, excluded: &[PathBuf]) -> Result<Vec<String>, String> {
        let words = ["status", "--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=none"];
        let mut arguments: Vec<OsString> = words.map(OsString::from).into();
        arguments.extend([untracked, "--", ":(top)"].map(OsString::from));
        arguments.extend(excluded.iter().map(|path| {
            let mut pathspec = OsString::from(":(exclude,top,literal)");
            pathspec.push(path);
            pathspec
        }));
        let listing = self.output(&arguments)?;
        let entries = listing.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
        Ok(entries.map(|entry| String::from_utf8_lossy(entry).into_owned()).collect())
    }

    /// What a command prints; the error says why there is nothing.
    fn output(&self, arguments: &[impl AsRef<OsStr>]) -> Result<Vec<u8>, String> {
        let mut command = Command::new(self.program);
        command.args(["--no-optional-locks", "-c", "core.fsmonitor=false"]);
        command.args(["-c", "core.hooksPath=/dev/null"]);
        for filter in &self.filters {
            for part in ["clean", "process", "required"] {
                let mut option = OsString::from("--config-env=filter.");
                option.push(filter);
                option.push(format!(".{part}={NO_FILTER}"));
                command.arg(option);
            }
        }
        for name in REPOSITORY_VARIABLES {
            command.env_remove(name);
        }
        command.env(NO_FILTER, "").env("LC_ALL", "C");
        // Objects that a partial clone lacks are not fetched.
        command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_TERMINAL_PROMPT", "0");
        command.args(arguments).current_dir(self.folder).stdin(Stdio::null());
        let output = command.output().map_err(|error| format!("git cannot be run: {error}"))?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let told = String::from_utf8_lossy(&output.stderr);
        let first_line = told.lines().next().unwrap_or("it tells no reason").trim();
        Err(format!("git: {}: {first_line}", output.status))
    }
}

/// Paths below the top level that do not count.
struct Exclusions {
    /// What runs put in place there; not even a commit of it counts.
    own_entries: Vec<PathBuf>,
    /// Folders whose untracked files do not count.
    folders: Vec<PathBuf>,
}

impl Exclusions {
    fn of(written: &Written, project_folder: &Path, top_level: &Path) -> Self {
        let (top_level, project_folder) = (resolved(top_level), resolved(project_folder));
        let output_folder = resolved(written.output_folder);
        let below = |path: &Path| {
            let path = path.strip_prefix(&top_level).ok()?;
            (path != Path::new("")).then(|| path.to_owned())
        };
        let own_entries =
            entries_of_runs(&output_folder).into_iter().chain(lock_of(written.output_folder));
        // A folder that holds the project holds more than what runs write.
        let folders = [Some(output_folder), written.outputs.map(resolved)]
            .into_iter()
            .flatten()
            .filter(|folder| !project_folder.starts_with(folder))
            .filter_map(|folder| below(&folder));
        let own_entries = own_entries.filter_map(|path| below(&path)).collect();
        Self { own_entries, folders: folders.collect() }
    }
}

/// What `PendingFolder` makes in the output folder.
fn entries_of_runs(output_folder: &Path) -> Vec<PathBuf> {
    let section = crate::cli::certify::RESULT_SECTION;
    let hidden = ["unfinished", "adopted", "exchange", "old"];
    let links = FORMATS.iter().filter_map(|format| format.file);
    let links = links.chain(["evidence", REPORTS, PROVENANCE]).map(str::to_owned);
    let names = hidden.map(|name| format!(".{section}.{name}")).into_iter().chain(links);
    names.chain([section.to_owned()]).map(|name| output_folder.join(name)).collect()
}

/// The lock file, which stands beside the output folder by the name that the run was given.
fn lock_of(output_folder: &Path) -> Option<PathBuf> {
    let output_folder = std::path::absolute(output_folder).ok()?;
    let name = output_folder.file_name()?.as_bytes();
    let lock = OsString::from_vec([&b"."[..], name, b".lock"].concat());
    Some(resolved(output_folder.parent()?).join(lock))
}

/// The path without links, as far as it is there.
fn resolved(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for ancestor in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (ancestor.canonicalize(), path.strip_prefix(ancestor)) {
            // Joining an empty path would add a separator.
            return if rest == Path::new("") { real } else { real.join(rest) };
        }
    }
    path
}

fn without_newline(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    bytes
}

#[cfg(test)]
mod tests;
