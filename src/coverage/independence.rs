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

use super::decision::{Decision, Node, Packed};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The two forms of MC/DC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    UniqueCause,
    Masking,
}

/// What must hold of a sibling operand for a condition to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sibling {
    /// At `&&` (true) or `||` (false): this value, or unevaluated.
    NonControlling { node: usize, value: bool },
    /// At `^^`: any value, the same in both vectors.
    Exclusive { node: usize },
}

/// The way from one condition to the root.
#[derive(Debug, Clone)]
struct Way {
    siblings: Vec<Sibling>,
    /// Conditions that must agree wholly for unique cause.
    agreeing: u128,
}

/// The ways of all conditions of one decision.
#[derive(Debug, Clone)]
pub(super) struct Ways {
    ways: Vec<Way>,
}

/// What the vectors of a pair have in common; the values of the `^^` siblings, or the agreeing
/// conditions.
pub(super) type Group = (u128, u128);

impl Ways {
    pub(crate) fn new(decision: &Decision) -> Self {
        let mut parents = vec![None; decision.nodes.len()];
        let mut masks = Vec::with_capacity(decision.nodes.len());
        for (index, node) in decision.nodes.iter().enumerate() {
            let (children, mask) = match *node {
                Node::Condition(condition) => (vec![], 1u128 << condition),
                Node::Not(operand) => (vec![operand], masks[operand]),
                Node::And(left, right) | Node::Or(left, right) | Node::Xor(left, right) => {
                    (vec![left, right], masks[left] | masks[right])
                }
            };
            masks.push(mask);
            children.into_iter().for_each(|child| parents[child] = Some(index));
        }
        let mut ways = vec![Way { siblings: Vec::new(), agreeing: 0 }; decision.conditions];
        for (index, node) in decision.nodes.iter().enumerate() {
            if let Node::Condition(condition) = *node {
                ways[condition] = way(decision, index, condition, &parents, &masks);
            }
        }
        Self { ways }
    }

    /// Whether all ways are free of `^^`, so that sensitivity alone decides.
    pub(crate) fn without_exclusive(&self, condition: usize) -> bool {
        self.ways[condition]
            .siblings
            .iter()
            .all(|sibling| matches!(sibling, Sibling::NonControlling { .. }))
    }

    /// The group of a vector for a condition, given the values of all nodes; none where it is not
    /// sensitive.
    pub(crate) fn group(
        &self,
        form: Form,
        condition: usize,
        vector: Packed,
        values: &[Option<bool>],
    ) -> Option<Group> {
        vector.get(condition)?;
        let way = &self.ways[condition];
        let mut exclusive = 0u128;
        for sibling in &way.siblings {
            match *sibling {
                Sibling::NonControlling { node, value } => {
                    if values[node].is_some_and(|found| found != value) {
                        return None;
                    }
                }
                Sibling::Exclusive { node } => {
                    exclusive = exclusive << 1
                        | u128::from(values[node].expect("`^^` evaluates both sides"));
                }
            }
        }
        Some(match form {
            Form::Masking => (exclusive, 0),
            Form::UniqueCause => (vector.evaluated & way.agreeing, vector.truth & way.agreeing),
        })
    }
}

fn way(
    decision: &Decision,
    leaf: usize,
    condition: usize,
    parents: &[Option<usize>],
    masks: &[u128],
) -> Way {
    let mut siblings = Vec::new();
    let mut agreeing = (1u128 << condition) - 1;
    let mut node = leaf;
    while let Some(parent) = parents[node] {
        match decision.nodes[parent] {
            Node::Condition(_) | Node::Not(_) => {}
            Node::And(left, right) => {
                siblings.push(Sibling::NonControlling { node: left ^ right ^ node, value: true })
            }
            Node::Or(left, right) => {
                siblings.push(Sibling::NonControlling { node: left ^ right ^ node, value: false })
            }
            Node::Xor(left, right) => {
                let sibling = left ^ right ^ node;
                chain(decision, sibling, &mut siblings);
                if sibling == right {
                    agreeing |= masks[sibling];
                }
            }
        }
        node = parent;
    }
    Way { siblings, agreeing }
}

