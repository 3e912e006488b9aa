//! Enclosing intervals of host expressions, by interval arithmetic over their operators.
//!
//! Promises: every value that evaluation can give lies inside, wrapped ones included; `quiet` stays
//! true only where no event is possible.
//! Does not cover: evaluation itself (`expression`).

use super::expression::{
    BinaryOperator, HostExpression, HostExpressionKind, UnaryOperator, common_type, integer_format,
    promoted_type, type_range,
};
use vkcert_model::requirement::HostType;

/// All values between two bounds, of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValueInterval {
    /// Least value, included.
    pub low: i128,
    /// Greatest value, included.
    pub high: i128,
    /// Type of the values.
    pub width: HostType,
}

impl HostExpression {
    /// An interval that holds every value the expression can take. `quiet` turns false where an
    /// event is possible.
    pub fn enclose(&self, scope: &[ValueInterval], is_quiet: &mut bool) -> ValueInterval {
        match &self.kind {
            HostExpressionKind::Literal(value, host_type) => {
                ValueInterval { low: *value, high: *value, width: *host_type }
            }
            HostExpressionKind::Variable(index) => scope[*index],
            HostExpressionKind::Cast(host_type, operand) => {
                let operand = operand.enclose(scope, is_quiet);
                // The wrap is meant; it is not quiet about bounds all the same.
                interval_of_type(operand.low, operand.high, *host_type, &mut true)
            }
            HostExpressionKind::Unary(operator, operand) => {
                let operand = operand.enclose(scope, is_quiet);
                let host_type = promoted_type(operand.width);
                match operator {
                    UnaryOperator::Plus => ValueInterval { width: host_type, ..operand },
                    UnaryOperator::Negate => {
                        interval_of_type(-operand.high, -operand.low, host_type, is_quiet)
                    }
                    UnaryOperator::Complement => {
                        interval_of_type(!operand.high, !operand.low, host_type, &mut true)
                    }
                    UnaryOperator::Not => ValueInterval { low: 0, high: 1, width: HostType::Int32 },
                }
            }
            HostExpressionKind::Choice(parts) => {
                parts[0].enclose(scope, is_quiet);
                let (a, b) = (parts[1].enclose(scope, is_quiet), parts[2].enclose(scope, is_quiet));
                interval_of_type(
                    a.low.min(b.low),
                    a.high.max(b.high),
                    common_type(a.width, b.width),
                    &mut true,
                )
            }
            HostExpressionKind::Binary(operator, operands) => {
                let left = operands[0].enclose(scope, is_quiet);
                let right = operands[1].enclose(scope, is_quiet);
                enclose_operation(*operator, left, right, is_quiet)
            }
        }
    }
}

/// The interval as a type keeps it: all of the type where it may wrap.
pub fn interval_of_type(
    low: i128,
    high: i128,
    host_type: HostType,
    is_quiet: &mut bool,
) -> ValueInterval {
    let (least_value, greatest_value) = type_range(host_type);
    if low >= least_value && high <= greatest_value {
        return ValueInterval { low, high, width: host_type };
    }
    *is_quiet = false;
    ValueInterval { low: least_value, high: greatest_value, width: host_type }
}

/// The least and the greatest result at the corners of two intervals: the bounds of an operation
/// that is monotone in each operand.
fn corner_bounds(
    left: ValueInterval,
    right: ValueInterval,
    operation: impl Fn(i128, i128) -> i128,
) -> (i128, i128) {
    let mut corner_values = [
        operation(left.low, right.low),
        operation(left.low, right.high),
        operation(left.high, right.low),
        operation(left.high, right.high),
    ];
    corner_values.sort_unstable();
    (corner_values[0], corner_values[3])
}

