//! What became of a project since an earlier run: `baseline.json`, beside the reports and outside of
//! the evidence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two runs of one project side by side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BaselineComparison {
    /// Version of the format: 1.
    pub schema: u32,
    /// SHA-256 of the manifest of the earlier run.
    pub baseline: String,
    /// SHA-256 of the manifest of this run.
    pub root: String,
    /// What differs, what is worse first.
    pub changes: Vec<BaselineChange>,
}

impl BaselineComparison {
    /// How many changes have this effect.
    pub fn count(&self, effect: ChangeEffect) -> usize {
        self.changes.iter().filter(|change| change.effect == effect).count()
    }
}

/// One thing that differs between two runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct BaselineChange {
    /// Whether the run says less than the earlier one.
    pub effect: ChangeEffect,
    /// What kind of thing it is.
    pub area: ChangeArea,
    /// Which one, in words: `TC-HIS-01 on vulkan`.
    pub subject: String,
    /// What the earlier run had of it; none: nothing.
    pub before: Option<String>,
    /// What this run has of it; none: nothing.
    pub now: Option<String>,
}

/// What a change does to what a run shows.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeEffect {
    /// Something was shown and no longer is, or something stands against the result that did not.
    Worse,
    /// Neither.
    Other,
    /// Something is shown that was not, or no longer stands against the result.
    Better,
}

impl std::fmt::Display for ChangeEffect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            ChangeEffect::Worse => "worse",
            ChangeEffect::Other => "other",
            ChangeEffect::Better => "better",
        })
    }
}

/// What kind of thing has changed.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeArea {
    /// Level, criteria, decision policy, memory model, what was left out.
    Settings,
    /// Tool, compiler, engines, devices and drivers.
    Environment,
    /// A kernel with its configuration.
    Kernel,
    /// The status of a requirement.
    Requirement,
    /// The verdict of a test on an engine.
    Test,
    /// A finding that no justification accepts.
    Finding,
    /// An obligation that neither a test nor a justification closes.
    Coverage,
    /// A coupling check that does not hold.
    Coupling,
    /// A justification that does not count.
    Justification,
    /// An open item that nobody has accepted.
    OpenItem,
    /// The status of an objective.
    Objective,
}

impl std::fmt::Display for ChangeArea {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            ChangeArea::Settings => "settings",
            ChangeArea::Environment => "environment",
            ChangeArea::Kernel => "kernel",
            ChangeArea::Requirement => "requirement",
            ChangeArea::Test => "test",
            ChangeArea::Finding => "finding",
            ChangeArea::Coverage => "coverage",
            ChangeArea::Coupling => "coupling",
            ChangeArea::Justification => "justification",
            ChangeArea::OpenItem => "open item",
            ChangeArea::Objective => "objective",
        })
    }
}
