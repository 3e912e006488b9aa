//! Verdicts, schedules and findings of tests: whether they agree with outputs and definitions.

use crate::Verification;
use std::collections::BTreeSet;
use vkcert_derivation::derive;
use vkcert_model::evidence::{CheckStatus, Evidence, TestEvidence, TestResult};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::finding_details::DetailName;
use vkcert_model::id::KernelName;
use vkcert_model::schedule::{Schedule, ScheduleResult, ScheduleStatus};
use vkcert_model::verdict::Verdict;
use vkcert_oracle::judged::TestObservation;
use vkcert_oracle::stored;

/// A check that is not refuted has no counterexample, and every status is a known one.
pub(super) fn check_coupling(stored: &Evidence, verification: &mut Verification) {
    for row in &stored.campaign.coupling {
        for check in &row.checks {
            let is_consistent = match check.status {
                CheckStatus::Refuted => true,
                CheckStatus::Holds | CheckStatus::Undetermined => check.counterexample.is_none(),
                CheckStatus::Unknown(_) => false,
            };
            verification.check(is_consistent, || {
                format!("coupling of {}: {} is {}", row.kernel, check.check, check.status)
            });
        }
    }
}

pub(super) fn check_schedules(stored: &Evidence, verification: &mut Verification) {
    let results = stored.campaign.tests.iter().flat_map(|test| &test.results);
    let schedule_requests = results
        .filter_map(|result| result.schedules.as_ref())
        .map(|schedule_result| (schedule_result.asked, schedule_result.seed));
    verification.check(schedule_requests.collect::<BTreeSet<_>>().len() <= 1, || {
        "tests were asked for other schedules each".to_owned()
    });
    for test in &stored.campaign.tests {
        for result in &test.results {
            if let Some(schedules) = &result.schedules {
                verification.check(schedules_follow(schedules, result), || {
                    format!(
                        "test {} on {}: what its schedules showed ({schedules})",
                        test.id, result.engine
                    )
                });
            }
            let was_not_looked_for =
                |finding: &&Finding| stored.campaign.not_looked_for.contains(&finding.kind);
            verification.check(
                !result.findings.iter().any(|finding| was_not_looked_for(&finding)),
                || {
                    format!(
                        "test {} on {}: a finding of a kind that was not looked for",
                        test.id, result.engine
                    )
                },
            );
        }
    }
}

/// Verdicts follow from the stored outputs and the stored definitions of the tests.
pub(super) fn check_verdicts(evidence: &Evidence, verification: &mut Verification) {
    let codes = derive::kernel_codes(&evidence.kernels);
    for test in &evidence.campaign.tests {
        let observation = derive::test_observation(evidence.campaign.schema, test, &codes);
        check_flows(test, verification);
        check_layouts(test, verification);
        test.results
            .iter()
            .for_each(|result| check_verdict(test, &observation, result, verification));
    }
}

/// No test of a kernel that the profile refuses has run.
pub(super) fn check_refused(evidence: &Evidence, verification: &mut Verification) {
    for row in &evidence.campaign.project.profile.refused {
        for test in evidence.campaign.tests.iter().filter(|test| test.kernels.contains(&row.kernel))
        {
            for result in &test.results {
                let was_not_run = matches!(result.verdict, Verdict::Unsupported | Verdict::NotRun);
                verification.check(was_not_run, || {
                    format!(
                        "test {} on {}: {} though its profile refuses {}",
                        test.id, result.engine, result.verdict, row.kernel
                    )
                });
            }
        }
    }
}

fn check_verdict(
    test: &TestEvidence,
    observation: &TestObservation,
    result: &TestResult,
    verification: &mut Verification,
) {
    // A run that did not complete left no outputs to judge.
    if !result.verdict.completed() {
        return;
    }
    let outputs = verification.stored_outputs(&test.id, result);
    match stored::judge_stored_outputs(&test.expected, &outputs) {
        Ok(passed_or_failed) => {
            let verdict = judged_verdict(passed_or_failed, observation);
            verification.check(verdict == result.verdict, || {
                format!(
                    "test {} on {}: stored {}, derived {verdict}",
                    test.id, result.engine, result.verdict
                )
            });
        }
        Err(reason) => verification
            .not_derivable
            .push(format!("test {} on {}: {reason}", test.id, result.engine)),
    }
}

/// A pass of a test that observes nothing is undetermined.
fn judged_verdict(verdict: Verdict, observation: &TestObservation) -> Verdict {
    match (verdict, observation.emptiness_reason()) {
        (Verdict::Pass, Some(_)) => Verdict::Undetermined,
        (verdict, _) => verdict,
    }
}

/// Layouts are of buffers of the test, and of kernels that it binds them to.
fn check_layouts(test: &TestEvidence, verification: &mut Verification) {
    for (buffer, layouts) in &test.layouts {
        let is_bound_by = |kernel: &KernelName| {
            let mut dispatches =
                test.definition.dispatches.iter().filter(|dispatch| dispatch.kernel == *kernel);
            dispatches.any(|dispatch| {
                dispatch.bindings.iter().any(|binding| binding.buffer.as_ref() == Some(buffer))
            })
        };
        let is_consistent = test.definition.buffers.contains_key(buffer)
            && !layouts.is_empty()
            && layouts
                .iter()
                .all(|layout| !layout.kernels.is_empty() && layout.kernels.iter().all(is_bound_by));
        verification.check(is_consistent, || {
            format!("test {}: the layouts of `{buffer}` are not of kernels that bind it", test.id)
        });
    }
}

