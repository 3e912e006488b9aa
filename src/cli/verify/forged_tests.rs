//! Each kind of forgery by what `verify` says of it: with the project made again from the stored
//! inputs, and without, as of evidence that does not store them.
//!
//! Does not cover: every field (`tests` walks them all).

use super::compiled::{contents, rebuild};
use super::forgery::{Honest, certified, verified};
use crate::model::evidence::{
    CouplingCheck, Evidence, OutputBytes, RefusedKernel, RequirementStatus, TestResult,
};
use crate::model::finding::{Finding, FindingKind};
use crate::model::id::TestId;
use crate::model::schedule::{
    DirectedResult, MeasuredCode, Schedule, ScheduleResult, ScheduleStatus,
};
use crate::model::verdict::Verdict;
use crate::verify::{Options, Outcome, Verification, folder};
use serde_json::json;

type Change = fn(&mut Evidence);

/// A forgery with part of what is said of it.
struct Forgery {
    change: Change,
    told: &'static str,
}

const fn forged(change: Change, told: &'static str) -> Forgery {
    Forgery { change, told }
}

fn result(evidence: &mut Evidence) -> &mut TestResult {
    &mut evidence.campaign.tests[0].results[0]
}

/// The first test's findings are none; the third one has some.
fn finding(evidence: &mut Evidence) -> &mut Finding {
    let mut results = evidence.campaign.tests.iter_mut().flat_map(|test| &mut test.results);
    results.find_map(|result| result.findings.first_mut()).expect("a test with findings")
}

fn check(evidence: &mut Evidence) -> &mut CouplingCheck {
    let mut checks = evidence.campaign.coupling.iter_mut().flat_map(|row| &mut row.checks);
    checks.find(|check| check.status == "holds").expect("a check that holds")
}

fn schedules(
    evidence: &mut Evidence,
    status: ScheduleStatus,
    ran: &[Schedule],
    different: &[Schedule],
) {
    let (ran, different) = (ran.to_vec(), different.to_vec());
    result(evidence).schedules =
        Some(ScheduleResult { asked: 1, seed: 0, status, ran, different, reason: None });
}

fn schedule(text: &str) -> Schedule {
    text.parse().expect("a schedule")
}

/// Tells of an output that depends on the schedule, beside what the schedules showed.
fn dependent(evidence: &mut Evidence, named: &str) {
    let finding =
        Finding::new(FindingKind::ScheduleDependentOutput, "another order left other contents");
    let finding = match schedule(named).is_directed() {
        true => finding.detail("schedule", named),
        false => finding.detail("schedules", json!([named])),
    };
    result(evidence).findings.push(finding);
}

/// Tells of a directed schedule of the first test.
fn directed(evidence: &mut Evidence, named: &str, shown: u32, reason: Option<&str>) {
    let reason = reason.map(str::to_owned);
    result(evidence).directed =
        vec![DirectedResult { schedule: schedule(named), of: MeasuredCode::Source, shown, reason }];
}

/// Says that a directed schedule alone has set a bit.
fn shown(evidence: &mut Evidence, bit: u32) {
    evidence.kernels[0].records[0].records.directed.insert(bit, schedule(WAITERS));
}

const WAITERS: &str = "reversed+waiters-first";

