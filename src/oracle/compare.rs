//! Whether an element is what was expected, and how elements are shown.
//!
//! Knows: the contract's tolerances. Two NaNs are equal and the zeros are equal unless bits are
//! asked for; an infinity agrees only with itself, whatever the tolerance; any one bound that holds
//! suffices.
//! Promises: distances in units in the last place are exact; `abs` and `rel` are evaluated in
//! 64-bit floats, integers exactly as long as the bounds are.

use super::scalar::{decode_float, decode_integer, float_bits};
use vkcert_model::element::{ScalarClass, ScalarType};
use vkcert_model::procedure::Tolerance;

/// Whether `actual` agrees with `expected` (both raw bits of a `scalar`).
pub fn values_agree(
    scalar_type: ScalarType,
    expected_bits: u64,
    actual_bits: u64,
    tolerance: &Tolerance,
) -> bool {
    if expected_bits == actual_bits {
        return true;
    }
    match (scalar_type.class(), tolerance.bits) {
        (_, true) => false,
        (ScalarClass::Float, false) => {
            floats_agree(scalar_type, expected_bits, actual_bits, tolerance)
        }
        // Any bit of a Boolean is true; what a kernel stores is 0 or 1.
        (ScalarClass::Bool, false) => (expected_bits != 0) == (actual_bits != 0),
        (ScalarClass::Signed | ScalarClass::Unsigned, false) => {
            let (expected_value, actual_value) = (
                decode_integer(scalar_type, expected_bits),
                decode_integer(scalar_type, actual_bits),
            );
            let distance = (expected_value - actual_value).unsigned_abs();
            let is_within = |bound: f64| distance <= bound as u128;
            tolerance.abs.is_some_and(is_within)
                || tolerance.rel.is_some_and(|rel| {
                    is_within((rel * expected_value.unsigned_abs() as f64).floor())
                })
        }
    }
}

/// Whether a tolerance takes an expected number for zero: it is, or it is so small that the
/// tolerance lets sixteen times as much pass, with either sign.
pub fn is_taken_for_zero(
    scalar_type: ScalarType,
    expected_bits: u64,
    tolerance: &Tolerance,
) -> bool {
    match scalar_type.class() {
        ScalarClass::Bool | ScalarClass::Signed | ScalarClass::Unsigned => expected_bits == 0,
        ScalarClass::Float => {
            let value = decode_float(scalar_type, expected_bits);
            let multiple_passes = |factor: f64| {
                values_agree(
                    scalar_type,
                    expected_bits,
                    float_bits(scalar_type, factor * value),
                    tolerance,
                )
            };
            value == 0.0 || value.is_finite() && multiple_passes(16.0) && multiple_passes(-16.0)
        }
    }
}

fn floats_agree(
    scalar_type: ScalarType,
    expected_bits: u64,
    actual_bits: u64,
    tolerance: &Tolerance,
) -> bool {
    let (expected_value, actual_value) =
        (decode_float(scalar_type, expected_bits), decode_float(scalar_type, actual_bits));
    if expected_value.is_nan() || actual_value.is_nan() {
        return expected_value.is_nan() && actual_value.is_nan();
    }
    if expected_value == actual_value {
        return true;
    }
    if expected_value.is_infinite() || actual_value.is_infinite() {
        return false;
    }
    let distance = (actual_value - expected_value).abs();
    tolerance.abs.is_some_and(|abs| distance <= abs)
        || tolerance.rel.is_some_and(|rel| distance <= rel * expected_value.abs())
        || tolerance
            .ulp
            .is_some_and(|ulp| ulp_distance(scalar_type, expected_bits, actual_bits) <= ulp)
}

/// One representation of all values that are equal without a tolerance (with `bits`: the bits
/// themselves).
pub(crate) fn canonical_bits(scalar_type: ScalarType, bits: u64, tolerance: &Tolerance) -> u64 {
    match (scalar_type.class(), tolerance.bits) {
        (_, true) | (ScalarClass::Signed | ScalarClass::Unsigned, false) => bits,
        (ScalarClass::Bool, false) => u64::from(bits != 0),
        (ScalarClass::Float, false) => {
            let value = decode_float(scalar_type, bits);
            match (value.is_nan(), value == 0.0) {
                // No float has all bits set but a NaN.
                (true, _) => u64::MAX,
                (false, true) => 0,
                (false, false) => bits,
            }
        }
    }
}

