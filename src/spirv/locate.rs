//! Which scalar of a block a byte belongs to.
//!
//! Knows: offsets, strides and matrix layouts of a module's types. Promises: the scalar's type, its
//! first byte, and the way to it as a program writes it (`values[3].position.y`, `m[1][2]`). A byte
//! of padding belongs to none.
//! Does not cover: memory without a layout.

use super::constants::Constants;
use super::module::Id;
use super::types::{Majorness, MatrixLayout, Type, Types};

/// A scalar in a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScalarPlace {
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
    let mut walk = Walk { types, constants, path: String::new(), offset: 0 };
    let ty = walk.descend(block, None, byte)?;
    let path = walk.path.trim_start_matches('.').to_owned();
    Some(ScalarPlace { path, ty, offset: walk.offset })
}

struct Walk<'a> {
    types: &'a Types,
    constants: &'a Constants,
    path: String,
    offset: u64,
}

impl Walk<'_> {
    /// Goes down to the scalar that holds byte `rest` of an object of type `ty`; its type.
    fn descend(&mut self, ty: Id, matrix: Option<MatrixLayout>, rest: u64) -> Option<Id> {
        match self.types.get(ty)? {
            Type::Int { width, .. } | Type::Float { width } => {
                (rest < u64::from(width / 8)).then_some(ty)
            }
            Type::BFloat16 => (rest < 2).then_some(ty),
            Type::Vector { component, count } => {
                let size = u64::from(self.types.scalar_width(*component)? / 8);
                let index = within(rest, size, u64::from(*count))?;
                let name = ["x", "y", "z", "w"].get(index as usize);
                self.path.push_str(
                    &name.map_or_else(|| format!("[{index}]"), |name| format!(".{name}")),
                );
                self.enter(*component, None, index * size, rest)
            }
            Type::Matrix { column, count } => self.matrix(*column, *count, matrix?, rest),
            Type::Array { element, length, stride } => {
                let count = self.constants.array_length(*length)?;
                self.element(*element, matrix, u64::from((*stride)?), count, rest)
            }
            Type::RuntimeArray { element, stride } => {
                self.element(*element, matrix, u64::from((*stride)?), u64::MAX, rest)
            }
            Type::Structure { members, .. } => {
                members.iter().enumerate().find_map(|(index, member)| {
                    let offset = u64::from(member.offset?);
                    let mut inner = Walk { path: self.path.clone(), ..*self };
                    let name = member.name.clone().unwrap_or_else(|| index.to_string());
                    inner.path.push_str(&format!(".{name}"));
                    inner.offset += offset;
                    let found =
                        inner.descend(member.ty, member.matrix, rest.checked_sub(offset)?)?;
                    (self.path, self.offset) = (inner.path, inner.offset);
                    Some(found)
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

    fn enter(&mut self, ty: Id, matrix: Option<MatrixLayout>, start: u64, rest: u64) -> Option<Id> {
        self.offset += start;
        self.descend(ty, matrix, rest - start)
    }

    fn element(
        &mut self,
        ty: Id,
        matrix: Option<MatrixLayout>,
        stride: u64,
        count: u64,
        rest: u64,
    ) -> Option<Id> {
        let index = within(rest, stride, count)?;
        self.path.push_str(&format!("[{index}]"));
        self.enter(ty, matrix, index * stride, rest)
    }

    /// `m[column][row]`, however the matrix is stored.
    fn matrix(&mut self, column: Id, count: u32, layout: MatrixLayout, rest: u64) -> Option<Id> {
        let Type::Vector { component, count: rows } = self.types.get(column)? else { return None };
        let size = u64::from(self.types.scalar_width(*component)? / 8);
        let (vectors, components) = match layout.majorness {
            Majorness::Column => (count, *rows),
            Majorness::Row => (*rows, count),
        };
        let major = within(rest, u64::from(layout.stride), u64::from(vectors))?;
        let start = major * u64::from(layout.stride);
        let minor = within(rest - start, size, u64::from(components))?;
        let (c, r) = match layout.majorness {
            Majorness::Column => (major, minor),
            Majorness::Row => (minor, major),
        };
        self.path.push_str(&format!("[{c}][{r}]"));
        self.enter(*component, None, start + minor * size, rest)
    }
}

/// Which of `count` pieces of `size` bytes holds byte `rest`.
fn within(rest: u64, size: u64, count: u64) -> Option<u64> {
    let index = rest.checked_div(size)?;
    (index < count).then_some(index)
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
        let reflection = Reflection::of(&module, "main", &BTreeMap::new()).unwrap();
        let types = Types::of(&module);
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
