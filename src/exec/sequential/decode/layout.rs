//! How values are flattened into scalars, and where their scalars lie in memory.
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
use vkcert_spirv::types::{Majorness, MatrixLayout, Type, Types};

/// What a scalar is kept in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Word,
    Mask,
}

/// How a pointee lies in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrangement {
    Flat,
    /// With the layout of the matrix that this member is or holds.
    Explicit(Option<MatrixLayout>),
    /// A column of a row-major matrix: bytes from one component to the next.
    Spread(u32),
}

/// Where a scalar lies in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    /// From the start of the value.
    pub offset: u32,
    /// 1, 2 or 4.
    pub bytes: u32,
}

/// Most scalars of a value that are listed.
const MOST_LISTED: u64 = 1 << 16;

fn within(scalars: u64) -> Result<(), Unsupported> {
    if scalars > MOST_LISTED {
        return Err(unsupported(format!("a value of more than {MOST_LISTED} scalars")));
    }
    Ok(())
}

/// The scalars of a type, in order.
pub(crate) fn kinds(
    types: &Types,
    constants: &Constants,
    ty: Id,
) -> Result<Vec<Kind>, Unsupported> {
    let repeated = |element: Id, count: u64| -> Result<Vec<Kind>, Unsupported> {
        let element = kinds(types, constants, element)?;
        within(element.len() as u64 * count.min(MOST_LISTED + 1))?;
        Ok(element.repeat(count as usize))
    };
    match types.get(ty) {
        Some(Type::Void) => Ok(Vec::new()),
        Some(Type::Bool) => Ok(vec![Kind::Mask]),
        Some(
            Type::Int { width: 8 | 16 | 32, .. } | Type::Float { width: 16 | 32 } | Type::BFloat16,
        ) => Ok(vec![Kind::Word]),
        Some(Type::Int { width: 64, .. } | Type::Float { width: 64 }) => Ok(vec![Kind::Word; 2]),
        Some(ty) if is_address(ty) || is_variable(ty) => Ok(vec![Kind::Word; 2]),
        Some(Type::Vector { component, count }) => repeated(*component, u64::from(*count)),
        Some(Type::CooperativeMatrix { component, share, .. }) => {
            repeated(*component, u64::from(*share))
        }
        Some(Type::Matrix { column, count }) => repeated(*column, u64::from(*count)),
        Some(Type::Array { element, length, .. }) => {
            repeated(*element, length_of(constants, *length)?)
        }
        Some(Type::Structure { members, .. }) => {
            let mut all = Vec::new();
            for member in members {
                all.extend(kinds(types, constants, member.ty)?);
                within(all.len() as u64)?;
            }
            Ok(all)
        }
        other => Err(no_value(types, ty, other)),
    }
}

fn no_value(types: &Types, ty: Id, what: Option<&Type>) -> Unsupported {
    unsupported(match what {
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
        _ => format!("a value of type {}", types.glsl_name(ty)),
    })
}

pub(crate) fn length_of(constants: &Constants, length: Id) -> Result<u64, Unsupported> {
    constants.array_length(length).ok_or_else(|| unsupported("an array length that is no constant"))
}

/// The length of an array that is indexed.
pub(crate) fn elements_of(constants: &Constants, length: Id) -> Result<u32, Unsupported> {
    u32::try_from(length_of(constants, length)?)
        .map_err(|_| unsupported("an array of 2^32 elements or more"))
}

/// Scalars of a type, without listing them.
pub(crate) fn flat_size(types: &Types, constants: &Constants, ty: Id) -> Result<u32, Unsupported> {
    let size: u64 = match types.get(ty) {
        Some(
            Type::Bool
            | Type::Int { width: 8 | 16 | 32, .. }
            | Type::Float { width: 16 | 32 }
            | Type::BFloat16,
        ) => 1,
        Some(Type::Int { width: 64, .. } | Type::Float { width: 64 }) => 2,
        Some(ty) if is_address(ty) || is_variable(ty) => 2,
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
                .checked_mul(length_of(constants, *length)?)
                .ok_or_else(|| unsupported("an array of more than 2^32 scalars"))?
        }
        Some(Type::Structure { members, .. }) => {
            let mut total = 0;
            for member in members {
                total += u64::from(flat_size(types, constants, member.ty)?);
            }
            total
        }
        other => return Err(no_value(types, ty, other)),
    };
    u32::try_from(size).map_err(|_| unsupported("a variable of more than 2^32 scalars"))
}

