//! Element-wise operations: what each computes from 32-bit scalars, lane by lane.
//!
//! Knows: the arithmetic, bit, conversion, comparison and GLSL.std.450 operations on 32-bit
//! scalars.
//! Promises: every operation has a result for every operand; where the specification leaves it
//! undefined (`undefined` has the rules), the result is the one documented here: a quotient or
//! remainder by zero is 0, a remainder of negative numbers is that of SPIR-V without Vulkan, the
//! most negative integer divided by -1 is itself (remainder 0), a shift uses the low five bits of
//! its amount, a float that does not fit an integer is clamped (NaN gives 0), and a bit range
//! beyond 32 bits is cut. Floating-point division by zero gives an infinity or NaN (IEEE 754) and
//! is no finding. A NaN that arithmetic gives is the first of its operands that is one, made quiet,
//! or [`OWN_NAN`]: the instructions of a processor take one or the other operand, as the lanes are
//! grouped.
//! Does not cover: other widths; memory; masks.

use super::integer::Integer;
use super::operator::{Binary, Classify, Compare, Ternary, Unary};
use super::sized;

fn as_float(bits: u32) -> f32 {
    f32::from_bits(bits)
}

fn map_lanes(lane_results: &mut [u32], lane_operands: &[u32], op: impl Fn(u32) -> u32) {
    for (lane_result, lane_operand) in lane_results.iter_mut().zip(lane_operands) {
        *lane_result = op(*lane_operand);
    }
}

fn map_floats(lane_results: &mut [u32], a: &[u32], op: impl Fn(f32) -> f32) {
    map_lanes(lane_results, a, |a| op(as_float(a)).to_bits());
}

fn zip_lanes(lane_results: &mut [u32], a: &[u32], b: &[u32], op: impl Fn(u32, u32) -> u32) {
    for ((lane_result, a), b) in lane_results.iter_mut().zip(a).zip(b) {
        *lane_result = op(*a, *b);
    }
}

fn zip_floats(lane_results: &mut [u32], a: &[u32], b: &[u32], op: impl Fn(f32, f32) -> f32) {
    zip_lanes(lane_results, a, b, |a, b| op(as_float(a), as_float(b)).to_bits());
}

/// The NaN of an operation of which no operand is one: the one that x86 processors give.
const OWN_NAN: u32 = 0xffc0_0000;

/// The bit that makes a NaN quiet.
const QUIET: u32 = 0x0040_0000;

/// What an operation gives where its result is a NaN.
fn settled_nan<const COUNT: usize>(operands: [u32; COUNT]) -> u32 {
    let first = operands.into_iter().find(|bits| as_float(*bits).is_nan());
    first.map_or(OWN_NAN, |bits| bits | QUIET)
}

/// Arithmetic, whose results can be NaNs of several operands.
fn zip_arithmetic(lane_results: &mut [u32], a: &[u32], b: &[u32], op: impl Fn(f32, f32) -> f32) {
    let mut has_nan = 0u32;
    for ((lane_result, a), b) in lane_results.iter_mut().zip(a).zip(b) {
        let result = op(as_float(*a), as_float(*b));
        has_nan |= u32::from(result.is_nan());
        *lane_result = result.to_bits();
    }
    if has_nan != 0 {
        for ((lane_result, a), b) in lane_results.iter_mut().zip(a).zip(b) {
            if as_float(*lane_result).is_nan() {
                *lane_result = settled_nan([*a, *b]);
            }
        }
    }
}

fn zip_three_lanes(
    lane_results: &mut [u32],
    [a, b, c]: [&[u32]; 3],
    op: impl Fn(u32, u32, u32) -> u32,
) {
    for (((lane_result, a), b), c) in lane_results.iter_mut().zip(a).zip(b).zip(c) {
        *lane_result = op(*a, *b, *c);
    }
}

fn zip_three_floats(
    lane_results: &mut [u32],
    lane_operands: [&[u32]; 3],
    op: impl Fn(f32, f32, f32) -> f32,
) {
    zip_three_lanes(lane_results, lane_operands, |a, b, c| {
        op(as_float(a), as_float(b), as_float(c)).to_bits()
    });
}

