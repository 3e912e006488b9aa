//! The places of a text that mutation operators look at.
//!
//! Knows: the syntax tree, and which names constant expressions need. Promises: each expression
//! whose value is used is seen once, with what it is used for; a place where a constant is demanded
//! is told from one that is evaluated at run time.
//! Does not cover: what is changed there (`operators`), types.

use crate::preprocessor::TranslationUnit;
use crate::syntax::*;
use crate::token::FrameId;
use std::collections::{BTreeMap, BTreeSet};

/// What the value of a Boolean expression is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BooleanUse {
    /// It is not known to be Boolean.
    Value,
    /// A decision of several conditions.
    Decision,
    /// A condition among others.
    Condition,
    /// The only condition of a decision.
    OnlyCondition,
}

/// What else is known of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueUse {
    Other,
    /// The index of an array or vector.
    Index,
    /// What the condition of a `for` compares with.
    LoopBound,
    /// The initial value of a variable of a `for`.
    LoopStart,
}

/// An expression whose value is used.
#[derive(Clone, Copy)]
pub(super) struct ExpressionNode<'e> {
    pub unit: &'e TranslationUnit,
    pub expression: &'e Expression,
    pub boolean: BooleanUse,
    pub value: ValueUse,
}

impl ExpressionNode<'_> {
    pub(super) fn text(&self, token: TokenIndex) -> &str {
        &self.unit.tokens[token].text
    }

    /// All of its tokens.
    pub(super) fn range(&self) -> (TokenIndex, TokenIndex) {
        range_of(self.expression)
    }
}

pub(super) fn range_of(expression: &Expression) -> (TokenIndex, TokenIndex) {
    (expression.first, expression.last)
}

/// A statement, and what stands behind it in its block.
#[derive(Clone, Copy)]
pub(super) struct StatementNode<'e> {
    pub unit: &'e TranslationUnit,
    pub statement: &'e Statement,
    pub next: Option<&'e Statement>,
    /// It stands in the outermost block of a function that returns nothing.
    pub may_return: bool,
    /// Other statements can stand beside it.
    pub in_block: bool,
}

/// A declaration at file level.
#[derive(Clone, Copy)]
pub(super) struct DeclarationNode<'e> {
    pub unit: &'e TranslationUnit,
    /// All that stands at file level.
    pub items: &'e [FileLevelItem],
    pub declaration: &'e Declaration,
}

impl<'e> DeclarationNode<'e> {
    pub(super) fn text(&self, token: TokenIndex) -> &'e str {
        &self.unit.tokens[token].text
    }
}

/// How a place is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Evaluation {
    /// At run time; the whole of the outermost constant expression around it, where it is one.
    Runtime { first: TokenIndex, last: TokenIndex },
    /// A constant is demanded.
    Constant,
}

/// Takes what is found.
pub(super) trait SiteVisitor<'e> {
    fn expression(&mut self, node: ExpressionNode<'e>, evaluation: Evaluation);
    fn statement(&mut self, node: StatementNode<'e>);
    fn declaration(&mut self, node: DeclarationNode<'e>);
}

/// Calls `visitor` with all places of a unit, outer before inner, in the order of the text.
pub(super) fn visit_sites<'e>(
    unit: &'e TranslationUnit,
    items: &'e [FileLevelItem],
    visitor: &mut dyn SiteVisitor<'e>,
) {
    let mut walk = SiteWalk {
        unit,
        demanded: crate::demand::demanded_names(&unit.tokens, items),
        written_parameters: written_parameters(unit, items),
        constants: BTreeSet::new(),
        constant: false,
        bounds_loop: false,
        enclosing: None,
        visitor,
    };
    for item in items {
        if let FileLevelItem::Declaration(declaration) = item {
            walk.visitor.declaration(DeclarationNode { unit, items, declaration });
        }
        walk.visit_item(item);
    }
}

/// Of each function of the text, which of its parameters it writes.
fn written_parameters<'e>(
    unit: &'e TranslationUnit,
    items: &'e [FileLevelItem],
) -> BTreeMap<&'e str, Vec<bool>> {
    let mut written: BTreeMap<&str, Vec<bool>> = BTreeMap::new();
    for item in items {
        let (name, parameters) = match item {
            FileLevelItem::Function(FunctionDefinition { name, parameters, .. })
            | FileLevelItem::Prototype { name, parameters, .. } => (*name, parameters),
            FileLevelItem::Declaration(_) | FileLevelItem::Unread { .. } => continue,
        };
        let row = written.entry(&unit.tokens[name].text).or_default();
        row.resize(row.len().max(parameters.len()), false);
        for (place, parameter) in parameters.iter().enumerate() {
            let declared = &parameter.declared;
            row[place] |= declared.has_qualifier("out") || declared.has_qualifier("inout");
        }
    }
    written
}

