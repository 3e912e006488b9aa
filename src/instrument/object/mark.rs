//! Puts marker calls into a production module: the condition of a branch or select passes through a value marker, the
//! selector of a switch through a function of its own that marks the target it leads to.
//!
//! Promises: nothing else changes; no block is added to any function of the module, so that its control flow and its
//! phis stay as they are.

use super::super::draft::{Draft, instruction};
use super::super::erase::emit;
use super::{Watched, described, switch_groups};
use crate::model::object::ObjectBranchKind;
use crate::model::structure::KernelStructure;
use crate::spirv::module::{Id, Instruction, Module};
use crate::spirv::types::Types;
use rspirv::dr::Operand;
use rspirv::spirv::{FunctionControl, Op, SelectionControl};
use std::collections::BTreeMap;

/// The marked module and what its markers stand for.
pub fn mark(production: &Module, watched: &[Watched], entry: &str) -> (Vec<u32>, KernelStructure) {
    let mut draft = Draft::without_functions(production);
    let markers = Markers::declare(&mut draft);
    let mut roles = Vec::new();
    let mut calls = Calls::default();
    for branch in watched {
        let site = branch.site.instruction;
        match branch.site.kind {
            ObjectBranchKind::Conditional | ObjectBranchKind::Select => {
                let number = draft.constant(roles.len() as u32);
                roles.push(branch.exits[0].role);
                calls.values.insert(site, (place_of_call(production, site), number));
            }
            ObjectBranchKind::Switch => {
                let first = roles.len() as u32;
                roles.extend(branch.exits.iter().map(|exit| exit.role));
                let function = draft.fresh();
                calls.switches.insert(site, (place_of_call(production, site), function, first));
            }
        }
    }
    copy_functions(production, &mut draft, &markers, &calls);
    markers.define(&mut draft);
    let types = Types::of(production);
    for (site, (_, function, first)) in &calls.switches {
        define_switch(production, &types, *site, *function, *first, &markers, &mut draft);
    }
    let (value, mark) = (free_name(production, "vkcert_branch"), free_name(production, "vkcert_target"));
    draft.name(markers.value, &format!("{value}(u1;b1;"));
    draft.name(markers.mark, &format!("{mark}(u1;"));
    (draft.finish(), described(roles, entry, &value, &mark))
}

/// Marker calls by the instruction that they watch.
#[derive(Default)]
struct Calls {
    /// Where the call stands (before this instruction), and the marker number's constant.
    values: BTreeMap<usize, (usize, Id)>,
    /// Where the call stands, the function called, the number of the first target's marker.
    switches: BTreeMap<usize, (usize, Id, u32)>,
}

struct Markers {
    void: Id,
    boolean: Id,
    uint: Id,
    value: Id,
    mark: Id,
}

impl Markers {
    fn declare(draft: &mut Draft) -> Self {
        Self {
            void: draft.ty(Op::TypeVoid, Vec::new()),
            boolean: draft.ty(Op::TypeBool, Vec::new()),
            uint: draft.uint(),
            value: draft.fresh(),
            mark: draft.fresh(),
        }
    }

    /// `bool value(uint, bool v) { return v; }` and `void mark(uint) {}`.
    fn define(&self, draft: &mut Draft) {
        let value = begin(draft, self.value, self.boolean, &[self.uint, self.boolean])[1];
        draft.functions.push(instruction(Op::ReturnValue, None, None, vec![Operand::IdRef(value)]));
        draft.functions.push(instruction(Op::FunctionEnd, None, None, Vec::new()));
        begin(draft, self.mark, self.void, &[self.uint]);
        draft.functions.push(instruction(Op::Return, None, None, Vec::new()));
        draft.functions.push(instruction(Op::FunctionEnd, None, None, Vec::new()));
    }
}

/// Begins a function and its first block; returns the parameters.
fn begin(draft: &mut Draft, id: Id, result: Id, parameters: &[Id]) -> Vec<Id> {
    let signature = std::iter::once(result).chain(parameters.iter().copied()).map(Operand::IdRef).collect();
    let signature = draft.ty(Op::TypeFunction, signature);
    let operands = vec![Operand::FunctionControl(FunctionControl::NONE), Operand::IdRef(signature)];
    draft.functions.push(instruction(Op::Function, Some(result), Some(id), operands));
    let declared: Vec<Id> = parameters.iter().map(|ty| emit(draft, Op::FunctionParameter, *ty, Vec::new())).collect();
    let label = draft.fresh();
    draft.functions.push(instruction(Op::Label, None, Some(label), Vec::new()));
    declared
}

