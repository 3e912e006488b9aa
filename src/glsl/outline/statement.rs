//! Statements with ids in source order, their decisions and the marks of their labels.
//!
//! Does not cover: functions and declarations around and in them (`outline`).

use super::{Effect, Outliner};
use crate::decisions::Position;
use crate::marking::Placed;
use crate::syntax::{self, Expression, LoopCondition, TokenIndex};
use vkcert_model::id::{DecisionId, StatementId, SwitchId};
use vkcert_model::structure::{
    Block, DecisionContext, Exit, Label, LabelKind, Statement, StatementKind, Switch,
};

impl Outliner<'_> {
    pub(super) fn block(&mut self, statements: &[syntax::Statement]) -> Block {
        Block(statements.iter().map(|statement| self.statement(statement)).collect())
    }

    fn scoped(&mut self, statement: &syntax::Statement) -> Box<Statement> {
        self.decisions.names.open();
        let statement = self.statement(statement);
        self.decisions.names.close();
        Box::new(statement)
    }

    fn made(
        &self,
        statement_id: Option<StatementId>,
        header_tokens: (TokenIndex, TokenIndex),
        statement_kind: StatementKind,
    ) -> Statement {
        let located_tokens = self.decisions.locate(header_tokens.0, header_tokens.1);
        Statement {
            id: statement_id,
            span: located_tokens.span,
            kind: statement_kind,
            expansion: located_tokens.expansion,
        }
    }

    fn statement(&mut self, statement: &syntax::Statement) -> Statement {
        use syntax::StatementKind as Parsed;
        match &statement.kind {
            Parsed::Block(inner) => {
                self.decisions.names.open();
                let block = self.block(inner);
                self.decisions.names.close();
                self.made(None, statement.header, StatementKind::Block { block })
            }
            Parsed::Empty => self.made(None, statement.header, StatementKind::Empty),
            Parsed::Expression(expression) => {
                let statement_id = self.next_statement();
                self.decisions.visit(expression, Position::Discarded);
                self.made(Some(statement_id), statement.header, StatementKind::Simple)
            }
            Parsed::Declaration(declaration) => match self.declaration(declaration) {
                Effect::Initialises => {
                    let statement_id = self.next_statement();
                    self.made(Some(statement_id), statement.header, StatementKind::Simple)
                }
                Effect::Nothing => self.made(None, statement.header, StatementKind::Empty),
            },
            Parsed::If { .. } => self.if_statement(statement),
            Parsed::While { .. } | Parsed::DoWhile { .. } | Parsed::For { .. } => {
                self.loop_statement(statement)
            }
            Parsed::Switch { selector, open, body } => {
                self.switch(statement, selector, *open, body)
            }
            Parsed::Case(value) => {
                self.decisions.constant("a case label", |decisions| {
                    decisions.visit(value, Position::Operand)
                });
                self.label(statement, LabelKind::Case)
            }
            Parsed::Default => self.label(statement, LabelKind::Default),
            Parsed::Break => self.leaf(statement, StatementKind::Break),
            Parsed::Continue => self.leaf(statement, StatementKind::Continue),
            Parsed::Return(value) => {
                let exit_statement = self.exit(statement, StatementKind::Return);
                if let Some(value) = value {
                    let context = DecisionContext::Return;
                    let is_boolean = self.returns_boolean;
                    self.decisions.visit(
                        value,
                        if is_boolean {
                            Position::Boolean(context)
                        } else {
                            Position::Place(context)
                        },
                    );
                }
                exit_statement
            }
            Parsed::Terminate => self.exit(statement, StatementKind::Terminate),
        }
    }

    fn leaf(&mut self, statement: &syntax::Statement, statement_kind: StatementKind) -> Statement {
        let statement_id = self.next_statement();
        self.made(Some(statement_id), statement.header, statement_kind)
    }

    fn exit(&mut self, statement: &syntax::Statement, statement_kind: StatementKind) -> Statement {
        let exit_statement = self.leaf(statement, statement_kind);
        self.exits.extend(exit_statement.id.map(|statement| Exit::Return { statement }));
        exit_statement
    }

    /// The decision that a controlling expression became; it is always one.
    fn controlling(&mut self, expression: &Expression, context: DecisionContext) -> DecisionId {
        // Operands of a comma expression before the last come first, so the decision is found by
        // its context.
        let decisions_before = self.decisions.found.len();
        self.decisions.visit(expression, Position::Controlling(context));
        let controlling_decision = self.decisions.found[decisions_before..]
            .iter()
            .find(|decision| decision.context == context);
        controlling_decision.expect("a controlling expression is a decision").id
    }

    fn loop_condition(
        &mut self,
        condition: &LoopCondition,
        context: DecisionContext,
    ) -> DecisionId {
        match condition {
            LoopCondition::Expression(expression) => self.controlling(expression, context),
            LoopCondition::Declaration(declaration) => {
                self.type_expressions(&declaration.declared);
                let declarator = &declaration.declarators[0];
                let initialiser = declarator.initialiser.as_ref().expect("the parser demands one");
                let decision = self.controlling(initialiser, context);
                self.decisions.names.add_declarator(&declaration.declared, declarator);
                decision
            }
        }
    }

    fn if_statement(&mut self, statement: &syntax::Statement) -> Statement {
        let syntax::StatementKind::If { condition, then, otherwise } = &statement.kind else {
            unreachable!("called for `if` alone");
        };
        let statement_id = self.next_statement();
        let decision_id = self.controlling(condition, DecisionContext::If);
        let then = self.scoped(then);
        let otherwise = otherwise.as_ref().map(|otherwise| self.scoped(otherwise));
        self.made(
            Some(statement_id),
            statement.header,
            StatementKind::If { decision: decision_id, then, otherwise },
        )
    }

    fn loop_statement(&mut self, statement: &syntax::Statement) -> Statement {
        use syntax::StatementKind as Parsed;
        self.loops.push([statement.first as u32, statement.last as u32]);
        self.decisions.names.open();
        let loop_node = match &statement.kind {
            Parsed::While { condition, body } => {
                let statement_id = self.next_statement();
                let decision_id = self.loop_condition(condition, DecisionContext::While);
                let body = self.scoped(body);
                self.made(
                    Some(statement_id),
                    statement.header,
                    StatementKind::While { decision: decision_id, body },
                )
            }
            Parsed::DoWhile { body, condition } => {
                let body = self.scoped(body);
                let statement_id = self.next_statement();
                let decision_id = self.controlling(condition, DecisionContext::DoWhile);
                self.made(
                    Some(statement_id),
                    statement.header,
                    StatementKind::DoWhile { body, decision: decision_id },
                )
            }
            Parsed::For { init, condition, update, body } => {
                let statement_id = self.next_statement();
                let init = init.as_ref().map(|init| Box::new(self.for_init(init)));
                let decision_id = condition
                    .as_ref()
                    .map(|condition| self.loop_condition(condition, DecisionContext::For));
                if let Some(update) = update {
                    self.decisions.visit(update, Position::Discarded);
                }
                let body = self.scoped(body);
                self.made(
                    Some(statement_id),
                    statement.header,
                    StatementKind::For { init, decision: decision_id, body },
                )
            }
            _ => unreachable!("called for loops alone"),
        };
        self.decisions.names.close();
        loop_node
    }

    /// The first part of a `for` header: part of the loop's own statement, so without an id.
    fn for_init(&mut self, init: &syntax::Statement) -> Statement {
        match &init.kind {
            syntax::StatementKind::Declaration(declaration) => {
                self.declaration(declaration);
            }
            syntax::StatementKind::Expression(expression) => {
                self.decisions.visit(expression, Position::Discarded)
            }
            _ => {}
        }
        self.made(None, init.header, StatementKind::Simple)
    }

    fn switch(
        &mut self,
        statement: &syntax::Statement,
        selector: &Expression,
        open: TokenIndex,
        body: &[syntax::Statement],
    ) -> Statement {
        let statement_id = self.next_statement();
        let switch_id = SwitchId(self.switches.len() as u32 + 1);
        self.decisions.visit(selector, Position::Operand);
        let selector_place = self.decisions.locate(selector.first, selector.last);
        let selector_text = self.decisions.text(&selector_place);
        let header_span = self.span(statement.header.0, statement.header.1);
        self.selectors.push([selector.first as u32, selector.last as u32]);
        self.switches.push(Switch {
            id: switch_id,
            span: header_span,
            text: selector_text,
            labels: Vec::new(),
        });
        let has_default =
            body.iter().any(|inner| matches!(inner.kind, syntax::StatementKind::Default));
        let implicit_mark = (!has_default).then(|| self.next_mark());
        if let Some(mark) = implicit_mark {
            self.place(open, Placed::ImplicitDefault { mark });
        }
        self.open_switches.push(switch_id);
        self.decisions.names.open();
        let switch_body = self.block(body);
        self.decisions.names.close();
        self.open_switches.pop();
        if let Some(mark) = implicit_mark {
            let label = Label {
                kind: LabelKind::ImplicitDefault,
                span: header_span,
                text: "no label matches".to_owned(),
                mark: Some(mark),
            };
            self.switches[switch_id.0 as usize - 1].labels.push(label);
        }
        self.made(
            Some(statement_id),
            statement.header,
            StatementKind::Switch { switch: switch_id, body: switch_body },
        )
    }

    fn label(&mut self, statement: &syntax::Statement, label_kind: LabelKind) -> Statement {
        let Some(switch_id) = self.open_switches.last().copied() else {
            // The compiler rejects a label outside a switch; nothing can be measured here.
            return self.made(None, statement.header, StatementKind::Empty);
        };
        let mark = self.next_mark();
        self.place(statement.last, Placed::Label { mark });
        let located_label = self.decisions.locate(statement.first, statement.last);
        let label_text = self.decisions.text(&located_label);
        let labels = &mut self.switches[switch_id.0 as usize - 1].labels;
        labels.push(Label {
            kind: label_kind,
            span: located_label.span,
            text: label_text,
            mark: Some(mark),
        });
        let label_index = labels.len() as u32 - 1;
        self.made(
            None,
            statement.header,
            StatementKind::Label { switch: switch_id, label: label_index },
        )
    }
}
