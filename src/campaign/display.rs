//! What is shown of a campaign while it runs, for whoever runs it to say.

use super::CampaignError;
use super::test_run::TestRun;
use vkcert_exec::Executor;
use vkcert_model::id::TestId;

/// One run of a test on the engine that it is given.
pub type RunTest<'a> = dyn FnMut(&mut dyn Executor) -> Result<TestRun, CampaignError> + 'a;

/// Is told of each test, from several threads.
pub trait Display: Sync {
    /// Before anything runs. `runs`: tests, once for each engine.
    fn begin(&self, runs: usize);

    /// Carries out one run, once, on `engine` or on something that passes everything on to it.
    fn carry_out(
        &self,
        test: &TestId,
        engine: &mut dyn Executor,
        run: &mut RunTest<'_>,
    ) -> Result<TestRun, CampaignError>;

    /// After the last one.
    fn end(&self);

    /// Then, where the run has ended before so many runs of tests had begun.
    fn tell_early_end(&self, reason: &str, not_begun: usize);
}

/// Shows nothing.
pub struct Unseen;

impl Display for Unseen {
    fn begin(&self, _: usize) {}

    fn carry_out(
        &self,
        _: &TestId,
        executor: &mut dyn Executor,
        run: &mut RunTest<'_>,
    ) -> Result<TestRun, CampaignError> {
        run(executor)
    }

    fn end(&self) {}

    fn tell_early_end(&self, _: &str, _: usize) {}
}
