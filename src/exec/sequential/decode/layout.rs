//! How values are flattened into scalars, and at which offsets the scalars are in memory.
//!
//! Knows: two arrangements. *Explicit* follows the decorations (Offset, ArrayStride, MatrixStride),
//! as buffers and push constants must; *flat* packs one word per scalar, for memory that nobody
//! outside the kernel sees. A number of 64 bits is two scalars, its low half first. All offsets and
//! strides are in bytes.
//! Promises: the scalars of a value and the components of its memory are in the same order.

use super::unsupported::Unsupported;
use crate::decode::unsupported;
use rspirv::spirv::StorageClass;
use vkcert_spirv::constants::Constants;
use vkcert_spirv::module::Id;
use vkcert_spirv::types::{BlockKind, Majorness, MatrixLayout, Type, Types};

/// The kind of register that holds a scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScalarKind {
    Word,
    Mask,
}

/// How a pointee is laid out in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryArrangement {
    Flat,
    /// With the layout of the matrix that this member is or holds.
    Explicit(Option<MatrixLayout>),
    /// A column of a row-major matrix: bytes from one component to the next.
    Spread(u32),
}

/// Offset and size of a scalar in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScalarLayout {
    /// From the start of the value.
    pub offset: u32,
    /// 1, 2 or 4.
    pub bytes: u32,
}

/// Most scalars of a value that are listed.
const MOST_LISTED: u64 = 1 << 16;

fn check_scalar_count(scalar_count: u64) -> Result<(), Unsupported> {
    if scalar_count > MOST_LISTED {
        return Err(unsupported(format!("a value of more than {MOST_LISTED} scalars")));
    }
    Ok(())
}

/// The scalars of a type, in order.
pub(crate) fn scalar_kinds(
    types: &Types,
    constants: &Constants,
    type_id: Id,
) -> Result<Vec<ScalarKind>, Unsupported> {
    let repeated_kinds =
        |element_type: Id, element_count: u64| -> Result<Vec<ScalarKind>, Unsupported> {
            let element_kinds = scalar_kinds(types, constants, element_type)?;
            check_scalar_count(element_kinds.len() as u64 * element_count.min(MOST_LISTED + 1))?;
            Ok(element_kinds.repeat(element_count as usize))
        };
    match types.get(type_id) {
        Some(Type::Void) => Ok(Vec::new()),
        Some(Type::Bool) => Ok(vec![ScalarKind::Mask]),
        Some(
            Type::Int { width: 8 | 16 | 32, .. } | Type::Float { width: 16 | 32 } | Type::BFloat16,
        ) => Ok(vec![ScalarKind::Word]),
        Some(Type::Int { width: 64, .. } | Type::Float { width: 64 }) => {
            Ok(vec![ScalarKind::Word; 2])
        }
        Some(ty) if is_address(ty) || is_variable_pointer(ty) => Ok(vec![ScalarKind::Word; 2]),
        Some(Type::Vector { component, count: element_count }) => {
            repeated_kinds(*component, u64::from(*element_count))
        }
        Some(Type::CooperativeMatrix { component, share, .. }) => {
            repeated_kinds(*component, u64::from(*share))
        }
        Some(Type::Matrix { column, count: element_count }) => {
            repeated_kinds(*column, u64::from(*element_count))
        }
        Some(Type::Array { element: element_type, length, .. }) => {
            repeated_kinds(*element_type, array_length(constants, *length)?)
        }
        Some(Type::Structure { members, .. }) => {
            let mut member_kinds = Vec::new();
            for member in members {
                member_kinds.extend(scalar_kinds(types, constants, member.ty)?);
                check_scalar_count(member_kinds.len() as u64)?;
            }
            Ok(member_kinds)
        }
        no_value_type => Err(unsupported_value(types, type_id, no_value_type)),
    }
}

fn unsupported_value(types: &Types, type_id: Id, no_value_type: Option<&Type>) -> Unsupported {
    unsupported(match no_value_type {
        Some(Type::Int { width, .. }) => format!("OpTypeInt {width}"),
        Some(Type::Float { width }) => format!("OpTypeFloat {width}"),
        Some(Type::RuntimeArray { .. }) => "a runtime array as a value".to_owned(),
        Some(Type::Image(_)) => "OpTypeImage".to_owned(),
        Some(Type::Sampler) => "OpTypeSampler".to_owned(),
        Some(Type::SampledImage { .. }) => "OpTypeSampledImage".to_owned(),
        Some(Type::Other(op)) => format!("Op{op:?}"),
        Some(Type::Pointer { .. } | Type::UntypedPointer { .. } | Type::ForwardPointer { .. }) => {
            "a pointer as a value".to_owned()
        }
        _ => format!("a value of type {}", types.glsl_name(type_id)),
    })
}

