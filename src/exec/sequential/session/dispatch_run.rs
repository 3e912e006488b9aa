//! One dispatch of a job: bound, run on the machine, and what it left kept in the session.
//!
//! Promises: what a dispatch found and left is kept, whether it ran to its end or not.
//! Does not cover: its program (`job_run`), its buffers (`binding`), its records (`records`).

use super::early::EarlyEnd;
use super::job_run::{AtomicObservation, JobSession, ReadTracking, no_such_module};
use super::notes::{
    idiom_notes, printed_lines, report_no_termination, whole_executions, workgroups_by_number,
};
use super::program_cache::DecodedProgram;
use super::unset_push_constants;
use crate::analysis::schedule_dependence::schedule_dependence;
use crate::ir::Program;
use crate::machine::finding_collector::{FindingCollector, merge_findings};
use crate::machine::undefined_contents::{UnwrittenWords, WordOwner};
use crate::machine::{DirectedYield, DispatchLaunch, EarlyStop, Machine, RegionCounts};
use crate::memory::pair_tracking::PairTracker;
use crate::memory::read_tracking::ReadTracker;
use crate::memory::store::{BoundRange, Store};
use crate::print::LoopTally;
use crate::settings::{MemoryModel, Settings};
use std::collections::BTreeMap;
use std::sync::Arc;
use vkcert_exec::{Completion, JobDispatch, JobModule, Observer};
use vkcert_instrument::DispatchSize;
use vkcert_model::finding::RaceScope;
use vkcert_model::invocations::DispatchInvocations;
use vkcert_model::printed::Printed;
use vkcert_model::records::Records;
use vkcert_model::schedule::Turns;
use vkcert_spirv::module::Module;

/// A dispatch that is ready to run.
struct BoundDispatch<'d> {
    dispatch: &'d JobDispatch,
    job_module: &'d JobModule,
    /// In the order of the job.
    dispatch_index: usize,
    dispatch_size: DispatchSize,
    settings: Settings,
    spirv_module: Arc<Module>,
    decoded_program: Arc<DecodedProgram>,
}

impl BoundDispatch<'_> {
    fn program(&self) -> &Program {
        &self.decoded_program.program
    }
}

/// What the host gives a dispatch beside the job's buffers.
struct HostMemory {
    push_constants: Store,
    /// By descriptor of the program.
    slots: Vec<Option<BoundRange>>,
}

/// The first atomics of a dispatch that order accesses, where that is followed.
#[derive(Default)]
struct OrderingAtomics {
    /// It synchronized with another invocation's release; with which depends on the schedule.
    synchronized: Option<u32>,
    /// It released to others; in another schedule others may have acquired it.
    published: Option<u32>,
}

/// What the machine left of a dispatch.
struct DispatchOutcome {
    early_stop: Option<EarlyStop>,
    steps_left: u64,
    diverged: bool,
    directed_yield: Option<DirectedYield>,
    reads: Option<ReadTracker>,
    pairs: Option<PairTracker>,
    /// The last time of its clock.
    latest_time: u32,
    host_memory: HostMemory,
    /// By descriptor of the program.
    touched_words: Vec<u32>,
    regions: RegionCounts,
    printed: Printed,
    kept_invocations: Option<DispatchInvocations>,
    /// Where the module records natively.
    records: Option<Records>,
    collector: FindingCollector,
    ordering_atomics: OrderingAtomics,
}

