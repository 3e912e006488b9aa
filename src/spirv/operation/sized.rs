//! Operations on numbers of any width: what each computes from the bits of its operands.
//!
//! Knows: integers of 8, 16, 32 and 64 bits, IEEE 754 floats of 16, 32 and 64 bits and bfloat16, as
//! bits in the low end of a 64-bit word whose other bits are 0.
//! Promises: every operation has a result for every operand. Basic float operations and conversions
//! are rounded once, to nearest even or where the operation says; what is undefined is named by
//! [`Operation::undefined`] and has the result that `word` documents, with the operand's width in
//! place of 32. On 32 bits both files compute the same (tested).
//! Does not cover: speed: the machine uses `word` for 32 bits.

use super::integer::Integer;
use super::table::Rounding;
use super::word::{Binary, Classify, Compare, Ternary, Unary};
use vkcert_oracle::float::{Direction, Format, Real};

/// Bits of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    W8,
    W16,
    W32,
    W64,
}

impl Width {
    pub fn of(bits: u32) -> Option<Self> {
        match bits {
            8 => Some(Width::W8),
            16 => Some(Width::W16),
            32 => Some(Width::W32),
            64 => Some(Width::W64),
            _ => None,
        }
    }

    pub const fn bits(self) -> u32 {
        match self {
            Width::W8 => 8,
            Width::W16 => 16,
            Width::W32 => 32,
            Width::W64 => 64,
        }
    }

    pub const fn bytes(self) -> u32 {
        self.bits() / 8
    }

    /// Registers of 32 bits that hold such a number.
    pub const fn words(self) -> usize {
        match self {
            Width::W8 | Width::W16 | Width::W32 => 1,
            Width::W64 => 2,
        }
    }

    fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    pub(super) fn signed(self, bits: u64) -> i64 {
        let shift = 64 - self.bits();
        ((bits << shift) as i64) >> shift
    }

    pub(super) fn least(self) -> i64 {
        i64::MIN >> (64 - self.bits())
    }
}

/// How bits are read as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    Integer(Width),
    Float(Width),
    /// A float of 16 bits that has the exponent of one of 32 (bfloat16).
    Brain,
}

impl Form {
    pub const WORD: Form = Form::Integer(Width::W32);
    pub const FLOAT: Form = Form::Float(Width::W32);

    pub const fn width(self) -> Width {
        match self {
            Form::Integer(width) | Form::Float(width) => width,
            Form::Brain => Width::W16,
        }
    }

    pub const fn is_float(self) -> bool {
        match self {
            Form::Float(_) | Form::Brain => true,
            Form::Integer(_) => false,
        }
    }

    /// The format of a float; none for integers.
    pub fn format(self) -> Option<Format> {
        match self {
            Form::Float(width) => Format::of_width(width.bits()),
            Form::Brain => Some(Format::BRAIN),
            Form::Integer(_) => None,
        }
    }

    /// Whether `word` computes on it.
    pub fn is_word(self) -> bool {
        self.width() == Width::W32
    }

    /// The bits of a float in this form.
    pub fn of_float(self, value: f64) -> u64 {
        match self {
            Form::Float(Width::W16) => u64::from(half_of(value)),
            Form::Brain => u64::from(half::bf16::from_f32(odd(value)).to_bits()),
            Form::Float(Width::W32) => u64::from((value as f32).to_bits()),
            Form::Float(Width::W64) | Form::Integer(_) | Form::Float(Width::W8) => value.to_bits(),
        }
    }

    /// The float that bits of this form are; exact.
    pub fn float(self, bits: u64) -> f64 {
        match self {
            Form::Float(Width::W16) => half::f16::from_bits(bits as u16).to_f64(),
            Form::Brain => half::bf16::from_bits(bits as u16).to_f64(),
            Form::Float(Width::W32) => f64::from(f32::from_bits(bits as u32)),
            Form::Float(Width::W64) | Form::Integer(_) | Form::Float(Width::W8) => {
                f64::from_bits(bits)
            }
        }
    }
}

/// The nearest float of 16 bits, ties to even. A float of 32 bits in between keeps, in its last
/// bit, that something was cut off (rounding to odd), so that nothing is rounded twice.
fn half_of(value: f64) -> u16 {
    half::f16::from_f32(odd(value)).to_bits()
}

