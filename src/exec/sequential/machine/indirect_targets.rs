//! Working memory of indirect accesses, kept so that none has to allocate.

use crate::ir::AccessRoot;
use crate::ir::lane_mask::{LaneMask, MASK_WORDS};

/// Working memory of indirect accesses, kept so that none has to allocate.
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