/// The same as [`zip_arithmetic`] of three operands.
fn zip_three_arithmetic(
    lane_results: &mut [u32],
    [a, b, c]: [&[u32]; 3],
    op: impl Fn(f32, f32, f32) -> f32,
) {
    let mut has_nan = 0u32;
    for (((lane_result, a), b), c) in lane_results.iter_mut().zip(a).zip(b).zip(c) {
        let result = op(as_float(*a), as_float(*b), as_float(*c));
        has_nan |= u32::from(result.is_nan());
        *lane_result = result.to_bits();
    }
    if has_nan != 0 {
        for (((lane_result, a), b), c) in lane_results.iter_mut().zip(a).zip(b).zip(c) {
            if as_float(*lane_result).is_nan() {
                *lane_result = settled_nan([*a, *b, *c]);
            }
        }
    }
}

/// Packs a comparison's results into bits, 64 lanes to a word; bits behind the last lane are 0.
pub fn pack_bits(lane_bits: &mut [u64], a: &[u32], b: &[u32], op: impl Fn(u32, u32) -> bool) {
    for ((bits_of_word, a), b) in lane_bits.iter_mut().zip(a.chunks(64)).zip(b.chunks(64)) {
        let mut bytes = [0u8; 64];
        for ((byte, a), b) in bytes.iter_mut().zip(a).zip(b) {
            *byte = u8::from(op(*a, *b));
        }
        *bits_of_word = gather_bits(&bytes);
    }
}

/// Bit `i` is byte `i`, each 0 or 1.
fn gather_bits(bytes: &[u8; 64]) -> u64 {
    let mut bits = 0u64;
    for (byte_index, eight_bytes) in bytes.chunks_exact(8).enumerate() {
        let eight_bytes = u64::from_le_bytes(eight_bytes.try_into().expect("chunks of 8"));
        // Each byte's lowest bit lands in the top byte, in order: the multiplier has a one at every
        // bit 7 * (8 - i).
        bits |= (eight_bytes.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * byte_index);
    }
    bits
}

fn round_even(value: f32) -> f32 {
    value.round_ties_even()
}

fn signum(value: f32) -> f32 {
    if value > 0.0 {
        1.0
    } else if value < 0.0 {
        -1.0
    } else {
        value
    }
}

fn frexp(value: f32) -> (f32, i32) {
    let (significand, exponent) = sized::frexp(value.into());
    (significand as f32, exponent)
}

fn half_to_float(bits: u32) -> u32 {
    half::f16::from_bits(bits as u16).to_f32().to_bits()
}

fn float_to_half(bits: u32) -> u32 {
    u32::from(half::f16::from_f32(as_float(bits)).to_bits())
}

fn quantize_to_half(value: f32) -> f32 {
    let half_value = half::f16::from_f32(value);
    // SPIR-V, OpQuantizeToF16: a result that is denormal in 16 bits becomes a zero of the same
    // sign.
    if half_value.to_f32().abs() < 6.103_515_6e-5 {
        0.0f32.copysign(value)
    } else {
        half_value.to_f32()
    }
}

impl Unary {
    /// Computes all lanes.
    pub fn apply_to_lanes(self, lane_results: &mut [u32], a: &[u32]) {
        match self {
            Unary::SNegate => map_lanes(lane_results, a, Integer::negate),
            Unary::FNegate => map_lanes(lane_results, a, |a| a ^ 0x8000_0000),
            Unary::Not => map_lanes(lane_results, a, Integer::complement),
            Unary::BitReverse => map_lanes(lane_results, a, Integer::reverse),
            Unary::BitCount => map_lanes(lane_results, a, Integer::count_ones),
            Unary::ConvertFToU => map_lanes(lane_results, a, |a| as_float(a) as u32),
            Unary::ConvertFToS => map_lanes(lane_results, a, |a| as_float(a) as i32 as u32),
            Unary::ConvertSToF => map_lanes(lane_results, a, |a| (a as i32 as f32).to_bits()),
            Unary::ConvertUToF => map_lanes(lane_results, a, |a| (a as f32).to_bits()),
            Unary::QuantizeToF16 => map_floats(lane_results, a, quantize_to_half),
            Unary::SAbs => map_lanes(lane_results, a, Integer::signed_magnitude),
            Unary::SSign => map_lanes(lane_results, a, Integer::signed_sign),
            Unary::FindILsb => map_lanes(lane_results, a, Integer::lowest_set_bit),
            Unary::FindUMsb => map_lanes(lane_results, a, Integer::highest_set_bit),
            Unary::FindSMsb => map_lanes(lane_results, a, Integer::highest_unlike_sign),
            Unary::FrexpExponent => map_lanes(lane_results, a, |a| frexp(as_float(a)).1 as u32),
            Unary::UnpackHalfLow => map_lanes(lane_results, a, |a| half_to_float(a & 0xffff)),
            Unary::UnpackHalfHigh => map_lanes(lane_results, a, |a| half_to_float(a >> 16)),
            Unary::UnpackSnorm4(n) => {
                map_lanes(lane_results, a, |a| {
                    ((a >> (8 * n)) as i8 as f32 / 127.0).clamp(-1.0, 1.0).to_bits()
                });
            }
            Unary::UnpackUnorm4(n) => {
                map_lanes(lane_results, a, |a| (f32::from((a >> (8 * n)) as u8) / 255.0).to_bits())
            }
            Unary::UnpackSnorm2(n) => {
                map_lanes(lane_results, a, |a| {
                    (f32::from((a >> (16 * n)) as i16) / 32767.0).clamp(-1.0, 1.0).to_bits()
                });
            }
            Unary::UnpackUnorm2(n) => map_lanes(lane_results, a, |a| {
                (f32::from((a >> (16 * n)) as u16) / 65535.0).to_bits()
            }),
            Unary::PackSnorm4 => map_lanes(lane_results, a, |a| to_snorm(a, 127.0) as u32 & 0xff),
            Unary::PackUnorm4 => map_lanes(lane_results, a, |a| to_unorm(a, 255.0)),
            float => map_floats(lane_results, a, float.float_function()),
        }
    }

