//! A run whose result is there already: nothing that it depends on has changed since.
//!
//! Knows: what a whole campaign depends on ([`CampaignInputs`]): the program, its options, engines
//! and devices, the folder of the project. Promises: results are only left as they are where every
//! file of them is what that run wrote; where it cannot be told what else a run would read, it runs.
//! Does not cover: parts of a campaign that have changed; their runs are taken from the cache one by
//! one (`vkcert_cache::run_cache`).

use super::args::{CacheOptions, Certify, Common};
use super::certify::RESULT_SECTION;
use super::output::unfinished_name;
use crate::campaign::engines::Engines;
use crate::derivation::files::{MANIFEST, PROVENANCE, REPORTS};
use crate::model::canonical::sha256_digits;
use crate::model::evidence::{Evidence, Manifest, ReportList, SetAsideKernel, StoredFile};
use crate::model::path::folder_of;
use crate::model::provenance::ProjectCommit;
use crate::model::verdict::Verdict;
use crate::requirement::Project;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path, PathBuf};
use vkcert_cache::store::STORE_VERSION;
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
    /// Links to the results in the output folder, sorted.
    pub(super) links: Vec<String>,
    /// When the run began.
    pub(super) started: String,
    /// Kernels that the run went on without.
    pub(super) set_aside: Vec<SetAsideKernel>,
    pub(super) printed: String,
    pub(super) exit_code: u8,
}

/// A run by all that its result depends on.
pub(super) struct CampaignInputs {
    key: CacheKey,
    /// Every file of the project with its hash.
    files: String,
    project_folder: PathBuf,
    output_folder: PathBuf,
}

/// What is read of evidence to know how its run ended.
#[derive(Deserialize)]
struct ConcludedCampaign {
    conclusion: ExitOfConclusion,
}

#[derive(Deserialize)]
struct ExitOfConclusion {
    exit_code: u8,
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
            keep_going,
            // What has ended early is not kept.
            ending: _,
            cache: CacheOptions { cache: words, no_cache: _ },
            recording,
            repetition,
            schedules,
            mutation,
            mutants_on_device,
            mutants,
        } = certify;
        let does_more = history.is_some() || baseline.is_some() || save_outputs.is_some();
        // Whoever asks for a check of the cache wants to see things run.
        if does_more || shard.is_some() || words.iter().any(|word| word == "verify") {
            return None;
        }
        // Its links would be among the files of the project.
        let is_beside_itself = output_folder
            .canonicalize()
            .is_ok_and(|out| project.root.canonicalize().is_ok_and(|root| root == out));
        if reads_elsewhere(project) || is_beside_itself {
            return None;
        }
        let mut text = format!(
            "{} {dir:?} {out:?} {reports:?} {check:?} {without:?} {only:?} {keep_going} {recording:?} {repetition:?} {schedules:?} {mutation} {mutants_on_device} {mutants:?}\n",
            cache.program()
        );
        let epoch = ["SOURCE_DATE_EPOCH", "NO_COLOR"].map(std::env::var_os);
        let width = super::output::stdout_width();
        let engines_in_words = engines.cache.as_ref()?.setups_in_words();
        let _ = writeln!(text, "{common:?} {epoch:?} {width:?} {:?}", engines.identities());
        let _ = writeln!(text, "{commit:?}");
        let _ = writeln!(text, "{engines_in_words} {:?}", std::env::current_dir().ok()?);
        let files = listed_files(&project.root, [output_folder, cache.folder()])?;
        text.push_str(&files);
        Some(Self {
            key: CacheKey::of_bytes(text.as_bytes()),
            files,
            project_folder: project.root.clone(),
            output_folder: output_folder.to_owned(),
        })
    }

    /// What the run came to, if that is there, whole and as it was written.
    pub(super) fn kept_result(&self, cache: &RunCache) -> Option<KeptResult> {
        let kept: KeptResult = serde_json::from_slice(&cache.kept_bytes(&self.key)?).ok()?;
        self.is_in_place(&kept).then_some(kept)
    }

    /// Keeps what a run came to: not where something has changed meanwhile, where it read files
    /// outside of the project, or where another run could end otherwise.
    pub(super) fn keep(&self, cache: &RunCache, (kept, evidence): (KeptResult, &Evidence)) {
        let results = evidence.campaign.tests.iter().flat_map(|test| &test.results);
        let is_final = results.into_iter().all(|result| {
            let is_settled = match result.verdict {
                Verdict::Pass | Verdict::Fail | Verdict::Unsupported => true,
                Verdict::Error | Verdict::Timeout | Verdict::Undetermined | Verdict::NotRun => {
                    false
                }
            };
            is_settled && result.deciding_repetition.is_none()
        });
        let kept = KeptResult { links: links_to_results(&self.output_folder), ..kept };
        let files = listed_files(&self.project_folder, [&self.output_folder, cache.folder()]);
        let is_same = files.as_ref() == Some(&self.files) && self.has_inputs(&evidence.manifest);
        let is_final = is_final && !may_look_elsewhere(evidence);
        if !is_final || !is_same || kept.links.is_empty() {
            return;
        }
        // What cannot be kept is made again.
        if let Ok(bytes) = serde_json::to_vec(&kept) {
            cache.keep_bytes(&self.key, &bytes);
        }
    }

    /// Whether the files that a run read are within the project, and as they were.
    fn has_inputs(&self, manifest: &Manifest) -> bool {
        let is_inside = |path: &str| {
            Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
        };
        manifest.inputs.par_iter().all(|(path, hash)| {
            is_inside(path) && read_hashed(&self.project_folder.join(path), hash).is_some()
        })
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
        let campaign = fs::read(evidence_folder.join("campaign.json")).unwrap_or_default();
        let ended_so = serde_json::from_slice(&campaign)
            .is_ok_and(|read: ConcludedCampaign| read.conclusion.exit_code == kept.exit_code);
        ended_so
            && links_to_results(&self.output_folder) == kept.links
            && self.has_inputs(&manifest)
            && manifest.outputs.par_iter().all(|file| has(evidence_folder.clone(), file))
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
        Path::new(path).components().all(|part| match part {
            // What version control keeps is not looked at.
            Component::Normal(name) => name != ".git",
            Component::CurDir => true,
            Component::Prefix(_) | Component::RootDir | Component::ParentDir => false,
        })
    };
    let kernels = &project.settings.value.kernels;
    let stays = kernels.iter().all(|kernel| {
        is_inside(&kernel.source) && kernel.include.iter().all(|folder| is_inside(folder))
    });
    !stays || project.interfaces.iter().any(|interface| !interface.value.header.is_empty())
}

