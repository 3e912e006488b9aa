//! MC/DC of one decision: which vectors show each condition, and why where none do.

use super::super::explanation::{ConditionGap, gap_sentences};
use super::super::independence::IndependenceForm;
use super::super::limits::{MAX_EXCLUDED, MAX_VECTORS};
use super::super::mcdc::{Attainability, ConditionAnalysis, FormAnalysis, Mcdc, McdcAnalysis};
use super::super::resolution::RuledOut;
use super::super::subject::ProposalRules;
use super::assessment::Assessment;
use super::decisions::{constant_reason, every_condition};
use super::obligations::State;
use vkcert_model::coverage::{
    ConditionMcdc, Coupling, DecisionCoverage, Independence, Status, Witness,
};
use vkcert_model::id::{ConditionId, DecisionId, TestId};
use vkcert_model::structure::{Constness, Decision};
use vkcert_model::vector::{Values, Vector};

impl Assessment<'_> {
    pub(super) fn independence(&self, decision: &Decision, coverage: &mut DecisionCoverage) {
        let given: Vec<Values> =
            coverage.vectors.iter().map(|vector| vector.values.clone()).collect();
        let calculus = self.calculus(decision);
        let analysed =
            |mcdc: &Mcdc| mcdc.analyse_vectors(&given).map_err(|error| error.to_string());
        let (mcdc, analysis) = match calculus
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|mcdc| Ok((mcdc, analysed(mcdc)?)))
        {
            Ok(analysis) => analysis,
            Err(reason) => {
                let unknown =
                    |_: Option<&[Vector]>| State::open(Status::Undetermined, Some(reason.clone()));
                coverage.combinations = self.combinations(decision, coverage, &calculus, unknown);
                let (status, reason) = (Status::Undetermined, Some(reason));
                let open = Independence {
                    status,
                    pair: None,
                    shown_by: None,
                    uncounted: Vec::new(),
                    reason,
                    proposal: None,
                };
                coverage.mcdc = every_condition(coverage, &open);
                return;
            }
        };
        let of_condition = |(index, found): (usize, &ConditionAnalysis)| ConditionMcdc {
            condition: coverage.conditions[index].id,
            unique_cause: self.form(coverage, index, &found.unique_cause),
            masking: self.form(coverage, index, &found.masking),
        };
        coverage.mcdc = analysis.conditions.iter().enumerate().map(of_condition).collect();
        coverage.explanation = explained(coverage, &analysis.conditions);
        coverage.combinations = self.combinations(decision, coverage, &calculus, |wanted| {
            self.shown(coverage, mcdc, wanted)
        });
        coverage.coupling = coupling(coverage, mcdc, &analysis);
        if !self.resolution.is_evaluated(decision.id) {
            // No vector of it can occur.
            return;
        }
        coverage.minimum = mcdc.minimum_vectors();
        coverage.missing = analysis.missing.into_iter().map(|vector| vector.values).collect();
        coverage.closing_set = analysis.closing_set;
    }

    fn form(&self, coverage: &DecisionCoverage, index: usize, form: &FormAnalysis) -> Independence {
        let witness = |values: &Values| {
            let vector = coverage.vectors.iter().find(|vector| vector.values == *values);
            let vector = vector.expect("a pair is made of observed vectors");
            let directed = vector.first_directed();
            Witness { test: vector.tests[0].clone(), invocation: vector.witness, directed }
        };
        if let Some([one, other]) = &form.pair {
            let shown_by = Some([witness(one), witness(other)]);
            let pair = form.pair.clone();
            return Independence {
                status: Status::Covered,
                pair,
                shown_by,
                uncounted: Vec::new(),
                reason: None,
                proposal: None,
            };
        }
        let ruled_out = self.ruled_out(coverage.id, index as u32, form.attainability);
        let reason = match (&ruled_out, form.attainability) {
            (Some(ruled_out), _) => Some(ruled_out.reason.clone()),
            (None, Attainability::Attainable | Attainability::Unattainable) => {
                self.constant(coverage, index)
            }
            // The records are exact whatever could not be enumerated: no recorded pair shows the
            // condition.
            (None, Attainability::Unknown) => {
                Some(format!("more than {MAX_VECTORS} vectors can occur; it may be unattainable"))
            }
        };
        let proposal = ruled_out.and_then(|ruled_out| ruled_out.proposal());
        Independence {
            status: Status::Uncovered,
            pair: None,
            shown_by: None,
            uncounted: Vec::new(),
            reason,
            proposal,
        }
    }

    /// Why no input shows the effect of a condition.
    fn ruled_out(
        &self,
        decision: DecisionId,
        condition: u32,
        attainability: Attainability,
    ) -> Option<RuledOut> {
        let resolution = &self.resolution;
        let absent = !resolution.condition_markers.contains_key(&(decision, condition));
        let fixed = || resolution.effect(decision, Some(condition));
        match attainability {
            Attainability::Attainable if absent => Some(resolution.absent()),
            Attainability::Attainable => resolution.unevaluated(decision),
            Attainability::Unknown if resolution.proposing == ProposalRules::AsInFirstFormat => {
                fixed()
            }
            // Too many vectors to tell, unless the condition itself has one value.
            Attainability::Unknown => resolution.value(decision, condition).and_then(|_| fixed()),
            Attainability::Unattainable => fixed().or_else(|| Some(resolution.unattainable())),
        }
    }

    /// Why a condition does not change, where its value could not be resolved.
    fn constant(&self, coverage: &DecisionCoverage, index: usize) -> Option<String> {
        let condition = &coverage.conditions[index];
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

fn explained(coverage: &DecisionCoverage, analysis: &[ConditionAnalysis]) -> Vec<String> {
    let rows = coverage.conditions.iter().zip(&coverage.mcdc).zip(analysis);
    let told = rows.map(|((place, mcdc), found)| ConditionGap {
        id: place.id.to_string(),
        text: &place.text,
        condition_analysis: found,
        reasons: [mcdc.unique_cause.reason.clone(), mcdc.masking.reason.clone()],
    });
    let test = |values: &Values| {
        let vector = coverage.vectors.iter().find(|vector| vector.values == *values)?;
        vector.tests.first().map(TestId::to_string)
    };
    gap_sentences(&told.collect::<Vec<_>>(), &test)
}

/// What coupled conditions make impossible.
fn coupling(coverage: &DecisionCoverage, mcdc: &Mcdc, analysis: &McdcAnalysis) -> Option<Coupling> {
    let mut groups: Vec<Vec<ConditionId>> = Vec::new();
    for place in coverage.conditions.iter().filter(|place| !place.coupled_with.is_empty()) {
        if !groups.iter().any(|group| group.contains(&place.id)) {
            groups.push(
                std::iter::once(place.id).chain(place.coupled_with.iter().copied()).collect(),
            );
        }
    }
    if groups.is_empty() {
        return None;
    }
    let without = |form: IndependenceForm| {
        let rows = coverage.conditions.iter().zip(&analysis.conditions);
        let rows = rows.filter(|(_, found)| {
            found.analysis_of(form).attainability == Attainability::Unattainable
        });
        rows.map(|(place, _)| place.id).collect()
    };
    let excluded = mcdc.excluded_by_coupling();
    Some(Coupling {
        groups,
        excluded_count: excluded.as_ref().map(|excluded| excluded.len() as u32),
        excluded: excluded.unwrap_or_default().into_iter().take(MAX_EXCLUDED).collect(),
        without_unique_cause: without(IndependenceForm::UniqueCause),
        without_masking: without(IndependenceForm::Masking),
    })
}
