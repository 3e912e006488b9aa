//! What stops a command, as the program tells it.

pub(super) use crate::campaign::CampaignError as Failure;
use crate::cli::args::Color;
use crate::model::exit::Exit;
use crate::report::{DiagnosticLine, LineForm, LineLevel};
use vkcert_verifier::failure;

fn printable_failure(failure: &Failure) -> failure::Failure<'_> {
    match failure {
        Failure::Input(diagnostics) => failure::Failure::Input(diagnostics),
        Failure::Tool { message, path } => {
            failure::Failure::Tool { message, path: path.as_deref() }
        }
        Failure::Unavailable { message, hint } => {
            failure::Failure::Unavailable { message, hint: hint.as_deref() }
        }
    }
}

/// How the program ends after a failure.
pub(super) fn exit_for(failure: &Failure) -> Exit {
    failure::exit_for(printable_failure(failure))
}

/// The `{"error": ...}` document: the first diagnostic, and all of them where there are more.
pub(super) fn json_document(failure: &Failure) -> serde_json::Value {
    failure::json_document(printable_failure(failure))
}

/// Prints a failure to stderr for people.
pub(super) fn print_failure(failure: &Failure, color: Color) {
    failure::print_failure(printable_failure(failure), color);
}

/// A line for each diagnostic.
pub(super) fn lines(failure: &Failure, form: LineForm) -> String {
    let document = json_document(failure);
    let errors = match document["errors"].as_array() {
        Some(errors) => errors.clone(),
        None => vec![document["error"].clone()],
    };
    let line_of = |error: &serde_json::Value| {
        let number = |key: &str| error[key].as_u64().and_then(|number| u32::try_from(number).ok());
        let line = DiagnosticLine {
            level: LineLevel::Error,
            file: error["file"].as_str(),
            line: number("line"),
            column: number("column"),
            kind: error["kind"].as_str().unwrap_or("error"),
            message: error["message"].as_str().unwrap_or_default(),
        };
        line.in_form(form)
    };
    errors.iter().map(line_of).collect()
}
