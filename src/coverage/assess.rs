//! From records to obligations: the coverage of one kernel under one configuration by the tests
//! that passed.
//!
//! Knows: structure, layout, presence and the records of passed tests, in order of execution.
//! Promises: every statement, outcome, label, entry and exit point, and condition of every function
//! that the module holds is an obligation, whatever could be measured of it; functions that it does
//! not hold are named in `not_reached`. A decision that cannot be recorded is undetermined with the
//! reason; one that the compiler removed is uncovered ("no code generated"): its place was never
//! executed. A constant decision keeps both outcomes as obligations; what the configuration rules
//! out carries a proposal. Records that contradict what is fixed are trusted in nothing.
//! Does not cover: what the records of failed tests show (the caller leaves them out),
//! justifications.

use super::combination::{Demand, MAX_CONDITIONS_OF_FIRST_FORMAT};
use super::criteria;
use super::explanation::{Told, described, explanation};
use super::independence::Form;
use super::mcdc::{
    Analysis, Attainability, ConditionAnalysis, FormAnalysis, MAX_VECTORS, Mcdc, Minimum,
};
use super::resolution::{Proposing, Resolution, RuledOut};
use super::statement::{Evidence, Execution, Taken, Truth, execution};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::coverage::{
    ConditionMcdc, ConditionPlace, Coupling, DecisionCoverage, Independence, KernelCoverage,
    MinimumVectors, ObservedVector, SimpleObligation, Status, VectorCount, Witness,
};
use vkcert_model::evidence::Configuration;
use vkcert_model::id::{ConditionId, DecisionId, FunctionId, ObligationId, TestId};
use vkcert_model::place::{LineStarts, Position, Span};
use vkcert_model::records::{DecisionSlot, Presence, RecordLayout, Records};
use vkcert_model::structure::{
    Block, Constness, Decision, Exit, Function, KernelStructure, LabelKind, MarkIndex, Recording,
    Statement, StatementKind, Switch,
};
use vkcert_model::vector::{Outcome, Values, Vector};

/// Longest text of a statement in a report, in characters.
const MAX_TEXT: usize = 160;

/// What is assessed: a kernel's structure, where its records stand, what its module holds under a
/// configuration.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    pub structure: &'a KernelStructure,
    pub layout: &'a RecordLayout,
    pub presence: &'a Presence,
    pub configuration: &'a Configuration,
    pub proposing: Proposing,
}

/// Assesses one kernel; `tests` are those that passed, in order of execution.
pub fn assess(subject: &Subject, tests: &[(TestId, &Records)]) -> KernelCoverage {
    let assessment = Assessment::new(subject, tests);
    let mut coverage = KernelCoverage {
        configuration: subject.configuration.name.clone(),
        statements: assessment.statements(),
        branches: Vec::new(),
        points: assessment.points(),
        decisions: assessment.decisions(),
        objects: Vec::new(),
        additional: Vec::new(),
        barriers: Vec::new(),
        not_reached: assessment.not_reached(),
        summary: Vec::new(),
    };
    coverage.branches = assessment.branches(&coverage.decisions);
    coverage.summary = criteria::summary(&coverage);
    coverage
}

/// Records that cannot be, as what the configuration fixes rules them out: sentences that begin
/// with the test. Each is a defect of the tool, the compiler or the device.
pub fn contradictions(subject: &Subject, tests: &[(TestId, &Records)]) -> Vec<String> {
    let resolution = Resolution::new(subject);
    let mut found = Vec::new();
    for (test, records) in tests {
        for slot in &subject.layout.decisions {
            let first = contradiction(
                &resolution,
                subject.structure.decision(slot.decision),
                slot,
                records,
            );
            found.extend(
                first.map(|sentence| format!("the records of {test} cannot be: {sentence}")),
            );
        }
        for (mark, bit) in subject.layout.marks.iter().enumerate() {
            if records.has(*bit) && !resolution.is_passed(MarkIndex(mark as u32)) {
                found.push(format!(
                    "the records of {test} cannot be: mark {mark} is passed, though control cannot come to it"
                ));
            }
        }
    }
    found
}

