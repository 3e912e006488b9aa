//! The obligations of multiple-condition coverage.

use super::super::combination::{DemandedVectors, MAX_CONDITIONS_OF_FIRST_FORMAT};
use super::super::explanation::values_in_words;
use super::super::limits::MAX_VECTORS;
use super::super::mcdc::Mcdc;
use super::super::subject::ProposalRules;
use super::assessment::Assessment;
use super::obligations::ObligationState;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::coverage::{DecisionCoverage, ObservedVector, SimpleObligation, Status};
use vkcert_model::id::TestId;
use vkcert_model::structure::Decision;
use vkcert_model::vector::{Values, Vector};

impl Assessment<'_> {
    /// The obligations of multiple-condition coverage; `state` is asked with the vectors of one
    /// obligation, or with none where they cannot be listed.
    pub(super) fn combination_obligations(
        &self,
        decision: &Decision,
        coverage: &DecisionCoverage,
        calculus: &Result<Mcdc, String>,
        obligation_state: impl Fn(Option<&[Vector]>) -> ObligationState,
    ) -> Vec<SimpleObligation> {
        let of_first_format = self.resolution.proposing == ProposalRules::AsInFirstFormat;
        if of_first_format && decision.conditions.len() > MAX_CONDITIONS_OF_FIRST_FORMAT {
            return Vec::new();
        }
        let condition_texts: Vec<&str> =
            coverage.conditions.iter().map(|condition| condition.text.as_str()).collect();
        let of_vector = |vector: &Vector| {
            let vector_words = values_in_words(&condition_texts, &vector.values);
            let obligation_id = format!("{}.V.{}", decision.id, vector.values);
            let text = format!("{} / {vector_words}", decision.text);
            let vector_state = obligation_state(Some(std::slice::from_ref(vector)));
            self.obligation_of(obligation_id, (decision.span, text), vector_state)
        };
        match calculus.as_ref().map(|mcdc| DemandedVectors::of_decision(mcdc.decision())) {
            Ok(DemandedVectors::Each(vectors)) => vectors.iter().map(of_vector).collect(),
            Ok(demand @ (DemandedVectors::Together(_) | DemandedVectors::TooMany)) => {
                vec![self.joint_obligation(decision, obligation_state(demand.listed_vectors()))]
            }
            Err(_) if of_first_format => Vec::new(),
            Err(_) => vec![self.joint_obligation(decision, obligation_state(None))],
        }
    }

    /// All vectors of a decision as one obligation.
    fn joint_obligation(
        &self,
        decision: &Decision,
        obligation_state: ObligationState,
    ) -> SimpleObligation {
        let text = format!("{} / every vector that can occur", decision.text);
        let obligation_id = format!("{}.V", decision.id);
        self.obligation_of(obligation_id, (decision.span, text), obligation_state)
    }

    /// The state of one obligation of multiple-condition coverage, which asks for all of `wanted`.
    pub(super) fn combination_state(
        &self,
        coverage: &DecisionCoverage,
        mcdc: &Mcdc,
        demanded_vectors: Option<&[Vector]>,
    ) -> ObligationState {
        let Some(demanded_vectors) = demanded_vectors else {
            return ObligationState::without_tests(
                Status::Undetermined,
                Some(format!("more than {MAX_VECTORS} vectors can occur")),
            );
        };
        let vector_by_values: BTreeMap<&Values, &ObservedVector> =
            coverage.vectors.iter().map(|vector| (&vector.values, vector)).collect();
        let lacking_values: Vec<&Values> = demanded_vectors
            .iter()
            .map(|vector| &vector.values)
            .filter(|values| !vector_by_values.contains_key(values))
            .collect();
        if lacking_values.is_empty() {
            let showing_tests: BTreeSet<&TestId> = demanded_vectors
                .iter()
                .flat_map(|vector| vector_by_values.get(&vector.values))
                .flat_map(|vector| &vector.tests)
                .collect();
            let tests = self
                .tests
                .iter()
                .map(|(test, _)| test)
                .filter(|test| showing_tests.contains(test))
                .cloned()
                .collect();
            return ObligationState {
                status: Status::Covered,
                reason: None,
                tests,
                ruled_out: None,
            };
        }
        let ruled_out =
            match lacking_values.iter().all(|values| !mcdc.decision().agrees_with_fixed(values)) {
                true => self.resolution.effect_ruled_out(coverage.id, None),
                false => self.resolution.decision_ruled_out(coverage.id),
            };
        let shown_count = demanded_vectors.len() - lacking_values.len();
        let reason = (demanded_vectors.len() > 1)
            .then(|| format!("{shown_count} of {} vectors shown", demanded_vectors.len()));
        ObligationState { ruled_out, ..ObligationState::without_tests(Status::Uncovered, reason) }
    }
}
