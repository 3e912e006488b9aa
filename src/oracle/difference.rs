//! A scalar that two engines left differently, and what the specification permits there.
//!
//! Promises: a float is permitted only between results that came to it by the same decisions; any
//! other scalar is permitted only where a run left just that. Nothing is permitted for being near.
//! Does not cover: where the permitted results come from (runs of the sequential engine,
//! `campaign::agreement`).

use super::compare::ulp_distance;
use super::scalar::{decode_float, read_scalar};
use super::texel::decode_texel;
use std::collections::BTreeMap;
use vkcert_model::element::{ScalarClass, ScalarType};
use vkcert_model::image::ImageFormat;

/// A scalar that the engines left differently.
#[derive(Debug, Clone, PartialEq)]
pub struct ScalarDifference {
    /// Index of the buffer among those of its test.
    pub buffer: usize,
    /// Bytes from the start of the buffer.
    pub offset: u64,
    /// Type of the scalar.
    pub scalar: ScalarType,
    /// Where it is a component of an image's texel.
    pub texel: Option<TexelComponent>,
    /// Raw bits: what the sequential engine and the device left.
    pub ours: u64,
    /// Raw bits that the device left.
    pub theirs: u64,
    /// What the specification permits here.
    pub permitted: PermittedResults,
    /// Whether it depends on undefined values.
    pub basis: ValueBasis,
}

/// Whether a scalar depends on values that the specification leaves undefined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ValueBasis {
    /// It does not.
    #[default]
    Defined,
    /// These bits depend on an undefined value, so that they may be any. Of a float, all bits do.
    Undefined {
        /// Mask of the bits that depend on one.
        bits: u64,
    },
}

/// Results that the specification permits for one scalar.
#[derive(Debug, Clone, PartialEq)]
pub enum PermittedResults {
    /// Raw bits of the least and the greatest result by the control-flow trace that led to them.
    /// `nan`: whether one of the results is NaN.
    Between {
        /// Least and greatest raw bits, by trace.
        spans: BTreeMap<u64, [u64; 2]>,
        /// Whether one of the results is NaN.
        nan: NanResult,
    },
    /// Raw bits, ascending.
    OneOf(Vec<u64>),
}

/// Whether NaN is among the permitted results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NanResult {
    /// No result is NaN.
    Absent,
    /// A result is NaN.
    Present,
}

/// A component of a texel. Where the format is not plain, values are those that a kernel reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TexelComponent {
    /// Format of the image.
    pub format: ImageFormat,
    /// Component of the texel, 0 to 3.
    pub component: u32,
}

impl TexelComponent {
    /// Raw bits of the component, given any byte of its texel.
    pub fn component_bits(self, bytes: &[u8], offset: u64) -> Option<u64> {
        let texel_size = self.format.texel_size();
        let texel_start = offset as usize / texel_size * texel_size;
        let mut decoded_components = Vec::new();
        decode_texel(
            self.format,
            bytes.get(texel_start..texel_start + texel_size)?,
            &mut decoded_components,
        );
        let component_type = self.format.component();
        read_scalar(
            &decoded_components,
            component_type,
            self.component as usize * component_type.size(),
        )
    }
}

impl ScalarDifference {
    /// Raw bits of the scalar in these contents of its buffer.
    pub fn bits_in(&self, bytes: &[u8]) -> Option<u64> {
        match self.texel {
            Some(texel) => texel.component_bits(bytes, self.offset),
            None => read_scalar(bytes, self.scalar, self.offset as usize),
        }
    }

    /// Whether the two values differ in no bit but those that depend on an undefined value.
    pub fn is_undefined(&self) -> bool {
        self.beyond_undefined() == 0
    }

    /// Bits that differ and do not depend on an undefined value.
    pub fn beyond_undefined(&self) -> u64 {
        match self.basis {
            ValueBasis::Defined => u64::MAX,
            ValueBasis::Undefined { bits } => (self.ours ^ self.theirs) & !bits,
        }
    }

