//! Definedness: operands that some path can leave undefined (a forward may-analysis), and
//! operations whose result may be undefined.
//!
//! Promises: only the operands and operations that it marks need a check at run time.

use super::occurrences::{Occurrence, RegisterTable, find_occurrences};
use crate::decode::{DefinednessCheck, DispatchFacts};
use crate::ir::lane_exchange::LaneExchange;
use crate::ir::*;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::rc::Rc;
use vkcert_spirv::operation::undefined::{Undefined, UndefinedExtent};

/// 64-bit words of a part of a state.
const PART_WORDS: usize = 8;

/// Registers across blocks that may be undefined, as bits in shared parts. A block changes few of
/// them, so that it shares most parts with its predecessors.
#[derive(Debug, Clone)]
struct UndefinedBits(Vec<Rc<[u64; PART_WORDS]>>);

impl UndefinedBits {
    fn join_state(&mut self, other_state: &UndefinedBits) -> bool {
        let mut has_changed = false;
        for (own_bits, other_bits) in self.0.iter_mut().zip(&other_state.0) {
            if Rc::ptr_eq(own_bits, other_bits)
                || own_bits
                    .iter()
                    .zip(other_bits.iter())
                    .all(|(own_bits, other_bits)| *other_bits & !*own_bits == 0)
            {
                continue;
            }
            has_changed = true;
            Rc::make_mut(own_bits)
                .iter_mut()
                .zip(other_bits.iter())
                .for_each(|(own_bits, other_bits)| *own_bits |= other_bits);
        }
        has_changed
    }
}

/// Registers that may be undefined at one point of the program.
struct MaybeUndefined {
    /// Bit numbers of registers across blocks; none for registers within one block.
    register_numbers: RegisterTable<Option<u32>>,
    across_blocks: UndefinedBits,
    /// Registers within one block. Each is written before it is read, so nothing has to be cleared
    /// between blocks.
    within_block: RegisterTable<bool>,
}

impl MaybeUndefined {
    fn new(program: &mut Program) -> Self {
        let all_occurrences = find_occurrences(program);
        let mut numbers = RegisterTable::new(program, None);
        let mut number_count = 0;
        let mut number_of = |occurrence: &Occurrence| {
            occurrence.outlives_block.then(|| {
                number_count += 1;
                number_count - 1
            })
        };
        numbers.words = all_occurrences.words.iter().map(&mut number_of).collect();
        numbers.masks = all_occurrences.masks.iter().map(&mut number_of).collect();
        let part_count = (number_count as usize).div_ceil(64 * PART_WORDS);
        // All parts share one allocation until a bit is set.
        let empty_part = Rc::new([0; PART_WORDS]);
        Self {
            register_numbers: numbers,
            across_blocks: UndefinedBits(vec![empty_part; part_count]),
            within_block: RegisterTable::new(program, false),
        }
    }
    fn may_be_undefined(&self, scalar: Scalar) -> bool {
        match self.register_numbers.get(scalar) {
            Some(register_number) => {
                let (word, bit) = (*register_number as usize / 64, register_number % 64);
                self.across_blocks.0[word / PART_WORDS][word % PART_WORDS] >> bit & 1 == 1
            }
            None => *self.within_block.get(scalar),
        }
    }
    fn set_undefined(&mut self, scalar: Scalar, may_be_undefined: bool) {
        if self.may_be_undefined(scalar) == may_be_undefined {
            return;
        }
        match self.register_numbers.get(scalar) {
            Some(register_number) => {
                let (word, bit) = (*register_number as usize / 64, register_number % 64);
                Rc::make_mut(&mut self.across_blocks.0[word / PART_WORDS])[word % PART_WORDS] ^=
                    1 << bit;
            }
            None => *self.within_block.get_mut(scalar) = may_be_undefined,
        }
    }
}