/// Position of a value among all of its type: ascending with the value; NaNs come last and are one,
/// and so are the zeros.
pub(crate) fn ordering_key(scalar_type: ScalarType, bits: u64) -> i128 {
    match scalar_type.class() {
        ScalarClass::Bool => i128::from(bits != 0),
        ScalarClass::Signed | ScalarClass::Unsigned => decode_integer(scalar_type, bits),
        ScalarClass::Float if decode_float(scalar_type, bits).is_nan() => i128::MAX,
        ScalarClass::Float => float_ordinal(scalar_type, bits),
    }
}

/// Number of steps from one finite float to the next between two floats; the zeros are one value.
pub fn ulp_distance(scalar_type: ScalarType, left_bits: u64, right_bits: u64) -> u64 {
    float_ordinal(scalar_type, left_bits).abs_diff(float_ordinal(scalar_type, right_bits)) as u64
}

/// Position of a float among all floats of its type: consecutive floats have consecutive numbers,
/// both zeros are 0.
fn float_ordinal(scalar_type: ScalarType, bits: u64) -> i128 {
    let sign_bit = 1_u64 << (scalar_type.size() * 8 - 1);
    let magnitude = i128::from(bits & (sign_bit - 1));
    if bits & sign_bit == 0 { magnitude } else { -magnitude }
}

/// An element as results show it: a number, or a string where JSON has no number.
pub fn value_as_json(scalar_type: ScalarType, bits: u64) -> serde_json::Value {
    match scalar_type.class() {
        ScalarClass::Bool => match bits {
            0 => false.into(),
            1 => true.into(),
            other => other.into(),
        },
        ScalarClass::Signed => (decode_integer(scalar_type, bits) as i64).into(),
        ScalarClass::Unsigned => bits.into(),
        ScalarClass::Float => {
            let value = decode_float(scalar_type, bits);
            if value.is_nan() {
                "NaN".into()
            } else if value.is_infinite() {
                if value > 0.0 { "Infinity".into() } else { "-Infinity".into() }
            } else {
                // The shortest decimal of the type itself: 0.1, not 0.10000000149011612.
                match scalar_type {
                    ScalarType::Float32 => {
                        (value as f32).to_string().parse::<f64>().unwrap_or(value).into()
                    }
                    _ => value.into(),
                }
            }
        }
    }
}

