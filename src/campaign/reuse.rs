//! The cache of a campaign with the engines that use it.
//!
//! Knows: every setting and identity of an engine that a result can depend on. Promises: a campaign
//! with a cache comes to the same evidence as one without.

use super::engines::{DeviceEngine, Engines};
use std::collections::BTreeMap;
use std::sync::Arc;
use vkcert_cache::{CachedExecutor, EngineSetup, RunCache};
use vkcert_exec::Executor;
use vkcert_model::verdict::EngineName;
use vkcert_sequential::Settings;

/// What the engines of a campaign look into before they run.
#[derive(Debug, Clone)]
pub struct CampaignCache {
    runs: Arc<RunCache>,
    setups: BTreeMap<EngineName, EngineSetup>,
}

impl CampaignCache {
    /// For these engines.
    pub fn new(runs: Arc<RunCache>, engines: &Engines) -> Self {
        let mut setups = BTreeMap::new();
        let mut add_setup = |engine_name: EngineName, settings: &BTreeMap<String, String>| {
            setups.insert(engine_name, EngineSetup::new(runs.program(), engine_name, settings));
        };
        if engines.sequential {
            let settings = sequential_settings(engines.sequential().settings);
            add_setup(EngineName::Sequential, &settings);
        }
        match &engines.vulkan {
            DeviceEngine::Ready(executor) => {
                add_setup(EngineName::Vulkan, &executor.result_settings());
            }
            DeviceEngine::NotRun { .. } | DeviceEngine::NotAsked => {}
        }
        Self { runs, setups }
    }

    /// The cache itself.
    pub fn runs(&self) -> &RunCache {
        &self.runs
    }

    /// Every engine with digits that stand for its program, settings, device and driver.
    pub fn setups_in_words(&self) -> String {
        let row = |(engine_name, setup): (&EngineName, &EngineSetup)| {
            format!("{engine_name} {}", setup.digits())
        };
        self.setups.iter().map(row).collect::<Vec<_>>().join(", ")
    }
}

/// Does something with an engine, or with one that looks into a cache before it runs.
pub fn with_cache<R>(
    cache: Option<&CampaignCache>,
    engine: &mut dyn Executor,
    run: impl FnOnce(&mut dyn Executor) -> R,
) -> R {
    let setup = cache.and_then(|cache| Some((&cache.runs, cache.setups.get(&engine.name())?)));
    match setup {
        Some((runs, setup)) => run(&mut CachedExecutor::new(engine, runs, setup)),
        None => run(engine),
    }
}

/// Every setting of the sequential engine but one that no result depends on.
fn sequential_settings(settings: Settings) -> BTreeMap<String, String> {
    let Settings {
        tile_width,
        subgroup_size,
        memory_model,
        jobs: _,
        following,
        variation,
        time_limit,
        race_scope,
    } = settings;
    let rows = [
        ("tile width", tile_width.to_string()),
        ("subgroup size", subgroup_size.to_string()),
        ("memory model", format!("{memory_model:?}")),
        ("following", format!("{following:?}")),
        ("variation", format!("{variation:?}")),
        ("time limit", format!("{time_limit:?}")),
        ("race scope", format!("{race_scope:?}")),
    ];
    rows.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
