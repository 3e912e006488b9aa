//! Runs jobs: decodes each dispatch, binds its buffers, runs it, gathers findings and records.

mod binding;
mod bit_witnesses;
mod dispatch_run;
mod early;
mod executor;
mod job_run;
mod notes;
pub(crate) mod program_cache;
mod records;
mod schedules;
mod store_contents;
mod stored_bytes;
mod unset_push_constants;

pub use executor::{ScheduleDependence, SequentialExecutor, SequentialRun};
pub use stored_bytes::{DispatchedStores, StoredBytes, byte_ranges};
