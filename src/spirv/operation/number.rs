//! Widths of numbers, and how their bits are read.
//!
//! Knows: integers of 8, 16, 32 and 64 bits, IEEE 754 floats of 16, 32 and 64 bits and bfloat16, as
//! bits in the low end of a 64-bit word.
//! Promises: a float is rounded once, also where it goes through a wider one.

use vkcert_oracle::float::FloatFormat;

/// Bits of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    /// 8 bits.
    W8,
    /// 16 bits.
    W16,
    /// 32 bits.
    W32,
    /// 64 bits.
    W64,
}

impl Width {
    /// The width of so many bits; none of other numbers than 8, 16, 32 and 64.
    pub fn from_bits(bits: u32) -> Option<Self> {
        match bits {
            8 => Some(Width::W8),
            16 => Some(Width::W16),
            32 => Some(Width::W32),
            64 => Some(Width::W64),
            _ => None,
        }
    }

    /// Number of bits.
    pub const fn bits(self) -> u32 {
        match self {
            Width::W8 => 8,
            Width::W16 => 16,
            Width::W32 => 32,
            Width::W64 => 64,
        }
    }

    /// Number of bytes.
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

    pub(super) fn value_mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    pub(super) fn sign_extended(self, bits: u64) -> i64 {
        let unused_bits = 64 - self.bits();
        ((bits << unused_bits) as i64) >> unused_bits
    }

    pub(super) fn least_signed(self) -> i64 {
        i64::MIN >> (64 - self.bits())
    }
}

/// How bits are read as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NumberFormat {
    /// An integer, signed or unsigned by the operation.
    Integer(Width),
    /// An IEEE 754 float of this width.
    Float(Width),
    /// A float of 16 bits that has the exponent of one of 32 (bfloat16).
    Brain,
}

impl NumberFormat {
    /// An integer of 32 bits.
    pub const WORD: NumberFormat = NumberFormat::Integer(Width::W32);
    /// A float of 32 bits.
    pub const FLOAT: NumberFormat = NumberFormat::Float(Width::W32);

    /// Width of the bits.
    pub const fn width(self) -> Width {
        match self {
            NumberFormat::Integer(width) | NumberFormat::Float(width) => width,
            NumberFormat::Brain => Width::W16,
        }
    }

    /// Whether it is a float of any kind.
    pub const fn is_float(self) -> bool {
        match self {
            NumberFormat::Float(_) | NumberFormat::Brain => true,
            NumberFormat::Integer(_) => false,
        }
    }

    /// The format of a float; none for integers.
    pub(crate) fn float_format(self) -> Option<FloatFormat> {
        match self {
            NumberFormat::Float(width) => FloatFormat::with_width(width.bits()),
            NumberFormat::Brain => Some(FloatFormat::BRAIN),
            NumberFormat::Integer(_) => None,
        }
    }

    /// Whether `word` computes on it.
    pub fn is_word(self) -> bool {
        self.width() == Width::W32
    }

    /// The bits of a float in this form.
    pub fn from_float(self, float_value: f64) -> u64 {
        match self {
            NumberFormat::Float(Width::W16) => u64::from(nearest_half(float_value)),
            NumberFormat::Brain => {
                u64::from(half::bf16::from_f32(rounded_to_odd(float_value)).to_bits())
            }
            NumberFormat::Float(Width::W32) => u64::from((float_value as f32).to_bits()),
            NumberFormat::Float(Width::W64)
            | NumberFormat::Integer(_)
            | NumberFormat::Float(Width::W8) => float_value.to_bits(),
        }
    }

    /// The float that bits of this form are; exact.
    pub fn to_float(self, bits: u64) -> f64 {
        match self {
            NumberFormat::Float(Width::W16) => half::f16::from_bits(bits as u16).to_f64(),
            NumberFormat::Brain => half::bf16::from_bits(bits as u16).to_f64(),
            NumberFormat::Float(Width::W32) => f64::from(f32::from_bits(bits as u32)),
            NumberFormat::Float(Width::W64)
            | NumberFormat::Integer(_)
            | NumberFormat::Float(Width::W8) => f64::from_bits(bits),
        }
    }
}

/// The nearest float of 16 bits, ties to even. A float of 32 bits in between keeps, in its last
/// bit, that something was cut off (rounding to odd), so that nothing is rounded twice.
pub(super) fn nearest_half(value: f64) -> u16 {
    half::f16::from_f32(rounded_to_odd(value)).to_bits()
}

/// A float of 32 bits that lies on the same side of every float of 16 bits as `value`, and of all
/// ties between them.
fn rounded_to_odd(value: f64) -> f32 {
    let nearest_float = value as f32;
    if !nearest_float.is_finite()
        || f64::from(nearest_float) == value
        || nearest_float.to_bits() & 1 == 1
    {
        return nearest_float;
    }
    let is_toward_zero = (f64::from(nearest_float).abs() < value.abs()) || nearest_float == 0.0;
    let bits = nearest_float.to_bits();
    let moved_bits = if is_toward_zero { bits + 1 } else { bits - 1 };
    f32::from_bits(if nearest_float == 0.0 {
        moved_bits | (value.to_bits() >> 63 << 31) as u32
    } else {
        moved_bits
    })
}
