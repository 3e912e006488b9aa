//! The result of `verify`, for the terminal and as JSON.
//!
//! Promises: "verified" is said only where everything was derived; what was not derived is named,
//! and so is what the hash given by `--root` covers, and how many files were compared with those of
//! the project given by `--project`.
//! Does not cover: how any of it is found (`verify`).

use super::{
    ComparedFiles, ComparedKernels, DerivationExtent, KernelCheck, ProjectCheck, ReportCheck,
    RootCover, Verification, VerificationStatus,
};
use serde_json::{Value, json};
use vkcert_model::wording::plural;

/// Problems printed one by one; all are counted.
const MOST_LISTED_PROBLEMS: usize = 200;

/// One JSON document.
pub fn json_document(verification: &Verification) -> Value {
    json!({
        "schema": 1,
        // Evidence that was not rebuilt as a whole was not verified, even if nothing differs.
        "verified": verification.holds() && verification.extent == DerivationExtent::Whole,
        "status": verification.status().name(),
        "extent": verification.extent.name(),
        "checked": verification.checked,
        "problems": verification.problems,
        "not_rederivable": verification.not_derivable,
        "root": verification.root,
        "reports": verification.reports_hash,
        "root_covers": verification.root_cover.name(),
        "project": project_in_numbers(&verification.project),
        "report_files": { "listed": verification.reports.listed, "unlisted": verification.reports.unlisted },
    })
}

/// Null where no project was given.
fn project_in_numbers(project: &ProjectCheck) -> Value {
    match project {
        ProjectCheck::NotGiven => Value::Null,
        ProjectCheck::NotCompared { folder: folder_name } => {
            json!({
                "folder": folder_name, "inputs": null, "same": null, "unread_requirement_files": null, "kernels": null,
            })
        }
        ProjectCheck::Compared(ComparedFiles {
            folder_name,
            input_count,
            same_files,
            unread_files,
            kernels,
        }) => {
            json!({
                "folder": folder_name, "inputs": input_count, "same": same_files, "unread_requirement_files": unread_files,
                "kernels": kernels_in_numbers(kernels),
            })
        }
    }
}

/// Null where none was compared.
fn kernels_in_numbers(kernel_check: &KernelCheck) -> Value {
    match kernel_check {
        KernelCheck::NotCompared { .. } => Value::Null,
        KernelCheck::Compared(ComparedKernels {
            kernels: kernel_count,
            same_files,
            same_modules,
            other_compiler,
        }) => {
            let same_modules = other_compiler.is_none().then_some(same_modules);
            json!({ "compiled": kernel_count, "same_files": same_files, "same_modules": same_modules })
        }
    }
}

/// The result in lines: the status first, and last the status with its numbers.
pub fn in_words(verification: &Verification) -> String {
    let mut text = format!("result            {}\n", status_in_brief(verification.status()));
    verification
        .problems
        .iter()
        .take(MOST_LISTED_PROBLEMS)
        .for_each(|problem| text.push_str(&format!("differs           {problem}\n")));
    if verification.problems.len() > MOST_LISTED_PROBLEMS {
        text.push_str(&format!(
            "                  ... and {} more\n",
            verification.problems.len() - MOST_LISTED_PROBLEMS
        ));
    }
    verification
        .not_derivable
        .iter()
        .for_each(|reason| text.push_str(&format!("not re-derivable  {reason}\n")));
    if let Some(words) = project_in_words(&verification.project) {
        text.push_str(&format!("project           {words}\n"));
    }
    text.push_str(&format!("root              {}\n", verification.root));
    if let Some(reports_hash) = &verification.reports_hash {
        text.push_str(&format!("report list       {reports_hash}\n"));
    }
    if let (Some(given_root), Some(words)) =
        (&verification.given_root, root_in_words(verification.root_cover))
    {
        text.push_str(&format!("root given        {given_root} {words}\n"));
    }
    text.push_str(&format!(
        "reports           {}\n",
        reports_in_words(&verification.reports, verification.root_cover)
    ));
    text.push_str(&result_line(verification));
    text
}

/// The status, in words that cannot be confused with those of another.
fn status_in_brief(status: VerificationStatus) -> &'static str {
    match status {
        VerificationStatus::Verified => "verified",
        VerificationStatus::InPart => {
            "verified in part, NOT as a whole: what was not derived stands below"
        }
        VerificationStatus::NotVerified => "NOT verified",
    }
}

