//! Runs of one project that were stored below a folder, held to what follows from them.
//!
//! Knows: the runs that a search found, which of them are the same, and their order.
//! Promises: only evidence that holds becomes a record; what looks like a run and is not shown is
//! told by name with the reason; a run that is too large, or holds something other than files, is
//! left out before it is read.
//! Does not cover: where runs are (`search`); what needs a compiler; reports and provenance beside
//! evidence; how a trend is shown (`report`).

mod folder_order;
mod search;
#[cfg(test)]
mod tests;

pub use search::{OwnOutput, find_runs};

use super::{
    DerivationExtent, EvidenceFolder, NoToolchain, VerificationOptions, VerifyError, why_unreadable,
};
use folder_order::NumberedName;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use vkcert_model::evidence::Evidence;
use vkcert_model::wording::{in_one_line, plural};
use vkcert_report::{History, LeftOutRun, MOST_SHOWN_RUNS, RunOrder, RunRecord, RunStanding};

/// Bytes of a run's evidence at most: reading takes several times as many of memory.
const MOST_RUN_BYTES: u64 = 1 << 30;

/// Entries of an evidence folder at most: two files per kernel, and some more.
const MOST_RUN_ENTRIES: usize = 100_000;

/// Characters of a reason at most; it may quote what the evidence holds.
const MOST_REASON_CHARACTERS: usize = 300;

/// The runs below a folder, as their manifests and campaigns name them.
#[derive(Debug)]
pub struct FoundRuns {
    runs: Vec<FoundRun>,
    left_out: Vec<LeftOutRun>,
    unsearched_folders: usize,
    /// Where the run of the report will stand.
    own_folder: Option<String>,
}

/// A run whose campaign is that of its manifest; more of it was not read.
#[derive(Debug)]
struct FoundRun {
    path: PathBuf,
    /// Relative to the folder of all runs.
    folder: String,
    root: String,
    date: Option<String>,
}

/// Folders with one manifest; there is at least one. Some of them may be damaged.
struct RunCopies {
    date: Option<String>,
    copies: Vec<FoundRun>,
}

fn too_large(subject: &str, bytes: u64) -> String {
    format!("{subject} has {bytes} bytes, more than the {MOST_RUN_BYTES} that are read")
}

fn bounded_reason(reason: &str) -> String {
    let line = in_one_line(reason);
    if line.chars().count() <= MOST_REASON_CHARACTERS {
        return line;
    }
    let kept_part: String = line.chars().take(MOST_REASON_CHARACTERS).collect();
    format!("{kept_part}…")
}

/// By what runs are sorted: the date, where all have one; a run that is not in the folder behind
/// the others; the folder.
type OrderKey = (Option<String>, bool, NumberedName);

fn order_key(order: RunOrder, date: &Option<String>, folder: Option<&str>) -> OrderKey {
    let ordering_date = match order {
        RunOrder::Date => date.clone(),
        RunOrder::Folder => None,
    };
    (ordering_date, folder.is_none(), NumberedName::of(folder.unwrap_or_default()))
}

impl FoundRuns {
    /// Reads the last of the runs and puts the run of the report among them, which is known by its
    /// manifest and is not read again. It stands where `evidence_folder` is, its evidence as the
    /// user names it; where that is none of the runs, at the last folder with its manifest. Of
    /// other folders with one manifest the first counts that holds.
    ///
    /// # Errors
    /// If the tool fails; runs that do not hold are left out.
    pub fn read_beside(
        self,
        present: &Evidence,
        evidence_folder: Option<&Path>,
    ) -> Result<History, VerifyError> {
        let FoundRuns { runs, mut left_out, unsearched_folders, own_folder } = self;
        let (mut own_copies, other_runs) = runs_by_root(runs, &present.root()?);
        let present_date = &present.campaign.project.date;
        let all_dates = other_runs.iter().map(|run| &run.date).chain([present_date]);
        let order = if all_dates.into_iter().all(Option::is_some) {
            RunOrder::Date
        } else {
            RunOrder::Folder
        };
        let present_folder =
            own_folder.or_else(|| take_present_copy(&mut own_copies, evidence_folder));
        let other_copies = own_copies.into_iter();
        left_out
            .extend(other_copies.map(|copy| copy.left_out("its manifest is that of this report")));
        let present_key = order_key(order, present_date, present_folder.as_deref());
        let present_record = RunRecord::of_evidence(present, RunStanding::Present, present_folder)
            .map_err(|error| VerifyError::tool(error.to_string()))?;
        let mut keyed_records = vec![(present_key, present_record)];
        let mut unread_runs: Vec<(OrderKey, RunCopies)> = other_runs
            .into_iter()
            .map(|run| {
                let first_folder = run.copies.first().map(|copy| copy.folder.as_str());
                (order_key(order, &run.date, first_folder), run)
            })
            .collect();
        unread_runs.sort_by(|(first, _), (second, _)| first.cmp(second));
        while keyed_records.len() < MOST_SHOWN_RUNS
            && let Some((key, run)) = unread_runs.pop()
        {
            let record = first_that_holds(run, &mut left_out)?;
            keyed_records.extend(record.map(|record| (key, record)));
        }
        keyed_records.sort_by(|(first, _), (second, _)| first.cmp(second));
        left_out.sort_by_cached_key(|run| NumberedName::of(&run.folder));
        Ok(History {
            runs: keyed_records.into_iter().map(|(_, record)| record).collect(),
            order,
            earlier_runs: unread_runs.len(),
            left_out,
            unsearched_folders,
        })
    }
}

