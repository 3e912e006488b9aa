//! Composite instructions (SPIR-V specification, section "Composite Instructions"). A composite is
//! a list of registers, so that only dynamic indices cost anything.

use super::meaning::{OpcodeMeaning, OpcodeRow, opcode_row};
use super::operand::operand_id;
use crate::decode::decoder::Decoder;
use crate::decode::layout::{is_address, is_variable_pointer};
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::{DecodedValue, OpaqueHandle};
use crate::ir::{LaneInstruction, Reg, Scalar};
use rspirv::dr::Operand;
use rspirv::spirv::Op;
use std::ops::Range;
use vkcert_spirv::module::{Id, Instruction};
use vkcert_spirv::types::Type;

pub(crate) const TABLE: &[OpcodeRow] = &[
    opcode_row(Op::CompositeConstruct, OpcodeMeaning::Special(construct_composite)),
    opcode_row(Op::CompositeExtract, OpcodeMeaning::Special(extract_part)),
    opcode_row(Op::CompositeInsert, OpcodeMeaning::Special(insert_part)),
    opcode_row(Op::VectorShuffle, OpcodeMeaning::Special(shuffle_vectors)),
    opcode_row(Op::VectorExtractDynamic, OpcodeMeaning::Special(extract_dynamic)),
    opcode_row(Op::VectorInsertDynamic, OpcodeMeaning::Special(insert_dynamic)),
    opcode_row(Op::CopyObject, OpcodeMeaning::Special(copy_value)),
    opcode_row(Op::CopyLogical, OpcodeMeaning::Special(copy_value)),
    // The expected value has no effect (SPV_KHR_expect_assume).
    opcode_row(Op::ExpectKHR, OpcodeMeaning::Special(copy_value)),
    opcode_row(Op::Undef, OpcodeMeaning::Special(undefined_value)),
];

fn construct_composite(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let mut scalars = Vec::new();
    for part in instruction.ids() {
        scalars.extend_from_slice(&decoder.scalars_of(part)?);
    }
    // A cooperative matrix has one constituent for all elements.
    if let Some(Type::CooperativeMatrix { share, .. }) =
        instruction.result_type.and_then(|type_id| decoder.types.get(type_id))
    {
        scalars = scalars.repeat(*share as usize);
    }
    decoder.define_result(instruction, DecodedValue::Scalars(scalars.into()));
    Ok(())
}

/// The scalars of a part, by literal indices from operand `first` on.
fn part_range(
    decoder: &Decoder<'_>,
    mut type_id: Id,
    instruction: &Instruction,
    first: usize,
) -> Result<Range<usize>, Unsupported> {
    let mut first_scalar = 0;
    for index_operand in &instruction.operands[first..] {
        let Operand::LiteralBit32(index) = index_operand else {
            return Err(unsupported("a composite index that is no literal"));
        };
        for earlier_member in 0..*index {
            let inner_type = decoder
                .types
                .component_type(type_id, earlier_member)
                .ok_or_else(|| unsupported("a composite index out of range"))?;
            first_scalar += decoder.scalar_kinds(inner_type)?.len();
        }
        type_id = decoder
            .types
            .component_type(type_id, *index)
            .ok_or_else(|| unsupported("a composite index out of range"))?;
    }
    Ok(first_scalar..first_scalar + decoder.scalar_kinds(type_id)?.len())
}

fn extract_part(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let composite = operand_id(instruction, 0)?;
    let part_range = part_range(decoder, decoder.type_of(composite)?, instruction, 1)?;
    let scalars = decoder.scalars_of(composite)?;
    let part_scalars =
        scalars.get(part_range).ok_or_else(|| unsupported("a composite index out of range"))?;
    decoder.define_result(instruction, DecodedValue::Scalars(part_scalars.into()));
    Ok(())
}

fn insert_part(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let object_scalars = decoder.scalars_of(operand_id(instruction, 0)?)?;
    let composite = operand_id(instruction, 1)?;
    let part_range = part_range(decoder, decoder.type_of(composite)?, instruction, 2)?;
    let mut scalars = decoder.scalars_of(composite)?.to_vec();
    let part_scalars =
        scalars.get_mut(part_range).ok_or_else(|| unsupported("a composite index out of range"))?;
    part_scalars.copy_from_slice(&object_scalars);
    decoder.define_result(instruction, DecodedValue::Scalars(scalars.into()));
    Ok(())
}