fn result_line(verification: &Verification) -> String {
    let (statement_count, problems) = (verification.checked, verification.problems.len());
    let underived_sentence = match verification.not_derivable.len() {
        0 => String::new(),
        underived_sentence => format!("; {underived_sentence} not re-derivable, named above"),
    };
    let statements = "hashes, verdicts, statuses and percentages";
    match (verification.status(), verification.extent) {
        (VerificationStatus::NotVerified, _) => {
            let verb = if problems == 1 { "does" } else { "do" };
            format!(
                "NOT verified: {problems} of {statement_count} statements {verb} not hold{underived_sentence}\n"
            )
        }
        (VerificationStatus::Verified, _) => {
            format!("verified: all {statement_count} {statements} follow from the stored records\n")
        }
        (VerificationStatus::InPart, DerivationExtent::Whole) => {
            format!(
                "verified in part, NOT as a whole: {statement_count} {statements} follow from the stored records{underived_sentence}\n"
            )
        }
        (VerificationStatus::InPart, DerivationExtent::WithoutModules) => {
            format!(
                "verified in part, NOT as a whole: {statement_count} statements agree; the kernels were NOT derived from their sources{underived_sentence}\n"
            )
        }
        (VerificationStatus::InPart, DerivationExtent::WithoutInputs) => {
            format!(
                "verified in part, NOT as a whole: {statement_count} statements agree; nothing was derived from the project's files{underived_sentence}\n"
            )
        }
    }
}

/// What was compared with the files of the project; none where no project was given.
fn project_in_words(project: &ProjectCheck) -> Option<String> {
    let ComparedFiles {
        folder_name: folder,
        input_count: inputs,
        same_files: same,
        unread_files: unread,
        kernels,
    } = match project {
        ProjectCheck::NotGiven => return None,
        ProjectCheck::NotCompared { folder } => {
            return Some(format!(
                "`{folder}` was compared with nothing: the evidence cannot be read"
            ));
        }
        ProjectCheck::Compared(compared) => compared,
    };
    let same_count = if same == inputs { "all".to_owned() } else { format!("{same} of") };
    let files_sentence = match inputs {
        0 => format!("compared with nothing in `{folder}`: the evidence names no input file"),
        1 if *same == 1 => {
            format!("the 1 input file of the evidence has the same SHA-256 in `{folder}`")
        }
        _ => format!(
            "{same_count} {inputs} input files of the evidence have the same SHA-256 in `{folder}`"
        ),
    };
    let unread_sentence = match *unread {
        0 => "it has no requirement file that the run did not read".to_owned(),
        _ => {
            let unread_files =
                plural(*unread, "requirement file there was", "requirement files there were");
            format!("{unread_files} not read by the run")
        }
    };
    Some(format!("{files_sentence}; {unread_sentence}; {}", kernels_in_words(kernels)))
}

/// What the kernels were compared with.
fn kernels_in_words(kernels: &KernelCheck) -> String {
    let ComparedKernels { kernels, same_files, same_modules, other_compiler } = match kernels {
        KernelCheck::NotCompared { reason } => {
            return format!("its kernels were not compared: {reason}");
        }
        KernelCheck::Compared(compared) => compared,
    };
    let files_sentence = format!(
        "{same_files} of its {} the same files",
        plural(*kernels, "kernel includes", "kernels include")
    );
    match other_compiler {
        None => {
            format!(
                "{files_sentence}, {same_modules} of {kernels} compile to the same production module"
            )
        }
        Some(other_maker) => format!(
            "{files_sentence}; production modules were not compared: {other_maker} made those of the evidence"
        ),
    }
}

/// What the hash given by `--root` covers.
fn root_in_words(cover: RootCover) -> Option<&'static str> {
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
fn reports_in_words(reports: &ReportCheck, cover: RootCover) -> String {
    let listed_sentence = match &reports.listed {
        None => "not checked: there is no reports.json beside the evidence".to_owned(),
        Some(_) if reports.unreadable => "not checked: reports.json cannot be read".to_owned(),
        Some(names) if names.is_empty() => "none listed in reports.json".to_owned(),
        Some(names) => format!("{} checked against reports.json", names.join(", ")),
    };
    let cover_sentence = match (&reports.listed, cover) {
        (None, _) => String::new(),
        (Some(_), RootCover::EvidenceAndReports) => ", whose SHA-256 is the one given".to_owned(),
        (Some(_), RootCover::Evidence) => {
            ", and nothing else: the SHA-256 given is that of the evidence, which does not cover them".to_owned()
        }
        (Some(_), RootCover::NotGiven | RootCover::Nothing) => {
            ", and nothing else: `--root` with the hash of the report list covers them".to_owned()
        }
    };
    let unlisted_sentence = match reports.unlisted.as_slice() {
        [] => String::new(),
        names => format!("; not checked: {}", names.join(", ")),
    };
    format!("{listed_sentence}{cover_sentence}{unlisted_sentence}")
}
