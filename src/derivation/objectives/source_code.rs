//! Source code, integration and parameter data items (DO-178C 6.3.4, 6.3.5 and 6.6, table A-5).
//!
//! Promises: none of these is met by evidence of tests alone; what supports the applicant's reviews
//! and analyses is told.

use super::Showing;
use super::campaign_facts::{CampaignFacts, check_not_holding, lacking};
use crate::open_items::{listed_names, specializes_to};
use std::collections::BTreeSet;
use vkcert_model::evidence::{CheckStatus, KernelEvidence, RequirementEvidence, RequirementStatus};
use vkcert_model::finding::FindingKind;
use vkcert_model::objective::Objective;
use vkcert_model::open_item::OpenItemKind;
use vkcert_model::verdict::EngineName;
use vkcert_requirement::reach::reached_functions;

pub(super) fn meets_low_level(facts: &CampaignFacts) -> Showing {
    let requirements = facts.requirements_for(Objective::CodeMeetsLowLevel);
    const REVIEW: &str = "Review or analyse the source code against its low-level requirements.";
    let (total, name) = (requirements.rows.len(), requirements.name);
    if total == 0 {
        return Showing::default().misses(format!("The project has no {name}.")).leaves(REVIEW);
    }
    let uids_where = |is_asked: fn(&RequirementEvidence) -> bool| -> Vec<String> {
        let rows = requirements.rows.iter().filter(|row| is_asked(row));
        rows.map(|row| row.requirement.uid.to_string()).collect()
    };
    let without_code = uids_where(|row| row.code.is_empty());
    let failed = uids_where(|row| row.status == RequirementStatus::Failed);
    let is_of_code = |kind: FindingKind| kind != FindingKind::Coupling;
    Showing::default()
        .shows(format!(
            "{} of {total} {name} name the code that implements them.",
            total - without_code.len()
        ))
        .misses_all(lacking(total, name, "name no code", &without_code))
        .misses_all(lacking(total, name, "failed in tests", &failed))
        .misses_all(facts.standing_findings(is_of_code))
        .leaves(REVIEW)
}

pub(super) fn meets_architecture(facts: &CampaignFacts) -> Showing {
    let checks = || facts.campaign.coupling.iter().flat_map(|row| &row.checks);
    let holding = checks().filter(|check| check.status == CheckStatus::Holds).count();
    let total = checks().count();
    let showing = match total {
        0 => Showing::default()
            .misses("Nothing between host and kernels was checked: the project states no interface."),
        _ => Showing::default().shows(format!(
            "{holding} of {total} checks between host and kernels hold: data flow and control flow at their interface, as the \
             project states the host."
        )),
    };
    let not_holding = facts.campaign.coupling.iter().flat_map(|row| {
        row.checks.iter().filter_map(|check| check_not_holding(&row.kernel, check))
    });
    showing
        .misses_all(not_holding)
        .misses_all(facts.open_items(OpenItemKind::KernelWithoutInterface))
        .leaves("Review or analyse the source code against the software architecture.")
}

/// By the sequential engine, which can measure all; where it did not run, by the other.
pub(super) fn is_verifiable(facts: &CampaignFacts) -> Showing {
    let engines = [EngineName::Sequential, EngineName::Vulkan];
    let engine = engines.into_iter().find(|engine| facts.ran(*engine));
    let showing = match engine {
        None => Showing::default().misses("No engine ran, so that nothing was measured."),
        Some(engine) => measured_obligations(facts, engine),
    };
    showing.leaves("Show that the source code has no structure that cannot be verified.")
}

fn measured_obligations(facts: &CampaignFacts, engine: EngineName) -> Showing {
    let rows = || facts.kernels.iter().filter(|kernel| kernel.engine == engine);
    let asked_rows = || {
        let summaries = rows().flat_map(|kernel| &kernel.coverage.summary);
        summaries.filter(|row| facts.campaign.project.criteria.contains(&row.criterion))
    };
    let total: u32 = asked_rows().map(|row| row.total).sum();
    let undetermined: u32 = asked_rows().map(|row| row.undetermined).sum();
    let mut showing = Showing::default();
    for kernel in &facts.settings.kernels {
        if !rows().any(|row| row.kernel == kernel.name) {
            let name = kernel.name;
            showing = showing
                .misses(format!("The kernel {name} was not measured on the {engine} engine."));
        }
    }
    match (total, undetermined) {
        (0, _) => showing.shows(format!(
            "On the {engine} engine there is no obligation of the criteria asked for."
        )),
        (_, 0) => showing.shows(format!(
            "The {engine} engine measured each of {total} obligations of the criteria asked for."
        )),
        (_, count) => showing.misses(format!(
            "{count} of {total} obligations of the criteria asked for could not be measured on the {engine} engine."
        )),
    }
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
    let showing = if untraced.is_empty() { showing.shows(named_functions(facts)) } else { showing };
    showing
        .misses_all(untraced)
        .misses_all(lost_code)
        .misses_all(suspect_links)
        .leaves("Review that each link is right: the code named implements the requirement, and nothing else.")
}

