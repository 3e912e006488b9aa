//! Which vector a decision has ended with, told by the values of its conditions.
//!
//! Knows: the next condition to ask is the first that every vector left over has evaluated and that
//! tells them apart.
//! Promises: on the way to a vector only conditions that it evaluates are asked, so what others
//! hold is of no matter.
//! Does not cover: decisions with many vectors for their conditions, such as chains of `^^`: a sum
//! of weights is shorter.

use std::collections::BTreeSet;
use vkcert_model::records::{DecisionSlot, NumberedVector};
use vkcert_model::vector::ConditionValue;

/// Most vectors per condition: each but one costs a selection, and a sum costs about three
/// instructions per condition.
const PER_CONDITION: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum VectorTree {
    Bit(u32),
    Ask { condition: u32, if_true: Box<VectorTree>, if_false: Box<VectorTree> },
}

impl VectorTree {
    /// The tree of a decision, where it is short.
    pub(super) fn of_decision(decision_slot: &DecisionSlot) -> Option<Self> {
        let vectors: Vec<&NumberedVector> = decision_slot.vectors.iter().collect();
        (vectors.len() <= PER_CONDITION * decision_slot.weights.len())
            .then(|| tree_of_vectors(decision_slot, &vectors, 0))
            .flatten()
    }

    /// Conditions that are asked.
    pub(super) fn conditions(&self) -> BTreeSet<u32> {
        match self {
            Self::Bit(_) => BTreeSet::new(),
            Self::Ask { condition, if_true, if_false } => {
                let conditions_below =
                    if_true.conditions().into_iter().chain(if_false.conditions());
                conditions_below.chain([*condition]).collect()
            }
        }
    }

    /// The bits of the vectors.
    pub(super) fn bits(&self) -> Vec<u32> {
        match self {
            Self::Bit(bit) => vec![*bit],
            Self::Ask { if_true, if_false, .. } => [if_true.bits(), if_false.bits()].concat(),
        }
    }
}

/// The tree of these vectors, which agree in all conditions before `next`.
fn tree_of_vectors(
    decision_slot: &DecisionSlot,
    vectors: &[&NumberedVector],
    next_condition: usize,
) -> Option<VectorTree> {
    if let [vector] = vectors {
        return Some(VectorTree::Bit(decision_slot.base + vector.sum));
    }
    for condition in next_condition..decision_slot.weights.len() {
        let vectors_having = |value: ConditionValue| -> Vec<&NumberedVector> {
            vectors
                .iter()
                .copied()
                .filter(|row| row.vector.values.0.get(condition) == Some(&value))
                .collect()
        };
        let (true_vectors, false_vectors) =
            (vectors_having(ConditionValue::True), vectors_having(ConditionValue::False));
        if true_vectors.len() + false_vectors.len() == vectors.len()
            && !true_vectors.is_empty()
            && !false_vectors.is_empty()
        {
            let if_true = Box::new(tree_of_vectors(decision_slot, &true_vectors, condition + 1)?);
            let if_false = Box::new(tree_of_vectors(decision_slot, &false_vectors, condition + 1)?);
            return Some(VectorTree::Ask { condition: condition as u32, if_true, if_false });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression_tests::{evaluate, expressions};
    use proptest::prelude::*;
    use vkcert_coverage::numbering::{number_vectors, numbered_vectors};
    use vkcert_model::id::DecisionId;

    /// The bit that a tree names for values of which those that were not evaluated hold anything.
    fn named(tree: &VectorTree, values: &[bool]) -> u32 {
        match tree {
            VectorTree::Bit(bit) => *bit,
            VectorTree::Ask { condition, if_true, if_false } => {
                named(if values[*condition as usize] { if_true } else { if_false }, values)
            }
        }
    }

    proptest! {
        #[test]
        fn trees_name_the_vector_of_every_assignment((expression, conditions) in expressions(4), base in 0_u32..70) {
            let Ok(numbering) = number_vectors(&expression, conditions) else { return Ok(()) };
            let rows = numbered_vectors(&expression, &numbering).into_iter().map(|(sum, vector)| NumberedVector { sum, vector });
            let (size, weights) = (numbering.size, numbering.weights.clone());
            let slot = DecisionSlot { decision: DecisionId(1), base, size, weights, vectors: rows.collect() };
            let tree = VectorTree::of_decision(&slot);
            prop_assert_eq!(tree.is_some(), slot.vectors.len() <= PER_CONDITION * conditions);
            let Some(tree) = tree else { return Ok(()) };
            prop_assert!(tree.conditions().len() < slot.vectors.len());
            for assignment in 0..1_u32 << conditions {
                let mut seen = vec![ConditionValue::NotEvaluated; conditions];
                evaluate(&expression, assignment, &mut seen);
                let row = slot.vectors.iter().find(|row| row.vector.values.0 == seen).expect("every path is a vector");
                let values: Vec<bool> = (0..conditions).map(|condition| assignment >> condition & 1 == 1).collect();
                prop_assert_eq!(named(&tree, &values), base + row.sum);
            }
        }
    }
}
