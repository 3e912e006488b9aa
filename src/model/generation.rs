//! Which parts evidence has, by what made it.
//!
//! Promises: only evidence that says that an older version made it is held to less, and that is
//! never verified as a whole (`verify`). Does not cover: what each part says.

use super::criterion::CriterionName;
use super::evidence::{Campaign, FIRST_SCHEMA};
use super::standard::SoftwareLevel;

/// The version that made format 1, and format 2 without what came with 0.2.0.
pub const FIRST_VERSION: &str = "0.1.0";

/// The version whose objectives are not assessed again: their rules have changed since.
pub const SECOND_VERSION: &str = "0.2.0";

/// The version whose levels did not ask for coverage of coupling.
pub const THIRD_VERSION: &str = "0.3.0";

/// What evidence holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Generation {
    /// Format 1: neither settings nor inputs, open items, records of verification.
    First,
    /// Format 2 of version 0.1.0: no digests of texts, grounds of the conclusion, notes on tests
    /// and code of requirements.
    Second,
    /// Format 2 of version 0.2.0: objectives by other rules, and requirements of a single level
    /// taken by the level that each is declared of.
    Third,
    /// Format 2 of version 0.3.0: no coverage of coupling.
    Fourth,
    /// Format 2 with all that this version writes.
    Current,
}

impl Generation {
    /// Which generation the campaign's format and tool version make it.
    pub fn for_campaign(campaign: &Campaign) -> Self {
        match campaign.schema {
            FIRST_SCHEMA => Generation::First,
            _ if campaign.project.tool_version == FIRST_VERSION => Generation::Second,
            _ if campaign.project.tool_version == SECOND_VERSION => Generation::Third,
            _ if campaign.project.tool_version == THIRD_VERSION => Generation::Fourth,
            _ => Generation::Current,
        }
    }

    /// The criteria that the version asked for at a level.
    pub fn criteria_of(self, level: SoftwareLevel) -> Vec<CriterionName> {
        let criteria = level.criteria().iter().copied();
        match self {
            Generation::First | Generation::Second | Generation::Third | Generation::Fourth => {
                criteria.filter(|criterion| *criterion != CriterionName::Coupling).collect()
            }
            Generation::Current => criteria.collect(),
        }
    }
}
