//! What evidence says twice: facts that must go with each other, whoever made them.
//!
//! Knows: stored evidence alone. Promises: holds for evidence of every format that is read. What
//! follows from stored inputs is derived as a whole ([`super::Toolchain::derive`]);
//! [`of_definitions`] and [`of_records`] stand in for it where that cannot be done.

use super::Verification;
use base64::Engine as _;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_derivation::conclusion::conclude;
use vkcert_derivation::{agreement, derive, open_items as items, stated};
use vkcert_model::canonical::sha256_digits;
use vkcert_model::evidence::{
    Campaign, Evidence, KernelEvidence, OutputBytes, TestEvidence, TestResult,
};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::generation::Generation;
use vkcert_model::id::{RequirementId, TestId};
use vkcert_model::schedule::{Schedule, ScheduleResult, ScheduleStatus};
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_oracle::judged::{Codes, Observation};
use vkcert_oracle::stored;
use vkcert_requirement::status::{RequirementOutcome, Shown, outcomes};
use vkcert_requirement::{hash, trace};

/// Whatever else can be derived.
pub fn always(stored: &Evidence, found: &mut Verification) {
    inputs(stored, found);
    identity(stored, found);
    kernel_files(stored, found);
    coupling(stored, found);
    schedules(stored, found);
    refused(stored, found);
    findings(stored, found);
    compared(stored, found);
}

/// What definitions that are stored in the evidence itself come to.
pub fn of_definitions(stored: &Evidence, found: &mut Verification) {
    tests(stored, found);
    requirements(stored, found);
    settings(stored, found);
}

/// What the stored records come to.
pub fn of_records(stored: &Evidence, found: &mut Verification) {
    verdicts(stored, found);
    records(stored, found);
    derived(stored, found);
}

/// The name of the text that the definitions of a kernel stand in.
const DEFINES: &str = "<defines>";

/// The source text that coverage is shown on is the input that the manifest names.
fn inputs(evidence: &Evidence, found: &mut Verification) {
    for kernel in &evidence.kernels {
        // Definitions stand in a text of their own, which is no file.
        let defined = !kernel.configuration.defines.is_empty();
        for file in kernel.structure.files.iter().filter(|file| !(defined && file.path == DEFINES))
        {
            let hash = evidence.manifest.inputs.get(&file.path);
            found.check(hash == Some(&sha256_digits(file.text.as_bytes())), || {
                format!(
                    "{} on {}: the text of {} is not the input",
                    kernel.kernel, kernel.engine, file.path
                )
            });
        }
    }
}

/// The manifest names tool, compiler and devices as the campaign does.
fn identity(stored: &Evidence, found: &mut Verification) {
    let (manifest, campaign) = (&stored.manifest, &stored.campaign);
    found.check(manifest.tool == stated::tool(campaign), || {
        "the manifest names another tool than the campaign".to_owned()
    });
    found.check(manifest.compiler == campaign.project.compiler, || {
        "the manifest names another compiler than the campaign".to_owned()
    });
    found.check(manifest.devices == stated::devices(&campaign.engines), || {
        "the manifest names other devices than the campaign".to_owned()
    });
    let date = campaign.project.date.as_deref();
    found.check(date.is_none_or(is_date), || {
        "the date of the campaign is none of RFC 3339 in UTC".to_owned()
    });
}

/// `2026-01-31T12:00:00Z`
fn is_date(text: &str) -> bool {
    let form = "dddd-dd-ddTdd:dd:ddZ";
    let fits = |(letter, wanted): (char, char)| {
        if wanted == 'd' { letter.is_ascii_digit() } else { letter == wanted }
    };
    text.len() == form.len() && text.chars().zip(form.chars()).all(fits)
}

/// There is a file for every kernel that a test dispatches and every engine that ran, and each file
/// has its tests' engine.
fn kernel_files(stored: &Evidence, found: &mut Verification) {
    let campaign = &stored.campaign;
    let ran: Vec<EngineName> =
        campaign.engines.iter().filter(|row| row.ran).map(|row| row.engine).collect();
    let tested = campaign
        .tests
        .iter()
        .flat_map(|test| &test.definition.dispatches)
        .map(|dispatch| &dispatch.kernel);
    let stated =
        campaign.settings.iter().flat_map(|settings| &settings.kernels).map(|kernel| &kernel.name);
    let kernels: BTreeSet<_> = tested.chain(stated).collect();
    for (kernel, engine) in
        kernels.iter().flat_map(|kernel| ran.iter().map(move |engine| (kernel, engine)))
    {
        let there =
            stored.kernels.iter().any(|row| row.kernel == **kernel && row.engine == *engine);
        found.check(there, || format!("there is no file of kernel {kernel} on {engine}"));
    }
    for row in &stored.kernels {
        found.check(ran.contains(&row.engine), || {
            format!("{} on {}: that engine did not run", row.kernel, row.engine)
        });
        let known = campaign.settings.is_none() || kernels.contains(&row.kernel);
        found.check(known, || {
            format!("{} on {}: the project has no such kernel", row.kernel, row.engine)
        });
    }
    for test in &campaign.tests {
        let engines: Vec<EngineName> = test.results.iter().map(|result| result.engine).collect();
        let due: Vec<EngineName> = campaign.engines.iter().map(|row| row.engine).collect();
        found.check(engines == due, || {
            format!("test {}: its results are not those of the engines", test.id)
        });
    }
}

