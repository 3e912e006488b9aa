//! Counting, per test and kernel, how many invocations executed each statement, where the project
//! asks for average statement coverage.
//!
//! Knows: the measuring job of a test on the sequential engine, run once more with who recorded
//! what.
//! Promises: counts stand beside the records of passed tests alone; what cannot be counted has the
//! reason in place of counts, and nothing else of the test depends on it. Where nobody asks,
//! nothing runs.
//! Does not cover: devices, whose records do not tell invocations.

use super::agreement::ordinary_request;
use super::kernel::ModuleVariant;
use super::kernel_coverage::measured_subject;
use super::test_run::{PreparedTest, TestRun, job_of};
use std::collections::BTreeSet;
use vkcert_coverage::assess::{CountedDispatch, statement_counts};
use vkcert_exec::{Completion, Executor, Job};
use vkcert_model::invocations::InvocationRecords;
use vkcert_model::metric::{MetricName, StatementCounts};
use vkcert_model::records::Records;
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_sequential::SequentialExecutor;

/// Adds counts to the records of a test that passed on the sequential engine. The engine is as the
/// test ran on it.
pub(crate) fn add_statement_counts(
    prepared_test: &PreparedTest,
    runs_of_test: &mut [TestRun],
    sequential_engine: &SequentialExecutor,
) {
    if !prepared_test.metrics.contains(&MetricName::AverageStatement) {
        return;
    }
    let sequential_run = runs_of_test
        .iter_mut()
        .find(|run| run.engine == EngineName::Sequential && run.verdict == Verdict::Pass);
    let Some(sequential_run) = sequential_run else { return };
    let recorded_modules = sequential_run.records.iter_mut().enumerate();
    let mut recorded_modules: Vec<(usize, &mut Records)> = recorded_modules
        .filter_map(|(module_index, row)| Some((module_index, row.records.as_mut().ok()?)))
        .collect();
    let bits: BTreeSet<u32> =
        recorded_modules.iter().flat_map(|(_, records)| records.bits()).collect();
    let counting_run = CountingRun::of_test(prepared_test, sequential_engine, &bits);
    for (module_index, records) in &mut recorded_modules {
        let counts = match &counting_run {
            Ok(counting_run) => {
                counting_run.counts_of_module(prepared_test, *module_index, records)
            }
            Err(reason) => StatementCounts::NotMeasured(reason.clone()),
        };
        records.statement_counts = Some(counts);
    }
}

/// A run of the measuring job with who recorded what.
struct CountingRun {
    job: Job,
    invocation_records: InvocationRecords,
}

impl CountingRun {
    /// Or why invocations cannot be counted.
    fn of_test(
        prepared_test: &PreparedTest,
        sequential_engine: &SequentialExecutor,
        bits: &BTreeSet<u32>,
    ) -> Result<Self, String> {
        let job = job_of(prepared_test, ModuleVariant::Marked)
            .ok_or("a kernel of the test has no module that records")?;
        let (run, invocation_records) = sequential_engine
            .clone()
            .run_by_invocation(&ordinary_request(prepared_test, &job), bits)
            .map_err(|error| error.to_string())?;
        match run.completion {
            Completion::Completed => Ok(Self { job, invocation_records }),
            ended => Err(ended.reason().unwrap_or("the counting run did not complete").to_owned()),
        }
    }

    fn counts_of_module(
        &self,
        prepared_test: &PreparedTest,
        module_index: usize,
        records: &Records,
    ) -> StatementCounts {
        let not_measured = |reason: &str| StatementCounts::NotMeasured(reason.to_owned());
        let (Ok(plan), Some(kernel)) =
            (&prepared_test.job_plan, prepared_test.kernels.get(module_index))
        else {
            return not_measured("the test has no such kernel");
        };
        let module_use = &plan.modules[module_index];
        let configuration = kernel
            .configurations
            .iter()
            .find(|configuration| configuration.specialization == module_use.specialization);
        let (Some(measured), Some(configuration)) = (kernel.measured(), configuration) else {
            return not_measured("the kernel has no module that records");
        };
        let Some(dispatches) = self.dispatches_of_module(module_index) else {
            return not_measured("a dispatch left no records by invocation");
        };
        let subject = measured_subject(measured, configuration);
        statement_counts(&subject, prepared_test.test.id, records, &dispatches)
    }

    /// None where one of them left nothing.
    fn dispatches_of_module(&self, module_index: usize) -> Option<Vec<CountedDispatch<'_>>> {
        let dispatches = self.job.dispatches.iter().zip(0u32..);
        let own_dispatches = dispatches.filter(|(dispatch, _)| dispatch.module == module_index);
        own_dispatches
            .map(|(dispatch, dispatch_index)| {
                let recorded_by = self.invocation_records.get(&dispatch_index)?;
                let sizes = dispatch.groups.iter().chain(&recorded_by.local_size);
                let invocation_count = sizes.map(|size| u64::from(*size)).product();
                Some(CountedDispatch { recorded_by, invocation_count })
            })
            .collect()
    }
}
