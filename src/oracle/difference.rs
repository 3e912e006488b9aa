//! A scalar that two engines left differently, and what the specification permits there.
//!
//! Promises: a float is permitted only between results that came to it by the same decisions; any
//! other scalar is permitted only where a run left just that. Nothing is permitted for being near.
//! Does not cover: where the permitted results come from (runs of the sequential engine,
//! `campaign::agreement`).

use super::compare::ulp_distance;
use super::scalar::{decode_float, read};
use super::texel::decode_texel;
use std::collections::BTreeMap;
use vkcert_model::element::{ScalarClass, ScalarType};
use vkcert_model::image::ImageFormat;

/// A scalar that the engines left differently.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Index of the buffer among those of its test.
    pub buffer: usize,
    /// Bytes from the start of the buffer.
    pub offset: u64,
    pub scalar: ScalarType,
    /// Where it is a component of an image's texel.
    pub texel: Option<TexelComponent>,
    /// Raw bits: what the sequential engine and the device left.
    pub ours: u64,
    pub theirs: u64,
    pub permitted: Permitted,
    pub basis: Basis,
}

/// Whether a scalar depends on values that the specification leaves undefined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Basis {
    #[default]
    Defined,
    /// These bits depend on an undefined value, so that they may be any. Of a float, all bits do.
    Undefined { bits: u64 },
}

/// Results that the specification permits for one scalar.
#[derive(Debug, Clone, PartialEq)]
pub enum Permitted {
    /// Raw bits of the least and the greatest result by the control-flow trace that led to them.
    /// `nan`: whether one of the results is NaN.
    Between { spans: BTreeMap<u64, [u64; 2]>, nan: Nan },
    /// Raw bits, ascending.
    OneOf(Vec<u64>),
}

/// Whether NaN is among the permitted results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nan {
    Absent,
    Present,
}

/// A component of a texel. Where the format is not plain, values are those that a kernel reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TexelComponent {
    pub format: ImageFormat,
    pub component: u32,
}

impl TexelComponent {
    /// Raw bits of the component, given any byte of its texel.
    pub fn read(self, bytes: &[u8], offset: u64) -> Option<u64> {
        let size = self.format.texel_size();
        let start = offset as usize / size * size;
        let mut components = Vec::new();
        decode_texel(self.format, bytes.get(start..start + size)?, &mut components);
        let scalar = self.format.component();
        read(&components, scalar, self.component as usize * scalar.size())
    }
}

impl Difference {
    /// Raw bits of the scalar in these contents of its buffer.
    pub fn held(&self, bytes: &[u8]) -> Option<u64> {
        match self.texel {
            Some(texel) => texel.read(bytes, self.offset),
            None => read(bytes, self.scalar, self.offset as usize),
        }
    }

    /// Whether the two values differ in no bit but those that depend on an undefined value.
    pub fn is_undefined(&self) -> bool {
        self.beyond_undefined() == 0
    }

    /// Bits that differ and do not depend on an undefined value.
    pub fn beyond_undefined(&self) -> u64 {
        match self.basis {
            Basis::Defined => u64::MAX,
            Basis::Undefined { bits } => (self.ours ^ self.theirs) & !bits,
        }
    }

    /// Notes the result of a run in which undefined values were chosen differently: bits that
    /// changed depend on them.
    pub fn waver(&mut self, left: u64) {
        let others = match (self.scalar.class(), left ^ self.ours) {
            (_, 0) => return,
            (ScalarClass::Float, _) => u64::MAX,
            (ScalarClass::Bool | ScalarClass::Signed | ScalarClass::Unsigned, others) => others,
        };
        self.basis = match self.basis {
            Basis::Defined => Basis::Undefined { bits: others },
            Basis::Undefined { bits } => Basis::Undefined { bits: bits | others },
        };
    }

    /// Whether the device's value is permitted, given whether kernels must keep the signs of zeros.
    pub fn within(&self, zeros: Zeros) -> bool {
        if self.is_undefined() {
            return true;
        }
        match &self.permitted {
            Permitted::OneOf(values) => values.contains(&self.theirs),
            Permitted::Between { spans, nan } => {
                let value = decode_float(self.scalar, self.theirs);
                if value.is_nan() {
                    return *nan == Nan::Present;
                }
                spans.values().any(|ends| match zeros {
                    Zeros::Equal => {
                        let [low, high] = ends.map(|end| decode_float(self.scalar, end));
                        low <= value && value <= high
                    }
                    Zeros::Signed => {
                        let [low, value, high] =
                            [ends[0], self.theirs, ends[1]].map(|bits| place(self.scalar, bits));
                        low <= value && value <= high
                    }
                })
            }
        }
    }

    /// Steps from one value to the other, for two finite floats that are defined.
    pub fn ulps(&self) -> Option<u64> {
        if self.is_undefined() {
            return None;
        }
        let finite = |bits| decode_float(self.scalar, bits).is_finite();
        let floats =
            self.scalar.class() == ScalarClass::Float && finite(self.ours) && finite(self.theirs);
        floats.then(|| ulp_distance(self.scalar, self.ours, self.theirs))
    }

    /// Adds a permitted result, of a run with this control-flow trace.
    pub fn permit(&mut self, bits: u64, path: u64) {
        match &mut self.permitted {
            Permitted::OneOf(values) => {
                if let Err(at) = values.binary_search(&bits) {
                    values.insert(at, bits);
                }
            }
            Permitted::Between { nan, .. } if decode_float(self.scalar, bits).is_nan() => {
                *nan = Nan::Present
            }
            Permitted::Between { spans, nan: _ } => {
                let [low, high] = spans.entry(path).or_insert([bits, bits]);
                let at = place(self.scalar, bits);
                if at < place(self.scalar, *low) {
                    *low = bits;
                }
                if at > place(self.scalar, *high) {
                    *high = bits;
                }
            }
        }
    }
}

/// Position of a float among all that are not NaN; the negative zero comes before the positive one.
fn place(scalar: ScalarType, bits: u64) -> i128 {
    let sign = 1_u64 << (scalar.size() * 8 - 1);
    let magnitude = i128::from(bits & (sign - 1));
    if bits & sign == 0 { magnitude } else { -magnitude - 1 }
}

impl Permitted {
    /// What is permitted before any run has been seen.
    pub fn nothing(scalar: ScalarType) -> Self {
        match scalar.class() {
            ScalarClass::Float => Permitted::Between { spans: BTreeMap::new(), nan: Nan::Absent },
            ScalarClass::Bool | ScalarClass::Signed | ScalarClass::Unsigned => {
                Permitted::OneOf(Vec::new())
            }
        }
    }
}

/// Whether the sign of a zero must be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Zeros {
    Signed,
    #[default]
    Equal,
}
