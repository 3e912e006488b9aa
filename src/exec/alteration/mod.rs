//! Altered contents: what a kernel has stored, replaced by something else at the scale of its
//! values.
//!
//! Knows: groups of stored elements (`element`), and what stood there before.
//! Promises: finite values stay finite, and no magnitude exceeds twice the scale (`scale`), so that
//! a tolerance cannot fail for a NaN or for a huge number alone. The same contents give the same
//! alterations.
//! Does not cover: running and judging what is altered.

mod element;
mod refusal;
mod scale;
mod watch;

pub use element::{ElementGroup, ElementKind, Elements};
pub use refusal::{Side, sides};
pub use watch::{Wanted, Watches};

use super::prepare::{Expected, ExpectedContents, Prepared};
use crate::BufferContents;
use scale::Scale;
use std::ops::Range;
use std::sync::Arc;
use vkcert_model::altered::Alteration;
use vkcert_model::element::{ScalarClass, ScalarType};
use vkcert_oracle::scalar::read_scalar;

/// What the buffers of a job held before a dispatch.
#[derive(Debug, Clone, Copy)]
pub struct Before<'a> {
    /// By index of the job's buffers.
    pub contents: &'a [BufferContents],
    /// The bytes that the test or an earlier dispatch has defined, by buffer; ascending and
    /// disjoint.
    pub defined: &'a [Vec<Range<usize>>],
}

impl Before<'_> {
    /// The bits of a number, where all of it was defined.
    pub fn number(&self, buffer: usize, scalar: ScalarType, at: usize) -> Option<u64> {
        let end = at + scalar.size();
        let defined =
            self.defined[buffer].iter().any(|range| range.start <= at && end <= range.end);
        read_scalar(&self.contents[buffer], scalar, at).filter(|_| defined)
    }
}

/// The contents with the elements altered. `before`: what they held before the dispatch that stored
/// them.
pub fn altered(
    contents: &[BufferContents],
    before: Before<'_>,
    groups: &[ElementGroup],
    alteration: Alteration,
) -> Vec<BufferContents> {
    let mut altered = contents.to_vec();
    groups.iter().for_each(|group| {
        alter(
            group,
            contents,
            before,
            alteration,
            Arc::<Vec<u8>>::make_mut(&mut altered[group.buffer]),
        )
    });
    altered
}

/// The same of the groups that are of one buffer, and of its contents alone.
pub fn altered_buffer(
    buffer: usize,
    contents: &[BufferContents],
    before: Before<'_>,
    groups: &[ElementGroup],
    alteration: Alteration,
) -> Vec<u8> {
    let mut altered = contents[buffer].to_vec();
    let own = groups.iter().filter(|group| group.buffer == buffer);
    own.for_each(|group| alter(group, contents, before, alteration, &mut altered));
    altered
}

fn alter(
    group: &ElementGroup,
    contents: &[BufferContents],
    before: Before<'_>,
    alteration: Alteration,
    new: &mut [u8],
) {
    match group.kind {
        ElementKind::Scalar(scalar) | ElementKind::Normalised(scalar) => {
            alter_numbers(group, scalar, contents, before, alteration, new);
        }
        ElementKind::Packed(size) => {
            alter_packed(group, size, &contents[group.buffer], alteration, new)
        }
    }
}

fn alter_numbers(
    group: &ElementGroup,
    scalar: ScalarType,
    contents: &[BufferContents],
    before: Before<'_>,
    alteration: Alteration,
    new: &mut [u8],
) {
    let stored = |at: &usize| {
        read_scalar(&contents[group.buffer], scalar, *at).expect("an element lies in its buffer")
    };
    let numbers: Vec<u64> = group.offsets.iter().map(stored).collect();
    let scale = Scale::of(scalar, group.wanted, &numbers);
    // Whatever a normalised component holds stands for 1 at most.
    let bounded = matches!(group.kind, ElementKind::Normalised(_));
    let next = numbers.iter().cycle().skip(1);
    for ((at, old), next) in group.offsets.iter().zip(&numbers).zip(next) {
        let other = match alteration {
            Alteration::Shifted | Alteration::Negated | Alteration::Doubled => {
                Some(scale.changed(*old, alteration))
            }
            Alteration::Zeroed => Some(0),
            Alteration::Rotated => Some(*next).filter(|next| bounded || scale.admits(*old, *next)),
            Alteration::Unstored => {
                let before = before.number(group.buffer, scalar, *at);
                before.and_then(
                    |before| if bounded { Some(before) } else { scale.before(*old, before) },
                )
            }
        };
        let bytes = &other.unwrap_or(*old).to_le_bytes()[..scalar.size()];
        match group.in_part.get(at) {
            None => new[*at..*at + scalar.size()].copy_from_slice(bytes),
            Some(parts) => {
                parts.iter().for_each(|part| {
                    new[part.clone()].copy_from_slice(&bytes[part.start - at..part.end - at])
                });
            }
        }
    }
}

