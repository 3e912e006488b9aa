//! Assessment and justification on a small kernel made by hand: a guard with two conditions around
//! a loop.

mod bindings;
mod justification;
mod lines;
mod lists;
mod obligations;
mod resolution;
mod source;
mod statement_counts;
mod unrecorded;

use super::criteria::{CRITERIA, Criterion, CriterionSubject};
use super::decision::Decision as Calculus;
use super::expression::parse;
use super::justification::{BoundContents, BoundKernel, GivenJustification};
use super::*;
use std::collections::BTreeMap;
use vkcert_model::coverage::{CriterionSummary, KernelCoverage, Status};
use vkcert_model::criterion::CriterionName;
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
        markers: [0, 1].map(|mark| MarkerRole::Mark { mark: MarkIndex(mark) }).into(),
        value_marker: "vkcert_value".to_owned(),
        mark_marker: "vkcert_mark".to_owned(),
        texts: TextDigests::default(),
        requested: RequestedParts::default(),
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
            Calculus::new(&decision.expression, &coupling).unwrap().feasible_vectors(100).vectors;
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
    let named = records
        .iter()
        .enumerate()
        .map(|(i, records)| (TestId::from(format!("TC-{}", i + 1)), records));
    let (layout, configuration) = (layout(structure), Configuration::default());
    let subject = CoverageSubject {
        structure,
        layout: &layout,
        presence,
        configuration: &configuration,
        proposing: ProposalRules::Current,
    };
    assess(&subject, &named.collect::<Vec<_>>())
}

fn row(coverage: &KernelCoverage, criterion: CriterionName) -> CriterionSummary {
    coverage.summary.iter().find(|row| row.criterion == criterion).unwrap().clone()
}

const FULL: &[(u32, &str)] = &[(1, "TT"), (2, "T"), (2, "F")];

#[test]
fn full_records_complete_every_criterion() {
    let coverage = assessed(&structure(), &presence(), &[FULL, &[(1, "TF"), (1, "F-")]]);
    let measured = CRITERIA.iter().filter(|row| row.is_measured(&coverage));
    for criterion in measured.filter(|row| row.criterion() != CriterionName::Function) {
        assert!(
            row(&coverage, criterion.criterion()).complete(),
            "{}: {coverage:#?}",
            criterion.name()
        );
    }
    assert_eq!(row(&coverage, CriterionName::Statement).total, 4);
    assert_eq!(
        row(&coverage, CriterionName::Decision).total,
        6,
        "four outcomes, entry and exit of main"
    );
    assert_eq!(coverage.not_reached, ["unused"]);
    let functions = coverage.functions.iter().flatten();
    let functions: Vec<_> = functions.map(|row| (row.id.as_str(), row.status)).collect();
    assert_eq!(functions, [("F1", Status::Uncovered), ("F2", Status::Covered)]);
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
        criterion.subject() == CriterionSubject::Source
            && criterion.criterion() != CriterionName::Barrier
    };
    let measured = CRITERIA.iter().filter(|criterion| criterion.is_measured(&coverage));
    for criterion in measured.filter(of_source) {
        let row = row(&coverage, criterion.criterion());
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
    assert_eq!(row(&coverage, CriterionName::Decision).total, 6);
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
    assert_eq!(row(&coverage, CriterionName::McdcMasking).total, 3);
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
