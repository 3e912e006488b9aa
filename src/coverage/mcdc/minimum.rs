//! How many vectors MC/DC of a whole decision takes.

use super::super::closing;
use super::super::decision::{Extent, Node, Packed};
use super::super::independence::Form;
use super::{Mcdc, Minimum};
use std::collections::BTreeSet;
use vkcert_model::coverage::{MinimumVectors, VectorCount};

impl From<Minimum> for VectorCount {
    fn from(minimum: Minimum) -> Self {
        let Minimum { vectors, at_least, conditions } = minimum;
        Self { vectors: vectors as u32, at_least: at_least as u32, conditions: conditions as u32 }
    }
}

impl Mcdc {
    /// The smallest test sets of both forms; none where too many vectors can occur to tell.
    pub(crate) fn minimum_vectors(&self) -> Option<MinimumVectors> {
        Some(MinimumVectors {
            conditions_plus_one: self.decision().conditions() as u32 + 1,
            unique_cause: self.minimum(Form::UniqueCause)?.into(),
            masking: self.minimum(Form::Masking)?.into(),
        })
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

    /// How many further vectors the `^^` chain at the root demands.
    ///
    /// A pair that shows a condition inside operand `i` of the chain changes the value of that
    /// operand and of no other. Take one such pair per operand with an open condition, and look at
    /// the vectors as points whose coordinates are the values of these operands. The pairs are
    /// edges along different axes, so they close no circle: `n` edges need `n + 1` points, and one
    /// vector adds at most one.
    pub(super) fn exclusive_bound(&self, open: &[usize], given: &[Packed]) -> usize {
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
    pub(super) fn holds(&self, node: usize, condition: usize) -> bool {
        match self.decision.nodes[node] {
            Node::Condition(here) => here == condition,
            Node::Not(operand) => self.holds(operand, condition),
            Node::And(left, right) | Node::Or(left, right) | Node::Xor(left, right) => {
                self.holds(left, condition) || self.holds(right, condition)
            }
        }
    }
}
