//! Sampling instructions of the machine: the texels of a lane's footprint, weighed, compared,
//! summed.
//!
//! Promises: as `sampling` says which texels there are and `machine` how one is read; a filtered
//! value is the sum of texels times weights in 64-bit floats, rounded once, and a value of one
//! texel is that texel, bit by bit. A run that departs from the ordinary one moves sums by what a
//! device may cut off from weights, and follows which texels were taken.

use super::sampling::{Coordinate, Sampling, Tap, Wanted};
use super::workspace::{Got, NOTHING};
use crate::ir::Reg;
use crate::ir::image::{ImageInstruction, ImageOperation, LevelOperand, Projection};
use crate::machine::choice::Choice;
use crate::machine::image::texel;
use crate::machine::registers::Registers;
use crate::machine::state::Machine;
use crate::memory::image_view;
use crate::memory::image_view::{DescriptorView, ImageSubresource};
use crate::memory::store::BoundRange;
use vkcert_exec::resource::JobSampler;
use vkcert_model::finding::FindingKind;
use vkcert_model::image::{CompareOperator, Filter, ImageFormat, TexelClass};
use vkcert_model::random::mix_bits;

impl Registers {
    /// Coordinates and reference of a lane, divided where the instruction projects.
    fn coordinate(
        &self,
        step: &ImageInstruction,
        picture: &ImageSubresource,
        lane: usize,
    ) -> (Coordinate, Option<f32>) {
        let used = image_view::direction_count(picture.view.kind);
        let given = self.floats(&step.coordinates, lane);
        let mut axes = std::array::from_fn(|axis| if axis < used { given[axis] } else { 0.0 });
        let mut reference = step.reference.map(|reference| self.float(reference, lane));
        if step.projection == Projection::Divided {
            let q = given[used.min(3)];
            axes.iter_mut().take(used).for_each(|axis| *axis /= q);
            reference = reference.map(|reference| reference / q);
        }
        let layer =
            if image_view::is_arrayed(picture.view.kind) { given[used.min(3)] } else { 0.0 };
        (Coordinate { axes, layer }, reference)
    }

    fn taps(
        &self,
        step: &ImageInstruction,
        picture: &ImageSubresource,
        sampler: &JobSampler,
        coordinate: Coordinate,
        lane: usize,
        taps: &mut Vec<Tap>,
    ) {
        let offset = |at: usize| -> [i64; 3] {
            let given = step.offsets.get(at).map_or(&[][..], |offset| offset);
            std::array::from_fn(|axis| given.get(axis).map_or(0, |reg| self.whole(*reg, lane)))
        };
        let sampling = |offset| Sampling { picture, sampler, coordinate, offset };
        match (step.operation, step.offsets.len()) {
            (ImageOperation::Gather { .. }, 4) => {
                // Each of four offsets has a footprint of its own, of which the first texel is
                // meant.
                (0..4).for_each(|at| sampling(offset(at)).gather_one(at, [0, 0], taps));
            }
            (ImageOperation::Gather { .. }, _) => sampling(offset(0)).gather(taps),
            _ => {
                let wanted = match &step.level {
                    LevelOperand::Detail(level) => Wanted::Detail(self.float(*level, lane)),
                    LevelOperand::Gradient(pair) => Wanted::Gradient([0, 1].map(|at: usize| {
                        let [x, y, z, _] = self.floats(&pair[at], lane);
                        [x, y, z]
                    })),
                    LevelOperand::First | LevelOperand::Number(_) => Wanted::First,
                };
                sampling(offset(0)).taps(wanted, taps);
            }
        }
    }

    fn whole(&self, reg: Reg, lane: usize) -> i64 {
        i64::from(self.words[reg.0 as usize][lane] as i32)
    }
}

