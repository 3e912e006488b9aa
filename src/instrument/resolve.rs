//! Which markers a module holds, and what is certain of them under one specialization.
//!
//! Knows: the marked module and its specialization constants. A condition whose operand depends on
//! constants alone has one value per pipeline; a branch on it goes one way.
//! Promises: a value or an exclusion is certain: nothing that the kernel reads can change it. What
//! cannot be told stays possible and without value.
//! Does not cover: what follows from relations between values that are not constant.

use super::InstrumentError;
use super::markers::{MarkerCall, MarkerCalls};
use rspirv::spirv::Op;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::id::DecisionId;
use vkcert_model::records::{Presence, PresentMarker, Reach};
use vkcert_model::structure::{Constness, KernelStructure, MarkerRole};
use vkcert_spirv::calls::reachable_functions;
use vkcert_spirv::cfg::{branch_targets, switch_targets};
use vkcert_spirv::constants::Constants;
use vkcert_spirv::fold::ConstantFolding;
use vkcert_spirv::interface::compute_entry;
use vkcert_spirv::module::{Function, Id, Instruction, Module};
use vkcert_spirv::types::Types;

/// The markers of a marked module under a specialization (raw bits by SpecId; the module's defaults
/// else).
pub fn marker_presence(
    kernel_structure: &KernelStructure,
    marked_module: &Module,
    entry_name: &str,
    specialization_values: &BTreeMap<u32, u64>,
) -> Result<Presence, InstrumentError> {
    let types = Types::of_module(marked_module);
    let constants = Constants::evaluate(marked_module, &types, specialization_values)
        .map_err(InstrumentError::caused_by)?;
    let entry_name =
        compute_entry(marked_module, entry_name).map_err(InstrumentError::caused_by)?.function;
    let marker_calls = MarkerCalls::find_all(kernel_structure, marked_module, &constants)?;
    Ok(resolve_markers(
        kernel_structure,
        marked_module,
        &marker_calls,
        (&types, &constants),
        entry_name,
    ))
}

/// The same, of a module whose marker calls are known.
pub(crate) fn resolve_markers(
    kernel_structure: &KernelStructure,
    marked_module: &Module,
    marker_calls: &MarkerCalls,
    (types, constants): (&Types, &Constants),
    entry_function: Id,
) -> Presence {
    let operands = marker_calls.resolved_operands();
    let folding =
        ConstantFolding { module: marked_module, types, constants, stands_for: &operands };
    let reachable_ids: BTreeSet<Id> =
        reachable_functions(marked_module, entry_function).into_iter().collect();
    let mut markers: BTreeMap<u32, PresentMarker> = BTreeMap::new();
    for call in marker_calls.calls.values().filter(|call| reachable_ids.contains(&call.function)) {
        let present_marker = present_marker(call, &folding, &operands);
        markers
            .entry(call.number)
            .and_modify(|known_marker| join_markers(known_marker, &present_marker))
            .or_insert(present_marker);
    }
    outcomes_follow_conditions(&mut markers);
    let outcomes = decided_outcomes(kernel_structure, &markers);
    let possible_numbers =
        ControlReachability { marked: marked_module, calls: marker_calls, folding, outcomes }
            .reached_markers(entry_function);
    for (number, marker) in &mut markers {
        marker.reach =
            if possible_numbers.contains(number) { Reach::Possible } else { Reach::Excluded };
    }
    Presence { markers }
}

fn present_marker(
    call: &MarkerCall,
    folding: &ConstantFolding,
    operands: &BTreeMap<Id, Id>,
) -> PresentMarker {
    let mut present_marker = PresentMarker::runtime(call.role);
    let Some(marked_value) = call.result.and_then(|result| operands.get(&result)).copied() else {
        return present_marker;
    };
    present_marker.constness = folding.constants.constness(marked_value);
    present_marker.value = match call.role {
        MarkerRole::Condition { .. } | MarkerRole::Single { .. } => {
            folding.constant_boolean(marked_value)
        }
        MarkerRole::Decision { .. } | MarkerRole::Mark { .. } | MarkerRole::MarkWhere { .. } => {
            None
        }
    };
    if present_marker.value.is_some() {
        present_marker.constants = folding.specialization_ids(marked_value).into_iter().collect();
        // Also an operation that is no constant to the module depends on nothing else.
        present_marker.constness = if present_marker.constants.is_empty() {
            Constness::Constant
        } else {
            Constness::Specialization
        };
    }
    present_marker
}

/// What holds of both of two calls with one number.
fn join_markers(known_marker: &mut PresentMarker, other_marker: &PresentMarker) {
    known_marker.constness = known_marker.constness.max(other_marker.constness);
    if known_marker.value != other_marker.value {
        known_marker.value = None;
    }
    let all_constants: BTreeSet<u32> =
        known_marker.constants.iter().chain(&other_marker.constants).copied().collect();
    known_marker.constants = all_constants.into_iter().collect();
}

/// The outcome of a decision with several conditions comes out of a phi, which is no constant to
/// the module; but it depends on nothing but the conditions.
fn outcomes_follow_conditions(markers: &mut BTreeMap<u32, PresentMarker>) {
    let mut condition_constness = BTreeMap::new();
    for marker in markers.values() {
        if let MarkerRole::Condition { decision, .. } = marker.role {
            let constness = condition_constness.entry(decision).or_insert(Constness::Constant);
            *constness = marker.constness.max(*constness);
        }
    }
    for marker in markers.values_mut() {
        if let MarkerRole::Decision { decision } = marker.role {
            marker.constness =
                condition_constness.get(&decision).copied().unwrap_or(marker.constness);
        }
    }
}

