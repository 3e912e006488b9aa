//! Operands of image instructions: coordinates, levels, offsets, samples.

use super::operand::id;
use crate::decode::decoder::Decoder;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::ir::Reg;
use crate::ir::image::{
    CoordinateFormat, DynamicIndex, ImageInstruction, ImageOperation, LevelOperand,
};
use rspirv::dr::Operand;
use rspirv::spirv::ImageOperands;
use std::sync::Arc;
use vkcert_spirv::module::{Id, Instruction};
use vkcert_spirv::operation::sized::{NumberFormat, Width};
use vkcert_spirv::types::{ImageType, Signedness, Type};

// ---- operands ----

/// The register of a scalar of this form.
pub(super) fn word(
    decoder: &mut Decoder<'_>,
    operand: Id,
    form: NumberFormat,
) -> Result<Reg, Unsupported> {
    Ok(words(decoder, operand, form)?[0])
}

/// The registers of a scalar or vector of this form, which has 32 bits.
pub(super) fn words(
    decoder: &mut Decoder<'_>,
    operand: Id,
    form: NumberFormat,
) -> Result<Arc<[Reg]>, Unsupported> {
    let numbers = decoder.numbers(operand)?;
    if numbers.form != form || numbers.parts.is_empty() {
        let bits = numbers.form.width().bits();
        return Err(unsupported(format!("an image instruction with an operand of {bits} bits")));
    }
    Ok(numbers.parts.iter().map(|parts| parts.low).collect())
}

pub(super) fn sampling_coordinates(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    step: &mut ImageInstruction,
) -> Result<(), Unsupported> {
    step.coordinates = words(decoder, id(instruction, 1)?, NumberFormat::Float(Width::W32))?;
    step.coordinate_format = CoordinateFormat::Float;
    Ok(())
}

pub(super) fn whole_coordinates(
    decoder: &mut Decoder<'_>,
    operand: Id,
    step: &mut ImageInstruction,
) -> Result<(), Unsupported> {
    step.coordinates = words(decoder, operand, NumberFormat::WORD)?;
    let ty = decoder.type_of(operand)?;
    let scalar = decoder.types.scalar_of(ty).and_then(|ty| decoder.types.get(ty));
    step.coordinate_format = match scalar {
        Some(Type::Int { signedness: Signedness::Unsigned, .. }) => CoordinateFormat::Unsigned,
        _ => CoordinateFormat::Signed,
    };
    Ok(())
}

/// Adds the offset of OpImageFetch to its coordinates.
pub(super) fn shift(
    decoder: &mut Decoder<'_>,
    step: &mut ImageInstruction,
) -> Result<(), Unsupported> {
    let [offset] = &*step.offsets else { return Err(unsupported("several offsets of one texel")) };
    let (offset, form) = (offset.clone(), NumberFormat::WORD);
    let mut sums = Vec::new();
    for (at, coordinate) in step.coordinates.iter().enumerate() {
        sums.push(match offset.get(at) {
            Some(offset) => {
                let add = vkcert_spirv::operation::operator::Binary::IAdd;
                super::number::compute2(decoder, add, form, (*coordinate).into(), (*offset).into())?
                    .low
            }
            None => *coordinate,
        });
    }
    // A sum below zero lies outside, whatever the coordinates are.
    (step.coordinates, step.coordinate_format, step.offsets) =
        (sums.into(), CoordinateFormat::Signed, Arc::new([]));
    Ok(())
}

/// The image operands from operand `at` on, in the order of their bits (SPIR-V specification,
/// "Image Operands").
pub(super) fn image_operands(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    at: usize,
    step: &mut ImageInstruction,
) -> Result<(), Unsupported> {
    let mask = match instruction.operands.get(at) {
        Some(Operand::ImageOperands(mask)) => *mask,
        Some(_) => return Err(unsupported("image operands that are no mask")),
        None => return Ok(()),
    };
    let known = ImageOperands::LOD
        | ImageOperands::GRAD
        | ImageOperands::CONST_OFFSET
        | ImageOperands::OFFSET
        | ImageOperands::CONST_OFFSETS
        | ImageOperands::SAMPLE
        | ImageOperands::MAKE_TEXEL_AVAILABLE
        | ImageOperands::MAKE_TEXEL_VISIBLE
        | ImageOperands::NON_PRIVATE_TEXEL
        | ImageOperands::VOLATILE_TEXEL
        | ImageOperands::SIGN_EXTEND
        | ImageOperands::ZERO_EXTEND
        | ImageOperands::NONTEMPORAL;
    if !known.contains(mask) {
        return Err(unsupported(format!("image operands {:?}", mask.difference(known))));
    }
    let mut next = at + 1;
    let mut take = || {
        next += 1;
        id(instruction, next - 1)
    };
    let int = NumberFormat::WORD;
    let float = NumberFormat::Float(Width::W32);
    if mask.contains(ImageOperands::LOD) {
        let lod = take()?;
        step.level = match step.operation {
            ImageOperation::Sample => LevelOperand::Detail(word(decoder, lod, float)?),
            ImageOperation::Read => LevelOperand::Number(word(decoder, lod, int)?),
            _ => return Err(unsupported(format!("Op{:?} with image operand Lod", instruction.op))),
        };
    }
    if mask.contains(ImageOperands::GRAD) {
        let (x, y) = (take()?, take()?);
        step.level = LevelOperand::Gradient([words(decoder, x, float)?, words(decoder, y, float)?]);
    }
    for single in [ImageOperands::CONST_OFFSET, ImageOperands::OFFSET] {
        if mask.contains(single) {
            step.offsets = Arc::new([words(decoder, take()?, int)?]);
        }
    }
    if mask.contains(ImageOperands::CONST_OFFSETS) {
        step.offsets = four_offsets(decoder, take()?)?;
    }
    if mask.contains(ImageOperands::SAMPLE) {
        step.sample = Some(sample_index(decoder, take()?)?);
    }
    Ok(())
}

/// A number of a sample, read as its type is signed.
pub(super) fn sample_index(
    decoder: &mut Decoder<'_>,
    operand: Id,
) -> Result<DynamicIndex, Unsupported> {
    let (register, signedness) = super::access_chain::index_word(decoder, operand)?;
    Ok(DynamicIndex { register, signed: signedness == Signedness::Signed })
}

/// Texels of multisampled images, and of no others, are named with a sample.
pub(super) fn check_sample(
    ty: &ImageType,
    instruction: &Instruction,
    step: &ImageInstruction,
) -> Result<(), Unsupported> {
    let op = instruction.op;
    match (ty.multisampled, step.sample.is_some()) {
        (true, false) => Err(unsupported(format!(
            "Op{op:?} of a multisampled image without image operand Sample"
        ))),
        (false, true) => Err(unsupported(format!(
            "Op{op:?} with image operand Sample of an image without samples"
        ))),
        (true, true) | (false, false) => Ok(()),
    }
}

/// An array of four offsets of two components each.
pub(super) fn four_offsets(
    decoder: &mut Decoder<'_>,
    operand: Id,
) -> Result<Arc<[Arc<[Reg]>]>, Unsupported> {
    let all = decoder.words(operand)?;
    if all.len() != 8 {
        return Err(unsupported("image operand ConstOffsets without four offsets"));
    }
    Ok(all.chunks(2).map(Arc::from).collect())
}
