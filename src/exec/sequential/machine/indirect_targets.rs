//! What the machine keeps for indirect accesses, so that none has to ask for memory.

use crate::ir::Root;
use crate::ir::lane_mask::{MASK_WORDS, Mask};

/// What the machine keeps for such accesses, so that none has to ask for memory.
#[derive(Debug, Default)]
pub(super) struct Detour {
    /// The lanes that go to each target, targets in ascending order.
    pub(super) targets: Vec<(Root, Mask)>,
    /// The lanes that go to each object, by its index, likewise.
    pub(super) objects: Vec<(usize, Mask)>,
    /// Results by scalar and lane, and which of them are undefined.
    pub(super) results: Vec<u32>,
    pub(super) undefined: Vec<[u64; MASK_WORDS]>,
}
