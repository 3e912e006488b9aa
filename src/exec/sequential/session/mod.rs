//! Runs jobs: decodes each dispatch, binds its buffers, runs it, gathers findings and records.

mod bit_witnesses;
pub mod program_cache;
mod schedules;
mod unset_push_constants;

use super::decode::Unsupported;
use super::ir::{Action, Addressing, Barrier, Kept, OrderUse, Program, Uniform, Waits};
use super::machine::{Deadline, Launch, Machine, RegionCounts, Stop, working_bytes};
use super::memory::image_view;
use super::passes::{Checked, Known};
use super::passes::{schedule_dependence, schedule_influence};
use super::print::LoopTally;
use super::settings::{Jobs, MemoryModel, Settings};
use crate::exec::schedule::Following;
use crate::exec::sequential::decode::ops::subgroup::MOST_INVOCATIONS;
use crate::exec::sequential::machine::directed_yield::{LookedAt, Yielding};
use crate::exec::sequential::machine::finding_collector::{Collector, merge};
use crate::exec::sequential::machine::printer::MOST_LINES;
use crate::exec::sequential::machine::recorder::{Rank, Recorder};
use crate::exec::sequential::machine::speculative_parallel::{Sharing, Written};
use crate::exec::sequential::machine::undefined_contents::{Unwritten, Whose};
use crate::exec::sequential::memory::aliasing::Aliasing;
use crate::exec::sequential::memory::copy_on_write::Contents;
use crate::exec::sequential::memory::image_view::View;
use crate::exec::sequential::memory::race_shadow::{Atomicity, Shadow};
use crate::exec::sequential::memory::read_tracking::{DispatchReads, Reads, WatchedReads};
use crate::exec::sequential::memory::store::{Slot, Store, UNDEFINED_WORD};
use crate::exec::{
    Completion, Counts, ExecError, Executor, Job, JobBuffer, JobDispatch, ModuleRecording, Observer, Run, Unobserved,
};
use crate::instrument::{self, DispatchSize, RecordForm};
use crate::model::evidence::LoweringDecision;
use crate::model::finding::{Checks, Finding, FindingKind, RaceScope};
use crate::model::id::KernelName;
use crate::model::invocations::{DispatchInvocations, InvocationRecords, Ranks};
use crate::model::printed::{Printed, PrintedLine};
use crate::model::records::{MarkerTable, RecordBuffer, Records};
use crate::model::schedule::{Extent, Order, Turns};
use crate::model::verdict::EngineName;
use crate::spirv::barriers::barrier_number;
use crate::spirv::module::Module;
use bit_witnesses::Everyone;
use program_cache::{Decoded, Origin, Programs, Tally};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// Runs jobs on this machine, without a device. Clones share what they decoded.
#[derive(Debug, Clone, Default)]
pub struct SequentialExecutor {
    pub settings: Settings,
    programs: Arc<Programs>,
}

/// A run, with how often the additional loops of the lowering were evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct SequentialRun {
    pub run: Run,
    /// By kernel name; counts of all its dispatches together.
    pub lowering: BTreeMap<String, Vec<LoweringDecision>>,
    /// By dispatch, then set and binding: bytes of the bound range up to the last one that was accessed.
    pub touched: Vec<BTreeMap<(u32, u32), u64>>,
    /// Of a varied run: by buffer and 32-bit word, a hash of the decisions on the way to its value.
    pub paths: Vec<Vec<u64>>,
}

/// What may come out otherwise in another schedule though nothing races: what comes of atomics and of waiting.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScheduleDependence {
    /// By module of the job: bits of its records.
    pub bits: BTreeMap<String, BTreeSet<u32>>,
    /// Buffers of the job, by index.
    pub buffers: BTreeSet<usize>,
    /// Modules whose invocations wait for each other in a loop.
    pub waiting: BTreeSet<String>,
}

impl Executor for SequentialExecutor {
    fn name(&self) -> EngineName {
        EngineName::Sequential
    }

    fn run(&mut self, job: &Job, observer: &mut dyn Observer) -> Result<Run, ExecError> {
        Ok(self.run_with_lowering_counts(job, observer)?.run)
    }

    fn run_counting(&mut self, job: &Job, observer: &mut dyn Observer) -> Result<(Run, Counts), ExecError> {
        let counted = self.run_with_lowering_counts(job, observer)?;
        Ok((counted.run, Counts { lowering: counted.lowering, touched: counted.touched }))
    }

    fn run_by_invocation(&mut self, job: &Job, bits: &BTreeSet<u32>) -> Result<(Run, InvocationRecords), ExecError> {
        let settings = Settings { jobs: Jobs::One, ..self.settings };
        let mut session = match self.session(job, settings) {
            Ok(session) => session,
            Err(Early::Completion(completion)) => return Ok((ended(completion).run, InvocationRecords::new())),
            Err(Early::Failure(error)) => return Err(error),
        };
        session.everyone = Some(Everyone::of(bits));
        let completion = session.run(&mut Unobserved)?;
        let found = session.everyone.take().map(Everyone::into_found).unwrap_or_default();
        Ok((session.finish(completion).run, found))
    }

    fn extents(&mut self, job: &Job) -> Result<Option<Vec<Extent>>, ExecError> {
        schedules::extents(job, self.settings, &self.programs).map(Some)
    }

    fn follow(&mut self, following: Following) {
        self.settings.following = following;
    }
}

/// Why a job ends early, as a completion.
pub(super) enum Early {
    Completion(Completion),
    Failure(ExecError),
}

fn no_such_module() -> Early {
    Early::Failure(ExecError::Engine { engine: EngineName::Sequential, message: "no such module".to_owned() })
}

impl From<Unsupported> for Early {
    fn from(error: Unsupported) -> Self {
        Early::Completion(Completion::Unsupported { what: error.what })
    }
}

