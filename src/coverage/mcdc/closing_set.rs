//! Which vectors to add so that every attainable condition is shown by masking.

use super::super::closing::{
    self, CandidateVector, ClosingTask, LOOK_BUDGET, Minimality, SearchShape, SensitiveCondition,
};
use super::super::decision::{EnumerationExtent, ExpressionNode, PackedVector};
use super::super::independence::{GroupMap, IndependenceForm, WantedPair};
use super::{Attainability, Mcdc, McdcAnalysis, PossibleVectors, VectorAddition};
use std::collections::BTreeSet;
use vkcert_model::vector::{Outcome, Values, Vector};

/// Candidates that the search for a smallest test set looks at; every decision of a kernel is
/// searched.
const MINIMUM_LOOKS: u32 = 1_000_000;

impl Mcdc {
    /// Fills in what is missing and how to close it.
    pub(super) fn complete_analysis(
        &self,
        analysis: &mut McdcAnalysis,
        given_vectors: &[PackedVector],
        possible_vectors: &PossibleVectors,
    ) {
        let open_conditions: Vec<usize> = (0..self.decision.conditions)
            .filter(|&condition| {
                let masking_form = &analysis.conditions[condition].masking;
                masking_form.pair.is_none()
                    && masking_form.attainability == Attainability::Attainable
            })
            .collect();
        match possible_vectors.extent {
            EnumerationExtent::Complete => {
                let given_values: BTreeSet<&Values> =
                    analysis.given.iter().map(|vector| &vector.values).collect();
                let all_vectors = possible_vectors.vectors.iter();
                let all_vectors = all_vectors.map(|(packed, outcome)| Vector {
                    values: self.decision.values_from(*packed),
                    outcome: Outcome::from(*outcome),
                });
                analysis.missing =
                    all_vectors.filter(|vector| !given_values.contains(&vector.values)).collect();
                let task = ClosingTask {
                    look_budget: LOOK_BUDGET,
                    ..self.closing_task(
                        IndependenceForm::Masking,
                        &open_conditions,
                        given_vectors,
                        possible_vectors,
                    )
                };
                let smallest_set = closing::closing_set(&task);
                let candidate_values = |&candidate_index: &usize| {
                    self.decision.values_from(task.candidates[candidate_index].vector)
                };
                analysis.closing_set =
                    smallest_set.chosen_candidates.iter().map(candidate_values).collect();
                analysis.minimality = smallest_set.closing_minimality();
            }
            EnumerationExtent::CutOff if self.decision.is_restricted() => {
                analysis.minimality = Minimality::NotProved
            }
            EnumerationExtent::CutOff => {
                self.construct_closing_set(analysis, &open_conditions, given_vectors)
            }
        }
    }

    pub(super) fn closing_task(
        &self,
        form: IndependenceForm,
        open_conditions: &[usize],
        given_vectors: &[PackedVector],
        possible_vectors: &PossibleVectors,
    ) -> ClosingTask {
        let mut group_numbers = GroupMap::default();
        let mut node_values = Vec::new();
        let mut sensitive_conditions = |vector: PackedVector| -> Vec<SensitiveCondition> {
            self.decision.node_values(vector, &mut node_values);
            let numbered_conditions = open_conditions.iter().enumerate();
            numbered_conditions
                .filter_map(|(open_index, &condition)| {
                    let group =
                        self.ways.sensitivity_group(form, condition, vector, &node_values)?;
                    let next_number = group_numbers.len();
                    let group = *group_numbers.entry((condition, group)).or_insert(next_number);
                    let value = vector.value_of(condition)?;
                    Some(SensitiveCondition { condition: open_index, group, value })
                })
                .collect()
        };
        let at_hand: Vec<SensitiveCondition> =
            given_vectors.iter().flat_map(|vector| sensitive_conditions(*vector)).collect();
        let known_vectors: BTreeSet<(u128, u128)> =
            given_vectors.iter().map(|vector| (vector.evaluated, vector.truth)).collect();
        let candidates: Vec<CandidateVector> = possible_vectors
            .vectors
            .iter()
            .filter(|(vector, _)| !known_vectors.contains(&(vector.evaluated, vector.truth)))
            .map(|(vector, outcome)| CandidateVector {
                vector: *vector,
                outcome: *outcome,
                tokens: sensitive_conditions(*vector),
            })
            .filter(|candidate| !candidate.tokens.is_empty())
            .collect();
        let mut group_values = vec![[false; 2]; group_numbers.len()];
        for sensitive_condition in at_hand {
            group_values[sensitive_condition.group][usize::from(!sensitive_condition.value)] = true;
        }
        let (is_cover, forest_bound) = match form {
            IndependenceForm::Masking => (
                open_conditions.iter().all(|&condition| self.ways.is_without_exclusive(condition)),
                0,
            ),
            // See `minimum_set`: pairs of unique cause close no circle.
            IndependenceForm::UniqueCause if open_conditions.is_empty() => (false, 0),
            IndependenceForm::UniqueCause => {
                (false, (open_conditions.len() + 1).saturating_sub(given_vectors.len()))
            }
        };
        let true_outcomes =
            given_vectors.iter().filter(|vector| self.decision.packed_outcome(**vector)).count();
        ClosingTask {
            open_conditions: open_conditions.len(),
            group_values,
            outcome_counts: [true_outcomes, given_vectors.len() - true_outcomes],
            candidates,
            at_least: self.exclusive_bound(open_conditions, given_vectors).max(forest_bound),
            look_budget: MINIMUM_LOOKS,
            shape: if is_cover { SearchShape::Cover } else { SearchShape::General },
        }
    }

