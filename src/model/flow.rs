//! What the dispatches of a test can store, and what that depends on: which of them a test judges follows from it.

use super::id::KernelName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;

/// What one dispatch of a test can store, by the code of its production module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DispatchFlow {
    /// The kernel that is dispatched.
    pub kernel: KernelName,
    /// One row per place that the kernel stores to: descriptors in order, then device addresses.
    pub stores: Vec<StoreFlow>,
}

/// A place that a kernel stores to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoreFlow {
    /// Where the kernel declares it; none of what device addresses name, and in evidence of versions before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<StorePlace>,
    /// The bytes that can be stored to.
    pub to: Vec<BufferRange>,
    /// Where the members of the block begin that it can store to: bytes, indices of arrays taken as 0; as far as they can be told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<u64>,
    /// Everything whose contents can decide what is stored there, or whether.
    pub from: Vec<BufferRange>,
}

/// A binding of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct StorePlace {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Of the block, else of the variable, where the module has names.
    pub name: Option<String>,
}

impl fmt::Display for StorePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { set, binding, name } = self;
        let quoted_name = name.as_ref().map(|name| format!(" `{name}`")).unwrap_or_default();
        if *set > 0 {
            write!(f, "set {set} binding {binding}{quoted_name}")
        } else {
            write!(f, "binding {binding}{quoted_name}")
        }
    }
}

/// Bytes of a buffer, or of the contents of an image.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct BufferRange {
    /// Name of the buffer or image in the test.
    pub buffer: String,
    /// Bytes from the start of its contents.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u64,
}

impl BufferRange {
    /// Whether both are of one buffer and have a byte in common.
    pub fn overlaps(&self, other: &BufferRange) -> bool {
        self.buffer == other.buffer && self.offset < other.end() && other.offset < self.end()
    }

    /// Whether some of these bytes of its buffer are in it.
    pub fn holds_part_of(&self, bytes: &Range<usize>) -> bool {
        (bytes.start as u64) < self.end() && self.offset < bytes.end as u64
    }

    fn end(&self) -> u64 {
        self.offset.saturating_add(self.bytes)
    }
}
