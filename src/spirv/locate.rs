//! Which scalar of a block a byte belongs to.
//!
//! Knows: offsets, strides and matrix layouts of a module's types. Promises: the scalar's type, its
//! first byte, and the way to it as a program writes it (`values[3].position.y`, `m[1][2]`). A byte
//! of padding belongs to none.
//! Does not cover: memory without a layout.

use super::constants::Constants;
use super::module::Id;
use super::types::{Majorness, MatrixLayout, StructureMember, Type, Types};

/// A scalar in a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScalarPlace {
    /// As the kernel names it, from the block on: `particles[3].velocity.y`.
    pub path: String,
    /// Its type.
    pub ty: Id,
    /// Bytes from the start of the block.
    pub offset: u64,
}

/// The scalar at byte `byte` of a block of type `block`.
pub fn scalar_at(
    types: &Types,
    constants: &Constants,
    block: Id,
    byte: u64,
) -> Option<ScalarPlace> {
    let mut walk = LayoutWalk { types, constants, path: String::new(), offset: 0 };
    let ty = walk.descend_to_scalar(block, None, byte)?;
    let path = walk.path.trim_start_matches('.').to_owned();
    Some(ScalarPlace { path, ty, offset: walk.offset })
}

struct LayoutWalk<'a> {
    types: &'a Types,
    constants: &'a Constants,
    path: String,
    offset: u64,
}

impl LayoutWalk<'_> {
    /// Goes down to the scalar that holds byte `rest` of an object of type `ty`; its type.
    fn descend_to_scalar(
        &mut self,
        type_id: Id,
        matrix_layout: Option<MatrixLayout>,
        byte_offset: u64,
    ) -> Option<Id> {
        match self.types.get(type_id)? {
            Type::Int { width, .. } | Type::Float { width } => {
                (byte_offset < u64::from(width / 8)).then_some(type_id)
            }
            Type::BFloat16 => (byte_offset < 2).then_some(type_id),
            Type::Vector { component, count: element_count } => {
                let component_size = u64::from(self.types.scalar_width(*component)? / 8);
                let part_index =
                    piece_holding(byte_offset, component_size, u64::from(*element_count))?;
                let component_name = ["x", "y", "z", "w"].get(part_index as usize);
                self.path.push_str(&component_name.map_or_else(
                    || format!("[{part_index}]"),
                    |component_name| format!(".{component_name}"),
                ));
                self.enter_part(*component, None, part_index * component_size, byte_offset)
            }
            Type::Matrix { column, count: element_count } => {
                self.enter_matrix(*column, *element_count, matrix_layout?, byte_offset)
            }
            Type::Array { element, length, stride } => {
                let element_count = self.constants.array_length(*length)?;
                self.enter_element(
                    *element,
                    matrix_layout,
                    u64::from((*stride)?),
                    element_count,
                    byte_offset,
                )
            }
            Type::RuntimeArray { element, stride } => self.enter_element(
                *element,
                matrix_layout,
                u64::from((*stride)?),
                u64::MAX,
                byte_offset,
            ),
            Type::Structure { members, .. } => {
                members.iter().enumerate().find_map(|(member_index, member)| {
                    self.descend_to_member(member_index, member, byte_offset)
                })
            }
            Type::Void
            | Type::Bool
            | Type::Pointer { .. }
            | Type::UntypedPointer { .. }
            | Type::ForwardPointer { .. }
            | Type::Function { .. }
            | Type::Image(_)
            | Type::Sampler
            | Type::SampledImage { .. }
            | Type::CooperativeMatrix { .. }
            | Type::Other(_) => None,
        }
    }

    /// The same in a member of a structure; path and offset stay where the byte is in none of it.
    fn descend_to_member(
        &mut self,
        member_index: usize,
        member: &StructureMember,
        byte_offset: u64,
    ) -> Option<Id> {
        let member_offset = u64::from(member.offset?);
        let offset_in_member = byte_offset.checked_sub(member_offset)?;
        let (path_length, block_offset) = (self.path.len(), self.offset);
        self.path.push_str(&match &member.name {
            Some(member_name) => format!(".{member_name}"),
            None => format!(".{member_index}"),
        });
        self.offset += member_offset;
        let scalar_type = self.descend_to_scalar(member.ty, member.matrix, offset_in_member);
        if scalar_type.is_none() {
            self.path.truncate(path_length);
            self.offset = block_offset;
        }
        scalar_type
    }

    fn enter_part(
        &mut self,
        type_id: Id,
        matrix_layout: Option<MatrixLayout>,
        part_start: u64,
        byte_offset: u64,
    ) -> Option<Id> {
        self.offset += part_start;
        self.descend_to_scalar(type_id, matrix_layout, byte_offset - part_start)
    }

    fn enter_element(
        &mut self,
        type_id: Id,
        matrix_layout: Option<MatrixLayout>,
        element_stride: u64,
        element_count: u64,
        byte_offset: u64,
    ) -> Option<Id> {
        let element_index = piece_holding(byte_offset, element_stride, element_count)?;
        self.path.push_str(&format!("[{element_index}]"));
        self.enter_part(type_id, matrix_layout, element_index * element_stride, byte_offset)
    }

    /// `m[column][row]`, however the matrix is stored.
    fn enter_matrix(
        &mut self,
        column: Id,
        column_count: u32,
        matrix_layout: MatrixLayout,
        byte_offset: u64,
    ) -> Option<Id> {
        let Type::Vector { component, count: rows } = self.types.get(column)? else { return None };
        let component_size = u64::from(self.types.scalar_width(*component)? / 8);
        let (vector_count, component_count) = match matrix_layout.majorness {
            Majorness::Column => (column_count, *rows),
            Majorness::Row => (*rows, column_count),
        };
        let vector_index =
            piece_holding(byte_offset, u64::from(matrix_layout.stride), u64::from(vector_count))?;
        let vector_start = vector_index * u64::from(matrix_layout.stride);
        let component_index =
            piece_holding(byte_offset - vector_start, component_size, u64::from(component_count))?;
        let (column_index, row_index) = match matrix_layout.majorness {
            Majorness::Column => (vector_index, component_index),
            Majorness::Row => (component_index, vector_index),
        };
        self.path.push_str(&format!("[{column_index}][{row_index}]"));
        self.enter_part(
            *component,
            None,
            vector_start + component_index * component_size,
            byte_offset,
        )
    }
}

