//! The engine as an executor: one job at a time, and what else is asked of a run.

use super::bit_witnesses::BitWitnesses;
use super::early::EarlyEnd;
use super::job_run::{AtomicObservation, JobSession, MOST_RANGES, ReadTracking};
use super::program_cache::ProgramCache;
use super::schedules;
use super::stored_bytes::{DispatchedStores, stored_bytes};
use crate::machine::ObservedWords;
use crate::memory::read_tracking::{DispatchReads, WatchedReads};
use crate::memory::store::Store;
use crate::settings::{Jobs, Settings};
use crate::tally::Tally;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use vkcert_exec::access_pairs::{AccessPairs, PairTracking};
use vkcert_exec::repeat::{Results, repeat_run};
use vkcert_exec::schedule::Following;
use vkcert_exec::{
    Completion, Counts, ExecError, Executor, Job, Observer, Run, RunRequest, Unobserved,
};
use vkcert_model::evidence::LoweringDecision;

use vkcert_model::id::ModuleKey;
use vkcert_model::invocations::InvocationRecords;
use vkcert_model::schedule::{Extent, Turns};
use vkcert_model::verdict::EngineName;
use vkcert_spirv::module::Module;

/// Instructions of kept modules, and actions of kept programs: some megabytes of each.
const LITTLE_ROOM: usize = 20_000;

/// Runs jobs on this machine, without a device. Clones share what they decoded.
#[derive(Debug, Clone, Default)]
pub struct SequentialExecutor {
    /// How the engine runs.
    pub settings: Settings,
    programs: Arc<ProgramCache>,
}

/// A run, with how often the additional loops of the lowering were evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct SequentialRun {
    /// The run.
    pub run: Run,
    /// By kernel name; counts of all its dispatches together.
    pub lowering: BTreeMap<ModuleKey, Vec<LoweringDecision>>,
    /// By dispatch, then set and binding: bytes of the bound range up to the last one that was
    /// accessed.
    pub touched: Vec<BTreeMap<(u32, u32), u64>>,
    /// Of a varied run: by buffer and 32-bit word, a hash of the decisions on the way to its value.
    pub paths: Vec<Vec<u64>>,
    /// Who read what another side had written, where the request asked for it.
    pub access_pairs: AccessPairs,
    /// Instructions that were executed, summed over all invocations.
    pub steps: u64,
}

/// What may come out otherwise in another schedule though nothing races: what comes of atomics and
/// of waiting.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScheduleDependence {
    /// By module of the job: bits of its records.
    pub bits: BTreeMap<ModuleKey, BTreeSet<u32>>,
    /// Buffers of the job, by index.
    pub buffers: BTreeSet<usize>,
    /// Modules whose invocations wait for each other in a loop.
    pub waiting: BTreeSet<ModuleKey>,
}

impl Executor for SequentialExecutor {
    fn name(&self) -> EngineName {
        EngineName::Sequential
    }

    fn execute(
        &mut self,
        request: &RunRequest<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(Results, Counts), ExecError> {
        repeat_run(request, observer, |observer| {
            let SequentialRun { run, lowering, touched, paths: _, access_pairs, steps: _ } =
                self.run_once(request, observer)?;
            Ok((run, Counts { lowering, touched, access_pairs }))
        })
    }

    fn run_by_invocation(
        &mut self,
        request: &RunRequest<'_>,
        record_bits: &BTreeSet<u32>,
    ) -> Result<(Run, InvocationRecords), ExecError> {
        let settings = Settings { jobs: Jobs::One, ..self.settings_of(request) };
        let mut session = match self.new_session(request.job, settings) {
            Ok(session) => session,
            Err(EarlyEnd::Completion(completion)) => {
                return Ok((ended_run(completion).run, InvocationRecords::new()));
            }
            Err(EarlyEnd::Failure(error)) => return Err(error),
        };
        session.bit_witnesses = Some(BitWitnesses::for_bits(record_bits));
        let completion = session.run_dispatches(&mut Unobserved)?;
        let invocation_records =
            session.bit_witnesses.take().map(BitWitnesses::into_records).unwrap_or_default();
        Ok((session.into_run(completion).run, invocation_records))
    }

    fn extents(&mut self, job: &Job) -> Result<Option<Vec<Extent>>, ExecError> {
        schedules::dispatch_extents(job, self.settings, &self.programs).map(Some)
    }
}

impl SequentialExecutor {
    /// An engine that has decoded nothing yet.
    pub fn new(settings: Settings) -> Self {
        Self { settings, programs: Arc::default() }
    }

