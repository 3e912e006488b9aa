//! How large altered numbers may be, by the numbers that stood there.
//!
//! Knows: the numbers of a group, and what is wanted of them. Promises: where expectations say what
//! they want, the scale is the greatest magnitude of the group (1 where all are zero); else each
//! number is its own scale, since one of them alone may be looked at by what is stored later, or by
//! a checker.
//! Does not cover: which numbers are a group.

use super::watch::Wanted;
use vkcert_model::altered::Alteration;
use vkcert_model::element::{ScalarClass, ScalarType};
use vkcert_oracle::scalar::{decode_float, decode_integer, float_bits};

/// The scale of the numbers of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    scalar: ScalarType,
    wanted: Wanted,
    /// Greatest finite magnitude; 1 where all are zero.
    greatest: f64,
    /// Least magnitude above zero, at most 1: that of the zeros where each number is its own scale.
    least: f64,
}

impl Scale {
    /// Of numbers by their raw bits.
    pub(super) fn of(scalar: ScalarType, wanted: Wanted, numbers: &[u64]) -> Self {
        let magnitudes = || {
            numbers.iter().map(|bits| magnitude(scalar, *bits)).filter(|found| found.is_finite())
        };
        let greatest = magnitudes().fold(0.0, f64::max);
        let least = magnitudes().filter(|found| *found > 0.0).fold(1.0, f64::min);
        Self { scalar, wanted, greatest: if greatest > 0.0 { greatest } else { 1.0 }, least }
    }

    /// The scale of a number of this magnitude.
    fn at(&self, magnitude: f64) -> f64 {
        match self.wanted {
            Wanted::Zeros | Wanted::Values => self.greatest,
            Wanted::Unknown if magnitude > 0.0 && magnitude.is_finite() => magnitude,
            Wanted::Unknown => self.least,
        }
    }

    /// Whether a number that stood elsewhere, or before, is of this scale: finite, and at most
    /// twice as large. Where zeros are wanted the scale is at least 1.
    pub(super) fn admits(&self, old: u64, new: u64) -> bool {
        magnitude(self.scalar, new) <= self.most(old)
    }

    fn most(&self, old: u64) -> f64 {
        let scale = self.at(magnitude(self.scalar, old));
        2.0 * if self.wanted == Wanted::Zeros { scale.max(1.0) } else { scale }
    }

    /// What stood there before, if it is of this scale. Where zeros are wanted, a larger number is
    /// cut to the most that is: a tolerance that refuses what lies between zero and it refuses it
    /// as well.
    pub(super) fn before(&self, old: u64, before: u64) -> Option<u64> {
        if self.wanted != Wanted::Zeros || self.admits(old, before) {
            return Some(before).filter(|before| self.admits(old, *before));
        }
        let most = self.most(old);
        match self.scalar.class() {
            ScalarClass::Float => {
                let value = decode_float(self.scalar, before);
                value.is_finite().then(|| float_bits(self.scalar, value.clamp(-most, most)))
            }
            ScalarClass::Bool | ScalarClass::Signed | ScalarClass::Unsigned => {
                let value =
                    decode_integer(self.scalar, before).clamp(-(most as i128), most as i128);
                Some((value as u64) & (u64::MAX >> (64 - self.scalar.size() * 8)))
            }
        }
    }

    /// A number shifted, negated or doubled.
    pub(super) fn changed(&self, old: u64, alteration: Alteration) -> u64 {
        match self.scalar.class() {
            ScalarClass::Float => self.changed_float(old, alteration),
            ScalarClass::Bool | ScalarClass::Signed | ScalarClass::Unsigned => {
                self.changed_integer(old, alteration)
            }
        }
    }

    fn changed_float(&self, old: u64, alteration: Alteration) -> u64 {
        let value = decode_float(self.scalar, old);
        if !value.is_finite() {
            return old;
        }
        let scale = self.at(value.abs());
        let (new, instead) = match alteration {
            Alteration::Negated => (-value, 0.0),
            Alteration::Doubled => (2.0 * value, 0.0),
            Alteration::Shifted
            | Alteration::Zeroed
            | Alteration::Rotated
            | Alteration::Unstored => (value + scale, value - scale),
        };
        let bits = float_bits(self.scalar, new);
        if decode_float(self.scalar, bits).is_finite() {
            bits
        } else {
            float_bits(self.scalar, instead)
        }
    }

    fn changed_integer(&self, old: u64, alteration: Alteration) -> u64 {
        let width = self.scalar.size() * 8;
        let (least, greatest) = match self.scalar.class() {
            ScalarClass::Signed => (-(1_i128 << (width - 1)), (1_i128 << (width - 1)) - 1),
            ScalarClass::Bool | ScalarClass::Unsigned | ScalarClass::Float => {
                (0, (1_i128 << width) - 1)
            }
        };
        let value = decode_integer(self.scalar, old);
        let scale = self.at(value.unsigned_abs() as f64) as i128;
        let new = match alteration {
            Alteration::Negated if least == 0 => scale - value,
            Alteration::Negated => -value,
            Alteration::Doubled => 2 * value,
            Alteration::Shifted
            | Alteration::Zeroed
            | Alteration::Rotated
            | Alteration::Unstored => {
                if value + scale > greatest {
                    value - scale
                } else {
                    value + scale
                }
            }
        };
        (new.clamp(least, greatest) as u64) & (u64::MAX >> (64 - width))
    }
}

/// Not finite for what is no number.
fn magnitude(scalar: ScalarType, bits: u64) -> f64 {
    match scalar.class() {
        ScalarClass::Float => decode_float(scalar, bits).abs(),
        ScalarClass::Bool | ScalarClass::Signed | ScalarClass::Unsigned => {
            decode_integer(scalar, bits).unsigned_abs() as f64
        }
    }
}
