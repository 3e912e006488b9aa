//! How far a campaign meets what its standard asks for (DO-178C tables;
//! ECSS-E-ST-40C 5.8.3.5; ISO 26262-6:2018 tables 9 and 12), derived from stored evidence alone, by
//! `certify` when it is made and by `verify` when it is checked again.
//!
//! Knows: the whole campaign with its conclusion. Promises: an objective is met only where this
//! evidence shows all that it asks for, on the target that the project names and with the
//! independence that the level demands; what is missing is told, never left out.
//! Does not cover: evidence of format 1 and of version 0.1.0, which says too little, and objectives
//! of version 0.2.0, which had other rules.

mod campaign_facts;
mod coverage;
mod independence;
mod other_standards;
mod reviews;
mod source_code;
mod target_tests;

use campaign_facts::CampaignFacts;
use rayon::prelude::*;
use std::collections::BTreeMap;
use vkcert_model::criterion::CriterionName;
use vkcert_model::evidence::{Campaign, KernelEvidence};
use vkcert_model::generation::Generation;
use vkcert_model::objective::{
    Objective, ObjectiveAssessment, ObjectiveDemand, ObjectiveRow, ObjectiveStatus,
};

/// Judges the reviews of tests and assesses every objective; the conclusion has been drawn. Inputs
/// by path with their SHA-256, as the manifest has them.
pub fn derive_objectives(
    campaign: &mut Campaign,
    kernels: &[KernelEvidence],
    input_hashes: &BTreeMap<String, String>,
) {
    let generation = Generation::for_campaign(campaign);
    match generation {
        Generation::First | Generation::Second => return,
        Generation::Third | Generation::Fourth | Generation::Current => {
            reviews::judge_reviews(campaign, kernels, input_hashes);
        }
    }
    if generation == Generation::Third {
        return;
    }
    let Some(settings) = &campaign.settings else { return };
    let facts = CampaignFacts::of_campaign(settings, campaign, kernels);
    let rows = settings.level.standard().objectives().par_iter().with_max_len(1);
    let objectives = rows.map(|row| assess_objective(row, &facts)).collect();
    campaign.objectives = objectives;
}

/// What of an objective is shown, missing and left to the applicant.
#[derive(Debug, Default)]
struct Showing {
    shown: Vec<String>,
    missing: Vec<String>,
    applicant: Vec<String>,
}

impl Showing {
    fn shows(mut self, sentence: impl Into<String>) -> Self {
        self.shown.push(sentence.into());
        self
    }

    fn shows_all(mut self, sentences: impl IntoIterator<Item = String>) -> Self {
        self.shown.extend(sentences);
        self
    }

    fn misses(mut self, sentence: impl Into<String>) -> Self {
        self.missing.push(sentence.into());
        self
    }

    fn misses_all(mut self, sentences: impl IntoIterator<Item = String>) -> Self {
        self.missing.extend(sentences);
        self
    }

    /// What two of them show, miss and leave together.
    fn and(mut self, other: Showing) -> Self {
        self.shown.extend(other.shown);
        self.missing.extend(other.missing);
        self.applicant.extend(other.applicant);
        self
    }

    fn leaves(mut self, sentence: impl Into<String>) -> Self {
        self.applicant.push(sentence.into());
        self
    }

    fn status(&self) -> ObjectiveStatus {
        match (self.missing.is_empty(), self.applicant.is_empty()) {
            (false, _) => ObjectiveStatus::Open,
            (true, false) => ObjectiveStatus::Applicant,
            (true, true) => ObjectiveStatus::Met,
        }
    }
}