    /// The function on floats, for the operations that are one.
    fn float_function(self) -> fn(f32) -> f32 {
        match self {
            Unary::Round | Unary::RoundEven => round_even,
            Unary::Trunc | Unary::ModfWhole => f32::trunc,
            Unary::FAbs => f32::abs,
            Unary::FSign => signum,
            Unary::Floor => f32::floor,
            Unary::Ceil => f32::ceil,
            Unary::Fract => |a| a - a.floor(),
            Unary::Radians => |a| a * std::f32::consts::PI / 180.0,
            Unary::Degrees => |a| a * 180.0 / std::f32::consts::PI,
            Unary::Sin => f32::sin,
            Unary::Cos => f32::cos,
            Unary::Tan => f32::tan,
            Unary::Asin => f32::asin,
            Unary::Acos => f32::acos,
            Unary::Atan => f32::atan,
            Unary::Sinh => f32::sinh,
            Unary::Cosh => f32::cosh,
            Unary::Tanh => f32::tanh,
            Unary::Asinh => f32::asinh,
            Unary::Acosh => f32::acosh,
            Unary::Atanh => f32::atanh,
            Unary::Exp => f32::exp,
            Unary::Log => f32::ln,
            Unary::Exp2 => f32::exp2,
            Unary::Log2 => f32::log2,
            Unary::Sqrt | Unary::SqrtToNormalize => f32::sqrt,
            Unary::InverseSqrt => |a| 1.0 / a.sqrt(),
            Unary::ModfFraction => {
                |a| if a.is_infinite() { 0.0f32.copysign(a) } else { (a - a.trunc()).copysign(a) }
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
            | Unary::PackUnorm4 => |a| a,
        }
    }
}

fn ldexp(scaled_bits: u32, exponent_bits: u32) -> u32 {
    let exponent_bits = (exponent_bits as i32).clamp(-400, 400);
    ((f64::from(as_float(scaled_bits))) * 2f64.powi(exponent_bits)).to_bits_as_f32()
}

trait Narrow {
    fn to_bits_as_f32(self) -> u32;
}
impl Narrow for f64 {
    fn to_bits_as_f32(self) -> u32 {
        (self as f32).to_bits()
    }
}

fn to_snorm(value: u32, limit: f32) -> i32 {
    let value = as_float(value);
    let value = if value.is_nan() { 0.0 } else { value.clamp(-1.0, 1.0) };
    round_even(value * limit) as i32
}

fn to_unorm(value: u32, limit: f32) -> u32 {
    let value = as_float(value);
    let value = if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) };
    round_even(value * limit) as u32
}

