//! Cases and procedures: purpose, preconditions, steps, pass criterion; numbers of documents.

use super::tests::printed;
use super::*;
use serde_json::json;
use vkcert_model::document::{DocumentIdentity, DocumentPart};
use vkcert_model::evidence::StoredExpectation;
use vkcert_sample as sample;

/// The sample, its first test with a resource of each kind, two dispatches, a reference and a
/// checker.
fn with_procedure() -> Evidence {
    let mut evidence = sample::evidence();
    let test = &mut evidence.campaign.tests[0];
    let bindings = json!([
        {"binding": 0, "buffer": "a"},
        {"set": 1, "binding": 3, "image": "frame", "class": "storage_image", "level": 1},
    ]);
    let dispatch = json!({
        "kernel": "matmul_naive", "groups": [2, 1, 3], "subgroup_size": 16, "bindings": bindings,
        "push_constants": {"m": 3, "k": 4.5},
        "specialization": {"0": {"type": "uint", "value": 16}, "7": {"bits": 32}},
    });
    let other = json!({"kernel": "matmul_naive", "groups": [1, 1, 1]});
    test.definition = serde_json::from_value(json!({
        "id": test.id, "limits": {"seconds": 2.5, "steps": 700},
        "buffers": {
            "a": {"type": "float", "data": [1, 2], "address_of": [{"at": 8, "buffer": "r", "offset": 4}]},
            "r": {"type": "float", "count": 2},
            "v": {"type": "uint", "count": 1},
        },
        "images": {"frame": {"dim": "2d", "format": "r8ui", "extent": [2, 2], "levels": 2, "fill": {"constant": 0}}},
        "samplers": {"smooth": {"filter": "linear", "address": "clamp_to_edge"}},
        "dispatches": [dispatch, dispatch, other],
        "expect": [
            {"buffer": "r", "values": [1, 2], "tolerance": {"abs": 0.5}},
            {"buffer": "r", "reference": {"kernel": "plain", "groups": [4, 1, 1]}},
            {"check": {"kernel": "judge", "groups": [1, 1, 1], "verdict": "v"}},
        ],
    }))
    .unwrap();
    let run = json!({"offset": 0, "scalar": "float", "bytes": "AACAPwAAAEA="});
    let expected = json!([
        {"buffer": "r", "tolerance": {"abs": 0.5}, "contents": {"values": [run]}},
        {"buffer": "r", "tolerance": {}, "contents": {"reference": {"kernel": "plain", "scalar": "float"}}},
        {"buffer": "v", "tolerance": {}, "contents": {"check": {"kernel": "judge", "reads": []}}},
    ]);
    test.expected = serde_json::from_value::<Vec<StoredExpectation>>(expected).unwrap();
    evidence
}

fn steps_of_first_test(evidence: &Evidence, name: DocumentName) -> Vec<(String, String)> {
    let document = super::chapter::report_document(evidence, name, None).unwrap();
    let caption = format!("Procedure of {}", evidence.campaign.tests[0].id);
    let tables = super::tests::tables(&document.body);
    let mut of_test = tables
        .into_iter()
        .filter(|table| table.caption.as_ref().is_some_and(|text| text.plain_words() == caption));
    let table = of_test.next().expect("a procedure");
    table.rows.iter().map(|row| (row[0].plain_words(), row[1].plain_words())).collect()
}

#[test]
fn a_procedure_tells_every_step_in_order_and_when_the_test_passes() {
    let evidence = with_procedure();
    let steps = steps_of_first_test(&evidence, DocumentName::Svcp);
    assert_eq!(steps, steps_of_first_test(&evidence, DocumentName::All));
    let numbers: Vec<&str> = steps.iter().map(|(number, _)| number.as_str()).collect();
    let (last, counted) = numbers.split_last().unwrap();
    assert_eq!(*last, "Pass");
    assert!(counted.iter().enumerate().all(|(index, number)| *number == (index + 1).to_string()));
    let words: Vec<&str> = steps.iter().map(|(_, words)| words.as_str()).collect();
    insta::assert_snapshot!("procedure_in_steps", words.join("\n"));
}

#[test]
fn a_procedure_that_is_not_whole_says_so() {
    let mut evidence = with_procedure();
    evidence.campaign.tests[0].expected.clear();
    let steps = steps_of_first_test(&evidence, DocumentName::Svcp);
    assert!(steps.last().unwrap().1.starts_with("Incomplete: "), "{steps:#?}");
    evidence.campaign.tests[0].definition.expect.clear();
    let steps = steps_of_first_test(&evidence, DocumentName::Svcp);
    let pass = &steps.last().unwrap().1;
    assert!(pass.starts_with("This test compares nothing"), "{pass}");
}

