//! What a kernel can store where, and which memory that depends on, by its code alone.
//!
//! Knows: the stores, atomics and image writes of the functions that an entry point reaches,
//! through descriptors and device addresses; how values travel through operations, variables,
//! workgroup memory, parameters and results, and which branches decide whether a store is executed.
//! Promises: every store that control can come to is listed, and what it can depend on is listed
//! with it. Branches that constants decide under the specialization are followed one way; where
//! nothing is stored so, other specializations are tried ([`flows_or_switched_off`]).
//! Does not cover: what an index can be (a store to a descriptor may hit any byte of it), values
//! that cancel out, how long a loop waits, opcodes that no engine runs.

pub(crate) mod access;
mod analysis;
mod dependence;
#[cfg(test)]
mod dependence_tests;
pub(crate) mod live;
pub(crate) mod pointer;
mod switched_off;
#[cfg(test)]
mod tests;

use super::constants::Constants;
use super::fold::ConstantFolding;
use super::interface::{ReflectError, compute_entry};
use super::module::Module;
use super::types::Types;
use analysis::FlowAnalysis;
pub use dependence::{
    CallResult, KernelDependences, KernelObject, ObjectAccess, StandIn, SubgroupOperation,
    kernel_dependences,
};
use live::LiveCode;
use pointer::PointerAnalysis;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Memory outside of the kernel.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum FlowPlace {
    /// What is bound to a descriptor.
    Descriptor(DescriptorPlace),
    /// What device addresses name that were read in one of these places.
    Addressed(BTreeSet<AddressOrigin>),
}

/// What is bound to a descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DescriptorPlace {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// None: any element of an array of descriptors.
    pub element: Option<u32>,
}

/// Where a device address was read; offsets in bytes where they are constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AddressOrigin {
    /// In the push constants.
    PushConstants {
        /// Bytes from their start; none where it is not constant.
        offset: Option<u64>,
    },
    /// In what is bound to a descriptor.
    Descriptor {
        /// Where that is.
        place: DescriptorPlace,
        /// Bytes from the start of the bound range; none where it is not constant.
        offset: Option<u64>,
    },
    /// In memory that another device address names.
    Addressed,
}

/// A place that a kernel can store to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryFlow {
    /// What can be stored to.
    pub to: FlowPlace,
    /// Where the members of the block begin that it can store to, in bytes, indices of arrays taken
    /// as 0; as far as they can be told.
    pub members: BTreeSet<u64>,
    /// Everything whose contents can decide what is stored there, or whether.
    pub from: BTreeSet<FlowPlace>,
}

/// Instructions that store to memory outside of the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoringGroup {
    /// Their indexes.
    pub instructions: BTreeSet<usize>,
    /// The places that they can store to, by their numbers in [`kernel_flows`].
    pub rows: BTreeSet<usize>,
    /// Indexes of the instructions that read the memory outside of the kernel which decides what
    /// they store, or whether.
    pub reads: BTreeSet<usize>,
}

/// What the entry point can store under a specialization (raw bits by SpecId), by place.
pub fn kernel_flows(
    module: &Module,
    entry_name: &str,
    specialization_values: &BTreeMap<u32, u64>,
) -> Result<Vec<MemoryFlow>, ReflectError> {
    flows_past(DecidedBranches::Specialized, module, entry_name, specialization_values)
}

/// The instructions that store there, each by itself; where they are more than `most`, those
/// together that store to the same places.
pub fn storing_groups(
    module: &Module,
    entry_name: &str,
    specialization_values: &BTreeMap<u32, u64>,
    most_groups: usize,
) -> Result<Vec<StoringGroup>, ReflectError> {
    with_analysis(
        DecidedBranches::Specialized,
        module,
        entry_name,
        specialization_values,
        |analysis| analysis.storing_groups(most_groups),
    )
}

/// The same, and where that is nothing at all, what it can store under other specializations: that
/// a kernel stores nothing because its specialization switches that off is a result, which is seen
/// where it would store otherwise. It depends on no memory.
pub fn flows_or_switched_off(
    module: &Module,
    entry_name: &str,
    specialization_values: &BTreeMap<u32, u64>,
) -> Result<Vec<MemoryFlow>, ReflectError> {
    let flows = kernel_flows(module, entry_name, specialization_values)?;
    if !flows.is_empty() {
        return Ok(flows);
    }
    switched_off::switched_off(module, entry_name, specialization_values)
}

/// Which branches are followed one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DecidedBranches {
    /// Those that constants decide, specialization constants too.
    Specialized,
    /// Those alone that constants decide which no specialization changes.
    Unspecialized,
}

fn flows_past(
    branches: DecidedBranches,
    module: &Module,
    entry_name: &str,
    specialization_values: &BTreeMap<u32, u64>,
) -> Result<Vec<MemoryFlow>, ReflectError> {
    with_analysis(branches, module, entry_name, specialization_values, |analysis| {
        analysis.flows_by_place()
    })
}

fn with_analysis<T>(
    branches: DecidedBranches,
    module: &Module,
    entry_name: &str,
    specialization_values: &BTreeMap<u32, u64>,
    query: impl FnOnce(&FlowAnalysis<'_>) -> T,
) -> Result<T, ReflectError> {
    with_pointers(branches, module, entry_name, specialization_values, |_, pointers| {
        query(&FlowAnalysis::new(pointers))
    })
}

/// What is known of an entry point's code under a specialization, where control can come to.
pub(crate) fn with_pointers<T>(
    branches: DecidedBranches,
    module: &Module,
    entry_name: &str,
    specialization_values: &BTreeMap<u32, u64>,
    query: impl FnOnce(&ConstantFolding<'_>, &PointerAnalysis<'_>) -> T,
) -> Result<T, ReflectError> {
    let types = Types::of_module(module);
    let constants = Constants::evaluate(module, &types, specialization_values)?;
    let deciding_constants = match branches {
        DecidedBranches::Specialized => Cow::Borrowed(&constants),
        DecidedBranches::Unspecialized => Cow::Owned(constants.without_specialization()),
    };
    let folding = ConstantFolding {
        module,
        types: &types,
        constants: &deciding_constants,
        stands_for: &BTreeMap::new(),
    };
    let live = LiveCode::from_entry_point(&folding, compute_entry(module, entry_name)?.function);
    Ok(query(&folding, &PointerAnalysis::new(module, &types, &constants, &live)))
}
