//! Assessment and justification on a small kernel made by hand: a guard with two conditions around
//! a loop.

use super::criteria::{CRITERIA, Criterion, CriterionSubject};
use super::decision::Decision as Calculus;
use super::expression::parse;
use super::justification::{BoundKernel, Contents, GivenJustification};
use super::*;
use std::collections::BTreeMap;
use vkcert_model::coverage::{CriterionSummary, KernelCoverage, Status};
use vkcert_model::evidence::{Configuration, EVIDENCE_SCHEMA, SpecializedConstant};
use vkcert_model::id::{
    DecisionId, FunctionId, KernelName, ObligationId, StatementId, SwitchId, TestId,
};
use vkcert_model::object::ObjectStructure;
use vkcert_model::place::{FileIndex, SourceFile, Span};
use vkcert_model::records::{
    DecisionSlot, NumberedVector, Presence, PresentMarker, Reach, RecordLayout, Records,
};
use vkcert_model::requirement::{
    DeactivationCategory, Justification, JustificationClass, JustificationSubject,
};
use vkcert_model::structure::*;
use vkcert_model::vector::{Outcome, Values};

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
    let then = Statement {
        id: None,
        span: span("{"),
        kind: StatementKind::Block { block },
        expansion: Vec::new(),
    };
    let guard =
        StatementKind::If { decision: DecisionId(1), then: Box::new(then), otherwise: None };
    let main = Block(vec![statement(1, "if (x < k && y < m)", guard)]);
    KernelStructure {
        files: vec![SourceFile { path: "glsl/k.comp".to_owned(), text: TEXT.to_owned() }],
        entry: "main".to_owned(),
        functions: vec![function(1, "unused", Block::default()), function(2, "main", main)],
        decisions: vec![
            decision(1, "x < k && y < m", DecisionContext::If),
            decision(2, "i < n", DecisionContext::For),
        ],
        switches: Vec::new(),
        accuracy: Accuracy::Exact,
        markers: Vec::new(),
        value_marker: "vkcert_value".to_owned(),
        mark_marker: "vkcert_mark".to_owned(),
        texts: TextDigests::default(),
    }
}

/// Bits 0 and 1 are the function marks; then the vectors of each decision in canonical order, with
/// one gap behind them.
fn layout(structure: &KernelStructure) -> RecordLayout {
    let mut base = 2;
    let mut decisions = Vec::new();
    for decision in &structure.decisions {
        let coupling: Vec<u32> = decision.conditions.iter().map(|c| c.coupling).collect();
        let feasible =
            Calculus::new(&decision.expression, &coupling).unwrap().feasible(100).vectors;
        let size = feasible.len() as u32 + 1;
        let rows = feasible.into_iter().enumerate();
        let vectors =
            rows.map(|(sum, vector)| NumberedVector { sum: sum as u32, vector }).collect();
        decisions.push(DecisionSlot {
            decision: decision.id,
            base,
            size,
            weights: Vec::new(),
            vectors,
        });
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
        bits.push(
            slot.base + slot.vectors.iter().find(|row| row.vector.values == values).unwrap().sum,
        );
    }
    for bit in bits {
        records.words[bit as usize / 32] |= 1 << (bit % 32);
        records.witnesses.insert(bit, [bit, 0, 0]);
    }
    records
}

fn assessed(
    structure: &KernelStructure,
    presence: &Presence,
    tests: &[&[(u32, &str)]],
) -> KernelCoverage {
    let layout = layout(structure);
    let records: Vec<Records> = tests.iter().map(|shown| records(&layout, shown)).collect();
    assessed_records(structure, presence, &records)
}

/// Of `TC-1`, `TC-2` and so on, under the default configuration.
fn assessed_records(
    structure: &KernelStructure,
    presence: &Presence,
    records: &[Records],
) -> KernelCoverage {
    let named =
        records.iter().enumerate().map(|(i, records)| (TestId(format!("TC-{}", i + 1)), records));
    let (layout, configuration) = (layout(structure), Configuration::default());
    let subject = Subject {
        structure,
        layout: &layout,
        presence,
        configuration: &configuration,
        proposing: Proposing::Current,
    };
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
    let statuses: Vec<Status> =
        coverage.statements.iter().map(|statement| statement.status).collect();
    assert_eq!(
        statuses,
        [Status::Covered, Status::Uncovered, Status::Uncovered, Status::Uncovered]
    );
    assert_eq!(coverage.points.iter().filter(|point| point.status == Status::Covered).count(), 2);
}