fn assess_objective(row: &ObjectiveRow, facts: &CampaignFacts) -> ObjectiveAssessment {
    let demand = row.demand(facts.settings.level);
    let without_showing = |status| ObjectiveAssessment {
        objective: row.objective,
        demand,
        status,
        shown: Vec::new(),
        missing: Vec::new(),
        applicant: Vec::new(),
    };
    if demand == ObjectiveDemand::NotRequired {
        return without_showing(ObjectiveStatus::NotRequired);
    }
    let Some(mut showing) = showing_of(row.objective, demand, facts) else {
        return without_showing(ObjectiveStatus::NotApplicable);
    };
    if demand == ObjectiveDemand::WithIndependence {
        showing.missing.extend(independence::lacking_independence(row.objective, facts));
    }
    let status = showing.status();
    let Showing { shown, missing, applicant } = showing;
    ObjectiveAssessment { objective: row.objective, demand, status, shown, missing, applicant }
}

/// None: the project has nothing that the objective is about.
fn showing_of(
    objective: Objective,
    demand: ObjectiveDemand,
    facts: &CampaignFacts,
) -> Option<Showing> {
    Some(match objective {
        Objective::CodeMeetsLowLevel => source_code::meets_low_level(facts),
        Objective::CodeMeetsArchitecture => source_code::meets_architecture(facts),
        Objective::CodeVerifiable => source_code::is_verifiable(facts),
        Objective::CodeMeetsStandards => source_code::meets_standards(),
        Objective::CodeTraceable => source_code::is_traceable(facts),
        Objective::CodeAccurate => source_code::is_accurate(facts),
        Objective::IntegrationComplete => source_code::is_integrated(facts),
        Objective::ParametersCorrect => source_code::parameters_correct(facts)?,
        Objective::ParametersVerified => source_code::parameters_verified(facts)?,
        Objective::ObjectMeetsHighLevel | Objective::ObjectMeetsLowLevel => {
            target_tests::meets_requirements(facts, &facts.requirements_for(objective))
        }
        Objective::ObjectRobustHighLevel | Objective::ObjectRobustLowLevel => {
            target_tests::is_robust(facts, &facts.requirements_for(objective))
        }
        Objective::ObjectFitsTarget => target_tests::fits_target(facts),
        Objective::ProceduresCorrect => reviews::procedures_correct(facts),
        Objective::ResultsCorrect => reviews::results_correct(facts),
        Objective::HighLevelTested | Objective::LowLevelTested => {
            coverage::requirements_tested(facts, &facts.requirements_for(objective))
        }
        Objective::McdcCovered => coverage::mcdc_covered(facts),
        Objective::DecisionsCovered => coverage::decisions_covered(facts),
        Objective::StatementsCovered => coverage::statements_covered(facts),
        Objective::CouplingCovered => coverage::coupling_covered(facts),
        Objective::AdditionalCodeVerified | Objective::EcssObjectCode => {
            coverage::additional_code_verified(facts)
        }
        Objective::EcssCodeVerified => other_standards::code_verified(facts),
        Objective::EcssMeasuredByTests => other_standards::measured_by_tests(facts),
        Objective::EcssUncoveredAnalysed => other_standards::uncovered_code_analysed(facts)?,
        Objective::EcssCodeRobust => other_standards::code_robust(facts),
        Objective::IsoRequirementsTested => {
            coverage::requirements_tested(facts, &facts.requirements_for(objective))
        }
        Objective::EcssStatements | Objective::IsoStatements => {
            other_standards::covered_as_demanded(facts, CriterionName::Statement, demand)
        }
        Objective::EcssDecisions => {
            other_standards::covered_as_demanded(facts, CriterionName::Decision, demand)
        }
        Objective::IsoBranches => {
            other_standards::covered_as_demanded(facts, CriterionName::Branch, demand)
        }
        Objective::EcssMcdc | Objective::IsoMcdc => {
            let form = coverage::asked_mcdc_form(facts).unwrap_or(CriterionName::McdcMasking);
            other_standards::covered_as_demanded(facts, form, demand)
        }
        Objective::IsoFunctions => {
            other_standards::architecture_covered(facts, CriterionName::Function, demand)
        }
        Objective::IsoCalls => {
            other_standards::architecture_covered(facts, CriterionName::Call, demand)
        }
    })
}