/// A high bit of each colour of `rgb10_a2` and of each mantissa of `r11f_g11f_b10f`, from the least
/// significant byte.
const PACKED_BITS: [u8; 4] = [0x20, 0x00, 0x01, 0x04];

/// The components cannot be told from the bits together; `PACKED_BITS` change every colour within
/// its range.
fn alter_packed(
    group: &ElementGroup,
    size: usize,
    old: &[u8],
    alteration: Alteration,
    new: &mut [u8],
) {
    let next = group.offsets.iter().cycle().skip(1);
    for (at, next) in group.offsets.iter().zip(next) {
        let element = &mut new[*at..*at + size];
        match alteration {
            Alteration::Shifted => {
                element.iter_mut().zip(&PACKED_BITS).for_each(|(byte, bits)| *byte ^= bits)
            }
            Alteration::Zeroed => element.fill(0),
            Alteration::Rotated => element.copy_from_slice(&old[*next..*next + size]),
            Alteration::Negated | Alteration::Doubled | Alteration::Unstored => {}
        }
    }
}

/// The test without expectations that read the elements as something else than the kernel stores
/// there: a float as a Boolean, or as a float of another width.
pub fn without_misreading(elements: &Elements<'_>) -> Prepared {
    let mut plan = elements.plan.clone();
    let all = std::mem::take(&mut plan.expected);
    plan.expected =
        all.into_iter().filter_map(|expected| read_rightly(elements, expected)).collect();
    plan
}

/// The same of one expectation; none where nothing is left of it.
pub fn read_rightly(elements: &Elements<'_>, mut expected: Expected) -> Option<Expected> {
    let image = elements
        .plan
        .job
        .resources
        .images
        .iter()
        .any(|image| image.buffer as usize == expected.buffer);
    if image {
        return Some(expected);
    }
    let misread = |offset: usize, read: ScalarType| {
        misreads(elements.number_at(expected.buffer, offset).scalar, read)
    };
    match &mut expected.contents {
        ExpectedContents::Values(leaves) => {
            leaves.retain(|leaf| !misread(leaf.offset as usize, leaf.scalar));
            (!leaves.is_empty()).then_some(expected)
        }
        ExpectedContents::Buffer { scalar, offset, length, .. }
        | ExpectedContents::Reference { scalar, offset, length, .. } => {
            let mut elements = (*offset..*offset + *length).step_by(scalar.size());
            elements.any(|at| !misread(at, *scalar)).then_some(expected)
        }
        ExpectedContents::Check { .. } => Some(expected),
    }
}

