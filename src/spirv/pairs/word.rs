//! 32-bit numbers of which a part is known.
//!
//! Knows: polynomials over what symbols stand for (`sum`), and single bits: 0, 1, or a bit of a
//! symbol; arithmetic on both.
//! Promises: what is said of a number holds whatever the symbols stand for. Does not cover:
//! quotients by other numbers than powers of two, of which only constants are known.

use super::sum::{Factor, Sum};
use crate::module::Id;
use rspirv::spirv::Op;

/// Something that has one value wherever it is named within one comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Symbol {
    /// A term of index forms: the same for a workgroup during a dispatch.
    Term(usize),
    /// What a variable or a phi holds.
    Held(Id),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bit {
    Zero,
    One,
    Of(Symbol, u8),
    Unknown,
}

impl Bit {
    fn of(value: bool) -> Self {
        if value { Bit::One } else { Bit::Zero }
    }

    fn known(self) -> Option<bool> {
        match self {
            Bit::Zero => Some(false),
            Bit::One => Some(true),
            Bit::Of(..) | Bit::Unknown => None,
        }
    }
}

/// A number as far as it is known.
#[derive(Debug, Clone)]
pub(super) struct Word {
    /// None where it is no polynomial.
    sum: Option<Sum>,
    /// The lowest bit first.
    bits: [Bit; 32],
}

impl Word {
    pub(super) fn unknown() -> Self {
        Self { sum: None, bits: [Bit::Unknown; 32] }
    }

    pub(super) fn constant(value: u32) -> Self {
        let bits = std::array::from_fn(|place| Bit::of(value >> place & 1 == 1));
        Self { sum: Some(Sum::constant(value)), bits }
    }

    /// What all invocations have alike.
    pub(super) fn common(symbol: Symbol) -> Self {
        let bits = std::array::from_fn(|place| Bit::Of(symbol, place as u8));
        Self { sum: Some(Sum::of(Factor::Common(symbol))), bits }
    }

    /// What a variable or phi holds for the invocation at a side, of which the lowest bits are known.
    pub(super) fn own(side: usize, held: Id, low_value: u32, low_bits: u32) -> Self {
        let bits = std::array::from_fn(|place| match (place as u32) < low_bits {
            true => Bit::of(low_value >> place & 1 == 1),
            false => Bit::Of(Symbol::Held(held), place as u8),
        });
        Self { sum: Some(Sum::of(Factor::Own { side, held, low_value, low_bits })), bits }
    }

    /// A number of which the lowest bits alone are known.
    pub(super) fn with_low_bits(low_value: u32, low_bits: u32) -> Self {
        let mask = Self::constant(u32::MAX.checked_shl(low_bits).map_or(u32::MAX, |high| !high));
        Self::constant(low_value).zipped(&mask, |(bit, is_known)| match is_known {
            Bit::One => bit,
            Bit::Zero | Bit::Of(..) | Bit::Unknown => Bit::Unknown,
        })
    }

    /// The number where all of it is known.
    pub(super) fn value(&self) -> Option<u32> {
        let (mask, value) = self.known_bits();
        (mask == u32::MAX).then_some(value)
    }

    /// Which bits are known, and what they are.
    pub(super) fn known_bits(&self) -> (u32, u32) {
        let bits = self.bits.iter().enumerate();
        bits.fold((0, 0), |(mask, value), (place, bit)| match bit.known() {
            Some(bit) => (mask | 1 << place, value | u32::from(bit) << place),
            None => (mask, value),
        })
    }

    /// The polynomial that it is, if it is one.
    pub(super) fn sum(&self) -> Option<&Sum> {
        self.sum.as_ref()
    }

    /// Whether bits that are known of both differ.
    pub(super) fn differs_by_bits(&self, other: &Word) -> bool {
        let ((mask, value), (other_mask, other_value)) = (self.known_bits(), other.known_bits());
        (value ^ other_value) & mask & other_mask != 0
    }

    /// The result of an operation on integers.
    pub(super) fn of_operation(op: Op, operands: &[Word]) -> Word {
        match operands {
            [operand] => Self::of_unary(op, operand),
            [left, right] => match (left.value(), right.value()) {
                (Some(left), Some(right)) => {
                    folded(op, left, right).map_or_else(Self::unknown, Self::constant)
                }
                (None, _) | (_, None) => Self::of_binary(op, left, right),
            },
            _ => Self::unknown(),
        }
    }

