//! What an expectation may leave open: the order of elements; and what may judge in place of values: a checker kernel.
//!
//! Knows: the keys `order` and `check` of `[[tests.expect]]`.
//! Promises: what is left out of a file means what it meant before these keys existed.
//! Does not cover: how elements are matched (`oracle::matching`), how a checker runs (`exec::judge`).

use super::element::Datum;
use super::id::KernelName;
use super::procedure::{Binding, SpecializationValue};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Whether the elements that are expected stand in their places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ElementOrder {
    /// Each in the place where it is expected.
    #[default]
    Fixed,
    /// The same elements, as often, in any order.
    Any,
}

/// A kernel that reads the final contents and writes a verdict: run on the sequential engine with every buffer and image
/// as the test left it, and the verdict buffer filled with zeros. The expectation holds if every `uint` of that buffer is 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckerKernel {
    /// The checker, by its name among the kernels.
    pub kernel: KernelName,
    /// Workgroup counts in x, y and z, each at least 1.
    pub groups: [u32; 3],
    /// What the checker reads and writes, by descriptor.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<Binding>,
    /// As of a dispatch: an object by member name, an array by member index, or raw bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push_constants: Option<Datum>,
    /// By specialization id, written as a string.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub specialization: BTreeMap<String, SpecializationValue>,
    /// The buffer that the checker writes; no dispatch of the test binds it.
    pub verdict: String,
}
