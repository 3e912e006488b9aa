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

use super::vector_fault::{ValuesFault, VectorFault};
use std::collections::BTreeMap;
use vkcert_model::structure::BooleanExpression;
use vkcert_model::vector::{ConditionValue, Outcome, Values, Vector};

use super::limits::{MAX_CONDITIONS, MAX_VECTORS};

/// One node of the expression; children stand before their parents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExpressionNode {
    Condition(usize),
    Not(usize),
    And(usize, usize),
    Or(usize, usize),
    Xor(usize, usize),
}

/// A vector in two words: bit `i` belongs to the condition with index `i`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct PackedVector {
    pub evaluated: u128,
    pub truth: u128,
}

impl PackedVector {
    pub(crate) fn value_of(self, condition: usize) -> Option<bool> {
        (self.evaluated >> condition & 1 == 1).then(|| self.truth >> condition & 1 == 1)
    }

    fn set_value(&mut self, condition: usize, value: bool) {
        self.evaluated |= 1 << condition;
        self.truth |= u128::from(value) << condition;
    }
}

/// Why no exact statement can be made about a decision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecisionLimit {
    /// So many conditions, more than [`MAX_CONDITIONS`].
    #[error("the decision has {0} conditions; the calculus is exact for at most {MAX_CONDITIONS}")]
    Conditions(usize),
    /// So many vectors, more than [`MAX_VECTORS`].
    #[error("the tests showed {0} vectors; the calculus is exact for at most {MAX_VECTORS}")]
    Vectors(usize),
}

/// A decision's expression and the coupling of its conditions.
#[derive(Debug, Clone)]
pub struct Decision {
    pub(super) nodes: Vec<ExpressionNode>,
    /// Number of conditions.
    pub(super) conditions: usize,
    /// By condition; equal numbers are coupled.
    pub(super) coupling: Vec<u32>,
    /// By condition: the only value that it can have.
    pub(super) fixed: Vec<Option<bool>>,
}

/// The vectors that can occur.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeasibleVectors {
    /// In canonical order.
    pub vectors: Vec<Vector>,
    /// Whether `vectors` has all of them.
    pub extent: EnumerationExtent,
}

/// Whether an enumeration is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnumerationExtent {
    /// Every vector is listed.
    Complete,
    /// There are more vectors than were asked for.
    CutOff,
}

impl Decision {
    /// Takes over an expression whose conditions are `0 .. coupling.len()`, each occurring once, in
    /// source order.
    pub fn new(expression: &BooleanExpression, coupling: &[u32]) -> Result<Self, DecisionLimit> {
        if coupling.len() > MAX_CONDITIONS {
            return Err(DecisionLimit::Conditions(coupling.len()));
        }
        let mut nodes = Vec::new();
        flatten_expression(expression, &mut nodes);
        let fixed = vec![None; coupling.len()];
        Ok(Self { nodes, conditions: coupling.len(), coupling: coupling.to_vec(), fixed })
    }

    /// The same with conditions fixed; `fixed` has an entry per condition.
    pub fn with_fixed(self, fixed_values: &[Option<bool>]) -> Self {
        Self {
            fixed: (0..self.conditions)
                .map(|condition| fixed_values.get(condition).copied().flatten())
                .collect(),
            ..self
        }
    }

    /// The same with no condition fixed.
    pub(super) fn without_fixed(&self) -> Self {
        Self { fixed: vec![None; self.conditions], ..self.clone() }
    }

    /// The same as if every condition had a text of its own.
    pub(super) fn without_coupling(&self) -> Self {
        Self { coupling: (0..self.conditions as u32).collect(), ..self.clone() }
    }

    /// Number of conditions.
    pub fn conditions(&self) -> usize {
        self.conditions
    }

