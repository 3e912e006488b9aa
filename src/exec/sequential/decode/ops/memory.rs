//! Memory instructions (SPIR-V specification, section "Memory Instructions").

use super::access_chain::{check_descriptors, pointer_to, retyped, step_into};
use super::copy_memory::{copy_memory, copy_memory_sized};
use super::image;
use super::meaning::{Meaning, Row, row};
use super::memory_access::access;
use super::operand::id;
use crate::decode::decoder::Decoder;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::{Location, Pointer, Value};
use crate::ir::{AccessRoot, AddressUnit, LaneInstruction, Reg, Scalar, UniformValue};
use rspirv::spirv::Op;
use std::sync::Arc;
use vkcert_spirv::module::Instruction;
use vkcert_spirv::types::Type;

pub(crate) const TABLE: &[Row] = &[
    row(Op::Variable, Meaning::Special(variable)),
    row(Op::AccessChain, Meaning::Special(access_chain)),
    row(Op::InBoundsAccessChain, Meaning::Special(access_chain)),
    row(Op::Load, Meaning::Special(load)),
    row(Op::Store, Meaning::Special(store)),
    row(Op::CopyMemory, Meaning::Special(copy_memory)),
    row(Op::ArrayLength, Meaning::Special(array_length)),
    row(Op::CopyMemorySized, Meaning::Special(copy_memory_sized)),
    row(Op::UntypedVariableKHR, Meaning::Special(variable)),
    row(Op::UntypedAccessChainKHR, Meaning::Special(untyped_access_chain)),
    row(Op::UntypedInBoundsAccessChainKHR, Meaning::Special(untyped_access_chain)),
    row(Op::UntypedArrayLengthKHR, Meaning::Special(untyped_array_length)),
];

fn variable(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let pointer = decoder.variable(instruction)?;
    decoder.define(instruction, Value::Pointer(pointer));
    Ok(())
}

fn access_chain(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let mut pointer = decoder.pointer(id(instruction, 0)?)?;
    for index in instruction.ids().skip(1) {
        pointer = step_into(decoder, pointer, index)?;
    }
    decoder.define(instruction, Value::Pointer(pointer));
    Ok(())
}

/// OpUntypedAccessChainKHR: the base type, the base, indices into that type.
fn untyped_access_chain(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let ty = id(instruction, 0)?;
    let base = decoder.pointer(id(instruction, 1)?)?;
    let mut pointer = retyped(base, ty)?;
    check_descriptors(decoder, &pointer)?;
    for index in instruction.ids().skip(2) {
        pointer = step_into(decoder, pointer, index)?;
    }
    decoder.define(instruction, Value::Pointer(pointer));
    Ok(())
}

/// The value that a pointer points to.
pub(crate) fn load_from(
    decoder: &mut Decoder<'_>,
    pointer: &Pointer,
) -> Result<Arc<[Scalar]>, Unsupported> {
    if let Location::Constant(scalars) = &pointer.to {
        return Ok(scalars.clone());
    }
    if let Location::Registers(scalars) = &pointer.to {
        let to = decoder.fresh(pointer.ty)?;
        decoder.copy_all(&to, scalars)?;
        return Ok(to);
    }
    let Some(access) = access(decoder, pointer)? else {
        return Err(unsupported("a load from here"));
    };
    // What the test gives as push constants is the same for every invocation; the size is checked
    // when it is known.
    if access.root == AccessRoot::PushConstant
        && access.dimensions.is_empty()
        && access.unit == AddressUnit::Word
    {
        return Ok(access
            .components
            .iter()
            .map(|component| {
                Scalar::Word(decoder.uniform(UniformValue::PushConstant(access.base + component)))
            })
            .collect());
    }
    let to = decoder.fresh(pointer.ty)?;
    if access.components.len() != to.len() {
        return Err(unsupported("a load of this type"));
    }
    decoder.push(LaneInstruction::Load { access: Arc::new(access), to: to.clone() });
    Ok(to)
}

