//! A run whose result is there already: nothing that it depends on has changed since.
//!
//! Knows: what a whole campaign depends on ([`CampaignInputs`]): the program, its options, engines
//! and devices, the folder of the project. Promises: results are only left as they are where every
//! file of them is what that run wrote; where it cannot be told what else a run would read, it runs.
//! Does not cover: parts of a campaign that have changed; their runs are taken from the cache one by
//! one (`vkcert_cache::run_cache`).

use super::args::{CacheOptions, Certify, Common};
use super::certify::RESULT_SECTION;
use crate::campaign::engines::Engines;
use crate::derivation::files::{MANIFEST, PROVENANCE, REPORTS};
use crate::model::canonical::sha256_digits;
use crate::model::evidence::{Manifest, ReportList};
use crate::model::path::display_path;
use crate::model::provenance::ProjectCommit;
use crate::requirement::Project;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path, PathBuf};
use vkcert_cache::{CacheKey, RunCache};

/// Most files of a project that are read to see whether anything has changed.
const MOST_FILES: usize = 100_000;
/// Most bytes of one.
const MOST_BYTES: u64 = 256 << 20;

/// What a run printed and wrote, kept under what it depends on.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeptResult {
    /// SHA-256 of `evidence/manifest.json`, `reports.json` and `provenance.json`.
    pub(super) hashes: [String; 3],
    /// When the run began.
    pub(super) started: String,
    pub(super) printed: String,
    pub(super) exit_code: u8,
}

/// A run by all that its result depends on.
pub(super) struct CampaignInputs {
    key: CacheKey,
    output_folder: PathBuf,
}

impl CampaignInputs {
    /// None: it cannot be told what the run would read, or it does more than write its result.
    pub(super) fn of_run(
        (common, certify): (&Common, &Certify),
        (project, engines, commit): (&Project, &Engines, &ProjectCommit),
        (cache, output_folder): (&RunCache, &Path),
    ) -> Option<Self> {
        let Certify {
            dir,
            out,
            reports,
            history,
            baseline,
            events: _,
            fail_on: _,
            check,
            without,
            only,
            save_outputs,
            shard,
            cache: CacheOptions { cache: words, no_cache: _ },
            recording,
            repetition,
            schedules,
        } = certify;
        let does_more = history.is_some() || baseline.is_some() || save_outputs.is_some();
        // Whoever asks for a check of the cache wants to see things run.
        if does_more || shard.is_some() || words.iter().any(|word| word == "verify") {
            return None;
        }
        if reads_elsewhere(project) {
            return None;
        }
        let mut text = format!(
            "{} {dir:?} {out:?} {reports:?} {check:?} {without:?} {only:?} {recording:?} {repetition:?} {schedules:?}\n",
            cache.program()
        );
        let epoch = std::env::var_os("SOURCE_DATE_EPOCH");
        let width = super::output::stdout_width();
        let engines_in_words = engines.cache.as_ref()?.setups_in_words();
        let _ = writeln!(text, "{common:?} {epoch:?} {width:?} {:?}", engines.identities());
        let _ = writeln!(text, "{commit:?}");
        let _ = writeln!(text, "{engines_in_words} {:?}", std::env::current_dir().ok()?);
        add_files(&mut text, &project.root, output_folder)?;
        let output_folder = output_folder.to_owned();
        Some(Self { key: CacheKey::of_bytes(text.as_bytes()), output_folder })
    }

    /// What the run came to, if that is there, whole and as it was written.
    pub(super) fn kept_result(&self, cache: &RunCache) -> Option<KeptResult> {
        let kept: KeptResult = serde_json::from_slice(&cache.kept_bytes(&self.key)?).ok()?;
        self.is_in_place(&kept).then_some(kept)
    }

    /// Keeps what the run came to.
    pub(super) fn keep(&self, cache: &RunCache, kept: &KeptResult) {
        // What cannot be kept is made again.
        if let Ok(bytes) = serde_json::to_vec(kept) {
            cache.keep_bytes(&self.key, &bytes);
        }
    }

