//! From a SPIR-V module to a register program.
//!
//! Knows: blocks, calls, phis, loops; the instructions themselves are the table in `ops`.
//! Promises: functions are inlined, so a block belongs to one call path; a loop that encloses a barrier counts its
//! iterations, which gives the barrier its dynamic instance. Whatever has no row in the table is [`Unsupported`] by name.
//! Does not cover: pointers that are not known here (`ops::pointer`, `ops::variable_pointer`).

pub mod block_order;
pub mod layout;
pub mod ops;
pub mod support;

use super::ir::*;
use super::passes::Known;
use crate::exec::sequential::decode::ops::float_controls::Floats;
use crate::exec::sequential::ir::image::{Chosen, ImageStep};
use crate::exec::sequential::ir::memory_semantics::Fences;
use crate::exec::sequential::machine::recorder::MOST_INVOCATIONS;
use crate::exec::sequential::machine::variation::Expansion;
use crate::exec::sequential::memory::aliasing::Exclusive;
use crate::model::records::MarkerTable;
use crate::spirv::constants::{Constants, Value as ConstantValue};
use crate::spirv::interface::LocalSize;
use crate::spirv::module::{self, Function, Id, Instruction, Module, is_terminator};
use crate::spirv::opcodes::{self, Support};
use crate::spirv::precision::Freedom;
use crate::spirv::types::{BlockKind, Type, Types};
use layout::{Arrangement, Kind};
use ops::Meaning;
use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Capability, Decoration, Op, StorageClass};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// What the engine cannot run, by its SPIR-V name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Unsupported {
    pub what: String,
}

/// Shorthand for an error by name.
pub fn unsupported(what: impl Into<String>) -> Unsupported {
    Unsupported { what: what.into() }
}

/// Most steps of a program after inlining.
const MOST_STEPS: usize = 2_000_000;
/// Deepest chain of calls.
const MOST_CALLS: usize = 200;
/// Most scalars of one value in registers.
const MOST_SCALARS: usize = 4096;
/// Most scalars of a variable that is kept in registers.
const MOST_EXPANDED: usize = 64;

/// What an id stands for.
#[derive(Debug, Clone)]
pub enum Value {
    /// Any non-pointer value, flattened.
    Scalars(Arc<[Scalar]>),
    Pointer(Pointer),
    /// An image, a sampler, or both.
    Opaque(Opaque),
}

/// Which descriptors an image, a sampler, or a pair of them comes from.
#[derive(Debug, Clone)]
pub struct Opaque {
    pub image: Option<Chosen>,
    pub sampler: Option<Chosen>,
    /// Its type.
    pub ty: Id,
}

/// A pointer that is known at decoding.
#[derive(Debug, Clone)]
pub struct Pointer {
    pub to: Location,
    /// What it points to.
    pub ty: Id,
}

#[derive(Debug, Clone)]
pub enum Location {
    /// A variable that lives in registers.
    Registers(Arc<[Scalar]>),
    /// An input that nobody writes.
    Constant(Arc<[Scalar]>),
    Memory {
        root: Root,
        base: u32,
        dimensions: Vec<Dimension>,
        arrangement: Arrangement,
        name: Arc<str>,
    },
    /// An array of descriptors that is still to be indexed.
    Descriptors {
        variable: Id,
        length: u32,
    },
    /// A variable that holds an image, a sampler, or both.
    Opaque(Chosen),
    /// A texel of an image, for atomics.
    Texel(Arc<ImageStep>),
}

/// A function being inlined.
pub struct Frame {
    values: HashMap<Id, Value>,
    labels: HashMap<Id, u32>,
    /// Position of each block in the order of emission.
    positions: HashMap<Id, usize>,
    /// Position of each block in its function.
    blocks: HashMap<Id, usize>,
    /// By loop header: the extent in that order and the iteration counter.
    loops: Vec<(Id, std::ops::Range<usize>, Reg)>,
    return_to: Option<u32>,
    result: Arc<[Scalar]>,
    /// Label of the block being decoded.
    block: Id,
    /// Counters of the loops around the call.
    around: Vec<Reg>,
    /// Where the current function's blocks with phis get their values.
    phis: HashMap<Id, Vec<Id>>,
}

pub struct Decoder<'a> {
    pub module: &'a Module,
    pub types: Types,
    pub constants: Constants,
    pub markers: Option<&'a MarkerTable>,
    /// [`Known::bound`]
    bound: BTreeMap<(u32, u32), u32>,
    rows: HashMap<Op, Meaning>,
    pub program: Program,
    frames: Vec<Frame>,
    globals: HashMap<Id, Value>,
    /// Variables that need an address.
    addressed: HashSet<Id>,
    with_barrier: HashSet<Id>,
    steps: Vec<Step>,
    total_steps: usize,
    label: u32,
    next_label: u32,
    pub place: u32,
    /// How the instruction being decoded treats floats.
    pub floats: Floats,
    pub references: References,
    uniforms: BTreeMap<Uniform, Reg>,
    uniform_masks: BTreeMap<bool, Reg>,
    per_lane: BTreeMap<PerLane, Reg>,
    /// Labels of emitted blocks, in order.
    emitted: Vec<u32>,
    sums: BTreeMap<u32, Reg>,
    /// Indexes of the program's descriptors by set, binding, array index and name.
    descriptor_numbers: BTreeMap<(u32, u32, u32, String), u32>,
    /// Float comparisons of the conditions of decisions with several, by slot.
    pub compared: BTreeMap<u32, Vec<Compared>>,
    /// Float comparisons by result id, in the current frame.
    pub comparisons: HashMap<(usize, Id), Compared>,
    pub written: BTreeSet<u32>,
    pub atomics: BTreeSet<u32>,
    /// Bytes where each variable of workgroup memory begins, and its words; a block has all.
    pub workgroup_places: Vec<[u32; 2]>,
    /// Invocations of a subgroup.
    pub subgroup_size: u32,
    /// What is done through variable pointers.
    pub pointed: Addressing,
    /// How what such pointers point to lies in memory, by its type; where it is or was part of a matrix.
    pub pointed_layouts: BTreeMap<Id, Arrangement>,
    /// In which order determinants are computed.
    pub expansion: Expansion,
    /// Private variables with their initial values.
    initializers: Vec<(Pointer, Id)>,
    /// Operands of the instructions in functions; asked for by few modules.
    used: OnceCell<HashSet<Id>>,
}

