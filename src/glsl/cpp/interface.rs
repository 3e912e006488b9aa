//! What a program needs to know of a kernel's interface to the host, from reflection.

use std::collections::BTreeMap;

/// A kernel's interface to the host, under one specialization.
#[derive(Debug, Clone, Default)]
pub struct KernelInterface {
    /// Invocations of a workgroup in x, y and z.
    pub local_size: [u32; 3],
    /// Storage and uniform blocks that the entry point uses, by block name.
    pub blocks: BTreeMap<String, BoundBlock>,
    /// Layout of the push-constant block, where the entry point uses one.
    pub push_constants: Option<ValueLayout>,
    /// Specialization constants by name.
    pub specialization: BTreeMap<String, SpecializationBits>,
    /// Bytes of workgroup memory.
    pub workgroup_bytes: u64,
}

/// A block that is bound.
#[derive(Debug, Clone)]
pub struct BoundBlock {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// How the bytes of its members lie.
    pub layout: ValueLayout,
}

/// How the bytes of a value lie in a block.
#[derive(Debug, Clone)]
pub enum ValueLayout {
    /// A number of so many bytes.
    Number(u32),
    /// `count` numbers of so many bytes each, without gaps.
    Vector {
        /// Numbers of the vector, 2 to 4.
        count: u32,
        /// Bytes of a number.
        bytes: u32,
    },
    /// Columns of `rows` numbers; `stride` in bytes from one column (of rows: row) to the next.
    Matrix {
        /// Columns of the matrix.
        columns: u32,
        /// Rows of the matrix.
        rows: u32,
        /// Bytes of a number.
        bytes: u32,
        /// Bytes from one column, or row, to the next.
        stride: u32,
        /// Whether columns or rows lie together.
        order: MatrixOrder,
    },
    /// `count` is none for a runtime array; `stride` in bytes.
    Array {
        /// Bytes from one element to the next.
        stride: u32,
        /// Number of elements; none for a runtime array.
        count: Option<u64>,
        /// Layout of an element.
        element: Box<ValueLayout>,
    },
    /// Members in order, each with its byte offset.
    Structure(Vec<(u32, ValueLayout)>),
    /// What has no counterpart in the program, by name.
    Other(String),
}

/// Which numbers of a matrix lie beside each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatrixOrder {
    /// Those of a column.
    Columns,
    /// Those of a row.
    Rows,
}

/// A specialization constant: raw bits of its value.
#[derive(Debug, Clone, Copy)]
pub struct SpecializationBits {
    /// The value in the lowest bits; a Boolean is 0 or 1.
    pub bits: u64,
}
