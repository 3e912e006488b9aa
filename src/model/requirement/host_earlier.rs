//! Kernels that the host dispatches before a kernel, and what they leave to it.
//!
//! Does not cover: what orders the dispatches (`capture_check`), and whether the kernels have these
//! bindings (`coupling`).

use crate::access_pair::ReadDescriptor;
use crate::id::KernelName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A kernel that the host dispatches before, with what both bind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EarlierDispatch {
    /// The kernel; the one of the interface itself where the host dispatches it again and again.
    pub kernel: KernelName,
    /// Buffers and images that it leaves to the kernel of the interface.
    pub shared: Vec<SharedBinding>,
}

/// A buffer or an image that two kernels bind.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct SharedBinding {
    /// Where the earlier kernel binds it.
    pub from: BindingPlace,
    /// Where the kernel of the interface binds it.
    pub to: BindingPlace,
}

/// A descriptor by its place.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct BindingPlace {
    /// Descriptor set; 0 where it is left out.
    #[serde(default)]
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
}

impl BindingPlace {
    /// As pairs of accesses name it.
    pub fn descriptor(self) -> ReadDescriptor {
        ReadDescriptor { set: self.set, binding: self.binding }
    }
}

impl std::fmt::Display for BindingPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.set, self.binding)
    }
}
