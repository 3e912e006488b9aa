//! Speculative parallel execution of the workgroups of a dispatch, with the results of one core.
//!
//! Knows: each worker has copies of the stores that the program writes, with access sets
//! (`access_sets`), and takes workgroups in ascending order. Without a conflict between the access
//! sets no workgroup could see what another worker's workgroups did. Every workgroup then ran as it
//! runs on one core, and the results of the workers are merged by the index of workgroups. After a
//! conflict, or when the step budget is used up, the results are dropped and the machine runs the
//! same workgroups on one core.
//! Promises: buffers, findings with counts and witnesses, records, operands, counts and completion
//! do not depend on the number of workers nor on which worker ran which workgroup.
//! Does not cover: varied runs and other orders of the workgroups, which stay on one core; a part
//! of a dispatch whose workgroups depend on each other.

use super::finding_collector::FindingCollector;
use super::printer::Printer;
use super::recorder::Recorder;
use super::regions::RegionCounts;
use super::spin_watch::TurnEnd;
use super::state::{DispatchLaunch, Machine, working_bytes};
use super::step_budget::{Deadline, StepBudget};
use crate::ir::Program;
use crate::memory::access_sets;
use crate::memory::access_sets::AccessSet;
use crate::memory::copy_on_write::CopyOnWrite;
use crate::memory::race_shadow::{AtomicUse, RaceShadow};
use crate::memory::store::Store;
use crate::settings::Jobs;
use crate::tally::{Counter, Counters};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Steps on one core before it is judged whether several pay: enough for an average, in the order
/// of a millisecond.
const PILOT_STEPS: u64 = 200_000;

/// Steps that must lie ahead, beside one for each byte of a worker's copies: some milliseconds,
/// against the fraction of one that waking workers takes. An estimate, not measured.
const WORTH_STEPS: u64 = 2_000_000;

/// Batches per worker, so that workers who are done first get more.
const BATCHES: u64 = 16;

/// A buffer that a program writes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WrittenBuffer {
    pub buffer_index: usize,
    pub atomicity: AtomicUse,
    /// Bytes of a cell.
    pub granule_bytes: u32,
    /// Whether races are looked for.
    pub tracks_races: bool,
}

impl WrittenBuffer {
    fn bytes_per_worker(&self, word_count: usize, program: &Program) -> u64 {
        let shadow_bytes = if self.tracks_races {
            RaceShadow::shadow_bytes(word_count, self.atomicity, program, self.granule_bytes)
        } else {
            0
        };
        word_count as u64 * 4
            + word_count.div_ceil(16) as u64 * 8
            + access_sets::access_set_bytes(word_count, self.granule_bytes)
            + shadow_bytes
    }
}

/// Whether several cores have run what was left of a dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShareOutcome {
    AllRun,
    /// Everything is as it was.
    Undone,
}

/// How a dispatch may be shared.
#[derive(Debug)]
pub(crate) struct ParallelRun<'a> {
    pub jobs: Jobs,
    pub written_buffers: Vec<WrittenBuffer>,
    /// Bytes of memory that may still be used.
    pub free_bytes: u64,
    /// Whether workgroups of the program were found to depend on each other.
    pub depends_on_order: &'a AtomicBool,
    pub counters: &'a Counters,
}

