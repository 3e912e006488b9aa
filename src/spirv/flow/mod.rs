//! What a kernel can store where, and which memory that depends on, by its code alone.
//!
//! Knows: the stores, atomics and image writes of the functions that an entry point reaches,
//! through descriptors and device addresses; how values travel through operations, variables,
//! workgroup memory, parameters and results, and which branches decide whether a store is executed.
//! Promises: every store that control can come to is listed, and what it can depend on is listed
//! with it. Branches that constants decide under the specialization are followed one way; where
//! nothing is stored so, other specializations are tried ([`flows_or_switched_off`]).
//! Does not cover: what an index can be (a store to a descriptor may hit any byte of it), values
//! that cancel out, how long a loop waits, opcodes that no engine runs.

mod live;
mod pointer;
mod switched_off;
#[cfg(test)]
mod tests;

use super::constants::Constants;
use super::fold::Folding;
use super::interface::{ReflectError, compute_entry};
use super::module::{Id, Instruction, Module};
use super::opcodes::{Effect, effect};
use super::types::{BlockKind, Type, Types};
use live::{BlockOf, Live};
use pointer::{Element, Pointers, Root};
use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, GlslStd450Op, Op, StorageClass};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Memory outside of the kernel.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum FlowPlace {
    Descriptor(DescriptorPlace),
    /// What device addresses name that were read in one of these places.
    Addressed(BTreeSet<Held>),
}

/// What is bound to a descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DescriptorPlace {
    pub set: u32,
    pub binding: u32,
    /// None: any element of an array of descriptors.
    pub element: Option<u32>,
}

/// Where a device address was read; offsets in bytes where they are constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Held {
    PushConstants {
        offset: Option<u64>,
    },
    Descriptor {
        place: DescriptorPlace,
        offset: Option<u64>,
    },
    /// In memory that another device address names.
    Addressed,
}

/// A place that a kernel can store to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    pub to: FlowPlace,
    /// Where the members of the block begin that it can store to, in bytes, indices of arrays taken
    /// as 0; as far as they can be told.
    pub members: BTreeSet<u64>,
    /// Everything whose contents can decide what is stored there, or whether.
    pub from: BTreeSet<FlowPlace>,
}

/// Instructions that store to memory outside of the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Storing {
    /// Their indexes.
    pub instructions: BTreeSet<usize>,
    /// The places that they can store to, by their numbers in [`flows`].
    pub rows: BTreeSet<usize>,
    /// Indexes of the instructions that read the memory outside of the kernel which decides what
    /// they store, or whether.
    pub reads: BTreeSet<usize>,
}

/// What the entry point can store under a specialization (raw bits by SpecId), by place.
pub fn flows(
    module: &Module,
    entry: &str,
    specialization: &BTreeMap<u32, u64>,
) -> Result<Vec<Flow>, ReflectError> {
    flows_past(Branches::Specialized, module, entry, specialization)
}

/// The instructions that store there, each by itself; where they are more than `most`, those
/// together that store to the same places.
pub fn storing(
    module: &Module,
    entry: &str,
    specialization: &BTreeMap<u32, u64>,
    most: usize,
) -> Result<Vec<Storing>, ReflectError> {
    analysed(Branches::Specialized, module, entry, specialization, |analysis| {
        analysis.storing(most)
    })
}

/// The same, and where that is nothing at all, what it can store under other specializations: that
/// a kernel stores nothing because its specialization switches that off is a result, which is seen
/// where it would store otherwise. It depends on no memory.
pub fn flows_or_switched_off(
    module: &Module,
    entry: &str,
    specialization: &BTreeMap<u32, u64>,
) -> Result<Vec<Flow>, ReflectError> {
    let flows = flows(module, entry, specialization)?;
    if !flows.is_empty() {
        return Ok(flows);
    }
    switched_off::switched_off(module, entry, specialization)
}

/// Which branches are followed one way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Branches {
    /// Those that constants decide, specialization constants too.
    Specialized,
    /// Those alone that constants decide which no specialization changes.
    Unspecialized,
}

fn flows_past(
    branches: Branches,
    module: &Module,
    entry: &str,
    specialization: &BTreeMap<u32, u64>,
) -> Result<Vec<Flow>, ReflectError> {
    analysed(branches, module, entry, specialization, |analysis| analysis.flows())
}

fn analysed<T>(
    branches: Branches,
    module: &Module,
    entry: &str,
    specialization: &BTreeMap<u32, u64>,
    of: impl FnOnce(&Analysis<'_>) -> T,
) -> Result<T, ReflectError> {
    let types = Types::of(module);
    let constants = Constants::evaluate(module, &types, specialization)?;
    let deciding = match branches {
        Branches::Specialized => constants.clone(),
        Branches::Unspecialized => constants.unspecialized(),
    };
    let folding =
        Folding { module, types: &types, constants: &deciding, stands_for: &BTreeMap::new() };
    let live = Live::of(&folding, compute_entry(module, entry)?.function);
    let pointers = Pointers::new(module, &types, &constants, &live);
    Ok(of(&Analysis::new(&pointers)))
}

/// What is looked at on the way from a store to the memory that it depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Item {
    Value(Id),
    /// What a variable of the kernel holds.
    Contents(Id),
    /// Whether a block is executed.
    Block(BlockOf),
}

/// Memory outside of the kernel that something was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    PushConstants { offset: Option<u64> },
    Descriptor { place: DescriptorPlace, offset: Option<u64> },
    Address(Id),
}

/// The memory outside of the kernel that something depends on.
#[derive(Debug, Default)]
struct Found {
    sources: BTreeSet<Source>,
    /// Indexes of the instructions that read it.
    reads: BTreeSet<usize>,
}

