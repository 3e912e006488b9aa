//! What of a kernel's inputs and shared memory its accesses, branches and barriers depend on.
//!
//! Knows: the data that a value is computed from, through operations, variables of invocations,
//! parameters and results, back to inputs and to memory that others see; which branches decide
//! whether an instruction is executed, and which value it has (`choice`).
//! Promises: what a value can depend on is listed; more may be. Linear in the module's size but for
//! the number of objects.
//! Does not cover: how a value got into shared memory, which is another access; which element an
//! index chooses; values that cancel out.

mod choice;

use super::access::{read_pointer, written_pointer};
use super::analysis::{DependenceItem, FlowAnalysis, MemoryDependences, MemorySource};
use super::pointer::PointerRoot;
use super::{DecidedBranches, with_analysis};
use crate::barriers::holds_workgroup;
use crate::interface::ReflectError;
use crate::module::{Id, Instruction, Module};
use crate::opcodes::{Effect, effect_of};
use crate::types::{BlockKind, Type};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Decoration, Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// Something that the host gives a kernel, or that its invocations share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum KernelObject {
    /// A member of the push constants.
    PushConstant {
        /// Bytes from their start; of an array of which no one element is named, its own start. None
        /// where it may be any member.
        offset: Option<u64>,
    },
    /// A specialization constant, by its SpecId.
    SpecializationConstant(u32),
    /// A built-in variable.
    BuiltIn(BuiltIn),
    /// What is bound to a descriptor.
    Descriptor {
        /// Descriptor set.
        set: u32,
        /// Binding in the set.
        binding: u32,
        /// Of a block: bytes from its start, as of the push constants; none where it may be any
        /// member, and of images.
        offset: Option<u64>,
    },
    /// How large what is bound to a descriptor is: the length of the array at the end of a buffer,
    /// the extent of an image.
    DescriptorSize {
        /// Descriptor set.
        set: u32,
        /// Binding in the set.
        binding: u32,
    },
    /// A variable of the workgroup, by the id of its declaration.
    Workgroup(Id),
    /// Memory that device addresses name.
    Addressed,
    /// An operation in which invocations of a subgroup take part together, by its number among those
    /// of the module, from 1.
    SubgroupOperation(u32),
    /// The result of a call that is told as a source of its own ([`CallResult::StandIn`]).
    StandIn(Id),
}

/// What the result of a call is known to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallResult {
    /// This value, which is followed in its place.
    Passed(Id),
    /// This value; the call ends what is followed, and is told apart.
    StandIn(Id),
}

/// An instruction that reads or writes memory which others see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectAccess {
    /// Its index in the module.
    pub instruction: usize,
    /// What it may read.
    pub reads: BTreeSet<KernelObject>,
    /// What it may write.
    pub writes: BTreeSet<KernelObject>,
    /// What the values that it writes are computed from.
    pub values: BTreeSet<KernelObject>,
    /// What decides which element it accesses.
    pub indices: BTreeSet<KernelObject>,
    /// The branches that decide whether it is executed, by the index of their instruction: those
    /// around it in its function and around the calls of it.
    pub branches: BTreeSet<usize>,
    /// Of what writes: the other branches that decide which value it writes, or where.
    pub choices: BTreeSet<usize>,
}

/// What a kernel's accesses, branches and barriers depend on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KernelDependences {
    /// In module order.
    pub accesses: Vec<ObjectAccess>,
    /// By the index of a branch or switch: what its condition is computed from.
    pub conditions: BTreeMap<usize, BTreeSet<KernelObject>>,
    /// By the index of a barrier of the workgroup: the branches that decide whether it is executed.
    pub barriers: BTreeMap<usize, BTreeSet<usize>>,
    /// By the index of a subgroup operation: itself, and what its operands are computed from.
    pub subgroup_operations: BTreeMap<usize, SubgroupOperation>,
    /// By the result of a call that stands for another value.
    pub stand_ins: BTreeMap<Id, StandIn>,
}

/// A call that stands for another value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandIn {
    /// What the value is computed from.
    pub objects: BTreeSet<KernelObject>,
    /// The branches that decide whether it is computed there.
    pub branches: BTreeSet<usize>,
    /// The other branches that decide which value it is.
    pub choices: BTreeSet<usize>,
}

/// An operation in which invocations of a subgroup take part together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubgroupOperation {
    /// Its number among those of the module, from 1.
    pub number: u32,
    /// What its operands are computed from.
    pub operands: BTreeSet<KernelObject>,
}

