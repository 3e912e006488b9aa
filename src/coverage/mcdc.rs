//! The MC/DC calculus over one decision: pairs, attainability, missing vectors, closing set,
//! smallest test sets.
//!
//! Knows: an expression with coupled and fixed conditions, and a set of vectors at hand.
//! Promises: exact for up to [`MAX_VECTORS`](super::limits::MAX_VECTORS) vectors at hand and
//! [`MAX_CONDITIONS`](super::limits::MAX_CONDITIONS) conditions. The first pair in canonical
//! order is named (by the vector in which the condition is true, then the one in which it is
//! false). A condition is called unattainable only if no two vectors that can occur show it.
//! Does not cover: decisions with more than [`MAX_VECTORS`] possible vectors (only long `^^` chains
//! have so many) get no list of missing vectors. Without coupling every condition of such a
//! decision is attainable still: the operands beside its way to the root share no condition, so
//! each can be given its non-controlling value. With coupled or fixed conditions it is unknown.

mod closing_set;
mod minimum;
#[cfg(test)]
mod tests;

use super::closing::Minimality;
use super::decision::{Decision, DecisionLimit, EnumerationExtent, PackedVector};
use super::independence::{IndependenceForm, PairSearch, SiblingPaths, WantedPair};
use super::limits::MAX_VECTORS;
use super::vector_fault::VectorFault;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::structure::BooleanExpression;
use vkcert_model::vector::{Values, Vector};

/// A decision made ready for analysis.
#[derive(Debug, Clone)]
pub struct Mcdc {
    decision: Decision,
    ways: SiblingPaths,
}

/// Why a set of vectors cannot be analysed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum McdcError {
    /// There are too many conditions or vectors.
    #[error(transparent)]
    Limit(#[from] DecisionLimit),
    /// A vector does not go with the decision.
    #[error(transparent)]
    Vector(#[from] VectorFault),
}

/// Everything that follows from the vectors at hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McdcAnalysis {
    /// The vectors at hand, canonical order, each once.
    pub given: Vec<Vector>,
    /// By condition.
    pub conditions: Vec<ConditionAnalysis>,
    /// Vectors that can occur and are not at hand, canonical order; empty where `extent` is cut
    /// off.
    pub missing: Vec<Vector>,
    /// Whether the vectors that can occur are few enough to list.
    pub extent: EnumerationExtent,
    /// Vectors that together with those at hand show every attainable condition by masking,
    /// canonical order.
    pub closing_set: Vec<Values>,
    /// Whether a smaller closing set is excluded.
    pub minimality: Minimality,
}

impl McdcAnalysis {
    /// Indexes of the conditions that no two vectors which can occur show in this form.
    pub(crate) fn unattainable_conditions(
        &self,
        form: IndependenceForm,
    ) -> impl Iterator<Item = usize> {
        let is_unattainable = move |condition: &ConditionAnalysis| {
            condition.analysis_of(form).attainability == Attainability::Unattainable
        };
        self.conditions.iter().enumerate().filter_map(move |(condition_index, condition)| {
            is_unattainable(condition).then_some(condition_index)
        })
    }
}

/// One condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionAnalysis {
    /// By pairs in which the condition alone differs.
    pub unique_cause: FormAnalysis,
    /// By pairs in which other conditions may differ where they are masked.
    pub masking: FormAnalysis,
}

impl ConditionAnalysis {
    /// The analysis under one of the two forms.
    pub(crate) fn analysis_of(&self, form: IndependenceForm) -> &FormAnalysis {
        match form {
            IndependenceForm::UniqueCause => &self.unique_cause,
            IndependenceForm::Masking => &self.masking,
        }
    }
}

/// One condition under one form of MC/DC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormAnalysis {
    /// The vector in which the condition is true, then the one in which it is false.
    pub pair: Option<[Values; 2]>,
    /// Whether any pair of possible vectors shows the condition.
    pub attainability: Attainability,
    /// What would show a condition that is not shown but can be.
    pub addition: Option<VectorAddition>,
}

/// The fewest vectors that would show one condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VectorAddition {
    /// One vector, where a vector at hand is the other half of the pair; else two.
    pub vectors: Vec<Values>,
    /// The vector at hand that makes the pair.
    pub partner: Option<Values>,
}

/// How many vectors show every condition that can be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MinimumSet {
    /// A set of this many does.
    pub vectors: usize,
    /// No set of fewer does; equal to `vectors` where the number is exact.
    pub at_least: usize,
    /// Conditions that can be shown.
    pub conditions: usize,
}

