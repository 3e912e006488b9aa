//! How many vectors MC/DC of a whole decision takes.

use super::super::closing;
use super::super::decision::{EnumerationExtent, ExpressionNode, PackedVector};
use super::super::independence::IndependenceForm;
use super::{Mcdc, MinimumSet};
use std::collections::BTreeSet;
use vkcert_model::coverage::{MinimumVectors, VectorCount};

impl From<MinimumSet> for VectorCount {
    fn from(minimum: MinimumSet) -> Self {
        let MinimumSet { vectors, at_least, conditions } = minimum;
        Self { vectors: vectors as u32, at_least: at_least as u32, conditions: conditions as u32 }
    }
}

impl Mcdc {
    /// The smallest test sets of both forms; none where too many vectors can occur to tell.
    pub(crate) fn minimum_vectors(&self) -> Option<MinimumVectors> {
        Some(MinimumVectors {
            conditions_plus_one: self.decision().conditions() as u32 + 1,
            unique_cause: self.minimum_set(IndependenceForm::UniqueCause)?.into(),
            masking: self.minimum_set(IndependenceForm::Masking)?.into(),
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
    pub(crate) fn minimum_set(&self, form: IndependenceForm) -> Option<MinimumSet> {
        let conditions = self.decision.conditions;
        if !self.decision.is_restricted() {
            let exact_count = match form {
                IndependenceForm::UniqueCause => Some(conditions + 1),
                IndependenceForm::Masking => self.masking_minimum(),
            };
            if let Some(vectors) = exact_count {
                return Some(MinimumSet { vectors, at_least: vectors, conditions });
            }
        }
        let possible_vectors = self.possible_vectors();
        match possible_vectors.extent {
            EnumerationExtent::Complete => {}
            EnumerationExtent::CutOff => return None,
        }
        let possible_pairs = match form {
            IndependenceForm::UniqueCause => &possible_vectors.unique_cause,
            IndependenceForm::Masking => &possible_vectors.masking,
        };
        let open_conditions: Vec<usize> = (0..conditions)
            .filter(|&condition| possible_pairs.pair_of(condition).is_some())
            .collect();
        let smallest_set = closing::closing_set(&self.closing_task(
            form,
            &open_conditions,
            &[],
            &possible_vectors,
        ));
        Some(MinimumSet {
            vectors: smallest_set.chosen_candidates.len(),
            at_least: smallest_set.at_least,
            conditions: open_conditions.len(),
        })
    }

    /// See `minimum_set`; none where the decision has `^^`.
    fn masking_minimum(&self) -> Option<usize> {
        let mut needed_vectors: Vec<[usize; 2]> = Vec::with_capacity(self.decision.nodes.len());
        for node in &self.decision.nodes {
            needed_vectors.push(match *node {
                ExpressionNode::Condition(_) => [1, 1],
                ExpressionNode::Not(operand) => {
                    [needed_vectors[operand][1], needed_vectors[operand][0]]
                }
                ExpressionNode::And(left, right) => [
                    needed_vectors[left][0].max(needed_vectors[right][0]),
                    needed_vectors[left][1] + needed_vectors[right][1],
                ],
                ExpressionNode::Or(left, right) => [
                    needed_vectors[left][0] + needed_vectors[right][0],
                    needed_vectors[left][1].max(needed_vectors[right][1]),
                ],
                ExpressionNode::Xor(..) => return None,
            });
        }
        needed_vectors.last().map(|[true_vectors, false_vectors]| true_vectors + false_vectors)
    }

    /// How many further vectors the `^^` chain at the root demands.
    ///
    /// A pair that shows a condition inside operand `i` of the chain changes the value of that
    /// operand and of no other. Take one such pair per operand with an open condition, and look at
    /// the vectors as points whose coordinates are the values of these operands. The pairs are
    /// edges along different axes, so they close no circle: `n` edges need `n + 1` points, and one
    /// vector adds at most one.
    pub(super) fn exclusive_bound(
        &self,
        open_conditions: &[usize],
        given_vectors: &[PackedVector],
    ) -> usize {
        let mut chain_operands = Vec::new();
        let mut open_nodes = vec![self.decision.root_node()];
        while let Some(node) = open_nodes.pop() {
            match self.decision.nodes[node] {
                ExpressionNode::Xor(left, right) => open_nodes.extend([left, right]),
                ExpressionNode::Not(operand)
                    if chain_operands.is_empty() && open_nodes.is_empty() =>
                {
                    open_nodes.push(operand)
                }
                ExpressionNode::Not(_)
                | ExpressionNode::Condition(_)
                | ExpressionNode::And(..)
                | ExpressionNode::Or(..) => chain_operands.push(node),
            }
        }
        chain_operands.retain(|&operand| {
            open_conditions.iter().any(|&condition| self.holds_condition(operand, condition))
        });
        if chain_operands.is_empty() {
            return 0;
        }
        let mut node_values = Vec::new();
        let mut operand_points = BTreeSet::new();
        for vector in given_vectors {
            self.decision.node_values(*vector, &mut node_values);
            operand_points.insert(
                chain_operands.iter().map(|&operand| node_values[operand]).collect::<Vec<_>>(),
            );
        }
        (chain_operands.len() + 1).saturating_sub(operand_points.len())
    }

    /// Whether a condition stands below a node.
    pub(super) fn holds_condition(&self, node: usize, condition: usize) -> bool {
        match self.decision.nodes[node] {
            ExpressionNode::Condition(here) => here == condition,
            ExpressionNode::Not(operand) => self.holds_condition(operand, condition),
            ExpressionNode::And(left, right)
            | ExpressionNode::Or(left, right)
            | ExpressionNode::Xor(left, right) => {
                self.holds_condition(left, condition) || self.holds_condition(right, condition)
            }
        }
    }
}