/// Of schedules, where all but one thing goes together.
const OF_SCHEDULES: &[Forgery] = &[
    forged(
        |evidence| {
            dependent(evidence, "reversed");
            schedules(
                evidence,
                ScheduleStatus::Different,
                &[schedule("in-order+tiles:1")],
                &[schedule("reversed")],
            );
        },
        "what its schedules showed",
    ),
    forged(
        |evidence| {
            dependent(evidence, "reversed");
            schedules(
                evidence,
                ScheduleStatus::Equal,
                &[schedule("reversed")],
                &[schedule("reversed")],
            );
        },
        "what its schedules showed",
    ),
    forged(
        |evidence| {
            dependent(evidence, "reversed");
            schedules(evidence, ScheduleStatus::Equal, &[schedule("reversed")], &[]);
        },
        "what its schedules showed",
    ),
    forged(
        |evidence| {
            dependent(evidence, WAITERS);
            schedules(
                evidence,
                ScheduleStatus::Different,
                &[schedule("reversed")],
                &[schedule("reversed")],
            );
        },
        "what its schedules showed",
    ),
    forged(
        |evidence| {
            schedules(evidence, ScheduleStatus::NothingToPermute, &[schedule("reversed")], &[])
        },
        "what its schedules showed",
    ),
    forged(
        |evidence| schedules(evidence, ScheduleStatus::NotRun, &[schedule("reversed")], &[]),
        "what its schedules showed",
    ),
    forged(
        |evidence| {
            dependent(evidence, "in-order");
            schedules(
                evidence,
                ScheduleStatus::Different,
                &[schedule("reversed")],
                &[schedule("reversed")],
            );
        },
        "names schedules that are not among those that differ",
    ),
    forged(
        |evidence| directed(evidence, "reversed", 0, None),
        "what a directed schedule has shown",
    ),
    forged(|evidence| directed(evidence, WAITERS, 1, None), "what a directed schedule has shown"),
    forged(
        |evidence| directed(evidence, WAITERS, 1, Some("a race")),
        "what a directed schedule has shown",
    ),
    forged(
        |evidence| {
            directed(evidence, WAITERS, 0, None);
            result(evidence).schedule = Some(schedule("reversed"));
        },
        "what a directed schedule has shown",
    ),
    forged(
        |evidence| {
            directed(evidence, WAITERS, 0, None);
            result(evidence).verdict = Verdict::Fail;
        },
        "what a directed schedule has shown",
    ),
    forged(
        |evidence| shown(evidence, 0),
        "records of TC-SCL-01: what a directed schedule has shown",
    ),
    forged(
        |evidence| {
            shown(evidence, 0);
            directed(evidence, "reversed+waiters-first", 1, Some("a race"));
        },
        "records of TC-SCL-01: what a directed schedule has shown",
    ),
    forged(
        |evidence| {
            shown(evidence, 0);
            result(evidence).directed = vec![DirectedResult {
                schedule: schedule(WAITERS),
                of: MeasuredCode::Object,
                shown: 1,
                reason: None,
            }];
        },
        "records of TC-SCL-01: what a directed schedule has shown",
    ),
    forged(
        |evidence| {
            let words = evidence.kernels[0].records[0].records.words.len() as u32;
            shown(evidence, 32 * words);
            directed(evidence, WAITERS, 1, None);
        },
        "records of TC-SCL-01: what a directed schedule has shown",
    ),
];

