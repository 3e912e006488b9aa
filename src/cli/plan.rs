//! From the common arguments to a [`RunPlan`] and the engines that it asks for.

use super::args::{Common, EngineArgument};
use super::failure::Failure;
use super::output;
use crate::campaign::early_end::RunLimits;
use crate::campaign::engines::{EngineSettings, Engines, worker_program};
use crate::campaign::plan::{EngineChoice, EngineRequest, RunPlan};
use crate::exec::vulkan::pool::Workers;
use crate::model::diagnostic::Diagnostic;
use crate::model::finding::{Checks, FindingKind};
use crate::model::verdict::EngineName;

/// Resolves the common options. `check` is the text of `--check`.
pub(super) fn plan_of(common: &Common, check: &str) -> Result<RunPlan, Failure> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(RunPlan {
        // Naming a device asks for the device engine.
        engines: match (common.engine, &common.device) {
            (Some(argument), _) => EngineRequest::Explicit(engine_choice(argument)),
            (None, Some(_)) => EngineRequest::Explicit(EngineChoice::Both),
            (None, None) => EngineRequest::WhatIsThere,
        },
        device: common.device.clone(),
        worker: Some(worker_program()?),
        checks: requested_checks(check)?,
        jobs: common.jobs.map_or(cores, |jobs| jobs as usize),
        workers: common.jobs.map_or(Workers::AsSuits(cores), |jobs| Workers::AtMost(jobs as usize)),
        timeout: common.timeout,
        max_steps: common.max_steps,
        limits: RunLimits::default(),
    })
}

fn engine_choice(argument: EngineArgument) -> EngineChoice {
    match argument {
        EngineArgument::Sequential => EngineChoice::Sequential,
        EngineArgument::Vulkan => EngineChoice::Vulkan,
        EngineArgument::Both => EngineChoice::Both,
    }
}

/// Opens the engines of a run, and prints the notes of their device.
pub(super) fn open_engines(
    plan: &RunPlan,
    project: Option<&[EngineName]>,
    settings: EngineSettings,
) -> Result<Engines, Failure> {
    let engines = Engines::open(plan, project, settings)?;
    tell_notes(&engines);
    Ok(engines)
}

/// Prints the notes of a device.
pub(super) fn tell_notes(engines: &Engines) {
    engines.notes().iter().for_each(|note| output::print_to_stderr(format_args!("note: {note}\n")));
}

/// `all`, `none`, or names of finding kinds.
fn requested_checks(check_list: &str) -> Result<Checks, Failure> {
    match check_list {
        "all" => return Ok(Checks::all()),
        "none" => return Ok(Checks::none()),
        _ => {}
    }
    let mut checks = Checks::none();
    for name in check_list.split(',').map(str::trim) {
        let Some((kind, _)) = FindingKind::ALL.iter().find(|(_, kind_name)| *kind_name == name)
        else {
            let names: Vec<_> = FindingKind::ALL.iter().map(|(_, kind_name)| *kind_name).collect();
            let diagnostic =
                Diagnostic::new("usage", format!("--check: no finding is named `{name}`"));
            return Err(diagnostic
                .hint(format!("use all, none, or some of {}", names.join(", ")))
                .into());
        };
        checks.insert(*kind);
    }
    Ok(checks)
}
