//! Control flow around barriers: it stands outside the loop nests, and every invocation evaluates
//! its conditions.
//!
//! Promises: an invocation that goes another way waits at the point of the text where all come
//! together again.

use super::{LoopPoints, statement_list};
use crate::cpp::{Emitted, Emitter};
use crate::syntax::{Declaration, Expression, LoopCondition, Statement, StatementKind, TokenIndex};
use std::collections::BTreeMap;

/// The parts of a loop that holds a barrier.
struct LoopAroundBarriers<'s> {
    first_token: TokenIndex,
    init: Option<&'s Statement>,
    condition: Option<TestedCondition<'s>>,
    update: Option<&'s Statement>,
    body: &'s Statement,
    loop_test: LoopTest,
}

/// What a loop tests.
#[derive(Clone, Copy)]
enum TestedCondition<'s> {
    Expression(&'s Expression),
    /// A variable that the header declares.
    Declaration,
}

impl<'s> TestedCondition<'s> {
    fn of_header(condition: &'s LoopCondition) -> Self {
        match condition {
            LoopCondition::Expression(expression) => Self::Expression(expression),
            LoopCondition::Declaration(_) => Self::Declaration,
        }
    }
}

impl Emitter<'_> {
    /// Statements with barriers among them or in them.
    pub(in crate::cpp) fn split_at_barriers(&mut self, statements: &[Statement]) -> Emitted {
        let mut statement_index = 0;
        while statement_index < statements.len() {
            if self.is_barrier(&statements[statement_index]) {
                let source_place = self.shown_place(statements[statement_index].first);
                self.out.line(&format!("meet(invocations, \"{source_place}\"); // barrier"));
                statement_index += 1;
            } else if self.is_subgroup_barrier(&statements[statement_index]) {
                self.out.line("// subgroup barrier");
                statement_index += 1;
            } else if self.holds_barrier(&statements[statement_index]) {
                self.split_statement(&statements[statement_index])?;
                statement_index += 1;
            } else {
                // What hides another variable is known from its declaration on, and not before.
                let region_length = statements[statement_index + 1..]
                    .iter()
                    .position(|statement| {
                        self.holds_barrier(statement) || self.hides_variable(statement)
                    })
                    .map(|length| length + 1);
                let region_end = region_length
                    .map_or(statements.len(), |region_length| statement_index + region_length);
                self.emit_region(&statements[statement_index..region_end])?;
                statement_index = region_end;
            }
        }
        Ok(())
    }

    fn split_statement(&mut self, statement: &Statement) -> Emitted {
        match &statement.kind {
            StatementKind::Block(inner) => self.split_scoped("{", inner),
            StatementKind::If { condition, then, otherwise } => {
                self.split_if(statement.first, condition, then, otherwise.as_deref())
            }
            StatementKind::While { condition, body } => self.split_loop(&LoopAroundBarriers {
                first_token: statement.first,
                init: None,
                condition: Some(TestedCondition::of_header(condition)),
                update: None,
                body,
                loop_test: LoopTest::Before,
            }),
            StatementKind::For { init, condition, update, body } => {
                let update = update.clone().map(|update| as_statement(update, statement));
                self.split_loop(&LoopAroundBarriers {
                    first_token: statement.first,
                    init: init.as_deref(),
                    condition: condition.as_ref().map(TestedCondition::of_header),
                    update: update.as_ref(),
                    body,
                    loop_test: LoopTest::Before,
                })
            }
            StatementKind::DoWhile { body, condition } => self.split_loop(&LoopAroundBarriers {
                first_token: statement.first,
                init: None,
                condition: Some(TestedCondition::Expression(condition)),
                update: None,
                body,
                loop_test: LoopTest::Behind,
            }),
            StatementKind::Switch { selector, open, .. } => {
                if (*open..statement.last).any(|token| {
                    self.token_text(token + 1) == "(" && self.is_collective(self.token_text(token))
                }) {
                    return Err(self.unsupported_at("a barrier inside a switch", statement.first));
                }
                self.emit_collective_calls(selector)?;
                self.emit_region(std::slice::from_ref(statement))
            }
            StatementKind::Expression(expression) => {
                self.emit_collective_calls(expression)?;
                if self.is_already_called(expression) {
                    Ok(())
                } else {
                    self.emit_region(std::slice::from_ref(statement))
                }
            }
            StatementKind::Return(Some(value)) => {
                self.emit_collective_calls(value)?;
                self.emit_region(std::slice::from_ref(statement))
            }
            StatementKind::Declaration(declaration) => {
                self.split_declaration(declaration, statement)
            }
            _ => Err(self.unsupported_at("a barrier inside an expression", statement.first)),
        }
    }

    /// Each variable has its value before the next one is declared.
    fn split_declaration(&mut self, declaration: &Declaration, whole: &Statement) -> Emitted {
        for declarator in &declaration.declarators {
            if let Some(initialiser) = &declarator.initialiser {
                self.emit_collective_calls(initialiser)?;
            }
            let own_declaration = Declaration {
                declared: declaration.declared.clone(),
                declarators: vec![declarator.clone()],
            };
            let kind = StatementKind::Declaration(own_declaration);
            let Statement { first, last, header, .. } = *whole;
            self.emit_region(&[Statement { kind, first, last, header }])?;
        }
        Ok(())
    }

    fn split_scoped(&mut self, opening_text: &str, statements: &[Statement]) -> Emitted {
        self.out.open_block(opening_text);
        self.scopes.push(BTreeMap::new());
        self.split_at_barriers(statements)?;
        self.scopes.pop();
        self.out.close_block("}");
        Ok(())
    }

    /// A branch around barriers: who does not take it waits behind it.
    fn split_if(
        &mut self,
        first_token: TokenIndex,
        condition: &Expression,
        then: &Statement,
        otherwise: Option<&Statement>,
    ) -> Emitted {
        self.emit_collective_calls(condition)?;
        let behind_then = self.next_number();
        self.emit_test(behind_then, first_token, condition)?;
        self.split_scoped("{", statement_list(then))?;
        let Some(otherwise) = otherwise else {
            self.come_back(behind_then);
            return Ok(());
        };
        let behind_branch = self.next_number();
        let source_place = self.shown_place(first_token);
        self.out.line(&format!(
            "change_over(invocations, {behind_then}, {behind_branch}, \"{source_place}\");"
        ));
        self.split_scoped("{", statement_list(otherwise))?;
        self.come_back(behind_branch);
        Ok(())
    }

    /// A loop around barriers: it stands outside the nests over invocations.
    fn split_loop(&mut self, parts: &LoopAroundBarriers<'_>) -> Emitted {
        let loop_points = LoopPoints { again: self.next_number(), behind: self.next_number() };
        self.scopes.push(BTreeMap::new());
        if let Some(init) = parts.init {
            self.split_at_barriers(std::slice::from_ref(init))?;
        }
        self.out.open_block("while (true) {");
        if parts.loop_test == LoopTest::Before {
            self.emit_loop_test(loop_points, parts)?;
        }
        let outer_points = self.enclosing_loop.replace(loop_points);
        self.split_scoped("{", statement_list(parts.body))?;
        self.enclosing_loop = outer_points;
        self.come_back(loop_points.again);
        if let Some(update) = parts.update {
            self.split_at_barriers(std::slice::from_ref(update))?;
        }
        if parts.loop_test == LoopTest::Behind {
            self.emit_loop_test(loop_points, parts)?;
        }
        self.out.close_block("}");
        self.come_back(loop_points.behind);
        self.scopes.pop();
        Ok(())
    }

    fn emit_loop_test(
        &mut self,
        loop_points: LoopPoints,
        parts: &LoopAroundBarriers<'_>,
    ) -> Emitted {
        match parts.condition {
            Some(TestedCondition::Expression(condition)) => {
                self.emit_collective_calls(condition)?;
                self.emit_test(loop_points.behind, parts.first_token, condition)?;
            }
            Some(TestedCondition::Declaration) => {
                return Err(self.unsupported_at(
                    "a declaration in the condition of a loop around a barrier",
                    parts.first_token,
                ));
            }
            None => {}
        }
        self.out.line("if (nobody_is_here(invocations)) break;");
        Ok(())
    }

    /// Every invocation evaluates the condition; those for which it is false wait at the point.
    fn emit_test(
        &mut self,
        waiting_point: u32,
        first_token: TokenIndex,
        condition: &Expression,
    ) -> Emitted {
        let source_place = self.shown_place(first_token);
        self.open_nest(condition.first..=condition.last);
        self.out.start_line();
        self.out.write_piece("if (");
        self.emit_full_expression(condition)?;
        self.out.write_piece(") {");
        self.out.end_line();
        self.out.line("} else {");
        self.out.line(&format!("    goes_to(self, {waiting_point}, \"{source_place}\");"));
        self.out.line("}");
        self.close_nest();
        Ok(())
    }
}

/// When a loop tests its condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LoopTest {
    Before,
    Behind,
}

/// The last part of a `for` header, as the statement that it is.
fn as_statement(update: Expression, loop_statement: &Statement) -> Statement {
    let (first_token, last_token) = (update.first, update.last);
    Statement {
        kind: StatementKind::Expression(update),
        first: first_token,
        last: last_token,
        header: loop_statement.header,
    }
}
