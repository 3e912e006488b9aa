//! MC/DC of one decision: which vectors show each condition, and why where none do.

use super::super::explanation::{ConditionGap, gap_sentences};
use super::super::independence::IndependenceForm;
use super::super::limits::{MAX_EXCLUDED, MAX_VECTORS};
use super::super::mcdc::{Attainability, ConditionAnalysis, FormAnalysis, Mcdc, McdcAnalysis};
use super::super::resolution::RuledOut;
use super::super::subject::ProposalRules;
use super::assessment::Assessment;
use super::decisions::{constant_reason, every_condition};
use super::obligations::ObligationState;
use std::borrow::Cow;
use vkcert_model::coverage::{
    ConditionMcdc, Coupling, DecisionCoverage, Independence, Status, Witness,
};
use vkcert_model::id::{ConditionId, DecisionId, TestId};
use vkcert_model::structure::{Constness, Decision};
use vkcert_model::vector::{Values, Vector};

impl Assessment<'_> {
    pub(super) fn fill_independence(&self, decision: &Decision, coverage: &mut DecisionCoverage) {
        let calculus = self.mcdc_calculus(decision);
        let (mcdc, analysis) = match calculus
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|mcdc| Ok((mcdc, analyse_shown(mcdc, coverage)?)))
        {
            Ok(analysis) => analysis,
            Err(reason) => {
                let unknown_state = |_: Option<&[Vector]>| {
                    ObligationState::without_tests(Status::Undetermined, Some(reason.clone()))
                };
                coverage.combinations =
                    self.combination_obligations(decision, coverage, &calculus, unknown_state);
                let open_independence =
                    Independence::without_pair(Status::Undetermined, Some(reason), None);
                coverage.mcdc = every_condition(coverage, &open_independence);
                return;
            }
        };
        coverage.mcdc = (0..analysis.conditions.len())
            .map(|index| self.condition_mcdc(coverage, index, &analysis.conditions[index]))
            .collect();
        coverage.explanation = condition_explanations(coverage, &analysis.conditions);
        coverage.combinations =
            self.combination_obligations(decision, coverage, &calculus, |demanded_vectors| {
                self.combination_state(coverage, mcdc, demanded_vectors)
            });
        coverage.coupling = coupling_of(coverage, mcdc, &analysis);
        if !self.resolution.is_evaluated(decision.id) {
            // No vector of it can occur.
            return;
        }
        coverage.minimum = mcdc.minimum_vectors();
        coverage.missing = analysis.missing.into_iter().map(|vector| vector.values).collect();
        coverage.closing_set = analysis.closing_set;
    }

    fn condition_mcdc(
        &self,
        coverage: &DecisionCoverage,
        condition_index: usize,
        condition_analysis: &ConditionAnalysis,
    ) -> ConditionMcdc {
        let independence =
            |form_analysis| self.form_independence(coverage, condition_index, form_analysis);
        ConditionMcdc {
            condition: coverage.conditions[condition_index].id,
            unique_cause: independence(&condition_analysis.unique_cause),
            masking: independence(&condition_analysis.masking),
        }
    }

    fn form_independence(
        &self,
        coverage: &DecisionCoverage,
        condition_index: usize,
        form_analysis: &FormAnalysis,
    ) -> Independence {
        if let Some(shown_pair) = &form_analysis.pair {
            return Independence {
                status: Status::Covered,
                pair: Some(shown_pair.clone()),
                shown_by: Some(shown_pair.each_ref().map(|values| first_witness(coverage, values))),
                uncounted: Vec::new(),
                reason: None,
                proposal: None,
            };
        }
        let ruled_out =
            self.effect_ruled_out(coverage.id, condition_index as u32, form_analysis.attainability);
        if let Some(ruled_out) = ruled_out {
            let (reason, proposal) = ruled_out.reason_and_proposal();
            return Independence::without_pair(Status::Uncovered, Some(reason), proposal);
        }
        let reason = match form_analysis.attainability {
            Attainability::Attainable | Attainability::Unattainable => {
                self.constant_condition_reason(coverage, condition_index)
            }
            // The records are exact whatever could not be enumerated: no recorded pair shows the
            // condition.
            Attainability::Unknown => {
                Some(format!("more than {MAX_VECTORS} vectors can occur; it may be unattainable"))
            }
        };
        Independence::without_pair(Status::Uncovered, reason, None)
    }

    /// Why no input shows the effect of a condition.
    fn effect_ruled_out(
        &self,
        decision: DecisionId,
        condition: u32,
        attainability: Attainability,
    ) -> Option<RuledOut> {
        let resolution = &self.resolution;
        let is_absent = !resolution.condition_markers.contains_key(&(decision, condition));
        let fixed_ruling = || resolution.effect_ruled_out(decision, Some(condition));
        match attainability {
            Attainability::Attainable if is_absent => Some(resolution.absent_ruling()),
            Attainability::Attainable => resolution.decision_ruled_out(decision),
            Attainability::Unknown if resolution.proposing == ProposalRules::AsInFirstFormat => {
                fixed_ruling()
            }
            // Too many vectors to tell, unless the condition itself has one value.
            Attainability::Unknown => {
                resolution.fixed_value(decision, condition).and_then(|_| fixed_ruling())
            }
            Attainability::Unattainable => {
                fixed_ruling().or_else(|| Some(resolution.unattainable_ruling()))
            }
        }
    }

    /// Why a condition does not change, where its value could not be resolved.
    fn constant_condition_reason(
        &self,
        coverage: &DecisionCoverage,
        condition_index: usize,
    ) -> Option<String> {
        let condition = &coverage.conditions[condition_index];
        match condition.constness {
            Constness::Constant => Some("constant: the condition never changes".to_owned()),
            Constness::Specialization => {
                Some("specialization constant: the condition is fixed per pipeline".to_owned())
            }
            Constness::Runtime => coverage
                .constant_outcome
                .and_then(|outcome| constant_reason(coverage.constness, outcome)),
        }
    }
}