impl ParallelRun<'_> {
    /// Whether several workers pay from workgroup `next_workgroup` of `workgroup_count` on, after
    /// `used_steps` steps on one core.
    pub(crate) fn is_worth(
        &self,
        machine: &Machine,
        used_steps: u64,
        [next_workgroup, workgroup_count]: [u64; 2],
    ) -> bool {
        match self.jobs {
            Jobs::One => false,
            Jobs::Dealt { workers: _, alone, batch: _ } => next_workgroup == alone,
            Jobs::Most(_) => {
                let steps_ahead = u128::from(used_steps)
                    * u128::from(workgroup_count - next_workgroup)
                    / u128::from(next_workgroup.max(1));
                used_steps >= PILOT_STEPS
                    && steps_ahead >= u128::from(WORTH_STEPS + self.bytes_per_worker(machine))
                    && !self.depends_on_order.load(Ordering::Relaxed)
                    && self.worker_count(machine, workgroup_count - next_workgroup) > 1
            }
        }
    }

    /// Bytes of memory that one worker needs.
    fn bytes_per_worker(&self, machine: &Machine) -> u64 {
        let store_bytes = self.written_buffers.iter().map(|written_buffer| {
            written_buffer.bytes_per_worker(
                machine.memory.stores[written_buffer.buffer_index].words.len(),
                machine.program,
            )
        });
        working_bytes(machine.program, machine.settings.tile_width) + store_bytes.sum::<u64>()
    }

    /// As many workers as are asked for, have workgroups to run and fit in memory.
    fn worker_count(&self, machine: &Machine, workgroup_count: u64) -> usize {
        let asked_workers = match self.jobs {
            Jobs::One => 1,
            Jobs::Most(workers) => workers.min(rayon::current_num_threads()),
            Jobs::Dealt { workers, alone: _, batch: _ } => workers,
        };
        let fitting_workers = self.free_bytes / self.bytes_per_worker(machine).max(1);
        asked_workers
            .min(usize::try_from(workgroup_count.min(fitting_workers)).unwrap_or(usize::MAX))
    }

    /// Runs the workgroups from `next_workgroup` on with several workers.
    pub(crate) fn run_parallel(
        &self,
        machine: &mut Machine,
        [next_workgroup, workgroup_count]: [u64; 2],
    ) -> ShareOutcome {
        let worker_count = self.worker_count(machine, workgroup_count - next_workgroup);
        if worker_count == 0 {
            return ShareOutcome::Undone;
        }
        let lent_stores: Vec<LentStore> =
            machine.memory.stores.iter_mut().map(LentStore::lend).collect();
        let worker_team = WorkerTeam {
            program: machine.program,
            lent_stores,
            push_constants: LentStore::lend(&mut machine.memory.push_constants),
            written_buffers: &self.written_buffers,
            step_budget: StepBudget::new(machine.scheduler.steps_left),
            work_queue: WorkQueue::new(self.jobs, next_workgroup..workgroup_count, worker_count),
            launch_model: LaunchModel {
                settings: machine.settings,
                workgroup_counts: machine.scheduler.workgroup_counts,
                slots: &machine.memory.slots,
                samplers: machine.memory.samplers,
                buffer_lengths: &machine.memory.buffer_lengths,
                checks: machine.monitor.collector.checks,
                recorder: &machine.monitor.recorder,
                deadline: machine.scheduler.deadline.restarted(),
            },
        };
        let worker_results: Vec<WorkerResult> = (0..worker_count)
            .into_par_iter()
            .with_max_len(1)
            .filter_map(|worker| worker_team.run_batches(worker))
            .collect();
        let WorkerTeam { step_budget: allowance, .. } = worker_team;
        if allowance.is_stopped() {
            return ShareOutcome::Undone;
        }
        if !self.has_no_conflict(machine, &worker_results) {
            self.depends_on_order.store(true, Ordering::Relaxed);
            self.counters.count_event(Counter::Dependent);
            return ShareOutcome::Undone;
        }
        machine.scheduler.steps_left = allowance.steps_left.into_inner();
        self.merge_results(machine, worker_results);
        self.counters.count_event(Counter::Shared);
        ShareOutcome::AllRun
    }

    fn has_no_conflict(&self, machine: &Machine, worker_results: &[WorkerResult]) -> bool {
        self.written_buffers.iter().enumerate().all(|(store_index, written_buffer)| {
            let marks: Vec<&AccessSet> = worker_results
                .iter()
                .map(|worker_result| &worker_result.written_stores[store_index].2)
                .collect();
            access_sets::are_free_of_conflicts(
                &marks,
                machine.memory.stores[written_buffer.buffer_index].shadow.as_ref(),
            )
        })
    }

    fn merge_results(&self, machine: &mut Machine, worker_results: Vec<WorkerResult>) {
        let mut collectors = Vec::new();
        let mut copies_by_buffer: Vec<Vec<(Store, AccessSet)>> =
            self.written_buffers.iter().map(|_| Vec::new()).collect();
        for worker_result in worker_results {
            for (worker_copies, (words, undefined, marks)) in
                copies_by_buffer.iter_mut().zip(worker_result.written_stores)
            {
                worker_copies.push((Store { words, undefined, ..Store::default() }, marks));
            }
            collectors.push(worker_result.collector);
            machine.monitor.recorder.join_workgroups(worker_result.recorder);
            machine.monitor.printer.join_workgroups(worker_result.printer);
            machine.monitor.diverged |= worker_result.diverged;
            machine
                .memory
                .touched_words
                .iter_mut()
                .zip(worker_result.touched_words)
                .for_each(|(touched_words, words)| *touched_words = words.max(*touched_words));
            machine.monitor.regions.add_counts(&worker_result.regions);
        }
        machine.monitor.collector.join_workgroups(collectors);
        for (written_buffer, worker_copies) in self.written_buffers.iter().zip(&copies_by_buffer) {
            let worker_copies: Vec<(&AccessSet, &Store)> =
                worker_copies.iter().map(|(store, marks)| (marks, store)).collect();
            access_sets::merge_copies(
                &mut machine.memory.stores[written_buffer.buffer_index],
                &worker_copies,
            );
        }
    }
}

