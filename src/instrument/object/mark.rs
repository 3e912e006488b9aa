//! Puts marker calls into a production module: the condition of a branch or select passes through a
//! value marker, the selector of a switch through a function of its own that marks the target it
//! leads to.
//!
//! Promises: nothing else changes; no block is added to any function of the module, so that its
//! control flow and its phis stay as they are.

use super::{WatchedBranch, labels_by_target, marker_structure};
use rspirv::dr::Operand;
use rspirv::spirv::{Op, SelectionControl};
use std::collections::BTreeMap;
use vkcert_model::object::ObjectBranchKind;
use vkcert_model::structure::KernelStructure;
use vkcert_spirv::module::{Id, Module};
use vkcert_spirv::rewrite::{InstructionEdits, ModuleDraft, new_instruction};
use vkcert_spirv::types::Types;

/// The marked module and what its markers stand for.
pub(super) fn mark_branches(
    production_module: &Module,
    watched_branches: &[WatchedBranch],
    entry_name: &str,
) -> (Vec<u32>, KernelStructure) {
    let mut draft = ModuleDraft::without_functions(production_module);
    let markers = MarkerIds::declare_markers(&mut draft);
    let mut roles = Vec::new();
    let mut calls = WatchingCalls::default();
    for branch in watched_branches {
        let branch_index = branch.site.instruction;
        match branch.site.kind {
            ObjectBranchKind::Conditional | ObjectBranchKind::Select => {
                let marker_number = draft.uint_constant(roles.len() as u32);
                roles.push(branch.exits[0].role);
                let call_place = place_of_call(production_module, branch_index);
                calls
                    .by_place
                    .entry(call_place)
                    .or_default()
                    .push(WatchingCall::Value { site: branch_index, number: marker_number });
            }
            ObjectBranchKind::Switch => {
                let first_number = roles.len() as u32;
                roles.extend(branch.exits.iter().map(|exit| exit.role));
                let function = draft.fresh_id();
                let call_place = place_of_call(production_module, branch_index);
                calls
                    .by_place
                    .entry(call_place)
                    .or_default()
                    .push(WatchingCall::Switch { site: branch_index, function });
                calls.switches.insert(branch_index, (function, first_number));
            }
        }
    }
    let mut edits = calls.call_edits(production_module, &mut draft, &markers);
    draft.copy_functions(production_module, &mut edits);
    markers.define_markers(&mut draft);
    let types = Types::of_module(production_module);
    for (branch_index, (function, first_number)) in &calls.switches {
        define_switch(
            production_module,
            &types,
            *branch_index,
            *function,
            *first_number,
            &markers,
            &mut draft,
        );
    }
    let (value_name, mark_name) = (
        free_name(production_module, "vkcert_branch"),
        free_name(production_module, "vkcert_target"),
    );
    draft.add_name(markers.value, &format!("{value_name}(u1;b1;"));
    draft.add_name(markers.mark, &format!("{mark_name}(u1;"));
    (draft.finish(), marker_structure(roles, entry_name, &value_name, &mark_name))
}

/// A marker call and the instruction that it watches.
enum WatchingCall {
    /// The condition passes through the value marker with this number.
    Value { site: usize, number: Id },
    /// The selector goes to this function.
    Switch { site: usize, function: Id },
}

/// Marker calls by the instruction that they stand before.
#[derive(Default)]
struct WatchingCalls {
    by_place: BTreeMap<usize, Vec<WatchingCall>>,
    /// By switch: the function called and the number of the first target's marker.
    switches: BTreeMap<usize, (Id, u32)>,
}

impl WatchingCalls {
    fn call_edits(
        &self,
        production_module: &Module,
        draft: &mut ModuleDraft,
        markers: &MarkerIds,
    ) -> InstructionEdits {
        let mut edits = InstructionEdits::default();
        for (call_place, calls) in &self.by_place {
            for call in calls {
                let (WatchingCall::Value { site: branch_index, .. }
                | WatchingCall::Switch { site: branch_index, .. }) = call;
                let watched_instruction = &production_module.instructions[*branch_index];
                let Some(operand) = watched_instruction.id(0) else { continue };
                let call_result = draft.fresh_id();
                let (result_type, operands) = match call {
                    WatchingCall::Value { number, .. } => {
                        let mut replaced = watched_instruction.clone();
                        replaced.operands[0] = Operand::IdRef(call_result);
                        edits.replace(*branch_index, replaced);
                        (markers.boolean, vec![markers.value, *number, operand])
                    }
                    WatchingCall::Switch { function, .. } => {
                        (markers.void, vec![*function, operand])
                    }
                };
                let operands = operands.into_iter().map(Operand::IdRef).collect();
                let marker_call = new_instruction(
                    Op::FunctionCall,
                    Some(result_type),
                    Some(call_result),
                    operands,
                );
                edits.insert_before(*call_place, [marker_call]);
            }
        }
        edits
    }
}

