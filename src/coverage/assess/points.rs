//! Obligations of control flow: statements, entry and exit points, branches and switch labels.

use super::super::resolution::RuledOut;
use super::super::statement::{Execution, Truth, visit_block};
use super::assessment::Assessment;
use super::obligations::ObligationState;
use std::collections::BTreeMap;
use vkcert_model::coverage::{DecisionCoverage, SimpleObligation, Status};
use vkcert_model::id::{StatementId, TestId};
use vkcert_model::place::Span;
use vkcert_model::structure::{Block, Exit, Label, LabelKind, MarkIndex, StatementKind, Switch};

impl Assessment<'_> {
    pub(super) fn statement_obligations(&self) -> Vec<SimpleObligation> {
        let mut statement_obligations = Vec::new();
        for (_, function) in self.reached_functions() {
            visit_block(&function.body, &mut |statement| {
                if let Some(id) = statement.id {
                    let statement_truth = |execution: &Execution| {
                        execution.statements.get(&id).copied().unwrap_or(Truth::Unknown)
                    };
                    let span_and_text = (statement.span, self.shortened_text(statement.span));
                    statement_obligations.push((
                        id,
                        self.executed_obligation(
                            id.to_string(),
                            span_and_text,
                            statement_truth,
                            self.resolution.statement_ruled_out(id),
                        ),
                    ));
                }
            });
        }
        statement_obligations.sort_by_key(|(id, _)| *id);
        statement_obligations.into_iter().map(|(_, obligation)| obligation).collect()
    }

    pub(super) fn point_obligations(&self) -> Vec<SimpleObligation> {
        let mut point_obligations = Vec::new();
        for (function_index, function) in self.reached_functions() {
            let statement_spans_by_id = statement_spans(&function.body);
            let text = format!("entry of {}", function.name);
            let entry_truth = |execution: &Execution| execution.points[function_index].0;
            let entry_ruled_out = self.resolution.entry_ruled_out(function_index);
            point_obligations.push(self.executed_obligation(
                format!("{}.entry", function.id),
                (function.span, text),
                entry_truth,
                entry_ruled_out,
            ));
            for (exit_number, exit) in function.exits.iter().enumerate() {
                let (return_statement, span, exit_words) = match exit {
                    Exit::Return { statement } => {
                        let span =
                            statement_spans_by_id.get(statement).copied().unwrap_or(function.span);
                        (Some(*statement), span, self.shortened_text(span))
                    }
                    Exit::EndOfBody { span } => (None, *span, "end of body".to_owned()),
                };
                let exit_text = format!("exit of {}: {exit_words}", function.name);
                let exit_truth =
                    |execution: &Execution| execution.points[function_index].1[exit_number];
                let exit_ruled_out =
                    self.resolution.exit_ruled_out(function_index, exit_number, return_statement);
                point_obligations.push(self.executed_obligation(
                    format!("{}.X{}", function.id, exit_number + 1),
                    (span, exit_text),
                    exit_truth,
                    exit_ruled_out,
                ));
            }
        }
        point_obligations
    }

    pub(super) fn branch_obligations(
        &self,
        decisions: &[DecisionCoverage],
    ) -> Vec<SimpleObligation> {
        let directing_decisions =
            decisions.iter().filter(|decision| decision.context.controls_flow());
        let mut branch_obligations: Vec<SimpleObligation> =
            directing_decisions.flat_map(|decision| decision.outcomes.clone()).collect();
        for (_, function) in self.reached_functions() {
            visit_block(&function.body, &mut |statement| {
                if let StatementKind::Switch { switch, .. } = &statement.kind {
                    branch_obligations
                        .extend(self.label_obligations(self.structure.switch(*switch)));
                }
            });
        }
        branch_obligations
    }

    fn label_obligations(&self, switch: &Switch) -> Vec<SimpleObligation> {
        let numbered_labels = switch.labels.iter().enumerate();
        numbered_labels
            .map(|(label_index, label)| {
                let obligation_id = format!("{}.L{}", switch.id, label_index + 1);
                let text = match label.kind {
                    LabelKind::Case | LabelKind::Default => label.text.clone(),
                    LabelKind::ImplicitDefault => format!("no label of switch ({})", switch.text),
                };
                let label_state = self.label_state(switch, label);
                self.obligation_of(obligation_id, (label.span, text), label_state)
            })
            .collect()
    }

    fn label_state(&self, switch: &Switch, label: &Label) -> ObligationState {
        self.marked_state(label.mark, "the label could not be marked", |mark| {
            self.resolution.label_ruled_out(switch.id, mark)
        })
    }

    /// Of what is covered where a mark was passed; without a mark it is undetermined.
    pub(super) fn marked_state(
        &self,
        mark: Option<MarkIndex>,
        unmarked_reason: &str,
        ruled_out: impl FnOnce(MarkIndex) -> Option<RuledOut>,
    ) -> ObligationState {
        let mark_bit = mark.and_then(|mark| self.layout.mark_bit(mark));
        let Some((mark_bit, mark)) = mark_bit.zip(mark) else {
            let reason = Some(unmarked_reason.to_owned());
            return ObligationState::without_tests(Status::Undetermined, reason);
        };
        let is_present = self.resolution.marks.contains(&mark);
        let tests = self.tests.iter().filter(|(_, records)| is_present && records.has(mark_bit));
        let tests: Vec<TestId> = tests.map(|(test, _)| *test).collect();
        let status = if tests.is_empty() { Status::Uncovered } else { Status::Covered };
        ObligationState { status, reason: None, tests, ruled_out: ruled_out(mark) }
    }
}

fn statement_spans(block: &Block) -> BTreeMap<StatementId, Span> {
    let mut spans_by_statement = BTreeMap::new();
    visit_block(block, &mut |statement| {
        spans_by_statement.extend(statement.id.map(|id| (id, statement.span)))
    });
    spans_by_statement
}
