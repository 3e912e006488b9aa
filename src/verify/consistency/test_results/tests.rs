//! Verdicts, schedules and findings that contradict the outputs and definitions of tests.

use super::{schedules_follow, values_agree};
use crate::honest::{
    Forgery, assert_permitted, assert_told, assert_told_without_inputs, finding, honest,
    honest_with, result_of,
};
use serde_json::{Value, json};
use vkcert_model::evidence::{
    CheckStatus, CouplingEvidence, Evidence, KernelFinding, OutputBytes, RefusedKernel,
    StoredContents, TestResult,
};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::finding_details::{CouplingDetails, FindingDetails};
use vkcert_model::flow::BufferRange;
use vkcert_model::schedule::{ScheduleResult, ScheduleStatus};
use vkcert_model::verdict::{EngineName, Verdict};

fn first_result(evidence: &mut Evidence) -> &mut TestResult {
    result_of(evidence, 0, EngineName::Sequential)
}

/// A finding with details as evidence stores them.
fn stored_finding(kind: FindingKind, details: Value) -> Finding {
    let details = FindingDetails::Stored(serde_json::from_value(details).unwrap());
    Finding { details, ..finding(kind) }
}

#[test]
fn a_verdict_follows_from_what_the_test_left() {
    let forgeries = [
        Forgery::new(
            "a pass as a failure",
            |forged| first_result(forged).verdict = Verdict::Fail,
            "test T1 on sequential: stored fail, derived pass",
        ),
        Forgery::new(
            "a pass as a failure on the device",
            |forged| result_of(forged, 1, EngineName::Vulkan).verdict = Verdict::Fail,
            "test T2 on vulkan: stored fail, derived pass",
        ),
        Forgery::new(
            "contents that were left",
            |forged| {
                let contents = OutputBytes::Bytes("CQAAAAYAAAAHAAAAAAAAAA==".to_owned());
                first_result(forged).outputs.insert("o".to_owned(), contents);
            },
            "test T1 on sequential: stored pass, derived fail",
        ),
        Forgery::new(
            "contents that are no base64",
            |forged| {
                let contents = OutputBytes::Bytes("CQ*".to_owned());
                first_result(forged).outputs.insert("i".to_owned(), contents);
            },
            "test T1: buffer i is not base64: Invalid symbol 42, offset 2.",
        ),
        Forgery::new(
            "expected values",
            |forged| {
                let contents = &mut forged.campaign.tests[0].expected[0].contents;
                let StoredContents::Values(runs) = contents else { return };
                runs[0].bytes = "CQAAAAYAAAAHAAAAAAAAAA==".to_owned();
            },
            "test T1 on vulkan: stored pass, derived fail",
        ),
        Forgery::new(
            "alterations that nothing noticed",
            |forged| first_result(forged).altered[0].noticed = None,
            "test T1 on sequential: stored pass, derived undetermined",
        ),
    ];
    assert_told(&honest(), &forgeries);
    assert_told_without_inputs(&honest(), &forgeries);
}

#[test]
fn contents_of_which_only_the_hash_is_stored_are_not_judged() {
    let mut evidence = honest();
    let contents = OutputBytes::Hash { sha256: "sha256:0".to_owned(), bytes: 16 };
    first_result(&mut evidence).outputs.insert("o".to_owned(), contents);
    let verification = crate::honest::verified(&evidence);
    let of_test = |reason: &&String| reason.starts_with("test T1 on sequential: ");
    let reasons: Vec<_> = verification.not_derivable.iter().filter(of_test).collect();
    assert_eq!(reasons.len(), 1, "{:?}", verification.not_derivable);
}

#[test]
fn layouts_are_of_kernels_that_bind_the_buffer() {
    const OTHER_LAYOUT: &str = "test T1: the layouts of `o` are not of kernels that bind it";
    const NO_BUFFER: &str = "test T1: the layouts of `none` are not of kernels that bind it";
    fn add_layout(forged: &mut Evidence, buffer: &str, kernels: serde_json::Value) {
        let layout = serde_json::json!([{ "kernels": kernels, "members": [] }]);
        let layouts = &mut forged.campaign.tests[0].layouts;
        layouts.insert(buffer.to_owned(), serde_json::from_value(layout).unwrap());
    }
    let mut laid_out = honest();
    add_layout(&mut laid_out, "o", serde_json::json!(["guard"]));
    assert_told(
        &laid_out,
        &[
            Forgery::new(
                "another kernel",
                |forged| add_layout(forged, "o", serde_json::json!(["guard", "other"])),
                OTHER_LAYOUT,
            ),
            Forgery::new(
                "no kernel",
                |forged| add_layout(forged, "o", serde_json::json!([])),
                OTHER_LAYOUT,
            ),
            Forgery::new(
                "no layout",
                |forged| {
                    forged.campaign.tests[0].layouts.insert("o".to_owned(), Vec::new());
                },
                OTHER_LAYOUT,
            ),
            Forgery::new(
                "a buffer that the test does not have",
                |forged| add_layout(forged, "none", serde_json::json!(["guard"])),
                NO_BUFFER,
            ),
        ],
    );
}

