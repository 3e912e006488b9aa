//! Functions, statements, switches and exits of a translation unit, for `model::structure`.
//!
//! Promises: every statement of every function definition is there, with ids in source order; a
//! function that could not be parsed keeps its obligations, all of them unmarked (`unread`).

mod counted_loops;
mod fall_through;
mod statement;

use crate::DecisionPolicy;
use crate::decisions::{DecisionCollector, EvaluationContext, ExpressionPosition};
use crate::marking::{Placement, PlacementRole};
use crate::narrow::NarrowConstructor;
use crate::preprocessor::TranslationUnit;
use crate::semantics::VaryingSemantics;
use crate::syntax::{
    Declaration, Declarator, DeclaredType, Expression, FileLevelItem, FunctionDefinition,
    ParameterSyntax, ParseError, TokenIndex,
};
use crate::token::Token;
use counted_loops::CountedLoops;
use fall_through::syntax_falls_through;
use std::collections::BTreeSet;
use vkcert_model::id::{FunctionId, StatementId, SwitchId};
use vkcert_model::place::Span;
use vkcert_model::structure::{
    Block, Decision, Exit, Function, RequestedMark, RequestedParts, Statement, StatementKind,
    Switch,
};

/// Structure of the syntax tree, before markers are numbered.
#[derive(Debug, Clone)]
pub(crate) struct UnitOutline {
    pub functions: Vec<Function>,
    pub decisions: Vec<Decision>,
    pub switches: Vec<Switch>,
    pub requested: RequestedParts,
    pub placements: Vec<Placement>,
    pub token_ranges: TokenRanges,
    pub notes: Vec<String>,
    pub narrow: Vec<NarrowConstructor>,
    pub semantics: Vec<VaryingSemantics>,
}

/// First and last tokens of parts of the text.
#[derive(Debug, Clone, Default)]
pub(crate) struct TokenRanges {
    /// Of each decision, in the order of the decisions.
    pub decisions: Vec<[u32; 2]>,
    /// Of each switch's selector, in the order of the switches.
    pub selectors: Vec<[u32; 2]>,
    /// Of each loop statement, outer before inner.
    pub loops: Vec<[u32; 2]>,
}

/// Describes parsed text.
pub(crate) fn outline_unit(
    unit: &TranslationUnit,
    items: &[FileLevelItem],
    policy: DecisionPolicy,
    requested: &BTreeSet<RequestedMark>,
) -> UnitOutline {
    let TranslationUnit { tokens, frames, files, .. } = unit;
    let mut decisions = DecisionCollector::new(tokens, frames, files, items, policy);
    decisions.calls = requested.contains(&RequestedMark::Calls).then(Vec::new);
    let mut outliner = Outliner {
        tokens,
        decisions,
        functions: Vec::new(),
        switches: Vec::new(),
        selectors: Vec::new(),
        loops: Vec::new(),
        notes: Vec::new(),
        statements: 0,
        counted_loops: requested.contains(&RequestedMark::Loops).then(CountedLoops::default),
        exits: Vec::new(),
        returns_boolean: false,
        open_switches: Vec::new(),
        demanded: crate::demand::demanded_names(tokens, items),
    };
    for item in items {
        outliner.outline_item(item);
    }
    UnitOutline {
        functions: outliner.functions,
        decisions: outliner.decisions.decisions,
        switches: outliner.switches,
        requested: RequestedParts {
            calls: outliner.decisions.calls,
            loops: outliner.counted_loops.map(|counted| counted.loops),
        },
        placements: outliner.decisions.placements,
        token_ranges: TokenRanges {
            decisions: outliner.decisions.ranges,
            selectors: outliner.selectors,
            loops: outliner.loops,
        },
        notes: outliner.notes,
        narrow: outliner.decisions.narrow,
        semantics: outliner.decisions.semantics,
    }
}

/// Whether a declaration does something at run time.
enum DeclarationEffect {
    Initialises,
    Nothing,
}

struct Outliner<'a> {
    tokens: &'a [Token],
    decisions: DecisionCollector<'a>,
    functions: Vec<Function>,
    switches: Vec<Switch>,
    selectors: Vec<[u32; 2]>,
    loops: Vec<[u32; 2]>,
    notes: Vec<String>,
    statements: u32,
    /// None where nobody asked for them.
    counted_loops: Option<CountedLoops>,
    /// Of the function being read.
    exits: Vec<Exit>,
    returns_boolean: bool,
    open_switches: Vec<SwitchId>,
    /// Names whose values constant expressions need.
    demanded: BTreeSet<&'a str>,
}

