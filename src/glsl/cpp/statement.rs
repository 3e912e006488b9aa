//! Statements without barriers: C++ has the same.

use super::super::syntax::{
    Declaration, Declarator, Expression, LoopCondition, Statement, StatementKind, TokenIndex,
};
use super::region::Leaving;
use super::{Emitted, Emitter, Held, built_in};
use std::collections::BTreeMap;

impl Emitter<'_> {
    /// Statements in the scope that is open.
    pub(super) fn statements(&mut self, statements: &[Statement]) -> Emitted {
        statements.iter().try_for_each(|statement| self.statement(statement))
    }

    pub(super) fn statement(&mut self, statement: &Statement) -> Emitted {
        match &statement.kind {
            StatementKind::Block(inner) => {
                self.out.open("{");
                self.scoped(inner)?;
                self.out.close("}");
                Ok(())
            }
            StatementKind::Empty => Ok(()),
            StatementKind::Expression(expression) => {
                self.out.start();
                self.full_expression(expression)?;
                self.out.write(";");
                self.out.end();
                Ok(())
            }
            StatementKind::Declaration(declaration) => self.local(declaration, statement.first),
            StatementKind::If { condition, then, otherwise } => {
                self.out.start();
                self.if_statement(condition, then, otherwise.as_deref())
            }
            StatementKind::While { condition, body } => self.while_statement(condition, body),
            StatementKind::DoWhile { body, condition } => self.do_statement(body, condition),
            StatementKind::For { init, condition, update, body } => {
                self.for_statement(init.as_deref(), condition.as_ref(), update.as_ref(), body)
            }
            StatementKind::Switch { selector, body, .. } => self.switch(selector, body),
            StatementKind::Case(_) | StatementKind::Default => {
                Err(self.unsupported("a label inside another statement", statement.first))
            }
            StatementKind::Break => self.leave_loop(Left::Loop, statement.first),
            StatementKind::Continue => self.leave_loop(Left::Iteration, statement.first),
            StatementKind::Return(value) => self.return_statement(value.as_ref(), statement.first),
            StatementKind::Terminate => {
                Err(self.unsupported(format!("`{}`", self.text(statement.first)), statement.first))
            }
        }
    }

    /// An expression that is no part of another.
    pub(super) fn full_expression(&mut self, expression: &Expression) -> Emitted {
        self.check_order(expression)?;
        self.expression(expression)
    }

    fn scoped(&mut self, statements: &[Statement]) -> Emitted {
        self.scopes.push(BTreeMap::new());
        self.statements(statements)?;
        self.scopes.pop();
        Ok(())
    }

    /// The statement of a branch or loop, between braces that the caller writes.
    fn branch(&mut self, statement: &Statement) -> Emitted {
        match &statement.kind {
            StatementKind::Block(inner) => self.scoped(inner),
            _ => self.scoped(std::slice::from_ref(statement)),
        }
    }

    /// Goes on behind what stands on the line, so that chains of `else if` do not nest.
    fn if_statement(
        &mut self,
        condition: &Expression,
        then: &Statement,
        otherwise: Option<&Statement>,
    ) -> Emitted {
        self.out.write("if (");
        self.full_expression(condition)?;
        self.out.write(") {");
        self.out.end();
        self.out.indent();
        self.branch(then)?;
        self.out.dedent();
        self.out.start();
        self.out.write("}");
        match otherwise {
            None => self.out.end(),
            Some(Statement { kind: StatementKind::If { condition, then, otherwise }, .. }) => {
                self.out.write(" else ");
                return self.if_statement(condition, then, otherwise.as_deref());
            }
            Some(otherwise) => {
                self.out.write(" else {");
                self.out.end();
                self.out.indent();
                self.branch(otherwise)?;
                self.out.close("}");
            }
        }
        Ok(())
    }

    fn while_statement(&mut self, condition: &LoopCondition, body: &Statement) -> Emitted {
        self.scopes.push(BTreeMap::new());
        self.out.start();
        self.out.write("while (");
        self.loop_condition(condition)?;
        self.out.write(")");
        self.loop_body(body)?;
        self.scopes.pop();
        Ok(())
    }

    fn do_statement(&mut self, body: &Statement, condition: &Expression) -> Emitted {
        self.out.open("do {");
        let outer_mode = self.leaving.enter_loop();
        self.branch(body)?;
        self.leaving = outer_mode;
        self.out.dedent();
        self.out.start();
        self.out.write("} while (");
        self.full_expression(condition)?;
        self.out.write(");");
        self.out.end();
        Ok(())
    }

    fn loop_condition(&mut self, condition: &LoopCondition) -> Emitted {
        match condition {
            LoopCondition::Expression(expression) => self.full_expression(expression),
            LoopCondition::Declaration(declaration) => self.declarators(declaration),
        }
    }

    /// Behind the header of a loop, on its line.
    fn loop_body(&mut self, body: &Statement) -> Emitted {
        self.out.write(" {");
        self.out.end();
        self.out.indent();
        let outer_mode = self.leaving.enter_loop();
        self.branch(body)?;
        self.leaving = outer_mode;
        self.out.close("}");
        Ok(())
    }

    fn for_statement(
        &mut self,
        init: Option<&Statement>,
        condition: Option<&LoopCondition>,
        update: Option<&Expression>,
        body: &Statement,
    ) -> Emitted {
        self.scopes.push(BTreeMap::new());
        self.out.start();
        self.out.write("for (");
        match init.map(|init| (&init.kind, init.first)) {
            None | Some((StatementKind::Empty, _)) => {}
            Some((StatementKind::Declaration(declaration), _)) => self.declarators(declaration)?,
            Some((StatementKind::Expression(expression), _)) => self.full_expression(expression)?,
            Some((_, first)) => {
                return Err(self.unsupported("a statement in the header of a loop", first));
            }
        }
        self.out.write("; ");
        if let Some(condition) = condition {
            self.loop_condition(condition)?;
        }
        self.out.write("; ");
        if let Some(update) = update {
            self.full_expression(update)?;
        }
        self.out.write(")");
        self.loop_body(body)?;
        self.scopes.pop();
        Ok(())
    }

    /// A declaration in the header of a loop.
    fn declarators(&mut self, declaration: &Declaration) -> Emitted {
        let declared_type = &declaration.declared;
        for (declarator_number, declarator) in declaration.declarators.iter().enumerate() {
            if !declarator.sizes.is_empty() {
                return Err(self.unsupported("an array in the header of a loop", declarator.name));
            }
            if declarator_number == 0 {
                self.write_type(declared_type, &[], None, declarator.name)?;
                self.out.write(" ");
            } else {
                self.out.write(", ");
            }
            if let Some(initialiser) = &declarator.initialiser {
                self.refuse_itself(declarator, initialiser)?;
            }
            let spelled_name = built_in::spelled(self.text(declarator.name));
            self.out.write(&spelled_name);
            self.write_initialiser(declared_type, declarator)?;
            let declared_shape = self.shape(declared_type, &declarator.sizes);
            self.declare(self.text(declarator.name), spelled_name, Held::Locally, declared_shape);
        }
        Ok(())
    }

    /// A declaration statement.
    fn local(&mut self, declaration: &Declaration, first_token: TokenIndex) -> Emitted {
        let declared_type = &declaration.declared;
        if declared_type.has_body {
            return Err(self.unsupported("a structure inside a function", first_token));
        }
        for declarator in &declaration.declarators {
            match self.fields.get(&declarator.name).cloned() {
                Some(_) => self.kept(declaration, declarator)?,
                None if self.is_hoisted(declaration, declarator) => {}
                None => {
                    let is_folded = declared_type.has("const") && self.folds(declarator);
                    let (qualifier, value_place) = match (declared_type.has("const"), is_folded) {
                        (true, true) => ("constexpr ", Held::Constant),
                        (true, false) => ("const ", Held::Locally),
                        (false, _) => ("", Held::Locally),
                    };
                    self.variable(qualifier, declared_type, declarator, value_place)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn folds(&self, declarator: &Declarator) -> bool {
        declarator.initialiser.as_ref().is_some_and(|initialiser| self.is_foldable(initialiser))
    }

    /// Constants between regions stand before the loop nest.
    fn is_hoisted(&self, declaration: &Declaration, declarator: &Declarator) -> bool {
        let known_symbol = self.resolve(self.text(declarator.name));
        declaration.declared.has("const")
            && self.hoisted.contains(&declarator.name)
            && known_symbol.is_some_and(|symbol| symbol.place == Held::Constant)
    }

    /// A variable that lives across regions is there already; it gets its value here.
    fn kept(&mut self, declaration: &Declaration, declarator: &Declarator) -> Emitted {
        if declarator.initialiser.is_none() {
            return Ok(());
        }
        if let Some(initialiser) = &declarator.initialiser {
            self.refuse_itself(declarator, initialiser)?;
        }
        let variable_name = self.text(declarator.name);
        let spelled_name = self
            .resolve(variable_name)
            .map_or_else(|| built_in::spelled(variable_name), |symbol| symbol.text.clone());
        self.out.start();
        self.out.write(&spelled_name);
        self.write_initialiser(&declaration.declared, declarator)?;
        self.out.write(";");
        self.out.end();
        Ok(())
    }

    /// In GLSL all of a switch's body is one scope, in C++ no label may follow a declaration: each
    /// group of labels gets a scope of its own.
    fn switch(&mut self, selector: &Expression, body: &[Statement]) -> Emitted {
        self.refuse_shared_names(body)?;
        self.out.start();
        self.out.write("switch (label(");
        self.full_expression(selector)?;
        self.out.write(")) {");
        self.out.end();
        let outer_mode = self.leaving.enter_switch();
        self.scopes.push(BTreeMap::new());
        let mut scope_is_open = false;
        for statement in body {
            let is_label =
                matches!(statement.kind, StatementKind::Case(_) | StatementKind::Default);
            if is_label && scope_is_open {
                self.out.close("}");
                scope_is_open = false;
            }
            match &statement.kind {
                StatementKind::Case(value) => {
                    self.out.start();
                    self.out.write("case label(");
                    self.expression(value)?;
                    self.out.write("):");
                    self.out.end();
                }
                StatementKind::Default => self.out.line("default:"),
                _ => {
                    if !scope_is_open {
                        self.out.open("{");
                        scope_is_open = true;
                    }
                    self.statement(statement)?;
                }
            }
        }
        if scope_is_open {
            self.out.close("}");
        } else if !body.is_empty() {
            self.out.line("    break;");
        }
        self.scopes.pop();
        self.leaving = outer_mode;
        self.out.line("}");
        Ok(())
    }

    fn refuse_shared_names(&self, body: &[Statement]) -> Emitted {
        for (statement_index, statement) in body.iter().enumerate() {
            let StatementKind::Declaration(declaration) = &statement.kind else { continue };
            let is_label = |other_statement: &Statement| {
                matches!(other_statement.kind, StatementKind::Case(_) | StatementKind::Default)
            };
            let later_statements = body[statement_index..]
                .iter()
                .skip_while(|other_statement| !is_label(other_statement));
            let later_tokens: Vec<TokenIndex> = later_statements
                .flat_map(|other_statement| other_statement.first..=other_statement.last)
                .collect();
            for declarator in &declaration.declarators {
                let variable_name = self.text(declarator.name);
                if let Some(token) =
                    later_tokens.iter().find(|token| self.text(**token) == variable_name)
                {
                    return Err(self.unsupported(
                        format!("`{variable_name}` behind a label after its own"),
                        *token,
                    ));
                }
            }
        }
        Ok(())
    }

    fn return_statement(&mut self, value: Option<&Expression>, token: TokenIndex) -> Emitted {
        match (self.leaving, value) {
            (Leaving::Function, None) => self.out.line("return;"),
            (Leaving::Function, Some(value)) => {
                self.out.start();
                self.out.write("return ");
                self.full_expression(value)?;
                self.out.write(";");
                self.out.end();
            }
            (Leaving::Region(region_place), value) => {
                let source_place = self.shown_place(token);
                let Some(returning) = self.returning.clone() else {
                    if let Some(value) = value {
                        return Err(
                            self.unsupported("a value that the entry point returns", value.first)
                        );
                    }
                    self.leave_region(
                        region_place.number,
                        &format!("ends(self, \"{source_place}\");"),
                    );
                    return Ok(());
                };
                if let (Some(value), Some(result)) = (value, &returning.result) {
                    self.out.start();
                    self.out.write(&format!("self.{result} = "));
                    self.full_expression(value)?;
                    self.out.write(";");
                    self.out.end();
                }
                self.leave_region(
                    region_place.number,
                    &format!("goes_to(self, {}, \"{source_place}\");", returning.end),
                );
            }
        }
        Ok(())
    }

    fn leave_loop(&mut self, loop_exit: Left, token: TokenIndex) -> Emitted {
        let (jump_word, left_region) = match (self.leaving, loop_exit) {
            (Leaving::Function, Left::Loop) => ("break", None),
            (Leaving::Function, Left::Iteration) => ("continue", None),
            (Leaving::Region(region), Left::Loop) => {
                ("break", (region.breakable == 0).then_some(region))
            }
            (Leaving::Region(region), Left::Iteration) => {
                ("continue", (region.loops == 0).then_some(region))
            }
        };
        let Some(region) = left_region else {
            self.out.line(&format!("{jump_word};"));
            return Ok(());
        };
        let Some(loop_points) = self.around else {
            return Err(self.unsupported(format!("`{jump_word}` outside a loop"), token));
        };
        let target_point = match loop_exit {
            Left::Loop => loop_points.behind,
            Left::Iteration => loop_points.again,
        };
        let source_place = self.shown_place(token);
        self.leave_region(
            region.number,
            &format!("goes_to(self, {target_point}, \"{source_place}\");"),
        );
        Ok(())
    }

    /// The invocation is done with a region.
    fn leave_region(&mut self, region_number: u32, leaving_line: &str) {
        self.out.open("{");
        self.out.line(leaving_line);
        self.out.line(&format!("goto next_{region_number};"));
        self.out.close("}");
    }
}

/// What `break` and `continue` leave.
#[derive(Debug, Clone, Copy)]
enum Left {
    Loop,
    Iteration,
}