impl SequentialExecutor {
    pub fn new(settings: Settings) -> Self {
        Self { settings, programs: Arc::default() }
    }

    /// What this engine and its clones decoded, and which dispatches several cores ran; depends on who was free.
    pub fn tally(&self) -> Tally {
        self.programs.tally()
    }

    /// Decodes the programs that a job begins with, so that a run of the job finds them there. What stands in the way is the
    /// run's to tell.
    pub fn decode_ahead(&self, job: &Job) {
        let Ok(session) = Session::new(job, self.settings, &self.programs) else { return };
        for module in 0..job.modules.len() {
            if let Some(dispatch) = job.dispatches.iter().find(|dispatch| dispatch.module == module) {
                let _ = session.decoded_at_first(dispatch);
            }
        }
    }

    /// What of a job depends on its schedule, without running it; none where the engine cannot run it.
    pub fn schedule_dependence(&self, job: &Job) -> Option<ScheduleDependence> {
        let session = Session::new(job, self.settings, &self.programs).ok()?;
        let mut dependence = ScheduleDependence::default();
        for dispatch in &job.dispatches {
            session.depend(dispatch, &mut dependence).ok()?;
        }
        Some(dependence)
    }

    /// Runs a job and counts the loop decisions that only the lowering has.
    pub fn run_with_lowering_counts(
        &mut self,
        job: &Job,
        observer: &mut dyn Observer,
    ) -> Result<SequentialRun, ExecError> {
        let mut session = match self.session(job, self.settings) {
            Ok(session) => session,
            Err(Early::Completion(completion)) => return Ok(ended(completion)),
            Err(Early::Failure(error)) => return Err(error),
        };
        let completion = session.run(observer)?;
        Ok(session.finish(completion))
    }

    /// What each dispatch of a job stores, and what the buffers hold before the dispatches `kept` (the number of dispatches: at the
    /// end); none where the job does not complete.
    pub fn stores_of_each(&self, job: &Job, kept: &BTreeSet<usize>) -> Result<Option<DispatchedStores>, ExecError> {
        self.unchecked(job, |session| {
            let mut found = DispatchedStores::default();
            let mut before = session.contents(&job.buffers);
            for (index, dispatch) in job.dispatches.iter().enumerate() {
                session.stores.iter_mut().for_each(Store::forget);
                session.dispatch(dispatch, &mut Unobserved)?;
                let after = session.contents(&job.buffers);
                let stores = session.stores.iter().zip(before.iter().zip(&after));
                found.stored.push(stores.map(|(store, (before, after))| stored_bytes(store, before, after)).collect());
                let before = std::mem::replace(&mut before, after);
                if kept.contains(&index) {
                    found.contents.insert(index, before);
                }
            }
            if kept.contains(&job.dispatches.len()) {
                found.contents.insert(job.dispatches.len(), before);
            }
            Ok(found)
        })
    }

    /// What each dispatch of a job reads, as asked of each; none where the job does not complete, or that takes too much memory or
    /// leaves something open.
    pub fn reads_of_each(&self, job: &Job, watched: &[&WatchedReads]) -> Result<Option<Vec<DispatchReads>>, ExecError> {
        let found = self.unchecked(job, |session| {
            let mut found = Vec::new();
            let mut ranges = 0;
            for (dispatch, watched) in job.dispatches.iter().zip(watched) {
                session.reads = Reading::Next((*watched).clone());
                session.dispatch(dispatch, &mut Unobserved)?;
                let Reading::Done(Some(reads)) = std::mem::replace(&mut session.reads, Reading::No) else {
                    return Ok(None);
                };
                ranges += reads.ranges();
                if ranges > MOST_RANGES {
                    return Ok(None);
                }
                found.push(reads);
            }
            Ok(Some(found))
        });
        Ok(found?.flatten())
    }

    /// A run on one core that looks for nothing, dispatch by dispatch; none where it does not complete.
    fn unchecked<R>(
        &self,
        job: &Job,
        run: impl FnOnce(&mut Session<'_>) -> Result<R, Early>,
    ) -> Result<Option<R>, ExecError> {
        let settings = Settings { jobs: Jobs::One, variation: None, ..self.settings };
        let unchecked = Job { checks: Checks::none(), ..job.clone() };
        match self.session(&unchecked, settings).and_then(|mut session| run(&mut session)) {
            Ok(found) => Ok(Some(found)),
            Err(Early::Completion(_)) => Ok(None),
            Err(Early::Failure(error)) => Err(error),
        }
    }

    /// A run that is ready to begin; with waiters first, it knows what they look at.
    fn session<'j>(&'j self, job: &'j Job, settings: Settings) -> Result<Session<'j>, Early> {
        let mut session = Session::new(job, settings, &self.programs)?;
        if settings.following.schedule.turns == Turns::WaitersFirst {
            session.looked_at = self.looked_at(job).map_err(Early::Failure)?;
        }
        Ok(session)
    }

    /// By dispatch, as far as the job comes: the words that its atomics look at.
    fn looked_at(&self, job: &Job) -> Result<Vec<LookedAt>, ExecError> {
        let settings = Settings { following: Following::default(), jobs: Jobs::One, ..self.settings };
        let unchecked = Job { checks: Checks::none(), ..job.clone() };
        match Session::new(&unchecked, settings, &self.programs) {
            Ok(mut session) => {
                session.looks = Looks::Remembered;
                session.run(&mut Unobserved)?;
                Ok(session.looked_at)
            }
            Err(Early::Completion(_)) => Ok(Vec::new()),
            Err(Early::Failure(error)) => Err(error),
        }
    }
}

/// By buffer of the job: the bytes that a dispatch stored to, ascending and disjoint.
pub type StoredBytes = Vec<Vec<Range<usize>>>;

/// What the dispatches of a job stored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DispatchedStores {
    /// By dispatch.
    pub stored: Vec<StoredBytes>,
    /// Contents by buffer, before the dispatches of these numbers; behind the last one: at the end.
    pub contents: BTreeMap<usize, Vec<Vec<u8>>>,
}

