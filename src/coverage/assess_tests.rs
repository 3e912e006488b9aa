//! Assessment and justification on a small kernel made by hand: a guard with two conditions around a loop.

use super::criteria::{CRITERIA, Criterion, CriterionSubject};
use super::decision::Decision as Calculus;
use super::expression::parse;
use super::*;
use crate::model::coverage::{CriterionSummary, KernelCoverage, Status};
use crate::model::evidence::{Configuration, SpecializedConstant};
use crate::model::id::{DecisionId, FunctionId, KernelName, ObligationId, StatementId, TestId};
use crate::model::place::{FileIndex, SourceFile, Span};
use crate::model::records::{DecisionSlot, NumberedVector, Presence, PresentMarker, Reach, RecordLayout, Records};
use crate::model::requirement::{Justification, JustificationClass, JustificationSubject};
use crate::model::structure::*;
use crate::model::vector::{Outcome, Values};
use std::collections::BTreeMap;

const TEXT: &str = "void unused() {}\nvoid main() {\n  if (x < k && y < m) {\n    for (i = 0u; i < n; i++) r += a[i];\n    result[x] = r;\n  }\n}\n";

fn span(of: &str) -> Span {
    let start = TEXT.find(of).unwrap() as u32;
    Span { file: FileIndex(0), start, end: start + of.len() as u32 }
}

fn decision(number: u32, text: &str, context: DecisionContext) -> Decision {
    let parsed = parse(text).unwrap();
    let condition = |c: &expression::ParsedCondition| Condition {
        span: span(&c.text),
        text: c.text.clone(),
        coupling: c.coupling,
        constness: Constness::Runtime,
    };
    Decision {
        id: DecisionId(number),
        function: Some(FunctionId(2)),
        context,
        span: span(text),
        text: text.to_owned(),
        conditions: parsed.conditions.iter().map(condition).collect(),
        expression: parsed.expression,
        constness: Constness::Runtime,
        recording: Recording::Marked,
        expansion: Vec::new(),
    }
}

fn statement(id: u32, of: &str, kind: StatementKind) -> Statement {
    Statement { id: Some(StatementId(id)), span: span(of), kind, expansion: Vec::new() }
}

fn function(number: u32, name: &str, body: Block) -> Function {
    let whole = Span { file: FileIndex(0), start: 0, end: TEXT.len() as u32 };
    Function {
        id: FunctionId(number),
        name: name.to_owned(),
        span: whole,
        entry_mark: MarkIndex(number - 1),
        body,
        exits: vec![Exit::EndOfBody { span: span("}\n") }],
        expansion: Vec::new(),
    }
}

fn structure() -> KernelStructure {
    let sum = Box::new(statement(3, "r += a[i];", StatementKind::Simple));
    let repeat = StatementKind::For { init: None, decision: Some(DecisionId(2)), body: sum };
    let block = Block(vec![
        statement(2, "for (i = 0u; i < n; i++)", repeat),
        statement(4, "result[x] = r;", StatementKind::Simple),
    ]);
    let then = Statement { id: None, span: span("{"), kind: StatementKind::Block { block }, expansion: Vec::new() };
    let guard = StatementKind::If { decision: DecisionId(1), then: Box::new(then), otherwise: None };
    let main = Block(vec![statement(1, "if (x < k && y < m)", guard)]);
    KernelStructure {
        files: vec![SourceFile { path: "glsl/k.comp".to_owned(), text: TEXT.to_owned() }],
        entry: "main".to_owned(),
        functions: vec![function(1, "unused", Block::default()), function(2, "main", main)],
        decisions: vec![decision(1, "x < k && y < m", DecisionContext::If), decision(2, "i < n", DecisionContext::For)],
        switches: Vec::new(),
        accuracy: Accuracy::Exact,
        markers: Vec::new(),
        value_marker: "vkcert_value".to_owned(),
        mark_marker: "vkcert_mark".to_owned(),
    }
}

