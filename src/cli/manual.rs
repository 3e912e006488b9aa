//! `vkcert manual`: manual pages, made of the same definitions as the help.

use super::args::{CommandLine, Common, Manual, OutputForm};
use super::failure::Failure;
use super::output;
use crate::model::exit::Exit;
use clap::CommandFactory;
use std::fs;

/// Prints the page of the program, or writes one per command.
pub(super) fn write_manual(common: &Common, manual: &Manual) -> Result<Exit, Failure> {
    let program = CommandLine::command();
    let Some(folder) = &manual.out else {
        let mut page = Vec::new();
        let rendered = clap_mangen::Man::new(program).render(&mut page);
        rendered
            .map_err(|error| Failure::tool(format!("the manual page cannot be made: {error}")))?;
        match common.form() {
            OutputForm::Text => output::print_bytes(&page)?,
            OutputForm::Json => {
                let document =
                    serde_json::json!({ "schema": 1, "page": String::from_utf8_lossy(&page) });
                output::print_text(&format!("{document:#}\n"))?;
            }
        }
        return Ok(Exit::Success);
    };
    fs::create_dir_all(folder).map_err(|error| Failure::unwritable(folder, &error))?;
    clap_mangen::generate_to(program, folder)
        .map_err(|error| Failure::unwritable(folder, &error))?;
    if common.form() == OutputForm::Json {
        output::print_text(&format!(
            "{:#}\n",
            serde_json::json!({ "schema": 1, "folder": folder })
        ))?;
    }
    Ok(Exit::Success)
}
