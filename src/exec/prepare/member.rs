//! What a byte of a buffer is part of: the scalar, the member, the array, and the name that a
//! kernel gives to it (`particles[3].velocity.y`).
//!
//! Knows: names, offsets, strides and matrix layouts of the block that a dispatch binds a buffer
//! to.
//! Promises: a path only where every step of it has a name or an index; modules without names give
//! none. Between members there is nothing.
//! Does not cover: which of several blocks that name one buffer wrote it; the first binding's block
//! counts.

use super::layout::{Layout, scalar_type};
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;
use vkcert_model::element::ScalarType;
use vkcert_spirv::module::Id;
use vkcert_spirv::types::{Majorness, MatrixLayout, StructureMember, Type};

/// An array that is a member of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberArray {
    /// Of the buffer; up to the greatest number where the array has no length.
    pub bytes: Range<u64>,
    /// Bytes from one element to the next.
    pub stride: u64,
}

/// The block of the first binding that names a buffer.
#[derive(Debug, Clone)]
pub struct BoundBlock {
    /// Where the members of the block lie.
    pub layout: Arc<Layout>,
    /// The block structure.
    pub ty: Id,
    /// Bytes of the buffer before the bound range.
    pub offset: u64,
}

impl BoundBlock {
    /// The member at a byte of the buffer; none before the bound range, between members, and
    /// without names.
    pub fn member_at(&self, byte: u64) -> Option<String> {
        let mut path = String::new();
        self.layout.member_path(self.ty, None, byte.checked_sub(self.offset)?, &mut path)?;
        Some(path)
    }

    /// The scalar that holds a byte of the buffer, with the byte where it starts; none before the
    /// bound range, between members, and where something else stands there.
    pub fn scalar_at(&self, byte: u64) -> Option<(u64, ScalarType)> {
        let (within, scalar) =
            self.layout.scalar_at(self.ty, None, byte.checked_sub(self.offset)?)?;
        Some((byte - within, scalar))
    }

    /// The array at a byte of the buffer, where the block's member there is one.
    pub fn array_at(&self, byte: u64) -> Option<MemberArray> {
        let Type::Structure { members, .. } = self.layout.types.get(self.ty)? else { return None };
        let (member, offset) = member_before(members, byte.checked_sub(self.offset)?)?;
        let start = self.offset + offset;
        let (stride, end) = match self.layout.types.get(member.ty)? {
            Type::Array { stride, length, .. } => {
                let stride = u64::from((*stride)?);
                (stride, start + self.layout.constants.array_length(*length)? * stride)
            }
            Type::RuntimeArray { stride, .. } => (u64::from((*stride)?), u64::MAX),
            _ => return None,
        };
        Some(MemberArray { bytes: start..end, stride })
            .filter(|array| stride > 0 && array.bytes.contains(&byte))
    }

    /// Where the member at a byte of the buffer begins, with all of its elements, in bytes from the
    /// start of the block: no two members begin at the same. None before the bound range and
    /// between members.
    pub fn member_start(&self, byte: u64) -> Option<u64> {
        self.layout.whole_member(self.ty, byte.checked_sub(self.offset)?, &mut None)
    }

    /// That member without indices and components: `particles[].velocity`.
    pub fn whole_member_at(&self, byte: u64) -> Option<String> {
        let mut path = Some(String::new());
        self.layout.whole_member(self.ty, byte.checked_sub(self.offset)?, &mut path)?;
        path
    }
}

impl Layout {
    /// Where the member at a byte of an object of type `ty` begins; adds to its path, if there is
    /// one and as long as all has names.
    fn whole_member(&self, ty: Id, byte: u64, path: &mut Option<String>) -> Option<u64> {
        match self.types.get(ty)? {
            Type::Structure { members, .. } => {
                let (member, offset) = member_before(members, byte)?;
                *path =
                    path.take().zip(member.name.as_ref()).map(|(path, name)| match path.as_str() {
                        "" => name.clone(),
                        _ => format!("{path}.{name}"),
                    });
                Some(offset + self.whole_member(member.ty, byte - offset, path)?)
            }
            Type::Array { element, stride, .. } | Type::RuntimeArray { element, stride } => {
                if let Some(path) = path {
                    path.push_str("[]");
                }
                self.whole_member(*element, divided(byte, (*stride)?)?.1, path)
            }
            _ => Some(0),
        }
    }

