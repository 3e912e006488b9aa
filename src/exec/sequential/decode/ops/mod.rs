//! The table of SPIR-V instructions that the engine runs.
//!
//! Knows: one row per opcode, in one file per family; scalar operations have theirs in
//! `spirv::operation`. A new instruction is a row, and where no existing meaning fits, a handler.
//! Promises: an opcode without a row is unsupported by name; nothing is ignored that has an effect.

mod access_chain;
pub(crate) mod arithmetic;
mod ballot;
pub(crate) mod composite;
pub(crate) mod control_flow;
pub(crate) mod cooperative_matrix;
mod copy_memory;
pub(crate) mod debug_printf;
pub(crate) mod dot_product;
pub(crate) mod extended;
mod geometry;
pub(crate) mod image;
mod image_operands;
pub(crate) mod logic;
mod matrix;
pub(crate) mod meaning;
pub(crate) mod memory;
mod memory_access;
pub(crate) mod number;
pub(crate) mod opaque;
pub(crate) mod operand;
mod packing;
pub(crate) mod pointer;
pub(crate) mod subgroup;
mod subgroup_scope;
pub(crate) mod synchronization;
pub(crate) mod variable_pointer;

use super::decoder::Decoder;
use super::unsupported::Unsupported;
use crate::ir::LaneInstruction;
use meaning::{OpcodeMeaning, OpcodeRow};
use operand::{each_mask, operand_masks};
use rspirv::spirv::Op;
use rustc_hash::FxHashMap;
use std::sync::LazyLock;
use vkcert_spirv::module::Instruction;
use vkcert_spirv::operation::sized::{Relation, SizedOperator};
use vkcert_spirv::operation::table::scalar_opcodes;
use vkcert_spirv::operation::{ScalarOperation, scalar_operation};

/// All families.
pub(crate) const TABLES: &[&[OpcodeRow]] = &[
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

/// Meaning of each opcode: its row here, else the scalar operation that it is.
fn meanings_by_opcode() -> FxHashMap<Op, OpcodeMeaning> {
    let scalar_rows =
        scalar_opcodes().filter_map(|op| Some((op, OpcodeMeaning::Scalar(scalar_operation(op)?))));
    let own_rows = TABLES.iter().flat_map(|table| table.iter()).map(|row| (row.op, row.meaning));
    scalar_rows.chain(own_rows).collect()
}

/// Meaning of an opcode; none if it has no row.
pub(crate) fn meaning_of_opcode(op: Op) -> Option<OpcodeMeaning> {
    static ROWS: LazyLock<FxHashMap<Op, OpcodeMeaning>> = LazyLock::new(meanings_by_opcode);
    ROWS.get(&op).copied()
}

/// Decodes one instruction by its row.
pub(crate) fn decode_instruction(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    meaning: &OpcodeMeaning,
) -> Result<(), Unsupported> {
    match meaning {
        OpcodeMeaning::Nothing => Ok(()),
        OpcodeMeaning::Scalar(operation) => {
            decode_scalar_operation(decoder, instruction, *operation)
        }
        OpcodeMeaning::Logic(table) => {
            let a = operand_masks(decoder, instruction, 0)?;
            let b = operand_masks(decoder, instruction, 1)?;
            each_mask(decoder, instruction, a.len(), |to, index| LaneInstruction::Logic {
                table: *table,
                to,
                a: a[index],
                b: b[index],
            })
        }
        OpcodeMeaning::Special(handler) => handler(decoder, instruction),
    }
}

fn decode_scalar_operation(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operation: ScalarOperation,
) -> Result<(), Unsupported> {
    match operation {
        ScalarOperation::Unary(op) => element_wise(decoder, instruction, SizedOperator::Unary(op)),
        ScalarOperation::Binary(op) => {
            element_wise(decoder, instruction, SizedOperator::Binary(op))
        }
        ScalarOperation::Ternary(op) => {
            element_wise(decoder, instruction, SizedOperator::Ternary(op))
        }
        ScalarOperation::Convert(op) => element_wise(decoder, instruction, op),
        ScalarOperation::Compare(op) => {
            number::relate_components(decoder, instruction, Relation::Compare(op))
        }
        ScalarOperation::Classify(op) => {
            number::relate_components(decoder, instruction, Relation::Classify(op))
        }
    }
}

fn element_wise(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    op: SizedOperator,
) -> Result<(), Unsupported> {
    let operands =
        (0..op.operand_count()).map(|index| number::number_operand(decoder, instruction, index));
    let operands = operands.collect::<Result<Vec<_>, _>>()?;
    number::compute_components(decoder, instruction, op, &operands)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use vkcert_spirv::opcodes::{Effect, EngineSupport, engine_support, opcode_groups};

    /// Declarations are read where the module is; those that stand in functions too have rows.
    #[test]
    fn what_the_table_of_opcodes_has_as_the_engine_s_own_has_exactly_one_row() {
        let own: Vec<Op> = TABLES.iter().flat_map(|table| table.iter()).map(|row| row.op).collect();
        let distinct: BTreeSet<Op> = own.iter().copied().collect();
        assert_eq!(own.len(), distinct.len(), "an opcode has two rows");
        // Scalar operations whose operands are not taken component by component have a handler
        // besides.
        let both: Vec<Op> =
            own.iter().copied().filter(|op| scalar_operation(*op).is_some()).collect();
        assert_eq!(both, [Op::BitFieldInsert, Op::BitFieldSExtract, Op::BitFieldUExtract]);
        let all: Vec<Op> = meanings_by_opcode().into_keys().collect();
        let foreign: Vec<&Op> =
            all.iter().filter(|op| engine_support(**op) != EngineSupport::Engine).collect();
        assert!(foreign.is_empty(), "rows that are never asked: {foreign:?}");
        let run = opcode_groups().filter(|group| {
            group.support == EngineSupport::Engine && group.effect != Effect::Declaration
        });
        let missing: Vec<&Op> =
            run.flat_map(|group| group.ops).filter(|op| !all.contains(op)).collect();
        assert!(missing.is_empty(), "instructions without a row: {missing:?}");
    }
}
