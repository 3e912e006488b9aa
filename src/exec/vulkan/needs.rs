//! What a module asks of a device: capabilities, resources, sizes, specialization constants.
//!
//! Knows: the declarations of a SPIR-V module, with the job's specialization applied where a size depends on it.
//! Promises: a resource counts where the entry point can reach a use of it; what a size expression does not let us know
//! is `None`, and then the driver and the validation layer are the judges.
//! Does not cover: whether the device has it (`fit`).

use super::reach;
pub use super::reach::{AtomicKind, AtomicMemory, AtomicUse};
use crate::spirv::module::{Id, Instruction, Module};
use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Capability, Decoration, Dim, ExecutionMode, ExecutionModel, Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet};

/// Values by specialization id.
pub type Specialization = BTreeMap<u32, u64>;

/// What one entry point with one specialization needs.
#[derive(Debug, Clone)]
pub struct Needs {
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
    pub resources: Vec<Resource>,
    /// Bytes of the push-constant block, 0 without one; none: not known.
    pub push_constants: Option<u32>,
    pub local_size: Option<[u32; 3]>,
    /// Bytes of workgroup memory with tight packing, a lower bound of what the driver takes; none: not known.
    pub workgroup_memory: Option<u64>,
    /// Bytes that each specialization id takes in the API.
    pub specialization: BTreeMap<u32, usize>,
}

/// A descriptor that the entry point uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    pub set: u32,
    pub binding: u32,
    pub class: ResourceClass,
    pub count: Count,
    /// The variable's name, or its id as `%12`.
    pub name: String,
    pub atomicity: Atomicity,
    pub indexing: Indexing,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResourceClass {
    StorageBuffer,
    UniformBuffer,
    StorageImage,
    SampledImage,
    Sampler,
    Combined,
    UniformTexel,
    StorageTexel,
    /// By the opcode of its type: acceleration structures, input attachments ...
    Other(Op),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    One,
    Array(u32),
    /// As many as are bound.
    Unsized,
}

impl Count {
    /// Descriptors at least needed.
    pub fn least(self) -> u32 {
        match self {
            Count::One => 1,
            Count::Array(count) => count,
            Count::Unsized => 0,
        }
    }
}

impl Needs {
    /// Reads the module; `None` if it has no such entry point.
    pub fn of(module: &Module, entry: &str, specialization: &Specialization) -> Option<Self> {
        let entry = module.entry_point(entry)?;
        let reader = Reader { module, specialization };
        let used = reader.used_by(entry.function);
        let dynamic = reach::dynamic_arrays(module, entry.function);
        let pointed = reach::pointed_texels(module, entry.function);
        let variables = || reader.variables().filter(|(id, _)| used.contains(id));
        let modes: Vec<&Instruction> = reader.modes(entry.function).collect();
        let push = variables().find(|(_, variable)| class(variable) == Some(StorageClass::PushConstant));
        let workgroup = variables().filter(|(_, variable)| class(variable) == Some(StorageClass::Workgroup));
        Some(Self {
            version: module.header.version(),
            model: entry.model,
            capabilities: reader.capabilities(),
            extensions: reader.extensions(),
            atomics: reach::atomics(module, entry.function),
            combined: reach::combined(module, entry.function, |variable| reader.descriptor(variable)),
            float_modes: modes.iter().filter_map(|mode| float_mode(mode)).collect(),
            uses_local_size_id: modes.iter().any(|mode| execution_mode(mode) == Some(ExecutionMode::LocalSizeId)),
            resources: variables()
                .filter_map(|(id, variable)| {
                    let atomicity = if pointed.contains(&id) { Atomicity::Atomic } else { Atomicity::Plain };
                    let indexing = if dynamic.contains(&id) { Indexing::Dynamic } else { Indexing::Constant };
                    reader.resource(id, variable, atomicity, indexing)
                })
                .collect(),
            push_constants: match push {
                Some((_, variable)) => {
                    reader.pointee(variable).and_then(|block| reader.size(block)).map(|size| size as u32)
                }
                None => Some(0),
            },
            local_size: reader.local_size(&modes),
            workgroup_memory: workgroup
                .map(|(_, variable)| reader.pointee(variable).and_then(|of| reader.size(of)))
                .try_fold(0_u64, |sum, size| sum.checked_add(size?)),
            specialization: reader.specialization_sizes(),
        })
    }
}

