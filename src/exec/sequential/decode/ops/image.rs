//! Image instructions (SPIR-V specification, section "Image Instructions"), and variables that hold
//! images and samplers.
//!
//! Knows: the operands of each instruction and of its image operands.
//! Does not cover: instructions whose level of detail follows from neighbouring invocations
//! (compilers write those for fragment shaders), sparse residency, image operands `Bias`, `MinLod`.

use super::image_operands::{
    check_sample, image_operands, sample_index, sampling_coordinates, shift, whole_coordinates,
    word,
};
use super::meaning::{Meaning, Row, row};
use super::number::define;
use super::operand::id;
use crate::decode::decoder::Decoder;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::{Location, Opaque, Pointer, Value};
use crate::decode::{layout, unsupported};
use crate::ir::atomic::AtomicOperation;
use crate::ir::image::{
    CoordinateFormat, DescriptorChoice, DynamicIndex, ImageInstruction, ImageOperation,
    LevelOperand, Projection,
};
use crate::ir::{LaneInstruction, MemoryClass, NumberRegisters};
use rspirv::spirv::{ImageFormat as Declared, Op};
use std::sync::Arc;
use vkcert_model::image::ImageFormat;
use vkcert_spirv::module::{Id, Instruction};
use vkcert_spirv::operation::sized::{NumberFormat, Width};
use vkcert_spirv::types::{ImageType, Signedness, Type};

pub(crate) const TABLE: &[Row] = &[
    row(Op::SampledImage, Meaning::Special(sampled_image)),
    row(Op::Image, Meaning::Special(image_of)),
    row(
        Op::ImageSampleExplicitLod,
        Meaning::Special(|decoder, one| sample(decoder, one, Projection::None)),
    ),
    row(
        Op::ImageSampleProjExplicitLod,
        Meaning::Special(|decoder, one| sample(decoder, one, Projection::Divided)),
    ),
    row(
        Op::ImageSampleDrefExplicitLod,
        Meaning::Special(|decoder, one| compare(decoder, one, Projection::None)),
    ),
    row(
        Op::ImageSampleProjDrefExplicitLod,
        Meaning::Special(|decoder, one| compare(decoder, one, Projection::Divided)),
    ),
    row(Op::ImageGather, Meaning::Special(gather)),
    row(Op::ImageDrefGather, Meaning::Special(compare_gathered)),
    row(Op::ImageFetch, Meaning::Special(read)),
    row(Op::ImageRead, Meaning::Special(read)),
    row(Op::ImageWrite, Meaning::Special(write)),
    row(Op::ImageTexelPointer, Meaning::Special(texel_pointer)),
    row(
        Op::ImageQuerySizeLod,
        Meaning::Special(|decoder, one| query(decoder, one, ImageOperation::Size)),
    ),
    row(
        Op::ImageQuerySize,
        Meaning::Special(|decoder, one| query(decoder, one, ImageOperation::Size)),
    ),
    row(
        Op::ImageQueryLevels,
        Meaning::Special(|decoder, one| query(decoder, one, ImageOperation::Levels)),
    ),
    row(
        Op::ImageQuerySamples,
        Meaning::Special(|decoder, one| query(decoder, one, ImageOperation::Samples)),
    ),
];

// ---- variables ----

/// Whether a type, or the elements of an array of it, are images or samplers.
pub(crate) fn is_opaque(decoder: &Decoder<'_>, ty: Id) -> bool {
    match decoder.types.get(ty) {
        Some(Type::Image(_) | Type::Sampler | Type::SampledImage { .. }) => true,
        Some(Type::Array { element, .. } | Type::RuntimeArray { element, .. }) => {
            is_opaque(decoder, *element)
        }
        _ => false,
    }
}

