//! From records to obligations: the coverage of one kernel under one configuration by the tests that passed.
//!
//! Knows: structure, layout, presence and the records of passed tests, in order of execution.
//! Promises: every statement, outcome, label, entry and exit point, and condition of every function that the module holds
//! is an obligation, whatever could be measured of it; functions that it does not hold are named in `not_reached`.
//! A decision that cannot be recorded is undetermined with the reason; one that the compiler removed is uncovered ("no
//! code generated"): its place was never executed. A constant decision keeps both outcomes as obligations.
//! Does not cover: what the records of failed tests show (the caller leaves them out), justifications.

use super::command::UNATTAINABLE;
use super::criteria;
use super::mcdc::{Analysis, Attainability, ConditionAnalysis, FormAnalysis, MAX_VECTORS, Mcdc};
use super::statement::{Evidence, Execution, Taken, Truth, execution};
use crate::model::coverage::{
    ConditionMcdc, ConditionPlace, DecisionCoverage, Independence, KernelCoverage, ObservedVector, SimpleObligation,
    Status, Witness,
};
use crate::model::id::{ConditionId, DecisionId, FunctionId, ObligationId, TestId};
use crate::model::place::{Position, Span};
use crate::model::records::{DecisionSlot, Presence, RecordLayout, Records};
use crate::model::structure::{
    Block, Constness, Decision, Exit, Function, KernelStructure, LabelKind, MarkIndex, MarkerRole, Recording,
    Statement, StatementKind, Switch,
};
use crate::model::vector::{ConditionValue, Outcome, Values};
use std::collections::{BTreeMap, BTreeSet};

/// Longest text of a statement in a report, in characters.
const MAX_TEXT: usize = 160;

/// Assesses one kernel; `tests` are those that passed, in order of execution.
pub fn assess(
    structure: &KernelStructure,
    layout: &RecordLayout,
    presence: &Presence,
    tests: &[(TestId, &Records)],
) -> KernelCoverage {
    let assessment = Assessment::new(structure, layout, presence, tests);
    let mut coverage = KernelCoverage {
        statements: assessment.statements(),
        branches: Vec::new(),
        points: assessment.points(),
        decisions: assessment.decisions(),
        not_reached: assessment.not_reached(),
        summary: Vec::new(),
    };
    coverage.branches = assessment.branches(&coverage.decisions);
    coverage.summary = criteria::summary(&coverage);
    coverage
}

struct Assessment<'a> {
    structure: &'a KernelStructure,
    slots: BTreeMap<DecisionId, &'a DecisionSlot>,
    layout: &'a RecordLayout,
    tests: &'a [(TestId, &'a Records)],
    /// What the module holds of each decision's and condition's markers.
    outcome_markers: BTreeMap<DecisionId, Constness>,
    condition_markers: BTreeMap<(DecisionId, u32), Constness>,
    marks: BTreeSet<MarkIndex>,
    /// By test.
    executions: Vec<Execution>,
}

/// The records of one test as evidence of execution.
struct TestEvidence<'a> {
    assessment: &'a Assessment<'a>,
    records: &'a Records,
}

impl Evidence for TestEvidence<'_> {
    fn decision(&self, decision: DecisionId) -> Taken {
        let assessment = self.assessment;
        if let Recording::Unmarked { .. } = assessment.structure.decision(decision).recording {
            return Taken::Unrecorded;
        }
        if !assessment.outcome_markers.contains_key(&decision) {
            return Taken::Recorded { true_seen: false, false_seen: false };
        }
        let Some(slot) = assessment.slots.get(&decision) else { return Taken::Unrecorded };
        if impossible_record(slot, self.records) {
            return Taken::Unrecorded;
        }
        let seen = |outcome: Outcome| {
            let vectors = slot.vectors.iter().filter(|row| row.vector.outcome == outcome);
            vectors.into_iter().any(|row| self.records.has(slot.base + row.sum))
        };
        Taken::Recorded { true_seen: seen(Outcome::True), false_seen: seen(Outcome::False) }
    }

    fn mark(&self, mark: MarkIndex) -> Option<bool> {
        if !self.assessment.marks.contains(&mark) {
            return Some(false);
        }
        self.assessment.layout.mark_bit(mark).map(|bit| self.records.has(bit))
    }
}

