//! The elements in which two results of a test differ.
//!
//! Knows: how the test types its buffers, what it expects of them.
//! Promises: the first differing byte belongs to the first element; sizes are those of finite
//! floats alone.
//! Does not cover: texels of images, which count as words.

use super::super::test_run::PreparedTest;
use std::collections::BTreeMap;
use vkcert_exec::comparison::differing_contents;
use vkcert_exec::prepare::{ExpectedContents, Prepared};
use vkcert_exec::{Job, Run};
use vkcert_model::element::{DataType, ScalarClass, ScalarType};
use vkcert_oracle::compare::ulp_distance;
use vkcert_oracle::contents::ContentsDifference;
use vkcert_oracle::scalar::{decode_float, read_scalar};

/// Where a run in some order left other contents than production did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Difference {
    pub buffer: usize,
    /// The first byte that differs.
    pub offset: usize,
    /// Over all buffers.
    pub bytes: usize,
}

/// Bytes that `open` names, by buffer and offset, may differ.
pub(super) fn difference(
    production: &Run,
    run: &Run,
    open: impl Fn(usize, u64) -> bool,
) -> Option<Difference> {
    let mut first: Option<Difference> = None;
    for contents in differing_contents(&production.buffers, &run.buffers) {
        let buffer = contents.buffer;
        for offset in contents.offsets().filter(|offset| !open(buffer, *offset as u64)) {
            first.get_or_insert(Difference { buffer, offset, bytes: 0 }).bytes += 1;
        }
    }
    first
}

/// How far two floats lie apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Size {
    pub abs: f64,
    pub ulps: u64,
}

impl Size {
    /// None where these are no floats, or not both finite.
    pub(super) fn of(scalar: ScalarType, ours: u64, theirs: u64) -> Option<Self> {
        if scalar.class() != ScalarClass::Float {
            return None;
        }
        let (left, right) = (decode_float(scalar, ours), decode_float(scalar, theirs));
        let both = left.is_finite() && right.is_finite();
        both.then(|| Self { abs: (left - right).abs(), ulps: ulp_distance(scalar, ours, theirs) })
    }

    /// The greater of each.
    pub(super) fn max(self, other: Self) -> Self {
        Self { abs: self.abs.max(other.abs), ulps: self.ulps.max(other.ulps) }
    }
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({} ULP)", self.abs, self.ulps)
    }
}

/// The scalars of a buffer, as the test has them.
pub(super) struct Elements {
    typed: Option<ScalarType>,
    /// Of what is expected: by offset.
    expected: BTreeMap<usize, ScalarType>,
    /// Bytes.
    length: usize,
}

impl Elements {
    pub(super) fn of(prepared: &PreparedTest, plan: &Prepared, job: &Job, buffer: usize) -> Self {
        let held = &job.buffers[buffer];
        let typed = match prepared.test.buffers.get(&held.name).and_then(|buffer| buffer.data_type)
        {
            Some(DataType::Element(element)) => Some(element.scalar),
            Some(DataType::Reflect) | None => None,
        };
        let expected =
            plan.expected.iter().filter(|one| one.buffer == buffer && one.format.is_none());
        let leaves = expected.flat_map(|one| match &one.contents {
            ExpectedContents::Values(leaves) => leaves.as_slice(),
            ExpectedContents::Buffer { .. }
            | ExpectedContents::Reference { .. }
            | ExpectedContents::Check { .. } => &[],
        });
        let expected = leaves.map(|leaf| (leaf.offset as usize, leaf.scalar)).collect();
        Self { typed, expected, length: held.bytes.len() }
    }

    /// The scalar that holds a byte, as the test types it, and where it starts: else a word, else
    /// the byte.
    pub(super) fn at(&self, offset: usize) -> (ScalarType, usize) {
        let aligned = |scalar: ScalarType| (scalar, offset - offset % scalar.size());
        let expected = || {
            let (start, scalar) = self.expected.range(..=offset).next_back()?;
            (offset < start + scalar.size()).then_some((*scalar, *start))
        };
        let known = self
            .typed
            .map(aligned)
            .or_else(expected)
            .unwrap_or_else(|| aligned(ScalarType::Uint32));
        Some(known)
            .filter(|(scalar, start)| start + scalar.size() <= self.length)
            .unwrap_or((ScalarType::Uint8, offset))
    }

    /// The greatest sizes by which the floats of a buffer differ.
    pub(super) fn largest(&self, contents: ContentsDifference<'_>) -> Option<Size> {
        let mut largest: Option<Size> = None;
        let mut end = 0;
        for offset in contents.offsets() {
            if offset < end {
                continue;
            }
            let (scalar, start) = self.at(offset);
            end = start + scalar.size();
            let bits = |bytes: &[u8]| read_scalar(bytes, scalar, start).unwrap_or_default();
            if let Some(size) = Size::of(scalar, bits(contents.left), bits(contents.right)) {
                largest = Some(largest.map_or(size, |largest| largest.max(size)));
            }
        }
        largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expected_element_ends_where_the_next_byte_begins() {
        let expected = BTreeMap::from([(4, ScalarType::Uint16)]);
        let elements = Elements { typed: None, expected, length: 12 };
        assert_eq!(elements.at(5), (ScalarType::Uint16, 4));
        assert_eq!(elements.at(6), (ScalarType::Uint32, 4));
        assert_eq!(Elements { length: 10, ..elements }.at(9), (ScalarType::Uint8, 9));
    }

    #[test]
    fn a_size_is_that_of_two_finite_floats() {
        let bits = |value: f32| u64::from(value.to_bits());
        let size = |ours, theirs| Size::of(ScalarType::Float32, bits(ours), bits(theirs));
        assert_eq!(size(1.0, 3.0).map(|size| size.abs), Some(2.0));
        assert_eq!((size(1.0, f32::INFINITY), size(f32::NAN, 1.0)), (None, None));
        assert_eq!(Size::of(ScalarType::Uint32, 1, 3), None);
    }
}
