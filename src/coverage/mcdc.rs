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

use super::closing::Minimality;
use super::decision::{Decision, Extent, Limit, Packed, VectorFault};
use super::independence::{Form, PairSearch, Wanted, Ways};
use super::limits::MAX_VECTORS;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::structure::BooleanExpression;
use vkcert_model::vector::{Values, Vector};

/// A decision made ready for analysis.
#[derive(Debug, Clone)]
pub struct Mcdc {
    decision: Decision,
    ways: Ways,
}

/// Why a set of vectors cannot be analysed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum McdcError {
    #[error(transparent)]
    Limit(#[from] Limit),
    #[error(transparent)]
    Vector(#[from] VectorFault),
}

/// Everything that follows from the vectors at hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Analysis {
    /// The vectors at hand, canonical order, each once.
    pub given: Vec<Vector>,
    /// By condition.
    pub conditions: Vec<ConditionAnalysis>,
    /// Vectors that can occur and are not at hand, canonical order; empty where `extent` is cut
    /// off.
    pub missing: Vec<Vector>,
    /// Whether the vectors that can occur are few enough to list.
    pub extent: Extent,
    /// Vectors that together with those at hand show every attainable condition by masking,
    /// canonical order.
    pub closing_set: Vec<Values>,
    pub minimality: Minimality,
}

/// One condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionAnalysis {
    pub unique_cause: FormAnalysis,
    pub masking: FormAnalysis,
}

impl ConditionAnalysis {
    pub fn form(&self, form: Form) -> &FormAnalysis {
        match form {
            Form::UniqueCause => &self.unique_cause,
            Form::Masking => &self.masking,
        }
    }
}

/// One condition under one form of MC/DC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormAnalysis {
    /// The vector in which the condition is true, then the one in which it is false.
    pub pair: Option<[Values; 2]>,
    pub attainability: Attainability,
    /// What would show a condition that is not shown but can be.
    pub addition: Option<Addition>,
}

/// The fewest vectors that would show one condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addition {
    /// One vector, where a vector at hand is the other half of the pair; else two.
    pub vectors: Vec<Values>,
    /// The vector at hand that makes the pair.
    pub partner: Option<Values>,
}

/// How many vectors show every condition that can be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Minimum {
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
    Attainable,
    /// Coupled or fixed conditions forbid every pair.
    Unattainable,
    /// Too many vectors can occur to look at all of them.
    Unknown,
}

/// The possible vectors and what they show.
struct Possible {
    vectors: Vec<(Packed, bool)>,
    extent: Extent,
    unique_cause: PairSearch,
    masking: PairSearch,
}

impl Possible {
    /// The vectors, where they are all.
    fn listed(&self) -> &[(Packed, bool)] {
        match self.extent {
            Extent::Complete => &self.vectors,
            Extent::CutOff => &[],
        }
    }
}

impl Mcdc {
    /// See [`Decision::new`].
    pub fn new(expression: &BooleanExpression, coupling: &[u32]) -> Result<Self, Limit> {
        let decision = Decision::new(expression, coupling)?;
        let ways = Ways::new(&decision);
        Ok(Self { decision, ways })
    }

    /// The same with conditions fixed; see [`Decision::with_fixed`].
    pub fn with_fixed(self, fixed: &[Option<bool>]) -> Self {
        Self { decision: self.decision.with_fixed(fixed), ways: self.ways }
    }

    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// Analyses vectors that tests showed or a user gave; see [`Decision::recorded_outcome`] for
    /// what is refused.
    pub fn analyse(&self, given: &[Values]) -> Result<Analysis, McdcError> {
        let distinct: BTreeSet<&Values> = given.iter().collect();
        if distinct.len() > MAX_VECTORS {
            return Err(Limit::Vectors(distinct.len()).into());
        }
        let outcome = |values: &&Values| {
            let outcome = self.decision.recorded_outcome(values)?;
            Ok(Vector { values: (*values).clone(), outcome })
        };
        let given: Vec<Vector> =
            distinct.iter().map(outcome).collect::<Result<_, VectorFault>>()?;
        let packed: Vec<Packed> =
            given.iter().map(|vector| self.decision.pack(&vector.values)).collect();
        let unique_cause = self.pairs(Form::UniqueCause, Wanted::First, &packed);
        let masking = self.pairs(Form::Masking, Wanted::First, &packed);
        let possible = self.possible();
        let mut additions = self.additions([&unique_cause, &masking], &given, &possible);
        let mut form = |condition: usize, pairs: &PairSearch, all: &PairSearch| FormAnalysis {
            pair: pairs.pair(condition).map(|pair| pair.map(|index| given[index].values.clone())),
            attainability: self.attainability(condition, pairs, all, possible.extent),
            addition: additions.remove(&(condition, pairs.form())),
        };
        let conditions: Vec<ConditionAnalysis> = (0..self.decision.conditions)
            .map(|condition| ConditionAnalysis {
                unique_cause: form(condition, &unique_cause, &possible.unique_cause),
                masking: form(condition, &masking, &possible.masking),
            })
            .collect();
        let mut analysis = Analysis {
            given,
            conditions,
            missing: Vec::new(),
            extent: possible.extent,
            closing_set: Vec::new(),
            minimality: Minimality::Proved,
        };
        self.complete(&mut analysis, &packed, &possible);
        Ok(analysis)
    }