fn shuffle_vectors(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let mut source_scalars = decoder.scalars_of(operand_id(instruction, 0)?)?.to_vec();
    source_scalars.extend_from_slice(&decoder.scalars_of(operand_id(instruction, 1)?)?);
    let result_type =
        instruction.result_type.ok_or_else(|| unsupported("a shuffle without a type"))?;
    let word_count = decoder.form(result_type).map_or(1, |form| form.width().words());
    let mut scalars = Vec::new();
    for operand in &instruction.operands[2..] {
        let Operand::LiteralBit32(index) = operand else {
            return Err(unsupported("a shuffle index that is no literal"));
        };
        // 0xFFFFFFFF: no source, the component is undefined.
        for half in 0..word_count {
            scalars.push(
                match (*index as usize)
                    .checked_mul(word_count)
                    .and_then(|index| source_scalars.get(index + half))
                {
                    Some(scalar) => *scalar,
                    None => undefined_like(decoder, source_scalars[0]),
                },
            );
        }
    }
    decoder.define_result(instruction, DecodedValue::Scalars(scalars.into()));
    Ok(())
}

fn undefined_like(decoder: &mut Decoder<'_>, scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::Word(_) => {
            let undefined_register = decoder.new_word();
            decoder.push_instruction(LaneInstruction::Undefine { to: undefined_register });
            Scalar::Word(undefined_register)
        }
        Scalar::Mask(_) => {
            let undefined_register = decoder.new_mask();
            decoder.push_instruction(LaneInstruction::UndefineMask { to: undefined_register });
            Scalar::Mask(undefined_register)
        }
    }
}

/// An undefined value of a type without scalars. An instruction that uses it is refused.
pub(crate) fn undefined_opaque(decoder: &Decoder<'_>, type_id: Id) -> Option<DecodedValue> {
    has_no_scalars(decoder, type_id).then_some(DecodedValue::Opaque(OpaqueHandle {
        image: None,
        sampler: None,
        type_id,
    }))
}

/// Whether a type is, or holds, an image, a sampler, a runtime array, or a pointer that is no
/// number.
fn has_no_scalars(decoder: &Decoder<'_>, type_id: Id) -> bool {
    match decoder.types.get(type_id) {
        Some(
            Type::Image(_) | Type::Sampler | Type::SampledImage { .. } | Type::RuntimeArray { .. },
        ) => true,
        Some(Type::Array { element, .. }) => has_no_scalars(decoder, *element),
        Some(Type::Structure { members, .. }) => {
            members.iter().any(|member| has_no_scalars(decoder, member.ty))
        }
        Some(pointer @ (Type::Pointer { .. } | Type::UntypedPointer { .. })) => {
            !is_address(pointer) && !is_variable_pointer(pointer)
        }
        _ => false,
    }
}

fn undefined_value(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let result_type =
        instruction.result_type.ok_or_else(|| unsupported("OpUndef without a type"))?;
    if let Some(value) = undefined_opaque(decoder, result_type) {
        decoder.define_result(instruction, value);
        return Ok(());
    }
    let scalars = decoder.new_registers(result_type)?;
    for scalar in scalars.iter() {
        decoder.push_instruction(match scalar {
            Scalar::Word(to) => LaneInstruction::Undefine { to: *to },
            Scalar::Mask(to) => LaneInstruction::UndefineMask { to: *to },
        });
    }
    decoder.define_result(instruction, DecodedValue::Scalars(scalars));
    Ok(())
}

/// The words of a vector's components: all low halves, then all high ones.
fn register_halves(decoder: &mut Decoder<'_>, vector: Id) -> Result<Vec<Vec<Reg>>, Unsupported> {
    let parts = decoder.numbers_of(vector)?.parts;
    let mut register_halves = vec![parts.iter().map(|parts| parts.low).collect::<Vec<_>>()];
    register_halves.extend(parts.iter().map(|parts| parts.high).collect::<Option<Vec<_>>>());
    Ok(register_halves)
}

