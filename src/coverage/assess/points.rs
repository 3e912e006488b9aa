//! Obligations of control flow: statements, entry and exit points, branches and switch labels.

use super::super::statement::{Execution, Truth, visit};
use super::assessment::Assessment;
use super::obligations::State;
use std::collections::BTreeMap;
use vkcert_model::coverage::{DecisionCoverage, SimpleObligation, Status};
use vkcert_model::id::{StatementId, TestId};
use vkcert_model::place::Span;
use vkcert_model::structure::{Block, Exit, Label, LabelKind, StatementKind, Switch};

impl Assessment<'_> {
    pub(super) fn statements(&self) -> Vec<SimpleObligation> {
        let mut found = Vec::new();
        for (_, function) in self.reached_functions() {
            visit(&function.body, &mut |statement| {
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

    pub(super) fn points(&self) -> Vec<SimpleObligation> {
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

    pub(super) fn branches(&self, decisions: &[DecisionCoverage]) -> Vec<SimpleObligation> {
        let directing = decisions.iter().filter(|decision| decision.context.controls_flow());
        let mut branches: Vec<SimpleObligation> =
            directing.flat_map(|decision| decision.outcomes.clone()).collect();
        for (_, function) in self.reached_functions() {
            visit(&function.body, &mut |statement| {
                if let StatementKind::Switch { switch, .. } = &statement.kind {
                    branches.extend(self.labels(self.structure.switch(*switch)));
                }
            });
        }
        branches
    }

    fn labels(&self, switch: &Switch) -> Vec<SimpleObligation> {
        let label = |(index, label): (usize, &Label)| {
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
}

fn statement_spans(block: &Block) -> BTreeMap<StatementId, Span> {
    let mut found = BTreeMap::new();
    visit(block, &mut |statement| found.extend(statement.id.map(|id| (id, statement.span))));
    found
}