/// A float of 32 bits that lies on the same side of every float of 16 bits as `value`, and of all
/// ties between them.
fn odd(value: f64) -> f32 {
    let near = value as f32;
    if !near.is_finite() || f64::from(near) == value || near.to_bits() & 1 == 1 {
        return near;
    }
    let away = (f64::from(near).abs() < value.abs()) || near == 0.0;
    let bits = near.to_bits();
    let moved = if away { bits + 1 } else { bits - 1 };
    f32::from_bits(if near == 0.0 { moved | (value.to_bits() >> 63 << 31) as u32 } else { moved })
}

/// What is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sized {
    Unary(Unary),
    Binary(Binary),
    Ternary(Ternary),
    /// From one form to another: integers by their unsigned value.
    FromUnsigned,
    /// Integers by their signed value.
    FromSigned,
    ToUnsigned,
    ToSigned,
    /// Between floats.
    Round,
    /// A denormal float becomes a zero of its sign.
    Flush,
}

impl Sized {
    pub fn operands(self) -> usize {
        match self {
            Sized::Binary(_) => 2,
            Sized::Ternary(_) => 3,
            Sized::Unary(_)
            | Sized::FromUnsigned
            | Sized::FromSigned
            | Sized::ToUnsigned
            | Sized::ToSigned
            | Sized::Round
            | Sized::Flush => 1,
        }
    }

    /// Whether the result depends on which way it is rounded.
    pub fn rounds(self) -> bool {
        match self {
            Sized::Unary(op) => op.row().rounding == Rounding::Rounded,
            Sized::Binary(op) => op.row().rounding == Rounding::Rounded,
            Sized::Ternary(op) => op.row().rounding == Rounding::Rounded,
            Sized::FromUnsigned | Sized::FromSigned | Sized::Round => true,
            Sized::ToUnsigned | Sized::ToSigned | Sized::Flush => false,
        }
    }

    /// How many of its operands, from the first on, are floats where the first one is; the others
    /// are integers.
    pub fn float_operands(self) -> usize {
        match self {
            Sized::Unary(op) => op.row().float_operands(1),
            Sized::Binary(op) => op.row().float_operands(2),
            Sized::Ternary(op) => op.row().float_operands(3),
            Sized::FromUnsigned
            | Sized::FromSigned
            | Sized::ToUnsigned
            | Sized::ToSigned
            | Sized::Round
            | Sized::Flush => 1,
        }
    }
}

/// An operation with the forms of its first operand and of its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    pub op: Sized,
    pub from: Form,
    pub to: Form,
    /// Which way a float result is rounded.
    pub rounding: Direction,
}

impl Operation {
    /// With float results rounded to the nearest.
    pub fn new(op: Sized, from: Form, to: Form) -> Self {
        Self { op, from, to, rounding: Direction::Nearest }
    }

    /// The bits of a float result that was computed with twice the digits or more.
    fn float_bits(self, value: f64) -> u64 {
        match (self.rounding, self.to.format()) {
            (Direction::Nearest, _) | (_, None) => self.to.of_float(value),
            (direction, Some(format)) => Real::of_float(value).rounded(format, direction),
        }
    }

    /// The rounded result of basic operations; none of others, and where an ordinary one is as
    /// good.
    fn basic(self, a: u64, b: u64, c: u64) -> Option<u64> {
        let (direction, fused) =
            (self.rounding, matches!(self.op, Sized::Ternary(op) if op.is_fused()));
        if direction == Direction::Nearest && (!fused || self.from == Form::Float(Width::W64)) {
            return None;
        }
        let (from, to) = (self.from.format()?, self.to.format()?);
        let [x, y, z] = [a, b, c].map(|bits| Real::of_bits(from, bits));
        let real = match self.op {
            Sized::Binary(Binary::FAdd) => x.plus(y, direction),
            Sized::Binary(Binary::FSub) => x.plus(y.negated(), direction),
            Sized::Binary(Binary::FMul) => x.times(y),
            Sized::Binary(Binary::FDiv | Binary::NormalizedComponent) => x.over(y),
            Sized::Binary(Binary::Ldexp) => x.scaled(Width::W32.signed(b) as i32),
            Sized::Unary(Unary::Sqrt | Unary::SqrtToNormalize) => x.root(),
            Sized::Ternary(Ternary::Fma | Ternary::ContractedAdd) => x.times(y).plus(z, direction),
            Sized::Ternary(Ternary::ContractedSub) => x.times(y).plus(z.negated(), direction),
            Sized::Ternary(Ternary::ContractedSubFrom) => x.times(y).negated().plus(z, direction),
            Sized::Round => x,
            _ => return None,
        };
        Some(real.rounded(to, direction))
    }

