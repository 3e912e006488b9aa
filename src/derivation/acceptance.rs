//! Findings of a campaign and the justifications that accept them, derived from stored evidence
//! alone.
//!
//! Promises: a justification accepts the findings of its kernel that have its name and its content,
//! and no other. One that accepts nothing is rejected with a reason, unless what could show the
//! finding did not run: then it is not judged.

use super::derive::nothing;
use vkcert_coverage::acceptance::{
    FindingContext, FindingOccasion, acceptance_of, accepted_sentence,
};
use vkcert_coverage::{ApproverRule, HashBinding, JustificationStandard};
use vkcert_model::evidence::{Campaign, JustificationEvidence, KernelEvidence, TestEvidence};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::id::{FindingId, KernelName};
use vkcert_model::requirement::{Justification, JustificationSubject};
use vkcert_model::verdict::EngineName;

/// Names every finding, marks those that a justification accepts, and notes which justifications
/// are not accepted.
pub fn accept(kernels: &[KernelEvidence], campaign: &mut Campaign) {
    let JustificationStandard { binding, .. } =
        JustificationStandard::for_level(campaign.project.level, campaign.schema);
    name(kernels, campaign, binding);
    let approval = ApproverRule::for_level(campaign.project.level);
    let mut rows = std::mem::take(&mut campaign.justifications);
    for row in &mut rows {
        let JustificationEvidence { justification, rejected, not_judged, file: _ } = row;
        if let JustificationSubject::Finding(id) = &justification.subject {
            (*rejected, *not_judged) = match judge((id, justification), kernels, campaign, approval)
            {
                Judged::Accepts => (None, None),
                Judged::Rejected(reason) => (Some(reason), None),
                Judged::NotRun(reason) => (None, Some(reason.to_owned())),
            };
        }
    }
    campaign.justifications = rows;
}

/// A finding of a campaign.
struct Row<'a> {
    /// None where it is of several kernels and has places, or of no kernel.
    kernel: Option<KernelName>,
    /// Index of the test that showed it.
    test: Option<usize>,
    engine: Option<EngineName>,
    finding: &'a mut Finding,
}

fn findings(campaign: &mut Campaign) -> impl Iterator<Item = Row<'_>> {
    let index = |tests: &[TestEvidence], id| tests.iter().position(|test| Some(&test.id) == id);
    let tests: Vec<_> =
        campaign.findings.iter().map(|row| index(&campaign.tests, row.test.as_ref())).collect();
    let of_kernels = campaign.findings.iter_mut().zip(tests).map(|(row, test)| Row {
        kernel: Some(row.kernel),
        test,
        engine: row.engine,
        finding: &mut row.finding,
    });
    let of_tests = campaign.tests.iter_mut().enumerate().flat_map(|(index, test)| {
        let first = test.kernels.first();
        test.results.iter_mut().flat_map(move |result| {
            let engine = result.engine;
            result.findings.iter_mut().map(move |finding| {
                // What is of the whole test is named under the kernel that it dispatches first.
                let whole = finding.place.is_none().then_some(first).flatten();
                let kernel = finding.kernel.as_ref().or(whole).cloned();
                Row { kernel, test: Some(index), engine: Some(engine), finding }
            })
        })
    });
    of_kernels.chain(of_tests)
}

fn name(kernels: &[KernelEvidence], campaign: &mut Campaign, binding: HashBinding) {
    // Read while findings change.
    let read = campaign.clone();
    let found = FindingContext { kernels, campaign: &read, binding };
    for Row { kernel, test, engine, finding } in findings(campaign) {
        let kernel = kernel.and_then(|name| kernels.iter().find(|row| row.kernel == name));
        let test = test.map(|index| &read.tests[index]);
        let occasion =
            kernel.map(|kernel| FindingOccasion { context: found, kernel, test, engine });
        finding.acceptance = occasion.and_then(|occasion| acceptance_of(finding, occasion));
    }
}

enum Judged {
    Accepts,
    Rejected(String),
    /// What did not run that could show the finding.
    NotRun(&'static str),
}

fn judge(
    (id, justification): (&FindingId, &Justification),
    kernels: &[KernelEvidence],
    campaign: &mut Campaign,
    approval: ApproverRule,
) -> Judged {
    let configuration = justification.configuration.as_ref();
    let mut of_kernel = kernels.iter().filter(|row| row.kernel == justification.kernel);
    if !of_kernel.any(|row| configuration.is_none_or(|name| *name == row.configuration.name)) {
        return Judged::Rejected(nothing(justification));
    }
    let not_run = not_run(id, campaign);
    let is_of = |row: &Row| {
        let named = row.finding.acceptance.as_ref().is_some_and(|known| known.id == *id);
        let configured =
            configuration.is_none_or(|name| row.finding.configuration.as_ref() == Some(name));
        named && configured && row.kernel.as_ref() == Some(&justification.kernel)
    };
    let other = Some(&justification.kernel);
    let unacceptable = findings(campaign).any(|row| {
        row.finding.acceptance.is_none()
            && Some(row.finding.kind) == id.kind()
            && row.kernel.as_ref() == other
    });
    let mut named: Vec<&mut Finding> =
        findings(campaign).filter(is_of).map(|row| row.finding).collect();
    let Some(first) = named.first().and_then(|finding| finding.acceptance.clone()) else {
        let under =
            configuration.map(|name| format!(" under configuration {name}")).unwrap_or_default();
        let reason = || {
            let kernel = &justification.kernel;
            Judged::Rejected(match unacceptable {
                true => {
                    format!("{kernel} has a finding of this kind that no justification can accept")
                }
                false => format!("not needed: {kernel} has no finding {id}{under}"),
            })
        };
        return not_run.map_or_else(reason, Judged::NotRun);
    };
    named.retain(|finding| {
        finding.acceptance.as_ref().is_some_and(|known| known.hash == justification.hash)
    });
    if named.is_empty() {
        return Judged::Rejected(format!(
            "stale: {id} is now {} with hash {}",
            first.content, first.hash
        ));
    }
    let sentence = match accepted_sentence(justification, approval) {
        Ok(sentence) => sentence,
        Err(reason) => return Judged::Rejected(reason),
    };
    for acceptance in named.into_iter().filter_map(|finding| finding.acceptance.as_mut()) {
        if acceptance.justification.is_some() {
            return Judged::Rejected(format!("{id} is justified twice"));
        }
        acceptance.justification = Some(sentence.clone());
    }
    Judged::Accepts
}

/// What did not run of that which could show a finding of this name.
fn not_run(id: &FindingId, campaign: &Campaign) -> Option<&'static str> {
    let ran =
        |engine: EngineName| campaign.engines.iter().any(|row| row.engine == engine && row.ran);
    let no_device = || (!ran(EngineName::Vulkan)).then_some("no device ran");
    let no_sequential =
        || (!ran(EngineName::Sequential)).then_some("the sequential engine did not run");
    let kind = id.kind()?;
    if campaign.not_looked_for.contains(&kind) {
        return Some("findings of this kind were not looked for");
    }
    if !campaign.left_out.is_empty() {
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
            let any = results
                .any(|result| result.schedules.as_ref().is_some_and(|found| !found.ran.is_empty()));
            (!any).then_some("no other schedule ran")
        }
        FindingKind::Coupling if id.name_suffix() == Some("device-limits") => no_device(),
        FindingKind::Coupling
        | FindingKind::UntracedBranch
        | FindingKind::BarrierDivergence
        | FindingKind::NoTermination
        | FindingKind::Validation => None,
    }
}
