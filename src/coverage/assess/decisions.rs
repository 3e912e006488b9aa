//! Obligations of one decision, from what the records hold of it.

use super::super::mcdc::Mcdc;
use super::assessment::Assessment;
use super::obligations::State;
use super::test_evidence::{contradiction, impossible_record};
use vkcert_model::coverage::{
    ConditionMcdc, ConditionPlace, DecisionCoverage, Independence, ObservedVector,
    SimpleObligation, Status,
};
use vkcert_model::id::{ConditionId, TestId};
use vkcert_model::records::Records;
use vkcert_model::structure::{Condition, Constness, Decision, Recording};
use vkcert_model::vector::Outcome;

enum Measured {
    Undetermined { reason: String },
    Absent,
    Vectors(Vec<ObservedVector>),
}

impl Assessment<'_> {
    pub(super) fn decisions(&self) -> Vec<DecisionCoverage> {
        let part = |decision: &&Decision| match decision.function.and_then(|id| self.function(id)) {
            Some(function) => self.reached(function),
            // At global scope, or in a function that is not listed: kept, never dropped.
            None => true,
        };
        self.structure
            .decisions
            .iter()
            .filter(part)
            .map(|decision| self.decision(decision))
            .collect()
    }

    fn decision(&self, decision: &Decision) -> DecisionCoverage {
        let measured = self.measure(decision);
        let constness = self.constness(decision);
        let (file, position) = self.place(decision.span);
        let mut coverage = DecisionCoverage {
            id: decision.id,
            file,
            line: position.line,
            column: position.column,
            text: decision.text.clone(),
            function: decision
                .function
                .and_then(|id| self.function(id))
                .map(|function| function.name.clone()),
            context: decision.context,
            constness,
            constant_outcome: self.resolution.outcome(decision.id),
            expansion: decision
                .expansion
                .iter()
                .map(|expansion| expansion.macro_name.clone())
                .collect(),
            outcomes: Vec::new(),
            conditions: self.conditions(decision),
            vectors: Vec::new(),
            mcdc: Vec::new(),
            combinations: Vec::new(),
            coupling: None,
            minimum: None,
            missing: Vec::new(),
            closing_set: Vec::new(),
            explanation: Vec::new(),
        };
        match measured {
            Measured::Undetermined { reason } => {
                self.undetermined(decision, &mut coverage, &reason)
            }
            Measured::Absent => self.absent(decision, &mut coverage),
            Measured::Vectors(vectors) => self.measured(decision, &mut coverage, vectors),
        }
        coverage
    }

    fn constness(&self, decision: &Decision) -> Constness {
        let in_module = self
            .resolution
            .outcome_markers
            .get(&decision.id)
            .copied()
            .unwrap_or(Constness::Runtime);
        decision.constness.min(in_module)
    }

    fn conditions(&self, decision: &Decision) -> Vec<ConditionPlace> {
        let id = |index: usize| ConditionId { decision: decision.id, number: index as u32 + 1 };
        let place = |(index, condition): (usize, &Condition)| {
            let (_, position) = self.place(condition.span);
            let others = decision.conditions.iter().enumerate();
            let coupled =
                others.filter(|(other, c)| *other != index && c.coupling == condition.coupling);
            let in_module =
                self.resolution.condition_markers.get(&(decision.id, index as u32)).copied();
            ConditionPlace {
                id: id(index),
                text: condition.text.clone(),
                line: position.line,
                column: position.column,
                span: [condition.span.start, condition.span.end],
                constness: condition.constness.min(in_module.unwrap_or(Constness::Runtime)),
                value: self.resolution.value(decision.id, index as u32).map(Outcome::from),
                coupled_with: coupled.map(|(other, _)| id(other)).collect(),
            }
        };
        decision.conditions.iter().enumerate().map(place).collect()
    }

    /// What the records hold of a decision.
    fn measure(&self, decision: &Decision) -> Measured {
        if let Recording::Unmarked { reason } = &decision.recording {
            return Measured::Undetermined { reason: reason.clone() };
        }
        if !self.resolution.outcome_markers.contains_key(&decision.id) {
            return Measured::Absent;
        }
        let Some(slot) = self.slots.get(&decision.id) else {
            return Measured::Undetermined {
                reason: "it has no place among the records".to_owned(),
            };
        };
        if let Some((test, _)) =
            self.tests.iter().find(|(_, records)| impossible_record(slot, records))
        {
            let reason = format!("the records of {test} hold a vector that cannot occur");
            return Measured::Undetermined { reason };
        }
        let cannot = |(test, records): &(TestId, &Records)| {
            let sentence = contradiction(&self.resolution, decision, slot, records)?;
            Some(format!("internal error: the records of {test} cannot be: {sentence}"))
        };
        if let Some(reason) = self.tests.iter().find_map(cannot) {
            return Measured::Undetermined { reason };
        }
        let mut vectors = Vec::new();
        for row in &slot.vectors {
            let bit = slot.base + row.sum;
            let shown = || self.tests.iter().filter(|(_, records)| records.has(bit));
            let witnesses: Vec<_> =
                shown().map(|(_, records)| records.witnesses.get(&bit).copied()).collect();
            let directed: Vec<_> =
                shown().map(|(_, records)| records.directed.get(&bit).copied()).collect();
            let directed = if directed.iter().all(Option::is_none) { Vec::new() } else { directed };
            if let Some(witness) = witnesses.first().copied() {
                vectors.push(ObservedVector {
                    values: row.vector.values.clone(),
                    outcome: row.vector.outcome,
                    tests: shown().map(|(test, _)| test.clone()).collect(),
                    witness,
                    witnesses,
                    directed,
                    undefined: false,
                });
            }
        }
        vectors.sort_by(|a, b| a.values.cmp(&b.values));
        Measured::Vectors(vectors)
    }

    /// Fills in a decision of which nothing can be known.
    fn undetermined(&self, decision: &Decision, coverage: &mut DecisionCoverage, reason: &str) {
        self.open(decision, coverage, || {
            State::open(Status::Undetermined, Some(reason.to_owned()))
        });
    }

    /// Fills in a decision that the compiler left out of the module.
    fn absent(&self, decision: &Decision, coverage: &mut DecisionCoverage) {
        let absent = || State {
            ruled_out: Some(self.resolution.absent()),
            ..State::open(Status::Uncovered, None)
        };
        self.open(decision, coverage, absent);
    }

    fn open(
        &self,
        decision: &Decision,
        coverage: &mut DecisionCoverage,
        state: impl Fn() -> State,
    ) {
        coverage.outcomes = self.outcomes(decision, |_| state());
        let State { status, reason, ruled_out, .. } = state().settled();
        let proposal = ruled_out.and_then(|ruled_out| ruled_out.proposal());
        let open = Independence {
            status,
            pair: None,
            shown_by: None,
            uncounted: Vec::new(),
            reason,
            proposal,
        };
        coverage.mcdc = every_condition(coverage, &open);
        coverage.combinations =
            self.combinations(decision, coverage, &self.calculus(decision), |_| state());
    }

    /// The calculus of a decision under the configuration.
    pub(super) fn calculus(&self, decision: &Decision) -> Result<Mcdc, String> {
        let coupling: Vec<u32> =
            decision.conditions.iter().map(|condition| condition.coupling).collect();
        let mcdc = Mcdc::new(&decision.expression, &coupling).map_err(|limit| limit.to_string())?;
        Ok(mcdc.with_fixed(&self.resolution.values(decision)))
    }

    fn outcomes(
        &self,
        decision: &Decision,
        state: impl Fn(Outcome) -> State,
    ) -> Vec<SimpleObligation> {
        let outcome = |outcome: Outcome| {
            let id = format!("{}.{outcome}", decision.id);
            let text = format!(
                "{} is {}",
                decision.text,
                if outcome.as_bool() { "true" } else { "false" }
            );
            self.obligation(id, (decision.span, text), state(outcome))
        };
        [Outcome::True, Outcome::False].map(outcome).into()
    }

    fn measured(
        &self,
        decision: &Decision,
        coverage: &mut DecisionCoverage,
        vectors: Vec<ObservedVector>,
    ) {
        let showing = |outcome: Outcome| -> Vec<TestId> {
            let shows = |test: &TestId| {
                vectors.iter().any(|v| v.outcome == outcome && v.tests.contains(test))
            };
            self.tests.iter().map(|(test, _)| test).filter(|test| shows(test)).cloned().collect()
        };
        let seen = [Outcome::True, Outcome::False].map(showing);
        let only_seen = match (coverage.constness, seen[0].is_empty(), seen[1].is_empty()) {
            (Constness::Constant | Constness::Specialization, false, true) => Some(Outcome::True),
            (Constness::Constant | Constness::Specialization, true, false) => Some(Outcome::False),
            (Constness::Constant | Constness::Specialization | Constness::Runtime, _, _) => None,
        };
        coverage.constant_outcome = coverage.constant_outcome.or(only_seen);
        let fixed = coverage
            .constant_outcome
            .and_then(|outcome| constant_reason(coverage.constness, outcome));
        coverage.outcomes = self.outcomes(decision, |outcome| {
            let tests = seen[usize::from(outcome == Outcome::False)].clone();
            match tests.is_empty() {
                false => State { status: Status::Covered, reason: None, tests, ruled_out: None },
                true => State {
                    ruled_out: self.resolution.choice(decision.id, outcome),
                    ..State::open(Status::Uncovered, fixed.clone())
                },
            }
        });
        coverage.vectors = vectors;
        self.independence(decision, coverage);
    }
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
    let condition = |place: &ConditionPlace| ConditionMcdc {
        condition: place.id,
        unique_cause: open.clone(),
        masking: open.clone(),
    };
    coverage.conditions.iter().map(condition).collect()
}
