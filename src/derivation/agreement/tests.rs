//! Rows of the comparison against outputs, records and findings that do not fit them.

use super::derive_agreement;
use crate::agreement::difference::mark_words;
use base64::Engine as _;
use vkcert_model::agreement::AgreementOutcome;
use vkcert_model::evidence::{
    Evidence, ExpectedRun, KernelFinding, OutputBytes, StoredContents, StoredExpectation,
    TestResult,
};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::finding_details::{DisagreementDetails, EngineComparison, MarkDisagreement};
use vkcert_model::image::ImageFormat;
use vkcert_model::procedure::Tolerance;
use vkcert_model::structure::MarkIndex;
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_sample as sample;

const TEST: &str = "TC-MM-01";

/// Evidence of one test on both engines that left the same.
fn agreed() -> Evidence {
    let mut evidence = sample::evidence();
    evidence.campaign.tests.retain(|test| test.id.as_str() == TEST);
    evidence.campaign.agreement.retain(|row| row.test.as_str() == TEST);
    evidence.campaign.findings.clear();
    evidence.campaign.tests[0].kernels = vec![evidence.campaign.agreement[0].kernel];
    evidence.campaign.tests[0].expected = vec![StoredExpectation {
        buffer: "out".to_owned(),
        format: None,
        tolerance: Tolerance::default(),
        record: None,
        contents: StoredContents::Values(Vec::new()),
    }];
    for engine in [EngineName::Sequential, EngineName::Vulkan] {
        result(&mut evidence, engine).verdict = Verdict::Pass;
        left(&mut evidence, engine, &[1, 2, 3, 4]);
    }
    let sequential =
        evidence.kernels.iter().find(|row| row.engine == EngineName::Sequential).cloned();
    let sequential = sequential.expect("a kernel on the sequential engine");
    for row in evidence.kernels.iter_mut().filter(|row| row.kernel == sequential.kernel) {
        row.records.clone_from(&sequential.records);
        row.records.iter_mut().for_each(|records| records.records.words = vec![1]);
        row.layout.bits = 2;
    }
    evidence
}

/// Every byte of the buffer is judged.
fn equals_another_buffer() -> StoredContents {
    let (buffer, scalar) = ("in".to_owned(), "uint".to_owned());
    StoredContents::EqualsBuffer { buffer, scalar, offset: 0, length: None }
}

fn result(evidence: &mut Evidence, engine: EngineName) -> &mut TestResult {
    let mut results = evidence.campaign.tests[0].results.iter_mut();
    results.find(|result| result.engine == engine).expect("a result of each engine")
}

fn left(evidence: &mut Evidence, engine: EngineName, bytes: &[u8]) {
    let text = base64::engine::general_purpose::STANDARD.encode(bytes);
    result(evidence, engine).outputs = [("out".to_owned(), OutputBytes::Bytes(text))].into();
}

/// Problems that name the test's row.
fn problems(change: impl FnOnce(&mut Evidence)) -> Vec<String> {
    let mut evidence = agreed();
    change(&mut evidence);
    derive_agreement(&evidence).problems
}

fn assert_told(problems: &[String], sentence: &str) {
    assert!(problems.iter().any(|problem| problem.contains(sentence)), "{sentence}: {problems:?}");
}

#[test]
fn engines_that_left_the_same_agree() {
    assert_eq!(problems(|_| {}), Vec::<String>::new());
    assert_told(
        &problems(|evidence| evidence.campaign.agreement[0].outputs = AgreementOutcome::Different),
        "are the same",
    );
}

#[test]
fn outputs_that_differ_are_told_as_nothing_else() {
    let told = |outcome: AgreementOutcome| {
        problems(|evidence| {
            left(evidence, EngineName::Vulkan, &[1, 2, 3, 5]);
            evidence.campaign.agreement[0].outputs = outcome;
        })
    };
    assert_told(&told(AgreementOutcome::Identical), "stored identical, the stored outputs differ");
    assert_told(
        &told(AgreementOutcome::NotCompared),
        "outputs are stored on both engines, and told as not compared",
    );
    assert_told(&told(AgreementOutcome::ScheduleDependent), "and told as schedule-dependent");
    assert_told(&told(AgreementOutcome::Different), "a difference without a finding");
    assert_told(&told(AgreementOutcome::WithinErrorBounds), "within-error-bounds without bounds");
    let with_finding = problems(|evidence| {
        left(evidence, EngineName::Vulkan, &[1, 2, 3, 5]);
        let row = &mut evidence.campaign.agreement[0];
        row.outputs = AgreementOutcome::Different;
        let finding = Finding::new(FindingKind::EngineDisagreement, "out[3]");
        let (kernel, test) = (row.kernel, Some(row.test));
        evidence.campaign.findings.push(KernelFinding { kernel, engine: None, test, finding });
    });
    assert_eq!(with_finding, Vec::<String>::new());
}

