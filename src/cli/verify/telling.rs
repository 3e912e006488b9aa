//! What `verify` says of what it found: on the terminal and as JSON.
//!
//! Promises: that all follows is said only where all was derived; what was not derived is named, and so is what the hash given by
//! `--root` stands for. Does not cover: what was found (`verify`).

use super::{Extent, ReportCheck, RootCover, Status, Verification};
use serde_json::{Value, json};

/// Problems printed one by one; all are counted.
const LISTED: usize = 200;

/// One JSON document.
pub fn document(found: &Verification) -> Value {
    json!({
        "schema": 1,
        // What was not made again at all was not verified, whatever the rest says.
        "verified": found.holds() && found.extent == Extent::Whole,
        "status": found.status().name(),
        "extent": found.extent.name(),
        "checked": found.checked,
        "problems": found.problems,
        "not_rederivable": found.not_derivable,
        "root": found.root,
        "reports": found.list,
        "root_covers": found.root_cover.name(),
        "report_files": { "listed": found.reports.listed, "unlisted": found.reports.unlisted },
    })
}

/// Some lines, of which the first says what the last one says with its numbers.
pub fn in_words(found: &Verification) -> String {
    let mut text = format!("result            {}\n", in_brief(found.status()));
    found.problems.iter().take(LISTED).for_each(|problem| text.push_str(&format!("differs           {problem}\n")));
    if found.problems.len() > LISTED {
        text.push_str(&format!("                  ... and {} more\n", found.problems.len() - LISTED));
    }
    found.not_derivable.iter().for_each(|reason| text.push_str(&format!("not re-derivable  {reason}\n")));
    text.push_str(&format!("root              {}\n", found.root));
    if let Some(list) = &found.list {
        text.push_str(&format!("report list       {list}\n"));
    }
    text.push_str(&format!("reports           {}\n", of_reports(&found.reports, found.root_cover)));
    text.push_str(&result(found));
    text
}

/// The result in words that cannot be taken for another.
fn in_brief(status: Status) -> &'static str {
    match status {
        Status::Verified => "verified",
        Status::InPart => "verified in part, NOT as a whole: what was not derived stands below",
        Status::NotVerified => "NOT verified",
    }
}

fn result(found: &Verification) -> String {
    let (count, problems) = (found.checked, found.problems.len());
    let left = match found.not_derivable.len() {
        0 => String::new(),
        left => format!("; {left} not re-derivable, named above"),
    };
    let statements = "hashes, verdicts, statuses and percentages";
    match (found.status(), found.extent) {
        (Status::NotVerified, _) => {
            format!("NOT verified: {problems} of {count} statements do not hold{left}\n")
        }
        (Status::Verified, _) => format!("verified: all {count} {statements} follow from the stored records\n"),
        (Status::InPart, Extent::Whole) => {
            format!("verified in part, NOT as a whole: {count} {statements} follow from the stored records{left}\n")
        }
        (Status::InPart, Extent::WithoutModules) => {
            format!(
                "verified in part, NOT as a whole: {count} statements agree; the kernels were NOT derived from their sources{left}\n"
            )
        }
        (Status::InPart, Extent::WithoutInputs) => {
            format!(
                "verified in part, NOT as a whole: {count} statements agree; nothing was derived from the project's files{left}\n"
            )
        }
    }
}

/// What the reports beside the evidence were compared with.
fn of_reports(reports: &ReportCheck, cover: RootCover) -> String {
    let listed = match &reports.listed {
        None => "not checked: there is no reports.json beside the evidence".to_owned(),
        Some(names) if names.is_empty() => "none listed in reports.json".to_owned(),
        Some(names) => format!("{} checked against reports.json", names.join(", ")),
    };
    let covered = match (&reports.listed, cover) {
        (None, _) => String::new(),
        (Some(_), RootCover::EvidenceAndReports) => ", whose SHA-256 is the one given".to_owned(),
        (Some(_), RootCover::Evidence) => {
            ", and nothing else: the SHA-256 given is that of the evidence, which does not cover them".to_owned()
        }
        (Some(_), RootCover::NotGiven | RootCover::Nothing) => {
            ", and nothing else: `--root` with the hash of the report list covers them".to_owned()
        }
    };
    let strange = match reports.unlisted.as_slice() {
        [] => String::new(),
        names => format!("; not checked: {}", names.join(", ")),
    };
    format!("{listed}{covered}{strange}")
}
