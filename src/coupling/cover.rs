//! A proof by form that a group count covers a domain: division that rounds up, recognised as such.
//!
//! Knows: counts of the form `(d + a) / c + b` with constants a, b and c, however the constants are
//! spread over the terms (`(k + 15) / 16`, `(k + TILE - 1) / TILE`, `(k - 1) / 16 + 1`, `k / 16 +
//! 1`); names of locals and casts that keep the value stand for what they are made of.
//! Promises: yes only if d is the domain itself, `a + b * c` is at least c - 1, c is at most the
//! local size, and no operation on the way can wrap for any parameter value. Division of a dividend
//! that is not negative rounds down, so the count is then at least (d + c - 1) / c rounded down,
//! which is d / c rounded up; that many workgroups of at least c cover d.
//! Does not cover: any other way to write it; a no says nothing (`decide` searches then).

use vkcert_model::requirement::HostType;
use vkcert_requirement::host::decide::HostModel;
use vkcert_requirement::host::expression::{
    self as host, BinaryOperator, HostExpression, HostExpressionKind,
};
use vkcert_requirement::host::interval::ValueInterval;

/// Whether `groups` workgroups of `local` invocations cover `domain` for all parameter values, by
/// the form of `groups`.
pub(super) fn covers_by_form(
    host: &HostModel,
    groups: &HostExpression,
    domain: &HostExpression,
    local_size: i128,
) -> bool {
    let proof = RoundingProof { host, scope: host.enclose_names().0 };
    // vkCmdDispatch takes a uint32_t; a count that wraps on the way there covers nothing.
    let Some(group_count) = proof.exact_interval(groups) else { return false };
    let (lowest, highest) = host::type_range(HostType::Uint32);
    if group_count.low < lowest || group_count.high > highest {
        return false;
    }
    proof.rounds_up(groups, domain, local_size)
}

/// Operators whose operands are converted to the type of the result.
fn is_arithmetic(operator: BinaryOperator) -> bool {
    matches!(
        operator,
        BinaryOperator::Add
            | BinaryOperator::Subtract
            | BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Remainder
            | BinaryOperator::Minimum
            | BinaryOperator::Maximum
    )
}

struct RoundingProof<'a> {
    host: &'a HostModel,
    /// Intervals of all names.
    scope: Vec<ValueInterval>,
}

impl<'a> RoundingProof<'a> {
    /// The interval of an expression in which nothing can wrap or trap and no operand changes its
    /// value by conversion.
    fn exact_interval(&self, expression: &HostExpression) -> Option<ValueInterval> {
        let mut is_quiet = true;
        let interval = expression.enclose(&self.scope, &mut is_quiet);
        let operands_kept = match &expression.kind {
            HostExpressionKind::Literal(..) => true,
            HostExpressionKind::Variable(name) => match self.host.local_expression(*name) {
                Some(local_expression) => self.keeps_value(local_expression, interval.width),
                None => true,
            },
            HostExpressionKind::Cast(width, operand) => self.keeps_value(operand, *width),
            HostExpressionKind::Binary(operator, operands) if is_arithmetic(*operator) => {
                operands.iter().all(|operand| self.keeps_value(operand, interval.width))
            }
            // No form has one.
            HostExpressionKind::Binary(..)
            | HostExpressionKind::Unary(..)
            | HostExpressionKind::Choice(_) => false,
        };
        (is_quiet && operands_kept).then_some(interval)
    }

    /// Whether an exact operand keeps its value in a type.
    fn keeps_value(&self, operand: &HostExpression, width: HostType) -> bool {
        let (lowest, highest) = host::type_range(width);
        self.exact_interval(operand)
            .is_some_and(|interval| interval.low >= lowest && interval.high <= highest)
    }

