//! Findings, merged over the tests and engines that showed them.
//!
//! Promises: none is dropped, and counts add up.

use super::distinct::add_new;
use vkcert_model::evidence::Evidence;
use vkcert_model::finding::{Finding, FindingKey};
use vkcert_model::finding_index::FindingIndex;
use vkcert_model::id::{KernelName, TestId};
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
pub(crate) fn findings(evidence: &Evidence) -> Vec<MergedFinding<'_>> {
    let mut gathering = Gathering::default();
    for item in &evidence.campaign.findings {
        gathering.add(&item.finding, &[&item.kernel], item.engine, item.test.as_ref());
    }
    for test in &evidence.campaign.tests {
        let kernels: Vec<&KernelName> = test.kernels.iter().collect();
        for result in &test.results {
            for finding in &result.findings {
                gathering.add(finding, &kernels, Some(result.engine), Some(&test.id));
            }
        }
    }
    gathering.merged.sort_by(|a, b| a.finding.order(b.finding));
    gathering.merged
}

/// Findings that are being merged.
#[derive(Default)]
struct Gathering<'a> {
    merged: Vec<MergedFinding<'a>>,
    index: FindingIndex<FindingKey<'a>>,
}

impl<'a> Gathering<'a> {
    fn add(
        &mut self,
        finding: &'a Finding,
        kernels: &[&'a KernelName],
        engine: Option<EngineName>,
        test: Option<&'a TestId>,
    ) {
        let merged = &mut self.merged;
        let same = |row: usize| {
            let other = &merged[row];
            other.finding.acceptance == finding.acceptance
                && other.finding.configuration == finding.configuration
                && other.kernels.iter().any(|name| kernels.contains(name))
        };
        let row = self.index.find(&finding.key(), same).unwrap_or(merged.len());
        if row == merged.len() {
            self.index.add(finding.key(), row);
            let (kernels, engines, tests) = (Vec::new(), Vec::new(), Vec::new());
            merged.push(MergedFinding { finding, kernels, engines, tests, count: 0 });
        }
        let entry = &mut merged[row];
        entry.count = entry.count.saturating_add(finding.count);
        add_new(&mut entry.engines, engine);
        add_new(&mut entry.tests, test);
        for kernel in kernels {
            add_new(&mut entry.kernels, Some(*kernel));
        }
    }
}