impl Binary {
    /// Computes all lanes.
    pub fn apply_to_lanes(self, lane_results: &mut [u32], a: &[u32], b: &[u32]) {
        match self {
            Binary::IAdd => zip_lanes(lane_results, a, b, Integer::add),
            Binary::ISub => zip_lanes(lane_results, a, b, Integer::subtract),
            Binary::IMul => zip_lanes(lane_results, a, b, Integer::multiply),
            Binary::UDiv => zip_lanes(lane_results, a, b, Integer::unsigned_quotient),
            Binary::SDiv => zip_lanes(lane_results, a, b, Integer::signed_quotient),
            Binary::UMod => zip_lanes(lane_results, a, b, Integer::unsigned_remainder),
            Binary::SRem => zip_lanes(lane_results, a, b, Integer::signed_remainder),
            Binary::SMod => zip_lanes(lane_results, a, b, Integer::signed_modulo),
            Binary::FAdd => zip_arithmetic(lane_results, a, b, |a, b| a + b),
            Binary::FSub => zip_arithmetic(lane_results, a, b, |a, b| a - b),
            Binary::FMul => zip_arithmetic(lane_results, a, b, |a, b| a * b),
            Binary::FDiv | Binary::NormalizedComponent => {
                zip_arithmetic(lane_results, a, b, |a, b| a / b)
            }
            Binary::FRem => zip_arithmetic(lane_results, a, b, |a, b| a % b),
            Binary::FMod => zip_arithmetic(lane_results, a, b, |a, b| a - b * (a / b).floor()),
            Binary::ShiftRightLogical => zip_lanes(lane_results, a, b, Integer::shift_right),
            Binary::ShiftRightArithmetic => {
                zip_lanes(lane_results, a, b, Integer::signed_shift_right)
            }
            Binary::ShiftLeftLogical => zip_lanes(lane_results, a, b, Integer::shift_left),
            Binary::BitwiseOr => zip_lanes(lane_results, a, b, Integer::or),
            Binary::BitwiseXor => zip_lanes(lane_results, a, b, Integer::xor),
            Binary::BitwiseAnd => zip_lanes(lane_results, a, b, Integer::and),
            Binary::UMulHigh => zip_lanes(lane_results, a, b, Integer::unsigned_high),
            Binary::SMulHigh => zip_lanes(lane_results, a, b, Integer::signed_high),
            Binary::Carry => zip_lanes(lane_results, a, b, Integer::carry),
            Binary::Borrow => zip_lanes(lane_results, a, b, Integer::borrow_of),
            Binary::Pow => zip_arithmetic(lane_results, a, b, f32::powf),
            Binary::Atan2 => zip_arithmetic(lane_results, a, b, f32::atan2),
            Binary::FMin => zip_floats(lane_results, a, b, |a, b| if b < a { b } else { a }),
            Binary::FMax => zip_floats(lane_results, a, b, |a, b| if a < b { b } else { a }),
            Binary::NMin => zip_floats(lane_results, a, b, f32::min),
            Binary::NMax => zip_floats(lane_results, a, b, f32::max),
            Binary::UMin => zip_lanes(lane_results, a, b, u32::min),
            Binary::UMax => zip_lanes(lane_results, a, b, u32::max),
            Binary::SMin => zip_lanes(lane_results, a, b, Integer::signed_min),
            Binary::SMax => zip_lanes(lane_results, a, b, Integer::signed_max),
            Binary::Step => {
                zip_floats(lane_results, a, b, |edge, x| if x < edge { 0.0 } else { 1.0 })
            }
            Binary::Ldexp => zip_lanes(lane_results, a, b, ldexp),
            Binary::PackHalf => {
                zip_lanes(lane_results, a, b, |a, b| float_to_half(a) | float_to_half(b) << 16)
            }
            Binary::PackSnorm2 => {
                zip_lanes(lane_results, a, b, |a, b| {
                    (to_snorm(a, 32767.0) as u32 & 0xffff) | (to_snorm(b, 32767.0) as u32) << 16
                });
            }
            Binary::PackUnorm2 => zip_lanes(lane_results, a, b, |a, b| {
                to_unorm(a, 65535.0) | to_unorm(b, 65535.0) << 16
            }),
        }
    }
}

impl Ternary {
    /// Whether a product goes into a sum without being rounded.
    pub(crate) fn is_fused(self) -> bool {
        match self {
            Ternary::Fma
            | Ternary::ContractedAdd
            | Ternary::ContractedSub
            | Ternary::ContractedSubFrom => true,
            Ternary::FClamp
            | Ternary::UClamp
            | Ternary::SClamp
            | Ternary::NClamp
            | Ternary::FMix
            | Ternary::SmoothStep
            | Ternary::BitFieldSExtract
            | Ternary::BitFieldUExtract
            | Ternary::BitFieldInsert => false,
        }
    }

