//! Whether a driver has cut a kernel off in a loop.
//!
//! Knows: that a driver may end a kernel's loops by itself. Mesa's llvmpipe does after 65,535 iterations, counted over all
//! loops of an invocation: an endless kernel then *completes*, and a long one returns with wrong results, without a word.
//! The probe ([`probe_module`]) finds such a device. On it every job with loops first runs as a census: the same module,
//! whose loops add 1 to a counter where they branch back and subtract 1 where the header is entered from there. What is
//! left at the end is the number of times that a loop was left in between, which no kernel can do.
//! Promises: the census changes nothing that the kernel computes; what cannot be observed is an error by name.
//! Does not cover: devices whose cut-off lies beyond the probe's [`PROBE`] iterations; kernels with data races, which
//! may run differently the second time.

use crate::spirv::module::{Block, Builder, Function, Id, Instruction, Module};
use rspirv::dr::Operand;
use rspirv::spirv::{self as spv, Op};
use std::collections::BTreeMap;

/// Iterations of the probe's loop.
pub const PROBE: u32 = 200_000;

/// What is put into a block, by place in the instruction list: before the instruction with this index.
type Insertions = BTreeMap<usize, Vec<Instruction>>;

/// Whether the module has a loop at all (SPIR-V specification, "Structured Control Flow").
pub fn has_loops(module: &Module) -> bool {
    module.instructions.iter().any(|instruction| instruction.op == Op::LoopMerge)
}

/// The census form of a module, with its counter at a binding of set 0 that nothing uses.
pub fn take(module: &Module, binding: u32) -> Result<Vec<u32>, String> {
    let mut builder = Builder::like(module);
    let names = Names::fresh(module, &mut builder);
    let mut insertions = Insertions::new();
    for function in &module.functions {
        for header in loop_headers(module, function) {
            watch(module, function, header, &names, &mut builder, &mut insertions)?;
        }
    }
    let preamble = module.instructions.iter().position(|i| !in_preamble(i.op)).unwrap_or(0);
    let functions = module.functions.first().map_or(module.instructions.len(), |function| function.range.start);
    insertions.entry(preamble).or_default().splice(0..0, names.annotations(module, binding));
    insertions.entry(functions).or_default().extend(names.declarations(module));
    for (index, instruction) in module.instructions.iter().enumerate() {
        insertions.remove(&index).into_iter().flatten().for_each(|new| builder.copy(&new));
        builder.copy(&listed(module, instruction, names.counter));
    }
    Ok(builder.finish())
}

/// From SPIR-V 1.4 on an entry point lists every global variable that it uses.
fn listed(module: &Module, instruction: &Instruction, counter: Id) -> Instruction {
    let mut copy = instruction.clone();
    if instruction.op == Op::EntryPoint && module.header.version() >= (1, 4) {
        copy.operands.push(Operand::IdRef(counter));
    }
    copy
}

/// Sections 1 to 8 of a module (SPIR-V specification, "Logical Layout of a Module").
fn in_preamble(op: Op) -> bool {
    matches!(
        op,
        Op::Capability
            | Op::Extension
            | Op::ExtInstImport
            | Op::MemoryModel
            | Op::EntryPoint
            | Op::ExecutionMode
            | Op::ExecutionModeId
            | Op::String
            | Op::SourceExtension
            | Op::Source
            | Op::SourceContinued
            | Op::Name
            | Op::MemberName
            | Op::ModuleProcessed
            | Op::Decorate
            | Op::MemberDecorate
            | Op::DecorateId
            | Op::DecorateString
            | Op::MemberDecorateString
            | Op::DecorationGroup
            | Op::GroupDecorate
            | Op::GroupMemberDecorate
    )
}

fn new(op: Op, result_type: Option<Id>, result: Option<Id>, operands: Vec<Operand>) -> Instruction {
    Instruction { op, result_type, result, operands, offset: 0 }
}

/// Ids of what the census adds.
struct Names {
    word: Id,
    /// Whether the module has an unsigned 32-bit type already; two would be invalid.
    word_exists: bool,
    block: Id,
    block_pointer: Id,
    word_pointer: Id,
    counter: Id,
    zero: Id,
    one: Id,
    minus_one: Id,
    scope: Id,
}

impl Names {
    fn fresh(module: &Module, builder: &mut Builder) -> Self {
        let is_word = |i: &&Instruction| i.op == Op::TypeInt && i.literal(0) == Some(32) && i.literal(1) == Some(0);
        let existing = module.instructions.iter().find(is_word).and_then(|instruction| instruction.result);
        Self {
            word_exists: existing.is_some(),
            word: existing.unwrap_or_else(|| builder.fresh()),
            block: builder.fresh(),
            block_pointer: builder.fresh(),
            word_pointer: builder.fresh(),
            counter: builder.fresh(),
            zero: builder.fresh(),
            one: builder.fresh(),
            minus_one: builder.fresh(),
            scope: builder.fresh(),
        }
    }

