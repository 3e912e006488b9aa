//! The MC/DC calculus over one decision: pairs, attainability, missing vectors, closing set.
//!
//! Knows: an expression with coupled conditions, and a set of vectors at hand.
//! Promises: exact for up to [`MAX_VECTORS`] vectors at hand and [`MAX_CONDITIONS`](super::decision::MAX_CONDITIONS)
//! conditions. The first pair in canonical order is named (by the vector in which the condition is true, then the one in
//! which it is false). A condition is called unattainable only if no two vectors that can occur show it.
//! Does not cover: decisions with more than [`MAX_VECTORS`] possible vectors (only long `^^` chains have so many) get no
//! list of missing vectors. Without coupling every condition of such a decision is attainable still: the operands beside
//! its way to the root share no condition, so each can be given its non-controlling value. With coupling it is unknown.

use super::closing::{self, Candidate, Minimality, Shape, Task, Token};
use super::decision::{Decision, Extent, Limit, Node, Packed, VectorFault};
use super::independence::{Form, GroupMap, PairSearch, Wanted, Ways};
use crate::model::structure::BooleanExpression;
use crate::model::vector::{Outcome, Values, Vector};
use std::collections::BTreeSet;

/// Most vectors, at hand or possible, that the calculus lists and searches.
pub const MAX_VECTORS: usize = 65_536;

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
    /// Vectors that can occur and are not at hand, canonical order; empty where `extent` is cut off.
    pub missing: Vec<Vector>,
    /// Whether the vectors that can occur are few enough to list.
    pub extent: Extent,
    /// Vectors that together with those at hand show every attainable condition by masking, canonical order.
    pub closing_set: Vec<Values>,
    pub minimality: Minimality,
}

/// One condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionAnalysis {
    pub unique_cause: FormAnalysis,
    pub masking: FormAnalysis,
    /// For a condition that is not shown by masking but can be: one vector (else two) that would show it.
    pub addition: Vec<Values>,
}

/// One condition under one form of MC/DC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormAnalysis {
    /// The vector in which the condition is true, then the one in which it is false.
    pub pair: Option<[Values; 2]>,
    pub attainability: Attainability,
}

/// Whether any pair of possible vectors shows a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attainability {
    Attainable,
    /// Coupling forbids every pair.
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

