//! Barriers and atomics (SPIR-V specification, sections "Barrier Instructions", "Atomic
//! Instructions").

use super::access_chain::pointer_to;
use super::meaning::{Meaning, Row, row};
use super::memory_access::atomic_access;
use super::number::define;
use super::operand::id;
use crate::decode::decoder::Decoder;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::decode::value::Location;
use crate::ir::atomic::AtomicOperation;
use crate::ir::memory_semantics::{BarrierFences, BarrierReach, Fence, SUBGROUP_SCOPE};
use crate::ir::{AccessRoot, Addressing, LaneInstruction, SubgroupUse};
use rspirv::spirv::Op;
use std::collections::BTreeSet;
use std::sync::Arc;
pub(crate) use vkcert_spirv::barriers::holds_workgroup;
use vkcert_spirv::module::{Instruction, Module};

pub(crate) const TABLE: &[Row] = &[
    row(Op::ControlBarrier, Meaning::Special(control_barrier)),
    row(Op::MemoryBarrier, Meaning::Special(memory_barrier)),
    row(
        Op::AtomicLoad,
        Meaning::Special(|decoder, instruction| {
            atomic(decoder, instruction, AtomicOperation::Load, Shape::LOAD)
        }),
    ),
    row(
        Op::AtomicStore,
        Meaning::Special(|decoder, instruction| {
            atomic(decoder, instruction, AtomicOperation::Store, Shape::VALUE)
        }),
    ),
    row(
        Op::AtomicExchange,
        Meaning::Special(|decoder, instruction| {
            atomic(decoder, instruction, AtomicOperation::Exchange, Shape::VALUE)
        }),
    ),
    row(
        Op::AtomicCompareExchange,
        Meaning::Special(|decoder, instruction| {
            atomic(decoder, instruction, AtomicOperation::CompareExchange, Shape::COMPARE)
        }),
    ),
    row(
        Op::AtomicIIncrement,
        Meaning::Special(|decoder, instruction| {
            atomic(decoder, instruction, AtomicOperation::Increment, Shape::LOAD)
        }),
    ),
    row(
        Op::AtomicIDecrement,
        Meaning::Special(|decoder, instruction| {
            atomic(decoder, instruction, AtomicOperation::Decrement, Shape::LOAD)
        }),
    ),
    row(
        Op::AtomicIAdd,
        Meaning::Special(|decoder, instruction| {
            atomic(decoder, instruction, AtomicOperation::Add, Shape::VALUE)
        }),
    ),
    row(
        Op::AtomicISub,
        Meaning::Special(|decoder, instruction| {
            atomic(decoder, instruction, AtomicOperation::Sub, Shape::VALUE)
        }),
    ),
    row(
        Op::AtomicSMin,
        Meaning::Special(|decoder, instruction| {
            atomic(decoder, instruction, AtomicOperation::SMin, Shape::VALUE)
        }),
    ),
    row(
        Op::AtomicUMin,
        Meaning::Special(|decoder, instruction| {
            atomic(decoder, instruction, AtomicOperation::UMin, Shape::VALUE)
        }),
    ),
    row(
        Op::AtomicSMax,
        Meaning::Special(|decoder, instruction| {
            atomic(decoder, instruction, AtomicOperation::SMax, Shape::VALUE)
        }),
    ),
    row(
        Op::AtomicUMax,
        Meaning::Special(|decoder, instruction| {
            atomic(decoder, instruction, AtomicOperation::UMax, Shape::VALUE)
        }),
    ),
    row(
        Op::AtomicAnd,
        Meaning::Special(|decoder, instruction| {
            atomic(decoder, instruction, AtomicOperation::And, Shape::VALUE)
        }),
    ),
    row(
        Op::AtomicOr,
        Meaning::Special(|decoder, instruction| {
            atomic(decoder, instruction, AtomicOperation::Or, Shape::VALUE)
        }),
    ),
    row(
        Op::AtomicFAddEXT,
        Meaning::Special(|decoder, instruction| {
            atomic(decoder, instruction, AtomicOperation::FAdd, Shape::VALUE)
        }),
    ),
    row(
        Op::AtomicFMinEXT,
        Meaning::Special(|decoder, instruction| {
            atomic(decoder, instruction, AtomicOperation::FMin, Shape::VALUE)
        }),
    ),
    row(
        Op::AtomicFMaxEXT,
        Meaning::Special(|decoder, instruction| {
            atomic(decoder, instruction, AtomicOperation::FMax, Shape::VALUE)
        }),
    ),
    row(
        Op::AtomicXor,
        Meaning::Special(|decoder, instruction| {
            atomic(decoder, instruction, AtomicOperation::Xor, Shape::VALUE)
        }),
    ),
];

/// Operand positions of an atomic: value and comparator.
#[derive(Clone, Copy)]
struct Shape {
    value: Option<usize>,
    comparator: Option<usize>,
}

impl Shape {
    const LOAD: Shape = Shape { value: None, comparator: None };
    const VALUE: Shape = Shape { value: Some(3), comparator: None };
    /// Pointer, scope, two semantics, value, comparator.
    const COMPARE: Shape = Shape { value: Some(4), comparator: Some(5) };
}