    /// The ordinary engine for what looks at jobs one after the other: it keeps some of what it decoded
    /// last.
    pub fn keeping_little() -> Self {
        Self::default().keeping_little_of_its_own(1)
    }

    /// This engine with programs of its own, of which it keeps little: for jobs whose modules are run a few times
    /// and never again, so many of them at a time.
    #[must_use]
    pub fn keeping_little_of_its_own(&self, jobs_at_a_time: usize) -> Self {
        let room = LITTLE_ROOM.saturating_mul(jobs_at_a_time);
        Self { settings: self.settings, programs: Arc::new(ProgramCache::with_room(room)) }
    }

    /// Hands over a module that is parsed, for jobs that are to follow with its words.
    pub fn keep_module(&self, module: &Arc<Module>) {
        self.programs.keep_module(module);
    }

    /// What this engine and its clones decoded, and which dispatches several cores ran; depends on
    /// who was free.
    pub fn tally(&self) -> Tally {
        self.programs.counters.current_tally()
    }

    /// Decodes the programs that a job begins with, so that a run of the job finds them there. What
    /// stands in the way is the run's to tell.
    pub fn decode_ahead(&self, job: &Job) {
        let Ok(session) = JobSession::new(job, self.settings, &self.programs) else { return };
        for module_index in 0..job.modules.len() {
            if let Some(dispatch) =
                job.dispatches.iter().find(|dispatch| dispatch.module == module_index)
            {
                let _ = session.decoded_initially(dispatch);
            }
        }
    }

    /// What of a job depends on its schedule, without running it; none where the engine cannot run
    /// it.
    pub fn schedule_dependence(&self, job: &Job) -> Option<ScheduleDependence> {
        let session = JobSession::new(job, self.settings, &self.programs).ok()?;
        let mut dependence = ScheduleDependence::default();
        for dispatch in &job.dispatches {
            session.add_dependence(dispatch, &mut dependence).ok()?;
        }
        Some(dependence)
    }

    /// Runs a job and counts the loop decisions that only the lowering has.
    pub fn run_with_lowering_counts(
        &self,
        job: &Job,
        observer: &mut dyn Observer,
    ) -> Result<SequentialRun, ExecError> {
        self.run_once(&RunRequest::once(job), observer)
    }

    /// The first repetition of what is asked for, with all that is counted and followed.
    pub fn run_once(
        &self,
        request: &RunRequest<'_>,
        observer: &mut dyn Observer,
    ) -> Result<SequentialRun, ExecError> {
        let mut session = match self.new_session(request.job, self.settings_of(request)) {
            Ok(session) => session,
            Err(EarlyEnd::Completion(completion)) => return Ok(ended_run(completion)),
            Err(EarlyEnd::Failure(error)) => return Err(error),
        };
        if request.pair_tracking == PairTracking::On {
            session.track_pairs();
        }
        let completion = session.run_dispatches(observer)?;
        Ok(session.into_run(completion))
    }

    fn settings_of(&self, request: &RunRequest<'_>) -> Settings {
        Settings {
            following: request.following.unwrap_or(self.settings.following),
            variation: request.variation.or(self.settings.variation),
            ..self.settings
        }
    }

    /// What each dispatch of a job stores, and what the buffers hold before the dispatches `kept`
    /// (the number of dispatches: at the end); none where the job does not complete.
    pub fn stores_of_each(
        &self,
        job: &Job,
        kept_dispatches: &BTreeSet<usize>,
    ) -> Result<Option<DispatchedStores>, ExecError> {
        self.run_unchecked(job, |session| {
            let mut dispatched_stores = DispatchedStores::default();
            let mut contents_before = session.buffer_contents(&job.buffers);
            for (dispatch_index, dispatch) in job.dispatches.iter().enumerate() {
                session.stores.iter_mut().for_each(Store::mark_all_undefined);
                session.run_dispatch(dispatch, &mut Unobserved)?;
                let contents_after = session.buffer_contents(&job.buffers);
                let store_contents =
                    session.stores.iter().zip(contents_before.iter().zip(&contents_after));
                dispatched_stores.stored.push(
                    store_contents
                        .map(|(store, (bytes_before, bytes_after))| {
                            stored_bytes(store, bytes_before, bytes_after)
                        })
                        .collect(),
                );
                let contents_before = std::mem::replace(&mut contents_before, contents_after);
                if kept_dispatches.contains(&dispatch_index) {
                    dispatched_stores.contents.insert(dispatch_index, contents_before);
                }
            }
            if kept_dispatches.contains(&job.dispatches.len()) {
                dispatched_stores.contents.insert(job.dispatches.len(), contents_before);
            }
            Ok(dispatched_stores)
        })
    }

