//! Each kind of forgery by what `verify` says of it: with the project made again from the stored
//! inputs, and without, as of evidence that does not store them.
//!
//! Does not cover: every field (`tests` walks them all).

mod said_twice;
mod schedules;

use self::said_twice::SAID_TWICE;
use self::schedules::OF_SCHEDULES;
use crate::cli::verify::compiled::{rebuild_project, verify_contents};
use crate::cli::verify::forgery::{HonestEvidence, certified_folder, verify_forged};
use crate::model::evidence::{Evidence, OutputBytes, RequirementStatus, TestResult};
use crate::model::finding::{Finding, FindingKind};
use crate::model::id::TestId;
use crate::model::procedure::TestKind;
use crate::model::project::SoftwareLevel;
use crate::model::verdict::Verdict;
use crate::verify::{RebuildOutcome, Verification, VerificationOptions, folder};

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
        |evidence| evidence.campaign.tests[0].kind = TestKind::Robustness,
        "its kind does not follow",
    ),
    forged(|evidence| evidence.campaign.tests[0].title = None, "its title does not follow"),
    forged(
        |evidence| evidence.campaign.project.level = SoftwareLevel::D,
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

fn honest() -> HonestEvidence {
    let (_kept, folder) = certified_folder();
    let evidence = *folder::examine_files(&folder).unwrap().evidence.unwrap();
    let rebuilt = rebuild_project(&evidence, None);
    (evidence, rebuilt)
}

/// What is said of evidence whose inputs nobody has.
fn without_inputs(evidence: &Evidence) -> Vec<String> {
    let mut found = Verification::default();
    verify_contents(
        evidence,
        &RebuildOutcome::WithoutInputs(String::new()),
        &VerificationOptions::default(),
        &mut found,
    )
    .unwrap();
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
    assert_eq!(verify_forged(&honest.0, &honest).problems, Vec::<String>::new());
    assert_eq!(without_inputs(&honest.0), Vec::<String>::new());
    let with_inputs = |evidence: &Evidence| {
        let mut found = Verification::default();
        verify_contents(evidence, &honest.1, &VerificationOptions::default(), &mut found).unwrap();
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
