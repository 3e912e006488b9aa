//! Source code, integration and parameter data items (DO-178C 6.3.4, 6.3.5 and 6.6, table A-5).
//!
//! Promises: none of these is met by evidence of tests alone; what supports the applicant's reviews
//! and analyses is told.

use super::Showing;
use super::campaign_facts::CampaignFacts;
use vkcert_model::evidence::{CheckStatus, KernelEvidence};
use vkcert_model::finding::FindingKind;
use vkcert_model::objective::Objective;
use vkcert_model::open_item::OpenItemKind;
use vkcert_model::verdict::EngineName;

pub(super) fn meets_low_level(facts: &CampaignFacts) -> Showing {
    let requirements = facts.requirements_for(Objective::CodeMeetsLowLevel);
    let linked = requirements.rows.iter().filter(|row| !row.code.is_empty()).count();
    Showing::default()
        .shows(format!(
            "{linked} of {} {} name the code that implements them.",
            requirements.rows.len(),
            requirements.name
        ))
        .leaves("Review or analyse the source code against its low-level requirements.")
}

pub(super) fn meets_architecture(facts: &CampaignFacts) -> Showing {
    let checks = || facts.campaign.coupling.iter().flat_map(|row| &row.checks);
    let holding = checks().filter(|check| check.status == CheckStatus::Holds).count();
    Showing::default()
        .shows(format!(
            "{holding} of {} checks between host and kernels hold: data flow and control flow at their interface, as the \
             project states the host.",
            checks().count()
        ))
        .leaves("Review or analyse the source code against the software architecture.")
}

pub(super) fn is_verifiable(facts: &CampaignFacts) -> Showing {
    let of_asked = |kernel: &KernelEvidence| {
        let rows = kernel.coverage.summary.iter();
        let asked = rows.filter(|row| facts.campaign.project.criteria.contains(&row.criterion));
        asked.map(|row| row.undetermined).sum::<u32>()
    };
    let sequential_kernels =
        facts.kernels.iter().filter(|kernel| kernel.engine == EngineName::Sequential);
    let undetermined: u32 = sequential_kernels.map(of_asked).sum();
    Showing::default()
        .shows(match undetermined {
            0 => "The sequential engine measured each obligation of the criteria asked for."
                .to_owned(),
            count => format!("{count} obligations could not be measured on the sequential engine."),
        })
        .leaves("Show that the source code has no structure that cannot be verified.")
}

pub(super) fn meets_standards() -> Showing {
    Showing::default().leaves("Show that the source code conforms to the software code standards.")
}

pub(super) fn is_traceable(facts: &CampaignFacts) -> Showing {
    let rows = &facts.campaign.requirements;
    let lost_code = rows.iter().flat_map(|row| {
        let lost = row.code.iter().filter(|code| !code.found);
        lost.map(|code| {
            format!("{} names {}, which is not there.", row.requirement.uid, code.link())
        })
    });
    let suspect_links = rows.iter().flat_map(|row| {
        row.suspect_parents
            .iter()
            .map(|parent| format!("The link of {} to {parent} is suspect.", row.requirement.uid))
    });
    let untraced = facts.open_items(OpenItemKind::FunctionWithoutRequirement);
    let links = rows.iter().map(|row| row.code.len()).sum::<usize>();
    let showing =
        Showing::default().shows(format!("{links} links lead from requirements to code."));
    let showing = if untraced.is_empty() {
        showing.shows("Each function that a kernel reaches is named by a requirement.")
    } else {
        showing
    };
    showing
        .misses_all(untraced)
        .misses_all(lost_code)
        .misses_all(suspect_links)
        .leaves("Review that each link is right: the code named implements the requirement, and nothing else.")
}

pub(super) fn is_accurate(facts: &CampaignFacts) -> Showing {
    let not_looked_for = facts.campaign.unsought.iter().map(|row| row.kind.to_string());
    let not_looked_for: Vec<String> = not_looked_for.collect();
    let mut showing = Showing::default();
    if !not_looked_for.is_empty() {
        showing =
            showing.misses(format!("Not looked for everywhere: {}.", not_looked_for.join(", ")));
    }
    let is_of_code = |kind: FindingKind| kind != FindingKind::Coupling;
    match facts.standing_findings(is_of_code) {
        Some(sentence) => showing = showing.misses(sentence),
        None => {
            showing = showing.shows(
                "In the tests that ran no finding of races, barriers, bounds, uninitialised or undefined values stands.",
            );
        }
    }
    showing.leaves(
        "Analyse what tests do not show: worst-case execution time, stack and memory use, accuracy and overflow of \
         arithmetic, for all inputs.",
    )
}

pub(super) fn is_integrated(facts: &CampaignFacts) -> Showing {
    let is_of_modules =
        |kind: FindingKind| matches!(kind, FindingKind::Validation | FindingKind::UntracedBranch);
    let showing = Showing::default()
        .misses_all(facts.refused_kernels())
        .misses_all(facts.standing_findings(is_of_modules))
        .misses_all(facts.left_out_of_run());
    let showing = if showing.missing.is_empty() {
        showing.shows(
            "No finding of the validator stands against a module, no branch is without a trace, and each production module \
             on disk is what the compiler makes.",
        )
    } else {
        showing
    };
    showing.leaves(
        "Show the same of what follows: the device's driver makes executable object code of the modules, and the host \
         program loads them.",
    )
}

/// Specialization values are what is given to a kernel apart from its code.
pub(super) fn parameters_correct(facts: &CampaignFacts) -> Option<Showing> {
    let configurations = parameter_configurations(facts);
    if configurations.is_empty() {
        return None;
    }
    let mut showing = Showing::default();
    for kernel in configurations {
        let values = kernel.configuration.specialization.iter();
        let values: Vec<String> =
            values.map(|value| format!("{} = {}", value.label(), value.value)).collect();
        showing = showing.shows(format!(
            "Kernel {}, configuration {}: {}.",
            kernel.kernel,
            kernel.configuration.name,
            values.join(", ")
        ));
    }
    Some(showing.leaves(
        "Show that the specialization values, as parameter data items, have the structure and the values that their \
         requirements state.",
    ))
}

pub(super) fn parameters_verified(facts: &CampaignFacts) -> Option<Showing> {
    let configurations = parameter_configurations(facts);
    if configurations.is_empty() {
        return None;
    }
    let mut showing = Showing::default();
    for kernel in configurations {
        let name = &kernel.configuration.name;
        let counted = kernel.records.iter().filter(|row| row.counted).count();
        let words = format!("Kernel {}, configuration {name}", kernel.kernel);
        showing = match counted {
            0 => showing.misses(format!("{words}: no test that passed ran it.")),
            1 => showing.shows(format!("{words}: 1 test that passed ran it.")),
            count => showing.shows(format!("{words}: {count} tests that passed ran it.")),
        };
    }
    Some(
        showing
            .misses_all(facts.left_out_of_run())
            .leaves("Show that every element of the parameter data items has been verified."),
    )
}

/// Configurations with specialization values, one engine's each.
fn parameter_configurations<'a>(facts: &CampaignFacts<'a>) -> Vec<&'a KernelEvidence> {
    let engine = facts.kernels.first().map(|kernel| kernel.engine);
    let of_one_engine = facts.kernels.iter().filter(|kernel| Some(kernel.engine) == engine);
    of_one_engine.filter(|kernel| !kernel.configuration.specialization.is_empty()).collect()
}
