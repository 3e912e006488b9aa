//! The integer expressions of `[[interface]]`: parsing, exact evaluation, and enclosing intervals.
//!
//! Knows: C's integer arithmetic at the host's own widths (ISO C17, sections 6.3.1.1 and 6.3.1.8):
//! operands narrower than 32 bits become `int32`, then the wider type wins, and at the same width
//! the unsigned one. Operators `?:`, `||`, `&&`, `|`, `^`, `&`, `==` `!=`, `<` `<=` `>` `>=`, `<<`
//! `>>`, `+` `-`, `*` `/` `%`, unary `-` `+` `~` `!`, casts written as calls (`uint64(m) * n`),
//! `min(a, b)`, `max(a, b)`; literals with the suffixes `u`, `l`, `ul`.
//! Promises: an operation whose exact result does not fit its type wraps, and is reported as an
//! [`ArithmeticEvent`]; so is a division by zero (result 0), a shift too far (result 0) and a
//! remainder whose quotient does not fit.
//! Evaluation and interval never disagree: the value lies inside.
//! Does not cover: floating point, assignment, pointers.

use std::collections::BTreeSet;
use vkcert_model::index_range::IndexRange;
use vkcert_model::requirement::HostType;

/// An operation between two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryOperator {
    /// `||`, short-circuited.
    Or,
    /// `&&`, short-circuited.
    And,
    /// `|`.
    BitOr,
    /// `^`.
    BitXor,
    /// `&`.
    BitAnd,
    /// `==`.
    Equal,
    /// `!=`.
    Unequal,
    /// `<`.
    Less,
    /// `<=`.
    LessEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterEqual,
    /// `<<`.
    ShiftLeft,
    /// `>>`.
    ShiftRight,
    /// `+`.
    Add,
    /// `-`.
    Subtract,
    /// `*`.
    Multiply,
    /// `/`, truncated toward zero.
    Divide,
    /// `%`, with the sign of the dividend.
    Remainder,
    /// `min(a, b)`.
    Minimum,
    /// `max(a, b)`.
    Maximum,
}

/// An operation on one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaryOperator {
    /// `-`.
    Negate,
    /// `+`.
    Plus,
    /// `~`.
    Complement,
    /// `!`.
    Not,
}

/// An expression with the bytes it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostExpression {
    /// What the expression is.
    pub kind: HostExpressionKind,
    /// Type of the result.
    pub width: HostType,
    /// Bytes of the expression in its text.
    pub span: IndexRange,
}

impl HostExpression {
    /// An expression over `names`, with the type that C gives it.
    pub(super) fn new(kind: HostExpressionKind, names: &[HostName], span: IndexRange) -> Self {
        let host_type = match &kind {
            HostExpressionKind::Literal(_, host_type) | HostExpressionKind::Cast(host_type, _) => {
                *host_type
            }
            HostExpressionKind::Variable(index) => names[*index].width,
            HostExpressionKind::Unary(UnaryOperator::Not, _) => HostType::Int32,
            HostExpressionKind::Unary(
                UnaryOperator::Negate | UnaryOperator::Plus | UnaryOperator::Complement,
                operand,
            ) => promoted_type(operand.width),
            HostExpressionKind::Choice(parts) => common_type(parts[1].width, parts[2].width),
            HostExpressionKind::Binary(operator, operands) => match operator {
                BinaryOperator::Or
                | BinaryOperator::And
                | BinaryOperator::Equal
                | BinaryOperator::Unequal
                | BinaryOperator::Less
                | BinaryOperator::LessEqual
                | BinaryOperator::Greater
                | BinaryOperator::GreaterEqual => HostType::Int32,
                BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => {
                    promoted_type(operands[0].width)
                }
                BinaryOperator::BitOr
                | BinaryOperator::BitXor
                | BinaryOperator::BitAnd
                | BinaryOperator::Add
                | BinaryOperator::Subtract
                | BinaryOperator::Multiply
                | BinaryOperator::Divide
                | BinaryOperator::Remainder
                | BinaryOperator::Minimum
                | BinaryOperator::Maximum => common_type(operands[0].width, operands[1].width),
            },
        };
        Self { kind, width: host_type, span }
    }
}