/// Whether a bit is set that belongs to no vector: then the records of the decision cannot be trusted.
fn impossible_record(slot: &DecisionSlot, records: &Records) -> bool {
    let known: BTreeSet<u32> = slot.vectors.iter().map(|row| row.sum).collect();
    (0..slot.size).any(|sum| records.has(slot.base + sum) && !known.contains(&sum))
}

impl<'a> Assessment<'a> {
    fn new(
        structure: &'a KernelStructure,
        layout: &'a RecordLayout,
        presence: &'a Presence,
        tests: &'a [(TestId, &'a Records)],
    ) -> Self {
        let mut assessment = Self {
            structure,
            slots: layout.slots_by_decision(),
            layout,
            tests,
            outcome_markers: BTreeMap::new(),
            condition_markers: BTreeMap::new(),
            marks: BTreeSet::new(),
            executions: Vec::new(),
        };
        for marker in presence.markers.values() {
            match marker.role {
                MarkerRole::Condition { decision, condition } => {
                    assessment.condition_markers.insert((decision, condition), marker.constness);
                }
                MarkerRole::Decision { decision } => {
                    assessment.outcome_markers.insert(decision, marker.constness);
                }
                MarkerRole::Single { decision } => {
                    assessment.outcome_markers.insert(decision, marker.constness);
                    assessment.condition_markers.insert((decision, 0), marker.constness);
                }
                MarkerRole::Mark { mark } => {
                    assessment.marks.insert(mark);
                }
            }
        }
        let of_test = |(_, records): &(TestId, &'a Records)| {
            execution(structure, &TestEvidence { assessment: &assessment, records })
        };
        let executions = tests.iter().map(of_test).collect();
        Self { executions, ..assessment }
    }

    /// Whether a function is part of the kernel. The entry point always is, even if its mark should be missing.
    fn reached(&self, function: &Function) -> bool {
        self.marks.contains(&function.entry_mark) || function.name == self.structure.entry
    }

    fn reached_functions(&self) -> impl Iterator<Item = (usize, &'a Function)> + '_ {
        self.structure.functions.iter().enumerate().filter(|(_, function)| self.reached(function))
    }

    fn function(&self, id: FunctionId) -> Option<&'a Function> {
        self.structure.functions.iter().find(|function| function.id == id)
    }

    fn not_reached(&self) -> Vec<String> {
        let functions = self.structure.functions.iter().filter(|function| !self.reached(function));
        functions.map(|function| function.name.clone()).collect()
    }

    /// An obligation from what each test says of it.
    fn simple(&self, id: String, span: Span, text: String, found: impl Fn(&Execution) -> Truth) -> SimpleObligation {
        let truths: Vec<Truth> = self.executions.iter().map(found).collect();
        let with = |wanted: Truth| {
            let tests = self.tests.iter().zip(&truths).filter(move |(_, truth)| **truth == wanted);
            tests.map(|((test, _), _)| test.clone()).collect::<Vec<_>>()
        };
        let tests = with(Truth::Yes);
        let status = match (tests.is_empty(), with(Truth::Unknown).is_empty()) {
            (false, _) => Status::Covered,
            (true, false) => Status::Undetermined,
            (true, true) => Status::Uncovered,
        };
        let reason =
            (status == Status::Undetermined).then(|| "a decision or label on the way to it is not recorded".to_owned());
        self.obligation(id, span, text, status, reason, tests)
    }

    fn obligation(
        &self,
        id: String,
        span: Span,
        text: String,
        status: Status,
        reason: Option<String>,
        tests: Vec<TestId>,
    ) -> SimpleObligation {
        let (file, position) = self.place(span);
        SimpleObligation {
            id: ObligationId(id),
            file,
            line: position.line,
            column: position.column,
            text,
            status,
            reason,
            tests,
        }
    }

    fn place(&self, span: Span) -> (String, Position) {
        match self.structure.files.get(span.file.0 as usize) {
            Some(file) => (file.path.clone(), Position::of(&file.text, span.start as usize)),
            None => (String::new(), Position { line: 1, column: 1 }),
        }
    }

    fn text(&self, span: Span) -> String {
        let file = self.structure.files.get(span.file.0 as usize);
        let text = file.and_then(|file| file.text.get(span.start as usize..span.end as usize)).unwrap_or("");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match words.char_indices().nth(MAX_TEXT) {
            Some((end, _)) => format!("{} …", &words[..end]),
            None => words,
        }
    }

    fn statements(&self) -> Vec<SimpleObligation> {
        let mut found = Vec::new();
        for (_, function) in self.reached_functions() {
            each_statement(&function.body, &mut |statement| {
                if let Some(id) = statement.id {
                    let truth =
                        |execution: &Execution| execution.statements.get(&id).copied().unwrap_or(Truth::Unknown);
                    found.push((id, self.simple(id.to_string(), statement.span, self.text(statement.span), truth)));
                }
            });
        }
        found.sort_by_key(|(id, _)| *id);
        found.into_iter().map(|(_, obligation)| obligation).collect()
    }

    fn points(&self) -> Vec<SimpleObligation> {
        let mut points = Vec::new();
        for (index, function) in self.reached_functions() {
            let text = format!("entry of {}", function.name);
            let entry = |execution: &Execution| execution.points[index].0;
            points.push(self.simple(format!("{}.entry", function.id), function.span, text, entry));
            for (number, exit) in function.exits.iter().enumerate() {
                let (span, text) = match exit {
                    Exit::Return { statement } => {
                        let span = statement_span(&function.body, *statement).unwrap_or(function.span);
                        (span, format!("exit of {}: {}", function.name, self.text(span)))
                    }
                    Exit::EndOfBody { span } => (*span, format!("exit of {}: end of body", function.name)),
                };
                let left = |execution: &Execution| execution.points[index].1[number];
                points.push(self.simple(format!("{}.X{}", function.id, number + 1), span, text, left));
            }
        }
        points
    }

    fn branches(&self, decisions: &[DecisionCoverage]) -> Vec<SimpleObligation> {
        let directing = decisions.iter().filter(|decision| decision.context.controls_flow());
        let mut branches: Vec<SimpleObligation> = directing.flat_map(|decision| decision.outcomes.clone()).collect();
        for (_, function) in self.reached_functions() {
            each_statement(&function.body, &mut |statement| {
                if let StatementKind::Switch { switch, .. } = &statement.kind {
                    branches.extend(self.labels(self.structure.switch(*switch)));
                }
            });
        }
        branches
    }

    fn labels(&self, switch: &Switch) -> Vec<SimpleObligation> {
        let label = |(index, label): (usize, &crate::model::structure::Label)| {
            let id = format!("{}.L{}", switch.id, index + 1);
            let text = match label.kind {
                LabelKind::Case | LabelKind::Default => label.text.clone(),
                LabelKind::ImplicitDefault => format!("no label of switch ({})", switch.text),
            };
            let bit = label.mark.and_then(|mark| self.layout.mark_bit(mark));
            let Some((bit, mark)) = bit.zip(label.mark) else {
                let reason = Some("the label could not be marked".to_owned());
                return self.obligation(id, label.span, text, Status::Undetermined, reason, Vec::new());
            };
            let present = self.marks.contains(&mark);
            let tests = self.tests.iter().filter(|(_, records)| present && records.has(bit));
            let tests: Vec<TestId> = tests.map(|(test, _)| test.clone()).collect();
            let status = if tests.is_empty() { Status::Uncovered } else { Status::Covered };
            let reason = (!present).then(|| NO_CODE.to_owned());
            self.obligation(id, label.span, text, status, reason, tests)
        };
        switch.labels.iter().enumerate().map(label).collect()
    }

    fn decisions(&self) -> Vec<DecisionCoverage> {
        let part = |decision: &&Decision| match decision.function.and_then(|id| self.function(id)) {
            Some(function) => self.reached(function),
            // At global scope, or in a function that is not listed: kept, never dropped.
            None => true,
        };
        self.structure.decisions.iter().filter(part).map(|decision| self.decision(decision)).collect()
    }

    fn decision(&self, decision: &Decision) -> DecisionCoverage {
        let measured = self.measure(decision);
        let constness = self.constness(decision);
        let (file, position) = self.place(decision.span);
        let mut coverage = DecisionCoverage {
            id: decision.id,
            file,
            line: position.line,
            column: position.column,
            text: decision.text.clone(),
            function: decision.function.and_then(|id| self.function(id)).map(|function| function.name.clone()),
            context: decision.context,
            constness,
            constant_outcome: None,
            expansion: decision.expansion.iter().map(|expansion| expansion.macro_name.clone()).collect(),
            outcomes: Vec::new(),
            conditions: self.conditions(decision),
            vectors: Vec::new(),
            mcdc: Vec::new(),
            missing: Vec::new(),
            closing_set: Vec::new(),
            explanation: Vec::new(),
        };
        match measured {
            Measured::Undetermined { reason } => self.undetermined(decision, &mut coverage, &reason),
            Measured::Absent => self.absent(decision, &mut coverage),
            Measured::Vectors(vectors) => self.measured(decision, &mut coverage, vectors),
        }
        coverage
    }

    fn constness(&self, decision: &Decision) -> Constness {
        let in_module = self.outcome_markers.get(&decision.id).copied().unwrap_or(Constness::Runtime);
        decision.constness.min(in_module)
    }

    fn conditions(&self, decision: &Decision) -> Vec<ConditionPlace> {
        let id = |index: usize| ConditionId { decision: decision.id, number: index as u32 + 1 };
        let place = |(index, condition): (usize, &crate::model::structure::Condition)| {
            let (_, position) = self.place(condition.span);
            let others = decision.conditions.iter().enumerate();
            let coupled = others.filter(|(other, c)| *other != index && c.coupling == condition.coupling);
            let in_module = self.condition_markers.get(&(decision.id, index as u32)).copied();
            ConditionPlace {
                id: id(index),
                text: condition.text.clone(),
                line: position.line,
                column: position.column,
                span: [condition.span.start, condition.span.end],
                constness: condition.constness.min(in_module.unwrap_or(Constness::Runtime)),
                coupled_with: coupled.map(|(other, _)| id(other)).collect(),
            }
        };
        decision.conditions.iter().enumerate().map(place).collect()
    }

    /// What the records hold of a decision.
    fn measure(&self, decision: &Decision) -> Measured {
        if let Recording::Unmarked { reason } = &decision.recording {
            return Measured::Undetermined { reason: reason.clone() };
        }
        if !self.outcome_markers.contains_key(&decision.id) {
            return Measured::Absent;
        }
        let Some(slot) = self.slots.get(&decision.id) else {
            return Measured::Undetermined { reason: "it has no place among the records".to_owned() };
        };
        if let Some((test, _)) = self.tests.iter().find(|(_, records)| impossible_record(slot, records)) {
            let reason = format!("the records of {test} hold a vector that cannot occur");
            return Measured::Undetermined { reason };
        }
        let mut vectors = Vec::new();
        for row in &slot.vectors {
            let bit = slot.base + row.sum;
            let shown = || self.tests.iter().filter(|(_, records)| records.has(bit));
            let witnesses: Vec<_> = shown().map(|(_, records)| records.witnesses.get(&bit).copied()).collect();
            if let Some(witness) = witnesses.first().copied() {
                vectors.push(ObservedVector {
                    values: row.vector.values.clone(),
                    outcome: row.vector.outcome,
                    tests: shown().map(|(test, _)| test.clone()).collect(),
                    witness,
                    witnesses,
                });
            }
        }
        vectors.sort_by(|a, b| a.values.cmp(&b.values));
        Measured::Vectors(vectors)
    }

    /// Fills in a decision of which nothing can be known.
    fn undetermined(&self, decision: &Decision, coverage: &mut DecisionCoverage, reason: &str) {
        let reason = Some(reason.to_owned());
        coverage.outcomes = self.outcomes(decision, |_| (Status::Undetermined, reason.clone(), Vec::new()));
        let open = Independence { status: Status::Undetermined, pair: None, shown_by: None, reason };
        coverage.mcdc = every_condition(coverage, &open);
    }

    /// Fills in a decision that the compiler left out of the module.
    fn absent(&self, decision: &Decision, coverage: &mut DecisionCoverage) {
        let reason = Some(NO_CODE.to_owned());
        coverage.outcomes = self.outcomes(decision, |_| (Status::Uncovered, reason.clone(), Vec::new()));
        let open = Independence { status: Status::Uncovered, pair: None, shown_by: None, reason };
        coverage.mcdc = every_condition(coverage, &open);
    }

    fn outcomes(
        &self,
        decision: &Decision,
        status: impl Fn(Outcome) -> (Status, Option<String>, Vec<TestId>),
    ) -> Vec<SimpleObligation> {
        let outcome = |outcome: Outcome| {
            let (status, reason, tests) = status(outcome);
            let id = format!("{}.{outcome}", decision.id);
            let text = format!("{} is {}", decision.text, if outcome.as_bool() { "true" } else { "false" });
            self.obligation(id, decision.span, text, status, reason, tests)
        };
        [Outcome::True, Outcome::False].map(outcome).into()
    }

    fn measured(&self, decision: &Decision, coverage: &mut DecisionCoverage, vectors: Vec<ObservedVector>) {
        let showing = |outcome: Outcome| -> Vec<TestId> {
            let shows = |test: &TestId| vectors.iter().any(|v| v.outcome == outcome && v.tests.contains(test));
            self.tests.iter().map(|(test, _)| test).filter(|test| shows(test)).cloned().collect()
        };
        let seen = [Outcome::True, Outcome::False].map(showing);
        coverage.constant_outcome = match (coverage.constness, seen[0].is_empty(), seen[1].is_empty()) {
            (Constness::Constant | Constness::Specialization, false, true) => Some(Outcome::True),
            (Constness::Constant | Constness::Specialization, true, false) => Some(Outcome::False),
            (Constness::Constant | Constness::Specialization | Constness::Runtime, _, _) => None,
        };
        let fixed = coverage.constant_outcome.and_then(|outcome| constant_reason(coverage.constness, outcome));
        coverage.outcomes = self.outcomes(decision, |outcome| {
            let tests = seen[usize::from(outcome == Outcome::False)].clone();
            match tests.is_empty() {
                false => (Status::Covered, None, tests),
                true => (Status::Uncovered, fixed.clone(), tests),
            }
        });
        coverage.vectors = vectors;
        self.independence(decision, coverage);
    }

    fn independence(&self, decision: &Decision, coverage: &mut DecisionCoverage) {
        let coupling: Vec<u32> = decision.conditions.iter().map(|condition| condition.coupling).collect();
        let given: Vec<Values> = coverage.vectors.iter().map(|vector| vector.values.clone()).collect();
        let analysis = Mcdc::new(&decision.expression, &coupling)
            .map_err(|limit| limit.to_string())
            .and_then(|mcdc| mcdc.analyse(&given).map_err(|error| error.to_string()));
        let analysis = match analysis {
            Ok(analysis) => analysis,
            Err(reason) => {
                let reason = Some(reason);
                let open = Independence { status: Status::Undetermined, pair: None, shown_by: None, reason };
                coverage.mcdc = every_condition(coverage, &open);
                return;
            }
        };
        let of_condition = |(index, found): (usize, &ConditionAnalysis)| ConditionMcdc {
            condition: coverage.conditions[index].id,
            unique_cause: self.form(coverage, index, &found.unique_cause),
            masking: self.form(coverage, index, &found.masking),
        };
        coverage.mcdc = analysis.conditions.iter().enumerate().map(of_condition).collect();
        coverage.explanation = explanation(coverage, &analysis);
        coverage.missing = analysis.missing.into_iter().map(|vector| vector.values).collect();
        coverage.closing_set = analysis.closing_set;
    }

    fn form(&self, coverage: &DecisionCoverage, index: usize, form: &FormAnalysis) -> Independence {
        let witness = |values: &Values| {
            let vector = coverage.vectors.iter().find(|vector| vector.values == *values);
            let vector = vector.expect("a pair is made of observed vectors");
            Witness { test: vector.tests[0].clone(), invocation: vector.witness }
        };
        if let Some([one, other]) = &form.pair {
            let shown_by = Some([witness(one), witness(other)]);
            return Independence { status: Status::Covered, pair: form.pair.clone(), shown_by, reason: None };
        }
        let condition = &coverage.conditions[index];
        let absent = !self.condition_markers.contains_key(&(coverage.id, index as u32));
        let decided = coverage.constant_outcome.and_then(|outcome| constant_reason(coverage.constness, outcome));
        let fixed = match condition.constness {
            _ if absent => Some(NO_CODE.to_owned()),
            Constness::Constant => Some("constant: the condition never changes".to_owned()),
            Constness::Specialization => {
                Some("specialization constant: the condition is fixed per pipeline".to_owned())
            }
            Constness::Runtime => decided,
        };
        let (status, reason) = match form.attainability {
            Attainability::Attainable => (Status::Uncovered, fixed),
            Attainability::Unattainable => (Status::Uncovered, Some(UNATTAINABLE.to_owned())),
            // The records are exact whatever could not be enumerated: no recorded pair shows the condition.
            Attainability::Unknown => {
                (Status::Uncovered, Some(format!("more than {MAX_VECTORS} vectors can occur; it may be unattainable")))
            }
        };
        Independence { status, pair: None, shown_by: None, reason }
    }
}

