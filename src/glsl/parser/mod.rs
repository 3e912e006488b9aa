//! Recursive-descent parser for GLSL without types (GLSL 4.60, chapter 9, and the extensions'
//! grammar additions).
//!
//! Knows: the tokens alone. A name is taken for a type where only a declaration can continue with
//! what follows (`name name`, `name[...] name`), so unknown and user-defined types need no table.
//! Promises: linear time; nesting beyond [`DEPTH_LIMIT`] is an error, never a stack overflow; an
//! error in a function body costs that function alone, an error at file level the text up to the
//! next `;` or `}`.

mod expression;
mod statement;

use crate::syntax::{
    Declaration, Declarator, DeclaredType, Expression, ExpressionKind, FunctionDefinition, Item,
    Parameter, ParseError, TokenIndex,
};
use crate::token::{Token, TokenKind};

/// Deepest nesting of statements and expressions, together.
pub(crate) const DEPTH_LIMIT: u32 = 1_500;

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

type Parsed<T> = Result<T, ParseError>;

/// Parses a whole translation unit.
pub(crate) fn parse(tokens: &[Token]) -> Vec<Item> {
    let mut parser = Parser { tokens, behind: brackets(tokens), at: 0, depth: 0 };
    let mut items = Vec::new();
    while parser.at < tokens.len() {
        let item_start = parser.at;
        match parser.item() {
            Ok(parsed) => items.extend(parsed),
            Err(error) => {
                parser.at = item_start;
                parser.depth = 0;
                parser.recover();
                items.push(Item::Unread { first: item_start, last: parser.at - 1, error });
            }
        }
    }
    items
}

/// For each opening bracket the token behind the one that closes it; 0 where none does, and for
/// every other token. Computed once, so that looking over brackets costs the same however much
/// stands between them.
fn brackets(tokens: &[Token]) -> Vec<TokenIndex> {
    let mut token_behind = vec![0; tokens.len()];
    let mut open_brackets = Vec::new();
    for (token_index, token) in tokens.iter().enumerate() {
        match &*token.text {
            "(" | "[" | "{" => open_brackets.push(token_index),
            ")" | "]" | "}" => {
                if let Some(opening_index) = open_brackets.pop() {
                    token_behind[opening_index] = token_index + 1;
                }
            }
            _ => {}
        }
    }
    token_behind
}

struct Parser<'a> {
    tokens: &'a [Token],
    /// See [`brackets`].
    behind: Vec<TokenIndex>,
    at: TokenIndex,
    depth: u32,
}

