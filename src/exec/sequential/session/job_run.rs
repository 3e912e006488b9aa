//! A job on the machine: its dispatches one after the other, and what they leave.
//!
//! Knows: programs kept by `program_cache`, buffers bound by `binding`, what a run is asked for.
//! Promises: dispatches run in the order of the job; a limit that is reached ends the run, and what
//! was found before is kept.

use super::bit_witnesses::BitWitnesses;
use super::early::EarlyEnd;
use super::executor::{ScheduleDependence, SequentialRun};
use super::notes::{
    idiom_notes, memory_limit_end, printed_lines, report_no_termination, whole_executions,
    workgroups_by_number,
};
use super::program_cache::{DecodedProgram, ProgramCache, ProgramOrigin};
use super::store_contents::{extend_push_constants, used_push_constant_words};
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
use vkcert_model::finding::{Checks, Finding, FindingKind, RaceScope};
use vkcert_model::id::ModuleKey;
use vkcert_model::invocations::DispatchInvocations;
use vkcert_model::printed::Printed;
use vkcert_model::records::{MarkerTable, Records};
use vkcert_model::schedule::Turns;
use vkcert_model::verdict::EngineName;
use vkcert_spirv::module::Module;

pub(super) fn no_such_module() -> EarlyEnd {
    EarlyEnd::Failure(ExecError::Engine {
        engine: EngineName::Sequential,
        message: "no such module".to_owned(),
    })
}

/// Ranges of bytes that are kept of what the dispatches of a job read.
pub(super) const MOST_RANGES: usize = 1 << 22;

/// Words of push constants that a kernel may read: far more than devices have.
pub(super) const MOST_PUSH_CONSTANTS: usize = 1 << 16;

/// A job in progress.
pub(super) struct JobSession<'a> {
    pub(super) job: &'a Job,
    /// What it looks for: the job's checks, or none.
    pub(super) checks: Checks,
    pub(super) settings: Settings,
    pub(super) programs: &'a ProgramCache,
    modules: Vec<Arc<Module>>,
    /// The job's buffers, then one record buffer per module that has one.
    pub(super) stores: Vec<Store>,
    /// By module: the store of its record buffer.
    pub(super) record_stores: Vec<Option<usize>>,
    steps_left: u64,
    deadline: Deadline,
    findings: Vec<Finding>,
    pub(super) records: BTreeMap<ModuleKey, Records>,
    loop_tallies: BTreeMap<ModuleKey, LoopTally>,
    pub(super) touched: Vec<BTreeMap<(u32, u32), u64>>,
    diverged: bool,
    pub(super) printed: Printed,
    /// Why records cannot be trusted, of the first dispatch with such records.
    untrusted_reason: Option<String>,
    notes: BTreeSet<String>,
    race_scope: Option<RaceScope>,
    /// Buffers whose contents depend on the schedule of the dispatches so far.
    scheduled_buffers: BTreeSet<usize>,
    pub(super) atomic_observation: AtomicObservation,
    /// By dispatch.
    pub(super) observed_words: Vec<ObservedWords>,
    /// Where it is asked who recorded some bits.
    pub(super) bit_witnesses: Option<BitWitnesses>,
    /// Where it is asked what is read.
    pub(super) read_tracking: ReadTracking,
}

/// Whether a session is asked what its dispatches read.
#[derive(Debug)]
pub(super) enum ReadTracking {
    Off,
    Requested(WatchedReads),
    /// The last dispatch was watched; none where that takes too much memory, or leaves something
    /// open.
    Done(Option<DispatchReads>),
}

/// Whether a session remembers what atomics look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AtomicObservation {
    Ignored,
    Remembered,
}

impl<'a> JobSession<'a> {
    /// A session that looks for what the job asks for.
    pub(super) fn new(
        job: &'a Job,
        settings: Settings,
        programs: &'a ProgramCache,
    ) -> Result<Self, EarlyEnd> {
        Self::with_checks(job, job.checks, settings, programs)
    }

