//! Variable pointers (SPIR-V specification, "Variable pointer"; SPV_KHR_variable_pointers):
//! pointers into storage buffers and workgroup memory that are selected, passed on, stored and
//! compared at run time.
//!
//! Knows: such a pointer is two words, the bytes from the start of its object and which object that
//! is (a buffer, or a variable of workgroup memory); 0 and 0 is the null pointer.
//! Promises: an access outside the object is found, also where it would hit another object; a
//! pointer that is null or uninitialised is found where it is followed. Pointers into matrices have
//! the layout of the matrix, which one type may have one of.
//! Does not cover: an index that leaves an array inside its object, once the pointer is a value;
//! pointers into matrices of several layouts, and ones chosen among the descriptors of an array by
//! a dynamic index, as values.

use super::logic::AND;
use super::number::{compute, compute2, define, operand, relate};
use super::pointer::{NO_STRIDE, array_stride};
use crate::decode::decoder::Decoder;
use crate::decode::layout;
use crate::decode::layout::Arrangement;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::{Location, Pointer};
use crate::ir::word_scalars;
use crate::ir::{
    AccessRoot, Dimension, DimensionBound, LaneInstruction, NumberRegisters, PointedMemory,
    PointedObject, Reg, Scalar,
};
use rspirv::spirv::{Op, StorageClass};
use std::sync::Arc;
use vkcert_spirv::module::{Id, Instruction};
use vkcert_spirv::operation::operator::{Binary, Compare};
use vkcert_spirv::operation::sized::{NumberFormat, Relation, SizedOperator};
use vkcert_spirv::types::{BlockKind, Type};

/// The registers of a pointer as a value.
pub(crate) fn as_value(
    decoder: &mut Decoder<'_>,
    pointer: &Pointer,
) -> Result<Arc<[Scalar]>, Unsupported> {
    Ok(word_scalars(&[parts(decoder, pointer)?]).into())
}

/// Bytes from the start of the object, and its number.
fn parts(decoder: &mut Decoder<'_>, pointer: &Pointer) -> Result<NumberRegisters, Unsupported> {
    let Location::Memory { root, base, dimensions, arrangement, name } = &pointer.to else {
        return Err(unsupported("a pointer as a value that leads into no memory"));
    };
    note_layout(decoder, pointer.ty, *arrangement)?;
    let (which, start) = match root {
        AccessRoot::Pointer { which, into: _ } => (*which, 0),
        AccessRoot::Descriptor(_) => {
            (object(decoder, PointedObject { root: *root, window: None, name: name.clone() }), 0)
        }
        AccessRoot::Workgroup => {
            let place =
                decoder.workgroup_places.iter().rev().find(|[start, _]| start <= base).copied();
            let [start, words] = place.ok_or_else(|| unsupported("a pointer into no variable"))?;
            let window = Some([start / 4, words]);
            (object(decoder, PointedObject { root: *root, window, name: name.clone() }), start)
        }
        AccessRoot::Descriptors { .. } => {
            return Err(unsupported(
                "a variable pointer into an array of buffers by an index that is no constant",
            ));
        }
        AccessRoot::Invocation
        | AccessRoot::PushConstant
        | AccessRoot::Address(_)
        | AccessRoot::Buffer(_) => {
            return Err(unsupported(
                "a variable pointer into memory that is no storage buffer or workgroup variable",
            ));
        }
    };
    let mut offset = decoder.constant_word(base - start);
    for dimension in dimensions {
        let stride = decoder.constant_word(dimension.stride);
        let bytes = match dimension.stride {
            1 => dimension.index,
            _ => {
                compute2(
                    decoder,
                    Binary::IMul,
                    NumberFormat::WORD,
                    dimension.index.into(),
                    stride.into(),
                )?
                .low
            }
        };
        offset =
            compute2(decoder, Binary::IAdd, NumberFormat::WORD, offset.into(), bytes.into())?.low;
    }
    Ok(NumberRegisters { low: offset, high: Some(which) })
}