fn misreads(stored: ScalarType, read: ScalarType) -> bool {
    match (stored.class(), read.class()) {
        (ScalarClass::Float, ScalarClass::Bool) => true,
        (ScalarClass::Float, ScalarClass::Float) => stored != read,
        (ScalarClass::Float, ScalarClass::Signed | ScalarClass::Unsigned) => false,
        (ScalarClass::Bool | ScalarClass::Signed | ScalarClass::Unsigned, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkcert_oracle::scalar::{decode_float, decode_integer, float_bits};

    fn bytes(scalar: ScalarType, values: &[f64]) -> Vec<u8> {
        let float = scalar.class() == ScalarClass::Float;
        let bits =
            |value: &f64| if float { float_bits(scalar, *value) } else { *value as i64 as u64 };
        values
            .iter()
            .flat_map(|value| bits(value).to_le_bytes()[..scalar.size()].to_vec())
            .collect()
    }

    /// Numbers of one group, of which so much is known; `before` stood there before, in defined
    /// bytes.
    fn alter_wanted(
        wanted: Wanted,
        scalar: ScalarType,
        (values, before): (&[f64], &[f64]),
        alteration: Alteration,
    ) -> Vec<f64> {
        let size = scalar.size();
        let offsets = (0..values.len()).map(|index| index * size).collect();
        let group =
            ElementGroup { wanted, offsets, ..ElementGroup::empty(0, ElementKind::Scalar(scalar)) };
        let before = bytes(scalar, before);
        let defined = [std::iter::once(0..before.len()).collect()];
        let before = Before { contents: &[before.into()], defined: &defined };
        let new = altered(&[bytes(scalar, values).into()], before, &[group], alteration).remove(0);
        let value = |at: usize| {
            let bits = read_scalar(&new, scalar, at * size).unwrap();
            let float = scalar.class() == ScalarClass::Float;
            if float { decode_float(scalar, bits) } else { decode_integer(scalar, bits) as f64 }
        };
        (0..values.len()).map(value).collect()
    }

    fn alter(scalar: ScalarType, values: &[f64], alteration: Alteration) -> Vec<f64> {
        alter_wanted(Wanted::Values, scalar, (values, &[]), alteration)
    }

    #[test]
    fn packed_zeros_become_other_colours() {
        let texel =
            ElementGroup { offsets: vec![0], ..ElementGroup::empty(0, ElementKind::Packed(4)) };
        let before = Before { contents: &[vec![0; 4].into()], defined: &[Vec::new()] };
        let new = altered(&[vec![0; 4].into()], before, &[texel], Alteration::Shifted).remove(0);
        let bits = u32::from_le_bytes(new.as_slice().try_into().unwrap());
        let components = |widths: [u32; 3]| {
            let starts = [0, widths[0], widths[0] + widths[1]];
            [0, 1, 2].map(|index| bits >> starts[index] & ((1 << widths[index]) - 1))
        };
        assert!(components([10, 10, 10]).iter().all(|component| *component > 0), "{bits:#x}");
        // Subnormal: the exponents stay zero.
        let floats = components([11, 11, 10]);
        assert!(floats[0] > 0 && floats[1] > 0 && floats[2] > 0, "{bits:#x}");
        assert!(floats[0] < 64 && floats[1] < 64 && floats[2] < 32, "{bits:#x}");
    }

    #[test]
    fn alterations_stay_at_the_scale_of_the_values() {
        use Alteration::{Doubled, Negated, Rotated, Shifted, Zeroed};
        use ScalarType::{Float32, Int8, Int32, Uint8, Uint32};
        let cases: &[(ScalarType, &[f64], Alteration, &[f64])] = &[
            (Float32, &[1.0, -2.0], Shifted, &[3.0, 0.0]),
            (Float32, &[0.0, 0.0], Shifted, &[1.0, 1.0]),
            (Float32, &[1.0, -2.0], Zeroed, &[0.0, 0.0]),
            (Float32, &[1.0, -2.0], Negated, &[-1.0, 2.0]),
            (Float32, &[1.0, -2.0], Doubled, &[2.0, -4.0]),
            (Float32, &[1.0, -2.0, 3.0], Rotated, &[-2.0, 3.0, 1.0]),
            (Float32, &[f64::INFINITY, 2.0], Shifted, &[f64::INFINITY, 4.0]),
            (Float32, &[f64::INFINITY, 2.0], Rotated, &[2.0, 2.0]),
            (Int32, &[5.0, -7.0], Shifted, &[12.0, 0.0]),
            (Int32, &[0.0, 0.0], Shifted, &[1.0, 1.0]),
            (Int8, &[100.0, 1.0], Shifted, &[0.0, 101.0]),
            (Int8, &[100.0, -128.0], Doubled, &[127.0, -128.0]),
            (Uint32, &[5.0, 7.0], Negated, &[2.0, 0.0]),
            (Uint8, &[200.0, 7.0], Shifted, &[0.0, 207.0]),
        ];
        for (scalar, values, alteration, expected) in cases {
            assert_eq!(
                alter(*scalar, values, *alteration),
                *expected,
                "{scalar:?} {values:?} {alteration}"
            );
        }
        let huge = alter(Float32, &[3e38], Doubled);
        assert!(huge[0].is_finite() && alter(Float32, &[3e38], Shifted)[0].abs() < 1e30);
    }

    /// What no expectation says a value of: a checker may look at one of the numbers alone, or a
    /// later dispatch.
    #[test]
    fn numbers_of_which_nothing_is_wanted_are_their_own_scale() {
        use Alteration::{Doubled, Negated, Rotated, Shifted};
        use ScalarType::{Float32, Int32, Uint32};
        let cases: &[(ScalarType, &[f64], Alteration, &[f64])] = &[
            (Float32, &[1e9, -1.0, 0.0], Shifted, &[2e9, 0.0, 1.0]),
            (Float32, &[1e9, 0.5, 0.0], Shifted, &[2e9, 1.0, 0.5]),
            (Float32, &[0.0, 0.0], Shifted, &[1.0, 1.0]),
            (Float32, &[1e9, 1.0, 2.0, 3.0], Rotated, &[1.0, 2.0, 3.0, 3.0]),
            (Int32, &[1_000_000.0, 3.0, 0.0], Doubled, &[2_000_000.0, 6.0, 0.0]),
            (Uint32, &[1_000_000.0, 3.0, 0.0], Negated, &[0.0, 0.0, 1.0]),
            (Uint32, &[1.0, 2.0, 3.0, 900.0], Rotated, &[2.0, 3.0, 3.0, 1.0]),
        ];
        for (scalar, values, alteration, expected) in cases {
            let new = alter_wanted(Wanted::Unknown, *scalar, (values, &[]), *alteration);
            assert_eq!(new, *expected, "{scalar:?} {values:?} {alteration}");
        }
    }

    #[test]
    fn what_stood_there_before_counts_at_the_scale_of_the_values() {
        use ScalarType::{Float32, Int32};
        let unstored = |wanted: Wanted, scalar: ScalarType, stored: &[f64], before: &[f64]| {
            alter_wanted(wanted, scalar, (stored, before), Alteration::Unstored)
        };
        let zeros = |before: &[f64]| unstored(Wanted::Zeros, Float32, &[1e-8, 0.0], before);
        assert_eq!(zeros(&[1.0, -2.0]), [1.0, -2.0]);
        // A tolerance that refuses 2 refuses what is larger.
        assert_eq!(zeros(&[3.0, -1e9]), [2.0, -2.0]);
        let kept = zeros(&[f64::NAN, f64::INFINITY]);
        assert!(kept[0] < 1e-7 && kept[1] == 0.0, "{kept:?}");
        let values =
            |stored: &[f64], before: &[f64]| unstored(Wanted::Values, Float32, stored, before);
        assert_eq!(values(&[4.0, 2.0], &[8.0, -9.0]), [8.0, 2.0]);
        assert_eq!(values(&[0.25, 0.25], &[1.0, 0.5]), [0.25, 0.5]);
        assert_eq!(unstored(Wanted::Zeros, Int32, &[0.0, 0.0], &[-2.0, 7.0]), [-2.0, 2.0]);
        assert_eq!(unstored(Wanted::Unknown, Float32, &[1e9, 1.0], &[3.0, 3.0]), [3.0, 1.0]);
        // Where nothing was defined, nothing is known to have stood there.
        assert_eq!(unstored(Wanted::Zeros, Float32, &[0.0, 0.0], &[1.0]), [1.0, 0.0]);
    }

    #[test]
    fn a_float_is_not_judged_as_a_boolean_or_as_another_width() {
        use ScalarType::{Bool, Float16, Float32, Int32, Uint8, Uint32};
        assert!(
            misreads(Float32, Bool) && misreads(Float32, Float16) && misreads(Float16, Float32)
        );
        assert!(
            !misreads(Float32, Float32) && !misreads(Float32, Uint8) && !misreads(Uint32, Bool)
        );
        assert!(!misreads(Int32, Float32));
    }
}
