//! The Vulkan engine: runs jobs on a device, in a child process.
//!
//! Knows: how a job travels to the worker, how long each phase may take, what the loss of a worker
//! means for the job.
//! Promises: one job never costs another: after a time-out, a crash, nonsense or a lost device the
//! worker is replaced, and a fresh one has passed a canary dispatch before it gets a job. What the
//! device lacks is `Unsupported` by name before anything runs. Same job, same device: same bytes,
//! records and findings. A kernel that the driver cuts off in a loop does not pass as completed.
//! Does not cover: multisampled and sparse images (`Unsupported` by name); which invocation set a
//! record bit first unless the module records witnesses; out-of-bounds accesses that neither the
//! validation layer nor a guard zone sees. See `docs/vulkan-engine.md`.
//!
//! Only this folder names `ash`. Each `unsafe` block states why it holds.

mod address;
mod canary;
mod capability;

mod commands;
mod conversation;
mod describe;
mod descriptors;
mod device;
mod executor;
mod fault;
mod features;
mod fit;
mod fit_limits;
mod frame;
mod identification;
mod identity;
mod image;
mod image_fit;
mod instance;
mod kept;
mod loop_count;
mod memory;
mod messages;
mod newer;
mod older;
mod pass;
mod pipeline;
mod pipeline_cache;
pub mod pool;
mod process;
mod protocol;
mod queue;
mod records;
mod resources;
mod robustness;
mod sampler;
mod session;
mod settings;
mod shape;
mod stop;
mod system;
mod version;
mod view;
mod watch;
mod wire;
mod worker;

pub use executor::{Measurement, VulkanExecutor};
pub use identification::devices;
pub use identity::{DeviceChoice, DeviceIdentity, DeviceLimits, NoVulkan};
/// The form in which a device that cuts loops off runs a module first: public so that it can be
/// inspected.
pub use loop_count::count_loops as loop_counting_form;
pub use pipeline_cache::user_cache_folder;
pub use protocol::WireTime as RunTime;
pub use robustness::Robustness;
pub use settings::{LoopCounting, Settings, ValidationLayers, WORKER_COMMAND};
pub use worker::worker_main;

/// The environment variable by which tests make a worker misbehave: `abort`, `panic`, `garbage`,
/// `hang`, `flood`, `truncate`, `hang-exit`, `allocate`, `guard`, `stray`, `waver`, `waver-records`
/// or `canary`, each with `@TEST` for one job only, several with commas between them.
pub const WORKER_FAULT: &str = fault::VARIABLE;

/// The environment variable by which the Vulkan loader is asked to say what it refuses, and why.
/// Set in [`Settings::environment`], its errors and warnings become part of the reason why there is
/// no device.
pub const LOADER_DEBUG: &str = "VK_LOADER_DEBUG";

/// The environment variable that, set to `off`, keeps workers from reading and writing a pipeline
/// cache. Without it the cache lies in `$XDG_CACHE_HOME/vkcert` or `~/.cache/vkcert`; a user with
/// neither has none.
pub const PIPELINE_CACHE: &str = pipeline_cache::VARIABLE;
