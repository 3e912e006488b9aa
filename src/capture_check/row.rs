//! Results of the checks.
//!
//! Promises: rows are in the order of the checks, then of the operations; of very many rows that say
//! the same the first are kept, and a row tells how many follow.

use crate::scope::CheckScope;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use vkcert_model::evidence::CheckStatus;

/// Rows of one check and status that are kept.
const MOST_ROWS: u64 = 50;

/// What a check looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CaptureCheckName {
    /// The capture tells all, and all of it is modelled.
    CaptureComplete,
    /// The module of each pipeline can be read.
    ShaderModule,
    /// The host sets specialization constants that the kernel has, in their size.
    SpecializationIds,
    /// Local size and workgroup memory are within the limits of the device.
    LocalSizeLimits,
    /// Workgroups are within the limits of the device.
    DispatchLimits,
    /// The pipeline layout has the push constants of the kernel, and each byte that it reads is set.
    PushConstants,
    /// Push constants are in the ranges that the project states.
    PushConstantValues,
    /// Each binding of the kernel has a descriptor of its type.
    Descriptors,
    /// The range at each binding is as large as its block.
    BindingSize,
    /// What is written is ordered before it is used on the device.
    DeviceDependency,
    /// What the device writes is made visible before the host reads it.
    HostRead,
    /// What the host writes to memory that is not coherent is flushed before the device reads it.
    HostWrite,
}

/// One result.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CaptureRow {
    /// What was looked at.
    pub check: CaptureCheckName,
    /// `holds`, `refuted` or `undetermined`.
    #[schemars(with = "String")]
    pub status: CheckStatus,
    /// What was found, in a sentence or two.
    pub message: String,
    /// Numbers of the operations that it is about, from 1.
    pub operations: Vec<usize>,
}

/// All results.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct CaptureReport {
    /// The results.
    pub checks: Vec<CaptureRow>,
    /// What is no fault and worth knowing: barriers that order nothing.
    pub remarks: Vec<String>,
    /// What the results are about.
    #[serde(skip)]
    pub(crate) scope: CheckScope,
    #[serde(skip)]
    counts: BTreeMap<(CaptureCheckName, &'static str), u64>,
    #[serde(skip)]
    remark_count: u64,
    #[serde(skip)]
    holding: BTreeMap<CaptureCheckName, String>,
}

fn status_word(status: &CheckStatus) -> &'static str {
    match status {
        CheckStatus::Holds => "holds",
        CheckStatus::Refuted => "refuted",
        CheckStatus::Undetermined => "undetermined",
        CheckStatus::Unknown(_) => "unknown",
    }
}

impl CaptureReport {
    /// No results yet, about a scope.
    pub(crate) fn of_scope(scope: CheckScope) -> Self {
        Self { scope, ..Self::default() }
    }

    /// Adds a result, if it is of the scope; operations by their indices.
    pub(crate) fn add(
        &mut self,
        check: CaptureCheckName,
        status: CheckStatus,
        message: String,
        operations: &[usize],
    ) {
        if self.scope.has_operations(operations) {
            self.add_to_all(check, status, message, operations);
        }
    }

    /// Adds a result that matters to every scope.
    pub(crate) fn add_to_all(
        &mut self,
        check: CaptureCheckName,
        status: CheckStatus,
        message: String,
        operations: &[usize],
    ) {
        let count = self.counts.entry((check, status_word(&status))).or_default();
        *count += 1;
        if *count <= MOST_ROWS {
            let operations = operations.iter().map(|index| index + 1).collect();
            self.checks.push(CaptureRow { check, status, message, operations });
        }
    }

    /// Adds a remark; of very many the first are kept.
    pub(crate) fn remark(&mut self, remark: String) {
        self.remark_count += 1;
        if self.remark_count <= MOST_ROWS {
            self.remarks.push(remark);
        }
    }

    /// What is said of a check that nothing speaks against.
    pub(crate) fn holds(&mut self, check: CaptureCheckName, message: String) {
        self.holding.insert(check, message);
    }

    /// Adds what follows from all results.
    pub(crate) fn finish(&mut self) {
        for (check, message) in std::mem::take(&mut self.holding) {
            if !self.checks.iter().any(|row| row.check == check) {
                self.add(check, CheckStatus::Holds, message, &[]);
            }
        }
        for ((check, word), count) in self.counts.clone() {
            if count > MOST_ROWS {
                let message = format!("{} more are {word}", count - MOST_ROWS);
                let status = match word {
                    "refuted" => CheckStatus::Refuted,
                    _ => CheckStatus::Undetermined,
                };
                let operations = Vec::new();
                self.checks.push(CaptureRow { check, status, message, operations });
            }
        }
        if self.remark_count > MOST_ROWS {
            self.remarks.push(format!("{} more remarks", self.remark_count - MOST_ROWS));
        }
        self.checks.sort_by_key(|row| row.check);
    }

    /// Whether every check holds.
    pub fn all_hold(&self) -> bool {
        self.checks.iter().all(|row| row.status == CheckStatus::Holds)
    }
}
