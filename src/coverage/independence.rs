//! Independence pairs: which two vectors show that one condition alone turns the outcome.
//!
//! **Unique cause.** Outcomes differ, the condition is evaluated in both and differs, every other
//! condition is equal or `-` in one of the two.
//!
//! **Masking** (CAST-6; NASA/TM-2001-210876, section 2.3). Outcomes differ, the condition is
//! evaluated in both and differs, and at every operator between the condition and the root each
//! sibling operand has the same non-controlling value in both vectors: true for `&&`, false for
//! `||`, any for `^^`. A sibling that one vector did not evaluate takes its value from the other
//! one. Operands, not conditions, are compared: TFT and F-F show C in `(A && B) || C`, because `A
//! && B` is false in both although A and B differ. `^^` is taken as one operator over its whole
//! chain, as it is associative and masks nothing: `a ^^ b ^^ c` has three operands however it is
//! bracketed, and TTT and FFF show none of them, as two siblings change each time. (A `!` inside a
//! chain makes an operand of its own.)
//!
//! *That no sibling is missing in both vectors.* Going up from a condition that both evaluated and
//! that differs, each operand on the way differs as long as the siblings below are equal and
//! non-controlling. A left sibling was evaluated before its right neighbour, in both. A right
//! sibling of `&&` or `||` is evaluated in exactly that vector whose left operand is not
//! controlling; as the left operand differs, that is exactly one. A sibling at `^^` is always
//! evaluated.
//!
//! **Both by grouping, not by trying pairs.** Call a vector *sensitive* to a condition if it
//! evaluates it and every sibling at `&&` and `||` on the way to the root is non-controlling or
//! unevaluated.
//! - Two vectors show the condition by masking exactly if both are sensitive to it, its values
//!   differ, and all sibling values at `^^` agree. That the outcomes differ follows: each operand
//!   on the way differs.
//! - They show it by unique cause exactly if both are sensitive to it, its values differ, and they
//!   agree wholly (`-` included) on the conditions before it and on those inside later siblings at
//!   `^^`. For the first condition in which two vectors differ is evaluated in both, as everything
//!   before it was the same; so it must be the shown condition, and likewise within a `^^` sibling,
//!   which both evaluate from its beginning. Later siblings at `&&` and `||` are unevaluated in one
//!   of the two.
//!
//! So one pass over the vectors per condition finds a pair, and for `&&`, `||` and `!` the two
//! forms differ only in the conditions before the shown one.

use super::decision::{Decision, ExpressionNode, PackedVector};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The two forms of MC/DC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IndependenceForm {
    /// The condition alone differs between the two vectors.
    UniqueCause,
    /// Other conditions may differ where they are masked (CAST-6).
    Masking,
}

/// What must hold of a sibling operand for a condition to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SiblingOperand {
    /// At `&&` (true) or `||` (false): this value, or unevaluated.
    NonControlling { node: usize, value: bool },
    /// At `^^`: any value, the same in both vectors.
    Exclusive { node: usize },
}

/// The way from one condition to the root.
#[derive(Debug, Clone)]
struct SiblingPath {
    siblings: Vec<SiblingOperand>,
    /// Conditions that must agree wholly for unique cause.
    agreeing: u128,
}

/// The ways of all conditions of one decision.
#[derive(Debug, Clone)]
pub(super) struct SiblingPaths {
    by_condition: Vec<SiblingPath>,
}

/// What the vectors of a pair have in common; the values of the `^^` siblings, or the agreeing
/// conditions.
pub(super) type VectorGroup = (u128, u128);

impl SiblingPaths {
    pub(crate) fn new(decision: &Decision) -> Self {
        let mut parent_nodes = vec![None; decision.nodes.len()];
        let mut condition_masks = Vec::with_capacity(decision.nodes.len());
        for (node_index, node) in decision.nodes.iter().enumerate() {
            let (children, condition_mask) = match *node {
                ExpressionNode::Condition(condition) => (vec![], 1u128 << condition),
                ExpressionNode::Not(operand) => (vec![operand], condition_masks[operand]),
                ExpressionNode::And(left, right)
                | ExpressionNode::Or(left, right)
                | ExpressionNode::Xor(left, right) => {
                    (vec![left, right], condition_masks[left] | condition_masks[right])
                }
            };
            condition_masks.push(condition_mask);
            children.into_iter().for_each(|child| parent_nodes[child] = Some(node_index));
        }
        let mut ways = vec![SiblingPath { siblings: Vec::new(), agreeing: 0 }; decision.conditions];
        for (node_index, node) in decision.nodes.iter().enumerate() {
            if let ExpressionNode::Condition(condition) = *node {
                ways[condition] =
                    sibling_path(decision, node_index, condition, &parent_nodes, &condition_masks);
            }
        }
        Self { by_condition: ways }
    }

