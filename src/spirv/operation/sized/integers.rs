//! Operations on integers of any width, by the functions of `integer`.

use crate::operation::integer::Integer;
use crate::operation::number::Width;
use crate::operation::operator::{Binary, Ternary, Unary};

/// The operation on integers of a width; none where it is not one on integers.
pub(super) fn unary_on_integer(op: Unary, width: Width, operand_bits: u64) -> Option<u64> {
    match width {
        Width::W8 => unary_of_width(op, operand_bits as u8).map(Integer::bits),
        Width::W16 => unary_of_width(op, operand_bits as u16).map(Integer::bits),
        Width::W32 => unary_of_width(op, operand_bits as u32).map(Integer::bits),
        Width::W64 => unary_of_width(op, operand_bits),
    }
}

fn unary_of_width<T: Integer>(op: Unary, a: T) -> Option<T> {
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
pub(super) fn binary_on_integers(
    op: Binary,
    width: Width,
    first_bits: u64,
    second_bits: u64,
) -> Option<u64> {
    match width {
        Width::W8 => binary_of_width(op, first_bits as u8, second_bits as u8).map(Integer::bits),
        Width::W16 => binary_of_width(op, first_bits as u16, second_bits as u16).map(Integer::bits),
        Width::W32 => binary_of_width(op, first_bits as u32, second_bits as u32).map(Integer::bits),
        Width::W64 => binary_of_width(op, first_bits, second_bits),
    }
}

fn binary_of_width<T: Integer>(op: Binary, a: T, b: T) -> Option<T> {
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
pub(super) fn ternary_on_integers(
    op: Ternary,
    width: Width,
    first_bits: u64,
    second_bits: u64,
    third_bits: u64,
) -> Option<u64> {
    match width {
        Width::W8 => {
            ternary_of_width(op, first_bits as u8, second_bits, third_bits).map(Integer::bits)
        }
        Width::W16 => {
            ternary_of_width(op, first_bits as u16, second_bits, third_bits).map(Integer::bits)
        }
        Width::W32 => {
            ternary_of_width(op, first_bits as u32, second_bits, third_bits).map(Integer::bits)
        }
        Width::W64 => ternary_of_width(op, first_bits, second_bits, third_bits),
    }
}

fn ternary_of_width<T: Integer>(op: Ternary, a: T, second_bits: u64, third_bits: u64) -> Option<T> {
    let (second_operand, third_operand) = (T::of_bits(second_bits), T::of_bits(third_bits));
    Some(match op {
        Ternary::UClamp => a.max(second_operand).min(third_operand),
        Ternary::SClamp => a.signed_max(second_operand).signed_min(third_operand),
        Ternary::BitFieldUExtract => {
            a.unsigned_field(saturated_word(second_bits), saturated_word(third_bits))
        }
        Ternary::BitFieldSExtract => {
            a.signed_field(saturated_word(second_bits), saturated_word(third_bits))
        }
        Ternary::BitFieldInsert => a.insert_field(
            second_operand,
            (third_bits & 0xffff) as u32,
            (third_bits >> 16 & 0xffff) as u32,
        ),
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

fn saturated_word(bits: u64) -> u32 {
    u32::try_from(bits).unwrap_or(u32::MAX)
}
