//! Image instructions (SPIR-V specification, section "Image Instructions").
//!
//! Knows: the operands of each instruction and of its image operands.
//! Does not cover: instructions whose level of detail follows from neighbouring invocations
//! (compilers write those for fragment shaders), sparse residency, image operands `Bias`, `MinLod`.

use super::image_operands::{
    add_offset_to_coordinates, check_sample, image_operands, operand_register, sample_index,
    sampling_coordinates, whole_coordinates,
};
use super::meaning::{OpcodeMeaning, OpcodeRow, opcode_row};
use super::number::define_numbers;
use super::opaque;
use super::operand::operand_id;
use crate::decode::decoder::Decoder;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::{DecodedValue, OpaqueHandle, Pointer, PointerTarget};
use crate::ir::atomic::AtomicOperation;
use crate::ir::image::{
    CoordinateFormat, ImageInstruction, ImageOperation, LevelOperand, Projection,
};
use crate::ir::{LaneInstruction, NumberRegisters};
use rspirv::spirv::{ImageFormat as Declared, Op};
use std::sync::Arc;
use vkcert_model::image::ImageFormat;
use vkcert_spirv::module::Instruction;
use vkcert_spirv::operation::sized::{NumberFormat, Width};
use vkcert_spirv::types::{ImageType, Type};

pub(crate) const TABLE: &[OpcodeRow] = &[
    opcode_row(Op::SampledImage, OpcodeMeaning::Special(opaque::sampled_image)),
    opcode_row(Op::Image, OpcodeMeaning::Special(opaque::image_of_sampled)),
    opcode_row(
        Op::ImageSampleExplicitLod,
        OpcodeMeaning::Special(|decoder, instruction| {
            sample_image(decoder, instruction, Projection::None)
        }),
    ),
    opcode_row(
        Op::ImageSampleProjExplicitLod,
        OpcodeMeaning::Special(|decoder, instruction| {
            sample_image(decoder, instruction, Projection::Divided)
        }),
    ),
    opcode_row(
        Op::ImageSampleDrefExplicitLod,
        OpcodeMeaning::Special(|decoder, instruction| {
            compare_sampled(decoder, instruction, Projection::None)
        }),
    ),
    opcode_row(
        Op::ImageSampleProjDrefExplicitLod,
        OpcodeMeaning::Special(|decoder, instruction| {
            compare_sampled(decoder, instruction, Projection::Divided)
        }),
    ),
    opcode_row(Op::ImageGather, OpcodeMeaning::Special(gather_texels)),
    opcode_row(Op::ImageDrefGather, OpcodeMeaning::Special(gather_compared)),
    opcode_row(Op::ImageFetch, OpcodeMeaning::Special(read_texel)),
    opcode_row(Op::ImageRead, OpcodeMeaning::Special(read_texel)),
    opcode_row(Op::ImageWrite, OpcodeMeaning::Special(write_texel)),
    opcode_row(Op::ImageTexelPointer, OpcodeMeaning::Special(texel_pointer)),
    opcode_row(
        Op::ImageQuerySizeLod,
        OpcodeMeaning::Special(|decoder, instruction| {
            query_image(decoder, instruction, ImageOperation::Size)
        }),
    ),
    opcode_row(
        Op::ImageQuerySize,
        OpcodeMeaning::Special(|decoder, instruction| {
            query_image(decoder, instruction, ImageOperation::Size)
        }),
    ),
    opcode_row(
        Op::ImageQueryLevels,
        OpcodeMeaning::Special(|decoder, instruction| {
            query_image(decoder, instruction, ImageOperation::Levels)
        }),
    ),
    opcode_row(
        Op::ImageQuerySamples,
        OpcodeMeaning::Special(|decoder, instruction| {
            query_image(decoder, instruction, ImageOperation::Samples)
        }),
    ),
];

