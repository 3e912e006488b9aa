//! Memory accesses of a program: where they go, and which scalars they have there.

use super::register::{NumberRegisters, Reg, RegisterUse, Scalar, visit_word};
use std::sync::Arc;

/// Where an access goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccessRoot {
    /// Index into [`Program::descriptors`].
    Descriptor(u32),
    Workgroup,
    /// Private and function variables that need an address.
    Invocation,
    PushConstant,
    /// One of consecutive descriptors, by an index that may differ between lanes.
    Descriptors {
        first: u32,
        length: u32,
        index: Reg,
    },
    /// Where a device address leads.
    Address(NumberRegisters),
    /// Where a variable pointer leads: the number of its [`PointedObject`] from 1 on; 0 is null.
    Pointer {
        which: Reg,
        into: PointedMemory,
    },
    /// A whole buffer of the job, at an offset per lane; the machine makes it from an address when
    /// the access is executed.
    Buffer(u32),
}

/// The memory that a variable pointer leads into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PointedMemory {
    Buffers,
    Workgroup,
}

impl AccessRoot {
    /// Whether it is memory outside the kernel, so that the host sees what is written.
    pub fn is_buffer(self) -> bool {
        match self {
            AccessRoot::Descriptor(_)
            | AccessRoot::Descriptors { .. }
            | AccessRoot::Address(_)
            | AccessRoot::Buffer(_)
            | AccessRoot::Pointer { which: _, into: PointedMemory::Buffers } => true,
            AccessRoot::Workgroup
            | AccessRoot::Invocation
            | AccessRoot::PushConstant
            | AccessRoot::Pointer { which: _, into: PointedMemory::Workgroup } => false,
        }
    }
}

/// The unit of addresses and strides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressUnit {
    /// Every scalar is a word at a multiple of four bytes.
    Word,
    /// Some scalar has one byte or two.
    Byte,
}

impl AddressUnit {
    /// Units of so many words.
    pub fn units_of_words(self, words: u32) -> u32 {
        match self {
            AddressUnit::Word => words,
            AddressUnit::Byte => words.saturating_mul(4),
        }
    }

    pub fn byte_count(self) -> u32 {
        match self {
            AddressUnit::Word => 4,
            AddressUnit::Byte => 1,
        }
    }
}

/// One dynamic index of an access chain.
#[derive(Debug, Clone, Copy)]
pub struct Dimension {
    pub index: Reg,
    /// From one element to the next: bytes while decoding, units of the access after that.
    pub stride: u32,
    pub bound: DimensionBound,
    pub signed: bool,
}

/// How many elements a dimension has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DimensionBound {
    Fixed(u32),
    /// A runtime array: what the bound range holds.
    Runtime,
}

/// A memory access: address `base + sum(index * stride)`, and the scalars at `components` from
/// there.
#[derive(Debug, Clone)]
pub struct Access {
    pub root: AccessRoot,
    pub unit: AddressUnit,
    /// Units.
    pub base: u32,
    pub dimensions: Arc<[Dimension]>,
    /// Offset of each scalar, in units.
    pub components: Arc<[u32]>,
    /// Bytes of each scalar (1, 2 or 4); empty where all are words.
    pub sizes: Arc<[u32]>,
    /// Of a variable pointer into workgroup memory: first word and number of words of the variable
    /// that it may access.
    pub window: Option<[u32; 2]>,
    pub alignment: Alignment,
    /// For messages: the variable's name.
    pub name: Arc<str>,
}

/// Required alignments of an access through a device address, in bytes; 1 where none is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alignment {
    /// The address that is accessed (SPIR-V, memory operand Aligned; of an atomic its width).
    pub access: u32,
    /// The address that the block begins at (GLSL, `buffer_reference_align`).
    pub block: u32,
}

impl Alignment {
    pub const NONE: Alignment = Alignment { access: 1, block: 1 };
}

/// What a variable pointer may point into: a buffer, or a variable of workgroup memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointedObject {
    pub root: AccessRoot,
    pub window: Option<[u32; 2]>,
    pub name: Arc<str>,
}

impl Access {
    /// Units from the first scalar's start to the last one's end.
    pub fn unit_span(&self) -> u32 {
        let component_sizes = self.sizes.iter().copied().chain(std::iter::repeat(1));
        self.components
            .iter()
            .zip(component_sizes)
            .map(|(offset, size)| offset + size)
            .max()
            .unwrap_or(0)
    }

    pub(crate) fn with_registers(&self, visit: &mut dyn FnMut(&mut Scalar, RegisterUse)) -> Access {
        let mut dimensions = self.dimensions.to_vec();
        dimensions
            .iter_mut()
            .for_each(|dimension| visit_word(visit, &mut dimension.index, RegisterUse::Operand));
        let mut root = self.root;
        match &mut root {
            AccessRoot::Descriptors { first: _, length: _, index }
            | AccessRoot::Pointer { which: index, into: _ } => {
                visit_word(visit, index, RegisterUse::Operand)
            }
            AccessRoot::Address(parts) => parts.visit_registers(visit, RegisterUse::Operand),
            AccessRoot::Descriptor(_)
            | AccessRoot::Workgroup
            | AccessRoot::Invocation
            | AccessRoot::PushConstant
            | AccessRoot::Buffer(_) => {}
        }
        Access { root, dimensions: dimensions.into(), ..self.clone() }
    }
}
