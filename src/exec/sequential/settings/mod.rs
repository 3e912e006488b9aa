//! How the engine runs: tile width, memory model, cores, order, limits.

use std::time::Duration;
use variation::Variation;
use vkcert_exec::schedule::Following;
pub(crate) use vkcert_exec::variation;
pub use vkcert_model::project::MemoryModel;

/// How the engine runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Invocations that run together, 1 to 1024; 1 is the model of one thread.
    /// Kernels whose subgroups work together run in tiles of whole subgroups.
    pub tile_width: u32,
    /// Invocations of a subgroup where a dispatch does not say: a power of two up to 128.
    pub subgroup_size: u32,
    /// What orders memory.
    pub memory_model: MemoryModel,
    /// On how many cores workgroups run.
    pub jobs: Jobs,
    /// In which order workgroups and tiles run; its tile width, where it has one, goes before the
    /// one above.
    pub following: Following,
    /// Other results than the ordinary ones that the specification permits, for the comparison of
    /// engines.
    pub variation: Option<Variation>,
    /// Wall-clock time that a run may take; none: only its steps are limited.
    pub time_limit: Option<Duration>,
    /// Whether a run that looks for races tells of which schedules they are.
    pub race_scope: RaceScopeWanted,
}

/// Whether a run tells of which schedules its races are, for which its program is analysed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RaceScopeWanted {
    /// It is told.
    Told,
    /// It is left out: whether there is a race is all that is asked.
    Left,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tile_width: 64,
            subgroup_size: 32,
            memory_model: MemoryModel::Idiom,
            jobs: Jobs::One,
            following: Following::default(),
            variation: None,
            time_limit: None,
            race_scope: RaceScopeWanted::Told,
        }
    }
}

/// On how many cores the workgroups of a dispatch run. No result depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Jobs {
    /// One core.
    One,
    /// Up to so many of the rayon pool that the engine is called in, where a dispatch is large
    /// enough.
    Most(usize),
    /// Whatever that costs: after the first `alone`, workgroups go to the workers in turn, `batch`
    /// at a time.
    Dealt {
        /// Workers that workgroups are dealt to.
        workers: usize,
        /// Workgroups that run on one core first.
        alone: u64,
        /// Neighbouring workgroups that go to one worker together.
        batch: u64,
    },
}
