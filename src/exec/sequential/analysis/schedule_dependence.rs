//! Whether the races of a run are those of every schedule: whether control flow or addresses depend
//! on what an atomic gave or on a value that was read in a race.
//!
//! Knows: which registers and which memory a value may come to, whatever the path (a forward
//! may-analysis of the program).
//! Promises: where [`dependence`] finds nothing, every schedule makes the same accesses, and
//! barriers order them alike. An atomic without a used result whose operations commute gives memory
//! the same value in every schedule.
//! Does not cover: parts of a variable: one element that depends on an atomic stands for all. Order
//! that atomics make between invocations: `Order::synchronized` tells of that.

use crate::ir::atomic::AtomicOperation;
use crate::ir::image::ImageOperation;
use crate::ir::{
    Access, AccessRoot, BasicBlock, LaneInstruction, LocatedInstruction, OrderUse, PointedMemory,
    Program, RegisterUse, Scalar, SpinWaits, Terminator,
};
use crate::memory::access_sets::Combined;
use crate::memory::store::Slot;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_spirv::operation::sized::NumberFormat;

/// Memory that is looked at as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Memory {
    Buffer(usize),
    /// Any buffer: where an address leads.
    Buffers,
    Workgroup,
    Invocation,
    PushConstants,
}

/// What the analysis has found so far.
pub(super) struct Flow<'a> {
    program: Program,
    slots: &'a [Option<Slot>],
    racy: &'a BTreeSet<u32>,
    /// Registers that outlive a block.
    registers: BTreeSet<Scalar>,
    /// Those of the block that is looked at: others use the same ones.
    local: BTreeSet<Scalar>,
    memory: BTreeSet<Memory>,
    /// Branches and addresses that such a value comes to.
    reached: BTreeSet<u32>,
    /// Blocks that end in such a branch.
    deciding: BTreeSet<usize>,
    /// Blocks that run only where such a branch has decided so; empty where control is not
    /// followed.
    controlled: BTreeSet<usize>,
    /// The block that is looked at.
    current: usize,
}

/// The first instruction that makes the accesses of a dispatch depend on its schedule. `racy` are
/// the places of accesses whose values depend on who comes first: reads that race, and writes that
/// race and differ. `buffers` are those whose contents depend on the schedule, before the dispatch
/// and then behind it.
pub(crate) fn dependence(
    program: &Program,
    slots: &[Option<Slot>],
    racy: &BTreeSet<u32>,
    buffers: &mut BTreeSet<usize>,
) -> Option<u32> {
    let steps = || program.blocks.iter().flat_map(|block| &block.steps);
    let atomic = |step: &LocatedInstruction| match &step.instruction {
        LaneInstruction::Atomic { .. } => true,
        LaneInstruction::Image(image) => matches!(image.operation, ImageOperation::Atomic(_)),
        _ => false,
    };
    if racy.is_empty() && buffers.is_empty() && !steps().any(atomic) {
        return None;
    }
    let mut flow = Flow::new(program, slots, racy, buffers);
    while flow.spread() {}
    flow.hand_over(buffers);
    flow.reached.first().copied()
}

impl<'a> Flow<'a> {
    pub(super) fn new(
        program: &Program,
        slots: &'a [Option<Slot>],
        racy: &'a BTreeSet<u32>,
        buffers: &BTreeSet<usize>,
    ) -> Self {
        let mut flow = Flow {
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
        flow.memory = flow.unordered();
        flow.memory.extend(buffers.iter().map(|buffer| Memory::Buffer(*buffer)));
        flow
    }
}

impl Flow<'_> {
    /// Adds the buffers whose contents depend on the schedule.
    pub(super) fn hand_over(&self, buffers: &mut BTreeSet<usize>) {
        for memory in &self.memory {
            match memory {
                Memory::Buffer(buffer) => drop(buffers.insert(*buffer)),
                Memory::Buffers => {
                    buffers.extend(self.slots.iter().flatten().map(|slot| slot.buffer))
                }
                Memory::Workgroup | Memory::Invocation | Memory::PushConstants => {}
            }
        }
    }

    pub(super) fn deciding(&self) -> &BTreeSet<usize> {
        &self.deciding
    }

    /// Follows control: these blocks depend on the schedule; whether any of them is new.
    pub(super) fn control(&mut self, blocks: BTreeSet<usize>) -> bool {
        let before = self.controlled.len();
        self.controlled.extend(blocks);
        self.controlled.len() > before
    }

    /// What follows is this block.
    pub(super) fn enter(&mut self, block: usize) {
        self.local.clear();
        self.current = block;
    }

    pub(super) fn is_controlled(&self) -> bool {
        self.controlled.contains(&self.current)
    }

