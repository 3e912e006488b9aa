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
pub fn presence(
    structure: &KernelStructure,
    marked: &Module,
    entry: &str,
    specialization: &BTreeMap<u32, u64>,
) -> Result<Presence, InstrumentError> {
    let failed = |error: &dyn std::fmt::Display| InstrumentError { message: error.to_string() };
    let types = Types::of_module(marked);
    let constants =
        Constants::evaluate(marked, &types, specialization).map_err(|error| failed(&error))?;
    let entry = compute_entry(marked, entry).map_err(|error| failed(&error))?.function;
    let calls = MarkerCalls::of(structure, marked, &constants)?;
    Ok(resolve(structure, marked, &calls, (&types, &constants), entry))
}

/// The same, of a module whose marker calls are known.
pub(crate) fn resolve(
    structure: &KernelStructure,
    marked: &Module,
    calls: &MarkerCalls,
    (types, constants): (&Types, &Constants),
    entry: Id,
) -> Presence {
    let operands = calls.operands();
    let folding = ConstantFolding { module: marked, types, constants, stands_for: &operands };
    let reachable: BTreeSet<Id> = reachable_functions(marked, entry).into_iter().collect();
    let mut markers: BTreeMap<u32, PresentMarker> = BTreeMap::new();
    for call in calls.calls.values().filter(|call| reachable.contains(&call.function)) {
        let found = marker(call, &folding, &operands);
        markers.entry(call.number).and_modify(|known| join(known, &found)).or_insert(found);
    }
    outcomes_follow_conditions(&mut markers);
    let outcomes = outcomes(structure, &markers);
    let possible = Reachability { marked, calls, folding, outcomes }.markers(entry);
    for (number, marker) in &mut markers {
        marker.reach = if possible.contains(number) { Reach::Possible } else { Reach::Excluded };
    }
    Presence { markers }
}

fn marker(
    call: &MarkerCall,
    folding: &ConstantFolding,
    operands: &BTreeMap<Id, Id>,
) -> PresentMarker {
    let mut found = PresentMarker::runtime(call.role);
    let Some(value) = call.result.and_then(|result| operands.get(&result)).copied() else {
        return found;
    };
    found.constness = folding.constants.constness(value);
    found.value = match call.role {
        MarkerRole::Condition { .. } | MarkerRole::Single { .. } => folding.constant_boolean(value),
        MarkerRole::Decision { .. } | MarkerRole::Mark { .. } => None,
    };
    if found.value.is_some() {
        found.constants = folding.specialization_ids(value).into_iter().collect();
        // Also an operation that is no constant to the module depends on nothing else.
        found.constness = if found.constants.is_empty() {
            Constness::Constant
        } else {
            Constness::Specialization
        };
    }
    found
}

/// What holds of both of two calls with one number.
fn join(known: &mut PresentMarker, found: &PresentMarker) {
    known.constness = known.constness.max(found.constness);
    if known.value != found.value {
        known.value = None;
    }
    let both: BTreeSet<u32> = known.constants.iter().chain(&found.constants).copied().collect();
    known.constants = both.into_iter().collect();
}

/// The outcome of a decision with several conditions comes out of a phi, which is no constant to
/// the module; but it depends on nothing but the conditions.
fn outcomes_follow_conditions(markers: &mut BTreeMap<u32, PresentMarker>) {
    let mut conditions = BTreeMap::new();
    for marker in markers.values() {
        if let MarkerRole::Condition { decision, .. } = marker.role {
            let constness = conditions.entry(decision).or_insert(Constness::Constant);
            *constness = marker.constness.max(*constness);
        }
    }
    for marker in markers.values_mut() {
        if let MarkerRole::Decision { decision } = marker.role {
            marker.constness = conditions.get(&decision).copied().unwrap_or(marker.constness);
        }
    }
}