    fn annotations(&self, module: &Module, binding: u32) -> Vec<Instruction> {
        let decorate = |id, decoration, value: Option<u32>| {
            let mut operands = vec![Operand::IdRef(id), Operand::Decoration(decoration)];
            operands.extend(value.map(Operand::LiteralBit32));
            new(Op::Decorate, None, None, operands)
        };
        let offset = Operand::Decoration(spv::Decoration::Offset);
        let member = vec![Operand::IdRef(self.block), Operand::LiteralBit32(0), offset, Operand::LiteralBit32(0)];
        let kind = if is_old(module) { spv::Decoration::BufferBlock } else { spv::Decoration::Block };
        vec![
            decorate(self.block, kind, None),
            new(Op::MemberDecorate, None, None, member),
            decorate(self.counter, spv::Decoration::DescriptorSet, Some(0)),
            decorate(self.counter, spv::Decoration::Binding, Some(binding)),
        ]
    }

    fn declarations(&self, module: &Module) -> Vec<Instruction> {
        let class = if is_old(module) { spv::StorageClass::Uniform } else { spv::StorageClass::StorageBuffer };
        let pointer = |result, to| {
            new(Op::TypePointer, None, Some(result), vec![Operand::StorageClass(class), Operand::IdRef(to)])
        };
        let constant =
            |result, value| new(Op::Constant, Some(self.word), Some(result), vec![Operand::LiteralBit32(value)]);
        let unsigned = vec![Operand::LiteralBit32(32), Operand::LiteralBit32(0)];
        let word = (!self.word_exists).then(|| new(Op::TypeInt, None, Some(self.word), unsigned));
        let rest = [
            new(Op::TypeStruct, None, Some(self.block), vec![Operand::IdRef(self.word)]),
            pointer(self.block_pointer, self.block),
            pointer(self.word_pointer, self.word),
            new(Op::Variable, Some(self.block_pointer), Some(self.counter), vec![Operand::StorageClass(class)]),
            constant(self.zero, 0),
            constant(self.one, 1),
            constant(self.minus_one, u32::MAX),
            constant(self.scope, scope(module)),
        ];
        word.into_iter().chain(rest).collect()
    }

    /// Adds the value of id `amount` to the counter. Atomic, so that no compiler may leave it out.
    fn count(&self, builder: &mut Builder, amount: Id) -> [Instruction; 2] {
        let (place, old) = (builder.fresh(), builder.fresh());
        let chain = vec![Operand::IdRef(self.counter), Operand::IdRef(self.zero)];
        let atomic = vec![
            Operand::IdRef(place),
            Operand::IdScope(self.scope),
            Operand::IdMemorySemantics(self.zero),
            Operand::IdRef(amount),
        ];
        [
            new(Op::AccessChain, Some(self.word_pointer), Some(place), chain),
            new(Op::AtomicIAdd, Some(self.word), Some(old), atomic),
        ]
    }
}

/// Storage buffers have a storage class of their own from SPIR-V 1.3 on.
fn is_old(module: &Module) -> bool {
    module.header.version() < (1, 3)
}

/// Device, or QueueFamily where the Vulkan memory model would want one more feature for Device.
fn scope(module: &Module) -> u32 {
    let vulkan = Operand::Capability(spv::Capability::VulkanMemoryModel);
    let uses_vulkan = module.instructions.iter().any(|i| i.op == Op::Capability && i.operands.first() == Some(&vulkan));
    if uses_vulkan { spv::Scope::QueueFamily as u32 } else { spv::Scope::Device as u32 }
}

/// Positions in `function.blocks`.
fn loop_headers(module: &Module, function: &Function) -> Vec<usize> {
    let is_header = |block: &Block| module.instructions[block.range.clone()].iter().any(|i| i.op == Op::LoopMerge);
    (0..function.blocks.len()).filter(|index| is_header(&function.blocks[*index])).collect()
}

/// Labels that a block may branch to.
fn targets<'a>(module: &'a Module, block: &Block) -> impl Iterator<Item = Id> + use<'a> {
    let terminator = &module.instructions[block.range.end - 1];
    let skip = match terminator.op {
        Op::Branch => 0,
        Op::BranchConditional | Op::Switch => 1,
        _ => usize::MAX,
    };
    terminator.ids().skip(skip)
}

