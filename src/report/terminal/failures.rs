//! The tests that did not pass, first, one line for all engines, with the elements that differ;
//! then the obligations that only such tests exercise, in one line per cause, because mending the
//! failure closes them.

use super::measure::wrap;
use super::page::{LISTED, Page};
use crate::document::Tone;
use crate::expectation::tolerance;
use crate::facts::{self, Failure, UncoveredObligation};
use crate::statement::counted;
use std::collections::BTreeMap;
use vkcert_model::evidence::{Evidence, Mismatch, StoredExpectation, TestEvidence};
use vkcert_model::id::TestId;

/// Differing elements printed per test and engine.
const MISMATCHES: usize = 4;

impl Page<'_> {
    /// Tests that did not pass, with their first differing elements.
    pub(super) fn failures(&mut self, evidence: &Evidence) {
        let failed: Vec<(&TestEvidence, Vec<Failure>)> = evidence
            .campaign
            .tests
            .iter()
            .map(|test| (test, facts::failures(test)))
            .filter(|(_, failures)| !failures.is_empty())
            .collect();
        for (test, failures) in failed.iter().take(LISTED) {
            let words: Vec<String> = failures.iter().map(Failure::in_words).collect();
            self.item(&format!("{}: {}", test.id, words.join("; ")), Tone::Bad);
            for failure in failures {
                let engines = if failures.len() > 1 {
                    format!("{}: ", failure.engines.join(", "))
                } else {
                    String::new()
                };
                self.mismatches(test, failure.mismatches, &engines);
            }
        }
        self.more(failed.len());
    }

    fn mismatches(&mut self, test: &TestEvidence, mismatches: &[Mismatch], engines: &str) {
        for mismatch in mismatches.iter().take(MISMATCHES) {
            let words = format!("{engines}{}", difference(test, mismatch));
            for (index, line) in wrap(&words, self.width() - 10).into_iter().enumerate() {
                self.line(&if index == 0 {
                    format!("      {line}")
                } else {
                    format!("          {line}")
                });
            }
        }
        if mismatches.len() > MISMATCHES {
            let stored = mismatches.len();
            self.below(&format!(
                "{MISMATCHES} of {stored} that the evidence stores; the line above counts all"
            ));
        }
    }

    /// Obligations that only tests exercise that do not count, in one line per set of tests; the
    /// others are given back.
    pub(super) fn consequences<'e>(
        &mut self,
        evidence: &Evidence,
        uncovered: Vec<UncoveredObligation<'e>>,
    ) -> Vec<UncoveredObligation<'e>> {
        let mut by_cause: BTreeMap<&[TestId], usize> = BTreeMap::new();
        let mut gaps = Vec::new();
        for item in uncovered {
            match item.uncounted {
                [] => gaps.push(item),
                tests => *by_cause.entry(tests).or_insert(0) += 1,
            }
        }
        let mut causes: Vec<(&[TestId], usize)> = by_cause.into_iter().collect();
        causes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        for (tests, count) in causes.iter().take(LISTED) {
            let cause = facts::exercised_only_by_few(evidence, tests);
            self.labelled(
                "",
                &[(format!("{} {cause}", counted(*count, "obligation")), Tone::Caution)],
            );
        }
        let rest: usize = causes.iter().skip(LISTED).map(|(_, count)| count).sum();
        if rest > 0 {
            let rest = format!("… and {rest} more, exercised by other tests that do not count");
            self.labelled("", &[(rest, Tone::Caution)]);
        }
        gaps
    }
}

/// `values, byte 12: expected 4, actual 5, difference 1 (tolerance: exact)`.
fn difference(test: &TestEvidence, mismatch: &Mismatch) -> String {
    let Mismatch { buffer, expected, actual, .. } = mismatch;
    let distance = match (expected.as_f64(), actual.as_f64()) {
        (Some(expected), Some(actual)) => {
            format!(", difference {}", number((actual - expected).abs()))
        }
        _ => String::new(),
    };
    let judged = |expectation: &&StoredExpectation| expectation.buffer == *buffer;
    let tolerance =
        test.expected.iter().find(judged).map(|expectation| tolerance(&expectation.tolerance));
    let tolerance = tolerance.map(|words| format!(" (tolerance: {words})")).unwrap_or_default();
    format!(
        "{buffer}, {}: expected {expected}, actual {actual}{distance}{tolerance}",
        mismatch.place()
    )
}

/// Few digits: what a person compares with a tolerance.
fn number(value: f64) -> String {
    if value == value.trunc() && value < 1e15 { format!("{value}") } else { format!("{value:.3e}") }
}
