//! The tests that did not pass, first, one line for all engines, with the elements that differ;
//! then the obligations that only such tests exercise, in one line per cause, because mending the
//! failure closes them.

use super::measure::wrap;
use super::page::{LISTED, SummaryPage};
use crate::document::Tone;
use crate::expectation::tolerance_in_words;
use crate::facts::{self, Failure, UncoveredObligation};
use crate::statement::counted;
use std::collections::BTreeMap;
use vkcert_model::evidence::{Evidence, Mismatch, StoredExpectation, TestEvidence};
use vkcert_model::id::TestId;

/// Differing elements printed per test and engine.
const MISMATCHES: usize = 4;

impl SummaryPage<'_> {
    /// Tests that did not pass, with their first differing elements.
    pub(super) fn write_failures(&mut self, evidence: &Evidence) {
        let failed_tests: Vec<(&TestEvidence, Vec<Failure>)> = evidence
            .campaign
            .tests
            .iter()
            .map(|test| (test, facts::merged_failures(test)))
            .filter(|(_, failures)| !failures.is_empty())
            .collect();
        for (test, failures) in failed_tests.iter().take(LISTED) {
            let words: Vec<String> = failures.iter().map(Failure::failure_in_words).collect();
            self.write_item(&format!("{}: {}", test.id, words.join("; ")), Tone::Bad);
            for failure in failures {
                let engines = if failures.len() > 1 {
                    format!("{}: ", failure.engines.join(", "))
                } else {
                    String::new()
                };
                self.write_mismatches(test, failure.mismatches, &engines);
            }
        }
        self.write_more(failed_tests.len());
    }

    fn write_mismatches(&mut self, test: &TestEvidence, mismatches: &[Mismatch], engines: &str) {
        for mismatch in mismatches.iter().take(MISMATCHES) {
            let words = format!("{engines}{}", mismatch_in_words(test, mismatch));
            for (line_index, line) in wrap(&words, self.page_width() - 10).into_iter().enumerate() {
                self.write_line(&if line_index == 0 {
                    format!("      {line}")
                } else {
                    format!("          {line}")
                });
            }
        }
        if mismatches.len() > MISMATCHES {
            let stored_count = mismatches.len();
            self.write_below(&format!(
                "{MISMATCHES} of {stored_count} that the evidence stores; the line above counts all"
            ));
        }
    }

    /// Obligations that only tests exercise that do not count, in one line per set of tests; the
    /// others are given back.
    pub(super) fn write_consequences<'e>(
        &mut self,
        evidence: &Evidence,
        uncovered: Vec<UncoveredObligation<'e>>,
    ) -> Vec<UncoveredObligation<'e>> {
        let mut by_cause: BTreeMap<&[TestId], usize> = BTreeMap::new();
        let mut remaining_obligations = Vec::new();
        for item in uncovered {
            match item.uncounted {
                [] => remaining_obligations.push(item),
                tests => *by_cause.entry(tests).or_insert(0) += 1,
            }
        }
        let mut tests_and_counts: Vec<(&[TestId], usize)> = by_cause.into_iter().collect();
        tests_and_counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        for (tests, count) in tests_and_counts.iter().take(LISTED) {
            let cause_words = facts::exercised_only_by_few(evidence, tests);
            self.write_labelled(
                "",
                &[(format!("{} {cause_words}", counted(*count, "obligation")), Tone::Caution)],
            );
        }
        let rest_count: usize = tests_and_counts.iter().skip(LISTED).map(|(_, count)| count).sum();
        if rest_count > 0 {
            let rest_count =
                format!("… and {rest_count} more, exercised by other tests that do not count");
            self.write_labelled("", &[(rest_count, Tone::Caution)]);
        }
        remaining_obligations
    }
}

/// `values, byte 12: expected 4, actual 5, difference 1 (tolerance: exact)`.
fn mismatch_in_words(test: &TestEvidence, mismatch: &Mismatch) -> String {
    let Mismatch { buffer, expected, actual, .. } = mismatch;
    let distance_words = match (expected.as_f64(), actual.as_f64()) {
        (Some(expected), Some(actual)) => {
            format!(", difference {}", short_number((actual - expected).abs()))
        }
        _ => String::new(),
    };
    let judges_buffer = |expectation: &&StoredExpectation| expectation.buffer == *buffer;
    let tolerance_words = test
        .expected
        .iter()
        .find(judges_buffer)
        .map(|expectation| tolerance_in_words(&expectation.tolerance));
    let tolerance_words =
        tolerance_words.map(|words| format!(" (tolerance: {words})")).unwrap_or_default();
    format!(
        "{buffer}, {}: expected {expected}, actual {actual}{distance_words}{tolerance_words}",
        mismatch.place()
    )
}

/// Few digits: what a person compares with a tolerance.
fn short_number(value: f64) -> String {
    if value == value.trunc() && value < 1e15 { format!("{value}") } else { format!("{value:.3e}") }
}