/// A store's contents, for workers to read.
#[derive(Debug)]
struct LentStore {
    words: Arc<Vec<u32>>,
    undefined: Option<Arc<Vec<u64>>>,
}

impl LentStore {
    fn lend(store: &mut Store) -> Self {
        Self {
            words: store.words.lend(),
            undefined: store.undefined.as_mut().map(CopyOnWrite::lend),
        }
    }

    fn borrowed_store(&self) -> Store {
        Store {
            words: CopyOnWrite::Lent(Arc::clone(&self.words)),
            undefined: self.undefined.as_ref().map(|bits| CopyOnWrite::Lent(Arc::clone(bits))),
            ..Store::default()
        }
    }
}

/// What every worker's machine is launched with.
struct LaunchModel<'a> {
    settings: crate::settings::Settings,
    workgroup_counts: [u32; 3],
    slots: &'a [Option<crate::memory::store::BoundRange>],
    samplers: &'a [vkcert_exec::resource::JobSampler],
    buffer_lengths: &'a [usize],
    checks: vkcert_model::finding::Checks,
    recorder: &'a Recorder,
    deadline: Deadline,
}

/// Which worker takes which workgroups.
#[derive(Debug)]
enum WorkQueue {
    /// The worker that is free takes the next batch.
    OnDemand { next: AtomicU64, end: u64, batch: u64 },
    /// Workers take batches in turn.
    InTurn { first: u64, end: u64, batch: u64, workers: u64 },
}

impl WorkQueue {
    fn new(jobs: Jobs, workgroups: Range<u64>, worker_count: usize) -> Self {
        let (Range { start: first_workgroup, end: workgroup_end }, worker_count) =
            (workgroups, worker_count as u64);
        match jobs {
            Jobs::One | Jobs::Most(_) => {
                let batch_size =
                    ((workgroup_end - first_workgroup) / (worker_count * BATCHES)).max(1);
                WorkQueue::OnDemand {
                    next: AtomicU64::new(first_workgroup),
                    end: workgroup_end,
                    batch: batch_size,
                }
            }
            Jobs::Dealt { workers: _, alone: _, batch: batch_size } => WorkQueue::InTurn {
                first: first_workgroup,
                end: workgroup_end,
                batch: batch_size.max(1),
                workers: worker_count,
            },
        }
    }

    /// The batch that a worker does next, having done so many; always behind those that it has
    /// done.
    fn batch(&self, worker: usize, batches_done: u64) -> Option<Range<u64>> {
        let (first_workgroup, workgroup_end, batch_size) = match self {
            WorkQueue::OnDemand { next, end: workgroup_end, batch: batch_size } => {
                (next.fetch_add(*batch_size, Ordering::Relaxed), *workgroup_end, *batch_size)
            }
            WorkQueue::InTurn { first, end: workgroup_end, batch: batch_size, workers } => (
                first + (batches_done * workers + worker as u64) * batch_size,
                *workgroup_end,
                *batch_size,
            ),
        };
        (first_workgroup < workgroup_end)
            .then(|| first_workgroup..workgroup_end.min(first_workgroup + batch_size))
    }
}

