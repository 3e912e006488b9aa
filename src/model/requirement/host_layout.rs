//! A struct of the host with the place of everything in it.
//!
//! Promises: offsets are bytes from the start of the struct that holds the member, whatever it is
//! itself in. What has no layout that can be compared (a union, a pointer) is kept by name.
//! Does not cover: how the places came about (`[[interface]]` by C's rules, a header by a compiler).

use super::HostType;
use crate::block_layout::MatrixOrder;
use crate::place::Place;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A struct with its size and the places of its members.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlacedStruct {
    /// Bytes, padding behind the last member counted.
    pub size: u64,
    /// In declaration order.
    pub members: Vec<PlacedMember>,
}

/// A member with its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlacedMember {
    /// Its name.
    pub name: String,
    /// Bytes from the start of the struct.
    pub offset: u64,
    /// What it is made of.
    pub contents: HostContents,
    /// The type as the source writes it, where there is a source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spelling: Option<String>,
    /// Where it is declared, where there is a source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Of a matrix: what of it lies one behind the other, where that is stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<MatrixOrder>,
    /// Whether it is there for its bytes alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub padding: bool,
}

/// What a member is made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HostContents {
    /// One number.
    Scalar(HostType),
    /// Elements of one kind.
    Array {
        /// Number of elements.
        count: u64,
        /// Bytes from one element to the next.
        stride: u64,
        /// What each element is made of.
        element: Box<HostContents>,
    },
    /// Elements of one kind at the end of a buffer, as many as it has room for.
    FlexibleArray {
        /// Bytes from one element to the next.
        stride: u64,
        /// What each element is made of.
        element: Box<HostContents>,
    },
    /// Members with names.
    Structure(PlacedStruct),
    /// What is not compared, in words with an article: `a union`.
    Unsupported {
        /// What it is.
        kind: String,
        /// Bytes, where they are known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size: Option<u64>,
    },
}

impl HostContents {
    /// What it is in a word: `uint32`, `struct`.
    pub fn kind(&self) -> &str {
        match self {
            HostContents::Scalar(scalar_type) => scalar_type.name(),
            HostContents::Array { .. } => "array",
            HostContents::FlexibleArray { .. } => "flexible array",
            HostContents::Structure(_) => "struct",
            HostContents::Unsupported { kind, .. } => kind,
        }
    }

    /// Whether no number is in it: empty structs, and arrays of them or without elements.
    pub fn holds_nothing(&self) -> bool {
        match self {
            HostContents::Array { count, element, .. } => *count == 0 || element.holds_nothing(),
            HostContents::FlexibleArray { element, .. } => element.holds_nothing(),
            HostContents::Structure(structure) => {
                structure.members.iter().all(|member| member.contents.holds_nothing())
            }
            HostContents::Scalar(_) | HostContents::Unsupported { .. } => false,
        }
    }

    /// Bytes; 0 of what has no known size, and of a flexible array, which no struct counts.
    pub fn size(&self) -> u64 {
        match self {
            HostContents::Scalar(scalar_type) => u64::from(scalar_type.size_in_bytes()),
            HostContents::Array { count, stride, .. } => count.saturating_mul(*stride),
            HostContents::FlexibleArray { .. } => 0,
            HostContents::Structure(structure) => structure.size,
            HostContents::Unsupported { size, .. } => size.unwrap_or(0),
        }
    }
}
