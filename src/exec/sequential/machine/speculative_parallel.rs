//! Running the workgroups of a dispatch on several cores, with what one core leaves.
//!
//! Knows: workers have copies of the stores that the program writes, and marks on them
//! (`access_sets`); each takes workgroups in ascending order. Where the marks agree, no workgroup
//! could see what another worker's did, so that every workgroup ran as it runs on one core, and
//! what the workers bring comes together by the index of workgroups. Where they do not agree, or
//! steps run out, nothing of it is kept, and the machine goes on alone from where it was.
//! Promises: buffers, findings with counts and witnesses, records, operands, counts and completion
//! do not depend on the number of workers nor on who ran what.
//! Does not cover: varied runs and other orders of the workgroups, which stay on one core; a part
//! of a dispatch whose workgroups depend on each other.

use super::finding_collector::Collector;
use super::printer::Printer;
use super::recorder::Recorder;
use super::regions::RegionCounts;
use super::spin_watch::Pace;
use super::state::{Launch, Machine, working_bytes};
use super::step_budget::{Allowance, Deadline};
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
pub(crate) struct Written {
    pub buffer: usize,
    pub atomicity: AtomicUse,
    /// Bytes of a cell.
    pub granule: u32,
    /// Whether races are looked for.
    pub watched: bool,
}

impl Written {
    fn bytes(&self, words: usize, program: &Program) -> u64 {
        let shadow = if self.watched {
            RaceShadow::shadow_bytes(words, self.atomicity, program, self.granule)
        } else {
            0
        };
        words as u64 * 4
            + words.div_ceil(16) as u64 * 8
            + access_sets::access_set_bytes(words, self.granule)
            + shadow
    }
}

/// Whether several cores have run what was left of a dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shared {
    Wholly,
    /// Everything is as it was.
    NotAtAll,
}

/// How a dispatch may be shared.
#[derive(Debug)]
pub(crate) struct Sharing<'a> {
    pub jobs: Jobs,
    pub written: Vec<Written>,
    /// Bytes of memory that may still be used.
    pub room: u64,
    /// Whether workgroups of the program were found to depend on each other.
    pub dependent: &'a AtomicBool,
    pub counters: &'a Counters,
}

