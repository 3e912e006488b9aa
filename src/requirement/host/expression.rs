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
        let width = match &kind {
            Kind::Literal(_, width) | Kind::Cast(width, _) => *width,
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
        Self { kind, width, span }
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
pub fn integer(width: HostType) -> Option<(u32, bool)> {
    match width {
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
pub fn range(width: HostType) -> (i128, i128) {
    let (bits, signed) = integer(width).unwrap_or((64, true));
    if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// The type's name as interfaces write it.
pub fn type_name(width: HostType) -> &'static str {
    TYPES.iter().find(|(_, ty)| *ty == width).map_or("float", |(name, _)| name)
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
pub fn wrap(value: i128, width: HostType) -> i128 {
    let (lowest, highest) = range(width);
    let count = highest - lowest + 1;
    let kept = value.rem_euclid(count);
    if kept > highest { kept - count } else { kept }
}

pub(super) fn promoted(width: HostType) -> HostType {
    match integer(width) {
        Some((bits, _)) if bits < 32 => HostType::Int32,
        Some(_) | None => width,
    }
}

/// The type that an operation of two operands is done in.
pub(super) fn common(left: HostType, right: HostType) -> HostType {
    let (left, right) = (promoted(left), promoted(right));
    let rank =
        |width: HostType| integer(width).map_or((0, false), |(bits, signed)| (bits, !signed));
    if rank(left) >= rank(right) { left } else { right }
}

impl Expression {
    /// Evaluates with the values of the names in scope; `events` collects what went wrong on the
    /// way.
    pub fn evaluate(&self, scope: &[Typed], division: Division, events: &mut Vec<Event>) -> Typed {
        match &self.kind {
            Kind::Literal(value, width) => Typed { value: *value, width: *width },
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
            Kind::Cast(width, operand) => {
                let operand = operand.evaluate(scope, division, events);
                // A cast says that the loss is meant.
                Typed { value: wrap(operand.value, *width), width: *width }
            }
        }
    }

    fn fit(&self, exact: i128, width: HostType, events: &mut Vec<Event>) -> Typed {
        let value = wrap(exact, width);
        if value != exact {
            events.push(Event::Overflow { span: self.span.clone(), exact, width });
        }
        Typed { value, width }
    }

    fn unary(&self, operator: Unary, operand: Typed, events: &mut Vec<Event>) -> Typed {
        let width = promoted(operand.width);
        match operator {
            Unary::Plus => Typed { value: operand.value, width },
            Unary::Negate => self.fit(-operand.value, width, events),
            Unary::Complement => Typed { value: wrap(!operand.value, width), width },
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
        let truth = |value: bool| Typed { value: i128::from(value), width: HostType::Int32 };
        let left = operands[0].evaluate(scope, division, events);
        if operator == Binary::And && left.value == 0 {
            return truth(false);
        }
        if operator == Binary::Or && left.value != 0 {
            return truth(true);
        }
        let right = operands[1].evaluate(scope, division, events);
        let width = common(left.width, right.width);
        let (a, b) = (wrap(left.value, width), wrap(right.value, width));
        match operator {
            Binary::And | Binary::Or => truth(right.value != 0),
            Binary::Equal => truth(a == b),
            Binary::Unequal => truth(a != b),
            Binary::Less => truth(a < b),
            Binary::LessEqual => truth(a <= b),
            Binary::Greater => truth(a > b),
            Binary::GreaterEqual => truth(a >= b),
            Binary::BitOr => Typed { value: wrap(a | b, width), width },
            Binary::BitXor => Typed { value: wrap(a ^ b, width), width },
            Binary::BitAnd => Typed { value: wrap(a & b, width), width },
            Binary::Add => self.fit(a + b, width, events),
            Binary::Subtract => self.fit(a - b, width, events),
            Binary::Multiply => match a.checked_mul(b) {
                Some(exact) => self.fit(exact, width, events),
                None => {
                    // Two 64-bit factors can exceed 127 bits; the low bits that a type keeps are
                    // right all the same.
                    let exact = a.saturating_mul(b);
                    events.push(Event::Overflow { span: self.span.clone(), exact, width });
                    Typed { value: wrap(a.wrapping_mul(b), width), width }
                }
            },
            Binary::Minimum => Typed { value: a.min(b), width },
            Binary::Maximum => Typed { value: a.max(b), width },
            Binary::Divide | Binary::Remainder if b == 0 => {
                events.push(Event::DivisionByZero { span: self.span.clone() });
                Typed { value: 0, width }
            }
            Binary::Divide => {
                let up = division == Division::RoundUp && a % b != 0 && (a < 0) == (b < 0);
                self.fit(a / b + i128::from(up), width, events)
            }
            Binary::Remainder => Typed { value: a % b, width },
            Binary::ShiftLeft | Binary::ShiftRight => {
                self.shift(operator, left, right.value, events)
            }
        }
    }

    fn shift(&self, operator: Binary, left: Typed, amount: i128, events: &mut Vec<Event>) -> Typed {
        let width = promoted(left.width);
        let bits = integer(width).map_or(64, |(bits, _)| bits);
        if amount < 0 || amount >= i128::from(bits) {
            events.push(Event::ShiftTooFar { span: self.span.clone(), amount });
            return Typed { value: 0, width };
        }
        if operator == Binary::ShiftLeft {
            // At most 64 bits moved by at most 63 places fit i128.
            return self.fit(left.value << amount, width, events);
        }
        Typed { value: left.value >> amount, width }
    }

    /// Indexes of the names it uses.
    pub fn variables(&self, found: &mut BTreeSet<usize>) {
        match &self.kind {
            Kind::Literal(..) => {}
            Kind::Variable(index) => {
                found.insert(*index);
            }
            Kind::Unary(_, operand) | Kind::Cast(_, operand) => operand.variables(found),
            Kind::Binary(_, operands) => {
                operands.iter().for_each(|operand| operand.variables(found))
            }
            Kind::Choice(parts) => parts.iter().for_each(|part| part.variables(found)),
        }
    }
}
