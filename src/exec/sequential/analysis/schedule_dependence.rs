//! Whether the races of a run are those of every schedule: whether control flow or addresses depend
//! on what an atomic gave or on a value that was read in a race.
//!
//! Knows: which registers and which memory a value may come to, whatever the path (a forward
//! may-analysis of the program).
//! Promises: where [`schedule_dependence`] finds nothing, every schedule makes the same accesses,
//! and barriers order them alike. An atomic without a used result whose operations commute gives memory
//! the same value in every schedule.
//! Does not cover: parts of a variable: one element that depends on an atomic stands for all. Order
//! that atomics make between invocations: `HappensBefore::synchronized` tells of that.

use crate::ir::atomic::AtomicOperation;
use crate::ir::image::ImageOperation;
use crate::ir::{
    Access, AccessRoot, BasicBlock, LaneInstruction, LocatedInstruction, OrderUse, PointedMemory,
    Program, RegisterUse, Scalar, SpinWaits, Terminator,
};
use crate::memory::access_sets::CommutativeUpdate;
use crate::memory::store::BoundRange;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_spirv::operation::sized::NumberFormat;

/// Memory that the analysis does not divide further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum MemoryRegion {
    Buffer(usize),
    /// Any buffer: where an address leads.
    Buffers,
    Workgroup,
    Invocation,
    PushConstants,
}

impl MemoryRegion {
    /// Whether several invocations access it.
    fn is_shared(self) -> bool {
        match self {
            MemoryRegion::Buffer(_) | MemoryRegion::Buffers | MemoryRegion::Workgroup => true,
            MemoryRegion::Invocation | MemoryRegion::PushConstants => false,
        }
    }
}

fn is_atomic(step: &LocatedInstruction) -> bool {
    match &step.instruction {
        LaneInstruction::Atomic { .. } => true,
        LaneInstruction::Image(image) => matches!(image.operation, ImageOperation::Atomic(_)),
        _ => false,
    }
}

/// Whether the updates of a memory region are not all the same commutative one, so that their order
/// matters.
fn is_order_dependent(updates: &[Option<[CommutativeUpdate; 2]>]) -> bool {
    updates.iter().any(|update| update.is_none() || *update != updates[0])
}

/// State of the forward analysis: what may depend on the schedule so far.
pub(super) struct ScheduleFlow<'a> {
    program: Program,
    slots: &'a [Option<BoundRange>],
    racy: &'a BTreeSet<u32>,
    /// Registers that outlive a block.
    registers: BTreeSet<Scalar>,
    /// Registers of the current block: other blocks reuse the same ones.
    local: BTreeSet<Scalar>,
    memory: BTreeSet<MemoryRegion>,
    /// Source indices of branches and addresses that a schedule-dependent value reaches.
    reached: BTreeSet<u32>,
    /// Blocks that end in such a branch.
    deciding: BTreeSet<usize>,
    /// Blocks that run only where such a branch has decided so; empty where control is not
    /// followed.
    controlled: BTreeSet<usize>,
    /// The current block.
    current: usize,
}

/// The first instruction that makes the accesses of a dispatch depend on its schedule. `racy` are
/// the places of accesses whose values depend on who comes first: reads that race, and writes that
/// race and differ. `buffers` are those whose contents depend on the schedule, before the dispatch
/// and then behind it.
pub(crate) fn schedule_dependence(
    program: &Program,
    slots: &[Option<BoundRange>],
    racy: &BTreeSet<u32>,
    dependent_buffers: &mut BTreeSet<usize>,
) -> Option<u32> {
    let all_steps = || program.blocks.iter().flat_map(|block| &block.steps);
    if racy.is_empty() && dependent_buffers.is_empty() && !all_steps().any(is_atomic) {
        return None;
    }
    let mut flow = ScheduleFlow::new(program, slots, racy, dependent_buffers);
    while flow.propagate() {}
    flow.add_dependent_buffers(dependent_buffers);
    flow.reached.first().copied()
}

