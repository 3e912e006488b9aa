//! `vkcert report EVIDENCE`: stored evidence, rendered again.

use super::args::{Coloring, Common, OutputForm, Report};
use super::exit::Exit;
use super::failure::Failure;
use super::{evidence, output};
use crate::model::diagnostic::Diagnostic;
use crate::report::{self, Colour, FormatName, Presentation};
use base64::Engine as _;

/// Renders one format to stdout or a file. Evidence whose hashes do not hold is rendered all the same, with a warning.
pub fn command(common: &Common, report: &Report) -> Result<Exit, Failure> {
    let format: FormatName = report.report_format.parse().map_err(|error: report::ReportError| {
        Failure::from(Diagnostic::new("usage", error.to_string()).hint("see `vkcert list formats`"))
    })?;
    let (stored, tampering) = evidence::load(&report.evidence)?;
    for problem in &tampering.problems {
        eprintln!("warning: {problem}");
    }
    let presentation = presentation(common, Vec::new());
    let bytes = report::render(&stored, format, &presentation).map_err(|error| Failure::tool(error.to_string()))?;
    match &report.output {
        Some(path) => output::write_file(path, &bytes)?,
        None if common.format == OutputForm::Text || format == FormatName::Json => output::print_bytes(&bytes)?,
        None => {}
    }
    if common.format == OutputForm::Json && (report.output.is_some() || format != FormatName::Json) {
        output::print(&format!("{:#}\n", document(report, format, &bytes)))?;
    }
    Ok(if tampering.problems.is_empty() { Exit::Success } else { Exit::Failed })
}

/// The rendered report inside a JSON document: where it was written, or its contents.
fn document(report: &Report, format: FormatName, bytes: &[u8]) -> serde_json::Value {
    let mut document = serde_json::json!({ "schema": 1, "format": format.to_string() });
    match (&report.output, std::str::from_utf8(bytes)) {
        (Some(path), _) => document["output"] = path.display().to_string().into(),
        (None, Ok(text)) => document["text"] = text.into(),
        (None, Err(_)) => document["bytes"] = base64::engine::general_purpose::STANDARD.encode(bytes).into(),
    }
    document
}

/// How the terminal summary looks here.
pub fn presentation(common: &Common, written: Vec<String>) -> Presentation {
    let colour = match common.color.on_stdout() {
        Coloring::Colored => Colour::Ansi,
        Coloring::Plain => Colour::Plain,
    };
    Presentation { colour, width: stdout_width(), written }
}

/// Columns of the terminal; what does not go to a terminal is not cut.
fn stdout_width() -> u16 {
    terminal_size::terminal_size_of(std::io::stdout()).map_or(u16::MAX, |(width, _)| width.0)
}
