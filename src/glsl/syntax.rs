//! The untyped syntax tree of a translation unit. Nodes name their tokens by index into the unit's
//! token list.
//!
//! Promises: `first..=last` of a node are exactly the tokens of its text. Does not cover types and
//! names: `decisions`.

/// Index of a token.
pub(crate) type TokenIndex = usize;

#[derive(Debug, Clone)]
pub(crate) struct Expression {
    pub kind: ExpressionKind,
    pub first: TokenIndex,
    pub last: TokenIndex,
}

#[derive(Debug, Clone)]
pub(crate) enum ExpressionKind {
    /// Number, string, `true` or `false`.
    Literal,
    Identifier,
    Parenthesised(Box<Expression>),
    /// Prefix operator; the operator is the node's first token.
    Prefix(Box<Expression>),
    /// `++` or `--` behind the operand.
    Postfix(Box<Expression>),
    /// `operator` is the operator's token.
    Binary {
        operator: TokenIndex,
        left: Box<Expression>,
        right: Box<Expression>,
    },
    /// Any assignment operator.
    Assignment {
        target: Box<Expression>,
        value: Box<Expression>,
    },
    Ternary {
        condition: Box<Expression>,
        then: Box<Expression>,
        otherwise: Box<Expression>,
    },
    Comma {
        first: Box<Expression>,
        second: Box<Expression>,
    },
    /// Function call, constructor (`callee` may be an indexed type name) or method call.
    Call {
        callee: Box<Expression>,
        arguments: Vec<Expression>,
    },
    Index {
        base: Box<Expression>,
        index: Option<Box<Expression>>,
    },
    Field {
        base: Box<Expression>,
        name: TokenIndex,
    },
    /// `{ a, b }`
    List(Vec<Expression>),
    /// A type with arguments in angle brackets, as the callee of a constructor.
    Template(Vec<Expression>),
}

impl Expression {
    /// Calls `see` with every expression directly inside this one, in source order.
    pub(crate) fn each_part<'e>(&'e self, visit_part: &mut dyn FnMut(&'e Expression)) {
        match &self.kind {
            ExpressionKind::Literal | ExpressionKind::Identifier => {}
            ExpressionKind::Parenthesised(inner)
            | ExpressionKind::Prefix(inner)
            | ExpressionKind::Postfix(inner) => {
                visit_part(inner);
            }
            ExpressionKind::Binary { left, right, .. } => {
                [left, right].into_iter().for_each(|part| visit_part(part))
            }
            ExpressionKind::Assignment { target, value } => {
                [target, value].into_iter().for_each(|part| visit_part(part))
            }
            ExpressionKind::Ternary { condition, then, otherwise } => {
                [condition, then, otherwise].into_iter().for_each(|part| visit_part(part));
            }
            ExpressionKind::Comma { first, second } => {
                [first, second].into_iter().for_each(|part| visit_part(part))
            }
            ExpressionKind::Call { callee, arguments } => {
                visit_part(callee);
                arguments.iter().for_each(visit_part);
            }
            ExpressionKind::Index { base, index } => {
                visit_part(base);
                index.iter().for_each(|index| visit_part(index));
            }
            ExpressionKind::Field { base, .. } => visit_part(base),
            ExpressionKind::List(elements) | ExpressionKind::Template(elements) => {
                elements.iter().for_each(visit_part)
            }
        }
    }
}

/// A declared type.
#[derive(Debug, Clone, Default)]
pub(crate) struct DeclaredType {
    /// Token of the type's name; none for an anonymous struct.
    pub name: Option<TokenIndex>,
    /// Qualifier keywords before the type.
    pub qualifiers: Vec<String>,
    /// Names of layout identifiers (`constant_id`, `local_size_x_id` ...).
    pub layout: Vec<String>,
    /// Arguments in angle brackets behind the type name.
    pub template: Vec<Expression>,
    /// Array sizes behind the type name.
    pub sizes: Vec<Option<Expression>>,
    /// Constant expressions in `layout(...)`.
    pub layout_values: Vec<Expression>,
    /// Members of a struct or block that the declaration defines.
    pub members: Vec<Declaration>,
    /// A struct or block body stands here.
    pub has_body: bool,
}

