//! Copies from pointer to pointer.

use super::access_chain::{is_untyped, pointer_to};
use super::memory::{load_from, store_to};
use super::memory_access::access_to;
use super::operand::id;
use crate::decode::decoder::Decoder;
use crate::decode::layout::{Arrangement, Part};
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::Location;
use crate::ir::{LaneInstruction, Scalar};
use std::sync::Arc;
use vkcert_spirv::module::Instruction;

pub(super) fn copy_memory(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let [to, from] = [id(instruction, 0)?, id(instruction, 1)?];
    // At least one of the two says what is copied.
    let typed = if is_untyped(decoder, to)? { from } else { to };
    let ty = decoder
        .types
        .pointee(decoder.type_of(typed)?)
        .ok_or_else(|| unsupported("OpCopyMemory of no type"))?;
    let (to, from) = (pointer_to(decoder, to, ty)?, pointer_to(decoder, from, ty)?);
    let value = load_from(decoder, &from)?;
    store_to(decoder, &to, &value)
}

/// OpCopyMemorySized: bytes, whatever they are.
pub(super) fn copy_memory_sized(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let size = decoder.constants.scalar_bits(id(instruction, 2)?);
    let size =
        size.ok_or_else(|| unsupported("OpCopyMemorySized of a size that is no constant"))?;
    let size = u32::try_from(size).ok().filter(|size| *size <= MOST_COPIED);
    let size = size.ok_or_else(|| {
        unsupported(format!("OpCopyMemorySized of more than {MOST_COPIED} bytes"))
    })?;
    let (words, rest) = (size / 4, size % 4);
    let whole = (0..words).map(|word| Part { offset: 4 * word, bytes: 4 });
    let parts: Vec<Part> =
        whole.chain((0..rest).map(|byte| Part { offset: 4 * words + byte, bytes: 1 })).collect();
    let [to, from] = [decoder.pointer(id(instruction, 0)?)?, decoder.pointer(id(instruction, 1)?)?];
    if [&to, &from]
        .iter()
        .any(|one| matches!(one.to, Location::Memory { arrangement: Arrangement::Flat, .. }))
    {
        return Err(unsupported("OpCopyMemorySized of memory without a layout"));
    }
    let no_memory = || unsupported("OpCopyMemorySized of what is no memory");
    let from = access_to(decoder, &from.to, &parts)?.ok_or_else(no_memory)?;
    let into = access_to(decoder, &to.to, &parts)?.ok_or_else(no_memory)?;
    decoder.note_write(into.root);
    let values: Arc<[Scalar]> = parts.iter().map(|_| Scalar::Word(decoder.word())).collect();
    decoder.push(LaneInstruction::Load { access: Arc::new(from), to: values.clone() });
    decoder.push(LaneInstruction::Store { access: Arc::new(into), from: values });
    Ok(())
}

/// Most bytes that OpCopyMemorySized copies.
pub(super) const MOST_COPIED: u32 = 1 << 14;
