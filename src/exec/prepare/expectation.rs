//! What is expected of the final buffers, laid out and checked.

use super::call::Dispatched;
use super::elements::elements;
use super::expected_contents::{Kind, Scope, element, named};
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
pub(super) fn prepare(
    expectation: &Expectation,
    test: &Test,
    job: &Job,
    calls: &[Dispatched],
    setting: &Setting<'_>,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Expected> {
    if let Some(checker) = &expectation.check {
        return prepare_check(checker, test, job, setting, &origin.at("check"), problems);
    }
    let own = test.buffers.get(expectation.judged()).and_then(|buffer| buffer.data_type);
    let scope = match &expectation.image {
        Some(name) => image_scope(name, expectation, job, setting, origin, problems)?,
        None => buffer_scope((expectation, own), job, setting, origin, problems)?,
    };
    let declared = expectation.data_type.or(own);
    let (contents, scalars) = match (scope.image, declared, &expectation.values) {
        (Some(image), _, Some(values)) => scope.texels(&image.shape, values, problems)?,
        (Some(image), _, None) => scope.unreflected(Some(element(&image.shape)), problems)?,
        (None, Some(DataType::Reflect), Some(_)) if expectation.count.is_some() => {
            let message = "`count` does not go with `reflect`: the values say what is judged";
            problems.push(origin.at("count").key_error("contradiction", message));
            return None;
        }
        (None, Some(DataType::Reflect), Some(values)) => {
            scope.reflected(values, test, calls, problems)?
        }
        (None, Some(DataType::Reflect), None) => scope.unreflected(None, problems)?,
        (None, Some(DataType::Element(element)), Some(values)) => {
            let bytes = elements(element, values, &origin.at("values"), problems)?;
            scope.values(element.scalar, &bytes, "values", problems)?
        }
        (None, None, Some(_)) => {
            let message =
                format!("the values need a `type`, since `{}` has none", expectation.judged());
            problems.push(origin.error("missing-key", message).hint("for example \"float\""));
            return None;
        }
        (None, Some(DataType::Element(element)), None) => {
            scope.unreflected(Some(element), problems)?
        }
        (None, None, None) => scope.unreflected(None, problems)?,
    };
    let tolerance = tolerance(expectation, &scalars, origin, problems)?;
    let placement = placement(expectation, &scope, declared, &contents, problems)?;
    Some(Expected { buffer: scope.buffer, format: scope.format(), tolerance, placement, contents })
}