#[test]
fn what_a_comparison_needs_is_read_back() {
    let mut evidence = with_procedure();
    let expected = json!([{"buffer": "r", "equals_buffer": "a"}]);
    evidence.campaign.tests[0].definition.expect = serde_json::from_value(expected).unwrap();
    let steps = steps_of_first_test(&evidence, DocumentName::Svcp);
    assert!(steps.iter().any(|(_, step)| step.ends_with("Then read back a, r.")), "{steps:#?}");
}

#[test]
fn the_local_size_is_that_of_the_specialization_constants() {
    let mut evidence = with_procedure();
    let test = &evidence.campaign.tests[0];
    let kernel = test.definition.dispatches[0].kernel;
    let constant = |value: u32, is_default: bool| {
        json!([{"id": 0, "name": null, "type": "uint32", "value": value.to_string(),
            "bits": format!("{value:#010x}"), "default": is_default}])
    };
    let mut rows: Vec<_> =
        evidence.kernels.iter().filter(|row| row.kernel == kernel).take(1).cloned().collect();
    rows.push(rows[0].clone());
    for (row, (size, is_default)) in rows.iter_mut().zip([(16, false), (8, true)]) {
        row.configuration.local_size = [size, 1, 1];
        row.configuration.specialization =
            serde_json::from_value(constant(size, is_default)).unwrap();
    }
    evidence.kernels = rows;
    let mut size_of = |specialization: serde_json::Value| {
        let dispatches = &mut evidence.campaign.tests[0].definition.dispatches;
        dispatches.truncate(1);
        dispatches[0].specialization = serde_json::from_value(specialization).unwrap();
        let steps = steps_of_first_test(&evidence, DocumentName::Svcp);
        let step = steps.into_iter().find(|(_, step)| step.starts_with("Dispatch 2 × 1 × 3"));
        step.unwrap().1
    };
    let of_size =
        |size: u32| format!("Dispatch 2 × 1 × 3 workgroups of {size} × 1 × 1 invocations.");
    assert_eq!(size_of(json!({})), of_size(8));
    assert_eq!(size_of(json!({"0": {"value": 16}})), of_size(16));
    assert_eq!(size_of(json!({"0": {"bits": "0x10"}})), of_size(16));
    assert_eq!(size_of(json!({"0": {"bits": 16}})), of_size(16));
    assert!(size_of(json!({"0": {"value": 32}})).contains("of the local size that the module has"));
}

#[test]
fn cases_name_the_tests_that_they_do_not_hold_and_tell_of_no_run() {
    use vkcert_model::vulkan_sc::NO_VULKAN_SC_RAN;
    let mut evidence = with_procedure();
    assert!(!printed(&evidence, DocumentName::Svcp).contains("was made without"));
    evidence.campaign.left_out = ["TC-OUT-1", "TC-OUT-2"].map(Into::into).into();
    let of_kernels = "Kernels are for Vulkan SC 1.0.";
    evidence.campaign.project.profile.meaning =
        [of_kernels, NO_VULKAN_SC_RAN].map(str::to_owned).into();
    evidence.campaign.tests[0].expected.clear();
    let text = printed(&evidence, DocumentName::Svcp);
    assert!(text.contains("made without: TC-OUT-1, TC-OUT-2 (2 tests of the project)"), "{text}");
    assert!(text.contains("nothing here tells of them: TC-OUT-1, TC-OUT-2."), "{text}");
    assert!(text.contains("Incomplete: the test could not be prepared from its files"), "{text}");
    assert!(text.contains(of_kernels) && !text.contains(NO_VULKAN_SC_RAN), "{text}");
    assert!(!text.contains("each test tells its repetitions"), "{text}");
    let whole = printed(&evidence, DocumentName::Tool);
    assert!(whole.contains(NO_VULKAN_SC_RAN), "{whole}");
    assert!(whole.contains("each test tells its repetitions"), "{whole}");
}

#[test]
fn a_checker_is_told_alike_in_steps_and_contents() {
    let text = printed(&with_procedure(), DocumentName::Svcp);
    assert!(text.contains("must write 1 to every uint of it"), "{text}");
    assert!(text.contains("1 in every uint, which the checker kernel judge writes"), "{text}");
}

