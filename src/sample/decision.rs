//! Decisions with their conditions, vectors and independence pairs.

use vkcert_model::coverage::{
    ConditionMcdc, ConditionPlace, DecisionCoverage, Independence, MinimumVectors, ObservedVector,
    SimpleObligation, Status, VectorCount, Witness,
};
use vkcert_model::id::{ConditionId, DecisionId, ObligationId, TestId};
use vkcert_model::place::Position;
use vkcert_model::structure::{Constness, DecisionContext};
use vkcert_model::vector::{Outcome, Values};

fn vector_values(text: &str) -> Values {
    text.parse().expect("samples hold valid vectors")
}

/// The two vectors of an independence pair, if there is one.
type Pair<'a> = Option<[&'a str; 2]>;

/// A decision built from its conditions' texts, which must occur in the source in order.
pub(super) struct DecisionSample<'a> {
    pub(super) number: u32,
    pub(super) file: &'a str,
    pub(super) source: &'a str,
    pub(super) text: &'a str,
    pub(super) conditions: &'a [&'a str],
    pub(super) context: DecisionContext,
    /// (values, outcome, tests)
    pub(super) vectors: &'a [(&'a str, bool, &'a [&'a str])],
    /// Per condition: unique-cause pair, masking pair.
    pub(super) pairs: &'a [(Pair<'a>, Pair<'a>)],
    pub(super) missing: &'a [&'a str],
    pub(super) closing: &'a [&'a str],
}

impl DecisionSample<'_> {
    pub(super) fn build(&self) -> DecisionCoverage {
        let id = DecisionId(self.number);
        let decision_start =
            self.source.find(self.text).expect("the decision stands in the source");
        let decision_position = Position::of(self.source, decision_start);
        let mut search_start = decision_start;
        let conditions: Vec<ConditionPlace> = (1..)
            .zip(self.conditions)
            .map(|(number, shown_text)| {
                let condition_start = search_start
                    + self.source[search_start..]
                        .find(shown_text)
                        .expect("the condition stands in the decision");
                search_start = condition_start + shown_text.len();
                let place = Position::of(self.source, condition_start);
                ConditionPlace {
                    id: ConditionId { decision: id, number },
                    text: (*shown_text).to_owned(),
                    line: place.line,
                    column: place.column,
                    span: [condition_start as u32, search_start as u32],
                    constness: Constness::Runtime,
                    value: None,
                    coupled_with: Vec::new(),
                }
            })
            .collect();
        let vectors: Vec<ObservedVector> = (0..)
            .zip(self.vectors)
            .map(|(index, (shown_text, outcome, tests))| ObservedVector {
                values: vector_values(shown_text),
                outcome: Outcome::from(*outcome),
                tests: tests.iter().map(|test| TestId::from(*test)).collect(),
                witness: Some([index, 0, 0]),
                witnesses: Vec::new(),
                directed: Vec::new(),
                undefined: false,
            })
            .collect();
        let outcomes = [("T", true), ("F", false)].map(|(letter, value)| {
            let showing_vector = self.vectors.iter().find(|(_, outcome, _)| *outcome == value);
            let status = if showing_vector.is_some() { Status::Covered } else { Status::Uncovered };
            let tests = showing_vector.map_or(Vec::new(), |(_, _, tests)| {
                tests.iter().map(|test| TestId::from(*test)).collect()
            });
            let shown_text = format!("{} is {value}", self.text);
            SimpleObligation {
                tests,
                ..simple_obligation(
                    &format!("{id}.{letter}"),
                    self.file,
                    decision_position,
                    &shown_text,
                    status,
                )
            }
        });
        let independence_of = |pair: Option<[&str; 2]>| {
            let witness_of = |shown_text: &str| {
                let vector = vectors
                    .iter()
                    .find(|vector| vector.values == vector_values(shown_text))
                    .expect("pairs name vectors");
                Witness { test: vector.tests[0], invocation: vector.witness, directed: None }
            };
            Independence {
                status: if pair.is_some() { Status::Covered } else { Status::Uncovered },
                pair: pair.map(|pair| pair.map(vector_values)),
                shown_by: pair.map(|pair| pair.map(witness_of)),
                uncounted: Vec::new(),
                reason: None,
                proposal: None,
            }
        };
        let mcdc: Vec<ConditionMcdc> = conditions
            .iter()
            .zip(self.pairs)
            .map(|(condition, (unique, masking))| ConditionMcdc {
                condition: condition.id,
                unique_cause: independence_of(*unique),
                masking: independence_of(*masking),
            })
            .collect();
        let open_conditions =
            mcdc.iter().filter(|condition_mcdc| condition_mcdc.masking.status != Status::Covered);
        let explanation_lines = open_conditions.map(|condition_mcdc| {
            format!(
                "{} was never shown to affect the outcome: no passed test evaluated it to both values.",
                condition_mcdc.condition
            )
        });
        DecisionCoverage {
            id,
            file: self.file.to_owned(),
            line: decision_position.line,
            column: decision_position.column,
            text: self.text.to_owned(),
            function: Some("main".into()),
            context: self.context,
            constness: Constness::Runtime,
            constant_outcome: None,
            expansion: Vec::new(),
            outcomes: outcomes.into(),
            conditions,
            vectors: vectors.clone(),
            explanation: explanation_lines.collect(),
            mcdc,
            combinations: Vec::new(),
            coupling: None,
            minimum: Some(MinimumVectors {
                conditions_plus_one: self.conditions.len() as u32 + 1,
                unique_cause: vector_count(self.conditions.len() as u32 + 1, self.conditions.len()),
                masking: vector_count(self.conditions.len() as u32 + 1, self.conditions.len()),
            }),
            missing: self.missing.iter().map(|shown_text| vector_values(shown_text)).collect(),
            closing_set: self.closing.iter().map(|shown_text| vector_values(shown_text)).collect(),
        }
    }
}

fn vector_count(vectors: u32, conditions: usize) -> VectorCount {
    VectorCount { vectors, at_least: vectors, conditions: conditions as u32 }
}

pub(super) fn simple_obligation(
    id: &str,
    file: &str,
    text_position: Position,
    text: &str,
    status: Status,
) -> SimpleObligation {
    SimpleObligation {
        id: ObligationId::from(id),
        file: file.to_owned(),
        line: text_position.line,
        column: text_position.column,
        text: text.to_owned(),
        status,
        reason: None,
        tests: Vec::new(),
        uncounted: Vec::new(),
        proposal: None,
        object: None,
    }
}
