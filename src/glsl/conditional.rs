//! Conditional groups: `#if`, `#ifdef`, `#ifndef`, `#elif`, `#else`, `#endif` (GLSL 4.60, 3.3).
//!
//! Promises: expressions are evaluated as the compiler does, in 32-bit signed integers; an unknown
//! name is 0.

use super::macros::{ArgumentLines, ScannedItem};
use super::preprocessor::{PreprocessError, Preprocessor};
use super::token::{Token, TokenKind};

/// Deepest nesting of parentheses and unary operators in an expression.
const DEPTH_LIMIT: u32 = 200;

/// Binary operators with their precedence, weakest first.
const BINARY_OPERATORS: [(&str, u8); 18] = [
    ("||", 1),
    ("&&", 2),
    ("|", 3),
    ("^", 4),
    ("&", 5),
    ("==", 6),
    ("!=", 6),
    ("<", 7),
    (">", 7),
    ("<=", 7),
    (">=", 7),
    ("<<", 8),
    (">>", 8),
    ("+", 9),
    ("-", 9),
    ("*", 10),
    ("/", 10),
    ("%", 10),
];

/// Where skipping a group stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SkipTo {
    /// The next `#elif`, `#else` or `#endif` of the group.
    NextBranch,
    End,
}

impl Preprocessor<'_> {
    pub(super) fn conditional_directive(
        &mut self,
        directive_name: &Token,
        directive_tokens: &[Token],
    ) -> Result<(), PreprocessError> {
        match &*directive_name.text {
            "if" => {
                let is_taken = self.condition_holds(directive_name, directive_tokens)?;
                self.open_group(is_taken)
            }
            "ifdef" | "ifndef" => {
                let [tested_name] = directive_tokens else {
                    return Err(PreprocessError::at_span(
                        "one name is expected here",
                        directive_name.span,
                    ));
                };
                let is_taken = self.is_defined(&tested_name.text) == directive_name.is("ifdef");
                self.open_group(is_taken)
            }
            "elif" | "else" => {
                // Reached from inside the group that was taken.
                if self.open_conditionals().is_empty() {
                    return Err(PreprocessError::at_span(
                        "there is no `#if` for this",
                        directive_name.span,
                    ));
                }
                self.skip_group(SkipTo::End)
            }
            _ => match self.open_conditionals().pop() {
                Some(_) => Ok(()),
                None => {
                    Err(PreprocessError::at_span("there is no `#if` for this", directive_name.span))
                }
            },
        }
    }

    fn open_group(&mut self, is_taken: bool) -> Result<(), PreprocessError> {
        self.open_conditionals().push(false);
        if is_taken { Ok(()) } else { self.skip_group(SkipTo::NextBranch) }
    }

    /// Skips lines; returns behind the directive at which text counts again.
    fn skip_group(&mut self, skip_target: SkipTo) -> Result<(), PreprocessError> {
        let mut nesting_depth = 0u32;
        loop {
            self.spend_step()?;
            let hash = match self.scan_token() {
                ScannedItem::Token(token) if token.kind == TokenKind::NewLine => continue,
                ScannedItem::Token(token) => token,
                ScannedItem::Marker | ScannedItem::End => {
                    return Err(PreprocessError::without_span("an `#if` has no `#endif`"));
                }
            };
            let line = self.rest_of_line();
            let Some((directive_name, directive_tokens)) =
                line.split_first().filter(|_| hash.is("#"))
            else {
                continue;
            };
            match &*directive_name.text {
                "if" | "ifdef" | "ifndef" => nesting_depth += 1,
                "endif" if nesting_depth == 0 => {
                    self.open_conditionals().pop();
                    return Ok(());
                }
                "endif" => nesting_depth -= 1,
                "else" if nesting_depth == 0 && skip_target == SkipTo::NextBranch => return Ok(()),
                "elif"
                    if nesting_depth == 0
                        && skip_target == SkipTo::NextBranch
                        && self.condition_holds(directive_name, directive_tokens)? =>
                {
                    return Ok(());
                }
                _ => {}
            }
        }
    }

    fn condition_holds(
        &mut self,
        directive_name: &Token,
        directive_tokens: &[Token],
    ) -> Result<bool, PreprocessError> {
        let condition_tokens = self.replace_defined(directive_name, directive_tokens)?;
        let condition_tokens = self.expand_tokens(condition_tokens, ArgumentLines::One)?;
        let mut expression = ConditionReader { tokens: &condition_tokens, position: 0, depth: 0 };
        let value = expression.binary_value(0);
        value
            .map(|value| value != 0)
            .map_err(|message| PreprocessError::at_span(message, directive_name.span))
    }

    /// Replaces `defined X` and `defined(X)` by 1 or 0, before macros are expanded.
    fn replace_defined(
        &mut self,
        directive_name: &Token,
        directive_tokens: &[Token],
    ) -> Result<Vec<Token>, PreprocessError> {
        let mut replaced_tokens = Vec::new();
        let mut token_position = 0;
        while let Some(token) = directive_tokens.get(token_position) {
            if !token.is("defined") {
                replaced_tokens.push(token.clone());
                token_position += 1;
                continue;
            }
            let (tested_name, operand_length) = match &directive_tokens[token_position + 1..] {
                [open, tested_name, close, ..] if open.is("(") && close.is(")") => (tested_name, 4),
                [tested_name, ..] if tested_name.is_identifier() => (tested_name, 2),
                _ => {
                    return Err(PreprocessError::at_span(
                        "`defined` takes a name",
                        directive_name.span,
                    ));
                }
            };
            let value = if self.is_defined(&tested_name.text) { "1" } else { "0" };
            replaced_tokens.push(self.token_here(
                value,
                TokenKind::Number,
                token.span,
                token.origin,
            ));
            token_position += operand_length;
        }
        Ok(replaced_tokens)
    }
}

