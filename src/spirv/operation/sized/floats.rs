//! Functions on floats of any width, computed with 64 bits.

use crate::operation::number::{NumberFormat, Width};
use crate::operation::operator::Unary;

/// Multiplies by a power of two and rounds once.
pub(super) fn scale_by_power(scaled_value: f64, exponent: i32) -> f64 {
    if exponent > 1000 {
        return scale_by_power(scaled_value * 2f64.powi(1000), exponent - 1000);
    }
    if exponent >= -1000 {
        return scaled_value * 2f64.powi(exponent);
    }
    // The first step is exact unless nothing is left after the second.
    scaled_value * 2f64.powi((exponent + 1000).max(-1022)) * 2f64.powi(-1000)
}

/// Whether `ldexp` is undefined: by an exponent above the type's largest, or a finite number whose
/// result is infinite.
pub fn is_too_large(number_format: NumberFormat, number_bits: u64, exponent_bits: u64) -> bool {
    let largest_exponent = match number_format {
        NumberFormat::Float(Width::W16) => 16,
        NumberFormat::Float(Width::W64) => 1024,
        NumberFormat::Float(Width::W8 | Width::W32)
        | NumberFormat::Brain
        | NumberFormat::Integer(_) => 128,
    };
    let (number_bits, exponent_bits) =
        (number_format.to_float(number_bits), Width::W32.sign_extended(exponent_bits));
    let scaled_result = scale_by_power(number_bits, exponent_bits.clamp(-4400, 4400) as i32);
    exponent_bits > largest_exponent
        || (number_bits.is_finite()
            && number_format.to_float(number_format.from_float(scaled_result)).is_infinite())
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
pub(super) fn float_function(op: Unary) -> Option<fn(f64) -> f64> {
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