/// Built-in functions that write arguments, with the first one that they write (GLSL 4.60, 8.3 and
/// 8.8); those behind it they write as well.
const WRITING_FUNCTIONS: [(&str, usize); 6] = [
    ("modf", 1),
    ("frexp", 1),
    ("uaddCarry", 2),
    ("usubBorrow", 2),
    ("umulExtended", 2),
    ("imulExtended", 2),
];

/// Whether a built-in function takes a place of memory first: atomic operations, and the length of
/// nothing else.
fn takes_memory(name: &str) -> bool {
    name.starts_with("atomic") || name.starts_with("coopMat")
}

/// Whether a name is a built-in constant for scopes and memory orders (GL_KHR_memory_scope_semantics).
pub(super) fn is_memory_constant(name: &str) -> bool {
    ["gl_Scope", "gl_Semantics", "gl_StorageSemantics"].iter().any(|start| name.starts_with(start))
}

struct SiteWalk<'e, 'v> {
    unit: &'e TranslationUnit,
    demanded: BTreeSet<&'e str>,
    written_parameters: BTreeMap<&'e str, Vec<bool>>,
    /// Names of `const` variables so far, in whatever scope.
    constants: BTreeSet<&'e str>,
    /// A constant is demanded here.
    constant: bool,
    /// The condition of a loop is visited.
    bounds_loop: bool,
    /// The outermost expression of literals around what is visited.
    enclosing: Option<(TokenIndex, TokenIndex)>,
    visitor: &'v mut dyn SiteVisitor<'e>,
}