    fn is_in_place(&self, kept: &KeptResult) -> bool {
        let section = self.output_folder.join(RESULT_SECTION);
        let [manifest, reports, provenance] = [
            read_hashed(&section.join("evidence").join(MANIFEST), &kept.hashes[0]),
            read_hashed(&section.join(REPORTS), &kept.hashes[1]),
            read_hashed(&section.join(PROVENANCE), &kept.hashes[2]),
        ];
        let (Some(manifest), Some(reports), Some(_)) = (manifest, reports, provenance) else {
            return false;
        };
        let manifest: Option<Manifest> = serde_json::from_slice(&manifest).ok();
        let reports: Option<ReportList> = serde_json::from_slice(&reports).ok();
        let (Some(manifest), Some(reports)) = (manifest, reports) else { return false };
        let has = |folder: PathBuf, (name, hash): (&String, &String)| {
            read_hashed(&folder.join(name), hash).is_some()
        };
        let evidence_folder = section.join("evidence");
        manifest.outputs.par_iter().all(|file| has(evidence_folder.clone(), file))
            && reports.reports.par_iter().all(|file| has(section.clone(), file))
    }
}

/// The bytes of a file that has this hash.
fn read_hashed(path: &Path, hash: &str) -> Option<Vec<u8>> {
    let bytes = fs::read(path).ok()?;
    (sha256_digits(&bytes) == hash).then_some(bytes)
}

/// Whether a run may read files outside of the project's folder: those that includes and headers of
/// the host lead to.
fn reads_elsewhere(project: &Project) -> bool {
    let is_inside = |path: &str| {
        Path::new(path)
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    };
    let kernels = &project.settings.value.kernels;
    let stays = kernels.iter().all(|kernel| {
        is_inside(&kernel.source) && kernel.include.iter().all(|folder| is_inside(folder))
    });
    !stays || project.interfaces.iter().any(|interface| !interface.value.header.is_empty())
}

/// Adds every file of a folder but those of version control and of the result, by path and hash;
/// none: there are too many, or something is no file or leads out of the folder.
fn add_files(text: &mut String, root: &Path, output_folder: &Path) -> Option<()> {
    let output_folder = output_folder.canonicalize().ok();
    let whole_root = root.canonicalize().ok()?;
    let mut files = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let mut entries = fs::read_dir(&folder).ok()?.collect::<Result<Vec<_>, _>>().ok()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (path, kind) = (entry.path(), entry.file_type().ok()?);
            let is_result = output_folder.as_ref().is_some_and(|out| is_result_in(&path, out));
            if entry.file_name() == ".git" || is_result {
                continue;
            }
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_symlink() {
                // What it leads to inside of the folder has its own row.
                let target = path.canonicalize().ok()?;
                target.starts_with(&whole_root).then_some(())?;
                let _ = writeln!(text, "{} -> {}", display_path(&path), display_path(&target));
            } else if kind.is_file() && entry.metadata().ok()?.len() <= MOST_BYTES {
                files.push(path);
            } else {
                return None;
            }
            if files.len() > MOST_FILES {
                return None;
            }
        }
    }
    files.sort();
    let hashed = files.par_iter().map(|path| Some((path, sha256_digits(&fs::read(path).ok()?))));
    for (path, hash) in hashed.collect::<Option<Vec<_>>>()? {
        let _ = writeln!(text, "{hash} {}", display_path(path));
    }
    Some(())
}

/// Whether a run into a folder writes this: its section, the links to it, the lock beside the folder.
fn is_result_in(path: &Path, output_folder: &Path) -> bool {
    let Some(parent) = path.parent().and_then(|parent| parent.canonicalize().ok()) else {
        return false;
    };
    let name = path.file_name().unwrap_or_default();
    if parent == output_folder {
        return name == RESULT_SECTION || path.is_symlink();
    }
    let folder_name = output_folder.file_name().unwrap_or_default().to_string_lossy();
    Some(parent.as_path()) == output_folder.parent()
        && name.to_string_lossy() == format!(".{folder_name}.lock")
}