    /// The result for operands given as bits; those that the operation does not have are ignored.
    /// None: there is no such operation on this form.
    pub fn value(self, a: u64, b: u64, c: u64) -> Option<u64> {
        if let Some(bits) = self.basic(a, b, c) {
            return Some(bits);
        }
        let width = self.from.width();
        let bits = match self.op {
            Sized::Unary(op) => match self.from {
                Form::Integer(_) => integer1(op, width, a)?,
                Form::Float(_) | Form::Brain => self.float1(op, a)?,
            },
            Sized::Binary(op) => match self.from {
                Form::Integer(_) => integer2(op, width, a, b)?,
                Form::Float(_) | Form::Brain => self.float2(op, a, b)?,
            },
            Sized::Ternary(op) => match self.from {
                Form::Integer(_) => integer3(op, width, a, b, c)?,
                Form::Float(_) | Form::Brain => self.float3(op, a, b, c)?,
            },
            Sized::FromUnsigned => match (self.to.format(), self.rounding, self.to) {
                (None, _, _) => a,
                (_, Direction::Nearest, Form::Float(Width::W32)) => u64::from((a as f32).to_bits()),
                (_, Direction::Nearest, Form::Float(Width::W64)) => (a as f64).to_bits(),
                (Some(format), direction, _) => Real::of_unsigned(a).rounded(format, direction),
            },
            Sized::FromSigned => {
                match (self.to.format(), self.rounding, self.to, width.signed(a)) {
                    (None, _, _, a) => a as u64,
                    (_, Direction::Nearest, Form::Float(Width::W32), a) => {
                        u64::from((a as f32).to_bits())
                    }
                    (_, Direction::Nearest, Form::Float(Width::W64), a) => (a as f64).to_bits(),
                    (Some(format), direction, _, a) => {
                        Real::of_signed(a).rounded(format, direction)
                    }
                }
            }
            Sized::ToUnsigned => {
                let most = self.to.width().mask();
                (self.from.float(a) as u64).min(most)
            }
            Sized::ToSigned => {
                let (least, most) = (self.to.width().least(), (self.to.width().mask() >> 1) as i64);
                (self.from.float(a) as i64).clamp(least, most) as u64
            }
            Sized::Round => self.float_bits(self.from.float(a)),
            Sized::Flush => self.from.format()?.flushed(a),
        };
        Some(bits & self.to.width().mask())
    }

    fn float1(self, op: Unary, a: u64) -> Option<u64> {
        let width = self.from.width();
        let sign = 1 << (width.bits() - 1);
        match op {
            Unary::FNegate => return Some(a ^ sign),
            Unary::FAbs => return Some(a & !sign),
            Unary::FrexpExponent => return Some(frexp(self.from.float(a)).1 as u64),
            _ => {}
        }
        Some(self.float_bits(float_function(op)?(self.from.float(a))))
    }

    fn float2(self, op: Binary, a: u64, b: u64) -> Option<u64> {
        if op == Binary::Ldexp {
            let exponent = Width::W32.signed(b).clamp(-4400, 4400) as i32;
            return Some(self.float_bits(scale(self.from.float(a), exponent)));
        }
        let (x, y) = (self.from.float(a), self.from.float(b));
        // A comparison gives an operand back, bits and all.
        let pick = |first: bool| if first { a } else { b };
        Some(match op {
            Binary::FMin => {
                if y < x {
                    b
                } else {
                    a
                }
            }
            Binary::FMax => {
                if x < y {
                    b
                } else {
                    a
                }
            }
            Binary::NMin => pick(y.is_nan() || x < y || (x == y && x.is_sign_negative())),
            Binary::NMax => pick(y.is_nan() || x > y || (x == y && x.is_sign_positive())),
            Binary::FAdd => self.float_bits(x + y),
            Binary::FSub => self.float_bits(x - y),
            Binary::FMul => self.float_bits(x * y),
            Binary::FDiv | Binary::NormalizedComponent => self.float_bits(x / y),
            Binary::FRem => self.float_bits(x % y),
            Binary::FMod => {
                let quotient = self.to.float(self.step(Binary::FDiv, a, b)?).floor();
                self.step(Binary::FSub, a, self.step(Binary::FMul, b, self.to.of_float(quotient))?)?
            }
            Binary::Pow => self.float_bits(x.powf(y)),
            Binary::Atan2 => self.float_bits(x.atan2(y)),
            Binary::Step => self.float_bits(if y < x { 0.0 } else { 1.0 }),
            _ => return None,
        })
    }

