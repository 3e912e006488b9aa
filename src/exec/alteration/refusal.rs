//! What an expectation refuses: whether it fails where one of its buffers is altered, and for which
//! elements it would fail at their own scale.
//!
//! Knows: one expectation by values, by another buffer or by a reference, and the final contents
//! that it accepts.
//! Promises: nothing is run. What a reference computes counts as what it was compared with, which
//! the tolerance accepts.
//! Does not cover: checkers; whether a kernel stores what is looked at.

use super::Before;
use super::scale::Scale;
use super::watch::{Wanted, in_stored_bytes, leaves_of};
use crate::BufferContents;
use crate::prepare::{Expected, ExpectedContents};
use std::collections::BTreeMap;
use std::ops::Range;
use vkcert_model::altered::Alteration;
use vkcert_model::element::{ScalarClass, ScalarType};
use vkcert_oracle::compare::{is_taken_for_zero, values_agree};
use vkcert_oracle::comparison::{Placement, compare_contents};
use vkcert_oracle::failable::{is_exact, texel_extremes};
use vkcert_oracle::scalar::{Leaf, decode_float, decode_integer, float_bits, read_scalar};
use vkcert_oracle::texel::compared_contents;

/// One buffer that an expectation compares.
#[derive(Debug)]
pub struct Side<'a> {
    /// Index into the job's buffers.
    pub buffer: usize,
    expected: &'a Expected,
    /// What its numbers are compared with, at the bytes where they are compared.
    leaves: Vec<Leaf>,
    turned: Turned,
}

/// Which of the two that are compared the buffer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turned {
    /// What is judged.
    Actual,
    /// What that is to be equal to.
    Wanted,
}

/// The buffers that an expectation compares; none of a checker. `left`: final contents by buffer of
/// the job.
pub fn sides<'a>(expected: &'a Expected, left: &[BufferContents]) -> Vec<Side<'a>> {
    let side = |buffer: usize, leaves: Vec<Leaf>, turned: Turned| Side {
        buffer,
        expected,
        leaves,
        turned,
    };
    let part = |buffer: usize, scalar: ScalarType, from: usize, length: usize, at: usize| {
        leaves_of(
            compared_contents(expected.format, &left[buffer])
                .get(from..from + length)
                .unwrap_or(&[]),
            scalar,
            at,
        )
    };
    let own = expected.buffer;
    match &expected.contents {
        ExpectedContents::Values(leaves) => vec![side(own, leaves.clone(), Turned::Actual)],
        ExpectedContents::Buffer { other, scalar, offset, length } => vec![
            side(own, part(*other, *scalar, 0, *length, *offset), Turned::Actual),
            side(*other, part(own, *scalar, *offset, *length, 0), Turned::Wanted),
        ],
        ExpectedContents::Reference { scalar, offset, length, job: _ } => {
            vec![side(own, part(own, *scalar, *offset, *length, *offset), Turned::Actual)]
        }
        ExpectedContents::Check { job: _ } => Vec::new(),
    }
}