    /// What each dispatch of a job reads, as asked of each; none where the job does not complete,
    /// or that takes too much memory or leaves something open.
    pub fn reads_of_each(
        &self,
        job: &Job,
        watched_reads: &[&WatchedReads],
    ) -> Result<Option<Vec<DispatchReads>>, ExecError> {
        let dispatch_reads = self.run_unchecked(job, |session| {
            let mut dispatch_reads = Vec::new();
            let mut range_count = 0;
            for (dispatch, watched) in job.dispatches.iter().zip(watched_reads) {
                session.read_tracking = ReadTracking::Requested((*watched).clone());
                session.run_dispatch(dispatch, &mut Unobserved)?;
                let ReadTracking::Done(Some(reads)) =
                    std::mem::replace(&mut session.read_tracking, ReadTracking::Off)
                else {
                    return Ok(None);
                };
                range_count += reads.ranges();
                if range_count > MOST_RANGES {
                    return Ok(None);
                }
                dispatch_reads.push(reads);
            }
            Ok(Some(dispatch_reads))
        });
        Ok(dispatch_reads?.flatten())
    }

    /// A run on one core that looks for nothing, dispatch by dispatch; none where it does not
    /// complete.
    fn run_unchecked<R>(
        &self,
        job: &Job,
        run_session: impl FnOnce(&mut JobSession<'_>) -> Result<R, EarlyEnd>,
    ) -> Result<Option<R>, ExecError> {
        let settings = Settings { jobs: Jobs::One, variation: None, ..self.settings };
        match JobSession::unchecked(job, settings, &self.programs)
            .and_then(|session| self.with_observed_words(session))
            .and_then(|mut session| run_session(&mut session))
        {
            Ok(run_result) => Ok(Some(run_result)),
            Err(EarlyEnd::Completion(_)) => Ok(None),
            Err(EarlyEnd::Failure(error)) => Err(error),
        }
    }

    /// A run that is ready to begin.
    fn new_session<'j>(
        &'j self,
        job: &'j Job,
        settings: Settings,
    ) -> Result<JobSession<'j>, EarlyEnd> {
        self.with_observed_words(JobSession::new(job, settings, &self.programs)?)
    }

    /// The session; with waiters first, it knows what they look at.
    fn with_observed_words<'j>(
        &self,
        mut session: JobSession<'j>,
    ) -> Result<JobSession<'j>, EarlyEnd> {
        if session.settings.following.schedule.turns == Turns::WaitersFirst {
            session.observed_words =
                self.observed_words(session.job, session.settings).map_err(EarlyEnd::Failure)?;
        }
        Ok(session)
    }

    /// By dispatch, as far as the job comes: the words that its atomics look at.
    fn observed_words(
        &self,
        job: &Job,
        settings: Settings,
    ) -> Result<Vec<ObservedWords>, ExecError> {
        let settings = Settings { following: Following::default(), jobs: Jobs::One, ..settings };
        match JobSession::unchecked(job, settings, &self.programs) {
            Ok(mut session) => {
                session.atomic_observation = AtomicObservation::Remembered;
                session.run_dispatches(&mut Unobserved)?;
                Ok(session.observed_words)
            }
            Err(EarlyEnd::Completion(_)) => Ok(Vec::new()),
            Err(EarlyEnd::Failure(error)) => Err(error),
        }
    }
}

fn ended_run(completion: Completion) -> SequentialRun {
    SequentialRun {
        run: Run::ended(completion),
        lowering: BTreeMap::new(),
        touched: Vec::new(),
        paths: Vec::new(),
        access_pairs: AccessPairs::NotTracked,
        steps: 0,
    }
}