/// What evidence says twice.
const SAID_TWICE: &[Forgery] = &[
    forged(
        |evidence| {
            let files = &mut evidence.kernels[0].structure.files;
            files
                .iter_mut()
                .find(|file| file.path.starts_with("inc/"))
                .expect("an include")
                .text
                .push('\n');
        },
        "the text of inc/scaled.glsl is not the input",
    ),
    forged(
        |evidence| evidence.kernels[0].objects.records[0].verdict = Verdict::Timeout,
        "records of TC-SCL-01 do not go with its verdict",
    ),
    forged(
        |evidence| evidence.kernels[0].records[0].verdict = Verdict::Timeout,
        "records of TC-SCL-01 do not go with its verdict",
    ),
    forged(
        |evidence| evidence.kernels[0].records[0].counted ^= true,
        "records of TC-SCL-01 do not go with its verdict",
    ),
    forged(
        |evidence| {
            let row = evidence.kernels[0].records[0].clone();
            evidence.kernels[1].records.push(row);
        },
        "TC-SCL-01 never runs it under",
    ),
    forged(
        |evidence| evidence.campaign.requirements[0].status = RequirementStatus::Verified,
        "requirement HLR-SCL-001: its status is not verified",
    ),
    forged(
        |evidence| evidence.campaign.requirements[1].hash.push('0'),
        "LLR-SCL-001: its content has another hash",
    ),
    forged(
        |evidence| drop(evidence.campaign.requirements[1].tests.pop()),
        "requirement LLR-SCL-001: its tests",
    ),
    forged(|evidence| evidence.campaign.justifications[0].rejected = None, "justifications"),
    forged(|evidence| evidence.campaign.justifications.clear(), "reasons of the conclusion"),
    forged(
        |evidence| schedules(evidence, ScheduleStatus::Equal, &[], &[]),
        "what its schedules showed",
    ),
    forged(
        |evidence| schedules(evidence, ScheduleStatus::NotRun, &[Schedule::IN_ORDER], &[]),
        "what its schedules showed",
    ),
    forged(
        |evidence| schedules(evidence, ScheduleStatus::Different, &[], &[]),
        "what its schedules showed",
    ),
    forged(
        |evidence| schedules(evidence, ScheduleStatus::Undetermined, &[], &[]),
        "what its schedules showed",
    ),
    forged(
        |evidence| {
            schedules(
                evidence,
                ScheduleStatus::Equal,
                &[schedule("reversed"), schedule("in-order+tiles:1")],
                &[],
            );
        },
        "what its schedules showed",
    ),
    forged(
        |evidence| schedules(evidence, ScheduleStatus::Equal, &[Schedule::IN_ORDER], &[]),
        "what its schedules showed",
    ),
    forged(
        |evidence| schedules(evidence, ScheduleStatus::Equal, &[schedule(WAITERS)], &[]),
        "what its schedules showed",
    ),
    forged(
        |evidence| schedules(evidence, ScheduleStatus::NotRun, &[], &[]),
        "what its schedules showed",
    ),
    forged(
        |evidence| {
            schedules(evidence, ScheduleStatus::Equal, &[schedule("reversed")], &[]);
            let told =
                result(evidence).schedules.clone().map(|told| ScheduleResult { seed: 1, ..told });
            evidence.campaign.tests[1].results[0].schedules = told;
        },
        "tests were asked for other schedules each",
    ),
    forged(
        |evidence| {
            directed(evidence, WAITERS, 0, None);
            let again = result(evidence).directed[0].clone();
            result(evidence).directed.push(again);
        },
        "its directed schedules are out of order",
    ),
    forged(
        |evidence| {
            schedules(
                evidence,
                ScheduleStatus::Different,
                &[Schedule::IN_ORDER],
                &[Schedule::IN_ORDER],
            )
        },
        "what its schedules showed",
    ),
    forged(
        |evidence| evidence.campaign.tests[0].results.clear(),
        "its results are not those of the engines",
    ),
    forged(|evidence| check(evidence).status = "fine".to_owned(), "coupling of scale"),
    forged(
        |evidence| check(evidence).counterexample = Some(Default::default()),
        "coupling of scale",
    ),
    forged(
        |evidence| check(evidence).status = "refuted".to_owned(),
        "findings of coupling do not go with its checks",
    ),
    forged(
        |evidence| {
            let finding = finding(evidence);
            finding.details.insert("same_value".to_owned(), json!(true));
            finding.details.insert("values".to_owned(), json!(["0x1", "0x2"]));
        },
        "contradicts its values",
    ),
    forged(
        |evidence| finding(evidence).configuration = Some("absent".to_owned()),
        "is of an unknown configuration",
    ),
    forged(
        |evidence| {
            let kernel = evidence.kernels[0].kernel.clone();
            evidence
                .campaign
                .project
                .profile
                .refused
                .push(RefusedKernel { kernel, reasons: Vec::new() });
        },
        "though its profile refuses scale",
    ),
    forged(
        |evidence| evidence.manifest.devices.push("d".to_owned()),
        "the manifest names other devices",
    ),
    forged(
        |evidence| evidence.campaign.project.date = Some("2026-1-01T00:00:00Z".to_owned()),
        "none of RFC 3339",
    ),
    forged(
        |evidence| drop(evidence.kernels.drain(..)),
        "there is no file of kernel scale on sequential",
    ),
    forged(
        |evidence| result(evidence).deciding_repetition = Some(1),
        "which of its repetitions gave the verdict",
    ),
    forged(
        |evidence| {
            result(evidence).repetitions = 2;
            result(evidence).verdict = Verdict::Fail;
            result(evidence).deciding_repetition = Some(3);
        },
        "which of its repetitions gave the verdict",
    ),
    forged(|evidence| result(evidence).repetitions = 2, "were not started equally often"),
    forged(
        |evidence| result(evidence).touched[0][0].binding = 77,
        "what it accessed is not what is bound",
    ),
    forged(
        |evidence| {
            let witnesses = &mut evidence.kernels[0].records[0].records.witnesses;
            *witnesses.values_mut().next().expect("a witness") = [0, 0, 1];
        },
        "a witness that is none of the test's invocations",
    ),
    forged(
        |evidence| {
            let witnesses = &mut evidence.kernels[0].objects.records[0].records.witnesses;
            *witnesses.values_mut().next().expect("a witness") = [4, 0, 0];
        },
        "a witness that is none of the test's invocations",
    ),
    forged(
        |evidence| {
            evidence.kernels[0].records[0].records.witnesses.pop_first();
        },
        "witnesses of other bits than were recorded",
    ),
    forged(
        |evidence| {
            let records = &mut evidence.kernels[0].records[0].records;
            let bit = records.words.len() as u32 * 32 - 1;
            *records.words.last_mut().expect("a word") |= 1 << 31;
            records.witnesses.insert(bit, [0, 0, 0]);
        },
        "a bit that stands for nothing",
    ),
    forged(
        |evidence| {
            let kernel = &mut evidence.kernels[0];
            let entry = kernel
                .structure
                .functions
                .iter()
                .find(|function| function.name == "main")
                .expect("an entry");
            let bit = kernel.layout.mark_bit(entry.entry_mark).expect("a mark");
            let records = &mut kernel.records[0].records;
            records.words[bit as usize / 32] &= !(1 << (bit % 32));
            records.witnesses.remove(&bit);
        },
        "the entry point was not entered",
    ),
    forged(
        |evidence| {
            let mut results = evidence.campaign.tests.iter_mut().flat_map(|test| &mut test.results);
            let result = results.find(|result| !result.findings.is_empty()).expect("findings");
            let twice = Finding { count: 7, ..result.findings[0].clone() };
            result.findings.insert(1, twice);
        },
        "stands twice",
    ),
    forged(|evidence| finding(evidence).count = 0, "that did not occur"),
    forged(
        |evidence| finding(evidence).invocations = vec![[9, 0, 0]],
        "of invocations that there are none of",
    ),
];

