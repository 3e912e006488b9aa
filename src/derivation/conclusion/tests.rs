//! Each reason that the conclusion can give, by evidence that gives it and no other; and what gives
//! none.

use super::conclude;
use vkcert_model::criterion::CriterionName;
use vkcert_model::evidence::*;
use vkcert_model::finding::{Acceptance, Finding, FindingKind};
use vkcert_model::id::{FindingId, KernelName, ObligationId, RequirementId};
use vkcert_model::open_item::*;
use vkcert_model::requirement::{Justification, JustificationClass, JustificationSubject};
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_sample as sample;

/// Evidence that nothing stands against.
fn flawless() -> Evidence {
    sample::flawless()
}

type Change = fn(&mut Evidence);

struct Case {
    change: Change,
    reason: &'static str,
    exit: u8,
}

const fn case(change: Change, reason: &'static str, exit: u8) -> Case {
    Case { change, reason, exit }
}

fn verdict(evidence: &mut Evidence, verdict: Verdict) {
    let result = &mut evidence.campaign.tests[0].results[0];
    (result.verdict, result.reason) = (verdict, Some("why".to_owned()));
}

fn status(evidence: &mut Evidence, status: RequirementStatus) {
    evidence.campaign.requirements[1].status = status;
}

fn check(evidence: &mut Evidence, check: &str, status: CheckStatus) {
    let checks = vec![CouplingCheck {
        check: check.into(),
        status,
        message: "m".to_owned(),
        counterexample: None,
        accesses: None,
        subjects: Vec::new(),
    }];
    let kernel = evidence.kernels[0].kernel;
    evidence.campaign.coupling = vec![CouplingEvidence {
        headers: Vec::new(),
        captures: Vec::new(),
        kernel,
        definition: None,
        nodes: Vec::new(),
        edges: Vec::new(),
        checks,
    }];
}

fn finding(evidence: &mut Evidence, justification: Option<&str>) {
    let mut finding = Finding::new(FindingKind::DataRace, "m");
    finding.acceptance = Some(Acceptance {
        id: FindingId::from("data-race@S1,S1".to_owned()),
        subject: None,
        content: "c".to_owned(),
        hash: "h".to_owned(),
        justification: justification.map(str::to_owned),
    });
    evidence.campaign.tests[0].results[0].findings.push(finding);
}

/// One statement fewer covered.
fn uncovered(evidence: &mut Evidence) {
    let row = &mut evidence.kernels[0].coverage.summary[0];
    assert_eq!(row.criterion, CriterionName::Statement);
    (row.covered, row.uncovered) = (row.covered - 1, row.uncovered + 1);
}

fn undetermined(evidence: &mut Evidence) {
    let row = &mut evidence.kernels[0].coverage.summary[0];
    (row.covered, row.undetermined) = (row.covered - 1, row.undetermined + 1);
}

fn device_ran(evidence: &mut Evidence) {
    evidence.campaign.engines[1].ran = true;
}

fn item(evidence: &mut Evidence, acceptance: Option<ItemApproval>) {
    let item = OpenItem::new(OpenItemKind::ValidationOff, None, Acceptability::ByProject, "s");
    evidence.campaign.open_items.push(OpenItem { acceptance, ..item });
}

fn approval() -> ItemApproval {
    ItemApproval { reason: "r".to_owned(), author: "a".to_owned(), approver: "b".to_owned() }
}

fn justification(evidence: &mut Evidence, rejected: Option<&str>) {
    evidence.campaign.justifications.push(JustificationEvidence {
        justification: Justification {
            kernel: KernelName::from("matmul_naive"),
            subject: JustificationSubject::Obligation(ObligationId::from("S1")),
            configuration: None,
            class: JustificationClass::Analysis,
            reason: "r".to_owned(),
            category: None,
            means: None,
            argument: None,
            author: "a".to_owned(),
            approver: "b".to_owned(),
            date: None,
            hash: "h".to_owned(),
        },
        file: "f".to_owned(),
        rejected: rejected.map(str::to_owned),
        not_judged: None,
    });
}