    pub(super) fn root_node(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Whether some combination of values cannot occur: conditions are coupled or fixed.
    pub(crate) fn is_restricted(&self) -> bool {
        self.is_coupled() || self.fixed.iter().any(Option::is_some)
    }

    /// Whether two conditions are coupled.
    pub(crate) fn is_coupled(&self) -> bool {
        (0..self.conditions).any(|condition| self.first_coupled(condition) != condition)
    }

    /// The first condition with the same text.
    fn first_coupled(&self, condition: usize) -> usize {
        let coupling_number = self.coupling[condition];
        self.coupling
            .iter()
            .position(|other_number| *other_number == coupling_number)
            .expect("a condition is coupled with itself")
    }

    /// The outcome of a vector, if it can occur.
    pub(crate) fn vector_outcome(&self, values: &Values) -> Result<Outcome, VectorFault> {
        let outcome = self.recorded_outcome(values)?;
        for (second, second_value) in values.0.iter().enumerate() {
            let coupled_condition = (0..second).find(|&first| {
                let first_value = values.0[first];
                let both_evaluated = first_value != ConditionValue::NotEvaluated
                    && *second_value != ConditionValue::NotEvaluated;
                self.coupling[first] == self.coupling[second]
                    && both_evaluated
                    && first_value != *second_value
            });
            if let Some(first) = coupled_condition {
                let fault = ValuesFault::Coupled { first: first + 1, second: second + 1 };
                return Err(fault.in_values(values));
            }
        }
        Ok(outcome)
    }

    /// The outcome of a vector that a test showed: short-circuit evaluation must explain it,
    /// coupling need not (memory that another invocation changes can make two reads of one text
    /// differ).
    pub fn recorded_outcome(&self, values: &Values) -> Result<Outcome, VectorFault> {
        self.explained_outcome(values).map_err(|fault| fault.in_values(values))
    }

    fn explained_outcome(&self, values: &Values) -> Result<Outcome, ValuesFault> {
        if values.0.len() != self.conditions {
            return Err(ValuesFault::Length { found: values.0.len(), expected: self.conditions });
        }
        let packed = self.packed_from(values);
        let mut evaluated = 0u128;
        let outcome = self.evaluate_node(self.root_node(), &mut |condition| {
            evaluated |= 1 << condition;
            packed.value_of(condition).ok_or(condition)
        });
        let outcome =
            outcome.map_err(|condition| ValuesFault::Missing { condition: condition + 1 })?;
        match (packed.evaluated & !evaluated).trailing_zeros() {
            128 => Ok(outcome.into()),
            condition => Err(ValuesFault::NotEvaluated { condition: condition as usize + 1 }),
        }
    }

    /// Evaluates as the kernel does; `value` answers for a condition or ends the evaluation.
    fn evaluate_node(
        &self,
        node: usize,
        condition_value: &mut dyn FnMut(usize) -> Result<bool, usize>,
    ) -> Result<bool, usize> {
        Ok(match self.nodes[node] {
            ExpressionNode::Condition(condition) => condition_value(condition)?,
            ExpressionNode::Not(operand) => !self.evaluate_node(operand, condition_value)?,
            ExpressionNode::And(left, right) => {
                self.evaluate_node(left, condition_value)?
                    && self.evaluate_node(right, condition_value)?
            }
            ExpressionNode::Or(left, right) => {
                self.evaluate_node(left, condition_value)?
                    || self.evaluate_node(right, condition_value)?
            }
            ExpressionNode::Xor(left, right) => {
                self.evaluate_node(left, condition_value)?
                    ^ self.evaluate_node(right, condition_value)?
            }
        })
    }

    /// The vectors that can occur, at most `limit` of them.
    pub(crate) fn feasible_vectors(&self, limit: usize) -> FeasibleVectors {
        let mut feasible_vectors = Vec::new();
        let extent = self.enumerate_vectors(limit, &mut |packed, outcome| {
            feasible_vectors
                .push(Vector { values: self.values_from(packed), outcome: outcome.into() });
        });
        FeasibleVectors { vectors: feasible_vectors, extent }
    }

    /// Visits the vectors that can occur in canonical order, at most `limit` of them.
    ///
    /// Each run of the evaluation follows a script of values for the conditions that are free
    /// (evaluated, and no coupled condition evaluated before); the next script flips the last true
    /// to false, as a counter does.
    pub(super) fn enumerate_vectors(
        &self,
        limit: usize,
        visit: &mut dyn FnMut(PackedVector, bool),
    ) -> EnumerationExtent {
        let mut value_script: Vec<bool> = Vec::new();
        for _ in 0..limit {
            let mut packed_vector = PackedVector::default();
            let mut class_values = self.fixed_classes();
            let mut free_conditions = 0;
            let outcome = self.evaluate_node(self.root_node(), &mut |condition| {
                let value = *class_values.entry(self.coupling[condition]).or_insert_with(|| {
                    free_conditions += 1;
                    if free_conditions > value_script.len() {
                        value_script.push(true);
                    }
                    value_script[free_conditions - 1]
                });
                packed_vector.set_value(condition, value);
                Ok(value)
            });
            visit(packed_vector, outcome.expect("every condition has a value"));
            while value_script.last() == Some(&false) {
                value_script.pop();
            }
            match value_script.last_mut() {
                None => return EnumerationExtent::Complete,
                Some(last) => *last = false,
            }
        }
        EnumerationExtent::CutOff
    }

    /// Values of coupling numbers that a fixed condition decides.
    fn fixed_classes(&self) -> BTreeMap<u32, bool> {
        let fixed_conditions = self.coupling.iter().zip(&self.fixed);
        fixed_conditions
            .filter_map(|(coupling_number, value)| Some((*coupling_number, (*value)?)))
            .collect()
    }

    /// Whether a vector agrees with the fixed conditions.
    pub(crate) fn agrees_with_fixed(&self, values: &Values) -> bool {
        let value_pairs = values.0.iter().zip(&self.fixed);
        value_pairs.into_iter().all(|(value, fixed_value)| match (value.as_bool(), fixed_value) {
            (Some(value), Some(fixed_value)) => value == *fixed_value,
            (_, _) => true,
        })
    }

    /// The vector that an assignment of all conditions leads to.
    pub(super) fn short_circuited_vector(&self, truth_bits: u128) -> PackedVector {
        let mut packed_vector = PackedVector::default();
        let outcome = self.evaluate_node(self.root_node(), &mut |condition| {
            packed_vector.set_value(condition, truth_bits >> condition & 1 == 1);
            Ok(truth_bits >> condition & 1 == 1)
        });
        outcome.expect("every condition has a value");
        packed_vector
    }

    /// The outcome of a vector that short-circuit evaluation explains.
    pub(super) fn packed_outcome(&self, vector: PackedVector) -> bool {
        let outcome = self.evaluate_node(self.root_node(), &mut |condition| {
            vector.value_of(condition).ok_or(condition)
        });
        outcome.expect("every condition that matters has a value")
    }

    /// Values of all nodes under a vector; none where a node was not evaluated.
    pub(super) fn node_values(
        &self,
        vector: PackedVector,
        node_values_out: &mut Vec<Option<bool>>,
    ) {
        node_values_out.clear();
        for node in &self.nodes {
            node_values_out.push(match *node {
                ExpressionNode::Condition(condition) => vector.value_of(condition),
                ExpressionNode::Not(operand) => node_values_out[operand].map(|value| !value),
                ExpressionNode::And(left_value, right_value) => short_circuit_value(
                    node_values_out[left_value],
                    node_values_out[right_value],
                    false,
                ),
                ExpressionNode::Or(left_value, right_value) => short_circuit_value(
                    node_values_out[left_value],
                    node_values_out[right_value],
                    true,
                ),
                ExpressionNode::Xor(left_value, right_value) => node_values_out[left_value]
                    .zip(node_values_out[right_value])
                    .map(|(left_value, right_value)| left_value ^ right_value),
            });
        }
    }

    pub(super) fn packed_from(&self, values: &Values) -> PackedVector {
        let mut packed_vector = PackedVector::default();
        for (condition, value) in values.0.iter().enumerate() {
            if let Some(value) = value.as_bool() {
                packed_vector.set_value(condition, value);
            }
        }
        packed_vector
    }

    pub(super) fn values_from(&self, packed_vector: PackedVector) -> Values {
        let condition_value = |condition| {
            packed_vector
                .value_of(condition)
                .map_or(ConditionValue::NotEvaluated, ConditionValue::from)
        };
        Values((0..self.conditions).map(condition_value).collect())
    }
}

/// Value of `&&` (`controlling` false) or `||` (`controlling` true) from what was evaluated of its
/// operands.
fn short_circuit_value(
    left_value: Option<bool>,
    right_value: Option<bool>,
    controlling_value: bool,
) -> Option<bool> {
    if left_value == Some(controlling_value) { left_value } else { left_value.and(right_value) }
}

fn flatten_expression(expression: &BooleanExpression, nodes: &mut Vec<ExpressionNode>) -> usize {
    let node = match expression {
        BooleanExpression::Condition(condition) => ExpressionNode::Condition(*condition as usize),
        BooleanExpression::Not(operand) => ExpressionNode::Not(flatten_expression(operand, nodes)),
        BooleanExpression::And(left, right) => {
            ExpressionNode::And(flatten_expression(left, nodes), flatten_expression(right, nodes))
        }
        BooleanExpression::Or(left, right) => {
            ExpressionNode::Or(flatten_expression(left, nodes), flatten_expression(right, nodes))
        }
        BooleanExpression::Xor(left, right) => {
            ExpressionNode::Xor(flatten_expression(left, nodes), flatten_expression(right, nodes))
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
        Decision::new(&parsed.expression, &parsed.coupling_numbers()).unwrap()
    }

    fn vectors(text: &str) -> Vec<String> {
        let feasible = decision(text).feasible_vectors(1000);
        assert_eq!(feasible.extent, EnumerationExtent::Complete);
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
            let feasible = decision(text).with_fixed(fixed).feasible_vectors(1000);
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
        let feasible = decision("a ^^ b ^^ c").feasible_vectors(5);
        assert_eq!((feasible.vectors.len(), feasible.extent), (5, EnumerationExtent::CutOff));
        assert_eq!(decision("a ^^ b").feasible_vectors(4).extent, EnumerationExtent::Complete);
    }

    #[test]
    fn vectors_that_cannot_occur_are_faults() {
        let fault = |text: &str, values: &str| {
            decision(text).vector_outcome(&values.parse().unwrap()).unwrap_err()
        };
        assert!(matches!(fault("a && b", "T").fault, ValuesFault::Length { .. }));
        assert!(matches!(fault("a && b", "T-").fault, ValuesFault::Missing { condition: 2, .. }));
        assert!(matches!(
            fault("a && b", "FT").fault,
            ValuesFault::NotEvaluated { condition: 2, .. }
        ));
        assert!(matches!(
            fault("a && a", "TF").fault,
            ValuesFault::Coupled { first: 1, second: 2, .. }
        ));
    }
}
