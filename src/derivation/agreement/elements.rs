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
pub(super) fn check_elements(
    test: &TestEvidence,
    buffer: &BoundedBuffer,
    bytes: &[Vec<u8>; 2],
    label: &str,
    derivation: &mut Derivation,
) {
    let buffer_name = &buffer.buffer;
    let mut covered_ranges = Vec::new();
    let mut worst_ulps = None;
    for element in &buffer.listed {
        let place_words = || format!("{label}: {} of buffer {buffer_name}", element.element);
        let image_format = test.definition.images.get(buffer_name).map(|image| image.format);
        let Some(difference) = listed_difference(element, image_format) else {
            derivation.problems.push(format!("{}: unreadable", place_words()));
            continue;
        };
        let [ours, theirs] = bytes.each_ref().map(|stored_bytes| difference.bits_in(stored_bytes));
        derivation
            .check(ours == Some(difference.ours) && theirs == Some(difference.theirs), || {
                format!("{}: the stored outputs have other values", place_words())
            });
        derivation.check(element.undefined == difference.is_undefined(), || {
            format!("{}: whether it depends on an undefined value does not follow from the bits that do", place_words())
        });
        // Whether zeros differ is the module's to say: either way will do.
        let permitted_either_way = [ZeroSigns::Equal, ZeroSigns::Signed]
            .map(|zeros| difference.device_value_is_permitted(zeros));
        derivation.check(permitted_either_way.contains(&element.within), || {
            format!(
                "{}: whether it is permitted does not follow from the permitted values",
                place_words()
            )
        });
        worst_ulps = worst_ulps.max(difference.distance_in_ulps());
        covered_ranges.push(covered_bytes(&difference));
    }
    let all_listed = buffer.listed.len() as u64 == buffer.elements;
    let outside_count = buffer.listed.iter().filter(|element| !element.within).count() as u64;
    let undefined_count = buffer.listed.iter().filter(|element| element.undefined).count() as u64;
    for (stored, listed, kind_words) in [
        (buffer.outside, outside_count, "outside"),
        (buffer.undefined, undefined_count, "undefined"),
    ] {
        let count_fits = if all_listed { listed == stored } else { listed <= stored };
        derivation.check(count_fits, || {
            format!("{label}: buffer {buffer_name}: {stored} elements {kind_words}")
        });
    }
    derivation.check(buffer.undefined == 0 || tells_of_undefined(test), || {
        format!(
            "{label}: buffer {buffer_name}: undefined values without a finding that tells of one"
        )
    });
    if all_listed {
        derivation.check(worst_ulps == buffer.worst_ulp, || {
            format!("{label}: buffer {buffer_name}: the largest distance")
        });
        // Elements that a tolerance of the test covers are not listed.
        let is_judged = test.expected.iter().any(|expected| expected.buffer == *buffer_name);
        let [ours, theirs] = bytes;
        let differing_bytes = ContentsDifference::between(0, ours, theirs);
        let mut unlisted_bytes = differing_bytes
            .into_iter()
            .flat_map(ContentsDifference::offsets)
            .filter(|offset| !covered_ranges.iter().any(|range| range.contains(offset)));
        derivation.check(is_judged || unlisted_bytes.next().is_none(), || {
            format!("{label}: buffer {buffer_name} differs elsewhere")
        });
    }
}

/// The bytes that an element accounts for: of an image, which packs components, its texel.
fn covered_bytes(difference: &ScalarDifference) -> std::ops::Range<usize> {
    let offset = difference.offset as usize;
    match difference.texel {
        None => offset..offset + difference.scalar.size(),
        Some(texel) => {
            let texel_size = texel.format.texel_size();
            offset / texel_size * texel_size..(offset / texel_size + 1) * texel_size
        }
    }
}

fn listed_difference(
    element: &BoundedElement,
    format: Option<ImageFormat>,
) -> Option<ScalarDifference> {
    let scalar = element.type_name.parse::<ElementType>().ok()?.scalar;
    let bits_of_text =
        |text: &String| raw_bits(text.strip_prefix("0x")?, scalar.size() as u32 * 8, text).ok();
    let span_bits = |ends: &Vec<ElementValue>| {
        ends.iter().map(|end| bits_of_text(&end.bits)).collect::<Option<Vec<u64>>>()
    };
    let permitted_spans = element.permitted.iter().map(span_bits).collect::<Option<Vec<_>>>()?;
    let permitted = match scalar.class() {
        ScalarClass::Float => PermittedResults::Between {
            // The paths themselves are not stored; any keys that differ will do.
            spans: (0..)
                .zip(permitted_spans.iter().filter_map(|ends| ends.as_slice().try_into().ok()))
                .collect(),
            nan: if element.nan_permitted { NanResult::Present } else { NanResult::Absent },
        },
        ScalarClass::Bool | ScalarClass::Signed | ScalarClass::Unsigned => {
            PermittedResults::OneOf(permitted_spans.concat())
        }
    };
    let (ours, theirs) =
        (bits_of_text(&element.sequential.bits)?, bits_of_text(&element.vulkan.bits)?);
    let texel = match (element.texel, format) {
        (Some(place), Some(format)) => Some(TexelComponent { format, component: place.component }),
        (Some(_), None) => return None,
        (None, _) => None,
    };
    let basis = match (&element.undefined_bits, element.undefined) {
        (Some(text), _) => ValueBasis::Undefined { bits: bits_of_text(text)? },
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
