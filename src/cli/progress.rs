//! The progress of a campaign while it runs: a bar with the time left on a terminal, with `-v` a
//! line per test and per kernel, and events.
//!
//! Promises: nothing is written to standard output or to evidence. Without a terminal there is no
//! bar.

use super::args::Common;
use super::events::EventLog;
use super::failure::Failure;
use crate::campaign::display::{Display, RunTest};
use crate::campaign::test_run::PreparedTest;
use crate::campaign::test_run::TestRun;
use crate::exec::repeat::Results;
use crate::exec::{Counts, ExecError, Executor, Job, Observer, RunRequest};
use crate::model::event::RunEvent;
use crate::model::id::{KernelName, TestId};
use crate::model::schedule::Extent;
use crate::model::verdict::{EngineName, Verdict};
use crate::model::wording::plural;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Time between two messages of one test.
const MESSAGE_INTERVAL: Duration = Duration::from_millis(200);

/// The display of a campaign.
pub(super) struct CampaignProgress {
    bar: ProgressBar,
    verbose: bool,
}

impl CampaignProgress {
    pub(super) fn new(common: &Common) -> Self {
        let target =
            if common.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {eta} left {msg}")
            .expect("the template is well-formed");
        let bar = ProgressBar::with_draw_target(Some(0), target).with_style(style);
        Self { bar, verbose: common.verbose > 0 }
    }

    /// Prints a line above the bar, where lines are asked for.
    fn tell_line(&self, line: impl FnOnce() -> String) {
        if self.verbose {
            let line = line();
            self.bar.suspend(|| super::output::print_to_stderr(format_args!("{line}\n")));
        }
    }
}

impl Display for CampaignProgress {
    fn begin(&self, runs: usize) {
        self.bar.set_length(runs as u64);
    }

    fn carry_out(
        &self,
        test: &TestId,
        engine: &mut dyn Executor,
        run: &mut RunTest<'_>,
    ) -> Result<TestRun, Failure> {
        self.bar.set_message(test.to_string());
        let start_time = Instant::now();
        let mut watched_engine = WatchedEngine { engine, bar: &self.bar, test };
        let test_run = run(&mut watched_engine);
        if let Ok(test_run) = &test_run {
            let seconds = start_time.elapsed().as_secs_f64();
            self.tell_line(|| {
                format!("{test} on {}: {} in {seconds:.2} s", test_run.engine, test_run.verdict)
            });
        }
        self.bar.inc(1);
        test_run
    }

    fn end(&self) {
        self.bar.finish_and_clear();
    }

    fn tell_early_end(&self, reason: &str, not_begun: usize) {
        self.tell_line(|| format!("{} not begun: {reason}", plural(not_begun, "run", "runs")));
    }
}

/// The display of a campaign whose kernels and events are told as well.
pub(super) struct WatchedCampaign<'a> {
    progress: CampaignProgress,
    events: &'a EventLog,
    counts: Mutex<RunCounts>,
}

/// What has ended.
#[derive(Default)]
struct RunCounts {
    runs: usize,
    done: usize,
    /// Engines run one after the other, at speeds of their own.
    paces: BTreeMap<EngineName, EnginePace>,
    /// Each of them runs so many tests.
    tests_of_engine: usize,
    kernels_by_test: BTreeMap<TestId, Vec<KernelName>>,
    by_kernel: BTreeMap<KernelName, KernelCounts>,
    kernels_done: usize,
}

/// How an engine gets on with its tests.
#[derive(Debug, Clone, Copy)]
struct EnginePace {
    /// When its first test began.
    start: Instant,
    done: usize,
    /// From the start to the end of the last test that has ended.
    seconds: f64,
}

impl EnginePace {
    fn seconds_of_test(&self) -> Option<f64> {
        (self.done > 0).then(|| self.seconds / self.done as f64)
    }
}

#[derive(Default)]
struct KernelCounts {
    runs: usize,
    done: usize,
    passed: usize,
}

/// A kernel of which all tests have ended.
struct EndedKernel {
    name: KernelName,
    runs: usize,
    passed: usize,
}

