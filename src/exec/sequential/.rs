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

mod decode;
mod ir;
mod machine;
mod memory;
mod passes;
mod print;
mod session;
mod settings;

pub use decode::{Unsupported, support};
pub use crate::machine::variation::{Arbitrary, ChanceTrial, Direction, Expansion, Flush, Preferred, Products, Variation};
pub use crate::memory::read_tracking::{BufferReads, DispatchReads, MOST_GROUPS, ReadBytes, WatchedReads};
pub use print::{Lowered, loop_decisions, lower};
pub use crate::session::program_cache::Tally;
pub use session::{DispatchedStores, ScheduleDependence, SequentialExecutor, SequentialRun, StoredBytes, byte_ranges};
pub use settings::{Jobs, MemoryModel, Settings};
