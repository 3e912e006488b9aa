//! Tests in the document: contents, alterations, failures.

use super::tests::{tables, terminal, whole_text, with_open_statements};
use super::*;
use vkcert_sample as sample;

pub(super) fn with_contents() -> Evidence {
    use vkcert_model::evidence::{OutputBytes, StoredExpectation};
    let mut evidence = sample::evidence();
    evidence.manifest.inputs.insert("requirements/data.npy".into(), "sha256:feed".into());
    let test = &mut evidence.campaign.tests[0];
    test.definition = serde_json::from_value(serde_json::json!({
        "id": test.id, "dispatches": [],
        "buffers": {
            "few": {"type": "float", "data": [1, 2.5, "NaN"]},
            "many": {"type": "uint", "data": (0..40).collect::<Vec<u32>>()},
            "ruled": {"type": "int", "count": 12, "fill": {"random": {"seed": 7}}},
            "drawn": {"type": "vec2", "count": 3, "fill": {"random": {"seed": 7}}},
            "counted": {"type": "ivec3", "count": 2, "fill": {"iota": {}}},
            "block": {"type": "reflect", "count": 5, "data": {"n": 2}},
            "raw": {"bytes": "AQID"},
            "file": {"type": "float", "file": "data.npy"},
            "result": {"type": "float", "count": 2},
        },
        "images": {"picture": {"dim": "2d", "format": "rgba8", "extent": [2, 1], "fill": {"random": {"seed": 1}}}},
        "expect": [{"buffer": "result", "values": [1, 2]}],
    }))
    .unwrap();
    let bytes = "AACAPwAAAEA=";
    test.expected = vec![
        serde_json::from_value::<StoredExpectation>(serde_json::json!({
            "buffer": "result", "tolerance": {},
            "contents": {"values": [{"offset": 0, "scalar": "float", "bytes": bytes}]},
        }))
        .unwrap(),
    ];
    for result in &mut test.results {
        result.outputs = [("result".to_owned(), OutputBytes::Bytes(bytes.to_owned()))].into();
    }
    evidence
}

#[test]
fn a_test_tells_its_contents_and_where_they_stand() {
    let evidence = with_contents();
    let document = super::chapter::report_document(&evidence, DocumentName::All, None).unwrap();
    let of_test = |table: &&super::document::Table| {
        table.caption.as_ref().is_some_and(|caption| caption.0[0].text == "Contents of TC-MM-01")
    };
    let all = tables(&document.body);
    let table = all.iter().find(|table| of_test(table)).expect("a table of contents");
    let plain = |text: &super::document::Text| {
        text.0.iter().map(|run| run.text.as_str()).collect::<String>()
    };
    let rows: Vec<Vec<String>> =
        table.rows.iter().map(|row| row.iter().map(plain).collect()).collect();
    let row = |name: &str| {
        rows.iter().find(|row| row[0] == name).unwrap_or_else(|| panic!("{name}: {rows:#?}"))
    };
    assert_eq!(
        row("Input few")[1..],
        ["float, 3 values", "1, 2.5, NaN", "/tests/0/definition/buffers/few"]
    );
    assert_eq!(
        row("Input many")[2],
        "0, 1, 2, 3, 4, 5, 6, 7, … and 32 more; least 0, greatest 39, mean 19.5"
    );
    assert_eq!(row("Input ruled")[1], "int, 12 elements");
    assert_eq!(
        row("Input ruled")[2],
        "random (SplitMix64), seed 7, from the type's least to the type's greatest".to_owned()
    );
    assert_eq!(
        row("Input drawn")[2],
        "random (SplitMix64), seed 7, one draw per component, from 0 to 1"
    );
    assert_eq!(row("Input counted")[2], "component by component from 0 on in steps of 1");
    assert_eq!(
        row("Input image picture")[2],
        "random (SplitMix64), seed 1, one draw per component, from 0 to 1"
    );
    assert_eq!(
        row("Input block")[1],
        "reflect, 1 value, 5 elements of the array at the end of its block"
    );
    assert!(row("Input raw")[2].starts_with("01, 02, 03, sha256:"));
    assert!(
        row("Input file")[3].ends_with("file requirements/data.npy sha256:feed"),
        "{:?}",
        row("Input file")
    );
    assert_eq!(row("Input result")[2], "not initialised");
    assert_eq!(row("Input image picture")[1], "2d rgba8, 2 × 1 texels");
    let hash = vkcert_model::canonical::content_hash(&[0, 0, 0x80, 0x3f, 0, 0, 0, 0x40]);
    let expected = [
        "float, 2 values".to_owned(),
        "1, 2".to_owned(),
        format!("/tests/0/expected/0/contents, {hash}"),
    ];
    assert_eq!(row("Expected result")[1..], expected);
    let actual = row("Actual result, sequential, vulkan");
    assert_eq!(actual[2], "1, 2");
    assert!(actual[3].starts_with(
        "/tests/0/results/0/outputs/result, /tests/0/results/1/outputs/result, sha256:"
    ));
}

