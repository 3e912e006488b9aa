//! Altered contents: whether a test that passed would fail if its kernels had stored something
//! else.
//!
//! Knows: tests that passed on the sequential engine, and which of their dispatches they judge by
//! the kernels' code.
//! Promises: for each kernel (under each specialization), from its last dispatch on, what that
//! dispatch stored is altered, the later dispatches run again, and the expectations are judged
//! again, until an alteration fails the test. A failed expectation counts as noticed, and a run
//! that does not end; not one that breaks. Nothing is recorded and no finding is looked for; the
//! limits are the test's own.
//! Does not cover: which values would be right; engines other than the sequential one.

mod count;
mod element_cache;
mod examination;
mod parts;
mod ranges;
mod reach;
mod strict;

use super::assemble::{self, LaidOut};
use super::kernel::Kernel;
use super::test_run::{PreparedTest, TestRun};
use crate::CampaignError;
use examination::Examination;
use parts::PassedTest;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use strict::StrictTest;
use vkcert_exec::prepare::{ExpectedContents, Prepared};
use vkcert_exec::{BufferContents, ExecError, Job, JobBuffer};
use vkcert_model::altered::{AlteredStores, NoticedAlteration, failed_alterations};
use vkcert_model::evidence::StoredExpectation;
use vkcert_model::flow::DispatchFlow;
use vkcert_model::judged::JudgedParts;
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_oracle::judged::{KernelCodes, TestObservation};
use vkcert_sequential::{SequentialExecutor, StoredBytes};

/// What the buffers of a job start as, and the bytes that are defined then.
fn start_of(job: &Job) -> (Vec<BufferContents>, StoredBytes) {
    job.buffers.iter().map(|buffer| (Arc::clone(&buffer.bytes), buffer.defined.clone())).unzip()
}

/// Alters the stores of every test that passed, and keeps what that showed.
pub fn examine_tests(
    prepared_tests: &[PreparedTest],
    laid_out: &LaidOut,
    kernels: &[Kernel],
    runs_by_test: &mut [Vec<TestRun>],
    sequential_engine: &SequentialExecutor,
) -> Result<(), CampaignError> {
    let codes = assemble::kernel_codes(kernels);
    let examine_test =
        |(prepared_test, row): (&PreparedTest, &mut Vec<TestRun>)| -> Result<(), CampaignError> {
            let Some(laid_out_test) = laid_out.get(&prepared_test.test.id) else {
                return Ok(());
            };
            let (stored_expectations, dispatch_flows) =
                (&laid_out_test.expected, &laid_out_test.flows);
            let has_passed = |run: &&mut TestRun| {
                run.engine == EngineName::Sequential && run.verdict == Verdict::Pass
            };
            let (Some(run), Ok(plan)) = (row.iter_mut().find(has_passed), &prepared_test.job_plan)
            else {
                return Ok(());
            };
            let by_code =
                TestObservation::from_expectations(stored_expectations, dispatch_flows, &codes);
            if by_code.emptiness_reason().is_some() {
                return Ok(());
            }
            run.altered =
                Examination::of_test(prepared_test, plan, dispatch_flows, sequential_engine)
                    .examine_kernels(&by_code, &run.outputs)?;
            if let Some(left) = final_contents(plan, &run.outputs) {
                let passed_test = PassedTest {
                    prepared_test,
                    job_plan: plan,
                    expected: stored_expectations,
                    flows: dispatch_flows,
                    left: &left,
                };
                let mut is_blind = |number: usize| passed_test.is_blind(number, &codes);
                let views = passed_test.judging_views(&codes, &mut is_blind)?;
                run.judged = JudgedParts {
                    members: count::count_members(&passed_test, &views.judging, sequential_engine)?,
                    idle: views.idle,
                };
            }
            Ok(())
        };
    let tests = prepared_tests.par_iter().zip(runs_by_test.par_iter_mut());
    tests.with_max_len(1).map(examine_test).collect()
}

/// What stored runs say of altered contents, as far as it follows from their outputs and the
/// kernels' code: rows without an engine, and the names of the tests of which it takes one to know
/// what is noticed.
pub fn derive_from_stored(
    prepared_tests: &[PreparedTest],
    laid_out: &LaidOut,
    kernels: &[Kernel],
    runs_by_test: &mut [Vec<TestRun>],
) -> Vec<String> {
    let codes = assemble::kernel_codes(kernels);
    let mut unknown_tests = Vec::new();
    for (test, runs_of_test) in prepared_tests.iter().zip(runs_by_test) {
        let Some(laid_out_test) = laid_out.get(&test.test.id) else { continue };
        let (stored_expectations, dispatch_flows) = (&laid_out_test.expected, &laid_out_test.flows);
        let has_told = |run: &&mut TestRun| {
            run.engine == EngineName::Sequential
                && failed_alterations(run.verdict, &run.altered).is_some()
        };
        let (Some(run), Ok(plan)) = (runs_of_test.iter_mut().find(has_told), &test.job_plan) else {
            continue;
        };
        let by_code =
            TestObservation::from_expectations(stored_expectations, dispatch_flows, &codes);
        let stored_rows = std::mem::take(&mut run.altered);
        let stored_judged = std::mem::take(&mut run.judged);
        if by_code.emptiness_reason().is_some() {
            continue;
        }
        run.judged = derived_judged(
            (test, plan),
            (stored_expectations, dispatch_flows),
            stored_judged,
            &codes,
            &run.outputs,
        );
        let noticed = derived_noticed(test, plan, &run.outputs);
        for mut due in rows_of_kernels(plan, &by_code) {
            let is_same_row = |row: &&AlteredStores| {
                (&row.kernel, &row.dispatches) == (&due.kernel, &due.dispatches)
            };
            let stored_row = stored_rows.iter().find(is_same_row);
            due.noticed = noticed;
            // Of a single dispatch nothing is overwritten, and there is no other.
            if let (None, Some(stored_row)) = (noticed, stored_row) {
                take_stored(&mut due, stored_row);
            }
            run.altered.push(due);
        }
        if noticed.is_none() {
            unknown_tests.push(format!("test {} on {}", test.test.id, run.engine));
        }
    }
    unknown_tests
}

