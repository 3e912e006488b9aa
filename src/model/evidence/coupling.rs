//! The coupling graph of a kernel with its host, and the checks on it.

use crate::id::KernelName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CouplingEvidence {
    pub kernel: KernelName,
    /// What the project says of the host; older evidence does not hold it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<crate::requirement::Interface>,
    pub nodes: Vec<CouplingNode>,
    pub edges: Vec<CouplingEdge>,
    pub checks: Vec<CouplingCheck>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CouplingNode {
    /// Stable id: `parameter:m`, `push-constant:0`, `buffer:0.1`, `local-size`, `dispatch`, `workgroup:tileA`, `barrier:31`, `decision:D1`.
    pub id: String,
    pub kind: String,
    pub label: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CouplingEdge {
    pub from: String,
    pub to: String,
    /// `data` or `control`.
    pub kind: String,
    pub label: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CouplingCheck {
    /// `dispatch-covers-domain`, `dispatch-not-truncated`, `host-overflow`, `local-size-match`, `push-constant-layout`, `buffer-size`, `device-limits`, `uniform-barrier` ...
    pub check: String,
    /// `holds`, `refuted` or `undetermined`.
    #[schemars(with = "String")]
    pub status: CheckStatus,
    pub message: String,
    /// Values of the parameters that refute the check.
    #[serde(default)]
    pub counterexample: Option<BTreeMap<String, i64>>,
}

/// What a coupling check came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckStatus {
    Holds,
    Refuted,
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
