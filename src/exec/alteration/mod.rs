//! Altered contents: what a kernel has stored, replaced by something else at the scale of its values.
//!
//! Knows: which bytes were stored, and of which type their elements are (by the kernel's block, else as the test declares the
//! buffer, else by the format of the image).
//! Promises: finite values stay finite, and no magnitude exceeds twice the greatest one that stood there (1 where all were zero),
//! so that a tolerance cannot fail for a NaN or for a huge number alone. The same contents give the same alterations.
//! Does not cover: running and judging what is altered.

use super::prepare::scalar::{decode_float, decode_integer, float_bits, read};
use super::prepare::{Expected, ExpectedContents, Prepared};
use crate::model::altered::Alteration;
use crate::model::element::{DataType, ScalarClass, ScalarType};
use crate::model::image::TexelEncoding;
use crate::model::procedure::Test;
use std::collections::BTreeMap;
use std::ops::Range;

/// What an element is altered as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ElementKind {
    Scalar(ScalarType),
    /// Several numbers in so many bytes.
    Packed(usize),
}

impl ElementKind {
    fn size(self) -> usize {
        match self {
            ElementKind::Scalar(scalar) => scalar.size(),
            ElementKind::Packed(bytes) => bytes,
        }
    }
}

/// An element that a kernel stored to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredElement {
    /// Index into the job's buffers.
    pub buffer: usize,
    /// Bytes.
    pub offset: usize,
    pub kind: ElementKind,
}

/// The elements that these bytes of the job's buffers belong to, each once.
pub fn elements(plan: &Prepared, test: &Test, stored: &[Vec<Range<usize>>]) -> Vec<StoredElement> {
    let mut found = Vec::new();
    for (buffer, ranges) in stored.iter().enumerate() {
        let length = plan.job.buffers[buffer].bytes.len();
        let mut next = 0;
        for range in ranges {
            let mut at = range.start.max(next);
            while at < range.end {
                let (offset, kind) = element_at(plan, test, buffer, at);
                next = offset + kind.size();
                if next <= length {
                    found.push(StoredElement { buffer, offset, kind });
                }
                at = next;
            }
        }
    }
    found
}

/// The element that holds a byte: where it starts, and its type.
fn element_at(plan: &Prepared, test: &Test, buffer: usize, byte: usize) -> (usize, ElementKind) {
    let aligned = |kind: ElementKind| (byte - byte % kind.size(), kind);
    let image = plan.job.resources.images.iter().find(|image| image.buffer as usize == buffer);
    if let Some(image) = image {
        let format = image.shape.format;
        let component = (format.texel_size() / format.components() as usize).max(1);
        let unsigned = if component == 1 { ScalarType::Uint8 } else { ScalarType::Uint16 };
        return aligned(match format.encoding() {
            TexelEncoding::Plain(scalar) | TexelEncoding::Unorm(scalar) | TexelEncoding::Snorm(scalar) => {
                ElementKind::Scalar(scalar)
            }
            TexelEncoding::Srgb => ElementKind::Scalar(unsigned),
            TexelEncoding::Rgb10A2 | TexelEncoding::Rgb10A2Uint | TexelEncoding::R11G11B10 => {
                ElementKind::Packed(format.texel_size())
            }
        });
    }
    if let Some((offset, scalar)) = stored_scalar(plan, buffer, byte) {
        return (offset, ElementKind::Scalar(scalar));
    }
    let declared = test.buffers.get(&plan.job.buffers[buffer].name).and_then(|buffer| buffer.data_type);
    aligned(ElementKind::Scalar(match declared {
        Some(DataType::Element(element)) => whole_number(element.scalar),
        Some(DataType::Reflect) | None => ScalarType::Uint32,
    }))
}

/// The scalar of the kernel's block at a byte of a buffer, with where it starts.
fn stored_scalar(plan: &Prepared, buffer: usize, byte: usize) -> Option<(usize, ScalarType)> {
    let (offset, scalar) = plan.blocks.get(buffer)?.as_ref()?.scalar_at(byte as u64)?;
    Some((offset as usize, whole_number(scalar)))
}