/// Analyses what the entry point reaches under a specialization (raw bits by SpecId).
/// `call_results` has the calls whose results are known, by their ids.
pub fn kernel_dependences(
    module: &Module,
    entry_name: &str,
    specialization_values: &BTreeMap<u32, u64>,
    call_results: &BTreeMap<Id, CallResult>,
) -> Result<KernelDependences, ReflectError> {
    with_analysis(
        DecidedBranches::Specialized,
        module,
        entry_name,
        specialization_values,
        |analysis| DependenceSearch::new(analysis, call_results).kernel_dependences(),
    )
}

/// A graph of what is computed from what, with the objects that are read on the way.
struct DependenceSearch<'a> {
    analysis: &'a FlowAnalysis<'a>,
    call_results: &'a BTreeMap<Id, CallResult>,
    items: DiGraph<ItemSources, ()>,
    nodes: HashMap<DependenceItem, NodeIndex>,
    /// By the index of a subgroup operation.
    subgroup_numbers: BTreeMap<usize, u32>,
}

/// What an item is made of.
#[derive(Debug, Clone, Default)]
struct ItemSources {
    objects: BTreeSet<KernelObject>,
    /// The branches that decide which of several values it is.
    choices: BTreeSet<usize>,
}

impl ItemSources {
    fn extend(&mut self, other: &ItemSources) {
        self.objects.extend(other.objects.iter().copied());
        self.choices.extend(other.choices.iter().copied());
    }
}

/// What is behind each item.
struct SourcesByItem {
    sources: HashMap<DependenceItem, Rc<ItemSources>>,
}

impl SourcesByItem {
    fn of_values(&self, values: impl IntoIterator<Item = Id>) -> BTreeSet<KernelObject> {
        self.behind_values(values).objects
    }

    fn behind_values(&self, values: impl IntoIterator<Item = Id>) -> ItemSources {
        let mut all_sources = ItemSources::default();
        for id in values {
            if let Some(sources) = self.sources.get(&DependenceItem::Value(id)) {
                all_sources.extend(sources);
            }
        }
        all_sources
    }
}

impl<'a> DependenceSearch<'a> {
    fn new(analysis: &'a FlowAnalysis<'a>, call_results: &'a BTreeMap<Id, CallResult>) -> Self {
        let subgroup_numbers = subgroup_numbers(analysis.module);
        let (items, nodes) = (DiGraph::new(), HashMap::new());
        Self { analysis, call_results, items, nodes, subgroup_numbers }
    }

    fn kernel_dependences(mut self) -> KernelDependences {
        let module = self.analysis.module;
        let live_indices: Vec<usize> = self.analysis.pointers.live.live_instructions().collect();
        let mut start_items = Vec::new();
        for index in &live_indices {
            let instruction = &module.instructions[*index];
            if self.is_access(instruction)
                || is_branch(instruction)
                || self.subgroup_numbers.contains_key(index)
            {
                start_items.extend(instruction.ids().map(DependenceItem::Value));
            }
        }
        start_items.extend(self.stand_ins().map(|(_, value)| DependenceItem::Value(value)));
        self.explore(start_items);
        let objects = self.sources_by_item();
        let mut dependences = KernelDependences::default();
        for (call, value) in self.stand_ins() {
            let index = module.definition_index(call);
            let behind = objects.behind_values([value]);
            let stand_in = StandIn {
                objects: behind.objects,
                branches: index.map_or_else(BTreeSet::new, |index| self.deciding_branches(index)),
                choices: index.map_or_else(BTreeSet::new, |index| {
                    self.without_enclosing(behind.choices, index)
                }),
            };
            dependences.stand_ins.insert(call, stand_in);
        }
        for index in live_indices {
            let instruction = &module.instructions[index];
            if is_branch(instruction) {
                let condition = objects.of_values(instruction.id(0));
                dependences.conditions.insert(index, condition);
            } else if let Some(number) = self.subgroup_numbers.get(&index) {
                let operands = objects.of_values(instruction.ids());
                let operation = SubgroupOperation { number: *number, operands };
                dependences.subgroup_operations.insert(index, operation);
            } else if holds_workgroup(module, instruction) {
                dependences.barriers.insert(index, self.deciding_branches(index));
            } else if self.is_access(instruction) {
                dependences.accesses.extend(self.object_access(index, &objects));
            }
        }
        dependences.accesses.sort_by_key(|access| access.instruction);
        dependences
    }

