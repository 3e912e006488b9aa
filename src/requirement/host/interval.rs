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
    pub fn enclose(&self, scope: &[Enclosed], is_quiet: &mut bool) -> Enclosed {
        match &self.kind {
            Kind::Literal(value, host_type) => {
                Enclosed { low: *value, high: *value, width: *host_type }
            }
            Kind::Variable(index) => scope[*index],
            Kind::Cast(host_type, operand) => {
                let operand = operand.enclose(scope, is_quiet);
                // The wrap is meant; it is not quiet about bounds all the same.
                enclosed(operand.low, operand.high, *host_type, &mut true)
            }
            Kind::Unary(operator, operand) => {
                let operand = operand.enclose(scope, is_quiet);
                let host_type = promoted(operand.width);
                match operator {
                    Unary::Plus => Enclosed { width: host_type, ..operand },
                    Unary::Negate => enclosed(-operand.high, -operand.low, host_type, is_quiet),
                    Unary::Complement => {
                        enclosed(!operand.high, !operand.low, host_type, &mut true)
                    }
                    Unary::Not => Enclosed { low: 0, high: 1, width: HostType::Int32 },
                }
            }
            Kind::Choice(parts) => {
                parts[0].enclose(scope, is_quiet);
                let (a, b) = (parts[1].enclose(scope, is_quiet), parts[2].enclose(scope, is_quiet));
                enclosed(a.low.min(b.low), a.high.max(b.high), common(a.width, b.width), &mut true)
            }
            Kind::Binary(operator, operands) => {
                let left = operands[0].enclose(scope, is_quiet);
                let right = operands[1].enclose(scope, is_quiet);
                enclose_binary(*operator, left, right, is_quiet)
            }
        }
    }
}

/// The interval as a type keeps it: all of the type where it may wrap.
pub fn enclosed(low: i128, high: i128, host_type: HostType, is_quiet: &mut bool) -> Enclosed {
    let (least_value, greatest_value) = range(host_type);
    if low >= least_value && high <= greatest_value {
        return Enclosed { low, high, width: host_type };
    }
    *is_quiet = false;
    Enclosed { low: least_value, high: greatest_value, width: host_type }
}

fn enclose_binary(
    operator: Binary,
    left: Enclosed,
    right: Enclosed,
    is_quiet: &mut bool,
) -> Enclosed {
    let truth_interval = Enclosed { low: 0, high: 1, width: HostType::Int32 };
    let host_type = common(left.width, right.width);
    let (left_converted, right_converted) = (
        enclosed(left.low, left.high, host_type, &mut true),
        enclosed(right.low, right.high, host_type, &mut true),
    );
    let corner_bounds = |operation: &dyn Fn(i128, i128) -> i128| {
        let corner_values = [
            operation(left_converted.low, right_converted.low),
            operation(left_converted.low, right_converted.high),
            operation(left_converted.high, right_converted.low),
            operation(left_converted.high, right_converted.high),
        ];
        (corner_values.into_iter().min().unwrap_or(0), corner_values.into_iter().max().unwrap_or(0))
    };
    let (least_value, greatest_value) = range(host_type);
    match operator {
        Binary::And
        | Binary::Or
        | Binary::Equal
        | Binary::Unequal
        | Binary::Less
        | Binary::LessEqual
        | Binary::Greater
        | Binary::GreaterEqual => truth_interval,
        Binary::Add => enclosed(
            left_converted.low + right_converted.low,
            left_converted.high + right_converted.high,
            host_type,
            is_quiet,
        ),
        Binary::Subtract => enclosed(
            left_converted.low - right_converted.high,
            left_converted.high - right_converted.low,
            host_type,
            is_quiet,
        ),
        Binary::Multiply => {
            let (low, high) = corner_bounds(&|left, right| left.saturating_mul(right));
            enclosed(low, high, host_type, is_quiet)
        }
        Binary::Minimum => Enclosed {
            low: left_converted.low.min(right_converted.low),
            high: left_converted.high.min(right_converted.high),
            width: host_type,
        },
        Binary::Maximum => Enclosed {
            low: left_converted.low.max(right_converted.low),
            high: left_converted.high.max(right_converted.high),
            width: host_type,
        },
        Binary::Divide | Binary::Remainder
            if right_converted.low <= 0 && right_converted.high >= 0 =>
        {
            *is_quiet = false;
            Enclosed { low: least_value, high: greatest_value, width: host_type }
        }
        Binary::Divide => {
            let (low, high) = corner_bounds(&|left, right| left / right);
            // Where the dividend can be 0 the quotient can.
            let spans_zero = left_converted.low <= 0 && left_converted.high >= 0;
            enclosed(
                if spans_zero { low.min(0) } else { low },
                if spans_zero { high.max(0) } else { high },
                host_type,
                is_quiet,
            )
        }
        Binary::Remainder => {
            let largest_remainder = right_converted.low.abs().max(right_converted.high.abs()) - 1;
            let low = if left_converted.low < 0 {
                (-largest_remainder).max(left_converted.low)
            } else {
                0
            };
            let high = if left_converted.high > 0 {
                largest_remainder.min(left_converted.high)
            } else {
                0
            };
            Enclosed { low, high, width: host_type }
        }
        Binary::BitAnd if left_converted.low >= 0 && right_converted.low >= 0 => Enclosed {
            low: 0,
            high: left_converted.high.min(right_converted.high),
            width: host_type,
        },
        Binary::BitOr | Binary::BitXor if left_converted.low >= 0 && right_converted.low >= 0 => {
            let largest_operand = left_converted.high.max(right_converted.high);
            let high = if largest_operand == 0 {
                0
            } else {
                (1i128 << (128 - largest_operand.leading_zeros())) - 1
            };
            Enclosed { low: 0, high, width: host_type }
        }
        Binary::BitAnd | Binary::BitOr | Binary::BitXor => {
            Enclosed { low: least_value, high: greatest_value, width: host_type }
        }
        Binary::ShiftLeft | Binary::ShiftRight => {
            let host_type = promoted(left.width);
            let bit_width = integer(host_type).map_or(64, |(bit_width, _)| i128::from(bit_width));
            let (least_value, greatest_value) = range(host_type);
            if right.low < 0 || right.high >= bit_width {
                *is_quiet = false;
                return Enclosed { low: least_value, high: greatest_value, width: host_type };
            }
            let shifted = |value: i128, amount: i128| {
                if operator == Binary::ShiftLeft { value << amount } else { value >> amount }
            };
            let corner_values = [
                (left.low, right.low),
                (left.low, right.high),
                (left.high, right.low),
                (left.high, right.high),
            ];
            let corner_values = corner_values.map(|(value, amount)| shifted(value, amount));
            let (low, high) = (
                corner_values.into_iter().min().unwrap_or(least_value),
                corner_values.into_iter().max().unwrap_or(greatest_value),
            );
            enclosed(low, high, host_type, is_quiet)
        }
    }
}