impl Machine<'_> {
    /// OpImageSample... and OpImageGather...
    pub(super) fn sampled(
        &mut self,
        step: &ImageInstruction,
        descriptor: u32,
        slot: BoundRange,
        lane: usize,
        place: u32,
    ) -> Got {
        let DescriptorView::Image(picture, own) = slot.view else { return NOTHING };
        let sampler = match &step.sampler {
            None => own,
            Some(chosen) => match self.chosen(chosen, lane, place).map(|(_, slot)| slot.view) {
                Some(DescriptorView::Sampler(sampler)) => Some(sampler),
                Some(DescriptorView::Image(_, sampler)) => sampler,
                Some(DescriptorView::Bytes | DescriptorView::Texels(..)) | None => None,
            },
        };
        let samplers = self.memory.samplers;
        let Some(sampler) = sampler.and_then(|sampler| samplers.get(sampler as usize)) else {
            return NOTHING;
        };
        let (coordinate, reference) = self.registers.coordinate(step, &picture, lane);
        let cube = image_view::direction_count(picture.view.kind)
            > image_view::axis_count(picture.view.kind);
        let nowhere = cube && coordinate.axes == [0.0; 3];
        if nowhere || coordinate.axes.iter().any(|axis| axis.is_nan()) {
            let message = "the coordinates of a sample are no numbers";
            self.tell(FindingKind::UndefinedValue, lane, place, || {
                format!("{message} (`{}`)", step.image.name)
            });
            return NOTHING;
        }
        let mut taps = std::mem::take(&mut self.memory.workspace.taps);
        taps.clear();
        self.registers.taps(step, &picture, sampler, coordinate, lane, &mut taps);
        if self.settings.variation.is_some() {
            self.follow_taps(sampler, &taps, lane);
        }
        let kept = Filtered { descriptor, slot, picture, sampler, reference };
        let got = self.blended(step, &kept, &taps, lane, place);
        self.memory.workspace.taps = taps;
        got
    }

    /// The weighted sum of texels, or four components of texels that are gathered.
    fn blended(
        &mut self,
        step: &ImageInstruction,
        from: &Filtered<'_>,
        taps: &[Tap],
        lane: usize,
        place: u32,
    ) -> Got {
        let ImageOperation::Gather { component } = step.operation else {
            return self.sum(step, from, taps.iter(), lane, place);
        };
        let component = if from.reference.is_some() { 0 } else { component as usize % 4 };
        let mut got = NOTHING;
        for gathered in 0..4 {
            let own = taps.iter().filter(|tap| tap.gathered == gathered);
            let one = self.sum(step, from, own, lane, place);
            got.value[gathered] = one.value[component];
            got.undefined |= one.undefined;
        }
        got
    }

    fn sum<'t>(
        &mut self,
        step: &ImageInstruction,
        from: &Filtered<'_>,
        taps: impl Iterator<Item = &'t Tap> + Clone,
        lane: usize,
        place: u32,
    ) -> Got {
        let integers = from.picture.shape.format.class() != TexelClass::Float;
        let alone = taps.clone().count() == 1 || integers;
        let mut sums = [0.0; 4];
        let mut ends = [[f64::INFINITY, f64::NEG_INFINITY]; 4];
        let mut undefined = false;
        for tap in taps {
            let one = self.tapped(step, from, tap, lane, place);
            undefined |= one.undefined;
            if alone {
                return Got { value: one.value, undefined };
            }
            for ((sum, ends), bits) in sums.iter_mut().zip(&mut ends).zip(one.value) {
                let texel = f64::from(f32::from_bits(bits as u32));
                *sum += tap.weight * texel;
                *ends = [ends[0].min(texel), ends[1].max(texel)];
            }
        }
        let toward = match self.choice(place, lane) {
            Choice::Ordinary => 0.0,
            Choice::Low => -1.0,
            Choice::High => 1.0,
        };
        if toward != 0.0 && step.operation == ImageOperation::Sample {
            let slack = toward * imprecision(from);
            for (sum, [least, most]) in sums.iter_mut().zip(ends) {
                if sum.is_finite() && least.is_finite() && most.is_finite() {
                    *sum = (*sum + slack * (most - least)).max(least).min(most);
                }
            }
        }
        Got { value: sums.map(|sum| u64::from((sum as f32).to_bits())), undefined }
    }

    /// One texel, compared where there is a reference.
    fn tapped(
        &mut self,
        step: &ImageInstruction,
        from: &Filtered<'_>,
        tap: &Tap,
        lane: usize,
        place: u32,
    ) -> Got {
        let format = from.picture.shape.format;
        let first = tap.place.and_then(|at| from.slot.view.texel_offset(&at));
        let mut got = match first {
            Some(first) => {
                self.memory.note_extent(from.descriptor, &from.slot.view, first);
                self.fetched(
                    (from.descriptor, from.slot),
                    format,
                    4 * from.slot.first + first,
                    lane,
                    place,
                )
            }
            None => {
                let color = from.sampler.border;
                if !texel::border_fits(format.class(), color) {
                    self.tell(FindingKind::UndefinedValue, lane, place, || {
                        let class = format.class().name();
                        format!(
                            "the border of `{}` is seen, whose colour is not for {class} texels",
                            step.image.name
                        )
                    });
                }
                Got { value: texel::border(format, color), undefined: false }
            }
        };
        if let (Some(reference), Some(operator)) = (from.reference, from.sampler.compare) {
            let texel = f32::from_bits(got.value[0] as u32);
            // A depth of fixed point lies between 0 and 1, and so does what it is compared with.
            let reference =
                if format == ImageFormat::D16 { reference.clamp(0.0, 1.0) } else { reference };
            let passes: f32 = if compares(operator, reference, texel) { 1.0 } else { 0.0 };
            if self.settings.variation.is_some() {
                self.follow(lane, u64::from(passes.to_bits()));
            }
            got.value = [u64::from(passes.to_bits()), 0, 0, u64::from(1.0_f32.to_bits())];
        }
        got
    }

    /// Which texels a sample has is a decision, where they jump while coordinates move little.
    fn follow_taps(&mut self, sampler: &JobSampler, taps: &[Tap], lane: usize) {
        let levels = sampler.mipmap == Filter::Nearest;
        let texels = sampler.filter == Filter::Nearest;
        for tap in taps {
            let decided = tap.place.map_or(1, |place| {
                let [x, y, z] = if texels { place.coordinates } else { [0; 3] };
                let level = if levels { place.level } else { 0 };
                [x, y, z, level, place.layer]
                    .into_iter()
                    .fold(2, |hash, part| mix_bits(hash ^ part as u64))
            });
            // Without a choice of texels the layer alone is one.
            if levels || texels {
                self.follow(lane, decided);
            }
        }
    }
}

/// The least precision that a device may have of weights, as a part of the range of the texels: 4
/// bits on each axis and between levels (Vulkan specification, "Required Limits":
/// subTexelPrecisionBits, mipmapPrecisionBits).
fn imprecision(from: &Filtered<'_>) -> f64 {
    let axes = match from.sampler.filter {
        Filter::Nearest => 0,
        Filter::Linear => image_view::axis_count(from.picture.view.kind),
    };
    let levels = usize::from(from.sampler.mipmap == Filter::Linear);
    (axes + levels) as f64 / 16.0
}

/// What a sample's texels have in common.
struct Filtered<'a> {
    descriptor: u32,
    slot: BoundRange,
    picture: ImageSubresource,
    sampler: &'a JobSampler,
    reference: Option<f32>,
}

fn compares(operator: CompareOperator, reference: f32, texel: f32) -> bool {
    match operator {
        CompareOperator::Never => false,
        CompareOperator::Less => reference < texel,
        CompareOperator::Equal => reference == texel,
        CompareOperator::LessOrEqual => reference <= texel,
        CompareOperator::Greater => reference > texel,
        CompareOperator::NotEqual => reference != texel,
        CompareOperator::GreaterOrEqual => reference >= texel,
        CompareOperator::Always => true,
    }
}
