//! Random contents, the same on every machine.
//!
//! The generator is `model::random::SplitMix64`.
//! One draw per component, in order. A float is `min + u * (max - min)` with `u = (draw >> 11) *
//! 2^-53`, rounded to its type; a Boolean is the top bit.

use vkcert_model::element::{ScalarClass, ScalarType};
pub(super) use vkcert_model::random::SplitMix64;
use vkcert_oracle::scalar::float_bits;

/// A float from `least` up to `most`, as bits.
pub(super) fn random_float(
    generator: &mut SplitMix64,
    scalar: ScalarType,
    least: f64,
    most: f64,
) -> u64 {
    let unit = (generator.draw() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64);
    float_bits(scalar, least + unit * (most - least))
}

/// The bits of a component of any type, over the whole range of integers and 0 to 1 for floats
/// unless bounded.
pub(super) fn random_component(
    generator: &mut SplitMix64,
    scalar: ScalarType,
    bounds: Bounds,
) -> u64 {
    match (scalar.class(), bounds) {
        (ScalarClass::Bool, _) => generator.draw() >> 63,
        (ScalarClass::Float, Bounds::Float(least, most)) => {
            random_float(generator, scalar, least, most)
        }
        (ScalarClass::Float, Bounds::Integer(least, most)) => {
            random_float(generator, scalar, least as f64, most as f64)
        }
        (ScalarClass::Signed | ScalarClass::Unsigned, Bounds::Integer(least, most)) => {
            generator.integer(least, most) as u64
        }
        (ScalarClass::Signed | ScalarClass::Unsigned, Bounds::Float(least, most)) => {
            generator.integer(least as i128, most as i128) as u64
        }
    }
}

/// The range of a random component.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Bounds {
    Integer(i128, i128),
    Float(f64, f64),
}
