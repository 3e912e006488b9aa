//! How a schedule ended beside production.
//!
//! Knows: what production left and what the schedule's run came to.
//! Promises: only a completed run is equal or different; what nothing can be told of is unknown,
//! with the reason.
//! Does not cover: which differences are left open; the caller names those bytes.

use super::element::{ContentsChange, closed_difference};
use vkcert_exec::{Completion, Run};

/// How a schedule ended.
pub(super) enum ScheduleEnding {
    Equal,
    Different(ContentsChange),
    /// Its repetitions do not agree, other than those of production.
    Varying(String),
    /// Other than production, it did not complete.
    Broken(String),
    /// None of these can be told.
    Unknown(String),
}

/// How a schedule ended, where bytes may differ that `is_open` names.
pub(super) fn ending_of(
    production: &Run,
    run: &Run,
    is_open: impl Fn(usize, u64) -> bool,
) -> ScheduleEnding {
    match &run.completion {
        Completion::Completed => closed_difference(production, run, is_open)
            .map_or(ScheduleEnding::Equal, ScheduleEnding::Different),
        Completion::Varying { reason } => ScheduleEnding::Varying(reason.clone()),
        Completion::Timeout { reason } => ScheduleEnding::Broken(format!("timeout, {reason}")),
        Completion::NoTermination { reason } => {
            ScheduleEnding::Broken(format!("no termination, {reason}"))
        }
        Completion::Error { reason } | Completion::DeviceLost { reason } => {
            ScheduleEnding::Broken(format!("error, {reason}"))
        }
        Completion::Undetermined { reason } => ScheduleEnding::Unknown(reason.clone()),
        Completion::Unsupported { what } => ScheduleEnding::Unknown(format!("unsupported: {what}")),
    }
}
