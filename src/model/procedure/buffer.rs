//! Buffers and their initial contents.

use crate::element::{DataType, Datum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A buffer with its initial contents: one of `bytes`, `data`, `fill` and `file`, or `count` alone (uninitialised).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Buffer {
    /// Raw contents, base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
    /// Type of the elements; none: bytes.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub data_type: Option<DataType>,
    /// Elements, flat or one array per vector; for `reflect` an object by member name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Datum>,
    /// Generated contents; needs `count`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<Fill>,
    /// A `.npy` or raw file, relative to the file's own folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Number of elements; beside `data`, `file` or `bytes` it must agree with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Device addresses of other buffers written into this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub address_of: Vec<AddressOf>,
}

/// Contents made by rule for `count` elements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fill {
    /// Every element is this value (a vector: one value per component, or one for all).
    Constant(Datum),
    /// Component `i` of the buffer is `start + i * step`.
    Iota(Iota),
    /// Components drawn by SplitMix64, so that a seed gives the same contents everywhere.
    Random(Random),
}

/// `fill`: component `i` of the whole buffer is `start + i * step`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Iota {
    /// 0 where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Datum>,
    /// 1 where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<Datum>,
}

/// `fill`: one SplitMix64 draw per component.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Random {
    /// Start of the generator; the same seed gives the same bytes everywhere.
    pub seed: u64,
    /// Integers: the type's smallest value where it is left out; floats: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Datum>,
    /// Integers: the type's largest value (inclusive) where it is left out; floats: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Datum>,
}

/// The device address of a buffer, stored as 8 bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddressOf {
    /// Byte offset where the address is stored.
    pub at: u64,
    /// Name of the buffer whose address it is; the buffer itself is allowed.
    pub buffer: String,
    /// Bytes added to the address.
    #[serde(default)]
    pub offset: u64,
}
