//! Finds the marker calls of a marked module.
//!
//! Knows: the two marker functions by name (`KernelStructure::value_marker`, `mark_marker`) and the
//! front end's promise that the first argument of every call is a constant marker number.
//! Promises: every call in the module is found or the module is refused.
//! Does not cover: what a marker is for; `KernelStructure::markers` says that.

use super::InstrumentError;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::structure::{KernelStructure, MARKER_PAGE, MarkerRole};
use vkcert_spirv::calls::calls_in_function;
use vkcert_spirv::constants::Constants;
use vkcert_spirv::module::{Function, Id, Instruction, Module};

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
    pub value: Option<Id>,
}

/// Which of the two marker functions is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkerFunction {
    Value,
    Mark,
}

impl MarkerArguments {
    pub fn of(call: &Instruction, function: MarkerFunction) -> Self {
        let mut number: Vec<Id> = call.ids().skip(1).collect();
        let value = match function {
            MarkerFunction::Value => number.pop(),
            MarkerFunction::Mark => None,
        };
        Self { number, value }
    }

    /// The marker number; none where a part of it is no constant.
    pub fn number(&self, constants: &Constants) -> Option<u32> {
        let parts = self.number.iter().map(|id| constants.scalar_word(*id));
        parts.reduce(|number, part| number?.checked_mul(MARKER_PAGE)?.checked_add(part?)).flatten()
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
    pub(crate) fn of(
        structure: &KernelStructure,
        marked: &Module,
        constants: &Constants,
    ) -> Result<Self, InstrumentError> {
        let mut found = Self {
            value_function: marker_function(marked, &structure.value_marker),
            mark_function: marker_function(marked, &structure.mark_marker),
            calls: BTreeMap::new(),
        };
        for function in &marked.functions {
            for (index, call) in calls_in_function(marked, function) {
                let callee = call.id(0);
                if callee.is_none()
                    || (callee != found.value_function && callee != found.mark_function)
                {
                    continue;
                }
                let called = if callee == found.value_function {
                    MarkerFunction::Value
                } else {
                    MarkerFunction::Mark
                };
                let arguments = MarkerArguments::of(call, called);
                let number = arguments.number(constants);
                let number = number
                    .ok_or_else(|| defect(marked, index, "its marker number is no constant"))?;
                let role = structure.markers.get(number as usize).copied();
                let role =
                    role.ok_or_else(|| defect(marked, index, "its marker number is unknown"))?;
                let operand = arguments.value;
                let fits = operand.is_none() == matches!(role, MarkerRole::Mark { .. });
                if !fits {
                    return Err(defect(
                        marked,
                        index,
                        "its marker number belongs to the other marker function",
                    ));
                }
                let call = MarkerCall {
                    number,
                    role,
                    result: call.result,
                    operand,
                    function: function.id,
                };
                found.calls.insert(index, call);
            }
        }
        Ok(found)
    }

    /// Whether `function` is one of the two marker functions.
    pub(crate) fn is_marker(&self, function: Id) -> bool {
        self.value_function == Some(function) || self.mark_function == Some(function)
    }

    /// Every id that goes with the markers: those defined in the marker functions, and the results
    /// of their calls.
    pub(crate) fn erased_ids(&self, marked: &Module) -> BTreeSet<Id> {
        let functions = marked.functions.iter().filter(|function| self.is_marker(function.id));
        let inside = functions.flat_map(|function| results(marked, function));
        inside.chain(self.calls.values().filter_map(|call| call.result)).collect()
    }

    /// What each marked value becomes without its marker: the operand, through nested markers.
    pub(crate) fn operands(&self) -> BTreeMap<Id, Id> {
        let direct: BTreeMap<Id, Id> =
            self.calls.values().filter_map(|call| Some((call.result?, call.operand?))).collect();
        let resolve = |mut id: Id| {
            while let Some(next) = direct.get(&id) {
                id = *next;
            }
            id
        };
        direct.keys().map(|id| (*id, resolve(*id))).collect()
    }
}

/// glslang names functions by their mangled signature, `vkcert_value(u1;b1;`.
fn marker_function(marked: &Module, name: &str) -> Option<Id> {
    let named = |function: &&Function| {
        marked
            .debug_name(function.id)
            .and_then(|full| full.strip_prefix(name))
            .is_some_and(|rest| rest.starts_with('('))
    };
    marked.functions.iter().find(named).map(|function| function.id)
}

fn results<'a>(module: &'a Module, function: &Function) -> impl Iterator<Item = Id> + use<'a> {
    module.instructions[function.range.clone()].iter().filter_map(|instruction| instruction.result)
}

fn defect(marked: &Module, index: usize, what: &str) -> InstrumentError {
    InstrumentError { message: format!("marker call at {}: {what}", marked.place_of(index)) }
}
