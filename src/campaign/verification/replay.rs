//! `vkcert verify --replay`: the tests of stored evidence, run again on the sequential engine.
//!
//! Promises: settings are those that the evidence names: memory model, subgroup size, schedule,
//! repetitions, orders asked for.
//! Does not cover: devices, and limits that the command line had set.

use super::Rebuilt;
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
fn results(stored: &Evidence) -> impl Iterator<Item = &TestResult> {
    let results = stored.campaign.tests.iter().flat_map(|test| &test.results);
    results.filter(|result| result.engine == EngineName::Sequential)
}

/// The other orders that tests ran in.
pub(super) fn schedules(stored: &Evidence) -> Schedules {
    let asked = results(stored).find_map(|result| result.schedules.as_ref());
    asked
        .map_or_else(Schedules::default, |asked| Schedules { count: asked.asked, seed: asked.seed })
}

/// Runs every test once more; gives the engine that did.
pub(super) fn run(
    stored: &Evidence,
    rebuilt: &Rebuilt,
    prepared: &[PreparedTest],
) -> Result<(Vec<TestRun>, SequentialExecutor), CampaignError> {
    let settings = EngineSettings {
        memory_model: rebuilt.project().settings.value.memory_model,
        replay: results(stored).find_map(|result| result.schedule),
        ..EngineSettings::default()
    };
    let identity = stored.campaign.engines.iter().find(|row| row.engine == EngineName::Sequential);
    let size = identity.and_then(|row| row.identity.get("subgroup size")?.parse().ok());
    let engines = Engines::sequential_alone(settings, size);
    let most = results(stored).map(|result| result.repetitions).max().unwrap_or(1);
    let repetitions = NonZeroU32::new(most).unwrap_or(NonZeroU32::MIN);
    let fresh = engines.sequential();
    let runs = prepared
        .par_iter()
        .map(|test| test_execution::run_test(test, &mut fresh.clone(), repetitions));
    Ok((runs.collect::<Result<_, _>>()?, fresh))
}