    fn of_unary(op: Op, operand: &Word) -> Word {
        match op {
            Op::Bitcast | Op::CopyObject => operand.clone(),
            Op::SNegate => Self::constant(0).minus(operand),
            Op::Not => {
                operand.each_bit(|bit| bit.known().map_or(Bit::Unknown, |bit| Bit::of(!bit)))
            }
            _ => Self::unknown(),
        }
    }

    fn of_binary(op: Op, left: &Word, right: &Word) -> Word {
        match (op, right.value()) {
            (Op::IAdd, _) => left.plus(right),
            (Op::ISub, _) => left.minus(right),
            (Op::IMul, Some(factor)) => left.times(factor),
            (Op::IMul, None) => match left.value() {
                Some(factor) => right.times(factor),
                None => left.multiplied(right),
            },
            (Op::ShiftLeftLogical, Some(count)) if count < 32 => left.times(1 << count),
            (Op::ShiftRightLogical, Some(count)) if count < 32 => left.moved_right(count),
            (Op::UDiv, Some(divisor)) if divisor.is_power_of_two() => {
                left.moved_right(divisor.trailing_zeros())
            }
            (Op::UMod, Some(divisor)) if divisor.is_power_of_two() => {
                left.masked(&Self::constant(divisor - 1))
            }
            (Op::BitwiseAnd, _) => left.masked(right),
            (Op::BitwiseOr, _) => left.zipped(right, |pair| match pair {
                (Bit::One, _) | (_, Bit::One) => Bit::One,
                (Bit::Zero, bit) | (bit, Bit::Zero) => bit,
                (left, right) if left == right => left,
                _ => Bit::Unknown,
            }),
            (Op::BitwiseXor, _) => left.zipped(right, |pair| match pair {
                (Bit::Zero, bit) | (bit, Bit::Zero) => bit,
                (Bit::One, Bit::One) => Bit::Zero,
                _ => Bit::Unknown,
            }),
            _ => Self::unknown(),
        }
    }

    fn each_bit(&self, change: impl Fn(Bit) -> Bit) -> Word {
        Word { sum: None, bits: self.bits.map(change) }
    }

    fn zipped(&self, other: &Word, join: impl Fn((Bit, Bit)) -> Bit) -> Word {
        let bits = std::array::from_fn(|place| join((self.bits[place], other.bits[place])));
        Word { sum: None, bits }
    }

    fn masked(&self, mask: &Word) -> Word {
        self.zipped(mask, |pair| match pair {
            (Bit::Zero, _) | (_, Bit::Zero) => Bit::Zero,
            (Bit::One, bit) | (bit, Bit::One) => bit,
            (left, right) if left == right => left,
            _ => Bit::Unknown,
        })
    }

    fn moved_right(&self, count: u32) -> Word {
        let bits = std::array::from_fn(|place| {
            self.bits.get(place + count as usize).copied().unwrap_or(Bit::Zero)
        });
        Word { sum: None, bits }
    }

    /// A product of two numbers that are not known; nothing is told of its bits.
    fn multiplied(&self, other: &Word) -> Word {
        let sum = self.sum.as_ref().zip(other.sum.as_ref());
        Word { sum: sum.and_then(|(left, right)| left.times(right)), ..Self::unknown() }
    }

    /// A product; its bits are known where the factor is a power of two.
    fn times(&self, factor: u32) -> Word {
        let sum = self.sum.as_ref().map(|sum| Sum::constant(0).plus(sum, factor));
        let zeros = (factor.trailing_zeros() as usize).min(32);
        let bits = std::array::from_fn(|place| match place.checked_sub(zeros) {
            None => Bit::Zero,
            Some(place) if factor.is_power_of_two() => self.bits[place],
            Some(_) => Bit::Unknown,
        });
        Word { sum, bits }
    }

    fn plus(&self, other: &Word) -> Word {
        let mut carry = Some(false);
        let bits = std::array::from_fn(|place| {
            let (bit, next_carry) = sum_bit(self.bits[place], other.bits[place], carry);
            carry = next_carry;
            bit
        });
        let sum = self.sum.as_ref().zip(other.sum.as_ref());
        Word { sum: sum.map(|(left, right)| left.plus(right, 1)), bits }
    }

