//! `vkcert verify EVIDENCE`: everything that follows from something else stored, derived again.
//!
//! Knows: an evidence folder and the list of reports beside it. Promises: no compiler or device but the ones built in; what is
//! stored and does not follow is a problem by name, what cannot be derived is told as such.
//! Does not cover: what a signature covers: facts that follow from nothing else (`docs/evidence.md` lists them).

mod consistency;
mod derivation;
mod difference;
#[cfg(test)]
mod forged_tests;
#[cfg(any(test, feature = "fuzzing"))]
mod forgery;
mod form;
mod rebuild;
mod records;
mod replay;
mod sources;
#[cfg(test)]
mod tests;

#[cfg(feature = "fuzzing")]
pub use forgery::survive_changes;

use super::args::{Common, OutputForm, Verify};
use super::evidence::{self, Folder};
use super::exit::Exit;
use super::failure::Failure;
use super::output;
use crate::model::evidence::Evidence;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Problems printed one by one; all are counted.
const LISTED: usize = 200;

/// What shall be done beside the ordinary checks.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// A hash that the manifest or the list of reports must have.
    pub root: Option<String>,
    /// A project whose files must be the inputs.
    pub project: Option<PathBuf>,
    pub replay: Replay,
}

/// Whether the sequential engine runs the tests again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Replay {
    #[default]
    No,
    Sequential,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Verification {
    /// Differences between what is stored and what follows from the records.
    pub problems: Vec<String>,
    /// What cannot be derived again, and why.
    pub not_derivable: Vec<String>,
    /// How many statements were derived again.
    pub checked: u64,
    /// SHA-256 of the manifest.
    pub root: String,
    /// SHA-256 of the list of reports, where it is there.
    pub list: Option<String>,
}

impl Verification {
    fn check(&mut self, holds: bool, problem: impl FnOnce() -> String) {
        self.checked += 1;
        if !holds {
            self.problems.push(problem());
        }
    }

    pub fn holds(&self) -> bool {
        self.problems.is_empty()
    }
}

/// Exit 0 if everything follows from the raw records, 1 on any difference.
pub fn command(common: &Common, verify: &Verify) -> Result<Exit, Failure> {
    let options = Options {
        root: verify.root.clone(),
        project: verify.project.clone(),
        replay: if verify.replay { Replay::Sequential } else { Replay::No },
    };
    let (found, _) = folder(&verify.evidence, &options)?;
    match common.format {
        OutputForm::Json => {
            let document = json!({
                "schema": 1, "verified": found.holds(), "checked": found.checked,
                "problems": found.problems, "not_rederivable": found.not_derivable,
                "root": found.root, "reports": found.list,
            });
            output::print(&format!("{document:#}\n"))?;
        }
        OutputForm::Text => output::print(&in_words(&found))?,
    }
    Ok(if found.holds() { Exit::Success } else { Exit::Failed })
}

fn in_words(found: &Verification) -> String {
    let mut text = String::new();
    found.problems.iter().take(LISTED).for_each(|problem| text.push_str(&format!("differs           {problem}\n")));
    if found.problems.len() > LISTED {
        text.push_str(&format!("                  ... and {} more\n", found.problems.len() - LISTED));
    }
    found.not_derivable.iter().for_each(|what| text.push_str(&format!("not re-derivable  {what}\n")));
    text.push_str(&format!("root              {}\n", found.root));
    if let Some(list) = &found.list {
        text.push_str(&format!("report list       {list}\n"));
    }
    let count = found.checked;
    text.push_str(&match found.problems.len() {
        0 => format!("verified: {count} hashes, verdicts, statuses and percentages follow from the stored records\n"),
        problems => format!("NOT verified: {problems} of {count} statements do not follow from the stored records\n"),
    });
    text
}

/// Verifies an evidence folder; the evidence comes with it where it could be read.
pub fn folder(path: &Path, options: &Options) -> Result<(Verification, Option<Box<Evidence>>), Failure> {
    let folder = Folder::read(path)?;
    let (mut found, stored) = files(&folder, options)?;
    if let Some(stored) = &stored {
        whole(stored, options, &mut found)?;
    }
    Ok((found, stored))
}

/// Hashes and form of the files alone.
fn files(folder: &Folder, options: &Options) -> Result<(Verification, Option<Box<Evidence>>), Failure> {
    let stored = evidence::examine(folder)?;
    let mut found = Verification {
        problems: stored.problems,
        checked: (folder.files.len() + folder.reports.len()) as u64,
        root: folder.root(),
        list: folder.list_hash(),
        ..Verification::default()
    };
    if let Some(wanted) = &options.root {
        let wanted = wanted.trim().trim_start_matches("sha256:").to_ascii_lowercase();
        let known = [Some(&found.root), found.list.as_ref()].into_iter().flatten().any(|hash| *hash == wanted);
        found.check(known, || format!("neither the manifest nor the list of reports has the SHA-256 {wanted}"));
    }
    Ok((found, stored.evidence))
}

/// What the files say.
fn whole(stored: &Evidence, options: &Options, found: &mut Verification) -> Result<(), Failure> {
    if let Some(problem) = form::malformed(stored) {
        found.problems.push(problem);
        return Ok(());
    }
    if let Some(project) = &options.project {
        sources::compare(stored, project, found)?;
    }
    contents(stored, &rebuild::rebuild(stored, options.project.as_deref()), options, found)
}

/// What is stored against what the project made of the inputs comes to.
fn contents(
    stored: &Evidence,
    rebuilt: &rebuild::Outcome,
    options: &Options,
    found: &mut Verification,
) -> Result<(), Failure> {
    consistency::always(stored, found);
    records::check(stored, found);
    match rebuilt {
        rebuild::Outcome::Whole(rebuilt) => derivation::derive(stored, rebuilt, options.replay, found)?,
        rebuild::Outcome::ProjectAlone(project, reason) => {
            found.not_derivable.push(reason.clone());
            derivation::derive_project(stored, project, found);
            consistency::of_records(stored, found);
            refuse_replay(options, found);
        }
        rebuild::Outcome::Nothing(reason) => {
            found.not_derivable.push(reason.clone());
            consistency::of_definitions(stored, found);
            consistency::of_records(stored, found);
            refuse_replay(options, found);
        }
        rebuild::Outcome::Wrong(problem) => found.problems.push(problem.clone()),
    }
    Ok(())
}

fn refuse_replay(options: &Options, found: &mut Verification) {
    match options.replay {
        Replay::No => {}
        Replay::Sequential => found.problems.push("the tests cannot be replayed (see above)".to_owned()),
    }
}

/// Whether reports of the evidence can be made at all; the reason where not.
pub fn unreadable(stored: &Evidence) -> Option<String> {
    form::malformed(stored)
}
