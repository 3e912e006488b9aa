//! `vkcert report EVIDENCE`: stored evidence, rendered again.

use super::args::{Coloring, Common, OutputForm, Report};
use super::{output, places};
use base64::Engine as _;
use std::path::Path;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::exit::Exit;
use vkcert_report::{
    self as report_formats, Colour, FormatName, Places, Presentation, Standing, Written, shell_word,
};
use vkcert_verification::{self as verify, DerivationExtent, Toolchain, Verification, VerifyError};

/// Problems told one by one.
const MOST_LISTED_PROBLEMS: usize = 10;

/// Renders one format to stdout or a file. Evidence that does not verify is refused, or stamped on
/// every page.
pub fn run_report<T: Toolchain>(
    common: &Common,
    report: &Report,
    toolchain: &T,
) -> Result<Exit, T::Error> {
    let format: FormatName =
        report.report_format.parse().map_err(|error: report_formats::ReportError| {
            VerifyError::from(
                Diagnostic::new("usage", error.to_string()).hint("see `vkcert list formats`"),
            )
        })?;
    let (verification, stored) = verify::verify_folder(
        &report.evidence,
        &verify::VerificationOptions::default(),
        toolchain,
    )?;
    let unreadable_reason = stored
        .as_deref()
        .map_or_else(|| verification.problems.last().cloned(), verify::why_unreadable);
    if let Some(reason) = unreadable_reason {
        let diagnostic =
            Diagnostic::new("bad-evidence", format!("no report can be made: {reason}"));
        return Err(VerifyError::from(diagnostic).into());
    }
    let Some(stored) = stored else {
        return Err(VerifyError::tool("evidence without a problem is there").into());
    };
    let standing = report_standing(&verification);
    if matches!(standing, Standing::Unverified(_)) && !report.unverified {
        return Ok(refuse_unverified(common, &report.evidence, &verification.problems)?);
    }
    let presentation = Presentation {
        standing,
        ..terminal_presentation(common, None, places::places_of_evidence(&report.evidence))
    };
    let bytes = report_formats::render(&stored, format, &presentation)
        .map_err(|error| VerifyError::tool(error.to_string()))?;
    match &report.output {
        Some(path) => output::write_file(path, &bytes)?,
        None if common.format == OutputForm::Text || format == FormatName::Json => {
            output::print_bytes(&bytes)?
        }
        None => {}
    }
    if common.format == OutputForm::Json && (report.output.is_some() || format != FormatName::Json)
    {
        output::print_text(&format!("{:#}\n", json_document(report, format, &bytes)))?;
    }
    Ok(if verification.holds() { Exit::Success } else { Exit::Failed })
}

fn report_standing(verification: &Verification) -> Standing {
    match (verification.holds(), verification.extent) {
        (false, _) => Standing::Unverified(verification.problems.clone()),
        (true, DerivationExtent::Whole) => Standing::Verified,
        (true, DerivationExtent::WithoutModules | DerivationExtent::WithoutInputs) => {
            Standing::InPart(verification.not_derivable.clone())
        }
    }
}

/// Evidence that does not verify is not shown as if it did.
fn refuse_unverified(
    common: &Common,
    evidence_argument: &Path,
    problems: &[String],
) -> Result<Exit, VerifyError> {
    let message = format!("the evidence does not verify: {} problems", problems.len());
    let evidence_argument = shell_word(&evidence_argument.display().to_string());
    let hint = format!(
        "`vkcert verify {evidence_argument}` lists them; `--unverified` renders all the same, with a stamp on every page"
    );
    match common.format {
        OutputForm::Json => {
            let error = serde_json::json!({
                "kind": "unverified", "message": message, "hint": hint, "file": null, "line": null, "column": null,
            });
            output::print_text(&format!(
                "{:#}\n",
                serde_json::json!({ "error": error, "problems": problems })
            ))?;
        }
        OutputForm::Text => {}
    }
    output::print_to_stderr(format_args!("error: {message}\n"));
    problems
        .iter()
        .take(MOST_LISTED_PROBLEMS)
        .for_each(|problem| output::print_to_stderr(format_args!("  differs  {problem}\n")));
    output::print_to_stderr(format_args!("  help: {hint}\n"));
    Ok(Exit::Failed)
}

/// The rendered report inside a JSON document: where it was written, or its contents.
fn json_document(report: &Report, format: FormatName, bytes: &[u8]) -> serde_json::Value {
    let mut document = serde_json::json!({ "schema": 1, "format": format.to_string() });
    match (&report.output, std::str::from_utf8(bytes)) {
        (Some(path), _) => document["output"] = path.display().to_string().into(),
        (None, Ok(text)) => document["text"] = text.into(),
        (None, Err(_)) => {
            document["bytes"] = base64::engine::general_purpose::STANDARD.encode(bytes).into()
        }
    }
    document
}

/// How the terminal summary looks here.
pub fn terminal_presentation(
    common: &Common,
    written: Option<Written>,
    places: Places,
) -> Presentation {
    let colour = match common.color.on_stdout() {
        Coloring::Colored => Colour::Ansi,
        Coloring::Plain => Colour::Plain,
    };
    let width = output::stdout_width().unwrap_or(u16::MAX);
    Presentation { colour, width, written, standing: Standing::Verified, places }
}