/// Where a variable that holds images or samplers leads.
pub(crate) fn variable(
    decoder: &mut Decoder<'_>,
    variable: Id,
    pointee: Id,
) -> Result<Location, Unsupported> {
    match decoder.types.get(pointee) {
        Some(Type::Image(_) | Type::Sampler | Type::SampledImage { .. }) => {
            let descriptor = decoder.descriptor_index(variable, 0, MemoryClass::Image);
            Ok(Location::Opaque(chosen(decoder, vec![descriptor], None)))
        }
        Some(Type::Array { element, length, .. }) => match decoder.types.get(*element) {
            Some(Type::Image(_) | Type::Sampler | Type::SampledImage { .. }) => {
                let length = layout::elements_of(&decoder.constants, *length)?;
                Ok(Location::Descriptors { variable, length })
            }
            _ => Err(unsupported("an array of arrays of descriptors")),
        },
        Some(Type::RuntimeArray { element, .. }) if !is_array(decoder, *element) => {
            Ok(Location::Descriptors { variable, length: decoder.bound_length(variable) })
        }
        Some(Type::RuntimeArray { .. }) => Err(unsupported("an array of arrays of descriptors")),
        _ => Err(unsupported(format!(
            "a variable of type {} in storage class UniformConstant",
            decoder.types.glsl_name(pointee)
        ))),
    }
}

fn is_array(decoder: &Decoder<'_>, ty: Id) -> bool {
    matches!(decoder.types.get(ty), Some(Type::Array { .. } | Type::RuntimeArray { .. }))
}

/// One element of an array of images or samplers: by a constant index, or any by a dynamic one.
pub(crate) fn element(
    decoder: &mut Decoder<'_>,
    variable: Id,
    length: u32,
    index: Id,
    constant: Option<u32>,
) -> Result<Location, Unsupported> {
    if let Some(constant) = constant.filter(|index| *index < length) {
        let descriptor = decoder.descriptor_index(variable, constant, MemoryClass::Image);
        decoder.program.descriptors[descriptor as usize].may_be_unbound = true;
        return Ok(Location::Opaque(chosen(decoder, vec![descriptor], None)));
    }
    if length > MOST_ELEMENTS {
        return Err(unsupported(format!(
            "an array of {length} descriptors with an index that is no constant"
        )));
    }
    let (register, signedness) = super::access_chain::index_word(decoder, index)?;
    let signed = signedness == Signedness::Signed;
    let all: Vec<u32> =
        (0..length).map(|at| decoder.descriptor_index(variable, at, MemoryClass::Image)).collect();
    for descriptor in &all {
        decoder.program.descriptors[*descriptor as usize].may_be_unbound = true;
    }
    let name = decoder.name(variable);
    Ok(Location::Opaque(DescriptorChoice {
        descriptors: all.into(),
        index: Some(DynamicIndex { register, signed }),
        name,
    }))
}

/// Most elements of an array that is indexed dynamically.
const MOST_ELEMENTS: u32 = 4096;

fn chosen(
    decoder: &Decoder<'_>,
    descriptors: Vec<u32>,
    index: Option<DynamicIndex>,
) -> DescriptorChoice {
    let name = descriptors
        .first()
        .map_or("", |first| decoder.program.descriptors[*first as usize].name.as_str());
    DescriptorChoice { name: name.into(), descriptors: descriptors.into(), index }
}

/// OpLoad of an image, a sampler, or both.
pub(crate) fn load(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    from: DescriptorChoice,
    ty: Id,
) -> Result<(), Unsupported> {
    let opaque = match decoder.types.get(ty) {
        Some(Type::Sampler) => Opaque { image: None, sampler: Some(from), ty },
        // A combined one is sampled with its own sampler.
        Some(Type::Image(_) | Type::SampledImage { .. }) => {
            Opaque { image: Some(from), sampler: None, ty }
        }
        _ => return Err(unsupported("a load of something else than an image or sampler")),
    };
    decoder.define(instruction, Value::Opaque(opaque));
    Ok(())
}

fn sampled_image(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let image = decoder.opaque(id(instruction, 0)?)?;
    let sampler = decoder.opaque(id(instruction, 1)?)?;
    if sampler.sampler.is_none() && matches!(decoder.types.get(sampler.ty), Some(Type::Sampler)) {
        return Err(unsupported("OpSampledImage of an undefined sampler"));
    }
    let ty = instruction.result_type.ok_or_else(|| unsupported("OpSampledImage without a type"))?;
    decoder.define(
        instruction,
        Value::Opaque(Opaque { image: image.image, sampler: sampler.sampler, ty }),
    );
    Ok(())
}

