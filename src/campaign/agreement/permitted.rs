//! Outputs of two engines: where they differ, and whether the specification permits it.
//!
//! Knows: the scalars of the kernels' blocks, the components of texels, and what runs of the
//! sequential engine leave that differ from its ordinary one within the specification's error
//! bounds (`sequential::Variation`).
//! Promises: a float is permitted only between results of such runs, the ordinary one included,
//! that came to it by the same decisions (`SequentialRun::paths`): a result on either side of a
//! branch permits nothing in between. Any other scalar is permitted only where one of the runs left
//! just that. Nothing is permitted for being near.
//! Does not cover: which differences a test's own tolerance allows (the caller leaves them out);
//! whether a value outside is wrong: the runs are samples of what is permitted.

use vkcert_exec::Job;
use vkcert_exec::prepare::scalar_type;
use vkcert_model::element::ScalarType;
use vkcert_model::image::{ImageFormat, ImageShape, TexelPlace};
use vkcert_oracle::difference::{
    PermittedResults, ScalarDifference, TexelComponent, ValueBasis, ZeroSigns,
};
use vkcert_oracle::scalar::read_scalar;
use vkcert_oracle::texel::stored_offset;
use vkcert_sequential::{ChanceTrial, Variation};
use vkcert_spirv::constants::Constants;
use vkcert_spirv::interface::Reflection;
use vkcert_spirv::locate::scalar_at;
use vkcert_spirv::module::{Id, Module};
use vkcert_spirv::precision::{ImplementationFreedom, PermittedRounding};
use vkcert_spirv::types::Types;

/// What a comparison knows of a job's buffers.
pub struct Blocks {
    modules: Vec<BoundModule>,
    /// By buffer: where a block of which module's type is bound.
    bound: Vec<Vec<BoundBlock>>,
    /// By buffer: the image whose contents it is.
    images: Vec<Option<ImageShape>>,
    /// Whether one of the kernels keeps the signs of zeros.
    pub zeros: ZeroSigns,
}

struct BoundModule {
    types: Types,
    constants: Constants,
}

struct BoundBlock {
    /// Bytes from the start of the buffer.
    start: u64,
    end: u64,
    module: usize,
    block: Id,
}

/// A scalar of a buffer: its type, its first byte.
struct Scalar {
    ty: ScalarType,
    offset: u64,
}

impl Blocks {
    /// Of the production modules of a job, as each dispatch specializes them. What cannot be
    /// reflected on is left out: its bytes have no type.
    pub fn of(job: &Job) -> Self {
        let (bound, images) =
            (job.buffers.iter().map(|_| Vec::new()).collect(), vec![None; job.buffers.len()]);
        let mut blocks = Self { modules: Vec::new(), bound, images, zeros: ZeroSigns::Equal };
        for image in &job.resources.images {
            blocks.images[image.buffer as usize] = Some(image.shape);
        }
        for dispatch in &job.dispatches {
            let words = &job.modules[dispatch.module].words;
            let Ok(module) = Module::parse(words.to_vec()) else { continue };
            let Ok(reflection) =
                Reflection::of_entry_point(&module, &dispatch.entry, &dispatch.specialization)
            else {
                continue;
            };
            let types = Types::of_module(&module);
            let Ok(constants) = Constants::evaluate(&module, &types, &dispatch.specialization)
            else {
                continue;
            };
            if ImplementationFreedom::of_entry_point(&module, reflection.function).zeros
                == ZeroSigns::Signed
            {
                blocks.zeros = ZeroSigns::Signed;
            }
            for binding in &dispatch.bindings {
                let resource = reflection
                    .resources
                    .iter()
                    .find(|one| (one.set, one.binding) == (binding.set, binding.binding));
                let Some(resource) = resource else { continue };
                let start = binding.offset + binding.dynamic_offset;
                let (end, module) = (start + binding.range, blocks.modules.len());
                blocks.bound[binding.buffer].push(BoundBlock {
                    start,
                    end,
                    module,
                    block: resource.block_type,
                });
            }
            blocks.modules.push(BoundModule { types, constants });
        }
        blocks
    }

    fn located(&self, buffer: usize, byte: u64) -> impl Iterator<Item = (ScalarType, u64, String)> {
        let bound =
            self.bound[buffer].iter().filter(move |one| (one.start..one.end).contains(&byte));
        bound.filter_map(move |one| {
            let BoundModule { types, constants } = &self.modules[one.module];
            let found = scalar_at(types, constants, one.block, byte - one.start)?;
            Some((scalar_type(types, found.ty)?, one.start + found.offset, found.path))
        })
    }