fn class(variable: &Instruction) -> Option<StorageClass> {
    match variable.operands.first() {
        Some(Operand::StorageClass(class)) => Some(*class),
        _ => None,
    }
}

fn execution_mode(instruction: &Instruction) -> Option<ExecutionMode> {
    match instruction.operands.get(1) {
        Some(Operand::ExecutionMode(mode)) => Some(*mode),
        _ => None,
    }
}

fn float_mode(instruction: &Instruction) -> Option<(ExecutionMode, u32)> {
    use ExecutionMode as Mode;
    let mode = execution_mode(instruction)?;
    let controls = [
        Mode::DenormPreserve,
        Mode::DenormFlushToZero,
        Mode::SignedZeroInfNanPreserve,
        Mode::RoundingModeRTE,
        Mode::RoundingModeRTZ,
    ];
    controls.contains(&mode).then_some((mode, instruction.literal(2)?))
}

/// Reads declarations of a module under a specialization.
struct Reader<'a> {
    module: &'a Module,
    specialization: &'a Specialization,
}

impl<'a> Reader<'a> {
    fn capabilities(&self) -> Vec<Capability> {
        let of = |instruction: &Instruction| match instruction.operands.first() {
            Some(Operand::Capability(capability)) if instruction.op == Op::Capability => Some(*capability),
            _ => None,
        };
        self.module.instructions.iter().filter_map(of).collect()
    }

    fn extensions(&self) -> Vec<String> {
        let of = |instruction: &Instruction| match instruction.operands.first() {
            Some(Operand::LiteralString(name)) if instruction.op == Op::Extension => Some(name.clone()),
            _ => None,
        };
        self.module.instructions.iter().filter_map(of).collect()
    }

    /// Module-scope variables.
    fn variables(&self) -> impl Iterator<Item = (Id, &'a Instruction)> + use<'a> {
        let variables = self.module.instructions.iter().take_while(|instruction| instruction.op != Op::Function);
        variables.filter(|i| matches!(i.op, Op::Variable | Op::UntypedVariableKHR)).filter_map(|i| Some((i.result?, i)))
    }

    fn modes(&self, function: Id) -> impl Iterator<Item = &'a Instruction> + use<'a> {
        let modes = self.module.instructions.iter();
        modes.filter(move |i| matches!(i.op, Op::ExecutionMode | Op::ExecutionModeId) && i.id(0) == Some(function))
    }

    /// Every id that the functions reachable from `function` mention.
    fn used_by(&self, function: Id) -> BTreeSet<Id> {
        let (mut used, mut reached, mut waiting) = (BTreeSet::new(), BTreeSet::new(), vec![function]);
        while let Some(next) = waiting.pop() {
            let Some(function) = self.module.function(next).filter(|_| reached.insert(next)) else { continue };
            for instruction in &self.module.instructions[function.range.clone()] {
                used.extend(instruction.ids());
                if instruction.op == Op::FunctionCall {
                    waiting.extend(instruction.id(0));
                }
            }
        }
        used
    }

    /// The type that a variable's pointer points to.
    fn pointee(&self, variable: &Instruction) -> Option<&'a Instruction> {
        if variable.op == Op::UntypedVariableKHR {
            return self.module.definition(variable.id(1)?);
        }
        let pointer = self.module.definition(variable.result_type?)?;
        self.module.definition(pointer.id(1)?)
    }

    fn literal_decoration(&self, id: Id, decoration: Decoration) -> Option<u32> {
        match self.module.decoration(id, decoration)?.operands.first() {
            Some(Operand::LiteralBit32(value)) => Some(*value),
            _ => None,
        }
    }

    /// Set and binding of a variable.
    fn descriptor(&self, id: Id) -> Option<(u32, u32)> {
        let set = self.literal_decoration(id, Decoration::DescriptorSet)?;
        Some((set, self.literal_decoration(id, Decoration::Binding)?))
    }

