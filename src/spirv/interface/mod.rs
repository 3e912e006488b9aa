//! What a module shows to its host and needs of a device.
//!
//! Knows: the declarations of a module that a host program must match (Vulkan specification,
//! "Shader Interfaces"): local size (`local_size`), resources (`resource`), push constants,
//! specialization constants (`specialization`) and which of them sizes depend on
//! (`size_constants`); what it needs of a device (`device_needs`, by
//! features in `feature`) and what of that Vulkan SC 1.0 lacks (`safety_critical`).
//! Promises: every engine and check reads declarations here. Only what the entry point's call graph
//! uses statically (`entry_scope`, `reached`) is listed as bound; specialization constants are all
//! listed. Lists of a [`Reflection`] are ordered by set and binding, offset, or id.
//! Does not cover: whether the host matches (`requirement` and `coupling` check that) or the device
//! has it (`exec`).

mod declaration;
mod device_needs;
mod entry_scope;
mod feature;
mod local_size;
mod member_use;
mod reached;
mod resource;
mod safety_critical;
mod size_constants;
mod specialization;

pub use declaration::{declared_capabilities, declared_extensions};
pub use device_needs::{
    Atomicity, DescriptorUse, DeviceNeeds, Indexing, Specialization, UnsupportedDescriptor,
};
pub use entry_scope::{EntryScope, ModuleVariable};
pub use feature::{FEATURES, feature_of};
pub use local_size::LocalSize;
pub use member_use::{MemberPath, UsedMembers};
pub use reached::{AtomicKind, AtomicMemory, AtomicUse};
pub use resource::{Access, DescriptorCount, ReflectedResource};
pub use safety_critical::{VulkanScRefusal, vulkan_sc_refusals};
pub use size_constants::SizeConstants;
pub use specialization::SpecializationConstant;

use super::calls::reachable_functions;
use super::constants::{ConstantError, Constants};
use super::module::{EntryPoint, Id, Module};
use super::types::{LayoutError, StructureMember, Type, Types};
use declaration::debug_name;
use rspirv::spirv::{ExecutionModel, Op, StorageClass};
use specialization::specialization_constants;
use std::collections::BTreeMap;

/// The interface of one entry point under one specialization.
#[derive(Debug, Clone)]
pub struct Reflection {
    /// Name of the entry point.
    pub entry: String,
    /// Result id of the entry point's function.
    pub function: Id,
    /// Invocations per workgroup in x, y, z.
    pub local_size: [u32; 3],
    /// Variables bound through descriptors that the entry point uses.
    pub resources: Vec<ReflectedResource>,
    /// The push-constant block; none where the entry point uses none.
    pub push_constants: Option<PushConstants>,
    /// Specialization constants of the module.
    pub specialization: Vec<SpecializationConstant>,
    /// Variables in workgroup memory that the entry point uses.
    pub workgroup: Vec<WorkgroupVariable>,
    /// Names as in the SPIR-V specification, in module order.
    pub capabilities: Vec<String>,
    /// Names as the module declares them, in its order.
    pub extensions: Vec<String>,
    /// Whether a reachable function holds an OpControlBarrier.
    pub barriers: BarrierUse,
    /// Functions that the entry point reaches, itself first.
    pub functions: Vec<Id>,
}

/// Static use of OpControlBarrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BarrierUse {
    /// None is held.
    None,
    /// At least one is held.
    Used,
}

/// The push-constant block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushConstants {
    /// Result id of the variable.
    pub variable: Id,
    /// Id of the block structure.
    pub structure: Id,
    /// OpName of the variable, or of its block type.
    pub name: Option<String>,
    /// Bytes up to the end of the last member.
    pub size: u64,
    /// Members of the block, in order.
    pub members: Vec<StructureMember>,
}

/// A variable in workgroup memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkgroupVariable {
    /// Result id of the variable.
    pub variable: Id,
    /// OpName of the variable.
    pub name: Option<String>,
    /// Id of the type of what it holds.
    pub ty: Id,
    /// Bytes as Vulkan counts them against maxComputeSharedMemorySize.
    pub size: u64,
}

