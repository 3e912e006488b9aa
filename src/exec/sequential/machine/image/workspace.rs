//! What the machine keeps for image instructions, so that none has to ask for memory.

use super::sampling::Tap;

/// What the machine keeps for image instructions, so that none has to ask for memory.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    /// By lane: the components of the result.
    pub(crate) results: Vec<[u64; 4]>,
    pub(super) taps: Vec<Tap>,
    /// Stored bytes, and the components decoded from them.
    pub(crate) bytes: Vec<u8>,
    pub(crate) components: Vec<u8>,
}

/// What a lane got.
#[derive(Debug, Clone, Copy)]
pub(super) struct Got {
    pub value: [u64; 4],
    /// Some texel of it is undefined.
    pub undefined: bool,
}

pub(super) const NOTHING: Got = Got { value: [0; 4], undefined: false };
