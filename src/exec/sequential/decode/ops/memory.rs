//! Memory instructions (SPIR-V specification, section "Memory Instructions").

use super::access_chain::{apply_index, check_descriptors, pointer_to, retyped_pointer};
use super::copy_memory::{copy_memory, copy_memory_sized};
use super::meaning::{OpcodeMeaning, OpcodeRow, opcode_row};
use super::memory_access::access_of_pointer;
use super::opaque;
use super::operand::operand_id;
use crate::decode::decoder::Decoder;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::{DecodedValue, Pointer, PointerTarget};
use crate::ir::{
    AccessRoot, AddressUnit, LaneInstruction, PushConstantLoad, Reg, Scalar, UniformValue,
};
use rspirv::spirv::Op;
use std::sync::Arc;
use vkcert_spirv::module::Instruction;
use vkcert_spirv::types::Type;

pub(crate) const TABLE: &[OpcodeRow] = &[
    opcode_row(Op::Variable, OpcodeMeaning::Special(decode_variable)),
    opcode_row(Op::AccessChain, OpcodeMeaning::Special(access_chain)),
    opcode_row(Op::InBoundsAccessChain, OpcodeMeaning::Special(access_chain)),
    opcode_row(Op::Load, OpcodeMeaning::Special(decode_load)),
    opcode_row(Op::Store, OpcodeMeaning::Special(decode_store)),
    opcode_row(Op::CopyMemory, OpcodeMeaning::Special(copy_memory)),
    opcode_row(Op::ArrayLength, OpcodeMeaning::Special(array_length)),
    opcode_row(Op::CopyMemorySized, OpcodeMeaning::Special(copy_memory_sized)),
    opcode_row(Op::UntypedVariableKHR, OpcodeMeaning::Special(decode_variable)),
    opcode_row(Op::UntypedAccessChainKHR, OpcodeMeaning::Special(untyped_access_chain)),
    opcode_row(Op::UntypedInBoundsAccessChainKHR, OpcodeMeaning::Special(untyped_access_chain)),
    opcode_row(Op::UntypedArrayLengthKHR, OpcodeMeaning::Special(untyped_array_length)),
];

fn decode_variable(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let pointer = decoder.variable_pointer(instruction)?;
    decoder.define_result(instruction, DecodedValue::Pointer(pointer));
    Ok(())
}

fn access_chain(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let mut pointer = decoder.pointer_of(operand_id(instruction, 0)?)?;
    for index_id in instruction.ids().skip(1) {
        pointer = apply_index(decoder, pointer, index_id)?;
    }
    decoder.define_result(instruction, DecodedValue::Pointer(pointer));
    Ok(())
}

/// OpUntypedAccessChainKHR: the base type, the base, indices into that type.
fn untyped_access_chain(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let base_type = operand_id(instruction, 0)?;
    let base_pointer = decoder.pointer_of(operand_id(instruction, 1)?)?;
    let mut pointer = retyped_pointer(base_pointer, base_type)?;
    check_descriptors(decoder, &pointer)?;
    for index_id in instruction.ids().skip(2) {
        pointer = apply_index(decoder, pointer, index_id)?;
    }
    decoder.define_result(instruction, DecodedValue::Pointer(pointer));
    Ok(())
}

/// The value that a pointer points to.
pub(crate) fn load_from(
    decoder: &mut Decoder<'_>,
    pointer: &Pointer,
) -> Result<Arc<[Scalar]>, Unsupported> {
    if let PointerTarget::Constant(scalars) = &pointer.target {
        return Ok(Arc::clone(scalars));
    }
    if let PointerTarget::Registers(scalars) = &pointer.target {
        let loaded_scalars = decoder.new_registers(pointer.pointee_type)?;
        decoder.copy_all(&loaded_scalars, scalars)?;
        return Ok(loaded_scalars);
    }
    let Some(access) = access_of_pointer(decoder, pointer)? else {
        return Err(unsupported("a load from here"));
    };
    // Push constants are uniform over the dispatch; their size is checked when it is known.
    if access.root == AccessRoot::PushConstant
        && access.dimensions.is_empty()
        && access.unit == AddressUnit::Word
    {
        let words: Arc<[u32]> =
            access.components.iter().map(|component| access.base + component).collect();
        let loaded_scalars = words
            .iter()
            .map(|word| Scalar::Word(decoder.uniform_register(UniformValue::PushConstant(*word))))
            .collect();
        let source_index = decoder.source_index;
        decoder.program.push_constant_loads.push(PushConstantLoad { source_index, words });
        return Ok(loaded_scalars);
    }
    let loaded_scalars = decoder.new_registers(pointer.pointee_type)?;
    if access.components.len() != loaded_scalars.len() {
        return Err(unsupported("a load of this type"));
    }
    decoder.push_instruction(LaneInstruction::Load {
        access: Arc::new(access),
        to: Arc::clone(&loaded_scalars),
    });
    Ok(loaded_scalars)
}

