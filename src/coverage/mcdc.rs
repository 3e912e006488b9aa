//! The MC/DC calculus over one decision: pairs, attainability, missing vectors, closing set,
//! smallest test sets.
//!
//! Knows: an expression with coupled and fixed conditions, and a set of vectors at hand.
//! Promises: exact for up to [`MAX_VECTORS`] vectors at hand and
//! [`MAX_CONDITIONS`](super::decision::MAX_CONDITIONS) conditions. The first pair in canonical
//! order is named (by the vector in which the condition is true, then the one in which it is
//! false). A condition is called unattainable only if no two vectors that can occur show it.
//! Does not cover: decisions with more than [`MAX_VECTORS`] possible vectors (only long `^^` chains
//! have so many) get no list of missing vectors. Without coupling every condition of such a
//! decision is attainable still: the operands beside its way to the root share no condition, so
//! each can be given its non-controlling value. With coupled or fixed conditions it is unknown.

use super::closing::{self, Candidate, LOOK_BUDGET, Minimality, Shape, Task, Token};
use super::decision::{Decision, Extent, Limit, Node, Packed, VectorFault};
use super::independence::{Form, GroupMap, PairSearch, Wanted, Ways};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::structure::BooleanExpression;
use vkcert_model::vector::{Outcome, Values, Vector};

/// Most vectors, at hand or possible, that the calculus lists and searches.
pub const MAX_VECTORS: usize = 65_536;