/// Outcomes that the values of conditions leave no choice of.
fn outcomes(
    structure: &KernelStructure,
    markers: &BTreeMap<u32, PresentMarker>,
) -> BTreeMap<DecisionId, bool> {
    let mut values: BTreeMap<DecisionId, BTreeMap<u32, bool>> = BTreeMap::new();
    for marker in markers.values() {
        let place = match marker.role {
            MarkerRole::Condition { decision, condition } => Some((decision, condition)),
            MarkerRole::Single { decision } => Some((decision, 0)),
            MarkerRole::Decision { .. } | MarkerRole::Mark { .. } => None,
        };
        if let Some(((decision, condition), value)) = place.zip(marker.value) {
            values.entry(decision).or_default().insert(condition, value);
        }
    }
    let decided = |(decision, values): (DecisionId, BTreeMap<u32, bool>)| {
        let expression = &structure.decision(decision).expression;
        Some((decision, expression.decided_value(&|condition| values.get(&condition).copied())?))
    };
    values.into_iter().filter_map(decided).collect()
}

/// Follows control from the entry point, past branches that can go one way alone.
struct Reachability<'a> {
    marked: &'a Module,
    calls: &'a MarkerCalls,
    folding: ConstantFolding<'a>,
    outcomes: BTreeMap<DecisionId, bool>,
}

impl Reachability<'_> {
    /// Numbers of the markers that control can come to.
    fn markers(&self, entry: Id) -> BTreeSet<u32> {
        let by_result: BTreeMap<Id, &MarkerCall> =
            self.calls.calls.values().filter_map(|call| Some((call.result?, call))).collect();
        let mut found = BTreeSet::new();
        let (mut seen, mut open) = (BTreeSet::new(), vec![entry]);
        while let Some(id) = open.pop() {
            let Some(function) = self.marked.function_by_id(id).filter(|_| seen.insert(id)) else {
                continue;
            };
            for block in self.blocks(function, &by_result) {
                for index in function.blocks[block].range.clone() {
                    match self.calls.calls.get(&index) {
                        Some(call) => {
                            found.insert(call.number);
                        }
                        None => open.extend(callee(&self.marked.instructions[index])),
                    }
                }
            }
        }
        found
    }

    /// Indexes of the blocks of a function that control can come to.
    fn blocks(
        &self,
        function: &Function,
        by_result: &BTreeMap<Id, &MarkerCall>,
    ) -> BTreeSet<usize> {
        let labels: BTreeMap<Id, usize> =
            function.blocks.iter().enumerate().map(|(index, block)| (block.label, index)).collect();
        let (mut seen, mut open) = (BTreeSet::new(), vec![0]);
        while let Some(block) = open.pop() {
            if block >= function.blocks.len() || !seen.insert(block) {
                continue;
            }
            let terminator = &self.marked.instructions[function.blocks[block].range.end - 1];
            let next = self.taken(terminator, by_result);
            open.extend(next.iter().filter_map(|label| labels.get(label)));
        }
        seen
    }

    /// The labels that a terminator can go to.
    fn taken(&self, terminator: &Instruction, by_result: &BTreeMap<Id, &MarkerCall>) -> Vec<Id> {
        let all = branch_targets(terminator);
        let one = match terminator.op {
            Op::BranchConditional => terminator
                .id(0)
                .and_then(|condition| self.truth(condition, by_result))
                .and_then(|value| all.get(usize::from(!value)).copied()),
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
        one.map_or(all, |label| vec![label])
    }

    /// The value of a branch condition, through the outcome of the decision that it is.
    fn truth(&self, id: Id, by_result: &BTreeMap<Id, &MarkerCall>) -> Option<bool> {
        if let Some(call) = by_result.get(&id)
            && let MarkerRole::Decision { decision } = call.role
        {
            return self.outcomes.get(&decision).copied();
        }
        let definition = self.marked.definition(id);
        match definition
            .filter(|definition| definition.op == Op::LogicalNot)
            .and_then(|definition| definition.id(0))
        {
            Some(operand) => self.truth(operand, by_result).map(|value| !value),
            None => self.folding.constant_boolean(id),
        }
    }
}

fn callee(instruction: &Instruction) -> Option<Id> {
    (instruction.op == Op::FunctionCall).then(|| instruction.id(0)).flatten()
}
