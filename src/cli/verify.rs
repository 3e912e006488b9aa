//! `vkcert verify EVIDENCE`: every hash, verdict, status and percentage, derived again from what is stored.

use super::args::{Common, OutputForm, Verify};
use super::conclusion::conclude;
use super::evidence::{self, Stored};
use super::exit::Exit;
use super::failure::Failure;
use super::{derive, open_items, output};
use crate::exec::judged::{Codes, Observation};
use crate::exec::stored;
use crate::model::canonical::sha256_digits;
use crate::model::evidence::{
    Campaign, Evidence, FIRST_SCHEMA, KernelEvidence, OutputBytes, READABLE_SCHEMAS, TestEvidence, TestResult,
};
use crate::model::finding::{Finding, FindingKind};
use crate::model::id::{RequirementId, TestId};
use crate::model::schedule::{ScheduleResult, ScheduleStatus};
use crate::model::verdict::Verdict;
use crate::requirement::status::{RequirementOutcome, StatusRules, outcomes};
use crate::requirement::trace;
use base64::Engine as _;
use serde_json::json;
use std::collections::BTreeMap;

/// What was found.
#[derive(Default)]
struct Findings {
    /// Differences between what is stored and what follows from the records.
    problems: Vec<String>,
    /// What cannot be derived again, and why.
    not_derivable: Vec<String>,
    /// How many statements were derived again.
    checked: u64,
}

/// Exit 0 if everything follows from the raw records, 1 on any difference.
pub fn command(common: &Common, verify: &Verify) -> Result<Exit, Failure> {
    let mut found = Findings::default();
    match evidence::examine(&verify.evidence)? {
        Stored::Read(stored, tampering) => {
            found.problems = tampering.problems;
            found.checked = stored.manifest.outputs.len() as u64;
            inputs(&stored, &mut found);
            verdicts(&stored, &mut found);
            records(&stored, &mut found);
            requirements(&stored, &mut found);
            findings(&stored, &mut found);
            derived(&stored, &mut found);
            agreement(&stored, &mut found);
        }
        Stored::Broken(tampering) => found.problems = tampering.problems,
    }
    let exit = if found.problems.is_empty() { Exit::Success } else { Exit::Failed };
    match common.format {
        OutputForm::Json => {
            let document = json!({
                "schema": 1, "verified": found.problems.is_empty(), "checked": found.checked,
                "problems": found.problems, "not_rederivable": found.not_derivable,
            });
            output::print(&format!("{document:#}\n"))?;
        }
        OutputForm::Text => {
            let mut text = String::new();
            found.problems.iter().for_each(|problem| text.push_str(&format!("differs           {problem}\n")));
            found.not_derivable.iter().for_each(|what| text.push_str(&format!("not re-derivable  {what}\n")));
            let count = found.checked;
            text.push_str(&match found.problems.len() {
                0 => format!(
                    "verified: {count} hashes, verdicts, statuses and percentages follow from the stored records\n"
                ),
                problems => {
                    format!("NOT verified: {problems} of {count} statements do not follow from the stored records\n")
                }
            });
            output::print(&text)?;
        }
    }
    Ok(exit)
}

impl Findings {
    fn check(&mut self, holds: bool, problem: impl FnOnce() -> String) {
        self.checked += 1;
        if !holds {
            self.problems.push(problem());
        }
    }
}

/// The source text that coverage is shown on is the input that the manifest names.
fn inputs(evidence: &Evidence, found: &mut Findings) {
    let schemas = evidence.kernels.iter().map(|kernel| kernel.schema).chain([evidence.campaign.schema]);
    found.check(schemas.into_iter().all(|schema| READABLE_SCHEMAS.contains(&schema)), || {
        "version of the evidence format".to_owned()
    });
    let format = evidence.campaign.schema;
    found.check(evidence.kernels.iter().all(|kernel| kernel.schema == format), || {
        "files of different evidence formats".to_owned()
    });
    if format == FIRST_SCHEMA {
        found.not_derivable.push(
            "format 1: its justifications are bound to displayed texts, those of findings to sentences; they are judged by \
             what that format knew"
                .to_owned(),
        );
    }
    for kernel in &evidence.kernels {
        for file in &kernel.structure.files {
            let Some(hash) = evidence.manifest.inputs.get(&file.path) else { continue };
            found.check(sha256_digits(file.text.as_bytes()) == *hash, || {
                format!("{} on {}: the text of {} is not the input", kernel.kernel, kernel.engine, file.path)
            });
        }
    }
}

