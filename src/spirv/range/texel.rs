//! Accesses of texels: coordinates against the sizes of images.
//!
//! Knows: extents that a host states; of other images that a size is one number wherever it is asked
//! for.
//! Promises: an image, a dimension, a level or an operand that is not followed is told by name.
//! Does not cover: sampled coordinates, which never lie outside.

use super::access::{AccessKind, AccessTarget, TexelBound};
use super::polynomial::Polynomial;
use super::state::{State, WordType};
use super::value::{ImageSource, Root, Value};
use super::walk::Frame;
use super::{ImageExtent, Walk};
use crate::module::{Id, Instruction};
use crate::types::{ImageType, Type};
use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, Dim, ImageOperands};
use std::rc::Rc;

/// The level that an instruction names.
struct LevelOperand {
    index: Rc<Polynomial>,
    word: WordType,
}

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
        let target = match self.texel_bounds(frame, state, index, (image_type, &source)) {
            Ok(pairs) => AccessTarget::Texel { words, pairs },
            Err(reason) => AccessTarget::Unmodelled { words, reason },
        };
        self.record(state, index, kind, target);
    }

    fn texel_bounds(
        &mut self,
        frame: &Frame,
        state: &State,
        index: usize,
        (image_type, source): (Id, &ImageSource),
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
        let mut pairs = Vec::new();
        let level = match self.level_operand(frame, instruction)? {
            Some(level) => {
                Some(self.followed_level(state, (*variable, components), level, &mut pairs)?)
            }
            None => None,
        };
        let coordinate = instruction.id(1).ok_or("it has no coordinate")?;
        let coordinate_type = self.type_of(coordinate).ok_or("its coordinate has no type")?;
        let value = self.value_of(frame, coordinate);
        for part in 0..components {
            let (part_value, part_type) = match self.types.component_type(coordinate_type, part) {
                Some(part_type) => (self.part_of(&value, part_type, part), part_type),
                None => (value.clone(), coordinate_type),
            };
            let word = self.word_type(part_type).ok_or("its coordinate is no integer")?;
            let index = self.integer_of(&part_value, part_type);
            let size = self.image_size((*variable, components), level.as_ref(), part);
            pairs.push(TexelBound { index, word, size });
        }
        Ok(pairs)
    }

    /// The level that a fetch names; none: the instruction has none.
    fn level_operand(
        &mut self,
        frame: &Frame,
        instruction: &Instruction,
    ) -> Result<Option<LevelOperand>, String> {
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
        let word = self.word_type(level_type).ok_or("its level is no integer")?;
        Ok(Some(LevelOperand { index: self.integer_of(&value, level_type), word }))
    }

    /// The number of a level, with what is asked of it: that the image has it.
    fn followed_level(
        &mut self,
        state: &State,
        image: (Id, u32),
        level: LevelOperand,
        pairs: &mut Vec<TexelBound>,
    ) -> Result<Polynomial, String> {
        let LevelOperand { index, word } = level;
        if index.number() == Some(0) {
            return Ok((*index).clone());
        }
        let Some(extent) = self.stated_extent(image) else {
            return Err("levels other than 0 of an image without a stated extent are not followed"
                .to_owned());
        };
        let number = self.reading_of(&state.facts, &index, word);
        pairs.push(TexelBound { index, word, size: extent.levels });
        Ok(number)
    }

    /// The extent that the host states of an image whose size has so many components.
    fn stated_extent(&self, (variable, components): (Id, u32)) -> Option<ImageExtent> {
        let place = (
            self.decorated_number(variable, Decoration::DescriptorSet)?,
            self.decorated_number(variable, Decoration::Binding)?,
        );
        let extent = self.host.image_sizes.get(&place)?;
        let stated = extent.axes.len() + usize::from(extent.layers.is_some());
        (stated == components as usize).then(|| extent.clone())
    }

    /// A component of the size of a level; without a level, of level 0. A level that the image does
    /// not have must have been excluded.
    pub(super) fn image_size(
        &mut self,
        image: (Id, u32),
        level: Option<&Polynomial>,
        component: u32,
    ) -> Polynomial {
        let stated = self.stated_extent(image);
        let size = stated.and_then(|extent| self.stated_size(&extent, level, component as usize));
        size.unwrap_or_else(|| self.atoms.image_size(image.0, level.cloned(), component))
    }

    /// Level by level an image has half as many texels on each axis, and one at least (Vulkan
    /// specification, "Image Mip Level Sizing"); it has all its layers on each.
    fn stated_size(
        &mut self,
        extent: &ImageExtent,
        level: Option<&Polynomial>,
        component: usize,
    ) -> Option<Polynomial> {
        let Some(axis) = extent.axes.get(component) else { return extent.layers.clone() };
        match level.filter(|level| level.number() != Some(0)) {
            None => Some(axis.clone()),
            Some(level) => {
                let divisor = self.atoms.power_of_two(level);
                let part = self.atoms.quotient(axis, &divisor)?;
                self.atoms.maximum(&part, &Polynomial::constant(1))
            }
        }
    }

    /// Whether an image is shown to have a level.
    pub(super) fn has_level(
        &mut self,
        state: &State,
        image: (Id, u32),
        level: &Polynomial,
    ) -> bool {
        let Some(extent) = self.stated_extent(image) else { return false };
        let room = extent.levels.plus_number(-1).minus(level);
        self.is_at_least_zero(&state.facts, level)
            && room.is_some_and(|room| self.is_at_least_zero(&state.facts, &room))
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