#[test]
fn no_tests_leave_every_obligation_uncovered() {
    let coverage = assessed(&structure(), &presence(), &[]);
    // Obligations of object code, and barriers, come from the modules, which the sample lacks.
    let of_source = |criterion: &&&dyn Criterion| {
        criterion.subject() == CriterionSubject::Source && criterion.name() != "barrier"
    };
    for criterion in CRITERIA.iter().filter(of_source) {
        let row = row(&coverage, criterion.name());
        assert_eq!((row.uncovered, row.total > 0), (row.total, true), "{}", criterion.name());
    }
}

#[test]
fn an_unmarked_decision_is_undetermined_with_its_reason() {
    let mut structure = structure();
    structure.decisions[1].recording =
        Recording::Unmarked { reason: "constant-expression context".to_owned() };
    let coverage = assessed(&structure, &presence(), &[FULL]);
    let repeat = &coverage.decisions[1];
    assert!(repeat.outcomes.iter().all(|outcome| outcome.status == Status::Undetermined));
    assert_eq!(repeat.mcdc[0].masking.reason.as_deref(), Some("constant-expression context"));
    assert_eq!(row(&coverage, "decision").total, 6);
    assert_eq!(
        coverage.statements[2].status,
        Status::Undetermined,
        "the loop body may or may not have run"
    );
    assert_eq!(coverage.statements[3].status, Status::Covered, "the loop was left");
}