/// Decodes the entry point `entry` under a specialization.
pub fn decode(
    module: &Module,
    entry: &str,
    specialization: &BTreeMap<u32, u64>,
    markers: Option<&MarkerTable>,
    known: &Known,
) -> Result<Program, Unsupported> {
    let entry = module.entry_point(entry).ok_or_else(|| unsupported(format!("entry point `{entry}` (not found)")))?;
    if entry.model != rspirv::spirv::ExecutionModel::GLCompute {
        return Err(unsupported(format!("execution model {:?}", entry.model)));
    }
    check_declarations(module)?;
    let mut types = Types::of(module);
    let constants =
        Constants::evaluate(module, &types, specialization).map_err(|error| unsupported(error.to_string()))?;
    let subgroup_size = known.subgroup_size.unwrap_or(super::settings::Settings::default().subgroup_size);
    ops::cooperative_matrix::share(&mut types, &constants, subgroup_size)?;
    let mut decoder = Decoder::new(module, types, constants, markers);
    decoder.program.local_size = decoder.local_size(entry.function)?;
    check_local_size(decoder.program.local_size)?;
    decoder.subgroup_size = subgroup_size;
    decoder.floats = Floats::of(module, entry.function);
    decoder.bound = known.bound.clone();
    if let Some(variation) = known.variation {
        decoder.program.freedom = Freedom::of(module, entry.function);
        decoder.expansion = variation.expansion;
    }
    let start = decoder.new_label();
    decoder.inline(start, entry.function, Vec::new(), None, Arc::new([]))?;
    decoder.complete(known)
}

/// Capabilities whose features the engine has; the instructions they bring are checked one by one.
pub const CAPABILITIES: &[Capability] = &[
    Capability::Matrix,
    Capability::Shader,
    Capability::ImageQuery,
    Capability::Sampled1D,
    Capability::Image1D,
    Capability::SampledBuffer,
    Capability::ImageBuffer,
    Capability::SampledCubeArray,
    Capability::ImageCubeArray,
    Capability::StorageImageMultisample,
    Capability::ImageMSArray,
    Capability::StorageImageExtendedFormats,
    Capability::StorageImageReadWithoutFormat,
    Capability::StorageImageWriteWithoutFormat,
    Capability::ImageGatherExtended,
    Capability::Int64ImageEXT,
    Capability::SampledImageArrayDynamicIndexing,
    Capability::StorageImageArrayDynamicIndexing,
    Capability::UniformTexelBufferArrayDynamicIndexing,
    Capability::StorageTexelBufferArrayDynamicIndexing,
    Capability::ShaderNonUniform,
    Capability::SampledImageArrayNonUniformIndexing,
    Capability::StorageImageArrayNonUniformIndexing,
    Capability::UniformTexelBufferArrayNonUniformIndexing,
    Capability::StorageTexelBufferArrayNonUniformIndexing,
    Capability::StorageBufferArrayDynamicIndexing,
    Capability::UniformBufferArrayDynamicIndexing,
    Capability::VulkanMemoryModel,
    Capability::VulkanMemoryModelDeviceScope,
    Capability::SignedZeroInfNanPreserve,
    Capability::RoundingModeRTE,
    Capability::RoundingModeRTZ,
    Capability::DenormPreserve,
    Capability::DenormFlushToZero,
    Capability::FloatControls2,
    Capability::PhysicalStorageBufferAddresses,
    Capability::RuntimeDescriptorArray,
    Capability::StorageBufferArrayNonUniformIndexing,
    Capability::UniformBufferArrayNonUniformIndexing,
    Capability::WorkgroupMemoryExplicitLayoutKHR,
    Capability::WorkgroupMemoryExplicitLayout8BitAccessKHR,
    Capability::WorkgroupMemoryExplicitLayout16BitAccessKHR,
    Capability::CooperativeMatrixKHR,
    Capability::BFloat16TypeKHR,
    Capability::BFloat16DotProductKHR,
    Capability::BFloat16CooperativeMatrixKHR,
    Capability::VariablePointers,
    Capability::VariablePointersStorageBuffer,
    Capability::DotProduct,
    Capability::DotProductInputAll,
    Capability::DotProductInput4x8Bit,
    Capability::DotProductInput4x8BitPacked,
    Capability::ExpectAssumeKHR,
    Capability::Int8,
    Capability::Int16,
    Capability::Int64,
    Capability::Float16,
    Capability::Float64,
    Capability::Int64Atomics,
    Capability::StorageBuffer8BitAccess,
    Capability::UniformAndStorageBuffer8BitAccess,
    Capability::StoragePushConstant8,
    Capability::StorageBuffer16BitAccess,
    Capability::UniformAndStorageBuffer16BitAccess,
    Capability::StoragePushConstant16,
    Capability::AtomicFloat32AddEXT,
    Capability::AtomicFloat64AddEXT,
    Capability::AtomicFloat32MinMaxEXT,
    Capability::AtomicFloat64MinMaxEXT,
    Capability::GroupNonUniform,
    Capability::GroupNonUniformVote,
    Capability::GroupNonUniformArithmetic,
    Capability::GroupNonUniformBallot,
    Capability::GroupNonUniformShuffle,
    Capability::GroupNonUniformShuffleRelative,
    Capability::GroupNonUniformClustered,
    Capability::GroupNonUniformQuad,
    Capability::GroupNonUniformRotateKHR,
    Capability::QuadControlKHR,
    Capability::SubgroupBallotKHR,
    Capability::SubgroupVoteKHR,
    Capability::GroupNonUniformPartitionedEXT,
    Capability::UntypedPointersKHR,
];

/// A workgroup has from one to [`MOST_INVOCATIONS`] invocations.
fn check_local_size(size: [u32; 3]) -> Result<(), Unsupported> {
    let invocations: u128 = size.iter().map(|size| u128::from(*size)).product();
    if (1..=u128::from(MOST_INVOCATIONS)).contains(&invocations) {
        return Ok(());
    }
    let [x, y, z] = size;
    Err(unsupported(format!(
        "a local size of {x} x {y} x {z} (the engine runs workgroups of 1 to {MOST_INVOCATIONS} invocations)"
    )))
}

fn check_declarations(module: &Module) -> Result<(), Unsupported> {
    for instruction in module.instructions.iter().take_while(|instruction| instruction.op != Op::Function) {
        if let (Op::Capability, Some(Operand::Capability(capability))) = (instruction.op, instruction.operands.first())
            && !CAPABILITIES.contains(capability)
        {
            return Err(unsupported(format!("capability {capability:?}")));
        }
        supported(instruction.op)?;
    }
    Ok(())
}

/// Whether the table of opcodes has it as the engine's own.
fn supported(op: Op) -> Result<(), Unsupported> {
    match opcodes::support(op) {
        Support::Engine => Ok(()),
        Support::Not(why) => Err(unsupported(format!("Op{op:?} ({why})"))),
    }
}

