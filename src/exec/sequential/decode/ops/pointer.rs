//! Pointers as values (SPIR-V specification, "Pointers"): device addresses, and what both kinds
//! have in common.
//!
//! Knows: an address is a number of 64 bits; a pointer that was made by an access chain is one as
//! soon as it is used as a value.
//! Does not cover: what a variable pointer is (`variable_pointer`).

use super::meaning::{Meaning, Row, row};
use super::number::{compute, compute2, operand, relate};
use super::operand::id;
use crate::decode::decoder::Decoder;
use crate::decode::layout::{Arrangement, is_address};
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::{Location, Pointer, Value};
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

pub(crate) const TABLE: &[Row] = &[
    row(Op::ConvertPtrToU, Meaning::Scalar(ScalarOperation::Convert(SizedOperator::FromUnsigned))),
    row(Op::ConvertUToPtr, Meaning::Scalar(ScalarOperation::Convert(SizedOperator::FromUnsigned))),
    row(
        Op::PtrEqual,
        Meaning::Special(|decoder, instruction| equal(decoder, instruction, Compare::IEqual)),
    ),
    row(
        Op::PtrNotEqual,
        Meaning::Special(|decoder, instruction| equal(decoder, instruction, Compare::INotEqual)),
    ),
    row(Op::PtrDiff, Meaning::Special(super::variable_pointer::difference)),
    row(Op::PtrAccessChain, Meaning::Special(element)),
    row(Op::InBoundsPtrAccessChain, Meaning::Special(element)),
    row(Op::UntypedPtrAccessChainKHR, Meaning::Special(untyped_element)),
    row(Op::UntypedInBoundsPtrAccessChainKHR, Meaning::Special(untyped_element)),
];

pub(crate) const NO_STRIDE: &str = "a pointer without ArrayStride that is taken as into an array";
/// What an untyped pointer points to: no type.
pub(crate) const UNTYPED: Id = 0;
const ADDRESS: NumberFormat = NumberFormat::Integer(Width::W64);

