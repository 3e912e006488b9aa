//! Facts of a dispatch that its kernel is decoded with.

use crate::settings::MemoryModel;
use crate::settings::variation::Variation;
use std::collections::{BTreeMap, BTreeSet};

/// Facts of a dispatch. They let the decoder leave out checks that could find nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DispatchFacts {
    pub push_constants_defined: bool,
    /// Set, binding and array index of descriptors whose buffer is wholly defined.
    pub defined_descriptors: BTreeSet<(u32, u32, u32)>,
    pub undefined_checked: DefinednessCheck,
    /// Number of descriptors by set and binding: the highest array index that is bound, plus one.
    pub bound_lengths: BTreeMap<(u32, u32), u32>,
    /// Invocations of a subgroup, where a dispatch has told.
    pub subgroup_size: Option<u32>,
    /// What barriers order.
    pub memory_model: MemoryModel,
    /// How the run departs from the ordinary one.
    pub variation: Option<Variation>,
}

/// Whether uninitialised reads are looked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum DefinednessCheck {
    #[default]
    Yes,
    No,
}
