//! What a campaign's evidence comes to: the exit code and the reasons for it.
//!
//! Derived from stored evidence alone, by `certify` when it is made and by `verify` when it is checked again.

#[cfg(test)]
mod tests;

use super::exit::Exit;
use crate::coverage::criteria;
use crate::model::evidence::{Campaign, Conclusion, KernelEvidence, KernelSummary, RequirementStatus, kernel_label};
use crate::model::finding::Finding;
use crate::model::id::KernelName;
use crate::model::verdict::{EngineName, Verdict};
use crate::requirement::status::open_reasons;
use crate::requirement::trace;

/// Judges a campaign. `conclusion` of the argument is not read.
pub fn conclude(campaign: &Campaign, kernels: &[KernelEvidence]) -> Conclusion {
    let mut exit = Exit::Success;
    let mut reasons = Vec::new();
    let mut because = |reason: String, code: Exit| {
        exit = exit.and(code);
        reasons.push(reason);
    };
    refused(campaign, &mut because);
    test_results(campaign, &mut because);
    requirements(campaign, &mut because);
    obligations(campaign, kernels, &mut because);
    findings(campaign, &mut because);
    coupling(campaign, &mut because);
    for row in campaign.justifications.iter() {
        if let Some(reason) = &row.rejected {
            let item = &row.justification;
            because(format!("justification of {} {}: {reason}", item.kernel, item.subject), Exit::Failed);
        }
    }
    open_items(campaign, &mut because);
    let summary = kernels
        .iter()
        .map(|kernel| KernelSummary {
            kernel: kernel.kernel.clone(),
            configuration: kernel.configuration.name.clone(),
            engine: kernel.engine,
            criteria: kernel.coverage.summary.clone(),
        })
        .collect();
    Conclusion { exit_code: exit.code(), reasons, summary }
}

type Because<'a> = dyn FnMut(String, Exit) + 'a;

/// Told by itself, because a refused kernel need not have a test.
fn refused(campaign: &Campaign, because: &mut Because) {
    let profile = &campaign.project.profile;
    for row in &profile.refused {
        let reasons = row.reasons.join("; ");
        because(
            format!("kernel {} is refused by the profile {}: {reasons}", row.kernel, profile.name),
            Exit::Unavailable,
        );
    }
}

fn test_results(campaign: &Campaign, because: &mut Because) {
    if campaign.tests.is_empty() {
        because("the project has no test".to_owned(), Exit::Failed);
    }
    for test in &campaign.tests {
        for result in &test.results {
            let reason = result.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
            let told = format!("test {} on {}: {}{reason}", test.id, result.engine, result.verdict);
            match result.verdict {
                Verdict::Pass | Verdict::NotRun => {}
                Verdict::Unsupported => because(told, Exit::Unavailable),
                Verdict::Fail | Verdict::Error | Verdict::Timeout | Verdict::Undetermined => {
                    because(told, Exit::Failed);
                }
            }
        }
    }
}

fn requirements(campaign: &Campaign, because: &mut Because) {
    if campaign.requirements.is_empty() {
        because("the project has no requirement".to_owned(), Exit::Failed);
    }
    let verdicts = trace::verdicts(&campaign.tests);
    for row in &campaign.records {
        if let Some(reason) = &row.rejected {
            let uid = &row.record.requirement;
            because(format!("{} of {uid} in {}: {reason}", row.method, row.record.document), Exit::Failed);
        }
    }
    for row in &campaign.requirements {
        let uid = &row.requirement.uid;
        match row.status {
            RequirementStatus::Untested => because(format!("requirement {uid} is untested"), Exit::Failed),
            RequirementStatus::Failed => because(format!("requirement {uid} is not met by its tests"), Exit::Failed),
            RequirementStatus::Open => {
                let why = open_reasons(row, &verdicts).join("; ");
                let why = if why.is_empty() { why } else { format!(": {why}") };
                because(format!("requirement {uid} is open{why}"), Exit::Failed);
            }
            RequirementStatus::Verified | RequirementStatus::VerifiedByChildren | RequirementStatus::ByOtherMeans => {}
        }
        for parent in &row.suspect_parents {
            because(format!("link {uid} -> {parent} is suspect: {parent} has changed"), Exit::Failed);
        }
        for code in row.code.iter().filter(|code| !code.found) {
            let symbol = code.symbol.as_deref().map(|symbol| format!(":{symbol}")).unwrap_or_default();
            because(format!("requirement {uid} names {}{symbol}, which does not exist", code.file), Exit::Failed);
        }
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
            because(
                format!(
                    "{} on {}: {open} of {} {} obligations not covered{undetermined}",
                    kernel_label(kernels, kernel),
                    kernel.engine,
                    row.total,
                    row.criterion
                ),
                Exit::Failed,
            );
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
            because(told, Exit::Failed);
        }
    }
}

fn findings(campaign: &Campaign, because: &mut Because) {
    let mut counts = std::collections::BTreeMap::new();
    // As the reports list them: what several tests and engines show is one.
    let mut different: Vec<(Option<&KernelName>, &Finding)> = Vec::new();
    for (kernel, _, finding) in campaign.all_findings().filter(|(_, _, finding)| finding.stands()) {
        let same = |(other, known): &(Option<&KernelName>, &Finding)| {
            *other == kernel
                && known.order(finding).is_eq()
                && known.acceptance == finding.acceptance
                && known.configuration == finding.configuration
        };
        if !different.iter().any(same) {
            different.push((kernel, finding));
            *counts.entry(finding.kind).or_insert(0_u32) += 1;
        }
    }
    for (kind, count) in counts {
        let noun = if count == 1 { "finding" } else { "findings" };
        because(format!("{count} {kind} {noun}"), Exit::Failed);
    }
}

/// What makes the result say less than the level asks for, and acceptances of it that accept nothing.
fn open_items(campaign: &Campaign, because: &mut Because) {
    for item in campaign.open_items.iter().filter(|item| item.stands()) {
        because(item.reason_of_conclusion(), Exit::Failed);
    }
    for row in &campaign.rejected_acceptances {
        because(format!("acceptance of {}: {}", row.item, row.reason), Exit::Failed);
    }
}
