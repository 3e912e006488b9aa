//! What `verify` says of evidence from two engines whose facts were forged, together with all that
//! follows from them.
//!
//! The second engine is forged, too: it left and recorded what the sequential one did.

use super::compiled::rebuild_project;
use super::forgery::{HonestEvidence, PROJECT, certified_folder_with, verify_forged};
use super::tests::{Facts, assert_told as assert_walk, walk};
use crate::campaign::verification;
use crate::model::agreement::AgreementOutcome;
use crate::model::evidence::{
    Agreement, EngineIdentity, Evidence, KernelEvidence, KernelFinding, OutputBytes, TestRecords,
    TestResult,
};
use crate::model::finding::{Finding, FindingKind};
use crate::model::finding_details::FindingDetails;
use crate::model::judged::JudgedMember;
use crate::model::records::{RecordMode, Recorded, Records, Witnesses};
use crate::model::verdict::EngineName;
use crate::verify::{RebuildOutcome, Replay, Verification, VerificationStatus, folder};
use base64::Engine as _;
use std::collections::BTreeMap;
use vkcert_sample as sample;

/// Evidence of both engines.
fn of_both_engines(project: &str) -> HonestEvidence {
    let (_kept, folder) = certified_folder_with(project, &["--engine", "sequential"]);
    let evidence = *folder::examine_files(&folder).unwrap().evidence.unwrap();
    let rebuilt = rebuild_project(&evidence, None);
    let honest = (evidence, rebuilt);
    let evidence = with_facts(&honest, add_a_device);
    (evidence, honest.1)
}

fn add_a_device(evidence: &mut Evidence) {
    let identity = [("device", "d"), ("device type", "cpu"), ("driver", "d"), ("driver info", "1")];
    let identity = identity.iter().chain(&[("maxComputeSharedMemorySize", "32768")]);
    let identity =
        identity.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    evidence.campaign.engines.push(EngineIdentity {
        engine: EngineName::Vulkan,
        ran: true,
        reason: None,
        identity,
    });
    for test in &mut evidence.campaign.tests {
        let left = test.results[0].clone();
        test.results.push(TestResult {
            engine: EngineName::Vulkan,
            findings: Vec::new(),
            notes: Vec::new(),
            race_scope: None,
            touched: Vec::new(),
            directed: Vec::new(),
            altered: Vec::new(),
            judged: Vec::<JudgedMember>::new(),
            idle: Vec::new(),
            rests_on_undefined: false,
            ..left
        });
        evidence
            .campaign
            .agreement
            .extend(test.kernels.iter().map(|kernel| sample::identical(&test.id, kernel)));
    }
    let bare = |row: &TestRecords| TestRecords {
        records: Records { words: row.records.words.clone(), ..Records::default() },
        ..row.clone()
    };
    let of_device = |row: &KernelEvidence| {
        let mut row = row.clone();
        row.engine = EngineName::Vulkan;
        row.recording =
            Some(Recorded { mode: RecordMode::Private, witnesses: Witnesses::Omitted, words: 1 });
        row.records = row.records.iter().map(bare).collect();
        row.objects.records = row.objects.records.iter().map(bare).collect();
        row.lowering.clear();
        row
    };
    let of_device: Vec<KernelEvidence> = evidence.kernels.iter().map(of_device).collect();
    evidence.kernels.extend(of_device);
}

/// The evidence with other facts, and all that follows from them.
fn with_facts(honest: &HonestEvidence, change: impl FnOnce(&mut Evidence)) -> Evidence {
    let RebuildOutcome::Whole(rebuilt) = &honest.1 else {
        panic!("the kernels are compiled by this program")
    };
    let mut facts = honest.0.clone();
    change(&mut facts);
    let derived =
        verification::derived_evidence(&facts, rebuilt, Replay::No, &mut Verification::default())
            .unwrap();
    derived.expect("facts that evidence follows from")
}

/// Takes the last vector that the device recorded of the first decision away; how sentences that
/// tell of it begin.
fn without_a_vector(evidence: &mut Evidence) -> String {
    let kernel =
        evidence.kernels.iter_mut().find(|row| row.engine == EngineName::Vulkan).expect("a device");
    let slot = kernel.layout.decisions[0].clone();
    let records = &mut kernel.records[0].records;
    let last =
        slot.vectors.iter().rev().find(|row| records.has(slot.base + row.sum)).expect("a vector");
    let bit = slot.base + last.sum;
    records.words[bit as usize / 32] &= !(1 << (bit % 32));
    records.witnesses.remove(&bit);
    let text = &kernel.structure.decision(slot.decision).text;
    format!("{} `{text}`: vector {} on sequential alone", slot.decision, last.vector.values)
}

fn first_row(evidence: &mut Evidence) -> &mut Agreement {
    &mut evidence.campaign.agreement[0]
}

