//! Campaigns of one project on several devices, drivers or engines, side by side: `campaigns.json`.
//!
//! Promises: nothing of it unites what campaigns show: each number and each verdict is of one engine of one campaign.

use super::baseline::BaselineChange;
use super::coupling_summary::ObligationCounts;
use super::criterion::StoredCriterion;
use super::evidence::EngineIdentity;
use super::id::{KernelName, TestId};
use super::verdict::{EngineName, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of the format of `campaigns.json`.
pub const CAMPAIGNS_SCHEMA: u32 = 1;

/// Campaigns of one project, side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CampaignTable {
    /// Version of the format: 1.
    pub schema: u32,
    /// Name of the project.
    pub project: String,
    /// The campaigns, in the order in which they were named; they are counted from 1.
    pub campaigns: Vec<ComparedCampaign>,
    /// The engines that ran, by campaign: what the cells of all rows are of, in their order.
    pub columns: Vec<EngineColumn>,
    /// Coverage of the criteria that the project asks for.
    pub coverage: Vec<CoverageRow>,
    /// Verdicts of all tests.
    pub tests: Vec<VerdictRow>,
    /// How each campaign but the first differs from the first.
    pub differences: Vec<CampaignDifference>,
}

/// One of the campaigns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedCampaign {
    /// Its folder, as it was named.
    pub folder: String,
    /// SHA-256 of the manifest of its evidence.
    pub root: String,
    /// Name and version of the tool.
    pub tool: String,
    /// Its engines, with device and driver.
    pub engines: Vec<EngineIdentity>,
    /// What it comes to by itself.
    pub exit_code: u8,
    /// Why, where that is not 0.
    pub reasons: Vec<String>,
    /// Kernels that were set aside: no number is of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set_aside: Vec<KernelName>,
}

/// An engine of a campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EngineColumn {
    /// Number of the campaign, from 1.
    pub campaign: usize,
    /// The engine, which ran.
    pub engine: EngineName,
}

/// Coverage of a kernel by one criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoverageRow {
    /// The kernel.
    pub kernel: KernelName,
    /// Name of its configuration.
    pub configuration: String,
    /// The criterion.
    pub criterion: StoredCriterion,
    /// Counts by column; null: the engine tells nothing of it there, or the kernel has no such configuration.
    pub cells: Vec<Option<ObligationCounts>>,
}

impl CoverageRow {
    /// Whether engines that tell of it tell different counts.
    pub fn differs(&self) -> bool {
        differ(self.cells.iter().flatten())
    }
}

/// Verdicts of a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerdictRow {
    /// The test.
    pub test: TestId,
    /// Verdicts by column.
    pub cells: Vec<Option<Verdict>>,
}

impl VerdictRow {
    /// Whether engines come to different verdicts.
    pub fn differs(&self) -> bool {
        differ(self.cells.iter().flatten())
    }
}

fn differ<T: PartialEq>(mut cells: impl Iterator<Item = T>) -> bool {
    cells.next().is_some_and(|first| cells.any(|other| other != first))
}

/// How a campaign differs from the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CampaignDifference {
    /// Number of the campaign, from 2.
    pub campaign: usize,
    /// What differs; `worse` is what shows less than the first campaign.
    pub changes: Vec<BaselineChange>,
}
