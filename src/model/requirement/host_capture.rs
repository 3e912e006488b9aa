//! Captures of the host program: what an interface states of one, and what was read of it about the
//! interface's kernel.
//!
//! Does not cover: the file of a capture (`capture`), its checks (`capture_check`), and whether
//! what was read agrees with what is stated (`coupling`).

use crate::evidence::{CheckStatus, CouplingCheckName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A capture of the host program that dispatches the kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostCapture {
    /// Path of the capture, relative to the project.
    pub file: String,
    /// Number of the kernel's shader module in the capture, from 1; left out: those that are the
    /// production module byte by byte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<u32>,
}

/// What was read of a capture about a kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaptureReading {
    /// Path of the capture, relative to the project.
    pub file: String,
    /// `sha256:...` of the file.
    pub sha256: String,
    /// Which shader modules of the capture are the kernel's.
    pub modules: CapturedModules,
    /// Dispatches of the kernel.
    pub dispatch_count: u64,
    /// What they were given, each different one once, in the order of the first dispatch.
    pub dispatches: Vec<CapturedDispatch>,
    /// Different ones behind those that are listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unlisted: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Which shader modules of a capture are a kernel's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CapturedModules {
    /// Those that are the production module byte by byte, by their numbers.
    Production(Vec<u32>),
    /// One that the interface states, which is another build.
    OtherBuild(u32),
}

/// What dispatches of a kernel were given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedDispatch {
    /// Number of the first such dispatch.
    pub dispatch: u32,
    /// Number of its operation.
    pub operation: usize,
    /// How many dispatches were given the same.
    pub count: u64,
    /// What they were given.
    pub given: GivenFacts,
}

/// What a dispatch is given.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct GivenFacts {
    /// Workgroups in x, y and z; none of an indirect dispatch whose numbers are not in the capture.
    pub groups: Option<[u32; 3]>,
    /// Invocations of a workgroup; none where the module cannot be read.
    pub local_size: Option<[u32; 3]>,
    /// Bits of the specialization constants that are set, by `SpecId`.
    pub specialization: BTreeMap<u32, u64>,
    /// Bytes of the push constants in hexadecimal digits, `--` for one that nothing set.
    pub push_constants: String,
    /// Bytes that are bound, by set and binding, of each with one buffer.
    pub buffers: Vec<BoundBytes>,
    /// Views of images that are bound, by set and binding, of each with one view.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<BoundImage>,
    /// A command in front of it that binds or pushes and is not modelled: what is bound and pushed
    /// is then not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<String>,
}

impl GivenFacts {
    /// Bytes of the push constants; none where nothing set one of them, or they are fewer.
    pub fn pushed_bytes(&self, start: usize, count: usize) -> Option<Vec<u8>> {
        let digits = self.push_constants.get(2 * start..2 * (start + count))?;
        let pairs = (0..count).map(|byte| &digits[2 * byte..2 * byte + 2]);
        pairs.map(|pair| u8::from_str_radix(pair, 16).ok()).collect()
    }
}

/// Bytes of a buffer that are bound.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct BoundBytes {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Bytes.
    pub bytes: u64,
}

/// A view of an image that is bound.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct BoundImage {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Texels of the view's largest level in x, y and z.
    pub extent: [u32; 3],
    /// Layers that it shows, each face of a cube counted.
    pub layers: u32,
    /// Mip levels that it shows.
    pub levels: u32,
}

impl BoundImage {
    /// Axes that have more than one texel, then layers and levels where there are several.
    pub fn size_in_words(&self, between: &str) -> String {
        let last = self.extent.iter().rposition(|axis| *axis > 1).unwrap_or(0);
        let axes: Vec<String> = self.extent[..=last].iter().map(u32::to_string).collect();
        let mut words = axes.join(between);
        for (count, noun) in [(self.layers, "layers"), (self.levels, "levels")] {
            if count > 1 {
                words.push_str(&format!(", {count}\u{a0}{noun}"));
            }
        }
        words
    }
}

/// A capture as it is held against the kernel: what was read, its own checks, and its order.
#[derive(Debug, Clone, PartialEq)]
pub struct CapturedKernel {
    /// What evidence stores.
    pub reading: CaptureReading,
    /// What the dispatches were given, each different one once; all of them.
    pub dispatches: Vec<CapturedDispatch>,
    /// Results of the capture's checks that are about the kernel's dispatches.
    pub checks: Vec<CapturedCheck>,
    /// Which operations hand data to which.
    pub order: CapturedOrder,
}

/// A result of a check of a capture.
#[derive(Debug, Clone, PartialEq)]
pub struct CapturedCheck {
    /// What was looked at.
    pub check: CouplingCheckName,
    /// What it came to.
    pub status: CheckStatus,
    /// In a sentence or two.
    pub message: String,
    /// Numbers of the operations that it is about, from 1.
    pub operations: Vec<usize>,
}

/// Operations around the dispatches of a kernel and what passes between them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CapturedOrder {
    /// By number, from 1; the first dispatches of the kernel, with all that gives to them, takes
    /// from them or orders the two.
    pub operations: BTreeMap<usize, CapturedOperation>,
    /// Each pair once for each place.
    pub flows: Vec<CapturedFlow>,
    /// Dispatches of the kernel behind those that are followed.
    pub unfollowed: u64,
}

/// An operation of a capture.
#[derive(Debug, Clone, PartialEq)]
pub struct CapturedOperation {
    /// What it is.
    pub kind: CapturedOperationKind,
    /// In a few words.
    pub label: String,
}

/// What an operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CapturedOperationKind {
    /// A dispatch of the kernel, with its number.
    OwnDispatch(u32),
    /// A dispatch of another kernel, with its number.
    OtherDispatch(u32),
    /// A pipeline barrier.
    Barrier,
    /// Anything else: a copy, a wait, the mapping of memory.
    Other,
}

/// What one operation writes and another one reads.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CapturedFlow {
    /// Number of the operation that writes.
    pub from: usize,
    /// Number of the operation that reads.
    pub to: usize,
    /// Where the latter names what it reads, in words.
    pub place: String,
    /// Numbers of the operations that order the two; none: nothing does.
    pub ordered_by: Vec<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_nothing_set_have_no_value() {
        let given = GivenFacts {
            groups: None,
            local_size: None,
            specialization: BTreeMap::new(),
            push_constants: "e8030000--000040".to_owned(),
            buffers: Vec::new(),
            images: Vec::new(),
            unseen: None,
        };
        assert_eq!(given.pushed_bytes(0, 4), Some(vec![0xe8, 3, 0, 0]));
        assert_eq!(given.pushed_bytes(4, 4), None);
        assert_eq!(given.pushed_bytes(5, 3), Some(vec![0, 0, 0x40]));
        assert_eq!(given.pushed_bytes(6, 4), None);
    }
}
