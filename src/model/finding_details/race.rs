//! Details of data races.

use serde::{Deserialize, Serialize};

/// Of two accesses that nothing orders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataRaceDetails {
    /// The earlier, at the other place, and the later.
    pub accesses: [AccessKind; 2],
    /// Where the element lies.
    pub memory: AccessedMemory,
    /// What would order them.
    pub missing: MissingOrdering,
    /// The variable.
    pub object: String,
    /// Whether both are of one workgroup.
    pub reach: RaceReach,
    /// Whether both write, and always the same.
    pub same_value: bool,
    /// Bits of the first witness, hexadecimal: what the element held before the later access, and
    /// what that one read or left.
    pub values: [String; 2],
}

/// How an access touches memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum AccessKind {
    /// A read that is not atomic.
    #[serde(rename = "read")]
    Read,
    /// A write that is not atomic.
    #[serde(rename = "write")]
    Write,
    /// An atomic operation that leaves the element as it is.
    #[serde(rename = "atomic read")]
    AtomicRead,
    /// An atomic operation that changes the element.
    #[serde(rename = "atomic write")]
    AtomicWrite,
}

impl std::fmt::Display for AccessKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            AccessKind::Read => "read",
            AccessKind::Write => "write",
            AccessKind::AtomicRead => "atomic read",
            AccessKind::AtomicWrite => "atomic write",
        })
    }
}

/// Where an element lies; texel buffers count as images.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessedMemory {
    /// A storage or uniform buffer, or what a device address names.
    Buffer,
    /// A texel of an image or a texel buffer.
    Image,
    /// A variable that a workgroup shares.
    Workgroup,
}

impl std::fmt::Display for AccessedMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            AccessedMemory::Buffer => "buffer",
            AccessedMemory::Image => "image",
            AccessedMemory::Workgroup => "workgroup",
        })
    }
}

/// Whether both invocations are of one workgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RaceReach {
    /// They are.
    WithinWorkgroup,
    /// They are not.
    AcrossWorkgroups,
}

/// What would order two accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingOrdering {
    /// Something that happens between them.
    Order,
    /// Both are atomic: a scope that has the other.
    Scope,
    /// Both are atomic: the same width.
    Width,
    /// An access that is not private to its invocation.
    NonPrivateAccess,
    /// A variable that is coherent.
    Coherence,
    /// That what is written is made available.
    Availability,
    /// That what is written is made visible.
    Visibility,
}
