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
pub use refusal::{ComparedSide, compared_sides};
pub use watch::{WantedValues, Watches};

use super::prepare::{Expected, ExpectedContents, Prepared};
use crate::BufferContents;
use scale::NumberScale;
use std::ops::Range;
use std::sync::Arc;
use vkcert_model::altered::Alteration;
use vkcert_model::element::{ScalarClass, ScalarType};
use vkcert_oracle::scalar::read_scalar;

/// What the buffers of a job held before a dispatch.
#[derive(Debug, Clone, Copy)]
pub struct EarlierContents<'a> {
    /// By index of the job's buffers.
    pub contents: &'a [BufferContents],
    /// The bytes that the test or an earlier dispatch has defined, by buffer; ascending and
    /// disjoint.
    pub defined: &'a [Vec<Range<usize>>],
}

impl EarlierContents<'_> {
    /// The bits of a number, where all of it was defined.
    pub fn defined_number(
        &self,
        buffer: usize,
        component_type: ScalarType,
        byte_offset: usize,
    ) -> Option<u64> {
        let number_end = byte_offset + component_type.size();
        let is_defined = self.defined[buffer]
            .iter()
            .any(|range| range.start <= byte_offset && number_end <= range.end);
        read_scalar(&self.contents[buffer], component_type, byte_offset).filter(|_| is_defined)
    }
}

/// The contents with the elements altered. `before`: what they held before the dispatch that stored
/// them.
pub fn altered_contents(
    contents: &[BufferContents],
    before: EarlierContents<'_>,
    groups: &[ElementGroup],
    alteration: Alteration,
) -> Vec<BufferContents> {
    let mut new_contents = contents.to_vec();
    groups.iter().for_each(|group| {
        alter_group(
            group,
            contents,
            before,
            alteration,
            Arc::<Vec<u8>>::make_mut(&mut new_contents[group.buffer]),
        )
    });
    new_contents
}

/// The same of the groups that are of one buffer, and of its contents alone.
pub fn altered_buffer(
    buffer: usize,
    contents: &[BufferContents],
    before: EarlierContents<'_>,
    groups: &[ElementGroup],
    alteration: Alteration,
) -> Vec<u8> {
    let mut new_contents = contents[buffer].to_vec();
    let own_groups = groups.iter().filter(|group| group.buffer == buffer);
    own_groups
        .for_each(|group| alter_group(group, contents, before, alteration, &mut new_contents));
    new_contents
}

fn alter_group(
    group: &ElementGroup,
    contents: &[BufferContents],
    before: EarlierContents<'_>,
    alteration: Alteration,
    new_bytes: &mut [u8],
) {
    match group.kind {
        ElementKind::Scalar(component_type) | ElementKind::Normalised(component_type) => {
            alter_numbers(group, component_type, contents, before, alteration, new_bytes);
        }
        ElementKind::Packed(texel_size) => {
            alter_packed(group, texel_size, &contents[group.buffer], alteration, new_bytes)
        }
    }
}