/// Stores a value.
pub(crate) fn store_to(
    decoder: &mut Decoder<'_>,
    pointer: &Pointer,
    value: &[Scalar],
) -> Result<(), Unsupported> {
    match &pointer.target {
        PointerTarget::Registers(scalars) => decoder.copy_all(scalars, value),
        PointerTarget::Memory { root, .. } => {
            decoder.note_write(*root);
            let Some(access) = access_of_pointer(decoder, pointer)? else {
                return Err(unsupported("a store to here"));
            };
            if access.components.len() != value.len() {
                return Err(unsupported("a store of this type"));
            }
            decoder.push_instruction(LaneInstruction::Store {
                access: Arc::new(access),
                from: value.into(),
            });
            Ok(())
        }
        PointerTarget::Constant(_)
        | PointerTarget::Descriptors { .. }
        | PointerTarget::Opaque(_)
        | PointerTarget::Texel(_) => Err(unsupported("a store to an input")),
    }
}

fn decode_load(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let result_type =
        instruction.result_type.ok_or_else(|| unsupported("OpLoad without a type"))?;
    let pointer = pointer_to(decoder, operand_id(instruction, 0)?, result_type)?;
    if let PointerTarget::Opaque(descriptor_choice) = pointer.target {
        return opaque::load_opaque(decoder, instruction, descriptor_choice, pointer.pointee_type);
    }
    let value = load_from(decoder, &pointer)?;
    decoder.define_result(instruction, DecodedValue::Scalars(value));
    Ok(())
}

fn decode_store(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let object_id = operand_id(instruction, 1)?;
    let object_type = decoder.type_of(object_id)?;
    let pointer = pointer_to(decoder, operand_id(instruction, 0)?, object_type)?;
    let value = decoder.scalars_of(object_id)?;
    store_to(decoder, &pointer, &value)
}

fn array_length(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let pointer = decoder.pointer_of(operand_id(instruction, 0)?)?;
    let member_index =
        instruction.literal(1).ok_or_else(|| unsupported("OpArrayLength without a member"))?;
    push_array_length(decoder, instruction, pointer, member_index)
}

/// The structure, a pointer to it, and the member.
fn untyped_array_length(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let pointer = decoder.pointer_of(operand_id(instruction, 1)?)?;
    let pointer = retyped_pointer(pointer, operand_id(instruction, 0)?)?;
    let member_index = instruction
        .literal(2)
        .ok_or_else(|| unsupported("OpUntypedArrayLengthKHR without a member"))?;
    push_array_length(decoder, instruction, pointer, member_index)
}

/// The length of a runtime array that begins at `array_start` of what is bound to a descriptor.
fn push_descriptor_length(
    decoder: &mut Decoder<'_>,
    descriptor: u32,
    array_start: u32,
    stride: u32,
) -> Reg {
    let length_register = decoder.new_word();
    decoder.push_instruction(LaneInstruction::ArrayLength {
        descriptor,
        base: array_start,
        stride,
        to: length_register,
    });
    length_register
}

fn push_array_length(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    pointer: Pointer,
    array_member: u32,
) -> Result<(), Unsupported> {
    let (root, base_offset) = match pointer.target {
        PointerTarget::Memory { root, base: base_offset, .. } => (root, base_offset),
        PointerTarget::Registers(_)
        | PointerTarget::Constant(_)
        | PointerTarget::Descriptors { .. }
        | PointerTarget::Opaque(_)
        | PointerTarget::Texel(_) => (AccessRoot::Invocation, 0),
    };
    let Some(Type::Structure { members, .. }) = decoder.types.get(pointer.pointee_type) else {
        return Err(unsupported("OpArrayLength of a type that is no structure"));
    };
    let array_member = members
        .get(array_member as usize)
        .ok_or_else(|| unsupported("OpArrayLength of a missing member"))?;
    let Some(Type::RuntimeArray { stride: Some(stride), .. }) = decoder.types.get(array_member.ty)
    else {
        return Err(unsupported("OpArrayLength of a member that is no runtime array"));
    };
    let (member_offset, stride) = (array_member.offset.unwrap_or(0), *stride);
    let array_start = base_offset + member_offset;
    let length_register = match root {
        AccessRoot::Descriptor(descriptor) => {
            push_descriptor_length(decoder, descriptor, array_start, stride)
        }
        AccessRoot::Descriptors { first, length: descriptor_count, index } => {
            let array_lengths: Vec<Reg> = (first..first + descriptor_count)
                .map(|descriptor| push_descriptor_length(decoder, descriptor, array_start, stride))
                .collect();
            let length_register = decoder.new_word();
            decoder.push_instruction(LaneInstruction::ExtractDynamic {
                to: length_register,
                from: array_lengths.into(),
                index,
            });
            length_register
        }
        AccessRoot::Pointer { .. } => {
            return Err(unsupported("OpArrayLength of a variable pointer"));
        }
        AccessRoot::Workgroup
        | AccessRoot::Invocation
        | AccessRoot::PushConstant
        | AccessRoot::Address(_)
        | AccessRoot::Buffer(_) => {
            return Err(unsupported("OpArrayLength of a pointer that is no buffer"));
        }
    };
    decoder.define_result(
        instruction,
        DecodedValue::Scalars(Arc::new([Scalar::Word(length_register)])),
    );
    Ok(())
}
