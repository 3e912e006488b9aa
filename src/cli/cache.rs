//! The cache of results: where it is, what a run does with it, and `vkcert cache`.
//!
//! Promises: a default cache that cannot be used costs nothing but time and a note; one that was
//! asked for and cannot be used is an error before anything runs.
//! Does not cover: what is kept and found (`vkcert_cache`).

use super::args::{CacheAction, CacheCommand, CacheOptions, Common, OutputForm};
use super::failure::Failure;
use super::output;
use super::provenance::RunStart;
use crate::model::diagnostic::Diagnostic;
use crate::model::exit::Exit;
use crate::model::path::display_path;
use crate::model::wording::plural;
use serde_json::json;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use vkcert_cache::{CacheError, CacheStore, PruneLimits, Recheck, RunCache};

/// The environment variable that names the folder, or switches the cache off.
const VARIABLE: &str = "VKCERT_CACHE";
/// Its value that does.
const OFF: &str = "off";
/// What `--cache` takes beside a folder.
const VERIFY: &str = "verify";
/// With it one of so many results runs again.
const RECHECKED_SHARE: u32 = 10;
/// Bytes that a run leaves in a cache at most, as far as runs have written down what they added, unless
/// it has written more itself.
const MOST_BYTES: u64 = 4 << 30;
/// Tests that are named where several are wrong.
const NAMED_TESTS: usize = 10;

/// The cache of a run; none: everything runs.
pub(super) fn open_cache(
    options: &CacheOptions,
    start: &RunStart,
) -> Result<Option<Arc<RunCache>>, Failure> {
    let is_recheck = |word: &&OsString| word.as_os_str() == VERIFY;
    let recheck = match options.cache.iter().any(|word| is_recheck(&word)) {
        true => Recheck::OneIn { share: RECHECKED_SHARE, seed: seed_of_clock() },
        false => Recheck::Never,
    };
    let mut folders = options.cache.iter().filter(|word| !is_recheck(word));
    let asked_folder = folders.next().map(PathBuf::from);
    if folders.next().is_some() {
        let diagnostic = Diagnostic::new("usage", "--cache names two folders");
        return Err(diagnostic.hint("name one, and `--cache verify` beside it").into());
    }
    if asked_folder.as_ref().is_some_and(|folder| folder.as_os_str().is_empty()) {
        return Err(Diagnostic::new("usage", "--cache names no folder").into());
    }
    let is_asked = asked_folder.is_some() || recheck != Recheck::Never;
    let folder = match options.no_cache {
        true => None,
        false => asked_folder.or_else(default_folder),
    };
    let Some(folder) = folder else {
        return match is_asked {
            true => Err(no_folder()),
            false => Ok(None),
        };
    };
    let Some(origin) = start.origin() else {
        return unusable(is_asked, "the program's own file cannot be read".to_owned());
    };
    match CacheStore::open(&folder) {
        Ok(store) => Ok(Some(Arc::new(RunCache::new(store, &origin, recheck)))),
        Err(error) => unusable(is_asked, error.to_string()),
    }
}

fn unusable(is_asked: bool, reason: String) -> Result<Option<Arc<RunCache>>, Failure> {
    if is_asked {
        return Err(Failure::tool(reason));
    }
    output::print_to_stderr(format_args!("note: {reason}; no cache is used\n"));
    Ok(None)
}

fn no_folder() -> Failure {
    let diagnostic = Diagnostic::new(
        "usage",
        "there is no cache: neither XDG_CACHE_HOME nor HOME names a folder",
    );
    diagnostic.hint("name a folder: `--cache DIR`").into()
}

/// What chance is drawn from.
fn seed_of_clock() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

/// The folder where none is named; none: there is none, or it is switched off.
fn default_folder() -> Option<PathBuf> {
    match std::env::var_os(VARIABLE) {
        Some(value) if value.as_os_str() == OFF => None,
        Some(value) if !value.is_empty() => Some(PathBuf::from(value)),
        Some(_) | None => {
            crate::exec::vulkan::user_cache_folder().map(|folder| folder.join("runs"))
        }
    }
}

/// Removes what a run's cache has too much of.
pub(super) fn shrink_cache(cache: &RunCache) {
    // What cannot be removed is there the next time.
    let _ = cache.shrink(MOST_BYTES);
}

/// Whatever is not what was kept is an error, before anything else is written.
pub(super) fn refuse_differing(cache: &RunCache) -> Result<(), Failure> {
    let differing = cache.differing();
    if differing.is_empty() {
        return Ok(());
    }
    let named: Vec<&str> = differing.iter().take(NAMED_TESTS).map(String::as_str).collect();
    let more = match differing.len().saturating_sub(NAMED_TESTS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Err(Failure::tool(format!(
        "the cache held something else than this run came to: {}{more}. It holds what is new now; \
         nothing else was written, and `--no-cache` uses none of it",
        named.join(", ")
    )))
}

/// `vkcert cache`.
pub(super) fn run_command(common: &Common, command: &CacheCommand) -> Result<Exit, Failure> {
    let folder = command.cache.clone().or_else(default_folder).ok_or_else(no_folder)?;
    if !CacheStore::is_there(&folder) {
        if command.cache.is_none() {
            return print_state(common, &folder, State::default());
        }
        let diagnostic = Diagnostic::new("usage", "this folder holds no cache of vkcert");
        return Err(diagnostic.in_file(display_path(&folder)).into());
    }
    let failure = |error: CacheError| Failure::tool(error.to_string());
    let store = CacheStore::open(&folder).map_err(failure)?;
    let removed = match &command.action {
        CacheAction::Stats => 0,
        CacheAction::Prune(prune) => {
            let limits = PruneLimits {
                longest_unused: prune.older_than.map(days),
                most_bytes: prune.most_bytes,
            };
            store.prune(&limits).map_err(failure)?
        }
    };
    let entries = store.entries().map_err(failure)?;
    let state = State {
        entries: entries.len(),
        bytes: entries.iter().map(|entry| entry.bytes).sum(),
        longest_unused: entries
            .iter()
            .filter_map(|entry| entry.used.elapsed().ok())
            .max()
            .map(|age| age.as_secs()),
        removed,
    };
    print_state(common, &folder, state)
}

fn days(count: u32) -> Duration {
    Duration::from_secs(u64::from(count) * 24 * 60 * 60)
}

#[derive(Default)]
struct State {
    entries: usize,
    bytes: u64,
    /// Seconds.
    longest_unused: Option<u64>,
    removed: usize,
}

fn print_state(common: &Common, folder: &Path, state: State) -> Result<Exit, Failure> {
    let State { entries, bytes, longest_unused, removed } = state;
    match common.form() {
        OutputForm::Json => {
            let document = json!({
                "folder": display_path(folder),
                "entries": entries,
                "bytes": bytes,
                "longest_unused_seconds": longest_unused,
                "removed": removed,
            });
            output::print_text(&format!("{document}\n"))?;
        }
        OutputForm::Text => {
            let mut text =
                format!("{}: {}", display_path(folder), plural(entries, "entry", "entries"));
            text.push_str(&format!(", {:.1} MB", bytes as f64 / 1e6));
            if let Some(seconds) = longest_unused {
                text.push_str(&format!(
                    ", the oldest unused for {:.1} days",
                    seconds as f64 / 86_400.0
                ));
            }
            if removed > 0 {
                text.push_str(&format!("; {} removed", plural(removed, "entry", "entries")));
            }
            output::print_text(&format!("{text}\n"))?;
        }
    }
    Ok(Exit::Success)
}