    fn memories(&self, root: AccessRoot) -> Vec<Memory> {
        let buffer = |descriptor: u32| {
            let slot = self.slots.get(descriptor as usize).copied().flatten();
            slot.map(|slot| Memory::Buffer(slot.buffer))
        };
        match root {
            AccessRoot::Descriptor(descriptor) => buffer(descriptor).into_iter().collect(),
            AccessRoot::Descriptors { first, length, index: _ } => {
                (first..first + length).filter_map(buffer).collect()
            }
            AccessRoot::Buffer(buffer) => vec![Memory::Buffer(buffer as usize)],
            AccessRoot::Address(_)
            | AccessRoot::Pointer { which: _, into: PointedMemory::Buffers } => {
                vec![Memory::Buffers]
            }
            AccessRoot::Workgroup
            | AccessRoot::Pointer { which: _, into: PointedMemory::Workgroup } => {
                vec![Memory::Workgroup]
            }
            AccessRoot::Invocation => vec![Memory::Invocation],
            AccessRoot::PushConstant => vec![Memory::PushConstants],
        }
    }

    /// Whether some of it may hold such a value.
    fn holds(&self, root: AccessRoot) -> bool {
        self.memories(root).iter().any(|memory| match memory {
            Memory::Buffers => {
                self.memory.iter().any(|one| matches!(one, Memory::Buffer(_) | Memory::Buffers))
            }
            Memory::Buffer(_) => {
                self.memory.contains(memory) || self.memory.contains(&Memory::Buffers)
            }
            Memory::Workgroup | Memory::Invocation | Memory::PushConstants => {
                self.memory.contains(memory)
            }
        })
    }

    /// Memory whose contents depend on the order of atomics.
    fn unordered(&self) -> BTreeSet<Memory> {
        let mut ways: BTreeMap<Memory, Vec<Option<[Combined; 2]>>> = BTreeMap::new();
        let mut note = |memories: Vec<Memory>, op: AtomicOperation, form: NumberFormat| {
            let way = Combined::by(op, form);
            memories.into_iter().for_each(|memory| ways.entry(memory).or_default().push(way));
        };
        for step in self.program.blocks.iter().flat_map(|block| &block.steps) {
            match &step.instruction {
                LaneInstruction::Atomic { op, form, access, .. }
                    if *op != AtomicOperation::Load =>
                {
                    note(self.memories(access.root), *op, *form);
                }
                LaneInstruction::Image(image) => {
                    if let ImageOperation::Atomic(op) = image.operation {
                        note(self.shown(&image.image.descriptors), op, image.form);
                    }
                }
                _ => {}
            }
        }
        let unordered = |ways: &Vec<Option<[Combined; 2]>>| {
            ways.iter().any(|way| way.is_none() || *way != ways[0])
        };
        ways.into_iter().filter(|(_, ways)| unordered(ways)).map(|(memory, _)| memory).collect()
    }

    fn shown(&self, descriptors: &[u32]) -> Vec<Memory> {
        descriptors
            .iter()
            .flat_map(|descriptor| self.memories(AccessRoot::Descriptor(*descriptor)))
            .collect()
    }

    /// Adds memory that is read and written plainly where invocations may wait for each other and
    /// fences order what they do: what one leaves there for the next, as under a lock, depends on
    /// who comes first.
    pub(super) fn pass_on_by_waiting(&mut self) {
        let fenced = |block: &BasicBlock| {
            let fence = |step: &LocatedInstruction| matches!(&step.instruction, LaneInstruction::Fence { fence } if fence.orders_anything());
            !matches!(block.terminator, Terminator::Barrier { .. }) && block.steps.iter().any(fence)
        };
        let released = match &self.program.order {
            OrderUse::Exact(places) => {
                places.atomics().any(|atomic| atomic.fence.orders_anything())
            }
            OrderUse::Intervals => false,
        };
        if self.program.waits != SpinWaits::Possibly
            || !(released || self.program.blocks.iter().any(fenced))
        {
            return;
        }
        let (mut read, mut written) = (BTreeSet::new(), BTreeSet::new());
        for step in self.program.blocks.iter().flat_map(|block| &block.steps) {
            match &step.instruction {
                LaneInstruction::Load { access, .. } => read.extend(self.memories(access.root)),
                LaneInstruction::Store { access, .. } => written.extend(self.memories(access.root)),
                _ => {}
            }
        }
        let shared = |memory: &&Memory| match memory {
            Memory::Buffer(_) | Memory::Buffers | Memory::Workgroup => true,
            Memory::Invocation | Memory::PushConstants => false,
        };
        self.memory.extend(read.intersection(&written).filter(shared));
    }