#[test]
fn members_without_a_value_are_told_as_not_initialised() {
    let mut evidence = with_procedure();
    let buffers = &mut evidence.campaign.tests[0].definition.buffers;
    let block = json!({"type": "reflect", "count": 5, "data": {"n": 2}});
    buffers.insert("a".to_owned(), serde_json::from_value(block).unwrap());
    let steps = steps_of_first_test(&evidence, DocumentName::Svcp);
    let step = &steps[0].1;
    let kind =
        "Create buffer a (reflect, 1 value, 5 elements of the array at the end of its block)";
    assert!(step.starts_with(kind), "{step}");
    assert!(step.contains("A member without a value is not initialised: on a device"), "{step}");
}

#[test]
fn a_case_states_its_purpose_with_the_texts_of_its_requirements() {
    let mut evidence = with_procedure();
    let uid = evidence.campaign.tests[0].requirements[0];
    let rows = &mut evidence.campaign.requirements;
    let row = rows.iter_mut().find(|row| row.requirement.uid == uid).unwrap();
    row.requirement.statement = "The kernel shall do this.".to_owned();
    let text = printed(&evidence, DocumentName::Svcp);
    assert!(text.contains("Purpose: to show in the normal range that matmul_naive"), "{text}");
    assert!(
        text.contains("Preconditions: the test environment; the contents that steps 1 to 5 make"),
        "{text}"
    );
    assert!(text.contains("The kernel shall do this."), "{text}");
    let rows = &mut evidence.campaign.requirements;
    let row = rows.iter_mut().find(|row| row.requirement.uid == uid).unwrap();
    row.requirement.statement = "x".repeat(5000);
    let text = printed(&evidence, DocumentName::Svcp);
    assert!(
        text.contains("… (in full in the document trace)") && !text.contains(&"x".repeat(1000))
    );
    evidence.campaign.tests[0].requirements.clear();
    let text = printed(&evidence, DocumentName::Svcp);
    assert!(text.contains("It verifies no requirement."), "{text}");
}

fn with_identity(identity: serde_json::Value) -> Evidence {
    let mut evidence = sample::evidence();
    let identity: DocumentIdentity = serde_json::from_value(identity).unwrap();
    evidence.campaign.settings.as_mut().unwrap().document = Some(identity);
    evidence
}

#[test]
fn no_two_documents_of_one_evidence_carry_the_same_identity() {
    let evidence = with_identity(json!({
        "number": "D-1", "revision": "A", "baseline": "v7", "authors": ["N. Author"],
        "svr": {"number": "R-9", "revision": "C", "title": "Results of unit K", "date": "2026-02-03"},
    }));
    let labels: std::collections::BTreeSet<String> = DOCUMENTS
        .iter()
        .map(|row| {
            super::chapter::report_document(&evidence, row.name, None).unwrap().label.unwrap()
        })
        .collect();
    assert_eq!(labels.len(), DocumentPart::ALL.len() + 1, "{labels:?}");
    let svr = super::chapter::report_document(&evidence, DocumentName::Svr, None).unwrap();
    assert_eq!(svr.label.as_deref(), Some("R-9, revision C"));
    assert_eq!(svr.title, "Results of unit K");
    let text = printed(&evidence, DocumentName::Svr);
    assert!(
        text.contains("Document: R-9, revision C, 2026-02-03 (as stated by the project)"),
        "{text}"
    );
    assert!(!text.contains("Part of: "), "{text}");
    let text = printed(&evidence, DocumentName::Svcp);
    assert!(
        text.contains("Document: D-1-SVCP, revision A\nPart of: D-1, revision A (as stated"),
        "{text}"
    );
    assert!(text.contains("R-9, revision C"), "the table of documents names the others: {text}");
    let text = printed(&evidence, DocumentName::All);
    assert!(text.contains("Document: D-1, revision A (as stated by the project)"), "{text}");
    assert!(text.contains("Baseline: v7 (as stated by the project)"), "{text}");
}

#[test]
fn a_date_is_called_what_it_is() {
    let mut evidence = sample::evidence();
    let date = "2026-01-31T12:00:00Z";
    evidence.campaign.project.date = Some(date.to_owned());
    for row in DOCUMENTS {
        let text = printed(&evidence, row.name);
        assert!(text.contains(&format!("Date (SOURCE_DATE_EPOCH): {date}")), "{}", row.word);
        assert!(!text.contains(&format!("Date: {date}")), "{}", row.word);
    }
}