    fn float3(self, op: Ternary, a: u64, b: u64, c: u64) -> Option<u64> {
        let [x, y, z] = [a, b, c].map(|bits| self.from.float(bits));
        let number = |value: f64| self.to.of_float(value);
        let [add, sub, mul] = [Binary::FAdd, Binary::FSub, Binary::FMul];
        Some(match op {
            Ternary::FClamp => {
                let (least, bits) = if x < y { (y, b) } else { (x, a) };
                if z < least { c } else { bits }
            }
            Ternary::NClamp => {
                let least = x.max(y);
                self.float_bits(least.min(z))
            }
            Ternary::FMix => {
                let rest = self.step(sub, number(1.0), c)?;
                self.step(add, self.step(mul, a, rest)?, self.step(mul, b, c)?)?
            }
            Ternary::SmoothStep => {
                let t = self.step(Binary::FDiv, self.step(sub, c, a)?, self.step(sub, b, a)?)?;
                let t = number(self.to.float(t).clamp(0.0, 1.0));
                let rest = self.step(sub, number(3.0), self.step(mul, number(2.0), t)?)?;
                self.step(mul, self.step(mul, t, t)?, rest)?
            }
            Ternary::UClamp
            | Ternary::SClamp
            | Ternary::BitFieldSExtract
            | Ternary::BitFieldUExtract
            | Ternary::BitFieldInsert => return None,
            // What is left to the processor; others are computed before (`basic`).
            Ternary::Fma | Ternary::ContractedAdd => self.float_bits(x.mul_add(y, z)),
            Ternary::ContractedSub => self.float_bits(x.mul_add(y, -z)),
            Ternary::ContractedSubFrom => self.float_bits((-x).mul_add(y, z)),
        })
    }

    /// A step of a composed function, rounded by itself.
    fn step(self, op: Binary, a: u64, b: u64) -> Option<u64> {
        Operation { op: Sized::Binary(op), from: self.to, ..self }.value(a, b, 0)
    }

    /// Whether there is such an operation.
    pub fn exists(self) -> bool {
        self.value(0, 1, 1).is_some()
    }
}

/// Multiplies by a power of two and rounds once.
fn scale(value: f64, exponent: i32) -> f64 {
    if exponent > 1000 {
        return scale(value * 2f64.powi(1000), exponent - 1000);
    }
    if exponent >= -1000 {
        return value * 2f64.powi(exponent);
    }
    // The first step is exact unless nothing is left after the second.
    value * 2f64.powi((exponent + 1000).max(-1022)) * 2f64.powi(-1000)
}

/// Whether `ldexp` is undefined: by an exponent above the type's largest, or a finite number whose
/// result is infinite.
pub fn is_too_large(form: Form, number: u64, exponent: u64) -> bool {
    let largest = match form {
        Form::Float(Width::W16) => 16,
        Form::Float(Width::W64) => 1024,
        Form::Float(Width::W8 | Width::W32) | Form::Brain | Form::Integer(_) => 128,
    };
    let (number, exponent) = (form.float(number), Width::W32.signed(exponent));
    let result = scale(number, exponent.clamp(-4400, 4400) as i32);
    exponent > largest || (number.is_finite() && form.float(form.of_float(result)).is_infinite())
}

