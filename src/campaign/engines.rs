//! The engines of a run: what was asked for, and what is there.

use super::plan::{EngineChoice, EngineRequest, RunPlan};
use super::reuse::CampaignCache;
use crate::CampaignError;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;
use vkcert_exec::schedule::Following;
use vkcert_exec::{DeviceAbsence, ExecError};
use vkcert_model::evidence::EngineIdentity;
use vkcert_model::project;
use vkcert_model::schedule::{Schedule, Turns};
use vkcert_model::validation_layer::ValidationLayer;
use vkcert_model::verdict::EngineName;
use vkcert_sequential::{Jobs, SequentialExecutor};
use vkcert_vulkan::{DeviceChoice, Robustness, Settings, ValidationLayers, VulkanExecutor};

/// How engines are set up, from the project.
#[derive(Debug, Clone, Copy, Default)]
pub struct EngineSettings {
    /// What orders memory on the sequential engine.
    pub memory_model: project::MemoryModel,
    /// Whether the validation layers are used.
    pub validation: project::ValidationLayers,
    /// What becomes of accesses outside of buffers on a device.
    pub robustness: project::Robustness,
    /// How often tests run on each engine; none: as engines have it.
    pub repeat: Option<NonZeroU32>,
    /// The schedule that tests run in; none: the ordinary one.
    pub replay: Option<Schedule>,
}

/// The command that installs a software device on Debian and Ubuntu.
pub const INSTALL_DEVICE: &str =
    "sudo apt-get install libvulkan1 mesa-vulkan-drivers vulkan-validationlayers";

/// The Vulkan engine of a run.
pub enum DeviceEngine {
    /// A device was opened.
    Ready(Box<VulkanExecutor>),
    /// No device runs, though one was asked for or would have been taken.
    NotRun {
        /// Why.
        reason: String,
    },
    /// No device was asked for.
    NotAsked,
}

/// What runs.
pub struct Engines {
    /// Whether the sequential engine runs.
    pub sequential: bool,
    /// The Vulkan engine.
    pub vulkan: DeviceEngine,
    settings: EngineSettings,
    /// Invocations of a subgroup on the sequential engine: a device's where one is there, so that
    /// results can be compared.
    subgroup_size: u32,
    /// What is looked into before anything runs; none: everything runs.
    pub cache: Option<CampaignCache>,
    /// Workers for the workgroups of one dispatch.
    jobs: Jobs,
    /// Wall-clock time that a run on the sequential engine may take, where the command line says
    /// one.
    time_limit: Option<Duration>,
}

impl Engines {
    /// Opens what the plan asks for; an engine that was asked for explicitly and is not there is a
    /// failure. `project` names the engines that the project itself asks for.
    pub fn open(
        run_plan: &RunPlan,
        project: Option<&[EngineName]>,
        settings: EngineSettings,
    ) -> Result<Self, CampaignError> {
        let is_asked = |engine_name: EngineName| match run_plan.engines {
            EngineRequest::Explicit(choice) => choice.includes(engine_name),
            EngineRequest::WhatIsThere => {
                project.is_none_or(|engines| engines.contains(&engine_name))
            }
        };
        let is_demanded = match run_plan.engines {
            EngineRequest::Explicit(choice) => choice != EngineChoice::Sequential,
            EngineRequest::WhatIsThere => {
                project.is_some_and(|engines| engines.contains(&EngineName::Vulkan))
            }
        };
        let vulkan = if is_asked(EngineName::Vulkan) {
            open_vulkan(run_plan, settings, is_demanded)?
        } else {
            DeviceEngine::NotAsked
        };
        let subgroup_size = subgroup_size(&vulkan);
        let vulkan = match (vulkan, settings.replay.and_then(not_followed)) {
            (DeviceEngine::Ready(_), Some(reason)) if is_asked(EngineName::Sequential) => {
                DeviceEngine::NotRun { reason }
            }
            (DeviceEngine::Ready(_), Some(reason)) => {
                let message = format!("the vulkan engine was asked for: {reason}");
                return Err(CampaignError::Unavailable {
                    message,
                    hint: Some("use `--engine sequential`".to_owned()),
                });
            }
            (vulkan, _) => vulkan,
        };
        let jobs = if run_plan.jobs > 1 { Jobs::Most(run_plan.jobs) } else { Jobs::One };
        Ok(Self {
            sequential: is_asked(EngineName::Sequential),
            vulkan,
            settings,
            subgroup_size,
            cache: None,
            jobs,
            time_limit: run_plan.time_limit(),
        })
    }

