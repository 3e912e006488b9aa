//! Image instructions on the machine.

pub mod access;
mod filter;
pub mod sampling;
pub mod texel;
pub mod workspace;
