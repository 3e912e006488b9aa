//! What a person sees of a campaign while it runs: a bar on a terminal, and with `-v` a line per
//! test.
//!
//! Promises: nothing goes to standard output, and nothing of it to evidence. Without a terminal
//! there is no bar.

use super::args::Common;
use super::failure::Failure;
use crate::campaign::display::{Display, RunTest};
use crate::campaign::test_run::TestRun;
use crate::exec::repeat::Results;
use crate::exec::schedule::Following;
use crate::exec::{Counts, ExecError, Executor, Job, Observer, Run};
use crate::model::id::TestId;
use crate::model::schedule::Extent;
use crate::model::verdict::EngineName;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

/// Between two messages of one test.
const MESSAGE_INTERVAL: Duration = Duration::from_millis(200);

/// The display of a campaign.
pub(super) struct Progress {
    bar: ProgressBar,
    verbose: bool,
}

impl Progress {
    pub(super) fn new(common: &Common) -> Self {
        let target =
            if common.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}")
            .expect("the template is well-formed");
        let bar = ProgressBar::with_draw_target(Some(0), target).with_style(style);
        Self { bar, verbose: common.verbose > 0 }
    }
}

impl Display for Progress {
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
        let started = Instant::now();
        let mut watched = Watched { engine, bar: &self.bar, test };
        let ended = run(&mut watched);
        if let Ok(ended) = &ended
            && self.verbose
        {
            let seconds = started.elapsed().as_secs_f64();
            let line = format!("{test} on {}: {} in {seconds:.2} s", ended.engine, ended.verdict);
            self.bar.suspend(|| super::output::tell(format_args!("{line}\n")));
        }
        self.bar.inc(1);
        ended
    }

    fn end(&self) {
        self.bar.finish_and_clear();
    }
}

/// An engine whose finished workgroups are shown.
struct Watched<'a> {
    engine: &'a mut dyn Executor,
    bar: &'a ProgressBar,
    test: &'a TestId,
}

impl<'a> Watched<'a> {
    fn display(&self, job: &Job) -> Workgroups<'a> {
        let of_dispatch = |groups: [u32; 3]| groups.map(u64::from).iter().product::<u64>();
        let total = job.dispatches.iter().map(|dispatch| of_dispatch(dispatch.groups)).sum();
        Workgroups {
            bar: self.bar.clone(),
            test: self.test,
            completed: 0,
            total,
            told: Instant::now(),
        }
    }
}

impl Executor for Watched<'_> {
    fn name(&self) -> EngineName {
        self.engine.name()
    }

    fn run(&mut self, job: &Job, _: &mut dyn Observer) -> Result<Run, ExecError> {
        let mut display = self.display(job);
        self.engine.run(job, &mut display)
    }

    fn run_counting(
        &mut self,
        job: &Job,
        _: &mut dyn Observer,
    ) -> Result<(Run, Counts), ExecError> {
        let mut display = self.display(job);
        self.engine.run_counting(job, &mut display)
    }

    fn extents(&mut self, job: &Job) -> Result<Option<Vec<Extent>>, ExecError> {
        self.engine.extents(job)
    }

    fn follow(&mut self, following: Following) {
        self.engine.follow(following);
    }

    fn run_repeatedly(
        &mut self,
        job: &Job,
        repetitions: NonZeroU32,
        _: &mut dyn Observer,
    ) -> Result<(Results, Counts), ExecError> {
        let mut display = self.display(job);
        self.engine.run_repeatedly(job, repetitions, &mut display)
    }
}

/// Counts the workgroups of a job, and now and then shows the number.
struct Workgroups<'a> {
    bar: ProgressBar,
    test: &'a TestId,
    completed: u64,
    total: u64,
    told: Instant,
}

impl Observer for Workgroups<'_> {
    fn workgroup_completed(&mut self, _: [u32; 3]) {
        self.completed += 1;
        if self.told.elapsed() >= MESSAGE_INTERVAL {
            self.told = Instant::now();
            self.bar.set_message(format!(
                "{}: workgroup {} of {}",
                self.test, self.completed, self.total
            ));
        }
    }
}