/// Bits 0 and 1 are the function marks; then the vectors of each decision in canonical order, with one gap behind them.
fn layout(structure: &KernelStructure) -> RecordLayout {
    let mut base = 2;
    let mut decisions = Vec::new();
    for decision in &structure.decisions {
        let coupling: Vec<u32> = decision.conditions.iter().map(|c| c.coupling).collect();
        let feasible = Calculus::new(&decision.expression, &coupling).unwrap().feasible(100).vectors;
        let size = feasible.len() as u32 + 1;
        let rows = feasible.into_iter().enumerate();
        let vectors = rows.map(|(sum, vector)| NumberedVector { sum: sum as u32, vector }).collect();
        decisions.push(DecisionSlot { decision: decision.id, base, size, weights: Vec::new(), vectors });
        base += size;
    }
    RecordLayout { decisions, marks: vec![0, 1], bits: base }
}

fn presence() -> Presence {
    let roles = [
        MarkerRole::Mark { mark: MarkIndex(1) },
        MarkerRole::Condition { decision: DecisionId(1), condition: 0 },
        MarkerRole::Condition { decision: DecisionId(1), condition: 1 },
        MarkerRole::Decision { decision: DecisionId(1) },
        MarkerRole::Single { decision: DecisionId(2) },
    ];
    let marker = |role: &MarkerRole| PresentMarker::runtime(*role);
    Presence { markers: (0..).zip(roles.iter().map(marker)).collect() }
}

/// Records of a test that showed these vectors, per decision; main was entered.
fn records(layout: &RecordLayout, shown: &[(u32, &str)]) -> Records {
    let mut records = Records { words: vec![0; layout.words()], ..Records::default() };
    let mut bits = vec![1];
    for (decision, values) in shown {
        let slot = layout.slot(DecisionId(*decision)).unwrap();
        let values: Values = values.parse().unwrap();
        bits.push(slot.base + slot.vectors.iter().find(|row| row.vector.values == values).unwrap().sum);
    }
    for bit in bits {
        records.words[bit as usize / 32] |= 1 << (bit % 32);
        records.witnesses.insert(bit, [bit, 0, 0]);
    }
    records
}

fn assessed(structure: &KernelStructure, presence: &Presence, tests: &[&[(u32, &str)]]) -> KernelCoverage {
    let layout = layout(structure);
    let records: Vec<Records> = tests.iter().map(|shown| records(&layout, shown)).collect();
    let named = records.iter().enumerate().map(|(i, records)| (TestId(format!("TC-{}", i + 1)), records));
    let configuration = Configuration::default();
    let subject = Subject { structure, layout: &layout, presence, configuration: &configuration };
    assess(&subject, &named.collect::<Vec<_>>())
}

fn row(coverage: &KernelCoverage, criterion: &str) -> CriterionSummary {
    coverage.summary.iter().find(|row| row.criterion == criterion).unwrap().clone()
}

const FULL: &[(u32, &str)] = &[(1, "TT"), (2, "T"), (2, "F")];

#[test]
fn full_records_complete_every_criterion() {
    let coverage = assessed(&structure(), &presence(), &[FULL, &[(1, "TF"), (1, "F-")]]);
    for criterion in CRITERIA {
        assert!(row(&coverage, criterion.name()).complete(), "{}: {coverage:#?}", criterion.name());
    }
    assert_eq!(row(&coverage, "statement").total, 4);
    assert_eq!(row(&coverage, "decision").total, 6, "four outcomes, entry and exit of main");
    assert_eq!(coverage.not_reached, ["unused"]);
    let pair = coverage.decisions[0].mcdc[0].unique_cause.shown_by.clone().unwrap();
    assert_eq!((pair[0].test.as_str(), pair[1].test.as_str()), ("TC-1", "TC-2"));
    assert_eq!(pair[0].invocation, Some([2, 0, 0]));
    assert_eq!((coverage.decisions[0].line, coverage.decisions[0].column), (3, 7));
}

