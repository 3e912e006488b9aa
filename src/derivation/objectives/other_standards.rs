//! What ECSS-E-ST-40C 5.8.3.5 and ISO 26262-6:2018, tables 9 and 12, ask for, from the same
//! evidence as the objectives of DO-178C.
//!
//! Promises: a share that is to be agreed with a customer is told and never called enough; a method
//! that is recommended and not asked for is never called met.
//! Does not cover: what tailoring or ASIL decomposition takes away.

use super::campaign_facts::CampaignFacts;
use super::coverage::{self, OpenObligations};
use super::{Showing, source_code};
use vkcert_model::coverage::CriterionSummary;
use vkcert_model::criterion::{CriterionName, StoredCriterion};
use vkcert_model::objective::ObjectiveDemand;
use vkcert_model::verdict::EngineName;

/// Structural coverage by a criterion, as the standard demands it.
pub(super) fn covered_as_demanded(
    facts: &CampaignFacts,
    criterion: CriterionName,
    demand: ObjectiveDemand,
) -> Showing {
    let is_asked_for = coverage::is_asked_for(facts, criterion);
    match demand {
        ObjectiveDemand::Required
        | ObjectiveDemand::WithIndependence
        | ObjectiveDemand::HighlyRecommended
        | ObjectiveDemand::NotRequired => structure_covered(facts, criterion),
        ObjectiveDemand::Agreed => {
            let open_obligations = match is_asked_for {
                true => OpenObligations::AreMissing,
                false => OpenObligations::AreTold,
            };
            coverage::structure_measured(facts, criterion, open_obligations)
                .leaves("Show that the coverage reached is what was agreed with the customer.")
        }
        ObjectiveDemand::Recommended if is_asked_for => structure_covered(facts, criterion),
        ObjectiveDemand::Recommended => recommended(measured_shares(facts, criterion)),
    }
}

/// Coverage of the software architecture (ISO 26262-6:2018, table 12): the evidence holds that of
/// kernels alone.
pub(super) fn architecture_covered(
    facts: &CampaignFacts,
    criterion: CriterionName,
    demand: ObjectiveDemand,
) -> Showing {
    covered_as_demanded(facts, criterion, demand).leaves(
        "Show the same of the host program and of the integrated software: kernels alone are measured here.",
    )
}

/// As [`coverage::structure_covered`]; what is only justified is for the applicant to defend.
fn structure_covered(facts: &CampaignFacts, criterion: CriterionName) -> Showing {
    let showing = coverage::structure_covered(facts, criterion);
    let engines = [EngineName::Sequential, EngineName::Vulkan];
    let has_justified = engines.iter().any(|engine| {
        coverage::summaries(facts, *engine, criterion).iter().any(|(_, row)| row.justified > 0)
    });
    if has_justified {
        showing.leaves("Defend the justifications: what they close is not covered.")
    } else {
        showing
    }
}

/// The shares of a criterion that the project does not ask for.
fn measured_shares(facts: &CampaignFacts, criterion: CriterionName) -> Showing {
    let engines = [EngineName::Sequential, EngineName::Vulkan];
    if engines.iter().all(|engine| coverage::summaries(facts, *engine, criterion).is_empty()) {
        return Showing::default().shows(format!(
            "The project does not ask for {criterion} coverage: it is not measured."
        ));
    }
    coverage::structure_measured(facts, criterion, OpenObligations::AreTold)
}

/// A method that is recommended and that the project has not chosen.
fn recommended(showing: Showing) -> Showing {
    showing.leaves(
        "Show that the combination of methods is appropriate without this one, which is recommended (+) at this ASIL.",
    )
}

/// ECSS-E-ST-40C 5.8.3.5.a: traces, interfaces and run-time errors support it; the rest is judged by
/// people.
pub(super) fn code_verified(facts: &CampaignFacts) -> Showing {
    source_code::is_traceable(facts)
        .and(Showing { applicant: Vec::new(), ..source_code::meets_architecture(facts) })
        .and(Showing { applicant: Vec::new(), ..source_code::is_accurate(facts) })
        .leaves(
            "Verify the code against design, requirements and coding standards: consistency, sequences of events, budgets of \
             time and size, error handling, critical requirements.",
        )
}

/// ECSS-E-ST-40C 5.8.3.5.c: nothing else than a test that passed makes anything covered.
pub(super) fn measured_by_tests(facts: &CampaignFacts) -> Showing {
    let records = || facts.kernels.iter().flat_map(|kernel| &kernel.records);
    let counted = records().filter(|row| row.counted).count();
    let showing = Showing::default().misses_all(coverage::unmeasured_kernels(facts));
    let showing = match counted {
        0 => showing.misses("No test that passed has measured anything."),
        _ => showing.shows(format!(
            "Coverage is derived from what tests recorded that were executed and passed: {counted} of {} records count.",
            records().count()
        )),
    };
    showing.misses_all(facts.left_out_of_run())
}

/// ECSS-E-ST-40C 5.8.3.5.d: justifications take the place of tests. None: tests cover all that the
/// project asks for.
pub(super) fn uncovered_code_analysed(facts: &CampaignFacts) -> Option<Showing> {
    let criteria = &facts.campaign.project.criteria;
    if criteria.is_empty() {
        return Some(Showing::default().leaves(
            "Where the coverage agreed with the customer is not reached by tests, analyse, inspect or review the code that is \
             not covered.",
        ));
    }
    let sum = |part: fn(&CriterionSummary) -> u32| -> u32 {
        let summaries = facts.kernels.iter().flat_map(|kernel| &kernel.coverage.summary);
        let is_asked = |row: &&CriterionSummary| criteria.contains(&row.criterion);
        summaries.filter(is_asked).map(part).sum()
    };
    let names: Vec<String> = criteria.iter().map(StoredCriterion::to_string).collect();
    let names = names.join(", ");
    let (justified, open) = (sum(|row| row.justified), sum(|row| row.uncovered + row.undetermined));
    if (justified, open) == (0, 0) {
        return None;
    }
    let mut showing = Showing::default();
    if open > 0 {
        showing = showing.misses(format!(
            "{open} obligations ({names}; all engines together) are neither covered nor justified."
        ));
    }
    if justified > 0 {
        showing = showing
            .shows(format!(
                "{justified} obligations ({names}; all engines together) that no test covers have an accepted justification."
            ))
            .leaves("Show that each justification rests on an analysis, an inspection or a review of the design.");
    }
    Some(showing)
}

/// ECSS-E-ST-40C 5.8.3.5.f: what the tests show of errors at run time; for all inputs it is analysed.
pub(super) fn code_robust(facts: &CampaignFacts) -> Showing {
    let robustness_note = match facts.robustness_tests.len() {
        0 => "No test is a robustness test.".to_owned(),
        1 => "1 test is a robustness test.".to_owned(),
        count => format!("{count} tests are robustness tests."),
    };
    Showing { applicant: Vec::new(), ..source_code::is_accurate(facts) }
        .shows(robustness_note)
        .leaves("Verify the robustness of the source code for all inputs, by static analysis where tests hardly show errors.")
}
