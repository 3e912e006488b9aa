//! From the stores of a kernel back to the memory that they depend on.
//!
//! Knows: data dependences through operations, variables, parameters and results, and control
//! dependences. Promises: what a store can depend on is found; more may be.

use super::access::{read, written};
use super::live::BlockOf;
use super::pointer::{Element, Pointers, Root};
use super::{DescriptorPlace, Flow, FlowPlace, Held, Storing};
use crate::module::{Id, Module};
use crate::opcodes::{Effect, effect};
use crate::types::{BlockKind, Type};
use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, Op, StorageClass};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// What is looked at on the way from a store to the memory that it depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Item {
    Value(Id),
    /// What a variable of the kernel holds.
    Contents(Id),
    /// Whether a block is executed.
    Block(BlockOf),
}

/// Memory outside of the kernel that something was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    PushConstants { offset: Option<u64> },
    Descriptor { place: DescriptorPlace, offset: Option<u64> },
    Address(Id),
}

/// The memory outside of the kernel that something depends on.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) sources: BTreeSet<Source>,
    /// Indexes of the instructions that read it.
    pub(super) reads: BTreeSet<usize>,
}

/// What is followed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Follow {
    /// What a value is made of.
    Values,
    /// That, and what decides whether it is made.
    ValuesAndControl,
}

pub(super) struct Analysis<'a> {
    pub(super) pointers: &'a Pointers<'a>,
    pub(super) module: &'a Module,
    /// Indexes of what writes a variable of the kernel.
    pub(super) inner: HashMap<Id, Vec<usize>>,
    /// Indexes of what writes memory outside of it, with where.
    pub(super) outer: Vec<(usize, Root)>,
    /// Where device addresses were read.
    pub(super) held: RefCell<HashMap<Id, BTreeSet<Held>>>,
}

impl<'a> Analysis<'a> {
    pub(super) fn new(pointers: &'a Pointers<'a>) -> Self {
        let module = pointers.module;
        let mut analysis = Self {
            pointers,
            module,
            inner: HashMap::new(),
            outer: Vec::new(),
            held: RefCell::default(),
        };
        for index in pointers.live.instructions() {
            let Some(target) = written(module, &module.instructions[index]) else { continue };
            for root in pointers.roots(target).iter() {
                match analysis.own_variable(*root) {
                    Some(variable) => analysis.inner.entry(variable).or_default().push(index),
                    None => analysis.outer.push((index, *root)),
                }
            }
        }
        analysis
    }

    /// Indexes of the instructions that store outside of the kernel, by place.
    pub(super) fn by_place(&self) -> BTreeMap<FlowPlace, Vec<usize>> {
        let mut by_place: BTreeMap<FlowPlace, Vec<usize>> = BTreeMap::new();
        for (index, root) in &self.outer {
            let place = match root {
                Root::Variable(variable, element) => {
                    self.descriptor(*variable, *element).map(FlowPlace::Descriptor)
                }
                Root::Address(id) => Some(FlowPlace::Addressed(self.held(*id))),
            };
            if let Some(place) = place {
                by_place.entry(place).or_default().push(*index);
            }
        }
        by_place
    }

    pub(super) fn storing(&self, most: usize) -> Vec<Storing> {
        let mut rows: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (row, stores) in self.by_place().into_values().enumerate() {
            for index in stores {
                rows.entry(index).or_default().insert(row);
            }
        }
        let together = rows.len() > most;
        let mut groups: BTreeMap<(Option<usize>, BTreeSet<usize>), BTreeSet<usize>> =
            BTreeMap::new();
        for (index, rows) in rows {
            groups.entry(((!together).then_some(index), rows)).or_default().insert(index);
        }
        let storing =
            |((_, rows), instructions): ((Option<usize>, BTreeSet<usize>), BTreeSet<usize>)| {
                let stores: Vec<usize> = instructions.iter().copied().collect();
                Storing { rows, reads: self.dependences(&stores).reads, instructions }
            };
        groups.into_iter().map(storing).collect()
    }

