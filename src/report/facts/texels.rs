//! Values of a test's images as far as evidence holds them: what goes in, what is expected, what
//! engines left.
//!
//! Promises: what evidence does not hold is named with its reason, never guessed; texels are those
//! of all levels and layers in the order of the contents.
//! Does not cover: whether a difference is within its tolerance (the verdict says that).

use crate::scalars::ScalarValue;
use base64::Engine as _;
use vkcert_model::element::{Datum, ScalarType};
use vkcert_model::evidence::{ExpectedRun, OutputBytes, StoredContents, TestEvidence};
use vkcert_model::image::{Image, ImageDim, ImageShape};
use vkcert_model::procedure::Fill;
use vkcert_model::verdict::EngineName;
use vkcert_oracle::texel::decode_texels;

/// Components one by one, or why they are not known.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TexelValues {
    /// None where nothing is said of a component.
    Known(Vec<Option<f64>>),
    Unknown(&'static str),
}

/// Said of an image that no expectation looks at.
pub(crate) const NOTHING_EXPECTED: &str = "nothing is expected of it";

/// An image of a test.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ImageFacts<'a> {
    pub name: &'a str,
    pub shape: ImageShape,
    pub input: TexelValues,
    pub expected: TexelValues,
    /// Engines that left the same are one.
    pub actual: Vec<(Vec<EngineName>, TexelValues)>,
}

/// Every image of a test.
pub(crate) fn image_facts(test: &TestEvidence) -> Vec<ImageFacts<'_>> {
    let images = test.definition.images.iter();
    images
        .map(|(name, image)| {
            let shape = image_shape(image);
            ImageFacts {
                name,
                shape,
                input: input_values(image, &shape),
                expected: expected_values(test, name, &shape),
                actual: actual_values(test, name, &shape),
            }
        })
        .collect()
}

/// As the test states it; what is left out is 1, the faces of a cube 6.
fn image_shape(image: &Image) -> ImageShape {
    let axis = |index: usize| image.extent.get(index).copied().unwrap_or(1);
    let faces = match image.dim {
        ImageDim::Cube => 6,
        ImageDim::One | ImageDim::Two | ImageDim::Three => 1,
    };
    ImageShape {
        dim: image.dim,
        format: image.format,
        extent: [axis(0), axis(1), axis(2)],
        layers: image.layers.unwrap_or(faces),
        levels: image.levels.unwrap_or(1),
        samples: image.samples.unwrap_or(1),
    }
}

/// None: more than can be counted, which no test that ran has.
fn component_count(shape: &ImageShape) -> Option<usize> {
    let texels = shape.bytes()? / shape.format.texel_size() as u64;
    usize::try_from(texels.checked_mul(shape.format.components().into())?).ok()
}

fn input_values(image: &Image, shape: &ImageShape) -> TexelValues {
    let Some(count) = component_count(shape) else { return TexelValues::Unknown("too large") };
    if let Some(data) = &image.data {
        let mut values = Vec::new();
        return match add_numbers(data, &mut values) {
            Some(()) if values.len() == count => TexelValues::Known(values),
            Some(()) => TexelValues::Unknown("not one number per component"),
            None => TexelValues::Unknown("stated as bits"),
        };
    }
    if let Some(base64) = &image.bytes {
        return stored_values(base64, shape);
    }
    match &image.fill {
        Some(fill) => rule_values(fill, count),
        None if image.file.is_some() => TexelValues::Unknown("in a file, not in the evidence"),
        None => TexelValues::Unknown("not initialised"),
    }
}

/// Numbers in order; none where something else stands among them.
fn add_numbers(data: &Datum, values: &mut Vec<Option<f64>>) -> Option<()> {
    match data {
        Datum::List(items) => items.iter().try_for_each(|item| add_numbers(item, values)),
        Datum::Record(_) => None,
        Datum::Bool(_) | Datum::Integer(_) | Datum::Float(_) | Datum::Text(_) => {
            values.push(Some(number_of(data)?));
            Some(())
        }
    }
}

fn number_of(data: &Datum) -> Option<f64> {
    match data {
        Datum::Bool(value) => Some(f64::from(u8::from(*value))),
        Datum::Integer(value) => Some(*value as f64),
        Datum::Float(value) => Some(*value),
        Datum::Text(text) => text.parse().ok(),
        Datum::List(_) | Datum::Record(_) => None,
    }
}

fn rule_values(fill: &Fill, count: usize) -> TexelValues {
    match fill {
        Fill::Constant(value) => {
            let mut texel = Vec::new();
            match add_numbers(value, &mut texel) {
                Some(()) if !texel.is_empty() => {
                    TexelValues::Known(texel.into_iter().cycle().take(count).collect())
                }
                Some(()) | None => TexelValues::Unknown("stated as bits"),
            }
        }
        Fill::Iota(iota) => {
            let stated =
                |value: &Option<Datum>, absent: f64| value.as_ref().map_or(Some(absent), number_of);
            match (stated(&iota.start, 0.0), stated(&iota.step, 1.0)) {
                (Some(start), Some(step)) => TexelValues::Known(
                    (0..count).map(|index| Some(start + index as f64 * step)).collect(),
                ),
                (None, _) | (_, None) => TexelValues::Unknown("stated as bits"),
            }
        }
        Fill::Random(_) => TexelValues::Unknown("random, by its seed"),
    }
}