/// Significand in [0.5, 1) and exponent.
pub fn frexp(value: f64) -> (f64, i32) {
    if value == 0.0 || !value.is_finite() {
        return (value, 0);
    }
    // A denormal is made normal first.
    let (value, shift) =
        if value.abs() < f64::MIN_POSITIVE { (value * 2f64.powi(54), -54) } else { (value, 0) };
    let exponent = ((value.to_bits() >> 52) & 0x7ff) as i32 - 1022;
    (f64::from_bits((value.to_bits() & !(0x7ff << 52)) | (1022 << 52)), exponent + shift)
}

/// The function on floats, for the operations that are one.
fn float_function(op: Unary) -> Option<fn(f64) -> f64> {
    Some(match op {
        Unary::Round | Unary::RoundEven => f64::round_ties_even,
        Unary::Trunc | Unary::ModfWhole => f64::trunc,
        Unary::FSign => |a| {
            if a > 0.0 {
                1.0
            } else if a < 0.0 {
                -1.0
            } else {
                a
            }
        },
        Unary::Floor => f64::floor,
        Unary::Ceil => f64::ceil,
        Unary::Fract => |a| a - a.floor(),
        Unary::Radians => f64::to_radians,
        Unary::Degrees => f64::to_degrees,
        Unary::Sin => f64::sin,
        Unary::Cos => f64::cos,
        Unary::Tan => f64::tan,
        Unary::Asin => f64::asin,
        Unary::Acos => f64::acos,
        Unary::Atan => f64::atan,
        Unary::Sinh => f64::sinh,
        Unary::Cosh => f64::cosh,
        Unary::Tanh => f64::tanh,
        Unary::Asinh => f64::asinh,
        Unary::Acosh => f64::acosh,
        Unary::Atanh => f64::atanh,
        Unary::Exp => f64::exp,
        Unary::Log => f64::ln,
        Unary::Exp2 => f64::exp2,
        Unary::Log2 => f64::log2,
        Unary::Sqrt | Unary::SqrtToNormalize => f64::sqrt,
        Unary::InverseSqrt => |a| 1.0 / a.sqrt(),
        Unary::ModfFraction => {
            |a| if a.is_infinite() { 0.0f64.copysign(a) } else { (a - a.trunc()).copysign(a) }
        }
        Unary::FrexpSignificand => |a| frexp(a).0,
        Unary::SNegate
        | Unary::FNegate
        | Unary::Not
        | Unary::BitReverse
        | Unary::BitCount
        | Unary::ConvertFToU
        | Unary::ConvertFToS
        | Unary::ConvertSToF
        | Unary::ConvertUToF
        | Unary::QuantizeToF16
        | Unary::FAbs
        | Unary::SAbs
        | Unary::SSign
        | Unary::FindILsb
        | Unary::FindSMsb
        | Unary::FindUMsb
        | Unary::FrexpExponent
        | Unary::UnpackHalfLow
        | Unary::UnpackHalfHigh
        | Unary::UnpackSnorm4(_)
        | Unary::UnpackUnorm4(_)
        | Unary::UnpackSnorm2(_)
        | Unary::UnpackUnorm2(_)
        | Unary::PackSnorm4
        | Unary::PackUnorm4 => return None,
    })
}

/// The operation on integers of a width; none where it is not one on integers.
fn integer1(op: Unary, width: Width, a: u64) -> Option<u64> {
    match width {
        Width::W8 => integer1_of(op, a as u8).map(Integer::bits),
        Width::W16 => integer1_of(op, a as u16).map(Integer::bits),
        Width::W32 => integer1_of(op, a as u32).map(Integer::bits),
        Width::W64 => integer1_of(op, a),
    }
}

fn integer1_of<T: Integer>(op: Unary, a: T) -> Option<T> {
    Some(match op {
        Unary::SNegate => a.negate(),
        Unary::Not => a.complement(),
        Unary::BitReverse => a.reverse(),
        Unary::BitCount => Integer::count_ones(a),
        Unary::SAbs => a.signed_magnitude(),
        Unary::SSign => a.signed_sign(),
        Unary::FindILsb => a.lowest_set_bit(),
        Unary::FindUMsb => a.highest_set_bit(),
        Unary::FindSMsb => a.highest_unlike_sign(),
        _ => return None,
    })
}

