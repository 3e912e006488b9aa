//! `vkcert`: a certification toolkit for Vulkan/GLSL compute kernels.
//!
//! Every layer is a crate of its own (`ARCHITECTURE.md` tells the order); this one names them all
//! and adds the command line.

pub use vkcert_cache as cache;
pub use vkcert_campaign as campaign;
pub use vkcert_coupling as coupling;
pub use vkcert_coverage as coverage;
use vkcert_crash as crash;
pub use vkcert_derivation as derivation;
pub use vkcert_dissimilar as dissimilar;
pub use vkcert_glsl as glsl;
pub use vkcert_instrument as instrument;
pub use vkcert_model as model;
pub use vkcert_oracle as oracle;
pub use vkcert_report as report;
pub use vkcert_requirement as requirement;
pub use vkcert_spirv as spirv;
pub use vkcert_verification as verify;

/// Jobs and the engines that run them.
pub mod exec {
    pub use vkcert_exec::*;
    pub use {vkcert_sequential as sequential, vkcert_vulkan as vulkan};
}

pub mod cli;