/// The first vector of a decision that contradicts what is fixed.
fn contradiction(
    resolution: &Resolution,
    decision: &Decision,
    slot: &DecisionSlot,
    records: &Records,
) -> Option<String> {
    let recorded = slot.vectors.iter().filter(|row| records.has(slot.base + row.sum));
    recorded.into_iter().find_map(|row| resolution.contradiction(decision, &row.vector.values))
}

struct Assessment<'a> {
    structure: &'a KernelStructure,
    slots: BTreeMap<DecisionId, &'a DecisionSlot>,
    layout: &'a RecordLayout,
    tests: &'a [(TestId, &'a Records)],
    resolution: Resolution<'a>,
    /// By file.
    lines: Vec<LineStarts>,
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
        if !assessment.resolution.outcome_markers.contains_key(&decision) {
            return Taken::Recorded { true_seen: false, false_seen: false };
        }
        let Some(slot) = assessment.slots.get(&decision) else { return Taken::Unrecorded };
        let structure = assessment.structure.decision(decision);
        if impossible_record(slot, self.records)
            || contradiction(&assessment.resolution, structure, slot, self.records).is_some()
        {
            return Taken::Unrecorded;
        }
        let seen = |outcome: Outcome| {
            let vectors = slot.vectors.iter().filter(|row| row.vector.outcome == outcome);
            vectors.into_iter().any(|row| self.records.has(slot.base + row.sum))
        };
        Taken::Recorded { true_seen: seen(Outcome::True), false_seen: seen(Outcome::False) }
    }

    fn mark(&self, mark: MarkIndex) -> Option<bool> {
        if !self.assessment.resolution.marks.contains(&mark) {
            return Some(false);
        }
        self.assessment.layout.mark_bit(mark).map(|bit| self.records.has(bit))
    }
}

/// Whether a bit is set that belongs to no vector: then the records of the decision cannot be
/// trusted.
fn impossible_record(slot: &DecisionSlot, records: &Records) -> bool {
    let known: BTreeSet<u32> = slot.vectors.iter().map(|row| row.sum).collect();
    (0..slot.size).any(|sum| records.has(slot.base + sum) && !known.contains(&sum))
}

