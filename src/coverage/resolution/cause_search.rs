//! Finds for every statement that cannot be executed the fixed decision or switch at fault, as far
//! as structure tells.

use super::super::statement::Truth;
use super::Resolution;
use super::ruled_out::UnreachableCause;
use std::collections::BTreeMap;
use vkcert_model::id::{DecisionId, StatementId};
use vkcert_model::structure::{Block, Statement, StatementKind};
use vkcert_model::vector::Outcome;

impl Resolution<'_> {
    /// The same with the cause of every statement that cannot be executed.
    pub(super) fn with_causes(self) -> Self {
        let mut cause_search =
            CauseSearch { resolution: &self, causes: BTreeMap::new(), headers: BTreeMap::new() };
        for (index, function) in self.structure.functions.iter().enumerate() {
            let is_called = !self.excluded_marks.contains(&function.entry_mark);
            cause_search.search_row(
                &function.body,
                (!is_called).then_some(UnreachableCause::Function(index)),
            );
        }
        let CauseSearch { causes, headers, .. } = cause_search;
        Self { unreachable_causes: causes, decision_headers: headers, ..self }
    }
}

/// Finds for every statement that cannot be executed the fixed decision or switch at fault, as far
/// as structure tells.
struct CauseSearch<'r, 'a> {
    resolution: &'r Resolution<'a>,
    causes: BTreeMap<StatementId, UnreachableCause>,
    headers: BTreeMap<DecisionId, StatementId>,
}

impl CauseSearch<'_, '_> {
    /// Walks statements in a row that `why` may rule out; returns the last fixed decision inside,
    /// which may be why nothing comes behind it.
    fn search_row(
        &mut self,
        block: &Block,
        outer_cause: Option<UnreachableCause>,
    ) -> Option<UnreachableCause> {
        let (mut last_fixed, mut current_cause) = (None, outer_cause);
        for statement in &block.0 {
            if let StatementKind::Label { switch, label } = statement.kind {
                let mark = self
                    .resolution
                    .structure
                    .switch(switch)
                    .labels
                    .get(label as usize)
                    .and_then(|l| l.mark);
                let is_passed = mark.is_none_or(|mark| self.resolution.is_passed(mark));
                (current_cause, last_fixed) = (
                    outer_cause.or((!is_passed).then_some(UnreachableCause::Switch(switch))),
                    None,
                );
            }
            if self.is_reached(statement) {
                current_cause = None;
            }
            last_fixed =
                self.search_statement(statement, current_cause.or(last_fixed)).or(last_fixed);
        }
        last_fixed
    }

    /// Whether a statement can be executed; what has no id says nothing.
    fn is_reached(&self, statement: &Statement) -> bool {
        let truth = statement.id.and_then(|id| self.resolution.as_configured.statements.get(&id));
        truth.is_some_and(|truth| *truth != Truth::No)
    }

    fn search_statement(
        &mut self,
        statement: &Statement,
        outer_cause: Option<UnreachableCause>,
    ) -> Option<UnreachableCause> {
        // What stands before it rules nothing out where it can be executed.
        let outer_cause = outer_cause.filter(|_| !self.is_reached(statement));
        if let (Some(id), Some(outer_cause)) = (statement.id, outer_cause)
            && self.resolution.as_configured.statements.get(&id) == Some(&Truth::No)
        {
            self.causes.insert(id, outer_cause);
        }
        match &statement.kind {
            StatementKind::Block { block } | StatementKind::Switch { body: block, .. } => {
                self.search_row(block, outer_cause)
            }
            StatementKind::If { decision, then, otherwise } => {
                let fixed_header = self.note_header(*decision, statement);
                let cause_unless = |outcome: Outcome| {
                    outer_cause.or(fixed_header
                        .filter(|(_, only_outcome)| *only_outcome != outcome)
                        .map(|(cause, _)| cause))
                };
                let (on_true, on_false) =
                    (cause_unless(Outcome::True), cause_unless(Outcome::False));
                let inner_cause = self.search_statement(then, on_true);
                let inner_cause = otherwise
                    .as_ref()
                    .and_then(|other| self.search_statement(other, on_false))
                    .or(inner_cause);
                fixed_header.map(|(cause, _)| cause).or(inner_cause)
            }
            StatementKind::While { decision, body }
            | StatementKind::For { decision: Some(decision), body, .. } => {
                if let StatementKind::For { init: Some(init), .. } = &statement.kind {
                    self.search_statement(init, outer_cause);
                }
                let fixed_header = self.note_header(*decision, statement);
                let cause_unless = fixed_header
                    .filter(|(_, only_outcome)| *only_outcome == Outcome::False)
                    .map(|(cause, _)| cause);
                let inner_cause = self.search_statement(body, outer_cause.or(cause_unless));
                fixed_header.map(|(cause, _)| cause).or(inner_cause)
            }
            StatementKind::For { init, decision: None, body } => {
                let inner_cause =
                    init.as_ref().and_then(|init| self.search_statement(init, outer_cause));
                self.search_statement(body, outer_cause).or(inner_cause)
            }
            StatementKind::DoWhile { body, decision } => {
                let inner_cause = self.search_statement(body, outer_cause);
                self.note_header(*decision, statement).map(|(cause, _)| cause).or(inner_cause)
            }
            StatementKind::Empty
            | StatementKind::Simple
            | StatementKind::Label { .. }
            | StatementKind::Break
            | StatementKind::Continue
            | StatementKind::Return
            | StatementKind::Terminate => None,
        }
    }

    /// Notes the statement of a decision; the decision as a cause, with its only outcome.
    fn note_header(
        &mut self,
        decision: DecisionId,
        statement: &Statement,
    ) -> Option<(UnreachableCause, Outcome)> {
        if let Some(id) = statement.id {
            self.headers.insert(decision, id);
        }
        self.resolution
            .only_outcome(decision)
            .map(|outcome| (UnreachableCause::Decision(decision), outcome))
    }
}
