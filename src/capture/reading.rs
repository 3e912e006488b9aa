//! What the layer read on the device in front of a dispatch.
//!
//! Promises: a reading names its dispatch by the record of the submission, so that it means the same
//! however late it was written, and its place by set and binding, so that handles that are used again
//! lead to nothing else.

use crate::value::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A dispatch of a submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DispatchPlace {
    /// Number of the submission's record, from 1.
    pub submission: u64,
    /// Which of all command buffers of the submission, from 0.
    pub command_buffer: u32,
    /// Which dispatch of the command buffer, from 0.
    pub dispatch: u32,
}

/// What a dispatch was given at a place, read on the device in front of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DispatchContents {
    /// Which dispatch.
    pub place: DispatchPlace,
    /// Where it has them.
    pub source: ReadSource,
    /// The bytes.
    pub bytes: ReadBytes,
}

/// Where a dispatch has what was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReadSource {
    /// The range of a buffer at a binding.
    Range(ReadDescriptor),
    /// A layer of a level of the image at a binding, whose texels stand tightly.
    Texels {
        /// The descriptor.
        descriptor: ReadDescriptor,
        /// Level of the image, not of the view.
        level: u32,
        /// Layer of the image, not of the view.
        layer: u32,
    },
    /// The numbers of workgroups of an indirect dispatch.
    Workgroups,
}

/// A descriptor.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct ReadDescriptor {
    /// Number of the set.
    pub set: u32,
    /// Number of the binding.
    pub binding: u32,
    /// Element of it.
    pub element: u32,
}

/// Bytes that were read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReadBytes {
    /// Bytes, with a number by which later records name them.
    New(u64, Bytes),
    /// The bytes that an earlier record has by this number.
    Again(u64),
}

/// Something that a dispatch was given and that was not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnreadDispatch {
    /// Which dispatch.
    pub place: DispatchPlace,
    /// What was not read and why, in words.
    pub reason: String,
}
