//! Expressions by precedence of their operators (GLSL 4.60, 5.1).
//!
//! Promises: chains of operators beyond [`CHAIN_LIMIT`] are errors, because the tree is as deep as
//! a chain is long.

use super::{Parsed, Parser};
use crate::syntax::{Expression, ExpressionKind, ParseError, TokenIndex};
use crate::token::TokenKind;

/// Longest chain of operators of one expression.
const CHAIN_LIMIT: u32 = 4_000;

const ASSIGNMENTS: [&str; 11] = ["=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=", "|="];

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

impl Parser<'_> {
    pub(super) fn node(&self, kind: ExpressionKind, first_token: TokenIndex) -> Expression {
        Expression { kind, first: first_token, last: self.at - 1 }
    }

    pub(super) fn expression(&mut self) -> Parsed<Expression> {
        let mut left_operand = self.assignment()?;
        let mut chain_length = 0;
        while self.accept(",") {
            chain_length = self.chained(chain_length)?;
            let (first, right) = (left_operand.first, self.assignment()?);
            left_operand = self.node(
                ExpressionKind::Comma { first: Box::new(left_operand), second: Box::new(right) },
                first,
            );
        }
        Ok(left_operand)
    }

    fn chained(&self, chain_length: u32) -> Parsed<u32> {
        if chain_length >= CHAIN_LIMIT {
            let message = format!("more than {CHAIN_LIMIT} operators in a row");
            return Err(ParseError { message, token: self.at });
        }
        Ok(chain_length + 1)
    }

    pub(super) fn assignment(&mut self) -> Parsed<Expression> {
        self.enter()?;
        let target = self.ternary()?;
        let parsed_expression = if ASSIGNMENTS.contains(&self.peek()) {
            self.at += 1;
            let (first, value) = (target.first, self.assignment()?);
            let kind =
                ExpressionKind::Assignment { target: Box::new(target), value: Box::new(value) };
            self.node(kind, first)
        } else {
            target
        };
        self.depth -= 1;
        Ok(parsed_expression)
    }

    pub(super) fn ternary(&mut self) -> Parsed<Expression> {
        self.enter()?;
        let condition = self.binary(0)?;
        let parsed_expression = if self.accept("?") {
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
        Ok(parsed_expression)
    }

    fn binary(&mut self, outer_precedence: u8) -> Parsed<Expression> {
        let mut left_operand = self.prefix()?;
        let mut chain_length = 0;
        while let Some(own_precedence) =
            precedence(self.peek()).filter(|own_precedence| *own_precedence > outer_precedence)
        {
            chain_length = self.chained(chain_length)?;
            let operator = self.at;
            self.at += 1;
            let (first_token, right_operand) = (left_operand.first, self.binary(own_precedence)?);
            let kind = ExpressionKind::Binary {
                operator,
                left: Box::new(left_operand),
                right: Box::new(right_operand),
            };
            left_operand = self.node(kind, first_token);
        }
        Ok(left_operand)
    }

    pub(super) fn prefix(&mut self) -> Parsed<Expression> {
        if !matches!(self.peek(), "!" | "-" | "+" | "~" | "++" | "--") {
            return self.postfix();
        }
        self.enter()?;
        let first_token = self.at;
        self.at += 1;
        let operand = Box::new(self.prefix()?);
        self.depth -= 1;
        Ok(self.node(ExpressionKind::Prefix(operand), first_token))
    }

    fn postfix(&mut self) -> Parsed<Expression> {
        let mut base_expression = self.primary()?;
        let mut chain_length = 0;
        loop {
            chain_length = self.chained(chain_length)?;
            let first_token = base_expression.first;
            let kind = match self.peek() {
                "[" => {
                    self.at += 1;
                    let index =
                        if self.is("]") { None } else { Some(Box::new(self.expression()?)) };
                    self.expect("]")?;
                    ExpressionKind::Index { base: Box::new(base_expression), index }
                }
                "(" => {
                    let arguments = self.call_arguments()?;
                    ExpressionKind::Call { callee: Box::new(base_expression), arguments }
                }
                "." => {
                    self.at += 1;
                    let name = self.name()?;
                    ExpressionKind::Field { base: Box::new(base_expression), name }
                }
                "++" | "--" => {
                    self.at += 1;
                    ExpressionKind::Postfix(Box::new(base_expression))
                }
                _ => return Ok(base_expression),
            };
            base_expression = self.node(kind, first_token);
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
        let first_token = self.at;
        if self.accept("(") {
            let inner = self.expression()?;
            self.expect(")")?;
            return Ok(self.node(ExpressionKind::Parenthesised(Box::new(inner)), first_token));
        }
        let Some(token) = self.tokens.get(first_token) else {
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
        let type_arguments = if is_name { self.template_arguments()? } else { Vec::new() };
        let kind =
            if type_arguments.is_empty() { kind } else { ExpressionKind::Template(type_arguments) };
        Ok(self.node(kind, first_token))
    }
}
