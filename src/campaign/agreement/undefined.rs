//! Which records of a test may follow undefined values, and whether its pass does.
//!
//! Knows: the measuring jobs of a test on the sequential engine: as ever, and with other undefined
//! values.
//! Promises: where the sequential engine has told of an undefined value in a passed test, a bit of
//! either engine's records is held to be defined only if one invocation sets it in each of these
//! runs; a barrier, only if one workgroup executes it in each of them. Where a run does not
//! complete, nothing is. A pass that such a run does not confirm is noted. Where no such value is
//! told, nothing runs.
//! Does not cover: an undefined value that changes nothing in these runs; which invocations set a
//! bit on a device.

use super::{ordinary_request, run_varied, uses_undefined, varied_request};
use crate::kernel::ModuleVariant;
use crate::test_run::{ModuleRecords, PreparedTest, TestRun, job_of, judge_run, object_job};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_exec::{Completion, Executor, Job, RunRequest};
use vkcert_model::invocations::Ranks;
use vkcert_model::records::Records;
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_sequential::{SequentialExecutor, Variation};

/// Instructions that one run may take, some seconds, where the ordinary run takes no more: another
/// value may be the bound of a loop.
const MOST_STEPS: u64 = 100_000_000;

/// Notes in a test's records what of them may follow undefined values, and whether its pass does.
/// The engine is as the test ran on it.
pub fn mark_undefined_records(
    prepared_test: &PreparedTest,
    runs_of_test: &mut [TestRun],
    sequential_engine: &SequentialExecutor,
) {
    let Some(sequential) = runs_of_test.iter().find(|run| run.engine == EngineName::Sequential)
    else {
        return;
    };
    if !uses_undefined(sequential) || !runs_of_test.iter().any(|run| run.verdict == Verdict::Pass) {
        return;
    }
    let source_records = DefinedRecords::of_job(
        prepared_test,
        sequential_engine,
        job_of(prepared_test, ModuleVariant::Marked),
        &sequential.records,
    );
    let object_records = match sequential.objects.is_empty() {
        true => Vec::new(),
        false => DefinedRecords::of_job(
            prepared_test,
            sequential_engine,
            object_job(prepared_test, EngineName::Sequential),
            &sequential.objects,
        ),
    };
    let rests = rests_on_undefined(prepared_test, sequential_engine);
    for run in runs_of_test.iter_mut().filter(|run| run.verdict == Verdict::Pass) {
        run.rests_on_undefined = run.engine == EngineName::Sequential && rests;
        hold_to_defined(&mut run.records, &source_records);
        hold_to_defined(&mut run.objects, &object_records);
    }
}

/// Whether some run with other undefined values does not pass, or does not complete.
fn rests_on_undefined(
    prepared_test: &PreparedTest,
    sequential_engine: &SequentialExecutor,
) -> bool {
    let (Ok(plan), Some(mut job)) =
        (&prepared_test.job_plan, job_of(prepared_test, ModuleVariant::Production))
    else {
        return true;
    };
    let step_limit = job.limits.steps;
    job.limits.steps = step_limit.min(MOST_STEPS);
    let passes_with = |job: &Job, variation: Variation| {
        let run = run_varied(sequential_engine, prepared_test, job, variation);
        run.is_some_and(|run| {
            judge_run(plan, &run.run).is_ok_and(|judged| judged.verdict == Verdict::Pass)
        })
    };
    if !passes_with(&job, Variation::NONE) {
        job.limits.steps = step_limit;
    }
    !Variation::OF_UNDEFINED.iter().all(|variation| passes_with(&job, *variation))
}

/// Holds what an engine recorded, module by module, to what is defined.
fn hold_to_defined(module_rows: &mut [ModuleRecords], defined: &[DefinedRecords]) {
    let nothing_defined = DefinedRecords::default();
    for (index, row) in module_rows.iter_mut().enumerate() {
        let DefinedRecords { bits, barriers } = defined.get(index).unwrap_or(&nothing_defined);
        if let Ok(records) = &mut row.records {
            records.keep_undefined_outside(bits, barriers);
        }
    }
}