/// A check that holds has no counterexample, and no check has a status that there is none of.
fn coupling(stored: &Evidence, found: &mut Verification) {
    for row in &stored.campaign.coupling {
        for check in &row.checks {
            let known = ["holds", "refuted", "undetermined"].contains(&check.status.as_str());
            let right = known && (check.counterexample.is_none() || check.status == "refuted");
            found.check(right, || {
                format!("coupling of {}: {} is {}", row.kernel, check.check, check.status)
            });
        }
    }
}

/// What a test's definition says of it.
fn tests(stored: &Evidence, found: &mut Verification) {
    for test in &stored.campaign.tests {
        let (id, definition) = (&test.id, &test.definition);
        let mut same = |holds: bool, what: &str| {
            found.check(holds, || {
                format!("test {id}: its {what} does not follow from its definition")
            });
        };
        same(*id == definition.id, "id");
        same(hash::test_hash(definition) == test.hash, "hash");
        same(test.title == definition.title, "title");
        same(test.kind == definition.kind.to_string(), "kind");
        same(test.requirements == definition.requirements, "list of requirements");
        same(test.kernels == trace::kernels_of(definition), "list of kernels");
        same(test.procedure == trace::describe(definition), "procedure");
        let judged: Vec<&str> =
            test.expected.iter().map(|expected| expected.buffer.as_str()).collect();
        let stated: Vec<&str> =
            definition.expect.iter().map(|expected| expected.judged()).collect();
        same(judged == stated || judged.is_empty(), "list of expectations");
        let tolerances = test.expected.iter().zip(&definition.expect);
        let mut tolerances = tolerances
            .map(|(expected, stated)| expected.tolerance == stated.tolerance.unwrap_or_default());
        same(tolerances.all(|same| same), "tolerance");
    }
}

/// The project file says what the project's identity repeats.
fn settings(stored: &Evidence, found: &mut Verification) {
    let Some(settings) = &stored.campaign.settings else { return };
    let project = &stored.campaign.project;
    let criteria: Vec<&str> =
        settings.required_criteria().iter().map(|criterion| criterion.name()).collect();
    let same = project.name == settings.name
        && project.level == settings.level.to_string()
        && project.decision_policy == settings.decision_policy.name()
        && project.memory_model == settings.memory_model.name()
        && project.criteria == criteria;
    found
        .check(same, || "the identity of the project does not follow from its settings".to_owned());
}