/// Verdicts from the stored outputs and the stored definitions of the tests.
fn verdicts(evidence: &Evidence, found: &mut Findings) {
    let codes = derive::codes(&evidence.kernels);
    for test in &evidence.campaign.tests {
        let observation = derive::observation(evidence.campaign.schema, test, &codes);
        flows(test, found);
        found.check(crate::requirement::hash::test_hash(&test.definition) == test.hash, || {
            format!("test {}: its definition has another hash", test.id)
        });
        for result in &test.results {
            verdict(test, &observation, result, found);
            if let Some(schedules) = &result.schedules {
                found.check(follows(schedules, result), || {
                    format!("test {} on {}: what its schedules showed ({schedules})", test.id, result.engine)
                });
            }
        }
    }
    refused(evidence, found);
}

/// No test of a kernel that the profile refuses has run.
fn refused(evidence: &Evidence, found: &mut Findings) {
    for row in &evidence.campaign.project.profile.refused {
        for test in evidence.campaign.tests.iter().filter(|test| test.kernels.contains(&row.kernel)) {
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

fn verdict(test: &TestEvidence, observation: &Observation, result: &TestResult, found: &mut Findings) {
    match result.verdict {
        Verdict::Pass | Verdict::Fail => {}
        Verdict::NotRun | Verdict::Unsupported | Verdict::Error | Verdict::Timeout | Verdict::Undetermined => {
            // The run left no outputs to judge.
            return;
        }
    }
    let mut outputs = BTreeMap::new();
    for (name, output) in &result.outputs {
        match output {
            OutputBytes::Bytes(text) => match base64::engine::general_purpose::STANDARD.decode(text) {
                Ok(bytes) => drop(outputs.insert(name.clone(), bytes)),
                Err(error) => found.problems.push(format!("test {}: buffer {name} is not base64: {error}", test.id)),
            },
            OutputBytes::Hash { .. } => {}
        }
    }
    match stored::judge(&test.expected, &outputs) {
        Ok(passed_or_failed) => {
            let verdict = judged_verdict(passed_or_failed, observation);
            found.check(verdict == result.verdict, || {
                format!("test {} on {}: stored {}, derived {verdict}", test.id, result.engine, result.verdict)
            });
        }
        Err(reason) => found.not_derivable.push(format!("test {} on {}: {reason}", test.id, result.engine)),
    }
}

/// A pass that says nothing is none.
fn judged_verdict(verdict: Verdict, observation: &Observation) -> Verdict {
    match (verdict, observation.says_nothing()) {
        (Verdict::Pass, Some(_)) => Verdict::Undetermined,
        (verdict, _) => verdict,
    }
}

/// What dispatches are said to store goes with what the test gives them: every buffer is bound to the dispatch, or its address
/// is given somewhere in the test.
fn flows(test: &TestEvidence, found: &mut Findings) {
    if test.flows.is_empty() {
        return;
    }
    let given = crate::requirement::trace::addressed(&test.definition);
    let dispatches = &test.definition.dispatches;
    let right = dispatches.len() == test.flows.len()
        && dispatches.iter().zip(&test.flows).all(|(dispatch, flow)| {
            let bound = |name: &String| {
                let mut bindings = dispatch.bindings.iter();
                bindings.any(|binding| binding.buffer.as_ref().or(binding.image.as_ref()) == Some(name))
            };
            let mut ranges = flow.stores.iter().flat_map(|store| store.to.iter().chain(&store.from));
            flow.kernel == dispatch.kernel && ranges.all(|range| bound(&range.buffer) || given.contains(&range.buffer))
        });
    found.check(right, || format!("test {}: what its dispatches store is not what is bound to them", test.id));
}

/// Whether what is said of a test's schedules goes with its findings and verdict.
fn follows(schedules: &ScheduleResult, result: &TestResult) -> bool {
    let told = result.findings.iter().any(|finding| finding.kind == FindingKind::ScheduleDependentOutput);
    let listed = schedules.different.iter().all(|schedule| schedules.ran.contains(schedule));
    let differ = !schedules.different.is_empty();
    let number = schedules.ran.len() <= schedules.asked as usize;
    let status = match schedules.status {
        ScheduleStatus::Equal => !differ && !schedules.ran.is_empty(),
        ScheduleStatus::Different => differ,
        ScheduleStatus::Undetermined => result.verdict != Verdict::Pass,
        ScheduleStatus::NothingToPermute | ScheduleStatus::NotRun => schedules.ran.is_empty(),
    };
    told == differ && listed && number && status
}

/// Whether records count is for their test's verdict to say; whose they are, for the specialization that it dispatches.
fn records(stored: &Evidence, found: &mut Findings) {
    let codes: Codes = derive::codes(&stored.kernels);
    for kernel in &stored.kernels {
        for row in kernel.records.iter().chain(&kernel.objects.records) {
            let test = stored.campaign.tests.iter().find(|test| test.id == row.test);
            let result = test.and_then(|test| test.results.iter().find(|result| result.engine == kernel.engine));
            let verdict = result.map(|result| result.verdict);
            let counts = test.is_some_and(|test| {
                let observation = derive::observation(stored.campaign.schema, test, &codes);
                let of = (&kernel.kernel, &kernel.configuration);
                derive::counts(row.verdict, &test.definition, &observation, of)
            });
            let right = verdict == Some(row.verdict) && row.counted == counts;
            found.check(right, || {
                format!("{} on {}: records of {} do not go with its verdict", kernel.kernel, kernel.engine, row.test)
            });
            let dispatches = test.iter().flat_map(|test| &test.definition.dispatches);
            let mut dispatches = dispatches.filter(|dispatch| dispatch.kernel == kernel.kernel);
            found.check(
                dispatches.any(|dispatch| derive::is_of(&kernel.configuration, &dispatch.specialization)),
                || {
                    let name = &kernel.configuration.name;
                    format!("{} on {}: {} never runs it under {name}", kernel.kernel, kernel.engine, row.test)
                },
            );
        }
    }
}

fn requirements(stored: &Evidence, found: &mut Findings) {
    let rows = &stored.campaign.requirements;
    let campaign = &stored.campaign;
    let verdicts = trace::verdicts(&campaign.tests);
    let rules = StatusRules::of_schema(campaign.schema);
    let outcomes = outcomes(rows, &verdicts, &campaign.records, rules);
    for row in &campaign.records {
        let uid = &row.record.requirement;
        let requirement = rows.iter().map(|row| &row.requirement).find(|requirement| requirement.uid == *uid);
        let fault = derive::record_fault(row.method, &row.record, requirement, &campaign.project.level);
        found.check(fault == row.rejected, || format!("{} of {uid}: whether it is accepted", row.method));
    }
    for row in rows {
        let uid = &row.requirement.uid;
        found.check(crate::requirement::hash::requirement_hash(&row.requirement) == row.hash, || {
            format!("requirement {uid}: its content has another hash")
        });
        let stored = RequirementOutcome { status: row.status, open: row.open.clone() };
        let follows = match rules {
            StatusRules::Current => outcomes.get(uid) == Some(&stored),
            StatusRules::First => outcomes.get(uid).map(|outcome| outcome.status) == Some(row.status),
        };
        found.check(follows, || format!("requirement {uid}: its status is not {}", row.status));
        found.check(tests_of(uid, campaign) == row.tests.iter().collect::<Vec<_>>(), || {
            format!("requirement {uid}: its tests")
        });
    }
}

/// Tests that name a requirement.
fn tests_of<'a>(uid: &RequirementId, campaign: &'a Campaign) -> Vec<&'a TestId> {
    let naming = campaign.tests.iter().filter(|test| test.definition.requirements.contains(uid));
    naming.map(|test| &test.id).collect()
}

/// The comparison of the engines.
fn agreement(stored: &Evidence, found: &mut Findings) {
    let derivation = super::agreement::stored::derive(stored);
    found.checked += derivation.checked;
    found.problems.extend(derivation.problems);
    found.not_derivable.extend(derivation.not_derivable);
}

/// Whether the findings go with what else is stored.
fn findings(stored: &Evidence, found: &mut Findings) {
    let campaign = &stored.campaign;
    let of_coupling = campaign.findings.iter().filter(|row| row.finding.kind == FindingKind::Coupling);
    let mut told: Vec<_> = of_coupling
        .map(|row| {
            (&row.kernel, row.finding.details.get("check").and_then(|check| check.as_str()), &row.finding.message)
        })
        .collect();
    let refuted = campaign.coupling.iter().flat_map(|row| {
        let checks = row.checks.iter().filter(|check| check.status == "refuted");
        checks.map(move |check| (&row.kernel, Some(check.check.as_str()), &check.message))
    });
    let mut due: Vec<_> = refuted.collect();
    told.sort();
    due.sort();
    found.check(told == due, || "findings of coupling do not go with its checks".to_owned());
    for test in &campaign.tests {
        for result in &test.results {
            for finding in &result.findings {
                let name = || format!("test {} on {}: a finding {}", test.id, result.engine, finding.kind);
                let configured = finding.configuration.as_ref().is_none_or(|name| {
                    let mut rows = stored.kernels.iter().filter(|row| Some(&row.kernel) == finding.kernel.as_ref());
                    rows.any(|row| row.configuration.name == *name)
                });
                found.check(configured, || format!("{} is of an unknown configuration", name()));
                found.check(values_agree(finding), || format!("{} contradicts its values", name()));
                if let Some(schedules) = &result.schedules {
                    let listed = |text: &serde_json::Value| {
                        schedules.different.iter().any(|known| text.as_str() == Some(&known.to_string()))
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

/// Coverage, justifications and the conclusion.
fn derived(stored: &Evidence, found: &mut Findings) {
    let mut kernels = stored.kernels.clone();
    let mut campaign = stored.campaign.clone();
    for kernel in &mut kernels {
        kernel.coverage = derive::coverage(kernel);
    }
    derive::justify(&mut kernels, &mut campaign);
    for (derived, kernel) in kernels.iter().zip(&stored.kernels) {
        let (ours, theirs) = (&derived.coverage, &kernel.coverage);
        let name = format!("{} on {}", kernel.kernel, kernel.engine);
        found.check(ours.statements == theirs.statements, || format!("{name}: statement coverage"));
        found.check(ours.branches == theirs.branches, || format!("{name}: branch coverage"));
        found.check(ours.points == theirs.points, || format!("{name}: entry and exit points"));
        found.check(ours.barriers == theirs.barriers, || format!("{name}: barrier coverage"));
        found.check(ours.objects == theirs.objects && ours.additional == theirs.additional, || {
            format!("{name}: coverage of object code")
        });
        found.check(ours.not_reached == theirs.not_reached, || format!("{name}: functions that are not reached"));
        found.check(ours.decisions.len() == theirs.decisions.len(), || format!("{name}: number of decisions"));
        for (ours, theirs) in ours.decisions.iter().zip(&theirs.decisions) {
            found.check(ours == theirs, || format!("{name}: decision {}", theirs.id));
        }
        for (ours, theirs) in ours.summary.iter().zip(&theirs.summary) {
            found.check(ours == theirs, || {
                let shown = |row: &crate::model::coverage::CriterionSummary| format!("{}/{}", row.covered, row.total);
                format!("{name}: {} is stored as {}, derived {}", theirs.criterion, shown(theirs), shown(ours))
            });
        }
    }
    found.check(campaign.justifications == stored.campaign.justifications, || "justifications".to_owned());
    let accepted = |campaign: &Campaign| {
        campaign.all_findings().map(|(_, _, finding)| finding.acceptance.clone()).collect::<Vec<_>>()
    };
    found.check(accepted(&campaign) == accepted(&stored.campaign), || {
        "names of findings, or which of them are accepted".to_owned()
    });
    open_items(&mut campaign, &kernels, &stored.campaign, found);
    let conclusion = conclude(&campaign, &kernels);
    found.check(conclusion.exit_code == stored.campaign.conclusion.exit_code, || {
        format!("exit code: stored {}, derived {}", stored.campaign.conclusion.exit_code, conclusion.exit_code)
    });
    found.check(conclusion.reasons == stored.campaign.conclusion.reasons, || "reasons of the conclusion".to_owned());
    found.check(conclusion.summary == stored.campaign.conclusion.summary, || "summary of the conclusion".to_owned());
}

/// Open items, notes and what was not looked for; format 1 holds none of them, nor the settings that they follow from.
fn open_items(campaign: &mut Campaign, kernels: &[KernelEvidence], stored: &Campaign, found: &mut Findings) {
    found.check(campaign.settings.is_some() == (campaign.schema > 1), || {
        "the project file as it was read is missing".to_owned()
    });
    let left_out = campaign.requirements.iter().flat_map(|row| &row.left_out_tests);
    found
        .check(left_out.into_iter().all(|id| campaign.left_out.contains(id)), || "tests that were left out".to_owned());
    open_items::derive(campaign, kernels);
    found.check(campaign.open_items == stored.open_items, || "open items".to_owned());
    found.check(campaign.rejected_acceptances == stored.rejected_acceptances, || {
        "which acceptances of open items are rejected".to_owned()
    });
    found.check(campaign.notes == stored.notes, || "notes of page 1".to_owned());
    found.check(campaign.unsought == stored.unsought, || "what findings were not looked for".to_owned());
}
