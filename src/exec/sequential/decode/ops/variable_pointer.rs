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
use super::number::{
    compute_binary, compute_number, define_numbers, number_operand, push_relation,
};
use super::pointer::{NO_STRIDE, array_stride};
use crate::decode::decoder::Decoder;
use crate::decode::layout;
use crate::decode::layout::MemoryArrangement;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::{Pointer, PointerTarget};
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
use vkcert_spirv::types::Type;

/// The registers of a pointer as a value.
pub(crate) fn pointer_as_value(
    decoder: &mut Decoder<'_>,
    pointer: &Pointer,
) -> Result<Arc<[Scalar]>, Unsupported> {
    Ok(word_scalars(&[pointer_words(decoder, pointer)?]).into())
}

/// Bytes from the start of the object, and its number.
fn pointer_words(
    decoder: &mut Decoder<'_>,
    pointer: &Pointer,
) -> Result<NumberRegisters, Unsupported> {
    let PointerTarget::Memory { root, base: base_offset, dimensions, arrangement, name } =
        &pointer.target
    else {
        return Err(unsupported("a pointer as a value that leads into no memory"));
    };
    note_pointee_layout(decoder, pointer.pointee_type, *arrangement)?;
    let (object_register, object_start) = match root {
        AccessRoot::Pointer { which: object_register, into: _ } => (*object_register, 0),
        AccessRoot::Descriptor(_) => (
            object_register(
                decoder,
                PointedObject { root: *root, window: None, name: Arc::clone(name) },
            ),
            0,
        ),
        AccessRoot::Workgroup => {
            let containing_variable = decoder
                .workgroup_variables
                .iter()
                .rev()
                .find(|[object_start, _]| object_start <= base_offset)
                .copied();
            let [object_start, word_count] =
                containing_variable.ok_or_else(|| unsupported("a pointer into no variable"))?;
            let window = Some([object_start / 4, word_count]);
            (
                object_register(
                    decoder,
                    PointedObject { root: *root, window, name: Arc::clone(name) },
                ),
                object_start,
            )
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
    let mut offset = decoder.constant_word(base_offset - object_start);
    for dimension in dimensions {
        let stride_register = decoder.constant_word(dimension.stride);
        let byte_offset = match dimension.stride {
            1 => dimension.index,
            _ => {
                compute_binary(
                    decoder,
                    Binary::IMul,
                    NumberFormat::WORD,
                    dimension.index.into(),
                    stride_register.into(),
                )?
                .low
            }
        };
        offset = compute_binary(
            decoder,
            Binary::IAdd,
            NumberFormat::WORD,
            offset.into(),
            byte_offset.into(),
        )?
        .low;
    }
    Ok(NumberRegisters { low: offset, high: Some(object_register) })
}

/// Notes the arrangement of the pointee by its type, because the pointer's value does not hold it.
fn note_pointee_layout(
    decoder: &mut Decoder<'_>,
    type_id: Id,
    arrangement: MemoryArrangement,
) -> Result<(), Unsupported> {
    let own_layout = match (decoder.types.get(type_id), arrangement) {
        (_, MemoryArrangement::Flat) => return Ok(()),
        // A number has the same layout in every arrangement.
        (Some(Type::Int { .. } | Type::Float { .. } | Type::BFloat16), _) => {
            MemoryArrangement::Explicit(None)
        }
        (_, arrangement) => arrangement,
    };
    let has_untyped = decoder.types.iter().any(|(_, ty)| matches!(ty, Type::UntypedPointer { .. }));
    if has_untyped && own_layout != MemoryArrangement::Explicit(None) {
        return Err(unsupported("a variable pointer into a matrix beside untyped pointers"));
    }
    match decoder.pointed_layouts.insert(type_id, own_layout) {
        Some(known_layout) if known_layout != own_layout => {
            Err(unsupported("variable pointers into matrices of several layouts"))
        }
        _ => Ok(()),
    }
}

/// The arrangement of what a pointer value points to.
fn pointee_layout(
    decoder: &mut Decoder<'_>,
    type_id: Id,
) -> Result<MemoryArrangement, Unsupported> {
    let known_layout = decoder.pointed_layouts.get(&type_id).copied();
    if known_layout.is_none() && matches!(decoder.types.get(type_id), Some(Type::Matrix { .. })) {
        return Err(unsupported(
            "a variable pointer to a matrix whose layout is not known before it is followed",
        ));
    }
    // Pointers that are decoded later must have the same arrangement.
    Ok(*decoder.pointed_layouts.entry(type_id).or_insert(MemoryArrangement::Explicit(None)))
}

/// The same pointer with the bounds of its object.
pub(crate) fn bounded_pointer(
    decoder: &mut Decoder<'_>,
    pointer: &Pointer,
) -> Result<Pointer, Unsupported> {
    let pointer_words = pointer_words(decoder, pointer)?;
    match &pointer.target {
        PointerTarget::Memory { root, arrangement, name, .. } => {
            let pointed_memory =
                if root.is_buffer() { PointedMemory::Buffers } else { PointedMemory::Workgroup };
            pointer_at(
                pointer_words,
                pointed_memory,
                pointer.pointee_type,
                (*arrangement, Arc::clone(name)),
            )
        }
        _ => Err(unsupported("a pointer into no memory")),
    }
}

/// A register with the number of an object.
fn object_register(decoder: &mut Decoder<'_>, pointed_object: PointedObject) -> Reg {
    let objects = &mut decoder.program.objects;
    let known_index = objects.iter().position(|known_object| {
        (known_object.root, known_object.window) == (pointed_object.root, pointed_object.window)
    });
    let object_index = known_index.unwrap_or_else(|| {
        objects.push(pointed_object);
        objects.len() - 1
    });
    decoder.constant_word(object_index as u32 + 1)
}

/// A value as a pointer.
pub(crate) fn pointer_from_value(
    decoder: &mut Decoder<'_>,
    value_id: Id,
    storage_class: StorageClass,
    pointee_type: Id,
) -> Result<Pointer, Unsupported> {
    let (_, pointer_words) = decoder.number_of(value_id)?;
    let value_name = decoder.variable_name(value_id);
    let (pointed_memory, arrangement) = match storage_class {
        StorageClass::Workgroup if has_workgroup_blocks(decoder) => {
            (PointedMemory::Workgroup, pointee_layout(decoder, pointee_type)?)
        }
        StorageClass::Workgroup => (PointedMemory::Workgroup, MemoryArrangement::Flat),
        StorageClass::StorageBuffer => {
            (PointedMemory::Buffers, pointee_layout(decoder, pointee_type)?)
        }
        other_class => {
            return Err(unsupported(format!(
                "a pointer as a value in storage class {other_class:?}"
            )));
        }
    };
    pointer_at(pointer_words, pointed_memory, pointee_type, (arrangement, value_name))
}

fn pointer_at(
    pointer_words: NumberRegisters,
    pointed_memory: PointedMemory,
    type_id: Id,
    (arrangement, name): (MemoryArrangement, Arc<str>),
) -> Result<Pointer, Unsupported> {
    let object_register = pointer_words.high.ok_or_else(|| unsupported("a pointer of one word"))?;
    let byte_offset = Dimension {
        index: pointer_words.low,
        stride: 1,
        bound: DimensionBound::Fixed(u32::MAX),
        signed: true,
    };
    let target = PointerTarget::Memory {
        root: AccessRoot::Pointer { which: object_register, into: pointed_memory },
        base: 0,
        dimensions: vec![byte_offset],
        arrangement,
        name,
    };
    Ok(Pointer { target, pointee_type: type_id })
}

/// Whether workgroup memory has explicit layouts: then all of its variables are blocks.
fn has_workgroup_blocks(decoder: &Decoder<'_>) -> bool {
    let globals =
        decoder.module.instructions.iter().take_while(|instruction| instruction.op != Op::Function);
    globals.into_iter().any(|instruction| match decoder.types.variable_contents(instruction) {
        Some((StorageClass::Workgroup, _)) if instruction.op == Op::UntypedVariableKHR => true,
        Some((StorageClass::Workgroup, contents_type)) => {
            layout::is_block(&decoder.types, contents_type)
        }
        _ => false,
    })
}

/// Bytes from one element to the next where a pointer is taken as into an array.
fn element_stride(
    decoder: &Decoder<'_>,
    pointer: &Pointer,
    declared_stride: Option<u32>,
) -> Result<u32, Unsupported> {
    match &pointer.target {
        PointerTarget::Memory { arrangement: MemoryArrangement::Flat, .. } => {
            let word_count =
                layout::flat_size(&decoder.types, &decoder.constants, pointer.pointee_type)?;
            word_count
                .checked_mul(4)
                .ok_or_else(|| unsupported("an element of more than 2^32 bytes"))
        }
        _ => declared_stride.filter(|stride| *stride > 0).ok_or_else(|| unsupported(NO_STRIDE)),
    }
}

/// Another element of the array that a pointer is in.
pub(crate) fn element_pointer(
    decoder: &mut Decoder<'_>,
    pointer: &Pointer,
    stride: Option<u32>,
    (index_format, element_index): (NumberFormat, NumberRegisters),
) -> Result<Pointer, Unsupported> {
    let pointer_words = pointer_words(decoder, pointer)?;
    let PointerTarget::Memory { root, arrangement, name, .. } = &pointer.target else {
        return Err(unsupported(NO_STRIDE));
    };
    let stride = element_stride(decoder, pointer, stride)?;
    let element_index = if index_format.is_word() {
        element_index
    } else {
        compute_number(
            decoder,
            SizedOperator::FromSigned,
            [index_format, NumberFormat::WORD],
            &[element_index],
        )?
    };
    let stride = decoder.constant_word(stride);
    let byte_offset =
        compute_binary(decoder, Binary::IMul, NumberFormat::WORD, element_index, stride.into())?;
    let offset = compute_binary(
        decoder,
        Binary::IAdd,
        NumberFormat::WORD,
        pointer_words.low.into(),
        byte_offset,
    )?;
    let pointed_memory =
        if root.is_buffer() { PointedMemory::Buffers } else { PointedMemory::Workgroup };
    pointer_at(
        NumberRegisters { low: offset.low, high: pointer_words.high },
        pointed_memory,
        pointer.pointee_type,
        (*arrangement, Arc::clone(name)),
    )
}

/// OpPtrDiff: elements from the second pointer to the first; both must be in the same array.
pub(crate) fn pointer_difference(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let first_id = super::operand::operand_id(instruction, 0)?;
    let (declared_stride, pointer) =
        (array_stride(decoder, first_id)?, decoder.pointer_of(first_id)?);
    match &pointer.target {
        PointerTarget::Memory {
            root: AccessRoot::Descriptor(_) | AccessRoot::Workgroup | AccessRoot::Pointer { .. },
            ..
        } => {}
        _ => return Err(unsupported("OpPtrDiff of pointers that are no variable pointers")),
    }
    let stride = element_stride(decoder, &pointer, declared_stride)?;
    let [first_pointer, second_pointer] = [
        number_operand(decoder, instruction, 0)?.parts[0],
        number_operand(decoder, instruction, 1)?.parts[0],
    ];
    let byte_difference = compute_binary(
        decoder,
        Binary::ISub,
        NumberFormat::WORD,
        first_pointer.low.into(),
        second_pointer.low.into(),
    )?;
    let stride = decoder.constant_word(stride);
    let equal = Relation::Compare(Compare::IEqual);
    let element_difference =
        compute_binary(decoder, Binary::SDiv, NumberFormat::WORD, byte_difference, stride.into())?;
    if let (Some(first_object), Some(second_object)) = (first_pointer.high, second_pointer.high) {
        // A remainder of negative numbers would be a finding.
        let multiplied_back = compute_binary(
            decoder,
            Binary::IMul,
            NumberFormat::WORD,
            element_difference,
            stride.into(),
        )?;
        let is_whole =
            push_relation(decoder, equal, NumberFormat::WORD, &[multiplied_back, byte_difference]);
        let is_same_object = push_relation(
            decoder,
            equal,
            NumberFormat::WORD,
            &[first_object.into(), second_object.into()],
        );
        let condition = decoder.new_mask();
        decoder.push_instruction(LaneInstruction::Logic {
            table: AND,
            to: condition,
            a: is_whole,
            b: is_same_object,
        });
        let otherwise =
            "the difference of pointers that are not in the same array is undefined (OpPtrDiff)";
        decoder.push_instruction(LaneInstruction::Assume { condition, otherwise });
    }
    let result_format = decoder.result_form(instruction)?;
    let result = if result_format.is_word() {
        element_difference
    } else {
        compute_number(
            decoder,
            SizedOperator::FromSigned,
            [NumberFormat::WORD, result_format],
            &[element_difference],
        )?
    };
    define_numbers(decoder, instruction, &[result]);
    Ok(())
}