fn schedules(stored: &Evidence, found: &mut Verification) {
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
fn verdicts(evidence: &Evidence, found: &mut Verification) {
    let codes = derive::codes(&evidence.kernels);
    for test in &evidence.campaign.tests {
        let observation = derive::observation(evidence.campaign.schema, test, &codes);
        flows(test, found);
        test.results.iter().for_each(|result| verdict(test, &observation, result, found));
    }
}

/// No test of a kernel that the profile refuses has run.
fn refused(evidence: &Evidence, found: &mut Verification) {
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
    observation: &Observation,
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
    match stored::judge(&test.expected, &outputs) {
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
fn judged_verdict(verdict: Verdict, observation: &Observation) -> Verdict {
    match (verdict, observation.says_nothing()) {
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
    let given = vkcert_requirement::trace::addressed(&test.definition);
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
fn follows(schedules: &ScheduleResult, result: &TestResult) -> bool {
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

/// Whether records count is for their test's verdict to say; whose they are, for the specialization
/// that it dispatches.
fn records(stored: &Evidence, found: &mut Verification) {
    let codes: Codes = derive::codes(&stored.kernels);
    for kernel in &stored.kernels {
        for row in kernel.records.iter().chain(&kernel.objects.records) {
            let test = stored.campaign.tests.iter().find(|test| test.id == row.test);
            let result = test
                .and_then(|test| test.results.iter().find(|result| result.engine == kernel.engine));
            let verdict = result.map(|result| result.verdict);
            let counts = test.is_some_and(|test| {
                let observation = derive::observation(stored.campaign.schema, test, &codes);
                let of = (&kernel.kernel, &kernel.configuration);
                derive::counts(row.verdict, &test.definition, &observation, of)
            });
            let right = verdict == Some(row.verdict) && row.counted == counts;
            found.check(right, || {
                format!(
                    "{} on {}: records of {} do not go with its verdict",
                    kernel.kernel, kernel.engine, row.test
                )
            });
            let dispatches = test.iter().flat_map(|test| &test.definition.dispatches);
            let mut dispatches = dispatches.filter(|dispatch| dispatch.kernel == kernel.kernel);
            found.check(
                dispatches
                    .any(|dispatch| derive::is_of(&kernel.configuration, &dispatch.specialization)),
                || {
                    let name = &kernel.configuration.name;
                    format!(
                        "{} on {}: {} never runs it under {name}",
                        kernel.kernel, kernel.engine, row.test
                    )
                },
            );
        }
    }
}

fn requirements(stored: &Evidence, found: &mut Verification) {
    let rows = &stored.campaign.requirements;
    let campaign = &stored.campaign;
    let verdicts = trace::verdicts(&campaign.tests);
    let rules = Generation::of(campaign);
    let code = derive::tested_code(campaign, &stored.kernels);
    let outcomes = outcomes(
        rows,
        Shown { verdicts: &verdicts, records: &campaign.records, code: &code },
        rules,
    );
    for row in &campaign.records {
        let uid = &row.record.requirement;
        let requirement =
            rows.iter().map(|row| &row.requirement).find(|requirement| requirement.uid == *uid);
        let fault =
            derive::record_fault(row.method, &row.record, requirement, &campaign.project.level);
        found.check(fault == row.rejected, || {
            format!("{} of {uid}: whether it is accepted", row.method)
        });
    }
    for row in rows {
        let uid = &row.requirement.uid;
        found.check(hash::requirement_hash(&row.requirement) == row.hash, || {
            format!("requirement {uid}: its content has another hash")
        });
        let follows = match rules {
            Generation::Second | Generation::Current => {
                outcomes.get(uid) == Some(&RequirementOutcome::stored(row))
            }
            Generation::First => {
                outcomes.get(uid).map(|outcome| outcome.status) == Some(row.status)
            }
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
fn compared(stored: &Evidence, found: &mut Verification) {
    let derivation = agreement::derive(stored);
    found.checked += derivation.checked;
    found.problems.extend(derivation.problems);
    found.not_derivable.extend(derivation.not_derivable);
    found.of_modules.extend(derivation.of_modules);
}

/// Whether the findings go with what else is stored.
fn findings(stored: &Evidence, found: &mut Verification) {
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

/// Coverage, justifications and the conclusion.
fn derived(stored: &Evidence, found: &mut Verification) {
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
        found.check(ours.not_reached == theirs.not_reached, || {
            format!("{name}: functions that are not reached")
        });
        found.check(ours.decisions.len() == theirs.decisions.len(), || {
            format!("{name}: number of decisions")
        });
        for (ours, theirs) in ours.decisions.iter().zip(&theirs.decisions) {
            found.check(ours == theirs, || format!("{name}: decision {}", theirs.id));
        }
        for (ours, theirs) in ours.summary.iter().zip(&theirs.summary) {
            found.check(ours == theirs, || {
                let shown = |row: &vkcert_model::coverage::CriterionSummary| {
                    format!("{}/{}", row.covered, row.total)
                };
                format!(
                    "{name}: {} is stored as {}, derived {}",
                    theirs.criterion,
                    shown(theirs),
                    shown(ours)
                )
            });
        }
    }
    found.check(campaign.justifications == stored.campaign.justifications, || {
        "justifications".to_owned()
    });
    let accepted = |campaign: &Campaign| {
        campaign
            .all_findings()
            .map(|(_, _, finding)| finding.acceptance.clone())
            .collect::<Vec<_>>()
    };
    found.check(accepted(&campaign) == accepted(&stored.campaign), || {
        "names of findings, or which of them are accepted".to_owned()
    });
    open_items(&mut campaign, &kernels, &stored.campaign, found);
    let conclusion = conclude(&campaign, &kernels);
    found.check(conclusion.exit_code == stored.campaign.conclusion.exit_code, || {
        format!(
            "exit code: stored {}, derived {}",
            stored.campaign.conclusion.exit_code, conclusion.exit_code
        )
    });
    found.check(conclusion.reasons == stored.campaign.conclusion.reasons, || {
        "reasons of the conclusion".to_owned()
    });
    found.check(conclusion.grounds == stored.campaign.conclusion.grounds, || {
        "grounds of the conclusion".to_owned()
    });
    found.check(conclusion.summary == stored.campaign.conclusion.summary, || {
        "summary of the conclusion".to_owned()
    });
}

/// Open items, notes and what was not looked for; format 1 holds none of them, nor the settings
/// that they follow from.
fn open_items(
    campaign: &mut Campaign,
    kernels: &[KernelEvidence],
    stored: &Campaign,
    found: &mut Verification,
) {
    found.check(campaign.settings.is_some() == (campaign.schema > 1), || {
        "the project file as it was read is missing".to_owned()
    });
    let left_out = campaign.requirements.iter().flat_map(|row| &row.left_out_tests);
    found.check(left_out.into_iter().all(|id| campaign.left_out.contains(id)), || {
        "tests that were left out".to_owned()
    });
    items::derive(campaign, kernels);
    found.check(campaign.open_items == stored.open_items, || "open items".to_owned());
    found.check(campaign.rejected_acceptances == stored.rejected_acceptances, || {
        "which acceptances of open items are rejected".to_owned()
    });
    found.check(campaign.notes == stored.notes, || "notes of page 1".to_owned());
    found.check(campaign.unsought == stored.unsought, || {
        "what findings were not looked for".to_owned()
    });
}