    /// The calls that stand for a value, with it.
    fn stand_ins(&self) -> impl Iterator<Item = (Id, Id)> + use<'a> {
        self.call_results.iter().filter_map(|(call, result)| match result {
            CallResult::StandIn(value) => Some((*call, *value)),
            CallResult::Passed(_) => None,
        })
    }

    fn is_access(&self, instruction: &Instruction) -> bool {
        read_pointer(self.analysis.pointers, instruction).is_some()
            || written_pointer(self.analysis.module, instruction).is_some()
    }

    /// None of an instruction that touches nothing that others see.
    fn object_access(&self, index: usize, objects: &SourcesByItem) -> Option<ObjectAccess> {
        let instruction = &self.analysis.module.instructions[index];
        let read_pointer = read_pointer(self.analysis.pointers, instruction);
        let written_pointer = written_pointer(self.analysis.module, instruction);
        let reads = read_pointer.map_or_else(BTreeSet::new, |id| self.pointed_objects(id));
        let writes = written_pointer.map_or_else(BTreeSet::new, |id| self.pointed_objects(id));
        if reads.is_empty() && writes.is_empty() {
            return None;
        }
        let mut index_ids: BTreeSet<Id> = read_pointer.into_iter().chain(written_pointer).collect();
        if !is_reached_by_pointer(instruction.op) {
            // The coordinate of a texel.
            index_ids.extend(instruction.id(1));
        }
        let behind_index = objects.behind_values(index_ids.iter().copied());
        let (mut values, mut choices) = (BTreeSet::new(), BTreeSet::new());
        if !writes.is_empty() {
            let value_ids = instruction.ids().filter(|id| !index_ids.contains(id));
            let behind_value = objects.behind_values(value_ids);
            values = behind_value.objects;
            choices = &behind_value.choices | &behind_index.choices;
            if written_pointer != read_pointer || reads_what_it_writes(instruction.op) {
                values.extend(&reads);
            }
        }
        Some(ObjectAccess {
            instruction: index,
            reads,
            writes,
            values,
            indices: behind_index.objects,
            branches: self.deciding_branches(index),
            choices: self.without_enclosing(choices, index),
        })
    }

    /// The branches right around an instruction, and around the calls of its function.
    fn deciding_branches(&self, index: usize) -> BTreeSet<usize> {
        let live = &self.analysis.pointers.live;
        let mut branches = BTreeSet::new();
        let mut visited_blocks = BTreeSet::new();
        let mut pending_blocks: Vec<_> = live.block_of(index).into_iter().collect();
        while let Some(block) = pending_blocks.pop() {
            if !visited_blocks.insert(block) {
                continue;
            }
            for decider in live.deciding_blocks(block) {
                branches.extend(live.branch_index(decider));
            }
            let calls = live.calls_of(block.0).iter();
            pending_blocks.extend(calls.filter_map(|call| live.block_of(*call)));
        }
        branches
    }

    /// Adds what `start_items` depend on to the graph.
    fn explore(&mut self, start_items: Vec<DependenceItem>) {
        let mut visited_items = HashSet::new();
        let mut pending_items = start_items;
        while let Some(item) = pending_items.pop() {
            if !visited_items.insert(item) {
                continue;
            }
            let (sources, next_items) = self.directly_behind(item);
            let node = self.node_of(item);
            self.items[node] = sources;
            for next_item in next_items {
                let next_node = self.node_of(next_item);
                self.items.add_edge(node, next_node, ());
                pending_items.push(next_item);
            }
        }
    }

    fn node_of(&mut self, item: DependenceItem) -> NodeIndex {
        *self.nodes.entry(item).or_insert_with(|| self.items.add_node(ItemSources::default()))
    }

    /// What an item reads and is chosen by itself, and the items that it is computed from.
    fn directly_behind(&self, item: DependenceItem) -> (ItemSources, HashSet<DependenceItem>) {
        let mut next_items = Vec::new();
        let mut dependences = MemoryDependences::default();
        let ItemSources { mut objects, mut choices } = ItemSources::default();
        match item {
            DependenceItem::Value(id) => match self.call_results.get(&id) {
                Some(CallResult::Passed(value)) => next_items.push(DependenceItem::Value(*value)),
                Some(CallResult::StandIn(_)) => drop(objects.insert(KernelObject::StandIn(id))),
                None => {
                    objects.extend(self.declared_object(id, &mut next_items));
                    self.analysis.visit_value(id, &mut next_items, &mut dependences);
                    let index = self.analysis.module.definition_index(id);
                    objects.extend(index.into_iter().flat_map(|index| self.objects_read_at(index)));
                    choices.extend(self.choices_of_value(id));
                }
            },
            DependenceItem::Contents(variable) => {
                for index in self.analysis.inner.get(&variable).into_iter().flatten() {
                    next_items.extend(self.analysis.items_of_store(*index));
                    self.analysis.visit_read(*index, &mut next_items, &mut dependences);
                    objects.extend(self.objects_read_at(*index));
                    choices.extend(self.choices_of_contents(variable, *index));
                }
            }
            DependenceItem::Block(_) => {}
        }
        objects.extend(dependences.sources.into_iter().filter_map(source_object));
        let is_followed = |item: &DependenceItem| match item {
            DependenceItem::Value(_) => true,
            DependenceItem::Contents(variable) => !self.is_workgroup(*variable),
            DependenceItem::Block(_) => false,
        };
        let sources = ItemSources { objects, choices };
        (sources, next_items.into_iter().filter(is_followed).collect())
    }

    /// A specialization constant, or what a constant is made of.
    fn declared_object(
        &self,
        id: Id,
        next_items: &mut Vec<DependenceItem>,
    ) -> Option<KernelObject> {
        let module = self.analysis.module;
        let definition = module.definition(id)?;
        match definition.op {
            Op::SpecConstant | Op::SpecConstantTrue | Op::SpecConstantFalse => {
                let decorated = module.decoration(id, Decoration::SpecId)?;
                match decorated.operands.first()? {
                    Operand::LiteralBit32(spec_id) => {
                        Some(KernelObject::SpecializationConstant(*spec_id))
                    }
                    _ => None,
                }
            }
            Op::SpecConstantComposite | Op::SpecConstantOp => {
                next_items.extend(definition.ids().map(DependenceItem::Value));
                None
            }
            _ => None,
        }
    }

    /// Built-ins, push constants, workgroup memory, sizes and invocations of the subgroup that an
    /// instruction reads; other memory is told by its visit.
    fn objects_read_at(&self, index: usize) -> BTreeSet<KernelObject> {
        let instruction = &self.analysis.module.instructions[index];
        let mut objects = read_pointer(self.analysis.pointers, instruction)
            .map_or_else(BTreeSet::new, |pointer| self.pointed_objects(pointer));
        let measured = instruction.id(0).filter(|_| asks_for_size(instruction.op));
        objects.extend(measured.into_iter().flat_map(|id| self.sizes_behind(id)));
        let subgroup_number = self.subgroup_numbers.get(&index);
        objects.extend(subgroup_number.map(|number| KernelObject::SubgroupOperation(*number)));
        objects
    }

    /// What a pointer or an image may be of.
    fn pointed_objects(&self, pointer: Id) -> BTreeSet<KernelObject> {
        let roots = self.analysis.pointers.roots_of(pointer);
        roots.iter().filter_map(|root| self.object_of(*root, pointer)).collect()
    }

    /// The sizes of what a pointer or an image may be of.
    fn sizes_behind(&self, pointer: Id) -> BTreeSet<KernelObject> {
        let objects = self.pointed_objects(pointer).into_iter();
        let sizes = objects.filter_map(|object| match object {
            KernelObject::Descriptor { set, binding, .. } => {
                Some(KernelObject::DescriptorSize { set, binding })
            }
            KernelObject::PushConstant { .. }
            | KernelObject::SpecializationConstant(_)
            | KernelObject::BuiltIn(_)
            | KernelObject::DescriptorSize { .. }
            | KernelObject::Workgroup(_)
            | KernelObject::Addressed
            | KernelObject::SubgroupOperation(_)
            | KernelObject::StandIn(_) => None,
        });
        sizes.collect()
    }

    fn object_of(&self, root: PointerRoot, pointer: Id) -> Option<KernelObject> {
        let PointerRoot::Variable(variable, element) = root else {
            return Some(KernelObject::Addressed);
        };
        match self.analysis.storage_class(variable)? {
            StorageClass::PushConstant => {
                Some(KernelObject::PushConstant { offset: self.pushed_offset(pointer) })
            }
            StorageClass::Workgroup => Some(KernelObject::Workgroup(variable)),
            StorageClass::Input => self.built_in(variable).map(KernelObject::BuiltIn),
            _ => {
                let place = self.analysis.descriptor_place(variable, element)?;
                let (set, binding) = (place.set, place.binding);
                let offset = self.block_offset(variable, pointer);
                Some(KernelObject::Descriptor { set, binding, offset })
            }
        }
    }

    /// Where in the push constants a pointer leads; none of a pointer to all of them.
    fn pushed_offset(&self, pointer: Id) -> Option<u64> {
        let pointers = self.analysis.pointers;
        let is_whole = self.analysis.module.definition(pointer)?.op == Op::Variable;
        let constant_offset = pointers.constant_offset(pointer).filter(|_| !is_whole);
        let part_offset = || pointers.addressed_part(pointer).map(|(offset, _)| offset);
        constant_offset.or_else(|| part_offset().filter(|_| !is_whole))
    }

    /// Where in a bound block a pointer leads; none of a pointer to all of it.
    fn block_offset(&self, variable: Id, pointer: Id) -> Option<u64> {
        match self.analysis.storage_class(variable)? {
            StorageClass::Uniform | StorageClass::StorageBuffer => {}
            _ => return None,
        }
        let pointers = self.analysis.pointers;
        let (offset, part) = pointers.addressed_part(pointer)?;
        let is_whole = match pointers.types.get(part)? {
            // Of several descriptors.
            Type::Array { element, .. } | Type::RuntimeArray { element, .. } => {
                self.is_block(*element)
            }
            _ => self.is_block(part),
        };
        (!is_whole).then_some(offset)
    }

    fn is_block(&self, ty: Id) -> bool {
        let contents = self.analysis.pointers.types.get(ty);
        matches!(contents, Some(Type::Structure { block, .. }) if *block != BlockKind::None)
    }

    fn built_in(&self, variable: Id) -> Option<BuiltIn> {
        let decorated = self.analysis.module.decoration(variable, Decoration::BuiltIn)?;
        match decorated.operands.first()? {
            Operand::BuiltIn(built_in) => Some(*built_in),
            _ => None,
        }
    }

    fn is_workgroup(&self, variable: Id) -> bool {
        self.analysis.storage_class(variable) == Some(StorageClass::Workgroup)
    }

    /// What is behind every item: that of all that it depends on, cycles taken together.
    fn sources_by_item(&self) -> SourcesByItem {
        let mut sources_by_node: Vec<Rc<ItemSources>> =
            vec![Rc::default(); self.items.node_count()];
        // Whatever a component depends on comes before it.
        for component in kosaraju_scc(&self.items) {
            let mut component_sources = ItemSources::default();
            for node in &component {
                component_sources.extend(&self.items[*node]);
                for next_node in self.items.neighbors(*node) {
                    component_sources.extend(&sources_by_node[next_node.index()]);
                }
            }
            let component_sources = Rc::new(component_sources);
            for node in component {
                sources_by_node[node.index()] = Rc::clone(&component_sources);
            }
        }
        let items = self.nodes.iter();
        let sources =
            items.map(|(item, node)| (*item, Rc::clone(&sources_by_node[node.index()]))).collect();
        SourcesByItem { sources }
    }
}