impl Outliner<'_> {
    fn token_span(&self, first: TokenIndex, last: TokenIndex) -> Span {
        self.decisions.locate_tokens(first, last).span
    }

    fn outline_item(&mut self, item: &FileLevelItem) {
        match item {
            FileLevelItem::Declaration(declaration) => {
                self.outline_declaration(declaration);
            }
            FileLevelItem::Prototype { returns, parameters, .. } => {
                self.type_expressions(returns);
                self.outline_parameters(parameters);
            }
            FileLevelItem::Function(function) => self.outline_function(function),
            FileLevelItem::Unread { first, last, error } => {
                let unread_text =
                    self.decisions.source_text(&self.decisions.locate_tokens(*first, *last));
                let text_start: String = unread_text.chars().take(60).collect();
                self.notes.push(format!(
                    "text at file level could not be read ({error}): `{text_start}`"
                ));
                crate::unread::add_decisions(
                    &mut self.decisions,
                    self.tokens,
                    (*first, *last),
                    &error.to_string(),
                );
                self.add_unread_requests((*first, *last));
            }
        }
    }

    fn place_marker(&mut self, token: TokenIndex, placement_role: PlacementRole) {
        self.decisions.placements.push(Placement {
            first: token,
            last: token,
            role: placement_role,
        });
    }

    fn next_statement(&mut self) -> StatementId {
        self.statements += 1;
        StatementId(self.statements)
    }

    /// Calls and loops of text that could not be read, without marks.
    fn add_unread_requests(&mut self, unread_range: (TokenIndex, TokenIndex)) {
        crate::unread::add_calls(&mut self.decisions, self.tokens, unread_range);
        if self.counted_loops.is_some() {
            for (first, kind) in crate::unread::loop_starts(self.tokens, unread_range) {
                self.add_unread_loop(first, kind);
            }
        }
    }

    fn outline_parameters(&mut self, parameters: &[ParameterSyntax]) {
        for parameter in parameters {
            self.type_expressions(&parameter.declared);
            self.array_sizes(&parameter.sizes);
        }
    }

    fn outline_function(&mut self, function: &FunctionDefinition) {
        let function_id = FunctionId(self.functions.len() as u32 + 1);
        let function_name = self.decisions.names.token_text(function.name).to_owned();
        self.type_expressions(&function.returns);
        self.outline_parameters(&function.parameters);
        self.decisions.function = Some(function_id);
        let entry_mark = self.decisions.next_mark();
        let return_type = function.returns.name.map(|name| self.decisions.names.token_text(name));
        self.returns_boolean = return_type == Some("bool") && function.returns.sizes.is_empty();
        let returns_nothing = return_type == Some("void");
        self.exits.clear();
        let body_block = match &function.body {
            Ok(body) => {
                self.place_marker(function.open, PlacementRole::Entry { mark: entry_mark });
                self.decisions.names.open_scope();
                for parameter in &function.parameters {
                    self.decisions.names.add_parameter(parameter);
                }
                let block = self.outline_block(body);
                self.decisions.names.close_scope();
                if returns_nothing && syntax_falls_through(self.tokens, body) {
                    let span = self.token_span(function.close, function.close);
                    self.exits.push(Exit::EndOfBody { span });
                }
                block
            }
            Err(error) => self.unread_body(function, &function_name, error),
        };
        let located_tokens = self.decisions.locate_tokens(function.first, function.last);
        let function_exits = std::mem::take(&mut self.exits);
        let (span, expansion) = (located_tokens.span, located_tokens.expansion);
        self.functions.push(Function {
            id: function_id,
            name: function_name,
            span,
            entry_mark,
            body: body_block,
            exits: function_exits,
            expansion,
        });
        self.decisions.function = None;
    }

    /// A body outside the grammar: its obligations stay, and nothing of it is ever recorded, for
    /// its entry has no mark.
    fn unread_body(
        &mut self,
        function: &FunctionDefinition,
        name: &str,
        error: &ParseError,
    ) -> Block {
        let error_place = self.decisions.locate_tokens(error.token, error.token);
        let text_there = self.decisions.source_text(&error_place);
        self.notes.push(format!(
            "function `{name}` could not be read ({error}, at `{text_there}`); its decisions are undetermined and its \
             statements count as not covered"
        ));
        let body_range = (function.open + 1, function.close.saturating_sub(1));
        if body_range.0 > body_range.1 {
            return Block::default();
        }
        let unread_reason = format!("function `{name}` could not be read: {error}");
        crate::unread::add_decisions(&mut self.decisions, self.tokens, body_range, &unread_reason);
        self.add_unread_requests(body_range);
        let mut statements = Vec::new();
        for (first, last) in crate::unread::statement_ranges(self.tokens, body_range) {
            let statement_id = self.next_statement();
            let located_tokens = self.decisions.locate_tokens(first, last);
            let statement_kind = match self.decisions.names.token_text(first) {
                "return" => StatementKind::Return,
                _ => StatementKind::Simple,
            };
            if statement_kind == StatementKind::Return {
                self.exits.push(Exit::Return { statement: statement_id });
            }
            statements.push(Statement {
                id: Some(statement_id),
                span: located_tokens.span,
                kind: statement_kind,
                expansion: located_tokens.expansion,
            });
        }
        Block(statements)
    }

    /// Array sizes and layout values of a declared type and its members.
    fn type_expressions(&mut self, declared_type: &DeclaredType) {
        for value in &declared_type.layout_values {
            self.decisions.in_constant_expression("a layout value", |decisions| {
                decisions.visit_expression(value, ExpressionPosition::Operand)
            });
        }
        self.decisions.visit_type_arguments(&declared_type.template);
        self.array_sizes(&declared_type.sizes);
        for member in &declared_type.members {
            self.type_expressions(&member.declared);
            for declarator in &member.declarators {
                self.array_sizes(&declarator.sizes);
            }
        }
    }

    fn array_sizes(&mut self, sizes: &[Option<Expression>]) {
        for size in sizes.iter().flatten() {
            self.decisions.in_constant_expression("an array size", |decisions| {
                decisions.visit_expression(size, ExpressionPosition::Operand)
            });
        }
    }

    fn outline_declaration(&mut self, declaration: &Declaration) -> DeclarationEffect {
        let declared_type = &declaration.declared;
        self.type_expressions(declared_type);
        self.decisions.names.add_members(declared_type);
        let mut run_time_effect = DeclarationEffect::Nothing;
        for declarator in &declaration.declarators {
            self.array_sizes(&declarator.sizes);
            if let Some(initialiser) = &declarator.initialiser {
                run_time_effect = DeclarationEffect::Initialises;
                self.outline_initialiser(declared_type, declarator, initialiser);
            }
            self.decisions.names.add_declarator(declared_type, declarator);
        }
        run_time_effect
    }

    fn outline_initialiser(
        &mut self,
        declared_type: &DeclaredType,
        declarator: &Declarator,
        initialiser: &Expression,
    ) {
        if declared_type.layout.iter().any(|name| name == "constant_id") {
            // A literal by rule (GL_KHR_vulkan_glsl, "Specialization Constants"): a default, not an
            // expression.
            return;
        }
        let value_type = self.decisions.names.declared_type(declared_type, declarator);
        match self.constant_place(declared_type, declarator) {
            Some(place) => self.decisions.in_constant_expression(place, |decisions| {
                decisions.visit_initialiser(initialiser, Some(value_type))
            }),
            None => self.decisions.visit_initialiser(initialiser, Some(value_type)),
        }
    }

    /// The name of the constant-expression context that an initialiser is; none where it may be
    /// computed at run time. A constant inside a function may be, unless a constant expression
    /// needs its value: then it merely is read-only (GLSL 4.60, 4.3.2).
    fn constant_place(
        &self,
        declared_type: &DeclaredType,
        declarator: &Declarator,
    ) -> Option<&'static str> {
        use vkcert_model::structure::Constness;
        let decisions = &self.decisions;
        if !declared_type.has_qualifier("const")
            || decisions.evaluation_context != EvaluationContext::Runtime
        {
            return None;
        }
        let is_local = decisions.function.is_some();
        if is_local && !self.demanded.contains(decisions.names.token_text(declarator.name)) {
            return None;
        }
        match decisions.names.declared_constness(declared_type, declarator) {
            Constness::Constant => {
                Some("the initialiser of a `const` variable with a constant value")
            }
            Constness::Specialization => {
                Some("the initialiser of a specialization-constant expression")
            }
            Constness::Runtime if !is_local => Some("the initialiser of a `const` at file level"),
            Constness::Runtime => None,
        }
    }
}
