//! An engine that looks into a cache before it runs.
//!
//! Promises: what it answers is what the engine would have answered, and what it answered once is
//! kept where it may be. Findings of kept results are told to the observer like those of a run.

use super::key::{CacheKey, EngineSetup};
use super::run_cache::{Bundle, RunCache};
use super::stored_run::{EngineResults, can_be_kept};
use std::collections::BTreeSet;
use vkcert_exec::repeat::Results;
use vkcert_exec::{Counts, ExecError, Executor, Job, Observer, Run, RunRequest};
use vkcert_model::invocations::InvocationRecords;
use vkcert_model::schedule::Extent;
use vkcert_model::verdict::EngineName;

/// The engine of one test. What is new of it is written when this is dropped.
pub struct CachedExecutor<'e> {
    engine: &'e mut dyn Executor,
    cache: &'e RunCache,
    setup: &'e EngineSetup,
    /// Named by the first run that was asked for.
    bundle: Option<(CacheKey, Bundle)>,
}

impl<'e> CachedExecutor<'e> {
    /// `setup`: of `engine`.
    pub fn new(engine: &'e mut dyn Executor, cache: &'e RunCache, setup: &'e EngineSetup) -> Self {
        Self { engine, cache, setup, bundle: None }
    }
}

impl Drop for CachedExecutor<'_> {
    fn drop(&mut self) {
        if let Some((first_run, bundle)) = &self.bundle {
            self.cache.save_bundle(first_run, bundle);
        }
    }
}

impl Executor for CachedExecutor<'_> {
    fn name(&self) -> EngineName {
        self.engine.name()
    }

    fn execute(
        &mut self,
        request: &RunRequest<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(Results, Counts), ExecError> {
        let Ok(key) = self.setup.key_of(request) else {
            return self.engine.execute(request, observer);
        };
        let (_, bundle) = self.bundle.get_or_insert_with(|| (key, self.cache.load_bundle(&key)));
        if let Some(EngineResults { results, counts }) = self.cache.take(bundle, &key)
            && let Some(results) = Results::from_parts(results)
        {
            results.findings().iter().for_each(|finding| observer.finding(finding));
            return Ok((results, counts));
        }
        let (results, counts) = self.engine.execute(request, observer)?;
        let is_kept = can_be_kept(&results);
        let engine_results = EngineResults { results: results.into_parts(), counts };
        let name = request.job.name.as_str();
        self.cache.keep(bundle, (key, name), is_kept.then_some(&engine_results));
        let EngineResults { results, counts } = engine_results;
        let results = Results::from_parts(results).expect("these are the parts of results");
        Ok((results, counts))
    }

    fn run_by_invocation(
        &mut self,
        request: &RunRequest<'_>,
        bits: &BTreeSet<u32>,
    ) -> Result<(Run, InvocationRecords), ExecError> {
        self.engine.run_by_invocation(request, bits)
    }

    fn extents(&mut self, job: &Job) -> Result<Option<Vec<Extent>>, ExecError> {
        self.engine.extents(job)
    }
}