/// What else is derived of evidence without inputs.
const WITHOUT_INPUTS: &[Forgery] = &[
    forged(
        |evidence| result(evidence).verdict = Verdict::Fail,
        "test TC-SCL-01 on sequential: stored fail, derived pass",
    ),
    forged(
        |evidence| evidence.campaign.tests[0].flows[0].stores[0].to[0].buffer.push('x'),
        "what its dispatches store is not what is bound",
    ),
    forged(
        |evidence| evidence.kernels[0].coverage.decisions[0].text.push('x'),
        "scale on sequential: decision D1",
    ),
    forged(|evidence| evidence.kernels[0].coverage.summary[0].covered += 1, "is stored as"),
    forged(
        |evidence| {
            finding(evidence).acceptance.as_mut().expect("a name").justification =
                Some("j".to_owned())
        },
        "names of findings, or which of them are accepted",
    ),
    forged(|evidence| evidence.campaign.left_out.push(TestId::from("T")), "open items"),
    forged(
        |evidence| evidence.campaign.tests[0].kind = "robustness".to_owned(),
        "its kind does not follow",
    ),
    forged(|evidence| evidence.campaign.tests[0].title = None, "its title does not follow"),
    forged(
        |evidence| evidence.campaign.project.level = "D".to_owned(),
        "does not follow from its settings",
    ),
    forged(
        |evidence| evidence.campaign.not_looked_for.push(FindingKind::OutOfBounds),
        "a finding of a kind that was not looked for",
    ),
    forged(|evidence| evidence.campaign.conclusion.exit_code = 0, "exit code: stored 0, derived 1"),
];

