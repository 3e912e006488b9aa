//! What a campaign's evidence comes to: the exit code and the reasons for it.
//!
//! Derived from stored evidence alone, by `certify` when it is made and by `verify` when it is checked again.

#[cfg(test)]
mod projects;
#[cfg(test)]
mod tests;

use super::exit::Exit;
use crate::coverage::criteria;
use crate::model::evidence::{
    Campaign, Conclusion, KernelEvidence, KernelSummary, RequirementEvidence, RequirementStatus, kernel_label,
};
use crate::model::finding::Finding;
use crate::model::finding_index::FindingIndex;
use crate::model::verdict::{EngineName, Verdict};
use crate::requirement::status::open_reasons;
use crate::requirement::trace;

/// What can count against a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReasonKind {
    ProfileRefusal,
    NoTest,
    TestFailed,
    TestError,
    TestTimeout,
    TestUndetermined,
    TestUnsupported,
    NoRequirement,
    RecordRejected,
    RequirementUntested,
    RequirementFailed,
    RequirementOpen,
    LinkSuspect,
    CodeMissing,
    ObligationsOpen,
    FindingStands,
    CouplingUndetermined,
    JustificationRejected,
    OpenItemStands,
    AcceptanceRejected,
}

impl ReasonKind {
    fn exit(self) -> Exit {
        match self {
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
            | ReasonKind::AcceptanceRejected => Exit::Failed,
        }
    }

    /// What a verdict counts as; none where it does not count against the result.
    fn of_verdict(verdict: Verdict) -> Option<Self> {
        match verdict {
            Verdict::Pass | Verdict::NotRun => None,
            Verdict::Unsupported => Some(ReasonKind::TestUnsupported),
            Verdict::Fail => Some(ReasonKind::TestFailed),
            Verdict::Error => Some(ReasonKind::TestError),
            Verdict::Timeout => Some(ReasonKind::TestTimeout),
            Verdict::Undetermined => Some(ReasonKind::TestUndetermined),
        }
    }
}

/// One reason for an exit code other than 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    pub kind: ReasonKind,
    pub sentence: String,
}

/// Judges a campaign. `conclusion` of the argument is not read.
pub fn conclude(campaign: &Campaign, kernels: &[KernelEvidence]) -> Conclusion {
    let reasons = reasons(campaign, kernels);
    let exit = reasons.iter().fold(Exit::Success, |exit, reason| exit.and(reason.kind.exit()));
    let summary = kernels
        .iter()
        .map(|kernel| KernelSummary {
            kernel: kernel.kernel.clone(),
            configuration: kernel.configuration.name.clone(),
            engine: kernel.engine,
            criteria: kernel.coverage.summary.clone(),
        })
        .collect();
    let reasons = reasons.into_iter().map(|reason| reason.sentence).collect();
    Conclusion { exit_code: exit.code(), reasons, summary }
}

/// Everything that counts against a campaign's result.
pub fn reasons(campaign: &Campaign, kernels: &[KernelEvidence]) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let mut because = |kind: ReasonKind, sentence: String| reasons.push(Reason { kind, sentence });
    refused(campaign, &mut because);
    test_results(campaign, &mut because);
    requirements(campaign, &mut because);
    obligations(campaign, kernels, &mut because);
    findings(campaign, &mut because);
    coupling(campaign, &mut because);
    for row in campaign.justifications.iter() {
        if let Some(reason) = &row.rejected {
            let item = &row.justification;
            let sentence = format!("justification of {} {}: {reason}", item.kernel, item.subject);
            because(ReasonKind::JustificationRejected, sentence);
        }
    }
    open_items(campaign, &mut because);
    reasons
}

type Because<'a> = dyn FnMut(ReasonKind, String) + 'a;

/// Told by itself, because a refused kernel need not have a test.
fn refused(campaign: &Campaign, because: &mut Because) {
    let profile = &campaign.project.profile;
    for row in &profile.refused {
        let reasons = row.reasons.join("; ");
        let sentence = format!("kernel {} is refused by the profile {}: {reasons}", row.kernel, profile.name);
        because(ReasonKind::ProfileRefusal, sentence);
    }
}

fn test_results(campaign: &Campaign, because: &mut Because) {
    if campaign.tests.is_empty() {
        because(ReasonKind::NoTest, "the project has no test".to_owned());
    }
    for test in &campaign.tests {
        for result in &test.results {
            let Some(kind) = ReasonKind::of_verdict(result.verdict) else { continue };
            let reason = result.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
            because(kind, format!("test {} on {}: {}{reason}", test.id, result.engine, result.verdict));
        }
    }
}

fn requirements(campaign: &Campaign, because: &mut Because) {
    if campaign.requirements.is_empty() {
        because(ReasonKind::NoRequirement, "the project has no requirement".to_owned());
    }
    let verdicts = trace::verdicts(&campaign.tests);
    for row in &campaign.records {
        if let Some(reason) = &row.rejected {
            let uid = &row.record.requirement;
            let sentence = format!("{} of {uid} in {}: {reason}", row.method, row.record.document);
            because(ReasonKind::RecordRejected, sentence);
        }
    }
    for row in &campaign.requirements {
        let failed = |child: &&RequirementEvidence| {
            child.status == RequirementStatus::Failed && row.children.contains(&child.requirement.uid)
        };
        let failed_children = campaign.requirements.iter().filter(failed).map(|child| child.requirement.uid.as_str());
        requirement(row, &failed_children.collect::<Vec<_>>(), &verdicts, because);
    }
}

