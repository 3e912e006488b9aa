//! The walk through a folder of stored runs.
//!
//! Knows: a run is a folder with `manifest.json`, at any name and at most [`MOST_DEPTH`] folders
//! deep; below a run there is no other, below a file of that name that is no manifest there may be.
//! Promises: links are not followed, so that no loop and nothing outside the folder is read; what
//! the run that asks replaces is passed over; evidence of another project is an error; of a run
//! nothing is read but manifest and campaign.
//! Does not cover: whether the rest of a run holds.

use super::{FoundRun, FoundRuns, LeftOutRun, MOST_RUN_BYTES, bounded_reason, too_large};
use crate::VerifyError;
use crate::folder::parse_file;
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};
use vkcert_derivation::files::{CAMPAIGN, MANIFEST};
use vkcert_model::canonical::sha256_digits;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::evidence::Manifest;
use vkcert_model::path::display_path;
use vkcert_model::wording::in_one_line;
use walkdir::{DirEntry, WalkDir};

/// How many folders deep runs are looked for.
const MOST_DEPTH: usize = 8;

/// The output folder of the run that is about to be made.
#[derive(Debug, Clone, Copy)]
pub struct OwnOutput<'p> {
    /// The output folder; it need not be there.
    pub folder: &'p Path,
    /// Its sub-folder that a run replaces.
    pub section: &'p str,
}

/// Finds the runs of a project below a folder. What `own_output` holds is passed over, because the
/// run that asks replaces it.
///
/// # Errors
/// If the folder cannot be read, or holds evidence of another project.
pub fn find_runs(
    folder: &Path,
    project: &str,
    own_output: Option<OwnOutput>,
) -> Result<FoundRuns, VerifyError> {
    let top = folder.canonicalize().and_then(|top| fs::read_dir(&top).map(|_| top));
    let top = top.map_err(|error| {
        let message = format!("--history: the folder of stored runs cannot be read: {error}");
        Diagnostic::new("missing-file", message).in_file(display_path(folder))
    })?;
    let own_entries = own_output.map(|output| OwnEntries::of_output(output, &top));
    let mut search = RunSearch {
        top: &top,
        shown_top: folder,
        project,
        own_entries: own_entries.as_ref(),
        found: FoundRuns {
            runs: Vec::new(),
            left_out: Vec::new(),
            unsearched_folders: 0,
            own_folder: own_entries.as_ref().and_then(|own| own.future_folder.clone()),
        },
    };
    search.walk()?;
    Ok(search.found)
}

/// What of the folder the run that asks replaces.
struct OwnEntries {
    output_folder: PathBuf,
    section: String,
    /// Where its evidence will stand, where that is below the folder of all runs.
    future_folder: Option<String>,
}

impl OwnEntries {
    fn of_output(output: OwnOutput, top: &Path) -> Self {
        let output_folder = resolved(output.folder);
        let evidence = output_folder.join(output.section).join("evidence");
        let future_folder = evidence.strip_prefix(top).ok().map(folder_name);
        Self { output_folder, section: output.section.to_owned(), future_folder }
    }

    /// The section, a section in the making, and results of the layout before there were sections.
    fn holds(&self, path: &Path) -> bool {
        let is_beside = path.parent() == Some(self.output_folder.as_path());
        let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        let in_the_making = format!(".{}.", self.section);
        is_beside
            && (name == "evidence" || name == self.section || name.starts_with(&in_the_making))
    }
}

/// A path without links, also of what is not there yet.
fn resolved(path: &Path) -> PathBuf {
    let absolute_path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for ancestor in absolute_path.ancestors() {
        if let (Ok(present_part), Ok(rest)) =
            (ancestor.canonicalize(), absolute_path.strip_prefix(ancestor))
        {
            return if rest.as_os_str().is_empty() {
                present_part
            } else {
                present_part.join(rest)
            };
        }
    }
    absolute_path
}

/// A path relative to the folder of all runs, as reports name it.
fn folder_name(relative_path: &Path) -> String {
    let parts = relative_path.components().map(|part| part.as_os_str().to_string_lossy());
    let name = parts.collect::<Vec<_>>().join("/");
    if name.is_empty() { ".".to_owned() } else { in_one_line(&name) }
}

/// What a folder with `manifest.json` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FolderKind {
    /// Its manifest is one of evidence, whether or not the rest holds.
    Run,
    /// The file is something else that has the name.
    NoRun,
}

/// A walk through the folder of all runs.
struct RunSearch<'s> {
    top: &'s Path,
    /// As the user names it.
    shown_top: &'s Path,
    project: &'s str,
    own_entries: Option<&'s OwnEntries>,
    found: FoundRuns,
}