/// What an expression is, with its operands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostExpressionKind {
    /// A number with its type.
    Literal(i128, HostType),
    /// Index into the names in scope.
    Variable(usize),
    /// An operation on one operand.
    Unary(UnaryOperator, Box<HostExpression>),
    /// An operation on the left and the right operand.
    Binary(BinaryOperator, Box<[HostExpression; 2]>),
    /// Condition, when true, when false.
    Choice(Box<[HostExpression; 3]>),
    /// A conversion to a type.
    Cast(HostType, Box<HostExpression>),
}

/// A name that an expression may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostName {
    /// The name.
    pub name: String,
    /// Type of its value.
    pub width: HostType,
}

/// A value with its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypedValue {
    /// The value, within its type.
    pub value: i128,
    /// Its type.
    pub width: HostType,
}

impl TypedValue {
    /// What a comparison gives in C.
    fn truth(is_true: bool) -> Self {
        Self { value: i128::from(is_true), width: HostType::Int32 }
    }
}

/// Something that C arithmetic does quietly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArithmeticEvent {
    /// The exact result does not fit (beyond 127 bits: the nearest number of that many bits).
    Overflow {
        /// Bytes of the operation in the expression's text.
        span: IndexRange,
        /// The result before it wraps.
        exact: i128,
        /// Type of the result.
        width: HostType,
    },
    /// A remainder whose quotient does not fit: C leaves both undefined (ISO C17, section 6.5.5).
    QuotientOverflow {
        /// Bytes of the operation in the expression's text.
        span: IndexRange,
        /// The quotient before it wraps.
        quotient: i128,
        /// Type of the operands.
        width: HostType,
    },
    /// `/` or `%` by zero.
    DivisionByZero {
        /// Bytes of the operation in the expression's text.
        span: IndexRange,
    },
    /// A shift by a negative number, or by the width or more.
    ShiftTooFar {
        /// Bytes of the operation in the expression's text.
        span: IndexRange,
        /// By how much it shifts.
        amount: i128,
    },
}

/// How `/` rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DivisionRounding {
    /// As C does, toward zero.
    Truncate,
    /// Up, to see what truncation dropped.
    RoundUp,
}

/// Bits and signedness of an integer type; none for floating point.
pub fn integer_format(host_type: HostType) -> Option<(u32, bool)> {
    match host_type {
        HostType::Int8 => Some((8, true)),
        HostType::Uint8 => Some((8, false)),
        HostType::Int16 => Some((16, true)),
        HostType::Uint16 => Some((16, false)),
        HostType::Int32 => Some((32, true)),
        HostType::Uint32 => Some((32, false)),
        HostType::Int64 => Some((64, true)),
        HostType::Uint64 => Some((64, false)),
        HostType::Float16 | HostType::Float32 | HostType::Float64 => None,
    }
}

/// Smallest and largest value of a type. Floating-point types count as `int64`: no expression has
/// one (see [`super::parser::parse_expression`]).
pub fn type_range(host_type: HostType) -> (i128, i128) {
    let (bit_width, is_signed) = integer_format(host_type).unwrap_or((64, true));
    if is_signed {
        (-(1 << (bit_width - 1)), (1 << (bit_width - 1)) - 1)
    } else {
        (0, (1 << bit_width) - 1)
    }
}

/// The type's name as interfaces write it.
pub fn type_name(host_type: HostType) -> &'static str {
    host_type.name()
}

pub(super) const HOST_TYPES: &[(&str, HostType)] = HostType::ALL;

/// The value that a type keeps of an exact one (modulo two to the power of its width).
pub fn wrap_to_type(value: i128, host_type: HostType) -> i128 {
    let (least_value, greatest_value) = type_range(host_type);
    let value_count = greatest_value - least_value + 1;
    let wrapped_value = value.rem_euclid(value_count);
    if wrapped_value > greatest_value { wrapped_value - value_count } else { wrapped_value }
}

pub(super) fn promoted_type(host_type: HostType) -> HostType {
    match integer_format(host_type) {
        Some((bits, _)) if bits < 32 => HostType::Int32,
        Some(_) | None => host_type,
    }
}

