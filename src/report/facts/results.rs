//! Results of tests: verdicts, failures and schedules, per engine.

use std::collections::BTreeMap;
use vkcert_model::evidence::{Evidence, Mismatch, TestEvidence, TestResult};
use vkcert_model::verdict::{EngineName, Verdict};

/// What some engines say of a test that did not pass.
pub(crate) struct Failure<'a> {
    pub verdict: Verdict,
    pub reason: Option<&'a str>,
    pub mismatches: &'a [Mismatch],
    pub engines: Vec<String>,
}

/// Engines that say the same of a test are one entry; none of a test that passed or did not run.
pub(crate) fn merged_failures(test: &TestEvidence) -> Vec<Failure<'_>> {
    let mut merged_failures: Vec<Failure> = Vec::new();
    for result in test
        .results
        .iter()
        .filter(|result| !matches!(result.verdict, Verdict::Pass | Verdict::NotRun))
    {
        let (reason, mismatches) = (result.reason.as_deref(), result.mismatches.as_slice());
        let is_same_failure = |known_failure: &&mut Failure| {
            (known_failure.verdict, known_failure.reason, known_failure.mismatches)
                == (result.verdict, reason, mismatches)
        };
        match merged_failures.iter_mut().find(is_same_failure) {
            Some(known_failure) => known_failure.engines.push(result.engine.to_string()),
            None => {
                let engines = vec![result.engine.to_string()];
                merged_failures.push(Failure {
                    verdict: result.verdict,
                    reason,
                    mismatches,
                    engines,
                });
            }
        }
    }
    merged_failures
}

impl Failure<'_> {
    /// `fail on sequential and vulkan: 1 of 4 elements differ`
    pub(crate) fn failure_in_words(&self) -> String {
        let reason = self.reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        format!("{} on {}{reason}", self.verdict, self.engines.join(" and "))
    }
}

/// How many test results there are of each verdict, per engine.
pub(crate) fn verdict_counts(evidence: &Evidence) -> BTreeMap<EngineName, BTreeMap<Verdict, u32>> {
    let mut counts: BTreeMap<EngineName, BTreeMap<Verdict, u32>> = BTreeMap::new();
    for engine in &evidence.campaign.engines {
        counts.entry(engine.engine).or_default();
    }
    for test in &evidence.campaign.tests {
        for result in &test.results {
            *counts.entry(result.engine).or_default().entry(result.verdict).or_default() += 1;
        }
    }
    counts
}

/// What schedules came to on an engine, over all tests: `3 equal, 1 different`; none where none
/// were asked for.
pub(crate) fn schedule_counts(evidence: &Evidence, engine: EngineName) -> Option<String> {
    let results = evidence.campaign.tests.iter().flat_map(|test| &test.results);
    let schedules: Vec<_> = results
        .filter(|result| result.engine == engine)
        .filter_map(|result| result.schedules.as_ref())
        .collect();
    let first_schedules = schedules.first()?;
    let mut status_counts: BTreeMap<&str, u32> = BTreeMap::new();
    for result in &schedules {
        *status_counts.entry(result.status.name()).or_default() += 1;
    }
    let status_counts: Vec<String> =
        status_counts.iter().map(|(status, count)| format!("{count} {status}")).collect();
    Some(format!(
        "up to {}, seed {}: {}",
        first_schedules.asked,
        first_schedules.seed,
        status_counts.join(", ")
    ))
}

/// The result of a test on an engine.
pub(crate) fn result_on(test: &TestEvidence, engine: EngineName) -> Option<&TestResult> {
    test.results.iter().find(|result| result.engine == engine)
}
