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

pub use blocks::Blocks;

use vkcert_exec::BufferContents;
use vkcert_oracle::difference::{ScalarDifference, ValueBasis, ZeroSigns};
use vkcert_sequential::{ChanceTrial, Variation};
use vkcert_spirv::precision::PermittedRounding;

/// What it took to settle a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trial {
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
    differences: &mut [ScalarDifference],
    mut run: impl FnMut(Variation) -> Option<VariedOutputs>,
) {
    for variation in Variation::OF_UNDEFINED {
        if differences.iter().all(ScalarDifference::is_undefined) {
            return;
        }
        waver(differences, run(*variation));
    }
    let partly = |difference: &ScalarDifference| {
        difference.basis != ValueBasis::Defined && !difference.is_undefined()
    };
    Variation::try_by_chance(|variation| {
        if !differences.iter().any(partly) {
            return ChanceTrial::NotNeeded;
        }
        let before: Vec<u64> = differences.iter().map(ScalarDifference::beyond_undefined).collect();
        waver(differences, run(variation));
        match differences.iter().map(ScalarDifference::beyond_undefined).eq(before) {
            true => ChanceTrial::Idle,
            false => ChanceTrial::Settled,
        }
    });
}

fn waver(differences: &mut [ScalarDifference], outputs: Option<VariedOutputs>) {
    let Some(outputs) = outputs else { return };
    for difference in differences {
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
pub fn permit(
    differences: &mut [ScalarDifference],
    zeros: ZeroSigns,
    variations: &[Variation],
    mut run: impl FnMut(Variation) -> Option<VariedOutputs>,
) -> Trial {
    let mut trial = Trial { runs: 0, rounding: PermittedRounding::Nearest };
    let ordinary = run(Variation::NONE);
    for difference in differences.iter_mut() {
        let path = ordinary.as_ref().map_or(0, |outputs| outputs.path(difference));
        difference.permit_result(difference.ours, path);
    }
    for variation in variations {
        if differences.iter().all(|difference| difference.device_value_is_permitted(zeros)) {
            break;
        }
        let Some(outputs) = run(*variation) else { continue };
        trial.runs += 1;
        trial.rounding = trial.rounding.max(variation.rounding);
        for difference in differences.iter_mut() {
            let bytes =
                outputs.buffers.get(difference.buffer).map_or(&[][..], |bytes| bytes.as_slice());
            if let Some(bits) = difference.bits_in(bytes) {
                difference.permit_result(bits, outputs.path(difference));
            }
        }
    }
    trial
}

impl VariedOutputs {
    fn path(&self, difference: &ScalarDifference) -> u64 {
        let paths = self.paths.get(difference.buffer);
        paths.and_then(|paths| paths.get(difference.offset as usize / 4)).copied().unwrap_or(0)
    }
}
