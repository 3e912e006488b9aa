//! Why something can never happen, and what a justification could therefore say.

use std::collections::BTreeSet;
use vkcert_model::coverage::Proposal;
use vkcert_model::id::{DecisionId, SwitchId};
use vkcert_model::requirement::JustificationClass;

/// Why something can never happen, and what a justification could therefore say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RuledOut {
    /// Names the configuration, constants and values.
    pub reason: String,
    /// None where no justification could: the code is to be removed.
    pub class: Option<JustificationClass>,
}

impl RuledOut {
    /// The reason by itself, and within the proposal where there can be one.
    pub(crate) fn reason_and_proposal(self) -> (String, Option<Proposal>) {
        let Self { reason, class } = self;
        let proposal = class.map(|class| Proposal { class, reason: reason.clone() });
        (reason, proposal)
    }
}

/// What kind of obligation cannot be met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ImpossibleMatter {
    /// Something that is never executed.
    Code,
    /// An outcome or effect of a decision that has none.
    Choice,
}

/// What makes something fixed; nothing: the source text itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct FixingGround {
    /// Specialization ids.
    pub constants: BTreeSet<u32>,
    /// Names of defines of the configuration.
    pub defines: BTreeSet<String>,
}

/// Why a statement cannot be executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnreachableCause {
    /// The outcome that leads to it never occurs, or the one that leads past it always does.
    Decision(DecisionId),
    /// No label above it is ever taken.
    Switch(SwitchId),
    /// The function at this index of the structure is never called.
    Function(usize),
}