impl<'e> SiteWalk<'e, '_> {
    fn text(&self, token: TokenIndex) -> &'e str {
        &self.unit.tokens[token].text
    }

    fn in_constant(&mut self, constant: bool, visit: impl FnOnce(&mut Self)) {
        let outer = self.constant;
        self.constant |= constant;
        visit(self);
        self.constant = outer;
    }

    fn visit_item(&mut self, item: &'e FileLevelItem) {
        match item {
            FileLevelItem::Declaration(declaration) => {
                self.visit_declaration(declaration, true, ValueUse::Other);
            }
            FileLevelItem::Function(function) => {
                self.visit_type(&function.returns);
                self.visit_parameters(&function.parameters);
                if let Ok(body) = &function.body {
                    let returns = function.returns.name.map(|name| self.text(name));
                    self.visit_block(body, returns == Some("void"), true);
                }
            }
            FileLevelItem::Prototype { returns, parameters, .. } => {
                self.visit_type(returns);
                self.visit_parameters(parameters);
            }
            FileLevelItem::Unread { .. } => {}
        }
    }

    fn visit_parameters(&mut self, parameters: &'e [ParameterSyntax]) {
        for parameter in parameters {
            self.visit_type(&parameter.declared);
            self.visit_sizes(&parameter.sizes);
        }
    }

    /// Layout values and sizes of arrays, which are constants.
    fn visit_type(&mut self, declared: &'e DeclaredType) {
        declared.template.iter().for_each(|value| self.visit_constant(value));
        for value in &declared.layout_values {
            // What the host names resources by is no part of what a kernel computes; a macro that
            // stands there is a constant.
            let names_size = value.first.checked_sub(2).is_some_and(|name| {
                self.text(name).starts_with("local_size_") && !self.text(name).ends_with("_id")
            });
            let is_macro = self.unit.tokens[value.first].origin != FrameId::FILE;
            if names_size || is_macro {
                self.visit_constant(value);
            }
        }
        self.visit_sizes(&declared.sizes);
        for member in &declared.members {
            self.visit_type(&member.declared);
            member.declarators.iter().for_each(|declarator| self.visit_sizes(&declarator.sizes));
        }
    }

    fn visit_sizes(&mut self, sizes: &'e [Option<Expression>]) {
        sizes.iter().flatten().for_each(|size| self.visit_constant(size));
    }

    fn visit_constant(&mut self, expression: &'e Expression) {
        self.in_constant(true, |walk| walk.visit_value(expression, ValueUse::Other));
    }

    /// A constant of the whole file, and one that constant expressions need, is evaluated by the
    /// compiler.
    fn visit_declaration(&mut self, declaration: &'e Declaration, of_file: bool, value: ValueUse) {
        let declared = &declaration.declared;
        self.visit_type(declared);
        let is_default = declared.layout.iter().any(|name| name == "constant_id");
        for declarator in &declaration.declarators {
            self.visit_sizes(&declarator.sizes);
            if declared.has_qualifier("const") {
                self.constants.insert(self.text(declarator.name));
            }
            let Some(initialiser) = &declarator.initialiser else { continue };
            let is_demanded = self.demanded.contains(self.text(declarator.name));
            let constant =
                is_default || declared.has_qualifier("const") && (of_file || is_demanded);
            self.in_constant(constant, |walk| walk.visit_value(initialiser, value));
        }
    }

    fn visit_block(&mut self, statements: &'e [Statement], may_return: bool, in_block: bool) {
        for (index, statement) in statements.iter().enumerate() {
            let (unit, next) = (self.unit, statements.get(index + 1));
            let node = StatementNode { unit, statement, next, may_return, in_block };
            self.visitor.statement(node);
            self.visit_statement(statement);
        }
    }

    /// A statement that is no block of its own.
    fn visit_inner(&mut self, statement: &'e Statement) {
        match &statement.kind {
            StatementKind::Block(_) => self.visit_statement(statement),
            _ => self.visit_block(std::slice::from_ref(statement), false, false),
        }
    }

    fn visit_statement(&mut self, statement: &'e Statement) {
        match &statement.kind {
            StatementKind::Block(body) => self.visit_block(body, false, true),
            StatementKind::Expression(expression) => self.visit_effect(expression),
            StatementKind::Declaration(declaration) => {
                self.visit_declaration(declaration, false, ValueUse::Other);
            }
            StatementKind::If { condition, then, otherwise } => {
                self.visit_decision(condition);
                self.visit_inner(then);
                otherwise.iter().for_each(|otherwise| self.visit_inner(otherwise));
            }
            StatementKind::While { condition, body } => {
                self.visit_loop_condition(condition);
                self.visit_inner(body);
            }
            StatementKind::DoWhile { body, condition } => {
                self.visit_inner(body);
                self.visit_decision(condition);
            }
            StatementKind::For { init, condition, update, body } => {
                match init.as_deref().map(|init| &init.kind) {
                    Some(StatementKind::Declaration(declaration)) => {
                        self.visit_declaration(declaration, false, ValueUse::LoopStart);
                    }
                    Some(StatementKind::Expression(expression)) => self.visit_effect(expression),
                    _ => {}
                }
                if let Some(condition) = condition {
                    self.visit_loop_condition(condition);
                }
                update.iter().for_each(|update| self.visit_effect(update));
                self.visit_inner(body);
            }
            StatementKind::Switch { selector, body, .. } => {
                self.visit_value(selector, ValueUse::Other);
                // Statements between labels cannot be looked at as blocks: a declaration in one is
                // known in the next.
                self.visit_block(body, false, true);
            }
            StatementKind::Case(value) => self.visit_constant(value),
            StatementKind::Return(Some(value)) => self.visit_value(value, ValueUse::Other),
            StatementKind::Return(None)
            | StatementKind::Empty
            | StatementKind::Default
            | StatementKind::Break
            | StatementKind::Continue
            | StatementKind::Terminate => {}
        }
    }

    fn visit_loop_condition(&mut self, condition: &'e LoopCondition) {
        match condition {
            LoopCondition::Expression(condition) => {
                self.bounds_loop = true;
                self.visit_decision(condition);
                self.bounds_loop = false;
            }
            LoopCondition::Declaration(declaration) => {
                self.visit_type(&declaration.declared);
                self.bounds_loop = true;
                let declarators = declaration.declarators.iter();
                declarators
                    .filter_map(|declarator| declarator.initialiser.as_ref())
                    .for_each(|initialiser| self.visit_decision(initialiser));
                self.bounds_loop = false;
            }
        }
    }

    fn visit_decision(&mut self, decision: &'e Expression) {
        let boolean = match self.is_composed(decision) {
            true => BooleanUse::Decision,
            false => BooleanUse::OnlyCondition,
        };
        self.visit_boolean(decision, boolean);
    }

    /// Whether an expression has a Boolean operator at its top.
    fn is_composed(&self, expression: &Expression) -> bool {
        match &expression.kind {
            ExpressionKind::Parenthesised(inner) => self.is_composed(inner),
            ExpressionKind::Binary { operator, .. } => is_logical(self.text(*operator)),
            ExpressionKind::Prefix(operand) => {
                self.text(expression.first) == "!" && self.is_composed(operand)
            }
            _ => false,
        }
    }

    fn visit_boolean(&mut self, expression: &'e Expression, boolean: BooleanUse) {
        match &expression.kind {
            ExpressionKind::Parenthesised(inner) => self.visit_boolean(inner, boolean),
            ExpressionKind::Binary { operator, left, right }
                if is_logical(self.text(*operator)) =>
            {
                self.tell(expression, boolean, ValueUse::Other);
                self.visit_boolean(left, operand_use(left, self));
                self.visit_boolean(right, operand_use(right, self));
            }
            ExpressionKind::Prefix(operand)
                if self.text(expression.first) == "!" && self.is_composed(expression) =>
            {
                self.tell(expression, boolean, ValueUse::Other);
                self.visit_boolean(operand, BooleanUse::Value);
            }
            _ => self.visit_used(expression, boolean, ValueUse::Other),
        }
    }

    /// An expression whose value is used.
    fn visit_value(&mut self, expression: &'e Expression, value: ValueUse) {
        if self.is_composed(expression) {
            self.visit_boolean(expression, BooleanUse::Decision);
        } else {
            self.visit_used(expression, BooleanUse::Value, value);
        }
    }

    /// An expression that is evaluated for what it does.
    fn visit_effect(&mut self, expression: &'e Expression) {
        match &expression.kind {
            ExpressionKind::Comma { first, second } => {
                self.visit_effect(first);
                self.visit_effect(second);
            }
            ExpressionKind::Call { callee, arguments } => {
                self.tell(expression, BooleanUse::Value, ValueUse::Other);
                self.visit_call(callee, arguments);
            }
            _ => self.visit_value(expression, ValueUse::Other),
        }
    }

    fn tell(&mut self, expression: &'e Expression, boolean: BooleanUse, value: ValueUse) {
        let evaluation = match self.constant {
            true => Evaluation::Constant,
            false => {
                let (first, last) = self.enclosing.unwrap_or((expression.first, expression.last));
                Evaluation::Runtime { first, last }
            }
        };
        let node = ExpressionNode { unit: self.unit, expression, boolean, value };
        self.visitor.expression(node, evaluation);
    }

    fn visit_used(&mut self, expression: &'e Expression, boolean: BooleanUse, value: ValueUse) {
        if let ExpressionKind::Parenthesised(inner) = &expression.kind {
            return match self.is_composed(inner) {
                true => self.visit_boolean(inner, BooleanUse::Decision),
                false => self.visit_used(inner, boolean, value),
            };
        }
        let is_outermost =
            self.enclosing.is_none() && is_constant(expression, self.unit, &BTreeSet::new());
        if is_outermost {
            self.enclosing = Some((expression.first, expression.last));
        }
        self.visit_parts(expression, boolean, value);
        if is_outermost {
            self.enclosing = None;
        }
    }

    fn visit_parts(&mut self, expression: &'e Expression, boolean: BooleanUse, value: ValueUse) {
        match &expression.kind {
            ExpressionKind::Literal | ExpressionKind::Identifier => {
                self.tell(expression, boolean, value);
            }
            ExpressionKind::Parenthesised(inner) => self.visit_used(inner, boolean, value),
            ExpressionKind::Prefix(operand) => {
                self.tell(expression, boolean, value);
                match self.text(expression.first) {
                    "++" | "--" => self.visit_place(operand),
                    "!" => self.visit_value(operand, ValueUse::Other),
                    _ => self.visit_value(operand, value),
                }
            }
            ExpressionKind::Postfix(operand) => {
                self.tell(expression, boolean, value);
                self.visit_place(operand);
            }
            ExpressionKind::Binary { operator, left, right } => {
                self.tell(expression, boolean, value);
                let bounds_loop = self.bounds_loop
                    && boolean != BooleanUse::Value
                    && matches!(self.text(*operator), "<" | "<=" | ">" | ">=" | "!=");
                let bound = if bounds_loop { ValueUse::LoopBound } else { ValueUse::Other };
                self.visit_value(left, ValueUse::Other);
                self.visit_value(right, bound);
            }
            ExpressionKind::Assignment { target, value: assigned } => {
                self.tell(expression, boolean, value);
                self.visit_place(target);
                self.visit_value(assigned, ValueUse::Other);
            }
            ExpressionKind::Ternary { condition, then, otherwise } => {
                self.visit_decision(condition);
                self.visit_value(then, value);
                self.visit_value(otherwise, value);
            }
            ExpressionKind::Comma { first, second } => {
                self.visit_effect(first);
                self.visit_value(second, value);
            }
            ExpressionKind::Call { callee, arguments } => {
                self.tell(expression, boolean, value);
                self.visit_call(callee, arguments);
            }
            ExpressionKind::Index { .. } | ExpressionKind::Field { .. } => {
                self.tell(expression, boolean, value);
                self.visit_place(expression);
            }
            ExpressionKind::List(elements) => {
                elements.iter().for_each(|element| self.visit_value(element, ValueUse::Other));
            }
            ExpressionKind::Template(_) => {}
        }
    }

    fn visit_call(&mut self, callee: &'e Expression, arguments: &'e [Expression]) {
        let name = match &callee.kind {
            ExpressionKind::Identifier => self.text(callee.first),
            ExpressionKind::Field { base, .. } => {
                self.visit_place(base);
                ""
            }
            _ => "",
        };
        let first_constant = self.first_constant_argument(name, arguments);
        let first_written = WRITING_FUNCTIONS.iter().find(|(writer, _)| *writer == name);
        for (place, argument) in arguments.iter().enumerate() {
            let is_written = match self.written_parameters.get(name) {
                Some(written) => written.get(place).copied().unwrap_or(false),
                None => {
                    place == 0 && takes_memory(name)
                        || first_written.is_some_and(|(_, first)| place >= *first)
                }
            };
            match is_written {
                true => self.visit_place(argument),
                false if place >= first_constant => self.visit_constant(argument),
                false => self.visit_value(argument, ValueUse::Other),
            }
        }
    }

    /// The first of the scopes and memory orders that a built-in function takes as constants: the
    /// compiler relies on them, and crashes where one is none.
    fn first_constant_argument(&self, name: &str, arguments: &[Expression]) -> usize {
        if matches!(name, "controlBarrier" | "memoryBarrier") {
            return 0;
        }
        let values = match name {
            "atomicLoad" => Some(1),
            "atomicCompSwap" => Some(3),
            _ if name.starts_with("atomic") => Some(2),
            _ => None,
        };
        // How many values an operation on an image takes depends on the type of that.
        let names_scope = |argument: &Expression| {
            let tokens = &self.unit.tokens[argument.first..=argument.last];
            tokens.iter().any(|token| is_memory_constant(&token.text))
        };
        let named = || arguments.iter().position(names_scope);
        values.or_else(named).unwrap_or(arguments.len())
    }

    /// What names a place of memory: the indices in it are values, and nothing else of it.
    fn visit_place(&mut self, place: &'e Expression) {
        match &place.kind {
            ExpressionKind::Parenthesised(inner) => self.visit_place(inner),
            ExpressionKind::Field { base, .. } => self.visit_place(base),
            ExpressionKind::Index { base, index } => {
                self.visit_place(base);
                if let Some(index) = index {
                    // The compiler holds a constant index against the size of the array.
                    let is_checked = is_constant(index, self.unit, &self.constants);
                    self.in_constant(is_checked, |walk| walk.visit_value(index, ValueUse::Index));
                }
            }
            ExpressionKind::Literal | ExpressionKind::Identifier => {}
            _ => self.visit_value(place, ValueUse::Other),
        }
    }
}

