//! Functions, statements, switches and exits of a translation unit, for `model::structure`.
//!
//! Promises: every statement of every function definition is there, with ids in source order; a
//! function that could not be parsed keeps its obligations, all of them unmarked (`unread`).

use super::DecisionPolicy;
use super::decisions::{Decisions, Position, Surroundings};
use super::marking::{Placed, Placement};
use super::narrow::NarrowConstructor;
use super::semantics::VaryingSemantics;
use super::syntax::{self, *};
use super::token::{Frames, Token};
use std::collections::BTreeSet;
use vkcert_model::id::{DecisionId, FunctionId, StatementId, SwitchId};
use vkcert_model::place::{SourceFile, Span};
use vkcert_model::structure::{
    Block, Decision, DecisionContext, Exit, Function, Label, LabelKind, MarkIndex, Statement,
    StatementKind, Switch,
};

/// What the syntax tree says, before markers are numbered.
#[derive(Debug, Clone)]
pub(crate) struct Outline {
    pub functions: Vec<Function>,
    pub decisions: Vec<Decision>,
    pub switches: Vec<Switch>,
    pub placements: Vec<Placement>,
    /// First and last token of each decision, in the order of `decisions`.
    pub ranges: Vec<[u32; 2]>,
    /// First and last token of each switch's selector, in the order of `switches`.
    pub selectors: Vec<[u32; 2]>,
    /// First and last token of each loop statement, outer before inner.
    pub loops: Vec<[u32; 2]>,
    pub notes: Vec<String>,
    pub narrow: Vec<NarrowConstructor>,
    pub semantics: Vec<VaryingSemantics>,
}

/// Describes parsed text.
pub(crate) fn outline(
    tokens: &[Token],
    frames: &Frames,
    files: &[SourceFile],
    items: &[Item],
    policy: DecisionPolicy,
) -> Outline {
    let mut outliner = Outliner {
        tokens,
        decisions: Decisions::new(tokens, frames, files, items, policy),
        functions: Vec::new(),
        switches: Vec::new(),
        selectors: Vec::new(),
        loops: Vec::new(),
        notes: Vec::new(),
        statements: 0,
        marks: 0,
        exits: Vec::new(),
        returns_boolean: false,
        open_switches: Vec::new(),
        demanded: super::demand::names(tokens, items),
    };
    for item in items {
        outliner.item(item);
    }
    Outline {
        functions: outliner.functions,
        decisions: outliner.decisions.found,
        switches: outliner.switches,
        placements: outliner.decisions.placements,
        ranges: outliner.decisions.ranges,
        selectors: outliner.selectors,
        loops: outliner.loops,
        notes: outliner.notes,
        narrow: outliner.decisions.narrow,
        semantics: outliner.decisions.semantics,
    }
}

/// What one declaration does at run time.
enum Effect {
    Initialises,
    Nothing,
}

struct Outliner<'a> {
    tokens: &'a [Token],
    decisions: Decisions<'a>,
    functions: Vec<Function>,
    switches: Vec<Switch>,
    selectors: Vec<[u32; 2]>,
    loops: Vec<[u32; 2]>,
    notes: Vec<String>,
    statements: u32,
    marks: u32,
    /// Of the function being read.
    exits: Vec<Exit>,
    returns_boolean: bool,
    open_switches: Vec<SwitchId>,
    /// Names whose values constant expressions need.
    demanded: BTreeSet<&'a str>,
}

