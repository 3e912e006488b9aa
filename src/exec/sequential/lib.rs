//! The sequential engine: a kernel as the single-thread-equivalent program that its lowering is.
//!
//! Knows: SPIR-V compute modules. A module is decoded (`decode`) into a register program (`ir`),
//! which `passes` make ready to run; in it workgroups run one after the other, and the invocations
//! of a workgroup tile by tile to each barrier (`machine`), in any order; `memory` says which
//! accesses race. `session` runs jobs, `print` shows the same program to people.
//! Promises: race-free kernels give the same result for every tile width and order; findings carry
//! places and witnesses; what the engine cannot run is `Completion::Unsupported` by name before
//! anything runs.
//! Does not cover: sparse images.

mod analysis;
mod compile;
mod decode;
mod ir;
mod machine;
mod memory;
mod passes;
mod print;
mod session;
mod settings;
mod tally;

pub use decode::Unsupported;
pub use decode::support;
pub use memory::read_tracking::{BufferReads, DispatchReads, MOST_GROUPS, ReadBytes, WatchedReads};
pub use print::{Lowered, loop_decisions, lower_kernel};
pub use session::{DispatchedStores, StoredBytes, byte_ranges};
pub use session::{ScheduleDependence, SequentialExecutor, SequentialRun};
pub use settings::variation::{
    Arbitrary, ChanceTrial, Direction, Expansion, Flush, Preferred, Products, Variation,
};
pub use settings::{Jobs, MemoryModel, RaceScopeWanted, Settings};
pub use tally::Tally;