impl<'a> WatchedCampaign<'a> {
    pub(super) fn new(
        common: &Common,
        events: &'a EventLog,
        prepared_tests: &[PreparedTest],
    ) -> Self {
        let mut counts = RunCounts::default();
        for prepared_test in prepared_tests {
            let kernels = vkcert_requirement::trace::kernels_of(prepared_test.test);
            counts.kernels_by_test.insert(prepared_test.test.id, kernels);
        }
        Self { progress: CampaignProgress::new(common), events, counts: Mutex::new(counts) }
    }

    fn counts(&self) -> std::sync::MutexGuard<'_, RunCounts> {
        self.counts.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn tell_end(&self, test: &TestId, engine: EngineName, verdict: Verdict, test_seconds: f64) {
        let mut counts = self.counts();
        let ended_kernels = counts.count(test, engine, verdict);
        let RunCounts { done, runs, .. } = *counts;
        let seconds_left = counts.seconds_left();
        self.events.tell(RunEvent::TestFinished {
            test: *test,
            engine,
            verdict,
            test_seconds,
            done,
            runs,
            seconds_left,
        });
        for kernel in ended_kernels {
            counts.kernels_done += 1;
            let (done, kernels) = (counts.kernels_done, counts.by_kernel.len());
            let EndedKernel { name, runs, passed } = kernel;
            let left = seconds_left
                .filter(|_| done < kernels)
                .map(|seconds| format!(", about {seconds:.0} s left"))
                .unwrap_or_default();
            self.progress.tell_line(|| {
                format!(
                    "kernel {name}: {passed} of {runs} runs passed ({done} of {kernels} kernels{left})"
                )
            });
            self.events.tell(RunEvent::KernelFinished {
                kernel: name,
                runs,
                passed,
                done,
                kernels,
                seconds_left,
            });
        }
    }
}

impl RunCounts {
    /// Every test runs once for each engine.
    fn begin(&mut self, runs: usize) {
        self.runs = runs;
        self.tests_of_engine = self.kernels_by_test.len();
        let engines = runs.checked_div(self.tests_of_engine).unwrap_or(0);
        for kernel in self.kernels_by_test.values().flatten() {
            self.by_kernel.entry(*kernel).or_default().runs += engines;
        }
    }

    /// Notes when an engine begins its first test.
    fn note_start(&mut self, engine: EngineName) {
        let pace = EnginePace { start: Instant::now(), done: 0, seconds: 0.0 };
        self.paces.entry(engine).or_insert(pace);
    }

    /// Counts a run; the kernels that have ended with it.
    fn count(&mut self, test: &TestId, engine: EngineName, verdict: Verdict) -> Vec<EndedKernel> {
        self.done += 1;
        if let Some(pace) = self.paces.get_mut(&engine) {
            pace.done += 1;
            pace.seconds = pace.start.elapsed().as_secs_f64();
        }
        let mut ended_kernels = Vec::new();
        for name in self.kernels_by_test.get(test).into_iter().flatten() {
            let Some(counts) = self.by_kernel.get_mut(name) else { continue };
            counts.done += 1;
            counts.passed += usize::from(verdict == Verdict::Pass);
            if counts.done == counts.runs {
                let KernelCounts { runs, passed, .. } = *counts;
                ended_kernels.push(EndedKernel { name: *name, runs, passed });
            }
        }
        ended_kernels
    }

    /// What is left of each engine at its own pace; of one that has not begun at that of the others together.
    fn seconds_left(&self) -> Option<f64> {
        let seconds: f64 = self.paces.values().map(|pace| pace.seconds).sum();
        let common_pace = (self.done > 0).then(|| seconds / self.done as f64)?;
        let begun_runs = self.paces.len() * self.tests_of_engine;
        let of_others = self.runs.saturating_sub(begun_runs) as f64 * common_pace;
        let of_engine = |pace: &EnginePace| {
            let left = self.tests_of_engine.saturating_sub(pace.done) as f64;
            left * pace.seconds_of_test().unwrap_or(common_pace)
        };
        Some(of_others + self.paces.values().map(of_engine).sum::<f64>())
    }
}

