//! Tests with their verdicts, mismatches and a data race.

use super::{LONG_KERNEL, NAIVE, made_up_hash};
use std::collections::BTreeMap;
use vkcert_model::evidence::{Mismatch, TestEvidence, TestResult};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::finding_details::FindingDetails;
use vkcert_model::id::{KernelName, TestId};
use vkcert_model::place::Place;
use vkcert_model::procedure::TestKind;
use vkcert_model::verdict::{EngineName, Verdict};

fn test_result(engine: EngineName, verdict: Verdict) -> TestResult {
    TestResult {
        left_open: Vec::new(),
        engine,
        verdict,
        reason: None,
        mismatches: Vec::new(),
        findings: Vec::new(),
        race_scope: None,
        repetitions: 1,
        deciding_repetition: None,
        schedule: None,
        schedules: None,
        directed: Vec::new(),
        altered: Vec::new(),
        judged: Vec::new(),
        idle: Vec::new(),
        rests_on_undefined: false,
        notes: Vec::new(),
        printed_lines: 0,
        touched: Vec::new(),
        outputs: BTreeMap::new(),
    }
}

pub(super) fn test_evidence(
    id: &str,
    title: &str,
    kernel: &str,
    verdicts: [Verdict; 2],
) -> TestEvidence {
    TestEvidence {
        id: TestId::from(id),
        title: Some(title.into()),
        kind: if id.ends_with('4') { TestKind::Robustness } else { TestKind::Normal },
        requirements: vec!["LLR-MM-001".into(), "LLR-MM-002".into()],
        kernels: vec![KernelName::from(kernel)],
        file: "requirements/matmul.toml".into(),
        hash: made_up_hash(id.len() as u64),
        procedure: vec![format!("{kernel} 2×1×1 groups, m=3 n=2 k=20")],
        definition: serde_json::from_value(serde_json::json!({"id": id, "dispatches": []}))
            .unwrap(),
        expected: Vec::new(),
        flows: Vec::new(),
        layouts: BTreeMap::new(),
        results: vec![
            test_result(EngineName::Sequential, verdicts[0]),
            test_result(EngineName::Vulkan, verdicts[1]),
        ],
    }
}

fn data_race() -> Finding {
    let place_at = |line, column| Place {
        file: Some("glsl/matmul_naive.comp".into()),
        line: Some(line),
        column,
        function: Some("main".into()),
        instruction: Some(412),
    };
    Finding {
        count: 3,
        other_place: Some(place_at(13, None)),
        invocations: vec![[0, 0, 0], [1, 0, 0]],
        details: FindingDetails::Stored(BTreeMap::from([
            ("memory".to_owned(), "buffer".into()),
            ("same_value".to_owned(), false.into()),
        ])),
        ..Finding::new(
            FindingKind::DataRace,
            "Invocation (1,0,0) reads element 17 of r while (0,0,0) writes it.",
        )
        .at(place_at(24, Some(9)))
    }
}

pub(super) fn sample_tests() -> Vec<TestEvidence> {
    use Verdict::{Fail, NotRun, Pass, Timeout};
    let mut test_rows = vec![
        test_evidence("TC-MM-01", "3 by 2 by 20, one partial workgroup", NAIVE, [Pass, Pass]),
        test_evidence("TC-MM-02", "17 by 5 by 16", NAIVE, [Pass, Pass]),
        test_evidence("TC-MM-03", "Größte zulässige Abmessung", NAIVE, [Pass, NotRun]),
        test_evidence("TC-MM-04", "Empty matrix", NAIVE, [Fail, Timeout]),
        test_evidence("TC-CONV-01", "5 × 5 box over 33 × 17", LONG_KERNEL, [Pass, Pass]),
        test_evidence("TC-CONV-02", "Kernel larger than the image", LONG_KERNEL, [Pass, Pass]),
        test_evidence(
            "TC-CONV-03-WITH-A-RATHER-LONG-IDENTIFIER-FOR-A-TEST",
            "Impulse",
            LONG_KERNEL,
            [Pass, Pass],
        ),
    ];
    test_rows[3].results[1].reason = Some("the fence was not signalled within 10 s".into());
    test_rows[3].results[0].mismatches = (0..15_u32)
        .map(|index| Mismatch {
            buffer: "result".into(),
            offset: u64::from(index) * 4,
            expected: serde_json::json!(1.5),
            actual: serde_json::json!("NaN"),
            bits: format!("0x7fc0{index:04x}"),
            texel: None,
            member: None,
        })
        .collect();
    test_rows[1].results[0].findings = vec![data_race()];
    test_rows[3].results[0].findings = vec![data_race()];
    test_rows
}