    /// Notes the result of a run in which undefined values were chosen differently: bits that
    /// changed depend on them.
    pub fn note_undefined_variation(&mut self, other_result: u64) {
        let varying_bits = match (self.scalar.class(), other_result ^ self.ours) {
            (_, 0) => return,
            (ScalarClass::Float, _) => u64::MAX,
            (ScalarClass::Bool | ScalarClass::Signed | ScalarClass::Unsigned, varying_bits) => {
                varying_bits
            }
        };
        self.basis = match self.basis {
            ValueBasis::Defined => ValueBasis::Undefined { bits: varying_bits },
            ValueBasis::Undefined { bits } => ValueBasis::Undefined { bits: bits | varying_bits },
        };
    }

    /// Whether the device's value is permitted, given whether kernels must keep the signs of zeros.
    pub fn device_value_is_permitted(&self, zero_signs: ZeroSigns) -> bool {
        if self.is_undefined() {
            return true;
        }
        match &self.permitted {
            PermittedResults::OneOf(values) => values.contains(&self.theirs),
            PermittedResults::Between { spans, nan } => {
                let value = decode_float(self.scalar, self.theirs);
                if value.is_nan() {
                    return *nan == NanResult::Present;
                }
                spans.values().any(|ends| match zero_signs {
                    ZeroSigns::Equal => {
                        let [low, high] = ends.map(|end| decode_float(self.scalar, end));
                        low <= value && value <= high
                    }
                    ZeroSigns::Signed => {
                        let [low, ordinal, high] = [ends[0], self.theirs, ends[1]]
                            .map(|bits| signed_zero_ordinal(self.scalar, bits));
                        low <= ordinal && ordinal <= high
                    }
                })
            }
        }
    }

    /// Steps from one value to the other, for two finite floats that are defined.
    pub fn distance_in_ulps(&self) -> Option<u64> {
        if self.is_undefined() {
            return None;
        }
        let is_finite = |bits| decode_float(self.scalar, bits).is_finite();
        let are_finite_floats = self.scalar.class() == ScalarClass::Float
            && is_finite(self.ours)
            && is_finite(self.theirs);
        are_finite_floats.then(|| ulp_distance(self.scalar, self.ours, self.theirs))
    }

    /// Adds a permitted result, of a run with this control-flow trace.
    pub fn permit_result(&mut self, bits: u64, control_flow_trace: u64) {
        match &mut self.permitted {
            PermittedResults::OneOf(values) => {
                if let Err(position) = values.binary_search(&bits) {
                    values.insert(position, bits);
                }
            }
            PermittedResults::Between { nan, .. } if decode_float(self.scalar, bits).is_nan() => {
                *nan = NanResult::Present
            }
            PermittedResults::Between { spans, nan: _ } => {
                let [low, high] = spans.entry(control_flow_trace).or_insert([bits, bits]);
                let result_ordinal = signed_zero_ordinal(self.scalar, bits);
                if result_ordinal < signed_zero_ordinal(self.scalar, *low) {
                    *low = bits;
                }
                if result_ordinal > signed_zero_ordinal(self.scalar, *high) {
                    *high = bits;
                }
            }
        }
    }
}

/// Position of a float among all that are not NaN; the negative zero comes before the positive one.
fn signed_zero_ordinal(scalar_type: ScalarType, bits: u64) -> i128 {
    let sign_bit = 1_u64 << (scalar_type.size() * 8 - 1);
    let magnitude = i128::from(bits & (sign_bit - 1));
    if bits & sign_bit == 0 { magnitude } else { -magnitude - 1 }
}

impl PermittedResults {
    /// What is permitted before any run has been seen.
    pub fn none_for(scalar_type: ScalarType) -> Self {
        match scalar_type.class() {
            ScalarClass::Float => {
                PermittedResults::Between { spans: BTreeMap::new(), nan: NanResult::Absent }
            }
            ScalarClass::Bool | ScalarClass::Signed | ScalarClass::Unsigned => {
                PermittedResults::OneOf(Vec::new())
            }
        }
    }
}

/// Whether the sign of a zero must be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ZeroSigns {
    /// Zeros of different sign are different results.
    Signed,
    /// The zeros are equal.
    #[default]
    Equal,
}
