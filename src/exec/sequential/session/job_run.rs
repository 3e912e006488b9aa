//! A job on the machine: its dispatches one after the other, and what they leave.
//!
//! Knows: programs kept by `program_cache`, buffers bound by `binding`, what a run is asked for.
//! Promises: dispatches run in the order of the job; a limit that is reached ends the run, and what
//! was found before is kept.

use super::bit_witnesses::Everyone;
use super::early::Early;
use super::executor::{ScheduleDependence, SequentialRun};
use super::notes::{
    by_number, executed_whole, idiom_notes, no_termination, over_memory, printed_lines,
};
use super::program_cache::{Decoded, Origin, Programs};
use super::store_contents::{extend_push_constants, used_push_constants};
use super::unset_push_constants;
use crate::analysis::{schedule_dependence, schedule_influence};
use crate::ir::SpinWaits;
use crate::ir::subgroup_operation::MOST_INVOCATIONS;
use crate::machine::finding_collector::{FindingCollector, merge_findings};
use crate::machine::undefined_contents::{UnwrittenWords, WordOwner};
use crate::machine::{
    Deadline, DirectedYield, DispatchLaunch, EarlyStop, Machine, ObservedWords, RegionCounts,
};
use crate::memory::read_tracking::{DispatchReads, ReadTracker, WatchedReads};
use crate::memory::store::Store;
use crate::print::LoopTally;
use crate::settings::{MemoryModel, Settings};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;
use vkcert_exec::{Completion, ExecError, Job, JobDispatch, ModuleRecording, Observer, Run};
use vkcert_instrument::DispatchSize;
use vkcert_model::finding::{Finding, FindingKind, RaceScope};
use vkcert_model::id::ModuleKey;
use vkcert_model::invocations::DispatchInvocations;
use vkcert_model::printed::Printed;
use vkcert_model::records::{MarkerTable, Records};
use vkcert_model::schedule::Turns;
use vkcert_model::verdict::EngineName;
use vkcert_spirv::module::Module;

pub(super) fn no_such_module() -> Early {
    Early::Failure(ExecError::Engine {
        engine: EngineName::Sequential,
        message: "no such module".to_owned(),
    })
}

/// Ranges of bytes that are kept of what the dispatches of a job read.
pub(super) const MOST_RANGES: usize = 1 << 22;

/// Words of push constants that a kernel may read: far more than devices have.
pub(super) const MOST_PUSH_CONSTANTS: usize = 1 << 16;

/// A job in progress.
pub(super) struct Session<'a> {
    pub(super) job: &'a Job,
    pub(super) settings: Settings,
    pub(super) programs: &'a Programs,
    modules: Vec<Arc<Module>>,
    /// The job's buffers, then one record buffer per module that has one.
    pub(super) stores: Vec<Store>,
    /// By module: the store of its record buffer.
    pub(super) record_stores: Vec<Option<usize>>,
    steps_left: u64,
    deadline: Deadline,
    findings: Vec<Finding>,
    pub(super) records: BTreeMap<ModuleKey, Records>,
    tallies: BTreeMap<ModuleKey, LoopTally>,
    pub(super) touched: Vec<BTreeMap<(u32, u32), u64>>,
    diverged: bool,
    pub(super) printed: Printed,
    /// Why records cannot be trusted, of the first dispatch with such records.
    untrusted: Option<String>,
    notes: BTreeSet<String>,
    race_scope: Option<RaceScope>,
    /// Buffers whose contents depend on the schedule of the dispatches so far.
    scheduled: BTreeSet<usize>,
    pub(super) looks: Looks,
    /// By dispatch.
    pub(super) looked_at: Vec<ObservedWords>,
    /// Where it is asked who recorded some bits.
    pub(super) everyone: Option<Everyone>,
    /// Where it is asked what is read.
    pub(super) reads: Reading,
}

/// Whether a session is asked what its dispatches read.
#[derive(Debug)]
pub(super) enum Reading {
    No,
    Next(WatchedReads),
    /// The last dispatch was watched; none where that takes too much memory, or leaves something
    /// open.
    Done(Option<DispatchReads>),
}