/// An image instruction of which only the operation and the image are set.
fn image_instruction_on(
    decoder: &Decoder<'_>,
    opaque: OpaqueHandle,
    operation: ImageOperation,
) -> Result<(ImageInstruction, ImageType), Unsupported> {
    let image_choice = match decoder.types.get(opaque.type_id) {
        Some(Type::SampledImage { image: image_choice }) => decoder.types.get(*image_choice),
        other => other,
    };
    let (Some(Type::Image(image_type)), Some(image_choice)) = (image_choice, opaque.image) else {
        return Err(unsupported(
            "an image instruction on something else, or on an undefined image",
        ));
    };
    match (operation, image_type.multisampled) {
        (ImageOperation::Sample | ImageOperation::Gather { .. }, true) => {
            return Err(unsupported("a sampling instruction on a multisampled image"));
        }
        (ImageOperation::Samples, false) => {
            return Err(unsupported("OpImageQuerySamples of an image that is not multisampled"));
        }
        (
            ImageOperation::Read
            | ImageOperation::Write
            | ImageOperation::Atomic(_)
            | ImageOperation::Sample
            | ImageOperation::Gather { .. }
            | ImageOperation::Size
            | ImageOperation::Levels
            | ImageOperation::Samples,
            _,
        ) => {}
    }
    let texel_format = decoder
        .form(image_type.sampled_type)
        .ok_or_else(|| unsupported("an image of no numbers"))?;
    let image_instruction = ImageInstruction {
        operation,
        image: image_choice,
        sampler: opaque.sampler,
        coordinates: Arc::new([]),
        coordinate_format: CoordinateFormat::Float,
        projection: Projection::None,
        reference: None,
        level: LevelOperand::First,
        sample: None,
        offsets: Arc::new([]),
        texel: Arc::new([]),
        used: 0,
        to: Arc::new([]),
        texel_format,
    };
    Ok((image_instruction, *image_type))
}

fn sample_image(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    projection: Projection,
) -> Result<(), Unsupported> {
    let opaque = decoder.opaque_of(operand_id(instruction, 0)?)?;
    let (image_instruction, _) = image_instruction_on(decoder, opaque, ImageOperation::Sample)?;
    let mut image_instruction = ImageInstruction { projection, ..image_instruction };
    sampling_coordinates(decoder, instruction, &mut image_instruction)?;
    image_operands(decoder, instruction, 2, &mut image_instruction)?;
    push_with_result(decoder, instruction, image_instruction)
}

fn compare_sampled(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    projection: Projection,
) -> Result<(), Unsupported> {
    let opaque = decoder.opaque_of(operand_id(instruction, 0)?)?;
    let (image_instruction, _) = image_instruction_on(decoder, opaque, ImageOperation::Sample)?;
    let mut image_instruction = ImageInstruction { projection, ..image_instruction };
    sampling_coordinates(decoder, instruction, &mut image_instruction)?;
    image_instruction.reference = Some(operand_register(
        decoder,
        operand_id(instruction, 2)?,
        NumberFormat::Float(Width::W32),
    )?);
    image_operands(decoder, instruction, 3, &mut image_instruction)?;
    push_with_result(decoder, instruction, image_instruction)
}

fn gather_texels(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let component_index = decoder.constants.scalar_word(operand_id(instruction, 2)?);
    let component_index = component_index
        .ok_or_else(|| unsupported("OpImageGather of a component that is no constant"))?;
    let opaque = decoder.opaque_of(operand_id(instruction, 0)?)?;
    let (mut image_instruction, _) = image_instruction_on(
        decoder,
        opaque,
        ImageOperation::Gather { component: component_index },
    )?;
    sampling_coordinates(decoder, instruction, &mut image_instruction)?;
    image_operands(decoder, instruction, 3, &mut image_instruction)?;
    push_with_result(decoder, instruction, image_instruction)
}

fn gather_compared(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let opaque = decoder.opaque_of(operand_id(instruction, 0)?)?;
    let (mut image_instruction, _) =
        image_instruction_on(decoder, opaque, ImageOperation::Gather { component: 0 })?;
    sampling_coordinates(decoder, instruction, &mut image_instruction)?;
    image_instruction.reference = Some(operand_register(
        decoder,
        operand_id(instruction, 2)?,
        NumberFormat::Float(Width::W32),
    )?);
    image_operands(decoder, instruction, 3, &mut image_instruction)?;
    push_with_result(decoder, instruction, image_instruction)
}

/// OpImageRead and OpImageFetch.
fn read_texel(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let opaque = decoder.opaque_of(operand_id(instruction, 0)?)?;
    let (mut image_instruction, image_type) =
        image_instruction_on(decoder, opaque, ImageOperation::Read)?;
    whole_coordinates(decoder, operand_id(instruction, 1)?, &mut image_instruction)?;
    image_operands(decoder, instruction, 2, &mut image_instruction)?;
    check_sample(&image_type, instruction, &image_instruction)?;
    if !image_instruction.offsets.is_empty() {
        add_offset_to_coordinates(decoder, &mut image_instruction)?;
    }
    push_with_result(decoder, instruction, image_instruction)
}

fn write_texel(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let opaque = decoder.opaque_of(operand_id(instruction, 0)?)?;
    let (mut image_instruction, image_type) =
        image_instruction_on(decoder, opaque, ImageOperation::Write)?;
    whole_coordinates(decoder, operand_id(instruction, 1)?, &mut image_instruction)?;
    let texel_numbers = decoder.numbers_of(operand_id(instruction, 2)?)?;
    if texel_numbers.number_format != image_instruction.texel_format {
        return Err(unsupported("OpImageWrite of a texel of another type than the image's"));
    }
    image_instruction.used =
        declared_components(image_type.format).unwrap_or(texel_numbers.parts.len());
    image_instruction.texel = texel_numbers.parts.into();
    image_operands(decoder, instruction, 3, &mut image_instruction)?;
    check_sample(&image_type, instruction, &image_instruction)?;
    note_written_images(decoder, &image_instruction);
    decoder.push_instruction(LaneInstruction::Image(Arc::new(image_instruction)));
    Ok(())
}

