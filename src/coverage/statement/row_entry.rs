//! Whether a row of statements was entered, from the records inside of it alone.
//!
//! Promises: an answer only where a record shows it: one that is set inside, or one at the row's
//! straight beginning that is not set.

use super::{DecisionOutcomes, ExecutionWalk, Truth, visit_statement};
use vkcert_model::id::DecisionId;
use vkcert_model::structure::{LabelKind, Statement, StatementKind};

impl ExecutionWalk<'_> {
    /// Whether a row of statements was entered at its beginning, as far as records inside tell.
    pub(super) fn row_entered(&self, statements: &[Statement]) -> Option<bool> {
        let mut is_straight = true;
        for (index, statement) in statements.iter().enumerate() {
            if index > 0 && matches!(statement.kind, StatementKind::Label { .. }) {
                return None;
            }
            if self.any_record_set(statement) {
                return Some(true);
            }
            is_straight &=
                self.calls_return == Truth::Yes || !matches!(statement.kind, StatementKind::Simple);
            match self.head_record(statement) {
                HeadRecord::Unseen if is_straight => return Some(false),
                HeadRecord::Plain => {}
                HeadRecord::Unseen | HeadRecord::Unknown => is_straight = false,
            }
        }
        None
    }

    /// Whether any record inside a statement is set.
    fn any_record_set(&self, statement: &Statement) -> bool {
        let mut is_seen = false;
        visit_statement(statement, &mut |inner_statement| {
            is_seen |= match &inner_statement.kind {
                StatementKind::If { decision, .. }
                | StatementKind::While { decision, .. }
                | StatementKind::DoWhile { decision, .. } => self.outcome_seen(*decision),
                StatementKind::For { decision, .. } => {
                    decision.is_some_and(|decision| self.outcome_seen(decision))
                }
                StatementKind::Label { switch, label } => {
                    self.label_mark(*switch, *label) == Some(true)
                }
                StatementKind::Switch { switch, .. } => {
                    let labels = 0..self.structure.switch(*switch).labels.len() as u32;
                    labels.into_iter().any(|label| self.label_mark(*switch, label) == Some(true))
                }
                StatementKind::Block { .. }
                | StatementKind::Empty
                | StatementKind::Simple
                | StatementKind::Break
                | StatementKind::Continue
                | StatementKind::Return
                | StatementKind::Terminate => false,
            }
        });
        is_seen
    }

    fn outcome_seen(&self, decision: DecisionId) -> bool {
        match self.evidence.decision_outcomes(decision) {
            DecisionOutcomes::Recorded { true_seen, false_seen } => true_seen || false_seen,
            DecisionOutcomes::Unrecorded => false,
        }
    }

    fn decision_head(&self, decision: DecisionId) -> HeadRecord {
        match self.evidence.decision_outcomes(decision) {
            DecisionOutcomes::Recorded { .. } => HeadRecord::Unseen,
            DecisionOutcomes::Unrecorded => HeadRecord::Unknown,
        }
    }

    /// What a statement without any set record says about whether it was executed.
    fn head_record(&self, statement: &Statement) -> HeadRecord {
        match &statement.kind {
            StatementKind::Empty | StatementKind::Simple => HeadRecord::Plain,
            StatementKind::If { decision, .. } | StatementKind::While { decision, .. } => {
                self.decision_head(*decision)
            }
            StatementKind::For { decision, .. } => {
                decision.map_or(HeadRecord::Unknown, |decision| self.decision_head(decision))
            }
            StatementKind::Block { block } => match self.row_entered(&block.0) {
                Some(_) => HeadRecord::Unseen,
                None if block.0.iter().all(|inner_statement| {
                    matches!(self.head_record(inner_statement), HeadRecord::Plain)
                }) =>
                {
                    HeadRecord::Plain
                }
                None => HeadRecord::Unknown,
            },
            StatementKind::Switch { switch, .. } => {
                let labels = &self.structure.switch(*switch).labels;
                let has_default = labels.iter().any(|label| label.kind != LabelKind::Case);
                let all_marked =
                    (0..labels.len() as u32).all(|label| self.label_mark(*switch, label).is_some());
                if has_default && all_marked { HeadRecord::Unseen } else { HeadRecord::Unknown }
            }
            StatementKind::Label { switch, label } => match self.label_mark(*switch, *label) {
                Some(_) => HeadRecord::Unseen,
                None => HeadRecord::Unknown,
            },
            StatementKind::DoWhile { .. }
            | StatementKind::Break
            | StatementKind::Continue
            | StatementKind::Return
            | StatementKind::Terminate => HeadRecord::Unknown,
        }
    }
}

/// What the beginning of a statement tells when none of its records is set.
enum HeadRecord {
    /// It would have set a record, had it been executed.
    Unseen,
    /// It sets none and always completes.
    Plain,
    Unknown,
}