/// The interface cannot be described.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReflectError {
    /// No compute entry point has the name that is asked for.
    #[error("the module has no compute entry point `{entry}`; it has {available}")]
    NoEntryPoint {
        /// The name.
        entry: String,
        /// The names that there are, for messages.
        available: String,
    },
    /// The entry point declares no local size.
    #[error("the entry point `{entry}` declares no local size")]
    NoLocalSize {
        /// Name of the entry point.
        entry: String,
    },
    /// A number of the local size is 0.
    #[error("the local size of `{entry}` is {size:?}; each number must be at least 1")]
    BadLocalSize {
        /// Name of the entry point.
        entry: String,
        /// Invocations in x, y and z.
        size: [u64; 3],
    },
    /// A bound variable lacks a decoration.
    #[error("variable %{variable} is bound but has no {missing}")]
    Undecorated {
        /// Result id of the variable.
        variable: Id,
        /// What it lacks: `DescriptorSet` or `Binding`.
        missing: &'static str,
    },
    /// A bound variable is of a type that is not supported.
    #[error("a resource of type {what} is not supported")]
    UnsupportedResource {
        /// The type, in words.
        what: String,
    },
    /// A constant that the interface depends on cannot be evaluated.
    #[error(transparent)]
    Constant(#[from] ConstantError),
    /// A type of the interface has no size.
    #[error(transparent)]
    Layout(#[from] LayoutError),
}

impl Reflection {
    /// Describes entry point `entry` of `module` with the given values (raw bits by SpecId) for
    /// specialization constants.
    pub fn of_entry_point(
        module: &Module,
        entry_name: &str,
        specialization_values: &BTreeMap<u32, u64>,
    ) -> Result<Self, ReflectError> {
        let types = Types::of_module(module);
        let constants = Constants::evaluate(module, &types, specialization_values)?;
        let default_constants = Constants::evaluate(module, &types, &BTreeMap::new())?;
        let entry_point = compute_entry(module, entry_name)?;
        let functions = reachable_functions(module, entry_point.function);
        let entry_scope = EntryScope::of_functions(module, &types, &constants, &functions);
        Ok(Self {
            entry: entry_name.to_owned(),
            function: entry_point.function,
            local_size: local_size(module, entry_point, &constants)?,
            resources: entry_scope.bound_resources()?,
            push_constants: entry_scope.push_constants()?,
            specialization: specialization_constants(module, &types, &default_constants),
            workgroup: entry_scope.workgroup_variables()?,
            capabilities: declared_capabilities(module)
                .iter()
                .map(|name| format!("{name:?}"))
                .collect(),
            extensions: declared_extensions(module),
            barriers: barrier_use(module, &functions),
            functions,
        })
    }
}

impl PushConstants {
    /// The block that a module declares and its entry point does not use; none where it declares
    /// none, or one of a type that is no block.
    pub fn unused_block(
        module: &Module,
        specialization_values: &BTreeMap<u32, u64>,
    ) -> Option<Self> {
        let types = Types::of_module(module);
        let constants = Constants::evaluate(module, &types, specialization_values).ok()?;
        EntryScope::whole_module(module, &types, &constants).push_constants().ok()?
    }
}

/// The compute entry point of that name (GLCompute; other execution models are not kernels of this
/// tool).
pub fn compute_entry<'a>(
    module: &'a Module,
    entry_name: &str,
) -> Result<&'a EntryPoint, ReflectError> {
    let entry_point = module
        .entry_points
        .iter()
        .find(|point| point.name == entry_name && point.model == ExecutionModel::GLCompute);
    entry_point.ok_or_else(|| {
        let names: Vec<String> = module
            .entry_points
            .iter()
            .map(|point| format!("`{}` ({:?})", point.name, point.model))
            .collect();
        let available = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        ReflectError::NoEntryPoint { entry: entry_name.to_owned(), available }
    })
}

fn barrier_use(module: &Module, function_ids: &[Id]) -> BarrierUse {
    let function_ranges = function_ids
        .iter()
        .filter_map(|id| module.function_by_id(*id))
        .map(|function| function.instruction_indices());
    if function_ranges.flatten().any(|index| module.instructions[index].op == Op::ControlBarrier) {
        BarrierUse::Used
    } else {
        BarrierUse::None
    }
}

fn local_size(
    module: &Module,
    entry_point: &EntryPoint,
    constants: &Constants,
) -> Result<[u32; 3], ReflectError> {
    let declared_size = LocalSize::of_entry_point(module, entry_point.function)
        .and_then(|size| size.evaluated_size(constants));
    let [x, y, z] = declared_size
        .ok_or_else(|| ReflectError::NoLocalSize { entry: entry_point.name.clone() })?;
    match [x, y, z].map(u32::try_from) {
        [Ok(x), Ok(y), Ok(z)] if x > 0 && y > 0 && z > 0 => Ok([x, y, z]),
        _ => Err(ReflectError::BadLocalSize { entry: entry_point.name.clone(), size: [x, y, z] }),
    }
}

impl EntryScope<'_> {
    fn push_constants(&self) -> Result<Option<PushConstants>, ReflectError> {
        let Some(ModuleVariable { id: variable, pointee: structure, .. }) =
            self.variables_in(StorageClass::PushConstant).next()
        else {
            return Ok(None);
        };
        let Some(Type::Structure { members, name, .. }) = self.types.get(structure) else {
            return Err(ReflectError::UnsupportedResource {
                what: self.types.glsl_name(structure),
            });
        };
        Ok(Some(PushConstants {
            variable,
            structure,
            name: debug_name(self.module, variable).or_else(|| name.clone()),
            size: self.types.byte_extent(structure, None, self.constants)?,
            members: members.clone(),
        }))
    }

    fn workgroup_variables(&self) -> Result<Vec<WorkgroupVariable>, ReflectError> {
        let variables = self.variables_in(StorageClass::Workgroup);
        let described_variables =
            variables.map(|ModuleVariable { id: variable, pointee: ty, .. }| {
                let (byte_size, _) = self.types.natural_layout(ty, self.constants)?;
                Ok(WorkgroupVariable {
                    variable,
                    name: debug_name(self.module, variable),
                    ty,
                    size: byte_size,
                })
            });
        described_variables.collect()
    }
}