#[test]
fn a_decision_that_the_compiler_removed_is_uncovered() {
    let mut presence = presence();
    presence
        .markers
        .retain(|_, marker| marker.role != MarkerRole::Single { decision: DecisionId(2) });
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

fn assessed_under(
    (presence, configuration): &(Presence, Configuration),
    tests: &[&[(u32, &str)]],
) -> (KernelCoverage, Vec<String>) {
    let structure = structure();
    let layout = layout(&structure);
    let records: Vec<Records> = tests.iter().map(|test| records(&layout, test)).collect();
    let named: Vec<(TestId, &Records)> = records
        .iter()
        .enumerate()
        .map(|(i, records)| (TestId(format!("TC-{}", i + 1)), records))
        .collect();
    let subject = Subject {
        structure: &structure,
        layout: &layout,
        presence,
        configuration,
        proposing: Proposing::Current,
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

#[test]
fn each_exit_of_a_function_is_a_point_of_its_own() {
    let mut structure = structure();
    let StatementKind::If { then, .. } = &mut structure.functions[1].body.0[0].kind else {
        panic!("a guard")
    };
    let StatementKind::Block { block } = &mut then.kind else { panic!("a block") };
    block.0[1].kind = StatementKind::Return;
    structure.functions[1].exits.insert(0, Exit::Return { statement: StatementId(4) });
    let status = |shown: &[(u32, &str)]| {
        let points = assessed(&structure, &presence(), &[shown]).points;
        points.iter().map(|point| (point.id.to_string(), point.status)).collect::<Vec<_>>()
    };
    let expected = |first, second| {
        let rows = [("F2.entry", Status::Covered), ("F2.X1", first), ("F2.X2", second)];
        rows.map(|(id, status)| (id.to_owned(), status)).to_vec()
    };
    assert_eq!(status(&[(1, "F-")]), expected(Status::Uncovered, Status::Covered));
    assert_eq!(status(FULL), expected(Status::Covered, Status::Uncovered));
}

#[test]
fn a_decision_at_file_level_is_kept() {
    let mut structure = structure();
    structure.decisions[1].function = None;
    structure.decisions[0].function = Some(FunctionId(9));
    assert_eq!(assessed(&structure, &presence(), &[FULL]).decisions.len(), 2);
}

#[test]
fn a_label_is_covered_only_if_the_module_holds_it() {
    let mut structure = structure();
    let label = |mark: u32| Label {
        kind: LabelKind::Case,
        span: span("r += a[i];"),
        text: "case".to_owned(),
        mark: Some(MarkIndex(mark)),
    };
    let labels = vec![label(1), label(0)];
    structure.switches.push(Switch {
        id: SwitchId(1),
        span: span("r += a[i];"),
        text: "r".to_owned(),
        labels,
    });
    let kind = StatementKind::Switch { switch: SwitchId(1), body: Block::default() };
    structure.functions[1].body.0.push(statement(5, "result[x] = r;", kind));
    let layout = layout(&structure);
    let mut records = records(&layout, FULL);
    records.words[0] |= 0b11;
    let branches = assessed_records(&structure, &presence(), &[records]).branches;
    let labels = branches.iter().filter(|row| row.id.as_str().starts_with('W'));
    let labels: Vec<_> = labels.map(|row| (row.id.to_string(), row.status)).collect();
    assert_eq!(
        labels,
        [("W1.L1".to_owned(), Status::Covered), ("W1.L2".to_owned(), Status::Uncovered)]
    );
}

#[test]
fn a_justification_for_another_configuration_does_nothing() {
    let (coverage, _) = assessed_under(&resolved(), &[&[(1, "TT"), (2, "F")]]);
    let mut given = justification(&coverage, "D2.T");
    for (configuration, status) in [
        (None, Status::Justified),
        (Some("TILE=16"), Status::Justified),
        (Some("default"), Status::Uncovered),
    ] {
        given.configuration = configuration.map(str::to_owned);
        let justified = applied_at("A", &coverage, &[given.clone()]);
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
    let coverage = assessed_records(&structure, &presence(), &[records]);
    assert_eq!(coverage.decisions[0].outcomes[0].status, Status::Undetermined);
    assert!(coverage.decisions[0].outcomes[0].reason.as_ref().unwrap().contains("cannot occur"));
}

/// The kernel of the tests, as justifications are bound to it.
struct Bound {
    name: KernelName,
    structure: KernelStructure,
    objects: ObjectStructure,
}

impl Bound {
    fn new() -> Self {
        Self { name: "k".into(), structure: structure(), objects: ObjectStructure::default() }
    }

    fn kernel(&self) -> BoundKernel<'_> {
        let Bound { name, structure, objects } = self;
        BoundKernel {
            kernel: name,
            structure: Some(structure),
            objects,
            code: "c0de",
            configurations: &[],
        }
    }
}

fn justification(coverage: &KernelCoverage, obligation: &str) -> Justification {
    let bound = Bound::new();
    let obligation = ObligationId::from(obligation);
    let hash = Contents::of(bound.kernel(), coverage).hash(&obligation).unwrap_or_default();
    let person = |name: &str| name.to_owned();
    Justification {
        kernel: KernelName::from("k"),
        subject: JustificationSubject::Obligation(obligation),
        configuration: None,
        class: JustificationClass::Defensive,
        reason: "The host never passes such a size.".to_owned(),
        category: None,
        means: None,
        argument: None,
        author: person("A. Author"),
        approver: person("R. Reviewer"),
        hash,
    }
}

fn applied_at(level: &str, coverage: &KernelCoverage, given: &[Justification]) -> Justified {
    let given: Vec<_> = given
        .iter()
        .map(|justification| GivenJustification { justification, refuted: None })
        .collect();
    apply_justifications(
        Bound::new().kernel(),
        coverage,
        &given,
        &Standard::of(level, EVIDENCE_SCHEMA),
    )
}

#[test]
fn a_justification_closes_its_obligation_and_no_other() {
    let coverage = assessed(&structure(), &presence(), &[FULL, &[(1, "F-")]]);
    let given = [justification(&coverage, "D1.C2.masking")];
    let justified = applied_at("A", &coverage, &given);
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
        (
            "stale",
            (|j: &mut Justification| j.hash = format!("sha256:{}", "0".repeat(64)))
                as fn(&mut Justification),
        ),
        ("no obligation", |j| j.subject = JustificationSubject::Obligation("D9.T".into())),
        ("independence", |j| j.approver = "a. author".to_owned()),
        ("must be given", |j| j.reason = " ".to_owned()),
    ]);
    for (word, change) in changed {
        let mut given = justification(&coverage, "D1.C2.masking");
        change(&mut given);
        let justified = applied_at("B", &coverage, &[given]);
        let reason = justified.rejected[0].as_ref().expect(word).reason().to_owned();
        assert!(reason.contains(word), "{reason}");
        assert_eq!(justified.coverage, coverage);
    }
    let covered = [justification(&coverage, "D1.T"), justification(&coverage, "S1")];
    let justified = applied_at("C", &coverage, &covered);
    assert!(
        justified.rejected.iter().all(|reason| reason
            .as_ref()
            .unwrap()
            .reason()
            .contains("not needed"))
    );
}

#[test]
fn the_same_person_may_approve_at_level_c() {
    let coverage = assessed(&structure(), &presence(), &[FULL, &[(1, "F-")]]);
    let mut given = justification(&coverage, "D1.C2.masking");
    given.approver = given.author.clone();
    let justified = applied_at("C", &coverage, &[given]);
    assert_eq!(justified.rejected, [None]);
}

/// Each class with what its statement needs, of an outcome and of a statement that no test shows.
#[test]
fn what_each_class_closes() {
    let coverage = assessed(&structure(), &presence(), &[&[(1, "F-")]]);
    let rejection = |level: &str, obligation: &str, class: JustificationClass| {
        let mut given = justification(&coverage, obligation);
        given.class = class;
        given.category =
            (class == JustificationClass::Deactivated).then_some(DeactivationCategory::Never);
        given.means = (class == JustificationClass::Deactivated)
            .then(|| "The host has no such mode.".to_owned());
        given.argument =
            (class == JustificationClass::Infeasible).then(|| "k is above x.".to_owned());
        let justified = applied_at(level, &coverage, &[given]);
        let status = |id: &str| {
            let all = justified
                .coverage
                .statements
                .iter()
                .chain(&justified.coverage.decisions[0].outcomes);
            all.clone().find(|item| item.id.as_str() == id).unwrap().status
        };
        let rejected =
            justified.rejected[0].as_ref().map(|rejection| rejection.reason().to_owned());
        let expected = if rejected.is_none() { Status::Justified } else { Status::Uncovered };
        assert_eq!(status(obligation), expected, "{class} {obligation}: {rejected:?}");
        rejected.unwrap_or_default()
    };
    for class in [
        JustificationClass::MissingTest,
        JustificationClass::MissingRequirement,
        JustificationClass::Extraneous,
    ] {
        for level in ["A", "B", "C", "E", ""] {
            assert!(
                rejection(level, "D1.T", class).contains("it closes nothing"),
                "{class} at {level}"
            );
        }
        assert_eq!(rejection("D", "D1.T", class), "", "{class}");
    }
    for class in [
        JustificationClass::Defensive,
        JustificationClass::Analysis,
        JustificationClass::Deactivated,
    ] {
        assert_eq!(
            (rejection("A", "D1.T", class), rejection("A", "S2", class)),
            (String::new(), String::new())
        );
    }
    assert_eq!(rejection("A", "D1.T", JustificationClass::Infeasible), "");
    assert!(rejection("D", "S2", JustificationClass::Infeasible).contains("S2 is code"));
    for obligation in ["D1.T", "S2"] {
        assert!(rejection("D", obligation, JustificationClass::Dead).contains("is to be removed"));
    }
}

#[test]
fn only_what_the_module_does_not_hold_is_dead() {
    let mut without_loop = presence();
    without_loop
        .markers
        .retain(|_, marker| marker.role != MarkerRole::Single { decision: DecisionId(2) });
    let coverage = assessed(&structure(), &without_loop, &[&[(1, "TT")]]);
    assert_eq!(
        coverage.decisions[1].outcomes[0].proposal.as_ref().map(|proposal| proposal.class),
        Some(JustificationClass::Dead)
    );
    let dead = |obligation: &str| {
        let given = Justification {
            class: JustificationClass::Dead,
            ..justification(&coverage, obligation)
        };
        let rejected = applied_at("A", &coverage, &[given]).rejected.remove(0);
        rejected.map(|rejection| rejection.reason().to_owned())
    };
    for obligation in ["D2.T", "D2.F", "D2.C1.masking", "S3"] {
        assert_eq!(dead(obligation), None, "{obligation}");
    }
    assert!(dead("D1.F").unwrap().contains("D1.F is not shown to be absent"));
}

#[test]
fn what_a_class_states_belongs_to_it() {
    let coverage = assessed(&structure(), &presence(), &[&[(1, "F-")]]);
    let fault = |change: fn(&mut Justification)| {
        let mut given = justification(&coverage, "D1.T");
        change(&mut given);
        applied_at("A", &coverage, &[given]).rejected.remove(0).unwrap().reason().to_owned()
    };
    type Change = fn(&mut Justification);
    let wrong: [(Change, &str); 6] = [
        (|j| j.class = JustificationClass::Infeasible, "class infeasible states `argument`"),
        (|j| j.class = JustificationClass::Deactivated, "class deactivated states `category`"),
        (
            |j| {
                j.class = JustificationClass::Deactivated;
                j.category = Some(DeactivationCategory::Never);
                j.means = Some(" ".to_owned());
            },
            "class deactivated states `means`",
        ),
        (|j| j.category = Some(DeactivationCategory::Never), "class defensive has no `category`"),
        (|j| j.means = Some("a switch".to_owned()), "class defensive has no `means`"),
        (|j| j.argument = Some("a proof".to_owned()), "class defensive has no `argument`"),
    ];
    for (change, told) in wrong {
        assert!(fault(change).starts_with(told), "{}", fault(change));
    }
}

/// Everything that a justification is bound to changes its hash, by itself.
#[test]
fn hashes_are_over_all_that_a_justification_is_bound_to() {
    let coverage = assessed(&structure(), &presence(), &[FULL]);
    let hash_in =
        |bound: &Bound, code: &str, configurations: &[justification::BoundConfiguration]| {
            let kernel = BoundKernel { code, configurations, ..bound.kernel() };
            Contents::of(kernel, &coverage).hash(&"S3".into()).unwrap()
        };
    let plain = hash_in(&Bound::new(), "c0de", &[]);
    assert_eq!(plain, hash_in(&Bound::new(), "c0de", &[]));
    let configuration = |bits: &str| {
        let constant = SpecializedConstant {
            id: 7,
            name: None,
            type_name: "uint32".to_owned(),
            value: "16".to_owned(),
            bits: bits.to_owned(),
            default: false,
        };
        justification::BoundConfiguration::of(&Configuration {
            specialization: vec![constant],
            ..Default::default()
        })
    };
    let changed = |change: fn(&mut Bound)| {
        let mut bound = Bound::new();
        change(&mut bound);
        hash_in(&bound, "c0de", &[])
    };
    let others = [
        hash_in(&Bound::new(), "c0df", &[]),
        hash_in(&Bound::new(), "c0de", &[configuration("0x10")]),
        hash_in(&Bound::new(), "c0de", &[configuration("0x20")]),
        changed(|bound| bound.name = "other".into()),
        changed(|bound| bound.structure.functions[1].name = "other".to_owned()),
        // Another function of that name comes before it.
        changed(|bound| bound.structure.functions[0].name = "main".to_owned()),
        changed(|bound| {
            let text = &mut bound.structure.files[0].text;
            *text = text.replace("r += a[i];", "r -= a[i];");
        }),
    ];
    let all: std::collections::BTreeSet<&String> = others.iter().chain([&plain]).collect();
    assert_eq!(all.len(), others.len() + 1);
    // The number among equals, and how many there are.
    let numbered = |texts: [&str; 4]| {
        let mut bound = Bound::new();
        bound.structure.files[0].text = texts.concat();
        let (mut at, mut spans) = (0, Vec::new());
        for text in texts {
            spans.push(Span { file: FileIndex(0), start: at, end: at + text.len() as u32 });
            at += text.len() as u32;
        }
        let simple = |(index, span): (usize, &Span)| Statement {
            id: Some(StatementId(index as u32 + 1)),
            span: *span,
            kind: StatementKind::Simple,
            expansion: Vec::new(),
        };
        bound.structure.functions[1].body = Block(spans.iter().enumerate().map(simple).collect());
        hash_in(&bound, "c0de", &[])
    };
    let places: std::collections::BTreeSet<String> = [
        numbered(["a();", "b();", "x();", "c();"]),
        numbered(["x();", "b();", "x();", "c();"]),
        numbered(["a();", "b();", "x();", "x();"]),
        numbered(["x();", "b();", "x();", "x();"]),
    ]
    .into();
    assert_eq!(places.len(), 4);
}
