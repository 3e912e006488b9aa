//! Kinds of findings that were not looked for, or not everywhere.
//!
//! Knows: which engine or input each kind comes from.
//! Promises: a kind that is not named here was looked for in every test, on an engine that looks
//! for it.
//! Does not cover: what one engine could not run of a test, which is a verdict.

use super::StoredCampaign;
use std::collections::BTreeMap;
use vkcert_model::agreement::AgreementOutcome;
use vkcert_model::evidence::{Agreement, TestEvidence};
use vkcert_model::finding::FindingKind;
use vkcert_model::id::TestId;
use vkcert_model::open_item::{UnsoughtKind, UnsoughtReason};
use vkcert_model::project::ValidationLayers;
use vkcert_model::schedule::ScheduleStatus;
use vkcert_model::validation_layer::ValidationLayer;
use vkcert_model::verdict::EngineName;

/// In the order of kinds.
pub(super) fn unsought_kinds(stored: &StoredCampaign) -> Vec<UnsoughtKind> {
    let kinds = FindingKind::ALL.iter().map(|(kind, _)| *kind);
    kinds
        .filter_map(|kind| Some(UnsoughtKind { kind, reason: unsought_reason(kind, stored)? }))
        .collect()
}

fn unsought_reason(finding_kind: FindingKind, stored: &StoredCampaign) -> Option<UnsoughtReason> {
    if stored.campaign.not_looked_for.contains(&finding_kind) {
        return Some(UnsoughtReason::LeftOut);
    }
    unsought_in_part(finding_kind, stored).or_else(|| {
        (!stored.campaign.set_aside.is_empty()).then_some(UnsoughtReason::KernelsSetAside)
    })
}

/// Why a kind was not looked for, or not everywhere, in the kernels that were certified.
fn unsought_in_part(finding_kind: FindingKind, stored: &StoredCampaign) -> Option<UnsoughtReason> {
    match finding_kind {
        FindingKind::DataRace
        | FindingKind::BarrierDivergence
        | FindingKind::OutOfBounds
        | FindingKind::UninitializedRead
        | FindingKind::UndefinedValue
        | FindingKind::NoTermination => {
            no_sequential_engine(stored).or_else(|| tests_not_begun(stored, EngineName::Sequential))
        }
        FindingKind::UntracedBranch => None,
        FindingKind::ScheduleDependentOutput => no_other_schedule(stored),
        FindingKind::EngineDisagreement => not_compared(stored),
        FindingKind::Validation => {
            no_layers(stored).or_else(|| tests_not_begun(stored, EngineName::Vulkan))
        }
        FindingKind::Coupling => no_coupling(stored),
    }
}

fn no_sequential_engine(stored: &StoredCampaign) -> Option<UnsoughtReason> {
    (!stored.ran(EngineName::Sequential)).then_some(UnsoughtReason::NoSequentialEngine)
}

fn no_device(stored: &StoredCampaign) -> Option<UnsoughtReason> {
    (!stored.ran(EngineName::Vulkan)).then_some(UnsoughtReason::NoDevice)
}

fn tests_not_begun(stored: &StoredCampaign, engine: EngineName) -> Option<UnsoughtReason> {
    let mut results = stored.campaign.tests.iter().flat_map(|test| &test.results);
    let any_open =
        results.any(|result| result.engine == engine && stored.campaign.has_not_begun(result));
    any_open.then_some(UnsoughtReason::TestsNotBegun)
}

fn no_other_schedule(stored: &StoredCampaign) -> Option<UnsoughtReason> {
    let all_ran_others = stored.campaign.tests.iter().all(in_other_schedules);
    (!all_ran_others).then_some(UnsoughtReason::NoOtherSchedule)
}

/// Whether the test ran in other schedules on some engine, as far as there are any.
fn in_other_schedules(test: &TestEvidence) -> bool {
    let mut schedule_statuses = test
        .results
        .iter()
        .filter_map(|result| result.schedules.as_ref())
        .map(|schedule_result| schedule_result.status);
    schedule_statuses.any(|status| match status {
        ScheduleStatus::Equal | ScheduleStatus::Different | ScheduleStatus::NothingToPermute => {
            true
        }
        ScheduleStatus::Undetermined | ScheduleStatus::NotRun => false,
    })
}

fn not_compared(stored: &StoredCampaign) -> Option<UnsoughtReason> {
    let mut rows_by_test: BTreeMap<TestId, Vec<&Agreement>> = BTreeMap::new();
    for row in &stored.campaign.agreement {
        rows_by_test.entry(row.test).or_default().push(row);
    }
    let is_compared = |test: &TestEvidence| {
        rows_by_test.get(&test.id).is_some_and(|rows_of_test| {
            rows_of_test.iter().all(|row| {
                row.outputs != AgreementOutcome::NotCompared
                    && row.coverage != AgreementOutcome::NotCompared
            })
        })
    };
    let all_compared = || stored.campaign.tests.iter().all(is_compared);
    no_device(stored)
        .or_else(|| no_sequential_engine(stored))
        .or_else(|| (!all_compared()).then_some(UnsoughtReason::NotCompared))
}

fn no_layers(stored: &StoredCampaign) -> Option<UnsoughtReason> {
    (!layers_looked(stored)).then_some(UnsoughtReason::NoValidationLayers)
}

/// Whether a validation layer was in use on a device that ran.
pub(super) fn layers_looked(stored: &StoredCampaign) -> bool {
    let layers_asked_for = match stored.settings.validation {
        ValidationLayers::On | ValidationLayers::Required => true,
        ValidationLayers::Off => false,
    };
    let mut devices_that_ran =
        stored.campaign.engines.iter().filter(|row| row.engine == EngineName::Vulkan && row.ran);
    layers_asked_for
        && devices_that_ran.any(|row| match row.identity.get(ValidationLayer::KEY) {
            Some(layer) => matches!(ValidationLayer::parse(layer), ValidationLayer::InUse(_)),
            None => false,
        })
}

/// Coupling needs an interface of every kernel, and a device for its limits.
fn no_coupling(stored: &StoredCampaign) -> Option<UnsoughtReason> {
    let all_have_interfaces =
        stored.settings.kernels.iter().all(|kernel| stored.has_interface(&kernel.name));
    match (all_have_interfaces, stored.ran(EngineName::Vulkan)) {
        (false, _) => Some(UnsoughtReason::NoInterface),
        (true, false) => Some(UnsoughtReason::NoDeviceLimits),
        (true, true) => None,
    }
}