/// Stores a value.
pub(crate) fn store_to(
    decoder: &mut Decoder<'_>,
    pointer: &Pointer,
    value: &[Scalar],
) -> Result<(), Unsupported> {
    match &pointer.to {
        Location::Registers(scalars) => decoder.copy_all(&scalars.clone(), value),
        Location::Memory { root, .. } => {
            decoder.note_write(*root);
            let Some(access) = access(decoder, pointer)? else {
                return Err(unsupported("a store to here"));
            };
            if access.components.len() != value.len() {
                return Err(unsupported("a store of this type"));
            }
            decoder.push(LaneInstruction::Store { access: Arc::new(access), from: value.into() });
            Ok(())
        }
        Location::Constant(_)
        | Location::Descriptors { .. }
        | Location::Opaque(_)
        | Location::Texel(_) => Err(unsupported("a store to an input")),
    }
}

fn load(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let ty = instruction.result_type.ok_or_else(|| unsupported("OpLoad without a type"))?;
    let pointer = pointer_to(decoder, id(instruction, 0)?, ty)?;
    if let Location::Opaque(chosen) = &pointer.to {
        return image::load(decoder, instruction, chosen.clone(), pointer.ty);
    }
    let value = load_from(decoder, &pointer)?;
    decoder.define(instruction, Value::Scalars(value));
    Ok(())
}

fn store(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let object = id(instruction, 1)?;
    let ty = decoder.type_of(object)?;
    let pointer = pointer_to(decoder, id(instruction, 0)?, ty)?;
    let value = decoder.scalars(object)?;
    store_to(decoder, &pointer, &value)
}

fn array_length(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let pointer = decoder.pointer(id(instruction, 0)?)?;
    let member =
        instruction.literal(1).ok_or_else(|| unsupported("OpArrayLength without a member"))?;
    length_of(decoder, instruction, pointer, member)
}

/// The structure, a pointer to it, and the member.
fn untyped_array_length(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let pointer = decoder.pointer(id(instruction, 1)?)?;
    let pointer = retyped(pointer, id(instruction, 0)?)?;
    let member = instruction
        .literal(2)
        .ok_or_else(|| unsupported("OpUntypedArrayLengthKHR without a member"))?;
    length_of(decoder, instruction, pointer, member)
}

fn length_of(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    pointer: Pointer,
    member: u32,
) -> Result<(), Unsupported> {
    let (root, base) = match pointer.to {
        Location::Memory { root, base, .. } => (root, base),
        Location::Registers(_)
        | Location::Constant(_)
        | Location::Descriptors { .. }
        | Location::Opaque(_)
        | Location::Texel(_) => (AccessRoot::Invocation, 0),
    };
    let Some(Type::Structure { members, .. }) = decoder.types.get(pointer.ty) else {
        return Err(unsupported("OpArrayLength of a type that is no structure"));
    };
    let member = members
        .get(member as usize)
        .ok_or_else(|| unsupported("OpArrayLength of a missing member"))?;
    let Some(Type::RuntimeArray { stride: Some(stride), .. }) = decoder.types.get(member.ty) else {
        return Err(unsupported("OpArrayLength of a member that is no runtime array"));
    };
    let (offset, stride) = (member.offset.unwrap_or(0), *stride);
    let length = |decoder: &mut Decoder<'_>, descriptor: u32| {
        let to = decoder.word();
        decoder.push(LaneInstruction::ArrayLength { descriptor, base: base + offset, stride, to });
        to
    };
    let to = match root {
        AccessRoot::Descriptor(descriptor) => length(decoder, descriptor),
        AccessRoot::Descriptors { first, length: count, index } => {
            let from: Vec<Reg> =
                (first..first + count).map(|descriptor| length(decoder, descriptor)).collect();
            let to = decoder.word();
            decoder.push(LaneInstruction::ExtractDynamic { to, from: from.into(), index });
            to
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
    decoder.define(instruction, Value::Scalars(Arc::new([Scalar::Word(to)])));
    Ok(())
}