fn alter_numbers(
    group: &ElementGroup,
    component_type: ScalarType,
    contents: &[BufferContents],
    earlier_contents: EarlierContents<'_>,
    alteration: Alteration,
    new_bytes: &mut [u8],
) {
    let stored_bits = |element_offset: &usize| {
        read_scalar(&contents[group.buffer], component_type, *element_offset)
            .expect("an element lies in its buffer")
    };
    let stored_numbers: Vec<u64> = group.offsets.iter().map(stored_bits).collect();
    let number_scale = NumberScale::of_numbers(component_type, group.wanted, &stored_numbers);
    // Whatever a normalised component holds stands for 1 at most.
    let is_bounded = matches!(group.kind, ElementKind::Normalised(_));
    let following_numbers = stored_numbers.iter().cycle().skip(1);
    for ((element_offset, old_number), next_number) in
        group.offsets.iter().zip(&stored_numbers).zip(following_numbers)
    {
        let new_number = match alteration {
            Alteration::Shifted | Alteration::Negated | Alteration::Doubled => {
                Some(number_scale.changed_number(*old_number, alteration))
            }
            Alteration::Zeroed => Some(0),
            Alteration::Rotated => Some(*next_number).filter(|next_number| {
                is_bounded || number_scale.admits_number(*old_number, *next_number)
            }),
            Alteration::Unstored => {
                let earlier_contents =
                    earlier_contents.defined_number(group.buffer, component_type, *element_offset);
                earlier_contents.and_then(|earlier_contents| {
                    if is_bounded {
                        Some(earlier_contents)
                    } else {
                        number_scale.admitted_earlier(*old_number, earlier_contents)
                    }
                })
            }
        };
        let number_bytes =
            &new_number.unwrap_or(*old_number).to_le_bytes()[..component_type.size()];
        match group.in_part.get(element_offset) {
            None => new_bytes[*element_offset..*element_offset + component_type.size()]
                .copy_from_slice(number_bytes),
            Some(stored_parts) => {
                stored_parts.iter().for_each(|part| {
                    new_bytes[part.range()].copy_from_slice(
                        &number_bytes[part.start - element_offset..part.end - element_offset],
                    )
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
    element_size: usize,
    old_bytes: &[u8],
    alteration: Alteration,
    new_bytes: &mut [u8],
) {
    let following_offsets = group.offsets.iter().cycle().skip(1);
    for (element_offset, next_offset) in group.offsets.iter().zip(following_offsets) {
        let element_bytes = &mut new_bytes[*element_offset..*element_offset + element_size];
        match alteration {
            Alteration::Shifted => {
                element_bytes.iter_mut().zip(&PACKED_BITS).for_each(|(byte, bits)| *byte ^= bits)
            }
            Alteration::Zeroed => element_bytes.fill(0),
            Alteration::Rotated => {
                element_bytes.copy_from_slice(&old_bytes[*next_offset..*next_offset + element_size])
            }
            Alteration::Negated | Alteration::Doubled | Alteration::Unstored => {}
        }
    }
}

/// The test without expectations that read the elements as something else than the kernel stores
/// there: a float as a Boolean, or as a float of another width.
pub fn without_misreading(elements: &Elements<'_>) -> Prepared {
    let mut reduced_plan = elements.plan.clone();
    let all_expected = std::mem::take(&mut reduced_plan.expected);
    reduced_plan.expected = all_expected
        .into_iter()
        .filter_map(|expected| correctly_read(elements, expected))
        .collect();
    reduced_plan
}

/// The same of one expectation; none where nothing is left of it.
pub fn correctly_read(elements: &Elements<'_>, mut expected: Expected) -> Option<Expected> {
    let is_image = elements
        .plan
        .job
        .resources
        .images
        .iter()
        .any(|image| image.buffer as usize == expected.buffer);
    if is_image {
        return Some(expected);
    }
    let is_misread = |offset: usize, read_type: ScalarType| {
        is_misread(elements.number_at(expected.buffer, offset).scalar, read_type)
    };
    match &mut expected.contents {
        ExpectedContents::Values(leaves) => {
            leaves.retain(|leaf| !is_misread(leaf.offset as usize, leaf.scalar));
            (!leaves.is_empty()).then_some(expected)
        }
        ExpectedContents::Buffer { scalar, offset, length, .. }
        | ExpectedContents::Reference { scalar, offset, length, .. } => {
            let mut byte_offsets = (*offset..*offset + *length).step_by(scalar.size());
            byte_offsets.any(|byte_offset| !is_misread(byte_offset, *scalar)).then_some(expected)
        }
        ExpectedContents::Check { .. } => Some(expected),
    }
}

fn is_misread(stored_type: ScalarType, read_type: ScalarType) -> bool {
    match (stored_type.class(), read_type.class()) {
        (ScalarClass::Float, ScalarClass::Bool) => true,
        (ScalarClass::Float, ScalarClass::Float) => stored_type != read_type,
        (ScalarClass::Float, ScalarClass::Signed | ScalarClass::Unsigned) => false,
        (ScalarClass::Bool | ScalarClass::Signed | ScalarClass::Unsigned, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkcert_oracle::scalar::{decode_float, decode_integer, float_bits};

    fn bytes(component_type: ScalarType, values: &[f64]) -> Vec<u8> {
        let float = component_type.class() == ScalarClass::Float;
        let bits = |value: &f64| {
            if float { float_bits(component_type, *value) } else { *value as i64 as u64 }
        };
        values
            .iter()
            .flat_map(|value| bits(value).to_le_bytes()[..component_type.size()].to_vec())
            .collect()
    }

    /// Numbers of one group, of which so much is known; `before` stood there before, in defined
    /// bytes.
    fn alter_wanted(
        wanted: WantedValues,
        component_type: ScalarType,
        (values, before): (&[f64], &[f64]),
        alteration: Alteration,
    ) -> Vec<f64> {
        let size = component_type.size();
        let offsets = (0..values.len()).map(|index| index * size).collect();
        let group = ElementGroup {
            wanted,
            offsets,
            ..ElementGroup::empty_group(0, ElementKind::Scalar(component_type))
        };
        let before = bytes(component_type, before);
        let defined = [std::iter::once(0..before.len()).collect()];
        let before = EarlierContents { contents: &[before.into()], defined: &defined };
        let new =
            altered_contents(&[bytes(component_type, values).into()], before, &[group], alteration)
                .remove(0);
        let value = |at: usize| {
            let bits = read_scalar(&new, component_type, at * size).unwrap();
            let float = component_type.class() == ScalarClass::Float;
            if float {
                decode_float(component_type, bits)
            } else {
                decode_integer(component_type, bits) as f64
            }
        };
        (0..values.len()).map(value).collect()
    }

    fn alter_group(component_type: ScalarType, values: &[f64], alteration: Alteration) -> Vec<f64> {
        alter_wanted(WantedValues::Values, component_type, (values, &[]), alteration)
    }

    #[test]
    fn packed_zeros_become_other_colours() {
        let texel = ElementGroup {
            offsets: vec![0],
            ..ElementGroup::empty_group(0, ElementKind::Packed(4))
        };
        let before = EarlierContents { contents: &[vec![0; 4].into()], defined: &[Vec::new()] };
        let new =
            altered_contents(&[vec![0; 4].into()], before, &[texel], Alteration::Shifted).remove(0);
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
                alter_group(*scalar, values, *alteration),
                *expected,
                "{scalar:?} {values:?} {alteration}"
            );
        }
        let huge = alter_group(Float32, &[3e38], Doubled);
        assert!(huge[0].is_finite() && alter_group(Float32, &[3e38], Shifted)[0].abs() < 1e30);
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
            let new = alter_wanted(WantedValues::Unknown, *scalar, (values, &[]), *alteration);
            assert_eq!(new, *expected, "{scalar:?} {values:?} {alteration}");
        }
    }

    #[test]
    fn what_stood_there_before_counts_at_the_scale_of_the_values() {
        use ScalarType::{Float32, Int32};
        let unstored =
            |wanted: WantedValues, component_type: ScalarType, stored: &[f64], before: &[f64]| {
                alter_wanted(wanted, component_type, (stored, before), Alteration::Unstored)
            };
        let zeros = |before: &[f64]| unstored(WantedValues::Zeros, Float32, &[1e-8, 0.0], before);
        assert_eq!(zeros(&[1.0, -2.0]), [1.0, -2.0]);
        // A tolerance that refuses 2 refuses what is larger.
        assert_eq!(zeros(&[3.0, -1e9]), [2.0, -2.0]);
        let kept = zeros(&[f64::NAN, f64::INFINITY]);
        assert!(kept[0] < 1e-7 && kept[1] == 0.0, "{kept:?}");
        let values = |stored: &[f64], before: &[f64]| {
            unstored(WantedValues::Values, Float32, stored, before)
        };
        assert_eq!(values(&[4.0, 2.0], &[8.0, -9.0]), [8.0, 2.0]);
        assert_eq!(values(&[0.25, 0.25], &[1.0, 0.5]), [0.25, 0.5]);
        assert_eq!(unstored(WantedValues::Zeros, Int32, &[0.0, 0.0], &[-2.0, 7.0]), [-2.0, 2.0]);
        assert_eq!(unstored(WantedValues::Unknown, Float32, &[1e9, 1.0], &[3.0, 3.0]), [3.0, 1.0]);
        // Where nothing was defined, nothing is known to have stood there.
        assert_eq!(unstored(WantedValues::Zeros, Float32, &[0.0, 0.0], &[1.0]), [1.0, 0.0]);
    }

    #[test]
    fn a_float_is_not_judged_as_a_boolean_or_as_another_width() {
        use ScalarType::{Bool, Float16, Float32, Int32, Uint8, Uint32};
        assert!(
            is_misread(Float32, Bool)
                && is_misread(Float32, Float16)
                && is_misread(Float16, Float32)
        );
        assert!(
            !is_misread(Float32, Float32)
                && !is_misread(Float32, Uint8)
                && !is_misread(Uint32, Bool)
        );
        assert!(!is_misread(Int32, Float32));
    }
}
