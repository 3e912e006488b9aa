//! Verdicts, schedules and findings of tests: whether they agree with outputs and definitions.

use crate::Verification;
use base64::Engine as _;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_derivation::derive;
use vkcert_model::evidence::{CheckStatus, Evidence, OutputBytes, TestEvidence, TestResult};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::schedule::{Schedule, ScheduleResult, ScheduleStatus};
use vkcert_model::verdict::Verdict;
use vkcert_oracle::judged::TestObservation;
use vkcert_oracle::stored;

/// A check that holds has no counterexample, and no check has a status that there is none of.
pub(super) fn coupling(stored: &Evidence, found: &mut Verification) {
    for row in &stored.campaign.coupling {
        for check in &row.checks {
            let right = match check.status {
                CheckStatus::Refuted => true,
                CheckStatus::Holds | CheckStatus::Undetermined => check.counterexample.is_none(),
                CheckStatus::Unknown(_) => false,
            };
            found.check(right, || {
                format!("coupling of {}: {} is {}", row.kernel, check.check, check.status)
            });
        }
    }
}

pub(super) fn schedules(stored: &Evidence, found: &mut Verification) {
    let results = stored.campaign.tests.iter().flat_map(|test| &test.results);
    let asked =
        results.filter_map(|result| result.schedules.as_ref()).map(|told| (told.asked, told.seed));
    found.check(asked.collect::<BTreeSet<_>>().len() <= 1, || {
        "tests were asked for other schedules each".to_owned()
    });
    for test in &stored.campaign.tests {
        for result in &test.results {
            if let Some(schedules) = &result.schedules {
                found.check(follows(schedules, result), || {
                    format!(
                        "test {} on {}: what its schedules showed ({schedules})",
                        test.id, result.engine
                    )
                });
            }
            let strange =
                |finding: &&Finding| stored.campaign.not_looked_for.contains(&finding.kind);
            found.check(!result.findings.iter().any(|finding| strange(&finding)), || {
                format!(
                    "test {} on {}: a finding of a kind that was not looked for",
                    test.id, result.engine
                )
            });
        }
    }
}

/// Verdicts from the stored outputs and the stored definitions of the tests.
pub(super) fn verdicts(evidence: &Evidence, found: &mut Verification) {
    let codes = derive::codes(&evidence.kernels);
    for test in &evidence.campaign.tests {
        let observation = derive::observation(evidence.campaign.schema, test, &codes);
        flows(test, found);
        test.results.iter().for_each(|result| verdict(test, &observation, result, found));
    }
}

/// No test of a kernel that the profile refuses has run.
pub(super) fn refused(evidence: &Evidence, found: &mut Verification) {
    for row in &evidence.campaign.project.profile.refused {
        for test in evidence.campaign.tests.iter().filter(|test| test.kernels.contains(&row.kernel))
        {
            for result in &test.results {
                let stays = matches!(result.verdict, Verdict::Unsupported | Verdict::NotRun);
                found.check(stays, || {
                    format!(
                        "test {} on {}: {} though its profile refuses {}",
                        test.id, result.engine, result.verdict, row.kernel
                    )
                });
            }
        }
    }
}

fn verdict(
    test: &TestEvidence,
    observation: &TestObservation,
    result: &TestResult,
    found: &mut Verification,
) {
    // Else the run left no outputs to judge.
    if !result.verdict.completed() {
        return;
    }
    let mut outputs = BTreeMap::new();
    for (name, output) in &result.outputs {
        match output {
            OutputBytes::Bytes(text) => {
                match base64::engine::general_purpose::STANDARD.decode(text) {
                    Ok(bytes) => drop(outputs.insert(name.clone(), bytes)),
                    Err(error) => found
                        .problems
                        .push(format!("test {}: buffer {name} is not base64: {error}", test.id)),
                }
            }
            OutputBytes::Hash { .. } => {}
        }
    }
    match stored::judge_stored_outputs(&test.expected, &outputs) {
        Ok(passed_or_failed) => {
            let verdict = judged_verdict(passed_or_failed, observation);
            found.check(verdict == result.verdict, || {
                format!(
                    "test {} on {}: stored {}, derived {verdict}",
                    test.id, result.engine, result.verdict
                )
            });
        }
        Err(reason) => {
            found.not_derivable.push(format!("test {} on {}: {reason}", test.id, result.engine))
        }
    }
}

/// A pass that says nothing is none.
fn judged_verdict(verdict: Verdict, observation: &TestObservation) -> Verdict {
    match (verdict, observation.emptiness_reason()) {
        (Verdict::Pass, Some(_)) => Verdict::Undetermined,
        (verdict, _) => verdict,
    }
}

