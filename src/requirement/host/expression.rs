//! The integer expressions of `[[interface]]`: parsing, exact evaluation, and enclosing intervals.
//!
//! Knows: C's integer arithmetic at the host's own widths (ISO C17, sections 6.3.1.1 and 6.3.1.8):
//! operands narrower than 32 bits become `int32`, then the wider type wins, and at the same width
//! the unsigned one. Operators `?:`, `||`, `&&`, `|`, `^`, `&`, `==` `!=`, `<` `<=` `>` `>=`, `<<`
//! `>>`, `+` `-`, `*` `/` `%`, unary `-` `+` `~` `!`, casts written as calls (`uint64(m) * n`),
//! `min(a, b)`, `max(a, b)`; literals with the suffixes `u`, `l`, `ul`.
//! Promises: an operation whose exact result does not fit its type wraps, and is reported as an
//! [`Event`]; so is a division by zero (result 0) and a shift too far (result 0). Evaluation and
//! interval never disagree: the value lies inside.
//! Does not cover: floating point, assignment, pointers.

use std::collections::BTreeSet;
use std::ops::Range;
use vkcert_model::requirement::HostType;

/// An operation between two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binary {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Minimum,
    Maximum,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unary {
    Negate,
    Plus,
    Complement,
    Not,
}

/// An expression with the bytes it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression {
    pub kind: Kind,
    /// Type of the result.
    pub width: HostType,
    pub span: Range<usize>,
}

impl Expression {
    /// An expression over `names`, with the type that C gives it.
    pub(super) fn new(kind: Kind, names: &[Name], span: Range<usize>) -> Self {
        let host_type = match &kind {
            Kind::Literal(_, host_type) | Kind::Cast(host_type, _) => *host_type,
            Kind::Variable(index) => names[*index].width,
            Kind::Unary(Unary::Not, _) => HostType::Int32,
            Kind::Unary(Unary::Negate | Unary::Plus | Unary::Complement, operand) => {
                promoted(operand.width)
            }
            Kind::Choice(parts) => common(parts[1].width, parts[2].width),
            Kind::Binary(operator, operands) => match operator {
                Binary::Or
                | Binary::And
                | Binary::Equal
                | Binary::Unequal
                | Binary::Less
                | Binary::LessEqual
                | Binary::Greater
                | Binary::GreaterEqual => HostType::Int32,
                Binary::ShiftLeft | Binary::ShiftRight => promoted(operands[0].width),
                Binary::BitOr
                | Binary::BitXor
                | Binary::BitAnd
                | Binary::Add
                | Binary::Subtract
                | Binary::Multiply
                | Binary::Divide
                | Binary::Remainder
                | Binary::Minimum
                | Binary::Maximum => common(operands[0].width, operands[1].width),
            },
        };
        Self { kind, width: host_type, span }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    Literal(i128, HostType),
    /// Index into the names in scope.
    Variable(usize),
    Unary(Unary, Box<Expression>),
    Binary(Binary, Box<[Expression; 2]>),
    /// Condition, when true, when false.
    Choice(Box<[Expression; 3]>),
    Cast(HostType, Box<Expression>),
}

/// A name that an expression may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    pub name: String,
    pub width: HostType,
}

/// A value with its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Typed {
    pub value: i128,
    pub width: HostType,
}

/// Something that C arithmetic does quietly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The exact result does not fit (beyond 127 bits: the nearest number of that many bits).
    Overflow {
        span: Range<usize>,
        exact: i128,
        width: HostType,
    },
    DivisionByZero {
        span: Range<usize>,
    },
    ShiftTooFar {
        span: Range<usize>,
        amount: i128,
    },
}

/// How `/` rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Division {
    /// As C does, toward zero.
    Truncate,
    /// Up, to see what truncation dropped.
    RoundUp,
}

/// Bits and signedness of an integer type; none for floating point.
pub fn integer(host_type: HostType) -> Option<(u32, bool)> {
    match host_type {
        HostType::Int8 => Some((8, true)),
        HostType::Uint8 => Some((8, false)),
        HostType::Int16 => Some((16, true)),
        HostType::Uint16 => Some((16, false)),
        HostType::Int32 => Some((32, true)),
        HostType::Uint32 => Some((32, false)),
        HostType::Int64 => Some((64, true)),
        HostType::Uint64 => Some((64, false)),
        HostType::Float32 | HostType::Float64 => None,
    }
}