    /// Whether a register lives in one block.
    fn is_local(&self, scalar: Scalar) -> bool {
        match scalar {
            Scalar::Word(reg) => reg.0 < self.program.shared_words,
            Scalar::Mask(reg) => reg.0 < self.program.shared_masks,
        }
    }

    pub(super) fn has(&self, scalar: Scalar) -> bool {
        if self.is_local(scalar) {
            self.local.contains(&scalar)
        } else {
            self.registers.contains(&scalar)
        }
    }

    /// One round; whether anything is new.
    pub(super) fn spread(&mut self) -> bool {
        let before = (self.registers.len(), self.memory.len());
        let mut blocks = std::mem::take(&mut self.program.blocks);
        for (index, block) in blocks.iter_mut().enumerate() {
            self.enter(index);
            for step in &mut block.steps {
                self.step(step);
            }
            let branches = match &block.terminator {
                Terminator::Branch { condition, .. } => self.has(Scalar::Mask(*condition)),
                Terminator::Switch { selector, .. } => self.has(Scalar::Word(*selector)),
                Terminator::Jump { .. }
                | Terminator::Barrier { .. }
                | Terminator::End
                | Terminator::Unreachable => false,
            };
            if branches {
                self.reached.insert(block.source_index);
                self.deciding.insert(index);
            }
        }
        self.program.blocks = blocks;
        (self.registers.len(), self.memory.len()) != before
    }

    pub(super) fn step(&mut self, step: &mut LocatedInstruction) {
        if self.is_addressed(&step.instruction) {
            self.reached.insert(step.source_index);
        }
        let (mut read, mut written) = (self.is_controlled(), Vec::new());
        step.instruction.visit_registers(&mut |scalar, using| {
            if matches!(using, RegisterUse::Write | RegisterUse::Update) {
                written.push(*scalar);
            }
            read |= using != RegisterUse::Write && self.has(*scalar);
        });
        let gives = self.gives(step, read);
        for scalar in written {
            match (self.is_local(scalar), gives) {
                (true, true) => drop(self.local.insert(scalar)),
                (true, false) => drop(self.local.remove(&scalar)),
                (false, true) => drop(self.registers.insert(scalar)),
                (false, false) => {}
            }
        }
    }

    /// Whether what a step gives is such a value, where it reads one or not; notes what it stores.
    fn gives(&mut self, step: &LocatedInstruction, read: bool) -> bool {
        match &step.instruction {
            LaneInstruction::Atomic { access, op, .. } => {
                if read {
                    self.memory.extend(self.memories(access.root));
                }
                // Whether it writes depends on who came before.
                if *op == AtomicOperation::CompareExchange {
                    self.reached.insert(step.source_index);
                }
                true
            }
            LaneInstruction::Load { access, .. } => {
                read || self.holds(access.root) || self.racy.contains(&step.source_index)
            }
            LaneInstruction::Store { access, .. } => {
                if read || self.racy.contains(&step.source_index) {
                    self.memory.extend(self.memories(access.root));
                }
                false
            }
            LaneInstruction::Image(image) => {
                let shown = self.shown(&image.image.descriptors);
                let atomic = matches!(image.operation, ImageOperation::Atomic(_));
                let stores = atomic || image.operation == ImageOperation::Write;
                if stores && (read || !atomic && self.racy.contains(&step.source_index)) {
                    self.memory.extend(shown.iter().copied());
                }
                if image.operation == ImageOperation::Atomic(AtomicOperation::CompareExchange) {
                    self.reached.insert(step.source_index);
                }
                let held = shown.iter().any(|one| self.memory.contains(one));
                read || atomic || held || self.racy.contains(&step.source_index)
            }
            _ => read,
        }
    }

    /// Whether where an action goes depends on such a value.
    fn is_addressed(&self, action: &LaneInstruction) -> bool {
        let has = |reg| self.has(Scalar::Word(reg));
        let access: &Access = match action {
            LaneInstruction::Load { access, .. }
            | LaneInstruction::Store { access, .. }
            | LaneInstruction::Atomic { access, .. } => access,
            LaneInstruction::Image(image) => {
                let index = image.image.index.map(|index| index.register);
                return image.coordinates.iter().copied().chain(index).any(has);
            }
            _ => return false,
        };
        let rooted = match access.root {
            AccessRoot::Address(parts) => parts.registers().any(has),
            AccessRoot::Pointer { which, into: _ } => has(which),
            AccessRoot::Descriptors { index, .. } => has(index),
            AccessRoot::Descriptor(_)
            | AccessRoot::Workgroup
            | AccessRoot::Invocation
            | AccessRoot::PushConstant
            | AccessRoot::Buffer(_) => false,
        };
        rooted || access.dimensions.iter().any(|dimension| has(dimension.index))
    }
}
