//! Which order relation race detection needs for a program, and whether its invocations may spin.
//!
//! Promises: intervals between barriers of workgroups suffice (`OrderUse::Intervals`) only where
//! nothing else can order two accesses and any two atomics on the same memory are mutually atomic.
//! Does not cover: loops that read what another dispatch writes.

use super::ops::synchronization::has_standalone_fence;
use crate::ir::access_facts::{DeclaredModel, FactsByInstruction};
use crate::ir::atomic::AtomicOperation;
use crate::ir::image::ImageOperation;
use crate::ir::memory_semantics::Scope;
use crate::ir::{
    AccessRoot, LaneInstruction, LocatedInstruction, OrderUse, Program, SpinWaits, SubgroupUse,
};
use crate::settings::MemoryModel;
use std::sync::Arc;
use vkcert_spirv::constants::Constants;
use vkcert_spirv::module::Module;
use vkcert_spirv::types::Types;

/// Chooses the order relation of a decoded program; removes its fences where intervals suffice.
pub(super) fn choose_order(
    program: &mut Program,
    module: &Module,
    (types, constants): (&Types, &Constants),
    model: MemoryModel,
) {
    let access_facts = FactsByInstruction::from_module(module, types, constants);
    program.spin_waits = spin_waits(program, &access_facts);
    if program.spin_waits == SpinWaits::Possibly
        || needs_exact_order(program, module, &access_facts, model)
    {
        program.order = OrderUse::Exact(Arc::new(access_facts));
        return;
    }
    for block in &mut program.blocks {
        block.steps.retain(|step| !matches!(step.instruction, LaneInstruction::Fence { .. }));
    }
}

fn needs_exact_order(
    program: &Program,
    module: &Module,
    access_facts: &FactsByInstruction,
    memory_model: MemoryModel,
) -> bool {
    let all_steps = || program.blocks.iter().flat_map(|block| &block.steps);
    let has_fences = all_steps().any(|step| step.instruction.is_ordering_fence());
    // An atomic whose result is used can serve as a flag.
    let has_flags = all_steps().any(|step| uses_result(&step.instruction));
    let has_device_barrier = program.barriers.iter().any(|barrier| {
        let has_device_barrier = barrier.fences.control;
        has_device_barrier.reach() == Scope::Device && has_device_barrier.orders_anything()
    });
    let has_releasing_atomic = access_facts.atomics().any(|atomic| atomic.fence.orders_anything());
    let has_barriers = !program.barriers.is_empty();
    program.subgroups == SubgroupUse::Barriers
        || access_facts.declared == DeclaredModel::Vulkan
        || has_releasing_atomic
        || !access_facts.atomics_uniform
        || program.barriers.iter().any(|barrier| !barrier.fences.is_complete(memory_model))
        || (has_fences && (has_flags || has_barriers) && has_standalone_fence(module))
        || (has_flags && (all_steps().any(is_device_fence) || has_device_barrier))
}

fn is_device_fence(step: &LocatedInstruction) -> bool {
    match &step.instruction {
        LaneInstruction::Fence { fence } => fence.reach() == Scope::Device,
        _ => false,
    }
}

/// Whether the result of an atomic is used.
fn uses_result(action: &LaneInstruction) -> bool {
    match action {
        LaneInstruction::Atomic { op, to, .. } => to.is_some() || *op == AtomicOperation::Load,
        LaneInstruction::Image(image) => {
            matches!(image.operation, ImageOperation::Atomic(_)) && !image.to.is_empty()
        }
        _ => false,
    }
}

/// Whether an invocation can wait in a loop for what an instruction reads.
fn waits_of_read(
    program: &Program,
    access_facts: &FactsByInstruction,
    step: &LocatedInstruction,
) -> SpinWaits {
    match &step.instruction {
        LaneInstruction::Load { access, .. } if may_be_written(program, access.root) => {
            if access_facts.facts_at(step.source_index).coherent {
                SpinWaits::Possibly
            } else {
                SpinWaits::Plainly
            }
        }
        LaneInstruction::Image(_)
            if uses_result(&step.instruction)
                || access_facts.facts_at(step.source_index).coherent =>
        {
            SpinWaits::Possibly
        }
        action if uses_result(action) => SpinWaits::Possibly,
        _ => SpinWaits::Never,
    }
}

fn spin_waits(program: &Program, access_facts: &FactsByInstruction) -> SpinWaits {
    let mut strongest = SpinWaits::Never;
    // The blocks of a loop are contiguous, and its back edge leads to an earlier block.
    let mut loop_start = None;
    for (block_index, block) in program.blocks.iter().enumerate().rev() {
        let successors = block.terminator.successors().into_iter();
        let earliest_target = successors.filter(|to| *to as usize <= block_index).min();
        loop_start = [loop_start, earliest_target].into_iter().flatten().min();
        if loop_start.is_some_and(|first| first as usize <= block_index) {
            let waits = block.steps.iter().map(|step| waits_of_read(program, access_facts, step));
            strongest = waits.fold(strongest, SpinWaits::max);
        }
    }
    strongest
}

/// Whether the kernel may write memory behind a root.
fn may_be_written(program: &Program, root: AccessRoot) -> bool {
    let is_descriptor_written = |descriptor: u32| program.descriptors[descriptor as usize].written;
    match root {
        AccessRoot::Workgroup => true,
        AccessRoot::Descriptor(descriptor) => is_descriptor_written(descriptor),
        AccessRoot::Descriptors { first, length, index: _ } => {
            (first..first + length).any(is_descriptor_written)
        }
        AccessRoot::Address(_) | AccessRoot::Pointer { .. } | AccessRoot::Buffer(_) => true,
        AccessRoot::Invocation | AccessRoot::PushConstant => false,
    }
}