/// Only evidence that does not verify holds such contents; a hash of nothing would be a statement
/// about them.
#[test]
fn contents_that_cannot_be_decoded_are_told_as_such() {
    use vkcert_model::evidence::{OutputBytes, StoredContents};
    let mut evidence = with_contents();
    let test = &mut evidence.campaign.tests[0];
    test.definition.buffers.get_mut("raw").unwrap().bytes = Some("AQI".to_owned());
    for expected in &mut test.expected {
        let StoredContents::Values(runs) = &mut expected.contents else { panic!("values") };
        runs[0].bytes = "no base64".to_owned();
    }
    for result in &mut test.results {
        result.outputs =
            [("result".to_owned(), OutputBytes::Bytes("AACAPwAAAE".to_owned()))].into();
    }
    let text = whole_text(&evidence);
    let empty = vkcert_model::canonical::content_hash(&[]);
    assert!(!text.contains(&empty) && !text.contains("\n0 values"), "{text}");
    assert_eq!(text.matches("cannot be decoded: not base64").count(), 3, "{text}");
}

#[test]
fn altered_contents_are_explained_with_every_alteration() {
    let text = whole_text(&sample::evidence());
    for alteration in vkcert_model::altered::Alteration::ALL {
        assert!(text.contains(&alteration.to_string()), "{alteration}");
    }
    assert!(text.contains("It does not show that they are the right ones"), "{text}");
}

#[test]
fn a_test_that_fails_alike_on_both_engines_is_told_once() {
    let mut evidence = sample::evidence();
    let test = &mut evidence.campaign.tests[3];
    let fail = test.results[0].clone();
    test.results[1] = vkcert_model::evidence::TestResult { engine: test.results[1].engine, ..fail };
    evidence.campaign.conclusion.reasons =
        ["sequential", "vulkan"].map(|engine| format!("test TC-MM-04 on {engine}: fail")).into();
    let text = terminal(&evidence, 100);
    assert_eq!(text.matches("TC-MM-04: fail on sequential and vulkan").count(), 1, "{text}");
    assert_eq!(text.matches("result, byte 0: expected").count(), 1, "{text}");
    assert_eq!(
        statement::told_reasons(&evidence)[0].sentence,
        "test TC-MM-04 on sequential and vulkan: fail"
    );
    assert!(!text.contains("TC-MM-04 on vulkan"), "{text}");
}

/// Evidence in which one statement is exercised by `count` failed tests.
fn with_failed_tests(count: usize) -> Evidence {
    let mut evidence = with_open_statements(1);
    let failed = evidence.campaign.tests[3].clone();
    let ids: Vec<vkcert_model::id::TestId> =
        (0..count).map(|number| format!("TC-F-{number}").as_str().into()).collect();
    for id in &ids {
        evidence
            .campaign
            .tests
            .push(vkcert_model::evidence::TestEvidence { id: *id, ..failed.clone() });
    }
    evidence.kernels[0].coverage.statements.last_mut().unwrap().uncounted = ids;
    evidence
}

#[test]
fn failed_tests_behind_an_obligation_are_counted_not_listed() {
    let text = terminal(&with_failed_tests(50), 200);
    assert!(
        text.contains(
            "1 obligation exercised by failed tests TC-F-0, TC-F-1, TC-F-2 and 47 more only"
        ),
        "{text}"
    );
    assert!(text.contains("… and 41 more"), "{text}");
}

#[test]
fn engines_with_equal_shares_are_one_row() {
    let mut evidence = sample::evidence();
    let summary = &mut evidence.campaign.conclusion.summary;
    summary[1].criteria = summary[0].criteria.clone();
    let text = terminal(&evidence, 100);
    assert!(text.contains("\n    both "), "{text}");
    assert!(text.contains("both: sequential and vulkan"), "{text}");
    let rows = facts::coverage_rows(&evidence, &facts::measured_criteria(&evidence));
    assert_eq!(rows[0].engines.len(), 2);
    let total: u32 = rows.iter().map(|row| row.criteria[0].total).sum();
    let totals = facts::coverage_totals(&evidence, &facts::measured_criteria(&evidence)).unwrap();
    assert_eq!(totals[0].criteria[0].total, total);
}