pub(crate) fn array_length(constants: &Constants, length_id: Id) -> Result<u64, Unsupported> {
    constants
        .array_length(length_id)
        .ok_or_else(|| unsupported("an array length that is no constant"))
}

/// The length of an array that is indexed.
pub(crate) fn element_count(constants: &Constants, length_id: Id) -> Result<u32, Unsupported> {
    u32::try_from(array_length(constants, length_id)?)
        .map_err(|_| unsupported("an array of 2^32 elements or more"))
}

/// Number of scalars of a type.
pub(crate) fn flat_size(
    types: &Types,
    constants: &Constants,
    type_id: Id,
) -> Result<u32, Unsupported> {
    let scalar_count: u64 = match types.get(type_id) {
        Some(
            Type::Bool
            | Type::Int { width: 8 | 16 | 32, .. }
            | Type::Float { width: 16 | 32 }
            | Type::BFloat16,
        ) => 1,
        Some(Type::Int { width: 64, .. } | Type::Float { width: 64 }) => 2,
        Some(ty) if is_address(ty) || is_variable_pointer(ty) => 2,
        Some(Type::Vector { component, count }) => {
            u64::from(flat_size(types, constants, *component)?) * u64::from(*count)
        }
        Some(Type::CooperativeMatrix { component, share, .. }) => {
            u64::from(flat_size(types, constants, *component)?) * u64::from(*share)
        }
        Some(Type::Matrix { column, count }) => {
            u64::from(flat_size(types, constants, *column)?) * u64::from(*count)
        }
        Some(Type::Array { element, length, .. }) => {
            u64::from(flat_size(types, constants, *element)?)
                .checked_mul(array_length(constants, *length)?)
                .ok_or_else(|| unsupported("an array of more than 2^32 scalars"))?
        }
        Some(Type::Structure { members, .. }) => {
            let mut total_scalars = 0;
            for member in members {
                total_scalars += u64::from(flat_size(types, constants, member.ty)?);
            }
            total_scalars
        }
        no_value_type => return Err(unsupported_value(types, type_id, no_value_type)),
    };
    u32::try_from(scalar_count).map_err(|_| unsupported("a variable of more than 2^32 scalars"))
}

/// Offset and size of each scalar of a value of a type.
pub(crate) fn scalar_layouts(
    types: &Types,
    constants: &Constants,
    type_id: Id,
    arrangement: MemoryArrangement,
) -> Result<Vec<ScalarLayout>, Unsupported> {
    // Refuses a value of too many scalars.
    scalar_kinds(types, constants, type_id)?;
    let mut scalar_layouts = Vec::new();
    match arrangement {
        MemoryArrangement::Flat => {
            let word_count = flat_size(types, constants, type_id)?;
            scalar_layouts
                .extend((0..word_count).map(|word| ScalarLayout { offset: 4 * word, bytes: 4 }));
        }
        MemoryArrangement::Spread(stride) => match types.get(type_id) {
            Some(Type::Vector { component, count }) => {
                for index in 0..*count {
                    explicit_layouts(
                        types,
                        constants,
                        *component,
                        None,
                        index * stride,
                        &mut scalar_layouts,
                    )?;
                }
            }
            _ => explicit_layouts(types, constants, type_id, None, 0, &mut scalar_layouts)?,
        },
        MemoryArrangement::Explicit(matrix) => {
            explicit_layouts(types, constants, type_id, matrix, 0, &mut scalar_layouts)?
        }
    }
    Ok(scalar_layouts)
}

/// Whether a type is a structure that is decorated as a block.
pub(crate) fn is_block(types: &Types, type_id: Id) -> bool {
    match types.get(type_id) {
        Some(Type::Structure { block, .. }) => *block != BlockKind::None,
        _ => false,
    }
}

/// Whether values of a type are device addresses.
pub(crate) fn is_address(ty: &Type) -> bool {
    match ty {
        Type::Pointer { storage, .. }
        | Type::UntypedPointer { storage }
        | Type::ForwardPointer { storage } => *storage == StorageClass::PhysicalStorageBuffer,
        _ => false,
    }
}