impl DispatchOutcome {
    fn of_machine(
        mut machine: Machine<'_>,
        early_stop: Option<EarlyStop>,
        bound: &BoundDispatch<'_>,
    ) -> Self {
        let (spirv_module, program) = (&*bound.spirv_module, bound.program());
        let printed_writes = std::mem::take(&mut machine.monitor.printer).into_lines();
        let printed =
            printed_lines(printed_writes, spirv_module, |rank| machine.global_id_of_rank(rank));
        let mut recorder = std::mem::take(&mut machine.monitor.recorder);
        let kept_invocations = recorder.take_everyone().map(|kept| DispatchInvocations {
            barriers: workgroups_by_number(spirv_module, program, &kept.barriers),
            ..kept
        });
        let records = bound.job_module.recording.markers().map(|table| {
            let native_records = recorder
                .into_records(table.layout.words(), |workgroup, local_index| {
                    machine.global_id_of(workgroup, local_index)
                });
            let whole_times = &machine.monitor.regions.whole_times;
            Records {
                barriers: whole_executions(spirv_module, program, whole_times),
                ..native_records
            }
        });
        let Machine { memory, monitor, scheduler, .. } = machine;
        let ordering_atomics = match &monitor.order {
            Some(order) => {
                let order = order.borrow();
                OrderingAtomics { synchronized: order.synchronized, published: order.published }
            }
            None => OrderingAtomics::default(),
        };
        Self {
            early_stop,
            steps_left: scheduler.steps_left,
            diverged: monitor.diverged,
            directed_yield: scheduler.directed_yield,
            reads: monitor.reads,
            pairs: monitor.pairs,
            latest_time: monitor.clock.latest(),
            host_memory: HostMemory { push_constants: memory.push_constants, slots: memory.slots },
            touched_words: memory.touched_words,
            regions: monitor.regions,
            printed,
            kept_invocations,
            records,
            collector: monitor.collector,
            ordering_atomics,
        }
    }
}

impl<'a> JobSession<'a> {
    pub(super) fn run_dispatch(
        &mut self,
        dispatch: &JobDispatch,
        observer: &mut dyn Observer,
    ) -> Result<(), EarlyEnd> {
        let (bound, host_memory) = self.bind_dispatch(dispatch)?;
        let mut outcome = self.run_on_machine(&bound, host_memory, observer)?;
        self.steps_left = outcome.steps_left;
        self.diverged |= outcome.diverged;
        self.keep_observations(outcome.reads.take(), outcome.directed_yield.take());
        self.keep_pairs(&bound, &mut outcome);
        self.note_unset_push_constants(&bound, &outcome.host_memory.push_constants);
        self.keep_touched_bytes(bound.program(), &outcome.touched_words);
        self.keep_native_records(&bound, outcome.kept_invocations.take(), outcome.records.take());
        self.narrow_race_scope(&bound, &outcome);
        self.keep_printed(outcome.printed);
        if outcome.early_stop.is_none() {
            self.keep_record_buffer(&bound);
        }
        self.count_regions(&bound, &outcome.regions);
        self.stores.iter_mut().for_each(|store| store.shadow = None);
        self.keep_findings(&bound, outcome.collector, outcome.early_stop.as_ref(), observer);
        match outcome.early_stop {
            None => Ok(()),
            Some(early_stop) => Err(self.early_end(&early_stop, &bound.settings)),
        }
    }