/// How device addresses of blocks must be aligned.
#[derive(Debug, Default)]
pub struct References {
    /// By name of the block, as the source text that the module carries says; none before anybody asks.
    declared: Option<BTreeMap<String, u32>>,
    /// By the low word of an address that leads to a block.
    pub alignments: HashMap<Reg, u32>,
}

impl<'a> Decoder<'a> {
    fn new(module: &'a Module, types: Types, constants: Constants, markers: Option<&'a MarkerTable>) -> Self {
        Self {
            module,
            types,
            constants,
            markers,
            bound: BTreeMap::new(),
            rows: ops::rows(),
            program: Program { granule: 4, ..Program::default() },
            frames: Vec::new(),
            globals: HashMap::new(),
            addressed: addressed(module),
            with_barrier: functions_with_barrier(module),
            steps: Vec::new(),
            total_steps: 0,
            label: 0,
            next_label: 0,
            place: 0,
            floats: Floats::default(),
            references: References::default(),
            uniforms: BTreeMap::new(),
            uniform_masks: BTreeMap::new(),
            per_lane: BTreeMap::new(),
            emitted: Vec::new(),
            sums: BTreeMap::new(),
            descriptor_numbers: BTreeMap::new(),
            compared: BTreeMap::new(),
            comparisons: HashMap::new(),
            written: BTreeSet::new(),
            atomics: BTreeSet::new(),
            workgroup_places: Vec::new(),
            subgroup_size: 0,
            pointed: Addressing::Reads,
            pointed_layouts: BTreeMap::new(),
            expansion: Expansion::default(),
            initializers: Vec::new(),
            used: OnceCell::new(),
        }
    }

    fn local_size(&self, entry: Id) -> Result<[u32; 3], Unsupported> {
        let declared = LocalSize::of(self.module, entry);
        let declared = declared.ok_or_else(|| unsupported("an entry point without a local size"))?;
        declared.words(&self.constants).ok_or_else(|| match declared {
            LocalSize::WorkgroupSize(_) => unsupported("a WorkgroupSize that is no constant"),
            LocalSize::Constants(_) | LocalSize::Literals(_) => unsupported("a LocalSizeId that is no constant"),
        })
    }

    // ---- registers ----

    /// Whether some instruction of a function has this result as an operand.
    pub fn is_used(&self, result: Id) -> bool {
        let bodies =
            self.module.functions.iter().flat_map(|function| &self.module.instructions[function.range.clone()]);
        self.used.get_or_init(|| bodies.flat_map(Instruction::ids).collect()).contains(&result)
    }

    pub fn word(&mut self) -> Reg {
        self.program.words += 1;
        Reg(self.program.words - 1)
    }

    pub fn mask(&mut self) -> Reg {
        self.program.masks += 1;
        Reg(self.program.masks - 1)
    }

    pub fn scalar(&mut self, kind: Kind) -> Scalar {
        match kind {
            Kind::Word => Scalar::Word(self.word()),
            Kind::Mask => Scalar::Mask(self.mask()),
        }
    }

    /// Fresh registers for a value of a type.
    pub fn fresh(&mut self, ty: Id) -> Result<Arc<[Scalar]>, Unsupported> {
        let kinds = self.kinds(ty)?;
        Ok(kinds.iter().map(|kind| self.scalar(*kind)).collect())
    }

    pub fn kinds(&self, ty: Id) -> Result<Vec<Kind>, Unsupported> {
        let kinds = layout::kinds(&self.types, &self.constants, ty)?;
        if kinds.len() > MOST_SCALARS {
            return Err(unsupported(format!("a value of {} scalars", kinds.len())));
        }
        Ok(kinds)
    }

    pub fn uniform(&mut self, uniform: Uniform) -> Reg {
        if let Some(reg) = self.uniforms.get(&uniform) {
            return *reg;
        }
        let reg = self.word();
        self.uniforms.insert(uniform, reg);
        reg
    }

    pub fn constant_word(&mut self, value: u32) -> Reg {
        self.uniform(Uniform::Constant(value))
    }

    pub fn constant_mask(&mut self, value: bool) -> Reg {
        if let Some(reg) = self.uniform_masks.get(&value) {
            return *reg;
        }
        let reg = self.mask();
        self.uniform_masks.insert(value, reg);
        reg
    }

    pub fn lane_register(&mut self, what: PerLane) -> Reg {
        if let Some(reg) = self.per_lane.get(&what) {
            return *reg;
        }
        let reg = self.word();
        self.per_lane.insert(what, reg);
        reg
    }

    /// The sum register of a decision with several conditions.
    pub fn sum(&mut self, slot: u32) -> Reg {
        if let Some(reg) = self.sums.get(&slot) {
            return *reg;
        }
        let reg = self.word();
        self.sums.insert(slot, reg);
        reg
    }

    // ---- values ----

