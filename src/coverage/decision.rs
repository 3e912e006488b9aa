//! A decision as the calculus sees it: which vectors can occur, and what each comes to.
//!
//! Knows: evaluation order (`&&` and `||` evaluate their right operand only where it matters, `^^`
//! always does: GLSL 4.60, section 5.9), coupling (conditions with the same side-effect-free text
//! have the same value in one evaluation), and conditions that are fixed at one value, by constants
//! or by the specialization of a configuration.
//! Promises: canonical order of vectors everywhere: true before false before `-`, first condition
//! first. Two different vectors of one decision first differ in a condition that both evaluated, so
//! `-` never decides.
//! Does not cover: more than [`MAX_CONDITIONS`] conditions; relations between different texts (`x <
//! 1` and `x < 2`).

use std::collections::BTreeMap;
use vkcert_model::structure::BooleanExpression;
use vkcert_model::vector::{ConditionValue, Outcome, Values, Vector};

use super::limits::{MAX_CONDITIONS, MAX_VECTORS};

/// One node of the expression; children stand before their parents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Node {
    Condition(usize),
    Not(usize),
    And(usize, usize),
    Or(usize, usize),
    Xor(usize, usize),
}

/// A vector in two words: bit `i` belongs to the condition with index `i`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Packed {
    pub evaluated: u128,
    pub truth: u128,
}

impl Packed {
    pub(crate) fn get(self, condition: usize) -> Option<bool> {
        (self.evaluated >> condition & 1 == 1).then(|| self.truth >> condition & 1 == 1)
    }

    fn set(&mut self, condition: usize, value: bool) {
        self.evaluated |= 1 << condition;
        self.truth |= u128::from(value) << condition;
    }
}

/// Why no exact statement can be made about a decision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Limit {
    #[error("the decision has {0} conditions; the calculus is exact for at most {MAX_CONDITIONS}")]
    Conditions(usize),
    #[error("the tests showed {0} vectors; the calculus is exact for at most {MAX_VECTORS}")]
    Vectors(usize),
}

/// Why a text is no vector of a decision. Condition numbers start at 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VectorFault {
    #[error("the vector `{values}` has {found} values; the decision has {expected} conditions")]
    Length { values: Values, found: usize, expected: usize },
    #[error(
        "in the vector `{values}` condition C{condition} is `-`, but with the values before it it is evaluated"
    )]
    Missing { values: Values, condition: usize },
    #[error(
        "in the vector `{values}` condition C{condition} has a value, but with the values before it it is not evaluated"
    )]
    NotEvaluated { values: Values, condition: usize },
    #[error(
        "the vector `{values}` contradicts itself: C{first} and C{second} are the same text and cannot differ"
    )]
    Coupled { values: Values, first: usize, second: usize },
}

impl VectorFault {
    /// 0-based index of the value that is wrong; none where the length is.
    pub fn index(&self) -> Option<usize> {
        match self {
            VectorFault::Length { .. } => None,
            VectorFault::Missing { condition, .. }
            | VectorFault::NotEvaluated { condition, .. } => Some(condition - 1),
            VectorFault::Coupled { second, .. } => Some(second - 1),
        }
    }
}

/// A decision's expression and the coupling of its conditions.
#[derive(Debug, Clone)]
pub struct Decision {
    pub(super) nodes: Vec<Node>,
    /// Number of conditions.
    pub(super) conditions: usize,
    /// By condition; equal numbers are coupled.
    pub(super) coupling: Vec<u32>,
    /// By condition: the only value that it can have.
    pub(super) fixed: Vec<Option<bool>>,
}

/// The vectors that can occur.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feasible {
    /// In canonical order.
    pub vectors: Vec<Vector>,
    pub extent: Extent,
}

/// Whether an enumeration is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    Complete,
    /// There are more vectors than were asked for.
    CutOff,
}

impl Decision {
    /// Takes over an expression whose conditions are `0 .. coupling.len()`, each occurring once, in
    /// source order.
    pub fn new(expression: &BooleanExpression, coupling: &[u32]) -> Result<Self, Limit> {
        if coupling.len() > MAX_CONDITIONS {
            return Err(Limit::Conditions(coupling.len()));
        }
        let mut nodes = Vec::new();
        flatten(expression, &mut nodes);
        let fixed = vec![None; coupling.len()];
        Ok(Self { nodes, conditions: coupling.len(), coupling: coupling.to_vec(), fixed })
    }

