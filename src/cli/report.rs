//! `vkcert report EVIDENCE`: stored evidence, rendered again.

use super::args::{Coloring, Common, Report};
use super::exit::Exit;
use super::failure::Failure;
use super::{evidence, output};
use crate::model::diagnostic::Diagnostic;
use crate::report::{self, Colour, FormatName, Presentation};

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
        None => output::print_bytes(&bytes)?,
    }
    Ok(if tampering.problems.is_empty() { Exit::Success } else { Exit::Failed })
}

/// How the terminal summary looks here.
pub fn presentation(common: &Common, written: Vec<String>) -> Presentation {
    let colour = match common.color.on_stdout() {
        Coloring::Colored => Colour::Ansi,
        Coloring::Plain => Colour::Plain,
    };
    Presentation { colour, width: 100, written }
}