impl Outliner<'_> {
    fn span(&self, first: TokenIndex, last: TokenIndex) -> Span {
        self.decisions.locate(first, last).span
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Declaration(declaration) => {
                self.declaration(declaration);
            }
            Item::Prototype { returns, parameters, .. } => {
                self.type_expressions(returns);
                self.parameters(parameters);
            }
            Item::Function(function) => self.function(function),
            Item::Unread { first, last, error } => {
                let text = self.decisions.text(&self.decisions.locate(*first, *last));
                let start: String = text.chars().take(60).collect();
                self.notes
                    .push(format!("text at file level could not be read ({error}): `{start}`"));
                super::unread::add_decisions(
                    &mut self.decisions,
                    self.tokens,
                    (*first, *last),
                    &error.to_string(),
                );
            }
        }
    }

    fn next_mark(&mut self) -> MarkIndex {
        self.marks += 1;
        MarkIndex(self.marks - 1)
    }

    fn place(&mut self, token: TokenIndex, role: Placed) {
        self.decisions.placements.push(Placement { first: token, last: token, role });
    }

    fn next_statement(&mut self) -> StatementId {
        self.statements += 1;
        StatementId(self.statements)
    }

    fn parameters(&mut self, parameters: &[Parameter]) {
        for parameter in parameters {
            self.type_expressions(&parameter.declared);
            self.array_sizes(&parameter.sizes);
        }
    }

    fn function(&mut self, function: &FunctionDefinition) {
        let id = FunctionId(self.functions.len() as u32 + 1);
        let name = self.decisions.names.text(function.name).to_owned();
        self.type_expressions(&function.returns);
        self.parameters(&function.parameters);
        self.decisions.function = Some(id);
        let entry_mark = self.next_mark();
        let returned = function.returns.name.map(|name| self.decisions.names.text(name));
        self.returns_boolean = returned == Some("bool") && function.returns.sizes.is_empty();
        let returns_nothing = returned == Some("void");
        self.exits.clear();
        let body = match &function.body {
            Ok(body) => {
                self.place(function.open, Placed::Entry { mark: entry_mark });
                self.decisions.names.open();
                for parameter in &function.parameters {
                    self.decisions.names.add_parameter(parameter);
                }
                let block = self.block(body);
                self.decisions.names.close();
                if returns_nothing && syntax_falls_through(self.tokens, body) {
                    let span = self.span(function.close, function.close);
                    self.exits.push(Exit::EndOfBody { span });
                }
                block
            }
            Err(error) => self.unread_body(function, &name, error),
        };
        let located = self.decisions.locate(function.first, function.last);
        let exits = std::mem::take(&mut self.exits);
        let (span, expansion) = (located.span, located.expansion);
        self.functions.push(Function { id, name, span, entry_mark, body, exits, expansion });
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
        let place = self.decisions.locate(error.token, error.token);
        let position = self.decisions.text(&place);
        self.notes.push(format!(
            "function `{name}` could not be read ({error}, at `{position}`); its decisions are undetermined and its \
             statements count as not covered"
        ));
        let inside = (function.open + 1, function.close.saturating_sub(1));
        if inside.0 > inside.1 {
            return Block::default();
        }
        let reason = format!("function `{name}` could not be read: {error}");
        super::unread::add_decisions(&mut self.decisions, self.tokens, inside, &reason);
        let mut statements = Vec::new();
        for (first, last) in super::unread::statements(self.tokens, inside) {
            let id = self.next_statement();
            let located = self.decisions.locate(first, last);
            let kind = match self.decisions.names.text(first) {
                "return" => StatementKind::Return,
                _ => StatementKind::Simple,
            };
            if kind == StatementKind::Return {
                self.exits.push(Exit::Return { statement: id });
            }
            statements.push(Statement {
                id: Some(id),
                span: located.span,
                kind,
                expansion: located.expansion,
            });
        }
        Block(statements)
    }

    fn block(&mut self, statements: &[syntax::Statement]) -> Block {
        Block(statements.iter().map(|statement| self.statement(statement)).collect())
    }

    fn scoped(&mut self, statement: &syntax::Statement) -> Box<Statement> {
        self.decisions.names.open();
        let statement = self.statement(statement);
        self.decisions.names.close();
        Box::new(statement)
    }

    fn made(
        &self,
        id: Option<StatementId>,
        header: (TokenIndex, TokenIndex),
        kind: StatementKind,
    ) -> Statement {
        let located = self.decisions.locate(header.0, header.1);
        Statement { id, span: located.span, kind, expansion: located.expansion }
    }

    fn statement(&mut self, statement: &syntax::Statement) -> Statement {
        use syntax::StatementKind as Parsed;
        match &statement.kind {
            Parsed::Block(inner) => {
                self.decisions.names.open();
                let block = self.block(inner);
                self.decisions.names.close();
                self.made(None, statement.header, StatementKind::Block { block })
            }
            Parsed::Empty => self.made(None, statement.header, StatementKind::Empty),
            Parsed::Expression(expression) => {
                let id = self.next_statement();
                self.decisions.visit(expression, Position::Discarded);
                self.made(Some(id), statement.header, StatementKind::Simple)
            }
            Parsed::Declaration(declaration) => match self.declaration(declaration) {
                Effect::Initialises => {
                    let id = self.next_statement();
                    self.made(Some(id), statement.header, StatementKind::Simple)
                }
                Effect::Nothing => self.made(None, statement.header, StatementKind::Empty),
            },
            Parsed::If { .. } => self.if_statement(statement),
            Parsed::While { .. } | Parsed::DoWhile { .. } | Parsed::For { .. } => {
                self.loop_statement(statement)
            }
            Parsed::Switch { selector, open, body } => {
                self.switch(statement, selector, *open, body)
            }
            Parsed::Case(value) => {
                self.decisions.constant("a case label", |decisions| {
                    decisions.visit(value, Position::Operand)
                });
                self.label(statement, LabelKind::Case)
            }
            Parsed::Default => self.label(statement, LabelKind::Default),
            Parsed::Break => self.leaf(statement, StatementKind::Break),
            Parsed::Continue => self.leaf(statement, StatementKind::Continue),
            Parsed::Return(value) => {
                let made = self.exit(statement, StatementKind::Return);
                if let Some(value) = value {
                    let context = DecisionContext::Return;
                    let boolean = self.returns_boolean;
                    self.decisions.visit(
                        value,
                        if boolean { Position::Boolean(context) } else { Position::Place(context) },
                    );
                }
                made
            }
            Parsed::Terminate => self.exit(statement, StatementKind::Terminate),
        }
    }

    fn leaf(&mut self, statement: &syntax::Statement, kind: StatementKind) -> Statement {
        let id = self.next_statement();
        self.made(Some(id), statement.header, kind)
    }

    fn exit(&mut self, statement: &syntax::Statement, kind: StatementKind) -> Statement {
        let made = self.leaf(statement, kind);
        self.exits.extend(made.id.map(|statement| Exit::Return { statement }));
        made
    }

    /// The decision that a controlling expression became; it is always one.
    fn controlling(&mut self, expression: &Expression, context: DecisionContext) -> DecisionId {
        // Operands of a comma expression before the last come first, so the decision is found by
        // its context.
        let before = self.decisions.found.len();
        self.decisions.visit(expression, Position::Controlling(context));
        let made =
            self.decisions.found[before..].iter().find(|decision| decision.context == context);
        made.expect("a controlling expression is a decision").id
    }

    fn loop_condition(
        &mut self,
        condition: &LoopCondition,
        context: DecisionContext,
    ) -> DecisionId {
        match condition {
            LoopCondition::Expression(expression) => self.controlling(expression, context),
            LoopCondition::Declaration(declaration) => {
                self.type_expressions(&declaration.declared);
                let declarator = &declaration.declarators[0];
                let initialiser = declarator.initialiser.as_ref().expect("the parser demands one");
                let decision = self.controlling(initialiser, context);
                self.decisions.names.add_declarator(&declaration.declared, declarator);
                decision
            }
        }
    }

    fn if_statement(&mut self, statement: &syntax::Statement) -> Statement {
        let syntax::StatementKind::If { condition, then, otherwise } = &statement.kind else {
            unreachable!("called for `if` alone");
        };
        let id = self.next_statement();
        let decision = self.controlling(condition, DecisionContext::If);
        let then = self.scoped(then);
        let otherwise = otherwise.as_ref().map(|otherwise| self.scoped(otherwise));
        self.made(Some(id), statement.header, StatementKind::If { decision, then, otherwise })
    }

    fn loop_statement(&mut self, statement: &syntax::Statement) -> Statement {
        use syntax::StatementKind as Parsed;
        self.loops.push([statement.first as u32, statement.last as u32]);
        self.decisions.names.open();
        let made = match &statement.kind {
            Parsed::While { condition, body } => {
                let id = self.next_statement();
                let decision = self.loop_condition(condition, DecisionContext::While);
                let body = self.scoped(body);
                self.made(Some(id), statement.header, StatementKind::While { decision, body })
            }
            Parsed::DoWhile { body, condition } => {
                let body = self.scoped(body);
                let id = self.next_statement();
                let decision = self.controlling(condition, DecisionContext::DoWhile);
                self.made(Some(id), statement.header, StatementKind::DoWhile { body, decision })
            }
            Parsed::For { init, condition, update, body } => {
                let id = self.next_statement();
                let init = init.as_ref().map(|init| Box::new(self.for_init(init)));
                let decision = condition
                    .as_ref()
                    .map(|condition| self.loop_condition(condition, DecisionContext::For));
                if let Some(update) = update {
                    self.decisions.visit(update, Position::Discarded);
                }
                let body = self.scoped(body);
                self.made(Some(id), statement.header, StatementKind::For { init, decision, body })
            }
            _ => unreachable!("called for loops alone"),
        };
        self.decisions.names.close();
        made
    }

    /// The first part of a `for` header: part of the loop's own statement, so without an id.
    fn for_init(&mut self, init: &syntax::Statement) -> Statement {
        match &init.kind {
            syntax::StatementKind::Declaration(declaration) => {
                self.declaration(declaration);
            }
            syntax::StatementKind::Expression(expression) => {
                self.decisions.visit(expression, Position::Discarded)
            }
            _ => {}
        }
        self.made(None, init.header, StatementKind::Simple)
    }

    fn switch(
        &mut self,
        statement: &syntax::Statement,
        selector: &Expression,
        open: TokenIndex,
        body: &[syntax::Statement],
    ) -> Statement {
        let id = self.next_statement();
        let switch = SwitchId(self.switches.len() as u32 + 1);
        self.decisions.visit(selector, Position::Operand);
        let selected = self.decisions.locate(selector.first, selector.last);
        let text = self.decisions.text(&selected);
        let header = self.span(statement.header.0, statement.header.1);
        self.selectors.push([selector.first as u32, selector.last as u32]);
        self.switches.push(Switch { id: switch, span: header, text, labels: Vec::new() });
        let has_default =
            body.iter().any(|inner| matches!(inner.kind, syntax::StatementKind::Default));
        let implicit = (!has_default).then(|| self.next_mark());
        if let Some(mark) = implicit {
            self.place(open, Placed::ImplicitDefault { mark });
        }
        self.open_switches.push(switch);
        self.decisions.names.open();
        let block = self.block(body);
        self.decisions.names.close();
        self.open_switches.pop();
        if let Some(mark) = implicit {
            let label = Label {
                kind: LabelKind::ImplicitDefault,
                span: header,
                text: "no label matches".to_owned(),
                mark: Some(mark),
            };
            self.switches[switch.0 as usize - 1].labels.push(label);
        }
        self.made(Some(id), statement.header, StatementKind::Switch { switch, body: block })
    }

    fn label(&mut self, statement: &syntax::Statement, kind: LabelKind) -> Statement {
        let Some(switch) = self.open_switches.last().copied() else {
            // The compiler rejects a label outside a switch; nothing can be measured here.
            return self.made(None, statement.header, StatementKind::Empty);
        };
        let mark = self.next_mark();
        self.place(statement.last, Placed::Label { mark });
        let located = self.decisions.locate(statement.first, statement.last);
        let text = self.decisions.text(&located);
        let labels = &mut self.switches[switch.0 as usize - 1].labels;
        labels.push(Label { kind, span: located.span, text, mark: Some(mark) });
        let label = labels.len() as u32 - 1;
        self.made(None, statement.header, StatementKind::Label { switch, label })
    }

    /// Array sizes and layout values of a declared type and its members.
    fn type_expressions(&mut self, declared: &DeclaredType) {
        for value in &declared.layout_values {
            self.decisions
                .constant("a layout value", |decisions| decisions.visit(value, Position::Operand));
        }
        self.decisions.template(&declared.template);
        self.array_sizes(&declared.sizes);
        for member in &declared.members {
            self.type_expressions(&member.declared);
            for declarator in &member.declarators {
                self.array_sizes(&declarator.sizes);
            }
        }
    }

    fn array_sizes(&mut self, sizes: &[Option<Expression>]) {
        for size in sizes.iter().flatten() {
            self.decisions
                .constant("an array size", |decisions| decisions.visit(size, Position::Operand));
        }
    }

    fn declaration(&mut self, declaration: &Declaration) -> Effect {
        let declared = &declaration.declared;
        self.type_expressions(declared);
        self.decisions.names.add_members(declared);
        let mut effect = Effect::Nothing;
        for declarator in &declaration.declarators {
            self.array_sizes(&declarator.sizes);
            if let Some(initialiser) = &declarator.initialiser {
                effect = Effect::Initialises;
                self.initialiser(declared, declarator, initialiser);
            }
            self.decisions.names.add_declarator(declared, declarator);
        }
        effect
    }

    fn initialiser(
        &mut self,
        declared: &DeclaredType,
        declarator: &Declarator,
        initialiser: &Expression,
    ) {
        if declared.layout.iter().any(|name| name == "constant_id") {
            // A literal by rule (GL_KHR_vulkan_glsl, "Specialization Constants"): a default, not an
            // expression.
            return;
        }
        let value = self.decisions.names.declared_type(declared, declarator);
        match self.constant_place(declared, declarator) {
            Some(place) => self
                .decisions
                .constant(place, |decisions| decisions.initialise(initialiser, Some(&value))),
            None => self.decisions.initialise(initialiser, Some(&value)),
        }
    }

    /// The name of the constant-expression context that an initialiser is; none where it may be
    /// computed at run time. A constant inside a function may be, unless a constant expression
    /// needs its value: then it merely is read-only (GLSL 4.60, 4.3.2).
    fn constant_place(
        &self,
        declared: &DeclaredType,
        declarator: &Declarator,
    ) -> Option<&'static str> {
        use vkcert_model::structure::Constness;
        let decisions = &self.decisions;
        if !declared.has("const") || decisions.surroundings != Surroundings::Runtime {
            return None;
        }
        let local = decisions.function.is_some();
        if local && !self.demanded.contains(decisions.names.text(declarator.name)) {
            return None;
        }
        match decisions.names.declared_constness(declared, declarator) {
            Constness::Constant => {
                Some("the initialiser of a `const` variable with a constant value")
            }
            Constness::Specialization => {
                Some("the initialiser of a specialization-constant expression")
            }
            Constness::Runtime if !local => Some("the initialiser of a `const` at file level"),
            Constness::Runtime => None,
        }
    }
}

