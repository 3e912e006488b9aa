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
    pub(super) fn read(
        self,
        path: &str,
        file: Vec<u8>,
    ) -> Result<(Option<ElementType>, Vec<u8>), FileFault> {
        let wanted = match self {
            FilePlace::Elements(element) => element,
            FilePlace::Texels(shape) => Some(stored_element(shape.format)),
        };
        if let FilePlace::Texels(shape) = self
            && picture::is_picture(&file)
        {
            let texels = picture::read(&file, shape)
                .map_err(|message| FileFault { kind: "picture", message })?;
            return Ok((wanted, texels));
        }
        let refused = |message: String| FileFault { kind: "npy", message };
        if !npy::is_npy(&file) {
            let named = path.ends_with(".npy");
            return if named {
                Err(refused("it is no .npy file".to_owned()))
            } else {
                Ok((wanted, file))
            };
        }
        let array = npy::read(&file).map_err(refused)?;
        if let Some(wanted) = wanted.filter(|wanted| wanted.scalar != array.scalar) {
            return Err(refused(format!("it holds {} where {wanted} is declared", array.scalar)));
        }
        match self.shape_fault(&array.shape) {
            Some(message) => Err(refused(message)),
            None => Ok((wanted.or(Some(ElementType::scalar(array.scalar))), array.bytes)),
        }
    }

    /// Why an array of this shape does not go here; none: it does. A list of numbers goes
    /// everywhere; an array of more axes says how its elements lie, and has to say it as the image
    /// or the vector type does; so has every array for an image with several samples.
    fn shape_fault(self, shape: &[usize]) -> Option<String> {
        let axes = |lengths: &[usize]| {
            lengths.iter().copied().filter(|length| *length != 1).collect::<Vec<_>>()
        };
        let multisampled = matches!(self, FilePlace::Texels(image) if image.samples > 1);
        if axes(shape).len() <= 1 && !multisampled {
            return None;
        }
        match self {
            FilePlace::Elements(element) => {
                let components = element.map_or(1, |element| element.components) as usize;
                let fits = components == 1 || shape.last() == Some(&components);
                (!fits).then(|| {
                    format!(
                        "an array of shape {} has no vectors of {components} in its last axis",
                        listed(shape)
                    )
                })
            }
            FilePlace::Texels(image) => {
                let components = stored_element(image.format).components as usize;
                let [width, height, depth] = image.extent.map(|length| length as usize);
                let (layers, samples) = (image.layers as usize, image.samples as usize);
                let wanted = [layers, depth, height, width, samples, components];
                if image.levels == 1 && axes(shape) == axes(&wanted) {
                    return None;
                }
                let given = format!("an array of shape {}", listed(shape));
                Some(match (image.levels, shape) {
                    (1, [rows, columns])
                        if (depth, layers, samples, components) == (1, 1, 1, 1) =>
                    {
                        format!(
                            "{given} is {rows} rows of {columns}, which is the extent [{columns}, {rows}], not \
                         [{width}, {height}]"
                        )
                    }
                    (1, _) => format!(
                        "{given} is not the image, whose shape is {}",
                        listed(&axes(&wanted))
                    ),
                    _ => format!("{given} is not several levels; give their texels as one list"),
                })
            }
        }
    }
}

/// `(2, 3)`.
pub(super) fn listed(shape: &[usize]) -> String {
    let lengths: Vec<String> = shape.iter().map(usize::to_string).collect();
    format!("({})", lengths.join(", "))
}
