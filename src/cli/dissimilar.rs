//! `vkcert dissimilar`: kernels built as C++ programs, their outputs and their MC/DC beside those
//! of the engines.
//!
//! Promises: every kernel and specialization that a test runs has its rows; what could not be
//! compared is named and is no agreement. Exit 1 where something differs, 4 where clang is not
//! there or a kernel cannot be translated.

mod coverage;
mod programs;

use super::args::{Common, Dissimilar, OutputForm};
use super::failure::Failure;
use super::output::{self, PendingFolder};
use super::plan;
use super::progress::CampaignProgress;
use super::translated;
use crate::campaign::engines::DeviceEngine;
use crate::campaign::profile::ProjectTarget;
use crate::campaign::{execution, recording};
use crate::dissimilar::clang::{COMPILER_OPTIONS, ClangTools, INSTALL_COMMAND};
use crate::dissimilar::comparison::{Comparison, Summary};
use crate::dissimilar::table;
use crate::model::exit::Exit;
use crate::model::records::Witnesses;
use programs::ProgramBench;
use std::path::PathBuf;

/// Names of what is written.
const TABLE_FILE: &str = "dissimilar.md";
const DOCUMENT_FILE: &str = "dissimilar.json";
const PROGRAMS_SECTION: &str = "dissimilar";

/// Builds, runs, measures and compares.
pub(super) fn measure_dissimilar(
    common: &Common,
    dissimilar_arguments: &Dissimilar,
) -> Result<Exit, Failure> {
    let clang_tools = ClangTools::find_in_path().map_err(|missing| Failure::Unavailable {
        message: format!("the dissimilar measurement needs clang 19: {missing}"),
        hint: Some(INSTALL_COMMAND.to_owned()),
    })?;
    let plan = plan::plan_of(common, "none")?;
    let mut subject = translated::load_subject(&dissimilar_arguments.path)?;
    let mut engines = plan::open_engines(&plan, subject.engines.as_deref(), subject.settings)?;
    recording::apply_for(
        &mut subject.kernels,
        &engines,
        None,
        Witnesses::Omitted,
        &ProjectTarget::Vulkan,
    )?;
    let prepared_tests = subject.prepare_tests(&plan)?;
    let runs =
        execution::run_tests(&prepared_tests, &mut engines, &plan, &CampaignProgress::new(common))?;
    let folder = tempfile::tempdir()
        .map_err(|error| Failure::tool(format!("no temporary folder: {error}")))?;
    let engine = engines.sequential();
    let (subject, clang_tools) = (&subject, &clang_tools);
    let mut program_bench = ProgramBench {
        subject,
        tools: clang_tools,
        folder: folder.path(),
        engine,
        translated: Vec::new(),
    };
    let outputs = program_bench.run_tests(&prepared_tests, &runs)?;
    let device_name = match &engines.vulkan {
        DeviceEngine::Ready(executor) => {
            let device = executor.device();
            Some(format!("{} ({} {})", device.name, device.driver_name, device.driver_info))
        }
        DeviceEngine::NotRun { .. } | DeviceEngine::NotAsked => None,
    };
    let mut comparison = Comparison {
        schema: 1,
        compiler: clang_tools.version.clone(),
        options: COMPILER_OPTIONS.iter().map(|option| (*option).to_owned()).collect(),
        device: device_name,
        kernels: Vec::new(),
        outputs,
        conditions: Vec::new(),
        summary: Summary::default(),
    };
    program_bench.compare_coverage(&prepared_tests, &runs, &mut comparison)?;
    comparison.summarise();
    let table_path = write_comparison(dissimilar_arguments, &program_bench, &comparison)?;
    match common.form() {
        OutputForm::Json => output::print_json(&comparison)?,
        OutputForm::Text => {
            output::print_text(&table::markdown_report(&comparison))?;
            if let Some(path) = table_path {
                super::output::print_to_stderr(format_args!("written: {}\n", path.display()));
            }
        }
    }
    Ok(exit_of_summary(&comparison.summary))
}

fn exit_of_summary(summary: &Summary) -> Exit {
    let unlike_count = summary.disagree + summary.different_outputs + summary.stopped;
    let different = if unlike_count > 0 { Exit::Failed } else { Exit::Success };
    different.and(if summary.unsupported > 0 { Exit::Unavailable } else { Exit::Success })
}

/// Writes table, document and programs; gives the table's path where something was written.
fn write_comparison(
    dissimilar_arguments: &Dissimilar,
    program_bench: &ProgramBench<'_>,
    comparison: &Comparison,
) -> Result<Option<PathBuf>, Failure> {
    let default_folder = dissimilar_arguments.path.join("reports");
    let output_folder = match &dissimilar_arguments.out {
        Some(output_folder) => output_folder,
        None if dissimilar_arguments.path.is_dir() => &default_folder,
        None => return Ok(None),
    };
    let folder = PendingFolder::start(output_folder, PROGRAMS_SECTION)?;
    folder.write(TABLE_FILE, table::markdown_report(comparison).as_bytes())?;
    let document = serde_json::to_string_pretty(comparison)
        .map_err(|error| Failure::tool(error.to_string()))?;
    folder.write(DOCUMENT_FILE, format!("{document}\n").as_bytes())?;
    for (program_number, translated) in program_bench.translated.iter().enumerate() {
        let Ok(ready_program) = &translated.program else { continue };
        let same_kernel_count = program_bench.translated[..program_number]
            .iter()
            .filter(|other_program| other_program.kernel == translated.kernel)
            .count();
        let suffix = if same_kernel_count == 0 {
            String::new()
        } else {
            format!("-{}", same_kernel_count + 1)
        };
        folder.write(
            &format!("{}{suffix}.cpp", translated.kernel),
            ready_program.program.text.as_bytes(),
        )?;
    }
    folder.finish(&[TABLE_FILE, DOCUMENT_FILE])?;
    Ok(Some(output_folder.join(TABLE_FILE)))
}
