//! Whether a driver has cut a kernel off in a loop.
//!
//! Knows: that a driver may end a kernel's loops by itself. Mesa's llvmpipe does after 65,535
//! iterations, counted over all loops of an invocation: an endless kernel then *completes*, and a
//! long one returns with wrong results, without a word. The probe ([`probe_module`]) finds such a
//! device. On it every job with loops first runs with its loops counted: the same module, whose
//! loops add 1 to a counter where they branch back and subtract 1 where the header is entered from
//! there. What is left at the end is the number of times that a loop was left in between, which no
//! kernel can do.
//! Promises: the loop count changes nothing that the kernel computes; what cannot be observed is an
//! error by name.
//! Does not cover: devices whose cut-off lies beyond the probe's [`PROBE`] iterations; kernels with
//! data races, which may run differently the second time.

use rspirv::dr::Operand;
use rspirv::spirv::{self as spv, Op};
use vkcert_spirv::module::{Function, FunctionBlock, Id, Instruction, Module};
use vkcert_spirv::rewrite::{InstructionEdits, ModuleDraft, new_instruction};

/// Iterations of the probe's loop.
pub(crate) const PROBE: u32 = 200_000;

/// Whether the module has a loop at all (SPIR-V specification, "Structured Control Flow").
pub(crate) fn has_loops(module: &Module) -> bool {
    module.instructions.iter().any(|instruction| instruction.op == Op::LoopMerge)
}

/// The loop-counting form of a module, with its counter at a binding of set 0 that nothing uses.
pub fn count_loops(module: &Module, binding: u32) -> Result<Vec<u32>, String> {
    let mut draft = ModuleDraft::without_functions(module);
    let counter = Counter::declare(module, &mut draft, binding);
    let mut edits = InstructionEdits::default();
    for function in &module.functions {
        for header in loop_headers(module, function) {
            count_loop(module, function, header, &counter, &mut draft, &mut edits)?;
        }
    }
    draft.copy_functions(module, &mut edits);
    Ok(draft.finish())
}

/// Ids of what the pass adds.
struct Counter {
    variable: Id,
    word: Id,
    word_pointer: Id,
    zero: Id,
    one: Id,
    minus_one: Id,
    scope: Id,
}

impl Counter {
    fn declare(module: &Module, draft: &mut ModuleDraft, binding: u32) -> Self {
        let word = draft.uint_type();
        let block = draft.storage_block(word, 0, binding);
        // From SPIR-V 1.4 on an entry point lists every global variable that it uses.
        if module.header.version() >= (1, 4) {
            let points = draft.preamble.iter_mut().filter(|i| i.op == Op::EntryPoint);
            points.for_each(|point| point.operands.push(Operand::IdRef(block.variable)));
        }
        Self {
            variable: block.variable,
            word,
            word_pointer: draft.pointer_type(block.class, word),
            zero: draft.uint_constant(0),
            one: draft.uint_constant(1),
            minus_one: draft.uint_constant(u32::MAX),
            scope: draft.uint_constant(scope(module)),
        }
    }

    /// Adds the value of id `amount`. Atomic, so that no compiler may leave it out.
    fn add(&self, draft: &mut ModuleDraft, amount: Id) -> [Instruction; 2] {
        let (place, old) = (draft.fresh_id(), draft.fresh_id());
        let chain = vec![Operand::IdRef(self.variable), Operand::IdRef(self.zero)];
        let atomic = vec![
            Operand::IdRef(place),
            Operand::IdScope(self.scope),
            Operand::IdMemorySemantics(self.zero),
            Operand::IdRef(amount),
        ];
        [
            new_instruction(Op::AccessChain, Some(self.word_pointer), Some(place), chain),
            new_instruction(Op::AtomicIAdd, Some(self.word), Some(old), atomic),
        ]
    }
}

/// Device, or QueueFamily where the Vulkan memory model would want one more feature for Device.
fn scope(module: &Module) -> u32 {
    let vulkan = Operand::Capability(spv::Capability::VulkanMemoryModel);
    let uses_vulkan = module
        .instructions
        .iter()
        .any(|i| i.op == Op::Capability && i.operands.first() == Some(&vulkan));
    if uses_vulkan { spv::Scope::QueueFamily as u32 } else { spv::Scope::Device as u32 }
}

/// Positions in `function.blocks`.
fn loop_headers(module: &Module, function: &Function) -> Vec<usize> {
    let is_header = |block: &FunctionBlock| {
        module.instructions_in(block.range).iter().any(|i| i.op == Op::LoopMerge)
    };
    (0..function.blocks.len()).filter(|index| is_header(&function.blocks[*index])).collect()
}

/// Labels that a block may branch to.
fn targets<'a>(module: &'a Module, block: &FunctionBlock) -> impl Iterator<Item = Id> + use<'a> {
    let terminator = &module.instructions[block.range.end - 1];
    let skip = match terminator.op {
        Op::Branch => 0,
        Op::BranchConditional | Op::Switch => 1,
        _ => usize::MAX,
    };
    terminator.ids().skip(skip)
}

