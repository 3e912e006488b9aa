//! What a byte of a buffer is part of: the scalar, the member, the array, and the name that a
//! kernel gives to it (`particles[3].velocity.y`).
//!
//! Knows: names, offsets, strides and matrix layouts of the block that a dispatch binds a buffer
//! to.
//! Promises: a path only where every step of it has a name or an index; modules without names give
//! none. Between members there is nothing.
//! Does not cover: which of several blocks that name one buffer wrote it; the first binding's block
//! counts.

use super::layout::{ModuleLayout, scalar_type};
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
    pub layout: Arc<ModuleLayout>,
    /// The block structure.
    pub ty: Id,
    /// Bytes of the buffer before the bound range.
    pub offset: u64,
}

impl BoundBlock {
    /// The member at a byte of the buffer; none before the bound range, between members, and
    /// without names.
    pub fn member_at(&self, byte_offset: u64) -> Option<String> {
        let mut member_path = String::new();
        self.layout.member_path(
            self.ty,
            None,
            byte_offset.checked_sub(self.offset)?,
            &mut member_path,
        )?;
        Some(member_path)
    }

    /// The scalar that holds a byte of the buffer, with the byte where it starts; none before the
    /// bound range, between members, and where something else stands there.
    pub fn scalar_at(&self, byte_offset: u64) -> Option<(u64, ScalarType)> {
        let (byte_in_scalar, scalar) =
            self.layout.scalar_at(self.ty, None, byte_offset.checked_sub(self.offset)?)?;
        Some((byte_offset - byte_in_scalar, scalar))
    }

    /// The array at a byte of the buffer, where the block's member there is one.
    pub fn array_at(&self, byte_offset: u64) -> Option<MemberArray> {
        let Type::Structure { members, .. } = self.layout.types.get(self.ty)? else { return None };
        let (member, offset) = member_before(members, byte_offset.checked_sub(self.offset)?)?;
        let array_start = self.offset + offset;
        let (stride, array_end) = match self.layout.types.get(member.ty)? {
            Type::Array { stride, length, .. } => {
                let stride = u64::from((*stride)?);
                (stride, array_start + self.layout.constants.array_length(*length)? * stride)
            }
            Type::RuntimeArray { stride, .. } => (u64::from((*stride)?), u64::MAX),
            _ => return None,
        };
        Some(MemberArray { bytes: array_start..array_end, stride })
            .filter(|array| stride > 0 && array.bytes.contains(&byte_offset))
    }

    /// Where the member at a byte of the buffer begins, with all of its elements, in bytes from the
    /// start of the block: no two members begin at the same. None before the bound range and
    /// between members.
    pub fn member_start(&self, byte_offset: u64) -> Option<u64> {
        self.layout.whole_member_start(self.ty, byte_offset.checked_sub(self.offset)?, &mut None)
    }

    /// That member without indices and components: `particles[].velocity`.
    pub fn whole_member_at(&self, byte_offset: u64) -> Option<String> {
        let mut member_path = Some(String::new());
        self.layout.whole_member_start(
            self.ty,
            byte_offset.checked_sub(self.offset)?,
            &mut member_path,
        )?;
        member_path
    }
}

impl ModuleLayout {
    /// Where the member at a byte of an object of type `ty` begins; adds to its path, if there is
    /// one and as long as all has names.
    fn whole_member_start(
        &self,
        type_id: Id,
        byte_offset: u64,
        member_path: &mut Option<String>,
    ) -> Option<u64> {
        match self.types.get(type_id)? {
            Type::Structure { members, .. } => {
                let (member, offset) = member_before(members, byte_offset)?;
                *member_path = member_path.take().zip(member.name.as_ref()).map(
                    |(member_path, member_name)| match member_path.as_str() {
                        "" => member_name.clone(),
                        _ => format!("{member_path}.{member_name}"),
                    },
                );
                Some(
                    offset
                        + self.whole_member_start(member.ty, byte_offset - offset, member_path)?,
                )
            }
            Type::Array { element, stride, .. } | Type::RuntimeArray { element, stride } => {
                if let Some(member_path) = member_path {
                    member_path.push_str("[]");
                }
                self.whole_member_start(
                    *element,
                    divide_by_stride(byte_offset, (*stride)?)?.1,
                    member_path,
                )
            }
            _ => Some(0),
        }
    }