    /// The scalar at a byte of an object of type `ty`, with how far into it the byte is.
    fn scalar_at(
        &self,
        ty: Id,
        matrix: Option<MatrixLayout>,
        byte: u64,
    ) -> Option<(u64, ScalarType)> {
        match self.types.get(ty)? {
            Type::Structure { members, .. } => {
                let (member, offset) = member_before(members, byte)?;
                self.scalar_at(member.ty, member.matrix, byte - offset)
            }
            Type::Array { element, stride, .. } | Type::RuntimeArray { element, stride } => {
                self.scalar_at(*element, matrix, divided(byte, (*stride)?)?.1)
            }
            Type::Matrix { column, .. } => {
                let component = self.types.scalar_of(*column)?;
                let within = divided(byte, matrix?.stride)?.1;
                self.scalar_at(
                    component,
                    None,
                    divided(within, self.bytes_of_component(*column)?)?.1,
                )
            }
            Type::Vector { count, .. } => {
                let (index, within) = divided(byte, self.bytes_of_component(ty)?)?;
                (index < u64::from(*count)).then_some(())?;
                self.scalar_at(self.types.scalar_of(ty)?, None, within)
            }
            _ => {
                let scalar = scalar_type(&self.types, ty)?;
                (byte < scalar.size() as u64).then_some((byte, scalar))
            }
        }
    }

    /// Writes the path to a byte of an object of type `ty`.
    fn member_path(
        &self,
        ty: Id,
        matrix: Option<MatrixLayout>,
        byte: u64,
        path: &mut String,
    ) -> Option<()> {
        match self.types.get(ty)? {
            Type::Structure { members, .. } => {
                let (member, offset) = member_before(members, byte)?;
                let separator = if path.is_empty() { "" } else { "." };
                write!(path, "{separator}{}", member.name.as_ref()?).ok()?;
                self.member_path(member.ty, member.matrix, byte - offset, path)
            }
            Type::Array { element, stride, length } => {
                let (index, rest) = divided(byte, (*stride)?)?;
                let inside =
                    self.constants.array_length(*length).is_none_or(|length| index < length);
                inside.then_some(())?;
                write!(path, "[{index}]").ok()?;
                self.member_path(*element, matrix, rest, path)
            }
            Type::RuntimeArray { element, stride } => {
                let (index, rest) = divided(byte, (*stride)?)?;
                write!(path, "[{index}]").ok()?;
                self.member_path(*element, matrix, rest, path)
            }
            Type::Matrix { column, count } => {
                let (outer, rest) = divided(byte, matrix?.stride)?;
                let (inner, within) = divided(rest, self.bytes_of_component(*column)?)?;
                let (column_index, row) = match matrix?.majorness {
                    Majorness::Column => (outer, inner),
                    Majorness::Row => (inner, outer),
                };
                let rows = match self.types.get(*column)? {
                    Type::Vector { count, .. } => u64::from(*count),
                    _ => return None,
                };
                (column_index < u64::from(*count) && row < rows && within == 0).then_some(())?;
                write!(path, "[{column_index}]").ok()?;
                component(row, path)
            }
            Type::Vector { count, .. } => {
                let (index, _) = divided(byte, self.bytes_of_component(ty)?)?;
                (index < u64::from(*count)).then_some(())?;
                component(index, path)
            }
            _ => {
                let bytes = u64::from(self.types.scalar_width(ty)?.div_ceil(8));
                (byte < bytes).then_some(())
            }
        }
    }

    /// Bytes of one component of a vector.
    fn bytes_of_component(&self, vector: Id) -> Option<u32> {
        Some(self.types.scalar_width(self.types.scalar_of(vector)?)?.div_ceil(8))
    }
}

/// The last member that begins at a byte of its structure or before it, with where it begins.
fn member_before(members: &[StructureMember], byte: u64) -> Option<(&StructureMember, u64)> {
    let before = members.iter().filter_map(|member| Some((member, u64::from(member.offset?))));
    before.filter(|(_, offset)| *offset <= byte).max_by_key(|(_, offset)| *offset)
}

/// Whole strides, and what is left.
fn divided(byte: u64, stride: u32) -> Option<(u64, u64)> {
    let stride = u64::from(stride);
    Some((byte.checked_div(stride)?, byte.checked_rem(stride)?))
}

fn component(index: u64, path: &mut String) -> Option<()> {
    match ["x", "y", "z", "w"].get(usize::try_from(index).ok()?) {
        Some(name) => write!(path, ".{name}").ok(),
        // Longer vectors have no names for their components.
        None => write!(path, "[{index}]").ok(),
    }
}
