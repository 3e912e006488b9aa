//! How large altered numbers may be, by the numbers that stood there.
//!
//! Knows: the numbers of a group, and what is wanted of them. Promises: where expectations say what
//! they want, the scale is the greatest magnitude of the group (1 where all are zero); else each
//! number is its own scale, since one of them alone may be looked at by what is stored later, or by
//! a checker.
//! Does not cover: which numbers are a group.

use super::watch::WantedValues;
use vkcert_model::altered::Alteration;
use vkcert_model::element::{ScalarClass, ScalarType};
use vkcert_oracle::scalar::{decode_float, decode_integer, float_bits};

/// The scale of the numbers of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NumberScale {
    scalar: ScalarType,
    wanted: WantedValues,
    /// Greatest finite magnitude; 1 where all are zero.
    greatest: f64,
    /// Least magnitude above zero, at most 1: that of the zeros where each number is its own scale.
    least: f64,
}

impl NumberScale {
    /// Of numbers by their raw bits.
    pub(super) fn of_numbers(
        component_type: ScalarType,
        wanted: WantedValues,
        numbers: &[u64],
    ) -> Self {
        let finite_magnitudes = || {
            numbers
                .iter()
                .map(|bits| number_magnitude(component_type, *bits))
                .filter(|number_magnitude| number_magnitude.is_finite())
        };
        let greatest_magnitude = finite_magnitudes().fold(0.0, f64::max);
        let least_magnitude = finite_magnitudes()
            .filter(|number_magnitude| *number_magnitude > 0.0)
            .fold(1.0, f64::min);
        Self {
            scalar: component_type,
            wanted,
            greatest: if greatest_magnitude > 0.0 { greatest_magnitude } else { 1.0 },
            least: least_magnitude,
        }
    }

    /// The scale of a number of this magnitude.
    fn scale_of(&self, magnitude: f64) -> f64 {
        match self.wanted {
            WantedValues::Zeros | WantedValues::Values => self.greatest,
            WantedValues::Unknown if magnitude > 0.0 && magnitude.is_finite() => magnitude,
            WantedValues::Unknown => self.least,
        }
    }

    /// Whether a number that stood elsewhere, or before, is of this scale: finite, and at most
    /// twice as large. Where zeros are wanted the scale is at least 1.
    pub(super) fn admits_number(&self, old_number: u64, new_number: u64) -> bool {
        number_magnitude(self.scalar, new_number) <= self.greatest_admitted(old_number)
    }

    fn greatest_admitted(&self, old_number: u64) -> f64 {
        let number_scale = self.scale_of(number_magnitude(self.scalar, old_number));
        2.0 * if self.wanted == WantedValues::Zeros { number_scale.max(1.0) } else { number_scale }
    }

    /// What stood there before, if it is of this scale. Where zeros are wanted, a larger number is
    /// cut to the most that is: a tolerance that refuses what lies between zero and it refuses it
    /// as well.
    pub(super) fn admitted_earlier(&self, old_number: u64, earlier_number: u64) -> Option<u64> {
        if self.wanted != WantedValues::Zeros || self.admits_number(old_number, earlier_number) {
            return Some(earlier_number)
                .filter(|earlier_number| self.admits_number(old_number, *earlier_number));
        }
        let greatest_allowed = self.greatest_admitted(old_number);
        match self.scalar.class() {
            ScalarClass::Float => {
                let number_value = decode_float(self.scalar, earlier_number);
                number_value.is_finite().then(|| {
                    float_bits(self.scalar, number_value.clamp(-greatest_allowed, greatest_allowed))
                })
            }
            ScalarClass::Bool | ScalarClass::Signed | ScalarClass::Unsigned => {
                let number_value = decode_integer(self.scalar, earlier_number)
                    .clamp(-(greatest_allowed as i128), greatest_allowed as i128);
                Some((number_value as u64) & (u64::MAX >> (64 - self.scalar.size() * 8)))
            }
        }
    }

    /// A number shifted, negated or doubled.
    pub(super) fn changed_number(&self, old_number: u64, alteration: Alteration) -> u64 {
        match self.scalar.class() {
            ScalarClass::Float => self.changed_float(old_number, alteration),
            ScalarClass::Bool | ScalarClass::Signed | ScalarClass::Unsigned => {
                self.changed_integer(old_number, alteration)
            }
        }
    }

    fn changed_float(&self, old_number: u64, alteration: Alteration) -> u64 {
        let float_value = decode_float(self.scalar, old_number);
        if !float_value.is_finite() {
            return old_number;
        }
        let number_scale = self.scale_of(float_value.abs());
        let (new_value, other_value) = match alteration {
            Alteration::Negated => (-float_value, 0.0),
            Alteration::Doubled => (2.0 * float_value, 0.0),
            Alteration::Shifted
            | Alteration::Zeroed
            | Alteration::Rotated
            | Alteration::Unstored => (float_value + number_scale, float_value - number_scale),
        };
        let new_bits = float_bits(self.scalar, new_value);
        if decode_float(self.scalar, new_bits).is_finite() {
            new_bits
        } else {
            float_bits(self.scalar, other_value)
        }
    }

    fn changed_integer(&self, old_number: u64, alteration: Alteration) -> u64 {
        let bit_width = self.scalar.size() * 8;
        let (least_value, greatest_value) = match self.scalar.class() {
            ScalarClass::Signed => (-(1_i128 << (bit_width - 1)), (1_i128 << (bit_width - 1)) - 1),
            ScalarClass::Bool | ScalarClass::Unsigned | ScalarClass::Float => {
                (0, (1_i128 << bit_width) - 1)
            }
        };
        let integer_value = decode_integer(self.scalar, old_number);
        let number_scale = self.scale_of(integer_value.unsigned_abs() as f64) as i128;
        let new_value = match alteration {
            Alteration::Negated if least_value == 0 => number_scale - integer_value,
            Alteration::Negated => -integer_value,
            Alteration::Doubled => 2 * integer_value,
            Alteration::Shifted
            | Alteration::Zeroed
            | Alteration::Rotated
            | Alteration::Unstored => {
                if integer_value + number_scale > greatest_value {
                    integer_value - number_scale
                } else {
                    integer_value + number_scale
                }
            }
        };
        (new_value.clamp(least_value, greatest_value) as u64) & (u64::MAX >> (64 - bit_width))
    }
}

/// Not finite for what is no number.
fn number_magnitude(component_type: ScalarType, bits: u64) -> f64 {
    match component_type.class() {
        ScalarClass::Float => decode_float(component_type, bits).abs(),
        ScalarClass::Bool | ScalarClass::Signed | ScalarClass::Unsigned => {
            decode_integer(component_type, bits).unsigned_abs() as f64
        }
    }
}