/// The bytes of a buffer that a dispatch stored to, whose marks were forgotten before it.
fn stored_bytes(store: &Store, before: &[u8], after: &[u8]) -> Vec<Range<usize>> {
    byte_ranges(before.len(), |byte| {
        before[byte] != after[byte] || !store.is_part_undefined(byte / 4, byte as u32 % 4..byte as u32 % 4 + 1)
    })
}

/// The bytes of so many that are chosen, as ranges.
pub fn byte_ranges(length: usize, chosen: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for byte in (0..length).filter(|byte| chosen(*byte)) {
        match ranges.last_mut() {
            Some(last) if last.end == byte => last.end += 1,
            Some(_) | None => ranges.push(byte..byte + 1),
        }
    }
    ranges
}

fn ended(completion: Completion) -> SequentialRun {
    SequentialRun { run: Run::ended(completion), lowering: BTreeMap::new(), touched: Vec::new(), paths: Vec::new() }
}

/// Ranges of bytes that are kept of what the dispatches of a job read.
const MOST_RANGES: usize = 1 << 22;

/// Words of push constants that a kernel may read: far more than devices have.
const MOST_PUSH_CONSTANTS: usize = 1 << 16;

/// First word of a record buffer; any value does, since the canary depends on it.
const NONCE: u32 = 0x9E37_79B9;

/// A job in progress.
pub(super) struct Session<'a> {
    pub(super) job: &'a Job,
    settings: Settings,
    programs: &'a Programs,
    modules: Vec<Arc<Module>>,
    /// The job's buffers, then one record buffer per module that has one.
    stores: Vec<Store>,
    /// By module: the store of its record buffer.
    record_stores: Vec<Option<usize>>,
    steps_left: u64,
    deadline: Deadline,
    findings: Vec<Finding>,
    records: BTreeMap<String, Records>,
    tallies: BTreeMap<String, LoopTally>,
    touched: Vec<BTreeMap<(u32, u32), u64>>,
    diverged: bool,
    printed: Printed,
    /// Why records cannot be trusted, of the first dispatch with such records.
    untrusted: Option<String>,
    notes: BTreeSet<String>,
    race_scope: Option<RaceScope>,
    /// Buffers whose contents depend on the schedule of the dispatches so far.
    scheduled: BTreeSet<usize>,
    looks: Looks,
    /// By dispatch.
    looked_at: Vec<LookedAt>,
    /// Where it is asked who recorded some bits.
    everyone: Option<Everyone>,
    /// Where it is asked what is read.
    reads: Reading,
}

/// Whether a session is asked what its dispatches read.
#[derive(Debug)]
enum Reading {
    No,
    Next(WatchedReads),
    /// The last dispatch was watched; none where that takes too much memory, or leaves something open.
    Done(Option<DispatchReads>),
}

/// Whether a session remembers what atomics look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Looks {
    Forgotten,
    Remembered,
}

impl<'a> Session<'a> {
    pub(super) fn new(job: &'a Job, settings: Settings, programs: &'a Programs) -> Result<Self, Early> {
        if settings.tile_width == 0 || settings.tile_width > 1024 {
            return Err(Early::Failure(ExecError::Engine {
                engine: EngineName::Sequential,
                message: format!("tile width {} is not between 1 and 1024", settings.tile_width),
            }));
        }
        let modules =
            job.modules.iter().map(|module| programs.module(&module.words)).collect::<Result<Vec<_>, _>>().map_err(
                |error| {
                    Early::Failure(ExecError::Engine { engine: EngineName::Sequential, message: error.to_string() })
                },
            )?;
        let total: u64 = job.buffers.iter().map(|buffer| buffer.bytes.len() as u64).sum();
        if total > job.limits.memory_bytes {
            return Err(over_memory(total, job.limits.memory_bytes));
        }
        let mut stores: Vec<Store> =
            job.buffers.iter().map(|buffer| Store::of_bytes(&buffer.bytes, &buffer.defined)).collect();
        for (number, store) in stores.iter_mut().enumerate() {
            Unwritten::of(settings.variation, Whose::Test, number as u64).fill(store);
        }
        if settings.variation.is_some() {
            stores.iter_mut().for_each(|store| store.paths = Some(vec![0; store.words.len()]));
        }
        let mut record_stores = Vec::new();
        for module in &job.modules {
            record_stores.push(match &module.recording {
                ModuleRecording::Buffer(_) => {
                    // Filled for each dispatch, by its size.
                    stores.push(Store::default());
                    Some(stores.len() - 1)
                }
                ModuleRecording::None | ModuleRecording::Markers(_) => None,
            });
        }
        Ok(Self {
            job,
            settings,
            programs,
            modules,
            stores,
            record_stores,
            steps_left: job.limits.steps,
            deadline: Deadline::new(settings.time_limit.map(|limit| Instant::now() + limit)),
            findings: Vec::new(),
            records: BTreeMap::new(),
            tallies: BTreeMap::new(),
            touched: Vec::new(),
            diverged: false,
            printed: Printed::default(),
            untrusted: None,
            notes: BTreeSet::new(),
            race_scope: job.checks.has(FindingKind::DataRace).then_some(RaceScope::AllSchedules),
            scheduled: BTreeSet::new(),
            looks: Looks::Forgotten,
            looked_at: Vec::new(),
            everyone: None,
            reads: Reading::No,
        })
    }

    /// Runs the dispatches in order, up to the first that does not complete.
    fn run(&mut self, observer: &mut dyn Observer) -> Result<Completion, ExecError> {
        for (index, dispatch) in self.job.dispatches.iter().enumerate() {
            observer.dispatch_started(index);
            match self.dispatch(dispatch, observer) {
                Ok(()) => {}
                Err(Early::Completion(early)) => return Ok(early),
                Err(Early::Failure(error)) => return Err(error),
            }
        }
        Ok(Completion::Completed)
    }