/// As [`integer1`]. A shift's amount may be wider: it counts by bits that every width has.
fn integer2(op: Binary, width: Width, a: u64, b: u64) -> Option<u64> {
    match width {
        Width::W8 => integer2_of(op, a as u8, b as u8).map(Integer::bits),
        Width::W16 => integer2_of(op, a as u16, b as u16).map(Integer::bits),
        Width::W32 => integer2_of(op, a as u32, b as u32).map(Integer::bits),
        Width::W64 => integer2_of(op, a, b),
    }
}

fn integer2_of<T: Integer>(op: Binary, a: T, b: T) -> Option<T> {
    Some(match op {
        Binary::IAdd => a.add(b),
        Binary::ISub => a.subtract(b),
        Binary::IMul => a.multiply(b),
        Binary::UDiv => a.unsigned_quotient(b),
        Binary::SDiv => a.signed_quotient(b),
        Binary::UMod => a.unsigned_remainder(b),
        Binary::SRem => a.signed_remainder(b),
        Binary::SMod => a.signed_modulo(b),
        Binary::ShiftRightLogical => a.shift_right(b),
        Binary::ShiftRightArithmetic => a.signed_shift_right(b),
        Binary::ShiftLeftLogical => a.shift_left(b),
        Binary::BitwiseOr => a.or(b),
        Binary::BitwiseXor => a.xor(b),
        Binary::BitwiseAnd => a.and(b),
        Binary::UMulHigh => a.unsigned_high(b),
        Binary::SMulHigh => a.signed_high(b),
        Binary::Carry => a.carry(b),
        Binary::Borrow => a.borrow_of(b),
        Binary::UMin => a.min(b),
        Binary::UMax => a.max(b),
        Binary::SMin => a.signed_min(b),
        Binary::SMax => a.signed_max(b),
        _ => return None,
    })
}

/// As [`integer1`]; offset and count of a bit field are words.
fn integer3(op: Ternary, width: Width, a: u64, b: u64, c: u64) -> Option<u64> {
    match width {
        Width::W8 => integer3_of(op, a as u8, b, c).map(Integer::bits),
        Width::W16 => integer3_of(op, a as u16, b, c).map(Integer::bits),
        Width::W32 => integer3_of(op, a as u32, b, c).map(Integer::bits),
        Width::W64 => integer3_of(op, a, b, c),
    }
}

fn integer3_of<T: Integer>(op: Ternary, a: T, b: u64, c: u64) -> Option<T> {
    let (low, high) = (T::of_bits(b), T::of_bits(c));
    let word = |bits: u64| u32::try_from(bits).unwrap_or(u32::MAX);
    Some(match op {
        Ternary::UClamp => a.max(low).min(high),
        Ternary::SClamp => a.signed_max(low).signed_min(high),
        Ternary::BitFieldUExtract => a.unsigned_field(word(b), word(c)),
        Ternary::BitFieldSExtract => a.signed_field(word(b), word(c)),
        Ternary::BitFieldInsert => {
            a.insert_field(low, (c & 0xffff) as u32, (c >> 16 & 0xffff) as u32)
        }
        Ternary::FClamp
        | Ternary::NClamp
        | Ternary::FMix
        | Ternary::SmoothStep
        | Ternary::Fma
        | Ternary::ContractedAdd
        | Ternary::ContractedSub
        | Ternary::ContractedSubFrom => return None,
    })
}

/// What is asked of one or two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    Compare(Compare),
    Classify(Classify),
}

impl Relation {
    pub fn operands(self) -> usize {
        match self {
            Relation::Compare(_) => 2,
            Relation::Classify(_) => 1,
        }
    }