const CASES: &[Case] = &[
    case(
        |evidence| {
            let reasons = vec!["Int64".to_owned(), "Float64".to_owned()];
            let refused = &mut evidence.campaign.project.profile.refused;
            refused.push(RefusedKernel { kernel: "k".into(), reasons });
        },
        "kernel k is refused by the profile vulkan: Int64; Float64",
        4,
    ),
    case(|evidence| evidence.campaign.tests.clear(), "the project has no test", 1),
    case(|evidence| evidence.campaign.requirements.clear(), "the project has no requirement", 1),
    case(|evidence| verdict(evidence, Verdict::Fail), "test TC-MM-01 on sequential: fail: why", 1),
    case(
        |evidence| verdict(evidence, Verdict::Error),
        "test TC-MM-01 on sequential: error: why",
        1,
    ),
    case(
        |evidence| verdict(evidence, Verdict::Timeout),
        "test TC-MM-01 on sequential: timeout: why",
        1,
    ),
    case(
        |evidence| verdict(evidence, Verdict::Undetermined),
        "test TC-MM-01 on sequential: undetermined: why",
        1,
    ),
    case(
        |evidence| verdict(evidence, Verdict::Unsupported),
        "test TC-MM-01 on sequential: unsupported: why",
        4,
    ),
    case(
        |evidence| status(evidence, RequirementStatus::Untested),
        "requirement LLR-MM-001 is untested",
        1,
    ),
    case(
        |evidence| status(evidence, RequirementStatus::Failed),
        "requirement LLR-MM-001 is not met by its tests",
        1,
    ),
    case(|evidence| status(evidence, RequirementStatus::Open), "requirement LLR-MM-001 is open", 1),
    case(
        |evidence| evidence.campaign.requirements[1].suspect_parents.push("HLR-MM-001".into()),
        "link LLR-MM-001 -> HLR-MM-001 is suspect: HLR-MM-001 has changed",
        1,
    ),
    case(
        |evidence| evidence.campaign.requirements[1].code[0].found = false,
        "requirement LLR-MM-001 names glsl/matmul_naive.comp:main, which does not exist",
        1,
    ),
    case(uncovered, "matmul_naive on sequential: 1 of 8 statement obligations not covered", 1),
    case(
        undetermined,
        "matmul_naive on sequential: 1 of 8 statement obligations not covered, 1 of them undetermined",
        1,
    ),
    case(|evidence| finding(evidence, None), "1 data-race finding", 1),
    case(
        |evidence| check(evidence, "buffer-size", CheckStatus::Undetermined),
        "coupling of matmul_naive: buffer-size is undetermined: m",
        1,
    ),
    case(
        |evidence| {
            device_ran(evidence);
            check(evidence, "device-limits", CheckStatus::Undetermined);
        },
        "coupling of matmul_naive: device-limits is undetermined: m",
        1,
    ),
    case(
        |evidence| justification(evidence, Some("stale")),
        "justification of matmul_naive S1: stale",
        1,
    ),
    case(|evidence| item(evidence, None), "open item validation-off: s", 1),
    case(
        |evidence| {
            let rejected = RejectedAcceptance {
                item: "validation-off".to_owned(),
                reason: "not needed".to_owned(),
            };
            evidence.campaign.rejected_acceptances.push(rejected);
        },
        "acceptance of validation-off: not needed",
        1,
    ),
];

#[test]
fn each_reason_is_given_by_what_it_names_and_alone() {
    for Case { change, reason, exit } in CASES {
        let mut evidence = flawless();
        change(&mut evidence);
        let conclusion = conclude(&evidence.campaign, &evidence.kernels);
        assert_eq!((conclusion.reasons, conclusion.exit_code), (vec![(*reason).to_owned()], *exit));
    }
}

/// Every reason has its ground beside it, so that nobody has to read sentences; evidence of version
/// 0.1.0 has none.
#[test]
fn each_reason_has_its_ground() {
    for Case { change, reason, .. } in CASES {
        let mut evidence = flawless();
        change(&mut evidence);
        let conclusion = conclude(&evidence.campaign, &evidence.kernels);
        assert_eq!(conclusion.grounds.len(), 1, "{reason}");
        let about = &conclusion.grounds[0].about;
        assert!(
            reason.contains(about.as_str())
                && about.is_empty() == reason.starts_with("the project has no "),
            "{about}"
        );
        evidence.campaign.project.tool_version = "0.1.0".to_owned();
        let earlier = conclude(&evidence.campaign, &evidence.kernels);
        assert_eq!((earlier.reasons, earlier.grounds), (conclusion.reasons, Vec::new()));
    }
}

#[test]
fn what_is_accepted_not_run_or_not_asked_for_gives_no_reason() {
    let changes: &[Change] = &[
        |_| {},
        |evidence| verdict(evidence, Verdict::NotRun),
        |evidence| status(evidence, RequirementStatus::ByOtherMeans),
        |evidence| finding(evidence, Some("analysis: r")),
        |evidence| check(evidence, "device-limits", CheckStatus::Undetermined),
        |evidence| check(evidence, "buffer-size", CheckStatus::Holds),
        |evidence| justification(evidence, None),
        |evidence| item(evidence, Some(approval())),
        |evidence| {
            uncovered(evidence);
            evidence.campaign.project.criteria.retain(|name| *name != CriterionName::Statement);
        },
    ];
    for (index, change) in changes.iter().enumerate() {
        let mut evidence = flawless();
        change(&mut evidence);
        let conclusion = conclude(&evidence.campaign, &evidence.kernels);
        assert_eq!((conclusion.reasons, conclusion.exit_code), (Vec::new(), 0), "{index}");
    }
}