#[test]
fn a_tolerance_covers_what_both_engines_meet_with_it_alone() {
    let told = |verdict: Verdict, abs: Option<f64>| {
        problems(|evidence| {
            left(evidence, EngineName::Vulkan, &[1, 2, 3, 5]);
            result(evidence, EngineName::Vulkan).verdict = verdict;
            evidence.campaign.agreement[0].outputs = AgreementOutcome::WithinTolerance;
            for expected in &mut evidence.campaign.tests[0].expected {
                expected.tolerance = Tolerance { abs, ..Tolerance::default() };
                expected.contents = equals_another_buffer();
            }
        })
    };
    assert_eq!(told(Verdict::Pass, Some(1.0)), Vec::<String>::new());
    assert_told(&told(Verdict::Pass, None), "no tolerance that both engines meet");
    assert_told(&told(Verdict::Fail, Some(1.0)), "no tolerance that both engines meet");
}

/// A tolerance at one place excuses nothing at another, of texels nothing in another texel.
#[test]
fn a_tolerance_covers_what_it_judges_alone() {
    let told = |judged_offset: u64, format: Option<ImageFormat>, left_open: Option<&str>| {
        problems(|evidence| {
            left(evidence, EngineName::Vulkan, &[1, 2, 3, 5]);
            let row = &mut evidence.campaign.agreement[0];
            row.outputs = AgreementOutcome::WithinTolerance;
            row.left_open.extend(left_open.map(str::to_owned));
            let expected = &mut evidence.campaign.tests[0].expected[0];
            expected.tolerance = Tolerance { abs: Some(1.0), ..Tolerance::default() };
            expected.format = format;
            let run = ExpectedRun {
                offset: judged_offset,
                scalar: "uint".to_owned(),
                bytes: base64::engine::general_purpose::STANDARD.encode([0; 4]),
            };
            expected.contents = StoredContents::Values(vec![run]);
        })
    };
    let unjudged = "buffer out differs at byte 3, which nothing with a tolerance judges";
    assert_eq!(told(0, None, None), Vec::<String>::new());
    assert_told(&told(4, None, None), unjudged);
    // The fourth texel of a byte each, of whose decoded components each has four bytes.
    assert_eq!(told(12, Some(ImageFormat::R8), None), Vec::<String>::new());
    assert_told(&told(0, Some(ImageFormat::R8), None), unjudged);
    let note = "sequential and vulkan: `out` differs where the test judges nothing";
    assert_eq!(told(4, None, Some(note)), Vec::<String>::new());
}

#[test]
fn vectors_of_one_engine_alone_are_a_difference() {
    let told = |outcome: AgreementOutcome| {
        problems(|evidence| {
            let mut rows =
                evidence.kernels.iter_mut().filter(|row| row.engine == EngineName::Vulkan);
            let row =
                rows.find(|row| row.records.iter().any(|records| records.test.as_str() == TEST));
            let records = row.expect("records of the device").records.iter_mut();
            records.for_each(|row| row.records.words[0] ^= 2);
            evidence.campaign.agreement[0].coverage = outcome;
        })
    };
    assert_told(&told(AgreementOutcome::Identical), "stored coverage identical, derived different");
    assert_told(
        &told(AgreementOutcome::NotCompared),
        "stored coverage not compared, derived different",
    );
    assert_told(&told(AgreementOutcome::Different), "a difference without a finding");
    assert_eq!(told(AgreementOutcome::ScheduleDependent), Vec::<String>::new());
    assert_told(
        &told(AgreementOutcome::UndefinedValue),
        "undefined values without a finding that tells of one",
    );
    let with_finding = problems(|evidence| {
        let mut rows = evidence.kernels.iter_mut().filter(|row| row.engine == EngineName::Vulkan);
        let row = rows.find(|row| row.records.iter().any(|records| records.test.as_str() == TEST));
        row.expect("records of the device")
            .records
            .iter_mut()
            .for_each(|row| row.records.words[0] ^= 2);
        evidence.campaign.agreement[0].coverage = AgreementOutcome::UndefinedValue;
        let finding =
            Finding::new(FindingKind::UninitializedRead, "an uninitialised value is used here");
        result(evidence, EngineName::Sequential).findings.push(finding);
    });
    assert_eq!(with_finding, Vec::<String>::new());
}

