//! What an entry point asks of a device: capabilities, resources, sizes, specialization constants.
//!
//! Knows: the declarations of a module, with the job's specialization applied where a size depends
//! on it.
//! Promises: a resource counts where the entry point can reach a use of it; what a size expression
//! does not let us know is `None`, and then the driver and the validation layer are the judges.
//! Does not cover: whether the device has it (`exec::vulkan`).

use super::super::calls::reachable_functions;
use super::super::constants::Constants;
use super::super::module::{Id, Instruction, Module};
use super::super::types::{Type, Types};
use super::declaration::{self, debug_name, descriptor_place};
use super::entry_scope::{EntryScope, ModuleVariable};
use super::local_size::LocalSize;
use super::reached::{self, AtomicUse};
use super::resource::ReflectedResource;
use super::specialization::specialization_entries;
use super::{ReflectError, declared_capabilities, declared_extensions};
use rspirv::spirv::{Capability, ExecutionMode, ExecutionModel, Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet};

/// Values by specialization id.
pub type Specialization = BTreeMap<u32, u64>;

/// What one entry point with one specialization needs.
#[derive(Debug, Clone)]
pub struct DeviceNeeds {
    /// Version of SPIR-V, major and minor.
    pub version: (u8, u8),
    /// Execution model of the entry point.
    pub model: ExecutionModel,
    /// In the order of the module.
    pub capabilities: Vec<Capability>,
    /// In the order of the module.
    pub extensions: Vec<String>,
    /// Atomics that the entry point can reach, by what they need.
    pub atomics: BTreeSet<AtomicUse>,
    /// Set and binding of images and of the samplers that the entry point combines with them.
    pub combined: BTreeSet<((u32, u32), (u32, u32))>,
    /// Float-control modes with their width in bits.
    pub float_modes: Vec<(ExecutionMode, u32)>,
    /// Whether the local size is given by ids (LocalSizeId).
    pub uses_local_size_id: bool,
    /// In the order of the module.
    pub descriptors: Vec<DescriptorUse>,
    /// Variables that are bound and that nothing here describes, in the order of the module.
    pub unsupported: Vec<UnsupportedDescriptor>,
    /// Bytes of the push-constant block, 0 without one; none: not known.
    pub push_constants: Option<u32>,
    /// Invocations of a workgroup in x, y and z; none: not known.
    pub local_size: Option<[u32; 3]>,
    /// Bytes of workgroup memory with tight packing, a lower bound of what the driver takes; none:
    /// not known.
    pub workgroup_memory: Option<u64>,
    /// Bytes that each specialization id takes in the API.
    pub specialization: BTreeMap<u32, usize>,
}

/// A resource and how the entry point uses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescriptorUse {
    /// What is bound.
    pub resource: ReflectedResource,
    /// The variable's name or its type's, or its id as `%12`.
    pub name: String,
    /// Whether texels are operands of atomics.
    pub atomicity: Atomicity,
    /// How an array of descriptors is indexed.
    pub indexing: Indexing,
}

/// A bound variable of a type that no resource of this tool has: acceleration structures, input
/// attachments ...
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsupportedDescriptor {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// The variable's name, or its id as `%12`.
    pub name: String,
    /// The opcode of its type.
    pub op: Op,
}

/// How an array of descriptors is indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Indexing {
    /// By constants alone.
    Constant,
    /// By values that are computed.
    Dynamic,
}

/// Whether texels are operands of atomics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Atomicity {
    /// They are not.
    Plain,
    /// They are.
    Atomic,
}

impl DeviceNeeds {
    /// Reads the module; `None` if it has no such entry point.
    pub fn of_entry_point(
        module: &Module,
        entry_name: &str,
        specialization_values: &Specialization,
    ) -> Option<Self> {
        let entry_point = module.entry_point(entry_name)?;
        let types = Types::of_module(module);
        let constants =
            Constants::evaluate(module, &types, specialization_values).unwrap_or_default();
        let functions = reachable_functions(module, entry_point.function);
        let scope = EntryScope::of_functions(module, &types, &constants, &functions);
        let (descriptors, unsupported) = descriptor_uses(&scope, &functions);
        let modes: Vec<&Instruction> =
            declaration::execution_modes(module, entry_point.function).collect();
        let is_local_size_id =
            |mode: &&Instruction| declaration::mode_of(mode) == Some(ExecutionMode::LocalSizeId);
        let push_block = scope.variables_in(StorageClass::PushConstant).next();
        let local_size = LocalSize::of_entry_point(module, entry_point.function);
        Some(Self {
            version: module.header.version(),
            model: entry_point.model,
            capabilities: declared_capabilities(module),
            extensions: declared_extensions(module),
            atomics: reached::atomic_uses(module, &functions),
            combined: reached::combined_images(module, &functions),
            float_modes: modes.iter().filter_map(|mode| float_mode(mode)).collect(),
            uses_local_size_id: modes.iter().any(is_local_size_id),
            descriptors,
            unsupported,
            push_constants: match push_block {
                Some(block) => scope.least_size(block.pointee).map(|size| size as u32),
                None => Some(0),
            },
            local_size: local_size.and_then(|size| size.evaluated_words(&constants)),
            workgroup_memory: scope
                .variables_in(StorageClass::Workgroup)
                .map(|variable| scope.least_size(variable.pointee))
                .try_fold(0_u64, |sum, size| sum.checked_add(size?)),
            specialization: specialization_entries(module, &types)
                .map(|constant| (constant.spec_id, constant.width as usize / 8))
                .collect(),
        })
    }
}