fn atomic(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
    op: AtomicOperation,
    shape: Shape,
) -> Result<(), Unsupported> {
    // The data is of the type of the result, or of the value that is stored.
    let data = match (instruction.result_type, shape.value) {
        (Some(ty), _) => ty,
        (None, Some(value)) => decoder.type_of(id(instruction, value)?)?,
        (None, None) => return Err(unsupported(format!("Op{:?} without a type", instruction.op))),
    };
    let pointer = pointer_to(decoder, id(instruction, 0)?, data)?;
    if let Location::Texel(texel) = &pointer.to {
        return super::image::atomic(
            decoder,
            instruction,
            op,
            texel,
            [shape.value, shape.comparator],
        );
    }
    let (access, form) = atomic_access(decoder, &pointer)?;
    let places = match access.root {
        AccessRoot::Descriptor(index) => index..index + 1,
        AccessRoot::Descriptors { first, length, index: _ } => first..first + length,
        AccessRoot::Workgroup
        | AccessRoot::Invocation
        | AccessRoot::PushConstant
        | AccessRoot::Address(_)
        | AccessRoot::Pointer { .. }
        | AccessRoot::Buffer(_) => 0..0,
    };
    decoder.atomics.extend(places);
    match access.root {
        AccessRoot::Address(_) => decoder.program.addresses = Addressing::Atomics,
        AccessRoot::Pointer { .. } => decoder.pointed = Addressing::Atomics,
        AccessRoot::Descriptor(_)
        | AccessRoot::Descriptors { .. }
        | AccessRoot::Workgroup
        | AccessRoot::Invocation
        | AccessRoot::PushConstant
        | AccessRoot::Buffer(_) => {}
    }
    if op != AtomicOperation::Load {
        decoder.note_write(access.root);
    }
    let operand = |decoder: &mut Decoder<'_>, at: Option<usize>| match at {
        Some(at) => decoder.number(id(instruction, at)?).map(|(_, number)| Some(number)),
        None => Ok(None),
    };
    let a = operand(decoder, shape.value)?;
    let b = operand(decoder, shape.comparator)?;
    // A result that nobody looks at is none: what several cores add then comes together in any
    // order.
    let to =
        instruction.result.filter(|result| decoder.is_used(*result)).map(|_| decoder.parts(form));
    decoder.push(LaneInstruction::Atomic { op, form, access: Arc::new(access), to, a, b });
    if let Some(to) = to {
        define(decoder, instruction, &[to]);
    }
    Ok(())
}

const WORKGROUP_SCOPE: u32 = 2;

fn control_barrier(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let scope = decoder.constants.scalar_word(id(instruction, 0)?);
    let reach = match scope {
        Some(WORKGROUP_SCOPE) => BarrierReach::Workgroup,
        Some(SUBGROUP_SCOPE) => BarrierReach::Subgroup,
        _ => {
            return Err(unsupported(
                "OpControlBarrier with an execution scope other than Workgroup or Subgroup",
            ));
        }
    };
    let control = fence(decoder, instruction, [1, 2])?;
    let here = decoder.place as usize;
    let module = decoder.module;
    let before = beside(decoder, module.instructions[..here].iter().rev())?;
    let after = beside(decoder, module.instructions[here + 1..].iter())?;
    let fences = BarrierFences::new(reach, control, before, after);
    match reach {
        BarrierReach::Workgroup => decoder.barrier(fences),
        BarrierReach::Subgroup => {
            decoder.program.subgroups = SubgroupUse::Barriers;
            decoder.push(LaneInstruction::SubgroupBarrier { fences });
        }
    }
    Ok(())
}

/// Execution is sequential, so memory is always consistent; a fence only orders accesses.
fn memory_barrier(decoder: &mut Decoder<'_>, instruction: &Instruction) -> Result<(), Unsupported> {
    let fence = fence(decoder, instruction, [0, 1])?;
    decoder.push(LaneInstruction::Fence { fence });
    Ok(())
}

/// The fences of the OpMemoryBarriers next to a barrier.
fn beside<'m>(
    decoder: &Decoder<'_>,
    instructions: impl Iterator<Item = &'m Instruction>,
) -> Result<Vec<Fence>, Unsupported> {
    memory_barriers(instructions).map(|instruction| fence(decoder, instruction, [0, 1])).collect()
}

/// The OpMemoryBarriers that come first; debug lines do not count.
fn memory_barriers<'m>(
    instructions: impl Iterator<Item = &'m Instruction>,
) -> impl Iterator<Item = &'m Instruction> {
    let shown = instructions.filter(|instruction| !matches!(instruction.op, Op::Line | Op::NoLine));
    shown.take_while(|instruction| instruction.op == Op::MemoryBarrier)
}

/// Whether some OpMemoryBarrier of a module stands beside no barrier of the workgroup.
pub(crate) fn has_fence_apart(module: &Module) -> bool {
    let all = &module.instructions;
    let barriers = all.iter().enumerate().filter(|(_, one)| holds_workgroup(module, one));
    let beside = barriers.flat_map(|(at, _)| {
        memory_barriers(all[..at].iter().rev())
            .chain(memory_barriers(all[at + 1..].iter()))
            .map(|one| one.offset)
    });
    let beside: BTreeSet<u32> = beside.collect();
    all.iter().any(|one| one.op == Op::MemoryBarrier && !beside.contains(&one.offset))
}

/// Scope and semantics at two operands of a barrier.
fn fence(
    decoder: &Decoder<'_>,
    instruction: &Instruction,
    [scope, semantics]: [usize; 2],
) -> Result<Fence, Unsupported> {
    let constant = |at: usize, what: &str| {
        decoder
            .constants
            .scalar_word(id(instruction, at)?)
            .ok_or_else(|| unsupported(format!("{what} that is no constant")))
    };
    Ok(Fence {
        scope: constant(scope, "a memory scope")?,
        semantics: constant(semantics, "memory semantics")?,
    })
}