/// Rank among converted operands: the wider type wins, and at the same width the unsigned one.
fn conversion_rank(host_type: HostType) -> (u32, bool) {
    integer_format(host_type).map_or((0, false), |(bit_width, is_signed)| (bit_width, !is_signed))
}

/// The type that an operation of two operands is done in.
pub(super) fn common_type(left_type: HostType, right_type: HostType) -> HostType {
    let (left_type, right_type) = (promoted_type(left_type), promoted_type(right_type));
    if conversion_rank(left_type) >= conversion_rank(right_type) { left_type } else { right_type }
}

impl HostExpression {
    /// Evaluates with the values of the names in scope; `events` collects what went wrong on the
    /// way.
    pub fn evaluate(
        &self,
        scope: &[TypedValue],
        division: DivisionRounding,
        events: &mut Vec<ArithmeticEvent>,
    ) -> TypedValue {
        match &self.kind {
            HostExpressionKind::Literal(value, host_type) => {
                TypedValue { value: *value, width: *host_type }
            }
            HostExpressionKind::Variable(index) => scope[*index],
            HostExpressionKind::Unary(operator, operand) => {
                let operand = operand.evaluate(scope, division, events);
                self.apply_unary(*operator, operand, events)
            }
            HostExpressionKind::Binary(operator, operands) => {
                self.evaluate_binary(*operator, operands, scope, division, events)
            }
            HostExpressionKind::Choice(parts) => {
                let chosen =
                    if parts[0].evaluate(scope, division, events).value != 0 { 1 } else { 2 };
                let value = parts[chosen].evaluate(scope, division, events);
                TypedValue { value: wrap_to_type(value.value, self.width), width: self.width }
            }
            HostExpressionKind::Cast(host_type, operand) => {
                let operand = operand.evaluate(scope, division, events);
                // A cast says that the loss is meant.
                TypedValue { value: wrap_to_type(operand.value, *host_type), width: *host_type }
            }
        }
    }

    fn fit_to_type(
        &self,
        exact: i128,
        host_type: HostType,
        events: &mut Vec<ArithmeticEvent>,
    ) -> TypedValue {
        let value = wrap_to_type(exact, host_type);
        if value != exact {
            events.push(ArithmeticEvent::Overflow { span: self.span, exact, width: host_type });
        }
        TypedValue { value, width: host_type }
    }

    fn apply_unary(
        &self,
        operator: UnaryOperator,
        operand: TypedValue,
        events: &mut Vec<ArithmeticEvent>,
    ) -> TypedValue {
        let host_type = promoted_type(operand.width);
        match operator {
            UnaryOperator::Plus => TypedValue { value: operand.value, width: host_type },
            UnaryOperator::Negate => self.fit_to_type(-operand.value, host_type, events),
            UnaryOperator::Complement => {
                TypedValue { value: wrap_to_type(!operand.value, host_type), width: host_type }
            }
            UnaryOperator::Not => TypedValue::truth(operand.value == 0),
        }
    }

