//! What a configuration fixes, and records that contradict it.

use super::*;

/// `x < k` fixed at true by a constant, and the loop never entered.
pub(super) fn resolved() -> (Presence, Configuration) {
    let mut presence = presence();
    for (role, value) in [
        (MarkerRole::Condition { decision: DecisionId(1), condition: 0 }, true),
        (MarkerRole::Single { decision: DecisionId(2) }, false),
    ] {
        let marker = presence.markers.values_mut().find(|marker| marker.role == role).unwrap();
        (marker.value, marker.constants, marker.constness) =
            (Some(value), vec![3], Constness::Specialization);
    }
    let constant = SpecializedConstant {
        id: 3,
        name: Some("TILE".to_owned()),
        type_name: "uint".to_owned(),
        value: "16".to_owned(),
        bits: "0x10".to_owned(),
        default: false,
    };
    let configuration = Configuration {
        name: "TILE=16".to_owned(),
        specialization: vec![constant],
        ..Configuration::default()
    };
    (presence, configuration)
}

pub(super) fn assessed_under(
    (presence, configuration): &(Presence, Configuration),
    tests: &[&[(u32, &str)]],
) -> (KernelCoverage, Vec<String>) {
    let structure = structure();
    let layout = layout(&structure);
    let records: Vec<Records> = tests.iter().map(|test| records(&layout, test)).collect();
    let named: Vec<(TestId, &Records)> = records
        .iter()
        .enumerate()
        .map(|(i, records)| (TestId::from(format!("TC-{}", i + 1)), records))
        .collect();
    let subject = CoverageSubject {
        structure: &structure,
        layout: &layout,
        presence,
        configuration,
        proposing: ProposalRules::Current,
    };
    (assess(&subject, &named), contradictions(&subject, &named))
}

#[test]
fn what_is_fixed_is_proposed_with_constants_and_values_and_stays_uncovered() {
    let (coverage, contradictions) = assessed_under(&resolved(), &[&[(1, "TT"), (2, "F")]]);
    assert_eq!(contradictions, [""; 0]);
    let [guard, repeat] = coverage.decisions.as_slice() else { panic!("two decisions") };
    let fixed = "under configuration TILE=16 (TILE = 16)";
    assert_eq!((guard.constant_outcome, guard.conditions[0].value), (None, Some(Outcome::True)));
    assert_eq!(guard.missing.iter().map(Values::to_string).collect::<Vec<_>>(), ["TF"]);
    assert_eq!(guard.closing_set, guard.missing);
    let never = guard.mcdc[0].masking.proposal.as_ref().unwrap();
    assert_eq!(
        (never.class, never.reason.clone()),
        (JustificationClass::Deactivated, format!("`x < k` (D1.C1) is always true {fixed}"))
    );
    assert_eq!(guard.mcdc[1].masking.proposal, None, "the other condition can still be shown");
    // `y < m` alone: two vectors, not three.
    assert_eq!(guard.minimum.as_ref().unwrap().masking.vectors, 2);
    let states: Vec<_> = guard
        .combinations
        .iter()
        .map(|c| (c.id.as_str(), c.status, c.proposal.is_some()))
        .collect();
    let (covered, uncovered) = (Status::Covered, Status::Uncovered);
    assert_eq!(
        states,
        [("D1.V.TT", covered, false), ("D1.V.TF", uncovered, false), ("D1.V.F-", uncovered, true)]
    );
    assert_eq!(repeat.constant_outcome, Some(Outcome::False));
    let outcome = &repeat.outcomes[0];
    assert_eq!((outcome.status, outcome.proposal.is_some()), (uncovered, true));
    let body = &coverage.statements[2];
    let reason = format!("never executed, as `i < n` (D2) is always false {fixed}");
    assert_eq!(body.proposal.as_ref().map(|proposal| &proposal.reason), Some(&reason), "{body:?}");
    assert!(coverage.statements[3].proposal.is_none(), "the loop is left");
}

#[test]
fn records_that_contradict_what_is_fixed_are_internal_errors() {
    let (coverage, contradictions) =
        assessed_under(&resolved(), &[&[(1, "TT"), (1, "F-"), (2, "F")]]);
    let [sentence] = contradictions.as_slice() else { panic!("{contradictions:?}") };
    assert!(sentence.contains("TC-1") && sentence.contains("D1 shows F-"), "{sentence}");
    let guard = &coverage.decisions[0];
    assert!(
        guard.outcomes.iter().all(|outcome| outcome.status == Status::Undetermined),
        "{:?}",
        guard.outcomes
    );
    assert!(
        guard.outcomes[0].reason.as_ref().unwrap().starts_with("internal error"),
        "{:?}",
        guard.outcomes[0]
    );
    // A marker that control cannot come to is recorded all the same.
    let mut excluded = resolved();
    let role = MarkerRole::Single { decision: DecisionId(2) };
    excluded.0.markers.values_mut().find(|marker| marker.role == role).unwrap().reach =
        Reach::Excluded;
    let (_, contradictions) = assessed_under(&excluded, &[&[(1, "TT"), (2, "F")]]);
    assert!(
        contradictions.iter().any(|sentence| sentence.contains("D2 is evaluated")),
        "{contradictions:?}"
    );
}

#[test]
fn records_of_each_test_and_each_value_of_a_vector_are_held_to_what_is_fixed() {
    let mut resolved = resolved();
    let role = MarkerRole::Condition { decision: DecisionId(1), condition: 1 };
    resolved.0.markers.values_mut().find(|marker| marker.role == role).unwrap().value = Some(true);
    let fine: &[(u32, &str)] = &[(1, "TT"), (2, "F")];
    let (_, contradictions) = assessed_under(&resolved, &[fine, &[(1, "TF")]]);
    assert_eq!(contradictions.len(), 1, "{contradictions:?}");
    assert!(
        contradictions[0].contains("TC-2") && contradictions[0].contains("D1 shows TF"),
        "{contradictions:?}"
    );
    let role = MarkerRole::Mark { mark: MarkIndex(1) };
    resolved.0.markers.values_mut().find(|marker| marker.role == role).unwrap().reach =
        Reach::Excluded;
    let (_, contradictions) = assessed_under(&resolved, &[fine]);
    assert!(
        contradictions.iter().any(|sentence| sentence.contains("mark 1 is passed")),
        "{contradictions:?}"
    );
}