    /// The same with conditions fixed; `fixed` has an entry per condition.
    pub fn with_fixed(self, fixed: &[Option<bool>]) -> Self {
        Self {
            fixed: (0..self.conditions)
                .map(|condition| fixed.get(condition).copied().flatten())
                .collect(),
            ..self
        }
    }

    /// The same with no condition fixed.
    pub(super) fn unfixed(&self) -> Self {
        Self { fixed: vec![None; self.conditions], ..self.clone() }
    }

    /// The same as if every condition had a text of its own.
    pub(super) fn uncoupled(&self) -> Self {
        Self { coupling: (0..self.conditions as u32).collect(), ..self.clone() }
    }

    /// Number of conditions.
    pub fn conditions(&self) -> usize {
        self.conditions
    }

    pub(super) fn root(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Whether some combination of values cannot occur: conditions are coupled or fixed.
    pub fn is_restricted(&self) -> bool {
        self.is_coupled() || self.fixed.iter().any(Option::is_some)
    }

    /// Whether two conditions are coupled.
    pub fn is_coupled(&self) -> bool {
        (0..self.conditions).any(|condition| self.first_coupled(condition) != condition)
    }

    /// The first condition with the same text.
    fn first_coupled(&self, condition: usize) -> usize {
        let number = self.coupling[condition];
        self.coupling
            .iter()
            .position(|other| *other == number)
            .expect("a condition is coupled with itself")
    }

    /// The outcome of a vector, if it can occur.
    pub fn outcome(&self, values: &Values) -> Result<Outcome, VectorFault> {
        let outcome = self.recorded_outcome(values)?;
        for (second, value) in values.0.iter().enumerate() {
            let coupled = (0..second).find(|&first| {
                let other = values.0[first];
                let evaluated =
                    other != ConditionValue::NotEvaluated && *value != ConditionValue::NotEvaluated;
                self.coupling[first] == self.coupling[second] && evaluated && other != *value
            });
            if let Some(first) = coupled {
                let values = values.clone();
                return Err(VectorFault::Coupled { values, first: first + 1, second: second + 1 });
            }
        }
        Ok(outcome)
    }

    /// The outcome of a vector that a test showed: short-circuit evaluation must explain it,
    /// coupling need not (memory that another invocation changes can make two reads of one text
    /// differ).
    pub fn recorded_outcome(&self, values: &Values) -> Result<Outcome, VectorFault> {
        if values.0.len() != self.conditions {
            let found = values.0.len();
            return Err(VectorFault::Length {
                values: values.clone(),
                found,
                expected: self.conditions,
            });
        }
        let packed = self.pack(values);
        let mut evaluated = 0u128;
        let outcome = self.evaluate(self.root(), &mut |condition| {
            evaluated |= 1 << condition;
            packed.get(condition).ok_or(condition)
        });
        let missing = |condition: usize| VectorFault::Missing {
            values: values.clone(),
            condition: condition + 1,
        };
        let outcome = outcome.map_err(missing)?;
        match (packed.evaluated & !evaluated).trailing_zeros() {
            128 => Ok(outcome.into()),
            condition => Err(VectorFault::NotEvaluated {
                values: values.clone(),
                condition: condition as usize + 1,
            }),
        }
    }

    /// Evaluates as the kernel does; `value` answers for a condition or ends the evaluation.
    fn evaluate(
        &self,
        node: usize,
        value: &mut dyn FnMut(usize) -> Result<bool, usize>,
    ) -> Result<bool, usize> {
        Ok(match self.nodes[node] {
            Node::Condition(condition) => value(condition)?,
            Node::Not(operand) => !self.evaluate(operand, value)?,
            Node::And(left, right) => self.evaluate(left, value)? && self.evaluate(right, value)?,
            Node::Or(left, right) => self.evaluate(left, value)? || self.evaluate(right, value)?,
            Node::Xor(left, right) => self.evaluate(left, value)? ^ self.evaluate(right, value)?,
        })
    }

    /// The vectors that can occur, at most `limit` of them.
    pub fn feasible(&self, limit: usize) -> Feasible {
        let mut vectors = Vec::new();
        let extent = self.enumerate(limit, &mut |packed, outcome| {
            vectors.push(Vector { values: self.unpack(packed), outcome: outcome.into() });
        });
        Feasible { vectors, extent }
    }

    /// Visits the vectors that can occur in canonical order, at most `limit` of them.
    ///
    /// Each run of the evaluation follows a script of values for the conditions that are free
    /// (evaluated, and no coupled condition evaluated before); the next script flips the last true
    /// to false, as a counter does.
    pub(super) fn enumerate(&self, limit: usize, visit: &mut dyn FnMut(Packed, bool)) -> Extent {
        let mut script: Vec<bool> = Vec::new();
        for _ in 0..limit {
            let mut packed = Packed::default();
            let mut classes = self.fixed_classes();
            let mut free = 0;
            let outcome = self.evaluate(self.root(), &mut |condition| {
                let value = *classes.entry(self.coupling[condition]).or_insert_with(|| {
                    free += 1;
                    if free > script.len() {
                        script.push(true);
                    }
                    script[free - 1]
                });
                packed.set(condition, value);
                Ok(value)
            });
            visit(packed, outcome.expect("every condition has a value"));
            while script.last() == Some(&false) {
                script.pop();
            }
            match script.last_mut() {
                None => return Extent::Complete,
                Some(last) => *last = false,
            }
        }
        Extent::CutOff
    }

    /// Values of coupling numbers that a fixed condition decides.
    fn fixed_classes(&self) -> BTreeMap<u32, bool> {
        let fixed = self.coupling.iter().zip(&self.fixed);
        fixed.filter_map(|(number, value)| Some((*number, (*value)?))).collect()
    }

    /// Whether a vector agrees with the fixed conditions.
    pub fn agrees(&self, values: &Values) -> bool {
        let pairs = values.0.iter().zip(&self.fixed);
        pairs.into_iter().all(|(value, fixed)| match (value.as_bool(), fixed) {
            (Some(value), Some(fixed)) => value == *fixed,
            (_, _) => true,
        })
    }

    /// The vector that an assignment of all conditions leads to.
    pub(super) fn short_circuited(&self, truth: u128) -> Packed {
        let mut packed = Packed::default();
        let outcome = self.evaluate(self.root(), &mut |condition| {
            packed.set(condition, truth >> condition & 1 == 1);
            Ok(truth >> condition & 1 == 1)
        });
        outcome.expect("every condition has a value");
        packed
    }

    /// The outcome of a vector that short-circuit evaluation explains.
    pub(super) fn packed_outcome(&self, vector: Packed) -> bool {
        let outcome =
            self.evaluate(self.root(), &mut |condition| vector.get(condition).ok_or(condition));
        outcome.expect("every condition that matters has a value")
    }

    /// Values of all nodes under a vector; none where a node was not evaluated.
    pub(super) fn node_values(&self, vector: Packed, values: &mut Vec<Option<bool>>) {
        values.clear();
        for node in &self.nodes {
            values.push(match *node {
                Node::Condition(condition) => vector.get(condition),
                Node::Not(operand) => values[operand].map(|value| !value),
                Node::And(left, right) => short_circuit(values[left], values[right], false),
                Node::Or(left, right) => short_circuit(values[left], values[right], true),
                Node::Xor(left, right) => {
                    values[left].zip(values[right]).map(|(left, right)| left ^ right)
                }
            });
        }
    }

    pub(super) fn pack(&self, values: &Values) -> Packed {
        let mut packed = Packed::default();
        for (condition, value) in values.0.iter().enumerate() {
            if let Some(value) = value.as_bool() {
                packed.set(condition, value);
            }
        }
        packed
    }

    pub(super) fn unpack(&self, packed: Packed) -> Values {
        let value = |condition| {
            packed.get(condition).map_or(ConditionValue::NotEvaluated, ConditionValue::from)
        };
        Values((0..self.conditions).map(value).collect())
    }
}

/// Value of `&&` (`controlling` false) or `||` (`controlling` true) from what was evaluated of its
/// operands.
fn short_circuit(left: Option<bool>, right: Option<bool>, controlling: bool) -> Option<bool> {
    if left == Some(controlling) { left } else { left.and(right) }
}

fn flatten(expression: &BooleanExpression, nodes: &mut Vec<Node>) -> usize {
    let node = match expression {
        BooleanExpression::Condition(condition) => Node::Condition(*condition as usize),
        BooleanExpression::Not(operand) => Node::Not(flatten(operand, nodes)),
        BooleanExpression::And(left, right) => {
            Node::And(flatten(left, nodes), flatten(right, nodes))
        }
        BooleanExpression::Or(left, right) => Node::Or(flatten(left, nodes), flatten(right, nodes)),
        BooleanExpression::Xor(left, right) => {
            Node::Xor(flatten(left, nodes), flatten(right, nodes))
        }
    };
    nodes.push(node);
    nodes.len() - 1
}

#[cfg(test)]
mod tests {
    use super::super::expression::parse;
    use super::*;