#[test]
fn a_missing_vector_is_named_with_what_to_add() {
    let coverage = assessed(&structure(), &presence(), &[FULL, &[(1, "F-")]]);
    let guard = &coverage.decisions[0];
    assert_eq!(guard.mcdc[1].masking.status, Status::Uncovered);
    assert_eq!(guard.missing, ["TF".parse().unwrap()]);
    assert_eq!(guard.closing_set, ["TF".parse().unwrap()]);
    assert_eq!(
        guard.explanation,
        [
            "D1.C2: no test shows that `y < m` alone turns the outcome; add x < k true, y < m false (TF), which makes a pair with TT (shown by TC-1)."
        ]
    );
}

#[test]
fn what_follows_an_unseen_outcome_is_not_executed() {
    let coverage = assessed(&structure(), &presence(), &[&[(1, "F-")]]);
    let statuses: Vec<Status> = coverage.statements.iter().map(|statement| statement.status).collect();
    assert_eq!(statuses, [Status::Covered, Status::Uncovered, Status::Uncovered, Status::Uncovered]);
    assert_eq!(coverage.points.iter().filter(|point| point.status == Status::Covered).count(), 2);
}

#[test]
fn no_tests_leave_every_obligation_uncovered() {
    let coverage = assessed(&structure(), &presence(), &[]);
    // Obligations of object code, and barriers, come from the modules, which the sample lacks.
    let of_source =
        |criterion: &&&dyn Criterion| criterion.subject() == CriterionSubject::Source && criterion.name() != "barrier";
    for criterion in CRITERIA.iter().filter(of_source) {
        let row = row(&coverage, criterion.name());
        assert_eq!((row.uncovered, row.total > 0), (row.total, true), "{}", criterion.name());
    }
}

#[test]
fn an_unmarked_decision_is_undetermined_with_its_reason() {
    let mut structure = structure();
    structure.decisions[1].recording = Recording::Unmarked { reason: "constant-expression context".to_owned() };
    let coverage = assessed(&structure, &presence(), &[FULL]);
    let repeat = &coverage.decisions[1];
    assert!(repeat.outcomes.iter().all(|outcome| outcome.status == Status::Undetermined));
    assert_eq!(repeat.mcdc[0].masking.reason.as_deref(), Some("constant-expression context"));
    assert_eq!(row(&coverage, "decision").total, 6);
    assert_eq!(coverage.statements[2].status, Status::Undetermined, "the loop body may or may not have run");
    assert_eq!(coverage.statements[3].status, Status::Covered, "the loop was left");
}

#[test]
fn a_decision_that_the_compiler_removed_is_uncovered() {
    let mut presence = presence();
    presence.markers.retain(|_, marker| marker.role != MarkerRole::Single { decision: DecisionId(2) });
    let coverage = assessed(&structure(), &presence, &[FULL]);
    let reason = coverage.decisions[1].outcomes[0].reason.clone().unwrap();
    assert!(reason.contains("no code generated"), "{reason}");
    assert_eq!(row(&coverage, "mcdc-masking").total, 3);
}

#[test]
fn the_impossible_outcome_of_a_constant_stays_uncovered() {
    let mut presence = presence();
    presence.markers.get_mut(&4).unwrap().constness = Constness::Specialization;
    let coverage = assessed(&structure(), &presence, &[&[(1, "TT"), (2, "F")]]);
    let repeat = &coverage.decisions[1];
    assert_eq!(
        (repeat.constness, repeat.constant_outcome.map(|o| o.as_bool())),
        (Constness::Specialization, Some(false))
    );
    assert_eq!(repeat.outcomes[0].status, Status::Uncovered);
    assert!(repeat.outcomes[0].reason.as_ref().unwrap().contains("always F"));
    assert_eq!(repeat.outcomes[1].status, Status::Covered);
}