    /// Whether all ways are free of `^^`, so that sensitivity alone decides.
    pub(crate) fn is_without_exclusive(&self, condition: usize) -> bool {
        self.by_condition[condition]
            .siblings
            .iter()
            .all(|sibling| matches!(sibling, SiblingOperand::NonControlling { .. }))
    }

    /// The group of a vector for a condition, given the values of all nodes; none where it is not
    /// sensitive.
    pub(crate) fn sensitivity_group(
        &self,
        form: IndependenceForm,
        condition: usize,
        vector: PackedVector,
        values: &[Option<bool>],
    ) -> Option<VectorGroup> {
        vector.value_of(condition)?;
        let sibling_path = &self.by_condition[condition];
        let mut exclusive_values = 0u128;
        for sibling in &sibling_path.siblings {
            match *sibling {
                SiblingOperand::NonControlling { node, value } => {
                    if values[node].is_some_and(|sibling_value| sibling_value != value) {
                        return None;
                    }
                }
                SiblingOperand::Exclusive { node } => {
                    exclusive_values = exclusive_values << 1
                        | u128::from(values[node].expect("`^^` evaluates both sides"));
                }
            }
        }
        Some(match form {
            IndependenceForm::Masking => (exclusive_values, 0),
            IndependenceForm::UniqueCause => {
                (vector.evaluated & sibling_path.agreeing, vector.truth & sibling_path.agreeing)
            }
        })
    }
}

fn sibling_path(
    decision: &Decision,
    leaf_node: usize,
    condition: usize,
    parent_nodes: &[Option<usize>],
    condition_masks: &[u128],
) -> SiblingPath {
    let mut siblings = Vec::new();
    let mut agreeing_mask = (1u128 << condition) - 1;
    let mut node = leaf_node;
    while let Some(parent) = parent_nodes[node] {
        match decision.nodes[parent] {
            ExpressionNode::Condition(_) | ExpressionNode::Not(_) => {}
            ExpressionNode::And(left, right) => siblings
                .push(SiblingOperand::NonControlling { node: left ^ right ^ node, value: true }),
            ExpressionNode::Or(left, right) => siblings
                .push(SiblingOperand::NonControlling { node: left ^ right ^ node, value: false }),
            ExpressionNode::Xor(left, right) => {
                let sibling = left ^ right ^ node;
                chain_operands(decision, sibling, &mut siblings);
                if sibling == right {
                    agreeing_mask |= condition_masks[sibling];
                }
            }
        }
        node = parent;
    }
    SiblingPath { siblings, agreeing: agreeing_mask }
}

/// The operands of a `^^` chain that hang below `node`.
fn chain_operands(decision: &Decision, chain: usize, siblings: &mut Vec<SiblingOperand>) {
    let mut open_nodes = vec![chain];
    while let Some(node) = open_nodes.pop() {
        match decision.nodes[node] {
            ExpressionNode::Xor(left, right) => open_nodes.extend([left, right]),
            ExpressionNode::Condition(_)
            | ExpressionNode::Not(_)
            | ExpressionNode::And(..)
            | ExpressionNode::Or(..) => {
                siblings.push(SiblingOperand::Exclusive { node });
            }
        }
    }
}

/// Hashes groups; their bits are few and no adversary chooses them, so that one multiplication per
/// half will do.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct GroupHasher(u64);

impl Hasher for GroupHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(26) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
    fn write_u128(&mut self, value: u128) {
        self.write_u64(value as u64);
        self.write_u64((value >> 64) as u64);
    }
}

/// A map that is only looked up, never iterated where order reaches output.
pub(super) type GroupMap<K, V> = HashMap<K, V, BuildHasherDefault<GroupHasher>>;

/// Which pair of each condition is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WantedPair {
    /// The first in canonical order: by the vector in which the condition is true, then the one in
    /// which it is false.
    First,
    /// The first that is completed as vectors are offered; the search for the condition ends with
    /// it.
    Any,
}

/// A pair of one form per condition, as indexes into the vectors offered.
#[derive(Debug, Clone)]
pub(super) struct PairSearch {
    form: IndependenceForm,
    wanted: WantedPair,
    /// By condition: group to the first index with the condition true and with it false.
    seen_groups: Vec<GroupMap<VectorGroup, [Option<u32>; 2]>>,
    /// By condition, where any pair will do.
    found_pairs: Vec<Option<[usize; 2]>>,
}