/// Whether a kernel may ask for files outside of the project, found or not: what is not there is no
/// input, and would be found the next time. By the texts of all that is read but tables, so that what
/// only looks like such a directive counts.
fn may_look_elsewhere(evidence: &Evidence) -> bool {
    let files = evidence.inputs.iter().flat_map(|inputs| &inputs.files);
    let mut texts =
        files.filter(|(path, _)| !path.ends_with(".toml")).map(|(_, file)| match file {
            StoredFile::Text(text) => text.as_str(),
            StoredFile::Bytes(_) | StoredFile::Omitted { .. } => "",
        });
    texts.any(may_include_from_elsewhere)
}

fn may_include_from_elsewhere(text: &str) -> bool {
    // Lines are joined before directives are read.
    let joined = text.replace("\\\r\n", "").replace("\\\n", "").replace("\\\r", "");
    joined.split(['\n', '\r']).filter(|line| line.contains("include")).any(|line| {
        let names_file = line.contains(['"', '<']) || line.contains("extension");
        let leads_out = ["..", "\"/", "</"].iter().any(|sign| line.contains(sign));
        // What a macro names is not told by the line.
        leads_out || !names_file
    })
}

/// Names in an output folder that lead to its results.
fn links_to_results(output_folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(output_folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| leads_to_results(&entry.path()))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Whether something is a link to what has its name in the section beside it.
fn leads_to_results(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    fs::read_link(path).is_ok_and(|target| target == Path::new(RESULT_SECTION).join(name))
}

/// Every file of a folder but those of version control, of the result and of the cache, by hash and
/// path; none: there are too many, or something is no file.
fn listed_files(root: &Path, [output_folder, cache_folder]: [&Path; 2]) -> Option<String> {
    let cache_entries = cache_folder.join(format!("v{STORE_VERSION}"));
    let left_out = [root.join(".git"), output_folder.join(RESULT_SECTION), cache_entries];
    let left_out: Vec<PathBuf> =
        left_out.iter().filter_map(|folder| folder.canonicalize().ok()).collect();
    let output_folder = whole_path(output_folder);
    let mut files = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).ok()? {
            let entry = entry.ok()?;
            let (path, kind) = (entry.path(), entry.file_type().ok()?);
            let is_result = output_folder.as_ref().is_some_and(|out| is_result_in(&path, out));
            let is_left_out =
                kind.is_dir() && path.canonicalize().is_ok_and(|whole| left_out.contains(&whole));
            if is_result || is_left_out {
                continue;
            }
            if kind.is_dir() {
                folders.push(path);
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
    let mut text = String::new();
    for (path, hash) in hashed.collect::<Option<Vec<_>>>()? {
        let _ = writeln!(text, "{hash} {path:?}");
    }
    Some(text)
}

/// A path from the root of the file system, of a folder that may not be there yet.
fn whole_path(folder: &Path) -> Option<PathBuf> {
    folder
        .canonicalize()
        .ok()
        .or_else(|| Some(folder_of(folder).canonicalize().ok()?.join(folder.file_name()?)))
}

/// Whether a run into a folder writes this: the links to its results, the section in the making, the
/// lock beside the folder.
fn is_result_in(path: &Path, output_folder: &Path) -> bool {
    let Some(parent) = path.parent().and_then(|parent| parent.canonicalize().ok()) else {
        return false;
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if parent == output_folder {
        return leads_to_results(path) || name == unfinished_name(RESULT_SECTION);
    }
    let folder_name = output_folder.file_name().unwrap_or_default().to_string_lossy();
    Some(parent.as_path()) == output_folder.parent() && name == format!(".{folder_name}.lock")
}

#[cfg(test)]
mod tests {
    use super::may_include_from_elsewhere;

    #[test]
    fn directives_that_may_lead_out_of_the_project_are_told_by_their_text() {
        for text in [
            "#include \"../a.glsl\"",
            "# include <lib/../../a.glsl>",
            "#incl\\\nude \"../a.glsl\"",
            "#include \".\\\r\n./a.glsl\"",
            "#include \"/a.glsl\"",
            "#include NAME",
            "#include /*\n*/ \"../a.glsl\"",
        ] {
            assert!(may_include_from_elsewhere(text), "{text}");
        }
        for text in [
            "#extension GL_GOOGLE_include_directive : require\n#include \"a.glsl\"",
            "#include <lib/a.glsl>\nuint a = b..c;",
            "",
        ] {
            assert!(!may_include_from_elsewhere(text), "{text}");
        }
    }
}