fn note_written_images(decoder: &mut Decoder<'_>, image_instruction: &ImageInstruction) {
    decoder.written_descriptors.extend(image_instruction.image.descriptors.iter().copied());
}

/// Components of the format that a module declares; none where it declares none.
fn declared_components(declared_format: Declared) -> Option<usize> {
    // The names are GLSL's, and SPIR-V's are the same without underscores.
    let format_name = format!("{declared_format:?}").to_ascii_lowercase();
    let known_format =
        ImageFormat::ALL.iter().find(|format| format.name().replace('_', "") == format_name);
    known_format.map(|format| usize::from(format.components()))
}

fn texel_pointer(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let pointer = decoder.pointer_of(operand_id(instruction, 0)?)?;
    let PointerTarget::Opaque(image) = pointer.target else {
        return Err(unsupported("OpImageTexelPointer of no image"));
    };
    let opaque = OpaqueHandle { image: Some(image), sampler: None, type_id: pointer.pointee_type };
    let (mut image_instruction, image_type) =
        image_instruction_on(decoder, opaque, ImageOperation::Atomic(AtomicOperation::Load))?;
    whole_coordinates(decoder, operand_id(instruction, 1)?, &mut image_instruction)?;
    if image_type.multisampled {
        image_instruction.sample = Some(sample_index(decoder, operand_id(instruction, 2)?)?);
    }
    let target = PointerTarget::Texel(Arc::new(image_instruction));
    decoder.define_result(
        instruction,
        DecodedValue::Pointer(Pointer { target, pointee_type: image_type.sampled_type }),
    );
    Ok(())
}

/// An atomic on a texel; value and comparator by their operand positions.
pub(crate) fn texel_atomic(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operation: AtomicOperation,
    texel: &ImageInstruction,
    operands: [Option<usize>; 2],
) -> Result<(), Unsupported> {
    let mut image_instruction =
        ImageInstruction { operation: ImageOperation::Atomic(operation), ..texel.clone() };
    let mut operand_numbers = Vec::new();
    for operand_index in operands.into_iter().flatten() {
        operand_numbers.push(decoder.number_of(operand_id(instruction, operand_index)?)?.1);
    }
    (image_instruction.used, image_instruction.texel) =
        (operand_numbers.len(), operand_numbers.into());
    decoder.atomic_descriptors.extend(image_instruction.image.descriptors.iter().copied());
    if operation != AtomicOperation::Load {
        note_written_images(decoder, &image_instruction);
    }
    if instruction.result.is_some() {
        return push_with_result(decoder, instruction, image_instruction);
    }
    decoder.push_instruction(LaneInstruction::Image(Arc::new(image_instruction)));
    Ok(())
}

fn query_image(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operation: ImageOperation,
) -> Result<(), Unsupported> {
    let opaque = decoder.opaque_of(operand_id(instruction, 0)?)?;
    let (mut image_instruction, _) = image_instruction_on(decoder, opaque, operation)?;
    if instruction.op == Op::ImageQuerySizeLod {
        image_instruction.level = LevelOperand::Number(operand_register(
            decoder,
            operand_id(instruction, 1)?,
            NumberFormat::WORD,
        )?);
    }
    push_with_result(decoder, instruction, image_instruction)
}

/// Pushes an image instruction with registers for its result.
fn push_with_result(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    mut image_instruction: ImageInstruction,
) -> Result<(), Unsupported> {
    let result_format = decoder.result_form(instruction)?;
    if !matches!(
        result_format,
        NumberFormat::Float(Width::W32) | NumberFormat::Integer(Width::W32 | Width::W64)
    ) {
        return Err(unsupported(format!("Op{:?} with this type", instruction.op)));
    }
    let result_type = instruction
        .result_type
        .ok_or_else(|| unsupported("an image instruction without a type"))?;
    let component_count = decoder.scalar_kinds(result_type)?.len() / result_format.width().words();
    let result_numbers: Vec<NumberRegisters> =
        (0..component_count).map(|_| decoder.new_number(result_format)).collect();
    define_numbers(decoder, instruction, &result_numbers);
    image_instruction.to = result_numbers.into();
    decoder.push_instruction(LaneInstruction::Image(Arc::new(image_instruction)));
    Ok(())
}