/// Of every list the last member counts like the first.
#[test]
fn what_stands_last_counts() {
    let conclusion = |change: Change| {
        let mut evidence = flawless();
        change(&mut evidence);
        conclude(&evidence.campaign, &evidence.kernels).reasons
    };
    let of_results = conclusion(|evidence| {
        let results = &mut evidence.campaign.tests.last_mut().unwrap().results;
        let engine = EngineName::Vulkan;
        let failed =
            TestResult { engine, verdict: Verdict::Fail, reason: None, ..results[0].clone() };
        results.truncate(1);
        results.push(failed);
    });
    assert!(of_results.iter().any(|reason| reason.ends_with("on vulkan: fail")), "{of_results:?}");
    let of_profile = conclusion(|evidence| {
        let refused = |kernel: &str| RefusedKernel {
            kernel: kernel.into(),
            reasons: vec!["Int64".to_owned()],
        };
        evidence.campaign.project.profile.refused = vec![refused("j"), refused("k")];
    });
    assert_eq!(of_profile.len(), 2);
    let of_justifications = conclusion(|evidence| {
        justification(evidence, None);
        justification(evidence, Some("stale"));
    });
    assert_eq!(of_justifications, ["justification of matmul_naive S1: stale"]);
    let of_code = conclusion(|evidence| {
        let code = &mut evidence.campaign.requirements[1].code;
        code.push(CodeTrace {
            file: "f".to_owned(),
            symbol: None,
            line: None,
            found: false,
            kernels: Vec::new(),
        });
    });
    assert_eq!(of_code, ["requirement LLR-MM-001 names f, which does not exist"]);
    let of_links = conclusion(|evidence| {
        let links = &mut evidence.campaign.requirements.last_mut().unwrap().suspect_parents;
        links.extend(["P", "Q"].map(RequirementId::from));
    });
    assert_eq!(of_links.len(), 2);
}

/// A failure goes before what is not available.
#[test]
fn of_several_reasons_the_graver_decides_and_all_are_told() {
    let mut evidence = flawless();
    verdict(&mut evidence, Verdict::Unsupported);
    status(&mut evidence, RequirementStatus::Failed);
    let conclusion = conclude(&evidence.campaign, &evidence.kernels);
    assert_eq!((conclusion.reasons.len(), conclusion.exit_code), (2, 1));
}

/// Barriers are told on the sequential engine alone; there they count.
#[test]
fn an_engine_that_cannot_tell_of_a_criterion_leaves_it_to_the_other_one() {
    let mut evidence = flawless();
    evidence.campaign.project.criteria.push(CriterionName::Barrier.into());
    let row = |covered, undetermined| vkcert_model::coverage::CriterionSummary {
        criterion: CriterionName::Barrier.into(),
        total: 1,
        covered,
        justified: 0,
        uncovered: 0,
        undetermined,
    };
    evidence.kernels[0].coverage.summary.push(row(1, 0));
    let mut device = evidence.kernels[0].clone();
    device.engine = EngineName::Vulkan;
    *device.coverage.summary.last_mut().unwrap() = row(0, 1);
    evidence.kernels.push(device.clone());
    assert_eq!(conclude(&evidence.campaign, &evidence.kernels).exit_code, 0);
    let alone = conclude(&evidence.campaign, std::slice::from_ref(&device));
    let reason =
        "matmul_naive on vulkan: 1 of 1 barrier obligations not covered, 1 of them undetermined";
    assert_eq!((alone.reasons, alone.exit_code), (vec![reason.to_owned()], 1));
    // Of another configuration it tells nothing.
    let mut other = evidence.kernels[0].clone();
    other.configuration.name = "other".to_owned();
    assert_eq!(conclude(&evidence.campaign, &[other, device]).reasons.len(), 1);
}

/// What several tests and engines show of a kernel is one finding.
#[test]
fn equal_findings_count_once() {
    let mut evidence = flawless();
    finding(&mut evidence, None);
    finding(&mut evidence, None);
    let told = conclude(&evidence.campaign, &evidence.kernels).reasons;
    assert_eq!(told, ["1 data-race finding"]);
    let other = Finding::new(FindingKind::DataRace, "another");
    evidence.campaign.tests[1].results[0].findings.push(other);
    let told = conclude(&evidence.campaign, &evidence.kernels).reasons;
    assert_eq!(told, ["2 data-race findings"]);
}

#[test]
fn equal_findings_of_two_configurations_are_two() {
    let mut evidence = flawless();
    finding(&mut evidence, None);
    finding(&mut evidence, None);
    evidence.campaign.tests[0].results[0].findings[1].configuration = Some("other".to_owned());
    assert_eq!(conclude(&evidence.campaign, &evidence.kernels).reasons, ["2 data-race findings"]);
}
