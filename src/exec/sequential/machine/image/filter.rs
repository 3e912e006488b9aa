//! Sampling instructions of the machine: the texels of a lane's footprint, weighed, compared,
//! summed.
//!
//! Promises: as `sampling` says which texels there are and `machine` how one is read; a filtered
//! value is the sum of texels times weights in 64-bit floats, rounded once, and a value of one
//! texel is that texel, bit by bit. A run that departs from the ordinary one moves sums by what a
//! device may cut off from weights, and follows which texels were taken.

use super::access::ImageAccess;
use super::sampling::{Coordinate, Sampling, Tap, WantedLevel};
use super::workspace::{NO_RESULT, TexelResult};
use crate::ir::Reg;
use crate::ir::image::{ImageInstruction, ImageOperation, LevelOperand, Projection};
use crate::machine::choice::PermittedChoice;
use crate::machine::image::texel;
use crate::machine::registers::Registers;
use crate::machine::state::Machine;
use crate::memory::image_view;
use crate::memory::image_view::{DescriptorView, ImageSubresource};
use vkcert_exec::resource::JobSampler;
use vkcert_model::finding::FindingKind;
use vkcert_model::image::{CompareOperator, Filter, ImageFormat, TexelClass};
use vkcert_model::random::mix_bits;

impl Registers {
    /// Coordinates and reference of a lane, divided where the instruction projects.
    fn sample_coordinate(
        &self,
        step: &ImageInstruction,
        image_picture: &ImageSubresource,
        lane: usize,
    ) -> (Coordinate, Option<f32>) {
        let used_axes = image_view::direction_count(image_picture.view.kind);
        let given_values = self.floats_at(&step.coordinates, lane);
        let mut axes =
            std::array::from_fn(|axis| if axis < used_axes { given_values[axis] } else { 0.0 });
        let mut reference = step.reference.map(|reference| self.float_at(reference, lane));
        if step.projection == Projection::Divided {
            let divisor = given_values[used_axes.min(3)];
            axes.iter_mut().take(used_axes).for_each(|axis| *axis /= divisor);
            reference = reference.map(|reference| reference / divisor);
        }
        let layer = if image_view::is_arrayed(image_picture.view.kind) {
            given_values[used_axes.min(3)]
        } else {
            0.0
        };
        (Coordinate { axes, layer }, reference)
    }

    fn footprint_taps(
        &self,
        step: &ImageInstruction,
        image_picture: &ImageSubresource,
        sampler: &JobSampler,
        coordinate: Coordinate,
        lane: usize,
        taps: &mut Vec<Tap>,
    ) {
        let texel_offset = |offset_index: usize| -> [i64; 3] {
            let given_offset =
                step.offsets.get(offset_index).map_or(&[][..], |offset_registers| offset_registers);
            std::array::from_fn(|axis| {
                given_offset.get(axis).map_or(0, |reg| self.whole_number(*reg, lane))
            })
        };
        let sampling_with =
            |offset| Sampling { picture: image_picture, sampler, coordinate, offset };
        match (step.operation, step.offsets.len()) {
            (ImageOperation::Gather { .. }, 4) => {
                // Each of four offsets has a footprint of its own, of which the first texel is
                // meant.
                (0..4).for_each(|offset_index| {
                    sampling_with(texel_offset(offset_index)).gather_tap(offset_index, [0, 0], taps)
                });
            }
            (ImageOperation::Gather { .. }, _) => sampling_with(texel_offset(0)).gather_taps(taps),
            _ => {
                let wanted_level = match &step.level {
                    LevelOperand::Detail(level) => WantedLevel::Detail(self.float_at(*level, lane)),
                    LevelOperand::Gradient(pair) => {
                        WantedLevel::Gradient([0, 1].map(|offset_index: usize| {
                            let [x, y, z, _] = self.floats_at(&pair[offset_index], lane);
                            [x, y, z]
                        }))
                    }
                    LevelOperand::First | LevelOperand::Number(_) => WantedLevel::First,
                };
                sampling_with(texel_offset(0)).filtered_taps(wanted_level, taps);
            }
        }
    }

    fn whole_number(&self, register: Reg, lane: usize) -> i64 {
        i64::from(self.words[register.0 as usize][lane] as i32)
    }
}