    /// Who lets others go first in the next dispatch, whose settings these are.
    fn yielding(&self, settings: &Settings) -> Option<Yielding> {
        match (self.looks, settings.following.schedule.turns) {
            (Looks::Remembered, _) => Some(Yielding::looking()),
            (Looks::Forgotten, Turns::AsReached) => None,
            (Looks::Forgotten, Turns::WaitersFirst) => {
                Some(Yielding::holding(self.looked_at.get(self.touched.len()).cloned().unwrap_or_default()))
            }
        }
    }

    fn dispatch(&mut self, dispatch: &JobDispatch, observer: &mut dyn Observer) -> Result<(), Early> {
        let job = self.job;
        let module = job.modules.get(dispatch.module).ok_or_else(no_such_module)?;
        let settings = self.settings_of(dispatch)?;
        let markers = module.recording.markers();
        let mut push_constants = Store::of_bytes(&dispatch.push_constants, &dispatch.push_constants_defined);
        let parsed = &*self.modules[dispatch.module].clone();
        let decoded = self.decoded(dispatch, markers, &mut push_constants, settings.subgroup_size)?;
        Unwritten::of(settings.variation, Whose::PushConstants, self.touched.len() as u64).fill(&mut push_constants);
        let program = &decoded.program;
        // A dispatch by itself: what follows is this program's memory, slots and shadows.
        let size = DispatchSize { groups: dispatch.groups, local_size: program.local_size };
        self.fill_record_buffer(dispatch.module, &size)?;
        let slots = self.slots(dispatch, program)?;
        self.check_images(program, &slots)?;
        let index = self.touched.len();
        let settings = settings.in_schedule(index, dispatch)?;
        let wanted = settings.tile_width;
        let settings = settings.with_whole_subgroups(program);
        self.notes.extend(settings.widened(wanted, &module.kernel));
        let yielding = self.yielding(&settings);
        let aliasing = self.aliasing(program, &slots)?;
        let sharing = self.shadows(&decoded, &slots, settings)?;
        let reads = self.reads(program, &slots);
        let sharing = sharing.filter(|_| yielding.is_none() && aliasing.is_none() && reads.is_none());
        let recorder = self.recorder(markers.map(|table| &**table), &size)?;
        let mut machine = Machine::new(
            program,
            Launch {
                settings,
                groups: dispatch.groups,
                stores: &mut self.stores,
                slots,
                samplers: &job.resources.samplers,
                push_constants,
                lengths: job.buffers.iter().map(|buffer| buffer.bytes.len()).collect(),
                collector: Collector::new(job.checks.clone()),
                recorder,
                steps_left: self.steps_left,
                deadline: self.deadline.again(),
                allowance: None,
            },
        );
        machine.yielding = yielding;
        machine.aliasing = aliasing;
        machine.reads = reads;
        let stopped = machine.run(sharing.as_ref(), |workgroup| observer.workgroup_completed(workgroup)).err();
        self.steps_left = machine.steps_left;
        let yielding = machine.yielding.take();
        if let Reading::Next(_) = self.reads {
            self.reads = Reading::Done(machine.reads.take().and_then(Reads::finish));
        }
        self.looked_at.extend(yielding.filter(|_| self.looks == Looks::Remembered).map(Yielding::into_looked_at));
        let called = (dispatch.entry.as_str(), &dispatch.specialization);
        self.notes.extend(unset_push_constants::note(program, &machine.push_constants, parsed, called));
        self.diverged |= machine.diverged;
        let RegionCounts { entered, whole } = machine.regions.clone();
        let mut touched = BTreeMap::new();
        for (descriptor, words) in program.descriptors.iter().zip(&machine.touched) {
            let bytes = touched.entry((descriptor.set, descriptor.binding)).or_insert(0);
            *bytes = u64::from(*words * 4).max(*bytes);
        }
        self.touched.push(touched);
        let printed = std::mem::take(&mut machine.printer).finish();
        let printed = printed_lines(printed, parsed, |rank| machine.invocation_of_rank(rank));
        let mut recorder = std::mem::take(&mut machine.recorder);
        if let (Some(everyone), Some(kept)) = (&mut self.everyone, recorder.take_everyone()) {
            let barriers = by_number(parsed, program, &kept.barriers);
            everyone.add(index, DispatchInvocations { barriers, ..kept });
        }
        let mut collector = std::mem::replace(&mut machine.collector, Collector::new(job.checks.clone()));
        if let Some(table) = markers {
            let words = table.layout.words();
            let mut records = recorder.finish(words, |workgroup, local| machine.invocation_of(workgroup, local));
            records.barriers = executed_whole(parsed, program, &whole);
            self.records.entry(module.kernel.clone()).or_default().merge(&records);
        }
        if self.race_scope.is_some() {
            let depends = schedule_dependence::dependence(
                program,
                &machine.slots,
                &collector.racy,
                &mut self.scheduled,
            )
            .map(|place| {
                (place, "the branch or address at {} depends on what an atomic gave, or on a value that is of a race")
            });
            let order = machine.order.as_ref().map(|order| order.borrow());
            let orders = order.as_ref().and_then(|order| order.synchronized);
            let orders = orders.map(|place| (place, "the atomic at {} orders invocations by what it happened to read"));
            // Nobody has read it in time, and somebody races.
            let late = order.filter(|_| collector.found_a_race()).and_then(|order| order.published);
            let late =
                late.map(|place| (place, "whether the atomic at {} orders what races depends on who comes first"));
            for (place, why) in depends.into_iter().chain(orders.or(late)) {
                self.race_scope = Some(RaceScope::ExecutedSchedule);
                let why = why.replace("{}", &parsed.place(place as usize).to_string());
                self.notes.insert(format!("races are those of the schedule that ran: {why}"));
            }
        }
        self.keep_printed(printed);
        if stopped.is_none()
            && let Err(reason) = self.read_record_buffer(dispatch.module, index, &size)
        {
            self.untrusted.get_or_insert(reason);
        }
        if self.settings.memory_model == MemoryModel::Idiom {
            self.notes.extend(idiom_notes(parsed, program, &entered));
        }
        let tally = self.tallies.entry(module.kernel.clone()).or_insert_with(|| LoopTally::new(parsed, program));
        tally.add(program, dispatch.groups, &entered);
        for store in self.stores.iter_mut() {
            store.shadow = None;
        }
        if let Some(Stop::Steps { place, invocation }) = &stopped {
            no_termination(&mut collector, *place, *invocation, job.limits.steps);
        }
        let mut found = collector.finish(parsed);
        for finding in &mut found {
            finding.kernel = Some(KernelName(module.kernel.clone()));
            observer.finding(finding);
        }
        merge(&mut self.findings, found);
        match stopped {
            None => Ok(()),
            Some(Stop::Steps { .. }) => Err(Early::Completion(Completion::NoTermination {
                reason: format!("the limit of {} steps was reached", job.limits.steps),
            })),
            Some(Stop::Time) => Err(Early::Completion(Completion::Timeout {
                reason: format!(
                    "the time limit of {} s was reached",
                    settings.time_limit.unwrap_or_default().as_secs_f64()
                ),
            })),
        }
    }

