//! The run of a mutant of dispatches.
//!
//! Promises: other counts of workgroups are run as they are. Without the barrier between two dispatches these are
//! concurrent: they are run in the other order, which expectations judge, and they race where, in one order or the
//! other, one of them reads what the other one wrote and not both accesses are atomic.
//! What atomics or fences may order is undecided.
//! Does not cover: orders in which the two dispatches take turns; places that both write and that no one of them reads
//! from the other, which are noticed by the contents alone.

use super::dispatch_mutants::{DispatchFault, DispatchMutant};
use super::mutant_run::{MutantBench, TestBaseline};
use super::plan::MutantFacts;
use rspirv::spirv::Op;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use vkcert_exec::access_pairs::{AccessPairs, PairTracking};
use vkcert_exec::{ExecError, Job, RunRequest, Unobserved};
use vkcert_model::access_pair::{AccessPair, Passage};
use vkcert_model::evidence::{MutantVerdict, Notice};
use vkcert_model::finding::FindingKind;
use vkcert_model::id::{ModuleKey, TestId};
use vkcert_sequential::SequentialExecutor;
use vkcert_spirv::module::Module;
use vkcert_spirv::opcodes::is_atomic;

impl MutantBench<'_> {
    /// Runs the tests with a mutant of their dispatches. There is no proof for those that no test notices.
    pub(super) fn judge_dispatches(
        &self,
        mutant: &DispatchMutant,
        first: &[TestId],
    ) -> MutantFacts {
        let runs = self.judge_in_turn(first, self.judges, |baseline| {
            // A test without the fault judges nothing.
            let faults = mutant.faults.get(&baseline.prepared.test.id)?;
            Some(baseline.judge_faults(&self.engine, faults))
        });
        MutantFacts::without_proof(runs)
    }
}

impl TestBaseline<'_> {
    /// Counts of workgroups change together, and barriers are taken away together.
    fn judge_faults(&self, engine: &SequentialExecutor, faults: &[DispatchFault]) -> MutantVerdict {
        let mut with_counts = None;
        let mut verdicts = Vec::new();
        let mut without_barrier = BTreeSet::new();
        for fault in faults {
            match fault {
                DispatchFault::Groups { dispatch, groups } => {
                    let job = with_counts.get_or_insert_with(|| self.limited_job());
                    job.dispatches[*dispatch].groups = *groups;
                }
                DispatchFault::NoBarrier { dispatch } => {
                    without_barrier.insert(*dispatch);
                }
            }
        }
        if !without_barrier.is_empty() {
            verdicts.push(self.judge_without_barriers(engine, &without_barrier));
        }
        verdicts.extend(with_counts.map(|job| self.judge(engine, &job)));
        united_verdict(verdicts)
    }

    /// `barriers` are the dispatches that barriers were in front of. Dispatches further apart are looked at where those
    /// next to each other show nothing.
    fn judge_without_barriers(
        &self,
        engine: &SequentialExecutor,
        barriers: &BTreeSet<usize>,
    ) -> MutantVerdict {
        let (near, far): (Vec<Unordered>, Vec<Unordered>) =
            Unordered::of_barriers(barriers).partition(|pair| pair.earlier + 1 == pair.later);
        let judge = |pairs: Vec<Unordered>| {
            pairs.into_iter().map(|pair| self.judge_unordered(engine, pair)).collect::<Vec<_>>()
        };
        let mut verdicts = judge(near);
        if verdicts.iter().all(|verdict| verdict.notices().is_empty()) {
            verdicts.extend(judge(far));
        }
        united_verdict(verdicts)
    }

    fn judge_unordered(&self, engine: &SequentialExecutor, pair: Unordered) -> MutantVerdict {
        let job = self.limited_job();
        let order = self.judge(engine, &pair.exchanged(&job));
        let race = match dispatches_race(engine, &job, pair) {
            Ok(true) if atomics_may_order(&job, pair) => MutantVerdict::Undecided(
                "atomics or fences of both kernels may order what the dispatches access".to_owned(),
            ),
            Ok(true) => MutantVerdict::Noticed(vec![Notice::Finding(FindingKind::DataRace)]),
            Ok(false) => MutantVerdict::NotNoticed,
            Err(reason) => MutantVerdict::Undecided(reason),
        };
        united_verdict(vec![order, race])
    }
}

/// Two dispatches of a test that no barrier orders, by their places in it.
#[derive(Debug, Clone, Copy)]
struct Unordered {
    earlier: usize,
    later: usize,
}

impl Unordered {
    /// Those between which all barriers are taken away, given the dispatches that these were in front of.
    fn of_barriers(barriers: &BTreeSet<usize>) -> impl Iterator<Item = Unordered> + '_ {
        barriers.iter().flat_map(|later| {
            let is_taken_away = |barrier: &usize| barriers.contains(barrier);
            let in_front = (1..=*later).rev().take_while(is_taken_away);
            in_front.map(|barrier| Unordered { earlier: barrier - 1, later: *later })
        })
    }

    /// The job with the later one directly in front of the earlier one.
    fn exchanged(self, job: &Job) -> Job {
        let mut exchanged = job.clone();
        exchanged.dispatches[self.earlier..=self.later].rotate_right(1);
        exchanged
    }
}

