//! The obligations of multiple-condition coverage.

use super::super::combination::{DemandedVectors, MAX_CONDITIONS_OF_FIRST_FORMAT};
use super::super::explanation::values_in_words;
use super::super::limits::MAX_VECTORS;
use super::super::mcdc::Mcdc;
use super::super::subject::ProposalRules;
use super::assessment::Assessment;
use super::obligations::State;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::coverage::{DecisionCoverage, ObservedVector, SimpleObligation, Status};
use vkcert_model::id::TestId;
use vkcert_model::structure::Decision;
use vkcert_model::vector::{Values, Vector};

impl Assessment<'_> {
    /// The obligations of multiple-condition coverage; `state` is asked with the vectors of one
    /// obligation, or with none where they cannot be listed.
    pub(super) fn combinations(
        &self,
        decision: &Decision,
        coverage: &DecisionCoverage,
        calculus: &Result<Mcdc, String>,
        state: impl Fn(Option<&[Vector]>) -> State,
    ) -> Vec<SimpleObligation> {
        let of_first_format = self.resolution.proposing == ProposalRules::AsInFirstFormat;
        if of_first_format && decision.conditions.len() > MAX_CONDITIONS_OF_FIRST_FORMAT {
            return Vec::new();
        }
        let texts: Vec<&str> =
            coverage.conditions.iter().map(|condition| condition.text.as_str()).collect();
        let of_vector = |vector: &Vector| {
            let id = format!("{}.V.{}", decision.id, vector.values);
            let text = format!("{} / {}", decision.text, values_in_words(&texts, &vector.values));
            self.obligation(id, (decision.span, text), state(Some(std::slice::from_ref(vector))))
        };
        let together = |state: State| {
            let text = format!("{} / every vector that can occur", decision.text);
            vec![self.obligation(format!("{}.V", decision.id), (decision.span, text), state)]
        };
        match calculus.as_ref().map(|mcdc| DemandedVectors::of_decision(mcdc.decision())) {
            Ok(DemandedVectors::Each(vectors)) => vectors.iter().map(of_vector).collect(),
            Ok(demand @ (DemandedVectors::Together(_) | DemandedVectors::TooMany)) => {
                together(state(demand.listed_vectors()))
            }
            Err(_) if of_first_format => Vec::new(),
            Err(_) => together(state(None)),
        }
    }

    /// The state of one obligation of multiple-condition coverage, which asks for all of `wanted`.
    pub(super) fn shown(
        &self,
        coverage: &DecisionCoverage,
        mcdc: &Mcdc,
        wanted: Option<&[Vector]>,
    ) -> State {
        let Some(wanted) = wanted else {
            return State::open(
                Status::Undetermined,
                Some(format!("more than {MAX_VECTORS} vectors can occur")),
            );
        };
        let seen: BTreeMap<&Values, &ObservedVector> =
            coverage.vectors.iter().map(|vector| (&vector.values, vector)).collect();
        let lacking: Vec<&Values> = wanted
            .iter()
            .map(|vector| &vector.values)
            .filter(|values| !seen.contains_key(values))
            .collect();
        if lacking.is_empty() {
            let showing: BTreeSet<&TestId> = wanted
                .iter()
                .flat_map(|vector| seen.get(&vector.values))
                .flat_map(|vector| &vector.tests)
                .collect();
            let tests = self
                .tests
                .iter()
                .map(|(test, _)| test)
                .filter(|test| showing.contains(test))
                .cloned()
                .collect();
            return State { status: Status::Covered, reason: None, tests, ruled_out: None };
        }
        let ruled_out =
            match lacking.iter().all(|values| !mcdc.decision().agrees_with_fixed(values)) {
                true => self.resolution.effect(coverage.id, None),
                false => self.resolution.unevaluated(coverage.id),
            };
        let shown = wanted.len() - lacking.len();
        let reason =
            (wanted.len() > 1).then(|| format!("{shown} of {} vectors shown", wanted.len()));
        State { ruled_out, ..State::open(Status::Uncovered, reason) }
    }
}
