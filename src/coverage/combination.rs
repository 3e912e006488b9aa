//! Multiple-condition coverage: every vector of a decision that can occur.
//!
//! Knows: a decision and the vectors that evaluation order and coupling allow.
//! Promises: no decision is left out. Up to [`MAX_LISTED`] vectors are an obligation each; more are
//! one obligation together, exact up to [`MAX_VECTORS`], and undetermined beyond. A vector that
//! fixed conditions rule out stays asked for.
//! Does not cover: what tests showed (`assess`).

use super::decision::{Decision, Extent};
use super::limits::MAX_VECTORS;
use vkcert_model::vector::Vector;

/// Vectors of one decision that are an obligation each.
pub(crate) const MAX_LISTED: usize = 256;

/// Evidence of the first format has no obligations of decisions with more conditions.
pub(crate) const MAX_CONDITIONS_OF_FIRST_FORMAT: usize = 5;

/// The vectors asked of a decision, in canonical order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Demand {
    /// Each is an obligation.
    Each(Vec<Vector>),
    /// All of them are one obligation.
    Together(Vec<Vector>),
    /// More than [`MAX_VECTORS`]: one obligation, of which nothing can be said.
    TooMany,
}

impl Demand {
    pub(crate) fn of(decision: &Decision) -> Self {
        let unfixed = decision.unfixed();
        let few = unfixed.feasible(MAX_LISTED);
        if few.extent == Extent::Complete {
            return Demand::Each(few.vectors);
        }
        let all = unfixed.feasible(MAX_VECTORS);
        match all.extent {
            Extent::Complete => Demand::Together(all.vectors),
            Extent::CutOff => Demand::TooMany,
        }
    }

    /// The vectors; none where there are too many to list.
    pub(crate) fn vectors(&self) -> Option<&[Vector]> {
        match self {
            Demand::Each(vectors) | Demand::Together(vectors) => Some(vectors),
            Demand::TooMany => None,
        }
    }
}
