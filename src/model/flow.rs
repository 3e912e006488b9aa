//! What the dispatches of a test can store, and what that depends on: which of them a test judges follows from it.

use super::id::KernelName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What one dispatch of a test can store, by the code of its production module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DispatchFlow {
    pub kernel: KernelName,
    /// One row per place that the kernel stores to: descriptors in order, then device addresses.
    pub stores: Vec<StoreFlow>,
}

/// A place that a kernel stores to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoreFlow {
    pub to: Vec<BufferRange>,
    /// Everything whose contents can decide what is stored there, or whether.
    pub from: Vec<BufferRange>,
}

/// Bytes of a buffer, or of the contents of an image.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct BufferRange {
    pub buffer: String,
    pub offset: u64,
    pub bytes: u64,
}

impl BufferRange {
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