    /// The program of a dispatch with what is in memory before any has run.
    pub(super) fn decoded_at_first(&self, dispatch: &JobDispatch) -> Result<Arc<Decoded>, Early> {
        let settings = self.settings_of(dispatch)?;
        let module = self.job.modules.get(dispatch.module).ok_or_else(no_such_module)?;
        let mut push_constants = Store::of_bytes(&dispatch.push_constants, &dispatch.push_constants_defined);
        self.decoded(dispatch, module.recording.markers(), &mut push_constants, settings.subgroup_size)
    }

    /// Adds what of a dispatch depends on its schedule.
    fn depend(&self, dispatch: &JobDispatch, dependence: &mut ScheduleDependence) -> Result<(), Early> {
        let module = &self.job.modules[dispatch.module];
        let decoded = self.decoded_at_first(dispatch)?;
        let slots = self.slots(dispatch, &decoded.program)?;
        let layout = module.recording.markers().map(|table| &table.layout);
        let bits = schedule_influence::scheduled_bits(&decoded.program, layout, &slots, &mut dependence.buffers);
        dependence.bits.entry(module.kernel.clone()).or_default().extend(bits);
        if decoded.program.waits != Waits::Never {
            dependence.waiting.insert(module.kernel.clone());
        }
        Ok(())
    }

    /// The settings with the subgroup size of a dispatch.
    pub(super) fn settings_of(&self, dispatch: &JobDispatch) -> Result<Settings, Early> {
        self.settings.with_subgroups(dispatch.subgroup_size).map_err(|size| {
            let what = format!("subgroup size {size} (the engine offers powers of two from 1 to {MOST_INVOCATIONS})");
            Early::Completion(Completion::Unsupported { what })
        })
    }

    /// Adds what a dispatch printed.
    fn keep_printed(&mut self, new: Printed) {
        let (room, dispatch) = (MOST_LINES - self.printed.lines.len(), self.touched.len() as u32 - 1);
        self.printed.omitted += new.omitted + new.lines.len().saturating_sub(room) as u64;
        let lines = new.lines.into_iter().take(room);
        self.printed.lines.extend(lines.map(|line| PrintedLine { dispatch, ..line }));
    }

    /// The program of a dispatch. Push constants that the host never pushed and that the program reads become undefined.
    pub(super) fn decoded(
        &self,
        dispatch: &JobDispatch,
        markers: Option<&Arc<MarkerTable>>,
        push_constants: &mut Store,
        subgroup_size: u32,
    ) -> Result<Arc<Decoded>, Early> {
        let mut known = self.known(dispatch, push_constants, subgroup_size);
        let origin = Origin {
            module: &self.modules[dispatch.module],
            entry: &dispatch.entry,
            specialization: &dispatch.specialization,
            markers,
        };
        let decoded = self.programs.decoded(&origin, &known)?;
        let used = used_push_constants(&decoded.program);
        if used > MOST_PUSH_CONSTANTS {
            let what = format!("push constants behind word {MOST_PUSH_CONSTANTS}");
            return Err(Early::Completion(Completion::Unsupported { what }));
        }
        if used <= push_constants.words.len() {
            return Ok(decoded);
        }
        known.push_constants_defined = false;
        let decoded = self.programs.decoded(&origin, &known)?;
        extend_push_constants(push_constants, used_push_constants(&decoded.program));
        Ok(decoded)
    }

    /// What makes checks unnecessary in this dispatch.
    fn known(&self, dispatch: &JobDispatch, push_constants: &Store, subgroup_size: u32) -> Known {
        let defined = dispatch
            .bindings
            .iter()
            .filter(|binding| self.stores.get(binding.buffer).is_some_and(|store| store.undefined.is_none()))
            .map(|binding| (binding.set, binding.binding, binding.array_index))
            .chain(self.record_binding(dispatch.module).map(|buffer| (buffer.set, buffer.binding, 0)))
            .collect();
        let looked_for = [FindingKind::UninitializedRead, FindingKind::UndefinedValue];
        let looks = looked_for.into_iter().any(|kind| self.job.checks.has(kind));
        let checked = if looks { Checked::Yes } else { Checked::No };
        Known {
            push_constants_defined: push_constants.undefined.is_none(),
            defined,
            undefined_checked: checked,
            memory_model: self.settings.memory_model,
            variation: self.settings.variation,
            bound: bound(dispatch),
            subgroup_size: Some(subgroup_size),
        }
    }

