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
pub(super) struct ContentsChange {
    pub buffer: usize,
    /// The first byte that differs.
    pub offset: usize,
    /// Over all buffers.
    pub bytes: usize,
}

/// Bytes that `is_open` names, by buffer and offset, may differ.
pub(super) fn closed_difference(
    production: &Run,
    run: &Run,
    is_open: impl Fn(usize, u64) -> bool,
) -> Option<ContentsChange> {
    let mut first_difference: Option<ContentsChange> = None;
    for contents in differing_contents(&production.buffers, &run.buffers) {
        let buffer = contents.buffer;
        for offset in contents.offsets().filter(|offset| !is_open(buffer, *offset as u64)) {
            first_difference.get_or_insert(ContentsChange { buffer, offset, bytes: 0 }).bytes += 1;
        }
    }
    first_difference
}

/// How far two floats lie apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FloatDistance {
    pub abs: f64,
    pub ulps: u64,
}

impl FloatDistance {
    /// None where these are no floats, or not both finite.
    pub(super) fn of_floats(scalar: ScalarType, ours: u64, theirs: u64) -> Option<Self> {
        if scalar.class() != ScalarClass::Float {
            return None;
        }
        let (left_value, right_value) = (decode_float(scalar, ours), decode_float(scalar, theirs));
        let are_finite = left_value.is_finite() && right_value.is_finite();
        are_finite.then(|| Self {
            abs: (left_value - right_value).abs(),
            ulps: ulp_distance(scalar, ours, theirs),
        })
    }

    /// The greater of each.
    pub(super) fn max(self, other_distance: Self) -> Self {
        Self { abs: self.abs.max(other_distance.abs), ulps: self.ulps.max(other_distance.ulps) }
    }
}

impl std::fmt::Display for FloatDistance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({} ULP)", self.abs, self.ulps)
    }
}

/// The scalars of a buffer, as the test has them.
pub(super) struct BufferScalars {
    typed: Option<ScalarType>,
    /// Of what is expected: by offset.
    expected: BTreeMap<usize, ScalarType>,
    /// Bytes.
    length: usize,
}

impl BufferScalars {
    pub(super) fn of_buffer(
        prepared_test: &PreparedTest,
        job_plan: &Prepared,
        job: &Job,
        buffer: usize,
    ) -> Self {
        let job_buffer = &job.buffers[buffer];
        let typed_scalar = match prepared_test
            .test
            .buffers
            .get(&job_buffer.name)
            .and_then(|stated_buffer| stated_buffer.data_type)
        {
            Some(DataType::Element(element)) => Some(element.scalar),
            Some(DataType::Reflect) | None => None,
        };
        let expectations = job_plan.expected.iter().filter(|expected_buffer| {
            expected_buffer.buffer == buffer && expected_buffer.format.is_none()
        });
        let leaves = expectations.flat_map(|expected_buffer| match &expected_buffer.contents {
            ExpectedContents::Values(leaves) => leaves.as_slice(),
            ExpectedContents::Buffer { .. }
            | ExpectedContents::Reference { .. }
            | ExpectedContents::Check { .. } => &[],
        });
        let expected = leaves.map(|leaf| (leaf.offset as usize, leaf.scalar)).collect();
        Self { typed: typed_scalar, expected, length: job_buffer.bytes.len() }
    }

    /// The scalar that holds a byte, as the test types it, and where it starts: else a word, else
    /// the byte.
    pub(super) fn element_at(&self, offset: usize) -> (ScalarType, usize) {
        let aligned_scalar = |scalar: ScalarType| (scalar, offset - offset % scalar.size());
        let expected_scalar = || {
            let (start, scalar) = self.expected.range(..=offset).next_back()?;
            (offset < start + scalar.size()).then_some((*scalar, *start))
        };
        let known_element = self
            .typed
            .map(aligned_scalar)
            .or_else(expected_scalar)
            .unwrap_or_else(|| aligned_scalar(ScalarType::Uint32));
        Some(known_element)
            .filter(|(scalar, start)| start + scalar.size() <= self.length)
            .unwrap_or((ScalarType::Uint8, offset))
    }

    /// The greatest sizes by which the floats of a buffer differ.
    pub(super) fn largest_size(&self, contents: ContentsDifference<'_>) -> Option<FloatDistance> {
        let mut largest: Option<FloatDistance> = None;
        let mut end_of_last = 0;
        for offset in contents.offsets() {
            if offset < end_of_last {
                continue;
            }
            let (scalar, start) = self.element_at(offset);
            end_of_last = start + scalar.size();
            let bits_in = |bytes: &[u8]| read_scalar(bytes, scalar, start).unwrap_or_default();
            if let Some(size) =
                FloatDistance::of_floats(scalar, bits_in(contents.left), bits_in(contents.right))
            {
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
        let elements = BufferScalars { typed: None, expected, length: 12 };
        assert_eq!(elements.element_at(5), (ScalarType::Uint16, 4));
        assert_eq!(elements.element_at(6), (ScalarType::Uint32, 4));
        assert_eq!(BufferScalars { length: 10, ..elements }.element_at(9), (ScalarType::Uint8, 9));
    }

    #[test]
    fn a_size_is_that_of_two_finite_floats() {
        let bits = |value: f32| u64::from(value.to_bits());
        let size =
            |ours, theirs| FloatDistance::of_floats(ScalarType::Float32, bits(ours), bits(theirs));
        assert_eq!(size(1.0, 3.0).map(|size| size.abs), Some(2.0));
        assert_eq!((size(1.0, f32::INFINITY), size(f32::NAN, 1.0)), (None, None));
        assert_eq!(FloatDistance::of_floats(ScalarType::Uint32, 1, 3), None);
    }
}
