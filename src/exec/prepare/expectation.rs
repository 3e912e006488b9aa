//! What is expected of the final buffers, laid out and checked.

use super::call::ResolvedCall;
use super::elements::encode_elements;
use super::expected_contents::{JudgedScope, ResourceKind, named_resource, texel_element_type};
use super::problems::Problems;
use super::reference_call::prepare_check;
use super::setting::Setting;
use super::{Expected, ExpectedContents};
use crate::Job;
use vkcert_model::element::{DataType, ScalarClass, ScalarType};
use vkcert_model::expectation::ElementOrder;
use vkcert_model::procedure::{Expectation, Test, Tolerance};
use vkcert_oracle::comparison::{Placement, group_into_records};
use vkcert_oracle::scalar::Leaf;
use vkcert_oracle::texel::compared_offset;
use vkcert_requirement::Origin;

/// Prepares one expectation; none after a problem.
pub(super) fn prepare_expectation(
    expectation: &Expectation,
    test: &Test,
    job: &Job,
    resolved_calls: &[ResolvedCall],
    test_setting: &Setting<'_>,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Expected> {
    if let Some(checker) = &expectation.check {
        return prepare_check(checker, test, job, test_setting, &origin.at("check"), problems);
    }
    let buffer_type = test.buffers.get(expectation.judged()).and_then(|buffer| buffer.data_type);
    let judged_scope = match &expectation.image {
        Some(name) => image_scope(name, expectation, job, test_setting, origin, problems)?,
        None => buffer_scope((expectation, buffer_type), job, test_setting, origin, problems)?,
    };
    let declared_type = expectation.data_type.or(buffer_type);
    let (contents, scalar_types) = match (judged_scope.image, declared_type, &expectation.values) {
        (Some(image), _, Some(values)) => {
            judged_scope.texel_contents(&image.shape, values, problems)?
        }
        (Some(image), _, None) => {
            judged_scope.unreflected_contents(Some(texel_element_type(&image.shape)), problems)?
        }
        (None, Some(DataType::Reflect), Some(_)) if expectation.count.is_some() => {
            let message = "`count` does not go with `reflect`: the values say what is judged";
            problems.push(origin.at("count").key_error("contradiction", message));
            return None;
        }
        (None, Some(DataType::Reflect), Some(values)) => {
            judged_scope.reflected_contents(values, test, resolved_calls, problems)?
        }
        (None, Some(DataType::Reflect), None) => {
            judged_scope.unreflected_contents(None, problems)?
        }
        (None, Some(DataType::Element(element)), Some(values)) => {
            let bytes = encode_elements(element, values, &origin.at("values"), problems)?;
            judged_scope.element_contents(element.scalar, &bytes, "values", problems)?
        }
        (None, None, Some(_)) => {
            let message =
                format!("the values need a `type`, since `{}` has none", expectation.judged());
            problems.push(origin.error("missing-key", message).hint("for example \"float\""));
            return None;
        }
        (None, Some(DataType::Element(element)), None) => {
            judged_scope.unreflected_contents(Some(element), problems)?
        }
        (None, None, None) => judged_scope.unreflected_contents(None, problems)?,
    };
    let tolerance = checked_tolerance(expectation, &scalar_types, origin, problems)?;
    let placement =
        expected_placement(expectation, &judged_scope, declared_type, &contents, problems)?;
    Some(Expected {
        buffer: judged_scope.buffer,
        format: judged_scope.decoded_format(),
        tolerance,
        placement,
        contents,
    })
}

/// Where the elements may stand. Of free order it must be known what an element is, and every
/// record must be whole.
fn expected_placement(
    expectation: &Expectation,
    judged_scope: &JudgedScope<'_>,
    declared_type: Option<DataType>,
    contents: &ExpectedContents,
    problems: &mut Problems,
) -> Option<Placement> {
    match expectation.order.unwrap_or_default() {
        ElementOrder::Fixed => return Some(Placement::InPlace),
        ElementOrder::Any => {}
    }
    let origin = judged_scope.origin;
    let image_element_type =
        judged_scope.image.map(|image| DataType::Element(texel_element_type(&image.shape)));
    let element_bytes = match image_element_type.or(declared_type) {
        Some(DataType::Element(element)) => {
            element.scalar.size() as u64 * u64::from(element.components)
        }
        Some(DataType::Reflect) if expectation.record.is_some() => 1,
        Some(DataType::Reflect) => {
            let message =
                "`order = \"any\"` with `reflect` needs a `record`: the bytes that belong together";
            problems.push(origin.error("missing-key", message));
            return None;
        }
        None => {
            let message = "`order = \"any\"` needs a `type`: which bytes are an element";
            problems.push(origin.error("missing-key", message).hint("for example \"uint\""));
            return None;
        }
    };
    let record_bytes = element_bytes.saturating_mul(expectation.record.unwrap_or(1));
    let has_whole_records = match contents {
        ExpectedContents::Values(leaves) => records_are_alike(leaves, record_bytes),
        ExpectedContents::Buffer { length, .. } | ExpectedContents::Reference { length, .. } => {
            (*length as u64).is_multiple_of(record_bytes.max(1))
        }
        ExpectedContents::Check { .. } => true,
    };
    if record_bytes == 0 || !has_whole_records {
        let message = format!(
            "what is expected is no whole number of records of {record_bytes} bytes with the same elements"
        );
        problems.push(
            origin
                .at(if expectation.record.is_some() { "record" } else { "order" })
                .error("size", message),
        );
        return None;
    }
    Some(Placement::AnyOrder { record: record_bytes })
}