/// `x < k` fixed at true by a constant, and the loop never entered.
fn resolved() -> (Presence, Configuration) {
    let mut presence = presence();
    for (role, value) in [
        (MarkerRole::Condition { decision: DecisionId(1), condition: 0 }, true),
        (MarkerRole::Single { decision: DecisionId(2) }, false),
    ] {
        let marker = presence.markers.values_mut().find(|marker| marker.role == role).unwrap();
        (marker.value, marker.constants, marker.constness) = (Some(value), vec![3], Constness::Specialization);
    }
    let constant = SpecializedConstant {
        id: 3,
        name: Some("TILE".to_owned()),
        type_name: "uint".to_owned(),
        value: "16".to_owned(),
        bits: "0x10".to_owned(),
        default: false,
    };
    let configuration =
        Configuration { name: "TILE=16".to_owned(), specialization: vec![constant], ..Configuration::default() };
    (presence, configuration)
}

fn assessed_under(
    (presence, configuration): &(Presence, Configuration),
    tests: &[&[(u32, &str)]],
) -> (KernelCoverage, Vec<String>) {
    let structure = structure();
    let layout = layout(&structure);
    let records: Vec<Records> = tests.iter().map(|test| records(&layout, test)).collect();
    let named: Vec<(TestId, &Records)> =
        records.iter().enumerate().map(|(i, records)| (TestId(format!("TC-{}", i + 1)), records)).collect();
    let subject = Subject { structure: &structure, layout: &layout, presence, configuration };
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
    let states: Vec<_> = guard.combinations.iter().map(|c| (c.id.as_str(), c.status, c.proposal.is_some())).collect();
    let (covered, uncovered) = (Status::Covered, Status::Uncovered);
    assert_eq!(states, [("D1.V.TT", covered, false), ("D1.V.TF", uncovered, false), ("D1.V.F-", uncovered, true)]);
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
    let (coverage, contradictions) = assessed_under(&resolved(), &[&[(1, "TT"), (1, "F-"), (2, "F")]]);
    let [sentence] = contradictions.as_slice() else { panic!("{contradictions:?}") };
    assert!(sentence.contains("TC-1") && sentence.contains("D1 shows F-"), "{sentence}");
    let guard = &coverage.decisions[0];
    assert!(guard.outcomes.iter().all(|outcome| outcome.status == Status::Undetermined), "{:?}", guard.outcomes);
    assert!(guard.outcomes[0].reason.as_ref().unwrap().starts_with("internal error"), "{:?}", guard.outcomes[0]);
    // A marker that control cannot come to is recorded all the same.
    let mut excluded = resolved();
    let role = MarkerRole::Single { decision: DecisionId(2) };
    excluded.0.markers.values_mut().find(|marker| marker.role == role).unwrap().reach = Reach::Excluded;
    let (_, contradictions) = assessed_under(&excluded, &[&[(1, "TT"), (2, "F")]]);
    assert!(contradictions.iter().any(|sentence| sentence.contains("D2 is evaluated")), "{contradictions:?}");
}

#[test]
fn a_justification_for_another_configuration_does_nothing() {
    let (coverage, _) = assessed_under(&resolved(), &[&[(1, "TT"), (2, "F")]]);
    let mut given = justification(&coverage, "D2.T");
    for (configuration, status) in
        [(None, Status::Justified), (Some("TILE=16"), Status::Justified), (Some("default"), Status::Uncovered)]
    {
        given.configuration = configuration.map(str::to_owned);
        let justified = apply_justifications(&"k".into(), &coverage, &[given.clone()], Approval::Independent);
        assert_eq!(justified.rejected, [None]);
        assert_eq!(justified.coverage.decisions[1].outcomes[0].status, status, "{configuration:?}");
    }
}

