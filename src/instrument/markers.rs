//! Finds the marker calls of a marked module.
//!
//! Knows: the two marker functions by name (`KernelStructure::value_marker`, `mark_marker`) and the
//! front end's promise that the first argument of every call is a constant marker number.
//! Promises: every call in the module is found or the module is refused.
//! Does not cover: what a marker is for; `KernelStructure::markers` says that.

use super::InstrumentError;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::id::DecisionId;
use vkcert_model::structure::{KernelStructure, MARKER_PAGE, MarkerRole};
use vkcert_spirv::calls::calls_in_function;
use vkcert_spirv::constants::Constants;
use vkcert_spirv::module::{Function, Id, Instruction, Module};
use vkcert_spirv::types::Types;

/// One call of a marker function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MarkerCall {
    pub number: u32,
    pub role: MarkerRole,
    /// Result id of the call.
    pub result: Option<Id>,
    /// The marked value; none for marks.
    pub operand: Option<Id>,
    /// Result id of the function that holds the call.
    pub function: Id,
}

/// The arguments of a marker call: the parts of the number, then, for value markers, the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkerArguments {
    number: Vec<Id>,
    /// Id of the value; none for marks.
    pub value: Option<Id>,
}

/// Which of the two marker functions is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkerFunction {
    /// The one that passes a Boolean through.
    Value,
    /// The one that says that control came here.
    Mark,
}

impl MarkerArguments {
    /// The arguments behind the function of an `OpFunctionCall`.
    pub fn of_call(call: &Instruction, marker_function: MarkerFunction) -> Self {
        let mut number_parts: Vec<Id> = call.ids().skip(1).collect();
        let marked_value = match marker_function {
            MarkerFunction::Value => number_parts.pop(),
            MarkerFunction::Mark => None,
        };
        Self { number: number_parts, value: marked_value }
    }

    /// The marker number; none where a part of it is no constant.
    pub fn marker_number(&self, constants: &Constants) -> Option<u32> {
        let number_words = self.number.iter().map(|id| constants.scalar_word(*id));
        number_words
            .reduce(|number, number_word| {
                number?.checked_mul(MARKER_PAGE)?.checked_add(number_word?)
            })
            .flatten()
    }
}

/// All marker calls of a module.
#[derive(Debug, Clone, Default)]
pub(crate) struct MarkerCalls {
    pub value_function: Option<Id>,
    pub mark_function: Option<Id>,
    /// By index in the instruction list.
    pub calls: BTreeMap<usize, MarkerCall>,
}

impl MarkerCalls {
    /// Collects the calls in `marked`.
    pub(crate) fn find_all(
        kernel_structure: &KernelStructure,
        marked_module: &Module,
        constants: &Constants,
    ) -> Result<Self, InstrumentError> {
        let mut marker_calls = Self {
            value_function: marker_function(marked_module, &kernel_structure.value_marker),
            mark_function: marker_function(marked_module, &kernel_structure.mark_marker),
            calls: BTreeMap::new(),
        };
        for function in &marked_module.functions {
            for (index, call) in calls_in_function(marked_module, function) {
                let callee = call.id(0);
                if callee.is_none()
                    || (callee != marker_calls.value_function
                        && callee != marker_calls.mark_function)
                {
                    continue;
                }
                let called_marker = if callee == marker_calls.value_function {
                    MarkerFunction::Value
                } else {
                    MarkerFunction::Mark
                };
                let arguments = MarkerArguments::of_call(call, called_marker);
                let marker_number = arguments.marker_number(constants);
                let marker_number = marker_number.ok_or_else(|| {
                    marker_defect(marked_module, index, "its marker number is no constant")
                })?;
                let role = kernel_structure.markers.get(marker_number as usize).copied();
                let role = role.ok_or_else(|| {
                    marker_defect(marked_module, index, "its marker number is unknown")
                })?;
                let operand = arguments.value;
                let is_mark = match role {
                    MarkerRole::Mark { .. } => true,
                    MarkerRole::Condition { .. }
                    | MarkerRole::Decision { .. }
                    | MarkerRole::Single { .. }
                    | MarkerRole::MarkWhere { .. } => false,
                };
                let fits = operand.is_none() == is_mark;
                if !fits {
                    return Err(marker_defect(
                        marked_module,
                        index,
                        "its marker number belongs to the other marker function",
                    ));
                }
                let call = MarkerCall {
                    number: marker_number,
                    role,
                    result: call.result,
                    operand,
                    function: function.id,
                };
                marker_calls.calls.insert(index, call);
            }
        }
        Ok(marker_calls)
    }

