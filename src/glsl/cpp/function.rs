//! Functions and what calls of them do.

use super::super::syntax::{
    Declaration, DeclaredType, Expression, ExpressionKind, FileLevelItem, FunctionDefinition,
    LoopCondition, ParameterSyntax, Statement, StatementKind, TokenIndex,
};
use super::super::token::Token;
use super::{Emitted, Emitter, ValuePlace, built_in};
use std::collections::{BTreeMap, BTreeSet};

/// Effects of calling the functions of one name, over all its overloads.
#[derive(Debug, Clone, Default)]
pub(super) struct FunctionEffects {
    /// Parameters that are written back, by index.
    pub written: BTreeSet<usize>,
    /// How many parameters there are.
    pub counts: BTreeSet<usize>,
    pub holds_barrier: bool,
    /// Whether a call may change memory that others see.
    pub changes_memory: bool,
}

impl FunctionEffects {
    /// Whether a call is one of these and none of a built-in function of their name.
    pub(super) fn takes_call(&self, name: &str, argument_count: usize) -> bool {
        self.counts.contains(&argument_count) || !built_in::has_function(name, argument_count)
    }
}

/// The functions that the text defines, by name.
pub(super) fn function_effects<'t>(
    tokens: &'t [Token],
    items: &[FileLevelItem],
) -> BTreeMap<&'t str, FunctionEffects> {
    let mut effects_by_name: BTreeMap<&str, FunctionEffects> = BTreeMap::new();
    let mut calls_by_name: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for item in items {
        let FileLevelItem::Function(function) = item else { continue };
        let function_name = &*tokens[function.name].text;
        let signature = effects_by_name.entry(function_name).or_default();
        signature.counts.insert(function.parameters.len());
        for (number, parameter) in function.parameters.iter().enumerate() {
            if is_written(parameter) {
                signature.written.insert(number);
            }
        }
        let called_names: BTreeSet<&str> = (function.open..function.close)
            .filter(|token_index| {
                tokens[*token_index].is_identifier() && tokens[token_index + 1].is("(")
            })
            .map(|token_index| &*tokens[token_index].text)
            .collect();
        signature.holds_barrier |= called_names.iter().any(|name| built_in::is_collective(name));
        signature.changes_memory |= called_names.iter().any(|name| built_in::is_atomic(name))
            || writes_others(tokens, function);
        calls_by_name.entry(function_name).or_default().extend(called_names);
    }
    // A function has the effects of the functions that it calls: a fix point over the call graph.
    for _ in 0..effects_by_name.len() {
        for (function_name, called_names) in &calls_by_name {
            let called_effects =
                || called_names.iter().filter_map(|name| effects_by_name.get(name));
            let holds_barrier = called_effects().any(|effects| effects.holds_barrier);
            let changes_memory = called_effects().any(|effects| effects.changes_memory);
            if let Some(signature) = effects_by_name.get_mut(function_name) {
                signature.holds_barrier |= holds_barrier;
                signature.changes_memory |= changes_memory;
            }
        }
    }
    effects_by_name
}

pub(super) fn is_written(parameter: &ParameterSyntax) -> bool {
    parameter.declared.has_qualifier("out") || parameter.declared.has_qualifier("inout")
}

/// Whether a function assigns to a name that it does not declare.
fn writes_others(tokens: &[Token], function: &FunctionDefinition) -> bool {
    let mut own_names: BTreeSet<&str> = function
        .parameters
        .iter()
        .filter_map(|parameter| parameter.name)
        .map(|name| &*tokens[name].text)
        .collect();
    let mut target_names = Vec::new();
    let mut assignment_search =
        AssignmentSearch { tokens, own: &mut own_names, targets: &mut target_names };
    match &function.body {
        Ok(body) => body.iter().for_each(|statement| assignment_search.visit_statement(statement)),
        Err(_) => return true,
    }
    target_names.iter().any(|target| !own_names.contains(target))
}

struct AssignmentSearch<'t, 'l> {
    tokens: &'t [Token],
    own: &'l mut BTreeSet<&'t str>,
    targets: &'l mut Vec<&'t str>,
}

impl AssignmentSearch<'_, '_> {
    fn visit_statement(&mut self, statement: &Statement) {
        if let StatementKind::Declaration(declaration) = &statement.kind {
            self.visit_declaration(declaration);
        }
        if let StatementKind::For { init: Some(init), .. } = &statement.kind {
            self.visit_statement(init);
        }
        each_condition(statement, &mut |declaration| self.visit_declaration(declaration));
        each_expression(statement, &mut |expression| self.visit_expression(expression));
        statement.each_inner(&mut |inner| self.visit_statement(inner));
    }

    fn visit_declaration(&mut self, declaration: &Declaration) {
        self.own.extend(
            declaration.declarators.iter().map(|declarator| &*self.tokens[declarator.name].text),
        );
    }

    fn visit_expression(&mut self, expression: &Expression) {
        if let Some(target) = assigned_place(self.tokens, expression) {
            self.targets.push(&self.tokens[root_name(target)].text);
        }
        expression.each_part(&mut |part| self.visit_expression(part));
    }
}

/// What an assignment, `++` or `--` writes.
pub(super) fn assigned_place<'e>(
    tokens: &[Token],
    expression: &'e Expression,
) -> Option<&'e Expression> {
    match &expression.kind {
        ExpressionKind::Assignment { target, .. } => Some(target),
        ExpressionKind::Postfix(target) => Some(target),
        ExpressionKind::Prefix(target)
            if tokens[expression.first].is("++") || tokens[expression.first].is("--") =>
        {
            Some(target)
        }
        _ => None,
    }
}