const NO_CODE: &str = "no code generated: the compiler left it out of the module";

fn constant_reason(constness: Constness, outcome: Outcome) -> Option<String> {
    match constness {
        Constness::Constant => Some(format!("constant: the outcome is always {outcome}")),
        Constness::Specialization => {
            Some(format!("specialization constant: under the specializations tested the outcome is always {outcome}"))
        }
        Constness::Runtime => None,
    }
}

enum Measured {
    Undetermined { reason: String },
    Absent,
    Vectors(Vec<ObservedVector>),
}

fn every_condition(coverage: &DecisionCoverage, open: &Independence) -> Vec<ConditionMcdc> {
    let condition = |place: &ConditionPlace| ConditionMcdc {
        condition: place.id,
        unique_cause: open.clone(),
        masking: open.clone(),
    };
    coverage.conditions.iter().map(condition).collect()
}

/// One sentence per condition that is not shown: what is missing, and which vectors would show it.
fn explanation(coverage: &DecisionCoverage, analysis: &Analysis) -> Vec<String> {
    let mut sentences = Vec::new();
    for ((place, mcdc), found) in coverage.conditions.iter().zip(&coverage.mcdc).zip(&analysis.conditions) {
        let text = &place.text;
        match (mcdc.masking.status, mcdc.unique_cause.status) {
            (Status::Covered, Status::Covered) => {}
            (Status::Covered, _) => sentences
                .push(format!("{}: `{text}` is shown by masking only; no two vectors differ in it alone.", place.id)),
            (_, _) => {
                let advice = match (&mcdc.masking.reason, found.addition.as_slice()) {
                    (Some(reason), _) => reason.clone(),
                    (None, []) => "no vector to add is known".to_owned(),
                    (None, additions) => {
                        let described = additions.iter().map(|values| describe(coverage, values));
                        format!("add {}", described.collect::<Vec<_>>().join("; and "))
                    }
                };
                sentences.push(format!("{}: no test shows that `{text}` alone turns the outcome; {advice}.", place.id));
            }
        }
    }
    sentences
}

/// `x < k true, y < m false`
fn describe(coverage: &DecisionCoverage, values: &Values) -> String {
    let word = |value: ConditionValue| match value {
        ConditionValue::True => Some("true"),
        ConditionValue::False => Some("false"),
        ConditionValue::NotEvaluated => None,
    };
    let pairs = coverage.conditions.iter().zip(&values.0);
    let parts = pairs.filter_map(|(place, value)| word(*value).map(|word| format!("{} {word}", place.text)));
    parts.collect::<Vec<_>>().join(", ")
}

fn each_statement(block: &Block, see: &mut dyn FnMut(&Statement)) {
    super::statement::visit(block, see);
}

fn statement_span(block: &Block, id: crate::model::id::StatementId) -> Option<Span> {
    let mut found = None;
    each_statement(block, &mut |statement| {
        if statement.id == Some(id) {
            found = Some(statement.span);
        }
    });
    found
}

impl RecordLayout {
    fn slots_by_decision(&self) -> BTreeMap<DecisionId, &DecisionSlot> {
        self.decisions.iter().map(|slot| (slot.decision, slot)).collect()
    }
}
