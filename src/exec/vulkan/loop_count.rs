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
//! Does not cover: devices whose cut-off lies beyond the probe's [`PROBE_ITERATIONS`] iterations;
//! kernels with data races, which may run differently the second time.

use rspirv::dr::Operand;
use rspirv::spirv::{self as spv, Op};
use vkcert_spirv::module::{Function, FunctionBlock, Id, Instruction, Module};
use vkcert_spirv::rewrite::{InstructionEdits, ModuleDraft, new_instruction};

/// Iterations of the probe's loop.
pub(crate) const PROBE_ITERATIONS: u32 = 200_000;

/// Whether the module has a loop at all (SPIR-V specification, "Structured Control Flow").
pub(crate) fn has_loops(module: &Module) -> bool {
    module.instructions.iter().any(|instruction| instruction.op == Op::LoopMerge)
}

/// The loop-counting form of a module, with its counter at a binding of set 0 that nothing uses.
pub fn count_loops(module: &Module, binding: u32) -> Result<Vec<u32>, String> {
    let mut draft = ModuleDraft::without_functions(module);
    let loop_counter = LoopCounter::declare_counter(module, &mut draft, binding);
    let mut instruction_edits = InstructionEdits::default();
    for function in &module.functions {
        for header_index in loop_headers(module, function) {
            count_loop(
                module,
                function,
                header_index,
                &loop_counter,
                &mut draft,
                &mut instruction_edits,
            )?;
        }
    }
    draft.copy_functions(module, &mut instruction_edits);
    Ok(draft.finish())
}

/// Ids of what the pass adds.
struct LoopCounter {
    variable: Id,
    word: Id,
    word_pointer: Id,
    zero: Id,
    one: Id,
    minus_one: Id,
    scope: Id,
}

impl LoopCounter {
    fn declare_counter(module: &Module, draft: &mut ModuleDraft, binding: u32) -> Self {
        let word_type = draft.uint_type();
        let storage_block = draft.storage_block(word_type, 0, binding);
        // From SPIR-V 1.4 on an entry point lists every global variable that it uses.
        if module.header.version() >= (1, 4) {
            let entry_points =
                draft.preamble.iter_mut().filter(|instruction| instruction.op == Op::EntryPoint);
            entry_points.for_each(|entry_point| {
                entry_point.operands.push(Operand::IdRef(storage_block.variable))
            });
        }
        Self {
            variable: storage_block.variable,
            word: word_type,
            word_pointer: draft.pointer_type(storage_block.class, word_type),
            zero: draft.uint_constant(0),
            one: draft.uint_constant(1),
            minus_one: draft.uint_constant(u32::MAX),
            scope: draft.uint_constant(atomic_scope(module)),
        }
    }

    /// Adds the value of id `amount`. Atomic, so that no compiler may leave it out.
    fn add_amount(&self, draft: &mut ModuleDraft, amount_id: Id) -> [Instruction; 2] {
        let (counter_pointer, old_value) = (draft.fresh_id(), draft.fresh_id());
        let access_chain = vec![Operand::IdRef(self.variable), Operand::IdRef(self.zero)];
        let atomic_operands = vec![
            Operand::IdRef(counter_pointer),
            Operand::IdScope(self.scope),
            Operand::IdMemorySemantics(self.zero),
            Operand::IdRef(amount_id),
        ];
        [
            new_instruction(
                Op::AccessChain,
                Some(self.word_pointer),
                Some(counter_pointer),
                access_chain,
            ),
            new_instruction(Op::AtomicIAdd, Some(self.word), Some(old_value), atomic_operands),
        ]
    }
}

/// Device, or QueueFamily where the Vulkan memory model would want one more feature for Device.
fn atomic_scope(module: &Module) -> u32 {
    let vulkan_model = Operand::Capability(spv::Capability::VulkanMemoryModel);
    let uses_vulkan = module.instructions.iter().any(|instruction| {
        instruction.op == Op::Capability && instruction.operands.first() == Some(&vulkan_model)
    });
    if uses_vulkan { spv::Scope::QueueFamily as u32 } else { spv::Scope::Device as u32 }
}

