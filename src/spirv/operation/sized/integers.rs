//! Operations on integers of any width, by the functions of `integer`.

use crate::operation::integer::Integer;
use crate::operation::number::Width;
use crate::operation::operator::{Binary, Ternary, Unary};

/// The operation on integers of a width; none where it is not one on integers.
pub(super) fn integer1(op: Unary, width: Width, a: u64) -> Option<u64> {
    match width {
        Width::W8 => integer1_of(op, a as u8).map(Integer::bits),
        Width::W16 => integer1_of(op, a as u16).map(Integer::bits),
        Width::W32 => integer1_of(op, a as u32).map(Integer::bits),
        Width::W64 => integer1_of(op, a),
    }
}

pub(super) fn integer1_of<T: Integer>(op: Unary, a: T) -> Option<T> {
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
pub(super) fn integer2(op: Binary, width: Width, a: u64, b: u64) -> Option<u64> {
    match width {
        Width::W8 => integer2_of(op, a as u8, b as u8).map(Integer::bits),
        Width::W16 => integer2_of(op, a as u16, b as u16).map(Integer::bits),
        Width::W32 => integer2_of(op, a as u32, b as u32).map(Integer::bits),
        Width::W64 => integer2_of(op, a, b),
    }
}

pub(super) fn integer2_of<T: Integer>(op: Binary, a: T, b: T) -> Option<T> {
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
pub(super) fn integer3(op: Ternary, width: Width, a: u64, b: u64, c: u64) -> Option<u64> {
    match width {
        Width::W8 => integer3_of(op, a as u8, b, c).map(Integer::bits),
        Width::W16 => integer3_of(op, a as u16, b, c).map(Integer::bits),
        Width::W32 => integer3_of(op, a as u32, b, c).map(Integer::bits),
        Width::W64 => integer3_of(op, a, b, c),
    }
}

pub(super) fn integer3_of<T: Integer>(op: Ternary, a: T, b: u64, c: u64) -> Option<T> {
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