/// Whether every record has the same elements at the same places.
fn records_are_alike(scalar_leaves: &[Leaf], record_bytes: u64) -> bool {
    let first_offset = scalar_leaves.first().map_or(0, |leaf| leaf.offset);
    let scalar_types = |scalar_record: &vkcert_oracle::matching::ScalarRecord| -> Vec<ScalarType> {
        scalar_record.scalars.iter().map(|(scalar, _)| *scalar).collect()
    };
    let all_records = group_into_records(scalar_leaves, record_bytes);
    let place_in_record =
        |leaf: &Leaf| (leaf.offset.saturating_sub(first_offset)) % record_bytes.max(1);
    let scalars_per_record =
        all_records.first().map_or(0, |scalar_record| scalar_record.scalars.len()).max(1);
    let same_places = scalar_leaves.chunks(scalars_per_record).all(|chunk| {
        chunk
            .iter()
            .map(place_in_record)
            .eq(scalar_leaves.iter().take(scalars_per_record).map(place_in_record))
    });
    let scalars_fit = scalar_leaves
        .iter()
        .all(|leaf| place_in_record(leaf) + leaf.scalar.size() as u64 <= record_bytes);
    same_places
        && scalars_fit
        && all_records
            .iter()
            .all(|scalar_record| scalar_types(scalar_record) == scalar_types(&all_records[0]))
}

fn buffer_scope<'a>(
    (expectation, buffer_type): (&'a Expectation, Option<DataType>),
    job: &'a Job,
    setting: &'a Setting<'a>,
    origin: &'a Origin,
    problems: &mut Problems,
) -> Option<JudgedScope<'a>> {
    let buffer_index = named_resource(
        expectation.judged(),
        ResourceKind::Buffer,
        job,
        &origin.at("buffer"),
        problems,
    )?;
    let buffer_size = job.buffers[buffer_index].bytes.len();
    let Some(byte_offset) =
        usize::try_from(expectation.offset).ok().filter(|byte_offset| *byte_offset < buffer_size)
    else {
        let message = format!(
            "offset {} lies beyond the {buffer_size} bytes of `{}`",
            expectation.offset,
            expectation.judged()
        );
        problems.push(origin.at("offset").error("size", message));
        return None;
    };
    Some(JudgedScope {
        expectation,
        job,
        setting,
        origin,
        buffer: buffer_index,
        image: None,
        own: buffer_type,
        offset: byte_offset,
        size: buffer_size,
    })
}

/// Offsets and sizes are those of the compared components where the format is not plain.
fn image_scope<'a>(
    image_name: &str,
    expectation: &'a Expectation,
    job: &'a Job,
    setting: &'a Setting<'a>,
    origin: &'a Origin,
    problems: &mut Problems,
) -> Option<JudgedScope<'a>> {
    let buffer_index =
        named_resource(image_name, ResourceKind::Image, job, &origin.at("image"), problems)?;
    let image = *job.resources.images.iter().find(|image| image.buffer as usize == buffer_index)?;
    let image_shape = &image.shape;
    let (level, layer) = (expectation.level.unwrap_or(0), expectation.layer.unwrap_or(0));
    for (index_key, given_index, existing_count) in
        [("level", level, image_shape.levels), ("layer", layer, image_shape.layers)]
    {
        if given_index >= existing_count {
            let message = format!(
                "`{image_name}` has {existing_count} {index_key}s, and no {index_key} {given_index}"
            );
            problems.push(origin.at(index_key).error("size", message));
            return None;
        }
    }
    let texel_bytes = image_shape.format.texel_size() as u64;
    let buffer_bytes = job.buffers[buffer_index].bytes.len() as u64;
    let start_byte = image_shape
        .layer_start(level, layer)?
        .checked_add(expectation.offset)
        .filter(|start_byte| *start_byte < buffer_bytes);
    let Some(start_byte) = start_byte.filter(|start_byte| start_byte.is_multiple_of(texel_bytes))
    else {
        let message = format!(
            "offset {} is no start of a texel of `{image_name}` ({} bytes each, {buffer_bytes} bytes in all)",
            expectation.offset, texel_bytes
        );
        problems.push(origin.at("offset").error("size", message));
        return None;
    };
    let compared_bytes = |bytes| compared_offset(image_shape.format, bytes) as usize;
    let (offset, buffer_bytes) = (compared_bytes(start_byte), compared_bytes(buffer_bytes));
    Some(JudgedScope {
        expectation,
        job,
        setting,
        origin,
        buffer: buffer_index,
        image: Some(image),
        own: None,
        offset,
        size: buffer_bytes,
    })
}

/// Units in the last place are a notion of floats.
fn checked_tolerance(
    expectation: &Expectation,
    scalar_types: &[ScalarType],
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Tolerance> {
    let tolerance = expectation.tolerance.unwrap_or_default();
    let integer_scalar = scalar_types.iter().find(|scalar| scalar.class() != ScalarClass::Float);
    if let (Some(_), Some(scalar)) = (tolerance.ulp, integer_scalar) {
        let message =
            format!("`ulp` is a tolerance for floating-point elements, and these are {scalar}");
        problems.push(
            origin.at("tolerance").at("ulp").key_error("bad-value", message).hint("use `abs`"),
        );
        return None;
    }
    Some(tolerance)
}
