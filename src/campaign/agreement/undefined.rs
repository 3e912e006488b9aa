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
use crate::kernel::Variant;
use crate::test_run::{ModuleRecords, PreparedTest, TestRun, job_of, judge, object_job};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_exec::{Completion, Executor, Job, RunRequest};
use vkcert_model::invocations::Ranks;
use vkcert_model::procedure::Limits;
use vkcert_model::records::Records;
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_sequential::{SequentialExecutor, Variation};

/// Instructions that one run may take, some seconds, where the ordinary run takes no more: another
/// value may be the bound of a loop.
const MOST_STEPS: u64 = 100_000_000;

/// Notes in a test's records what of them may follow undefined values, and whether its pass does.
/// `engine` is as the test ran on it.
pub fn mark(test: &PreparedTest, row: &mut [TestRun], engine: &SequentialExecutor) {
    let Some(sequential) = row.iter().find(|run| run.engine == EngineName::Sequential) else {
        return;
    };
    if !uses_undefined(sequential) || !row.iter().any(|run| run.verdict == Verdict::Pass) {
        return;
    }
    let source = Defined::of(test, engine, job_of(test, Variant::Marked), &sequential.records);
    let objects = match sequential.objects.is_empty() {
        true => Vec::new(),
        false => {
            Defined::of(test, engine, object_job(test, EngineName::Sequential), &sequential.objects)
        }
    };
    let rests = rests_on_undefined(test, engine);
    for run in row.iter_mut().filter(|run| run.verdict == Verdict::Pass) {
        run.rests_on_undefined = run.engine == EngineName::Sequential && rests;
        hold(&mut run.records, &source);
        hold(&mut run.objects, &objects);
    }
}

/// Whether some run with other undefined values does not pass, or does not complete.
fn rests_on_undefined(test: &PreparedTest, engine: &SequentialExecutor) -> bool {
    let (Ok(plan), Some(mut job)) = (&test.plan, job_of(test, Variant::Production)) else {
        return true;
    };
    let most = job.limits.steps;
    job.limits.steps = most.min(MOST_STEPS);
    let passes = |job: &Job, variation: Variation| {
        let run = run_varied(engine, test, job, variation);
        run.is_some_and(|run| {
            judge(plan, &run.run).is_ok_and(|judged| judged.verdict == Verdict::Pass)
        })
    };
    if !passes(&job, Variation::NONE) {
        job.limits.steps = most;
    }
    !Variation::OF_UNDEFINED.iter().all(|variation| passes(&job, *variation))
}

/// Holds what an engine recorded, module by module, to what is defined.
fn hold(rows: &mut [ModuleRecords], defined: &[Defined]) {
    let nothing = Defined::default();
    for (index, row) in rows.iter_mut().enumerate() {
        let Defined { bits, barriers } = defined.get(index).unwrap_or(&nothing);
        if let Ok(records) = &mut row.records {
            records.keep_undefined_outside(bits, barriers);
        }
    }
}

/// What of a module's records comes whatever undefined values are.
#[derive(Debug, Default)]
struct Defined {
    bits: BTreeSet<u32>,
    barriers: BTreeSet<u32>,
}

impl Defined {
    /// By module of the job; none where there is nothing to run, or a run does not complete.
    fn of(
        test: &PreparedTest,
        engine: &SequentialExecutor,
        job: Option<Job>,
        recorded: &[ModuleRecords],
    ) -> Vec<Defined> {
        let Some(job) = job else { return Vec::new() };
        let records = recorded.iter().filter_map(|row| row.records.as_ref().ok());
        let bits: BTreeSet<u32> = records.flat_map(Records::bits).collect();
        let few = Limits { steps: job.limits.steps.min(MOST_STEPS), ..job.limits };
        let short = Job { limits: few, ..job.clone() };
        let engine = &mut engine.clone();
        let (job, mut always) = match Shown::by(engine, &ordinary_request(test, &short), &bits) {
            Some(shown) => (short, shown),
            None => match Shown::by(engine, &ordinary_request(test, &job), &bits) {
                Some(shown) => (job, shown),
                None => return Vec::new(),
            },
        };
        for variation in Variation::OF_UNDEFINED {
            let request = varied_request(test, &job, *variation);
            let Some(shown) = Shown::by(engine, &request, &bits) else { return Vec::new() };
            always.keep(&shown);
        }
        always.by_module(&job)
    }
}

/// Who sets which bit in a run, and who executes which barrier.
struct Shown {
    /// By dispatch and bit.
    bits: BTreeMap<(u32, u32), Ranks>,
    /// Workgroups by dispatch and number of the barrier.
    barriers: BTreeMap<(u32, u32), Ranks>,
}

impl Shown {
    /// None where the run does not complete.
    fn by(
        engine: &mut SequentialExecutor,
        request: &RunRequest<'_>,
        bits: &BTreeSet<u32>,
    ) -> Option<Self> {
        let (run, found) = engine.run_by_invocation(request, bits).ok()?;
        if run.completion != Completion::Completed {
            return None;
        }
        let (mut bits, mut barriers) = (BTreeMap::new(), BTreeMap::new());
        for (dispatch, found) in found {
            bits.extend(found.by_bit.into_iter().map(|(bit, ranks)| ((dispatch, bit), ranks)));
            barriers.extend(
                found.barriers.into_iter().map(|(number, ranks)| ((dispatch, number), ranks)),
            );
        }
        Some(Self { bits, barriers })
    }

    /// Leaves what the other run has, too.
    fn keep(&mut self, other: &Shown) {
        for (mine, others) in [(&mut self.bits, &other.bits), (&mut self.barriers, &other.barriers)]
        {
            mine.retain(|key, ranks| {
                *ranks = ranks.shared(others.get(key).unwrap_or(Ranks::NONE));
                !ranks.is_empty()
            });
        }
    }

    fn by_module(&self, job: &Job) -> Vec<Defined> {
        let mut defined: Vec<Defined> = job.modules.iter().map(|_| Defined::default()).collect();
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