/// The variable that an expression is a part of.
pub(super) fn root_name(expression: &Expression) -> TokenIndex {
    match &expression.kind {
        ExpressionKind::Parenthesised(inner)
        | ExpressionKind::Index { base: inner, .. }
        | ExpressionKind::Field { base: inner, .. } => root_name(inner),
        _ => expression.first,
    }
}

/// Calls `see` with the declaration in a loop's condition.
fn each_condition<'s>(
    statement: &'s Statement,
    visit_declaration: &mut dyn FnMut(&'s Declaration),
) {
    use super::super::syntax::LoopCondition;
    match &statement.kind {
        StatementKind::While { condition: LoopCondition::Declaration(declaration), .. }
        | StatementKind::For { condition: Some(LoopCondition::Declaration(declaration)), .. } => {
            visit_declaration(declaration)
        }
        _ => {}
    }
}

/// Calls `visit_expression` with every expression directly in a statement.
pub(super) fn each_expression<'s>(
    statement: &'s Statement,
    visit_expression: &mut dyn FnMut(&'s Expression),
) {
    match &statement.kind {
        StatementKind::Expression(expression) | StatementKind::Case(expression) => {
            visit_expression(expression)
        }
        StatementKind::Declaration(declaration) => each_initialiser(declaration, visit_expression),
        StatementKind::If { condition, .. } | StatementKind::DoWhile { condition, .. } => {
            visit_expression(condition)
        }
        StatementKind::While { condition: loop_condition, .. } => {
            each_in_condition(loop_condition, visit_expression)
        }
        StatementKind::For { init, condition: loop_condition, update, .. } => {
            if let Some(init) = init {
                each_expression(init, visit_expression);
            }
            if let Some(loop_condition) = loop_condition {
                each_in_condition(loop_condition, visit_expression);
            }
            update.iter().for_each(visit_expression);
        }
        StatementKind::Switch { selector, .. } => visit_expression(selector),
        StatementKind::Return(value) => value.iter().for_each(visit_expression),
        StatementKind::Block(_)
        | StatementKind::Empty
        | StatementKind::Default
        | StatementKind::Break
        | StatementKind::Continue
        | StatementKind::Terminate => {}
    }
}

fn each_in_condition<'s>(
    condition: &'s LoopCondition,
    visit_expression: &mut dyn FnMut(&'s Expression),
) {
    match condition {
        LoopCondition::Expression(expression) => visit_expression(expression),
        LoopCondition::Declaration(declaration) => each_initialiser(declaration, visit_expression),
    }
}

fn each_initialiser<'s>(
    declaration: &'s Declaration,
    visit_expression: &mut dyn FnMut(&'s Expression),
) {
    declaration
        .declarators
        .iter()
        .filter_map(|declarator| declarator.initialiser.as_ref())
        .for_each(visit_expression);
}

impl Emitter<'_> {
    /// A function declared before it is defined.
    pub(super) fn emit_prototype(
        &mut self,
        returns: &DeclaredType,
        name: TokenIndex,
        parameters: &[ParameterSyntax],
    ) -> Emitted {
        self.emit_header(returns, name, parameters)?;
        self.out.write_piece(";");
        self.out.end_line();
        Ok(())
    }

    /// A function other than the entry point.
    pub(super) fn emit_function(&mut self, function: &FunctionDefinition) -> Emitted {
        let body = match &function.body {
            Ok(body) => body,
            Err(error) => {
                return Err(self.unsupported_at(
                    format!("text that could not be read ({error})"),
                    error.token,
                ));
            }
        };
        self.emit_header(&function.returns, function.name, &function.parameters)?;
        self.out.write_piece(" {");
        self.out.end_line();
        self.out.indent_more();
        self.scopes.push(BTreeMap::new());
        for parameter in &function.parameters {
            let Some(name) = parameter.name else { continue };
            let (parameter_name, spelled_name) =
                (self.token_text(name), built_in::spelled_name(self.token_text(name)));
            if is_written(parameter) {
                self.out.line(&format!("Parameter kept_{spelled_name}(given_{spelled_name});"));
                self.out.line(&format!("auto &{spelled_name} = kept_{spelled_name}.value;"));
            }
            let declared_shape = self.declared_shape(&parameter.declared, &parameter.sizes);
            self.declare_name(parameter_name, spelled_name, ValuePlace::Locally, declared_shape);
        }
        self.emit_statements(body)?;
        self.scopes.pop();
        self.out.close_block("}");
        self.out.line("");
        Ok(())
    }

    /// Everything of a function before its body, on a line that goes on.
    fn emit_header(
        &mut self,
        return_syntax: &DeclaredType,
        name: TokenIndex,
        parameters: &[ParameterSyntax],
    ) -> Emitted {
        self.out.start_line();
        self.out.write_piece("static ");
        match return_syntax.name {
            Some(return_type) if self.token_text(return_type) == "void" => {
                self.out.write_piece("void")
            }
            Some(_) | None => self.write_type(return_syntax, &[], None, name)?,
        }
        self.out.write_piece(&format!(" {}(", built_in::spelled_function(self.token_text(name))));
        for (parameter_number, parameter) in parameters.iter().enumerate() {
            self.out.write_piece(if parameter_number == 0 { "" } else { ", " });
            self.write_type(&parameter.declared, &parameter.sizes, None, name)?;
            let spelled_name = parameter
                .name
                .map(|parameter_name| built_in::spelled_name(self.token_text(parameter_name)))
                .unwrap_or_default();
            self.out.write_piece(&if is_written(parameter) {
                format!(" &given_{spelled_name}")
            } else {
                format!(" {spelled_name}")
            });
        }
        self.out.write_piece(")");
        Ok(())
    }
}
