//! Rewrites a marked module without its markers; `record` adds what it records at the same places.
//!
//! Knows: where markers stand. A value marker returns its operand unchanged, so its result becomes
//! the operand.
//! Promises: nothing but markers goes; every float operation is decorated NoContraction, so that
//! drivers round traced and instrumented modules alike (SPIR-V specification, decoration
//! NoContraction).
//! Does not cover: declarations that only markers used (constants, function types); they stay,
//! unused.

use super::markers::{MarkerCall, MarkerCalls};
use rspirv::dr::Operand;
use rspirv::spirv::{Capability, Decoration, Op};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_spirv::calls::calls_in_function;
use vkcert_spirv::module::{Function, Id, Instruction, Module};
use vkcert_spirv::rewrite::{ModuleDraft, ModuleWriter, Rewrite};

/// Sees the places of a module where records may be added.
pub(crate) trait Recorder {
    /// Behind the label of a function's first block, where its variables stand.
    fn function_entered(&mut self, draft: &mut ModuleDraft, function: Id);
    /// Before the instruction with an index in the marked module's list, where a block's phis are
    /// past.
    fn before_instruction(&mut self, draft: &mut ModuleDraft, index: usize);
    /// In the place of the marker call with an index; `value` is the marked value.
    fn marker_reached(
        &mut self,
        draft: &mut ModuleDraft,
        index: usize,
        call: &MarkerCall,
        value: Option<Id>,
    );
}

/// Records nothing.
pub(crate) struct Unrecorded;

impl Recorder for Unrecorded {
    fn function_entered(&mut self, _draft: &mut ModuleDraft, _function: Id) {}
    fn before_instruction(&mut self, _draft: &mut ModuleDraft, _index: usize) {}
    fn marker_reached(
        &mut self,
        _draft: &mut ModuleDraft,
        _index: usize,
        _call: &MarkerCall,
        _value: Option<Id>,
    ) {
    }
}

/// The marked module without its markers.
pub(crate) fn erase_markers(marked_module: &Module, marker_calls: &MarkerCalls) -> Vec<u32> {
    let mut draft = declarations_without_markers(marked_module, marker_calls);
    rewrite_functions(marked_module, marker_calls, &mut draft, &mut Unrecorded);
    draft.finish()
}

/// Everything before the functions, without what belongs to the markers and with NoContraction.
pub(crate) fn declarations_without_markers(
    marked_module: &Module,
    marker_calls: &MarkerCalls,
) -> ModuleDraft {
    let mut draft = ModuleDraft::without_functions(marked_module);
    let erased_ids = marker_calls.erased_ids(marked_module);
    let about_erased = |instruction: &Instruction| {
        instruction.id(0).is_some_and(|target| erased_ids.contains(&target))
    };
    draft.preamble.retain(|instruction| {
        !(matches!(instruction.op, Op::Name | Op::MemberName) && about_erased(instruction))
    });
    draft
        .annotations
        .retain(|instruction| !(instruction.op.is_annotation() && about_erased(instruction)));
    let kept_functions =
        marked_module.functions.iter().filter(|function| !marker_calls.is_marker(function.id));
    let kept_instructions =
        kept_functions.flat_map(|function| marked_module.instructions_in(function.range));
    for operation in kept_instructions.filter(|instruction| is_contractible(instruction.op)) {
        if let Some(result) = operation.result
            && marked_module.decoration(result, Decoration::NoContraction).is_none()
        {
            draft.decorate(result, vec![Operand::Decoration(Decoration::NoContraction)]);
        }
    }
    draft
}

/// Copies every function that is not a marker, with `recorder` called at its places.
pub(crate) fn rewrite_functions(
    marked_module: &Module,
    marker_calls: &MarkerCalls,
    draft: &mut ModuleDraft,
    recorder: &mut dyn Recorder,
) {
    draft.copy_functions(
        marked_module,
        &mut Erasure {
            marked: marked_module,
            markers: marker_calls,
            operands: marker_calls.resolved_operands(),
            recorder,
        },
    );
}

/// Copies functions without markers.
struct Erasure<'a> {
    marked: &'a Module,
    markers: &'a MarkerCalls,
    /// What stands for the result of each marker call.
    operands: BTreeMap<Id, Id>,
    recorder: &'a mut dyn Recorder,
}

impl Rewrite for Erasure<'_> {
    fn keeps_function(&self, function: &Function) -> bool {
        !self.markers.is_marker(function.id)
    }

    fn rewrite_instruction(
        &mut self,
        draft: &mut ModuleDraft,
        instruction_index: usize,
        original: &Instruction,
    ) {
        self.recorder.before_instruction(draft, instruction_index);
        if let Some(call) = self.markers.calls.get(&instruction_index) {
            let value = call.operand.map(|id| self.operands.get(&id).copied().unwrap_or(id));
            self.recorder.marker_reached(draft, instruction_index, call, value);
            return;
        }
        draft.functions.push(with_operands(original, &self.operands));
        if original.op == Op::Label
            && let Some(function) = self.marked.function_at(instruction_index)
            && function.blocks.first().is_some_and(|block| block.range.start == instruction_index)
        {
            self.recorder.function_entered(draft, function.id);
        }
    }
}

