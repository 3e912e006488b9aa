//! The command line: arguments as typed ([`args`]), what they come to ([`plan`]), commands, exit
//! codes.
//!
//! Promises: with `--format json` stdout holds exactly one JSON document, on errors too;
//! diagnostics go to stderr; output folders appear whole or not at all.

mod archive;
mod args;
mod baseline;
mod bench;
mod bench_overhead;
mod build;
mod cache;
mod campaigns;
mod capture;
mod certify;
mod couple;
mod dissimilar;
mod doctor;
mod events;
mod failure;
mod file_set;
mod findings;
mod init;
mod list;
mod listed_mutants;
mod listed_tests;
mod lower;
mod manual;
mod mcdc;
mod measured_obligations;
mod mutate;
mod obligations;
mod output;
mod pipeline;
mod places;
mod plan;
mod progress;
mod provenance;
#[cfg(test)]
mod reason_projects;
mod requirement_csv;
mod requirements;
mod run;
mod save;
mod schema;
mod shard;
mod translated;
mod unchanged;
#[cfg(any(test, feature = "fuzzing"))]
mod verify;

#[cfg(feature = "fuzzing")]
pub use verify::survive_changes;

use crate::campaign::engines::worker_program;
use crate::campaign::verification::Compiling;
pub use crate::model::exit::Exit;
use args::{Command, CommandLine, OutputForm};
use clap::{CommandFactory, Parser};
use failure::Failure;
use vkcert_deep_stack::STACK_BYTES;

/// Runs the program with the arguments of the process.
pub fn main() -> Exit {
    // An already started pool keeps its stacks; here nothing has started one.
    let _ = rayon::ThreadPoolBuilder::new().stack_size(STACK_BYTES).build_global();
    match std::thread::Builder::new().stack_size(STACK_BYTES).spawn(run_program) {
        // The panic has told its message.
        Ok(program) => program.join().unwrap_or(Exit::Tool),
        Err(error) => {
            failure::print_failure(
                &Failure::tool(format!("cannot start: {error}")),
                args::Color::Auto,
            );
            Exit::Tool
        }
    }
}

