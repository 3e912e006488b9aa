//! Tests on the target computer (DO-178C 6.4, table A-6).
//!
//! Promises: nothing is met on a device other than the one that the project names, and nothing on a
//! software device, which runs on the host's own processor.

use super::Showing;
use super::campaign_facts::{CampaignFacts, LevelRequirements, lacking};
use super::independence::are_different_people;
use vkcert_model::device_type::DeviceType;
use vkcert_model::evidence::{
    CheckStatus, CouplingCheckName, RequirementEvidence, RequirementStatus,
};
use vkcert_model::objective::{Objective, ObjectiveDemand};
use vkcert_model::project::TargetComputer;
use vkcert_model::verdict::EngineName;

/// Why no test of this campaign ran on the target; none: they did.
fn target_fault(facts: &CampaignFacts) -> Option<String> {
    let Some(target) = &facts.settings.target else {
        return Some("The project file names no target computer (`[target]`).".to_owned());
    };
    let mut engines = facts.campaign.engines.iter();
    let Some(engine) = engines.find(|row| row.engine == EngineName::Vulkan && row.ran) else {
        return Some("No test ran on a device.".to_owned());
    };
    let identity_word = |key: &str| engine.identity.get(key).map_or("", String::as_str);
    let words = [identity_word("device"), identity_word("driver"), identity_word("driver info")];
    let TargetComputer { device, driver, driver_info } = target;
    if words != [device, driver, driver_info] {
        let [ran_device, ran_driver, ran_info] = words;
        return Some(format!(
            "The tests ran on {ran_device} ({ran_driver} {ran_info}); the target is {device} ({driver} {driver_info})."
        ));
    }
    if DeviceType::of_identity(&engine.identity) == Some(DeviceType::Cpu) {
        return Some(format!(
            "{device} is a software device: it runs on the host's own processor, which is no target computer."
        ));
    }
    None
}

/// What keeps tests from showing anything of the target.
fn against_tests(facts: &CampaignFacts) -> Vec<String> {
    let mut sentences: Vec<String> = target_fault(facts).into_iter().collect();
    sentences.extend(facts.refused_kernels());
    sentences.extend(facts.standing_findings(|_| true));
    sentences.extend(facts.left_out_of_run());
    sentences
}

/// Whether tests on the target verify every requirement of a level.
pub(super) fn meets_requirements(
    facts: &CampaignFacts,
    requirements: &LevelRequirements,
) -> Showing {
    let total = requirements.rows.len();
    let name = requirements.name;
    if total == 0 {
        return no_requirement(name).misses_all(against_tests(facts));
    }
    let not_shown: Vec<String> = requirements
        .by_test()
        .filter(|row| !is_verified_on_target(facts, row))
        .map(|row| row.requirement.uid.to_string())
        .collect();
    let by_test = requirements.by_test().count();
    let showing = Showing::default()
        .shows(format!(
            "{} of {by_test} {name} to be verified by test are verified by tests that passed on the vulkan engine.",
            by_test - not_shown.len()
        ))
        .misses_all(lacking(
            by_test,
            name,
            "to be verified by test are not verified by tests that passed on the vulkan engine",
            &not_shown,
        ))
        .misses_all(against_tests(facts));
    leave_other_means(showing, requirements)
}

fn no_requirement(name: &str) -> Showing {
    Showing::default().misses(format!("The project has no {name}."))
}

fn leave_other_means(showing: Showing, requirements: &LevelRequirements) -> Showing {
    let uids = requirements.by_other_means();
    match lacking(requirements.rows.len(), requirements.name, "are not to be verified by test", &uids)
    {
        Some(sentence) => showing.leaves(format!(
            "Show that analysis or review is enough where no test is asked for (DO-178C 6.4). {sentence}"
        )),
        None => showing,
    }
}

fn is_verified_on_target(facts: &CampaignFacts, requirement: &RequirementEvidence) -> bool {
    let is_verified = match requirement.status {
        RequirementStatus::Verified | RequirementStatus::VerifiedByChildren => true,
        RequirementStatus::ByOtherMeans
        | RequirementStatus::Failed
        | RequirementStatus::Untested
        | RequirementStatus::Open => false,
    };
    let tests = facts.tests_of(requirement);
    is_verified
        && !tests.is_empty()
        && tests.iter().all(|test| CampaignFacts::passed_on(test, EngineName::Vulkan))
}