    /// The scalar at a byte of an object of type `ty`, with how far into it the byte is.
    fn scalar_at(
        &self,
        type_id: Id,
        matrix_layout: Option<MatrixLayout>,
        byte_offset: u64,
    ) -> Option<(u64, ScalarType)> {
        match self.types.get(type_id)? {
            Type::Structure { members, .. } => {
                let (member, offset) = member_before(members, byte_offset)?;
                self.scalar_at(member.ty, member.matrix, byte_offset - offset)
            }
            Type::Array { element, stride, .. } | Type::RuntimeArray { element, stride } => self
                .scalar_at(*element, matrix_layout, divide_by_stride(byte_offset, (*stride)?)?.1),
            Type::Matrix { column, .. } => {
                let component = self.types.scalar_of(*column)?;
                let byte_in_column = divide_by_stride(byte_offset, matrix_layout?.stride)?.1;
                self.scalar_at(
                    component,
                    None,
                    divide_by_stride(byte_in_column, self.bytes_of_component(*column)?)?.1,
                )
            }
            Type::Vector { count, .. } => {
                let (index, byte_in_column) =
                    divide_by_stride(byte_offset, self.bytes_of_component(type_id)?)?;
                (index < u64::from(*count)).then_some(())?;
                self.scalar_at(self.types.scalar_of(type_id)?, None, byte_in_column)
            }
            _ => {
                let scalar = scalar_type(&self.types, type_id)?;
                (byte_offset < scalar.size() as u64).then_some((byte_offset, scalar))
            }
        }
    }

    /// Writes the path to a byte of an object of type `ty`.
    fn member_path(
        &self,
        type_id: Id,
        matrix_layout: Option<MatrixLayout>,
        byte_offset: u64,
        path: &mut String,
    ) -> Option<()> {
        match self.types.get(type_id)? {
            Type::Structure { members, .. } => {
                let (member, offset) = member_before(members, byte_offset)?;
                let separator = if path.is_empty() { "" } else { "." };
                write!(path, "{separator}{}", member.name.as_ref()?).ok()?;
                self.member_path(member.ty, member.matrix, byte_offset - offset, path)
            }
            Type::Array { element, stride, length } => {
                let (element_index, byte_in_element) = divide_by_stride(byte_offset, (*stride)?)?;
                let is_inside = self
                    .constants
                    .array_length(*length)
                    .is_none_or(|length| element_index < length);
                is_inside.then_some(())?;
                write!(path, "[{element_index}]").ok()?;
                self.member_path(*element, matrix_layout, byte_in_element, path)
            }
            Type::RuntimeArray { element, stride } => {
                let (element_index, byte_in_element) = divide_by_stride(byte_offset, (*stride)?)?;
                write!(path, "[{element_index}]").ok()?;
                self.member_path(*element, matrix_layout, byte_in_element, path)
            }
            Type::Matrix { column, count } => {
                let (vector_index, byte_in_element) =
                    divide_by_stride(byte_offset, matrix_layout?.stride)?;
                let (component_index, byte_in_component) =
                    divide_by_stride(byte_in_element, self.bytes_of_component(*column)?)?;
                let (column_index, row) = match matrix_layout?.majorness {
                    Majorness::Column => (vector_index, component_index),
                    Majorness::Row => (component_index, vector_index),
                };
                let row_count = match self.types.get(*column)? {
                    Type::Vector { count, .. } => u64::from(*count),
                    _ => return None,
                };
                (column_index < u64::from(*count) && row < row_count && byte_in_component == 0)
                    .then_some(())?;
                write!(path, "[{column_index}]").ok()?;
                push_component(row, path)
            }
            Type::Vector { count, .. } => {
                let (element_index, _) =
                    divide_by_stride(byte_offset, self.bytes_of_component(type_id)?)?;
                (element_index < u64::from(*count)).then_some(())?;
                push_component(element_index, path)
            }
            _ => {
                let scalar_bytes = u64::from(self.types.scalar_width(type_id)?.div_ceil(8));
                (byte_offset < scalar_bytes).then_some(())
            }
        }
    }

    /// Bytes of one component of a vector.
    fn bytes_of_component(&self, vector: Id) -> Option<u32> {
        Some(self.types.scalar_width(self.types.scalar_of(vector)?)?.div_ceil(8))
    }
}

/// The last member that begins at a byte of its structure or before it, with where it begins.
fn member_before(members: &[StructureMember], byte_offset: u64) -> Option<(&StructureMember, u64)> {
    let placed_members =
        members.iter().filter_map(|member| Some((member, u64::from(member.offset?))));
    placed_members.filter(|(_, offset)| *offset <= byte_offset).max_by_key(|(_, offset)| *offset)
}

/// Whole strides, and what is left.
fn divide_by_stride(byte_offset: u64, stride_bytes: u32) -> Option<(u64, u64)> {
    let stride_bytes = u64::from(stride_bytes);
    Some((byte_offset.checked_div(stride_bytes)?, byte_offset.checked_rem(stride_bytes)?))
}

fn push_component(component_index: u64, member_path: &mut String) -> Option<()> {
    match ["x", "y", "z", "w"].get(usize::try_from(component_index).ok()?) {
        Some(component_name) => write!(member_path, ".{component_name}").ok(),
        // Longer vectors have no names for their components.
        None => write!(member_path, "[{component_index}]").ok(),
    }
}