impl Mcdc {
    /// See [`Decision::new`].
    pub fn new(expression: &BooleanExpression, coupling: &[u32]) -> Result<Self, Limit> {
        let decision = Decision::new(expression, coupling)?;
        let ways = Ways::new(&decision);
        Ok(Self { decision, ways })
    }

    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// Analyses vectors that tests showed or a user gave; see [`Decision::recorded_outcome`] for what is refused.
    pub fn analyse(&self, given: &[Values]) -> Result<Analysis, McdcError> {
        let distinct: BTreeSet<&Values> = given.iter().collect();
        if distinct.len() > MAX_VECTORS {
            return Err(Limit::Vectors(distinct.len()).into());
        }
        let outcome = |values: &&Values| {
            let outcome = self.decision.recorded_outcome(values)?;
            Ok(Vector { values: (*values).clone(), outcome })
        };
        let given: Vec<Vector> = distinct.iter().map(outcome).collect::<Result<_, VectorFault>>()?;
        let packed: Vec<Packed> = given.iter().map(|vector| self.decision.pack(&vector.values)).collect();
        let unique_cause = self.pairs(Form::UniqueCause, Wanted::First, &packed);
        let masking = self.pairs(Form::Masking, Wanted::First, &packed);
        let possible = self.possible();
        let form = |condition: usize, pairs: &PairSearch, all: &PairSearch| FormAnalysis {
            pair: pairs.pair(condition).map(|pair| pair.map(|index| given[index].values.clone())),
            attainability: self.attainability(condition, pairs, all, possible.extent),
        };
        let conditions: Vec<ConditionAnalysis> = (0..self.decision.conditions)
            .map(|condition| ConditionAnalysis {
                unique_cause: form(condition, &unique_cause, &possible.unique_cause),
                masking: form(condition, &masking, &possible.masking),
                addition: Vec::new(),
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
        self.complete(&mut analysis, &packed, &masking, &possible);
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
        let extent = self.decision.enumerate(MAX_VECTORS, &mut |packed, outcome| vectors.push((packed, outcome)));
        let packed: Vec<Packed> = match extent {
            Extent::Complete => vectors.iter().map(|(packed, _)| *packed).collect(),
            Extent::CutOff => Vec::new(),
        };
        let unique_cause = self.pairs(Form::UniqueCause, Wanted::Any, &packed);
        let masking = self.pairs(Form::Masking, Wanted::Any, &packed);
        Possible { vectors, extent, unique_cause, masking }
    }

    fn attainability(&self, condition: usize, at_hand: &PairSearch, all: &PairSearch, extent: Extent) -> Attainability {
        if at_hand.pair(condition).is_some() || all.pair(condition).is_some() || !self.decision.is_coupled() {
            return Attainability::Attainable;
        }
        match extent {
            Extent::Complete => Attainability::Unattainable,
            Extent::CutOff => Attainability::Unknown,
        }
    }

    /// Fills in what is missing and how to close it.
    fn complete(&self, analysis: &mut Analysis, given: &[Packed], masking: &PairSearch, possible: &Possible) {
        let open: Vec<usize> = (0..self.decision.conditions)
            .filter(|&condition| {
                let form = &analysis.conditions[condition].masking;
                form.pair.is_none() && form.attainability == Attainability::Attainable
            })
            .collect();
        match possible.extent {
            Extent::Complete => {
                let known: BTreeSet<Values> = analysis.given.iter().map(|vector| vector.values.clone()).collect();
                let all = possible.vectors.iter();
                let all = all.map(|(packed, outcome)| Vector {
                    values: self.decision.unpack(*packed),
                    outcome: Outcome::from(*outcome),
                });
                analysis.missing = all.filter(|vector| !known.contains(&vector.values)).collect();
                let task = self.task(&open, analysis, given, possible);
                let (chosen, minimality) = closing::close(&task);
                let values = |&index: &usize| self.decision.unpack(task.candidates[index].vector);
                analysis.closing_set = chosen.iter().map(values).collect();
                analysis.minimality = minimality;
                for &condition in &open {
                    analysis.conditions[condition].addition = self.addition(condition, masking, possible);
                }
            }
            Extent::CutOff if self.decision.is_coupled() => analysis.minimality = Minimality::NotProved,
            Extent::CutOff => self.construct(analysis, &open, given),
        }
    }

    /// The first single vector that shows the condition with those at hand, else a pair that does.
    fn addition(&self, condition: usize, at_hand: &PairSearch, possible: &Possible) -> Vec<Values> {
        let mut values = Vec::new();
        for (vector, _) in &possible.vectors {
            let Some(value) = vector.get(condition) else { continue };
            self.decision.node_values(*vector, &mut values);
            let group = self.ways.group(Form::Masking, condition, *vector, &values);
            if group.is_some_and(|group| at_hand.would_close(condition, group, value).is_some()) {
                return vec![self.decision.unpack(*vector)];
            }
        }
        let pair = possible.masking.pair(condition);
        pair.iter().flatten().map(|&index| self.decision.unpack(possible.vectors[index].0)).collect()
    }

    fn task(&self, open: &[usize], analysis: &Analysis, given: &[Packed], possible: &Possible) -> Task {
        let mut numbers = GroupMap::default();
        let mut values = Vec::new();
        let mut tokens = |vector: Packed| -> Vec<Token> {
            self.decision.node_values(vector, &mut values);
            let token = |(place, &condition): (usize, &usize)| {
                let group = self.ways.group(Form::Masking, condition, vector, &values)?;
                let next = numbers.len();
                let group = *numbers.entry((condition, group)).or_insert(next);
                Some(Token { condition: place, group, value: vector.get(condition)? })
            };
            open.iter().enumerate().filter_map(token).collect()
        };
        let at_hand: Vec<Token> = given.iter().flat_map(|vector| tokens(*vector)).collect();
        let known: BTreeSet<(u128, u128)> = given.iter().map(|vector| (vector.evaluated, vector.truth)).collect();
        let candidates: Vec<Candidate> = possible
            .vectors
            .iter()
            .filter(|(vector, _)| !known.contains(&(vector.evaluated, vector.truth)))
            .map(|(vector, outcome)| Candidate { vector: *vector, outcome: *outcome, tokens: tokens(*vector) })
            .filter(|candidate| !candidate.tokens.is_empty())
            .collect();
        let mut groups = vec![[false; 2]; numbers.len()];
        for token in at_hand {
            groups[token.group][usize::from(!token.value)] = true;
        }
        let cover = open.iter().all(|&condition| self.ways.without_exclusive(condition));
        let truths = analysis.given.iter().filter(|vector| vector.outcome.as_bool()).count();
        Task {
            open: open.len(),
            groups,
            outcomes: [truths, given.len() - truths],
            candidates,
            at_least: self.exclusive_bound(open, given),
            shape: if cover { Shape::Cover } else { Shape::General },
        }
    }

    /// How many further vectors the `^^` chain at the root demands.
    ///
    /// A pair that shows a condition inside operand `i` of the chain changes the value of that operand and of no other.
    /// Take one such pair per operand with an open condition, and look at the vectors as points whose coordinates are
    /// the values of these operands. The pairs are edges along different axes, so they close no circle: `n` edges need
    /// `n + 1` points, and one vector adds at most one.
    fn exclusive_bound(&self, open: &[usize], given: &[Packed]) -> usize {
        let mut operands = Vec::new();
        let mut stack = vec![self.decision.root()];
        while let Some(node) = stack.pop() {
            match self.decision.nodes[node] {
                Node::Xor(left, right) => stack.extend([left, right]),
                Node::Not(operand) if operands.is_empty() && stack.is_empty() => stack.push(operand),
                Node::Not(_) | Node::Condition(_) | Node::And(..) | Node::Or(..) => operands.push(node),
            }
        }
        operands.retain(|&operand| open.iter().any(|&condition| self.holds(operand, condition)));
        if operands.is_empty() {
            return 0;
        }
        let mut values = Vec::new();
        let mut points = BTreeSet::new();
        for vector in given {
            self.decision.node_values(*vector, &mut values);
            points.insert(operands.iter().map(|&operand| values[operand]).collect::<Vec<_>>());
        }
        (operands.len() + 1).saturating_sub(points.len())
    }

    /// Whether a condition stands below a node.
    fn holds(&self, node: usize, condition: usize) -> bool {
        match self.decision.nodes[node] {
            Node::Condition(here) => here == condition,
            Node::Not(operand) => self.holds(operand, condition),
            Node::And(left, right) | Node::Or(left, right) | Node::Xor(left, right) => {
                self.holds(left, condition) || self.holds(right, condition)
            }
        }
    }

    /// The closing set of an uncoupled decision with too many vectors to list: two made-up vectors per open condition,
    /// which agree as far as they can from condition to condition.
    fn construct(&self, analysis: &mut Analysis, open: &[usize], given: &[Packed]) {
        let mut all = given.to_vec();
        let mut added: BTreeSet<Values> = BTreeSet::new();
        for &condition in open {
            let pair = [true, false].map(|value| self.sensitive_vector(condition, value));
            let new = pair.iter().map(|vector| self.decision.unpack(*vector));
            analysis.conditions[condition].addition =
                new.filter(|values| analysis.given.iter().all(|known| known.values != *values)).collect();
            if self.pairs(Form::Masking, Wanted::Any, &all).pair(condition).is_none() {
                added.extend(analysis.conditions[condition].addition.iter().cloned());
                all.extend(pair);
            }
        }
        let proved = added.len() <= self.exclusive_bound(open, given);
        analysis.closing_set = added.into_iter().collect();
        analysis.minimality = if proved { Minimality::Proved } else { Minimality::NotProved };
    }

    /// A vector that is sensitive to a condition with the given value; operands at `^^` are true where they are free.
    fn sensitive_vector(&self, condition: usize, value: bool) -> Packed {
        let mut assigned = vec![true; self.decision.conditions];
        self.sensitise(self.decision.root(), condition, &mut assigned);
        assigned[condition] = value;
        let truth = assigned.iter().enumerate().fold(0, |bits, (index, value)| bits | u128::from(*value) << index);
        self.decision.short_circuited(truth)
    }

    fn sensitise(&self, node: usize, condition: usize, assigned: &mut [bool]) {
        let mut beside = |left: usize, right: usize, value: bool| {
            let (way, sibling) = if self.holds(left, condition) { (left, right) } else { (right, left) };
            self.force(sibling, value, assigned);
            self.sensitise(way, condition, assigned);
        };
        match self.decision.nodes[node] {
            Node::Condition(_) => {}
            Node::Not(operand) => self.sensitise(operand, condition, assigned),
            Node::And(left, right) | Node::Xor(left, right) => beside(left, right, true),
            Node::Or(left, right) => beside(left, right, false),
        }
    }

    /// Assigns conditions so that a node takes a value.
    fn force(&self, node: usize, value: bool, assigned: &mut [bool]) {
        match self.decision.nodes[node] {
            Node::Condition(condition) => assigned[condition] = value,
            Node::Not(operand) => self.force(operand, !value, assigned),
            Node::And(left, right) | Node::Or(left, right) => {
                self.force(left, value, assigned);
                self.force(right, value, assigned);
            }
            Node::Xor(left, right) => {
                self.force(left, true, assigned);
                self.force(right, !value, assigned);
            }
        }
    }
}