    fn pairs(&self, form: Form, wanted: Wanted, vectors: &[Packed]) -> PairSearch {
        let mut pairs = PairSearch::new(form, wanted, self.decision.conditions);
        let mut values = Vec::new();
        for (index, vector) in vectors.iter().enumerate() {
            self.decision.node_values(*vector, &mut values);
            pairs.offer(&self.ways, index, *vector, &values);
        }
        pairs
    }

    fn possible(&self) -> Possible {
        let mut vectors = Vec::new();
        let extent = self
            .decision
            .enumerate(MAX_VECTORS, &mut |packed, outcome| vectors.push((packed, outcome)));
        let packed: Vec<Packed> = match extent {
            Extent::Complete => vectors.iter().map(|(packed, _)| *packed).collect(),
            Extent::CutOff => Vec::new(),
        };
        let unique_cause = self.pairs(Form::UniqueCause, Wanted::Any, &packed);
        let masking = self.pairs(Form::Masking, Wanted::Any, &packed);
        Possible { vectors, extent, unique_cause, masking }
    }

    fn attainability(
        &self,
        condition: usize,
        at_hand: &PairSearch,
        all: &PairSearch,
        extent: Extent,
    ) -> Attainability {
        if at_hand.pair(condition).is_some()
            || all.pair(condition).is_some()
            || !self.decision.is_restricted()
        {
            return Attainability::Attainable;
        }
        match extent {
            Extent::Complete => Attainability::Unattainable,
            Extent::CutOff => Attainability::Unknown,
        }
    }

    /// For every condition and form that is not shown but can be: the first single vector that
    /// shows it with those at hand, else a pair that does.
    fn additions(
        &self,
        at_hand: [&PairSearch; 2],
        given: &[Vector],
        possible: &Possible,
    ) -> BTreeMap<(usize, Form), Addition> {
        let mut found = BTreeMap::new();
        let mut open: Vec<(usize, &PairSearch)> = Vec::new();
        for (pairs, all) in at_hand.into_iter().zip([&possible.unique_cause, &possible.masking]) {
            for condition in
                (0..self.decision.conditions).filter(|&condition| pairs.pair(condition).is_none())
            {
                if let Some(pair) = all.pair(condition) {
                    let vectors = pair
                        .iter()
                        .map(|&index| self.decision.unpack(possible.vectors[index].0))
                        .collect();
                    found.insert((condition, pairs.form()), Addition { vectors, partner: None });
                    open.push((condition, pairs));
                }
            }
        }
        let mut values = Vec::new();
        for (vector, _) in possible.listed().iter().filter(|_| !given.is_empty()) {
            if open.is_empty() {
                break;
            }
            self.decision.node_values(*vector, &mut values);
            open.retain(|(condition, pairs)| {
                let group = self.ways.group(pairs.form(), *condition, *vector, &values);
                let partner = vector.get(*condition).zip(group);
                let partner =
                    partner.and_then(|(value, group)| pairs.would_close(*condition, group, value));
                if let Some(partner) = partner {
                    let (vectors, partner) =
                        (vec![self.decision.unpack(*vector)], Some(given[partner].values.clone()));
                    found.insert((*condition, pairs.form()), Addition { vectors, partner });
                }
                partner.is_none()
            });
        }
        found
    }

    /// Vectors that short-circuit evaluation allows and coupled conditions exclude, canonical
    /// order; none where too many can occur to list.
    pub fn excluded_by_coupling(&self) -> Option<Vec<Values>> {
        if !self.decision.is_coupled() {
            return Some(Vec::new());
        }
        let all = self.decision.uncoupled().feasible(MAX_VECTORS);
        let possible = |vector: &Vector| self.decision.outcome(&vector.values).is_ok();
        match all.extent {
            Extent::Complete => {
                Some(all.vectors.into_iter().filter(|v| !possible(v)).map(|v| v.values).collect())
            }
            Extent::CutOff => None,
        }
    }
}
