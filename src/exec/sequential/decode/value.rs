//! Decoded values of ids: scalars in registers, pointers, images and samplers.

use super::layout::MemoryArrangement;
use crate::ir::image::{DescriptorChoice, ImageInstruction};
use crate::ir::*;
use std::sync::Arc;
use vkcert_spirv::module::Id;

/// The decoded value of an id.
#[derive(Debug, Clone)]
pub(crate) enum DecodedValue {
    /// Any non-pointer value, flattened.
    Scalars(Arc<[Scalar]>),
    Pointer(Pointer),
    /// An image, a sampler, or both.
    Opaque(OpaqueHandle),
}

/// Which descriptors an image, a sampler, or a pair of them comes from.
#[derive(Debug, Clone)]
pub(crate) struct OpaqueHandle {
    pub image: Option<DescriptorChoice>,
    pub sampler: Option<DescriptorChoice>,
    /// Its type.
    pub type_id: Id,
}

/// A pointer whose target is known when it is decoded.
#[derive(Debug, Clone)]
pub(crate) struct Pointer {
    pub target: PointerTarget,
    /// What it points to.
    pub pointee_type: Id,
}

#[derive(Debug, Clone)]
pub(crate) enum PointerTarget {
    /// A variable that lives in registers.
    Registers(Arc<[Scalar]>),
    /// An input that nobody writes.
    Constant(Arc<[Scalar]>),
    Memory {
        root: AccessRoot,
        base: u32,
        dimensions: Vec<Dimension>,
        arrangement: MemoryArrangement,
        name: Arc<str>,
    },
    /// An array of descriptors that is still to be indexed.
    Descriptors { variable: Id, length: u32 },
    /// A variable that holds an image, a sampler, or both.
    Opaque(DescriptorChoice),
    /// A texel of an image, for atomics.
    Texel(Arc<ImageInstruction>),
}