fn enclose_operation(
    operator: BinaryOperator,
    left: ValueInterval,
    right: ValueInterval,
    is_quiet: &mut bool,
) -> ValueInterval {
    let truth_interval = ValueInterval { low: 0, high: 1, width: HostType::Int32 };
    let host_type = common_type(left.width, right.width);
    let (left_converted, right_converted) = (
        interval_of_type(left.low, left.high, host_type, &mut true),
        interval_of_type(right.low, right.high, host_type, &mut true),
    );
    let (least_value, greatest_value) = type_range(host_type);
    match operator {
        BinaryOperator::And
        | BinaryOperator::Or
        | BinaryOperator::Equal
        | BinaryOperator::Unequal
        | BinaryOperator::Less
        | BinaryOperator::LessEqual
        | BinaryOperator::Greater
        | BinaryOperator::GreaterEqual => truth_interval,
        BinaryOperator::Add => interval_of_type(
            left_converted.low + right_converted.low,
            left_converted.high + right_converted.high,
            host_type,
            is_quiet,
        ),
        BinaryOperator::Subtract => interval_of_type(
            left_converted.low - right_converted.high,
            left_converted.high - right_converted.low,
            host_type,
            is_quiet,
        ),
        BinaryOperator::Multiply => {
            let (low, high) = corner_bounds(left_converted, right_converted, i128::saturating_mul);
            interval_of_type(low, high, host_type, is_quiet)
        }
        BinaryOperator::Minimum => ValueInterval {
            low: left_converted.low.min(right_converted.low),
            high: left_converted.high.min(right_converted.high),
            width: host_type,
        },
        BinaryOperator::Maximum => ValueInterval {
            low: left_converted.low.max(right_converted.low),
            high: left_converted.high.max(right_converted.high),
            width: host_type,
        },
        BinaryOperator::Divide | BinaryOperator::Remainder
            if right_converted.low <= 0 && right_converted.high >= 0 =>
        {
            *is_quiet = false;
            ValueInterval { low: least_value, high: greatest_value, width: host_type }
        }
        BinaryOperator::Divide => {
            let (low, high) =
                corner_bounds(left_converted, right_converted, |dividend, divisor| {
                    dividend / divisor
                });
            // Where the dividend can be 0 the quotient can.
            let spans_zero = left_converted.low <= 0 && left_converted.high >= 0;
            interval_of_type(
                if spans_zero { low.min(0) } else { low },
                if spans_zero { high.max(0) } else { high },
                host_type,
                is_quiet,
            )
        }
        BinaryOperator::Remainder => {
            // The quotient does not fit where the least signed number is divided by -1.
            let (lowest, highest) =
                corner_bounds(left_converted, right_converted, |left, right| left / right);
            interval_of_type(lowest, highest, host_type, is_quiet);
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
            ValueInterval { low, high, width: host_type }
        }
        BinaryOperator::BitAnd if left_converted.low >= 0 && right_converted.low >= 0 => {
            ValueInterval {
                low: 0,
                high: left_converted.high.min(right_converted.high),
                width: host_type,
            }
        }
        BinaryOperator::BitOr | BinaryOperator::BitXor
            if left_converted.low >= 0 && right_converted.low >= 0 =>
        {
            let largest_operand = left_converted.high.max(right_converted.high);
            let high = if largest_operand == 0 {
                0
            } else {
                (1i128 << (128 - largest_operand.leading_zeros())) - 1
            };
            ValueInterval { low: 0, high, width: host_type }
        }
        BinaryOperator::BitAnd | BinaryOperator::BitOr | BinaryOperator::BitXor => {
            ValueInterval { low: least_value, high: greatest_value, width: host_type }
        }
        BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => {
            enclose_shift(operator, left, right, is_quiet)
        }
    }
}

/// A shift has the type of its left operand alone.
fn enclose_shift(
    operator: BinaryOperator,
    left: ValueInterval,
    amount: ValueInterval,
    is_quiet: &mut bool,
) -> ValueInterval {
    let host_type = promoted_type(left.width);
    let bit_width = integer_format(host_type).map_or(64, |(bit_width, _)| i128::from(bit_width));
    if amount.low < 0 || amount.high >= bit_width {
        *is_quiet = false;
        let (least_value, greatest_value) = type_range(host_type);
        return ValueInterval { low: least_value, high: greatest_value, width: host_type };
    }
    let (low, high) = if operator == BinaryOperator::ShiftLeft {
        corner_bounds(left, amount, |value, places| value << places)
    } else {
        corner_bounds(left, amount, |value, places| value >> places)
    };
    interval_of_type(low, high, host_type, is_quiet)
}
