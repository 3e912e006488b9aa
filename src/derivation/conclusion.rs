//! What a campaign's evidence comes to: the exit code and the reasons for it.
//!
//! Derived from stored evidence alone, by `certify` when it is made and by `verify` when it is
//! checked again.

#[cfg(test)]
mod tests;

use crate::open_items::kind_of_check;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_coverage::coupling::class_sums;
use vkcert_coverage::criteria;
use vkcert_model::coupling_summary::CouplingClassSummary;
use vkcert_model::criterion::{CriterionName, StoredCriterion};
use vkcert_model::evidence::{
    Campaign, CheckStatus, Conclusion, CouplingCheckName, KernelEvidence, KernelSummary,
    MutationScore, MutationSummary, RequirementEvidence, RequirementStatus, ThresholdStanding,
    kernel_label,
};
use vkcert_model::exit::Exit;
use vkcert_model::finding::Finding;
use vkcert_model::finding_index::FindingIndex;
use vkcert_model::generation::Generation;
use vkcert_model::id::RequirementId;
use vkcert_model::project::MutationDemand;
use vkcert_model::reason::{Reason, ReasonKind};
use vkcert_model::verdict::EngineName;
use vkcert_requirement::status::open_reasons;
use vkcert_requirement::trace;

/// The exit code that a reason leads to.
fn exit_for_reason(kind: ReasonKind) -> Exit {
    match kind {
        ReasonKind::ProfileRefusal | ReasonKind::TestUnsupported => Exit::Unavailable,
        ReasonKind::NoTest
        | ReasonKind::TestFailed
        | ReasonKind::TestError
        | ReasonKind::TestTimeout
        | ReasonKind::TestUndetermined
        | ReasonKind::NoRequirement
        | ReasonKind::RecordRejected
        | ReasonKind::RequirementUntested
        | ReasonKind::RequirementFailed
        | ReasonKind::RequirementOpen
        | ReasonKind::LinkSuspect
        | ReasonKind::CodeMissing
        | ReasonKind::ObligationsOpen
        | ReasonKind::FindingStands
        | ReasonKind::CouplingUndetermined
        | ReasonKind::JustificationRejected
        | ReasonKind::OpenItemStands
        | ReasonKind::AcceptanceRejected
        | ReasonKind::MutationScore => Exit::Failed,
    }
}

/// Judges a campaign. `conclusion` of the argument is not read.
pub fn conclude(campaign: &Campaign, kernels: &[KernelEvidence]) -> Conclusion {
    let reasons = reasons(campaign, kernels);
    let exit =
        reasons.iter().fold(Exit::Success, |exit, reason| exit.and(exit_for_reason(reason.kind())));
    let summary = kernels
        .iter()
        .map(|kernel| KernelSummary {
            kernel: kernel.kernel,
            configuration: kernel.configuration.name.clone(),
            engine: kernel.engine,
            criteria: kernel.coverage.summary.clone(),
        })
        .collect();
    let grounds = match Generation::for_campaign(campaign) {
        Generation::First | Generation::Second => Vec::new(),
        Generation::Third | Generation::Fourth | Generation::Current => {
            reasons.iter().map(Reason::ground).collect()
        }
    };
    let reasons = reasons.iter().map(Reason::to_string).collect();
    let coupling_classes = coupling_by_class(kernels);
    Conclusion { exit_code: exit.code(), reasons, grounds, summary, coupling_classes }
}

/// The classes of all kernels on the engines that tell of coupling.
fn coupling_by_class(kernels: &[KernelEvidence]) -> Vec<CouplingClassSummary> {
    let criterion = CriterionName::Coupling.into();
    let telling_rows =
        kernels.iter().filter(|kernel| !is_told_elsewhere(kernels, kernel, &criterion));
    class_sums(telling_rows.flat_map(|kernel| &kernel.coverage.coupling_classes))
}

/// Everything that counts against a campaign's result.
pub fn reasons(campaign: &Campaign, kernels: &[KernelEvidence]) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let mut because = |reason: Reason| reasons.push(reason);
    profile_refusals(campaign, &mut because);
    test_results(campaign, &mut because);
    requirement_reasons(campaign, &mut because);
    open_obligations(campaign, kernels, &mut because);
    standing_findings(campaign, &mut because);
    undetermined_coupling(campaign, &mut because);
    for row in campaign.justifications.iter() {
        if let Some(reason) = &row.rejected {
            let (kernel, subject) =
                (row.justification.kernel, row.justification.subject.to_string());
            because(Reason::JustificationRejected { kernel, subject, reason: reason.clone() });
        }
    }
    standing_open_items(campaign, &mut because);
    mutation_score(campaign, &mut because);
    reasons
}