/// Positions in `function.blocks`.
fn loop_headers(module: &Module, function: &Function) -> Vec<usize> {
    let is_header = |block: &FunctionBlock| {
        module
            .instructions_in(block.range)
            .iter()
            .any(|instruction| instruction.op == Op::LoopMerge)
    };
    (0..function.blocks.len()).filter(|index| is_header(&function.blocks[*index])).collect()
}

/// Labels that a block may branch to.
fn branch_targets<'a>(
    module: &'a Module,
    block: &FunctionBlock,
) -> impl Iterator<Item = Id> + use<'a> {
    let terminator = &module.instructions[block.range.end - 1];
    let skipped_operands = match terminator.op {
        Op::Branch => 0,
        Op::BranchConditional | Op::Switch => 1,
        _ => usize::MAX,
    };
    terminator.ids().skip(skipped_operands)
}

/// Counts one loop: up where it branches back, down where its header is entered from there.
fn count_loop(
    module: &Module,
    function: &Function,
    header_index: usize,
    loop_counter: &LoopCounter,
    draft: &mut ModuleDraft,
    instruction_edits: &mut InstructionEdits,
) -> Result<(), String> {
    let header_block = &function.blocks[header_index];
    let entering_blocks: Vec<usize> = (0..function.blocks.len())
        .filter(|index| {
            branch_targets(module, &function.blocks[*index])
                .any(|target| target == header_block.label)
        })
        .collect();
    let back_edges: Vec<usize> =
        entering_blocks.iter().copied().filter(|index| *index >= header_index).collect();
    let [back_edges] = back_edges.as_slice() else {
        // A header that nothing branches back to is no loop.
        return if back_edges.is_empty() {
            Ok(())
        } else {
            Err("a loop with several back edges".to_owned())
        };
    };
    let back_block = &function.blocks[*back_edges];
    let arrival_id = draft.fresh_id();
    let mut phi_operands = Vec::new();
    for index in entering_blocks {
        let arrival_value =
            if index == *back_edges { loop_counter.minus_one } else { loop_counter.zero };
        phi_operands
            .extend([Operand::IdRef(arrival_value), Operand::IdRef(function.blocks[index].label)]);
    }
    let after_label = header_block.range.start + 1;
    instruction_edits.insert_first(
        after_label,
        new_instruction(Op::Phi, Some(loop_counter.word), Some(arrival_id), phi_operands),
    );
    let header_body = module.instructions_in(header_block.range).iter().skip(1);
    let after_phis = after_label
        + header_body
            .take_while(|instruction| matches!(instruction.op, Op::Phi | Op::Line | Op::NoLine))
            .count();
    instruction_edits.insert_before(after_phis, loop_counter.add_amount(draft, arrival_id));
    let (amount_id, select_instruction) =
        departure_amount(module, back_block, header_block.label, loop_counter, draft)?;
    let departure_index = departure_index(module, back_block);
    instruction_edits.insert_before(departure_index, select_instruction);
    instruction_edits.insert_before(departure_index, loop_counter.add_amount(draft, amount_id));
    Ok(())
}

/// Before the terminator, and before the merge instruction that must stand right before it.
fn departure_index(module: &Module, back_block: &FunctionBlock) -> usize {
    let terminator_index = back_block.range.end - 1;
    match module.instructions[terminator_index - 1].op {
        Op::LoopMerge | Op::SelectionMerge => terminator_index - 1,
        _ => terminator_index,
    }
}

