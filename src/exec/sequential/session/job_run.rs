//! A job on the machine: its dispatches one after the other, and what they leave.
//!
//! Knows: programs kept by `program_cache`, buffers bound by `binding`, what a run is asked for.
//! Promises: dispatches run in the order of the job; a limit that is reached ends the run, and what
//! was found before is kept.

use super::bit_witnesses::BitWitnesses;
use super::early::EarlyEnd;
use super::executor::{ScheduleDependence, SequentialRun};
use super::notes::memory_limit_end;
use super::program_cache::{DecodedProgram, ProgramCache, ProgramOrigin};
use super::store_contents::{extend_push_constants, used_push_constant_words};
use crate::analysis::schedule_influence;
use crate::ir::SpinWaits;
use crate::ir::subgroup_operation::MOST_INVOCATIONS;
use crate::machine::undefined_contents::{UnwrittenWords, WordOwner};
use crate::machine::{Deadline, ObservedWords};
use crate::memory::definitions::{Definitions, FirstWriter};
use crate::memory::pair_tracking::PairTracker;
use crate::memory::read_tracking::{DispatchReads, WatchedReads};
use crate::memory::store::Store;
use crate::print::LoopTally;
use crate::settings::{RaceScopeWanted, Settings};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;
use vkcert_exec::access_pairs::AccessPairs;
use vkcert_exec::{Completion, ExecError, Job, JobDispatch, ModuleRecording, Observer, Run};
use vkcert_model::finding::{Checks, Finding, FindingKind, RaceScope};
use vkcert_model::id::ModuleKey;
use vkcert_model::printed::Printed;
use vkcert_model::records::{MarkerTable, Records};
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
    pub(super) modules: Vec<Arc<Module>>,
    /// The job's buffers, then one record buffer per module that has one.
    pub(super) stores: Vec<Store>,
    /// By module: the store of its record buffer.
    pub(super) record_stores: Vec<Option<usize>>,
    pub(super) steps_left: u64,
    pub(super) deadline: Deadline,
    pub(super) findings: Vec<Finding>,
    pub(super) records: BTreeMap<ModuleKey, Records>,
    pub(super) loop_tallies: BTreeMap<ModuleKey, LoopTally>,
    pub(super) touched: Vec<BTreeMap<(u32, u32), u64>>,
    pub(super) diverged: bool,
    pub(super) printed: Printed,
    /// Why records cannot be trusted, of the first dispatch with such records.
    pub(super) untrusted_reason: Option<String>,
    pub(super) notes: BTreeSet<String>,
    pub(super) race_scope: Option<RaceScope>,
    /// Buffers whose contents depend on the schedule of the dispatches so far.
    pub(super) scheduled_buffers: BTreeSet<usize>,
    pub(super) atomic_observation: AtomicObservation,
    /// By dispatch.
    pub(super) observed_words: Vec<ObservedWords>,
    /// Where it is asked who recorded some bits.
    pub(super) bit_witnesses: Option<BitWitnesses>,
    /// Where it is asked what is read.
    pub(super) read_tracking: ReadTracking,
    /// Where it is asked who reads what another side wrote.
    pub(super) pairs: Option<PairTracker>,
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
            race_scope: (checks.has(FindingKind::DataRace)
                && settings.race_scope == RaceScopeWanted::Told)
                .then_some(RaceScope::AllSchedules),
            checks,
            scheduled_buffers: BTreeSet::new(),
            atomic_observation: AtomicObservation::Ignored,
            observed_words: Vec::new(),
            bit_witnesses: None,
            read_tracking: ReadTracking::Off,
            pairs: None,
        })
    }

    /// Follows from now on who reads what another side wrote.
    pub(super) fn track_pairs(&mut self) {
        let contents_bytes: u64 =
            self.stores.iter().map(|store| store.words.len() as u64 * 4).sum();
        let free_bytes = self.job.limits.memory_bytes.saturating_sub(contents_bytes);
        self.pairs = Some(PairTracker::new(free_bytes));
        for store in self.stores.iter_mut().take(self.job.buffers.len()) {
            store.definitions = Some(Definitions::new(FirstWriter::Host, 4));
        }
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
        let steps = self.job.limits.steps.saturating_sub(self.steps_left);
        SequentialRun {
            run,
            steps,
            lowering: loop_decisions,
            touched: self.touched,
            paths: buffer_traces,
            access_pairs: self
                .pairs
                .map_or(AccessPairs::NotTracked, PairTracker::into_access_pairs),
        }
    }
}
