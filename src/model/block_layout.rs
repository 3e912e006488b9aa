//! Where the members of the blocks that kernels declare lie in a buffer of a test, so that its contents can be told by the
//! kernel's own names.
//!
//! Promises: every scalar of the block with its path, `star[1].flags`, and its bytes, in the order of bytes.
//! Does not cover: blocks whose members have no names, or hold what is no number (device addresses): they have no layout.

use super::element::ScalarType;
use super::id::KernelName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// A way in which kernels of a test lay out a buffer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlockLayout {
    /// The kernels that bind the buffer to such a block, in the order of dispatches.
    pub kernels: Vec<KernelName>,
    /// Bytes of the buffer before the block.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub offset: u64,
    /// The members of the block, in the order of their places.
    pub members: Vec<BlockMember>,
}

fn is_zero(offset: &u64) -> bool {
    *offset == 0
}

/// A member of a block or of a structure in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlockMember {
    /// What the kernel calls it.
    pub name: String,
    /// Bytes from the start of the block or structure.
    pub offset: u64,
    /// What it is made of.
    pub contents: MemberContents,
}

/// What a member is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MemberContents {
    /// Name of the scalar type: `float`, `uint` ...
    Scalar(String),
    /// Scalars one behind the other.
    Vector {
        /// Name of the components' type.
        scalar: String,
        /// Number of components.
        components: u32,
    },
    /// Columns of scalars.
    Matrix {
        /// Name of the components' type.
        scalar: String,
        /// Number of columns.
        columns: u32,
        /// Number of rows.
        rows: u32,
        /// Bytes from one column to the next, or from one row to the next.
        stride: u32,
        /// Which of them lie one behind the other.
        order: MatrixOrder,
    },
    /// Elements of one kind.
    Array {
        /// Bytes from one element to the next.
        stride: u32,
        /// Number of elements; none: as many as the buffer has room for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        length: Option<u64>,
        /// What each element is made of.
        element: Box<MemberContents>,
    },
    /// Members with names.
    Structure(Vec<BlockMember>),
}

/// What of a matrix lies one behind the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MatrixOrder {
    /// The components of a column.
    Columns,
    /// The components of a row.
    Rows,
}

/// A scalar of a buffer by the kernel's own name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedScalar {
    /// `star[1].flags`
    pub path: String,
    /// Bytes from the start of the buffer.
    pub offset: u64,
    /// Its type.
    pub scalar: ScalarType,
}

impl BlockLayout {
    /// Whether it tells no more than a list of values does: one array of scalars or vectors without gaps, or one such value.
    pub fn is_plain_list(&self) -> bool {
        let [member] = self.members.as_slice() else { return false };
        let element = match &member.contents {
            MemberContents::Array { stride, element, .. } => {
                if element.packed_bytes() != Some(u64::from(*stride)) {
                    return false;
                }
                element
            }
            other => other,
        };
        self.offset + member.offset == 0 && element.packed_bytes().is_some()
    }

    /// The scalars that lie whole in the first bytes of a buffer, in the order of their bytes; at most `most` of them.
    pub fn scalars(&self, buffer_bytes: u64, most: usize) -> Vec<NamedScalar> {
        let mut walk =
            ScalarWalk { end: buffer_bytes, most, visits_left: MOST_VISITS, scalars: Vec::new() };
        walk.add_members("", self.offset, &self.members);
        walk.scalars
    }
}

impl MemberContents {
    /// Bytes of a scalar or vector.
    fn packed_bytes(&self) -> Option<u64> {
        let bytes_of = |scalar: &String| Some(ScalarType::of_name(scalar)?.size() as u64);
        match self {
            MemberContents::Scalar(scalar) => bytes_of(scalar),
            MemberContents::Vector { scalar, components } => {
                Some(bytes_of(scalar)? * u64::from(*components))
            }
            MemberContents::Matrix { .. }
            | MemberContents::Array { .. }
            | MemberContents::Structure(_) => None,
        }
    }
}

