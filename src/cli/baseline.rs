//! `vkcert certify --baseline`: the run beside an earlier one, and whether it may fail for what is
//! worse alone.
//!
//! Promises: a baseline that does not verify, or is of another project, stops the run before it
//! begins; evidence and reports are the same with and without a baseline.
//! Does not cover: what differs (`report::compare_with_baseline`).

use super::args::{Certify, Common, FailOn};
use super::failure::Failure;
use super::output;
use crate::derivation::files::canonical_bytes;
use crate::model::baseline::{BaselineComparison, ChangeEffect};
use crate::model::diagnostic::Diagnostic;
use crate::model::evidence::Evidence;
use crate::model::exit::Exit;
use crate::model::path::display_path;
use crate::report::{baseline_in_words, baseline_sentence, compare_with_baseline};
use crate::verify::{NoToolchain, VerificationOptions, verify_read_folder};
use std::path::Path;
use vkcert_verifier::archive::EvidenceSource;

/// The file with all changes, beside the reports.
pub(super) const BASELINE: &str = "baseline.json";

/// Reads the evidence that `--baseline` names: a folder or an archive.
pub(super) fn read_baseline(
    certify: &Certify,
    project: &str,
) -> Result<Option<Box<Evidence>>, Failure> {
    let Some(path) = &certify.baseline else {
        return match certify.fail_on {
            FailOn::Conclusion => Ok(None),
            FailOn::Regression => {
                let message = "--fail-on regression goes with --baseline";
                Err(Diagnostic::new("usage", message).into())
            }
        };
    };
    evidence_of_project(path, project).map(Some)
}

/// Evidence of an earlier run of a project, a folder or an archive; that of another project is refused.
pub(super) fn evidence_of_project(path: &Path, project: &str) -> Result<Box<Evidence>, Failure> {
    match verified_evidence(path)? {
        Ok(stored) if stored.campaign.project.name == project => Ok(stored),
        Ok(stored) => {
            let message = format!("it is of the project `{}`", stored.campaign.project.name);
            Err(refused(path, &message))
        }
        Err(message) => Err(refused(path, &message)),
    }
}

/// Evidence of an earlier run, a folder or an archive, or why it is none that can be relied on.
pub(super) fn verified_evidence(path: &Path) -> Result<Result<Box<Evidence>, String>, Failure> {
    let folder = EvidenceSource::open(path)?.read()?;
    let options = VerificationOptions::default();
    let (verification, stored) = verify_read_folder(&folder, &options, &NoToolchain)?;
    Ok(match (stored, verification.problems.first()) {
        (Some(stored), None) => Ok(stored),
        (_, Some(problem)) => Err(format!("it does not verify: {problem}")),
        (None, None) => Err("it holds no campaign".to_owned()),
    })
}

fn refused(path: &Path, message: &str) -> Failure {
    let message = format!("this evidence is no baseline: {message}");
    Diagnostic::new("bad-baseline", message).in_file(display_path(path)).into()
}

/// Both runs, and the bytes of [`BASELINE`].
pub(super) struct Compared {
    pub(super) comparison: BaselineComparison,
    pub(super) bytes: Vec<u8>,
}

pub(super) fn compared(baseline: &Evidence, now: &Evidence) -> Result<Compared, Failure> {
    let unwritable = |error: serde_json::Error| Failure::tool(error.to_string());
    let comparison = compare_with_baseline(baseline, now).map_err(unwritable)?;
    let bytes = canonical_bytes(&comparison).map_err(unwritable)?;
    Ok(Compared { comparison, bytes })
}

/// Prints what differs behind the summary of the run.
pub(super) fn print_comparison(
    common: &Common,
    certify: &Certify,
    comparison: &BaselineComparison,
) -> Result<(), Failure> {
    let width = output::stdout_width().unwrap_or(100);
    let mut text = baseline_in_words(comparison, width);
    if certify.fail_on == FailOn::Regression {
        let sentence = baseline_sentence(comparison);
        let code = regression_exit(comparison).code();
        text.push_str(&format!("\n  Exit code {code} (--fail-on regression): {sentence}\n"));
    }
    if !common.quiet || comparison.count(ChangeEffect::Worse) > 0 {
        output::print_text(&text)?;
    }
    Ok(())
}

/// How a run ends that is to fail for what is worse alone.
pub(super) fn regression_exit(comparison: &BaselineComparison) -> Exit {
    match comparison.count(ChangeEffect::Worse) {
        0 => Exit::Success,
        _ => Exit::Failed,
    }
}
