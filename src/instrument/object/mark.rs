//! Puts marker calls into a production module: the condition of a branch or select passes through a
//! value marker, the selector of a switch through a function of its own that marks the target it
//! leads to.
//!
//! Promises: nothing else changes; no block is added to any function of the module, so that its
//! control flow and its phis stay as they are.

use super::{Watched, described, switch_groups};
use rspirv::dr::Operand;
use rspirv::spirv::{Op, SelectionControl};
use std::collections::BTreeMap;
use vkcert_model::object::ObjectBranchKind;
use vkcert_model::structure::KernelStructure;
use vkcert_spirv::module::{Id, Module};
use vkcert_spirv::rewrite::{InstructionEdits, ModuleDraft, new_instruction};
use vkcert_spirv::types::Types;

/// The marked module and what its markers stand for.
pub(super) fn mark(
    production: &Module,
    watched: &[Watched],
    entry: &str,
) -> (Vec<u32>, KernelStructure) {
    let mut draft = ModuleDraft::without_functions(production);
    let markers = Markers::declare(&mut draft);
    let mut roles = Vec::new();
    let mut calls = Calls::default();
    for branch in watched {
        let site = branch.site.instruction;
        match branch.site.kind {
            ObjectBranchKind::Conditional | ObjectBranchKind::Select => {
                let number = draft.uint_constant(roles.len() as u32);
                roles.push(branch.exits[0].role);
                let place = place_of_call(production, site);
                calls.by_place.entry(place).or_default().push(Call::Value { site, number });
            }
            ObjectBranchKind::Switch => {
                let first = roles.len() as u32;
                roles.extend(branch.exits.iter().map(|exit| exit.role));
                let function = draft.fresh_id();
                let place = place_of_call(production, site);
                calls.by_place.entry(place).or_default().push(Call::Switch { site, function });
                calls.switches.insert(site, (function, first));
            }
        }
    }
    let mut edits = calls.edits(production, &mut draft, &markers);
    draft.copy_functions(production, &mut edits);
    markers.define(&mut draft);
    let types = Types::of_module(production);
    for (site, (function, first)) in &calls.switches {
        define_switch(production, &types, *site, *function, *first, &markers, &mut draft);
    }
    let (value, mark) =
        (free_name(production, "vkcert_branch"), free_name(production, "vkcert_target"));
    draft.add_name(markers.value, &format!("{value}(u1;b1;"));
    draft.add_name(markers.mark, &format!("{mark}(u1;"));
    (draft.finish(), described(roles, entry, &value, &mark))
}

/// A marker call and the instruction that it watches.
enum Call {
    /// The condition passes through the value marker with this number.
    Value { site: usize, number: Id },
    /// The selector goes to this function.
    Switch { site: usize, function: Id },
}

/// Marker calls by the instruction that they stand before.
#[derive(Default)]
struct Calls {
    by_place: BTreeMap<usize, Vec<Call>>,
    /// By switch: the function called and the number of the first target's marker.
    switches: BTreeMap<usize, (Id, u32)>,
}

impl Calls {
    fn edits(
        &self,
        production: &Module,
        draft: &mut ModuleDraft,
        markers: &Markers,
    ) -> InstructionEdits {
        let mut edits = InstructionEdits::default();
        for (place, calls) in &self.by_place {
            for call in calls {
                let (Call::Value { site, .. } | Call::Switch { site, .. }) = call;
                let watched = &production.instructions[*site];
                let Some(operand) = watched.id(0) else { continue };
                let result = draft.fresh_id();
                let (ty, operands) = match call {
                    Call::Value { number, .. } => {
                        let mut replaced = watched.clone();
                        replaced.operands[0] = Operand::IdRef(result);
                        edits.replace(*site, replaced);
                        (markers.boolean, vec![markers.value, *number, operand])
                    }
                    Call::Switch { function, .. } => (markers.void, vec![*function, operand]),
                };
                let operands = operands.into_iter().map(Operand::IdRef).collect();
                let made = new_instruction(Op::FunctionCall, Some(ty), Some(result), operands);
                edits.insert_before(*place, [made]);
            }
        }
        edits
    }
}

