//! What an entry point shows to its host: local size, resources, push constants, specialization constants.
//!
//! Knows: the declarations of a module that a host program must match (Vulkan specification, "Shader Interfaces").
//! Promises: only what the entry point's call graph uses statically is listed as bound; specialization constants are
//! all listed. Lists are ordered by set and binding, offset, or id.
//! Does not cover: whether the host matches (`requirement` and `coupling` check that).

use super::calls::reachable_functions;
use super::constants::{ConstantError, Constants, Value};
use super::module::{EntryPoint, Id, Instruction, Module};
use super::types::{BlockKind, LayoutError, Member, Type, Types};
use crate::model::procedure::DescriptorClass;
use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Decoration, Dim, ExecutionMode, ExecutionModel, Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet};

/// The interface of one entry point under one specialization.
#[derive(Debug, Clone)]
pub struct Reflection {
    pub entry: String,
    /// Result id of the entry point's function.
    pub function: Id,
    /// Invocations per workgroup in x, y, z.
    pub local_size: [u32; 3],
    pub resources: Vec<Resource>,
    pub push_constants: Option<PushConstants>,
    pub specialization: Vec<SpecializationConstant>,
    pub workgroup: Vec<WorkgroupVariable>,
    /// Names as in the SPIR-V specification, in module order.
    pub capabilities: Vec<String>,
    pub extensions: Vec<String>,
    /// Whether a reachable function holds an OpControlBarrier.
    pub barriers: BarrierUse,
    /// Functions that the entry point reaches, itself first.
    pub functions: Vec<Id>,
}

/// Static use of OpControlBarrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BarrierUse {
    None,
    Used,
}

/// A variable bound through a descriptor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    pub variable: Id,
    pub set: u32,
    pub binding: u32,
    pub class: DescriptorClass,
    /// OpName of the variable, or of its block type where the variable has none.
    pub name: Option<String>,
    /// OpName of the block type.
    pub block_name: Option<String>,
    /// Type of one descriptor's contents: the block structure, image or sampler type.
    pub block_type: Id,
    pub count: DescriptorCount,
    pub access: Access,
    /// Bytes that every access outside a runtime array needs; 0 for what is no block.
    pub fixed_bytes: u64,
    /// Element stride of a runtime array at the end of the block, in bytes.
    pub element_stride: Option<u32>,
}

/// Number of descriptors at a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DescriptorCount {
    One,
    Array(u32),
    /// A runtime-sized descriptor array.
    Runtime,
}

/// What the declarations allow the kernel to do with a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    ReadOnly,
    WriteOnly,
    ReadWrite,
    /// NonReadable and NonWritable: only its length may be asked for.
    None,
}

/// The push-constant block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushConstants {
    pub variable: Id,
    /// Id of the block structure.
    pub structure: Id,
    pub name: Option<String>,
    /// Bytes up to the end of the last member.
    pub size: u64,
    pub members: Vec<Member>,
}

/// A specialization constant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecializationConstant {
    pub id: Id,
    pub spec_id: u32,
    pub name: Option<String>,
    /// Id of its type.
    pub ty: Id,
    /// Name of its type in GLSL: `uint`, `bool` ...
    pub type_name: String,
    /// Raw bits; Booleans are 0 or 1.
    pub default: u64,
    /// Bits of the type; Booleans are 32-bit at the interface (VkBool32).
    pub width: u32,
}

/// A variable in workgroup memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkgroupVariable {
    pub variable: Id,
    pub name: Option<String>,
    pub ty: Id,
    /// Bytes as Vulkan counts them against maxComputeSharedMemorySize.
    pub size: u64,
}

