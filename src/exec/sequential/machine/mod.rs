//! The machine: runs a program workgroup by workgroup, tile by tile, to barriers and to the end.
//!
//! Knows: a tile is a run of consecutive invocations of a workgroup; its lanes stand at blocks, and
//! the lowest block that has lanes runs next, for all of them at once (see `ir` for why they come
//! together again). At a barrier a lane leaves the tile's frontier and waits with the identity of
//! the barrier; when no lane of the workgroup can run, the identities are compared. The state has
//! four parts: what lanes hold (`registers`), what they reach (`dispatch_memory`), what is noticed
//! of them (`monitor`) and where the run stands (`scheduler`).
//! Promises: workgroups run in linear order, x fastest, and tiles in theirs, unless a schedule has
//! them otherwise (`workgroup_order`); invocations of a tile in local-index order. Lanes that read
//! in a loop until others have written let these go on first (`spin_detection`).
//! Does not cover: which workgroups run on several cores (`speculative_parallel`).

mod access;
mod access_observers;
mod access_step;
mod addressing;
mod atomic;
mod barriers;
mod bounds;
mod byte_access;
mod choice;
mod clash;
mod control_flow;
mod control_trace;
mod cooperative_matrix;
pub(crate) mod directed_yield;
mod dispatch_memory;
mod dot_product;
mod execute;
pub(crate) mod finding_collector;
mod held_lanes;
pub(crate) mod image;
mod indirect_access;
mod indirect_targets;
mod judging;
mod monitor;
mod origins;
pub(crate) mod printer;
mod printing;
mod races;
pub(crate) mod recorder;
mod recording;
mod regions;
mod registers;
mod run;
mod scheduler;
pub(crate) mod speculative_parallel;
mod spin_detection;
mod spin_watch;
mod state;
mod step_budget;
mod subgroup;
mod tile;
pub(crate) mod undefined_contents;
mod undefined_origins;
mod undefined_results;
pub(crate) mod variation;
pub(crate) mod workgroup_order;

pub(crate) use held_lanes::{DirectedYield, ObservedWords};
pub(crate) use regions::RegionCounts;
pub(crate) use state::{DispatchLaunch, Machine, working_bytes};
pub(crate) use step_budget::{Deadline, EarlyStop};
