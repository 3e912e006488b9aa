//! What the machine keeps for indirect accesses, so that none has to ask for memory.

use crate::ir::AccessRoot;
use crate::ir::lane_mask::{LaneMask, MASK_WORDS};

/// What the machine keeps for such accesses, so that none has to ask for memory.
#[derive(Debug, Default)]
pub(super) struct IndirectTargets {
    /// The lanes that go to each target, targets in ascending order.
    pub(super) targets: Vec<(AccessRoot, LaneMask)>,
    /// The lanes that go to each object, by its index, likewise.
    pub(super) objects: Vec<(usize, LaneMask)>,
    /// Results by scalar and lane, and which of them are undefined.
    pub(super) results: Vec<u32>,
    pub(super) undefined: Vec<[u64; MASK_WORDS]>,
}
