//! Names whose values constant expressions need: the initialiser of such a constant must stay a
//! constant expression, so that no marker may stand in it.
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
pub(crate) fn demanded_names<'a>(
    tokens: &'a [Token],
    items: &[FileLevelItem],
) -> BTreeSet<&'a str> {
    let mut search = DemandSearch {
        tokens,
        defined: BTreeSet::new(),
        needed: Vec::new(),
        covered: 0,
        constants: BTreeMap::new(),
    };
    for item in items {
        match item {
            FileLevelItem::Function(FunctionDefinition { name, .. })
            | FileLevelItem::Prototype { name, .. } => {
                search.defined.insert(&tokens[*name].text);
            }
            FileLevelItem::Declaration(_) | FileLevelItem::Unread { .. } => {}
        }
    }
    for item in items {
        search.visit_item(item);
    }
    search.with_dependencies()
}

struct DemandSearch<'a> {
    tokens: &'a [Token],
    /// Functions that the text defines or declares.
    defined: BTreeSet<&'a str>,
    needed: Vec<&'a str>,
    /// Tokens before this one have been looked at by [`DemandSearch::demand_expression`], so that
    /// nested places cost nothing again.
    covered: TokenIndex,
    /// Identifiers in the initialisers of `const` variables, by the variable's name.
    constants: BTreeMap<&'a str, Vec<&'a str>>,
}

impl<'a> DemandSearch<'a> {
    /// `needed`, with everything that a needed constant is made of.
    fn with_dependencies(mut self) -> BTreeSet<&'a str> {
        let mut demanded_names = BTreeSet::new();
        while let Some(name) = self.needed.pop() {
            if demanded_names.insert(name) {
                self.needed.extend(self.constants.remove(name).unwrap_or_default());
            }
        }
        demanded_names
    }

    fn visit_item(&mut self, item: &FileLevelItem) {
        match item {
            FileLevelItem::Declaration(declaration) => self.visit_declaration(declaration),
            FileLevelItem::Prototype { returns, parameters, .. } => {
                self.visit_signature(returns, parameters)
            }
            FileLevelItem::Function(function) => {
                self.visit_signature(&function.returns, &function.parameters);
                if let Ok(body) = &function.body {
                    body.iter().for_each(|statement| self.visit_statement(statement));
                }
            }
            FileLevelItem::Unread { .. } => {}
        }
    }

    fn visit_signature(&mut self, returns: &DeclaredType, parameters: &[ParameterSyntax]) {
        self.visit_declared_type(returns);
        for parameter in parameters {
            self.visit_declared_type(&parameter.declared);
            self.visit_sizes(&parameter.sizes);
        }
    }

    fn visit_declared_type(&mut self, declared_type: &DeclaredType) {
        self.visit_sizes(&declared_type.sizes);
        declared_type
            .layout_values
            .iter()
            .chain(&declared_type.template)
            .for_each(|value| self.demand_expression(value));
        declared_type.members.iter().for_each(|member| self.visit_declaration(member));
    }

    fn visit_sizes(&mut self, sizes: &[Option<Expression>]) {
        sizes.iter().flatten().for_each(|size| self.demand_expression(size));
    }

    fn visit_declaration(&mut self, declaration: &Declaration) {
        self.visit_declared_type(&declaration.declared);
        for declarator in &declaration.declarators {
            self.visit_sizes(&declarator.sizes);
            let Some(initialiser) = &declarator.initialiser else { continue };
            self.visit_expression(initialiser);
            if declaration.declared.has_qualifier("const") {
                let named_constants = self.identifiers_in(initialiser.first, initialiser.last);
                self.constants
                    .entry(&self.tokens[declarator.name].text)
                    .or_default()
                    .extend(named_constants);
            }
        }
    }

    fn visit_statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Block(inner) => {
                inner.iter().for_each(|statement| self.visit_statement(statement))
            }
            StatementKind::Expression(expression) => self.visit_expression(expression),
            StatementKind::Declaration(declaration) => self.visit_declaration(declaration),
            StatementKind::If { condition, then, otherwise } => {
                self.visit_expression(condition);
                self.visit_statement(then);
                otherwise.iter().for_each(|otherwise| self.visit_statement(otherwise));
            }
            StatementKind::While { condition, body } => {
                self.visit_loop_condition(condition);
                self.visit_statement(body);
            }
            StatementKind::DoWhile { body, condition } => {
                self.visit_statement(body);
                self.visit_expression(condition);
            }
            StatementKind::For { init, condition, update, body } => {
                init.iter().for_each(|init| self.visit_statement(init));
                condition.iter().for_each(|condition| self.visit_loop_condition(condition));
                update.iter().for_each(|update| self.visit_expression(update));
                self.visit_statement(body);
            }
            StatementKind::Switch { selector, body, .. } => {
                self.visit_expression(selector);
                body.iter().for_each(|statement| self.visit_statement(statement));
            }
            StatementKind::Case(value) => self.demand_expression(value),
            StatementKind::Return(value) => {
                value.iter().for_each(|value| self.visit_expression(value))
            }
            StatementKind::Empty
            | StatementKind::Default
            | StatementKind::Break
            | StatementKind::Continue
            | StatementKind::Terminate => {}
        }
    }

    fn visit_loop_condition(&mut self, condition: &LoopCondition) {
        match condition {
            LoopCondition::Expression(expression) => self.visit_expression(expression),
            LoopCondition::Declaration(declaration) => self.visit_declaration(declaration),
        }
    }

    /// Looks for places inside a run-time expression that must be constant.
    fn visit_expression(&mut self, expression: &Expression) {
        match &expression.kind {
            ExpressionKind::Call { callee, arguments } => {
                let name: &'a str = &self.tokens[callee.first].text;
                match &callee.kind {
                    ExpressionKind::Identifier
                        if !self.defined.contains(name) && !is_pure_built_in(name) =>
                    {
                        arguments.iter().for_each(|argument| self.demand_expression(argument));
                    }
                    // The sizes of an array constructor.
                    ExpressionKind::Index { .. } => self.demand_expression(callee),
                    _ => self.visit_expression(callee),
                }
                arguments.iter().for_each(|argument| self.visit_expression(argument));
            }
            ExpressionKind::Template(arguments) => {
                arguments.iter().for_each(|argument| self.demand_expression(argument))
            }
            _ => {
                let mut parts = Vec::new();
                expression.each_part(&mut |part| parts.push(part));
                parts.into_iter().for_each(|part| self.visit_expression(part));
            }
        }
    }

    fn demand_expression(&mut self, expression: &Expression) {
        let first_uncovered = expression.first.max(self.covered);
        if first_uncovered <= expression.last {
            let named_identifiers = self.identifiers_in(first_uncovered, expression.last);
            self.needed.extend(named_identifiers);
            self.covered = expression.last + 1;
        }
    }

    /// Every identifier among some tokens.
    fn identifiers_in(&self, first: TokenIndex, last: TokenIndex) -> Vec<&'a str> {
        self.tokens[first..=last]
            .iter()
            .filter(|token| token.is_identifier())
            .map(|token| &*token.text)
            .collect()
    }
}
