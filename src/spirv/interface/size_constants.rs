//! Which specialization constants the sizes of an entry point depend on.
//!
//! Knows: the declarations of local size, of bound blocks, push constants and workgroup memory, down
//! to the constants that they are made of.
//! Promises: a constant that is not named changes none of these sizes, whatever its value; one that
//! is named may still cancel out.
//! Does not cover: which size results from which value.

use super::super::calls::reachable_functions;
use super::super::constants::Constants;
use super::super::module::{Id, Module};
use super::super::types::Types;
use super::entry_scope::EntryScope;
use super::{LocalSize, ReflectError, compute_entry};
use rspirv::spirv::{Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet};

/// Specialization constants (SpecId) by what has a size.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SizeConstants {
    /// Of the local size in x, y and z.
    pub local_size: [BTreeSet<u32>; 3],
    /// Of workgroup memory.
    pub workgroup_memory: BTreeSet<u32>,
    /// The same by variable.
    pub workgroup_variables: BTreeMap<Id, BTreeSet<u32>>,
    /// Of the push-constant block.
    pub push_constants: BTreeSet<u32>,
    /// Of what is bound, by variable.
    pub resources: BTreeMap<Id, BTreeSet<u32>>,
}

impl SizeConstants {
    /// Follows what the entry point uses.
    pub fn of_entry_point(module: &Module, entry_name: &str) -> Result<Self, ReflectError> {
        let entry_function = compute_entry(module, entry_name)?.function;
        let types = Types::of_module(module);
        let constants = Constants::evaluate(module, &types, &BTreeMap::new())?;
        let functions = reachable_functions(module, entry_function);
        let scope = EntryScope::of_functions(module, &types, &constants, &functions);
        let memory_in = |storage_class| {
            let variables = scope.variables_in(storage_class);
            constants_behind(module, variables.map(|variable| variable.pointee))
        };
        let workgroup_variables = scope.variables_in(StorageClass::Workgroup);
        let workgroup_variables = workgroup_variables
            .map(|variable| (variable.id, constants_behind(module, [variable.pointee])));
        let resources = scope.bound_variables();
        let resources =
            resources.map(|variable| (variable.id, constants_behind(module, [variable.pointee])));
        Ok(Self {
            local_size: local_size_constants(module, entry_function),
            workgroup_memory: memory_in(StorageClass::Workgroup),
            workgroup_variables: workgroup_variables.collect(),
            push_constants: memory_in(StorageClass::PushConstant),
            resources: resources.collect(),
        })
    }

    /// All of them.
    pub fn all(&self) -> BTreeSet<u32> {
        let sets = self.local_size.iter().chain([&self.workgroup_memory, &self.push_constants]);
        sets.chain(self.resources.values()).flatten().copied().collect()
    }
}

fn local_size_constants(module: &Module, entry_function: Id) -> [BTreeSet<u32>; 3] {
    let axis_ids = match LocalSize::of_entry_point(module, entry_function) {
        None | Some(LocalSize::Literals(_)) => return Default::default(),
        Some(LocalSize::Constants(axis_ids)) => axis_ids,
        Some(LocalSize::WorkgroupSize(vector)) => {
            let parts: Vec<Id> =
                module.definition(vector).map_or_else(Vec::new, |made| made.ids().collect());
            // A vector that is no list of three parts stands for each of them.
            <[Id; 3]>::try_from(parts).unwrap_or([vector; 3])
        }
    };
    axis_ids.map(|axis_id| constants_behind(module, [axis_id]))
}

/// The specialization constants that types and constants are made of. What a pointer leads to is
/// no part of its size.
fn constants_behind(module: &Module, start_ids: impl IntoIterator<Item = Id>) -> BTreeSet<u32> {
    let (mut found, mut visited) = (BTreeSet::new(), BTreeSet::new());
    let mut pending_ids: Vec<Id> = start_ids.into_iter().collect();
    while let Some(id) = pending_ids.pop() {
        if !visited.insert(id) {
            continue;
        }
        found.extend(module.specialization_id(id));
        let definition = module.definition(id).filter(|made| made.op != Op::TypePointer);
        pending_ids.extend(definition.into_iter().flat_map(|made| made.ids()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkcert_glsl::{KernelSource, compile};

    /// A change of the default by one shows none of these: the sizes step at multiples of 64.
    #[test]
    fn a_size_depends_on_what_its_expression_names() {
        for environment in ["vulkan1.0", "vulkan1.3"] {
            let text = "#version 450\nlayout(local_size_x = 4, local_size_y_id = 5) in;\n\
                        layout(constant_id = 2) const uint UNUSED = 1u;\n\
                        layout(constant_id = 3) const uint U = 4u;\n\
                        layout(constant_id = 4) const uint W = 4u;\n\
                        layout(binding = 0) buffer A { uint a[U / 64u + 1u]; };\n\
                        layout(binding = 1) buffer B { uint b[]; };\n\
                        shared uint s[W / 64u + 1u];\n\
                        void main() { s[0] = UNUSED; a[0] = s[0]; b[0] = 1u; }\n";
            let source = KernelSource::alone("k.comp", text.to_owned(), environment);
            let module =
                Module::parse(compile(&source).expect("compiles").production).expect("SPIR-V");
            let sizes = SizeConstants::of_entry_point(&module, "main").expect("has main");
            let sets = |ids: [&[u32]; 3]| ids.map(|ids| BTreeSet::from_iter(ids.iter().copied()));
            assert_eq!(sizes.local_size, sets([&[], &[5], &[]]), "{environment}");
            assert_eq!(sizes.workgroup_memory, BTreeSet::from([4]));
            assert_eq!(sizes.push_constants, BTreeSet::new());
            let resources: Vec<_> = sizes.resources.values().cloned().collect();
            assert_eq!(resources, [BTreeSet::from([3]), BTreeSet::new()]);
            assert_eq!(sizes.all(), BTreeSet::from([3, 4, 5]));
        }
    }
}
