//! From the stores of a kernel back to the memory that they depend on.
//!
//! Knows: data dependences through operations, variables, parameters and results, and control
//! dependences. Promises: what a store can depend on is found; more may be.

use super::access::{read_pointer, written_pointer};
use super::live::BlockOf;
use super::pointer::{DescriptorElement, PointerAnalysis, PointerRoot};
use super::{AddressOrigin, DescriptorPlace, FlowPlace, MemoryFlow, StoringGroup};
use crate::module::{Id, Module};
use crate::opcodes::{Effect, effect_of};
use crate::types::{BlockKind, Type};
use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, Op, StorageClass};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// What is looked at on the way from a store to the memory that it depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum DependenceItem {
    Value(Id),
    /// What a variable of the kernel holds.
    Contents(Id),
    /// Whether a block is executed.
    Block(BlockOf),
}

/// Memory outside of the kernel that something was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MemorySource {
    PushConstants { offset: Option<u64> },
    Descriptor { place: DescriptorPlace, offset: Option<u64> },
    Address(Id),
}

/// The memory outside of the kernel that something depends on.
#[derive(Debug, Default)]
pub(super) struct MemoryDependences {
    pub(super) sources: BTreeSet<MemorySource>,
    /// Indexes of the instructions that read it.
    pub(super) reads: BTreeSet<usize>,
}

/// What is followed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FollowedItems {
    /// What a value is made of.
    Values,
    /// That, and what decides whether it is made.
    ValuesAndControl,
}

pub(super) struct FlowAnalysis<'a> {
    pub(super) pointers: &'a PointerAnalysis<'a>,
    pub(super) module: &'a Module,
    /// Indexes of what writes a variable of the kernel.
    pub(super) inner: HashMap<Id, Vec<usize>>,
    /// Indexes of what writes memory outside of it, with where.
    pub(super) outer: Vec<(usize, PointerRoot)>,
    /// Where device addresses were read.
    pub(super) held: RefCell<HashMap<Id, BTreeSet<AddressOrigin>>>,
}

impl<'a> FlowAnalysis<'a> {
    pub(super) fn new(pointers: &'a PointerAnalysis<'a>) -> Self {
        let module = pointers.module;
        let mut analysis = Self {
            pointers,
            module,
            inner: HashMap::new(),
            outer: Vec::new(),
            held: RefCell::default(),
        };
        for index in pointers.live.live_instructions() {
            let Some(target) = written_pointer(module, &module.instructions[index]) else {
                continue;
            };
            for written_root in pointers.roots_of(target).iter() {
                match analysis.own_variable(*written_root) {
                    Some(variable) => analysis.inner.entry(variable).or_default().push(index),
                    None => analysis.outer.push((index, *written_root)),
                }
            }
        }
        analysis
    }

    /// Indexes of the instructions that store outside of the kernel, by place.
    fn by_place(&self) -> BTreeMap<FlowPlace, Vec<usize>> {
        let mut by_place: BTreeMap<FlowPlace, Vec<usize>> = BTreeMap::new();
        for (index, root) in &self.outer {
            let place = match root {
                PointerRoot::Variable(variable, element) => {
                    self.descriptor_place(*variable, *element).map(FlowPlace::Descriptor)
                }
                PointerRoot::Address(id) => Some(FlowPlace::Addressed(self.address_origins(*id))),
            };
            if let Some(place) = place {
                by_place.entry(place).or_default().push(*index);
            }
        }
        by_place
    }

    pub(super) fn storing_groups(&self, most_groups: usize) -> Vec<StoringGroup> {
        let mut places_by_store: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (place_number, stores) in self.by_place().into_values().enumerate() {
            for index in stores {
                places_by_store.entry(index).or_default().insert(place_number);
            }
        }
        let is_grouped = places_by_store.len() > most_groups;
        let mut store_groups: BTreeMap<(Option<usize>, BTreeSet<usize>), BTreeSet<usize>> =
            BTreeMap::new();
        for (index, place_numbers) in places_by_store {
            store_groups
                .entry(((!is_grouped).then_some(index), place_numbers))
                .or_default()
                .insert(index);
        }
        let mut storing_groups = Vec::new();
        for ((_, rows), instructions) in store_groups {
            let stores: Vec<usize> = instructions.iter().copied().collect();
            let reads = self.dependences_of(&stores).reads;
            storing_groups.push(StoringGroup { rows, reads, instructions });
        }
        storing_groups
    }

    pub(super) fn flows_by_place(&self) -> Vec<MemoryFlow> {
        let mut flows = Vec::new();
        for (to, stores) in self.by_place() {
            let members = match to {
                FlowPlace::Descriptor(_) => self.written_members(&stores),
                FlowPlace::Addressed(_) => BTreeSet::new(),
            };
            let sources = self.dependences_of(&stores).sources;
            let from = sources.into_iter().filter_map(|source| self.read_place(source)).collect();
            flows.push(MemoryFlow { to, members, from });
        }
        flows
    }

