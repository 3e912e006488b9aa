//! `vkcert`: a certification toolkit for Vulkan/GLSL compute kernels.
//!
//! See `ARCHITECTURE.md` for the layers; data flows from the top of this list to its bottom, and a module uses only
//! what stands above it.

#![cfg_attr(not(feature = "compiler"), allow(dead_code))]

#[cfg(feature = "compiler")]
mod crash;

pub mod model;

#[cfg(feature = "compiler")]
pub mod oracle;

#[cfg(feature = "compiler")]
pub mod requirement;

pub mod glsl;

#[cfg(feature = "compiler")]
pub mod spirv;

#[cfg(feature = "compiler")]
pub mod instrument;

#[cfg(feature = "compiler")]
pub mod exec;

#[cfg(feature = "compiler")]
pub mod coverage;

#[cfg(feature = "compiler")]
pub mod coupling;

#[cfg(feature = "compiler")]
pub mod dissimilar;

#[cfg(feature = "compiler")]
pub mod report;

#[cfg(feature = "compiler")]
pub mod campaign;

#[cfg(feature = "compiler")]
pub mod cli;
