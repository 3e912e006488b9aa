//! Finds for every statement that cannot be executed the fixed decision or switch at fault, as far
//! as structure tells.

use super::super::statement::Truth;
use super::Resolution;
use super::ruled_out::Cause;
use std::collections::BTreeMap;
use vkcert_model::id::{DecisionId, StatementId};
use vkcert_model::structure::{Block, Statement, StatementKind};
use vkcert_model::vector::Outcome;

impl Resolution<'_> {
    /// The same with the cause of every statement that cannot be executed.
    pub(super) fn with_causes(self) -> Self {
        let mut search =
            CauseSearch { resolution: &self, causes: BTreeMap::new(), headers: BTreeMap::new() };
        for (index, function) in self.structure.functions.iter().enumerate() {
            let called = !self.excluded_marks.contains(&function.entry_mark);
            search.row(&function.body, (!called).then_some(Cause::Function(index)));
        }
        let CauseSearch { causes, headers, .. } = search;
        Self { causes, headers, ..self }
    }
}

/// Finds for every statement that cannot be executed the fixed decision or switch at fault, as far
/// as structure tells.
struct CauseSearch<'r, 'a> {
    resolution: &'r Resolution<'a>,
    causes: BTreeMap<StatementId, Cause>,
    headers: BTreeMap<DecisionId, StatementId>,
}

impl CauseSearch<'_, '_> {
    /// Walks statements in a row that `why` may rule out; returns the last fixed decision inside,
    /// which may be why nothing comes behind it.
    fn row(&mut self, block: &Block, why: Option<Cause>) -> Option<Cause> {
        let (mut last, mut here) = (None, why);
        for statement in &block.0 {
            if let StatementKind::Label { switch, label } = statement.kind {
                let mark = self
                    .resolution
                    .structure
                    .switch(switch)
                    .labels
                    .get(label as usize)
                    .and_then(|l| l.mark);
                let passed = mark.is_none_or(|mark| self.resolution.is_passed(mark));
                (here, last) = (why.or((!passed).then_some(Cause::Switch(switch))), None);
            }
            if self.is_reached(statement) {
                here = None;
            }
            last = self.statement(statement, here.or(last)).or(last);
        }
        last
    }

    /// Whether a statement can be executed; what has no id says nothing.
    fn is_reached(&self, statement: &Statement) -> bool {
        let truth = statement.id.and_then(|id| self.resolution.possible.statements.get(&id));
        truth.is_some_and(|truth| *truth != Truth::No)
    }

    fn statement(&mut self, statement: &Statement, why: Option<Cause>) -> Option<Cause> {
        // What stands before it rules nothing out where it can be executed.
        let why = why.filter(|_| !self.is_reached(statement));
        if let (Some(id), Some(why)) = (statement.id, why)
            && self.resolution.possible.statements.get(&id) == Some(&Truth::No)
        {
            self.causes.insert(id, why);
        }
        match &statement.kind {
            StatementKind::Block { block } | StatementKind::Switch { body: block, .. } => {
                self.row(block, why)
            }
            StatementKind::If { decision, then, otherwise } => {
                let fixed = self.header(*decision, statement);
                let never = |outcome: Outcome| {
                    why.or(fixed.filter(|(_, only)| *only != outcome).map(|(cause, _)| cause))
                };
                let (on_true, on_false) = (never(Outcome::True), never(Outcome::False));
                let inside = self.statement(then, on_true);
                let inside =
                    otherwise.as_ref().and_then(|other| self.statement(other, on_false)).or(inside);
                fixed.map(|(cause, _)| cause).or(inside)
            }
            StatementKind::While { decision, body }
            | StatementKind::For { decision: Some(decision), body, .. } => {
                if let StatementKind::For { init: Some(init), .. } = &statement.kind {
                    self.statement(init, why);
                }
                let fixed = self.header(*decision, statement);
                let never =
                    fixed.filter(|(_, only)| *only == Outcome::False).map(|(cause, _)| cause);
                let inside = self.statement(body, why.or(never));
                fixed.map(|(cause, _)| cause).or(inside)
            }
            StatementKind::For { init, decision: None, body } => {
                let inside = init.as_ref().and_then(|init| self.statement(init, why));
                self.statement(body, why).or(inside)
            }
            StatementKind::DoWhile { body, decision } => {
                let inside = self.statement(body, why);
                self.header(*decision, statement).map(|(cause, _)| cause).or(inside)
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
    fn header(&mut self, decision: DecisionId, statement: &Statement) -> Option<(Cause, Outcome)> {
        if let Some(id) = statement.id {
            self.headers.insert(decision, id);
        }
        self.resolution.outcome(decision).map(|outcome| (Cause::Decision(decision), outcome))
    }
}
