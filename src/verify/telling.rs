//! What `verify` says of what it found: on the terminal and as JSON.
//!
//! Promises: that all follows is said only where all was derived; what was not derived is named,
//! and so is what the hash given by `--root` stands for, and how many files were compared with
//! those of the project given by `--project`.
//! Does not cover: what was found (`verify`).

use super::{
    ComparedFiles, ComparedKernels, Extent, KernelCheck, ProjectCheck, ReportCheck, RootCover,
    Status, Verification,
};
use serde_json::{Value, json};
use vkcert_model::wording::plural;

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
        "project": project_in_numbers(&found.project),
        "report_files": { "listed": found.reports.listed, "unlisted": found.reports.unlisted },
    })
}

/// Null where no project was given.
fn project_in_numbers(project: &ProjectCheck) -> Value {
    match project {
        ProjectCheck::NotGiven => Value::Null,
        ProjectCheck::NotCompared { folder } => {
            json!({
                "folder": folder, "inputs": null, "same": null, "unread_requirement_files": null, "kernels": null,
            })
        }
        ProjectCheck::Compared(ComparedFiles { folder, inputs, same, unread, kernels }) => {
            json!({
                "folder": folder, "inputs": inputs, "same": same, "unread_requirement_files": unread,
                "kernels": kernels_in_numbers(kernels),
            })
        }
    }
}

/// Null where none was compared.
fn kernels_in_numbers(kernels: &KernelCheck) -> Value {
    match kernels {
        KernelCheck::NotCompared { .. } => Value::Null,
        KernelCheck::Compared(ComparedKernels {
            kernels,
            same_files,
            same_modules,
            other_compiler,
        }) => {
            let same_modules = other_compiler.is_none().then_some(same_modules);
            json!({ "compiled": kernels, "same_files": same_files, "same_modules": same_modules })
        }
    }
}

/// Some lines, of which the first says what the last one says with its numbers.
pub fn in_words(found: &Verification) -> String {
    let mut text = format!("result            {}\n", in_brief(found.status()));
    found
        .problems
        .iter()
        .take(LISTED)
        .for_each(|problem| text.push_str(&format!("differs           {problem}\n")));
    if found.problems.len() > LISTED {
        text.push_str(&format!(
            "                  ... and {} more\n",
            found.problems.len() - LISTED
        ));
    }
    found
        .not_derivable
        .iter()
        .for_each(|reason| text.push_str(&format!("not re-derivable  {reason}\n")));
    if let Some(words) = of_project(&found.project) {
        text.push_str(&format!("project           {words}\n"));
    }
    text.push_str(&format!("root              {}\n", found.root));
    if let Some(list) = &found.list {
        text.push_str(&format!("report list       {list}\n"));
    }
    if let (Some(given), Some(words)) = (&found.root_given, of_root(found.root_cover)) {
        text.push_str(&format!("root given        {given} {words}\n"));
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
            let verb = if problems == 1 { "does" } else { "do" };
            format!("NOT verified: {problems} of {count} statements {verb} not hold{left}\n")
        }
        (Status::Verified, _) => {
            format!("verified: all {count} {statements} follow from the stored records\n")
        }
        (Status::InPart, Extent::Whole) => {
            format!(
                "verified in part, NOT as a whole: {count} {statements} follow from the stored records{left}\n"
            )
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

/// What the files of the project were compared with; none where no project was given.
fn of_project(project: &ProjectCheck) -> Option<String> {
    let ComparedFiles { folder, inputs, same, unread, kernels } = match project {
        ProjectCheck::NotGiven => return None,
        ProjectCheck::NotCompared { folder } => {
            return Some(format!(
                "`{folder}` was compared with nothing: the evidence cannot be read"
            ));
        }
        ProjectCheck::Compared(compared) => compared,
    };
    let count = if same == inputs { "all".to_owned() } else { format!("{same} of") };
    let files = match inputs {
        0 => format!("compared with nothing in `{folder}`: the evidence names no input file"),
        1 if *same == 1 => {
            format!("the 1 input file of the evidence has the same SHA-256 in `{folder}`")
        }
        _ => format!(
            "{count} {inputs} input files of the evidence have the same SHA-256 in `{folder}`"
        ),
    };
    let unread = match unread {
        0 => "it has no requirement file that the run did not read".to_owned(),
        count => {
            let files =
                plural(*count, "requirement file there was", "requirement files there were");
            format!("{files} not read by the run")
        }
    };
    Some(format!("{files}; {unread}; {}", of_kernels(kernels)))
}

/// What the kernels were compared with.
fn of_kernels(kernels: &KernelCheck) -> String {
    let ComparedKernels { kernels, same_files, same_modules, other_compiler } = match kernels {
        KernelCheck::NotCompared { reason } => {
            return format!("its kernels were not compared: {reason}");
        }
        KernelCheck::Compared(compared) => compared,
    };
    let files = format!(
        "{same_files} of its {} the same files",
        plural(*kernels, "kernel includes", "kernels include")
    );
    match other_compiler {
        None => {
            format!("{files}, {same_modules} of {kernels} compile to the same production module")
        }
        Some(other) => format!(
            "{files}; production modules were not compared: {other} made those of the evidence"
        ),
    }
}

/// What the hash that was given was held against.
fn of_root(cover: RootCover) -> Option<&'static str> {
    match cover {
        RootCover::NotGiven => None,
        RootCover::Nothing => Some("is neither that of the manifest nor that of the report list"),
        RootCover::Evidence => {
            Some("is that of the manifest, which holds the hashes of all inputs and evidence files")
        }
        RootCover::EvidenceAndReports => Some(
            "is that of the report list, which holds the root and the hashes of the reports listed",
        ),
    }
}

/// What the reports beside the evidence were compared with.
fn of_reports(reports: &ReportCheck, cover: RootCover) -> String {
    let listed = match &reports.listed {
        None => "not checked: there is no reports.json beside the evidence".to_owned(),
        Some(_) if reports.unreadable => "not checked: reports.json cannot be read".to_owned(),
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
