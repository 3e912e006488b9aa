//! Pointers as values (SPIR-V specification, "Pointers"): device addresses, and what both kinds
//! have in common.
//!
//! Knows: an address is a number of 64 bits; a pointer that was made by an access chain is one as
//! soon as it is used as a value.
//! Does not cover: how a variable pointer is represented (`variable_pointer`).

use super::meaning::{OpcodeMeaning, OpcodeRow, opcode_row};
use super::number::{compute_binary, compute_number, number_operand, push_relation};
use super::operand::operand_id;
use crate::decode::decoder::Decoder;
use crate::decode::layout::{MemoryArrangement, is_address};
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::{DecodedValue, Pointer, PointerTarget};
use crate::ir::{
    AccessRoot, Addressing, Dimension, DimensionBound, NumberRegisters, Scalar, word_scalars,
};
use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, Op};
use std::sync::Arc;
use vkcert_spirv::module::{Id, Instruction};
use vkcert_spirv::operation::ScalarOperation;
use vkcert_spirv::operation::operator::{Binary, Compare};
use vkcert_spirv::operation::sized::{NumberFormat, Relation, SizedOperator, Width};
use vkcert_spirv::types::Type;

pub(crate) const TABLE: &[OpcodeRow] = &[
    opcode_row(
        Op::ConvertPtrToU,
        OpcodeMeaning::Scalar(ScalarOperation::Convert(SizedOperator::FromUnsigned)),
    ),
    opcode_row(
        Op::ConvertUToPtr,
        OpcodeMeaning::Scalar(ScalarOperation::Convert(SizedOperator::FromUnsigned)),
    ),
    opcode_row(
        Op::PtrEqual,
        OpcodeMeaning::Special(|decoder, instruction| {
            compare_pointers(decoder, instruction, Compare::IEqual)
        }),
    ),
    opcode_row(
        Op::PtrNotEqual,
        OpcodeMeaning::Special(|decoder, instruction| {
            compare_pointers(decoder, instruction, Compare::INotEqual)
        }),
    ),
    opcode_row(Op::PtrDiff, OpcodeMeaning::Special(super::variable_pointer::pointer_difference)),
    opcode_row(Op::PtrAccessChain, OpcodeMeaning::Special(element_pointer)),
    opcode_row(Op::InBoundsPtrAccessChain, OpcodeMeaning::Special(element_pointer)),
    opcode_row(Op::UntypedPtrAccessChainKHR, OpcodeMeaning::Special(untyped_element_pointer)),
    opcode_row(
        Op::UntypedInBoundsPtrAccessChainKHR,
        OpcodeMeaning::Special(untyped_element_pointer),
    ),
];

pub(crate) const NO_STRIDE: &str = "a pointer without ArrayStride that is taken as into an array";
/// Pointee type of an untyped pointer: no type.
pub(crate) const UNTYPED: Id = 0;
const ADDRESS: NumberFormat = NumberFormat::Integer(Width::W64);

impl Decoder<'_> {
    /// Notes a write to memory behind a root.
    pub(crate) fn note_write(&mut self, root: AccessRoot) {
        match root {
            AccessRoot::Descriptor(index) => drop(self.written_descriptors.insert(index)),
            AccessRoot::Descriptors { first, length, index: _ } => {
                self.written_descriptors.extend(first..first + length)
            }
            AccessRoot::Address(_) => {
                self.program.addresses = self.program.addresses.max(Addressing::Writes)
            }
            AccessRoot::Pointer { .. } => {
                self.pointer_use = self.pointer_use.max(Addressing::Writes)
            }
            AccessRoot::Workgroup
            | AccessRoot::Invocation
            | AccessRoot::PushConstant
            | AccessRoot::Buffer(_) => {}
        }
    }
}

/// The registers of a pointer as a value.
pub(crate) fn as_address(
    decoder: &mut Decoder<'_>,
    pointer: &Pointer,
) -> Result<Arc<[Scalar]>, Unsupported> {
    let PointerTarget::Memory {
        root: AccessRoot::Address(start_address),
        base: base_number,
        dimensions,
        ..
    } = &pointer.target
    else {
        return super::variable_pointer::pointer_as_value(decoder, pointer);
    };
    let mut address = *start_address;
    if *base_number > 0 {
        let base_number = decoder.constant_number(ADDRESS, u64::from(*base_number));
        address = compute_binary(decoder, Binary::IAdd, ADDRESS, address, base_number)?;
    }
    for dimension in dimensions {
        let wide_index = compute_number(
            decoder,
            if dimension.signed { SizedOperator::FromSigned } else { SizedOperator::FromUnsigned },
            [NumberFormat::WORD, ADDRESS],
            &[dimension.index.into()],
        )?;
        let stride_number = decoder.constant_number(ADDRESS, u64::from(dimension.stride));
        let byte_offset =
            compute_binary(decoder, Binary::IMul, ADDRESS, wide_index, stride_number)?;
        address = compute_binary(decoder, Binary::IAdd, ADDRESS, address, byte_offset)?;
    }
    Ok(word_scalars(&[address]).into())
}

