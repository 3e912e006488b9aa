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
    component_type: ScalarType,
    least_value: f64,
    most_value: f64,
) -> u64 {
    let unit_float = (generator.draw() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64);
    float_bits(component_type, least_value + unit_float * (most_value - least_value))
}

/// The bits of a component of any type, over the whole range of integers and 0 to 1 for floats
/// unless bounded.
pub(super) fn random_component(
    generator: &mut SplitMix64,
    component_type: ScalarType,
    bounds: RandomBounds,
) -> u64 {
    match (component_type.class(), bounds) {
        (ScalarClass::Bool, _) => generator.draw() >> 63,
        (ScalarClass::Float, RandomBounds::Float(least_value, most_value)) => {
            random_float(generator, component_type, least_value, most_value)
        }
        (ScalarClass::Float, RandomBounds::Integer(least_value, most_value)) => {
            random_float(generator, component_type, least_value as f64, most_value as f64)
        }
        (
            ScalarClass::Signed | ScalarClass::Unsigned,
            RandomBounds::Integer(least_value, most_value),
        ) => generator.integer(least_value, most_value) as u64,
        (
            ScalarClass::Signed | ScalarClass::Unsigned,
            RandomBounds::Float(least_value, most_value),
        ) => generator.integer(least_value as i128, most_value as i128) as u64,
    }
}

/// The range of a random component.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum RandomBounds {
    Integer(i128, i128),
    Float(f64, f64),
}
