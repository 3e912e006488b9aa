//! Composite instructions (SPIR-V specification, section "Composite Instructions"). A composite is
//! a list of registers, so that only dynamic indices cost anything.

use super::meaning::{Meaning, Row, row};
use super::operand::id;
use crate::decode::decoder::Decoder;
use crate::decode::layout::{is_address, is_variable};
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::{Opaque, Value};
use crate::ir::{LaneInstruction, Reg, Scalar};
use rspirv::dr::Operand;
use rspirv::spirv::Op;
use std::ops::Range;
use vkcert_spirv::module::{Id, Instruction};
use vkcert_spirv::types::Type;

pub(crate) const TABLE: &[Row] = &[
    row(Op::CompositeConstruct, Meaning::Special(construct)),
    row(Op::CompositeExtract, Meaning::Special(extract)),
    row(Op::CompositeInsert, Meaning::Special(insert)),
    row(Op::VectorShuffle, Meaning::Special(shuffle)),
    row(Op::VectorExtractDynamic, Meaning::Special(extract_dynamic)),
    row(Op::VectorInsertDynamic, Meaning::Special(insert_dynamic)),
    row(Op::CopyObject, Meaning::Special(copy)),
    row(Op::CopyLogical, Meaning::Special(copy)),
    // What it expects of the value has no effect (SPV_KHR_expect_assume).
    row(Op::ExpectKHR, Meaning::Special(copy)),
    row(Op::Undef, Meaning::Special(undefined)),
];

fn construct(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let mut scalars = Vec::new();
    for part in instruction.ids() {
        scalars.extend_from_slice(&decoder.scalars(part)?);
    }
    // A cooperative matrix has one constituent for all elements.
    if let Some(Type::CooperativeMatrix { share, .. }) =
        instruction.result_type.and_then(|ty| decoder.types.get(ty))
    {
        scalars = scalars.repeat(*share as usize);
    }
    decoder.define(instruction, Value::Scalars(scalars.into()));
    Ok(())
}

/// The scalars of a part, by literal indices from operand `first` on.
fn part(
    decoder: &Decoder<'_>,
    mut ty: Id,
    instruction: &Instruction,
    first: usize,
) -> Result<Range<usize>, Unsupported> {
    let mut start = 0;
    for operand in &instruction.operands[first..] {
        let Operand::LiteralBit32(index) = operand else {
            return Err(unsupported("a composite index that is no literal"));
        };
        for before in 0..*index {
            let inner = decoder
                .types
                .component_type(ty, before)
                .ok_or_else(|| unsupported("a composite index out of range"))?;
            start += decoder.kinds(inner)?.len();
        }
        ty = decoder
            .types
            .component_type(ty, *index)
            .ok_or_else(|| unsupported("a composite index out of range"))?;
    }
    Ok(start..start + decoder.kinds(ty)?.len())
}

fn extract(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let composite = id(instruction, 0)?;
    let range = part(decoder, decoder.type_of(composite)?, instruction, 1)?;
    let scalars = decoder.scalars(composite)?;
    let part = scalars.get(range).ok_or_else(|| unsupported("a composite index out of range"))?;
    decoder.define(instruction, Value::Scalars(part.into()));
    Ok(())
}

fn insert(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let object = decoder.scalars(id(instruction, 0)?)?;
    let composite = id(instruction, 1)?;
    let range = part(decoder, decoder.type_of(composite)?, instruction, 2)?;
    let mut scalars = decoder.scalars(composite)?.to_vec();
    let part =
        scalars.get_mut(range).ok_or_else(|| unsupported("a composite index out of range"))?;
    part.copy_from_slice(&object);
    decoder.define(instruction, Value::Scalars(scalars.into()));
    Ok(())
}

fn shuffle(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let mut all = decoder.scalars(id(instruction, 0)?)?.to_vec();
    all.extend_from_slice(&decoder.scalars(id(instruction, 1)?)?);
    let ty = instruction.result_type.ok_or_else(|| unsupported("a shuffle without a type"))?;
    let words = decoder.form(ty).map_or(1, |form| form.width().words());
    let mut scalars = Vec::new();
    for operand in &instruction.operands[2..] {
        let Operand::LiteralBit32(index) = operand else {
            return Err(unsupported("a shuffle index that is no literal"));
        };
        // 0xFFFFFFFF: no source, the component is undefined.
        for half in 0..words {
            scalars.push(
                match (*index as usize).checked_mul(words).and_then(|index| all.get(index + half)) {
                    Some(scalar) => *scalar,
                    None => undefined_like(decoder, all[0]),
                },
            );
        }
    }
    decoder.define(instruction, Value::Scalars(scalars.into()));
    Ok(())
}

fn undefined_like(decoder: &mut Decoder<'_>, scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::Word(_) => {
            let to = decoder.word();
            decoder.push(LaneInstruction::Undefine { to });
            Scalar::Word(to)
        }
        Scalar::Mask(_) => {
            let to = decoder.mask();
            decoder.push(LaneInstruction::UndefineMask { to });
            Scalar::Mask(to)
        }
    }
}

/// An undefined value of a type that has no scalars: what uses it is refused, and mostly nothing
/// does.
pub(crate) fn undefined_opaque(decoder: &Decoder<'_>, ty: Id) -> Option<Value> {
    has_no_scalars(decoder, ty).then_some(Value::Opaque(Opaque { image: None, sampler: None, ty }))
}

