//! The table of SPIR-V instructions that the engine runs.
//!
//! Knows: one row per opcode, in one file per family; scalar operations have theirs in `spirv::operation`. A new instruction
//! is a row, and where no existing meaning fits, a handler. Promises: an opcode without a row is unsupported by name; nothing is ignored that has an effect.

pub mod arithmetic;
pub mod composite;
pub mod control_flow;
pub mod cooperative_matrix;
pub mod debug_printf;
pub mod dot_product;
pub mod extended;
pub mod float_controls;
pub mod image;
pub mod logic;
pub mod memory;
pub mod number;
pub mod pointer;
pub mod subgroup;
pub mod synchronization;
pub mod variable_pointer;

use super::{Decoder, Unsupported, Value, unsupported};
use crate::exec::sequential::ir::{Action, Reg, Scalar};
use crate::spirv::module::Instruction;
use crate::spirv::operation::sized::{Relation, Sized};
use crate::spirv::operation::table::scalar_opcodes;
use crate::spirv::operation::{ScalarOperation, scalar_operation};
use rspirv::spirv::Op;
use std::collections::HashMap;

/// A handler's signature.
pub type Handler = fn(&mut Decoder<'_>, &Instruction) -> Result<(), Unsupported>;

/// What an opcode means to the decoder.
#[derive(Debug, Clone, Copy)]
pub enum Meaning {
    /// No effect on execution (labels, debug lines, merge declarations).
    Nothing,
    /// Component by component.
    Scalar(ScalarOperation),
    /// Of two Booleans, by truth table: bit `2a + b`.
    Logic(u8),
    Special(Handler),
}

/// One row.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub op: Op,
    pub meaning: Meaning,
}

pub const fn row(op: Op, meaning: Meaning) -> Row {
    Row { op, meaning }
}

/// All families.
pub const TABLES: &[&[Row]] = &[
    arithmetic::TABLE,
    logic::TABLE,
    composite::TABLE,
    memory::TABLE,
    control_flow::TABLE,
    synchronization::TABLE,
    subgroup::TABLE,
    extended::TABLE,
    pointer::TABLE,
    image::TABLE,
    dot_product::TABLE,
    cooperative_matrix::TABLE,
];

/// What each opcode means: its row here, else the scalar operation that it is.
pub fn rows() -> HashMap<Op, Meaning> {
    let scalar = scalar_opcodes().filter_map(|op| Some((op, Meaning::Scalar(scalar_operation(op)?))));
    let own = TABLES.iter().flat_map(|table| table.iter()).map(|row| (row.op, row.meaning));
    scalar.chain(own).collect()
}

/// Decodes one instruction by its row.
pub fn decode(decoder: &mut Decoder<'_>, instruction: &Instruction, meaning: &Meaning) -> Result<(), Unsupported> {
    match meaning {
        Meaning::Nothing => Ok(()),
        Meaning::Scalar(operation) => scalar(decoder, instruction, *operation),
        Meaning::Logic(table) => {
            let a = operand_masks(decoder, instruction, 0)?;
            let b = operand_masks(decoder, instruction, 1)?;
            each_mask(decoder, instruction, a.len(), |to, index| Action::Logic {
                table: *table,
                to,
                a: a[index],
                b: b[index],
            })
        }
        Meaning::Special(handler) => handler(decoder, instruction),
    }
}

/// The id in operand `index`.
pub fn id(instruction: &Instruction, index: usize) -> Result<u32, Unsupported> {
    instruction.id(index).ok_or_else(|| unsupported(format!("Op{:?} without operand {index}", instruction.op)))
}

pub fn operand_masks(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    index: usize,
) -> Result<Vec<Reg>, Unsupported> {
    decoder.masks(id(instruction, index)?)
}

pub fn each_mask(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    count: usize,
    action: impl Fn(Reg, usize) -> Action,
) -> Result<(), Unsupported> {
    check_result(decoder, instruction, count)?;
    let mut scalars = Vec::with_capacity(count);
    for index in 0..count {
        let to = decoder.mask();
        decoder.push(action(to, index));
        scalars.push(Scalar::Mask(to));
    }
    decoder.define(instruction, Value::Scalars(scalars.into()));
    Ok(())
}

/// The result type must have as many scalars.
fn check_result(decoder: &Decoder<'_>, instruction: &Instruction, count: usize) -> Result<(), Unsupported> {
    let Some(ty) = instruction.result_type else { return Ok(()) };
    let kinds = decoder.kinds(ty)?;
    if kinds.len() == count { Ok(()) } else { Err(unsupported(format!("Op{:?} with this type", instruction.op))) }
}

fn scalar(decoder: &mut Decoder<'_>, instruction: &Instruction, operation: ScalarOperation) -> Result<(), Unsupported> {
    match operation {
        ScalarOperation::Unary(op) => element_wise(decoder, instruction, Sized::Unary(op)),
        ScalarOperation::Binary(op) => element_wise(decoder, instruction, Sized::Binary(op)),
        ScalarOperation::Ternary(op) => element_wise(decoder, instruction, Sized::Ternary(op)),
        ScalarOperation::Convert(op) => element_wise(decoder, instruction, op),
        ScalarOperation::Compare(op) => number::each_relation(decoder, instruction, Relation::Compare(op)),
        ScalarOperation::Classify(op) => number::each_relation(decoder, instruction, Relation::Classify(op)),
    }
}

fn element_wise(decoder: &mut Decoder<'_>, instruction: &Instruction, op: Sized) -> Result<(), Unsupported> {
    let operands = (0..op.operands()).map(|index| number::operand(decoder, instruction, index));
    let operands = operands.collect::<Result<Vec<_>, _>>()?;
    number::each(decoder, instruction, op, &operands)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spirv::opcodes::{Effect, GROUPS, Support, support};
    use std::collections::BTreeSet;

    /// Declarations are read where the module is; those that stand in functions too have rows.
    #[test]
    fn what_the_table_of_opcodes_has_as_the_engine_s_own_has_exactly_one_row() {
        let own: Vec<Op> = TABLES.iter().flat_map(|table| table.iter()).map(|row| row.op).collect();
        let distinct: BTreeSet<Op> = own.iter().copied().collect();
        assert_eq!(own.len(), distinct.len(), "an opcode has two rows");
        // Scalar operations whose operands are not taken component by component have a handler besides.
        let both: Vec<Op> = own.iter().copied().filter(|op| scalar_operation(*op).is_some()).collect();
        assert_eq!(both, [Op::BitFieldInsert, Op::BitFieldSExtract, Op::BitFieldUExtract]);
        let all: Vec<Op> = rows().into_keys().collect();
        let foreign: Vec<&Op> = all.iter().filter(|op| support(**op) != Support::Engine).collect();
        assert!(foreign.is_empty(), "rows that are never asked: {foreign:?}");
        let run = GROUPS.iter().filter(|group| group.support == Support::Engine && group.effect != Effect::Declaration);
        let missing: Vec<&Op> = run.flat_map(|group| group.ops).filter(|op| !all.contains(op)).collect();
        assert!(missing.is_empty(), "instructions without a row: {missing:?}");
    }
}
