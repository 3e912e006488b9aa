//! What operations on integers compute, one function each, for every width.
//!
//! Knows: integers of 8, 16, 32 and 64 bits as unsigned ones of Rust; signed operations read them
//! in two's complement.
//! Promises: every operation has a result for every operand; what is undefined has the result that
//! `word` documents.
//! Does not cover: which operations are undefined when (`undefined`).

/// An integer of one width.
pub(super) trait Integer: Copy + Ord {
    /// From the low bits of a number.
    fn of_bits(bits: u64) -> Self;
    /// Zero-extended.
    fn bits(self) -> u64;

    fn negate(self) -> Self;
    fn complement(self) -> Self;
    fn reverse(self) -> Self;
    fn count_ones(self) -> Self;
    fn signed_magnitude(self) -> Self;
    fn signed_sign(self) -> Self;
    /// The number of the lowest bit that is set; all ones where none is.
    fn lowest_set_bit(self) -> Self;
    /// The number of the highest bit that is set; all ones where none is.
    fn highest_set_bit(self) -> Self;
    /// The number of the highest bit that differs from the sign; all ones where none does.
    fn highest_unlike_sign(self) -> Self;

    fn add(self, other: Self) -> Self;
    fn subtract(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;
    fn unsigned_quotient(self, divisor: Self) -> Self;
    fn signed_quotient(self, divisor: Self) -> Self;
    fn unsigned_remainder(self, divisor: Self) -> Self;
    /// With the sign of the dividend.
    fn signed_remainder(self, divisor: Self) -> Self;
    /// With the sign of the divisor.
    fn signed_modulo(self, divisor: Self) -> Self;
    /// Shifts use the low bits of their amount.
    fn shift_right(self, amount: Self) -> Self;
    fn signed_shift_right(self, amount: Self) -> Self;
    fn shift_left(self, amount: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    /// The high half of the product.
    fn unsigned_high(self, other: Self) -> Self;
    fn signed_high(self, other: Self) -> Self;
    /// The carry of a sum.
    fn carry(self, other: Self) -> Self;
    /// The borrow of a difference.
    fn borrow_of(self, other: Self) -> Self;
    fn signed_min(self, other: Self) -> Self;
    fn signed_max(self, other: Self) -> Self;

    /// Some bits, zero-extended; a range beyond the number is cut.
    fn unsigned_field(self, offset: u32, count: u32) -> Self;
    /// The same, sign-extended.
    fn signed_field(self, offset: u32, count: u32) -> Self;
    /// The number with the low bits of `insert` in the place of some of its own.
    fn insert_field(self, insert: Self, offset: u32, count: u32) -> Self;
}

macro_rules! integer {
    ($unsigned:ident, $signed:ident, $wide:ident, $wide_signed:ident) => {
        impl Integer for $unsigned {
            #[inline]
            fn of_bits(bits: u64) -> Self {
                bits as $unsigned
            }
            #[inline]
            fn bits(self) -> u64 {
                self.into()
            }
            #[inline]
            fn negate(self) -> Self {
                self.wrapping_neg()
            }
            #[inline]
            fn complement(self) -> Self {
                !self
            }
            #[inline]
            fn reverse(self) -> Self {
                self.reverse_bits()
            }
            #[inline]
            fn count_ones(self) -> Self {
                $unsigned::count_ones(self) as $unsigned
            }
            #[inline]
            fn signed_magnitude(self) -> Self {
                (self as $signed).unsigned_abs()
            }
            #[inline]
            fn signed_sign(self) -> Self {
                (self as $signed).signum() as $unsigned
            }
            #[inline]
            fn lowest_set_bit(self) -> Self {
                if self == 0 { $unsigned::MAX } else { self.trailing_zeros() as $unsigned }
            }
            #[inline]
            fn highest_set_bit(self) -> Self {
                ($unsigned::BITS - 1).wrapping_sub(self.leading_zeros()) as i32 as $signed
                    as $unsigned
            }
            #[inline]
            fn highest_unlike_sign(self) -> Self {
                if (self as $signed) < 0 {
                    (!self).highest_set_bit()
                } else {
                    self.highest_set_bit()
                }
            }
            #[inline]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline]
            fn subtract(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline]
            fn multiply(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline]
            fn unsigned_quotient(self, divisor: Self) -> Self {
                self.checked_div(divisor).unwrap_or(0)
            }
            #[inline]
            fn signed_quotient(self, divisor: Self) -> Self {
                if divisor == 0 {
                    0
                } else {
                    (self as $signed).wrapping_div(divisor as $signed) as $unsigned
                }
            }
            #[inline]
            fn unsigned_remainder(self, divisor: Self) -> Self {
                self.checked_rem(divisor).unwrap_or(0)
            }
            #[inline]
            fn signed_remainder(self, divisor: Self) -> Self {
                if divisor == 0 {
                    0
                } else {
                    (self as $signed).wrapping_rem(divisor as $signed) as $unsigned
                }
            }
            #[inline]
            fn signed_modulo(self, divisor: Self) -> Self {
                let rest = Integer::signed_remainder(self, divisor);
                let other_sign = rest != 0 && ((rest as $signed) < 0) != ((divisor as $signed) < 0);
                if other_sign { rest.wrapping_add(divisor) } else { rest }
            }
            #[inline]
            fn shift_right(self, amount: Self) -> Self {
                self.wrapping_shr(amount as u32)
            }
            #[inline]
            fn signed_shift_right(self, amount: Self) -> Self {
                (self as $signed).wrapping_shr(amount as u32) as $unsigned
            }
            #[inline]
            fn shift_left(self, amount: Self) -> Self {
                self.wrapping_shl(amount as u32)
            }
            #[inline]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }
            #[inline]
            fn and(self, other: Self) -> Self {
                self & other
            }
            #[inline]
            fn unsigned_high(self, other: Self) -> Self {
                (($wide::from(self) * $wide::from(other)) >> $unsigned::BITS) as $unsigned
            }
            #[inline]
            fn signed_high(self, other: Self) -> Self {
                let product =
                    $wide_signed::from(self as $signed) * $wide_signed::from(other as $signed);
                (product >> $unsigned::BITS) as $unsigned
            }
            #[inline]
            fn carry(self, other: Self) -> Self {
                self.checked_add(other).is_none().into()
            }
            #[inline]
            fn borrow_of(self, other: Self) -> Self {
                (self < other).into()
            }
            #[inline]
            fn signed_min(self, other: Self) -> Self {
                (self as $signed).min(other as $signed) as $unsigned
            }
            #[inline]
            fn signed_max(self, other: Self) -> Self {
                (self as $signed).max(other as $signed) as $unsigned
            }
            #[inline]
            fn unsigned_field(self, offset: u32, count: u32) -> Self {
                let (offset, count) = cut_field($unsigned::BITS, offset, count);
                let mask = $unsigned::MAX.checked_shr($unsigned::BITS - count).unwrap_or(0);
                self.checked_shr(offset).unwrap_or(0) & mask
            }
            #[inline]
            fn signed_field(self, offset: u32, count: u32) -> Self {
                let (offset, count) = cut_field($unsigned::BITS, offset, count);
                let value = self.checked_shr(offset).unwrap_or(0);
                let unused = $unsigned::BITS - count;
                if count == 0 { 0 } else { (((value << unused) as $signed) >> unused) as $unsigned }
            }
            #[inline]
            fn insert_field(self, insert: Self, offset: u32, count: u32) -> Self {
                let (offset, count) = cut_field($unsigned::BITS, offset, count);
                let mask = $unsigned::MAX.checked_shr($unsigned::BITS - count).unwrap_or(0);
                let mask = mask.checked_shl(offset).unwrap_or(0);
                (self & !mask) | (insert.checked_shl(offset).unwrap_or(0) & mask)
            }
        }
    };
}

integer!(u8, i8, u16, i16);
integer!(u16, i16, u32, i32);
integer!(u32, i32, u64, i64);
integer!(u64, i64, u128, i128);

/// Offset and count of a bit field, cut to a number of so many bits.
#[inline]
fn cut_field(number_width: u32, offset: u32, bit_count: u32) -> (u32, u32) {
    let offset = offset.min(number_width);
    (offset, bit_count.min(number_width - offset))
}

#[cfg(test)]
mod tests {
    use super::Integer;

    /// By hand, at the ends of the narrowest width: other widths have the same functions.
    #[test]
    fn bytes_compute_what_the_specification_says() {
        let byte = |value: i8| value as u8;
        assert_eq!(byte(-128).signed_quotient(byte(-1)), byte(-128));
        assert_eq!(byte(-128).signed_remainder(byte(-1)), 0);
        assert_eq!(byte(-7).signed_remainder(3), byte(-1));
        assert_eq!(byte(-7).signed_modulo(3), 2);
        assert_eq!(7.signed_modulo(byte(-3)), byte(-2));
        assert_eq!((5_u8.unsigned_quotient(0), 5_u8.signed_modulo(0)), (0, 0));
        assert_eq!(
            (0_u8.highest_set_bit(), 0x90_u8.highest_set_bit(), 0_u8.lowest_set_bit()),
            (255, 7, 255)
        );
        assert_eq!((byte(-1).highest_unlike_sign(), byte(-3).highest_unlike_sign()), (255, 1));
        assert_eq!((0x81_u8.shift_left(9), 0x81_u8.signed_shift_right(1)), (2, 0xc0));
        assert_eq!((200_u8.unsigned_high(200), byte(-100).signed_high(100)), (156, byte(-40)));
        assert_eq!((200_u8.carry(56), 200_u8.carry(55), 3_u8.borrow_of(4)), (1, 0, 1));
        assert_eq!((0xb4_u8.unsigned_field(2, 4), 0xb4_u8.signed_field(2, 4)), (13, byte(-3)));
        assert_eq!((0xff_u8.unsigned_field(9, 4), 0xff_u8.unsigned_field(6, 9)), (0, 3));
        assert_eq!((0xff_u8.insert_field(0, 2, 3), 0_u8.insert_field(0xff, 6, 9)), (0xe3, 0xc0));
    }
}
