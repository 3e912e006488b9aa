//! How a schedule ended beside production.
//!
//! Knows: what production left and what the schedule's run came to.
//! Promises: only a completed run is equal or different; what nothing can be told of is unknown,
//! with the reason.
//! Does not cover: which differences are left open; the caller names those bytes.

use super::element::{Difference, difference};
use vkcert_exec::{Completion, Run};

/// How a schedule ended.
pub(super) enum Ending {
    Equal,
    Different(Difference),
    /// Its repetitions do not agree, other than those of production.
    Varying(String),
    /// Other than production, it did not complete.
    Broken(String),
    /// None of these can be told.
    Unknown(String),
}

/// How a schedule ended, where bytes may differ that `open` names.
pub(super) fn ending(production: &Run, run: &Run, open: impl Fn(usize, u64) -> bool) -> Ending {
    match &run.completion {
        Completion::Completed => {
            difference(production, run, open).map_or(Ending::Equal, Ending::Different)
        }
        Completion::Varying { reason } => Ending::Varying(reason.clone()),
        Completion::Timeout { reason } => Ending::Broken(format!("timeout, {reason}")),
        Completion::NoTermination { reason } => Ending::Broken(format!("no termination, {reason}")),
        Completion::Error { reason } | Completion::DeviceLost { reason } => {
            Ending::Broken(format!("error, {reason}"))
        }
        Completion::Undetermined { reason } => Ending::Unknown(reason.clone()),
        Completion::Unsupported { what } => Ending::Unknown(format!("unsupported: {what}")),
    }
}
