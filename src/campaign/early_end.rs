//! What ends a run before all its tests have begun: a test that does not pass, a limit of time or of memory.
//!
//! Knows: what was asked for ([`RunLimits`]), the clock, the memory of this process and of its children.
//! Promises: when a run has ended, no further test begins on any engine, and each of these is `not-run` with the reason,
//! which is the same for all of them.
//! Does not cover: a test that has begun: it goes on to its own end, which its own limits see to.

use super::memory::resident_bytes;
use super::test_run::{PreparedTest, TestRun};
use crate::CampaignError;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use vkcert_model::id::TestId;
use vkcert_model::verdict::{EngineName, Verdict};

/// Time between two looks at memory, since each reads files of all processes.
const MEMORY_INTERVAL: Duration = Duration::from_millis(20);

/// What ends a run early; by default nothing does.
#[derive(Debug, Clone, Default)]
pub struct RunLimits {
    /// What a test that does not pass does to those after it.
    pub on_failure: OnFailure,
    /// None: as long as it takes.
    pub time: Option<TimeLimit>,
    /// Most bytes of memory that the process and its children hold together; none: what there is.
    pub memory_bytes: Option<u64>,
}

/// What a test that does not pass does to those after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnFailure {
    /// They run.
    #[default]
    GoOn,
    /// They do not begin.
    End,
}

/// How long a run may begin tests.
#[derive(Debug, Clone, Copy)]
pub struct TimeLimit {
    /// As it was asked for.
    pub seconds: f64,
    /// When the run began.
    pub start: Instant,
}

impl RunLimits {
    /// Whether this system can tell what is to be limited.
    pub fn check_means(&self) -> Result<(), CampaignError> {
        if self.memory_bytes.is_none() || resident_bytes().is_some() {
            return Ok(());
        }
        Err(CampaignError::Unavailable {
            message: "this system does not tell the memory of processes and their children"
                .to_owned(),
            hint: Some("run without --memory-limit".to_owned()),
        })
    }
}

/// Lets tests begin until something ends the run.
pub(crate) struct RunGate<'a> {
    limits: &'a RunLimits,
    state: Mutex<GateState>,
}

#[derive(Default)]
struct GateState {
    ended: Option<String>,
    not_begun: usize,
    memory_read: Option<Instant>,
}

impl<'a> RunGate<'a> {
    pub(crate) fn new(limits: &'a RunLimits) -> Self {
        Self { limits, state: Mutex::default() }
    }

    /// Runs a test, unless the run has ended.
    pub(crate) fn pass(
        &self,
        (prepared_test, engine): (&PreparedTest, EngineName),
        run: impl FnOnce() -> Result<TestRun, CampaignError>,
    ) -> Result<TestRun, CampaignError> {
        if let Some(reason) = self.refusal() {
            return Ok(TestRun {
                schedule: prepared_test.replay,
                ..TestRun::not_run(engine, &reason)
            });
        }
        let test_run = run()?;
        self.note_verdict(prepared_test.test.id, &test_run);
        Ok(test_run)
    }

    /// Why the run has ended early, and how many runs of tests did not begin.
    pub(crate) fn early_end(&self) -> Option<(String, usize)> {
        let state = self.state();
        state.ended.clone().filter(|_| state.not_begun > 0).map(|reason| (reason, state.not_begun))
    }

    fn state(&self) -> MutexGuard<'_, GateState> {
        // A poisoned lock is of a panic elsewhere: what stands in it is whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why no further test begins; none: one may.
    fn refusal(&self) -> Option<String> {
        let mut state = self.state();
        if state.ended.is_none() {
            state.ended = self.reached_limit(&mut state.memory_read);
        }
        state.not_begun += usize::from(state.ended.is_some());
        state.ended.clone()
    }

    /// Evidence has the reason, so that it tells what was asked for, not what was measured.
    fn reached_limit(&self, memory_read: &mut Option<Instant>) -> Option<String> {
        let RunLimits { on_failure: _, time, memory_bytes } = self.limits;
        if let Some(TimeLimit { seconds, start }) = time
            && start.elapsed().as_secs_f64() >= *seconds
        {
            return Some(format!("the run had taken its {seconds} s (--time-limit)"));
        }
        let limit = (*memory_bytes)?;
        if memory_read.is_some_and(|last_look| last_look.elapsed() < MEMORY_INTERVAL) {
            return None;
        }
        *memory_read = Some(Instant::now());
        let is_reached = resident_bytes().is_some_and(|bytes| bytes >= limit);
        is_reached.then(|| format!("the run held its {limit} bytes of memory (--memory-limit)"))
    }

    fn note_verdict(&self, test: TestId, test_run: &TestRun) {
        if self.limits.on_failure == OnFailure::GoOn || test_run.verdict == Verdict::Pass {
            return;
        }
        let TestRun { engine, verdict, .. } = test_run;
        let reason = format!("test {test} on {engine} had ended with {verdict} (--fail-fast)");
        self.state().ended.get_or_insert(reason);
    }
}