/// Whether any pair of possible vectors shows a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attainability {
    /// Two vectors that can occur show it.
    Attainable,
    /// Coupled or fixed conditions forbid every pair.
    Unattainable,
    /// Too many vectors can occur to look at all of them.
    Unknown,
}

/// The possible vectors and what they show.
struct PossibleVectors {
    vectors: Vec<(PackedVector, bool)>,
    extent: EnumerationExtent,
    unique_cause: PairSearch,
    masking: PairSearch,
}

impl PossibleVectors {
    /// The vectors, where they are all.
    fn listed_vectors(&self) -> &[(PackedVector, bool)] {
        match self.extent {
            EnumerationExtent::Complete => &self.vectors,
            EnumerationExtent::CutOff => &[],
        }
    }
}

impl Mcdc {
    /// See [`Decision::new`].
    pub fn new(expression: &BooleanExpression, coupling: &[u32]) -> Result<Self, DecisionLimit> {
        let decision = Decision::new(expression, coupling)?;
        let ways = SiblingPaths::new(&decision);
        Ok(Self { decision, ways })
    }

    /// The same with conditions fixed; see [`Decision::with_fixed`].
    pub fn with_fixed(self, fixed: &[Option<bool>]) -> Self {
        Self { decision: self.decision.with_fixed(fixed), ways: self.ways }
    }

    /// The decision that is analysed.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// Analyses vectors that tests showed or a user gave; see [`Decision::recorded_outcome`] for
    /// what is refused.
    pub fn analyse_vectors(&self, given_values: Vec<Values>) -> Result<McdcAnalysis, McdcError> {
        let distinct_values: BTreeSet<Values> = given_values.into_iter().collect();
        if distinct_values.len() > MAX_VECTORS {
            return Err(DecisionLimit::Vectors(distinct_values.len()).into());
        }
        let mut given_vectors = Vec::with_capacity(distinct_values.len());
        for values in distinct_values {
            let outcome = self.decision.recorded_outcome(&values)?;
            given_vectors.push(Vector { values, outcome });
        }
        let packed_vectors: Vec<PackedVector> =
            given_vectors.iter().map(|vector| self.decision.packed_from(&vector.values)).collect();
        let unique_cause_pairs =
            self.search_pairs(IndependenceForm::UniqueCause, WantedPair::First, &packed_vectors);
        let masking_pairs =
            self.search_pairs(IndependenceForm::Masking, WantedPair::First, &packed_vectors);
        let possible_vectors = self.possible_vectors();
        let mut additions = self.form_additions(
            [&unique_cause_pairs, &masking_pairs],
            &given_vectors,
            &possible_vectors,
        );
        let mut form_analysis =
            |condition: usize, given_pairs: &PairSearch, possible_pairs: &PairSearch| {
                FormAnalysis {
                    pair: given_pairs.pair_of(condition).map(|pair| {
                        pair.map(|vector_index| given_vectors[vector_index].values.clone())
                    }),
                    attainability: self.condition_attainability(
                        condition,
                        given_pairs,
                        possible_pairs,
                        possible_vectors.extent,
                    ),
                    addition: additions.remove(&(condition, given_pairs.form())),
                }
            };
        let conditions: Vec<ConditionAnalysis> = (0..self.decision.conditions)
            .map(|condition| ConditionAnalysis {
                unique_cause: form_analysis(
                    condition,
                    &unique_cause_pairs,
                    &possible_vectors.unique_cause,
                ),
                masking: form_analysis(condition, &masking_pairs, &possible_vectors.masking),
            })
            .collect();
        let mut analysis = McdcAnalysis {
            given: given_vectors,
            conditions,
            missing: Vec::new(),
            extent: possible_vectors.extent,
            closing_set: Vec::new(),
            minimality: Minimality::Proved,
        };
        self.complete_analysis(&mut analysis, &packed_vectors, &possible_vectors);
        Ok(analysis)
    }

    fn search_pairs(
        &self,
        form: IndependenceForm,
        wanted: WantedPair,
        vectors: &[PackedVector],
    ) -> PairSearch {
        let mut pair_search = PairSearch::new(form, wanted, self.decision.conditions);
        let mut node_values = Vec::new();
        for (vector_index, vector) in vectors.iter().enumerate() {
            self.decision.node_values(*vector, &mut node_values);
            pair_search.offer_vector(&self.ways, vector_index, *vector, &node_values);
        }
        pair_search
    }

