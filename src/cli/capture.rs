//! `vkcert capture`: a host program is run with the layer that records it, and captures are read.
//!
//! Promises: the program has its own input and output (with `--format json` its output goes to
//! stderr, because stdout holds one document); a capture appears whole or not at all; nothing is
//! called captured where the layer was not loaded.

mod record;
mod shown;

use super::args::{Capture, Common, OutputForm};
use super::failure::Failure;
use super::output;
use crate::campaign::project;
use crate::model::diagnostic::Diagnostic;
use crate::model::exit::Exit;
use crate::model::path::display_path;
use crate::model::requirement::Interface;
use crate::requirement::document::FileSyntax;
use crate::requirement::{Located, ProcedureFile, parse_procedure};
use serde_json::{Value, json};
use std::path::Path;
use vkcert_capture::file::{CaptureReader, Completeness};
use vkcert_capture::program::Program;
use vkcert_capture_check::{CaptureReport, StatedKernel, captured_procedure, check_program};

/// Records a program, or reads a capture.
pub(super) fn capture_program(common: &Common, arguments: &Capture) -> Result<Exit, Failure> {
    if let Some(file) = &arguments.check {
        return check_capture(common, file, arguments.project.as_deref());
    }
    if let Some(file) = &arguments.show {
        return show_capture(common, file);
    }
    if let (Some(file), Some(dispatch)) = (&arguments.procedure, arguments.dispatch) {
        return print_procedure(file, dispatch);
    }
    if arguments.program.is_empty() {
        let diagnostic = Diagnostic::new("usage", "no program is named");
        return Err(diagnostic.hint("vkcert capture -- PROGRAM ARGUMENTS").into());
    }
    record::record_program(common, arguments)
}

/// Makes the checks; exit 1 where one is refuted or undetermined, as for `vkcert couple`.
fn check_capture(common: &Common, file: &Path, project: Option<&Path>) -> Result<Exit, Failure> {
    let program = Program::read(file)?;
    let report = match project {
        None => check_program(&program, &[]),
        Some(folder) => check_against_project(&program, folder)?,
    };
    match common.form() {
        OutputForm::Json => {
            output::print_json(&json!({
                "schema": 1,
                "capture": shown::summary(&program),
                "checks": report.checks,
                "remarks": report.remarks,
            }))?;
        }
        OutputForm::Text => {
            output::print_text(&shown::report_in_words(&report, output::stdout_width()))?;
        }
    }
    Ok(if report.all_hold() { Exit::Success } else { Exit::Failed })
}

/// Makes the checks with what a project states; its kernels are compiled, to be found by their code.
fn check_against_project(program: &Program, folder: &Path) -> Result<CaptureReport, Failure> {
    let loaded = project::load_project(folder)?;
    let kernels = project::compile_kernels(&loaded)?;
    let stated_kernel = |interface: &'_ Located<Interface>| {
        let kernel = kernels.iter().find(|kernel| kernel.name == interface.kernel.as_str());
        kernel.map(|kernel| kernel.production.iter().flat_map(|word| word.to_le_bytes()).collect())
    };
    let stated: Vec<StatedKernel> = loaded
        .interfaces
        .iter()
        .filter_map(|interface| {
            let module = stated_kernel(interface)?;
            Some(StatedKernel { name: interface.kernel.as_str(), module, interface })
        })
        .collect();
    Ok(check_program(program, &stated))
}

fn show_capture(common: &Common, file: &Path) -> Result<Exit, Failure> {
    let program = Program::read(file)?;
    match common.form() {
        OutputForm::Json => output::print_json(&json!({
            "schema": 1,
            "capture": shown::summary(&program),
            "operations": shown::operations(&program),
        }))?,
        OutputForm::Text => {
            let mut text = shown::summary_in_words(&program);
            for (index, line) in shown::operations(&program).iter().enumerate() {
                text.push_str(&format!("{:>6}  {line}\n", index + 1));
            }
            output::print_text(&text)?;
        }
    }
    Ok(match program.completeness {
        Completeness::Complete => Exit::Success,
        Completeness::Incomplete(_) => Exit::Failed,
    })
}

fn print_procedure(file: &Path, dispatch: u32) -> Result<Exit, Failure> {
    output::print_json(&procedure_document(file, dispatch)?)?;
    Ok(Exit::Success)
}

/// A dispatch as a test procedure; what the procedure cannot say goes to stderr.
fn procedure_document(file: &Path, dispatch: u32) -> Result<Value, Failure> {
    let program = Program::read(file)?;
    let captured = captured_procedure(&program, dispatch)
        .map_err(|message| Diagnostic::new("capture", message).in_file(display_path(file)))?;
    for remark in &captured.remarks {
        output::print_to_stderr(format!("note: {remark}\n"));
    }
    Ok(captured.document)
}

/// The same as `vkcert run` takes it. Places are told of a text that is called after the capture and
/// the dispatch.
pub(super) fn dispatch_to_run(file: &Path, dispatch: u32) -> Result<ProcedureFile, Failure> {
    let text = format!("{:#}", procedure_document(file, dispatch)?);
    let name = format!("{} (dispatch {dispatch})", display_path(file));
    let folder = file.parent().unwrap_or(Path::new(""));
    Ok(parse_procedure(&name, &text, FileSyntax::Json, folder)?)
}

/// Whether a file is a capture, so that a dispatch has to be named.
pub(super) fn is_capture(file: &Path) -> bool {
    // A pipe may never open.
    let is_file = std::fs::metadata(file).is_ok_and(|metadata| metadata.is_file());
    is_file && CaptureReader::open(file).is_ok()
}
