//! The test oracle: whether what a test left is what it expects.
//!
//! Knows: scalars as bits, floating-point formats, texels, tolerances, records in any order, which
//! dispatches expectations judge. Promises: the same answers for a fresh run and for outputs that
//! evidence stores; sees the model alone.
//! Does not cover: what a test expects before its values are laid out (`exec::prepare`), runs.

pub mod compare;
pub mod comparison;
pub mod contents;
pub mod difference;
pub mod failable;
pub mod float;
pub mod judged;
pub mod matching;
pub mod scalar;
pub mod stored;
pub mod texel;