#[test]
fn a_record_of_an_impossible_vector_makes_the_decision_undetermined() {
    let structure = structure();
    let layout = layout(&structure);
    let mut records = records(&layout, FULL);
    let gap = layout.decisions[0].base + layout.decisions[0].size - 1;
    records.words[0] |= 1 << gap;
    let (presence, configuration) = (presence(), Configuration::default());
    let subject =
        Subject { structure: &structure, layout: &layout, presence: &presence, configuration: &configuration };
    let coverage = assess(&subject, &[(TestId::from("TC-1"), &records)]);
    assert_eq!(coverage.decisions[0].outcomes[0].status, Status::Undetermined);
    assert!(coverage.decisions[0].outcomes[0].reason.as_ref().unwrap().contains("cannot occur"));
}

fn justification(coverage: &KernelCoverage, obligation: &str) -> Justification {
    let kernel = KernelName::from("k");
    let obligation = ObligationId::from(obligation);
    let text = justification::contents(coverage).get(&obligation).cloned().unwrap_or_default();
    let hash = obligation_hash(&kernel, &obligation, &text);
    let person = |name: &str| name.to_owned();
    Justification {
        kernel,
        subject: JustificationSubject::Obligation(obligation),
        configuration: None,
        class: JustificationClass::Defensive,
        reason: "The host never passes such a size.".to_owned(),
        author: person("A. Author"),
        approver: person("R. Reviewer"),
        hash,
    }
}

#[test]
fn a_justification_closes_its_obligation_and_no_other() {
    let coverage = assessed(&structure(), &presence(), &[FULL, &[(1, "F-")]]);
    let given = [justification(&coverage, "D1.C2.masking")];
    let justified = apply_justifications(&"k".into(), &coverage, &given, Approval::Independent);
    assert_eq!(justified.rejected, [None]);
    let guard = &justified.coverage.decisions[0];
    assert_eq!(
        (guard.mcdc[1].masking.status, guard.mcdc[1].unique_cause.status),
        (Status::Justified, Status::Uncovered)
    );
    assert!(row(&justified.coverage, "mcdc-masking").complete());
    assert!(!row(&justified.coverage, "mcdc-unique-cause").complete());
}

#[test]
fn justifications_that_do_not_hold_are_rejected_with_a_reason() {
    let coverage = assessed(&structure(), &presence(), &[FULL, &[(1, "F-")]]);
    let changed: BTreeMap<&str, fn(&mut Justification)> = BTreeMap::from([
        ("stale", (|j: &mut Justification| j.hash = format!("sha256:{}", "0".repeat(64))) as fn(&mut Justification)),
        ("no obligation", |j| j.subject = JustificationSubject::Obligation("D9.T".into())),
        ("independence", |j| j.approver = "a. author".to_owned()),
        ("must be given", |j| j.reason = " ".to_owned()),
    ]);
    for (word, change) in changed {
        let mut given = justification(&coverage, "D1.C2.masking");
        change(&mut given);
        let justified = apply_justifications(&"k".into(), &coverage, &[given], Approval::for_level("B"));
        let reason = justified.rejected[0].clone().expect(word);
        assert!(reason.contains(word), "{reason}");
        assert_eq!(justified.coverage, coverage);
    }
    let covered = [justification(&coverage, "D1.T"), justification(&coverage, "S1")];
    let justified = apply_justifications(&"k".into(), &coverage, &covered, Approval::Free);
    assert!(justified.rejected.iter().all(|reason| reason.as_ref().unwrap().contains("not needed")));
}

#[test]
fn the_same_person_may_approve_at_level_c() {
    let coverage = assessed(&structure(), &presence(), &[FULL, &[(1, "F-")]]);
    let mut given = justification(&coverage, "D1.C2.masking");
    given.approver = given.author.clone();
    let justified = apply_justifications(&"k".into(), &coverage, &[given], Approval::for_level("C"));
    assert_eq!(justified.rejected, [None]);
}
