//! What reads evidence for a user: arguments, diagnostics, and the commands `verify` and `report`;
//! and the small program that does nothing else.
//!
//! Knows: a toolchain, if the caller has one. Promises: both programs say the same in the same
//! words, and exit alike.
//! Does not cover: compiling kernels and running tests (`vkcert`).

pub mod archive;
pub mod args;
pub mod command;
pub mod failure;
pub mod history;
pub mod output;
pub mod places;
pub mod report;
mod split_files;

use args::{Color, Command, CommandLine, OutputForm};
use clap::Parser;
use vkcert_deep_stack::STACK_BYTES;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::exit::Exit;
use vkcert_verification::{NoToolchain, VerifyError};

/// Runs the small program with the arguments of the process.
pub fn main() -> Exit {
    // An already started pool keeps its stacks; here nothing has started one.
    let _ = rayon::ThreadPoolBuilder::new().stack_size(STACK_BYTES).build_global();
    match std::thread::Builder::new().stack_size(STACK_BYTES).spawn(run_command) {
        // The panic has told its message.
        Ok(program) => program.join().unwrap_or(Exit::Tool),
        Err(error) => {
            let failure = VerifyError::tool(format!("cannot start: {error}"));
            failure::print_failure((&failure).into(), Color::Auto);
            Exit::Tool
        }
    }
}

fn run_command() -> Exit {
    let command_line = match CommandLine::try_parse() {
        Ok(command_line) => command_line,
        Err(error) => return exit_for_usage_error(&error),
    };
    let common = &command_line.common;
    let name = match &command_line.command {
        Command::Report(_) => "report",
        Command::Verify(_) => "verify",
    };
    let is_known_form = common.refuse_lines(name).map_err(VerifyError::from);
    let result = is_known_form.and_then(|()| match &command_line.command {
        Command::Report(report) => report::run_report(common, report, &NoToolchain),
        Command::Verify(verify) => command::run_verify(common, verify, &NoToolchain),
    });
    result.unwrap_or_else(|error| {
        if common.form() == OutputForm::Json {
            // Nothing can be done about a stdout that cannot be written.
            let _ = output::print_text(&format!("{:#}\n", failure::json_document((&error).into())));
        }
        failure::print_failure((&error).into(), common.color);
        failure::exit_for((&error).into())
    })
}

/// A command line that does not parse; `--help` and `--version` arrive here too.
pub fn exit_for_usage_error(error: &clap::Error) -> Exit {
    if !error.use_stderr() {
        // Help and version: a closed stdout is no failure.
        let _ = error.print();
        return Exit::Success;
    }
    if asks_for_json() {
        let message = error.to_string();
        // The first paragraph; behind it stand the usage line and a pointer to the help.
        let first_paragraph = message.lines().map(str::trim).take_while(|line| !line.is_empty());
        let first_paragraph = first_paragraph.collect::<Vec<_>>().join(" ");
        let diagnostics = [Diagnostic::new("usage", first_paragraph.trim_start_matches("error: "))];
        let _ = output::print_text(&format!(
            "{:#}\n",
            failure::json_document(failure::Failure::Input(&diagnostics))
        ));
    }
    let _ = error.print();
    Exit::Usage
}

/// Whether the arguments hold `--format json`, though they do not parse as a whole.
fn asks_for_json() -> bool {
    let arguments: Vec<String> =
        std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    arguments.iter().any(|argument| argument == "--format=json")
        || arguments.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json")
}
