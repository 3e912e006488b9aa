//! The campaign as a library: what `vkcert certify` does, without command line, terminal and exit
//! codes.
//!
//! Knows: kernels, tests, engines, evidence. Promises: errors are values; nothing is printed.
//! Does not cover: arguments, how errors and results are told (`cli`).

pub mod access_pairs;
pub mod agreement;
pub mod altered;
pub mod assemble;
pub mod barriers;
pub mod boundary;
pub mod captures;
pub mod certification;
pub mod configuration;
pub mod coupling;
mod dispatch_order;
pub mod display;
pub mod early_end;
pub mod engines;
mod error;
pub mod execution;
pub mod facts;
pub mod headers;
pub mod inputs;
pub mod judged;
pub mod justifications;
pub mod kernel;
pub mod kernel_coverage;
pub mod left_open;
mod memory;
pub mod merging;
pub mod mutation;
pub mod object;
pub mod plan;
pub mod profile;
pub mod project;
mod raced_pairs;
pub mod recording;
pub mod reuse;
pub mod schedules;
pub mod set_aside;
mod statement_counts;
pub mod test_execution;
pub mod test_run;
mod told_values;
pub mod verification;

pub use error::CampaignError;
