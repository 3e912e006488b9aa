//! Operands of image instructions: coordinates, levels, offsets, samples.

use super::operand::operand_id;
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

/// The register of a scalar of this form.
pub(super) fn operand_register(
    decoder: &mut Decoder<'_>,
    operand_id: Id,
    number_format: NumberFormat,
) -> Result<Reg, Unsupported> {
    Ok(operand_registers(decoder, operand_id, number_format)?[0])
}

/// The registers of a scalar or vector of this form, which has 32 bits.
pub(super) fn operand_registers(
    decoder: &mut Decoder<'_>,
    operand_id: Id,
    number_format: NumberFormat,
) -> Result<Arc<[Reg]>, Unsupported> {
    let numbers = decoder.numbers_of(operand_id)?;
    if numbers.number_format != number_format || numbers.parts.is_empty() {
        let operand_bits = numbers.number_format.width().bits();
        return Err(unsupported(format!(
            "an image instruction with an operand of {operand_bits} bits"
        )));
    }
    Ok(numbers.parts.iter().map(|parts| parts.low).collect())
}

pub(super) fn sampling_coordinates(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    image_instruction: &mut ImageInstruction,
) -> Result<(), Unsupported> {
    image_instruction.coordinates =
        operand_registers(decoder, operand_id(instruction, 1)?, NumberFormat::Float(Width::W32))?;
    image_instruction.coordinate_format = CoordinateFormat::Float;
    Ok(())
}

pub(super) fn whole_coordinates(
    decoder: &mut Decoder<'_>,
    operand_id: Id,
    image_instruction: &mut ImageInstruction,
) -> Result<(), Unsupported> {
    image_instruction.coordinates = operand_registers(decoder, operand_id, NumberFormat::WORD)?;
    let operand_type = decoder.type_of(operand_id)?;
    let scalar_type = decoder
        .types
        .scalar_of(operand_type)
        .and_then(|scalar_type| decoder.types.get(scalar_type));
    image_instruction.coordinate_format = match scalar_type {
        Some(Type::Int { signedness: Signedness::Unsigned, .. }) => CoordinateFormat::Unsigned,
        _ => CoordinateFormat::Signed,
    };
    Ok(())
}

/// Adds the offset of OpImageFetch to its coordinates.
pub(super) fn add_offset_to_coordinates(
    decoder: &mut Decoder<'_>,
    image_instruction: &mut ImageInstruction,
) -> Result<(), Unsupported> {
    let [offset_words] = &*image_instruction.offsets else {
        return Err(unsupported("several offsets of one texel"));
    };
    let number_format = NumberFormat::WORD;
    let mut shifted_coordinates = Vec::new();
    for (axis_index, coordinate) in image_instruction.coordinates.iter().enumerate() {
        shifted_coordinates.push(match offset_words.get(axis_index) {
            Some(offset) => {
                let add = vkcert_spirv::operation::operator::Binary::IAdd;
                super::number::compute_binary(
                    decoder,
                    add,
                    number_format,
                    (*coordinate).into(),
                    (*offset).into(),
                )?
                .low
            }
            None => *coordinate,
        });
    }
    // Signed, because a sum below zero is outside of the image whatever the coordinates are.
    (
        image_instruction.coordinates,
        image_instruction.coordinate_format,
        image_instruction.offsets,
    ) = (shifted_coordinates.into(), CoordinateFormat::Signed, Arc::new([]));
    Ok(())
}

/// The image operands from operand `mask_index` on, in the order of their bits (SPIR-V
/// specification, "Image Operands").
pub(super) fn image_operands(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    mask_index: usize,
    image_instruction: &mut ImageInstruction,
) -> Result<(), Unsupported> {
    let operand_mask = match instruction.operands.get(mask_index) {
        Some(Operand::ImageOperands(operand_mask)) => *operand_mask,
        Some(_) => return Err(unsupported("image operands that are no mask")),
        None => return Ok(()),
    };
    let known_operands = ImageOperands::LOD
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
    if !known_operands.contains(operand_mask) {
        return Err(unsupported(format!(
            "image operands {:?}",
            operand_mask.difference(known_operands)
        )));
    }
    let mut next_operand = mask_index + 1;
    let mut take_operand = || {
        next_operand += 1;
        operand_id(instruction, next_operand - 1)
    };
    let integer_format = NumberFormat::WORD;
    let float_format = NumberFormat::Float(Width::W32);
    if operand_mask.contains(ImageOperands::LOD) {
        let lod_operand = take_operand()?;
        image_instruction.level = match image_instruction.operation {
            ImageOperation::Sample => {
                LevelOperand::Detail(operand_register(decoder, lod_operand, float_format)?)
            }
            ImageOperation::Read => {
                LevelOperand::Number(operand_register(decoder, lod_operand, integer_format)?)
            }
            _ => return Err(unsupported(format!("Op{:?} with image operand Lod", instruction.op))),
        };
    }
    if operand_mask.contains(ImageOperands::GRAD) {
        let (x_gradient, y_gradient) = (take_operand()?, take_operand()?);
        image_instruction.level = LevelOperand::Gradient([
            operand_registers(decoder, x_gradient, float_format)?,
            operand_registers(decoder, y_gradient, float_format)?,
        ]);
    }
    for offset_flag in [ImageOperands::CONST_OFFSET, ImageOperands::OFFSET] {
        if operand_mask.contains(offset_flag) {
            image_instruction.offsets =
                Arc::new([operand_registers(decoder, take_operand()?, integer_format)?]);
        }
    }
    if operand_mask.contains(ImageOperands::CONST_OFFSETS) {
        image_instruction.offsets = four_offsets(decoder, take_operand()?)?;
    }
    if operand_mask.contains(ImageOperands::SAMPLE) {
        image_instruction.sample = Some(sample_index(decoder, take_operand()?)?);
    }
    Ok(())
}

/// The index of a sample, signed as its type is.
pub(super) fn sample_index(
    decoder: &mut Decoder<'_>,
    operand_id: Id,
) -> Result<DynamicIndex, Unsupported> {
    let (register, signedness) = super::access_chain::index_word(decoder, operand_id)?;
    Ok(DynamicIndex { register, signed: signedness == Signedness::Signed })
}

/// Texels of multisampled images, and of no others, are named with a sample.
pub(super) fn check_sample(
    image_type: &ImageType,
    instruction: &Instruction,
    image_instruction: &ImageInstruction,
) -> Result<(), Unsupported> {
    let opcode = instruction.op;
    match (image_type.multisampled, image_instruction.sample.is_some()) {
        (true, false) => Err(unsupported(format!(
            "Op{opcode:?} of a multisampled image without image operand Sample"
        ))),
        (false, true) => Err(unsupported(format!(
            "Op{opcode:?} with image operand Sample of an image without samples"
        ))),
        (true, true) | (false, false) => Ok(()),
    }
}

/// An array of four offsets of two components each.
pub(super) fn four_offsets(
    decoder: &mut Decoder<'_>,
    operand_id: Id,
) -> Result<Arc<[Arc<[Reg]>]>, Unsupported> {
    let offset_registers = decoder.words_of(operand_id)?;
    if offset_registers.len() != 8 {
        return Err(unsupported("image operand ConstOffsets without four offsets"));
    }
    Ok(offset_registers.chunks(2).map(Arc::from).collect())
}