    pub fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("decoding happens inside a function")
    }

    pub fn depth(&self) -> usize {
        self.frames.len()
    }

    pub fn define(&mut self, instruction: &Instruction, value: Value) {
        if let Some(id) = instruction.result {
            self.frame().values.insert(id, value);
        }
    }

    pub fn value(&mut self, id: Id) -> Result<Value, Unsupported> {
        if let Some(value) = self.frames.last().and_then(|frame| frame.values.get(&id)) {
            return Ok(value.clone());
        }
        if let Some(value) = self.globals.get(&id) {
            return Ok(value.clone());
        }
        let value = self.global(id)?;
        self.globals.insert(id, value.clone());
        Ok(value)
    }

    /// A constant, an undefined value or a variable at module scope.
    fn global(&mut self, id: Id) -> Result<Value, Unsupported> {
        let module = self.module;
        let instruction = module.definition(id).ok_or_else(|| unsupported(format!("the undefined id %{id}")))?;
        if matches!(instruction.op, Op::Variable | Op::UntypedVariableKHR) {
            return Ok(Value::Pointer(self.variable(instruction)?));
        }
        let (Some(value), Some(ty)) = (self.constants.value(id).cloned(), instruction.result_type) else {
            return Err(unsupported(format!("Op{:?} as an operand", instruction.op)));
        };
        if value == ConstantValue::Undef
            && let Some(value) = ops::composite::undefined_opaque(self, ty)
        {
            return Ok(value);
        }
        let mut scalars = Vec::new();
        self.constant(&value, ty, &mut scalars)?;
        Ok(Value::Scalars(scalars.into()))
    }

    fn constant(&mut self, value: &ConstantValue, ty: Id, into: &mut Vec<Scalar>) -> Result<(), Unsupported> {
        let kinds = self.kinds(ty)?;
        match value {
            ConstantValue::Scalar(bits) => {
                into.push(Scalar::Word(self.constant_word(*bits as u32)));
                if kinds.len() == 2 {
                    into.push(Scalar::Word(self.constant_word((bits >> 32) as u32)));
                }
            }
            ConstantValue::Bool(value) => into.push(Scalar::Mask(self.constant_mask(*value))),
            ConstantValue::Null => {
                for kind in kinds {
                    into.push(match kind {
                        Kind::Word => Scalar::Word(self.constant_word(0)),
                        Kind::Mask => Scalar::Mask(self.constant_mask(false)),
                    });
                }
            }
            ConstantValue::Undef => {
                for kind in kinds {
                    let scalar = self.scalar(kind);
                    match scalar {
                        Scalar::Word(reg) => self.program.undefined_words.push(reg),
                        Scalar::Mask(reg) => self.program.undefined_masks.push(reg),
                    }
                    into.push(scalar);
                }
            }
            ConstantValue::Composite(parts) if matches!(self.types.get(ty), Some(Type::CooperativeMatrix { .. })) => {
                let mut one = Vec::new();
                for part in parts {
                    let inner = self.types.component(ty, 0);
                    self.constant(part, inner.ok_or_else(|| unsupported("a matrix without elements"))?, &mut one)?;
                }
                // One constituent stands for all elements.
                let times = kinds.len() / one.len().max(1);
                into.extend(one.repeat(times));
            }
            ConstantValue::Composite(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    let inner = self.types.component(ty, index as u32);
                    let inner = inner.ok_or_else(|| unsupported("a constant whose type does not match"))?;
                    self.constant(part, inner, into)?;
                }
            }
        }
        Ok(())
    }

    pub fn scalars(&mut self, id: Id) -> Result<Arc<[Scalar]>, Unsupported> {
        match self.value(id)? {
            Value::Scalars(scalars) => Ok(scalars),
            Value::Pointer(pointer) => crate::exec::sequential::decode::ops::pointer::as_address(self, &pointer),
            Value::Opaque(_) => Err(unsupported("an image or sampler where a number is expected")),
        }
    }

    pub fn words(&mut self, id: Id) -> Result<Vec<Reg>, Unsupported> {
        self.scalars(id)?
            .iter()
            .map(|scalar| match scalar {
                Scalar::Word(reg) => Ok(*reg),
                Scalar::Mask(_) => Err(unsupported("a Boolean where a number is expected")),
            })
            .collect()
    }

    pub fn masks(&mut self, id: Id) -> Result<Vec<Reg>, Unsupported> {
        self.scalars(id)?
            .iter()
            .map(|scalar| match scalar {
                Scalar::Mask(reg) => Ok(*reg),
                Scalar::Word(_) => Err(unsupported("a number where a Boolean is expected")),
            })
            .collect()
    }

    pub fn pointer(&mut self, id: Id) -> Result<Pointer, Unsupported> {
        match self.value(id)? {
            Value::Pointer(pointer) => Ok(pointer),
            Value::Scalars(_) => crate::exec::sequential::decode::ops::pointer::from_address(self, id),
            Value::Opaque(_) => Err(unsupported("an image or sampler as a pointer")),
        }
    }

    pub fn opaque(&mut self, id: Id) -> Result<Opaque, Unsupported> {
        match self.value(id)? {
            Value::Opaque(opaque) => Ok(opaque),
            Value::Pointer(_) | Value::Scalars(_) => Err(unsupported("a value that is no image or sampler")),
        }
    }

    /// The name of a variable, for messages.
    pub fn name(&self, id: Id) -> Arc<str> {
        match self.module.name(id).filter(|name| !name.is_empty()) {
            Some(name) => name.into(),
            None => format!("%{id}").into(),
        }
    }

    // ---- variables ----

    /// The pointer that an OpVariable gives; function variables get fresh storage each time.
    pub fn variable(&mut self, instruction: &Instruction) -> Result<Pointer, Unsupported> {
        let id = instruction.result.expect("OpVariable has a result");
        let Some((storage, pointee)) = self.types.variable(instruction) else {
            return Err(unsupported(format!("Op{:?} without the type of what it holds", instruction.op)));
        };
        let to = match storage {
            StorageClass::Input => self.input(id)?,
            StorageClass::Uniform | StorageClass::StorageBuffer => match self.types.get(pointee) {
                Some(Type::Array { length, .. }) => {
                    let length = layout::elements_of(&self.constants, *length)?;
                    Location::Descriptors { variable: id, length }
                }
                Some(Type::RuntimeArray { .. }) => {
                    Location::Descriptors { variable: id, length: self.bound_length(id) }
                }
                _ => self.descriptor(id, 0),
            },
            StorageClass::UniformConstant => crate::exec::sequential::decode::ops::image::variable(self, id, pointee)?,
            StorageClass::PushConstant => self.memory(Root::PushConstant, 0, Arrangement::Explicit(None), id),
            StorageClass::Workgroup => return self.workgroup_variable(instruction, pointee),
            StorageClass::Private | StorageClass::Function if instruction.op == Op::UntypedVariableKHR => {
                return Err(unsupported(format!("an untyped variable in storage class {storage:?}")));
            }
            StorageClass::Private | StorageClass::Function => return self.own_variable(instruction, storage, pointee),
            other => return Err(unsupported(format!("storage class {other:?}"))),
        };
        if initializer(instruction).is_some() {
            return Err(unsupported(format!("an initializer of a variable in storage class {storage:?}")));
        }
        Ok(Pointer { to, ty: pointee })
    }

    /// A variable in workgroup memory: one word per scalar, or laid out by its decorations where it is a block.
    fn workgroup_variable(&mut self, instruction: &Instruction, pointee: Id) -> Result<Pointer, Unsupported> {
        let id = instruction.result.expect("OpVariable has a result");
        let is_block =
            matches!(self.types.get(pointee), Some(Type::Structure { block, .. }) if *block != BlockKind::None);
        let explicit = is_block || instruction.op == Op::UntypedVariableKHR;
        let (base, words, arrangement) = if explicit {
            // All blocks lie over each other (SPV_KHR_workgroup_memory_explicit_layout).
            let bytes = self.types.byte_size(pointee, None, &self.constants);
            let bytes = bytes.map_err(|error| unsupported(format!("a layout in workgroup memory: {error}")))?;
            let base = if is_block { 0 } else { self.program.workgroup_words };
            (base, u32::try_from(bytes.div_ceil(4)).unwrap_or(u32::MAX), Arrangement::Explicit(None))
        } else {
            let words = layout::flat_size(&self.types, &self.constants, pointee)?;
            (self.program.workgroup_words, words, Arrangement::Flat)
        };
        let end = base.checked_add(words).filter(|words| *words < 1 << 30);
        let end = end.ok_or_else(|| unsupported("workgroup memory of 4 GiB"))?;
        self.program.workgroup_words = self.program.workgroup_words.max(end);
        self.program.workgroup_variables.push(Expanded { name: self.name(id).to_string(), scalars: words });
        self.workgroup_places.push([base * 4, if is_block { u32::MAX } else { words }]);
        if let Some(initializer) = initializer(instruction) {
            let zero = [ConstantValue::Null, ConstantValue::Scalar(0), ConstantValue::Bool(false)];
            if !self.constants.value(initializer).is_some_and(|value| zero.contains(value)) {
                return Err(unsupported("an initializer of a variable in storage class Workgroup"));
            }
            self.program.workgroup_zeroed.push(base..end);
        }
        Ok(Pointer { to: self.memory(Root::Workgroup, base * 4, arrangement, id), ty: pointee })
    }

    fn memory(&self, root: Root, base: u32, arrangement: Arrangement, id: Id) -> Location {
        Location::Memory { root, base, dimensions: Vec::new(), arrangement, name: self.name(id) }
    }

    /// One descriptor of a variable, by its index in the program.
    pub fn descriptor_index(&mut self, variable: Id, array_index: u32, kept: Kept) -> u32 {
        let descriptor = Descriptor {
            set: self.number_of(variable, Decoration::DescriptorSet),
            binding: self.number_of(variable, Decoration::Binding),
            array_index,
            name: self.block_name(variable),
            kept,
            written: false,
            atomics: false,
            exclusive: self.exclusive(variable),
            may_be_unbound: false,
        };
        let key = (descriptor.set, descriptor.binding, array_index, descriptor.name.clone());
        let descriptors = &mut self.program.descriptors;
        *self.descriptor_numbers.entry(key).or_insert_with(|| {
            descriptors.push(descriptor);
            descriptors.len() as u32 - 1
        })
    }

    /// Whether a variable, or a member of its block, is `restrict`; compilers put the decoration on either.
    fn exclusive(&self, variable: Id) -> Exclusive {
        let held = self.module.definition(variable).and_then(|one| self.types.variable(one)).map(|(_, ty)| ty);
        let block = held.map(|ty| match self.types.get(ty) {
            Some(Type::Array { element, .. } | Type::RuntimeArray { element, .. }) => *element,
            Some(_) | None => ty,
        });
        let members = block.and_then(|block| Some((block, self.types.get(block)?)));
        let of_member = members.is_some_and(|(block, ty)| match ty {
            Type::Structure { members, .. } => (0..members.len() as u32)
                .any(|member| self.module.member_decoration(block, member, Decoration::Restrict).is_some()),
            _ => false,
        });
        match of_member || self.module.decoration(variable, Decoration::Restrict).is_some() {
            true => Exclusive::Declared,
            false => Exclusive::No,
        }
    }

    /// The location of one descriptor of a buffer variable.
    pub fn descriptor(&mut self, variable: Id, array_index: u32) -> Location {
        let index = self.descriptor_index(variable, array_index, Kept::Buffer);
        let name: Arc<str> = self.program.descriptors[index as usize].name.as_str().into();
        Location::Memory {
            root: Root::Descriptor(index),
            base: 0,
            dimensions: Vec::new(),
            arrangement: Arrangement::Explicit(None),
            name,
        }
    }

    /// Descriptors of a runtime array: up to the last that is bound.
    pub fn bound_length(&self, variable: Id) -> u32 {
        let decorated = |decoration| self.number_of(variable, decoration);
        let place = (decorated(Decoration::DescriptorSet), decorated(Decoration::Binding));
        self.bound.get(&place).copied().unwrap_or(0)
    }

    /// A number that decorates a variable; 0 where none does.
    fn number_of(&self, variable: Id, decoration: Decoration) -> u32 {
        match self.module.decoration(variable, decoration).and_then(|decorated| decorated.operands.first()) {
            Some(Operand::LiteralBit32(value)) => *value,
            _ => 0,
        }
    }

    /// The location behind an index that is not known yet: all descriptors stand one after the other.
    pub fn any_descriptor(&mut self, variable: Id, length: u32, index: Reg) -> Result<Location, Unsupported> {
        let mut places = Vec::new();
        for array_index in 0..length {
            let Location::Memory { root: Root::Descriptor(place), name, .. } = self.descriptor(variable, array_index)
            else {
                return Err(unsupported("an array of descriptors of no buffers"));
            };
            places.push((place, name));
        }
        let Some((first, name)) = places.first().cloned() else {
            return Err(unsupported("an array of descriptors, none of which is bound"));
        };
        if places.iter().zip(first..).any(|((place, _), due)| *place != due) {
            return Err(unsupported("an array of descriptors, some of which were used before it was indexed"));
        }
        for (place, _) in &places {
            self.program.descriptors[*place as usize].may_be_unbound = true;
        }
        let root = Root::Descriptors { first, length, index };
        Ok(Location::Memory { root, base: 0, dimensions: Vec::new(), arrangement: Arrangement::Explicit(None), name })
    }

    /// The instance name of a block, or the block's own where it has none.
    fn block_name(&self, variable: Id) -> String {
        if let Some(name) = self.module.name(variable).filter(|name| !name.is_empty()) {
            return name.to_owned();
        }
        let held = self.module.definition(variable).and_then(|one| self.types.variable(one));
        held.map_or_else(|| format!("%{variable}"), |(_, ty)| self.types.name(ty))
    }

    fn input(&mut self, id: Id) -> Result<Location, Unsupported> {
        let builtin = self.module.decoration(id, Decoration::BuiltIn).and_then(|decorated| decorated.operands.first());
        let Some(Operand::BuiltIn(builtin)) = builtin else {
            return Err(unsupported("an input variable that is no built-in"));
        };
        let axes = [0u8, 1, 2];
        let registers: Vec<Reg> = match builtin {
            BuiltIn::GlobalInvocationId => axes.map(|axis| self.lane_register(PerLane::GlobalId(axis))).to_vec(),
            BuiltIn::LocalInvocationId => axes.map(|axis| self.lane_register(PerLane::LocalId(axis))).to_vec(),
            BuiltIn::LocalInvocationIndex => vec![self.lane_register(PerLane::LocalIndex)],
            BuiltIn::WorkgroupId => axes.map(|axis| self.uniform(Uniform::WorkgroupId(axis))).to_vec(),
            BuiltIn::NumWorkgroups => axes.map(|axis| self.uniform(Uniform::NumWorkgroups(axis))).to_vec(),
            BuiltIn::SubgroupSize => vec![self.uniform(Uniform::SubgroupSize)],
            BuiltIn::NumSubgroups => vec![self.uniform(Uniform::NumSubgroups)],
            BuiltIn::SubgroupId => vec![self.lane_register(PerLane::SubgroupId)],
            BuiltIn::SubgroupLocalInvocationId => vec![self.lane_register(PerLane::SubgroupInvocation)],
            BuiltIn::SubgroupEqMask => self.subgroup_mask(SubgroupMask::Equal),
            BuiltIn::SubgroupGeMask => self.subgroup_mask(SubgroupMask::AtLeast),
            BuiltIn::SubgroupGtMask => self.subgroup_mask(SubgroupMask::Above),
            BuiltIn::SubgroupLeMask => self.subgroup_mask(SubgroupMask::AtMost),
            BuiltIn::SubgroupLtMask => self.subgroup_mask(SubgroupMask::Below),
            other => return Err(unsupported(format!("BuiltIn {other:?}"))),
        };
        Ok(Location::Constant(registers.into_iter().map(Scalar::Word).collect()))
    }

    fn subgroup_mask(&mut self, mask: SubgroupMask) -> Vec<Reg> {
        [0, 1, 2, 3].map(|word| self.lane_register(PerLane::SubgroupMask(mask, word))).to_vec()
    }

    /// A private or function variable: registers where no index is dynamic, else memory of the invocation.
    fn own_variable(
        &mut self,
        instruction: &Instruction,
        storage: StorageClass,
        ty: Id,
    ) -> Result<Pointer, Unsupported> {
        let id = instruction.result.expect("OpVariable has a result");
        let scalars = layout::flat_size(&self.types, &self.constants, ty)?;
        self.program.expanded.push(Expanded { name: self.name(id).to_string(), scalars });
        let pointer = if self.addressed.contains(&id) || scalars as usize > MOST_EXPANDED {
            let base = self.program.invocation_words;
            self.program.invocation_words = base
                .checked_add(scalars)
                .filter(|words| *words < 1 << 28)
                .ok_or_else(|| unsupported("invocation memory of more than 1 GiB"))?;
            if storage == StorageClass::Function {
                self.push(Action::UndefineMemory { base, words: scalars });
            }
            Pointer { to: self.memory(Root::Invocation, base * 4, Arrangement::Flat, id), ty }
        } else {
            let registers = self.fresh(ty)?;
            for scalar in registers.iter() {
                match (storage, scalar) {
                    (StorageClass::Function, Scalar::Word(reg)) => self.push(Action::Undefine { to: *reg }),
                    (StorageClass::Function, Scalar::Mask(reg)) => self.push(Action::UndefineMask { to: *reg }),
                    (_, Scalar::Word(reg)) => self.program.undefined_words.push(*reg),
                    (_, Scalar::Mask(reg)) => self.program.undefined_masks.push(*reg),
                }
            }
            Pointer { to: Location::Registers(registers), ty }
        };
        if let Some(initializer) = instruction.id(1) {
            if storage == StorageClass::Function {
                let value = self.scalars(initializer)?;
                crate::exec::sequential::decode::ops::memory::store_to(self, &pointer, &value)?;
            } else {
                self.initializers.push((pointer.clone(), initializer));
            }
        }
        Ok(pointer)
    }

    /// Private variables with initial values start with them: a block before the entry point's first.
    fn entry_initializers(&mut self) -> Result<(), Unsupported> {
        let module = self.module;
        for instruction in module.instructions.iter().take_while(|instruction| instruction.op != Op::Function) {
            if let (Op::Variable, Some(id), Some(_)) = (instruction.op, instruction.result, instruction.id(1)) {
                self.value(id)?;
            }
        }
        if self.initializers.is_empty() {
            return Ok(());
        }
        let label = self.new_label();
        self.begin(label);
        for (pointer, initializer) in std::mem::take(&mut self.initializers) {
            let value = self.scalars(initializer)?;
            crate::exec::sequential::decode::ops::memory::store_to(self, &pointer, &value)?;
        }
        let first = self.frame().block;
        let to = self.frame().labels[&first];
        self.finish(Terminator::Jump { to });
        Ok(())
    }

    // ---- blocks ----

    /// Notes that an address leads to a block of a type, which may say how such addresses are aligned.
    pub fn note_reference(&mut self, address: Reg, block: Id) {
        let module = self.module;
        let declared = self.references.declared.get_or_insert_with(|| {
            let texts = crate::exec::sequential::print::source_lines::source_texts(module);
            texts.values().flat_map(|text| crate::glsl::reference_alignments(text)).collect()
        });
        let bytes = match self.types.get(block) {
            Some(Type::Structure { name: Some(name), .. }) => declared.get(name).copied(),
            _ => None,
        };
        match bytes {
            Some(bytes) => drop(self.references.alignments.insert(address, bytes.max(1))),
            None => drop(self.references.alignments.remove(&address)),
        }
    }

    /// The instruction that is decoded.
    pub fn instruction(&self) -> Option<&Instruction> {
        self.module.instructions.get(self.place as usize)
    }

    pub fn push(&mut self, action: Action) {
        self.steps.push(Step { action, place: self.place, suspects: Box::default(), may_be_undefined: false });
        self.total_steps += 1;
    }

    pub fn new_label(&mut self) -> u32 {
        self.next_label += 1;
        self.next_label - 1
    }

    pub fn begin(&mut self, label: u32) {
        self.label = label;
    }

    pub fn finish(&mut self, terminator: Terminator) {
        let steps = std::mem::take(&mut self.steps);
        let label = self.frames.last().map_or(0, |frame| frame.block);
        self.emitted.push(self.label);
        self.program.blocks.push(Block { steps, terminator, place: self.place, suspects: Box::default(), label });
    }

    /// Ends the block at a barrier.
    pub fn barrier(&mut self, fences: Fences) {
        let frame = self.frames.last().expect("decoding happens inside a function");
        let position = frame.positions[&frame.block];
        let mut counters = frame.around.clone();
        counters.extend(frame.loops.iter().filter(|(_, range, _)| range.contains(&position)).map(|(_, _, reg)| *reg));
        let barrier = self.program.barriers.len() as u32;
        self.program.barriers.push(Barrier { place: self.place, fences, counters: counters.into() });
        let to = self.new_label();
        self.finish(Terminator::Barrier { barrier, to });
        self.begin(to);
    }

    /// Ends the block by a return.
    pub fn return_from(&mut self, value: Option<Id>) -> Result<(), Unsupported> {
        if let Some(value) = value {
            let from = self.scalars(value)?;
            let to = self.frame().result.clone();
            self.copy_all(&to, &from)?;
        }
        let terminator = match self.frame().return_to {
            Some(to) => Terminator::Jump { to },
            None => Terminator::End,
        };
        self.finish(terminator);
        Ok(())
    }

    /// Copies one by one; `to` and `from` must not overlap.
    pub fn copy_all(&mut self, to: &[Scalar], from: &[Scalar]) -> Result<(), Unsupported> {
        for (to, from) in to.iter().zip(from) {
            let action = match (to, from) {
                (Scalar::Word(to), Scalar::Word(from)) => Action::Copy { to: *to, from: *from },
                (Scalar::Mask(to), Scalar::Mask(from)) => Action::CopyMask { to: *to, from: *from },
                _ => return Err(unsupported("a copy between numbers and Booleans")),
            };
            self.push(action);
        }
        Ok(())
    }

    /// Inlines a function at label `start`: `arguments` by parameter, `result` receives the returned value.
    pub fn inline(
        &mut self,
        start: u32,
        function: Id,
        arguments: Vec<Value>,
        return_to: Option<u32>,
        result: Arc<[Scalar]>,
    ) -> Result<(), Unsupported> {
        if self.frames.len() >= MOST_CALLS {
            return Err(unsupported("calls nested deeper than 200, or recursion"));
        }
        let module = self.module;
        let body = module.function(function).ok_or_else(|| unsupported(format!("the missing function %{function}")))?;
        let order = block_order::structured(module, body);
        let first = *order.first().ok_or_else(|| unsupported(format!("the function %{function} without a body")))?;
        let positions: HashMap<Id, usize> = order.iter().enumerate().map(|(at, label)| (*label, at)).collect();
        let around = self.counters_here();
        let mut frame = Frame {
            values: body.parameters.iter().copied().zip(arguments).collect(),
            labels: HashMap::new(),
            positions,
            blocks: body.blocks.iter().enumerate().map(|(at, block)| (block.label, at)).collect(),
            loops: Vec::new(),
            return_to,
            result,
            block: first,
            around,
            phis: HashMap::new(),
        };
        for (at, label) in order.iter().enumerate() {
            let new = if at == 0 { start } else { self.new_label() };
            frame.labels.insert(*label, new);
        }
        self.frames.push(frame);
        self.prepare(body, &order)?;
        if self.frames.len() == 1 {
            self.entry_initializers()?;
        }
        for label in &order {
            self.block(body, *label)?;
        }
        self.frames.pop();
        Ok(())
    }

    /// A block of the function being inlined.
    fn block_of<'b>(&self, body: &'b Function, label: Id) -> Option<&'b module::Block> {
        body.blocks.get(*self.frames.last()?.blocks.get(&label)?)
    }

    fn counters_here(&self) -> Vec<Reg> {
        let Some(frame) = self.frames.last() else { return Vec::new() };
        let position = frame.positions[&frame.block];
        let mut counters = frame.around.clone();
        counters.extend(frame.loops.iter().filter(|(_, range, _)| range.contains(&position)).map(|(_, _, reg)| *reg));
        counters
    }

    /// Makes the registers of phis and the iteration counters of loops with barriers.
    fn prepare(&mut self, body: &Function, order: &[Id]) -> Result<(), Unsupported> {
        let module = self.module;
        let mut loops = Vec::new();
        for label in order {
            let Some(block) = self.block_of(body, *label) else { continue };
            for instruction in &module.instructions[block.range.clone()] {
                match instruction.op {
                    Op::Phi => {
                        let (Some(ty), Some(id)) = (instruction.result_type, instruction.result) else { continue };
                        let registers = self.fresh(ty)?;
                        self.frame().values.insert(id, Value::Scalars(registers));
                        self.frame().phis.entry(*label).or_default().push(id);
                    }
                    Op::LoopMerge => loops.extend(instruction.id(0).map(|merge| (*label, merge))),
                    _ => {}
                }
            }
        }
        for (header, merge) in loops {
            let positions = &self.frame().positions;
            let range = positions[&header]..positions.get(&merge).copied().unwrap_or(order.len());
            if range.is_empty() {
                return Err(unsupported("a loop whose merge block comes before it"));
            }
            if order[range.clone()].iter().any(|label| self.block_has_barrier(body, *label)) {
                let counter = self.word();
                self.frame().loops.push((header, range, counter));
            }
        }
        Ok(())
    }

    fn block_has_barrier(&self, body: &Function, label: Id) -> bool {
        let Some(block) = self.block_of(body, label) else { return false };
        self.module.instructions[block.range.clone()].iter().any(|instruction| match instruction.op {
            Op::ControlBarrier => ops::synchronization::holds_workgroup(self.module, instruction),
            Op::FunctionCall => instruction.id(0).is_some_and(|callee| self.with_barrier.contains(&callee)),
            _ => false,
        })
    }

    fn block(&mut self, body: &Function, label: Id) -> Result<(), Unsupported> {
        let module = self.module;
        self.frame().block = label;
        let start = self.frame().labels[&label];
        self.begin(start);
        let Some(block) = self.block_of(body, label) else {
            return Err(unsupported(format!("the missing block %{label}")));
        };
        for index in block.range.clone() {
            self.place = index as u32;
            let instruction = &module.instructions[index];
            if self.total_steps > MOST_STEPS {
                return Err(unsupported(format!("a kernel of more than {MOST_STEPS} steps after inlining")));
            }
            supported(instruction.op)?;
            self.floats.enter(module, &self.types, instruction);
            let meaning = self.rows.get(&instruction.op).copied();
            let meaning = meaning.ok_or_else(|| unsupported(format!("Op{:?} in a function", instruction.op)))?;
            ops::decode(self, instruction, &meaning)?;
            if is_terminator(instruction.op) {
                break;
            }
        }
        Ok(())
    }

    /// Where a branch from the current block to `target` goes: through a block of copies where `target` has phis or
    /// begins a counted loop. `edges` collects those blocks.
    pub fn edge(&mut self, target: Id, edges: &mut Vec<(u32, Vec<Action>, u32)>) -> Result<u32, Unsupported> {
        let module = self.module;
        let from = self.frame().block;
        let to = self.frame().labels.get(&target).copied();
        let to = to.ok_or_else(|| unsupported(format!("a branch to %{target}, which is no block of the function")))?;
        let mut actions = Vec::new();
        let here = self.frame().positions[&from];
        let counter = self.frame().loops.iter().find(|(header, _, _)| *header == target).cloned();
        if let Some((_, range, counter)) = counter {
            actions.push(if range.contains(&here) {
                Action::LoopNext { counter }
            } else {
                Action::LoopReset { counter }
            });
        }
        let mut copies: Vec<(Scalar, Scalar)> = Vec::new();
        for phi in self.frame().phis.get(&target).cloned().unwrap_or_default() {
            let instruction = module.definition(phi).expect("phis were collected from the module");
            let pairs: Vec<Id> = instruction.ids().collect();
            let Some(source) = pairs.chunks(2).find(|pair| pair.get(1) == Some(&from)).map(|pair| pair[0]) else {
                return Err(unsupported("an OpPhi without a value for a predecessor"));
            };
            let (to, from) = (self.scalars(phi)?, self.scalars(source)?);
            let alike = |to: &Scalar, from: &Scalar| matches!(to, Scalar::Mask(_)) == matches!(from, Scalar::Mask(_));
            if to.len() != from.len() || !to.iter().zip(from.iter()).all(|(to, from)| alike(to, from)) {
                return Err(unsupported("an OpPhi of values of several types"));
            }
            copies.extend(to.iter().copied().zip(from.iter().copied()));
        }
        self.parallel(&copies, &mut actions);
        if actions.is_empty() {
            return Ok(to);
        }
        let label = self.new_label();
        edges.push((label, actions, to));
        Ok(label)
    }

    /// Copies that happen at once: through temporaries where a destination is read as well.
    fn parallel(&mut self, copies: &[(Scalar, Scalar)], actions: &mut Vec<Action>) {
        let action = |to: Scalar, from: Scalar| match (to, from) {
            (Scalar::Word(to), Scalar::Word(from)) => Action::Copy { to, from },
            (Scalar::Mask(to) | Scalar::Word(to), Scalar::Mask(from) | Scalar::Word(from)) => {
                Action::CopyMask { to, from }
            }
        };
        let clash = copies.iter().any(|(to, _)| copies.iter().any(|(_, from)| from == to));
        if !clash {
            actions.extend(copies.iter().map(|(to, from)| action(*to, *from)));
            return;
        }
        let mut second = Vec::new();
        for (to, from) in copies {
            let temporary = match from {
                Scalar::Word(_) => Scalar::Word(self.word()),
                Scalar::Mask(_) => Scalar::Mask(self.mask()),
            };
            actions.push(action(temporary, *from));
            second.push(action(*to, temporary));
        }
        actions.append(&mut second);
    }

    /// Emits the blocks that `edge` collected.
    pub fn emit_edges(&mut self, edges: Vec<(u32, Vec<Action>, u32)>) {
        for (label, actions, to) in edges {
            self.begin(label);
            actions.into_iter().for_each(|action| self.push(action));
            self.finish(Terminator::Jump { to });
        }
    }

    /// Resolves labels, settles registers.
    fn complete(mut self, known: &Known) -> Result<Program, Unsupported> {
        let positions: HashMap<u32, u32> =
            self.emitted.iter().enumerate().map(|(at, label)| (*label, at as u32)).collect();
        let resolve = |label: &mut u32| match positions.get(label) {
            Some(at) => {
                *label = *at;
                Ok(())
            }
            None => Err(unsupported("a branch to a block that was not decoded")),
        };
        for block in &mut self.program.blocks {
            match &mut block.terminator {
                Terminator::Jump { to } | Terminator::Barrier { to, barrier: _ } => resolve(to)?,
                Terminator::Branch { yes, no, condition: _ } => {
                    resolve(yes)?;
                    resolve(no)?;
                }
                Terminator::Switch { cases, default, selector: _ } => {
                    let mut all = cases.to_vec();
                    all.iter_mut().try_for_each(|(_, to)| resolve(to))?;
                    *cases = all.into();
                    resolve(default)?;
                }
                Terminator::End | Terminator::Unreachable => {}
            }
        }
        for object in &self.program.objects {
            if let Root::Descriptor(index) = object.root {
                self.written.extend((self.pointed >= Addressing::Writes).then_some(index));
                self.atomics.extend((self.pointed == Addressing::Atomics).then_some(index));
            }
        }
        for (index, descriptor) in self.program.descriptors.iter_mut().enumerate() {
            descriptor.written = self.written.contains(&(index as u32));
            descriptor.atomics = self.atomics.contains(&(index as u32));
        }
        self.program.uniforms = self.uniforms.into_iter().collect();
        self.program.uniform_masks = self.uniform_masks.into_iter().collect();
        self.program.per_lane = self.per_lane.into_iter().collect();
        self.program.zeroed = self.sums.into_values().collect();
        crate::exec::sequential::passes::ordering_need::choose(
            &mut self.program,
            self.module,
            (&self.types, &self.constants),
            known.memory_model,
        );
        super::passes::settle(&mut self.program, known);
        Ok(self.program)
    }
}