/// Where the elements may stand. Of free order it must be known what an element is, and every
/// record must be whole.
fn placement(
    expectation: &Expectation,
    scope: &Scope<'_>,
    declared: Option<DataType>,
    contents: &ExpectedContents,
    problems: &mut Problems,
) -> Option<Placement> {
    match expectation.order.unwrap_or_default() {
        ElementOrder::Fixed => return Some(Placement::InPlace),
        ElementOrder::Any => {}
    }
    let origin = scope.origin;
    let of_image = scope.image.map(|image| DataType::Element(element(&image.shape)));
    let element_bytes = match of_image.or(declared) {
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
    let record = element_bytes.saturating_mul(expectation.record.unwrap_or(1));
    let whole = match contents {
        ExpectedContents::Values(leaves) => are_alike(leaves, record),
        ExpectedContents::Buffer { length, .. } | ExpectedContents::Reference { length, .. } => {
            (*length as u64).is_multiple_of(record.max(1))
        }
        ExpectedContents::Check { .. } => true,
    };
    if record == 0 || !whole {
        let message = format!(
            "what is expected is no whole number of records of {record} bytes with the same elements"
        );
        problems.push(
            origin
                .at(if expectation.record.is_some() { "record" } else { "order" })
                .error("size", message),
        );
        return None;
    }
    Some(Placement::AnyOrder { record })
}

/// Whether every record has the same elements at the same places.
fn are_alike(leaves: &[Leaf], record: u64) -> bool {
    let start = leaves.first().map_or(0, |leaf| leaf.offset);
    let shape = |one: &vkcert_oracle::matching::ScalarRecord| -> Vec<ScalarType> {
        one.scalars.iter().map(|(scalar, _)| *scalar).collect()
    };
    let all = group_into_records(leaves, record);
    let places = |leaf: &Leaf| (leaf.offset.saturating_sub(start)) % record.max(1);
    let numbers = all.first().map_or(0, |one| one.scalars.len()).max(1);
    let same_places = leaves
        .chunks(numbers)
        .all(|chunk| chunk.iter().map(places).eq(leaves.iter().take(numbers).map(places)));
    let fit = leaves.iter().all(|leaf| places(leaf) + leaf.scalar.size() as u64 <= record);
    same_places && fit && all.iter().all(|one| shape(one) == shape(&all[0]))
}

fn buffer_scope<'a>(
    (expectation, own): (&'a Expectation, Option<DataType>),
    job: &'a Job,
    setting: &'a Setting<'a>,
    origin: &'a Origin,
    problems: &mut Problems,
) -> Option<Scope<'a>> {
    let buffer = named(expectation.judged(), Kind::Buffer, job, &origin.at("buffer"), problems)?;
    let size = job.buffers[buffer].bytes.len();
    let Some(offset) = usize::try_from(expectation.offset).ok().filter(|offset| *offset < size)
    else {
        let message = format!(
            "offset {} lies beyond the {size} bytes of `{}`",
            expectation.offset,
            expectation.judged()
        );
        problems.push(origin.at("offset").error("size", message));
        return None;
    };
    Some(Scope { expectation, job, setting, origin, buffer, image: None, own, offset, size })
}

/// Offsets and sizes are those of the compared components where the format is not plain.
fn image_scope<'a>(
    name: &str,
    expectation: &'a Expectation,
    job: &'a Job,
    setting: &'a Setting<'a>,
    origin: &'a Origin,
    problems: &mut Problems,
) -> Option<Scope<'a>> {
    let buffer = named(name, Kind::Image, job, &origin.at("image"), problems)?;
    let image = *job.resources.images.iter().find(|image| image.buffer as usize == buffer)?;
    let shape = &image.shape;
    let (level, layer) = (expectation.level.unwrap_or(0), expectation.layer.unwrap_or(0));
    for (key, given, most) in [("level", level, shape.levels), ("layer", layer, shape.layers)] {
        if given >= most {
            let message = format!("`{name}` has {most} {key}s, and no {key} {given}");
            problems.push(origin.at(key).error("size", message));
            return None;
        }
    }
    let texel = shape.format.texel_size() as u64;
    let size = job.buffers[buffer].bytes.len() as u64;
    let start = shape
        .layer_start(level, layer)?
        .checked_add(expectation.offset)
        .filter(|start| *start < size);
    let Some(start) = start.filter(|start| start.is_multiple_of(texel)) else {
        let message = format!(
            "offset {} is no start of a texel of `{name}` ({} bytes each, {size} bytes in all)",
            expectation.offset, texel
        );
        problems.push(origin.at("offset").error("size", message));
        return None;
    };
    let compared = |bytes| compared_offset(shape.format, bytes) as usize;
    let (offset, size) = (compared(start), compared(size));
    Some(Scope {
        expectation,
        job,
        setting,
        origin,
        buffer,
        image: Some(image),
        own: None,
        offset,
        size,
    })
}

/// Units in the last place are a notion of floats.
fn tolerance(
    expectation: &Expectation,
    scalars: &[ScalarType],
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Tolerance> {
    let tolerance = expectation.tolerance.unwrap_or_default();
    let whole = scalars.iter().find(|scalar| scalar.class() != ScalarClass::Float);
    if let (Some(_), Some(scalar)) = (tolerance.ulp, whole) {
        let message =
            format!("`ulp` is a tolerance for floating-point elements, and these are {scalar}");
        problems.push(
            origin.at("tolerance").at("ulp").key_error("bad-value", message).hint("use `abs`"),
        );
        return None;
    }
    Some(tolerance)
}