    fn record_binding(&self, module: usize) -> Option<&'a RecordBuffer> {
        match &self.job.modules[module].recording {
            ModuleRecording::Buffer(buffer) => Some(buffer),
            ModuleRecording::None | ModuleRecording::Markers(_) => None,
        }
    }

    /// The slot of every descriptor of the program.
    fn slots(&self, dispatch: &JobDispatch, program: &Program) -> Result<Vec<Option<Slot>>, Early> {
        let mut slots = Vec::new();
        for descriptor in &program.descriptors {
            if let (Some(buffer), Some(store)) =
                (self.record_binding(dispatch.module), self.record_stores[dispatch.module])
                && (buffer.set, buffer.binding) == (descriptor.set, descriptor.binding)
            {
                slots.push(Some(Slot::whole(store, self.stores[store].words.len())));
                continue;
            }
            let binding = dispatch.bindings.iter().find(|binding| {
                (binding.set, binding.binding, binding.array_index)
                    == (descriptor.set, descriptor.binding, descriptor.array_index)
            });
            let Some(binding) = binding else {
                if descriptor.may_be_unbound {
                    slots.push(None);
                    continue;
                }
                return Err(Early::Completion(Completion::Error {
                    reason: format!(
                        "`{}` (set {}, binding {}, array index {}) is used and not bound",
                        descriptor.name, descriptor.set, descriptor.binding, descriptor.array_index
                    ),
                }));
            };
            let slot = Slot::of(binding, self.job).map_err(|error| {
                Early::Completion(Completion::Unsupported { what: format!("`{}`: {error}", descriptor.name) })
            })?;
            if (descriptor.kept == Kept::Buffer) != (slot.view == View::Bytes) {
                let (name, class) = (&descriptor.name, binding.class.name());
                let reason = format!("a descriptor of class {class} is bound to `{name}`, which is of another kind");
                return Err(Early::Completion(Completion::Error { reason }));
            }
            slots.push(Some(slot));
        }
        Ok(slots)
    }

    /// Whether every image instruction can do what it does with what is bound.
    fn check_images(&self, program: &Program, slots: &[Option<Slot>]) -> Result<(), Early> {
        let shown = |descriptor: &u32| slots[*descriptor as usize].map(|slot| slot.view);
        let steps = program.blocks.iter().flat_map(|block| &block.steps);
        for step in steps {
            let Action::Image(step) = &step.action else { continue };
            for image in step.image.descriptors.iter().filter_map(shown) {
                let own = if let View::Image(_, sampler) = image { sampler } else { None };
                let apart = step.sampler.iter().flat_map(|sampler| sampler.descriptors.iter()).filter_map(shown);
                let mut samplers: Vec<Option<u32>> = apart
                    .map(|view| match view {
                        View::Sampler(sampler) => Some(sampler),
                        View::Image(_, sampler) => sampler,
                        View::Bytes | View::Texels(..) => None,
                    })
                    .collect();
                if samplers.is_empty() {
                    samplers.push(own);
                }
                for sampler in samplers {
                    let sampler = sampler.and_then(|sampler| self.job.resources.samplers.get(sampler as usize));
                    image_view::check(step, &image, sampler)
                        .map_err(|what| Early::Completion(Completion::Unsupported { what }))?;
                }
            }
        }
        Ok(())
    }

    /// Bytes of the smallest thing that is accessed by itself, by buffer: the program's own granule, or a texel.
    fn granules(program: &Program, slots: &[Option<Slot>]) -> BTreeMap<usize, u32> {
        let mut granules = BTreeMap::new();
        for slot in slots.iter().flatten() {
            let texel =
                slot.view.format().map_or(4, |format| 1 << (format.texel_size() as u32).trailing_zeros().min(2));
            let granule = granules.entry(slot.buffer).or_insert(program.granule);
            *granule = texel.min(*granule);
        }
        granules
    }

    /// The buffers that the program writes, by number.
    fn written(&self, program: &Program, slots: &[Option<Slot>]) -> Vec<Written> {
        let mut wanted: BTreeMap<usize, Atomicity> = BTreeMap::new();
        for (descriptor, slot) in program.descriptors.iter().zip(slots) {
            if let (true, Some(slot)) = (descriptor.written, slot) {
                wanted.entry(slot.buffer).or_insert(Atomicity::PlainOnly);
            }
        }
        for (descriptor, slot) in program.descriptors.iter().zip(slots) {
            if let (true, Some(atomicity)) = (descriptor.atomics, slot.and_then(|slot| wanted.get_mut(&slot.buffer))) {
                *atomicity = Atomicity::WithAtomics;
            }
        }
        let through_addresses = match program.addresses {
            Addressing::Reads => None,
            Addressing::Writes => Some(Atomicity::PlainOnly),
            Addressing::Atomics => Some(Atomicity::WithAtomics),
        };
        if let Some(atomicity) = through_addresses {
            (0..self.job.buffers.len()).for_each(|buffer| {
                let one = wanted.entry(buffer).or_insert(atomicity);
                *one = if atomicity == Atomicity::WithAtomics { atomicity } else { *one };
            });
        }
        let checked = self.job.checks.has(FindingKind::DataRace);
        let granules = Self::granules(program, slots);
        let written = |(buffer, atomicity)| Written {
            buffer,
            atomicity,
            granule: granules.get(&buffer).copied().unwrap_or(program.granule),
            watched: checked && !self.record_stores.contains(&Some(buffer)),
        };
        wanted.into_iter().map(written).collect()
    }

    /// What is to be noted of reads in the next dispatch.
    fn reads(&self, program: &Program, slots: &[Option<Slot>]) -> Option<Reads> {
        let Reading::Next(watched) = &self.reads else { return None };
        let granules = Self::granules(program, slots);
        let bytes = |buffer: usize| self.job.buffers.get(buffer).map_or(0, |buffer| buffer.bytes.len());
        Reads::of(watched, |buffer| (bytes(buffer), granules.get(&buffer).copied().unwrap_or(program.granule)))
    }

    /// What is to be noted of descriptors that overlap although one is `restrict`.
    fn aliasing(&self, program: &Program, slots: &[Option<Slot>]) -> Result<Option<Aliasing>, Early> {
        if !self.job.checks.has(FindingKind::UndefinedValue) {
            return Ok(None);
        }
        let bytes = |buffer: usize| self.stores[buffer].words.len() * 4;
        Aliasing::of(program, slots, bytes).map_err(|reason| Early::Completion(Completion::Undetermined { reason }))
    }

    /// Gives each buffer that the program writes a race shadow; checks the memory limit. Gives how the dispatch may be shared.
    fn shadows<'d>(
        &mut self,
        decoded: &'d Decoded,
        slots: &[Option<Slot>],
        settings: Settings,
    ) -> Result<Option<Sharing<'d>>, Early>
    where
        'a: 'd,
    {
        let program = &decoded.program;
        let written = self.written(program, slots);
        let watched = || written.iter().filter(|one| one.watched);
        let mut bytes: u64 = self.stores.iter().map(|store| store.words.len() as u64 * 4).sum();
        bytes += working_bytes(program, settings.tile_width);
        bytes += watched()
            .map(|one| Shadow::bytes(self.stores[one.buffer].words.len(), one.atomicity, program, one.granule))
            .sum::<u64>();
        let room = self.job.limits.memory_bytes.checked_sub(bytes);
        let room = room.ok_or_else(|| over_memory(bytes, self.job.limits.memory_bytes))?;
        for one in watched() {
            let store = &mut self.stores[one.buffer];
            store.shadow = Some(Shadow::new(store.words.len(), one.atomicity, one.granule));
        }
        let alone = settings.variation.is_some() || settings.following.schedule.workgroups != Order::InOrder;
        // Of different workgroups they race, whatever comes together of them.
        let narrow = matches!(&program.order, OrderUse::Exact(places) if places.has_narrow_atomics());
        let jobs = if alone || narrow { Jobs::One } else { settings.jobs };
        let (programs, dependent) = (self.programs, &decoded.dependent);
        Ok((jobs != Jobs::One).then_some(Sharing { jobs, written, room, dependent, programs }))
    }

    fn finish(mut self, mut completion: Completion) -> SequentialRun {
        if let (Some(reason), Completion::Completed) = (self.untrusted.take(), &completion) {
            completion = Completion::Undetermined { reason };
        }
        if self.diverged && completion == Completion::Completed {
            completion = Completion::Error { reason: "barrier divergence".to_owned() };
        }
        let buffers = match completion {
            Completion::Unsupported { .. } => Vec::new(),
            Completion::Completed
            | Completion::Timeout { .. }
            | Completion::NoTermination { .. }
            | Completion::Error { .. }
            | Completion::Undetermined { .. }
            | Completion::Varying { .. } => self.contents(&self.job.buffers),
        };
        let lowering = self.tallies.into_iter().map(|(kernel, tally)| (kernel, tally.decisions())).collect();
        let run = Run {
            completion,
            buffers,
            findings: self.findings,
            records: self.records,
            notes: self.notes.into_iter().collect(),
            printed: self.printed,
            race_scope: self.race_scope,
        };
        let paths =
            self.stores.iter_mut().take(self.job.buffers.len()).filter_map(|store| store.paths.take()).collect();
        SequentialRun { run, lowering, touched: self.touched, paths }
    }

    fn contents(&self, buffers: &[JobBuffer]) -> Vec<Vec<u8>> {
        let left = |(buffer, store): (&JobBuffer, &Store)| {
            let mut bytes = store.bytes(buffer.bytes.len());
            if self.settings.variation.is_some() {
                leave_unwritten(&mut bytes, buffer, store);
            }
            bytes
        };
        buffers.iter().zip(&self.stores).map(left).collect()
    }

    /// Gives a module that records in a buffer a fresh one for a dispatch.
    fn fill_record_buffer(&mut self, module: usize, size: &DispatchSize) -> Result<(), Early> {
        let (Some(buffer), Some(store)) = (self.record_binding(module), self.record_stores[module]) else {
            return Ok(());
        };
        let form = RecordForm::of(buffer);
        let unsupported =
            |limit: instrument::RecordLimit| Early::Completion(Completion::Unsupported { what: limit.to_string() });
        let bytes = form.length(size).map_err(unsupported)? * 4;
        if bytes > self.job.limits.memory_bytes {
            return Err(over_memory(bytes, self.job.limits.memory_bytes));
        }
        self.stores[store].words = form.initial(size, NONCE).map_err(unsupported)?.into();
        Ok(())
    }

    /// Reads a dispatch's records back, if they can be trusted.
    fn read_record_buffer(&mut self, module: usize, dispatch: usize, size: &DispatchSize) -> Result<(), String> {
        let (Some(buffer), Some(store)) = (self.record_binding(module), self.record_stores[module]) else {
            return Ok(());
        };
        let kernel = &self.job.modules[module].kernel;
        let records = instrument::decode(buffer, size, &self.stores[store].words, NONCE)
            .map_err(|why| format!("the records of `{kernel}` cannot be trusted: {why}"))?;
        self.records.entry(kernel.clone()).or_default().merge(&records);
        if let Some(everyone) = &mut self.everyone {
            let kept = RecordForm::of(buffer).by_invocation(size, &self.stores[store].words, everyone.bits());
            kept.into_iter().for_each(|kept| everyone.add(dispatch, kept));
        }
        Ok(())
    }

    /// What a dispatch records in, where its module records natively.
    fn recorder(&mut self, markers: Option<&MarkerTable>, size: &DispatchSize) -> Result<Recorder, Early> {
        let mut recorder = Recorder::new(markers);
        if let (Some(everyone), Some(_)) = (&mut self.everyone, markers) {
            let invocations = size.invocations();
            if u32::try_from(invocations).is_err() {
                let what = format!("records by invocation of {invocations} invocations");
                return Err(Early::Completion(Completion::Unsupported { what }));
            }
            let (bytes, most) = (everyone.take(size), self.job.limits.memory_bytes);
            if bytes > u128::from(most) {
                return Err(over_memory(bytes.try_into().unwrap_or(u64::MAX), most));
            }
            recorder.keep_everyone(everyone.bits(), size.local_size);
        }
        Ok(recorder)
    }
}