/// The stores of each dispatch are to and from buffers that are bound to it, or whose address the
/// test passes.
fn check_flows(test: &TestEvidence, verification: &mut Verification) {
    if test.flows.is_empty() {
        return;
    }
    let addressed_buffers = vkcert_requirement::trace::addressed_buffers(&test.definition);
    let dispatches = &test.definition.dispatches;
    let is_consistent = dispatches.len() == test.flows.len()
        && dispatches.iter().zip(&test.flows).all(|(dispatch, flow)| {
            let is_bound = |name: &String| {
                let mut bindings = dispatch.bindings.iter();
                bindings
                    .any(|binding| binding.buffer.as_ref().or(binding.image.as_ref()) == Some(name))
            };
            let mut ranges =
                flow.stores.iter().flat_map(|store| store.to.iter().chain(&store.from));
            flow.kernel == dispatch.kernel
                && ranges.all(|range| {
                    is_bound(&range.buffer) || addressed_buffers.contains(range.buffer.as_str())
                })
        });
    verification.check(is_consistent, || {
        format!("test {}: what its dispatches store is not what is bound to them", test.id)
    });
}

/// Whether the result of a test's schedules agrees with its findings and verdict.
pub(super) fn schedules_follow(schedules: &ScheduleResult, result: &TestResult) -> bool {
    let is_of_directed = |finding: &Finding| finding.schedule().is_some_and(Schedule::is_directed);
    let names_dependence = |finding: &Finding| {
        finding.kind == FindingKind::ScheduleDependentOutput && !is_of_directed(finding)
    };
    let names_dependence = result.findings.iter().any(names_dependence);
    let different_ran = schedules.different.iter().all(|schedule| schedules.ran.contains(schedule));
    let some_differ = !schedules.different.is_empty();
    let count_within = schedules.ran.len() <= schedules.asked as usize;
    let status_follows = match schedules.status {
        ScheduleStatus::Equal => !some_differ && !schedules.ran.is_empty(),
        ScheduleStatus::Different => some_differ,
        ScheduleStatus::Undetermined => {
            result.verdict != Verdict::Pass && schedules.reason.is_some()
        }
        ScheduleStatus::NothingToPermute | ScheduleStatus::NotRun => {
            schedules.ran.is_empty() && schedules.reason.is_some()
        }
    };
    // Neither the ordinary order nor directed schedules are among them.
    let ran_in_other_orders = schedules.ran.iter().enumerate().all(|(index, schedule)| {
        *schedule != Schedule::IN_ORDER
            && !schedule.is_directed()
            && !schedules.ran[..index].contains(schedule)
    });
    names_dependence == some_differ
        && different_ran
        && count_within
        && status_follows
        && ran_in_other_orders
}

/// Whether the findings agree with the rest of the evidence.
pub(super) fn check_findings(stored: &Evidence, verification: &mut Verification) {
    let campaign = &stored.campaign;
    let of_coupling =
        campaign.findings.iter().filter(|row| row.finding.kind == FindingKind::Coupling);
    let mut reported_checks: Vec<_> = of_coupling
        .map(|row| (&row.kernel, row.finding.coupling_check(), &row.finding.message))
        .collect();
    let checks_with_rows = campaign.coupling.iter().flat_map(|row| {
        let checks = row.checks.iter().filter(|check| check.status == CheckStatus::Refuted);
        checks.map(move |check| (&row.kernel, Some(check.check.clone()), &check.message))
    });
    let mut refuted_checks: Vec<_> = checks_with_rows.collect();
    reported_checks.sort();
    refuted_checks.sort();
    verification.check(reported_checks == refuted_checks, || {
        "findings of coupling do not go with its checks".to_owned()
    });
    for test in &campaign.tests {
        for result in &test.results {
            for finding in &result.findings {
                let finding_name =
                    || format!("test {} on {}: a finding {}", test.id, result.engine, finding.kind);
                let configuration_exists =
                    finding.configuration.as_ref().is_none_or(|configuration_name| {
                        let mut rows = stored
                            .kernels
                            .iter()
                            .filter(|row| Some(&row.kernel) == finding.kernel.as_ref());
                        rows.any(|row| row.configuration.name == *configuration_name)
                    });
                verification.check(configuration_exists, || {
                    format!("{} is of an unknown configuration", finding_name())
                });
                verification.check(values_agree(finding), || {
                    format!("{} contradicts its values", finding_name())
                });
                if let Some(schedules) = &result.schedules {
                    let is_listed = |text: &serde_json::Value| {
                        schedules.different.iter().any(|different_schedule| {
                            text.as_str() == Some(&different_schedule.to_string())
                        })
                    };
                    let named_schedules = finding.detail(DetailName::Schedules);
                    verification.check(
                        named_schedules
                            .as_ref()
                            .and_then(|named_schedules| named_schedules.as_array())
                            .is_none_or(|named_schedules| named_schedules.iter().all(is_listed)),
                        || {
                            format!(
                                "{} names schedules that are not among those that differ",
                                finding_name()
                            )
                        },
                    );
                }
            }
        }
    }
}

/// Whether a race in which all write the same was between two writes of one value.
fn values_agree(finding: &Finding) -> bool {
    let has_equal = |name: DetailName| match finding.detail(name) {
        Some(serde_json::Value::Array(values)) => values.windows(2).all(|pair| pair[0] == pair[1]),
        Some(_) | None => true,
    };
    finding.same_value() != Some(true)
        || has_equal(DetailName::Values) && has_equal(DetailName::Accesses)
}

#[cfg(test)]
mod tests;
