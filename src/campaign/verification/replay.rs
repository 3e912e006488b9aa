//! `vkcert verify --replay`: the tests of stored evidence, run again on the sequential engine.
//!
//! Promises: settings are those that the evidence names: memory model, subgroup size, schedule,
//! repetitions, orders asked for.
//! Does not cover: devices, and limits that the command line had set.

use super::RebuiltProject;
use crate::CampaignError;
use crate::engines::{EngineSettings, Engines};
use crate::test_execution;
use crate::test_run::{PreparedTest, TestRun};
use rayon::prelude::*;
use std::num::NonZeroU32;
use vkcert_model::evidence::{Evidence, TestResult};
use vkcert_model::schedule::Schedules;
use vkcert_model::verdict::EngineName;
use vkcert_sequential::SequentialExecutor;

/// The results of the sequential engine, in order of the tests.
fn sequential_results(stored_evidence: &Evidence) -> impl Iterator<Item = &TestResult> {
    let results = stored_evidence.campaign.tests.iter().flat_map(|test| &test.results);
    results.filter(|result| result.engine == EngineName::Sequential)
}

/// The other orders that tests ran in.
pub(super) fn stored_schedules(stored_evidence: &Evidence) -> Schedules {
    let schedules_asked =
        sequential_results(stored_evidence).find_map(|result| result.schedules.as_ref());
    schedules_asked.map_or_else(Schedules::default, |schedules_asked| Schedules {
        count: schedules_asked.asked,
        seed: schedules_asked.seed,
    })
}

/// Runs every test once more; gives the engine that did.
pub(super) fn run_again(
    stored_evidence: &Evidence,
    rebuilt: &RebuiltProject,
    prepared_tests: &[PreparedTest],
) -> Result<(Vec<TestRun>, SequentialExecutor), CampaignError> {
    let settings = EngineSettings {
        memory_model: rebuilt.project().settings.value.memory_model,
        replay: sequential_results(stored_evidence).find_map(|result| result.schedule),
        ..EngineSettings::default()
    };
    let identity =
        stored_evidence.campaign.engines.iter().find(|row| row.engine == EngineName::Sequential);
    let size = identity.and_then(|row| row.identity.get("subgroup size")?.parse().ok());
    let engines = Engines::sequential_alone(settings, size);
    let most_repetitions =
        sequential_results(stored_evidence).map(|result| result.repetitions).max().unwrap_or(1);
    let repetitions = NonZeroU32::new(most_repetitions).unwrap_or(NonZeroU32::MIN);
    let fresh_engine = engines.sequential();
    let runs = prepared_tests
        .par_iter()
        .with_max_len(1)
        .map(|test| test_execution::run_test(test, &mut fresh_engine.clone(), repetitions));
    Ok((runs.collect::<Result<_, _>>()?, fresh_engine))
}