/// Gathers scalars until there are enough.
struct ScalarWalk {
    end: u64,
    most: usize,
    visits_left: u32,
    scalars: Vec<NamedScalar>,
}

/// Parts of a block that are looked at: more than a stored output has, but no number that forged evidence states.
const MOST_VISITS: u32 = 1 << 22;

impl ScalarWalk {
    fn is_full(&self) -> bool {
        self.scalars.len() >= self.most || self.visits_left == 0
    }

    fn add_members(&mut self, path: &str, start: u64, members: &[BlockMember]) {
        for member in members {
            let separator = if path.is_empty() { "" } else { "." };
            let member_path = format!("{path}{separator}{}", member.name);
            self.add_contents(&member_path, start.saturating_add(member.offset), &member.contents);
        }
    }

    fn add_contents(&mut self, path: &str, start: u64, contents: &MemberContents) {
        if self.is_full() {
            return;
        }
        self.visits_left -= 1;
        match contents {
            MemberContents::Scalar(scalar) => self.add_scalar(path.to_owned(), start, scalar),
            MemberContents::Vector { scalar, components } => {
                self.add_components(path, start, scalar, *components);
            }
            MemberContents::Matrix { scalar, columns, rows, stride, order } => {
                self.add_matrix(path, start, (scalar, *columns, *rows), (*stride, *order));
            }
            MemberContents::Array { stride, length, element } => {
                let length = length.unwrap_or(u64::MAX);
                let mut index = 0;
                // An array without stride, which only forged evidence has, would not end.
                while index < length && *stride > 0 && !self.is_full() {
                    let element_start =
                        start.saturating_add(index.saturating_mul(u64::from(*stride)));
                    if element_start >= self.end {
                        break;
                    }
                    self.add_contents(&format!("{path}[{index}]"), element_start, element);
                    index += 1;
                }
            }
            MemberContents::Structure(members) => self.add_members(path, start, members),
        }
    }

    fn add_components(&mut self, path: &str, start: u64, scalar: &str, components: u32) {
        let Some(scalar_type) = ScalarType::of_name(scalar) else { return };
        for component in (0..components).take_while(|component| *component < MOST_COMPONENTS) {
            let offset = start.saturating_add(u64::from(component) * scalar_type.size() as u64);
            self.add_scalar(component_path(path, component), offset, scalar);
        }
    }

    fn add_matrix(
        &mut self,
        path: &str,
        start: u64,
        (scalar, columns, rows): (&str, u32, u32),
        (stride, order): (u32, MatrixOrder),
    ) {
        let Some(scalar_type) = ScalarType::of_name(scalar) else { return };
        let (outer_count, inner_count) = match order {
            MatrixOrder::Columns => (columns, rows),
            MatrixOrder::Rows => (rows, columns),
        };
        for outer in 0..outer_count.min(MOST_COMPONENTS) {
            for inner in 0..inner_count.min(MOST_COMPONENTS) {
                let (column, row) = match order {
                    MatrixOrder::Columns => (outer, inner),
                    MatrixOrder::Rows => (inner, outer),
                };
                let in_matrix = u64::from(outer) * u64::from(stride)
                    + u64::from(inner) * scalar_type.size() as u64;
                let offset = start.saturating_add(in_matrix);
                self.add_scalar(component_path(&format!("{path}[{column}]"), row), offset, scalar);
            }
        }
    }

    fn add_scalar(&mut self, path: String, offset: u64, scalar: &str) {
        let Some(scalar) = ScalarType::of_name(scalar) else { return };
        let fits = offset.checked_add(scalar.size() as u64).is_some_and(|end| end <= self.end);
        if fits && !self.is_full() {
            self.scalars.push(NamedScalar { path, offset, scalar });
        }
    }
}

/// More components than any vector of a module has; forged evidence may state any number.
const MOST_COMPONENTS: u32 = 1 << 12;