/// Candidates that the search for a smallest test set looks at; every decision of a kernel is
/// searched.
const MINIMUM_LOOKS: u32 = 1_000_000;

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

    /// Fills in what is missing and how to close it.
    fn complete(&self, analysis: &mut Analysis, given: &[Packed], possible: &Possible) {
        let open: Vec<usize> = (0..self.decision.conditions)
            .filter(|&condition| {
                let form = &analysis.conditions[condition].masking;
                form.pair.is_none() && form.attainability == Attainability::Attainable
            })
            .collect();
        match possible.extent {
            Extent::Complete => {
                let known: BTreeSet<Values> =
                    analysis.given.iter().map(|vector| vector.values.clone()).collect();
                let all = possible.vectors.iter();
                let all = all.map(|(packed, outcome)| Vector {
                    values: self.decision.unpack(*packed),
                    outcome: Outcome::from(*outcome),
                });
                analysis.missing = all.filter(|vector| !known.contains(&vector.values)).collect();
                let task =
                    Task { looks: LOOK_BUDGET, ..self.task(Form::Masking, &open, given, possible) };
                let closing = closing::close(&task);
                let values = |&index: &usize| self.decision.unpack(task.candidates[index].vector);
                analysis.closing_set = closing.chosen.iter().map(values).collect();
                analysis.minimality = closing.minimality();
            }
            Extent::CutOff if self.decision.is_restricted() => {
                analysis.minimality = Minimality::NotProved
            }
            Extent::CutOff => self.construct(analysis, &open, given),
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

    /// How many vectors MC/DC of the whole decision takes, in one form; none where too many vectors
    /// can occur to tell.
    ///
    /// *Unique cause, nothing coupled or fixed: n + 1.* No fewer: take one pair per condition as
    /// edges between vectors. A pair agrees wholly on the conditions before the shown one; so
    /// around a circle of such edges the first condition shown on it would change once and never
    /// back. The edges close no circle, and n of them touch n + 1 vectors (the same holds of any k
    /// conditions that can be shown). No more: `L && R` takes the vectors of `L`, each true one
    /// with one true vector of `R` behind it, and behind one true vector of `L` all the others of
    /// `R`; likewise `||` and `^^`.
    ///
    /// *Masking, nothing coupled or fixed, no `^^`.* Let a set need `t` vectors with the outcome
    /// true and `f` with false. A condition alone needs one of each. True vectors of `L && R` are
    /// sensitive to what true vectors of `L` and of `R` are sensitive to, both at once; false ones
    /// to one side alone. So `t` is the larger of both sides, `f` their sum; with `||` the other
    /// way round, and `!` swaps.
    pub fn minimum(&self, form: Form) -> Option<Minimum> {
        let conditions = self.decision.conditions;
        if !self.decision.is_restricted() {
            let exact = match form {
                Form::UniqueCause => Some(conditions + 1),
                Form::Masking => self.masking_minimum(),
            };
            if let Some(vectors) = exact {
                return Some(Minimum { vectors, at_least: vectors, conditions });
            }
        }
        let possible = self.possible();
        match possible.extent {
            Extent::Complete => {}
            Extent::CutOff => return None,
        }
        let all = match form {
            Form::UniqueCause => &possible.unique_cause,
            Form::Masking => &possible.masking,
        };
        let open: Vec<usize> =
            (0..conditions).filter(|&condition| all.pair(condition).is_some()).collect();
        let closing = closing::close(&self.task(form, &open, &[], &possible));
        Some(Minimum {
            vectors: closing.chosen.len(),
            at_least: closing.at_least,
            conditions: open.len(),
        })
    }

    /// See `minimum`; none where the decision has `^^`.
    fn masking_minimum(&self) -> Option<usize> {
        let mut needs: Vec<[usize; 2]> = Vec::with_capacity(self.decision.nodes.len());
        for node in &self.decision.nodes {
            needs.push(match *node {
                Node::Condition(_) => [1, 1],
                Node::Not(operand) => [needs[operand][1], needs[operand][0]],
                Node::And(left, right) => {
                    [needs[left][0].max(needs[right][0]), needs[left][1] + needs[right][1]]
                }
                Node::Or(left, right) => {
                    [needs[left][0] + needs[right][0], needs[left][1].max(needs[right][1])]
                }
                Node::Xor(..) => return None,
            });
        }
        needs.last().map(|[t, f]| t + f)
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

    fn task(&self, form: Form, open: &[usize], given: &[Packed], possible: &Possible) -> Task {
        let mut numbers = GroupMap::default();
        let mut values = Vec::new();
        let mut tokens = |vector: Packed| -> Vec<Token> {
            self.decision.node_values(vector, &mut values);
            let token = |(place, &condition): (usize, &usize)| {
                let group = self.ways.group(form, condition, vector, &values)?;
                let next = numbers.len();
                let group = *numbers.entry((condition, group)).or_insert(next);
                Some(Token { condition: place, group, value: vector.get(condition)? })
            };
            open.iter().enumerate().filter_map(token).collect()
        };
        let at_hand: Vec<Token> = given.iter().flat_map(|vector| tokens(*vector)).collect();
        let known: BTreeSet<(u128, u128)> =
            given.iter().map(|vector| (vector.evaluated, vector.truth)).collect();
        let candidates: Vec<Candidate> = possible
            .vectors
            .iter()
            .filter(|(vector, _)| !known.contains(&(vector.evaluated, vector.truth)))
            .map(|(vector, outcome)| Candidate {
                vector: *vector,
                outcome: *outcome,
                tokens: tokens(*vector),
            })
            .filter(|candidate| !candidate.tokens.is_empty())
            .collect();
        let mut groups = vec![[false; 2]; numbers.len()];
        for token in at_hand {
            groups[token.group][usize::from(!token.value)] = true;
        }
        let (cover, forest) = match form {
            Form::Masking => {
                (open.iter().all(|&condition| self.ways.without_exclusive(condition)), 0)
            }
            // See `minimum`: pairs of unique cause close no circle.
            Form::UniqueCause if open.is_empty() => (false, 0),
            Form::UniqueCause => (false, (open.len() + 1).saturating_sub(given.len())),
        };
        let truths = given.iter().filter(|vector| self.decision.packed_outcome(**vector)).count();
        Task {
            open: open.len(),
            groups,
            outcomes: [truths, given.len() - truths],
            candidates,
            at_least: self.exclusive_bound(open, given).max(forest),
            looks: MINIMUM_LOOKS,
            shape: if cover { Shape::Cover } else { Shape::General },
        }
    }

    /// How many further vectors the `^^` chain at the root demands.
    ///
    /// A pair that shows a condition inside operand `i` of the chain changes the value of that
    /// operand and of no other. Take one such pair per operand with an open condition, and look at
    /// the vectors as points whose coordinates are the values of these operands. The pairs are
    /// edges along different axes, so they close no circle: `n` edges need `n + 1` points, and one
    /// vector adds at most one.
    fn exclusive_bound(&self, open: &[usize], given: &[Packed]) -> usize {
        let mut operands = Vec::new();
        let mut stack = vec![self.decision.root()];
        while let Some(node) = stack.pop() {
            match self.decision.nodes[node] {
                Node::Xor(left, right) => stack.extend([left, right]),
                Node::Not(operand) if operands.is_empty() && stack.is_empty() => {
                    stack.push(operand)
                }
                Node::Not(_) | Node::Condition(_) | Node::And(..) | Node::Or(..) => {
                    operands.push(node)
                }
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

    /// The closing set of an uncoupled decision with too many vectors to list: two made-up vectors
    /// per open condition, which agree as far as they can from condition to condition.
    fn construct(&self, analysis: &mut Analysis, open: &[usize], given: &[Packed]) {
        let mut all = given.to_vec();
        let mut added: BTreeSet<Values> = BTreeSet::new();
        for &condition in open {
            let pair = [true, false].map(|value| self.sensitive_vector(condition, value));
            let known =
                |values: &Values| analysis.given.iter().any(|known| known.values == *values);
            let (partner, new): (Vec<Values>, Vec<Values>) =
                pair.iter().map(|vector| self.decision.unpack(*vector)).partition(known);
            if self.pairs(Form::Masking, Wanted::Any, &all).pair(condition).is_none() {
                added.extend(new.iter().cloned());
                all.extend(pair);
            }
            let partner = partner.into_iter().next();
            analysis.conditions[condition].masking.addition =
                Some(Addition { vectors: new, partner });
        }
        let proved = added.len() <= self.exclusive_bound(open, given);
        analysis.closing_set = added.into_iter().collect();
        analysis.minimality = if proved { Minimality::Proved } else { Minimality::NotProved };
    }

    /// A vector that is sensitive to a condition with the given value; operands at `^^` are true
    /// where they are free.
    fn sensitive_vector(&self, condition: usize, value: bool) -> Packed {
        let mut assigned = vec![true; self.decision.conditions];
        self.sensitise(self.decision.root(), condition, &mut assigned);
        assigned[condition] = value;
        let truth = assigned
            .iter()
            .enumerate()
            .fold(0, |bits, (index, value)| bits | u128::from(*value) << index);
        self.decision.short_circuited(truth)
    }

    fn sensitise(&self, node: usize, condition: usize, assigned: &mut [bool]) {
        let mut beside = |left: usize, right: usize, value: bool| {
            let (way, sibling) =
                if self.holds(left, condition) { (left, right) } else { (right, left) };
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
