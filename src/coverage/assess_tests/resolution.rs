//! What a configuration fixes, and records that contradict it.

use super::source::Kernel;
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

/// What the module shows to be constant without telling the value.
#[test]
fn constants_without_a_value_are_the_reason() {
    let kernel = || Kernel::of_text("void main() { if (a && b) c = 1u; }");
    let reasons = |kernel: &Kernel, tests: &[&str]| {
        let (coverage, contradictions) = kernel.assessed(tests);
        assert_eq!(contradictions, [""; 0]);
        let decision = &coverage.decisions[0];
        let outcomes = decision.outcomes.iter().map(|item| item.reason.clone());
        let effects = decision.mcdc.iter().map(|mcdc| mcdc.masking.reason.clone());
        (outcomes.collect::<Vec<_>>(), effects.collect::<Vec<_>>())
    };
    let of_condition = |constness: Constness| {
        let mut kernel = kernel();
        kernel.marker("D1.C1").constness = constness;
        reasons(&kernel, &["main D1=TT"]).1
    };
    let told = |sentence: &str| Some(sentence.to_owned());
    assert_eq!(of_condition(Constness::Runtime), [None, None]);
    let constant = told("constant: the condition never changes");
    assert_eq!(of_condition(Constness::Constant), [constant.clone(), None]);
    let fixed = told("specialization constant: the condition is fixed per pipeline");
    assert_eq!(of_condition(Constness::Specialization), [fixed, None]);
    let of_outcome = |in_text: Constness, in_module: Constness, tests: &[&str]| {
        let mut kernel = kernel();
        kernel.structure.decisions[0].constness = in_text;
        kernel.marker("D1").constness = in_module;
        reasons(&kernel, tests)
    };
    let only_false =
        told("specialization constant: under this configuration the outcome is always F");
    let only_true = told("constant: the outcome is always T");
    let (constant, specialization, runtime) =
        (Constness::Constant, Constness::Specialization, Constness::Runtime);
    for (in_text, in_module, tests, outcomes, effect) in [
        (
            runtime,
            specialization,
            &["main D1=TF"][..],
            [only_false.clone(), None],
            only_false.clone(),
        ),
        (
            specialization,
            runtime,
            &["main D1=F-", "main D1=TF"],
            [only_false.clone(), None],
            only_false,
        ),
        (constant, specialization, &["main D1=TT"], [None, only_true.clone()], only_true),
        (runtime, runtime, &["main D1=TT"], [None, None], None),
        // Both are seen, or none: nothing is constant.
        (specialization, specialization, &["main D1=TT", "main D1=TF"], [None, None], None),
        (constant, runtime, &[], [None, None], None),
    ] {
        let (found_outcomes, found_effects) = of_outcome(in_text, in_module, tests);
        assert_eq!(found_outcomes, outcomes, "{in_text:?} {in_module:?} {tests:?}");
        assert_eq!(found_effects[0], effect, "{in_text:?} {in_module:?} {tests:?}");
    }
}

/// Of a decision that control cannot come to: what rules out the statement around it.
#[test]
fn the_cause_of_a_decision_is_that_of_the_statement_that_holds_it() {
    let text = "void main() { if (B) w; if (A) { q; r = x && y; } if (B) w; }";
    let kernel = Kernel::of_text(text)
        .with_configuration("c", &[(1, "A", "1"), (2, "B", "2")], &[])
        .with_fixed("D1", false, &[2])
        .with_fixed("D2", false, &[1])
        .with_fixed("D4", false, &[2])
        .with_excluded(&["D3", "D3.C1", "D3.C2"]);
    let (coverage, contradictions) = kernel.assessed(&[]);
    assert_eq!(contradictions, [""; 0]);
    let reason = "never executed, as `A` (D2) is always false under configuration c (A = 1)";
    let decision = &coverage.decisions[2];
    assert_eq!(decision.outcomes[0].reason.as_deref(), Some(reason));
    assert_eq!(decision.combinations[0].reason.as_deref(), Some(reason));
    assert_eq!(decision.mcdc[1].unique_cause.reason.as_deref(), Some(reason));
    assert_eq!((decision.missing.len(), &decision.minimum), (0, &None));
    // Its records are then a contradiction, and count for nothing.
    let (coverage, contradictions) = kernel.assessed(&["main D3=TT"]);
    let sentence = "the records of T1 cannot be: D3 is evaluated, though control cannot come to it";
    assert_eq!(contradictions, [sentence]);
    assert_eq!(coverage.decisions[2].outcomes[0].status, Status::Undetermined);
}