    fn decision(text: &str) -> Decision {
        let parsed = parse(text).unwrap();
        Decision::new(&parsed.expression, &parsed.coupling()).unwrap()
    }

    fn vectors(text: &str) -> Vec<String> {
        let feasible = decision(text).feasible(1000);
        assert_eq!(feasible.extent, Extent::Complete);
        feasible
            .vectors
            .iter()
            .map(|vector| format!("{}={}", vector.values, vector.outcome))
            .collect()
    }

    #[test]
    fn short_circuit_leaves_conditions_unevaluated() {
        assert_eq!(vectors("(a && b) || c"), ["TT-=T", "TFT=T", "TFF=F", "F-T=T", "F-F=F"]);
    }

    #[test]
    fn exclusive_or_evaluates_both_sides() {
        assert_eq!(vectors("a ^^ b"), ["TT=F", "TF=T", "FT=T", "FF=F"]);
    }

    #[test]
    fn a_negated_condition_records_its_own_value() {
        assert_eq!(vectors("!a && b"), ["T-=F", "FT=T", "FF=F"]);
    }

    #[test]
    fn coupled_conditions_never_differ() {
        assert_eq!(vectors("a && b || a && c"), ["TT--=T", "TFTT=T", "TFTF=F", "F-F-=F"]);
    }

