//! The engine as an executor: one job at a time, and what else is asked of a run.

use super::bit_witnesses::Everyone;
use super::early::Early;
use super::job_run::{Looks, MOST_RANGES, Reading, Session};
use super::program_cache::Programs;
use super::schedules;
use super::stored_bytes::{DispatchedStores, stored_bytes};
use crate::machine::ObservedWords;
use crate::memory::read_tracking::{DispatchReads, WatchedReads};
use crate::memory::store::Store;
use crate::settings::{Jobs, Settings};
use crate::tally::Tally;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use vkcert_exec::repeat::{Results, repeat};
use vkcert_exec::schedule::Following;
use vkcert_exec::{
    Completion, Counts, ExecError, Executor, Job, Observer, Run, RunRequest, Unobserved,
};
use vkcert_model::evidence::LoweringDecision;
use vkcert_model::finding::Checks;
use vkcert_model::id::ModuleKey;
use vkcert_model::invocations::InvocationRecords;
use vkcert_model::schedule::{Extent, Turns};
use vkcert_model::verdict::EngineName;

/// Runs jobs on this machine, without a device. Clones share what they decoded.
#[derive(Debug, Clone, Default)]
pub struct SequentialExecutor {
    /// How the engine runs.
    pub settings: Settings,
    programs: Arc<Programs>,
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
        repeat(request, observer, |observer| {
            let SequentialRun { run, lowering, touched, paths: _ } =
                self.run_once(request, observer)?;
            Ok((run, Counts { lowering, touched }))
        })
    }

    fn run_by_invocation(
        &mut self,
        request: &RunRequest<'_>,
        bits: &BTreeSet<u32>,
    ) -> Result<(Run, InvocationRecords), ExecError> {
        let settings = Settings { jobs: Jobs::One, ..self.settings_of(request) };
        let mut session = match self.session(request.job, settings) {
            Ok(session) => session,
            Err(Early::Completion(completion)) => {
                return Ok((ended(completion).run, InvocationRecords::new()));
            }
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
}

impl SequentialExecutor {
    /// An engine that has decoded nothing yet.
    pub fn new(settings: Settings) -> Self {
        Self { settings, programs: Arc::default() }
    }

    /// What this engine and its clones decoded, and which dispatches several cores ran; depends on
    /// who was free.
    pub fn tally(&self) -> Tally {
        self.programs.counters.tally()
    }

    /// Decodes the programs that a job begins with, so that a run of the job finds them there. What
    /// stands in the way is the run's to tell.
    pub fn decode_ahead(&self, job: &Job) {
        let Ok(session) = Session::new(job, self.settings, &self.programs) else { return };
        for module in 0..job.modules.len() {
            if let Some(dispatch) = job.dispatches.iter().find(|dispatch| dispatch.module == module)
            {
                let _ = session.decoded_at_first(dispatch);
            }
        }
    }

    /// What of a job depends on its schedule, without running it; none where the engine cannot run
    /// it.
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
        let mut session = match self.session(request.job, self.settings_of(request)) {
            Ok(session) => session,
            Err(Early::Completion(completion)) => return Ok(ended(completion)),
            Err(Early::Failure(error)) => return Err(error),
        };
        let completion = session.run(observer)?;
        Ok(session.finish(completion))
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
        kept: &BTreeSet<usize>,
    ) -> Result<Option<DispatchedStores>, ExecError> {
        self.unchecked(job, |session| {
            let mut found = DispatchedStores::default();
            let mut before = session.contents(&job.buffers);
            for (index, dispatch) in job.dispatches.iter().enumerate() {
                session.stores.iter_mut().for_each(Store::mark_all_undefined);
                session.dispatch(dispatch, &mut Unobserved)?;
                let after = session.contents(&job.buffers);
                let stores = session.stores.iter().zip(before.iter().zip(&after));
                found.stored.push(
                    stores
                        .map(|(store, (before, after))| stored_bytes(store, before, after))
                        .collect(),
                );
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

    /// What each dispatch of a job reads, as asked of each; none where the job does not complete,
    /// or that takes too much memory or leaves something open.
    pub fn reads_of_each(
        &self,
        job: &Job,
        watched: &[&WatchedReads],
    ) -> Result<Option<Vec<DispatchReads>>, ExecError> {
        let found = self.unchecked(job, |session| {
            let mut found = Vec::new();
            let mut ranges = 0;
            for (dispatch, watched) in job.dispatches.iter().zip(watched) {
                session.reads = Reading::Next((*watched).clone());
                session.dispatch(dispatch, &mut Unobserved)?;
                let Reading::Done(Some(reads)) = std::mem::replace(&mut session.reads, Reading::No)
                else {
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

    /// A run on one core that looks for nothing, dispatch by dispatch; none where it does not
    /// complete.
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
            session.looked_at = self.looked_at(job, settings).map_err(Early::Failure)?;
        }
        Ok(session)
    }

    /// By dispatch, as far as the job comes: the words that its atomics look at.
    fn looked_at(&self, job: &Job, settings: Settings) -> Result<Vec<ObservedWords>, ExecError> {
        let settings = Settings { following: Following::default(), jobs: Jobs::One, ..settings };
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

fn ended(completion: Completion) -> SequentialRun {
    SequentialRun {
        run: Run::ended(completion),
        lowering: BTreeMap::new(),
        touched: Vec::new(),
        paths: Vec::new(),
    }
}