    /// Decodes the program of a dispatch, binds what it accesses and settles how it runs.
    fn bind_dispatch<'d>(
        &mut self,
        dispatch: &'d JobDispatch,
    ) -> Result<(BoundDispatch<'d>, HostMemory), EarlyEnd>
    where
        'a: 'd,
    {
        let job_module = self.job.modules.get(dispatch.module).ok_or_else(no_such_module)?;
        let settings = self.settings_of(dispatch)?;
        let mut push_constants =
            Store::from_bytes(&dispatch.push_constants, &dispatch.push_constants_defined);
        let decoded_program = self.decoded_program(
            dispatch,
            job_module.recording.markers(),
            &mut push_constants,
            settings.subgroup_size,
        )?;
        let dispatch_index = self.touched.len();
        UnwrittenWords::for_owner(
            settings.variation,
            WordOwner::PushConstants,
            dispatch_index as u64,
        )
        .fill_store(&mut push_constants);
        let program = &decoded_program.program;
        let dispatch_size =
            DispatchSize { groups: dispatch.groups, local_size: program.local_size };
        self.fill_record_buffer(dispatch.module, &dispatch_size)?;
        let slots = self.bound_slots(dispatch, program)?;
        self.check_images(program, &slots)?;
        let settings = settings.in_schedule(dispatch_index, dispatch)?;
        let wanted_width = settings.tile_width;
        let settings = settings.with_whole_subgroups(program);
        self.notes.extend(settings.widening_note(wanted_width, &job_module.key));
        let bound = BoundDispatch {
            dispatch,
            job_module,
            dispatch_index,
            dispatch_size,
            settings,
            spirv_module: Arc::clone(&self.modules[dispatch.module]),
            decoded_program,
        };
        Ok((bound, HostMemory { push_constants, slots }))
    }

    /// Runs all workgroups, with all that is watched meanwhile.
    fn run_on_machine(
        &mut self,
        bound: &BoundDispatch<'_>,
        HostMemory { push_constants, slots }: HostMemory,
        observer: &mut dyn Observer,
    ) -> Result<DispatchOutcome, EarlyEnd> {
        let (job, program) = (self.job, bound.program());
        let directed_yield = self.directed_yield(&bound.settings);
        let aliasing = self.tracked_aliasing(program, &slots)?;
        let parallel_run = self.add_race_shadows(&bound.decoded_program, &slots, bound.settings)?;
        let tracked_reads = self.tracked_reads(program, &slots);
        self.begin_pairs(bound, &slots);
        let runs_alone = directed_yield.is_some()
            || aliasing.is_some()
            || tracked_reads.is_some()
            || self.pairs.is_some();
        let parallel_run = parallel_run.filter(|_| !runs_alone);
        let marker_table = bound.job_module.recording.markers();
        let recorder =
            self.new_recorder(marker_table.map(|table| &**table), &bound.dispatch_size)?;
        let pairs = self.pairs.take();
        let mut machine = Machine::new(
            program,
            DispatchLaunch {
                settings: bound.settings,
                workgroup_counts: bound.dispatch.groups,
                stores: &mut self.stores,
                slots,
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
        machine.track_pairs(pairs);
        let early_stop = machine
            .run_workgroups(parallel_run.as_ref(), |workgroup| {
                observer.workgroup_completed(workgroup)
            })
            .err();
        Ok(DispatchOutcome::of_machine(machine, early_stop, bound))
    }

    /// Begins to follow who reads what another side wrote, where that is asked for.
    fn begin_pairs(&mut self, bound: &BoundDispatch<'_>, slots: &[Option<BoundRange>]) {
        let Some(pairs) = &mut self.pairs else { return };
        let program = bound.program();
        let buffer_granules = Self::buffer_granules(program, slots);
        let instruction_count = bound.spirv_module.instructions.len();
        pairs.begin_dispatch(bound.job_module.key, program, instruction_count);
        for (buffer_index, store) in self.stores.iter_mut().enumerate() {
            let granule = buffer_granules.get(&buffer_index).copied().unwrap_or(program.granule);
            pairs.refine_definitions(store, granule);
        }
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

    /// Keeps what was read and what atomics looked at, where that is asked for.
    fn keep_observations(
        &mut self,
        reads: Option<ReadTracker>,
        directed_yield: Option<DirectedYield>,
    ) {
        if let ReadTracking::Requested(_) = self.read_tracking {
            self.read_tracking =
                ReadTracking::Done(reads.and_then(ReadTracker::into_dispatch_reads));
        }
        self.observed_words.extend(
            directed_yield
                .filter(|_| self.atomic_observation == AtomicObservation::Remembered)
                .map(DirectedYield::into_observed_words),
        );
    }

    /// Keeps who read what another side wrote, for the next dispatch as well.
    fn keep_pairs(&mut self, bound: &BoundDispatch<'_>, outcome: &mut DispatchOutcome) {
        self.pairs = outcome.pairs.take();
        if let Some(pairs) = &mut self.pairs {
            let push_constants = &outcome.host_memory.push_constants;
            pairs.end_dispatch(bound.program(), push_constants, outcome.latest_time);
        }
    }

    fn note_unset_push_constants(&mut self, bound: &BoundDispatch<'_>, push_constants: &Store) {
        let entry_point = (bound.dispatch.entry.as_str(), &bound.dispatch.specialization);
        self.notes.extend(unset_push_constants::unset_note(
            bound.program(),
            push_constants,
            &bound.spirv_module,
            entry_point,
        ));
    }

    fn keep_touched_bytes(&mut self, program: &Program, touched_words: &[u32]) {
        let mut touched = BTreeMap::new();
        for (descriptor, word_count) in program.descriptors.iter().zip(touched_words) {
            let touched_bytes = touched.entry((descriptor.set, descriptor.binding)).or_insert(0);
            *touched_bytes = u64::from(*word_count * 4).max(*touched_bytes);
        }
        self.touched.push(touched);
    }

    fn keep_native_records(
        &mut self,
        bound: &BoundDispatch<'_>,
        kept_invocations: Option<DispatchInvocations>,
        records: Option<Records>,
    ) {
        if let (Some(bit_witnesses), Some(kept_invocations)) =
            (&mut self.bit_witnesses, kept_invocations)
        {
            bit_witnesses.add_dispatch(bound.dispatch_index, kept_invocations);
        }
        if let Some(records) = records {
            self.records.entry(bound.job_module.key).or_default().merge(&records);
        }
    }

    /// Races are those of all schedules, unless something depends on the one that ran.
    fn narrow_race_scope(&mut self, bound: &BoundDispatch<'_>, outcome: &DispatchOutcome) {
        if self.race_scope.is_none() {
            return;
        }
        let place_of = |source_index: u32| bound.spirv_module.place_of(source_index as usize);
        let dependent_place = schedule_dependence(
            bound.program(),
            &outcome.host_memory.slots,
            &outcome.collector.racing_places,
            &mut self.scheduled_buffers,
        );
        let dependence_reason = dependent_place.map(|source_index| {
            format!(
                "the branch or address at {} depends on what an atomic gave, or on a value that is of a race",
                place_of(source_index)
            )
        });
        let ordering_reason = outcome.ordering_atomics.synchronized.map(|source_index| {
            format!(
                "the atomic at {} orders invocations by what it happened to read",
                place_of(source_index)
            )
        });
        // Nobody has read it in time, and somebody races.
        let late_atomic =
            outcome.ordering_atomics.published.filter(|_| outcome.collector.has_race());
        let late_reason = late_atomic.map(|source_index| {
            format!(
                "whether the atomic at {} orders what races depends on who comes first",
                place_of(source_index)
            )
        });
        for scope_reason in dependence_reason.into_iter().chain(ordering_reason.or(late_reason)) {
            self.race_scope = Some(RaceScope::ExecutedSchedule);
            self.notes.insert(format!("races are those of the schedule that ran: {scope_reason}"));
        }
    }

    fn keep_record_buffer(&mut self, bound: &BoundDispatch<'_>) {
        if let Err(reason) = self.read_record_buffer(
            bound.dispatch.module,
            bound.dispatch_index,
            &bound.dispatch_size,
        ) {
            self.untrusted_reason.get_or_insert(reason);
        }
    }

    /// Counts the loops of the lowering, and notes the barriers that were passed and order by the
    /// idiom alone.
    fn count_regions(&mut self, bound: &BoundDispatch<'_>, regions: &RegionCounts) {
        let (spirv_module, program) = (&*bound.spirv_module, bound.program());
        if self.settings.memory_model == MemoryModel::Idiom {
            self.notes.extend(idiom_notes(spirv_module, program, &regions.entered_times));
        }
        let loop_tally = self
            .loop_tallies
            .entry(bound.job_module.key)
            .or_insert_with(|| LoopTally::new(spirv_module, program));
        loop_tally.add_dispatch(program, bound.dispatch.groups, &regions.entered_times);
    }

    fn keep_findings(
        &mut self,
        bound: &BoundDispatch<'_>,
        mut collector: FindingCollector,
        early_stop: Option<&EarlyStop>,
        observer: &mut dyn Observer,
    ) {
        if let Some(EarlyStop::StepLimit { place: source_index, invocation }) = early_stop {
            let step_limit = self.job.limits.steps;
            report_no_termination(&mut collector, *source_index, *invocation, step_limit);
        }
        let mut new_findings = collector.into_findings(&bound.spirv_module);
        for finding in &mut new_findings {
            finding.kernel = Some(bound.job_module.key.kernel);
            finding.module = Some(bound.job_module.key);
            observer.finding(finding);
        }
        merge_findings(&mut self.findings, new_findings);
    }

    fn early_end(&self, early_stop: &EarlyStop, settings: &Settings) -> EarlyEnd {
        EarlyEnd::Completion(match early_stop {
            EarlyStop::StepLimit { .. } => Completion::NoTermination {
                reason: format!("the limit of {} steps was reached", self.job.limits.steps),
            },
            EarlyStop::TimeLimit => Completion::Timeout {
                reason: format!(
                    "the time limit of {} s was reached",
                    settings.time_limit.unwrap_or_default().as_secs_f64()
                ),
            },
        })
    }
}
