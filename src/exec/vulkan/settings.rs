//! How the engine runs: which worker, which layers and versions, how long each phase may take.

use super::robustness::Robustness;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// The hidden subcommand that a worker is started with.
pub const WORKER_COMMAND: &str = "__vulkan-worker";

/// Whether VK_LAYER_KHRONOS_validation is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum ValidationLayers {
    /// Where it is installed; the identity says whether it is.
    #[default]
    On,
    /// It is not.
    Off,
}

/// Where the loops of kernels are counted on a device that ends them by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum LoopCounting {
    /// In a run ahead of the kernel's own.
    #[default]
    Ahead,
    /// In the run whose results are kept: half the pipelines and half the runs, of a module that is the kernel's but
    /// for the counter.
    Within,
}

/// How the engine runs.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The vkcert program; started with [`WORKER_COMMAND`].
    pub worker: PathBuf,
    /// Whether the validation layer is loaded.
    pub validation: ValidationLayers,
    /// Which robustness features are asked for.
    pub robustness: Robustness,
    /// The newest API version to use, major and minor; none: the newest that this engine knows. For
    /// tests of older versions.
    pub api_limit: Option<(u32, u32)>,
    /// Until a fresh worker has passed its canary dispatch.
    pub start: Duration,
    /// For checking and compiling a job's pipelines, and again for reading results back.
    pub preparation: Duration,
    /// Bytes of memory that a worker may take beside eight times a job's `memory_bytes`; more ends
    /// it.
    pub memory: u64,
    /// Where loops are counted.
    pub loop_counting: LoopCounting,
    /// Added to the worker's environment.
    pub environment: BTreeMap<String, String>,
}

impl Settings {
    /// Settings as they are where nothing is asked for; `worker` is the vkcert program.
    pub fn new(worker: impl Into<PathBuf>) -> Self {
        Self {
            worker: worker.into(),
            validation: ValidationLayers::default(),
            robustness: Robustness::default(),
            api_limit: None,
            start: Duration::from_secs(60),
            preparation: Duration::from_secs(60),
            memory: 4 << 30,
            loop_counting: LoopCounting::default(),
            environment: BTreeMap::new(),
        }
    }
}