/// How much the test judges; as it is stored where outputs are not, and of checkers whether they
/// judge anything. What was read when is believed within what the kernels' code permits.
fn derived_judged(
    (prepared_test, job_plan): (&PreparedTest, &Prepared),
    (expected, dispatch_flows): (&[StoredExpectation], &[DispatchFlow]),
    stored: JudgedParts,
    kernel_codes: &KernelCodes,
    outputs: &BTreeMap<String, BufferContents>,
) -> JudgedParts {
    let Some(left) = final_contents(job_plan, outputs) else { return stored };
    let passed =
        PassedTest { prepared_test, job_plan, expected, flows: dispatch_flows, left: &left };
    let views = passed
        .judging_views(kernel_codes, &mut |number| Ok(stored.idle.contains(&(number as u32))));
    let Ok(views) = views else { return JudgedParts::default() };
    JudgedParts {
        members: count::derived_members(&passed, &views.judging, &stored.members),
        idle: views.idle,
    }
}

/// What only an engine can tell, as it is stored, as far as it is about dispatches of the row.
fn take_stored(due_row: &mut AlteredStores, stored_row: &AlteredStores) {
    let is_due = |number: &u32| due_row.dispatches.contains(number);
    let stored_noticed =
        stored_row.noticed.filter(|stored_noticed| is_due(&stored_noticed.dispatch));
    let is_other = |number: &u32| {
        stored_noticed.is_some_and(|stored_noticed| stored_noticed.dispatch != *number)
    };
    let overwritten: Vec<u32> = stored_row.overwritten.iter().copied().filter(is_due).collect();
    let unnoticed =
        stored_row.unnoticed.iter().copied().filter(|number| is_due(number) && is_other(number));
    due_row.unnoticed = unnoticed.filter(|number| !overwritten.contains(number)).collect();
    due_row.overwritten = overwritten;
    due_row.noticed = stored_noticed;
}

/// What the outputs of a test with one dispatch show without an engine.
fn derived_noticed(
    prepared_test: &PreparedTest,
    job_plan: &Prepared,
    outputs: &BTreeMap<String, BufferContents>,
) -> Option<NoticedAlteration> {
    let needs_engine = |contents: &ExpectedContents| match contents {
        ExpectedContents::Values(_) | ExpectedContents::Buffer { .. } => false,
        ExpectedContents::Reference { .. } | ExpectedContents::Check { .. } => true,
    };
    if job_plan.expected.iter().any(|expected| needs_engine(&expected.contents)) {
        return None;
    }
    let left = final_contents(job_plan, outputs)?;
    StrictTest::of_test(prepared_test.test, job_plan, &left).trial_of_changes(&left).ok()?
}

/// A row per kernel and specialization of which a dispatch is judged by its code, with nothing
/// noticed yet.
fn rows_of_kernels(job_plan: &Prepared, by_code: &TestObservation) -> Vec<AlteredStores> {
    let kernel_row = |(module, of): (usize, &vkcert_exec::prepare::ModuleUse)| {
        let of_module = job_plan
            .job
            .dispatches
            .iter()
            .enumerate()
            .filter(|(_, dispatch)| dispatch.module == module);
        let judged_dispatches = of_module.filter(|(number, _)| by_code.judges_dispatch(*number));
        let dispatches: Vec<u32> = judged_dispatches.map(|(number, _)| number as u32).collect();
        (!dispatches.is_empty()).then(|| AlteredStores {
            kernel: of.kernel,
            dispatches,
            noticed: None,
            overwritten: Vec::new(),
            unnoticed: Vec::new(),
        })
    };
    job_plan.modules.iter().enumerate().filter_map(kernel_row).collect()
}

/// Final contents by buffer of the job; none where one is not there as it should be.
fn final_contents(
    job_plan: &Prepared,
    outputs: &BTreeMap<String, BufferContents>,
) -> Option<Vec<BufferContents>> {
    let whole_contents = |buffer: &JobBuffer| {
        outputs.get(&buffer.name).filter(|left| left.len() == buffer.bytes.len()).cloned()
    };
    job_plan.job.buffers.iter().map(whole_contents).collect()
}

fn tool_failure(error: ExecError) -> CampaignError {
    CampaignError::tool(error.to_string())
}
