//! Reads the Boolean expression of `vkcert mcdc EXPR`.
//!
//! Knows: the operators `!`, `&&`, `^^`, `||` with the precedence of GLSL (GLSL 4.60, section 5.1:
//! `!` binds tighter than the relational operators, those tighter than `&&`, then `^^`, then `||`),
//! parentheses, and where a condition ends.
//! Promises: every condition is a maximal text without Boolean operators of its own level (`x < k`,
//! `f(a, b)`, `v[i].x`); conditions whose texts are equal token by token are coupled; deep or long
//! input is a diagnostic, never an overflow.
//! Does not cover: types (`a < b < c` is taken as it stands) and decisions nested inside a
//! condition, for example in an argument: these are decisions of their own in a kernel, here they
//! are part of the condition's text.

mod parser;
mod token;

pub use parser::ParsedCondition;
use parser::Parser;
pub use token::ARGUMENT;
use token::{expression_tokens, matching_brackets};
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::structure::BooleanExpression;

/// Longest expression text in bytes.
const MAX_TEXT: usize = 1 << 20;

/// An expression with its conditions in source order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedExpression {
    /// The operators over the conditions' indices.
    pub expression: BooleanExpression,
    /// The conditions, which the expression names by 0-based index.
    pub conditions: Vec<ParsedCondition>,
}

impl ParsedExpression {
    /// Coupling numbers by condition.
    pub(crate) fn coupling_numbers(&self) -> Vec<u32> {
        self.conditions.iter().map(|condition| condition.coupling).collect()
    }
}

/// Parses an expression; the diagnostic's span points into `text`.
pub fn parse(text: &str) -> Result<ParsedExpression, Diagnostic> {
    if text.len() > MAX_TEXT {
        let message = format!("the expression has {} bytes; the limit is {MAX_TEXT}", text.len());
        return Err(Diagnostic::new("expression-syntax", message));
    }
    let tokens = expression_tokens(text)?;
    let closing_brackets = matching_brackets(text, &tokens)?;
    let mut parser = Parser {
        text,
        tokens: &tokens,
        closing_brackets: &closing_brackets,
        conditions: Vec::new(),
        coupling_keys: Vec::new(),
    };
    let expression = parser.parse_expression(0..tokens.len(), 0)?;
    Ok(ParsedExpression { expression, conditions: parser.conditions })
}

#[cfg(test)]
mod tests;