    /// The memory of a dispatch that is read; none for push constants, which the host gives.
    fn read_place(&self, source: MemorySource) -> Option<FlowPlace> {
        match source {
            MemorySource::PushConstants { .. } => None,
            MemorySource::Descriptor { place, .. } => Some(FlowPlace::Descriptor(place)),
            MemorySource::Address(id) => Some(FlowPlace::Addressed(self.address_origins(id))),
        }
    }

    /// Where the members begin that these instructions write.
    fn written_members(&self, store_indices: &[usize]) -> BTreeSet<u64> {
        let targets = store_indices
            .iter()
            .filter_map(|index| written_pointer(self.module, &self.module.instructions[*index]));
        targets.flat_map(|target| self.pointers.member_starts(target)).collect()
    }

    /// Memory that instructions which write a place depend on.
    fn dependences_of(&self, store_indices: &[usize]) -> MemoryDependences {
        let start = store_indices.iter().flat_map(|index| self.items_of_store(*index)).collect();
        self.explore_dependences(start, store_indices, FollowedItems::ValuesAndControl)
    }

    /// Where a device address was read.
    fn address_origins(&self, address: Id) -> BTreeSet<AddressOrigin> {
        if !self.held.borrow().contains_key(&address) {
            let origins = self.explore_address(address);
            self.held.borrow_mut().insert(address, origins);
        }
        self.held.borrow()[&address].clone()
    }

    fn explore_address(&self, address: Id) -> BTreeSet<AddressOrigin> {
        let sources = self
            .explore_dependences(vec![DependenceItem::Value(address)], &[], FollowedItems::Values)
            .sources;
        sources.into_iter().map(address_origin).collect()
    }

    /// Everything that is read on the way to `start`; `stores` read what they write anew.
    fn explore_dependences(
        &self,
        start_items: Vec<DependenceItem>,
        store_indices: &[usize],
        followed: FollowedItems,
    ) -> MemoryDependences {
        let mut dependences = MemoryDependences::default();
        let (mut visited_items, mut pending_items) = (HashSet::new(), start_items);
        store_indices
            .iter()
            .for_each(|index| self.visit_read(*index, &mut pending_items, &mut dependences));
        while let Some(item) = pending_items.pop() {
            if followed == FollowedItems::Values && matches!(item, DependenceItem::Block(_))
                || !visited_items.insert(item)
            {
                continue;
            }
            match item {
                DependenceItem::Value(id) => {
                    self.visit_value(id, &mut pending_items, &mut dependences)
                }
                DependenceItem::Contents(variable) => {
                    for index in self.inner.get(&variable).into_iter().flatten() {
                        pending_items.extend(self.items_of_store(*index));
                        self.visit_read(*index, &mut pending_items, &mut dependences);
                    }
                }
                DependenceItem::Block(block) => self.visit_block(block, &mut pending_items),
            }
        }
        dependences
    }

    /// What a writing instruction is made of.
    pub(super) fn items_of_store(&self, instruction_index: usize) -> Vec<DependenceItem> {
        let operands = self.module.instructions[instruction_index].ids().map(DependenceItem::Value);
        operands
            .chain(self.pointers.live.block_of(instruction_index).map(DependenceItem::Block))
            .collect()
    }

    /// What the execution of a block depends on.
    fn visit_block(&self, block: BlockOf, pending_items: &mut Vec<DependenceItem>) {
        for decider in self.pointers.live.deciding_blocks(block) {
            pending_items
                .extend(self.pointers.live.branch_condition(decider).map(DependenceItem::Value));
            pending_items.push(DependenceItem::Block(decider));
        }
        let calls = self.pointers.live.calls_of(block.0);
        pending_items.extend(
            calls
                .iter()
                .filter_map(|call| self.pointers.live.block_of(*call))
                .map(DependenceItem::Block),
        );
    }

    pub(super) fn visit_value(
        &self,
        value_id: Id,
        pending_items: &mut Vec<DependenceItem>,
        dependences: &mut MemoryDependences,
    ) {
        let Some(index) = self.module.definition_index(value_id) else { return };
        let instruction = &self.module.instructions[index];
        match instruction.op {
            Op::FunctionParameter => pending_items
                .extend(self.pointers.passed_arguments(value_id).map(DependenceItem::Value)),
            Op::FunctionCall => {
                let returns = instruction
                    .id(0)
                    .map_or(&[][..], |callee| self.pointers.live.returns_of(callee));
                for return_index in returns {
                    pending_items.extend(self.items_of_store(*return_index));
                }
            }
            Op::Phi => self.visit_phi(index, pending_items),
            _ if effect_of(instruction.op).is_none_or(|effect| effect == Effect::Declaration) => {}
            _ => {
                pending_items.extend(instruction.ids().map(DependenceItem::Value));
                if effect_of(instruction.op) == Some(Effect::Subgroup) {
                    pending_items
                        .extend(self.pointers.live.block_of(index).map(DependenceItem::Block));
                }
                self.visit_read(index, pending_items, dependences);
            }
        }
    }