/// Smallest and largest value of a type. Floating-point types count as `int64`: no expression has
/// one (see [`super::parser::parse`]).
pub fn range(host_type: HostType) -> (i128, i128) {
    let (bit_width, is_signed) = integer(host_type).unwrap_or((64, true));
    if is_signed {
        (-(1 << (bit_width - 1)), (1 << (bit_width - 1)) - 1)
    } else {
        (0, (1 << bit_width) - 1)
    }
}

/// The type's name as interfaces write it.
pub fn type_name(host_type: HostType) -> &'static str {
    TYPES.iter().find(|(_, known_type)| *known_type == host_type).map_or("float", |(name, _)| name)
}

pub(super) const TYPES: &[(&str, HostType)] = &[
    ("int8", HostType::Int8),
    ("uint8", HostType::Uint8),
    ("int16", HostType::Int16),
    ("uint16", HostType::Uint16),
    ("int32", HostType::Int32),
    ("uint32", HostType::Uint32),
    ("int64", HostType::Int64),
    ("uint64", HostType::Uint64),
    ("float32", HostType::Float32),
    ("float64", HostType::Float64),
];

/// The value that a type keeps of an exact one (modulo two to the power of its width).
pub fn wrap(value: i128, host_type: HostType) -> i128 {
    let (least_value, greatest_value) = range(host_type);
    let value_count = greatest_value - least_value + 1;
    let wrapped_value = value.rem_euclid(value_count);
    if wrapped_value > greatest_value { wrapped_value - value_count } else { wrapped_value }
}

pub(super) fn promoted(host_type: HostType) -> HostType {
    match integer(host_type) {
        Some((bits, _)) if bits < 32 => HostType::Int32,
        Some(_) | None => host_type,
    }
}

/// The type that an operation of two operands is done in.
pub(super) fn common(left_type: HostType, right_type: HostType) -> HostType {
    let (left_type, right_type) = (promoted(left_type), promoted(right_type));
    let conversion_rank = |host_type: HostType| {
        integer(host_type).map_or((0, false), |(bits, signed)| (bits, !signed))
    };
    if conversion_rank(left_type) >= conversion_rank(right_type) { left_type } else { right_type }
}

impl Expression {
    /// Evaluates with the values of the names in scope; `events` collects what went wrong on the
    /// way.
    pub fn evaluate(&self, scope: &[Typed], division: Division, events: &mut Vec<Event>) -> Typed {
        match &self.kind {
            Kind::Literal(value, host_type) => Typed { value: *value, width: *host_type },
            Kind::Variable(index) => scope[*index],
            Kind::Unary(operator, operand) => {
                let operand = operand.evaluate(scope, division, events);
                self.unary(*operator, operand, events)
            }
            Kind::Binary(operator, operands) => {
                self.binary(*operator, operands, scope, division, events)
            }
            Kind::Choice(parts) => {
                let chosen =
                    if parts[0].evaluate(scope, division, events).value != 0 { 1 } else { 2 };
                let value = parts[chosen].evaluate(scope, division, events);
                Typed { value: wrap(value.value, self.width), width: self.width }
            }
            Kind::Cast(host_type, operand) => {
                let operand = operand.evaluate(scope, division, events);
                // A cast says that the loss is meant.
                Typed { value: wrap(operand.value, *host_type), width: *host_type }
            }
        }
    }

    fn fit(&self, exact: i128, host_type: HostType, events: &mut Vec<Event>) -> Typed {
        let value = wrap(exact, host_type);
        if value != exact {
            events.push(Event::Overflow { span: self.span.clone(), exact, width: host_type });
        }
        Typed { value, width: host_type }
    }

    fn unary(&self, operator: Unary, operand: Typed, events: &mut Vec<Event>) -> Typed {
        let host_type = promoted(operand.width);
        match operator {
            Unary::Plus => Typed { value: operand.value, width: host_type },
            Unary::Negate => self.fit(-operand.value, host_type, events),
            Unary::Complement => Typed { value: wrap(!operand.value, host_type), width: host_type },
            Unary::Not => Typed { value: i128::from(operand.value == 0), width: HostType::Int32 },
        }
    }