/// The interface cannot be described.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReflectError {
    #[error("the module has no compute entry point `{entry}`; it has {available}")]
    NoEntryPoint { entry: String, available: String },
    #[error("the entry point `{entry}` declares no local size")]
    NoLocalSize { entry: String },
    #[error("the local size of `{entry}` is {size:?}; each number must be at least 1")]
    BadLocalSize { entry: String, size: [u64; 3] },
    #[error("variable %{variable} is bound but has no {missing}")]
    Undecorated { variable: Id, missing: &'static str },
    #[error("a resource of type {what} is not supported")]
    UnsupportedResource { what: String },
    #[error(transparent)]
    Constant(#[from] ConstantError),
    #[error(transparent)]
    Layout(#[from] LayoutError),
}

impl Reflection {
    /// Describes entry point `entry` of `module` with the given values (raw bits by SpecId) for specialization constants.
    pub fn of(module: &Module, entry: &str, specialization: &BTreeMap<u32, u64>) -> Result<Self, ReflectError> {
        let types = Types::of(module);
        let constants = Constants::evaluate(module, &types, specialization)?;
        let defaults = Constants::evaluate(module, &types, &BTreeMap::new())?;
        let point = compute_entry(module, entry)?;
        let functions = reachable_functions(module, point.function);
        let scope = Scope { module, types: &types, constants: &constants, used: used_ids(module, &functions) };
        Ok(Self {
            entry: entry.to_owned(),
            function: point.function,
            local_size: local_size(module, point, &constants)?,
            resources: scope.resources()?,
            push_constants: scope.push_constants()?,
            specialization: specialization_constants(module, &types, &defaults),
            workgroup: scope.workgroup()?,
            capabilities: capabilities(module),
            extensions: extensions(module),
            barriers: barriers(module, &functions),
            functions,
        })
    }
}

impl PushConstants {
    /// The block that a module declares and its entry point does not use; none where it declares none, or one of a type that is no
    /// block.
    pub fn unused(module: &Module, specialization: &BTreeMap<u32, u64>) -> Option<Self> {
        let types = Types::of(module);
        let constants = Constants::evaluate(module, &types, specialization).ok()?;
        let used = module.instructions.iter().filter_map(|instruction| instruction.result).collect();
        Scope { module, types: &types, constants: &constants, used }.push_constants().ok()?
    }
}

/// The compute entry point of that name (GLCompute; other execution models are not kernels of this tool).
pub fn compute_entry<'a>(module: &'a Module, entry: &str) -> Result<&'a EntryPoint, ReflectError> {
    let found =
        module.entry_points.iter().find(|point| point.name == entry && point.model == ExecutionModel::GLCompute);
    found.ok_or_else(|| {
        let names: Vec<String> =
            module.entry_points.iter().map(|point| format!("`{}` ({:?})", point.name, point.model)).collect();
        let available = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        ReflectError::NoEntryPoint { entry: entry.to_owned(), available }
    })
}

/// A constant decorated WorkgroupSize overrides the execution modes (SPIR-V specification, BuiltIn WorkgroupSize).
fn local_size(module: &Module, point: &EntryPoint, constants: &Constants) -> Result<[u32; 3], ReflectError> {
    let builtin = module.instructions.iter().filter_map(|instruction| instruction.result).find(|id| {
        module.decorations(*id).iter().any(|decorated| {
            decorated.decoration == Decoration::BuiltIn
                && decorated.operands.first() == Some(&Operand::BuiltIn(BuiltIn::WorkgroupSize))
        })
    });
    let size = match builtin.and_then(|id| constants.value(id)) {
        Some(Value::Composite(parts)) => parts.iter().map(scalar_bits).collect(),
        _ => execution_mode_size(module, point, constants),
    };
    let size: Vec<u64> = size.ok_or_else(|| ReflectError::NoLocalSize { entry: point.name.clone() })?;
    let [x, y, z] = size[..] else { return Err(ReflectError::NoLocalSize { entry: point.name.clone() }) };
    match [x, y, z].map(u32::try_from) {
        [Ok(x), Ok(y), Ok(z)] if x > 0 && y > 0 && z > 0 => Ok([x, y, z]),
        _ => Err(ReflectError::BadLocalSize { entry: point.name.clone(), size: [x, y, z] }),
    }
}

fn scalar_bits(value: &Value) -> Option<u64> {
    match value {
        Value::Scalar(bits) => Some(*bits),
        Value::Null => Some(0),
        Value::Bool(_) | Value::Composite(_) | Value::Undef => None,
    }
}

fn execution_mode_size(module: &Module, point: &EntryPoint, constants: &Constants) -> Option<Vec<u64>> {
    let modes = module.instructions.iter().filter(|instruction| instruction.id(0) == Some(point.function));
    let mut sizes = modes.filter_map(|mode| match (mode.op, mode.operands.get(1)?) {
        (Op::ExecutionMode, Operand::ExecutionMode(ExecutionMode::LocalSize)) => {
            (2..5).map(|index| mode.literal(index).map(u64::from)).collect::<Option<Vec<u64>>>()
        }
        (Op::ExecutionModeId, Operand::ExecutionMode(ExecutionMode::LocalSizeId)) => {
            (2..5).map(|index| constants.scalar(mode.id(index)?)).collect()
        }
        _ => None,
    });
    sizes.next()
}

/// Every id that an instruction of `functions` names.
fn used_ids(module: &Module, functions: &[Id]) -> BTreeSet<Id> {
    let ranges = functions.iter().filter_map(|id| module.function(*id)).map(|function| function.range.clone());
    ranges.flatten().flat_map(|index| module.instructions[index].ids()).collect()
}

/// What the description of variables needs.
struct Scope<'a> {
    module: &'a Module,
    types: &'a Types,
    constants: &'a Constants,
    used: BTreeSet<Id>,
}

