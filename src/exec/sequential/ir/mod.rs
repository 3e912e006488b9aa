//! The register program that the machine runs: basic blocks of instructions over lanes.
//!
//! Knows: the form of a decoded kernel. Every value is a *register* that holds one scalar per lane;
//! Booleans live in registers of their own, one bit per lane. Functions are inlined (SPIR-V forbids
//! recursion for shaders), composites are lists of registers, so construction and extraction cost
//! nothing.
//! Promises: blocks stand in an order in which a block comes before everything that it reaches
//! without a back edge, and a loop's blocks come before its merge block. Running the lowest block
//! that has lanes therefore brings lanes together again where the structured control flow of SPIR-V
//! says so (SPIR-V specification, section 2.11).
//! Does not cover: how the program is made (`decode`) and run (`machine`).

mod access;
pub(crate) mod access_facts;
pub(crate) mod atomic;
pub(crate) mod cooperative_product;
pub(crate) mod dot_product;
pub(crate) mod image;
mod instruction;
pub(crate) mod lane_exchange;
pub(crate) mod lane_mask;
pub(crate) mod memory_semantics;
mod operands;
pub(crate) mod print_format;
mod program;
mod register;
pub(crate) mod subgroup_operation;

pub(crate) use access::{
    Access, AccessRoot, AddressUnit, Alignment, Dimension, DimensionBound, PointedMemory,
    PointedObject,
};
pub(crate) use instruction::{
    LaneInstruction, LocatedInstruction, MatrixFactors, PrintedLine, PrintedValue,
    RecordedComparison, Terminator,
};
pub(crate) use program::{
    Addressing, BasicBlock, ControlBarrier, Descriptor, LOCAL_BITS, MOST_INVOCATIONS, MemoryClass,
    OrderUse, PerLaneValue, Program, PushConstantLoad, RestrictQualifier, SpinWaits, SubgroupMask,
    SubgroupUse, UniformValue, VariableScalars,
};
pub(crate) use register::{NumberRegisters, Reg, RegisterUse, Scalar, word_scalars};