/// A score below what the project demands.
fn mutation_score(campaign: &Campaign, because: &mut Because) {
    let demand = campaign.settings.as_ref().and_then(|settings| settings.mutation);
    let (Some(summary), Some(demand)) = (&campaign.mutation, demand) else { return };
    because_of_score(summary, demand).into_iter().for_each(because);
}

/// Why a score is too low; none where it is not. Of a sample it is the lower limit of the score that
/// counts.
pub fn because_of_score(summary: &MutationSummary, demand: MutationDemand) -> Option<Reason> {
    if summary.against_threshold(demand.threshold) != ThresholdStanding::Below {
        return None;
    }
    let score = match MutationScore::of_summary(summary).interval() {
        None if summary.counts.judged() == 0 => "(no mutant was judged)".to_owned(),
        None => summary.score_in_words(),
        Some(_) => format!("(by its lower limit) {}", summary.score_in_words()),
    };
    Some(Reason::MutationScore { score, threshold: demand.threshold.to_string() })
}

type Because<'a> = dyn FnMut(Reason) + 'a;

/// Told by itself, because a refused kernel need not have a test.
fn profile_refusals(campaign: &Campaign, because: &mut Because) {
    let profile = &campaign.project.profile;
    for row in &profile.refused {
        let (kernel, profile) = (row.kernel, profile.name.to_string());
        because(Reason::ProfileRefusal { kernel, profile, reasons: row.reasons.clone() });
    }
}

fn test_results(campaign: &Campaign, because: &mut Because) {
    if campaign.tests.is_empty() {
        because(Reason::NoTest);
    }
    for test in &campaign.tests {
        for result in &test.results {
            let Some(kind) = ReasonKind::of_verdict(result.verdict) else { continue };
            let (engines, verdict, reason) =
                (vec![result.engine], result.verdict, result.reason.clone());
            because(Reason::Test { kind, test: test.id, engines, verdict, reason });
        }
    }
}

fn requirement_reasons(campaign: &Campaign, because: &mut Because) {
    if campaign.requirements.is_empty() {
        because(Reason::NoRequirement);
    }
    let verdicts = trace::stored_verdicts(campaign);
    for requirement_row in &campaign.records {
        if let Some(reason) = &requirement_row.rejected {
            let (requirement, document) =
                (requirement_row.record.requirement, requirement_row.record.document.clone());
            because(Reason::RecordRejected {
                method: requirement_row.method,
                requirement,
                document,
                reason: reason.clone(),
            });
        }
    }
    let failed_requirements = FailedRequirements::of(&campaign.requirements);
    for requirement_row in &campaign.requirements {
        let failed_children = failed_requirements.children_of(requirement_row);
        reasons_of_requirement(requirement_row, failed_children, &verdicts, because);
    }
}

/// Requirements that failed, each with its places among all.
struct FailedRequirements(BTreeMap<RequirementId, Vec<usize>>);

impl FailedRequirements {
    fn of(requirements: &[RequirementEvidence]) -> Self {
        let mut places: BTreeMap<RequirementId, Vec<usize>> = BTreeMap::new();
        for (index, row) in requirements.iter().enumerate() {
            if row.status == RequirementStatus::Failed {
                places.entry(row.requirement.uid).or_default().push(index);
            }
        }
        Self(places)
    }

    /// Those that refine a requirement, in the order of the project.
    fn children_of(&self, parent: &RequirementEvidence) -> Vec<RequirementId> {
        let children: BTreeSet<&RequirementId> = parent.children.iter().collect();
        let placed_children =
            children.into_iter().filter_map(|child| Some((*child, self.0.get(child)?)));
        let mut failed_children: Vec<(usize, RequirementId)> = placed_children
            .flat_map(|(child, places)| places.iter().map(move |place| (*place, child)))
            .collect();
        failed_children.sort();
        failed_children.into_iter().map(|(_, child)| child).collect()
    }
}

