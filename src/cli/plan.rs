//! What the arguments come to: engines asked for, checks, limits.

use super::args::{Common, EngineChoice};
use super::failure::Failure;
use crate::exec::vulkan::pool::Workers;
use crate::model::diagnostic::Diagnostic;
use crate::model::finding::{Checks, FindingKind};
use crate::model::procedure::TestLimits;
use std::time::Duration;

/// The settings of one run, resolved.
#[derive(Debug, Clone)]
pub struct Plan {
    pub engines: EngineRequest,
    /// `--device`
    pub device: Option<String>,
    pub checks: Checks,
    /// Threads for tests on the sequential engine.
    pub jobs: usize,
    /// Workers for tests on a device.
    pub workers: Workers,
    timeout: Option<f64>,
    max_steps: Option<u64>,
}

/// Which engines shall run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineRequest {
    /// Sequential, and Vulkan where a device is found.
    WhatIsThere,
    /// These, and no excuse.
    Explicit(EngineChoice),
}

impl Plan {
    /// Resolves the common options. `check` is the text of `--check`.
    pub fn new(common: &Common, check: &str) -> Result<Self, Failure> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            // A device that is named is a device that is asked for.
            engines: match (common.engine, &common.device) {
                (Some(choice), _) => EngineRequest::Explicit(choice),
                (None, Some(_)) => EngineRequest::Explicit(EngineChoice::Both),
                (None, None) => EngineRequest::WhatIsThere,
            },
            device: common.device.clone(),
            checks: checks(check)?,
            jobs: common.jobs.map_or(cores, |jobs| jobs as usize),
            workers: common.jobs.map_or(Workers::AsSuits(cores), |jobs| Workers::AtMost(jobs as usize)),
            timeout: common.timeout,
            max_steps: common.max_steps,
        })
    }

    /// `--timeout`, for an engine that otherwise limits steps alone.
    pub fn time_limit(&self) -> Option<Duration> {
        self.timeout.map(Duration::from_secs_f64)
    }

    /// For deriving evidence again: nothing is typed, and nothing runs but the sequential engine.
    pub fn for_verification(not_looked_for: &[FindingKind]) -> Self {
        let mut checks = Checks::all();
        checks.kinds.retain(|kind| !not_looked_for.contains(kind));
        Self {
            engines: EngineRequest::Explicit(EngineChoice::Sequential),
            device: None,
            checks,
            jobs: 1,
            workers: Workers::AtMost(1),
            timeout: None,
            max_steps: None,
        }
    }

    /// Limits from the command line, over those of a test.
    pub fn limits(&self) -> TestLimits {
        TestLimits { seconds: self.timeout, steps: self.max_steps, memory_bytes: None }
    }
}

/// `all`, `none`, or names of finding kinds.
fn checks(text: &str) -> Result<Checks, Failure> {
    match text {
        "all" => return Ok(Checks::all()),
        "none" => return Ok(Checks::none()),
        _ => {}
    }
    let mut checks = Checks::none();
    for name in text.split(',').map(str::trim) {
        let Some((kind, _)) = FindingKind::ALL.iter().find(|(_, known)| *known == name) else {
            let names: Vec<_> = FindingKind::ALL.iter().map(|(_, name)| *name).collect();
            let diagnostic = Diagnostic::new("usage", format!("--check: no finding is named `{name}`"));
            return Err(diagnostic.hint(format!("use all, none, or some of {}", names.join(", "))).into());
        };
        checks.kinds.insert(*kind);
    }
    Ok(checks)
}
