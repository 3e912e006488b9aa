//! The tests that did not pass, first, with the elements that differ; then the obligations that only such tests exercise,
//! in one line per cause, because mending the failure closes them.

use super::measure::wrap;
use super::{LISTED, Page};
use crate::model::evidence::{Evidence, Mismatch, StoredExpectation, TestEvidence, TestResult};
use crate::model::verdict::Verdict;
use crate::report::document::Tone;
use crate::report::expectation::tolerance;
use crate::report::facts::{self, OpenObligation};
use std::collections::BTreeMap;

/// Differing elements printed per test and engine.
const MISMATCHES: usize = 4;

impl Page<'_> {
    /// Tests that did not pass, with their first differing elements.
    pub(super) fn failures(&mut self, evidence: &Evidence) {
        let failed: Vec<(&TestEvidence, &TestResult)> = evidence
            .campaign
            .tests
            .iter()
            .flat_map(|test| test.results.iter().map(move |result| (test, result)))
            .filter(|(_, result)| !matches!(result.verdict, Verdict::Pass | Verdict::NotRun))
            .collect();
        for (test, result) in failed.iter().take(LISTED) {
            let reason = result.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
            self.item(&format!("{} on {}: {}{reason}", test.id, result.engine, result.verdict), Tone::Bad);
            for mismatch in result.mismatches.iter().take(MISMATCHES) {
                for (index, line) in wrap(&difference(test, mismatch), self.width() - 10).into_iter().enumerate() {
                    self.line(&if index == 0 { format!("      {line}") } else { format!("          {line}") });
                }
            }
            if result.mismatches.len() > MISMATCHES {
                let stored = result.mismatches.len();
                self.below(&format!("{MISMATCHES} of {stored} that the evidence stores; the line above counts all"));
            }
        }
        self.more(failed.len());
    }

    /// Obligations that only tests exercise that do not count, in one line per set of tests; the others are given back.
    pub(super) fn consequences<'e>(
        &mut self,
        evidence: &Evidence,
        open: Vec<OpenObligation<'e>>,
    ) -> Vec<OpenObligation<'e>> {
        let mut by_cause: BTreeMap<String, usize> = BTreeMap::new();
        let mut gaps = Vec::new();
        for item in open {
            match item.uncounted {
                [] => gaps.push(item),
                tests => *by_cause.entry(facts::exercised_only_by(evidence, tests)).or_insert(0) += 1,
            }
        }
        for (cause, count) in by_cause {
            let plural = if count == 1 { "obligation" } else { "obligations" };
            self.labelled("", &[(format!("{count} {plural} {cause}"), Tone::Caution)]);
        }
        gaps
    }
}

/// `values, byte 12: expected 4, actual 5, difference 1 (tolerance: exact)`.
fn difference(test: &TestEvidence, mismatch: &Mismatch) -> String {
    let Mismatch { buffer, expected, actual, .. } = mismatch;
    let distance = match (expected.as_f64(), actual.as_f64()) {
        (Some(expected), Some(actual)) => format!(", difference {}", number((actual - expected).abs())),
        _ => String::new(),
    };
    let judged = |expectation: &&StoredExpectation| expectation.buffer == *buffer;
    let tolerance = test.expected.iter().find(judged).map(|expectation| tolerance(&expectation.tolerance));
    let tolerance = tolerance.map(|words| format!(" (tolerance: {words})")).unwrap_or_default();
    format!("{buffer}, {}: expected {expected}, actual {actual}{distance}{tolerance}", mismatch.place())
}

/// Few digits: what a person compares with a tolerance.
fn number(value: f64) -> String {
    if value == value.trunc() && value < 1e15 { format!("{value}") } else { format!("{value:.3e}") }
}
