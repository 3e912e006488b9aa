//! What an expectation refuses: whether it fails where one of its buffers is altered, and for which
//! elements it would fail at their own scale.
//!
//! Knows: one expectation by values, by another buffer or by a reference, and the final contents
//! that it accepts.
//! Promises: nothing is run. What a reference computes counts as what it was compared with, which
//! the tolerance accepts.
//! Does not cover: checkers; whether a kernel stores what is looked at.

use super::EarlierContents;
use super::scale::NumberScale;
use super::watch::{WantedValues, in_stored_bytes, leaves_of};
use crate::BufferContents;
use crate::prepare::{Expected, ExpectedContents};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use vkcert_model::altered::Alteration;
use vkcert_model::element::{ScalarClass, ScalarType};
use vkcert_model::index_range::IndexRange;
use vkcert_oracle::compare::{is_taken_for_zero, values_agree};
use vkcert_oracle::comparison::{Placement, compare_contents};
use vkcert_oracle::failable::{is_exact, texel_extremes};
use vkcert_oracle::scalar::{Leaf, decode_float, decode_integer, float_bits, read_scalar};
use vkcert_oracle::texel::compared_contents;

/// One buffer that an expectation compares.
#[derive(Debug)]
pub struct ComparedSide<'a> {
    /// Index into the job's buffers.
    pub buffer: usize,
    expected: &'a Expected,
    /// What its numbers are compared with, at the bytes where they are compared.
    leaves: Cow<'a, [Leaf]>,
    side_role: SideRole,
}

/// Which of the two that are compared the buffer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SideRole {
    /// What is judged.
    Actual,
    /// What that is to be equal to.
    Wanted,
}

/// The buffers that an expectation compares; none of a checker. `left`: final contents by buffer of
/// the job.
pub fn compared_sides<'a>(
    expected: &'a Expected,
    final_contents: &[BufferContents],
) -> Vec<ComparedSide<'a>> {
    let new_side = |buffer: usize, leaves: Cow<'a, [Leaf]>, side_role: SideRole| ComparedSide {
        buffer,
        expected,
        leaves,
        side_role,
    };
    let compared_leaves = |buffer: usize,
                           component_type: ScalarType,
                           first_byte: usize,
                           byte_count: usize,
                           byte_offset: usize| {
        Cow::Owned(leaves_of(
            compared_contents(expected.format, &final_contents[buffer])
                .get(first_byte..first_byte + byte_count)
                .unwrap_or(&[]),
            component_type,
            byte_offset,
        ))
    };
    let judged_buffer = expected.buffer;
    match &expected.contents {
        ExpectedContents::Values(leaves) => {
            vec![new_side(judged_buffer, Cow::Borrowed(leaves), SideRole::Actual)]
        }
        ExpectedContents::Buffer { other, scalar: component_type, offset, length: byte_count } => {
            vec![
                new_side(
                    judged_buffer,
                    compared_leaves(*other, *component_type, 0, *byte_count, *offset),
                    SideRole::Actual,
                ),
                new_side(
                    *other,
                    compared_leaves(judged_buffer, *component_type, *offset, *byte_count, 0),
                    SideRole::Wanted,
                ),
            ]
        }
        ExpectedContents::Reference {
            scalar: component_type,
            offset,
            length: byte_count,
            job: _,
        } => {
            vec![new_side(
                judged_buffer,
                compared_leaves(judged_buffer, *component_type, *offset, *byte_count, *offset),
                SideRole::Actual,
            )]
        }
        ExpectedContents::Check { job: _ } => Vec::new(),
    }
}

