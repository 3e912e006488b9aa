//! Every kind is written and read as it stands, and what does not fit its kind is kept.

use super::*;
use crate::finding::Finding;
use serde_json::json;

fn race() -> Value {
    json!({
        "accesses": ["atomic read", "write"], "memory": "workgroup", "missing": "non-private-access",
        "object": "sums", "reach": "within-workgroup", "same_value": false, "values": ["0x1", "0x2"],
    })
}

fn disagreement_of_a_vector() -> Value {
    json!({
        "comparison": "sequential/vulkan", "decision": "D3", "file": "a.comp", "line": 7,
        "only_on": "vulkan", "operands": ["a 1 < b 2"], "text": "a < b && c",
        "undefined_values": "of-other-invocations", "vector": "TF", "within_error_bounds": true,
    })
}

fn disagreement_of_an_output() -> Value {
    json!({
        "buffer": "r", "comparison": "sequential/vulkan", "element": "values[3].x", "elements": 2,
        "nan_permitted": false, "offset": 48, "outside": 1, "permitted": [[1.0, 1.5], [3.0]],
        "runs": 4, "sequential": 1.25, "sequential_bits": "0x3fa00000", "type": "float",
        "undefined_bits": "0xff", "vulkan": "NaN", "vulkan_bits": "0x7fc00000",
    })
}

fn changed_contents(largest_abs: Value) -> Value {
    json!({
        "abs": 0.5, "actual": 2.5, "actual_bits": "0x40200000", "baseline": "in-order",
        "buffer": "r", "buffers": ["q", "r"], "bytes": 9, "dispatches": [0, 2], "expected": 3.0,
        "expected_bits": "0x40400000", "kernels": ["k", "l"], "largest_abs": largest_abs,
        "largest_ulps": 18446744073709551615_u64, "offset": 8, "schedule": "random:0:2",
        "schedules": ["first:4", "random:0:2"], "type": "double", "ulps": 3, "verdict": "pass",
        "verdicts": ["fail", "pass"],
    })
}

fn changed_coverage(first: Value) -> Value {
    let mut details = json!({
        "baseline": "in-order", "changed": ["k: D3"], "coverage": ["k: D3 with `reversed` alone"],
        "kernels": ["k"], "schedule": "reversed", "schedules": ["reversed"],
    });
    details.as_object_mut().unwrap().extend(first.as_object().unwrap().clone());
    details
}

/// Details of every form that this version writes.
fn typed_details() -> Vec<(FindingKind, Value)> {
    vec![
        (FindingKind::DataRace, race()),
        (FindingKind::BarrierDivergence, json!({ "elsewhere": 1, "waiting": 31 })),
        (FindingKind::OutOfBounds, json!({ "object": "In" })),
        (FindingKind::OutOfBounds, json!({ "dimension": 2, "object": "In" })),
        (FindingKind::OutOfBounds, json!({ "address": "0x10", "alignment": 8, "object": "In" })),
        (
            FindingKind::OutOfBounds,
            json!({ "access": "write", "buffer": "r", "memory": "buffer", "side": "behind" }),
        ),
        (FindingKind::UndefinedValue, json!({ "byte": 4, "object": "a", "other": "b" })),
        (FindingKind::ScheduleDependentOutput, changed_contents(json!(2.0))),
        // Further apart than a double can be.
        (FindingKind::ScheduleDependentOutput, changed_contents(Value::Null)),
        (FindingKind::ScheduleDependentOutput, changed_coverage(json!({}))),
        (
            FindingKind::ScheduleDependentOutput,
            changed_coverage(json!({
                "decision": "D3", "only_in": "reversed", "text": "a && b", "vector": "T-",
            })),
        ),
        (
            FindingKind::ScheduleDependentOutput,
            changed_coverage(json!({ "mark": 2, "only_in": "in-order", "text": "entry of `f`" })),
        ),
        (
            FindingKind::ScheduleDependentOutput,
            changed_coverage(
                json!({ "obligation": "BAR1", "only_in": "reversed", "text": "a.comp:3" }),
            ),
        ),
        (
            FindingKind::ScheduleDependentOutput,
            json!({
                "baseline": "in-order", "ended": "timeout", "kernels": ["k"],
                "schedule": "reversed",
            }),
        ),
        (
            FindingKind::ScheduleDependentOutput,
            json!({
                "baseline": "in-order", "schedule": "in-order+waiters-first", "verdict": "fail",
            }),
        ),
        (FindingKind::EngineDisagreement, json!({ "comparison": "sequential/vulkan" })),
        (
            FindingKind::EngineDisagreement,
            json!({ "buffer": "r", "comparison": "production/traced", "offset": 4 }),
        ),
        (FindingKind::EngineDisagreement, disagreement_of_a_vector()),
        (
            FindingKind::EngineDisagreement,
            json!({
                "comparison": "sequential/vulkan", "mark": 1, "only_on": "sequential",
                "text": "label `case 1` (a.comp:4)",
            }),
        ),
        (FindingKind::EngineDisagreement, disagreement_of_an_output()),
        (FindingKind::Validation, json!({ "message_id": "VUID-1", "severity": "warning" })),
        (FindingKind::Coupling, json!({ "check": "buffer-size" })),
        (
            FindingKind::Coupling,
            json!({ "about": "x", "check": "covers", "counterexample": { "m": -1, "n": 2 } }),
        ),
    ]
}

