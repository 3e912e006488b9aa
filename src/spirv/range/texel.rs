//! Accesses of texels: coordinates against the sizes of images.
//!
//! Promises: an image, a dimension, a level or an operand that is not followed is told by name.
//! Does not cover: sampled coordinates, which never lie outside.

use super::Walk;
use super::access::{AccessKind, AccessTarget, TexelBound};
use super::polynomial::Polynomial;
use super::state::State;
use super::value::{ImageSource, Root, Value};
use super::walk::Frame;
use crate::module::{Id, Instruction};
use crate::types::{ImageType, Type};
use rspirv::dr::Operand;
use rspirv::spirv::{Dim, ImageOperands};

impl Walk<'_> {
    /// What an image is named.
    fn image_words(&self, source: &ImageSource) -> String {
        match source {
            ImageSource::Variable(variable) => {
                self.module.debug_name(*variable).unwrap_or("an image").to_owned()
            }
            ImageSource::Other => "an image of an array".to_owned(),
        }
    }

    /// Records the access of a texel; `level` and `sample` are operands, where there are some.
    pub(super) fn record_texel(
        &mut self,
        frame: &Frame,
        state: &State,
        index: usize,
        (image_type, source): (Id, ImageSource),
        kind: AccessKind,
    ) {
        let words = self.image_words(&source);
        let target = match self.texel_bounds(frame, index, image_type, &source) {
            Ok(pairs) => AccessTarget::Texel { words, pairs },
            Err(reason) => AccessTarget::Unmodelled { words, reason },
        };
        self.record(state, index, kind, target);
    }

    fn texel_bounds(
        &mut self,
        frame: &Frame,
        index: usize,
        image_type: Id,
        source: &ImageSource,
    ) -> Result<Vec<TexelBound>, String> {
        let module = self.module;
        let instruction = &module.instructions[index];
        let ImageSource::Variable(variable) = source else {
            return Err("images of arrays are not followed".to_owned());
        };
        let image = self.image_type(image_type).ok_or("its type is not an image")?;
        if image.multisampled {
            return Err("sample numbers are not followed".to_owned());
        }
        let components = match image.dim {
            Dim::Dim1D => 1,
            Dim::Dim2D | Dim::DimRect => 2,
            Dim::Dim3D => 3,
            other => return Err(format!("images of {other:?} are not followed")),
        };
        let components = components + u32::from(image.arrayed);
        let level = self.level_of(frame, instruction)?;
        let coordinate = instruction.id(1).ok_or("it has no coordinate")?;
        let coordinate_type = self.type_of(coordinate).ok_or("its coordinate has no type")?;
        let value = self.value_of(frame, coordinate);
        let mut pairs = Vec::new();
        for part in 0..components {
            let (part_value, part_type) = match self.types.component_type(coordinate_type, part) {
                Some(part_type) => (self.part_of(&value, part_type, part), part_type),
                None => (value.clone(), coordinate_type),
            };
            let word = self.word_type(part_type).ok_or("its coordinate is no integer")?;
            let index = self.integer_of(&part_value, part_type);
            let size = self.atoms.image_size(*variable, level.clone(), part);
            pairs.push(TexelBound { index, word, size });
        }
        Ok(pairs)
    }

    /// The level that a fetch names; none: the instruction has none.
    fn level_of(
        &mut self,
        frame: &Frame,
        instruction: &Instruction,
    ) -> Result<Option<Polynomial>, String> {
        let masks = instruction.operands.iter().enumerate();
        let mut mask = masks.filter_map(|(position, operand)| match operand {
            Operand::ImageOperands(mask) => Some((position, *mask)),
            _ => None,
        });
        let Some((position, mask)) = mask.next_back() else { return Ok(None) };
        let harmless = ImageOperands::LOD
            | ImageOperands::MAKE_TEXEL_AVAILABLE
            | ImageOperands::MAKE_TEXEL_VISIBLE
            | ImageOperands::NON_PRIVATE_TEXEL
            | ImageOperands::VOLATILE_TEXEL
            | ImageOperands::SIGN_EXTEND
            | ImageOperands::ZERO_EXTEND;
        if !(mask - harmless).is_empty() {
            return Err("its image operands are not followed".to_owned());
        }
        if !mask.contains(ImageOperands::LOD) {
            return Ok(None);
        }
        let level = instruction.id(position + 1).ok_or("its level is missing")?;
        let level_type = self.type_of(level).ok_or("its level has no type")?;
        let value = self.value_of(frame, level);
        let number = (*self.integer_of(&value, level_type)).clone();
        // Another level may not exist.
        match number.number() {
            Some(0) => Ok(Some(number)),
            Some(_) | None => Err("levels other than 0 are not followed".to_owned()),
        }
    }

    /// The image of an image or a sampled image type.
    pub(super) fn image_type(&self, type_id: Id) -> Option<ImageType> {
        match self.types.get(type_id)? {
            Type::Image(image) => Some(*image),
            Type::SampledImage { image } => self.image_type(*image),
            _ => None,
        }
    }
}

/// The value of an image operand.
pub(super) fn image_source(value: &Value) -> ImageSource {
    match value {
        Value::Image(source) => source.clone(),
        Value::Pointer(pointer) => match (&pointer.root, pointer.path.is_empty()) {
            (Root::Module(variable), true) => ImageSource::Variable(*variable),
            (Root::Module(_) | Root::Own(_) | Root::Texel | Root::Unknown(_), _) => {
                ImageSource::Other
            }
        },
        Value::Integer(_) | Value::Boolean(_) | Value::Composite(_) | Value::Unknown(_) => {
            ImageSource::Other
        }
    }
}