    /// Whether `function` is one of the two marker functions.
    pub(crate) fn is_marker(&self, function_id: Id) -> bool {
        self.value_function == Some(function_id) || self.mark_function == Some(function_id)
    }

    /// Every id that goes with the markers: those defined in the marker functions, and the results
    /// of their calls.
    pub(crate) fn erased_ids(&self, marked_module: &Module) -> BTreeSet<Id> {
        let functions =
            marked_module.functions.iter().filter(|function| self.is_marker(function.id));
        let defined_inside = functions.flat_map(|function| results_of(marked_module, function));
        defined_inside.chain(self.calls.values().filter_map(|call| call.result)).collect()
    }

    /// What each marked value becomes without its marker: the operand, through nested markers.
    pub(crate) fn resolved_operands(&self) -> BTreeMap<Id, Id> {
        let direct_operands: BTreeMap<Id, Id> =
            self.calls.values().filter_map(|call| Some((call.result?, call.operand?))).collect();
        let mut resolved_operands = BTreeMap::new();
        for id in direct_operands.keys() {
            let mut operand = *id;
            while let Some(next_operand) = direct_operands.get(&operand) {
                operand = *next_operand;
            }
            resolved_operands.insert(*id, operand);
        }
        resolved_operands
    }
}

/// The value that a marker call passes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarkedValue {
    /// Id of the value; it may be the result of another marker call.
    pub value: Id,
    /// The decision that it is the value or a condition of; none of a value that decides nothing.
    pub decision: Option<DecisionId>,
}

/// The values that marker calls pass through, by the result of the call.
pub fn marked_values(
    kernel_structure: &KernelStructure,
    marked_module: &Module,
) -> Result<BTreeMap<Id, MarkedValue>, InstrumentError> {
    let types = Types::of_module(marked_module);
    let constants = Constants::evaluate(marked_module, &types, &BTreeMap::new())
        .map_err(InstrumentError::caused_by)?;
    let marker_calls = MarkerCalls::find_all(kernel_structure, marked_module, &constants)?;
    let marked_value = |call: &MarkerCall| {
        let decision = match call.role {
            MarkerRole::Condition { decision, .. }
            | MarkerRole::Decision { decision }
            | MarkerRole::Single { decision } => Some(decision),
            MarkerRole::Mark { .. } | MarkerRole::MarkWhere { .. } => None,
        };
        Some((call.result?, MarkedValue { value: call.operand?, decision }))
    };
    Ok(marker_calls.calls.values().filter_map(marked_value).collect())
}

/// glslang names functions by their mangled signature, `vkcert_value(u1;b1;`.
fn marker_function(marked_module: &Module, marker_name: &str) -> Option<Id> {
    let has_name = |function: &&Function| {
        marked_module
            .debug_name(function.id)
            .and_then(|mangled_name| mangled_name.strip_prefix(marker_name))
            .is_some_and(|rest_of_name| rest_of_name.starts_with('('))
    };
    marked_module.functions.iter().find(has_name).map(|function| function.id)
}

fn results_of<'a>(module: &'a Module, function: &Function) -> impl Iterator<Item = Id> + use<'a> {
    module.instructions_in(function.range).iter().filter_map(|instruction| instruction.result)
}

fn marker_defect(
    marked_module: &Module,
    instruction_index: usize,
    defect_reason: &str,
) -> InstrumentError {
    InstrumentError {
        message: format!(
            "marker call at {}: {defect_reason}",
            marked_module.place_of(instruction_index)
        ),
    }
}
