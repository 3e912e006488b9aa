//! How values are flattened into scalars, and where their scalars lie in memory.
//!
//! Knows: two arrangements. *Explicit* follows the decorations (Offset, ArrayStride, MatrixStride), as buffers and push
//! constants must; *flat* packs one word per scalar, for memory that nobody outside the kernel sees.
//! Promises: the scalars of a value and the components of its memory are in the same order.

use super::decode::{Unsupported, unsupported};
use crate::spirv::constants::Constants;
use crate::spirv::module::Id;
use crate::spirv::types::{Majorness, MatrixLayout, Type, Types};

/// What a scalar is kept in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Word,
    Mask,
}

/// How a pointee lies in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrangement {
    Flat,
    /// With the layout of the matrix that this member is or holds.
    Explicit(Option<MatrixLayout>),
    /// A column of a row-major matrix: words from one component to the next.
    Spread(u32),
}

/// The scalars of a type, in order.
pub fn kinds(types: &Types, constants: &Constants, ty: Id) -> Result<Vec<Kind>, Unsupported> {
    let repeated = |element: Id, count: u64| -> Result<Vec<Kind>, Unsupported> {
        let element = kinds(types, constants, element)?;
        let total = element.len() as u64 * count;
        if total > 1 << 16 {
            return Err(unsupported(format!("a value of {total} scalars")));
        }
        Ok(element.repeat(count as usize))
    };
    match types.get(ty) {
        Some(Type::Void) => Ok(Vec::new()),
        Some(Type::Bool) => Ok(vec![Kind::Mask]),
        Some(Type::Int { width: 32, .. } | Type::Float { width: 32 }) => Ok(vec![Kind::Word]),
        Some(Type::Vector { component, count }) => repeated(*component, u64::from(*count)),
        Some(Type::Matrix { column, count }) => repeated(*column, u64::from(*count)),
        Some(Type::Array { element, length, .. }) => repeated(*element, length_of(constants, *length)?),
        Some(Type::Structure { members, .. }) => {
            let mut all = Vec::new();
            for member in members {
                all.extend(kinds(types, constants, member.ty)?);
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
        Some(Type::Pointer { .. } | Type::ForwardPointer { .. }) => "a pointer as a value".to_owned(),
        _ => format!("a value of type {}", types.name(ty)),
    })
}

pub fn length_of(constants: &Constants, length: Id) -> Result<u64, Unsupported> {
    constants.array_length(length).ok_or_else(|| unsupported("an array length that is no constant"))
}

/// Scalars of a type, without listing them.
pub fn flat_size(types: &Types, constants: &Constants, ty: Id) -> Result<u32, Unsupported> {
    let size: u64 = match types.get(ty) {
        Some(Type::Bool | Type::Int { width: 32, .. } | Type::Float { width: 32 }) => 1,
        Some(Type::Vector { component, count }) => {
            u64::from(flat_size(types, constants, *component)?) * u64::from(*count)
        }
        Some(Type::Matrix { column, count }) => u64::from(flat_size(types, constants, *column)?) * u64::from(*count),
        Some(Type::Array { element, length, .. }) => u64::from(flat_size(types, constants, *element)?)
            .checked_mul(length_of(constants, *length)?)
            .ok_or_else(|| unsupported("an array of more than 2^32 scalars"))?,
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

/// Word offset of each scalar of a value of type `ty` in memory.
pub fn components(
    types: &Types,
    constants: &Constants,
    ty: Id,
    arrangement: Arrangement,
) -> Result<Vec<u32>, Unsupported> {
    let mut offsets = Vec::new();
    match arrangement {
        Arrangement::Flat => offsets.extend(0..flat_size(types, constants, ty)?),
        Arrangement::Spread(stride) => {
            let count = kinds(types, constants, ty)?.len() as u32;
            offsets.extend((0..count).map(|component| component * stride));
        }
        Arrangement::Explicit(matrix) => explicit(types, constants, ty, matrix, 0, &mut offsets)?,
    }
    Ok(offsets)
}

fn explicit(
    types: &Types,
    constants: &Constants,
    ty: Id,
    matrix: Option<MatrixLayout>,
    base: u32,
    into: &mut Vec<u32>,
) -> Result<(), Unsupported> {
    match types.get(ty) {
        Some(Type::Int { width: 32, .. } | Type::Float { width: 32 }) => into.push(base),
        Some(Type::Vector { component, count }) => {
            kinds(types, constants, *component)?;
            into.extend((0..*count).map(|index| base + index));
        }
        Some(Type::Matrix { column, count }) => {
            let rows = kinds(types, constants, *column)?.len() as u32;
            let layout = matrix.ok_or_else(|| unsupported("a matrix without MatrixStride"))?;
            let stride = word_stride(layout.stride)?;
            for at in 0..*count {
                into.extend((0..rows).map(|row| match layout.majorness {
                    Majorness::Column => base + at * stride + row,
                    Majorness::Row => base + row * stride + at,
                }));
            }
        }
        Some(Type::Array { element, length, stride }) => {
            let stride = word_stride(stride.ok_or_else(|| unsupported("an array without ArrayStride"))?)?;
            for index in 0..length_of(constants, *length)? as u32 {
                if into.len() > 1 << 16 {
                    return Err(unsupported("a value of more than 65536 scalars"));
                }
                explicit(types, constants, *element, matrix, base + index * stride, into)?;
            }
        }
        Some(Type::Structure { members, .. }) => {
            for member in members {
                let offset = word_stride(member.offset.ok_or_else(|| unsupported("a member without Offset"))?)?;
                explicit(types, constants, member.ty, member.matrix, base + offset, into)?;
            }
        }
        other => return Err(no_value(types, ty, other)),
    }
    Ok(())
}

/// Bytes to words; 32-bit scalars lie at multiples of 4.
pub fn word_stride(bytes: u32) -> Result<u32, Unsupported> {
    if bytes.is_multiple_of(4) { Ok(bytes / 4) } else { Err(unsupported(format!("an offset of {bytes} bytes"))) }
}