impl Side<'_> {
    /// Whether the expectation fails where the buffer holds this.
    pub fn refuses(&self, contents: &[u8]) -> bool {
        let contents = compared_contents(self.expected.format, contents);
        let Expected { tolerance, placement, .. } = self.expected;
        let outcome = match self.turned {
            Turned::Actual => compare_contents(&contents, &self.leaves, tolerance, *placement, 0),
            Turned::Wanted => {
                let wanted = |leaf: &Leaf| {
                    Some(Leaf {
                        bits: read_scalar(&contents, leaf.scalar, leaf.offset as usize)?,
                        ..*leaf
                    })
                };
                let wanted: Vec<Leaf> = self.leaves.iter().filter_map(wanted).collect();
                compare_contents(&self.as_bytes(contents.len()), &wanted, tolerance, *placement, 0)
            }
        };
        outcome.is_ok_and(|outcome| outcome.disagreeing > 0)
    }

    /// What the buffer is compared with, as contents.
    fn as_bytes(&self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        for Leaf { offset, scalar, bits } in &self.leaves {
            let at = *offset as usize;
            bytes[at..at + scalar.size()].copy_from_slice(&bits.to_le_bytes()[..scalar.size()]);
        }
        bytes
    }

    /// The stored bytes of the elements of which the expectation refuses an alteration at the
    /// element's own scale; where zeros stand, at that of the greatest one beside. Ascending where
    /// the leaves are.
    pub fn judged(&self, left: &[BufferContents], before: Before<'_>) -> Vec<Range<usize>> {
        let contents = compared_contents(self.expected.format, &left[self.buffer]);
        let stored = |leaf: &Leaf| read_scalar(&contents, leaf.scalar, leaf.offset as usize);
        let scales = self.scales(&contents);
        let judges = |leaf: &&Leaf| {
            let Some(number) = stored(leaf) else { return false };
            let Some(beside) = scales.get(&leaf.scalar) else { return true };
            self.refuses_some(leaf, number, *beside, before)
        };
        let mut judged: Vec<Range<usize>> = Vec::new();
        for leaf in self.leaves.iter().filter(judges) {
            let at = leaf.offset as usize;
            let bytes = in_stored_bytes(self.expected.format, at..at + leaf.scalar.size());
            match judged.last_mut() {
                Some(last) if last.end == bytes.start => last.end = bytes.end,
                Some(_) | None => judged.push(bytes),
            }
        }
        judged
    }

    /// The scale of all numbers of a type together; of none where any other number is refused.
    fn scales(&self, contents: &[u8]) -> BTreeMap<ScalarType, Scale> {
        if is_exact(&self.expected.tolerance) {
            return BTreeMap::new();
        }
        let mut numbers: BTreeMap<ScalarType, Vec<u64>> = BTreeMap::new();
        for leaf in &self.leaves {
            numbers.entry(leaf.scalar).or_default().extend(read_scalar(
                contents,
                leaf.scalar,
                leaf.offset as usize,
            ));
        }
        let scale = |(scalar, numbers): (ScalarType, Vec<u64>)| {
            (scalar, Scale::of(scalar, Wanted::Values, &numbers))
        };
        numbers.into_iter().map(scale).collect()
    }

    /// Whether the expectation fails where an element holds something else than `number`, at its
    /// own scale.
    fn refuses_some(&self, leaf: &Leaf, number: u64, beside: Scale, before: Before<'_>) -> bool {
        let scalar = leaf.scalar;
        let refuses = |other: u64| !self.accepts(leaf, number, self.within_format(scalar, other));
        if refuses(0) {
            return true;
        }
        let is_zero = |bits: u64| match scalar.class() {
            ScalarClass::Float => decode_float(scalar, bits) == 0.0,
            ScalarClass::Bool | ScalarClass::Signed | ScalarClass::Unsigned => bits == 0,
        };
        let of_zeros = is_zero(number) || is_zero(leaf.bits);
        let scale = if of_zeros { beside } else { Scale::of(scalar, Wanted::Values, &[number]) };
        let changes = [Alteration::Shifted, Alteration::Negated, Alteration::Doubled];
        changes.into_iter().any(|how| refuses(scale.changed(number, how)))
            || self.unstored(leaf, number, before).is_some_and(refuses)
    }

    /// What stood there before the test, where the tolerance takes what is expected for zero.
    fn unstored(&self, leaf: &Leaf, number: u64, before: Before<'_>) -> Option<u64> {
        let scalar = leaf.scalar;
        if self.expected.format.is_some()
            || !is_taken_for_zero(scalar, leaf.bits, &self.expected.tolerance)
        {
            return None;
        }
        let before = before.number(self.buffer, scalar, leaf.offset as usize)?;
        Scale::of(scalar, Wanted::Zeros, &[number]).before(number, before)
    }

    /// The nearest that a component of a texel can hold.
    fn within_format(&self, scalar: ScalarType, number: u64) -> u64 {
        let Some(format) = self.expected.format else { return number };
        let [least, most] = texel_extremes(format);
        match scalar.class() {
            ScalarClass::Float => {
                let [least, most] = [least, most].map(|bits| decode_float(scalar, bits));
                let value = decode_float(scalar, number);
                if value.is_nan() { number } else { float_bits(scalar, value.clamp(least, most)) }
            }
            ScalarClass::Bool | ScalarClass::Signed | ScalarClass::Unsigned => {
                let [least, most, value] =
                    [least, most, number].map(|bits| decode_integer(scalar, bits));
                value.clamp(least, most) as u64
            }
        }
    }

    fn accepts(&self, leaf: &Leaf, number: u64, other: u64) -> bool {
        let (scalar, tolerance) = (leaf.scalar, &self.expected.tolerance);
        match (self.expected.placement, self.turned) {
            // Which one it is compared with is not known; one that is accepted is near.
            (Placement::AnyOrder { .. }, _) => values_agree(scalar, number, other, tolerance),
            (Placement::InPlace, Turned::Actual) => {
                values_agree(scalar, leaf.bits, other, tolerance)
            }
            (Placement::InPlace, Turned::Wanted) => {
                values_agree(scalar, other, leaf.bits, tolerance)
            }
        }
    }
}