fn image_of(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let sampled = decoder.opaque(id(instruction, 0)?)?;
    let ty = instruction.result_type.ok_or_else(|| unsupported("OpImage without a type"))?;
    decoder.define(instruction, Value::Opaque(Opaque { image: sampled.image, sampler: None, ty }));
    Ok(())
}

// ---- instructions ----

/// The step of an instruction on an image, with nothing but the image.
fn on_image(
    decoder: &Decoder<'_>,
    opaque: Opaque,
    doing: ImageOperation,
) -> Result<(ImageInstruction, ImageType), Unsupported> {
    let image = match decoder.types.get(opaque.ty) {
        Some(Type::SampledImage { image }) => decoder.types.get(*image),
        other => other,
    };
    let (Some(Type::Image(ty)), Some(image)) = (image, opaque.image) else {
        return Err(unsupported(
            "an image instruction on something else, or on an undefined image",
        ));
    };
    match (doing, ty.multisampled) {
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
    let form =
        decoder.form(ty.sampled_type).ok_or_else(|| unsupported("an image of no numbers"))?;
    let step = ImageInstruction {
        operation: doing,
        image,
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
        form,
    };
    Ok((step, *ty))
}

fn sample(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    projection: Projection,
) -> Result<(), Unsupported> {
    let opaque = decoder.opaque(id(instruction, 0)?)?;
    let (step, _) = on_image(decoder, opaque, ImageOperation::Sample)?;
    let mut step = ImageInstruction { projection, ..step };
    sampling_coordinates(decoder, instruction, &mut step)?;
    image_operands(decoder, instruction, 2, &mut step)?;
    finish(decoder, instruction, step)
}

fn compare(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    projection: Projection,
) -> Result<(), Unsupported> {
    let opaque = decoder.opaque(id(instruction, 0)?)?;
    let (step, _) = on_image(decoder, opaque, ImageOperation::Sample)?;
    let mut step = ImageInstruction { projection, ..step };
    sampling_coordinates(decoder, instruction, &mut step)?;
    step.reference = Some(word(decoder, id(instruction, 2)?, NumberFormat::Float(Width::W32))?);
    image_operands(decoder, instruction, 3, &mut step)?;
    finish(decoder, instruction, step)
}

fn gather(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let component = decoder.constants.scalar_word(id(instruction, 2)?);
    let component =
        component.ok_or_else(|| unsupported("OpImageGather of a component that is no constant"))?;
    let opaque = decoder.opaque(id(instruction, 0)?)?;
    let (mut step, _) = on_image(decoder, opaque, ImageOperation::Gather { component })?;
    sampling_coordinates(decoder, instruction, &mut step)?;
    image_operands(decoder, instruction, 3, &mut step)?;
    finish(decoder, instruction, step)
}

fn compare_gathered(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let opaque = decoder.opaque(id(instruction, 0)?)?;
    let (mut step, _) = on_image(decoder, opaque, ImageOperation::Gather { component: 0 })?;
    sampling_coordinates(decoder, instruction, &mut step)?;
    step.reference = Some(word(decoder, id(instruction, 2)?, NumberFormat::Float(Width::W32))?);
    image_operands(decoder, instruction, 3, &mut step)?;
    finish(decoder, instruction, step)
}

/// OpImageRead and OpImageFetch.
fn read(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let opaque = decoder.opaque(id(instruction, 0)?)?;
    let (mut step, ty) = on_image(decoder, opaque, ImageOperation::Read)?;
    whole_coordinates(decoder, id(instruction, 1)?, &mut step)?;
    image_operands(decoder, instruction, 2, &mut step)?;
    check_sample(&ty, instruction, &step)?;
    if !step.offsets.is_empty() {
        shift(decoder, &mut step)?;
    }
    finish(decoder, instruction, step)
}

fn write(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let opaque = decoder.opaque(id(instruction, 0)?)?;
    let (mut step, ty) = on_image(decoder, opaque, ImageOperation::Write)?;
    whole_coordinates(decoder, id(instruction, 1)?, &mut step)?;
    let texel = decoder.numbers(id(instruction, 2)?)?;
    if texel.form != step.form {
        return Err(unsupported("OpImageWrite of a texel of another type than the image's"));
    }
    step.used = declared_components(ty.format).unwrap_or(texel.parts.len());
    step.texel = texel.parts.into();
    image_operands(decoder, instruction, 3, &mut step)?;
    check_sample(&ty, instruction, &step)?;
    written(decoder, &step);
    decoder.push(LaneInstruction::Image(Arc::new(step)));
    Ok(())
}

fn written(decoder: &mut Decoder<'_>, step: &ImageInstruction) {
    decoder.written.extend(step.image.descriptors.iter().copied());
}

/// Components of the format that a module declares; none where it declares none.
fn declared_components(declared: Declared) -> Option<usize> {
    // The names are GLSL's, and SPIR-V's are the same without underscores.
    let name = format!("{declared:?}").to_ascii_lowercase();
    let known = ImageFormat::ALL.iter().find(|format| format.name().replace('_', "") == name);
    known.map(|format| usize::from(format.components()))
}

fn texel_pointer(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let pointer = decoder.pointer(id(instruction, 0)?)?;
    let Location::Opaque(image) = pointer.to else {
        return Err(unsupported("OpImageTexelPointer of no image"));
    };
    let opaque = Opaque { image: Some(image), sampler: None, ty: pointer.ty };
    let (mut step, ty) = on_image(decoder, opaque, ImageOperation::Atomic(AtomicOperation::Load))?;
    whole_coordinates(decoder, id(instruction, 1)?, &mut step)?;
    if ty.multisampled {
        step.sample = Some(sample_index(decoder, id(instruction, 2)?)?);
    }
    let to = Location::Texel(Arc::new(step));
    decoder.define(instruction, Value::Pointer(Pointer { to, ty: ty.sampled_type }));
    Ok(())
}

/// An atomic on a texel; value and comparator by their operand positions.
pub(crate) fn atomic(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    op: AtomicOperation,
    texel: &ImageInstruction,
    operands: [Option<usize>; 2],
) -> Result<(), Unsupported> {
    let mut step = ImageInstruction { operation: ImageOperation::Atomic(op), ..texel.clone() };
    let mut given = Vec::new();
    for at in operands.into_iter().flatten() {
        given.push(decoder.number(id(instruction, at)?)?.1);
    }
    (step.used, step.texel) = (given.len(), given.into());
    decoder.atomics.extend(step.image.descriptors.iter().copied());
    if op != AtomicOperation::Load {
        written(decoder, &step);
    }
    if instruction.result.is_some() {
        return finish(decoder, instruction, step);
    }
    decoder.push(LaneInstruction::Image(Arc::new(step)));
    Ok(())
}

fn query(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    doing: ImageOperation,
) -> Result<(), Unsupported> {
    let opaque = decoder.opaque(id(instruction, 0)?)?;
    let (mut step, _) = on_image(decoder, opaque, doing)?;
    if instruction.op == Op::ImageQuerySizeLod {
        step.level = LevelOperand::Number(word(decoder, id(instruction, 1)?, NumberFormat::WORD)?);
    }
    finish(decoder, instruction, step)
}

/// Pushes the step with registers for its result.
fn finish(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    mut step: ImageInstruction,
) -> Result<(), Unsupported> {
    let form = decoder.result_form(instruction)?;
    if !matches!(
        form,
        NumberFormat::Float(Width::W32) | NumberFormat::Integer(Width::W32 | Width::W64)
    ) {
        return Err(unsupported(format!("Op{:?} with this type", instruction.op)));
    }
    let ty = instruction
        .result_type
        .ok_or_else(|| unsupported("an image instruction without a type"))?;
    let count = decoder.kinds(ty)?.len() / form.width().words();
    let to: Vec<NumberRegisters> = (0..count).map(|_| decoder.parts(form)).collect();
    step.to = to.clone().into();
    decoder.push(LaneInstruction::Image(Arc::new(step)));
    define(decoder, instruction, &to);
    Ok(())
}
