//! Multiple-condition coverage: every vector of a small decision that can occur.
//!
//! Knows: a decision of up to [`MAX_CONDITIONS`] conditions and the vectors that tests showed.
//! Promises: an obligation for each vector that evaluation order and coupling allow; one that fixed conditions rule out
//! stays an obligation and carries a proposal.
//! Does not cover: larger decisions, which have too many vectors to ask for; they have none of these obligations, and
//! reports say so.

use super::decision::{Decision, Extent};
use crate::model::vector::Vector;

/// Decisions with more conditions have no obligations here.
pub const MAX_CONDITIONS: usize = 5;

/// The vectors asked for, in canonical order; none for a decision with too many conditions.
pub(super) fn asked_for(decision: &Decision) -> Vec<Vector> {
    if decision.conditions() > MAX_CONDITIONS {
        return Vec::new();
    }
    let feasible = decision.unfixed().feasible(1 << MAX_CONDITIONS);
    debug_assert_eq!(feasible.extent, Extent::Complete);
    feasible.vectors
}
