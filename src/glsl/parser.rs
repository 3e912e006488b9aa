//! Recursive-descent parser for GLSL without types (GLSL 4.60, chapter 9, and the extensions'
//! grammar additions).
//!
//! Knows: the tokens alone. A name is taken for a type where only a declaration can continue with
//! what follows (`name name`, `name[...] name`), so unknown and user-defined types need no table.
//! Promises: linear time; nesting beyond [`DEPTH_LIMIT`] is an error, never a stack overflow; an
//! error in a function body costs that function alone, an error at file level the text up to the
//! next `;` or `}`.

use super::syntax::*;
use super::token::{Token, TokenKind};

/// Deepest nesting of statements and expressions, together.
pub(crate) const DEPTH_LIMIT: u32 = 1_500;

/// Longest chain of operators of one expression (the tree is as deep).
const CHAIN_LIMIT: u32 = 4_000;

/// Qualifiers that stand by themselves.
const QUALIFIERS: [&str; 42] = [
    "const",
    "in",
    "out",
    "inout",
    "uniform",
    "buffer",
    "shared",
    "attribute",
    "varying",
    "centroid",
    "flat",
    "smooth",
    "noperspective",
    "patch",
    "sample",
    "invariant",
    "precise",
    "highp",
    "mediump",
    "lowp",
    "coherent",
    "volatile",
    "restrict",
    "readonly",
    "writeonly",
    "subroutine",
    "nonuniformEXT",
    "devicecoherent",
    "queuefamilycoherent",
    "workgroupcoherent",
    "subgroupcoherent",
    "shadercallcoherent",
    "nonprivate",
    "nontemporal",
    "taskPayloadSharedEXT",
    "rayPayloadEXT",
    "rayPayloadInEXT",
    "hitAttributeEXT",
    "callableDataEXT",
    "callableDataInEXT",
    "spirv_by_reference",
    "spirv_literal",
];

/// Qualifiers with a parenthesised list.
const LISTED_QUALIFIERS: [&str; 7] = [
    "spirv_instruction",
    "spirv_execution_mode",
    "spirv_execution_mode_id",
    "spirv_storage_class",
    "spirv_decorate",
    "spirv_decorate_id",
    "spirv_decorate_string",
];

/// Types with arguments in angle brackets (GL_KHR_cooperative_matrix, GL_NV_cooperative_matrix*,
/// tensors).
const TEMPLATES: [&str; 8] = [
    "coopmat",
    "coopvecNV",
    "fcoopmatNV",
    "icoopmatNV",
    "ucoopmatNV",
    "tensorLayoutNV",
    "tensorViewNV",
    "tensorARM",
];

const ASSIGNMENTS: [&str; 11] = ["=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=", "|="];

/// Statements that end the invocation (GLSL 4.60, 6.4, and GL_EXT_terminate_invocation,
/// GL_EXT_demote ..., ray tracing).
const TERMINATORS: [&str; 4] =
    ["discard", "terminateInvocation", "ignoreIntersectionEXT", "terminateRayEXT"];

/// Precedence of a binary operator (GLSL 4.60, 5.1), weakest 1.
fn precedence(operator: &str) -> Option<u8> {
    Some(match operator {
        "||" => 1,
        "^^" => 2,
        "&&" => 3,
        "|" => 4,
        "^" => 5,
        "&" => 6,
        "==" | "!=" => 7,
        "<" | ">" | "<=" | ">=" => 8,
        "<<" | ">>" => 9,
        "+" | "-" => 10,
        "*" | "/" | "%" => 11,
        _ => return None,
    })
}

type Parsed<T> = Result<T, ParseError>;

/// Parses a whole translation unit.
pub(crate) fn parse(tokens: &[Token]) -> Vec<Item> {
    let mut parser = Parser { tokens, behind: brackets(tokens), at: 0, depth: 0 };
    let mut items = Vec::new();
    while parser.at < tokens.len() {
        let start = parser.at;
        match parser.item() {
            Ok(parsed) => items.extend(parsed),
            Err(error) => {
                parser.at = start;
                parser.depth = 0;
                parser.recover();
                items.push(Item::Unread { first: start, last: parser.at - 1, error });
            }
        }
    }
    items
}