/// A call stands before the instruction it watches, and before the merge instruction that must stand right before a
/// branch (SPIR-V specification, "Structured Control Flow").
fn place_of_call(module: &Module, site: usize) -> usize {
    let before = module.instructions[..site].iter().rposition(|i| !matches!(i.op, Op::Line | Op::NoLine));
    match before.map(|index| (index, module.instructions[index].op)) {
        Some((index, Op::LoopMerge | Op::SelectionMerge)) => index,
        _ => site,
    }
}

fn copy_functions(production: &Module, draft: &mut Draft, markers: &Markers, calls: &Calls) {
    let values: BTreeMap<usize, (usize, Id)> =
        calls.values.iter().map(|(site, (at, id))| (*at, (*site, *id))).collect();
    let switches: BTreeMap<usize, (usize, Id)> =
        calls.switches.iter().map(|(site, (at, function, _))| (*at, (*site, *function))).collect();
    let start = production.functions.first().map_or(production.instructions.len(), |function| function.range.start);
    let mut replaced: BTreeMap<usize, Id> = BTreeMap::new();
    for index in start..production.instructions.len() {
        if let Some((site, number)) = values.get(&index)
            && let Some(condition) = production.instructions[*site].id(0)
        {
            let operands = [markers.value, *number, condition].map(Operand::IdRef).to_vec();
            replaced.insert(*site, emit(draft, Op::FunctionCall, markers.boolean, operands));
        }
        if let Some((site, function)) = switches.get(&index)
            && let Some(selector) = production.instructions[*site].id(0)
        {
            let operands = [*function, selector].map(Operand::IdRef).to_vec();
            emit(draft, Op::FunctionCall, markers.void, operands);
        }
        let mut copied: Instruction = production.instructions[index].clone();
        if let Some(value) = replaced.get(&index) {
            copied.operands[0] = Operand::IdRef(*value);
        }
        draft.functions.push(copied);
    }
}

/// `void f(selector) { switch (selector) { ... mark(n); ... } }` with the labels of the switch itself.
fn define_switch(
    production: &Module,
    types: &Types,
    site: usize,
    function: Id,
    first: u32,
    markers: &Markers,
    draft: &mut Draft,
) {
    let switch = &production.instructions[site];
    let Some(selector_type) = switch.id(0).and_then(|id| production.definition(id)).and_then(|i| i.result_type) else {
        return;
    };
    let selector = begin(draft, function, markers.void, &[selector_type])[0];
    let behind = draft.fresh();
    let groups = switch_groups(production, types, site);
    let blocks: BTreeMap<Id, (Id, u32)> =
        groups.iter().zip(first..).map(|((target, _), number)| (*target, (draft.fresh(), number))).collect();
    let merge = vec![Operand::IdRef(behind), Operand::SelectionControl(SelectionControl::NONE)];
    draft.functions.push(instruction(Op::SelectionMerge, None, None, merge));
    let moved = switch.operands.iter().enumerate().map(|(index, operand)| match operand {
        Operand::IdRef(_) if index == 0 => Operand::IdRef(selector),
        Operand::IdRef(target) => Operand::IdRef(blocks[target].0),
        other => other.clone(),
    });
    let moved = moved.collect();
    draft.functions.push(instruction(Op::Switch, None, None, moved));
    for (block, number) in blocks.values() {
        draft.functions.push(instruction(Op::Label, None, Some(*block), Vec::new()));
        let number = draft.constant(*number);
        emit(draft, Op::FunctionCall, markers.void, [markers.mark, number].map(Operand::IdRef).to_vec());
        draft.functions.push(instruction(Op::Branch, None, None, vec![Operand::IdRef(behind)]));
    }
    draft.functions.push(instruction(Op::Label, None, Some(behind), Vec::new()));
    draft.functions.push(instruction(Op::Return, None, None, Vec::new()));
    draft.functions.push(instruction(Op::FunctionEnd, None, None, Vec::new()));
}

/// A function name that the module does not use.
fn free_name(module: &Module, wanted: &str) -> String {
    let used = |name: &str| {
        let mut names = module.functions.iter().filter_map(|function| module.name(function.id));
        names.any(|full| full.starts_with(name))
    };
    let mut name = wanted.to_owned();
    while used(&name) {
        name.push('x');
    }
    name
}
