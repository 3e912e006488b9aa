//! From the tokens of an expression to its conditions.

use super::super::limits::MAX_CONDITIONS;
use super::token::{Token, TokenKind, error_at_token, syntax_error};
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
    pub closing_brackets: &'a [usize],
    pub conditions: Vec<ParsedCondition>,
    /// Normalised text of each coupling number; none for a condition with side effects, which is
    /// coupled to nothing.
    pub coupling_keys: Vec<Option<String>>,
}

impl Parser<'_> {
    /// Parses the tokens of `range`, all of them.
    pub(super) fn parse_expression(
        &mut self,
        range: Range<usize>,
        depth: usize,
    ) -> Result<BooleanExpression, Diagnostic> {
        if depth > MAX_NESTING {
            let message =
                format!("more than {MAX_NESTING} parentheses and negations around one condition");
            return Err(self.error_at(range, message));
        }
        let operators = self.boolean_operators(&range)?;
        self.refuse_assignment(&range, &operators)?;
        let mut disjunction = None;
        let mut exclusive_or = None;
        let mut conjunction = None;
        let mut start = range.start;
        for end in operators.into_iter().chain([range.end]) {
            let operand = self.parse_operand(start..end, &range, depth)?;
            conjunction = Some(join_operands(conjunction, operand, BooleanExpression::And));
            let next_kind = if end < range.end { self.tokens[end].kind } else { TokenKind::Close };
            if next_kind != TokenKind::And {
                let finished = conjunction.take().expect("an operand was just joined");
                exclusive_or = Some(join_operands(exclusive_or, finished, BooleanExpression::Xor));
            }
            if next_kind != TokenKind::And && next_kind != TokenKind::Xor {
                let finished = exclusive_or.take().expect("an operand was just joined");
                disjunction = Some(join_operands(disjunction, finished, BooleanExpression::Or));
            }
            start = end + 1;
        }
        Ok(disjunction.expect("the last operand closes every level"))
    }

    /// Indexes of the Boolean operators that stand outside brackets in `range`.
    fn boolean_operators(&self, range: &Range<usize>) -> Result<Vec<usize>, Diagnostic> {
        let mut operators = Vec::new();
        let mut index = range.start;
        while index < range.end {
            let token = &self.tokens[index];
            match token.kind {
                TokenKind::And | TokenKind::Or | TokenKind::Xor => operators.push(index),
                TokenKind::Choice => {
                    let message =
                        "`?:` makes two decisions of this; give the part before the `?`".to_owned();
                    return Err(error_at_token(self.text, token, message));
                }
                TokenKind::Comma => {
                    let message = "one expression is expected, `,` separates two".to_owned();
                    return Err(error_at_token(self.text, token, message));
                }
                TokenKind::Word
                | TokenKind::Open
                | TokenKind::Close
                | TokenKind::Not
                | TokenKind::Step
                | TokenKind::Sign
                | TokenKind::Dot
                | TokenKind::Binary
                | TokenKind::Assign => {}
            }
            index = self.closing_brackets[index] + 1;
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
            if token.kind == TokenKind::Assign {
                let sign = token.text_in(self.text);
                let message = format!("`{sign}` binds weaker than the Boolean operators beside it");
                let hint = format!(
                    "give the right side of `{sign}` alone, or put the assignment into parentheses"
                );
                return Err(error_at_token(self.text, token, message).hint(hint));
            }
            index = self.closing_brackets[index] + 1;
        }
        Ok(())
    }

    /// Parses one operand of a Boolean operator; `around` is for the message where it is empty.
    fn parse_operand(
        &mut self,
        range: Range<usize>,
        outer_range: &Range<usize>,
        depth: usize,
    ) -> Result<BooleanExpression, Diagnostic> {
        if range.is_empty() {
            return Err(self.missing_operand(range.start, outer_range));
        }
        let first_token = range.start;
        let is_bracketed = self.tokens[first_token].kind == TokenKind::Open
            && self.closing_brackets[first_token] + 1 == range.end;
        if is_bracketed && self.is_token(first_token, "(") {
            let inside = first_token + 1..range.end - 1;
            return self.parse_expression(inside, depth + 1);
        }
        if self.tokens[first_token].kind == TokenKind::Not && self.is_unary(&range) {
            if depth >= MAX_NESTING {
                let message = format!(
                    "more than {MAX_NESTING} parentheses and negations around one condition"
                );
                return Err(self.error_at(range, message));
            }
            let negated = self.parse_operand(first_token + 1..range.end, outer_range, depth + 1)?;
            return Ok(BooleanExpression::Not(Box::new(negated)));
        }
        self.parse_condition(range)
    }

    /// Whether the tokens are prefix operators and one operand of them: no binary operator outside
    /// brackets. (In `!a == b` the `!` belongs to `a` alone, so that the comparison is the
    /// condition.)
    fn is_unary(&self, range: &Range<usize>) -> bool {
        let mut index = range.start;
        while index < range.end
            && matches!(self.tokens[index].kind, TokenKind::Not | TokenKind::Sign | TokenKind::Step)
        {
            index += 1;
        }
        while index < range.end {
            if matches!(
                self.tokens[index].kind,
                TokenKind::Binary | TokenKind::Sign | TokenKind::Assign | TokenKind::Not
            ) {
                return false;
            }
            index = self.closing_brackets[index] + 1;
        }
        true
    }

    fn parse_condition(&mut self, range: Range<usize>) -> Result<BooleanExpression, Diagnostic> {
        if self.conditions.len() == MAX_CONDITIONS {
            return Err(self.error_at(
                range,
                format!("more than {MAX_CONDITIONS} conditions in one decision"),
            ));
        }
        self.check_condition(&range)?;
        let span = self.tokens[range.start].span.start..self.tokens[range.end - 1].span.end;
        let text = self.text[span.start..span.end].split_whitespace().collect::<Vec<_>>().join(" ");
        let condition_tokens = || self.tokens[range.start..range.end].iter();
        let has_effects = condition_tokens()
            .any(|token| matches!(token.kind, TokenKind::Step | TokenKind::Assign))
            || self.has_impure_call(&range);
        let normalised_text: String =
            condition_tokens().map(|token| format!("{} ", token.text_in(self.text))).collect();
        let known_coupling = self
            .coupling_keys
            .iter()
            .position(|known_key| !has_effects && known_key.as_ref() == Some(&normalised_text));
        let coupling = known_coupling.unwrap_or_else(|| {
            self.coupling_keys.push((!has_effects).then_some(normalised_text));
            self.coupling_keys.len() - 1
        });
        self.conditions.push(ParsedCondition { text, span, coupling: coupling as u32 });
        Ok(BooleanExpression::Condition(self.conditions.len() as u32 - 1))
    }

    /// Whether a function is called that is not known to be free of side effects.
    fn has_impure_call(&self, range: &Range<usize>) -> bool {
        self.tokens[range.start..range.end].windows(2).any(|token_pair| {
            let is_call =
                token_pair[0].kind == TokenKind::Word && token_pair[1].text_in(self.text) == "(";
            is_call && !is_pure_function(token_pair[0].text_in(self.text))
        })
    }

    /// Operands and operators must alternate, at every level of brackets.
    fn check_condition(&self, range: &Range<usize>) -> Result<(), Diagnostic> {
        let mut operand_before = false;
        for index in range.start..range.end {
            let token = &self.tokens[index];
            let token_text = token.text_in(self.text);
            let alternation_fault = match token.kind {
                TokenKind::Word if operand_before => {
                    Some(format!("an operator is missing before `{token_text}`"))
                }
                TokenKind::Open if !operand_before && token_text == "[" => {
                    Some("`[` stands behind an array".to_owned())
                }
                TokenKind::Close if !operand_before && !self.is_empty_call(index) => {
                    Some(format!("an operand is missing before `{token_text}`"))
                }
                TokenKind::Binary
                | TokenKind::Assign
                | TokenKind::Dot
                | TokenKind::And
                | TokenKind::Or
                | TokenKind::Xor
                | TokenKind::Comma
                | TokenKind::Choice
                    if !operand_before =>
                {
                    Some(format!("an operand is missing before `{token_text}`"))
                }
                TokenKind::Not if operand_before => {
                    Some("an operator is missing before `!`".to_owned())
                }
                TokenKind::Word
                | TokenKind::Open
                | TokenKind::Close
                | TokenKind::Binary
                | TokenKind::Assign
                | TokenKind::Dot
                | TokenKind::And
                | TokenKind::Or
                | TokenKind::Xor
                | TokenKind::Comma
                | TokenKind::Choice
                | TokenKind::Not
                | TokenKind::Step
                | TokenKind::Sign => None,
            };
            if let Some(message) = alternation_fault {
                return Err(error_at_token(self.text, token, message));
            }
            operand_before = match token.kind {
                TokenKind::Word | TokenKind::Close => true,
                // Behind an operand `++` leaves an operand; before one it waits for it.
                TokenKind::Step => operand_before,
                TokenKind::Open
                | TokenKind::And
                | TokenKind::Or
                | TokenKind::Xor
                | TokenKind::Not
                | TokenKind::Sign
                | TokenKind::Dot
                | TokenKind::Binary
                | TokenKind::Assign
                | TokenKind::Comma
                | TokenKind::Choice => false,
            };
        }
        if operand_before {
            return Ok(());
        }
        Err(self.operand_missing_behind(range.end - 1))
    }

    /// Whether the closing bracket at `index` ends the empty argument list of a call.
    fn is_empty_call(&self, index: usize) -> bool {
        index >= 2
            && self.is_token(index - 1, "(")
            && self.is_token(index, ")")
            && self.tokens[index - 2].kind == TokenKind::Word
    }

    fn is_token(&self, index: usize, text: &str) -> bool {
        self.tokens[index].text_in(self.text) == text
    }

    fn missing_operand(&self, token_index: usize, outer_range: &Range<usize>) -> Diagnostic {
        if token_index < outer_range.end {
            let token = &self.tokens[token_index];
            let message = format!("an operand is missing before `{}`", token.text_in(self.text));
            return error_at_token(self.text, token, message);
        }
        match token_index.checked_sub(1) {
            None => {
                syntax_error(self.text, 0..self.text.len(), "the expression is empty".to_owned())
                    .hint("give a Boolean expression such as \"x < k && y < m\"")
            }
            Some(previous_token) => self.operand_missing_behind(previous_token),
        }
    }

    fn operand_missing_behind(&self, token_index: usize) -> Diagnostic {
        let token = &self.tokens[token_index];
        let message = format!("an operand is missing behind `{}`", token.text_in(self.text));
        error_at_token(self.text, token, message)
    }

    fn error_at(&self, range: Range<usize>, message: String) -> Diagnostic {
        let first_token = &self.tokens[range.start.min(self.tokens.len() - 1)];
        error_at_token(self.text, first_token, message)
    }
}

fn join_operands(
    left: Option<BooleanExpression>,
    right: BooleanExpression,
    operator: fn(Box<BooleanExpression>, Box<BooleanExpression>) -> BooleanExpression,
) -> BooleanExpression {
    match left {
        None => right,
        Some(left) => operator(Box::new(left), Box::new(right)),
    }
}
