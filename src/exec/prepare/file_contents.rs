//! Contents that a file gives: bare bytes, a .npy array, a picture.
//!
//! Knows: what the contents are for, and so which types and shapes fit.
//! Promises: an array or a picture of another type or shape is refused, never read as something
//! else.
//! Does not cover: the formats themselves (`npy`, `picture`).

use super::texel_elements::stored_element;
use super::{npy, picture};
use vkcert_model::element::ElementType;
use vkcert_model::image::ImageShape;

/// What the contents of a file are for.
#[derive(Debug, Clone, Copy)]
pub enum FilePlace<'a> {
    /// Elements of a buffer; without a type, as the file has them.
    Elements(Option<ElementType>),
    /// Texels of an image.
    Texels(&'a ImageShape),
}

/// What is wrong with a file.
pub(super) struct FileFault {
    pub(super) kind: &'static str,
    pub(super) message: String,
}

impl FilePlace<'_> {
    /// The element type, where one is known, and the contents of a file.
    pub(super) fn read_contents(
        self,
        file_path: &str,
        file_bytes: Vec<u8>,
    ) -> Result<(Option<ElementType>, Vec<u8>), FileFault> {
        let wanted_type = match self {
            FilePlace::Elements(element) => element,
            FilePlace::Texels(shape) => Some(stored_element(shape.format)),
        };
        if let FilePlace::Texels(shape) = self
            && picture::is_picture(&file_bytes)
        {
            let texels = picture::read_picture(&file_bytes, shape)
                .map_err(|message| FileFault { kind: "picture", message })?;
            return Ok((wanted_type, texels));
        }
        let npy_fault = |message: String| FileFault { kind: "npy", message };
        if !npy::is_npy(&file_bytes) {
            let has_npy_name = file_path.ends_with(".npy");
            return if has_npy_name {
                Err(npy_fault("it is no .npy file".to_owned()))
            } else {
                Ok((wanted_type, file_bytes))
            };
        }
        let npy_array = npy::read_npy(&file_bytes).map_err(npy_fault)?;
        if let Some(wanted_type) =
            wanted_type.filter(|wanted_type| wanted_type.scalar != npy_array.scalar)
        {
            return Err(npy_fault(format!(
                "it holds {} where {wanted_type} is declared",
                npy_array.scalar
            )));
        }
        match self.shape_fault(&npy_array.shape) {
            Some(message) => Err(npy_fault(message)),
            None => {
                Ok((wanted_type.or(Some(ElementType::scalar(npy_array.scalar))), npy_array.bytes))
            }
        }
    }

    /// Why an array of this shape does not go here; none: it does. A list of numbers goes
    /// everywhere; an array of more axes says how its elements lie, and has to say it as the image
    /// or the vector type does; so has every array for an image with several samples.
    fn shape_fault(self, array_shape: &[usize]) -> Option<String> {
        let proper_axes = |axis_lengths: &[usize]| {
            axis_lengths.iter().copied().filter(|length| *length != 1).collect::<Vec<_>>()
        };
        let is_multisampled = matches!(self, FilePlace::Texels(image) if image.samples > 1);
        if proper_axes(array_shape).len() <= 1 && !is_multisampled {
            return None;
        }
        match self {
            FilePlace::Elements(element) => {
                let component_count = element.map_or(1, |element| element.components) as usize;
                let shape_fits =
                    component_count == 1 || array_shape.last() == Some(&component_count);
                (!shape_fits).then(|| {
                    format!(
                        "an array of shape {} has no vectors of {component_count} in its last axis",
                        shape_text(array_shape)
                    )
                })
            }
            FilePlace::Texels(image) => {
                let component_count = stored_element(image.format).components as usize;
                let [width, height, depth] = image.extent.map(|length| length as usize);
                let (layers, samples) = (image.layers as usize, image.samples as usize);
                let wanted_shape = [layers, depth, height, width, samples, component_count];
                if image.levels == 1 && proper_axes(array_shape) == proper_axes(&wanted_shape) {
                    return None;
                }
                let given_array = format!("an array of shape {}", shape_text(array_shape));
                Some(match (image.levels, array_shape) {
                    (1, [rows, columns])
                        if (depth, layers, samples, component_count) == (1, 1, 1, 1) =>
                    {
                        format!(
                            "{given_array} is {rows} rows of {columns}, which is the extent [{columns}, {rows}], not \
                         [{width}, {height}]"
                        )
                    }
                    (1, _) => format!(
                        "{given_array} is not the image, whose shape is {}",
                        shape_text(&proper_axes(&wanted_shape))
                    ),
                    _ => format!(
                        "{given_array} is not several levels; give their texels as one list"
                    ),
                })
            }
        }
    }
}

/// `(2, 3)`.
pub(super) fn shape_text(array_shape: &[usize]) -> String {
    let length_texts: Vec<String> = array_shape.iter().map(usize::to_string).collect();
    format!("({})", length_texts.join(", "))
}