/// What dispatches are said to store goes with what the test gives them: every buffer is bound to
/// the dispatch, or its address is given somewhere in the test.
fn flows(test: &TestEvidence, found: &mut Verification) {
    if test.flows.is_empty() {
        return;
    }
    let given = vkcert_requirement::trace::addressed_buffers(&test.definition);
    let dispatches = &test.definition.dispatches;
    let right = dispatches.len() == test.flows.len()
        && dispatches.iter().zip(&test.flows).all(|(dispatch, flow)| {
            let bound = |name: &String| {
                let mut bindings = dispatch.bindings.iter();
                bindings
                    .any(|binding| binding.buffer.as_ref().or(binding.image.as_ref()) == Some(name))
            };
            let mut ranges =
                flow.stores.iter().flat_map(|store| store.to.iter().chain(&store.from));
            flow.kernel == dispatch.kernel
                && ranges.all(|range| bound(&range.buffer) || given.contains(&range.buffer))
        });
    found.check(right, || {
        format!("test {}: what its dispatches store is not what is bound to them", test.id)
    });
}

/// Whether what is said of a test's schedules goes with its findings and verdict.
pub(super) fn follows(schedules: &ScheduleResult, result: &TestResult) -> bool {
    let of_directed = |finding: &Finding| {
        let schedule = finding
            .details
            .get("schedule")
            .and_then(|text| text.as_str()?.parse::<Schedule>().ok());
        schedule.is_some_and(Schedule::is_directed)
    };
    let told = |finding: &Finding| {
        finding.kind == FindingKind::ScheduleDependentOutput && !of_directed(finding)
    };
    let told = result.findings.iter().any(told);
    let listed = schedules.different.iter().all(|schedule| schedules.ran.contains(schedule));
    let differ = !schedules.different.is_empty();
    let number = schedules.ran.len() <= schedules.asked as usize;
    let status = match schedules.status {
        ScheduleStatus::Equal => !differ && !schedules.ran.is_empty(),
        ScheduleStatus::Different => differ,
        ScheduleStatus::Undetermined => {
            result.verdict != Verdict::Pass && schedules.reason.is_some()
        }
        ScheduleStatus::NothingToPermute | ScheduleStatus::NotRun => {
            schedules.ran.is_empty() && schedules.reason.is_some()
        }
    };
    // The order from first to last is none of them, nor are those in which who waits goes first.
    let ran = schedules.ran.iter().enumerate().all(|(index, schedule)| {
        *schedule != Schedule::IN_ORDER
            && !schedule.is_directed()
            && !schedules.ran[..index].contains(schedule)
    });
    told == differ && listed && number && status && ran
}

/// Whether the findings go with what else is stored.
pub(super) fn findings(stored: &Evidence, found: &mut Verification) {
    let campaign = &stored.campaign;
    let of_coupling =
        campaign.findings.iter().filter(|row| row.finding.kind == FindingKind::Coupling);
    let mut told: Vec<_> = of_coupling
        .map(|row| {
            (
                &row.kernel,
                row.finding.details.get("check").and_then(|check| check.as_str()),
                &row.finding.message,
            )
        })
        .collect();
    let refuted = campaign.coupling.iter().flat_map(|row| {
        let checks = row.checks.iter().filter(|check| check.status == CheckStatus::Refuted);
        checks.map(move |check| (&row.kernel, Some(check.check.as_str()), &check.message))
    });
    let mut due: Vec<_> = refuted.collect();
    told.sort();
    due.sort();
    found.check(told == due, || "findings of coupling do not go with its checks".to_owned());
    for test in &campaign.tests {
        for result in &test.results {
            for finding in &result.findings {
                let name =
                    || format!("test {} on {}: a finding {}", test.id, result.engine, finding.kind);
                let configured = finding.configuration.as_ref().is_none_or(|name| {
                    let mut rows = stored
                        .kernels
                        .iter()
                        .filter(|row| Some(&row.kernel) == finding.kernel.as_ref());
                    rows.any(|row| row.configuration.name == *name)
                });
                found.check(configured, || format!("{} is of an unknown configuration", name()));
                found.check(values_agree(finding), || format!("{} contradicts its values", name()));
                if let Some(schedules) = &result.schedules {
                    let listed = |text: &serde_json::Value| {
                        schedules
                            .different
                            .iter()
                            .any(|known| text.as_str() == Some(&known.to_string()))
                    };
                    let all = finding.details.get("schedules").and_then(|all| all.as_array());
                    found.check(all.is_none_or(|all| all.iter().all(listed)), || {
                        format!("{} names schedules that are not among those that differ", name())
                    });
                }
            }
        }
    }
}

/// Whether a race in which all write the same was between two writes of one value.
fn values_agree(finding: &Finding) -> bool {
    let list = |name: &str| finding.details.get(name).and_then(|values| values.as_array());
    let same = finding.details.get("same_value").and_then(|same| same.as_bool()) == Some(true);
    let equal = |values: &Vec<serde_json::Value>| values.windows(2).all(|pair| pair[0] == pair[1]);
    !same || list("values").is_none_or(equal) && list("accesses").is_none_or(equal)
}
