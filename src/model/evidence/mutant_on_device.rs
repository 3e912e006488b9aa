//! What a device made of mutants, beside the sequential engine.
//!
//! Promises: how the engines agree follows from their verdicts. Does not cover: the score, which is of the sequential
//! engine.

use super::{KillCause, MutantRuns, MutantVerdict};
use crate::id::TestId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a device made of a mutant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MutantOnDevice {
    /// The verdicts of the tests, up to the first that noticed it.
    pub tests: BTreeMap<TestId, MutantVerdict>,
    /// What was run.
    pub module: DeviceModule,
}

/// Which module a device ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceModule {
    /// That with all mutants, in which this one was selected.
    AllMutants,
    /// One of the mutant's own text, or of the kernel itself where its dispatches are mutated.
    Own,
}

/// Which engines killed a mutant.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum EngineAgreement {
    /// Both did.
    KilledOnBoth,
    /// The sequential engine alone, by an expectation.
    KilledBySequentialExpectation,
    /// The sequential engine alone, by a finding, by time or by an error, which a device need not tell.
    KilledBySequentialFinding,
    /// The device alone.
    KilledOnDevice,
    /// Neither did.
    KilledOnNeither,
    /// The device could not judge it.
    Undecided,
}

impl EngineAgreement {
    /// Each with the words for it, in the order of tables.
    pub const ALL: &[(EngineAgreement, &str)] = &[
        (EngineAgreement::KilledOnBoth, "killed on both engines"),
        (
            EngineAgreement::KilledBySequentialExpectation,
            "killed on the sequential engine alone, by an expectation",
        ),
        (
            EngineAgreement::KilledBySequentialFinding,
            "killed on the sequential engine alone, by a finding, by time or by an error",
        ),
        (EngineAgreement::KilledOnDevice, "killed on the device alone"),
        (EngineAgreement::KilledOnNeither, "killed on neither"),
        (EngineAgreement::Undecided, "not judged on the device"),
    ];

    /// Of what both engines made of a mutant.
    pub fn of_runs(sequential: &MutantRuns, device: &MutantOnDevice) -> Self {
        let device = &device.tests;
        let is_noticed = device.values().any(|verdict| !verdict.notices().is_empty());
        let is_left_out = sequential.verdicts().any(|(test, _)| !device.contains_key(test));
        let is_unknown = is_left_out
            || device.is_empty()
            || device.values().any(|verdict| matches!(verdict, MutantVerdict::Undecided(_)));
        match (sequential.kill_cause(), is_noticed) {
            (Some(_), true) => EngineAgreement::KilledOnBoth,
            (None, true) => EngineAgreement::KilledOnDevice,
            (_, false) if is_unknown => EngineAgreement::Undecided,
            (None, false) => EngineAgreement::KilledOnNeither,
            (Some(KillCause::Expectation), false) => EngineAgreement::KilledBySequentialExpectation,
            (Some(KillCause::Finding | KillCause::Time | KillCause::Error), false) => {
                EngineAgreement::KilledBySequentialFinding
            }
        }
    }

    /// In words, as tables have it.
    pub fn words(self) -> &'static str {
        let mut rows = Self::ALL.iter();
        rows.find(|(agreement, _)| *agreement == self).expect("every agreement has words").1
    }

    /// Whether one engine noticed the mutant and the other one could have, so that they differ.
    pub fn is_difference(self) -> bool {
        match self {
            EngineAgreement::KilledBySequentialExpectation | EngineAgreement::KilledOnDevice => {
                true
            }
            EngineAgreement::KilledOnBoth
            | EngineAgreement::KilledBySequentialFinding
            | EngineAgreement::KilledOnNeither
            | EngineAgreement::Undecided => false,
        }
    }
}