/// The id of 1 where the block branches back and 0 where it leaves, with the instruction that makes
/// it.
fn departure_amount(
    module: &Module,
    back_block: &FunctionBlock,
    header_label: Id,
    loop_counter: &LoopCounter,
    draft: &mut ModuleDraft,
) -> Result<(Id, Option<Instruction>), String> {
    let terminator = &module.instructions[back_block.range.end - 1];
    match terminator.op {
        Op::Branch => Ok((loop_counter.one, None)),
        Op::BranchConditional => {
            let condition_id = terminator.id(0).ok_or("a branch without a condition")?;
            let (first_amount, second_amount) = match (
                terminator.id(1) == Some(header_label),
                terminator.id(2) == Some(header_label),
            ) {
                (true, true) => return Ok((loop_counter.one, None)),
                (true, false) => (loop_counter.one, loop_counter.zero),
                (false, _) => (loop_counter.zero, loop_counter.one),
            };
            let amount_id = draft.fresh_id();
            let operands = [condition_id, first_amount, second_amount].map(Operand::IdRef).to_vec();
            Ok((
                amount_id,
                Some(new_instruction(
                    Op::Select,
                    Some(loop_counter.word),
                    Some(amount_id),
                    operands,
                )),
            ))
        }
        other_terminator => Err(format!("a loop that branches back by Op{other_terminator:?}")),
    }
}

/// A module whose single invocation adds 1 to a counter [`PROBE`] times in a loop (see
/// [`super::canary`] for its kind).
pub(crate) fn probe_module() -> Vec<u32> {
    let mut draft = ModuleDraft::new_kernel((1, 3));
    let (void_type, word_type) = (draft.declare_type(Op::TypeVoid, Vec::new()), draft.uint_type());
    let bool_type = draft.declare_type(Op::TypeBool, Vec::new());
    let storage_block = draft.storage_block(word_type, 0, 0);
    let element_pointer = draft.pointer_type(storage_block.class, word_type);
    let constants =
        [0, 1, PROBE_ITERATIONS, spv::Scope::Device as u32].map(|value| draft.uint_constant(value));
    let [zero_constant, one_constant, iteration_limit, scope] = constants;
    let [main_function, header_label, body_label, continue_label, merge_label, next_round] =
        std::array::from_fn(|_| draft.fresh_id());
    draft.begin_function(void_type, main_function, &[]);
    let counter_pointer = draft.emit(
        Op::AccessChain,
        element_pointer,
        [storage_block.variable, zero_constant].map(Operand::IdRef).to_vec(),
    );
    let start_label = draft.fresh_id();
    draft.branch(start_label);
    draft.begin_block(start_label);
    draft.branch(header_label);
    draft.begin_block(header_label);
    let round_index = draft.emit(
        Op::Phi,
        word_type,
        [zero_constant, start_label, next_round, continue_label].map(Operand::IdRef).to_vec(),
    );
    let goes_on = draft.emit(
        Op::ULessThan,
        bool_type,
        [round_index, iteration_limit].map(Operand::IdRef).to_vec(),
    );
    let loop_control = Operand::LoopControl(spv::LoopControl::NONE);
    draft.push(
        Op::LoopMerge,
        vec![Operand::IdRef(merge_label), Operand::IdRef(continue_label), loop_control],
    );
    draft.push(
        Op::BranchConditional,
        [goes_on, body_label, merge_label].map(Operand::IdRef).to_vec(),
    );
    draft.begin_block(body_label);
    let atomic_operands = vec![
        Operand::IdRef(counter_pointer),
        Operand::IdScope(scope),
        Operand::IdMemorySemantics(zero_constant),
        Operand::IdRef(one_constant),
    ];
    draft.emit(Op::AtomicIAdd, word_type, atomic_operands);
    draft.branch(continue_label);
    draft.begin_block(continue_label);
    let sum_operands = [round_index, one_constant].map(Operand::IdRef).to_vec();
    draft.functions.push(new_instruction(
        Op::IAdd,
        Some(word_type),
        Some(next_round),
        sum_operands,
    ));
    draft.branch(header_label);
    draft.begin_block(merge_label);
    draft.end_function();
    draft.entry_point(main_function, &[], [1, 1, 1]);
    draft.finish()
}