/// Workers of one dispatch.
struct WorkerTeam<'a> {
    program: &'a Program,
    lent_stores: Vec<LentStore>,
    push_constants: LentStore,
    written_buffers: &'a [WrittenBuffer],
    step_budget: StepBudget,
    work_queue: WorkQueue,
    launch_model: LaunchModel<'a>,
}

/// Words of a written store, which of them are undefined, and what was done to it.
type WorkerStore = (CopyOnWrite<u32>, Option<CopyOnWrite<u64>>, AccessSet);

/// What a worker leaves: the buffers that it wrote, its findings and its records.
struct WorkerResult {
    /// By written buffer.
    written_stores: Vec<WorkerStore>,
    collector: FindingCollector,
    recorder: Recorder,
    printer: Printer,
    diverged: bool,
    touched_words: Vec<u32>,
    regions: RegionCounts,
}

impl WorkerTeam<'_> {
    /// Runs what a worker gets; none where that is nothing, or where all shall stop.
    fn run_batches(&self, worker: usize) -> Option<WorkerResult> {
        let mut next_batch = Some(self.work_queue.batch(worker, 0)?);
        let mut stores: Vec<Store> =
            self.lent_stores.iter().map(LentStore::borrowed_store).collect();
        for written_buffer in self.written_buffers {
            let store = &mut stores[written_buffer.buffer_index];
            store.access_set =
                Some(AccessSet::new(store.words.len(), written_buffer.granule_bytes));
            store.shadow = written_buffer
                .tracks_races
                .then(|| RaceShadow::new(store.words.len(), written_buffer.granule_bytes));
        }
        let mut machine = self.new_machine(&mut stores);
        let mut tiles = machine.new_tiles();
        let mut batches_done = 0;
        while let Some(workgroups) = next_batch {
            for index in workgroups {
                // A workgroup that waits for others depends on them.
                if self.step_budget.is_stopped()
                    || machine.run_workgroup_at(&mut tiles, index) != Ok(TurnEnd::Ended)
                {
                    self.step_budget.stop_workers();
                    return None;
                }
            }
            batches_done += 1;
            next_batch = self.work_queue.batch(worker, batches_done);
        }
        self.step_budget.return_steps(machine.scheduler.steps_left);
        let (collector, recorder, printer) =
            (machine.monitor.collector, machine.monitor.recorder, machine.monitor.printer);
        let (diverged, touched, regions) =
            (machine.monitor.diverged, machine.memory.touched_words, machine.monitor.regions);
        let stores = self.written_stores(stores)?;
        Some(WorkerResult {
            written_stores: stores,
            collector,
            recorder,
            printer,
            diverged,
            touched_words: touched,
            regions,
        })
    }

    fn new_machine<'m>(&'m self, stores: &'m mut [Store]) -> Machine<'m> {
        let launch_model = &self.launch_model;
        let launch = DispatchLaunch {
            settings: launch_model.settings,
            workgroup_counts: launch_model.workgroup_counts,
            stores,
            slots: launch_model.slots.to_vec(),
            samplers: launch_model.samplers,
            push_constants: self.push_constants.borrowed_store(),
            buffer_lengths: launch_model.buffer_lengths.to_vec(),
            collector: FindingCollector::new(launch_model.checks),
            recorder: launch_model.recorder.empty_copy(),
            steps_left: 0,
            deadline: self.launch_model.deadline,
            step_budget: Some(&self.step_budget),
        };
        Machine::new(self.program, launch)
    }

    /// The written stores. A store that is written though no instruction is known to write it ends
    /// the attempt.
    fn written_stores(&self, stores: Vec<Store>) -> Option<Vec<WorkerStore>> {
        let mut written_stores: Vec<_> = self.written_buffers.iter().map(|_| None).collect();
        for (buffer, store) in stores.into_iter().enumerate() {
            match (
                self.written_buffers
                    .iter()
                    .position(|written_buffer| written_buffer.buffer_index == buffer),
                store,
            ) {
                (Some(store_index), Store { words, undefined, access_set: Some(marks), .. }) => {
                    written_stores[store_index] = Some((words, undefined, marks));
                }
                (None, Store { words: CopyOnWrite::Lent(_), .. }) => {}
                (Some(_) | None, _) => self.step_budget.stop_workers(),
            }
        }
        written_stores.into_iter().collect()
    }
}
