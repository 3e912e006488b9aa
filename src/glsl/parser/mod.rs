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

pub(crate) use expression::binary_precedence;

use crate::syntax::{
    Declaration, Declarator, DeclaredType, Expression, ExpressionKind, FileLevelItem,
    FunctionDefinition, ParameterSyntax, ParseError, TokenIndex,
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
pub(crate) fn parse_unit(tokens: &[Token]) -> Vec<FileLevelItem> {
    let mut parser =
        Parser { tokens, behind: tokens_behind_brackets(tokens), position: 0, depth: 0 };
    let mut items = Vec::new();
    while parser.position < tokens.len() {
        let item_start = parser.position;
        match parser.parse_item() {
            Ok(parsed) => items.extend(parsed),
            Err(error) => {
                parser.position = item_start;
                parser.depth = 0;
                parser.skip_item();
                items.push(FileLevelItem::Unread {
                    first: item_start,
                    last: parser.position - 1,
                    error,
                });
            }
        }
    }
    items
}

/// For each opening bracket the token behind the one that closes it; 0 where none does, and for
/// every other token. Computed once, so that looking over brackets costs the same however much
/// stands between them.
fn tokens_behind_brackets(tokens: &[Token]) -> Vec<TokenIndex> {
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
    /// See [`tokens_behind_brackets`].
    behind: Vec<TokenIndex>,
    position: TokenIndex,
    depth: u32,
}

impl Parser<'_> {
    fn text_at(&self, token_index: TokenIndex) -> &str {
        self.tokens.get(token_index).map_or("", |token| &*token.text)
    }

    fn peek(&self) -> &str {
        self.text_at(self.position)
    }

    fn stands_next(&self, expected_text: &str) -> bool {
        self.peek() == expected_text && self.position < self.tokens.len()
    }

    fn is_name(&self, token_index: TokenIndex) -> bool {
        self.tokens.get(token_index).is_some_and(|token| token.kind == TokenKind::Identifier)
    }

    fn accept(&mut self, expected_text: &str) -> bool {
        let stands_next = self.stands_next(expected_text);
        self.position += usize::from(stands_next);
        stands_next
    }

    fn expect_text(&mut self, expected_text: &str) -> Parsed<TokenIndex> {
        if self.accept(expected_text) {
            Ok(self.position - 1)
        } else {
            Err(self.error_here(&format!("`{expected_text}` is expected")))
        }
    }

    fn parse_name(&mut self) -> Parsed<TokenIndex> {
        if !self.is_name(self.position) {
            return Err(self.error_here("a name is expected"));
        }
        self.position += 1;
        Ok(self.position - 1)
    }

    fn error_here(&self, message: &str) -> ParseError {
        let found_text =
            if self.position < self.tokens.len() { self.peek() } else { "the end of the text" };
        ParseError {
            message: format!("{message}, found `{found_text}`"),
            token: self.position.min(self.tokens.len().max(1) - 1),
        }
    }

    fn enter_nesting(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(ParseError {
                message: format!("nested more than {DEPTH_LIMIT} deep"),
                token: self.position,
            });
        }
        Ok(())
    }

    /// The token behind the bracket that closes the one at `opening_index`.
    fn behind_brackets(&self, opening_index: TokenIndex) -> Option<TokenIndex> {
        self.behind.get(opening_index).copied().filter(|behind| *behind > 0)
    }

    /// The token behind the `>` that ends the template arguments whose `<` is at `opening_index`.
    /// Parentheses hide a `>`.
    fn behind_template(&self, opening_index: TokenIndex) -> Option<TokenIndex> {
        let mut token_index = opening_index + 1;
        while token_index < self.tokens.len() {
            match self.text_at(token_index) {
                ">" => return Some(token_index + 1),
                ";" | "{" | "}" | ")" => return None,
                "(" | "[" => token_index = self.behind_brackets(token_index)?,
                _ => token_index += 1,
            }
        }
        None
    }

    /// Steps behind the next `;` or braced group.
    fn skip_item(&mut self) {
        while self.position < self.tokens.len() {
            match self.peek() {
                ";" => {
                    self.position += 1;
                    return;
                }
                "{" => {
                    self.position =
                        self.behind_brackets(self.position).unwrap_or(self.tokens.len());
                    return;
                }
                _ => self.position += 1,
            }
        }
    }

    fn skip_attributes(&mut self) {
        while self.stands_next("[") && self.text_at(self.position + 1) == "[" {
            match self.behind_brackets(self.position) {
                Some(behind) => self.position = behind,
                None => return,
            }
        }
    }

    fn parse_item(&mut self) -> Parsed<Option<FileLevelItem>> {
        self.skip_attributes();
        if self.accept(";") {
            return Ok(None);
        }
        if self.stands_next("precision") {
            self.skip_item();
            return Ok(None);
        }
        let first_token = self.position;
        let declared_type = self.parse_declared_type()?;
        if self.is_name(self.position) && self.text_at(self.position + 1) == "(" {
            return self.parse_function(first_token, declared_type).map(Some);
        }
        let declarators = self.parse_declarators()?;
        Ok(Some(FileLevelItem::Declaration(Declaration { declared: declared_type, declarators })))
    }

    fn parse_function(
        &mut self,
        first_token: TokenIndex,
        return_type: DeclaredType,
    ) -> Parsed<FileLevelItem> {
        let name = self.parse_name()?;
        let parameters = self.parse_parameters()?;
        self.skip_attributes();
        if self.accept(";") {
            return Ok(FileLevelItem::Prototype { returns: return_type, name, parameters });
        }
        let open = self.expect_text("{")?;
        let behind_body =
            self.behind_brackets(open).ok_or_else(|| self.error_here("the function has no end"))?;
        let function_body = self.parse_statements().and_then(|function_body| {
            if self.position == behind_body - 1 {
                Ok(function_body)
            } else {
                Err(self.error_here("`}` is expected"))
            }
        });
        self.position = behind_body;
        self.depth = 0;
        Ok(FileLevelItem::Function(FunctionDefinition {
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

    fn parse_parameters(&mut self) -> Parsed<Vec<ParameterSyntax>> {
        self.expect_text("(")?;
        let mut parameters = Vec::new();
        if self.stands_next("void") && self.text_at(self.position + 1) == ")" {
            self.position += 1;
        }
        while !self.accept(")") {
            self.skip_attributes();
            let declared_type = self.parse_declared_type()?;
            let name = if self.is_name(self.position) { Some(self.parse_name()?) } else { None };
            let sizes = self.parse_sizes()?;
            parameters.push(ParameterSyntax { declared: declared_type, name, sizes });
            if !self.stands_next(")") {
                self.expect_text(",")?;
            }
        }
        Ok(parameters)
    }

    /// Qualifiers, then a type; the type may be missing (`layout(...) in;`, `invariant x;`).
    fn parse_declared_type(&mut self) -> Parsed<DeclaredType> {
        let mut parsed_type = DeclaredType::default();
        loop {
            self.skip_attributes();
            if self.stands_next("layout") {
                self.parse_layout(&mut parsed_type)?;
            } else if LISTED_QUALIFIERS.contains(&self.peek())
                || (self.stands_next("subroutine") && self.text_at(self.position + 1) == "(")
            {
                parsed_type.qualifiers.push(self.peek().to_owned());
                self.position = self
                    .behind_brackets(self.position + 1)
                    .ok_or_else(|| self.error_here("`)` is expected"))?;
            } else if QUALIFIERS.contains(&self.peek()) {
                parsed_type.qualifiers.push(self.peek().to_owned());
                self.position += 1;
            } else {
                break;
            }
        }
        if self.accept("struct") {
            if self.is_name(self.position) {
                parsed_type.name = Some(self.parse_name()?);
            }
            self.parse_members(&mut parsed_type)?;
        } else if self.stands_next("spirv_type") && self.text_at(self.position + 1) == "(" {
            parsed_type.name = Some(self.position);
            self.position = self
                .behind_brackets(self.position + 1)
                .ok_or_else(|| self.error_here("`)` is expected"))?;
        } else if self.is_name(self.position) {
            parsed_type.name = Some(self.parse_name()?);
            parsed_type.template = self.parse_template_arguments()?;
            if self.stands_next("{") {
                self.parse_members(&mut parsed_type)?;
                return Ok(parsed_type);
            }
        }
        parsed_type.sizes = self.parse_sizes()?;
        Ok(parsed_type)
    }

    /// Arguments in angle brackets, where the name just read takes some: types and constant
    /// expressions.
    fn parse_template_arguments(&mut self) -> Parsed<Vec<Expression>> {
        let mut arguments = Vec::new();
        if !TEMPLATES.contains(&self.text_at(self.position - 1)) || !self.accept("<") {
            return Ok(arguments);
        }
        while !self.accept(">") {
            arguments.push(self.parse_prefix()?);
            if !self.stands_next(">") {
                self.expect_text(",")?;
            }
        }
        Ok(arguments)
    }

    fn parse_layout(&mut self, declared_type: &mut DeclaredType) -> Parsed<()> {
        self.expect_text("layout")?;
        self.expect_text("(")?;
        while !self.accept(")") {
            let name = self.parse_name()?;
            declared_type.layout.push(self.text_at(name).to_owned());
            if self.accept("=") {
                declared_type.layout_values.push(self.parse_ternary()?);
            }
            if !self.stands_next(")") {
                self.expect_text(",")?;
            }
        }
        Ok(())
    }

    fn parse_members(&mut self, struct_type: &mut DeclaredType) -> Parsed<()> {
        self.enter_nesting()?;
        struct_type.has_body = true;
        self.expect_text("{")?;
        while !self.accept("}") {
            let member_type = self.parse_declared_type()?;
            let declarators = self.parse_declarators()?;
            struct_type.members.push(Declaration { declared: member_type, declarators });
        }
        self.depth -= 1;
        Ok(())
    }

    fn parse_sizes(&mut self) -> Parsed<Vec<Option<Expression>>> {
        let mut sizes = Vec::new();
        while self.stands_next("[") && self.text_at(self.position + 1) != "[" {
            self.position += 1;
            sizes.push(if self.stands_next("]") { None } else { Some(self.parse_expression()?) });
            self.expect_text("]")?;
        }
        Ok(sizes)
    }

    /// Declared names up to and including the `;`.
    fn parse_declarators(&mut self) -> Parsed<Vec<Declarator>> {
        let mut declarators = Vec::new();
        while !self.accept(";") {
            let name = self.parse_name()?;
            let sizes = self.parse_sizes()?;
            self.skip_attributes();
            let initialiser = if self.accept("=") { Some(self.parse_initialiser()?) } else { None };
            declarators.push(Declarator { name, sizes, initialiser });
            if !self.stands_next(";") {
                self.expect_text(",")?;
            }
        }
        Ok(declarators)
    }

    fn parse_initialiser(&mut self) -> Parsed<Expression> {
        if !self.stands_next("{") {
            return self.parse_assignment();
        }
        self.enter_nesting()?;
        let first_token = self.position;
        self.position += 1;
        let mut elements = Vec::new();
        while !self.stands_next("}") {
            elements.push(self.parse_initialiser()?);
            if !self.stands_next("}") {
                self.expect_text(",")?;
            }
        }
        self.position += 1;
        self.depth -= 1;
        Ok(self.expression_node(ExpressionKind::List(elements), first_token))
    }
}