    pub fn holds(self, form: Form, a: u64, b: u64) -> bool {
        let width = form.width();
        let (x, y) = (width.signed(a), width.signed(b));
        let (p, q) = (form.float(a), form.float(b));
        let unordered = p.is_nan() || q.is_nan();
        match self {
            Relation::Classify(Classify::IsNan) => p.is_nan(),
            Relation::Classify(Classify::IsInf) => p.is_infinite(),
            Relation::Compare(op) => match op {
                Compare::IEqual => a == b,
                Compare::INotEqual => a != b,
                Compare::UGreaterThan => a > b,
                Compare::SGreaterThan => x > y,
                Compare::UGreaterThanEqual => a >= b,
                Compare::SGreaterThanEqual => x >= y,
                Compare::ULessThan => a < b,
                Compare::SLessThan => x < y,
                Compare::ULessThanEqual => a <= b,
                Compare::SLessThanEqual => x <= y,
                Compare::FOrdEqual => p == q,
                Compare::FUnordEqual => unordered || p == q,
                Compare::FOrdNotEqual => !unordered && p != q,
                Compare::FUnordNotEqual => p != q,
                Compare::FOrdLessThan => p < q,
                Compare::FUnordLessThan => unordered || p < q,
                Compare::FOrdGreaterThan => p > q,
                Compare::FUnordGreaterThan => unordered || p > q,
                Compare::FOrdLessThanEqual => p <= q,
                Compare::FUnordLessThanEqual => unordered || p <= q,
                Compare::FOrdGreaterThanEqual => p >= q,
                Compare::FUnordGreaterThanEqual => unordered || p >= q,
                Compare::Ordered => !unordered,
                Compare::Unordered => unordered,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WORD: Form = Form::Integer(Width::W32);
    const FLOAT: Form = Form::Float(Width::W32);

    fn value(op: Sized, form: Form, operands: [u32; 3]) -> u32 {
        let [a, b, c] = operands.map(u64::from);
        Operation::new(op, form, form).value(a, b, c).expect("it exists") as u32
    }

    const UNARY: &[Unary] = &[
        Unary::SNegate,
        Unary::Not,
        Unary::BitReverse,
        Unary::BitCount,
        Unary::SAbs,
        Unary::SSign,
        Unary::FindILsb,
        Unary::FindSMsb,
        Unary::FindUMsb,
    ];
    const BINARY: &[Binary] = &[
        Binary::IAdd,
        Binary::ISub,
        Binary::IMul,
        Binary::UDiv,
        Binary::SDiv,
        Binary::UMod,
        Binary::SRem,
        Binary::SMod,
        Binary::ShiftRightLogical,
        Binary::ShiftRightArithmetic,
        Binary::ShiftLeftLogical,
        Binary::BitwiseOr,
        Binary::BitwiseXor,
        Binary::BitwiseAnd,
        Binary::UMulHigh,
        Binary::SMulHigh,
        Binary::Carry,
        Binary::Borrow,
        Binary::UMin,
        Binary::UMax,
        Binary::SMin,
        Binary::SMax,
    ];
    const TERNARY: &[Ternary] = &[
        Ternary::UClamp,
        Ternary::SClamp,
        Ternary::BitFieldSExtract,
        Ternary::BitFieldUExtract,
        Ternary::BitFieldInsert,
    ];
    const REALS: &[Binary] = &[
        Binary::FAdd,
        Binary::FSub,
        Binary::FMul,
        Binary::FDiv,
        Binary::FRem,
        Binary::FMod,
        Binary::Step,
        Binary::Ldexp,
    ];
    const ROUNDED: &[Unary] = &[
        Unary::FNegate,
        Unary::FAbs,
        Unary::FSign,
        Unary::Floor,
        Unary::Ceil,
        Unary::Trunc,
        Unary::RoundEven,
        Unary::Fract,
        Unary::Sqrt,
        Unary::ModfFraction,
        Unary::FrexpSignificand,
    ];

    fn interesting() -> impl Strategy<Value = u32> {
        prop_oneof![
            any::<u32>(),
            0_u32..40,
            Just(0x8000_0000),
            Just(u32::MAX),
            any::<f32>().prop_map(f32::to_bits)
        ]
    }

    fn same_float(ours: u32, theirs: u32) -> bool {
        let (ours, theirs) = (f32::from_bits(ours), f32::from_bits(theirs));
        ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// The quick operations of `word` compute the same on words, and find the same results
        /// undefined.
        #[test]
        fn on_words_both_ways_are_one(a in interesting(), b in interesting(), c in interesting()) {
            for op in UNARY {
                let mut out = [0];
                op.apply(&mut out, &[a]);
                prop_assert_eq!(value(Sized::Unary(*op), WORD, [a, b, c]), out[0], "{:?} {:x}", op, a);
            }
            for op in BINARY {
                let mut out = [0];
                op.apply(&mut out, &[a], &[b]);
                prop_assert_eq!(value(Sized::Binary(*op), WORD, [a, b, c]), out[0], "{:?} {:x} {:x}", op, a, b);
                let found = Operation::new(Sized::Binary(*op), WORD, WORD).undefined(a.into(), b.into(), 0);
                let due = op.rules().iter().find(|rule| (rule.is_met)(a, b)).map(|rule| rule.then.extent);
                prop_assert_eq!(found.map(|found| found.extent), due, "{:?} {:x} {:x}", op, a, b);
            }
            for op in TERNARY {
                let mut out = [0];
                op.apply(&mut out, &[a], &[b], &[c]);
                prop_assert_eq!(value(Sized::Ternary(*op), WORD, [a, b, c]), out[0], "{:?} {:x} {:x} {:x}", op, a, b, c);
            }
            for op in ROUNDED {
                let mut out = [0];
                op.apply(&mut out, &[a]);
                let ours = value(Sized::Unary(*op), FLOAT, [a, b, c]);
                prop_assert!(same_float(ours, out[0]), "{:?} {:x}: {:x} {:x}", op, a, ours, out[0]);
            }
            for op in REALS {
                let mut out = [0];
                op.apply(&mut out, &[a], &[b]);
                let ours = value(Sized::Binary(*op), FLOAT, [a, b, c]);
                prop_assert!(same_float(ours, out[0]), "{:?} {:x} {:x}: {:x} {:x}", op, a, b, ours, out[0]);
                let found = Operation::new(Sized::Binary(*op), FLOAT, FLOAT).undefined(a.into(), b.into(), 0);
                let due = op.rules().iter().any(|rule| (rule.is_met)(a, b));
                prop_assert_eq!(found.is_some(), due, "{:?} {:x} {:x}", op, a, b);
            }
            let mut out = [0];
            Ternary::Fma.apply(&mut out, &[a], &[b], &[c]);
            prop_assert!(same_float(value(Sized::Ternary(Ternary::Fma), FLOAT, [a, b, c]), out[0]));
        }

        /// Against rounding a value that has twice the digits: the next floats of 16 bits on both
        /// sides are no nearer.
        #[test]
        fn a_half_is_the_nearest(bits in any::<u64>(), exponent in -30_i32..20) {
            let value = f64::from_bits((bits & !(0x7ff << 52)) | ((1023 + exponent) as u64) << 52);
            let half = half::f16::from_bits(half_of(value));
            if half.is_finite() {
                let error = (half.to_f64() - value).abs();
                for step in [-1_i32, 1] {
                    let other = half::f16::from_bits((i32::from(half.to_bits()) + step) as u16);
                    let other_error = (other.to_f64() - value).abs();
                    prop_assert!(!other.is_finite() || error < other_error || (error == other_error && half.to_bits() & 1 == 0));
                }
            } else {
                prop_assert!(value.abs() >= 65520.0);
            }
        }

        /// Products and sums of halves, exact as integers of the least half.
        #[test]
        fn a_fused_half_is_rounded_once(a in any::<u16>(), b in any::<u16>(), c in any::<u16>()) {
            let halves = [a, b, c].map(half::f16::from_bits);
            prop_assume!(halves.iter().all(|half| half.is_finite()));
            // In units of 2^-48.
            let units = |half: half::f16| (half.to_f64() * 2f64.powi(24)) as i128;
            let exact = units(halves[0]) * units(halves[1]) + (units(halves[2]) << 24);
            let form = Form::Float(Width::W16);
            let operation = Operation::new(Sized::Ternary(Ternary::Fma), form, form);
            let result = operation.value(a.into(), b.into(), c.into()).expect("it exists");
            let result = half::f16::from_bits(result as u16);
            if result.is_finite() {
                let error = |half: half::f16| ((units(half) << 24) - exact).unsigned_abs();
                for step in [-1_i32, 1] {
                    let other = half::f16::from_bits((i32::from(result.to_bits()) + step) as u16);
                    let nearer = other.is_finite() && error(other) < error(result);
                    let tie = other.is_finite() && error(other) == error(result) && result.to_bits() & 1 == 1;
                    prop_assert!(!nearer && !tie, "{:?}: {:?}, and {:?} is nearer", halves, result, other);
                }
            } else {
                prop_assert!(exact.unsigned_abs() >= 65520 << 48);
            }
        }
    }
}
