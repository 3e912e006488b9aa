//! A decoded kernel: blocks, barriers, descriptors, and what it needs of registers and memory.

use super::access::PointedObject;
use super::access_facts::FactsByInstruction;
use super::instruction::{LocatedInstruction, Terminator};
use super::memory_semantics::BarrierFences;
use super::register::{Reg, Scalar};
use std::sync::Arc;
use vkcert_model::index_range::IndexRange;
use vkcert_spirv::module::Id;
use vkcert_spirv::precision::ImplementationFreedom;

#[derive(Debug, Clone)]
pub struct BasicBlock {
    pub steps: Vec<LocatedInstruction>,
    pub terminator: Terminator,
    /// That of the terminator.
    pub source_index: u32,
    /// Source indices of all that its invocations execute, whether it left a step or not.
    pub source_range: IndexRange,
    pub operands_to_check: Box<[Scalar]>,
    /// The SPIR-V label it was made from, and which inlined copy of its function; for the printed
    /// form.
    pub label: Id,
}

/// A barrier in one inlined copy.
#[derive(Debug, Clone)]
pub struct ControlBarrier {
    pub source_index: u32,
    pub fences: BarrierFences,
    /// Iteration counters of the loops around it, outermost first.
    pub counters: Arc<[Reg]>,
}

/// Which kind of memory a descriptor is for barriers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryClass {
    Buffer,
    /// An image or texel buffer; a sampler has no memory.
    Image,
}

/// A buffer, image or sampler variable of the kernel, or one element of an array of such.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Descriptor {
    pub set: u32,
    pub binding: u32,
    pub array_index: u32,
    pub name: String,
    pub kept: MemoryClass,
    /// Whether any instruction writes through it.
    pub written: bool,
    pub atomics: bool,
    /// Whether its variable is declared `restrict`.
    pub exclusive: RestrictQualifier,
    /// Whether it may be left unbound: one of an array whose index is not known.
    pub may_be_unbound: bool,
}

/// A register that the dispatch fills before anything runs, the same for every lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum UniformValue {
    Constant(u32),
    /// Word of the push constants.
    PushConstant(u32),
    WorkgroupId(u8),
    NumWorkgroups(u8),
    SubgroupSize,
    NumSubgroups,
}

/// A register that differs by lane and is filled when a workgroup starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PerLaneValue {
    LocalId(u8),
    GlobalId(u8),
    LocalIndex,
    /// Number of the subgroup in its workgroup, and of the invocation in its subgroup.
    SubgroupId,
    SubgroupInvocation,
    /// Word of a ballot.
    SubgroupMask(SubgroupMask, u8),
}

/// Which invocations of a subgroup are in a built-in mask, relative to the one that reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SubgroupMask {
    Equal,
    AtLeast,
    Above,
    AtMost,
    Below,
}

/// How the invocations of a subgroup work together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SubgroupUse {
    #[default]
    None,
    Operations,
    /// Barriers of subgroups, and maybe operations.
    Barriers,
}

/// A variable of the kernel, for the printed form and for initial values.
#[derive(Debug, Clone)]
pub struct VariableScalars {
    pub name: String,
    pub scalars: u32,
}

/// A decoded kernel.
#[derive(Debug, Clone, Default)]
pub struct Program {
    pub blocks: Vec<BasicBlock>,
    pub barriers: Vec<ControlBarrier>,
    pub descriptors: Vec<Descriptor>,
    /// The objects that variable pointers point into.
    pub objects: Vec<PointedObject>,
    pub local_size: [u32; 3],
    /// Word registers `0 .. shared_words` need not survive a block (or are uniform); the rest
    /// belongs to a tile.
    pub words: u32,
    pub shared_words: u32,
    pub masks: u32,
    pub shared_masks: u32,
    pub uniforms: Vec<(UniformValue, Reg)>,
    pub uniform_masks: Vec<(bool, Reg)>,
    pub per_lane: Vec<(PerLaneValue, Reg)>,
    /// Word registers that are undefined when an invocation starts.
    pub undefined_words: Vec<Reg>,
    pub undefined_masks: Vec<Reg>,
    /// Words of workgroup memory, and of memory per invocation.
    pub workgroup_words: u32,
    pub invocation_words: u32,
    pub workgroup_variables: Vec<VariableScalars>,
    pub expanded: Vec<VariableScalars>,
    /// Sum registers: zero when an invocation starts.
    pub zeroed_words: Vec<Reg>,
    /// Loads of push constants at places that the module fixes.
    pub push_constant_loads: Vec<PushConstantLoad>,
    /// What the module leaves to an implementation; collected only for a varied run.
    pub freedom: ImplementationFreedom,
    /// Words of workgroup memory that are zero when a workgroup starts.
    pub workgroup_zeroed: Vec<std::ops::Range<u32>>,
    /// The strongest use of device addresses.
    pub addresses: Addressing,
    /// Bytes of the smallest number in memory that is accessed by itself, at most 4.
    pub granule: u32,
    pub subgroups: SubgroupUse,
    pub order: OrderUse,
    pub spin_waits: SpinWaits,
}

/// A load of push constants that left no step, since all invocations read the same.
#[derive(Debug, Clone)]
pub struct PushConstantLoad {
    pub source_index: u32,
    /// Words of the push constants.
    pub words: Arc<[u32]>,
}

/// What orders the accesses of a program.
#[derive(Debug, Clone, Default)]
pub enum OrderUse {
    /// Barriers of workgroups alone: what lies between two of them is one interval.
    #[default]
    Intervals,
    /// Fences, flags and barriers of subgroups as well, or atomics that are not atomic for each
    /// other.
    Exact(Arc<FactsByInstruction>),
}

/// Whether an invocation may spin: read in a loop what another invocation writes meanwhile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SpinWaits {
    #[default]
    Never,
    /// By plain reads, which always race: only other invocations of its workgroup are scheduled.
    Plainly,
    /// By atomic, coherent or volatile reads: other workgroups are scheduled as well.
    Possibly,
}

/// The strongest use that a program makes of device addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Addressing {
    #[default]
    Reads,
    Writes,
    Atomics,
}

/// Whether a variable declares that its memory is accessed through it alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestrictQualifier {
    /// The variable is `restrict`.
    Declared,
    No,
}

pub(crate) const LOCAL_BITS: u32 = 12;

/// Most invocations of a workgroup.
pub(crate) const MOST_INVOCATIONS: u32 = 1 << LOCAL_BITS;
