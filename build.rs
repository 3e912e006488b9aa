//! Tells the program which commit it is built from: `VKCERT_BUILD_COMMIT`, read by
//! `src/cli/provenance.rs`.
//!
//! Promises: `unknown` wherever git does not tell, never a failed build; runs again when what the
//! program is built of changes or when HEAD moves, and otherwise not.
//! Does not cover: compiler, flags and the registry's packages, which `Cargo.lock` names.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the program is built of. What lies beside these makes no build dirty.
const BUILT_OF: [&str; 7] =
    [".cargo", "Cargo.lock", "Cargo.toml", "build.rs", "rust-toolchain.toml", "src", "tools"];

fn main() {
    let root = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    let git = Git { root };
    for path in BUILT_OF {
        git.watch(&git.root.join(path));
    }
    let commit = git.commit();
    if commit.is_some() {
        git.watch_head();
    }
    println!("cargo:rustc-env=VKCERT_BUILD_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
}

struct Git {
    root: PathBuf,
}

impl Git {
    /// What a command prints; none where it fails or there is no git.
    fn output(&self, arguments: &[&str]) -> Option<String> {
        let mut command = Command::new("git");
        command.args(["--no-optional-locks", "-c", "core.fsmonitor=false"]).args(arguments);
        // A build that a hook of git starts would be told of the hook's repository.
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR"] {
            command.env_remove(name);
        }
        let output =
            command.current_dir(&self.root).stdin(Stdio::null()).stderr(Stdio::null()).output();
        let output = output.ok().filter(|output| output.status.success())?;
        Some(String::from_utf8(output.stdout).ok()?.trim_end_matches('\n').to_owned())
    }

    /// The commit that is checked out; none for sources that merely lie in another repository.
    fn commit(&self) -> Option<String> {
        let top_level = PathBuf::from(self.output(&["rev-parse", "--show-toplevel"])?);
        if top_level.canonicalize().ok()? != self.root.canonicalize().ok()? {
            return None;
        }
        let commit = self.output(&["rev-parse", "--verify", "HEAD^{commit}"])?;
        let is_name = matches!(commit.len(), 40 | 64)
            && commit.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase());
        let status = ["status", "--porcelain", "--untracked-files=normal", "--"];
        let changes = self.output(&[&status[..], &BUILT_OF[..]].concat())?;
        let suffix = if changes.is_empty() { "" } else { "-dirty" };
        is_name.then(|| format!("{commit}{suffix}"))
    }

    /// Runs this program again when another commit is checked out or made.
    fn watch_head(&self) {
        let branch = self.output(&["rev-parse", "--symbolic-full-name", "HEAD"]);
        let names = ["HEAD", "logs/HEAD", "packed-refs"];
        for name in names.into_iter().chain(branch.as_deref()) {
            if let Some(path) = self.output(&["rev-parse", "--git-path", name]) {
                self.watch(&self.root.join(path));
            }
        }
    }

    /// A path that does not exist would make cargo run this program every time.
    fn watch(&self, path: &Path) {
        if path.exists() {
            println!("cargo:rerun-if-changed={}", path.display());
        }
    }
}
