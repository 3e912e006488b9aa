//! Which vectors to add so that every attainable condition is shown by masking.

use super::super::closing::{self, Candidate, LOOK_BUDGET, Minimality, Shape, Task, Token};
use super::super::decision::{Extent, Node, Packed};
use super::super::independence::{Form, GroupMap, Wanted};
use super::{Addition, Analysis, Attainability, Mcdc, Possible};
use std::collections::BTreeSet;
use vkcert_model::vector::{Outcome, Values, Vector};

/// Candidates that the search for a smallest test set looks at; every decision of a kernel is
/// searched.
const MINIMUM_LOOKS: u32 = 1_000_000;

impl Mcdc {
    /// Fills in what is missing and how to close it.
    pub(super) fn complete(&self, analysis: &mut Analysis, given: &[Packed], possible: &Possible) {
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

    pub(super) fn task(
        &self,
        form: Form,
        open: &[usize],
        given: &[Packed],
        possible: &Possible,
    ) -> Task {
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