fn stored_finding(kind: FindingKind, details: &Value) -> Value {
    json!({
        "kind": kind, "message": "m", "count": 1, "place": null, "other_place": null,
        "invocations": [], "details": details,
    })
}

fn read(kind: FindingKind, details: &Value) -> Finding {
    serde_json::from_value(stored_finding(kind, details)).unwrap()
}

fn written(finding: &Finding) -> String {
    serde_json::to_string(finding).unwrap()
}

#[test]
fn every_form_is_read_by_its_kind_and_written_as_it_was() {
    for (kind, details) in typed_details() {
        let finding = read(kind, &details);
        assert_eq!(finding.details.kind(), Some(kind), "{details}");
        let text = written(&finding);
        // The keys of an object are in the order of their names.
        assert!(text.contains(&format!("\"details\":{details}")), "{text}\n{details}");
        assert_eq!(serde_json::from_str::<Finding>(&text).unwrap(), finding, "{details}");
    }
}

#[test]
fn kinds_without_details_have_none() {
    for (kind, _) in FindingKind::ALL {
        let finding = read(*kind, &json!({}));
        assert_eq!(finding.details, FindingDetails::None, "{kind}");
        assert!(written(&finding).contains("\"details\":{}"), "{kind}");
    }
}

#[test]
fn a_schedule_that_alone_shows_a_finding_stands_beside_its_details() {
    for (kind, details) in typed_details().into_iter().chain([
        (FindingKind::UninitializedRead, json!({})),
        (FindingKind::NoTermination, json!({})),
        (FindingKind::UntracedBranch, json!({})),
    ]) {
        if kind == FindingKind::ScheduleDependentOutput {
            continue;
        }
        let mut with_schedule = details.clone();
        with_schedule.as_object_mut().unwrap().insert("schedule".to_owned(), json!("first:4"));
        let finding = read(kind, &with_schedule);
        assert_eq!(finding.details, read(kind, &details).details, "{details}");
        assert_eq!(finding.shown_in.unwrap().to_string(), "first:4", "{details}");
        assert_eq!(finding.schedule(), finding.shown_in);
        assert!(written(&finding).contains(&with_schedule.to_string()), "{details}");
    }
}

#[test]
fn what_is_not_as_this_version_writes_it_is_kept_as_it_is() {
    let mut changes: Vec<(FindingKind, Value)> = vec![
        (FindingKind::NoTermination, json!({ "steps": 7 })),
        (FindingKind::DataRace, json!({ "schedule": 7 })),
        (FindingKind::DataRace, json!({ "schedule": "first:04" })),
        (FindingKind::DataRace, json!({ "memory": "buffer", "same_value": true })),
        (FindingKind::Coupling, json!({ "about": null, "check": "covers" })),
    ];
    for (kind, details) in typed_details() {
        let mut with_more = details.clone();
        with_more.as_object_mut().unwrap().insert("more".to_owned(), json!([1]));
        changes.push((kind, with_more));
        for name in details.as_object().unwrap().keys() {
            let mut of_another_type = details.clone();
            of_another_type[name] = json!({ "not": ["as", 1.0] });
            changes.push((kind, of_another_type));
        }
    }
    for (kind, details) in changes {
        let finding = read(kind, &details);
        let kept: Value = serde_json::from_str(&written(&finding)).unwrap();
        assert_eq!(kept["details"], details, "{kind}");
    }
}

#[test]
fn stored_details_are_asked_as_typed_ones() {
    for (kind, details) in typed_details() {
        let typed = read(kind, &details);
        let fields = details.as_object().unwrap().clone().into_iter().collect();
        let stored = Finding { details: FindingDetails::Stored(fields), ..typed.clone() };
        assert_eq!(stored.stored_details(), typed.stored_details(), "{details}");
        assert_eq!(stored.schedule(), typed.schedule(), "{details}");
        assert_eq!(stored.same_value(), typed.same_value(), "{details}");
        assert_eq!(stored.coupling_check(), typed.coupling_check(), "{details}");
        for name in [DetailName::Accesses, DetailName::Kernels, DetailName::Verdicts] {
            assert_eq!(stored.detail(name), typed.detail(name), "{details}");
        }
    }
}

#[test]
fn what_is_no_finding_is_refused_by_its_name() {
    let error = serde_json::from_value::<Finding>(json!("text")).unwrap_err().to_string();
    assert_eq!(error, "invalid type: string \"text\", expected struct Finding");
}