/// The first test that showed a vector, and its witness.
fn first_witness(coverage: &DecisionCoverage, values: &Values) -> Witness {
    let vector = coverage.vectors.iter().find(|shown| shown.values == *values);
    let vector = vector.expect("a pair is made of observed vectors");
    let directed = vector.first_directed();
    Witness { test: vector.tests[0], invocation: vector.witness, directed }
}

fn analyse_shown(mcdc: &Mcdc, coverage: &DecisionCoverage) -> Result<McdcAnalysis, String> {
    let shown_values = coverage.vectors.iter().map(|vector| vector.values.clone()).collect();
    mcdc.analyse_vectors(shown_values).map_err(|error| error.to_string())
}

fn condition_explanations(
    coverage: &DecisionCoverage,
    analysis: &[ConditionAnalysis],
) -> Vec<String> {
    let condition_rows = coverage.conditions.iter().zip(&coverage.mcdc).zip(analysis);
    let condition_gaps = condition_rows.map(|((place, mcdc), condition_analysis)| ConditionGap {
        id: place.id.to_string(),
        text: &place.text,
        condition_analysis,
        reasons: [&mcdc.unique_cause, &mcdc.masking]
            .map(|independence| independence.reason.as_deref().map(Cow::Borrowed)),
    });
    let first_test = |values: &Values| {
        let vector = coverage.vectors.iter().find(|shown| shown.values == *values)?;
        vector.tests.first().map(TestId::to_string)
    };
    gap_sentences(&condition_gaps.collect::<Vec<_>>(), &first_test)
}

/// What coupled conditions make impossible.
fn coupling_of(
    coverage: &DecisionCoverage,
    mcdc: &Mcdc,
    analysis: &McdcAnalysis,
) -> Option<Coupling> {
    let mut coupled_groups: Vec<Vec<ConditionId>> = Vec::new();
    for condition_place in coverage
        .conditions
        .iter()
        .filter(|condition_place| !condition_place.coupled_with.is_empty())
    {
        if !coupled_groups.iter().any(|coupled_ids| coupled_ids.contains(&condition_place.id)) {
            coupled_groups.push(
                std::iter::once(condition_place.id)
                    .chain(condition_place.coupled_with.iter().copied())
                    .collect(),
            );
        }
    }
    if coupled_groups.is_empty() {
        return None;
    }
    let conditions_without = |form: IndependenceForm| {
        analysis.unattainable_conditions(form).map(|index| coverage.conditions[index].id).collect()
    };
    let excluded_vectors = mcdc.excluded_by_coupling();
    Some(Coupling {
        groups: coupled_groups,
        excluded_count: excluded_vectors
            .as_ref()
            .map(|excluded_vectors| excluded_vectors.len() as u32),
        excluded: excluded_vectors.unwrap_or_default().into_iter().take(MAX_EXCLUDED).collect(),
        without_unique_cause: conditions_without(IndependenceForm::UniqueCause),
        without_masking: conditions_without(IndependenceForm::Masking),
    })
}
