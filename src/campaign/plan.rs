//! What is asked of a run: engines, checks, limits.

use super::early_end::RunLimits;
use std::path::PathBuf;
use std::time::Duration;
use vkcert_model::finding::{Checks, FindingKind};
use vkcert_model::procedure::TestLimits;
use vkcert_model::verdict::EngineName;
use vkcert_vulkan::pool::Workers;

/// The settings of one run, resolved.
#[derive(Debug, Clone)]
pub struct RunPlan {
    /// Engines that are asked for.
    pub engines: EngineRequest,
    /// By name, a part of it, or index.
    pub device: Option<String>,
    /// The program that runs a device in a process of its own (`vkcert`); none: no device runs.
    pub worker: Option<PathBuf>,
    /// Findings that are looked for.
    pub checks: Checks,
    /// Threads for tests on the sequential engine.
    pub jobs: usize,
    /// Workers for tests on a device.
    pub workers: Workers,
    /// Seconds of wall-clock time per run of a test; none: as engines have it.
    pub timeout: Option<f64>,
    /// Instructions per test on the sequential engine, over those of the project.
    pub max_steps: Option<u64>,
    /// What ends the run before all tests have begun.
    pub limits: RunLimits,
}

/// Which engines shall run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineRequest {
    /// Sequential, and Vulkan where a device is found.
    WhatIsThere,
    /// These, and no excuse.
    Explicit(EngineChoice),
}

/// Engines that are asked for by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineChoice {
    /// The sequential engine alone.
    Sequential,
    /// The Vulkan engine alone; a missing device is an error.
    Vulkan,
    /// Both; a missing device is an error.
    Both,
}

impl EngineChoice {
    /// Whether the engine is one of them.
    pub fn includes(self, engine_name: EngineName) -> bool {
        match self {
            EngineChoice::Sequential => engine_name == EngineName::Sequential,
            EngineChoice::Vulkan => engine_name == EngineName::Vulkan,
            EngineChoice::Both => true,
        }
    }
}

impl Default for RunPlan {
    /// The engines that are there, all checks, every core, limits as engines and project have them.
    /// Without a program for it no device runs.
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            engines: EngineRequest::WhatIsThere,
            device: None,
            worker: None,
            checks: Checks::all(),
            jobs: cores,
            workers: Workers::AsSuits(cores),
            timeout: None,
            max_steps: None,
            limits: RunLimits::default(),
        }
    }
}

impl RunPlan {
    /// The wall-clock limit, for an engine that otherwise limits steps alone.
    pub fn time_limit(&self) -> Option<Duration> {
        self.timeout.map(Duration::from_secs_f64)
    }

    /// For deriving evidence again: nothing is typed, and nothing runs but the sequential engine.
    pub fn for_verification(not_looked_for: &[FindingKind]) -> Self {
        let all_kinds = FindingKind::ALL.iter().map(|(kind, _)| *kind);
        let checks = Checks::of_kinds(all_kinds.filter(|kind| !not_looked_for.contains(kind)));
        Self {
            engines: EngineRequest::Explicit(EngineChoice::Sequential),
            device: None,
            worker: None,
            checks,
            jobs: 1,
            workers: Workers::AtMost(1),
            timeout: None,
            max_steps: None,
            limits: RunLimits::default(),
        }
    }

    /// The limits of this run, over those of a test.
    pub fn test_limits(&self) -> TestLimits {
        TestLimits { seconds: self.timeout, steps: self.max_steps, memory_bytes: None }
    }
}