impl Sharing<'_> {
    /// Whether to go on with several workers from workgroup `next` of `count`, after so many steps.
    pub(crate) fn is_worth(&self, machine: &Machine, used: u64, [next, count]: [u64; 2]) -> bool {
        match self.jobs {
            Jobs::One => false,
            Jobs::Dealt { workers: _, alone, batch: _ } => next == alone,
            Jobs::Most(_) => {
                let ahead = u128::from(used) * u128::from(count - next) / u128::from(next.max(1));
                used >= PILOT_STEPS
                    && ahead >= u128::from(WORTH_STEPS + self.bytes(machine))
                    && !self.dependent.load(Ordering::Relaxed)
                    && self.workers(machine, count - next) > 1
            }
        }
    }

    /// What one worker needs.
    fn bytes(&self, machine: &Machine) -> u64 {
        let stores = self
            .written
            .iter()
            .map(|one| one.bytes(machine.memory.stores[one.buffer].words.len(), machine.program));
        working_bytes(machine.program, machine.settings.tile_width) + stores.sum::<u64>()
    }

    /// As many as are asked for, have something to do and have room.
    fn workers(&self, machine: &Machine, workgroups: u64) -> usize {
        let asked = match self.jobs {
            Jobs::One => 1,
            Jobs::Most(workers) => workers.min(rayon::current_num_threads()),
            Jobs::Dealt { workers, alone: _, batch: _ } => workers,
        };
        let fitting = self.room / self.bytes(machine).max(1);
        asked.min(usize::try_from(workgroups.min(fitting)).unwrap_or(usize::MAX))
    }

    /// Runs the workgroups from `next` on with several workers.
    pub(crate) fn share(&self, machine: &mut Machine, [next, count]: [u64; 2]) -> Shared {
        let workers = self.workers(machine, count - next);
        if workers == 0 {
            return Shared::NotAtAll;
        }
        let lent: Vec<Lent> = machine.memory.stores.iter_mut().map(Lent::of).collect();
        let team = Team {
            program: machine.program,
            lent,
            push_constants: Lent::of(&mut machine.memory.push_constants),
            written: &self.written,
            allowance: Allowance::new(machine.scheduler.steps_left),
            queue: Queue::new(self.jobs, next..count, workers),
            model: Model {
                settings: machine.settings,
                groups: machine.scheduler.groups,
                slots: &machine.memory.slots,
                samplers: machine.memory.samplers,
                lengths: &machine.memory.lengths,
                checks: &machine.monitor.collector.checks,
                recorder: &machine.monitor.recorder,
                deadline: machine.scheduler.deadline.again(),
            },
        };
        let brought: Vec<Brought> = (0..workers)
            .into_par_iter()
            .with_max_len(1)
            .filter_map(|worker| team.work(worker))
            .collect();
        let Team { allowance, .. } = team;
        if allowance.is_stopped() {
            return Shared::NotAtAll;
        }
        if !self.agree(machine, &brought) {
            self.dependent.store(true, Ordering::Relaxed);
            self.counters.count(Counter::Dependent);
            return Shared::NotAtAll;
        }
        machine.scheduler.steps_left = allowance.left.into_inner();
        self.merge(machine, brought);
        self.counters.count(Counter::Shared);
        Shared::Wholly
    }

    fn agree(&self, machine: &Machine, brought: &[Brought]) -> bool {
        self.written.iter().enumerate().all(|(index, one)| {
            let marks: Vec<&AccessSet> =
                brought.iter().map(|brought| &brought.stores[index].2).collect();
            access_sets::are_free_of_conflicts(
                &marks,
                machine.memory.stores[one.buffer].shadow.as_ref(),
            )
        })
    }

    fn merge(&self, machine: &mut Machine, brought: Vec<Brought>) {
        let mut collectors = Vec::new();
        let mut left: Vec<Vec<(Store, AccessSet)>> =
            self.written.iter().map(|_| Vec::new()).collect();
        for one in brought {
            for (left, (words, undefined, marks)) in left.iter_mut().zip(one.stores) {
                left.push((Store { words, undefined, ..Store::default() }, marks));
            }
            collectors.push(one.collector);
            machine.monitor.recorder.join(one.recorder);
            machine.monitor.printer.join(one.printer);
            machine.monitor.diverged |= one.diverged;
            machine
                .memory
                .touched
                .iter_mut()
                .zip(one.touched)
                .for_each(|(all, words)| *all = words.max(*all));
            machine.monitor.regions.join(&one.regions);
        }
        machine.monitor.collector.gather(collectors);
        for (one, left) in self.written.iter().zip(&left) {
            let left: Vec<(&AccessSet, &Store)> =
                left.iter().map(|(store, marks)| (marks, store)).collect();
            access_sets::merge_copies(&mut machine.memory.stores[one.buffer], &left);
        }
    }
}

/// A store's contents, for workers to read.
#[derive(Debug)]
struct Lent {
    words: Arc<Vec<u32>>,
    undefined: Option<Arc<Vec<u64>>>,
}

impl Lent {
    fn of(store: &mut Store) -> Self {
        Self {
            words: store.words.lend(),
            undefined: store.undefined.as_mut().map(CopyOnWrite::lend),
        }
    }

    fn store(&self) -> Store {
        let undefined = self.undefined.clone().map(CopyOnWrite::Lent);
        Store { words: CopyOnWrite::Lent(self.words.clone()), undefined, ..Store::default() }
    }
}

/// What every worker's machine is launched with.
struct Model<'a> {
    settings: crate::settings::Settings,
    groups: [u32; 3],
    slots: &'a [Option<crate::memory::store::BoundRange>],
    samplers: &'a [vkcert_exec::resource::JobSampler],
    lengths: &'a [usize],
    checks: &'a vkcert_model::finding::Checks,
    recorder: &'a Recorder,
    deadline: Deadline,
}

/// Who takes which workgroups.
#[derive(Debug)]
enum Queue {
    /// Whoever is free.
    Taken { next: AtomicU64, end: u64, batch: u64 },
    /// In turn.
    Dealt { first: u64, end: u64, batch: u64, workers: u64 },
}

impl Queue {
    fn new(jobs: Jobs, workgroups: Range<u64>, workers: usize) -> Self {
        let (Range { start, end }, workers) = (workgroups, workers as u64);
        match jobs {
            Jobs::One | Jobs::Most(_) => {
                let batch = ((end - start) / (workers * BATCHES)).max(1);
                Queue::Taken { next: AtomicU64::new(start), end, batch }
            }
            Jobs::Dealt { workers: _, alone: _, batch } => {
                Queue::Dealt { first: start, end, batch: batch.max(1), workers }
            }
        }
    }