    /// The class of an image, sampler or sampled-image type.
    fn opaque(&self, of: &Instruction) -> ResourceClass {
        let image = |of: &Instruction| match (of.operands.get(1), of.literal(5)) {
            (Some(Operand::Dim(Dim::DimBuffer)), Some(2)) => ResourceClass::StorageTexel,
            (Some(Operand::Dim(Dim::DimBuffer)), _) => ResourceClass::UniformTexel,
            (Some(Operand::Dim(Dim::DimSubpassData)), _) => ResourceClass::Other(of.op),
            (_, Some(2)) => ResourceClass::StorageImage,
            (_, _) => ResourceClass::SampledImage,
        };
        match of.op {
            Op::TypeImage => image(of),
            Op::TypeSampler => ResourceClass::Sampler,
            Op::TypeSampledImage => match of.id(0).and_then(|id| self.module.definition(id)).map(image) {
                Some(ResourceClass::UniformTexel) => ResourceClass::UniformTexel,
                _ => ResourceClass::Combined,
            },
            other => ResourceClass::Other(other),
        }
    }

    fn resource(&self, id: Id, variable: &Instruction, atomicity: Atomicity, indexing: Indexing) -> Option<Resource> {
        let (set, binding) = self.descriptor(id)?;
        let (mut of, mut count) = (self.pointee(variable)?, Count::One);
        if of.op == Op::TypeArray {
            count = Count::Array(self.value(of.id(1)?)? as u32);
            of = self.module.definition(of.id(0)?)?;
        } else if of.op == Op::TypeRuntimeArray {
            count = Count::Unsized;
            of = self.module.definition(of.id(0)?)?;
        }
        let is_old_storage = of.result.is_some_and(|of| self.module.decoration(of, Decoration::BufferBlock).is_some());
        let class = match class(variable)? {
            StorageClass::StorageBuffer => ResourceClass::StorageBuffer,
            StorageClass::Uniform if is_old_storage => ResourceClass::StorageBuffer,
            StorageClass::Uniform => ResourceClass::UniformBuffer,
            _ => self.opaque(of),
        };
        let names = [Some(id), of.result];
        let name = names.into_iter().flatten().filter_map(|id| self.module.name(id)).find(|name| !name.is_empty());
        let name = name.map_or_else(|| format!("%{id}"), str::to_owned);
        Some(Resource { set, binding, class, count, name, atomicity, indexing })
    }

    /// WorkgroupSize (the built-in constant) goes before LocalSizeId and LocalSize (SPIR-V specification, "BuiltIn").
    fn local_size(&self, modes: &[&Instruction]) -> Option<[u32; 3]> {
        let is_size = |instruction: &&Instruction| {
            let decorated = instruction.result.and_then(|id| self.module.decoration(id, Decoration::BuiltIn));
            decorated.is_some_and(|d| d.operands.first() == Some(&Operand::BuiltIn(BuiltIn::WorkgroupSize)))
        };
        let constants = self.module.instructions.iter().take_while(|instruction| instruction.op != Op::Function);
        if let Some(composite) =
            constants.filter(|i| !matches!(i.op, Op::Variable | Op::UntypedVariableKHR)).find(is_size)
        {
            return self.triple(|axis| self.value(composite.id(axis)?));
        }
        let mode = modes
            .iter()
            .find(|mode| matches!(execution_mode(mode), Some(ExecutionMode::LocalSize | ExecutionMode::LocalSizeId)))?;
        match mode.op {
            Op::ExecutionModeId => self.triple(|axis| self.value(mode.id(axis + 2)?)),
            _ => self.triple(|axis| mode.literal(axis + 2).map(u64::from)),
        }
    }

    fn triple(&self, axis: impl Fn(usize) -> Option<u64>) -> Option<[u32; 3]> {
        let axis = |index| u32::try_from(axis(index)?).ok();
        Some([axis(0)?, axis(1)?, axis(2)?])
    }

    /// Vulkan specification, VkSpecializationMapEntry: the size is the constant's, and that of VkBool32 for a Boolean.
    fn specialization_sizes(&self) -> BTreeMap<u32, usize> {
        let constants = self.module.instructions.iter();
        let sized = constants.filter_map(|constant| match constant.op {
            Op::SpecConstantTrue | Op::SpecConstantFalse => Some((self.module.specialization_id(constant.result?)?, 4)),
            Op::SpecConstant => {
                let of = self.module.definition(constant.result_type?)?;
                Some((self.module.specialization_id(constant.result?)?, of.literal(0)? as usize / 8))
            }
            _ => None,
        });
        sized.collect()
    }