impl Parser<'_> {
    fn text(&self, token_index: TokenIndex) -> &str {
        self.tokens.get(token_index).map_or("", |token| &*token.text)
    }

    fn peek(&self) -> &str {
        self.text(self.at)
    }

    fn is(&self, expected_text: &str) -> bool {
        self.peek() == expected_text && self.at < self.tokens.len()
    }

    fn is_name(&self, token_index: TokenIndex) -> bool {
        self.tokens.get(token_index).is_some_and(|token| token.kind == TokenKind::Identifier)
    }

    fn accept(&mut self, expected_text: &str) -> bool {
        let stands_next = self.is(expected_text);
        self.at += usize::from(stands_next);
        stands_next
    }

    fn expect(&mut self, expected_text: &str) -> Parsed<TokenIndex> {
        if self.accept(expected_text) {
            Ok(self.at - 1)
        } else {
            Err(self.error(&format!("`{expected_text}` is expected")))
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
        let found_text =
            if self.at < self.tokens.len() { self.peek() } else { "the end of the text" };
        ParseError {
            message: format!("{message}, found `{found_text}`"),
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
    fn behind_brackets(&self, opening_index: TokenIndex) -> Option<TokenIndex> {
        self.behind.get(opening_index).copied().filter(|behind| *behind > 0)
    }

    /// The token behind the `>` that ends the template arguments whose `<` is at `open`.
    /// Parentheses hide a `>`.
    fn behind_template(&self, opening_index: TokenIndex) -> Option<TokenIndex> {
        let mut token_index = opening_index + 1;
        while token_index < self.tokens.len() {
            match self.text(token_index) {
                ">" => return Some(token_index + 1),
                ";" | "{" | "}" | ")" => return None,
                "(" | "[" => token_index = self.behind_brackets(token_index)?,
                _ => token_index += 1,
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
        let first_token = self.at;
        let declared_type = self.declared_type()?;
        if self.is_name(self.at) && self.text(self.at + 1) == "(" {
            return self.function(first_token, declared_type).map(Some);
        }
        let declarators = self.declarators()?;
        Ok(Some(Item::Declaration(Declaration { declared: declared_type, declarators })))
    }

    fn function(&mut self, first_token: TokenIndex, return_type: DeclaredType) -> Parsed<Item> {
        let name = self.name()?;
        let parameters = self.parameters()?;
        self.attributes();
        if self.accept(";") {
            return Ok(Item::Prototype { returns: return_type, name, parameters });
        }
        let open = self.expect("{")?;
        let behind_body =
            self.behind_brackets(open).ok_or_else(|| self.error("the function has no end"))?;
        let function_body = self.statements().and_then(|function_body| {
            if self.at == behind_body - 1 {
                Ok(function_body)
            } else {
                Err(self.error("`}` is expected"))
            }
        });
        self.at = behind_body;
        self.depth = 0;
        Ok(Item::Function(FunctionDefinition {
            returns: return_type,
            name,
            parameters,
            first: first_token,
            last: behind_body - 1,
            open,
            close: behind_body - 1,
            body: function_body,
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
            let declared_type = self.declared_type()?;
            let name = if self.is_name(self.at) { Some(self.name()?) } else { None };
            let sizes = self.sizes()?;
            parameters.push(Parameter { declared: declared_type, name, sizes });
            if !self.is(")") {
                self.expect(",")?;
            }
        }
        Ok(parameters)
    }

    /// Qualifiers, then a type; the type may be missing (`layout(...) in;`, `invariant x;`).
    fn declared_type(&mut self) -> Parsed<DeclaredType> {
        let mut parsed_type = DeclaredType::default();
        loop {
            self.attributes();
            if self.is("layout") {
                self.layout(&mut parsed_type)?;
            } else if LISTED_QUALIFIERS.contains(&self.peek())
                || (self.is("subroutine") && self.text(self.at + 1) == "(")
            {
                parsed_type.qualifiers.push(self.peek().to_owned());
                self.at = self
                    .behind_brackets(self.at + 1)
                    .ok_or_else(|| self.error("`)` is expected"))?;
            } else if QUALIFIERS.contains(&self.peek()) {
                parsed_type.qualifiers.push(self.peek().to_owned());
                self.at += 1;
            } else {
                break;
            }
        }
        if self.accept("struct") {
            if self.is_name(self.at) {
                parsed_type.name = Some(self.name()?);
            }
            self.members(&mut parsed_type)?;
        } else if self.is("spirv_type") && self.text(self.at + 1) == "(" {
            parsed_type.name = Some(self.at);
            self.at =
                self.behind_brackets(self.at + 1).ok_or_else(|| self.error("`)` is expected"))?;
        } else if self.is_name(self.at) {
            parsed_type.name = Some(self.name()?);
            parsed_type.template = self.template_arguments()?;
            if self.is("{") {
                self.members(&mut parsed_type)?;
                return Ok(parsed_type);
            }
        }
        parsed_type.sizes = self.sizes()?;
        Ok(parsed_type)
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

    fn layout(&mut self, declared_type: &mut DeclaredType) -> Parsed<()> {
        self.expect("layout")?;
        self.expect("(")?;
        while !self.accept(")") {
            let name = self.name()?;
            declared_type.layout.push(self.text(name).to_owned());
            if self.accept("=") {
                declared_type.layout_values.push(self.ternary()?);
            }
            if !self.is(")") {
                self.expect(",")?;
            }
        }
        Ok(())
    }

    fn members(&mut self, struct_type: &mut DeclaredType) -> Parsed<()> {
        self.enter()?;
        struct_type.has_body = true;
        self.expect("{")?;
        while !self.accept("}") {
            let member_type = self.declared_type()?;
            let declarators = self.declarators()?;
            struct_type.members.push(Declaration { declared: member_type, declarators });
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
        let first_token = self.at;
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
        Ok(self.node(ExpressionKind::List(elements), first_token))
    }
}
