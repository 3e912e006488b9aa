//! Findings of a campaign and the justifications that accept them, derived from stored evidence
//! alone.
//!
//! Promises: a justification accepts the findings of its kernel that have its name and its content,
//! and no other. One that accepts nothing is rejected with a reason, unless what could show the
//! finding did not run: then it is not judged.

use super::derive::missing_subject;
use std::collections::BTreeMap;
use vkcert_coverage::acceptance::{
    FindingContext, FindingOccasion, acceptance_of, accepted_sentence,
};
use vkcert_coverage::{ApproverRule, HashBinding, JustificationStandard};
use vkcert_model::evidence::{Campaign, JustificationEvidence, KernelEvidence};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::id::{FindingId, KernelName, TestId};
use vkcert_model::requirement::{Justification, JustificationSubject};
use vkcert_model::verdict::EngineName;

/// Names every finding, marks those that a justification accepts, and notes which justifications
/// are not accepted.
pub fn accept_findings(kernels: &[KernelEvidence], campaign: &mut Campaign) {
    let JustificationStandard { binding, .. } =
        JustificationStandard::for_level(campaign.project.level, campaign.schema);
    name_findings(kernels, campaign, binding);
    let approval = ApproverRule::for_level(campaign.project.level);
    let mut justification_rows = std::mem::take(&mut campaign.justifications);
    for justification_row in &mut justification_rows {
        let JustificationEvidence { justification, rejected, not_judged, file: _ } =
            justification_row;
        if let JustificationSubject::Finding(id) = &justification.subject {
            (*rejected, *not_judged) =
                match judge_justification((id, justification), kernels, campaign, approval) {
                    JustificationOutcome::Accepts => (None, None),
                    JustificationOutcome::Rejected(reason) => (Some(reason), None),
                    JustificationOutcome::NotRun(reason) => (None, Some(reason.to_owned())),
                };
        }
    }
    campaign.justifications = justification_rows;
}

/// A finding of a campaign.
struct FindingRow<'a> {
    /// None where it is of several kernels and has places, or of no kernel.
    kernel: Option<KernelName>,
    /// Index of the test that showed it.
    test: Option<usize>,
    engine: Option<EngineName>,
    finding: &'a mut Finding,
}

fn finding_rows(campaign: &mut Campaign) -> impl Iterator<Item = FindingRow<'_>> {
    let test_indices = test_indices(campaign);
    let kernel_findings = campaign.findings.iter_mut().zip(test_indices).map(|(row, test)| {
        FindingRow { kernel: Some(row.kernel), test, engine: row.engine, finding: &mut row.finding }
    });
    let test_findings = campaign.tests.iter_mut().enumerate().flat_map(|(test_index, test)| {
        let first_kernel = test.kernels.first();
        test.results.iter_mut().flat_map(move |result| {
            let engine = result.engine;
            result.findings.iter_mut().map(move |finding| {
                // What is of the whole test is named under the kernel that it dispatches first.
                let kernel_of_whole_test =
                    finding.place.is_none().then_some(first_kernel).flatten();
                let kernel = finding.kernel.as_ref().or(kernel_of_whole_test).cloned();
                FindingRow { kernel, test: Some(test_index), engine: Some(engine), finding }
            })
        })
    });
    kernel_findings.chain(test_findings)
}

/// For each finding of a kernel the index of the test that showed it.
fn test_indices(campaign: &Campaign) -> Vec<Option<usize>> {
    let mut index_by_test = BTreeMap::new();
    if !campaign.findings.is_empty() {
        for (test_index, test) in campaign.tests.iter().enumerate() {
            index_by_test.entry(test.id).or_insert(test_index);
        }
    }
    let shown_by = |test: TestId| index_by_test.get(&test).copied();
    campaign.findings.iter().map(|row| row.test.and_then(shown_by)).collect()
}

fn name_findings(kernels: &[KernelEvidence], campaign: &mut Campaign, binding: HashBinding) {
    if finding_rows(campaign).next().is_none() {
        return;
    }
    // Read while findings change.
    let campaign_before = campaign.clone();
    let finding_context = FindingContext { kernels, campaign: &campaign_before, binding };
    for FindingRow { kernel, test, engine, finding } in finding_rows(campaign) {
        let kernel = kernel.and_then(|name| kernels.iter().find(|row| row.kernel == name));
        let test = test.map(|index| &campaign_before.tests[index]);
        let occasion =
            kernel.map(|kernel| FindingOccasion { context: finding_context, kernel, test, engine });
        finding.acceptance = occasion.and_then(|occasion| acceptance_of(finding, occasion));
    }
}