impl FoundRun {
    fn left_out(self, reason: &str) -> LeftOutRun {
        LeftOutRun { folder: self.folder, reason: bounded_reason(reason) }
    }
}

/// Takes the folder that the report's run stands at from those with its manifest: the one that the
/// user names, else the last.
fn take_present_copy(
    own_copies: &mut Vec<FoundRun>,
    evidence_folder: Option<&Path>,
) -> Option<String> {
    // Runs are found without links; the user may have followed one.
    let named_path = evidence_folder.and_then(|folder| folder.canonicalize().ok());
    own_copies.sort_by_cached_key(|copy| NumberedName::of(&copy.folder));
    let named_index = own_copies.iter().position(|copy| Some(&copy.path) == named_path.as_ref());
    let index = named_index.or_else(|| own_copies.len().checked_sub(1))?;
    Some(own_copies.remove(index).folder)
}

/// The folders with the manifest of the report's run, and all others by manifest.
fn runs_by_root(runs: Vec<FoundRun>, present_root: &str) -> (Vec<FoundRun>, Vec<RunCopies>) {
    let (own_copies, others): (Vec<FoundRun>, Vec<FoundRun>) =
        runs.into_iter().partition(|run| run.root == present_root);
    let mut index_by_root: BTreeMap<String, usize> = BTreeMap::new();
    let mut other_runs: Vec<RunCopies> = Vec::new();
    for run in others {
        match index_by_root.get(&run.root) {
            Some(index) => other_runs[*index].copies.push(run),
            None => {
                index_by_root.insert(run.root.clone(), other_runs.len());
                other_runs.push(RunCopies { date: run.date.clone(), copies: vec![run] });
            }
        }
    }
    (own_copies, other_runs)
}

/// The record of the first copy that holds; the others are left out.
fn first_that_holds(
    run: RunCopies,
    left_out: &mut Vec<LeftOutRun>,
) -> Result<Option<RunRecord>, VerifyError> {
    let mut shown_record: Option<RunRecord> = None;
    for copy in run.copies {
        if let Some(record) = &shown_record {
            let shown_folder = record.folder.as_deref().unwrap_or_default();
            let reason = format!("its manifest is that of {shown_folder}");
            left_out.push(copy.left_out(&reason));
            continue;
        }
        match examine_run(&copy)? {
            ExaminedRun::Holds(record) => shown_record = Some(*record),
            ExaminedRun::Fails(reason) => left_out.push(copy.left_out(&reason)),
        }
    }
    Ok(shown_record)
}

/// What the evidence of a stored run came to.
enum ExaminedRun {
    Holds(Box<RunRecord>),
    /// Why it does not hold.
    Fails(String),
}

/// Reads a run and derives what follows from its records again.
fn examine_run(run: &FoundRun) -> Result<ExaminedRun, VerifyError> {
    if let Some(reason) = why_not_read(&run.path) {
        return Ok(ExaminedRun::Fails(reason));
    }
    let verified = EvidenceFolder::read_alone(&run.path).and_then(|folder| {
        super::verify_read_folder(&folder, &VerificationOptions::default(), &NoToolchain)
    });
    let (verification, stored) = match verified {
        Ok(verified) => verified,
        Err(VerifyError::Input(diagnostics)) => {
            let reasons: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
            return Ok(ExaminedRun::Fails(reasons.join("; ")));
        }
        Err(failure @ VerifyError::Tool { .. }) => return Err(failure),
    };
    if let Some(problem) = verification.problems.first() {
        let problem_count = plural(verification.problems.len(), "problem", "problems");
        return Ok(ExaminedRun::Fails(format!("it does not verify ({problem_count}): {problem}")));
    }
    let Some(evidence) = stored.filter(|evidence| why_unreadable(evidence).is_none()) else {
        return Ok(ExaminedRun::Fails("no report can be made of it".to_owned()));
    };
    let standing = match verification.extent {
        DerivationExtent::Whole | DerivationExtent::WithoutModules => RunStanding::Derived,
        DerivationExtent::WithoutInputs => RunStanding::ComparedWithItself,
    };
    let record = RunRecord::of_evidence(&evidence, standing, Some(run.folder.clone()))
        .map_err(|error| VerifyError::tool(error.to_string()))?;
    Ok(ExaminedRun::Holds(Box::new(record)))
}

/// What keeps a folder from being read: links, entries that are no files, or too much of both.
fn why_not_read(path: &Path) -> Option<String> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) => return Some(format!("it cannot be read: {error}")),
    };
    let mut total_bytes = 0_u64;
    for (index, entry) in entries.enumerate() {
        // The metadata of an entry is that of a link, not of what it leads to.
        let named_metadata =
            entry.and_then(|entry| entry.metadata().map(|metadata| (entry.file_name(), metadata)));
        let (name, metadata) = match named_metadata {
            Ok(named_metadata) => named_metadata,
            Err(error) => return Some(format!("it cannot be read: {error}")),
        };
        if !metadata.is_file() {
            return Some(format!("{} is no file", name.to_string_lossy()));
        }
        total_bytes = total_bytes.saturating_add(metadata.len());
        if total_bytes > MOST_RUN_BYTES {
            return Some(too_large("its evidence", total_bytes));
        }
        if index >= MOST_RUN_ENTRIES {
            return Some(format!("it holds more than {MOST_RUN_ENTRIES} files"));
        }
    }
    None
}
