//! Which texels an instruction touches.
//!
//! Promises: a texel is told only if the image, the coordinates and the level are known. Which texels
//! are sampled is left open; that some are is told.

use super::invocation::InvocationRun;
use super::value::RunValue;
use super::{Sample, SampledLevel, TouchKind, TouchedBytes};
use crate::constants::ConstantValue;
use crate::module::{Id, Instruction};
use crate::types::{ImageType, Type};
use rspirv::dr::Operand;
use rspirv::spirv::{Dim, ImageOperands, Op};

/// Faces of a cube: its layers count whole cubes.
const CUBE_FACES: u64 = 6;

/// Steps from an instruction to the variable that its image is loaded from, at most.
const MOST_STEPS_BACK: usize = 4;

impl InvocationRun<'_> {
    /// Takes notice of a read, a fetch or a write of one texel.
    pub(super) fn touch_image(&mut self, instruction: &Instruction, touched: &mut TouchedBytes) {
        let kind = match instruction.op {
            Op::ImageWrite => TouchKind::Write,
            _ => TouchKind::Read,
        };
        match self.named_texel(instruction) {
            Ok((place, texel)) => touched.add(place, kind, (texel, texel + 1)),
            Err(reason) => touched.leave_open(reason),
        }
        self.give(instruction, RunValue::Data(ConstantValue::Undef));
    }

    /// Takes notice that some texel of an image is read.
    pub(super) fn sample_image(&mut self, instruction: &Instruction, touched: &mut TouchedBytes) {
        let op = instruction.op;
        let image = instruction.id(0).and_then(|image| self.place_of_image(image));
        match image {
            Some(place) => {
                let (set, binding) = place;
                touched.leave_open(format!(
                    "which texels of the image at {set}.{binding} are sampled is not followed"
                ));
                let sampler = instruction.id(0).and_then(|image| self.place_of_sampler(image));
                let level = self.sampled_level(instruction);
                let sample = sampler.map(|sampler| Sample { image: place, sampler, level });
                touched.samples.extend(sample);
            }
            None => touched.leave_open(format!("which image Op{op:?} samples is not followed")),
        }
        self.give(instruction, RunValue::Data(ConstantValue::Undef));
    }

    /// The binding of the sampler of a sampled image.
    fn place_of_sampler(&self, sampled: Id) -> Option<(u32, u32)> {
        let made = self.kernel.module.definition(sampled)?;
        match made.op {
            Op::SampledImage => self.place_of_image(made.id(1)?),
            _ => self.place_of_image(sampled),
        }
    }

    fn sampled_level(&self, instruction: &Instruction) -> SampledLevel {
        if matches!(instruction.op, Op::ImageGather | Op::ImageDrefGather) {
            return SampledLevel::First;
        }
        let mut operands = instruction.operands.iter().enumerate();
        let level = operands.find_map(|(index, operand)| match operand {
            Operand::ImageOperands(mask) => {
                let others = ImageOperands::BIAS | ImageOperands::MIN_LOD;
                let is_level = mask.contains(ImageOperands::LOD) && !mask.intersects(others);
                is_level.then(|| self.data(instruction, index + 1))
            }
            _ => None,
        });
        match level {
            Some(ConstantValue::Scalar(0)) => SampledLevel::First,
            Some(_) | None => SampledLevel::Any,
        }
    }

    /// The size of an image, as far as it is that of its first level.
    pub(super) fn image_size(&mut self, instruction: &Instruction) {
        let size = self.known_size(instruction).unwrap_or(ConstantValue::Undef);
        self.give(instruction, RunValue::Data(size));
    }

    fn known_size(&self, instruction: &Instruction) -> Option<ConstantValue> {
        let is_first_level = instruction.op == Op::ImageQuerySize
            || matches!(self.data(instruction, 1), ConstantValue::Scalar(0));
        let image = instruction.id(0).filter(|_| is_first_level)?;
        let extent = self.numbers.bound_images.get(&self.place_of_image(image)?)?;
        let types = &self.kernel.types;
        let (axes, faces) = match types.get(instruction.result_type?) {
            Some(Type::Vector { count, .. }) => {
                let axes = self.axes_of(image, *count as usize)?;
                (axes, if self.is_cube(image) { CUBE_FACES } else { 1 })
            }
            _ => (&[0][..], 1),
        };
        let number = |axis: &usize| {
            let texels = u64::from(extent[*axis]);
            ConstantValue::Scalar(if *axis == 2 { texels / faces } else { texels })
        };
        match axes {
            [axis] => Some(number(axis)),
            axes => Some(ConstantValue::Composite(axes.iter().map(number).collect())),
        }
    }

    fn image_type(&self, image: Id) -> Option<&ImageType> {
        let made = self.kernel.module.definition(image)?;
        match self.kernel.types.get(made.result_type?)? {
            Type::Image(image) => Some(image),
            _ => None,
        }
    }

    fn is_cube(&self, image: Id) -> bool {
        self.image_type(image).is_some_and(|image| image.dim == Dim::DimCube)
    }

    /// Set and binding of the image, and the number of the texel.
    fn named_texel(&self, instruction: &Instruction) -> Result<((u32, u32), u64), String> {
        let op = instruction.op;
        let image = instruction.id(0).ok_or("an instruction names no image")?;
        let place = self.place_of_image(image);
        let place = place.ok_or_else(|| format!("which image Op{op:?} touches is not followed"))?;
        let name = format!("the image at {}.{}", place.0, place.1);
        let extent = self.numbers.bound_images.get(&place);
        let extent = extent.ok_or_else(|| format!("how texels of {name} lie is not known"))?;
        self.check_level(instruction, &name)?;
        let unknown =
            || format!("which texel of {name} it touches depends on more than what the host gives");
        let numbers = numbers_of(&self.data(instruction, 1)).ok_or_else(unknown)?;
        let [width, height, _] = extent.map(u64::from);
        let axes = self.axes_of(image, numbers.len()).ok_or_else(unknown)?;
        let mut texel = [0; 3];
        for (axis, number) in axes.iter().zip(&numbers) {
            texel[*axis] = *number;
        }
        let is_inside = (0..3).all(|axis| texel[axis] < u64::from(extent[axis]));
        match is_inside {
            true => Ok((place, texel[0] + width * (texel[1] + height * texel[2]))),
            false => Err(format!("it leaves {name}")),
        }
    }

    /// The binding of the variable that an image, or a sampler, was loaded from.
    fn place_of_image(&self, image: Id) -> Option<(u32, u32)> {
        let module = &self.kernel.module;
        let mut id = image;
        for _ in 0..MOST_STEPS_BACK {
            let made = module.definition(id)?;
            match made.op {
                Op::Variable => return self.kernel.places.get(&id).copied(),
                Op::Load | Op::Image | Op::SampledImage | Op::CopyObject => id = made.id(0)?,
                _ => return None,
            }
        }
        None
    }

    /// Which axis each coordinate counts along: the last one of an array counts layers.
    fn axes_of(&self, image: Id, coordinates: usize) -> Option<&'static [usize]> {
        match (coordinates, self.image_type(image)?.arrayed) {
            (1, false) => Some(&[0]),
            (2, true) => Some(&[0, 2]),
            (2, false) => Some(&[0, 1]),
            (3, _) => Some(&[0, 1, 2]),
            _ => None,
        }
    }

    /// That no other level or sample is named.
    fn check_level(&self, instruction: &Instruction, name: &str) -> Result<(), String> {
        let mask = instruction
            .operands
            .iter()
            .position(|operand| matches!(operand, Operand::ImageOperands(_)));
        let Some(index) = mask else { return Ok(()) };
        let Some(Operand::ImageOperands(operands)) = instruction.operands.get(index) else {
            return Ok(());
        };
        let harmless = ImageOperands::SIGN_EXTEND
            | ImageOperands::ZERO_EXTEND
            | ImageOperands::NON_PRIVATE_TEXEL
            | ImageOperands::VOLATILE_TEXEL
            | ImageOperands::MAKE_TEXEL_AVAILABLE
            | ImageOperands::MAKE_TEXEL_VISIBLE;
        let others = *operands - harmless;
        let is_first_level = others == ImageOperands::LOD
            && matches!(self.data(instruction, index + 1), ConstantValue::Scalar(0));
        match others.is_empty() || is_first_level {
            true => Ok(()),
            false => {
                Err(format!("which level, sample or texel of {name} it touches is not followed"))
            }
        }
    }
}

/// The numbers of a scalar or a vector, if all are known.
fn numbers_of(value: &ConstantValue) -> Option<Vec<u64>> {
    let number = |part: &ConstantValue| match part {
        ConstantValue::Scalar(number) => Some(number & u64::from(u32::MAX)),
        ConstantValue::Null => Some(0),
        ConstantValue::Bool(_) | ConstantValue::Undef | ConstantValue::Composite(_) => None,
    };
    match value {
        ConstantValue::Composite(parts) => parts.iter().map(number).collect(),
        single => number(single).map(|number| vec![number]),
    }
}