impl Display for WatchedCampaign<'_> {
    fn begin(&self, runs: usize) {
        self.events.tell(RunEvent::Prepared { runs });
        self.counts().begin(runs);
        self.progress.begin(runs);
    }

    fn carry_out(
        &self,
        test: &TestId,
        engine: &mut dyn Executor,
        run: &mut RunTest<'_>,
    ) -> Result<TestRun, Failure> {
        self.events.tell(RunEvent::TestStarted { test: *test, engine: engine.name() });
        self.counts().note_start(engine.name());
        let start_time = Instant::now();
        let test_run = self.progress.carry_out(test, engine, run)?;
        let seconds = start_time.elapsed().as_secs_f64();
        self.tell_end(test, test_run.engine, test_run.verdict, seconds);
        Ok(test_run)
    }

    fn end(&self) {
        self.progress.end();
        self.events.tell(RunEvent::TestsEnded { done: self.counts().done });
    }

    fn tell_early_end(&self, reason: &str, not_begun: usize) {
        self.events.tell(RunEvent::EndedEarly { reason: reason.to_owned(), not_begun });
        self.progress.tell_early_end(reason, not_begun);
    }
}

/// An engine whose completed workgroups are shown.
struct WatchedEngine<'a> {
    engine: &'a mut dyn Executor,
    bar: &'a ProgressBar,
    test: &'a TestId,
}

impl<'a> WatchedEngine<'a> {
    fn workgroup_display(&self, job: &Job) -> WorkgroupDisplay<'a> {
        let workgroups_of = |groups: [u32; 3]| groups.map(u64::from).iter().product::<u64>();
        let total_workgroups =
            job.dispatches.iter().map(|dispatch| workgroups_of(dispatch.groups)).sum();
        WorkgroupDisplay {
            bar: self.bar,
            test: self.test,
            completed_workgroups: 0,
            total_workgroups,
            last_message: Instant::now(),
        }
    }
}

impl Executor for WatchedEngine<'_> {
    fn name(&self) -> EngineName {
        self.engine.name()
    }

    fn execute(
        &mut self,
        request: &RunRequest<'_>,
        _: &mut dyn Observer,
    ) -> Result<(Results, Counts), ExecError> {
        let mut display = self.workgroup_display(request.job);
        self.engine.execute(request, &mut display)
    }

    fn extents(&mut self, job: &Job) -> Result<Option<Vec<Extent>>, ExecError> {
        self.engine.extents(job)
    }
}

/// Counts the completed workgroups of a job, and shows the number at intervals.
struct WorkgroupDisplay<'a> {
    bar: &'a ProgressBar,
    test: &'a TestId,
    completed_workgroups: u64,
    total_workgroups: u64,
    last_message: Instant,
}

impl Observer for WorkgroupDisplay<'_> {
    fn workgroup_completed(&mut self, _: [u32; 3]) {
        self.completed_workgroups += 1;
        if self.last_message.elapsed() >= MESSAGE_INTERVAL {
            self.last_message = Instant::now();
            self.bar.set_message(format!(
                "{}: workgroup {} of {}",
                self.test, self.completed_workgroups, self.total_workgroups
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(done: usize, seconds: f64) -> EnginePace {
        EnginePace { start: Instant::now(), done, seconds }
    }

    /// Ten tests on each of two engines.
    fn counts(paces: &[(EngineName, EnginePace)]) -> RunCounts {
        let done = paces.iter().map(|(_, pace)| pace.done).sum();
        let paces = paces.iter().copied().collect();
        RunCounts { runs: 20, done, paces, tests_of_engine: 10, ..RunCounts::default() }
    }

    #[test]
    fn each_engine_goes_on_at_its_own_pace() {
        use EngineName::{Sequential, Vulkan};
        let left = |paces: &[(EngineName, EnginePace)]| counts(paces).seconds_left();
        assert_eq!(left(&[]), None);
        assert_eq!(left(&[(Sequential, pace(0, 0.0))]), None);
        // Five more like these, and ten on an engine of which nothing is known.
        assert_eq!(left(&[(Sequential, pace(5, 10.0))]), Some(30.0));
        // Fast ones before do not make the slow ones that are left faster.
        let paces = [(Sequential, pace(10, 10.0)), (Vulkan, pace(2, 20.0))];
        assert_eq!(left(&paces), Some(80.0));
        assert_eq!(left(&[(Sequential, pace(10, 10.0)), (Vulkan, pace(10, 90.0))]), Some(0.0));
    }
}