/// The allocator asks for pages of 2 MB, each of which the system clears whole when its first byte is
/// touched. Stages of a campaign on many threads touch a little of many: without such pages they take
/// half the memory, and less time.
fn disable_huge_pages() {
    // A system that has none cannot disable them.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}

fn run_program() -> Exit {
    let command_line = match CommandLine::try_parse() {
        Ok(command_line) => command_line,
        Err(error) => return vkcert_verifier::exit_for_usage_error(&error),
    };
    // A captured program inherits this, and shall run as it does without the tool.
    if !matches!(command_line.command, Command::Capture(_)) {
        disable_huge_pages();
    }
    if let Command::VulkanWorker = command_line.command {
        return run_worker();
    }
    if let Command::HeaderReader = command_line.command {
        return run_header_reader();
    }
    if command_line.common.form() == OutputForm::Json {
        crate::crash::report_in_json();
    }
    crate::crash::install_crash_handlers();
    let result = match &command_line.command {
        // The captured program decides what a signal does.
        Command::Capture(_) => run_command(&command_line),
        _ => output::end_cleanly_on_signals().and_then(|()| run_command(&command_line)),
    };
    match result {
        Ok(exit) => exit,
        Err(failure) => {
            if command_line.common.form() == OutputForm::Json {
                // Nothing can be done about a stdout that cannot be written.
                let _ = output::print_text(&format!("{:#}\n", failure::json_document(&failure)));
            }
            let line_form = command_line
                .common
                .line_form()
                .filter(|_| name_without_lines(&command_line.command).is_none());
            if let Some(form) = line_form {
                let _ = output::print_text(&failure::lines(&failure, form));
            }
            failure::print_failure(&failure, command_line.common.color);
            failure::exit_for(&failure)
        }
    }
}

fn run_command(command_line: &CommandLine) -> Result<Exit, Failure> {
    let common = &command_line.common;
    if let Some(name) = name_without_lines(&command_line.command) {
        common.refuse_lines(name)?;
    }
    match &command_line.command {
        Command::Certify(certify) => certify::certify_project(common, certify),
        Command::Build(folder) => build::build_modules(common, folder),
        Command::Run(run) => run::run_procedure(common, run),
        Command::List(list) => list::print_listing(common, list),
        Command::Requirements(arguments) => requirements::print_links(common, arguments),
        Command::Mcdc(mcdc) => mcdc::run_mcdc(common, mcdc),
        Command::Lower(lower) => lower::lower_kernel(common, lower),
        Command::Dissimilar(dissimilar) => dissimilar::measure_dissimilar(common, dissimilar),
        Command::Couple(couple) => couple::check_coupling(common, couple),
        Command::Mutate(arguments) => mutate::mutate_kernels(common, arguments),
        Command::Capture(arguments) => capture::capture_program(common, arguments),
        Command::Report(report) => {
            vkcert_verifier::report::run_report(common, report, &own_toolchain()?)
        }
        Command::Verify(verify) => {
            vkcert_verifier::command::run_verify(common, verify, &own_toolchain()?)
        }
        Command::Archive(arguments) => {
            archive::archive_evidence(common, arguments, &own_toolchain()?)
        }
        Command::Merge(merge) if merge.campaigns => campaigns::compare_campaigns(common, merge),
        Command::Merge(merge) => shard::merge_shards(common, merge, &own_toolchain()?),
        Command::Pipeline(pipeline) => pipeline::print_pipeline(pipeline),
        Command::Cache(command) => cache::run_command(common, command),
        Command::Init(init) => init::create_project(common, init),
        Command::BenchOverhead(bench) => bench_overhead::measure_overhead(common, bench),
        Command::Doctor => doctor::print_checks(common),
        Command::Schema(schema) => schema::print_schema(common, schema),
        Command::Completions(completions) => print_completions(common, completions),
        Command::Manual(arguments) => manual::write_manual(common, arguments),
        Command::VulkanWorker => Ok(run_worker()),
        Command::HeaderReader => Ok(run_header_reader()),
    }
}

/// The compiler that is built in, and this program to read headers.
fn own_toolchain() -> Result<Compiling, Failure> {
    Ok(Compiling { program: Some(worker_program()?), cache: None })
}

/// The name of a command that tells nothing line by line; none of one that does.
fn name_without_lines(command: &Command) -> Option<&'static str> {
    match command {
        Command::Certify(_)
        | Command::Run(_)
        | Command::Couple(_)
        | Command::VulkanWorker
        | Command::HeaderReader => None,
        Command::Build(_) => Some("build"),
        Command::List(_) => Some("list"),
        Command::Requirements(_) => Some("requirements"),
        Command::Mcdc(_) => Some("mcdc"),
        Command::Lower(_) => Some("lower"),
        Command::Dissimilar(_) => Some("dissimilar"),
        Command::Mutate(_) => Some("mutate"),
        Command::Capture(_) => Some("capture"),
        Command::Report(_) => Some("report"),
        Command::Verify(_) => Some("verify"),
        Command::Archive(_) => Some("archive"),
        Command::Merge(_) => Some("merge"),
        Command::Pipeline(_) => Some("pipeline"),
        Command::Cache(_) => Some("cache"),
        Command::Init(_) => Some("init"),
        Command::BenchOverhead(_) => Some("bench-overhead"),
        Command::Doctor => Some("doctor"),
        Command::Schema(_) => Some("schema"),
        Command::Completions(_) => Some("completions"),
        Command::Manual(_) => Some("manual"),
    }
}

fn run_worker() -> Exit {
    if crate::exec::vulkan::worker_main() == 0 { Exit::Success } else { Exit::Tool }
}

/// The process that reads a header.
fn run_header_reader() -> Exit {
    match vkcert_header::answer_request() {
        Ok(()) => Exit::Success,
        Err(message) => {
            eprintln!("{message}");
            Exit::Tool
        }
    }
}

fn print_completions(
    common: &args::Common,
    completions: &args::Completions,
) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(completions.shell, &mut CommandLine::command(), "vkcert", &mut script);
    let script = String::from_utf8_lossy(&script);
    match common.form() {
        OutputForm::Text => output::print_text(&script)?,
        OutputForm::Json => {
            let document =
                serde_json::json!({ "shell": completions.shell.to_string(), "script": script });
            output::print_text(&format!("{document:#}\n"))?;
        }
    }
    Ok(Exit::Success)
}