    fn binary(
        &self,
        operator: Binary,
        operands: &[Expression; 2],
        scope: &[Typed],
        division: Division,
        events: &mut Vec<Event>,
    ) -> Typed {
        let truth_value = |value: bool| Typed { value: i128::from(value), width: HostType::Int32 };
        let left = operands[0].evaluate(scope, division, events);
        if operator == Binary::And && left.value == 0 {
            return truth_value(false);
        }
        if operator == Binary::Or && left.value != 0 {
            return truth_value(true);
        }
        let right = operands[1].evaluate(scope, division, events);
        let host_type = common(left.width, right.width);
        let (left_value, right_value) = (wrap(left.value, host_type), wrap(right.value, host_type));
        match operator {
            Binary::And | Binary::Or => truth_value(right.value != 0),
            Binary::Equal => truth_value(left_value == right_value),
            Binary::Unequal => truth_value(left_value != right_value),
            Binary::Less => truth_value(left_value < right_value),
            Binary::LessEqual => truth_value(left_value <= right_value),
            Binary::Greater => truth_value(left_value > right_value),
            Binary::GreaterEqual => truth_value(left_value >= right_value),
            Binary::BitOr => {
                Typed { value: wrap(left_value | right_value, host_type), width: host_type }
            }
            Binary::BitXor => {
                Typed { value: wrap(left_value ^ right_value, host_type), width: host_type }
            }
            Binary::BitAnd => {
                Typed { value: wrap(left_value & right_value, host_type), width: host_type }
            }
            Binary::Add => self.fit(left_value + right_value, host_type, events),
            Binary::Subtract => self.fit(left_value - right_value, host_type, events),
            Binary::Multiply => match left_value.checked_mul(right_value) {
                Some(exact) => self.fit(exact, host_type, events),
                None => {
                    // Two 64-bit factors can exceed 127 bits; the low bits that a type keeps are
                    // right all the same.
                    let exact = left_value.saturating_mul(right_value);
                    events.push(Event::Overflow {
                        span: self.span.clone(),
                        exact,
                        width: host_type,
                    });
                    Typed {
                        value: wrap(left_value.wrapping_mul(right_value), host_type),
                        width: host_type,
                    }
                }
            },
            Binary::Minimum => Typed { value: left_value.min(right_value), width: host_type },
            Binary::Maximum => Typed { value: left_value.max(right_value), width: host_type },
            Binary::Divide | Binary::Remainder if right_value == 0 => {
                events.push(Event::DivisionByZero { span: self.span.clone() });
                Typed { value: 0, width: host_type }
            }
            Binary::Divide => {
                let rounds_up = division == Division::RoundUp
                    && left_value % right_value != 0
                    && (left_value < 0) == (right_value < 0);
                self.fit(left_value / right_value + i128::from(rounds_up), host_type, events)
            }
            Binary::Remainder => Typed { value: left_value % right_value, width: host_type },
            Binary::ShiftLeft | Binary::ShiftRight => {
                self.shift(operator, left, right.value, events)
            }
        }
    }

    fn shift(&self, operator: Binary, left: Typed, amount: i128, events: &mut Vec<Event>) -> Typed {
        let host_type = promoted(left.width);
        let bit_width = integer(host_type).map_or(64, |(bit_width, _)| bit_width);
        if amount < 0 || amount >= i128::from(bit_width) {
            events.push(Event::ShiftTooFar { span: self.span.clone(), amount });
            return Typed { value: 0, width: host_type };
        }
        if operator == Binary::ShiftLeft {
            // At most 64 bits moved by at most 63 places fit i128.
            return self.fit(left.value << amount, host_type, events);
        }
        Typed { value: left.value >> amount, width: host_type }
    }

    /// Indexes of the names it uses.
    pub fn variables(&self, name_indices: &mut BTreeSet<usize>) {
        match &self.kind {
            Kind::Literal(..) => {}
            Kind::Variable(index) => {
                name_indices.insert(*index);
            }
            Kind::Unary(_, operand) | Kind::Cast(_, operand) => operand.variables(name_indices),
            Kind::Binary(_, operands) => {
                operands.iter().for_each(|operand| operand.variables(name_indices))
            }
            Kind::Choice(parts) => parts.iter().for_each(|part| part.variables(name_indices)),
        }
    }
}
