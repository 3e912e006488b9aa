//! Image instructions on the machine.

pub(crate) mod access;
mod cube;
mod filter;
pub(crate) mod sampling;
pub(crate) mod texel;
pub(crate) mod workspace;
