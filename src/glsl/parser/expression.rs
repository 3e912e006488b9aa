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
    pub(super) fn node(&self, kind: ExpressionKind, first: TokenIndex) -> Expression {
        Expression { kind, first, last: self.at - 1 }
    }

    pub(super) fn expression(&mut self) -> Parsed<Expression> {
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

    pub(super) fn assignment(&mut self) -> Parsed<Expression> {
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

    pub(super) fn ternary(&mut self) -> Parsed<Expression> {
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

    pub(super) fn prefix(&mut self) -> Parsed<Expression> {
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
