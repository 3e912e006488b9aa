//! How many bytes the types of a module take.
//!
//! Knows: explicit layout by decorations, and the rules of std430 for memory without them, which is
//! how Vulkan counts workgroup memory (Vulkan specification, "Workgroup Memory Size" of the shader
//! interfaces chapter).
//! Does not cover: whether a layout is legal; the validator checks that.

use super::{Majorness, MatrixLayout, Type, Types};
use crate::constants::Constants;
use crate::module::Id;
use rspirv::spirv::StorageClass;

/// A type that has no size here, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    #[error("type %{ty} ({what}) has no size in memory")]
    NoSize { ty: Id, what: String },
    #[error("type %{ty} lacks the decoration {decoration}")]
    Undecorated { ty: Id, decoration: &'static str },
    #[error("the array length %{length} is not known")]
    UnknownLength { length: Id },
    #[error("type %{ty} is too large")]
    TooLarge { ty: Id },
}

/// Whether the padding between the last component and the end of its stride counts.
#[derive(Clone, Copy)]
pub(super) enum Trailing {
    Counted,
    Omitted,
}

impl Types {
    /// Bytes that an object of explicitly laid-out type `id` takes, array and matrix strides
    /// counted in full; a runtime array counts nothing. `matrix` is the layout of the member that
    /// holds it.
    pub fn byte_size(
        &self,
        id: Id,
        matrix: Option<MatrixLayout>,
        constants: &Constants,
    ) -> Result<u64, LayoutError> {
        self.explicit(id, matrix, constants, Trailing::Counted)
    }

    /// Bytes from the start of an object to the end of its last component, without padding behind
    /// it: what a buffer must at least have for every component to be inside.
    pub fn byte_extent(
        &self,
        id: Id,
        matrix: Option<MatrixLayout>,
        constants: &Constants,
    ) -> Result<u64, LayoutError> {
        self.explicit(id, matrix, constants, Trailing::Omitted)
    }

    pub(super) fn explicit(
        &self,
        id: Id,
        matrix: Option<MatrixLayout>,
        constants: &Constants,
        trailing: Trailing,
    ) -> Result<u64, LayoutError> {
        let inner = |id, matrix| self.explicit(id, matrix, constants, trailing);
        let repeated = |stride: u32, count: u64, last: u64| -> Result<u64, LayoutError> {
            let strides = match trailing {
                Trailing::Counted => {
                    return u64::from(stride)
                        .checked_mul(count)
                        .ok_or(LayoutError::TooLarge { ty: id });
                }
                Trailing::Omitted if count == 0 => return Ok(0),
                Trailing::Omitted => u64::from(stride).checked_mul(count - 1),
            };
            strides
                .and_then(|bytes| bytes.checked_add(last))
                .ok_or(LayoutError::TooLarge { ty: id })
        };
        match self.get(id) {
            Some(Type::Int { width, .. } | Type::Float { width }) => Ok(u64::from(*width / 8)),
            Some(Type::BFloat16) => Ok(2),
            Some(Type::Vector { component, count }) => {
                Ok(inner(*component, None)? * u64::from(*count))
            }
            Some(Type::Matrix { column, count }) => {
                let layout = matrix
                    .ok_or(LayoutError::Undecorated { ty: id, decoration: "MatrixStride" })?;
                let (vectors, components) = match (layout.majorness, self.get(*column)) {
                    (Majorness::Column, Some(Type::Vector { count: rows, .. })) => (*count, *rows),
                    (Majorness::Row, Some(Type::Vector { count: rows, .. })) => (*rows, *count),
                    (_, _) => return Err(self.no_size(id)),
                };
                let scalar = self.scalar_of(*column).ok_or_else(|| self.no_size(id))?;
                repeated(
                    layout.stride,
                    u64::from(vectors),
                    inner(scalar, None)? * u64::from(components),
                )
            }
            Some(Type::Array { element, length, stride }) => {
                let stride =
                    stride.ok_or(LayoutError::Undecorated { ty: id, decoration: "ArrayStride" })?;
                let count = constants
                    .array_length(*length)
                    .ok_or(LayoutError::UnknownLength { length: *length })?;
                repeated(stride, count, inner(*element, matrix)?)
            }
            Some(Type::RuntimeArray { .. }) => Ok(0),
            Some(Type::Structure { members, .. }) => {
                members.iter().try_fold(0, |size: u64, member| {
                    let offset = member
                        .offset
                        .ok_or(LayoutError::Undecorated { ty: id, decoration: "Offset" })?;
                    Ok(size.max(u64::from(offset) + inner(member.ty, member.matrix)?))
                })
            }
            Some(Type::Pointer { storage: StorageClass::PhysicalStorageBuffer, .. })
            | Some(Type::UntypedPointer { storage: StorageClass::PhysicalStorageBuffer })
            | Some(Type::ForwardPointer { storage: StorageClass::PhysicalStorageBuffer }) => Ok(8),
            _ => Err(self.no_size(id)),
        }
    }

    /// Size and alignment in bytes by the std430 rules, for memory whose types carry no layout;
    /// Booleans take 4 bytes.
    pub fn natural_layout(&self, id: Id, constants: &Constants) -> Result<(u64, u64), LayoutError> {
        match self.get(id) {
            Some(Type::Bool) => Ok((4, 4)),
            Some(Type::Int { width, .. } | Type::Float { width }) => {
                Ok((u64::from(*width / 8), u64::from(*width / 8)))
            }
            Some(Type::BFloat16) => Ok((2, 2)),
            Some(Type::Vector { component, count }) => {
                let (size, _) = self.natural_layout(*component, constants)?;
                let aligned = if *count == 3 { 4 } else { u64::from(*count) };
                Ok((size * u64::from(*count), size * aligned))
            }
            Some(Type::Matrix { column, count }) => {
                let (size, alignment) = self.natural_layout(*column, constants)?;
                Ok((size.next_multiple_of(alignment) * u64::from(*count), alignment))
            }
            Some(Type::Array { element, length, .. }) => {
                let (size, alignment) = self.natural_layout(*element, constants)?;
                let count = constants
                    .array_length(*length)
                    .ok_or(LayoutError::UnknownLength { length: *length })?;
                let total = size.next_multiple_of(alignment).checked_mul(count);
                Ok((total.ok_or(LayoutError::TooLarge { ty: id })?, alignment))
            }
            Some(Type::Structure { members, .. }) => {
                let (mut end, mut widest) = (0u64, 1);
                for member in members {
                    let (size, alignment) = self.natural_layout(member.ty, constants)?;
                    end = end
                        .next_multiple_of(alignment)
                        .checked_add(size)
                        .ok_or(LayoutError::TooLarge { ty: id })?;
                    widest = widest.max(alignment);
                }
                Ok((end.next_multiple_of(widest), widest))
            }
            _ => Err(self.no_size(id)),
        }
    }

    pub(super) fn no_size(&self, id: Id) -> LayoutError {
        LayoutError::NoSize { ty: id, what: self.name(id) }
    }
}
