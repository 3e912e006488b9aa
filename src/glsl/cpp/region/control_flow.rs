//! Control flow around barriers: it stands outside the loop nests, and every invocation evaluates
//! its conditions.
//!
//! Promises: an invocation that goes another way waits at the point of the text where all come
//! together again.

use super::{Around, statement_list};
use crate::cpp::{Emitted, Emitter};
use crate::syntax::{Declaration, Expression, LoopCondition, Statement, StatementKind, TokenIndex};
use std::collections::BTreeMap;

impl Emitter<'_> {
    /// Statements with barriers among them or in them.
    pub(in crate::cpp) fn split(&mut self, list: &[Statement]) -> Emitted {
        let mut at = 0;
        while at < list.len() {
            if self.is_barrier(&list[at]) {
                let place = self.shown_place(list[at].first);
                self.out.line(&format!("meet(invocations, \"{place}\"); // barrier"));
                at += 1;
            } else if self.is_subgroup_barrier(&list[at]) {
                self.out.line("// subgroup barrier");
                at += 1;
            } else if self.holds_barrier(&list[at]) {
                self.split_statement(&list[at])?;
                at += 1;
            } else {
                // What hides another variable is known from its declaration on, and not before.
                let length = list[at + 1..]
                    .iter()
                    .position(|statement| self.holds_barrier(statement) || self.hides(statement))
                    .map(|length| length + 1);
                let end = length.map_or(list.len(), |length| at + length);
                self.region(&list[at..end])?;
                at = end;
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
            StatementKind::While { condition, body } => self.split_loop(
                statement.first,
                (None, Some(condition), None),
                body,
                Tested::Before,
            ),
            StatementKind::For { init, condition, update, body } => {
                let update = update.clone().map(|update| as_statement(update, statement));
                self.split_loop(
                    statement.first,
                    (init.as_deref(), condition.as_ref(), update.as_ref()),
                    body,
                    Tested::Before,
                )
            }
            StatementKind::DoWhile { body, condition } => {
                let condition = LoopCondition::Expression(condition.clone());
                self.split_loop(
                    statement.first,
                    (None, Some(&condition), None),
                    body,
                    Tested::Behind,
                )
            }
            StatementKind::Switch { selector, open, .. } => {
                if (*open..statement.last).any(|token| {
                    self.text(token + 1) == "(" && self.is_collective(self.text(token))
                }) {
                    return Err(self.unsupported("a barrier inside a switch", statement.first));
                }
                self.prepare(selector)?;
                self.region(std::slice::from_ref(statement))
            }
            StatementKind::Expression(expression) => {
                self.prepare(expression)?;
                if self.is_made(expression) {
                    Ok(())
                } else {
                    self.region(std::slice::from_ref(statement))
                }
            }
            StatementKind::Return(Some(value)) => {
                self.prepare(value)?;
                self.region(std::slice::from_ref(statement))
            }
            StatementKind::Declaration(declaration) => {
                self.split_declaration(declaration, statement)
            }
            _ => Err(self.unsupported("a barrier inside an expression", statement.first)),
        }
    }

    /// Each variable has its value before the next one is declared.
    fn split_declaration(&mut self, declaration: &Declaration, whole: &Statement) -> Emitted {
        for declarator in &declaration.declarators {
            if let Some(initialiser) = &declarator.initialiser {
                self.prepare(initialiser)?;
            }
            let declarators = vec![declarator.clone()];
            let kind =
                StatementKind::Declaration(Declaration { declarators, ..declaration.clone() });
            self.region(&[Statement { kind, ..whole.clone() }])?;
        }
        Ok(())
    }

    fn split_scoped(&mut self, open: &str, list: &[Statement]) -> Emitted {
        self.out.open(open);
        self.scopes.push(BTreeMap::new());
        self.split(list)?;
        self.scopes.pop();
        self.out.close("}");
        Ok(())
    }

    /// A branch around barriers: who does not take it waits behind it.
    fn split_if(
        &mut self,
        first: TokenIndex,
        condition: &Expression,
        then: &Statement,
        otherwise: Option<&Statement>,
    ) -> Emitted {
        self.prepare(condition)?;
        let behind_then = self.next_number();
        self.test(behind_then, first, condition)?;
        self.split_scoped("{", statement_list(then))?;
        let Some(otherwise) = otherwise else {
            self.come_back(behind_then);
            return Ok(());
        };
        let behind = self.next_number();
        let place = self.shown_place(first);
        self.out.line(&format!("change_over(invocations, {behind_then}, {behind}, \"{place}\");"));
        self.split_scoped("{", statement_list(otherwise))?;
        self.come_back(behind);
        Ok(())
    }

    /// A loop around barriers: it stands outside the nests over invocations.
    fn split_loop(
        &mut self,
        first: TokenIndex,
        (init, condition, update): (Option<&Statement>, Option<&LoopCondition>, Option<&Statement>),
        body: &Statement,
        tested: Tested,
    ) -> Emitted {
        let around = Around { again: self.next_number(), behind: self.next_number() };
        self.scopes.push(BTreeMap::new());
        if let Some(init) = init {
            self.split(std::slice::from_ref(init))?;
        }
        self.out.open("while (true) {");
        if tested == Tested::Before {
            self.loop_test(around, first, condition)?;
        }
        let outer = self.around.replace(around);
        self.split_scoped("{", statement_list(body))?;
        self.around = outer;
        self.come_back(around.again);
        if let Some(update) = update {
            self.split(std::slice::from_ref(update))?;
        }
        if tested == Tested::Behind {
            self.loop_test(around, first, condition)?;
        }
        self.out.close("}");
        self.come_back(around.behind);
        self.scopes.pop();
        Ok(())
    }

    fn loop_test(
        &mut self,
        around: Around,
        first: TokenIndex,
        condition: Option<&LoopCondition>,
    ) -> Emitted {
        match condition {
            Some(LoopCondition::Expression(condition)) => {
                self.prepare(condition)?;
                self.test(around.behind, first, condition)?;
            }
            Some(LoopCondition::Declaration(_)) => {
                return Err(self.unsupported(
                    "a declaration in the condition of a loop around a barrier",
                    first,
                ));
            }
            None => {}
        }
        self.out.line("if (nobody_is_here(invocations)) break;");
        Ok(())
    }

    /// Every invocation evaluates the condition; those for which it is false wait at the point.
    fn test(&mut self, point: u32, first: TokenIndex, condition: &Expression) -> Emitted {
        let place = self.shown_place(first);
        self.open_nest(condition.first..=condition.last);
        self.out.start();
        self.out.write("if (");
        self.full_expression(condition)?;
        self.out.write(") {");
        self.out.end();
        self.out.line("} else {");
        self.out.line(&format!("    goes_to(self, {point}, \"{place}\");"));
        self.out.line("}");
        self.close_nest();
        Ok(())
    }
}

/// When a loop tests its condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tested {
    Before,
    Behind,
}

/// The last part of a `for` header, as the statement that it is.
fn as_statement(update: Expression, whole: &Statement) -> Statement {
    let (first, last) = (update.first, update.last);
    Statement { kind: StatementKind::Expression(update), first, last, header: whole.header }
}
