//! What the schedules of a test have shown on an engine.
//!
//! Knows: which were asked for, which ran, which differed, and what that comes to.
//! Promises: the stored names and the lines of reports.
//! Does not cover: how one differs; a finding says that.

use super::Schedule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What the schedules of a test have shown on an engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleResult {
    /// How many were asked for.
    pub asked: u32,
    /// What the random orders are drawn from.
    pub seed: u64,
    /// What they have shown.
    pub status: ScheduleStatus,
    /// Those that were run, in order, the first-to-last order left out. Fewer than asked for where there are no more, or
    /// one did not complete.
    pub ran: Vec<Schedule>,
    /// Those of them that left other contents, recorded other coverage or did not complete.
    pub different: Vec<Schedule>,
    /// Why nothing is known, or nothing was run, or what was not compared.
    pub reason: Option<String>,
}

/// What a test showed in a directed schedule, in which who waits goes first, or invocations run one by one. It runs where
/// something that depends on the schedule is open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DirectedResult {
    /// The directed schedule.
    pub schedule: Schedule,
    /// What was measured.
    pub of: MeasuredCode,
    /// Vectors, marks, outcomes of branches or pairs of accesses that the ordinary schedule and the directed ones before did not show.
    pub shown: u32,
    /// Why what it recorded does not count; none: it counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What is measured.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum MeasuredCode {
    /// Vectors of decisions, and marks.
    Source,
    /// Outcomes of the branches of the production module.
    Object,
    /// Pairs of atomics of the production module.
    Accesses,
}

impl MeasuredCode {
    /// All of them, in the order of results.
    pub const ALL: [MeasuredCode; 3] =
        [MeasuredCode::Source, MeasuredCode::Object, MeasuredCode::Accesses];

    /// Whether it is measured in a schedule beside the ordinary one.
    pub fn is_measured_in(self, schedule: Schedule) -> bool {
        match self {
            MeasuredCode::Source | MeasuredCode::Object => schedule.is_directed(),
            MeasuredCode::Accesses => Schedule::ONE_BY_ONE.contains(&schedule),
        }
    }
}

impl fmt::Display for DirectedResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { schedule, of, shown, reason } = self;
        let measured_code = match of {
            MeasuredCode::Source => "vectors and marks",
            MeasuredCode::Object => "outcomes of object code",
            MeasuredCode::Accesses => "pairs of accesses",
        };
        write!(f, "directed schedule `{schedule}`: ")?;
        match reason {
            Some(reason) => write!(f, "{measured_code} do not count: {reason}"),
            None => write!(
                f,
                "{shown} {measured_code} that depend on the schedule and that the ordinary one does not show"
            ),
        }
    }
}

/// What the schedules of a test have shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScheduleStatus {
    /// All left the same bytes as production and, where that is compared, recorded the same coverage.
    Equal,
    /// A finding says how one differs.
    Different,
    /// Whether they differ is not known; the test does not pass.
    Undetermined,
    /// No order can be told from another: one workgroup, or none that asks for its id; on the sequential engine, one tile.
    NothingToPermute,
    /// The engine does not do this, or the test did not get that far.
    NotRun,
}

impl ScheduleStatus {
    /// The stored name.
    pub fn name(self) -> &'static str {
        match self {
            ScheduleStatus::Equal => "equal",
            ScheduleStatus::Different => "different",
            ScheduleStatus::Undetermined => "undetermined",
            ScheduleStatus::NothingToPermute => "nothing-to-permute",
            ScheduleStatus::NotRun => "not-run",
        }
    }
}

impl fmt::Display for ScheduleResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { asked, seed, ran: ran_count, different, .. } = self;
        let fewer_sentence =
            if ran_count.len() < *asked as usize { format!(" of {asked}") } else { String::new() };
        let ran_count = ran_count.len();
        write!(f, "schedules: ")?;
        match self.status {
            ScheduleStatus::Equal => {
                write!(f, "{ran_count}{fewer_sentence}, seed {seed}, all equal")?
            }
            ScheduleStatus::Different => write!(
                f,
                "{ran_count}{fewer_sentence}, seed {seed}, {} different",
                different.len()
            )?,
            ScheduleStatus::Undetermined => write!(f, "undetermined")?,
            ScheduleStatus::NothingToPermute => write!(f, "nothing to permute")?,
            ScheduleStatus::NotRun => write!(f, "not run")?,
        }
        match &self.reason {
            Some(reason) => write!(f, ": {reason}"),
            None => Ok(()),
        }
    }
}
