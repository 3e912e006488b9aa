//! The sequential engine: a kernel as the single-thread-equivalent program that its lowering is.
//!
//! Knows: SPIR-V compute modules. A module is decoded into a register program (`decode`, `ops`), in which workgroups run
//! one after the other and the invocations of a workgroup run tile by tile to each barrier (`machine`), in any order
//! (`schedule`); `lower` prints the same form for people.
//! Promises: race-free kernels give the same result for every tile width and order; findings carry places and witnesses; what the
//! engine cannot run is `Completion::Unsupported` by name before anything runs.
//! Does not cover: sparse images.

mod access;
mod aliasing;
mod contents;
mod contract;
mod decode;
mod everyone;
mod findings;
mod happens;
mod image;
mod indirect;
mod lanes;
mod layout;
mod listing;
mod lower;
mod machine;
mod marks;
mod memory;
mod needed;
pub mod ops;
mod order;
mod ordering;
mod origins;
mod outline;
mod path;
mod print;
pub mod program;
mod programs;
mod racers;
mod reads;
mod record;
mod run;
mod schedule;
mod settle;
mod shadow;
mod sharing;
mod step;
mod subgroup;
pub mod support;
mod unset;
mod unwritten;
mod variation;
mod waiting;
mod yielding;

pub use decode::Unsupported;
pub use lower::{Lowered, loop_decisions, lower};
pub use programs::Tally;
pub use reads::{BufferReads, DispatchReads, MOST_GROUPS, ReadBytes, WatchedReads};
pub use run::{DispatchedStores, ScheduleDependence, SequentialExecutor, SequentialRun, StoredBytes, byte_ranges};
pub use variation::{Arbitrary, ChanceTrial, Direction, Expansion, Flush, Preferred, Products, Variation};

use super::schedule::Following;
use std::time::Duration;

/// How the engine runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Invocations that run together, 1 to 1024; 1 is the model of one thread.
    /// Kernels whose subgroups work together run in tiles of whole subgroups.
    pub tile_width: u32,
    /// Invocations of a subgroup where a dispatch does not say: a power of two up to 128.
    pub subgroup_size: u32,
    pub memory_model: MemoryModel,
    pub jobs: Jobs,
    /// In which order workgroups and tiles run; its tile width, where it has one, goes before the one above.
    pub following: Following,
    /// Other results than the ordinary ones that the specification permits, for the comparison of engines.
    pub variation: Option<Variation>,
    /// Wall-clock time that a run may take; none: only its steps are limited.
    pub time_limit: Option<Duration>,
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
        }
    }
}

/// On how many cores the workgroups of a dispatch run. No result depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Jobs {
    One,
    /// Up to so many of the rayon pool that the engine is called in, where a dispatch is large enough.
    Most(usize),
    /// Whatever that costs: after the first `alone`, workgroups go to the workers in turn, `batch` at a time.
    Dealt {
        workers: usize,
        alone: u64,
        batch: u64,
    },
}

/// What orders buffer accesses of the invocations of a workgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryModel {
    /// One memory barrier that covers the memory, directly before `barrier()`.
    #[default]
    Idiom,
    /// Release before and acquire after, or a control barrier whose own semantics cover the memory.
    Spec,
}