/// Whether robustness tests on the target passed for every requirement of a level.
pub(super) fn is_robust(facts: &CampaignFacts, requirements: &LevelRequirements) -> Showing {
    let name = requirements.name;
    if requirements.rows.is_empty() {
        return no_requirement(name).misses_all(against_tests(facts));
    }
    let by_test = requirements.by_test().count();
    let mut lacking_test = Vec::new();
    let (mut tested, mut exempt) = (0, Vec::new());
    for row in requirements.by_test() {
        let uid = row.requirement.uid.to_string();
        let tests = facts.tests_of(row);
        let robustness_tests: Vec<_> =
            tests.into_iter().filter(|test| facts.robustness_tests.contains(&test.id)).collect();
        let have_passed =
            robustness_tests.iter().all(|test| CampaignFacts::passed_on(test, EngineName::Vulkan));
        match (robustness_tests.is_empty(), have_passed) {
            (false, true) => tested += 1,
            (true, _) if is_exempt(facts, row) => exempt.push(uid),
            (true, _) | (false, false) => lacking_test.push(uid),
        }
    }
    let mut showing = Showing::default().shows(format!(
        "{tested} of {by_test} {name} to be verified by test have robustness tests that passed on the vulkan engine."
    ));
    if let Some(sentence) = lacking(
        by_test,
        name,
        "need none, by a reason that the project gives and approves",
        &exempt,
    ) {
        showing = showing.shows(sentence);
    }
    let showing = showing
        .misses_all(lacking(
            by_test,
            name,
            "to be verified by test have no robustness test that passed on the vulkan engine, and no approved reason why none is needed",
            &lacking_test,
        ))
        .misses_all(against_tests(facts));
    leave_other_means(showing, requirements)
}

/// Whether the project says why a requirement needs no robustness test.
pub(super) fn is_exempt(facts: &CampaignFacts, requirement: &RequirementEvidence) -> bool {
    let Some(signed) = &requirement.requirement.no_robustness_test else { return false };
    let level = facts.settings.level;
    // Levels A and B demand another person as approver of whatever closes a gap.
    let demands_independence =
        Objective::ObjectMeetsLowLevel.row().demand(level) == ObjectiveDemand::WithIndependence;
    !demands_independence || are_different_people(Some(&signed.author), Some(&signed.approver))
}

/// Against which limits checks were made.
fn limits_in_words(holding: usize, total: usize, facts: &CampaignFacts) -> String {
    match facts.ran(EngineName::Vulkan) {
        true => format!("{holding} of {total} checks of the device's limits hold."),
        false => format!(
            "{holding} of {total} checks hold of the limits that every Vulkan device has; no device ran that gives its own."
        ),
    }
}

/// Whether kernels run on the target, and the host stays within its limits.
pub(super) fn fits_target(facts: &CampaignFacts) -> Showing {
    let limit_checks = || {
        let rows = facts.campaign.coupling.iter().flat_map(|row| &row.checks);
        rows.filter(|check| check.check == CouplingCheckName::DeviceLimits)
    };
    let total = limit_checks().count();
    let holding = limit_checks().filter(|check| check.status == CheckStatus::Holds).count();
    let tests = &facts.campaign.tests;
    let passed =
        tests.iter().filter(|test| CampaignFacts::passed_on(test, EngineName::Vulkan)).count();
    let mut showing = Showing::default()
        .shows(format!("{passed} of {} tests passed on the vulkan engine.", tests.len()))
        .shows(limits_in_words(holding, total, facts));
    if holding < total || total == 0 {
        showing = showing.misses(
            "That dispatches stay within the limits of the device is not shown everywhere.",
        );
    }
    if passed < tests.len() || tests.is_empty() {
        showing = showing.misses("Not every test passed on the vulkan engine.");
    }
    showing.misses_all(against_tests(facts)).leaves(
        "Show what else the target computer asks for (DO-178C 6.4.3.a): worst-case execution time, memory, \
         interrupts, faults of the hardware.",
    )
}