    fn evaluate_binary(
        &self,
        operator: BinaryOperator,
        operands: &[HostExpression; 2],
        scope: &[TypedValue],
        division: DivisionRounding,
        events: &mut Vec<ArithmeticEvent>,
    ) -> TypedValue {
        let left = operands[0].evaluate(scope, division, events);
        if operator == BinaryOperator::And && left.value == 0 {
            return TypedValue::truth(false);
        }
        if operator == BinaryOperator::Or && left.value != 0 {
            return TypedValue::truth(true);
        }
        let right = operands[1].evaluate(scope, division, events);
        let host_type = common_type(left.width, right.width);
        let (left_value, right_value) =
            (wrap_to_type(left.value, host_type), wrap_to_type(right.value, host_type));
        match operator {
            BinaryOperator::And | BinaryOperator::Or => TypedValue::truth(right.value != 0),
            BinaryOperator::Equal => TypedValue::truth(left_value == right_value),
            BinaryOperator::Unequal => TypedValue::truth(left_value != right_value),
            BinaryOperator::Less => TypedValue::truth(left_value < right_value),
            BinaryOperator::LessEqual => TypedValue::truth(left_value <= right_value),
            BinaryOperator::Greater => TypedValue::truth(left_value > right_value),
            BinaryOperator::GreaterEqual => TypedValue::truth(left_value >= right_value),
            BinaryOperator::BitOr => TypedValue {
                value: wrap_to_type(left_value | right_value, host_type),
                width: host_type,
            },
            BinaryOperator::BitXor => TypedValue {
                value: wrap_to_type(left_value ^ right_value, host_type),
                width: host_type,
            },
            BinaryOperator::BitAnd => TypedValue {
                value: wrap_to_type(left_value & right_value, host_type),
                width: host_type,
            },
            BinaryOperator::Add => self.fit_to_type(left_value + right_value, host_type, events),
            BinaryOperator::Subtract => {
                self.fit_to_type(left_value - right_value, host_type, events)
            }
            BinaryOperator::Multiply => match left_value.checked_mul(right_value) {
                Some(exact) => self.fit_to_type(exact, host_type, events),
                None => {
                    // Two 64-bit factors can exceed 127 bits; the low bits that a type keeps are
                    // right all the same.
                    let exact = left_value.saturating_mul(right_value);
                    events.push(ArithmeticEvent::Overflow {
                        span: self.span,
                        exact,
                        width: host_type,
                    });
                    TypedValue {
                        value: wrap_to_type(left_value.wrapping_mul(right_value), host_type),
                        width: host_type,
                    }
                }
            },
            BinaryOperator::Minimum => {
                TypedValue { value: left_value.min(right_value), width: host_type }
            }
            BinaryOperator::Maximum => {
                TypedValue { value: left_value.max(right_value), width: host_type }
            }
            BinaryOperator::Divide | BinaryOperator::Remainder if right_value == 0 => {
                events.push(ArithmeticEvent::DivisionByZero { span: self.span });
                TypedValue { value: 0, width: host_type }
            }
            BinaryOperator::Divide => {
                let rounds_up = division == DivisionRounding::RoundUp
                    && left_value % right_value != 0
                    && left_value.signum() == right_value.signum();
                self.fit_to_type(
                    left_value / right_value + i128::from(rounds_up),
                    host_type,
                    events,
                )
            }
            BinaryOperator::Remainder => {
                let quotient = left_value / right_value;
                if wrap_to_type(quotient, host_type) != quotient {
                    let span = self.span;
                    events.push(ArithmeticEvent::QuotientOverflow {
                        span,
                        quotient,
                        width: host_type,
                    });
                }
                TypedValue { value: left_value % right_value, width: host_type }
            }
            BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => {
                self.apply_shift(operator, left, right.value, events)
            }
        }
    }

    fn apply_shift(
        &self,
        operator: BinaryOperator,
        left: TypedValue,
        amount: i128,
        events: &mut Vec<ArithmeticEvent>,
    ) -> TypedValue {
        let host_type = promoted_type(left.width);
        let bit_width = integer_format(host_type).map_or(64, |(bit_width, _)| bit_width);
        if amount < 0 || amount >= i128::from(bit_width) {
            events.push(ArithmeticEvent::ShiftTooFar { span: self.span, amount });
            return TypedValue { value: 0, width: host_type };
        }
        if operator == BinaryOperator::ShiftLeft {
            // At most 64 bits moved by at most 63 places fit i128.
            return self.fit_to_type(left.value << amount, host_type, events);
        }
        TypedValue { value: left.value >> amount, width: host_type }
    }

    /// Indexes of the names it uses.
    pub fn collect_names(&self, name_indices: &mut BTreeSet<usize>) {
        match &self.kind {
            HostExpressionKind::Literal(..) => {}
            HostExpressionKind::Variable(index) => {
                name_indices.insert(*index);
            }
            HostExpressionKind::Unary(_, operand) | HostExpressionKind::Cast(_, operand) => {
                operand.collect_names(name_indices)
            }
            HostExpressionKind::Binary(_, operands) => {
                operands.iter().for_each(|operand| operand.collect_names(name_indices))
            }
            HostExpressionKind::Choice(parts) => {
                parts.iter().for_each(|part| part.collect_names(name_indices))
            }
        }
    }
}