fn requirement(row: &RequirementEvidence, failed_children: &[&str], verdicts: &trace::Verdicts, because: &mut Because) {
    let uid = &row.requirement.uid;
    match row.status {
        RequirementStatus::Untested => {
            because(ReasonKind::RequirementUntested, format!("requirement {uid} is untested"));
        }
        RequirementStatus::Failed => {
            let sentence = match failed_children {
                [] => format!("requirement {uid} is not met by its tests"),
                [child] => format!("requirement {uid} is not met, since its child {child} is not"),
                children => format!("requirement {uid} is not met, since its children {} are not", children.join(", ")),
            };
            because(ReasonKind::RequirementFailed, sentence);
        }
        RequirementStatus::Open => {
            let why = open_reasons(row, verdicts).join("; ");
            let why = if why.is_empty() { why } else { format!(": {why}") };
            because(ReasonKind::RequirementOpen, format!("requirement {uid} is open{why}"));
        }
        RequirementStatus::Verified | RequirementStatus::VerifiedByChildren | RequirementStatus::ByOtherMeans => {}
    }
    for parent in &row.suspect_parents {
        because(ReasonKind::LinkSuspect, format!("link {uid} -> {parent} is suspect: {parent} has changed"));
    }
    for code in row.code.iter().filter(|code| !code.found) {
        let symbol = code.symbol.as_deref().map(|symbol| format!(":{symbol}")).unwrap_or_default();
        let sentence = format!("requirement {uid} names {}{symbol}, which does not exist", code.file);
        because(ReasonKind::CodeMissing, sentence);
    }
}

fn obligations(campaign: &Campaign, kernels: &[KernelEvidence], because: &mut Because) {
    for kernel in kernels {
        for row in &kernel.coverage.summary {
            if !campaign.project.criteria.contains(&row.criterion) || row.complete() {
                continue;
            }
            if told_elsewhere(kernels, kernel, &row.criterion) {
                continue;
            }
            let open = row.total - row.covered - row.justified;
            let undetermined = match row.undetermined {
                0 => String::new(),
                count => format!(", {count} of them undetermined"),
            };
            let sentence = format!(
                "{} on {}: {open} of {} {} obligations not covered{undetermined}",
                kernel_label(kernels, kernel),
                kernel.engine,
                row.total,
                row.criterion
            );
            because(ReasonKind::ObligationsOpen, sentence);
        }
    }
}

/// Whether an engine can tell nothing of a criterion, and another one that ran the same kernel can.
fn told_elsewhere(kernels: &[KernelEvidence], kernel: &KernelEvidence, criterion: &str) -> bool {
    let Some(criterion) = criteria::criterion(criterion) else { return false };
    let same = |other: &&KernelEvidence| {
        other.kernel == kernel.kernel && other.configuration.name == kernel.configuration.name
    };
    !criterion.told_by(kernel.engine) && kernels.iter().filter(same).any(|other| criterion.told_by(other.engine))
}

/// Refuted checks are findings already. An undetermined one counts against the result, but for device limits where no
/// device ran: those are not run, like everything else that needs one.
fn coupling(campaign: &Campaign, because: &mut Because) {
    let device = campaign.engines.iter().any(|engine| engine.engine == EngineName::Vulkan && engine.ran);
    for kernel in &campaign.coupling {
        let undetermined = kernel.checks.iter().filter(|check| check.status == "undetermined");
        for check in undetermined.filter(|check| device || check.check != "device-limits") {
            let told = format!("coupling of {}: {} is undetermined: {}", kernel.kernel, check.check, check.message);
            because(ReasonKind::CouplingUndetermined, told);
        }
    }
}

fn findings(campaign: &Campaign, because: &mut Because) {
    let mut counts = std::collections::BTreeMap::new();
    // As the reports list them: what several tests and engines show is one.
    let mut different: Vec<&Finding> = Vec::new();
    let mut index = FindingIndex::default();
    for (kernel, _, finding) in campaign.all_findings().filter(|(_, _, finding)| finding.stands()) {
        let same = |row: usize| {
            let known = different[row];
            known.acceptance == finding.acceptance && known.configuration == finding.configuration
        };
        let key = (kernel, finding.key());
        if index.find(&key, same).is_none() {
            index.add(key, different.len());
            different.push(finding);
            *counts.entry(finding.kind).or_insert(0_u32) += 1;
        }
    }
    for (kind, count) in counts {
        let noun = if count == 1 { "finding" } else { "findings" };
        because(ReasonKind::FindingStands, format!("{count} {kind} {noun}"));
    }
}

/// What makes the result say less than the level asks for, and acceptances of it that accept nothing.
fn open_items(campaign: &Campaign, because: &mut Because) {
    for item in campaign.open_items.iter().filter(|item| item.stands()) {
        because(ReasonKind::OpenItemStands, item.reason_of_conclusion());
    }
    for row in &campaign.rejected_acceptances {
        because(ReasonKind::AcceptanceRejected, format!("acceptance of {}: {}", row.item, row.reason));
    }
}