struct Markers {
    void: Id,
    boolean: Id,
    uint: Id,
    value: Id,
    mark: Id,
}

impl Markers {
    fn declare(draft: &mut ModuleDraft) -> Self {
        Self {
            void: draft.declare_type(Op::TypeVoid, Vec::new()),
            boolean: draft.declare_type(Op::TypeBool, Vec::new()),
            uint: draft.uint_type(),
            value: draft.fresh_id(),
            mark: draft.fresh_id(),
        }
    }

    /// `bool value(uint, bool v) { return v; }` and `void mark(uint) {}`.
    fn define(&self, draft: &mut ModuleDraft) {
        let value = begin(draft, self.value, self.boolean, &[self.uint, self.boolean])[1];
        draft.push(Op::ReturnValue, vec![Operand::IdRef(value)]);
        draft.push(Op::FunctionEnd, Vec::new());
        begin(draft, self.mark, self.void, &[self.uint]);
        draft.end_function();
    }
}

/// Begins a function and its first block; returns the parameters.
fn begin(draft: &mut ModuleDraft, id: Id, result: Id, parameters: &[Id]) -> Vec<Id> {
    draft.function_type(result, parameters.iter().copied());
    let declared: Vec<(Id, Id)> = parameters.iter().map(|ty| (*ty, draft.fresh_id())).collect();
    draft.begin_function(result, id, &declared);
    declared.into_iter().map(|(_, parameter)| parameter).collect()
}

/// A call stands before the instruction it watches, and before the merge instruction that must
/// stand right before a branch (SPIR-V specification, "Structured Control Flow").
fn place_of_call(module: &Module, site: usize) -> usize {
    let before =
        module.instructions[..site].iter().rposition(|i| !matches!(i.op, Op::Line | Op::NoLine));
    match before.map(|index| (index, module.instructions[index].op)) {
        Some((index, Op::LoopMerge | Op::SelectionMerge)) => index,
        _ => site,
    }
}

/// `void f(selector) { switch (selector) { ... mark(n); ... } }` with the labels of the switch
/// itself.
fn define_switch(
    production: &Module,
    types: &Types,
    site: usize,
    function: Id,
    first: u32,
    markers: &Markers,
    draft: &mut ModuleDraft,
) {
    let switch = &production.instructions[site];
    let Some(selector_type) =
        switch.id(0).and_then(|id| production.definition(id)).and_then(|i| i.result_type)
    else {
        return;
    };
    let selector = begin(draft, function, markers.void, &[selector_type])[0];
    let behind = draft.fresh_id();
    let groups = switch_groups(production, types, site);
    let blocks: BTreeMap<Id, (Id, u32)> = groups
        .iter()
        .zip(first..)
        .map(|((target, _), number)| (*target, (draft.fresh_id(), number)))
        .collect();
    let merge = vec![Operand::IdRef(behind), Operand::SelectionControl(SelectionControl::NONE)];
    draft.push(Op::SelectionMerge, merge);
    let moved = switch.operands.iter().enumerate().map(|(index, operand)| match operand {
        Operand::IdRef(_) if index == 0 => Operand::IdRef(selector),
        Operand::IdRef(target) => Operand::IdRef(blocks[target].0),
        other => other.clone(),
    });
    draft.push(Op::Switch, moved.collect());
    for (block, number) in blocks.values() {
        draft.begin_block(*block);
        let number = draft.uint_constant(*number);
        draft.emit(
            Op::FunctionCall,
            markers.void,
            [markers.mark, number].map(Operand::IdRef).to_vec(),
        );
        draft.branch(behind);
    }
    draft.begin_block(behind);
    draft.end_function();
}

/// A function name that the module does not use.
fn free_name(module: &Module, wanted: &str) -> String {
    let used = |name: &str| {
        let mut names =
            module.functions.iter().filter_map(|function| module.debug_name(function.id));
        names.any(|full| full.starts_with(name))
    };
    let mut name = wanted.to_owned();
    while used(&name) {
        name.push('x');
    }
    name
}
