//! What the comparison of two engines comes to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Outcome of outputs or of coverage of one kernel in a test, from the best news to the worst.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum AgreementOutcome {
    /// Both engines left the same bytes or recorded the same coverage.
    Identical,
    /// Outputs: the tolerance of an expectation that both engines meet covers what differs.
    WithinTolerance,
    /// Outputs: the specification permits what differs.
    WithinErrorBounds,
    /// Outputs: no expectation looks at what differs, or it depends on the schedule.
    LeftOpen,
    /// Coverage: vectors that differ depend on the schedule.
    ScheduleDependent,
    /// Coverage: vectors that differ follow an undefined value, which a finding tells of.
    UndefinedValue,
    /// Outputs or coverage of one of the engines are missing.
    #[serde(rename = "not compared")]
    NotCompared,
    /// The engines differ, and nothing accounts for it.
    Different,
}

impl AgreementOutcome {
    /// In the same order, with the stored names.
    pub const ALL: &'static [(AgreementOutcome, &'static str)] = &[
        (AgreementOutcome::Identical, "identical"),
        (AgreementOutcome::WithinTolerance, "within-tolerance"),
        (AgreementOutcome::WithinErrorBounds, "within-error-bounds"),
        (AgreementOutcome::LeftOpen, "left-open"),
        (AgreementOutcome::ScheduleDependent, "schedule-dependent"),
        (AgreementOutcome::UndefinedValue, "undefined-value"),
        (AgreementOutcome::NotCompared, "not compared"),
        (AgreementOutcome::Different, "different"),
    ];

    /// Whether two engines can leave outputs so that were stored on both.
    pub fn is_of_outputs(self) -> bool {
        match self {
            AgreementOutcome::Identical
            | AgreementOutcome::WithinTolerance
            | AgreementOutcome::LeftOpen
            | AgreementOutcome::WithinErrorBounds
            | AgreementOutcome::Different => true,
            AgreementOutcome::ScheduleDependent
            | AgreementOutcome::UndefinedValue
            | AgreementOutcome::NotCompared => false,
        }
    }
}

impl fmt::Display for AgreementOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(outcome, _)| outcome == self).map(|(_, name)| *name);
        f.pad(name.expect("ALL lists every outcome"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_is_stored_under_its_name() {
        for (outcome, name) in AgreementOutcome::ALL {
            assert_eq!(serde_json::to_value(outcome).unwrap(), *name);
            assert_eq!(outcome.to_string(), *name);
        }
    }
}