impl PairSearch {
    pub(crate) fn new(form: IndependenceForm, wanted: WantedPair, conditions: usize) -> Self {
        Self {
            form,
            wanted,
            seen_groups: vec![GroupMap::default(); conditions],
            found_pairs: vec![None; conditions],
        }
    }

    pub(crate) fn form(&self) -> IndependenceForm {
        self.form
    }

    /// Offers vector `index`; indexes must ascend in canonical order.
    pub(crate) fn offer_vector(
        &mut self,
        ways: &SiblingPaths,
        vector_index: usize,
        vector: PackedVector,
        values: &[Option<bool>],
    ) {
        for (condition, seen_groups) in self.seen_groups.iter_mut().enumerate() {
            let Some(value) =
                vector.value_of(condition).filter(|_| self.found_pairs[condition].is_none())
            else {
                continue;
            };
            let Some(group) = ways.sensitivity_group(self.form, condition, vector, values) else {
                continue;
            };
            let group_sides = seen_groups.entry(group).or_default();
            group_sides[usize::from(!value)].get_or_insert(vector_index as u32);
            if self.wanted == WantedPair::Any {
                self.found_pairs[condition] = completed_pair(group_sides);
            }
        }
    }

    /// The pair wanted for a condition.
    pub(crate) fn pair_of(&self, condition: usize) -> Option<[usize; 2]> {
        match self.wanted {
            WantedPair::First => {
                self.seen_groups[condition].values().filter_map(completed_pair).min()
            }
            WantedPair::Any => self.found_pairs[condition],
        }
    }

    /// For a condition without a pair: whether a vector with `value` of the condition would make
    /// one in this group.
    pub(crate) fn pair_partner(
        &self,
        condition: usize,
        group: VectorGroup,
        value: bool,
    ) -> Option<usize> {
        self.seen_groups[condition]
            .get(&group)
            .and_then(|group_sides| group_sides[usize::from(value)])
            .map(|vector_index| vector_index as usize)
    }
}

/// The pair of a group that both values of the condition occur in.
fn completed_pair(sides: &[Option<u32>; 2]) -> Option<[usize; 2]> {
    Some([sides[0]? as usize, sides[1]? as usize])
}

#[cfg(test)]
mod tests {
    use super::super::expression::parse;
    use super::super::mcdc::Mcdc;
    use super::*;
    use vkcert_model::vector::Values;

    /// Conditions (by number) that two vectors show.
    fn shown(text: &str, form: IndependenceForm, pair: [&str; 2]) -> Vec<usize> {
        let parsed = parse(text).unwrap();
        let mcdc = Mcdc::new(&parsed.expression, &parsed.coupling_numbers()).unwrap();
        let given: Vec<Values> = pair.iter().map(|text| text.parse().unwrap()).collect();
        let analysis = mcdc.analyse_vectors(given).unwrap();
        let of_form = |condition: &super::super::mcdc::ConditionAnalysis| match form {
            IndependenceForm::UniqueCause => condition.unique_cause.pair.is_some(),
            IndependenceForm::Masking => condition.masking.pair.is_some(),
        };
        (0..parsed.conditions.len())
            .filter(|&c| of_form(&analysis.conditions[c]))
            .map(|c| c + 1)
            .collect()
    }

    #[test]
    fn masked_operands_may_change_as_long_as_their_operator_does_not() {
        assert_eq!(shown("(A && B) || C", IndependenceForm::Masking, ["TFT", "F-F"]), [3]);
        assert!(shown("(A && B) || C", IndependenceForm::UniqueCause, ["TFT", "F-F"]).is_empty());
    }

    #[test]
    fn three_changes_under_exclusive_or_show_nothing() {
        for text in ["a ^^ b ^^ c", "a ^^ (b ^^ c)", "(a ^^ b) ^^ c"] {
            assert!(shown(text, IndependenceForm::Masking, ["TTT", "FFF"]).is_empty(), "{text}");
            assert_eq!(shown(text, IndependenceForm::Masking, ["TTT", "TFT"]), [2], "{text}");
        }
    }

    #[test]
    fn an_unevaluated_sibling_takes_its_value_from_the_other_vector() {
        assert_eq!(shown("a && b", IndependenceForm::Masking, ["TT", "F-"]), [1]);
        assert_eq!(shown("a && b", IndependenceForm::UniqueCause, ["TT", "F-"]), [1]);
        assert!(shown("a && b", IndependenceForm::Masking, ["TF", "F-"]).is_empty());
    }
}