/// Whether values of a type can be variable pointers: a number of bytes, then which object they are
/// in.
pub(crate) fn is_variable_pointer(ty: &Type) -> bool {
    match ty {
        Type::Pointer { storage, .. } | Type::UntypedPointer { storage } => {
            matches!(storage, StorageClass::StorageBuffer | StorageClass::Workgroup)
        }
        _ => false,
    }
}

/// Bytes of a scalar.
pub(crate) fn scalar_bytes(types: &Types, type_id: Id) -> Result<u32, Unsupported> {
    match types.get(type_id) {
        Some(ty) if is_address(ty) => Ok(8),
        Some(
            Type::Int { width: 8 | 16 | 32 | 64, .. }
            | Type::Float { width: 16 | 32 | 64 }
            | Type::BFloat16,
        ) => Ok(types.scalar_width(type_id).unwrap_or(32) / 8),
        no_value_type => Err(unsupported_value(types, type_id, no_value_type)),
    }
}

fn explicit_layouts(
    types: &Types,
    constants: &Constants,
    type_id: Id,
    matrix_layout: Option<MatrixLayout>,
    base_offset: u32,
    scalar_layouts: &mut Vec<ScalarLayout>,
) -> Result<(), Unsupported> {
    let too_far = || unsupported("an offset of more than 2^32 bytes");
    let offset_at = |index: u32, stride: u32| {
        index
            .checked_mul(stride)
            .and_then(|bytes| bytes.checked_add(base_offset))
            .ok_or_else(too_far)
    };
    match types.get(type_id) {
        Some(
            Type::Int { .. }
            | Type::Float { .. }
            | Type::BFloat16
            | Type::Pointer { .. }
            | Type::UntypedPointer { .. },
        ) => match scalar_bytes(types, type_id)? {
            8 => scalar_layouts.extend([
                ScalarLayout { offset: base_offset, bytes: 4 },
                ScalarLayout { offset: offset_at(1, 4)?, bytes: 4 },
            ]),
            bytes => scalar_layouts.push(ScalarLayout { offset: base_offset, bytes }),
        },
        Some(Type::Vector { component: component_type, count }) => {
            let stride = scalar_bytes(types, *component_type)?;
            for index in 0..*count {
                explicit_layouts(
                    types,
                    constants,
                    *component_type,
                    None,
                    offset_at(index, stride)?,
                    scalar_layouts,
                )?;
            }
        }
        Some(Type::Matrix { column, count }) => {
            let layout =
                matrix_layout.ok_or_else(|| unsupported("a matrix without MatrixStride"))?;
            let component_type = types
                .component_type(*column, 0)
                .ok_or_else(|| unsupported("a matrix without columns"))?;
            let Some(Type::Vector { count: rows, .. }) = types.get(*column) else {
                return Err(unsupported("a matrix without columns"));
            };
            let component_bytes = scalar_bytes(types, component_type)?;
            for index in 0..*count {
                for row in 0..*rows {
                    let (major, minor) = match layout.majorness {
                        Majorness::Column => (index, row),
                        Majorness::Row => (row, index),
                    };
                    let offset = offset_at(major, layout.stride)?
                        .checked_add(minor * component_bytes)
                        .ok_or_else(too_far)?;
                    explicit_layouts(
                        types,
                        constants,
                        component_type,
                        None,
                        offset,
                        scalar_layouts,
                    )?;
                }
            }
        }
        Some(Type::Array { element, length, stride }) => {
            let stride = stride.ok_or_else(|| unsupported("an array without ArrayStride"))?;
            for index in 0..array_length(constants, *length)? as u32 {
                if scalar_layouts.len() > 1 << 16 {
                    return Err(unsupported("a value of more than 65536 scalars"));
                }
                explicit_layouts(
                    types,
                    constants,
                    *element,
                    matrix_layout,
                    offset_at(index, stride)?,
                    scalar_layouts,
                )?;
            }
        }
        Some(Type::Structure { members, .. }) => {
            for member in members {
                let offset = member.offset.ok_or_else(|| unsupported("a member without Offset"))?;
                explicit_layouts(
                    types,
                    constants,
                    member.ty,
                    member.matrix,
                    offset_at(1, offset)?,
                    scalar_layouts,
                )?;
            }
        }
        no_value_type => return Err(unsupported_value(types, type_id, no_value_type)),
    }
    Ok(())
}
