//! The tests that did not pass, first, with the elements that differ; then the obligations that only such tests exercise,
//! in one line per cause, because mending the failure closes them.

use super::{LABEL, LISTED, Page, cut};
use crate::model::evidence::{Evidence, Mismatch, StoredExpectation, TestEvidence, TestResult};
use crate::model::procedure::Tolerance;
use crate::model::verdict::Verdict;
use crate::report::document::Tone;
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
                let line = format!("      {}", difference(test, mismatch));
                let line = cut(&line, self.width());
                self.line(&line);
            }
            if result.mismatches.len() > MISMATCHES {
                let rest = format!("      … and {} more", result.mismatches.len() - MISMATCHES);
                let rest = self.paint(&rest, Tone::Quiet);
                self.line(&rest);
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
            let line = cut(&format!("{count} {plural} {cause}"), self.width().saturating_sub(LABEL + 2));
            self.labelled("", &[(line, Tone::Caution)]);
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

fn tolerance(tolerance: &Tolerance) -> String {
    let Tolerance { abs, rel, ulp, bits } = tolerance;
    if *bits {
        return "the same bits".to_owned();
    }
    let parts = [
        abs.map(|bound| format!("abs {bound}")),
        rel.map(|bound| format!("rel {bound}")),
        ulp.map(|bound| format!("{bound} ULP")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
}