/// What is derived again from the stored inputs.
const FROM_INPUTS: &[Forgery] = &[
    forged(
        |evidence| {
            let row = evidence.kernels[0].clone();
            evidence.kernels.push(row);
        },
        "is in the evidence, and nothing asks for it",
    ),
    forged(
        |evidence| drop(evidence.kernels[0].records.remove(0)),
        "its records of scale are missing",
    ),
    forged(
        |evidence| drop(evidence.kernels[0].objects.records.remove(0)),
        "its records of scale are missing",
    ),
    forged(
        |evidence| {
            drop(
                result(evidence)
                    .outputs
                    .insert("strange".to_owned(), OutputBytes::Bytes(String::new())),
            )
        },
        "its outputs are not the buffers of the test",
    ),
    forged(
        |evidence| {
            let hash = OutputBytes::Hash { sha256: "sha256:0".to_owned(), bytes: 16 };
            result(evidence).outputs.insert("values".to_owned(), hash);
        },
        "its outputs are not the buffers of the test",
    ),
    forged(
        |evidence| evidence.campaign.justifications[0].rejected = None,
        "campaign.json/justifications/0/rejected",
    ),
    forged(
        |evidence| evidence.campaign.requirements[0].status = RequirementStatus::Verified,
        "campaign.json/requirements/0/status",
    ),
    forged(
        |evidence| {
            let mut results = evidence.campaign.tests.iter_mut().flat_map(|test| &mut test.results);
            results
                .find(|result| result.verdict == Verdict::Fail)
                .expect("a failure")
                .mismatches
                .clear();
        },
        "/mismatches/0: not stored",
    ),
    forged(|evidence| evidence.kernels[0].records[0].counted ^= true, "/records/0/counted"),
    forged(
        |evidence| evidence.kernels[0].objects.records[0].counted ^= true,
        "/objects/records/0/counted",
    ),
];

fn honest() -> Honest {
    let (_kept, folder) = certified();
    let evidence = *folder::examine(&folder).unwrap().evidence.unwrap();
    let rebuilt = rebuild(&evidence, None);
    (evidence, rebuilt)
}

/// What is said of evidence whose inputs nobody has.
fn without_inputs(evidence: &Evidence) -> Vec<String> {
    let mut found = Verification::default();
    contents(evidence, &Outcome::Nothing(String::new()), &Options::default(), &mut found).unwrap();
    found.problems
}

fn assert_told(number: usize, told: &str, problems: &[String]) {
    assert!(
        problems.iter().any(|problem| problem.contains(told)),
        "{number}: {told}\n{}",
        problems.join("\n")
    );
}

#[test]
fn each_forgery_is_told_by_name() {
    let honest = honest();
    assert_eq!(verified(&honest.0, &honest).problems, Vec::<String>::new());
    assert_eq!(without_inputs(&honest.0), Vec::<String>::new());
    let with_inputs = |evidence: &Evidence| {
        let mut found = Verification::default();
        contents(evidence, &honest.1, &Options::default(), &mut found).unwrap();
        found.problems
    };
    for (number, Forgery { change, told }) in
        SAID_TWICE.iter().chain(OF_SCHEDULES).chain(WITHOUT_INPUTS).enumerate()
    {
        let mut evidence = honest.0.clone();
        change(&mut evidence);
        assert_ne!(evidence, honest.0, "{number}");
        assert_told(number, told, &without_inputs(&evidence));
        assert_ne!(with_inputs(&evidence), Vec::<String>::new(), "{number}");
    }
    for (number, Forgery { change, told }) in FROM_INPUTS.iter().enumerate() {
        let mut evidence = honest.0.clone();
        change(&mut evidence);
        assert_ne!(evidence, honest.0, "{number}");
        assert_told(number, told, &with_inputs(&evidence));
    }
}