impl RunSearch<'_> {
    fn walk(&mut self) -> Result<(), VerifyError> {
        let walk = WalkDir::new(self.top).max_depth(MOST_DEPTH).follow_links(false);
        let mut entries = walk.sort_by_file_name().into_iter();
        while let Some(entry) = entries.next() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.leave_unreadable_out(&error);
                    continue;
                }
            };
            if !entry.file_type().is_dir() {
                continue;
            }
            if self.own_entries.is_some_and(|own| own.holds(entry.path())) {
                entries.skip_current_dir();
                continue;
            }
            if fs::symlink_metadata(entry.path().join(MANIFEST)).is_ok()
                && self.add_folder(entry.path())? == FolderKind::Run
            {
                entries.skip_current_dir();
            } else if entry.depth() == MOST_DEPTH && holds_folder(&entry) {
                self.found.unsearched_folders += 1;
            }
        }
        Ok(())
    }

    fn relative_name(&self, path: &Path) -> String {
        folder_name(path.strip_prefix(self.top).unwrap_or(path))
    }

    fn leave_unreadable_out(&mut self, error: &walkdir::Error) {
        let folder = error.path().map_or_else(|| ".".to_owned(), |path| self.relative_name(path));
        let cause = error.io_error().map(ToString::to_string).unwrap_or_default();
        self.leave_out(folder, &format!("it cannot be read: {cause}"));
    }

    /// Adds a folder with `manifest.json` to the runs, or to what is left out.
    fn add_folder(&mut self, path: &Path) -> Result<FolderKind, VerifyError> {
        let folder = self.relative_name(path);
        let (root, manifest) = match read_manifest(path) {
            Ok(root_and_manifest) => root_and_manifest,
            Err(reason) => {
                self.leave_out(folder, &reason);
                return Ok(FolderKind::NoRun);
            }
        };
        let head = match campaign_head(path, &manifest) {
            Ok(head) => head,
            Err(reason) => {
                self.leave_out(folder, &reason);
                return Ok(FolderKind::Run);
            }
        };
        if head.project.name != self.project {
            return Err(self.other_project(&folder, &head.project.name));
        }
        let path = path.to_owned();
        self.found.runs.push(FoundRun { path, folder, root, date: head.project.date });
        Ok(FolderKind::Run)
    }

    fn leave_out(&mut self, folder: String, reason: &str) {
        self.found.left_out.push(LeftOutRun { folder, reason: bounded_reason(reason) });
    }

    fn other_project(&self, folder: &str, other_name: &str) -> VerifyError {
        let message = format!(
            "--history: the evidence in `{folder}` is of the project `{}`, not of `{}`",
            in_one_line(other_name),
            self.project
        );
        let place = self.shown_top.join(folder).join(CAMPAIGN);
        Diagnostic::new("usage", message)
            .hint("a trend is of the runs of one project: name a folder that holds these alone")
            .in_file(display_path(&place))
            .into()
    }
}

/// Whether a folder that is as deep as is looked holds a deeper one.
fn holds_folder(entry: &DirEntry) -> bool {
    let entries = fs::read_dir(entry.path()).into_iter().flatten().flatten();
    entries.filter_map(|inner| inner.file_type().ok()).any(|inner_type| inner_type.is_dir())
}

/// What of `campaign.json` tells the runs of a project apart.
#[derive(Debug, Deserialize)]
struct CampaignHead {
    project: ProjectHead,
}

#[derive(Debug, Deserialize)]
struct ProjectHead {
    name: String,
    #[serde(default)]
    date: Option<String>,
}

/// The manifest of a run, with the root.
fn read_manifest(path: &Path) -> Result<(String, Manifest), String> {
    let manifest_bytes = plain_file_bytes(path, MANIFEST)?;
    let manifest = parsed(path, MANIFEST, &manifest_bytes)?;
    Ok((sha256_digits(&manifest_bytes), manifest))
}

/// The head of the campaign that the manifest lists.
fn campaign_head(path: &Path, manifest: &Manifest) -> Result<CampaignHead, String> {
    let campaign_bytes = plain_file_bytes(path, CAMPAIGN)?;
    if manifest.outputs.get(CAMPAIGN) != Some(&sha256_digits(&campaign_bytes)) {
        return Err(format!("{CAMPAIGN} has another SHA-256 than the manifest"));
    }
    parsed(path, CAMPAIGN, &campaign_bytes)
}

fn parsed<T: serde::de::DeserializeOwned>(
    path: &Path,
    name: &str,
    bytes: &[u8],
) -> Result<T, String> {
    parse_file(&path.display().to_string(), name, bytes).map_err(|error| format!("{name}: {error}"))
}

/// The contents of a file that is no link, no device and not too large.
fn plain_file_bytes(folder: &Path, name: &str) -> Result<Vec<u8>, String> {
    let path = folder.join(name);
    let unreadable = |error: std::io::Error| format!("{name} cannot be read: {error}");
    let metadata = fs::symlink_metadata(&path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(format!("{name} is no file"));
    }
    if metadata.len() > MOST_RUN_BYTES {
        return Err(too_large(name, metadata.len()));
    }
    fs::read(&path).map_err(unreadable)
}
