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
    /// A type that memory does not hold.
    #[error("type %{ty} ({what}) has no size in memory")]
    NoSize {
        /// Id of the type.
        ty: Id,
        /// What it is, in words.
        what: String,
    },
    /// A type of which a decoration tells the layout lacks it.
    #[error("type %{ty} lacks the decoration {decoration}")]
    Undecorated {
        /// Id of the type.
        ty: Id,
        /// Name of the decoration.
        decoration: &'static str,
    },
    /// The length of an array is no constant that has a value here, or is below 1.
    #[error("the array length %{length} is not known, or below 1")]
    UnknownLength {
        /// Id of the length.
        length: Id,
    },
    /// The size does not fit 64 bits.
    #[error("type %{ty} is too large")]
    TooLarge {
        /// Id of the type.
        ty: Id,
    },
}

/// Whether the padding between the last component and the end of its stride counts.
#[derive(Clone, Copy)]
pub(super) enum TrailingPadding {
    Counted,
    Omitted,
}

impl TrailingPadding {
    /// Bytes of `element_count` elements of which the last takes `last_size`; none where they
    /// exceed 64 bits.
    fn repeated_size(self, stride: u64, element_count: u64, last_size: u64) -> Option<u64> {
        match self {
            TrailingPadding::Counted => stride.checked_mul(element_count),
            TrailingPadding::Omitted if element_count == 0 => Some(0),
            TrailingPadding::Omitted => {
                stride.checked_mul(element_count - 1)?.checked_add(last_size)
            }
        }
    }
}

impl Types {
    /// Bytes that an object of explicitly laid-out type `id` takes, array and matrix strides
    /// counted in full; a runtime array counts nothing. `matrix` is the layout of the member that
    /// holds it.
    pub fn byte_size(
        &self,
        type_id: Id,
        matrix_layout: Option<MatrixLayout>,
        constants: &Constants,
    ) -> Result<u64, LayoutError> {
        self.explicit_size(type_id, matrix_layout, constants, TrailingPadding::Counted)
    }

    /// Bytes from the start of an object to the end of its last component, without padding behind
    /// it: what a buffer must at least have for every component to be inside.
    pub fn byte_extent(
        &self,
        type_id: Id,
        matrix_layout: Option<MatrixLayout>,
        constants: &Constants,
    ) -> Result<u64, LayoutError> {
        self.explicit_size(type_id, matrix_layout, constants, TrailingPadding::Omitted)
    }

    fn explicit_size(
        &self,
        type_id: Id,
        matrix_layout: Option<MatrixLayout>,
        constants: &Constants,
        trailing: TrailingPadding,
    ) -> Result<u64, LayoutError> {
        let inner_size = |inner_type, inner_layout| {
            self.explicit_size(inner_type, inner_layout, constants, trailing)
        };
        let repeated_size = |element_stride: u32, element_count: u64, last_size: u64| {
            trailing
                .repeated_size(u64::from(element_stride), element_count, last_size)
                .ok_or(LayoutError::TooLarge { ty: type_id })
        };
        match self.get(type_id) {
            Some(Type::Int { width, .. } | Type::Float { width }) => Ok(u64::from(*width / 8)),
            Some(Type::BFloat16) => Ok(2),
            Some(Type::Vector { component, count: element_count }) => {
                Ok(inner_size(*component, None)? * u64::from(*element_count))
            }
            Some(Type::Matrix { column, count: element_count }) => {
                let declared_layout = matrix_layout
                    .ok_or(LayoutError::Undecorated { ty: type_id, decoration: "MatrixStride" })?;
                let (vector_count, component_count) =
                    match (declared_layout.majorness, self.get(*column)) {
                        (Majorness::Column, Some(Type::Vector { count: rows, .. })) => {
                            (*element_count, *rows)
                        }
                        (Majorness::Row, Some(Type::Vector { count: rows, .. })) => {
                            (*rows, *element_count)
                        }
                        (_, _) => return Err(self.no_size(type_id)),
                    };
                let scalar_type = self.scalar_of(*column).ok_or_else(|| self.no_size(type_id))?;
                repeated_size(
                    declared_layout.stride,
                    u64::from(vector_count),
                    inner_size(scalar_type, None)? * u64::from(component_count),
                )
            }
            Some(Type::Array { element, length, stride: element_stride }) => {
                let element_stride = element_stride
                    .ok_or(LayoutError::Undecorated { ty: type_id, decoration: "ArrayStride" })?;
                let element_count = constants
                    .array_length(*length)
                    .ok_or(LayoutError::UnknownLength { length: *length })?;
                repeated_size(element_stride, element_count, inner_size(*element, matrix_layout)?)
            }
            Some(Type::RuntimeArray { .. }) => Ok(0),
            Some(Type::Structure { members, .. }) => {
                members.iter().try_fold(0, |size: u64, member| {
                    let offset = member
                        .offset
                        .ok_or(LayoutError::Undecorated { ty: type_id, decoration: "Offset" })?;
                    Ok(size.max(u64::from(offset) + inner_size(member.ty, member.matrix)?))
                })
            }
            Some(Type::Pointer { storage: StorageClass::PhysicalStorageBuffer, .. })
            | Some(Type::UntypedPointer { storage: StorageClass::PhysicalStorageBuffer })
            | Some(Type::ForwardPointer { storage: StorageClass::PhysicalStorageBuffer }) => Ok(8),
            _ => Err(self.no_size(type_id)),
        }
    }

    /// Size and alignment in bytes by the std430 rules, for memory whose types carry no layout;
    /// Booleans take 4 bytes.
    pub(crate) fn natural_layout(
        &self,
        type_id: Id,
        constants: &Constants,
    ) -> Result<(u64, u64), LayoutError> {
        match self.get(type_id) {
            Some(Type::Bool) => Ok((4, 4)),
            Some(Type::Int { width, .. } | Type::Float { width }) => {
                Ok((u64::from(*width / 8), u64::from(*width / 8)))
            }
            Some(Type::BFloat16) => Ok((2, 2)),
            Some(Type::Vector { component, count }) => {
                let (size, _) = self.natural_layout(*component, constants)?;
                let aligned_components = if *count == 3 { 4 } else { u64::from(*count) };
                Ok((size * u64::from(*count), size * aligned_components))
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
                let total_size = size.next_multiple_of(alignment).checked_mul(count);
                Ok((total_size.ok_or(LayoutError::TooLarge { ty: type_id })?, alignment))
            }
            Some(Type::Structure { members, .. }) => {
                let (mut structure_end, mut widest_alignment) = (0u64, 1);
                for member in members {
                    let (size, alignment) = self.natural_layout(member.ty, constants)?;
                    structure_end = structure_end
                        .next_multiple_of(alignment)
                        .checked_add(size)
                        .ok_or(LayoutError::TooLarge { ty: type_id })?;
                    widest_alignment = widest_alignment.max(alignment);
                }
                Ok((structure_end.next_multiple_of(widest_alignment), widest_alignment))
            }
            _ => Err(self.no_size(type_id)),
        }
    }

    fn no_size(&self, type_id: Id) -> LayoutError {
        LayoutError::NoSize { ty: type_id, what: self.glsl_name(type_id) }
    }
}
