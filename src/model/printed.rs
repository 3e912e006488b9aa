//! What a kernel printed with debug printf.

use super::place::Place;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Lines by dispatch, workgroup and local index, those of one invocation in the order in which it printed them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Printed {
    /// The first lines of that order.
    pub lines: Vec<PrintedLine>,
    /// How many more there were.
    pub omitted: u64,
}

/// A line that a debug printf of the kernel wrote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PrintedLine {
    /// 0-based index of the dispatch in the test.
    pub dispatch: u32,
    /// Global invocation id.
    pub invocation: [u32; 3],
    /// Where in the kernel the printf stands.
    pub place: Place,
    /// As the format string says, its line ends included.
    pub text: String,
}

impl Printed {
    /// Lines that were printed, listed or not.
    pub fn count(&self) -> u64 {
        (self.lines.len() as u64).saturating_add(self.omitted)
    }

    /// Whether nothing was printed.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.omitted == 0
    }
}