fn source_object(source: MemorySource) -> Option<KernelObject> {
    match source {
        // Told by what is read itself (`objects_read_at`), which knows members too.
        MemorySource::PushConstants { .. } | MemorySource::Descriptor { .. } => None,
        MemorySource::Address(_) => Some(KernelObject::Addressed),
    }
}

fn subgroup_numbers(module: &Module) -> BTreeMap<usize, u32> {
    let operations = module.instructions.iter().enumerate();
    let operations =
        operations.filter(|(_, instruction)| effect_of(instruction.op) == Some(Effect::Subgroup));
    operations.map(|(index, _)| index).zip(1..).collect()
}

fn is_branch(instruction: &Instruction) -> bool {
    matches!(instruction.op, Op::BranchConditional | Op::Switch)
}

/// Whether the element that is accessed follows from the pointer alone; that of an image has a
/// coordinate.
fn is_reached_by_pointer(op: Op) -> bool {
    matches!(op, Op::Load | Op::Store | Op::CopyMemory | Op::CopyMemorySized | Op::ExtInst)
        || effect_of(op) == Some(Effect::Atomic)
}

/// Whether the result is how large something is that the host binds.
fn asks_for_size(op: Op) -> bool {
    matches!(
        op,
        Op::ArrayLength
            | Op::ImageQuerySize
            | Op::ImageQuerySizeLod
            | Op::ImageQueryLevels
            | Op::ImageQuerySamples
    )
}

/// Atomics store what they compute from what was there.
fn reads_what_it_writes(op: Op) -> bool {
    effect_of(op) == Some(Effect::Atomic)
        && !matches!(op, Op::AtomicStore | Op::AtomicExchange | Op::AtomicFlagClear)
}