/// Transfer function of one instruction; calls `visit_operand` with each operand that may be
/// undefined.
fn transfer_instruction(
    step: &mut LocatedInstruction,
    maybe_undefined: &mut MaybeUndefined,
    memory_may_be_undefined: impl Fn(AccessRoot) -> bool,
    mut visit_operand: impl FnMut(Scalar),
) {
    let result_undefined = leaves_undefined(step);
    let action = &mut step.instruction;
    let mut forwards_undefined = match action {
        LaneInstruction::Undefine { .. } | LaneInstruction::UndefineMask { .. } => true,
        LaneInstruction::Load { access, .. } => memory_may_be_undefined(access.root),
        LaneInstruction::Atomic { op, access, .. } => {
            op.returns_old_value() && memory_may_be_undefined(access.root)
        }
        LaneInstruction::Image(image_step) if image_step.operation.forwards_memory() => image_step
            .image
            .descriptors
            .iter()
            .any(|descriptor| memory_may_be_undefined(AccessRoot::Descriptor(*descriptor))),
        _ => false,
    };
    action.visit_registers(&mut |scalar, register_use| match register_use {
        RegisterUse::Operand => {
            if maybe_undefined.may_be_undefined(*scalar) {
                visit_operand(*scalar);
            }
        }
        RegisterUse::Forward => forwards_undefined |= maybe_undefined.may_be_undefined(*scalar),
        RegisterUse::Write | RegisterUse::Update => {}
    });
    // These write a value that they forward; all others write a computed value.
    let forwards_values = matches!(
        action,
        LaneInstruction::Copy { .. }
            | LaneInstruction::CopyMask { .. }
            | LaneInstruction::Select { .. }
            | LaneInstruction::SelectMask { .. }
            | LaneInstruction::UndefinedWhere { .. }
            | LaneInstruction::ExtractDynamic { .. }
            | LaneInstruction::InsertDynamic { .. }
            | LaneInstruction::Load { .. }
            | LaneInstruction::Atomic { .. }
            | LaneInstruction::Image(_)
            | LaneInstruction::Exchange { .. }
            | LaneInstruction::Undefine { .. }
            | LaneInstruction::UndefineMask { .. }
    );
    action.visit_registers(&mut |scalar, register_use| {
        if register_use == RegisterUse::Write {
            maybe_undefined.set_undefined(
                *scalar,
                result_undefined || (forwards_undefined && forwards_values),
            );
        }
    });
}

/// Whether an instruction may have an undefined result although its operands are defined.
fn leaves_undefined(step: &LocatedInstruction) -> bool {
    let leaves_value = |undefined: &Undefined| undefined.extent == UndefinedExtent::Value;
    match &step.instruction {
        LaneInstruction::Unary { op, .. } => {
            step.may_be_undefined
                && op.undefined_rules().iter().any(|rule| leaves_value(&rule.then))
        }
        LaneInstruction::Binary { op, .. } => {
            step.may_be_undefined
                && op.undefined_rules().iter().any(|rule| leaves_value(&rule.then))
        }
        LaneInstruction::Ternary { op, .. } => {
            step.may_be_undefined
                && op.undefined_rules().iter().any(|rule| leaves_value(&rule.then))
        }
        LaneInstruction::Sized { .. } => step.may_be_undefined,
        LaneInstruction::Dot { dot, .. } => dot.may_be_undefined(),
        LaneInstruction::Group { op, .. } => op.may_be_undefined(),
        LaneInstruction::Exchange { way, .. } => *way != LaneExchange::First,
        LaneInstruction::UndefinedWhere { .. } => true,
        _ => false,
    }
}

/// Fills the operands to check of all instructions and blocks. Returns the registers that are
/// written a value that may be undefined anywhere.
pub(crate) fn find_operands_to_check(
    program: &mut Program,
    dispatch_facts: &DispatchFacts,
) -> RegisterTable<bool> {
    let mut ever_undefined = RegisterTable::new(program, false);
    if dispatch_facts.undefined_checked == DefinednessCheck::No {
        return ever_undefined;
    }
    let mut maybe_undefined = MaybeUndefined::new(program);
    let from_outside = program.undefined_words.iter().map(|reg| Scalar::Word(*reg));
    let from_outside =
        from_outside.chain(program.undefined_masks.iter().map(|reg| Scalar::Mask(*reg)));
    let undefined_pushes = program.uniforms.iter().filter(|(uniform, _)| {
        matches!(uniform, UniformValue::PushConstant(_)) && !dispatch_facts.push_constants_defined
    });
    for scalar in from_outside.chain(undefined_pushes.map(|(_, reg)| Scalar::Word(*reg))) {
        maybe_undefined.set_undefined(scalar, true);
        *ever_undefined.get_mut(scalar) = true;
    }
    let undefined_descriptors: Vec<bool> = program
        .descriptors
        .iter()
        .map(|descriptor| (descriptor.set, descriptor.binding, descriptor.array_index))
        .map(|descriptor| !dispatch_facts.defined_descriptors.contains(&descriptor))
        .collect();
    let memory_may_be_undefined = |root: AccessRoot| match root {
        AccessRoot::Descriptor(index) => undefined_descriptors[index as usize],
        AccessRoot::PushConstant => !dispatch_facts.push_constants_defined,
        AccessRoot::Workgroup
        | AccessRoot::Invocation
        | AccessRoot::Descriptors { .. }
        | AccessRoot::Address(_)
        | AccessRoot::Pointer { .. }
        | AccessRoot::Buffer(_) => true,
    };
    let entry_states = solve_fixpoint(program, &mut maybe_undefined, &memory_may_be_undefined);
    for (block, entry_state) in program.blocks.iter_mut().zip(entry_states) {
        let Some(entry_state) = entry_state else { continue };
        maybe_undefined.across_blocks = entry_state;
        for step in &mut block.steps {
            let mut undefined_operands = Vec::new();
            transfer_instruction(step, &mut maybe_undefined, memory_may_be_undefined, |scalar| {
                if !undefined_operands.contains(&scalar) {
                    undefined_operands.push(scalar);
                }
            });
            step.operands_to_check = undefined_operands.into();
            step.instruction.visit_registers(&mut |scalar, register_use| {
                if register_use == RegisterUse::Write && maybe_undefined.may_be_undefined(*scalar) {
                    *ever_undefined.get_mut(*scalar) = true;
                }
            });
        }
        let decider = block
            .terminator
            .deciding_register()
            .filter(|decider| maybe_undefined.may_be_undefined(*decider));
        block.operands_to_check = decider.into_iter().collect();
    }
    ever_undefined
}

