//! What a run of `certify` tells while it runs: one JSON object per line of the file of `--events`.
//!
//! Events have clocks and orders of their own: nothing of them is evidence.

use super::id::{KernelName, TestId};
use super::verdict::{EngineName, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventLine {
    /// Seconds since the run began.
    pub seconds: f64,
    /// What has happened.
    #[serde(flatten)]
    pub event: RunEvent,
}

/// What has happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum RunEvent {
    /// The project is read; its kernels are compiled next.
    Started {
        /// Version of the format: 1.
        schema: u32,
        /// Name and version of the program.
        tool: String,
        /// Name of the project.
        project: String,
        /// How many kernels it has.
        kernels: usize,
        /// How many of its tests the run has.
        tests: usize,
    },
    /// A kernel does not compile: the run goes on without it.
    KernelSetAside {
        /// The kernel.
        kernel: KernelName,
        /// What the compiler says against it, a sentence with its place in a line each.
        message: String,
    },
    /// The kernels are compiled and the engines open; the tests run next.
    Prepared {
        /// Tests, each counted once for each engine.
        runs: usize,
    },
    /// A test begins on an engine.
    TestStarted {
        /// The test.
        test: TestId,
        /// The engine.
        engine: EngineName,
    },
    /// A test has ended on an engine.
    TestFinished {
        /// The test.
        test: TestId,
        /// The engine.
        engine: EngineName,
        /// What it came to, as far as one engine tells it.
        verdict: Verdict,
        /// How long it took.
        test_seconds: f64,
        /// Runs that have ended.
        done: usize,
        /// Runs in all.
        runs: usize,
        /// How long the rest of the tests takes if each engine goes on like this; none: nothing is known yet.
        seconds_left: Option<f64>,
    },
    /// All tests of a kernel have ended on all engines.
    KernelFinished {
        /// The kernel.
        kernel: KernelName,
        /// Runs of its tests.
        runs: usize,
        /// Those that passed.
        passed: usize,
        /// Kernels of which all tests have ended.
        done: usize,
        /// Kernels with tests.
        kernels: usize,
        /// How long the rest of the tests takes if each engine goes on like this.
        seconds_left: Option<f64>,
    },
    /// The run has ended before all tests had begun: what is left does not begin.
    EndedEarly {
        /// Why, in one sentence.
        reason: String,
        /// Runs of tests that do not begin.
        not_begun: usize,
    },
    /// No test runs any more: what they left is examined, compared and written, which no estimate counts.
    TestsEnded {
        /// Runs that have ended.
        done: usize,
    },
    /// Evidence and reports are in place.
    Written {
        /// SHA-256 of the manifest.
        root: String,
    },
    /// The run has ended with a result.
    Finished {
        /// Exit code of the program.
        exit_code: u8,
    },
    /// The run has ended without a result.
    Failed {
        /// Exit code of the program.
        exit_code: u8,
        /// Why, in one sentence.
        message: String,
    },
}