/// Booleans of blocks are integers.
fn whole_number(scalar: ScalarType) -> ScalarType {
    match scalar.class() {
        ScalarClass::Bool => ScalarType::Uint32,
        ScalarClass::Signed | ScalarClass::Unsigned | ScalarClass::Float => scalar,
    }
}

/// The contents with the elements altered.
pub fn altered(contents: &[Vec<u8>], elements: &[StoredElement], alteration: Alteration) -> Vec<Vec<u8>> {
    let mut groups: BTreeMap<(usize, ElementKind), Vec<usize>> = BTreeMap::new();
    for element in elements {
        groups.entry((element.buffer, element.kind)).or_default().push(element.offset);
    }
    let mut altered = contents.to_vec();
    for ((buffer, kind), offsets) in groups {
        let (old, new) = (&contents[buffer], &mut altered[buffer]);
        match (alteration, kind) {
            (Alteration::Rotated, _) => rotate(old, new, &offsets, kind.size()),
            (Alteration::Zeroed, _) => offsets.iter().for_each(|at| new[*at..*at + kind.size()].fill(0)),
            (Alteration::Shifted | Alteration::Negated | Alteration::Doubled, ElementKind::Scalar(scalar)) => {
                let bits: Vec<u64> = offsets.iter().filter_map(|at| read(old, scalar, *at)).collect();
                for (at, bits) in offsets.iter().zip(changed(scalar, &bits, alteration)) {
                    new[*at..*at + scalar.size()].copy_from_slice(&bits.to_le_bytes()[..scalar.size()]);
                }
            }
            // The components cannot be told from the bits together; these bits change every colour within its range.
            (Alteration::Shifted, ElementKind::Packed(size)) => {
                for at in offsets {
                    new[at..at + size].iter_mut().zip(&PACKED_BITS).for_each(|(byte, bits)| *byte ^= bits);
                }
            }
            (Alteration::Negated | Alteration::Doubled, ElementKind::Packed(_)) => {}
        }
    }
    altered
}

/// A high bit of each colour of `rgb10_a2` and of each mantissa of `r11f_g11f_b10f`, from the least significant byte.
const PACKED_BITS: [u8; 4] = [0x20, 0x00, 0x01, 0x04];

fn rotate(old: &[u8], new: &mut [u8], offsets: &[usize], size: usize) {
    for (at, from) in offsets.iter().zip(offsets.iter().cycle().skip(1)) {
        new[*at..*at + size].copy_from_slice(&old[*from..*from + size]);
    }
}

/// Raw bits of altered numbers.
fn changed(scalar: ScalarType, bits: &[u64], alteration: Alteration) -> Vec<u64> {
    match scalar.class() {
        ScalarClass::Float => changed_floats(scalar, bits, alteration),
        ScalarClass::Bool | ScalarClass::Signed | ScalarClass::Unsigned => changed_integers(scalar, bits, alteration),
    }
}

fn changed_floats(scalar: ScalarType, bits: &[u64], alteration: Alteration) -> Vec<u64> {
    let finite = bits.iter().map(|bits| decode_float(scalar, *bits).abs()).filter(|value| value.is_finite());
    let greatest = finite.fold(0.0, f64::max);
    let scale = if greatest > 0.0 { greatest } else { 1.0 };
    let one = |old: &u64| {
        let value = decode_float(scalar, *old);
        let (new, instead) = match alteration {
            Alteration::Negated => (-value, 0.0),
            Alteration::Doubled => (2.0 * value, 0.0),
            Alteration::Shifted | Alteration::Zeroed | Alteration::Rotated => (value + scale, value - scale),
        };
        let stays_finite = |new: f64| decode_float(scalar, float_bits(scalar, new)).is_finite();
        match (value.is_finite(), stays_finite(new)) {
            (true, true) => float_bits(scalar, new),
            (true, false) => float_bits(scalar, instead),
            (false, _) => *old,
        }
    };
    bits.iter().map(one).collect()
}