enum JustificationOutcome {
    Accepts,
    Rejected(String),
    /// What did not run that could show the finding.
    NotRun(&'static str),
}

fn judge_justification(
    (id, justification): (&FindingId, &Justification),
    kernels: &[KernelEvidence],
    campaign: &mut Campaign,
    approval: ApproverRule,
) -> JustificationOutcome {
    let configuration = justification.configuration.as_ref();
    let mut kernel_rows = kernels.iter().filter(|row| row.kernel == justification.kernel);
    if !kernel_rows.any(|row| configuration.is_none_or(|name| *name == row.configuration.name)) {
        return JustificationOutcome::Rejected(missing_subject(justification));
    }
    let not_run_reason = reason_not_run(id, campaign);
    let is_finding_named = |row: &FindingRow| {
        let named_findings = row.finding.acceptance.as_ref().is_some_and(|known| known.id == *id);
        let configured =
            configuration.is_none_or(|name| row.finding.configuration.as_ref() == Some(name));
        named_findings && configured && row.kernel.as_ref() == Some(&justification.kernel)
    };
    let justified_kernel = Some(&justification.kernel);
    let has_unacceptable_finding = finding_rows(campaign).any(|row| {
        row.finding.acceptance.is_none()
            && Some(row.finding.kind) == id.kind()
            && row.kernel.as_ref() == justified_kernel
    });
    let mut named_findings: Vec<&mut Finding> =
        finding_rows(campaign).filter(is_finding_named).map(|row| row.finding).collect();
    let Some(first_acceptance) =
        named_findings.first().and_then(|finding| finding.acceptance.clone())
    else {
        let configuration_words =
            configuration.map(|name| format!(" under configuration {name}")).unwrap_or_default();
        let reason = || {
            let kernel = &justification.kernel;
            JustificationOutcome::Rejected(match has_unacceptable_finding {
                true => {
                    format!("{kernel} has a finding of this kind that no justification can accept")
                }
                false => format!("not needed: {kernel} has no finding {id}{configuration_words}"),
            })
        };
        return not_run_reason.map_or_else(reason, JustificationOutcome::NotRun);
    };
    named_findings.retain(|finding| {
        finding.acceptance.as_ref().is_some_and(|known| known.hash == justification.hash)
    });
    if named_findings.is_empty() {
        return JustificationOutcome::Rejected(format!(
            "stale: {id} is now {} with hash {}",
            first_acceptance.content, first_acceptance.hash
        ));
    }
    let accepted_sentence_text = match accepted_sentence(justification, approval) {
        Ok(accepted_sentence_text) => accepted_sentence_text,
        Err(reason) => return JustificationOutcome::Rejected(reason),
    };
    for acceptance in named_findings.into_iter().filter_map(|finding| finding.acceptance.as_mut()) {
        if acceptance.justification.is_some() {
            return JustificationOutcome::Rejected(format!("{id} is justified twice"));
        }
        acceptance.justification = Some(accepted_sentence_text.clone());
    }
    JustificationOutcome::Accepts
}

/// What did not run of that which could show a finding of this name.
fn reason_not_run(id: &FindingId, campaign: &Campaign) -> Option<&'static str> {
    let engine_ran =
        |engine: EngineName| campaign.engines.iter().any(|row| row.engine == engine && row.ran);
    let no_device = || (!engine_ran(EngineName::Vulkan)).then_some("no device ran");
    let no_sequential =
        || (!engine_ran(EngineName::Sequential)).then_some("the sequential engine did not run");
    let kind = id.kind()?;
    if campaign.not_looked_for.contains(&kind) {
        return Some("findings of this kind were not looked for");
    }
    if campaign.lacks_tests() {
        return Some("tests were left out");
    }
    match kind {
        FindingKind::EngineDisagreement => no_device().or_else(no_sequential),
        // Without a place it comes from the guard zones of a device.
        FindingKind::OutOfBounds if campaign.tests.iter().any(|test| id.is_in(&test.id)) => {
            no_device()
        }
        FindingKind::DataRace
        | FindingKind::OutOfBounds
        | FindingKind::UninitializedRead
        | FindingKind::UndefinedValue => no_sequential(),
        FindingKind::ScheduleDependentOutput => {
            let mut results = campaign.tests.iter().flat_map(|test| &test.results);
            let any_schedule_ran = results
                .any(|result| result.schedules.as_ref().is_some_and(|found| !found.ran.is_empty()));
            (!any_schedule_ran).then_some("no other schedule ran")
        }
        FindingKind::Coupling if id.name_suffix() == Some("device-limits") => no_device(),
        FindingKind::Coupling
        | FindingKind::UntracedBranch
        | FindingKind::BarrierDivergence
        | FindingKind::NoTermination
        | FindingKind::Validation => None,
    }
}
