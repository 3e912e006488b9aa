//! Multiple-condition coverage: every vector of a decision that can occur.
//!
//! Knows: a decision and the vectors that evaluation order and coupling allow.
//! Promises: no decision is left out. Up to [`MAX_LISTED`] vectors are an obligation each; more are
//! one obligation together, exact up to [`MAX_VECTORS`], and undetermined beyond. A vector that
//! fixed conditions rule out stays asked for.
//! Does not cover: what tests showed (`assess`).

use super::decision::{Decision, EnumerationExtent};
use super::limits::MAX_VECTORS;
use vkcert_model::vector::Vector;

/// Vectors of one decision that are an obligation each.
pub(crate) const MAX_LISTED: usize = 256;

/// Evidence of the first format has no obligations of decisions with more conditions.
pub(crate) const MAX_CONDITIONS_OF_FIRST_FORMAT: usize = 5;

/// The vectors asked of a decision, in canonical order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DemandedVectors {
    /// Each is an obligation.
    Each(Vec<Vector>),
    /// All of them are one obligation.
    Together(Vec<Vector>),
    /// More than [`MAX_VECTORS`]: one obligation, of which nothing can be said.
    TooMany,
}

impl DemandedVectors {
    pub(crate) fn of_decision(decision: &Decision) -> Self {
        let unfixed = decision.without_fixed();
        let few_vectors = unfixed.feasible_vectors(MAX_LISTED);
        if few_vectors.extent == EnumerationExtent::Complete {
            return DemandedVectors::Each(few_vectors.vectors);
        }
        let all_vectors = unfixed.feasible_vectors(MAX_VECTORS);
        match all_vectors.extent {
            EnumerationExtent::Complete => DemandedVectors::Together(all_vectors.vectors),
            EnumerationExtent::CutOff => DemandedVectors::TooMany,
        }
    }

    /// The vectors; none where there are too many to list.
    pub(crate) fn listed_vectors(&self) -> Option<&[Vector]> {
        match self {
            DemandedVectors::Each(vectors) | DemandedVectors::Together(vectors) => Some(vectors),
            DemandedVectors::TooMany => None,
        }
    }
}