/// Solves the data-flow equations: what may be undefined on entry to each block; none for blocks
/// that are not reached.
fn solve_fixpoint(
    program: &mut Program,
    maybe_undefined: &mut MaybeUndefined,
    memory_may_be_undefined: &dyn Fn(AccessRoot) -> bool,
) -> Vec<Option<UndefinedBits>> {
    let mut entry_states: Vec<Option<UndefinedBits>> = vec![None; program.blocks.len()];
    if entry_states.is_empty() {
        return entry_states;
    }
    entry_states[0] = Some(maybe_undefined.across_blocks.clone());
    let mut open_blocks: BTreeSet<usize> = BTreeSet::from([0]);
    while let Some(block_index) = open_blocks.pop_first() {
        let Some(entry_state) = &entry_states[block_index] else { continue };
        maybe_undefined.across_blocks.0.clone_from(&entry_state.0);
        for step in &mut program.blocks[block_index].steps {
            transfer_instruction(step, maybe_undefined, memory_may_be_undefined, |_| {});
        }
        for successor in program.blocks[block_index].terminator.successors() {
            let successor = successor as usize;
            let has_changed = match &mut entry_states[successor] {
                Some(successor_state) => successor_state.join_state(&maybe_undefined.across_blocks),
                empty => {
                    *empty = Some(maybe_undefined.across_blocks.clone());
                    true
                }
            };
            if has_changed {
                open_blocks.insert(successor);
            }
        }
    }
    entry_states
}

/// Marks the operations whose result or behaviour can be undefined, unless constant operands rule
/// it out.
pub(crate) fn find_undefined_results(program: &mut Program) {
    let constants: FxHashMap<Reg, u32> = program
        .uniforms
        .iter()
        .filter_map(|(uniform, reg)| match uniform {
            UniformValue::Constant(constant_value) => Some((*reg, *constant_value)),
            UniformValue::PushConstant(_)
            | UniformValue::WorkgroupId(_)
            | UniformValue::NumWorkgroups(_)
            | UniformValue::SubgroupSize
            | UniformValue::NumSubgroups => None,
        })
        .collect();
    let constant_value = |reg: &Reg| constants.get(reg).copied();
    for step in program.blocks.iter_mut().flat_map(|block| &mut block.steps) {
        step.may_be_undefined = match &step.instruction {
            LaneInstruction::Unary { op, a, to: _ } => {
                op.undefined_rules().iter().any(|rule| rule.may_be_met(constant_value(a)))
            }
            LaneInstruction::Binary { op, a, b, to: _ } => op
                .undefined_rules()
                .iter()
                .any(|rule| rule.may_be_met(constant_value(a), constant_value(b))),
            LaneInstruction::Ternary { op, a, b, c, to: _ } => {
                op.undefined_rules().iter().any(|rule| {
                    rule.may_be_met(constant_value(a), constant_value(b), constant_value(c))
                })
            }
            LaneInstruction::Sized { operation, .. } => operation.may_be_undefined(),
            _ => false,
        };
    }
}
