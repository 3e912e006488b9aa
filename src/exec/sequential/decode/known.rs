//! What is known of a dispatch before its kernel is decoded.

use crate::settings::MemoryModel;
use crate::settings::variation::Variation;
use std::collections::{BTreeMap, BTreeSet};

/// What is known of a dispatch before it is decoded; makes checks unnecessary, never wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Known {
    pub push_constants_defined: bool,
    /// Set, binding and array index of descriptors whose buffer is wholly defined.
    pub defined: BTreeSet<(u32, u32, u32)>,
    pub undefined_checked: Checked,
    /// Descriptors of each binding, by set and binding: the highest array index that is bound, and
    /// one.
    pub bound: BTreeMap<(u32, u32), u32>,
    /// Invocations of a subgroup, where a dispatch has told.
    pub subgroup_size: Option<u32>,
    /// What barriers order.
    pub memory_model: MemoryModel,
    /// How the run departs from the ordinary one.
    pub variation: Option<Variation>,
}

/// Whether uninitialised reads are looked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Checked {
    #[default]
    Yes,
    No,
}