    /// The batch that a worker does next, having done so many; always behind those that it has
    /// done.
    fn batch(&self, worker: usize, done: u64) -> Option<Range<u64>> {
        let (start, end, batch) = match self {
            Queue::Taken { next, end, batch } => {
                (next.fetch_add(*batch, Ordering::Relaxed), *end, *batch)
            }
            Queue::Dealt { first, end, batch, workers } => {
                (first + (done * workers + worker as u64) * batch, *end, *batch)
            }
        };
        (start < end).then(|| start..end.min(start + batch))
    }
}

/// Workers of one dispatch.
struct Team<'a> {
    program: &'a Program,
    lent: Vec<Lent>,
    push_constants: Lent,
    written: &'a [Written],
    allowance: Allowance,
    queue: Queue,
    model: Model<'a>,
}

/// Words of a written store, which of them are undefined, and what was done to it.
type Copied = (CopyOnWrite<u32>, Option<CopyOnWrite<u64>>, AccessSet);

/// What a worker brings.
struct Brought {
    /// By written buffer.
    stores: Vec<Copied>,
    collector: Collector,
    recorder: Recorder,
    printer: Printer,
    diverged: bool,
    touched: Vec<u32>,
    regions: RegionCounts,
}

impl Team<'_> {
    /// Runs what a worker gets; none where that is nothing, or where all shall stop.
    fn work(&self, worker: usize) -> Option<Brought> {
        let mut batch = Some(self.queue.batch(worker, 0)?);
        let mut stores: Vec<Store> = self.lent.iter().map(Lent::store).collect();
        for one in self.written {
            let store = &mut stores[one.buffer];
            store.access_set = Some(AccessSet::new(store.words.len(), one.granule));
            store.shadow =
                one.watched.then(|| RaceShadow::new(store.words.len(), one.atomicity, one.granule));
        }
        let mut machine = self.machine(&mut stores);
        let mut tiles = machine.tiles();
        let mut done = 0;
        while let Some(workgroups) = batch {
            for index in workgroups {
                // A workgroup that waits for others depends on them.
                if self.allowance.is_stopped()
                    || machine.run_one(&mut tiles, index) != Ok(Pace::Ended)
                {
                    self.allowance.stop();
                    return None;
                }
            }
            done += 1;
            batch = self.queue.batch(worker, done);
        }
        self.allowance.give_back(machine.scheduler.steps_left);
        let (collector, recorder, printer) =
            (machine.monitor.collector, machine.monitor.recorder, machine.monitor.printer);
        let (diverged, touched, regions) =
            (machine.monitor.diverged, machine.memory.touched, machine.monitor.regions);
        let stores = self.left(stores)?;
        Some(Brought { stores, collector, recorder, printer, diverged, touched, regions })
    }

    fn machine<'m>(&'m self, stores: &'m mut [Store]) -> Machine<'m> {
        let model = &self.model;
        let launch = Launch {
            settings: model.settings,
            groups: model.groups,
            stores,
            slots: model.slots.to_vec(),
            samplers: model.samplers,
            push_constants: self.push_constants.store(),
            lengths: model.lengths.to_vec(),
            collector: Collector::new(model.checks.clone()),
            recorder: model.recorder.fresh(),
            steps_left: 0,
            deadline: self.model.deadline,
            allowance: Some(&self.allowance),
        };
        Machine::new(self.program, launch)
    }

    /// The written stores. A store that is written though no instruction is known to write it ends
    /// the attempt.
    fn left(&self, stores: Vec<Store>) -> Option<Vec<Copied>> {
        let mut left: Vec<_> = self.written.iter().map(|_| None).collect();
        for (buffer, store) in stores.into_iter().enumerate() {
            match (self.written.iter().position(|one| one.buffer == buffer), store) {
                (Some(at), Store { words, undefined, access_set: Some(marks), .. }) => {
                    left[at] = Some((words, undefined, marks));
                }
                (None, Store { words: CopyOnWrite::Lent(_), .. }) => {}
                (Some(_) | None, _) => self.allowance.stop(),
            }
        }
        left.into_iter().collect()
    }
}