    pub(super) fn flows(&self) -> Vec<Flow> {
        let flow = |(to, stores): (FlowPlace, Vec<usize>)| {
            let members = match to {
                FlowPlace::Descriptor(_) => self.members(&stores),
                FlowPlace::Addressed(_) => BTreeSet::new(),
            };
            let place = |source: Source| match source {
                Source::PushConstants { .. } => None,
                Source::Descriptor { place, .. } => Some(FlowPlace::Descriptor(place)),
                Source::Address(id) => Some(FlowPlace::Addressed(self.held(id))),
            };
            let from = self.dependences(&stores).sources.into_iter().filter_map(place).collect();
            Flow { to, members, from }
        };
        self.by_place().into_iter().map(flow).collect()
    }

    /// Where the members begin that these instructions write.
    pub(super) fn members(&self, stores: &[usize]) -> BTreeSet<u64> {
        let targets = stores
            .iter()
            .filter_map(|index| written(self.module, &self.module.instructions[*index]));
        targets.flat_map(|target| self.pointers.member_starts(target)).collect()
    }

    /// Memory that instructions which write a place depend on.
    pub(super) fn dependences(&self, stores: &[usize]) -> Found {
        let start = stores.iter().flat_map(|index| self.of_store(*index)).collect();
        self.explore(start, stores, Follow::ValuesAndControl)
    }

    /// Where a device address was read.
    pub(super) fn held(&self, address: Id) -> BTreeSet<Held> {
        if let Some(known) = self.held.borrow().get(&address) {
            return known.clone();
        }
        let sources = self.explore(vec![Item::Value(address)], &[], Follow::Values).sources;
        let held = |source: Source| match source {
            Source::PushConstants { offset } => Held::PushConstants { offset },
            Source::Descriptor { place, offset } => Held::Descriptor { place, offset },
            Source::Address(_) => Held::Addressed,
        };
        let held: BTreeSet<Held> = sources.into_iter().map(held).collect();
        self.held.borrow_mut().insert(address, held.clone());
        held
    }

    /// Everything that is read on the way to `start`; `stores` read what they write anew.
    pub(super) fn explore(&self, start: Vec<Item>, stores: &[usize], follow: Follow) -> Found {
        let mut found = Found::default();
        let (mut seen, mut open) = (HashSet::new(), start);
        stores.iter().for_each(|index| self.read_by(*index, &mut open, &mut found));
        while let Some(item) = open.pop() {
            if follow == Follow::Values && matches!(item, Item::Block(_)) || !seen.insert(item) {
                continue;
            }
            match item {
                Item::Value(id) => self.value(id, &mut open, &mut found),
                Item::Contents(variable) => {
                    for index in self.inner.get(&variable).into_iter().flatten() {
                        open.extend(self.of_store(*index));
                        self.read_by(*index, &mut open, &mut found);
                    }
                }
                Item::Block(block) => self.block(block, &mut open),
            }
        }
        found
    }

    /// What a writing instruction is made of.
    pub(super) fn of_store(&self, index: usize) -> Vec<Item> {
        let operands = self.module.instructions[index].ids().map(Item::Value);
        operands.chain(self.pointers.live.block_of(index).map(Item::Block)).collect()
    }

    /// What the execution of a block depends on.
    pub(super) fn block(&self, block: BlockOf, open: &mut Vec<Item>) {
        for decider in self.pointers.live.deciders(block) {
            open.extend(self.pointers.live.condition(decider).map(Item::Value));
            open.push(Item::Block(decider));
        }
        let calls = self.pointers.live.calls(block.0);
        open.extend(
            calls.iter().filter_map(|call| self.pointers.live.block_of(*call)).map(Item::Block),
        );
    }