    /// The scalar at a byte. Where blocks see it differently, and where none sees it, it is a byte.
    fn scalar(&self, buffer: usize, byte: u64) -> Scalar {
        let mut views = self.located(buffer, byte).map(|(ty, offset, _)| (ty, offset));
        match views.next() {
            Some((ty, offset)) if views.all(|other| other == (ty, offset)) => Scalar { ty, offset },
            Some(_) | None => Scalar { ty: ScalarType::Uint8, offset: byte },
        }
    }

    /// Where a difference stands in its image.
    pub fn texel(&self, difference: &ScalarDifference) -> Option<TexelPlace> {
        let (shape, texel) = (self.images[difference.buffer]?, difference.texel?);
        shape.texel_place(difference.offset / shape.format.texel_size() as u64, texel.component)
    }

    /// How a program names the scalar of a difference: `values[3].x`, a texel; the byte where it
    /// has no name.
    pub fn path(&self, difference: &ScalarDifference) -> String {
        if let Some(texel) = self.texel(difference) {
            return texel.to_string();
        }
        let (buffer, offset) = (difference.buffer, difference.offset);
        self.located(buffer, offset)
            .next()
            .map_or_else(|| format!("byte {offset}"), |(_, _, path)| path)
    }

    /// Scalars in which two contents of a buffer differ, ascending.
    pub fn differences(&self, buffer: usize, ours: &[u8], theirs: &[u8]) -> Vec<ScalarDifference> {
        if let Some(shape) = self.images[buffer] {
            return texel_differences(buffer, shape.format, ours, theirs);
        }
        let mut found: Vec<ScalarDifference> = Vec::new();
        let mut from = 0;
        let differing = |from: usize| {
            let (left, right) = (ours.get(from..)?, theirs.get(from..)?);
            left.iter().zip(right).position(|(left, right)| left != right).map(|at| from + at)
        };
        while let Some(at) = differing(from) {
            let mut scalar = self.scalar(buffer, at as u64);
            let bits =
                |scalar: &Scalar, bytes| read_scalar(bytes, scalar.ty, scalar.offset as usize);
            let (ours, theirs) = match (bits(&scalar, ours), bits(&scalar, theirs)) {
                (Some(ours), Some(theirs)) => (ours, theirs),
                // The scalar reaches beyond the buffer: its bytes.
                _ => {
                    scalar = Scalar { ty: ScalarType::Uint8, offset: at as u64 };
                    (ours[at].into(), theirs[at].into())
                }
            };
            from = scalar.offset as usize + scalar.ty.size();
            let permitted = PermittedResults::none_for(scalar.ty);
            let (scalar, offset) = (scalar.ty, scalar.offset);
            found.push(ScalarDifference {
                buffer,
                offset,
                scalar,
                texel: None,
                ours,
                theirs,
                permitted,
                basis: ValueBasis::Defined,
            });
        }
        found
    }
}

