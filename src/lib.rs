//! `vkcert`: a certification toolkit for Vulkan/GLSL compute kernels.
//!
//! See `ARCHITECTURE.md` for the layers; data flows from the top of this list to its bottom, and a module uses only
//! what stands above it.

pub mod model;

pub mod requirement;

pub mod glsl;

pub mod spirv;

pub mod instrument;

pub mod exec;

pub mod coverage;

pub mod coupling;

pub mod report;

pub mod cli;