    fn possible_vectors(&self) -> PossibleVectors {
        let mut outcome_by_vector = Vec::new();
        let extent =
            self.decision.enumerate_vectors(MAX_VECTORS, &mut |packed_vectors, outcome| {
                outcome_by_vector.push((packed_vectors, outcome))
            });
        let packed_vectors: Vec<PackedVector> = match extent {
            EnumerationExtent::Complete => {
                outcome_by_vector.iter().map(|(packed_vectors, _)| *packed_vectors).collect()
            }
            EnumerationExtent::CutOff => Vec::new(),
        };
        let unique_cause_pairs =
            self.search_pairs(IndependenceForm::UniqueCause, WantedPair::Any, &packed_vectors);
        let masking_pairs =
            self.search_pairs(IndependenceForm::Masking, WantedPair::Any, &packed_vectors);
        PossibleVectors {
            vectors: outcome_by_vector,
            extent,
            unique_cause: unique_cause_pairs,
            masking: masking_pairs,
        }
    }

    fn condition_attainability(
        &self,
        condition: usize,
        given_pairs: &PairSearch,
        possible_pairs: &PairSearch,
        extent: EnumerationExtent,
    ) -> Attainability {
        if given_pairs.pair_of(condition).is_some()
            || possible_pairs.pair_of(condition).is_some()
            || !self.decision.is_restricted()
        {
            return Attainability::Attainable;
        }
        match extent {
            EnumerationExtent::Complete => Attainability::Unattainable,
            EnumerationExtent::CutOff => Attainability::Unknown,
        }
    }

    /// For every condition and form that is not shown but can be: the first single vector that
    /// shows it with those at hand, else a pair that does.
    fn form_additions(
        &self,
        pair_searches: [&PairSearch; 2],
        given_vectors: &[Vector],
        possible_vectors: &PossibleVectors,
    ) -> BTreeMap<(usize, IndependenceForm), VectorAddition> {
        let mut found_additions = BTreeMap::new();
        let mut open_conditions: Vec<(usize, &PairSearch)> = Vec::new();
        for (given_pairs, possible_pairs) in pair_searches
            .into_iter()
            .zip([&possible_vectors.unique_cause, &possible_vectors.masking])
        {
            for condition in (0..self.decision.conditions)
                .filter(|&condition| given_pairs.pair_of(condition).is_none())
            {
                if let Some(pair) = possible_pairs.pair_of(condition) {
                    let vectors = pair
                        .iter()
                        .map(|&vector_index| {
                            self.decision.values_from(possible_vectors.vectors[vector_index].0)
                        })
                        .collect();
                    found_additions.insert(
                        (condition, given_pairs.form()),
                        VectorAddition { vectors, partner: None },
                    );
                    open_conditions.push((condition, given_pairs));
                }
            }
        }
        let mut node_values = Vec::new();
        for (vector, _) in
            possible_vectors.listed_vectors().iter().filter(|_| !given_vectors.is_empty())
        {
            if open_conditions.is_empty() {
                break;
            }
            self.decision.node_values(*vector, &mut node_values);
            open_conditions.retain(|(condition, given_pairs)| {
                let group = self.ways.sensitivity_group(
                    given_pairs.form(),
                    *condition,
                    *vector,
                    &node_values,
                );
                let partner = vector.value_of(*condition).zip(group);
                let partner = partner
                    .and_then(|(value, group)| given_pairs.pair_partner(*condition, group, value));
                if let Some(partner) = partner {
                    let (vectors, partner) = (
                        vec![self.decision.values_from(*vector)],
                        Some(given_vectors[partner].values.clone()),
                    );
                    found_additions.insert(
                        (*condition, given_pairs.form()),
                        VectorAddition { vectors, partner },
                    );
                }
                partner.is_none()
            });
        }
        found_additions
    }

    /// Vectors that short-circuit evaluation allows and coupled conditions exclude, canonical
    /// order; none where too many can occur to list.
    pub(crate) fn excluded_by_coupling(&self) -> Option<Vec<Values>> {
        if !self.decision.is_coupled() {
            return Some(Vec::new());
        }
        let uncoupled_vectors = self.decision.without_coupling().feasible_vectors(MAX_VECTORS);
        let can_occur = |vector: &Vector| self.decision.vector_outcome(&vector.values).is_ok();
        match uncoupled_vectors.extent {
            EnumerationExtent::Complete => Some(
                uncoupled_vectors
                    .vectors
                    .into_iter()
                    .filter(|v| !can_occur(v))
                    .map(|v| v.values)
                    .collect(),
            ),
            EnumerationExtent::CutOff => None,
        }
    }
}
