//! `--history DIR`: the stored runs beside the run of a report.
//!
//! Promises: what is left out of a trend is told at once, not in the report alone. Does not cover:
//! which runs hold (`verify`).

use super::output;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_report::{DOCUMENTS, DocumentName, FORMATS, FormatName, History};
use vkcert_verification::VerifyError;

/// Folders that are told one by one.
const MOST_TOLD_FOLDERS: usize = 10;

/// Refuses a trend in a report that has no chapter for it.
///
/// # Errors
/// Where the format has no documents, or the document has no such chapter.
pub fn refuse_without_trend(format: FormatName, document: DocumentName) -> Result<(), VerifyError> {
    let message = if !format.row().has_documents {
        let able = FORMATS.iter().filter(|row| row.has_documents).map(|row| row.word);
        let able: Vec<&str> = able.collect();
        format!("--history goes with --report-format {} alone", able.join(" or "))
    } else if !document.row().has_trend() {
        let able = DOCUMENTS.iter().filter(|row| row.has_trend()).map(|row| row.word);
        let able: Vec<&str> = able.collect();
        format!("--history goes with the documents {} alone", able.join(", "))
    } else {
        return Ok(());
    };
    Err(Diagnostic::new("usage", message).into())
}

/// Notes on stderr what the trend does not show.
pub fn tell_left_out(history: &History) {
    for run in history.left_out.iter().take(MOST_TOLD_FOLDERS) {
        output::print_to_stderr(format_args!(
            "note: --history leaves out {}: {}\n",
            run.folder, run.reason
        ));
    }
    let untold_count = history.left_out.len().saturating_sub(MOST_TOLD_FOLDERS);
    if untold_count > 0 {
        output::print_to_stderr(format_args!(
            "note: --history leaves out {untold_count} more; the report lists all of them\n"
        ));
    }
    if history.unsearched_folders > 0 {
        output::print_to_stderr(format_args!(
            "note: --history: {} folders are too deep to be looked into\n",
            history.unsearched_folders
        ));
    }
}
