//! Boundary values of a kernel's inputs: values of host parameters at and around the ends of their
//! ranges and at the edges of workgroups.
//!
//! Knows: the ranges that an interface states, and which tests give a parameter which value.
//! Promises: a value outside of the range is none.
//! Does not cover: whether the tests passed (`coverage::boundary`), values of buffers and images.

use super::id::{ObligationId, TestId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A value, or a kind of value, that some test is to give a parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BoundaryValue {
    /// `BND1`, `BND2` ... in the order of the interface.
    pub id: ObligationId,
    /// The parameter and the value in words: `width = 1 (minimum)`.
    pub text: String,
    /// The file of the interface, relative to the project; the kernel's source where it has none.
    pub file: String,
    /// 1-based line of the interface.
    pub line: u32,
    /// 1-based column of the interface.
    pub column: u32,
    /// Why no test can tell that it gave this value; none: tests can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
    /// Tests that give the parameter this value in some dispatch of the kernel, passed or not, in
    /// the order of the project.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<TestId>,
}