fn reasons_of_requirement(
    requirement_row: &RequirementEvidence,
    failed_children: Vec<RequirementId>,
    verdicts: &trace::Verdicts,
    because: &mut Because,
) {
    let requirement = requirement_row.requirement.uid;
    match requirement_row.status {
        RequirementStatus::Untested => because(Reason::RequirementUntested { requirement }),
        RequirementStatus::Failed => {
            because(Reason::RequirementFailed { requirement, children: failed_children })
        }
        RequirementStatus::Open => {
            because(Reason::RequirementOpen {
                requirement,
                why: open_reasons(requirement_row, verdicts),
            });
        }
        RequirementStatus::Verified
        | RequirementStatus::VerifiedByChildren
        | RequirementStatus::ByOtherMeans => {}
    }
    for parent in &requirement_row.suspect_parents {
        because(Reason::LinkSuspect {
            requirement: requirement_row.requirement.uid,
            parent: *parent,
        });
    }
    for code in requirement_row.code.iter().filter(|code| !code.found) {
        let code = code.link().to_string();
        because(Reason::CodeMissing { requirement: requirement_row.requirement.uid, code });
    }
}

fn open_obligations(campaign: &Campaign, kernels: &[KernelEvidence], because: &mut Because) {
    for kernel in kernels {
        for criterion_row in &kernel.coverage.summary {
            if !campaign.project.criteria.contains(&criterion_row.criterion)
                || criterion_row.complete()
            {
                continue;
            }
            if is_told_elsewhere(kernels, kernel, &criterion_row.criterion) {
                continue;
            }
            because(Reason::ObligationsOpen {
                kernel: kernel_label(kernels, kernel),
                engine: kernel.engine,
                criterion: criterion_row.criterion.clone(),
                open: criterion_row.total - criterion_row.covered - criterion_row.justified,
                total: criterion_row.total,
                undetermined: criterion_row.undetermined,
            });
        }
    }
}

/// Whether an engine can tell nothing of a criterion, and another one that ran the same kernel can.
pub(crate) fn is_told_elsewhere(
    kernels: &[KernelEvidence],
    kernel: &KernelEvidence,
    criterion: &StoredCriterion,
) -> bool {
    let Some(criterion) = criteria::criterion_named(criterion) else { return false };
    let is_same_unit = |other_kernel: &&KernelEvidence| {
        other_kernel.kernel == kernel.kernel
            && other_kernel.configuration.name == kernel.configuration.name
    };
    !criterion.is_told_by(kernel.engine)
        && kernels
            .iter()
            .filter(is_same_unit)
            .any(|other_kernel| criterion.is_told_by(other_kernel.engine))
}

/// Refuted checks are findings already. An undetermined one counts against the result, but for
/// device limits where no device ran: those are not run, like everything else that needs one.
/// Accesses that are not shown to be within bounds, or to be ordered, are an open item, which a
/// project can accept.
fn undetermined_coupling(campaign: &Campaign, because: &mut Because) {
    let device_ran =
        campaign.engines.iter().any(|engine| engine.engine == EngineName::Vulkan && engine.ran);
    for coupling_row in &campaign.coupling {
        let undetermined_checks =
            coupling_row.checks.iter().filter(|check| check.status == CheckStatus::Undetermined);
        for check in undetermined_checks
            .filter(|check| device_ran || check.check != CouplingCheckName::DeviceLimits)
            .filter(|check| kind_of_check(&check.check).is_none())
        {
            let (check, message) = (check.check.clone(), check.message.clone());
            because(Reason::CouplingUndetermined { kernel: coupling_row.kernel, check, message });
        }
    }
}

fn standing_findings(campaign: &Campaign, because: &mut Because) {
    let mut counts_by_kind = std::collections::BTreeMap::new();
    // As the reports list them: what several tests and engines show is one.
    let mut different_findings: Vec<&Finding> = Vec::new();
    let mut finding_index = FindingIndex::default();
    for (kernel, _, finding) in campaign.all_findings().filter(|(_, _, finding)| finding.stands()) {
        let is_same_finding = |row: usize| {
            let known_finding = different_findings[row];
            known_finding.acceptance == finding.acceptance
                && known_finding.configuration == finding.configuration
        };
        let finding_key = (kernel, finding.key());
        if finding_index.find(&finding_key, is_same_finding).is_none() {
            finding_index.add(finding_key, different_findings.len());
            different_findings.push(finding);
            *counts_by_kind.entry(finding.kind).or_insert(0_u32) += 1;
        }
    }
    for (kind, count) in counts_by_kind {
        because(Reason::FindingStands { kind, count });
    }
}

/// What makes the result say less than the level asks for, and acceptances of it that accept
/// nothing.
fn standing_open_items(campaign: &Campaign, because: &mut Because) {
    for item in campaign.open_items.iter().filter(|item| item.stands()) {
        because(item.reason());
    }
    for row in &campaign.rejected_acceptances {
        because(Reason::AcceptanceRejected { item: row.item.clone(), reason: row.reason.clone() });
    }
}
