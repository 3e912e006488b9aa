//! Expressions by precedence of their operators (GLSL 4.60, 5.1).
//!
//! Promises: chains of operators beyond [`CHAIN_LIMIT`] are errors, because the tree is as deep as
//! a chain is long.

use super::{Parsed, Parser};
use crate::syntax::{Expression, ExpressionKind, ParseError, TokenIndex};
use crate::token::TokenKind;

/// Longest chain of operators of one expression.
const CHAIN_LIMIT: u32 = 4_000;

const ASSIGNMENT_OPERATORS: [&str; 11] =
    ["=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=", "|="];

/// Precedence of a binary operator (GLSL 4.60, 5.1), weakest 1.
pub(crate) fn binary_precedence(operator: &str) -> Option<u8> {
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

impl Parser<'_> {
    pub(super) fn expression_node(
        &self,
        kind: ExpressionKind,
        first_token: TokenIndex,
    ) -> Expression {
        Expression { kind, first: first_token, last: self.position - 1 }
    }

    pub(super) fn parse_expression(&mut self) -> Parsed<Expression> {
        let mut left_operand = self.parse_assignment()?;
        let mut chain_length = 0;
        while self.accept(",") {
            chain_length = self.lengthen_chain(chain_length)?;
            let (first, right) = (left_operand.first, self.parse_assignment()?);
            left_operand = self.expression_node(
                ExpressionKind::Comma { first: Box::new(left_operand), second: Box::new(right) },
                first,
            );
        }
        Ok(left_operand)
    }

    fn lengthen_chain(&self, chain_length: u32) -> Parsed<u32> {
        if chain_length >= CHAIN_LIMIT {
            let message = format!("more than {CHAIN_LIMIT} operators in a row");
            return Err(ParseError { message, token: self.position });
        }
        Ok(chain_length + 1)
    }

    pub(super) fn parse_assignment(&mut self) -> Parsed<Expression> {
        self.enter_nesting()?;
        let target = self.parse_ternary()?;
        let parsed_expression = if ASSIGNMENT_OPERATORS.contains(&self.peek()) {
            self.position += 1;
            let (first, value) = (target.first, self.parse_assignment()?);
            let kind =
                ExpressionKind::Assignment { target: Box::new(target), value: Box::new(value) };
            self.expression_node(kind, first)
        } else {
            target
        };
        self.depth -= 1;
        Ok(parsed_expression)
    }

    pub(super) fn parse_ternary(&mut self) -> Parsed<Expression> {
        self.enter_nesting()?;
        let condition = self.parse_binary(0)?;
        let parsed_expression = if self.accept("?") {
            let first = condition.first;
            let then = Box::new(self.parse_expression()?);
            self.expect_text(":")?;
            let otherwise = Box::new(self.parse_assignment()?);
            self.expression_node(
                ExpressionKind::Ternary { condition: Box::new(condition), then, otherwise },
                first,
            )
        } else {
            condition
        };
        self.depth -= 1;
        Ok(parsed_expression)
    }

    fn parse_binary(&mut self, outer_precedence: u8) -> Parsed<Expression> {
        let mut left_operand = self.parse_prefix()?;
        let mut chain_length = 0;
        while let Some(own_precedence) = binary_precedence(self.peek())
            .filter(|own_precedence| *own_precedence > outer_precedence)
        {
            chain_length = self.lengthen_chain(chain_length)?;
            let operator = self.position;
            self.position += 1;
            let (first_token, right_operand) =
                (left_operand.first, self.parse_binary(own_precedence)?);
            let kind = ExpressionKind::Binary {
                operator,
                left: Box::new(left_operand),
                right: Box::new(right_operand),
            };
            left_operand = self.expression_node(kind, first_token);
        }
        Ok(left_operand)
    }

    pub(super) fn parse_prefix(&mut self) -> Parsed<Expression> {
        if !matches!(self.peek(), "!" | "-" | "+" | "~" | "++" | "--") {
            return self.parse_postfix();
        }
        self.enter_nesting()?;
        let first_token = self.position;
        self.position += 1;
        let operand = Box::new(self.parse_prefix()?);
        self.depth -= 1;
        Ok(self.expression_node(ExpressionKind::Prefix(operand), first_token))
    }

    fn parse_postfix(&mut self) -> Parsed<Expression> {
        let mut base_expression = self.parse_primary()?;
        let mut chain_length = 0;
        loop {
            chain_length = self.lengthen_chain(chain_length)?;
            let first_token = base_expression.first;
            let kind = match self.peek() {
                "[" => {
                    self.position += 1;
                    let index = if self.stands_next("]") {
                        None
                    } else {
                        Some(Box::new(self.parse_expression()?))
                    };
                    self.expect_text("]")?;
                    ExpressionKind::Index { base: Box::new(base_expression), index }
                }
                "(" => {
                    let arguments = self.parse_call_arguments()?;
                    ExpressionKind::Call { callee: Box::new(base_expression), arguments }
                }
                "." => {
                    self.position += 1;
                    let name = self.parse_name()?;
                    ExpressionKind::Field { base: Box::new(base_expression), name }
                }
                "++" | "--" => {
                    self.position += 1;
                    ExpressionKind::Postfix(Box::new(base_expression))
                }
                _ => return Ok(base_expression),
            };
            base_expression = self.expression_node(kind, first_token);
        }
    }

    fn parse_call_arguments(&mut self) -> Parsed<Vec<Expression>> {
        self.expect_text("(")?;
        let mut arguments = Vec::new();
        if self.stands_next("void") && self.text_at(self.position + 1) == ")" {
            self.position += 1;
        }
        while !self.accept(")") {
            arguments.push(self.parse_initialiser()?);
            if !self.stands_next(")") {
                self.expect_text(",")?;
            }
        }
        Ok(arguments)
    }

    fn parse_primary(&mut self) -> Parsed<Expression> {
        let first_token = self.position;
        if self.accept("(") {
            let inner = self.parse_expression()?;
            self.expect_text(")")?;
            return Ok(
                self.expression_node(ExpressionKind::Parenthesised(Box::new(inner)), first_token)
            );
        }
        let Some(token) = self.tokens.get(first_token) else {
            return Err(self.error_here("an expression is expected"));
        };
        let kind = match token.kind {
            TokenKind::Number | TokenKind::String => ExpressionKind::Literal,
            TokenKind::Identifier if matches!(&*token.text, "true" | "false") => {
                ExpressionKind::Literal
            }
            TokenKind::Identifier => ExpressionKind::Identifier,
            TokenKind::Punctuator | TokenKind::NewLine | TokenKind::Paste | TokenKind::Stray => {
                return Err(self.error_here("an expression is expected"));
            }
        };
        self.position += 1;
        let is_name = token.kind == TokenKind::Identifier;
        let type_arguments = if is_name { self.parse_template_arguments()? } else { Vec::new() };
        let kind =
            if type_arguments.is_empty() { kind } else { ExpressionKind::Template(type_arguments) };
        Ok(self.expression_node(kind, first_token))
    }
}