/// All ways in which any of several runs noticed a mutant; else why one of them is not known.
fn united_verdict(verdicts: Vec<MutantVerdict>) -> MutantVerdict {
    let notices: BTreeSet<Notice> =
        verdicts.iter().flat_map(|verdict| verdict.notices().iter().cloned()).collect();
    if !notices.is_empty() {
        return MutantVerdict::Noticed(notices.into_iter().collect());
    }
    let is_undecided = |verdict: &&MutantVerdict| matches!(verdict, MutantVerdict::Undecided(_));
    let is_other = |verdict: &&MutantVerdict| matches!(verdict, MutantVerdict::OtherContents(_));
    let of_kind = |kind: fn(&&MutantVerdict) -> bool| verdicts.iter().find(kind).cloned();
    of_kind(is_undecided).or_else(|| of_kind(is_other)).unwrap_or(MutantVerdict::NotNoticed)
}

/// Whether two dispatches race where nothing orders them.
///
/// # Errors
/// Why that is not known.
fn dispatches_race(
    engine: &SequentialExecutor,
    job: &Job,
    pair: Unordered,
) -> Result<bool, String> {
    let traced = with_own_modules(job);
    let exchanged = pair.exchanged(&traced);
    let Unordered { earlier, later } = pair;
    for (job, reading, writing) in [(&traced, later, earlier), (&exchanged, earlier, later)] {
        let pairs = pairs_of_run(engine, job)?;
        let modules = [&job.modules[reading], &job.modules[writing]];
        let [reading_module, writing_module] = modules.map(|module| {
            Module::parse(Arc::clone(&module.words)).map_err(|error| error.to_string())
        });
        let (reading_module, writing_module) = (reading_module?, writing_module?);
        let races = |pair: &AccessPair| match pair.passage {
            Passage::Dispatch { kernel, specialization, store } => {
                let writer = ModuleKey { kernel, specialization };
                writer == job.modules[writing].key
                    && !(is_atomic_at(&reading_module, pair.use_index)
                        && is_atomic_at(&writing_module, store))
            }
            Passage::Host
            | Passage::Barrier { .. }
            | Passage::Atomic { .. }
            | Passage::Unordered { .. } => false,
        };
        let own_pairs = pairs.get(&job.modules[reading].key);
        if own_pairs.into_iter().flatten().any(races) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether both of two dispatches have fences, or atomics that are more than relaxed: these can order accesses of
/// dispatches that run at once.
fn atomics_may_order(job: &Job, pair: Unordered) -> bool {
    [pair.earlier, pair.later].into_iter().all(|index| {
        let words = &job.modules[job.dispatches[index].module].words;
        match Module::parse(Arc::clone(words)) {
            Ok(module) => has_ordering(&module),
            Err(_) => true,
        }
    })
}

/// Acquire, Release, AcquireRelease and SequentiallyConsistent (SPIR-V, Memory Semantics).
const ORDERING: u32 = 0x2 | 0x4 | 0x8 | 0x10;

fn has_ordering(module: &Module) -> bool {
    module.instructions.iter().any(|instruction| {
        let orders = |operand: usize| {
            let constant = instruction.id(operand).and_then(|id| module.definition(id));
            // What is no plain constant may be anything.
            constant.and_then(|row| row.literal(0)).is_none_or(|bits| bits & ORDERING != 0)
        };
        match instruction.op {
            Op::MemoryBarrier => orders(1),
            op if is_atomic(op) => orders(2),
            _ => false,
        }
    })
}

fn is_atomic_at(module: &Module, source_index: u32) -> bool {
    let instruction = module.instructions.get(source_index as usize);
    instruction.is_some_and(|instruction| is_atomic(instruction.op))
}

/// A job in which each dispatch has a module of its own, by whose key its accesses are told.
fn with_own_modules(job: &Job) -> Job {
    let mut own = job.clone();
    own.modules.clear();
    for (index, dispatch) in own.dispatches.iter_mut().enumerate() {
        let mut module = job.modules[dispatch.module].clone();
        module.key.specialization = index as u32 + 1;
        dispatch.module = own.modules.len();
        own.modules.push(module);
    }
    own
}

type PairsByModule = BTreeMap<ModuleKey, BTreeSet<AccessPair>>;

fn pairs_of_run(engine: &SequentialExecutor, job: &Job) -> Result<PairsByModule, String> {
    let request = RunRequest { pair_tracking: PairTracking::On, ..RunRequest::once(job) };
    let outcome = engine.run_once(&request, &mut Unobserved);
    let outcome = outcome.map_err(|error: ExecError| format!("the tool failed: {error}"))?;
    match outcome.access_pairs {
        AccessPairs::Tracked(modules) => {
            Ok(modules.into_iter().map(|(key, own)| (key, own.pairs)).collect())
        }
        AccessPairs::Undetermined { reason } => Err(reason),
        AccessPairs::NotTracked => Err("accesses were not followed".to_owned()),
    }
}
