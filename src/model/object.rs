//! Object code: the branches, selects and loops of a production module, and what each of them traces to.
//!
//! Knows: obligations `B1`, `B2` ... in module order. Made by `instrument`, stored in evidence.
//! Promises: every conditional branch, switch and scalar select of the functions that the entry point reaches is there;
//! what could not be traced to the source is so by name, never left out.
//! Does not cover: selects on vectors of Booleans, which choose data component by component.

use super::id::{DecisionId, ObjectBranchId, SwitchId};
use super::place::Place;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The branches of one module.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ObjectStructure {
    /// `branches[i].id == ObjectBranchId(i + 1)`.
    pub branches: Vec<ObjectBranch>,
    /// Loops in module order.
    pub loops: Vec<ObjectLoop>,
    /// Number of record bits.
    pub bits: u32,
    /// Why the branches cannot be recorded; none: they are.
    #[serde(default)]
    pub unrecorded: Option<String>,
}

/// One conditional branch, switch or select.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectBranch {
    /// Number of the branch in the module, printed as `B1`.
    pub id: ObjectBranchId,
    /// Which instruction it is.
    pub kind: ObjectBranchKind,
    /// Where in the production module.
    pub place: Place,
    /// What can become of it, in module order.
    pub outcomes: Vec<ObjectOutcome>,
    /// What it traces to.
    pub origin: ObjectOrigin,
}

/// Instructions that choose.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectBranchKind {
    /// OpBranchConditional.
    Conditional,
    /// OpSwitch.
    Switch,
    /// OpSelect on one Boolean.
    Select,
}

impl std::fmt::Display for ObjectBranchKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            ObjectBranchKind::Conditional => "branch",
            ObjectBranchKind::Switch => "switch",
            ObjectBranchKind::Select => "select",
        })
    }
}

/// One way out of a branch: the obligation `B3.T`, `B3.F` or `B4.L2`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectOutcome {
    /// `T`, `F`, or `L1`, `L2` ... for the targets of a switch.
    pub label: String,
    /// `true`, `false`, `case 1, 2` or `default`.
    pub text: String,
    /// Its bit in the records.
    pub bit: u32,
}

/// A loop of the module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectLoop {
    /// Where in the production module: its header.
    pub place: Place,
    /// What it traces to.
    pub origin: ObjectOrigin,
}

/// Where object code comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectOrigin {
    /// The values of these decisions, or of some of them, alone direct it; one decision where the branch is a part of it.
    Decisions(Vec<DecisionId>),
    /// The selector of this `switch` directs it.
    Switch(SwitchId),
    /// A loop statement of the source; its keyword.
    Loop(String),
    /// Source text that is no decision, and why it makes a branch (the closed list of docs/object-code.md).
    Construct(String),
    /// The compiler made it for purposes of its own (the closed list of docs/object-code.md).
    CompilerMade(String),
    /// It could not be traced; the reason.
    Untraced(String),
    /// The module has no source to trace to.
    NoSource,
}

impl ObjectOrigin {
    /// Whether this is additional code in the sense of DO-178C 6.4.4.2.b: not directly traceable to source statements.
    pub fn is_additional(&self) -> bool {
        match self {
            ObjectOrigin::Decisions(_)
            | ObjectOrigin::Switch(_)
            | ObjectOrigin::Loop(_)
            | ObjectOrigin::Construct(_)
            | ObjectOrigin::NoSource => false,
            ObjectOrigin::CompilerMade(_) | ObjectOrigin::Untraced(_) => true,
        }
    }
}

impl std::fmt::Display for ObjectOrigin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ObjectOrigin::Decisions(decisions) => {
                let decision_names: Vec<String> =
                    decisions.iter().map(ToString::to_string).collect();
                f.pad(&decision_names.join(", "))
            }
            ObjectOrigin::Switch(switch) => f.pad(&switch.to_string()),
            ObjectOrigin::Loop(keyword) => f.pad(&format!("`{keyword}` statement")),
            ObjectOrigin::Construct(what) => f.pad(what),
            ObjectOrigin::CompilerMade(what) => f.pad(&format!("compiler-made: {what}")),
            ObjectOrigin::Untraced(why) => f.pad(&format!("untraced: {why}")),
            ObjectOrigin::NoSource => f.pad("no source"),
        }
    }
}
