//! Barriers and atomics (SPIR-V specification, sections "Barrier Instructions", "Atomic
//! Instructions").

use super::access_chain::pointer_to;
use super::meaning::{OpcodeMeaning, OpcodeRow, opcode_row};
use super::memory_access::atomic_access;
use super::number::define_numbers;
use super::operand::operand_id;
use crate::decode::decoder::Decoder;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::PointerTarget;
use crate::ir::atomic::AtomicOperation;
use crate::ir::memory_semantics::{BarrierFences, BarrierReach, Fence, SUBGROUP_SCOPE};
use crate::ir::{AccessRoot, Addressing, LaneInstruction, NumberRegisters, SubgroupUse};
use rspirv::spirv::Op;
use std::sync::Arc;
use vkcert_spirv::barriers::memory_barriers;
pub(crate) use vkcert_spirv::barriers::{has_standalone_fence, holds_workgroup};
use vkcert_spirv::module::Instruction;

pub(crate) const TABLE: &[OpcodeRow] = &[
    opcode_row(Op::ControlBarrier, OpcodeMeaning::Special(control_barrier)),
    opcode_row(Op::MemoryBarrier, OpcodeMeaning::Special(memory_barrier)),
    opcode_row(
        Op::AtomicLoad,
        OpcodeMeaning::Special(|decoder, instruction| {
            decode_atomic(decoder, instruction, AtomicOperation::Load, AtomicOperands::LOAD)
        }),
    ),
    opcode_row(
        Op::AtomicStore,
        OpcodeMeaning::Special(|decoder, instruction| {
            decode_atomic(decoder, instruction, AtomicOperation::Store, AtomicOperands::VALUE)
        }),
    ),
    opcode_row(
        Op::AtomicExchange,
        OpcodeMeaning::Special(|decoder, instruction| {
            decode_atomic(decoder, instruction, AtomicOperation::Exchange, AtomicOperands::VALUE)
        }),
    ),
    opcode_row(
        Op::AtomicCompareExchange,
        OpcodeMeaning::Special(|decoder, instruction| {
            decode_atomic(
                decoder,
                instruction,
                AtomicOperation::CompareExchange,
                AtomicOperands::COMPARE,
            )
        }),
    ),
    opcode_row(
        Op::AtomicIIncrement,
        OpcodeMeaning::Special(|decoder, instruction| {
            decode_atomic(decoder, instruction, AtomicOperation::Increment, AtomicOperands::LOAD)
        }),
    ),
    opcode_row(
        Op::AtomicIDecrement,
        OpcodeMeaning::Special(|decoder, instruction| {
            decode_atomic(decoder, instruction, AtomicOperation::Decrement, AtomicOperands::LOAD)
        }),
    ),
    opcode_row(
        Op::AtomicIAdd,
        OpcodeMeaning::Special(|decoder, instruction| {
            decode_atomic(decoder, instruction, AtomicOperation::Add, AtomicOperands::VALUE)
        }),
    ),
    opcode_row(
        Op::AtomicISub,
        OpcodeMeaning::Special(|decoder, instruction| {
            decode_atomic(decoder, instruction, AtomicOperation::Sub, AtomicOperands::VALUE)
        }),
    ),
    opcode_row(
        Op::AtomicSMin,
        OpcodeMeaning::Special(|decoder, instruction| {
            decode_atomic(decoder, instruction, AtomicOperation::SMin, AtomicOperands::VALUE)
        }),
    ),
    opcode_row(
        Op::AtomicUMin,
        OpcodeMeaning::Special(|decoder, instruction| {
            decode_atomic(decoder, instruction, AtomicOperation::UMin, AtomicOperands::VALUE)
        }),
    ),
    opcode_row(
        Op::AtomicSMax,
        OpcodeMeaning::Special(|decoder, instruction| {
            decode_atomic(decoder, instruction, AtomicOperation::SMax, AtomicOperands::VALUE)
        }),
    ),
    opcode_row(
        Op::AtomicUMax,
        OpcodeMeaning::Special(|decoder, instruction| {
            decode_atomic(decoder, instruction, AtomicOperation::UMax, AtomicOperands::VALUE)
        }),
    ),
    opcode_row(
        Op::AtomicAnd,
        OpcodeMeaning::Special(|decoder, instruction| {
            decode_atomic(decoder, instruction, AtomicOperation::And, AtomicOperands::VALUE)
        }),
    ),
    opcode_row(
        Op::AtomicOr,
        OpcodeMeaning::Special(|decoder, instruction| {
            decode_atomic(decoder, instruction, AtomicOperation::Or, AtomicOperands::VALUE)
        }),
    ),
    opcode_row(
        Op::AtomicFAddEXT,
        OpcodeMeaning::Special(|decoder, instruction| {
            decode_atomic(decoder, instruction, AtomicOperation::FAdd, AtomicOperands::VALUE)
        }),
    ),
    opcode_row(
        Op::AtomicFMinEXT,
        OpcodeMeaning::Special(|decoder, instruction| {
            decode_atomic(decoder, instruction, AtomicOperation::FMin, AtomicOperands::VALUE)
        }),
    ),
    opcode_row(
        Op::AtomicFMaxEXT,
        OpcodeMeaning::Special(|decoder, instruction| {
            decode_atomic(decoder, instruction, AtomicOperation::FMax, AtomicOperands::VALUE)
        }),
    ),
    opcode_row(
        Op::AtomicXor,
        OpcodeMeaning::Special(|decoder, instruction| {
            decode_atomic(decoder, instruction, AtomicOperation::Xor, AtomicOperands::VALUE)
        }),
    ),
];