    /// The value of an integer or Boolean constant under the specialization; none for what this does not evaluate.
    fn value(&self, id: Id) -> Option<u64> {
        let constant = self.module.definition(id)?;
        let special = self.module.specialization_id(id).and_then(|id| self.specialization.get(&id).copied());
        match constant.op {
            Op::SpecConstant => special.or_else(|| literal(constant)),
            Op::SpecConstantTrue => Some(special.map_or(1, |bits| u64::from(bits != 0))),
            Op::SpecConstantFalse => Some(special.map_or(0, |bits| u64::from(bits != 0))),
            Op::Constant => literal(constant),
            Op::ConstantTrue => Some(1),
            Op::ConstantFalse | Op::ConstantNull => Some(0),
            Op::SpecConstantOp => self.operation(constant),
            _ => None,
        }
    }

    /// The 32-bit integer operations that size expressions are made of.
    fn operation(&self, constant: &Instruction) -> Option<u64> {
        let Some(Operand::LiteralSpecConstantOpInteger(op)) = constant.operands.first() else { return None };
        let width = self.module.definition(constant.result_type?)?.literal(0)?;
        if width != 32 {
            return None;
        }
        let left = self.value(constant.id(1)?)? as u32;
        let right = self.value(constant.id(2)?)? as u32;
        let value = match op {
            Op::IAdd => left.wrapping_add(right),
            Op::ISub => left.wrapping_sub(right),
            Op::IMul => left.wrapping_mul(right),
            Op::UDiv => left.checked_div(right)?,
            Op::UMod => left.checked_rem(right)?,
            Op::ShiftLeftLogical => left.checked_shl(right)?,
            Op::ShiftRightLogical => left.checked_shr(right)?,
            _ => return None,
        };
        Some(u64::from(value))
    }

    /// Bytes of a type: as laid out where it is decorated, tightly packed where it is not (workgroup memory).
    fn size(&self, of: &Instruction) -> Option<u64> {
        let component = || of.id(0).and_then(|id| self.module.definition(id));
        match of.op {
            Op::TypeBool => Some(4),
            Op::TypeInt | Op::TypeFloat => Some(u64::from(of.literal(0)?) / 8),
            Op::TypePointer | Op::TypeUntypedPointerKHR => Some(8),
            Op::TypeVector | Op::TypeMatrix => self.size(component()?)?.checked_mul(u64::from(of.literal(1)?)),
            Op::TypeArray => {
                let count = self.value(of.id(1)?)?;
                let stride = of.result.and_then(|id| self.literal_decoration(id, Decoration::ArrayStride));
                let element = self.size(component()?)?;
                stride.map_or(element, u64::from).checked_mul(count)
            }
            Op::TypeStruct => self.structure_size(of),
            _ => None,
        }
    }

    fn structure_size(&self, structure: &Instruction) -> Option<u64> {
        let mut end = 0_u64;
        for (member, id) in structure.ids().enumerate() {
            let member = member as u32;
            let decoration = |decoration| self.module.member_decoration(structure.result?, member, decoration);
            let number = |decorated: Option<&crate::spirv::module::Decorated>| match decorated?.operands.first() {
                Some(Operand::LiteralBit32(value)) => Some(u64::from(*value)),
                _ => None,
            };
            let of = self.module.definition(id)?;
            let offset = number(decoration(Decoration::Offset));
            let stride = number(decoration(Decoration::MatrixStride));
            let size = match stride {
                // An upper bound, whichever way the matrix is laid out: the stride times its columns or its rows.
                Some(stride) if of.op == Op::TypeMatrix => {
                    let rows = self.module.definition(of.id(0)?)?.literal(1)?;
                    stride * u64::from(of.literal(1)?.max(rows))
                }
                Some(_) | None => self.size(of)?,
            };
            end = end.max(offset.unwrap_or(end).checked_add(size)?);
        }
        Some(end)
    }
}

/// The literal of OpConstant and OpSpecConstant as raw bits.
fn literal(constant: &Instruction) -> Option<u64> {
    match constant.operands.first()? {
        Operand::LiteralBit32(value) => Some(u64::from(*value)),
        Operand::LiteralBit64(value) => Some(*value),
        _ => None,
    }
}
