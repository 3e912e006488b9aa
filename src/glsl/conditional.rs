//! Conditional groups: `#if`, `#ifdef`, `#ifndef`, `#elif`, `#else`, `#endif` (GLSL 4.60, 3.3).
//!
//! Promises: expressions are evaluated as the compiler does, in 32-bit signed integers; an unknown
//! name is 0.

use super::macros::{Lines, Scanned};
use super::preprocessor::{PreprocessError, Preprocessor};
use super::token::{Token, TokenKind};

/// Deepest nesting of parentheses and unary operators in an expression.
const DEPTH_LIMIT: u32 = 200;

/// Binary operators with their precedence, weakest first.
const BINARY: [(&str, u8); 18] = [
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
    pub(super) fn conditional(
        &mut self,
        name: &Token,
        rest: &[Token],
    ) -> Result<(), PreprocessError> {
        match &*name.text {
            "if" => {
                let taken = self.condition(name, rest)?;
                self.open(taken)
            }
            "ifdef" | "ifndef" => {
                let [tested] = rest else {
                    return Err(PreprocessError::at("one name is expected here", name.span));
                };
                let taken = self.is_defined(&tested.text) == name.is("ifdef");
                self.open(taken)
            }
            "elif" | "else" => {
                // Reached from inside the group that was taken.
                if self.open_conditionals().is_empty() {
                    return Err(PreprocessError::at("there is no `#if` for this", name.span));
                }
                self.skip(SkipTo::End)
            }
            _ => match self.open_conditionals().pop() {
                Some(_) => Ok(()),
                None => Err(PreprocessError::at("there is no `#if` for this", name.span)),
            },
        }
    }

    fn open(&mut self, taken: bool) -> Result<(), PreprocessError> {
        self.open_conditionals().push(false);
        if taken { Ok(()) } else { self.skip(SkipTo::NextBranch) }
    }

    /// Skips lines; returns behind the directive at which text counts again.
    fn skip(&mut self, target: SkipTo) -> Result<(), PreprocessError> {
        let mut depth = 0u32;
        loop {
            self.spend()?;
            let hash = match self.scan() {
                Scanned::Token(token) if token.kind == TokenKind::NewLine => continue,
                Scanned::Token(token) => token,
                Scanned::Marker | Scanned::End => {
                    return Err(PreprocessError::plain("an `#if` has no `#endif`"));
                }
            };
            let line = self.rest_of_line();
            let Some((name, rest)) = line.split_first().filter(|_| hash.is("#")) else { continue };
            match &*name.text {
                "if" | "ifdef" | "ifndef" => depth += 1,
                "endif" if depth == 0 => {
                    self.open_conditionals().pop();
                    return Ok(());
                }
                "endif" => depth -= 1,
                "else" if depth == 0 && target == SkipTo::NextBranch => return Ok(()),
                "elif"
                    if depth == 0
                        && target == SkipTo::NextBranch
                        && self.condition(name, rest)? =>
                {
                    return Ok(());
                }
                _ => {}
            }
        }
    }

    fn condition(&mut self, name: &Token, rest: &[Token]) -> Result<bool, PreprocessError> {
        let tokens = self.without_defined(name, rest)?;
        let tokens = self.expanded(tokens, Lines::One)?;
        let mut expression = Expression { tokens: &tokens, position: 0, depth: 0 };
        let value = expression.binary(0);
        value.map(|value| value != 0).map_err(|message| PreprocessError::at(message, name.span))
    }

    /// Replaces `defined X` and `defined(X)` by 1 or 0, before macros are expanded.
    fn without_defined(
        &mut self,
        name: &Token,
        rest: &[Token],
    ) -> Result<Vec<Token>, PreprocessError> {
        let mut result = Vec::new();
        let mut position = 0;
        while let Some(token) = rest.get(position) {
            if !token.is("defined") {
                result.push(token.clone());
                position += 1;
                continue;
            }
            let (tested, length) = match &rest[position + 1..] {
                [open, tested, close, ..] if open.is("(") && close.is(")") => (tested, 4),
                [tested, ..] if tested.is_identifier() => (tested, 2),
                _ => return Err(PreprocessError::at("`defined` takes a name", name.span)),
            };
            let value = if self.is_defined(&tested.text) { "1" } else { "0" };
            result.push(self.made(value, TokenKind::Number, token.span, token.origin));
            position += length;
        }
        Ok(result)
    }
}

/// The value at the beginning of `tokens`, and how many of them it takes.
pub(super) fn evaluated(tokens: &[Token]) -> Result<(i32, usize), String> {
    let mut expression = Expression { tokens, position: 0, depth: 0 };
    let value = expression.binary(0)?;
    Ok((value, expression.position))
}

struct Expression<'a> {
    tokens: &'a [Token],
    position: usize,
    depth: u32,
}

impl Expression<'_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.position).map_or("", |token| &*token.text)
    }

    fn binary(&mut self, weakest: u8) -> Result<i32, String> {
        let mut left = self.unary()?;
        while let Some((operator, precedence)) =
            BINARY.iter().find(|(operator, _)| *operator == self.peek())
        {
            if *precedence <= weakest {
                break;
            }
            self.position += 1;
            let right = self.binary(*precedence)?;
            left = apply(operator, left, right);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<i32, String> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(format!("the expression is nested more than {DEPTH_LIMIT} deep"));
        }
        let Some(token) = self.tokens.get(self.position) else {
            return Err("the expression ends early".to_owned());
        };
        self.position += 1;
        let value = match &*token.text {
            "+" => self.unary()?,
            "-" => self.unary()?.wrapping_neg(),
            "~" => !self.unary()?,
            "!" => i32::from(self.unary()? == 0),
            "(" => {
                let value = self.binary(0)?;
                if self.peek() != ")" {
                    return Err("a `)` is missing".to_owned());
                }
                self.position += 1;
                value
            }
            _ if token.is_identifier() => 0,
            text => {
                integer(text).ok_or_else(|| format!("`{text}` cannot stand in this expression"))?
            }
        };
        self.depth -= 1;
        Ok(value)
    }
}

fn integer(text: &str) -> Option<i32> {
    let digits = text.trim_end_matches(['u', 'U']);
    let parsed = if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"))
    {
        u32::from_str_radix(hex, 16)
    } else if digits.len() > 1 && digits.starts_with('0') {
        u32::from_str_radix(digits, 8)
    } else {
        digits.parse()
    };
    parsed.ok().map(|value| value as i32)
}

fn apply(operator: &str, left: i32, right: i32) -> i32 {
    match operator {
        "||" => i32::from(left != 0 || right != 0),
        "&&" => i32::from(left != 0 && right != 0),
        "|" => left | right,
        "^" => left ^ right,
        "&" => left & right,
        "==" => i32::from(left == right),
        "!=" => i32::from(left != right),
        "<" => i32::from(left < right),
        ">" => i32::from(left > right),
        "<=" => i32::from(left <= right),
        ">=" => i32::from(left >= right),
        "<<" => left.wrapping_shl(right as u32),
        ">>" => left.wrapping_shr(right as u32),
        "+" => left.wrapping_add(right),
        "-" => left.wrapping_sub(right),
        "*" => left.wrapping_mul(right),
        "/" => left.checked_div(right).unwrap_or(0),
        "%" => left.checked_rem(right).unwrap_or(0),
        _ => 0,
    }
}
