//! What an id of a module stands for: scalars in registers, pointers, images.

use super::layout::Arrangement;
use crate::ir::image::{DescriptorChoice, ImageInstruction};
use crate::ir::*;
use std::sync::Arc;
use vkcert_spirv::module::Id;

/// What an id stands for.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    /// Any non-pointer value, flattened.
    Scalars(Arc<[Scalar]>),
    Pointer(Pointer),
    /// An image, a sampler, or both.
    Opaque(Opaque),
}

/// Which descriptors an image, a sampler, or a pair of them comes from.
#[derive(Debug, Clone)]
pub(crate) struct Opaque {
    pub image: Option<DescriptorChoice>,
    pub sampler: Option<DescriptorChoice>,
    /// Its type.
    pub ty: Id,
}

/// A pointer that is known at decoding.
#[derive(Debug, Clone)]
pub(crate) struct Pointer {
    pub to: Location,
    /// What it points to.
    pub ty: Id,
}

#[derive(Debug, Clone)]
pub(crate) enum Location {
    /// A variable that lives in registers.
    Registers(Arc<[Scalar]>),
    /// An input that nobody writes.
    Constant(Arc<[Scalar]>),
    Memory {
        root: AccessRoot,
        base: u32,
        dimensions: Vec<Dimension>,
        arrangement: Arrangement,
        name: Arc<str>,
    },
    /// An array of descriptors that is still to be indexed.
    Descriptors { variable: Id, length: u32 },
    /// A variable that holds an image, a sampler, or both.
    Opaque(DescriptorChoice),
    /// A texel of an image, for atomics.
    Texel(Arc<ImageInstruction>),
}