/// Counts one loop: up where it branches back, down where its header is entered from there.
fn count_loop(
    module: &Module,
    function: &Function,
    header: usize,
    counter: &Counter,
    draft: &mut ModuleDraft,
    edits: &mut InstructionEdits,
) -> Result<(), String> {
    let head = &function.blocks[header];
    let into: Vec<usize> = (0..function.blocks.len())
        .filter(|index| {
            targets(module, &function.blocks[*index]).any(|target| target == head.label)
        })
        .collect();
    let back: Vec<usize> = into.iter().copied().filter(|index| *index >= header).collect();
    let [back] = back.as_slice() else {
        // A header that nothing branches back to is no loop.
        return if back.is_empty() {
            Ok(())
        } else {
            Err("a loop with several back edges".to_owned())
        };
    };
    let tail = &function.blocks[*back];
    let arrival = draft.fresh_id();
    let mut operands = Vec::new();
    for index in into {
        let value = if index == *back { counter.minus_one } else { counter.zero };
        operands.extend([Operand::IdRef(value), Operand::IdRef(function.blocks[index].label)]);
    }
    let start = head.range.start + 1;
    edits
        .insert_first(start, new_instruction(Op::Phi, Some(counter.word), Some(arrival), operands));
    let body = module.instructions_in(head.range).iter().skip(1);
    let after_phis =
        start + body.take_while(|i| matches!(i.op, Op::Phi | Op::Line | Op::NoLine)).count();
    edits.insert_before(after_phis, counter.add(draft, arrival));
    let (amount, choice) = departure(module, tail, head.label, counter, draft)?;
    let end = departure_place(module, tail);
    edits.insert_before(end, choice);
    edits.insert_before(end, counter.add(draft, amount));
    Ok(())
}

/// Before the terminator, and before the merge instruction that must stand right before it.
fn departure_place(module: &Module, tail: &FunctionBlock) -> usize {
    let end = tail.range.end - 1;
    match module.instructions[end - 1].op {
        Op::LoopMerge | Op::SelectionMerge => end - 1,
        _ => end,
    }
}

/// The id of 1 where the block branches back and 0 where it leaves, with the instruction that makes
/// it.
fn departure(
    module: &Module,
    tail: &FunctionBlock,
    header: Id,
    counter: &Counter,
    draft: &mut ModuleDraft,
) -> Result<(Id, Option<Instruction>), String> {
    let terminator = &module.instructions[tail.range.end - 1];
    match terminator.op {
        Op::Branch => Ok((counter.one, None)),
        Op::BranchConditional => {
            let condition = terminator.id(0).ok_or("a branch without a condition")?;
            let (first, second) =
                match (terminator.id(1) == Some(header), terminator.id(2) == Some(header)) {
                    (true, true) => return Ok((counter.one, None)),
                    (true, false) => (counter.one, counter.zero),
                    (false, _) => (counter.zero, counter.one),
                };
            let amount = draft.fresh_id();
            let operands = [condition, first, second].map(Operand::IdRef).to_vec();
            Ok((
                amount,
                Some(new_instruction(Op::Select, Some(counter.word), Some(amount), operands)),
            ))
        }
        other => Err(format!("a loop that branches back by Op{other:?}")),
    }
}

/// A module whose single invocation adds 1 to a counter [`PROBE`] times in a loop (see
/// [`super::canary`] for its kind).
pub(crate) fn probe_module() -> Vec<u32> {
    let mut draft = ModuleDraft::new_kernel((1, 3));
    let (void, word) = (draft.declare_type(Op::TypeVoid, Vec::new()), draft.uint_type());
    let truth = draft.declare_type(Op::TypeBool, Vec::new());
    let block = draft.storage_block(word, 0, 0);
    let element = draft.pointer_type(block.class, word);
    let constants =
        [0, 1, PROBE, spv::Scope::Device as u32].map(|value| draft.uint_constant(value));
    let [zero, one, most, scope] = constants;
    let [main, header, body, again, end, next] = std::array::from_fn(|_| draft.fresh_id());
    draft.begin_function(void, main, &[]);
    let place =
        draft.emit(Op::AccessChain, element, [block.variable, zero].map(Operand::IdRef).to_vec());
    let start = draft.fresh_id();
    draft.branch(start);
    draft.begin_block(start);
    draft.branch(header);
    draft.begin_block(header);
    let round = draft.emit(Op::Phi, word, [zero, start, next, again].map(Operand::IdRef).to_vec());
    let goes_on = draft.emit(Op::ULessThan, truth, [round, most].map(Operand::IdRef).to_vec());
    let control = Operand::LoopControl(spv::LoopControl::NONE);
    draft.push(Op::LoopMerge, vec![Operand::IdRef(end), Operand::IdRef(again), control]);
    draft.push(Op::BranchConditional, [goes_on, body, end].map(Operand::IdRef).to_vec());
    draft.begin_block(body);
    let atomic = vec![
        Operand::IdRef(place),
        Operand::IdScope(scope),
        Operand::IdMemorySemantics(zero),
        Operand::IdRef(one),
    ];
    draft.emit(Op::AtomicIAdd, word, atomic);
    draft.branch(again);
    draft.begin_block(again);
    let sum = [round, one].map(Operand::IdRef).to_vec();
    draft.functions.push(new_instruction(Op::IAdd, Some(word), Some(next), sum));
    draft.branch(header);
    draft.begin_block(end);
    draft.end_function();
    draft.entry_point(main, &[], [1, 1, 1]);
    draft.finish()
}