/// Counts one loop: up where it branches back, down where its header is entered from there.
fn watch(
    module: &Module,
    function: &Function,
    header: usize,
    names: &Names,
    builder: &mut Builder,
    insertions: &mut Insertions,
) -> Result<(), String> {
    let head = &function.blocks[header];
    let into: Vec<usize> = (0..function.blocks.len())
        .filter(|index| targets(module, &function.blocks[*index]).any(|target| target == head.label))
        .collect();
    let back: Vec<usize> = into.iter().copied().filter(|index| *index >= header).collect();
    let [back] = back.as_slice() else {
        // A header that nothing branches back to is no loop.
        return if back.is_empty() { Ok(()) } else { Err("a loop with several back edges".to_owned()) };
    };
    let tail = &function.blocks[*back];
    let arrival = builder.fresh();
    let mut operands = Vec::new();
    for index in into {
        let value = if index == *back { names.minus_one } else { names.zero };
        operands.extend([Operand::IdRef(value), Operand::IdRef(function.blocks[index].label)]);
    }
    let start = head.range.start + 1;
    insertions.entry(start).or_default().insert(0, new(Op::Phi, Some(names.word), Some(arrival), operands));
    let body = module.instructions[head.range.clone()].iter().skip(1);
    let after_phis = start + body.take_while(|i| matches!(i.op, Op::Phi | Op::Line | Op::NoLine)).count();
    insertions.entry(after_phis).or_default().extend(names.count(builder, arrival));
    let (amount, choice) = departure(module, tail, head.label, names, builder)?;
    let end = departure_place(module, tail);
    let list = insertions.entry(end).or_default();
    list.extend(choice);
    list.extend(names.count(builder, amount));
    Ok(())
}

/// Before the terminator, and before the merge instruction that must stand right before it.
fn departure_place(module: &Module, tail: &Block) -> usize {
    let end = tail.range.end - 1;
    match module.instructions[end - 1].op {
        Op::LoopMerge | Op::SelectionMerge => end - 1,
        _ => end,
    }
}

/// The id of 1 where the block branches back and 0 where it leaves, with the instruction that makes it.
fn departure(
    module: &Module,
    tail: &Block,
    header: Id,
    names: &Names,
    builder: &mut Builder,
) -> Result<(Id, Option<Instruction>), String> {
    let terminator = &module.instructions[tail.range.end - 1];
    match terminator.op {
        Op::Branch => Ok((names.one, None)),
        Op::BranchConditional => {
            let condition = terminator.id(0).ok_or("a branch without a condition")?;
            let (first, second) = match (terminator.id(1) == Some(header), terminator.id(2) == Some(header)) {
                (true, true) => return Ok((names.one, None)),
                (true, false) => (names.one, names.zero),
                (false, _) => (names.zero, names.one),
            };
            let amount = builder.fresh();
            let operands = [condition, first, second].map(Operand::IdRef).to_vec();
            Ok((amount, Some(new(Op::Select, Some(names.word), Some(amount), operands))))
        }
        other => Err(format!("a loop that branches back by Op{other:?}")),
    }
}

/// A module whose single invocation adds 1 to a counter [`PROBE`] times in a loop (see [`super::canary`] for its kind).
pub fn probe_module() -> Result<Vec<u32>, rspirv::dr::Error> {
    use rspirv::binary::Assemble;
    let mut b = rspirv::dr::Builder::new();
    b.set_version(1, 3);
    b.capability(spv::Capability::Shader);
    b.memory_model(spv::AddressingModel::Logical, spv::MemoryModel::GLSL450);
    let (void, word, truth) = (b.type_void(), b.type_int(32, 0), b.type_bool());
    let procedure = b.type_function(void, []);
    let block = b.type_struct([word]);
    let storage = b.type_pointer(None, spv::StorageClass::StorageBuffer, block);
    let element = b.type_pointer(None, spv::StorageClass::StorageBuffer, word);
    let constants = [0, 1, PROBE, spv::Scope::Device as u32].map(|value| b.constant_bit32(word, value));
    let [zero, one, most, scope] = constants;
    let buffer = b.variable(storage, None, spv::StorageClass::StorageBuffer, None);
    b.decorate(block, spv::Decoration::Block, []);
    b.member_decorate(block, 0, spv::Decoration::Offset, [Operand::LiteralBit32(0)]);
    b.decorate(buffer, spv::Decoration::DescriptorSet, [Operand::LiteralBit32(0)]);
    b.decorate(buffer, spv::Decoration::Binding, [Operand::LiteralBit32(0)]);
    let main = b.begin_function(void, None, spv::FunctionControl::NONE, procedure)?;
    let [start, header, body, again, end] = std::array::from_fn(|_| b.id());
    b.begin_block(Some(start))?;
    let place = b.access_chain(element, None, buffer, [zero])?;
    b.branch(header)?;
    b.begin_block(Some(header))?;
    let next = b.id();
    let round = b.phi(word, None, [(zero, start), (next, again)])?;
    let goes_on = b.u_less_than(truth, None, round, most)?;
    b.loop_merge(end, again, spv::LoopControl::NONE, [])?;
    b.branch_conditional(goes_on, body, end, [])?;
    b.begin_block(Some(body))?;
    b.atomic_i_add(word, None, place, scope, zero, one)?;
    b.branch(again)?;
    b.begin_block(Some(again))?;
    b.i_add(word, Some(next), round, one)?;
    b.branch(header)?;
    b.begin_block(Some(end))?;
    b.ret()?;
    b.end_function()?;
    b.entry_point(spv::ExecutionModel::GLCompute, main, "main", []);
    b.execution_mode(main, spv::ExecutionMode::LocalSize, [1, 1, 1]);
    Ok(b.module().assemble())
}