    /// A session that looks for nothing.
    pub(super) fn unchecked(
        job: &'a Job,
        settings: Settings,
        programs: &'a ProgramCache,
    ) -> Result<Self, EarlyEnd> {
        Self::with_checks(job, Checks::none(), settings, programs)
    }

    fn with_checks(
        job: &'a Job,
        checks: Checks,
        settings: Settings,
        programs: &'a ProgramCache,
    ) -> Result<Self, EarlyEnd> {
        if settings.tile_width == 0 || settings.tile_width > 1024 {
            return Err(EarlyEnd::Failure(ExecError::Engine {
                engine: EngineName::Sequential,
                message: format!("tile width {} is not between 1 and 1024", settings.tile_width),
            }));
        }
        let parsed_modules = job
            .modules
            .iter()
            .map(|module| programs.parsed_module(&module.words))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| {
                EarlyEnd::Failure(ExecError::Engine {
                    engine: EngineName::Sequential,
                    message: error.to_string(),
                })
            })?;
        let buffer_bytes: u64 = job.buffers.iter().map(|buffer| buffer.bytes.len() as u64).sum();
        if buffer_bytes > job.limits.memory_bytes {
            return Err(memory_limit_end(buffer_bytes, job.limits.memory_bytes));
        }
        let mut stores: Vec<Store> = job
            .buffers
            .iter()
            .map(|buffer| Store::from_bytes(&buffer.bytes, &buffer.defined))
            .collect();
        for (buffer_index, store) in stores.iter_mut().enumerate() {
            UnwrittenWords::for_owner(settings.variation, WordOwner::Test, buffer_index as u64)
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
            modules: parsed_modules,
            stores,
            record_stores,
            steps_left: job.limits.steps,
            deadline: Deadline::new(settings.time_limit.map(|limit| Instant::now() + limit)),
            findings: Vec::new(),
            records: BTreeMap::new(),
            loop_tallies: BTreeMap::new(),
            touched: Vec::new(),
            diverged: false,
            printed: Printed::default(),
            untrusted_reason: None,
            notes: BTreeSet::new(),
            race_scope: checks.has(FindingKind::DataRace).then_some(RaceScope::AllSchedules),
            checks,
            scheduled_buffers: BTreeSet::new(),
            atomic_observation: AtomicObservation::Ignored,
            observed_words: Vec::new(),
            bit_witnesses: None,
            read_tracking: ReadTracking::Off,
        })
    }

    /// Runs the dispatches in order, up to the first that does not complete.
    pub(super) fn run_dispatches(
        &mut self,
        observer: &mut dyn Observer,
    ) -> Result<Completion, ExecError> {
        for (dispatch_index, dispatch) in self.job.dispatches.iter().enumerate() {
            observer.dispatch_started(dispatch_index);
            match self.run_dispatch(dispatch, observer) {
                Ok(()) => {}
                Err(EarlyEnd::Completion(early_completion)) => return Ok(early_completion),
                Err(EarlyEnd::Failure(error)) => return Err(error),
            }
        }
        Ok(Completion::Completed)
    }

    /// Who lets others go first in the next dispatch, whose settings these are.
    fn directed_yield(&self, settings: &Settings) -> Option<DirectedYield> {
        match (self.atomic_observation, settings.following.schedule.turns) {
            (AtomicObservation::Remembered, _) => Some(DirectedYield::observing()),
            (AtomicObservation::Ignored, Turns::AsReached) => None,
            (AtomicObservation::Ignored, Turns::WaitersFirst) => Some(DirectedYield::holding(
                self.observed_words.get(self.touched.len()).cloned().unwrap_or_default(),
            )),
        }
    }

    pub(super) fn run_dispatch(
        &mut self,
        dispatch: &JobDispatch,
        observer: &mut dyn Observer,
    ) -> Result<(), EarlyEnd> {
        let job = self.job;
        let job_module = job.modules.get(dispatch.module).ok_or_else(no_such_module)?;
        let settings = self.settings_of(dispatch)?;
        let marker_table = job_module.recording.markers();
        let mut push_constants =
            Store::from_bytes(&dispatch.push_constants, &dispatch.push_constants_defined);
        let spirv_module = &*Arc::clone(&self.modules[dispatch.module]);
        let decoded_program = self.decoded_program(
            dispatch,
            marker_table,
            &mut push_constants,
            settings.subgroup_size,
        )?;
        UnwrittenWords::for_owner(
            settings.variation,
            WordOwner::PushConstants,
            self.touched.len() as u64,
        )
        .fill_store(&mut push_constants);
        let program = &decoded_program.program;
        // A dispatch by itself: what follows is this program's memory, slots and shadows.
        let dispatch_size =
            DispatchSize { groups: dispatch.groups, local_size: program.local_size };
        self.fill_record_buffer(dispatch.module, &dispatch_size)?;
        let bound_slots = self.bound_slots(dispatch, program)?;
        self.check_images(program, &bound_slots)?;
        let dispatch_index = self.touched.len();
        let settings = settings.in_schedule(dispatch_index, dispatch)?;
        let wanted_width = settings.tile_width;
        let settings = settings.with_whole_subgroups(program);
        self.notes.extend(settings.widening_note(wanted_width, &job_module.key));
        let directed_yield = self.directed_yield(&settings);
        let aliasing = self.tracked_aliasing(program, &bound_slots)?;
        let parallel_run = self.add_race_shadows(&decoded_program, &bound_slots, settings)?;
        let tracked_reads = self.tracked_reads(program, &bound_slots);
        let parallel_run = parallel_run
            .filter(|_| directed_yield.is_none() && aliasing.is_none() && tracked_reads.is_none());
        let recorder = self.new_recorder(marker_table.map(|table| &**table), &dispatch_size)?;
        let mut machine = Machine::new(
            program,
            DispatchLaunch {
                settings,
                workgroup_counts: dispatch.groups,
                stores: &mut self.stores,
                slots: bound_slots,
                samplers: &job.resources.samplers,
                push_constants,
                buffer_lengths: job.buffers.iter().map(|buffer| buffer.bytes.len()).collect(),
                collector: FindingCollector::new(self.checks),
                recorder,
                steps_left: self.steps_left,
                deadline: self.deadline.restarted(),
                step_budget: None,
            },
        );
        machine.scheduler.directed_yield = directed_yield;
        machine.monitor.aliasing = aliasing;
        machine.monitor.reads = tracked_reads;
        let early_stop = machine
            .run_workgroups(parallel_run.as_ref(), |workgroup| {
                observer.workgroup_completed(workgroup)
            })
            .err();
        self.steps_left = machine.scheduler.steps_left;
        let directed_yield = machine.scheduler.directed_yield.take();
        if let ReadTracking::Requested(_) = self.read_tracking {
            self.read_tracking = ReadTracking::Done(
                machine.monitor.reads.take().and_then(ReadTracker::into_dispatch_reads),
            );
        }
        self.observed_words.extend(
            directed_yield
                .filter(|_| self.atomic_observation == AtomicObservation::Remembered)
                .map(DirectedYield::into_observed_words),
        );
        let entry_point = (dispatch.entry.as_str(), &dispatch.specialization);
        self.notes.extend(unset_push_constants::unset_note(
            program,
            &machine.memory.push_constants,
            spirv_module,
            entry_point,
        ));
        self.diverged |= machine.monitor.diverged;
        let RegionCounts { entered_times, whole_times } =
            std::mem::take(&mut machine.monitor.regions);
        let mut touched = BTreeMap::new();
        for (descriptor, record_words) in
            program.descriptors.iter().zip(&machine.memory.touched_words)
        {
            let touched_bytes = touched.entry((descriptor.set, descriptor.binding)).or_insert(0);
            *touched_bytes = u64::from(*record_words * 4).max(*touched_bytes);
        }
        self.touched.push(touched);
        let printed_writes = std::mem::take(&mut machine.monitor.printer).into_lines();
        let printed =
            printed_lines(printed_writes, spirv_module, |rank| machine.global_id_of_rank(rank));
        let mut recorder = std::mem::take(&mut machine.monitor.recorder);
        if let (Some(everyone), Some(kept_invocations)) =
            (&mut self.bit_witnesses, recorder.take_everyone())
        {
            let barriers = workgroups_by_number(spirv_module, program, &kept_invocations.barriers);
            everyone
                .add_dispatch(dispatch_index, DispatchInvocations { barriers, ..kept_invocations });
        }
        let mut collector =
            std::mem::replace(&mut machine.monitor.collector, FindingCollector::new(self.checks));
        if let Some(table) = marker_table {
            let record_words = table.layout.words();
            let mut records = recorder.into_records(record_words, |workgroup, local_index| {
                machine.global_id_of(workgroup, local_index)
            });
            records.barriers = whole_executions(spirv_module, program, &whole_times);
            self.records.entry(job_module.key).or_default().merge(&records);
        }
        if self.race_scope.is_some() {
            let dependent_place = schedule_dependence::schedule_dependence(program, &machine.memory.slots, &collector.racing_places, &mut self.scheduled_buffers).map(|source_index| (source_index, "the branch or address at {} depends on what an atomic gave, or on a value that is of a race"));
            let access_order =
                machine.monitor.order.as_ref().map(|access_order| access_order.borrow());
            let ordering_atomic =
                access_order.as_ref().and_then(|access_order| access_order.synchronized);
            let ordering_atomic = ordering_atomic.map(|source_index| {
                (source_index, "the atomic at {} orders invocations by what it happened to read")
            });
            // Nobody has read it in time, and somebody races.
            let late_atomic = access_order
                .filter(|_| collector.has_race())
                .and_then(|access_order| access_order.published);
            let late_atomic = late_atomic.map(|source_index| {
                (
                    source_index,
                    "whether the atomic at {} orders what races depends on who comes first",
                )
            });
            for (source_index, scope_reason) in
                dependent_place.into_iter().chain(ordering_atomic.or(late_atomic))
            {
                self.race_scope = Some(RaceScope::ExecutedSchedule);
                let scope_reason = scope_reason
                    .replace("{}", &spirv_module.place_of(source_index as usize).to_string());
                self.notes
                    .insert(format!("races are those of the schedule that ran: {scope_reason}"));
            }
        }
        self.keep_printed(printed);
        if early_stop.is_none()
            && let Err(reason) =
                self.read_record_buffer(dispatch.module, dispatch_index, &dispatch_size)
        {
            self.untrusted_reason.get_or_insert(reason);
        }
        if self.settings.memory_model == MemoryModel::Idiom {
            self.notes.extend(idiom_notes(spirv_module, program, &entered_times));
        }
        let loop_tally = self
            .loop_tallies
            .entry(job_module.key)
            .or_insert_with(|| LoopTally::new(spirv_module, program));
        loop_tally.add_dispatch(program, dispatch.groups, &entered_times);
        for store in self.stores.iter_mut() {
            store.shadow = None;
        }
        if let Some(EarlyStop::StepLimit { place: source_index, invocation }) = &early_stop {
            report_no_termination(&mut collector, *source_index, *invocation, job.limits.steps);
        }
        let mut new_findings = collector.into_findings(spirv_module);
        for finding in &mut new_findings {
            finding.kernel = Some(job_module.key.kernel);
            finding.module = Some(job_module.key);
            observer.finding(finding);
        }
        merge_findings(&mut self.findings, new_findings);
        match early_stop {
            None => Ok(()),
            Some(EarlyStop::StepLimit { .. }) => {
                Err(EarlyEnd::Completion(Completion::NoTermination {
                    reason: format!("the limit of {} steps was reached", job.limits.steps),
                }))
            }
            Some(EarlyStop::TimeLimit) => Err(EarlyEnd::Completion(Completion::Timeout {
                reason: format!(
                    "the time limit of {} s was reached",
                    settings.time_limit.unwrap_or_default().as_secs_f64()
                ),
            })),
        }
    }

    /// The program of a dispatch with what is in memory before any has run.
    pub(super) fn decoded_initially(
        &self,
        dispatch: &JobDispatch,
    ) -> Result<Arc<DecodedProgram>, EarlyEnd> {
        let settings = self.settings_of(dispatch)?;
        let job_module = self.job.modules.get(dispatch.module).ok_or_else(no_such_module)?;
        let mut push_constants =
            Store::from_bytes(&dispatch.push_constants, &dispatch.push_constants_defined);
        self.decoded_program(
            dispatch,
            job_module.recording.markers(),
            &mut push_constants,
            settings.subgroup_size,
        )
    }

    /// Adds what of a dispatch depends on its schedule.
    pub(super) fn add_dependence(
        &self,
        dispatch: &JobDispatch,
        dependence: &mut ScheduleDependence,
    ) -> Result<(), EarlyEnd> {
        let job_module = &self.job.modules[dispatch.module];
        let decoded_program = self.decoded_initially(dispatch)?;
        let bound_slots = self.bound_slots(dispatch, &decoded_program.program)?;
        let record_layout = job_module.recording.markers().map(|table| &table.layout);
        let bits = schedule_influence::scheduled_bits(
            &decoded_program.program,
            record_layout,
            &bound_slots,
            &mut dependence.buffers,
        );
        dependence.bits.entry(job_module.key).or_default().extend(bits);
        if decoded_program.program.spin_waits != SpinWaits::Never {
            dependence.waiting.insert(job_module.key);
        }
        Ok(())
    }

    /// The settings with the subgroup size of a dispatch.
    pub(super) fn settings_of(&self, dispatch: &JobDispatch) -> Result<Settings, EarlyEnd> {
        self.settings.with_subgroup_size(dispatch.subgroup_size).map_err(|subgroup_size| {
            let unsupported_size = format!("subgroup size {subgroup_size} (the engine offers powers of two from 1 to {MOST_INVOCATIONS})");
            EarlyEnd::Completion(Completion::Unsupported { what: unsupported_size })
        })
    }

    /// The program of a dispatch. Push constants that the host never pushed and that the program
    /// reads become undefined.
    pub(super) fn decoded_program(
        &self,
        dispatch: &JobDispatch,
        marker_table: Option<&Arc<MarkerTable>>,
        push_constants: &mut Store,
        subgroup_size: u32,
    ) -> Result<Arc<DecodedProgram>, EarlyEnd> {
        let mut known_facts = self.known_facts(dispatch, push_constants, subgroup_size);
        let origin = ProgramOrigin {
            module: &self.modules[dispatch.module],
            entry: &dispatch.entry,
            specialization: &dispatch.specialization,
            markers: marker_table,
        };
        let decoded_program = self.programs.decoded_program(&origin, &known_facts)?;
        let used_words = used_push_constant_words(&decoded_program.program);
        if used_words > MOST_PUSH_CONSTANTS {
            let unsupported_words = format!("push constants behind word {MOST_PUSH_CONSTANTS}");
            return Err(EarlyEnd::Completion(Completion::Unsupported { what: unsupported_words }));
        }
        if used_words <= push_constants.words.len() {
            return Ok(decoded_program);
        }
        known_facts.push_constants_defined = false;
        let decoded_program = self.programs.decoded_program(&origin, &known_facts)?;
        extend_push_constants(push_constants, used_push_constant_words(&decoded_program.program));
        Ok(decoded_program)
    }

    pub(super) fn into_run(mut self, mut completion: Completion) -> SequentialRun {
        if let (Some(reason), Completion::Completed) = (self.untrusted_reason.take(), &completion) {
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
            | Completion::Varying { .. } => self.buffer_contents(&self.job.buffers),
        };
        let loop_decisions = self
            .loop_tallies
            .into_iter()
            .map(|(module_key, tally)| (module_key, tally.decisions()))
            .collect();
        let run = Run {
            completion,
            buffers,
            findings: self.findings,
            records: self.records,
            notes: self.notes.into_iter().collect(),
            printed: self.printed,
            race_scope: self.race_scope,
        };
        let buffer_traces = self
            .stores
            .iter_mut()
            .take(self.job.buffers.len())
            .filter_map(|store| store.control_traces.take())
            .collect();
        SequentialRun { run, lowering: loop_decisions, touched: self.touched, paths: buffer_traces }
    }
}
