//! The command line: arguments as typed ([`args`]), what they come to ([`plan`]), commands, exit
//! codes.
//!
//! Promises: with `--format json` stdout holds exactly one JSON document, on errors too;
//! diagnostics go to stderr; output folders appear whole or not at all.

mod args;
mod bench;
mod bench_overhead;
mod build;
mod certify;
mod couple;
mod dissimilar;
mod doctor;
mod failure;
mod findings;
mod init;
mod list;
mod lower;
mod manual;
mod mcdc;
mod measured_obligations;
mod obligations;
mod output;
mod places;
mod plan;
mod progress;
#[cfg(test)]
mod reason_projects;
mod requirements;
mod run;
mod save;
mod schema;
mod translated;
#[cfg(any(test, feature = "fuzzing"))]
mod verify;

#[cfg(feature = "fuzzing")]
pub use verify::survive_changes;

use crate::campaign::certification::STACK_BYTES;
use crate::campaign::verification::Compiling;
pub use crate::model::exit::Exit;
use args::{Command, CommandLine, OutputForm};
use clap::{CommandFactory, Parser};
use failure::Failure;

/// Runs the program with the arguments of the process.
pub fn main() -> Exit {
    // An already started pool keeps its stacks; here nothing has started one.
    let _ = rayon::ThreadPoolBuilder::new().stack_size(STACK_BYTES).build_global();
    match std::thread::Builder::new().stack_size(STACK_BYTES).spawn(program) {
        // The panic has told its message.
        Ok(program) => program.join().unwrap_or(Exit::Tool),
        Err(error) => {
            failure::print(&Failure::tool(format!("cannot start: {error}")), args::Color::Auto);
            Exit::Tool
        }
    }
}

fn program() -> Exit {
    let line = match CommandLine::try_parse() {
        Ok(line) => line,
        Err(error) => return vkcert_verifier::unreadable(&error),
    };
    if let Command::VulkanWorker = line.command {
        return worker();
    }
    if line.common.format == OutputForm::Json {
        crate::crash::tell_in_json();
    }
    crate::crash::tell_crashes();
    let result = output::end_cleanly_on_signals().and_then(|()| dispatch(&line));
    match result {
        Ok(exit) => exit,
        Err(failure) => {
            if line.common.format == OutputForm::Json {
                // Nothing can be done about a stdout that cannot be written.
                let _ = output::print(&format!("{:#}\n", failure::json(&failure)));
            }
            failure::print(&failure, line.common.color);
            failure::exit_of(&failure)
        }
    }
}

fn dispatch(line: &CommandLine) -> Result<Exit, Failure> {
    let common = &line.common;
    match &line.command {
        Command::Certify(certify) => certify::command(common, certify),
        Command::Build(folder) => build::command(common, folder),
        Command::Run(run) => run::command(common, run),
        Command::List(list) => list::command(common, list),
        Command::Requirements(asked) => requirements::command(common, asked),
        Command::Mcdc(mcdc) => mcdc::command(common, mcdc),
        Command::Lower(lower) => lower::command(common, lower),
        Command::Dissimilar(dissimilar) => dissimilar::command(common, dissimilar),
        Command::Couple(couple) => couple::command(common, couple),
        Command::Report(report) => vkcert_verifier::report::command(common, report, &Compiling),
        Command::Verify(verify) => vkcert_verifier::command::command(common, verify, &Compiling),
        Command::Init(init) => init::command(common, init),
        Command::BenchOverhead(bench) => bench_overhead::command(common, bench),
        Command::Doctor => doctor::command(common),
        Command::Schema(schema) => schema::command(common, schema),
        Command::Completions(completions) => completions_command(common, completions),
        Command::Manual(asked) => manual::command(common, asked),
        Command::VulkanWorker => Ok(worker()),
    }
}

fn worker() -> Exit {
    if crate::exec::vulkan::worker_main() == 0 { Exit::Success } else { Exit::Tool }
}

fn completions_command(
    common: &args::Common,
    completions: &args::Completions,
) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(completions.shell, &mut CommandLine::command(), "vkcert", &mut script);
    let script = String::from_utf8_lossy(&script);
    match common.format {
        OutputForm::Text => output::print(&script)?,
        OutputForm::Json => {
            let document =
                serde_json::json!({ "shell": completions.shell.to_string(), "script": script });
            output::print(&format!("{document:#}\n"))?;
        }
    }
    Ok(Exit::Success)
}