impl Decoder<'_> {
    /// Notes that something is written behind a root.
    pub(crate) fn note_write(&mut self, root: AccessRoot) {
        match root {
            AccessRoot::Descriptor(index) => drop(self.written.insert(index)),
            AccessRoot::Descriptors { first, length, index: _ } => {
                self.written.extend(first..first + length)
            }
            AccessRoot::Address(_) => {
                self.program.addresses = self.program.addresses.max(Addressing::Writes)
            }
            AccessRoot::Pointer { .. } => self.pointed = self.pointed.max(Addressing::Writes),
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
    let Location::Memory { root: AccessRoot::Address(start), base, dimensions, .. } = &pointer.to
    else {
        return super::variable_pointer::as_value(decoder, pointer);
    };
    let mut address = *start;
    if *base > 0 {
        let base = decoder.constant_number(ADDRESS, u64::from(*base));
        address = compute2(decoder, Binary::IAdd, ADDRESS, address, base)?;
    }
    for dimension in dimensions {
        let index = compute(
            decoder,
            if dimension.signed { SizedOperator::FromSigned } else { SizedOperator::FromUnsigned },
            [NumberFormat::WORD, ADDRESS],
            &[dimension.index.into()],
        )?;
        let stride = decoder.constant_number(ADDRESS, u64::from(dimension.stride));
        let bytes = compute2(decoder, Binary::IMul, ADDRESS, index, stride)?;
        address = compute2(decoder, Binary::IAdd, ADDRESS, address, bytes)?;
    }
    Ok(word_scalars(&[address]).into())
}

/// A value as a pointer.
pub(crate) fn from_address(decoder: &mut Decoder<'_>, id: Id) -> Result<Pointer, Unsupported> {
    let ty = decoder.type_of(id)?;
    let pointee = match decoder.types.get(ty) {
        Some(pointer @ Type::Pointer { pointee, .. }) if is_address(pointer) => *pointee,
        Some(pointer @ Type::UntypedPointer { .. }) if is_address(pointer) => UNTYPED,
        Some(Type::Pointer { storage, pointee }) => {
            return super::variable_pointer::from_value(decoder, id, *storage, *pointee);
        }
        Some(Type::UntypedPointer { storage }) => {
            return super::variable_pointer::from_value(decoder, id, *storage, UNTYPED);
        }
        _ => return Err(unsupported("a value as a pointer")),
    };
    let (_, address) = decoder.number(id)?;
    let name = decoder.name(id);
    decoder.note_reference(address.low, pointee);
    let root = AccessRoot::Address(address);
    let to = Location::Memory {
        root,
        base: 0,
        dimensions: Vec::new(),
        arrangement: Arrangement::Explicit(None),
        name,
    };
    Ok(Pointer { to, ty: pointee })
}

fn equal(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    op: Compare,
) -> Result<(), Unsupported> {
    let numbers = [operand(decoder, instruction, 0)?, operand(decoder, instruction, 1)?];
    let parts: Vec<NumberRegisters> = numbers.iter().map(|numbers| numbers.parts[0]).collect();
    let result = relate(decoder, Relation::Compare(op), ADDRESS, &parts);
    decoder.define(instruction, Value::Scalars(Arc::new([Scalar::Mask(result)])));
    Ok(())
}

/// The ArrayStride of a pointer's type.
pub(crate) fn array_stride(decoder: &Decoder<'_>, pointer: Id) -> Result<Option<u32>, Unsupported> {
    let decorated = decoder.module.decoration(decoder.type_of(pointer)?, Decoration::ArrayStride);
    Ok(decorated.and_then(|decorated| match decorated.operands.first() {
        Some(Operand::LiteralBit32(stride)) => Some(*stride),
        _ => None,
    }))
}

/// OpPtrAccessChain: the pointer as into an array with the ArrayStride of its type, then as any
/// access chain.
fn element(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let base = id(instruction, 0)?;
    let pointer = decoder.pointer(base)?;
    chain_from(decoder, instruction, base, pointer, 1)
}

/// The same behind the type that its elements have.
fn untyped_element(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let base = id(instruction, 1)?;
    let pointer = super::access_chain::retyped(decoder.pointer(base)?, id(instruction, 0)?)?;
    chain_from(decoder, instruction, base, pointer, 2)
}

/// The element whose index is in operand `at`, then the indices behind it.
fn chain_from(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    base: Id,
    pointer: Pointer,
    at: usize,
) -> Result<(), Unsupported> {
    let stride = array_stride(decoder, base)?;
    let index = decoder.number(id(instruction, at)?)?;
    let mut pointer = match &pointer.to {
        Location::Memory { root: AccessRoot::Address(_), .. } => {
            behind_address(decoder, pointer, stride, index)?
        }
        _ => super::variable_pointer::element(decoder, &pointer, stride, index)?,
    };
    for index in instruction.ids().skip(at + 1) {
        pointer = super::access_chain::step_into(decoder, pointer, index)?;
    }
    decoder.define(instruction, Value::Pointer(pointer));
    Ok(())
}

/// Another element of the array that a device address is in.
fn behind_address(
    decoder: &mut Decoder<'_>,
    mut pointer: Pointer,
    stride: Option<u32>,
    (form, index): (NumberFormat, NumberRegisters),
) -> Result<Pointer, Unsupported> {
    let stride = stride.ok_or_else(|| unsupported(NO_STRIDE))?;
    let start = if form.is_word() { None } else { Some(as_address(decoder, &pointer)?) };
    let Location::Memory { root, base, dimensions, .. } = &mut pointer.to else {
        return Err(unsupported(NO_STRIDE));
    };
    let Some(start) = start else {
        dimensions.push(Dimension {
            index: index.low,
            stride,
            bound: DimensionBound::Runtime,
            signed: true,
        });
        return Ok(pointer);
    };
    let word = compute(decoder, SizedOperator::FromSigned, [form, ADDRESS], &[index])?;
    let stride = decoder.constant_number(ADDRESS, u64::from(stride));
    let bytes = compute2(decoder, Binary::IMul, ADDRESS, word, stride)?;
    let start = NumberRegisters { low: word_of(&start, 0)?, high: Some(word_of(&start, 1)?) };
    (*root, *base) =
        (AccessRoot::Address(compute2(decoder, Binary::IAdd, ADDRESS, start, bytes)?), 0);
    dimensions.clear();
    Ok(pointer)
}

fn word_of(scalars: &[Scalar], index: usize) -> Result<crate::ir::Reg, Unsupported> {
    match scalars.get(index) {
        Some(Scalar::Word(reg)) => Ok(*reg),
        _ => Err(unsupported("an address that is no number")),
    }
}
