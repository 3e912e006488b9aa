//! Two mutants of a kernel at once, each of which tests notice by itself.
//!
//! Promises: what becomes of a pair follows from its runs and its proof, as that of a mutant does; pairs do not count for
//! the score.
//! Does not cover: which mutants are paired (`campaign::mutation`).

use super::mutation::{EquivalenceProof, MutantCounts, MutantRuns, MutantStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two mutants of a kernel in one text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MutantPair {
    /// Numbers of the two; the second one stands behind the first in the text.
    pub parts: [u32; 2],
    /// Why these.
    pub relation: PairRelation,
    /// What became of the runs with both; tests run up to the first whose expectation does not hold.
    pub runs: MutantRuns,
    /// Why both together do what the kernel does, where that is proved; asked of what no test noticed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<EquivalenceProof>,
    /// What follows from these.
    pub status: MutantStatus,
}

/// Why two mutants are paired.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum PairRelation {
    /// The second one is the next behind the first in the text.
    Place,
    /// The second one is in the next statement with the name that the statement of the first assigns.
    DataFlow,
}

impl PairRelation {
    /// Every relation with its words, in the order of documents.
    pub const ALL: [(PairRelation, &'static str); 2] =
        [(PairRelation::Place, "place"), (PairRelation::DataFlow, "data flow")];

    /// For people.
    pub fn words(self) -> &'static str {
        let mut rows = Self::ALL.iter();
        rows.find(|(relation, _)| *relation == self).expect("every relation has words").1
    }
}

/// How many faults a mutant has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MutationOrder {
    /// One.
    #[default]
    First,
    /// One, and then two at once of those that tests notice one by one.
    Second,
}

impl MutationOrder {
    /// Whether no pairs are judged.
    pub fn is_first(&self) -> bool {
        *self == MutationOrder::First
    }
}

/// The pairs of a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RelationPairs {
    /// The relation.
    pub relation: PairRelation,
    /// Of its pairs.
    pub counts: MutantCounts,
}

impl RelationPairs {
    /// Counts the pairs of a relation.
    pub fn of_pairs<'p>(
        relation: PairRelation,
        pairs: impl IntoIterator<Item = &'p MutantPair>,
    ) -> Self {
        let own = pairs.into_iter().filter(|pair| pair.relation == relation);
        let counts = MutantCounts::of_outcomes(own.map(|pair| (pair.status, &pair.runs)));
        Self { relation, counts }
    }
}