/// How the functions that kernels reach are named, where all of them are: by themselves, or with the
/// whole of their file.
fn named_functions(facts: &CampaignFacts) -> String {
    let mut by_file_alone = BTreeSet::new();
    for kernel in facts.kernels {
        for function in reached_functions(kernel) {
            let links = facts.campaign.requirements.iter().flat_map(|row| &row.code);
            let mut naming_links =
                links.filter(|code| code.names(function.file, function.name, &kernel.kernel));
            if naming_links.all(|code| code.symbol.is_none()) {
                by_file_alone.insert(format!("{} in {}", function.name, function.file));
            }
        }
    }
    let names: Vec<String> = by_file_alone.into_iter().collect();
    match names.is_empty() {
        true => "Each function that a kernel reaches is named by a requirement.".to_owned(),
        false => format!(
            "Each function that a kernel reaches is named by a requirement, or stands in a file that one names as a whole ({} by its \
             file alone: {}).",
            names.len(),
            listed_names(&names)
        ),
    }
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
    let showing = match facts.standing_findings(is_of_modules) {
        Some(_) => showing,
        None => showing.shows(
            "No finding of the validator of modules stands, and no branch of one is without a trace to source.",
        ),
    };
    let showing = modules_on_disk(facts, showing);
    let layers_looked =
        facts.campaign.unsought.iter().all(|row| row.kind != FindingKind::Validation);
    let showing = match layers_looked {
        true => showing,
        false => showing.leaves("Show what a validation layer would: none watched the runs."),
    };
    showing.leaves(
        "Show the same of what follows: the device's driver makes executable object code of the modules, and the host \
         program loads them.",
    )
}

/// Production modules on disk, of which the project may have none.
fn modules_on_disk(facts: &CampaignFacts, showing: Showing) -> Showing {
    let total = facts.settings.kernels.len();
    let on_disk = facts.settings.kernels.iter().filter(|kernel| {
        let mut rows = facts.kernels.iter().filter(|row| row.kernel == kernel.name);
        rows.any(|row| row.modules.production_file.is_some())
    });
    match on_disk.count() {
        0 => showing.leaves(format!(
            "Show that the modules which the host program loads are those of this evidence: none of {total} production modules is \
             on disk in the project, and none was compared."
        )),
        // One that differs is a finding of this kind.
        count => match facts.standing_findings(|kind| kind == FindingKind::Validation) {
            None => showing.shows(format!(
                "{count} of {total} production modules are on disk, and each of these is what the compiler makes."
            )),
            Some(_) => showing.shows(format!("{count} of {total} production modules are on disk.")),
        },
    }
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
        let kernel_and_configuration =
            format!("Kernel {}, configuration {}", kernel.kernel, kernel.configuration.name);
        showing = match host_sets_these_values(facts, kernel) {
            Some(true) => showing.shows(format!(
                "{kernel_and_configuration}: the values that the host sets, as the project states it."
            )),
            Some(false) => showing.misses(format!(
                "{kernel_and_configuration}: the host, as the project states it, sets other values."
            )),
            None => showing.misses(format!(
                "{kernel_and_configuration}: no [[interface]] states which values the host sets."
            )),
        };
    }
    Some(showing.misses_all(facts.open_items(OpenItemKind::InterfaceSpecializationNotRun)).leaves(
        "Show that the specialization values, as parameter data items, have the structure and the values that their \
         requirements state.",
    ))
}

/// Whether one of a kernel's interfaces specializes it to a configuration; `None` where it has no
/// interface.
fn host_sets_these_values(facts: &CampaignFacts, kernel: &KernelEvidence) -> Option<bool> {
    let of_kernel = facts.campaign.coupling.iter().filter(|row| row.kernel == kernel.kernel);
    let interfaces: Vec<_> = of_kernel.filter_map(|row| row.definition.as_ref()).collect();
    if interfaces.is_empty() {
        return None;
    }
    Some(interfaces.into_iter().any(|interface| specializes_to(interface, &kernel.configuration)))
}

pub(super) fn parameters_verified(facts: &CampaignFacts) -> Option<Showing> {
    let configurations = parameter_configurations(facts);
    if configurations.is_empty() {
        return None;
    }
    let mut showing = Showing::default();
    for kernel in configurations {
        for engine_row in facts.kernels.iter().filter(|row| is_same_configuration(row, kernel)) {
            showing = showing.and(runs_of_configuration(engine_row));
        }
    }
    let failed_tests = facts.campaign.tests.iter().filter(|test| !CampaignFacts::passed(test));
    let failed_ids: Vec<String> = failed_tests.map(|test| test.id.to_string()).collect();
    let test_count = facts.campaign.tests.len();
    Some(
        showing
            .misses_all(lacking(test_count, "tests", "did not pass wherever they ran", &failed_ids))
            .misses_all(facts.standing_findings(|_| true))
            .misses_all(facts.left_out_of_run())
            .misses_all(facts.open_items(OpenItemKind::InterfaceSpecializationNotRun))
            .leaves("Show that every element of the parameter data items has been verified."),
    )
}

fn is_same_configuration(row: &KernelEvidence, kernel: &KernelEvidence) -> bool {
    row.kernel == kernel.kernel && row.configuration.name == kernel.configuration.name
}

/// Which tests that passed ran a configuration on its engine.
fn runs_of_configuration(kernel: &KernelEvidence) -> Showing {
    let words = format!(
        "Kernel {}, configuration {}, engine {}",
        kernel.kernel, kernel.configuration.name, kernel.engine
    );
    match kernel.records.iter().filter(|row| row.counted).count() {
        0 => Showing::default().misses(format!("{words}: no test that passed ran it.")),
        1 => Showing::default().shows(format!("{words}: 1 test that passed ran it.")),
        count => Showing::default().shows(format!("{words}: {count} tests that passed ran it.")),
    }
}

/// Configurations with specialization values, one engine's each.
fn parameter_configurations<'a>(facts: &CampaignFacts<'a>) -> Vec<&'a KernelEvidence> {
    let engine = facts.kernels.first().map(|kernel| kernel.engine);
    let of_one_engine = facts.kernels.iter().filter(|kernel| Some(kernel.engine) == engine);
    of_one_engine.filter(|kernel| !kernel.configuration.specialization.is_empty()).collect()
}
