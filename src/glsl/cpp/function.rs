//! Functions and what calls of them do.

use super::super::syntax::{
    Declaration, DeclaredType, Expression, ExpressionKind, FunctionDefinition, Item, Parameter,
    Statement, StatementKind, TokenIndex,
};
use super::super::token::Token;
use super::{Emitted, Emitter, Held, built_in};
use std::collections::{BTreeMap, BTreeSet};

/// What callers need to know of the functions of one name, over all its overloads.
#[derive(Debug, Clone, Default)]
pub(super) struct Signature {
    /// Parameters that are written back, by index.
    pub written: BTreeSet<usize>,
    /// How many parameters there are.
    pub counts: BTreeSet<usize>,
    pub holds_barrier: bool,
    /// Whether a call may change memory that others see.
    pub changes_memory: bool,
}

impl Signature {
    /// Whether a call is one of these and none of a built-in function of their name.
    pub(super) fn takes(&self, name: &str, arguments: usize) -> bool {
        self.counts.contains(&arguments) || !built_in::has_function(name, arguments)
    }
}

/// The functions that the text defines, by name.
pub(super) fn signatures(tokens: &[Token], items: &[Item]) -> BTreeMap<String, Signature> {
    let mut found: BTreeMap<String, Signature> = BTreeMap::new();
    let mut calls: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for item in items {
        let Item::Function(function) = item else { continue };
        let name = tokens[function.name].text.to_string();
        let signature = found.entry(name.clone()).or_default();
        signature.counts.insert(function.parameters.len());
        for (number, parameter) in function.parameters.iter().enumerate() {
            if is_written(parameter) {
                signature.written.insert(number);
            }
        }
        let called: BTreeSet<String> = (function.open..function.close)
            .filter(|at| tokens[*at].is_identifier() && tokens[at + 1].is("("))
            .map(|at| tokens[at].text.to_string())
            .collect();
        signature.holds_barrier |= called.iter().any(|name| built_in::is_collective(name));
        signature.changes_memory |=
            called.iter().any(|name| built_in::is_atomic(name)) || writes_others(tokens, function);
        calls.entry(name).or_default().extend(called);
    }
    // What a function calls, it does.
    for _ in 0..found.len() {
        let before = found.clone();
        for (name, signature) in &mut found {
            let called: Vec<&Signature> =
                calls[name].iter().filter_map(|called| before.get(called)).collect();
            signature.holds_barrier |= called.iter().any(|called| called.holds_barrier);
            signature.changes_memory |= called.iter().any(|called| called.changes_memory);
        }
    }
    found
}

pub(super) fn is_written(parameter: &Parameter) -> bool {
    parameter.declared.has("out") || parameter.declared.has("inout")
}

/// Whether a function assigns to a name that it does not declare.
fn writes_others(tokens: &[Token], function: &FunctionDefinition) -> bool {
    let mut own: BTreeSet<&str> = function
        .parameters
        .iter()
        .filter_map(|parameter| parameter.name)
        .map(|name| &*tokens[name].text)
        .collect();
    let mut targets = Vec::new();
    let mut look = Look { tokens, own: &mut own, targets: &mut targets };
    match &function.body {
        Ok(body) => body.iter().for_each(|statement| look.statement(statement)),
        Err(_) => return true,
    }
    targets.iter().any(|target| !own.contains(target))
}

struct Look<'t, 'l> {
    tokens: &'t [Token],
    own: &'l mut BTreeSet<&'t str>,
    targets: &'l mut Vec<&'t str>,
}

impl Look<'_, '_> {
    fn statement(&mut self, statement: &Statement) {
        if let StatementKind::Declaration(declaration) = &statement.kind {
            self.declaration(declaration);
        }
        if let StatementKind::For { init: Some(init), .. } = &statement.kind {
            self.statement(init);
        }
        each_condition(statement, &mut |declaration| self.declaration(declaration));
        each_expression(statement, &mut |expression| self.expression(expression));
        each_inner(statement, &mut |inner| self.statement(inner));
    }

    fn declaration(&mut self, declaration: &Declaration) {
        self.own.extend(
            declaration.declarators.iter().map(|declarator| &*self.tokens[declarator.name].text),
        );
    }

    fn expression(&mut self, expression: &Expression) {
        if let Some(target) = written(self.tokens, expression) {
            self.targets.push(&self.tokens[root_name(target)].text);
        }
        expression.each_part(&mut |part| self.expression(part));
    }
}

/// What an assignment, `++` or `--` writes.
pub(super) fn written<'e>(tokens: &[Token], expression: &'e Expression) -> Option<&'e Expression> {
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
fn each_condition<'s>(statement: &'s Statement, see: &mut dyn FnMut(&'s Declaration)) {
    use super::super::syntax::LoopCondition;
    match &statement.kind {
        StatementKind::While { condition: LoopCondition::Declaration(declaration), .. }
        | StatementKind::For { condition: Some(LoopCondition::Declaration(declaration)), .. } => {
            see(declaration)
        }
        _ => {}
    }
}

