//! Findings, merged over the tests and engines that showed them.
//!
//! Promises: none is dropped, and counts add up.

use super::distinct::add_new;
use std::collections::HashSet;
use vkcert_model::evidence::Evidence;
use vkcert_model::finding::{Finding, FindingKey};
use vkcert_model::finding_index::FindingIndex;
use vkcert_model::id::{KernelName, TestId};
use vkcert_model::result::RunResult;
use vkcert_model::verdict::EngineName;

/// A finding, merged over the tests and engines that showed it.
pub(crate) struct MergedFinding<'a> {
    pub finding: &'a Finding,
    pub kernels: Vec<&'a KernelName>,
    pub engines: Vec<EngineName>,
    pub tests: Vec<&'a TestId>,
    /// Sum of the counts.
    pub count: u64,
}

/// How many of the findings stand, and how many justifications accept.
pub(crate) fn finding_counts(findings: &[MergedFinding]) -> (usize, usize) {
    let stand = findings.iter().filter(|merged| merged.finding.stands()).count();
    (stand, findings.len() - stand)
}

/// All findings in report order, equal ones (kind, places, message, acceptance) merged.
pub(crate) fn merged_findings(evidence: &Evidence) -> Vec<MergedFinding<'_>> {
    let mut finding_gathering = FindingGathering::default();
    for item in &evidence.campaign.findings {
        finding_gathering.add_finding(
            &item.finding,
            &[&item.kernel],
            item.engine,
            item.test.as_ref(),
        );
    }
    for test in &evidence.campaign.tests {
        let kernels: Vec<&KernelName> = test.kernels.iter().collect();
        for result in &test.results {
            for finding in &result.findings {
                finding_gathering.add_finding(
                    finding,
                    &kernels,
                    Some(result.engine),
                    Some(&test.id),
                );
            }
        }
    }
    finding_gathering.merged.sort_by(|a, b| a.finding.order(b.finding));
    finding_gathering.merged
}

/// The same of what `vkcert run` shows.
pub(crate) fn merged_outcome_findings(result: &RunResult) -> Vec<MergedFinding<'_>> {
    let mut finding_gathering = FindingGathering::default();
    for outcome in &result.tests {
        for finding in &outcome.findings {
            let kernels: Vec<&KernelName> = finding.kernel.iter().collect();
            finding_gathering.add_finding(
                finding,
                &kernels,
                Some(outcome.engine),
                Some(&outcome.id),
            );
        }
    }
    finding_gathering.merged.sort_by(|a, b| a.finding.order(b.finding));
    finding_gathering.merged
}

/// Findings that are being merged.
#[derive(Default)]
struct FindingGathering<'a> {
    merged: Vec<MergedFinding<'a>>,
    index: FindingIndex<FindingKey<'a>>,
    /// Tests that a merged finding, by its index, already has.
    added_tests: HashSet<(usize, &'a TestId)>,
}

impl<'a> FindingGathering<'a> {
    fn add_finding(
        &mut self,
        finding: &'a Finding,
        kernels: &[&'a KernelName],
        engine: Option<EngineName>,
        test: Option<&'a TestId>,
    ) {
        let merged_findings = &mut self.merged;
        let is_same_finding = |row_index: usize| {
            let merged_finding = &merged_findings[row_index];
            merged_finding.finding.acceptance == finding.acceptance
                && merged_finding.finding.configuration == finding.configuration
                && (merged_finding.kernels.iter().any(|name| kernels.contains(name))
                    || (merged_finding.kernels.is_empty() && kernels.is_empty()))
        };
        let row_index =
            self.index.find(&finding.key(), is_same_finding).unwrap_or(merged_findings.len());
        if row_index == merged_findings.len() {
            self.index.add(finding.key(), row_index);
            merged_findings.push(MergedFinding {
                finding,
                kernels: Vec::new(),
                engines: Vec::new(),
                tests: Vec::new(),
                count: 0,
            });
        }
        let merged_entry = &mut merged_findings[row_index];
        merged_entry.count = merged_entry.count.saturating_add(finding.count);
        add_new(&mut merged_entry.engines, engine);
        if let Some(test) = test
            && self.added_tests.insert((row_index, test))
        {
            merged_entry.tests.push(test);
        }
        for kernel in kernels {
            add_new(&mut merged_entry.kernels, Some(*kernel));
        }
    }
}