fn with_operands(original: &Instruction, operands: &BTreeMap<Id, Id>) -> Instruction {
    let mut substituted_instruction = original.clone();
    for operand in &mut substituted_instruction.operands {
        if let Operand::IdRef(id) = operand {
            *id = operands.get(id).copied().unwrap_or(*id);
        }
    }
    substituted_instruction
}

/// Operations that a driver may fuse or reassociate unless told not to.
fn is_contractible(op: Op) -> bool {
    matches!(
        op,
        Op::FNegate
            | Op::FAdd
            | Op::FSub
            | Op::FMul
            | Op::FDiv
            | Op::FRem
            | Op::FMod
            | Op::VectorTimesScalar
            | Op::MatrixTimesScalar
            | Op::VectorTimesMatrix
            | Op::MatrixTimesVector
            | Op::MatrixTimesMatrix
            | Op::OuterProduct
            | Op::Dot
    )
}

/// Removes from an instrumented module everything that names an id from `bound` upwards, and
/// `capabilities`: the records, which are all that instrumentation adds. The entry point is again
/// the function that the added one calls. What is left is the traced module whose bound is given.
pub fn strip_records(instrumented: &Module, bound: Id, capabilities: &[Capability]) -> Vec<u32> {
    let mut stripped_module = ModuleWriter::with_bound(instrumented, bound);
    let added_functions = || instrumented.functions.iter().filter(|function| function.id >= bound);
    let added_instructions: BTreeSet<usize> =
        added_functions().flat_map(|function| function.instruction_indices()).collect();
    // The kernel's own entry function, by the function that stands for it.
    let stands_for: BTreeMap<Id, Id> = added_functions()
        .filter_map(|function| {
            let mut callee_ids =
                calls_in_function(instrumented, function).filter_map(|(_, call)| call.id(0));
            Some((function.id, callee_ids.find(|callee| *callee < bound)?))
        })
        .collect();
    for (index, original) in instrumented.instructions.iter().enumerate() {
        let restored = restored_entry(original, &stands_for, bound);
        let stripped = restored.as_ref().unwrap_or(original);
        let added_capability = stripped.op == Op::Capability
            && matches!(stripped.operands.first(), Some(Operand::Capability(one)) if capabilities.contains(one));
        let names_added = stripped.result.into_iter().chain(stripped.ids()).any(|id| id >= bound);
        if !names_added && !added_capability && !added_instructions.contains(&index) {
            stripped_module.copy_instruction(stripped);
        }
    }
    stripped_module.finish()
}

/// An instruction that names the entry function, about the kernel's own one and without the added
/// variables; none for others.
fn restored_entry(
    original: &Instruction,
    stands_for: &BTreeMap<Id, Id>,
    bound: Id,
) -> Option<Instruction> {
    if !matches!(original.op, Op::EntryPoint | Op::ExecutionMode | Op::ExecutionModeId) {
        return None;
    }
    let mut restored = with_operands(original, stands_for);
    if original.op == Op::EntryPoint {
        restored.operands.retain(|operand| !matches!(operand, Operand::IdRef(id) if *id >= bound));
    }
    Some(restored)
}

/// Whether two modules are the same but for the numbers of ids and for debug lines.
pub fn normalised_equal(left_module: &Module, right_module: &Module) -> bool {
    let mut right_module = normalised_instructions(right_module);
    normalised_instructions(left_module).all(|instruction| right_module.next() == Some(instruction))
        && right_module.next().is_none()
}

/// Opcode, result type, result and operands, ids renumbered.
type NormalisedInstruction = (Op, Option<Id>, Option<Id>, Vec<Operand>);

/// One instruction after the other, so that no copy of the module is made.
fn normalised_instructions(module: &Module) -> impl Iterator<Item = NormalisedInstruction> + '_ {
    let mut numbers_by_id: BTreeMap<Id, Id> = BTreeMap::new();
    let meaningful = module
        .instructions
        .iter()
        .filter(|instruction| !matches!(instruction.op, Op::Line | Op::NoLine));
    meaningful.map(move |original| {
        let mut number_of_id = |id: Id| {
            let next_number = numbers_by_id.len() as Id + 1;
            *numbers_by_id.entry(id).or_insert(next_number)
        };
        let operands = original.operands.iter().map(|operand| match operand {
            Operand::IdRef(id) => Operand::IdRef(number_of_id(*id)),
            Operand::IdScope(id) => Operand::IdScope(number_of_id(*id)),
            Operand::IdMemorySemantics(id) => Operand::IdMemorySemantics(number_of_id(*id)),
            other => other.clone(),
        });
        let operands = operands.collect();
        (
            original.op,
            original.result_type.map(&mut number_of_id),
            original.result.map(&mut number_of_id),
            operands,
        )
    })
}