    #[test]
    fn fixed_conditions_have_one_value_and_so_have_those_coupled_with_them() {
        let vectors = |text: &str, fixed: &[Option<bool>]| {
            let feasible = decision(text).with_fixed(fixed).feasible(1000);
            feasible
                .vectors
                .iter()
                .map(|v| format!("{}={}", v.values, v.outcome))
                .collect::<Vec<_>>()
        };
        assert_eq!(vectors("a && b", &[Some(false), None]), ["F-=F"]);
        assert_eq!(vectors("a || b", &[None, Some(true)]), ["T-=T", "FT=T"]);
        assert_eq!(vectors("a && b || a", &[Some(true), None, None]), ["TT-=T", "TFT=T"]);
    }

    #[test]
    fn enumeration_stops_at_the_limit() {
        let feasible = decision("a ^^ b ^^ c").feasible(5);
        assert_eq!((feasible.vectors.len(), feasible.extent), (5, Extent::CutOff));
        assert_eq!(decision("a ^^ b").feasible(4).extent, Extent::Complete);
    }

    #[test]
    fn vectors_that_cannot_occur_are_faults() {
        let fault = |text: &str, values: &str| {
            decision(text).outcome(&values.parse().unwrap()).unwrap_err()
        };
        assert!(matches!(fault("a && b", "T"), VectorFault::Length { .. }));
        assert!(matches!(fault("a && b", "T-"), VectorFault::Missing { condition: 2, .. }));
        assert!(matches!(fault("a && b", "FT"), VectorFault::NotEvaluated { condition: 2, .. }));
        assert!(matches!(fault("a && a", "TF"), VectorFault::Coupled { first: 1, second: 2, .. }));
    }
}