/// For each opening bracket the token behind the one that closes it; 0 where none does, and for
/// every other token. Computed once, so that looking over brackets costs the same however much
/// stands between them.
fn brackets(tokens: &[Token]) -> Vec<TokenIndex> {
    let mut behind = vec![0; tokens.len()];
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match &*token.text {
            "(" | "[" | "{" => open.push(at),
            ")" | "]" | "}" => {
                if let Some(opening) = open.pop() {
                    behind[opening] = at + 1;
                }
            }
            _ => {}
        }
    }
    behind
}

struct Parser<'a> {
    tokens: &'a [Token],
    /// See [`brackets`].
    behind: Vec<TokenIndex>,
    at: TokenIndex,
    depth: u32,
}

impl Parser<'_> {
    fn text(&self, at: TokenIndex) -> &str {
        self.tokens.get(at).map_or("", |token| &*token.text)
    }

    fn peek(&self) -> &str {
        self.text(self.at)
    }

    fn is(&self, text: &str) -> bool {
        self.peek() == text && self.at < self.tokens.len()
    }

    fn is_name(&self, at: TokenIndex) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Identifier)
    }

    fn accept(&mut self, text: &str) -> bool {
        let found = self.is(text);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, text: &str) -> Parsed<TokenIndex> {
        if self.accept(text) {
            Ok(self.at - 1)
        } else {
            Err(self.error(&format!("`{text}` is expected")))
        }
    }

    fn name(&mut self) -> Parsed<TokenIndex> {
        if !self.is_name(self.at) {
            return Err(self.error("a name is expected"));
        }
        self.at += 1;
        Ok(self.at - 1)
    }

    fn error(&self, message: &str) -> ParseError {
        let found = if self.at < self.tokens.len() { self.peek() } else { "the end of the text" };
        ParseError {
            message: format!("{message}, found `{found}`"),
            token: self.at.min(self.tokens.len().max(1) - 1),
        }
    }

    fn enter(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(ParseError {
                message: format!("nested more than {DEPTH_LIMIT} deep"),
                token: self.at,
            });
        }
        Ok(())
    }

    /// The token behind the bracket that closes the one at `open`.
    fn behind_brackets(&self, open: TokenIndex) -> Option<TokenIndex> {
        self.behind.get(open).copied().filter(|behind| *behind > 0)
    }

    /// The token behind the `>` that ends the template arguments whose `<` is at `open`.
    /// Parentheses hide a `>`.
    fn behind_template(&self, open: TokenIndex) -> Option<TokenIndex> {
        let mut at = open + 1;
        while at < self.tokens.len() {
            match self.text(at) {
                ">" => return Some(at + 1),
                ";" | "{" | "}" | ")" => return None,
                "(" | "[" => at = self.behind_brackets(at)?,
                _ => at += 1,
            }
        }
        None
    }

    /// Steps behind the next `;` or braced group.
    fn recover(&mut self) {
        while self.at < self.tokens.len() {
            match self.peek() {
                ";" => {
                    self.at += 1;
                    return;
                }
                "{" => {
                    self.at = self.behind_brackets(self.at).unwrap_or(self.tokens.len());
                    return;
                }
                _ => self.at += 1,
            }
        }
    }

    fn attributes(&mut self) {
        while self.is("[") && self.text(self.at + 1) == "[" {
            match self.behind_brackets(self.at) {
                Some(behind) => self.at = behind,
                None => return,
            }
        }
    }

    fn item(&mut self) -> Parsed<Option<Item>> {
        self.attributes();
        if self.accept(";") {
            return Ok(None);
        }
        if self.is("precision") {
            self.recover();
            return Ok(None);
        }
        let first = self.at;
        let declared = self.declared_type()?;
        if self.is_name(self.at) && self.text(self.at + 1) == "(" {
            return self.function(first, declared).map(Some);
        }
        let declarators = self.declarators()?;
        Ok(Some(Item::Declaration(Declaration { declared, declarators })))
    }

    fn function(&mut self, first: TokenIndex, returns: DeclaredType) -> Parsed<Item> {
        let name = self.name()?;
        let parameters = self.parameters()?;
        self.attributes();
        if self.accept(";") {
            return Ok(Item::Prototype { returns, name, parameters });
        }
        let open = self.expect("{")?;
        let behind =
            self.behind_brackets(open).ok_or_else(|| self.error("the function has no end"))?;
        let body = self.statements().and_then(|body| {
            if self.at == behind - 1 { Ok(body) } else { Err(self.error("`}` is expected")) }
        });
        self.at = behind;
        self.depth = 0;
        Ok(Item::Function(FunctionDefinition {
            returns,
            name,
            parameters,
            first,
            last: behind - 1,
            open,
            close: behind - 1,
            body,
        }))
    }

    fn parameters(&mut self) -> Parsed<Vec<Parameter>> {
        self.expect("(")?;
        let mut parameters = Vec::new();
        if self.is("void") && self.text(self.at + 1) == ")" {
            self.at += 1;
        }
        while !self.accept(")") {
            self.attributes();
            let declared = self.declared_type()?;
            let name = if self.is_name(self.at) { Some(self.name()?) } else { None };
            let sizes = self.sizes()?;
            parameters.push(Parameter { declared, name, sizes });
            if !self.is(")") {
                self.expect(",")?;
            }
        }
        Ok(parameters)
    }

    /// Qualifiers, then a type; the type may be missing (`layout(...) in;`, `invariant x;`).
    fn declared_type(&mut self) -> Parsed<DeclaredType> {
        let mut declared = DeclaredType::default();
        loop {
            self.attributes();
            if self.is("layout") {
                self.layout(&mut declared)?;
            } else if LISTED_QUALIFIERS.contains(&self.peek())
                || (self.is("subroutine") && self.text(self.at + 1) == "(")
            {
                declared.qualifiers.push(self.peek().to_owned());
                self.at = self
                    .behind_brackets(self.at + 1)
                    .ok_or_else(|| self.error("`)` is expected"))?;
            } else if QUALIFIERS.contains(&self.peek()) {
                declared.qualifiers.push(self.peek().to_owned());
                self.at += 1;
            } else {
                break;
            }
        }
        if self.accept("struct") {
            if self.is_name(self.at) {
                declared.name = Some(self.name()?);
            }
            self.members(&mut declared)?;
        } else if self.is("spirv_type") && self.text(self.at + 1) == "(" {
            declared.name = Some(self.at);
            self.at =
                self.behind_brackets(self.at + 1).ok_or_else(|| self.error("`)` is expected"))?;
        } else if self.is_name(self.at) {
            declared.name = Some(self.name()?);
            declared.template = self.template_arguments()?;
            if self.is("{") {
                self.members(&mut declared)?;
                return Ok(declared);
            }
        }
        declared.sizes = self.sizes()?;
        Ok(declared)
    }

    /// Arguments in angle brackets, where the name just read takes some: types and constant
    /// expressions.
    fn template_arguments(&mut self) -> Parsed<Vec<Expression>> {
        let mut arguments = Vec::new();
        if !TEMPLATES.contains(&self.text(self.at - 1)) || !self.accept("<") {
            return Ok(arguments);
        }
        while !self.accept(">") {
            arguments.push(self.prefix()?);
            if !self.is(">") {
                self.expect(",")?;
            }
        }
        Ok(arguments)
    }

    fn layout(&mut self, declared: &mut DeclaredType) -> Parsed<()> {
        self.expect("layout")?;
        self.expect("(")?;
        while !self.accept(")") {
            let name = self.name()?;
            declared.layout.push(self.text(name).to_owned());
            if self.accept("=") {
                declared.layout_values.push(self.ternary()?);
            }
            if !self.is(")") {
                self.expect(",")?;
            }
        }
        Ok(())
    }

    fn members(&mut self, declared: &mut DeclaredType) -> Parsed<()> {
        self.enter()?;
        declared.has_body = true;
        self.expect("{")?;
        while !self.accept("}") {
            let member = self.declared_type()?;
            let declarators = self.declarators()?;
            declared.members.push(Declaration { declared: member, declarators });
        }
        self.depth -= 1;
        Ok(())
    }

    fn sizes(&mut self) -> Parsed<Vec<Option<Expression>>> {
        let mut sizes = Vec::new();
        while self.is("[") && self.text(self.at + 1) != "[" {
            self.at += 1;
            sizes.push(if self.is("]") { None } else { Some(self.expression()?) });
            self.expect("]")?;
        }
        Ok(sizes)
    }

    /// Declared names up to and including the `;`.
    fn declarators(&mut self) -> Parsed<Vec<Declarator>> {
        let mut declarators = Vec::new();
        while !self.accept(";") {
            let name = self.name()?;
            let sizes = self.sizes()?;
            self.attributes();
            let initialiser = if self.accept("=") { Some(self.initialiser()?) } else { None };
            declarators.push(Declarator { name, sizes, initialiser });
            if !self.is(";") {
                self.expect(",")?;
            }
        }
        Ok(declarators)
    }

    fn initialiser(&mut self) -> Parsed<Expression> {
        if !self.is("{") {
            return self.assignment();
        }
        self.enter()?;
        let first = self.at;
        self.at += 1;
        let mut elements = Vec::new();
        while !self.is("}") {
            elements.push(self.initialiser()?);
            if !self.is("}") {
                self.expect(",")?;
            }
        }
        self.at += 1;
        self.depth -= 1;
        Ok(self.node(ExpressionKind::List(elements), first))
    }

    /// Statements up to a `}` that is not theirs.
    fn statements(&mut self) -> Parsed<Vec<Statement>> {
        let mut statements = Vec::new();
        while self.at < self.tokens.len() && !self.is("}") {
            statements.push(self.statement()?);
        }
        Ok(statements)
    }

    fn statement(&mut self) -> Parsed<Statement> {
        self.enter()?;
        self.attributes();
        let first = self.at;
        let parsed = match self.peek() {
            "{" => {
                self.at += 1;
                let body = self.statements()?;
                self.expect("}")?;
                self.plain(first, StatementKind::Block(body))
            }
            ";" => {
                self.at += 1;
                self.plain(first, StatementKind::Empty)
            }
            "if" => self.if_statement(first)?,
            "while" => self.while_statement(first)?,
            "do" => self.do_statement(first)?,
            "for" => self.for_statement(first)?,
            "switch" => self.switch_statement(first)?,
            "case" => {
                self.at += 1;
                let value = self.expression()?;
                self.expect(":")?;
                self.plain(first, StatementKind::Case(value))
            }
            "default" => {
                self.at += 1;
                self.expect(":")?;
                self.plain(first, StatementKind::Default)
            }
            "break" => self.jump(first, StatementKind::Break)?,
            "continue" => self.jump(first, StatementKind::Continue)?,
            "return" => {
                self.at += 1;
                let value = if self.is(";") { None } else { Some(self.expression()?) };
                self.at -= 1;
                self.jump(first, StatementKind::Return(value))?
            }
            word if TERMINATORS.contains(&word) && self.text(self.at + 1) == ";" => {
                self.jump(first, StatementKind::Terminate)?
            }
            _ => self.simple_statement(first)?,
        };
        self.depth -= 1;
        Ok(parsed)
    }

    fn plain(&self, first: TokenIndex, kind: StatementKind) -> Statement {
        Statement { kind, first, last: self.at - 1, header: (first, self.at - 1) }
    }

    /// Steps over one token and the `;` behind it.
    fn jump(&mut self, first: TokenIndex, kind: StatementKind) -> Parsed<Statement> {
        self.at += 1;
        self.expect(";")?;
        Ok(self.plain(first, kind))
    }

    fn headed(
        &self,
        first: TokenIndex,
        header: (TokenIndex, TokenIndex),
        kind: StatementKind,
    ) -> Statement {
        Statement { kind, first, last: self.at - 1, header }
    }

    fn if_statement(&mut self, first: TokenIndex) -> Parsed<Statement> {
        self.at += 1;
        self.expect("(")?;
        let condition = self.expression()?;
        let close = self.expect(")")?;
        let then = Box::new(self.statement()?);
        let otherwise = if self.accept("else") { Some(Box::new(self.statement()?)) } else { None };
        Ok(self.headed(first, (first, close), StatementKind::If { condition, then, otherwise }))
    }

    fn while_statement(&mut self, first: TokenIndex) -> Parsed<Statement> {
        self.at += 1;
        self.expect("(")?;
        let condition = self.loop_condition()?;
        let close = self.expect(")")?;
        let body = Box::new(self.statement()?);
        Ok(self.headed(first, (first, close), StatementKind::While { condition, body }))
    }

    fn do_statement(&mut self, first: TokenIndex) -> Parsed<Statement> {
        self.at += 1;
        let body = Box::new(self.statement()?);
        let header = self.expect("while")?;
        self.expect("(")?;
        let condition = self.expression()?;
        let close = self.expect(")")?;
        self.expect(";")?;
        Ok(self.headed(first, (header, close), StatementKind::DoWhile { body, condition }))
    }

    fn for_statement(&mut self, first: TokenIndex) -> Parsed<Statement> {
        self.at += 1;
        self.expect("(")?;
        let start = self.at;
        let init =
            if self.accept(";") { None } else { Some(Box::new(self.simple_statement(start)?)) };
        let condition = if self.is(";") { None } else { Some(self.loop_condition()?) };
        self.expect(";")?;
        let update = if self.is(")") { None } else { Some(self.expression()?) };
        let close = self.expect(")")?;
        let body = Box::new(self.statement()?);
        Ok(self.headed(first, (first, close), StatementKind::For { init, condition, update, body }))
    }

    fn loop_condition(&mut self) -> Parsed<LoopCondition> {
        if !self.declaration_starts() {
            return Ok(LoopCondition::Expression(self.expression()?));
        }
        let declared = self.declared_type()?;
        let name = self.name()?;
        self.expect("=")?;
        let initialiser = Some(self.initialiser()?);
        let declarators = vec![Declarator { name, sizes: Vec::new(), initialiser }];
        Ok(LoopCondition::Declaration(Declaration { declared, declarators }))
    }

    fn switch_statement(&mut self, first: TokenIndex) -> Parsed<Statement> {
        self.at += 1;
        self.expect("(")?;
        let selector = self.expression()?;
        let close = self.expect(")")?;
        let open = self.expect("{")?;
        let body = self.statements()?;
        self.expect("}")?;
        Ok(self.headed(first, (first, close), StatementKind::Switch { selector, open, body }))
    }

    fn simple_statement(&mut self, first: TokenIndex) -> Parsed<Statement> {
        if self.is("precision") {
            self.recover();
            return Ok(self.plain(first, StatementKind::Empty));
        }
        if self.declaration_starts() {
            let declared = self.declared_type()?;
            let declarators = self.declarators()?;
            return Ok(self
                .plain(first, StatementKind::Declaration(Declaration { declared, declarators })));
        }
        let expression = self.expression()?;
        self.expect(";")?;
        Ok(self.plain(first, StatementKind::Expression(expression)))
    }

    fn declaration_starts(&self) -> bool {
        let word = self.peek();
        if matches!(word, "struct" | "layout") || LISTED_QUALIFIERS.contains(&word) {
            return true;
        }
        if QUALIFIERS.contains(&word) {
            return self.text(self.at + 1) != "(";
        }
        if !self.is_name(self.at) {
            return false;
        }
        let mut behind = self.at + 1;
        if TEMPLATES.contains(&word) && self.text(behind) == "<" {
            match self.behind_template(behind) {
                Some(next) => behind = next,
                None => return false,
            }
        }
        if word == "spirv_type" && self.text(behind) == "(" {
            behind = self.behind_brackets(behind).unwrap_or(behind);
        }
        while self.text(behind) == "[" {
            match self.behind_brackets(behind) {
                Some(next) => behind = next,
                None => return false,
            }
        }
        self.is_name(behind)
    }

    fn node(&self, kind: ExpressionKind, first: TokenIndex) -> Expression {
        Expression { kind, first, last: self.at - 1 }
    }

    fn expression(&mut self) -> Parsed<Expression> {
        let mut left = self.assignment()?;
        let mut length = 0;
        while self.accept(",") {
            length = self.chained(length)?;
            let (first, right) = (left.first, self.assignment()?);
            left = self.node(
                ExpressionKind::Comma { first: Box::new(left), second: Box::new(right) },
                first,
            );
        }
        Ok(left)
    }

    fn chained(&self, length: u32) -> Parsed<u32> {
        if length >= CHAIN_LIMIT {
            let message = format!("more than {CHAIN_LIMIT} operators in a row");
            return Err(ParseError { message, token: self.at });
        }
        Ok(length + 1)
    }

    fn assignment(&mut self) -> Parsed<Expression> {
        self.enter()?;
        let target = self.ternary()?;
        let parsed = if ASSIGNMENTS.contains(&self.peek()) {
            self.at += 1;
            let (first, value) = (target.first, self.assignment()?);
            let kind =
                ExpressionKind::Assignment { target: Box::new(target), value: Box::new(value) };
            self.node(kind, first)
        } else {
            target
        };
        self.depth -= 1;
        Ok(parsed)
    }

    fn ternary(&mut self) -> Parsed<Expression> {
        self.enter()?;
        let condition = self.binary(0)?;
        let parsed = if self.accept("?") {
            let first = condition.first;
            let then = Box::new(self.expression()?);
            self.expect(":")?;
            let otherwise = Box::new(self.assignment()?);
            self.node(
                ExpressionKind::Ternary { condition: Box::new(condition), then, otherwise },
                first,
            )
        } else {
            condition
        };
        self.depth -= 1;
        Ok(parsed)
    }

    fn binary(&mut self, weakest: u8) -> Parsed<Expression> {
        let mut left = self.prefix()?;
        let mut length = 0;
        while let Some(strength) = precedence(self.peek()).filter(|strength| *strength > weakest) {
            length = self.chained(length)?;
            let operator = self.at;
            self.at += 1;
            let (first, right) = (left.first, self.binary(strength)?);
            let kind =
                ExpressionKind::Binary { operator, left: Box::new(left), right: Box::new(right) };
            left = self.node(kind, first);
        }
        Ok(left)
    }

    fn prefix(&mut self) -> Parsed<Expression> {
        if !matches!(self.peek(), "!" | "-" | "+" | "~" | "++" | "--") {
            return self.postfix();
        }
        self.enter()?;
        let first = self.at;
        self.at += 1;
        let operand = Box::new(self.prefix()?);
        self.depth -= 1;
        Ok(self.node(ExpressionKind::Prefix(operand), first))
    }

    fn postfix(&mut self) -> Parsed<Expression> {
        let mut base = self.primary()?;
        let mut length = 0;
        loop {
            length = self.chained(length)?;
            let first = base.first;
            let kind = match self.peek() {
                "[" => {
                    self.at += 1;
                    let index =
                        if self.is("]") { None } else { Some(Box::new(self.expression()?)) };
                    self.expect("]")?;
                    ExpressionKind::Index { base: Box::new(base), index }
                }
                "(" => {
                    let arguments = self.call_arguments()?;
                    ExpressionKind::Call { callee: Box::new(base), arguments }
                }
                "." => {
                    self.at += 1;
                    let name = self.name()?;
                    ExpressionKind::Field { base: Box::new(base), name }
                }
                "++" | "--" => {
                    self.at += 1;
                    ExpressionKind::Postfix(Box::new(base))
                }
                _ => return Ok(base),
            };
            base = self.node(kind, first);
        }
    }

    fn call_arguments(&mut self) -> Parsed<Vec<Expression>> {
        self.expect("(")?;
        let mut arguments = Vec::new();
        if self.is("void") && self.text(self.at + 1) == ")" {
            self.at += 1;
        }
        while !self.accept(")") {
            arguments.push(self.initialiser()?);
            if !self.is(")") {
                self.expect(",")?;
            }
        }
        Ok(arguments)
    }

    fn primary(&mut self) -> Parsed<Expression> {
        let first = self.at;
        if self.accept("(") {
            let inner = self.expression()?;
            self.expect(")")?;
            return Ok(self.node(ExpressionKind::Parenthesised(Box::new(inner)), first));
        }
        let Some(token) = self.tokens.get(first) else {
            return Err(self.error("an expression is expected"));
        };
        let kind = match token.kind {
            TokenKind::Number | TokenKind::String => ExpressionKind::Literal,
            TokenKind::Identifier if matches!(&*token.text, "true" | "false") => {
                ExpressionKind::Literal
            }
            TokenKind::Identifier => ExpressionKind::Identifier,
            TokenKind::Punctuator | TokenKind::NewLine | TokenKind::Paste | TokenKind::Stray => {
                return Err(self.error("an expression is expected"));
            }
        };
        self.at += 1;
        let is_name = token.kind == TokenKind::Identifier;
        let template = if is_name { self.template_arguments()? } else { Vec::new() };
        let kind = if template.is_empty() { kind } else { ExpressionKind::Template(template) };
        Ok(self.node(kind, first))
    }
}
