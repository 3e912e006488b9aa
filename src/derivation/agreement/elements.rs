//! The listed elements of a buffer in which two engines differ.
//!
//! Knows: a row's listed elements with their bits, and the stored bytes of both engines.
//! Promises: listed values are those stored, whether each is permitted follows from the values
//! listed as permitted, and where all are listed nothing else differs.
//! Does not cover: where the permitted values come from.

use super::Derivation;
use super::outputs::tells_of_undefined;
use vkcert_model::element::{ElementType, ScalarClass};
use vkcert_model::evidence::{BoundedBuffer, BoundedElement, ElementValue, TestEvidence};
use vkcert_model::image::ImageFormat;
use vkcert_oracle::contents::ContentsDifference;
use vkcert_oracle::difference::{
    NanResult, PermittedResults, ScalarDifference, TexelComponent, ValueBasis, ZeroSigns,
};
use vkcert_oracle::scalar::raw_bits;

/// The listed elements of a buffer, and, where all are listed, that there are no others.
pub(super) fn elements(
    test: &TestEvidence,
    buffer: &BoundedBuffer,
    bytes: &[Vec<u8>; 2],
    label: &str,
    derivation: &mut Derivation,
) {
    let name = &buffer.buffer;
    let mut covered = Vec::new();
    let mut worst = None;
    for element in &buffer.listed {
        let place = || format!("{label}: {} of buffer {name}", element.element);
        let format = test.definition.images.get(name).map(|image| image.format);
        let Some(difference) = difference(element, format) else {
            derivation.problems.push(format!("{}: unreadable", place()));
            continue;
        };
        let [ours, theirs] = bytes.each_ref().map(|all| difference.bits_in(all));
        derivation
            .check(ours == Some(difference.ours) && theirs == Some(difference.theirs), || {
                format!("{}: the stored outputs have other values", place())
            });
        derivation.check(element.undefined == difference.is_undefined(), || {
            format!("{}: whether it depends on an undefined value does not follow from the bits that do", place())
        });
        // Whether zeros differ is the module's to say: either way will do.
        let within = [ZeroSigns::Equal, ZeroSigns::Signed]
            .map(|zeros| difference.device_value_is_permitted(zeros));
        derivation.check(within.contains(&element.within), || {
            format!(
                "{}: whether it is permitted does not follow from the permitted values",
                place()
            )
        });
        worst = worst.max(difference.distance_in_ulps());
        covered.push(covered_bytes(&difference));
    }
    let all_listed = buffer.listed.len() as u64 == buffer.elements;
    let outside = buffer.listed.iter().filter(|element| !element.within).count() as u64;
    let undefined = buffer.listed.iter().filter(|element| element.undefined).count() as u64;
    for (stored, listed, what) in
        [(buffer.outside, outside, "outside"), (buffer.undefined, undefined, "undefined")]
    {
        let right = if all_listed { listed == stored } else { listed <= stored };
        derivation.check(right, || format!("{label}: buffer {name}: {stored} elements {what}"));
    }
    derivation.check(buffer.undefined == 0 || tells_of_undefined(test), || {
        format!("{label}: buffer {name}: undefined values without a finding that tells of one")
    });
    if all_listed {
        derivation.check(worst == buffer.worst_ulp, || {
            format!("{label}: buffer {name}: the largest distance")
        });
        // Elements that a tolerance of the test covers are not listed.
        let judged = test.expected.iter().any(|expected| expected.buffer == *name);
        let [ours, theirs] = bytes;
        let differing = ContentsDifference::between(0, ours, theirs);
        let mut others = differing
            .into_iter()
            .flat_map(ContentsDifference::offsets)
            .filter(|offset| !covered.iter().any(|range| range.contains(offset)));
        derivation.check(judged || others.next().is_none(), || {
            format!("{label}: buffer {name} differs elsewhere")
        });
    }
}

/// The bytes that an element accounts for: of an image, which packs components, its texel.
fn covered_bytes(difference: &ScalarDifference) -> std::ops::Range<usize> {
    let offset = difference.offset as usize;
    match difference.texel {
        None => offset..offset + difference.scalar.size(),
        Some(texel) => {
            let size = texel.format.texel_size();
            offset / size * size..(offset / size + 1) * size
        }
    }
}

fn difference(element: &BoundedElement, format: Option<ImageFormat>) -> Option<ScalarDifference> {
    let scalar = element.type_name.parse::<ElementType>().ok()?.scalar;
    let bits =
        |text: &String| raw_bits(text.strip_prefix("0x")?, scalar.size() as u32 * 8, text).ok();
    let span = |ends: &Vec<ElementValue>| {
        ends.iter().map(|end| bits(&end.bits)).collect::<Option<Vec<u64>>>()
    };
    let spans = element.permitted.iter().map(span).collect::<Option<Vec<_>>>()?;
    let permitted = match scalar.class() {
        ScalarClass::Float => PermittedResults::Between {
            // The paths themselves are not stored; any keys that differ will do.
            spans: (0..)
                .zip(spans.iter().filter_map(|ends| ends.as_slice().try_into().ok()))
                .collect(),
            nan: if element.nan_permitted { NanResult::Present } else { NanResult::Absent },
        },
        ScalarClass::Bool | ScalarClass::Signed | ScalarClass::Unsigned => {
            PermittedResults::OneOf(spans.concat())
        }
    };
    let (ours, theirs) = (bits(&element.sequential.bits)?, bits(&element.vulkan.bits)?);
    let texel = match (element.texel, format) {
        (Some(place), Some(format)) => Some(TexelComponent { format, component: place.component }),
        (Some(_), None) => return None,
        (None, _) => None,
    };
    let basis = match (&element.undefined_bits, element.undefined) {
        (Some(text), _) => ValueBasis::Undefined { bits: bits(text)? },
        (None, true) => ValueBasis::Undefined { bits: u64::MAX },
        (None, false) => ValueBasis::Defined,
    };
    Some(ScalarDifference {
        buffer: 0,
        offset: element.offset,
        scalar,
        texel,
        ours,
        theirs,
        permitted,
        basis,
    })
}