    /// The sequential engine alone, with subgroups of a size where one is given that they can have.
    pub fn sequential_alone(settings: EngineSettings, subgroup_size: Option<u32>) -> Self {
        let subgroup_size =
            subgroup_size.filter(|size| size.is_power_of_two() && *size <= 128).unwrap_or(32);
        Self {
            sequential: true,
            vulkan: DeviceEngine::NotAsked,
            settings,
            subgroup_size,
            cache: None,
            jobs: Jobs::One,
            time_limit: None,
        }
    }

    /// A sequential engine of this run; called in a pool of rayon, its dispatches go to the pool's
    /// workers.
    pub fn sequential(&self) -> SequentialExecutor {
        let mut engine = SequentialExecutor::default();
        engine.settings.jobs = self.jobs;
        engine.settings.time_limit = self.time_limit;
        engine.settings.subgroup_size = self.subgroup_size;
        engine.settings.following = Following::from(self.settings.replay.unwrap_or_default());
        engine.settings.memory_model = self.settings.memory_model;
        engine
    }

    /// How often each test runs on an engine.
    pub fn repetitions(&self, engine_name: EngineName) -> NonZeroU32 {
        self.settings.repeat.unwrap_or(engine_name.default_repetitions())
    }

    /// Who ran, for evidence.
    pub fn identities(&self) -> Vec<EngineIdentity> {
        let mut identities = Vec::new();
        if self.sequential {
            let mut engine_identity = BTreeMap::from([
                ("memory model".to_owned(), self.settings.memory_model.name().to_owned()),
                ("subgroup size".to_owned(), self.sequential().settings.subgroup_size.to_string()),
                ("tile width".to_owned(), self.sequential().settings.tile_width.to_string()),
                ("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            ]);
            engine_identity.extend(self.replayed_schedule());
            let engine = EngineName::Sequential;
            identities.push(EngineIdentity {
                engine,
                ran: true,
                reason: None,
                identity: engine_identity,
            });
        }
        let engine = EngineName::Vulkan;
        match &self.vulkan {
            DeviceEngine::Ready(executor) => {
                let mut engine_identity = executor.identity();
                engine_identity.extend(self.replayed_schedule());
                identities.push(EngineIdentity {
                    engine,
                    ran: true,
                    reason: None,
                    identity: engine_identity,
                });
            }
            DeviceEngine::NotRun { reason } => identities.push(EngineIdentity {
                engine,
                ran: false,
                reason: Some(reason.clone()),
                identity: BTreeMap::new(),
            }),
            DeviceEngine::NotAsked => {}
        }
        identities
    }

    /// The schedule of all tests, where it is not the ordinary one.
    fn replayed_schedule(&self) -> Option<(String, String)> {
        self.settings.replay.map(|schedule| ("schedule".to_owned(), schedule.to_string()))
    }

    /// What the device that is there has to note: how it departs from what was asked for.
    pub fn notes(&self) -> Vec<String> {
        match &self.vulkan {
            DeviceEngine::Ready(executor) => executor.notes().to_vec(),
            DeviceEngine::NotRun { .. } | DeviceEngine::NotAsked => Vec::new(),
        }
    }

    /// The engines that run, in order.
    pub fn names_of_engines(&self) -> Vec<EngineName> {
        let sequential = self.sequential.then_some(EngineName::Sequential);
        let vulkan = matches!(self.vulkan, DeviceEngine::Ready(_)).then_some(EngineName::Vulkan);
        sequential.into_iter().chain(vulkan).collect()
    }
}

/// Invocations of a subgroup for the sequential engine: a device's, where it can have them.
fn subgroup_size(vulkan: &DeviceEngine) -> u32 {
    match vulkan {
        DeviceEngine::Ready(executor) => {
            let size = executor.device().subgroup_size;
            if size.is_power_of_two() && size <= 128 { size } else { 32 }
        }
        DeviceEngine::NotRun { .. } | DeviceEngine::NotAsked => 32,
    }
}

/// Why no device follows a schedule.
fn not_followed(schedule: Schedule) -> Option<String> {
    let part = match (schedule.tiles, schedule.turns) {
        (None, Turns::AsReached) => return None,
        (Some(_), Turns::AsReached) => "the tiles",
        (_, Turns::WaitersFirst) => "the waiting",
    };
    Some(format!("no device follows {part} of the schedule `{schedule}`"))
}

/// This program's own file, which device processes are started with.
pub fn worker_program() -> Result<PathBuf, CampaignError> {
    let program = std::env::current_exe();
    program.map_err(|error| {
        CampaignError::tool(format!("this program's own file cannot be found: {error}"))
    })
}

/// The settings that device processes of this program are started with.
pub fn worker_settings() -> Result<Settings, CampaignError> {
    Ok(Settings::new(worker_program()?))
}

/// Why no device runs where no program is named to run it.
const NO_WORKER: &str = "no program is named that runs a device";

fn open_vulkan(
    run_plan: &RunPlan,
    settings: EngineSettings,
    is_demanded: bool,
) -> Result<DeviceEngine, CampaignError> {
    let unavailable_device = |message: String, hint: &str| CampaignError::Unavailable {
        message,
        hint: Some(hint.to_owned()),
    };
    let Some(program) = &run_plan.worker else {
        return match is_demanded {
            true => Err(unavailable_device(
                format!("the vulkan engine was asked for: {NO_WORKER}"),
                "name one in the plan",
            )),
            false => Ok(DeviceEngine::NotRun { reason: NO_WORKER.to_owned() }),
        };
    };
    let mut worker_settings = Settings::new(program.clone());
    worker_settings.validation = match settings.validation {
        project::ValidationLayers::On | project::ValidationLayers::Required => ValidationLayers::On,
        project::ValidationLayers::Off => ValidationLayers::Off,
    };
    worker_settings.robustness = match settings.robustness {
        project::Robustness::Off => Robustness::Off,
        project::Robustness::Basic => Robustness::Basic,
        project::Robustness::Strict => Robustness::Strict,
        project::Robustness::Best => Robustness::Best,
    };
    let device_choice = run_plan.device.as_deref().map_or(DeviceChoice::Best, DeviceChoice::parse);
    match VulkanExecutor::new(device_choice, worker_settings) {
        Ok(executor) => {
            let is_missing = executor.validation_layer() == ValidationLayer::NotInstalled;
            if settings.validation == project::ValidationLayers::Required && is_missing {
                let hint = "sudo apt-get install vulkan-validationlayers";
                return Err(unavailable_device(
                    "the project requires the validation layers, which are not installed"
                        .to_owned(),
                    hint,
                ));
            }
            Ok(DeviceEngine::Ready(Box::new(executor)))
        }
        Err(ExecError::NoDevice { reason, absence }) if is_demanded => {
            let hint = match absence {
                DeviceAbsence::NoneMatches => "`vkcert list devices`",
                DeviceAbsence::NoneUsable => INSTALL_DEVICE,
            };
            Err(unavailable_device(format!("the vulkan engine was asked for: {reason}"), hint))
        }
        Err(ExecError::NoDevice { reason, .. }) => Ok(DeviceEngine::NotRun { reason }),
        Err(error @ ExecError::Engine { .. }) => Err(CampaignError::tool(error.to_string())),
    }
}
