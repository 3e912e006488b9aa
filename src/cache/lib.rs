//! Results of runs that are kept between campaigns, by the content of what they depend on.
//!
//! Knows: a folder of entries ([`store`]), by what a run of an engine is named ([`key`]), how its
//! result is written down ([`mod@stored_run`]), what a campaign takes and leaves there ([`mod@run_cache`]), and an
//! engine that looks there before it runs ([`executor`]). Compiled kernels and coupling are kept beside
//! results ([`run_cache::Product`]); what they depend on is named where they are made.
//! Promises: an entry is used for exactly the run that made it: same program, engine, device and
//! driver, modules, contents, limits and schedule. One that is damaged is never used. Only results
//! are kept that a second run would have to leave again: nothing that ran out of time, was lost with
//! a device, or that the tool could not determine.
//! Does not cover: what else follows from results; that is derived anew by every campaign.

pub mod executor;
pub mod key;
pub mod run_cache;
pub mod store;
pub mod stored_run;
mod told_size;

pub use executor::CachedExecutor;
pub use key::{CacheKey, EngineSetup};
pub use run_cache::{Recheck, RunCache};
pub use store::{CacheError, CacheStore, PruneLimits};
