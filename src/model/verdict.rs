//! Verdicts of tests, names of engines.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// What a test procedure's run says about its `expect`; findings do not change it (they change the exit code).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every expectation holds.
    Pass,
    /// An expectation does not hold.
    Fail,
    /// The run could not be completed as the kernel's text demands (barrier divergence, device lost).
    Error,
    /// No device, or the engine was not asked for.
    NotRun,
    /// The engine or device lacks a named instruction, capability or feature.
    Unsupported,
    /// The time or step limit was reached.
    Timeout,
    /// Neither pass nor fail can be claimed; the reason says why.
    Undetermined,
}

impl Verdict {
    /// Whether a test ran to it, whatever came out.
    pub fn ran(self) -> bool {
        match self {
            Verdict::Pass
            | Verdict::Fail
            | Verdict::Error
            | Verdict::Timeout
            | Verdict::Undetermined => true,
            Verdict::NotRun | Verdict::Unsupported => false,
        }
    }

    /// Whether a test came to its end, so that all that was asked of it was done and its outputs
    /// were judged.
    pub fn completed(self) -> bool {
        match self {
            Verdict::Pass | Verdict::Fail => true,
            Verdict::Error
            | Verdict::NotRun
            | Verdict::Unsupported
            | Verdict::Timeout
            | Verdict::Undetermined => false,
        }
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Verdict::Pass => "pass",
            Verdict::Fail => "fail",
            Verdict::Error => "error",
            Verdict::NotRun => "not-run",
            Verdict::Unsupported => "unsupported",
            Verdict::Timeout => "timeout",
            Verdict::Undetermined => "undetermined",
        })
    }
}

/// An engine that runs dispatches.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum EngineName {
    /// The reference interpreter, on the host's processor.
    Sequential,
    /// A Vulkan device, in a process of its own.
    Vulkan,
}

impl EngineName {
    /// How often a job runs where nobody says: three times on a device; once on the sequential engine, which is
    /// deterministic by construction.
    pub const fn default_repetitions(self) -> NonZeroU32 {
        let repetition_count = match self {
            EngineName::Sequential => NonZeroU32::new(1),
            EngineName::Vulkan => NonZeroU32::new(3),
        };
        repetition_count.expect("not zero")
    }
}

impl std::fmt::Display for EngineName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            EngineName::Sequential => "sequential",
            EngineName::Vulkan => "vulkan",
        })
    }
}