    /// Computes all lanes.
    pub fn apply_to_lanes(self, lane_results: &mut [u32], a: &[u32], b: &[u32], c: &[u32]) {
        let lane_operands = [a, b, c];
        match self {
            Ternary::FClamp => zip_three_floats(lane_results, lane_operands, |x, low, high| {
                let at_least_low = if x < low { low } else { x };
                if high < at_least_low { high } else { at_least_low }
            }),
            Ternary::NClamp => {
                zip_three_floats(lane_results, lane_operands, |x, low, high| x.max(low).min(high))
            }
            Ternary::UClamp => {
                zip_three_lanes(lane_results, lane_operands, |x, low, high| x.max(low).min(high))
            }
            Ternary::SClamp => zip_three_lanes(lane_results, lane_operands, |x, low, high| {
                x.signed_max(low).signed_min(high)
            }),
            Ternary::FMix => {
                zip_three_arithmetic(lane_results, lane_operands, |x, y, a| x * (1.0 - a) + y * a)
            }
            Ternary::SmoothStep => {
                zip_three_arithmetic(lane_results, lane_operands, |low, high, x| {
                    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
                    t * t * (3.0 - 2.0 * t)
                })
            }
            Ternary::Fma | Ternary::ContractedAdd => {
                zip_three_arithmetic(lane_results, lane_operands, f32::mul_add)
            }
            Ternary::ContractedSub => {
                zip_three_arithmetic(lane_results, lane_operands, |a, b, c| a.mul_add(b, -c))
            }
            Ternary::ContractedSubFrom => {
                zip_three_arithmetic(lane_results, lane_operands, |a, b, c| (-a).mul_add(b, c))
            }
            Ternary::BitFieldUExtract => {
                zip_three_lanes(lane_results, lane_operands, Integer::unsigned_field)
            }
            Ternary::BitFieldSExtract => {
                zip_three_lanes(lane_results, lane_operands, Integer::signed_field)
            }
            Ternary::BitFieldInsert => {
                zip_three_lanes(lane_results, lane_operands, |base, insert, position| {
                    base.insert_field(insert, position & 0xffff, position >> 16)
                })
            }
        }
    }
}

/// Whether one of two floats is no number.
fn is_unordered(a: u32, b: u32) -> bool {
    as_float(a).is_nan() || as_float(b).is_nan()
}

impl Compare {
    /// Computes all lanes into bits.
    pub fn apply_to_lanes(self, lane_bits: &mut [u64], a: &[u32], b: &[u32]) {
        match self {
            Compare::IEqual => pack_bits(lane_bits, a, b, |a, b| a == b),
            Compare::INotEqual => pack_bits(lane_bits, a, b, |a, b| a != b),
            Compare::UGreaterThan => pack_bits(lane_bits, a, b, |a, b| a > b),
            Compare::SGreaterThan => pack_bits(lane_bits, a, b, |a, b| a as i32 > b as i32),
            Compare::UGreaterThanEqual => pack_bits(lane_bits, a, b, |a, b| a >= b),
            Compare::SGreaterThanEqual => pack_bits(lane_bits, a, b, |a, b| a as i32 >= b as i32),
            Compare::ULessThan => pack_bits(lane_bits, a, b, |a, b| a < b),
            Compare::SLessThan => pack_bits(lane_bits, a, b, |a, b| (a as i32) < b as i32),
            Compare::ULessThanEqual => pack_bits(lane_bits, a, b, |a, b| a <= b),
            Compare::SLessThanEqual => pack_bits(lane_bits, a, b, |a, b| a as i32 <= b as i32),
            Compare::FOrdEqual => pack_bits(lane_bits, a, b, |a, b| as_float(a) == as_float(b)),
            Compare::FUnordEqual => {
                pack_bits(lane_bits, a, b, |a, b| is_unordered(a, b) || as_float(a) == as_float(b))
            }
            Compare::FOrdNotEqual => {
                pack_bits(lane_bits, a, b, |a, b| !is_unordered(a, b) && as_float(a) != as_float(b))
            }
            Compare::FUnordNotEqual => {
                pack_bits(lane_bits, a, b, |a, b| as_float(a) != as_float(b))
            }
            Compare::FOrdLessThan => pack_bits(lane_bits, a, b, |a, b| as_float(a) < as_float(b)),
            Compare::FUnordLessThan => {
                pack_bits(lane_bits, a, b, |a, b| is_unordered(a, b) || as_float(a) < as_float(b))
            }
            Compare::FOrdGreaterThan => {
                pack_bits(lane_bits, a, b, |a, b| as_float(a) > as_float(b))
            }
            Compare::FUnordGreaterThan => {
                pack_bits(lane_bits, a, b, |a, b| is_unordered(a, b) || as_float(a) > as_float(b))
            }
            Compare::FOrdLessThanEqual => {
                pack_bits(lane_bits, a, b, |a, b| as_float(a) <= as_float(b))
            }
            Compare::FUnordLessThanEqual => {
                pack_bits(lane_bits, a, b, |a, b| is_unordered(a, b) || as_float(a) <= as_float(b))
            }
            Compare::FOrdGreaterThanEqual => {
                pack_bits(lane_bits, a, b, |a, b| as_float(a) >= as_float(b))
            }
            Compare::FUnordGreaterThanEqual => {
                pack_bits(lane_bits, a, b, |a, b| is_unordered(a, b) || as_float(a) >= as_float(b))
            }
            Compare::Ordered => pack_bits(lane_bits, a, b, |a, b| !is_unordered(a, b)),
            Compare::Unordered => pack_bits(lane_bits, a, b, is_unordered),
        }
    }