/// Components in which two contents of an image differ, ascending. A texel whose bytes differ has
/// at least one, though two encodings of one value may be all that differs.
fn texel_differences(
    buffer: usize,
    format: ImageFormat,
    ours: &[u8],
    theirs: &[u8],
) -> Vec<ScalarDifference> {
    let (size, scalar) = (format.texel_size(), format.component());
    let components = u64::from(format.components());
    let texels = ours.chunks_exact(size).zip(theirs.chunks_exact(size)).enumerate();
    let mut found = Vec::new();
    for (index, (left, right)) in texels.filter(|(_, (left, right))| left != right) {
        let before = found.len();
        let mut all = Vec::new();
        for component in 0..components {
            let texel = TexelComponent { format, component: component as u32 };
            let (Some(ours), Some(theirs)) =
                (texel.component_bits(left, 0), texel.component_bits(right, 0))
            else {
                continue;
            };
            let offset = stored_offset(
                format,
                (index as u64 * components + component) * scalar.size() as u64,
            );
            let permitted = PermittedResults::none_for(scalar);
            all.push(ScalarDifference {
                buffer,
                offset,
                scalar,
                texel: Some(texel),
                ours,
                theirs,
                permitted,
                basis: ValueBasis::Defined,
            });
        }
        found.extend(all.iter().filter(|one| one.ours != one.theirs).cloned());
        if found.len() == before {
            found.extend(all.into_iter().next());
        }
    }
    found
}

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
    pub buffers: Vec<Vec<u8>>,
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
        let bytes = outputs.buffers.get(difference.buffer).map_or(&[][..], Vec::as_slice);
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
            let bytes = outputs.buffers.get(difference.buffer).map_or(&[][..], Vec::as_slice);
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use vkcert_oracle::difference::NanResult;

    fn float(ours: f32, theirs: f32, others: &[f32]) -> ScalarDifference {
        let bits = |value: f32| u64::from(value.to_bits());
        let mut difference = ScalarDifference {
            buffer: 0,
            offset: 0,
            scalar: ScalarType::Float32,
            texel: None,
            ours: bits(ours),
            theirs: bits(theirs),
            permitted: PermittedResults::Between { spans: BTreeMap::new(), nan: NanResult::Absent },
            basis: ValueBasis::Defined,
        };
        [ours].iter().chain(others).for_each(|value| difference.permit_result(bits(*value), 0));
        difference
    }

    #[test]
    fn zeros_and_nans_are_compared_as_the_module_declares() {
        assert!(float(0.0, -0.0, &[]).device_value_is_permitted(ZeroSigns::Equal));
        assert!(!float(0.0, -0.0, &[]).device_value_is_permitted(ZeroSigns::Signed));
        assert!(float(0.0, -0.0, &[-1e-30]).device_value_is_permitted(ZeroSigns::Signed));
        assert!(!float(1.0, f32::NAN, &[2.0]).device_value_is_permitted(ZeroSigns::Equal));
        assert!(float(1.0, f32::NAN, &[f32::NAN]).device_value_is_permitted(ZeroSigns::Equal));
        assert!(!float(f32::NAN, 1.0, &[]).device_value_is_permitted(ZeroSigns::Equal));
        assert!(
            float(1.0, f32::INFINITY, &[f32::INFINITY]).device_value_is_permitted(ZeroSigns::Equal)
        );
    }

    #[test]
    fn an_integer_is_permitted_only_if_a_run_left_it() {
        let permitted = PermittedResults::OneOf(Vec::new());
        let (scalar, texel, basis) = (ScalarType::Int32, None, ValueBasis::Defined);
        let mut one = ScalarDifference {
            buffer: 0,
            offset: 0,
            scalar,
            texel,
            ours: 3,
            theirs: 4,
            permitted,
            basis,
        };
        one.permit_result(3, 0);
        one.permit_result(5, 1);
        assert!(!one.device_value_is_permitted(ZeroSigns::Equal));
        one.permit_result(4, 2);
        assert!(one.device_value_is_permitted(ZeroSigns::Equal));
        assert_eq!(one.permitted, PermittedResults::OneOf(vec![3, 4, 5]));
    }

    #[test]
    fn no_more_runs_are_made_than_are_needed() {
        let mut made = 0;
        let mut differences = [float(1.0, 1.5, &[])];
        let trial = permit(&mut differences, ZeroSigns::Equal, Variation::ALL, |variation| {
            made += u32::from(variation != Variation::NONE);
            let value: f32 = if variation == Variation::ALL[2] { 2.0 } else { 1.0 };
            Some(VariedOutputs { buffers: vec![value.to_le_bytes().to_vec()], paths: Vec::new() })
        });
        assert_eq!((made, trial.runs), (3, 3));
        assert!(differences[0].device_value_is_permitted(ZeroSigns::Equal));
        // Runs that do not complete count for nothing.
        let mut differences = [float(1.0, 1.5, &[])];
        assert_eq!(permit(&mut differences, ZeroSigns::Equal, Variation::ALL, |_| None).runs, 0);
        assert!(!differences[0].device_value_is_permitted(ZeroSigns::Equal));
    }

    #[test]
    fn what_other_undefined_values_change_may_be_anything() {
        let run = |value: f32| VariedOutputs {
            buffers: vec![value.to_le_bytes().to_vec()],
            paths: Vec::new(),
        };
        for (left, basis) in
            [(1.0, ValueBasis::Defined), (7.0, ValueBasis::Undefined { bits: u64::MAX })]
        {
            let mut differences = [float(1.0, 1e9, &[])];
            find_undefined(&mut differences, |_| Some(run(left)));
            assert_eq!(
                (differences[0].basis, differences[0].device_value_is_permitted(ZeroSigns::Equal)),
                (basis, left == 7.0)
            );
        }
        let mut differences = [float(1.0, 1e9, &[])];
        find_undefined(&mut differences, |_| None);
        assert_eq!(differences[0].basis, ValueBasis::Defined);
    }

    fn word(ours: u32, theirs: u32) -> ScalarDifference {
        let permitted = PermittedResults::OneOf(vec![u64::from(ours)]);
        let (scalar, texel, basis) = (ScalarType::Uint32, None, ValueBasis::Defined);
        ScalarDifference {
            buffer: 0,
            offset: 0,
            scalar,
            texel,
            ours: ours.into(),
            theirs: theirs.into(),
            permitted,
            basis,
        }
    }

    #[test]
    fn bits_of_an_integer_that_no_undefined_value_changes_are_compared() {
        let run = |bytes: u32| {
            Some(VariedOutputs { buffers: vec![bytes.to_le_bytes().to_vec()], paths: Vec::new() })
        };
        for (theirs, within) in [(0xf1, true), (0x71, false), (0xf3, false)] {
            let mut differences = [word(0xf0, theirs)];
            let mut made = 0;
            find_undefined(&mut differences, |_| {
                made += 1;
                run(0xf0 | made & 1)
            });
            assert_eq!(differences[0].basis, ValueBasis::Undefined { bits: 1 });
            assert_eq!(
                differences[0].device_value_is_permitted(ZeroSigns::Equal),
                within,
                "{theirs:#x}"
            );
            let all = Variation::OF_UNDEFINED.len() as u32 + Variation::PATIENCE;
            assert_eq!(made, if within { 1 } else { all });
        }
    }

    #[test]
    fn further_runs_by_chance_find_further_bits() {
        let mut differences = [word(0, 4)];
        let run = |variation| {
            let left: u32 = if Variation::OF_UNDEFINED.contains(&variation) { 10 } else { 7 };
            Some(VariedOutputs { buffers: vec![left.to_le_bytes().to_vec()], paths: Vec::new() })
        };
        find_undefined(&mut differences, run);
        assert_eq!(differences[0].basis, ValueBasis::Undefined { bits: 15 });
        assert!(differences[0].is_undefined());
    }

    /// Of a packed format the bytes of a texel are no bits of its components.
    #[test]
    fn a_texel_that_no_undefined_value_changes_is_defined() {
        let (format, scalar) = (ImageFormat::Rgba8, ScalarType::Float32);
        let [ours, theirs, others] = [[255, 0, 0, 255], [254, 0, 0, 255], [128, 0, 0, 255]];
        let differing = || texel_differences(0, format, &ours, &theirs);
        assert_eq!((differing().len(), differing()[0].scalar), (1, scalar));
        for (left, basis) in
            [(ours, ValueBasis::Defined), (others, ValueBasis::Undefined { bits: u64::MAX })]
        {
            let mut differences = differing();
            let run = || VariedOutputs { buffers: vec![left.to_vec()], paths: Vec::new() };
            find_undefined(&mut differences, |_| Some(run()));
            assert_eq!(differences[0].basis, basis);
        }
    }

    #[test]
    fn results_of_different_decisions_permit_nothing_between_them() {
        let bits = |value: f32| u64::from(value.to_bits());
        let mut one = float(0.0, 0.5, &[]);
        one.permit_result(bits(1.0), 7);
        assert!(!one.device_value_is_permitted(ZeroSigns::Equal));
        one.permit_result(bits(0.25), 7);
        assert!(one.device_value_is_permitted(ZeroSigns::Equal));
    }

    proptest! {
        #[test]
        fn the_hull_is_what_lies_between_the_results(values in proptest::collection::vec(any::<f32>(), 1..8), theirs in any::<f32>()) {
            let difference = float(values[0], theirs, &values[1..]);
            let numbers = values.iter().filter(|value| !value.is_nan());
            let expected = if theirs.is_nan() {
                values.iter().any(|value| value.is_nan())
            } else {
                numbers.clone().any(|value| *value <= theirs) && numbers.clone().any(|value| *value >= theirs)
            };
            prop_assert_eq!(difference.device_value_is_permitted(ZeroSigns::Equal), expected);
            for value in &values {
                let same = ScalarDifference { theirs: u64::from(value.to_bits()), ..difference.clone() };
                prop_assert!(same.device_value_is_permitted(ZeroSigns::Signed));
            }
        }
    }
}
