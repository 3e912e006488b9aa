//! Statements without barriers: C++ has the same.

use super::super::syntax::{
    Declaration, Declarator, Expression, LoopCondition, Statement, StatementKind, TokenIndex,
};
use super::region::ExitMode;
use super::{Emitted, Emitter, ValuePlace, built_in};
use std::collections::BTreeMap;
use std::rc::Rc;

impl Emitter<'_> {
    /// Statements in the scope that is open.
    pub(super) fn emit_statements(&mut self, statements: &[Statement]) -> Emitted {
        statements.iter().try_for_each(|statement| self.emit_statement(statement))
    }

    pub(super) fn emit_statement(&mut self, statement: &Statement) -> Emitted {
        match &statement.kind {
            StatementKind::Block(inner) => {
                self.out.open_block("{");
                self.emit_scoped(inner)?;
                self.out.close_block("}");
                Ok(())
            }
            StatementKind::Empty => Ok(()),
            StatementKind::Expression(expression) => {
                self.out.start_line();
                self.emit_full_expression(expression)?;
                self.out.write_piece(";");
                self.out.end_line();
                Ok(())
            }
            StatementKind::Declaration(declaration) => {
                self.emit_local(declaration, statement.first)
            }
            StatementKind::If { condition, then, otherwise } => {
                self.out.start_line();
                self.emit_if(condition, then, otherwise.as_deref())
            }
            StatementKind::While { condition, body } => self.emit_while(condition, body),
            StatementKind::DoWhile { body, condition } => self.emit_do_while(body, condition),
            StatementKind::For { init, condition, update, body } => {
                self.emit_for(init.as_deref(), condition.as_ref(), update.as_ref(), body)
            }
            StatementKind::Switch { selector, body, .. } => self.emit_switch(selector, body),
            StatementKind::Case(_) | StatementKind::Default => {
                Err(self.unsupported_at("a label inside another statement", statement.first))
            }
            StatementKind::Break => self.emit_loop_exit(LoopExit::Loop, statement.first),
            StatementKind::Continue => self.emit_loop_exit(LoopExit::Iteration, statement.first),
            StatementKind::Return(value) => self.emit_return(value.as_ref(), statement.first),
            StatementKind::Terminate => Err(self.unsupported_at(
                format!("`{}`", self.token_text(statement.first)),
                statement.first,
            )),
        }
    }

    /// An expression that is no part of another.
    pub(super) fn emit_full_expression(&mut self, expression: &Expression) -> Emitted {
        self.check_order(expression)?;
        self.emit_expression(expression)
    }

    fn emit_scoped(&mut self, statements: &[Statement]) -> Emitted {
        self.scopes.push(BTreeMap::new());
        self.emit_statements(statements)?;
        self.scopes.pop();
        Ok(())
    }

    /// The statement of a branch or loop, between braces that the caller writes.
    fn emit_branch(&mut self, statement: &Statement) -> Emitted {
        match &statement.kind {
            StatementKind::Block(inner) => self.emit_scoped(inner),
            _ => self.emit_scoped(std::slice::from_ref(statement)),
        }
    }

    /// Goes on behind what stands on the line, so that chains of `else if` do not nest.
    fn emit_if(
        &mut self,
        condition: &Expression,
        then: &Statement,
        otherwise: Option<&Statement>,
    ) -> Emitted {
        self.out.write_piece("if (");
        self.emit_full_expression(condition)?;
        self.out.write_piece(") {");
        self.out.end_line();
        self.out.indent_more();
        self.emit_branch(then)?;
        self.out.dedent();
        self.out.start_line();
        self.out.write_piece("}");
        match otherwise {
            None => self.out.end_line(),
            Some(Statement { kind: StatementKind::If { condition, then, otherwise }, .. }) => {
                self.out.write_piece(" else ");
                return self.emit_if(condition, then, otherwise.as_deref());
            }
            Some(otherwise) => {
                self.out.write_piece(" else {");
                self.out.end_line();
                self.out.indent_more();
                self.emit_branch(otherwise)?;
                self.out.close_block("}");
            }
        }
        Ok(())
    }

    fn emit_while(&mut self, condition: &LoopCondition, body: &Statement) -> Emitted {
        self.scopes.push(BTreeMap::new());
        self.out.start_line();
        self.out.write_piece("while (");
        self.emit_loop_condition(condition)?;
        self.out.write_piece(")");
        self.emit_loop_body(body)?;
        self.scopes.pop();
        Ok(())
    }

    fn emit_do_while(&mut self, body: &Statement, condition: &Expression) -> Emitted {
        self.out.open_block("do {");
        let outer_mode = self.exit_mode.entered_loop();
        self.emit_branch(body)?;
        self.exit_mode = outer_mode;
        self.out.dedent();
        self.out.start_line();
        self.out.write_piece("} while (");
        self.emit_full_expression(condition)?;
        self.out.write_piece(");");
        self.out.end_line();
        Ok(())
    }

    fn emit_loop_condition(&mut self, condition: &LoopCondition) -> Emitted {
        match condition {
            LoopCondition::Expression(expression) => self.emit_full_expression(expression),
            LoopCondition::Declaration(declaration) => self.emit_declarators(declaration),
        }
    }

    /// Behind the header of a loop, on its line.
    fn emit_loop_body(&mut self, body: &Statement) -> Emitted {
        self.out.write_piece(" {");
        self.out.end_line();
        self.out.indent_more();
        let outer_mode = self.exit_mode.entered_loop();
        self.emit_branch(body)?;
        self.exit_mode = outer_mode;
        self.out.close_block("}");
        Ok(())
    }

    fn emit_for(
        &mut self,
        init: Option<&Statement>,
        condition: Option<&LoopCondition>,
        update: Option<&Expression>,
        body: &Statement,
    ) -> Emitted {
        self.scopes.push(BTreeMap::new());
        self.out.start_line();
        self.out.write_piece("for (");
        match init.map(|init| (&init.kind, init.first)) {
            None | Some((StatementKind::Empty, _)) => {}
            Some((StatementKind::Declaration(declaration), _)) => {
                self.emit_declarators(declaration)?
            }
            Some((StatementKind::Expression(expression), _)) => {
                self.emit_full_expression(expression)?
            }
            Some((_, first)) => {
                return Err(self.unsupported_at("a statement in the header of a loop", first));
            }
        }
        self.out.write_piece("; ");
        if let Some(condition) = condition {
            self.emit_loop_condition(condition)?;
        }
        self.out.write_piece("; ");
        if let Some(update) = update {
            self.emit_full_expression(update)?;
        }
        self.out.write_piece(")");
        self.emit_loop_body(body)?;
        self.scopes.pop();
        Ok(())
    }

    /// A declaration in the header of a loop.
    fn emit_declarators(&mut self, declaration: &Declaration) -> Emitted {
        let declared_type = &declaration.declared;
        for (declarator_number, declarator) in declaration.declarators.iter().enumerate() {
            if !declarator.sizes.is_empty() {
                return Err(
                    self.unsupported_at("an array in the header of a loop", declarator.name)
                );
            }
            if declarator_number == 0 {
                self.write_type(declared_type, &[], None, declarator.name)?;
                self.out.write_piece(" ");
            } else {
                self.out.write_piece(", ");
            }
            if let Some(initialiser) = &declarator.initialiser {
                self.refuse_itself(declarator, initialiser)?;
            }
            let spelled_name = built_in::spelled_name(self.token_text(declarator.name));
            self.out.write_piece(&spelled_name);
            self.write_initialiser(declared_type, declarator)?;
            let declared_shape = self.declared_shape(declared_type, &declarator.sizes);
            self.declare_name(
                self.token_text(declarator.name),
                spelled_name,
                ValuePlace::Locally,
                declared_shape,
            );
        }
        Ok(())
    }

    /// A declaration statement.
    fn emit_local(&mut self, declaration: &Declaration, first_token: TokenIndex) -> Emitted {
        let declared_type = &declaration.declared;
        if declared_type.has_body {
            return Err(self.unsupported_at("a structure inside a function", first_token));
        }
        for declarator in &declaration.declarators {
            if self.fields.contains_key(&declarator.name) {
                self.assign_kept(declaration, declarator)?;
            } else if !self.is_hoisted(declaration, declarator) {
                let is_folded =
                    declared_type.has_qualifier("const") && self.has_folded_initialiser(declarator);
                let (qualifier, value_place) =
                    match (declared_type.has_qualifier("const"), is_folded) {
                        (true, true) => ("constexpr ", ValuePlace::Constant),
                        (true, false) => ("const ", ValuePlace::Locally),
                        (false, _) => ("", ValuePlace::Locally),
                    };
                self.emit_variable(qualifier, declared_type, declarator, value_place)?;
            }
        }
        Ok(())
    }

    pub(super) fn has_folded_initialiser(&self, declarator: &Declarator) -> bool {
        declarator.initialiser.as_ref().is_some_and(|initialiser| self.is_foldable(initialiser))
    }

    /// Constants between regions stand before the loop nest.
    fn is_hoisted(&self, declaration: &Declaration, declarator: &Declarator) -> bool {
        let known_symbol = self.resolve_name(self.token_text(declarator.name));
        declaration.declared.has_qualifier("const")
            && self.hoisted.contains(&declarator.name)
            && known_symbol.is_some_and(|symbol| symbol.place == ValuePlace::Constant)
    }

    /// A variable that lives across regions is there already; it gets its value here.
    fn assign_kept(&mut self, declaration: &Declaration, declarator: &Declarator) -> Emitted {
        if declarator.initialiser.is_none() {
            return Ok(());
        }
        if let Some(initialiser) = &declarator.initialiser {
            self.refuse_itself(declarator, initialiser)?;
        }
        let variable_name = self.token_text(declarator.name);
        let spelled_name = self.resolve_name(variable_name).map_or_else(
            || built_in::spelled_name(variable_name).into(),
            |symbol| Rc::clone(&symbol.text),
        );
        self.out.start_line();
        self.out.write_piece(&spelled_name);
        self.write_initialiser(&declaration.declared, declarator)?;
        self.out.write_piece(";");
        self.out.end_line();
        Ok(())
    }

    /// In GLSL all of a switch's body is one scope, in C++ no label may follow a declaration: each
    /// group of labels gets a scope of its own.
    fn emit_switch(&mut self, selector: &Expression, body: &[Statement]) -> Emitted {
        self.refuse_shared_names(body)?;
        self.out.start_line();
        self.out.write_piece("switch (label(");
        self.emit_full_expression(selector)?;
        self.out.write_piece(")) {");
        self.out.end_line();
        let outer_mode = self.exit_mode.enter_switch();
        self.scopes.push(BTreeMap::new());
        let mut scope_is_open = false;
        for statement in body {
            let is_label =
                matches!(statement.kind, StatementKind::Case(_) | StatementKind::Default);
            if is_label && scope_is_open {
                self.out.close_block("}");
                scope_is_open = false;
            }
            match &statement.kind {
                StatementKind::Case(value) => {
                    self.out.start_line();
                    self.out.write_piece("case label(");
                    self.emit_expression(value)?;
                    self.out.write_piece("):");
                    self.out.end_line();
                }
                StatementKind::Default => self.out.line("default:"),
                _ => {
                    if !scope_is_open {
                        self.out.open_block("{");
                        scope_is_open = true;
                    }
                    self.emit_statement(statement)?;
                }
            }
        }
        if scope_is_open {
            self.out.close_block("}");
        } else if !body.is_empty() {
            self.out.line("    break;");
        }
        self.scopes.pop();
        self.exit_mode = outer_mode;
        self.out.line("}");
        Ok(())
    }

    fn refuse_shared_names(&self, body: &[Statement]) -> Emitted {
        for (statement_index, statement) in body.iter().enumerate() {
            let StatementKind::Declaration(declaration) = &statement.kind else { continue };
            let later_statements = body[statement_index..].iter().skip_while(|later| {
                !matches!(later.kind, StatementKind::Case(_) | StatementKind::Default)
            });
            let later_tokens: Vec<TokenIndex> =
                later_statements.flat_map(|later| later.first..=later.last).collect();
            for declarator in &declaration.declarators {
                let variable_name = self.token_text(declarator.name);
                if let Some(token) =
                    later_tokens.iter().find(|token| self.token_text(**token) == variable_name)
                {
                    return Err(self.unsupported_at(
                        format!("`{variable_name}` behind a label after its own"),
                        *token,
                    ));
                }
            }
        }
        Ok(())
    }

    fn emit_return(&mut self, value: Option<&Expression>, token: TokenIndex) -> Emitted {
        match (self.exit_mode, value) {
            (ExitMode::Function, None) => self.out.line("return;"),
            (ExitMode::Function, Some(value)) => {
                self.out.start_line();
                self.out.write_piece("return ");
                self.emit_full_expression(value)?;
                self.out.write_piece(";");
                self.out.end_line();
            }
            (ExitMode::Region(region_place), value) => {
                let source_place = self.shown_place(token);
                let Some(returning) = self.returning.as_ref().map(Rc::clone) else {
                    if let Some(value) = value {
                        return Err(self
                            .unsupported_at("a value that the entry point returns", value.first));
                    }
                    self.leave_region(
                        region_place.number,
                        &format!("ends(self, \"{source_place}\");"),
                    );
                    return Ok(());
                };
                if let (Some(value), Some(result)) = (value, &returning.result) {
                    self.out.start_line();
                    self.out.write_piece(&format!("self.{result} = "));
                    self.emit_full_expression(value)?;
                    self.out.write_piece(";");
                    self.out.end_line();
                }
                self.leave_region(
                    region_place.number,
                    &format!("goes_to(self, {}, \"{source_place}\");", returning.end),
                );
            }
        }
        Ok(())
    }

    fn emit_loop_exit(&mut self, loop_exit: LoopExit, token: TokenIndex) -> Emitted {
        let (jump_word, left_region) = match (self.exit_mode, loop_exit) {
            (ExitMode::Function, LoopExit::Loop) => ("break", None),
            (ExitMode::Function, LoopExit::Iteration) => ("continue", None),
            (ExitMode::Region(region), LoopExit::Loop) => {
                ("break", (region.breakable == 0).then_some(region))
            }
            (ExitMode::Region(region), LoopExit::Iteration) => {
                ("continue", (region.loops == 0).then_some(region))
            }
        };
        let Some(region) = left_region else {
            self.out.line(&format!("{jump_word};"));
            return Ok(());
        };
        let Some(loop_points) = self.enclosing_loop else {
            return Err(self.unsupported_at(format!("`{jump_word}` outside a loop"), token));
        };
        let target_point = match loop_exit {
            LoopExit::Loop => loop_points.behind,
            LoopExit::Iteration => loop_points.again,
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
        self.out.open_block("{");
        self.out.line(leaving_line);
        self.out.line(&format!("goto next_{region_number};"));
        self.out.close_block("}");
    }
}

/// What `break` and `continue` leave.
#[derive(Debug, Clone, Copy)]
enum LoopExit {
    Loop,
    Iteration,
}
