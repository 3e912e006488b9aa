//! Coverage of coupling: which pairs of a definition and a use on different sides tests have shown.
//!
//! Knows: the pairs that a kernel can have, with their places, as they were told before any test
//! ran (`LocatedPair`), and those that runs showed (`AccessPair`).
//! Promises: every pair is part of one obligation (`obligations`), and every obligation is covered,
//! uncovered or undetermined (`assess`). A pair that a run shows and no obligation has makes an
//! undetermined row of its own.
//! Does not cover: how pairs are told (`spirv::pairs`) and shown (`exec`); justifications
//! (`justification`).

mod assess;
mod kernel;
mod obligations;
#[cfg(test)]
mod tests;

pub use assess::{
    ClassSummary, CouplingSubject, DEVICE_KEEPS_NO_PAIRS, EarlierDispatches, PairRecords,
    assess_coupling, class_summaries, executed_pairs,
};
pub use kernel::{assess_kernel_pairs, indices_outside};
pub use obligations::{LocatedBarrier, LocatedPair, pair_obligations};