fn changed_integers(scalar: ScalarType, bits: &[u64], alteration: Alteration) -> Vec<u64> {
    let width = scalar.size() * 8;
    let (least, greatest) = match scalar.class() {
        ScalarClass::Signed => (-(1_i128 << (width - 1)), (1_i128 << (width - 1)) - 1),
        ScalarClass::Bool | ScalarClass::Unsigned | ScalarClass::Float => (0, (1_i128 << width) - 1),
    };
    let values: Vec<i128> = bits.iter().map(|bits| decode_integer(scalar, *bits)).collect();
    let scale = values.iter().map(|value| value.abs()).max().unwrap_or(0).max(1);
    let one = |value: &i128| {
        let new = match alteration {
            Alteration::Negated if least == 0 => scale - value,
            Alteration::Negated => -value,
            Alteration::Doubled => 2 * value,
            Alteration::Shifted | Alteration::Zeroed | Alteration::Rotated if value + scale > greatest => value - scale,
            Alteration::Shifted | Alteration::Zeroed | Alteration::Rotated => value + scale,
        };
        (new.clamp(least, greatest) as u64) & (u64::MAX >> (64 - width))
    };
    values.iter().map(one).collect()
}

/// The test without expectations that read the elements as something else than the kernel stores there: a float as a Boolean, or
/// as a float of another width.
pub fn without_misreading(plan: &Prepared) -> Prepared {
    let mut plan = plan.clone();
    let all = std::mem::take(&mut plan.expected);
    plan.expected = all.into_iter().filter_map(|expected| read_rightly(&plan, expected)).collect();
    plan
}

fn read_rightly(plan: &Prepared, mut expected: Expected) -> Option<Expected> {
    let image = plan.job.resources.images.iter().any(|image| image.buffer as usize == expected.buffer);
    if image {
        return Some(expected);
    }
    let misread = |offset: usize, read: ScalarType| {
        stored_scalar(plan, expected.buffer, offset).is_some_and(|(_, stored)| misreads(stored, read))
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

    fn alter(scalar: ScalarType, values: &[f64], alteration: Alteration) -> Vec<f64> {
        let float = scalar.class() == ScalarClass::Float;
        let bits = |value: &f64| if float { float_bits(scalar, *value) } else { *value as i64 as u64 };
        let size = scalar.size();
        let bytes: Vec<u8> = values.iter().flat_map(|value| bits(value).to_le_bytes()[..size].to_vec()).collect();
        let kind = ElementKind::Scalar(scalar);
        let elements: Vec<_> =
            (0..values.len()).map(|index| StoredElement { buffer: 0, offset: index * size, kind }).collect();
        let new = altered(&[bytes], &elements, alteration).remove(0);
        let value = |at: usize| {
            let bits = read(&new, scalar, at * size).unwrap();
            if float { decode_float(scalar, bits) } else { decode_integer(scalar, bits) as f64 }
        };
        (0..values.len()).map(value).collect()
    }

    #[test]
    fn packed_zeros_become_other_colours() {
        let texel = StoredElement { buffer: 0, offset: 0, kind: ElementKind::Packed(4) };
        let new = altered(&[vec![0; 4]], &[texel], Alteration::Shifted).remove(0);
        let bits = u32::from_le_bytes(new.try_into().unwrap());
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
            (Int32, &[5.0, -7.0], Shifted, &[12.0, 0.0]),
            (Int32, &[0.0, 0.0], Shifted, &[1.0, 1.0]),
            (Int8, &[100.0, 1.0], Shifted, &[0.0, 101.0]),
            (Int8, &[100.0, -128.0], Doubled, &[127.0, -128.0]),
            (Uint32, &[5.0, 7.0], Negated, &[2.0, 0.0]),
            (Uint8, &[200.0, 7.0], Shifted, &[0.0, 207.0]),
        ];
        for (scalar, values, alteration, expected) in cases {
            assert_eq!(alter(*scalar, values, *alteration), *expected, "{scalar:?} {values:?} {alteration}");
        }
        let huge = alter(Float32, &[3e38], Doubled);
        assert!(huge[0].is_finite() && alter(Float32, &[3e38], Shifted)[0].abs() < 1e30);
    }

    #[test]
    fn a_float_is_not_judged_as_a_boolean_or_as_another_width() {
        use ScalarType::{Bool, Float16, Float32, Int32, Uint8, Uint32};
        assert!(misreads(Float32, Bool) && misreads(Float32, Float16) && misreads(Float16, Float32));
        assert!(!misreads(Float32, Float32) && !misreads(Float32, Uint8) && !misreads(Uint32, Bool));
        assert!(!misreads(Int32, Float32));
    }
}
