//! How accesses of a program must be ordered, and whether its invocations may wait for each other.
//!
//! Promises: barriers of workgroups are enough (`OrderUse::Intervals`) only where nothing else can
//! order two accesses, and where any two atomics on the same memory are atomic for each other.
//! Does not cover: loops that read what another dispatch writes.

use super::ops::synchronization::has_fence_apart;
use crate::ir::access_facts::{DeclaredModel, FactsByInstruction};
use crate::ir::atomic::AtomicOperation;
use crate::ir::image::ImageOperation;
use crate::ir::memory_semantics::Scope;
use crate::ir::{
    AccessRoot, BasicBlock, LaneInstruction, LocatedInstruction, OrderUse, Program, SpinWaits,
    SubgroupUse, Terminator,
};
use crate::settings::MemoryModel;
use std::sync::Arc;
use vkcert_spirv::constants::Constants;
use vkcert_spirv::module::Module;
use vkcert_spirv::types::Types;

/// Chooses for a decoded program; takes its fences out where they order nothing.
pub(super) fn choose(
    program: &mut Program,
    module: &Module,
    (types, constants): (&Types, &Constants),
    model: MemoryModel,
) {
    let places = FactsByInstruction::of(module, types, constants);
    program.waits = waits(program, &places);
    if program.waits == SpinWaits::Possibly || is_exact(program, module, &places, model) {
        program.order = OrderUse::Exact(Arc::new(places));
        return;
    }
    for block in &mut program.blocks {
        block.steps.retain(|step| !matches!(step.instruction, LaneInstruction::Fence { .. }));
    }
}

fn is_exact(
    program: &Program,
    module: &Module,
    places: &FactsByInstruction,
    model: MemoryModel,
) -> bool {
    let steps = || program.blocks.iter().flat_map(|block| &block.steps);
    let fences = steps()
        .any(|step| matches!(&step.instruction, LaneInstruction::Fence { fence } if fence.orders_anything()));
    // A flag is an atomic that somebody looks at.
    let flags = steps().any(|step| looks(&step.instruction));
    let far = |step: &LocatedInstruction| match &step.instruction {
        LaneInstruction::Fence { fence } => fence.reach() == Scope::Device,
        _ => false,
    };
    let control = program.barriers.iter().any(|barrier| {
        let control = barrier.fences.control;
        control.reach() == Scope::Device && control.orders_anything()
    });
    let released = places.atomics().any(|atomic| atomic.fence.orders_anything());
    let meet = !program.barriers.is_empty();
    program.subgroups == SubgroupUse::Barriers
        || places.declared == DeclaredModel::Vulkan
        || released
        || !places.atomics_uniform
        || program.barriers.iter().any(|barrier| !barrier.fences.is_complete(model))
        || (fences && (flags || meet) && has_fence_apart(module))
        || (flags && (steps().any(far) || control))
}

/// Whether an atomic tells its invocation something.
fn looks(action: &LaneInstruction) -> bool {
    match action {
        LaneInstruction::Atomic { op, to, .. } => to.is_some() || *op == AtomicOperation::Load,
        LaneInstruction::Image(image) => {
            matches!(image.operation, ImageOperation::Atomic(_)) && !image.to.is_empty()
        }
        _ => false,
    }
}

fn waits(program: &Program, places: &FactsByInstruction) -> SpinWaits {
    let reads = |step: &LocatedInstruction| match &step.instruction {
        LaneInstruction::Load { access, .. } if is_written(program, access.root) => {
            if places.facts_at(step.source_index).coherent {
                SpinWaits::Possibly
            } else {
                SpinWaits::Plainly
            }
        }
        LaneInstruction::Image(_)
            if looks(&step.instruction) || places.facts_at(step.source_index).coherent =>
        {
            SpinWaits::Possibly
        }
        action if looks(action) => SpinWaits::Possibly,
        _ => SpinWaits::Never,
    };
    let mut most = SpinWaits::Never;
    // Blocks of a loop stand together, and the way back leads to an earlier one.
    let mut last_back = None;
    for (at, block) in program.blocks.iter().enumerate().rev() {
        let back = targets(block).filter(|to| *to as usize <= at).min();
        last_back = [last_back, back].into_iter().flatten().min();
        if last_back.is_some_and(|first| first as usize <= at) {
            most = block.steps.iter().map(reads).fold(most, SpinWaits::max);
        }
    }
    most
}

/// Whether the kernel may write what a root leads to.
fn is_written(program: &Program, root: AccessRoot) -> bool {
    let written = |descriptor: u32| program.descriptors[descriptor as usize].written;
    match root {
        AccessRoot::Workgroup => true,
        AccessRoot::Descriptor(descriptor) => written(descriptor),
        AccessRoot::Descriptors { first, length, index: _ } => (first..first + length).any(written),
        AccessRoot::Address(_) | AccessRoot::Pointer { .. } | AccessRoot::Buffer(_) => true,
        AccessRoot::Invocation | AccessRoot::PushConstant => false,
    }
}

/// Where a block goes on.
fn targets(block: &BasicBlock) -> impl Iterator<Item = u32> {
    let all: Vec<u32> = match &block.terminator {
        Terminator::Jump { to } | Terminator::Barrier { to, barrier: _ } => vec![*to],
        Terminator::Branch { yes, no, condition: _ } => vec![*yes, *no],
        Terminator::Switch { cases, default, selector: _ } => {
            cases.iter().map(|(_, to)| *to).chain([*default]).collect()
        }
        Terminator::End | Terminator::Unreachable => Vec::new(),
    };
    all.into_iter()
}