impl<'a> ScheduleFlow<'a> {
    pub(super) fn new(
        program: &Program,
        slots: &'a [Option<BoundRange>],
        racy: &'a BTreeSet<u32>,
        dependent_buffers: &BTreeSet<usize>,
    ) -> Self {
        let mut flow = ScheduleFlow {
            program: program.clone(),
            slots,
            racy,
            registers: BTreeSet::new(),
            local: BTreeSet::new(),
            memory: BTreeSet::new(),
            reached: BTreeSet::new(),
            deciding: BTreeSet::new(),
            controlled: BTreeSet::new(),
            current: 0,
        };
        flow.memory = flow.order_dependent_regions();
        flow.memory.extend(dependent_buffers.iter().map(|buffer| MemoryRegion::Buffer(*buffer)));
        flow
    }
}

impl ScheduleFlow<'_> {
    /// Adds the buffers whose contents depend on the schedule.
    pub(super) fn add_dependent_buffers(&self, dependent_buffers: &mut BTreeSet<usize>) {
        for region in &self.memory {
            match region {
                MemoryRegion::Buffer(buffer) => drop(dependent_buffers.insert(*buffer)),
                MemoryRegion::Buffers => {
                    dependent_buffers.extend(self.slots.iter().flatten().map(|slot| slot.buffer))
                }
                MemoryRegion::Workgroup
                | MemoryRegion::Invocation
                | MemoryRegion::PushConstants => {}
            }
        }
    }

    pub(super) fn deciding(&self) -> &BTreeSet<usize> {
        &self.deciding
    }

    /// Follows control: these blocks depend on the schedule; whether any of them is new.
    pub(super) fn add_controlled(&mut self, blocks: BTreeSet<usize>) -> bool {
        let earlier_count = self.controlled.len();
        self.controlled.extend(blocks);
        self.controlled.len() > earlier_count
    }

    /// Begins a block.
    pub(super) fn enter_block(&mut self, block: usize) {
        self.local.clear();
        self.current = block;
    }

    pub(super) fn is_controlled(&self) -> bool {
        self.controlled.contains(&self.current)
    }

    fn root_regions(&self, root: AccessRoot) -> Vec<MemoryRegion> {
        let descriptor_region = |descriptor: u32| {
            let slot = self.slots.get(descriptor as usize).copied().flatten();
            slot.map(|slot| MemoryRegion::Buffer(slot.buffer))
        };
        match root {
            AccessRoot::Descriptor(descriptor) => {
                descriptor_region(descriptor).into_iter().collect()
            }
            AccessRoot::Descriptors { first, length, index: _ } => {
                (first..first + length).filter_map(descriptor_region).collect()
            }
            AccessRoot::Buffer(buffer) => vec![MemoryRegion::Buffer(buffer as usize)],
            AccessRoot::Address(_)
            | AccessRoot::Pointer { which: _, into: PointedMemory::Buffers } => {
                vec![MemoryRegion::Buffers]
            }
            AccessRoot::Workgroup
            | AccessRoot::Pointer { which: _, into: PointedMemory::Workgroup } => {
                vec![MemoryRegion::Workgroup]
            }
            AccessRoot::Invocation => vec![MemoryRegion::Invocation],
            AccessRoot::PushConstant => vec![MemoryRegion::PushConstants],
        }
    }

    /// Whether memory behind a root may hold a schedule-dependent value.
    fn may_hold_dependent(&self, root: AccessRoot) -> bool {
        self.root_regions(root).iter().any(|region| match region {
            MemoryRegion::Buffers => self.memory.iter().any(|held_region| {
                matches!(held_region, MemoryRegion::Buffer(_) | MemoryRegion::Buffers)
            }),
            MemoryRegion::Buffer(_) => {
                self.memory.contains(region) || self.memory.contains(&MemoryRegion::Buffers)
            }
            MemoryRegion::Workgroup | MemoryRegion::Invocation | MemoryRegion::PushConstants => {
                self.memory.contains(region)
            }
        })
    }

    /// Memory whose contents depend on the order of atomics.
    fn order_dependent_regions(&self) -> BTreeSet<MemoryRegion> {
        let mut ways: BTreeMap<MemoryRegion, Vec<Option<[CommutativeUpdate; 2]>>> = BTreeMap::new();
        let mut note_update =
            |regions: Vec<MemoryRegion>, op: AtomicOperation, number_format: NumberFormat| {
                let way = CommutativeUpdate::by(op, number_format);
                regions.into_iter().for_each(|region| ways.entry(region).or_default().push(way));
            };
        for step in self.program.blocks.iter().flat_map(|block| &block.steps) {
            match &step.instruction {
                LaneInstruction::Atomic { op, form: number_format, access, .. }
                    if *op != AtomicOperation::Load =>
                {
                    note_update(self.root_regions(access.root), *op, *number_format);
                }
                LaneInstruction::Image(image) => {
                    if let ImageOperation::Atomic(op) = image.operation {
                        note_update(
                            self.image_regions(&image.image.descriptors),
                            op,
                            image.texel_format,
                        );
                    }
                }
                _ => {}
            }
        }
        ways.into_iter()
            .filter(|(_, ways)| is_order_dependent(ways))
            .map(|(region, _)| region)
            .collect()
    }

    fn image_regions(&self, descriptors: &[u32]) -> Vec<MemoryRegion> {
        descriptors
            .iter()
            .flat_map(|descriptor| self.root_regions(AccessRoot::Descriptor(*descriptor)))
            .collect()
    }

    /// Adds memory that is read and written plainly where invocations may wait for each other and
    /// fences order what they do: what one leaves there for the next, as under a lock, depends on
    /// which invocation comes first.
    pub(super) fn add_regions_passed_by_waiting(&mut self) {
        let has_fence = |block: &BasicBlock| {
            let fence = |step: &LocatedInstruction| step.instruction.is_ordering_fence();
            !matches!(block.terminator, Terminator::Barrier { .. }) && block.steps.iter().any(fence)
        };
        let has_releasing_atomic = match &self.program.order {
            OrderUse::Exact(places) => {
                places.atomics().any(|atomic| atomic.fence.orders_anything())
            }
            OrderUse::Intervals => false,
        };
        if self.program.spin_waits != SpinWaits::Possibly
            || !(has_releasing_atomic || self.program.blocks.iter().any(has_fence))
        {
            return;
        }
        let (mut read_regions, mut written_regions) = (BTreeSet::new(), BTreeSet::new());
        for step in self.program.blocks.iter().flat_map(|block| &block.steps) {
            match &step.instruction {
                LaneInstruction::Load { access, .. } => {
                    read_regions.extend(self.root_regions(access.root))
                }
                LaneInstruction::Store { access, .. } => {
                    written_regions.extend(self.root_regions(access.root))
                }
                _ => {}
            }
        }
        self.memory.extend(
            read_regions.intersection(&written_regions).filter(|region| region.is_shared()),
        );
    }

    /// Whether a register lives in one block.
    fn is_local(&self, scalar: Scalar) -> bool {
        match scalar {
            Scalar::Word(reg) => reg.0 < self.program.shared_words,
            Scalar::Mask(reg) => reg.0 < self.program.shared_masks,
        }
    }

    pub(super) fn register_depends(&self, scalar: Scalar) -> bool {
        if self.is_local(scalar) {
            self.local.contains(&scalar)
        } else {
            self.registers.contains(&scalar)
        }
    }

    /// One round of the fix point; whether anything was added.
    pub(super) fn propagate(&mut self) -> bool {
        let earlier_sizes = (self.registers.len(), self.memory.len());
        let mut blocks = std::mem::take(&mut self.program.blocks);
        for (index, block) in blocks.iter_mut().enumerate() {
            self.enter_block(index);
            for step in &mut block.steps {
                self.transfer(step);
            }
            let branch_depends = match &block.terminator {
                Terminator::Branch { condition, .. } => {
                    self.register_depends(Scalar::Mask(*condition))
                }
                Terminator::Switch { selector, .. } => {
                    self.register_depends(Scalar::Word(*selector))
                }
                Terminator::Jump { .. }
                | Terminator::Barrier { .. }
                | Terminator::End
                | Terminator::Unreachable => false,
            };
            if branch_depends {
                self.reached.insert(block.source_index);
                self.deciding.insert(index);
            }
        }
        self.program.blocks = blocks;
        (self.registers.len(), self.memory.len()) != earlier_sizes
    }

    pub(super) fn transfer(&mut self, step: &mut LocatedInstruction) {
        if self.address_depends(&step.instruction) {
            self.reached.insert(step.source_index);
        }
        let (mut reads_dependent, mut written_registers) = (self.is_controlled(), Vec::new());
        step.instruction.visit_registers(&mut |scalar, register_use| {
            if matches!(register_use, RegisterUse::Write | RegisterUse::Update) {
                written_registers.push(*scalar);
            }
            reads_dependent |= register_use != RegisterUse::Write && self.register_depends(*scalar);
        });
        let result_dependent = self.result_depends(step, reads_dependent);
        for scalar in written_registers {
            match (self.is_local(scalar), result_dependent) {
                (true, true) => drop(self.local.insert(scalar)),
                (true, false) => drop(self.local.remove(&scalar)),
                (false, true) => drop(self.registers.insert(scalar)),
                (false, false) => {}
            }
        }
    }

    /// Whether the result of an instruction depends on the schedule, given whether an operand does;
    /// adds the memory that it stores such a value to.
    fn result_depends(&mut self, step: &LocatedInstruction, reads_dependent: bool) -> bool {
        match &step.instruction {
            LaneInstruction::Atomic { access, op, .. } => {
                if reads_dependent {
                    self.memory.extend(self.root_regions(access.root));
                }
                // Whether it writes depends on which invocation came before.
                if *op == AtomicOperation::CompareExchange {
                    self.reached.insert(step.source_index);
                }
                true
            }
            LaneInstruction::Load { access, .. } => {
                reads_dependent
                    || self.may_hold_dependent(access.root)
                    || self.racy.contains(&step.source_index)
            }
            LaneInstruction::Store { access, .. } => {
                if reads_dependent || self.racy.contains(&step.source_index) {
                    self.memory.extend(self.root_regions(access.root));
                }
                false
            }
            LaneInstruction::Image(image) => {
                let shown_regions = self.image_regions(&image.image.descriptors);
                let is_atomic = matches!(image.operation, ImageOperation::Atomic(_));
                let is_stored = is_atomic || image.operation == ImageOperation::Write;
                if is_stored
                    && (reads_dependent || !is_atomic && self.racy.contains(&step.source_index))
                {
                    self.memory.extend(shown_regions.iter().copied());
                }
                if image.operation == ImageOperation::Atomic(AtomicOperation::CompareExchange) {
                    self.reached.insert(step.source_index);
                }
                let holds_dependent =
                    shown_regions.iter().any(|region| self.memory.contains(region));
                reads_dependent
                    || is_atomic
                    || holds_dependent
                    || self.racy.contains(&step.source_index)
            }
            _ => reads_dependent,
        }
    }

    /// Whether the address of an instruction depends on the schedule.
    fn address_depends(&self, action: &LaneInstruction) -> bool {
        let register_depends = |reg| self.register_depends(Scalar::Word(reg));
        let access: &Access = match action {
            LaneInstruction::Load { access, .. }
            | LaneInstruction::Store { access, .. }
            | LaneInstruction::Atomic { access, .. } => access,
            LaneInstruction::Image(image) => {
                let index = image.image.index.map(|index| index.register);
                return image.coordinates.iter().copied().chain(index).any(register_depends);
            }
            _ => return false,
        };
        let root_depends = match access.root {
            AccessRoot::Address(parts) => parts.words().any(register_depends),
            AccessRoot::Pointer { which, into: _ } => register_depends(which),
            AccessRoot::Descriptors { index, .. } => register_depends(index),
            AccessRoot::Descriptor(_)
            | AccessRoot::Workgroup
            | AccessRoot::Invocation
            | AccessRoot::PushConstant
            | AccessRoot::Buffer(_) => false,
        };
        root_depends || access.dimensions.iter().any(|dimension| register_depends(dimension.index))
    }
}