impl<'a> Assessment<'a> {
    fn new(subject: &Subject<'a>, tests: &'a [(TestId, &'a Records)]) -> Self {
        let Subject { structure, layout, .. } = *subject;
        let assessment = Self {
            structure,
            slots: slots_by_decision(layout),
            layout,
            tests,
            resolution: Resolution::new(subject),
            lines: structure.files.iter().map(|file| LineStarts::of(&file.text)).collect(),
            executions: Vec::new(),
        };
        let of_test = |(_, records): &(TestId, &'a Records)| {
            execution(structure, &TestEvidence { assessment: &assessment, records })
        };
        let executions = tests.iter().map(of_test).collect();
        Self { executions, ..assessment }
    }

    /// Whether a function is part of the kernel. The entry point always is, even if its mark should
    /// be missing.
    fn reached(&self, function: &Function) -> bool {
        self.resolution.marks.contains(&function.entry_mark)
            || function.name == self.structure.entry
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
    fn simple(
        &self,
        id: String,
        (span, text): (Span, String),
        found: impl Fn(&Execution) -> Truth,
        ruled_out: Option<RuledOut>,
    ) -> SimpleObligation {
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
        let reason = (status == Status::Undetermined)
            .then(|| "a decision or label on the way to it is not recorded".to_owned());
        self.obligation(id, (span, text), State { status, reason, tests, ruled_out })
    }

    fn obligation(
        &self,
        id: String,
        (span, text): (Span, String),
        state: State,
    ) -> SimpleObligation {
        let (file, position) = self.place(span);
        let State { status, reason, tests, ruled_out } = state.settled();
        SimpleObligation {
            id: ObligationId(id),
            file,
            line: position.line,
            column: position.column,
            text,
            status,
            reason,
            tests,
            uncounted: Vec::new(),
            object: None,
            proposal: ruled_out.and_then(|ruled_out| ruled_out.proposal()),
        }
    }

    fn place(&self, span: Span) -> (String, Position) {
        match self.structure.files.get(span.file.0 as usize) {
            Some(file) => {
                let lines = &self.lines[span.file.0 as usize];
                (file.path.clone(), lines.position(&file.text, span.start as usize))
            }
            None => (String::new(), Position { line: 1, column: 1 }),
        }
    }

    fn text(&self, span: Span) -> String {
        let file = self.structure.files.get(span.file.0 as usize);
        let text = file
            .and_then(|file| file.text.get(span.start as usize..span.end as usize))
            .unwrap_or("");
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
                    let truth = |execution: &Execution| {
                        execution.statements.get(&id).copied().unwrap_or(Truth::Unknown)
                    };
                    let what = (statement.span, self.text(statement.span));
                    found.push((
                        id,
                        self.simple(id.to_string(), what, truth, self.resolution.statement(id)),
                    ));
                }
            });
        }
        found.sort_by_key(|(id, _)| *id);
        found.into_iter().map(|(_, obligation)| obligation).collect()
    }

    fn points(&self) -> Vec<SimpleObligation> {
        let mut points = Vec::new();
        for (index, function) in self.reached_functions() {
            let spans = statement_spans(&function.body);
            let text = format!("entry of {}", function.name);
            let entry = |execution: &Execution| execution.points[index].0;
            let ruled_out = self.resolution.entry(index);
            points.push(self.simple(
                format!("{}.entry", function.id),
                (function.span, text),
                entry,
                ruled_out,
            ));
            for (number, exit) in function.exits.iter().enumerate() {
                let statement = match exit {
                    Exit::Return { statement } => Some(*statement),
                    Exit::EndOfBody { .. } => None,
                };
                let what = match exit {
                    Exit::Return { statement } => {
                        let span = spans.get(statement).copied().unwrap_or(function.span);
                        (span, format!("exit of {}: {}", function.name, self.text(span)))
                    }
                    Exit::EndOfBody { span } => {
                        (*span, format!("exit of {}: end of body", function.name))
                    }
                };
                let left = |execution: &Execution| execution.points[index].1[number];
                let ruled_out = self.resolution.exit(index, number, statement);
                points.push(self.simple(
                    format!("{}.X{}", function.id, number + 1),
                    what,
                    left,
                    ruled_out,
                ));
            }
        }
        points
    }

    fn branches(&self, decisions: &[DecisionCoverage]) -> Vec<SimpleObligation> {
        let directing = decisions.iter().filter(|decision| decision.context.controls_flow());
        let mut branches: Vec<SimpleObligation> =
            directing.flat_map(|decision| decision.outcomes.clone()).collect();
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
        let label = |(index, label): (usize, &vkcert_model::structure::Label)| {
            let id = format!("{}.L{}", switch.id, index + 1);
            let text = match label.kind {
                LabelKind::Case | LabelKind::Default => label.text.clone(),
                LabelKind::ImplicitDefault => format!("no label of switch ({})", switch.text),
            };
            let bit = label.mark.and_then(|mark| self.layout.mark_bit(mark));
            let Some((bit, mark)) = bit.zip(label.mark) else {
                let reason = Some("the label could not be marked".to_owned());
                return self.obligation(
                    id,
                    (label.span, text),
                    State::open(Status::Undetermined, reason),
                );
            };
            let present = self.resolution.marks.contains(&mark);
            let tests = self.tests.iter().filter(|(_, records)| present && records.has(bit));
            let tests: Vec<TestId> = tests.map(|(test, _)| test.clone()).collect();
            let status = if tests.is_empty() { Status::Uncovered } else { Status::Covered };
            let ruled_out = self.resolution.label(switch.id, mark);
            self.obligation(
                id,
                (label.span, text),
                State { status, reason: None, tests, ruled_out },
            )
        };
        switch.labels.iter().enumerate().map(label).collect()
    }

    fn decisions(&self) -> Vec<DecisionCoverage> {
        let part = |decision: &&Decision| match decision.function.and_then(|id| self.function(id)) {
            Some(function) => self.reached(function),
            // At global scope, or in a function that is not listed: kept, never dropped.
            None => true,
        };
        self.structure
            .decisions
            .iter()
            .filter(part)
            .map(|decision| self.decision(decision))
            .collect()
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
            function: decision
                .function
                .and_then(|id| self.function(id))
                .map(|function| function.name.clone()),
            context: decision.context,
            constness,
            constant_outcome: self.resolution.outcome(decision.id),
            expansion: decision
                .expansion
                .iter()
                .map(|expansion| expansion.macro_name.clone())
                .collect(),
            outcomes: Vec::new(),
            conditions: self.conditions(decision),
            vectors: Vec::new(),
            mcdc: Vec::new(),
            combinations: Vec::new(),
            coupling: None,
            minimum: None,
            missing: Vec::new(),
            closing_set: Vec::new(),
            explanation: Vec::new(),
        };
        match measured {
            Measured::Undetermined { reason } => {
                self.undetermined(decision, &mut coverage, &reason)
            }
            Measured::Absent => self.absent(decision, &mut coverage),
            Measured::Vectors(vectors) => self.measured(decision, &mut coverage, vectors),
        }
        coverage
    }

    fn constness(&self, decision: &Decision) -> Constness {
        let in_module = self
            .resolution
            .outcome_markers
            .get(&decision.id)
            .copied()
            .unwrap_or(Constness::Runtime);
        decision.constness.min(in_module)
    }

    fn conditions(&self, decision: &Decision) -> Vec<ConditionPlace> {
        let id = |index: usize| ConditionId { decision: decision.id, number: index as u32 + 1 };
        let place = |(index, condition): (usize, &vkcert_model::structure::Condition)| {
            let (_, position) = self.place(condition.span);
            let others = decision.conditions.iter().enumerate();
            let coupled =
                others.filter(|(other, c)| *other != index && c.coupling == condition.coupling);
            let in_module =
                self.resolution.condition_markers.get(&(decision.id, index as u32)).copied();
            ConditionPlace {
                id: id(index),
                text: condition.text.clone(),
                line: position.line,
                column: position.column,
                span: [condition.span.start, condition.span.end],
                constness: condition.constness.min(in_module.unwrap_or(Constness::Runtime)),
                value: self.resolution.value(decision.id, index as u32).map(Outcome::from),
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
        if !self.resolution.outcome_markers.contains_key(&decision.id) {
            return Measured::Absent;
        }
        let Some(slot) = self.slots.get(&decision.id) else {
            return Measured::Undetermined {
                reason: "it has no place among the records".to_owned(),
            };
        };
        if let Some((test, _)) =
            self.tests.iter().find(|(_, records)| impossible_record(slot, records))
        {
            let reason = format!("the records of {test} hold a vector that cannot occur");
            return Measured::Undetermined { reason };
        }
        let cannot = |(test, records): &(TestId, &Records)| {
            let sentence = contradiction(&self.resolution, decision, slot, records)?;
            Some(format!("internal error: the records of {test} cannot be: {sentence}"))
        };
        if let Some(reason) = self.tests.iter().find_map(cannot) {
            return Measured::Undetermined { reason };
        }
        let mut vectors = Vec::new();
        for row in &slot.vectors {
            let bit = slot.base + row.sum;
            let shown = || self.tests.iter().filter(|(_, records)| records.has(bit));
            let witnesses: Vec<_> =
                shown().map(|(_, records)| records.witnesses.get(&bit).copied()).collect();
            let directed: Vec<_> =
                shown().map(|(_, records)| records.directed.get(&bit).copied()).collect();
            let directed = if directed.iter().all(Option::is_none) { Vec::new() } else { directed };
            if let Some(witness) = witnesses.first().copied() {
                vectors.push(ObservedVector {
                    values: row.vector.values.clone(),
                    outcome: row.vector.outcome,
                    tests: shown().map(|(test, _)| test.clone()).collect(),
                    witness,
                    witnesses,
                    directed,
                    undefined: false,
                });
            }
        }
        vectors.sort_by(|a, b| a.values.cmp(&b.values));
        Measured::Vectors(vectors)
    }

    /// Fills in a decision of which nothing can be known.
    fn undetermined(&self, decision: &Decision, coverage: &mut DecisionCoverage, reason: &str) {
        self.open(decision, coverage, || {
            State::open(Status::Undetermined, Some(reason.to_owned()))
        });
    }

    /// Fills in a decision that the compiler left out of the module.
    fn absent(&self, decision: &Decision, coverage: &mut DecisionCoverage) {
        let absent = || State {
            ruled_out: Some(self.resolution.absent()),
            ..State::open(Status::Uncovered, None)
        };
        self.open(decision, coverage, absent);
    }

    fn open(
        &self,
        decision: &Decision,
        coverage: &mut DecisionCoverage,
        state: impl Fn() -> State,
    ) {
        coverage.outcomes = self.outcomes(decision, |_| state());
        let State { status, reason, ruled_out, .. } = state().settled();
        let proposal = ruled_out.and_then(|ruled_out| ruled_out.proposal());
        let open = Independence {
            status,
            pair: None,
            shown_by: None,
            uncounted: Vec::new(),
            reason,
            proposal,
        };
        coverage.mcdc = every_condition(coverage, &open);
        coverage.combinations =
            self.combinations(decision, coverage, &self.calculus(decision), |_| state());
    }

    /// The calculus of a decision under the configuration.
    fn calculus(&self, decision: &Decision) -> Result<Mcdc, String> {
        let coupling: Vec<u32> =
            decision.conditions.iter().map(|condition| condition.coupling).collect();
        let mcdc = Mcdc::new(&decision.expression, &coupling).map_err(|limit| limit.to_string())?;
        Ok(mcdc.with_fixed(&self.resolution.values(decision)))
    }

    fn outcomes(
        &self,
        decision: &Decision,
        state: impl Fn(Outcome) -> State,
    ) -> Vec<SimpleObligation> {
        let outcome = |outcome: Outcome| {
            let id = format!("{}.{outcome}", decision.id);
            let text = format!(
                "{} is {}",
                decision.text,
                if outcome.as_bool() { "true" } else { "false" }
            );
            self.obligation(id, (decision.span, text), state(outcome))
        };
        [Outcome::True, Outcome::False].map(outcome).into()
    }

    /// The obligations of multiple-condition coverage; `state` is asked with the vectors of one
    /// obligation, or with none where they cannot be listed.
    fn combinations(
        &self,
        decision: &Decision,
        coverage: &DecisionCoverage,
        calculus: &Result<Mcdc, String>,
        state: impl Fn(Option<&[Vector]>) -> State,
    ) -> Vec<SimpleObligation> {
        let of_first_format = self.resolution.proposing == Proposing::AsInFirstFormat;
        if of_first_format && decision.conditions.len() > MAX_CONDITIONS_OF_FIRST_FORMAT {
            return Vec::new();
        }
        let texts: Vec<&str> =
            coverage.conditions.iter().map(|condition| condition.text.as_str()).collect();
        let of_vector = |vector: &Vector| {
            let id = format!("{}.V.{}", decision.id, vector.values);
            let text = format!("{} / {}", decision.text, described(&texts, &vector.values));
            self.obligation(id, (decision.span, text), state(Some(std::slice::from_ref(vector))))
        };
        let together = |state: State| {
            let text = format!("{} / every vector that can occur", decision.text);
            vec![self.obligation(format!("{}.V", decision.id), (decision.span, text), state)]
        };
        match calculus.as_ref().map(|mcdc| Demand::of(mcdc.decision())) {
            Ok(Demand::Each(vectors)) => vectors.iter().map(of_vector).collect(),
            Ok(demand @ (Demand::Together(_) | Demand::TooMany)) => {
                together(state(demand.vectors()))
            }
            Err(_) if of_first_format => Vec::new(),
            Err(_) => together(state(None)),
        }
    }

    fn measured(
        &self,
        decision: &Decision,
        coverage: &mut DecisionCoverage,
        vectors: Vec<ObservedVector>,
    ) {
        let showing = |outcome: Outcome| -> Vec<TestId> {
            let shows = |test: &TestId| {
                vectors.iter().any(|v| v.outcome == outcome && v.tests.contains(test))
            };
            self.tests.iter().map(|(test, _)| test).filter(|test| shows(test)).cloned().collect()
        };
        let seen = [Outcome::True, Outcome::False].map(showing);
        let only_seen = match (coverage.constness, seen[0].is_empty(), seen[1].is_empty()) {
            (Constness::Constant | Constness::Specialization, false, true) => Some(Outcome::True),
            (Constness::Constant | Constness::Specialization, true, false) => Some(Outcome::False),
            (Constness::Constant | Constness::Specialization | Constness::Runtime, _, _) => None,
        };
        coverage.constant_outcome = coverage.constant_outcome.or(only_seen);
        let fixed = coverage
            .constant_outcome
            .and_then(|outcome| constant_reason(coverage.constness, outcome));
        coverage.outcomes = self.outcomes(decision, |outcome| {
            let tests = seen[usize::from(outcome == Outcome::False)].clone();
            match tests.is_empty() {
                false => State { status: Status::Covered, reason: None, tests, ruled_out: None },
                true => State {
                    ruled_out: self.resolution.choice(decision.id, outcome),
                    ..State::open(Status::Uncovered, fixed.clone())
                },
            }
        });
        coverage.vectors = vectors;
        self.independence(decision, coverage);
    }

    fn independence(&self, decision: &Decision, coverage: &mut DecisionCoverage) {
        let given: Vec<Values> =
            coverage.vectors.iter().map(|vector| vector.values.clone()).collect();
        let calculus = self.calculus(decision);
        let analysed = |mcdc: &Mcdc| mcdc.analyse(&given).map_err(|error| error.to_string());
        let (mcdc, analysis) = match calculus
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|mcdc| Ok((mcdc, analysed(mcdc)?)))
        {
            Ok(analysis) => analysis,
            Err(reason) => {
                let unknown =
                    |_: Option<&[Vector]>| State::open(Status::Undetermined, Some(reason.clone()));
                coverage.combinations = self.combinations(decision, coverage, &calculus, unknown);
                let (status, reason) = (Status::Undetermined, Some(reason));
                let open = Independence {
                    status,
                    pair: None,
                    shown_by: None,
                    uncounted: Vec::new(),
                    reason,
                    proposal: None,
                };
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
        coverage.explanation = explained(coverage, &analysis.conditions);
        coverage.combinations = self.combinations(decision, coverage, &calculus, |wanted| {
            self.shown(coverage, mcdc, wanted)
        });
        coverage.coupling = coupling(coverage, mcdc, &analysis);
        if !self.resolution.is_evaluated(decision.id) {
            // No vector of it can occur.
            return;
        }
        coverage.minimum = minimum_vectors(mcdc);
        coverage.missing = analysis.missing.into_iter().map(|vector| vector.values).collect();
        coverage.closing_set = analysis.closing_set;
    }

    /// The state of one obligation of multiple-condition coverage, which asks for all of `wanted`.
    fn shown(&self, coverage: &DecisionCoverage, mcdc: &Mcdc, wanted: Option<&[Vector]>) -> State {
        let Some(wanted) = wanted else {
            return State::open(
                Status::Undetermined,
                Some(format!("more than {MAX_VECTORS} vectors can occur")),
            );
        };
        let seen: BTreeMap<&Values, &ObservedVector> =
            coverage.vectors.iter().map(|vector| (&vector.values, vector)).collect();
        let lacking: Vec<&Values> = wanted
            .iter()
            .map(|vector| &vector.values)
            .filter(|values| !seen.contains_key(values))
            .collect();
        if lacking.is_empty() {
            let showing: BTreeSet<&TestId> = wanted
                .iter()
                .flat_map(|vector| seen.get(&vector.values))
                .flat_map(|vector| &vector.tests)
                .collect();
            let tests = self
                .tests
                .iter()
                .map(|(test, _)| test)
                .filter(|test| showing.contains(test))
                .cloned()
                .collect();
            return State { status: Status::Covered, reason: None, tests, ruled_out: None };
        }
        let ruled_out = match lacking.iter().all(|values| !mcdc.decision().agrees(values)) {
            true => self.resolution.effect(coverage.id, None),
            false => self.resolution.unevaluated(coverage.id),
        };
        let shown = wanted.len() - lacking.len();
        let reason =
            (wanted.len() > 1).then(|| format!("{shown} of {} vectors shown", wanted.len()));
        State { ruled_out, ..State::open(Status::Uncovered, reason) }
    }

    fn form(&self, coverage: &DecisionCoverage, index: usize, form: &FormAnalysis) -> Independence {
        let witness = |values: &Values| {
            let vector = coverage.vectors.iter().find(|vector| vector.values == *values);
            let vector = vector.expect("a pair is made of observed vectors");
            let directed = vector.first_directed();
            Witness { test: vector.tests[0].clone(), invocation: vector.witness, directed }
        };
        if let Some([one, other]) = &form.pair {
            let shown_by = Some([witness(one), witness(other)]);
            let pair = form.pair.clone();
            return Independence {
                status: Status::Covered,
                pair,
                shown_by,
                uncounted: Vec::new(),
                reason: None,
                proposal: None,
            };
        }
        let ruled_out = self.ruled_out(coverage.id, index as u32, form.attainability);
        let reason = match (&ruled_out, form.attainability) {
            (Some(ruled_out), _) => Some(ruled_out.reason.clone()),
            (None, Attainability::Attainable | Attainability::Unattainable) => {
                self.constant(coverage, index)
            }
            // The records are exact whatever could not be enumerated: no recorded pair shows the
            // condition.
            (None, Attainability::Unknown) => {
                Some(format!("more than {MAX_VECTORS} vectors can occur; it may be unattainable"))
            }
        };
        let proposal = ruled_out.and_then(|ruled_out| ruled_out.proposal());
        Independence {
            status: Status::Uncovered,
            pair: None,
            shown_by: None,
            uncounted: Vec::new(),
            reason,
            proposal,
        }
    }

    /// Why no input shows the effect of a condition.
    fn ruled_out(
        &self,
        decision: DecisionId,
        condition: u32,
        attainability: Attainability,
    ) -> Option<RuledOut> {
        let resolution = &self.resolution;
        let absent = !resolution.condition_markers.contains_key(&(decision, condition));
        let fixed = || resolution.effect(decision, Some(condition));
        match attainability {
            Attainability::Attainable if absent => Some(resolution.absent()),
            Attainability::Attainable => resolution.unevaluated(decision),
            Attainability::Unknown if resolution.proposing == Proposing::AsInFirstFormat => fixed(),
            // Too many vectors to tell, unless the condition itself has one value.
            Attainability::Unknown => resolution.value(decision, condition).and_then(|_| fixed()),
            Attainability::Unattainable => fixed().or_else(|| Some(resolution.unattainable())),
        }
    }

    /// Why a condition does not change, where its value could not be resolved.
    fn constant(&self, coverage: &DecisionCoverage, index: usize) -> Option<String> {
        let condition = &coverage.conditions[index];
        match condition.constness {
            Constness::Constant => Some("constant: the condition never changes".to_owned()),
            Constness::Specialization => {
                Some("specialization constant: the condition is fixed per pipeline".to_owned())
            }
            Constness::Runtime => coverage
                .constant_outcome
                .and_then(|outcome| constant_reason(coverage.constness, outcome)),
        }
    }
}

fn explained(coverage: &DecisionCoverage, analysis: &[ConditionAnalysis]) -> Vec<String> {
    let rows = coverage.conditions.iter().zip(&coverage.mcdc).zip(analysis);
    let told = rows.map(|((place, mcdc), found)| Told {
        id: place.id.to_string(),
        text: &place.text,
        found,
        reasons: [mcdc.unique_cause.reason.clone(), mcdc.masking.reason.clone()],
    });
    let test = |values: &Values| {
        let vector = coverage.vectors.iter().find(|vector| vector.values == *values)?;
        vector.tests.first().map(TestId::to_string)
    };
    explanation(&told.collect::<Vec<_>>(), &test)
}

/// What is known of an obligation.
struct State {
    status: Status,
    reason: Option<String>,
    tests: Vec<TestId>,
    ruled_out: Option<RuledOut>,
}

impl State {
    fn open(status: Status, reason: Option<String>) -> Self {
        Self { status, reason, tests: Vec::new(), ruled_out: None }
    }

    /// What is ruled out is an uncovered obligation, and why is then the reason.
    fn settled(mut self) -> Self {
        self.ruled_out = self.ruled_out.filter(|_| self.status == Status::Uncovered);
        self.reason =
            self.ruled_out.as_ref().map(|ruled_out| ruled_out.reason.clone()).or(self.reason);
        self
    }
}

/// Excluded vectors that are listed.
pub(super) const MAX_EXCLUDED: usize = 64;

/// What coupled conditions make impossible.
fn coupling(coverage: &DecisionCoverage, mcdc: &Mcdc, analysis: &Analysis) -> Option<Coupling> {
    let mut groups: Vec<Vec<ConditionId>> = Vec::new();
    for place in coverage.conditions.iter().filter(|place| !place.coupled_with.is_empty()) {
        if !groups.iter().any(|group| group.contains(&place.id)) {
            groups.push(
                std::iter::once(place.id).chain(place.coupled_with.iter().copied()).collect(),
            );
        }
    }
    if groups.is_empty() {
        return None;
    }
    let without = |form: Form| {
        let rows = coverage.conditions.iter().zip(&analysis.conditions);
        let rows =
            rows.filter(|(_, found)| found.form(form).attainability == Attainability::Unattainable);
        rows.map(|(place, _)| place.id).collect()
    };
    let excluded = mcdc.excluded_by_coupling();
    Some(Coupling {
        groups,
        excluded_count: excluded.as_ref().map(|excluded| excluded.len() as u32),
        excluded: excluded.unwrap_or_default().into_iter().take(MAX_EXCLUDED).collect(),
        without_unique_cause: without(Form::UniqueCause),
        without_masking: without(Form::Masking),
    })
}

pub(super) fn minimum_vectors(mcdc: &Mcdc) -> Option<MinimumVectors> {
    Some(MinimumVectors {
        conditions_plus_one: mcdc.decision().conditions() as u32 + 1,
        unique_cause: vector_count(mcdc.minimum(Form::UniqueCause)?),
        masking: vector_count(mcdc.minimum(Form::Masking)?),
    })
}

fn vector_count(minimum: Minimum) -> VectorCount {
    let Minimum { vectors, at_least, conditions } = minimum;
    VectorCount {
        vectors: vectors as u32,
        at_least: at_least as u32,
        conditions: conditions as u32,
    }
}

fn constant_reason(constness: Constness, outcome: Outcome) -> Option<String> {
    match constness {
        Constness::Constant => Some(format!("constant: the outcome is always {outcome}")),
        Constness::Specialization => Some(format!(
            "specialization constant: under this configuration the outcome is always {outcome}"
        )),
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

fn each_statement(block: &Block, see: &mut dyn FnMut(&Statement)) {
    super::statement::visit(block, see);
}

fn statement_spans(block: &Block) -> BTreeMap<vkcert_model::id::StatementId, Span> {
    let mut found = BTreeMap::new();
    each_statement(block, &mut |statement| {
        found.extend(statement.id.map(|id| (id, statement.span)))
    });
    found
}

fn slots_by_decision(layout: &RecordLayout) -> BTreeMap<DecisionId, &DecisionSlot> {
    layout.decisions.iter().map(|slot| (slot.decision, slot)).collect()
}
