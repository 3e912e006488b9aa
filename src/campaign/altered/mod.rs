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
    job.buffers.iter().map(|buffer| (buffer.bytes.clone(), buffer.defined.clone())).unzip()
}

/// Alters the stores of every test that passed, and keeps what that showed.
pub fn examine(
    prepared: &[PreparedTest],
    laid_out: &LaidOut,
    kernels: &[Kernel],
    runs: &mut [Vec<TestRun>],
    engine: &SequentialExecutor,
) -> Result<(), CampaignError> {
    let codes = assemble::codes(kernels);
    let examined = |(test, row): (&PreparedTest, &mut Vec<TestRun>)| -> Result<(), CampaignError> {
        let Some((expected, flows)) = laid_out.get(&test.test.id) else { return Ok(()) };
        let passed = |run: &&mut TestRun| {
            run.engine == EngineName::Sequential && run.verdict == Verdict::Pass
        };
        let (Some(run), Ok(plan)) = (row.iter_mut().find(passed), &test.plan) else {
            return Ok(());
        };
        let by_code = TestObservation::from_expectations(expected, flows, &codes);
        if by_code.emptiness_reason().is_some() {
            return Ok(());
        }
        run.altered = Examination::of(test, plan, flows, engine).kernels(&by_code, &run.outputs)?;
        if let Some(left) = final_contents(plan, &run.outputs) {
            let passed = PassedTest { test, plan, expected, flows, left: &left };
            let mut is_blind = |number: usize| passed.is_blind(number, &codes);
            let views = passed.views(&codes, &mut is_blind)?;
            run.judged = JudgedParts {
                members: count::counted(&passed, &views.judging, engine)?,
                idle: views.idle,
            };
        }
        Ok(())
    };
    prepared.par_iter().zip(runs.par_iter_mut()).map(examined).collect()
}

/// What stored runs say of altered contents, as far as it follows from their outputs and the
/// kernels' code: rows without an engine, and the names of the tests of which it takes one to know
/// what is noticed.
pub fn derive(
    prepared: &[PreparedTest],
    laid_out: &LaidOut,
    kernels: &[Kernel],
    runs: &mut [Vec<TestRun>],
) -> Vec<String> {
    let codes = assemble::codes(kernels);
    let mut unknown = Vec::new();
    for (test, row) in prepared.iter().zip(runs) {
        let Some((expected, flows)) = laid_out.get(&test.test.id) else { continue };
        let told = |run: &&mut TestRun| {
            run.engine == EngineName::Sequential
                && failed_alterations(run.verdict, &run.altered).is_some()
        };
        let (Some(run), Ok(plan)) = (row.iter_mut().find(told), &test.plan) else { continue };
        let by_code = TestObservation::from_expectations(expected, flows, &codes);
        let stored = std::mem::take(&mut run.altered);
        let judged = std::mem::take(&mut run.judged);
        if by_code.emptiness_reason().is_some() {
            continue;
        }
        run.judged = derived_judged((test, plan), (expected, flows), judged, &codes, &run.outputs);
        let derived = derived_noticed(test, plan, &run.outputs);
        for mut due in rows(plan, &by_code) {
            let same = |row: &&AlteredStores| {
                (&row.kernel, &row.dispatches) == (&due.kernel, &due.dispatches)
            };
            let stored = stored.iter().find(same);
            due.noticed = derived;
            // Of a single dispatch nothing is overwritten, and there is no other.
            if let (None, Some(row)) = (derived, stored) {
                take_stored(&mut due, row);
            }
            run.altered.push(due);
        }
        if derived.is_none() {
            unknown.push(format!("test {} on {}", test.test.id, run.engine));
        }
    }
    unknown
}

/// How much the test judges; as it is stored where outputs are not, and of checkers whether they
/// judge anything. What was read when is believed within what the kernels' code permits.
fn derived_judged(
    (test, plan): (&PreparedTest, &Prepared),
    (expected, flows): (&[StoredExpectation], &[DispatchFlow]),
    stored: JudgedParts,
    codes: &KernelCodes,
    outputs: &BTreeMap<String, BufferContents>,
) -> JudgedParts {
    let Some(left) = final_contents(plan, outputs) else { return stored };
    let passed = PassedTest { test, plan, expected, flows, left: &left };
    let views = passed.views(codes, &mut |number| Ok(stored.idle.contains(&(number as u32))));
    let Ok(views) = views else { return JudgedParts::default() };
    JudgedParts {
        members: count::derived(&passed, &views.judging, &stored.members),
        idle: views.idle,
    }
}

/// What only an engine can tell, as it is stored, as far as it is about dispatches of the row.
fn take_stored(due: &mut AlteredStores, stored: &AlteredStores) {
    let known = |number: &u32| due.dispatches.contains(number);
    let noticed = stored.noticed.filter(|noticed| known(&noticed.dispatch));
    let is_other = |number: &u32| noticed.is_some_and(|noticed| noticed.dispatch != *number);
    let overwritten: Vec<u32> = stored.overwritten.iter().copied().filter(known).collect();
    let unnoticed =
        stored.unnoticed.iter().copied().filter(|number| known(number) && is_other(number));
    due.unnoticed = unnoticed.filter(|number| !overwritten.contains(number)).collect();
    due.overwritten = overwritten;
    due.noticed = noticed;
}

/// What the outputs of a test with one dispatch show without an engine.
fn derived_noticed(
    test: &PreparedTest,
    plan: &Prepared,
    outputs: &BTreeMap<String, BufferContents>,
) -> Option<NoticedAlteration> {
    let needs_engine = |contents: &ExpectedContents| match contents {
        ExpectedContents::Values(_) | ExpectedContents::Buffer { .. } => false,
        ExpectedContents::Reference { .. } | ExpectedContents::Check { .. } => true,
    };
    if plan.expected.iter().any(|expected| needs_engine(&expected.contents)) {
        return None;
    }
    let left = final_contents(plan, outputs)?;
    StrictTest::of(test.test, plan, &left).trial_of_changes(&left).ok()?
}

/// A row per kernel and specialization of which a dispatch is judged by its code, with nothing
/// noticed yet.
fn rows(plan: &Prepared, by_code: &TestObservation) -> Vec<AlteredStores> {
    let row = |(module, of): (usize, &vkcert_exec::prepare::ModuleUse)| {
        let of_module = plan
            .job
            .dispatches
            .iter()
            .enumerate()
            .filter(|(_, dispatch)| dispatch.module == module);
        let judged = of_module.filter(|(number, _)| by_code.judges_dispatch(*number));
        let dispatches: Vec<u32> = judged.map(|(number, _)| number as u32).collect();
        (!dispatches.is_empty()).then(|| AlteredStores {
            kernel: of.kernel,
            dispatches,
            noticed: None,
            overwritten: Vec::new(),
            unnoticed: Vec::new(),
        })
    };
    plan.modules.iter().enumerate().filter_map(row).collect()
}

/// Final contents by buffer of the job; none where one is not there as it should be.
fn final_contents(
    plan: &Prepared,
    outputs: &BTreeMap<String, BufferContents>,
) -> Option<Vec<BufferContents>> {
    let whole = |buffer: &JobBuffer| {
        outputs.get(&buffer.name).filter(|left| left.len() == buffer.bytes.len()).cloned()
    };
    plan.job.buffers.iter().map(whole).collect()
}

fn tool(error: ExecError) -> CampaignError {
    CampaignError::tool(error.to_string())
}
