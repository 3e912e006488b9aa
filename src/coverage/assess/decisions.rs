//! Obligations of one decision, from what the records hold of it.

use super::super::mcdc::Mcdc;
use super::assessment::Assessment;
use super::obligations::ObligationState;
use super::test_evidence::{first_contradiction, has_impossible_record};
use std::collections::BTreeSet;
use vkcert_model::coverage::{
    ConditionMcdc, ConditionPlace, DecisionCoverage, Independence, ObservedVector,
    SimpleObligation, Status,
};
use vkcert_model::id::{ConditionId, TestId};
use vkcert_model::records::Records;
use vkcert_model::structure::{Constness, Decision, Recording};
use vkcert_model::vector::Outcome;

enum DecisionRecords {
    Undetermined { reason: String },
    Absent,
    Vectors(Vec<ObservedVector>),
}

impl Assessment<'_> {
    pub(super) fn decision_coverages(&self) -> Vec<DecisionCoverage> {
        self.structure
            .decisions
            .iter()
            .filter(|decision| self.is_part(decision))
            .map(|decision| self.decision_coverage(decision))
            .collect()
    }

    /// Whether a decision is in code that the kernel reaches.
    fn is_part(&self, decision: &Decision) -> bool {
        match decision.function.and_then(|id| self.function_by_id(id)) {
            Some(function) => self.is_reached(function),
            // At global scope, or in a function that is not listed: kept, never dropped.
            None => true,
        }
    }

    fn decision_coverage(&self, decision: &Decision) -> DecisionCoverage {
        let decision_records = self.decision_records(decision);
        let constness = self.decision_constness(decision);
        let (file, position) = self.position_of(decision.span);
        let mut decision_coverage = DecisionCoverage {
            id: decision.id,
            file,
            line: position.line,
            column: position.column,
            text: decision.text.clone(),
            function: decision
                .function
                .and_then(|id| self.function_by_id(id))
                .map(|function| function.name.clone()),
            context: decision.context,
            constness,
            constant_outcome: self.resolution.only_outcome(decision.id),
            expansion: decision
                .expansion
                .iter()
                .map(|expansion| expansion.macro_name.clone())
                .collect(),
            outcomes: Vec::new(),
            conditions: self.condition_places(decision),
            vectors: Vec::new(),
            mcdc: Vec::new(),
            combinations: Vec::new(),
            coupling: None,
            minimum: None,
            missing: Vec::new(),
            closing_set: Vec::new(),
            explanation: Vec::new(),
        };
        match decision_records {
            DecisionRecords::Undetermined { reason } => {
                self.fill_undetermined(decision, &mut decision_coverage, &reason)
            }
            DecisionRecords::Absent => self.fill_absent(decision, &mut decision_coverage),
            DecisionRecords::Vectors(vectors) => {
                self.fill_measured(decision, &mut decision_coverage, vectors)
            }
        }
        decision_coverage
    }

    fn decision_constness(&self, decision: &Decision) -> Constness {
        let in_module = self
            .resolution
            .outcome_markers
            .get(&decision.id)
            .copied()
            .unwrap_or(Constness::Runtime);
        decision.constness.min(in_module)
    }

    fn condition_places(&self, decision: &Decision) -> Vec<ConditionPlace> {
        (0..decision.conditions.len()).map(|index| self.condition_place(decision, index)).collect()
    }

    fn condition_place(&self, decision: &Decision, condition_index: usize) -> ConditionPlace {
        let condition = &decision.conditions[condition_index];
        let (_, position) = self.position_of(condition.span);
        let other_conditions = decision.conditions.iter().enumerate();
        let coupled_conditions = other_conditions.filter(|(other_index, other_condition)| {
            *other_index != condition_index && other_condition.coupling == condition.coupling
        });
        let in_module =
            self.resolution.condition_markers.get(&(decision.id, condition_index as u32)).copied();
        ConditionPlace {
            id: condition_id(decision, condition_index),
            text: condition.text.clone(),
            line: position.line,
            column: position.column,
            span: [condition.span.start, condition.span.end],
            constness: condition.constness.min(in_module.unwrap_or(Constness::Runtime)),
            value: self
                .resolution
                .fixed_value(decision.id, condition_index as u32)
                .map(Outcome::from),
            coupled_with: coupled_conditions
                .map(|(other_index, _)| condition_id(decision, other_index))
                .collect(),
        }
    }

    /// What the records hold of a decision.
    fn decision_records(&self, decision: &Decision) -> DecisionRecords {
        if let Recording::Unmarked { reason } = &decision.recording {
            return DecisionRecords::Undetermined { reason: reason.clone() };
        }
        if !self.resolution.outcome_markers.contains_key(&decision.id) {
            return DecisionRecords::Absent;
        }
        let Some(slot) = self.decision_slots.get(&decision.id) else {
            return DecisionRecords::Undetermined {
                reason: "it has no place among the records".to_owned(),
            };
        };
        if let Some((test_id, _)) =
            self.tests.iter().find(|(_, records)| has_impossible_record(slot, records))
        {
            let reason = format!("the records of {test_id} hold a vector that cannot occur");
            return DecisionRecords::Undetermined { reason };
        }
        let impossible_sentence = |(test_id, records): &(TestId, &Records)| {
            let sentence = first_contradiction(&self.resolution, decision, slot, records)?;
            Some(format!("internal error: the records of {test_id} cannot be: {sentence}"))
        };
        if let Some(reason) = self.tests.iter().find_map(impossible_sentence) {
            return DecisionRecords::Undetermined { reason };
        }
        let mut observed_vectors = Vec::new();
        for row in &slot.vectors {
            let record_bit = slot.base + row.sum;
            let showing_tests = || self.tests.iter().filter(|(_, records)| records.has(record_bit));
            let witnesses: Vec<_> = showing_tests()
                .map(|(_, records)| records.witnesses.get(&record_bit).copied())
                .collect();
            let directed_schedules: Vec<_> = showing_tests()
                .map(|(_, records)| records.directed.get(&record_bit).copied())
                .collect();
            let directed_schedules = if directed_schedules.iter().all(Option::is_none) {
                Vec::new()
            } else {
                directed_schedules
            };
            if let Some(witness) = witnesses.first().copied() {
                observed_vectors.push(ObservedVector {
                    values: row.vector.values.clone(),
                    outcome: row.vector.outcome,
                    tests: showing_tests().map(|(test_id, _)| *test_id).collect(),
                    witness,
                    witnesses,
                    directed: directed_schedules,
                    undefined: false,
                });
            }
        }
        observed_vectors.sort_by(|a, b| a.values.cmp(&b.values));
        DecisionRecords::Vectors(observed_vectors)
    }

    /// Fills in a decision of which nothing can be known.
    fn fill_undetermined(
        &self,
        decision: &Decision,
        coverage: &mut DecisionCoverage,
        reason: &str,
    ) {
        self.fill_open(decision, coverage, || {
            ObligationState::without_tests(Status::Undetermined, Some(reason.to_owned()))
        });
    }

    /// Fills in a decision that the compiler left out of the module.
    fn fill_absent(&self, decision: &Decision, coverage: &mut DecisionCoverage) {
        self.fill_open(decision, coverage, || ObligationState {
            ruled_out: Some(self.resolution.absent_ruling()),
            ..ObligationState::without_tests(Status::Uncovered, None)
        });
    }

    fn fill_open(
        &self,
        decision: &Decision,
        coverage: &mut DecisionCoverage,
        obligation_state: impl Fn() -> ObligationState,
    ) {
        coverage.outcomes = self.outcome_obligations(decision, |_| obligation_state());
        let ruled_state = obligation_state().with_ruling();
        let open_independence = Independence::without_pair(
            ruled_state.status,
            ruled_state.reason,
            ruled_state.proposal,
        );
        coverage.mcdc = every_condition(coverage, &open_independence);
        coverage.combinations =
            self.combination_obligations(decision, coverage, &self.mcdc_calculus(decision), |_| {
                obligation_state()
            });
    }

    /// The calculus of a decision under the configuration.
    pub(super) fn mcdc_calculus(&self, decision: &Decision) -> Result<Mcdc, String> {
        let coupling: Vec<u32> =
            decision.conditions.iter().map(|condition| condition.coupling).collect();
        let mcdc = Mcdc::new(&decision.expression, &coupling).map_err(|limit| limit.to_string())?;
        Ok(mcdc.with_fixed(&self.resolution.fixed_values(decision)))
    }

    fn outcome_obligations(
        &self,
        decision: &Decision,
        mut obligation_state: impl FnMut(Outcome) -> ObligationState,
    ) -> Vec<SimpleObligation> {
        let outcome_obligation = |outcome: Outcome| {
            let obligation_id = format!("{}.{outcome}", decision.id);
            let value_word = if outcome.as_bool() { "true" } else { "false" };
            let text = format!("{} is {value_word}", decision.text);
            self.obligation_of(obligation_id, (decision.span, text), obligation_state(outcome))
        };
        [Outcome::True, Outcome::False].map(outcome_obligation).into()
    }

    /// Tests by which a decision came to this outcome, in order of execution.
    fn tests_showing(&self, outcome: Outcome, observed_vectors: &[ObservedVector]) -> Vec<TestId> {
        let showing_tests: BTreeSet<TestId> = observed_vectors
            .iter()
            .filter(|vector| vector.outcome == outcome)
            .flat_map(|vector| vector.tests.iter().copied())
            .collect();
        let tests = self.tests.iter().map(|(test, _)| *test);
        tests.filter(|test| showing_tests.contains(test)).collect()
    }

    fn fill_measured(
        &self,
        decision: &Decision,
        coverage: &mut DecisionCoverage,
        observed_vectors: Vec<ObservedVector>,
    ) {
        let mut tests_by_outcome = [Outcome::True, Outcome::False]
            .map(|outcome| self.tests_showing(outcome, &observed_vectors));
        let only_seen = match (
            coverage.constness,
            tests_by_outcome[0].is_empty(),
            tests_by_outcome[1].is_empty(),
        ) {
            (Constness::Constant | Constness::Specialization, false, true) => Some(Outcome::True),
            (Constness::Constant | Constness::Specialization, true, false) => Some(Outcome::False),
            (Constness::Constant | Constness::Specialization | Constness::Runtime, _, _) => None,
        };
        coverage.constant_outcome = coverage.constant_outcome.or(only_seen);
        let constant_words = coverage
            .constant_outcome
            .and_then(|outcome| constant_reason(coverage.constness, outcome));
        coverage.outcomes = self.outcome_obligations(decision, |outcome| {
            let tests =
                std::mem::take(&mut tests_by_outcome[usize::from(outcome == Outcome::False)]);
            match tests.is_empty() {
                false => ObligationState {
                    status: Status::Covered,
                    reason: None,
                    tests,
                    ruled_out: None,
                },
                true => ObligationState {
                    ruled_out: self.resolution.outcome_ruled_out(decision.id, outcome),
                    ..ObligationState::without_tests(Status::Uncovered, constant_words.clone())
                },
            }
        });
        coverage.vectors = observed_vectors;
        self.fill_independence(decision, coverage);
    }
}

fn condition_id(decision: &Decision, condition_index: usize) -> ConditionId {
    ConditionId { decision: decision.id, number: condition_index as u32 + 1 }
}

pub(super) fn constant_reason(constness: Constness, outcome: Outcome) -> Option<String> {
    match constness {
        Constness::Constant => Some(format!("constant: the outcome is always {outcome}")),
        Constness::Specialization => Some(format!(
            "specialization constant: under this configuration the outcome is always {outcome}"
        )),
        Constness::Runtime => None,
    }
}

pub(super) fn every_condition(
    coverage: &DecisionCoverage,
    open: &Independence,
) -> Vec<ConditionMcdc> {
    let condition_mcdc = |place: &ConditionPlace| ConditionMcdc {
        condition: place.id,
        unique_cause: open.clone(),
        masking: open.clone(),
    };
    coverage.conditions.iter().map(condition_mcdc).collect()
}
