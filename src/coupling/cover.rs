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
use vkcert_requirement::host::decide::Host;
use vkcert_requirement::host::expression::{self as host, Binary, Expression, Kind};
use vkcert_requirement::host::interval::Enclosed;

/// Whether `groups` workgroups of `local` invocations cover `domain` for all parameter values, by
/// the form of `groups`.
pub(super) fn covers_by_form(
    host: &Host,
    groups: &Expression,
    domain: &Expression,
    local: i128,
) -> bool {
    let proof = Proof { host, scope: host.enclose().0 };
    // vkCmdDispatch takes a uint32_t; a count that wraps on the way there covers nothing.
    let Some(count) = proof.exact(groups) else { return false };
    let (lowest, highest) = host::range(HostType::Uint32);
    if count.low < lowest || count.high > highest {
        return false;
    }
    proof.rounds_up(groups, domain, local)
}

/// Operators whose operands are converted to the type of the result.
fn arithmetic(operator: Binary) -> bool {
    matches!(
        operator,
        Binary::Add
            | Binary::Subtract
            | Binary::Multiply
            | Binary::Divide
            | Binary::Remainder
            | Binary::Minimum
            | Binary::Maximum
    )
}

struct Proof<'a> {
    host: &'a Host,
    /// Intervals of all names.
    scope: Vec<Enclosed>,
}

impl<'a> Proof<'a> {
    /// The interval of an expression in which nothing can wrap or trap and no operand changes its
    /// value by conversion.
    fn exact(&self, expression: &Expression) -> Option<Enclosed> {
        let mut quiet = true;
        let interval = expression.enclose(&self.scope, &mut quiet);
        let kept = match &expression.kind {
            Kind::Literal(..) => true,
            Kind::Variable(name) => match self.host.local(*name) {
                Some(local) => self.kept(local, interval.width),
                None => true,
            },
            Kind::Cast(width, operand) => self.kept(operand, *width),
            Kind::Binary(operator, operands) if arithmetic(*operator) => {
                operands.iter().all(|operand| self.kept(operand, interval.width))
            }
            // No form has one.
            Kind::Binary(..) | Kind::Unary(..) | Kind::Choice(_) => false,
        };
        (quiet && kept).then_some(interval)
    }

    /// Whether an exact operand keeps its value in a type.
    fn kept(&self, operand: &Expression, width: HostType) -> bool {
        let (lowest, highest) = host::range(width);
        self.exact(operand)
            .is_some_and(|interval| interval.low >= lowest && interval.high <= highest)
    }

    /// What an expression stands for: locals and casts that keep the value are looked through.
    fn origin<'e>(&self, expression: &'e Expression) -> &'e Expression
    where
        'a: 'e,
    {
        let inner = match &expression.kind {
            Kind::Variable(name) => self.host.local(*name),
            Kind::Cast(_, operand) => Some(&**operand),
            Kind::Literal(..) | Kind::Unary(..) | Kind::Binary(..) | Kind::Choice(_) => None,
        };
        match inner {
            Some(inner) if self.kept(inner, expression.width) => self.origin(inner),
            Some(_) | None => expression,
        }
    }

    /// The one value of an expression that has no other.
    fn constant(&self, expression: &Expression) -> Option<i128> {
        self.exact(expression)
            .filter(|interval| interval.low == interval.high)
            .map(|interval| interval.low)
    }

    /// An exact expression as another one and a constant added to it.
    fn offset<'e>(&self, expression: &'e Expression) -> (&'e Expression, i128)
    where
        'a: 'e,
    {
        let expression = self.origin(expression);
        let Kind::Binary(operator, operands) = &expression.kind else { return (expression, 0) };
        let [left, right] = &**operands;
        let (term, added) = match (operator, self.constant(left), self.constant(right)) {
            (Binary::Add, _, Some(added)) => (left, added),
            (Binary::Add, Some(added), None) => (right, added),
            (Binary::Subtract, _, Some(taken)) => (left, -taken),
            (_, _, _) => return (expression, 0),
        };
        let (term, further) = self.offset(term);
        (term, added + further)
    }

    /// Whether `groups` is `(domain + a) / c + b` with enough added to round up, and c at most
    /// `local`.
    fn rounds_up(&self, groups: &Expression, domain: &Expression, local: i128) -> bool {
        let (quotient, b) = self.offset(groups);
        let Kind::Binary(Binary::Divide, operands) = &quotient.kind else { return false };
        let [dividend, divisor] = &**operands;
        let Some(c) = self.constant(divisor).filter(|c| (1..=local).contains(c)) else {
            return false;
        };
        let not_negative =
            |expression| self.exact(expression).is_some_and(|interval| interval.low >= 0);
        if !not_negative(dividend) || !not_negative(domain) {
            return false;
        }
        let ((term, added), (wanted, further)) = (self.offset(dividend), self.offset(domain));
        self.same(term, wanted) && added - further + b * c >= c - 1
    }

    /// Whether two expressions are the same, names of locals and value-keeping casts aside.
    fn same(&self, left: &Expression, right: &Expression) -> bool {
        let (left, right) = (self.origin(left), self.origin(right));
        match (&left.kind, &right.kind) {
            (Kind::Literal(a, _), Kind::Literal(b, _)) => a == b,
            (Kind::Variable(a), Kind::Variable(b)) => a == b,
            (Kind::Unary(f, a), Kind::Unary(g, b)) => f == g && self.same(a, b),
            (Kind::Binary(f, a), Kind::Binary(g, b)) => {
                f == g && self.same(&a[0], &b[0]) && self.same(&a[1], &b[1])
            }
            (Kind::Cast(f, a), Kind::Cast(g, b)) => f == g && self.same(a, b),
            (Kind::Choice(a), Kind::Choice(b)) => (0..3).all(|part| self.same(&a[part], &b[part])),
            (
                Kind::Literal(..)
                | Kind::Variable(_)
                | Kind::Unary(..)
                | Kind::Binary(..)
                | Kind::Cast(..)
                | Kind::Choice(_),
                _,
            ) => false,
        }
    }
}