impl Scope<'_> {
    /// Used global variables with storage class and pointee.
    fn variables(&self) -> impl Iterator<Item = (Id, StorageClass, Id)> {
        let globals = self.module.instructions.iter().take_while(|instruction| instruction.op != Op::Function);
        globals.filter_map(|instruction| {
            let (storage, held) = self.types.variable(instruction)?;
            let id = instruction.result.filter(|id| self.used.contains(id))?;
            Some((id, storage, held))
        })
    }

    fn name(&self, id: Id) -> Option<String> {
        self.module.name(id).filter(|name| !name.is_empty()).map(str::to_owned)
    }

    fn resources(&self) -> Result<Vec<Resource>, ReflectError> {
        let bound = self.variables().filter(|(_, storage, _)| {
            matches!(storage, StorageClass::Uniform | StorageClass::StorageBuffer | StorageClass::UniformConstant)
        });
        let mut resources = bound
            .map(|(variable, storage, pointee)| self.resource(variable, storage, pointee))
            .collect::<Result<Vec<_>, _>>()?;
        resources.sort_by_key(|resource| (resource.set, resource.binding, resource.variable));
        Ok(resources)
    }

    fn resource(&self, variable: Id, storage: StorageClass, pointee: Id) -> Result<Resource, ReflectError> {
        let number = |decoration, missing| match self.module.decoration(variable, decoration) {
            Some(decorated) => match decorated.operands.first() {
                Some(Operand::LiteralBit32(number)) => Ok(*number),
                _ => Err(ReflectError::Undecorated { variable, missing }),
            },
            None => Err(ReflectError::Undecorated { variable, missing }),
        };
        let (block_type, count) = self.descriptors(pointee)?;
        let class = self.class(storage, block_type)?;
        let (fixed_bytes, element_stride) = self.block_bytes(block_type)?;
        let block_name = match self.types.get(block_type) {
            Some(Type::Structure { name, .. }) => name.clone(),
            _ => None,
        };
        Ok(Resource {
            variable,
            set: number(Decoration::DescriptorSet, "descriptor set")?,
            binding: number(Decoration::Binding, "binding")?,
            class,
            name: self.name(variable).or_else(|| block_name.clone()),
            block_name,
            block_type,
            count,
            access: self.access(variable, block_type, class),
            fixed_bytes,
            element_stride,
        })
    }

    fn descriptors(&self, pointee: Id) -> Result<(Id, DescriptorCount), ReflectError> {
        match self.types.get(pointee) {
            Some(Type::Array { element, length, .. }) => {
                let count = self.constants.array_length(*length).and_then(|length| u32::try_from(length).ok());
                let (inner, inner_count) = self.descriptors(*element)?;
                let count = match inner_count {
                    DescriptorCount::One => count,
                    DescriptorCount::Array(inner) => count.and_then(|count| count.checked_mul(inner)),
                    DescriptorCount::Runtime => None,
                };
                let count = count.ok_or(LayoutError::UnknownLength { length: *length })?;
                Ok((inner, DescriptorCount::Array(count)))
            }
            Some(Type::RuntimeArray { element, .. }) => Ok((*element, DescriptorCount::Runtime)),
            _ => Ok((pointee, DescriptorCount::One)),
        }
    }

    fn class(&self, storage: StorageClass, block_type: Id) -> Result<DescriptorClass, ReflectError> {
        let unsupported = || ReflectError::UnsupportedResource { what: self.types.name(block_type) };
        match (storage, self.types.get(block_type).ok_or_else(unsupported)?) {
            (StorageClass::StorageBuffer, Type::Structure { .. })
            | (StorageClass::Uniform, Type::Structure { block: BlockKind::BufferBlock, .. }) => {
                Ok(DescriptorClass::Storage)
            }
            (StorageClass::Uniform, Type::Structure { .. }) => Ok(DescriptorClass::Uniform),
            (_, Type::Sampler) => Ok(DescriptorClass::Sampler),
            (_, Type::SampledImage { image }) => match self.types.get(*image) {
                Some(Type::Image(image)) if image.dim == Dim::DimBuffer => Ok(DescriptorClass::UniformTexel),
                _ => Ok(DescriptorClass::Combined),
            },
            (_, Type::Image(image)) => match (image.dim, image.sampled) {
                (Dim::DimBuffer, 2) => Ok(DescriptorClass::StorageTexel),
                (Dim::DimBuffer, _) => Ok(DescriptorClass::UniformTexel),
                (_, 2) => Ok(DescriptorClass::StorageImage),
                (_, _) => Ok(DescriptorClass::SampledImage),
            },
            (_, _) => Err(unsupported()),
        }
    }

    fn block_bytes(&self, block_type: Id) -> Result<(u64, Option<u32>), ReflectError> {
        let Some(Type::Structure { members, .. }) = self.types.get(block_type) else { return Ok((0, None)) };
        let stride = members.last().and_then(|member| match self.types.get(member.ty) {
            Some(Type::RuntimeArray { stride, .. }) => *stride,
            _ => None,
        });
        Ok((self.types.byte_extent(block_type, None, self.constants)?, stride))
    }

    fn access(&self, variable: Id, block_type: Id, class: DescriptorClass) -> Access {
        let has = |decoration| self.module.decoration(variable, decoration).is_some();
        let members = match self.types.get(block_type) {
            Some(Type::Structure { members, .. }) if !members.is_empty() => members.as_slice(),
            _ => &[],
        };
        let all = |chosen: fn(&Member) -> bool| !members.is_empty() && members.iter().all(chosen);
        let writable = match class {
            DescriptorClass::Storage
            | DescriptorClass::StorageDynamic
            | DescriptorClass::StorageImage
            | DescriptorClass::StorageTexel => {
                !has(Decoration::NonWritable) && !all(|member| member.access.non_writable)
            }
            DescriptorClass::Uniform
            | DescriptorClass::UniformDynamic
            | DescriptorClass::SampledImage
            | DescriptorClass::Sampler
            | DescriptorClass::Combined
            | DescriptorClass::UniformTexel => false,
        };
        let readable = !has(Decoration::NonReadable) && !all(|member| member.access.non_readable);
        match (readable, writable) {
            (true, true) => Access::ReadWrite,
            (true, false) => Access::ReadOnly,
            (false, true) => Access::WriteOnly,
            (false, false) => Access::None,
        }
    }

    fn push_constants(&self) -> Result<Option<PushConstants>, ReflectError> {
        let Some((variable, _, structure)) =
            self.variables().find(|(_, storage, _)| *storage == StorageClass::PushConstant)
        else {
            return Ok(None);
        };
        let Some(Type::Structure { members, name, .. }) = self.types.get(structure) else {
            return Err(ReflectError::UnsupportedResource { what: self.types.name(structure) });
        };
        Ok(Some(PushConstants {
            variable,
            structure,
            name: self.name(variable).or_else(|| name.clone()),
            size: self.types.byte_extent(structure, None, self.constants)?,
            members: members.clone(),
        }))
    }

    fn workgroup(&self) -> Result<Vec<WorkgroupVariable>, ReflectError> {
        let variables = self.variables().filter(|(_, storage, _)| *storage == StorageClass::Workgroup);
        variables
            .map(|(variable, _, ty)| {
                let (size, _) = self.types.natural_layout(ty, self.constants)?;
                Ok(WorkgroupVariable { variable, name: self.name(variable), ty, size })
            })
            .collect()
    }
}