/// What is followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Follow {
    /// What a value is made of.
    Values,
    /// That, and what decides whether it is made.
    ValuesAndControl,
}

struct Analysis<'a> {
    pointers: &'a Pointers<'a>,
    module: &'a Module,
    /// Indexes of what writes a variable of the kernel.
    inner: HashMap<Id, Vec<usize>>,
    /// Indexes of what writes memory outside of it, with where.
    outer: Vec<(usize, Root)>,
    /// Where device addresses were read.
    held: RefCell<HashMap<Id, BTreeSet<Held>>>,
}

impl<'a> Analysis<'a> {
    fn new(pointers: &'a Pointers<'a>) -> Self {
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
    fn by_place(&self) -> BTreeMap<FlowPlace, Vec<usize>> {
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

    fn storing(&self, most: usize) -> Vec<Storing> {
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

    fn flows(&self) -> Vec<Flow> {
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
    fn members(&self, stores: &[usize]) -> BTreeSet<u64> {
        let targets = stores
            .iter()
            .filter_map(|index| written(self.module, &self.module.instructions[*index]));
        targets.flat_map(|target| self.pointers.member_starts(target)).collect()
    }

    /// Memory that instructions which write a place depend on.
    fn dependences(&self, stores: &[usize]) -> Found {
        let start = stores.iter().flat_map(|index| self.of_store(*index)).collect();
        self.explore(start, stores, Follow::ValuesAndControl)
    }

    /// Where a device address was read.
    fn held(&self, address: Id) -> BTreeSet<Held> {
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
    fn explore(&self, start: Vec<Item>, stores: &[usize], follow: Follow) -> Found {
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
    fn of_store(&self, index: usize) -> Vec<Item> {
        let operands = self.module.instructions[index].ids().map(Item::Value);
        operands.chain(self.pointers.live.block_of(index).map(Item::Block)).collect()
    }

    /// What the execution of a block depends on.
    fn block(&self, block: BlockOf, open: &mut Vec<Item>) {
        for decider in self.pointers.live.deciders(block) {
            open.extend(self.pointers.live.condition(decider).map(Item::Value));
            open.push(Item::Block(decider));
        }
        let calls = self.pointers.live.calls(block.0);
        open.extend(
            calls.iter().filter_map(|call| self.pointers.live.block_of(*call)).map(Item::Block),
        );
    }

    fn value(&self, id: Id, open: &mut Vec<Item>, found: &mut Found) {
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
    fn phi(&self, index: usize, open: &mut Vec<Item>) {
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
    fn read_by(&self, index: usize, open: &mut Vec<Item>, found: &mut Found) {
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

    fn storage(&self, variable: Id) -> Option<StorageClass> {
        match self.module.definition(variable)?.operands.first()? {
            Operand::StorageClass(storage) => Some(*storage),
            _ => None,
        }
    }

    /// The variable, where it is the kernel's own memory. Blocks in workgroup memory share their
    /// bytes: one stands for all.
    fn own_variable(&self, root: Root) -> Option<Id> {
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

    fn is_block(&self, variable: Id) -> bool {
        let held =
            self.module.definition(variable).and_then(|found| self.pointers.types.variable(found));
        let ty = held.and_then(|(_, held)| self.pointers.types.get(held));
        matches!(ty, Some(Type::Structure { block: BlockKind::Block, .. }))
    }

    fn descriptor(&self, variable: Id, element: Element) -> Option<DescriptorPlace> {
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

/// The pointer or image that an instruction writes through.
fn written(module: &Module, instruction: &Instruction) -> Option<Id> {
    match (effect(instruction.op)?, instruction.op) {
        (Effect::Atomic, Op::AtomicLoad) => None,
        (Effect::ReadWrite, Op::ExtInst) => output_operand(module, instruction),
        (Effect::Write | Effect::ReadWrite | Effect::Atomic, _) => instruction.id(0),
        (
            Effect::Declaration
            | Effect::Pure
            | Effect::Address
            | Effect::Read
            | Effect::Barrier
            | Effect::Subgroup
            | Effect::Call
            | Effect::Branch
            | Effect::End,
            _,
        ) => None,
    }
}

/// `modf` and `frexp` write their second result through a pointer.
fn output_operand(module: &Module, call: &Instruction) -> Option<Id> {
    let set = module.definition(call.id(0)?)?;
    let is_glsl = set.operands.first() == Some(&Operand::LiteralString("GLSL.std.450".to_owned()));
    let writes =
        [GlslStd450Op::Modf as u32, GlslStd450Op::Frexp as u32].contains(&call.literal(1)?);
    (is_glsl && writes).then(|| call.id(3)).flatten()
}

/// The pointer or image whose contents an instruction reads.
fn read(pointers: &Pointers, instruction: &Instruction) -> Option<Id> {
    match (effect(instruction.op)?, instruction.op) {
        (
            _,
            Op::ImageQuerySize
            | Op::ImageQuerySizeLod
            | Op::ImageQueryLevels
            | Op::ImageQuerySamples,
        ) => None,
        (_, Op::AtomicStore | Op::ExtInst) => None,
        // An image or a sampler has no contents until it is read; a pointer does.
        (_, Op::Load) => {
            let ty = pointers.types.get(instruction.result_type?);
            let opaque =
                matches!(ty, Some(Type::Image(_) | Type::SampledImage { .. } | Type::Sampler));
            (!opaque).then(|| instruction.id(0)).flatten()
        }
        (Effect::ReadWrite, _) => instruction.id(1),
        (Effect::Read | Effect::Atomic, _) => instruction.id(0),
        (
            Effect::Declaration
            | Effect::Pure
            | Effect::Address
            | Effect::Write
            | Effect::Barrier
            | Effect::Subgroup
            | Effect::Call
            | Effect::Branch
            | Effect::End,
            _,
        ) => None,
    }
}
