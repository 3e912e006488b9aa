//! Test procedures as files hold them (TOML or JSON), and what their fields mean.
//!
//! Knows: the contract's format of `vkcert run FILE` and of `[[test]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Descriptor types of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DescriptorClass {
    Storage,
    Uniform,
    StorageDynamic,
    UniformDynamic,
    StorageImage,
    SampledImage,
    Sampler,
    Combined,
    UniformTexel,
    StorageTexel,
}

/// Limits of one test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// Wall-clock seconds on a device (the sequential engine counts steps instead).
    pub seconds: f64,
    /// Instructions executed on the sequential engine, summed over all invocations.
    pub steps: u64,
    pub memory_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { seconds: 10.0, steps: 2_000_000_000, memory_bytes: 1 << 30 }
    }
}