fn decoded_base64(base64: &str) -> Option<Vec<u8>> {
    base64::engine::general_purpose::STANDARD.decode(base64).ok()
}

/// Of stored texels.
fn stored_values(base64: &str, shape: &ImageShape) -> TexelValues {
    match decoded_base64(base64) {
        Some(texels) => TexelValues::Known(
            scalar_values(&decode_texels(shape.format, &texels), shape.format.component())
                .map(Some)
                .collect(),
        ),
        None => TexelValues::Unknown("not base64"),
    }
}

fn scalar_values(bytes: &[u8], scalar: ScalarType) -> impl Iterator<Item = f64> + '_ {
    bytes
        .chunks_exact(scalar.size())
        .map(move |chunk| ScalarValue::of_bytes(chunk, scalar).as_f64())
}

/// What all expectations of an image say together.
fn expected_values(test: &TestEvidence, name: &str, shape: &ImageShape) -> TexelValues {
    let Some(count) = component_count(shape) else { return TexelValues::Unknown("too large") };
    let mut values: Option<Vec<Option<f64>>> = None;
    let mut unknown_words = NOTHING_EXPECTED;
    for expectation in test.expected.iter().filter(|expectation| expectation.buffer == name) {
        match &expectation.contents {
            StoredContents::Values(runs) => {
                let values = values.get_or_insert_with(|| vec![None; count]);
                runs.iter().for_each(|run| place_run(run, shape, values));
            }
            StoredContents::EqualsBuffer { .. } => unknown_words = "those of another image",
            StoredContents::Reference { .. } => unknown_words = "reference kernel's, not stored",
            StoredContents::Check { .. } => unknown_words = "judged by a kernel, not stored",
        }
    }
    values.map_or(TexelValues::Unknown(unknown_words), TexelValues::Known)
}

fn place_run(run: &ExpectedRun, shape: &ImageShape, values: &mut [Option<f64>]) {
    let (Some(bytes), Some(scalar)) =
        (decoded_base64(&run.bytes), ScalarType::of_name(&run.scalar))
    else {
        return;
    };
    let first = run.offset / shape.format.component().size() as u64;
    let places = usize::try_from(first).ok().and_then(|first| values.get_mut(first..));
    for (place, value) in places.into_iter().flatten().zip(scalar_values(&bytes, scalar)) {
        *place = Some(value);
    }
}

fn actual_values(
    test: &TestEvidence,
    name: &str,
    shape: &ImageShape,
) -> Vec<(Vec<EngineName>, TexelValues)> {
    let mut by_output: Vec<(&OutputBytes, Vec<EngineName>)> = Vec::new();
    for result in &test.results {
        let Some(output) = result.outputs.get(name) else { continue };
        match by_output.iter_mut().find(|(known_output, _)| *known_output == output) {
            Some((_, engines)) => engines.push(result.engine),
            None => by_output.push((output, vec![result.engine])),
        }
    }
    let values_of = |output: &OutputBytes| match output {
        OutputBytes::Bytes(base64) => stored_values(base64, shape),
        OutputBytes::Hash { .. } => TexelValues::Unknown("above the limit: hash alone"),
    };
    by_output.into_iter().map(|(output, engines)| (engines, values_of(output))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(value: serde_json::Value) -> Image {
        serde_json::from_value(value).unwrap()
    }

    fn input(value: serde_json::Value) -> TexelValues {
        let image = image(value);
        input_values(&image, &image_shape(&image))
    }

    #[test]
    fn stated_contents_are_read_component_by_component() {
        let of = |rest: serde_json::Value| {
            let mut value = serde_json::json!({"dim": "2d", "format": "rg8ui", "extent": [2, 1]});
            value.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
            input(value)
        };
        let known = |values: [u32; 4]| TexelValues::Known(values.map(|v| Some(v.into())).to_vec());
        assert_eq!(of(serde_json::json!({"data": [[1, 2], [3, 4]]})), known([1, 2, 3, 4]));
        assert_eq!(of(serde_json::json!({"bytes": "AQIDBA=="})), known([1, 2, 3, 4]));
        assert_eq!(of(serde_json::json!({"fill": {"constant": [7, 9]}})), known([7, 9, 7, 9]));
        assert_eq!(of(serde_json::json!({"fill": {"iota": {"step": 2}}})), known([0, 2, 4, 6]));
        for (rest, words) in [
            (serde_json::json!({}), "not initialised"),
            (serde_json::json!({"file": "a.png"}), "in a file, not in the evidence"),
            (serde_json::json!({"data": [1, 2]}), "not one number per component"),
            (serde_json::json!({"fill": {"random": {"seed": 1}}}), "random, by its seed"),
        ] {
            assert_eq!(of(rest), TexelValues::Unknown(words));
        }
    }

    #[test]
    fn stored_texels_of_a_normalised_format_are_shares() {
        let value =
            serde_json::json!({"dim": "1d", "format": "r8", "extent": [2], "bytes": "AP8="});
        assert_eq!(input(value), TexelValues::Known(vec![Some(0.0), Some(1.0)]));
    }
}
