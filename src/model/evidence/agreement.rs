//! How the outputs and the coverage of two engines compare.

use crate::agreement::AgreementOutcome;
use crate::id::{KernelName, TestId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Comparison of the two engines for one kernel in one test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Agreement {
    /// The test in which both engines ran.
    pub test: TestId,
    /// The kernel whose outputs and coverage are compared.
    pub kernel: KernelName,
    /// `identical`, `within-tolerance`, `left-open`, `within-error-bounds`, `different` or `not compared`.
    pub outputs: AgreementOutcome,
    /// `identical`, `schedule-dependent`, `undefined-value`, `different` or `not compared`.
    pub coverage: AgreementOutcome,
    /// Elements, decisions and vectors that differ, with values and operands.
    pub differences: Vec<String>,
    /// Where outputs differ and no tolerance of the test covers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<ErrorBounds>,
    /// What differs where the test leaves it open, and vectors that depend on the schedule or follow an undefined value, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_open: Vec<String>,
}

/// How the outputs of two engines lie to what the Vulkan specification permits ("Precision and Operation of SPIR-V
/// Instructions").
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBounds {
    /// Runs of the sequential engine within the permitted errors that the permitted values come from.
    pub runs: u32,
    /// `nearest`: sums and products were rounded to the nearest in all of them; `any`: some were rounded up or down.
    #[schemars(with = "String")]
    pub rounding: RunRounding,
    /// Those that differ.
    pub buffers: Vec<BoundedBuffer>,
}

/// How sums and products were rounded in runs within the permitted errors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunRounding {
    /// To the nearest in all of them.
    Nearest,
    /// Toward zero in some of them.
    #[serde(rename = "toward zero")]
    TowardZero,
    /// Up or down in some of them.
    Any,
    /// A word that no run is told by.
    #[serde(untagged)]
    Unknown(String),
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl ErrorBounds {
    /// `17 elements differ within the error bounds of the specification, by 3 ULP at most (2 runs, rounding to the nearest)`,
    /// and first how many depend on undefined values.
    pub fn in_words(&self, buffer: &BoundedBuffer) -> String {
        let undefined = match buffer.undefined {
            0 => None,
            1 => Some(
                "1 element depends on an undefined value and was not compared (of an integer, the bits that do)"
                    .to_owned(),
            ),
            some => Some(format!(
                "{some} elements depend on undefined values and were not compared (of integers, the bits that do)"
            )),
        };
        let compared = (buffer.elements > buffer.undefined).then(|| self.compared_in_words(buffer));
        undefined.into_iter().chain(compared).collect::<Vec<_>>().join("; ")
    }

    /// The same of the elements that do not depend on undefined values.
    fn compared_in_words(&self, buffer: &BoundedBuffer) -> String {
        let count = buffer.elements - buffer.undefined;
        let elements = if count == 1 {
            "1 element differs".to_owned()
        } else {
            format!("{count} elements differ")
        };
        let where_to = match buffer.outside {
            0 => String::new(),
            outside => format!(", {outside} outside"),
        };
        let worst =
            buffer.worst_ulp.map_or_else(String::new, |ulp| format!(", by {ulp} ULP at most"));
        let rounding = match self.rounding {
            RunRounding::Nearest => "rounding to the nearest",
            RunRounding::TowardZero | RunRounding::Any | RunRounding::Unknown(_) => {
                "rounding up and down"
            }
        };
        let runs = if self.runs == 1 { "1 run".to_owned() } else { format!("{} runs", self.runs) };
        let within =
            if buffer.outside == 0 { " within the error bounds of the specification" } else { "" };
        format!("{elements}{within}{where_to}{worst} ({runs}, {rounding})")
    }
}

/// A buffer that the engines left differently.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BoundedBuffer {
    /// Name of the buffer or image in the test.
    pub buffer: String,
    /// Elements that differ and that no tolerance covers.
    pub elements: u64,
    /// Of these, those whose value on the device is none of the permitted ones.
    pub outside: u64,
    /// Of these, those that differ in nothing but what depends on a value that the specification leaves undefined.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub undefined: u64,
    /// Largest distance of two finite values, in units in the last place; none where no float differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst_ulp: Option<u64>,
    /// The first elements: those outside, then those within.
    pub listed: Vec<BoundedElement>,
}

/// An element that the engines left differently.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BoundedElement {
    /// As the kernel names it, from the block on: `values[3].x`.
    pub element: String,
    /// Bytes from the start of the buffer.
    pub offset: u64,
    /// Name of the scalar type: `float`, `uint` ...
    #[serde(rename = "type")]
    pub type_name: String,
    /// Whether the value of the Vulkan engine lies within the permitted results.
    pub within: bool,
    /// What the sequential engine left.
    pub sequential: ElementValue,
    /// What the Vulkan engine left.
    pub vulkan: ElementValue,
    /// Of a float the least and the greatest result, for each way of deciding that led to it; of any other type every result.
    pub permitted: Vec<Vec<ElementValue>>,
    /// Whether NaN is permitted besides.
    #[serde(default)]
    pub nan_permitted: bool,
    /// Of an image: where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texel: Option<crate::image::TexelPlace>,
    /// Whether it differs in nothing but what depends on a value that the specification leaves undefined: it is not compared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undefined: bool,
    /// Of an integer: which bits depend on such a value, as hexadecimal; the others are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undefined_bits: Option<String>,
}

/// A value with its raw bits, `0x...`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ElementValue {
    /// The value as a number, or as text where JSON has no such number.
    pub value: serde_json::Value,
    /// The raw bits, `0x...`.
    pub bits: String,
}