impl ComparedSide<'_> {
    /// Whether the expectation fails where the buffer holds this.
    pub fn refuses_contents(&self, compared_bytes: &[u8]) -> bool {
        let compared_bytes = compared_contents(self.expected.format, compared_bytes);
        let Expected { tolerance, placement, .. } = self.expected;
        let comparison_outcome = match self.side_role {
            SideRole::Actual => {
                compare_contents(&compared_bytes, &self.leaves, tolerance, *placement, 0)
            }
            SideRole::Wanted => {
                let wanted_leaves = |leaf: &Leaf| {
                    Some(Leaf {
                        bits: read_scalar(&compared_bytes, leaf.scalar, leaf.offset as usize)?,
                        ..*leaf
                    })
                };
                let wanted_leaves: Vec<Leaf> =
                    self.leaves.iter().filter_map(wanted_leaves).collect();
                compare_contents(
                    &self.leaves_as_bytes(compared_bytes.len()),
                    &wanted_leaves,
                    tolerance,
                    *placement,
                    0,
                )
            }
        };
        comparison_outcome.is_ok_and(|comparison_outcome| comparison_outcome.disagreeing > 0)
    }

    /// What the buffer is compared with, as contents.
    fn leaves_as_bytes(&self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        for Leaf { offset, scalar, bits } in self.leaves.iter() {
            let byte_offset = *offset as usize;
            bytes[byte_offset..byte_offset + scalar.size()]
                .copy_from_slice(&bits.to_le_bytes()[..scalar.size()]);
        }
        bytes
    }

    /// The stored bytes of the elements of which the expectation refuses an alteration at the
    /// element's own scale; where zeros stand, at that of the greatest one beside. Ascending where
    /// the leaves are.
    pub fn judged_ranges(
        &self,
        final_contents: &[BufferContents],
        before: EarlierContents<'_>,
    ) -> Vec<Range<usize>> {
        let compared_bytes = compared_contents(self.expected.format, &final_contents[self.buffer]);
        let stored_number =
            |leaf: &Leaf| read_scalar(&compared_bytes, leaf.scalar, leaf.offset as usize);
        let scales_by_type = self.scales_by_type(&compared_bytes);
        let is_judged = |leaf: &&Leaf| {
            let Some(stored_bits) = stored_number(leaf) else { return false };
            let Some(common_scale) = scales_by_type.get(&leaf.scalar) else { return true };
            self.refuses_some(leaf, stored_bits, *common_scale, before)
        };
        let mut byte_ranges: Vec<Range<usize>> = Vec::new();
        for leaf in self.leaves.iter().filter(is_judged) {
            let byte_offset = leaf.offset as usize;
            let leaf_bytes =
                IndexRange { start: byte_offset, end: byte_offset + leaf.scalar.size() };
            let stored_bytes = in_stored_bytes(self.expected.format, leaf_bytes);
            match byte_ranges.last_mut() {
                Some(last_range) if last_range.end == stored_bytes.start => {
                    last_range.end = stored_bytes.end
                }
                Some(_) | None => byte_ranges.push(stored_bytes.range()),
            }
        }
        byte_ranges
    }

    /// The scale of all numbers of a type together; of none where any other number is refused.
    fn scales_by_type(&self, contents: &[u8]) -> BTreeMap<ScalarType, NumberScale> {
        if is_exact(&self.expected.tolerance) {
            return BTreeMap::new();
        }
        let mut numbers_by_type: BTreeMap<ScalarType, Vec<u64>> = BTreeMap::new();
        for leaf in self.leaves.iter() {
            numbers_by_type.entry(leaf.scalar).or_default().extend(read_scalar(
                contents,
                leaf.scalar,
                leaf.offset as usize,
            ));
        }
        numbers_by_type
            .into_iter()
            .map(|(scalar, numbers)| {
                (scalar, NumberScale::of_numbers(scalar, WantedValues::Values, &numbers))
            })
            .collect()
    }

    /// Whether the expectation fails where an element holds something else than `number`, at its
    /// own scale.
    fn refuses_some(
        &self,
        leaf: &Leaf,
        number: u64,
        beside: NumberScale,
        before: EarlierContents<'_>,
    ) -> bool {
        let scalar = leaf.scalar;
        let refuses_number = |other_number: u64| {
            !self.accepts_number(leaf, number, self.within_format(scalar, other_number))
        };
        if refuses_number(0) {
            return true;
        }
        let is_zero = |bits: u64| match scalar.class() {
            ScalarClass::Float => decode_float(scalar, bits) == 0.0,
            ScalarClass::Bool | ScalarClass::Signed | ScalarClass::Unsigned => bits == 0,
        };
        let concerns_zeros = is_zero(number) || is_zero(leaf.bits);
        let number_scale = if concerns_zeros {
            beside
        } else {
            NumberScale::of_numbers(scalar, WantedValues::Values, &[number])
        };
        let scale_changes = [Alteration::Shifted, Alteration::Negated, Alteration::Doubled];
        scale_changes
            .into_iter()
            .any(|alteration| refuses_number(number_scale.changed_number(number, alteration)))
            || self.unstored_number(leaf, number, before).is_some_and(refuses_number)
    }

    /// What stood there before the test, where the tolerance takes what is expected for zero.
    fn unstored_number(
        &self,
        leaf: &Leaf,
        number: u64,
        earlier_number: EarlierContents<'_>,
    ) -> Option<u64> {
        let scalar = leaf.scalar;
        if self.expected.format.is_some()
            || !is_taken_for_zero(scalar, leaf.bits, &self.expected.tolerance)
        {
            return None;
        }
        let earlier_number =
            earlier_number.defined_number(self.buffer, scalar, leaf.offset as usize)?;
        NumberScale::of_numbers(scalar, WantedValues::Zeros, &[number])
            .admitted_earlier(number, earlier_number)
    }

    /// The nearest that a component of a texel can hold.
    fn within_format(&self, component_type: ScalarType, number: u64) -> u64 {
        let Some(format) = self.expected.format else { return number };
        let [least_value, most_value] = texel_extremes(format);
        match component_type.class() {
            ScalarClass::Float => {
                let [least_value, most_value] =
                    [least_value, most_value].map(|bits| decode_float(component_type, bits));
                let number_value = decode_float(component_type, number);
                if number_value.is_nan() {
                    number
                } else {
                    float_bits(component_type, number_value.clamp(least_value, most_value))
                }
            }
            ScalarClass::Bool | ScalarClass::Signed | ScalarClass::Unsigned => {
                let [least_value, most_value, number_value] = [least_value, most_value, number]
                    .map(|bits| decode_integer(component_type, bits));
                number_value.clamp(least_value, most_value) as u64
            }
        }
    }

    fn accepts_number(&self, leaf: &Leaf, number: u64, other_number: u64) -> bool {
        let (scalar, tolerance) = (leaf.scalar, &self.expected.tolerance);
        match (self.expected.placement, self.side_role) {
            // Which one it is compared with is not known; one that is accepted is near.
            (Placement::AnyOrder { .. }, _) => {
                values_agree(scalar, number, other_number, tolerance)
            }
            (Placement::InPlace, SideRole::Actual) => {
                values_agree(scalar, leaf.bits, other_number, tolerance)
            }
            (Placement::InPlace, SideRole::Wanted) => {
                values_agree(scalar, other_number, leaf.bits, tolerance)
            }
        }
    }
}