/// The initial value of a variable, where it has one.
fn initializer(variable: &Instruction) -> Option<Id> {
    // An untyped one says before what type it holds.
    variable.id(if variable.op == Op::UntypedVariableKHR { 2 } else { 1 })
}

/// Functions that reach an OpControlBarrier of the workgroup.
pub fn functions_with_barrier(module: &Module) -> HashSet<Id> {
    let mut found = HashSet::new();
    loop {
        let before = found.len();
        for function in &module.functions {
            let has = module.instructions[function.range.clone()].iter().any(|instruction| match instruction.op {
                Op::ControlBarrier => ops::synchronization::holds_workgroup(module, instruction),
                Op::FunctionCall => instruction.id(0).is_some_and(|callee| found.contains(&callee)),
                _ => false,
            });
            if has {
                found.insert(function.id);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// Variables that are indexed dynamically somewhere, also through a parameter: they need an address.
fn addressed(module: &Module) -> HashSet<Id> {
    let constant = |id: Id| module.definition(id).is_some_and(|one| one.op.is_constant());
    let mut found = HashSet::new();
    // From a derived pointer to the one it comes from.
    let mut comes_from: Vec<(Id, Id)> = Vec::new();
    for instruction in &module.instructions {
        match (instruction.op, instruction.id(0), instruction.result) {
            (Op::AccessChain | Op::InBoundsAccessChain, Some(base), Some(result)) => {
                if instruction.ids().skip(1).all(constant) {
                    comes_from.push((result, base));
                } else {
                    found.insert(base);
                }
            }
            (Op::CopyObject, Some(base), Some(result)) => comes_from.push((result, base)),
            (Op::FunctionCall, Some(callee), _) => {
                if let Some(function) = module.function(callee) {
                    comes_from.extend(function.parameters.iter().copied().zip(instruction.ids().skip(1)));
                }
            }
            _ => {}
        }
    }
    loop {
        let before = found.len();
        for (derived, base) in &comes_from {
            if found.contains(derived) {
                found.insert(*base);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}
