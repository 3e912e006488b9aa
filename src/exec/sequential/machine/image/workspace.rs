//! What the machine keeps for image instructions, so that none has to ask for memory.

use super::sampling::Tap;

/// What the machine keeps for image instructions, so that none has to ask for memory.
#[derive(Debug, Default)]
pub(crate) struct ImageWorkspace {
    /// By lane: the components of the result.
    pub(crate) lane_texels: Vec<[u64; 4]>,
    pub(super) taps: Vec<Tap>,
    /// Stored bytes, and the components decoded from them.
    pub(crate) texel_bytes: Vec<u8>,
    pub(crate) component_bytes: Vec<u8>,
}

/// What a lane got.
#[derive(Debug, Clone, Copy)]
pub(super) struct TexelResult {
    pub component_bits: [u64; 4],
    /// Some texel of it is undefined.
    pub is_undefined: bool,
}

pub(super) const NO_RESULT: TexelResult =
    TexelResult { component_bits: [0; 4], is_undefined: false };