impl Machine<'_> {
    /// OpImageSample... and OpImageGather...
    pub(super) fn sample_image(&mut self, image_access: &ImageAccess<'_>) -> TexelResult {
        let ImageAccess { step, slot, lane, source_index, .. } = *image_access;
        let DescriptorView::Image(picture, combined_sampler) = slot.view else { return NO_RESULT };
        let sampler = match &step.sampler {
            None => combined_sampler,
            Some(chosen_sampler) => match self
                .chosen_descriptor(chosen_sampler, lane, source_index)
                .map(|(_, sampler_slot)| sampler_slot.view)
            {
                Some(DescriptorView::Sampler(sampler)) => Some(sampler),
                Some(DescriptorView::Image(_, sampler)) => sampler,
                Some(DescriptorView::Bytes | DescriptorView::Texels(..)) | None => None,
            },
        };
        let samplers = self.memory.samplers;
        let Some(sampler) = sampler.and_then(|sampler| samplers.get(sampler as usize)) else {
            return NO_RESULT;
        };
        let (coordinate, reference) = self.registers.sample_coordinate(step, &picture, lane);
        let is_cube = image_view::direction_count(picture.view.kind)
            > image_view::axis_count(picture.view.kind);
        let has_no_direction = is_cube && coordinate.axes == [0.0; 3];
        if has_no_direction || coordinate.axes.iter().any(|axis| axis.is_nan()) {
            let message = "the coordinates of a sample are no numbers";
            self.report_at_lane(FindingKind::UndefinedValue, lane, source_index, || {
                format!("{message} (`{}`)", step.image.name)
            });
            return NO_RESULT;
        }
        let mut taps = std::mem::take(&mut self.memory.workspace.taps);
        taps.clear();
        self.registers.footprint_taps(step, &picture, sampler, coordinate, lane, &mut taps);
        if self.settings.variation.is_some() {
            self.trace_taps(sampler, &taps, lane);
        }
        let texel_result = self.blend_taps(
            &FilteredSample { image_access, picture, sampler, reference_depth: reference },
            &taps,
        );
        self.memory.workspace.taps = taps;
        texel_result
    }

    /// The weighted sum of texels, or four components of texels that are gathered.
    fn blend_taps(&mut self, filtered_sample: &FilteredSample<'_>, taps: &[Tap]) -> TexelResult {
        let ImageOperation::Gather { component: component_index } =
            filtered_sample.image_access.step.operation
        else {
            return self.weigh_taps(filtered_sample, taps.iter());
        };
        let component_index = if filtered_sample.reference_depth.is_some() {
            0
        } else {
            component_index as usize % 4
        };
        let mut texel_result = NO_RESULT;
        for gathered_index in 0..4 {
            let gathered_taps = taps.iter().filter(|tap| tap.gathered_index == gathered_index);
            let component_result = self.weigh_taps(filtered_sample, gathered_taps);
            texel_result.component_bits[gathered_index] =
                component_result.component_bits[component_index];
            texel_result.is_undefined |= component_result.is_undefined;
        }
        texel_result
    }

    fn weigh_taps<'t>(
        &mut self,
        filtered_sample: &FilteredSample<'_>,
        taps: impl Iterator<Item = &'t Tap> + Clone,
    ) -> TexelResult {
        let ImageAccess { step, lane, source_index, .. } = *filtered_sample.image_access;
        let is_integer = filtered_sample.picture.shape.format.class() != TexelClass::Float;
        let is_single = taps.clone().count() == 1 || is_integer;
        let mut component_sums = [0.0; 4];
        let mut component_ranges = [[f64::INFINITY, f64::NEG_INFINITY]; 4];
        let mut undefined = false;
        for tap in taps {
            let tap_result = self.read_tap(filtered_sample, tap);
            undefined |= tap_result.is_undefined;
            if is_single {
                return TexelResult {
                    component_bits: tap_result.component_bits,
                    is_undefined: undefined,
                };
            }
            for ((component_sum, component_range), bits) in
                component_sums.iter_mut().zip(&mut component_ranges).zip(tap_result.component_bits)
            {
                let texel_value = f64::from(f32::from_bits(bits as u32));
                *component_sum += tap.weight * texel_value;
                *component_range =
                    [component_range[0].min(texel_value), component_range[1].max(texel_value)];
            }
        }
        let range_side = match self.permitted_choice(source_index, lane) {
            PermittedChoice::Computed => 0.0,
            PermittedChoice::Low => -1.0,
            PermittedChoice::High => 1.0,
        };
        if range_side != 0.0 && step.operation == ImageOperation::Sample {
            let range_part = range_side * weight_imprecision(filtered_sample);
            for (component_sum, [least_value, most_value]) in
                component_sums.iter_mut().zip(component_ranges)
            {
                if component_sum.is_finite() && least_value.is_finite() && most_value.is_finite() {
                    *component_sum = (*component_sum + range_part * (most_value - least_value))
                        .max(least_value)
                        .min(most_value);
                }
            }
        }
        TexelResult {
            component_bits: component_sums
                .map(|component_sum| u64::from((component_sum as f32).to_bits())),
            is_undefined: undefined,
        }
    }

    /// One texel, compared where there is a reference.
    fn read_tap(&mut self, filtered_sample: &FilteredSample<'_>, tap: &Tap) -> TexelResult {
        let ImageAccess { step, descriptor, slot, lane, source_index } =
            *filtered_sample.image_access;
        let texel_format = filtered_sample.picture.shape.format;
        let first_byte =
            tap.texel_place.and_then(|texel_place| slot.view.texel_offset(&texel_place));
        let mut texel_result = match first_byte {
            Some(first_byte) => {
                self.memory.note_texel_extent(descriptor, &slot.view, first_byte);
                self.fetch_texel(
                    filtered_sample.image_access,
                    texel_format,
                    4 * slot.first + first_byte,
                )
            }
            None => {
                let border_color = filtered_sample.sampler.border;
                if !texel::border_fits(texel_format.class(), border_color) {
                    self.report_at_lane(FindingKind::UndefinedValue, lane, source_index, || {
                        let class_name = texel_format.class().name();
                        format!("the border of `{}` is seen, whose colour is not for {class_name} texels", step.image.name)
                    });
                }
                TexelResult {
                    component_bits: texel::border_texel(texel_format, border_color),
                    is_undefined: false,
                }
            }
        };
        if let (Some(reference), Some(operator)) =
            (filtered_sample.reference_depth, filtered_sample.sampler.compare)
        {
            let texel_depth = f32::from_bits(texel_result.component_bits[0] as u32);
            // A depth of fixed point lies between 0 and 1, and so does what it is compared with.
            let reference = if texel_format == ImageFormat::D16 {
                reference.clamp(0.0, 1.0)
            } else {
                reference
            };
            let passes: f32 =
                if compare_passes(operator, reference, texel_depth) { 1.0 } else { 0.0 };
            if self.settings.variation.is_some() {
                self.extend_trace(lane, u64::from(passes.to_bits()));
            }
            texel_result.component_bits =
                [u64::from(passes.to_bits()), 0, 0, u64::from(1.0_f32.to_bits())];
        }
        texel_result
    }

    /// Which texels a sample has is a decision, where they jump while coordinates move little.
    fn trace_taps(&mut self, sampler: &JobSampler, taps: &[Tap], lane: usize) {
        let chooses_level = sampler.mipmap == Filter::Nearest;
        let chooses_texel = sampler.filter == Filter::Nearest;
        for tap in taps {
            let decision_hash = tap.texel_place.map_or(1, |place| {
                let [x, y, z] = if chooses_texel { place.coordinates } else { [0; 3] };
                let level = if chooses_level { place.level } else { 0 };
                [x, y, z, level, place.layer]
                    .into_iter()
                    .fold(2, |hash, part| mix_bits(hash ^ part as u64))
            });
            // Without a choice of texels the layer alone is one.
            if chooses_level || chooses_texel {
                self.extend_trace(lane, decision_hash);
            }
        }
    }
}