    fn minus(&self, other: &Word) -> Word {
        let mut borrow = Some(false);
        let bits = std::array::from_fn(|place| {
            let (bit, next_borrow) = difference_bit(self.bits[place], other.bits[place], borrow);
            borrow = next_borrow;
            bit
        });
        let sum = self.sum.as_ref().zip(other.sum.as_ref());
        Word { sum: sum.map(|(left, right)| left.plus(right, u32::MAX)), bits }
    }
}

/// A bit of a sum, and what is carried on; none where that is not known.
fn sum_bit(left: Bit, right: Bit, carry: Option<bool>) -> (Bit, Option<bool>) {
    match (left.known(), right.known(), carry) {
        (Some(left), Some(right), Some(carry)) => {
            let count = u32::from(left) + u32::from(right) + u32::from(carry);
            (Bit::of(count & 1 == 1), Some(count > 1))
        }
        (None, Some(false), Some(false)) => (left, Some(false)),
        (Some(false), None, Some(false)) => (right, Some(false)),
        // Two zeros carry nothing on, and two ones do.
        (Some(left), Some(right), None) if left == right => (Bit::Unknown, Some(left)),
        (None | Some(_), None | Some(_), None | Some(_)) => (Bit::Unknown, None),
    }
}

/// A bit of a difference, and what is borrowed.
fn difference_bit(left: Bit, right: Bit, borrow: Option<bool>) -> (Bit, Option<bool>) {
    match (left.known(), right.known(), borrow) {
        (Some(left), Some(right), Some(borrow)) => {
            let count = i32::from(left) - i32::from(right) - i32::from(borrow);
            (Bit::of(count & 1 == 1), Some(count < 0))
        }
        (None, Some(false), Some(false)) => (left, Some(false)),
        (None, None, Some(false)) if left == right && left != Bit::Unknown => {
            (Bit::Zero, Some(false))
        }
        (None | Some(_), None | Some(_), None | Some(_)) => (Bit::Unknown, None),
    }
}

/// An operation on constants; none where it has no result that is the same everywhere.
pub(super) fn folded(op: Op, left: u32, right: u32) -> Option<u32> {
    let (signed_left, signed_right) = (left as i32, right as i32);
    match op {
        Op::IAdd => Some(left.wrapping_add(right)),
        Op::ISub => Some(left.wrapping_sub(right)),
        Op::IMul => Some(left.wrapping_mul(right)),
        Op::UDiv => left.checked_div(right),
        Op::UMod => left.checked_rem(right),
        Op::SDiv => signed_left.checked_div(signed_right).map(|quotient| quotient as u32),
        Op::SRem => signed_left.checked_rem(signed_right).map(|rest| rest as u32),
        Op::SMod if signed_right > 0 => Some(signed_left.rem_euclid(signed_right) as u32),
        Op::ShiftLeftLogical => left.checked_shl(right),
        Op::ShiftRightLogical => left.checked_shr(right),
        Op::ShiftRightArithmetic => signed_left.checked_shr(right).map(|moved| moved as u32),
        Op::BitwiseAnd => Some(left & right),
        Op::BitwiseOr => Some(left | right),
        Op::BitwiseXor => Some(left ^ right),
        _ => None,
    }
}

/// Whether a comparison of two numbers is true; none where an operation is no comparison.
pub(super) fn comparison(op: Op, left: u32, right: u32) -> Option<bool> {
    let signed = (left as i32, right as i32);
    match op {
        Op::IEqual => Some(left == right),
        Op::INotEqual => Some(left != right),
        Op::ULessThan => Some(left < right),
        Op::ULessThanEqual => Some(left <= right),
        Op::UGreaterThan => Some(left > right),
        Op::UGreaterThanEqual => Some(left >= right),
        Op::SLessThan => Some(signed.0 < signed.1),
        Op::SLessThanEqual => Some(signed.0 <= signed.1),
        Op::SGreaterThan => Some(signed.0 > signed.1),
        Op::SGreaterThanEqual => Some(signed.0 >= signed.1),
        _ => None,
    }
}