/// What can happen behind a list of statements.
fn syntax_falls_through(tokens: &[Token], statements: &[syntax::Statement]) -> bool {
    let mut falls = true;
    for statement in statements {
        if matches!(statement.kind, syntax::StatementKind::Case(_) | syntax::StatementKind::Default)
        {
            falls = true;
        }
        falls = falls && statement_falls_through(tokens, statement);
    }
    falls
}

fn statement_falls_through(tokens: &[Token], statement: &syntax::Statement) -> bool {
    use syntax::StatementKind as Parsed;
    let is_true = |expression: &Expression| {
        let mut inner = expression;
        while let ExpressionKind::Parenthesised(next) = &inner.kind {
            inner = next;
        }
        inner.first == inner.last && tokens[inner.first].is("true")
    };
    match &statement.kind {
        Parsed::Block(inner) => syntax_falls_through(tokens, inner),
        Parsed::If { then, otherwise, .. } => {
            statement_falls_through(tokens, then)
                || otherwise
                    .as_ref()
                    .is_none_or(|otherwise| statement_falls_through(tokens, otherwise))
        }
        Parsed::While { condition: LoopCondition::Expression(condition), body }
            if is_true(condition) =>
        {
            breaks(body)
        }
        Parsed::For { condition: None, body, .. } => breaks(body),
        Parsed::For { condition: Some(LoopCondition::Expression(condition)), body, .. }
            if is_true(condition) =>
        {
            breaks(body)
        }
        Parsed::DoWhile { body, condition } => {
            breaks(body)
                || (!is_true(condition)
                    && (statement_falls_through(tokens, body) || continues(body)))
        }
        Parsed::Switch { body, .. } => {
            let has_default = body.iter().any(|inner| matches!(inner.kind, Parsed::Default));
            !has_default || body.iter().any(breaks) || syntax_falls_through(tokens, body)
        }
        Parsed::While { .. }
        | Parsed::For { .. }
        | Parsed::Empty
        | Parsed::Expression(_)
        | Parsed::Declaration(_)
        | Parsed::Case(_)
        | Parsed::Default => true,
        Parsed::Break | Parsed::Continue | Parsed::Return(_) | Parsed::Terminate => false,
    }
}

/// Whether a `break` in a loop's or switch's body leaves it.
fn breaks(statement: &syntax::Statement) -> bool {
    use syntax::StatementKind as Parsed;
    match &statement.kind {
        Parsed::Break => true,
        Parsed::Block(inner) => inner.iter().any(breaks),
        Parsed::If { then, otherwise, .. } => {
            breaks(then) || otherwise.as_deref().is_some_and(breaks)
        }
        _ => false,
    }
}

/// Whether a `continue` in a loop's body leads to its condition.
fn continues(statement: &syntax::Statement) -> bool {
    use syntax::StatementKind as Parsed;
    match &statement.kind {
        Parsed::Continue => true,
        Parsed::Block(inner) => inner.iter().any(continues),
        Parsed::If { then, otherwise, .. } => {
            continues(then) || otherwise.as_deref().is_some_and(continues)
        }
        Parsed::Switch { body, .. } => body.iter().any(continues),
        _ => false,
    }
}