#[test]
fn stores_are_to_and_from_buffers_that_a_dispatch_can_reach() {
    const OTHER_STORES: &str = "test T1: what its dispatches store is not what is bound to them";
    assert_told(
        &honest(),
        &[
            Forgery::new(
                "a flow without a dispatch",
                |forged| {
                    let flows = &mut forged.campaign.tests[0].flows;
                    flows.push(flows[0].clone());
                },
                OTHER_STORES,
            ),
            Forgery::new(
                "the kernel of a flow",
                |forged| forged.campaign.tests[0].flows[0].kernel = "other".into(),
                OTHER_STORES,
            ),
            Forgery::new(
                "where a store goes",
                |forged| {
                    let ranges = &mut forged.campaign.tests[0].flows[0].stores[0].to;
                    ranges.push(BufferRange { buffer: "p".to_owned(), offset: 0, bytes: 4 });
                },
                OTHER_STORES,
            ),
            Forgery::new(
                "where a store comes from",
                |forged| {
                    forged.campaign.tests[0].flows[0].stores[0].from[0].buffer = "p".to_owned();
                },
                OTHER_STORES,
            ),
        ],
    );
    // The device address of a buffer leads to it, too.
    let mut addressed = honest();
    let test = &mut addressed.campaign.tests[0];
    test.flows[0].stores[0].from[0].buffer = "p".to_owned();
    let address = json!([{ "address_of": "p" }]);
    test.definition.dispatches[0].push_constants = Some(serde_json::from_value(address).unwrap());
    let problems = crate::honest::verified(&addressed).problems;
    assert!(!problems.contains(&OTHER_STORES.to_owned()), "{problems:?}");
}

#[test]
fn no_test_of_a_refused_kernel_has_run() {
    const REFUSED: &str = "test T1 on sequential: pass though its profile refuses guard";
    fn refuse(forged: &mut Evidence, kernel: &str) {
        let refused = RefusedKernel { kernel: kernel.into(), reasons: Vec::new() };
        forged.campaign.project.profile.refused.push(refused);
    }
    let refusal = Forgery::new("a refusal", |forged| refuse(forged, "guard"), REFUSED);
    assert_told(&honest(), &[refusal]);
    assert_permitted(|facts| refuse(facts, "other"));
    for verdict in [Verdict::Unsupported, Verdict::NotRun] {
        let mut evidence = honest();
        refuse(&mut evidence, "guard");
        first_result(&mut evidence).verdict = verdict;
        let problems = crate::honest::verified(&evidence).problems;
        assert!(!problems.iter().any(|problem| problem.starts_with("test T1 on sequential")));
    }
}

fn coupling_check(name: &str, status: &str) -> Value {
    json!({ "check": name, "status": status, "message": "A sentence." })
}

/// An interface with a check that holds and one that is refuted, and the finding of that one.
fn coupled() -> Evidence {
    honest_with(|facts| {
        let row: CouplingEvidence = serde_json::from_value(json!({
            "kernel": "guard", "nodes": [], "edges": [],
            "checks": [
                coupling_check("local-size-match", "holds"),
                coupling_check("dispatch-covers-domain", "refuted"),
            ],
        }))
        .unwrap();
        facts.campaign.coupling.push(row);
        let details = CouplingDetails {
            check: "dispatch-covers-domain".into(),
            about: None,
            counterexample: None,
        };
        facts.campaign.findings.push(KernelFinding {
            kernel: "guard".into(),
            engine: None,
            test: None,
            finding: Finding::coupling("A sentence.".to_owned(), details),
        });
    })
}

