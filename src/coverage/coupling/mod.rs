//! Coverage of coupling: which pairs of a definition and a use on different sides tests have shown.
//!
//! Knows: the pairs that a kernel can have, with their places, as they were told before any test
//! ran (`LocatedPair`), and those that runs showed (`AccessPair`).
//! Promises: every pair is part of one obligation (`obligations`), and every obligation is covered,
//! uncovered or undetermined (`assess`). A pair that a run shows and no obligation has makes an
//! undetermined row of its own (`finder`). Every row is counted in one class (`classes`).
//! Does not cover: how pairs are told (`spirv::pairs`) and shown (`exec`); justifications
//! (`justification`).

mod assess;
mod classes;
mod finder;
mod kernel;
mod obligations;
mod side;
#[cfg(test)]
mod tests;

pub use assess::{
    CouplingSubject, DEVICE_KEEPS_NO_PAIRS, PairRecords, assess_coupling, executed_pairs,
};
pub use classes::{class_summaries, class_sums};
pub use finder::{indices_of_pairs, pairs_outside};
pub use kernel::{UNKNOWN_PAIRS, assess_kernel_pairs};
pub use obligations::{LocatedBarrier, LocatedPair, pair_obligations};
pub use side::SideStructures;
