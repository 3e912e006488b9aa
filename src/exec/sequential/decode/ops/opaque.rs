//! Images and samplers as values: the variables that hold them, elements of arrays, and what a load,
//! OpSampledImage or OpImage gives.
//!
//! Knows: an array has a descriptor per element; a dynamic index chooses among all of them.
//! Does not cover: instructions on images (`image`).

use super::operand::operand_id;
use crate::decode::decoder::Decoder;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::{DecodedValue, OpaqueHandle, PointerTarget};
use crate::decode::{layout, unsupported};
use crate::ir::MemoryClass;
use crate::ir::image::{DescriptorChoice, DynamicIndex};
use vkcert_spirv::module::{Id, Instruction};
use vkcert_spirv::types::{Signedness, Type};

/// Whether a type, or the elements of an array of it, are images or samplers.
pub(super) fn is_opaque(decoder: &Decoder<'_>, type_id: Id) -> bool {
    match decoder.types.get(type_id) {
        Some(Type::Image(_) | Type::Sampler | Type::SampledImage { .. }) => true,
        Some(Type::Array { element, .. } | Type::RuntimeArray { element, .. }) => {
            is_opaque(decoder, *element)
        }
        _ => false,
    }
}

/// The target of a variable that holds images or samplers.
pub(crate) fn opaque_variable(
    decoder: &mut Decoder<'_>,
    variable_id: Id,
    pointee_type: Id,
) -> Result<PointerTarget, Unsupported> {
    match decoder.types.get(pointee_type) {
        Some(Type::Image(_) | Type::Sampler | Type::SampledImage { .. }) => {
            let descriptor_index = decoder.descriptor_index(variable_id, 0, MemoryClass::Image);
            Ok(PointerTarget::Opaque(descriptor_choice(decoder, vec![descriptor_index], None)))
        }
        Some(Type::Array { element: element_type, length: array_length, .. }) => {
            match decoder.types.get(*element_type) {
                Some(Type::Image(_) | Type::Sampler | Type::SampledImage { .. }) => {
                    let array_length = layout::element_count(&decoder.constants, *array_length)?;
                    Ok(PointerTarget::Descriptors { variable: variable_id, length: array_length })
                }
                _ => Err(unsupported("an array of arrays of descriptors")),
            }
        }
        Some(Type::RuntimeArray { element: element_type, .. })
            if !is_array(decoder, *element_type) =>
        {
            Ok(PointerTarget::Descriptors {
                variable: variable_id,
                length: decoder.bound_length(variable_id),
            })
        }
        Some(Type::RuntimeArray { .. }) => Err(unsupported("an array of arrays of descriptors")),
        _ => Err(unsupported(format!(
            "a variable of type {} in storage class UniformConstant",
            decoder.types.glsl_name(pointee_type)
        ))),
    }
}

fn is_array(decoder: &Decoder<'_>, type_id: Id) -> bool {
    matches!(decoder.types.get(type_id), Some(Type::Array { .. } | Type::RuntimeArray { .. }))
}

/// One element of an array of images or samplers: by a constant index, or any by a dynamic one.
pub(super) fn opaque_element(
    decoder: &mut Decoder<'_>,
    variable_id: Id,
    array_length: u32,
    index_id: Id,
    constant_index: Option<u32>,
) -> Result<PointerTarget, Unsupported> {
    if let Some(constant_index) =
        constant_index.filter(|constant_index| *constant_index < array_length)
    {
        let descriptor_index =
            decoder.descriptor_index(variable_id, constant_index, MemoryClass::Image);
        decoder.program.descriptors[descriptor_index as usize].may_be_unbound = true;
        return Ok(PointerTarget::Opaque(descriptor_choice(decoder, vec![descriptor_index], None)));
    }
    if array_length > MOST_ELEMENTS {
        return Err(unsupported(format!(
            "an array of {array_length} descriptors with an index that is no constant"
        )));
    }
    let (register, signedness) = super::access_chain::index_word(decoder, index_id)?;
    let is_signed = signedness == Signedness::Signed;
    let array_descriptors: Vec<u32> = (0..array_length)
        .map(|array_index| decoder.descriptor_index(variable_id, array_index, MemoryClass::Image))
        .collect();
    for descriptor_index in &array_descriptors {
        decoder.program.descriptors[*descriptor_index as usize].may_be_unbound = true;
    }
    let variable_name = decoder.variable_name(variable_id);
    Ok(PointerTarget::Opaque(DescriptorChoice {
        descriptors: array_descriptors.into(),
        index: Some(DynamicIndex { register, signed: is_signed }),
        name: variable_name,
    }))
}

/// Most elements of an array that is indexed dynamically.
const MOST_ELEMENTS: u32 = 4096;

fn descriptor_choice(
    decoder: &Decoder<'_>,
    descriptors: Vec<u32>,
    index: Option<DynamicIndex>,
) -> DescriptorChoice {
    let variable_name = descriptors
        .first()
        .map_or("", |first| decoder.program.descriptors[*first as usize].name.as_str());
    DescriptorChoice { name: variable_name.into(), descriptors: descriptors.into(), index }
}

/// OpLoad of an image, a sampler, or both.
pub(super) fn load_opaque(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    descriptor_choice: DescriptorChoice,
    type_id: Id,
) -> Result<(), Unsupported> {
    let opaque_handle = match decoder.types.get(type_id) {
        Some(Type::Sampler) => {
            OpaqueHandle { image: None, sampler: Some(descriptor_choice), type_id }
        }
        // A combined image sampler is sampled with its own sampler.
        Some(Type::Image(_) | Type::SampledImage { .. }) => {
            OpaqueHandle { image: Some(descriptor_choice), sampler: None, type_id }
        }
        _ => return Err(unsupported("a load of something else than an image or sampler")),
    };
    decoder.define_result(instruction, DecodedValue::Opaque(opaque_handle));
    Ok(())
}

pub(super) fn sampled_image(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let image_handle = decoder.opaque_of(operand_id(instruction, 0)?)?;
    let sampler_handle = decoder.opaque_of(operand_id(instruction, 1)?)?;
    if sampler_handle.sampler.is_none()
        && matches!(decoder.types.get(sampler_handle.type_id), Some(Type::Sampler))
    {
        return Err(unsupported("OpSampledImage of an undefined sampler"));
    }
    let result_type =
        instruction.result_type.ok_or_else(|| unsupported("OpSampledImage without a type"))?;
    decoder.define_result(
        instruction,
        DecodedValue::Opaque(OpaqueHandle {
            image: image_handle.image,
            sampler: sampler_handle.sampler,
            type_id: result_type,
        }),
    );
    Ok(())
}

pub(super) fn image_of_sampled(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let sampled_handle = decoder.opaque_of(operand_id(instruction, 0)?)?;
    let result_type =
        instruction.result_type.ok_or_else(|| unsupported("OpImage without a type"))?;
    decoder.define_result(
        instruction,
        DecodedValue::Opaque(OpaqueHandle {
            image: sampled_handle.image,
            sampler: None,
            type_id: result_type,
        }),
    );
    Ok(())
}