    /// The closing set of an uncoupled decision with too many vectors to list: two made-up vectors
    /// per open condition, which agree as far as they can from condition to condition.
    pub(super) fn construct_closing_set(
        &self,
        analysis: &mut McdcAnalysis,
        open_conditions: &[usize],
        given_vectors: &[PackedVector],
    ) {
        let mut all_vectors = given_vectors.to_vec();
        let mut added_values: BTreeSet<Values> = BTreeSet::new();
        for &condition in open_conditions {
            let sensitive_pair = [true, false].map(|value| self.sensitive_vector(condition, value));
            let is_known =
                |values: &Values| analysis.given.iter().any(|given| given.values == *values);
            let (partner_values, new_values): (Vec<Values>, Vec<Values>) = sensitive_pair
                .iter()
                .map(|vector| self.decision.values_from(*vector))
                .partition(is_known);
            if self
                .search_pairs(IndependenceForm::Masking, WantedPair::Any, &all_vectors)
                .pair_of(condition)
                .is_none()
            {
                added_values.extend(new_values.iter().cloned());
                all_vectors.extend(sensitive_pair);
            }
            let partner_values = partner_values.into_iter().next();
            analysis.conditions[condition].masking.addition =
                Some(VectorAddition { vectors: new_values, partner: partner_values });
        }
        let is_proved = added_values.len() <= self.exclusive_bound(open_conditions, given_vectors);
        analysis.closing_set = added_values.into_iter().collect();
        analysis.minimality = if is_proved { Minimality::Proved } else { Minimality::NotProved };
    }

    /// A vector that is sensitive to a condition with the given value; operands at `^^` are true
    /// where they are free.
    pub(super) fn sensitive_vector(&self, condition: usize, value: bool) -> PackedVector {
        let mut assigned_values = vec![true; self.decision.conditions];
        self.assign_siblings(self.decision.root_node(), condition, &mut assigned_values);
        assigned_values[condition] = value;
        let truth_bits = assigned_values
            .iter()
            .enumerate()
            .fold(0, |bits, (index, assigned_value)| bits | u128::from(*assigned_value) << index);
        self.decision.short_circuited_vector(truth_bits)
    }

    fn assign_siblings(&self, node: usize, condition: usize, assigned_values: &mut [bool]) {
        let (left_node, right_node, sibling_value) = match self.decision.nodes[node] {
            ExpressionNode::Condition(_) => return,
            ExpressionNode::Not(operand) => {
                return self.assign_siblings(operand, condition, assigned_values);
            }
            ExpressionNode::And(left_node, right_node)
            | ExpressionNode::Xor(left_node, right_node) => (left_node, right_node, true),
            ExpressionNode::Or(left_node, right_node) => (left_node, right_node, false),
        };
        let (operand_on_path, sibling) = if self.holds_condition(left_node, condition) {
            (left_node, right_node)
        } else {
            (right_node, left_node)
        };
        self.force_value(sibling, sibling_value, assigned_values);
        self.assign_siblings(operand_on_path, condition, assigned_values);
    }

    /// Assigns conditions so that a node takes a value.
    fn force_value(&self, node: usize, value: bool, assigned_values: &mut [bool]) {
        match self.decision.nodes[node] {
            ExpressionNode::Condition(condition) => assigned_values[condition] = value,
            ExpressionNode::Not(operand) => self.force_value(operand, !value, assigned_values),
            ExpressionNode::And(left, right) | ExpressionNode::Or(left, right) => {
                self.force_value(left, value, assigned_values);
                self.force_value(right, value, assigned_values);
            }
            ExpressionNode::Xor(left, right) => {
                self.force_value(left, true, assigned_values);
                self.force_value(right, !value, assigned_values);
            }
        }
    }
}
