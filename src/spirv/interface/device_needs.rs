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
use super::resource::Resource;
use super::specialization::specialization_entries;
use super::{ReflectError, declared_capabilities, declared_extensions};
use rspirv::spirv::{Capability, ExecutionMode, ExecutionModel, Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet};

/// Values by specialization id.
pub type Specialization = BTreeMap<u32, u64>;

/// What one entry point with one specialization needs.
#[derive(Debug, Clone)]
pub struct DeviceNeeds {
    pub version: (u8, u8),
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
    pub uses_local_size_id: bool,
    /// In the order of the module.
    pub descriptors: Vec<DescriptorUse>,
    /// Variables that are bound and that nothing here describes, in the order of the module.
    pub unsupported: Vec<UnsupportedDescriptor>,
    /// Bytes of the push-constant block, 0 without one; none: not known.
    pub push_constants: Option<u32>,
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
    pub resource: Resource,
    /// The variable's name or its type's, or its id as `%12`.
    pub name: String,
    pub atomicity: Atomicity,
    pub indexing: Indexing,
}

/// A bound variable of a type that no resource of this tool has: acceleration structures, input
/// attachments ...
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsupportedDescriptor {
    pub set: u32,
    pub binding: u32,
    /// The variable's name, or its id as `%12`.
    pub name: String,
    /// The opcode of its type.
    pub op: Op,
}

/// How an array of descriptors is indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Indexing {
    Constant,
    Dynamic,
}

/// Whether texels are operands of atomics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Atomicity {
    Plain,
    Atomic,
}

impl DeviceNeeds {
    /// Reads the module; `None` if it has no such entry point.
    pub fn of(module: &Module, entry: &str, specialization: &Specialization) -> Option<Self> {
        let entry = module.entry_point(entry)?;
        let types = Types::of_module(module);
        let constants = Constants::evaluate(module, &types, specialization).unwrap_or_default();
        let functions = reachable_functions(module, entry.function);
        let scope = EntryScope::of(module, &types, &constants, &functions);
        let (descriptors, unsupported) = descriptors(&scope, &functions);
        let modes: Vec<&Instruction> =
            declaration::execution_modes(module, entry.function).collect();
        let is_local_size_id =
            |mode: &&Instruction| declaration::mode_of(mode) == Some(ExecutionMode::LocalSizeId);
        let push_block = scope.variables_in(StorageClass::PushConstant).next();
        let local_size = LocalSize::of(module, entry.function);
        Some(Self {
            version: module.header.version(),
            model: entry.model,
            capabilities: declared_capabilities(module),
            extensions: declared_extensions(module),
            atomics: reached::atomics(module, &functions),
            combined: reached::combined(module, &functions),
            float_modes: modes.iter().filter_map(|mode| float_mode(mode)).collect(),
            uses_local_size_id: modes.iter().any(is_local_size_id),
            descriptors,
            unsupported,
            push_constants: match push_block {
                Some(block) => scope.least_size(block.pointee).map(|size| size as u32),
                None => Some(0),
            },
            local_size: local_size.and_then(|size| size.words(&constants)),
            workgroup_memory: scope
                .variables_in(StorageClass::Workgroup)
                .map(|variable| scope.least_size(variable.pointee))
                .try_fold(0_u64, |sum, size| sum.checked_add(size?)),
            specialization: specialization_entries(module, &types)
                .map(|entry| (entry.spec_id, entry.width as usize / 8))
                .collect(),
        })
    }
}

fn descriptors(
    scope: &EntryScope,
    functions: &[Id],
) -> (Vec<DescriptorUse>, Vec<UnsupportedDescriptor>) {
    let dynamic = reached::dynamic_arrays(scope.module, functions);
    let pointed = reached::pointed_texels(scope.module, functions);
    let (mut descriptors, mut unsupported) = (Vec::new(), Vec::new());
    for variable in scope.bound_variables() {
        match scope.resource(variable) {
            Ok(resource) => {
                let named = debug_name(scope.module, variable.id)
                    .or_else(|| debug_name(scope.module, resource.block_type))
                    .unwrap_or_else(|| format!("%{}", variable.id));
                descriptors.push(DescriptorUse {
                    name: named,
                    resource,
                    atomicity: match pointed.contains(&variable.id) {
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
    let held = scope.module.definition(variable.pointee)?;
    let of = match held.op {
        Op::TypeArray | Op::TypeRuntimeArray => scope.module.definition(held.id(0)?)?,
        _ => held,
    };
    Some(UnsupportedDescriptor { set, binding, name, op: of.op })
}

fn float_mode(instruction: &Instruction) -> Option<(ExecutionMode, u32)> {
    use ExecutionMode as Mode;
    let mode = declaration::mode_of(instruction)?;
    let controls = [
        Mode::DenormPreserve,
        Mode::DenormFlushToZero,
        Mode::SignedZeroInfNanPreserve,
        Mode::RoundingModeRTE,
        Mode::RoundingModeRTZ,
    ];
    controls.contains(&mode).then_some((mode, instruction.literal(2)?))
}

impl EntryScope<'_> {
    /// Bytes of a type: as laid out where it is decorated, tightly packed where it is not
    /// (workgroup memory).
    fn least_size(&self, id: Id) -> Option<u64> {
        match self.types.get(id)? {
            Type::Bool => Some(4),
            Type::Int { width, .. } | Type::Float { width } => Some(u64::from(*width) / 8),
            Type::BFloat16 => Some(2),
            Type::Pointer { .. } | Type::UntypedPointer { .. } | Type::ForwardPointer { .. } => {
                Some(8)
            }
            Type::Vector { component, count } => {
                self.least_size(*component)?.checked_mul(u64::from(*count))
            }
            Type::Matrix { column, count } => {
                self.least_size(*column)?.checked_mul(u64::from(*count))
            }
            Type::Array { element, length, stride } => {
                let count = self.constants.array_length(*length)?;
                stride.map_or(self.least_size(*element)?, u64::from).checked_mul(count)
            }
            Type::Structure { members, .. } => {
                let mut end = 0_u64;
                for member in members {
                    let size = match (&member.matrix, self.types.get(member.ty)?) {
                        (Some(layout), Type::Matrix { column, count }) => {
                            let rows = self.types.component_count(*column, self.constants)?;
                            // An upper bound, whichever way the matrix is laid out.
                            u64::from(layout.stride).checked_mul(u64::from(*count).max(rows))?
                        }
                        (_, _) => self.least_size(member.ty)?,
                    };
                    end = end.max(member.offset.map_or(end, u64::from).checked_add(size)?);
                }
                Some(end)
            }
            _ => None,
        }
    }
}