/// Operand positions of an atomic: value and comparator.
#[derive(Clone, Copy)]
struct AtomicOperands {
    value: Option<usize>,
    comparator: Option<usize>,
}

impl AtomicOperands {
    const LOAD: AtomicOperands = AtomicOperands { value: None, comparator: None };
    const VALUE: AtomicOperands = AtomicOperands { value: Some(3), comparator: None };
    /// Pointer, scope, two semantics, value, comparator.
    const COMPARE: AtomicOperands = AtomicOperands { value: Some(4), comparator: Some(5) };
}

fn optional_number(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operand_index: Option<usize>,
) -> Result<Option<NumberRegisters>, Unsupported> {
    match operand_index {
        Some(operand_index) => {
            let (_, number) = decoder.number_of(operand_id(instruction, operand_index)?)?;
            Ok(Some(number))
        }
        None => Ok(None),
    }
}

fn decode_atomic(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    operation: AtomicOperation,
    atomic_operands: AtomicOperands,
) -> Result<(), Unsupported> {
    // The data is of the type of the result, or of the value that is stored.
    let data_type = match (instruction.result_type, atomic_operands.value) {
        (Some(ty), _) => ty,
        (None, Some(value)) => decoder.type_of(operand_id(instruction, value)?)?,
        (None, None) => return Err(unsupported(format!("Op{:?} without a type", instruction.op))),
    };
    let pointer = pointer_to(decoder, operand_id(instruction, 0)?, data_type)?;
    if let PointerTarget::Texel(texel) = &pointer.target {
        return super::image::texel_atomic(
            decoder,
            instruction,
            operation,
            texel,
            [atomic_operands.value, atomic_operands.comparator],
        );
    }
    let (access, number_format) = atomic_access(decoder, &pointer)?;
    let accessed_descriptors = match access.root {
        AccessRoot::Descriptor(index) => index..index + 1,
        AccessRoot::Descriptors { first, length, index: _ } => first..first + length,
        AccessRoot::Workgroup
        | AccessRoot::Invocation
        | AccessRoot::PushConstant
        | AccessRoot::Address(_)
        | AccessRoot::Pointer { .. }
        | AccessRoot::Buffer(_) => 0..0,
    };
    decoder.atomic_descriptors.extend(accessed_descriptors);
    match access.root {
        AccessRoot::Address(_) => decoder.program.addresses = Addressing::Atomics,
        AccessRoot::Pointer { .. } => decoder.pointer_use = Addressing::Atomics,
        AccessRoot::Descriptor(_)
        | AccessRoot::Descriptors { .. }
        | AccessRoot::Workgroup
        | AccessRoot::Invocation
        | AccessRoot::PushConstant
        | AccessRoot::Buffer(_) => {}
    }
    if operation != AtomicOperation::Load {
        decoder.note_write(access.root);
    }
    let value_number = optional_number(decoder, instruction, atomic_operands.value)?;
    let comparator_number = optional_number(decoder, instruction, atomic_operands.comparator)?;
    // An unused result is dropped, because the atomic is then a commutative update, which workers
    // may execute in any order.
    let result_number = instruction
        .result
        .filter(|result| decoder.is_used(*result))
        .map(|_| decoder.new_number(number_format));
    decoder.push_instruction(LaneInstruction::Atomic {
        op: operation,
        form: number_format,
        access: Arc::new(access),
        to: result_number,
        a: value_number,
        b: comparator_number,
    });
    if let Some(result_number) = result_number {
        define_numbers(decoder, instruction, &[result_number]);
    }
    Ok(())
}

