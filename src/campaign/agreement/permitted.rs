//! Outputs of two engines: where they differ, and whether the specification permits it.
//!
//! Knows: the scalars and texels that differ (`blocks`), and what runs of the
//! sequential engine leave that differ from its ordinary one within the specification's error
//! bounds (`sequential::Variation`).
//! Promises: a float is permitted only between results of such runs, the ordinary one included,
//! that came to it by the same decisions (`SequentialRun::paths`): a result on either side of a
//! branch permits nothing in between. Any other scalar is permitted only where one of the runs left
//! just that. Nothing is permitted for being near.
//! Does not cover: which differences a test's own tolerance allows (the caller leaves them out);
//! whether a value outside is wrong: the runs are samples of what is permitted.

mod blocks;
#[cfg(test)]
mod tests;

pub use blocks::BoundBlocks;

use vkcert_exec::BufferContents;
use vkcert_oracle::difference::{ScalarDifference, ValueBasis, ZeroSigns};
use vkcert_sequential::{ChanceTrial, Variation};
use vkcert_spirv::precision::PermittedRounding;

/// What it took to settle a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VariationTrial {
    /// Runs that departed from the ordinary one and completed.
    pub runs: u32,
    /// Whether one of them rounded sums and products other than to the nearest.
    pub rounding: PermittedRounding,
}

/// Final contents of a job's buffers, and by 32-bit word the decisions on the way to them.
pub struct VariedOutputs {
    /// Contents by index of the job's buffers.
    pub buffers: Vec<BufferContents>,
    /// By buffer, then by 32-bit word: a hash of the decisions on the way to what it holds.
    pub paths: Vec<Vec<u64>>,
}

/// Finds what of the differences comes from undefined values: the bits that runs of the job in
/// which these are others leave otherwise. `run` gives the outputs of a run that completed. Where
/// an integer differs in further bits, more runs are made by chance.
pub fn find_undefined(
    scalar_differences: &mut [ScalarDifference],
    mut run: impl FnMut(Variation) -> Option<VariedOutputs>,
) {
    for variation in Variation::OF_UNDEFINED {
        if scalar_differences.iter().all(ScalarDifference::is_undefined) {
            return;
        }
        note_undefined_bits(scalar_differences, run(*variation));
    }
    let is_partly_undefined = |scalar_difference: &ScalarDifference| {
        scalar_difference.basis != ValueBasis::Defined && !scalar_difference.is_undefined()
    };
    Variation::try_by_chance(|variation| {
        if !scalar_differences.iter().any(is_partly_undefined) {
            return ChanceTrial::NotNeeded;
        }
        let bits_before: Vec<u64> =
            scalar_differences.iter().map(ScalarDifference::beyond_undefined).collect();
        note_undefined_bits(scalar_differences, run(variation));
        match scalar_differences.iter().map(ScalarDifference::beyond_undefined).eq(bits_before) {
            true => ChanceTrial::Idle,
            false => ChanceTrial::Settled,
        }
    });
}

fn note_undefined_bits(
    scalar_differences: &mut [ScalarDifference],
    outputs: Option<VariedOutputs>,
) {
    let Some(outputs) = outputs else { return };
    for difference in scalar_differences {
        let bytes =
            outputs.buffers.get(difference.buffer).map_or(&[][..], |bytes| bytes.as_slice());
        if let Some(left) = difference.bits_in(bytes) {
            difference.note_undefined_variation(left);
        }
    }
}

/// Widens what is permitted for each difference by runs of the job, until all are permitted or no
/// variation is left. `run` gives the outputs of a run that completed. The ordinary run comes first
/// and is not counted.
pub fn permit_by_variations(
    scalar_differences: &mut [ScalarDifference],
    zeros: ZeroSigns,
    variations: &[Variation],
    mut run: impl FnMut(Variation) -> Option<VariedOutputs>,
) -> VariationTrial {
    let mut trial = VariationTrial { runs: 0, rounding: PermittedRounding::Nearest };
    let ordinary_outputs = run(Variation::NONE);
    for difference in scalar_differences.iter_mut() {
        let path = ordinary_outputs.as_ref().map_or(0, |outputs| outputs.control_trace(difference));
        difference.permit_result(difference.ours, path);
    }
    for variation in variations {
        if scalar_differences.iter().all(|difference| difference.device_value_is_permitted(zeros)) {
            break;
        }
        let Some(outputs) = run(*variation) else { continue };
        trial.runs += 1;
        trial.rounding = trial.rounding.max(variation.rounding);
        for difference in scalar_differences.iter_mut() {
            let bytes =
                outputs.buffers.get(difference.buffer).map_or(&[][..], |bytes| bytes.as_slice());
            if let Some(bits) = difference.bits_in(bytes) {
                difference.permit_result(bits, outputs.control_trace(difference));
            }
        }
    }
    trial
}

impl VariedOutputs {
    fn control_trace(&self, scalar_difference: &ScalarDifference) -> u64 {
        let paths = self.paths.get(scalar_difference.buffer);
        paths
            .and_then(|paths| paths.get(scalar_difference.offset as usize / 4))
            .copied()
            .unwrap_or(0)
    }
}