/// Calls `see` with every expression directly in a statement.
pub(super) fn each_expression<'s>(statement: &'s Statement, see: &mut dyn FnMut(&'s Expression)) {
    use super::super::syntax::LoopCondition;
    let initialisers = |declaration: &'s Declaration, see: &mut dyn FnMut(&'s Expression)| {
        declaration
            .declarators
            .iter()
            .filter_map(|declarator| declarator.initialiser.as_ref())
            .for_each(see);
    };
    let condition =
        |condition: &'s LoopCondition, see: &mut dyn FnMut(&'s Expression)| match condition {
            LoopCondition::Expression(expression) => see(expression),
            LoopCondition::Declaration(declaration) => initialisers(declaration, see),
        };
    match &statement.kind {
        StatementKind::Expression(expression) | StatementKind::Case(expression) => see(expression),
        StatementKind::Declaration(declaration) => initialisers(declaration, see),
        StatementKind::If { condition, .. } | StatementKind::DoWhile { condition, .. } => {
            see(condition)
        }
        StatementKind::While { condition: found, .. } => condition(found, see),
        StatementKind::For { init, condition: found, update, .. } => {
            if let Some(init) = init {
                each_expression(init, see);
            }
            if let Some(found) = found {
                condition(found, see);
            }
            update.iter().for_each(see);
        }
        StatementKind::Switch { selector, .. } => see(selector),
        StatementKind::Return(value) => value.iter().for_each(see),
        StatementKind::Block(_)
        | StatementKind::Empty
        | StatementKind::Default
        | StatementKind::Break
        | StatementKind::Continue
        | StatementKind::Terminate => {}
    }
}

/// Calls `see` with every statement directly inside another.
pub(super) fn each_inner<'s>(statement: &'s Statement, see: &mut dyn FnMut(&'s Statement)) {
    match &statement.kind {
        StatementKind::Block(inner) | StatementKind::Switch { body: inner, .. } => {
            inner.iter().for_each(see)
        }
        StatementKind::If { then, otherwise, .. } => {
            see(then);
            otherwise.iter().for_each(|otherwise| see(otherwise));
        }
        StatementKind::While { body, .. }
        | StatementKind::DoWhile { body, .. }
        | StatementKind::For { body, .. } => {
            see(body);
        }
        StatementKind::Empty
        | StatementKind::Expression(_)
        | StatementKind::Declaration(_)
        | StatementKind::Case(_)
        | StatementKind::Default
        | StatementKind::Break
        | StatementKind::Continue
        | StatementKind::Return(_)
        | StatementKind::Terminate => {}
    }
}

impl Emitter<'_> {
    /// A function declared before it is defined.
    pub(super) fn prototype(
        &mut self,
        returns: &DeclaredType,
        name: TokenIndex,
        parameters: &[Parameter],
    ) -> Emitted {
        self.header(returns, name, parameters)?;
        self.out.write(";");
        self.out.end();
        Ok(())
    }

    /// A function other than the entry point.
    pub(super) fn function(&mut self, function: &FunctionDefinition) -> Emitted {
        let body = match &function.body {
            Ok(body) => body,
            Err(error) => {
                return Err(
                    self.unsupported(format!("text that could not be read ({error})"), error.token)
                );
            }
        };
        self.header(&function.returns, function.name, &function.parameters)?;
        self.out.write(" {");
        self.out.end();
        self.out.indent();
        self.scopes.push(BTreeMap::new());
        for parameter in &function.parameters {
            let Some(name) = parameter.name else { continue };
            let (text, spelled) = (self.text(name), built_in::spelled(self.text(name)));
            if is_written(parameter) {
                self.out.line(&format!("Parameter kept_{spelled}(given_{spelled});"));
                self.out.line(&format!("auto &{spelled} = kept_{spelled}.value;"));
            }
            let shape = self.shape(&parameter.declared, &parameter.sizes);
            self.declare(text, spelled, Held::Locally, shape);
        }
        self.statements(body)?;
        self.scopes.pop();
        self.out.close("}");
        self.out.line("");
        Ok(())
    }

    /// Everything of a function before its body, on a line that goes on.
    fn header(
        &mut self,
        returns: &DeclaredType,
        name: TokenIndex,
        parameters: &[Parameter],
    ) -> Emitted {
        self.out.start();
        self.out.write("static ");
        match returns.name {
            Some(returned) if self.text(returned) == "void" => self.out.write("void"),
            Some(_) | None => self.write_type(returns, &[], None, name)?,
        }
        self.out.write(&format!(" {}(", built_in::spelled_function(self.text(name))));
        for (number, parameter) in parameters.iter().enumerate() {
            self.out.write(if number == 0 { "" } else { ", " });
            self.write_type(&parameter.declared, &parameter.sizes, None, name)?;
            let spelled =
                parameter.name.map(|name| built_in::spelled(self.text(name))).unwrap_or_default();
            self.out.write(&if is_written(parameter) {
                format!(" &given_{spelled}")
            } else {
                format!(" {spelled}")
            });
        }
        self.out.write(")");
        Ok(())
    }
}