const WORKGROUP_SCOPE: u32 = 2;

fn control_barrier(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let execution_scope = decoder.constants.scalar_word(operand_id(instruction, 0)?);
    let barrier_reach = match execution_scope {
        Some(WORKGROUP_SCOPE) => BarrierReach::Workgroup,
        Some(SUBGROUP_SCOPE) => BarrierReach::Subgroup,
        _ => {
            return Err(unsupported(
                "OpControlBarrier with an execution scope other than Workgroup or Subgroup",
            ));
        }
    };
    let control = fence_operands(decoder, instruction, [1, 2])?;
    let barrier_index = decoder.source_index as usize;
    let module = decoder.module;
    let fences_before =
        adjacent_fences(decoder, module.instructions[..barrier_index].iter().rev())?;
    let fences_after = adjacent_fences(decoder, module.instructions[barrier_index + 1..].iter())?;
    let fences = BarrierFences::new(barrier_reach, control, fences_before, fences_after);
    match barrier_reach {
        BarrierReach::Workgroup => decoder.end_at_barrier(fences),
        BarrierReach::Subgroup => {
            decoder.program.subgroups = SubgroupUse::Barriers;
            decoder.push_instruction(LaneInstruction::SubgroupBarrier { fences });
        }
    }
    Ok(())
}

/// Execution is sequential, so that memory is always consistent: a fence only orders accesses for
/// race detection.
fn memory_barrier(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let fence = fence_operands(decoder, instruction, [0, 1])?;
    decoder.push_instruction(LaneInstruction::Fence { fence });
    Ok(())
}

/// The fences of the OpMemoryBarriers next to a barrier.
fn adjacent_fences<'m>(
    decoder: &Decoder<'_>,
    instructions: impl Iterator<Item = &'m Instruction>,
) -> Result<Vec<Fence>, Unsupported> {
    memory_barriers(instructions)
        .map(|instruction| fence_operands(decoder, instruction, [0, 1]))
        .collect()
}

/// Scope and semantics at two operands of a barrier.
fn fence_operands(
    decoder: &Decoder<'_>,
    instruction: &Instruction,
    [scope_operand, semantics_operand]: [usize; 2],
) -> Result<Fence, Unsupported> {
    let constant_at = |operand_index: usize, described_operand: &str| {
        decoder
            .constants
            .scalar_word(operand_id(instruction, operand_index)?)
            .ok_or_else(|| unsupported(format!("{described_operand} that is no constant")))
    };
    Ok(Fence {
        scope: constant_at(scope_operand, "a memory scope")?,
        semantics: constant_at(semantics_operand, "memory semantics")?,
    })
}