    /// What an expression stands for: locals and casts that keep the value are looked through.
    fn value_origin<'e>(&self, expression: &'e HostExpression) -> &'e HostExpression
    where
        'a: 'e,
    {
        let inner_expression = match &expression.kind {
            HostExpressionKind::Variable(name) => self.host.local_expression(*name),
            HostExpressionKind::Cast(_, operand) => Some(&**operand),
            HostExpressionKind::Literal(..)
            | HostExpressionKind::Unary(..)
            | HostExpressionKind::Binary(..)
            | HostExpressionKind::Choice(_) => None,
        };
        match inner_expression {
            Some(inner_expression) if self.keeps_value(inner_expression, expression.width) => {
                self.value_origin(inner_expression)
            }
            Some(_) | None => expression,
        }
    }

    /// The one value of an expression that has no other.
    fn constant_value(&self, expression: &HostExpression) -> Option<i128> {
        self.exact_interval(expression)
            .filter(|interval| interval.low == interval.high)
            .map(|interval| interval.low)
    }

    /// An exact expression as another one and a constant added to it.
    fn term_and_constant<'e>(&self, expression: &'e HostExpression) -> (&'e HostExpression, i128)
    where
        'a: 'e,
    {
        let expression = self.value_origin(expression);
        let HostExpressionKind::Binary(operator, operands) = &expression.kind else {
            return (expression, 0);
        };
        let [left, right] = &**operands;
        let (term, added_constant) =
            match (operator, self.constant_value(left), self.constant_value(right)) {
                (BinaryOperator::Add, _, Some(added_constant)) => (left, added_constant),
                (BinaryOperator::Add, Some(added_constant), None) => (right, added_constant),
                (BinaryOperator::Subtract, _, Some(taken_constant)) => (left, -taken_constant),
                (_, _, _) => return (expression, 0),
            };
        let (term, further_constant) = self.term_and_constant(term);
        (term, added_constant + further_constant)
    }

    /// Whether `groups` is `(domain + a) / c + b` with enough added to round up, and c at most
    /// `local`.
    fn rounds_up(
        &self,
        groups: &HostExpression,
        domain: &HostExpression,
        local_size: i128,
    ) -> bool {
        let (quotient, b) = self.term_and_constant(groups);
        let HostExpressionKind::Binary(BinaryOperator::Divide, operands) = &quotient.kind else {
            return false;
        };
        let [dividend, divisor] = &**operands;
        let Some(c) = self.constant_value(divisor).filter(|c| (1..=local_size).contains(c)) else {
            return false;
        };
        let is_not_negative =
            |expression| self.exact_interval(expression).is_some_and(|interval| interval.low >= 0);
        if !is_not_negative(dividend) || !is_not_negative(domain) {
            return false;
        }
        let ((dividend_term, dividend_constant), (domain_term, domain_constant)) =
            (self.term_and_constant(dividend), self.term_and_constant(domain));
        self.is_same_expression(dividend_term, domain_term)
            && dividend_constant - domain_constant + b * c >= c - 1
    }

    /// Whether two expressions are the same, names of locals and value-keeping casts aside.
    fn is_same_expression(&self, left: &HostExpression, right: &HostExpression) -> bool {
        let (left, right) = (self.value_origin(left), self.value_origin(right));
        match (&left.kind, &right.kind) {
            (HostExpressionKind::Literal(a, _), HostExpressionKind::Literal(b, _)) => a == b,
            (HostExpressionKind::Variable(a), HostExpressionKind::Variable(b)) => a == b,
            (HostExpressionKind::Unary(f, a), HostExpressionKind::Unary(g, b)) => {
                f == g && self.is_same_expression(a, b)
            }
            (HostExpressionKind::Binary(f, a), HostExpressionKind::Binary(g, b)) => {
                f == g
                    && self.is_same_expression(&a[0], &b[0])
                    && self.is_same_expression(&a[1], &b[1])
            }
            (HostExpressionKind::Cast(f, a), HostExpressionKind::Cast(g, b)) => {
                f == g && self.is_same_expression(a, b)
            }
            (HostExpressionKind::Choice(a), HostExpressionKind::Choice(b)) => {
                (0..3).all(|part| self.is_same_expression(&a[part], &b[part]))
            }
            (
                HostExpressionKind::Literal(..)
                | HostExpressionKind::Variable(_)
                | HostExpressionKind::Unary(..)
                | HostExpressionKind::Binary(..)
                | HostExpressionKind::Cast(..)
                | HostExpressionKind::Choice(_),
                _,
            ) => false,
        }
    }
}