/// The value at the beginning of `tokens`, and how many of them it takes.
pub(super) fn evaluate_leading(tokens: &[Token]) -> Result<(i32, usize), String> {
    let mut expression = ConditionReader { tokens, position: 0, depth: 0 };
    let value = expression.binary_value(0)?;
    Ok((value, expression.position))
}

struct ConditionReader<'a> {
    tokens: &'a [Token],
    position: usize,
    depth: u32,
}

impl ConditionReader<'_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.position).map_or("", |token| &*token.text)
    }

    fn binary_value(&mut self, outer_precedence: u8) -> Result<i32, String> {
        let mut left_value = self.unary_value()?;
        while let Some((operator, precedence)) =
            BINARY_OPERATORS.iter().find(|(operator, _)| *operator == self.peek())
        {
            if *precedence <= outer_precedence {
                break;
            }
            self.position += 1;
            let right_value = self.binary_value(*precedence)?;
            left_value = apply_operator(operator, left_value, right_value);
        }
        Ok(left_value)
    }

    fn unary_value(&mut self) -> Result<i32, String> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(format!("the expression is nested more than {DEPTH_LIMIT} deep"));
        }
        let Some(token) = self.tokens.get(self.position) else {
            return Err("the expression ends early".to_owned());
        };
        self.position += 1;
        let value = match &*token.text {
            "+" => self.unary_value()?,
            "-" => self.unary_value()?.wrapping_neg(),
            "~" => !self.unary_value()?,
            "!" => i32::from(self.unary_value()? == 0),
            "(" => {
                let value = self.binary_value(0)?;
                if self.peek() != ")" {
                    return Err("a `)` is missing".to_owned());
                }
                self.position += 1;
                value
            }
            _ if token.is_identifier() => 0,
            text => parse_integer(text)
                .ok_or_else(|| format!("`{text}` cannot stand in this expression"))?,
        };
        self.depth -= 1;
        Ok(value)
    }
}

fn parse_integer(literal_text: &str) -> Option<i32> {
    let literal_digits = literal_text.trim_end_matches(['u', 'U']);
    let parsed_value = if let Some(hex) =
        literal_digits.strip_prefix("0x").or_else(|| literal_digits.strip_prefix("0X"))
    {
        u32::from_str_radix(hex, 16)
    } else if literal_digits.len() > 1 && literal_digits.starts_with('0') {
        u32::from_str_radix(literal_digits, 8)
    } else {
        literal_digits.parse()
    };
    parsed_value.ok().map(|value| value as i32)
}

fn apply_operator(operator: &str, left_value: i32, right_value: i32) -> i32 {
    match operator {
        "||" => i32::from(left_value != 0 || right_value != 0),
        "&&" => i32::from(left_value != 0 && right_value != 0),
        "|" => left_value | right_value,
        "^" => left_value ^ right_value,
        "&" => left_value & right_value,
        "==" => i32::from(left_value == right_value),
        "!=" => i32::from(left_value != right_value),
        "<" => i32::from(left_value < right_value),
        ">" => i32::from(left_value > right_value),
        "<=" => i32::from(left_value <= right_value),
        ">=" => i32::from(left_value >= right_value),
        "<<" => left_value.wrapping_shl(right_value as u32),
        ">>" => left_value.wrapping_shr(right_value as u32),
        "+" => left_value.wrapping_add(right_value),
        "-" => left_value.wrapping_sub(right_value),
        "*" => left_value.wrapping_mul(right_value),
        "/" => left_value.checked_div(right_value).unwrap_or(0),
        "%" => left_value.checked_rem(right_value).unwrap_or(0),
        _ => 0,
    }
}