/// The least precision that a device may have of weights, as a part of the range of the texels: 4
/// bits on each axis and between levels (Vulkan specification, "Required Limits":
/// subTexelPrecisionBits, mipmapPrecisionBits).
fn weight_imprecision(filtered_sample: &FilteredSample<'_>) -> f64 {
    let filtered_axes = match filtered_sample.sampler.filter {
        Filter::Nearest => 0,
        Filter::Linear => image_view::axis_count(filtered_sample.picture.view.kind),
    };
    let filtered_levels = usize::from(filtered_sample.sampler.mipmap == Filter::Linear);
    (filtered_axes + filtered_levels) as f64 / 16.0
}

/// What a sample's texels have in common.
struct FilteredSample<'a> {
    image_access: &'a ImageAccess<'a>,
    picture: ImageSubresource,
    sampler: &'a JobSampler,
    reference_depth: Option<f32>,
}

fn compare_passes(operator: CompareOperator, reference_depth: f32, texel_depth: f32) -> bool {
    match operator {
        CompareOperator::Never => false,
        CompareOperator::Less => reference_depth < texel_depth,
        CompareOperator::Equal => reference_depth == texel_depth,
        CompareOperator::LessOrEqual => reference_depth <= texel_depth,
        CompareOperator::Greater => reference_depth > texel_depth,
        CompareOperator::NotEqual => reference_depth != texel_depth,
        CompareOperator::GreaterOrEqual => reference_depth >= texel_depth,
        CompareOperator::Always => true,
    }
}