/// Which of `count` pieces of `size` bytes holds byte `rest`.
fn piece_holding(byte_offset: u64, piece_size: u64, piece_count: u64) -> Option<u64> {
    let piece_index = byte_offset.checked_div(piece_size)?;
    (piece_index < piece_count).then_some(piece_index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile_tests::compile;
    use crate::interface::Reflection;
    use crate::module::Module;
    use crate::validate::TargetEnv;
    use std::collections::BTreeMap;

    const TEXT: &str = "
        struct Inner { vec3 p; uint n; };
        layout(std430, binding = 0) buffer B {
            float head; layout(row_major) mat2x3 m; Inner list[2]; int rest[];
        } b;
        void main() { b.rest[0] = 1; b.head = 1.0; }";

    #[test]
    fn every_byte_is_found_where_the_layout_has_it() {
        let module = Module::parse(compile(TEXT, TargetEnv::Vulkan1_1)).unwrap();
        let reflection = Reflection::of_entry_point(&module, "main", &BTreeMap::new()).unwrap();
        let types = Types::of_module(&module);
        let constants = Constants::evaluate(&module, &types, &BTreeMap::new()).unwrap();
        let at = |byte| {
            scalar_at(&types, &constants, reflection.resources[0].block_type, byte)
                .map(|place| (place.path, place.offset))
        };
        let place = |path: &str, offset| Some((path.to_owned(), offset));
        // By hand, std430: head 0; m (3 rows of 2, stride 8) at 8; Inner (16 bytes) at 32 and 48;
        // rest from 64.
        assert_eq!(at(2), place("head", 0));
        assert_eq!(at(5), None);
        assert_eq!(at(8), place("m[0][0]", 8));
        assert_eq!(at(13), place("m[1][0]", 12));
        assert_eq!(at(16), place("m[0][1]", 16));
        assert_eq!(at(31), place("m[1][2]", 28));
        assert_eq!(at(40), place("list[0].p.z", 40));
        assert_eq!(at(47), place("list[0].n", 44));
        assert_eq!(at(52), place("list[1].p.y", 52));
        assert_eq!(at(64 + 4 * 1000 + 3), place("rest[1000]", 64 + 4 * 1000));
    }
}
