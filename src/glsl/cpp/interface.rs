//! What a program needs to know of a kernel's interface to the host, from reflection.

use std::collections::BTreeMap;

/// A kernel's interface to the host, under one specialization.
#[derive(Debug, Clone, Default)]
pub struct KernelInterface {
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
    pub set: u32,
    pub binding: u32,
    pub layout: ValueLayout,
}

/// How the bytes of a value lie in a block.
#[derive(Debug, Clone)]
pub enum ValueLayout {
    /// A number of so many bytes.
    Number(u32),
    /// `count` numbers of so many bytes each, without gaps.
    Vector { count: u32, bytes: u32 },
    /// Columns of `rows` numbers; `stride` in bytes from one column (of rows: row) to the next.
    Matrix { columns: u32, rows: u32, bytes: u32, stride: u32, order: MatrixOrder },
    /// `count` is none for a runtime array; `stride` in bytes.
    Array { stride: u32, count: Option<u64>, element: Box<ValueLayout> },
    /// Members in order, each with its byte offset.
    Structure(Vec<(u32, ValueLayout)>),
    /// What has no counterpart in the program, by name.
    Other(String),
}

/// Which numbers of a matrix lie beside each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatrixOrder {
    Columns,
    Rows,
}

/// A specialization constant: raw bits of its value.
#[derive(Debug, Clone, Copy)]
pub struct SpecializationBits {
    pub bits: u64,
}