/// The operands of a `^^` chain that hang below `node`.
fn chain(decision: &Decision, node: usize, siblings: &mut Vec<Sibling>) {
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        match decision.nodes[node] {
            Node::Xor(left, right) => open.extend([left, right]),
            Node::Condition(_) | Node::Not(_) | Node::And(..) | Node::Or(..) => {
                siblings.push(Sibling::Exclusive { node });
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
pub(super) enum Wanted {
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
    form: Form,
    wanted: Wanted,
    /// By condition: group to the first index with the condition true and with it false.
    seen: Vec<GroupMap<Group, [Option<u32>; 2]>>,
    /// By condition, where any pair will do.
    found: Vec<Option<[usize; 2]>>,
}

impl PairSearch {
    pub(crate) fn new(form: Form, wanted: Wanted, conditions: usize) -> Self {
        Self {
            form,
            wanted,
            seen: vec![GroupMap::default(); conditions],
            found: vec![None; conditions],
        }
    }

    pub(crate) fn form(&self) -> Form {
        self.form
    }

    /// Offers vector `index`; indexes must ascend in canonical order.
    pub(crate) fn offer(
        &mut self,
        ways: &Ways,
        index: usize,
        vector: Packed,
        values: &[Option<bool>],
    ) {
        for (condition, seen) in self.seen.iter_mut().enumerate() {
            let Some(value) = vector.get(condition).filter(|_| self.found[condition].is_none())
            else {
                continue;
            };
            let Some(group) = ways.group(self.form, condition, vector, values) else { continue };
            let sides = seen.entry(group).or_default();
            sides[usize::from(!value)].get_or_insert(index as u32);
            if self.wanted == Wanted::Any {
                self.found[condition] = whole(sides);
            }
        }
    }

    /// The pair wanted for a condition.
    pub(crate) fn pair(&self, condition: usize) -> Option<[usize; 2]> {
        match self.wanted {
            Wanted::First => self.seen[condition].values().filter_map(whole).min(),
            Wanted::Any => self.found[condition],
        }
    }

    /// For a condition without a pair: whether a vector with `value` of the condition would make
    /// one in this group.
    pub(crate) fn would_close(&self, condition: usize, group: Group, value: bool) -> Option<usize> {
        self.seen[condition]
            .get(&group)
            .and_then(|sides| sides[usize::from(value)])
            .map(|index| index as usize)
    }
}

/// The pair of a group that both values of the condition occur in.
fn whole(sides: &[Option<u32>; 2]) -> Option<[usize; 2]> {
    Some([sides[0]? as usize, sides[1]? as usize])
}

#[cfg(test)]
mod tests {
    use super::super::expression::parse;
    use super::super::mcdc::Mcdc;
    use super::*;
    use vkcert_model::vector::Values;

    /// Conditions (by number) that two vectors show.
    fn shown(text: &str, form: Form, pair: [&str; 2]) -> Vec<usize> {
        let parsed = parse(text).unwrap();
        let mcdc = Mcdc::new(&parsed.expression, &parsed.coupling()).unwrap();
        let given: Vec<Values> = pair.iter().map(|text| text.parse().unwrap()).collect();
        let analysis = mcdc.analyse(&given).unwrap();
        let of_form = |condition: &super::super::mcdc::ConditionAnalysis| match form {
            Form::UniqueCause => condition.unique_cause.pair.is_some(),
            Form::Masking => condition.masking.pair.is_some(),
        };
        (0..parsed.conditions.len())
            .filter(|&c| of_form(&analysis.conditions[c]))
            .map(|c| c + 1)
            .collect()
    }

    #[test]
    fn masked_operands_may_change_as_long_as_their_operator_does_not() {
        assert_eq!(shown("(A && B) || C", Form::Masking, ["TFT", "F-F"]), [3]);
        assert!(shown("(A && B) || C", Form::UniqueCause, ["TFT", "F-F"]).is_empty());
    }

    #[test]
    fn three_changes_under_exclusive_or_show_nothing() {
        for text in ["a ^^ b ^^ c", "a ^^ (b ^^ c)", "(a ^^ b) ^^ c"] {
            assert!(shown(text, Form::Masking, ["TTT", "FFF"]).is_empty(), "{text}");
            assert_eq!(shown(text, Form::Masking, ["TTT", "TFT"]), [2], "{text}");
        }
    }

    #[test]
    fn an_unevaluated_sibling_takes_its_value_from_the_other_vector() {
        assert_eq!(shown("a && b", Form::Masking, ["TT", "F-"]), [1]);
        assert_eq!(shown("a && b", Form::UniqueCause, ["TT", "F-"]), [1]);
        assert!(shown("a && b", Form::Masking, ["TF", "F-"]).is_empty());
    }
}