/// Whether a type is, or holds, an image, a sampler, a runtime array, or a pointer that is no
/// number.
fn has_no_scalars(decoder: &Decoder<'_>, ty: Id) -> bool {
    match decoder.types.get(ty) {
        Some(
            Type::Image(_) | Type::Sampler | Type::SampledImage { .. } | Type::RuntimeArray { .. },
        ) => true,
        Some(Type::Array { element, .. }) => has_no_scalars(decoder, *element),
        Some(Type::Structure { members, .. }) => {
            members.iter().any(|member| has_no_scalars(decoder, member.ty))
        }
        Some(pointer @ (Type::Pointer { .. } | Type::UntypedPointer { .. })) => {
            !is_address(pointer) && !is_variable(pointer)
        }
        _ => false,
    }
}

fn undefined(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let ty = instruction.result_type.ok_or_else(|| unsupported("OpUndef without a type"))?;
    if let Some(value) = undefined_opaque(decoder, ty) {
        decoder.define(instruction, value);
        return Ok(());
    }
    let scalars = decoder.fresh(ty)?;
    for scalar in scalars.iter() {
        decoder.push(match scalar {
            Scalar::Word(to) => LaneInstruction::Undefine { to: *to },
            Scalar::Mask(to) => LaneInstruction::UndefineMask { to: *to },
        });
    }
    decoder.define(instruction, Value::Scalars(scalars));
    Ok(())
}

/// The words of a vector's components: all low halves, then all high ones.
fn halves(decoder: &mut Decoder<'_>, vector: Id) -> Result<Vec<Vec<Reg>>, Unsupported> {
    let parts = decoder.numbers(vector)?.parts;
    let mut halves = vec![parts.iter().map(|parts| parts.low).collect::<Vec<_>>()];
    halves.extend(parts.iter().map(|parts| parts.high).collect::<Option<Vec<_>>>());
    Ok(halves)
}

/// Whether a vector is of numbers and not of Booleans.
fn is_number(decoder: &Decoder<'_>, vector: Id) -> Result<bool, Unsupported> {
    Ok(decoder.form(decoder.type_of(vector)?).is_some())
}

/// A Boolean's index is asked of words: 0 and 1.
fn as_words(decoder: &mut Decoder<'_>, masks: &[Reg]) -> Vec<Reg> {
    let word = |mask: &Reg| {
        let to = decoder.word();
        decoder.push(LaneInstruction::ToWord { to, a: *mask });
        to
    };
    masks.iter().map(word).collect()
}

/// The mask of a word that is 0 or 1.
fn as_mask(decoder: &mut Decoder<'_>, word: Reg) -> Scalar {
    let to = decoder.mask();
    decoder.push(LaneInstruction::ToMask { to, a: word });
    Scalar::Mask(to)
}

fn extract_dynamic(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let vector = id(instruction, 0)?;
    let (index, _) = super::access_chain::index_word(decoder, id(instruction, 1)?)?;
    let pick = |decoder: &mut Decoder<'_>, from: Vec<Reg>| {
        let to = decoder.word();
        decoder.push(LaneInstruction::ExtractDynamic { to, from: from.into(), index });
        to
    };
    let scalars: Vec<Scalar> = if is_number(decoder, vector)? {
        halves(decoder, vector)?.into_iter().map(|half| Scalar::Word(pick(decoder, half))).collect()
    } else {
        let masks = decoder.masks(vector)?;
        let words = as_words(decoder, &masks);
        let word = pick(decoder, words);
        vec![as_mask(decoder, word)]
    };
    decoder.define(instruction, Value::Scalars(scalars.into()));
    Ok(())
}

fn insert_dynamic(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let (vector, component) = (id(instruction, 0)?, id(instruction, 1)?);
    let (index, _) = super::access_chain::index_word(decoder, id(instruction, 2)?)?;
    let put = |decoder: &mut Decoder<'_>, (old, position): (&Reg, u32), value: Reg| {
        let to = decoder.word();
        decoder.push(LaneInstruction::InsertDynamic { to, old: *old, value, index, position });
        to
    };
    let mut scalars = Vec::new();
    if is_number(decoder, vector)? {
        let (halves, value) = (halves(decoder, vector)?, decoder.number(component)?.1);
        let mut new = Vec::new();
        for (half, value) in halves.iter().zip(value.registers()) {
            new.push(half.iter().zip(0..).map(|one| put(decoder, one, value)).collect::<Vec<_>>());
        }
        for position in 0..new[0].len() {
            scalars.extend(new.iter().map(|half| Scalar::Word(half[position])));
        }
    } else {
        let (masks, value) = (decoder.masks(vector)?, decoder.masks(component)?);
        let value = as_words(decoder, &value)[0];
        for one in as_words(decoder, &masks).iter().zip(0..) {
            let word = put(decoder, one, value);
            scalars.push(as_mask(decoder, word));
        }
    }
    decoder.define(instruction, Value::Scalars(scalars.into()));
    Ok(())
}

fn copy(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let value = decoder.value(id(instruction, 0)?)?;
    decoder.define(instruction, value);
    Ok(())
}
