//! Names whose values constant expressions need: what initialises a constant of such a name must
//! stay a constant expression, so that no marker may stand in it.
//!
//! Knows: array sizes, `case` labels, layout values, arguments in angle brackets, and arguments of
//! functions that the text does not define (some of them must be constant: GLSL 4.60, 8.9, offsets;
//! GL_KHR_shader_subgroup_clustered).
//! Promises: linear time. Does not cover scopes: a name that is needed somewhere counts as needed
//! everywhere, which leaves more decisions unmarked, never fewer.

use super::names::is_pure_built_in;
use super::syntax::*;
use super::token::Token;
use std::collections::{BTreeMap, BTreeSet};

/// The names of a unit that constant expressions need.
pub(crate) fn names<'a>(tokens: &'a [Token], items: &[Item]) -> BTreeSet<&'a str> {
    let mut search = Search {
        tokens,
        defined: BTreeSet::new(),
        needed: Vec::new(),
        covered: 0,
        constants: BTreeMap::new(),
    };
    for item in items {
        match item {
            Item::Function(FunctionDefinition { name, .. }) | Item::Prototype { name, .. } => {
                search.defined.insert(&tokens[*name].text);
            }
            Item::Declaration(_) | Item::Unread { .. } => {}
        }
    }
    for item in items {
        search.item(item);
    }
    search.closed()
}

struct Search<'a> {
    tokens: &'a [Token],
    /// Functions that the text defines or declares.
    defined: BTreeSet<&'a str>,
    needed: Vec<&'a str>,
    /// Tokens before this one have been looked at by [`Search::need`], so that nested places cost
    /// nothing again.
    covered: TokenIndex,
    /// What the initialisers of `const` variables name, by the variable's name.
    constants: BTreeMap<&'a str, Vec<&'a str>>,
}

impl<'a> Search<'a> {
    /// `needed`, with everything that a needed constant is made of.
    fn closed(mut self) -> BTreeSet<&'a str> {
        let mut demanded_names = BTreeSet::new();
        while let Some(name) = self.needed.pop() {
            if demanded_names.insert(name) {
                self.needed.extend(self.constants.remove(name).unwrap_or_default());
            }
        }
        demanded_names
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Declaration(declaration) => self.declaration(declaration),
            Item::Prototype { returns, parameters, .. } => self.signature(returns, parameters),
            Item::Function(function) => {
                self.signature(&function.returns, &function.parameters);
                if let Ok(body) = &function.body {
                    body.iter().for_each(|statement| self.statement(statement));
                }
            }
            Item::Unread { .. } => {}
        }
    }

    fn signature(&mut self, returns: &DeclaredType, parameters: &[Parameter]) {
        self.declared(returns);
        for parameter in parameters {
            self.declared(&parameter.declared);
            self.sizes(&parameter.sizes);
        }
    }

    fn declared(&mut self, declared_type: &DeclaredType) {
        self.sizes(&declared_type.sizes);
        declared_type
            .layout_values
            .iter()
            .chain(&declared_type.template)
            .for_each(|value| self.need(value));
        declared_type.members.iter().for_each(|member| self.declaration(member));
    }

    fn sizes(&mut self, sizes: &[Option<Expression>]) {
        sizes.iter().flatten().for_each(|size| self.need(size));
    }

    fn declaration(&mut self, declaration: &Declaration) {
        self.declared(&declaration.declared);
        for declarator in &declaration.declarators {
            self.sizes(&declarator.sizes);
            let Some(initialiser) = &declarator.initialiser else { continue };
            self.expression(initialiser);
            if declaration.declared.has("const") {
                let named_constants = self.names_in(initialiser.first, initialiser.last);
                self.constants
                    .entry(&self.tokens[declarator.name].text)
                    .or_default()
                    .extend(named_constants);
            }
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Block(inner) => {
                inner.iter().for_each(|statement| self.statement(statement))
            }
            StatementKind::Expression(expression) => self.expression(expression),
            StatementKind::Declaration(declaration) => self.declaration(declaration),
            StatementKind::If { condition, then, otherwise } => {
                self.expression(condition);
                self.statement(then);
                otherwise.iter().for_each(|otherwise| self.statement(otherwise));
            }
            StatementKind::While { condition, body } => {
                self.loop_condition(condition);
                self.statement(body);
            }
            StatementKind::DoWhile { body, condition } => {
                self.statement(body);
                self.expression(condition);
            }
            StatementKind::For { init, condition, update, body } => {
                init.iter().for_each(|init| self.statement(init));
                condition.iter().for_each(|condition| self.loop_condition(condition));
                update.iter().for_each(|update| self.expression(update));
                self.statement(body);
            }
            StatementKind::Switch { selector, body, .. } => {
                self.expression(selector);
                body.iter().for_each(|statement| self.statement(statement));
            }
            StatementKind::Case(value) => self.need(value),
            StatementKind::Return(value) => value.iter().for_each(|value| self.expression(value)),
            StatementKind::Empty
            | StatementKind::Default
            | StatementKind::Break
            | StatementKind::Continue
            | StatementKind::Terminate => {}
        }
    }

    fn loop_condition(&mut self, condition: &LoopCondition) {
        match condition {
            LoopCondition::Expression(expression) => self.expression(expression),
            LoopCondition::Declaration(declaration) => self.declaration(declaration),
        }
    }

    /// Looks for places inside a run-time expression that must be constant.
    fn expression(&mut self, expression: &Expression) {
        match &expression.kind {
            ExpressionKind::Call { callee, arguments } => {
                let name: &'a str = &self.tokens[callee.first].text;
                match &callee.kind {
                    ExpressionKind::Identifier
                        if !self.defined.contains(name) && !is_pure_built_in(name) =>
                    {
                        arguments.iter().for_each(|argument| self.need(argument));
                    }
                    // The sizes of an array constructor.
                    ExpressionKind::Index { .. } => self.need(callee),
                    _ => self.expression(callee),
                }
                arguments.iter().for_each(|argument| self.expression(argument));
            }
            ExpressionKind::Template(arguments) => {
                arguments.iter().for_each(|argument| self.need(argument))
            }
            _ => {
                let mut parts = Vec::new();
                expression.each_part(&mut |part| parts.push(part));
                parts.into_iter().for_each(|part| self.expression(part));
            }
        }
    }

    fn need(&mut self, expression: &Expression) {
        let first_uncovered = expression.first.max(self.covered);
        if first_uncovered <= expression.last {
            let named_identifiers = self.names_in(first_uncovered, expression.last);
            self.needed.extend(named_identifiers);
            self.covered = expression.last + 1;
        }
    }

    /// Every identifier among some tokens.
    fn names_in(&self, first: TokenIndex, last: TokenIndex) -> Vec<&'a str> {
        self.tokens[first..=last]
            .iter()
            .filter(|token| token.is_identifier())
            .map(|token| &*token.text)
            .collect()
    }
}
