//! Statements with ids in source order, their decisions and the marks of their labels.
//!
//! Does not cover: functions and declarations around and in them (`outline`).

use super::{DeclarationEffect, Outliner};
use crate::decisions::ExpressionPosition;
use crate::marking::PlacementRole;
use crate::syntax::{self, Expression, LoopCondition, TokenIndex};
use vkcert_model::id::{DecisionId, StatementId, SwitchId};
use vkcert_model::structure::{
    Block, DecisionContext, Exit, Label, LabelKind, Statement, StatementKind, Switch,
};

impl Outliner<'_> {
    pub(super) fn outline_block(&mut self, statements: &[syntax::Statement]) -> Block {
        Block(statements.iter().map(|statement| self.outline_statement(statement)).collect())
    }

    pub(super) fn scoped_statement(&mut self, statement: &syntax::Statement) -> Box<Statement> {
        self.decisions.names.open_scope();
        let statement = self.outline_statement(statement);
        self.decisions.names.close_scope();
        Box::new(statement)
    }

    fn statement_node(
        &self,
        statement_id: Option<StatementId>,
        header_tokens: (TokenIndex, TokenIndex),
        statement_kind: StatementKind,
    ) -> Statement {
        let located_tokens = self.decisions.locate_tokens(header_tokens.0, header_tokens.1);
        Statement {
            id: statement_id,
            span: located_tokens.span,
            kind: statement_kind,
            expansion: located_tokens.expansion,
        }
    }

    fn outline_statement(&mut self, statement: &syntax::Statement) -> Statement {
        use syntax::StatementKind as Parsed;
        match &statement.kind {
            Parsed::Block(inner) => {
                self.decisions.names.open_scope();
                let block = self.outline_block(inner);
                self.decisions.names.close_scope();
                self.statement_node(None, statement.header, StatementKind::Block { block })
            }
            Parsed::Empty => self.statement_node(None, statement.header, StatementKind::Empty),
            Parsed::Expression(expression) => {
                let statement_id = self.next_statement();
                self.decisions.visit_expression(expression, ExpressionPosition::Discarded);
                self.statement_node(Some(statement_id), statement.header, StatementKind::Simple)
            }
            Parsed::Declaration(declaration) => match self.outline_declaration(declaration) {
                DeclarationEffect::Initialises => {
                    let statement_id = self.next_statement();
                    self.statement_node(Some(statement_id), statement.header, StatementKind::Simple)
                }
                DeclarationEffect::Nothing => {
                    self.statement_node(None, statement.header, StatementKind::Empty)
                }
            },
            Parsed::If { .. } => self.if_statement(statement),
            Parsed::While { .. } | Parsed::DoWhile { .. } | Parsed::For { .. } => {
                self.loop_statement(statement)
            }
            Parsed::Switch { selector, open, body } => {
                self.switch_statement(statement, selector, *open, body)
            }
            Parsed::Case(value) => {
                self.decisions.in_constant_expression("a case label", |decisions| {
                    decisions.visit_expression(value, ExpressionPosition::Operand)
                });
                self.label_statement(statement, LabelKind::Case)
            }
            Parsed::Default => self.label_statement(statement, LabelKind::Default),
            Parsed::Break => {
                self.mark_break(statement);
                self.leaf_statement(statement, StatementKind::Break)
            }
            Parsed::Continue => self.leaf_statement(statement, StatementKind::Continue),
            Parsed::Return(value) => {
                let left_loops = self.open_loop_returns(statement);
                let exit_statement = self.exit_statement(statement, StatementKind::Return);
                if let Some(value) = value {
                    let context = DecisionContext::Return;
                    let is_boolean = self.returns_boolean;
                    self.decisions.visit_expression(
                        value,
                        if is_boolean {
                            ExpressionPosition::Boolean(context)
                        } else {
                            ExpressionPosition::Place(context)
                        },
                    );
                }
                self.close_loop_returns(statement, &left_loops);
                exit_statement
            }
            Parsed::Terminate => {
                let left_loops = self.open_loop_returns(statement);
                self.close_loop_returns(statement, &left_loops);
                self.exit_statement(statement, StatementKind::Terminate)
            }
        }
    }

    fn leaf_statement(
        &mut self,
        statement: &syntax::Statement,
        statement_kind: StatementKind,
    ) -> Statement {
        let statement_id = self.next_statement();
        self.statement_node(Some(statement_id), statement.header, statement_kind)
    }

    fn exit_statement(
        &mut self,
        statement: &syntax::Statement,
        statement_kind: StatementKind,
    ) -> Statement {
        let exit_statement = self.leaf_statement(statement, statement_kind);
        self.exits.extend(exit_statement.id.map(|id| Exit::Return { statement: id }));
        exit_statement
    }

    /// The decision that a controlling expression became; it is always one.
    fn controlling_decision(
        &mut self,
        expression: &Expression,
        context: DecisionContext,
    ) -> DecisionId {
        // Operands of a comma expression before the last come first, so the decision is found by
        // its context.
        let decisions_before = self.decisions.decisions.len();
        self.decisions.visit_expression(expression, ExpressionPosition::Controlling(context));
        let controlling_decision = self.decisions.decisions[decisions_before..]
            .iter()
            .find(|decision| decision.context == context);
        controlling_decision.expect("a controlling expression is a decision").id
    }

    fn outline_loop_condition(
        &mut self,
        condition: &LoopCondition,
        context: DecisionContext,
    ) -> DecisionId {
        match condition {
            LoopCondition::Expression(expression) => self.controlling_decision(expression, context),
            LoopCondition::Declaration(declaration) => {
                self.type_expressions(&declaration.declared);
                let declarator = &declaration.declarators[0];
                let initialiser = declarator.initialiser.as_ref().expect("the parser demands one");
                let decision = self.controlling_decision(initialiser, context);
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
        let decision_id = self.controlling_decision(condition, DecisionContext::If);
        let then = self.scoped_statement(then);
        let otherwise = otherwise.as_ref().map(|otherwise| self.scoped_statement(otherwise));
        self.statement_node(
            Some(statement_id),
            statement.header,
            StatementKind::If { decision: decision_id, then, otherwise },
        )
    }

    fn loop_statement(&mut self, statement: &syntax::Statement) -> Statement {
        use syntax::StatementKind as Parsed;
        self.loops.push([statement.first as u32, statement.last as u32]);
        let counted = self.open_loop(statement);
        self.decisions.names.open_scope();
        let loop_node = match &statement.kind {
            Parsed::While { condition, body } => {
                let statement_id = self.next_statement();
                let decision_id = self.outline_loop_condition(condition, DecisionContext::While);
                let body = self.loop_body(counted, body);
                self.statement_node(
                    Some(statement_id),
                    statement.header,
                    StatementKind::While { decision: decision_id, body },
                )
            }
            Parsed::DoWhile { body, condition } => {
                let body = self.loop_body(counted, body);
                let statement_id = self.next_statement();
                let decision_id = self.controlling_decision(condition, DecisionContext::DoWhile);
                self.statement_node(
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
                    .map(|condition| self.outline_loop_condition(condition, DecisionContext::For));
                if let Some(update) = update {
                    self.decisions.visit_expression(update, ExpressionPosition::Discarded);
                }
                let body = self.loop_body(counted, body);
                self.statement_node(
                    Some(statement_id),
                    statement.header,
                    StatementKind::For { init, decision: decision_id, body },
                )
            }
            _ => unreachable!("called for loops alone"),
        };
        self.decisions.names.close_scope();
        if let Some(counted) = counted {
            self.close_loop(counted, statement, &loop_node);
        }
        loop_node
    }

    /// The first part of a `for` header: part of the loop's own statement, so without an id.
    fn for_init(&mut self, init: &syntax::Statement) -> Statement {
        match &init.kind {
            syntax::StatementKind::Declaration(declaration) => {
                self.outline_declaration(declaration);
            }
            syntax::StatementKind::Expression(expression) => {
                self.decisions.visit_expression(expression, ExpressionPosition::Discarded)
            }
            _ => {}
        }
        self.statement_node(None, init.header, StatementKind::Simple)
    }

    fn switch_statement(
        &mut self,
        statement: &syntax::Statement,
        selector: &Expression,
        open: TokenIndex,
        body: &[syntax::Statement],
    ) -> Statement {
        let statement_id = self.next_statement();
        let switch_id = SwitchId(self.switches.len() as u32 + 1);
        self.decisions.visit_expression(selector, ExpressionPosition::Operand);
        let selector_place = self.decisions.locate_tokens(selector.first, selector.last);
        let selector_text = self.decisions.source_text(&selector_place);
        let header_span = self.token_span(statement.header.0, statement.header.1);
        self.selectors.push([selector.first as u32, selector.last as u32]);
        self.switches.push(Switch {
            id: switch_id,
            span: header_span,
            text: selector_text,
            labels: Vec::new(),
        });
        let has_default =
            body.iter().any(|inner| matches!(inner.kind, syntax::StatementKind::Default));
        let implicit_mark = (!has_default).then(|| self.decisions.next_mark());
        if let Some(mark) = implicit_mark {
            self.place_marker(open, PlacementRole::ImplicitDefault { mark });
        }
        self.open_switches.push(switch_id);
        let outer_target = self.begin_break_target(None);
        self.decisions.names.open_scope();
        let switch_body = self.outline_block(body);
        self.decisions.names.close_scope();
        self.open_switches.pop();
        self.end_break_target(outer_target);
        if let Some(mark) = implicit_mark {
            let label = Label {
                kind: LabelKind::ImplicitDefault,
                span: header_span,
                text: "no label matches".to_owned(),
                mark: Some(mark),
            };
            self.switches[switch_id.0 as usize - 1].labels.push(label);
        }
        self.statement_node(
            Some(statement_id),
            statement.header,
            StatementKind::Switch { switch: switch_id, body: switch_body },
        )
    }

    fn label_statement(
        &mut self,
        statement: &syntax::Statement,
        label_kind: LabelKind,
    ) -> Statement {
        let Some(switch_id) = self.open_switches.last().copied() else {
            // The compiler rejects a label outside a switch; nothing can be measured here.
            return self.statement_node(None, statement.header, StatementKind::Empty);
        };
        let mark = self.decisions.next_mark();
        self.place_marker(statement.last, PlacementRole::Label { mark });
        let located_label = self.decisions.locate_tokens(statement.first, statement.last);
        let label_text = self.decisions.source_text(&located_label);
        let labels = &mut self.switches[switch_id.0 as usize - 1].labels;
        labels.push(Label {
            kind: label_kind,
            span: located_label.span,
            text: label_text,
            mark: Some(mark),
        });
        let label_index = labels.len() as u32 - 1;
        self.statement_node(
            None,
            statement.header,
            StatementKind::Label { switch: switch_id, label: label_index },
        )
    }
}
