//! Composite instructions (SPIR-V specification, section "Composite Instructions"). A composite is a list of registers,
//! so that only dynamic indices cost anything.

use super::{Meaning, Row, id, operand_words, row};
use crate::exec::sequential::decode::{Decoder, Unsupported, Value, unsupported};
use crate::exec::sequential::program::{Action, Scalar};
use crate::spirv::module::{Id, Instruction};
use rspirv::dr::Operand;
use rspirv::spirv::Op;
use std::ops::Range;

pub const TABLE: &[Row] = &[
    row(Op::CompositeConstruct, Meaning::Special(construct)),
    row(Op::CompositeExtract, Meaning::Special(extract)),
    row(Op::CompositeInsert, Meaning::Special(insert)),
    row(Op::VectorShuffle, Meaning::Special(shuffle)),
    row(Op::VectorExtractDynamic, Meaning::Special(extract_dynamic)),
    row(Op::VectorInsertDynamic, Meaning::Special(insert_dynamic)),
    row(Op::CopyObject, Meaning::Special(copy)),
    row(Op::CopyLogical, Meaning::Special(copy)),
    row(Op::Undef, Meaning::Special(undefined)),
];

fn construct(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let mut scalars = Vec::new();
    for part in instruction.ids() {
        scalars.extend_from_slice(&decoder.scalars(part)?);
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
            let inner =
                decoder.types.component(ty, before).ok_or_else(|| unsupported("a composite index out of range"))?;
            start += decoder.kinds(inner)?.len();
        }
        ty = decoder.types.component(ty, *index).ok_or_else(|| unsupported("a composite index out of range"))?;
    }
    Ok(start..start + decoder.kinds(ty)?.len())
}

/// The type of a value.
fn type_of(decoder: &Decoder<'_>, id: Id) -> Result<Id, Unsupported> {
    decoder.module.definition(id).and_then(|one| one.result_type).ok_or_else(|| unsupported("a value without a type"))
}

fn extract(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let composite = id(instruction, 0)?;
    let range = part(decoder, type_of(decoder, composite)?, instruction, 1)?;
    let scalars = decoder.scalars(composite)?;
    let part = scalars.get(range).ok_or_else(|| unsupported("a composite index out of range"))?;
    decoder.define(instruction, Value::Scalars(part.into()));
    Ok(())
}

fn insert(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let object = decoder.scalars(id(instruction, 0)?)?;
    let composite = id(instruction, 1)?;
    let range = part(decoder, type_of(decoder, composite)?, instruction, 2)?;
    let mut scalars = decoder.scalars(composite)?.to_vec();
    let part = scalars.get_mut(range).ok_or_else(|| unsupported("a composite index out of range"))?;
    part.copy_from_slice(&object);
    decoder.define(instruction, Value::Scalars(scalars.into()));
    Ok(())
}

fn shuffle(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let mut all = decoder.scalars(id(instruction, 0)?)?.to_vec();
    all.extend_from_slice(&decoder.scalars(id(instruction, 1)?)?);
    let mut scalars = Vec::new();
    for operand in &instruction.operands[2..] {
        let Operand::LiteralBit32(index) = operand else {
            return Err(unsupported("a shuffle index that is no literal"));
        };
        // 0xFFFFFFFF: no source, the component is undefined.
        scalars.push(match all.get(*index as usize) {
            Some(scalar) => *scalar,
            None => undefined_like(decoder, all[0]),
        });
    }
    decoder.define(instruction, Value::Scalars(scalars.into()));
    Ok(())
}

fn undefined_like(decoder: &mut Decoder<'_>, scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::Word(_) => {
            let to = decoder.word();
            decoder.push(Action::Undefine { to });
            Scalar::Word(to)
        }
        Scalar::Mask(_) => {
            let to = decoder.mask();
            decoder.push(Action::UndefineMask { to });
            Scalar::Mask(to)
        }
    }
}

fn undefined(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let ty = instruction.result_type.ok_or_else(|| unsupported("OpUndef without a type"))?;
    let scalars = decoder.fresh(ty)?;
    for scalar in scalars.iter() {
        decoder.push(match scalar {
            Scalar::Word(to) => Action::Undefine { to: *to },
            Scalar::Mask(to) => Action::UndefineMask { to: *to },
        });
    }
    decoder.define(instruction, Value::Scalars(scalars));
    Ok(())
}

fn extract_dynamic(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let vector = operand_words(decoder, instruction, 0)?;
    let index = operand_words(decoder, instruction, 1)?[0];
    let to = decoder.word();
    decoder.push(Action::Pick { to, from: vector.into(), index });
    decoder.define(instruction, Value::Scalars([Scalar::Word(to)].into()));
    Ok(())
}

fn insert_dynamic(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let vector = operand_words(decoder, instruction, 0)?;
    let value = operand_words(decoder, instruction, 1)?[0];
    let index = operand_words(decoder, instruction, 2)?[0];
    let mut scalars = Vec::new();
    for (position, old) in vector.iter().enumerate() {
        let to = decoder.word();
        decoder.push(Action::Put { to, old: *old, value, index, position: position as u32 });
        scalars.push(Scalar::Word(to));
    }
    decoder.define(instruction, Value::Scalars(scalars.into()));
    Ok(())
}

fn copy(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let value = decoder.value(id(instruction, 0)?)?;
    decoder.define(instruction, value);
    Ok(())
}
