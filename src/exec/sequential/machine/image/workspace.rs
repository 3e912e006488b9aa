//! Working memory of image instructions, kept so that none has to allocate.

use super::sampling::Tap;

/// Working memory of image instructions, kept so that none has to allocate.
#[derive(Debug, Default)]
pub(crate) struct ImageWorkspace {
    /// By lane: the components of the result.
    pub(crate) lane_texels: Vec<[u64; 4]>,
    pub(super) taps: Vec<Tap>,
    /// Stored bytes, and the components decoded from them.
    pub(crate) texel_bytes: Vec<u8>,
    pub(crate) component_bytes: Vec<u8>,
}

/// The result of an image instruction in a lane.
#[derive(Debug, Clone, Copy)]
pub(super) struct TexelResult {
    pub component_bits: [u64; 4],
    /// Some texel of it is undefined.
    pub is_undefined: bool,
}

pub(super) const NO_RESULT: TexelResult =
    TexelResult { component_bits: [0; 4], is_undefined: false };