    /// The source operator of a float comparison; none for integers.
    pub fn float_symbol(self) -> Option<&'static str> {
        match self {
            Compare::FOrdEqual | Compare::FUnordEqual => Some("=="),
            Compare::FOrdNotEqual | Compare::FUnordNotEqual => Some("!="),
            Compare::FOrdLessThan | Compare::FUnordLessThan => Some("<"),
            Compare::FOrdGreaterThan | Compare::FUnordGreaterThan => Some(">"),
            Compare::FOrdLessThanEqual | Compare::FUnordLessThanEqual => Some("<="),
            Compare::FOrdGreaterThanEqual | Compare::FUnordGreaterThanEqual => Some(">="),
            Compare::IEqual
            | Compare::INotEqual
            | Compare::UGreaterThan
            | Compare::SGreaterThan
            | Compare::UGreaterThanEqual
            | Compare::SGreaterThanEqual
            | Compare::ULessThan
            | Compare::SLessThan
            | Compare::ULessThanEqual
            | Compare::SLessThanEqual
            | Compare::Ordered
            | Compare::Unordered => None,
        }
    }
}

impl Classify {
    /// One bit per lane, lane `i` in bit `i % 64` of `lane_bits[i / 64]`: whether the float in
    /// `a[i]` is so.
    pub fn apply_to_lanes(self, lane_bits: &mut [u64], a: &[u32]) {
        match self {
            Classify::IsNan => pack_bits(lane_bits, a, a, |a, _| as_float(a).is_nan()),
            Classify::IsInf => pack_bits(lane_bits, a, a, |a, _| as_float(a).is_infinite()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nan_of_arithmetic_does_not_depend_on_how_lanes_are_grouped() {
        let quiet = |bits: u32| bits | QUIET;
        let (nan, other, signaling) = (0x7fc0_0001u32, 0xffc0_0002u32, 0x7f80_0003u32);
        let (one, infinity) = (1.0f32.to_bits(), f32::INFINITY.to_bits());
        for lanes in [1, 4, 7, 8, 9, 16, 17] {
            let all = |bits: u32| vec![bits; lanes];
            for op in [Binary::FAdd, Binary::FSub, Binary::FMul, Binary::FDiv, Binary::FRem] {
                for (a, b, due) in [
                    (nan, other, nan),
                    (other, nan, other),
                    (one, other, other),
                    (signaling, nan, quiet(signaling)),
                ] {
                    let mut results = all(0);
                    op.apply_to_lanes(&mut results, &all(a), &all(b));
                    assert_eq!(results, all(due), "{op:?} of {lanes} lanes");
                }
            }
            for op in [Ternary::Fma, Ternary::ContractedSub, Ternary::ContractedSubFrom] {
                let mut results = all(0);
                op.apply_to_lanes(&mut results, &all(one), &all(other), &all(nan));
                assert_eq!(results, all(other), "{op:?} of {lanes} lanes");
            }
            let mut results = all(0);
            Binary::FSub.apply_to_lanes(&mut results, &all(infinity), &all(infinity));
            assert_eq!(results, all(OWN_NAN), "{lanes} lanes");
        }
    }
}
