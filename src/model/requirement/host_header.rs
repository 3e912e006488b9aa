//! Headers of the host program: what an interface asks to be read, and what was read.
//!
//! Does not cover: reading them (`header`), and whether they match the kernel (`coupling`).

use super::HostContents;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A C or C++ header that declares a struct which host and kernel share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostHeader {
    /// Path of the header, relative to the project.
    pub file: String,
    /// Qualified name of the struct: `Params`, `render::Params`; with `struct` or `typedef` in front
    /// of it where a tag and a type have one name.
    #[serde(rename = "struct")]
    pub structure: String,
    /// What the host stores as such a struct.
    pub describes: HeaderUse,
    /// Descriptor set, of buffers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<u32>,
    /// Binding in the set, of buffers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binding: Option<u32>,
    /// Target triple of the host program, whose ABI decides where members lie.
    pub target: String,
    /// Language standard: `c11`, `c++17`.
    pub standard: String,
    /// Macros that the host program is compiled with, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub defines: BTreeMap<String, String>,
    /// Include folders, relative to the project.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// Flags of the compiler that change where members lie: `-fshort-enums`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// Folder with the target's own headers (`usr/include`), relative to the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sysroot: Option<String>,
}

/// What the host stores as a struct of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HeaderUse {
    /// The push constants.
    PushConstants,
    /// The start of a buffer.
    Block,
    /// Each element of a buffer, one behind the other.
    Element,
}

/// What was read of a header, in the order of the interface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeaderReading {
    /// Path of the header, relative to the project.
    pub file: String,
    /// Qualified name of the struct.
    #[serde(rename = "struct")]
    pub structure: String,
    /// What the compiler that laid it out calls itself.
    pub reader: String,
    /// The struct as the compiler lays it out.
    pub contents: HostContents,
    /// Files of the project that were read, with their SHA-256.
    pub files: BTreeMap<String, String>,
    /// Files outside of the project that these include.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<String>,
}