/// Barriers that a dispatch passed and that order accesses by the idiom alone, of memory that the kernel writes.
fn idiom_notes(module: &Module, program: &Program, entered: &[u64]) -> Vec<String> {
    let writes = |kept: Kept| program.descriptors.iter().any(|one| one.written && one.kept == kept);
    let (buffers, images) = (writes(Kept::Buffer), writes(Kept::Image));
    let passed = program.barriers.iter().zip(entered.iter().skip(1)).filter(|(_, times)| **times > 0);
    let by_idiom = passed.filter_map(|(barrier, _)| {
        match (buffers && barrier.fences.buffers_by_idiom(), images && barrier.fences.images_by_idiom()) {
            (true, true) => Some((barrier, "buffer and image")),
            (true, false) => Some((barrier, "buffer")),
            (false, true) => Some((barrier, "image")),
            (false, false) => None,
        }
    });
    let note = |(barrier, memory): (&Barrier, &str)| {
        format!(
            "the barrier at {} orders {memory} accesses by the memory barrier before it alone, which the memory model `idiom` accepts; the Vulkan memory model (`spec`) wants one directly behind it as well",
            module.place(barrier.place as usize)
        )
    };
    by_idiom.map(note).collect()
}

/// How often whole workgroups executed each barrier, by its number in the module.
fn executed_whole(module: &Module, program: &Program, whole: &[u64]) -> BTreeMap<u32, u64> {
    let mut executed = BTreeMap::new();
    for (barrier, times) in program.barriers.iter().zip(whole).filter(|(_, times)| **times > 0) {
        *executed.entry(barrier_number(module, barrier.place as usize)).or_insert(0) += times;
    }
    executed
}