/// Whether a session remembers what atomics look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Looks {
    Forgotten,
    Remembered,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        job: &'a Job,
        settings: Settings,
        programs: &'a Programs,
    ) -> Result<Self, Early> {
        if settings.tile_width == 0 || settings.tile_width > 1024 {
            return Err(Early::Failure(ExecError::Engine {
                engine: EngineName::Sequential,
                message: format!("tile width {} is not between 1 and 1024", settings.tile_width),
            }));
        }
        let modules = job
            .modules
            .iter()
            .map(|module| programs.module(&module.words))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| {
                Early::Failure(ExecError::Engine {
                    engine: EngineName::Sequential,
                    message: error.to_string(),
                })
            })?;
        let total: u64 = job.buffers.iter().map(|buffer| buffer.bytes.len() as u64).sum();
        if total > job.limits.memory_bytes {
            return Err(over_memory(total, job.limits.memory_bytes));
        }
        let mut stores: Vec<Store> = job
            .buffers
            .iter()
            .map(|buffer| Store::from_bytes(&buffer.bytes, &buffer.defined))
            .collect();
        for (number, store) in stores.iter_mut().enumerate() {
            UnwrittenWords::for_owner(settings.variation, WordOwner::Test, number as u64)
                .fill_store(store);
        }
        if settings.variation.is_some() {
            stores
                .iter_mut()
                .for_each(|store| store.control_traces = Some(vec![0; store.words.len()]));
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
    pub(super) fn run(&mut self, observer: &mut dyn Observer) -> Result<Completion, ExecError> {
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
    fn yielding(&self, settings: &Settings) -> Option<DirectedYield> {
        match (self.looks, settings.following.schedule.turns) {
            (Looks::Remembered, _) => Some(DirectedYield::observing()),
            (Looks::Forgotten, Turns::AsReached) => None,
            (Looks::Forgotten, Turns::WaitersFirst) => Some(DirectedYield::holding(
                self.looked_at.get(self.touched.len()).cloned().unwrap_or_default(),
            )),
        }
    }

    pub(super) fn dispatch(
        &mut self,
        dispatch: &JobDispatch,
        observer: &mut dyn Observer,
    ) -> Result<(), Early> {
        let job = self.job;
        let module = job.modules.get(dispatch.module).ok_or_else(no_such_module)?;
        let settings = self.settings_of(dispatch)?;
        let markers = module.recording.markers();
        let mut push_constants =
            Store::from_bytes(&dispatch.push_constants, &dispatch.push_constants_defined);
        let parsed = &*self.modules[dispatch.module].clone();
        let decoded =
            self.decoded(dispatch, markers, &mut push_constants, settings.subgroup_size)?;
        UnwrittenWords::for_owner(
            settings.variation,
            WordOwner::PushConstants,
            self.touched.len() as u64,
        )
        .fill_store(&mut push_constants);
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
        self.notes.extend(settings.widened(wanted, &module.key));
        let yielding = self.yielding(&settings);
        let aliasing = self.aliasing(program, &slots)?;
        let sharing = self.shadows(&decoded, &slots, settings)?;
        let reads = self.reads(program, &slots);
        let sharing =
            sharing.filter(|_| yielding.is_none() && aliasing.is_none() && reads.is_none());
        let recorder = self.recorder(markers.map(|table| &**table), &size)?;
        let mut machine = Machine::new(
            program,
            DispatchLaunch {
                settings,
                workgroup_counts: dispatch.groups,
                stores: &mut self.stores,
                slots,
                samplers: &job.resources.samplers,
                push_constants,
                buffer_lengths: job.buffers.iter().map(|buffer| buffer.bytes.len()).collect(),
                collector: FindingCollector::new(job.checks.clone()),
                recorder,
                steps_left: self.steps_left,
                deadline: self.deadline.restarted(),
                step_budget: None,
            },
        );
        machine.scheduler.directed_yield = yielding;
        machine.monitor.aliasing = aliasing;
        machine.monitor.reads = reads;
        let stopped = machine
            .run_workgroups(sharing.as_ref(), |workgroup| observer.workgroup_completed(workgroup))
            .err();
        self.steps_left = machine.scheduler.steps_left;
        let yielding = machine.scheduler.directed_yield.take();
        if let Reading::Next(_) = self.reads {
            self.reads = Reading::Done(
                machine.monitor.reads.take().and_then(ReadTracker::into_dispatch_reads),
            );
        }
        self.looked_at.extend(
            yielding
                .filter(|_| self.looks == Looks::Remembered)
                .map(DirectedYield::into_observed_words),
        );
        let called = (dispatch.entry.as_str(), &dispatch.specialization);
        self.notes.extend(unset_push_constants::note(
            program,
            &machine.memory.push_constants,
            parsed,
            called,
        ));
        self.diverged |= machine.monitor.diverged;
        let RegionCounts { entered_times: entered, whole_times: whole } =
            machine.monitor.regions.clone();
        let mut touched = BTreeMap::new();
        for (descriptor, words) in program.descriptors.iter().zip(&machine.memory.touched_words) {
            let bytes = touched.entry((descriptor.set, descriptor.binding)).or_insert(0);
            *bytes = u64::from(*words * 4).max(*bytes);
        }
        self.touched.push(touched);
        let printed = std::mem::take(&mut machine.monitor.printer).into_lines();
        let printed = printed_lines(printed, parsed, |rank| machine.global_id_of_rank(rank));
        let mut recorder = std::mem::take(&mut machine.monitor.recorder);
        if let (Some(everyone), Some(kept)) = (&mut self.everyone, recorder.take_everyone()) {
            let barriers = by_number(parsed, program, &kept.barriers);
            everyone.add(index, DispatchInvocations { barriers, ..kept });
        }
        let mut collector = std::mem::replace(
            &mut machine.monitor.collector,
            FindingCollector::new(job.checks.clone()),
        );
        if let Some(table) = markers {
            let words = table.layout.words();
            let mut records = recorder
                .into_records(words, |workgroup, local| machine.global_id_of(workgroup, local));
            records.barriers = executed_whole(parsed, program, &whole);
            self.records.entry(module.key).or_default().merge(&records);
        }
        if self.race_scope.is_some() {
            let depends = schedule_dependence::schedule_dependence(program, &machine.memory.slots, &collector.racing_places, &mut self.scheduled).map(|place| (place, "the branch or address at {} depends on what an atomic gave, or on a value that is of a race"));
            let order = machine.monitor.order.as_ref().map(|order| order.borrow());
            let orders = order.as_ref().and_then(|order| order.synchronized);
            let orders = orders.map(|place| {
                (place, "the atomic at {} orders invocations by what it happened to read")
            });
            // Nobody has read it in time, and somebody races.
            let late = order.filter(|_| collector.has_race()).and_then(|order| order.published);
            let late = late.map(|place| {
                (place, "whether the atomic at {} orders what races depends on who comes first")
            });
            for (place, why) in depends.into_iter().chain(orders.or(late)) {
                self.race_scope = Some(RaceScope::ExecutedSchedule);
                let why = why.replace("{}", &parsed.place_of(place as usize).to_string());
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
        let tally =
            self.tallies.entry(module.key).or_insert_with(|| LoopTally::new(parsed, program));
        tally.add(program, dispatch.groups, &entered);
        for store in self.stores.iter_mut() {
            store.shadow = None;
        }
        if let Some(EarlyStop::StepLimit { place, invocation }) = &stopped {
            no_termination(&mut collector, *place, *invocation, job.limits.steps);
        }
        let mut found = collector.into_findings(parsed);
        for finding in &mut found {
            finding.kernel = Some(module.key.kernel);
            finding.module = Some(module.key);
            observer.finding(finding);
        }
        merge_findings(&mut self.findings, found);
        match stopped {
            None => Ok(()),
            Some(EarlyStop::StepLimit { .. }) => {
                Err(Early::Completion(Completion::NoTermination {
                    reason: format!("the limit of {} steps was reached", job.limits.steps),
                }))
            }
            Some(EarlyStop::TimeLimit) => Err(Early::Completion(Completion::Timeout {
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
        let mut push_constants =
            Store::from_bytes(&dispatch.push_constants, &dispatch.push_constants_defined);
        self.decoded(
            dispatch,
            module.recording.markers(),
            &mut push_constants,
            settings.subgroup_size,
        )
    }

    /// Adds what of a dispatch depends on its schedule.
    pub(super) fn depend(
        &self,
        dispatch: &JobDispatch,
        dependence: &mut ScheduleDependence,
    ) -> Result<(), Early> {
        let module = &self.job.modules[dispatch.module];
        let decoded = self.decoded_at_first(dispatch)?;
        let slots = self.slots(dispatch, &decoded.program)?;
        let layout = module.recording.markers().map(|table| &table.layout);
        let bits = schedule_influence::scheduled_bits(
            &decoded.program,
            layout,
            &slots,
            &mut dependence.buffers,
        );
        dependence.bits.entry(module.key).or_default().extend(bits);
        if decoded.program.spin_waits != SpinWaits::Never {
            dependence.waiting.insert(module.key);
        }
        Ok(())
    }

    /// The settings with the subgroup size of a dispatch.
    pub(super) fn settings_of(&self, dispatch: &JobDispatch) -> Result<Settings, Early> {
        self.settings.with_subgroup_size(dispatch.subgroup_size).map_err(|size| {
            let what = format!("subgroup size {size} (the engine offers powers of two from 1 to {MOST_INVOCATIONS})");
            Early::Completion(Completion::Unsupported { what })
        })
    }

    /// The program of a dispatch. Push constants that the host never pushed and that the program
    /// reads become undefined.
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

    pub(super) fn finish(mut self, mut completion: Completion) -> SequentialRun {
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
            | Completion::DeviceLost { .. }
            | Completion::Undetermined { .. }
            | Completion::Varying { .. } => self.contents(&self.job.buffers),
        };
        let lowering =
            self.tallies.into_iter().map(|(kernel, tally)| (kernel, tally.decisions())).collect();
        let run = Run {
            completion,
            buffers,
            findings: self.findings,
            records: self.records,
            notes: self.notes.into_iter().collect(),
            printed: self.printed,
            race_scope: self.race_scope,
        };
        let paths = self
            .stores
            .iter_mut()
            .take(self.job.buffers.len())
            .filter_map(|store| store.control_traces.take())
            .collect();
        SequentialRun { run, lowering, touched: self.touched, paths }
    }
}
