//! The module-scope variables that an entry point uses.

use super::super::constants::Constants;
use super::super::module::{Id, Module};
use super::super::types::Types;
use rspirv::spirv::{Op, StorageClass};
use std::collections::BTreeSet;

/// What the description of an entry point's variables needs.
pub struct EntryScope<'a> {
    pub(super) module: &'a Module,
    pub(super) types: &'a Types,
    pub(super) constants: &'a Constants,
    used: BTreeSet<Id>,
}

/// A variable outside functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModuleVariable {
    /// Result id of the variable.
    pub id: Id,
    /// Its storage class.
    pub storage: StorageClass,
    /// The type of what it holds.
    pub pointee: Id,
}

impl<'a> EntryScope<'a> {
    /// The variables that instructions of `functions` name.
    pub(crate) fn of_functions(
        module: &'a Module,
        types: &'a Types,
        constants: &'a Constants,
        function_ids: &[Id],
    ) -> Self {
        let function_ranges = function_ids
            .iter()
            .filter_map(|id| module.function_by_id(*id))
            .map(|function| function.instruction_indices());
        let used_ids =
            function_ranges.flatten().flat_map(|index| module.instructions[index].ids()).collect();
        Self { module, types, constants, used: used_ids }
    }

    /// All variables of the module, whoever uses them.
    pub(crate) fn whole_module(
        module: &'a Module,
        types: &'a Types,
        constants: &'a Constants,
    ) -> Self {
        let declared_ids =
            module.instructions.iter().filter_map(|instruction| instruction.result).collect();
        Self { module, types, constants, used: declared_ids }
    }

    /// The variables in the order of the module.
    pub(crate) fn used_variables(&self) -> impl Iterator<Item = ModuleVariable> {
        let declarations = self
            .module
            .instructions
            .iter()
            .take_while(|instruction| instruction.op != Op::Function);
        declarations.filter_map(|instruction| {
            let (storage, pointee) = self.types.variable_contents(instruction)?;
            let id = instruction.result.filter(|id| self.used.contains(id))?;
            Some(ModuleVariable { id, storage, pointee })
        })
    }

    /// The variables of one storage class, in the order of the module.
    pub(crate) fn variables_in(
        &self,
        storage_class: StorageClass,
    ) -> impl Iterator<Item = ModuleVariable> {
        self.used_variables().filter(move |variable| variable.storage == storage_class)
    }
}
