//! Details of what two engines, or two modules on one engine, left or recorded differently.

use crate::id::DecisionId;
use crate::structure::MarkIndex;
use crate::vector::Values;
use crate::verdict::EngineName;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What two runs disagree on. The most fields come first, so that each is read as what it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum DisagreementDetails {
    /// An output beyond tolerance and error bounds.
    Output(Box<OutputDisagreement>),
    /// A vector that one engine alone recorded.
    Vector(VectorDisagreement),
    /// The entry of a function, or a label, that one engine alone recorded.
    Mark(MarkDisagreement),
    /// Contents of a buffer that two modules of a test left on one engine.
    Modules(ModuleDisagreement),
    /// The message alone says on what.
    Engines {
        /// Which engines were compared.
        comparison: EngineComparison,
    },
}

/// Which engines were compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum EngineComparison {
    /// The sequential engine and the Vulkan engine.
    #[serde(rename = "sequential/vulkan")]
    SequentialWithVulkan,
}

/// An output beyond tolerance and error bounds: its first element outside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutputDisagreement {
    /// Which engines were compared.
    pub comparison: EngineComparison,
    /// Its name in the test.
    pub buffer: String,
    /// As the kernel names it: `values[3].x`.
    pub element: String,
    /// Bytes from the start of the buffer.
    pub offset: u64,
    /// Of the element.
    #[serde(rename = "type")]
    pub type_name: String,
    /// The sequential engine's value.
    pub sequential: Value,
    /// Its bits, hexadecimal.
    pub sequential_bits: String,
    /// The device's value.
    pub vulkan: Value,
    /// Its bits, hexadecimal.
    pub vulkan_bits: String,
    /// Lists of the least and the greatest result; of an integer every result.
    pub permitted: Vec<Vec<Value>>,
    /// Whether NaN is permitted besides.
    pub nan_permitted: bool,
    /// Runs within the error bounds of the specification.
    pub runs: u32,
    /// Elements of the buffer that differ.
    pub elements: u64,
    /// How many of them lie outside.
    pub outside: u64,
    /// Which bits depend on a value that the specification leaves undefined, hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undefined_bits: Option<String>,
}

/// A vector that one engine alone recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VectorDisagreement {
    /// Which engines were compared.
    pub comparison: EngineComparison,
    /// The decision.
    pub decision: DecisionId,
    /// Its source text.
    pub text: String,
    /// Path of its source file.
    pub file: String,
    /// Its line, from 1.
    pub line: u32,
    /// The values of its conditions.
    pub vector: Values,
    /// The engine that recorded it.
    pub only_on: EngineName,
    /// What was compared.
    pub operands: Vec<String>,
    /// Whether a run within the bounds of the specification agrees with the device.
    pub within_error_bounds: bool,
    /// Why undefined values are no excuse, where that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undefined_values: Option<UndefinedRefusal>,
}

/// The entry of a function, or a label, that one engine alone recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkDisagreement {
    /// Which engines were compared.
    pub comparison: EngineComparison,
    /// The mark that stands for it.
    pub mark: MarkIndex,
    /// What the mark stands for.
    pub text: String,
    /// The engine that recorded it.
    pub only_on: EngineName,
    /// Why undefined values are no excuse, where that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undefined_values: Option<UndefinedRefusal>,
}

/// Why undefined values that give what the device has are no excuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UndefinedRefusal {
    /// An invocation differs whatever they are.
    OfOtherInvocations,
    /// The invocations could not be compared; the message says why.
    NotCompared,
}

/// Contents of a buffer that two modules of a test left on one engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleDisagreement {
    /// `production/traced`.
    pub comparison: String,
    /// Its name in the test.
    pub buffer: String,
    /// Bytes from the start of the buffer.
    pub offset: usize,
}