/// Raw bits, `0x` and all digits of the type.
pub fn shown_bits(scalar_type: ScalarType, bits: u64) -> String {
    format!("0x{bits:0width$x}", width = scalar_type.size() * 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;
    use proptest::prelude::*;

    fn ulp(ulp: u64) -> Tolerance {
        Tolerance { ulp: Some(ulp), ..Tolerance::default() }
    }

    #[test]
    fn ulp_distance_of_every_pair_of_neighbouring_halves_is_one() {
        let mut finite: Vec<f16> =
            (0..=u16::MAX).map(f16::from_bits).filter(|half| half.is_finite()).collect();
        finite.retain(|half| half.to_bits() != 0x8000);
        finite.sort_by(|left, right| left.total_cmp(right));
        for (index, pair) in finite.windows(2).enumerate() {
            let [left, right] = [pair[0], pair[1]].map(|half| u64::from(half.to_bits()));
            assert_eq!(
                ulp_distance(ScalarType::Float16, left, right),
                1,
                "{} {}",
                pair[0],
                pair[1]
            );
            let first = u64::from(finite[0].to_bits());
            assert_eq!(ulp_distance(ScalarType::Float16, first, right), index as u64 + 1);
        }
    }

    #[test]
    fn zeros_and_nans_are_equal_unless_bits_are_asked_for() {
        let exact = Tolerance::default();
        let bits = Tolerance { bits: true, ..exact };
        for (left, right) in [(0, 0x8000_0000), (0x7fc0_0000, 0xffc0_0001)] {
            assert!(values_agree(ScalarType::Float32, left, right, &exact));
            assert!(!values_agree(ScalarType::Float32, left, right, &bits));
            assert!(values_agree(ScalarType::Float32, left, left, &bits));
        }
    }

    /// A relative bound is of the expected value, whichever is larger.
    #[test]
    fn rel_is_of_what_is_expected() {
        let rel = |rel| Tolerance { rel: Some(rel), ..Tolerance::default() };
        let floats = |expected: f32, actual: f32| {
            values_agree(
                ScalarType::Float32,
                expected.to_bits().into(),
                actual.to_bits().into(),
                &rel(0.5),
            )
        };
        assert!(floats(2.0, 1.0) && floats(2.0, 3.0) && floats(-2.0, -1.0));
        assert!(!floats(1.0, 2.0) && !floats(-1.0, -2.0) && !floats(0.0, 1e-30));
        let integers = |expected: i32, actual: i32| {
            let bits = |value: i32| u64::from(value as u32);
            values_agree(ScalarType::Int32, bits(expected), bits(actual), &rel(0.4))
        };
        assert!(integers(10, 14) && integers(10, 6) && integers(-10, -14));
        assert!(!integers(10, 15) && !integers(10, 5) && !integers(-10, -15) && !integers(0, 1));
    }

    #[test]
    fn an_infinity_agrees_with_nothing_else() {
        let wide = Tolerance {
            abs: Some(f64::MAX),
            rel: Some(f64::MAX),
            ulp: Some(u64::MAX),
            bits: false,
        };
        let (infinity, largest) =
            (u64::from(f32::INFINITY.to_bits()), u64::from(f32::MAX.to_bits()));
        let negative = u64::from(f32::NEG_INFINITY.to_bits());
        for other_bits in [largest, negative, 0, 0x7fc0_0000] {
            assert!(!values_agree(ScalarType::Float32, infinity, other_bits, &wide));
            assert!(!values_agree(ScalarType::Float32, other_bits, infinity, &wide));
        }
        assert!(values_agree(ScalarType::Float32, infinity, infinity, &wide));
    }

    proptest! {
        #[test]
        fn ulp_tolerance_is_the_number_of_steps_to_the_neighbour(bits in any::<u32>(), steps in 0_u64..40, bound in 0_u64..40) {
            let start = f32::from_bits(bits);
            prop_assume!(start.is_finite());
            let end = (0..steps).fold(start, |value, _| value.next_up());
            prop_assume!(end.is_finite());
            // next_up goes from -0 to the smallest positive value, so that the zeros count as one,
            // as they should.
            let within = values_agree(ScalarType::Float32, start.to_bits().into(), end.to_bits().into(), &ulp(bound));
            prop_assert_eq!(within, steps <= bound);
        }

        #[test]
        fn ulp_tolerance_holds_for_doubles(bits in any::<u64>(), steps in 0_u64..40, bound in 0_u64..40) {
            let start = f64::from_bits(bits);
            prop_assume!(start.is_finite());
            let end = (0..steps).fold(start, |value, _| value.next_down());
            prop_assume!(end.is_finite());
            prop_assert_eq!(values_agree(ScalarType::Float64, start.to_bits(), end.to_bits(), &ulp(bound)), steps <= bound);
        }

        #[test]
        fn any_bound_that_holds_suffices(expected in -100.0_f32..100.0, actual in -100.0_f32..100.0, abs in 0.0..50.0_f64, rel in 0.0..2.0_f64) {
            let (wanted, found) = (u64::from(expected.to_bits()), u64::from(actual.to_bits()));
            let one = |tolerance| values_agree(ScalarType::Float32, wanted, found, &tolerance);
            let (by_abs, by_rel) = (Tolerance { abs: Some(abs), ..Tolerance::default() }, Tolerance { rel: Some(rel), ..Tolerance::default() });
            prop_assert_eq!(one(Tolerance { abs: Some(abs), rel: Some(rel), ..Tolerance::default() }), one(by_abs) || one(by_rel));
            let distance = (f64::from(expected) - f64::from(actual)).abs();
            prop_assert_eq!(one(by_abs), distance <= abs || expected == actual);
        }

        #[test]
        fn integers_agree_within_abs(expected in any::<i32>(), actual in any::<i32>(), abs in 0_u32..) {
            let tolerance = Tolerance { abs: Some(abs.into()), ..Tolerance::default() };
            let within = (i64::from(expected) - i64::from(actual)).unsigned_abs() <= abs.into();
            let bits = |value: i32| u64::from(value as u32);
            prop_assert_eq!(values_agree(ScalarType::Int32, bits(expected), bits(actual), &tolerance), within);
        }

        #[test]
        fn a_float_is_shown_by_digits_that_read_back(bits in any::<u32>()) {
            let value = f32::from_bits(bits);
            prop_assume!(value.is_finite());
            let text = value_as_json(ScalarType::Float32, bits.into()).to_string();
            prop_assert_eq!(text.parse::<f32>().unwrap().to_bits(), bits);
        }
    }
}
