//! Enclosing intervals of host expressions, by interval arithmetic over their operators.
//!
//! Promises: every value that evaluation can give lies inside, wrapped ones included; `quiet` stays
//! true only where no event is possible.
//! Does not cover: evaluation itself (`expression`).

use super::expression::{Binary, Expression, Kind, Unary, common, integer, promoted, range};
use vkcert_model::requirement::HostType;

/// All values between two bounds, of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Enclosed {
    pub low: i128,
    pub high: i128,
    pub width: HostType,
}

impl Expression {
    /// An interval that holds every value the expression can take. `quiet` turns false where an
    /// event is possible.
    pub fn enclose(&self, scope: &[Enclosed], quiet: &mut bool) -> Enclosed {
        match &self.kind {
            Kind::Literal(value, width) => Enclosed { low: *value, high: *value, width: *width },
            Kind::Variable(index) => scope[*index],
            Kind::Cast(width, operand) => {
                let operand = operand.enclose(scope, quiet);
                // The wrap is meant; it is not quiet about bounds all the same.
                enclosed(operand.low, operand.high, *width, &mut true)
            }
            Kind::Unary(operator, operand) => {
                let operand = operand.enclose(scope, quiet);
                let width = promoted(operand.width);
                match operator {
                    Unary::Plus => Enclosed { width, ..operand },
                    Unary::Negate => enclosed(-operand.high, -operand.low, width, quiet),
                    Unary::Complement => enclosed(!operand.high, !operand.low, width, &mut true),
                    Unary::Not => Enclosed { low: 0, high: 1, width: HostType::Int32 },
                }
            }
            Kind::Choice(parts) => {
                parts[0].enclose(scope, quiet);
                let (a, b) = (parts[1].enclose(scope, quiet), parts[2].enclose(scope, quiet));
                enclosed(a.low.min(b.low), a.high.max(b.high), common(a.width, b.width), &mut true)
            }
            Kind::Binary(operator, operands) => {
                let left = operands[0].enclose(scope, quiet);
                let right = operands[1].enclose(scope, quiet);
                enclose_binary(*operator, left, right, quiet)
            }
        }
    }
}

/// The interval as a type keeps it: all of the type where it may wrap.
pub fn enclosed(low: i128, high: i128, width: HostType, quiet: &mut bool) -> Enclosed {
    let (lowest, highest) = range(width);
    if low >= lowest && high <= highest {
        return Enclosed { low, high, width };
    }
    *quiet = false;
    Enclosed { low: lowest, high: highest, width }
}

fn enclose_binary(operator: Binary, left: Enclosed, right: Enclosed, quiet: &mut bool) -> Enclosed {
    let truth = Enclosed { low: 0, high: 1, width: HostType::Int32 };
    let width = common(left.width, right.width);
    let (a, b) = (
        enclosed(left.low, left.high, width, &mut true),
        enclosed(right.low, right.high, width, &mut true),
    );
    let corners = |of: &dyn Fn(i128, i128) -> i128| {
        let all = [of(a.low, b.low), of(a.low, b.high), of(a.high, b.low), of(a.high, b.high)];
        (all.into_iter().min().unwrap_or(0), all.into_iter().max().unwrap_or(0))
    };
    let (lowest, highest) = range(width);
    match operator {
        Binary::And
        | Binary::Or
        | Binary::Equal
        | Binary::Unequal
        | Binary::Less
        | Binary::LessEqual
        | Binary::Greater
        | Binary::GreaterEqual => truth,
        Binary::Add => enclosed(a.low + b.low, a.high + b.high, width, quiet),
        Binary::Subtract => enclosed(a.low - b.high, a.high - b.low, width, quiet),
        Binary::Multiply => {
            let (low, high) = corners(&|a, b| a.saturating_mul(b));
            enclosed(low, high, width, quiet)
        }
        Binary::Minimum => Enclosed { low: a.low.min(b.low), high: a.high.min(b.high), width },
        Binary::Maximum => Enclosed { low: a.low.max(b.low), high: a.high.max(b.high), width },
        Binary::Divide | Binary::Remainder if b.low <= 0 && b.high >= 0 => {
            *quiet = false;
            Enclosed { low: lowest, high: highest, width }
        }
        Binary::Divide => {
            let (low, high) = corners(&|a, b| a / b);
            // Where the dividend can be 0 the quotient can.
            let spans = a.low <= 0 && a.high >= 0;
            enclosed(
                if spans { low.min(0) } else { low },
                if spans { high.max(0) } else { high },
                width,
                quiet,
            )
        }
        Binary::Remainder => {
            let most = b.low.abs().max(b.high.abs()) - 1;
            let low = if a.low < 0 { (-most).max(a.low) } else { 0 };
            let high = if a.high > 0 { most.min(a.high) } else { 0 };
            Enclosed { low, high, width }
        }
        Binary::BitAnd if a.low >= 0 && b.low >= 0 => {
            Enclosed { low: 0, high: a.high.min(b.high), width }
        }
        Binary::BitOr | Binary::BitXor if a.low >= 0 && b.low >= 0 => {
            let top = a.high.max(b.high);
            let high = if top == 0 { 0 } else { (1i128 << (128 - top.leading_zeros())) - 1 };
            Enclosed { low: 0, high, width }
        }
        Binary::BitAnd | Binary::BitOr | Binary::BitXor => {
            Enclosed { low: lowest, high: highest, width }
        }
        Binary::ShiftLeft | Binary::ShiftRight => {
            let width = promoted(left.width);
            let bits = integer(width).map_or(64, |(bits, _)| i128::from(bits));
            let (lowest, highest) = range(width);
            if right.low < 0 || right.high >= bits {
                *quiet = false;
                return Enclosed { low: lowest, high: highest, width };
            }
            let shift = |value: i128, by: i128| {
                if operator == Binary::ShiftLeft { value << by } else { value >> by }
            };
            let all = [
                (left.low, right.low),
                (left.low, right.high),
                (left.high, right.low),
                (left.high, right.high),
            ];
            let all = all.map(|(value, by)| shift(value, by));
            let (low, high) =
                (all.into_iter().min().unwrap_or(lowest), all.into_iter().max().unwrap_or(highest));
            enclosed(low, high, width, quiet)
        }
    }
}