/// Outcomes that the values of conditions leave no choice of.
fn decided_outcomes(
    kernel_structure: &KernelStructure,
    markers: &BTreeMap<u32, PresentMarker>,
) -> BTreeMap<DecisionId, bool> {
    let mut values_by_decision: BTreeMap<DecisionId, BTreeMap<u32, bool>> = BTreeMap::new();
    for marker in markers.values() {
        let condition_place = match marker.role {
            MarkerRole::Condition { decision, condition } => Some((decision, condition)),
            MarkerRole::Single { decision } => Some((decision, 0)),
            MarkerRole::Decision { .. }
            | MarkerRole::Mark { .. }
            | MarkerRole::MarkWhere { .. } => None,
        };
        if let Some(((decision, condition), value)) = condition_place.zip(marker.value) {
            values_by_decision.entry(decision).or_default().insert(condition, value);
        }
    }
    let mut decided_outcomes = BTreeMap::new();
    for (decision, condition_values) in values_by_decision {
        let expression = &kernel_structure.decision(decision).expression;
        let decided_value =
            expression.decided_value(&|condition| condition_values.get(&condition).copied());
        decided_outcomes.extend(decided_value.map(|outcome| (decision, outcome)));
    }
    decided_outcomes
}

/// Follows control from the entry point, past branches that can go one way alone.
struct ControlReachability<'a> {
    marked: &'a Module,
    calls: &'a MarkerCalls,
    folding: ConstantFolding<'a>,
    outcomes: BTreeMap<DecisionId, bool>,
}

impl ControlReachability<'_> {
    /// Numbers of the markers that control can come to.
    fn reached_markers(&self, entry_function: Id) -> BTreeSet<u32> {
        let calls_by_result: BTreeMap<Id, &MarkerCall> =
            self.calls.calls.values().filter_map(|call| Some((call.result?, call))).collect();
        let mut marker_numbers = BTreeSet::new();
        let (mut visited_ids, mut pending_ids) = (BTreeSet::new(), vec![entry_function]);
        while let Some(id) = pending_ids.pop() {
            let Some(function) = self.marked.function_by_id(id).filter(|_| visited_ids.insert(id))
            else {
                continue;
            };
            for block in self.reached_blocks(function, &calls_by_result) {
                for index in function.blocks[block].instruction_indices() {
                    match self.calls.calls.get(&index) {
                        Some(call) => {
                            marker_numbers.insert(call.number);
                        }
                        None => {
                            pending_ids.extend(called_function(&self.marked.instructions[index]))
                        }
                    }
                }
            }
        }
        marker_numbers
    }

    /// Indexes of the blocks of a function that control can come to.
    fn reached_blocks(
        &self,
        function: &Function,
        calls_by_result: &BTreeMap<Id, &MarkerCall>,
    ) -> BTreeSet<usize> {
        let labels: BTreeMap<Id, usize> =
            function.blocks.iter().enumerate().map(|(index, block)| (block.label, index)).collect();
        let (mut reached_blocks, mut pending_blocks) = (BTreeSet::new(), vec![0]);
        while let Some(block) = pending_blocks.pop() {
            if block >= function.blocks.len() || !reached_blocks.insert(block) {
                continue;
            }
            let terminator = &self.marked.instructions[function.blocks[block].range.end - 1];
            let next_labels = self.taken_targets(terminator, calls_by_result);
            pending_blocks.extend(next_labels.iter().filter_map(|label| labels.get(label)));
        }
        reached_blocks
    }

    /// The labels that a terminator can go to.
    fn taken_targets(
        &self,
        terminator: &Instruction,
        calls_by_result: &BTreeMap<Id, &MarkerCall>,
    ) -> Vec<Id> {
        let all_targets = branch_targets(terminator);
        let only_target = match terminator.op {
            Op::BranchConditional => terminator
                .id(0)
                .and_then(|condition| self.condition_value(condition, calls_by_result))
                .and_then(|value| all_targets.get(usize::from(!value)).copied()),
            Op::Switch => terminator
                .id(0)
                .and_then(|selector| self.folding.constant_scalar(selector))
                .and_then(|selector| {
                    let cases = switch_targets(terminator);
                    let case =
                        cases.iter().find(|(label, _)| *label == Some(selector)).or(cases.first());
                    case.map(|(_, target)| *target)
                }),
            _ => None,
        };
        only_target.map_or(all_targets, |label| vec![label])
    }

    /// The value of a branch condition, through the outcome of the decision that it is.
    fn condition_value(
        &self,
        condition_id: Id,
        calls_by_result: &BTreeMap<Id, &MarkerCall>,
    ) -> Option<bool> {
        if let Some(call) = calls_by_result.get(&condition_id)
            && let MarkerRole::Decision { decision } = call.role
        {
            return self.outcomes.get(&decision).copied();
        }
        let definition = self.marked.definition(condition_id);
        match definition
            .filter(|definition| definition.op == Op::LogicalNot)
            .and_then(|definition| definition.id(0))
        {
            Some(operand) => self.condition_value(operand, calls_by_result).map(|value| !value),
            None => self.folding.constant_boolean(condition_id),
        }
    }
}

fn called_function(instruction: &Instruction) -> Option<Id> {
    (instruction.op == Op::FunctionCall).then(|| instruction.id(0)).flatten()
}