/// Remembers how what a pointer points to lies in memory: its value does not say it, and the type
/// has to.
fn note_layout(
    decoder: &mut Decoder<'_>,
    ty: Id,
    arrangement: Arrangement,
) -> Result<(), Unsupported> {
    let own = match (decoder.types.get(ty), arrangement) {
        (_, Arrangement::Flat) => return Ok(()),
        // A number lies anywhere in the same way.
        (Some(Type::Int { .. } | Type::Float { .. } | Type::BFloat16), _) => {
            Arrangement::Explicit(None)
        }
        (_, arrangement) => arrangement,
    };
    let untyped = decoder.types.iter().any(|(_, ty)| matches!(ty, Type::UntypedPointer { .. }));
    if untyped && own != Arrangement::Explicit(None) {
        return Err(unsupported("a variable pointer into a matrix beside untyped pointers"));
    }
    match decoder.pointed_layouts.insert(ty, own) {
        Some(known) if known != own => {
            Err(unsupported("variable pointers into matrices of several layouts"))
        }
        _ => Ok(()),
    }
}

/// How what a pointer of a value points to lies in memory.
fn layout_of(decoder: &mut Decoder<'_>, ty: Id) -> Result<Arrangement, Unsupported> {
    let known = decoder.pointed_layouts.get(&ty).copied();
    if known.is_none() && matches!(decoder.types.get(ty), Some(Type::Matrix { .. })) {
        return Err(unsupported(
            "a variable pointer to a matrix whose layout is not known before it is followed",
        ));
    }
    // What is made later must agree.
    Ok(*decoder.pointed_layouts.entry(ty).or_insert(Arrangement::Explicit(None)))
}

/// The same pointer with the bounds of its object.
pub(crate) fn bounded(
    decoder: &mut Decoder<'_>,
    pointer: &Pointer,
) -> Result<Pointer, Unsupported> {
    let parts = parts(decoder, pointer)?;
    match &pointer.to {
        Location::Memory { root, arrangement, name, .. } => {
            let into =
                if root.is_buffer() { PointedMemory::Buffers } else { PointedMemory::Workgroup };
            at(parts, into, pointer.ty, (*arrangement, name.clone()))
        }
        _ => Err(unsupported("a pointer into no memory")),
    }
}

/// A register with the number of an object.
fn object(decoder: &mut Decoder<'_>, object: PointedObject) -> Reg {
    let objects = &mut decoder.program.objects;
    let known =
        objects.iter().position(|one| (one.root, one.window) == (object.root, object.window));
    let index = known.unwrap_or_else(|| {
        objects.push(object);
        objects.len() - 1
    });
    decoder.constant_word(index as u32 + 1)
}

/// A value as a pointer.
pub(crate) fn from_value(
    decoder: &mut Decoder<'_>,
    id: Id,
    storage: StorageClass,
    pointee: Id,
) -> Result<Pointer, Unsupported> {
    let (_, parts) = decoder.number(id)?;
    let name = decoder.name(id);
    let (into, arrangement) = match storage {
        StorageClass::Workgroup if has_workgroup_blocks(decoder) => {
            (PointedMemory::Workgroup, layout_of(decoder, pointee)?)
        }
        StorageClass::Workgroup => (PointedMemory::Workgroup, Arrangement::Flat),
        StorageClass::StorageBuffer => (PointedMemory::Buffers, layout_of(decoder, pointee)?),
        other => {
            return Err(unsupported(format!("a pointer as a value in storage class {other:?}")));
        }
    };
    at(parts, into, pointee, (arrangement, name))
}

fn at(
    parts: NumberRegisters,
    into: PointedMemory,
    ty: Id,
    (arrangement, name): (Arrangement, Arc<str>),
) -> Result<Pointer, Unsupported> {
    let which = parts.high.ok_or_else(|| unsupported("a pointer of one word"))?;
    let offset = Dimension {
        index: parts.low,
        stride: 1,
        bound: DimensionBound::Fixed(u32::MAX),
        signed: true,
    };
    let to = Location::Memory {
        root: AccessRoot::Pointer { which, into },
        base: 0,
        dimensions: vec![offset],
        arrangement,
        name,
    };
    Ok(Pointer { to, ty })
}

/// Whether workgroup memory has layouts of its own: then all of its variables are blocks.
fn has_workgroup_blocks(decoder: &Decoder<'_>) -> bool {
    let globals = decoder.module.instructions.iter().take_while(|one| one.op != Op::Function);
    globals.into_iter().any(|one| match decoder.types.variable_contents(one) {
        Some((StorageClass::Workgroup, _)) if one.op == Op::UntypedVariableKHR => true,
        Some((StorageClass::Workgroup, held)) => {
            matches!(decoder.types.get(held), Some(Type::Structure { block, .. }) if *block != BlockKind::None)
        }
        _ => false,
    })
}