#[test]
fn findings_of_coupling_are_its_refuted_checks() {
    const OTHER_CHECKS: &str = "findings of coupling do not go with its checks";
    assert_told_without_inputs(
        &coupled(),
        &[
            Forgery::new(
                "a counterexample of a check that holds",
                |forged| {
                    let check = &mut forged.campaign.coupling[0].checks[0];
                    check.counterexample = Some([("m".to_owned(), 1)].into());
                },
                "coupling of guard: local-size-match is holds",
            ),
            Forgery::new(
                "a counterexample of an undetermined check",
                |forged| {
                    let check = &mut forged.campaign.coupling[0].checks[0];
                    check.counterexample = Some([("m".to_owned(), 1)].into());
                    check.status = CheckStatus::Undetermined;
                },
                "coupling of guard: local-size-match is undetermined",
            ),
            Forgery::new(
                "a status that there is none of",
                |forged| {
                    let status = CheckStatus::Unknown("fine".to_owned());
                    forged.campaign.coupling[0].checks[0].status = status;
                },
                "coupling of guard: local-size-match is fine",
            ),
            Forgery::new(
                "a refuted check as if it held",
                |forged| forged.campaign.coupling[0].checks[1].status = CheckStatus::Holds,
                OTHER_CHECKS,
            ),
            Forgery::new(
                "a finding left out",
                |forged| forged.campaign.findings.clear(),
                OTHER_CHECKS,
            ),
            Forgery::new(
                "the sentence of a finding",
                |forged| forged.campaign.findings[0].finding.message.push('!'),
                OTHER_CHECKS,
            ),
            Forgery::new(
                "the kernel of a finding",
                |forged| forged.campaign.findings[0].kernel = "other".into(),
                OTHER_CHECKS,
            ),
        ],
    );
}

fn schedule_result(ran: &[&str], different: &[&str], status: ScheduleStatus) -> ScheduleResult {
    let parse = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
    ScheduleResult {
        asked: 2,
        seed: 7,
        status,
        ran: parse(ran),
        different: parse(different),
        reason: None,
    }
}

/// Evidence of a test in which the reversed order left other contents, and of one in which all
/// orders left the same.
fn scheduled() -> Evidence {
    honest_with(|facts| {
        let ran = ["reversed", "random:7:1"];
        let different = schedule_result(&ran, &["reversed"], ScheduleStatus::Different);
        let result = first_result(facts);
        result.schedules = Some(different);
        result.findings.push(stored_finding(
            FindingKind::ScheduleDependentOutput,
            json!({ "schedule": "reversed", "schedules": ["reversed"] }),
        ));
        result_of(facts, 1, EngineName::Sequential).schedules =
            Some(schedule_result(&ran, &[], ScheduleStatus::Equal));
    })
}

fn first_schedules(evidence: &mut Evidence) -> &mut ScheduleResult {
    first_result(evidence).schedules.as_mut().unwrap()
}

#[test]
fn what_schedules_showed_goes_with_findings_and_verdict() {
    assert_told(
        &scheduled(),
        &[
            Forgery::new(
                "how many schedules were asked for",
                |forged| first_schedules(forged).asked = 3,
                "tests were asked for other schedules each",
            ),
            Forgery::new(
                "what random orders are drawn from",
                |forged| first_schedules(forged).seed = 8,
                "tests were asked for other schedules each",
            ),
            Forgery::new(
                "a status",
                |forged| first_schedules(forged).status = ScheduleStatus::Equal,
                "test T1 on sequential: \
                 what its schedules showed (schedules: 2, seed 7, all equal)",
            ),
            Forgery::new(
                "the schedules that a finding names",
                |forged| {
                    first_result(forged).findings[0] = stored_finding(
                        FindingKind::ScheduleDependentOutput,
                        json!({ "schedule": "reversed", "schedules": ["reversed", "random:7:1"] }),
                    );
                },
                "test T1 on sequential: a finding schedule-dependent-output names schedules \
                 that are not among those that differ",
            ),
            Forgery::new(
                "a kind as if it had not been looked for",
                |forged| {
                    forged.campaign.not_looked_for.push(FindingKind::ScheduleDependentOutput);
                },
                "test T1 on sequential: a finding of a kind that was not looked for",
            ),
        ],
    );
}

