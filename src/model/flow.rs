//! What the dispatches of a test can store, and what that depends on: which of them a test judges follows from it.

use super::id::KernelName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
        let end = |range: &BufferRange| range.offset.saturating_add(range.bytes);
        self.buffer == other.buffer && self.offset < end(other) && other.offset < end(self)
    }
}