struct MarkerIds {
    void: Id,
    boolean: Id,
    uint: Id,
    value: Id,
    mark: Id,
}

impl MarkerIds {
    fn declare_markers(draft: &mut ModuleDraft) -> Self {
        Self {
            void: draft.declare_type(Op::TypeVoid, Vec::new()),
            boolean: draft.declare_type(Op::TypeBool, Vec::new()),
            uint: draft.uint_type(),
            value: draft.fresh_id(),
            mark: draft.fresh_id(),
        }
    }

    /// `bool value(uint, bool v) { return v; }` and `void mark(uint) {}`.
    fn define_markers(&self, draft: &mut ModuleDraft) {
        let value_parameter =
            begin_function_block(draft, self.value, self.boolean, &[self.uint, self.boolean])[1];
        draft.push(Op::ReturnValue, vec![Operand::IdRef(value_parameter)]);
        draft.push(Op::FunctionEnd, Vec::new());
        begin_function_block(draft, self.mark, self.void, &[self.uint]);
        draft.end_function();
    }
}

/// Begins a function and its first block; returns the parameters.
fn begin_function_block(
    draft: &mut ModuleDraft,
    function_id: Id,
    result_type: Id,
    parameter_types: &[Id],
) -> Vec<Id> {
    draft.function_type(result_type, parameter_types.iter().copied());
    let declared_parameters: Vec<(Id, Id)> =
        parameter_types.iter().map(|ty| (*ty, draft.fresh_id())).collect();
    draft.begin_function(result_type, function_id, &declared_parameters);
    declared_parameters.into_iter().map(|(_, parameter)| parameter).collect()
}

/// A call stands before the instruction it watches, and before the merge instruction that must
/// stand right before a branch (SPIR-V specification, "Structured Control Flow").
fn place_of_call(module: &Module, branch_index: usize) -> usize {
    let instruction_before = module.instructions[..branch_index]
        .iter()
        .rposition(|instruction| !matches!(instruction.op, Op::Line | Op::NoLine));
    match instruction_before.map(|index| (index, module.instructions[index].op)) {
        Some((index, Op::LoopMerge | Op::SelectionMerge)) => index,
        _ => branch_index,
    }
}

/// `void f(selector) { switch (selector) { ... mark(n); ... } }` with the labels of the switch
/// itself.
fn define_switch(
    production_module: &Module,
    types: &Types,
    switch_index: usize,
    function_id: Id,
    first_number: u32,
    markers: &MarkerIds,
    draft: &mut ModuleDraft,
) {
    let switch = &production_module.instructions[switch_index];
    let Some(selector_type) = switch
        .id(0)
        .and_then(|id| production_module.definition(id))
        .and_then(|instruction| instruction.result_type)
    else {
        return;
    };
    let selector = begin_function_block(draft, function_id, markers.void, &[selector_type])[0];
    let merge_block = draft.fresh_id();
    let blocks_by_target: BTreeMap<Id, (Id, u32)> =
        labels_by_target(production_module, types, switch_index)
            .into_iter()
            .zip(first_number..)
            .map(|((target, _), marker_number)| (target, (draft.fresh_id(), marker_number)))
            .collect();
    let merge =
        vec![Operand::IdRef(merge_block), Operand::SelectionControl(SelectionControl::NONE)];
    draft.push(Op::SelectionMerge, merge);
    let switch_operands =
        switch.operands.iter().enumerate().map(|(index, operand)| match operand {
            Operand::IdRef(_) if index == 0 => Operand::IdRef(selector),
            Operand::IdRef(target) => Operand::IdRef(blocks_by_target[target].0),
            other => other.clone(),
        });
    draft.push(Op::Switch, switch_operands.collect());
    for (block, marker_number) in blocks_by_target.values() {
        draft.begin_block(*block);
        let marker_number = draft.uint_constant(*marker_number);
        draft.emit(
            Op::FunctionCall,
            markers.void,
            [markers.mark, marker_number].map(Operand::IdRef).to_vec(),
        );
        draft.branch(merge_block);
    }
    draft.begin_block(merge_block);
    draft.end_function();
}

/// A function name that the module does not use.
fn free_name(module: &Module, wanted_name: &str) -> String {
    let is_used = |name: &str| {
        let mut function_names =
            module.functions.iter().filter_map(|function| module.debug_name(function.id));
        function_names.any(|full| full.starts_with(name))
    };
    let mut name = wanted_name.to_owned();
    while is_used(&name) {
        name.push('x');
    }
    name
}