/// What of a module's records comes whatever undefined values are.
#[derive(Debug, Default)]
struct DefinedRecords {
    bits: BTreeSet<u32>,
    barriers: BTreeSet<u32>,
}

impl DefinedRecords {
    /// By module of the job; none where there is nothing to run, or a run does not complete.
    fn of_job(
        prepared_test: &PreparedTest,
        sequential_engine: &SequentialExecutor,
        job: Option<Job>,
        recorded_modules: &[ModuleRecords],
    ) -> Vec<DefinedRecords> {
        let Some(mut job) = job else { return Vec::new() };
        let records = recorded_modules.iter().filter_map(|row| row.records.as_ref().ok());
        let bits: BTreeSet<u32> = records.flat_map(Records::bits).collect();
        let sequential_engine = &mut sequential_engine.clone();
        let mut ordinary_ranks = |job: &Job| {
            RanksOfRun::by_run(sequential_engine, &ordinary_request(prepared_test, job), &bits)
        };
        let step_limit = job.limits.steps;
        job.limits.steps = step_limit.min(MOST_STEPS);
        let mut recorded_ranks = ordinary_ranks(&job);
        if recorded_ranks.is_none() {
            job.limits.steps = step_limit;
            recorded_ranks = ordinary_ranks(&job);
        }
        let Some(mut always_recorded) = recorded_ranks else { return Vec::new() };
        for variation in Variation::OF_UNDEFINED {
            let request = varied_request(prepared_test, &job, *variation);
            let Some(varied_ranks) = RanksOfRun::by_run(sequential_engine, &request, &bits) else {
                return Vec::new();
            };
            always_recorded.keep_shared(&varied_ranks);
        }
        always_recorded.by_module(&job)
    }
}

/// Who sets which bit in a run, and who executes which barrier.
struct RanksOfRun {
    /// By dispatch and bit.
    bits: BTreeMap<(u32, u32), Ranks>,
    /// Workgroups by dispatch and number of the barrier.
    barriers: BTreeMap<(u32, u32), Ranks>,
}

impl RanksOfRun {
    /// None where the run does not complete.
    fn by_run(
        sequential_engine: &mut SequentialExecutor,
        run_request: &RunRequest<'_>,
        record_bits: &BTreeSet<u32>,
    ) -> Option<Self> {
        let (run, invocation_records) =
            sequential_engine.run_by_invocation(run_request, record_bits).ok()?;
        if run.completion != Completion::Completed {
            return None;
        }
        let mut ranks_of_run = Self { bits: BTreeMap::new(), barriers: BTreeMap::new() };
        for (dispatch, dispatch_records) in invocation_records {
            let by_bit = dispatch_records.by_bit.into_iter();
            ranks_of_run.bits.extend(by_bit.map(|(bit, ranks)| ((dispatch, bit), ranks)));
            let by_barrier = dispatch_records.barriers.into_iter();
            ranks_of_run
                .barriers
                .extend(by_barrier.map(|(number, ranks)| ((dispatch, number), ranks)));
        }
        Some(ranks_of_run)
    }

    /// Leaves what the other run has, too.
    fn keep_shared(&mut self, other_run: &RanksOfRun) {
        for (mine, others) in
            [(&mut self.bits, &other_run.bits), (&mut self.barriers, &other_run.barriers)]
        {
            mine.retain(|key, ranks| {
                *ranks = ranks.shared(others.get(key).unwrap_or(Ranks::NONE));
                !ranks.is_empty()
            });
        }
    }

    fn by_module(&self, job: &Job) -> Vec<DefinedRecords> {
        let mut defined: Vec<DefinedRecords> =
            job.modules.iter().map(|_| DefinedRecords::default()).collect();
        for ((dispatch, bit), ranks) in &self.bits {
            if !ranks.is_empty() {
                defined[job.dispatches[*dispatch as usize].module].bits.insert(*bit);
            }
        }
        for (dispatch, barrier) in self.barriers.keys() {
            defined[job.dispatches[*dispatch as usize].module].barriers.insert(*barrier);
        }
        defined
    }
}
