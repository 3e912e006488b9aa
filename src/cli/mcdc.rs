//! `vkcert mcdc EXPR`: the calculus by itself.

use super::args::{Common, Mcdc, OutputForm};
use super::failure::Failure;
use super::output;
use crate::coverage::command::mcdc_command;
use crate::model::exit::Exit;

/// Prints conditions, vectors, independence pairs and what is missing; exit 0 unless the input is
/// wrong.
pub(super) fn run_mcdc(common: &Common, mcdc: &Mcdc) -> Result<Exit, Failure> {
    let result = mcdc_command(&mcdc.expression, mcdc.vectors.as_deref())?;
    match common.form() {
        OutputForm::Json => {
            let value = serde_json::to_value(&result).expect("the result is JSON");
            output::print_text(&format!("{value:#}\n"))?;
        }
        OutputForm::Text => output::print_text(&result.terminal_text())?,
    }
    Ok(Exit::Success)
}