/// Results of schedules, and whether they can be those of a test with such findings.
#[test]
fn the_status_of_schedules_follows_from_which_ran_and_which_differ() {
    use ScheduleStatus::{Different, Equal, NotRun, NothingToPermute, Undetermined};
    let with_reason =
        |result: ScheduleResult| ScheduleResult { reason: Some("why".to_owned()), ..result };
    let mut passed = honest();
    let mut passed = first_result(&mut passed).clone();
    let failed = TestResult { verdict: Verdict::Fail, ..passed.clone() };
    let dependent = |schedule: &str| TestResult {
        findings: vec![stored_finding(
            FindingKind::ScheduleDependentOutput,
            json!({ "schedule": schedule }),
        )],
        ..passed.clone()
    };
    let (reversed, directed) = (dependent("reversed"), dependent("in-order+waiters-first"));
    let all = ["reversed", "random:7:1"];
    let equal = schedule_result(&all, &[], Equal);
    let different = schedule_result(&all, &["reversed"], Different);
    let none_ran = |status| schedule_result(&[], &[], status);
    for (name, follows, schedules, result) in [
        ("all are equal", true, equal.clone(), &passed),
        ("all but a directed one are equal", true, equal.clone(), &directed),
        ("a finding, and all are equal", false, equal.clone(), &reversed),
        ("equal, and none ran", false, none_ran(Equal), &passed),
        (
            "equal, and one differs",
            false,
            ScheduleResult { status: Equal, ..different.clone() },
            &reversed,
        ),
        ("one differs", true, different.clone(), &reversed),
        ("one differs without a finding", false, different.clone(), &passed),
        ("a directed one alone shows that one differs", false, different.clone(), &directed),
        (
            "different, and none is",
            false,
            ScheduleResult { status: Different, ..equal.clone() },
            &passed,
        ),
        (
            "one differs that did not run",
            false,
            schedule_result(&all[1..], &["reversed"], Different),
            &reversed,
        ),
        (
            "more ran than were asked for",
            false,
            ScheduleResult { asked: 1, ..equal.clone() },
            &passed,
        ),
        ("undetermined", true, with_reason(none_ran(Undetermined)), &failed),
        ("undetermined without a reason", false, none_ran(Undetermined), &failed),
        ("undetermined, and the test passes", false, with_reason(none_ran(Undetermined)), &passed),
        ("nothing to permute", true, with_reason(none_ran(NothingToPermute)), &passed),
        ("nothing to permute without a reason", false, none_ran(NothingToPermute), &passed),
        ("not run", true, with_reason(none_ran(NotRun)), &passed),
        ("not run, and some ran", false, with_reason(schedule_result(&all, &[], NotRun)), &passed),
        ("the ordinary order", false, schedule_result(&["in-order"], &[], Equal), &passed),
        (
            "a directed schedule",
            false,
            schedule_result(&["in-order+waiters-first"], &[], Equal),
            &passed,
        ),
        ("one twice", false, schedule_result(&["reversed", "reversed"], &[], Equal), &passed),
    ] {
        assert_eq!(schedules_follow(&schedules, result), follows, "{name}");
    }
    // A finding of another kind says nothing of schedules.
    passed.findings.push(stored_finding(FindingKind::DataRace, json!({ "schedule": "reversed" })));
    assert!(schedules_follow(&equal, &passed));
}

#[test]
fn a_finding_agrees_with_the_rest_of_the_evidence() {
    let configured = honest_with(|facts| {
        let race = stored_finding(
            FindingKind::DataRace,
            json!({ "same_value": true, "accesses": ["write", "write"], "values": ["0x1", "0x1"] }),
        );
        let race = Finding { configuration: Some("default".to_owned()), ..race };
        first_result(facts).findings.push(race);
    });
    assert_told(
        &configured,
        &[
            Forgery::new(
                "the configuration of a finding",
                |forged| {
                    first_result(forged).findings[0].configuration = Some("N=2".to_owned());
                },
                "test T1 on sequential: a finding data-race is of an unknown configuration",
            ),
            Forgery::new(
                "the kernel of a finding",
                |forged| first_result(forged).findings[0].kernel = Some("other".into()),
                "test T1 on sequential: a finding data-race is of an unknown configuration",
            ),
            Forgery::new(
                "values of a finding",
                |forged| {
                    first_result(forged).findings[0] = stored_finding(
                        FindingKind::DataRace,
                        json!({ "same_value": true, "values": ["0x1", "0x2"] }),
                    );
                },
                "test T1 on sequential: a finding data-race contradicts its values",
            ),
        ],
    );
}

#[test]
fn a_race_of_one_value_is_between_two_writes_of_it() {
    for (agree, details) in [
        (true, json!({})),
        (true, json!({ "same_value": true })),
        (true, json!({ "same_value": true, "values": ["1", "1"], "accesses": ["write", "write"] })),
        (true, json!({ "same_value": true, "values": "1" })),
        (true, json!({ "same_value": false, "values": ["1", "2"] })),
        (false, json!({ "same_value": true, "values": ["1", "2"] })),
        (false, json!({ "same_value": true, "accesses": ["read", "write"] })),
        (false, json!({ "same_value": true, "values": ["1", "1"], "accesses": ["read", "write"] })),
        (
            false,
            json!({ "same_value": true, "values": ["1", "2"], "accesses": ["write", "write"] }),
        ),
    ] {
        let race = stored_finding(FindingKind::DataRace, details.clone());
        assert_eq!(values_agree(&race), agree, "{details}");
    }
}