fn descriptor_uses(
    scope: &EntryScope,
    function_ids: &[Id],
) -> (Vec<DescriptorUse>, Vec<UnsupportedDescriptor>) {
    let dynamic = reached::dynamic_arrays(scope.module, function_ids);
    let atomic_texels = reached::pointed_texels(scope.module, function_ids);
    let (mut descriptors, mut unsupported) = (Vec::new(), Vec::new());
    for variable in scope.bound_variables() {
        match scope.described_resource(variable) {
            Ok(resource) => {
                let debug_name_or_id = debug_name(scope.module, variable.id)
                    .or_else(|| debug_name(scope.module, resource.block_type))
                    .unwrap_or_else(|| format!("%{}", variable.id));
                descriptors.push(DescriptorUse {
                    name: debug_name_or_id,
                    resource,
                    atomicity: match atomic_texels.contains(&variable.id) {
                        true => Atomicity::Atomic,
                        false => Atomicity::Plain,
                    },
                    indexing: match dynamic.contains(&variable.id) {
                        true => Indexing::Dynamic,
                        false => Indexing::Constant,
                    },
                });
            }
            // What is bound nowhere is the validator's to refuse.
            Err(ReflectError::Undecorated { .. }) => {}
            Err(_) => unsupported.extend(unsupported_descriptor(scope, variable)),
        }
    }
    (descriptors, unsupported)
}

fn unsupported_descriptor(
    scope: &EntryScope,
    variable: ModuleVariable,
) -> Option<UnsupportedDescriptor> {
    let (set, binding) = descriptor_place(scope.module, variable.id)?;
    let name = debug_name(scope.module, variable.id).unwrap_or_else(|| format!("%{}", variable.id));
    let contents = scope.module.definition(variable.pointee)?;
    let descriptor_type = match contents.op {
        Op::TypeArray | Op::TypeRuntimeArray => scope.module.definition(contents.id(0)?)?,
        _ => contents,
    };
    Some(UnsupportedDescriptor { set, binding, name, op: descriptor_type.op })
}

fn float_mode(instruction: &Instruction) -> Option<(ExecutionMode, u32)> {
    use ExecutionMode as Mode;
    let mode = declaration::mode_of(instruction)?;
    let float_modes = [
        Mode::DenormPreserve,
        Mode::DenormFlushToZero,
        Mode::SignedZeroInfNanPreserve,
        Mode::RoundingModeRTE,
        Mode::RoundingModeRTZ,
    ];
    float_modes.contains(&mode).then_some((mode, instruction.literal(2)?))
}

impl EntryScope<'_> {
    /// Bytes of a type: as laid out where it is decorated, tightly packed where it is not
    /// (workgroup memory).
    fn least_size(&self, type_id: Id) -> Option<u64> {
        match self.types.get(type_id)? {
            Type::Bool => Some(4),
            Type::Int { width, .. } | Type::Float { width } => Some(u64::from(*width) / 8),
            Type::BFloat16 => Some(2),
            Type::Pointer { .. } | Type::UntypedPointer { .. } | Type::ForwardPointer { .. } => {
                Some(8)
            }
            Type::Vector { component, count: element_count } => {
                self.least_size(*component)?.checked_mul(u64::from(*element_count))
            }
            Type::Matrix { column, count: element_count } => {
                self.least_size(*column)?.checked_mul(u64::from(*element_count))
            }
            Type::Array { element, length, stride } => {
                let element_count = self.constants.array_length(*length)?;
                stride.map_or(self.least_size(*element)?, u64::from).checked_mul(element_count)
            }
            Type::Structure { members, .. } => {
                let mut structure_end = 0_u64;
                for member in members {
                    let member_size = match (&member.matrix, self.types.get(member.ty)?) {
                        (Some(layout), Type::Matrix { column, count: element_count }) => {
                            let rows = self.types.component_count(*column, self.constants)?;
                            // An upper bound, whichever way the matrix is laid out.
                            u64::from(layout.stride)
                                .checked_mul(u64::from(*element_count).max(rows))?
                        }
                        (_, _) => self.least_size(member.ty)?,
                    };
                    structure_end = structure_end.max(
                        member.offset.map_or(structure_end, u64::from).checked_add(member_size)?,
                    );
                }
                Some(structure_end)
            }
            _ => None,
        }
    }
}