fn operand_use(operand: &Expression, walk: &SiteWalk<'_, '_>) -> BooleanUse {
    if walk.is_composed(operand) { BooleanUse::Value } else { BooleanUse::Condition }
}

pub(super) fn is_logical(operator: &str) -> bool {
    matches!(operator, "&&" | "||" | "^^")
}

/// Whether an expression has literals, these names and operators alone, with constructors of built-in
/// types: the compiler may compute it in another way than a kernel does.
fn is_constant(
    expression: &Expression,
    unit: &TranslationUnit,
    constants: &BTreeSet<&str>,
) -> bool {
    let mut of_constants = match &expression.kind {
        ExpressionKind::Identifier => {
            return constants.contains(&*unit.tokens[expression.first].text);
        }
        ExpressionKind::Assignment { .. }
        | ExpressionKind::Postfix(_)
        | ExpressionKind::Index { .. }
        | ExpressionKind::Field { .. }
        | ExpressionKind::List(_)
        | ExpressionKind::Template(_) => return false,
        ExpressionKind::Call { callee, arguments } => {
            let is_constructor = matches!(callee.kind, ExpressionKind::Identifier)
                && crate::names::is_pure_built_in(&unit.tokens[callee.first].text);
            return is_constructor
                && arguments.iter().all(|argument| is_constant(argument, unit, constants));
        }
        ExpressionKind::Literal
        | ExpressionKind::Parenthesised(_)
        | ExpressionKind::Prefix(_)
        | ExpressionKind::Binary { .. }
        | ExpressionKind::Ternary { .. }
        | ExpressionKind::Comma { .. } => true,
    };
    expression.each_part(&mut |part| of_constants &= is_constant(part, unit, constants));
    of_constants
}
