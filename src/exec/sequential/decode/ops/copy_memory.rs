//! Copies from pointer to pointer.

use super::access_chain::{is_untyped, pointer_to};
use super::memory::{load_from, store_to};
use super::memory_access::access_to;
use super::operand::operand_id;
use crate::decode::decoder::Decoder;
use crate::decode::layout::{MemoryArrangement, ScalarLayout};
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::PointerTarget;
use crate::ir::{LaneInstruction, Scalar};
use std::sync::Arc;
use vkcert_spirv::module::Instruction;

pub(super) fn copy_memory(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let [target_pointer, source_pointer] =
        [operand_id(instruction, 0)?, operand_id(instruction, 1)?];
    // At least one of the two pointers is typed.
    let typed_pointer =
        if is_untyped(decoder, target_pointer)? { source_pointer } else { target_pointer };
    let pointee_type = decoder
        .types
        .pointee(decoder.type_of(typed_pointer)?)
        .ok_or_else(|| unsupported("OpCopyMemory of no type"))?;
    let (target_pointer, source_pointer) = (
        pointer_to(decoder, target_pointer, pointee_type)?,
        pointer_to(decoder, source_pointer, pointee_type)?,
    );
    let value = load_from(decoder, &source_pointer)?;
    store_to(decoder, &target_pointer, &value)
}

/// OpCopyMemorySized: bytes without a type.
pub(super) fn copy_memory_sized(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let byte_count = decoder.constants.scalar_bits(operand_id(instruction, 2)?);
    let byte_count =
        byte_count.ok_or_else(|| unsupported("OpCopyMemorySized of a size that is no constant"))?;
    let byte_count = u32::try_from(byte_count).ok().filter(|byte_count| *byte_count <= MOST_COPIED);
    let byte_count = byte_count.ok_or_else(|| {
        unsupported(format!("OpCopyMemorySized of more than {MOST_COPIED} bytes"))
    })?;
    let (word_count, rest_bytes) = (byte_count / 4, byte_count % 4);
    let whole_words = (0..word_count).map(|word| ScalarLayout { offset: 4 * word, bytes: 4 });
    let scalar_layouts: Vec<ScalarLayout> = whole_words
        .chain((0..rest_bytes).map(|byte| ScalarLayout { offset: 4 * word_count + byte, bytes: 1 }))
        .collect();
    let [target_pointer, source_pointer] = [
        decoder.pointer_of(operand_id(instruction, 0)?)?,
        decoder.pointer_of(operand_id(instruction, 1)?)?,
    ];
    if [&target_pointer, &source_pointer].iter().any(|pointer| {
        matches!(pointer.target, PointerTarget::Memory { arrangement: MemoryArrangement::Flat, .. })
    }) {
        return Err(unsupported("OpCopyMemorySized of memory without a layout"));
    }
    let no_memory = || unsupported("OpCopyMemorySized of what is no memory");
    let source_access =
        access_to(decoder, &source_pointer.target, &scalar_layouts)?.ok_or_else(no_memory)?;
    let target_access =
        access_to(decoder, &target_pointer.target, &scalar_layouts)?.ok_or_else(no_memory)?;
    decoder.note_write(target_access.root);
    let values: Arc<[Scalar]> =
        scalar_layouts.iter().map(|_| Scalar::Word(decoder.new_word())).collect();
    decoder.push_instruction(LaneInstruction::Load {
        access: Arc::new(source_access),
        to: Arc::clone(&values),
    });
    decoder
        .push_instruction(LaneInstruction::Store { access: Arc::new(target_access), from: values });
    Ok(())
}

/// Most bytes that OpCopyMemorySized copies.
pub(super) const MOST_COPIED: u32 = 1 << 14;