/// What nobody has written is as the test has it: a run gives it another value for its readers alone.
fn leave_unwritten(bytes: &mut [u8], buffer: &JobBuffer, store: &Store) {
    for (at, (byte, before)) in bytes.iter_mut().zip(&buffer.bytes).enumerate() {
        let part = (at % 4) as u32;
        if store.is_part_undefined(at / 4, part..part + 1) {
            *byte = *before;
        }
    }
}

/// Workgroups that executed each barrier, by its number in the module, of those by its index in the program.
fn by_number(module: &Module, program: &Program, by_index: &BTreeMap<u32, Ranks>) -> BTreeMap<u32, Ranks> {
    let mut by_number: BTreeMap<u32, Ranks> = BTreeMap::new();
    for (index, workgroups) in by_index {
        let place = program.barriers[*index as usize].place;
        let known = by_number.entry(barrier_number(module, place as usize)).or_default();
        *known = known.united(workgroups);
    }
    by_number
}

fn over_memory(bytes: u64, limit: u64) -> Early {
    Early::Completion(Completion::Undetermined {
        reason: format!("the run needs {bytes} bytes of memory; the limit is {limit}"),
    })
}

/// Printed lines with their places.
fn printed_lines(
    (lines, omitted): (Vec<(Rank, u32, String)>, u64),
    module: &Module,
    invocation: impl Fn(Rank) -> [u32; 3],
) -> Printed {
    let line = |(rank, place, text): (Rank, u32, String)| PrintedLine {
        dispatch: 0,
        invocation: invocation(rank),
        place: module.place(place as usize),
        text,
    };
    Printed { lines: lines.into_iter().map(line).collect(), omitted }
}

/// Descriptors of each binding of a dispatch.
fn bound(dispatch: &JobDispatch) -> BTreeMap<(u32, u32), u32> {
    let mut bound = BTreeMap::new();
    for binding in &dispatch.bindings {
        let most = bound.entry((binding.set, binding.binding)).or_insert(0);
        *most = (binding.array_index + 1).max(*most);
    }
    bound
}

/// Words of push constants that the program reads at known places.
fn used_push_constants(program: &Program) -> usize {
    let word = |uniform: &Uniform| match uniform {
        Uniform::PushConstant(word) => Some(*word as usize + 1),
        Uniform::Constant(_)
        | Uniform::WorkgroupId(_)
        | Uniform::NumWorkgroups(_)
        | Uniform::SubgroupSize
        | Uniform::NumSubgroups => None,
    };
    program.uniforms.iter().filter_map(|(uniform, _)| word(uniform)).max().unwrap_or(0)
}

fn extend_push_constants(store: &mut Store, words: usize) {
    let had = store.words.len();
    store.words.own().resize(words, UNDEFINED_WORD);
    let mut bits: Contents<u64> = store.undefined.take().unwrap_or_default();
    bits.own().resize(words.div_ceil(16), 0);
    store.undefined = Some(bits);
    (had..words).for_each(|word| store.define(word, false));
}

fn no_termination(collector: &mut Collector, place: u32, invocation: [u32; 3], limit: u64) {
    let pair = [place, crate::exec::sequential::machine::finding_collector::NOWHERE];
    collector.add(FindingKind::NoTermination, pair, 0, || Finding {
        invocations: vec![invocation],
        ..Finding::new(FindingKind::NoTermination, format!("the limit of {limit} steps was reached here"))
    });
}
