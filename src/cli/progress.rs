//! The progress of a campaign while it runs: a bar on a terminal, and with `-v` a line per test.
//!
//! Promises: nothing is written to standard output or to evidence. Without a terminal there is no
//! bar.

use super::args::Common;
use super::failure::Failure;
use crate::campaign::display::{Display, RunTest};
use crate::campaign::test_run::TestRun;
use crate::exec::repeat::Results;
use crate::exec::{Counts, ExecError, Executor, Job, Observer, RunRequest};
use crate::model::id::TestId;
use crate::model::schedule::Extent;
use crate::model::verdict::EngineName;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
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
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}")
            .expect("the template is well-formed");
        let bar = ProgressBar::with_draw_target(Some(0), target).with_style(style);
        Self { bar, verbose: common.verbose > 0 }
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
        if let Ok(test_run) = &test_run
            && self.verbose
        {
            let seconds = start_time.elapsed().as_secs_f64();
            let line =
                format!("{test} on {}: {} in {seconds:.2} s", test_run.engine, test_run.verdict);
            self.bar.suspend(|| super::output::print_to_stderr(format_args!("{line}\n")));
        }
        self.bar.inc(1);
        test_run
    }

    fn end(&self) {
        self.bar.finish_and_clear();
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