impl DeclaredType {
    pub(crate) fn has_qualifier(&self, qualifier: &str) -> bool {
        self.qualifiers.iter().any(|present| present == qualifier)
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Declarator {
    pub name: TokenIndex,
    pub sizes: Vec<Option<Expression>>,
    pub initialiser: Option<Expression>,
}

#[derive(Debug, Clone)]
pub(crate) struct Declaration {
    pub declared: DeclaredType,
    pub declarators: Vec<Declarator>,
}

#[derive(Debug, Clone)]
pub(crate) struct Statement {
    pub kind: StatementKind,
    pub first: TokenIndex,
    /// Last token of the whole statement.
    pub last: TokenIndex,
    /// First and last token of the header of `if`, loops and `switch`; else the whole statement.
    pub header: (TokenIndex, TokenIndex),
}

impl Statement {
    /// Calls `visit_statement` with every statement directly inside this one; what begins a `for` is no
    /// statement inside it.
    pub(crate) fn each_inner<'s>(&'s self, visit_statement: &mut dyn FnMut(&'s Statement)) {
        match &self.kind {
            StatementKind::Block(inner) | StatementKind::Switch { body: inner, .. } => {
                inner.iter().for_each(visit_statement)
            }
            StatementKind::If { then, otherwise, .. } => {
                visit_statement(then);
                otherwise.iter().for_each(|otherwise| visit_statement(otherwise));
            }
            StatementKind::While { body, .. }
            | StatementKind::DoWhile { body, .. }
            | StatementKind::For { body, .. } => {
                visit_statement(body);
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
}

/// What stands between the parentheses of `while` and in the middle of `for`.
#[derive(Debug, Clone)]
pub(crate) enum LoopCondition {
    Expression(Expression),
    /// `bool b = ...`
    Declaration(Declaration),
}

#[derive(Debug, Clone)]
pub(crate) enum StatementKind {
    Block(Vec<Statement>),
    Empty,
    Expression(Expression),
    Declaration(Declaration),
    If {
        condition: Expression,
        then: Box<Statement>,
        otherwise: Option<Box<Statement>>,
    },
    While {
        condition: LoopCondition,
        body: Box<Statement>,
    },
    DoWhile {
        body: Box<Statement>,
        condition: Expression,
    },
    For {
        init: Option<Box<Statement>>,
        condition: Option<LoopCondition>,
        update: Option<Expression>,
        body: Box<Statement>,
    },
    Switch {
        selector: Expression,
        /// Token of the body's `{`.
        open: TokenIndex,
        body: Vec<Statement>,
    },
    /// `case value:`; the last token is the colon.
    Case(Expression),
    Default,
    Break,
    Continue,
    Return(Option<Expression>),
    Terminate,
}

#[derive(Debug, Clone)]
pub(crate) struct ParameterSyntax {
    pub declared: DeclaredType,
    pub name: Option<TokenIndex>,
    pub sizes: Vec<Option<Expression>>,
}

#[derive(Debug, Clone)]
pub(crate) struct FunctionDefinition {
    pub returns: DeclaredType,
    pub name: TokenIndex,
    pub parameters: Vec<ParameterSyntax>,
    pub first: TokenIndex,
    pub last: TokenIndex,
    /// Tokens of `{` and `}`.
    pub open: TokenIndex,
    pub close: TokenIndex,
    /// The statements, or why they could not be read.
    pub body: Result<Vec<Statement>, ParseError>,
}

/// Text outside the grammar that this parser knows.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub(crate) struct ParseError {
    pub message: String,
    pub token: TokenIndex,
}

#[derive(Debug, Clone)]
pub(crate) enum FileLevelItem {
    Declaration(Declaration),
    Prototype {
        returns: DeclaredType,
        name: TokenIndex,
        parameters: Vec<ParameterSyntax>,
    },
    Function(FunctionDefinition),
    /// A piece at file level that could not be read, other than a function body.
    Unread {
        first: TokenIndex,
        last: TokenIndex,
        error: ParseError,
    },
}