/// Where each scalar of a value of type `ty` lies in memory.
pub(crate) fn components(
    types: &Types,
    constants: &Constants,
    ty: Id,
    arrangement: Arrangement,
) -> Result<Vec<Part>, Unsupported> {
    // Refuses what has too many.
    kinds(types, constants, ty)?;
    let mut parts = Vec::new();
    match arrangement {
        Arrangement::Flat => {
            let words = flat_size(types, constants, ty)?;
            parts.extend((0..words).map(|word| Part { offset: 4 * word, bytes: 4 }));
        }
        Arrangement::Spread(stride) => match types.get(ty) {
            Some(Type::Vector { component, count }) => {
                for index in 0..*count {
                    explicit(types, constants, *component, None, index * stride, &mut parts)?;
                }
            }
            _ => explicit(types, constants, ty, None, 0, &mut parts)?,
        },
        Arrangement::Explicit(matrix) => explicit(types, constants, ty, matrix, 0, &mut parts)?,
    }
    Ok(parts)
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
pub(crate) fn is_variable(ty: &Type) -> bool {
    match ty {
        Type::Pointer { storage, .. } | Type::UntypedPointer { storage } => {
            matches!(storage, StorageClass::StorageBuffer | StorageClass::Workgroup)
        }
        _ => false,
    }
}

/// Bytes of a scalar.
pub(crate) fn scalar_bytes(types: &Types, ty: Id) -> Result<u32, Unsupported> {
    match types.get(ty) {
        Some(ty) if is_address(ty) => Ok(8),
        Some(
            Type::Int { width: 8 | 16 | 32 | 64, .. }
            | Type::Float { width: 16 | 32 | 64 }
            | Type::BFloat16,
        ) => Ok(types.scalar_width(ty).unwrap_or(32) / 8),
        other => Err(no_value(types, ty, other)),
    }
}

fn explicit(
    types: &Types,
    constants: &Constants,
    ty: Id,
    matrix: Option<MatrixLayout>,
    base: u32,
    into: &mut Vec<Part>,
) -> Result<(), Unsupported> {
    let far = || unsupported("an offset of more than 2^32 bytes");
    let at = |index: u32, stride: u32| {
        index.checked_mul(stride).and_then(|bytes| bytes.checked_add(base)).ok_or_else(far)
    };
    match types.get(ty) {
        Some(
            Type::Int { .. }
            | Type::Float { .. }
            | Type::BFloat16
            | Type::Pointer { .. }
            | Type::UntypedPointer { .. },
        ) => match scalar_bytes(types, ty)? {
            8 => {
                into.extend([Part { offset: base, bytes: 4 }, Part { offset: at(1, 4)?, bytes: 4 }])
            }
            bytes => into.push(Part { offset: base, bytes }),
        },
        Some(Type::Vector { component, count }) => {
            let stride = scalar_bytes(types, *component)?;
            for index in 0..*count {
                explicit(types, constants, *component, None, at(index, stride)?, into)?;
            }
        }
        Some(Type::Matrix { column, count }) => {
            let layout = matrix.ok_or_else(|| unsupported("a matrix without MatrixStride"))?;
            let component = types
                .component_type(*column, 0)
                .ok_or_else(|| unsupported("a matrix without columns"))?;
            let Some(Type::Vector { count: rows, .. }) = types.get(*column) else {
                return Err(unsupported("a matrix without columns"));
            };
            let scalar = scalar_bytes(types, component)?;
            for index in 0..*count {
                for row in 0..*rows {
                    let (major, minor) = match layout.majorness {
                        Majorness::Column => (index, row),
                        Majorness::Row => (row, index),
                    };
                    let offset =
                        at(major, layout.stride)?.checked_add(minor * scalar).ok_or_else(far)?;
                    explicit(types, constants, component, None, offset, into)?;
                }
            }
        }
        Some(Type::Array { element, length, stride }) => {
            let stride = stride.ok_or_else(|| unsupported("an array without ArrayStride"))?;
            for index in 0..length_of(constants, *length)? as u32 {
                if into.len() > 1 << 16 {
                    return Err(unsupported("a value of more than 65536 scalars"));
                }
                explicit(types, constants, *element, matrix, at(index, stride)?, into)?;
            }
        }
        Some(Type::Structure { members, .. }) => {
            for member in members {
                let offset = member.offset.ok_or_else(|| unsupported("a member without Offset"))?;
                explicit(types, constants, member.ty, member.matrix, at(1, offset)?, into)?;
            }
        }
        other => return Err(no_value(types, ty, other)),
    }
    Ok(())
}