fn specialization_constants(module: &Module, types: &Types, defaults: &Constants) -> Vec<SpecializationConstant> {
    let declared = module.instructions.iter().filter_map(|instruction: &Instruction| {
        let id = instruction.result?;
        let spec_id = module.specialization_id(id)?;
        let ty = instruction.result_type?;
        Some(SpecializationConstant {
            id,
            spec_id,
            name: module.name(id).filter(|name| !name.is_empty()).map(str::to_owned),
            ty,
            type_name: types.name(ty),
            default: defaults.scalar(id).or_else(|| defaults.boolean(id).map(u64::from))?,
            width: match types.get(ty) {
                Some(Type::Bool) => 32,
                _ => types.scalar_width(ty)?,
            },
        })
    });
    let mut constants: Vec<_> = declared.collect();
    constants.sort_by_key(|constant| (constant.spec_id, constant.id));
    constants
}

fn capabilities(module: &Module) -> Vec<String> {
    let named = module.instructions.iter().filter_map(|instruction| match instruction.operands.first() {
        Some(Operand::Capability(capability)) if instruction.op == Op::Capability => Some(format!("{capability:?}")),
        _ => None,
    });
    named.collect()
}

fn extensions(module: &Module) -> Vec<String> {
    let named = module.instructions.iter().filter_map(|instruction| match instruction.operands.first() {
        Some(Operand::LiteralString(name)) if instruction.op == Op::Extension => Some(name.clone()),
        _ => None,
    });
    named.collect()
}

fn barriers(module: &Module, functions: &[Id]) -> BarrierUse {
    let ranges = functions.iter().filter_map(|id| module.function(*id)).map(|function| function.range.clone());
    if ranges.flatten().any(|index| module.instructions[index].op == Op::ControlBarrier) {
        BarrierUse::Used
    } else {
        BarrierUse::None
    }
}