    pub(super) fn value(&self, id: Id, open: &mut Vec<Item>, found: &mut Found) {
        let Some(index) = self.module.definition_index(id) else { return };
        let instruction = &self.module.instructions[index];
        match instruction.op {
            Op::FunctionParameter => open.extend(self.pointers.arguments(id).map(Item::Value)),
            Op::FunctionCall => {
                let returns =
                    instruction.id(0).map_or(&[][..], |callee| self.pointers.live.returns(callee));
                returns.iter().for_each(|index| open.extend(self.of_store(*index)));
            }
            Op::Phi => self.phi(index, open),
            _ if effect(instruction.op).is_none_or(|effect| effect == Effect::Declaration) => {}
            _ => {
                open.extend(instruction.ids().map(Item::Value));
                if effect(instruction.op) == Some(Effect::Subgroup) {
                    open.extend(self.pointers.live.block_of(index).map(Item::Block));
                }
                self.read_by(index, open, found);
            }
        }
    }

    /// The values of a phi, and what decides which of them it has.
    pub(super) fn phi(&self, index: usize, open: &mut Vec<Item>) {
        let Some((function, _)) = self.pointers.live.block_of(index) else { return };
        for pair in self.module.instructions[index].operands.chunks_exact(2) {
            let [Some(value), Some(label)] = [&pair[0], &pair[1]].map(Operand::id_ref_any) else {
                continue;
            };
            open.push(Item::Value(value));
            if let Some(from) = self.pointers.live.labelled(function, label) {
                open.extend(self.pointers.live.condition(from).map(Item::Value));
                open.push(Item::Block(from));
            }
        }
    }

    /// The memory that an instruction reads.
    pub(super) fn read_by(&self, index: usize, open: &mut Vec<Item>, found: &mut Found) {
        let instruction = &self.module.instructions[index];
        let Some(from) = read(self.pointers, instruction) else { return };
        for root in self.pointers.roots(from).iter() {
            if let Some(variable) = self.own_variable(*root) {
                open.push(Item::Contents(variable));
                continue;
            }
            match root {
                Root::Address(id) => {
                    found.sources.insert(Source::Address(*id));
                    found.reads.insert(index);
                }
                Root::Variable(variable, element) => {
                    let offset = self.pointers.constant_offset(from);
                    if self.storage(*variable) == Some(StorageClass::PushConstant) {
                        found.sources.insert(Source::PushConstants { offset });
                    } else if let Some(place) = self.descriptor(*variable, *element) {
                        found.sources.insert(Source::Descriptor { place, offset });
                        found.reads.insert(index);
                    }
                }
            }
        }
    }

    pub(super) fn storage(&self, variable: Id) -> Option<StorageClass> {
        match self.module.definition(variable)?.operands.first()? {
            Operand::StorageClass(storage) => Some(*storage),
            _ => None,
        }
    }

    /// The variable, where it is the kernel's own memory. Blocks in workgroup memory share their
    /// bytes: one stands for all.
    pub(super) fn own_variable(&self, root: Root) -> Option<Id> {
        let Root::Variable(variable, _) = root else { return None };
        match self.storage(variable)? {
            StorageClass::Function | StorageClass::Private => Some(variable),
            StorageClass::Workgroup if self.is_block(variable) => {
                let mut globals =
                    self.module.instructions.iter().filter_map(|instruction| instruction.result);
                globals.find(|id| {
                    self.storage(*id) == Some(StorageClass::Workgroup) && self.is_block(*id)
                })
            }
            StorageClass::Workgroup => Some(variable),
            _ => None,
        }
    }

    pub(super) fn is_block(&self, variable: Id) -> bool {
        let held =
            self.module.definition(variable).and_then(|found| self.pointers.types.variable(found));
        let ty = held.and_then(|(_, held)| self.pointers.types.get(held));
        matches!(ty, Some(Type::Structure { block: BlockKind::Block, .. }))
    }

    pub(super) fn descriptor(&self, variable: Id, element: Element) -> Option<DescriptorPlace> {
        let number =
            |decoration| match self.module.decoration(variable, decoration)?.operands.first()? {
                Operand::LiteralBit32(number) => Some(*number),
                _ => None,
            };
        let element = match element {
            Element::At(index) => Some(index),
            Element::Whole | Element::Any => None,
        };
        let (set, binding) = (number(Decoration::DescriptorSet)?, number(Decoration::Binding)?);
        Some(DescriptorPlace { set, binding, element })
    }
}
