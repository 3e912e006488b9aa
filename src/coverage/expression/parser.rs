//! From the tokens of an expression to its conditions.

use super::super::limits::MAX_CONDITIONS;
use super::token::{Kind, Token, syntax};
use std::ops::Range;
use vkcert_glsl::is_pure_function;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::structure::BooleanExpression;

/// Most parentheses and negations around one condition.
const MAX_NESTING: usize = 200;

/// A condition of a parsed expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedCondition {
    /// White space collapsed to single spaces.
    pub text: String,
    /// Bytes in the expression text.
    pub span: Range<usize>,
    /// Conditions with the same number have the same text; numbers start at 0 in order of first
    /// occurrence.
    pub coupling: u32,
}

pub(super) struct Parser<'a> {
    pub text: &'a str,
    pub tokens: &'a [Token],
    pub closing: &'a [usize],
    pub conditions: Vec<ParsedCondition>,
    /// Normalised text of each coupling number; none for a condition with side effects, which is
    /// coupled to nothing.
    pub keys: Vec<Option<String>>,
}

impl Parser<'_> {
    /// Parses the tokens of `range`, all of them.
    pub(super) fn expression(
        &mut self,
        range: Range<usize>,
        depth: usize,
    ) -> Result<BooleanExpression, Diagnostic> {
        if depth > MAX_NESTING {
            let message =
                format!("more than {MAX_NESTING} parentheses and negations around one condition");
            return Err(self.error(range, message));
        }
        let operators = self.operators(&range)?;
        self.refuse_assignment(&range, &operators)?;
        let mut disjunction = None;
        let mut exclusive = None;
        let mut conjunction = None;
        let mut start = range.start;
        for end in operators.into_iter().chain([range.end]) {
            let operand = self.operand(start..end, &range, depth)?;
            conjunction = Some(join(conjunction, operand, BooleanExpression::And));
            let next = if end < range.end { self.tokens[end].kind } else { Kind::Close };
            if next != Kind::And {
                let finished = conjunction.take().expect("an operand was just joined");
                exclusive = Some(join(exclusive, finished, BooleanExpression::Xor));
            }
            if next != Kind::And && next != Kind::Xor {
                let finished = exclusive.take().expect("an operand was just joined");
                disjunction = Some(join(disjunction, finished, BooleanExpression::Or));
            }
            start = end + 1;
        }
        Ok(disjunction.expect("the last operand closes every level"))
    }

    /// Indexes of the Boolean operators that stand outside brackets in `range`.
    fn operators(&self, range: &Range<usize>) -> Result<Vec<usize>, Diagnostic> {
        let mut operators = Vec::new();
        let mut index = range.start;
        while index < range.end {
            let token = &self.tokens[index];
            match token.kind {
                Kind::And | Kind::Or | Kind::Xor => operators.push(index),
                Kind::Choice => {
                    let message =
                        "`?:` makes two decisions of this; give the part before the `?`".to_owned();
                    return Err(syntax(self.text, token.span.clone(), message));
                }
                Kind::Comma => {
                    let message = "one expression is expected, `,` separates two".to_owned();
                    return Err(syntax(self.text, token.span.clone(), message));
                }
                Kind::Word
                | Kind::Open
                | Kind::Close
                | Kind::Not
                | Kind::Step
                | Kind::Sign
                | Kind::Dot
                | Kind::Binary
                | Kind::Assign => {}
            }
            index = self.closing[index] + 1;
        }
        Ok(operators)
    }

    /// An assignment binds weaker than every Boolean operator (GLSL 4.60, section 5.1): `x = y &&
    /// z` assigns `y && z`, so that no condition ends beside the `&&`.
    fn refuse_assignment(
        &self,
        range: &Range<usize>,
        operators: &[usize],
    ) -> Result<(), Diagnostic> {
        let mut index = range.start;
        while index < range.end && !operators.is_empty() {
            let token = &self.tokens[index];
            if token.kind == Kind::Assign {
                let sign = &self.text[token.span.clone()];
                let message = format!("`{sign}` binds weaker than the Boolean operators beside it");
                let hint = format!(
                    "give the right side of `{sign}` alone, or put the assignment into parentheses"
                );
                return Err(syntax(self.text, token.span.clone(), message).hint(hint));
            }
            index = self.closing[index] + 1;
        }
        Ok(())
    }

    /// Parses one operand of a Boolean operator; `around` is for the message where it is empty.
    fn operand(
        &mut self,
        range: Range<usize>,
        around: &Range<usize>,
        depth: usize,
    ) -> Result<BooleanExpression, Diagnostic> {
        if range.is_empty() {
            return Err(self.missing_operand(range.start, around));
        }
        let first = range.start;
        let whole = self.tokens[first].kind == Kind::Open && self.closing[first] + 1 == range.end;
        if whole && self.is(first, "(") {
            let inside = first + 1..range.end - 1;
            return self.expression(inside, depth + 1);
        }
        if self.tokens[first].kind == Kind::Not && self.is_unary(first + 1..range.end) {
            if depth >= MAX_NESTING {
                let message = format!(
                    "more than {MAX_NESTING} parentheses and negations around one condition"
                );
                return Err(self.error(range, message));
            }
            let negated = self.operand(first + 1..range.end, around, depth + 1)?;
            return Ok(BooleanExpression::Not(Box::new(negated)));
        }
        self.condition(range)
    }

    /// Whether the tokens are one operand of a prefix operator: no binary operator outside
    /// brackets. (In `!a == b` the `!` belongs to `a` alone, so that the comparison is the
    /// condition.)
    fn is_unary(&self, range: Range<usize>) -> bool {
        let mut index = range.start;
        while index < range.end
            && matches!(self.tokens[index].kind, Kind::Not | Kind::Sign | Kind::Step)
        {
            index += 1;
        }
        while index < range.end {
            if matches!(
                self.tokens[index].kind,
                Kind::Binary | Kind::Sign | Kind::Assign | Kind::Not
            ) {
                return false;
            }
            index = self.closing[index] + 1;
        }
        true
    }

    fn condition(&mut self, range: Range<usize>) -> Result<BooleanExpression, Diagnostic> {
        if self.conditions.len() == MAX_CONDITIONS {
            return Err(
                self.error(range, format!("more than {MAX_CONDITIONS} conditions in one decision"))
            );
        }
        self.check_condition(&range)?;
        let span = self.tokens[range.start].span.start..self.tokens[range.end - 1].span.end;
        let text = self.text[span.clone()].split_whitespace().collect::<Vec<_>>().join(" ");
        let kinds = || self.tokens[range.clone()].iter();
        let effects = kinds().any(|token| matches!(token.kind, Kind::Step | Kind::Assign))
            || self.calls(&range);
        let key: String =
            kinds().map(|token| format!("{} ", &self.text[token.span.clone()])).collect();
        let known = self.keys.iter().position(|other| !effects && other.as_ref() == Some(&key));
        let coupling = known.unwrap_or_else(|| {
            self.keys.push((!effects).then_some(key));
            self.keys.len() - 1
        });
        self.conditions.push(ParsedCondition { text, span, coupling: coupling as u32 });
        Ok(BooleanExpression::Condition(self.conditions.len() as u32 - 1))
    }

    /// Whether a function is called that is not known to be free of side effects.
    fn calls(&self, range: &Range<usize>) -> bool {
        self.tokens[range.clone()].windows(2).any(|pair| {
            let called = pair[0].kind == Kind::Word && &self.text[pair[1].span.clone()] == "(";
            called && !is_pure_function(&self.text[pair[0].span.clone()])
        })
    }

    /// Operands and operators must alternate, at every level of brackets.
    fn check_condition(&self, range: &Range<usize>) -> Result<(), Diagnostic> {
        let mut operand_before = false;
        for index in range.clone() {
            let token = &self.tokens[index];
            let here = &self.text[token.span.clone()];
            let fault = match token.kind {
                Kind::Word if operand_before => {
                    Some(format!("an operator is missing before `{here}`"))
                }
                Kind::Open if !operand_before && here == "[" => {
                    Some("`[` stands behind an array".to_owned())
                }
                Kind::Close if !operand_before && !self.is_empty_call(index) => {
                    Some(format!("an operand is missing before `{here}`"))
                }
                Kind::Binary
                | Kind::Assign
                | Kind::Dot
                | Kind::And
                | Kind::Or
                | Kind::Xor
                | Kind::Comma
                    if !operand_before =>
                {
                    Some(format!("an operand is missing before `{here}`"))
                }
                Kind::Choice if !operand_before => {
                    Some(format!("an operand is missing before `{here}`"))
                }
                Kind::Not if operand_before => Some("an operator is missing before `!`".to_owned()),
                Kind::Word
                | Kind::Open
                | Kind::Close
                | Kind::Binary
                | Kind::Assign
                | Kind::Dot
                | Kind::And
                | Kind::Or
                | Kind::Xor
                | Kind::Comma
                | Kind::Choice
                | Kind::Not
                | Kind::Step
                | Kind::Sign => None,
            };
            if let Some(message) = fault {
                return Err(syntax(self.text, token.span.clone(), message));
            }
            operand_before = match token.kind {
                Kind::Word | Kind::Close => true,
                // Behind an operand `++` leaves an operand; before one it waits for it.
                Kind::Step => operand_before,
                Kind::Open
                | Kind::And
                | Kind::Or
                | Kind::Xor
                | Kind::Not
                | Kind::Sign
                | Kind::Dot
                | Kind::Binary
                | Kind::Assign
                | Kind::Comma
                | Kind::Choice => false,
            };
        }
        if operand_before {
            return Ok(());
        }
        let last = self.tokens[range.end - 1].span.clone();
        let message = format!("an operand is missing behind `{}`", &self.text[last.clone()]);
        Err(syntax(self.text, last, message))
    }

    /// Whether the closing bracket at `index` ends the empty argument list of a call.
    fn is_empty_call(&self, index: usize) -> bool {
        index >= 2
            && self.is(index - 1, "(")
            && self.is(index, ")")
            && self.tokens[index - 2].kind == Kind::Word
    }

    fn is(&self, index: usize, text: &str) -> bool {
        &self.text[self.tokens[index].span.clone()] == text
    }

    fn missing_operand(&self, at: usize, around: &Range<usize>) -> Diagnostic {
        if at < around.end {
            let span = self.tokens[at].span.clone();
            let message = format!("an operand is missing before `{}`", &self.text[span.clone()]);
            return syntax(self.text, span, message);
        }
        match at.checked_sub(1) {
            None => syntax(self.text, 0..self.text.len(), "the expression is empty".to_owned())
                .hint("give a Boolean expression such as \"x < k && y < m\""),
            Some(before) => {
                let span = self.tokens[before].span.clone();
                let message =
                    format!("an operand is missing behind `{}`", &self.text[span.clone()]);
                syntax(self.text, span, message)
            }
        }
    }

    fn error(&self, range: Range<usize>, message: String) -> Diagnostic {
        let start = self.tokens[range.start.min(self.tokens.len() - 1)].span.clone();
        syntax(self.text, start, message)
    }
}

fn join(
    left: Option<BooleanExpression>,
    right: BooleanExpression,
    operator: fn(Box<BooleanExpression>, Box<BooleanExpression>) -> BooleanExpression,
) -> BooleanExpression {
    match left {
        None => right,
        Some(left) => operator(Box::new(left), Box::new(right)),
    }
}