/// A value as a pointer.
pub(crate) fn from_address(
    decoder: &mut Decoder<'_>,
    value_id: Id,
) -> Result<Pointer, Unsupported> {
    let value_type = decoder.type_of(value_id)?;
    let pointee_type = match decoder.types.get(value_type) {
        Some(pointer @ Type::Pointer { pointee: pointee_type, .. }) if is_address(pointer) => {
            *pointee_type
        }
        Some(pointer @ Type::UntypedPointer { .. }) if is_address(pointer) => UNTYPED,
        Some(Type::Pointer { storage, pointee: pointee_type }) => {
            return super::variable_pointer::pointer_from_value(
                decoder,
                value_id,
                *storage,
                *pointee_type,
            );
        }
        Some(Type::UntypedPointer { storage }) => {
            return super::variable_pointer::pointer_from_value(
                decoder, value_id, *storage, UNTYPED,
            );
        }
        _ => return Err(unsupported("a value as a pointer")),
    };
    let (_, address) = decoder.number_of(value_id)?;
    let name = decoder.variable_name(value_id);
    decoder.note_address_alignment(address.low, pointee_type);
    let root = AccessRoot::Address(address);
    let target = PointerTarget::Memory {
        root,
        base: 0,
        dimensions: Vec::new(),
        arrangement: MemoryArrangement::Explicit(None),
        name,
    };
    Ok(Pointer { target, pointee_type })
}

fn compare_pointers(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operator: Compare,
) -> Result<(), Unsupported> {
    let numbers =
        [number_operand(decoder, instruction, 0)?, number_operand(decoder, instruction, 1)?];
    let pointer_numbers: Vec<NumberRegisters> =
        numbers.iter().map(|numbers| numbers.parts[0]).collect();
    let result = push_relation(decoder, Relation::Compare(operator), ADDRESS, &pointer_numbers);
    decoder.define_result(instruction, DecodedValue::Scalars(Arc::new([Scalar::Mask(result)])));
    Ok(())
}

/// The ArrayStride of a pointer's type.
pub(crate) fn array_stride(
    decoder: &Decoder<'_>,
    pointer_id: Id,
) -> Result<Option<u32>, Unsupported> {
    let stride_decoration =
        decoder.module.decoration(decoder.type_of(pointer_id)?, Decoration::ArrayStride);
    Ok(stride_decoration.and_then(|decoration| match decoration.operands.first() {
        Some(Operand::LiteralBit32(stride)) => Some(*stride),
        _ => None,
    }))
}

/// OpPtrAccessChain: the pointer as into an array with the ArrayStride of its type, then as any
/// access chain.
fn element_pointer(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let base_id = operand_id(instruction, 0)?;
    let pointer = decoder.pointer_of(base_id)?;
    chain_from(decoder, instruction, base_id, pointer, 1)
}

/// The same behind the type that its elements have.
fn untyped_element_pointer(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let base_id = operand_id(instruction, 1)?;
    let pointer = super::access_chain::retyped_pointer(
        decoder.pointer_of(base_id)?,
        operand_id(instruction, 0)?,
    )?;
    chain_from(decoder, instruction, base_id, pointer, 2)
}

/// The element whose index is in operand `at`, then the indices behind it.
fn chain_from(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    base_id: Id,
    pointer: Pointer,
    index_operand: usize,
) -> Result<(), Unsupported> {
    let stride = array_stride(decoder, base_id)?;
    let element_index = decoder.number_of(operand_id(instruction, index_operand)?)?;
    let mut pointer = match &pointer.target {
        PointerTarget::Memory { root: AccessRoot::Address(_), .. } => {
            behind_address(decoder, pointer, stride, element_index)?
        }
        _ => super::variable_pointer::element_pointer(decoder, &pointer, stride, element_index)?,
    };
    for index_id in instruction.ids().skip(index_operand + 1) {
        pointer = super::access_chain::apply_index(decoder, pointer, index_id)?;
    }
    decoder.define_result(instruction, DecodedValue::Pointer(pointer));
    Ok(())
}

/// Another element of the array that a device address is in.
fn behind_address(
    decoder: &mut Decoder<'_>,
    mut pointer: Pointer,
    stride: Option<u32>,
    (index_format, element_index): (NumberFormat, NumberRegisters),
) -> Result<Pointer, Unsupported> {
    let stride = stride.ok_or_else(|| unsupported(NO_STRIDE))?;
    let start_scalars =
        if index_format.is_word() { None } else { Some(as_address(decoder, &pointer)?) };
    let PointerTarget::Memory { root, base, dimensions, .. } = &mut pointer.target else {
        return Err(unsupported(NO_STRIDE));
    };
    let Some(start_scalars) = start_scalars else {
        dimensions.push(Dimension {
            index: element_index.low,
            stride,
            bound: DimensionBound::Runtime,
            signed: true,
        });
        return Ok(pointer);
    };
    let wide_index = compute_number(
        decoder,
        SizedOperator::FromSigned,
        [index_format, ADDRESS],
        &[element_index],
    )?;
    let stride = decoder.constant_number(ADDRESS, u64::from(stride));
    let byte_offset = compute_binary(decoder, Binary::IMul, ADDRESS, wide_index, stride)?;
    let start_scalars = NumberRegisters {
        low: word_of(&start_scalars, 0)?,
        high: Some(word_of(&start_scalars, 1)?),
    };
    (*root, *base) = (
        AccessRoot::Address(compute_binary(
            decoder,
            Binary::IAdd,
            ADDRESS,
            start_scalars,
            byte_offset,
        )?),
        0,
    );
    dimensions.clear();
    Ok(pointer)
}

fn word_of(scalars: &[Scalar], index: usize) -> Result<crate::ir::Reg, Unsupported> {
    match scalars.get(index) {
        Some(Scalar::Word(reg)) => Ok(*reg),
        _ => Err(unsupported("an address that is no number")),
    }
}