/// Marks that control cannot come to, and labels that could not be marked.
#[test]
fn labels_and_functions_that_control_cannot_come_to() {
    let text = "void never() { a; } void main() { switch (m) { case 1u: b; break; default: c; } }";
    let mut kernel = Kernel::of_text(text)
        .with_configuration("default", &[], &[])
        .with_excluded(&["never", "W1.L1"]);
    let (contradicted, contradictions) = kernel.assessed(&["main never W1.L1 W1.L2"]);
    let sentence = |mark: u32| {
        format!(
            "the records of T1 cannot be: mark {mark} is passed, though control cannot come to it"
        )
    };
    assert_eq!(contradictions, [sentence(0), sentence(2)]);
    let label = |coverage: &KernelCoverage, index: usize| {
        let label = &coverage.branches[index];
        (label.status, label.reason.clone(), label.proposal.is_some())
    };
    let reason =
        "internal error: the records of T1 cannot be: control cannot come to it".to_owned();
    assert_eq!(label(&contradicted, 0), (Status::Undetermined, Some(reason.clone()), false));
    assert_eq!(label(&contradicted, 1), (Status::Covered, None, false));
    let never_entered = &contradicted.points[0];
    assert_eq!(
        (never_entered.status, &never_entered.reason),
        (Status::Undetermined, &Some(reason))
    );
    let (coverage, _) = kernel.assessed(&["main W1.L2"]);
    let reason = "never executed, as `switch (m)` (W1) takes another label; dead code that is in the module is to be removed";
    assert_eq!(label(&coverage, 0), (Status::Uncovered, Some(reason.to_owned()), false));
    assert_eq!(label(&coverage, 1), (Status::Covered, None, false));
    kernel.structure.switches[0].labels[1].mark = None;
    let (coverage, _) = kernel.assessed(&["main W1.L1"]);
    let reason = Some("the label could not be marked".to_owned());
    assert_eq!(label(&coverage, 1), (Status::Undetermined, reason, false));
    let absent = Kernel::of_text(text).without_markers(&["W1.L1"]);
    let (coverage, _) = absent.assessed(&["main W1.L1 W1.L2"]);
    let reason = "no code generated: the compiler left it out of the module".to_owned();
    assert_eq!(label(&coverage, 0), (Status::Uncovered, Some(reason), true));
}

/// Each of what a module shows to be impossible counts by itself: values, decisions and marks.
#[test]
fn what_is_excluded_counts_without_any_fixed_condition() {
    let reason_of = |text: &str, excluded: &[&str], statement: &str| {
        let kernel = Kernel::of_text(text)
            .with_configuration("", &[(1, "A", "1")], &[("B", "2")])
            .with_excluded(excluded);
        let (coverage, _) = kernel.assessed(&[]);
        let found = coverage.statements.iter().find(|item| item.text == statement).unwrap();
        (found.reason.clone(), found.proposal.as_ref().map(|proposal| proposal.class))
    };
    let told = |cause: &str| {
        let configuration = "under the default configuration (A = 1, B = 2)";
        let reason = format!("never executed, as {cause} {configuration}");
        (Some(reason), Some(JustificationClass::Deactivated))
    };
    let text = "void never() { a; } void main() { if (x) { if (y) b; } switch (m) { case 1u: c; default: d; } }";
    let no_way = "no way that control can take leads to it";
    assert_eq!(reason_of(text, &["D2"], "b;"), told(no_way));
    assert_eq!(reason_of(text, &["W1.L1"], "c;"), told("`switch (m)` (W1) takes another label"));
    assert_eq!(reason_of(text, &["never"], "a;"), told("no call of `never` is ever made"));
    for (excluded, others) in
        [("D2", ["a;", "c;"]), ("W1.L1", ["a;", "d;"]), ("never", ["b;", "c;"])]
    {
        for other in others {
            assert_eq!(reason_of(text, &[excluded], other), (None, None), "{excluded} {other}");
        }
    }
    // A decision that control cannot come to leads to nothing.
    assert_eq!(reason_of(text, &["D1", "D2"], "b;"), told(no_way));
}

/// A define is behind a condition that has its whole name as a word.
#[test]
fn defines_are_named_where_a_condition_has_their_name() {
    let reason = |condition: &str| {
        let kernel = Kernel::of_text(&format!("void main() {{ if ({condition}) b; }}"))
            .with_configuration(
                "c",
                &[(4, "", "8")],
                &[("BUG", "1"), ("DEBUG", "2"), ("MY_BUG", "3"), ("x", "4")],
            )
            .with_fixed("D1", true, &[]);
        kernel.assessed(&[]).0.decisions[0].outcomes[1].reason.clone().unwrap()
    };
    for (condition, settings) in [
        ("DEBUG > 0u", " under configuration c (DEBUG = 2)"),
        ("MY_BUG+1 == f(x)", " under configuration c (MY_BUG = 3, x = 4)"),
        ("v.x<BUG", " under configuration c (BUG = 1, x = 4)"),
        ("x1 < DEBUGGER", ""),
        ("_x > BUG_", ""),
    ] {
        assert_eq!(reason(condition), format!("`{condition}` (D1) is always true{settings}"));
    }
}

/// What a decision could be by its fixed conditions, whatever stands around them.
#[test]
fn vectors_that_fixed_conditions_rule_out_are_told_apart() {
    let kernel = Kernel::of_text("void main() { if (A && x || y) b; }")
        .with_configuration("c", &[(1, "A", "0")], &[])
        .with_fixed("D1.C1", false, &[1]);
    let (coverage, contradictions) = kernel.assessed(&["main D1=F-T"]);
    assert_eq!(contradictions, [""; 0]);
    let decision = &coverage.decisions[0];
    let fixed = "`A` (D1.C1) is always false under configuration c (A = 0)";
    let rows: Vec<(&str, Status, Option<&str>)> = decision
        .combinations
        .iter()
        .map(|item| (item.id.as_str(), item.status, item.reason.as_deref()))
        .collect();
    let uncovered = Status::Uncovered;
    let expected = [
        ("D1.V.TT-", uncovered, Some(fixed)),
        ("D1.V.TFT", uncovered, Some(fixed)),
        ("D1.V.TFF", uncovered, Some(fixed)),
        ("D1.V.F-T", Status::Covered, None),
        ("D1.V.F-F", uncovered, None),
    ];
    assert_eq!(rows, expected);
    // The second condition is never evaluated, and the reason names the one that keeps it from it.
    let reasons: Vec<Option<&str>> =
        decision.mcdc.iter().map(|mcdc| mcdc.unique_cause.reason.as_deref()).collect();
    assert_eq!(reasons, [Some(fixed), Some(fixed), None]);
    assert_eq!(decision.missing.iter().map(Values::to_string).collect::<Vec<_>>(), ["F-F"]);
}