/// Whether a vector is of numbers and not of Booleans.
fn is_number(decoder: &Decoder<'_>, vector_id: Id) -> Result<bool, Unsupported> {
    Ok(decoder.form(decoder.type_of(vector_id)?).is_some())
}

/// Booleans as words 0 and 1, because dynamic indices work on words only.
fn words_of_masks(decoder: &mut Decoder<'_>, masks: &[Reg]) -> Vec<Reg> {
    let word_of_mask = |mask: &Reg| {
        let result_word = decoder.new_word();
        decoder.push_instruction(LaneInstruction::ToWord { to: result_word, a: *mask });
        result_word
    };
    masks.iter().map(word_of_mask).collect()
}

/// The mask of a word that is 0 or 1.
fn mask_of_word(decoder: &mut Decoder<'_>, word: Reg) -> Scalar {
    let result_mask = decoder.new_mask();
    decoder.push_instruction(LaneInstruction::ToMask { to: result_mask, a: word });
    Scalar::Mask(result_mask)
}

fn push_extraction(decoder: &mut Decoder<'_>, components: Vec<Reg>, index: Reg) -> Reg {
    let to = decoder.new_word();
    decoder.push_instruction(LaneInstruction::ExtractDynamic {
        to,
        from: components.into(),
        index,
    });
    to
}

/// The component at `position` of a vector of which the one at a dynamic index is replaced.
fn push_insertion(
    decoder: &mut Decoder<'_>,
    (old, position): (&Reg, u32),
    inserted: Reg,
    index: Reg,
) -> Reg {
    let (to, old) = (decoder.new_word(), *old);
    decoder.push_instruction(LaneInstruction::InsertDynamic {
        to,
        old,
        value: inserted,
        index,
        position,
    });
    to
}

fn extract_dynamic(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let vector_id = operand_id(instruction, 0)?;
    let (index_register, _) =
        super::access_chain::index_word(decoder, operand_id(instruction, 1)?)?;
    let scalars: Vec<Scalar> = if is_number(decoder, vector_id)? {
        register_halves(decoder, vector_id)?
            .into_iter()
            .map(|half| Scalar::Word(push_extraction(decoder, half, index_register)))
            .collect()
    } else {
        let masks = decoder.masks_of(vector_id)?;
        let words = words_of_masks(decoder, &masks);
        let result_word = push_extraction(decoder, words, index_register);
        vec![mask_of_word(decoder, result_word)]
    };
    decoder.define_result(instruction, DecodedValue::Scalars(scalars.into()));
    Ok(())
}

fn insert_dynamic(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let (vector_id, component_id) = (operand_id(instruction, 0)?, operand_id(instruction, 1)?);
    let (index_register, _) =
        super::access_chain::index_word(decoder, operand_id(instruction, 2)?)?;
    let mut scalars = Vec::new();
    if is_number(decoder, vector_id)? {
        let halves = register_halves(decoder, vector_id)?;
        let (_, inserted_number) = decoder.number_of(component_id)?;
        let mut new_halves = Vec::new();
        for (half, inserted) in halves.iter().zip(inserted_number.words()) {
            new_halves.push(
                half.iter()
                    .zip(0..)
                    .map(|old_and_position| {
                        push_insertion(decoder, old_and_position, inserted, index_register)
                    })
                    .collect::<Vec<_>>(),
            );
        }
        for position in 0..new_halves[0].len() {
            scalars.extend(new_halves.iter().map(|half| Scalar::Word(half[position])));
        }
    } else {
        let masks = decoder.masks_of(vector_id)?;
        let inserted_masks = decoder.masks_of(component_id)?;
        let inserted = words_of_masks(decoder, &inserted_masks)[0];
        for old_and_position in words_of_masks(decoder, &masks).iter().zip(0..) {
            let result_word = push_insertion(decoder, old_and_position, inserted, index_register);
            scalars.push(mask_of_word(decoder, result_word));
        }
    }
    decoder.define_result(instruction, DecodedValue::Scalars(scalars.into()));
    Ok(())
}

fn copy_value(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let copied_value = decoder.value_of(operand_id(instruction, 0)?)?;
    decoder.define_result(instruction, copied_value);
    Ok(())
}
