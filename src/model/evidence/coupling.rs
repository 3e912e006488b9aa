//! The coupling graph of a kernel with its host, and the checks on it.

use crate::id::KernelName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Host and kernel of one kernel: the graph and the checks made on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CouplingEvidence {
    /// The kernel that the interface is of.
    pub kernel: KernelName,
    /// What the project says of the host; older evidence does not hold it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<crate::requirement::Interface>,
    /// The graph's nodes.
    pub nodes: Vec<CouplingNode>,
    /// The graph's edges, between nodes by their ids.
    pub edges: Vec<CouplingEdge>,
    /// The checks with their results.
    pub checks: Vec<CouplingCheck>,
}

/// A node of the coupling graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CouplingNode {
    /// Stable id: `parameter:m`, `push-constant:0`, `buffer:0.1`, `local-size`, `dispatch`, `workgroup:tileA`, `barrier:31`, `decision:D1`.
    pub id: String,
    /// What the node stands for: `parameter`, `buffer`, `dispatch`, `decision` ...
    pub kind: String,
    /// What graphs and reports print of it.
    pub label: String,
}

/// A directed edge of the coupling graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CouplingEdge {
    /// Id of the node that gives.
    pub from: String,
    /// Id of the node that takes.
    pub to: String,
    /// `data` or `control`.
    pub kind: String,
    /// What graphs print beside the edge.
    pub label: String,
}

/// One coupling check with its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CouplingCheck {
    /// `dispatch-covers-domain`, `dispatch-not-truncated`, `host-overflow`, `local-size-match`, `push-constant-layout`, `buffer-size`, `device-limits`, `uniform-barrier` ...
    pub check: String,
    /// `holds`, `refuted` or `undetermined`.
    #[schemars(with = "String")]
    pub status: CheckStatus,
    /// What was found, in one sentence.
    pub message: String,
    /// Values of the parameters that refute the check.
    #[serde(default)]
    pub counterexample: Option<BTreeMap<String, i64>>,
}

/// What a coupling check came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckStatus {
    /// It holds for all values that the interface allows.
    Holds,
    /// It fails; values or a stated mismatch show it.
    Refuted,
    /// It could not be decided.
    Undetermined,
    /// A word that no check ends with; verification refuses evidence that holds one.
    #[serde(untagged)]
    Unknown(String),
}

impl std::fmt::Display for CheckStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            CheckStatus::Holds => "holds",
            CheckStatus::Refuted => "refuted",
            CheckStatus::Undetermined => "undetermined",
            CheckStatus::Unknown(word) => word,
        })
    }
}