fn assert_told(found: &Verification, sentence: &str) {
    assert_eq!(found.status(), VerificationStatus::NotVerified);
    assert!(
        found.problems.iter().any(|problem| problem.contains(sentence)),
        "{sentence}: {:?}",
        found.problems
    );
}

#[test]
fn a_vector_that_does_not_depend_on_the_schedule_is_not_excused_by_it() {
    let honest = of_both_engines(PROJECT);
    assert_eq!(verify_forged(&honest.0, &honest).problems, Vec::<String>::new());
    let forged = with_facts(&honest, |evidence| {
        let words = without_a_vector(evidence);
        first_row(evidence).coverage = AgreementOutcome::ScheduleDependent;
        first_row(evidence).left_open = vec![format!("{words}: it depends on the schedule")];
    });
    let found = verify_forged(&forged, &honest);
    assert_told(&found, "told, and does not follow from the module: D");
}

#[test]
fn bytes_that_do_not_depend_on_the_schedule_are_not_left_open() {
    let honest = of_both_engines(PROJECT);
    let forged = with_facts(&honest, |evidence| {
        let test = evidence
            .campaign
            .tests
            .iter_mut()
            .find(|test| test.id.as_str() == "TC-SCL-02")
            .expect("the test");
        let result = test
            .results
            .iter_mut()
            .find(|result| result.engine == EngineName::Vulkan)
            .expect("a device");
        let unjudged = base64::engine::general_purpose::STANDARD.encode([7; 16]);
        result.outputs.insert("summary".to_owned(), OutputBytes::Bytes(unjudged));
        let mut rows = evidence.campaign.agreement.iter_mut();
        let row = rows.find(|row| row.test.as_str() == "TC-SCL-02").expect("its row");
        row.outputs = AgreementOutcome::LeftOpen;
        row.left_open =
            vec!["sequential and vulkan: `summary` differs where no expectation looks".to_owned()];
    });
    assert_told(
        &verify_forged(&forged, &honest),
        "elements differ that the test does not leave open",
    );
}

/// Takes a vector that depends on the schedule from the device, and says so.
fn excused(evidence: &mut Evidence) {
    let words = without_a_vector(evidence);
    let row = first_row(evidence);
    row.coverage = AgreementOutcome::ScheduleDependent;
    row.left_open = vec![format!("{words}: it depends on the schedule")];
}

/// What agreement can be forged to say without a trace.
const AGREEMENT_FACTS: Facts = &[];

#[test]
fn every_forged_field_of_agreement_is_found_or_a_fact() {
    let (evidence, rebuilt) = of_both_engines("tests/projects/waiting");
    let evidence = with_facts(&(evidence, rebuilt), excused);
    let rebuilt = rebuild_project(&evidence, None);
    let walk = walk(&(evidence, rebuilt), AGREEMENT_FACTS, |path| path.contains("/agreement"));
    for field in ["/agreement/*/outputs", "/agreement/*/coverage", "/agreement/*/left_open/*"] {
        assert!(walk.fields.contains(field), "{field} was not forged: {:?}", walk.fields);
    }
    assert_walk(&walk, AGREEMENT_FACTS);
}

#[test]
fn what_depends_on_the_schedule_is_derived_and_told_as_nothing_else() {
    let honest = of_both_engines("tests/projects/waiting");
    let whole = verify_forged(&with_facts(&honest, excused), &honest);
    assert_eq!((whole.problems, whole.not_derivable), (Vec::new(), Vec::new()));
    let as_finding = with_facts(&honest, |evidence| {
        excused(evidence);
        let mut words = std::mem::take(&mut first_row(evidence).left_open).remove(0);
        first_row(evidence).coverage = AgreementOutcome::Different;
        let vector = words.split_off(words.find("vector ").expect("a vector"));
        let details = BTreeMap::from([
            ("decision".to_owned(), "D1".into()),
            ("vector".to_owned(), vector.split(' ').nth(1).expect("its values").into()),
            ("only_on".to_owned(), "sequential".into()),
        ]);
        let finding = Finding {
            details: FindingDetails::Stored(details),
            ..Finding::new(FindingKind::EngineDisagreement, "one engine alone")
        };
        let Agreement { test, kernel, .. } = first_row(evidence).clone();
        evidence.campaign.findings.push(KernelFinding {
            kernel,
            engine: None,
            test: Some(test),
            finding,
        });
    });
    assert_told(
        &verify_forged(&as_finding, &honest),
        "a finding, and by its module it depends on the schedule",
    );
    let with_another = with_facts(&honest, |evidence| {
        excused(evidence);
        first_row(evidence)
            .left_open
            .push("D1 `true`: vector F on vulkan alone: it depends on the schedule".to_owned());
    });
    assert_told(
        &verify_forged(&with_another, &honest),
        "told, and does not follow from the module: D1 `true`",
    );
    let untold = with_facts(&honest, |evidence| {
        excused(evidence);
        first_row(evidence).left_open[0].push_str(" of workgroups");
    });
    assert_told(&verify_forged(&untold, &honest), "told 0 times instead of 1: D1");
}