    /// The values of a phi, and what decides which of them it has.
    fn visit_phi(&self, instruction_index: usize, pending_items: &mut Vec<DependenceItem>) {
        let Some((function, _)) = self.pointers.live.block_of(instruction_index) else { return };
        for value_and_label in self.module.instructions[instruction_index].operands.chunks_exact(2)
        {
            let [Some(value_id), Some(label)] =
                [&value_and_label[0], &value_and_label[1]].map(Operand::id_ref_any)
            else {
                continue;
            };
            pending_items.push(DependenceItem::Value(value_id));
            if let Some(source_block) = self.pointers.live.block_labelled(function, label) {
                pending_items.extend(
                    self.pointers.live.branch_condition(source_block).map(DependenceItem::Value),
                );
                pending_items.push(DependenceItem::Block(source_block));
            }
        }
    }

    /// The memory that an instruction reads.
    pub(super) fn visit_read(
        &self,
        instruction_index: usize,
        pending_items: &mut Vec<DependenceItem>,
        dependences: &mut MemoryDependences,
    ) {
        let instruction = &self.module.instructions[instruction_index];
        let Some(read_pointer) = read_pointer(self.pointers, instruction) else { return };
        for root in self.pointers.roots_of(read_pointer).iter() {
            if let Some(variable) = self.own_variable(*root) {
                pending_items.push(DependenceItem::Contents(variable));
                continue;
            }
            match root {
                PointerRoot::Address(id) => {
                    dependences.sources.insert(MemorySource::Address(*id));
                    dependences.reads.insert(instruction_index);
                }
                PointerRoot::Variable(variable, element) => {
                    let offset = self.pointers.constant_offset(read_pointer);
                    if self.storage_class(*variable) == Some(StorageClass::PushConstant) {
                        dependences.sources.insert(MemorySource::PushConstants { offset });
                    } else if let Some(place) = self.descriptor_place(*variable, *element) {
                        dependences.sources.insert(MemorySource::Descriptor { place, offset });
                        dependences.reads.insert(instruction_index);
                    }
                }
            }
        }
    }

    pub(super) fn storage_class(&self, variable: Id) -> Option<StorageClass> {
        match self.module.definition(variable)?.operands.first()? {
            Operand::StorageClass(storage) => Some(*storage),
            _ => None,
        }
    }

    /// The variable, where it is the kernel's own memory. Blocks in workgroup memory share their
    /// bytes: one stands for all.
    fn own_variable(&self, root: PointerRoot) -> Option<Id> {
        let PointerRoot::Variable(variable, _) = root else { return None };
        match self.storage_class(variable)? {
            StorageClass::Function | StorageClass::Private => Some(variable),
            StorageClass::Workgroup if self.is_block(variable) => {
                let mut globals =
                    self.module.instructions.iter().filter_map(|instruction| instruction.result);
                globals.find(|id| {
                    self.storage_class(*id) == Some(StorageClass::Workgroup) && self.is_block(*id)
                })
            }
            StorageClass::Workgroup => Some(variable),
            _ => None,
        }
    }

    fn is_block(&self, variable: Id) -> bool {
        let contents = self
            .module
            .definition(variable)
            .and_then(|definition| self.pointers.types.variable_contents(definition));
        let ty = contents.and_then(|(_, contents)| self.pointers.types.get(contents));
        matches!(ty, Some(Type::Structure { block: BlockKind::Block, .. }))
    }

    pub(super) fn descriptor_place(
        &self,
        variable: Id,
        array_element: DescriptorElement,
    ) -> Option<DescriptorPlace> {
        let array_element = match array_element {
            DescriptorElement::At(index) => Some(index),
            DescriptorElement::Whole | DescriptorElement::Any => None,
        };
        Some(DescriptorPlace {
            set: self.decoration_number(variable, Decoration::DescriptorSet)?,
            binding: self.decoration_number(variable, Decoration::Binding)?,
            element: array_element,
        })
    }

    fn decoration_number(&self, variable: Id, decoration: Decoration) -> Option<u32> {
        match self.module.decoration(variable, decoration)?.operands.first()? {
            Operand::LiteralBit32(number) => Some(*number),
            _ => None,
        }
    }
}

fn address_origin(source: MemorySource) -> AddressOrigin {
    match source {
        MemorySource::PushConstants { offset } => AddressOrigin::PushConstants { offset },
        MemorySource::Descriptor { place, offset } => AddressOrigin::Descriptor { place, offset },
        MemorySource::Address(_) => AddressOrigin::Addressed,
    }
}