/// Longer vectors have no names for their components.
fn component_path(path: &str, component: u32) -> String {
    let mut component_path = path.to_owned();
    let written = match ["x", "y", "z", "w"].get(component as usize) {
        Some(name) => write!(component_path, ".{name}"),
        None => write!(component_path, "[{component}]"),
    };
    written.expect("a string takes what is written");
    component_path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, offset: u64, contents: MemberContents) -> BlockMember {
        BlockMember { name: name.to_owned(), offset, contents }
    }

    fn block(members: Vec<BlockMember>) -> BlockLayout {
        BlockLayout { kernels: vec!["k".into()], offset: 0, members }
    }

    fn vector(components: u32) -> MemberContents {
        MemberContents::Vector { scalar: "float".to_owned(), components }
    }

    fn array(stride: u32, length: Option<u64>, element: MemberContents) -> MemberContents {
        MemberContents::Array { stride, length, element: Box::new(element) }
    }

    fn told(layout: &BlockLayout, bytes: u64) -> Vec<String> {
        let scalars = layout.scalars(bytes, 100).into_iter();
        scalars.map(|named| format!("{} {} {}", named.path, named.offset, named.scalar)).collect()
    }

    #[test]
    fn scalars_have_the_names_and_places_of_their_block() {
        let uint = || MemberContents::Scalar("uint".to_owned());
        let star = vec![member("place", 0, vector(2)), member("flags", 8, uint())];
        let star = array(16, None, MemberContents::Structure(star));
        let layout = block(vec![member("count", 0, uint()), member("star", 16, star)]);
        let expected = [
            "count 0 uint",
            "star[0].place.x 16 float",
            "star[0].place.y 20 float",
            "star[0].flags 24 uint",
            "star[1].place.x 32 float",
        ];
        // The buffer ends within a scalar.
        assert_eq!(told(&layout, 39), expected);
        assert_eq!(layout.scalars(1 << 40, 3).len(), 3);
        let shifted = BlockLayout { offset: 64, ..layout };
        assert_eq!(told(&shifted, 68), ["count 64 uint"]);
    }

    #[test]
    fn matrices_are_named_by_column_in_either_order() {
        let matrix = |order| MemberContents::Matrix {
            scalar: "float".to_owned(),
            columns: 2,
            rows: 3,
            stride: 16,
            order,
        };
        let columns = block(vec![member("m", 0, matrix(MatrixOrder::Columns))]);
        assert_eq!(
            told(&columns, 20),
            ["m[0].x 0 float", "m[0].y 4 float", "m[0].z 8 float", "m[1].x 16 float"]
        );
        let rows = block(vec![member("m", 0, matrix(MatrixOrder::Rows))]);
        assert_eq!(told(&rows, 20), ["m[0].x 0 float", "m[1].x 4 float", "m[0].y 16 float"]);
    }

    #[test]
    fn one_array_without_gaps_is_a_plain_list() {
        let of = |contents| block(vec![member("a", 0, contents)]).is_plain_list();
        assert!(
            of(vector(3)) && of(array(16, None, vector(4))) && of(array(8, Some(4), vector(2)))
        );
        assert!(!of(array(16, None, vector(3))) && !of(MemberContents::Structure(Vec::new())));
        assert!(!block(vec![member("a", 0, vector(1)), member("b", 4, vector(1))]).is_plain_list());
        let shifted = BlockLayout { offset: 4, ..block(vec![member("a", 0, vector(1))]) };
        assert!(!shifted.is_plain_list());
    }

    #[test]
    fn forged_layouts_come_to_an_end() {
        let endless = array(0, None, vector(u32::MAX));
        assert_eq!(
            told(&block(vec![member("a", u64::MAX, endless)]), u64::MAX),
            Vec::<String>::new()
        );
        let nothing =
            (0..20).fold(MemberContents::Structure(Vec::new()), |inner, _| array(1, None, inner));
        assert_eq!(told(&block(vec![member("a", 0, nothing)]), 1 << 20), Vec::<String>::new());
        let long = block(vec![member("a", 0, array(4, Some(u64::MAX), vector(1)))]);
        assert_eq!(long.scalars(u64::MAX, 7).len(), 7);
    }
}