/// Bytes from one element to the next where a pointer is taken as into an array.
fn stride_of(
    decoder: &Decoder<'_>,
    pointer: &Pointer,
    decorated: Option<u32>,
) -> Result<u32, Unsupported> {
    match &pointer.to {
        Location::Memory { arrangement: Arrangement::Flat, .. } => {
            let words = layout::flat_size(&decoder.types, &decoder.constants, pointer.ty)?;
            words.checked_mul(4).ok_or_else(|| unsupported("an element of more than 2^32 bytes"))
        }
        _ => decorated.filter(|stride| *stride > 0).ok_or_else(|| unsupported(NO_STRIDE)),
    }
}

/// Another element of the array that a pointer is in.
pub(crate) fn element(
    decoder: &mut Decoder<'_>,
    pointer: &Pointer,
    stride: Option<u32>,
    (form, index): (NumberFormat, NumberRegisters),
) -> Result<Pointer, Unsupported> {
    let start = parts(decoder, pointer)?;
    let Location::Memory { root, arrangement, name, .. } = &pointer.to else {
        return Err(unsupported(NO_STRIDE));
    };
    let stride = stride_of(decoder, pointer, stride)?;
    let index = if form.is_word() {
        index
    } else {
        compute(decoder, SizedOperator::FromSigned, [form, NumberFormat::WORD], &[index])?
    };
    let stride = decoder.constant_word(stride);
    let bytes = compute2(decoder, Binary::IMul, NumberFormat::WORD, index, stride.into())?;
    let offset = compute2(decoder, Binary::IAdd, NumberFormat::WORD, start.low.into(), bytes)?;
    let into = if root.is_buffer() { PointedMemory::Buffers } else { PointedMemory::Workgroup };
    at(
        NumberRegisters { low: offset.low, high: start.high },
        into,
        pointer.ty,
        (*arrangement, name.clone()),
    )
}

/// OpPtrDiff: elements from the second pointer to the first; both must be in the same array.
pub(crate) fn difference(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let first = super::operand::id(instruction, 0)?;
    let (decorated, pointer) = (array_stride(decoder, first)?, decoder.pointer(first)?);
    match &pointer.to {
        Location::Memory {
            root: AccessRoot::Descriptor(_) | AccessRoot::Workgroup | AccessRoot::Pointer { .. },
            ..
        } => {}
        _ => return Err(unsupported("OpPtrDiff of pointers that are no variable pointers")),
    }
    let stride = stride_of(decoder, &pointer, decorated)?;
    let [one, other] =
        [operand(decoder, instruction, 0)?.parts[0], operand(decoder, instruction, 1)?.parts[0]];
    let bytes =
        compute2(decoder, Binary::ISub, NumberFormat::WORD, one.low.into(), other.low.into())?;
    let stride = decoder.constant_word(stride);
    let equal = Relation::Compare(Compare::IEqual);
    let elements = compute2(decoder, Binary::SDiv, NumberFormat::WORD, bytes, stride.into())?;
    if let (Some(one), Some(other)) = (one.high, other.high) {
        // A remainder of negative numbers would be a finding.
        let back = compute2(decoder, Binary::IMul, NumberFormat::WORD, elements, stride.into())?;
        let whole = relate(decoder, equal, NumberFormat::WORD, &[back, bytes]);
        let same = relate(decoder, equal, NumberFormat::WORD, &[one.into(), other.into()]);
        let condition = decoder.mask();
        decoder.push(LaneInstruction::Logic { table: AND, to: condition, a: whole, b: same });
        let otherwise =
            "the difference of pointers that are not in the same array is undefined (OpPtrDiff)";
        decoder.push(LaneInstruction::Assume { condition, otherwise });
    }
    let form = decoder.result_form(instruction)?;
    let result = if form.is_word() {
        elements
    } else {
        compute(decoder, SizedOperator::FromSigned, [NumberFormat::WORD, form], &[elements])?
    };
    define(decoder, instruction, &[result]);
    Ok(())
}
