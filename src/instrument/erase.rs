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
    fn before(&mut self, draft: &mut ModuleDraft, index: usize);
    /// In the place of the marker call with an index; `value` is the marked value.
    fn marker(
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
    fn before(&mut self, _draft: &mut ModuleDraft, _index: usize) {}
    fn marker(
        &mut self,
        _draft: &mut ModuleDraft,
        _index: usize,
        _call: &MarkerCall,
        _value: Option<Id>,
    ) {
    }
}

/// The marked module without its markers.
pub(crate) fn erase(marked: &Module, markers: &MarkerCalls) -> Vec<u32> {
    let mut draft = declarations(marked, markers);
    rewrite_functions(marked, markers, &mut draft, &mut Unrecorded);
    draft.finish()
}

/// Everything before the functions, without what belongs to the markers and with NoContraction.
pub(crate) fn declarations(marked: &Module, markers: &MarkerCalls) -> ModuleDraft {
    let mut draft = ModuleDraft::without_functions(marked);
    let erased = markers.erased_ids(marked);
    let about_erased = |i: &Instruction| i.id(0).is_some_and(|target| erased.contains(&target));
    draft.preamble.retain(|i| !(matches!(i.op, Op::Name | Op::MemberName) && about_erased(i)));
    draft.annotations.retain(|i| !(i.op.is_annotation() && about_erased(i)));
    let bodies = marked.functions.iter().filter(|function| !markers.is_marker(function.id));
    let operations = bodies.flat_map(|function| &marked.instructions[function.range.clone()]);
    for operation in operations.filter(|i| contractible(i.op)) {
        if let Some(result) = operation.result
            && marked.decoration(result, Decoration::NoContraction).is_none()
        {
            draft.decorate(result, vec![Operand::Decoration(Decoration::NoContraction)]);
        }
    }
    draft
}

/// Copies every function that is not a marker, with `recorder` called at its places.
pub(crate) fn rewrite_functions(
    marked: &Module,
    markers: &MarkerCalls,
    draft: &mut ModuleDraft,
    recorder: &mut dyn Recorder,
) {
    draft.copy_functions(
        marked,
        &mut Erasure { marked, markers, operands: markers.operands(), recorder },
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
        index: usize,
        original: &Instruction,
    ) {
        self.recorder.before(draft, index);
        if let Some(call) = self.markers.calls.get(&index) {
            let value = call.operand.map(|id| self.operands.get(&id).copied().unwrap_or(id));
            self.recorder.marker(draft, index, call, value);
            return;
        }
        draft.functions.push(substituted(original, &self.operands));
        if original.op == Op::Label
            && let Some(function) = self.marked.function_at(index)
            && function.blocks.first().is_some_and(|block| block.range.start == index)
        {
            self.recorder.function_entered(draft, function.id);
        }
    }
}

fn substituted(original: &Instruction, operands: &BTreeMap<Id, Id>) -> Instruction {
    let mut copied = original.clone();
    for operand in &mut copied.operands {
        if let Operand::IdRef(id) = operand {
            *id = operands.get(id).copied().unwrap_or(*id);
        }
    }
    copied
}

/// Operations that a driver may fuse or reassociate unless told not to.
fn contractible(op: Op) -> bool {
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
    let mut kept = ModuleWriter::with_bound(instrumented, bound);
    let added_functions = || instrumented.functions.iter().filter(|function| function.id >= bound);
    let added: BTreeSet<usize> =
        added_functions().flat_map(|function| function.range.clone()).collect();
    // The kernel's own entry function, by the function that stands for it.
    let stands_for: BTreeMap<Id, Id> = added_functions()
        .filter_map(|function| {
            let mut callees =
                calls_in_function(instrumented, function).filter_map(|(_, call)| call.id(0));
            Some((function.id, callees.find(|callee| *callee < bound)?))
        })
        .collect();
    for (index, original) in instrumented.instructions.iter().enumerate() {
        let mut stripped = original.clone();
        if matches!(stripped.op, Op::EntryPoint | Op::ExecutionMode | Op::ExecutionModeId) {
            for operand in &mut stripped.operands {
                if let Operand::IdRef(id) = operand {
                    *id = stands_for.get(id).copied().unwrap_or(*id);
                }
            }
        }
        if stripped.op == Op::EntryPoint {
            stripped
                .operands
                .retain(|operand| !matches!(operand, Operand::IdRef(id) if *id >= bound));
        }
        let added_capability = stripped.op == Op::Capability
            && matches!(stripped.operands.first(), Some(Operand::Capability(one)) if capabilities.contains(one));
        let names_added = stripped.result.into_iter().chain(stripped.ids()).any(|id| id >= bound);
        if !names_added && !added_capability && !added.contains(&index) {
            kept.copy_instruction(&stripped);
        }
    }
    kept.finish()
}

/// Whether two modules are the same but for the numbers of ids and for debug lines.
pub fn normalised_equal(left: &Module, right: &Module) -> bool {
    let mut right = normalised(right);
    normalised(left).all(|instruction| right.next() == Some(instruction)) && right.next().is_none()
}

/// Opcode, result type, result and operands, ids renumbered.
type Normalised = (Op, Option<Id>, Option<Id>, Vec<Operand>);

/// One instruction after the other, so that no copy of the module is made.
fn normalised(module: &Module) -> impl Iterator<Item = Normalised> + '_ {
    let mut numbers: BTreeMap<Id, Id> = BTreeMap::new();
    let meaningful = module.instructions.iter().filter(|i| !matches!(i.op, Op::Line | Op::NoLine));
    meaningful.map(move |original| {
        let mut number = |id: Id| {
            let next = numbers.len() as Id + 1;
            *numbers.entry(id).or_insert(next)
        };
        let operands = original.operands.iter().map(|operand| match operand {
            Operand::IdRef(id) => Operand::IdRef(number(*id)),
            Operand::IdScope(id) => Operand::IdScope(number(*id)),
            Operand::IdMemorySemantics(id) => Operand::IdMemorySemantics(number(*id)),
            other => other.clone(),
        });
        let operands = operands.collect();
        (
            original.op,
            original.result_type.map(&mut number),
            original.result.map(&mut number),
            operands,
        )
    })
}