#[test]
fn what_one_engine_alone_recorded_is_a_finding_or_left_open() {
    let told = |coverage: AgreementOutcome, found: Option<u32>, open: Option<&str>| {
        problems(|evidence| {
            for row in &mut evidence.kernels {
                row.layout.marks = vec![0, 1];
                let of_device = row.engine == EngineName::Vulkan;
                let records = row
                    .records
                    .iter_mut()
                    .filter(|records| of_device && records.test.as_str() == TEST);
                records.for_each(|row| row.records.words[0] ^= 2);
            }
            let undefined =
                Finding::new(FindingKind::UninitializedRead, "an uninitialised value is used here");
            result(evidence, EngineName::Sequential).findings.push(undefined);
            let row = &mut evidence.campaign.agreement[0];
            row.coverage = coverage;
            row.left_open.extend(open.map(str::to_owned));
            let (kernel, test) = (row.kernel, Some(row.test));
            let finding = |mark: u32| {
                let details = DisagreementDetails::Mark(MarkDisagreement {
                    comparison: EngineComparison::SequentialWithVulkan,
                    mark: MarkIndex(mark),
                    text: "a mark".to_owned(),
                    only_on: EngineName::Vulkan,
                    undefined_values: None,
                });
                let finding = Finding::engine_disagreement("a mark".to_owned(), details);
                KernelFinding { kernel, engine: None, test, finding }
            };
            evidence.campaign.findings.extend(found.map(finding));
        })
    };
    let evidence = agreed();
    let mut rows = evidence.kernels.iter();
    let row =
        rows.find(|row| row.kernel == evidence.campaign.agreement[0].kernel).expect("its kernel");
    let line = format!(
        "{}: {} on vulkan alone: it follows",
        row.kernel,
        mark_words(&row.structure, MarkIndex(1))
    );
    let (different, undefined) = (AgreementOutcome::Different, AgreementOutcome::UndefinedValue);
    assert_eq!(told(different, Some(1), None), Vec::<String>::new());
    assert_eq!(told(undefined, None, Some(&line)), Vec::<String>::new());
    assert_told(&told(different, Some(0), None), "no finding tells of it, and it is not left open");
    assert_told(
        &told(undefined, None, Some("another line")),
        "no finding tells of it, and it is not left open",
    );
    assert_told(&told(undefined, Some(1), Some(&line)), "a finding, and coverage undefined-value");
}

#[test]
fn a_test_that_ended_on_both_engines_has_its_row() {
    assert_told(
        &problems(|evidence| evidence.campaign.agreement.clear()),
        "0 rows where both engines ended",
    );
    let twice = problems(|evidence| {
        let row = evidence.campaign.agreement[0].clone();
        evidence.campaign.agreement.push(row);
    });
    assert_told(&twice, "2 rows where both engines ended");
    let alone = problems(|evidence| {
        evidence.campaign.agreement.clear();
        result(evidence, EngineName::Vulkan).verdict = Verdict::Unsupported;
    });
    assert_eq!(alone, Vec::<String>::new());
}

#[test]
fn what_is_left_open_is_of_a_test_with_expectations_that_both_engines_meet() {
    let told = |verdict: Verdict, judged: &str| {
        problems(|evidence| {
            left(evidence, EngineName::Vulkan, &[1, 2, 3, 5]);
            result(evidence, EngineName::Vulkan).verdict = verdict;
            evidence.campaign.agreement[0].outputs = AgreementOutcome::LeftOpen;
            match judged {
                "" => evidence.campaign.tests[0].expected.clear(),
                name => evidence.campaign.tests[0]
                    .expected
                    .iter_mut()
                    .for_each(|one| one.buffer = name.to_owned()),
            }
        })
    };
    assert_eq!(told(Verdict::Pass, "out"), Vec::<String>::new());
    assert_eq!(told(Verdict::Fail, "other"), Vec::<String>::new());
    assert_told(&told(Verdict::Fail, "out"), "buffer out differs, and not both engines pass");
    assert_told(&told(Verdict::Pass, ""), "left open without any expectation");
}
